//! Audits, and what their reports say.

use std::path::{Path, PathBuf};

use lpf::audit::{
    CHECKS, Check, CheckVerdict, Log, Side, Tally, Undecided, read_state, write_state,
};
use lpf::latent::Confidence;
use lpf::log::{Fields, Format, Limits, LogReader};
use lpf::{Answerer, Audit, AuditReport, CalibrationFile, Method};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{Raised, plain};
use crate::rows::{HeldRows, Rows, Source};
use crate::work::{Stop, run, run_apart};

/// The settings of an audit, by the names of the options of `lpf audit`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    classes: Option<Vec<String>>,
    bins: Option<usize>,
    by: Vec<String>,
    segments: bool,
    tolerance: Option<f64>,
    prior: Option<Vec<f64>>,
    limits: Vec<(String, Option<f64>)>,
    undecided_fails: bool,
    strict: bool,
    independent_rows: bool,
    seed: u64,
    method: Option<String>,
    confidence: Option<String>,
    model: Option<PathBuf>,
    aggregator: Option<PathBuf>,
    samples: usize,
    /// The content of a calibration file.
    calibration: Option<String>,
    answer_from_evidence: bool,
    label: Option<String>,
    id_column: Option<String>,
    probs: Option<Vec<String>>,
    positive: Option<String>,
    threads: Option<usize>,
}

/// Something to audit.
#[derive(FromPyObject)]
pub(crate) enum Given {
    Rows(Py<Rows>),
    Report(Py<Report>),
    /// JSON lines, and what they are called.
    Lines(String, Vec<u8>),
    File(PathBuf),
}

/// The same, ready to be read without the interpreter.
enum Part<'a> {
    Rows(&'a str, Source<'a>),
    Tally(&'a Tally),
    Lines(&'a str, &'a [u8]),
    File(&'a Path),
}

impl Given {
    /// Keeps what Python owns as it is.
    fn hold<'py>(&'py self, py: Python<'py>) -> PyResult<Holding<'py>> {
        let held = match self {
            Given::Rows(rows) => Some(rows.get().hold(py)?),
            _ => None,
        };
        Ok(Holding(self, held))
    }
}

struct Holding<'py>(&'py Given, Option<HeldRows<'py>>);

impl Holding<'_> {
    fn part(&self) -> Part<'_> {
        match (self.0, &self.1) {
            (Given::Rows(rows), Some(held)) => Part::Rows(rows.get().name(), held.source()),
            (Given::Rows(rows), None) => Part::Lines(rows.get().name(), b""),
            (Given::Report(report), _) => Part::Tally(&report.get().tally),
            (Given::Lines(name, bytes), _) => Part::Lines(name, bytes),
            (Given::File(path), _) => Part::File(path),
        }
    }
}

/// What rows in memory are called unless they are given a name.
const UNNAMED: &str = "rows";

impl Part<'_> {
    fn name(&self) -> &str {
        match self {
            Part::Rows(name, _) | Part::Lines(name, _) => name,
            Part::Tally(_) => "an audit",
            Part::File(path) => path.to_str().unwrap_or_default(),
        }
    }

    fn log(&self, settings: &Settings) -> Log<'_> {
        let log = self.unnamed(settings);
        match self.name() {
            UNNAMED => log,
            _ => log.of_file(),
        }
    }

    fn unnamed(&self, settings: &Settings) -> Log<'_> {
        match self {
            Part::Rows(name, rows) => Log::reader(*name, LogReader::rows(rows.clone())),
            Part::Tally(tally) => Log::tally(self.name(), (*tally).clone()),
            Part::Lines(name, bytes) => {
                Log::stream(*name, *bytes).format(Format::json_lines("probs"))
            }
            Part::File(path) => Log::from(*path).format(settings.format()),
        }
    }
}

impl Settings {
    /// How a file is read.
    fn format(&self) -> Format {
        Format {
            kind: None,
            fields: Fields {
                label: self.label.clone(),
                id: self.id_column.clone(),
                probabilities: self.probs.clone(),
                positive: self.positive.clone(),
                ..Fields::default()
            },
        }
    }

    fn answerer(&self, py: Python<'_>) -> PyResult<Answerer> {
        let method: Method = match &self.method {
            Some(name) => name
                .parse()
                .map_err(|error| plain(py, "SettingError", error))?,
            None => Method::Spn,
        };
        let mut builder = Answerer::builder(method)
            .samples(self.samples)
            .seed(self.seed);
        if let (Some(prior), Method::PriorCorrected) = (&self.prior, method) {
            builder = builder.prior(prior.as_slice());
        }
        if let Some(path) = &self.model {
            builder = builder.model(path.as_path());
        }
        if let Some(path) = &self.aggregator {
            builder = builder.aggregator(path);
        }
        if let Some(map) = &self.calibration {
            builder = builder.calibration(CalibrationFile::from_bytes(map.as_bytes()).raised(py)?);
        }
        builder.build().raised(py)
    }

