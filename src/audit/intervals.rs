//! Intervals for what a log can only estimate, the verdicts on them, and how many rows would decide.
//!
//! # Rates
//! Prediction `i` is right with an unknown probability `pᵢ`, independently; with rows from one population
//! all `pᵢ` are alike, and with given confidences they are not. The number of right ones among `n` is a sum
//! `S` of coins with mean rate `p̄ = Σ pᵢ/n`. **The limits of Clopper and Pearson at level
//! `δ' = 1 − e^{−δ} ≤ 1/4` a side hold for `p̄` but for probability `δ` a side.**
//!
//! *Proof*, for the upper limit; the lower one is the same for wrong predictions. Let `F` be the
//! distribution function of the binomial `B` with `n` and `p̄`. The limit errs where `F(S) < δ'`, that is for
//! `S ≤ k*`, the largest `k` with `F(k) < δ'`; let there be one, so that `k* < n`.
//! 1. Hoeffding (1956): `P(S ≤ k) ≤ F(k)` for `k ≤ n·p̄ − 1`. So if `k* ≤ n·p̄ − 1` the limit errs with
//!    probability at most `F(k*) < δ' < δ`.
//! 2. If `1 − p̄ > 1/n`, then `P(B ≤ n·p̄) > 1/4` (Greenberg and Mohri 2014, for the wrong ones), so
//!    `F(⌊n·p̄⌋) > 1/4 ≥ δ'` and `k* ≤ ⌊n·p̄⌋ − 1`: case 1.
//! 3. If `1 − p̄ ≤ 1/n`, then `n·p̄ ≥ n − 1`; `k* ≤ n − 2` is case 1 again, and there is left `k* = n − 1`. The
//!    limit errs unless all are right, with probability `1 − Π pᵢ ≤ Σ (1 − pᵢ) = n(1 − p̄) ≤ −n·ln p̄`, and
//!    `F(n − 1) = 1 − p̄ⁿ < δ'` says `−n·ln p̄ < −ln(1 − δ') = δ`. ∎
//!
//! In case 3 unlike coins can indeed err more often than `δ'`, as `1 − Π pᵢ ≥ 1 − p̄ⁿ`.
//!
//! # Means
//! Limits of means are those of [`crate::bounds::Seen`]: independent rows, or independent clusters of rows.

use rayon::prelude::*;

use super::clusters::UNIT;
use super::grid::GridCell;
use super::outcome::{CheckVerdict, Side, Threshold};
use crate::bounds::{GroupSums, Seen, clopper_pearson};
use crate::calibration::Reliability;
use crate::math::{ExactSum, ln};

/// How the intervals of rates are found.
pub(super) const CLOPPER_PEARSON: &str = "Clopper-Pearson";
/// How the intervals of sums over bins are found.
pub(super) const BINWISE: &str = "Clopper-Pearson in every bin at once";
/// How the intervals of means of bounded numbers are found.
pub(super) const BETTING: &str = "betting";
/// The same where rows of one entity are one cluster.
pub(super) const BETTING_BY_ENTITY: &str = "betting, by entity";
/// How the intervals of weighted error rates are found.
pub(super) const HOEFFDING: &str = "Hoeffding";
/// How the intervals of functions are found that one row changes little.
pub(super) const MCDIARMID: &str = "McDiarmid";
/// How the intervals of quantiles are found.
pub(super) const ORDER: &str = "order statistics";

/// The range of the true rate behind `hits` of `n`, at level `1 − δ`; everything for `n = 0`.
pub(super) fn rate_range(hits: u64, n: u64, delta: f64) -> (f64, f64) {
    let level = -2.0 * libm::expm1(-delta / 2.0);
    clopper_pearson(hits, n, level).unwrap_or((0.0, 1.0))
}

/// The ends of an interval, as functions of how many times over the same rows are seen.
pub(super) trait Ends {
    /// The lower end.
    fn low(&self, times: f64) -> f64;

