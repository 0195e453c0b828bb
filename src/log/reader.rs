//! One reader for logs of predictions, whatever their format.

use std::borrow::Cow;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::columns::{ColumnNames, Columns, ColumnsError};
use super::digest::hexadecimal;
use super::limits::Limits;
use super::lines::{Batch, LineReader, LinesError};
use super::memory::{RowBatch, RowSource};
#[cfg(feature = "parquet")]
use super::parquet::{TableBatch, TableError, TableReader};
use super::record::{ClassNames, Prediction};
use super::rewrite::{csv_with, json_field, json_with};
use super::row::{Reason, RowError, classes_of};

/// The field of the answer in JSON, unless another is named.
pub const DEFAULT_ANSWER: &str = "probs";

/// The format of a log of predictions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One JSON object a line.
    JsonLines {
        /// The field of the answer.
        answer: String,
    },
    /// Comma-separated values with a header.
    Csv(ColumnNames),
    /// Parquet.
    Parquet(ColumnNames),
}

impl Default for Format {
    fn default() -> Self {
        Format::JsonLines {
            answer: DEFAULT_ANSWER.to_string(),
        }
    }
}

impl Format {
    /// The format that the name of a file stands for: CSV for `.csv`, Parquet for `.parquet` and
    /// `.pq`, JSON lines for all others.
    pub fn of_path(path: &Path) -> Self {
        let ending = path.extension().unwrap_or_default();
        if ending.eq_ignore_ascii_case("csv") {
            Format::Csv(ColumnNames::default())
        } else if ["parquet", "pq"]
            .iter()
            .any(|e| ending.eq_ignore_ascii_case(e))
        {
            Format::Parquet(ColumnNames::default())
        } else {
            Format::default()
        }
    }
}

/// Why a log cannot be read at all, or no further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "wrapped errors speak for themselves")]
pub enum LogError {
    #[error(transparent)]
    Lines(#[from] LinesError),
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Table(#[from] TableError),
    /// Parquet from a stream.
    #[error("Parquet cannot be read from a stream, as its description is at its end; name a file")]
    Stream,
    /// Parquet in a build without it.
    #[error("this build cannot read Parquet (the feature `parquet`); use JSON lines or CSV")]
    NoParquet,
}

impl From<std::io::Error> for LogError {
    fn from(error: std::io::Error) -> Self {
        LogError::Lines(LinesError::Read(error))
    }
}

/// Passes bytes on, and keeps their number and digest.
struct Digesting<R> {
    inner: R,
    digest: Sha256,
    bytes: u64,
}

impl<R> Digesting<R> {
    fn new(inner: R) -> Self {
        Digesting {
            inner,
            digest: Sha256::new(),
            bytes: 0,
        }
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.digest.update(buffer.get(..read).unwrap_or_default());
        self.bytes += read as u64;
        Ok(read)
    }
}

/// A file that can be read from any place.
#[cfg(feature = "parquet")]
trait File: Read + Seek + Send {}
#[cfg(feature = "parquet")]
impl<F: Read + Seek + Send> File for F {}

enum Source<'r> {
    Memory {
        source: Box<dyn RowSource + 'r>,
        digest: Sha256,
        rows: u64,
    },
    Lines(Box<LineReader<Digesting<Box<dyn Read + Send + 'r>>>>),
    #[cfg(feature = "parquet")]
    Table {
        reader: Box<TableReader<Box<dyn File>>>,
        sha256: String,
        /// Rows are taken to be of one length.
        bytes_a_row: f64,
        rows: u64,
    },
}

/// How the rows of a batch are understood.
#[derive(Debug)]
enum Layout {
    Json {
        answer: String,
    },
    Csv(Columns),
    #[cfg(feature = "parquet")]
    Table {
        classes: Vec<String>,
    },
    Memory {
        classes: Option<Vec<String>>,
    },
}

/// Reads the rows of a log batch by batch, in constant memory, and keeps the SHA-256 of its bytes.
pub struct LogReader<'r> {
    source: Source<'r>,
    /// Unknown before the header of a CSV file has been read.
    layout: Option<Arc<Layout>>,
    names: ColumnNames,
    limits: Limits,
    /// The header line of a CSV file.
    header: Option<Vec<u8>>,
}

impl<'r> LogReader<'r> {
    /// Opens a file, within the default limits.
    ///
    /// # Errors
    /// [`LogError`] where it cannot be opened or is not Parquet, if that is asked for.
    pub fn open(path: &Path, format: &Format) -> Result<Self, LogError> {
        LogReader::open_within(path, format, &Limits::default())
    }

