//! Maps fitted to any number of rows, in bounded memory and one pass.
//!
//! | what is fitted | what is kept of the rows | what that costs |
//! |---|---|---|
//! | histogram | counts | nothing |
//! | isotonic | confidences in [cells](super::cells) with their hits | nothing up to 262,144 different confidences; beyond, see below |
//! | conformal | scores in such cells, by class where asked for | nothing up to as many; beyond, a threshold that is larger than it need be |
//! | temperature, platt, beta, vector, dirichlet, auto | up to so many numbers, all rows; beyond, a random sample of them | nothing; beyond, see below |
//!
//! **Cells, isotonic.** Let `f` be the best function that never falls, and `g` in each cell the mean of `f`
//! over its rows, which never falls either. Row by row `(y − g)² − (y − f)² = (f − g)(2y − f − g)`, where
//! the second factor is at most 2 and the first at most what `f` rises by within the cell. Over all cells
//! `f` rises by at most 1. So the sum of squares of `g`, and all the more that of what is fitted, the best
//! function of cells, exceeds the least by at most twice the number of rows in one cell: in the mean, by
//! twice the largest share of rows in a cell whose confidences are not all equal.
//!
//! **Cells, conformal.** The threshold is the largest score of the cell that holds the one asked for: a score
//! of a later rank, so that the coverage holds as it is asked for, and exceeds what ranks give by at most
//! the share of rows in that cell.
//!
//! **Sample.** The rows with the smallest hashes, `m` of `n`: hashes of the entity's name and of what the row
//! says, or of its number where it has no name. A maximum of likelihood over `p` parameters on a simple
//! random sample has a mean log loss on all rows that exceeds the least by `p/2·(1/m − 1/n)` nats, to
//! first order and if the family holds (White 1982 for what else it is). What the map is worth is judged on
//! other rows in any case.

use std::fmt;

use serde::Serialize;

use super::cells::{Cell, Cells, MOST, most_united};
use super::choice::{Candidate, candidates};
use super::conformal::{ConformalSets, ConformalSettings};
use super::histogram::HistogramMap;
use super::isotonic::IsotonicMap;
use super::map::{CalibrationMap, MapMethod, MapShape, Seen};
use super::map_error::MapError;
use crate::latent::random::{content_key, text_key};
use crate::simplex::Distribution;

/// What is to be fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// A map of this kind.
    Map(MapMethod),
    /// Prediction sets.
    Sets(ConformalSettings),
    /// The kind of map with the least cross-validated log loss; see [`choose`](super::choose).
    Best {
        /// The histogram that is tried.
        histogram: MapMethod,
        /// Seed of the folds.
        seed: u64,
    },
}

/// A row to fit to.
#[derive(Clone, Debug)]
pub struct FitRow {
    /// The prediction.
    pub prediction: Distribution,
    /// Position of the true class.
    pub label: usize,
    /// The hash of its entity's name, or of all that it says: rows of one key are in one fold.
    pub key: u64,
    /// Its number, where it has no name by which a sample could choose it.
    pub number: Option<u64>,
}

/// What was fitted.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The map.
    pub map: CalibrationMap,
    /// What was tried, where the best was to be found.
    pub candidates: Option<Vec<Candidate>>,
    /// What is known of the rows that could not all be kept; none where nothing was lost.
    pub bounded: Option<Bounded>,
}

/// What a fit in bounded memory costs at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Bounded {
    /// A sample of the rows was fitted to.
    Sample {
        /// Rows of the sample.
        rows: u64,
        /// All rows.
        of: u64,
        /// Expected excess of the mean log loss over the least, to first order, in nats.
        log_loss: f64,
    },
    /// The kind of map was chosen on a sample of the rows, and fitted on all.
    Choice {
        /// Rows of the sample.
        rows: u64,
        /// All rows.
        of: u64,
    },
    /// Neighbouring confidences were taken for equal.
    Confidences {
        /// The mean squared error exceeds the least by at most this.
        squared_error: f64,
    },
    /// The threshold is a little larger than it need be.
    Scores {
        /// The coverage exceeds what was asked for by at most this.
        coverage: f64,
    },
}

