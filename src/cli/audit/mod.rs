//! `lpf audit`: the guarantees, checked on somebody's own log.

mod args;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::ProgressBar;

pub(super) use self::args::Args;
use self::args::Format;
use super::Failure;
use super::display::{escaped, style};
use super::input::{is_stream, open};
use super::options::threads;
use super::output::{Output, check_distinct, is_quiet, note, same};
use crate::aggregate::Method;
use crate::answer::Answerer;
use crate::audit::{
    Audit, AuditReport, Gate, Input, Log, MergeError, default_thresholds, set_threshold,
    write_state,
};
use crate::error::{Error, ErrorKind};
use crate::log::{Format as LogFormat, Limits};
use crate::report::TextStyle;

/// What `--demo` audits: answers of the reference implementation.
const REFERENCE: &str = include_str!("reference.jsonl");
const REFERENCE_NAME: &str = "reference predictions";

/// Runs the command.
pub(super) fn run(args: &Args, limits: &Limits) -> Result<ExitCode, Failure> {
    // Treat a broken pipe as an error: the report was truncated.
    run_in_threads(args, limits).map_err(|failure| match failure {
        Failure::ClosedPipe => Failure::Write {
            to: "standard output".to_string(),
            error: std::io::ErrorKind::BrokenPipe.into(),
        },
        other => other,
    })
}

fn run_in_threads(args: &Args, limits: &Limits) -> Result<ExitCode, Failure> {
    check(args)?;
    check_outputs(args)?;
    let (gate, file) = args.settings.read()?;
    check_limits(args, &gate, &file)?;
    let answerer = answerer(args, limits)?;
    let bar = progress(&args.files);
    let advance = |bytes| match bytes {
        0 => {
            bar.set_style(style(
                "{spinner} {bytes} read; the checks are computed, {elapsed}",
            ));
            bar.enable_steady_tick(std::time::Duration::from_millis(200));
        }
        bytes => bar.inc(bytes),
    };
    let audit = audit(args, &gate, &answerer)?.progress(&advance);
    let mut output = Output::create(args.partial.as_deref().or(args.output.as_deref()))?;
    let strict = args.strict || gate.strict.unwrap_or(false);
    let done = threads(args.threads, limits)?.install(|| work(args, audit, &answerer, strict))?;
    bar.finish_and_clear();
    if let Some(warning) = done.warning {
        note(&warning);
    }
    output.write(&done.bytes)?;
    output.finish()?;
    match done.unusable {
        Some(failure) => Err(failure),
        None => Ok(done.code),
    }
}

/// What an audit ends with.
struct Done {
    bytes: Vec<u8>,
    code: ExitCode,
    warning: Option<String>,
    /// The first row that cannot be used, where none is allowed.
    unusable: Option<Failure>,
}

fn work(args: &Args, audit: Audit<'_>, answerer: &Answerer, strict: bool) -> Result<Done, Failure> {
    if args.partial.is_some() {
        let tally = audit.strict(strict).tally().map_err(failure)?;
        let bytes = write_state(&tally).map_err(|error| Failure::Usage(error.to_string()))?;
        return Ok(Done {
            bytes,
            code: ExitCode::SUCCESS,
            warning: seen(answerer, &tally.inputs),
            unusable: None,
        });
    }
    let report = audit.strict(strict).reported().run().map_err(failure)?;
    let first = report.rejected.first.first().filter(|_| strict);
    let unusable = first.map(|row| {
        let count = report.rejected.count;
        let what = format!(
            "{}: {} ({count} such rows in all, none allowed)",
            row.field, row.message
        );
        Failure::line(Path::new(&row.file), row.line, what)
    });
    Ok(Done {
        bytes: shown(&report, args).into_bytes(),
        code: ExitCode::from(if report.passed() { 0 } else { 1 }),
        warning: seen(answerer, &report.inputs),
        unusable,
    })
}

/// A warning where the calibration map was fitted on rows of the files that are audited.
fn seen(answerer: &Answerer, inputs: &[Input]) -> Option<String> {
    let map = answerer.calibration()?;
    let input = inputs
        .iter()
        .find(|input| map.was_fitted_on(&input.sha256))?;
    let part = match map.split < 1.0 {
        true => format!("{} of its rows", map.rows),
        false => "all of its rows".to_string(),
    };
    Some(format!(
        "warning: {}: the calibration map was fitted on {part}, which it looks better on than on new \
         ones; audit rows that it has not seen",
        escaped(&input.name)
    ))
}

fn shown(report: &AuditReport, args: &Args) -> String {
    match args.format {
        Format::Text => report.to_text_as(style_of(args)),
        Format::Json => report.to_json(),
        Format::Markdown => report.to_markdown(),
        Format::Junit => report.to_junit(),
        Format::Sarif => report.to_sarif(),
        Format::Html => report.to_html(),
    }
}

