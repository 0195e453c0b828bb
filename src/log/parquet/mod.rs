//! Predictions in the columns of a Parquet file, some rows at a time.
//!
//! The `parquet` crate reads the description of the file, once it has been bounded here. The headers of
//! all pages are read with bounds of our own: the memory that a file can ask for is limited by what it
//! holds and by [`Limits`], whatever its headers announce. The crate's own readers unpack gzip, brotli and
//! LZ4 without a bound and stop the program at a damaged page; so pages are unpacked and decoded here.
//!
//! | file | what it holds |
//! |---|---|
//! | `shared` | one file, read from several places |
//! | `thrift` | the protocol that descriptions and headers are written in |
//! | `footer` | the description of a file, bounded and written anew for the crate |
//! | `pages` | the headers of pages, and the memory they ask for |
//! | `values` | from pages to values |
//! | `column` | one column of one group of rows |
//! | `rewrite` | the same file with other answers |

mod column;
mod footer;
mod pages;
mod rewrite;
mod shared;
// Its harnesses are in `proofs/headers.rs`.
pub(crate) mod thrift;
mod values;

use std::io::{self, Read, Seek};

use parquet::basic::{Compression, Repetition};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::SchemaDescriptor;
use rayon::prelude::*;

use self::column::{Cells, Column, Kind};
use self::pages::{Chunk, PageError, Pages};
use self::shared::Shared;
use self::values::Levels;
use super::brief::brief;
use super::codec::Codec;
use super::columns::{Columns, ColumnsError};
use super::fields::Fields;
use super::limits::{LimitError, Limits};
use super::table::{Answers, BATCH_VALUES, Cell, Lists, Names, SEVERAL_LABELS, TableBatch};

pub use self::rewrite::TableRewriter;

/// Texts in one batch. Each is a part of its page, which stays in memory for it.
const BATCH_TEXT_BYTES: u64 = 64 << 20;
const MAGIC: &[u8; 4] = b"PAR1";

/// Why a Parquet file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum TableError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// Not a Parquet file, or not a complete one.
    #[error("not a complete Parquet file: {0}")]
    NotParquet(String),
    /// Not Arrow IPC, or not complete.
    #[error("not complete Arrow IPC: {0}")]
    NotArrow(String),
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    /// A column cannot be used.
    #[error("column {name}: {what}")]
    Column { name: String, what: String },
    /// Reading a group of rows would take too much memory.
    #[error("row group {group}: {limit}")]
    Memory {
        /// Which group, counted from 1.
        group: usize,
        /// The limit.
        limit: LimitError,
    },
    /// It cannot be written again.
    #[error("cannot be written: {0}")]
    Write(String),
    /// Its description is beyond a limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

/// A group of rows being read.
struct Group {
    columns: Vec<Column>,
    rows_left: usize,
    /// As many rows are read at once at most.
    most_rows: usize,
}

/// Reads predictions batch by batch.
pub struct TableReader<R> {
    file: Shared<R>,
    metadata: ParquetMetaData,
    columns: Columns,
    /// What is read.
    wanted: Vec<Wanted>,
    group: usize,
    open: Option<Group>,
    rows_read: u64,
    limits: Limits,
}

/// A column that is read.
#[derive(Clone, Debug)]
struct Wanted {
    name: String,
    role: Role,
    /// Its place among the columns of the file.
    leaf: usize,
    kind: Kind,
    levels: Levels,
}

/// What a column is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Label,
    Id,
    Other,
    Answer,
}

/// A column as it appears outside: what it is made of.
enum Outer {
    Flat(usize),
    /// A list of numbers in each row.
    List(usize),
    /// A number of each of these names in each row.
    Struct(Vec<(String, usize)>),
}

/// The columns of a file that can hold predictions.
fn outer(schema: &SchemaDescriptor) -> Vec<(String, Outer)> {
    let mut all: Vec<(String, Outer)> = Vec::new();
    let mut leaf = 0;
    for root in schema.root_schema().get_fields() {
        let mut leaves = Vec::new();
        while leaf < schema.num_columns() && std::ptr::eq(schema.get_column_root(leaf), &**root) {
            leaves.push(leaf);
            leaf += 1;
        }
        let path = |leaf: usize| schema.column(leaf).path().parts().len();
        let repeated = |leaf: usize| schema.column(leaf).max_rep_level();
        let found = match leaves.as_slice() {
            [one] if path(*one) == 1 && repeated(*one) == 0 => Outer::Flat(*one),
            [one] if repeated(*one) == 1 => Outer::List(*one),
            many if many
                .iter()
                .all(|&leaf| path(leaf) == 2 && repeated(leaf) == 0) =>
            {
                let named = |&leaf: &usize| (schema.column(leaf).name().to_string(), leaf);
                Outer::Struct(many.iter().map(named).collect())
            }
            _ => continue,
        };
        all.push((root.name().to_string(), found));
    }
    all
}

