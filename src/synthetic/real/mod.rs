//! Two sets of real evidence, embedded: several views of one thing, and its class.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | [`RealSet`], [`REAL`]: what the sets are; [`RealData`]: their numbers, and records of them |
//! | `packed` | the columns of `digits.bin` and `phishing.bin` |
//! | `recorded` | [`Recorded`]: what other people's methods say about the entities to be judged by |
//! | `make.py` | made these two files; `ORIGIN.md` says from what, and under which licence |
//! | `baselines.py` | recorded `baselines.txt`: other people's methods on the same entities |
//!
//! Entities stand in an order that owes nothing to their classes. The first of them are to learn from,
//! the others to be judged by: [`RealData::learning`], [`RealData::judging`].

mod packed;
mod recorded;

use std::ops::Range;

use crate::log::{Evidence, Label, Record};
use crate::math::ExactSum;
use crate::model::Corpus;
use crate::simplex::SimplexError;

pub use packed::PackedError;
pub use recorded::Recorded;

/// One view of an entity: an item of its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Its name, the id of the item.
    pub name: &'static str,
    /// How many columns it has.
    pub columns: usize,
    /// How its numbers become the numbers that an encoder takes.
    pub kind: ViewKind,
}

/// How the numbers of a view become those that an encoder takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// Measurements: each less its mean, over its standard deviation (both of the entities to learn from),
    /// over the root of the number of columns, so that all views are of about the same length.
    Measured,
    /// Answers 0, ½ or 1 to a question: a one at the place of the answer, zeros elsewhere.
    Answered,
}

impl View {
    /// How many numbers the encoder takes for it.
    fn width(&self) -> usize {
        match self.kind {
            ViewKind::Measured => self.columns,
            ViewKind::Answered => ANSWERS * self.columns,
        }
    }
}

/// 0, ½ and 1.
const ANSWERS: usize = 3;

/// Length of an item's numbers, roughly.
const LENGTH: f64 = 4.0;

/// A set of real evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealSet {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Whom to name.
    pub attribution: &'static str,
    /// Names of the classes.
    pub classes: &'static [&'static str],
    /// The views, one item of evidence each.
    pub views: &'static [View],
    entities: usize,
    learning: usize,
    packed: &'static [u8],
}

const fn measured(name: &'static str, columns: usize) -> View {
    View {
        name,
        columns,
        kind: ViewKind::Measured,
    }
}

const fn answered(name: &'static str) -> View {
    View {
        name,
        columns: 1,
        kind: ViewKind::Answered,
    }
}

/// The real sets.
pub const REAL: [RealSet; 2] = [
    RealSet {
        name: "digits",
        title: "handwritten numerals from Dutch utility maps, in six views",
        attribution: "R. Duin, Multiple Features, UCI Machine Learning Repository, 1998, \
                      https://doi.org/10.24432/C5HC70, CC BY 4.0; numbers that are not whole are \
                      rounded to 8 bits, morphological ones to 16",
        classes: &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
        views: &[
            measured("fourier", 76),
            measured("profiles", 216),
            measured("karhunen", 64),
            measured("pixels", 240),
            measured("zernike", 47),
            measured("morphology", 6),
        ],
        entities: 2000,
        learning: 900,
        packed: include_bytes!("digits.bin"),
    },
    RealSet {
        name: "phishing",
        title: "web pages, phishing or not, by nine indicators",
        attribution: "N. Abdelhamid, Website Phishing, UCI Machine Learning Repository, 2014, \
                      https://doi.org/10.24432/C5B301, CC BY 4.0; the 1,250 of 1,353 pages that the \
                      package river keeps, with its names",
        classes: &["legitimate", "phishing"],
        views: &[
            answered("empty_server_form_handler"),
            answered("popup_window"),
            answered("https"),
            answered("request_from_other_domain"),
            answered("anchor_from_other_domain"),
            answered("is_popular"),
            answered("long_url"),
            answered("age_of_domain"),
            answered("ip_in_url"),
        ],
        entities: 1250,
        learning: 625,
        packed: include_bytes!("phishing.bin"),
    },
];

