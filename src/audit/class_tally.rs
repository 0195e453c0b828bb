//! What is kept of each class: how its probabilities rank the rows, and which class was named for it.
//!
//! The probabilities of a class lie in cells of equal width, closed on the right, with a count of the
//! rows in which the class was true and of those in which it was not. Rows of one cell count as ties, so
//! that an area is known to half of the pairs that share a cell ([`Ranking::auroc`]): the error is
//! computed from the counts, not guessed from the width.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::grid::cell_of;

/// Cells of all classes together, as long as a class has [`FEWEST`] or more.
const CELLS: usize = 1 << 16;
/// Fewer cells than this are not enough for a curve.
const FEWEST: usize = 64;
/// A table of named against true classes is kept up to so many classes.
pub(super) const MOST_CONFUSED: usize = 64;

/// Counts of one cell: rows in which the class was true, and others.
type Pair = (u64, u64);

/// Counts by class.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct ClassTally {
    classes: usize,
    /// The cells of class 0, then those of class 1, and so on; without the rows in `latest`.
    cells: Vec<Pair>,
    /// The same of the latest rows, in half the bytes, so that more of it is near.
    latest: Vec<[u32; 2]>,
    /// How many rows these are.
    rows: u32,
    /// Rows of true class `i` for which class `j` was named, at `i·n + j`; empty with many classes.
    confusion: Vec<u64>,
    /// Rows for which each class was rightly named.
    hits: Vec<u64>,
}

/// How counts are stored: cells that are not empty, with their position.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    classes: usize,
    cells: Vec<(usize, u64, u64)>,
    confusion: Vec<u64>,
    hits: Vec<u64>,
}

impl PartialEq for ClassTally {
    fn eq(&self, other: &Self) -> bool {
        self.classes == other.classes
            && self
                .pairs(0..self.cells.len())
                .eq(other.pairs(0..other.cells.len()))
            && self.confusion == other.confusion
            && self.hits == other.hits
    }
}

impl From<ClassTally> for Stored {
    fn from(tally: ClassTally) -> Self {
        let cells = tally.pairs(0..tally.cells.len()).enumerate();
        let filled = cells.filter(|(_, pair)| *pair != (0, 0));
        Stored {
            classes: tally.classes,
            cells: filled.map(|(i, pair)| (i, pair.0, pair.1)).collect(),
            confusion: tally.confusion,
            hits: tally.hits,
        }
    }
}

impl TryFrom<Stored> for ClassTally {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        if stored.classes > super::scan::MAX_CLASSES {
            return Err("too many classes");
        }
        let mut tally = ClassTally::new(stored.classes);
        if stored.confusion.len() != tally.confusion.len() || stored.hits.len() != stored.classes {
            return Err("counts of other classes");
        }
        for (i, positive, negative) in stored.cells {
            let cell = tally.cells.get_mut(i).ok_or("a cell beyond the last")?;
            if *cell != (0, 0) || positive.max(negative) > 1 << 44 {
                return Err("a cell that no rows have");
            }
            *cell = (positive, negative);
        }
        tally.confusion = stored.confusion;
        tally.hits = stored.hits;
        Ok(tally)
    }
}

/// How many cells a class has, of so many classes.
fn cells_of(classes: usize) -> usize {
    (CELLS / classes.max(1).next_power_of_two()).max(FEWEST)
}

impl ClassTally {
    /// No rows yet.
    pub(super) fn new(classes: usize) -> Self {
        let confused = if classes <= MOST_CONFUSED {
            classes * classes
        } else {
            0
        };
        ClassTally {
            classes,
            cells: vec![(0, 0); classes * cells_of(classes)],
            latest: vec![[0; 2]; classes * cells_of(classes)],
            rows: 0,
            confusion: vec![0; confused],
            hits: vec![0; classes],
        }
    }

    /// The counts of some cells.
    fn pairs(&self, cells: Range<usize>) -> impl DoubleEndedIterator<Item = Pair> {
        let all = self.cells.get(cells.clone()).unwrap_or_default();
        let latest = self.latest.get(cells).unwrap_or_default();
        let counts = all.iter().zip(latest);
        counts.map(|(all, [p, n])| (all.0 + u64::from(*p), all.1 + u64::from(*n)))
    }

    /// Makes room for as many rows as fit 32 bits.
    fn settle(&mut self) {
        for (all, latest) in self.cells.iter_mut().zip(&mut self.latest) {
            let [p, n] = std::mem::take(latest);
            *all = (all.0 + u64::from(p), all.1 + u64::from(n));
        }
        self.rows = 0;
    }

