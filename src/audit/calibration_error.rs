//! Intervals for the calibration error and the mean gap of a population.
//!
//! Rows are independent, from one population or from several; `z = confidence − [right]` lies in
//! `[−1, 1]`. The gap is `E z`. With bins `b(c)` of the confidence `c`,
//!
//! ```text
//!     ECE = Σ_b |E z·[b(c) = b]| = max over signs s of E z·s(b(c)).
//! ```
//!
//! **Upper end.** Let `s*` be the signs that attain the maximum: they belong to the population, not to the
//! log. So `ECE = E z·s*` is the mean of numbers in `[−1, 1]`, and a limit for their mean by
//! [betting](crate::bounds::Seen) needs no correction for bins. `s*` is not known, but the wealth against a
//! mean `q` is at least what is left if in each bin the worse of both signs is taken.
//!
//! **Lower end.** `ECE ≥ E z·s` for any `s`. Shares of the error are given in advance to all pluses (a
//! quarter), to all minuses (a quarter), and to each of the `2^B` sequences of signs (half, in equal
//! parts); then all these limits hold at once, and the largest of three is taken: pluses, minuses, and the
//! signs that the log shows.
//!
//! Rows of the grid's cells are known to the width of a cell. Of a cell that a bin's edge cuts, the parts on
//! either side follow from the bins' own counts. Nothing is assumed about the model; clusters of rows are
//! treated by their sums.

use super::clusters::{Clusters, Quantity, UNIT};
use super::grid::{Grid, GridCell};
use super::intervals::{BETTING, BETTING_BY_ENTITY, Ends, Estimate, MeanEnds, error_with_unseen};
use super::outcome::Power;
use crate::bounds::{GroupSums, Point, Seen, log_product, lower_limit, mixed};
use crate::calibration::{Reliability, bin_index};
use crate::math::{ExactSum, ln};

/// Points are joined in intervals of confidences of this width where there are many.
const JOINED: f64 = 1.0 / 1024.0;
/// Up to so many cells are taken as they are.
const FEW: usize = 2048;

/// Rows of one bin with their `z`, brought to `[0, 1]`.
#[derive(Debug, Default)]
struct BinPoints {
    /// `(1 + z)/2`, from below.
    plus: Vec<Point>,
    /// `(1 − z)/2`, from below.
    minus: Vec<Point>,
    /// `Σ z`.
    sum: f64,
}

/// Cells of one bin and of neighbouring confidences, as one point for each outcome and orientation.
#[derive(Clone, Copy, Debug, Default)]
struct Joined {
    count: [f64; 2],
    sum: [f64; 2],
    lowest: f64,
    highest: f64,
    cells: u32,
}

impl BinPoints {
    /// `cell` is the width of a cell.
    fn push(&mut self, joined: &Joined, cell: f64) {
        // A cell with one row is its confidence; the mean of several is that of right and wrong ones
        // together, and neither's own is further from it than the cell is wide.
        let exact = joined.cells == 1 && joined.count[0] + joined.count[1] == 1.0;
        let slack = if exact { 0.0 } else { cell };
        let spread = match exact {
            true => 0.0,
            false => joined.highest - joined.lowest + 2.0 * cell,
        };
        for (outcome, right) in [(0, 0.0), (1, 1.0)] {
            let count = joined.count[outcome];
            if count == 0.0 {
                continue;
            }
            let z = joined.sum[outcome] / count - right;
            let point = |z: f64| Point {
                value: ((1.0 + z) / 2.0).max(0.0),
                count,
                spread: spread / 2.0,
            };
            self.plus.push(point(z - slack));
            self.minus.push(point(-z - slack));
        }
    }
}

/// Rows of one cell that are in one bin.
struct Part {
    bin: usize,
    cell: GridCell,
    /// Whether it is all of the cell, so that its mean confidence is its own.
    whole: bool,
}

/// The cells of a grid in one bin.
fn in_one_bin(grid: &Grid) -> Vec<Part> {
    let part = |cell| Part {
        bin: 0,
        cell,
        whole: true,
    };
    grid.cells().map(part).collect()
}

