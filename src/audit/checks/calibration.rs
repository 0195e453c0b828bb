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
use crate::audit::tally::{Scores, Tally};
use crate::calibration::{Reliability, smooth_ece};
use crate::math::ExactSum;

/// The violation whose chance of being noticed is announced: five points.
const EFFECT: f64 = 0.05;

/// The checks of this file, none of which can be run without a usable row.
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
const NOTHING: &str = "no row could be scored";

pub(super) fn checks(
    gate: &Gate<'_>,
    tally: &Tally,
    classes: &ClassGaps<'_>,
    checks: &mut Vec<Check>,
    curves: &mut Curves,
) {
    let scores = &tally.scores;
    let n = scores.top.count();
    if n == 0 {
        checks.extend(ALL.map(|id| gate.not_run(id, NOTHING)));
        return;
    }
    curves.reliability = reliability_points(&scores.top);
    let confidences = confidences(scores);
    checks.push(ece(gate, scores, confidences));
    checks.push(classwise(gate, scores, classes));
    checks.push(adaptive(gate, scores, tally.shape.bins));
    checks.push(debiased(gate, scores));
    checks.push(smooth(gate, scores));
    checks.push(chance(gate, scores, tally.shape.bins));
    checks.push(gap(gate, scores, confidences));
}

/// Sums over the grid; within a cell, confidences are taken as their mean.
fn confidences(scores: &Scores) -> Confidences {
    let n = scores.top.count();
    let count = n as f64;
    let sum: ExactSum = scores.grid.cells().map(|c| c.confidence).collect();
    let spread = scores.grid.cells().map(|c| c.confidence * (1.0 - c.mean()));
    Confidences {
        n,
        mean: sum.to_f64() / count,
        variance: spread.collect::<ExactSum>().to_f64() / count,
    }
}

