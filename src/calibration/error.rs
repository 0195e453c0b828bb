//! What can be wrong with predictions that are to be scored.

use super::bins::MAX_BINS;

/// Why predictions cannot be scored.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// There are no predictions, so every mean is 0/0.
    #[error("there are no predictions to score")]
    Empty,
    /// The number of bins is zero or above [`MAX_BINS`].
    #[error("{bins} bins; choose between 1 and {MAX_BINS}")]
    Bins {
        /// The number asked for.
        bins: usize,
    },
    /// A confidence is NaN or outside `[0, 1]`.
    #[error("confidence {index} is {value}; confidences lie between 0 and 1")]
    Confidence {
        /// Position of the prediction.
        index: usize,
        /// Its confidence.
        value: f64,
    },
    /// A true label names no class.
    #[error("label {index} is {label}, but classes are numbered from 0 and there are {classes}")]
    Label {
        /// Position of the prediction.
        index: usize,
        /// The label.
        label: usize,
        /// How many classes there are.
        classes: usize,
    },
    /// A prediction has another number of classes than expected.
    #[error("prediction {index} has {found} classes, not {expected}")]
    Classes {
        /// Position of the prediction.
        index: usize,
        /// Classes of the accumulator, or of the first prediction.
        expected: usize,
        /// Classes of this one.
        found: usize,
    },
    /// There are not as many outcomes as predictions.
    #[error("{predictions} predictions but {outcomes} outcomes")]
    Lengths {
        /// How many predictions.
        predictions: usize,
        /// How many outcomes.
        outcomes: usize,
    },
    /// Two accumulators of different shape cannot be merged.
    #[error("scores over {left} and over {right} bins or classes cannot be merged")]
    Shape {
        /// Bins (or classes) of the left one.
        left: usize,
        /// Bins (or classes) of the right one.
        right: usize,
    },
    /// A sum of residuals is NaN, or larger than as many predictions can have.
    #[error("the residuals of cell {index} add up to {value}, more than its count allows")]
    Residual {
        /// Position of the cell.
        index: usize,
        /// Its sum.
        value: f64,
    },
    /// A kernel's bandwidth outside `[1/1024, 1]`.
    #[error("bandwidth {value}; choose between 1/1024 and 1")]
    Bandwidth {
        /// The bandwidth.
        value: f64,
    },
    /// More than 2⁶⁴ − 1 predictions.
    #[error("more predictions than can be counted")]
    TooMany,
}
