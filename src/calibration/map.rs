//! Calibration after the fact: a map fitted on held-out predictions and applied to new ones.
//!
//! | method | what it does | what it guarantees |
//! |---|---|---|
//! | temperature | `p_y^{1/T}`, normalized, with the `T` of least log loss | keeps the order of classes; on the fitting data, the log loss does not rise. Nothing on new data without assumptions on the model |
//! | histogram | the confidence becomes the hit rate of its bin on the fitting data | for every bin at once, the distance of that rate from the true one (T1″, `bounds::binned_ranges`), whatever the model, for independent rows |
//! | isotonic | the confidence becomes the best hit rate that never falls with confidence | on the fitting data, exactly calibrated and never worse in squared error of the confidence. On new data in the limit only |
//!
//! Histogram and isotonic maps are *top-label*: they say how often the class that the model names
//! is right. The other classes share what is left in proportion to their own probabilities
//! (equally, where all of these are zero). The named class may then not be the most probable one
//! any more; the guarantee is about the class the model named.

use serde::{Deserialize, Serialize};

use super::bins::{MAX_BINS, bin_index};
use super::isotonic::{IsotonicMap, MAX_BLOCKS};
use crate::learn::fit_temperature;
use crate::math::ln;
use crate::simplex::{Distribution, PoolError, SimplexError, temper};

/// How a map is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapMethod {
    /// One temperature for all.
    Temperature,
    /// Hit rates in this many bins of equal width.
    Histogram {
        /// Between 1 and [`MAX_BINS`].
        bins: usize,
    },
    /// Hit rates that never fall with confidence.
    Isotonic,
}

/// A fitted map from predictions to calibrated ones.
///
/// ```
/// use lpf::{CalibrationMap, Distribution, MapMethod};
///
/// // Sure to 90 %, right in three of four.
/// let sure = Distribution::new(vec![0.9, 0.1])?;
/// let predictions = vec![sure.clone(); 4];
/// let map = CalibrationMap::fit(MapMethod::Histogram { bins: 10 }, &predictions, &[0, 0, 1, 0])?;
/// assert_eq!(map.apply(&sure)?.confidence, 0.75);
/// # Ok::<(), lpf::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CalibrationMap {
    /// Divide log-probabilities by this.
    Temperature(Temperature),
    /// Look the confidence up in bins.
    Histogram(HistogramMap),
    /// Look the confidence up in a function that never falls.
    Isotonic(IsotonicMap),
}

/// A temperature: finite and above zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Temperature(f64);

impl TryFrom<f64> for Temperature {
    type Error = MapError;
    fn try_from(value: f64) -> Result<Self, MapError> {
        // The reciprocal is what predictions are raised to: it must be finite and above zero too.
        if value > 0.0 && value.is_finite() && (1.0 / value).is_finite() {
            return Ok(Temperature(value));
        }
        Err(MapError::Temperature { value })
    }
}

impl From<Temperature> for f64 {
    fn from(temperature: Temperature) -> f64 {
        temperature.0
    }
}

/// Hits and points in bins of equal width; see [`bin_index`] for the side of an edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub struct HistogramMap {
    counts: Vec<(u64, u64)>,
}

impl TryFrom<Vec<(u64, u64)>> for HistogramMap {
    type Error = MapError;
    fn try_from(counts: Vec<(u64, u64)>) -> Result<Self, MapError> {
        if counts.is_empty() || counts.len() > MAX_BINS {
            return Err(MapError::Bins { bins: counts.len() });
        }
        match counts.iter().position(|(hits, points)| hits > points) {
            Some(index) => Err(MapError::Block { index }),
            None => Ok(HistogramMap { counts }),
        }
    }
}

impl From<HistogramMap> for Vec<(u64, u64)> {
    fn from(map: HistogramMap) -> Self {
        map.counts
    }
}

