//! [`Audit`]: what is audited, how, and against which limits.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::by::{By, EVIDENCE};
use super::checks::{CheckSettings, Demand, audit, default_thresholds, set_threshold};
use super::gate_file::Undecided;
use super::outcome::AuditReport;
use super::scan::{ScanSettings, scan};
use super::slices::Value;
use super::state::{StateError, read_state};
use super::tally::{MergeError, Tally};
use crate::aggregate::Method;
use crate::answer::Answerer;
use crate::calibration::{Calibrated, MAX_BINS};
use crate::error::{Error, ErrorKind, Result, setters};
use crate::latent::Confidence;
use crate::log::{Format, Limits, LogReader, MAX_TOLERANCE, Reason, Tolerance, check_names};
use crate::simplex::Distribution;

/// Number of bins unless set: that of most reports of calibration errors since Guo et al. (2017).
pub const DEFAULT_BINS: usize = 15;

/// A log to be audited, or a part of it.
pub struct Log<'a> {
    name: String,
    content: Content<'a>,
    format: Option<Format>,
    of_file: bool,
}

enum Content<'a> {
    File(PathBuf),
    Stream(Box<dyn Read + Send + 'a>),
    Reader(Box<LogReader<'a>>),
    State(Box<dyn Read + Send + 'a>),
    Tally(Box<Tally>),
    /// Probabilities, the predicted and the true class.
    Rows(Vec<(&'a [f64], usize, usize)>),
}

impl std::fmt::Debug for Log<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Log({:?})", self.name)
    }
}

impl<'a> Log<'a> {
    fn new(name: impl Into<String>, content: Content<'a>) -> Self {
        Log {
            name: name.into(),
            content,
            format: None,
            of_file: false,
        }
    }

    /// A log in any format but Parquet from a reader, under this name.
    pub fn stream(name: impl Into<String>, reader: impl Read + Send + 'a) -> Self {
        Log::new(name, Content::Stream(Box::new(reader)))
    }

    /// The rows of a reader, under this name.
    pub fn reader(name: impl Into<String>, reader: LogReader<'a>) -> Self {
        Log::new(name, Content::Reader(Box::new(reader)))
    }

    /// The state of an audit of a part of the log: see [`Audit::tally`] and
    /// [`write_state`](super::write_state).
    pub fn state(name: impl Into<String>, reader: impl Read + Send + 'a) -> Self {
        Log::new(name, Content::State(Box::new(reader)))
    }

    /// The tally of a part of the log, as [`Audit::tally`] gives it.
    pub fn tally(name: impl Into<String>, tally: Tally) -> Self {
        Log::new(name, Content::Tally(Box::new(tally)))
    }

    /// Predictions in memory with their true classes.
    pub fn predictions(
        name: impl Into<String>,
        predictions: &'a [Distribution],
        labels: &[usize],
    ) -> Self {
        let row = |(p, &label): (&'a Distribution, &usize)| (p.probabilities(), p.argmax(), label);
        let rows = predictions.iter().zip(labels).map(row);
        Log::new(name, Content::Rows(rows.collect()))
    }

    /// Calibrated predictions in memory with their true classes.
    pub fn calibrated(name: impl Into<String>, rows: &'a [(Calibrated, usize)]) -> Self {
        let row =
            |(p, label): &'a (Calibrated, usize)| (p.distribution.probabilities(), p.class, *label);
        Log::new(name, Content::Rows(rows.iter().map(row).collect()))
    }

    /// The format of this log [default: by the name of a file and its first bytes].
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// That a file of the log's name holds these rows, so that commands of a report can name it.
    #[must_use]
    pub fn of_file(mut self) -> Self {
        self.of_file = true;
        self
    }

    fn read(
        self,
        settings: &ScanSettings,
        format: Option<&Format>,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Tally> {
        let (name, content) = (self.name, self.content);
        let limits = settings.answerer.limits();
        let format = self.format.or_else(|| format.cloned());
        let stream = !self.of_file && !matches!(content, Content::File(_));
        let reader = match content {
            Content::File(path) => {
                LogReader::open_within(&path, &format.unwrap_or_default(), limits)
            }
            Content::Stream(reader) => {
                LogReader::new_within(reader, &format.unwrap_or_default(), limits)
            }
            Content::Reader(reader) => Ok(*reader),
            Content::State(reader) => return Ok(read_state(reader, limits)?),
            Content::Tally(tally) => return Ok(*tally),
            Content::Rows(rows) => return settings.rows(&name, &rows),
        };
        scan(&name, stream, reader?, settings, progress)
    }
}

impl From<&str> for Log<'_> {
    fn from(path: &str) -> Self {
        PathBuf::from(path).into()
    }
}

impl From<&Path> for Log<'_> {
    fn from(path: &Path) -> Self {
        path.to_path_buf().into()
    }
}

impl From<PathBuf> for Log<'_> {
    fn from(path: PathBuf) -> Self {
        Log::new(path.to_string_lossy(), Content::File(path.clone()))
    }
}

/// An audit: which guarantees hold for a log of predictions with their outcomes.
///
/// ```
/// use lpf::{Answerer, Audit, Method};
/// use lpf::audit::Log;
///
/// let log = r#"{"label": 0, "probs": [0.8, 0.2]}
/// {"label": 1, "probs": [0.4, 0.6]}"#;
/// let report = Audit::of(Log::stream("log.jsonl", log.as_bytes()))
///     .limit("accuracy", 0.9)
///     .run()?;
/// assert_eq!(report.check("accuracy").and_then(|check| check.value), Some(1.0));
/// assert!(report.passed(), "two rows are no evidence against the model");
/// assert!(report.to_html().contains("Accuracy"));
/// # Ok::<(), lpf::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "an audit does nothing before `run`"]
pub struct Audit<'a> {
    logs: Vec<Log<'a>>,
    baseline: Vec<Log<'a>>,
    answerer: Option<&'a Answerer>,
    compare: bool,
    format: Option<Format>,
    classes: Option<Vec<String>>,
    bins: Option<usize>,
    tolerance: Tolerance,
    from_evidence: bool,
    confidence: Option<Confidence>,
    prior: Option<Vec<f64>>,
    by: Vec<String>,
    segments: bool,
    reading: String,
    limits: BTreeMap<String, Option<f64>>,
    undecided: Undecided,
    strict: bool,
    reported: bool,
    independent_rows: bool,
    seed: u64,
    progress: Progress<'a>,
}

