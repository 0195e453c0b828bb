//! The arguments of `lpf audit`.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::super::Failure;
use super::super::input::InputOptions;
use super::super::options::{OptionalMethod, optional_method_parser};
use super::super::settings::SettingsFile;
use crate::answer::DEFAULT_SAMPLES;
use crate::audit::Undecided;
use crate::latent::Confidence;

const EXAMPLES: &str = "\
Input: a true class and the probabilities, a row each, in JSON lines, a JSON array, CSV (also with tabs or
semicolons), Parquet or Arrow, compressed with gzip or zstd or not. The usual names are recognized, such as
  y_true,y_prob                the probability of the class 1
  label,prob_cat,prob_dog      one column a class; also 0, 1, 2, ...
  {\"label\": \"dog\", \"probs\": {\"cat\": 0.2, \"dog\": 0.8}}      or a list, or one number
and --label, --probs and --positive name others. Labels are names, whole numbers or truth values. The report
begins with what was read as what. Rows of several labels, weights of rows, and regression are not audited.

Evidence behind answers is checked too (entity, evidence, samples and uncertainty are optional):
  {\"entity\": \"C5\", \"label\": \"medium\", \"probs\": [0.1, 0.8, 0.1], \"evidence\": [
    {\"factor\": [0.1, 0.8, 0.1], \"weight\": 0.4}, ...]}
An item may have a posterior beside its factor: \"mu\" with \"sigma\" (standard deviations) or \"cov\"
(a list of rows). Weights are then compared with it, and assumption A2 is checked. With --model an item
may have a posterior or an \"embedding\" instead of its factor.
Rows that cannot be used are counted, and the first 20 are listed; --strict makes them an error. Where more
than one in ten is left out for what stands in it, no check is made of the rest.

A check passes if its whole interval is on the good side of its limit, fails if all of it is on the
bad side, and is otherwise undecided; it then says how many rows would decide.
Exit code: 0 no check failed, 1 a check failed (or was undecided, with --undecided fail), 2 the input
cannot be used.

Shards: run `lpf audit --partial a.state a.jsonl` for each; `lpf audit --merge a.state b.state` then
gives the report of `lpf audit a.jsonl b.jsonl`, byte for byte and in any order. States of states:
`lpf audit --merge a.state b.state --partial ab.state`. For a baseline in shards, give --baseline for
each state.

Examples:
  lpf audit predictions.jsonl --classes low,medium,high
  lpf audit predictions.csv --threshold ece=0.03 --threshold accuracy=0.9 --format json
  lpf audit new.jsonl --baseline old.jsonl
  lpf audit log.jsonl --by site --by 'month(at)' --segments
  lpf audit log.jsonl --by evidence.id
  lpf audit scores.csv.gz --label diagnosis --probs p_malignant --positive malignant
  lpf audit answers.jsonl --model model.safetensors
  lpf audit log.jsonl --method prior-corrected --prior 0.2,0.5,0.3
  curl -s https://example.org/log.csv | lpf audit - --name log.csv";

/// Check the guarantees on your own log of predictions.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Logs: JSON lines, a JSON array, CSV, TSV, Parquet or Arrow, perhaps compressed; - for standard input
    #[arg(value_name = "FILE", required_unless_present = "demo")]
    pub(super) files: Vec<PathBuf>,

    /// Audit embedded answers of the reference implementation
    #[arg(long, conflicts_with_all = ["files", "merge"])]
    pub(super) demo: bool,

    /// Format of the report
    #[arg(long, value_enum, default_value = "text")]
    pub(super) format: Format,

    /// In text, also show checks that only inform, checks that were not run, and all slices
    #[arg(long)]
    pub(super) all: bool,

    /// Where to write: a file that appears complete or not at all [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// End with exit code 2 if any row cannot be used; the report is written all the same
    #[arg(long)]
    pub(super) strict: bool,

    #[command(flatten)]
    pub(super) input: InputOptions,

    /// Name of standard input in the report
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,

    /// Names of the classes, in the order of the probabilities
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(super) classes: Option<Vec<String>>,

    /// The method that the answers are compared with; `none` for another one, which is not checked
    #[arg(long, value_name = "METHOD", default_value = "spn", value_parser = optional_method_parser())]
    pub(super) method: OptionalMethod,

    /// The function by which weights follow from logged posteriors
    #[arg(long, value_enum, default_value = "reference")]
    pub(super) confidence: Weighting,

    /// A trained model, for items logged as posteriors or embeddings without factors, which are then
    /// computed as by `lpf infer --model` with the same --samples and --seed
    #[arg(long, value_name = "FILE", conflicts_with = "merge")]
    pub(super) model: Option<PathBuf>,

    /// A learned aggregator in a file of its own, for --method learned
    #[arg(long, value_name = "FILE", requires = "model")]
    pub(super) aggregator: Option<PathBuf>,

    /// Samples drawn for an item without a factor, with --model
    #[arg(long, value_name = "M", default_value_t = DEFAULT_SAMPLES as u32, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) samples: u32,

    /// Prior of the classes, for --method prior-corrected and to tell whether it was counted too
    /// often [default: that of the model with --method prior-corrected, or else how often each class
    /// was true]
    #[arg(long, value_name = "P,Q,R", value_delimiter = ',')]
    pub(super) prior: Option<Vec<f64>>,

    /// Number of bins [default: 15]
    #[arg(long, value_name = "N")]
    pub(super) bins: Option<usize>,

    /// A calibration map (see `lpf calibrate`) that is applied to answers before they are scored; use
    /// other rows than those it was fitted on
    #[arg(long, value_name = "FILE", conflicts_with = "merge")]
    pub(super) calibration: Option<PathBuf>,

    #[command(flatten)]
    pub(super) settings: SettingsFile,

    /// The limit of a check, or `off`; may be repeated
    #[arg(long, value_name = "CHECK=VALUE")]
    pub(super) threshold: Vec<String>,

    /// Also audit slices: by the value of a field, by the period of a date in it, or by source of evidence
    /// (evidence.id); may be repeated. The worst slice comes first
    #[arg(long, value_name = "FIELD|month(FIELD)|evidence.id")]
    pub(super) by: Vec<String>,

    /// Also audit slices by every pair of the fields given by --by
    #[arg(long)]
    pub(super) segments: bool,

    /// Whether a check that is undecided, or has a limit of yours and cannot be run, ends with exit
    /// code 1 [default: allow]
    #[arg(long, value_name = "allow|fail", value_parser = undecided_parser())]
    pub(super) undecided: Option<Undecided>,

    /// Rows are independent though they are of the same entities [default: rows with the same name count
    /// as one cluster]
    #[arg(long)]
    pub(super) independent_rows: bool,

    /// An earlier log to compare with; repeat for a log in several files
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Vec<PathBuf>,

    /// Write a state to merge with those of other shards, instead of a report
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "baseline"])]
    pub(super) partial: Option<PathBuf>,

    /// Inputs are `--partial` states; input options were fixed then
    #[arg(long, conflicts_with_all = [
        "name", "by", "segments", "method", "aggregator", "confidence", "samples", "tolerance",
        "input_format", "label", "id", "probs", "positive", "answer_from_evidence",
    ])]
    pub(super) merge: bool,

    /// Seed of the simulations, and of what is drawn with --model
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,

    /// Number of threads [default: one for each core]; the output does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) threads: Option<u16>,

    /// How far the probabilities of a row may be from adding up to 1, at most 0.01 [default: 0.000001, or as
    /// far as the digits that were written explain]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(super) tolerance: Option<f64>,
}