fn reliability_points(top: &Reliability) -> Vec<ReliabilityPoint> {
    let ranges = gaps_of(&[top], 1.0 - super::CONFIDENCE);
    let filled = top.bins().into_iter().filter(|bin| bin.count > 0);
    let ranges = ranges.into_iter().flatten();
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

/// The range of mean confidence minus true accuracy.
fn gap_range(scores: &Scores, mean: f64, delta: f64) -> (f64, f64) {
    let n = scores.top.count();
    let correct: u64 = scores.top.bins().iter().map(|bin| bin.correct).sum();
    let (low, high) = rate_range(correct, n, delta);
    (mean - high, mean - low)
}

/// Half of the error is spent on the bins, half on the mean gap, as ECE is at least its size.
fn ece(gate: &Gate<'_>, scores: &Scores, confidences: Confidences) -> Check {
    let id = "ece";
    let delta = gate.delta(id);
    let n = confidences.n;
    let Ok(value) = scores.top.ece() else {
        return gate.not_run(id, NOTHING);
    };
    let bins: Vec<BinGap> = gaps_of(&[&scores.top], delta / 2.0)
        .into_iter()
        .flatten()
        .collect();
    let (low, high) = error_range(&bins);
    let (gap_low, gap_high) = gap_range(scores, confidences.mean, delta / 2.0);
    let low = low.max(gap_low).max(-gap_high);
    let sentence = format!(
        "Confidence and accuracy differ by {:.1} points on average over the {} bins in use; if \
         outcomes were drawn again the true figure lies between {:.1} and {:.1} points.",
        100.0 * value,
        bins.len(),
        100.0 * low,
        100.0 * high
    );
    let limit = gate.threshold(id);
    let power = limit.and_then(|t| power(confidences, t.value, EFFECT, delta / 2.0));
    gate.estimate(id, value, Some((low, high)), BINWISE, n, sentence)
        .with_power(power)
}

fn classwise(gate: &Gate<'_>, scores: &Scores, classes: &ClassGaps<'_>) -> Check {
    let id = "classwise_ece";
    let count = scores.classwise.len().max(1) as f64;
    let mean = |terms: &mut dyn Iterator<Item = f64>| terms.collect::<ExactSum>().to_f64() / count;
    let errors = scores.classwise.iter().map(Reliability::ece);
    let Ok(errors) = errors.collect::<Result<Vec<f64>, _>>() else {
        return gate.not_run(id, NOTHING);
    };
    let value = mean(&mut errors.into_iter());
    let gaps = classes.at(gate.delta(id));
    let low = mean(&mut gaps.iter().map(|bins| error_range(bins).0));
    let high = mean(&mut gaps.iter().map(|bins| error_range(bins).1));
    let sentence = format!(
        "Taking each class on its own, probability and frequency differ by {:.1} points on average.",
        100.0 * value
    );
    let n = scores.top.count();
    gate.estimate(id, value, Some((low, high)), BINWISE, n, sentence)
}

fn adaptive(gate: &Gate<'_>, scores: &Scores, bins: usize) -> Check {
    let id = "adaptive_ece";
    let gaps = gaps_of_cells(&scores.grid.equal_mass(bins), gate.delta(id));
    let value = average(&gaps, |bin| bin.gap.abs());
    let sentence = format!(
        "With {} bins of about equal mass the calibration error is {:.1} points.",
        gaps.len(),
        100.0 * value
    );
    let (n, range) = (scores.top.count(), error_range(&gaps));
    gate.estimate(id, value, Some(range), BINWISE, n, sentence)
}

/// `√(Σ_b (n_b/N)·[(c_b − a_b)² − a_b(1 − a_b)/(n_b − 1)])` over bins with two or more predictions
/// (Bröcker 2012; Kumar, Liang and Ma 2019): the square of a gap exceeds that of the true gap by
/// the variance of the rate, of which `a(1 − a)/(n − 1)` is an unbiased estimate. A sum below zero
/// counts as zero.
fn debiased(gate: &Gate<'_>, scores: &Scores) -> Check {
    let id = "debiased_error";
    let gaps: Vec<BinGap> = gaps_of(&[&scores.top], gate.delta(id))
        .into_iter()
        .flatten()
        .collect();
    let squared = average(&gaps, |bin| match bin.count {
        1 => 0.0,
        count => bin.gap * bin.gap - bin.rate * (1.0 - bin.rate) / (count - 1) as f64,
    });
    let value = libm::sqrt(squared.max(0.0));
    let low = libm::sqrt(average(&gaps, |bin| bin.distances().0 * bin.distances().0));
    let high = libm::sqrt(average(&gaps, |bin| bin.distances().1 * bin.distances().1));
    let sentence = format!(
        "Without the part that chance alone adds, confidence and accuracy differ by {:.1} points \
         (root mean square over the bins).",
        100.0 * value
    );
    let n = scores.top.count();
    gate.estimate(id, value, Some((low, high.min(1.0))), BINWISE, n, sentence)
}

fn smooth(gate: &Gate<'_>, scores: &Scores) -> Check {
    let id = "smooth_ece";
    let cells = smooth_cells(&scores.grid);
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
    let n = scores.top.count();
    gate.estimate(id, value, Some(range), "McDiarmid", n, sentence)
}

fn chance(gate: &Gate<'_>, scores: &Scores, bins: usize) -> Check {
    let id = "calibration_p";
    let n = scores.top.count();
    let Some(null) = null(&scores.grid, bins, gate.settings.seed) else {
        return gate.not_run(id, "no row could be scored");
    };
    let sentence = format!(
        "A perfectly calibrated model with these confidences would show an ECE of {:.2} points on \
         average and up to {:.2} in 95 of 100 logs; {:.2} or more, as here, has probability {:.3} \
         ({REPLICATES} simulated logs).",
        100.0 * null.mean,
        100.0 * null.upper,
        100.0 * null.observed,
        null.p_value
    );
    gate.probability(id, null.p_value, n, sentence)
}

fn gap(gate: &Gate<'_>, scores: &Scores, confidences: Confidences) -> Check {
    let id = "gap";
    let delta = gate.delta(id);
    let Ok(accuracy) = scores.top.accuracy() else {
        return gate.not_run(id, NOTHING);
    };
    let value = confidences.mean - accuracy;
    let (low, high) = gap_range(scores, confidences.mean, delta);
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
