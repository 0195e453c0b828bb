//! Sources of evidence: how good each is by itself, and what leaving it out does to the answers.

use serde::{Deserialize, Serialize};

use super::clusters::{Clusters, RowValues};
use super::slices::{Slice, Value};
use super::tally::argmax;
use crate::answer::Answerer;
use crate::calibration::{CalibrationError, RowScores, SMALLEST, ScoredRow};
use crate::log::Entity;
use crate::math::{ExactSum, ln};
use crate::simplex::Distribution;

/// Rows are answered anew without each of their sources as long as items times sources times classes are
/// no more than this: the work on one row stays below that on a thousand usual ones.
const MOST_WORK: usize = 1 << 20;

/// Counts and sums over the items of one source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Source {
    /// Its items as predictions.
    pub(super) items: Slice,
    /// Rows with an item of it.
    pub(super) rows: u64,
    /// Whether a row has several items of it, which may depend on each other.
    pub(super) doubled: bool,
    /// Sum of the weights.
    pub(super) weight: ExactSum,
    /// Sum over the rows of its share of all weights.
    pub(super) share: ExactSum,
    /// Rows that were answered without it.
    pub(super) compared: u64,
    /// Rows in which there is nothing else.
    pub(super) alone: u64,
    /// What leaving it out changes, by entity and by row: where no entity repeats, rows tell more.
    pub(super) change: Clusters,
    pub(super) change_by_row: Clusters,
}

impl Source {
    /// No items yet.
    pub(super) fn new(classes: usize, bins: usize) -> Result<Self, CalibrationError> {
        Ok(Source {
            items: Slice::new(classes, bins)?,
            rows: 0,
            doubled: false,
            weight: ExactSum::new(),
            share: ExactSum::new(),
            compared: 0,
            alone: 0,
            change: Clusters::of_slice(),
            change_by_row: Clusters::of_slice(),
        })
    }

    /// Adds what one row of an entity says of it.
    pub(super) fn add(
        &mut self,
        part: &SourcePart,
        entity: Option<u64>,
        label: usize,
    ) -> Result<(), CalibrationError> {
        let doubled = part.items.len() > 1;
        self.rows += 1;
        self.doubled |= doubled;
        self.share.add(part.share);
        let cluster = match doubled {
            true => entity.or(Some(part.row)),
            false => entity,
        };
        for (factor, weight) in &part.items {
            let p = factor.probabilities();
            let row = ScoredRow {
                named: argmax(p),
                label,
                scores: RowScores::of(p, label),
            };
            self.items.add(cluster, p, row)?;
            self.weight.add(*weight);
        }
        match part.without {
            Without::Alone => self.alone += 1,
            Without::Unknown => {}
            Without::Changed { right, loss } => {
                self.compared += 1;
                let values = RowValues::of_change(right, loss);
                self.change.add(entity, values);
                self.change_by_row.add(None, values);
            }
        }
        Ok(())
    }

    /// Adds everything that `other` holds; `None` where a count overflows.
    pub(super) fn merge(&mut self, other: &Source) -> Option<()> {
        self.items.merge(&other.items)?;
        for (a, b) in [
            (&mut self.rows, other.rows),
            (&mut self.compared, other.compared),
            (&mut self.alone, other.alone),
        ] {
            *a = a.checked_add(b)?;
        }
        self.doubled |= other.doubled;
        self.weight.merge(&other.weight);
        self.share.merge(&other.share);
        self.change.merge(&other.change)?;
        self.change_by_row.merge(&other.change_by_row)
    }

    /// Whether its parts fit each other, in a log of `rows` scored rows.
    pub(super) fn fits(&self, classes: usize, bins: usize, rows: u64) -> bool {
        self.items.fits(classes, bins)
            && self.rows <= rows
            && self.rows <= self.items.rows()
            && (self.doubled || self.rows == self.items.rows())
            && self
                .compared
                .checked_add(self.alone)
                .is_some_and(|n| n <= self.rows)
            && self.change.rows() == Some(self.compared)
            && self.change_by_row.rows() == Some(self.compared)
    }
}

