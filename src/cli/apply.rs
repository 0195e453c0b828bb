//! `lpf apply`: a log with its answers passed through a calibration map.

use std::path::PathBuf;
use std::process::ExitCode;

use rayon::prelude::*;

use super::Failure;
use super::display::message;
use super::input::{InputOptions, is_stream};
use super::options::{AnswerOptions, method_parser, threads};
use super::output::{Output, check_distinct};
use super::settings::SettingsFile;
use crate::aggregate::Method;
use crate::answer::Answerer;
use crate::calibration::MapError;
use crate::error::Error;
use crate::log::{
    ClassNames, Limits, LogBatch, LogReader, Reading, Reason, RowError, RowRules, Tolerance,
};
use crate::model::{CalibrationFile, LatentModel};

mod writer;

use self::writer::Writer;

const EXAMPLES: &str = "\
The log comes out in the format that it went in, compressed if the name of the output ends in .gz or .zst:
same rows, same order, every other field and column as it was, with the calibrated probabilities in place of the logged ones. (Arrow is
read but not written.) Labels
are not needed. A JSON line without an answer gets the one that follows from its evidence, as by `lpf
infer` with the same options. A conformal map leaves the probabilities as they are and adds the set of
classes: the field `set`, or a column of that name with the classes between bars (a|b).

Examples:
  lpf apply log.csv --calibration cal.json --output calibrated.csv
  lpf apply log.jsonl --aggregation uniform --calibration cal.json > calibrated.jsonl
  lpf apply log.jsonl --calibration sets.json --output sets.jsonl";

/// Pass the answers of a log through a calibration map.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// A log of predictions: JSON lines, a JSON array, CSV, TSV or Parquet; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    settings: SettingsFile,

    /// A map fitted by `lpf calibrate`
    #[arg(long, value_name = "FILE")]
    calibration: PathBuf,

    /// How factors are combined, as --method of `lpf infer`
    #[arg(long, value_parser = method_parser(), default_value = "spn")]
    aggregation: Method,

    #[command(flatten)]
    options: AnswerOptions,

    /// Where to write: a file that appears complete or not at all [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Number of threads [default: one for each core]; the output does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// Runs the command.
