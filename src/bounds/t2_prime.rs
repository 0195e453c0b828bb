//! T2′, beside theorem 2: the empirical Bernstein bound of Maurer and Pontil.
//!
//! Replaces nothing: T2 holds. This bound is smaller where the samples vary little and there are many:
//! for `|Y| = 3`, `δ = 0.05` and no variance at all from `M = 64` on (0.1923 against 0.1934), while at
//! `M = 16` it is 0.808 against 0.387. It uses the measured variance, so it needs no further knowledge.
//!
//! # Statement
//! Let `X₁ … X_n`, `n ≥ 2`, be independent draws of one variable in `[0, 1]`, `μ` its mean, `X̄`
//! the sample mean and `V = Σ (Xᵢ−X̄)²/(n−1)`. With probability at least `1 − δ`, `L = ln(3/δ)`,
//!
//! ```text
//! |X̄ − μ| ≤ √(2VL/n) + 7L/(3(n−1)).
//! ```
//!
//! # Proof
//! Write `σ²` for the variance. Three events, each of probability at most `e^{−L} = δ/3`:
//!
//! 1. *Bernstein, upwards.* For `0 < s < 3` and `x ≤ 1`, comparing power series term by term
//!    (`k! ≥ 2·3^{k−2}`, and `(e^{u}−1−u)/u²` increases in `u`), `e^{sx} ≤ 1 + sx + s²x²/(2(1−s/3))`.
//!    With `x = Xᵢ − μ` and `1 + u ≤ e^u`, `ln E[e^{s(Xᵢ−μ)}] ≤ s²σ²/(2(1−s/3))`. Let
//!    `a = √(2L/(nσ²))` and `s = a/(1 + a/3)`, so `1 − s/3 = 1/(1 + a/3)`. By Markov's inequality
//!    for `n(X̄−μ)` and `t = √(2nσ²L) + L/3`, the exponent is
//!    `nσ²a²/(2(1+a/3)) − st = (L − a·t)/(1+a/3) = (L − 2L − aL/3)/(1+a/3) = −L`. Hence
//!    `X̄ − μ ≤ √(2σ²L/n) + L/(3n)`. (Where `σ = 0` the difference is zero.)
//! 2. *Bernstein, downwards*: the same for `1 − Xᵢ`.
//! 3. *The variance is not far above its estimate.* `V` is the mean of `T(Xᵢ, Xⱼ) = (Xᵢ−Xⱼ)²/2`
//!    over all pairs, hence the mean, over all orders `π` of the sample, of
//!    `W_π = (1/m)·Σ_{j≤m} T(X_{π(2j−1)}, X_{π(2j)})` with `m = ⌊n/2⌋` *independent* terms. By
//!    convexity `E[e^{−λV}] ≤ E[e^{−λW}] = E[e^{−λT/m}]^m`. Now `0 ≤ T ≤ 1/2`, `E[T] = σ²`,
//!    `E[T²] ≤ σ²/2`, and `e^{−u} ≤ 1 − u + u²/2` for `u ≥ 0`, so
//!    `ln E[e^{−λV}] ≤ −λσ² + λ²σ²/(4m)`. Markov's inequality at `λ = 2mt/σ²` gives
//!    `P(V ≤ σ² − t) ≤ exp(−mt²/σ²)`; with `t = σc`, `c = √(L/m)`: `σ² − cσ − V ≤ 0`, that is
//!    `σ ≤ c/2 + √(V + c²/4) ≤ √V + c`, and `m ≥ (n−1)/2` gives `σ ≤ √V + √(2L/(n−1))`.
//!
//! Outside of all three, `|X̄−μ| ≤ √(2L/n)·(√V + √(2L/(n−1))) + L/(3n)`, and
//! `2L/√(n(n−1)) + L/(3n) ≤ 7L/(3(n−1))`. ∎

use super::BoundError;
use super::domain::{at_least_one, at_least_two, entries, open_unit, require};
use crate::math::{ExactSum, Interval};

/// T2′: `√(2VL/n) + 7L/(3(n−1))` with `L = ln(3/δ)`, from the unbiased sample variance `V`.
///
/// Domain: `n ≥ 2`, `0 ≤ V ≤ 1/2` (a sample in `[0, 1]` has no larger one), `0 < δ < 1`. Never
/// below the exact value for this `V`. To hold for `|Y|` classes at once, pass `δ/|Y|`, or use
/// [`empirical_bernstein_error`].
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn empirical_bernstein_radius(n: u64, variance: f64, delta: f64) -> Result<f64, BoundError> {
    open_unit("delta", delta)?;
    radius(n, variance, Interval::point(3.0) / Interval::point(delta))
}

/// T2′ for a Monte Carlo factor: with probability at least `1 − δ`, for every class `y` at once,
/// `|Φ̂_M(y) − Φ(y)| ≤ √(2V_y·L/M) + 7L/(3(M−1))` with `L = ln(3|Y|/δ)`; returns the bound for one
/// class from its sample variance.
///
/// Domain: `samples = M ≥ 2`, `classes = |Y| ≥ 1`, `0 ≤ V ≤ 1/2`, `0 < δ < 1`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn empirical_bernstein_error(
    samples: u64,
    classes: u64,
    variance: f64,
    delta: f64,
) -> Result<f64, BoundError> {
    let classes = at_least_one("|Y|", classes)?;
    let inverse = Interval::point(3.0) * classes / open_unit("delta", delta)?;
    radius(samples, variance, inverse)
}

