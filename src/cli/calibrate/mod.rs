//! `lpf calibrate`: a map that makes confidences match hit rates.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use rayon::prelude::*;
use serde::Serialize;

use super::Failure;
use super::input::{InputOptions, is_stream};
use super::options::{AnswerOptions, method_parser, threads};
use super::output::Output;
use crate::aggregate::Method;
use crate::answer::Answerer;
use crate::audit::{Audit, CHECKS, Check, Log};
use crate::bounds::binned_ranges;
use crate::calibration::{Calibrated, CalibrationMap, HistogramMap, MapError, MapMethod, bin_edge};
use crate::error::Error;
use crate::exhibit::{Cell, Table};
use crate::latent::random::{Stream, text_key};
use crate::log::{ClassNames, LogBatch, LogReader, LogRow, RowError, RowRules};
use crate::model::{CalibrationFile, LatentModel};
use crate::report::table_text;
use crate::simplex::Distribution;

/// Intervals hold with probability 1 − δ each.
const DELTA: f64 = 0.05;

const EXAMPLES: &str = "\
Input: one JSON object per line with a label, and the logged answer or its evidence:
  {\"entity\": \"C5\", \"label\": \"medium\", \"probs\": [0.1, 0.8, 0.1]}
  {\"entity\": \"C6\", \"label\": \"low\", \"evidence\": [{\"factor\": [0.7, 0.2, 0.1]}, ...]}
or CSV with a header, or Parquet: a column `label`, and a column `prob_CLASS` or `p_CLASS` for each
class. Rows with evidence only are answered as by `lpf infer` with the same options.

Each row is used either to fit the map or to judge it, chosen by the hash of its entity's name (or of
the line) and the seed, whatever its place in the file; rows of one entity stay together.

What each method guarantees:
  temperature  keeps the order of classes; least log loss on the fitting rows. Nothing for new rows.
  histogram    95 % intervals of the true hit rates, joint over all bins, for any model and
               independent rows. A bin without fitting rows keeps the model's confidence, without
               any guarantee.
  isotonic     the best hit rate that never falls with confidence, exact on the fitting rows; for
               new rows only in the limit.
Histogram and isotonic maps change the confidence of the predicted class; the other classes share the
rest in their old proportions.

Examples:
  lpf calibrate labelled.jsonl --method temperature --output cal.json
  lpf calibrate labelled.jsonl --method histogram --bins 10 --split 0.7 --output cal.json
  lpf infer new.jsonl --calibration cal.json
  lpf audit log.jsonl --calibration cal.json";

/// Fit a calibration map on one part of labelled records and judge it on the other.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Records with labels: JSON lines, CSV or Parquet where the name ends in .csv or .parquet; - for
    /// standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    input: InputOptions,

    /// The kind of map
    #[arg(long, value_enum)]
    method: Kind,

    /// The JSON field of the logged answer; a line without it is answered from its evidence
    #[arg(long, value_name = "FIELD", default_value = "probs")]
    answer: String,

    /// How factors are combined, as --method of `lpf infer`
    #[arg(long, value_parser = method_parser(), default_value = "spn")]
    aggregation: Method,

    #[command(flatten)]
    options: AnswerOptions,

    /// Bins of equal width, for --method histogram
    #[arg(long, value_name = "B", default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=1024))]
    bins: u16,

    /// Share of the rows to fit on; the others judge the map
    #[arg(long, value_name = "S", default_value_t = 0.5)]
    split: f64,

    /// Where to write the map: a file that appears complete or not at all
    #[arg(long, value_name = "FILE")]
    output: PathBuf,

    /// Format of the report on standard output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,

    /// Number of threads [default: one for each core]; the output does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// One temperature for all predictions
    Temperature,
    /// The hit rate of the confidence's bin
    Histogram,
    /// The best hit rate that never falls with confidence
    Isotonic,
}

/// Formats of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables
    Text,
    /// One JSON object
    Json,
}
#[derive(Debug, Serialize)]
struct Report<'a> {
    method: &'static str,
    map: &'a CalibrationMap,
    fitted_on: u64,
    judged_on: u64,
    before: Scores,
    after: Scores,
    /// T1″, for histogram maps.
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Vec<BinPromise>>,
}

