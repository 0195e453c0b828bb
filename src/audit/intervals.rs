//! Intervals for what a log can only estimate.
//!
//! Confidences are taken as given, and only the outcomes as random: prediction `i` is right with an
//! unknown probability `pᵢ`, independently. The number of right ones among `n` predictions is then a
//! sum of unlike coins with mean rate `p̄ = Σ pᵢ/n`, and the limits of Clopper and Pearson hold for
//! `p̄`: Hoeffding (1956) shows that such a sum has lighter tails than the binomial of the same mean,
//! `P(S ≤ k) ≤ P(Bin(n, p̄) ≤ k)` for `k ≤ n·p̄ − 1` and the mirror image above the mean; and a limit
//! of level `δ < 1/4` only errs where the binomial tail is below `δ`, which is at least one away
//! from the mean. So nothing is assumed about the model, nor about the number of rows.

use rayon::prelude::*;

use super::grid::GridCell;
use super::outcome::{CheckVerdict, Power, Side, Threshold};
use crate::bounds::{binomial_cdf, clopper_pearson, empirical_bernstein_radius};
use crate::calibration::Reliability;
use crate::math::{ExactSum, ln};

/// How the intervals of rates are found.
pub(super) const CLOPPER_PEARSON: &str = "Clopper-Pearson";
/// How the intervals of sums over bins are found.
pub(super) const BINWISE: &str = "Clopper-Pearson in every bin at once";
/// How the intervals of means of unbounded numbers are found.
pub(super) const NORMAL: &str = "normal approximation";
/// How the intervals of means of bounded numbers are found.
pub(super) const BERNSTEIN: &str = "empirical Bernstein";
/// How the intervals of weighted error rates are found.
pub(super) const HOEFFDING: &str = "Hoeffding";
/// How the intervals of quantiles are found.
pub(super) const ORDER: &str = "order statistics";

