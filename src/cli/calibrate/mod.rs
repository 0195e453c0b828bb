//! `lpf calibrate`: a map that makes confidences match hit rates, or prediction sets that hold the
//! true class as often as is asked for.

mod report;
mod rows;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;

use self::report::Judging;
use self::rows::{Labelled, Read, read};
use super::Failure;
use super::input::{InputOptions, is_stream};
use super::options::{AnswerOptions, method_parser, threads};
use super::output::{Output, check_distinct};
use super::settings::SettingsFile;
use crate::aggregate::Method;
use crate::answer::Answerer;
use crate::audit::MAX_CLASSES;
use crate::calibration::{
    ConformalSettings, Family, FitRow, Fitting, MapError, MapMethod, Robust, SetScore, Wanted,
};
use crate::error::Error;
use crate::log::Limits;
use crate::model::CalibrationFile;

const EXAMPLES: &str = "\
Input: one JSON object per line with a label, and the logged answer or its evidence:
  {\"entity\": \"C5\", \"label\": \"medium\", \"probs\": [0.1, 0.8, 0.1]}
  {\"entity\": \"C6\", \"label\": \"low\", \"evidence\": [{\"factor\": [0.7, 0.2, 0.1]}, ...]}
or CSV with a header, or Parquet: a column `label`, and a column `prob_CLASS` or `p_CLASS` for each
class. Rows with evidence only are answered as by `lpf infer` with the same options.

Each row is used either to fit the map or to judge it, chosen by the hash of its entity's name (or of
its number in the file, where it has none) and the seed; rows of one entity stay together. With --judge
all rows of FILE are for fitting, and the other file judges.

Memory does not grow with the rows: a large FILE is read a second time to judge the map, and where
maps would need all rows at once, a random sample of them is fitted to, or neighbouring numbers are
taken for equal; the report then says what that costs (`lpf limits`, fit-numbers).

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
            Kind::Auto => Wanted::Best {
                histogram: self.histogram(),
                seed: self.options.seed,
            },
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
    let threads = threads(args.threads, limits)?;
    // A place that cannot be written is known before the work.
    let mut output = Output::create(Some(&args.output))?;
    let shown = threads.install(|| -> Result<String, Failure> {
        // Robust sets are about the product of the factors, whatever answer was logged beside them.
        let from_evidence = matches!(&wanted, Wanted::Sets(sets) if sets.robust.is_some());
        let rows = Rows {
            args,
            answerer: &answerer,
            from_evidence,
        };
        let (first, fitting, judge) = rows.first(wanted)?;
        let fitted = fitting
            .finish()
            .map_err(|error| unfitted(&args.file, &error))?;
        let split = if args.judge.is_some() {
            1.0
        } else {
            args.split
        };
        let place = (split, args.options.seed);
        let (classes, names) = (first.classes, first.names.clone());
        let file = CalibrationFile::new(fitted.map, classes, names, judge.fitted, place)
            .with_sources(vec![first.sha256.clone()]);
        let mut judging = Judging::new(&file);
        rows.judge(&first, judge, &mut judging)?;
        let report = judging.report(fitted.candidates, fitted.bounded);
        let report = report.map_err(failed)?;
        let shown = match args.format {
            Format::Text => report.text(),
            Format::Json => report.json()?,
        };
        output.write(file.to_json().as_bytes())?;
        output.finish()?;
        Ok(shown)
    })?;
    Output::create(None)?.write(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The rows of a command, from whatever they are read.
struct Rows<'a> {
    args: &'a Args,
    answerer: &'a Answerer,
    from_evidence: bool,
}

/// The rows that judge a map.
#[derive(Default)]
struct Kept {
    /// How many rows the map is fitted on.
    fitted: u64,
    /// How many judge it.
    judging: u64,
    rows: Vec<Labelled>,
    /// Whether they are too many to be kept: the file is then read a second time.
    again: bool,
}

impl Kept {
    /// Takes a row, if there is room for it.
    fn take(&mut self, row: Labelled, limits: &Limits) {
        self.judging += 1;
        let numbers = self
            .judging
            .saturating_mul(row.prediction.classes() as u64 + 8);
        self.again |= limits.fit_numbers(numbers).is_err();
        match self.again {
            true => self.rows = Vec::new(),
            false => self.rows.push(row),
        }
    }
}

impl Rows<'_> {
    fn read(
        &self,
        path: &Path,
        take: impl FnMut(Vec<Labelled>) -> Result<(), Failure>,
    ) -> Result<Read, Failure> {
        read(self.args, self.answerer, path, self.from_evidence, take)
    }

    fn fits(&self, row: &Labelled) -> bool {
        let args = self.args;
        args.judge.is_some() || row.fits(args.options.seed, args.split)
    }

    /// The first reading: what is fitted, and the rows that judge it as far as there is room.
    fn first(&self, wanted: Wanted) -> Result<(Read, Fitting, Kept), Failure> {
        let (args, limits) = (self.args, self.answerer.limits());
        let path = &*args.file;
        let scored = !matches!(wanted, Wanted::Sets(_));
        let wrong = |error: MapError| Failure::Usage(error.to_string());
        let mut fitting = Fitting::new(wanted, limits.fit_numbers).map_err(wrong)?;
        let fail = |error: MapError| unfitted(path, &error);
        let mut kept = Kept::default();
        // Neither standard input nor a pipe can be read twice.
        let once = is_stream(path) || !std::fs::metadata(path).is_ok_and(|file| file.is_file());
        let first = self.read(path, |rows| {
            if let Some(row) = rows.first().filter(|_| scored) {
                check_classes(path, row.prediction.classes())?;
            }
            for row in rows {
                if self.fits(&row) {
                    fitting.add(row.into()).map_err(fail)?;
                } else {
                    kept.take(row, limits);
                }
            }
            match kept.again && once {
                false => Ok(()),
                true => Err(Failure::Usage(format!(
                    "{}: more rows to judge by than are kept of what can be read only once; give a file, \
                     or --judge with one, or raise --max fit-numbers={}",
                    path.display(),
                    limits.fit_numbers
                ))),
            }
        })?;
        kept.fitted = fitting.rows();
        if kept.fitted == 0 || kept.judging == 0 && args.judge.is_none() {
            let (fit, judge) = (kept.fitted, kept.judging);
            return Err(Failure::Usage(format!(
                "{}: {fit} rows to fit on and {judge} to judge by; both parts need some: give more \
                 rows, or another --split or --seed",
                path.display()
            )));
        }
        Ok((first, fitting, kept))
    }

    /// Judges by the rows of the other file, or by those that were kept, or by reading a second time.
    fn judge(&self, first: &Read, kept: Kept, judging: &mut Judging<'_>) -> Result<(), Failure> {
        let path = self.args.judge.as_deref().unwrap_or(&self.args.file);
        let fail = |error: Error| Failure::of(error, path);
        if self.args.judge.is_none() && !kept.again {
            return judging.add(kept.rows).map_err(fail);
        }
        let mut checked = false;
        let second = self.read(path, |mut rows| {
            if let (Some(_), false, Some(row)) = (&self.args.judge, checked, rows.first()) {
                same_classes(first, row.prediction.classes(), None, path)?;
                checked = true;
            }
            if self.args.judge.is_none() {
                rows.retain(|row| !self.fits(row));
            }
            judging.add(rows).map_err(fail)
        })?;
        if self.args.judge.is_some() {
            return same_classes(first, second.classes, second.names.as_deref(), path);
        }
        match second == *first {
            true => Ok(()),
            false => Err(Failure::Usage(format!(
                "{}: changed while it was read",
                path.display()
            ))),
        }
    }
}

