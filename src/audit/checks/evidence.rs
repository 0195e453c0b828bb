//! Does the answer follow from its evidence, and how much depends on single items?

use std::collections::HashSet;

use super::{Gate, Rows, assumptions};
use crate::aggregate::Method;
use crate::audit::histogram::Histogram;
use crate::audit::intervals::{Estimate, ORDER, rate_range};
use crate::audit::outcome::{Check, Curves, InfluencePoint};
use crate::audit::sample::{SAMPLE_NUMBERS, SampleRow};
use crate::audit::tally::Tally;
use crate::bounds::GroupSums;
use crate::calibration::SMALLEST;
use crate::latent::Confidence;
use crate::math::{ExactSum, ln};
use crate::simplex::{Distribution, prior_corrected};

/// The checks of a sample of rows.
const SAMPLED: [&str; 4] = [
    "prior_counting",
    "dependence",
    "item_calibration",
    "support",
];

/// What the checks of this file need.
pub(super) const NO_EVIDENCE: &str = "no row has factors";

pub(super) fn checks(
    gate: &Gate<'_>,
    tally: &Tally,
    rows: &Rows<'_>,
    checks: &mut Vec<Check>,
    curves: &mut Curves,
) {
    let sample = sampled(tally, rows);
    checks.push(consistency(gate, tally));
    checks.push(weights(gate, tally));
    let first = checks.len();
    checks.push(prior_counting(gate, tally, &sample));
    assumptions::checks(gate, tally, rows, &sample, checks);
    say_what_is_not_sampled(tally, &mut checks[first..]);
    influence(gate, tally, rows, checks, curves);
    checks.push(decomposition(gate, tally));
    checks.push(effective_items(gate, tally, rows));
}

/// Rows with very much evidence are in no sample.
fn say_what_is_not_sampled(tally: &Tally, checks: &mut [Check]) {
    let rows = tally.evidence.sample.too_large;
    for check in checks {
        if rows > 0 && check.value.is_some() && SAMPLED.contains(&check.id) {
            check.sentence += &format!(
                " Rows with more than {SAMPLE_NUMBERS} numbers in their factors, {rows} here, are left out."
            );
        }
    }
}

/// The rows of the sample; where entities may repeat, the first of each.
fn sampled<'a>(tally: &'a Tally, rows: &Rows<'_>) -> Vec<&'a SampleRow> {
    let mut seen = HashSet::new();
    let first = |row: &&SampleRow| match row.entity {
        Some(entity) if rows.clustered() => seen.insert(entity),
        _ => true,
    };
    tally.evidence.sample.rows().filter(first).collect()
}

fn consistency(gate: &Gate<'_>, tally: &Tally) -> Check {
    let id = "consistency";
    let evidence = &tally.evidence;
    let compared = evidence.compared;
    let method = tally.settings.method();
    if compared == 0 {
        let reason = match (evidence.rows, method) {
            (0, _) => NO_EVIDENCE,
            (_, None) => "answers are not compared with their factors",
            (_, Some(Method::Learned)) => "no row has both an answer and posteriors",
            _ => "no row has both an answer and factors",
        };
        return gate.not_run(id, reason);
    }
    let off = compared - evidence.within_single;
    let (double, single) = (evidence.within_double, evidence.within_single);
    let aggregate = match method {
        Some(Method::Spn) => "weighted product of their factors",
        Some(Method::PriorCorrected) => "prior-corrected product of their factors",
        Some(Method::Learned) => "learned aggregate of their posteriors",
        Some(Method::Vote) => "vote of their factors",
        Some(Method::Max) => "normalized maximum of their factors",
        Some(Method::Uniform) | None => "mean of their factors",
    };
    let largest = evidence.largest_difference.get();
    let sentence = format!(
        "{single} of {compared} answers are the {aggregate} within the rounding of float32, {double} \
         of them within that of float64; the largest difference is {largest:.2e}."
    );
    let worst = evidence.inconsistent.offenders();
    gate.census(id, off as f64 / compared as f64, compared, sentence, worst)
}

