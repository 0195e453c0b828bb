//! The rows that a report lists: a bounded number, the same for any order of the log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::outcome::{FIRST_REJECTIONS, Offender, Rejection};
use crate::log::{Reason, RowError};

/// How many of the worst rows of a check are named.
pub(super) const WORST: usize = 20;
/// The longest text that is kept of a name or a message, in characters.
const LONGEST_TEXT: usize = 200;

/// Where a row stands.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name of the input.
    pub file: &'a str,
    /// Line, counted from 1.
    pub line: u64,
}

/// The first characters of a text, enough to recognize it.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_string(),
    }
}

/// The rows with the largest values, at most [`WORST`] of them; equal ones by file and line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worst {
    /// Worst first.
    rows: Vec<ListedRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedRow {
    /// The bits of the value, so that any value can be stored.
    bits: u64,
    file: String,
    line: u64,
    id: String,
}

impl ListedRow {
    fn value(&self) -> f64 {
        f64::from_bits(self.bits)
    }

    /// Before another one: larger, NaN above all, then by file and line.
    fn before(&self, value: f64, at: Source<'_>) -> bool {
        rank(self.value())
            .total_cmp(&rank(value))
            .reverse()
            .then_with(|| self.file.as_str().cmp(at.file))
            .then_with(|| self.line.cmp(&at.line))
            .is_lt()
    }
}

/// What cannot be measured is the worst of all.
fn rank(value: f64) -> f64 {
    if value.is_nan() {
        f64::INFINITY
    } else {
        value.abs()
    }
}

impl Worst {
    /// Considers a row.
    pub fn add(&mut self, value: f64, at: Source<'_>, id: &str) {
        let full = self.rows.len() >= WORST;
        if full && self.rows.last().is_some_and(|last| last.before(value, at)) {
            return;
        }
        let place = self.rows.partition_point(|row| row.before(value, at));
        let listed = ListedRow {
            bits: value.to_bits(),
            file: at.file.to_string(),
            line: at.line,
            id: shortened(id),
        };
        self.rows.insert(place, listed);
        self.rows.truncate(WORST);
    }

    /// Considers all rows of another list.
    pub fn merge(&mut self, other: &Worst) {
        for row in &other.rows {
            let at = Source {
                file: &row.file,
                line: row.line,
            };
            self.add(row.value(), at, &row.id);
        }
    }

    /// The rows, worst first.
    pub fn offenders(&self) -> Vec<Offender> {
        let offender = |row: &ListedRow| Offender {
            file: row.file.clone(),
            line: row.line,
            id: row.id.clone(),
            value: row.value(),
        };
        self.rows.iter().map(offender).collect()
    }
}

/// The rows that could not be used: counted by reason, the first of them kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unusable {
    /// How many for each reason.
    pub counts: BTreeMap<Reason, u64>,
    /// The first ones, by file and line.
    pub first: Vec<Rejection>,
}

impl Unusable {
    /// Counts a row.
    pub fn add(&mut self, at: Source<'_>, error: RowError) {
        *self.counts.entry(error.reason).or_insert(0) += 1;
        let place = self.place(at.file, at.line);
        if place < FIRST_REJECTIONS {
            let listed = Rejection {
                file: at.file.to_string(),
                line: at.line,
                field: shortened(&error.field),
                message: shortened(&error.message),
            };
            self.first.insert(place, listed);
            self.first.truncate(FIRST_REJECTIONS);
        }
    }

    fn place(&self, file: &str, line: u64) -> usize {
        self.first
            .partition_point(|row| (row.file.as_str(), row.line) < (file, line))
    }

    /// Counts the rows of another list.
    pub fn merge(&mut self, other: &Unusable) {
        for (reason, count) in &other.counts {
            *self.counts.entry(*reason).or_insert(0) += count;
        }
        for row in &other.first {
            let place = self.place(&row.file, row.line);
            self.first.insert(place, row.clone());
        }
        self.first.truncate(FIRST_REJECTIONS);
    }

    /// How many rows.
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u64) -> Source<'static> {
        Source { file: "f", line }
    }

    #[test]
    fn the_worst_are_the_same_in_every_order_and_split() {
        let value = |i: u64| match i % 50 {
            7 => f64::NAN,
            k => (k * 37 % 50) as f64 * if k % 2 == 0 { -1.0 } else { 1.0 },
        };
        let mut forward = Worst::default();
        let mut parts = [Worst::default(), Worst::default(), Worst::default()];
        for i in 0..300 {
            forward.add(value(i), at(i), "x");
            parts[(i % 3) as usize].add(value(299 - i), at(299 - i), "x");
        }
        let [mut a, b, c] = parts;
        let mut other = c.clone();
        other.merge(&b);
        other.merge(&a);
        a.merge(&b);
        a.merge(&c);
        let key = |w: &Worst| {
            w.offenders()
                .iter()
                .map(|o| (o.value.to_bits(), o.line))
                .collect::<Vec<_>>()
        };
        assert_eq!(key(&forward).len(), WORST);
        assert_eq!(key(&forward), key(&a));
        assert_eq!(key(&forward), key(&other));
        assert!(forward.offenders()[0].value.is_nan());
    }

    #[test]
    fn rejections_keep_the_first_lines_and_all_counts() {
        let mut all = Unusable::default();
        let mut parts = [Unusable::default(), Unusable::default()];
        for i in (0..100).rev() {
            let reason = if i % 2 == 0 {
                Reason::Shape
            } else {
                Reason::NoLabel
            };
            let error = RowError::new(reason, "f", "é".repeat(1000));
            all.add(at(i), error.clone());
            parts[(i / 7 % 2) as usize].add(at(i), error);
        }
        let [mut a, b] = parts;
        a.merge(&b);
        assert_eq!(a, all);
        assert_eq!((all.count(), all.first.len()), (100, FIRST_REJECTIONS));
        assert!(all.first.iter().map(|r| r.line).eq(0..20));
        assert_eq!(all.first[0].message.chars().count(), LONGEST_TEXT + 1);
    }
}
