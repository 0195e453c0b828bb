//! The format of a log: as asked for, or else by its name and its first bytes.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::fields::Fields;

/// How the rows of a log are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// One JSON object a line.
    JsonLines,
    /// An array of JSON objects.
    Json,
    /// A header and a line a row, separated by commas, semicolons, tabs or bars.
    Csv,
    /// Parquet.
    Parquet,
    /// Arrow IPC: a file (Feather) or a stream.
    Arrow,
}

/// The format of a log, and where in its rows things are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// How rows are written; by default as the name and the first bytes say.
    pub kind: Option<Kind>,
    /// Which fields or columns hold what.
    pub fields: Fields,
}

impl Format {
    /// A format with the usual names of fields.
    pub fn of(kind: Kind) -> Self {
        Format {
            kind: Some(kind),
            fields: Fields::default(),
        }
    }

    /// JSON lines with the answer in this field.
    pub fn json_lines(answer: impl Into<String>) -> Self {
        let mut format = Format::of(Kind::JsonLines);
        format.fields.probabilities = Some(vec![answer.into()]);
        format
    }
}

impl Kind {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::JsonLines => "JSON lines",
            Kind::Json => "a JSON array",
            Kind::Csv => "separated values",
            Kind::Parquet => "Parquet",
            Kind::Arrow => "Arrow IPC",
        }
    }

    /// The kind that the name of a file stands for, with or without `.gz` or `.zst` at its end. A `.json`
    /// file may be lines or an array.
    pub fn of_path(path: &Path) -> Option<Self> {
        match &*ending(path)? {
            "csv" | "tsv" | "tab" => Some(Kind::Csv),
            "jsonl" | "ndjson" => Some(Kind::JsonLines),
            "parquet" | "pq" => Some(Kind::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Kind::Arrow),
            _ => None,
        }
    }

    /// Whether the name of a file stands for this kind, or for none.
    #[cfg(feature = "cli")]
    pub(crate) fn may_be_called(self, path: &Path) -> bool {
        match ending(path).as_deref() {
            Some("json") => matches!(self, Kind::Json | Kind::JsonLines),
            _ => Kind::of_path(path).is_none_or(|kind| kind == self),
        }
    }

    /// The kind that content looks like, by its first bytes and the first that is no white space.
    pub(super) fn of_content(first: &[u8], mark: Option<u8>) -> Self {
        match (first, mark) {
            ([b'P', b'A', b'R', b'1', ..], _) => Kind::Parquet,
            ([b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..], _) => {
                Kind::Arrow
            }
            (_, Some(b'[')) => Kind::Json,
            (_, Some(b'{') | None) => Kind::JsonLines,
            _ => Kind::Csv,
        }
    }
}

/// What follows the last dot in the name of a file, in small letters and before `.gz` and `.zst`.
fn ending(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = [".gz", ".zst"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(&name);
    Some(name.rsplit_once('.')?.1.to_string())
}

/// What was read of a log, and as what.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Reading {
    /// The format: `CSV (semicolons)`.
    pub format: String,
    /// What it was compressed with, if at all.
    pub compression: Option<String>,
    /// The field or column of the true class.
    pub label: Option<String>,
    /// The field or column of the entity's name.
    pub id: Option<String>,
    /// The fields or columns of the probabilities: the first of them, at most [`Reading::MOST`].
    pub probabilities: Vec<String>,
    /// How many there are.
    pub columns: u64,
    /// The class that a single probability is of; all others count against it.
    pub positive: Option<String>,
    /// Further fields or columns, which no check reads: the first of them, at most [`Reading::MOST`].
    #[serde(default)]
    pub others: Vec<String>,
}

impl Reading {
    /// So many names of fields are kept.
    pub const MOST: usize = 12;

    /// Of rows that were never in a file.
    pub(crate) fn in_memory() -> Self {
        Reading {
            format: "rows in memory".to_string(),
            ..Reading::default()
        }
    }
}