/// The levels of a column: one for each optional or repeated type that it lies in.
fn levels(schema: &SchemaDescriptor, leaf: usize) -> Levels {
    let descriptor = schema.column(leaf);
    let mut element = None;
    let (mut level, mut fields) = (0, schema.root_schema().get_fields());
    for part in descriptor.path().parts() {
        let Some(own) = fields.iter().find(|field| field.name() == part) else {
            break;
        };
        match own.get_basic_info().repetition() {
            Repetition::REQUIRED => {}
            Repetition::OPTIONAL => level += 1,
            Repetition::REPEATED => {
                level += 1;
                element = Some(level);
            }
        }
        if own.is_primitive() {
            break;
        }
        fields = own.get_fields();
    }
    Levels {
        there: u32::try_from(descriptor.max_def_level()).unwrap_or_default(),
        element: element.filter(|_| descriptor.max_rep_level() > 0),
    }
}

impl<R: Read + Seek + Send + 'static> TableReader<R> {
    /// How many bytes the file has. A device has none.
    pub(super) fn bytes(&self) -> u64 {
        self.file.length()
    }

    /// Hands these bytes of the file to `take`, some at a time; none beyond its end.
    pub(super) fn read_up_to(
        &self,
        range: std::ops::Range<u64>,
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let mut at = range.start;
        let end = range.end.min(self.file.length());
        let mut buffer = Vec::new();
        while at < end {
            buffer.resize((end - at).min(1 << 17) as usize, 0);
            match self.file.read_at(at, &mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    take(buffer.get(..read).unwrap_or_default());
                    at += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads the description of a file within the default limits, and finds the columns.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn new(file: R, names: &Fields) -> Result<Self, TableError> {
        TableReader::within(file, names, &Limits::default())
    }

    /// Reads the description of a file, and finds the columns.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn within(file: R, names: &Fields, limits: &Limits) -> Result<Self, TableError> {
        let file = Shared::new(file).map_err(TableError::Read)?;
        let footer = footer(&file, limits)?;
        let metadata = ParquetMetaDataReader::decode_metadata(&footer);
        let metadata = metadata.map_err(|error| not_parquet(&error))?;
        let schema = metadata.file_metadata().schema_descr();
        let outer = outer(schema);
        let all = outer.iter().map(|(name, _)| name.clone());
        let mut columns = Columns::of_names(all.collect(), names, limits)?;
        let want = |column: usize, role: Role| -> Result<Vec<Wanted>, TableError> {
            let name = columns.name(column).to_string();
            let single = columns.classes().is_none();
            let fail = |what: &str| {
                Err(TableError::Column {
                    name: name.clone(),
                    what: what.to_string(),
                })
            };
            let leaves = match (outer.get(column).map(|(_, outer)| outer), role) {
                (Some(Outer::Flat(leaf)), _) => vec![(name.clone(), *leaf)],
                (Some(Outer::List(leaf)), Role::Answer) if single => vec![(name.clone(), *leaf)],
                (Some(Outer::Struct(leaves)), Role::Answer) if single => leaves.clone(),
                (Some(Outer::List(_)), Role::Label) => return fail(SEVERAL_LABELS),
                (_, Role::Answer) => {
                    return fail("it must hold numbers (double, float, half or whole)");
                }
                _ => return fail("it must hold text, numbers or truth values"),
            };
            let wanted = |(name, leaf): (String, usize)| match Kind::of(&schema.column(leaf)) {
                Some(kind) if role != Role::Answer || kind.is_number() => Ok(Wanted {
                    name,
                    role,
                    leaf,
                    kind,
                    levels: levels(schema, leaf),
                }),
                _ if role == Role::Answer => {
                    let what = "it must hold numbers (double, float, half or whole)".to_string();
                    Err(TableError::Column { name, what })
                }
                _ => {
                    let what = "it must hold text, numbers or truth values".to_string();
                    Err(TableError::Column { name, what })
                }
            };
            leaves.into_iter().map(wanted).collect()
        };
        let mut wanted = Vec::new();
        if let Some(label) = columns.label {
            wanted.extend(want(label, Role::Label)?);
        }
        if let Some(id) = columns.id {
            wanted.extend(want(id, Role::Id)?);
        }
        for name in &names.others {
            wanted.extend(want(columns.need(name)?, Role::Other)?);
        }
        for &column in &columns.probabilities {
            let found = want(column, Role::Answer)?;
            if let (None, [_, _, ..]) = (columns.classes(), found.as_slice()) {
                let classes = found.iter().map(|wanted| wanted.name.clone()).collect();
                wanted.extend(found);
                columns.take_classes(classes, limits)?;
                break;
            }
            wanted.extend(found);
        }
        Ok(TableReader {
            file,
            wanted,
            columns,
            metadata,
            group: 0,
            open: None,
            rows_read: 0,
            limits: *limits,
        })
    }

    /// Which columns hold what.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// How many rows the file says that it has.
    pub fn rows(&self) -> u64 {
        u64::try_from(self.metadata.file_metadata().num_rows()).unwrap_or(0)
    }

    /// Replaces the content of `batch` by the next rows; `false` at the end of the file.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn fill(&mut self, batch: &mut TableBatch) -> Result<bool, TableError> {
        batch.rows = 0;
        let group = loop {
            match &mut self.open {
                Some(group) if group.rows_left > 0 => break group,
                _ if self.group == self.metadata.num_row_groups() => return Ok(false),
                _ => {
                    self.open = Some(self.open_group()?);
                    self.group += 1;
                }
            }
        };
        let lists = self.wanted.iter().any(|w| w.levels.element.is_some());
        // Of lists it is not known how long they are.
        let width = if lists { 64 } else { self.wanted.len() };
        let rows = (BATCH_VALUES / width).max(1);
        let rows = rows.min(group.most_rows).min(group.rows_left);
        let mut cells = room(&self.wanted, batch);
        let most = usize::try_from(self.limits.values).unwrap_or(usize::MAX);
        let columns = group.columns.par_iter_mut().zip(&mut cells);
        columns
            .zip(&self.wanted)
            .try_for_each(|((column, cells), wanted)| {
                let fail = |what: String| TableError::Column {
                    name: wanted.name.clone(),
                    what: format!("damaged: {what}"),
                };
                let read = column.read(rows, most, cells);
                read.map_err(|error| fail(error.to_string()))?;
                if cells.len() == rows {
                    return Ok(());
                }
                Err(fail("it ends before the last row of its group".to_string()))
            })?;
        group.rows_left -= rows;
        put(batch, cells, &self.wanted, self.columns.classes().is_none());
        batch.limits = self.limits;
        batch.first = self.rows_read + 1;
        batch.rows = rows;
        self.rows_read += rows as u64;
        Ok(true)
    }

    /// Opens the columns of the next group, once it is known what reading them takes.
    fn open_group(&self) -> Result<Group, TableError> {
        let group = self.metadata.row_group(self.group);
        let rows_left = usize::try_from(group.num_rows())
            .map_err(|_| TableError::NotParquet("a group has fewer than no rows".to_string()))?;
        let (mut bytes, mut text_a_row) = (0u64, 0u64);
        let mut columns = Vec::with_capacity(self.wanted.len());
        for wanted in &self.wanted {
            let fail = |what: String| TableError::Column {
                name: wanted.name.clone(),
                what,
            };
            let chunk = group.columns().get(wanted.leaf);
            let chunk = chunk.ok_or_else(|| fail("damaged: a group lacks it".to_string()))?;
            let codec = codec(chunk.compression());
            let codec =
                codec.ok_or_else(|| fail("compressed with LZO, which is not read".into()))?;
            let first = chunk.dictionary_page_offset();
            let start = first.unwrap_or_else(|| chunk.data_page_offset());
            let place = (u64::try_from(start), u64::try_from(chunk.compressed_size()));
            let (Ok(start), Ok(length)) = place else {
                return Err(fail("damaged: it starts or ends below zero".to_string()));
            };
            let chunk = Chunk {
                start,
                length,
                smallest_value: wanted.kind.smallest_value(),
                truths: wanted.kind == Kind::Truth,
                texts: wanted.kind == Kind::Text,
            };
            let held = pages::held(&self.file, chunk).map_err(|error| match error {
                PageError::Read(error) => TableError::Read(error),
                other => fail(other.to_string()),
            })?;
            bytes = bytes.saturating_add(held.bytes);
            text_a_row = text_a_row.saturating_add(held.text_a_row);
            let pages = Pages {
                file: self.file.clone(),
                at: start,
                end: start.saturating_add(length),
                codec,
            };
            let pages = Box::new(pages);
            columns.push(Column::open(pages, wanted.levels, wanted.kind));
        }
        if let Err(limit) = self.limits.group_bytes(bytes) {
            let group = self.group + 1;
            return Err(TableError::Memory { group, limit });
        }
        let most_rows = BATCH_TEXT_BYTES / text_a_row.max(1);
        Ok(Group {
            columns,
            rows_left,
            most_rows: usize::try_from(most_rows.max(1)).unwrap_or(usize::MAX),
        })
    }
}