/// The cells of a grid, cut at the edges of bins that hold the same rows. A cell is no wider than a bin, so
/// that at most one edge cuts it; what a bin holds beside whole cells and the cut one at its lower edge is in
/// the one at its upper edge.
fn in_bins(grid: &Grid, top: &Reliability) -> Vec<Part> {
    let bins = top.bins();
    let mut left: Vec<(u64, u64)> = bins.iter().map(|bin| (bin.count, bin.correct)).collect();
    let mut take = |bin: usize, count: u64, correct: u64| {
        if let Some((all, right)) = left.get_mut(bin) {
            *all = all.saturating_sub(count);
            *right = right.saturating_sub(correct);
        }
        left.get(bin).copied().unwrap_or_default()
    };
    let index = |confidence: f64| bin_index(confidence, bins.len()).unwrap_or(0);
    let ends = |low: f64, high: f64| (index(low.next_up()), index(high));
    for (low, high, cell) in grid.placed() {
        let (first, last) = ends(low, high);
        if first == last {
            take(first, cell.count, cell.correct);
        }
    }
    let mut parts = Vec::new();
    for (low, high, cell) in grid.placed() {
        let (first, last) = ends(low, high);
        if first == last {
            parts.push(Part {
                bin: first,
                cell,
                whole: true,
            });
            continue;
        }
        let (below, right) = take(first, 0, 0);
        let (below, right) = (below.min(cell.count), right.min(cell.correct));
        for (bin, count, correct) in [
            (first, below, right),
            (last, cell.count - below, cell.correct - right),
        ] {
            take(bin, count, correct);
            if count > 0 {
                let confidence = cell.mean() * count as f64;
                let whole = count == cell.count;
                let cell = GridCell {
                    count,
                    correct,
                    confidence,
                };
                parts.push(Part { bin, cell, whole });
            }
        }
    }
    parts
}

/// The rows of the parts of a grid's cells, bin by bin. `rate(cell)` is the share of right ones.
fn points(grid: &Grid, parts: &[Part], rate: impl Fn(&GridCell) -> f64) -> Vec<BinPoints> {
    let reach = grid.width();
    let width = if parts.len() <= FEW { 0.0 } else { JOINED };
    let mut out: Vec<BinPoints> = Vec::new();
    let mut at: Option<(usize, f64, Joined)> = None;
    let close = |out: &mut Vec<BinPoints>, joined: &Joined| {
        if let Some(bin) = out.last_mut() {
            bin.push(joined, reach);
        }
    };
    for Part { bin, cell, whole } in parts {
        let (bin, c) = (*bin, cell.mean());
        let together = matches!(at, Some((b, start, _)) if b == bin && c - start < width);
        if !together {
            if let Some((_, _, joined)) = &at {
                close(&mut out, joined);
            }
            if !matches!(at, Some((b, ..)) if b == bin) {
                out.push(BinPoints::default());
            }
            let empty = Joined {
                lowest: c,
                ..Joined::default()
            };
            at = Some((bin, c, empty));
        }
        let count = cell.count as f64;
        let right = count * rate(cell).clamp(0.0, 1.0);
        if let Some((_, _, joined)) = &mut at {
            for (i, n) in [(0, count - right), (1, right)] {
                joined.count[i] += n;
                joined.sum[i] += n * c;
            }
            joined.highest = c;
            // Of a part, no row's own confidence is known.
            joined.cells += if *whole { 1 } else { 2 };
        }
        if let Some(bin) = out.last_mut() {
            bin.sum += cell.confidence - right;
        }
    }
    if let Some((_, _, joined)) = &at {
        close(&mut out, joined);
    }
    out
}

fn observed(cell: &GridCell) -> f64 {
    cell.correct as f64 / cell.count as f64
}

fn all(bins: &[BinPoints], side: impl Fn(&BinPoints) -> &Vec<Point>) -> Seen {
    Seen::Points(bins.iter().flat_map(|bin| side(bin).clone()).collect())
}

/// Mean of `z²` over the rows, about.
fn mean_square(grid: &Grid) -> f64 {
    let square = |x: f64| x * x;
    let term = |cell: GridCell| {
        let (c, right) = (cell.mean(), cell.correct as f64);
        right * square(1.0 - c) + (cell.count as f64 - right) * square(c)
    };
    grid.cells().map(term).collect::<ExactSum>().to_f64() / grid.count().max(1) as f64
}

