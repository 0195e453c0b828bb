//! A Parquet file with other answers in it: all other columns are copied as they are, page by page.

use std::io::{Read, Seek, Write};
use std::sync::Arc;

use parquet::basic::Compression as Written;
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};

use super::super::table::to_half;
use super::{Kind, Role, TableError, TableReader, Wanted, not_parquet};

/// Writes the groups of rows of a file again.
pub struct TableRewriter<R, W: Write + Send> {
    from: TableReader<R>,
    to: SerializedFileWriter<W>,
    group: usize,
}

impl<R: Read + Seek + Send + 'static, W: Write + Send> TableRewriter<R, W> {
    /// Begins a file with the columns of another.
    ///
    /// # Errors
    /// Where the columns of the answer hold whole numbers, which no probability is, or nothing can be
    /// written.
    pub fn new(from: TableReader<R>, to: W) -> Result<Self, TableError> {
        for wanted in from.wanted.iter().filter(|own| own.role == Role::Answer) {
            if matches!(wanted.kind, Kind::Whole32 { .. } | Kind::Whole64 { .. }) {
                let what = "it holds whole numbers; calibrated probabilities need double or float";
                return Err(TableError::Column {
                    name: wanted.name.clone(),
                    what: what.to_string(),
                });
            }
        }
        let file = from.metadata.file_metadata();
        let properties = WriterProperties::builder()
            .set_compression(Written::SNAPPY)
            .set_dictionary_enabled(false)
            .set_key_value_metadata(file.key_value_metadata().cloned());
        let schema = file.schema_descr().root_schema_ptr();
        let to = SerializedFileWriter::new(to, schema, Arc::new(properties.build()));
        Ok(TableRewriter {
            to: to.map_err(|error| not_parquet(&error))?,
            from,
            group: 0,
        })
    }

    /// How many rows the next group has; none at the end.
    pub fn next_rows(&self) -> Option<usize> {
        let groups = self.from.metadata.row_groups();
        usize::try_from(groups.get(self.group)?.num_rows()).ok()
    }

    /// Writes the next group with these answers, one a row, each with one number a class.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn write(&mut self, answers: &[Vec<f64>]) -> Result<(), TableError> {
        let fail = |error: ParquetError| TableError::Write(error.to_string());
        let group = self.from.metadata.row_group(self.group);
        self.group += 1;
        let mut to = self.to.next_row_group().map_err(fail)?;
        let single = self.from.columns.classes().is_none();
        let answer: Vec<&Wanted> = self
            .from
            .wanted
            .iter()
            .filter(|own| own.role == Role::Answer)
            .collect();
        for (leaf, chunk) in group.columns().iter().enumerate() {
            // The order of the columns in the file need not be that of the classes.
            let Some(class) = answer.iter().position(|own| own.leaf == leaf) else {
                let copied = ColumnCloseResult {
                    bytes_written: u64::try_from(chunk.compressed_size()).unwrap_or_default(),
                    rows_written: u64::try_from(group.num_rows()).unwrap_or_default(),
                    metadata: chunk.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                to.append_column(&self.from.file, copied).map_err(fail)?;
                continue;
            };
            let column = to.next_column().map_err(fail)?;
            let short = || fail(ParquetError::General("a column is missing".to_string()));
            let mut column = column.ok_or_else(short)?;
            put(
                &mut column,
                answer[class],
                answers,
                (!single).then_some(class),
            )
            .map_err(fail)?;
            column.close().map_err(fail)?;
        }
        to.close().map_err(fail)?;
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn finish(self) -> Result<(), TableError> {
        let closed = self.to.close();
        closed.map_err(|error| TableError::Write(error.to_string()))?;
        Ok(())
    }
}

/// Writes a column of answers: the numbers of one class, or all that a single column holds.
fn put(
    column: &mut SerializedColumnWriter<'_>,
    wanted: &Wanted,
    answers: &[Vec<f64>],
    class: Option<usize>,
) -> Result<(), ParquetError> {
    let list = wanted.levels.element.is_some();
    let mut numbers = Vec::new();
    let mut repeated = Vec::new();
    for answer in answers {
        match (class, list) {
            (Some(class), _) => numbers.extend(answer.get(class)),
            // One number is that of the positive class, the second.
            (None, false) => numbers.extend(answer.get(1)),
            (None, true) => {
                repeated.extend((0..answer.len()).map(|i| i16::from(i > 0)));
                numbers.extend(answer);
            }
        }
    }
    let there = i16::try_from(wanted.levels.there).unwrap_or_default();
    let levels = vec![there; numbers.len()];
    let levels = (there > 0).then_some(levels.as_slice());
    let repeated = list.then_some(repeated.as_slice());
    match wanted.kind {
        Kind::Single => {
            let numbers: Vec<f32> = numbers.iter().map(|x| *x as f32).collect();
            let column = column.typed::<FloatType>();
            column.write_batch(&numbers, levels, repeated)?;
        }
        Kind::Half => {
            let bytes = |x: &f64| FixedLenByteArray::from(to_half(*x).to_le_bytes().to_vec());
            let numbers: Vec<FixedLenByteArray> = numbers.iter().map(bytes).collect();
            let column = column.typed::<FixedLenByteArrayType>();
            column.write_batch(&numbers, levels, repeated)?;
        }
        _ => {
            let column = column.typed::<DoubleType>();
            column.write_batch(&numbers, levels, repeated)?;
        }
    }
    Ok(())
}
