//! `lpf experiment`: the experiments, run.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;

use super::Failure;
use super::output::Output;
use crate::data::DOMAINS;
use crate::experiments::{DomainsSettings, Outcome, run_domains};
use crate::report::{outcome_html, outcome_markdown, outcome_text, page};

/// Run an experiment and show its tables.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which experiment
    #[arg(value_enum, default_value = "domains")]
    name: Name,

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

/// The experiments.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    /// All eight synthetic domains: every way of aggregation beside the exact Bayes posterior
    Domains,
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
    let outcome = match args.name {
        Name::Domains => domains(args)?,
    };
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

fn domains(args: &Args) -> Result<Outcome, Failure> {
    let settings = DomainsSettings {
        entities: args.entities,
        epochs: args.epochs as usize,
        seed: args.seed,
        ..DomainsSettings::default()
    };
    let bar = indicatif::ProgressBar::new(DOMAINS.len() as u64);
    bar.set_style(super::train::style("{bar:24} {pos}/{len} {msg} {eta} left"));
    let outcome = run_domains(&settings, |result| {
        bar.set_message(result.domain.name);
        bar.inc(1);
    });
    bar.finish_and_clear();
    outcome.map_err(|error| Failure::Usage(error.to_string()))
}