/// How far a mean of `n` numbers with this mean square is off, numbers that were not seen being off by up to one.
fn error_of_mean(mean: f64, mean_square: f64, n: f64) -> f64 {
    let standard_error = libm::sqrt((mean_square - mean * mean).max(0.0) / n);
    error_with_unseen(standard_error, 1.0, n)
}

/// The gap of the population, with its interval.
pub(super) fn gap<'a>(
    value: f64,
    grid: &Grid,
    clusters: Option<&Clusters>,
    delta: f64,
) -> Estimate<'a> {
    if let Some(clusters) = clusters {
        let sums = clusters.sums(Quantity::Gap);
        return Estimate::of_clusters(value, sums, (-1.0, 1.0), delta);
    }
    let bins = points(grid, &in_one_bin(grid), observed);
    let n = grid.count();
    Estimate {
        value,
        error: error_of_mean(value, mean_square(grid), n as f64),
        n,
        ends: Box::new(MeanEnds {
            lower: all(&bins, |bin| &bin.plus),
            upper: all(&bins, |bin| &bin.minus),
            from: -1.0,
            to: 1.0,
            slack: 0.0,
            delta,
        }),
        method: BETTING,
    }
}

/// The mean confidence of the population, with its interval.
pub(super) fn confidence<'a>(value: f64, grid: &Grid, delta: f64) -> Estimate<'a> {
    let cells: Vec<GridCell> = grid.cells().collect();
    let reach = grid.width();
    let joined = if cells.len() <= FEW { reach } else { JOINED };
    let mut points: Vec<(usize, Joined)> = Vec::new();
    for cell in &cells {
        let c = cell.mean();
        let place = (c / joined) as usize;
        if joined == reach || points.last().is_none_or(|(last, _)| *last != place) {
            let empty = Joined {
                lowest: c,
                ..Joined::default()
            };
            points.push((place, empty));
        }
        if let Some((_, point)) = points.last_mut() {
            point.count[0] += cell.count as f64;
            point.sum[0] += cell.confidence;
            point.highest = c;
        }
    }
    let side = |of: &dyn Fn(f64) -> f64| {
        let point = |(_, joined): &(usize, Joined)| Point {
            value: of(joined.sum[0] / joined.count[0]).max(0.0),
            count: joined.count[0],
            spread: match joined.count[0] {
                1.0 => 0.0,
                _ => joined.highest - joined.lowest + 2.0 * reach,
            },
        };
        Seen::Points(points.iter().map(point).collect())
    };
    let square = |x: f64| x * x;
    let squares = cells
        .iter()
        .map(|cell| cell.count as f64 * square(cell.mean()));
    let n = grid.count();
    let mean_square = squares.collect::<ExactSum>().to_f64() / n.max(1) as f64;
    Estimate {
        value,
        error: error_of_mean(value, mean_square, n as f64),
        n,
        ends: Box::new(MeanEnds {
            lower: side(&|c| c),
            upper: side(&|c| 1.0 - c),
            from: 0.0,
            to: 1.0,
            slack: 0.0,
            delta,
        }),
        method: BETTING,
    }
}

/// The calibration error of the population over the bins of `top`, which hold the rows of the grid.
pub(super) fn ece<'a>(
    value: f64,
    grid: &Grid,
    top: &Reliability,
    clusters: Option<&Clusters>,
    delta: f64,
) -> Estimate<'a> {
    let n = grid.count();
    let shares = Shares::new(top.bins().len(), delta);
    let (ends, error, method): (Box<dyn Ends>, f64, _) = match clusters {
        None => {
            let ends = ErrorEnds {
                bins: points(grid, &in_bins(grid, top), observed),
                n: n as f64,
                value,
                shares,
            };
            let error = error_of_mean(value, mean_square(grid), n as f64);
            (Box::new(ends), error, BETTING)
        }
        Some(clusters) => {
            let ends = ClusterEnds {
                gap: clusters.sums(Quantity::Gap),
                sizes: clusters.sums(Quantity::Size),
                value,
                shares,
            };
            let sizes = &ends.sizes;
            let standard_error = libm::sqrt(sizes.squares) / sizes.count;
            let error = error_with_unseen(standard_error, 1.0, sizes.count / sizes.largest);
            (Box::new(ends), error, BETTING_BY_ENTITY)
        }
    };
    Estimate {
        value,
        error,
        n,
        ends,
        method,
    }
}

