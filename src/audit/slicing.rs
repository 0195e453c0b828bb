//! Rows on their way into slices.
//!
//! Threads read the fields of their own rows. What they find is then added slice by slice, each slice by
//! one thread, so that there is one copy of each slice and not one a thread.

use std::borrow::Cow;
use std::collections::HashMap;

use rayon::prelude::*;

use super::by::By;
use super::scan::ScanSettings;
use super::slices::{Part, Slice, Slices, Value, fields_of_parts};
use super::sources::{Source, SourcePart};
use super::tally::Waiting;
use super::time::Period;
use crate::error::{Error, Result};
use crate::log::{Limits, LogBatch};

/// Bins of all classes in all slices: 32 bytes each, 64 MiB together.
const MOST_BINS: usize = 1 << 21;
/// A longer value is not the name of a group.
const LONGEST: usize = 256;
/// Numbers from here on are positions among the values that are new.
const NEW: u32 = 1 << 31;

/// Slices that are being filled.
pub(super) struct Slicing {
    fields: Vec<(Option<Period>, String)>,
    /// The values of each field, by number.
    known: Vec<HashMap<Value, u32>>,
    parts: Vec<Growing<Vec<u32>, Slice>>,
    sources: Option<Growing<Value, Source>>,
    part_fields: Vec<Vec<usize>>,
    classes: usize,
    bins: usize,
    limits: Limits,
}

/// Slices by the order in which they were found.
struct Growing<K, T> {
    places: HashMap<K, usize>,
    slices: Vec<T>,
}

impl<K, T> Default for Growing<K, T> {
    fn default() -> Self {
        Growing {
            places: HashMap::new(),
            slices: Vec::new(),
        }
    }
}

/// What one thread found of the fields of its rows.
pub(super) struct Values<'a> {
    slicing: &'a Slicing,
    /// For each row, the number of each field's value.
    numbers: Vec<u32>,
    /// Values that are not known yet: their field, and what they are.
    new: Vec<(usize, Value)>,
}

/// Rows with what decides on their slices.
pub(super) struct Sliced {
    waiting: Waiting,
    numbers: Vec<u32>,
    new: Vec<(usize, Value)>,
}

impl Values<'_> {
    /// Adds the fields of a row.
    pub(super) fn add(&mut self, batch: &LogBatch, index: usize) {
        for (field, (period, name)) in self.slicing.fields.iter().enumerate() {
            let value = match batch.field(index, name) {
                Ok(Some(text)) => read(*period, text),
                Ok(None) => Value::Missing,
                Err(_) => Value::Unreadable,
            };
            let known = self.slicing.known.get(field);
            let number = match known.and_then(|known| known.get(&value)) {
                Some(number) => *number,
                None => {
                    self.new.push((field, value));
                    NEW + (self.new.len() - 1) as u32
                }
            };
            self.numbers.push(number);
        }
    }

    pub(super) fn with(self, waiting: Waiting) -> Sliced {
        Sliced {
            waiting,
            numbers: self.numbers,
            new: self.new,
        }
    }
}

fn read(period: Option<Period>, text: Cow<'_, str>) -> Value {
    match period {
        None => Value::Text(text.into_owned()),
        Some(period) => match period.of(&text) {
            Some(text) => Value::Text(text),
            None => Value::Unreadable,
        },
    }
}

fn wrong(what: impl Into<String>) -> Error {
    Error::setting("by", what)
}

impl Slicing {
    pub(super) fn new(settings: &ScanSettings, classes: usize) -> Self {
        let field = |by: &By| match by {
            By::Field { period, name } => Some((*period, name.clone())),
            By::Evidence => None,
        };
        let fields: Vec<_> = settings.by.iter().filter_map(field).collect();
        let part_fields = fields_of_parts(fields.len(), settings.segments);
        Slicing {
            known: vec![HashMap::new(); fields.len()],
            parts: part_fields.iter().map(|_| Growing::default()).collect(),
            sources: settings.by.contains(&By::Evidence).then(Growing::default),
            part_fields,
            fields,
            classes,
            bins: settings.bins,
            limits: *settings.answerer.limits(),
        }
    }

