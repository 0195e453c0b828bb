//! Predictions in the columns of a Parquet file, some rows at a time.
//!
//! The `parquet` crate reads the description of the file and decompresses pages. Before it, the
//! headers of all pages are read with bounds of our own: the memory that a file can ask for is limited
//! by what it holds and by [`Limits`], whatever its headers announce. After it, the values are
//! decoded here, as the crate's decoders stop the program at a damaged page.
//!
//! | file | what it holds |
//! |---|---|
//! | `shared` | one file, read from several places |
//! | `thrift` | the protocol that descriptions and headers are written in |
//! | `footer` | the description of a file, bounded and written anew for the crate |
//! | `pages` | the headers of pages, and the memory they ask for |
//! | `values` | from pages to values |
//! | `column` | one column of one group of rows |

mod column;
mod footer;
mod pages;
mod shared;
mod thrift;
mod values;

use std::borrow::Cow;
use std::io::{self, Read, Seek};

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use rayon::prelude::*;

use self::column::{Cell, Cells, Column, Kind};
use self::pages::{Chunk, PageError};
use self::shared::Shared;
use super::brief::brief;
use super::columns::{ColumnNames, Columns, ColumnsError};
use super::limits::{LimitError, Limits};
use super::record::{Label, Prediction};
use super::row::{Reason, RowError};

/// Values in one batch: enough work to share among threads, little enough to be forgotten.
const BATCH_VALUES: usize = 1 << 17;
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
    /// Its description is beyond a limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

/// Some rows of a table, in order, with their numbers.
#[derive(Debug, Default)]
pub struct TableBatch {
    /// Number of the first row, counted from 1.
    first: u64,
    rows: usize,
    label: Names,
    id: Option<Names>,
    /// One for each class.
    probabilities: Vec<Vec<f64>>,
    limits: Limits,
}

impl TableBatch {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The number of a row in the file, counted from 1.
    pub fn number(&self, row: usize) -> u64 {
        self.first + row as u64
    }

    /// A row. A number that is missing is NaN.
    ///
    /// # Errors
    /// Where a name is not UTF-8.
    pub fn prediction(&self, row: usize) -> Result<Prediction<'_>, RowError> {
        let label = self.label.text(row, &self.limits)?;
        let entity = match &self.id {
            Some(id) => id.text(row, &self.limits)?,
            None => None,
        };
        let numbers = self.probabilities.iter();
        let answer = numbers.map(|column| column.get(row).copied().unwrap_or(f64::NAN));
        Ok(Prediction {
            entity,
            label: label.map(Label::Name),
            answer: Some(answer.collect()),
            ..Prediction::default()
        })
    }
}

/// A column of names, and what it is called.
#[derive(Debug, Default)]
struct Names {
    column: String,
    cells: Vec<Cell>,
}

impl Names {
    fn text(&self, row: usize, limits: &Limits) -> Result<Option<Cow<'_, str>>, RowError> {
        let cell = self.cells.get(row).unwrap_or(&Cell::Empty);
        cell.text(limits)
            .map_err(|what| RowError::new(Reason::Shape, &self.column, what))
    }
}

/// A group of rows being read.
struct Group {
    columns: Vec<Column>,
    rows_left: usize,
}

/// Reads predictions batch by batch.
pub struct TableReader<R> {
    file: Shared<R>,
    metadata: ParquetMetaData,
    columns: Columns,
    /// What is read: the label, the name if there is one, one column of probabilities a class.
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
    /// Its place among the columns of the file.
    leaf: usize,
    kind: Kind,
}