impl fmt::Display for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bounded::Sample { rows, of, log_loss } => write!(
                f,
                "fitted on a sample of {rows} of {of} rows, which costs about {log_loss:.1e} nats of log \
                 loss; a higher limit fit-numbers keeps more"
            ),
            Bounded::Choice { rows, of } => write!(
                f,
                "chosen on a sample of {rows} of {of} rows; a higher limit fit-numbers keeps more"
            ),
            Bounded::Confidences { squared_error } => write!(
                f,
                "neighbouring confidences were taken for equal, which costs at most {squared_error:.1e} of \
                 mean squared error"
            ),
            Bounded::Scores { coverage } => write!(
                f,
                "neighbouring scores were taken for equal, which raises the coverage by at most {coverage:.1e}"
            ),
        }
    }
}

/// Rows on their way into a map.
#[derive(Debug)]
pub struct Fitting {
    wanted: Wanted,
    classes: usize,
    rows: u64,
    seen: Seen,
    /// Hits and rows by bin.
    counts: Vec<(u64, u64)>,
    confidences: Option<Cells>,
    /// How many cells of scores there may be.
    cells: usize,
    /// One for all rows, or one for each class.
    scores: Vec<Cells>,
    sample: Option<Sample>,
    /// A confidence above one, which histograms and isotonic maps have no place for.
    outside: Option<f64>,
}

impl Fitting {
    /// Nothing yet. Of rows that are fitted to as they are, up to `numbers` numbers are kept: the
    /// probabilities, and eight more for each row.
    ///
    /// # Errors
    /// Where what is wanted cannot be fitted to any rows.
    pub fn new(wanted: Wanted, numbers: u64) -> Result<Self, MapError> {
        Fitting::within(wanted, numbers, MOST)
    }

    /// The same with so many cells at most.
    fn within(wanted: Wanted, numbers: u64, cells: usize) -> Result<Self, MapError> {
        let (mut histogram, mut isotonic, mut sampled) = (None, false, false);
        match wanted {
            Wanted::Map(method @ MapMethod::Histogram { .. }) => histogram = Some(method),
            Wanted::Map(MapMethod::Isotonic) => isotonic = true,
            Wanted::Map(MapMethod::Temperature | MapMethod::LogLinear(_)) => sampled = true,
            Wanted::Sets(settings) => settings.check()?,
            Wanted::Best {
                histogram: method, ..
            } => (histogram, isotonic, sampled) = (Some(method), true, true),
        }
        let counts = match histogram {
            Some(MapMethod::Histogram { bins }) => HistogramMap::empty(bins)?,
            _ => Vec::new(),
        };
        Ok(Fitting {
            wanted,
            classes: 0,
            rows: 0,
            seen: Seen::default(),
            counts,
            confidences: isotonic.then(|| Cells::of_most(cells)),
            cells,
            scores: Vec::new(),
            sample: sampled.then(|| Sample::new(numbers)),
            outside: None,
        })
    }

    /// How many rows were added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Over how many classes they are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Where it has other classes than the first.
    pub fn add(&mut self, row: FitRow) -> Result<(), MapError> {
        let p = &row.prediction;
        if self.rows == 0 {
            self.classes = p.classes();
        }
        if p.classes() != self.classes || row.label >= self.classes {
            return Err(MapError::Row {
                row: self.rows as usize,
                classes: self.classes,
            });
        }
        self.rows += 1;
        self.seen.add(p);
        let (confidence, right) = (*p.confidence(), p.argmax() == row.label);
        if !(0.0..=1.0).contains(&confidence) {
            self.outside.get_or_insert(confidence);
        } else {
            if !self.counts.is_empty() {
                HistogramMap::count(&mut self.counts, confidence, right)?;
            }
            if let Some(cells) = &mut self.confidences {
                cells.add(confidence, right);
            }
        }
        if let Wanted::Sets(settings) = self.wanted {
            let places = if settings.by_class { self.classes } else { 1 };
            if self.scores.is_empty() {
                self.scores = vec![Cells::of_most(self.cells); places];
            }
            let place = if settings.by_class { row.label } else { 0 };
            if let Some(cells) = self.scores.get_mut(place) {
                cells.add(settings.score.of(p, row.label), false);
            }
        }
        if let Some(sample) = &mut self.sample {
            sample.add(row);
        }
        Ok(())
    }