#[derive(Clone, Copy)]
struct Progress<'a>(&'a (dyn Fn(u64) + Sync));

impl std::fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

impl<'a> Audit<'a> {
    /// An audit of a log: the path of a file, or a [`Log`].
    pub fn of(log: impl Into<Log<'a>>) -> Self {
        Audit {
            logs: vec![log.into()],
            baseline: Vec::new(),
            answerer: None,
            compare: true,
            format: None,
            classes: None,
            bins: None,
            tolerance: Tolerance::Digits,
            from_evidence: false,
            confidence: Some(Confidence::Reference),
            prior: None,
            by: Vec::new(),
            segments: false,
            reading: String::new(),
            limits: BTreeMap::new(),
            undecided: Undecided::Allow,
            strict: false,
            reported: false,
            independent_rows: false,
            seed: 0,
            progress: Progress(&|_| {}),
        }
    }

    /// A further part of the log.
    pub fn and(mut self, log: impl Into<Log<'a>>) -> Self {
        self.logs.push(log.into());
        self
    }

    /// An earlier log to compare with; may be called once for each part of it.
    pub fn baseline(mut self, log: impl Into<Log<'a>>) -> Self {
        self.baseline.push(log.into());
        self
    }

    /// What answers the evidence in the log: logged answers are compared with its aggregate, its
    /// model gives factors to items without, and its calibration map is applied before answers are
    /// scored. By default the product of the factors, without a model.
    pub fn answerer(mut self, answerer: &'a Answerer) -> Self {
        self.answerer = Some(answerer);
        self
    }

