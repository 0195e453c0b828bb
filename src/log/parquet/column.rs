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

use super::shared::Shared;
use super::values::Values;

/// How values of a column are to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Numbers of double precision.
    Double,
    /// Numbers of single precision.
    Single,
    /// Whole numbers of 32 bits, with a sign or without.
    Whole32 {
        /// Whether they have one.
        signed: bool,
    },
    /// Whole numbers of 64 bits, with a sign or without.
    Whole64 {
        /// Whether they have one.
        signed: bool,
    },
    /// Text.
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
    /// [`Kind::Double`].
    Double(Values<f64>),
    /// [`Kind::Single`].
    Single(Values<f32>),
    /// [`Kind::Whole32`].
    Whole32(Values<i32>, bool),
    /// [`Kind::Whole64`].
    Whole64(Values<i64>, bool),
    /// [`Kind::Text`].
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
        let missing = &f64::NAN;
        let empty = &Cell::Empty;
        match cells {
            Cells::Numbers(out) => {
                out.clear();
                match self {
                    Column::Double(column) => column.read(rows, out, missing, |x| *x),
                    Column::Single(column) => column.read(rows, out, missing, |x| f64::from(*x)),
                    Column::Whole32(column, signed) => {
                        let signed = *signed;
                        column.read(rows, out, missing, |x| whole32(*x, signed) as f64)
                    }
                    Column::Whole64(column, signed) => {
                        let signed = *signed;
                        column.read(rows, out, missing, |x| match signed {
                            true => *x as f64,
                            false => *x as u64 as f64,
                        })
                    }
                    // Which kinds hold numbers is checked when columns are chosen.
                    Column::Text(_) => Ok(()),
                }
            }
            Cells::Texts(out) => {
                out.clear();
                match self {
                    Column::Text(column) => {
                        column.read(rows, out, empty, |x| Cell::Text(x.clone()))
                    }
                    Column::Whole32(column, signed) => {
                        let signed = *signed;
                        column.read(rows, out, empty, |x| Cell::Whole(whole32(*x, signed)))
                    }
                    Column::Whole64(column, signed) => {
                        let signed = *signed;
                        column.read(rows, out, empty, |x| match signed {
                            true => Cell::Whole(*x),
                            false => Cell::Unsigned(*x as u64),
                        })
                    }
                    // As above.
                    Column::Double(_) | Column::Single(_) => Ok(()),
                }
            }
        }
    }
}

/// The number that 32 bits stand for.
fn whole32(bits: i32, signed: bool) -> i64 {
    match signed {
        true => i64::from(bits),
        false => i64::from(bits as u32),
    }
}

/// Values of some rows of a column.
#[derive(Clone, Debug)]
pub(super) enum Cells {
    /// Numbers; NaN where there is none.
    Numbers(Vec<f64>),
    /// Names.
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

/// A name.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    /// There is none.
    Empty,
    /// As text, which may not be UTF-8.
    Text(Bytes),
    /// As a whole number.
    Whole(i64),
    /// As a whole number without a sign.
    Unsigned(u64),
}

impl Cell {
    /// The name as text; none where there is none.
    ///
    /// # Errors
    /// Where it is not UTF-8.
    pub(super) fn text(&self) -> Result<Option<Cow<'_, str>>, &'static str> {
        Ok(match self {
            Cell::Empty => None,
            Cell::Text(bytes) => {
                let text = std::str::from_utf8(bytes).map_err(|_| "not UTF-8 text")?;
                Some(Cow::Borrowed(text))
            }
            Cell::Whole(number) => Some(Cow::Owned(number.to_string())),
            Cell::Unsigned(number) => Some(Cow::Owned(number.to_string())),
        })
    }
}
