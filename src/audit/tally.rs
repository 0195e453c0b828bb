//! What an audit keeps of a log: counts, exact sums and a bounded number of rows.
//!
//! Tallies of shards, in any order and by any number of threads, merge to the tally of one pass
//! over everything, to the last bit; the report is a function of the tally alone.

use serde::{Deserialize, Serialize};

use super::class_tally::ClassTally;
use super::clusters::{Clusters, RowValues, entity_hash};
use super::evidence_tally::{EvidenceTally, WithEvidence};
use super::grid::Grid;
use super::item_tally::ItemTally;
use super::listed::{Source, Unusable, Worst};
use super::outcome::{Input, ModelUsed};
use super::sample::{line_hash, row_hash};
use super::set_tally::SetTally;
use super::slices::Slices;
use super::sources::{self, SourcePart};
use crate::aggregate::Method;
use crate::answer::Answerer;
use crate::calibration::{CalibrationError, Evaluation, RowScores, ScoredRow};
use crate::latent::Confidence;
use crate::log::{PlainRow, Prediction, Reason, Row, RowError, RowRules, logged_set};
use crate::simplex::Distribution;

/// What must agree for two tallies to be of one log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TallySettings {
    /// Names of the classes, or their numbers.
    pub classes: Vec<String>,
    /// Whether these are names.
    pub named: bool,
    /// Number of equal-width bins.
    pub bins: usize,
    /// How far the sum of a distribution may be from one.
    pub tolerance: f64,
    /// Whether it may be further where the digits that were written explain it.
    pub digits: bool,
    /// Whether rows without an answer get the one that follows from their evidence.
    pub from_evidence: bool,
    /// How the answer follows from the factors: the name of a [`Method`], or `none`.
    pub method: String,
    /// The prior that the method uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Vec<f64>>,
    /// How weights follow from posteriors: the name of a [`Confidence`], or `none`.
    pub confidence: String,
    /// The model that gave factors to items without.
    pub model: Option<ModelUsed>,
    /// SHA-256 of the calibration map that answers were passed through before they were scored.
    pub calibration: Option<String>,
    /// The fields by which there are slices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// Whether there are slices by pairs of these fields too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub segments: bool,
    /// The options of a command line that say how the log is read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reading: String,
}

impl TallySettings {
    /// How the answer follows from the factors, if it does.
    pub fn method(&self) -> Option<Method> {
        self.method.parse().ok()
    }
}

/// How rows are read and judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    /// What rows are checked against.
    pub row: RowRules<'a>,
    /// What answers evidence.
    pub answerer: &'a Answerer,
    /// Whether the answer follows from the factors.
    pub compare: bool,
    /// How weights follow from posteriors, if they do.
    pub confidence: Option<Confidence>,
}

/// Brier scores, from 0 to 2, are counted in so many steps.
pub(super) const BRIER_STEPS: usize = 1024;

/// So many rows are counted at a time.
const MOST_WAITING: usize = 1 << 10;

/// The most probable class; the first of them on a tie.
pub(super) fn argmax(p: &[f64]) -> usize {
    (1..p.len()).fold(0, |best, i| if p[i] > p[best] { i } else { best })
}

/// Rows on their way to where they are counted, what is kept of all of them one after the other: what
/// one loop touches is then near, or many of its cells are fetched at a time, and not one a row.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The rows. Those that have been counted have their scores.
    pub rows: Vec<ScoredRow>,
    /// The entity of each.
    pub entities: Vec<Option<u64>>,
    /// The probabilities of all these rows.
    pub probabilities: Vec<f64>,
    /// How many of them have been counted. They are kept where there are slices.
    pub settled: usize,
    pub sliced: bool,
    /// What rows say of their sources of evidence, where there are slices by source.
    pub sources: Option<Vec<(usize, Vec<SourcePart>)>>,
}

impl Waiting {
    /// A row whose scores are computed later.
    #[inline]
    fn push(&mut self, entity: Option<u64>, named: usize, label: usize) {
        self.rows.push(ScoredRow {
            named,
            label,
            scores: RowScores::default(),
        });
        self.entities.push(entity);
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.entities.clear();
        self.probabilities.clear();
        self.settled = 0;
    }
}

/// Scored predictions, of a log or of a slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored<'a> {
    pub scores: &'a Evaluation,
    pub grid: &'a Grid,
}

impl Scored<'_> {
    /// How many there are.
    pub(super) fn usable(&self) -> u64 {
        self.scores.top.count()
    }

    /// Number of equal-width bins.
    pub(super) fn bins(&self) -> usize {
        self.scores.top.bins().len()
    }
}