    /// The upper end.
    fn high(&self, times: f64) -> f64;

    /// Whether the lower end is at this limit or above.
    fn low_reaches(&self, times: f64, limit: f64) -> bool {
        self.low(times) >= limit
    }

    /// Whether the upper end is at this limit or below.
    fn high_reaches(&self, times: f64, limit: f64) -> bool {
        self.high(times) <= limit
    }
}

/// A value and its interval.
pub(super) struct Estimate<'a> {
    /// The value in this log.
    pub value: f64,
    /// About how far the value is from what it estimates: its standard error.
    pub error: f64,
    /// The rows behind it.
    pub n: u64,
    /// The ends of its interval.
    pub ends: Box<dyn Ends + 'a>,
    /// How they are found.
    pub method: &'static str,
}

/// The ends of a rate's interval.
struct RateEnds {
    hits: u64,
    n: u64,
    delta: f64,
}

impl RateEnds {
    /// Binomial tails of more rows than this take long; from here on lengths fall with the root of the
    /// number of rows, which they very nearly do.
    const MANY: f64 = 100_000.0;

    fn range(&self, times: f64) -> (f64, f64) {
        let n = self.n.max(1) as f64;
        let exact = times.min((RateEnds::MANY / n).max(1.0));
        let scaled = |x: u64| libm::round(x as f64 * exact) as u64;
        let rows = scaled(self.n);
        let (low, high) = rate_range(scaled(self.hits).min(rows), rows, self.delta);
        if exact == times {
            return (low, high);
        }
        let (value, root) = (self.hits as f64 / n, libm::sqrt(exact / times));
        (value - root * (value - low), value + root * (high - value))
    }
}

impl Ends for RateEnds {
    fn low(&self, times: f64) -> f64 {
        self.range(times).0
    }

    fn high(&self, times: f64) -> f64 {
        self.range(times).1
    }
}

/// The ends of the interval of a mean of numbers in `[from, to]`.
pub(super) struct MeanEnds {
    /// The numbers, brought to `[0, 1]`.
    pub lower: Seen,
    /// The same, mirrored.
    pub upper: Seen,
    /// Where their range begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// How far the mean of the numbers may be off because they were rounded.
    pub slack: f64,
    /// The probability with which the interval may be wrong.
    pub delta: f64,
}

impl MeanEnds {
    /// From sums over numbers in `[from, to]`.
    pub(super) fn of_sums(sums: GroupSums, from: f64, to: f64, delta: f64) -> Self {
        let unit = sums.rescaled(from, to);
        MeanEnds {
            lower: Seen::Sums(unit),
            upper: Seen::Sums(unit.rescaled(1.0, 0.0)),
            from,
            to,
            slack: 0.0,
            delta,
        }
    }

    fn level(&self) -> f64 {
        -ln(self.delta / 2.0)
    }

    fn unit(&self, x: f64) -> f64 {
        (x - self.from) / (self.to - self.from)
    }
}

impl Ends for MeanEnds {
    fn low(&self, times: f64) -> f64 {
        let unit = self.lower.lower(self.delta / 2.0, times);
        (self.from + (self.to - self.from) * unit - self.slack).max(self.from)
    }

    fn high(&self, times: f64) -> f64 {
        let unit = self.upper.lower(self.delta / 2.0, times);
        (self.to - (self.to - self.from) * unit + self.slack).min(self.to)
    }

    fn low_reaches(&self, times: f64, limit: f64) -> bool {
        let unit = self.unit(limit);
        unit < self.lower.mean() && self.lower.log_wealth(unit, times) >= self.level()
    }

    fn high_reaches(&self, times: f64, limit: f64) -> bool {
        let unit = 1.0 - self.unit(limit);
        unit < self.upper.mean() && self.upper.log_wealth(unit, times) >= self.level()
    }
}

