//! Slices of a log: what is kept of the rows with one value of a field, of a pair of fields, or of the
//! items of one source of evidence.
//!
//! A slice keeps what the checks of calibration and scores need, on a coarser grid than the log itself.
//! Slices of shards add up. There are no more of them than the limit `slices` allows: one more is an
//! error, whatever the order of rows, so that shards and one run agree on that too.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::clusters::{Clusters, RowValues};
use super::grid::Grid;
use super::sources::Source;
use super::tally::Scored;
use crate::calibration::{CalibrationError, Evaluation, ScoredRow};

/// The value of a field, by which a row belongs to a slice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Value {
    /// What the field says, or the period that it lies in.
    Text(String),
    /// The row has no such field, or it is empty.
    Missing,
    /// A list or an object, or no point in time where one was asked for.
    Unreadable,
}

impl Value {
    /// As it is shown.
    pub(super) fn words(&self) -> &str {
        match self {
            Value::Text(text) => text,
            Value::Missing => "(missing)",
            Value::Unreadable => "(unreadable)",
        }
    }
}

/// Counts and exact sums over the rows of a slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Slice {
    pub(super) scores: Evaluation,
    pub(super) grid: Grid,
    pub(super) clusters: Clusters,
}

impl Slice {
    /// No rows yet.
    pub(super) fn new(classes: usize, bins: usize) -> Result<Self, CalibrationError> {
        Ok(Slice {
            scores: Evaluation::new(classes, bins)?,
            grid: Grid::of_slice(),
            clusters: Clusters::of_slice(),
        })
    }

    /// Adds a prediction of an entity whose scores are known.
    pub(super) fn add(
        &mut self,
        entity: Option<u64>,
        p: &[f64],
        row: ScoredRow,
    ) -> Result<(), CalibrationError> {
        self.scores.add_scored(p, row)?;
        if let Some(&confidence) = p.get(row.named) {
            let right = row.named == row.label;
            self.grid.add(confidence, right);
            let values = RowValues::new(confidence, right, row.scores);
            self.clusters.add(entity, values);
        }
        Ok(())
    }

    /// Adds everything that `other` holds; `None` where a count overflows.
    pub(super) fn merge(&mut self, other: &Slice) -> Option<()> {
        self.scores.merge(&other.scores).ok()?;
        self.grid.merge(&other.grid)?;
        self.clusters.merge(&other.clusters)
    }

    /// How many predictions it holds.
    pub(super) fn rows(&self) -> u64 {
        self.scores.top.count()
    }

    pub(super) fn scored(&self) -> Scored<'_> {
        Scored {
            scores: &self.scores,
            grid: &self.grid,
        }
    }

    /// Whether its parts fit each other.
    pub(super) fn fits(&self, classes: usize, bins: usize) -> bool {
        let (scores, n) = (&self.scores, self.rows());
        let mut all = std::iter::once(&scores.top).chain(&scores.classwise);
        let counted = |counts: &[u64]| {
            let sum = counts.iter().try_fold(0u64, |sum, n| sum.checked_add(*n));
            counts.len() == classes && sum == Some(n)
        };
        scores.classwise.len() == classes
            && all.all(|r| r.bins().len() == bins && r.count() == n)
            && counted(&scores.labels)
            && counted(&scores.predicted)
            && scores.impossible <= n
            && self.grid.checked_count() == Some(n)
            && self.grid.width() == Grid::of_slice().width()
            && self.clusters.rows() == Some(n)
    }
}

/// All slices of a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slices {
    /// For each field, and each pair of fields where segments are asked for.
    pub(super) parts: Vec<Part>,
    /// By the id of an item of evidence.
    pub(super) sources: Vec<(Value, Source)>,
}

/// The slices by one field, or by a pair of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// Positions of the fields among those that are asked for.
    pub(super) fields: Vec<usize>,
    /// The values of these fields, and their rows, by rising values.
    pub(super) slices: Vec<(Vec<Value>, Slice)>,
}

/// Merges lists that are sorted by key; `None` where a count overflows.
fn merged<K: Ord + Clone, T: Clone>(
    mine: &mut Vec<(K, T)>,
    theirs: &[(K, T)],
    mut merge: impl FnMut(&mut T, &T) -> Option<()>,
) -> Option<()> {
    let mut all: BTreeMap<K, T> = std::mem::take(mine).into_iter().collect();
    for (key, other) in theirs {
        match all.get_mut(key) {
            Some(own) => merge(own, other)?,
            None => {
                all.insert(key.clone(), other.clone());
            }
        }
    }
    *mine = all.into_iter().collect();
    Some(())
}

impl Slices {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.sources.is_empty()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        let parts = self.parts.iter().map(|part| part.slices.len());
        parts.sum::<usize>() + self.sources.len()
    }

    /// Adds everything that `other`, which has the same fields, holds; `None` where a count overflows.
    pub(super) fn merge(&mut self, other: &Slices) -> Option<()> {
        if self.parts.is_empty() {
            self.parts.clone_from(&other.parts);
        } else {
            for (mine, theirs) in self.parts.iter_mut().zip(&other.parts) {
                merged(&mut mine.slices, &theirs.slices, Slice::merge)?;
            }
        }
        merged(&mut self.sources, &other.sources, Source::merge)
    }

    /// Whether the parts of stored slices fit each other, for a log of `rows` scored rows that is cut
    /// by `by` fields.
    pub(super) fn fits(&self, by: usize, segments: bool, shape: (usize, usize), rows: u64) -> bool {
        let (classes, bins) = shape;
        let part = |part: &Part| {
            let width = part.fields.len();
            let total = part
                .slices
                .iter()
                .try_fold(0u64, |sum, (_, slice)| sum.checked_add(slice.rows()));
            let sorted = part.slices.windows(2).all(|pair| pair[0].0 < pair[1].0);
            let mut slices = part.slices.iter();
            total == Some(rows)
                && sorted
                && slices.all(|(key, slice)| key.len() == width && slice.fits(classes, bins))
        };
        let sorted = self.sources.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let mut sources = self.sources.iter();
        let fields = self.parts.iter().map(|part| part.fields.clone());
        (self.parts.is_empty() && (rows == 0 || by == 0)
            || fields.eq(fields_of_parts(by, segments)))
            && self.parts.iter().all(part)
            && sorted
            && sources.all(|(_, source)| source.fits(classes, bins, rows))
    }
}

/// The fields of each part: each by itself, and with `segments` each pair.
pub(super) fn fields_of_parts(by: usize, segments: bool) -> Vec<Vec<usize>> {
    let singles = (0..by).map(|i| vec![i]);
    let pairs = (0..by).flat_map(|i| (i + 1..by).map(move |j| vec![i, j]));
    singles.chain(pairs.filter(|_| segments)).collect()
}