impl RealSet {
    /// The set with this name.
    pub fn named(name: &str) -> Option<&'static RealSet> {
        REAL.iter().find(|set| set.name == name)
    }

    /// How many entities there are.
    pub fn entities(&self) -> usize {
        self.entities
    }

    /// How many numbers an encoder takes: those of all views side by side. An item fills the places
    /// of its own view; the others are zero.
    pub fn dimension(&self) -> usize {
        self.views.iter().map(View::width).sum()
    }

    /// What methods of another program say about the entities to be judged by.
    ///
    /// # Errors
    /// [`SimplexError`] where the embedded file is not what it should be.
    pub fn recorded(&self) -> Result<Vec<Recorded>, SimplexError> {
        recorded::recorded(self.name)
    }

    /// Its numbers.
    ///
    /// # Errors
    /// [`PackedError`] where the embedded file is not what it should be.
    pub fn read(&'static self) -> Result<RealData, PackedError> {
        let views = self.views.iter().map(|view| view.columns);
        let mut columns = packed::columns(self.packed, self.entities, 2 + views.sum::<usize>())?;
        let numbers = columns.split_off(2);
        let whole = |column: &[f64]| column.iter().map(|&x| x as usize).collect::<Vec<_>>();
        let labels = whole(&columns[1]);
        if let Some(entity) = labels.iter().position(|&y| y >= self.classes.len()) {
            return Err(PackedError::Class { entity });
        }
        let scales = numbers.iter().map(|x| Scale::of(&x[..self.learning]));
        Ok(RealData {
            set: self,
            source: whole(&columns[0]),
            labels,
            scales: scales.collect(),
            numbers,
        })
    }
}

/// Mean and standard deviation of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    mean: f64,
    deviation: f64,
}

impl Scale {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().copied().collect::<ExactSum>().to_f64() / n;
        let squares: ExactSum = values.iter().map(|x| (x - mean) * (x - mean)).collect();
        Scale {
            mean,
            deviation: libm::sqrt(squares.to_f64() / n),
        }
    }

    /// A column that never varied where there was something to learn says nothing.
    fn apply(self, x: f64) -> f64 {
        if self.deviation > 0.0 {
            (x - self.mean) / self.deviation
        } else {
            0.0
        }
    }
}

/// The numbers of a [`RealSet`].
#[derive(Clone, Debug, PartialEq)]
pub struct RealData {
    /// Which set.
    pub set: &'static RealSet,
    /// Each entity's row in the source, counted from 0.
    pub source: Vec<usize>,
    /// Each entity's class.
    pub labels: Vec<usize>,
    /// Columns, view by view.
    numbers: Vec<Vec<f64>>,
    scales: Vec<Scale>,
}

impl RealData {
    /// The entities to learn from.
    pub fn learning(&self) -> Range<usize> {
        0..self.set.learning
    }

    /// The entities to be judged by; no model may have seen them.
    pub fn judging(&self) -> Range<usize> {
        self.set.learning..self.labels.len()
    }

    /// What an entity is called: the set, and its row in the source.
    pub fn entity_name(&self, entity: usize) -> String {
        format!("{}-{}", self.set.name, self.source[entity])
    }

    /// The numbers of an entity as the source has them, view by view, up to the rounding of columns
    /// that are not whole.
    pub fn numbers(&self, entity: usize) -> impl Iterator<Item = f64> + '_ {
        self.numbers.iter().map(move |column| column[entity])
    }

    /// What an encoder sees of an entity: a row of [`RealSet::dimension`] numbers for each view.
    pub fn embeddings(&self, entity: usize) -> Vec<f32> {
        let dimension = self.set.dimension();
        let mut rows = vec![0.0; self.set.views.len() * dimension];
        let (mut column, mut start) = (0, 0);
        for (view, row) in self.set.views.iter().zip(rows.chunks_exact_mut(dimension)) {
            for at in 0..view.columns {
                let x = self.numbers[column][entity];
                match view.kind {
                    ViewKind::Measured => {
                        let share = LENGTH / libm::sqrt(view.columns as f64);
                        row[start + at] = (share * self.scales[column].apply(x)) as f32;
                    }
                    ViewKind::Answered => {
                        let answer = (x * (ANSWERS - 1) as f64) as usize;
                        row[start + ANSWERS * at + answer.min(ANSWERS - 1)] = LENGTH as f32;
                    }
                }
                column += 1;
            }
            start += view.width();
        }
        rows
    }

    /// The record that `lpf generate` writes: items are called as the views, and have embeddings.
    pub fn record(&self, entity: usize) -> Record<'static> {
        let rows = self.embeddings(entity);
        let items = self.set.views.iter().zip(rows.chunks(self.set.dimension()));
        let item = |(view, row): (&View, &[f32])| Evidence {
            id: Some(view.name.into()),
            embedding: Some(row.iter().map(|&x| f64::from(x)).collect()),
            ..Evidence::default()
        };
        Record {
            entity: self.entity_name(entity).into(),
            label: Some(Label::Number(self.labels[entity] as u64)),
            classes: None,
            evidence: items.map(item).collect(),
        }
    }

    /// The first `count` entities to learn from, all of them where there are fewer.
    pub fn corpus(&self, count: usize) -> Corpus {
        let mut corpus = Corpus {
            classes: self.set.classes.iter().map(|&c| c.to_owned()).collect(),
            dimension: self.set.dimension(),
            ..Corpus::default()
        };
        for entity in self.learning().take(count) {
            corpus.push(&self.embeddings(entity), self.labels[entity]);
        }
        corpus
    }
}

#[cfg(test)]
mod tests;
