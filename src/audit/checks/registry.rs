//! All checks: their names, which side of a limit is good, and their default limits.

use std::collections::BTreeMap;

use crate::audit::outcome::{
    Side::{self, AtLeast, AtMost, Within},
    Threshold,
};

/// A check as it is known before any row is read.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CheckKind {
    /// Stable name, for limits and for machines.
    pub id: &'static str,
    /// Title, for people.
    pub title: &'static str,
    /// What its interval is about.
    pub estimand: &'static str,
    /// Which side of a limit is good.
    pub side: Side,
    /// The default limit; `None` for a check that only informs.
    pub default: Option<f64>,
    /// Whether it estimates something and so takes a share of the error budget.
    pub estimates: bool,
    /// Whether it compares with a baseline.
    pub needs_baseline: bool,
}

/// A check that estimates something, without a default limit.
const fn estimate(id: &'static str, title: &'static str, side: Side) -> CheckKind {
    CheckKind {
        id,
        title,
        estimand: "",
        side,
        default: None,
        estimates: true,
        needs_baseline: false,
    }
}

/// A check that looks at every row, where small values are good.
const fn census(id: &'static str, title: &'static str) -> CheckKind {
    let mut kind = estimate(id, title, AtMost).of(LOG);
    kind.estimates = false;
    kind
}

/// A comparison with a baseline, and its default limit.
const fn drift(id: &'static str, title: &'static str, side: Side, limit: f64) -> CheckKind {
    let mut kind = estimate(id, title, side).of(CHANGE).limit(limit);
    kind.needs_baseline = true;
    kind
}

impl CheckKind {
    const fn limit(mut self, value: f64) -> CheckKind {
        self.default = Some(value);
        self
    }

    const fn of(mut self, estimand: &'static str) -> CheckKind {
        self.estimand = estimand;
        self
    }
}

/// What intervals are about. Of a population, rows (or entities, with their numbers of rows as they are)
/// are drawn independently; "given the confidences" means that only the outcomes are.
const LOG: &str = "the rows of this log, all of which were looked at";
const POPULATION: &str = "the mean over the population that the rows were drawn from";
const BINS: &str = "the error over the population that the rows were drawn from, in these bins";
const GIVEN: &str =
    "its value for these confidences and the true rates behind them, given the confidences";
const CLIPPED: &str = "the mean over the population, true classes below 0.0001 counted as 0.0001";
const RATE: &str = "the share of the population that the rows were drawn from";
const QUANTILE: &str = "the quantile of the population that the rows were drawn from";
const PAIRS: &str =
    "the share of pairs in the population, a row of the class and another, in the right order";
const TEST: &str =
    "a p-value, which is at most a level with at most that probability if the hypothesis holds";
const CHANGE: &str = "the difference between the populations that both logs were drawn from";

/// What an interval is about where entities may have several rows. Entities are drawn, and nothing is said
/// about how many rows they have: those of other numbers of rows may be of another kind.
const BY_ENTITY: [(&str, &str); 5] = [
    (
        POPULATION,
        "the mean over the population that the entities were drawn from, each with as many rows as here",
    ),
    (
        BINS,
        "the error over the population that the entities were drawn from, each with as many rows as here, \
         in these bins",
    ),
    (
        CLIPPED,
        "the mean over the population that the entities were drawn from, each with as many rows as here, \
         true classes below 0.0001 counted as 0.0001",
    ),
    (
        RATE,
        "the share of the population that the entities were drawn from, each with as many rows as here",
    ),
    (
        CHANGE,
        "the difference between the populations that the entities of both logs were drawn from, each with as \
         many rows as here",
    ),
];

/// Of a sample there is one row of each entity.
const ONE_ROW: [(&str, &str); 3] = [
    (
        "prior_counting",
        "the mean over the entities that these were drawn from, one row of each, true classes below \
         0.0001 counted as 0.0001",
    ),
    (
        "item_calibration",
        "the error over the entities that these were drawn from, one row of each, in these bins",
    ),
    (
        "support",
        "the share of the entities that these were drawn from, one row of each",
    ),
];

