//! Is this the same model, on the same kind of rows, as before?
//!
//! Each difference has an interval that assumes nothing about the distributions; the levels are
//! shared out over all gated checks. Beside it stands the p-value of "no drift", by Fisher's exact test or
//! by random divisions of all rows, corrected for the number of comparisons by Holm's method.

use super::calibration::NOTHING;
use super::scores::{accuracy_of, brier_of};
use super::{Gate, Rows};
use crate::assumptions::holm;
use crate::audit::calibration_error;
use crate::audit::clusters::Quantity;
use crate::audit::intervals::{Estimate, MCDIARMID};
use crate::audit::outcome::Check;
use crate::audit::permutation::{fisher, permuted};
use crate::audit::tally::Tally;
use crate::latent::random::text_key;
use crate::math::{ExactSum, ln};

const ALL: [&str; 5] = [
    "drift_accuracy",
    "drift_confidence",
    "drift_brier",
    "drift_labels",
    "drift_confidences",
];

/// Names the streams of the random divisions.
const CONFIDENCES: u64 = text_key("audit: divisions by confidence");
const BRIERS: u64 = text_key("audit: divisions by Brier score");
const LABELS: u64 = text_key("audit: divisions by class");

/// A log and how its rows depend on each other.
type Side<'a> = (&'a Tally, &'a Rows<'a>);

pub(super) fn checks(gate: &Gate<'_>, now: Side<'_>, before: Side<'_>, checks: &mut Vec<Check>) {
    let (n, m) = (now.0.usable(), before.0.usable());
    let reason = if n == 0 || m == 0 {
        Some(NOTHING)
    } else if now.0.settings.classes != before.0.settings.classes {
        Some("the baseline has other classes")
    } else {
        None
    };
    if let Some(reason) = reason {
        checks.extend(ALL.map(|id| gate.not_run(id, reason)));
        return;
    }
    let differences = [
        accuracy(gate, now, before),
        confidence(gate, now, before),
        brier(gate, now, before),
        labels(gate, now, before),
        confidences(gate, now, before),
    ];
    // Rows that depend on each other are not exchangeable.
    let tested = !now.1.clustered() && !before.1.clustered();
    let adjusted = tested.then(|| holm(&p_values(gate, now.0, before.0)));
    for (i, ((estimate, words), id)) in differences.into_iter().zip(ALL).enumerate() {
        let p = adjusted.as_ref().and_then(|all| all.get(i));
        let sentence = match p {
            Some(p) => format!(
                "{words}; p-value {p:.3} (no drift; Holm's correction for {} comparisons).",
                ALL.len()
            ),
            None => format!(
                "{words}; without a p-value, as rows of one entity may depend on each other."
            ),
        };
        checks.push(gate.estimate(id, estimate, sentence));
    }
}

/// The p-values of "no drift", in the order of [`ALL`].
fn p_values(gate: &Gate<'_>, now: &Tally, before: &Tally) -> [f64; 5] {
    let (n, m) = (now.usable() as f64, before.usable() as f64);
    let seed = gate.settings.seed;
    let right = fisher(
        now.scores.correct(),
        now.usable(),
        before.scores.correct(),
        before.usable(),
    );
    // The distance of the mean of a value in the first log from its mean over both.
    let off = |kinds: &[(u64, u64)], value: &dyn Fn(usize) -> f64, counts: &[u64]| {
        let pairs = kinds.iter().zip(counts).enumerate();
        let terms = pairs.map(|(i, (kind, &count))| {
            let expected = (kind.0 + kind.1) as f64 * n / (n + m);
            value(i) * (count as f64 - expected)
        });
        terms.collect::<ExactSum>().to_f64().abs()
    };
    let kinds = now.grid.paired(&before.grid, STEPS);
    let mean = |counts: &[u64]| off(&kinds, &|i| i as f64, counts);
    let largest = |counts: &[u64]| {
        let (mut a, mut both, mut largest) = (0.0, 0.0, 0.0f64);
        for (kind, &count) in kinds.iter().zip(counts) {
            a += count as f64;
            both += (kind.0 + kind.1) as f64;
            largest = largest.max((a - both * n / (n + m)).abs());
        }
        largest
    };
    let [confidence, confidences] = permuted(&kinds, [&mean, &largest], seed, CONFIDENCES);
    let pairs = now.briers.iter().zip(&before.briers);
    let kinds: Vec<(u64, u64)> = pairs.map(|(&a, &b)| (a, b)).collect();
    let mean = |counts: &[u64]| off(&kinds, &|i| i as f64, counts);
    let [brier] = permuted(&kinds, [&mean], seed, BRIERS);
    let pairs = now.scores.labels.iter().zip(&before.scores.labels);
    let kinds: Vec<(u64, u64)> = pairs.map(|(&a, &b)| (a, b)).collect();
    // Pearson's statistic, but for a factor that is the same for all divisions.
    let pearson = |counts: &[u64]| {
        let pairs = kinds
            .iter()
            .zip(counts)
            .filter(|(kind, _)| kind.0 + kind.1 > 0);
        let terms = pairs.map(|(kind, &count)| {
            let total = (kind.0 + kind.1) as f64;
            let off = count as f64 - total * n / (n + m);
            off * off / total
        });
        terms.collect::<ExactSum>().to_f64()
    };
    let [labels] = permuted(&kinds, [&pearson], seed, LABELS);
    [right, confidence, brier, labels, confidences]
}

/// Confidences are compared in so many steps by the tests of the random divisions.
const STEPS: usize = 1024;

