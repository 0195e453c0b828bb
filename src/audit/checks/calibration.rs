//! Do the probabilities mean what they say?

use rayon::prelude::*;

use super::{ENOUGH_POWER, Gate, Rows};
use crate::audit::calibration_error;
use crate::audit::intervals::{
    BINWISE, BinGap, Estimate, MCDIARMID, average, error_range, gaps_of, gaps_of_cells,
};
use crate::audit::null::{REPLICATES, null};
use crate::audit::outcome::{Check, Power, ReliabilityPoint};
use crate::audit::smooth::{smooth_cells, smooth_range};
use crate::audit::tally::Scored;
use crate::calibration::{Reliability, smooth_ece};
use crate::math::{ExactSum, ln};

/// The over-confidence for which the power is stated: five points.
const EFFECT: f64 = 0.05;

/// The checks of this file, none of which can run without a usable row.
const ALL: [&str; 7] = [
    "ece",
    "classwise_ece",
    "adaptive_ece",
    "debiased_error",
    "smooth_ece",
    "calibration_p",
    "gap",
];

/// Why a check has no value.
pub(super) const NOTHING: &str = "no row could be scored";

/// The checks, and the reliability diagram.
pub(super) fn checks(
    gate: &Gate<'_>,
    tally: &Scored<'_>,
    rows: &Rows<'_>,
) -> (Vec<Check>, Vec<ReliabilityPoint>) {
    if tally.usable() == 0 {
        let none = ALL.map(|id| gate.not_run(id, NOTHING));
        return (none.into(), Vec::new());
    }
    let one_by_one = [ece, classwise, adaptive, debiased, smooth, p_value, gap];
    rayon::join(
        || {
            one_by_one
                .par_iter()
                .map(|check| check(gate, tally, rows))
                .collect()
        },
        || reliability_points(&tally.scores.top),
    )
}

/// The mean confidence.
fn mean_confidence(tally: &Scored<'_>) -> f64 {
    let sum: ExactSum = tally.grid.cells().map(|c| c.confidence).collect();
    sum.to_f64() / tally.usable() as f64
}

fn reliability_points(top: &Reliability) -> Vec<ReliabilityPoint> {
    let ranges = top_gaps(top, 1.0 - super::CONFIDENCE);
    super::classes::reliability(top, &ranges)
}

/// The bins of the predicted class, with ranges that all hold at once with probability `1 − δ`.
pub(super) fn top_gaps(top: &Reliability, delta: f64) -> Vec<BinGap> {
    gaps_of(&[top], delta).into_iter().flatten().collect()
}

fn ece(gate: &Gate<'_>, tally: &Scored<'_>, rows: &Rows<'_>) -> Check {
    let id = "ece";
    let delta = gate.delta(id);
    let Ok(value) = tally.scores.ece() else {
        return gate.not_run(id, NOTHING);
    };
    let used = tally
        .scores
        .top
        .bins()
        .iter()
        .filter(|b| b.count > 0)
        .count();
    let sentence = format!(
        "Confidence and accuracy differ by {:.1} points on average over the {used} bins in use.",
        100.0 * value
    );
    let top = &tally.scores.top;
    let estimate = calibration_error::ece(value, tally.grid, top, rows.clusters, delta);
    // The error is at least the gap, whose lower end has this share.
    let power = power_of(gate, id, tally, rows, delta / 8.0);
    gate.estimate(id, estimate, sentence).with_power(power)
}

/// The power against a model that is over-confident by [`EFFECT`], where rows are independent.
fn power_of(
    gate: &Gate<'_>,
    id: &str,
    tally: &Scored<'_>,
    rows: &Rows<'_>,
    share: f64,
) -> Option<Power> {
    let limit = gate.threshold(id)?;
    if rows.clustered() {
        return None;
    }
    calibration_error::power(tally.grid, limit.value, EFFECT, share)
}

