//! Proper scores of whole distributions, and everything about a set of predictions at once.

use std::sync::LazyLock;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{CalibrationError, Reliability};
use crate::math::lanes::{LANES, ln_lanes};
use crate::math::{BandedSum, ExactSum, ln};
use crate::simplex::Distribution;

/// Where a log loss is clipped, a true class is taken to have had at least this probability: without a
/// limit to what one row can cost, no number of rows bounds the mean.
pub(crate) const SMALLEST: f64 = 1e-4;

/// `−ln` of [`SMALLEST`].
static LARGEST: LazyLock<f64> = LazyLock::new(|| -ln(SMALLEST));

/// Predictions in one unit of parallel work.
const BLOCK: usize = 1 << 12;

/// Accuracy, Brier score, log loss and calibration of predicted distributions against true labels.
///
/// All that is kept are counts and exact sums, so any order, any shards and any number of threads
/// give the same bits.
///
/// | quantity | formula | range |
/// |---|---|---|
/// | accuracy | mean of `[argmax p = y]`, ties to the first class | `[0, 1]` |
/// | Brier | mean of `Σ_j (p_j − [j = y])²` | `[0, 2]` |
/// | log loss | mean of `−ln p_y` | `[0, ∞]` |
/// | ECE | of `(max p, [argmax p = y])` | `[0, 1]` |
/// | classwise ECE | mean over classes `j` of the ECE of `(p_j, [j = y])` | `[0, 1]` |
///
/// Beside the sums that these need, the sums of squares and the counts per class are kept from
/// which an audit draws intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// Confidence and correctness of the predicted class.
    pub(crate) top: Reliability,
    /// Probability and truth of each class.
    pub(crate) classwise: Vec<Reliability>,
    /// Sum of `Σ_j (p_j − [j = y])²`, and of its square.
    pub(crate) brier: [ExactSum; 2],
    /// Sum of `−ln p_y` where `p_y > 0`.
    pub(crate) log_loss: ExactSum,
    /// Sum of `−ln max(p_y, SMALLEST)`, and of its square.
    pub(crate) clipped: [ExactSum; 2],
    /// Sum of `−ln p_y − H(p)` where `p_y > 0`.
    pub(crate) excess: ExactSum,
    /// Sum of `−ln max(p_y, SMALLEST) − H(p)`, and of its square.
    pub(crate) clipped_excess: [ExactSum; 2],
    /// Predictions with `p_y = 0`.
    pub(crate) impossible: u64,
    /// How often each class was true.
    pub(crate) labels: Vec<u64>,
    /// How often each class was predicted.
    pub(crate) predicted: Vec<u64>,
}

/// The scores of one prediction that have a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RowScores {
    /// `−ln p_y`; none where that is infinite.
    pub loss: Option<f64>,
    /// The entropy of the prediction.
    pub entropy: f64,
    /// `Σ_j (p_j − [j = y])²`.
    pub brier: f64,
    /// `−ln max(p_y, SMALLEST)`.
    pub clipped: f64,
    /// That, less the entropy of the prediction.
    pub clipped_excess: f64,
}

/// A prediction with its scores, but for its probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScoredRow {
    /// The class that it names.
    pub named: usize,
    /// The true class.
    pub label: usize,
    pub scores: RowScores,
}

impl RowScores {
    /// The scores of a prediction with entries in `[0, 1]`.
    pub(crate) fn of(p: &[f64], label: usize) -> Self {
        let logs = p.iter().map(|&x| if x > 0.0 { ln(x) } else { 0.0 });
        RowScores::with_logs(p, logs, label)
    }

