//! Rows of a table, column by column: what Parquet and Arrow files are read into.

use std::borrow::Cow;

use bytes::Bytes;

use super::limits::Limits;
use super::plain::Key;
use super::record::{Given, Label, Prediction};
use super::row::{Reason, RowError};

/// What is said of a column of lists that should hold labels.
pub(super) const SEVERAL_LABELS: &str = "lists of classes: logs with several labels a row are not audited; \
                                         audit each label by itself, as a log of its own";

/// Values in one batch: enough work to share among threads, little enough to be forgotten.
pub(super) const BATCH_VALUES: usize = 1 << 17;

/// Some rows of a table, in order, with their numbers.
#[derive(Debug, Default)]
pub struct TableBatch {
    /// Number of the first row, counted from 1.
    pub(super) first: u64,
    pub(super) rows: usize,
    pub(super) label: Option<Names>,
    pub(super) id: Option<Names>,
    pub(super) others: Vec<Names>,
    pub(super) answer: Answers,
    /// Whether the answer was stored in half precision.
    pub(super) half: bool,
    pub(super) limits: Limits,
}

/// The answers of some rows.
#[derive(Clone, Debug)]
pub(super) enum Answers {
    /// One column a class; NaN where a number is missing.
    Each(Vec<Vec<f64>>),
    /// One column.
    One(Vec<f64>),
    /// One list a row.
    Lists(Lists),
}

impl Default for Answers {
    fn default() -> Self {
        Answers::Each(Vec::new())
    }
}

/// One list a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// Where each ends among the values.
    pub ends: Vec<usize>,
    pub values: Vec<f64>,
}

impl Lists {
    fn get(&self, row: usize) -> &[f64] {
        let end = |row: usize| self.ends.get(row).copied().unwrap_or_default();
        let start = row.checked_sub(1).map_or(0, end);
        self.values.get(start..end(row)).unwrap_or_default()
    }

    /// Where the values of a row begin.
    fn start(&self, row: usize) -> usize {
        let before = row.checked_sub(1).and_then(|row| self.ends.get(row));
        before.copied().unwrap_or_default()
    }

    /// The lists of some of the rows.
    pub(super) fn rows(&self, rows: std::ops::Range<usize>) -> Lists {
        let start = self.start(rows.start);
        let ends = self.ends.get(rows).unwrap_or_default();
        let end = ends.last().copied().unwrap_or(start);
        Lists {
            ends: ends.iter().map(|end| end - start).collect(),
            values: self.values.get(start..end).unwrap_or_default().to_vec(),
        }
    }

    /// The end of the first of these rows that have no more than `most` values, one row at least.
    pub(super) fn end_within(&self, rows: std::ops::Range<usize>, most: usize) -> usize {
        let start = self.start(rows.start);
        let ends = self.ends.get(rows.clone()).unwrap_or_default();
        let within = ends.partition_point(|end| end - start <= most).max(1);
        rows.end.min(rows.start + within)
    }
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
        let label = match &self.label {
            Some(label) => label.label(row, &self.limits)?,
            None => None,
        };
        let entity = match &self.id {
            Some(id) => id.text(row, &self.limits)?,
            None => None,
        };
        let given = match &self.answer {
            Answers::Each(columns) => {
                let numbers = columns.iter();
                let numbers = numbers.map(|column| column.get(row).copied().unwrap_or(f64::NAN));
                Some(Given::Each(numbers.collect()))
            }
            Answers::One(column) => {
                Some(Given::Single(column.get(row).copied().unwrap_or(f64::NAN)))
            }
            Answers::Lists(lists) => match lists.get(row) {
                [] => None,
                numbers => Some(Given::Each(numbers.to_vec())),
            },
        };
        let row = Prediction {
            entity,
            label,
            half: self.half,
            ..Prediction::default()
        };
        Ok(match given {
            Some(given) => row.answering(given),
            None => row,
        })
    }

    /// What tells the true class of a row from others; none where that is not short.
    pub(super) fn label_key(&self, row: usize) -> Option<Key> {
        self.label.as_ref()?.cell(row).key()
    }

    /// The true class of a row, where it has one.
    pub(super) fn label(&self, row: usize) -> Option<Label<'_>> {
        self.label.as_ref()?.label(row, &self.limits).ok()?
    }

    /// The name of a row, its answer behind the numbers that are there, and whether that is the probability
    /// of the positive class alone; none where something is missing or unusual.
    pub(super) fn plain(
        &self,
        row: usize,
        numbers: &mut Vec<f64>,
    ) -> Option<(Option<Cow<'_, str>>, bool)> {
        let entity = match &self.id {
            Some(id) => id.text(row, &self.limits).ok()?,
            None => None,
        };
        let single = match &self.answer {
            Answers::Each(columns) => {
                for column in columns {
                    numbers.push(*column.get(row)?);
                }
                false
            }
            Answers::One(column) => {
                numbers.push(*column.get(row)?);
                true
            }
            Answers::Lists(lists) => {
                numbers.extend_from_slice(lists.get(row));
                false
            }
        };
        Some((entity, single))
    }

    /// A further column that was asked for.
    ///
    /// # Errors
    /// Where it was not, or it is not UTF-8.
    pub(super) fn other(&self, row: usize, name: &str) -> Result<Option<Cow<'_, str>>, RowError> {
        let columns = self.others.iter().chain(&self.label).chain(&self.id);
        match columns.into_iter().find(|names| names.column == name) {
            Some(names) => names.text(row, &self.limits),
            None => {
                let what = "this column was not read";
                Err(RowError::new(Reason::Shape, name, what))
            }
        }
    }
}