/// Formats of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Plain text
    Text,
    /// Versioned JSON (docs/audit.schema.json)
    Json,
    /// Markdown, for the summary of a pipeline
    Markdown,
    /// JUnit: a test case for each check
    Junit,
    /// SARIF: checks and rows, for code scanning
    Sarif,
    /// A page with plots
    Html,
}

/// A limit of the command line: as given, its check, and its value.
pub(super) type GivenLimit<'a> = (&'a str, &'a str, Option<f64>);

impl Args {
    /// The limits of the command line.
    pub(super) fn limits(&self) -> Result<Vec<GivenLimit<'_>>, Failure> {
        self.threshold.iter().map(|text| limit(text)).collect()
    }
}

fn limit(text: &str) -> Result<GivenLimit<'_>, Failure> {
    let fail = |what: &str| Failure::Usage(format!("--threshold {text}: {what}"));
    let (id, value) = text
        .split_once('=')
        .ok_or_else(|| fail("write CHECK=VALUE, such as ece=0.03"))?;
    let value = match value {
        "off" => None,
        value => {
            let wrong = |_| fail(&format!("{value} is not a number, nor off"));
            Some(value.parse().map_err(wrong)?)
        }
    };
    Ok((text, id, value))
}

/// How the weight of an item follows from its posterior; `s` is the mean standard deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Weighting {
    /// sigmoid(-2s)/(1 + s), as in `lpf infer` and the reference implementation
    Reference,
    /// 1/(1 + s)
    Reciprocal,
    /// exp(-s)
    Exponential,
    /// 1/(1 + v), v the mean variance
    Precision,
    /// Another function, which is not checked
    None,
}

impl Weighting {
    pub(super) fn function(self) -> Option<Confidence> {
        match self {
            Weighting::Reference => Some(Confidence::Reference),
            Weighting::Reciprocal => Some(Confidence::Reciprocal),
            Weighting::Exponential => Some(Confidence::Exponential),
            Weighting::Precision => Some(Confidence::Precision),
            Weighting::None => None,
        }
    }
}

fn undecided_parser() -> impl TypedValueParser<Value = Undecided> {
    PossibleValuesParser::new([
        PossibleValue::new("allow")
            .help("They are reported; there is no evidence against the model"),
        PossibleValue::new("fail")
            .help("Exit code 1: the model has to be shown to keep its limits"),
    ])
    .map(|name| match &*name {
        "fail" => Undecided::Fail,
        _ => Undecided::Allow,
    })
}
