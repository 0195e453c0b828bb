//! The entropy of a prediction, split into what rows disagree about and what each leaves open.

use crate::math::{ExactSum, Scalar, ln};
use crate::simplex::kl_term;

/// Entropies in nats: `predictive = mutual_information + expected`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntropyParts {
    /// `H(p̄)`, the entropy of the mean row. Range: `[0, ln n]` up to rounding.
    pub predictive: f64,
    /// `(1/M) Σ H(p_m)`, the aleatoric part. Range: `[0, ln n]` up to rounding.
    pub expected: f64,
    /// `(1/M) Σ D(p_m ‖ p̄)`, the epistemic part. Never negative: a mean of divergences, each a sum
    /// of non-negative terms, and not a difference of entropies.
    pub mutual_information: f64,
}

/// `p ↦ −p ln p`, with `0 ↦ 0`.
pub(super) fn entropy_term(p: f64) -> f64 {
    if p > 0.0 { -(p * ln(p)) } else { 0.0 }
}

/// The mean of each class over the rows, exact sums divided by `M`.
pub(super) fn class_means(rows: &[f64], classes: usize, samples: usize) -> Vec<f64> {
    let column = |y: usize| rows.iter().skip(y).step_by(classes).copied();
    (0..classes)
        .map(|y| f64::sum(column(y)) / samples as f64)
        .collect()
}

impl EntropyParts {
    /// The split for rows that are distributions, row-major with `classes` columns, and their
    /// class means.
    ///
    /// The terms `q − p` in the divergence cancel over all rows, as `q` is their mean.
    pub(super) fn of_rows(rows: &[f64], means: &[f64], samples: usize) -> Self {
        let mean = |sum: ExactSum| sum.to_f64() / samples as f64;
        let pairs = || rows.iter().zip(means.iter().cycle());
        EntropyParts {
            predictive: f64::sum(means.iter().map(|&p| entropy_term(p))) + 0.0,
            expected: mean(rows.iter().map(|&p| entropy_term(p)).collect()),
            mutual_information: mean(pairs().map(|(&p, &q)| kl_term(p, q)).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simplex::Distribution;
    use proptest::prelude::*;

    fn split(rows: &[f64], classes: usize) -> EntropyParts {
        let samples = rows.len() / classes;
        EntropyParts::of_rows(rows, &class_means(rows, classes, samples), samples)
    }

    proptest! {
        #[test]
        fn parts_are_not_negative_and_add_up(
            weights in prop::collection::vec(prop::collection::vec(0.0f64..1.0, 3), 1..20),
            nearly_equal in any::<bool>(),
        ) {
            prop_assume!(weights.iter().all(|w| w.iter().any(|&x| x > 0.0)));
            let mut rows = Vec::new();
            for w in &weights {
                let base = &weights[0];
                let w = if nearly_equal {
                    base.iter().zip(w).map(|(b, w)| b + 1e-9 * w).collect()
                } else {
                    w.clone()
                };
                rows.extend(Distribution::from_weights(w).unwrap().into_vec());
            }
            let e = split(&rows, 3);
            prop_assert!(e.predictive >= 0.0 && e.expected >= 0.0 && e.mutual_information >= 0.0);
            // Each entropy has a few roundings of numbers below ln 3; the divergence likewise, and
            // rows whose sums are off by 3·2⁻⁵³ shift it by as much.
            let gap = e.predictive - e.expected - e.mutual_information;
            prop_assert!(gap.abs() <= 32.0 * 2f64.powi(-53), "{gap:e}");
        }
    }

    #[test]
    fn values_known_in_closed_form() {
        let ln2 = std::f64::consts::LN_2;
        let certain = split(&[1.0, 0.0, 0.0, 1.0], 2);
        assert_eq!(
            (
                certain.predictive,
                certain.expected,
                certain.mutual_information
            ),
            (ln2, 0.0, ln2)
        );
        let open = split(&[0.5; 4], 2);
        assert_eq!(
            (open.predictive, open.expected, open.mutual_information),
            (ln2, ln2, 0.0)
        );
        // Two rows (1/2 ± e): mutual information is ((1+2e) ln(1+2e) + (1−2e) ln(1−2e))/2, that
        // is 2e² + 4e⁴/3 + …; a difference of entropies would leave no correct digit.
        let e = 2f64.powi(-28);
        let near = split(&[0.5 + e, 0.5 - e, 0.5 - e, 0.5 + e], 2);
        let want = 2.0 * e * e;
        assert!((near.mutual_information - want).abs() <= 8.0 * f64::EPSILON * want);
        let difference = near.predictive - near.expected;
        assert!((difference - want).abs() > 0.1 * want, "control");
    }
}
