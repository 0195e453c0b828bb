//! Proper scores of whole distributions, and everything about a set of predictions at once.

use rayon::prelude::*;

use super::{CalibrationError, Reliability};
use crate::math::{ExactSum, ln};
use crate::simplex::Distribution;

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
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    top: Reliability,
    classwise: Vec<Reliability>,
    brier: ExactSum,
    log_loss: ExactSum,
    impossible: u64,
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
            brier: ExactSum::new(),
            log_loss: ExactSum::new(),
            impossible: 0,
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
        // The only entry that can be above one (by the tolerance of a distribution's sum) is the
        // largest, so it is refused before anything has been added.
        self.top
            .add(*prediction.confidence(), prediction.argmax() == label)?;
        let entries = prediction.probabilities().iter().zip(&mut self.classwise);
        for (class, (&p, reliability)) in entries.enumerate() {
            let truth = class == label;
            reliability.add(p, truth)?;
            let off = p - f64::from(u8::from(truth));
            self.brier.add(off * off);
            if truth && p > 0.0 {
                self.log_loss.add(-ln(p));
            } else if truth {
                self.impossible += 1;
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
        self.brier.merge(&other.brier);
        self.log_loss.merge(&other.log_loss);
        self.impossible += other.impossible;
        Ok(())
    }

    /// How many predictions have been added.
    pub fn count(&self) -> u64 {
        self.top.count()
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
        Ok(self.brier.to_f64() / self.divisor()?)
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