/// The scores of some predictions, as an audit of them finds them.
#[derive(Clone, Copy, Debug, Serialize)]
struct Scores {
    accuracy: Estimate,
    ece: Estimate,
    smooth_ece: Estimate,
    brier: Estimate,
    log_loss: Estimate,
    /// Rows whose true class got probability zero, each of which makes the log loss infinite.
    impossible: u64,
}

/// A score and its 95 % interval, where there is one.
#[derive(Clone, Copy, Debug, Serialize)]
struct Estimate {
    value: f64,
    interval: Option<(f64, f64)>,
}

impl Scores {
    fn of(rows: &[(Calibrated, usize)]) -> Result<Self, Error> {
        let mut audit = Audit::of(Log::calibrated("rows", rows)).compare(false);
        // Without limits each interval has a level of its own.
        for kind in CHECKS.iter().filter(|kind| kind.default.is_some()) {
            audit = audit.no_limit(kind.id);
        }
        let report = audit.run()?;
        let estimate = |id: &str| {
            let check = report.check(id);
            let interval = check.and_then(|check| check.interval);
            Estimate {
                value: check
                    .and_then(|check: &Check| check.value)
                    .unwrap_or(f64::NAN),
                interval: interval.map(|interval| (interval.low, interval.high)),
            }
        };
        let zero = |(p, label): &&(Calibrated, usize)| {
            p.distribution
                .probabilities()
                .get(*label)
                .is_none_or(|&p| p == 0.0)
        };
        Ok(Scores {
            accuracy: estimate("accuracy"),
            ece: estimate("ece"),
            smooth_ece: estimate("smooth_ece"),
            brier: estimate("brier"),
            log_loss: estimate("log_loss"),
            impossible: rows.iter().filter(zero).count() as u64,
        })
    }
}

impl Estimate {
    /// With four digits.
    fn shown(&self) -> String {
        match self.interval {
            _ if self.value.is_infinite() => "infinite".to_string(),
            Some((low, high)) if high.is_infinite() => format!("{:.4} [{low:.4}, ∞)", self.value),
            Some((low, high)) => format!("{:.4} [{low:.4}, {high:.4}]", self.value),
            None => format!("{:.4}", self.value),
        }
    }
}

/// What a histogram map promises about one bin.
#[derive(Clone, Copy, Debug, Serialize)]
struct BinPromise {
    above: f64,
    up_to: f64,
    points: u64,
    rate: Option<f64>,
    /// With all other bins, with probability 95 %, the true rate is between these.
    low: f64,
    high: f64,
}
#[derive(Debug)]
struct Labelled {
    prediction: Distribution,
    label: usize,
    line: u64,
}

