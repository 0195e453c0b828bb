//! T2″, beside theorem 2: the betting interval of Waudby-Smith and Ramdas.
//!
//! Where the samples vary little it is far narrower than Hoeffding's interval and than the
//! empirical Bernstein one, from a handful of samples on; where they vary as much as values between
//! 0 and 1 can, it is about as wide as Hoeffding's. The ledger computes from which number of samples
//! on each of the three is the narrowest.
//!
//! # Statement
//! Let `X₁ … X_n` lie in `[0, 1]`, each with mean `μ` given those before it (independent draws of one
//! variable do). Let `λ₁, λ₂, …` be bets, `λᵢ ≥ 0` chosen before `Xᵢ` is seen, and `0 < c < 1`. For a
//! candidate mean `m` put
//!
//! ```text
//! K⁺ₜ(m) = ∏_{i≤t} (1 + min(λᵢ, c/m)·(Xᵢ − m)),
//! K⁻ₜ(m) = ∏_{i≤t} (1 − min(λᵢ, c/(1−m))·(Xᵢ − m)).
//! ```
//!
//! With probability at least `1 − δ`, `μ` is none of the `m` for which some `K⁺ₜ(m)` or `K⁻ₜ(m)`,
//! `t ≤ n`, reaches `2/δ`; and the other `m` are an interval.
//!
//! # Proof
//! 1. At `m = μ` each factor is positive (at least `1 − c`) and has mean one given the past, so `K⁺`
//!    and `K⁻` are martingales that begin at one. By Ville's inequality each reaches `2/δ` with
//!    probability at most `δ/2` (machine-checked: theorem `E3_monitor`, whose forecast is `μ`).
//! 2. `K⁺ₜ(m)` does not increase with `m`: a factor is `1 + λᵢ(Xᵢ − m)` as long as `λᵢ ≤ c/m` and
//!    `1 + c(Xᵢ/m − 1)` beyond; both fall with `m`, they meet, and all factors are positive. Hence if
//!    `K⁺` reaches the limit at `m`, it does at every smaller candidate. `K⁻` is the mirror image. ∎
//!
//! # The bets
//! Any bets are right; good ones are near the best in hindsight. As in the paper of Waudby-Smith and
//! Ramdas (2024), `λᵢ = √(2·ln(2/δ)/(n·σ̂²ᵢ₋₁))` with the variance of the values before, to which one
//! value of variance 1/4 is added, and `c = 3/4`. The interval depends on the order of the values,
//! which is the order in which they were drawn.

use super::BoundError;
use super::domain::{at_least_one, entries, open_unit};
use crate::math::{Interval, ln};

/// How much of what may be lost at once is bet at most.
const SHARE: f64 = 0.75;

/// Halvings of the range of candidates: a limit is this close to the exact one.
const HALVINGS: u32 = 60;

/// T2″: the limits of the mean of values in `[0, 1]`, all of `classes` such intervals holding at once
/// with probability at least `1 − δ`.
///
/// Domain: at least one value, `classes ≥ 1`, `0 < δ < 1`. Range: `0 ≤ low ≤ high ≤ 1`. The
/// returned interval contains the exact one: a candidate is left out only where its capital certainly
/// reaches the limit. It need not contain the mean of the values. Where every candidate is left out,
/// which has a probability of at most `δ`, the two limits have crossed, and what lies between them is
/// returned.
///
/// ```
/// use lpf::bounds::{betting_interval, monte_carlo_error};
/// let (low, high) = betting_interval(&[0.5; 16], 3, 0.05)?;
/// assert!(high - low < 2.0 * monte_carlo_error(16, 3, 0.05)? / 2.0);
/// # Ok::<(), lpf::bounds::BoundError>(())
/// ```
///
/// # Errors
/// [`BoundError::Parameter`], [`BoundError::Entry`] for a value outside `[0, 1]`.
pub fn betting_interval(
    values: &[f64],
    classes: u64,
    delta: f64,
) -> Result<(f64, f64), BoundError> {
    let (low, high) = limits(values, classes, delta)?;
    Ok((low.min(high), low.max(high)))
}

