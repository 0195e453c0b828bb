//! `lpf train`: from labelled evidence to a model file.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use indicatif::ProgressBar;

use super::display::{escaped, style};
use super::input::open;
use super::output::{self, Output, check_distinct};
use super::{Failure, signals};
use crate::calibration::Evaluation;
use crate::learn::{AdamSettings, Epoch, TrainSettings};
use crate::log::{
    Batch, Fault, Label, LimitError, Limits, LineReader, Place, Record, RecordError, check_names,
};
use crate::model::{Corpus, FitProgress, FitSettings, Model, Split, fit};
use crate::simplex::{Distribution, softmax};
use crate::synthetic::{Domain, Generator};

const EXAMPLES: &str = "\
The data are split by entity: 70 % for training, 15 % for early stopping and for fitting the
temperature, 15 % stay untouched. The same data, settings and seed give the same file, byte for
byte. Ctrl-C stops after the current epoch and writes the best model so far.

Records for --data need a label and an embedding for each item (see `lpf generate`):
  {\"entity\": \"C5\", \"label\": \"low\", \"evidence\": [{\"embedding\": [0.1, ...]}, ...]}

Examples:
  lpf train --output model.safetensors
  lpf train --domain healthcare --temperature --output healthcare.safetensors
  lpf generate legal --entities 2000 --output legal.jsonl
  lpf train --data legal.jsonl --output legal.safetensors";

/// Train encoder, decoder and learned aggregator, and write them as one model file.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Synthetic domain to train on [default: compliance]
    #[arg(long, value_name = "D", conflicts_with = "data")]
    domain: Option<String>,

    /// Records to train on, one JSON object per line; - for standard input
    #[arg(long, value_name = "FILE.jsonl")]
    data: Option<PathBuf>,

    /// Model file to write; it appears complete or not at all; - for standard output
    #[arg(long, value_name = "FILE", default_value = "model.safetensors")]
    output: PathBuf,

    /// Entities of the synthetic domain
    #[arg(long, value_name = "N", default_value_t = 900, conflicts_with = "data", value_parser = clap::value_parser!(u64).range(20..))]
    entities: u64,

    /// Seed of synthetic data, split and training
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Maximum number of epochs for each part
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    epochs: u32,

    /// Stop after this many epochs without a better validation loss
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    patience: u32,

    /// Items per optimizer step
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,

    /// Learning rate
    #[arg(long, value_name = "R", default_value_t = AdamSettings::default().rate)]
    rate: f64,

    /// Weight of the KL divergence from the standard normal
    #[arg(long, value_name = "B", default_value_t = TrainSettings::default().beta)]
    beta: f64,

    /// Hidden units of the learned aggregator; 0 trains none
    #[arg(long, value_name = "N", default_value_t = 16)]
    hidden: u32,

    /// Fit the decoder's temperature on the validation part
    #[arg(long)]
    temperature: bool,
}