/// What one row says of one source.
#[derive(Clone, Debug)]
pub(super) struct SourcePart {
    /// The id of its items.
    pub id: Value,
    /// A name of the row, for items of one row without an entity.
    row: u64,
    /// Factors and weights.
    items: Vec<(Distribution, f64)>,
    /// The share of all weights of the row.
    share: f64,
    without: Without,
}

/// What the answer is without a source.
#[derive(Clone, Copy, Debug)]
enum Without {
    /// There is no other source.
    Alone,
    /// It was not computed.
    Unknown,
    /// Rightness gained, and log loss saved.
    Changed { right: f64, loss: f64 },
}

/// The sources of a row with evidence that is known as `row`. `own` is the answer that follows from all of it, where it does.
pub(super) fn parts(
    entity: &Entity<'_>,
    row: u64,
    label: usize,
    own: Option<&Distribution>,
    answerer: &Answerer,
) -> Vec<SourcePart> {
    let total: f64 = entity
        .weights
        .iter()
        .copied()
        .collect::<ExactSum>()
        .to_f64();
    let id = |i: usize| match entity.ids.get(i).and_then(Option::as_deref) {
        Some(id) => Value::Text(id.to_string()),
        None => Value::Missing,
    };
    let mut order: Vec<(Value, usize)> = (0..entity.factors.len()).map(|i| (id(i), i)).collect();
    order.sort();
    let groups: Vec<&[(Value, usize)]> = order.chunk_by(|a, b| a.0 == b.0).collect();
    let classes = entity.factors.first().map_or(0, Distribution::classes);
    let work = groups
        .len()
        .saturating_mul(order.len())
        .saturating_mul(classes);
    let own = own.filter(|_| work <= MOST_WORK);
    let part = |group: &&[(Value, usize)]| {
        let items: Vec<(Distribution, f64)> = group
            .iter()
            .map(|(_, i)| (entity.factors[*i].clone(), entity.weights[*i]))
            .collect();
        let weight = items.iter().map(|(_, w)| *w).collect::<ExactSum>().to_f64();
        let without = match own {
            _ if groups.len() == 1 => Without::Alone,
            None => Without::Unknown,
            Some(own) => {
                let left = |i: &usize| !group.iter().any(|(_, other)| other == i);
                changed(&subset(entity, left), label, own, answerer)
            }
        };
        SourcePart {
            id: group[0].0.clone(),
            row,
            items,
            share: if total > 0.0 { weight / total } else { 0.0 },
            without,
        }
    };
    groups.iter().map(part).collect()
}

fn subset<'a>(entity: &Entity<'a>, left: impl Fn(&usize) -> bool) -> Entity<'a> {
    let kept: Vec<usize> = (0..entity.factors.len()).filter(|i| left(i)).collect();
    Entity {
        name: entity.name.clone(),
        classes: entity.classes.clone(),
        label: entity.label,
        ids: kept.iter().map(|&i| entity.ids[i].clone()).collect(),
        factors: kept.iter().map(|&i| entity.factors[i].clone()).collect(),
        weights: kept.iter().map(|&i| entity.weights[i]).collect(),
        posteriors: kept
            .iter()
            .filter_map(|&i| entity.posteriors.get(i).cloned())
            .collect(),
    }
}

fn changed(rest: &Entity<'_>, label: usize, own: &Distribution, answerer: &Answerer) -> Without {
    let Ok(other) = answerer.combine(rest) else {
        return Without::Unknown;
    };
    let right = |p: &Distribution| f64::from(u8::from(argmax(p.probabilities()) == label));
    let loss = |p: &Distribution| {
        let p = p.probabilities().get(label).copied().unwrap_or(0.0);
        -ln(p.max(SMALLEST))
    };
    Without::Changed {
        right: right(&other) - right(own),
        loss: loss(own) - loss(&other),
    }
}
