//! Do the probabilities mean what they say?

use super::Gate;
use super::class_gaps::ClassGaps;
use crate::audit::intervals::{
    BINWISE, BinGap, CLOPPER_PEARSON, Confidences, average, error_range, gaps_of, gaps_of_cells,
    power, rate_range,
};
use crate::audit::null::{REPLICATES, null};
use crate::audit::outcome::{Check, Curves, ReliabilityPoint};
use crate::audit::smooth::{smooth_cells, smooth_range};
use crate::audit::tally::Tally;
use crate::calibration::{Reliability, smooth_ece};
use crate::math::ExactSum;

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

pub(super) fn checks(
    gate: &Gate<'_>,
    tally: &Tally,
    classes: &ClassGaps<'_>,
    checks: &mut Vec<Check>,
    curves: &mut Curves,
) {
    if tally.usable() == 0 {
        checks.extend(ALL.map(|id| gate.not_run(id, NOTHING)));
        return;
    }
    curves.reliability = reliability_points(&tally.scores.top);
    let confidences = confidences(tally);
    checks.push(ece(gate, tally, confidences));
    checks.push(classwise(gate, tally, classes));
    checks.push(adaptive(gate, tally));
    checks.push(debiased(gate, tally));
    checks.push(smooth(gate, tally));
    checks.push(p_value(gate, tally));
    checks.push(gap(gate, tally, confidences));
}

/// Sums over the grid; within a cell, confidences are taken as their mean.
fn confidences(tally: &Tally) -> Confidences {
    let n = tally.usable();
    let count = n as f64;
    let sum: ExactSum = tally.grid.cells().map(|c| c.confidence).collect();
    let spread = tally.grid.cells().map(|c| c.confidence * (1.0 - c.mean()));
    Confidences {
        n,
        mean: sum.to_f64() / count,
        variance: spread.collect::<ExactSum>().to_f64() / count,
    }
}

fn reliability_points(top: &Reliability) -> Vec<ReliabilityPoint> {
    let ranges = top_gaps(top, 1.0 - super::CONFIDENCE);
    let filled = top.bins().into_iter().filter(|bin| bin.count > 0);
    filled
        .zip(ranges)
        .map(|(bin, range)| ReliabilityPoint {
            lower: bin.lower,
            upper: bin.upper,
            count: bin.count,
            confidence: range.confidence,
            accuracy: range.rate,
            accuracy_low: range.low,
            accuracy_high: range.high,
        })
        .collect()
}

/// The bins of the predicted class, with ranges that all hold at once with probability `1 − δ`.
pub(super) fn top_gaps(top: &Reliability, delta: f64) -> Vec<BinGap> {
    gaps_of(&[top], delta).into_iter().flatten().collect()
}

/// The range of mean confidence minus true accuracy.
fn gap_range(tally: &Tally, mean: f64, delta: f64) -> (f64, f64) {
    let (low, high) = rate_range(tally.scores.correct(), tally.usable(), delta);
    (mean - high, mean - low)
}

/// Half of the error is spent on the bins, half on the mean gap, as ECE is at least its size.
fn ece(gate: &Gate<'_>, tally: &Tally, confidences: Confidences) -> Check {
    let id = "ece";
    let delta = gate.delta(id);
    let Ok(value) = tally.scores.ece() else {
        return gate.not_run(id, NOTHING);
    };
    let bins = top_gaps(&tally.scores.top, delta / 2.0);
    let (low, high) = error_range(&bins);
    let (gap_low, gap_high) = gap_range(tally, confidences.mean, delta / 2.0);
    let low = low.max(gap_low).max(-gap_high);
    let limit = gate.threshold(id);
    let sentence = format!(
        "Confidence and accuracy differ by {:.1} points on average over the {} bins in use; {:.0} % \
         interval{}: {:.1} to {:.1} points.",
        100.0 * value,
        bins.len(),
        100.0 * super::CONFIDENCE,
        limit.map_or("", |_| " (joint over all limits)"),
        100.0 * low,
        100.0 * high
    );
    let power = limit.and_then(|t| power(confidences, t.value, EFFECT, delta / 2.0));
    gate.estimate(
        id,
        value,
        Some((low, high)),
        BINWISE,
        confidences.n,
        sentence,
    )
    .with_power(power)
}

