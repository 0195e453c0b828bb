//! `lpf.toml`: the limits that a log is held to, kept beside the code that is gated.
//!
//! ```toml
//! [audit]
//! strict = true          # a row that cannot be used is an error
//! undecided = "fail"     # too few rows to decide stops the pipeline too
//! bins = 15
//! classes = ["low", "medium", "high"]
//! by = ["site", "month(at)", "evidence.id"] # slices that are judged by themselves
//! segments = true        # and each pair of the fields
//!
//! [audit.limits]         # they apply to the interval of a check, never to its value alone
//! ece = 0.05             # the whole interval must be on the good side to pass
//! accuracy = 0.9
//! gap = "off"            # takes a limit away that holds by default
//!
//! [log]                  # fields or columns, where they do not have a usual name
//! label = "diagnosis"
//! probs = ["p_*"]        # names, patterns, ranges; one name for a single field
//! positive = "malignant" # the class that a single probability is of
//! id = "patient"
//! ```

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::calibration::MAX_BINS;
use crate::log::check_encoding;

/// Larger files are refused: a gate has some tens of lines.
pub const MAX_GATE_BYTES: u64 = 1 << 20;

/// The settings of a gate; what it leaves out is as on the command line.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Gate {
    /// Whether a row that cannot be used is an error.
    pub strict: Option<bool>,
    /// Whether undecided checks make the audit fail.
    pub undecided: Option<Undecided>,
    /// Number of bins.
    pub bins: Option<usize>,
    /// Names of the classes.
    pub classes: Option<Vec<String>>,
    /// What there are slices by.
    pub by: Option<Vec<String>>,
    /// Whether there are slices by pairs of these fields too.
    pub segments: Option<bool>,
    /// Limits by check, each with its line; `None` removes a default limit.
    pub limits: Vec<GateLimit>,
    /// Names of fields and columns.
    pub columns: GateColumns,
}

/// The names of fields and columns, as [`Fields`](crate::log::Fields) has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GateColumns {
    /// The true class.
    pub label: Option<String>,
    /// The name of the entity.
    pub id: Option<String>,
    /// The probabilities.
    pub probs: Option<Vec<String>>,
    /// The class that a single probability is of.
    pub positive: Option<String>,
}

/// Whether a check that is undecided, or has a limit of its own and cannot be run, fails the audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Undecided {
    /// It is reported, and the audit can pass.
    Allow,
    /// The audit fails.
    Fail,
}

/// One limit of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateLimit {
    /// The check.
    pub check: String,
    /// Its limit, or none.
    pub value: Option<f64>,
    /// The line of the file.
    pub line: u64,
}

/// Why a file is not a gate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Io(std::io::Error),
    /// A line is wrong.
    #[error("line {line}: {what}")]
    Line {
        /// Which, counted from 1.
        line: u64,
        /// What is wrong.
        what: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    audit: Option<Section>,
    log: Option<GateColumns>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    strict: Option<bool>,
    undecided: Option<Undecided>,
    bins: Option<Spanned<usize>>,
    classes: Option<Vec<String>>,
    by: Option<Vec<String>>,
    segments: Option<bool>,
    #[serde(default)]
    limits: BTreeMap<Spanned<String>, Spanned<LimitValue>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a limit is a number, or \"off\"")]