    /// The same with the logarithms of the entries, which count where these are positive.
    #[inline]
    fn with_logs(p: &[f64], logs: impl Iterator<Item = f64>, label: usize) -> Self {
        let (mut brier, mut entropy, mut loss) = (0.0, 0.0, None);
        for ((class, &x), log) in p.iter().enumerate().zip(logs) {
            let truth = class == label;
            let off = x - f64::from(u8::from(truth));
            brier += off * off;
            if x > 0.0 {
                entropy -= x * log;
                if truth {
                    loss = Some(-log);
                }
            }
        }
        let clipped = loss.map_or(*LARGEST, |loss: f64| loss.min(*LARGEST));
        RowScores {
            loss,
            entropy,
            brier,
            clipped,
            clipped_excess: clipped - entropy,
        }
    }

    /// The scores of predictions over `classes` classes with entries in `[0, 1]`, row by row in `p`.
    pub(crate) fn fill(rows: &mut [ScoredRow], p: &[f64], classes: usize) {
        let mut logs = p.to_vec();
        Arch::new().dispatch(Logarithms(&mut logs));
        let numbers = p.chunks_exact(classes.max(1));
        let numbers = numbers.zip(logs.chunks_exact(classes.max(1)));
        for (row, (p, logs)) in rows.iter_mut().zip(numbers) {
            row.scores = RowScores::with_logs(p, logs.iter().copied(), row.label);
        }
    }
}

/// Takes the logarithms of numbers. Wide vectors change nothing but the speed.
struct Logarithms<'a>(&'a mut [f64]);

impl WithSimd for Logarithms<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (groups, last) = self.0.as_chunks_mut();
        for group in groups {
            ln_lanes(group);
        }
        for x in last {
            *x = ln(*x);
        }
    }
}

/// Adds terms to a sum, those of ordinary size in vectors: the same sum as of all of them one by one.
struct AddTerms<'a> {
    sum: &'a mut ExactSum,
    terms: &'a mut [f64],
}

impl WithSimd for AddTerms<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // What a banded sum holds in one integer.
        const ORDINARY: std::ops::Range<f64> = 1.0 / (1u64 << 30) as f64..(1u64 << 14) as f64;
        let AddTerms { sum, terms } = self;
        for block in terms.chunks_mut(1 << 10) {
            let mut unusual = false;
            for x in block.iter() {
                unusual |= !(ORDINARY.contains(&x.abs()) | (*x == 0.0));
            }
            if unusual {
                for x in block.iter_mut() {
                    if !ORDINARY.contains(&x.abs()) {
                        sum.add(std::mem::take(x));
                    }
                }
            }
            let mut banded = BandedSum::new();
            let (groups, last) = block.as_chunks::<LANES>();
            banded.add_lanes(groups);
            banded.add_all(last);
            match banded.as_two() {
                Some((high, low)) => {
                    sum.add(high);
                    sum.add(low);
                }
                None => sum.add_all(block),
            }
        }
    }
}

fn add_with_square(sums: &mut [ExactSum; 2], x: f64) {
    let [sum, squares] = sums;
    sum.add(x);
    squares.add(x * x);
}

impl Evaluation {
    /// No predictions yet.
    ///
    /// # Errors
    /// [`CalibrationError::Bins`].
    pub fn new(classes: usize, bins: usize) -> Result<Self, CalibrationError> {
        let empty = Reliability::new(bins)?;
        Ok(Evaluation {
            classwise: vec![empty.clone(); classes],
            top: empty,
            brier: Default::default(),
            log_loss: ExactSum::new(),
            clipped: Default::default(),
            excess: ExactSum::new(),
            clipped_excess: Default::default(),
            impossible: 0,
            labels: vec![0; classes],
            predicted: vec![0; classes],
        })
    }