/// Are the logged weights what the logged posteriors say?
fn weights(gate: &Gate<'_>, tally: &Tally) -> Check {
    let id = "weights";
    let items = &tally.items;
    let asked = Confidence::from_name(&tally.settings.confidence);
    let Some(asked) = asked else {
        let reason = "weights are not compared with posteriors";
        return gate.not_run(id, reason);
    };
    let n = items.weighed;
    if n == 0 {
        return gate.not_run(id, "no row has both weights and posteriors");
    }
    let within = |counts: &[u64], function| {
        let functions = Confidence::ALL.into_iter().zip(counts);
        let mut found = functions.filter(|(f, _)| *f == function);
        found.next().map_or(0, |(_, count)| *count)
    };
    let single = within(&items.within_single, asked);
    let double = within(&items.within_double, asked);
    let others = Confidence::ALL.into_iter().zip(items.within_single);
    let better = others.filter(|(_, count)| *count > single);
    let hint = match better.max_by_key(|(_, count)| *count) {
        Some((function, count)) => {
            format!(" The {} function fits {count} rows.", function.name())
        }
        None if single == 0 => " None of the other functions fits any row.".to_string(),
        None => String::new(),
    };
    let largest = items.largest_difference.get();
    let sentence = format!(
        "In {single} of {n} rows the weights are the {} confidence of the posteriors within the \
         rounding of float32, in {double} of them within that of float64; the largest difference is \
         {largest:.2e}.{hint}",
        asked.name()
    );
    let worst = items.off.offenders();
    gate.census(id, (n - single) as f64 / n as f64, n, sentence, worst)
}

/// Savings with a prior that all rows had a part in are not independent, and are too small: with 40 classes of
/// 15 rows by half.
const OWN_PRIOR: &str =
    "There is no interval, as the prior was counted in the same rows; --prior gives one.";

/// Each factor contains the prior, so a product of K of them contains it K times (claim T1). On the
/// sample: the log loss of the logged answers minus that of the prior-corrected product.
fn prior_counting(gate: &Gate<'_>, tally: &Tally, sample: &[&SampleRow]) -> Check {
    let id = "prior_counting";
    if sample.is_empty() {
        return gate.not_run(id, NO_EVIDENCE);
    }
    let (weights, whence) = match &gate.settings.prior {
        Some(prior) => (prior.clone(), "as given"),
        None => {
            let counts = tally.scores.labels.iter().map(|&n| n as f64);
            (counts.collect(), "class frequencies")
        }
    };
    let Ok(prior) = Distribution::from_weights(weights) else {
        return gate.not_run(id, "the classes have no prior");
    };
    let mut sums = [ExactSum::new(), ExactSum::new()];
    let (mut n, mut left_out) = (0u64, 0u64);
    for row in sample {
        // Only where factors exclude every class.
        let Ok(corrected) = prior_corrected(&prior, &row.factors, &row.weights) else {
            left_out += 1;
            continue;
        };
        let loss = |p: &[f64]| -ln(p.get(row.label).copied().unwrap_or(0.0).max(SMALLEST));
        let saving = loss(&row.answer) - loss(corrected.probabilities());
        sums[0].add(saving);
        sums[1].add(saving * saving);
        n += 1;
    }
    if n == 0 {
        return gate.not_run(id, "the factors of every row exclude every class");
    }
    let value = sums[0].to_f64() / n as f64;
    let sentence = format!(
        "On {n} sampled rows, counting the prior ({whence}) once instead of once per item would {} \
         the log loss by {:.4} nats, probabilities below {SMALLEST} counted as {SMALLEST}{}.",
        if value < 0.0 { "raise" } else { "lower" },
        value.abs(),
        match left_out {
            0 => String::new(),
            rows => format!(" ({rows} rows whose factors exclude every class left out)"),
        }
    );
    if gate.settings.prior.is_none() {
        return gate.bare(id, value, n, &sentence, OWN_PRIOR);
    }
    let sums = GroupSums::of_singles(n, sums[0].to_f64(), sums[1].to_f64());
    let most = -ln(SMALLEST);
    let estimate = Estimate::of_rows(value, sums, (-most, most), gate.delta(id));
    gate.estimate(id, estimate, sentence)
}

