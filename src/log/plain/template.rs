//! Lines of JSON that are written like one before them, but for their values.
//!
//! Programs write the fields of every line in the same order and with the same white space. Of a line that
//! has been read field by field a template remembers what stands between its values. A line that has the
//! same there, and in each place a value of the same use, would be read to the same end field by field: its
//! names are the same, and its values are read by the same functions.

use std::ops::Range;

use super::known::Known;
use super::{Found, Json, label, put};
use crate::log::limits::Limits;

/// So many templates are tried for the rows that are read together, where lines differ.
const MOST_LEARNED: u32 = 4;

/// What a value is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Label,
    Entity,
    /// The name, where there is no `entity`.
    Id,
    /// The probability of this class.
    Number(usize),
    /// Nothing.
    Other,
}

/// Where values stand in a line, in order, and what each is used as.
pub(super) type Marks = Vec<(Range<usize>, Slot)>;

/// What lines have in common.
#[derive(Debug, Default)]
pub(super) struct Template {
    /// A line that was read field by field.
    line: Vec<u8>,
    /// What stands before each value, and what that is used as.
    parts: Vec<(Range<usize>, Slot)>,
    /// What stands behind the last.
    tail: Range<usize>,
    /// Whether the answer is one number, that of the positive class.
    single: bool,
    learned: u32,
}

impl Template {
    /// Remembers a line with these values, unless others were remembered too often.
    pub(super) fn learn(&mut self, line: &str, marks: &Marks, single: bool) {
        if self.learned == MOST_LEARNED {
            return;
        }
        self.learned += 1;
        self.single = single;
        self.line.clear();
        self.line.extend_from_slice(line.as_bytes());
        self.parts.clear();
        let mut end = 0;
        for (value, slot) in marks {
            self.parts.push((end..value.start, *slot));
            end = value.end;
        }
        self.tail = end..line.len();
    }

    /// The line at `place` in a text, its numbers behind those that are there; none where it is not written
    /// as the line that is remembered.
    #[inline]
    pub(super) fn read<'a>(
        &self,
        text: &'a str,
        place: Range<usize>,
        limits: &Limits,
        known: &mut Known<'_>,
        numbers: &mut Vec<f64>,
    ) -> Option<Found<'a>> {
        // A value may be looked for beyond the end of the line, which is then not where the last part ends.
        let mut json = Json {
            line: text,
            at: place.start,
        };
        let first = numbers.len();
        let (mut class, mut entity, mut id) = (None, None, None);
        for (before, slot) in &self.parts {
            json.literal(self.line.get(before.clone())?)?;
            match slot {
                Slot::Number(class) => put(numbers, first + class, json.digits()?),
                Slot::Label => class = Some(label(&mut json, limits, known)?),
                Slot::Entity => entity = Some(json.name(limits)?),
                Slot::Id => id = Some(json.name(limits)?),
                Slot::Other => json.skip()?,
            }
        }
        json.literal(self.line.get(self.tail.clone())?)?;
        (json.at == place.end && !self.line.is_empty()).then_some(Found {
            class,
            entity: entity.or(id),
            single: self.single,
        })
    }
}
