//! The calibration error that a perfectly calibrated model would show.
//!
//! The plug-in ECE is above zero even then, because rates in bins vary by chance. Its distribution
//! under perfect calibration is known once the confidences are: each prediction is right with a
//! probability equal to its confidence. It is simulated cell by cell of the grid; a bin whose count
//! of right ones has a variance of [`LARGE`] or more is drawn as a normal number instead, rounded to a whole
//! one. Only the size of its deviation counts, from which its skewness cancels to first order.
//!
//! The p-value `(1 + #{simulated ≥ observed}) / (1 + replicates)` is exact for simulated tests:
//! under perfect calibration it is at most `α` with probability at most `α`, up to that approximation where
//! there are large bins.

use rayon::prelude::*;

use super::grid::{Grid, GridCell};
use crate::calibration::bin_index;
use crate::latent::random::{Stream, text_key};
use crate::math::ExactSum;

/// Simulated logs.
pub(super) const REPLICATES: u64 = 999;
/// From this variance on a count is drawn as a normal number.
const LARGE: f64 = 100.0;
/// Names the streams of this simulation.
const PURPOSE: u64 = text_key("audit: ECE under perfect calibration");

/// The distribution of the ECE under perfect calibration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Null {
    /// The ECE of the log on the grid's bins, with which the simulated ones are compared.
    pub observed: f64,
    /// The mean of the simulated ones.
    pub mean: f64,
    /// The 95th percentile of the simulated ones.
    pub upper: f64,
    /// The p-value: how often a perfectly calibrated model has an ECE this large.
    pub p_value: f64,
    /// How often a model that is over-confident has a p-value at or below a level, where both are asked
    /// for.
    pub power: Option<f64>,
}