fn accuracy(gate: &Gate<'_>, new: Side<'_>, old: Side<'_>) -> (Estimate<'static>, String) {
    let delta = gate.delta("drift_accuracy") / 2.0;
    let (new, old) = (
        accuracy_of(&new.0.scored(), new.1, delta),
        accuracy_of(&old.0.scored(), old.1, delta),
    );
    let words = format!(
        "Accuracy is {:.1} %, in the baseline {:.1} %",
        100.0 * new.value,
        100.0 * old.value
    );
    (Estimate::difference(new, old), words)
}

fn confidence(gate: &Gate<'_>, new: Side<'_>, old: Side<'_>) -> (Estimate<'static>, String) {
    let delta = gate.delta("drift_confidence") / 2.0;
    let of = |(tally, rows): Side<'_>| {
        let sum: ExactSum = tally.grid.cells().map(|c| c.confidence).collect();
        let value = sum.to_f64() / tally.usable() as f64;
        match rows.clusters {
            Some(clusters) => {
                let sums = clusters.sums(Quantity::Confidence);
                Estimate::of_clusters(value, sums, (0.0, 1.0), delta)
            }
            None => calibration_error::confidence(value, &tally.grid, delta),
        }
    };
    let (new, old) = (of(new), of(old));
    let words = format!(
        "Mean confidence is {:.1} %, in the baseline {:.1} %",
        100.0 * new.value,
        100.0 * old.value
    );
    (Estimate::difference(new, old), words)
}

fn brier(gate: &Gate<'_>, new: Side<'_>, old: Side<'_>) -> (Estimate<'static>, String) {
    let delta = gate.delta("drift_brier") / 2.0;
    let (new, old) = (
        brier_of(&new.0.scored(), new.1, delta),
        brier_of(&old.0.scored(), old.1, delta),
    );
    let words = format!(
        "The Brier score is {:.4}, in the baseline {:.4}",
        new.value, old.value
    );
    (Estimate::difference(new, old), words)
}

/// `1/n + 1/m` for the effective numbers of rows.
fn inverse(new: Side<'_>, old: Side<'_>) -> f64 {
    1.0 / new.1.effective + 1.0 / old.1.effective
}

/// Total variation of the true classes. It is the difference of the shares of one set of classes, which
/// belongs to the populations, so that Hoeffding's inequality for that set gives the upper end. One row
/// changes the value by at most `1/n`, and it exceeds the truth on average by at most
/// `½·Σ √Var ≤ ½·√(k·(1/n + 1/m))` for `k` classes: with McDiarmid's inequality the lower end.
fn labels(gate: &Gate<'_>, new: Side<'_>, old: Side<'_>) -> (Estimate<'static>, String) {
    let delta = gate.delta("drift_labels");
    let (n, m) = (new.0.usable() as f64, old.0.usable() as f64);
    let pairs = new.0.scores.labels.iter().zip(&old.0.scores.labels);
    let terms = pairs.map(|(&a, &b)| (a as f64 / n - b as f64 / m).abs());
    let value = terms.collect::<ExactSum>().to_f64() / 2.0;
    let inverse = inverse(new, old);
    let reach = libm::sqrt(ln(2.0 / delta) * inverse / 2.0);
    let classes = new.0.scores.labels.len() as f64;
    let bias = 0.5 * libm::sqrt(classes * inverse);
    let range = ((value - reach - bias).max(0.0), (value + reach).min(1.0));
    let words = format!(
        "The true classes differ in {:.1} % of the rows",
        100.0 * value
    );
    let rows = new.0.usable().min(old.0.usable());
    let estimate = Estimate::known(value, range, (0.0, 1.0), rows, delta, MCDIARMID);
    (estimate, words)
}

/// The largest distance between the distribution functions of the confidences (Kolmogorov and
/// Smirnov). At the confidence where those of the populations are furthest apart, Hoeffding's inequality
/// gives the upper end; each function is off by `√(ln(2/δ)/(2n))` with probability at most `δ` (Massart
/// 1990), which gives the lower one for independent rows.
fn confidences(gate: &Gate<'_>, new: Side<'_>, old: Side<'_>) -> (Estimate<'static>, String) {
    let delta = gate.delta("drift_confidences");
    let value = new.0.grid.largest_distance(&old.0.grid);
    let reach = libm::sqrt(ln(2.0 / delta) * inverse(new, old) / 2.0);
    let low = if new.1.clustered() || old.1.clustered() {
        0.0
    } else {
        let off = |rows: &Rows<'_>| libm::sqrt(ln(8.0 / delta) / (2.0 * rows.effective));
        (value - off(new.1) - off(old.1)).max(0.0)
    };
    let words = format!(
        "The shares of predictions below a confidence differ by up to {:.1} points",
        100.0 * value
    );
    let (rows, method) = (
        new.0.usable().min(old.0.usable()),
        "Hoeffding, and Dvoretzky-Kiefer-Wolfowitz",
    );
    let range = (low, (value + reach).min(1.0));
    let estimate = Estimate::known(value, range, (0.0, 1.0), rows, delta, method);
    (estimate, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_is_the_example_of_the_textbook() {
        // 0.01·4, max(0.04, 0.02·3), max(0.06, 0.03·2), max(0.06, 0.04·1).
        let got = holm(&[0.04, 0.01, 0.03, 0.02]);
        let want = [0.06, 0.04, 0.06, 0.06];
        assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-15));
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    }
}