/// What an audit keeps of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// What its rows have in common.
    pub settings: TallySettings,
    /// What was read, by name.
    pub inputs: Vec<Input>,
    /// Rows that could not be used.
    pub unusable: Unusable,
    /// Rows whose numbers could be read and were checked to be distributions.
    pub checked: u64,
    /// Rows that failed validation.
    pub invalid: u64,
    /// Rows whose sum is off by more than the tolerance, which the digits that were written explain.
    pub rounded: u64,
    /// Rows of which only the probability of the positive class was logged.
    pub single: u64,
    /// The invalid rows whose sums are furthest from one.
    pub worst_sums: Worst,
    /// Predictions that could be scored.
    pub scores: Evaluation,
    /// Their confidence and correctness on a fine grid.
    pub grid: Grid,
    /// How well classes are told apart.
    pub by_class: ClassTally,
    /// Their Brier scores, counted in [`BRIER_STEPS`] steps.
    pub briers: Vec<u64>,
    /// Their entities.
    pub clusters: Clusters,
    /// Rows with logged evidence.
    pub evidence: EvidenceTally,
    /// The single items of evidence.
    pub items: ItemTally,
    /// Prediction sets, where there are some.
    #[serde(default, skip_serializing_if = "SetTally::is_empty")]
    pub sets: SetTally,
    /// Slices, where they are asked for.
    #[serde(default, skip_serializing_if = "Slices::is_empty")]
    pub slices: Slices,
}

/// Why tallies cannot be merged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum MergeError {
    /// They were made with other settings, or of logs with other classes.
    #[error(
        "they differ in {setting}, so they are not parts of one log; run all with the same settings"
    )]
    Unlike { setting: &'static str },
    /// The same input is in both.
    #[error("{name} is in both, and no row may count twice")]
    Twice { name: String },
    /// More rows than can be counted.
    #[error("more rows than can be counted")]
    TooMany,
}

impl Tally {
    /// Nothing yet.
    pub(super) fn new(settings: TallySettings) -> Result<Self, CalibrationError> {
        Ok(Tally {
            scores: Evaluation::new(settings.classes.len(), settings.bins)?,
            grid: Grid::default(),
            by_class: ClassTally::new(settings.classes.len()),
            briers: vec![0; BRIER_STEPS],
            clusters: Clusters::default(),
            settings,
            inputs: Vec::new(),
            unusable: Unusable::default(),
            checked: 0,
            invalid: 0,
            rounded: 0,
            single: 0,
            worst_sums: Worst::default(),
            evidence: EvidenceTally::default(),
            items: ItemTally::default(),
            sets: SetTally::default(),
            slices: Slices::default(),
        })
    }

