//! The names of all checks, which side of a limit is good, and the limits that hold by default.

use std::collections::BTreeMap;
use std::fmt;

use crate::audit::outcome::{Side, Threshold};

/// What is known of a check before any row is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// Its stable name.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Which side of a limit is good.
    pub side: Side,
    /// The limit that holds unless another is given; none for a check that only informs.
    pub default: Option<f64>,
    /// Whether it estimates something, so that it takes part in the budget of error.
    pub estimates: bool,
    /// Whether it compares with a baseline.
    pub needs_baseline: bool,
}

const fn new(id: &'static str, title: &'static str, side: Side) -> Kind {
    Kind {
        id,
        title,
        side,
        default: None,
        estimates: true,
        needs_baseline: false,
    }
}

impl Kind {
    const fn limit(self, value: f64) -> Kind {
        Kind {
            default: Some(value),
            ..self
        }
    }

    const fn census(self) -> Kind {
        Kind {
            estimates: false,
            ..self
        }
    }

    const fn drift(self) -> Kind {
        Kind {
            needs_baseline: true,
            ..self
        }
    }
}

/// Five points of calibration error are a common upper limit for use without repair; two points of
/// mean over-confidence are what a reader of probabilities begins to notice. Both are starting
/// points, to be replaced by what a use needs.
const ECE_LIMIT: f64 = 0.05;
const GAP_LIMIT: f64 = 0.02;

/// All checks, in the order of the report.
pub const CHECKS: [Kind; 34] = [
    new("validity", "Rows that are no distributions", Side::AtMost)
        .census()
        .limit(0.0),
    new(
        "ece",
        "Calibration error of the predicted class (ECE)",
        Side::AtMost,
    )
    .limit(ECE_LIMIT),
    new(
        "classwise_ece",
        "Calibration error, mean over the classes",
        Side::AtMost,
    ),
    new(
        "adaptive_ece",
        "Calibration error, bins of equal mass",
        Side::AtMost,
    ),
    new(
        "debiased_error",
        "Calibration error, root mean square, without bias",
        Side::AtMost,
    ),
    new("smooth_ece", "Calibration error, smooth", Side::AtMost),
    new(
        "calibration_p",
        "Chance of this ECE under perfect calibration",
        Side::AtLeast,
    ),
    new("gap", "Mean confidence minus accuracy", Side::Within).limit(GAP_LIMIT),
    new("accuracy", "Accuracy", Side::AtLeast),
    new("log_loss", "Log loss", Side::AtMost),
    new(
        "log_loss_excess",
        "Log loss beyond the model's own entropy",
        Side::Within,
    ),
    new(
        "log_loss_floor",
        "Log loss that recalibration cannot remove",
        Side::AtMost,
    ),
    new("brier", "Brier score", Side::AtMost),
    new(
        "brier_calibration",
        "Brier score, calibration part",
        Side::AtMost,
    ),
    new(
        "brier_refinement",
        "Brier score, refinement part",
        Side::AtMost,
    ),
    new("aurc", "Area under the risk-coverage curve", Side::AtMost),
    new(
        "risk_at_coverage",
        "Error rate of the 80 % most confident",
        Side::AtMost,
    ),
    new(
        "consistency",
        "Rows whose answer is not that of their factors",
        Side::AtMost,
    )
    .census()
    .limit(0.0),
    new(
        "weights",
        "Rows whose weights are not the confidence of their posteriors",
        Side::AtMost,
    )
    .census(),
    new(
        "prior_counting",
        "Log loss that counting the prior once would save",
        Side::AtMost,
    ),
    new(
        "dependence",
        "Chance of this likeness of items, if independent (A1)",
        Side::AtLeast,
    ),
    new(
        "encoder_variance",
        "Mean norm of the covariances (A2)",
        Side::AtMost,
    ),
    new(
        "item_calibration",
        "Calibration error of single items (A3)",
        Side::AtMost,
    ),
    new(
        "evidence_count",
        "Most items of one entity (A5)",
        Side::AtMost,
    )
    .census(),
    new(
        "support",
        "Entities with a factor that nearly excludes a class (A6)",
        Side::AtMost,
    ),
    new(
        "influence",
        "Answers that one item left out would change",
        Side::AtMost,
    ),
    new(
        "robustness_radius",
        "Robustness radius, 5 % quantile",
        Side::AtLeast,
    ),
    new(
        "decomposition",
        "Rows whose uncertainty does not add up",
        Side::AtMost,
    )
    .census()
    .limit(0.0),
    new("k_eff", "Effective number of items, median", Side::AtLeast),
    new(
        "drift_accuracy",
        "Accuracy, change from the baseline",
        Side::Within,
    )
    .drift()
    .limit(0.02),
    new(
        "drift_confidence",
        "Mean confidence, change from the baseline",
        Side::Within,
    )
    .drift()
    .limit(0.02),
    new(
        "drift_brier",
        "Brier score, change from the baseline",
        Side::Within,
    )
    .drift()
    .limit(0.02),
    new(
        "drift_labels",
        "True classes, distance from the baseline",
        Side::AtMost,
    )
    .drift()
    .limit(0.05),
    new(
        "drift_confidences",
        "Confidences, distance from the baseline",
        Side::AtMost,
    )
    .drift()
    .limit(0.05),
];

