//! E5, beyond the paper: a pool with fitted weights.
//!
//! # Statement
//! Let `P_{w,b}(y) ∝ exp(b_y + Σ wᵢ·ln Φᵢ(y))` be the pool of positive factors with weights `w` and one
//! offset `b_y` a class. Then
//!
//! 1. its log loss is convex in `(w, b)`, so that fitting it is logistic regression and finds the best;
//! 2. with `L` its expected log loss, and that of any other predictor, the calibration error is at most
//!    `√((L − H(Y|E))/2)`, with any bins.
//!
//! # Proof
//! 1. `−ln P_{w,b}(y) = ln Σ_z exp(b_z + Σ wᵢ ln Φᵢ(z)) − b_y − Σ wᵢ ln Φᵢ(y)`: the logarithm of a sum of
//!    exponentials of linear functions is convex, what is subtracted is linear, and an expectation of
//!    convex functions is convex.
//! 2. By part 1 of T4′, `L − H(Y|E) = E[KL(P(·|E) ‖ P̂(·|E))]`. Given `E`, the chosen class's probability
//!    is off by at most half the L1 distance, hence by at most `√(KL/2)` (Pinsker). The calibration error
//!    is at most the mean of these, and the mean of a root at most the root of the mean. ∎
//!
//! The second part is what a fitted pool is for: its excess log loss can be measured where `H(Y|E)` is
//! known or bounded from below, and it bounds what theorem 1 wanted to bound. See Ranjan and Gneiting
//! (2010) on recalibrated pools, and Błasiok, Gopalan, Hu and Nakkiran (2023) on loss and calibration.

use super::BoundError;
use super::domain::{not_negative, require};
use crate::math::Interval;

/// E5: `√((L − H)/2)`, the largest calibration error of a predictor with expected log loss `L` where
/// `H(Y|E)` is `H`, both in nats; rounded up, at most 1.
///
/// An `L` from above and an `H` from below keep it a bound. Domain: `0 ≤ H ≤ L`: no predictor's expected
/// log loss is below the entropy (T4′).
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn excess_loss_calibration_error(loss: f64, entropy: f64) -> Result<f64, BoundError> {
    let loss_at = not_negative("log loss", loss)?;
    let allowed = "not negative, and not above the log loss, which is never below it";
    let entropy = require((0.0..=loss).contains(&entropy), "entropy", entropy, allowed)?;
    let excess = (loss_at - entropy).max(Interval::point(0.0));
    Ok((excess / Interval::point(2.0)).sqrt().high().min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand_and_culprits() {
        assert_eq!(excess_loss_calibration_error(0.5, 0.5), Ok(0.0));
        let got = excess_loss_calibration_error(0.75, 0.25).unwrap();
        assert!((0.5..0.5 + 2.0 * f64::EPSILON).contains(&got));
        assert_eq!(excess_loss_calibration_error(9.0, 0.0), Ok(1.0));
        assert!(excess_loss_calibration_error(0.1, 0.2).is_err());
        assert!(excess_loss_calibration_error(f64::INFINITY, 0.2).is_err());
        assert!(excess_loss_calibration_error(0.3, f64::NAN).is_err());
    }
}
