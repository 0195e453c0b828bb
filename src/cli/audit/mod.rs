//! `lpf audit`: the guarantees, checked on somebody's own log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use indicatif::ProgressBar;

#[cfg(feature = "parquet")]
use super::input::open_parquet;
use super::input::{InputFormat, InputOptions, is_stream};
use super::output::Output;
use super::{Failure, infer};
#[cfg(feature = "parquet")]
use crate::audit::scan_parquet;
use crate::audit::{
    Audit, CheckSettings, ScanError, ScanModel, ScanSettings, Tally, Threshold, audit,
    default_thresholds, read_state, scan, set_threshold, write_state,
};
use crate::calibration::MAX_BINS;
use crate::data::{CalibrationFile, DEFAULT_TOLERANCE, Gate, GateError, check_names};
use crate::latent::Confidence;
use crate::report::{
    audit_html, audit_junit, audit_markdown, audit_sarif, audit_text, harmless_json,
};

/// What is audited when nothing is named: answers of the reference implementation.
const REFERENCE: &str = include_str!("../../tests/fixtures/reference/predictions.jsonl");
const REFERENCE_NAME: &str = "reference predictions";
/// As most reports of calibration errors have.
const DEFAULT_BINS: usize = 15;

const EXAMPLES: &str = "\
Input, one prediction a line (entity, evidence, samples and uncertainty may be left out):
  {\"entity\": \"C5\", \"label\": \"medium\", \"probs\": [0.1, 0.8, 0.1], \"evidence\": [
    {\"factor\": [0.1, 0.8, 0.1], \"weight\": 0.4}, ...]}
An item may have a posterior beside its factor: \"mu\" with \"sigma\" (standard deviations) or \"cov\"
(a list of rows). Weights are then held against it, and its norm against assumption A2. With --model
an item may have a posterior or an \"embedding\" instead of its factor.
CSV with a header, or Parquet: a column `label`, and for each class a column `prob_CLASS` or
`p_CLASS`. In Parquet, the number of a row stands for that of its line.
Rows that cannot be used are counted and the first 20 listed; --strict makes them an error.

A check passes if its whole interval is on the good side of its limit, fails if it is wholly on
the bad side, and is undecided otherwise: then it says how many rows would decide.
Exit code: 0 no check failed, 1 a check failed, 2 the input cannot be used.

Shards: `lpf audit --partial a.state a.jsonl` for each, then `lpf audit --merge a.state b.state`
gives, byte for byte, the report of `lpf audit a.jsonl b.jsonl`, whatever the order. A baseline
in shards is `--baseline` of each state.

Examples:
  lpf audit predictions.jsonl --classes low,medium,high
  lpf audit predictions.csv --threshold ece=0.03 --threshold accuracy=0.9 --format json
  lpf audit new.jsonl --baseline old.jsonl
  lpf audit answers.jsonl --answer distribution --model model.safetensors
  zcat log.jsonl.gz | lpf audit - --name log.jsonl";

/// Check the guarantees on your own log of predictions.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    /// Logs: JSON lines, CSV or Parquet where the name ends in .csv or .parquet; - for standard input
    /// [default: answers of the reference implementation, which are part of this program]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Shape of the output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,

    /// Where to write: a file that appears complete or not at all [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// End with exit code 2 if any row cannot be used
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    input: InputOptions,

    /// What to call standard input
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Names of the classes, in the order of the probabilities
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    classes: Option<Vec<String>>,

    /// The field of the answer, in JSON
    #[arg(long, value_name = "FIELD", default_value = "probs")]
    answer: String,

    /// How the answer is said to follow from the factors
    #[arg(long, value_enum, default_value = "spn")]
    method: Way,

    /// How weights are said to follow from logged posteriors
    #[arg(long, value_enum, default_value = "reference")]
    confidence: Weighting,

    /// A trained model, for items that were logged as posteriors or embeddings without their factors;
    /// these are computed as `lpf infer --model` does with the same --samples and --seed
    #[arg(long, value_name = "FILE", conflicts_with = "merge")]
    model: Option<PathBuf>,

    /// Samples drawn for an item without a factor, with --model
    #[arg(long, value_name = "M", default_value_t = infer::DEFAULT_SAMPLES, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,

    /// Prior of the classes, to tell whether it was counted too often [default: how often each
    /// class was true]
    #[arg(long, value_name = "P,Q,R", value_delimiter = ',')]
    prior: Option<Vec<f64>>,

    /// Number of bins [default: 15]
    #[arg(long, value_name = "N")]
    bins: Option<usize>,

    /// A calibration map (see `lpf calibrate`) through which answers are passed before they are
    /// scored; the rows must be others than those it was fitted on
    #[arg(long, value_name = "FILE", conflicts_with = "merge")]
    calibration: Option<PathBuf>,

    /// Limits, bins and classes in a file; what the command line says comes first
    #[arg(long, value_name = "lpf.toml")]
    config: Option<PathBuf>,

    /// The limit of a check, or `off`; may be repeated
    #[arg(long, value_name = "CHECK=VALUE")]
    threshold: Vec<String>,

    /// An earlier log to compare with; repeated for a log of several files
    #[arg(long, value_name = "FILE")]
    baseline: Vec<PathBuf>,

    /// Write what is needed to merge this shard with others, instead of a report
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "merge", "baseline"])]
    partial: Option<PathBuf>,

    /// The files (and the baseline) are such shards
    #[arg(long)]
    merge: bool,

    /// Seed of the simulations, and of what is drawn with --model
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Number of threads [default: one for each core]; changes no bit of the output
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,

    /// How far the probabilities of a row may be from adding up to 1
    #[arg(long, value_name = "T", default_value_t = DEFAULT_TOLERANCE, allow_hyphen_values = true)]
    tolerance: f64,
}