/// On a terminal lines are as wide as it is, and verdicts have a colour unless it, or NO_COLOR, says no.
fn style_of(args: &Args) -> TextStyle {
    let terminal = args.output.is_none() && std::io::stdout().is_terminal();
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    // Where a terminal does not tell, it is as wide as terminals were.
    let width =
        terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0).max(40));
    TextStyle {
        all: args.all,
        colour: terminal && !dumb && !set("NO_COLOR"),
        width: terminal.then_some(width),
    }
}

/// The options that say how the log is read, for the commands that a report suggests.
fn reading(args: &Args) -> String {
    let input = &args.input;
    let options = [
        ("--label", input.label.clone()),
        ("--id", input.id.clone()),
        ("--probs", input.probs.as_ref().map(|names| names.join(","))),
        ("--positive", input.positive.clone()),
        (
            "--classes",
            args.classes.as_ref().map(|names| names.join(",")),
        ),
    ];
    let files = [
        ("--model", &args.model),
        ("--aggregator", &args.aggregator),
        ("--config", &args.settings.config),
    ];
    let files = files.map(|(option, file)| {
        let name = file
            .as_ref()
            .map(|file| file.to_string_lossy().into_owned());
        (option, name)
    });
    let format = input.input_format.and_then(|format| {
        let value = clap::ValueEnum::to_possible_value(&format)?;
        Some(value.get_name().to_string())
    });
    let options = options
        .into_iter()
        .chain(files)
        .chain([("--input-format", format)]);
    let given = options.filter_map(|(option, value)| {
        let value = value?;
        let plain = |c: char| c.is_alphanumeric() || "_-.,:/".contains(c);
        Some(match !value.is_empty() && value.chars().all(plain) {
            true => format!("{option} {value}"),
            false => format!("{option} '{}'", value.replace('\'', r"'\''")),
        })
    });
    let mut given: Vec<String> = given.collect();
    if input.answer_from_evidence {
        given.push("--answer-from-evidence".to_string());
    }
    if args.model.is_some() {
        given.push(format!("--samples {} --seed {}", args.samples, args.seed));
    }
    given.join(" ")
}

/// That the arguments go together.
fn check(args: &Args) -> Result<(), Failure> {
    let usage = |what: &str| Err(Failure::Usage(what.to_string()));
    if args.merge && args.files.is_empty() {
        return usage("--merge needs the files that --partial wrote");
    }
    let all = args.files.iter().chain(&args.baseline);
    let streams = all.filter(|file| is_stream(file)).count();
    if streams > 1 {
        return usage("standard input can be read only once");
    }
    if args.name.is_some() && streams == 0 {
        return usage("--name is for standard input (-)");
    }
    Ok(())
}

/// A report does not replace what it is about. A state may take the place of one that is in it, as sums
/// do; that is said.
fn check_outputs(args: &Args) -> Result<(), Failure> {
    let files = [
        &args.model,
        &args.aggregator,
        &args.calibration,
        &args.settings.config,
    ];
    let files = files.into_iter().flatten().map(|file| &**file);
    let logs = || args.files.iter().chain(&args.baseline).map(|file| &**file);
    check_distinct(args.output.as_deref(), files.clone().chain(logs()))?;
    let Some(partial) = args.partial.as_deref() else {
        return Ok(());
    };
    let states = logs().filter(|_| !args.merge);
    check_distinct(Some(partial), files.chain(states))?;
    if let Some(state) = logs().find(|file| args.merge && same(partial, file)) {
        let name = escaped(&state.to_string_lossy());
        note(&format!("{name} is read, and replaced when all are merged"));
    }
    Ok(())
}

/// The file's limits and then the command line's are those of checks that there are.
fn check_limits(args: &Args, gate: &Gate, file: &Path) -> Result<(), Failure> {
    let mut limits = default_thresholds();
    for limit in &gate.limits {
        set_threshold(&mut limits, &limit.check, limit.value)
            .map_err(|error| Failure::line(file, limit.line, error))?;
    }
    for (text, id, value) in args.limits()? {
        set_threshold(&mut limits, id, value)
            .map_err(|error| Failure::Usage(format!("--threshold {text}: {error}")))?;
    }
    Ok(())
}

/// What answers the evidence of the log.
fn answerer(args: &Args, limits: &Limits) -> Result<Answerer, Failure> {
    let method = args.method.unwrap_or(Method::Spn);
    let mut builder = Answerer::builder(method)
        .samples(args.samples as usize)
        .seed(args.seed)
        .limits(*limits);
    if let (Some(prior), Method::PriorCorrected) = (&args.prior, method) {
        builder = builder.prior(prior.as_slice());
    }
    if let Some(path) = &args.model {
        builder = builder.model(path.as_path());
    }
    if let Some(path) = &args.aggregator {
        builder = builder.aggregator(path);
    }
    if let Some(path) = &args.calibration {
        builder = builder.calibration(path.as_path());
    }
    builder.build().map_err(failure)
}

