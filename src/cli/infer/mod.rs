//! `lpf infer`: evidence in, one distribution an entity out.

mod json;
mod table;

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;

use self::table::Table;
use super::Failure;
use super::input::open;
use super::options::{AnswerOptions, method_parser, threads};
use super::output::{Output, check_distinct};
use crate::aggregate::Method;
use crate::answer::Answers;
use crate::log::Limits;

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
uncertainty are those of the answer before the map. A conformal map leaves the answer as it is and adds
`set`, the classes that hold the true one with the coverage that the map was fitted for.

Examples:
  lpf infer evidence.jsonl
  lpf infer evidence.jsonl --classes low,medium,high --format text --explain
  lpf infer evidence.jsonl --method prior-corrected --prior 0.2,0.5,0.3 --output answers.jsonl
  lpf infer data.jsonl --model model.safetensors --method learned
  lpf infer evidence.jsonl --calibration cal.json
  zcat evidence.jsonl.gz | lpf infer - --method uniform | head";

/// Combine the evidence about each entity into one distribution over classes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Records, one JSON object a line; - for standard input
    #[arg(value_name = "FILE.jsonl")]
    file: PathBuf,

    /// How factors are combined
    #[arg(long, value_parser = method_parser(), default_value = "spn")]
    method: Method,

    #[command(flatten)]
    options: AnswerOptions,

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON object a line
    Jsonl,
    /// A table with bars, for people
    Text,
}

/// Runs the command.
pub(crate) fn run(args: &Args, limits: &Limits) -> Result<ExitCode, Failure> {
    check_distinct(
        args.output.as_deref(),
        args.options.files().chain([&*args.file]),
    )?;
    let settings = args.options.builder(args.method).limits(*limits);
    let mut settings = settings.influence(args.explain);
    if let Some(path) = &args.calibration {
        settings = settings.calibration(path.as_path());
    }
    let failed = |error| Failure::of(error, &args.file);
    let answerer = settings.build().map_err(failed)?;
    let threads = threads(args.threads, limits)?;
    let reader = open(&args.file)?;
    let mut output = Output::create(args.output.as_deref())?;
    let any = match args.format {
        Format::Jsonl => {
            let answers = answerer.answers_then(reader, |answer| json::line(&answer));
            threads.install(|| stream(args, answers, &mut output, |line| line))?
        }
        Format::Text => {
            let mut table = Table::new(output.is_terminal());
            let answers = answerer.answers(reader);
            threads.install(|| {
                let rows = |answer| table.rows(&answer).into_bytes();
                stream(args, answers, &mut output, rows)
            })?
        }
    };
    if !any {
        return Err(Failure::NoRecords {
            path: args.file.clone(),
        });
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the answers batch by batch, up to the first record that has none; whether there was any
/// record.
fn stream<T: Send>(
    args: &Args,
    mut answers: Answers<'_, impl Read, T>,
    output: &mut Output,
    mut shown: impl FnMut(T) -> Vec<u8>,
) -> Result<bool, Failure> {
    let mut any = false;
    while let Some(batch) = answers.next_batch() {
        any = true;
        let mut bytes = Vec::new();
        let mut failed = None;
        for answer in batch {
            match answer {
                Ok(answer) => bytes.append(&mut shown(answer)),
                Err(error) => {
                    failed = Some(Failure::of(error, &args.file));
                    break;
                }
            }
        }
        output.write(&bytes)?;
        if let Some(failure) = failed {
            return Err(failure);
        }
    }
    Ok(any)
}