/// The ends of the interval of a mean of numbers that are not negative and have no upper limit: none
/// above, as one row more may be as large as it likes.
pub(super) struct OpenEnds {
    /// The numbers, divided by `unit`.
    pub seen: Seen,
    /// What is one for them.
    pub unit: f64,
    /// What they begin at.
    pub from: f64,
    /// How far the mean of the numbers may be off because they were rounded.
    pub slack: f64,
    /// The probability with which the lower end may be wrong.
    pub delta: f64,
}

impl Ends for OpenEnds {
    fn low(&self, times: f64) -> f64 {
        (self.from + self.unit * self.seen.lower(self.delta, times) - self.slack).max(self.from)
    }

    fn high(&self, _: f64) -> f64 {
        f64::INFINITY
    }
}

/// Ends whose distance from the value falls with the root of the number of rows, within a range.
struct RootEnds {
    value: f64,
    /// The ends as they are.
    own: (f64, f64),
    below: f64,
    above: f64,
    range: (f64, f64),
}

impl Ends for RootEnds {
    fn low(&self, times: f64) -> f64 {
        if times == 1.0 {
            return self.own.0;
        }
        (self.value - self.below / libm::sqrt(times)).max(self.range.0)
    }

    fn high(&self, times: f64) -> f64 {
        if times == 1.0 {
            return self.own.1;
        }
        (self.value + self.above / libm::sqrt(times)).min(self.range.1)
    }
}

/// The ends of a difference, which lie in the range of the differences as the parts' lie in theirs.
struct DifferenceEnds<'a> {
    new: Box<dyn Ends + 'a>,
    old: Box<dyn Ends + 'a>,
}

impl Ends for DifferenceEnds<'_> {
    fn low(&self, times: f64) -> f64 {
        self.new.low(times) - self.old.high(times)
    }

    fn high(&self, times: f64) -> f64 {
        self.new.high(times) - self.old.low(times)
    }
}

impl Estimate<'_> {
    /// A rate.
    pub(super) fn rate(hits: u64, n: u64, delta: f64) -> Estimate<'static> {
        let value = hits as f64 / n.max(1) as f64;
        // The truth is further off on either side with probability 0.1 at most, exactly.
        let (low, high) = rate_range(hits, n, 0.2);
        Estimate {
            value,
            error: (value - low).max(high - value) / NEARER,
            n,
            ends: Box::new(RateEnds { hits, n, delta }),
            method: CLOPPER_PEARSON,
        }
    }

    /// A mean of numbers in a range, from sums over independent rows.
    pub(super) fn of_rows(
        value: f64,
        sums: GroupSums,
        range: (f64, f64),
        delta: f64,
    ) -> Estimate<'static> {
        Estimate {
            value,
            error: error_of(sums, range.1 - range.0),
            n: sums.count as u64,
            ends: Box::new(MeanEnds::of_sums(sums, range.0, range.1, delta)),
            method: BETTING,
        }
    }

    /// A mean of numbers in a range, from the sums of clusters.
    pub(super) fn of_clusters(
        value: f64,
        sums: GroupSums,
        range: (f64, f64),
        delta: f64,
    ) -> Estimate<'static> {
        let ends = MeanEnds {
            slack: UNIT,
            ..MeanEnds::of_sums(sums, range.0, range.1, delta)
        };
        Estimate {
            ends: Box::new(ends),
            method: BETTING_BY_ENTITY,
            ..Estimate::of_rows(value, sums, range, delta)
        }
    }

    /// The difference of two estimates, each wrong with half of the probability.
    pub(super) fn difference<'a>(new: Estimate<'a>, old: Estimate<'a>) -> Estimate<'a> {
        Estimate {
            value: new.value - old.value,
            error: libm::hypot(new.error, old.error),
            n: new.n.min(old.n),
            method: new.method,
            ends: Box::new(DifferenceEnds {
                new: new.ends,
                old: old.ends,
            }),
        }
    }

    /// An interval that was found otherwise. Its length is taken to fall with the root of the number of
    /// rows, and its standard error to be that of a normal number with this interval.
    pub(super) fn known(
        value: f64,
        (low, high): (f64, f64),
        range: (f64, f64),
        n: u64,
        delta: f64,
        method: &'static str,
    ) -> Estimate<'static> {
        // An end at the end of the range may be short because nothing lies beyond it.
        let (below, above) = (value - low, high - value);
        let below = if low <= range.0 {
            below.max(above)
        } else {
            below
        };
        let above = if high >= range.1 {
            above.max(below)
        } else {
            above
        };
        let root = libm::sqrt(2.0 * ln(2.0 / delta));
        Estimate {
            value,
            error: below.max(above) / root,
            n,
            ends: Box::new(RootEnds {
                value,
                own: (low, high),
                below,
                above,
                range,
            }),
            method,
        }
    }
}