/// A column of names, and what it is called.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub column: String,
    pub cells: Vec<Cell>,
}

impl Names {
    fn cell(&self, row: usize) -> &Cell {
        self.cells.get(row).unwrap_or(&Cell::Empty)
    }

    fn wrong(&self, what: String) -> RowError {
        RowError::new(Reason::Shape, &self.column, what)
    }

    fn text(&self, row: usize, limits: &Limits) -> Result<Option<Cow<'_, str>>, RowError> {
        let text = self.cell(row).text(limits);
        text.map_err(|what| self.wrong(what))
    }

    fn label(&self, row: usize, limits: &Limits) -> Result<Option<Label<'_>>, RowError> {
        match self.cell(row) {
            Cell::Number(number) if number.is_nan() => Ok(None),
            Cell::Number(number) => Ok(Some(Label::of_number(*number))),
            Cell::Truth(truth) => Ok(Some(Label::Number((*truth).into()))),
            _ => Ok(self.text(row, limits)?.map(Label::Name)),
        }
    }
}

/// A value that names something.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Empty,
    /// Perhaps not UTF-8.
    Text(Bytes),
    Whole(i128),
    Number(f64),
    Truth(bool),
}

impl Cell {
    /// What tells it from others as a label; none where it is not short.
    fn key(&self) -> Option<Key> {
        match self {
            Cell::Text(bytes) => Key::text(bytes),
            Cell::Whole(number) => Key::whole(u64::try_from(*number).ok()?),
            Cell::Empty | Cell::Number(_) | Cell::Truth(_) => None,
        }
    }

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
            Cell::Number(number) => Some(Cow::Owned(number.to_string())),
            Cell::Truth(truth) => Some(Cow::Borrowed(if *truth { "true" } else { "false" })),
        })
    }
}

/// The number that sixteen bits of half precision stand for.
pub(super) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * f64::from_bits(0x3e70_0000_0000_0000), // 2^-24
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => libm::scalbn(1.0 + fraction / 1024.0, exponent - 15),
    };
    sign * size
}

/// The bits of the half that is nearest to a probability, the even one of two.
pub(super) fn to_half(p: f64) -> u16 {
    // Probabilities are not negative, and halves in their order are the numbers 0, 1, 2, …
    let one = 0x3c00u16;
    let (mut low, mut high) = (0u16, one);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match half(middle) <= p {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    if low == one {
        return one;
    }
    let (below, above) = (p - half(low), half(low + 1) - p);
    match above < below || above == below && low % 2 == 1 {
        true => low + 1,
        false => low,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_those_of_the_standard() {
        for (bits, want) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_953_125),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_625e-5),
            (0x03ff, 6.097_555_160_522_461e-5),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x8000, -0.0),
            (0x7c00, f64::INFINITY),
        ] {
            assert_eq!(half(bits), want, "{bits:x}");
        }
        assert!(half(0x7e00).is_nan());
        // Every half is its own nearest; what is between goes to the nearer, or to the even one.
        for bits in 0..0x3c00 {
            let (own, next) = (half(bits), half(bits + 1));
            assert_eq!(to_half(own), bits);
            assert_eq!(to_half(own + 0.4 * (next - own)), bits);
            assert_eq!(to_half((own + next) / 2.0), bits + bits % 2);
        }
        assert_eq!(to_half(1.0), 0x3c00);
    }

    #[test]
    fn lists_are_those_of_their_rows() {
        let lists = Lists {
            ends: vec![2, 2, 3],
            values: vec![0.5, 0.5, 1.0],
        };
        assert_eq!(lists.get(0), [0.5, 0.5]);
        assert_eq!((lists.get(1), lists.get(2)), (&[][..], &[1.0][..]));
        assert!(lists.get(3).is_empty());
        let last = lists.rows(1..3);
        assert_eq!((last.get(0), last.get(1)), (&[][..], &[1.0][..]));
        assert_eq!(lists.rows(0..2).values, [0.5, 0.5]);
        assert!(lists.rows(3..3).values.is_empty());
        // Two rows of two values, the third has one more; a row that is too long goes by itself.
        let end = |from, most| lists.end_within(from..3, most);
        assert_eq!((end(0, 2), end(0, 3), end(0, 1), end(1, 0)), (2, 3, 1, 2));
        assert_eq!(lists.end_within(3..3, 9), 3);
    }
}
