//! A bounded sample of rows with their evidence, for checks that need whole rows.
//!
//! Kept are the rows with the smallest hash of content and place: a choice that depends on nothing but the
//! rows and where they stand, so that shards keep together what one pass keeps. The content alone would not
//! do: of rows that are alike all would be kept or none, and a sample of a few kinds of rows is none of
//! the log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::listed::Source;
use crate::latent::random::text_key;
use crate::simplex::Distribution;

/// How many rows are kept.
pub(super) const SAMPLE_ROWS: usize = 2048;
/// A row with more numbers than this in its factors is not kept, so that the sample stays small.
pub(super) const SAMPLE_NUMBERS: usize = 1024;

/// One row of the sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleRow {
    /// The hash of the entity's name, where it has one.
    pub entity: Option<u64>,
    /// Position of the true class.
    pub label: usize,
    /// The answer.
    pub answer: Vec<f64>,
    /// The factors, valid distributions.
    pub factors: Vec<Distribution>,
    /// Their weights.
    pub weights: Vec<f64>,
    /// The hashes of their ids, where they have one.
    pub ids: Vec<Option<u64>>,
}

/// The rows with the smallest hashes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    rows: BTreeMap<(u64, String, u64), SampleRow>,
    /// Rows that were too large to be kept.
    pub too_large: u64,
}

impl Sample {
    /// Considers a row whose line has this hash.
    pub fn add(
        &mut self,
        line: u64,
        at: Source<'_>,
        numbers: usize,
        row: impl FnOnce() -> SampleRow,
    ) {
        let hash = row_hash(line, at);
        if numbers > SAMPLE_NUMBERS {
            self.too_large += 1;
            return;
        }
        if self.rows.len() >= SAMPLE_ROWS
            && self.rows.last_key_value().is_some_and(|(last, _)| {
                (last.0, last.1.as_str(), last.2) < (hash, at.file, at.line)
            })
        {
            return;
        }
        self.rows
            .insert((hash, at.file.to_string(), at.line), row());
        self.cut();
    }

    fn cut(&mut self) {
        while self.rows.len() > SAMPLE_ROWS {
            self.rows.pop_last();
        }
    }

    /// Considers all rows of another sample.
    pub fn merge(&mut self, other: &Sample) {
        for (key, row) in &other.rows {
            self.rows.insert(key.clone(), row.clone());
        }
        self.too_large += other.too_large;
        self.cut();
    }

    /// Whether all rows are over `classes` classes, as rows that were added are.
    pub fn fits(&self, classes: usize) -> bool {
        let valid = |w: &f64| *w >= 0.0 && w.is_finite();
        self.rows().all(|row| {
            row.label < classes
                && row.answer.len() == classes
                && row.answer.iter().all(|p| (0.0..=1.0).contains(p))
                && row.factors.len() == row.weights.len()
                && row.factors.len() == row.ids.len()
                && row.factors.iter().all(|f| f.classes() == classes)
                && row.weights.iter().all(valid)
        })
    }

    /// The rows, in the order of their lines' hashes: as long as none is left out, that is the same for the
    /// pieces of a file as for the file.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &SampleRow> {
        let line = |(hash, file, line): &(u64, String, u64)| hash ^ place_hash(file, *line);
        let mut rows: Vec<(u64, &SampleRow)> = self
            .rows
            .iter()
            .map(|(key, row)| (line(key), row))
            .collect();
        rows.sort_by_key(|(line, _)| *line);
        rows.into_iter().map(|(_, row)| row)
    }
}

/// A 64-bit name of a line: FNV-1a, then mixed so that small ones are no rarer for some texts.
pub(super) fn line_hash(line: &[u8]) -> u64 {
    // A line that has been read is text.
    mixed(text_key(std::str::from_utf8(line).unwrap_or_default()))
}

/// A 64-bit name of a row: of its line, and of where that stands. Either can be told from the other.
pub(super) fn row_hash(line: u64, at: Source<'_>) -> u64 {
    line ^ place_hash(at.file, at.line)
}

fn place_hash(file: &str, line: u64) -> u64 {
    // An odd number, so that neighbouring lines differ in all bits.
    mixed(text_key(file).wrapping_add(line.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// The finalizer of MurmurHash3.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

/// How a sample is stored: a list, as JSON has no keys of several parts.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    rows: Vec<(u64, String, u64, SampleRow)>,
    too_large: u64,
}

impl Serialize for Sample {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = |(key, row): (&(u64, String, u64), &SampleRow)| {
            (key.0, key.1.clone(), key.2, row.clone())
        };
        Stored {
            rows: self.rows.iter().map(row).collect(),
            too_large: self.too_large,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Sample {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let mut sample = Sample {
            too_large: stored.too_large,
            ..Sample::default()
        };
        for (hash, file, line, row) in stored.rows {
            sample.rows.insert((hash, file, line), row);
        }
        sample.cut();
        Ok(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_in_any_order_keep_what_one_pass_keeps() {
        let mut whole = Sample::default();
        let mut parts = vec![Sample::default(); 3];
        for line in 0..5000u64 {
            let hash = line_hash(line.to_string().as_bytes());
            let at = Source { file: "f", line };
            let row = || SampleRow {
                entity: None,
                label: line as usize,
                answer: vec![1.0],
                factors: Vec::new(),
                weights: Vec::new(),
                ids: Vec::new(),
            };
            let numbers = if line % 1000 == 0 {
                SAMPLE_NUMBERS + 1
            } else {
                1
            };
            whole.add(hash, at, numbers, row);
            parts[(line % 3) as usize].add(hash, at, numbers, row);
        }
        let mut merged = parts[2].clone();
        merged.merge(&parts[0]);
        merged.merge(&parts[1]);
        assert_eq!(merged, whole);
        assert_eq!((whole.rows().len(), whole.too_large), (SAMPLE_ROWS, 5));
        let text = serde_json::to_string(&whole).unwrap();
        assert_eq!(serde_json::from_str::<Sample>(&text).unwrap(), whole);
    }

    /// Three in ten of 20,000 rows are alike, and so are the others: about as many of the sample are. The
    /// hypergeometric count is within 5 deviations of its mean, 2048·0.3 ± 5·√(2048·0.21·0.9).
    #[test]
    fn rows_that_are_alike_are_sampled_as_often_as_they_occur() {
        let mut sample = Sample::default();
        for line in 0..20_000u64 {
            let label = usize::from(line % 10 < 3);
            let hash = line_hash(label.to_string().as_bytes());
            sample.add(hash, Source { file: "f", line }, 1, || SampleRow {
                entity: None,
                label,
                answer: vec![1.0],
                factors: Vec::new(),
                weights: Vec::new(),
                ids: Vec::new(),
            });
        }
        let found = sample.rows().filter(|row| row.label == 1).count();
        assert!((516..=713).contains(&found), "{found}");
    }
}