    /// An audit of a log, with all settings.
    fn audit<'a>(&'a self, log: Log<'a>, answerer: &'a Answerer) -> Audit<'a> {
        let mut audit = Audit::of(log)
            .answerer(answerer)
            .compare(self.method.is_some())
            .confidence(self.confidence())
            .seed(self.seed)
            .by(&self.by)
            .from_evidence(self.answer_from_evidence)
            .segments(self.segments)
            .independent_rows(self.independent_rows)
            .strict(self.strict);
        if let Some(classes) = &self.classes {
            audit = audit.classes(classes);
        }
        if let Some(bins) = self.bins {
            audit = audit.bins(bins);
        }
        if let Some(tolerance) = self.tolerance {
            audit = audit.tolerance(tolerance);
        }
        if let Some(prior) = &self.prior {
            audit = audit.prior(prior.as_slice());
        }
        if self.undecided_fails {
            audit = audit.undecided(Undecided::Fail);
        }
        for (check, value) in &self.limits {
            audit = match value {
                Some(value) => audit.limit(check, *value),
                None => audit.no_limit(check),
            };
        }
        audit
    }

    fn confidence(&self) -> Option<Confidence> {
        match self.confidence.as_deref() {
            Some("reference") => Some(Confidence::Reference),
            Some("reciprocal") => Some(Confidence::Reciprocal),
            Some("exponential") => Some(Confidence::Exponential),
            Some("precision") => Some(Confidence::Precision),
            _ => None,
        }
    }
}

/// An audit that was run: what it found, and all that is needed to merge it with others.
#[pyclass(frozen, module = "lpf._lpf")]
pub(crate) struct Report {
    report: AuditReport,
    tally: Tally,
}

/// Audits all parts of a log as one.
#[pyfunction]
pub(crate) fn audit(
    py: Python<'_>,
    inputs: Vec<Given>,
    baseline: Vec<Given>,
    settings: Settings,
) -> PyResult<Report> {
    let answerer = settings.answerer(py)?;
    let inputs = inputs.iter().map(|given| given.hold(py));
    let inputs = inputs.collect::<PyResult<Vec<_>>>()?;
    let inputs: Vec<Part<'_>> = inputs.iter().map(Holding::part).collect();
    let baseline = baseline.iter().map(|given| given.hold(py));
    let baseline = baseline.collect::<PyResult<Vec<_>>>()?;
    let baseline: Vec<Part<'_>> = baseline.iter().map(Holding::part).collect();
    let threads = settings.threads;
    let read = run(py, threads, |stop: &Stop| {
        tallies(&inputs, &baseline, &settings, &answerer, stop)
    })?;
    let (log, baseline) = read.raised(py)?;
    let judged = run_apart(py, threads, move || {
        judge(log, baseline, &settings, &answerer)
    })?;
    judged.raised(py)
}

/// A tally and what it is of.
type Named = (String, Tally);