/// What each limit may be wrong with.
#[derive(Clone, Copy, Debug)]
struct Shares {
    upper: f64,
    /// Of all pluses, and of all minuses.
    one_sign: f64,
    /// Of any one sequence of signs.
    signs: f64,
}

impl Shares {
    fn new(bins: usize, delta: f64) -> Self {
        Shares {
            upper: delta / 2.0,
            one_sign: delta / 8.0,
            signs: delta / 4.0 * libm::exp2(-(bins as f64)),
        }
    }
}

/// The interval for independent rows.
struct ErrorEnds {
    bins: Vec<BinPoints>,
    n: f64,
    value: f64,
    shares: Shares,
}

/// Which of the signs the lower end supposes.
#[derive(Clone, Copy)]
enum Signs {
    Plus,
    Minus,
    Shown,
}

impl ErrorEnds {
    /// Wealth against a mean of `(1 − z·s*)/2` of `q` or less.
    fn upper_wealth(&self, q: f64, times: f64) -> f64 {
        if q <= 0.0 {
            return f64::INFINITY;
        }
        mixed(self.n * times, |theta| {
            let worse = |bin: &BinPoints| {
                let plus = log_product(&bin.plus, theta, q, times);
                let minus = log_product(&bin.minus, theta, q, times);
                plus.min(minus)
            };
            self.bins.iter().map(worse).sum()
        })
    }

    /// Wealth against a mean of `(1 + z·s)/2` of `q` or less.
    fn lower_wealth(&self, signs: Signs, q: f64, times: f64) -> f64 {
        mixed(self.n * times, |theta| {
            let of_bin = |bin: &BinPoints| {
                let plus = || log_product(&bin.plus, theta, q, times);
                let minus = || log_product(&bin.minus, theta, q, times);
                match signs {
                    Signs::Plus => plus(),
                    Signs::Minus => minus(),
                    Signs::Shown if bin.sum >= 0.0 => plus(),
                    Signs::Shown => minus(),
                }
            };
            self.bins.iter().map(of_bin).sum()
        })
    }

    /// The ways to bound the error from below: signs, their share, and the mean of `z·s` in the log.
    fn ways(&self) -> [(Signs, f64, f64); 3] {
        let gap = self.bins.iter().map(|bin| bin.sum).sum::<f64>() / self.n;
        [
            (Signs::Plus, self.shares.one_sign, gap),
            (Signs::Minus, self.shares.one_sign, -gap),
            (Signs::Shown, self.shares.signs, self.value),
        ]
    }
}

impl Ends for ErrorEnds {
    fn low(&self, times: f64) -> f64 {
        let way = |(signs, share, mean): (Signs, f64, f64)| {
            // Below zero nothing is said.
            if mean <= 0.0 {
                return 0.0;
            }
            let top = (1.0 + mean) / 2.0;
            let limit = lower_limit(top, share, |q| self.lower_wealth(signs, q, times));
            2.0 * limit - 1.0
        };
        self.ways().map(way).into_iter().fold(0.0, f64::max)
    }

    fn high(&self, times: f64) -> f64 {
        let top = (1.0 - self.value) / 2.0;
        let limit = lower_limit(top, self.shares.upper, |q| self.upper_wealth(q, times));
        1.0 - 2.0 * limit
    }

    fn low_reaches(&self, times: f64, limit: f64) -> bool {
        let q = (1.0 + limit) / 2.0;
        limit <= 0.0
            || self.ways().into_iter().any(|(signs, share, mean)| {
                mean > limit && self.lower_wealth(signs, q, times) >= -ln(share)
            })
    }

    fn high_reaches(&self, times: f64, limit: f64) -> bool {
        let q = (1.0 - limit) / 2.0;
        limit >= 1.0 || limit > self.value && self.upper_wealth(q, times) >= -ln(self.shares.upper)
    }
}

