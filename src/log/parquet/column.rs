//! One column of one group of rows, some rows at a time.

use std::borrow::Cow;
use std::io::{Read, Seek};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;

use super::super::limits::Limits;
use super::shared::Shared;
use super::values::Values;

/// How values of a column are to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Double,
    Single,
    /// Whole numbers of 32 bits.
    Whole32 {
        signed: bool,
    },
    /// Whole numbers of 64 bits.
    Whole64 {
        signed: bool,
    },
    Text,
}

impl Kind {
    /// The kind of a column; none where it is nothing that a prediction is made of.
    pub(super) fn of(column: &ColumnDescriptor) -> Option<Self> {
        let logical = column.logical_type_ref();
        let plain = logical.is_none();
        let converted = column.converted_type();
        match column.physical_type() {
            Type::DOUBLE => Some(Kind::Double),
            Type::FLOAT => Some(Kind::Single),
            whole @ (Type::INT32 | Type::INT64) => {
                let signed = match (logical, converted) {
                    (Some(LogicalType::Integer(kind)), _) => kind.is_signed,
                    (
                        None,
                        ConvertedType::UINT_8
                        | ConvertedType::UINT_16
                        | ConvertedType::UINT_32
                        | ConvertedType::UINT_64,
                    ) => false,
                    (
                        None,
                        ConvertedType::NONE
                        | ConvertedType::INT_8
                        | ConvertedType::INT_16
                        | ConvertedType::INT_32
                        | ConvertedType::INT_64,
                    ) => true,
                    _ => return None,
                };
                Some(match whole {
                    Type::INT32 => Kind::Whole32 { signed },
                    _ => Kind::Whole64 { signed },
                })
            }
            Type::BYTE_ARRAY => {
                let text = matches!(logical, Some(LogicalType::String | LogicalType::Enum));
                let old = matches!(
                    converted,
                    ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM
                );
                (text || plain && old).then_some(Kind::Text)
            }
            _ => None,
        }
    }

    /// The fewest bytes that a value takes in a dictionary: of a text, its length.
    pub(super) fn smallest_value(self) -> u64 {
        match self {
            Kind::Double | Kind::Whole64 { .. } => 8,
            Kind::Single | Kind::Whole32 { .. } | Kind::Text => 4,
        }
    }
}

/// A column being read.
pub(super) enum Column {
    Double(Values<f64>),
    Single(Values<f32>),
    Whole32(Values<i32>, bool),
    Whole64(Values<i64>, bool),
    Text(Values<Bytes>),
}

impl Column {
    /// Starts with the first row of a group.
    ///
    /// # Errors
    /// Where the group's description of its pages makes no sense.
    pub(super) fn open<R: Read + Seek + Send + 'static>(
        file: &Shared<R>,
        descriptor: &ColumnDescriptor,
        chunk: &ColumnChunkMetaData,
        kind: Kind,
        rows: usize,
    ) -> Result<Self, ParquetError> {
        let pages = SerializedPageReader::new(Arc::new(file.clone()), chunk, rows, None)?;
        let pages = Box::new(pages);
        let optional = descriptor.max_def_level() > 0;
        Ok(match kind {
            Kind::Double => Column::Double(Values::new(pages, optional)),
            Kind::Single => Column::Single(Values::new(pages, optional)),
            Kind::Whole32 { signed } => Column::Whole32(Values::new(pages, optional), signed),
            Kind::Whole64 { signed } => Column::Whole64(Values::new(pages, optional), signed),
            Kind::Text => Column::Text(Values::new(pages, optional)),
        })
    }

    /// Replaces the content of `cells` by the next `rows` values, or fewer at the end.
    ///
    /// # Errors
    /// Where pages cannot be read or do not hold what they should.
    pub(super) fn read(&mut self, rows: usize, cells: &mut Cells) -> Result<(), ParquetError> {
        let (none, empty) = (&f64::NAN, &Cell::Empty);
        match cells {
            Numbers(out) => out.clear(),
            Texts(out) => out.clear(),
        }
        use Cells::{Numbers, Texts};
        match (self, cells) {
            (Column::Double(column), Numbers(out)) => column.read(rows, out, none, |x| *x),
            (Column::Single(column), Numbers(out)) => {
                column.read(rows, out, none, |x| f64::from(*x))
            }
            (Column::Whole32(column, signed), Numbers(out)) => {
                column.read(rows, out, none, |x| whole32(*x, *signed) as f64)
            }
            (Column::Whole64(column, signed), Numbers(out)) => {
                column.read(rows, out, none, |x| whole64(*x, *signed) as f64)
            }
            (Column::Text(column), Texts(out)) => {
                column.read(rows, out, empty, |x| Cell::Text(x.clone()))
            }
            (Column::Whole32(column, signed), Texts(out)) => column.read(rows, out, empty, |x| {
                Cell::Whole(whole32(*x, *signed).into())
            }),
            (Column::Whole64(column, signed), Texts(out)) => {
                column.read(rows, out, empty, |x| Cell::Whole(whole64(*x, *signed)))
            }
            // Which kinds hold numbers is checked when columns are chosen.
            (Column::Text(_), Numbers(_)) | (Column::Double(_) | Column::Single(_), Texts(_)) => {
                Ok(())
            }
        }
    }
}

/// The number that 32 bits stand for.
fn whole32(bits: i32, signed: bool) -> i64 {
    match signed {
        true => bits.into(),
        false => (bits as u32).into(),
    }
}

/// The number that 64 bits stand for.
fn whole64(bits: i64, signed: bool) -> i128 {
    match signed {
        true => bits.into(),
        false => (bits as u64).into(),
    }
}

/// Values of some rows of a column.
#[derive(Clone, Debug)]
pub(super) enum Cells {
    /// Numbers; NaN where there is none.
    Numbers(Vec<f64>),
    Texts(Vec<Cell>),
}

impl Cells {
    /// How many rows these are.
    pub(super) fn len(&self) -> usize {
        match self {
            Cells::Numbers(numbers) => numbers.len(),
            Cells::Texts(texts) => texts.len(),
        }
    }
}
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Empty,
    /// Perhaps not UTF-8.
    Text(Bytes),
    Whole(i128),
}

impl Cell {
    /// The name as text; none where there is none.
    ///
    /// # Errors
    /// Where it is not UTF-8, or too long: one value of a dictionary may stand in every row.
    pub(super) fn text(&self, limits: &Limits) -> Result<Option<Cow<'_, str>>, String> {
        Ok(match self {
            Cell::Empty => None,
            Cell::Text(bytes) => {
                let within = limits.name_bytes(bytes.len() as u64);
                within.map_err(|error| error.to_string())?;
                let text = std::str::from_utf8(bytes).map_err(|_| "not UTF-8 text")?;
                Some(Cow::Borrowed(text))
            }
            Cell::Whole(number) => Some(Cow::Owned(number.to_string())),
        })
    }
}
