//! E4, beyond the paper: how far sampling moves the whole prediction.
//!
//! # Statement
//! Let `K` factors over `|Y|` classes be estimated from `M` samples each, exact factors and estimates
//! all at least `p > 0`, and let `P` be the product of the exact factors with weights `wᵢ ≥ 0`, `P̂`
//! that of the estimates. With probability at least `1 − δ`,
//!
//! ```text
//! ‖P̂ − P‖₁ ≤ 2·tanh(½·Σ wᵢ·ln(1 + r/p)),   r = √(ln(2K|Y|/δ)/(2M)).
//! ```
//!
//! # Proof
//! Theorem 2 with `δ/K` for each item puts every entry within `r`, so every logarithm is off by at
//! most `ln(1 + r/p)`; the range of the log scores' error is at most twice their weighted sum, and
//! part 1 of T5′ bounds the product. Machine-checked in `proofs/theory/E4.v`. ∎

use super::BoundError;
use super::domain::{at_least_one, entries, open_unit, positive};
use crate::math::Interval;

/// The most samples that [`pipeline_samples`] answers with.
const MOST_SAMPLES: u64 = 1 << 53;

/// E4: the largest L1 distance of the prediction from samples to the exact one, rounded up.
///
/// One weight for each item. Domain: at least one item, weights finite and not negative, `samples ≥ 1`,
/// `classes ≥ 1`, `0 < p < 1`, `0 < δ < 1`. Range: `[0, 2]`.
///
/// # Errors
/// [`BoundError::Parameter`], [`BoundError::Entry`].
pub fn pipeline_l1(
    samples: u64,
    classes: u64,
    weights: &[f64],
    smallest: f64,
    delta: f64,
) -> Result<f64, BoundError> {
    let items = at_least_one("K", weights.len() as u64)?;
    entries("weight", weights, "finite and not negative", |w| {
        w >= 0.0 && w.is_finite()
    })?;
    let two = Interval::point(2.0);
    let ratio = two * items * at_least_one("|Y|", classes)? / open_unit("delta", delta)?;
    let radius = (ratio.ln() / (two * at_least_one("M", samples)?)).sqrt();
    let shift = (radius / open_unit("p", smallest)?).ln_1p();
    let total = weights
        .iter()
        .fold(Interval::point(0.0), |sum, &w| sum + Interval::point(w));
    Ok((two * (total * shift / two).tanh()).high().min(2.0))
}

/// The smallest number of samples for each item with which [`pipeline_l1`] is at most `l1`; `None` where
/// 2⁵³ are not enough.
///
/// # Errors
/// Those of [`pipeline_l1`]; [`BoundError::Parameter`] for `l1` that is not above zero.
pub fn pipeline_samples(
    l1: f64,
    classes: u64,
    weights: &[f64],
    smallest: f64,
    delta: f64,
) -> Result<Option<u64>, BoundError> {
    positive("L1", l1)?;
    let enough = |m| Ok::<_, BoundError>(pipeline_l1(m, classes, weights, smallest, delta)? <= l1);
    if !enough(MOST_SAMPLES)? {
        return Ok(None);
    }
    let (mut low, mut high) = (0, MOST_SAMPLES);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(Some(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_samples_certify_nothing_and_how_many_do() {
        let ones = [1.0; 5];
        // Five items, three classes, δ = 0.05: r = √(ln(600)/32) = 0.447 at M = 16.
        assert!(pipeline_l1(16, 3, &ones, 1.0 / 6.0, 0.05).unwrap() > 1.9);
        for (smallest, least, most) in [(0.01, 7.7e7, 7.9e7), (1.0 / 6.0, 2.7e5, 2.9e5)] {
            let samples = pipeline_samples(0.1, 3, &ones, smallest, 0.05);
            let samples = samples.unwrap().unwrap();
            assert!((least..most).contains(&(samples as f64)), "{samples}");
            let at = |m| pipeline_l1(m, 3, &ones, smallest, 0.05).unwrap();
            assert!(at(samples) <= 0.1 && at(samples - 1) > 0.1);
        }
    }

    #[test]
    fn edges_and_culprits() {
        assert_eq!(pipeline_l1(16, 3, &[0.0], 0.1, 0.05), Ok(0.0));
        assert_eq!(pipeline_samples(1e-12, 3, &[1.0], 1e-9, 0.05), Ok(None));
        assert!(pipeline_l1(0, 3, &[1.0], 0.1, 0.05).is_err());
        assert!(pipeline_l1(16, 3, &[], 0.1, 0.05).is_err());
        assert!(pipeline_l1(16, 3, &[-1.0], 0.1, 0.05).is_err());
        assert!(pipeline_l1(16, 3, &[1.0], 0.0, 0.05).is_err());
        assert!(pipeline_samples(0.0, 3, &[1.0], 0.1, 0.05).is_err());
    }
}
