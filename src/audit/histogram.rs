//! Quantiles of numbers that are not negative, in constant memory.

use serde::{Deserialize, Serialize};

/// Cells a unit: a quantile is known to 1/64.
pub const PER_UNIT: usize = 64;
/// Numbers from here on share the last cell.
pub const LARGEST: usize = 64;

/// Counts of numbers in `[0, ∞]`, in cells of width `1/`[`PER_UNIT`] up to [`LARGEST`].
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
        if cells.len() != PER_UNIT * LARGEST + 1 {
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
            cells: vec![0; PER_UNIT * LARGEST + 1],
        }
    }
}

impl Histogram {
    /// Counts a number; NaN and numbers below zero count as zero.
    pub fn add(&mut self, x: f64) {
        // The cast saturates: infinity goes to the last cell, NaN to the first.
        let cell = ((x * PER_UNIT as f64) as usize).min(self.cells.len() - 1);
        self.cells[cell] += 1;
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

    /// The lower end of the first cell up to which `enough` of the numbers (given how many lie in
    /// this cell and below) have come; none where they never have. `enough` must stay true once it
    /// is.
    pub fn first(&self, enough: impl Fn(u64) -> bool) -> Option<f64> {
        let sums: Vec<u64> = self
            .cells
            .iter()
            .scan(0, |sum, n| {
                *sum += n;
                Some(*sum)
            })
            .collect();
        let cell = sums.partition_point(|&sum| !enough(sum));
        (cell < sums.len()).then(|| cell as f64 / PER_UNIT as f64)
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
        let median = h.first(|below| below >= 501).unwrap();
        assert!((median - 5.0).abs() <= 1.0 / PER_UNIT as f64);
        assert_eq!(h.first(|below| below >= 1002), Some(LARGEST as f64));
        assert_eq!(h.first(|below| below > 1002), None);
    }

    #[test]
    fn merging_adds_every_cell() {
        let (mut a, mut b) = (Histogram::default(), Histogram::default());
        for (i, x) in [0.0, 0.5, 63.99, 64.0, 1e9].into_iter().enumerate() {
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
