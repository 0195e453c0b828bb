//! `lpf audit`: the guarantees, checked on somebody's own log.

mod args;
mod plan;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::ProgressBar;

pub use self::args::Args;
use self::args::Format;
use self::plan::Plan;
use super::input::is_stream;
use super::output::Output;
use super::{Failure, infer};
use crate::audit::{Audit, ScanError, ScanSettings, Tally, audit, read_state, scan, write_state};
use crate::report::{
    audit_html, audit_junit, audit_markdown, audit_sarif, audit_text, harmless_json,
};

/// What is audited when nothing is named: answers of the reference implementation.
const REFERENCE: &str = include_str!("../../../tests/fixtures/reference/predictions.jsonl");
const REFERENCE_NAME: &str = "reference predictions";

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
    judgeable(&tally)?;
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
        judgeable(baseline)?;
    }
    let audit = audit(&tally, baseline.as_ref(), &plan.checks);
    let text = shown(&audit, args.format)?;
    let code = if audit.summary.passed { 0 } else { 1 };
    Ok((text.into_bytes(), ExitCode::from(code)))
}

/// That there is something to judge: a prediction that can be scored, or one that is no distribution,
/// which the check of validity fails. Without either nothing could fail, whatever the model.
fn judgeable(tally: &Tally) -> Result<(), Failure> {
    if tally.usable() > 0 || tally.invalid > 0 {
        return Ok(());
    }
    Err(Failure::Usage(match tally.unusable.first.first() {
        Some(first) => format!(
            "no row can be used; the first: {}:{}: {}: {}",
            first.file, first.line, first.field, first.message
        ),
        None => "there is no row".to_string(),
    }))
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
            bar.set_style(super::display::progress_style(
                "{bar:24} {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
            ));
            bar
        }
        None => {
            let bar = ProgressBar::new_spinner();
            bar.set_style(super::display::progress_style(
                "{spinner} {bytes} {bytes_per_sec}",
            ));
            bar
        }
    }
}
