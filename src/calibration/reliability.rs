//! Reliability bins and the calibration errors read off them.
//!
//! Per bin two integers and one exact sum are kept, so that any order of the predictions, any
//! split into shards and any number of threads give the same bits.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::CalibrationError;
use super::bins::{MAX_BINS, SMALLEST_BINNED, bin_edge, bin_index, index_of_bits, split};
use crate::math::ExactSum;

/// A confidence in `[2⁻¹⁰, 1]` is a whole multiple of 2⁻⁶², the unit of the fixed-point sums.
const UNIT_BITS: u64 = 62;
/// Predictions in one unit of parallel work: well inside a second-level cache.
const BLOCK: usize = 1 << 16;
/// Counts and sums of one bin. Merging adds the fields; all are integers, so it is associative and
/// commutative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BinTotals {
    /// How many predictions.
    pub count: u64,
    /// How many of them were correct.
    pub correct: u64,
    /// The exact sum of their confidences from 2⁻¹⁰ upwards, in units of 2⁻⁶².
    confidence: u128,
}

impl BinTotals {
    /// The totals of both, or `None` where a count overflows.
    pub fn merged(self, other: Self) -> Option<Self> {
        Some(BinTotals {
            count: self.count.checked_add(other.count)?,
            correct: self.correct.checked_add(other.correct)?,
            // At most 2⁶⁴ confidences of at most 2⁶² units.
            confidence: self.confidence.wrapping_add(other.confidence),
        })
    }

    /// `Σ confidence − correct` exactly, apart from the confidences below 2⁻¹⁰.
    fn excess(self, subtract_correct: bool) -> ExactSum {
        // 43 bits a piece: three of them hold 128, and each converts exactly.
        const PIECE: u32 = 43;
        const MASK: u128 = (1 << PIECE) - 1;
        let piece = |j: u32| ((self.confidence >> (PIECE * j)) & MASK) as f64;
        let unit = libm::scalbn(1.0, -(UNIT_BITS as i32));
        let step = (1u64 << PIECE) as f64;
        let mut sum = ExactSum::new();
        sum.add(piece(0) * unit);
        sum.add(piece(1) * (unit * step));
        sum.add(piece(2) * (unit * step * step));
        if subtract_correct {
            let low = self.correct as u32;
            sum.add(-f64::from(low));
            sum.add(-((self.correct - u64::from(low)) as f64));
        }
        sum
    }
}

/// One bin of a reliability diagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReliabilityBin {
    /// The bin holds confidences above this (the first bin: from this on).
    pub lower: f64,
    /// The bin holds confidences up to and including this.
    pub upper: f64,
    /// How many predictions it holds.
    pub count: u64,
    /// How many of them were correct.
    pub correct: u64,
    /// Averages over the bin; `None` where it is empty.
    pub means: Option<BinMeans>,
}

/// Averages over one bin that is not empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BinMeans {
    /// Mean confidence.
    pub confidence: f64,
    /// Fraction of correct predictions.
    pub accuracy: f64,
    /// Mean confidence minus accuracy, from the exact sums: above zero means over-confident.
    pub gap: f64,
}

/// Counts and exact sums of (confidence, was it correct?) pairs in equal-width bins.
///
/// The bins are those of [`bin_index`]: closed on the right, with zero in the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct Reliability {
    totals: Vec<BinTotals>,
    /// Confidences below 2⁻¹⁰. With at most 1024 bins all of them lie in bin 0.
    small: ExactSum,
    count: u64,
}

/// How a [`Reliability`] is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    totals: Vec<BinTotals>,
    small: ExactSum,
}

impl From<Reliability> for Stored {
    fn from(reliability: Reliability) -> Self {
        Stored {
            totals: reliability.totals,
            small: reliability.small,
        }
    }
}

impl TryFrom<Stored> for Reliability {
    type Error = CalibrationError;

    /// Refuses totals that no predictions have.
    fn try_from(stored: Stored) -> Result<Self, CalibrationError> {
        let mut out = Reliability::new(stored.totals.len())?;
        for totals in &stored.totals {
            let most = u128::from(totals.count) << UNIT_BITS;
            if totals.correct > totals.count || totals.confidence > most {
                return Err(CalibrationError::TooMany);
            }
            let count = out.count.checked_add(totals.count);
            out.count = count.ok_or(CalibrationError::TooMany)?;
        }
        out.totals = stored.totals;
        out.small = stored.small;
        Ok(out)
    }
}