/// One bin that is not empty, and the range of its true rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BinGap {
    /// Predictions in it.
    pub count: u64,
    /// The share of them that came true.
    pub rate: f64,
    /// Their mean confidence.
    pub confidence: f64,
    /// Mean confidence minus rate, exactly as the bin's sums have it.
    pub gap: f64,
    /// The true rate is at least this.
    pub low: f64,
    /// The true rate is at most this.
    pub high: f64,
}

impl BinGap {
    /// The smallest and the largest distance of the true rate from the confidence.
    pub(super) fn distances(&self) -> (f64, f64) {
        let (below, above) = (self.confidence - self.low, self.high - self.confidence);
        let smallest = (-below).max(-above).max(0.0);
        (smallest, below.abs().max(above.abs()))
    }

    /// The smallest and the largest value of a concave function of the true rate with its maximum
    /// at one half.
    pub(super) fn concave(&self, f: impl Fn(f64) -> f64) -> (f64, f64) {
        let (a, b) = (f(self.low), f(self.high));
        let largest = if self.low <= 0.5 && 0.5 <= self.high {
            f(0.5)
        } else {
            a.max(b)
        };
        (a.min(b), largest)
    }
}

/// The bins of some reliabilities that are not empty, with ranges that hold all at once.
pub(super) fn gaps_of(reliabilities: &[&Reliability], delta: f64) -> Vec<Vec<BinGap>> {
    let raw: Vec<Vec<(u64, u64, f64, f64)>> = reliabilities
        .iter()
        .map(|r| {
            let bins = r.bins().into_iter();
            bins.filter_map(|b| {
                let means = b.means?;
                Some((b.correct, b.count, means.confidence, means.gap))
            })
            .collect()
        })
        .collect();
    let total: usize = raw.iter().map(Vec::len).sum();
    let share = delta / total.max(1) as f64;
    let gap = |&(correct, count, confidence, gap): &(u64, u64, f64, f64)| {
        let (low, high) = rate_range(correct, count, share);
        BinGap {
            count,
            rate: correct as f64 / count as f64,
            confidence,
            gap,
            low,
            high,
        }
    };
    raw.par_iter()
        .map(|bins| bins.par_iter().map(gap).collect())
        .collect()
}

/// The same for bins made of cells of the grid.
pub(super) fn gaps_of_cells(cells: &[GridCell], delta: f64) -> Vec<BinGap> {
    let share = delta / cells.len().max(1) as f64;
    cells
        .par_iter()
        .map(|cell| {
            let (low, high) = rate_range(cell.correct, cell.count, share);
            BinGap {
                count: cell.count,
                rate: cell.correct as f64 / cell.count as f64,
                confidence: cell.mean(),
                gap: (cell.confidence - cell.correct as f64) / cell.count as f64,
                low,
                high,
            }
        })
        .collect()
}

/// `Σ_b (n_b/N)·f(b)`.
pub(super) fn average(bins: &[BinGap], f: impl Fn(&BinGap) -> f64) -> f64 {
    let total: u64 = bins.iter().map(|b| b.count).sum();
    let terms = bins.iter().map(|b| b.count as f64 * f(b));
    terms.collect::<ExactSum>().to_f64() / total.max(1) as f64
}

