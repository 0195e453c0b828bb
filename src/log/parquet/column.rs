//! One column of one group of rows, some rows at a time.

use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

use super::super::table::{Cell, Lists, half};
use super::values::{AllPages, Levels, Values};

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
    /// Half precision.
    Half,
    Truth,
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
            Type::FIXED_LEN_BYTE_ARRAY if matches!(logical, Some(LogicalType::Float16)) => {
                Some(Kind::Half)
            }
            Type::BOOLEAN => Some(Kind::Truth),
            _ => None,
        }
    }

    /// Whether its values are numbers.
    pub(super) fn is_number(self) -> bool {
        !matches!(self, Kind::Text | Kind::Truth)
    }

    /// The fewest bytes that a value takes in a dictionary: of a text, its length.
    pub(super) fn smallest_value(self) -> u64 {
        match self {
            Kind::Double | Kind::Whole64 { .. } => 8,
            Kind::Single | Kind::Whole32 { .. } | Kind::Text => 4,
            Kind::Half => 2,
            Kind::Truth => 1,
        }
    }
}

/// A column being read.
pub(super) enum Column {
    Double(Values<f64>),
    Single(Values<f32>),
    Half(Values<u16>),
    Truth(Values<bool>),
    Whole32(Values<i32>, bool),
    Whole64(Values<i64>, bool),
    Text(Values<Bytes>),
}

/// Calls a method of the values of a column of numbers, with what makes a number of each.
macro_rules! of_numbers {
    ($column:expr, $values:ident, $number:ident => $call:expr) => {
        match $column {
            Column::Double($values) => {
                let $number = |x: &f64| *x;
                $call
            }
            Column::Single($values) => {
                let $number = |x: &f32| f64::from(*x);
                $call
            }
            Column::Half($values) => {
                let $number = |x: &u16| half(*x);
                $call
            }
            Column::Whole32($values, signed) => {
                let $number = |x: &i32| whole32(*x, *signed) as f64;
                $call
            }
            Column::Whole64($values, signed) => {
                let $number = |x: &i64| whole64(*x, *signed) as f64;
                $call
            }
            // Which kinds hold numbers is checked when columns are chosen.
            Column::Text(_) | Column::Truth(_) => Ok(()),
        }
    };
}

impl Column {
    /// Starts with the first row of a group.
    pub(super) fn open(pages: AllPages, levels: Levels, kind: Kind) -> Self {
        match kind {
            Kind::Double => Column::Double(Values::new(pages, levels)),
            Kind::Single => Column::Single(Values::new(pages, levels)),
            Kind::Half => Column::Half(Values::new(pages, levels)),
            Kind::Truth => Column::Truth(Values::new(pages, levels)),
            Kind::Whole32 { signed } => Column::Whole32(Values::new(pages, levels), signed),
            Kind::Whole64 { signed } => Column::Whole64(Values::new(pages, levels), signed),
            Kind::Text => Column::Text(Values::new(pages, levels)),
        }
    }

    /// Replaces the content of `cells` by the next `rows` values, or fewer at the end; of lists, no more
    /// than `most` elements.
    ///
    /// # Errors
    /// Where pages cannot be read or do not hold what they should.
    pub(super) fn read(
        &mut self,
        rows: usize,
        most: usize,
        cells: &mut Cells,
    ) -> Result<(), ParquetError> {
        match cells {
            Cells::Numbers(out) => {
                out.clear();
                of_numbers!(self, values, number => values.read(rows, out, &f64::NAN, number))
            }
            Cells::Lists(out) => {
                out.ends.clear();
                out.values.clear();
                of_numbers!(self, values, number => values.read_lists(rows, most, out, number))
            }
            Cells::Texts(out) => {
                out.clear();
                let empty = &Cell::Empty;
                match self {
                    Column::Text(column) => {
                        column.read(rows, out, empty, |x| Cell::Text(x.clone()))
                    }
                    Column::Truth(column) => column.read(rows, out, empty, |x| Cell::Truth(*x)),
                    Column::Whole32(column, signed) => column.read(rows, out, empty, |x| {
                        Cell::Whole(whole32(*x, *signed).into())
                    }),
                    Column::Whole64(column, signed) => {
                        column.read(rows, out, empty, |x| Cell::Whole(whole64(*x, *signed)))
                    }
                    Column::Double(column) => column.read(rows, out, empty, |x| Cell::Number(*x)),
                    Column::Single(column) => {
                        column.read(rows, out, empty, |x| Cell::Number(f64::from(*x)))
                    }
                    Column::Half(column) => {
                        column.read(rows, out, empty, |x| Cell::Number(half(*x)))
                    }
                }
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
    Lists(Lists),
}

impl Cells {
    /// How many rows these are.
    pub(super) fn len(&self) -> usize {
        match self {
            Cells::Numbers(numbers) => numbers.len(),
            Cells::Texts(texts) => texts.len(),
            Cells::Lists(lists) => lists.ends.len(),
        }
    }
}