/// The room that the last rows took, for the next.
fn room(all: &[Wanted], batch: &mut TableBatch) -> Vec<Cells> {
    let mut numbers = match std::mem::take(&mut batch.answer) {
        Answers::Each(columns) => columns,
        Answers::One(column) => vec![column],
        Answers::Lists(lists) => vec![lists.values],
    };
    let mut texts: Vec<Vec<Cell>> = std::mem::take(&mut batch.others)
        .into_iter()
        .chain(batch.label.take())
        .chain(batch.id.take())
        .map(|names| names.cells)
        .collect();
    let room = |wanted: &Wanted| match (wanted.role, wanted.levels.element) {
        (Role::Answer, None) => Cells::Numbers(numbers.pop().unwrap_or_default()),
        (Role::Answer, Some(_)) => Cells::Lists(Lists {
            values: numbers.pop().unwrap_or_default(),
            ends: Vec::new(),
        }),
        _ => Cells::Texts(texts.pop().unwrap_or_default()),
    };
    all.iter().map(room).collect()
}

fn put(batch: &mut TableBatch, cells: Vec<Cells>, all: &[Wanted], single: bool) {
    let mut each = Vec::new();
    batch.half = false;
    for (cells, wanted) in cells.into_iter().zip(all) {
        batch.half |= wanted.kind == Kind::Half && wanted.role == Role::Answer;
        match (cells, wanted.role) {
            (Cells::Numbers(numbers), _) => each.push(numbers),
            (Cells::Lists(lists), _) => batch.answer = Answers::Lists(lists),
            (Cells::Texts(cells), role) => {
                let column = wanted.name.clone();
                let named = Names { column, cells };
                match role {
                    Role::Label => batch.label = Some(named),
                    Role::Id => batch.id = Some(named),
                    Role::Other | Role::Answer => batch.others.push(named),
                }
            }
        }
    }
    match (single, each.len()) {
        (true, 1) => batch.answer = Answers::One(each.pop().unwrap_or_default()),
        (_, 0) => {}
        _ => batch.answer = Answers::Each(each),
    }
}

