//! Theorem 1's remark that `K_eff ≥ ⌈K/2⌉`, and weights for which it fails.
//!
//! What holds is `1 ≤ K_eff ≤ K`: the lower end because `(Σw)² ≥ Σw²` for `w ≥ 0`, the upper one
//! by Cauchy and Schwarz. Both are attained, by one positive weight and by equal weights.

use num_rational::BigRational;
use num_traits::{One, Signed};

use super::effective_count_exact;
use super::witness::{Relation, Witness, fraction, hypothesis, tuple};
use crate::math::Enclosure;

/// Given weights, set against `K_eff ≥ ⌈K/2⌉`. `None` where all weights are zero.
pub fn half_count(weights: &[BigRational]) -> Option<Witness> {
    let count = effective_count_exact(weights)?;
    let half = weights.len().div_ceil(2) as u64;
    let total: BigRational = weights.iter().sum();
    let squares: BigRational = weights.iter().map(|w| w * w).sum();
    Some(Witness {
        claim: "T1.Keff",
        hypotheses: vec![hypothesis(
            "each weight is above 0 and at most 1",
            weights
                .iter()
                .all(|w| w.is_positive() && *w <= BigRational::one()),
        )],
        steps: vec![
            format!("Weights {}.", tuple(weights)),
            format!("Their sum is {total}, the sum of their squares {squares}."),
            format!("K_eff = ({total})² / ({squares}) = {count}."),
            format!("K = {}, so the claim says K_eff ≥ {half}.", weights.len()),
        ],
        quantity: Enclosure::exact(count),
        relation: Relation::AtLeast,
        bound: Enclosure::integer(half),
    })
}

/// The smallest counterexample: fewest weights, then the smallest common denominator up to
/// `largest`, then the smallest weights; all weights positive.
pub fn smallest_half_count(most_weights: usize, largest: u64) -> Option<Witness> {
    for k in 1..=most_weights {
        for denominator in 1..=largest {
            for numerators in not_increasing(k, denominator) {
                let weights: Vec<BigRational> = numerators
                    .iter()
                    .map(|&n| fraction(n, denominator))
                    .collect();
                if let Some(w) = half_count(&weights).filter(Witness::refutes) {
                    return Some(w);
                }
            }
        }
    }
    None
}

/// All sequences of `length` numbers from 1 to `cap`, none above the one before it.
fn not_increasing(length: usize, cap: u64) -> Vec<Vec<u64>> {
    if length == 0 {
        return vec![vec![]];
    }
    (1..=cap)
        .flat_map(|first| {
            not_increasing(length - 1, first)
                .into_iter()
                .map(move |rest| {
                    let mut all = vec![first];
                    all.extend(rest);
                    all
                })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::witness::fraction as q;
    use super::*;

    #[test]
    fn the_smallest_counterexample_has_three_weights_in_fifths() {
        let w = smallest_half_count(4, 10).unwrap();
        assert_eq!(w.steps[0], "Weights (1, 1/5, 1/5).");
        assert_eq!(*w.quantity.low(), q(49, 27)); // (7/5)²/(27/25)
        assert!(w.refutes());
    }

    #[test]
    fn weights_that_satisfy_the_claim_or_break_its_domain_are_not_accepted() {
        // In quarters it is attained: (1, 1/4, 1/4) gives exactly 2.
        assert!(!half_count(&[q(1, 1), q(1, 4), q(1, 4)]).unwrap().refutes());
        assert!(!half_count(&[q(1, 1), q(1, 1), q(1, 1)]).unwrap().refutes());
        assert!(
            half_count(&[q(1, 1), q(1, 10), q(1, 10)])
                .unwrap()
                .refutes()
        );
        assert!(!half_count(&[q(5, 1), q(1, 1), q(1, 1)]).unwrap().refutes());
        assert!(half_count(&[q(0, 1)]).is_none());
        // Two weights never do: K_eff ≥ 1.
        assert!(smallest_half_count(2, 12).is_none());
    }
}
