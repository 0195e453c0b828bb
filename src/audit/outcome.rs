//! The result of an audit: pure data, the same names in every format.
//!
//! Nothing here knows how it will be shown. Serialized as it stands it is the JSON report, whose
//! schema is numbered by [`SCHEMA_VERSION`]. A number that is infinite or undefined is `null` there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::clusters::Repeats;
use crate::log::Reading;

/// The version of the schema: raised by any change of a name or meaning, not by a new name.
pub const SCHEMA_VERSION: u32 = 1;

/// The result of an audit. Rendered by `to_text`, `to_json`, `to_markdown`, `to_junit`, `to_sarif` and
/// `to_html`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AuditReport {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// What made the report.
    pub tool: Tool,
    /// What was read, by name.
    pub inputs: Vec<Input>,
    /// What it was compared with; empty without a baseline.
    pub baseline: Vec<Input>,
    /// Rows that could not be used.
    pub rejected: Rejected,
    /// Whose rows these are: rows of one entity count as one cluster.
    pub entities: Repeats,
    /// The settings that it was made with.
    pub settings: ReportSettings,
    /// How many checks have each verdict.
    pub summary: Summary,
    /// The checks, in a fixed order.
    pub checks: Vec<Check>,
    /// Slices by each field, and by pairs of fields: the worst of each first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<SliceReport>,
    /// Sources of evidence, the one that hurts most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceReport>,
    /// What the plots show.
    pub curves: Curves,
}

/// The rows with one value of a field, or of a pair of fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SliceReport {
    /// The field, or both fields of a pair: `site`, `month(at)`.
    pub by: Vec<String>,
    /// Their values.
    pub values: Vec<String>,
    /// Scored rows.
    pub n: u64,
    /// Whether there are too few rows to judge it.
    pub too_small: bool,
    /// The checks of calibration and scores; none where it is too small.
    pub checks: Vec<Check>,
    /// Confidence against accuracy.
    pub reliability: Vec<ReliabilityPoint>,
}

impl SliceReport {
    /// The check of this id.
    #[must_use]
    pub fn check(&self, id: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.id == id)
    }

    /// Whether a check of it fails.
    #[must_use]
    pub fn fails(&self) -> bool {
        let mut checks = self.checks.iter();
        checks.any(|check| check.verdict == CheckVerdict::Fail)
    }
}

/// The items of evidence with one id, each taken as a prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SourceReport {
    /// The id.
    pub id: String,
    /// Its items.
    pub items: u64,
    /// Rows with an item of it.
    pub rows: u64,
    /// Mean weight of an item.
    pub weight: f64,
    /// Mean share of all weights of a row.
    pub share: f64,
    /// What leaving it out does to the answers; none where that could not be computed.
    pub without: Option<WithoutSource>,
    /// Whether it is shown to help or to hurt.
    pub effect: SourceEffect,
    /// The finding in one plain sentence.
    pub sentence: String,
    /// The checks of calibration and scores of its items; none where there are too few.
    pub checks: Vec<Check>,
    /// Confidence against accuracy of its items.
    pub reliability: Vec<ReliabilityPoint>,
}

impl SourceReport {
    /// The check of this id.
    #[must_use]
    pub fn check(&self, id: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.id == id)
    }
}

/// Answers without a source, compared with those with it, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WithoutSource {
    /// Rows with this source and with another.
    pub rows: u64,
    /// How much accuracy is gained.
    pub accuracy: f64,
    /// All these intervals hold together, over all sources.
    pub accuracy_interval: CheckInterval,
    /// How much clipped log loss is saved, in nats.
    pub log_loss: f64,
    /// Its interval.
    pub log_loss_interval: CheckInterval,
}

/// What a source does to the answers, as far as the log shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceEffect {
    /// Answers are better without it: more accurate or with a smaller log loss, and not worse in the
    /// other.
    Hurts,
    /// More accurate answers without it, but a larger log loss, or the other way round.
    Mixed,
    /// Neither is shown.
    Unclear,
    /// Answers are worse without it.
    Helps,
}

impl AuditReport {
    /// Whether no check fails, nor is undecided where certainty is asked for.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.summary.passed
    }

    /// The checks, in a fixed order.
    #[must_use]
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// The check of this id; `None` where there is none, or where it needs a baseline.
    #[must_use]
    pub fn check(&self, id: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.id == id)
    }
}

/// The program that made a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tool {
    /// `lpf audit`.
    pub name: &'static str,
    /// The version of this crate.
    pub version: &'static str,
}

impl Tool {
    /// This program.
    pub const THIS: Tool = Tool {
        name: "lpf audit",
        version: env!("CARGO_PKG_VERSION"),
    };
}