    /// The format of the log [default: by the names of files and their first bytes].
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Names of the classes, in the order of the probabilities [default: those of the answerer, of
    /// the columns, or of the first row].
    pub fn classes<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.classes = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Number of bins, from 1 to [`MAX_BINS`] [default: [`DEFAULT_BINS`]].
    pub fn bins(mut self, bins: usize) -> Self {
        self.bins = Some(bins);
        self
    }

    /// Also audits slices: by the value of a field (`site`), by the period that it lies in (`month(at)`;
    /// `year`, `week`, `day`, `hour`), or by source of evidence (`evidence.id`).
    pub fn by<N: Into<String>>(mut self, fields: impl IntoIterator<Item = N>) -> Self {
        self.by.extend(fields.into_iter().map(Into::into));
        self
    }

    /// Prior of the classes, to tell whether it was counted too often [default: that of the
    /// answerer, or how often each class was true].
    pub fn prior(mut self, prior: impl Into<Vec<f64>>) -> Self {
        self.prior = Some(prior.into());
        self
    }

    /// The options of a command line that say how the log is read: commands that the report suggests have
    /// them too.
    pub fn reading(mut self, options: impl Into<String>) -> Self {
        self.reading = options.into();
        self
    }

    /// The limit of a check, by its id: see [`CHECKS`](super::CHECKS).
    pub fn limit(mut self, check: impl Into<String>, value: f64) -> Self {
        self.limits.insert(check.into(), Some(value));
        self
    }

    /// Removes the default limit of a check.
    pub fn no_limit(mut self, check: impl Into<String>) -> Self {
        self.limits.insert(check.into(), None);
        self
    }

    /// How far the probabilities of a row may be from adding up to one, in `[0, 0.01]` [default: 10⁻⁶, or
    /// as far as the digits that were written explain: [`Tolerance::Digits`]].
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = Tolerance::Fixed(tolerance);
        self
    }

    setters! {
        /// Whether logged answers are compared with the aggregate of their factors [default: yes].
        compare: bool;
        /// Whether rows without an answer get the one that follows from their evidence [default: no, they
        /// are counted as unusable].
        from_evidence: bool;
        /// How weights follow from posteriors; `None` where they do not [default: as the reference
        /// implementation has it].
        confidence: Option<Confidence>;
        /// Whether a check that is undecided, or that has a limit of yours and cannot be run, makes the
        /// audit fail [default: no].
        undecided: Undecided;
        /// Whether pairs of the fields given by [`Audit::by`] are searched for weak segments [default: no].
        segments: bool;
        /// Whether a row that cannot be used is an error [default: no, such rows are counted].
        strict: bool;
        /// Whether rows are independent though they are of the same entities [default: no, rows of one
        /// entity count as one cluster].
        independent_rows: bool;
        /// Seed of the simulations [default: 0].
        seed: u64;
    }

    /// Whoever runs the audit looks at the rejected rows in the report: with [`Audit::strict`] only those
    /// of the baseline, which no report lists, are an error.
    #[cfg(feature = "cli")]
    pub(crate) fn reported(mut self) -> Self {
        self.reported = true;
        self
    }

    /// Called with the number of bytes that were read, as they are, and with 0 once all of them are and
    /// only the checks are left to compute.
    pub fn progress(mut self, progress: &'a (dyn Fn(u64) + Sync)) -> Self {
        self.progress = Progress(progress);
        self
    }

    /// Reads the log and judges it.
    ///
    /// # Errors
    /// A setting out of range, a log that cannot be read, or one without a row to judge; with
    /// [`Audit::strict`] the first row that cannot be used.
    pub fn run(mut self) -> Result<AuditReport> {
        let mut checks = self.checks()?;
        let settings = self.settings()?;
        let (logs, baseline) = (
            std::mem::take(&mut self.logs),
            std::mem::take(&mut self.baseline),
        );
        let tally = self.read(&settings, logs, self.strict && !self.reported)?;
        check_judgeable(&tally)?;
        check_fields(&tally)?;
        // Of states that were made with a prior.
        checks.prior = checks.prior.or_else(|| tally.settings.prior.clone());
        if let Some(prior) = &checks.prior
            && prior.len() != tally.settings.classes.len()
        {
            let (p, n) = (prior.len(), tally.settings.classes.len());
            let what = format!("{p} numbers, but there are {n} classes");
            return Err(Error::setting("prior", what));
        }
        let baseline = match baseline.is_empty() {
            true => None,
            false => Some(self.read(&settings, baseline, self.strict)?),
        };
        if let Some(baseline) = &baseline {
            check_judgeable(baseline)?;
        }
        (self.progress.0)(0);
        Ok(audit(&tally, baseline.as_ref(), &checks))
    }

    /// Reads the log without judging it: the state of a part, to be merged with others.
    ///
    /// # Errors
    /// As [`Audit::run`].
    pub fn tally(mut self) -> Result<Tally> {
        self.checks()?;
        let settings = self.settings()?;
        let logs = std::mem::take(&mut self.logs);
        self.read(&settings, logs, self.strict)
    }

