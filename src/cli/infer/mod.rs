//! `lpf infer`: evidence in, one distribution an entity out.

mod answer;
mod json;
mod latent;
mod table;

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use rayon::prelude::*;

pub use self::answer::{Answer, Setup};
pub use self::latent::read as read_model;
use self::table::Table;
use super::Failure;
use super::input::open;
use super::options::{method_parser, threads};
use super::output::Output;
use crate::aggregate::Method;
use crate::log::{Batch, DEFAULT_TOLERANCE, LineReader, MAX_LINE_BYTES, check_names};
use crate::model::{CalibrationFile, LatentModel};
use crate::simplex::Distribution;

const EXAMPLES: &str = "\
Input, one entity a line (label, id, weight and classes may be left out):
  {\"entity\": \"C5\", \"label\": \"medium\", \"classes\": [\"low\", \"medium\", \"high\"], \"evidence\": [
    {\"id\": \"e1\", \"factor\": [0.1, 0.8, 0.1], \"weight\": 0.4}, ...]}
Blank lines are skipped and other fields ignored. A wrong line stops the run with
FILE:LINE: field: what is wrong, and exit code 2.

Output, one line an entity, the same bytes for any order of the evidence and any number of threads:
  {\"entity\": \"C5\", \"method\": \"spn\", \"distribution\": [...], \"prediction\": \"medium\",
   \"confidence\": 0.93, \"k_eff\": 4.9}
k_eff is Kish's effective number of items, from the weights: (sum w)^2 / sum w^2, null where all
weights are zero. Without class names, classes and predictions are numbers from 0.

With --model an item may be given, instead of by its factor, by what the factor is computed from:
  {\"id\": \"e1\", \"embedding\": [0.02, ...]}, {\"id\": \"e2\", \"mu\": [...], \"sigma\": [...]},
  {\"id\": \"e3\", \"mu\": [...], \"cov\": [[...], ...]}
Its weight, unless given, is the confidence of its posterior. If every item has a posterior, the
answer also has `uncertainty`: total, epistemic and aleatoric variance, mutual information in nats,
their standard errors, and the number of samples from the mixture of the posteriors behind them.

With --calibration the distribution, the prediction and its confidence are those after the map, and
the answer names its method under `calibration`: with histogram and isotonic maps the prediction is
the class named before, and the confidence how often such predictions are right. Influence and
uncertainty are those of the answer before the map.

Examples:
  lpf infer evidence.jsonl
  lpf infer evidence.jsonl --classes low,medium,high --format text --explain
  lpf infer evidence.jsonl --method prior-corrected --prior 0.2,0.5,0.3 --output answers.jsonl
  lpf infer data.jsonl --model model.safetensors --method learned
  lpf infer evidence.jsonl --calibration cal.json
  zcat evidence.jsonl.gz | lpf infer - --method uniform | head";

/// Samples drawn for an item, unless said: as many as the reference implementation draws.
pub const DEFAULT_SAMPLES: u32 = 16;

// The help below states it.
const _: () = assert!(MAX_LINE_BYTES == 64 << 20);

/// Combine the evidence about each entity into one distribution over classes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    /// Records, one JSON object a line; - for standard input. No line may exceed 64 MiB
    #[arg(value_name = "FILE.jsonl")]
    file: PathBuf,

    /// How factors are combined
    #[arg(long, value_parser = method_parser(), default_value = "spn")]
    method: Method,

    #[command(flatten)]
    options: Options,

    /// A map fitted by `lpf calibrate`, which every answer goes through
    #[arg(long, value_name = "FILE")]
    calibration: Option<PathBuf>,

    /// Also show each item's factor, weight and influence: how far the answer moves (L1, 0 to 2)
    /// when the item is left out; null where nothing is left
    #[arg(long)]
    explain: bool,

    /// Shape of the output
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,

    /// Where to write: a file that appears complete or not at all [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Number of threads [default: one for each core]; changes no bit of the output
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// How evidence becomes an answer; the same for every command that answers.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Names of the classes, in the order of the factors; come before a record's own `classes`
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    classes: Option<Vec<String>>,

    /// A trained model, for evidence given as embeddings or posteriors (see `lpf train`)
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,

    /// A learned aggregator in a file of its own, for --method learned
    #[arg(long, value_name = "FILE", requires = "model")]
    aggregator: Option<PathBuf>,

    /// Prior of the classes, for --method prior-corrected [default: the model's]
    #[arg(
        long,
        value_name = "P,Q,R",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    prior: Option<Vec<f64>>,

    /// Samples drawn for an item that is given as a posterior; items given as factors need none
    #[arg(long, value_name = "M", default_value_t = DEFAULT_SAMPLES, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,

    /// Seed of all that is drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// How far the probabilities of a factor or prior may be from adding up to 1
    ///
    /// The default allows for float32 rounding and for values printed with six digits. Within the
    /// tolerance, they are divided by their sum; beyond it, the line is refused.
    #[arg(long, value_name = "T", default_value_t = DEFAULT_TOLERANCE, allow_hyphen_values = true)]
    tolerance: f64,
}

impl Options {
    /// The model, if one is asked for.
    pub fn latent(&self) -> Result<Option<LatentModel>, Failure> {
        let Some(path) = &self.model else {
            return Ok(None);
        };
        let aggregator = self.aggregator.as_deref();
        let (latent, _) = read_model(path, aggregator, self.samples as usize, self.seed)?;
        Ok(Some(latent))
    }
}

/// Shapes of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON object a line
    Jsonl,
    /// A table with bars, for people
    Text,
}

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let latent = args.options.latent()?;
    let calibration = match &args.calibration {
        Some(path) => Some(
            CalibrationFile::read(path)
                .map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))?,
        ),
        None => None,
    };
    let setup = Setup {
        calibration: calibration.as_ref(),
        explain: args.explain,
        ..setup(args.method, &args.options, latent.as_ref())?
    };
    let threads = threads(args.threads)?;
    let reader = open(&args.file)?;
    let mut output = Output::create(args.output.as_deref())?;
    let mut table = (args.format == Format::Text).then(|| Table::new(output.is_terminal()));
    threads.install(|| stream(args, &setup, reader, &mut output, table.as_mut()))?;
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// What the arguments ask for, if it makes sense; without explanations or calibration.
pub fn setup<'a>(
    method: Method,
    args: &'a Options,
    latent: Option<&'a LatentModel>,
) -> Result<Setup<'a>, Failure> {
    let usage = |what: String| Err(Failure::Usage(what));
    let model = latent.map(LatentModel::model);
    let corrects = method == Method::PriorCorrected;
    if !(0.0..1.0).contains(&args.tolerance) {
        return usage(format!("--tolerance: {} is not in [0, 1)", args.tolerance));
    }
    if let Some(names) = &args.classes
        && let Err(what) = check_names(names)
    {
        return usage(format!("--classes: {what}"));
    }
    if method == Method::Learned && model.is_none_or(|model| model.aggregator.is_none()) {
        let what = "--method learned needs --model with a learned aggregator, or --aggregator";
        return usage(what.to_string());
    }
    let known = model.and_then(|model| model.prior.as_ref());
    let prior = match (&args.prior, corrects) {
        (None, true) if known.is_none() => {
            return usage("--method prior-corrected needs --prior".to_string());
        }
        (None, _) => None,
        (Some(_), true) => args.prior.clone(),
        (Some(_), false) => {
            return usage(format!("--prior has no meaning for --method {method}"));
        }
    };
    let prior = match prior.map(|values| Distribution::from_rounded(values, &args.tolerance)) {
        Some(Err(error)) => return usage(format!("--prior: {error}")),
        Some(Ok(prior)) => Some(prior),
        None => known.filter(|_| corrects).cloned(),
    };
    if let (Some(names), Some(prior)) = (&args.classes, &prior)
        && names.len() != prior.classes()
    {
        let (n, p) = (names.len(), prior.classes());
        return usage(format!("--classes names {n} classes, --prior has {p}"));
    }
    let classes = args.classes.as_deref();
    Ok(Setup {
        method,
        latent,
        prior,
        classes: classes.or_else(|| model.and_then(|model| model.classes.as_deref())),
        tolerance: args.tolerance,
        calibration: None,
        explain: false,
    })
}

