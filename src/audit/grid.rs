//! Confidences on a fine grid: what needs their distribution, in constant memory.
//!
//! The unit interval is cut into [`CELLS`] cells, or fewer for a slice, closed on the right as bins
//! are. A cell keeps two counts and the exact sum of its confidences, so grids of shards add up to the
//! grid of the whole without any rounding. What is read off a grid treats the predictions of a cell as
//! if they all had the cell's mean confidence, which moves none of them by more than the cell's width:
//! 2⁻¹⁶, and 2⁻¹¹ in a slice.

use serde::{Deserialize, Serialize};

/// Number of cells: 2¹⁶.
pub(super) const CELLS: usize = 1 << 16;
/// Number of cells in the grid of a slice: 2¹¹, so that a thousand slices fit.
pub(super) const SLICE_CELLS: usize = 1 << 11;

/// The unit of the sums is 2⁻⁶². A confidence from 2⁻¹⁰ on is a whole multiple of it, and with at
/// most a thousand classes only a calibration map gives smaller ones: these are cut to a multiple,
/// each on its own, so that sums are the same in any order.
const UNITS: f64 = (1u64 << 62) as f64;

/// Counts and sums of one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) count: u64,
    /// At most `count`.
    pub(crate) correct: u64,
    /// Sum of the confidences, in units of 2⁻⁶²: at most `count · 2⁶²`.
    pub(crate) confidence: u128,
}

impl Totals {
    /// The totals of both; `None` where the count overflows. Nothing else can, as it is bounded by
    /// the count.
    pub(crate) fn merged(self, other: Self) -> Option<Self> {
        Some(Totals {
            count: self.count.checked_add(other.count)?,
            correct: self.correct + other.correct,
            confidence: self.confidence + other.confidence,
        })
    }
}

/// One cell that is not empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridCell {
    /// Predictions in it.
    pub count: u64,
    /// How many of them were right.
    pub correct: u64,
    /// The sum of their confidences, rounded once.
    pub confidence: f64,
}

impl GridCell {
    /// Mean confidence.
    pub fn mean(&self) -> f64 {
        self.confidence / self.count as f64
    }
}

/// Counts and exact sums of (confidence, was it right?) pairs on a fine grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct Grid {
    cells: Vec<Totals>,
}

/// How a grid is stored: the number of cells, and of each that is not empty its position, count, correct,
/// confidence in units of 2⁻⁶².
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    cells: usize,
    filled: Vec<(usize, u64, u64, u128)>,
}

impl From<Grid> for Stored {
    fn from(grid: Grid) -> Self {
        let filled = grid.cells.iter().enumerate().filter(|(_, t)| t.count > 0);
        let stored = |(i, t): (usize, &Totals)| (i, t.count, t.correct, t.confidence);
        Stored {
            cells: grid.cells.len(),
            filled: filled.map(stored).collect(),
        }
    }
}

impl TryFrom<Stored> for Grid {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let mut grid = match stored.cells {
            CELLS => Grid::default(),
            SLICE_CELLS => Grid::of_slice(),
            _ => return Err("a grid of another size"),
        };
        // The confidences of a cell lie between its edges.
        let unit = 1u128 << (62 - stored.cells.trailing_zeros());
        for (i, count, correct, confidence) in stored.filled {
            let cell = grid.cells.get_mut(i).ok_or("a cell beyond the grid")?;
            let (low, high) = (unit * i as u128, unit * (i as u128 + 1));
            let inside = |n: u128| n * low <= confidence && confidence <= n * high;
            if correct > count || *cell != Totals::default() || !inside(u128::from(count)) {
                return Err("a cell that no predictions have");
            }
            *cell = Totals {
                count,
                correct,
                confidence,
            };
        }
        Ok(grid)
    }
}

/// The cell, of a power of two of them and closed on the right, that a number in `[0, 1]` lies in.
///
/// Multiplying by a power of two is exact, so the side of an edge is never in doubt. Zero belongs to the
/// first cell, as it does to the first bin.
#[inline]
pub(super) fn cell_of(x: f64, cells: usize) -> usize {
    let scaled = x * cells as f64;
    // `⌈scaled⌉ − 1`.
    let whole = scaled as u32;
    match f64::from(whole) < scaled {
        true => whole as usize,
        false => (whole as usize).saturating_sub(1),
    }
}

