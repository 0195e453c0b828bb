//! Bounds: the paper's and their corrected forms, one file for each theorem or lemma.
//!
//! Files are named by their claim: `t5` holds theorem 5 as the paper states it, with its
//! counterexample, and `t5_prime` holds T5′, the theorem that stands in its place. [`ALL`] lists
//! them; what became of a claim is in the [ledger](crate::ledger). `binomial` and `kish` are tools
//! that several of them use; `betting` holds the limits of means that an audit rests on.
//!
//! **Rounding.** A function that returns an upper bound computes in
//! [`Interval`](crate::math::Interval)s and returns the upper end, a lower bound the lower end: the
//! returned double is never on the wrong side of the exact value of the formula at the given
//! doubles. Each function says so.
//!
//! **Counterexamples** are [`Witness`]es in exact fractions, in worlds ([`Joint`]) where every
//! hypothesis of the claim is checked by computation; inequalities with roots and logarithms are
//! decided by rational [`Enclosure`](crate::math::Enclosure)s.

mod betting;
mod binomial;
mod domain;
mod e1;
mod e4;
mod e5;
mod joint;
mod kish;
mod l2;
mod l4;
mod l6;
mod l6_smooth;
mod t1;
mod t1_double_prime;
mod t1_keff;
mod t1_prime;
mod t2_double_prime;
mod t2_prime;
mod t3;
mod t3_prime;
mod t4;
mod t4_moreover;
mod t4_prime;
mod t5;
mod t5_prime;
mod t6;
mod t6_prime;
mod witness;

/// A file of this room, and the claims it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The file, relative to the top of the repository.
    pub file: &'static str,
    /// The ids of the claims.
    pub claims: &'static [&'static str],
    /// What it bounds, in a few words.
    pub title: &'static str,
}

/// Makes the list of files, each with its claims and its title.
macro_rules! bounds {
    ($($file:ident [$($claim:literal),+] $title:literal;)*) => {
        /// Every file that holds a bound or its counterexample.
        pub const ALL: &[Bound] = &[$(Bound {
            file: concat!("src/bounds/", stringify!($file), ".rs"),
            claims: &[$($claim),+],
            title: $title,
        }),*];
    };
}

bounds! {
    t1 ["T1"] "calibration of the product";
    t1_keff ["T1.Keff"] "effective count of at least half the items";
    kish ["T1.Keff", "L4"] "Kish's effective count";
    t1_prime ["T1'"] "the prior-corrected product";
    t1_double_prime ["T1''"] "histogram binning on held-out data";
    l2 ["L2", "T2"] "Hoeffding's inequality and the Monte Carlo error";
    t2_prime ["T2'"] "empirical Bernstein";
    t2_double_prime ["T2''"] "the betting interval";
    t3 ["T3", "L7"] "generalization gap";
    t3_prime ["T3'"] "PAC-Bayes-kl";
    binomial ["T3'", "T1''"] "binomial tails and Clopper and Pearson's limits";
    t4 ["T4", "L5"] "calibration floor";
    t4_prime ["T4'"] "floor of the log loss, and Fano's inequality";
    t5 ["T5"] "change of the product under corruption";
    t5_prime ["T5'"] "L1 ≤ 2·tanh(R/4)";
    t6 ["T6"] "number of items for a calibration error";
    t6_prime ["T6'"] "Bayes error and Chernoff information";
    l4 ["L4"] "concentration of weighted averages";
    l6 ["L6", "L6'"] "stability of regularized training";
    e1 ["E1"] "the price of dependence";
    e4 ["E4"] "how far sampling moves the prediction";
    e5 ["E5"] "calibration error from excess log loss";
}

pub use betting::{GroupSums, Point, Seen, log_product, lower_limit, mixed};
pub use binomial::{
    binomial_cdf, binomial_upper_tail, clopper_pearson, clopper_pearson_lower,
    clopper_pearson_upper,
};
pub use domain::BoundError;
pub(crate) use domain::{at_least_one, open_unit, positive, require};
pub use e1::{dependence_calibration_error, gaussian_total_correlation};
pub use e4::{pipeline_l1, pipeline_samples};
pub use e5::excess_loss_calibration_error;
pub use joint::Joint;
pub use kish::{KishError, effective_count, effective_count_exact, kish_sums};
pub use l2::{hoeffding_radius, hoeffding_tail, monte_carlo_error};
pub use l4::{weighted_radius, weighted_tail};
pub use l6::{
    Valleys, deciding_example, descent_apart, diverting_example, stability_bound, two_valleys,
};
pub use l6_smooth::smooth_descent_apart;
pub use t1::{
    Constant, calibration_bound, calibration_constant, constant_evidence, first_violation,
};
pub use t1_double_prime::{BinRange, binned_ranges, uniform_mass_radius};
pub use t1_keff::{half_count, smallest_half_count};
pub use t1_prime::{
    posterior_calibration_error, posterior_l1, prior_corrected_exact, sharp_log_errors,
};
pub use t2_double_prime::betting_interval;
pub use t2_prime::{empirical_bernstein_error, empirical_bernstein_radius, sample_variance_up};
pub use t3::{generalization_gap, memorizing_learner};
pub use t3_prime::{chernoff_upper, gaussian_divergence, kl_coins, kl_inverse_upper, pac_bayes_kl};
pub use t4::{Predictor, conflicting_pair};
pub use t4_moreover::prior_answered;
pub use t4_prime::{LogLoss, fano_entropy_bound, fano_floor, log_loss};
pub use t5::{
    corrupted_product, corruption_bound, equal_shifts, first_corruption_violation,
    witness_against_constant,
};
pub use t5_prime::{
    certified_delta, certified_items, hilbert_from_l1, hilbert_from_l1_one_sided, robust_l1,
    robust_l1_of_factors,
};
pub use t6::{leaning_items, sample_complexity_constant, too_few_items};
pub use t6_prime::{
    bayes_error_bound, bayes_error_exact, bayes_error_floor, chernoff_information, sufficient_items,
};
pub(crate) use witness::tuple;
pub use witness::{Hypothesis, Relation, Witness};
