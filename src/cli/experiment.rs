//! `lpf experiment`: the experiments, run.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;

use super::Failure;
use super::output::{self, Output};
use crate::experiments::{EXPERIMENTS, Experiment, Lab, Outcome, Progress, Settings, digest};
use crate::files::NewFolder;
use crate::ledger::paper::Paper;
use crate::report::{escape_html, outcome_html, outcome_markdown, outcome_text, page, svg};

/// Run the paper's experiments on the embedded data and show our tables beside the paper's.
///
/// Each table has the paper's numbers, ours on what the author's own generator makes, and ours on a
/// domain whose exact posterior is known. `real` asks the same questions of embedded real data.
///
/// The same settings give the same bits on every machine and with any number of threads; the
/// digest at the end is that of all results.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Experiment to run
    #[arg(value_parser = names(), default_value = ALL, ignore_case = true)]
    name: String,

    /// Seed of data, training and trials
    #[arg(long, value_name = "S", default_value_t = Settings::default().seed)]
    seed: u64,

    /// Models trained on the author's data, at most 5, and trials of each experiment [default: 5 models,
    /// and the experiment's own number of trials]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    trials: Option<u32>,

    /// Entities for each model, split into training, validation and test; of the author's data at most
    /// 900
    #[arg(long, value_name = "N", default_value_t = Settings::default().entities, value_parser = clap::value_parser!(u64).range(20..))]
    entities: u64,

    /// Maximum number of training epochs
    #[arg(long, value_name = "N", default_value_t = Settings::default().epochs as u32, value_parser = clap::value_parser!(u32).range(1..))]
    epochs: u32,

    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,

    /// Where to write [default: standard output]
    ///
    /// An existing folder, or a new name without an extension, is a folder: it gets one file for
    /// each experiment and the figures as .svg. Anything else is one file for everything. Files
    /// appear complete or not at all.
    #[arg(long, value_name = "DIR|FILE")]
    output: Option<PathBuf>,
}

impl Args {
    fn experiments(&self) -> impl Iterator<Item = &'static Experiment> {
        let asked =
            |id: &str| self.name.eq_ignore_ascii_case(ALL) || self.name.eq_ignore_ascii_case(id);
        EXPERIMENTS
            .iter()
            .filter(move |experiment| asked(experiment.id))
    }
}

/// The name that stands for every experiment.
const ALL: &str = "all";

fn names() -> PossibleValuesParser {
    let ids = EXPERIMENTS.iter().map(|experiment| experiment.id);
    PossibleValuesParser::new(ids.chain([ALL]))
}

/// Output formats.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Json,
    Html,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Format::Text => "txt",
            Format::Markdown => "md",
            Format::Json => "json",
            Format::Html => "html",
        }
    }

    /// All outcomes and their digest as one document.
    fn document(self, outcomes: &[Outcome]) -> Result<String, Failure> {
        let digest = digest(outcomes);
        let join = |one: fn(&Outcome) -> String| {
            let parts: Vec<String> = outcomes.iter().map(one).collect();
            parts.join("\n")
        };
        Ok(match self {
            Format::Text => join(outcome_text) + &format!("\ndigest of the results: {digest}\n"),
            Format::Markdown => {
                join(outcome_markdown) + &format!("\nDigest of the results: `{digest}`\n")
            }
            Format::Json => {
                let all = serde_json::json!({ "experiments": outcomes, "digest": digest });
                let json = serde_json::to_string_pretty(&all);
                json.map_err(|error| Failure::Usage(error.to_string()))? + "\n"
            }
            Format::Html => {
                let mut body = join(outcome_html);
                let digest = escape_html(&digest);
                let _ = write!(body, "<p>Digest of the results: <code>{digest}</code></p>");
                page("Experiments", &body)
            }
        })
    }
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    // A target that cannot be written is reported before the work, not after.
    let target = Target::of(args.output.as_deref())?;
    let settings = Settings {
        entities: args.entities,
        epochs: args.epochs as usize,
        seed: args.seed,
        trials: args.trials.map(|trials| trials as usize),
        ..Settings::default()
    };
    let outcomes = outcomes(settings, args.experiments())?;
    match target {
        Target::Single(mut output) => {
            output.write(args.format.document(&outcomes)?.as_bytes())?;
            output.finish()?;
        }
        Target::Folder(folder, made) => {
            for outcome in &outcomes {
                let one = args.format.document(std::slice::from_ref(outcome))?;
                let name = format!("{}.{}", outcome.id, args.format.extension());
                output::write(Some(&folder.join(name)), &one)?;
                for figure in &outcome.figures {
                    let name = format!("{}.svg", figure.id);
                    output::write(Some(&folder.join(name)), &svg(figure))?;
                }
            }
            let said = format!("digest of the results: {}\n", digest(&outcomes));
            made.keep();
            output::write(None, &said)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the documents go.
enum Target {
    Single(Output),
    Folder(PathBuf, NewFolder),
}

impl Target {
    fn of(path: Option<&Path>) -> Result<Self, Failure> {
        if let Some(path) = path.filter(|path| *path != Path::new("-"))
            && (path.is_dir() || !path.exists() && path.extension().is_none())
        {
            let failed = |error| Failure::write(&path.to_string_lossy(), error);
            let made = NewFolder::create(path).map_err(failed)?;
            return Ok(Target::Folder(path.to_path_buf(), made));
        }
        Ok(Target::Single(Output::create(path)?))
    }
}

/// Progress of an experiment on a terminal; hidden in a pipe.
struct Bar(indicatif::ProgressBar);

impl Progress for Bar {
    fn expect(&self, steps: u64) {
        self.0.inc_length(steps);
    }

    fn step(&self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.inc(1);
    }
}

/// Runs experiments one after the other, each with a bar of its own.
///
/// # Errors
/// [`Failure::Usage`], naming the experiment, where one cannot be run with these settings.
pub(super) fn outcomes<'a>(
    settings: Settings,
    experiments: impl Iterator<Item = &'a Experiment>,
) -> Result<Vec<Outcome>, Failure> {
    let lab = Lab::new(settings, Paper::published().for_experiments());
    let run = experiments.map(|experiment| {
        let bar = Bar(indicatif::ProgressBar::new(0));
        let style = super::display::style("{prefix:12} {bar:24} {pos}/{len} {msg} {eta} left");
        bar.0.set_style(style);
        bar.0.set_prefix(experiment.id);
        let outcome = (experiment.run)(&lab, &bar);
        bar.0.finish_and_clear();
        outcome.map_err(|error| Failure::Usage(format!("{}: {error}", experiment.id)))
    });
    run.collect()
}
