//! Prediction sets: how many hold the true class, and how large they are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Counts of prediction sets. Merging adds them up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetTally {
    /// Rows with a set.
    pub rows: u64,
    /// Of these, rows whose set holds the true class.
    pub covered: u64,
    /// How many sets hold so many classes.
    pub sizes: BTreeMap<usize, u64>,
}

impl SetTally {
    /// Whether no row had a set.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds the set of a row with this label.
    pub(super) fn add(&mut self, set: &[usize], label: usize) {
        self.rows += 1;
        self.covered += u64::from(set.contains(&label));
        *self.sizes.entry(set.len()).or_default() += 1;
    }

    /// Adds the sets of other rows; none where there are more than can be counted.
    pub(super) fn merge(&mut self, other: &SetTally) -> Option<()> {
        self.rows = self.rows.checked_add(other.rows)?;
        self.covered = self.covered.checked_add(other.covered)?;
        for (&size, &count) in &other.sizes {
            let own = self.sizes.entry(size).or_default();
            *own = own.checked_add(count)?;
        }
        Some(())
    }

    /// Whether the counts can come from rows over so many classes.
    pub(super) fn is_sound(&self, classes: usize) -> bool {
        let total = self
            .sizes
            .values()
            .try_fold(0u64, |sum, n| sum.checked_add(*n));
        let sizes = self
            .sizes
            .iter()
            .all(|(&size, &n)| size <= classes && n > 0);
        total == Some(self.rows) && self.covered <= self.rows && sizes
    }

    /// The mean number of classes in a set.
    pub(super) fn mean_size(&self) -> f64 {
        let sum: f64 = self
            .sizes
            .iter()
            .map(|(&size, &n)| size as f64 * n as f64)
            .sum();
        sum / self.rows as f64
    }
}