impl Reliability {
    /// No predictions yet.
    ///
    /// # Errors
    /// [`CalibrationError::Bins`] unless `bins` is in `1..=`[`MAX_BINS`].
    pub fn new(bins: usize) -> Result<Self, CalibrationError> {
        if bins == 0 || bins > MAX_BINS {
            return Err(CalibrationError::Bins { bins });
        }
        Ok(Reliability {
            totals: vec![BinTotals::default(); bins],
            small: ExactSum::new(),
            count: 0,
        })
    }

    /// All pairs of two slices, in parallel. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// [`CalibrationError::Bins`], [`CalibrationError::Lengths`], and
    /// [`CalibrationError::Confidence`] for the first confidence outside `[0, 1]`.
    pub fn of(
        confidences: &[f64],
        correct: &[bool],
        bins: usize,
    ) -> Result<Self, CalibrationError> {
        let empty = Reliability::new(bins)?;
        if confidences.len() != correct.len() {
            return Err(CalibrationError::Lengths {
                predictions: confidences.len(),
                outcomes: correct.len(),
            });
        }
        let whole = confidences
            .par_chunks(BLOCK)
            .zip(correct.par_chunks(BLOCK))
            .try_fold(
                || (empty.clone(), Lanes::new(bins)),
                |(mut sum, mut lanes), (c, t)| {
                    sum.add_block(&mut lanes, c, t)?;
                    Some((sum, lanes))
                },
            )
            .map(|part| part.map(|(sum, _)| sum))
            .try_reduce(|| empty.clone(), |a, b| a.merged(&b).ok());
        // Which thread met a bad value first is chance; which comes first is not.
        whole.ok_or_else(
            || match confidences.iter().position(|c| !(0.0..=1.0).contains(c)) {
                Some(index) => CalibrationError::Confidence {
                    index,
                    value: confidences[index],
                },
                None => CalibrationError::TooMany,
            },
        )
    }

    /// Adds one prediction.
    ///
    /// # Errors
    /// [`CalibrationError::Confidence`], with the number of predictions added so far as index;
    /// [`CalibrationError::TooMany`]. Nothing is added then.
    pub fn add(&mut self, confidence: f64, correct: bool) -> Result<(), CalibrationError> {
        let Some(bin) = bin_index(confidence, self.totals.len()) else {
            return Err(CalibrationError::Confidence {
                index: self.count as usize,
                value: confidence,
            });
        };
        self.count = self.count.checked_add(1).ok_or(CalibrationError::TooMany)?;
        if let Some(totals) = self.totals.get_mut(bin) {
            totals.count += 1;
            totals.correct += u64::from(correct);
            if confidence < SMALLEST_BINNED {
                self.small.add(confidence);
            } else {
                totals.confidence += u128::from(units(confidence.to_bits()));
            }
        }
        Ok(())
    }

    /// Adds everything that `other` holds.
    ///
    /// # Errors
    /// [`CalibrationError::Shape`] where the numbers of bins differ, [`CalibrationError::TooMany`];
    /// nothing is added then.
    pub fn merge(&mut self, other: &Reliability) -> Result<(), CalibrationError> {
        *self = self.merged(other)?;
        Ok(())
    }

    fn merged(&self, other: &Reliability) -> Result<Self, CalibrationError> {
        if self.totals.len() != other.totals.len() {
            return Err(CalibrationError::Shape {
                left: self.totals.len(),
                right: other.totals.len(),
            });
        }
        let mut small = self.small.clone();
        small.merge(&other.small);
        Ok(Reliability {
            totals: self
                .totals
                .iter()
                .zip(&other.totals)
                .map(|(&a, &b)| a.merged(b))
                .collect::<Option<_>>()
                .ok_or(CalibrationError::TooMany)?,
            small,
            count: self
                .count
                .checked_add(other.count)
                .ok_or(CalibrationError::TooMany)?,
        })
    }