    /// Opens a file.
    ///
    /// # Errors
    /// As [`LogReader::open`].
    pub fn open_within(path: &Path, format: &Format, limits: &Limits) -> Result<Self, LogError> {
        let file = std::fs::File::open(path)?;
        match format {
            Format::Parquet(names) => LogReader::parquet_within(file, names, limits),
            _ => LogReader::new_within(file, format, limits),
        }
    }

    /// Reads from a stream, within the default limits.
    ///
    /// # Errors
    /// [`LogError::Stream`] for Parquet.
    pub fn new(reader: impl Read + Send + 'r, format: &Format) -> Result<Self, LogError> {
        LogReader::new_within(reader, format, &Limits::default())
    }

    /// Reads from a stream.
    ///
    /// # Errors
    /// As [`LogReader::new`].
    pub fn new_within(
        reader: impl Read + Send + 'r,
        format: &Format,
        limits: &Limits,
    ) -> Result<Self, LogError> {
        let (layout, names) = match format {
            Format::JsonLines { answer } => {
                let answer = answer.clone();
                (Some(Arc::new(Layout::Json { answer })), None)
            }
            Format::Csv(names) => (None, Some(names.clone())),
            Format::Parquet(_) => return Err(LogError::Stream),
        };
        let reader: Box<dyn Read + Send + 'r> = Box::new(reader);
        Ok(LogReader {
            source: Source::Lines(Box::new(LineReader::within(
                Digesting::new(reader),
                *limits,
            ))),
            layout,
            names: names.unwrap_or_default(),
            limits: *limits,
            header: None,
        })
    }

    /// Reads rows that are in memory already. Their digest is that of the numbers and names themselves.
    pub fn rows(source: impl RowSource + 'r) -> Self {
        let classes = source.classes().map(<[String]>::to_vec);
        LogReader {
            source: Source::Memory {
                source: Box::new(source),
                digest: Sha256::new(),
                rows: 0,
            },
            layout: Some(Arc::new(Layout::Memory { classes })),
            names: ColumnNames::default(),
            limits: Limits::default(),
            header: None,
        }
    }

    /// Reads a Parquet file within the default limits: once for its digest, then its rows.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn parquet(
        file: impl Read + Seek + Send + 'static,
        names: &ColumnNames,
    ) -> Result<Self, LogError> {
        LogReader::parquet_within(file, names, &Limits::default())
    }

    /// Reads a Parquet file: once for its digest, then its rows.
    ///
    /// # Errors
    /// [`LogError`].
    #[cfg(feature = "parquet")]
    pub fn parquet_within(
        mut file: impl Read + Seek + Send + 'static,
        names: &ColumnNames,
        limits: &Limits,
    ) -> Result<Self, LogError> {
        // As many bytes as the file says it has: a device has none, and would never end.
        let length = file.seek(std::io::SeekFrom::End(0));
        let length = length.map_err(TableError::Read)?;
        file.rewind().map_err(TableError::Read)?;
        let mut digesting = Digesting::new(file);
        std::io::copy(&mut (&mut digesting).take(length), &mut std::io::sink())
            .map_err(TableError::Read)?;
        let file: Box<dyn File> = Box::new(digesting.inner);
        let reader = TableReader::within(file, names, limits)?;
        let classes = reader.classes().to_vec();
        Ok(LogReader {
            source: Source::Table {
                sha256: hexadecimal(&digesting.digest.finalize()),
                bytes_a_row: digesting.bytes as f64 / reader.rows().max(1) as f64,
                reader: Box::new(reader),
                rows: 0,
            },
            layout: Some(Arc::new(Layout::Table { classes })),
            names: ColumnNames::default(),
            limits: *limits,
            header: None,
        })
    }

    /// Parquet is not part of this build.
    ///
    /// # Errors
    /// [`LogError::NoParquet`], always.
    #[cfg(not(feature = "parquet"))]
    pub fn parquet_within(
        _: impl Read + Seek + Send + 'static,
        _: &ColumnNames,
        _: &Limits,
    ) -> Result<Self, LogError> {
        Err(LogError::NoParquet)
    }

    /// What messages call the answer.
    pub fn answer_field(&self) -> &str {
        match self.layout.as_deref() {
            Some(Layout::Json { answer }) => answer,
            _ => "probabilities",
        }
    }

    /// The header line of a CSV file, once rows were asked for.
    pub fn header(&self) -> Option<&[u8]> {
        self.header.as_deref()
    }

    /// Whether rows are made of columns, which name the classes.
    pub fn has_columns(&self) -> bool {
        !matches!(
            self.layout.as_deref(),
            Some(Layout::Json { .. } | Layout::Memory { classes: None })
        )
    }

