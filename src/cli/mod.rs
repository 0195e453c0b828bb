//! The command line: one file, or folder, for each subcommand.
//!
//! Exit codes: 0 all is well, 1 a check failed, 2 usage, input or I/O error.

mod audit;
mod bound;
mod calibrate;
mod claims;
mod display;
mod experiment;
mod failure;
mod generate;
mod infer;
mod input;
mod options;
mod output;
mod train;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use failure::Failure;

/// Where proofs and properties leave their outcome.
const RECORDS: &str = "target/lpf";

/// Latent Posterior Factors, and the evidence for what they guarantee.
#[derive(Debug, Parser)]
#[command(
    name = "lpf",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Audit(audit::Args),
    Claims(claims::Args),
    Bound(bound::Args),
    Calibrate(calibrate::Args),
    Infer(infer::Args),
    Train(train::Args),
    Generate(generate::Args),
    Experiment(experiment::Args),
    Verify(verify::Args),
}

/// Runs the command that the process's arguments ask for.
pub fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Audit(args) => audit::run(&args),
        Command::Claims(args) => claims::run(&args),
        Command::Bound(args) => bound::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Infer(args) => infer::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Experiment(args) => experiment::run(&args),
        Command::Verify(args) => verify::run(&args),
    };
    match outcome {
        Ok(code) => code,
        // Whoever read our output has seen enough; that is not an error.
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(2)
        }
    }
}