    /// The predictions that could be scored.
    pub(super) fn scored(&self) -> Scored<'_> {
        Scored {
            scores: &self.scores,
            grid: &self.grid,
        }
    }

    /// How many predictions could be scored.
    pub fn usable(&self) -> u64 {
        self.scores.top.count()
    }

    /// Adds one row: what it says, and its line, by which rows with evidence are sampled
    /// (empty in tables, which hold no evidence). [`Tally::settle`] adds what waits.
    pub(super) fn add(
        &mut self,
        at: Source<'_>,
        line: &[u8],
        prediction: Result<Prediction<'_>, RowError>,
        rules: Rules<'_>,
        waiting: &mut Waiting,
    ) {
        match prediction.and_then(|prediction| rules.answerer.row(prediction, rules.row)) {
            Ok(row) => {
                self.checked += 1;
                self.rounded += u64::from(row.tolerance > rules.row.tolerance.least());
                self.single += u64::from(row.single);
                if let Err(error) = self.add_row(at, line, row, rules, waiting) {
                    self.reject(at, error);
                }
            }
            Err(error) => self.reject(at, error),
        }
    }

    /// Adds a row of the ordinary kind, which is all that is known of it: [`Tally::add`] without a
    /// calibration map.
    /// Its probabilities are the last of those that wait.
    #[inline]
    pub(super) fn add_plain(&mut self, row: &PlainRow<'_>, waiting: &mut Waiting) {
        self.checked += 1;
        self.single += u64::from(row.single);
        let start = waiting.probabilities.len() - self.settings.classes.len();
        let p = waiting.probabilities.get(start..).unwrap_or_default();
        let named = argmax(p);
        // Its entries lie in [0, 1], and its label is a class.
        debug_assert!(self.scores.check_row(p, named, row.label).is_ok());
        waiting.push(entity_hash(&row.entity), named, row.label);
    }

    /// Has a prediction of an entity that names class `named` wait to be counted by [`Tally::settle`].
    ///
    /// # Errors
    /// Where there is no class `named` or `label`, or an entry is outside `[0, 1]`.
    pub(super) fn score(
        &mut self,
        entity: Option<u64>,
        p: &[f64],
        named: usize,
        label: usize,
        waiting: &mut Waiting,
    ) -> Result<(), CalibrationError> {
        self.scores.check_row(p, named, label)?;
        waiting.push(entity, named, label);
        waiting.probabilities.extend_from_slice(p);
        Ok(())
    }

    /// Counts what waits. To be called now and then: it is best for a thousand rows at a time.
    pub(super) fn settle(&mut self, waiting: &mut Waiting) {
        let classes = self.settings.classes.len().max(1);
        let new = waiting.settled;
        let rows = waiting.rows.get_mut(new..).unwrap_or_default();
        let entities = waiting.entities.get(new..).unwrap_or_default();
        let p = waiting.probabilities.get(new * classes..);
        let p = p.unwrap_or_default();
        for ((rows, entities), p) in rows
            .chunks_mut(MOST_WAITING)
            .zip(entities.chunks(MOST_WAITING))
            .zip(p.chunks(MOST_WAITING * classes))
        {
            RowScores::fill(rows, p, classes);
            self.count(rows, entities, p);
        }
        waiting.settled = waiting.rows.len();
        if !waiting.sliced {
            waiting.clear();
        }
    }

    fn count(&mut self, rows: &[ScoredRow], entities: &[Option<u64>], p: &[f64]) {
        let classes = self.settings.classes.len().max(1);
        let added = self.scores.add_rows(p, rows);
        // They were checked, and there are not 2⁶⁴ rows.
        debug_assert!(added.is_ok());
        for (row, p) in rows.iter().zip(p.chunks_exact(classes)) {
            self.by_class.add(p, row.named, row.label);
        }
        for row in rows {
            let step = (row.scores.brier * (BRIER_STEPS / 2) as f64) as usize;
            self.briers[step.min(BRIER_STEPS - 1)] += 1;
        }
        let named = |(row, p): (&ScoredRow, &[f64])| p.get(row.named).copied().unwrap_or_default();
        let confidences = || rows.iter().zip(p.chunks_exact(classes)).map(named);
        for (row, confidence) in rows.iter().zip(confidences()) {
            self.grid.add(confidence, row.named == row.label);
        }
        let values = rows.iter().zip(confidences()).map(|(row, confidence)| {
            RowValues::new(confidence, row.named == row.label, row.scores)
        });
        self.clusters.add_all(entities, values);
    }

    fn reject(&mut self, at: Source<'_>, error: RowError) {
        if let Some((sum, id)) = &error.invalid {
            self.checked += 1;
            self.invalid += 1;
            self.worst_sums.add(sum - 1.0, at, id);
        }
        self.unusable.add(at, error);
    }

    fn add_row(
        &mut self,
        at: Source<'_>,
        line: &[u8],
        mut row: Row<'_>,
        rules: Rules<'_>,
        waiting: &mut Waiting,
    ) -> Result<(), RowError> {
        let label = row.label.clone()?;
        let own = match rules.compare {
            true => rules.answerer.aggregate(&mut row)?,
            false => None,
        };
        let logged_answer = row.answer.is_some();
        let tolerance = row.tolerance;
        let sets = rules
            .answerer
            .calibration()
            .and_then(|file| file.map.sets());
        let weights = match (sets, &row.evidence) {
            (Some(_), Some(entity)) => Some(entity.weights.clone()),
            _ => None,
        };
        let sources = match (&waiting.sources, &row.evidence) {
            (Some(_), Some(entity)) => {
                let row = row_hash(line_hash(line), at);
                sources::parts(entity, row, label, own.as_ref(), rules.answerer)
            }
            _ => Vec::new(),
        };
        let answer = match row.evidence {
            Some(entity) => {
                let evidence = WithEvidence {
                    at,
                    line,
                    label,
                    entity,
                };
                self.evidence.add(evidence, row.answer, own, rules.answerer)
            }
            None => row.answer,
        };
        let Some(answer) = answer else {
            let what = "there is no answer, and none can be computed";
            return Err(RowError::new(Reason::NoAnswer, "line", what));
        };
        self.items.add(at, &row.id, &row.items, rules.confidence);
        let (logged, samples) = (row.uncertainty.as_ref(), row.samples.as_deref());
        self.evidence
            .add_samples(at, &row.id, &answer, samples, logged);
        // The entries were checked to lie in [0, 1], so that nothing below fails but for rounding.
        let unscored = |message: String| RowError::new(Reason::NotADistribution, "line", message);
        let mut set = None;
        let (class, p) = match rules.answerer.calibration() {
            None => (argmax(&answer), answer),
            Some(file) => {
                let p = if logged_answer {
                    // As a map is fitted to it.
                    Distribution::from_rounded(answer, &tolerance)
                } else {
                    // As `infer` passes it on, not divided by its sum a second time.
                    Distribution::new(answer)
                };
                let p = p.map_err(|error| unscored(error.to_string()))?;
                set = file
                    .set(&p, weights.as_deref())
                    .map_err(|error| unscored(error.to_string()))?;
                let calibrated = file
                    .apply(&p)
                    .map_err(|error| unscored(error.to_string()))?;
                (calibrated.class, calibrated.distribution.into_vec())
            }
        };
        if sets.is_none() {
            set = logged_set(line, rules.row.classes)?;
        }
        let scored = self.score(entity_hash(&row.id), &p, class, label, waiting);
        scored.map_err(|error| unscored(error.to_string()))?;
        if let Some(set) = set {
            self.sets.add(&set, label);
        }
        if let Some(of_rows) = &mut waiting.sources
            && !sources.is_empty()
        {
            of_rows.push((waiting.rows.len() - 1, sources));
        }
        Ok(())
    }

    /// Adds everything that `other` holds.
    ///
    /// # Errors
    /// [`MergeError`]; the tally is of no further use then.
    pub fn merge(&mut self, other: &Tally) -> Result<(), MergeError> {
        let (a, b) = (&self.settings, &other.settings);
        let model = |settings: &TallySettings| {
            settings
                .model
                .clone()
                .map(|m| (m.sha256, m.samples, m.seed))
        };
        let (mine, theirs) = (model(a).unwrap_or_default(), model(b).unwrap_or_default());
        for (equal, setting) in [
            (a.classes == b.classes && a.named == b.named, "classes"),
            (a.bins == b.bins, "bins"),
            (a.tolerance == b.tolerance, "tolerance"),
            (a.digits == b.digits, "tolerance"),
            (a.from_evidence == b.from_evidence, "answer-from-evidence"),
            (a.method == b.method, "method"),
            (a.prior == b.prior, "prior"),
            (a.confidence == b.confidence, "confidence"),
            (mine.0 == theirs.0, "model"),
            (mine.1 == theirs.1, "samples"),
            (mine.2 == theirs.2, "seed"),
            (a.calibration == b.calibration, "calibration"),
            (a.by == b.by, "by"),
            (a.segments == b.segments, "segments"),
        ] {
            if !equal {
                return Err(MergeError::Unlike { setting });
            }
        }
        // Parts that were read with other options but agree in all of the above: the same one in any order.
        if other.settings.reading > self.settings.reading {
            self.settings.reading.clone_from(&other.settings.reading);
        }
        for input in &other.inputs {
            let place = self.inputs.partition_point(|have| have < input);
            let same = |have: &Input| have.name == input.name && have.sha256 == input.sha256;
            if input.rows > 0 && self.inputs.iter().any(same) {
                return Err(MergeError::Twice {
                    name: input.name.clone(),
                });
            }
            self.inputs.insert(place, input.clone());
        }
        self.merge_counts(other)
    }

    /// [`Tally::merge`] for parts of one input.
    pub(super) fn merge_counts(&mut self, other: &Tally) -> Result<(), MergeError> {
        self.merge_rejected(other)?;
        self.scores
            .merge(&other.scores)
            .map_err(|_| MergeError::TooMany)?;
        for (a, b) in self.briers.iter_mut().zip(&other.briers) {
            *a = a.checked_add(*b).ok_or(MergeError::TooMany)?;
        }
        self.grid
            .merge(&other.grid)
            .and_then(|()| self.by_class.merge(&other.by_class))
            .and_then(|()| self.clusters.merge(&other.clusters))
            .and_then(|()| self.evidence.merge(&other.evidence))
            .and_then(|()| self.items.merge(&other.items))
            .and_then(|()| self.sets.merge(&other.sets))
            .and_then(|()| self.slices.merge(&other.slices))
            .ok_or(MergeError::TooMany)
    }

    /// Adds the rows of `other` that could not be used, whatever its classes.
    pub(super) fn merge_rejected(&mut self, other: &Tally) -> Result<(), MergeError> {
        self.unusable.merge(&other.unusable);
        for (a, b) in [
            (&mut self.checked, other.checked),
            (&mut self.invalid, other.invalid),
            (&mut self.rounded, other.rounded),
            (&mut self.single, other.single),
        ] {
            *a = a.checked_add(b).ok_or(MergeError::TooMany)?;
        }
        self.worst_sums.merge(&other.worst_sums);
        Ok(())
    }
}