    /// The map.
    ///
    /// # Errors
    /// [`MapError`], as [`CalibrationMap::fit`], [`ConformalSets::fit`] and [`choose`](super::choose).
    pub fn finish(mut self) -> Result<Fitted, MapError> {
        match (self.rows, self.classes) {
            (0, _) => return Err(MapError::Empty),
            (_, 1) => return Err(MapError::OneClass),
            _ => {}
        }
        let fitted = |map, bounded| Fitted {
            map,
            candidates: None,
            bounded,
        };
        match self.wanted {
            Wanted::Sets(settings) => {
                let (sets, coverage) = sets(settings, std::mem::take(&mut self.scores))?;
                let bounded = (coverage > 0.0).then_some(Bounded::Scores { coverage });
                Ok(fitted(CalibrationMap::conformal(sets), bounded))
            }
            Wanted::Map(method) => {
                let rows = self.sample.take().map(Sample::finish).unwrap_or_default();
                let (map, bounded) = self.map(method, &rows)?;
                Ok(fitted(map, bounded))
            }
            Wanted::Best { histogram, seed } => {
                let rows = self.sample.take().map(Sample::finish).unwrap_or_default();
                let keys: Vec<u64> = rows.iter().map(|row| row.key).collect();
                let (predictions, labels) = apart(&rows);
                let (best, tried) = candidates(histogram, &predictions, &labels, (seed, &keys));
                let (map, bounded) = match best {
                    Some(method) => self.map(method, &rows)?,
                    None => (CalibrationMap::identity(), None),
                };
                let of = self.rows;
                let rows = rows.len() as u64;
                let chosen = (rows < of).then_some(Bounded::Choice { rows, of });
                let bounded = bounded.or(chosen);
                Ok(Fitted {
                    map,
                    candidates: Some(tried),
                    bounded,
                })
            }
        }
    }

    /// A map of one kind from what is known of all rows, or from the rows of a sample.
    fn map(
        &mut self,
        method: MapMethod,
        sample: &[FitRow],
    ) -> Result<(CalibrationMap, Option<Bounded>), MapError> {
        let outside = |value: f64| MapError::Confidence { value };
        match (method, self.outside) {
            (MapMethod::Histogram { .. } | MapMethod::Isotonic, Some(value)) => Err(outside(value)),
            (MapMethod::Histogram { .. }, None) => {
                let counts = std::mem::take(&mut self.counts);
                let shape = MapShape::Histogram(HistogramMap::try_from(counts)?);
                Ok((CalibrationMap::of(self.seen, shape), None))
            }
            (MapMethod::Isotonic, None) => {
                let cells = self
                    .confidences
                    .take()
                    .map(Cells::finish)
                    .unwrap_or_default();
                let united = most_united(&cells);
                let groups = cells
                    .iter()
                    .map(|cell| (cell.low, cell.high, cell.hits, cell.count));
                let shape = MapShape::Isotonic(IsotonicMap::pooled(groups)?);
                let squared_error = 2.0 * united as f64 / self.rows as f64;
                let bounded = (united > 0).then_some(Bounded::Confidences { squared_error });
                Ok((CalibrationMap::of(self.seen, shape), bounded))
            }
            (MapMethod::Temperature | MapMethod::LogLinear(_), _) => {
                let (predictions, labels) = apart(sample);
                let map = CalibrationMap::fit_seen(method, &predictions, &labels, self.seen)?;
                let (m, n) = (sample.len() as f64, self.rows as f64);
                let parameters = match method {
                    MapMethod::LogLinear(family) => family.parameters(self.classes),
                    _ => 1,
                };
                let bounded = (m < n).then(|| Bounded::Sample {
                    rows: sample.len() as u64,
                    of: self.rows,
                    log_loss: parameters as f64 / 2.0 * (1.0 / m - 1.0 / n),
                });
                Ok((map, bounded))
            }
        }
    }
}

