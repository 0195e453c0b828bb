//! Quantiles of numbers that are not negative, in constant memory.

use serde::{Deserialize, Serialize};

/// Cells a unit, up to [`LINEAR`]; and from there on, cells between a power of two and the next: a
/// quantile is known to 1/64, or to its 64th part.
const PER_UNIT: usize = 64;
/// Below this, cells are of equal width.
const LINEAR: f64 = 64.0;
/// Numbers from here on share the last cell. No line has room for so many items.
const LARGEST: f64 = (1u64 << 32) as f64;
/// The bits of a double behind its exponent and the six that tell the cells of a power of two.
const DROPPED: u32 = f64::MANTISSA_DIGITS - 1 - PER_UNIT.ilog2();
const LINEAR_CELLS: usize = PER_UNIT * LINEAR as usize;
const CELLS: usize = LINEAR_CELLS + steps(LARGEST) + 1;

/// How many cells lie between [`LINEAR`] and `x`, which is not below it. Bits of positive doubles are
/// in the order of the numbers, and those that are left run through 64 values a power of two.
const fn steps(x: f64) -> usize {
    ((x.to_bits() >> DROPPED) - (LINEAR.to_bits() >> DROPPED)) as usize
}

/// Counts of numbers in `[0, ∞]`, in cells that are closed below and open above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u64>", into = "Vec<u64>")]
pub struct Histogram {
    cells: Vec<u64>,
}

impl From<Histogram> for Vec<u64> {
    fn from(histogram: Histogram) -> Self {
        histogram.cells
    }
}

impl TryFrom<Vec<u64>> for Histogram {
    type Error = &'static str;

    fn try_from(cells: Vec<u64>) -> Result<Self, Self::Error> {
        if cells.len() != CELLS {
            return Err("a histogram of another length");
        }
        let total = cells.iter().try_fold(0u64, |sum, n| sum.checked_add(*n));
        total.ok_or("a histogram of more than can be counted")?;
        Ok(Histogram { cells })
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram {
            cells: vec![0; CELLS],
        }
    }
}

impl Histogram {
    /// Counts a number; NaN and numbers below zero count as zero.
    pub fn add(&mut self, x: f64) {
        let cell = if x < LINEAR {
            (x * PER_UNIT as f64) as usize
        } else if x >= LINEAR {
            LINEAR_CELLS + steps(x.min(LARGEST))
        } else {
            0
        };
        self.cells[cell] += 1;
    }

    /// Where a cell begins.
    fn edge(cell: usize) -> f64 {
        match cell.checked_sub(LINEAR_CELLS) {
            None => cell as f64 / PER_UNIT as f64,
            Some(steps) if cell < CELLS => {
                f64::from_bits(((LINEAR.to_bits() >> DROPPED) + steps as u64) << DROPPED)
            }
            Some(_) => f64::INFINITY,
        }
    }

    /// Adds everything that `other` holds; `None` where a count overflows.
    pub fn merge(&mut self, other: &Histogram) -> Option<()> {
        for (a, b) in self.cells.iter_mut().zip(&other.cells) {
            *a = a.checked_add(*b)?;
        }
        Some(())
    }

    /// How many numbers.
    pub fn count(&self) -> u64 {
        self.cells.iter().sum()
    }

    /// The ends of the first cell up to which `enough` of the numbers (given how many lie in this
    /// cell and below) have come; none where they never have. `enough` must stay true once it is.
    pub fn first(&self, enough: impl Fn(u64) -> bool) -> Option<(f64, f64)> {
        let sums: Vec<u64> = self
            .cells
            .iter()
            .scan(0, |sum, n| {
                *sum += n;
                Some(*sum)
            })
            .collect();
        let cell = sums.partition_point(|&sum| !enough(sum));
        let ends = (Histogram::edge(cell), Histogram::edge(cell + 1));
        (cell < sums.len()).then_some(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_known_to_a_cell() {
        let mut h = Histogram::default();
        for i in 0..1000 {
            h.add(f64::from(i) / 100.0);
        }
        h.add(f64::INFINITY);
        h.add(f64::NAN);
        assert_eq!(h.count(), 1002);
        // The 501st is 4.99.
        assert_eq!(h.first(|below| below >= 501), Some((4.984375, 5.0)));
        assert_eq!(
            h.first(|below| below >= 1002),
            Some((LARGEST, f64::INFINITY))
        );
        assert_eq!(h.first(|below| below > 1002), None);
    }

    /// Whatever the number, it lies in its cell, and the cell is narrow.
    #[test]
    fn every_number_lies_in_its_cell() {
        let mut numbers = vec![0.0, 5e-324, 1.0 / 64.0, 1e6, 1e300, f64::MAX, f64::INFINITY];
        for edge in [1.0, 63.984375, 64.0, 65.0, 128.0, 130.0, LARGEST] {
            numbers.extend([f64::next_down(edge), edge, f64::next_up(edge)]);
        }
        numbers.extend((0..4000).map(|i| libm::exp2(f64::from(i) / 100.0 - 7.0)));
        for x in numbers {
            let mut h = Histogram::default();
            h.add(x);
            let (low, high) = h.first(|below| below == 1).unwrap();
            assert!(
                low <= x && (x < high || x == f64::INFINITY),
                "{x}: {low} {high}"
            );
            let narrow = high - low <= (low / 64.0).max(1.0 / 64.0);
            assert!(narrow || low == LARGEST, "{x}: {low} {high}");
        }
        assert_eq!(Histogram::edge(LINEAR_CELLS), LINEAR);
        assert_eq!(Histogram::edge(CELLS - 1), LARGEST);
    }

    #[test]
    fn merging_adds_every_cell() {
        let (mut a, mut b) = (Histogram::default(), Histogram::default());
        for (i, x) in [0.0, 0.5, 63.99, 1e10, 1e11].into_iter().enumerate() {
            for _ in 0..=i {
                a.add(x);
            }
            b.add(x);
        }
        let mut whole = a.clone();
        whole.merge(&b).unwrap();
        let sums = a.cells.iter().zip(&b.cells).map(|(a, b)| a + b);
        assert!(whole.cells.iter().copied().eq(sums));
        assert_eq!((whole.count(), *whole.cells.last().unwrap()), (20, 11));
        a.cells[7] = u64::MAX;
        b.cells[7] = 1;
        assert_eq!(a.merge(&b), None);
    }
}