/// Reads the log and its baseline once.
fn tallies(
    inputs: &[Part<'_>],
    baseline: &[Part<'_>],
    settings: &Settings,
    answerer: &Answerer,
    stop: &Stop,
) -> lpf::Result<(Named, Vec<Named>)> {
    let look = |_: u64| stop.look();
    let nothing = Part::Lines("", b"");
    let (first, others) = inputs.split_first().unwrap_or((&nothing, &[]));
    let others = others.iter().map(|part| part.log(settings));
    let audit = settings.audit(first.log(settings), answerer);
    let audit = others.fold(audit, Audit::and);
    let tally = audit.progress(&look).tally()?;
    let earlier = baseline.iter().map(|part| {
        let audit = settings.audit(part.log(settings), answerer);
        let tally = audit.progress(&look).tally()?;
        Ok((part.name().to_string(), tally))
    });
    let earlier = earlier.collect::<lpf::Result<_>>()?;
    Ok(((first.name().to_string(), tally), earlier))
}

/// Judges what was read: seconds, where there are many slices, without a place to look for a signal.
fn judge(
    (name, tally): Named,
    baseline: Vec<Named>,
    settings: &Settings,
    answerer: &Answerer,
) -> lpf::Result<Report> {
    let mut audit = settings.audit(Log::tally(name, tally.clone()), answerer);
    for (name, tally) in baseline {
        audit = audit.baseline(Log::tally(name, tally));
    }
    let report = audit.run()?;
    Ok(Report { report, tally })
}

#[pymethods]
impl Report {
    /// The state that [`Report::state`] gave, judged with settings.
    #[staticmethod]
    fn of_state(py: Python<'_>, state: &[u8], settings: Settings) -> PyResult<Report> {
        let tally = read_state(state, &Limits::default()).raised(py)?;
        let answerer = settings.answerer(py)?;
        let named = ("an audit".to_string(), tally);
        let judged = run_apart(py, settings.threads, move || {
            judge(named, Vec::new(), &settings, &answerer)
        })?;
        judged.raised(py)
    }

    /// The bytes of the state that `lpf audit --partial` writes.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| write_state(&self.tally));
        let bytes = bytes.map_err(|error| plain(py, "AuditError", error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn passed(&self) -> bool {
        self.report.passed()
    }

    /// All checks, in their order.
    fn checks<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        all(py, self.report.checks())
    }

    /// What was found in each slice, the worst first.
    fn slices<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let each = self.report.slices.iter().map(|slice| {
            let out = PyDict::new(py);
            out.set_item("by", &slice.by)?;
            out.set_item("values", &slice.values)?;
            out.set_item("n", slice.n)?;
            out.set_item("too_small", slice.too_small)?;
            out.set_item("checks", all(py, &slice.checks)?)?;
            Ok(out)
        });
        each.collect()
    }

    /// What was found of each source of evidence, the one that hurts most first.
    fn sources<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let each = self.report.sources.iter().map(|source| {
            let out = PyDict::new(py);
            out.set_item("id", &source.id)?;
            out.set_item("items", source.items)?;
            out.set_item("rows", source.rows)?;
            out.set_item("weight", source.weight)?;
            out.set_item("effect", format!("{:?}", source.effect).to_lowercase())?;
            out.set_item("accuracy_without", source.without.map(|w| w.accuracy))?;
            out.set_item("log_loss_without", source.without.map(|w| w.log_loss))?;
            out.set_item("sentence", &source.sentence)?;
            out.set_item("checks", all(py, &source.checks)?)?;
            Ok(out)
        });
        each.collect()
    }

    /// The report in one of its formats.
    fn rendered(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let report = &self.report;
        Ok(match format {
            "json" => report.to_json(),
            "html" => report.to_html(),
            "text" => report.to_text(),
            "markdown" => report.to_markdown(),
            "junit" => report.to_junit(),
            "sarif" => report.to_sarif(),
            other => return Err(plain(py, "SettingError", format!("no format {other}"))),
        })
    }
}

fn all<'py>(py: Python<'py>, checks: &[Check]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    checks.iter().map(|one| check(py, one)).collect()
}

/// A check as a dictionary.
fn check<'py>(py: Python<'py>, check: &Check) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("id", check.id)?;
    out.set_item("title", check.title)?;
    out.set_item("estimand", check.estimand)?;
    out.set_item("value", check.value)?;
    let interval = check.interval.map(|i| (i.low, i.high));
    out.set_item("interval", interval)?;
    out.set_item("confidence", check.interval.map(|i| i.confidence))?;
    out.set_item("interval_method", check.interval.map(|i| i.method))?;
    out.set_item("n", check.n)?;
    let limit = check.threshold.map(|t| (side(t.side), t.value));
    out.set_item("limit", limit)?;
    let (verdict, needed, reason) = match &check.verdict {
        CheckVerdict::Pass => ("pass", None, None),
        CheckVerdict::Fail => ("fail", None, None),
        CheckVerdict::Undecided { needed_n } => ("undecided", *needed_n, None),
        CheckVerdict::NotRun { reason } => ("not_run", None, Some(reason.as_str())),
        CheckVerdict::Information => ("information", None, None),
    };
    out.set_item("verdict", verdict)?;
    out.set_item("needed_n", needed)?;
    out.set_item("reason", reason)?;
    out.set_item("stops", check.stops)?;
    out.set_item("sentence", &check.sentence)?;
    out.set_item("next", check.next.as_deref())?;
    Ok(out)
}

fn side(side: Side) -> &'static str {
    match side {
        Side::AtMost => "at most",
        Side::AtLeast => "at least",
        Side::Within => "within",
    }
}

/// The ids of all checks, with their titles.
#[pyfunction]
pub(crate) fn checks() -> Vec<(&'static str, &'static str)> {
    CHECKS.iter().map(|kind| (kind.id, kind.title)).collect()
}