    /// All predictions with their true labels, in parallel.
    ///
    /// # Errors
    /// [`CalibrationError::Empty`], [`CalibrationError::Lengths`], [`CalibrationError::Bins`]; the
    /// first prediction or label that does not fit.
    pub fn of(
        predictions: &[Distribution],
        labels: &[usize],
        bins: usize,
    ) -> Result<Self, CalibrationError> {
        let first = predictions.first().ok_or(CalibrationError::Empty)?;
        if predictions.len() != labels.len() {
            return Err(CalibrationError::Lengths {
                predictions: predictions.len(),
                outcomes: labels.len(),
            });
        }
        let empty = Evaluation::new(first.classes(), bins)?;
        for (index, (p, &label)) in predictions.iter().zip(labels).enumerate() {
            empty.check(index, p, label)?;
        }
        predictions
            .par_chunks(BLOCK)
            .zip(labels.par_chunks(BLOCK))
            .try_fold(
                || empty.clone(),
                |mut part, (block, labels)| {
                    for (p, &label) in block.iter().zip(labels) {
                        part.add(p, label)?;
                    }
                    Ok(part)
                },
            )
            .try_reduce(
                || empty.clone(),
                |mut a, b| {
                    a.merge(&b)?;
                    Ok(a)
                },
            )
    }

    fn check(&self, index: usize, p: &Distribution, label: usize) -> Result<(), CalibrationError> {
        let classes = self.classwise.len();
        if p.classes() != classes {
            return Err(CalibrationError::Classes {
                index,
                expected: classes,
                found: p.classes(),
            });
        }
        if label >= classes {
            return Err(CalibrationError::Label {
                index,
                label,
                classes,
            });
        }
        Ok(())
    }

    /// Adds one prediction and the true label.
    ///
    /// # Errors
    /// [`CalibrationError::Classes`], [`CalibrationError::Label`], and
    /// [`CalibrationError::Confidence`] for an entry above one (a distribution's sum may exceed one
    /// by a rounding error), with the number of predictions so far as index;
    /// [`CalibrationError::TooMany`]. Nothing is added then.
    pub fn add(&mut self, prediction: &Distribution, label: usize) -> Result<(), CalibrationError> {
        self.check(self.top.count() as usize, prediction, label)?;
        self.add_named(prediction.probabilities(), prediction.argmax(), label)?;
        Ok(())
    }

    /// Adds a prediction that names class `named`, which need not be the most probable one: after a
    /// calibration map it may not be.
    ///
    /// # Errors
    /// [`CalibrationError::Label`] where there is no class `named` or `label`,
    /// [`CalibrationError::Confidence`] for entries outside `[0, 1]`.
    pub(crate) fn add_named(
        &mut self,
        p: &[f64],
        named: usize,
        label: usize,
    ) -> Result<RowScores, CalibrationError> {
        let row = ScoredRow {
            named,
            label,
            scores: RowScores::of(p, label),
        };
        self.add_scored(p, row)?;
        Ok(row.scores)
    }

    /// That a prediction has entries in `[0, 1]` and names classes that there are, as has its label.
    ///
    /// # Errors
    /// As [`Evaluation::add_named`].
    pub(crate) fn check_row(
        &self,
        p: &[f64],
        named: usize,
        label: usize,
    ) -> Result<(), CalibrationError> {
        let classes = p.len().min(self.labels.len());
        let known = |class: usize| match class < classes {
            true => Ok(()),
            false => Err(CalibrationError::Label {
                index: 0,
                label: class,
                classes,
            }),
        };
        known(named)?;
        known(label)?;
        match p.iter().find(|x| !(0.0..=1.0).contains(*x)) {
            None => Ok(()),
            Some(&value) => Err(CalibrationError::Confidence {
                index: self.top.count() as usize,
                value,
            }),
        }
    }