    /// How many predictions have been added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Fraction of correct predictions.
    ///
    /// # Errors
    /// [`CalibrationError::Empty`].
    pub fn accuracy(&self) -> Result<f64, CalibrationError> {
        let correct: u64 = self.totals.iter().map(|t| t.correct).sum();
        Ok(correct as f64 / self.divisor()?)
    }

    /// The reliability diagram, one entry for each bin, empty ones included.
    pub fn bins(&self) -> Vec<ReliabilityBin> {
        let n = self.totals.len();
        let edge = |i: usize| bin_edge(i, n).unwrap_or(f64::NAN);
        self.totals
            .iter()
            .enumerate()
            .map(|(i, totals)| ReliabilityBin {
                lower: edge(i),
                upper: edge(i + 1),
                count: totals.count,
                correct: totals.correct,
                means: (totals.count > 0).then(|| {
                    let count = totals.count as f64;
                    BinMeans {
                        confidence: self.bin_sum(i, false) / count,
                        accuracy: totals.correct as f64 / count,
                        gap: self.bin_sum(i, true) / count,
                    }
                }),
            })
            .collect()
    }

    /// Expected calibration error `Σ_b (n_b/N)·|confidence_b − accuracy_b|`.
    ///
    /// Range `[0, 1]`. Computed as `Σ_b |Σ c − correct_b| / N`: each bin's difference is rounded
    /// once, their sum once, the quotient once, so the relative error is below `3·2⁻⁵³`.
    ///
    /// # Errors
    /// [`CalibrationError::Empty`].
    pub fn ece(&self) -> Result<f64, CalibrationError> {
        let gaps: ExactSum = (0..self.totals.len())
            .map(|i| self.bin_sum(i, true).abs())
            .collect();
        Ok(gaps.to_f64() / self.divisor()?)
    }

    /// Maximum calibration error: the largest `|confidence_b − accuracy_b|` of a bin that is not
    /// empty. Range `[0, 1]`.
    ///
    /// # Errors
    /// [`CalibrationError::Empty`].
    pub fn mce(&self) -> Result<f64, CalibrationError> {
        self.divisor()?;
        let gaps = self.bins().into_iter().filter_map(|b| b.means);
        Ok(gaps.fold(0.0, |worst, m| {
            if m.gap.abs() > worst {
                m.gap.abs()
            } else {
                worst
            }
        }))
    }

    fn divisor(&self) -> Result<f64, CalibrationError> {
        if self.count == 0 {
            return Err(CalibrationError::Empty);
        }
        Ok(self.count as f64)
    }

    /// The sum of a bin's confidences, minus its correct predictions if asked for; rounded once.
    fn bin_sum(&self, bin: usize, subtract_correct: bool) -> f64 {
        let totals = self.totals.get(bin).copied().unwrap_or_default();
        let mut sum = totals.excess(subtract_correct);
        if bin == 0 {
            sum.merge(&self.small);
        }
        sum.to_f64()
    }

    /// Adds a block of at most [`BLOCK`] predictions; `None` at a confidence outside `[0, 1]`,
    /// and then the accumulator is of no further use.
    fn add_block(&mut self, lanes: &mut Lanes, conf: &[f64], correct: &[bool]) -> Option<()> {
        let bins = self.totals.len() as u64;
        let (groups, last) = conf.as_chunks();
        let (outcomes, last_outcomes) = correct.as_chunks();
        for (c, t) in groups.iter().zip(outcomes) {
            // Wide vectors change nothing but the speed.
            let found = FindBins {
                bins,
                confidences: c,
                correct: t,
                found: &mut lanes.found,
            };
            if Arch::new().dispatch(found) {
                lanes.add_found();
                continue;
            }
            for (i, (&c, &t)) in c.iter().zip(t).enumerate() {
                if !lanes.add(bins, i % LANES, c, t) {
                    self.add(c, t).ok()?;
                }
            }
        }
        for (&c, &t) in last.iter().zip(last_outcomes) {
            self.add(c, t).ok()?;
        }
        for (totals, slots) in self.totals.iter_mut().zip(&mut lanes.slots) {
            for packed in slots {
                let part = unpack(std::mem::take(packed));
                *totals = totals.merged(part)?;
                self.count = self.count.checked_add(part.count)?;
            }
        }
        Some(())
    }
}