    /// Adds a prediction that names class `named`, with entries in `[0, 1]`.
    #[inline]
    pub(super) fn add(&mut self, p: &[f64], named: usize, label: usize) {
        if self.rows == u32::MAX {
            self.settle();
        }
        self.rows += 1;
        let width = cells_of(self.classes);
        for (class, (x, cells)) in p.iter().zip(self.latest.chunks_mut(width)).enumerate() {
            if let Some([positive, negative]) = cells.get_mut(cell_of(*x, width)) {
                let truth = u32::from(class == label);
                *positive += truth;
                *negative += 1 - truth;
            }
        }
        if let Some(count) = self.confusion.get_mut(label * self.classes + named) {
            *count += 1;
        }
        if named == label
            && let Some(count) = self.hits.get_mut(label)
        {
            *count += 1;
        }
    }

    /// Adds everything that `other` holds; `None` where a count overflows.
    pub(super) fn merge(&mut self, other: &ClassTally) -> Option<()> {
        self.settle();
        let others = other.pairs(0..other.cells.len());
        for (a, b) in self.cells.iter_mut().zip(others) {
            *a = (a.0.checked_add(b.0)?, a.1.checked_add(b.1)?);
        }
        let mine = self.confusion.iter_mut().chain(&mut self.hits);
        for (a, b) in mine.zip(other.confusion.iter().chain(&other.hits)) {
            *a = a.checked_add(*b)?;
        }
        Some(())
    }

    /// Whether all classes have these labels, and the named classes these counts.
    pub(super) fn fits(&self, labels: &[u64], predicted: &[u64]) -> bool {
        let n: u64 = labels.iter().sum();
        let ranked = |(class, label): (usize, &u64)| {
            let ranking = self.ranking(class);
            ranking.positives == *label && ranking.positives + ranking.negatives == n
        };
        let by_label = self.confusion.chunks(self.classes.max(1)).zip(labels);
        let confused = by_label.into_iter().all(|(row, label)| {
            row.iter().try_fold(0u64, |a, b| a.checked_add(*b)) == Some(*label)
        });
        let bounds = labels.iter().zip(predicted);
        let hits = self
            .hits
            .iter()
            .zip(bounds)
            .all(|(h, (l, p))| h <= l && h <= p);
        self.classes == labels.len() && labels.iter().enumerate().all(ranked) && confused && hits
    }

    /// How the probabilities of a class rank the rows.
    pub(super) fn ranking(&self, class: usize) -> Ranking {
        let width = cells_of(self.classes);
        let mut cells: Vec<(f64, Pair)> = self
            .pairs(class * width..(class + 1) * width)
            .enumerate()
            .filter(|(_, pair)| *pair != (0, 0))
            .map(|(i, pair)| (i as f64 / width as f64, pair))
            .collect();
        cells.reverse();
        Ranking {
            positives: cells.iter().map(|(_, pair)| pair.0).sum(),
            negatives: cells.iter().map(|(_, pair)| pair.1).sum(),
            cells,
        }
    }

    /// Rows by true and by named class; none with many classes.
    pub(super) fn confusion(&self) -> Vec<Vec<u64>> {
        let rows = self.confusion.chunks(self.classes.max(1));
        rows.map(<[u64]>::to_vec).collect()
    }

    /// Rows for which a class was rightly named.
    pub(super) fn hits(&self, class: usize) -> u64 {
        self.hits.get(class).copied().unwrap_or(0)
    }
}

/// The rows of a log by falling probability of one class.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    /// Rows in which the class was true.
    pub positives: u64,
    /// Other rows.
    pub negatives: u64,
    /// The lower end of each cell that is not empty, and its rows; the highest first.
    cells: Vec<(f64, Pair)>,
}

impl Ranking {
    /// The area under the ROC curve, and how far it may be off as rows of a cell count as ties: with `p`
    /// and `q` rows of both kinds in a cell, `Σ p·q` pairs count as half right, each at most half wrong.
    /// None where all rows are of one kind.
    pub(super) fn auroc(&self) -> Option<(f64, f64)> {
        if self.positives == 0 || self.negatives == 0 {
            return None;
        }
        // Twice the number of pairs in the right order: integers, below 2⁹⁰.
        let (mut above, mut right, mut tied) = (0u128, 0u128, 0u128);
        for (_, (p, q)) in &self.cells {
            let (p, q) = (u128::from(*p), u128::from(*q));
            right += q * (2 * above + p);
            tied += p * q;
            above += p;
        }
        let pairs = 2.0 * self.positives as f64 * self.negatives as f64;
        Some((right as f64 / pairs, tied as f64 / pairs))
    }