/// The smallest and the largest calibration error that the bins allow.
pub(super) fn error_range(bins: &[BinGap]) -> (f64, f64) {
    (
        average(bins, |b| b.distances().0),
        average(bins, |b| b.distances().1).min(1.0),
    )
}

/// `Φ(z)`, the distribution function of the standard normal distribution.
pub(super) fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// `h(p) = −p ln p − (1−p) ln(1−p)` in nats.
pub(super) fn binary_entropy(p: f64) -> f64 {
    let term = |x: f64| if x > 0.0 { -(x * ln(x)) } else { 0.0 };
    term(p) + term(1.0 - p)
}

/// The verdict on an interval, never on the value alone; see [`CheckVerdict`].
pub(super) fn verdict(low: f64, high: f64, threshold: Threshold) -> Option<CheckVerdict> {
    let limit = threshold.value;
    let (good, bad) = match threshold.side {
        Side::AtMost => (high <= limit, low > limit),
        Side::AtLeast => (low >= limit, high < limit),
        Side::Within => (-limit <= low && high <= limit, low > limit || high < -limit),
    };
    match (good, bad) {
        (true, _) => Some(CheckVerdict::Pass),
        (_, true) => Some(CheckVerdict::Fail),
        _ => None,
    }
}

/// The verdict on an estimate with these ends.
pub(super) fn decide(
    estimate: &Estimate<'_>,
    low: f64,
    high: f64,
    threshold: Threshold,
) -> CheckVerdict {
    verdict(low, high, threshold).unwrap_or_else(|| CheckVerdict::Undecided {
        needed_n: needed(estimate, threshold),
    })
}

/// The normal quantile of 0.9.
const NEARER: f64 = 1.281_551_565_544_600_4;

/// About how far a mean of `n` numbers is from its expectation: its standard error, and what none of the numbers
/// may have shown. Numbers that are further off by `reach`, and make up a part `ln 10/n` of the population, are
/// missed by all `n` with probability 0.1; so one row, or many that are alike, do not pass for certainty.
pub(super) fn error_with_unseen(standard_error: f64, reach: f64, n: f64) -> f64 {
    libm::hypot(standard_error, std::f64::consts::LN_10 / NEARER * reach / n)
}

/// The same for sums over groups, the largest of which counts as one number.
pub(super) fn error_of(sums: GroupSums, reach: f64) -> f64 {
    error_with_unseen(sums.standard_error(), reach, sums.count / sums.largest)
}