/// Independent sums, so that an addition need not wait for the one before it.
const LANES: usize = 4;
/// Predictions whose bins are found at once.
const GROUP: usize = 128;
/// What a prediction is counted by, above sums of the halves of 2¹⁴ confidences of at most 2⁶² units: a
/// lane takes no more of a block.
const ONE: u64 = 1 << 48;

/// Running totals of one block. The lower halves of the confidences, in units of 2⁻⁶², and their number
/// are in one word, the upper halves and the number of those that were correct in another.
struct Lanes {
    slots: Vec<[[u64; 2]; LANES]>,
    found: Found,
}

/// Bins of a group of predictions, and what these add to the two words of their slots.
struct Found {
    bins: [u64; GROUP],
    words: [[u64; GROUP]; 2],
}

/// Finds the bins of a group of predictions, and says whether all confidences are in `[2⁻¹⁰, 1]`.
struct FindBins<'a> {
    bins: u64,
    confidences: &'a [f64; GROUP],
    correct: &'a [bool; GROUP],
    found: &'a mut Found,
}

impl WithSimd for FindBins<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let Found { bins, words } = self.found;
        let mut outside = 0;
        for i in 0..GROUP {
            // All ones where the bits, which grow with the confidence, are those of one in range.
            let bits = self.confidences[i].to_bits();
            let beyond = bits.wrapping_sub(SMALLEST_BINNED.to_bits());
            let inside =
                u64::from(beyond > 1f64.to_bits() - SMALLEST_BINNED.to_bits()).wrapping_sub(1);
            outside |= !inside;
            // One instead of another, so that no shift is too long.
            let bits = bits & inside | 1f64.to_bits() & !inside;
            bins[i] = index_of_bits(bits, self.bins) as u64;
            [words[0][i], words[1][i]] = packed(units(bits), self.correct[i]);
        }
        outside == 0
    }
}

impl Lanes {
    fn new(bins: usize) -> Self {
        Lanes {
            slots: vec![[[0; 2]; LANES]; bins],
            found: Found {
                bins: [0; GROUP],
                words: [[0; GROUP]; 2],
            },
        }
    }

    /// Adds the group of predictions whose bins have been found.
    #[inline(always)]
    fn add_found(&mut self) {
        let Found { bins, words } = &self.found;
        for first in (0..GROUP).step_by(LANES) {
            for lane in 0..LANES {
                let i = first + lane;
                // The bin of a confidence in range is below their number.
                if let Some(slot) = self.slots.get_mut(bins[i] as usize) {
                    slot[lane][0] += words[0][i];
                    slot[lane][1] += words[1][i];
                }
            }
        }
    }

    /// Adds a prediction, or returns `false` where its confidence is not in `[2⁻¹⁰, 1]`.
    #[inline(always)]
    fn add(&mut self, bins: u64, lane: usize, confidence: f64, correct: bool) -> bool {
        if !(SMALLEST_BINNED..=1.0).contains(&confidence) {
            return false;
        }
        let bits = confidence.to_bits();
        let Some(slot) = self.slots.get_mut(index_of_bits(bits, bins)) else {
            return false;
        };
        let [low, high] = packed(units(bits), correct);
        slot[lane][0] += low;
        slot[lane][1] += high;
        true
    }
}

/// What one prediction adds to the two words of a slot.
#[inline(always)]
fn packed(units: u64, correct: bool) -> [u64; 2] {
    [
        (units & 0xffff_ffff) | ONE,
        (units >> 32) | (u64::from(correct) * ONE),
    ]
}

fn unpack([low, high]: [u64; 2]) -> BinTotals {
    BinTotals {
        count: low / ONE,
        correct: high / ONE,
        confidence: u128::from(low % ONE) + (u128::from(high % ONE) << 32),
    }
}

/// A double in `[2⁻¹⁰, 1]`, given by its bits, in units of 2⁻⁶²: exact.
#[inline(always)]
fn units(bits: u64) -> u64 {
    let (mantissa, exponent) = split(bits);
    // The double is mantissa·2^(exponent − 1075), so shift by exponent − 1075 + 62, in 0..=10.
    mantissa << (exponent + UNIT_BITS - 1075)
}

#[cfg(test)]
mod tests;
