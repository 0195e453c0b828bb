//! T1″, in place of theorem 1: calibration after the fact, with a bound that needs no assumption
//! on the model.
//!
//! # Statement
//! Let a score `S` in `[0, 1]` (say, the confidence of any aggregation) be given, and `n` held-out
//! pairs `(Sᵢ, Yᵢ)`, drawn independently from the distribution the model will meet, `Y ∈ {0, 1}`
//! ("the prediction was right"). Write `π_b = P(Y = 1 | S in bin b)`.
//!
//! 1. *Fixed bins.* With `k_b` hits of `n_b` points in bin `b` of `B`, chosen without the held-out
//!    data, all `π_b` lie in their two-sided Clopper–Pearson intervals at level `δ/B`, with
//!    probability at least `1 − δ`.
//! 2. *Bins of equal mass.* Let `S` have no ties, `q = ⌊n/B⌋ ≥ 2`, cut at the order statistics
//!    `S_(q), S_(2q) … S_((B−1)q)`, and let `p̂_b` be the fraction of hits among the points strictly
//!    inside bin `b`. With probability at least `1 − δ`, for all `b`,
//!    `|p̂_b − π_b| ≤ r = √(ln(2B/δ)/(2(q−1)))`.
//!
//! In both cases the predictor that answers `p̂_b` in bin `b` has a calibration error (expected, and
//! largest over its values) of at most the largest `|p̂_b − π_b|` allowed.
//!
//! # Proof
//! 1. Given how many points fall into each bin, the labels in bin `b` are independent coins with
//!    probability `π_b`; [Clopper and Pearson's theorem](super::clopper_pearson) holds for each
//!    number, so also on average. Add up the `B` failure probabilities.
//! 2. Given the cut points, the points strictly between two neighbouring ones are independent draws
//!    from the distribution of `(S, Y)` restricted to that bin: the joint density of all order
//!    statistics is a constant times the product of the densities on the ordered region, and with
//!    the cut points fixed it splits into one such factor a bin. So their labels are independent
//!    coins with probability `π_b`, and there are at least `q − 1` of them. By
//!    [Hoeffding's inequality](super::hoeffding_radius) each bin fails with probability at most
//!    `2·exp(−2(q−1)r²) = δ/B`.
//! 3. Where several bins share the value `c = p̂_b`, `P(Y = 1 | answer = c)` is an average of their
//!    `π_b`, each within the bound of `c`. The expected calibration error averages over `c`. ∎

use super::BoundError;
use super::binomial::clopper_pearson;
use super::domain::{at_least_one, open_unit, require};
use crate::math::Interval;

/// T1″ part 2: `√(ln(2B/δ)/(2(⌊n/B⌋−1)))`, rounded up. Replaces claim T1.
///
/// Domain: `bins = B ≥ 1`, `n ≥ 2B`, `0 < δ < 1`. Above 1 the bound says nothing.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn uniform_mass_radius(n: u64, bins: u64, delta: f64) -> Result<f64, BoundError> {
    let count = at_least_one("B", bins)?;
    let delta = open_unit("delta", delta)?;
    let inside = (n / bins).saturating_sub(1);
    require(
        inside > 0,
        "n",
        n as f64,
        "at least twice the number of bins",
    )?;
    let two = Interval::point(2.0);
    let log = (two * count / delta).ln();
    Ok((log / (two * Interval::count(inside))).sqrt().high())
}

/// What the held-out data say about one bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BinRange {
    /// Fraction of hits, or `None` for a bin without points.
    pub rate: Option<f64>,
    /// The true rate is at least this.
    pub low: f64,
    /// The true rate is at most this.
    pub high: f64,
}

impl BinRange {
    /// How far the fraction of hits may be from the true rate; 1 for a bin without points.
    pub fn radius(&self) -> f64 {
        self.rate.map_or(1.0, |rate| {
            let rate = Interval::between(rate.next_down(), rate.next_up());
            let up = (Interval::point(self.high) - rate).high();
            up.max((rate - Interval::point(self.low)).high()).min(1.0)
        })
    }
}

/// T1″ part 1: for each bin with `(hits, points)`, the range of its true rate; all of them hold at
/// once with probability at least `1 − δ`.
///
/// The calibration error of the predictor that answers each bin's fraction of hits is at most the
/// largest [`BinRange::radius`].
///
/// # Errors
/// [`BoundError::Parameter`] for no bins, `δ` outside `(0, 1)`, or more hits than points.
pub fn binned_ranges(counts: &[(u64, u64)], delta: f64) -> Result<Vec<BinRange>, BoundError> {
    at_least_one("B", counts.len() as u64)?;
    let share = open_unit("delta", delta)? / Interval::count(counts.len() as u64);
    counts
        .iter()
        .map(|&(hits, points)| {
            if points == 0 && hits == 0 {
                return Ok(BinRange {
                    rate: None,
                    low: 0.0,
                    high: 1.0,
                });
            }
            let (low, high) = clopper_pearson(hits, points, share.low())?;
            Ok(BinRange {
                rate: Some(hits as f64 / points as f64),
                low,
                high,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radius_agrees_with_a_literal_transcription() {
        // mpmath 1.4.1: sqrt(log(2·10/0.05)/(2·99)) for n = 1000, B = 10.
        let got = uniform_mass_radius(1000, 10, 0.05).unwrap();
        assert!((got - 0.173_953_792_586_108_4).abs() < 1e-14, "{got}");
        assert_eq!(uniform_mass_radius(1009, 10, 0.05), Ok(got));
        assert!(uniform_mass_radius(19, 10, 0.05).is_err());
        assert!(uniform_mass_radius(20, 10, 0.05).is_ok());
        assert!(uniform_mass_radius(20, 0, 0.05).is_err());
    }

    #[test]
    fn fixed_bins_hold_at_once_for_an_enumerated_world() {
        // Two bins, four points each, true rates 1/4 and 1/2: all 25 outcomes, exact weights.
        let (delta, rates) = (0.1, [0.25, 0.5]);
        let weight = |k: u64, p: f64| {
            let choose = [1.0, 4.0, 6.0, 4.0, 1.0][k as usize];
            choose * p.powi(k as i32) * (1.0 - p).powi(4 - k as i32)
        };
        let mut failure = 0.0;
        for a in 0..=4 {
            for b in 0..=4 {
                let ranges = binned_ranges(&[(a, 4), (b, 4)], delta).unwrap();
                let holds = ranges
                    .iter()
                    .zip(rates)
                    .all(|(r, p)| r.low <= p && p <= r.high);
                let within = ranges
                    .iter()
                    .zip(rates)
                    .all(|(r, p)| r.rate.is_some_and(|rate| (rate - p).abs() <= r.radius()));
                assert!(!holds || within);
                if !holds {
                    failure += weight(a, rates[0]) * weight(b, rates[1]);
                }
            }
        }
        assert!(failure <= delta, "{failure}");
    }

    #[test]
    fn edges_and_culprits() {
        let ranges = binned_ranges(&[(0, 0), (3, 3)], 0.05).unwrap();
        assert_eq!((ranges[0].rate, ranges[0].radius()), (None, 1.0));
        assert_eq!(ranges[1].high, 1.0);
        // 1 − (0.05/2/2)^{1/3} = 0.76793…: three hits of three say little.
        assert!((ranges[1].radius() - 0.767_920_558_319_361).abs() < 1e-12);
        assert!(binned_ranges(&[], 0.05).is_err());
        assert!(binned_ranges(&[(4, 3)], 0.05).is_err());
        assert!(binned_ranges(&[(1, 0)], 0.05).is_err());
    }
}