/// How many rows would decide, by the interval's own formula and from the side that decides; none where
/// the log does not tell.
///
/// The value is only an estimate, here and in the longer log: the truth is taken to be nearer to the limit
/// than the value by [`NEARER`] standard errors, and the value in the longer log to be nearer by as many of its
/// own. Each is further off on that side with probability 0.1. So of all logs at most 20 in 100 announce
/// a number that does not decide, wherever the truth is: with a truth at the limit, which nothing decides,
/// the value is further from it than that with probability 0.1 on each side, and else nothing is announced.
fn needed(estimate: &Estimate<'_>, threshold: Threshold) -> Option<u64> {
    let (value, limit) = (estimate.value, threshold.value);
    let ends = &estimate.ends;
    let decided = |times: f64| {
        let nearer = NEARER * estimate.error * (1.0 + 1.0 / libm::sqrt(times));
        let low = |limit: f64| ends.low_reaches(times, limit + nearer);
        let high = |limit: f64| ends.high_reaches(times, limit - nearer);
        match threshold.side {
            Side::AtMost if value > limit => low(limit),
            Side::AtMost => high(limit),
            Side::AtLeast if value < limit => high(limit),
            Side::AtLeast => low(limit),
            Side::Within if value > limit => low(limit),
            Side::Within if value < -limit => high(-limit),
            Side::Within => low(-limit) && high(limit),
        }
    };
    // Nearer to the limit than that, however many rows there are.
    let sides = match threshold.side {
        Side::Within => (value.abs() - limit).abs(),
        Side::AtMost | Side::AtLeast => (value - limit).abs(),
    };
    if sides <= NEARER * estimate.error {
        return None;
    }
    let n = estimate.n.max(1) as f64;
    let (mut few, mut enough) = (1.0, 2.0);
    while !decided(enough) {
        (few, enough) = (enough, 2.0 * enough);
        // More rows than any log has.
        if enough * n > (1u64 << 44) as f64 {
            return None;
        }
    }
    for _ in 0..8 {
        let middle = 0.5 * (few + enough);
        if decided(middle) {
            enough = middle;
        } else {
            few = middle;
        }
    }
    Some((libm::ceil(n * enough) as u64).max(estimate.n + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::{binomial_cdf, binomial_upper_tail};

    const fn limit(side: Side, value: f64) -> Threshold {
        Threshold { side, value }
    }

    #[test]
    fn verdicts_rest_on_the_interval_not_on_the_value() {
        let most = limit(Side::AtMost, 0.05);
        assert_eq!(verdict(0.03, 0.05, most), Some(CheckVerdict::Pass));
        assert_eq!(verdict(0.051, 0.09, most), Some(CheckVerdict::Fail));
        assert_eq!(verdict(0.01, 0.07, most), None);
        let within = limit(Side::Within, 0.02);
        assert_eq!(verdict(-0.02, 0.02, within), Some(CheckVerdict::Pass));
        assert_eq!(verdict(-0.06, -0.021, within), Some(CheckVerdict::Fail));
        assert_eq!(verdict(0.021, 0.06, within), Some(CheckVerdict::Fail));
        let least = limit(Side::AtLeast, 0.9);
        assert_eq!(verdict(0.9, 0.97, least), Some(CheckVerdict::Pass));
        assert_eq!(verdict(0.7, 0.89, least), Some(CheckVerdict::Fail));
        // An end on the limit keeps it: no failure as long as the limit itself may be true.
        assert_eq!(verdict(0.05, 0.09, most), None);
        assert_eq!(verdict(0.7, 0.9, least), None);
        assert_eq!(verdict(0.02, 0.06, within), None);
        assert_eq!(verdict(-0.06, -0.02, within), None);
    }

    #[test]
    fn rows_are_asked_for_from_the_side_that_decides() {
        let estimate = |low: f64, high: f64| Estimate {
            error: 0.0,
            ..Estimate::known(0.25, (low, high), (0.0, 1.0), 100, 0.05, HOEFFDING)
        };
        let asked = |low: f64, high: f64, most: f64| match decide(
            &estimate(low, high),
            low,
            high,
            limit(Side::AtMost, most),
        ) {
            CheckVerdict::Undecided { needed_n } => needed_n,
            other => panic!("{other:?}"),
        };
        // Four times the rows halve the interval: the half above 0.25 has to become a quarter, and the
        // long side below is of no account.
        let n = asked(0.05, 0.75, 0.5).unwrap();
        assert!((400..=402).contains(&n), "{n}");
        // The value fails, and the lower end decides: a tenth has to become a twentieth.
        let n = asked(0.15, 0.9, 0.2).unwrap();
        assert!((400..=402).contains(&n), "{n}");
        // An end that is short because nothing lies below it is taken to be as long as the other.
        let n = asked(0.0, 0.75, 0.2).unwrap();
        assert!((10_000..=10_050).contains(&n), "{n}");
        // At the limit, or nearer to it than the value's own error, nothing is announced.
        assert_eq!(asked(0.1, 0.4, 0.25), None);
        let unsure = Estimate {
            error: 0.01,
            ..estimate(0.2, 0.3)
        };
        let near = limit(Side::AtMost, 0.259);
        let undecided = CheckVerdict::Undecided { needed_n: None };
        assert_eq!(decide(&unsure, 0.2, 0.3, near), undecided);
    }

    /// All failure probabilities of a side for coins of two kinds, summed exactly: none is above δ, and
    /// the level of like coins would not be enough.
    #[test]
    fn limits_of_rates_hold_for_unlike_coins() {
        const DELTA: f64 = 0.05;
        // P(S = k) for coins with these rates.
        let distribution = |rates: &[f64]| {
            let mut p = vec![1.0];
            for rate in rates {
                let mut next = vec![0.0; p.len() + 1];
                for (k, x) in p.iter().enumerate() {
                    next[k] += x * (1.0 - rate);
                    next[k + 1] += x * rate;
                }
                p = next;
            }
            p
        };
        let failure = |rates: &[f64], range: &dyn Fn(u64, u64) -> (f64, f64)| {
            let n = rates.len() as u64;
            let mean = rates.iter().sum::<f64>() / n as f64;
            let mut sides = [0.0, 0.0];
            for (k, p) in distribution(rates).iter().enumerate() {
                let (low, high) = range(k as u64, n);
                // A limit that is the mean itself but for rounding holds it.
                sides[0] += if mean < low - 1e-12 { *p } else { 0.0 };
                sides[1] += if mean > high + 1e-12 { *p } else { 0.0 };
            }
            sides[0].max(sides[1])
        };
        let ours = |k: u64, n: u64| rate_range(k, n, DELTA);
        let plain = |k: u64, n: u64| clopper_pearson(k, n, DELTA).unwrap();
        let (mut worst, mut worst_plain) = (0.0f64, 0.0f64);
        for n in [2usize, 3, 5, 9] {
            for unlike in 1..n {
                for step in 0..=30u32 {
                    let x = f64::from(step) / 30.0;
                    for (a, b) in [
                        (1.0, 1.0 - 0.03 * x),
                        (x, 0.0),
                        (x, 1.0),
                        (1.0 - 0.01 * x, x),
                    ] {
                        let mut rates = vec![a; n];
                        rates[..unlike].fill(b);
                        worst = worst.max(failure(&rates, &ours));
                        worst_plain = worst_plain.max(failure(&rates, &plain));
                    }
                }
            }
        }
        assert!(worst <= DELTA / 2.0, "{worst}");
        assert!(worst_plain > DELTA / 2.0, "{worst_plain}");
    }

    #[test]
    fn a_binomial_is_at_most_its_mean_with_a_probability_above_one_quarter() {
        // Greenberg and Mohri's inequality, where it is closest: n·p just above a whole number.
        for n in [2u64, 3, 10, 100, 1000] {
            for k in 1..n {
                let p = (k as f64 + 1e-9) / n as f64;
                let upper = binomial_upper_tail(k + 1, n, p).unwrap().low();
                assert!(upper > 0.25, "{n} {k}: {upper}");
                let lower = binomial_cdf(k - 1, n, (k as f64 - 1e-9) / n as f64)
                    .unwrap()
                    .low();
                assert!(lower > 0.25, "{n} {k}: {lower}");
            }
        }
    }

    #[test]
    fn distances_of_a_bin() {
        let bin = |confidence, low, high| BinGap {
            count: 1,
            rate: 0.5,
            confidence,
            gap: 0.0,
            low,
            high,
        };
        assert_eq!(bin(0.5, 0.25, 0.625).distances(), (0.0, 0.25));
        assert_eq!(bin(0.75, 0.25, 0.5).distances(), (0.25, 0.5));
        assert_eq!(bin(0.25, 0.5, 0.75).distances(), (0.25, 0.5));
        assert_eq!(
            bin(0.5, 0.25, 0.75).concave(|p| p * (1.0 - p)),
            (0.1875, 0.25)
        );
        assert_eq!(
            bin(0.5, 0.0, 0.25).concave(|p| p * (1.0 - p)),
            (0.0, 0.1875)
        );
    }
}