impl HistogramMap {
    fn fit(pairs: &[(f64, bool)], bins: usize) -> Result<Self, MapError> {
        let mut map = HistogramMap::try_from(vec![(0, 0); bins])?;
        for &(value, right) in pairs {
            let bin = bin_index(value, bins).and_then(|bin| map.counts.get_mut(bin));
            let (hits, points) = bin.ok_or(MapError::Confidence { value })?;
            *hits += u64::from(right);
            *points += 1;
        }
        Ok(map)
    }

    /// `(hits, points)` of each bin, as `bounds::binned_ranges` takes them.
    pub fn counts(&self) -> &[(u64, u64)] {
        &self.counts
    }

    /// The hit rate of the bin of a confidence, or the confidence itself where the bin has no
    /// points: nothing is known about it, and the guarantee does not cover it.
    fn rate(&self, confidence: f64) -> Option<f64> {
        let (hits, points) = *self.counts.get(bin_index(confidence, self.counts.len())?)?;
        Some(if points == 0 {
            confidence
        } else {
            hits as f64 / points as f64
        })
    }
}

/// A calibrated prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// Probabilities of all classes.
    pub distribution: Distribution,
    /// The class that the model named.
    pub class: usize,
    /// How often that class is right.
    pub confidence: f64,
}

impl CalibrationMap {
    /// Fits a map to predictions and their true labels. The order of the rows does not matter.
    ///
    /// # Errors
    /// [`MapError`], naming the row or value that does not fit.
    pub fn fit(
        method: MapMethod,
        predictions: &[Distribution],
        labels: &[usize],
    ) -> Result<Self, MapError> {
        let classes = predictions.first().ok_or(MapError::Empty)?.classes();
        if predictions.len() != labels.len() {
            return Err(MapError::Lengths {
                predictions: predictions.len(),
                labels: labels.len(),
            });
        }
        for (row, (p, &label)) in predictions.iter().zip(labels).enumerate() {
            if p.classes() != classes || label >= classes {
                return Err(MapError::Row { row, classes });
            }
        }
        if classes == 1 {
            return Err(MapError::OneClass);
        }
        let pairs = || -> Vec<(f64, bool)> {
            let rows = predictions.iter().zip(labels);
            rows.map(|(p, &label)| (*p.confidence(), p.argmax() == label))
                .collect()
        };
        Ok(match method {
            MapMethod::Temperature => {
                let impossible = |(p, &label): (&Distribution, &usize)| {
                    p.probabilities().get(label).is_some_and(|&p| p == 0.0)
                };
                if let Some(row) = predictions.iter().zip(labels).position(impossible) {
                    return Err(MapError::Impossible { row });
                }
                let all = predictions.iter().flat_map(|p| p.probabilities());
                let scores: Vec<f64> = all.map(|&p| ln(p)).collect();
                let value = fit_temperature(&scores, labels).ok_or(MapError::NoTemperature)?;
                CalibrationMap::Temperature(Temperature::try_from(value)?)
            }
            MapMethod::Histogram { bins } => {
                CalibrationMap::Histogram(HistogramMap::fit(&pairs(), bins)?)
            }
            MapMethod::Isotonic => CalibrationMap::Isotonic(IsotonicMap::fit(&pairs())?),
        })
    }

    /// The method's name on the command line and in files.
    pub fn name(&self) -> &'static str {
        match self {
            CalibrationMap::Temperature(_) => "temperature",
            CalibrationMap::Histogram(_) => "histogram",
            CalibrationMap::Isotonic(_) => "isotonic",
        }
    }

    /// The calibrated form of a prediction.
    ///
    /// # Errors
    /// [`MapError::Confidence`] where the largest probability is above one (by rounding).
    pub fn apply(&self, prediction: &Distribution) -> Result<Calibrated, MapError> {
        let class = prediction.argmax();
        let value = *prediction.confidence();
        let rate = match self {
            CalibrationMap::Temperature(temperature) => {
                let distribution =
                    temper(prediction, 1.0 / temperature.0).map_err(MapError::Pool)?;
                return Ok(Calibrated {
                    class,
                    confidence: distribution
                        .probabilities()
                        .get(class)
                        .copied()
                        .unwrap_or(value),
                    distribution,
                });
            }
            CalibrationMap::Histogram(map) => map.rate(value),
            CalibrationMap::Isotonic(map) => map.rate(value),
        };
        let confidence = rate.ok_or(MapError::Confidence { value })?;
        Ok(Calibrated {
            distribution: with_confidence(prediction, class, confidence)?,
            class,
            confidence,
        })
    }
}

