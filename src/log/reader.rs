//! One reader for logs of predictions, whatever their format.

use std::borrow::Cow;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;

use super::columns::{Columns, ColumnsError};
use super::fields::Fields;
use super::format::{Format, Kind, Reading};
use super::layout::{Layout, Search, Shape};
use super::limits::Limits;
use super::lines::{Batch, LineReader, LinesError};
use super::memory::{RowBatch, RowSource};
#[cfg(feature = "parquet")]
use super::parquet::{TableError, TableReader};
use super::record::{ClassNames, Prediction};
use super::rewrite::{answer_text, csv_with, json_field, json_with};
use super::row::{RowError, RowRules, classes_of};
use super::source::{
    Bytes, Compression, Digested, Digesting, Elements, check_encoding, first_mark, peeked,
};
#[cfg(feature = "parquet")]
use super::table::TableBatch;
use super::tolerance::Tolerance;

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
    /// Parquet, Arrow or compressed bytes in a build without them.
    #[error(
        "this build reads neither Parquet, Arrow nor compressed files (the feature `parquet`); use JSON \
         lines or CSV"
    )]
    NoParquet,
}

impl From<std::io::Error> for LogError {
    fn from(error: std::io::Error) -> Self {
        LogError::Lines(LinesError::Read(error))
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
        rows: u64,
    },
    Lines(Box<LineReader<Bytes<'r>>>),
    #[cfg(feature = "parquet")]
    Arrow(Box<super::arrow::ArrowReader<Bytes<'r>>>),
    #[cfg(feature = "parquet")]
    Table {
        reader: Box<TableReader<Box<dyn File>>>,
        /// Rows are taken to be of one length.
        bytes_a_row: f64,
        rows: u64,
    },
}

/// Reads the rows of a log batch by batch, in constant memory, and keeps the SHA-256 of its bytes.
pub struct LogReader<'r> {
    source: Source<'r>,
    kind: Kind,
    compression: Option<Compression>,
    digested: Digested,
    /// Unknown before the header of a CSV file has been read.
    layout: Option<Arc<Layout>>,
    /// What is still to be found out of the fields of JSON objects.
    search: Option<Search>,
    fields: Fields,
    limits: Limits,
    /// The header line of a CSV file.
    header: Option<Vec<u8>>,
}

impl<'r> LogReader<'r> {
    /// Opens a file, within the default limits.
    ///
    /// # Errors
    /// [`LogError`] where it cannot be opened, or is not in the format that is asked for.
    pub fn open(path: &Path, format: &Format) -> Result<Self, LogError> {
        LogReader::open_within(path, format, &Limits::default())
    }

    /// Opens a file.
    ///
    /// # Errors
    /// As [`LogReader::open`].
    pub fn open_within(path: &Path, format: &Format, limits: &Limits) -> Result<Self, LogError> {
        let mut file = std::fs::File::open(path)?;
        let kind = format.kind.or_else(|| Kind::of_path(path));
        let parquet = match kind {
            Some(kind) => kind == Kind::Parquet,
            // Only a file can be read twice.
            None if file.metadata()?.is_file() => {
                let mut first = Vec::new();
                (&mut file).take(4).read_to_end(&mut first)?;
                file.rewind()?;
                first == b"PAR1"
            }
            None => false,
        };
        if parquet {
            return LogReader::parquet_within(file, &format.fields, limits);
        }
        let format = Format {
            kind,
            fields: format.fields.clone(),
        };
        LogReader::new_within(file, &format, limits)
    }

    /// Reads from a stream, within the default limits.
    ///
    /// # Errors
    /// [`LogError::Stream`] for Parquet.
    pub fn new(reader: impl Read + Send + 'r, format: &Format) -> Result<Self, LogError> {
        LogReader::new_within(reader, format, &Limits::default())
    }