enum LimitValue {
    Number(f64),
    Word(Off),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Off {
    Off,
}

impl Gate {
    /// Reads a file.
    ///
    /// # Errors
    /// [`GateError`].
    pub fn read(path: &Path) -> Result<Self, GateError> {
        let file = std::fs::File::open(path).map_err(GateError::Io)?;
        let mut bytes = Vec::new();
        file.take(MAX_GATE_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(GateError::Io)?;
        Gate::parse(&bytes)
    }

    /// Reads the content of a file. Which checks there are is not known here.
    ///
    /// # Errors
    /// [`GateError::Line`] for any bytes that are not a gate.
    pub fn parse(bytes: &[u8]) -> Result<Self, GateError> {
        if bytes.len() as u64 > MAX_GATE_BYTES {
            let what = format!("larger than {} MiB", MAX_GATE_BYTES >> 20);
            return Err(GateError::Line { line: 1, what });
        }
        check_encoding(bytes).map_err(|error| GateError::Line {
            line: 1,
            what: error.to_string(),
        })?;
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let ends = before.iter().filter(|byte| **byte == b'\n').count();
            GateError::Line {
                line: 1 + ends as u64,
                what: "not UTF-8 text".to_string(),
            }
        })?;
        // Once, and not for every limit: there may be as many as the file has lines.
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let line = |span: Option<Range<usize>>| {
            let start = span.map_or(0, |span| span.start);
            1 + ends.partition_point(|end| *end < start) as u64
        };
        let file: File = toml::from_str(text).map_err(|error| GateError::Line {
            line: line(error.span()),
            what: error.message().replace('\n', " "),
        })?;
        if file.audit.is_none() && file.log.is_none() {
            let what = "missing field `audit`: there is neither [audit] nor [log]".to_string();
            return Err(GateError::Line { line: 1, what });
        }
        let audit = file.audit.unwrap_or_default();
        if let Some(bins) = &audit.bins
            && !(1..=MAX_BINS).contains(bins.get_ref())
        {
            let what = format!("bins: {} is not between 1 and {MAX_BINS}", bins.get_ref());
            let line = line(Some(bins.span()));
            return Err(GateError::Line { line, what });
        }
        let limits = audit.limits.into_iter().map(|(check, value)| GateLimit {
            line: line(Some(value.span())),
            check: check.into_inner(),
            value: match value.into_inner() {
                LimitValue::Number(value) => Some(value),
                LimitValue::Word(Off::Off) => None,
            },
        });
        Ok(Gate {
            limits: limits.collect(),
            strict: audit.strict,
            undecided: audit.undecided,
            bins: audit.bins.map(Spanned::into_inner),
            classes: audit.classes,
            by: audit.by,
            segments: audit.segments,
            columns: file.log.unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GATE: &str = "[audit]\nstrict = true\nundecided = \"fail\"\nbins = 10\nclasses = [\"a\", \"b\"]\nby = [\"site\"]\n\
                        [audit.limits]\nece = 0.05\ngap = \"off\"\naccuracy = 1\n";

    #[test]
    fn a_gate_is_read_as_it_is_written() {
        let gate = Gate::parse(GATE.as_bytes()).unwrap();
        assert_eq!((gate.strict, gate.bins), (Some(true), Some(10)));
        assert_eq!(gate.undecided, Some(Undecided::Fail));
        assert_eq!(gate.classes, Some(vec!["a".to_string(), "b".to_string()]));
        assert_eq!(gate.by, Some(vec!["site".to_string()]));
        let limit = |check: &str, value, line| GateLimit {
            check: check.to_string(),
            value,
            line,
        };
        let want = [
            limit("accuracy", Some(1.0), 10),
            limit("ece", Some(0.05), 8),
            limit("gap", None, 9),
        ];
        assert_eq!(gate.limits, want);
        assert_eq!(Gate::parse(b"[audit]").unwrap(), Gate::default());
        let columns = Gate::parse(b"[log]\nlabel = \"y\"\nprobs = [\"0..9\"]")
            .unwrap()
            .columns;
        assert_eq!(columns.label.as_deref(), Some("y"));
        assert_eq!(columns.probs, Some(vec!["0..9".to_string()]));
    }

    fn wrong(bytes: &[u8]) -> (u64, String) {
        match Gate::parse(bytes) {
            Err(GateError::Line { line, what }) => (line, what),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let cases = [
            ("", 1, "missing field `audit`"),
            ("[audit]\nstrickt = true", 2, "unknown field `strickt`"),
            ("[audit]\n[more]", 2, "unknown field `more`"),
            ("[log]\nlable = \"y\"", 2, "unknown field `lable`"),
            ("[audit]\nbins = -1", 2, "invalid value"),
            ("[audit]\nundecided = \"no\"", 2, "unknown variant `no`"),
            (
                "[audit]\nbins = 5000",
                2,
                "bins: 5000 is not between 1 and 1024",
            ),
            ("[audit]\nbins = 3\nbins = 4", 3, "duplicate key"),
            (
                "[audit.limits]\n\nece = \"on\"",
                3,
                "a limit is a number, or \"off\"",
            ),
            (
                "[audit.limits]\nece = [1]",
                2,
                "a limit is a number, or \"off\"",
            ),
            ("[audit]\n\nx = = 1", 3, ""),
        ];
        for (text, line, what) in cases {
            let (found, message) = wrong(text.as_bytes());
            assert!(message.contains(what), "{text:?}: {message}");
            assert_eq!(found, line, "{text:?}: {message}");
            assert!(!message.contains('\n'));
        }
        assert_eq!(wrong(b"[audit]\n\xff").0, 2);
        let long = vec![b'\n'; MAX_GATE_BYTES as usize + 1];
        assert!(Gate::parse(&long).is_err());
    }

    proptest! {
        #[test]
        fn any_change_of_a_gate_gives_a_gate_or_an_error(
            changes in prop::collection::vec((0..GATE.len(), any::<u8>()), 1..5)
        ) {
            let mut bytes = GATE.as_bytes().to_vec();
            for (at, byte) in changes {
                bytes[at] = byte;
            }
            if let Err(GateError::Line { line, what }) = Gate::parse(&bytes) {
                prop_assert!(!what.is_empty() && line <= 13);
            }
        }
    }
}
