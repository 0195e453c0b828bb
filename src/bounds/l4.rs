//! Lemma 4: weighted averages concentrate at the rate of their effective count.
//!
//! It holds.
//!
//! # Statement
//! Let `X₁ … X_n` be independent with `|Xᵢ| ≤ 1`, `wᵢ ≥ 0`, `Σ wᵢ = 1`, and
//! `n_eff = (Σ wᵢ)²/Σ wᵢ²`. Then for every `ε > 0`
//!
//! ```text
//! P(|Σ wᵢXᵢ − Σ wᵢE[Xᵢ]| > ε) ≤ 2·exp(−n_eff·ε²/2).
//! ```
//!
//! # Proof
//! `wᵢXᵢ` lies in an interval of width `2wᵢ`. By step 1 of the proof of
//! [Hoeffding's inequality](super::hoeffding_tail), `ln E[e^{swᵢ(Xᵢ−E[Xᵢ])}] ≤ s²wᵢ²/2`; by
//! independence the sum has `ln E ≤ s²·Σwᵢ²/2 = s²/(2·n_eff)`. Markov's inequality at
//! `s = n_eff·ε` gives `exp(−n_eff·ε²/2)` for each side. ∎
//!
//! Weights that do not add up to one are divided by their sum first; `n_eff` does not change.

use super::domain::{open_unit, positive};
use super::{BoundError, effective_count};
use crate::math::Interval;

/// The effective count, enclosed: [`effective_count`] is within one unit in the last place.
fn enclosed_count(weights: &[f64]) -> Result<Interval, BoundError> {
    let n = effective_count(weights)?;
    Ok(Interval::between(n.next_down(), n.next_up()))
}

/// Claim L4: an upper bound of `P(|Σ wᵢ(Xᵢ − E[Xᵢ])| > ε)/Σwᵢ`, `min(1, 2·exp(−n_eff·ε²/2))`.
///
/// Domain: weights as in [`effective_count`], of any sum (they are divided by it); `ε > 0`.
/// Range: `[0, 1]`, never below the exact value.
///
/// # Errors
/// [`BoundError::Weights`], [`BoundError::Parameter`].
pub fn weighted_tail(weights: &[f64], epsilon: f64) -> Result<f64, BoundError> {
    let count = enclosed_count(weights)?;
    let epsilon = positive("epsilon", epsilon)?;
    let two = Interval::point(2.0);
    let tail = two * (-(count * epsilon * epsilon / two)).exp();
    Ok(tail.high().min(1.0))
}

/// The radius `√(2·ln(2/δ)/n_eff)` of the same inequality at failure probability `δ`.
///
/// # Errors
/// [`BoundError::Weights`], [`BoundError::Parameter`].
pub fn weighted_radius(weights: &[f64], delta: f64) -> Result<f64, BoundError> {
    let count = enclosed_count(weights)?;
    let two = Interval::point(2.0);
    let log = (two / open_unit("delta", delta)?).ln();
    Ok((two * log / count).sqrt().high())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::{KishError, hoeffding_radius, hoeffding_tail};

    #[test]
    fn equal_weights_give_hoeffding_for_width_two() {
        for n in [1usize, 5, 1000] {
            let weights = vec![0.3; n];
            let tail = weighted_tail(&weights, 0.7).unwrap();
            let want = hoeffding_tail(n as u64, 0.7, 2.0).unwrap();
            // Both are outward of the same number by a few units of the exponent's rounding.
            assert!((tail - want).abs() <= 1e-13 * want);
            let radius = weighted_radius(&weights, 0.05).unwrap();
            let want = hoeffding_radius(n as u64, 0.05, 2.0).unwrap();
            assert!((radius - want).abs() <= 1e-14 * want);
        }
    }

    #[test]
    fn the_exact_tail_of_weighted_signs_stays_below_the_bound() {
        // All 2⁶ sign vectors, weights 1, 1/2, 1/4 …: the exact tail at every threshold.
        let weights = [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125];
        let total: f64 = weights.iter().sum();
        for step in 1..20 {
            let epsilon = f64::from(step) * 0.05;
            let beyond = (0..64u32)
                .filter(|signs| {
                    let sum: f64 = weights
                        .iter()
                        .enumerate()
                        .map(|(i, w)| if signs >> i & 1 == 1 { *w } else { -w })
                        .sum();
                    sum.abs() / total > epsilon
                })
                .count();
            let bound = weighted_tail(&weights, epsilon).unwrap();
            assert!(beyond as f64 / 64.0 <= bound, "epsilon {epsilon}");
        }
    }

    #[test]
    fn the_plain_count_in_place_of_the_effective_one_would_be_wrong() {
        // One sign of weight 1 and 59 of weight 0.001: |Σ wX|/Σw ≥ (1 − 0.059)/1.059 > 1/2 always.
        let mut weights = vec![0.001; 60];
        weights[0] = 1.0;
        assert_eq!(weighted_tail(&weights, 0.5), Ok(1.0));
        assert!(hoeffding_tail(60, 0.5, 2.0).unwrap() < 0.002);
    }

    #[test]
    fn the_culprit_is_named() {
        assert_eq!(
            weighted_tail(&[0.0], 0.1),
            Err(BoundError::Weights(KishError::AllZero))
        );
        assert!(weighted_tail(&[1.0], -0.1).is_err());
        assert!(weighted_radius(&[1.0], 0.0).is_err());
    }
}
