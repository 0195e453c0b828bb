//! The command line: one file, or folder, for each subcommand.
//!
//! Exit codes: 0 all is well, 1 a check failed, 2 usage, input or I/O error.

mod apply;
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
mod memory;
mod monitor;
mod options;
mod output;
mod settings;
mod shell;
mod signals;
mod train;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use failure::Failure;

use self::output::Output;
use crate::exhibit::{Cell, Table};
use crate::log::Limits;
use crate::report::table_text;

/// Where proofs and properties leave their outcome.
const RECORDS: &str = "target/lpf";

/// The stack of the thread that does the work; inputs nest to a limit, far below it.
const STACK: usize = 8 << 20;

/// Latent Posterior Factors, and the evidence for what they guarantee.
#[derive(Debug, Parser)]
#[command(
    name = "lpf",
    version = env!("LPF_VERSION"),
    arg_required_else_help = true,
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// The most memory to take, such as 512M or 2G; more ends with exit code 2 [default: half of what
    /// the machine or its container has]
    #[arg(long, global = true, value_name = "BYTES", value_parser = memory::bytes)]
    memory: Option<u64>,

    /// Another value for a limit of what is taken in, such as items=2000000; may be repeated
    /// (`lpf limits` lists them)
    #[arg(long, global = true, value_name = "LIMIT=N")]
    max: Vec<String>,

    /// Say nothing on standard error but errors
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Audit(audit::Args),
    Claims(claims::Args),
    Bound(bound::Args),
    Calibrate(calibrate::Args),
    Apply(apply::Args),
    Monitor(monitor::Args),
    Infer(infer::Args),
    Train(train::Args),
    Generate(generate::Args),
    Experiment(experiment::Args),
    Verify(verify::Args),
    /// List the limits of what is taken in, with their values.
    Limits,
    Completions(shell::CompletionArgs),
    Man(shell::ManualArgs),
}

/// Runs the command that the process's arguments ask for.
///
/// Whatever happens, the process ends with 0, 1 or 2, or by the signal that ended it.
pub fn main() -> ExitCode {
    main_with(std::env::args_os().collect())
}

/// Runs the command that these arguments ask for, of which the first is the name of the program; it takes
/// over the signals of the process. Otherwise as [`main`].
pub fn main_with(arguments: Vec<std::ffi::OsString>) -> ExitCode {
    let work = move || {
        signals::install()?;
        match Cli::try_parse_from(arguments) {
            Ok(cli) => run(&cli),
            Err(answer) => answered(&answer),
        }
    };
    // A stack of our own, as large wherever the command runs: the first thread has what the system gives.
    let thread = std::thread::Builder::new().name("main".to_string());
    let outcome = match thread.stack_size(STACK).spawn(work) {
        Ok(running) => running.join(),
        Err(error) => Ok(Err(Failure::Threads(error.to_string()))),
    };
    match outcome {
        Ok(Ok(code)) => code,
        // Whoever read our output has seen enough; that is not an error.
        Ok(Err(Failure::ClosedPipe)) => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            output::say(&failure.to_string());
            ExitCode::from(2)
        }
        // The language has said where.
        Err(_) => {
            output::say("error: this is a fault of lpf itself; please report it with the input");
            ExitCode::from(2)
        }
    }
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    output::be_quiet(cli.quiet);
    memory::watch(cli.memory)?;
    let limits = &limits(&cli.max)?;
    match &cli.command {
        Command::Audit(args) => audit::run(args, limits),
        Command::Claims(args) => claims::run(args),
        Command::Bound(args) => bound::run(args),
        Command::Calibrate(args) => calibrate::run(args, limits),
        Command::Apply(args) => apply::run(args, limits),
        Command::Monitor(args) => monitor::run(args, limits),
        Command::Infer(args) => infer::run(args, limits),
        Command::Train(args) => train::run(args, limits),
        Command::Generate(args) => generate::run(args),
        Command::Experiment(args) => experiment::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Limits => list_limits(limits),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => shell::manual(args),
    }
}

/// What the argument parser says by itself: help, the version, or what is wrong.
fn answered(answer: &clap::Error) -> Result<ExitCode, Failure> {
    if answer.use_stderr() {
        // Arguments are repeated in it. Line by line, as line breaks are the parser's own.
        let said = answer.render().to_string();
        let lines: Vec<String> = said.trim_end().lines().map(display::message).collect();
        output::say(&lines.join("\n"));
        return Ok(ExitCode::from(2));
    }
    let mut output = Output::create(None)?;
    let said = answer.render();
    let said = match output.is_terminal() {
        true => said.ansi().to_string(),
        false => said.to_string(),
    };
    output.write(said.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The limits, with those that the command line sets.
fn limits(given: &[String]) -> Result<Limits, Failure> {
    let mut limits = Limits::default();
    for text in given {
        let wrong = |what: String| Failure::Usage(format!("--max {text}: {what}"));
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| wrong("write LIMIT=N, such as items=2000000".to_string()))?;
        let value = memory::bytes(value).map_err(wrong)?;
        let set = limits.set(name, value);
        set.map_err(|error| wrong(error.to_string()))?;
    }
    Ok(limits)
}

/// Prints all limits.
fn list_limits(limits: &Limits) -> Result<ExitCode, Failure> {
    let mut table = Table::new(
        "limits",
        "Limits of what is taken in; --max LIMIT=N sets another value for one run",
    );
    for (kind, value) in limits.values_of_all() {
        table.row([
            ("limit", Cell::text(kind.name)),
            ("at most", Cell::text(value.to_string())),
            ("counts", Cell::text(kind.counts)),
        ]);
    }
    output::write(None, &table_text(&table))?;
    Ok(ExitCode::SUCCESS)
}
