//! How good are the predictions, and what part of the loss could calibration remove?

use super::calibration::{NOTHING, top_gaps};
use super::class_gaps::ClassGaps;
use super::{Gate, Rows};
use crate::audit::clusters::{Quantity, UNIT};
use crate::audit::grid::GridCell;
use crate::audit::intervals::{
    BETTING, BETTING_BY_ENTITY, BINWISE, BinGap, Estimate, HOEFFDING, OpenEnds, average,
    binary_entropy, error_of,
};
use crate::audit::outcome::{Check, Curves, RiskPoint};
use crate::audit::tally::Scored;
use crate::bounds::{GroupSums, Seen};
use crate::calibration::SMALLEST;
use crate::math::{ExactSum, ln};

/// The share of predictions that are kept for the error rate of the most confident.
const COVERAGE: f64 = 0.8;
/// The most points of a curve.
const POINTS: usize = 200;

const ALL: [&str; 10] = [
    "accuracy",
    "log_loss",
    "log_loss_clipped",
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
    tally: &Scored<'_>,
    rows: &Rows<'_>,
    classes: &ClassGaps<'_>,
    checks: &mut Vec<Check>,
    curves: &mut Curves,
) {
    if tally.usable() == 0 {
        checks.extend(ALL.map(|id| gate.not_run(id, NOTHING)));
        return;
    }
    checks.push(accuracy(gate, tally, rows));
    log_losses(gate, tally, rows, checks);
    briers(gate, tally, rows, classes, checks);
    coverage(gate, tally, rows, checks, curves);
}

/// Sums over rows of a bounded number: exact sums of it and of its square, or the clusters' sums.
fn sums(rows: &Rows<'_>, quantity: Quantity, exact: &[ExactSum; 2], n: u64) -> GroupSums {
    let [sum, squares] = exact;
    match rows.clusters {
        Some(clusters) => clusters.sums(quantity),
        None => GroupSums::of_singles(n, sum.to_f64(), squares.to_f64()),
    }
}

/// The estimate of a mean in a range.
fn mean(
    rows: &Rows<'_>,
    value: f64,
    sums: GroupSums,
    range: (f64, f64),
    delta: f64,
) -> Estimate<'static> {
    match rows.clustered() {
        true => Estimate::of_clusters(value, sums, range, delta),
        false => Estimate::of_rows(value, sums, range, delta),
    }
}

/// The accuracy, wrong with probability `δ`.
pub(super) fn accuracy_of(tally: &Scored<'_>, rows: &Rows<'_>, delta: f64) -> Estimate<'static> {
    let (n, correct) = (tally.usable(), tally.scores.correct());
    match rows.clusters {
        Some(clusters) => {
            let value = correct as f64 / n as f64;
            Estimate::of_clusters(value, clusters.sums(Quantity::Right), (0.0, 1.0), delta)
        }
        None => Estimate::rate(correct, n, delta),
    }
}

/// The Brier score, wrong with probability `δ`.
pub(super) fn brier_of(tally: &Scored<'_>, rows: &Rows<'_>, delta: f64) -> Estimate<'static> {
    let n = tally.usable();
    let value = tally.scores.brier[0].to_f64() / n as f64;
    let sums = sums(rows, Quantity::Brier, &tally.scores.brier, n);
    mean(rows, value, sums, (0.0, 2.0), delta)
}

fn accuracy(gate: &Gate<'_>, tally: &Scored<'_>, rows: &Rows<'_>) -> Check {
    let id = "accuracy";
    let (n, correct) = (tally.usable(), tally.scores.correct());
    let estimate = accuracy_of(tally, rows, gate.delta(id));
    let sentence = format!(
        "{correct} of {n} predictions are right ({:.1} %).",
        100.0 * estimate.value
    );
    gate.estimate(id, estimate, sentence)
}

