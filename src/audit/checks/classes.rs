//! How well are classes told apart: areas under curves, F1, and what each class looks like by itself.

use super::class_gaps::ClassGaps;
use super::{CONFIDENCE, Gate, Rows};
use crate::audit::intervals::{BinGap, Estimate};
use crate::audit::outcome::{Check, ClassCurve, Curves, ReliabilityPoint};
use crate::audit::tally::Tally;
use crate::calibration::Reliability;
use crate::math::{ExactSum, ln};

/// Curves of more classes than this are not shown.
const SHOWN: usize = 32;
/// The most points of a curve.
const POINTS: usize = 100;

/// How the interval of an area is found.
const HOEFFDING: &str = "Hoeffding, for pairs of rows";

/// Why these have no interval.
const NO_INTERVAL: &str = "There is no interval that holds for any model; limits on accuracy, auroc or \
                           log_loss_clipped can be decided.";

pub(super) fn checks(
    gate: &Gate<'_>,
    tally: &Tally,
    rows: &Rows<'_>,
    gaps: &ClassGaps<'_>,
    checks: &mut Vec<Check>,
    curves: &mut Curves,
) {
    if tally.usable() == 0 {
        let ids = ["auroc", "average_precision", "f1"];
        checks.extend(ids.map(|id| gate.not_run(id, super::calibration::NOTHING)));
        return;
    }
    let names = &tally.settings.classes;
    // Of two classes the second is the positive one, whose numbers other tools print.
    let classes: Vec<usize> = match names.len() {
        2 => vec![1],
        n => (0..n).collect(),
    };
    let what = match &classes[..] {
        [class] if names.len() == 2 => format!("of class {}", names[*class]),
        _ => "mean over the classes, each against the others,".to_string(),
    };
    checks.push(auroc(gate, tally, rows, &classes, &what));
    checks.push(average_precision(gate, tally, &classes, &what));
    checks.push(f1(gate, tally, &classes, &what));
    let ranges = gaps.at(1.0 - CONFIDENCE);
    if names.len() <= SHOWN {
        curves.classes = (0..names.len())
            .map(|class| curve(tally, class, &ranges[class]))
            .collect();
    }
    curves.confusion = tally.by_class.confusion();
}

/// The mean; none of nothing.
fn mean(values: &[f64]) -> Option<f64> {
    let sum: ExactSum = values.iter().copied().collect();
    (!values.is_empty()).then(|| sum.to_f64() / values.len() as f64)
}

/// For `p` and `q` independent rows of both kinds, the share of pairs in the right order is a U-statistic
/// of two samples; it is off by `t` with probability at most `2·e^{−2·min(p, q)·t²}` (Hoeffding 1963,
/// section 5b). With `C` classes each has `δ/C`. Ties by cells widen it further.
fn auroc(gate: &Gate<'_>, tally: &Tally, rows: &Rows<'_>, classes: &[usize], what: &str) -> Check {
    let id = "auroc";
    let delta = gate.delta(id) / classes.len() as f64;
    let (mut areas, mut errors, mut reach) = (Vec::new(), Vec::new(), Vec::new());
    for &class in classes {
        let ranking = tally.by_class.ranking(class);
        if let Some((area, error)) = ranking.auroc() {
            let fewer = ranking.positives.min(ranking.negatives) as f64;
            areas.push(area);
            errors.push(error);
            reach.push(libm::sqrt(ln(2.0 / delta) / (2.0 * fewer)) + error);
        }
    }
    let (Some(value), Some(error), Some(reach)) = (mean(&areas), mean(&errors), mean(&reach))
    else {
        return gate.not_run(id, "all rows are of one class");
    };
    let range = ((value - reach).max(0.0), (value + reach).min(1.0));
    let left_out = left_out(classes.len() - areas.len());
    let sentence = format!(
        "The area under the ROC curve, {what} is {value:.4}: so often a row of the class has a higher \
         probability of it than another row.{}{left_out}",
        in_cells(error)
    );
    let n = tally.usable();
    let delta = gate.delta(id);
    let estimate = Estimate::known(value, range, (0.0, 1.0), n, delta, HOEFFDING);
    gate.of_independent(id, rows, estimate, sentence)
}

/// What counting probabilities in cells can do to an area, where rows of one cell differ.
fn in_cells(error: f64) -> String {
    match error {
        0.0 => String::new(),
        error => format!(
            " Probabilities are counted in cells, which puts it off by at most {error:.1e}."
        ),
    }
}

fn left_out(classes: usize) -> String {
    match classes {
        0 => String::new(),
        n => format!(" {n} classes that were never or always true are left out."),
    }
}

fn average_precision(gate: &Gate<'_>, tally: &Tally, classes: &[usize], what: &str) -> Check {
    let id = "average_precision";
    let found: Vec<(f64, f64, f64)> = classes
        .iter()
        .filter_map(|&class| tally.by_class.ranking(class).average_precision())
        .collect();
    let part = |f: fn(&(f64, f64, f64)) -> f64| mean(&found.iter().map(f).collect::<Vec<_>>());
    let (Some(value), Some(low), Some(high)) = (part(|x| x.0), part(|x| x.1), part(|x| x.2)) else {
        return gate.not_run(id, "the class was never true");
    };
    let error = (high - value).max(value - low);
    let left_out = left_out(classes.len() - found.len());
    let sentence = format!(
        "The area under the curve of precision over recall (a sum of steps), {what} is {value:.4}.{}{left_out}",
        in_cells(error)
    );
    gate.bare(id, value, tally.usable(), &sentence, NO_INTERVAL)
}

fn f1(gate: &Gate<'_>, tally: &Tally, classes: &[usize], what: &str) -> Check {
    let values: Vec<f64> = classes
        .iter()
        .map(|&class| of_class(tally, class).2)
        .collect();
    let Some(value) = mean(&values) else {
        return gate.not_run("f1", "there are no classes");
    };
    let sentence = format!("F1 of the predicted classes, {what} is {value:.4}.");
    gate.bare("f1", value, tally.usable(), &sentence, NO_INTERVAL)
}

/// Precision, recall and F1 of a class; zero where a class was never named or never true.
fn of_class(tally: &Tally, class: usize) -> (f64, f64, f64) {
    let count = |counts: &[u64]| counts.get(class).copied().unwrap_or(0);
    let hits = tally.by_class.hits(class);
    let (labels, named) = (count(&tally.scores.labels), count(&tally.scores.predicted));
    let share = |x: u64, of: u64| if of == 0 { 0.0 } else { x as f64 / of as f64 };
    (
        share(hits, named),
        share(hits, labels),
        share(2 * hits, labels + named),
    )
}

fn curve(tally: &Tally, class: usize, ranges: &[BinGap]) -> ClassCurve {
    let ranking = tally.by_class.ranking(class);
    let points = ranking.points(POINTS);
    let (precision, recall, f1) = of_class(tally, class);
    ClassCurve {
        class: tally.settings.classes[class].clone(),
        rows: ranking.positives,
        precision,
        recall,
        f1,
        auroc: ranking.auroc().map(|(area, _)| area),
        average_precision: ranking.average_precision().map(|(area, ..)| area),
        roc: points.iter().map(|p| (p[1], p[2])).collect(),
        precision_recall: points.iter().map(|p| (p[2], p[3])).collect(),
        reliability: reliability(&tally.scores.classwise[class], ranges),
    }
}

/// The bins that are not empty, with their ranges.
pub(super) fn reliability(bins: &Reliability, ranges: &[BinGap]) -> Vec<ReliabilityPoint> {
    let filled = bins.bins().into_iter().filter(|bin| bin.count > 0);
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