/// The interval for clusters of rows.
///
/// For any signs a cluster's `Σ z·s` is at most its `Σ |z|` in size. In `d = Σ (1 ∓ z·s)/2 − q·k` with
/// `q = (1 ∓ e)/2` the ones cancel: `d = (e·k ∓ Σ z·s)/2` up to its sign, so that
/// `d² ≤ (|e|·k + Σ|z|)²/4`, and `Σ d` is known from the log's value or bounded by it.
struct ClusterEnds {
    gap: GroupSums,
    sizes: GroupSums,
    value: f64,
    shares: Shares,
}

impl ClusterEnds {
    /// Wealth against an error `e` on the other side of a mean of `z·s` of `mean`, where `|z·s|` summed is
    /// all that is known of the clusters; `q` is the mean that is bet against.
    fn wealth(&self, q: f64, e: f64, distance: f64, times: f64) -> f64 {
        let sizes = &self.sizes;
        // Rows were rounded to whole units.
        let first = times * (distance - UNIT) * sizes.count / 2.0;
        let e = e.abs() + UNIT;
        let squares = sizes.squares + 2.0 * e * sizes.cross + e * e * sizes.count_squares;
        let second = times * squares / 4.0;
        let unit = q * sizes.largest;
        mixed(sizes.groups * times, |theta| {
            let phi = -libm::log1p(-theta) - theta;
            theta * first / unit - phi * second / (unit * unit)
        })
    }

    fn upper_wealth(&self, e: f64, times: f64) -> f64 {
        let q = (1.0 - e) / 2.0;
        if q <= 0.0 {
            return f64::INFINITY;
        }
        self.wealth(q, e, e - self.value, times)
    }

    fn lower_wealth(&self, mean: f64, e: f64, times: f64) -> f64 {
        self.wealth((1.0 + e) / 2.0, e, mean - e, times)
    }

    fn ways(&self) -> [(f64, f64); 2] {
        [
            (self.shares.one_sign, self.gap.mean().abs()),
            (self.shares.signs, self.value),
        ]
    }
}

impl Ends for ClusterEnds {
    fn low(&self, times: f64) -> f64 {
        let way = |(share, mean): (f64, f64)| {
            let top = (1.0 + mean) / 2.0;
            let wealth = |q: f64| self.lower_wealth(mean, 2.0 * q - 1.0, times);
            2.0 * lower_limit(top, share, wealth) - 1.0
        };
        self.ways().map(way).into_iter().fold(0.0, f64::max)
    }

    fn high(&self, times: f64) -> f64 {
        let top = (1.0 - self.value) / 2.0;
        let wealth = |q: f64| self.upper_wealth(1.0 - 2.0 * q, times);
        1.0 - 2.0 * lower_limit(top, self.shares.upper, wealth)
    }
}

/// The probability that a check of the gap fails if every prediction is over-confident by `effect`, where it
/// fails with the lower end at level `share` above `limit`: the smallest over-confidence at which a log
/// like this, with outcomes in just these proportions, fails is found, and the value of a log is taken
/// to be normal around `effect`.
pub(super) fn power(grid: &Grid, limit: f64, effect: f64, share: f64) -> Option<Power> {
    let n = grid.count() as f64;
    let sum: ExactSum = grid.cells().map(|cell| cell.confidence).collect();
    let mean = sum.to_f64() / n;
    if n == 0.0 || effect <= limit || !(-1.0..1.0).contains(&limit) || mean <= effect {
        return None;
    }
    let parts = in_one_bin(grid);
    let fails = |excess: f64| {
        let bins = points(grid, &parts, |cell| cell.mean() - excess);
        let seen = all(&bins, |bin| &bin.plus);
        seen.log_wealth((1.0 + limit) / 2.0, 1.0) >= -ln(share)
    };
    let probability = if fails(mean) {
        let (mut passes, mut failing) = (limit, mean);
        for _ in 0..24 {
            let middle = 0.5 * (passes + failing);
            if fails(middle) {
                failing = middle;
            } else {
                passes = middle;
            }
        }
        let spread = |cell: GridCell| {
            let rate = (cell.mean() - effect).clamp(0.0, 1.0);
            cell.count as f64 * rate * (1.0 - rate)
        };
        let deviation = libm::sqrt(grid.cells().map(spread).collect::<ExactSum>().to_f64()) / n;
        super::intervals::normal_cdf((effect - failing) / deviation)
    } else {
        0.0
    };
    Some(Power {
        effect,
        probability,
    })
}

#[cfg(test)]
mod tests;
