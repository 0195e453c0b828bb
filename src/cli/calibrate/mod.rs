//! `lpf calibrate`: a map that makes confidences match hit rates, or prediction sets that hold the
//! true class as often as is asked for.

mod report;
mod rows;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;

use self::report::Report;
use self::rows::{Labelled, Read, read};
use super::Failure;
use super::input::{InputOptions, is_stream};
use super::options::{AnswerOptions, method_parser, threads};
use super::output::{Output, check_distinct};
use super::settings::SettingsFile;
use crate::aggregate::Method;
use crate::calibration::{
    CalibrationMap, Candidate, ConformalSets, ConformalSettings, Family, MapError, MapMethod,
    Robust, SetScore, choose,
};
use crate::error::Error;
use crate::log::Limits;
use crate::model::CalibrationFile;
use crate::simplex::Distribution;

const EXAMPLES: &str = "\
Input: one JSON object per line with a label, and the logged answer or its evidence:
  {\"entity\": \"C5\", \"label\": \"medium\", \"probs\": [0.1, 0.8, 0.1]}
  {\"entity\": \"C6\", \"label\": \"low\", \"evidence\": [{\"factor\": [0.7, 0.2, 0.1]}, ...]}
or CSV with a header, or Parquet: a column `label`, and a column `prob_CLASS` or `p_CLASS` for each
class. Rows with evidence only are answered as by `lpf infer` with the same options.

Each row is used either to fit the map or to judge it, chosen by the hash of its entity's name (or of
its number in the file, where it has none) and the seed; rows of one entity stay together. With --judge
all rows of FILE are for fitting, and the other file judges.

What each method does and guarantees:
  temperature  keeps the order of classes; least log loss on the fitting rows. Nothing for new rows.
  platt, beta  two classes: a line in the log-odds, or in both log-probabilities. Least log loss of its
               kind on the fitting rows; nothing for new rows. So too:
  vector       a line for each class in its own log-probability,
  dirichlet    a line for each class in all log-probabilities.
  histogram    95 % intervals of the true hit rates, joint over all bins, for any model and
               independent rows. The answer is (k + 1/2)/(n + 1), of k right among the n fitting rows of
               the bin. A bin without fitting rows keeps the model's confidence, without any guarantee.
  isotonic     the best hit rate that never falls with confidence, exact on the fitting rows but for
               rates of 0 and 1; for new rows only in the limit.
  conformal    leaves answers alone and adds sets of classes, which hold the true class with
               probability --coverage, for any model, if rows are exchangeable.
  auto         fits each kind but conformal to four fifths of the fitting rows at a time and takes the
               one with the least log loss on the other fifth.
Histogram and isotonic maps change the confidence of the predicted class; the other classes share the
rest in their old proportions. No map answers exactly 0 or 1.

Examples:
  lpf calibrate labelled.jsonl --method auto --output cal.json
  lpf calibrate fit.csv --judge judge.csv --method temperature --output cal.json
  lpf calibrate labelled.jsonl --method histogram --bins 10 --split 0.7 --output cal.json
  lpf calibrate labelled.jsonl --method conformal --coverage 0.9 --by-class --output sets.json
  lpf infer new.jsonl --calibration cal.json
  lpf apply log.csv --calibration cal.json --output calibrated.csv
  lpf audit log.jsonl --calibration cal.json";

/// Fit a calibration map, or prediction sets, on one part of labelled records and judge it on the
/// other.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Records with labels: JSON lines, CSV or Parquet where the name ends in .csv or .parquet; - for
    /// standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    settings: SettingsFile,

    /// The kind of map
    #[arg(long, value_enum)]
    method: Kind,

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

    /// Fit on all rows of FILE, and judge by the rows of this file
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    judge: Option<PathBuf>,

    #[command(flatten)]
    sets: SetOptions,

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

/// What prediction sets are asked for.
#[derive(Debug, clap::Args)]
struct SetOptions {
    /// How often sets are to hold the true class, for --method conformal
    #[arg(long, value_name = "P", default_value_t = 0.9)]
    coverage: f64,

    /// A threshold for each class, so that the coverage holds for each class; for conformal
    #[arg(long)]
    by_class: bool,

    /// How classes are scored, for conformal
    #[arg(long, value_enum, default_value = "lead")]
    score: Score,

    /// Sets that hold the true class though so many items of evidence were replaced; for conformal
    #[arg(long, value_name = "M", requires = "robust_distance", value_parser = clap::value_parser!(u32).range(1..))]
    robust_items: Option<u32>,

    /// How far each of these items may have been moved: the largest ratio of its old to its new
    /// probabilities over the smallest, in logarithms (Hilbert's distance)
    #[arg(
        long,
        value_name = "D",
        requires = "robust_items",
        allow_hyphen_values = true
    )]
    robust_distance: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Score {
    /// How far the class is behind the best one, in pooled log-scores; sets are never empty
    Lead,
    /// One minus its probability; sets are small on average, and may be empty
    Probability,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// One temperature for all predictions
    Temperature,
    /// A line in the log-odds, for two classes
    Platt,
    /// A line in both log-probabilities, for two classes
    Beta,
    /// A line for each class in its log-probability
    Vector,
    /// A line for each class in all log-probabilities
    Dirichlet,
    /// The hit rate of the confidence's bin
    Histogram,
    /// The best hit rate that never falls with confidence
    Isotonic,
    /// Sets of classes that hold the true one with probability --coverage
    Conformal,
    /// The kind with the least cross-validated log loss
    Auto,
}