    /// Reads from a stream. What is compressed with gzip or zstd is unpacked as it is read.
    ///
    /// # Errors
    /// As [`LogReader::new`].
    pub fn new_within(
        reader: impl Read + Send + 'r,
        format: &Format,
        limits: &Limits,
    ) -> Result<Self, LogError> {
        let digested = Digested::default();
        let reader: Bytes<'r> = Box::new(Digesting::new(reader, &digested));
        let (first, reader) = peeked(reader, 4)?;
        let compression = Compression::of(&first);
        let (first, reader) = match compression {
            None => (first, reader),
            Some(compression) => {
                let unpacked = compression.unpacked(reader, limits)?;
                peeked(unpacked.ok_or(LogError::NoParquet)?, 4)?
            }
        };
        let (kind, reader) = match format.kind {
            Some(kind) => (kind, reader),
            None => {
                let (mark, reader) = first_mark(reader, limits.line_bytes)?;
                (Kind::of_content(&first, mark), reader)
            }
        };
        if !matches!(kind, Kind::Parquet | Kind::Arrow) {
            check_encoding(&first)?;
        }
        let lines = |reader| Source::Lines(Box::new(LineReader::within(reader, *limits)));
        let source = match kind {
            Kind::Parquet => return Err(LogError::Stream),
            #[cfg(feature = "parquet")]
            Kind::Arrow => {
                let reader = super::arrow::ArrowReader::within(reader, &format.fields, limits)?;
                Source::Arrow(Box::new(reader))
            }
            #[cfg(not(feature = "parquet"))]
            Kind::Arrow => return Err(LogError::NoParquet),
            Kind::Json => lines(Box::new(Elements::new(reader))),
            Kind::JsonLines | Kind::Csv => lines(reader),
        };
        let mut search = None;
        let mut layout = None;
        match (&source, kind) {
            (_, Kind::JsonLines | Kind::Json) => {
                let begun = Search::new(&format.fields);
                layout = Some(Arc::new(begun.layout()));
                search = Some(begun);
            }
            #[cfg(feature = "parquet")]
            (Source::Arrow(reader), _) => {
                layout = Some(Arc::new(Layout::of_table(reader.columns(), &format.fields)));
            }
            _ => {}
        }
        Ok(LogReader {
            source,
            kind,
            compression,
            digested,
            layout,
            search,
            fields: format.fields.clone(),
            limits: *limits,
            header: None,
        })
    }

    /// Reads rows that are in memory already. Their digest is that of the numbers and names themselves.
    pub fn rows(source: impl RowSource + 'r) -> Self {
        let classes = source.classes().map(<[String]>::to_vec);
        let fields = Fields::default();
        let shape = Shape::Memory { classes };
        LogReader {
            source: Source::Memory {
                source: Box::new(source),
                rows: 0,
            },
            // Column by column, as in a table without a file.
            kind: Kind::Arrow,
            compression: None,
            digested: Digested::default(),
            layout: Some(Arc::new(Layout::new(shape, &fields))),
            search: None,
            fields,
            limits: Limits::default(),
            header: None,
        }
    }

    /// Reads a Parquet file within the default limits: its rows, and beside them all of it for its digest.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn parquet(
        file: impl Read + Seek + Send + 'static,
        fields: &Fields,
    ) -> Result<Self, LogError> {
        LogReader::parquet_within(file, fields, &Limits::default())
    }

