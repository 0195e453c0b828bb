//! Theorem 3 and lemma 7 of the paper, and a learner for which they fail.
//!
//! # Claim
//! With effective dimension `d` and `N` examples, with probability `1 − δ`,
//! `L ≤ L̂ + √(2(L̂ + 1/N)(d·ln(eN/d) + ln(2/δ))/N)`.
//!
//! It does not hold: a valid bound of this shape has a further term of the order `d·ln(eN/d)/N`,
//! which at the paper's `N = 4200`, `d = 1335` exceeds 1/2. Take a learner that memorizes. The input
//! is, with probability `1 − q`, one old value of class 0, else one of `m` fresh values of class 1,
//! all equally likely. The hypotheses say "class 1" on at most `d` fresh values; this class has VC
//! dimension `d` when `m ≥ d`: every subset of `d` fresh values is a hypothesis, and of `d + 1`
//! values the whole set is not. The regularized empirical risk, with a penalty below `1/N` per
//! memorized value, is least when all fresh values seen are memorized, if there are at most `d`.
//! Then `L̂ = 0`, but `L ≥ q(1 − d/m)`. For `N = d` and `q = 1` this happens for certain; for the
//! paper's `N` and `d` and `q = 1/4`, with a probability that rounds to 1. What holds is T3′: see
//! [`clopper_pearson_upper`](super::clopper_pearson_upper) and [`pac_bayes_kl`](super::pac_bayes_kl).

use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive};

use super::BoundError;
use super::binomial::binomial_cdf;
use super::domain::{at_least_one, not_negative, open_unit, require};
use super::witness::{BITS, Relation, Witness, fraction, hypothesis, short};
use crate::math::{Enclosure, Interval, rational};

/// Claim T3/L7's bound on the *gap* `L − L̂`, rounded up. The claim is false.
///
/// Domain: `L̂ ≥ 0`, `N ≥ 1`, `1 ≤ d ≤ N` (beyond, `ln(eN/d)` no longer counts anything),
/// `0 < δ < 1`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn generalization_gap(loss: f64, n: u64, d: u64, delta: f64) -> Result<f64, BoundError> {
    let loss = not_negative("training loss", loss)?;
    let (count, dimension) = (at_least_one("N", n)?, at_least_one("d", d)?);
    require(d <= n, "d", d as f64, "at most N")?;
    let (one, two) = (Interval::point(1.0), Interval::point(2.0));
    let complexity = dimension * (one + (count / dimension).ln());
    let complexity = complexity + (two / open_unit("delta", delta)?).ln();
    Ok((two * (loss + one / count) * complexity / count)
        .sqrt()
        .high())
}

/// The same in fractions, for `L̂ = 0`.
fn exact_gap(n: u64, d: u64, delta: &BigRational) -> Option<Enclosure> {
    let two = Enclosure::integer(2);
    let ratio = Enclosure::exact(fraction(n, d)).ln(BITS)?;
    let complexity = &Enclosure::integer(d) * &(&Enclosure::integer(1) + &ratio);
    let confidence = two.divide(&Enclosure::exact(delta.clone()))?.ln(BITS)?;
    let sum = &complexity + &confidence;
    (&two * &sum)
        .divide(&Enclosure::exact(fraction(n, 1) * fraction(n, 1)))?
        .sqrt(BITS)
}

