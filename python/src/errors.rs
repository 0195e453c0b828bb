//! Errors of the library as Python exceptions, with the same messages.

use lpf::{Error, ErrorKind};
use pyo3::prelude::*;

/// The exception for an error; its class, in `lpf._errors`, is that of its kind.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error.kind() {
        ErrorKind::Io => "FileError",
        ErrorKind::Setting => "SettingError",
        ErrorKind::Record => "RecordError",
        ErrorKind::Distribution => "DistributionError",
        ErrorKind::Aggregation => "AggregationError",
        ErrorKind::Network => "NetworkError",
        ErrorKind::Model => "ModelError",
        ErrorKind::Calibration => "CalibrationError",
        ErrorKind::Audit => "AuditError",
        _ => "Error",
    };
    let file = error.file().map(|path| path.to_string_lossy().into_owned());
    let place = (error.to_string(), file, error.line(), error.field());
    made(py, class, place)
}

/// An exception without a place.
pub(crate) fn plain(py: Python<'_>, class: &str, what: impl ToString) -> PyErr {
    made(py, class, (what.to_string(), None, None, None))
}

type Said<'a> = (String, Option<String>, Option<u64>, Option<&'a str>);

fn made(py: Python<'_>, class: &str, said: Said<'_>) -> PyErr {
    let made = || py.import("lpf._errors")?.getattr(class)?.call1(said);
    match made() {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// Errors of the library, where the interpreter is at hand.
pub(crate) trait Raised<T> {
    fn raised(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Error>> Raised<T> for Result<T, E> {
    fn raised(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error.into()))
    }
}
