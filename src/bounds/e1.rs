//! E1, beyond the paper: the price of dependence.
//!
//! # Statement
//! Let items with finitely many values be given, and let `TC = Σ P(y, e)·ln(P(e|y)/∏ P(eᵢ|y))` be
//! their total correlation given the class (Watanabe, 1960), which is zero exactly under A1. The
//! prior-corrected product of exact factors is off by at most `TC` in mean KL divergence, and its
//! calibration error, with any bins, is at most `√(TC/2)`.
//!
//! The proof is in `proofs/theory/E1.v`. Whoever knows how strongly items depend on each other can put
//! a number on what assumption 1 costs.

use super::BoundError;
use super::domain::{at_least_one, not_negative, require};
use crate::math::Interval;

/// E1: `√(TC/2)`, the largest calibration error of the prior-corrected product of exact factors of
/// items with total correlation `TC` (in nats) given the class; rounded up, at most 1.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn dependence_calibration_error(total_correlation: f64) -> Result<f64, BoundError> {
    let total = not_negative("total correlation", total_correlation)?;
    Ok((total / Interval::point(2.0)).sqrt().high().min(1.0))
}

/// The total correlation of `items` Gaussian items of which every two have the correlation `rho` given
/// the class, `−½·(ln(1 + (K−1)ρ) + (K−1)·ln(1−ρ))` in nats, rounded up.
///
/// An example to measure by: `rho` alone does not fix the total correlation of other items.
///
/// Domain: `items ≥ 1`, `0 ≤ rho < 1`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn gaussian_total_correlation(items: u64, rho: f64) -> Result<f64, BoundError> {
    let others = at_least_one("K", items)? - Interval::point(1.0);
    let allowed = "at least 0 and below 1";
    let rho = require((0.0..1.0).contains(&rho), "correlation", rho, allowed)?;
    let sum = (others * rho).ln_1p() + others * (-rho).ln_1p();
    Ok((-sum / Interval::point(2.0)).high().max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_correlation_costs_up_to_a_sixth_with_five_items() {
        // Python floats: TC = −(ln 1.48 + 4·ln 0.88)/2, then its root.
        for (items, want) in [(5, 0.172_692_934_325_290_1), (10, 0.323_315_809_184_973_7)] {
            let total = gaussian_total_correlation(items, 0.12).unwrap();
            let got = dependence_calibration_error(total).unwrap();
            assert!((got - want).abs() < 1e-14, "{got}");
        }
        assert_eq!(gaussian_total_correlation(7, 0.0), Ok(0.0));
        assert_eq!(dependence_calibration_error(0.0), Ok(0.0));
        assert_eq!(dependence_calibration_error(9.0), Ok(1.0));
        assert!(dependence_calibration_error(-1.0).is_err());
        assert!(gaussian_total_correlation(2, 1.0).is_err());
        assert!(gaussian_total_correlation(0, 0.5).is_err());
    }
}