/// The largest candidate that is too small, and the smallest that is too large.
fn limits(values: &[f64], classes: u64, delta: f64) -> Result<(f64, f64), BoundError> {
    at_least_one("n", values.len() as u64)?;
    entries("value", values, "between 0 and 1", |x| {
        (0.0..=1.0).contains(&x)
    })?;
    let two = Interval::point(2.0);
    let limit = (two * at_least_one("|Y|", classes)? / open_unit("delta", delta)?).high();
    let bets = bets(values, ln(limit));
    let wins = |m: f64, above: bool| reaches(values, &bets, m, above, limit);
    // Both ends are candidates that are excluded, or the ends of what is possible.
    let low = bisect(|m| wins(m, true));
    let high = 1.0 - bisect(|m| wins(1.0 - m, false));
    Ok((low, high))
}

/// The largest multiple of `2^−HALVINGS` that bisection finds to be won; 0 where it finds none.
fn bisect(won: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        if won(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// One bet for each value, from the values before it.
fn bets(values: &[f64], log: f64) -> Vec<f64> {
    let n = values.len() as f64;
    // One value at 1/2 and a variance of 1/4 stand for what is known before the first.
    let (mut sum, mut squares) = (0.5, 0.25);
    let bet = |(seen, &x): (usize, &f64)| {
        let seen = seen as f64;
        let bet = (2.0 * log * (seen + 1.0) / (n * squares)).sqrt();
        sum += x;
        let off = x - sum / (seen + 2.0);
        squares += off * off;
        bet
    };
    values.iter().enumerate().map(bet).collect()
}

/// Whether the capital of bets that the mean is above (or below) `m` certainly reaches the limit.
fn reaches(values: &[f64], bets: &[f64], m: f64, above: bool, limit: f64) -> bool {
    let (one, at) = (Interval::point(1.0), Interval::point(m));
    let room = if above { at } else { one - at };
    if room.low() <= 0.0 {
        return false;
    }
    let most = Interval::point(SHARE) / room;
    let mut capital = one;
    for (&x, &bet) in values.iter().zip(bets) {
        let off = match above {
            true => Interval::point(x) - at,
            false => at - Interval::point(x),
        };
        let next = capital * (one + Interval::point(bet).min(most) * off);
        // Positive, even where rounding does not know; below the smallest double it is lost for good,
        // and the interval is wider than it need be.
        capital = Interval::between(next.low().max(0.0), next.high());
        if capital.low() >= limit {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::monte_carlo_error;
    use crate::math::rational;
    use num_rational::BigRational;
    use num_traits::{One, Zero};
    use proptest::prelude::*;

    /// `K⁺` in exact fractions, with the bets as they are.
    fn largest_capital(values: &[f64], bets: &[f64], m: &BigRational) -> BigRational {
        let share = rational(SHARE).unwrap();
        let mut capital = BigRational::one();
        let mut largest = capital.clone();
        for (x, bet) in values.iter().zip(bets) {
            let bet = rational(*bet).unwrap().min(&share / m);
            capital *= BigRational::one() + bet * (rational(*x).unwrap() - m);
            largest = largest.max(capital.clone());
        }
        largest
    }

    proptest! {
        #[test]
        fn the_lower_limit_is_excluded_and_the_next_candidates_are_not(
            values in prop::collection::vec((0u32..=8).prop_map(|k| f64::from(k) / 8.0), 1..20),
            delta in prop::sample::select(vec![0.01, 0.05, 0.5]),
        ) {
            let ends = betting_interval(&values, 1, delta).unwrap();
            prop_assert!(0.0 <= ends.0 && ends.0 <= ends.1 && ends.1 <= 1.0);
            let (low, _) = limits(&values, 1, delta).unwrap();
            let limit = BigRational::from_integer(2.into()) / rational(delta).unwrap();
            let bets = bets(&values, ln(2.0 / delta));
            if low > 0.0 {
                prop_assert!(largest_capital(&values, &bets, &rational(low).unwrap()) >= limit);
            }
            let beyond = rational(low).unwrap() + BigRational::new(1.into(), (1u64 << 40).into());
            prop_assert!(largest_capital(&values, &bets, &beyond) < limit);
        }

        /// The two sides are each other's mirror image; eighths have exact complements.
        #[test]
        fn mirrored_values_have_the_mirrored_interval(
            values in prop::collection::vec((0u32..=8).prop_map(|k| f64::from(k) / 8.0), 1..30),
        ) {
            let mirrored: Vec<f64> = values.iter().map(|x| 1.0 - x).collect();
            let (low, high) = limits(&values, 3, 0.05).unwrap();
            let (low_m, high_m) = limits(&mirrored, 3, 0.05).unwrap();
            prop_assert!((low - (1.0 - high_m)).abs() < 1e-15);
            prop_assert!((high - (1.0 - low_m)).abs() < 1e-15);
        }
    }

    #[test]
    fn agrees_with_a_literal_transcription_in_python() {
        // The formulas of the statement in Python floats, bisection on the logarithm of the capital.
        let constant = [0.5; 16];
        let coins: Vec<f64> = (0..32).map(|i| f64::from(i % 2)).collect();
        for (values, want) in [
            (
                &constant[..],
                (0.339_062_216_513_403_46, 0.660_937_783_486_596_6),
            ),
            (
                &coins[..],
                (0.247_022_404_726_116_1, 0.750_591_197_592_648_9),
            ),
        ] {
            let (low, high) = betting_interval(values, 3, 0.05).unwrap();
            assert!((low - want.0).abs() < 1e-12, "{low}");
            assert!((high - want.1).abs() < 1e-12, "{high}");
        }
    }

    #[test]
    fn edges_and_culprits() {
        // One value of one: 1 + λ(1 − m) never reaches 40 with a bet of at most 3/(4m).
        let (low, high) = betting_interval(&[1.0], 1, 0.05).unwrap();
        assert!(low < 0.02 && high == 1.0);
        let zeros = betting_interval(&[0.0; 10_000], 1, 0.05).unwrap();
        assert!(zeros.0 == 0.0 && zeros.1 < 1e-3);
        let half = 2.0 * monte_carlo_error(10_000, 1, 0.05).unwrap();
        let coins: Vec<f64> = (0..10_000).map(|i| f64::from(i % 2)).collect();
        let (low, high) = betting_interval(&coins, 1, 0.05).unwrap();
        assert!(high - low < 1.05 * half, "{low} {high}");
        assert!(betting_interval(&[], 1, 0.05).is_err());
        assert!(betting_interval(&[0.5], 0, 0.05).is_err());
        assert!(betting_interval(&[0.5], 1, 0.0).is_err());
        assert!(betting_interval(&[0.5, 1.5], 1, 0.05).is_err());
        assert!(betting_interval(&[f64::NAN], 1, 0.05).is_err());
    }

    /// A mean that seems to change: bets on either side win, and no candidate is left.
    #[test]
    fn limits_that_cross_are_returned_in_order() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(u8::from(i >= 200))).collect();
        let (low, high) = limits(&values, 1, 0.05).unwrap();
        assert!(low > high, "{low} {high}");
        assert_eq!(betting_interval(&values, 1, 0.05), Ok((high, low)));
    }

    #[test]
    fn largest_capital_falls_with_the_candidate() {
        let values = [0.25, 1.0, 0.5, 0.75];
        let bets = bets(&values, 3.0);
        let at = |k: i64| largest_capital(&values, &bets, &BigRational::new(k.into(), 32.into()));
        assert!((1..31).all(|k| at(k) >= at(k + 1)));
        assert!(at(1) > BigRational::zero());
    }
}
