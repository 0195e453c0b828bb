//! Bounds: the paper's and their corrected forms, one file for each theorem or lemma.
//!
//! | claim of the paper | file | in its place |
//! |---|---|---|
//! | L2, T2 Monte Carlo error | `hoeffding` | holds; T2′ in `empirical_bernstein` beside it |
//! | L4 weighted averages | `weighted_concentration` | holds |
//! | T3, L7 generalization | | T3′ in `binomial` (test set) and `pac_bayes` |
//! | T5 corruption | | T5′ in `robustness` |
//!
//! **Rounding.** A function that returns an upper bound computes in
//! [`Interval`](crate::math::Interval)s and returns the upper end, a lower bound the lower end: the
//! returned double is never on the wrong side of the exact value of the formula at the given
//! doubles. Each function says how close it is.

mod binomial;
mod chernoff;
mod domain;
mod empirical_bernstein;
mod hoeffding;
mod kish;
mod pac_bayes;
mod prior_corrected;
mod robustness;
mod weighted_concentration;

pub use binomial::{
    binomial_cdf, binomial_upper_tail, clopper_pearson, clopper_pearson_lower,
    clopper_pearson_upper,
};
pub use chernoff::{
    bayes_error_bound, bayes_error_exact, bayes_error_floor, chernoff_information, sufficient_items,
};
pub use domain::BoundError;
pub use empirical_bernstein::{
    empirical_bernstein_error, empirical_bernstein_radius, sample_variance_up,
};
pub use hoeffding::{hoeffding_radius, hoeffding_tail, monte_carlo_error};
pub use kish::{KishError, effective_count, effective_count_exact, kish_sums};
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
pub use weighted_concentration::{weighted_radius, weighted_tail};
