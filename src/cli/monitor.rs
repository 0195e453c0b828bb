//! `lpf monitor`: predictions watched as their outcomes arrive.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::Failure;
use super::input::{InputOptions, is_stream};
use super::options::{AnswerOptions, method_parser};
use super::output::{Output, check_distinct, same};
use super::settings::SettingsFile;
use crate::aggregate::Method;
use crate::answer::Answerer;
use crate::audit::{Alarm, Monitor, MonitorError, MonitorSettings};
use crate::calibration::Calibrated;
use crate::error::Error;
use crate::log::{
    ClassNames, Limits, LogBatch, LogReader, Prediction, Reason, RowError, RowRules, Tolerance,
    sha256,
};
use crate::model::LatentModel;
use crate::report::{alarm_text, monitor_html, monitor_text};

const EXAMPLES: &str = "\
Input: predictions with their outcomes, in the order in which they arrived, as for `lpf calibrate`: JSON
lines with `label` and `probs` (or evidence), or CSV. Standard input is read as it comes, so that a
stream can be watched for as long as it lasts.

For all predictions, and with --by-class and --by for each predicted class and each group, evidence is
gathered that the predicted class is right less often than its confidence says, beyond the margin, and
that it is right more often. The evidence is the capital of somebody who bets against the stated
probabilities, beginning with one: if the model keeps its word within the margin, it reaches 1/alpha at
any time at all with probability at most alpha. So one may look as often as one likes, and stop at any
time. Alpha is shared out over everything that is watched.

The first alarm is printed and ends the run with exit code 1; with --keep-going the run goes on to the
end and ends with 1 if there was any. A row that cannot be used ends it with exit code 2.

With --state the evidence is kept in a file and the next run goes on from there: give each run the rows
that are new. After an alarm the file says so, and further runs end with 1 at once, unless with
--keep-going; begin anew with another file.

Examples:
  lpf monitor log.jsonl
  tail -f outcomes.jsonl | lpf monitor - --margin 0.05 --alpha 0.01
  lpf monitor today.csv --state watch.json --by site --by-class --html watch.html";

/// Watch predictions as their outcomes arrive, and raise an alarm when confidence and hit rate part.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Predictions with outcomes: JSON lines, CSV or Parquet where the name ends in .csv or .parquet; -
    /// for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    settings: SettingsFile,

    /// The probability of any alarm, ever, on predictions that keep within the margin
    #[arg(long, value_name = "A", default_value_t = 0.05)]
    alpha: f64,

    /// How far the hit rate may be from the confidence
    #[arg(long, value_name = "M", default_value_t = 0.02)]
    margin: f64,

    /// Also watch the predictions of each class by themselves
    #[arg(long)]
    by_class: bool,

    /// Also watch each group by itself: the JSON field or the CSV column that names it
    #[arg(long, value_name = "FIELD")]
    by: Option<String>,

    /// Read on after an alarm
    #[arg(long)]
    keep_going: bool,

    /// Where evidence is kept from one run to the next: a file that is replaced as a whole
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    /// Also write a page with a plot of the evidence
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// A map that every answer goes through first (see `lpf calibrate`)
    #[arg(long, value_name = "FILE")]
    calibration: Option<PathBuf>,

    /// How factors are combined, as --method of `lpf infer`
    #[arg(long, value_parser = method_parser(), default_value = "spn")]
    aggregation: Method,

    #[command(flatten)]
    options: AnswerOptions,
}

/// Runs the command.
pub(super) fn run(args: &Args, limits: &Limits) -> Result<ExitCode, Failure> {
    for output in [&args.state, &args.html] {
        let inputs = args.options.files().chain([&*args.file]);
        check_distinct(output.as_deref(), inputs.chain(args.calibration.as_deref()))?;
    }
    let both = args.state.as_deref().zip(args.html.as_deref());
    if let Some((_, page)) = both.filter(|(state, page)| state == page || same(state, page)) {
        let what =
            "--state and --html are one file, of which only the page would be left; name two";
        return Err(Failure::Usage(format!("{}: {what}", page.display())));
    }
    let failed = |error: Error| Failure::of(error, &args.file);
    let mut builder = args.options.builder(args.aggregation).limits(*limits);
    if let Some(path) = &args.calibration {
        builder = builder.calibration(path.as_path());
    }
    let answerer = builder.build().map_err(failed)?;
    let settings = MonitorSettings {
        alpha: args.alpha,
        margin: args.margin,
        by_class: args.by_class,
        by: args.by.clone(),
        calibration: answerer
            .calibration()
            .map(|map| sha256(map.to_json().as_bytes())),
    };
    // Wrong settings are found before anything is read.
    Monitor::new(settings.clone(), Vec::new()).map_err(usage)?;
    let mut format = args.input.format(&args.settings.read()?.0.columns)?;
    format.fields.others.extend(args.by.clone());
    let reader = match is_stream(&args.file) {
        true => LogReader::new_within(std::io::stdin(), &format, limits),
        false => LogReader::open_within(&args.file, &format, limits),
    };
    let mut reader = reader.map_err(|error| failed(error.into()))?;
    let mut watching = Watching {
        args,
        answerer: &answerer,
        settings,
        from_evidence: args.input.answers_evidence(&format),
        known: None,
        output: Output::create(None)?,
    };
    let mut batch = LogBatch::default();
    let mut stopped = false;
    while !stopped
        && reader
            .fill(&mut batch)
            .map_err(|error| failed(error.into()))?
    {
        stopped = watching.batch(&batch)?;
        // A stream may be cut off at any time; what it brought is kept.
        if is_stream(&args.file) {
            watching.save()?;
        }
    }
    watching.finish()
}

