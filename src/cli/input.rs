//! The format of a log, and where it is read from.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use clap::ValueEnum;

use super::Failure;
use crate::audit::GateColumns;
use crate::log::{Fields, Format, Kind};

/// How logs are read; the same for every format.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Reading logs")]
pub(crate) struct InputOptions {
    /// The format of the files [default: by their names and first bytes]
    #[arg(long, value_enum)]
    pub(super) input_format: Option<InputFormat>,

    /// The field or column of the true class [default: label, y_true, target, y, ...]
    #[arg(long, alias = "label-column", value_name = "FIELD")]
    pub(super) label: Option<String>,

    /// The field or column that names the row [default: entity or id]
    #[arg(long, alias = "id-column", value_name = "FIELD")]
    pub(super) id: Option<String>,

    /// Where the probabilities are: one field with a number (of the positive class), a list or an object,
    /// or one for each class: names, patterns ('p*') and ranges (0..9) [default: the usual names, such as
    /// probs, distribution, y_prob, prob_CLASS, 0..n]
    #[arg(
        long,
        alias = "answer",
        alias = "prob-columns",
        value_name = "A,B,C",
        value_delimiter = ','
    )]
    pub(super) probs: Option<Vec<String>>,

    /// The class that a single probability is of; every other label counts against it [default: 1, against
    /// 0]
    #[arg(long, value_name = "CLASS", conflicts_with = "classes")]
    pub(super) positive: Option<String>,

    /// Give rows without an answer the one that follows from their evidence
    #[arg(long)]
    pub(super) answer_from_evidence: bool,

    /// Weights of rows are not supported; this says why
    #[arg(long, value_name = "FIELD", hide = true)]
    pub(super) weight: Option<String>,
}

/// Formats of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// One JSON object a line
    Jsonl,
    /// An array of JSON objects
    Json,
    /// A header and a line a row, separated by commas, semicolons, tabs or bars
    Csv,
    /// The same, by tabs
    Tsv,
    /// Parquet
    Parquet,
    /// Arrow IPC: a file (Feather) or a stream
    Arrow,
}

impl InputOptions {
    /// The format of logs, as asked for on the command line or else in a file of settings.
    ///
    /// # Errors
    /// Where something is asked for that is not there.
    pub(crate) fn format(&self, columns: &GateColumns) -> Result<Format, Failure> {
        if self.weight.is_some() {
            let what = "--weight: weights of rows are not supported: the intervals of all checks count \
                        rows, each as one observation; where a row stands for several, write it so often, each \
                        time with the same --id, and the copies count as one cluster";
            return Err(Failure::Usage(what.to_string()));
        }
        let or = |own: &Option<String>, file: &Option<String>| own.clone().or_else(|| file.clone());
        Ok(Format {
            kind: self.input_format.map(|format| match format {
                InputFormat::Jsonl => Kind::JsonLines,
                InputFormat::Json => Kind::Json,
                InputFormat::Csv | InputFormat::Tsv => Kind::Csv,
                InputFormat::Parquet => Kind::Parquet,
                InputFormat::Arrow => Kind::Arrow,
            }),
            fields: Fields {
                label: or(&self.label, &columns.label),
                id: or(&self.id, &columns.id),
                probabilities: self.probs.clone().or_else(|| columns.probs.clone()),
                positive: or(&self.positive, &columns.positive),
                ..Fields::default()
            },
        })
    }

    /// Whether rows without an answer get the one that follows from their evidence, in commands that take
    /// evidence as `lpf infer` does: unless the field of the answer was named, and so has to be there.
    pub(crate) fn answers_evidence(&self, format: &Format) -> bool {
        self.answer_from_evidence || format.fields.probabilities.is_none()
    }
}

/// Whether a path stands for standard input.
pub(crate) fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// The file, or standard input for `-`.
///
/// # Errors
/// [`Failure::Read`] where the file cannot be opened.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>, Failure> {
    if is_stream(path) {
        return Ok(Box::new(std::io::stdin()));
    }
    Ok(Box::new(open_file(path)?))
}

fn open_file(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| Failure::read(path, error))
}
