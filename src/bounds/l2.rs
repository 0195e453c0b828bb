//! Lemma 2 and theorem 2: Hoeffding's inequality, and the Monte Carlo error it gives.
//!
//! Both hold. [Empirical Bernstein](super::empirical_bernstein_error) (T2′) is sharper where the
//! samples vary little.
//!
//! # Statement
//! Let `X₁ … X_n` be independent with values in `[a, b]`, `X̄` their mean and `μ = E[X̄]`. Then for
//! every `ε > 0`
//!
//! ```text
//! P(|X̄ − μ| > ε) ≤ 2·exp(−2nε²/(b−a)²).
//! ```
//!
//! # Proof
//! 1. *Hoeffding's lemma.* Let `X ∈ [a, b]`, `E[X] = 0`, `ψ(s) = ln E[e^{sX}]`. Then `ψ(0) = 0`,
//!    `ψ'(0) = E[X] = 0`, and `ψ''(s)` is the variance of `X` under the density `e^{sX − ψ(s)}`.
//!    A variable in `[a, b]` is at most `(b−a)/2` away from the midpoint, so its variance is at
//!    most `(b−a)²/4`. Taylor's theorem gives `ψ(s) ≤ s²(b−a)²/8`.
//! 2. By Markov's inequality and independence, for `s > 0`,
//!    `P(X̄ − μ > ε) ≤ e^{−sε}·∏ E[e^{s(Xᵢ−E[Xᵢ])/n}] ≤ exp(−sε + s²(b−a)²/(8n))`.
//! 3. At `s = 4nε/(b−a)²` the exponent is `−2nε²/(b−a)²`. The same holds for `−Xᵢ`; the two sides
//!    add up to the factor 2. ∎
//!
//! Theorem 2 applies this to the `M` decoded probabilities of each of `|Y|` classes, which lie in
//! `[0, 1]`, and adds up the `|Y|` failure probabilities.

use super::BoundError;
use super::domain::{at_least_one, open_unit, positive};
use crate::math::Interval;

/// Claim L2: an upper bound of `P(|X̄ − μ| > ε)`, `min(1, 2·exp(−2nε²/(b−a)²))`.
///
/// Domain: `n ≥ 1`, `ε > 0`, `width = b − a > 0`, finite. Range: `[0, 1]`; never below the exact
/// value, and above it by a relative `10⁻¹⁵·(1 + 2nε²/(b−a)²)` at most.
///
/// # Errors
/// [`BoundError::Parameter`] names the parameter outside the domain.
pub fn hoeffding_tail(n: u64, epsilon: f64, width: f64) -> Result<f64, BoundError> {
    let n = at_least_one("n", n)?;
    let ratio = positive("epsilon", epsilon)? / positive("b - a", width)?;
    let two = Interval::point(2.0);
    let tail = two * (-(two * n * ratio * ratio)).exp();
    Ok(tail.high().min(1.0))
}

/// The radius `(b−a)·√(ln(2/δ)/(2n))` within which `X̄` lies around `μ` with probability `1 − δ`.
///
/// Domain: `n ≥ 1`, `0 < δ < 1`, `width = b − a > 0`. Never below the exact value, and above it
/// by a few units in the last place.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn hoeffding_radius(n: u64, delta: f64, width: f64) -> Result<f64, BoundError> {
    let n = at_least_one("n", n)?;
    let two = Interval::point(2.0);
    let log = (two / open_unit("delta", delta)?).ln();
    Ok((positive("b - a", width)? * (log / (two * n)).sqrt()).high())
}

/// Claim T2: with probability at least `1 − δ`,
/// `max_y |Φ̂_M(y) − Φ(y)| ≤ √(ln(2|Y|/δ)/(2M))`.
///
/// Domain: `samples = M ≥ 1`, `classes = |Y| ≥ 1`, `0 < δ < 1`. Never below the exact value, and
/// above it by a few units in the last place.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn monte_carlo_error(samples: u64, classes: u64, delta: f64) -> Result<f64, BoundError> {
    let (samples, classes) = (at_least_one("M", samples)?, at_least_one("|Y|", classes)?);
    let two = Interval::point(2.0);
    let log = (two * classes / open_unit("delta", delta)?).ln();
    Ok((log / (two * samples)).sqrt().high())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Enclosure, rational};

    #[test]
    fn the_five_bounds_printed_in_the_table_of_theorem_two() {
        let printed = [
            (4, 0.774),
            (8, 0.547),
            (16, 0.387),
            (32, 0.274),
            (64, 0.193),
        ];
        for (m, value) in printed {
            let bound = monte_carlo_error(m, 3, 0.05).unwrap();
            assert!((bound - value).abs() <= 0.0005, "M = {m}: {bound}");
        }
    }

    #[test]
    fn never_below_the_exact_value_and_close_above() {
        for (m, classes) in [(1, 1), (7, 2), (16, 3), (1_000_000, 1000)] {
            let got = monte_carlo_error(m, classes, 0.05).unwrap();
            let exact = Enclosure::exact(rational(2.0 * classes as f64).unwrap())
                .divide(&Enclosure::exact(rational(0.05).unwrap()))
                .and_then(|x| x.ln(120))
                .and_then(|x| x.divide(&Enclosure::integer(2 * m)))
                .and_then(|x| x.sqrt(120))
                .unwrap();
            assert!(rational(got).unwrap() >= *exact.high());
            // ln: 2 steps up and one rounding each for the quotient, its division and the root.
            assert!(got <= exact.approx() * (1.0 + 8.0 * f64::EPSILON));
        }
    }

    #[test]
    fn the_exact_tail_of_a_fair_coin_stays_below_the_bound() {
        // P(|X̄ − 1/2| > 0.3) for 10 fair coins: 2·(1 + 10)/1024 exactly.
        assert!(hoeffding_tail(10, 0.3, 1.0).unwrap() >= 22.0 / 1024.0);
        // mpmath 1.4.1: 2·exp(−2·10·0.09) = 0.330597776443173.
        let bound = hoeffding_tail(10, 0.3, 1.0).unwrap();
        assert!((bound - 0.330_597_776_443_173).abs() < 1e-14);
        assert_eq!(hoeffding_tail(1, 1e-9, 1.0), Ok(1.0));
        // e^{−2·2⁶⁴} is far below the smallest double, but a bound of zero would be wrong.
        let tiny = hoeffding_tail(u64::MAX, 1.0, 1.0).unwrap();
        assert!(tiny > 0.0 && tiny < 1e-322);
    }

    #[test]
    fn tail_and_radius_are_inverse() {
        let radius = hoeffding_radius(50, 0.01, 2.0).unwrap();
        let tail = hoeffding_tail(50, radius, 2.0).unwrap();
        assert!((tail - 0.01).abs() < 1e-15);
    }

    #[test]
    fn the_culprit_is_named() {
        let error = monte_carlo_error(16, 3, 1.5).unwrap_err();
        assert_eq!(
            error.to_string(),
            "delta is 1.5; it must be strictly between 0 and 1"
        );
        assert!(monte_carlo_error(0, 3, 0.05).is_err());
        assert!(monte_carlo_error(1, 0, 0.05).is_err());
        assert!(monte_carlo_error(1, 3, f64::NAN).is_err());
        assert!(hoeffding_radius(1, 0.5, f64::INFINITY).is_err());
        assert!(hoeffding_tail(1, 0.0, 1.0).is_err());
    }
}