fn usage(error: MonitorError) -> Failure {
    match error {
        MonitorError::Setting { .. } => Failure::Usage(format!("--{error}")),
        other => Failure::Usage(other.to_string()),
    }
}

/// A log on its way into a monitor.
struct Watching<'a> {
    args: &'a Args,
    answerer: &'a Answerer,
    settings: MonitorSettings,
    /// Whether rows without an answer get the one that follows from their evidence.
    from_evidence: bool,
    /// The classes, and what has been seen, once there are rows.
    known: Option<(ClassNames, Monitor)>,
    output: Output,
}

impl Watching<'_> {
    /// Begins, or goes on from the saved state.
    fn open(&self, classes: ClassNames) -> Result<(ClassNames, Monitor), Failure> {
        let names: Vec<String> = (0..classes.len())
            .map(|i| classes.name(i).into_owned())
            .collect();
        let saved = match &self.args.state {
            Some(path) => match File::open(path) {
                Ok(file) => Some((path, file)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                Err(error) => return Err(Failure::read(path, error)),
            },
            None => None,
        };
        let monitor = match saved {
            Some((path, file)) => Monitor::read(file, &self.settings, &names)
                .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?,
            None => Monitor::new(self.settings.clone(), names).map_err(usage)?,
        };
        Ok((classes, monitor))
    }

    /// Adds the rows of a batch; whether to stop.
    fn batch(&mut self, batch: &LogBatch) -> Result<bool, Failure> {
        let args = self.args;
        if self.known.is_none() {
            let model = self.answerer.latent().map(LatentModel::class_count);
            let found = batch.classes(self.answerer.classes(), model);
            let found = found.map_err(|error| Failure::of(error.into(), &args.file))?;
            if let Some(classes) = found {
                let opened = self.open(classes)?;
                let alarmed = opened.1.has_alarm();
                self.known = Some(opened);
                if alarmed && !args.keep_going {
                    return Ok(true);
                }
            }
        }
        for index in 0..batch.len() {
            let line = batch.row(index).number;
            let alarms = match self.add(batch, index) {
                Ok(alarms) => alarms,
                Err(what) => return Err(Failure::line(&args.file, line, what)),
            };
            for alarm in &alarms {
                let shown = alarm_text(alarm, args.margin);
                self.output.write(shown.as_bytes())?;
            }
            if !alarms.is_empty() && !args.keep_going {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds one row; the alarms that it raises, or what is wrong with it.
    fn add(&mut self, batch: &LogBatch, index: usize) -> Result<Vec<Alarm>, String> {
        let shown = |error: RowError| error.to_string();
        let nothing = ClassNames::Numbered(0);
        let classes = self.known.as_ref().map_or(&nothing, |(classes, _)| classes);
        let computed = self.from_evidence;
        let rules = batch.rules(classes, Tolerance::Digits, computed);
        let (calibrated, label) =
            answered(self.answerer, rules, batch.row(index).prediction).map_err(shown)?;
        let group = match &self.args.by {
            Some(name) => {
                let found = batch.field(index, name).map_err(shown)?;
                Some(found.ok_or_else(|| format!("{name}: missing; --by names this field"))?)
            }
            None => None,
        };
        let Some((_, monitor)) = &mut self.known else {
            return Err("the row shows no classes".to_string());
        };
        // A sum may have put it above one by rounding.
        let confidence = calibrated.confidence.min(1.0);
        let right = calibrated.class == label;
        let added = monitor.add(confidence, calibrated.class, right, group.as_deref());
        added.map_err(|error| error.to_string())
    }

    fn save(&self) -> Result<(), Failure> {
        let Some((_, monitor)) = &self.known else {
            return Ok(());
        };
        write(self.args.state.as_deref(), || monitor.to_json())
    }

    /// The state comes last: where anything else cannot be written, the rows of this run are not in it, and
    /// the next run may be given them again.
    fn finish(mut self) -> Result<ExitCode, Failure> {
        let Some((_, monitor)) = &self.known else {
            let path = self.args.file.clone();
            return Err(Failure::NoRecords { path });
        };
        write(self.args.html.as_deref(), || monitor_html(monitor))?;
        self.output.write(monitor_text(monitor).as_bytes())?;
        self.save()?;
        Ok(match monitor.has_alarm() {
            true => ExitCode::from(1),
            false => ExitCode::SUCCESS,
        })
    }
}

/// Writes a file as a whole, where one is asked for.
fn write(path: Option<&Path>, content: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = path else {
        return Ok(());
    };
    let mut output = Output::create(Some(path))?;
    output.write(content().as_bytes())?;
    output.finish()
}

/// The answer of a row after the map, and its outcome.
fn answered(
    answerer: &Answerer,
    rules: RowRules<'_>,
    prediction: Result<Prediction<'_>, RowError>,
) -> Result<(Calibrated, usize), RowError> {
    let field = rules.answer_field;
    let mut row = answerer.row(prediction?, rules)?;
    let label = row.label.clone()?;
    let answer = answerer.answer_of(&mut row, rules)?;
    let calibrated = match answerer.calibration() {
        None => Calibrated::unchanged(answer),
        Some(map) => map
            .apply(&answer)
            .map_err(|error| RowError::new(Reason::OtherClasses, field, error.to_string()))?,
    };
    Ok((calibrated, label))
}
