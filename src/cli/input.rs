//! Which shape a log has, and which columns hold what.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use clap::ValueEnum;

use super::Failure;
use crate::log::ColumnNames;

/// How logs are read.
#[derive(Debug, clap::Args)]
pub struct InputOptions {
    /// How to read the files [default: by their names]
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

/// Shapes of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values with a header
    Csv,
    /// Parquet, one column a class
    Parquet,
}

impl InputOptions {
    /// The shape of a file: as asked for, or else by its name.
    pub fn format(&self, path: &Path) -> InputFormat {
        let named = |endings: &[&str]| {
            let ending = path.extension();
            endings
                .iter()
                .any(|e| ending.is_some_and(|ending| ending.eq_ignore_ascii_case(e)))
        };
        match self.input_format {
            Some(format) => format,
            None if named(&["csv"]) => InputFormat::Csv,
            None if named(&["parquet", "pq"]) => InputFormat::Parquet,
            None => InputFormat::Jsonl,
        }
    }

    /// What is said about the columns.
    pub fn names(&self) -> ColumnNames {
        ColumnNames {
            label: self.label_column.clone(),
            id: self.id_column.clone(),
            probabilities: self.prob_columns.clone(),
        }
    }
}

/// Whether a path stands for standard input.
pub fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// The file, or standard input for `-`.
///
/// # Errors
/// [`Failure::Read`] where the file cannot be opened.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>, Failure> {
    if is_stream(path) {
        return Ok(Box::new(std::io::stdin()));
    }
    Ok(Box::new(open_file(path)?))
}

fn open_file(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| Failure::Read {
        path: path.to_path_buf(),
        error,
    })
}

/// A Parquet file, which is read from its end.
#[cfg(feature = "parquet")]
pub fn open_parquet(path: &Path) -> Result<File, Failure> {
    if is_stream(path) {
        let what =
            "Parquet cannot be read from a stream, as it is described at its end; name a file";
        return Err(Failure::Usage(what.to_string()));
    }
    open_file(path)
}

/// What is said where Parquet cannot be read.
#[cfg(not(feature = "parquet"))]
pub const NO_PARQUET: &str = "this program was built without Parquet (the feature `parquet`); use JSON \
                              lines or CSV";
