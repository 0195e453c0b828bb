//! Is this the same model, on the same kind of rows, as before?
//!
//! Each difference has an interval that assumes nothing about the distributions; the levels are
//! shared out over all gated checks. Beside it stands the p-value of "no drift", corrected for the
//! number of comparisons by Holm's method.

use super::Gate;
use super::calibration::NOTHING;
use crate::assumptions::holm;
use crate::audit::grid::Grid;
use crate::audit::intervals::{
    BERNSTEIN, CLOPPER_PEARSON, HOEFFDING, bernstein_range, moments, normal_cdf, rate_range,
};
use crate::audit::outcome::Check;
use crate::audit::tally::Tally;
use crate::math::{ExactSum, exp, ln};

const ALL: [&str; 5] = [
    "drift_accuracy",
    "drift_confidence",
    "drift_brier",
    "drift_labels",
    "drift_confidences",
];

/// A difference on its way to a check.
struct Difference {
    id: &'static str,
    value: f64,
    range: Option<(f64, f64)>,
    method: &'static str,
    p_value: f64,
    words: String,
}

pub(super) fn checks(gate: &Gate<'_>, now: &Tally, before: &Tally, checks: &mut Vec<Check>) {
    let (n, m) = (now.usable(), before.usable());
    let reason = if n == 0 || m == 0 {
        Some(NOTHING)
    } else if now.settings.classes != before.settings.classes {
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
    let adjusted = holm(&differences.each_ref().map(|d| d.p_value));
    for (difference, p) in differences.into_iter().zip(adjusted) {
        let sentence = format!(
            "{}; p-value {p:.3} (no drift; Holm's correction for {} comparisons).",
            difference.words,
            ALL.len()
        );
        let Difference {
            id,
            value,
            range,
            method,
            ..
        } = difference;
        checks.push(gate.estimate(id, value, range, method, n.min(m), sentence));
    }
}

/// The two-sided probability of a standard normal number this far from zero.
fn two_sided(difference: f64, variance: f64) -> f64 {
    if difference == 0.0 {
        return 1.0;
    }
    2.0 * normal_cdf(-(difference.abs() / libm::sqrt(variance)))
}

fn accuracy(gate: &Gate<'_>, new: &Tally, old: &Tally) -> Difference {
    let id = "drift_accuracy";
    let (a, n) = (new.scores.correct(), new.usable());
    let (b, m) = (old.scores.correct(), old.usable());
    let delta = gate.delta(id) / 2.0;
    let (low, high) = rate_range(a, n, delta);
    let (old_low, old_high) = rate_range(b, m, delta);
    let (new_rate, old_rate) = (a as f64 / n as f64, b as f64 / m as f64);
    let pooled = (a + b) as f64 / (n + m) as f64;
    let variance = pooled * (1.0 - pooled) * (1.0 / n as f64 + 1.0 / m as f64);
    let value = new_rate - old_rate;
    Difference {
        id,
        value,
        range: Some((low - old_high, high - old_low)),
        method: CLOPPER_PEARSON,
        p_value: two_sided(value, variance),
        words: format!(
            "Accuracy is {:.1} %, in the baseline {:.1} %",
            100.0 * new_rate,
            100.0 * old_rate
        ),
    }
}

/// Mean and variance of the confidences, as the grid has them.
fn spread(grid: &Grid) -> (f64, f64) {
    let n = grid.count() as f64;
    let mean = grid
        .cells()
        .map(|c| c.confidence)
        .collect::<ExactSum>()
        .to_f64()
        / n;
    let square = |x: f64| x * x;
    let terms = grid
        .cells()
        .map(|c| c.count as f64 * square(c.mean() - mean));
    (mean, terms.collect::<ExactSum>().to_f64() / n)
}

fn confidence(gate: &Gate<'_>, new: &Tally, old: &Tally) -> Difference {
    let id = "drift_confidence";
    let (n, m) = (new.usable() as f64, old.usable() as f64);
    let ((a, v), (b, w)) = (spread(&new.grid), spread(&old.grid));
    let log = ln(4.0 / gate.delta(id));
    let radius = libm::sqrt(log / (2.0 * n)) + libm::sqrt(log / (2.0 * m));
    let value = a - b;
    Difference {
        id,
        value,
        range: Some((value - radius, value + radius)),
        method: HOEFFDING,
        p_value: two_sided(value, v / n + w / m),
        words: format!(
            "Mean confidence is {:.1} %, in the baseline {:.1} %",
            100.0 * a,
            100.0 * b
        ),
    }
}

fn brier(gate: &Gate<'_>, new: &Tally, old: &Tally) -> Difference {
    let id = "drift_brier";
    let (n, m) = (new.usable(), old.usable());
    let (a, v) = moments(&new.scores.brier, n);
    let (b, w) = moments(&old.scores.brier, m);
    let delta = gate.delta(id) / 2.0;
    let range = v.zip(w).and_then(|(v, w)| {
        let new = bernstein_range(a, v, 2.0, n, delta)?;
        let old = bernstein_range(b, w, 2.0, m, delta)?;
        Some((new.0 - old.1, new.1 - old.0))
    });
    let variance = v.zip(w).map(|(v, w)| v / n as f64 + w / m as f64);
    Difference {
        id,
        value: a - b,
        range,
        method: BERNSTEIN,
        p_value: variance.map_or(1.0, |variance| two_sided(a - b, variance)),
        words: format!("The Brier score is {a:.4}, in the baseline {b:.4}"),
    }
}

/// Total variation of the true classes. An empirical distribution over `k` classes is off by
/// `√(2(k·ln 2 + ln(1/δ))/n)` in L1 with probability at most `δ` (Weissman et al. 2003).
fn labels(gate: &Gate<'_>, new: &Tally, old: &Tally) -> Difference {
    let id = "drift_labels";
    let (n, m) = (new.usable() as f64, old.usable() as f64);
    let pairs = new.scores.labels.iter().zip(&old.scores.labels);
    let terms = pairs
        .clone()
        .map(|(&a, &b)| (a as f64 / n - b as f64 / m).abs());
    let value = terms.collect::<ExactSum>().to_f64() / 2.0;
    let k = new.scores.labels.len() as f64;
    let log = k * std::f64::consts::LN_2 + ln(2.0 / gate.delta(id));
    let radius = (libm::sqrt(2.0 * log / n) + libm::sqrt(2.0 * log / m)) / 2.0;
    // Pearson's statistic for two rows of counts.
    let pairs = pairs.filter(|(a, b)| **a + **b > 0);
    let terms = pairs.clone().map(|(&a, &b)| {
        let total = (a + b) as f64;
        let off = a as f64 - total * n / (n + m);
        off * off / (total * n * m / ((n + m) * (n + m)))
    });
    let statistic = terms.collect::<ExactSum>().to_f64();
    let seen = pairs.count();
    Difference {
        id,
        value,
        range: Some(((value - radius).max(0.0), (value + radius).min(1.0))),
        method: "Weissman",
        p_value: chi_squared_tail(statistic, seen.saturating_sub(1)),
        words: format!(
            "The true classes differ in {:.1} % of the rows",
            100.0 * value
        ),
    }
}

/// `P(χ²_k ≥ x)` in closed form: with `h = x/2`, `e^{−h}·Σ_{i<k/2} hⁱ/i!` for even `k`, and
/// `erfc(√h) + e^{−h}·Σ_{i<(k−1)/2} h^{i+1/2}/Γ(i+3/2)` for odd `k`. All terms are positive.
fn chi_squared_tail(x: f64, k: usize) -> f64 {
    if k == 0 {
        return 1.0;
    }
    let h = x / 2.0;
    let root = libm::sqrt(h);
    // The first term, each next one `h/(order + i)` times the one before, and what stands alone.
    let (first, order, alone) = if k.is_multiple_of(2) {
        (1.0, 0.0, 0.0)
    } else {
        // Γ(3/2) = √π/2.
        (
            root * std::f64::consts::FRAC_2_SQRT_PI,
            0.5,
            libm::erfc(root),
        )
    };
    let mut term = first * exp(-h);
    let mut sum = alone;
    for i in 1..=k / 2 {
        sum += term;
        term *= h / (order + i as f64);
    }
    // The sum is a probability; rounding may leave it an ulp above.
    sum.min(1.0)
}

/// The largest distance between the distribution functions of the confidences (Kolmogorov and
/// Smirnov); each is off by `√(ln(2/δ)/(2n))` with probability at most `δ` (Massart 1990).
fn confidences(gate: &Gate<'_>, new: &Tally, old: &Tally) -> Difference {
    let id = "drift_confidences";
    let (n, m) = (new.usable() as f64, old.usable() as f64);
    let value = new.grid.largest_distance(&old.grid);
    let log = ln(4.0 / gate.delta(id));
    let radius = libm::sqrt(log / (2.0 * n)) + libm::sqrt(log / (2.0 * m));
    let lambda = value * libm::sqrt(n * m / (n + m));
    Difference {
        id,
        value,
        range: Some(((value - radius).max(0.0), (value + radius).min(1.0))),
        method: "Dvoretzky-Kiefer-Wolfowitz",
        p_value: kolmogorov_tail(lambda),
        words: format!(
            "The shares of predictions below a confidence differ by up to {:.1} points",
            100.0 * value
        ),
    }
}

/// `2·Σ_{k≥1} (−1)^{k−1}·e^{−2k²λ²}`, the limit distribution of Kolmogorov's statistic.
fn kolmogorov_tail(lambda: f64) -> f64 {
    // Below 0.2 the tail is one to 12 digits, and the series needs many terms.
    if lambda < 0.2 {
        return 1.0;
    }
    let term = |k: u32| {
        let k = f64::from(k);
        let size = exp(-2.0 * k * k * lambda * lambda);
        if k % 2.0 == 1.0 { size } else { -size }
    };
    // Terms fall from the first on, which is positive; rounding may leave the sum an ulp above one.
    (2.0 * (1..=100).map(term).sum::<f64>()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_tables() {
        // chi2.sf(x, k) and kstwobign.sf(λ) of SciPy 1.17.1.
        let close = |got: f64, want: f64| (got - want).abs() <= 1e-12 * want;
        for (x, k, want) in [
            (3.841, 1, 0.050013683763956804),
            (0.001, 1, 0.9747728793699604),
            (0.5, 2, 0.7788007830714049),
            (7.815, 3, 0.049993902974883875),
            (100.0, 4, 9.836624224615988e-21),
            (30.0, 7, 9.495972508134177e-05),
            (250.0, 9, 9.976151469298895e-49),
        ] {
            assert!(close(chi_squared_tail(x, k), want), "{x} {k}");
        }
        assert_eq!(
            (chi_squared_tail(0.0, 5), chi_squared_tail(9.0, 0)),
            (1.0, 1.0)
        );
        for (lambda, want) in [
            (0.3, 0.9999906941986655),
            (0.5, 0.9639452436648751),
            (1.3581, 0.0499996304316674),
            (2.0, 0.0006709252557796953),
            (3.5, 4.579469691291106e-11),
        ] {
            assert!(close(kolmogorov_tail(lambda), want), "{lambda}");
        }
        assert_eq!(kolmogorov_tail(0.0), 1.0);
    }

    #[test]
    fn holm_is_the_example_of_the_textbook() {
        // 0.01·4, max(0.04, 0.02·3), max(0.06, 0.03·2), max(0.06, 0.04·1).
        let got = holm(&[0.04, 0.01, 0.03, 0.02]);
        let want = [0.06, 0.04, 0.06, 0.06];
        assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-15));
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    }
}
