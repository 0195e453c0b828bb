//! Why a command failed.

use std::io;
use std::path::{Path, PathBuf};

use super::display::message;
use crate::error::{Error, ErrorKind};
use crate::log::LinesError;
use crate::report::with_options;

/// Why a command failed: exit code 2, except for a closed pipe.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum Failure {
    /// Arguments that are wrong or do not go together.
    #[error("error: {}", said(.0))]
    Usage(String),
    /// A file cannot be opened or read.
    #[error("error: {}: cannot be read: {error}", shown(path))]
    Read { path: PathBuf, error: io::Error },
    /// A file has no record.
    #[error("error: {}: there is no row", shown(path))]
    NoRecords { path: PathBuf },
    /// A line is wrong.
    #[error("error: {}:{line}: {}", shown(path), said(what))]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: u64,
        /// What is wrong: `field: what`.
        what: String,
    },
    /// The output cannot be written.
    #[error("error: {}: cannot be written: {error}", message(to))]
    Write { to: String, error: io::Error },
    /// The reader of our output has gone.
    #[error("error: the output was closed")]
    ClosedPipe,
    /// No threads to work with.
    #[error("error: cannot start threads: {}", message(.0))]
    Threads(String),
}

impl Failure {
    /// An error of the library, in `path` unless it names another file. Settings are named as the
    /// options that set them.
    pub fn of(error: Error, path: &Path) -> Self {
        let what = match (error.kind(), error.field()) {
            (ErrorKind::Setting, Some(name)) => format!("--{name}: {}", error.what()),
            (_, Some(field)) => format!("{field}: {}", error.what()),
            (_, None) => error.what(),
        };
        if let Some(line) = error.line() {
            return Failure::line(path, line, what);
        }
        match (error.kind(), error.file()) {
            (ErrorKind::Setting, _) => Failure::Usage(what),
            (ErrorKind::Io, file) => {
                let path = file.unwrap_or(path).to_path_buf();
                match error.into_source().downcast() {
                    Ok(error) => Failure::read(&path, *error),
                    Err(other) => Failure::Usage(format!("{}: {other}", path.display())),
                }
            }
            (_, file) => Failure::Usage(format!("{}: {what}", file.unwrap_or(path).display())),
        }
    }

    /// What is wrong with a line of `path`.
    pub fn line(path: &Path, line: u64, what: impl ToString) -> Self {
        Failure::Line {
            path: path.to_path_buf(),
            line,
            what: what.to_string(),
        }
    }

    /// A file that cannot be read.
    pub fn read(path: &Path, error: io::Error) -> Self {
        let path = path.to_path_buf();
        Failure::Read { path, error }
    }

    /// An error of reading lines of `path`.
    pub fn lines(path: &Path, error: LinesError) -> Self {
        match error {
            LinesError::Read(error) => Failure::read(path, error),
            LinesError::TooLong { line, limit } => {
                Failure::line(path, line, format!("line: {limit}"))
            }
        }
    }

    /// An error of writing to `to`.
    pub fn write(to: &str, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::ClosedPipe;
        }
        Failure::Write {
            to: to.to_string(),
            error,
        }
    }
}

/// What is wrong, with settings and limits as the options that set them.
fn said(what: &str) -> String {
    message(&with_options(what))
}

/// What messages call a file.
fn shown(path: &Path) -> String {
    if path == Path::new("-") {
        return "standard input".to_string();
    }
    message(&path.to_string_lossy())
}