/// One file, or one stream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name as given; `-` for a stream without a name.
    pub name: String,
    /// Whether it was no file, so that no command can name it.
    pub stream: bool,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Rows that are not blank; a CSV header is not a row.
    pub rows: u64,
    /// Rows whose prediction could be scored.
    pub usable: u64,
    /// Rows whose answer was not logged but computed from their evidence.
    pub computed: u64,
    /// Rows whose sum is off by more than 10⁻⁶, which the digits that were written explain.
    pub rounded: u64,
    /// Rows of which only the probability of the positive class was logged.
    pub single: u64,
    /// What it was read as.
    pub reading: Reading,
    /// Whether the calibration map was fitted on rows of this file; none without a map.
    pub fitted_on: Option<bool>,
}

/// Rows that could not be used: none is dropped without being counted here.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rejected {
    /// Number of rejected rows.
    pub count: u64,
    /// The number of rows for each reason.
    pub reasons: Vec<ReasonCount>,
    /// The first of them, by file and line; at most [`FIRST_REJECTIONS`].
    pub first: Vec<Rejection>,
    /// Why all checks but that of validity are withheld, if they are: too many rows were left out for what
    /// stands in them.
    pub withheld: Option<String>,
}

/// How many rejected rows are listed.
pub const FIRST_REJECTIONS: usize = 20;

/// How many rows were rejected for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReasonCount {
    /// The reason, in a few words.
    pub reason: &'static str,
    /// Number of rows.
    pub count: u64,
}

/// One row that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rejection {
    /// Name of the input.
    pub file: String,
    /// Line, counted from 1.
    pub line: u64,
    /// Where in the line: `evidence[2].factor[1]`, or a column.
    pub field: String,
    /// What is wrong.
    pub message: String,
}

/// The settings that a report was made with.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReportSettings {
    /// Names of the classes; numbers where they have none.
    pub classes: Vec<String>,
    /// Number of equal-width bins, and of equal-mass bins.
    pub bins: usize,
    /// With this probability all intervals of the gated checks hold together.
    pub confidence: f64,
    /// Seed of the simulations.
    pub seed: u64,
    /// How far the sum of a distribution may be from one.
    pub tolerance: f64,
    /// Whether it may be further where the digits that were written explain it, up to 0.01.
    pub tolerance_follows_digits: bool,
    /// SHA-256 of the calibration map that answers were passed through, if any.
    pub calibration: Option<String>,
    /// The function by which weights follow from posteriors, or `none`.
    pub confidence_function: String,
    /// The model that gave factors to items without, if any.
    pub model: Option<ModelUsed>,
    /// The limit of each gated check.
    pub thresholds: BTreeMap<&'static str, Threshold>,
    /// Whether an undecided check, or one with a limit that was asked for and that could not be run,
    /// makes the audit fail.
    pub undecided_fails: bool,
    /// Whether rows were said to be independent though entities may repeat.
    pub independent_rows: bool,
    /// What there are slices by.
    pub by: Vec<String>,
    /// Whether there are slices by pairs of these fields too.
    pub segments: bool,
}

/// A model that gave factors to items that were logged as posteriors or embeddings, and all that
/// these factors depend on beside the items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelUsed {
    /// SHA-256 of its file.
    pub sha256: String,
    /// Samples drawn for an item.
    pub samples: u64,
    /// Seed of all that was drawn.
    pub seed: u64,
}

/// How many checks have each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Whether the audit passed: exit code 0, otherwise 1.
    pub passed: bool,
    /// Checks whose whole interval is on the good side.
    pub pass: usize,
    /// Checks whose whole interval is on the bad side.
    pub fail: usize,
    /// Checks with too few rows to decide.
    pub undecided: usize,
    /// Checks that the log has no data for.
    pub not_run: usize,
    /// Checks without a threshold.
    pub information: usize,
    /// Slices that were judged.
    pub slices: usize,
    /// Slices with a check that fails.
    pub failed_slices: usize,
}

impl Summary {
    /// Counts verdicts.
    pub fn of(checks: &[Check], slices: &[SliceReport]) -> Self {
        let mut summary = Summary::default();
        for check in checks {
            let count = match check.verdict {
                CheckVerdict::Pass => &mut summary.pass,
                CheckVerdict::Fail => &mut summary.fail,
                CheckVerdict::Undecided { .. } => &mut summary.undecided,
                CheckVerdict::NotRun { .. } => &mut summary.not_run,
                CheckVerdict::Information => &mut summary.information,
            };
            *count += 1;
        }
        summary.slices = slices.iter().filter(|slice| !slice.too_small).count();
        summary.failed_slices = slices.iter().filter(|slice| slice.fails()).count();
        let of_slices = slices.iter().flat_map(|slice| &slice.checks);
        summary.passed = !checks.iter().chain(of_slices).any(|check| check.stops);
        summary
    }
}