impl Default for Grid {
    fn default() -> Self {
        Grid {
            cells: vec![Totals::default(); CELLS],
        }
    }
}

impl Grid {
    /// A grid of [`SLICE_CELLS`] cells.
    pub(super) fn of_slice() -> Self {
        Grid {
            cells: vec![Totals::default(); SLICE_CELLS],
        }
    }

    /// The width of a cell.
    pub(super) fn width(&self) -> f64 {
        1.0 / self.cells.len() as f64
    }

    /// Adds one prediction; `false`, and nothing is added, for a confidence outside `[0, 1]`.
    #[inline]
    pub fn add(&mut self, confidence: f64, correct: bool) -> bool {
        if !(0.0..=1.0).contains(&confidence) {
            return false;
        }
        let cell = cell_of(confidence, self.cells.len());
        let Some(totals) = self.cells.get_mut(cell) else {
            return false;
        };
        totals.count += 1;
        totals.correct += u64::from(correct);
        // At most 2⁶².
        totals.confidence += u128::from((confidence * UNITS) as u64);
        true
    }

    /// Adds everything that `other` holds; `None` where a count overflows.
    pub fn merge(&mut self, other: &Grid) -> Option<()> {
        for (a, b) in self.cells.iter_mut().zip(&other.cells) {
            *a = a.merged(*b)?;
        }
        Some(())
    }

    /// The cells that are not empty, by rising confidence.
    pub fn cells(&self) -> impl DoubleEndedIterator<Item = GridCell> {
        let filled = self.cells.iter().filter(|t| t.count > 0);
        filled.map(|t| GridCell {
            count: t.count,
            correct: t.correct,
            confidence: t.confidence as f64 / UNITS,
        })
    }

    /// The same, each with its ends: its confidences are above the first, or zero, and up to the second.
    pub(super) fn placed(&self) -> impl Iterator<Item = (f64, f64, GridCell)> {
        let width = self.width();
        let filled = self.cells.iter().enumerate().filter(|(_, t)| t.count > 0);
        filled.map(move |(i, t)| {
            let cell = GridCell {
                count: t.count,
                correct: t.correct,
                confidence: t.confidence as f64 / UNITS,
            };
            // Multiples of a power of two.
            (i as f64 * width, (i + 1) as f64 * width, cell)
        })
    }

    /// How many predictions have been added.
    pub fn count(&self) -> u64 {
        self.cells.iter().map(|t| t.count).sum()
    }

    /// [`Grid::count`] of a grid that may hold any numbers.
    pub fn checked_count(&self) -> Option<u64> {
        let counts = self.cells.iter().map(|t| t.count);
        counts.into_iter().try_fold(0u64, u64::checked_add)
    }

    /// The largest difference between the shares of predictions up to a cell, over all cells.
    pub fn largest_distance(&self, other: &Grid) -> f64 {
        let (n, m) = (self.count().max(1) as f64, other.count().max(1) as f64);
        let (mut a, mut b, mut largest) = (0u64, 0u64, 0.0);
        for (mine, theirs) in self.cells.iter().zip(&other.cells) {
            a += mine.count;
            b += theirs.count;
            let distance = (a as f64 / n - b as f64 / m).abs();
            largest = if distance > largest {
                distance
            } else {
                largest
            };
        }
        largest
    }

    /// How many predictions of this grid and of another lie in each of `steps` steps of equal width.
    pub fn paired(&self, other: &Grid, steps: usize) -> Vec<(u64, u64)> {
        let width = self.cells.len().div_ceil(steps);
        let pairs = self.cells.chunks(width).zip(other.cells.chunks(width));
        let count = |cells: &[Totals]| cells.iter().map(|t| t.count).sum::<u64>();
        pairs.map(|(a, b)| (count(a), count(b))).collect()
    }

