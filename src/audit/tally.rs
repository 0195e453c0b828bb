//! Everything that is remembered of a log: counts, exact sums and a bounded number of rows.
//!
//! Tallies of shards, in any order and by any number of threads, merge to the tally of one pass
//! over everything, to the last bit; the report is a function of the tally alone.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::evidence_tally::{EvidenceTally, WithEvidence};
use super::grid::Grid;
use super::item_tally::ItemTally;
use super::kept::{Reason, Source, Unusable, Worst};
use super::outcome::{Input, ModelUsed};
use super::row::{self, Classes, Refusal, Row};
use crate::aggregate::Method;
use crate::calibration::{CalibrationError, Evaluation};
use crate::latent::Confidence;
use crate::log::Prediction;
use crate::model::{CalibrationFile, LatentModel};
use crate::simplex::Distribution;

/// What must agree for two tallies to be of one log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Names of the classes, or their numbers.
    pub classes: Vec<String>,
    /// Whether these are names.
    pub named: bool,
    /// Number of equal-width bins.
    pub bins: usize,
    /// How far the sum of a distribution may be from one.
    pub tolerance: f64,
    /// How the answer is said to follow from the factors: `spn`, `uniform`, or nothing.
    pub method: String,
    /// How weights are said to follow from posteriors: the name of a [`Confidence`], or `none`.
    pub confidence: String,
    /// What gave factors to items that were logged without.
    pub model: Option<ModelUsed>,
    /// SHA-256 of the calibration map that answers were passed through before they were scored.
    pub calibration: Option<String>,
}

/// How rows are read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// What messages call the answer.
    pub answer_field: &'a str,
    /// The classes of the log.
    pub classes: &'a Classes,
    /// A map that answers are passed through before they are scored.
    pub calibration: Option<&'a CalibrationFile>,
    /// A model that gives factors to items that were logged without.
    pub latent: Option<&'a LatentModel>,
}

/// A part of what the model is known by.
fn used<T>(shape: &Shape, part: impl Fn(&ModelUsed) -> &T) -> Option<&T> {
    shape.model.as_ref().map(part)
}

/// The most probable class; the first of them on a tie.
pub(super) fn argmax(p: &[f64]) -> usize {
    (1..p.len()).fold(0, |best, i| if p[i] > p[best] { i } else { best })
}

/// Confidences, and whether they were right, on their way into the grid. It is larger than the
/// caches next to a core: filled in a loop of its own, many of its cells are fetched at a time, and
/// not one a row.
pub(super) type Waiting = Vec<(f64, bool)>;

/// Everything that is remembered of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// What its rows have in common.
    pub shape: Shape,
    /// What was read, by name.
    pub inputs: Vec<StoredInput>,
    /// Rows that could not be used.
    pub unusable: Unusable,
    /// Rows whose numbers could be read and were checked to be distributions.
    pub checked: u64,
    /// Of these, rows that are none.
    pub invalid: u64,
    /// Those among them that are furthest from a sum of one.
    pub worst_sums: Worst,
    /// Predictions that could be scored.
    pub scores: Evaluation,
    /// Their confidence and correctness on a fine grid.
    pub grid: Grid,
    /// Rows with logged evidence.
    pub evidence: EvidenceTally,
    /// The single items of evidence.
    pub items: ItemTally,
}

/// One file or stream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredInput {
    /// Its name.
    pub name: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Rows that are not blank.
    pub rows: u64,
    /// Rows whose prediction could be scored.
    pub usable: u64,
}

/// Why tallies cannot be merged.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MergeError {
    /// They were made with other settings, or of logs with other classes.
    Unlike {
        /// What differs.
        what: &'static str,
    },
    /// The same input is in both.
    Twice {
        /// Its name.
        name: String,
    },
    /// More rows than can be counted.
    TooMany,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Unlike { what } => write!(
                f,
                "they differ in {what}, so they are not parts of one log; run all with the same \
                 settings"
            ),
            MergeError::Twice { name } => {
                write!(f, "{name} is in both, and no row may count twice")
            }
            MergeError::TooMany => write!(f, "more rows than can be counted"),
        }
    }
}

impl std::error::Error for MergeError {}

impl Tally {
    /// Nothing yet.
    ///
    /// # Errors
    /// Those of [`Evaluation::new`].
    pub fn new(shape: Shape) -> Result<Self, CalibrationError> {
        Ok(Tally {
            scores: Evaluation::new(shape.classes.len(), shape.bins)?,
            grid: Grid::default(),
            shape,
            inputs: Vec::new(),
            unusable: Unusable::default(),
            checked: 0,
            invalid: 0,
            worst_sums: Worst::default(),
            evidence: EvidenceTally::default(),
            items: ItemTally::default(),
        })
    }

    /// How many predictions could be scored.
    pub fn usable(&self) -> u64 {
        self.scores.top.count()
    }

    /// The inputs as a report has them.
    pub fn inputs(&self) -> Vec<Input> {
        let input = |input: &StoredInput| Input {
            name: input.name.clone(),
            sha256: input.sha256.clone(),
            rows: input.rows,
            usable: input.usable,
        };
        self.inputs.iter().map(input).collect()
    }

    /// Adds one row: what it says, and its line, by whose content rows with evidence are sampled
    /// (none in tables, which hold no evidence). Those who wait are added by [`Tally::settle`].
    pub(super) fn add(
        &mut self,
        at: Source<'_>,
        line: &[u8],
        said: Result<Prediction<'_>, Refusal>,
        reading: Reading<'_>,
        waiting: &mut Waiting,
    ) {
        let tolerance = self.shape.tolerance;
        let row = said.and_then(|prediction| {
            row::check(
                prediction,
                reading.classes,
                tolerance,
                reading.answer_field,
                reading.latent,
            )
        });
        match row {
            Ok(row) => {
                self.checked += 1;
                self.add_row(at, line, row, reading.calibration, waiting);
            }
            Err(refusal) => self.refuse(at, refusal),
        }
    }