pub(super) fn run(args: &Args, limits: &Limits) -> Result<ExitCode, Failure> {
    let inputs = args
        .options
        .files()
        .chain([&*args.file, &*args.calibration]);
    check_distinct(args.output.as_deref(), inputs)?;
    let failed = |error: Error| Failure::of(error, &args.file);
    let settings = args.options.builder(args.aggregation).limits(*limits);
    let settings = settings.calibration(args.calibration.as_path());
    let answerer = settings.build().map_err(failed)?;
    let Some(map) = answerer.calibration() else {
        return Err(Failure::Usage("--calibration is needed".to_string()));
    };
    let mut format = args.input.format(&args.settings.read()?.0.columns)?;
    format.fields.unlabelled = true;
    let reader = match is_stream(&args.file) {
        true => LogReader::new_within(std::io::stdin(), &format, limits),
        false => LogReader::open_within(&args.file, &format, limits),
    };
    let mut reader = reader.map_err(|error| failed(error.into()))?;
    let output = Output::create(args.output.as_deref())?;
    let sets = map.map.sets().is_some();
    let mut writer = Writer::new(output, &reader, args, &format, limits, sets)?;
    let mut rows = 0;
    threads(args.threads, limits)?.install(|| -> Result<(), Failure> {
        let mut known: Option<ClassNames> = None;
        let mut headed = false;
        let mut batch = LogBatch::default();
        while reader
            .fill(&mut batch)
            .map_err(|error| failed(error.into()))?
        {
            if known.is_none() {
                let model = answerer.latent().map(LatentModel::class_count);
                let found = batch.classes(answerer.classes(), model);
                known = found.map_err(|error| failed(error.into()))?;
                if let Some(classes) = &known {
                    check(map, classes, args)?;
                }
            }
            // Not before it is known that the map is for these classes.
            if let (Some(header), Some(_), false) = (reader.header(), &known, headed) {
                writer.begin(heading(header, &reader.reading(), sets));
                headed = true;
            }
            let nothing = ClassNames::Numbered(0);
            let classes = known.as_ref().unwrap_or(&nothing);
            let computed = args.input.answers_evidence(&format);
            let rules = batch.rules(classes, Tolerance::Digits, computed);
            let lines = writer.takes_lines();
            let done: Vec<Result<Applied, Failure>> = (0..batch.len())
                .into_par_iter()
                .map(|i| {
                    let applied = applied(&answerer, map, rules, &batch, i, lines);
                    let line = batch.row(i).number;
                    applied.map_err(|error| Failure::line(&args.file, line, error))
                })
                .collect();
            rows += done.len();
            writer.rows(done)?;
        }
        Ok(())
    })?;
    if rows == 0 {
        return Err(Failure::NoRecords {
            path: args.file.clone(),
        });
    }
    writer.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The header of the output: that of the input, with one more column where there are sets.
fn heading(header: &[u8], reading: &Reading, sets: bool) -> Vec<u8> {
    let (line, end) = match header.strip_suffix(b"\r") {
        Some(line) => (line, &b"\r\n"[..]),
        None => (header, &b"\n"[..]),
    };
    let separator: &[u8] = match &*reading.format {
        "TSV" => b"\t",
        "CSV (semicolons)" => b";",
        "CSV (bars)" => b"|",
        _ => b",",
    };
    let more = if sets {
        [separator, b"set"].concat()
    } else {
        Vec::new()
    };
    [line, &more, end].concat()
}

/// That the map is for these classes.
fn check(map: &CalibrationFile, classes: &ClassNames, args: &Args) -> Result<(), Failure> {
    let others = match (classes, &map.names) {
        (ClassNames::Named(own), Some(names)) => own.iter().ne(names),
        _ => false,
    };
    if map.classes != classes.len() || others {
        const SHOWN: usize = 12;
        let listed = |name: &dyn Fn(usize) -> String, count: usize| {
            let names: Vec<String> = (0..count.min(SHOWN)).map(name).collect();
            let more = if count > SHOWN { ", …" } else { "" };
            format!("{}{more}", names.join(", "))
        };
        let of_map = match &map.names {
            Some(names) => listed(&|i| names.get(i).cloned().unwrap_or_default(), map.classes),
            None => format!("{} without names", map.classes),
        };
        let of_log = listed(&|i| classes.name(i).into_owned(), classes.len());
        let what = format!(
            "{}: the calibration map {} is for other classes than the log: {of_map}, where the log has {of_log}",
            args.file.display(),
            args.calibration.display()
        );
        return Err(Failure::Usage(message(&what)));
    }
    Ok(())
}

/// A row that the map was applied to: its line, or where there are none its answer.
pub(super) enum Applied {
    Line(Vec<u8>),
    Answer(Vec<f64>),
}

/// A row with the answer that the map gives.
fn applied(
    answerer: &Answerer,
    map: &CalibrationFile,
    rules: RowRules<'_>,
    batch: &LogBatch,
    index: usize,
    lines: bool,
) -> Result<Applied, RowError> {
    let field = rules.answer_field;
    let mut row = answerer.row(batch.row(index).prediction?, rules)?;
    let answer = answerer.answer_of(&mut row, rules)?;
    let unmapped =
        |error: MapError| RowError::new(Reason::NotADistribution, field, error.to_string());
    let calibrated = map.apply(&answer).map_err(unmapped)?;
    if !lines {
        return Ok(Applied::Answer(calibrated.distribution.into_vec()));
    }
    let weights = row
        .evidence
        .as_ref()
        .map(|entity| entity.weights.as_slice());
    let set = map.set(&answer, weights).map_err(unmapped)?;
    let p = calibrated.distribution.probabilities();
    batch
        .with_answer(index, p, rules.classes, set.as_deref())
        .map(Applied::Line)
        .ok_or_else(|| RowError::no_answer(rules))
}