/// Runs the command.
pub(super) fn run(args: &Args, limits: &Limits) -> Result<ExitCode, Failure> {
    if !(args.rate > 0.0 && args.rate.is_finite()) {
        let what = format!("--rate: {} is not a positive number", args.rate);
        return Err(Failure::Usage(what));
    }
    if !(args.beta >= 0.0 && args.beta.is_finite()) {
        let what = format!("--beta: {} is not zero or a positive number", args.beta);
        return Err(Failure::Usage(what));
    }
    if args.hidden == 1 {
        let what = "--hidden: 1 leaves no room for a second layer of half as many units";
        return Err(Failure::Usage(what.to_owned()));
    }
    let option = |name: &str, error: LimitError| Failure::Usage(format!("--{name}: {error}"));
    let within = limits.hidden(args.hidden.into());
    within.map_err(|error| option("hidden", error))?;
    if args.data.is_none() {
        let within = limits.entities(args.entities);
        within.map_err(|error| option("entities", error))?;
    }
    check_distinct(Some(&args.output), args.data.as_deref())?;
    // A place that cannot be written is reported before the work, not after.
    let mut output = Output::create(Some(&args.output))?;
    let (corpus, source) = match &args.data {
        Some(path) => (
            read_corpus(path, limits)?,
            path.to_string_lossy().into_owned(),
        ),
        None => {
            let name = args.domain.as_deref().unwrap_or("compliance");
            let domain = Domain::named(name).map_err(|e| Failure::Usage(e.to_string()))?;
            let generator = Generator::new(domain);
            let corpus = generator.corpus(args.seed, 0, args.entities);
            (corpus, domain.name.to_owned())
        }
    };
    let settings = FitSettings {
        vae: TrainSettings {
            epochs: args.epochs as usize,
            batch: args.batch as usize,
            patience: args.patience as usize,
            beta: args.beta,
            seed: args.seed,
            adam: AdamSettings {
                rate: args.rate,
                ..AdamSettings::default()
            },
            ..TrainSettings::default()
        },
        aggregator: (args.hidden > 0).then_some(args.hidden as usize),
        temperature: args.temperature,
    };
    let split = Split::new(corpus.labels.len(), args.seed);
    let stop = signals::stop_flag()?;
    let mut progress = Progress::default();
    let fitted = fit(&corpus, &split, &settings, |now| {
        progress.show(now);
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    progress.clear();
    let mut model = fitted.map_err(|error| Failure::Usage(format!("training: {error}")))?;
    model.provenance = Some(serde_json::json!({
        "source": source,
        "entities": corpus.labels.len(),
        "seed": args.seed,
        "epochs": args.epochs,
        "patience": args.patience,
        "batch": args.batch,
        "rate": args.rate,
        "beta": args.beta,
        "dropout": settings.vae.dropout,
    }));
    let failed = |error| Failure::Usage(format!("{}: {error}", args.output.display()));
    output.write(&model.to_bytes().map_err(failed)?)?;
    output.finish()?;
    let said = summary(args, &model, &progress, stop.load(Ordering::Relaxed));
    // A model on standard output is not followed by words.
    if args.output == Path::new("-") {
        return Ok(ExitCode::SUCCESS);
    }
    output::write(None, &said)?;
    Ok(ExitCode::SUCCESS)
}

/// What is printed at the end.
fn summary(args: &Args, model: &Model, progress: &Progress, stopped: bool) -> String {
    let parts = match &model.aggregator {
        Some(aggregator) => format!(
            "{} + {} parameters",
            model.vae.parameters().len(),
            aggregator.parameters().len()
        ),
        None => format!("{} parameters, no aggregator", model.vae.parameters().len()),
    };
    let mut text = format!("{}: {parts}", escaped(&args.output.to_string_lossy()));
    if args.temperature {
        text += &format!(", temperature {:.3}", model.vae.temperature());
    }
    text += "\n";
    for (part, best) in &progress.best {
        text += &format!("{part}: {best}\n");
    }
    if stopped {
        text += "stopped on request; the best model so far was written\n";
    }
    text
}

/// A bar on a terminal, nothing in a pipe.
#[derive(Default)]
struct Progress {
    bar: Option<(&'static str, ProgressBar)>,
    /// For each part, its best epoch in words.
    best: Vec<(&'static str, String)>,
}

impl Progress {
    fn show(&mut self, now: &FitProgress<'_>) {
        let epoch = now.epoch;
        let words = format!(
            "loss {:.4}, validation {:.4}, ECE {}",
            epoch.training,
            epoch.validation,
            validation_ece(epoch).map_or("-".to_owned(), |e| format!("{e:.3}"))
        );
        if epoch.best {
            let line = format!("best epoch {}: {words}", epoch.number);
            match self.best.iter_mut().find(|(part, _)| *part == now.part) {
                Some((_, best)) => *best = line,
                None => self.best.push((now.part, line)),
            }
        }
        if self.bar.as_ref().map(|(part, _)| *part) != Some(now.part) {
            self.clear();
            let bar = ProgressBar::new(epoch.epochs as u64);
            bar.set_style(style("{prefix} {bar:24} {pos}/{len}  {msg}  {eta} left"));
            bar.set_prefix(now.part);
            self.bar = Some((now.part, bar));
        }
        if let Some((_, bar)) = &self.bar {
            bar.set_message(words);
            bar.set_position(epoch.number as u64);
        }
    }

    fn clear(&mut self) {
        if let Some((_, bar)) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// ECE over ten bins of what the scores of the validation data say.
fn validation_ece(epoch: &Epoch<'_>) -> Option<f64> {
    let classes = epoch.scores.len().checked_div(epoch.labels.len())?;
    let mut evaluation = Evaluation::new(classes, 10).ok()?;
    for (scores, &label) in epoch.scores.chunks_exact(classes).zip(epoch.labels) {
        let mut p = scores.to_vec();
        softmax(&mut p).ok()?;
        evaluation
            .add(&Distribution::from_weights(p).ok()?, label)
            .ok()?;
    }
    evaluation.ece().ok()
}

/// All records of a file; classes are those of the first record that names them, or else the
/// labels in alphabetical order.
fn read_corpus(path: &Path, limits: &Limits) -> Result<Corpus, Failure> {
    let mut reader = LineReader::within(open(path)?, *limits);
    let mut batch = Batch::default();
    let mut corpus = Corpus::default();
    let mut names: Vec<String> = Vec::new();
    let mut labels: Vec<(u64, Result<String, usize>)> = Vec::new();
    let wrong = |line: u64, place: Place, what: String| {
        let fault = Fault::Shape(what);
        Failure::line(path, line, RecordError { place, fault })
    };
    while reader
        .fill(&mut batch)
        .map_err(|e| Failure::lines(path, e))?
    {
        for (line, bytes) in batch.lines() {
            let record = Record::parse_within(bytes, limits);
            let record = record.map_err(|e| Failure::line(path, line, e))?;
            if let (true, Some(classes)) = (names.is_empty(), &record.classes) {
                names = classes.iter().map(|c| c.to_string()).collect();
            }
            let label = match record.label {
                Some(Label::Name(name)) => Ok(name.into_owned()),
                Some(Label::Number(n)) => Err(usize::try_from(n).unwrap_or(usize::MAX)),
                None => {
                    let what = "missing; training needs the true class of every entity";
                    return Err(wrong(line, Place::field("label"), what.to_owned()));
                }
            };
            let mut rows = Vec::new();
            for (item, evidence) in record.evidence.iter().enumerate() {
                let place = Place::item_field(item, "embedding");
                let Some(embedding) = &evidence.embedding else {
                    let what = "missing; training needs the embedding of every item";
                    return Err(wrong(line, place, what.to_owned()));
                };
                if corpus.dimension == 0 {
                    corpus.dimension = embedding.len();
                }
                if embedding.len() != corpus.dimension || embedding.is_empty() {
                    let what = format!(
                        "{} numbers, but the first embedding has {}",
                        embedding.len(),
                        corpus.dimension
                    );
                    return Err(wrong(line, place, what));
                }
                for (i, &x) in embedding.iter().enumerate() {
                    if !(x as f32).is_finite() {
                        let what = format!("{x} is beyond single precision");
                        return Err(wrong(line, place.at(i), what));
                    }
                    rows.push(x as f32);
                }
            }
            if rows.is_empty() {
                let what = "there is no evidence; give at least one item";
                return Err(wrong(line, Place::field("evidence"), what.to_owned()));
            }
            corpus.push(&rows, 0);
            labels.push((line, label));
        }
    }
    if labels.is_empty() {
        return Err(Failure::NoRecords {
            path: path.to_path_buf(),
        });
    }
    if names.is_empty() {
        let named = labels.iter().filter_map(|(_, l)| l.as_ref().ok());
        names = named.cloned().collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            let numbers = labels.iter().filter_map(|(_, l)| l.as_ref().err());
            let most = numbers.max().map_or(0, |&n| n.saturating_add(1));
            // More classes than entities cannot be learned, and would only fill the memory.
            names = (0..most.min(labels.len())).map(|n| n.to_string()).collect();
        }
    }
    if let Err(what) = check_names(&names) {
        return Err(Failure::Usage(format!(
            "{}: classes: {what}",
            path.display()
        )));
    }
    for (slot, (line, label)) in corpus.labels.iter_mut().zip(labels) {
        let found = match &label {
            Ok(name) => names.iter().position(|n| n == name),
            Err(n) => Some(*n).filter(|&n| n < names.len()),
        };
        let Some(found) = found else {
            let shown = label.map_or_else(|n| n.to_string(), |name| format!("{name:?}"));
            let what = format!("{shown} is not one of the classes {}", names.join(", "));
            return Err(wrong(line, Place::field("label"), what));
        };
        *slot = found;
    }
    corpus.classes = names;
    Ok(corpus)
}