impl From<Labelled> for FitRow {
    fn from(row: Labelled) -> FitRow {
        FitRow {
            prediction: row.prediction,
            label: row.label,
            key: row.key,
            number: row.number,
        }
    }
}

/// That a map over so many classes can be judged, before it is fitted.
fn check_classes(path: &Path, classes: usize) -> Result<(), Failure> {
    if classes <= MAX_CLASSES {
        return Ok(());
    }
    let what = format!(
        "{classes} classes; a map is judged over at most {MAX_CLASSES}, --method conformal over more"
    );
    Err(Failure::Usage(format!("{}: {what}", path.display())))
}

/// That nothing can be fitted to the rows of a file.
fn unfitted(path: &Path, error: &MapError) -> Failure {
    Failure::Usage(format!("{}: {error}", path.display()))
}

/// That a second file is about the same classes as the first.
fn same_classes(
    first: &Read,
    classes: usize,
    names: Option<&[String]>,
    path: &Path,
) -> Result<(), Failure> {
    let named = first.names.as_deref().zip(names);
    if first.classes != classes || named.is_some_and(|(a, b)| a != b) {
        let what = "--judge: not the classes of the file that the map is fitted on";
        return Err(Failure::Usage(format!("{}: {what}", path.display())));
    }
    Ok(())
}
