//! `lpf calibrate`: a map that makes predictions as sure as they are right.

mod reading;
mod scores;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use self::reading::{Rows, read};
use self::scores::{DELTA, Scores};
use super::Failure;
use super::infer;
use super::input::InputOptions;
use super::options::{method_parser, threads};
use super::output::Output;
use crate::aggregate::Method;
use crate::bounds::binned_ranges;
use crate::calibration::{Calibrated, CalibrationMap, HistogramMap, MapError, MapMethod, bin_edge};
use crate::exhibit::{Cell, Table};
use crate::model::CalibrationFile;
use crate::report::table_text;
use crate::simplex::Distribution;

const EXAMPLES: &str = "\
Input: one JSON object a line with a label, and the answer that was given or its evidence:
  {\"entity\": \"C5\", \"label\": \"medium\", \"probs\": [0.1, 0.8, 0.1]}
  {\"entity\": \"C6\", \"label\": \"low\", \"evidence\": [{\"factor\": [0.7, 0.2, 0.1]}, ...]}
or CSV with a header, or Parquet: a column `label`, and for each class a column `prob_CLASS` or
`p_CLASS`. From evidence, what is calibrated is the answer that `lpf infer` gives with the same options.

A row is for fitting or for judging by the hash of its entity's name (or of the line) and the seed,
whatever its place in the file; rows of one entity are always on the same side. Only rows that the
map has not seen judge it.

What each method promises:
  temperature  keeps the order of classes; least log loss on the fitting rows. No promise for new rows.
  histogram    for all bins at once, with probability 95 %, how far the hit rate that it answers is
               from the true one: independent of the model, for independent rows. A bin without
               fitting rows keeps the model's confidence and has no promise.
  isotonic     the best hit rate that never falls with confidence, exact on the fitting rows. For
               new rows only in the limit.
Histogram and isotonic change how sure the named class is; the others share the rest as before.

Examples:
  lpf calibrate labelled.jsonl --method temperature --output cal.json
  lpf calibrate labelled.jsonl --method histogram --bins 10 --split 0.7 --output cal.json
  lpf infer new.jsonl --calibration cal.json
  lpf audit log.jsonl --calibration cal.json";

/// Fit a calibration map on one part of labelled records and judge it on the other.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    /// Records with labels: JSON lines, CSV or Parquet where the name ends in .csv or .parquet; - for
    /// standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    input: InputOptions,

    /// Which kind of map
    #[arg(long, value_enum)]
    method: Kind,

    /// The field of a logged answer; a line without it is answered from its evidence
    #[arg(long, value_name = "FIELD", default_value = "probs")]
    answer: String,

    /// How factors are combined, as --method of `lpf infer`
    #[arg(long, value_parser = method_parser(), default_value = "spn")]
    aggregation: Method,

    #[command(flatten)]
    options: infer::Options,

    /// Bins of equal width, for --method histogram
    #[arg(long, value_name = "B", default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=1024))]
    bins: u16,

    /// Share of the rows to fit on; the others judge
    #[arg(long, value_name = "S", default_value_t = 0.5)]
    split: f64,

    /// Where the map goes: a file that appears complete or not at all
    #[arg(long, value_name = "FILE")]
    output: PathBuf,

    /// Shape of the report on standard output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,

    /// Number of threads [default: one for each core]; changes no bit of the output
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// Kinds of map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// One temperature for all predictions
    Temperature,
    /// The hit rate of the confidence's bin
    Histogram,
    /// The best hit rate that never falls with confidence
    Isotonic,
}

/// Shapes of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables, for people
    Text,
    /// One JSON object
    Json,
}

/// What is told about a fitted map.
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