    /// Adds a prediction that names class `named`, with entries in `[0, 1]`, to all but the grid, for
    /// which it waits.
    ///
    /// # Errors
    /// Where there is no class `named` or `label`.
    pub(super) fn score(
        &mut self,
        p: &[f64],
        named: usize,
        label: usize,
        waiting: &mut Waiting,
    ) -> Result<(), CalibrationError> {
        self.scores.add_named(p, named, label)?;
        if let Some(&confidence) = p.get(named) {
            waiting.push((confidence, named == label));
        }
        Ok(())
    }

    /// Adds to the grid what waits for it.
    pub(super) fn settle(&mut self, waiting: &mut Waiting) {
        for (confidence, correct) in waiting.drain(..) {
            self.grid.add(confidence, correct);
        }
    }

    fn refuse(&mut self, at: Source<'_>, refusal: Refusal) {
        if let Some((sum, id)) = &refusal.invalid {
            self.checked += 1;
            self.invalid += 1;
            self.worst_sums.add(sum - 1.0, at, id);
        }
        let Refusal {
            reason,
            field,
            message,
            ..
        } = refusal;
        self.unusable.add(at, reason, || (field, message));
    }

    fn add_row(
        &mut self,
        at: Source<'_>,
        line: &[u8],
        row: Row<'_>,
        calibration: Option<&CalibrationFile>,
        waiting: &mut Waiting,
    ) {
        let label = match row.label {
            Ok(label) => label,
            Err(refusal) => return self.refuse(at, refusal),
        };
        let method = Method::OF_FACTORS
            .into_iter()
            .find(|method| method.name() == self.shape.method);
        let logged_answer = row.answer.is_some();
        let answer = match row.evidence {
            Some((factors, weights)) => {
                let evidence = WithEvidence {
                    at,
                    id: &row.id,
                    line,
                    label,
                    factors,
                    weights,
                };
                match self.evidence.add(evidence, row.answer, method) {
                    Ok(answer) => answer,
                    Err(error) => {
                        let refusal = (String::from("evidence"), error.to_string());
                        return self.unusable.add(at, Reason::Contradiction, || refusal);
                    }
                }
            }
            None => row.answer,
        };
        let Some(answer) = answer else {
            let message = "there is no answer, and no method by which to compute it";
            let refusal = || (String::from("line"), String::from(message));
            return self.unusable.add(at, Reason::NoAnswer, refusal);
        };
        let asked = Confidence::from_name(&self.shape.confidence);
        self.items.add(at, &row.id, &row.items, asked);
        let logged = row.uncertainty.as_ref();
        let samples = row.samples.as_deref();
        self.evidence
            .add_samples(at, &row.id, &answer, samples, logged);
        let scored = match calibration {
            None => Ok((argmax(&answer), answer)),
            Some(file) => {
                let p = if logged_answer {
                    // As a map is fitted to it.
                    Distribution::from_rounded(answer, &self.shape.tolerance)
                } else {
                    // As `infer` passes it on, not divided by its sum a second time.
                    Distribution::new(answer)
                };
                p.map_err(|error| error.to_string())
                    .and_then(|p| file.apply(&p).map_err(|error| error.to_string()))
                    .map(|calibrated| (calibrated.class, calibrated.distribution.into_vec()))
            }
        };
        // The entries were checked to lie in [0, 1].
        let added = scored.and_then(|(class, p)| {
            let added = self.score(&p, class, label, waiting);
            added.map_err(|error| error.to_string())
        });
        if let Err(message) = added {
            let refusal = || (String::from("line"), message);
            self.unusable.add(at, Reason::NotADistribution, refusal);
        }
    }

    /// Adds everything that `other` holds.
    ///
    /// # Errors
    /// [`MergeError`]; the tally is of no further use then.
    pub fn merge(&mut self, other: &Tally) -> Result<(), MergeError> {
        let (a, b) = (&self.shape, &other.shape);
        for (equal, what) in [
            (
                a.classes == b.classes && a.named == b.named,
                "their classes",
            ),
            (a.bins == b.bins, "--bins"),
            (a.tolerance == b.tolerance, "--tolerance"),
            (a.method == b.method, "--method"),
            (a.confidence == b.confidence, "--confidence"),
            (used(a, |m| &m.sha256) == used(b, |m| &m.sha256), "--model"),
            (
                used(a, |m| &m.samples) == used(b, |m| &m.samples),
                "--samples",
            ),
            (used(a, |m| &m.seed) == used(b, |m| &m.seed), "--seed"),
            (a.calibration == b.calibration, "--calibration"),
        ] {
            if !equal {
                return Err(MergeError::Unlike { what });
            }
        }
        for input in &other.inputs {
            let place = self.inputs.partition_point(|have| have < input);
            let same = |have: &StoredInput| have.name == input.name && have.sha256 == input.sha256;
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
        self.unusable.merge(&other.unusable);
        for (a, b) in [
            (&mut self.checked, other.checked),
            (&mut self.invalid, other.invalid),
        ] {
            *a = a.checked_add(b).ok_or(MergeError::TooMany)?;
        }
        self.worst_sums.merge(&other.worst_sums);
        self.scores
            .merge(&other.scores)
            .map_err(|_| MergeError::TooMany)?;
        self.grid
            .merge(&other.grid)
            .and_then(|()| self.evidence.merge(&other.evidence))
            .and_then(|()| self.items.merge(&other.items))
            .ok_or(MergeError::TooMany)
    }
}