    /// The area under the curve of precision over recall, as a sum of steps: `Σ (Rᵢ − Rᵢ₋₁)·Pᵢ`. With
    /// it the ends that it has for every order within the cells: the precision at any row of a cell lies
    /// between those with all wrong rows of the cell first and with all right rows first.
    pub(super) fn average_precision(&self) -> Option<(f64, f64, f64)> {
        if self.positives == 0 {
            return None;
        }
        let (mut t, mut f) = (0.0, 0.0);
        let (mut area, mut low, mut high) = (0.0, 0.0, 0.0);
        for (_, (p, q)) in &self.cells {
            let (p, q) = (*p as f64, *q as f64);
            if p > 0.0 {
                area += p * (t + p) / (t + p + f + q);
                low += p * (t + 1.0) / (t + 1.0 + f + q);
                high += p * (t + p) / (t + p + f);
            }
            t += p;
            f += q;
        }
        let n = self.positives as f64;
        Some((area / n, low / n, high / n))
    }

    /// Points of both curves, at most `most`: probability, false and true positive rate, precision.
    pub(super) fn points(&self, most: usize) -> Vec<[f64; 4]> {
        let step = self.cells.len().div_ceil(most).max(1);
        let (mut t, mut f) = (0u64, 0u64);
        let mut out = Vec::new();
        for (i, (edge, (p, q))) in self.cells.iter().enumerate() {
            t += p;
            f += q;
            if (i + 1) % step == 0 || i + 1 == self.cells.len() {
                let rate = |x: u64, of: u64| x as f64 / of.max(1) as f64;
                let rates = (rate(f, self.negatives), rate(t, self.positives));
                out.push([*edge, rates.0, rates.1, rate(t, t + f)]);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: all pairs, ties counted as half.
    fn area(rows: &[(f64, bool)]) -> f64 {
        let (mut right, mut pairs) = (0.0, 0.0);
        for (x, _) in rows.iter().filter(|row| row.1) {
            for (y, _) in rows.iter().filter(|row| !row.1) {
                right += if x > y {
                    1.0
                } else if x == y {
                    0.5
                } else {
                    0.0
                };
                pairs += 1.0;
            }
        }
        right / pairs
    }

    #[test]
    fn areas_are_those_of_all_pairs_within_the_error_that_is_stated() {
        let mut state = 7u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 24)
        };
        for classes in [2, 900] {
            let mut tally = ClassTally::new(classes);
            let rows: Vec<(f64, bool)> = (0..400)
                .map(|_| {
                    let x = next();
                    (x, next() < x)
                })
                .collect();
            for (x, truth) in &rows {
                let mut p = vec![0.0; classes];
                (p[0], p[1]) = (1.0 - x, *x);
                tally.add(&p, usize::from(*x > 0.5), usize::from(*truth));
            }
            let ranking = tally.ranking(1);
            let (found, error) = ranking.auroc().unwrap();
            assert!(
                (found - area(&rows)).abs() <= error + 1e-12,
                "{found} {error}"
            );
            // With 64 cells for 400 rows the error is not nothing, with 32,768 it nearly is.
            assert!(if classes == 2 {
                error < 2e-4
            } else {
                error > 1e-3
            });
            let (ap, low, high) = ranking.average_precision().unwrap();
            assert!(low <= ap && ap <= high);
            let text = serde_json::to_string(&tally).unwrap();
            assert_eq!(serde_json::from_str::<ClassTally>(&text).unwrap(), tally);
        }
        assert_eq!(ClassTally::new(2).ranking(0).auroc(), None);
    }

    /// Rows that were put aside count like the latest, wherever they are looked at.
    #[test]
    fn settling_changes_nothing() {
        let mut tally = ClassTally::new(2);
        for (x, label) in [(0.5, 0), (0.25, 1), (0.25, 1)] {
            tally.add(&[1.0 - x, x], 1, label);
        }
        let mut settled = tally.clone();
        settled.rows = u32::MAX;
        for tally in [&mut tally, &mut settled] {
            tally.add(&[0.5, 0.5], 0, 0);
        }
        assert_eq!((tally.rows, settled.rows), (4, 1));
        assert_eq!(tally, settled);
        assert_eq!(tally.ranking(1).auroc(), settled.ranking(1).auroc());
        let text = serde_json::to_string(&settled).unwrap();
        assert_eq!(text, serde_json::to_string(&tally).unwrap());
        assert!(settled.fits(&[2, 2], &[1, 3]));
        let mut twice = tally.clone();
        twice.merge(&settled).unwrap();
        settled.merge(&tally).unwrap();
        assert_eq!(twice, settled);
        assert_eq!(twice.ranking(0).positives, 4);
    }

    #[test]
    fn ties_count_as_half() {
        let mut tally = ClassTally::new(2);
        for (x, label) in [(0.5, 0), (0.5, 1), (0.25, 0), (0.75, 1)] {
            tally.add(&[1.0 - x, x], 1, label);
        }
        // Of four pairs three are in the right order and one is tied.
        assert_eq!(tally.ranking(1).auroc(), Some((0.875, 0.125)));
        assert_eq!(tally.confusion(), [[0, 2], [0, 2]]);
        assert!(tally.fits(&[2, 2], &[0, 4]) && !tally.fits(&[1, 3], &[0, 4]));
    }
}
