//! `lpf experiment`: the experiments, run.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;

use super::Failure;
use super::output::Output;
use crate::experiments::{EXPERIMENTS, Lab, Outcome, Progress, Settings};
use crate::ledger::paper::Paper;
use crate::report::{outcome_html, outcome_markdown, outcome_text, page};

/// Run an experiment and show its tables.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which experiment
    #[arg(value_parser = names(), default_value = "domains")]
    name: String,

    /// Seed of data and training
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Entities to train on, in each domain
    #[arg(long, value_name = "N", default_value_t = 900, value_parser = clap::value_parser!(u64).range(20..))]
    entities: u64,

    /// At most this many epochs
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    epochs: u32,

    /// Shape of the output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,

    /// Where to write: a file that appears complete or not at all [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(EXPERIMENTS.iter().map(|experiment| experiment.id))
}

/// Shapes of output.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Json,
    Html,
}

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut output = Output::create(args.output.as_deref())?;
    let outcome = outcome(args)?;
    let text = match args.format {
        Format::Text => outcome_text(&outcome),
        Format::Markdown => outcome_markdown(&outcome),
        Format::Json => serde_json::to_string_pretty(&outcome)
            .map(|json| json + "\n")
            .map_err(|error| Failure::Usage(error.to_string()))?,
        Format::Html => page(&outcome.title, &outcome_html(&outcome)),
    };
    output.write(text.as_bytes())?;
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Steps of an experiment on a terminal.
struct Bar(indicatif::ProgressBar);

impl Progress for Bar {
    fn expect(&self, steps: u64) {
        self.0.inc_length(steps);
    }

    fn step(&self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.inc(1);
    }
}

fn outcome(args: &Args) -> Result<Outcome, Failure> {
    let settings = Settings {
        entities: args.entities,
        epochs: args.epochs as usize,
        seed: args.seed,
        trials: None,
    };
    let lab = Lab::new(settings, Paper::published().for_experiments());
    let bar = indicatif::ProgressBar::new(0);
    bar.set_style(super::train::style("{bar:24} {pos}/{len} {msg} {eta} left"));
    let bar = Bar(bar);
    let found = EXPERIMENTS.iter().find(|e| e.id == args.name);
    let experiment = found.ok_or_else(|| Failure::Usage(format!("no experiment {}", args.name)))?;
    let outcome = (experiment.run)(&lab, &bar);
    bar.0.finish_and_clear();
    outcome.map_err(|error| Failure::Usage(error.to_string()))
}