    /// Adds predictions that [`Evaluation::check_row`] has found good, row by row in `p`: sum by sum, which
    /// leaves each of them in registers.
    ///
    /// # Errors
    /// [`CalibrationError::TooMany`].
    pub(crate) fn add_rows(
        &mut self,
        p: &[f64],
        rows: &[ScoredRow],
    ) -> Result<(), CalibrationError> {
        let n = self.labels.len().max(1);
        for (row, p) in rows.iter().zip(p.chunks_exact(n)) {
            if let Some(&confidence) = p.get(row.named) {
                self.top.add(confidence, row.named == row.label)?;
            }
            for (counts, class) in [
                (&mut self.labels, row.label),
                (&mut self.predicted, row.named),
            ] {
                if let Some(count) = counts.get_mut(class) {
                    *count += 1;
                }
            }
            self.impossible += u64::from(row.scores.loss.is_none());
        }
        let arch = Arch::new();
        let mut terms = Vec::with_capacity(rows.len());
        let [brier, brier_squares] = &mut self.brier;
        for (class, reliability) in self.classwise.iter_mut().enumerate() {
            terms.clear();
            for (row, p) in rows.iter().zip(p.chunks_exact(n)) {
                let x = p.get(class).copied().unwrap_or_default();
                let truth = class == row.label;
                reliability.add(x, truth)?;
                let off = x - f64::from(u8::from(truth));
                terms.push(off * off);
            }
            arch.dispatch(AddTerms {
                sum: brier,
                terms: &mut terms,
            });
        }
        let mut add = |sum: &mut ExactSum, term: &dyn Fn(&RowScores) -> Option<f64>| {
            terms.clear();
            terms.extend(rows.iter().filter_map(|row| term(&row.scores)));
            arch.dispatch(AddTerms {
                sum,
                terms: &mut terms,
            });
        };
        add(brier_squares, &|row| Some(row.brier * row.brier));
        add(&mut self.log_loss, &|row| row.loss);
        add(&mut self.excess, &|row| Some(row.loss? - row.entropy));
        let [sum, squares] = &mut self.clipped;
        add(sum, &|row| Some(row.clipped));
        add(squares, &|row| Some(row.clipped * row.clipped));
        let [sum, squares] = &mut self.clipped_excess;
        add(sum, &|row| Some(row.clipped_excess));
        add(squares, &|row| {
            Some(row.clipped_excess * row.clipped_excess)
        });
        Ok(())
    }

