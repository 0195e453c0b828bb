//! One error over the errors of all rooms.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::aggregate::{AggregateError, UnknownMethod};
use crate::calibration::{CalibrationError, MapError};
use crate::learn::{AggregatorError, TrainError, VaeError};
use crate::log::{ClassesError, Fault, LinesError, LogError, RecordError, RowError};
use crate::model::{CalibrationFileError, FitError, ModelError};
use crate::simplex::{PoolError, SimplexError};
use crate::spn::{BuildError, EvidenceError, QueryError};
use crate::synthetic::UnknownDomain;
use crate::uncertainty::{MixtureError, UncertaintyError};

/// Short for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, in which file, line and field.
///
/// Shown as `FILE:LINE: FIELD: what`, with as many of these as are known. The room's own error is
/// the [`source`](StdError::source).
///
/// ```
/// use lpf::{Answerer, ErrorKind, Method};
///
/// let answerer = Answerer::builder(Method::Spn).build()?;
/// let lines = r#"{"entity": "C5", "evidence": [{"factor": [0.7, 0.7]}]}"#;
/// let error = answerer.answers(lines.as_bytes()).next().unwrap().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Record);
/// assert_eq!((error.line(), error.field()), (Some(1), Some("evidence[0].factor")));
/// # Ok::<(), lpf::Error>(())
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    file: Option<PathBuf>,
    line: Option<u64>,
    field: Option<Cow<'static, str>>,
    source: Box<dyn StdError + Send + Sync>,
}

/// Kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file cannot be opened, read or written.
    Io,
    /// A setting is out of range, missing, or does not go with another; the field names it.
    Setting,
    /// A record, or a line of a log, is malformed.
    Record,
    /// Numbers are not a probability distribution.
    Distribution,
    /// Evidence cannot be combined.
    Aggregation,
    /// A sum-product network is invalid, or cannot be queried.
    Network,
    /// A model file is malformed, or the model cannot be used.
    Model,
    /// A calibration map is malformed, cannot be fitted, or does not fit the answers.
    Calibration,
    /// Training failed.
    Training,
    /// Uncertainty cannot be computed.
    Uncertainty,
    /// A log cannot be audited.
    Audit,
    /// An experiment cannot be run.
    Experiment,
}

impl Error {
    /// An error of a kind, without a place.
    pub(crate) fn new(kind: ErrorKind, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Error(Box::new(Inner {
            kind,
            file: None,
            line: None,
            field: None,
            source: source.into(),
        }))
    }

    /// A setting, and what is wrong with it.
    pub(crate) fn setting(name: &'static str, what: impl Into<String>) -> Self {
        Error::new(ErrorKind::Setting, what.into()).in_field(name)
    }

    pub(crate) fn in_field(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        self.0.field = Some(field.into());
        self
    }

    /// The same error, said to be in this line, counted from 1.
    #[must_use]
    pub fn in_line(mut self, line: u64) -> Self {
        self.0.line = Some(line);
        self
    }

    /// The same error, said to be in this file: a reader does not know the name of what it reads.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.0.file = Some(file.into());
        self
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The file that it is in, where one was named.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// The line that it is in, counted from 1.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// The field of a record, as a path such as `evidence[2].factor[1]`, or the setting.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// The room's own error.
    #[cfg(feature = "cli")]
    pub(crate) fn into_source(self) -> Box<dyn StdError + Send + Sync> {
        self.0.source
    }

    /// What is wrong, without its place.
    #[must_use]
    pub fn what(&self) -> String {
        self.0.source.to_string()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file(), self.line()) {
            (Some(file), Some(line)) => write!(f, "{}:{line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        if let Some(field) = self.field() {
            write!(f, "{field}: ")?;
        }
        self.0.source.fmt(f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.0.source)
    }
}

impl From<RecordError> for Error {
    fn from(RecordError { place, fault }: RecordError) -> Self {
        Error::new(ErrorKind::Record, fault).in_field(place.to_string())
    }
}

impl From<RowError> for Error {
    fn from(RowError { field, message, .. }: RowError) -> Self {
        Error::new(ErrorKind::Record, message).in_field(field)
    }
}

impl From<LinesError> for Error {
    fn from(error: LinesError) -> Self {
        match error {
            LinesError::Read(error) => error.into(),
            LinesError::TooLong { line, .. } => Error::new(ErrorKind::Record, error)
                .in_line(line)
                .in_field("line"),
        }
    }
}

impl From<LogError> for Error {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Lines(error) => error.into(),
            #[cfg(feature = "parquet")]
            LogError::Table(crate::log::TableError::Read(error)) => error.into(),
            other => Error::new(ErrorKind::Record, other),
        }
    }
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Io(error) => error.into(),
            other => Error::new(ErrorKind::Model, other),
        }
    }
}

impl From<CalibrationFileError> for Error {
    fn from(error: CalibrationFileError) -> Self {
        match error {
            CalibrationFileError::Io(error) => error.into(),
            other => Error::new(ErrorKind::Calibration, other),
        }
    }
}

/// Settings of a builder that are taken as they are: each sets the field of its name.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        $($(#[$doc])*
        pub fn $name(mut self, $name: $type) -> Self {
            self.$name = $name;
            self
        })*
    };
}
pub(crate) use setters;

/// Kinds of errors that say nothing of a place.
macro_rules! kinds {
    ($($kind:ident: $($error:ty),+;)*) => {
        $($(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Error::new(ErrorKind::$kind, error)
            }
        })+)*
    };
}

kinds! {
    Io: std::io::Error;
    Setting: UnknownMethod, UnknownDomain, ClassesError;
    Record: Fault;
    Distribution: SimplexError;
    Aggregation: AggregateError, PoolError, AggregatorError;
    Network: BuildError, QueryError, EvidenceError;
    Model: VaeError;
    Calibration: MapError, CalibrationError;
    Training: FitError, TrainError;
    Uncertainty: UncertaintyError, MixtureError;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Place;

    #[test]
    fn an_error_shows_as_much_of_its_place_as_is_known() {
        let record = RecordError {
            place: Place::item_field(2, "weight"),
            fault: Fault::Weight(-1.0),
        };
        let error = Error::from(record).in_line(7);
        assert_eq!((error.line(), error.file()), (Some(7), None));
        assert_eq!(error.field(), Some("evidence[2].weight"));
        let what = "evidence[2].weight: -1.0; a weight is finite and not negative";
        assert_eq!(error.to_string(), format!("line 7: {what}"));
        let error = error.in_file("a.jsonl");
        assert_eq!(error.to_string(), format!("a.jsonl:7: {what}"));
        let error = Error::setting("prior", "missing").in_file("lpf.toml");
        assert_eq!(error.to_string(), "lpf.toml: prior: missing");
        assert_eq!(error.kind(), ErrorKind::Setting);
    }

    #[test]
    fn files_that_cannot_be_read_are_one_kind() {
        let gone = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let errors: [Error; 4] = [
            gone().into(),
            LinesError::Read(gone()).into(),
            ModelError::Io(gone()).into(),
            CalibrationFileError::Io(gone()).into(),
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Io);
            let source = error.source().unwrap();
            assert!(source.downcast_ref::<std::io::Error>().is_some());
        }
    }
}