/// Batch by batch: read, answer in parallel, write in order.
fn stream(
    args: &Args,
    setup: &Setup<'_>,
    reader: impl Read,
    output: &mut Output,
    mut table: Option<&mut Table>,
) -> Result<(), Failure> {
    let mut reader = LineReader::new(reader);
    let mut batch = Batch::default();
    let mut any = false;
    while reader
        .fill(&mut batch)
        .map_err(|error| Failure::lines(&args.file, error))?
    {
        any = true;
        let lines: Vec<(u64, &[u8])> = batch.lines().collect();
        let as_text = table.is_some();
        let shown: Vec<Result<Shown<'_>, Failure>> = lines
            .into_par_iter()
            .map(|(number, line)| {
                let answer = Answer::of(line, setup)
                    .map_err(|error| Failure::record(&args.file, number, &error))?;
                Ok(if as_text {
                    Shown::Text(Box::new(answer))
                } else {
                    let mut json = Vec::with_capacity(256);
                    json::write(&answer, &mut json);
                    Shown::Json(json)
                })
            })
            .collect();
        let mut bytes = Vec::new();
        let mut failed = None;
        for one in shown {
            match one {
                Ok(Shown::Json(json)) => bytes.extend_from_slice(&json),
                Ok(Shown::Text(answer)) => {
                    if let Some(table) = table.as_deref_mut() {
                        bytes.extend_from_slice(table.rows(&answer).as_bytes());
                    }
                }
                Err(failure) => {
                    failed = Some(failure);
                    break;
                }
            }
        }
        output.write(&bytes)?;
        if let Some(failure) = failed {
            return Err(failure);
        }
    }
    if any {
        return Ok(());
    }
    Err(Failure::NoRecords {
        path: args.file.clone(),
    })
}

/// What one line leads to.
enum Shown<'a> {
    Json(Vec<u8>),
    Text(Box<Answer<'a>>),
}
