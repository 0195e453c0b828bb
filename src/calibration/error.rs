//! What can be wrong with predictions that are to be scored.

use std::fmt;

use super::bins::MAX_BINS;

/// Why predictions cannot be scored.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CalibrationError {
    /// There are no predictions, so every mean is 0/0.
    Empty,
    /// The number of bins is zero or above [`MAX_BINS`].
    Bins {
        /// The number asked for.
        bins: usize,
    },
    /// A confidence is NaN or outside `[0, 1]`.
    Confidence {
        /// Position of the prediction.
        index: usize,
        /// Its confidence.
        value: f64,
    },
    /// A true label names no class.
    Label {
        /// Position of the prediction.
        index: usize,
        /// The label.
        label: usize,
        /// How many classes there are.
        classes: usize,
    },
    /// A prediction has another number of classes than expected.
    Classes {
        /// Position of the prediction.
        index: usize,
        /// Classes of the accumulator, or of the first prediction.
        expected: usize,
        /// Classes of this one.
        found: usize,
    },
    /// There are not as many outcomes as predictions.
    Lengths {
        /// How many predictions.
        predictions: usize,
        /// How many outcomes.
        outcomes: usize,
    },
    /// Two accumulators of different shape cannot be merged.
    Shape {
        /// Bins (or classes) of the left one.
        left: usize,
        /// Bins (or classes) of the right one.
        right: usize,
    },
    /// A sum of residuals is NaN, or larger than as many predictions can have.
    Residual {
        /// Position of the cell.
        index: usize,
        /// Its sum.
        value: f64,
    },
    /// A kernel's bandwidth outside `[1/1024, 1]`.
    Bandwidth {
        /// The bandwidth.
        value: f64,
    },
    /// More than 2⁶⁴ − 1 predictions.
    TooMany,
}

impl fmt::Display for CalibrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CalibrationError::Empty => write!(f, "there are no predictions to score"),
            CalibrationError::Bins { bins } => {
                write!(f, "{bins} bins; choose between 1 and {MAX_BINS}")
            }
            CalibrationError::Confidence { index, value } => write!(
                f,
                "confidence {index} is {value}; confidences lie between 0 and 1"
            ),
            CalibrationError::Label {
                index,
                label,
                classes,
            } => write!(
                f,
                "label {index} is {label}, but classes are numbered from 0 and there are {classes}"
            ),
            CalibrationError::Classes {
                index,
                expected,
                found,
            } => write!(f, "prediction {index} has {found} classes, not {expected}"),
            CalibrationError::Lengths {
                predictions,
                outcomes,
            } => write!(f, "{predictions} predictions but {outcomes} outcomes"),
            CalibrationError::Shape { left, right } => write!(
                f,
                "scores over {left} and over {right} bins or classes cannot be merged"
            ),
            CalibrationError::Residual { index, value } => write!(
                f,
                "the residuals of cell {index} add up to {value}, more than its count allows"
            ),
            CalibrationError::Bandwidth { value } => {
                write!(f, "bandwidth {value}; choose between 1/1024 and 1")
            }
            CalibrationError::TooMany => write!(f, "more predictions than can be counted"),
        }
    }
}

impl std::error::Error for CalibrationError {}