    fn settings(&self) -> Result<ScanSettings> {
        let bins = self.bins.unwrap_or(DEFAULT_BINS);
        if bins == 0 || bins > MAX_BINS {
            let what = format!("{bins} is not between 1 and {MAX_BINS}");
            return Err(Error::setting("bins", what));
        }
        if let Tolerance::Fixed(tolerance) = self.tolerance
            && !(0.0..=MAX_TOLERANCE).contains(&tolerance)
        {
            let what = format!("{tolerance} is not in [0, {MAX_TOLERANCE}]");
            return Err(Error::setting("tolerance", what));
        }
        if let Some(names) = &self.classes {
            check_names(names).map_err(|what| Error::setting("classes", what))?;
        }
        let parse = |text: &String| {
            let by: std::result::Result<By, String> = text.parse();
            by.map_err(|what| Error::setting("by", what))
        };
        let by: Vec<By> = self.by.iter().map(parse).collect::<Result<_>>()?;
        if let Some(twice) = by
            .iter()
            .enumerate()
            .find(|(i, one)| by[..*i].contains(one))
        {
            return Err(Error::setting("by", format!("{} is given twice", twice.1)));
        }
        let fields = by.iter().filter(|by| **by != By::Evidence).count();
        if self.segments && fields < 2 {
            let what = "pairs need two fields to cut the log by";
            return Err(Error::setting("segments", what));
        }
        let answerer = match self.answerer {
            Some(answerer) => answerer.clone(),
            None => Answerer::builder(Method::Spn).build()?,
        };
        Ok(ScanSettings {
            classes: self.classes.clone(),
            bins,
            tolerance: self.tolerance,
            from_evidence: self.from_evidence,
            answerer,
            compare: self.compare,
            confidence: self.confidence,
            by,
            segments: self.segments,
            reading: self.reading.clone(),
        })
    }

    fn checks(&self) -> Result<CheckSettings> {
        let mut thresholds = default_thresholds();
        let mut asked = BTreeSet::new();
        for (check, value) in &self.limits {
            let id = set_threshold(&mut thresholds, check, *value)
                .map_err(|error| Error::setting("limit", error.to_string()))?;
            if value.is_some() {
                asked.insert(id);
            }
        }
        let known = self.answerer.and_then(Answerer::prior);
        let prior = self.prior.clone();
        let prior = prior.or_else(|| Some(known?.probabilities().to_vec()));
        if prior.iter().flatten().any(|p| !(p.is_finite() && *p > 0.0)) {
            return Err(Error::setting("prior", "every number must be above zero"));
        }
        Ok(CheckSettings {
            thresholds,
            seed: self.seed,
            prior,
            independent_rows: self.independent_rows,
            demand: match self.undecided {
                Undecided::Fail => Demand::Certainty { asked },
                Undecided::Allow => Demand::NoFailure,
            },
        })
    }

    /// All parts as one tally.
    fn read(&self, settings: &ScanSettings, logs: Vec<Log<'a>>, strict: bool) -> Result<Tally> {
        let mut whole: Option<Tally> = None;
        for log in logs {
            let name = log.name.clone();
            let tally = log.read(settings, self.format.as_ref(), self.progress.0);
            let tally = tally.map_err(|error| error.in_file(&name))?;
            match &mut whole {
                None => whole = Some(tally),
                Some(whole) => whole.merge(&tally).map_err(|error| {
                    Error::from(error).in_file(format!("{name} and the files before it"))
                })?,
            }
        }
        let tally = whole.ok_or_else(|| Error::new(ErrorKind::Audit, "there is no input"))?;
        self.check_tally(&tally, strict)?;
        Ok(tally)
    }

    /// Enforces [`Audit::strict`], and that states were made with these settings.
    fn check_tally(&self, tally: &Tally, strict: bool) -> Result<()> {
        let made = &tally.settings;
        if let Some(bins) = self.bins
            && bins != made.bins
        {
            let what = format!("the log was read with {} bins, not {bins}", made.bins);
            return Err(Error::setting("bins", what));
        }
        if let Some(classes) = &self.classes
            && *classes != made.classes
        {
            let (asked, found) = (classes.join(", "), made.classes.join(", "));
            let what = format!("the log was read with the classes {found}, not {asked}");
            return Err(Error::setting("classes", what));
        }
        if !self.by.is_empty() && self.by != made.by {
            let (asked, found) = (self.by.join(", "), made.by.join(", "));
            let what = format!("the log was read with slices by {found:?}, not by {asked}");
            return Err(Error::setting("by", what));
        }
        let limits = self.answerer.map_or_else(Limits::default, |a| *a.limits());
        let within = limits.slices(tally.slices.count() as u64);
        within.map_err(|error| Error::setting("by", error.to_string()))?;
        match tally.unusable.first.first() {
            Some(first) if strict => {
                let count = tally.unusable.count();
                let what = format!("{} ({count} such rows in all, none allowed)", first.message);
                Err(Error::new(ErrorKind::Record, what)
                    .in_field(first.field.clone())
                    .in_line(first.line)
                    .in_file(&first.file))
            }
            _ => Ok(()),
        }
    }
}