/// Labelled predictions: some to fit on, the others to judge by.
#[derive(Debug)]
struct Rows {
    fit: Vec<Labelled>,
    judge: Vec<Labelled>,
    names: Option<Vec<String>>,
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if !(args.split > 0.0 && args.split < 1.0) {
        let what = format!("--split: {} is not between 0 and 1", args.split);
        return Err(Failure::Usage(what));
    }
    let failed = |error: Error| Failure::of(error, &args.file);
    let answerer = args
        .options
        .builder(args.aggregation)
        .build()
        .map_err(failed)?;
    let threads = threads(args.threads)?;
    let rows = threads.install(|| read(args, &answerer))?;
    let (fit, judge) = (rows.fit.len(), rows.judge.len());
    if fit == 0 || judge == 0 {
        return Err(Failure::Usage(format!(
            "{fit} rows to fit on and {judge} to judge by; both parts need some: give more rows, \
             or another --split or --seed"
        )));
    }
    let map = fitted(args, &rows)?;
    let classes = rows.fit.first().map_or(0, |row| row.prediction.classes());
    let place = (args.split, args.options.seed);
    let file = CalibrationFile::new(map, classes, rows.names, fit as u64, place);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for row in &rows.judge {
        let p = &row.prediction;
        let as_it_was = Calibrated {
            class: p.argmax(),
            confidence: *p.confidence(),
            distribution: p.clone(),
        };
        before.push((as_it_was, row.label));
        let calibrated = file.apply(p).map_err(|error| failed(error.into()))?;
        after.push((calibrated, row.label));
    }
    let report = threads.install(|| -> Result<_, Failure> {
        Ok(Report {
            method: file.map.name(),
            map: &file.map,
            fitted_on: fit as u64,
            judged_on: judge as u64,
            before: Scores::of(&before).map_err(failed)?,
            after: Scores::of(&after).map_err(failed)?,
            bins: match &file.map {
                CalibrationMap::Histogram(map) => Some(promises(map)?),
                _ => None,
            },
        })
    })?;
    let mut output = Output::create(Some(&args.output))?;
    output.write(file.to_json().as_bytes())?;
    output.finish()?;
    let shown = match args.format {
        Format::Text => text(&report),
        Format::Json => {
            let json = serde_json::to_string(&report);
            json.map_err(|error| Failure::Usage(error.to_string()))? + "\n"
        }
    };
    Output::create(None)?.write(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// All rows of the log, each for fitting or for judging.
fn read(args: &Args, answerer: &Answerer) -> Result<Rows, Failure> {
    let failed = |error: Error| Failure::of(error, &args.file);
    let format = args.input.format(&args.file, &args.answer);
    let reader = match is_stream(&args.file) {
        true => LogReader::new(std::io::stdin(), &format),
        false => LogReader::open(&args.file, &format),
    };
    let mut reader = reader.map_err(|error| failed(error.into()))?;
    let mut rows = Rows {
        fit: Vec::new(),
        judge: Vec::new(),
        names: None,
    };
    let mut known: Option<ClassNames> = None;
    let answer_field = reader.answer_field().to_string();
    let mut batch = LogBatch::default();
    while reader
        .fill(&mut batch)
        .map_err(|error| failed(error.into()))?
    {
        if known.is_none() {
            let model = answerer.latent().map(LatentModel::class_count);
            let found = batch.classes(answerer.classes(), model);
            known = found.map_err(|error| failed(error.into()))?;
        }
        let nothing = ClassNames::Numbered(0);
        let rules = RowRules {
            classes: known.as_ref().unwrap_or(&nothing),
            tolerance: answerer.expectations().tolerance,
            answer_field: &answer_field,
        };
        let read: Vec<Result<(bool, Labelled), Failure>> = (0..batch.len())
            .into_par_iter()
            .map(|i| {
                let row = batch.row(i);
                let line = row.number;
                let read = labelled(args, answerer, rules, row);
                read.map_err(|error| Failure::line(&args.file, line, error))
            })
            .collect();
        for row in read {
            let (fits, row) = row?;
            if fits {
                rows.fit.push(row);
            } else {
                rows.judge.push(row);
            }
        }
    }
    if rows.fit.is_empty() && rows.judge.is_empty() {
        return Err(Failure::NoRecords {
            path: args.file.clone(),
        });
    }
    if let Some(ClassNames::Named(names)) = known {
        rows.names = Some(names.to_vec());
    }
    Ok(rows)
}

/// The logged answer of a row, or else the answer to its evidence; and whether it is for fitting.
fn labelled(
    args: &Args,
    answerer: &Answerer,
    rules: RowRules<'_>,
    LogRow {
        number,
        line,
        prediction,
    }: LogRow<'_>,
) -> Result<(bool, Labelled), RowError> {
    let prediction = prediction?;
    // A row without a name is named by all that it says.
    let key = match (prediction.entity.as_deref().unwrap_or(""), line) {
        ("", []) => text_key(&format!("{:?} {:?}", prediction.label, prediction.answer)),
        ("", line) => text_key(&String::from_utf8_lossy(line)),
        (name, _) => text_key(name),
    };
    const PURPOSE: u64 = text_key("calibration split");
    let mut stream = Stream::new(args.options.seed, PURPOSE, key, 0);
    let mut row = answerer.row(prediction, rules)?;
    let label = row.label.clone()?;
    let missing = || RowError::no_answer(rules.answer_field);
    let prediction = match row.answer.take() {
        Some(answer) => Distribution::from_rounded(answer, &rules.tolerance)
            .map_err(|error| RowError::not_a_distribution(rules.answer_field, &error))?,
        None => answerer.aggregate(&mut row)?.ok_or_else(missing)?,
    };
    let labelled = Labelled {
        prediction,
        label,
        line: number,
    };
    Ok((stream.uniform() < args.split, labelled))
}

fn fitted(args: &Args, rows: &Rows) -> Result<CalibrationMap, Failure> {
    let method = match args.method {
        Kind::Temperature => MapMethod::Temperature,
        Kind::Histogram => MapMethod::Histogram {
            bins: usize::from(args.bins),
        },
        Kind::Isotonic => MapMethod::Isotonic,
    };
    let predictions: Vec<Distribution> = rows.fit.iter().map(|r| r.prediction.clone()).collect();
    let labels: Vec<usize> = rows.fit.iter().map(|r| r.label).collect();
    CalibrationMap::fit(method, &predictions, &labels).map_err(|error| {
        let at = match error {
            MapError::Impossible { row } | MapError::Row { row, .. } => rows.fit.get(row),
            _ => None,
        };
        match at {
            Some(row) => Failure::line(&args.file, row.line, format!("evidence: {error}")),
            None => Failure::Usage(error.to_string()),
        }
    })
}

/// T1″ for every bin.
fn promises(map: &HistogramMap) -> Result<Vec<BinPromise>, Failure> {
    let counts = map.counts();
    let ranges = binned_ranges(counts, DELTA).map_err(|e| Failure::Usage(e.to_string()))?;
    let edge = |i| bin_edge(i, counts.len()).unwrap_or(f64::NAN);
    let bins = counts.iter().zip(ranges).enumerate();
    Ok(bins
        .map(|(i, (&(_, points), range))| BinPromise {
            above: edge(i),
            up_to: edge(i + 1),
            points,
            rate: range.rate,
            low: range.low,
            high: range.high,
        })
        .collect())
}

fn text(report: &Report<'_>) -> String {
    let (b, a) = (&report.before, &report.after);
    let mut scores = Table::new(
        "scores",
        format!(
            "On {} rows that the map was not fitted on, with 95 % intervals",
            report.judged_on
        ),
    );
    for (name, before, after) in [
        ("accuracy", b.accuracy, a.accuracy),
        ("ECE, 15 bins", b.ece, a.ece),
        ("smooth ECE", b.smooth_ece, a.smooth_ece),
        ("Brier score", b.brier, a.brier),
        ("log loss", b.log_loss, a.log_loss),
    ] {
        scores.row([
            ("score", Cell::text(name)),
            ("before", Cell::text(before.shown())),
            ("after", Cell::text(after.shown())),
        ]);
    }
    let mut out = format!(
        "{} map, fitted on {} rows\n",
        report.method, report.fitted_on
    );
    match report.map {
        CalibrationMap::Temperature(t) => {
            out += &format!("temperature {:.6}\n", f64::from(*t));
        }
        CalibrationMap::Isotonic(map) => out += &format!("{} blocks\n", map.blocks().len()),
        CalibrationMap::Histogram(_) => {}
    }
    out += &format!("\n{}", table_text(&scores));
    out += "Intervals hold for independent rows, whatever the model. No number of rows bounds a log loss \
            from above.\n";
    if a.impossible > 0 {
        out += &format!(
            "\nThe map gives probability zero to the true class of {} of these rows.\n",
            a.impossible
        );
    }
    if let Some(bins) = &report.bins {
        let seen = bins.iter().filter(|bin| bin.points > 0);
        let mut table = Table::new(
            "bins",
            "Answers of the map, and 95 % intervals of the true rates (joint over all bins, for any \
             model)",
        );
        for bin in seen {
            let number = |x: f64| Cell::number(x, 4);
            table.row([
                ("above", number(bin.above)),
                ("up to", number(bin.up_to)),
                ("fitting rows", Cell::count(bin.points as usize)),
                ("answer", bin.rate.map_or(Cell::Empty, number)),
                ("low", number(bin.low)),
                ("high", number(bin.high)),
            ]);
        }
        out += &format!("\n{}", table_text(&table));
        let empty = bins.iter().filter(|bin| bin.points == 0).count();
        if empty > 0 {
            out += &format!(
                "{empty} bins without fitting rows keep the model's confidence, without any guarantee.\n"
            );
        }
    }
    out
}