/// One row changes the error by at most `4/(C·n)` for `C` classes: what it adds is a mean over the classes of
/// differences whose sizes add up to at most 2. The upper end is that of a fixed sequence of signs
/// (see `calibration_error`), by Hoeffding's inequality; the error in the log exceeds the true one on
/// average by at most `Σ √Var ≤ √(C·B·2/n)/C` (Cauchy and Schwarz; the squares of one row add up to at
/// most 2). Entities count for rows by their effective number.
fn classwise(gate: &Gate<'_>, tally: &Scored<'_>, rows: &Rows<'_>) -> Check {
    let id = "classwise_ece";
    let Ok(value) = tally.scores.classwise_ece() else {
        return gate.not_run(id, NOTHING);
    };
    let classes = tally.scores.classwise.len() as f64;
    let delta = gate.delta(id);
    let n = rows.effective;
    let reach = (4.0 / classes).min(2.0) * libm::sqrt(ln(2.0 / delta) / (2.0 * n));
    let bias = libm::sqrt(2.0 * tally.bins() as f64 / (classes * n));
    let range = ((value - reach - bias).max(0.0), (value + reach).min(1.0));
    let sentence = format!(
        "Averaged over the classes, probability and frequency differ by {:.1} points.",
        100.0 * value
    );
    let unit = (0.0, 1.0);
    let estimate = Estimate::known(value, range, unit, tally.usable(), delta, MCDIARMID);
    gate.estimate(id, estimate, sentence)
}

/// With the confidences given, one outcome changes the error by at most `1/n`, and the true error is at
/// most the expected one: at most `√(ln(1/δ)/(2n))` above the value (McDiarmid). The smaller of that and
/// of the bins' own ranges is taken, at half of the error each. With entities for rows, the value exceeds
/// the true error on average by at most `√(B/(4·n))`, as in `classwise`.
fn adaptive(gate: &Gate<'_>, tally: &Scored<'_>, rows: &Rows<'_>) -> Check {
    let id = "adaptive_ece";
    let delta = gate.delta(id);
    let cells = tally.grid.equal_mass(tally.bins());
    let gaps = gaps_of_cells(&cells, delta / 2.0);
    let value = average(&gaps, |bin| bin.gap.abs());
    let sentence = format!(
        "With {} bins of about equal mass the calibration error is {:.1} points.",
        gaps.len(),
        100.0 * value
    );
    let n = rows.effective;
    let reach = libm::sqrt(ln(2.0 / delta) / (2.0 * n));
    let (range, method) = if rows.clustered() {
        let bias = libm::sqrt(cells.len() as f64 / (4.0 * n));
        (((value - reach - bias).max(0.0), value + reach), MCDIARMID)
    } else {
        let (low, high) = error_range(&gaps);
        ((low, high.min(value + reach)), BINWISE)
    };
    let range = (range.0, range.1.min(1.0));
    let estimate = Estimate::known(value, range, (0.0, 1.0), tally.usable(), delta, method);
    gate.estimate(id, estimate, sentence)
}

/// `√(Σ_b (n_b/N)·[(c_b − a_b)² − a_b(1 − a_b)/(n_b − 1)])` over bins with two or more predictions
/// (Bröcker 2012; Kumar, Liang and Ma 2019): the square of a gap exceeds that of the true gap by
/// the variance of the rate, of which `a(1 − a)/(n − 1)` is an unbiased estimate. A sum below zero
/// counts as zero.
fn debiased(gate: &Gate<'_>, tally: &Scored<'_>, rows: &Rows<'_>) -> Check {
    let id = "debiased_error";
    let gaps = top_gaps(&tally.scores.top, gate.delta(id));
    let squared = average(&gaps, |bin| match bin.count {
        1 => 0.0,
        count => bin.gap * bin.gap - bin.rate * (1.0 - bin.rate) / (count - 1) as f64,
    });
    let value = libm::sqrt(squared.max(0.0));
    let low = libm::sqrt(average(&gaps, |bin| bin.distances().0 * bin.distances().0));
    let high = libm::sqrt(average(&gaps, |bin| bin.distances().1 * bin.distances().1));
    let range = (low, high.min(1.0));
    let sentence = format!(
        "Without the part that chance alone adds, confidence and accuracy differ by {:.1} points \
         (root mean square over the bins).",
        100.0 * value
    );
    let delta = gate.delta(id);
    let estimate = Estimate::known(value, range, (0.0, 1.0), tally.usable(), delta, BINWISE);
    gate.of_independent(id, rows, estimate, sentence)
}