/// That there is something to judge: a prediction that can be scored, or an invalid one, which
/// fails the check of validity. Without either nothing could fail, whatever the model; and where no row
/// has numbers, they were looked for in the wrong place.
fn check_judgeable(tally: &Tally) -> Result<()> {
    let unusable = &tally.unusable;
    let numbers = unusable.counts.get(&Reason::NotNumbers) != Some(&unusable.count());
    if tally.usable() > 0 || tally.invalid > 0 && numbers {
        return Ok(());
    }
    let what = match tally.unusable.first.first() {
        // The first of them is often in the file that the message is about.
        Some(first)
            if tally
                .inputs
                .first()
                .is_some_and(|input| input.name == first.file) =>
        {
            format!(
                "no row can be used; the first is line {}: {}: {}",
                first.line, first.field, first.message
            )
        }
        Some(first) => format!(
            "no row can be used; the first: {}:{}: {}: {}",
            first.file, first.line, first.field, first.message
        ),
        None => "there is no row".to_string(),
    };
    let error = Error::new(ErrorKind::Audit, what);
    Err(match tally.inputs.first() {
        Some(input) => error.in_file(&input.name),
        None => error,
    })
}

/// That some row has each field that there are slices by: a misspelt one would cut nothing.
fn check_fields(tally: &Tally) -> Result<()> {
    let by = &tally.settings.by;
    let fields: Vec<&String> = by.iter().filter(|by| *by != EVIDENCE).collect();
    let wrong = |what: String| Err(Error::setting("by", what));
    for part in &tally.slices.parts {
        let [field] = part.fields[..] else { continue };
        let name = fields.get(field).map_or("", |name| name);
        let has = |value: &Value| part.slices.iter().any(|(key, _)| key.contains(value));
        let text = |(key, _): &(Vec<Value>, _)| matches!(key[..], [Value::Text(_)]);
        if part.slices.is_empty() || part.slices.iter().any(text) {
            continue;
        }
        return match has(&Value::Unreadable) {
            false => wrong(format!("{name}: no row has this field")),
            true => wrong(format!(
                "{name}: no row has a value that can be used; a value is a text or a number, and for a \
                 period a date such as 2026-03-05, 2026-03-05T17:20:11Z, or seconds since 1970"
            )),
        };
    }
    if by.iter().any(|by| by == EVIDENCE) && tally.slices.sources.is_empty() {
        return wrong(format!("{EVIDENCE}: no row has evidence with factors"));
    }
    Ok(())
}

impl From<MergeError> for Error {
    fn from(error: MergeError) -> Self {
        Error::new(ErrorKind::Audit, error)
    }
}