    /// [`Evaluation::add_named`] for a prediction whose scores are known.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn add_scored(
        &mut self,
        p: &[f64],
        ScoredRow {
            named,
            label,
            scores: row,
        }: ScoredRow,
    ) -> Result<(), CalibrationError> {
        let classes = p.len().min(self.labels.len());
        let outside = |label: usize| CalibrationError::Label {
            index: 0,
            label,
            classes,
        };
        let &confidence = p.get(named).ok_or_else(|| outside(named))?;
        if label >= classes {
            return Err(outside(label));
        }
        // The only entry that can be above one (by the tolerance of a distribution's sum) is the
        // largest, so it is refused before anything has been added.
        self.top.add(confidence, named == label)?;
        let [brier, brier_squares] = &mut self.brier;
        for (class, (&x, reliability)) in p.iter().zip(&mut self.classwise).enumerate() {
            let truth = class == label;
            reliability.add(x, truth)?;
            let off = x - f64::from(u8::from(truth));
            brier.add(off * off);
        }
        brier_squares.add(row.brier * row.brier);
        match row.loss {
            Some(loss) => {
                self.log_loss.add(loss);
                self.excess.add(loss - row.entropy);
            }
            None => self.impossible += 1,
        }
        add_with_square(&mut self.clipped, row.clipped);
        add_with_square(&mut self.clipped_excess, row.clipped_excess);
        for (counts, class) in [(&mut self.labels, label), (&mut self.predicted, named)] {
            if let Some(count) = counts.get_mut(class) {
                *count += 1;
            }
        }
        Ok(())
    }

    /// Adds everything that `other` holds.
    ///
    /// # Errors
    /// [`CalibrationError::Shape`] where bins or classes differ, [`CalibrationError::TooMany`];
    /// nothing is added then.
    pub fn merge(&mut self, other: &Evaluation) -> Result<(), CalibrationError> {
        if self.classwise.len() != other.classwise.len() {
            return Err(CalibrationError::Shape {
                left: self.classwise.len(),
                right: other.classwise.len(),
            });
        }
        // Every part counts the same predictions, so if this fits, all of it does.
        self.top.merge(&other.top)?;
        for (a, b) in self.classwise.iter_mut().zip(&other.classwise) {
            a.merge(b)?;
        }
        for (mine, theirs) in [
            (&mut self.brier, &other.brier),
            (&mut self.clipped, &other.clipped),
            (&mut self.clipped_excess, &other.clipped_excess),
        ] {
            for (a, b) in mine.iter_mut().zip(theirs) {
                a.merge(b);
            }
        }
        self.log_loss.merge(&other.log_loss);
        self.excess.merge(&other.excess);
        self.impossible += other.impossible;
        for (mine, theirs) in [
            (&mut self.labels, &other.labels),
            (&mut self.predicted, &other.predicted),
        ] {
            for (a, b) in mine.iter_mut().zip(theirs) {
                *a += b;
            }
        }
        Ok(())
    }

    /// How many predictions have been added.
    pub fn count(&self) -> u64 {
        self.top.count()
    }

    /// How many predictions name the true class.
    pub(crate) fn correct(&self) -> u64 {
        self.top.bins().iter().map(|bin| bin.correct).sum()
    }

    /// Reliability of the most probable class.
    pub fn top_label(&self) -> &Reliability {
        &self.top
    }

    /// Reliability of each class's probability on its own.
    pub fn classwise(&self) -> &[Reliability] {
        &self.classwise
    }

    /// Fraction of predictions whose most probable class is the true one.
    ///
    /// # Errors
    /// [`CalibrationError::Empty`].
    pub fn accuracy(&self) -> Result<f64, CalibrationError> {
        self.top.accuracy()
    }

    /// Expected calibration error of the most probable class; see [`Reliability::ece`].
    ///
    /// # Errors
    /// [`CalibrationError::Empty`].
    pub fn ece(&self) -> Result<f64, CalibrationError> {
        self.top.ece()
    }

    /// Maximum calibration error of the most probable class; see [`Reliability::mce`].
    ///
    /// # Errors
    /// [`CalibrationError::Empty`].
    pub fn mce(&self) -> Result<f64, CalibrationError> {
        self.top.mce()
    }

    /// Mean over the classes of each class's own calibration error.
    ///
    /// # Errors
    /// [`CalibrationError::Empty`].
    pub fn classwise_ece(&self) -> Result<f64, CalibrationError> {
        self.divisor()?;
        let errors: Vec<f64> = self
            .classwise
            .iter()
            .map(Reliability::ece)
            .collect::<Result<_, _>>()?;
        let sum: ExactSum = errors.iter().copied().collect();
        Ok(sum.to_f64() / errors.len() as f64)
    }

    /// Mean squared distance to the true label. Each square carries at most 2 ulp, the sum none.
    ///
    /// # Errors
    /// [`CalibrationError::Empty`].
    pub fn brier(&self) -> Result<f64, CalibrationError> {
        Ok(self.brier[0].to_f64() / self.divisor()?)
    }

    /// Mean of `−ln p_y`: `+∞` as soon as one true class was called impossible, see
    /// [`Evaluation::impossible`].
    ///
    /// # Errors
    /// [`CalibrationError::Empty`].
    pub fn log_loss(&self) -> Result<f64, CalibrationError> {
        let n = self.divisor()?;
        if self.impossible > 0 {
            return Ok(f64::INFINITY);
        }
        Ok(self.log_loss.to_f64() / n)
    }

    /// How many predictions gave their true class probability zero.
    pub fn impossible(&self) -> u64 {
        self.impossible
    }

    fn divisor(&self) -> Result<f64, CalibrationError> {
        match self.count() {
            0 => Err(CalibrationError::Empty),
            n => Ok(n as f64),
        }
    }
}

#[cfg(test)]
mod tests;
