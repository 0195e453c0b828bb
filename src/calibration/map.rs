//! Calibration after the fact: a map fitted on held-out predictions and applied to new ones.
//!
//! | method | what it does | what it guarantees |
//! |---|---|---|
//! | temperature | `p_y^{1/T}`, normalized, with the `T` of least log loss | keeps the order of classes; on the fitting data, the log loss does not rise. Nothing on new data without assumptions on the model |
//! | platt, beta, vector, dirichlet | [`LogLinear`]: the softmax of a linear function of log-probabilities | the least (penalized) log loss of its family on the fitting data |
//! | histogram | the confidence becomes `(k + ½)/(n + 1)`, of `k` hits among the `n` fitting rows of its bin | for every bin at once, the distance of `k/n` from the true rate (T1″, `bounds::binned_ranges`), whatever the model, for independent rows |
//! | isotonic | the confidence becomes the best hit rate that never falls with confidence | on the fitting data, exactly calibrated and never worse in squared error of the confidence, but for rates of 0 and 1. On new data in the limit only |
//! | conformal | the answer stays; beside it stands a set of classes ([`ConformalSets`]) | the set holds the true class with the probability that was asked for (E2), for exchangeable rows |
//!
//! Histogram and isotonic maps are *top-label*: they say how often the class that the model names
//! is right. The other classes share what is left in proportion to their own probabilities. The
//! named class may then not be the most probable one any more; the guarantee is about the class the
//! model named.
//!
//! No map but `conformal`, which leaves answers alone, answers exactly 0 or 1, so that no loss is
//! infinite by construction: probabilities below [`CalibrationMap::least`] are read, and written,
//! as that.

use serde::{Deserialize, Serialize};

use super::conformal::ConformalSets;
use super::histogram::HistogramMap;
use super::isotonic::IsotonicMap;
use super::log_linear::{Family, LogLinear};
use super::map_error::MapError;
use crate::learn::fit_temperature;
use crate::math::ln;
use crate::simplex::{Distribution, temper};

/// How a map is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapMethod {
    /// One temperature for all.
    Temperature,
    /// Hit rates in this many bins of equal width.
    Histogram {
        /// Between 1 and [`MAX_BINS`](super::MAX_BINS).
        bins: usize,
    },
    /// Hit rates that never fall with confidence.
    Isotonic,
    /// The softmax of a linear function of log-probabilities.
    LogLinear(Family),
}

impl MapMethod {
    /// The method's name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            MapMethod::Temperature => "temperature",
            MapMethod::Histogram { .. } => "histogram",
            MapMethod::Isotonic => "isotonic",
            MapMethod::LogLinear(family) => family.name(),
        }
    }
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
/// assert_eq!(map.apply(&sure)?.confidence, 3.5 / 5.0);
/// # Ok::<(), lpf::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationMap {
    least: Least,
    shape: MapShape,
}

/// The kinds of maps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MapShape {
    /// Divide log-probabilities by this.
    Temperature(Temperature),
    /// Look the confidence up in bins.
    Histogram(HistogramMap),
    /// Look the confidence up in a function that never falls.
    Isotonic(IsotonicMap),
    /// A linear function of log-probabilities.
    LogLinear(LogLinear),
    /// Leave the answer alone, and give a set of classes.
    Conformal(ConformalSets),
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

/// The smallest least probability: one minus it is below one, also in double precision.
const SMALLEST: f64 = 1.0 / (1u64 << 50) as f64;

/// What the least probability of a map depends on: of all rows that it is fitted to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    rows: u64,
    /// Whether a probability is zero.
    zero: bool,
    /// The smallest that is not.
    smallest: f64,
}

impl Default for Seen {
    fn default() -> Self {
        Seen {
            rows: 0,
            zero: false,
            smallest: 1.0,
        }
    }
}

impl Seen {
    pub(super) fn add(&mut self, prediction: &Distribution) {
        self.rows += 1;
        for &p in prediction.probabilities() {
            match p > 0.0 {
                true => self.smallest = self.smallest.min(p),
                false => self.zero = true,
            }
        }
    }
}

/// The least probability that a map reads or answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
struct Least(f64);

impl TryFrom<f64> for Least {
    type Error = MapError;
    fn try_from(value: f64) -> Result<Self, MapError> {
        match (SMALLEST..=0.5).contains(&value) {
            true => Ok(Least(value)),
            false => Err(MapError::Least { value }),
        }
    }
}

impl From<Least> for f64 {
    fn from(least: Least) -> f64 {
        least.0
    }
}

impl Least {
    /// `2⁻⁵⁰` where every probability is positive. A zero is a number that was rounded, or an opinion
    /// that no rows can support: it is read as the smallest number that is none, and as at most
    /// `1/2(n + 1)`, which is what `n` rows could show.
    fn of(seen: Seen) -> Least {
        if !seen.zero {
            return Least(SMALLEST);
        }
        let of_rows = 0.5 / (seen.rows as f64 + 1.0);
        Least(seen.smallest.min(of_rows).max(SMALLEST))
    }

