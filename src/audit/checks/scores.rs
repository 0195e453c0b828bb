//! How good are the predictions, and what part of the loss could calibration remove?

use super::Gate;
use super::calibration::{NOTHING, top_gaps};
use super::class_gaps::ClassGaps;
use crate::audit::grid::GridCell;
use crate::audit::intervals::{
    BERNSTEIN, BINWISE, BinGap, CLOPPER_PEARSON, HOEFFDING, NORMAL, average, bernstein_range,
    binary_entropy, moments, normal_range, rate_range,
};
use crate::audit::outcome::{Check, Curves, RiskPoint};
use crate::audit::tally::Tally;
use crate::math::{ExactSum, ln};

/// The share of predictions that are kept for the error rate of the most confident.
const COVERAGE: f64 = 0.8;
/// The most points of a curve.
const POINTS: usize = 200;

const ALL: [&str; 9] = [
    "accuracy",
    "log_loss",
    "log_loss_excess",
    "log_loss_floor",
    "brier",
    "brier_calibration",
    "brier_refinement",
    "aurc",
    "risk_at_coverage",
];

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
    checks.push(accuracy(gate, tally));
    log_losses(gate, tally, checks);
    briers(gate, tally, classes, checks);
    coverage(gate, tally, checks, curves);
}

fn accuracy(gate: &Gate<'_>, tally: &Tally) -> Check {
    let id = "accuracy";
    let (n, correct) = (tally.usable(), tally.scores.correct());
    let range = rate_range(correct, n, gate.delta(id));
    let value = correct as f64 / n as f64;
    let sentence = format!(
        "{correct} of {n} predictions are right ({:.1} %).",
        100.0 * value
    );
    gate.estimate(id, value, Some(range), CLOPPER_PEARSON, n, sentence)
}

fn log_losses(gate: &Gate<'_>, tally: &Tally, checks: &mut Vec<Check>) {
    let n = tally.usable();
    let impossible = tally.scores.impossible;
    if impossible > 0 {
        let sentence = format!(
            "The log loss is infinite: {impossible} of {n} rows gave their true class \
             probability zero."
        );
        checks.push(gate.estimate("log_loss", f64::INFINITY, None, NORMAL, n, sentence));
        let reason = format!("{impossible} rows gave their true class probability zero");
        checks.push(gate.not_run("log_loss_excess", reason));
    } else {
        let id = "log_loss";
        let (mean, variance) = moments(&tally.scores.log_loss, n);
        let range = variance.map(|v| normal_range(mean, v, n, gate.delta(id)));
        let sentence = format!("The mean log loss is {mean:.4} nats.");
        checks.push(gate.estimate(id, mean, range, NORMAL, n, sentence));
        let id = "log_loss_excess";
        let (mean, variance) = moments(&tally.scores.excess, n);
        let range = variance.map(|v| normal_range(mean, v, n, gate.delta(id)));
        let sentence = format!(
            "A calibrated model's mean log loss is the mean entropy of its own answers; here it is \
             {:.4} nats {} than that.",
            mean.abs(),
            if mean < 0.0 { "less" } else { "more" }
        );
        checks.push(gate.estimate(id, mean, range, NORMAL, n, sentence));
    }
    // T4′ with the bin as the evidence: no answer that depends on the bin alone has a smaller
    // expected log loss, for the question whether the prediction is right, than the entropy of the
    // rate in each bin.
    let id = "log_loss_floor";
    let gaps = top_gaps(&tally.scores.top, gate.delta(id));
    let value = average(&gaps, |bin| binary_entropy(bin.rate));
    let low = average(&gaps, |bin| bin.concave(binary_entropy).0);
    let high = average(&gaps, |bin| bin.concave(binary_entropy).1);
    let divergence = average(&gaps, |bin| {
        let terms = [
            (bin.rate, bin.confidence),
            (1.0 - bin.rate, 1.0 - bin.confidence),
        ];
        let term = |(p, q): (f64, f64)| if p > 0.0 { p * (ln(p) - ln(q)) } else { 0.0 };
        terms.map(term).iter().sum()
    });
    let sentence = format!(
        "From its confidence bin alone, whether a prediction is right cannot be predicted with a log \
         loss below {value:.4} nats; recalibrating the bins would save {divergence:.4} nats."
    );
    checks.push(gate.estimate(id, value, Some((low, high)), BINWISE, n, sentence));
}