/// Runs the command.
///
/// # Errors
/// See [`Failure`].
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    if !(args.split > 0.0 && args.split < 1.0) {
        let what = format!("--split: {} is not between 0 and 1", args.split);
        return Err(Failure::Usage(what));
    }
    let latent = args.options.latent()?;
    let setup = infer::setup(args.aggregation, &args.options, latent.as_ref())?;
    let rows = threads(args.threads)?.install(|| read(args, &setup))?;
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
    let unfit = |error: String| Failure::Usage(error);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for row in &rows.judge {
        let p = &row.prediction;
        let as_it_was = Calibrated {
            class: p.argmax(),
            confidence: *p.confidence(),
            distribution: p.clone(),
        };
        before.push((as_it_was, row.label));
        let calibrated = file.apply(p).map_err(|e| unfit(e.to_string()))?;
        after.push((calibrated, row.label));
    }
    let scores = |rows: &[(Calibrated, usize)]| Scores::of(rows).map_err(|e| unfit(e.to_string()));
    let report = Report {
        method: file.map.name(),
        map: &file.map,
        fitted_on: fit as u64,
        judged_on: judge as u64,
        before: scores(&before)?,
        after: scores(&after)?,
        bins: match &file.map {
            CalibrationMap::Histogram(map) => Some(promises(map)?),
            _ => None,
        },
    };
    let mut output = Output::create(Some(&args.output))?;
    output.write(file.to_json().as_bytes())?;
    output.finish()?;
    let shown = match args.format {
        Format::Text => text(&report),
        Format::Json => serde_json::to_string(&report).unwrap_or_default() + "\n",
    };
    Output::create(None)?.write(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
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
            Some(row) => Failure::Line {
                path: args.file.clone(),
                line: row.line,
                what: format!("evidence: {error}"),
            },
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
    let words = |w: &[&str]| w.iter().map(|w| (*w).to_string()).collect::<Vec<_>>();
    let (b, a) = (&report.before, &report.after);
    let rows = [
        ("accuracy", b.accuracy, a.accuracy),
        ("ECE, 15 bins", b.ece, a.ece),
        ("smooth ECE", b.smooth_ece, a.smooth_ece),
        ("Brier score", b.brier, a.brier),
        ("log loss", b.log_loss, a.log_loss),
    ];
    let scores = Table {
        id: "scores".into(),
        title: format!(
            "On {} rows that the map has not seen, with 95 % intervals",
            report.judged_on
        ),
        columns: words(&["score", "before", "after"]),
        rows: rows
            .map(|(name, b, a)| {
                vec![
                    Cell::text(name),
                    Cell::text(b.shown()),
                    Cell::text(a.shown()),
                ]
            })
            .to_vec(),
    };
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
    out += "Intervals hold for independent rows: those of accuracy, ECE and Brier score for any number \
            of them, that of the log loss for many (normal approximation).\n";
    if a.impossible > 0 {
        out += &format!(
            "\n{} of these rows have a true class that the map calls impossible.\n",
            a.impossible
        );
    }
    if let Some(bins) = &report.bins {
        let seen = bins.iter().filter(|bin| bin.points > 0);
        let table = Table {
            id: "bins".into(),
            title: "What the map answers, and where the true rates are: all together with \
                    probability 95 %, whatever the model"
                .into(),
            columns: words(&["above", "up to", "fitting rows", "answer", "low", "high"]),
            rows: seen
                .map(|bin| {
                    vec![
                        Cell::number(bin.above, 4),
                        Cell::number(bin.up_to, 4),
                        Cell::count(bin.points as usize),
                        bin.rate.map_or(Cell::Empty, |rate| Cell::number(rate, 4)),
                        Cell::number(bin.low, 4),
                        Cell::number(bin.high, 4),
                    ]
                })
                .collect(),
        };
        out += &format!("\n{}", table_text(&table));
        let empty = bins.iter().filter(|bin| bin.points == 0).count();
        if empty > 0 {
            out += &format!(
                "{empty} bins without fitting rows keep the model's confidence; nothing is promised there.\n"
            );
        }
    }
    out
}
