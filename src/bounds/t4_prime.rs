//! T4′, in place of theorem 4: what uncertainty costs is paid in log loss and in errors, not in
//! calibration.
//!
//! # Statement
//! 1. For any predictor, `E[−ln P̂(Y|E)] = H(Y|E) + E[KL(P(·|E) ‖ P̂(·|E))] ≥ H(Y|E)`, with equality
//!    exactly for the posterior.
//! 2. (Fano) Any decision among `n ≥ 2` classes has an error probability `e` with
//!    `H(Y|E) ≤ h(e) + e·ln(n−1)`, `h(e) = −e·ln e − (1−e)·ln(1−e)`.
//!
//! # Proof
//! 1. Given `E = e`, `Σ_y P(y|e)·(−ln P̂(y|e)) = Σ_y P(y|e)·(−ln P(y|e)) + Σ_y P(y|e)·ln(P/P̂)`;
//!    average over `e`. The divergence is not negative, and zero only for equal distributions.
//! 2. Let `Ŷ` be the decision and `W` tell whether it is wrong. `Ŷ` is a function of `E`, so
//!    `H(Y|E) ≤ H(Y|Ŷ)`. `W` is a function of `Y` and `Ŷ`, so
//!    `H(Y|Ŷ) = H(Y, W|Ŷ) = H(W|Ŷ) + H(Y|W, Ŷ) ≤ h(e) + e·ln(n−1)`: if right, `Y = Ŷ` is known; if
//!    wrong, `n − 1` classes are left. ∎
//!
//! The right side of 2 increases from 0 at `e = 0` to `ln n` at `e = 1 − 1/n` (its derivative is
//! `ln((1−e)(n−1)/e) > 0` below), so it can be solved for the smallest possible `e`.
//!
//! # Sharpness
//! 2 is attained where the posterior is `(1−e, e/(n−1), …, e/(n−1))` for all evidence.

use super::BoundError;
use super::domain::{at_least_two, entries, length, require};
use crate::math::{ExactSum, Interval, ln};
use crate::simplex::{Distribution, entropy_nats, kl_divergence};

/// The two parts of the expected log loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogLoss {
    /// `E[−ln P̂(Y|E)]` in nats; `+∞` where the predictor excludes what happens.
    pub loss: f64,
    /// `H(Y|E)`: the part no predictor avoids. Replaces the entropy of claim T4.
    pub entropy: f64,
    /// `E[KL(P‖P̂)]`: the part this predictor adds.
    pub divergence: f64,
}

/// T4′ part 1 for finitely many values of the evidence: their probabilities, the true posteriors
/// and the predictions.
///
/// Each part is computed by its own formula, so that `loss = entropy + divergence` is a check and
/// not a definition; it holds within `10⁻¹³` relative for entries above `10⁻³⁰⁰`.
///
/// # Errors
/// [`BoundError::Lengths`] where the lists or the numbers of classes differ, [`BoundError::Entry`]
/// for a negative or infinite probability.
pub fn log_loss(
    probabilities: &[f64],
    truths: &[Distribution],
    predictions: &[Distribution],
) -> Result<LogLoss, BoundError> {
    for (name, found) in [
        ("posteriors", truths.len()),
        ("predictions", predictions.len()),
    ] {
        length(name, probabilities.len(), found)?;
    }
    entries("probability", probabilities, "between 0 and 1", |p| {
        (0.0..=1.0).contains(&p)
    })?;
    let (mut loss, mut entropy, mut divergence) =
        (ExactSum::new(), ExactSum::new(), ExactSum::new());
    for ((&weight, truth), prediction) in probabilities.iter().zip(truths).zip(predictions) {
        let Some(kl) = kl_divergence(truth, prediction) else {
            return Err(BoundError::Lengths {
                name: "classes",
                expected: truth.classes(),
                found: prediction.classes(),
            });
        };
        if weight == 0.0 {
            continue;
        }
        divergence.add(weight * kl);
        entropy.add(weight * entropy_nats(truth));
        let pairs = truth.probabilities().iter().zip(prediction.probabilities());
        for (&p, &q) in pairs.filter(|&(&p, _)| p > 0.0) {
            loss.add(-(weight * p * ln(q)));
        }
    }
    Ok(LogLoss {
        loss: loss.to_f64(),
        entropy: entropy.to_f64(),
        divergence: divergence.to_f64(),
    })
}

/// `h(e) + e·ln(n−1)`, enclosed.
fn fano_entropy(e: f64, classes: u64) -> Interval {
    let x = Interval::point(e);
    let zero = Interval::point(0.0);
    let one = Interval::point(1.0);
    let wrong = if e == 0.0 { zero } else { -(x * x.ln()) };
    let right = if e == 1.0 {
        zero
    } else {
        -((one - x) * (-x).ln_1p())
    };
    wrong + right + x * Interval::count(classes - 1).ln()
}