/// One row can cost any amount, so that no log bounds the mean log loss from above: its interval has a
/// lower end alone, that of the clipped one.
fn log_losses(gate: &Gate<'_>, tally: &Scored<'_>, rows: &Rows<'_>, checks: &mut Vec<Check>) {
    let n = tally.usable();
    let count = n as f64;
    let scores = tally.scores;
    let impossible = scores.impossible;
    let largest = -ln(SMALLEST);
    let (slack, method) = match rows.clustered() {
        true => (UNIT, BETTING_BY_ENTITY),
        false => (0.0, BETTING),
    };
    let open = |value: f64, sums: GroupSums, (from, to): (f64, f64), delta: f64| Estimate {
        value,
        error: error_of(sums, to - from),
        n,
        ends: Box::new(OpenEnds {
            seen: Seen::Sums(sums.rescaled(from, to)),
            unit: to - from,
            from,
            slack,
            delta,
        }),
        method,
    };
    let infinite = match impossible {
        0 => None,
        rows => Some(format!(
            "{rows} of {n} rows gave their true class probability zero"
        )),
    };

    let id = "log_loss";
    let value = scores.log_loss().unwrap_or(f64::INFINITY);
    let clipped = sums(rows, Quantity::Loss, &scores.clipped, n);
    let said = match &infinite {
        Some(why) => format!("The log loss is infinite: {why}."),
        None => format!("The mean log loss is {value:.4} nats."),
    };
    let sentence = format!(
        "{said} No log bounds it from above, as one more row may cost any amount; a limit that can be \
         passed is one on log_loss_clipped."
    );
    let estimate = open(value, clipped, (0.0, largest), gate.delta(id));
    checks.push(gate.estimate(id, estimate, sentence));

    let id = "log_loss_clipped";
    let value = scores.clipped[0].to_f64() / count;
    let sentence = format!(
        "With probabilities below {SMALLEST} counted as {SMALLEST}, the mean log loss is {value:.4} nats. \
         (Tools that clip at about 1e-16, as scikit-learn does, count a true class of probability zero as \
         36 nats instead of infinitely many.)"
    );
    let estimate = mean(rows, value, clipped, (0.0, largest), gate.delta(id));
    checks.push(gate.estimate(id, estimate, sentence));

    let id = "log_loss_excess";
    if let Some(why) = infinite {
        checks.push(gate.not_run(id, why));
    } else {
        let value = scores.excess.to_f64() / count;
        let sentence = format!(
            "A calibrated model's mean log loss is the mean entropy of its own answers; here it is \
             {:.4} nats {} than that.",
            value.abs(),
            if value < 0.0 { "less" } else { "more" }
        );
        let sums = sums(rows, Quantity::Excess, &scores.clipped_excess, n);
        let range = (-ln(scores.labels.len() as f64), largest);
        let estimate = open(value, sums, range, gate.delta(id));
        checks.push(gate.estimate(id, estimate, sentence));
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
    let most = std::f64::consts::LN_2;
    let estimate = Estimate::known(value, (low, high), (0.0, most), n, gate.delta(id), BINWISE);
    checks.push(gate.of_independent(id, rows, estimate, sentence));
}

/// The Brier score and, summed over the classes with bins on each class's probability,
/// `Σ (n_b/N)(p̄_b − a_b)²` (calibration) and `Σ (n_b/N)·a_b(1 − a_b)` (refinement). Apart from the
/// spread of probabilities inside a bin the two add up to the score.
fn briers(
    gate: &Gate<'_>,
    tally: &Scored<'_>,
    rows: &Rows<'_>,
    classes: &ClassGaps<'_>,
    checks: &mut Vec<Check>,
) {
    let n = tally.usable();
    let id = "brier";
    let estimate = brier_of(tally, rows, gate.delta(id));
    let value = estimate.value;
    // Over two classes both terms are alike, and scikit-learn takes one of them.
    let half = match tally.scores.labels.len() {
        2 => format!(
            " Other tools, scikit-learn among them, count one of the two classes and print {:.4}.",
            value / 2.0
        ),
        _ => String::new(),
    };
    let sentence = format!("The Brier score is {value:.4}; 0 is perfect and 2 the worst.{half}");
    checks.push(gate.estimate(id, estimate, sentence));

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
    let (delta, whole) = (gate.delta(id), (0.0, 2.0));
    let range = (low, high.min(2.0));
    let estimate = Estimate::known(calibration, range, whole, n, delta, BINWISE);
    checks.push(gate.of_independent(id, rows, estimate, sentence));

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
    let delta = gate.delta(id);
    let estimate = Estimate::known(refinement, (low, high), whole, n, delta, BINWISE);
    checks.push(gate.of_independent(id, rows, estimate, sentence));
}

/// Risk and coverage, the most confident first; predictions of one cell are kept or left together.
fn coverage(
    gate: &Gate<'_>,
    tally: &Scored<'_>,
    rows: &Rows<'_>,
    checks: &mut Vec<Check>,
    curves: &mut Curves,
) {
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
    let estimate = Estimate::known(value, range, (0.0, 1.0), n, delta, HOEFFDING);
    checks.push(gate.of_independent(id, rows, estimate, sentence));

    let id = "risk_at_coverage";
    // The last cell keeps everything, so some cell reached the coverage.
    let Some((kept, wrong)) = at_coverage else {
        checks.push(gate.not_run(id, NOTHING));
        return;
    };
    let estimate = Estimate::rate(wrong, kept, gate.delta(id));
    let sentence = format!(
        "Of the {kept} most confident predictions ({:.0} %), {wrong} are wrong ({:.1} %).",
        100.0 * kept as f64 / total,
        100.0 * estimate.value
    );
    checks.push(gate.of_independent(id, rows, estimate, sentence));

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
