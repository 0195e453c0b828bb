//! Prediction sets that hold the true class with a probability that was asked for.
//!
//! Split conformal prediction (Vovk et al. 2005): each fitting row has the score of its true class,
//! and `q` is the `⌈(n + 1)(1 − α)⌉`-th smallest of the `n` scores. If the fitting rows and the new one
//! are exchangeable, the set of all classes whose score is at most `q` holds the new row's class with
//! probability at least `1 − α`, over the draw of all rows; theorem E2 in `proofs/theory/E2.v`.
//!
//! Corrupted evidence (theorem E2, second part; after Gendler et al. 2022): if at most `m` items of
//! the new row are replaced, each by one within Hilbert distance `d`, and the weights stay, the set of
//! all classes whose score is at most `q + d·W`, `W` the sum of the `m` largest weights, still does.

use serde::{Deserialize, Serialize};

use super::map::check_rows;
use super::map_error::MapError;
use crate::math::ln;
use crate::simplex::Distribution;

/// How far a class is from what the answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SetScore {
    /// `ln max p − ln p_y`: the lead of the best class over `y` in the pooled log-scores. A set is
    /// never empty.
    Lead,
    /// `1 − p_y` (Sadinle et al. 2019). Sets are small on average, and may be empty.
    Probability,
}

impl SetScore {
    /// The score of a class; infinite where the lead is over an impossible one.
    pub fn of(self, prediction: &Distribution, class: usize) -> f64 {
        let p = prediction
            .probabilities()
            .get(class)
            .copied()
            .unwrap_or(0.0);
        match self {
            SetScore::Lead => ln(*prediction.confidence()) - ln(p),
            SetScore::Probability => 1.0 - p,
        }
    }
}

/// What sets are to withstand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Robust {
    /// How many items of evidence may have been replaced.
    pub items: usize,
    /// How far each of them may have been moved, in Hilbert's distance.
    pub distance: f64,
}

impl Robust {
    /// How much further than the threshold a score may lie: `d·W`, rounded up.
    fn radius(&self, weights: &[f64]) -> f64 {
        let mut sorted = weights.to_vec();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        let most: f64 = sorted.iter().take(self.items).sum();
        let all: f64 = sorted.iter().sum();
        // Rounding: a log-score is off by at most 3·2⁻⁵³·Σ w|ln Φ|, and no logarithm of a double is
        // beyond 745; two classes, with and without the corruption: 8940·2⁻⁵³·Σ w. Normalizing and
        // taking logarithms of up to 1,000 classes again adds less than 10⁴·2⁻⁵³; the product and the
        // sum here a few units in their last place.
        let slack = libm::scalbn(8940.0 * all + 1e4, -53);
        self.distance * most * (1.0 + 1e-12) + slack
    }
}

/// What sets are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConformalSettings {
    /// `1 − α`, between 0 and 1.
    pub coverage: f64,
    /// How classes are scored.
    pub score: SetScore,
    /// Whether each class has a threshold of its own, so that the coverage holds for each.
    pub by_class: bool,
    /// What the sets withstand, if anything.
    pub robust: Option<Robust>,
}

/// The largest score that is in a set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// None where there are too few rows for the coverage: then every class is in the set.
    pub score: Option<f64>,
    /// How many fitting rows it comes from.
    pub points: u64,
}

/// Prediction sets, ready for new answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct ConformalSets {
    settings: ConformalSettings,
    thresholds: Vec<Threshold>,
}

/// As they stand in a file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    settings: ConformalSettings,
    /// One, or one for each class.
    thresholds: Vec<Threshold>,
}

impl TryFrom<Parts> for ConformalSets {
    type Error = MapError;
    fn try_from(parts: Parts) -> Result<Self, MapError> {
        let Parts {
            settings,
            thresholds,
        } = parts;
        settings.check()?;
        let counted = match settings.by_class {
            true => thresholds.len() >= 2,
            false => thresholds.len() == 1,
        };
        let numbers = thresholds.iter().all(|t| {
            t.score
                .is_none_or(|score| score >= 0.0 && score.is_finite())
        });
        match counted && numbers {
            true => Ok(ConformalSets {
                settings,
                thresholds,
            }),
            false => Err(MapError::Thresholds),
        }
    }
}

impl From<ConformalSets> for Parts {
    fn from(sets: ConformalSets) -> Self {
        Parts {
            settings: sets.settings,
            thresholds: sets.thresholds,
        }
    }
}

impl ConformalSettings {
    pub(super) fn check(&self) -> Result<(), MapError> {
        self.rank(0)?;
        if let Some(robust) = self.robust {
            if self.score != SetScore::Lead {
                return Err(MapError::RobustScore);
            }
            if !(robust.distance >= 0.0 && robust.distance.is_finite() && robust.items > 0) {
                return Err(MapError::Robust);
            }
        }
        Ok(())
    }