fn smooth(gate: &Gate<'_>, tally: &Scored<'_>, rows: &Rows<'_>) -> Check {
    let id = "smooth_ece";
    let cells = smooth_cells(tally.grid);
    let (smooth, range) = rayon::join(
        || smooth_ece(&cells),
        || smooth_range(&cells, rows.effective, gate.delta(id)),
    );
    let found = smooth.and_then(|smooth| Ok((smooth.value, range?)));
    let (value, range) = match found {
        Ok(found) => found,
        Err(error) => return gate.not_run(id, error.to_string()),
    };
    let sentence = format!(
        "Without bins, smoothed by a kernel of its own width, the calibration error is {:.1} points.",
        100.0 * value
    );
    let unit = (0.0, 1.0);
    let estimate = Estimate::known(
        value,
        range,
        unit,
        tally.usable(),
        gate.delta(id),
        MCDIARMID,
    );
    gate.estimate(id, estimate, sentence)
}

fn p_value(gate: &Gate<'_>, tally: &Scored<'_>, rows: &Rows<'_>) -> Check {
    let id = "calibration_p";
    if rows.clustered() {
        return gate.not_run(id, "rows of one entity may depend on each other");
    }
    let critical = gate.critical(id);
    let found = null(
        tally.grid,
        tally.bins(),
        gate.settings.seed,
        critical.map(|level| (level, EFFECT)),
    );
    let Some(null) = found else {
        return gate.not_run(id, NOTHING);
    };
    let mut sentence = format!(
        "A perfectly calibrated model with these confidences would show an ECE of {:.2} points on \
         average, and of up to {:.2} in 95 of 100 logs; the p-value of the {:.2} found here is {:.3} \
         ({REPLICATES} simulated logs).",
        100.0 * null.mean,
        100.0 * null.upper,
        100.0 * null.observed,
        null.p_value
    );
    let power = null.power.map(|probability| Power {
        effect: EFFECT,
        probability,
    });
    if let Some(power) = power
        && power.probability < ENOUGH_POWER
    {
        sentence += " So few rows say too little about a model to pass it.";
    }
    gate.p_value(id, null.p_value, tally.usable(), power, sentence)
}

fn gap(gate: &Gate<'_>, tally: &Scored<'_>, rows: &Rows<'_>) -> Check {
    let id = "gap";
    let delta = gate.delta(id);
    let Ok(accuracy) = tally.scores.accuracy() else {
        return gate.not_run(id, NOTHING);
    };
    let confidence = mean_confidence(tally);
    let estimate = calibration_error::gap(confidence - accuracy, tally.grid, rows.clusters, delta);
    let direction = if estimate.ends.low(1.0) > 0.0 {
        "the model is over-confident"
    } else if estimate.ends.high(1.0) < 0.0 {
        "the model is under-confident"
    } else {
        "neither over- nor under-confidence is shown"
    };
    let sentence = format!(
        "Mean confidence is {:.1} %, accuracy {:.1} %: {direction}.",
        100.0 * confidence,
        100.0 * accuracy
    );
    let power = power_of(gate, id, tally, rows, delta / 2.0);
    gate.estimate(id, estimate, sentence).with_power(power)
}

#[cfg(test)]
mod tests;
