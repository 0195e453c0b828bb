//! The format of a log, and where it is read from.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use clap::ValueEnum;

use super::Failure;
use crate::log::{ColumnNames, Format};

/// How logs are read.
#[derive(Debug, clap::Args)]
pub(crate) struct InputOptions {
    /// The format of the files [default: by their names]
    #[arg(long, value_enum)]
    input_format: Option<InputFormat>,

    /// The column of the true class, in CSV and Parquet [default: label]
    #[arg(long, value_name = "COLUMN")]
    label_column: Option<String>,

    /// The column that names the row, in CSV and Parquet [default: entity or id]
    #[arg(long, value_name = "COLUMN")]
    id_column: Option<String>,

    /// The columns of the probabilities, in CSV and Parquet; their names are the classes [default:
    /// those that start with prob_ or p_]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    prob_columns: Option<Vec<String>>,
}

/// Formats of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values with a header
    Csv,
    /// Parquet, one column a class
    Parquet,
}

impl InputOptions {
    /// The format of a file: as asked for, or else by its name; in JSON the answer is in the field
    /// `answer`.
    pub(crate) fn format(&self, path: &Path, answer: &str) -> Format {
        let names = ColumnNames {
            label: self.label_column.clone(),
            id: self.id_column.clone(),
            probabilities: self.prob_columns.clone(),
        };
        match (self.input_format, Format::of_path(path)) {
            (Some(InputFormat::Csv), _) | (None, Format::Csv(_)) => Format::Csv(names),
            (Some(InputFormat::Parquet), _) | (None, Format::Parquet(_)) => Format::Parquet(names),
            _ => Format::JsonLines {
                answer: answer.to_string(),
            },
        }
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
