//! A share of entities, with its confidence interval.

use std::fmt;

use crate::bounds::{BoundError, clopper_pearson};

/// A count among independently drawn entities, with the interval of Clopper and Pearson for the
/// share among all entities of that kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Entities with the property.
    pub count: usize,
    /// Entities in all.
    pub of: usize,
    /// The true share is at least this …
    pub low: f64,
    /// … and at most this, with probability at least `1 − level`.
    pub high: f64,
}

impl Share {
    /// The share, with the two-sided interval at failure probability `level`.
    ///
    /// # Errors
    /// [`BoundError::Parameter`] for `of = 0`, `count > of` or `level` outside `(0, 1)`.
    pub fn new(count: usize, of: usize, level: f64) -> Result<Self, BoundError> {
        let (low, high) = clopper_pearson(count as u64, of as u64, level)?;
        Ok(Share {
            count,
            of,
            low,
            high,
        })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Share {
            count,
            of,
            low,
            high,
        } = self;
        let (low, high) = (100.0 * low, 100.0 * high);
        write!(f, "{count} of {of} entities ({low:.1} % to {high:.1} %)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_is_that_of_scipy() {
        // scipy.stats.binomtest(3, 50).proportion_ci(0.95, 'exact'), SciPy 1.17.1.
        let share = Share::new(3, 50, 0.05).unwrap();
        assert!(
            (share.low - 0.012_548_587_835_334_06).abs() < 1e-12,
            "{}",
            share.low
        );
        assert!(
            (share.high - 0.165_481_946_603_772_9).abs() < 1e-12,
            "{}",
            share.high
        );
        assert_eq!(share.to_string(), "3 of 50 entities (1.3 % to 16.5 %)");
        assert!(Share::new(1, 0, 0.05).is_err() && Share::new(2, 1, 0.05).is_err());
        assert!(Share::new(1, 2, 0.0).is_err());
    }
}