    /// `⌈(n + 1)·coverage⌉`, with the coverage taken for the decimal number that it is written as:
    /// of nine rows, 0.9 asks for the ninth, although the double next to 0.9 is a little larger.
    fn rank(&self, n: u64) -> Result<u128, MapError> {
        let wrong = MapError::Coverage {
            value: self.coverage,
        };
        if !(self.coverage > 0.0 && self.coverage < 1.0) {
            return Err(wrong);
        }
        let shown = self.coverage.to_string();
        let digits = shown.strip_prefix("0.").unwrap_or_default();
        if digits.is_empty() || digits.len() > 18 {
            return Err(wrong);
        }
        let number: u128 = digits.parse().map_err(|_| wrong)?;
        let whole = 10u128.pow(digits.len() as u32);
        Ok(((u128::from(n) + 1) * number).div_ceil(whole))
    }

    /// Of counts of scores in rising order, the position of the one that holds the threshold; none where
    /// there are too few for the coverage. `points` is their sum.
    pub(super) fn cell_of(
        &self,
        points: u64,
        counts: impl Iterator<Item = u64>,
    ) -> Result<Option<usize>, MapError> {
        let rank = self.rank(points)?;
        let mut up_to = 0u128;
        let mut counts = counts.enumerate();
        let found = counts.find(|(_, count)| {
            up_to += u128::from(*count);
            up_to >= rank
        });
        Ok(found.map(|(at, _)| at))
    }

    fn threshold(&self, mut scores: Vec<f64>) -> Result<Threshold, MapError> {
        scores.sort_unstable_by(f64::total_cmp);
        let points = scores.len() as u64;
        let rank = self.rank(points)?;
        let at = usize::try_from(rank).ok().and_then(|k| k.checked_sub(1));
        let score = at.and_then(|at| scores.get(at).copied());
        Ok(Threshold {
            score: score.filter(|score| score.is_finite()),
            points,
        })
    }
}

impl ConformalSets {
    /// Thresholds from predictions and their true labels. The order of the rows does not matter.
    ///
    /// # Errors
    /// [`MapError`], naming the row or setting that does not fit.
    pub fn fit(
        settings: ConformalSettings,
        predictions: &[Distribution],
        labels: &[usize],
    ) -> Result<Self, MapError> {
        settings.check()?;
        check_rows(predictions, labels)?;
        let rows = || predictions.iter().zip(labels);
        let score = |(p, &label): (&Distribution, &usize)| settings.score.of(p, label);
        let thresholds = if settings.by_class {
            let classes = predictions.first().map_or(0, Distribution::classes);
            let mut scores = vec![Vec::new(); classes];
            for row in rows() {
                if let Some(of_class) = scores.get_mut(*row.1) {
                    of_class.push(score(row));
                }
            }
            let each = scores.into_iter().map(|scores| settings.threshold(scores));
            each.collect::<Result<_, _>>()?
        } else {
            vec![settings.threshold(rows().map(score).collect())?]
        };
        Ok(ConformalSets {
            settings,
            thresholds,
        })
    }

    /// Sets with these thresholds, each with the number of scores that it comes from.
    pub(super) fn of(settings: ConformalSettings, thresholds: Vec<(Option<f64>, u64)>) -> Self {
        let threshold = |(score, points): (Option<f64>, u64)| Threshold {
            score: score.filter(|score| score.is_finite()),
            points,
        };
        ConformalSets {
            settings,
            thresholds: thresholds.into_iter().map(threshold).collect(),
        }
    }

    /// What was asked for.
    pub fn settings(&self) -> &ConformalSettings {
        &self.settings
    }

    /// One threshold, or one for each class.
    pub fn thresholds(&self) -> &[Threshold] {
        &self.thresholds
    }

    /// The classes that are in the set of an answer, in their order. `weights` are those of the
    /// evidence behind it, which only robust sets need.
    ///
    /// # Errors
    /// [`MapError::NoWeights`]; [`MapError::Classes`] where there is another number of classes.
    pub fn set(
        &self,
        prediction: &Distribution,
        weights: Option<&[f64]>,
    ) -> Result<Vec<usize>, MapError> {
        let found = prediction.classes();
        if self.settings.by_class && found != self.thresholds.len() {
            return Err(MapError::Classes {
                expected: self.thresholds.len(),
                found,
            });
        }
        let radius = match (self.settings.robust, weights) {
            (None, _) => 0.0,
            (Some(robust), Some(weights)) => robust.radius(weights),
            (Some(_), None) => return Err(MapError::NoWeights),
        };
        let threshold = |class: usize| {
            let place = if self.settings.by_class { class } else { 0 };
            self.thresholds.get(place).and_then(|t| t.score)
        };
        let inside = |&class: &usize| {
            threshold(class).is_none_or(|q| self.settings.score.of(prediction, class) <= q + radius)
        };
        Ok((0..found).filter(inside).collect())
    }
}

#[cfg(test)]
mod tests;