/// What pages are compressed with; none where that is not read.
fn codec(compression: Compression) -> Option<Codec> {
    match compression {
        Compression::UNCOMPRESSED => Some(Codec::None),
        Compression::SNAPPY => Some(Codec::Snappy),
        Compression::GZIP(_) => Some(Codec::Gzip),
        Compression::BROTLI(_) => Some(Codec::Brotli),
        Compression::ZSTD(_) => Some(Codec::Zstd),
        Compression::LZ4_RAW => Some(Codec::Lz4),
        Compression::LZ4 => Some(Codec::Lz4Old),
        Compression::LZO => None,
    }
}

/// The description of a file, as its end says where it lies: its length, and four letters.
fn footer<R: Read + Seek>(file: &Shared<R>, limits: &Limits) -> Result<Vec<u8>, TableError> {
    let wrong = |what: &str| Err(TableError::NotParquet(what.to_string()));
    // The letters at the start, a description of no bytes, its length, the letters again.
    if file.length() < 12 {
        return wrong("it is too short");
    }
    let end = file.exact(file.length() - 8, 8).map_err(TableError::Read)?;
    let (length, magic) = end.split_at(4);
    if magic != MAGIC {
        return wrong("it does not end with PAR1 (cut off, encrypted, or another format)");
    }
    let length = length.try_into().map_or(0, u32::from_le_bytes);
    if u64::from(length) > file.length() - 12 {
        return wrong("its description is longer than the file");
    }
    limits.footer_bytes(length.into())?;
    let start = file.length() - 8 - u64::from(length);
    let footer = file.exact(start, length as usize);
    footer::bounded(&footer.map_err(TableError::Read)?, limits)
}

fn not_parquet(error: &ParquetError) -> TableError {
    TableError::NotParquet(brief(&error.to_string()).into_owned())
}