/// Formats of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables
    Text,
    /// One JSON object
    Json,
}

/// What is fitted.
enum Wanted {
    Map(MapMethod),
    Sets(ConformalSettings),
    Best,
}

impl Args {
    fn wanted(&self) -> Result<Wanted, Failure> {
        let sets = &self.sets;
        let robust = sets.robust_items.zip(sets.robust_distance);
        let for_sets = sets.by_class || robust.is_some() || sets.score != Score::Lead;
        if for_sets && self.method != Kind::Conformal {
            let what = "--by-class, --score and --robust-… are for --method conformal";
            return Err(Failure::Usage(what.to_string()));
        }
        Ok(match self.method {
            Kind::Temperature => Wanted::Map(MapMethod::Temperature),
            Kind::Platt => Wanted::Map(MapMethod::LogLinear(Family::Platt)),
            Kind::Beta => Wanted::Map(MapMethod::LogLinear(Family::Beta)),
            Kind::Vector => Wanted::Map(MapMethod::LogLinear(Family::Vector)),
            Kind::Dirichlet => Wanted::Map(MapMethod::LogLinear(Family::Dirichlet)),
            Kind::Histogram => Wanted::Map(self.histogram()),
            Kind::Isotonic => Wanted::Map(MapMethod::Isotonic),
            Kind::Auto => Wanted::Best,
            Kind::Conformal => Wanted::Sets(ConformalSettings {
                coverage: sets.coverage,
                by_class: sets.by_class,
                score: match sets.score {
                    Score::Lead => SetScore::Lead,
                    Score::Probability => SetScore::Probability,
                },
                robust: robust.map(|(items, distance)| Robust {
                    items: items as usize,
                    distance,
                }),
            }),
        })
    }

    fn histogram(&self) -> MapMethod {
        MapMethod::Histogram {
            bins: usize::from(self.bins),
        }
    }

    /// That the arguments go together.
    fn check(&self, wanted: &Wanted) -> Result<(), Failure> {
        if !(self.split > 0.0 && self.split < 1.0) {
            let what = format!("--split: {} is not between 0 and 1", self.split);
            return Err(Failure::Usage(what));
        }
        if self.judge.as_deref().is_some_and(is_stream) && is_stream(&self.file) {
            let what = "standard input can be read only once".to_string();
            return Err(Failure::Usage(what));
        }
        let product = matches!(self.aggregation, Method::Spn | Method::PriorCorrected);
        if matches!(wanted, Wanted::Sets(sets) if sets.robust.is_some()) && !product {
            let what = format!(
                "--robust-items: holds for --aggregation spn and prior-corrected only, not {}",
                self.aggregation
            );
            return Err(Failure::Usage(what));
        }
        Ok(())
    }
}