impl<R: Read + Seek + Send + 'static> TableReader<R> {
    /// Reads the description of a file within the default limits, and finds the columns.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn new(file: R, names: &ColumnNames) -> Result<Self, TableError> {
        TableReader::within(file, names, &Limits::default())
    }

    /// Reads the description of a file, and finds the columns.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn within(file: R, names: &ColumnNames, limits: &Limits) -> Result<Self, TableError> {
        let file = Shared::new(file).map_err(TableError::Read)?;
        let footer = footer(&file, limits)?;
        let metadata = ParquetMetaDataReader::decode_metadata(&footer);
        let metadata = metadata.map_err(|error| not_parquet(&error))?;
        let schema = metadata.file_metadata().schema_descr();
        // A column in a list or a struct is not of one value a row.
        let flat: Vec<usize> = (0..schema.num_columns())
            .filter(|&leaf| {
                let column = schema.column(leaf);
                column.path().parts().len() == 1 && column.max_rep_level() == 0
            })
            .collect();
        let all = flat
            .iter()
            .map(|&leaf| schema.column(leaf).name().to_string());
        let columns = Columns::of_names(all.collect(), names, limits)?;
        let want = |column: usize, numbers: bool| {
            let name = columns.name(column).to_string();
            let leaf = flat.get(column).copied().unwrap_or_default();
            let kind = Kind::of(&schema.column(leaf)).filter(|kind| match kind {
                Kind::Text => !numbers,
                Kind::Double | Kind::Single => numbers,
                Kind::Whole32 { .. } | Kind::Whole64 { .. } => true,
            });
            match kind {
                Some(kind) => Ok(Wanted { name, leaf, kind }),
                None => {
                    let needed = if numbers {
                        "numbers (double, float or whole)"
                    } else {
                        "text or whole numbers"
                    };
                    let what = format!("it must hold {needed}");
                    Err(TableError::Column { name, what })
                }
            }
        };
        let mut wanted = vec![want(columns.label, false)?];
        if let Some(id) = columns.id {
            wanted.push(want(id, false)?);
        }
        for &column in &columns.probabilities {
            wanted.push(want(column, true)?);
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

    /// The classes that the columns name.
    pub fn classes(&self) -> &[String] {
        self.columns.classes()
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
        let rows = (BATCH_VALUES / self.wanted.len()).max(1);
        let rows = rows.min(group.rows_left);
        let names = 1 + usize::from(self.columns.id.is_some());
        let mut cells = batch.take(self.wanted.len(), names);
        let columns = group.columns.par_iter_mut().zip(&mut cells);
        columns
            .zip(&self.wanted)
            .try_for_each(|((column, cells), wanted)| {
                let fail = |what: String| TableError::Column {
                    name: wanted.name.clone(),
                    what: format!("damaged: {what}"),
                };
                let read = column.read(rows, cells);
                read.map_err(|error| fail(error.to_string()))?;
                if cells.len() == rows {
                    return Ok(());
                }
                Err(fail("it ends before the last row of its group".to_string()))
            })?;
        group.rows_left -= rows;
        batch.put(cells, &self.wanted, names);
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
        let mut bytes = 0u64;
        for wanted in &self.wanted {
            let fail = |what: String| TableError::Column {
                name: wanted.name.clone(),
                what,
            };
            let chunk = group.columns().get(wanted.leaf);
            let chunk = chunk.ok_or_else(|| fail("damaged: a group lacks it".to_string()))?;
            if !matches!(
                chunk.compression(),
                Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_)
            ) {
                let codec = chunk.compression().to_string();
                let codec = codec.split('(').next().unwrap_or_default();
                let what = format!(
                    "compressed with {codec}, which is not read; write it with snappy, zstd or \
                     without compression"
                );
                return Err(fail(what));
            }
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
            };
            let held = pages::held(&self.file, chunk).map_err(|error| match error {
                PageError::Read(error) => TableError::Read(error),
                other => fail(other.to_string()),
            })?;
            bytes = bytes.saturating_add(held);
        }
        if let Err(limit) = self.limits.group_bytes(bytes) {
            let group = self.group + 1;
            return Err(TableError::Memory { group, limit });
        }
        let schema = self.metadata.file_metadata().schema_descr();
        let open = |wanted: &Wanted| {
            let descriptor = schema.column(wanted.leaf);
            let chunk = group.column(wanted.leaf);
            Column::open(&self.file, &descriptor, chunk, wanted.kind, rows_left)
        };
        let columns: Result<Vec<Column>, ParquetError> = self.wanted.iter().map(open).collect();
        Ok(Group {
            columns: columns.map_err(|error| not_parquet(&error))?,
            rows_left,
        })
    }
}

impl TableBatch {
    /// The room that the last rows took, for the next.
    fn take(&mut self, columns: usize, names: usize) -> Vec<Cells> {
        let label = std::mem::take(&mut self.label.cells);
        let id = self.id.take().map(|id| id.cells);
        let texts = [label, id.unwrap_or_default()].into_iter().take(names);
        let mut numbers = std::mem::take(&mut self.probabilities);
        numbers.resize(columns - names, Vec::new());
        let numbers = numbers.into_iter().map(Cells::Numbers);
        texts.map(Cells::Texts).chain(numbers).collect()
    }

    fn put(&mut self, cells: Vec<Cells>, wanted: &[Wanted], names: usize) {
        for (index, (cells, wanted)) in cells.into_iter().zip(wanted).enumerate() {
            match cells {
                Cells::Numbers(numbers) => self.probabilities.push(numbers),
                Cells::Texts(cells) => {
                    let column = wanted.name.clone();
                    let named = Names { column, cells };
                    if index == 0 {
                        self.label = named;
                    } else if index < names {
                        self.id = Some(named);
                    }
                }
            }
        }
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