impl From<StateError> for Error {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Read(error) => error.into(),
            other => Error::new(ErrorKind::Audit, other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checks of predictions in memory are those of the same predictions in a log.
    #[test]
    fn predictions_in_memory_are_audited_as_their_log_is() {
        let rows = [([0.75, 0.25], 0), ([0.5, 0.5], 1), ([0.125, 0.875], 1)];
        let predictions = rows.map(|(p, _)| Distribution::new(p.to_vec()).unwrap());
        let labels = rows.map(|(_, label)| label);
        let lines: String = rows
            .iter()
            .map(|(p, label)| format!("{{\"probs\":{p:?},\"label\":{label}}}\n"))
            .collect();
        let memory = Audit::of(Log::predictions("rows", &predictions, &labels));
        let log = Audit::of(Log::stream("rows", lines.as_bytes()));
        let (memory, log) = (memory.run().unwrap(), log.run().unwrap());
        assert_eq!(memory.checks, log.checks);
        assert_eq!(memory.check("accuracy").unwrap().value, Some(2.0 / 3.0));
        // Labels and lengths that do not fit are an error with their row.
        let wrong = Audit::of(Log::predictions("rows", &predictions, &[0, 2, 1])).run();
        assert_eq!(wrong.unwrap_err().line(), Some(2));
    }

    /// Columns in memory.
    struct Columns(Vec<crate::log::RowBatch>, Option<Vec<String>>);

    impl crate::log::RowSource for Columns {
        fn classes(&self) -> Option<&[String]> {
            self.1.as_deref()
        }
        fn fill(&mut self, batch: &mut crate::log::RowBatch) -> std::io::Result<()> {
            *batch = self.0.pop().unwrap_or_default();
            Ok(())
        }
    }

    /// Rows in memory, in two batches, and the same rows as JSON lines: the same report, line numbers and
    /// reasons of rejected rows among it, but for the digest.
    #[test]
    fn rows_in_memory_are_audited_as_their_log_is() {
        use crate::log::{Label, RowBatch};
        let nan = f64::NAN;
        let rows: [(&str, Option<u64>, [f64; 2]); 6] = [
            ("a", Some(0), [0.75, 0.25]),
            ("b", Some(1), [0.5, 0.5]),
            ("a", Some(1), [0.125, 0.875]),
            ("c", None, [0.125, 0.875]),
            ("d", Some(7), [0.125, 0.875]),
            ("e", Some(0), [nan, 0.25]),
        ];
        let number = |p: f64| match p.is_nan() {
            true => "null".to_string(),
            false => p.to_string(),
        };
        let line = |(id, label, [p, q]): &(&str, Option<u64>, [f64; 2])| {
            let label = label.map_or("null".to_string(), |l| l.to_string());
            let (p, q) = (number(*p), number(*q));
            format!("{{\"entity\":\"{id}\",\"label\":{label},\"probs\":[{p},{q}]}}\n")
        };
        let lines: String = rows.iter().map(line).collect();
        let batch = |rows: &[(&str, Option<u64>, [f64; 2])]| {
            let mut batch = RowBatch::default();
            for (id, label, p) in rows {
                batch.labels.push(label.map(Label::Number));
                batch.answers.extend(p);
                batch.entities.push(Some((*id).into()));
            }
            batch
        };
        for names in [None, Some(vec!["no".to_string(), "yes".to_string()])] {
            let source = Columns(vec![batch(&rows[4..]), batch(&rows[..4])], names.clone());
            let memory = Log::reader("rows", LogReader::rows(source));
            let (mut memory, mut log) = (
                Audit::of(memory),
                Audit::of(Log::stream("rows", lines.as_bytes())),
            );
            if let Some(names) = names {
                memory = memory.classes(names.clone());
                log = log.classes(names);
            }
            let (mut memory, log) = (memory.run().unwrap(), log.run().unwrap());
            assert_eq!(memory.rejected.count, 3);
            assert_ne!(memory.inputs, log.inputs);
            memory.inputs.clone_from(&log.inputs);
            // As text, in which NaN equals NaN. Rows in memory have no field that could be named.
            let log = log.to_html().replace("probs[0]", "probabilities[0]");
            assert_eq!(memory.to_html(), log);
        }
    }

    #[test]
    fn a_tally_in_memory_is_as_good_as_its_log() {
        let line = &b"{\"probs\":[0.75,0.25],\"label\":0}"[..];
        let log = || Audit::of(Log::stream("log", line));
        let tally = Log::tally("part", log().tally().unwrap());
        assert_eq!(Audit::of(tally).run().unwrap(), log().run().unwrap());
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let log = || Log::stream("log", &b"{\"probs\":[1,0],\"label\":0}"[..]);
        for (audit, setting) in [
            (Audit::of(log()).bins(0), "bins"),
            (Audit::of(log()).tolerance(0.1), "tolerance"),
            (Audit::of(log()).classes(["a", "a"]), "classes"),
            (Audit::of(log()).prior([0.5, 0.0]), "prior"),
            (Audit::of(log()).prior([0.5, 0.25, 0.25]), "prior"),
            (Audit::of(log()).limit("no_such", 0.0), "limit"),
            (Audit::of(log()).limit("ece", f64::NAN), "limit"),
        ] {
            let error = audit.run().unwrap_err();
            assert_eq!(
                (error.kind(), error.field()),
                (ErrorKind::Setting, Some(setting))
            );
        }
    }
}
