//! Bounds: the paper's and their corrected forms, one file for each theorem or lemma.
//!
//! | claim of the paper | file | holds | in its place |
//! |---|---|---|---|
//! | L2, T2 Monte Carlo error | `hoeffding` | yes | T2′ beside it: `empirical_bernstein` |
//! | L4 weighted averages | `weighted_concentration` | yes | |
//! | `K_eff` | `kish`, `kish_half` | `1 ≤ K_eff ≤ K` does, `≥ ⌈K/2⌉` does not | |
//! | T1 calibration | `calibration_preservation` | no | T1′ `prior_corrected`, T1″ `histogram_binning` |
//! | T3, L7 generalization | `generalization` | no | T3′ `binomial` (test set), `pac_bayes` |
//! | L6 stability | `stability` | for convex losses | |
//! | T4, L5 calibration floor | `calibration_floor` | no | T4′ `log_loss` |
//! | T5 corruption | `corruption` | no | T5′ `robustness` |
//! | T6 number of items | `sample_complexity` | no | T6′ `chernoff` |
//!
//! **Rounding.** A function that returns an upper bound computes in
//! [`Interval`](crate::math::Interval)s and returns the upper end, a lower bound the lower end: the
//! returned double is never on the wrong side of the exact value of the formula at the given
//! doubles. Each function says so.
//!
//! **Counterexamples** are [`Witness`]es in exact fractions, in worlds ([`Joint`]) where every
//! hypothesis of the claim is checked by computation; inequalities with roots and logarithms are
//! decided by rational [`Enclosure`](crate::math::Enclosure)s.

mod binomial;
mod calibration_floor;
mod calibration_preservation;
mod chernoff;
mod corruption;
mod domain;
mod empirical_bernstein;
mod generalization;
mod histogram_binning;
mod hoeffding;
mod joint;
mod kish;
mod kish_half;
mod log_loss;
mod pac_bayes;
mod prior_corrected;
mod robustness;
mod sample_complexity;
mod stability;
mod weighted_concentration;
mod witness;

pub use binomial::{
    binomial_cdf, binomial_upper_tail, clopper_pearson, clopper_pearson_lower,
    clopper_pearson_upper,
};
pub use calibration_floor::{
    Predictor, calibration_achievable, calibration_floor, conflicting_pair,
};
pub use calibration_preservation::{
    Constant, calibration_bound, calibration_constant, constant_evidence, first_violation,
    smallest_violation,
};
pub use chernoff::{
    bayes_error_bound, bayes_error_exact, bayes_error_floor, chernoff_information, sufficient_items,
};
pub(crate) use corruption::compositions;
pub use corruption::{
    corrupted_product, corruption_bound, equal_shifts, first_corruption_violation,
    smallest_corruption, witness_against_constant,
};
pub use domain::BoundError;
pub use empirical_bernstein::{
    empirical_bernstein_error, empirical_bernstein_radius, sample_variance_up,
};
pub use generalization::{generalization_gap, memorizing_learner, smallest_memorizer};
pub use histogram_binning::{BinRange, binned_ranges, uniform_mass_radius};
pub use hoeffding::{hoeffding_radius, hoeffding_tail, monte_carlo_error};
pub use joint::Joint;
pub use kish::{KishError, effective_count, effective_count_exact, kish_sums};
pub use kish_half::{half_count, smallest_half_count};
pub use log_loss::{LogLoss, fano_entropy_bound, fano_floor, log_loss};
pub use pac_bayes::{
    chernoff_upper, gaussian_divergence, kl_coins, kl_inverse_upper, pac_bayes_kl,
};
pub use prior_corrected::{
    posterior_calibration_error, posterior_l1, prior_corrected_exact, sharp_log_errors,
};
pub use robustness::{
    certified_delta, certified_items, hilbert_from_l1, hilbert_from_l1_one_sided, robust_l1,
    robust_l1_of_factors, sharp_pair, sharp_shift,
};
pub use sample_complexity::{claimed_items, sample_complexity_constant, too_few_items};
pub use stability::{Valleys, deciding_example, stability_bound, two_valleys};
pub use weighted_concentration::{weighted_radius, weighted_tail};
pub use witness::{Hypothesis, Relation, Witness};