fn classwise(gate: &Gate<'_>, tally: &Tally, classes: &ClassGaps<'_>) -> Check {
    let id = "classwise_ece";
    let Ok(value) = tally.scores.classwise_ece() else {
        return gate.not_run(id, NOTHING);
    };
    let gaps = classes.at(gate.delta(id));
    let mean = |end: fn((f64, f64)) -> f64| {
        let terms = gaps.iter().map(|bins| end(error_range(bins)));
        terms.collect::<ExactSum>().to_f64() / gaps.len().max(1) as f64
    };
    let range = (mean(|range| range.0), mean(|range| range.1));
    let sentence = format!(
        "Taking each class on its own, probability and frequency differ by {:.1} points on average.",
        100.0 * value
    );
    gate.estimate(id, value, Some(range), BINWISE, tally.usable(), sentence)
}

fn adaptive(gate: &Gate<'_>, tally: &Tally) -> Check {
    let id = "adaptive_ece";
    let gaps = gaps_of_cells(&tally.grid.equal_mass(tally.settings.bins), gate.delta(id));
    let value = average(&gaps, |bin| bin.gap.abs());
    let sentence = format!(
        "With {} bins of about equal mass the calibration error is {:.1} points.",
        gaps.len(),
        100.0 * value
    );
    let range = error_range(&gaps);
    gate.estimate(id, value, Some(range), BINWISE, tally.usable(), sentence)
}

/// `√(Σ_b (n_b/N)·[(c_b − a_b)² − a_b(1 − a_b)/(n_b − 1)])` over bins with two or more predictions
/// (Bröcker 2012; Kumar, Liang and Ma 2019): the square of a gap exceeds that of the true gap by
/// the variance of the rate, of which `a(1 − a)/(n − 1)` is an unbiased estimate. A sum below zero
/// counts as zero.
fn debiased(gate: &Gate<'_>, tally: &Tally) -> Check {
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
    gate.estimate(id, value, Some(range), BINWISE, tally.usable(), sentence)
}

fn smooth(gate: &Gate<'_>, tally: &Tally) -> Check {
    let id = "smooth_ece";
    let cells = smooth_cells(&tally.grid);
    let found = smooth_ece(&cells)
        .and_then(|smooth| Ok((smooth.value, smooth_range(&cells, gate.delta(id))?)));
    let (value, range) = match found {
        Ok(found) => found,
        Err(error) => return gate.not_run(id, error.to_string()),
    };
    let sentence = format!(
        "Without bins, smoothed by a kernel of its own width, the calibration error is {:.1} points.",
        100.0 * value
    );
    gate.estimate(
        id,
        value,
        Some(range),
        "McDiarmid",
        tally.usable(),
        sentence,
    )
}

fn p_value(gate: &Gate<'_>, tally: &Tally) -> Check {
    let id = "calibration_p";
    let Some(null) = null(&tally.grid, tally.settings.bins, gate.settings.seed) else {
        return gate.not_run(id, NOTHING);
    };
    let sentence = format!(
        "A perfectly calibrated model with these confidences would show an ECE of {:.2} points on \
         average, and of up to {:.2} in 95 of 100 logs; the p-value of the {:.2} found here is {:.3} \
         ({REPLICATES} simulated logs).",
        100.0 * null.mean,
        100.0 * null.upper,
        100.0 * null.observed,
        null.p_value
    );
    gate.p_value(id, null.p_value, tally.usable(), sentence)
}

fn gap(gate: &Gate<'_>, tally: &Tally, confidences: Confidences) -> Check {
    let id = "gap";
    let delta = gate.delta(id);
    let Ok(accuracy) = tally.scores.accuracy() else {
        return gate.not_run(id, NOTHING);
    };
    let value = confidences.mean - accuracy;
    let (low, high) = gap_range(tally, confidences.mean, delta);
    let direction = if low > 0.0 {
        "the model is over-confident"
    } else if high < 0.0 {
        "the model is under-confident"
    } else {
        "neither over- nor under-confidence is shown"
    };
    let sentence = format!(
        "Mean confidence is {:.1} %, accuracy {:.1} %: {direction}.",
        100.0 * confidences.mean,
        100.0 * accuracy
    );
    let limit = gate.threshold(id);
    let power = limit.and_then(|t| power(confidences, t.value, EFFECT, delta));
    let n = confidences.n;
    gate.estimate(id, value, Some((low, high)), CLOPPER_PEARSON, n, sentence)
        .with_power(power)
}

#[cfg(test)]
mod tests;