/// Shapes of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For machines, with a version (docs/audit.schema.json)
    Json,
    /// For the summary of a pipeline
    Markdown,
    /// Checks as tests
    Junit,
    /// Failed checks and rows, for code scanning
    Sarif,
    /// A page with plots
    Html,
}

/// How an answer may follow from factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Way {
    /// The normalized product of factors raised to their weights
    Spn,
    /// The plain mean of the factors
    Uniform,
    /// Some other way, which is not checked
    None,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Spn => "spn",
            Way::Uniform => "uniform",
            Way::None => "none",
        }
    }
}

/// How a weight may follow from the posterior of its item; `s` is the mean standard deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Weighting {
    /// sigmoid(-2s)/(1 + s), as `lpf infer` and the reference implementation have it
    Reference,
    /// 1/(1 + s)
    Reciprocal,
    /// exp(-s)
    Exponential,
    /// 1/(1 + v), v the mean variance
    Precision,
    /// Some other way, which is not checked
    None,
}

impl Weighting {
    fn function(self) -> Option<Confidence> {
        match self {
            Weighting::Reference => Some(Confidence::Reference),
            Weighting::Reciprocal => Some(Confidence::Reciprocal),
            Weighting::Exponential => Some(Confidence::Exponential),
            Weighting::Precision => Some(Confidence::Precision),
            Weighting::None => None,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    // A report that nobody could read to its end is no report.
    run_in_threads(args).map_err(|failure| match failure {
        Failure::ClosedPipe => Failure::Write {
            to: "standard output".to_string(),
            error: std::io::ErrorKind::BrokenPipe.into(),
        },
        other => other,
    })
}

fn run_in_threads(args: &Args) -> Result<ExitCode, Failure> {
    let plan = Plan::new(args)?;
    let mut output = Output::create(args.partial.as_deref().or(args.output.as_deref()))?;
    let threads = infer::threads(args.threads)?;
    let (bytes, code) = threads.install(|| work(args, &plan))?;
    output.write(&bytes)?;
    output.finish()?;
    Ok(code)
}

/// What to write, and with which code to end.
fn work(args: &Args, plan: &Plan) -> Result<(Vec<u8>, ExitCode), Failure> {
    let tally = read_all(args, plan, &args.files)?;
    plan.allows(&tally)?;
    if args.partial.is_some() {
        let bytes = write_state(&tally).map_err(|error| Failure::Usage(error.to_string()))?;
        return Ok((bytes, ExitCode::SUCCESS));
    }
    if let Some(prior) = &plan.checks.prior
        && prior.len() != tally.shape.classes.len()
    {
        let (p, n) = (prior.len(), tally.shape.classes.len());
        let what = format!("--prior has {p} numbers, but there are {n} classes");
        return Err(Failure::Usage(what));
    }
    let baseline = match args.baseline.as_slice() {
        [] => None,
        files => Some(read_all(args, plan, files)?),
    };
    if let Some(baseline) = &baseline {
        plan.allows(baseline)?;
    }
    if tally.checked == 0 {
        let what = match tally.unusable.first.first() {
            Some(first) => format!(
                "no row can be used; the first: {}:{}: {}: {}",
                first.file, first.line, first.field, first.message
            ),
            None => "there is no row".to_string(),
        };
        return Err(Failure::Usage(what));
    }
    let audit = audit(&tally, baseline.as_ref(), &plan.checks);
    let text = shown(&audit, args.format)?;
    let code = if audit.summary.passed { 0 } else { 1 };
    Ok((text.into_bytes(), ExitCode::from(code)))
}

fn shown(audit: &Audit, format: Format) -> Result<String, Failure> {
    Ok(match format {
        Format::Text => audit_text(audit),
        Format::Json => {
            let json = serde_json::to_string_pretty(audit);
            let json = json.map_err(|error| Failure::Usage(error.to_string()))?;
            harmless_json(&json) + "\n"
        }
        Format::Markdown => audit_markdown(audit),
        Format::Junit => audit_junit(audit),
        Format::Sarif => audit_sarif(audit),
        Format::Html => audit_html(audit),
    })
}

/// What the command line and the file of limits ask for.
struct Plan {
    checks: CheckSettings,
    scan: ScanSettings,
    strict: bool,
}

impl Plan {
    fn new(args: &Args) -> Result<Self, Failure> {
        let usage = |what: String| Err(Failure::Usage(what));
        let gate = match &args.config {
            Some(path) => Gate::read(path).map_err(|error| gate_failure(path, error))?,
            None => Gate::default(),
        };
        let bins = args.bins.or(gate.bins).unwrap_or(DEFAULT_BINS);
        if bins == 0 || bins > MAX_BINS {
            return usage(format!("--bins: {bins} is not between 1 and {MAX_BINS}"));
        }
        // The grid of confidences needs sums that are nearly one.
        let tolerance = args.tolerance;
        if !(0.0..=0.01).contains(&tolerance) {
            return usage(format!("--tolerance: {tolerance} is not in [0, 0.01]"));
        }
        let classes = args.classes.clone().or_else(|| gate.classes.clone());
        if let Some(names) = &classes
            && let Err(what) = check_names(names)
        {
            return usage(format!("--classes: {what}"));
        }
        if let Some(prior) = &args.prior
            && !prior.iter().all(|p| p.is_finite() && *p > 0.0)
        {
            return usage("--prior: every number must be above zero".to_string());
        }
        if args.merge && args.files.is_empty() {
            return usage("--merge needs the files that --partial wrote".to_string());
        }
        let all = args.files.iter().chain(&args.baseline);
        let streams = all.filter(|file| is_stream(file)).count();
        if streams > 1 {
            return usage("standard input can be read only once".to_string());
        }
        if args.name.is_some() && streams == 0 {
            return usage("--name is for standard input (-)".to_string());
        }
        let calibration = match &args.calibration {
            Some(path) => Some(
                CalibrationFile::read(path)
                    .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?,
            ),
            None => None,
        };
        let model = match &args.model {
            Some(path) => {
                let read = infer::read_model(path, None, args.samples as usize, args.seed);
                let (latent, sha256) = read?;
                let latent = Arc::new(latent);
                Some(ScanModel { latent, sha256 })
            }
            None => None,
        };
        Ok(Plan {
            checks: CheckSettings {
                thresholds: thresholds(args, &gate)?,
                seed: args.seed,
                prior: args.prior.clone(),
            },
            scan: ScanSettings {
                csv: None,
                answer: args.answer.clone(),
                classes,
                bins,
                tolerance,
                method: args.method.name().to_string(),
                confidence: args.confidence.function(),
                model,
                calibration,
            },
            strict: args.strict || gate.strict.unwrap_or(false),
        })
    }

    /// That no row was left out where none may be.
    fn allows(&self, tally: &Tally) -> Result<(), Failure> {
        match tally.unusable.first.first() {
            Some(first) if self.strict => Err(Failure::Line {
                path: PathBuf::from(&first.file),
                line: first.line,
                what: format!(
                    "{}: {} ({} such rows in all; --strict allows none)",
                    first.field,
                    first.message,
                    tally.unusable.count()
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Reads a log into a tally.
    fn scan(
        &self,
        args: &Args,
        path: &Path,
        name: &str,
        bar: &ProgressBar,
    ) -> Result<Tally, Failure> {
        let format = args.input.format(path);
        let settings = ScanSettings {
            csv: (format != InputFormat::Jsonl).then(|| args.input.names()),
            ..self.scan.clone()
        };
        let progress = |bytes| bar.inc(bytes);
        let tally = match format {
            InputFormat::Jsonl | InputFormat::Csv => {
                scan(name, infer::open(path)?, &settings, &progress)
            }
            #[cfg(feature = "parquet")]
            InputFormat::Parquet => scan_parquet(name, open_parquet(path)?, &settings, &progress),
            #[cfg(not(feature = "parquet"))]
            InputFormat::Parquet => {
                return Err(Failure::Usage(super::input::NO_PARQUET.to_string()));
            }
        };
        tally.map_err(|error| failure(path, error))
    }
}

/// What is wrong with a file of limits, and in which line.
fn gate_failure(path: &Path, error: GateError) -> Failure {
    let path = path.to_path_buf();
    match error {
        GateError::Io(error) => Failure::Read { path, error },
        GateError::Line { line, what } => Failure::Line { path, line, what },
    }
}

/// The default limits, changed by the file's and then by the command line's.
fn thresholds(args: &Args, gate: &Gate) -> Result<BTreeMap<&'static str, Threshold>, Failure> {
    let mut limits = default_thresholds();
    for limit in &gate.limits {
        set_threshold(&mut limits, &limit.check, limit.value).map_err(|error| Failure::Line {
            path: args.config.clone().unwrap_or_default(),
            line: limit.line,
            what: error.to_string(),
        })?;
    }
    for one in &args.threshold {
        let fail = |what: String| Failure::Usage(format!("--threshold {one}: {what}"));
        let (id, value) = one
            .split_once('=')
            .ok_or_else(|| fail("write CHECK=VALUE, such as ece=0.03".to_string()))?;
        let value = match value {
            "off" => None,
            value => Some(
                value
                    .parse()
                    .map_err(|_| fail(format!("{value} is not a number, nor off")))?,
            ),
        };
        set_threshold(&mut limits, id, value).map_err(|error| fail(error.to_string()))?;
    }
    Ok(limits)
}

/// All files as one tally.
fn read_all(args: &Args, plan: &Plan, files: &[PathBuf]) -> Result<Tally, Failure> {
    let bar = progress(files);
    let mut whole: Option<Tally> = None;
    let mut add = |path: &str, tally: Tally| match &mut whole {
        None => {
            whole = Some(tally);
            Ok(())
        }
        Some(whole) => whole
            .merge(&tally)
            .map_err(|error| Failure::Usage(format!("{path} and the files before it: {error}"))),
    };
    if files.is_empty() {
        let settings = ScanSettings {
            answer: "spn".to_string(),
            classes: Some(["low", "medium", "high"].map(String::from).to_vec()),
            ..plan.scan.clone()
        };
        let tally = scan(REFERENCE_NAME, REFERENCE.as_bytes(), &settings, &|_| {});
        add(
            REFERENCE_NAME,
            tally.map_err(|e| failure(Path::new(REFERENCE_NAME), e))?,
        )?;
    }
    for path in files {
        let name = match &args.name {
            Some(name) if is_stream(path) => name.clone(),
            _ => path.to_string_lossy().into_owned(),
        };
        let tally = if args.merge {
            let reader = infer::open(path)?;
            read_state(reader).map_err(|error| Failure::Usage(format!("{name}: {error}")))?
        } else {
            plan.scan(args, path, &name, &bar)?
        };
        add(&name, tally)?;
    }
    bar.finish_and_clear();
    whole.ok_or_else(|| Failure::Usage("there is no input".to_string()))
}

fn failure(path: &Path, error: ScanError) -> Failure {
    match error {
        ScanError::Lines(error) => Failure::lines(path, error),
        other => Failure::Usage(format!("{}: {other}", path.to_string_lossy())),
    }
}

/// A bar over the bytes of all files; a spinner where their number is not known. Silent in pipes.
fn progress(files: &[PathBuf]) -> ProgressBar {
    let sizes: Option<u64> = files
        .iter()
        .map(|path| {
            std::fs::metadata(path)
                .ok()
                .filter(|m| m.is_file())
                .map(|m| m.len())
        })
        .sum();
    match sizes {
        Some(bytes) => {
            let bar = ProgressBar::new(bytes);
            bar.set_style(super::train::style(
                "{bar:24} {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
            ));
            bar
        }
        None => {
            let bar = ProgressBar::new_spinner();
            bar.set_style(super::train::style("{spinner} {bytes} {bytes_per_sec}"));
            bar
        }
    }
}