    /// Replaces the content of `batch` by the next rows; `false` at the end of the log.
    ///
    /// # Errors
    /// Whatever prevents further reading, once all rows before it have been handed out.
    pub fn fill(&mut self, batch: &mut LogBatch) -> Result<bool, LogError> {
        let more = match (&mut self.source, &mut batch.rows) {
            (Source::Lines(reader), Rows::Lines(lines)) => reader.fill(lines)?,
            (
                Source::Memory {
                    source,
                    digest,
                    rows,
                },
                Rows::Memory(batch),
            ) => {
                batch.clear();
                source.fill(batch)?;
                batch.first = *rows + 1;
                *rows += batch.len() as u64;
                batch.digest(digest);
                !batch.is_empty()
            }
            (Source::Memory { .. }, rows) => {
                *rows = Rows::Memory(Box::default());
                return self.fill(batch);
            }
            #[cfg(feature = "parquet")]
            (Source::Table { reader, rows, .. }, Rows::Table(table)) => {
                let more = reader.fill(table)?;
                *rows += table.len() as u64;
                more
            }
            (Source::Lines(_), rows) => {
                *rows = Rows::default();
                return self.fill(batch);
            }
            #[cfg(feature = "parquet")]
            (Source::Table { .. }, rows) => {
                *rows = Rows::Table(Box::default());
                return self.fill(batch);
            }
        };
        if let (None, Rows::Lines(lines)) = (&self.layout, &mut batch.rows)
            && let Some((_, header)) = lines.get(0)
        {
            let columns = Columns::of_header(header, &self.names, &self.limits)?;
            self.layout = Some(Arc::new(Layout::Csv(columns)));
            self.header = Some(header.to_vec());
            lines.drop_first();
        }
        batch.layout.clone_from(&self.layout);
        batch.limits = self.limits;
        Ok(more)
    }

    /// How many bytes have been read, about.
    pub fn position(&self) -> u64 {
        match &self.source {
            Source::Lines(reader) => reader.inner().bytes,
            Source::Memory { rows, .. } => *rows,
            #[cfg(feature = "parquet")]
            Source::Table {
                bytes_a_row, rows, ..
            } => (*rows as f64 * bytes_a_row) as u64,
        }
    }

    /// SHA-256 of all bytes that have been read, in hexadecimal digits.
    pub fn sha256(&self) -> String {
        match &self.source {
            Source::Lines(reader) => hexadecimal(&reader.inner().digest.clone().finalize()),
            Source::Memory { digest, .. } => hexadecimal(&digest.clone().finalize()),
            #[cfg(feature = "parquet")]
            Source::Table { sha256, .. } => sha256.clone(),
        }
    }
}

#[derive(Debug)]
enum Rows {
    Lines(Batch),
    #[cfg(feature = "parquet")]
    Table(Box<TableBatch>),
    Memory(Box<RowBatch>),
}

impl Default for Rows {
    fn default() -> Self {
        Rows::Lines(Batch::default())
    }
}

/// Some rows of a log, in order.
#[derive(Debug, Default)]
pub struct LogBatch {
    rows: Rows,
    layout: Option<Arc<Layout>>,
    limits: Limits,
}

/// A row of a log as it stands there.
#[derive(Debug)]
pub struct LogRow<'a> {
    /// Its line, or its number in a Parquet file, counted from 1.
    pub number: u64,
    /// Its line; empty in Parquet.
    pub line: &'a [u8],
    /// What it says.
    pub prediction: Result<Prediction<'a>, RowError>,
}

