//! What the command line and the file of limits ask for together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indicatif::ProgressBar;

#[cfg(feature = "parquet")]
use super::super::input::open_parquet;
use super::super::input::{InputFormat, is_stream, open};
use super::super::{Failure, infer};
use super::args::Args;
use super::failure;
#[cfg(feature = "parquet")]
use crate::audit::scan_parquet;
use crate::audit::{
    CheckSettings, Demand, ScanModel, ScanSettings, Tally, Threshold, ThresholdError,
    default_thresholds, scan, set_threshold,
};
use crate::audit::{Gate, GateError, Undecided};
use crate::calibration::MAX_BINS;
use crate::log::check_names;
use crate::model::CalibrationFile;

/// As most reports of calibration errors have.
const DEFAULT_BINS: usize = 15;

/// What the command line and the file of limits ask for.
pub(super) struct Plan {
    pub(super) checks: CheckSettings,
    pub(super) scan: ScanSettings,
    strict: bool,
    /// The number of bins, where it was asked for.
    bins: Option<usize>,
}

impl Plan {
    pub(super) fn new(args: &Args) -> Result<Self, Failure> {
        let usage = |what: String| Err(Failure::Usage(what));
        let gate = match &args.config {
            Some(path) => Gate::read(path).map_err(|error| gate_failure(path, error))?,
            None => Gate::default(),
        };
        let asked_bins = args.bins.or(gate.bins);
        let bins = asked_bins.unwrap_or(DEFAULT_BINS);
        if bins == 0 || bins > MAX_BINS {
            return usage(format!("--bins: {bins} is not between 1 and {MAX_BINS}"));
        }
        // The grid of confidences needs sums that are nearly one.
        let tolerance = args.tolerance;
        if !(0.0..=0.01).contains(&tolerance) {
            return usage(format!("--tolerance: {tolerance} is not in [0, 0.01]"));
        }
        let classes = args.classes.clone().or_else(|| gate.classes.clone());
        if let Some(names) = &classes
            && let Err(what) = check_names(names)
        {
            return usage(format!("--classes: {what}"));
        }
        if let Some(prior) = &args.prior
            && !prior.iter().all(|p| p.is_finite() && *p > 0.0)
        {
            return usage("--prior: every number must be above zero".to_string());
        }
        if args.merge && args.files.is_empty() {
            return usage("--merge needs the files that --partial wrote".to_string());
        }
        let all = args.files.iter().chain(&args.baseline);
        let streams = all.filter(|file| is_stream(file)).count();
        if streams > 1 {
            return usage("standard input can be read only once".to_string());
        }
        if args.name.is_some() && streams == 0 {
            return usage("--name is for standard input (-)".to_string());
        }
        let calibration = match &args.calibration {
            Some(path) => Some(
                CalibrationFile::read(path)
                    .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?,
            ),
            None => None,
        };
        let model = match &args.model {
            Some(path) => {
                let read = infer::read_model(path, None, args.samples as usize, args.seed);
                let (latent, sha256) = read?;
                let latent = Arc::new(latent);
                Some(ScanModel { latent, sha256 })
            }
            None => None,
        };
        let (thresholds, asked) = thresholds(args, &gate)?;
        let demand = match args.undecided.map(Undecided::from).or(gate.undecided) {
            Some(Undecided::Fail) => Demand::Certainty { asked },
            Some(Undecided::Allow) | None => Demand::NoFailure,
        };
        Ok(Plan {
            checks: CheckSettings {
                thresholds,
                seed: args.seed,
                prior: args.prior.clone(),
                demand,
            },
            scan: ScanSettings {
                csv: None,
                answer: args.answer.clone(),
                classes,
                bins,
                tolerance,
                method: args.method.name().to_string(),
                confidence: args.confidence.function(),
                model,
                calibration,
            },
            strict: args.strict || gate.strict.unwrap_or(false),
            bins: asked_bins,
        })
    }

    /// That no row was left out where none may be, and that what was asked for is what shards were
    /// made with.
    pub(super) fn allows(&self, tally: &Tally) -> Result<(), Failure> {
        let shape = &tally.shape;
        let other = match (self.bins, &self.scan.classes) {
            (Some(bins), _) if bins != shape.bins => {
                Some(format!("{} bins, but {bins} are asked for", shape.bins))
            }
            (_, Some(classes)) if *classes != shape.classes => Some(format!(
                "the classes {}, but {} are asked for",
                shape.classes.join(", "),
                classes.join(", ")
            )),
            _ => None,
        };
        if let Some(what) = other {
            return Err(Failure::Usage(format!("the log was read with {what}")));
        }
        match tally.unusable.first.first() {
            Some(first) if self.strict => Err(Failure::Line {
                path: PathBuf::from(&first.file),
                line: first.line,
                what: format!(
                    "{}: {} ({} such rows in all; --strict allows none)",
                    first.field,
                    first.message,
                    tally.unusable.count()
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Reads a log into a tally.
    pub(super) fn scan(
        &self,
        args: &Args,
        path: &Path,
        name: &str,
        bar: &ProgressBar,
    ) -> Result<Tally, Failure> {
        let format = args.input.format(path);
        let settings = ScanSettings {
            csv: (format != InputFormat::Jsonl).then(|| args.input.names()),
            ..self.scan.clone()
        };
        let progress = |bytes| bar.inc(bytes);
        let tally = match format {
            InputFormat::Jsonl | InputFormat::Csv => scan(name, open(path)?, &settings, &progress),
            #[cfg(feature = "parquet")]
            InputFormat::Parquet => scan_parquet(name, open_parquet(path)?, &settings, &progress),
            #[cfg(not(feature = "parquet"))]
            InputFormat::Parquet => {
                return Err(Failure::Usage(super::super::input::NO_PARQUET.to_string()));
            }
        };
        tally.map_err(|error| failure(path, error))
    }
}

/// What is wrong with a file of limits, and in which line.
fn gate_failure(path: &Path, error: GateError) -> Failure {
    let path = path.to_path_buf();
    match error {
        GateError::Io(error) => Failure::Read { path, error },
        GateError::Line { line, what } => Failure::Line { path, line, what },
    }
}

/// Limits by check.
type Limits = BTreeMap<&'static str, Threshold>;

/// The default limits, changed by the file's and then by the command line's; and the checks whose
/// limits these are.
fn thresholds(args: &Args, gate: &Gate) -> Result<(Limits, BTreeSet<&'static str>), Failure> {
    let mut limits = default_thresholds();
    let mut asked = BTreeSet::new();
    let mut set = |id: &str, value: Option<f64>| {
        let id = set_threshold(&mut limits, id, value)?;
        match value {
            Some(_) => asked.insert(id),
            None => asked.remove(id),
        };
        Ok(())
    };
    for limit in &gate.limits {
        set(&limit.check, limit.value).map_err(|error: ThresholdError| Failure::Line {
            path: args.config.clone().unwrap_or_default(),
            line: limit.line,
            what: error.to_string(),
        })?;
    }
    for one in &args.threshold {
        let fail = |what: String| Failure::Usage(format!("--threshold {one}: {what}"));
        let (id, value) = one
            .split_once('=')
            .ok_or_else(|| fail("write CHECK=VALUE, such as ece=0.03".to_string()))?;
        let value = match value {
            "off" => None,
            value => Some(
                value
                    .parse()
                    .map_err(|_| fail(format!("{value} is not a number, nor off")))?,
            ),
        };
        set(id, value).map_err(|error| fail(error.to_string()))?;
    }
    Ok((limits, asked))
}