/// The range of the true rate behind `hits` of `n`, at level `1 − δ`; everything for `n = 0`.
pub(super) fn rate_range(hits: u64, n: u64, delta: f64) -> (f64, f64) {
    clopper_pearson(hits, n, delta).unwrap_or((0.0, 1.0))
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

/// Mean and unbiased variance from exact sums of numbers and of their squares; the variance is
/// none for fewer than two.
pub(super) fn moments(sums: &[ExactSum; 2], n: u64) -> (f64, Option<f64>) {
    let [sum, squares] = sums;
    let count = n as f64;
    let mean = sum.to_f64() / count;
    let variance = (n > 1).then(|| {
        let spread = squares.to_f64() - sum.to_f64() * mean;
        spread.max(0.0) / (count - 1.0)
    });
    (mean, variance)
}

/// The interval of a mean by the normal approximation.
pub(super) fn normal_range(mean: f64, variance: f64, n: u64, delta: f64) -> (f64, f64) {
    let radius = normal_quantile(1.0 - delta / 2.0) * libm::sqrt(variance / n as f64);
    (mean - radius, mean + radius)
}

/// The interval of a mean of numbers in `[0, width]`, whatever their distribution.
pub(super) fn bernstein_range(
    mean: f64,
    variance: f64,
    width: f64,
    n: u64,
    delta: f64,
) -> Option<(f64, f64)> {
    // A sample variance above its largest possible value is a rounding error.
    let scaled = (variance / (width * width)).min(0.5);
    let radius = width * empirical_bernstein_radius(n, scaled, delta).ok()?;
    Some(((mean - radius).max(0.0), (mean + radius).min(width)))
}

/// `Φ(z)`, the distribution function of the standard normal distribution.
pub(super) fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// The `z` with `Φ(z) = p`, by bisection; `±∞` at 0 and 1.
pub(super) fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    // Beyond 39 the tail is below the smallest double.
    let (mut low, mut high) = (-39.0, 39.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if normal_cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// `h(p) = −p ln p − (1−p) ln(1−p)` in nats.
pub(super) fn binary_entropy(p: f64) -> f64 {
    let term = |x: f64| if x > 0.0 { -(x * ln(x)) } else { 0.0 };
    term(p) + term(1.0 - p)
}

/// The verdict on an interval, never on the value alone; see [`CheckVerdict`].
pub(super) fn decide(
    value: f64,
    low: f64,
    high: f64,
    n: u64,
    threshold: Threshold,
) -> CheckVerdict {
    let limit = threshold.value;
    let (good, bad) = match threshold.side {
        Side::AtMost => (high <= limit, low > limit),
        Side::AtLeast => (low >= limit, high < limit),
        Side::Within => (-limit <= low && high <= limit, low > limit || high < -limit),
    };
    if good {
        return CheckVerdict::Pass;
    }
    if bad {
        return CheckVerdict::Fail;
    }
    // Widths shrink with the root of n: the interval must reach no further than the value is from the
    // limit. An end may be short because nothing lies beyond it (an error is not below zero), so the
    // longer side says how far.
    let distance = match threshold.side {
        Side::AtMost | Side::AtLeast => (value - limit).abs(),
        Side::Within => (value.abs() - limit).abs(),
    };
    let reach = (high - value).max(value - low);
    let ratio = reach / distance;
    let needed = libm::ceil(n as f64 * ratio * ratio);
    let needed_n = (needed.is_finite() && needed < u64::MAX as f64).then_some(needed as u64);
    CheckVerdict::Undecided {
        needed_n: needed_n.map(|needed| needed.max(n.saturating_add(1))),
    }
}

/// What the power of the check of the mean gap depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Confidences {
    /// Number of predictions.
    pub n: u64,
    /// Their mean.
    pub mean: f64,
    /// The mean of `c·(1 − c)`.
    pub variance: f64,
}

/// The probability that the check of the mean gap fails if every prediction is over-confident by
/// `effect`: the count of right ones has to be so low that its upper limit at level `1 − δ/2` is
/// below `mean − limit`.
///
/// The count is a sum of coins with rates `cᵢ − effect`; its distribution is taken as normal, with
/// the correction for whole numbers.
pub(super) fn power(
    confidences: Confidences,
    limit: f64,
    effect: f64,
    delta: f64,
) -> Option<Power> {
    let Confidences { n, mean, variance } = confidences;
    let highest_rate = mean - limit;
    if n == 0 || effect <= limit || !(0.0..1.0).contains(&highest_rate) || mean <= effect {
        return None;
    }
    let fails = |count: u64| {
        let tail = binomial_cdf(count, n, highest_rate);
        tail.is_ok_and(|tail| tail.high() < delta / 2.0)
    };
    let probability = if fails(0) {
        // The largest count that fails.
        let (mut low, mut high) = (0, n);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fails(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let count = n as f64;
        let spread = variance + effect * (2.0 * mean - 1.0 - effect);
        let deviation = libm::sqrt(count * spread.max(0.0));
        let z = (low as f64 + 0.5 - count * (mean - effect)) / deviation;
        normal_cdf(z)
    } else {
        0.0
    };
    Some(Power {
        effect,
        probability,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_most(value: f64) -> Threshold {
        Threshold {
            side: Side::AtMost,
            value,
        }
    }

    #[test]
    fn verdicts_rest_on_the_interval_not_on_the_value() {
        // The value alone would pass the first and fail the second.
        for (value, low, high) in [(0.04, 0.01, 0.07), (0.06, 0.01, 0.09)] {
            let verdict = decide(value, low, high, 100, at_most(0.05));
            let CheckVerdict::Undecided { needed_n: Some(n) } = verdict else {
                panic!("{verdict:?}");
            };
            assert!(n > 100);
        }
        assert_eq!(
            decide(0.04, 0.03, 0.05, 9, at_most(0.05)),
            CheckVerdict::Pass
        );
        assert_eq!(
            decide(0.08, 0.051, 0.09, 9, at_most(0.05)),
            CheckVerdict::Fail
        );
        let exact = decide(0.05, 0.0, 0.1, 9, at_most(0.05));
        assert_eq!(exact, CheckVerdict::Undecided { needed_n: None });
        let within = Threshold {
            side: Side::Within,
            value: 0.02,
        };
        assert_eq!(decide(0.0, -0.02, 0.02, 9, within), CheckVerdict::Pass);
        assert_eq!(decide(-0.05, -0.06, -0.021, 9, within), CheckVerdict::Fail);
        assert_eq!(decide(0.05, 0.021, 0.06, 9, within), CheckVerdict::Fail);
        let least = Threshold {
            side: Side::AtLeast,
            value: 0.9,
        };
        assert_eq!(decide(0.95, 0.9, 0.97, 9, least), CheckVerdict::Pass);
        assert_eq!(decide(0.8, 0.7, 0.89, 9, least), CheckVerdict::Fail);
        // An end on the limit keeps it: no failure as long as the limit itself may be true.
        let undecided = |verdict| matches!(verdict, CheckVerdict::Undecided { .. });
        assert!(undecided(decide(0.08, 0.05, 0.09, 9, at_most(0.05))));
        assert!(undecided(decide(0.8, 0.7, 0.9, 9, least)));
        assert!(undecided(decide(0.05, 0.02, 0.06, 9, within)));
        assert!(undecided(decide(-0.05, -0.06, -0.02, 9, within)));
        assert_eq!(decide(0.5, 0.0, 1.0, 9, at_most(1.0)), CheckVerdict::Pass);
        // Four times the rows halve the interval: the half above 0.25 has to become a quarter.
        let needed = decide(0.25, 0.0, 0.75, 100, at_most(0.5));
        assert_eq!(
            needed,
            CheckVerdict::Undecided {
                needed_n: Some(400)
            }
        );
    }

    #[test]
    fn normal_quantiles_are_those_of_the_tables() {
        // Recorded from SciPy 1.14, scipy.stats.norm.ppf.
        for (p, z) in [
            (0.975, 1.959963984540054),
            (0.5, 0.0),
            (1e-9, -5.9978070150076865),
        ] {
            assert!((normal_quantile(p) - z).abs() < 1e-12, "{p}");
        }
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
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