fn radius(n: u64, variance: f64, inverse_delta: Interval) -> Result<f64, BoundError> {
    at_least_two("n", n)?;
    let allowed = "between 0 and 1/2, as the variance of values between 0 and 1 is";
    require((0.0..=0.5).contains(&variance), "V", variance, allowed)?;
    let log = inverse_delta.ln();
    let (n, below) = (Interval::count(n), Interval::count(n - 1));
    let spread = (Interval::point(2.0) * Interval::point(variance) * log / n).sqrt();
    let rest = Interval::point(7.0) * log / (Interval::point(3.0) * below);
    Ok((spread + rest).high())
}

/// The unbiased variance `V = Σ (xᵢ − x̄)²/(n−1)` of values in `[0, 1]`, rounded up.
///
/// Never below the exact variance of the given doubles, so that a bound made from it stays one;
/// never above 1/2. Independent of the order of the values.
///
/// # Errors
/// [`BoundError::Parameter`] for fewer than two values, [`BoundError::Entry`] for one outside
/// `[0, 1]`.
pub fn sample_variance_up(values: &[f64]) -> Result<f64, BoundError> {
    let n = at_least_two("n", values.len() as u64)?;
    entries("value", values, "between 0 and 1", |x| {
        (0.0..=1.0).contains(&x)
    })?;
    let mean = values.iter().copied().collect::<ExactSum>().to_f64() / values.len() as f64;
    // Around any centre c, Σ(xᵢ−c)² = Σ(xᵢ−x̄)² + n(x̄−c)²: a rounded mean can only add. Each
    // squared difference is enclosed; the upper ends are added exactly and rounded up once.
    let squares: ExactSum = values
        .iter()
        .map(|&x| {
            let d = Interval::point(x) - Interval::point(mean);
            (d * d).high().max(0.0)
        })
        .collect();
    let sum = squares.to_f64();
    let sum = if sum == 0.0 { 0.0 } else { sum.next_up() };
    let below = n - Interval::point(1.0);
    Ok((Interval::point(sum) / below).high().min(0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::monte_carlo_error;
    use crate::math::rational;
    use num_rational::BigRational;
    use proptest::prelude::*;

    #[test]
    fn agrees_with_a_literal_transcription_in_mpmath() {
        // mpmath 1.4.1: n = 1000, V = 0.01, δ = 0.05 →
        // sqrt(2·V·log(60)/n) + 7·log(60)/(3·999).
        let got = empirical_bernstein_radius(1000, 0.01, 0.05).unwrap();
        assert!((got - 0.018_612_171_275_587_67).abs() < 1e-13, "{got}");
        let got = empirical_bernstein_error(1000, 3, 0.01, 0.05).unwrap();
        let same = empirical_bernstein_radius(1000, 0.01, 0.05 / 3.0).unwrap();
        assert!((got - same).abs() < 1e-15);
    }

    #[test]
    fn is_smaller_than_hoeffding_for_little_variance_and_larger_for_few_samples() {
        let hoeffding = monte_carlo_error(10_000, 3, 0.05).unwrap();
        assert!(empirical_bernstein_error(10_000, 3, 1e-3, 0.05).unwrap() < hoeffding / 3.0);
        let few = monte_carlo_error(16, 3, 0.05).unwrap();
        assert!(empirical_bernstein_error(16, 3, 1e-3, 0.05).unwrap() > few);
    }

    proptest! {
        #[test]
        fn variance_is_never_below_the_exact_one(v in prop::collection::vec(0.0f64..=1.0, 2..40)) {
            let exact: Vec<BigRational> = v.iter().map(|&x| rational(x).unwrap()).collect();
            let n = BigRational::from_integer(v.len().into());
            let mean = exact.iter().sum::<BigRational>() / &n;
            let squares: BigRational = exact.iter().map(|x| (x - &mean) * (x - &mean)).sum();
            let want = squares / (n - BigRational::from_integer(1.into()));
            let got = sample_variance_up(&v).unwrap();
            prop_assert!(rational(got).unwrap() >= want || got == 0.5);
            // The centre is off by 2 ulp of 1 at most, the squares by 3 each.
            prop_assert!(rational(got - 1e-15).unwrap() <= want);
        }
    }

    #[test]
    fn edges() {
        assert_eq!(sample_variance_up(&[0.3, 0.3]), Ok(0.0));
        assert_eq!(sample_variance_up(&[0.0, 1.0]), Ok(0.5));
        assert!(sample_variance_up(&[0.3]).is_err());
        assert_eq!(
            sample_variance_up(&[0.3, 1.5]).unwrap_err().to_string(),
            "value 1 is 1.5; it must be between 0 and 1"
        );
        assert!(empirical_bernstein_radius(1, 0.1, 0.05).is_err());
        assert!(empirical_bernstein_radius(2, 0.6, 0.05).is_err());
        assert!(empirical_bernstein_radius(2, 0.1, 1.0).is_err());
    }
}
