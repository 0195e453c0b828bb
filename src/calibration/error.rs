//! What can be wrong with predictions that are to be scored.

use super::bins::MAX_BINS;

/// Why predictions cannot be scored.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum CalibrationError {
    /// There are no predictions, so every mean is 0/0.
    #[error("there are no predictions to score")]
    Empty,
    /// The number of bins is zero or above [`MAX_BINS`].
    #[error("{bins} bins; choose between 1 and {MAX_BINS}")]
    Bins { bins: usize },
    /// A confidence is NaN or outside `[0, 1]`.
    #[error("confidence {index} is {value}; confidences lie between 0 and 1")]
    Confidence { index: usize, value: f64 },
    /// A true label names no class.
    #[error("label {index} is {label}, but classes are numbered from 0 and there are {classes}")]
    Label {
        index: usize,
        label: usize,
        classes: usize,
    },
    /// A prediction has another number of classes than expected.
    #[error("prediction {index} has {found} classes, not {expected}")]
    Classes {
        index: usize,
        expected: usize,
        found: usize,
    },
    /// There are not as many outcomes as predictions.
    #[error("{predictions} predictions but {outcomes} outcomes")]
    Lengths { predictions: usize, outcomes: usize },
    /// Two accumulators of different shape cannot be merged.
    #[error("scores over {left} and over {right} bins or classes cannot be merged")]
    Shape { left: usize, right: usize },
    /// A sum of residuals is NaN, or larger than as many predictions can have.
    #[error("the residuals of cell {index} add up to {value}, more than its count allows")]
    Residual { index: usize, value: f64 },
    /// A kernel's bandwidth outside `[1/1024, 1]`.
    #[error("bandwidth {value}; choose between 1/1024 and 1")]
    Bandwidth { value: f64 },
    /// More than 2⁶⁴ − 1 predictions.
    #[error("more predictions than can be counted")]
    TooMany,
}