    /// Reads a Parquet file: its rows, and beside them all of it for its digest.
    ///
    /// # Errors
    /// [`LogError`].
    #[cfg(feature = "parquet")]
    pub fn parquet_within(
        file: impl Read + Seek + Send + 'static,
        fields: &Fields,
        limits: &Limits,
    ) -> Result<Self, LogError> {
        let file: Box<dyn File> = Box::new(file);
        let reader = TableReader::within(file, fields, limits)?;
        let layout = Layout::of_table(reader.columns(), fields);
        Ok(LogReader {
            source: Source::Table {
                bytes_a_row: reader.bytes() as f64 / reader.rows().max(1) as f64,
                reader: Box::new(reader),
                rows: 0,
            },
            kind: Kind::Parquet,
            compression: None,
            digested: Digested::default(),
            layout: Some(Arc::new(layout)),
            search: None,
            fields: fields.clone(),
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
        _: &Fields,
        _: &Limits,
    ) -> Result<Self, LogError> {
        Err(LogError::NoParquet)
    }

    /// How rows are written.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The header line of a CSV file, once rows were asked for.
    pub fn header(&self) -> Option<&[u8]> {
        self.header.as_deref()
    }

    /// Whether rows are made of columns, which may name the classes.
    pub fn has_columns(&self) -> bool {
        match self.layout.as_deref().map(|layout| &layout.shape) {
            Some(Shape::Memory { classes }) => classes.is_some(),
            _ => !matches!(self.kind, Kind::JsonLines | Kind::Json),
        }
    }

    /// What was read so far, and as what.
    pub fn reading(&self) -> Reading {
        if let Source::Memory { .. } = self.source {
            return Reading::in_memory();
        }
        let layout = self.layout.as_deref();
        let mut reading = layout.map(Layout::reading).unwrap_or_default();
        if let Some(search) = &self.search {
            reading.others = search.others();
        }
        let format = match (self.kind, layout.map(|layout| &layout.shape)) {
            (Kind::JsonLines, _) => "JSON lines",
            (Kind::Json, _) => "JSON array",
            (Kind::Parquet, _) => "Parquet",
            (Kind::Arrow, _) => "Arrow IPC",
            (Kind::Csv, Some(Shape::Csv(columns))) => match columns.separator() {
                b';' => "CSV (semicolons)",
                b'\t' => "TSV",
                b'|' => "CSV (bars)",
                _ => "CSV",
            },
            (Kind::Csv, _) => "CSV",
        };
        Reading {
            format: format.to_string(),
            compression: self.compression.map(|c| c.name().to_string()),
            ..reading
        }
    }

    /// Why no row has an answer: what it was looked for as, and what there is.
    pub fn no_answer(&self) -> String {
        self.nothing(
            "answer",
            self.layout.as_deref().map(Layout::answer_field),
            "the setting `probs` names it",
        )
    }

    /// Why no row has a label: what it was looked for as, and what there is.
    pub fn no_label(&self) -> String {
        self.nothing(
            "true class",
            self.layout.as_deref().map(Layout::label_field),
            "the setting `label` names it",
        )
    }

    fn nothing(&self, what: &str, field: Option<&str>, option: &str) -> String {
        let seen = match &self.search {
            Some(search) => format!("; fields seen: {}", search.seen()),
            None => String::new(),
        };
        let field = field.unwrap_or_default();
        format!("no row has a field `{field}`, the {what}{seen}; {option}")
    }

    /// Replaces the content of `batch` by the next rows; `false` at the end of the log.
    ///
    /// # Errors
    /// Whatever prevents further reading, once all rows before it have been handed out.
    pub fn fill(&mut self, batch: &mut LogBatch) -> Result<bool, LogError> {
        let more = match (&mut self.source, &mut batch.rows) {
            (Source::Lines(reader), Rows::Lines(lines)) => reader.fill(lines)?,
            (Source::Memory { source, rows }, Rows::Memory(batch)) => {
                batch.clear();
                source.fill(batch)?;
                batch.first = *rows + 1;
                *rows += batch.len() as u64;
                batch.digest(|bytes| self.digested.add(bytes));
                !batch.is_empty()
            }
            (Source::Memory { .. }, rows) => {
                *rows = Rows::Memory(Box::default());
                return self.fill(batch);
            }
            #[cfg(feature = "parquet")]
            (
                Source::Table {
                    reader,
                    rows,
                    bytes_a_row,
                },
                Rows::Table(table),
            ) => {
                let more = reader.fill(table)?;
                *rows += table.len() as u64;
                // About as much of the file as of its rows: it is read once more while others work on
                // these rows.
                let share = match more {
                    true => (*rows as f64 * *bytes_a_row) as u64,
                    false => reader.bytes(),
                };
                let digested = &self.digested;
                reader
                    .read_up_to(digested.bytes()..share, |bytes| digested.add(bytes))
                    .map_err(TableError::Read)?;
                more
            }
            #[cfg(feature = "parquet")]
            (Source::Arrow(reader), Rows::Table(table)) => reader.fill(table)?,
            (Source::Lines(_), rows) => {
                *rows = Rows::default();
                return self.fill(batch);
            }
            #[cfg(feature = "parquet")]
            (Source::Table { .. } | Source::Arrow(_), rows) => {
                *rows = Rows::Table(Box::default());
                return self.fill(batch);
            }
        };
        if let Rows::Lines(lines) = &mut batch.rows {
            if let (None, Some((_, header))) = (&self.layout, lines.get(0)) {
                let columns = Columns::of_header(header, &self.fields, &self.limits)?;
                self.layout = Some(Arc::new(Layout::new(Shape::Csv(columns), &self.fields)));
                self.header = Some(header.to_vec());
                lines.drop_first();
            }
            if let Some(search) = &mut self.search
                && search.look(lines, &self.fields)?
            {
                self.layout = Some(Arc::new(search.layout()));
            }
        }
        batch.layout.clone_from(&self.layout);
        batch.limits = self.limits;
        Ok(more)
    }

    /// How many bytes have been read, about.
    pub fn position(&self) -> u64 {
        match &self.source {
            Source::Memory { rows, .. } => *rows,
            #[cfg(feature = "parquet")]
            Source::Table {
                bytes_a_row, rows, ..
            } => (*rows as f64 * bytes_a_row) as u64,
            _ => self.digested.bytes(),
        }
    }

    /// SHA-256 of all bytes that have been read, in hexadecimal digits.
    pub fn sha256(&self) -> String {
        self.digested.sha256()
    }
}

#[derive(Debug)]
pub(super) enum Rows {
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
    /// Its line, or its number in a table or an array, counted from 1.
    pub number: u64,
    /// Its line; empty in tables.
    pub line: &'a [u8],
    /// What it says.
    pub prediction: Result<Prediction<'a>, RowError>,
}

impl LogBatch {
    pub(super) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(super) fn layout(&self) -> Option<&Layout> {
        self.layout.as_deref()
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

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

    /// What messages call the answer.
    pub fn answer_field(&self) -> &str {
        self.layout.as_deref().map_or("probs", Layout::answer_field)
    }

    /// What messages call the true class.
    pub fn label_field(&self) -> &str {
        self.layout.as_deref().map_or("label", Layout::label_field)
    }

    /// What the rows of this batch are checked against.
    pub fn rules<'a>(
        &'a self,
        classes: &'a ClassNames,
        tolerance: Tolerance,
        from_evidence: bool,
    ) -> RowRules<'a> {
        RowRules {
            classes,
            tolerance,
            answer_field: self.answer_field(),
            label_field: self.label_field(),
            from_evidence,
        }
    }

    /// The classes that columns name; `None` where a row has to show them.
    pub fn columns(&self) -> Option<&[String]> {
        self.layout.as_deref()?.classes()
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
    /// row has no such field, or it is empty. Of tables only [`Fields::others`] are read.
    ///
    /// # Errors
    /// Where the field is a list or an object, or is a column of a table that was not asked for.
    pub fn field(&self, index: usize, name: &str) -> Result<Option<Cow<'_, str>>, RowError> {
        match &self.rows {
            Rows::Lines(lines) => {
                let (_, line) = lines.get(index).unwrap_or_default();
                match self.layout.as_deref().map(|layout| &layout.shape) {
                    Some(Shape::Csv(columns)) => Ok(columns.field(line, name)),
                    _ => json_field(line, name),
                }
            }
            Rows::Memory(rows) => rows.field(index, name),
            #[cfg(feature = "parquet")]
            Rows::Table(table) => table.other(index, name),
        }
    }

    /// The line of the row at `index` with another answer, all else as it was, and with a set of classes
    /// beside it where one is given: in JSON as the field `set`, in CSV in a further column at the end.
    /// None in tables and in memory, which have no lines.
    pub fn with_answer(
        &self,
        index: usize,
        answer: &[f64],
        classes: &ClassNames,
        set: Option<&[usize]>,
    ) -> Option<Vec<u8>> {
        let (_, line) = match &self.rows {
            Rows::Lines(lines) => lines.get(index)?,
            #[cfg(feature = "parquet")]
            Rows::Table(_) => return None,
            Rows::Memory(_) => return None,
        };
        match &self.layout.as_deref()?.shape {
            Shape::Json(layout) => {
                let row = self.row(index).prediction.ok()?;
                let mut fields = answer_text(&row, layout, answer, classes)?;
                if let Some(set) = set {
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
            Shape::Csv(columns) => {
                let names = set.map(|set| set.iter().map(|&i| classes.name(i)));
                let set = names.map(|names| names.collect::<Vec<_>>().join("|"));
                csv_with(columns, line, answer, classes, set.as_deref())
            }
            #[cfg(feature = "parquet")]
            Shape::Table { .. } => None,
            Shape::Memory { .. } => None,
        }
    }

    /// The row at `index`, which is less than [`LogBatch::len`].
    pub fn row(&self, index: usize) -> LogRow<'_> {
        let layout = self.layout.as_deref();
        let (number, line, prediction) = match &self.rows {
            Rows::Lines(lines) => {
                let (number, line) = lines.get(index).unwrap_or_default();
                let prediction = match layout.map(|layout| &layout.shape) {
                    Some(Shape::Csv(columns)) => columns.prediction(line),
                    Some(Shape::Json(layout)) => {
                        Prediction::parse_within(line, layout, &self.limits)
                            .map_err(|error| RowError::of_record(&error, layout))
                    }
                    _ => Ok(Prediction::default()),
                };
                (number, line, prediction)
            }
            Rows::Memory(rows) => {
                let number = rows.first + index as u64;
                (number, &[][..], Ok(rows.prediction(index)))
            }
            #[cfg(feature = "parquet")]
            Rows::Table(table) => (table.number(index), &[][..], table.prediction(index)),
        };
        let prediction = match layout {
            Some(layout) => prediction.and_then(|row| layout.against_the_rest(row)),
            None => prediction,
        };
        LogRow {
            number,
            line,
            prediction,
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