fn influence(
    gate: &Gate<'_>,
    tally: &Tally,
    rows: &Rows<'_>,
    checks: &mut Vec<Check>,
    curves: &mut Curves,
) {
    let evidence = &tally.evidence;
    let n = evidence.margins.count();
    if n == 0 {
        let reason = match evidence.rows {
            0 => NO_EVIDENCE,
            _ => "the answer is not the product of the factors alone",
        };
        checks.push(gate.not_run("influence", reason));
        checks.push(gate.not_run("robustness_radius", reason));
        return;
    }
    let count = n as f64;
    let mut changed = 0;
    let points = evidence.changed_by.iter().zip(&evidence.shifts).enumerate();
    curves.influence = points
        .map(|(i, (by, shift))| {
            changed += by;
            InfluencePoint {
                items: i as u64 + 1,
                changed: changed as f64 / count,
                mean_shift: shift.to_f64() / count,
            }
        })
        .collect();
    let id = "influence";
    let [by_one, by_two, ..] = evidence.changed_by;
    let estimate = Estimate::rate(by_one, n, gate.delta(id));
    let sentence = format!(
        "Leaving out the worst single item changes the predicted class of {by_one} of {n} entities \
         ({:.1} %); leaving out the worst two, of {} ({:.1} %).",
        100.0 * estimate.value,
        by_one + by_two,
        100.0 * (by_one + by_two) as f64 / count
    );
    checks.push(gate.of_independent(id, rows, estimate, sentence));

    // T5′: changes of the items that add up to less than the log-odds of the first over the second
    // class, in weighted Hilbert distance, cannot change the predicted class.
    let id = "robustness_radius";
    let estimate = quantile(&evidence.margins, 0.05, gate.delta(id));
    let value = estimate.value;
    let sentence = format!(
        "For 95 % of the entities, no change of their items below {value:.2} (weighted log-odds, T5') \
         can change the predicted class."
    );
    checks.push(gate.of_independent(id, rows, estimate, sentence));
}

/// A quantile, rounded down to its cell, and its interval: the rank of the true quantile among the
/// numbers is binomial, and it may lie anywhere in the cells at the ends.
fn quantile(numbers: &Histogram, q: f64, delta: f64) -> Estimate<'static> {
    let n = numbers.count();
    let value = numbers.first(|below| below as f64 >= q * n as f64);
    let low = numbers.first(|below| rate_range(below, n, delta).1 >= q);
    let high = numbers.first(|below| rate_range(below, n, delta).0 >= q);
    let start = |cell: Option<(f64, f64)>| cell.map_or(0.0, |(start, _)| start);
    let range = (start(low), high.map_or(f64::INFINITY, |(_, end)| end));
    Estimate::known(start(value), range, (0.0, f64::INFINITY), n, delta, ORDER)
}

fn decomposition(gate: &Gate<'_>, tally: &Tally) -> Check {
    let id = "decomposition";
    let evidence = &tally.evidence;
    let (n, off) = (evidence.decomposed, evidence.undecomposed_rows);
    let samples = match (evidence.averaged, evidence.sampled) {
        (_, 0) => String::new(),
        (mean, rows) => format!(" In {mean} of {rows} rows the answer is the mean of its samples."),
    };
    if n == 0 {
        let reason = match evidence.sampled {
            0 => "no row has logged uncertainty",
            _ => "rows have samples, but no variances to compare with them",
        };
        return gate.not_run(id, reason);
    }
    let sentence = format!(
        "In {} of {n} rows the total variance is epistemic plus aleatoric and, where samples are \
         logged, all three are those of the samples, within the rounding of float32.{samples}",
        n - off
    );
    let worst = evidence.undecomposed.offenders();
    gate.census(id, off as f64 / n as f64, n, sentence, worst)
}

fn effective_items(gate: &Gate<'_>, tally: &Tally, rows: &Rows<'_>) -> Check {
    let id = "k_eff";
    let numbers = &tally.evidence.k_eff;
    let n = numbers.count();
    if n == 0 {
        return gate.not_run(id, NO_EVIDENCE);
    }
    let estimate = quantile(numbers, 0.5, gate.delta(id));
    let value = estimate.value;
    let low = quantile(numbers, 0.05, gate.delta(id)).value;
    let high = quantile(numbers, 0.95, gate.delta(id)).value;
    let weightless = match tally.evidence.weightless {
        0 => String::new(),
        rows => format!("; in {rows} rows no weight is above zero"),
    };
    let sentence = format!(
        "Half of the entities rest on about {value:.1} items or fewer by their weights (5 % on \
         {low:.1} or fewer, 5 % on {high:.1} or more){weightless}."
    );
    gate.of_independent(id, rows, estimate, sentence)
}