/// Runs the command.
pub(super) fn run(args: &Args, limits: &Limits) -> Result<ExitCode, Failure> {
    let judge = args.judge.as_deref();
    check_distinct(
        Some(&args.output),
        args.options.files().chain([&*args.file]).chain(judge),
    )?;
    let wanted = args.wanted()?;
    args.check(&wanted)?;
    let failed = |error: Error| Failure::of(error, &args.file);
    let answerer = args
        .options
        .builder(args.aggregation)
        .limits(*limits)
        .build()
        .map_err(failed)?;
    let threads = threads(args.threads)?;
    let shown = threads.install(|| -> Result<String, Failure> {
        // Robust sets are about the product of the factors, whatever answer was logged beside them.
        let from_evidence = matches!(&wanted, Wanted::Sets(sets) if sets.robust.is_some());
        let mut first = read(args, &answerer, &args.file, from_evidence)?;
        let (fit, judge, split) = match &args.judge {
            None => {
                let (fit, judge) = first.parts(args.options.seed, args.split);
                (fit, judge, args.split)
            }
            Some(path) => {
                let second = read(args, &answerer, path, from_evidence)?;
                same_classes(&first, &second, path)?;
                (std::mem::take(&mut first.rows), second.rows, 1.0)
            }
        };
        if fit.is_empty() || judge.is_empty() {
            let (fit, judge) = (fit.len(), judge.len());
            return Err(Failure::Usage(format!(
                "{}: {fit} rows to fit on and {judge} to judge by; both parts need some: give more \
                 rows, or another --split or --seed",
                args.file.display()
            )));
        }
        let (map, candidates) = fitted(args, &wanted, &fit)?;
        let classes = fit.first().map_or(0, |row| row.prediction.classes());
        let rows = fit.len() as u64;
        let place = (split, args.options.seed);
        let file = CalibrationFile::new(map, classes, first.names.clone(), rows, place)
            .with_sources(vec![first.sha256.clone()]);
        let report = Report::of(&file, &judge, candidates).map_err(failed)?;
        let shown = match args.format {
            Format::Text => report.text(),
            Format::Json => report.json()?,
        };
        let mut output = Output::create(Some(&args.output))?;
        output.write(file.to_json().as_bytes())?;
        output.finish()?;
        Ok(shown)
    })?;
    Output::create(None)?.write(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// That a second file is about the same classes as the first.
fn same_classes(first: &Read, second: &Read, path: &std::path::Path) -> Result<(), Failure> {
    let classes = |read: &Read| read.rows.first().map(|row| row.prediction.classes());
    let named = first.names.is_some() && second.names.is_some();
    if classes(first) != classes(second) || (named && first.names != second.names) {
        let what = "--judge: not the classes of the file that the map is fitted on";
        return Err(Failure::Usage(format!("{}: {what}", path.display())));
    }
    Ok(())
}

/// The map, and with `auto` what was compared.
fn fitted(
    args: &Args,
    wanted: &Wanted,
    rows: &[Labelled],
) -> Result<(CalibrationMap, Option<Vec<Candidate>>), Failure> {
    let predictions: Vec<Distribution> = rows.iter().map(|row| row.prediction.clone()).collect();
    let labels: Vec<usize> = rows.iter().map(|row| row.label).collect();
    let fail = |error: MapError| Failure::Usage(error.to_string());
    match wanted {
        Wanted::Map(method) => {
            let map = CalibrationMap::fit(*method, &predictions, &labels);
            Ok((map.map_err(fail)?, None))
        }
        Wanted::Sets(settings) => {
            let sets = ConformalSets::fit(*settings, &predictions, &labels);
            Ok((CalibrationMap::conformal(sets.map_err(fail)?), None))
        }
        Wanted::Best => {
            let keys: Vec<u64> = rows.iter().map(|row| row.key).collect();
            let folds = (args.options.seed, keys.as_slice());
            let (map, candidates) =
                choose(args.histogram(), &predictions, &labels, folds).map_err(fail)?;
            Ok((map, Some(candidates)))
        }
    }
}