/// T4′ part 2: the largest entropy `H(Y|E)` that an error probability `e` allows,
/// `h(e) + e·ln(n−1)` in nats, rounded up.
///
/// Domain: `0 ≤ e ≤ 1`, `classes = n ≥ 2`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn fano_entropy_bound(error: f64, classes: u64) -> Result<f64, BoundError> {
    super::domain::unit("error", error)?;
    at_least_two("|Y|", classes)?;
    Ok(fano_entropy(error, classes).high())
}

/// T4′ part 2, solved: the smallest error probability that any decision can have when `H(Y|E)` is
/// `entropy` nats; rounded down.
///
/// Domain: `classes = n ≥ 2`, `0 ≤ entropy ≤ ln n` (up to the rounding of `ln n`). Range:
/// `[0, 1 − 1/n]`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn fano_floor(entropy: f64, classes: u64) -> Result<f64, BoundError> {
    let n = at_least_two("|Y|", classes)?;
    let holds = entropy >= 0.0 && entropy <= n.ln().high();
    require(holds, "entropy", entropy, "between 0 and ln |Y| nats")?;
    // Invariant: the entropy exceeds what an error of `low` allows, or low = 0.
    let mut low = 0.0;
    let mut high = (Interval::point(1.0) - Interval::point(1.0) / n).low();
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return Ok(low);
        }
        if fano_entropy(middle, classes).high() < entropy {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn d(v: &[f64]) -> Distribution {
        Distribution::from_weights(v.to_vec()).unwrap()
    }

    proptest! {
        #[test]
        fn loss_is_entropy_plus_divergence(
            rows in prop::collection::vec(
                (0.01f64..1.0, prop::collection::vec(1e-6f64..1.0, 3), prop::collection::vec(1e-6f64..1.0, 3)),
                1..6,
            )
        ) {
            let total: f64 = rows.iter().map(|r| r.0).sum();
            let weights: Vec<f64> = rows.iter().map(|r| r.0 / total).collect();
            let truths: Vec<_> = rows.iter().map(|r| d(&r.1)).collect();
            let predictions: Vec<_> = rows.iter().map(|r| d(&r.2)).collect();
            let got = log_loss(&weights, &truths, &predictions).unwrap();
            prop_assert!((got.loss - got.entropy - got.divergence).abs() <= 1e-13 * (1.0 + got.loss));
            prop_assert!(got.divergence >= 0.0);
            let best = log_loss(&weights, &truths, &truths).unwrap();
            prop_assert_eq!(best.divergence, 0.0);
            prop_assert!(best.loss <= got.loss * (1.0 + 1e-13));
        }

        #[test]
        fn fano_inverts_and_is_attained(e in 0.0f64..1.0, n in 2u64..20) {
            let e = e * (1.0 - 1.0 / n as f64);
            // The sharp case: posterior (1−e, e/(n−1), …).
            let mut row = vec![e / (n - 1) as f64; n as usize];
            row[0] = 1.0 - e;
            let entropy = entropy_nats(&d(&row));
            let floor = fano_floor(entropy.min(Interval::count(n).ln().low()), n).unwrap();
            prop_assert!(floor <= e * (1.0 + 1e-12) + 1e-15);
            // Near its maximum the entropy is flat: an error of 1e-15 in it moves e by 1e-7.
            prop_assert!(floor >= e - 1e-6);
        }
    }

    #[test]
    fn values_by_hand_and_culprits() {
        // Two classes, H = ln 2: nothing better than guessing.
        let floor = fano_floor(std::f64::consts::LN_2, 2).unwrap();
        assert!(floor <= 0.5 && floor > 0.5 - 1e-7);
        // H = h(0.11) = 0.346515… nats for two classes (mpmath 1.4.1) gives back 0.11.
        let h = 0.346_515_336_918_666_15;
        assert!((fano_entropy_bound(0.11, 2).unwrap() - h).abs() < 1e-14);
        assert!((fano_floor(h, 2).unwrap() - 0.11).abs() < 1e-14);
        assert_eq!(fano_floor(0.0, 3), Ok(0.0));
        assert!(fano_floor(1.2, 3).is_err() && fano_floor(0.5, 1).is_err());
        assert!(fano_floor(f64::NAN, 3).is_err());
        let sure = log_loss(&[1.0], &[d(&[1.0, 1.0])], &[d(&[1.0, 0.0])]).unwrap();
        assert_eq!(sure.loss, f64::INFINITY);
        assert!(log_loss(&[1.0], &[], &[]).is_err());
        assert!(log_loss(&[2.0], &[d(&[1.0])], &[d(&[1.0])]).is_err());
    }
}