/// The memorizing learner with `n` examples and dimension `d`, fresh inputs with probability
/// `fresh` from `values` equally likely ones, set against lemma 7.
///
/// `None` where a number is zero or not in its range.
pub fn memorizing_learner(
    n: u64,
    d: u64,
    fresh: &BigRational,
    values: u64,
    delta: &BigRational,
) -> Option<Witness> {
    let one = BigRational::one();
    if n == 0 || d == 0 || values == 0 || !fresh.is_positive() || *fresh > one {
        return None;
    }
    // At most d of the N examples are fresh, with at least this probability.
    let chance = if n <= d {
        1.0
    } else {
        binomial_cdf(d, n, fresh.to_f64()?).ok()?.low()
    };
    // The binomial takes a double; a share that is not one would need its rounding considered.
    let representable = rational(fresh.to_f64()?)? == *fresh;
    let loss = fresh * (&one - fraction(d.min(values), values));
    let bound = exact_gap(n, d, delta)?;
    let penalty = fraction(1, 2 * n);
    Some(Witness {
        claim: "L7",
        hypotheses: vec![
            hypothesis(
                "the class has VC dimension d: there are at least d fresh values",
                values >= d,
            ),
            hypothesis("1 ≤ d ≤ N", d <= n),
            hypothesis("0 < δ < 1", delta.is_positive() && *delta < one),
            hypothesis(
                "memorizing pays: the penalty of a value is below the 1/N it saves",
                penalty < fraction(1, n),
            ),
            hypothesis(
                "the training loss is 0 with a probability above δ",
                (representable || n <= d) && rational(chance).is_some_and(|c| c > *delta),
            ),
        ],
        steps: vec![
            format!(
                "With probability {fresh} the input is one of {values} fresh values, of class 1; else it is one old value, of class 0."
            ),
            format!(
                "A hypothesis says class 1 on at most d = {d} fresh values; the learner memorizes those it saw, at a penalty of {penalty} each."
            ),
            format!(
                "N = {n} examples contain at most {d} fresh ones with probability at least {chance:.6}; then the training loss is 0."
            ),
            format!(
                "At most {d} of {values} fresh values are memorized, so the true loss is at least {fresh}·(1 − {d}/{values}) = {}.",
                short(&loss)
            ),
            format!(
                "The claim allows √(2·(1/{n})·({d}·ln(e·{n}/{d}) + ln(2/({delta})))/{n}) = {:.6}.",
                bound.approx()
            ),
        ],
        quantity: Enclosure::exact(loss),
        relation: Relation::AtMost,
        bound,
    })
}

#[cfg(test)]
mod tests {
    use super::super::witness::fraction as q;
    use super::*;

    #[test]
    fn the_three_bounds_printed_in_the_table_of_theorem_three() {
        for (n, loss, printed) in [
            (2002, 0.0407, 0.278),
            (3003, 0.0393, 0.253),
            (4200, 0.0379, 0.228),
        ] {
            let got = generalization_gap(loss, n, 1335, 0.05).unwrap();
            // The losses are printed to four digits, which moves the bound by less than 0.0002.
            assert!((got - printed).abs() <= 0.0005, "{n}: {got}");
        }
        assert!(generalization_gap(0.1, 10, 11, 0.05).is_err());
        assert!(generalization_gap(0.1, 0, 0, 0.05).is_err());
    }

    #[test]
    fn memorizing_refutes_at_the_papers_dimension_and_at_its_own_sample_size() {
        let delta = q(1, 20);
        let w = memorizing_learner(1335, 1335, &q(1, 1), 1_000_000, &delta).unwrap();
        assert!((w.bound.approx() - 0.038_759_088_929_657).abs() < 1e-12);
        assert!(w.refutes());
        let w = memorizing_learner(4200, 1335, &q(1, 4), 1_000_000, &delta).unwrap();
        // mpmath 1.4.1: √(2·(1335·(1 + ln(4200/1335)) + ln 40))/4200.
        assert!((w.bound.approx() - 0.018_034_998_244_760).abs() < 1e-12);
        assert!(w.refutes() && w.quantity.approx() > 0.24, "{w}");
    }

    #[test]
    fn four_examples_are_the_fewest() {
        let w = memorizing_learner(4, 4, &q(1, 1), 204, &q(1, 20)).unwrap();
        assert!(w.refutes());
        assert!((w.bound.approx() - 0.980_362_143_171_717).abs() < 1e-12);
        // 1 − 4/m > 0.98036…: m = 204 is the first.
        // Negative controls: one value fewer, or one example fewer, and the claim stands.
        assert!(
            !memorizing_learner(4, 4, &q(1, 1), 203, &q(1, 20))
                .unwrap()
                .refutes()
        );
        assert!(
            !memorizing_learner(3, 3, &q(1, 1), 1_000_000, &q(1, 20))
                .unwrap()
                .refutes()
        );
    }

    #[test]
    fn a_learner_that_cannot_memorize_enough_is_not_accepted() {
        // Half of 4200 inputs fresh: 2100 > 1335, so the training loss is not 0.
        let w = memorizing_learner(4200, 1335, &q(1, 2), 1_000_000, &q(1, 20)).unwrap();
        assert!(w.quantity.exceeds(&w.bound) && !w.refutes());
        assert!(memorizing_learner(0, 1, &q(1, 1), 1, &q(1, 20)).is_none());
        // Fewer fresh values than d: the VC dimension is smaller than d.
        assert!(
            !memorizing_learner(20, 20, &q(1, 1), 10, &q(1, 20))
                .unwrap()
                .refutes()
        );
    }
}