/// `prediction` with probability `confidence` for `class`, and the rest shared as it was.
fn with_confidence(
    prediction: &Distribution,
    class: usize,
    confidence: f64,
) -> Result<Distribution, MapError> {
    let mut p = prediction.probabilities().to_vec();
    if p.len() == 1 {
        return Ok(prediction.clone());
    }
    if let Some(named) = p.get_mut(class) {
        *named = 0.0;
    }
    let shares = match Distribution::from_weights(p) {
        Ok(shares) => shares.into_vec(),
        // All others are impossible: nothing says which of them is less so.
        Err(SimplexError::NoMass) => {
            let others = (prediction.classes() - 1) as f64;
            vec![1.0 / others; prediction.classes()]
        }
        Err(error) => return Err(MapError::Simplex(error)),
    };
    let parts = shares.into_iter().enumerate().map(|(i, share)| {
        if i == class {
            confidence
        } else {
            share * (1.0 - confidence)
        }
    });
    Distribution::from_weights(parts.collect()).map_err(MapError::Simplex)
}

/// Why a map cannot be fitted, read or applied.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum MapError {
    /// There are no predictions to fit to.
    #[error("there are no predictions to fit to")]
    Empty,
    /// With one class every prediction is right.
    #[error(
        "there is only one class: every prediction is right, and there is nothing to calibrate"
    )]
    OneClass,
    /// There are not as many labels as predictions.
    #[error("{predictions} predictions but {labels} labels")]
    Lengths { predictions: usize, labels: usize },
    /// A prediction with another number of classes than the first, or a label that names none.
    #[error("prediction {row} or its label does not fit the {classes} classes of the first")]
    Row { row: usize, classes: usize },
    /// A prediction has another number of classes than the map is for.
    #[error("the calibration map is for {expected} classes, but there are {found}")]
    Classes { expected: usize, found: usize },
    /// A true class has probability zero, which no temperature changes.
    #[error(
        "prediction {row} gives its true class probability 0, which no temperature changes; use the \
         histogram or isotonic method"
    )]
    Impossible { row: usize },
    /// The log loss has no minimum within a factor of 1024 of temperature one.
    #[error(
        "the log loss has no minimum at a temperature between 1/1024 and 1024: the predictions are \
         all right, all uniform, or no better than chance; use the histogram or isotonic method, or \
         more rows"
    )]
    NoTemperature,
    /// A temperature that is not a finite number above zero.
    #[error("temperature {value:?} is not a finite number above zero")]
    Temperature { value: f64 },
    /// A confidence outside `[0, 1]`.
    #[error("confidence {value:?} is not between 0 and 1")]
    Confidence { value: f64 },
    /// The number of bins is zero or above [`MAX_BINS`].
    #[error("{bins} bins; choose between 1 and {MAX_BINS}")]
    Bins { bins: usize },
    /// The number of blocks is zero or above [`MAX_BLOCKS`].
    #[error("{blocks} blocks; there may be between 1 and {MAX_BLOCKS}")]
    Blocks { blocks: usize },
    /// A bin or block that no fit gives: more hits than points, or out of order.
    #[error(
        "bin or block {index} cannot come from data: confidences and rates must rise from one to the \
         next, and hits may not exceed points"
    )]
    Block { index: usize },
    #[error(transparent)]
    Pool(PoolError),
    #[error(transparent)]
    Simplex(SimplexError),
}

#[cfg(test)]
mod tests;