/// What the interval of a check is about where rows of one entity are one cluster.
pub(super) fn by_entity(id: &str, estimand: &'static str) -> &'static str {
    let find = |list: &[(&str, &'static str)], key: &str| {
        let found = list.iter().find(|(name, _)| *name == key);
        found.map(|(_, words)| *words)
    };
    let own = find(&ONE_ROW, id).or_else(|| find(&BY_ENTITY, estimand));
    own.unwrap_or(estimand)
}

/// Five points of calibration error are a common upper limit for use without repair; two points of
/// mean over-confidence are what a reader of probabilities begins to notice. Both are starting
/// points, to be replaced by what a use needs.
const ECE_LIMIT: f64 = 0.05;
const GAP_LIMIT: f64 = 0.02;

/// All checks, in the order of the report.
#[rustfmt::skip]
pub const CHECKS: [CheckKind; 40] = [
    census("validity", "Invalid probability rows").limit(0.0),
    estimate("ece", "Calibration error of the predicted class (ECE)", AtMost).of(BINS).limit(ECE_LIMIT),
    estimate("classwise_ece", "Calibration error, mean over the classes", AtMost).of(BINS),
    estimate("adaptive_ece", "Calibration error, bins of equal mass", AtMost).of(GIVEN),
    estimate("debiased_error", "Calibration error, debiased root mean square", AtMost).of(GIVEN),
    estimate("smooth_ece", "Calibration error, smooth", AtMost).of(GIVEN),
    estimate("calibration_p", "p-value: perfect calibration", AtLeast).of(TEST),
    estimate("gap", "Mean confidence minus accuracy", Within).of(POPULATION).limit(GAP_LIMIT),
    estimate("accuracy", "Accuracy", AtLeast).of(RATE),
    estimate("log_loss", "Log loss", AtMost).of(POPULATION),
    estimate("log_loss_clipped", "Log loss, clipped", AtMost).of(CLIPPED),
    estimate("log_loss_excess", "Log loss minus mean predicted entropy", Within).of(POPULATION),
    estimate("log_loss_floor", "Log loss that recalibration cannot remove", AtMost).of(GIVEN),
    estimate("brier", "Brier score", AtMost).of(POPULATION),
    estimate("brier_calibration", "Brier score, calibration part", AtMost).of(GIVEN),
    estimate("brier_refinement", "Brier score, refinement part", AtMost).of(GIVEN),
    estimate("aurc", "Area under the risk-coverage curve", AtMost).of(GIVEN),
    estimate("risk_at_coverage", "Error rate of the most confident 80 %", AtMost).of(GIVEN),
    estimate("auroc", "Area under the ROC curve", AtLeast).of(PAIRS),
    estimate("average_precision", "Area under the precision-recall curve", AtLeast).of(LOG),
    estimate("f1", "F1 of the predicted classes", AtLeast).of(LOG),
    census("consistency", "Answers that differ from the aggregate of their factors").limit(0.0),
    census("weights", "Rows whose weights differ from the confidence of their posteriors"),
    estimate("prior_counting", "Log loss saved by counting the prior once", AtMost).of(CLIPPED),
    estimate("dependence", "p-value: conditional independence (A1)", AtLeast).of(TEST),
    estimate("encoder_variance", "Mean norm of the covariances (A2)", AtMost).of(POPULATION),
    estimate("item_calibration", "Calibration error of single items (A3)", AtMost).of(BINS),
    census("evidence_count", "Largest number of items of one entity (A5)"),
    estimate("support", "Entities with a factor that nearly excludes a class (A6)", AtMost).of(RATE),
    estimate("influence", "Predictions that change when one item is left out", AtMost).of(RATE),
    estimate("robustness_radius", "Robustness radius, 5 % quantile", AtLeast).of(QUANTILE),
    census("decomposition", "Rows whose uncertainty does not add up").limit(0.0),
    estimate("k_eff", "Effective number of items, median", AtLeast).of(QUANTILE),
    estimate("coverage", "Prediction sets that hold the true class", AtLeast).of(RATE),
    census("set_size", "Classes in a prediction set, mean"),
    drift("drift_accuracy", "Change in accuracy", Within, 0.02),
    drift("drift_confidence", "Change in mean confidence", Within, 0.02),
    drift("drift_brier", "Change in the Brier score", Within, 0.02),
    drift("drift_labels", "Change in class frequencies (total variation)", AtMost, 0.05),
    drift("drift_confidences", "Change in the confidences (Kolmogorov-Smirnov)", AtMost, 0.05),
];
pub(super) fn kind(id: &str) -> Option<&'static CheckKind> {
    CHECKS.iter().find(|kind| kind.id == id)
}

/// The default limits.
pub fn default_thresholds() -> BTreeMap<&'static str, Threshold> {
    let limit = |kind: &CheckKind| {
        let value = kind.default?;
        let side = kind.side;
        Some((kind.id, Threshold { side, value }))
    };
    CHECKS.iter().filter_map(limit).collect()
}

/// Why a limit cannot be set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum ThresholdError {
    /// No check has this name.
    #[error("there is no check {id}; the checks are {}", CHECKS.map(|kind| kind.id).join(", "))]
    Unknown { id: String },
    /// The limit is not a finite number.
    #[error("{id}: a limit is a finite number, not {value}")]
    Value { id: &'static str, value: f64 },
}

/// Sets the limit of a check, or removes it where `value` is `None`; returns the check.
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

    /// Only what is counted, given or a test is the same by rows and by entities.
    #[test]
    fn what_is_about_rows_is_said_anew_for_entities() {
        for kind in CHECKS {
            let words = by_entity(kind.id, kind.estimand);
            let same = [LOG, GIVEN, QUANTILE, PAIRS, TEST].contains(&kind.estimand);
            assert_eq!(words == kind.estimand, same, "{}", kind.id);
            assert!(same || words.contains("entit"), "{}", kind.id);
        }
    }

    #[test]
    fn names_are_unique_and_limits_can_be_set_and_taken_away() {
        let mut ids: Vec<&str> = CHECKS.iter().map(|kind| kind.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), CHECKS.len());
        let mut limits = default_thresholds();
        set_threshold(&mut limits, "accuracy", Some(0.9)).unwrap();
        assert_eq!(limits["accuracy"].side, AtLeast);
        set_threshold(&mut limits, "ece", None).unwrap();
        assert!(!limits.contains_key("ece"));
        let unknown = set_threshold(&mut limits, "x", None)
            .unwrap_err()
            .to_string();
        assert!(unknown.contains("there is no check x; the checks are validity, ece"));
        assert!(set_threshold(&mut limits, "ece", Some(f64::NAN)).is_err());
    }
}
