//! Rows that are in memory already, read as the rows of a file are.
//!
//! They are answers and outcomes without evidence, as in a table: rows with evidence are sampled by the
//! text of their lines, which rows in memory do not have.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::record::{Label, Prediction};
use super::row::RowError;

/// How many rows are taken at a time: enough to share out among threads.
pub const ROWS_A_BATCH: usize = 1 << 14;

/// Rows in memory that become a log: see [`LogReader::rows`](super::LogReader::rows).
pub trait RowSource: Send {
    /// The names of the classes, where they have some.
    fn classes(&self) -> Option<&[String]>;

    /// Adds the next rows to a batch that is empty, about [`ROWS_A_BATCH`] of them; none at the end.
    ///
    /// # Errors
    /// Whatever ends the reading: that somebody asked for it, for instance.
    fn fill(&mut self, batch: &mut RowBatch) -> std::io::Result<()>;
}

/// Some rows, column by column. A column has an entry for each row, or none at all where no row has it.
#[derive(Debug, Default)]
pub struct RowBatch {
    /// The true classes: as many as there are rows.
    pub labels: Vec<Option<Label<'static>>>,
    /// The answers, row by row; NaN where a number is missing.
    pub answers: Vec<f64>,
    /// Whether they were stored in half precision.
    pub half: bool,
    /// The names of the entities.
    pub entities: Vec<Option<Arc<str>>>,
    /// Other fields, by which groups are told apart.
    pub fields: BTreeMap<String, Vec<Option<Arc<str>>>>,
    /// The number of the first row, counted from 1.
    pub(super) first: u64,
}

impl RowBatch {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.labels.clear();
        self.answers.clear();
        self.entities.clear();
        for column in self.fields.values_mut() {
            column.clear();
        }
    }

    /// What a row says.
    pub(super) fn prediction(&self, row: usize) -> Prediction<'_> {
        let classes = self.answers.len() / self.len().max(1);
        let start = row * classes;
        let answer = self.answers.get(start..start + classes);
        let entity = self.entities.get(row).and_then(Option::as_deref);
        Prediction {
            entity: entity.map(Cow::Borrowed),
            label: self.labels.get(row).cloned().flatten(),
            half: self.half,
            answer: answer.filter(|a| !a.is_empty()).map(<[f64]>::to_vec),
            ..Prediction::default()
        }
    }

    /// The true class and the name of a row, its answer behind the numbers that are there; none where it
    /// has no true class.
    pub(super) fn plain(
        &self,
        row: usize,
        numbers: &mut Vec<f64>,
    ) -> Option<(Label<'_>, Option<&str>)> {
        let label = match self.labels.get(row)?.as_ref()? {
            Label::Name(name) => Label::Name(Cow::Borrowed(name)),
            Label::Number(number) => Label::Number(*number),
        };
        let classes = self.answers.len() / self.len().max(1);
        numbers.extend_from_slice(self.answers.get(row * classes..(row + 1) * classes)?);
        let entity = self.entities.get(row).and_then(Option::as_deref);
        Some((label, entity))
    }

    /// A field of a row as text.
    pub(super) fn field(&self, row: usize, name: &str) -> Result<Option<Cow<'_, str>>, RowError> {
        let column = self.fields.get(name);
        let found = column.and_then(|column| column.get(row)?.as_deref());
        Ok(found.map(Cow::Borrowed))
    }

    /// Hands out all that the rows say as bytes, in a form that tells any two rows apart.
    pub(super) fn digest(&self, mut add: impl FnMut(&[u8])) {
        fn text(bytes: &mut Vec<u8>, text: Option<&str>) {
            let length = text.map_or(u64::MAX, |text| text.len() as u64);
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
        }
        let classes = self.answers.len() / self.len().max(1);
        let mut bytes = Vec::new();
        for row in 0..self.len() {
            bytes.clear();
            let answer = self.answers.iter().skip(row * classes).take(classes);
            bytes.extend(answer.flat_map(|p| p.to_bits().to_le_bytes()));
            match self.labels.get(row).and_then(Option::as_ref) {
                Some(Label::Number(number)) => bytes.extend_from_slice(&number.to_le_bytes()),
                Some(Label::Name(name)) => text(&mut bytes, Some(name)),
                None => text(&mut bytes, None),
            }
            for column in [&self.entities].into_iter().chain(self.fields.values()) {
                if let Some(cell) = column.get(row) {
                    text(&mut bytes, cell.as_deref());
                }
            }
            add(&bytes);
        }
    }
}