/// The Brier score and, summed over the classes with bins on each class's probability,
/// `Σ (n_b/N)(p̄_b − a_b)²` (calibration) and `Σ (n_b/N)·a_b(1 − a_b)` (refinement). Apart from the
/// spread of probabilities inside a bin the two add up to the score.
fn briers(gate: &Gate<'_>, tally: &Tally, classes: &ClassGaps<'_>, checks: &mut Vec<Check>) {
    let n = tally.usable();
    let id = "brier";
    let (value, variance) = moments(&tally.scores.brier, n);
    let range = variance.and_then(|v| bernstein_range(value, v, 2.0, n, gate.delta(id)));
    let sentence = format!("The Brier score is {value:.4}; 0 is perfect and 2 the worst.");
    checks.push(gate.estimate(id, value, range, BERNSTEIN, n, sentence));

    let sum = |gaps: &[Vec<BinGap>], f: &dyn Fn(&BinGap) -> f64| -> f64 {
        gaps.iter()
            .map(|bins| average(bins, f))
            .collect::<ExactSum>()
            .to_f64()
    };
    let id = "brier_calibration";
    let gaps = classes.at(gate.delta(id));
    let calibration = sum(&gaps, &|bin| bin.gap * bin.gap);
    let low = sum(&gaps, &|bin| bin.distances().0 * bin.distances().0);
    let high = sum(&gaps, &|bin| bin.distances().1 * bin.distances().1);
    let sentence = format!(
        "Of the Brier score, {calibration:.4} is miscalibration, which recalibration can remove."
    );
    checks.push(gate.estimate(
        id,
        calibration,
        Some((low, high.min(2.0))),
        BINWISE,
        n,
        sentence,
    ));

    let id = "brier_refinement";
    let gaps = classes.at(gate.delta(id));
    let variance = |p: f64| p * (1.0 - p);
    let refinement = sum(&gaps, &|bin| variance(bin.rate));
    let low = sum(&gaps, &|bin| bin.concave(variance).0);
    let high = sum(&gaps, &|bin| bin.concave(variance).1);
    let rest = value - calibration - refinement;
    let sentence = format!(
        "Of the Brier score, {refinement:.4} is uncertainty that recalibration cannot remove \
         ({rest:.4} is spread within the bins)."
    );
    checks.push(gate.estimate(id, refinement, Some((low, high)), BINWISE, n, sentence));
}

/// Risk and coverage, the most confident first; predictions of one cell are kept or left together.
fn coverage(gate: &Gate<'_>, tally: &Tally, checks: &mut Vec<Check>, curves: &mut Curves) {
    let n = tally.usable();
    let total = n as f64;
    let cells: Vec<GridCell> = tally.grid.cells().rev().collect();
    let (mut kept, mut wrong) = (0u64, 0u64);
    let mut at_coverage = None;
    let mut risks = Vec::with_capacity(cells.len());
    for cell in &cells {
        kept += cell.count;
        wrong += cell.count - cell.correct;
        risks.push((kept, wrong, cell.mean()));
        if at_coverage.is_none() && kept as f64 >= COVERAGE * total {
            at_coverage = Some((kept, wrong));
        }
    }
    let area: ExactSum = cells
        .iter()
        .zip(&risks)
        .map(|(cell, &(kept, wrong, _))| cell.count as f64 * (wrong as f64 / kept as f64))
        .collect();
    let id = "aurc";
    let value = area.to_f64() / total;
    // The area is Σ vᵢ·[wrong i], vᵢ = Σ over the cells from its own on of count/(kept·n): by
    // Hoeffding's inequality it is off by √(ln(2/δ)·Σ vᵢ²/2).
    let (mut weight, mut squares) = (0.0, 0.0);
    for (cell, &(kept, _, _)) in cells.iter().zip(&risks).rev() {
        weight += cell.count as f64 / kept as f64 / total;
        squares += cell.count as f64 * weight * weight;
    }
    let delta = gate.delta(id);
    let radius = libm::sqrt(ln(2.0 / delta) * squares / 2.0);
    let range = ((value - radius).max(0.0), (value + radius).min(1.0));
    let sentence = format!(
        "Averaged over all coverages, the most confident predictions have an error rate of {:.1} %.",
        100.0 * value
    );
    checks.push(gate.estimate(id, value, Some(range), HOEFFDING, n, sentence));

    let id = "risk_at_coverage";
    // The last cell keeps everything, so some cell reached the coverage.
    let Some((kept, wrong)) = at_coverage else {
        checks.push(gate.not_run(id, NOTHING));
        return;
    };
    let value = wrong as f64 / kept as f64;
    let range = rate_range(wrong, kept, gate.delta(id));
    let sentence = format!(
        "Of the {kept} most confident predictions ({:.0} %), {wrong} are wrong ({:.1} %).",
        100.0 * kept as f64 / total,
        100.0 * value
    );
    checks.push(gate.estimate(id, value, Some(range), CLOPPER_PEARSON, kept, sentence));

    let step = risks.len().div_ceil(POINTS).max(1);
    let last = risks.len().saturating_sub(1);
    let shown = risks.iter().enumerate();
    curves.risk_coverage = shown
        .filter(|(i, _)| i % step == 0 || *i == last)
        .map(|(_, &(kept, wrong, confidence))| RiskPoint {
            coverage: kept as f64 / total,
            confidence,
            risk: wrong as f64 / kept as f64,
        })
        .collect();
}