    /// The cells grouped into at most `bins` bins of about equal count: a bin is closed by the
    /// first cell at which the running count reaches the bin's share of the whole, so that equal
    /// confidences are never torn apart.
    pub fn equal_mass(&self, bins: usize) -> Vec<GridCell> {
        let total = u128::from(self.count());
        let mut out: Vec<GridCell> = Vec::with_capacity(bins);
        let (mut count, mut correct, mut confidence) = (0u64, 0u64, 0u128);
        let mut seen = 0u128;
        for totals in self.cells.iter().filter(|t| t.count > 0) {
            count += totals.count;
            correct += totals.correct;
            confidence += totals.confidence;
            seen += u128::from(totals.count);
            let due = seen * bins as u128 >= total * (out.len() as u128 + 1);
            if due || seen == total {
                out.push(GridCell {
                    count,
                    correct,
                    confidence: confidence as f64 / UNITS,
                });
                (count, correct, confidence) = (0, 0, 0);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confidence_on_an_edge_belongs_to_the_cell_below() {
        let mut grid = Grid::default();
        let edge = 0.5;
        assert!(grid.add(edge, true) && grid.add(edge.next_up(), false) && grid.add(1.0, true));
        let filled: Vec<usize> = (0..CELLS).filter(|&i| grid.cells[i].count > 0).collect();
        assert_eq!(filled, [CELLS / 2 - 1, CELLS / 2, CELLS - 1]);
        for outside in [1f64.next_up(), f64::NAN, -0.5, -f64::MIN_POSITIVE] {
            assert!(!grid.add(outside, true), "{outside}");
        }
        assert_eq!(grid.count(), 3);
    }

    /// A map may answer that a named class is never right, or hardly ever.
    #[test]
    fn confidences_down_to_zero_are_kept() {
        let mut grid = Grid::default();
        let width = 1.0 / CELLS as f64;
        for confidence in [0.0, -0.0, 5e-324, 1e-30, width, 1.5 * width, 0.0009] {
            assert!(grid.add(confidence, false), "{confidence}");
        }
        let counts: Vec<u64> = grid.cells().map(|cell| cell.count).collect();
        assert_eq!(counts, [5, 1, 1]);
        let sums: Vec<f64> = grid.cells().map(|cell| cell.confidence).collect();
        // 1e-30 is less than a unit.
        assert_eq!(sums[..2], [width, 1.5 * width]);
        assert!((sums[2] - 0.0009).abs() <= 1.0 / UNITS);
        let text = serde_json::to_string(&grid).unwrap();
        assert_eq!(serde_json::from_str::<Grid>(&text).unwrap(), grid);
    }

    #[test]
    fn equal_masses_keep_ties_together_and_lose_nothing() {
        let mut grid = Grid::default();
        for i in 0..100 {
            grid.add(0.3 + 0.005 * f64::from(i), i % 3 == 0);
        }
        for _ in 0..40 {
            grid.add(0.9, true);
        }
        let bins = grid.equal_mass(7);
        assert_eq!(
            bins.iter().map(|b| b.count).collect::<Vec<_>>(),
            [20, 20, 20, 20, 20, 40]
        );
        assert_eq!(bins.iter().map(|b| b.correct).sum::<u64>(), 34 + 40);
        assert!(Grid::default().equal_mass(7).is_empty());
    }

    #[test]
    fn a_grid_of_a_slice_is_stored_as_such_and_of_no_other_size() {
        let mut grid = Grid::of_slice();
        assert!(grid.add(0.7, true) && grid.add(0.0, false) && grid.add(1.0, true));
        assert_eq!(grid.width(), 1.0 / 2048.0);
        let text = serde_json::to_string(&grid).unwrap();
        assert_eq!(serde_json::from_str::<Grid>(&text).unwrap(), grid);
        let other = text.replace("2048", "1024");
        assert!(serde_json::from_str::<Grid>(&other).is_err());
    }

    #[test]
    fn a_stored_grid_is_the_same_grid_and_hostile_ones_are_refused() {
        let mut grid = Grid::default();
        grid.add(0.7, true);
        grid.add(1.0 / 3.0, false);
        let text = serde_json::to_string(&grid).unwrap();
        assert_eq!(serde_json::from_str::<Grid>(&text).unwrap(), grid);
        for bad in [
            "[[65536,1,1,1]]",
            "[[3,1,2,211106232532992]]",
            "[[3,1,1,1]]",
            "[[65535,1,1,4611686018427387905]]",
        ] {
            let bad = format!("{{\"cells\":65536,\"filled\":{bad}}}");
            assert!(serde_json::from_str::<Grid>(&bad).is_err(), "{bad}");
        }
    }
}