    /// The prediction with nothing below the least probability.
    fn raise(self, prediction: &Distribution) -> Result<Distribution, MapError> {
        let p = prediction.probabilities();
        if p.iter().all(|&p| p >= self.0) {
            return Ok(prediction.clone());
        }
        let raised = p.iter().map(|&p| p.max(self.0)).collect();
        Distribution::from_weights(raised).map_err(MapError::Simplex)
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

impl Calibrated {
    /// A prediction as it is.
    pub fn unchanged(prediction: Distribution) -> Self {
        Calibrated {
            class: prediction.argmax(),
            confidence: *prediction.confidence(),
            distribution: prediction,
        }
    }
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
        let mut seen = Seen::default();
        predictions.iter().for_each(|p| seen.add(p));
        CalibrationMap::fit_seen(method, predictions, labels, seen)
    }

    /// The same, where these rows are some of those that were seen.
    pub(super) fn fit_seen(
        method: MapMethod,
        predictions: &[Distribution],
        labels: &[usize],
        seen: Seen,
    ) -> Result<Self, MapError> {
        check_rows(predictions, labels)?;
        let pairs = || -> Vec<(f64, bool)> {
            let rows = predictions.iter().zip(labels);
            rows.map(|(p, &label)| (*p.confidence(), p.argmax() == label))
                .collect()
        };
        let least = Least::of(seen);
        let logs = || -> Result<Vec<f64>, MapError> {
            let classes = predictions.first().map_or(0, Distribution::classes);
            let mut logs = Vec::with_capacity(predictions.len() * classes);
            for p in predictions {
                let raised = least.raise(p)?;
                logs.extend(raised.probabilities().iter().map(|&p| ln(p)));
            }
            Ok(logs)
        };
        let shape = match method {
            MapMethod::Temperature => {
                let value = fit_temperature(&logs()?, labels).ok_or(MapError::NoTemperature)?;
                MapShape::Temperature(Temperature::try_from(value)?)
            }
            MapMethod::Histogram { bins } => {
                MapShape::Histogram(HistogramMap::fit(&pairs(), bins)?)
            }
            MapMethod::Isotonic => MapShape::Isotonic(IsotonicMap::fit(&pairs())?),
            MapMethod::LogLinear(family) => {
                MapShape::LogLinear(LogLinear::fit(family, &logs()?, labels)?)
            }
        };
        Ok(CalibrationMap { least, shape })
    }

    /// A map that was fitted to the rows that were seen.
    pub(super) fn of(seen: Seen, shape: MapShape) -> Self {
        CalibrationMap {
            least: Least::of(seen),
            shape,
        }
    }

    /// The map that changes nothing but zeros and ones.
    pub fn identity() -> Self {
        CalibrationMap {
            least: Least(SMALLEST),
            shape: MapShape::Temperature(Temperature(1.0)),
        }
    }

    /// Prediction sets as a map, which leaves answers alone.
    pub fn conformal(sets: ConformalSets) -> Self {
        CalibrationMap {
            least: Least(SMALLEST),
            shape: MapShape::Conformal(sets),
        }
    }

    /// The kind of the map and its numbers.
    pub fn shape(&self) -> &MapShape {
        &self.shape
    }

    /// Probabilities below this, zero among them, are read as this, and none below it is answered
    /// for the class that is named or by a temperature or log-linear map, up to the rounding of a
    /// sum.
    pub fn least(&self) -> f64 {
        self.least.0
    }

    /// The method's name on the command line and in files.
    pub fn name(&self) -> &'static str {
        match &self.shape {
            MapShape::Temperature(_) => "temperature",
            MapShape::Histogram(_) => "histogram",
            MapShape::Isotonic(_) => "isotonic",
            MapShape::LogLinear(map) => map.family().name(),
            MapShape::Conformal(_) => "conformal",
        }
    }

    /// The prediction sets, where the map gives some.
    pub fn sets(&self) -> Option<&ConformalSets> {
        match &self.shape {
            MapShape::Conformal(sets) => Some(sets),
            _ => None,
        }
    }

    /// The calibrated form of a prediction. Histogram and isotonic maps keep the class that is
    /// named, and so do the others unless another class has become more probable.
    ///
    /// # Errors
    /// [`MapError::Confidence`] where the largest probability is above one (by rounding).
    pub fn apply(&self, prediction: &Distribution) -> Result<Calibrated, MapError> {
        let value = *prediction.confidence();
        let rate = match &self.shape {
            MapShape::Conformal(_) => return Ok(Calibrated::unchanged(prediction.clone())),
            MapShape::Temperature(temperature) => {
                let raised = self.least.raise(prediction)?;
                let tempered = temper(&raised, 1.0 / temperature.0).map_err(MapError::Pool)?;
                // The order of classes is kept, and so is the class that is named among equals.
                let class = prediction.argmax();
                let distribution = self.least.raise(&tempered)?;
                let confidence = distribution.probabilities().get(class).copied();
                return Ok(Calibrated {
                    class,
                    confidence: confidence.unwrap_or(value),
                    distribution,
                });
            }
            MapShape::LogLinear(map) => {
                let answered = map.apply(&self.least.raise(prediction)?)?;
                return Ok(Calibrated::unchanged(self.least.raise(&answered)?));
            }
            MapShape::Histogram(map) => map.rate(value),
            MapShape::Isotonic(map) => map.rate(value),
        };
        let confidence = rate.ok_or(MapError::Confidence { value })?;
        let class = prediction.argmax();
        let raised = self.least.raise(prediction)?;
        Ok(Calibrated {
            distribution: with_confidence(&raised, class, confidence)?,
            class,
            confidence,
        })
    }
}

/// That there are predictions over the same two or more classes, each with a label.
pub(super) fn check_rows(predictions: &[Distribution], labels: &[usize]) -> Result<(), MapError> {
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
    Ok(())
}

/// `prediction`, all of whose entries are positive, with probability `confidence` for `class`, and
/// the rest shared as it was.
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
    let shares = Distribution::from_weights(p).map_err(MapError::Simplex)?;
    let parts = shares.into_vec().into_iter().enumerate().map(|(i, share)| {
        if i == class {
            confidence
        } else {
            share * (1.0 - confidence)
        }
    });
    Distribution::from_weights(parts.collect()).map_err(MapError::Simplex)
}

#[cfg(test)]
mod tests;