/// What the command line and the file of limits ask for together.
fn audit<'a>(args: &'a Args, gate: &Gate, answerer: &'a Answerer) -> Result<Audit<'a>, Failure> {
    let format = args.input.format(&gate.columns)?;
    let logs = args.files.iter().map(|path| log(args, path, &format));
    let mut logs = logs.collect::<Result<Vec<_>, _>>()?.into_iter();
    let mut audit = match logs.next() {
        Some(first) => logs.fold(Audit::of(first), Audit::and),
        None => {
            let log = Log::stream(REFERENCE_NAME, REFERENCE.as_bytes());
            Audit::of(log.format(crate::log::Format::json_lines("spn")))
                .classes(["low", "medium", "high"])
        }
    };
    for path in &args.baseline {
        audit = audit.baseline(log(args, path, &format)?);
    }
    audit = audit
        .answerer(answerer)
        .compare(args.method.is_some())
        .confidence(args.confidence.function())
        .from_evidence(args.input.answer_from_evidence)
        .seed(args.seed)
        .independent_rows(args.independent_rows)
        .reading(reading(args));
    if let Some(tolerance) = args.tolerance {
        audit = audit.tolerance(tolerance);
    }
    // States have the slices that they were made with.
    if !args.merge {
        let by = match args.by.is_empty() {
            true => gate.by.as_deref().unwrap_or_default(),
            false => &args.by,
        };
        let segments = args.segments || gate.segments.unwrap_or(false);
        audit = audit.by(by).segments(segments);
    }
    if let Some(classes) = args.classes.as_ref().or(gate.classes.as_ref()) {
        audit = audit.classes(classes);
    }
    if let Some(bins) = args.bins.or(gate.bins) {
        audit = audit.bins(bins);
    }
    if let Some(prior) = &args.prior {
        audit = audit.prior(prior.as_slice());
    }
    if let Some(undecided) = args.undecided.or(gate.undecided) {
        audit = audit.undecided(undecided);
    }
    let of_file = gate.limits.iter().map(|limit| (&*limit.check, limit.value));
    let of_args = args.limits()?;
    let of_args = of_args.iter().map(|&(_, id, value)| (id, value));
    for (id, value) in of_file.chain(of_args) {
        audit = match value {
            Some(value) => audit.limit(id, value),
            None => audit.no_limit(id),
        };
    }
    Ok(audit)
}

/// A file of the command line as a log.
fn log<'a>(args: &Args, path: &Path, format: &LogFormat) -> Result<Log<'a>, Failure> {
    let name = match &args.name {
        Some(name) if is_stream(path) => name.clone(),
        _ => path.to_string_lossy().into_owned(),
    };
    if args.merge {
        return Ok(Log::state(name, open(path)?));
    }
    let log = match is_stream(path) {
        true => Log::stream(name, std::io::stdin()),
        false => Log::from(path),
    };
    Ok(log.format(format.clone()))
}

/// An error of an audit; settings that differ between shards are named as the options that set them.
fn failure(error: Error) -> Failure {
    let path = error.file().unwrap_or(Path::new("")).to_path_buf();
    let source = std::error::Error::source(&error);
    if let Some(MergeError::Unlike { setting }) = source.and_then(|e| e.downcast_ref()) {
        let option = match *setting {
            "classes" => "their classes".to_string(),
            other => format!("--{other}"),
        };
        let what = error.what().replacen(setting, &option, 1);
        return Failure::Usage(format!("{}: {what}", path.display()));
    }
    match (error.kind(), error.file()) {
        (ErrorKind::Audit, None) => Failure::Usage(error.what()),
        _ => Failure::of(error, &path),
    }
}

/// A bar over the bytes of all files; a spinner where their number is not known. Silent in pipes.
fn progress(files: &[PathBuf]) -> ProgressBar {
    let size = |path: &PathBuf| {
        let found = std::fs::metadata(path).ok();
        found.filter(|m| m.is_file()).map(|m| m.len())
    };
    let (bar, template) = match files.iter().map(size).sum() {
        Some(bytes) => (
            ProgressBar::new(bytes),
            "{bar:24} {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
        ),
        None => (
            ProgressBar::new_spinner(),
            "{spinner} {bytes} {bytes_per_sec}",
        ),
    };
    bar.set_style(style(template));
    if is_quiet() {
        bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
    }
    bar
}