/// The check of this name.
pub(super) fn kind(id: &str) -> Option<&'static Kind> {
    CHECKS.iter().find(|kind| kind.id == id)
}

/// The limits that hold unless others are given.
pub fn default_thresholds() -> BTreeMap<&'static str, Threshold> {
    let limit = |kind: &Kind| {
        let value = kind.default?;
        let side = kind.side;
        Some((kind.id, Threshold { side, value }))
    };
    CHECKS.iter().filter_map(limit).collect()
}

/// Why a limit cannot be set.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ThresholdError {
    /// There is no such check.
    Unknown {
        /// The name as given.
        id: String,
    },
    /// The limit is not a finite number.
    Value {
        /// The check.
        id: &'static str,
        /// The limit as given.
        value: f64,
    },
}

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThresholdError::Unknown { id } => {
                let known: Vec<&str> = CHECKS.iter().map(|kind| kind.id).collect();
                write!(f, "there is no check {id}; there are {}", known.join(", "))
            }
            ThresholdError::Value { id, value } => {
                write!(f, "{id}: a limit is a finite number, not {value}")
            }
        }
    }
}

impl std::error::Error for ThresholdError {}

/// Sets the limit of a check, or takes it away; returns the check.
///
/// # Errors
/// [`ThresholdError`] for an unknown check or a limit that is not finite.
pub fn set_threshold(
    thresholds: &mut BTreeMap<&'static str, Threshold>,
    id: &str,
    value: Option<f64>,
) -> Result<&'static str, ThresholdError> {
    let kind = kind(id).ok_or_else(|| ThresholdError::Unknown { id: id.to_string() })?;
    match value {
        None => {
            thresholds.remove(kind.id);
        }
        Some(value) if value.is_finite() => {
            let side = kind.side;
            thresholds.insert(kind.id, Threshold { side, value });
        }
        Some(value) => return Err(ThresholdError::Value { id: kind.id, value }),
    }
    Ok(kind.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_limits_can_be_set_and_taken_away() {
        let mut ids: Vec<&str> = CHECKS.iter().map(|kind| kind.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), CHECKS.len());
        let mut limits = default_thresholds();
        set_threshold(&mut limits, "accuracy", Some(0.9)).unwrap();
        assert_eq!(limits["accuracy"].side, Side::AtLeast);
        set_threshold(&mut limits, "ece", None).unwrap();
        assert!(!limits.contains_key("ece"));
        let unknown = set_threshold(&mut limits, "x", None)
            .unwrap_err()
            .to_string();
        assert!(unknown.contains("there is no check x; there are validity, ece"));
        assert!(set_threshold(&mut limits, "ece", Some(f64::NAN)).is_err());
    }
}