/// The 95th percentile of sorted numbers; `None` for an empty slice.
fn upper(sorted: &[f64]) -> Option<f64> {
    let rank = (sorted.len() * 95).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

/// One bin of the simulation.
struct Bin {
    cells: Vec<GridCell>,
    /// Sum of the confidences.
    expected: f64,
    variance: f64,
    correct: u64,
}

/// Simulates the ECE over `bins` equal-width bins; none for an empty grid. `against` is a level and by how
/// much a model is over-confident that is to be found at this level.
pub(super) fn null(
    grid: &Grid,
    bins: usize,
    seed: u64,
    against: Option<(f64, f64)>,
) -> Option<Null> {
    let count = grid.count();
    if count == 0 {
        return None;
    }
    let mut cells = vec![Vec::new(); bins];
    for cell in grid.cells() {
        let bin = bin_index(cell.mean(), bins).and_then(|bin| cells.get_mut(bin));
        if let Some(bin) = bin {
            bin.push(cell);
        }
    }
    let filled = cells.into_iter().filter(|cells| !cells.is_empty());
    let bins: Vec<Bin> = filled.map(Bin::new).collect();
    let n = count as f64;
    let observed = bins.iter().map(|b| (b.expected - b.correct as f64).abs());
    let observed = observed.collect::<ExactSum>().to_f64() / n;
    let simulate = |excess: f64, part: u64| -> Vec<f64> {
        let replicate = |replicate| {
            let mut stream = Stream::new(seed, PURPOSE, replicate, part);
            let gaps = bins
                .iter()
                .map(|bin| bin.deviation(excess, &mut stream).abs());
            gaps.collect::<ExactSum>().to_f64() / n
        };
        (0..REPLICATES).into_par_iter().map(replicate).collect()
    };
    let mut simulated = simulate(0.0, 0);
    let at_least = simulated.iter().filter(|e| **e >= observed).count();
    let mean = simulated.iter().copied().collect::<ExactSum>().to_f64() / REPLICATES as f64;
    simulated.sort_unstable_by(f64::total_cmp);
    let power = against.map(|(level, excess)| {
        let small = |error: &&f64| {
            let at_least = simulated.len() - simulated.partition_point(|e| e < *error);
            (1 + at_least) as f64 / (REPLICATES + 1) as f64 <= level
        };
        let found = simulate(excess, 1).iter().filter(small).count();
        found as f64 / REPLICATES as f64
    });
    Some(Null {
        observed,
        mean,
        upper: upper(&simulated)?,
        p_value: (1 + at_least) as f64 / (REPLICATES + 1) as f64,
        power,
    })
}

impl Bin {
    fn new(cells: Vec<GridCell>) -> Self {
        let expected: ExactSum = cells.iter().map(|c| c.confidence).collect();
        let terms = cells
            .iter()
            .map(|c| c.count as f64 * c.mean() * (1.0 - c.mean()));
        Bin {
            expected: expected.to_f64(),
            variance: terms.collect::<ExactSum>().to_f64(),
            correct: cells.iter().map(|c| c.correct).sum(),
            cells,
        }
    }

    /// Expected minus simulated number of right predictions, each of which is right less often than
    /// expected by `excess`.
    fn deviation(&self, excess: f64, stream: &mut Stream) -> f64 {
        if self.variance >= LARGE {
            let count: u64 = self.cells.iter().map(|c| c.count).sum();
            let mean = self.expected - excess * count as f64;
            let right = libm::round(mean + libm::sqrt(self.variance) * stream.standard_normal());
            return self.expected - right;
        }
        let right: u64 = self
            .cells
            .iter()
            .map(|c| binomial(stream, c.count, (c.mean() - excess).max(0.0)))
            .sum();
        self.expected - right as f64
    }
}

/// A binomial draw in a time that grows with the expected number of the rarer outcome: the gaps
/// between successes are geometric.
fn binomial(stream: &mut Stream, n: u64, p: f64) -> u64 {
    if p > 0.5 {
        return n - binomial(stream, n, 1.0 - p);
    }
    if p <= 0.0 {
        return 0;
    }
    let scale = libm::log1p(-p);
    let (mut at, mut hits) = (0.0, 0);
    loop {
        // 1 − U lies in (0, 1], so the logarithm is finite.
        at += libm::floor(libm::log1p(-stream.uniform()) / scale) + 1.0;
        if at > n as f64 {
            return hits;
        }
        hits += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::{binomial_cdf, binomial_upper_tail};

    #[test]
    fn binomial_draws_have_the_binomial_distribution() {
        // Each observed count of a value is itself binomial; two-sided, 1e-9 in all.
        const DRAWS: u64 = 20_000;
        for (n, p) in [(5, 0.3), (12, 0.9), (1, 0.5)] {
            let mut stream = Stream::new(1, 2, n, 3);
            let mut seen = vec![0u64; n as usize + 1];
            for _ in 0..DRAWS {
                seen[binomial(&mut stream, n, p) as usize] += 1;
            }
            for (k, &count) in seen.iter().enumerate() {
                let k = k as u64;
                let cdf = |k: u64| binomial_cdf(k, n, p).unwrap().high();
                let point = cdf(k) - if k > 0 { cdf(k - 1) } else { 0.0 };
                let low = binomial_cdf(count, DRAWS, point).unwrap().high();
                let high = binomial_upper_tail(count, DRAWS, point).unwrap().high();
                assert!(low > 1e-11 && high > 1e-11, "{n} {p} {k}: {count}");
            }
        }
    }

    #[test]
    fn ninety_five_of_a_hundred_are_the_smallest_that_many() {
        let counted: Vec<f64> = (1..=999).map(f64::from).collect();
        // 0.95·999 = 949.05, so that 949 of them are too few.
        assert_eq!(upper(&counted), Some(950.0));
        assert_eq!(upper(&counted[..100]), Some(95.0));
        assert_eq!((upper(&counted[..1]), upper(&[])), (Some(1.0), None));
    }

    /// Calibrated logs get a small p-value as rarely as they should; over-confident ones nearly
    /// always. At level 0.05, 60 logs: 12 or more by chance have probability below 1e-4, and
    /// the draws are fixed.
    #[test]
    fn p_values_of_calibrated_logs_are_seldom_small() {
        let rejections = |excess: f64| {
            let small = (0..60).filter(|&log| {
                let mut stream = Stream::new(7, 1, log, 0);
                let mut grid = Grid::default();
                for _ in 0..400 {
                    let c = 0.55 + 0.4 * stream.uniform();
                    grid.add(c, stream.uniform() < c - excess);
                }
                null(&grid, 10, 3, None).unwrap().p_value <= 0.05
            });
            small.count()
        };
        assert!(rejections(0.0) < 12);
        assert!(rejections(0.2) > 50);
    }

    #[test]
    fn certain_predictions_that_are_right_show_no_error() {
        let mut grid = Grid::default();
        for _ in 0..50 {
            grid.add(1.0, true);
        }
        let null = null(&grid, 10, 0, None).unwrap();
        assert_eq!((null.observed, null.mean, null.p_value), (0.0, 0.0, 1.0));
        assert!(super::null(&Grid::default(), 10, 0, None).is_none());
    }

    /// Certainty of being wrong is in the first bin, and costs nothing if it is kept.
    #[test]
    fn a_confidence_of_zero_is_simulated_too() {
        for (right, observed) in [(false, 0.0), (true, 1.0)] {
            let mut grid = Grid::default();
            for _ in 0..50 {
                grid.add(0.0, right);
            }
            let null = null(&grid, 10, 0, None).unwrap();
            assert_eq!((null.observed, null.mean), (observed, 0.0));
        }
    }
}