/// One property of the log, with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// A stable name, for thresholds and for machines: `ece`.
    pub id: &'static str,
    /// A name for people: `Calibration error of the predicted class (ECE)`.
    pub title: &'static str,
    /// What the interval is about: the quantity of the population that the value estimates.
    pub estimand: &'static str,
    /// The value found; `None` where the check was not run.
    pub value: Option<f64>,
    /// A confidence interval for the estimand; `None` where every row was checked and nothing is
    /// estimated, or where there is no valid one.
    pub interval: Option<CheckInterval>,
    /// Number of rows (or items, where the sentence says so).
    pub n: u64,
    /// The limit, if any.
    pub threshold: Option<Threshold>,
    /// The verdict on the interval.
    pub verdict: CheckVerdict,
    /// Whether it makes the audit fail: exit code 1.
    pub stops: bool,
    /// The power against a violation of a stated size, where it is known.
    pub power: Option<Power>,
    /// The finding in one plain sentence.
    pub sentence: String,
    /// What to do about a failure, or to decide: a command or a step.
    pub next: Option<String>,
    /// The worst rows, worst first.
    pub worst: Vec<Offender>,
}

/// An interval, and its confidence level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CheckInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end; infinite where no log bounds the estimand from above.
    pub high: f64,
    /// At least this share of logs drawn alike have an interval that holds the estimand.
    pub confidence: f64,
    /// The method it was computed by.
    pub method: &'static str,
}

/// A limit, and which side of it is good.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Threshold {
    /// Which side is good.
    pub side: Side,
    /// The limit itself, which is good.
    pub value: f64,
}

/// Which values are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Those up to the limit.
    AtMost,
    /// Those from the limit on.
    AtLeast,
    /// Those whose absolute value is at most the limit.
    Within,
}

/// The outcome of a check. It rests on the interval, never on the value alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CheckVerdict {
    /// The whole interval is on the good side.
    Pass,
    /// The whole interval is on the bad side.
    Fail,
    /// The interval holds the limit: there are too few rows.
    Undecided {
        /// How many rows should decide, which at most 1 log in 5 says in error; none where the log does
        /// not tell.
        needed_n: Option<u64>,
    },
    /// The log lacks what this check needs.
    NotRun {
        /// What is missing.
        reason: String,
    },
    /// There is no threshold.
    Information,
}

/// The power of a check.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Power {
    /// The supposed true value.
    pub effect: f64,
    /// The probability that the check then fails, with this number of rows.
    pub probability: f64,
}

/// One of the worst rows of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offender {
    /// Name of the input.
    pub file: String,
    /// Line, counted from 1.
    pub line: u64,
    /// Name of the entity, where it has one.
    pub id: String,
    /// How far off, in the unit of the check.
    pub value: f64,
}

/// What the plots show.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Curves {
    /// Confidence against accuracy, in equal-width bins; empty ones are left out.
    pub reliability: Vec<ReliabilityPoint>,
    /// Error rate among the most confident predictions, by rising coverage.
    pub risk_coverage: Vec<RiskPoint>,
    /// What removing items can do, by their number.
    pub influence: Vec<InfluencePoint>,
    /// Each class by itself; empty with more than 32 classes.
    pub classes: Vec<ClassCurve>,
    /// Rows by true class, and in it by predicted class; empty with more than 64 classes.
    pub confusion: Vec<Vec<u64>>,
}

/// One class against all others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClassCurve {
    /// Its name.
    pub class: String,
    /// Rows in which it was true.
    pub rows: u64,
    /// The share of its predictions that were right; zero where it was never predicted.
    pub precision: f64,
    /// The share of its rows for which it was predicted; zero where it was never true.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f1: f64,
    /// Area under the ROC curve; none where it was never or always true.
    pub auroc: Option<f64>,
    /// Area under the curve of precision over recall; none where it was never true.
    pub average_precision: Option<f64>,
    /// False and true positive rate.
    pub roc: Vec<(f64, f64)>,
    /// Recall and precision.
    pub precision_recall: Vec<(f64, f64)>,
    /// Its probability against how often it was true.
    pub reliability: Vec<ReliabilityPoint>,
}

/// One bin of the reliability diagram.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReliabilityPoint {
    /// The bin holds confidences above this (the first bin: from this on).
    pub lower: f64,
    /// The bin holds confidences up to and including this.
    pub upper: f64,
    /// Predictions in it.
    pub count: u64,
    /// Their mean confidence.
    pub confidence: f64,
    /// The share that was right.
    pub accuracy: f64,
    /// The true share is at least this; all bins together with the settings' confidence.
    pub accuracy_low: f64,
    /// The true share is at most this; all bins together with the settings' confidence.
    pub accuracy_high: f64,
}

/// One point of the risk–coverage curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RiskPoint {
    /// The share of predictions that are kept, the most confident first.
    pub coverage: f64,
    /// Kept are those with about this confidence or more.
    pub confidence: f64,
    /// The share of wrong ones among them.
    pub risk: f64,
}

/// What leaving out items can do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InfluencePoint {
    /// How many items are left out, the worst ones for each entity.
    pub items: u64,
    /// The share of entities whose most probable class changes then.
    pub changed: f64,
    /// Mean over the entities of a bound on how far the answer moves (L1, 0 to 2).
    pub mean_shift: f64,
}