impl LogBatch {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Lines(lines) => lines.lines().len(),
            Rows::Memory(rows) => rows.len(),
            #[cfg(feature = "parquet")]
            Rows::Table(table) => table.len(),
        }
    }

    /// Whether there are none: the header of a CSV file may stand alone.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The classes that columns name; `None` in JSON.
    pub fn columns(&self) -> Option<&[String]> {
        match self.layout.as_deref()? {
            Layout::Json { .. } => None,
            Layout::Csv(columns) => Some(columns.classes()),
            #[cfg(feature = "parquet")]
            Layout::Table { classes } => Some(classes),
            Layout::Memory { classes } => classes.as_deref(),
        }
    }

    /// The classes of the log as far as these rows tell: those that are given, or else those of the
    /// columns, or else those of the first row that shows them. `model` is the
    /// number of classes of a model that answers evidence without factors.
    ///
    /// # Errors
    /// [`ClassesError`] where there are not as many columns as classes are given.
    pub fn classes(
        &self,
        given: Option<&[String]>,
        model: Option<usize>,
    ) -> Result<Option<ClassNames>, ClassesError> {
        match (given, self.columns()) {
            (Some(names), Some(found)) if names.len() != found.len() => Err(ClassesError {
                classes: names.len(),
                columns: found.len(),
            }),
            (Some(names), _) | (None, Some(names)) => Ok(Some(ClassNames::Named(names.into()))),
            (None, None) => {
                let mut rows = (0..self.len()).filter_map(|i| self.row(i).prediction.ok());
                Ok(rows.find_map(|prediction| classes_of(&prediction, model)))
            }
        }
    }

    /// A field of the row at `index` as text, whether it is part of a prediction or not; none where the
    /// row has no such field, or it is empty.
    ///
    /// # Errors
    /// Where the field is a list or an object, or the log is Parquet, whose other columns are not read.
    pub fn field(&self, index: usize, name: &str) -> Result<Option<Cow<'_, str>>, RowError> {
        match (&self.rows, self.layout.as_deref()) {
            (Rows::Lines(lines), layout) => {
                let (_, line) = lines.get(index).unwrap_or_default();
                match layout {
                    Some(Layout::Csv(columns)) => Ok(columns.field(line, name).map(Cow::Owned)),
                    _ => json_field(line, name),
                }
            }
            (Rows::Memory(rows), _) => rows.field(index, name),
            #[cfg(feature = "parquet")]
            (Rows::Table(_), _) => {
                let what =
                    "only columns of predictions are read from Parquet; use JSON lines or CSV";
                Err(RowError::new(Reason::Shape, name, what))
            }
        }
    }

    /// The line of the row at `index` with another answer, all else as it was, and with a set of classes
    /// beside it where one is given: in JSON as the field `set`, in CSV in a further column at the end.
    /// None in Parquet and in memory, which have no lines.
    pub fn with_answer(
        &self,
        index: usize,
        answer: &[f64],
        set: Option<(&[usize], &ClassNames)>,
    ) -> Option<Vec<u8>> {
        let (_, line) = match &self.rows {
            Rows::Lines(lines) => lines.get(index)?,
            #[cfg(feature = "parquet")]
            Rows::Table(_) => return None,
            Rows::Memory(_) => return None,
        };
        match self.layout.as_deref()? {
            Layout::Json { answer: field } => {
                let numbers: Vec<String> = answer.iter().map(|p| format!("{p:?}")).collect();
                let mut fields = vec![(field.as_str(), format!("[{}]", numbers.join(",")))];
                if let Some((set, classes)) = set {
                    let shown = match classes {
                        ClassNames::Named(_) => {
                            let names: Vec<_> = set.iter().map(|&i| classes.name(i)).collect();
                            serde_json::to_string(&names)
                        }
                        ClassNames::Numbered(_) => serde_json::to_string(set),
                    };
                    fields.push(("set", shown.ok()?));
                }
                json_with(line, &fields)
            }
            Layout::Csv(columns) => {
                let names = set.map(|(set, classes)| set.iter().map(move |&i| classes.name(i)));
                let set = names.map(|names| names.collect::<Vec<_>>().join("|"));
                csv_with(columns, line, answer, set.as_deref())
            }
            #[cfg(feature = "parquet")]
            Layout::Table { .. } => None,
            Layout::Memory { .. } => None,
        }
    }

    /// The row at `index`, which is less than [`LogBatch::len`].
    pub fn row(&self, index: usize) -> LogRow<'_> {
        match (&self.rows, self.layout.as_deref()) {
            (Rows::Lines(lines), layout) => {
                let (number, line) = lines.get(index).unwrap_or_default();
                let prediction = match layout {
                    Some(Layout::Csv(columns)) => columns.prediction(line),
                    Some(Layout::Json { answer }) => {
                        Prediction::parse_within(line, answer, &self.limits)
                            .map_err(|error| RowError::of_record(&error, answer))
                    }
                    _ => Ok(Prediction::default()),
                };
                LogRow {
                    number,
                    line,
                    prediction,
                }
            }
            (Rows::Memory(rows), _) => LogRow {
                number: rows.first + index as u64,
                line: &[],
                prediction: Ok(rows.prediction(index)),
            },
            #[cfg(feature = "parquet")]
            (Rows::Table(table), _) => LogRow {
                number: table.number(index),
                line: &[],
                prediction: table.prediction(index),
            },
        }
    }
}

/// Not as many columns of probabilities as classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{classes} classes are given, but there are {columns} columns of probabilities")]
#[non_exhaustive]
pub struct ClassesError {
    /// How many classes are given.
    pub classes: usize,
    /// How many columns there are.
    pub columns: usize,
}
