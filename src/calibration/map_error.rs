//! Why a map cannot be fitted, read or applied.

use super::bins::MAX_BINS;
use super::isotonic::MAX_BLOCKS;
use super::log_linear::{Family, MAX_PARAMETERS};
use crate::simplex::{PoolError, SimplexError};

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
    /// The log loss has no minimum within a factor of 1024 of temperature one.
    #[error(
        "the log loss has no minimum at a temperature between 1/1024 and 1024: the predictions are \
         all right, all uniform, or no better than chance; use another method, or more rows"
    )]
    NoTemperature,
    /// A temperature that is not a finite number above zero.
    #[error("temperature {value:?} is not a finite number above zero")]
    Temperature { value: f64 },
    /// A least probability that no fit gives.
    #[error("the least probability {value:?} is not between 2^-50 and 1/2")]
    Least { value: f64 },
    /// A family of maps for two classes, and other predictions.
    #[error("{} maps are for two classes, but there are {classes}; use vector", family.name())]
    TwoClasses { family: Family, classes: usize },
    /// More parameters than are fitted.
    #[error(
        "a {} map over {classes} classes has {parameters} parameters; at most {MAX_PARAMETERS} are \
         fitted: use {}",
        family.name(),
        if *family == Family::Vector { "temperature" } else { "vector or temperature" }
    )]
    Parameters {
        family: Family,
        classes: usize,
        parameters: usize,
    },
    /// The loss has no single minimum, or none that doubles reach.
    #[error(
        "the log loss of a {} map has no single minimum on these rows: all predictions may be alike; \
         use another method, or more rows",
        family.name()
    )]
    NoMinimum { family: Family },
    /// Numbers that no fit gives.
    #[error("the numbers of the {} map do not fit its classes, or are not finite", family.name())]
    LogLinear { family: Family },
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
    /// A coverage that is none.
    #[error("coverage {value} is not a number between 0 and 1 with at most 18 digits")]
    Coverage { value: f64 },
    /// A robustness that is none.
    #[error("a robust distance is finite and not negative, and of at least one item")]
    Robust,
    /// Sets whose thresholds no fit gives.
    #[error("the thresholds of the prediction sets do not fit their classes, or are not numbers")]
    Thresholds,
    /// Robustness of scores that it is not proved for.
    #[error("robust sets need the score `lead`, which the theorem is about")]
    RobustScore,
    /// A robust set is asked for without the weights of the evidence.
    #[error(
        "a robust prediction set needs the weights of the evidence behind the answer, and there are none"
    )]
    NoWeights,
    #[error(transparent)]
    Pool(PoolError),
    #[error(transparent)]
    Simplex(SimplexError),
}