/// Thresholds, and by how much the coverage of any may exceed what was asked for.
fn sets(settings: ConformalSettings, scores: Vec<Cells>) -> Result<(ConformalSets, f64), MapError> {
    let mut most = 0.0f64;
    let mut thresholds = Vec::with_capacity(scores.len());
    for cells in scores {
        let cells = cells.finish();
        let points = cells.iter().map(|cell| cell.count).sum();
        let found = settings.cell_of(points, cells.iter().map(|cell| cell.count))?;
        let found: Option<&Cell> = found.and_then(|at| cells.get(at));
        if let Some(cell) = found
            && cell.low < cell.high
        {
            most = most.max((cell.count - 1) as f64 / (points as f64 + 1.0));
        }
        thresholds.push((found.map(|cell| cell.high), points));
    }
    Ok((ConformalSets::of(settings, thresholds), most))
}

/// Predictions and labels, as fits take them.
fn apart(rows: &[FitRow]) -> (Vec<Distribution>, Vec<usize>) {
    rows.iter()
        .map(|row| (row.prediction.clone(), row.label))
        .unzip()
}

/// The rows with the smallest hashes.
#[derive(Debug)]
struct Sample {
    numbers: u64,
    rows: Vec<(u64, FitRow)>,
    /// Rows with larger hashes are not kept.
    largest: u64,
}

impl Sample {
    fn new(numbers: u64) -> Self {
        Sample {
            numbers,
            rows: Vec::new(),
            largest: u64::MAX,
        }
    }

    /// How many rows like this are kept.
    fn most(&self, row: &FitRow) -> usize {
        let numbers = row.prediction.classes() as u64 + 8;
        usize::try_from(self.numbers / numbers)
            .unwrap_or(usize::MAX)
            .max(1)
    }

    fn add(&mut self, row: FitRow) {
        let rank = rank(&row);
        if rank > self.largest {
            return;
        }
        let most = self.most(&row);
        self.rows.push((rank, row));
        // Cut seldom, as it goes through all of them.
        if self.rows.len() > most.saturating_add(most / 4) {
            self.cut(most);
        }
    }

    fn cut(&mut self, most: usize) {
        if self.rows.len() > most {
            let (_, last, _) = self
                .rows
                .select_nth_unstable_by_key(most - 1, |(rank, _)| *rank);
            self.largest = last.0;
            self.rows.truncate(most);
        }
    }

    fn finish(mut self) -> Vec<FitRow> {
        if let Some(most) = self.rows.first().map(|(_, row)| self.most(row)) {
            self.cut(most);
        }
        self.rows.into_iter().map(|(_, row)| row).collect()
    }
}

/// The hash by which a sample takes rows, which has nothing to do with that of splits and folds.
fn rank(row: &FitRow) -> u64 {
    const PURPOSE: u64 = text_key("calibration sample");
    let own = match row.number {
        Some(number) => number,
        None => content_key(&[row.prediction.probabilities(), &[row.label as f64]]),
    };
    // The finalizer of MurmurHash3, after each part.
    let mix = |hash: u64| {
        let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ hash >> 33
    };
    mix(mix(row.key ^ PURPOSE).wrapping_add(own))
}

#[cfg(test)]
mod tests;