    /// What waits for slices, empty.
    pub(super) fn waiting(&self) -> Waiting {
        Waiting {
            sliced: true,
            sources: self.sources.is_some().then(Vec::new),
            ..Waiting::default()
        }
    }

    pub(super) fn values(&self) -> Values<'_> {
        Values {
            slicing: self,
            numbers: Vec::new(),
            new: Vec::new(),
        }
    }

    /// Adds the rows of a batch.
    ///
    /// # Errors
    /// Where there are more slices than the limit allows, or a value is too long for the name of one.
    pub(super) fn add(&mut self, mut batch: Vec<Sliced>) -> Result<()> {
        for sliced in &mut batch {
            self.number(sliced)?;
        }
        for part in 0..self.parts.len() {
            self.add_part(part, &batch)?;
        }
        self.add_sources(&batch)
    }

    /// Gives numbers to values that have none.
    fn number(&mut self, sliced: &mut Sliced) -> Result<()> {
        let mut given = Vec::with_capacity(sliced.new.len());
        for (field, value) in sliced.new.drain(..) {
            check_length(&value)?;
            let Some(known) = self.known.get_mut(field) else {
                continue;
            };
            let next = known.len() as u32;
            given.push(*known.entry(value).or_insert(next));
            let within = self.limits.slices(known.len() as u64);
            within.map_err(|error| wrong(error.to_string()))?;
        }
        for number in sliced.numbers.iter_mut().filter(|number| **number >= NEW) {
            *number = given[(*number - NEW) as usize];
        }
        Ok(())
    }

    /// That one slice more is within the limits.
    fn check(&self) -> Result<()> {
        let parts = self.parts.iter().map(|part| part.slices.len());
        let sources = self.sources.as_ref().map_or(0, |s| s.slices.len());
        let count = parts.sum::<usize>() + sources + 1;
        let within = self.limits.slices(count as u64);
        within.map_err(|error| wrong(error.to_string()))?;
        if count * (self.classes + 1) * self.bins > MOST_BINS {
            let (classes, bins) = (self.classes, self.bins);
            return Err(wrong(format!(
                "{count} slices of {classes} classes in {bins} bins are too many; use fewer bins, or a \
                 field with fewer values"
            )));
        }
        Ok(())
    }

    fn add_part(&mut self, part: usize, batch: &[Sliced]) -> Result<()> {
        let width = self.fields.len();
        let fields = self.part_fields[part].clone();
        let mut places: Vec<Vec<u32>> = Vec::with_capacity(batch.len());
        let mut key = Vec::with_capacity(2);
        for sliced in batch {
            let mut of_rows = Vec::with_capacity(sliced.numbers.len() / width.max(1));
            for numbers in sliced.numbers.chunks(width.max(1)) {
                key.clear();
                key.extend(fields.iter().map(|&field| numbers[field]));
                let place = match self.parts[part].places.get(&key) {
                    Some(place) => *place,
                    None => {
                        self.check()?;
                        let slice = Slice::new(self.classes, self.bins)?;
                        let growing = &mut self.parts[part];
                        growing.slices.push(slice);
                        let place = growing.slices.len() - 1;
                        growing.places.insert(key.clone(), place);
                        place
                    }
                };
                of_rows.push(place as u32);
            }
            places.push(of_rows);
        }
        let classes = self.classes;
        share_out(&mut self.parts[part].slices, |own, slices, first| {
            for (sliced, places) in batch.iter().zip(&places) {
                let rows = sliced.waiting.rows.iter().zip(&sliced.waiting.entities);
                let probabilities = sliced.waiting.probabilities.chunks(classes.max(1));
                for (((row, entity), p), of_row) in rows.zip(probabilities).zip(places) {
                    let place = *of_row as usize;
                    if own.contains(&place) {
                        slices[place - first].add(*entity, p, *row)?;
                    }
                }
            }
            Ok(())
        })
    }

    fn add_sources(&mut self, batch: &[Sliced]) -> Result<()> {
        if self.sources.is_none() {
            return Ok(());
        }
        let mut found: Vec<(usize, &SourcePart, Option<u64>, usize)> = Vec::new();
        for sliced in batch {
            let waiting = &sliced.waiting;
            for (at, parts) in waiting.sources.iter().flatten() {
                let row = waiting.rows.get(*at).zip(waiting.entities.get(*at));
                let Some((row, entity)) = row else { continue };
                for part in parts {
                    let place = self.source(&part.id)?;
                    found.push((place, part, *entity, row.label));
                }
            }
        }
        let Some(sources) = &mut self.sources else {
            return Ok(());
        };
        share_out(&mut sources.slices, |own, slices, first| {
            for (place, part, entity, label) in &found {
                if own.contains(place) {
                    slices[place - first].add(part, *entity, *label)?;
                }
            }
            Ok(())
        })
    }

    /// The place of a source.
    fn source(&mut self, id: &Value) -> Result<usize> {
        let known = self.sources.as_ref().and_then(|s| s.places.get(id));
        if let Some(place) = known {
            return Ok(*place);
        }
        check_length(id)?;
        self.check()?;
        let source = Source::new(self.classes, self.bins)?;
        let sources = self.sources.get_or_insert_default();
        sources.slices.push(source);
        let place = sources.slices.len() - 1;
        sources.places.insert(id.clone(), place);
        Ok(place)
    }

    /// All slices, by rising values.
    pub(super) fn finish(self) -> Slices {
        let names: Vec<Vec<Value>> = self
            .known
            .into_iter()
            .map(|known| {
                let mut names: Vec<(u32, Value)> =
                    known.into_iter().map(|(value, i)| (i, value)).collect();
                names.sort();
                names.into_iter().map(|(_, value)| value).collect()
            })
            .collect();
        let part = |(fields, growing): (Vec<usize>, Growing<Vec<u32>, Slice>)| {
            let mut keys: Vec<(Vec<u32>, usize)> = growing.places.into_iter().collect();
            keys.sort_by_key(|(_, place)| *place);
            let named = keys.into_iter().map(|(key, _)| {
                let pairs = fields.iter().zip(key);
                pairs
                    .map(|(&field, number)| names[field][number as usize].clone())
                    .collect()
            });
            let mut slices: Vec<(Vec<Value>, Slice)> = named.zip(growing.slices).collect();
            slices.sort_by(|a, b| a.0.cmp(&b.0));
            Part { fields, slices }
        };
        let sources = self.sources.unwrap_or_default();
        let mut ids: Vec<(Value, usize)> = sources.places.into_iter().collect();
        ids.sort_by_key(|(_, place)| *place);
        let ids = ids.into_iter().map(|(id, _)| id);
        let mut sources: Vec<(Value, Source)> = ids.zip(sources.slices).collect();
        sources.sort_by(|a, b| a.0.cmp(&b.0));
        Slices {
            parts: self
                .part_fields
                .into_iter()
                .zip(self.parts)
                .map(part)
                .collect(),
            sources,
        }
    }
}

fn check_length(value: &Value) -> Result<()> {
    match value {
        Value::Text(text) if text.len() > LONGEST => Err(wrong(format!(
            "a value of {} bytes; slices are made by fields with few short values, of up to {LONGEST} \
             bytes",
            text.len()
        ))),
        _ => Ok(()),
    }
}

/// Runs `work` on every thread with a part of the slices: their places, the slices, and the first place.
fn share_out<T: Send>(
    slices: &mut [T],
    work: impl Fn(std::ops::Range<usize>, &mut [T], usize) -> Result<()> + Sync,
) -> Result<()> {
    let share = slices
        .len()
        .div_ceil(rayon::current_num_threads().max(1))
        .max(1);
    slices
        .par_chunks_mut(share)
        .enumerate()
        .try_for_each(|(i, part)| {
            let first = i * share;
            work(first..first + part.len(), part, first)
        })
}
