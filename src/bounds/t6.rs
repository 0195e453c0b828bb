//! Theorem 6 of the paper, and a case in which the promised number of items does not suffice.
//!
//! # Claim
//! `K ≥ C²/ε²` items give `ECE ≤ ε` with probability `1 − δ`, where `C = √(2σ²·ln(2|Y|/δ))` and `σ²`
//! is the variance of the factors' predictions.
//!
//! It does not hold. Its proof rests on theorem 1, drops the factors' own error, and concludes from
//! `K_eff ≤ K` in the wrong direction. In the world of theorem 1's counterexample, where the evidence
//! says nothing, the factors do not vary at all: `σ² = 0`, so any number of items should do for any
//! `ε`; two items already give an ECE of 2/15 from the prior `(2/3, 1/3)`. Nor does the largest
//! variance possible in `[0, 1]`, `σ² = 1/4`, help: the ECE tends to 1/3, so for `ε = 3/10` no number
//! of items, however large, keeps the promise once the product is near its limit. Where factors do
//! vary, three items are enough to break it ([`leaning_items`]). What holds is T6′: see
//! [`sufficient_items`](super::sufficient_items).

use num_rational::BigRational;
use num_traits::Signed;

use super::BoundError;
use super::domain::{at_least_one, not_negative, open_unit};
use super::joint::{Joint, bounded_support, product};
use super::t1::{Constant, constant_evidence};
use super::witness::{BITS, Relation, Witness, fraction, hypothesis};
use crate::math::{Enclosure, Interval};

/// Claim T6's constant `√(2σ²·ln(2|Y|/δ))`, rounded up.
///
/// Domain: `σ² ≥ 0`, `classes ≥ 1`, `0 < δ < 1`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn sample_complexity_constant(
    variance: f64,
    classes: u64,
    delta: f64,
) -> Result<f64, BoundError> {
    let two = Interval::point(2.0);
    let log = (two * at_least_one("|Y|", classes)? / open_unit("delta", delta)?).ln();
    Ok((two * not_negative("variance", variance)? * log)
        .sqrt()
        .high())
}

/// `C²/ε²`, the number of items that theorem 6 asks for with two classes or more.
fn items_asked_for(
    classes: usize,
    variance: &BigRational,
    epsilon: &BigRational,
    delta: &BigRational,
) -> Option<Enclosure> {
    let classes = Enclosure::integer(2 * classes as u64);
    let log = classes.divide(&Enclosure::exact(delta.clone()))?.ln(BITS)?;
    let square = &Enclosure::exact(variance * fraction(2, 1)) * &log;
    square.divide(&Enclosure::exact(epsilon * epsilon))
}

/// Uninformative items with a given prior, set against theorem 6: the claim is that `items` suffice
/// for `ECE ≤ epsilon` when the factors' variance is at most `variance`.
///
/// `None` where `prior` is not a distribution or there is no item.
pub fn too_few_items(
    prior: &[BigRational],
    items: u32,
    variance: &BigRational,
    epsilon: &BigRational,
    delta: &BigRational,
) -> Option<Witness> {
    let constant = Constant::Formula {
        delta: delta.clone(),
    };
    let case = constant_evidence(prior, items, &constant)?;
    let needed = items_asked_for(prior.len(), variance, epsilon, delta)?;
    let mut hypotheses = case.hypotheses;
    hypotheses.push(hypothesis("ε > 0", epsilon.is_positive()));
    hypotheses.push(hypothesis(
        "the variance is at least that of the factors, which is 0",
        !variance.is_negative(),
    ));
    hypotheses.push(hypothesis(
        format!("K = {items} is at least C²/ε² = {:.3}", needed.approx()),
        fraction(items.into(), 1) >= *needed.high(),
    ));
    let mut steps: Vec<String> = case.steps.into_iter().take(4).collect();
    steps.push(format!(
        "With σ² = {variance}, δ = {delta} the claim promises ECE ≤ {epsilon} from K ≥ {:.3} on.",
        needed.approx()
    ));
    Some(Witness {
        claim: "T6",
        hypotheses,
        steps,
        quantity: case.quantity,
        relation: Relation::AtMost,
        bound: Enclosure::exact(epsilon.clone()),
    })
}

/// Items that say little, set against theorem 6 with the variance that their factors have: from the
/// prior `(3/5, 2/5)` each moves the posterior to `(13/20, 7/20)` or to `(11/20, 9/20)`, with
/// probability 1/2 each, so that the exact factors vary by 1/400. Every factor leans to the first
/// class, of which the product is ever surer.
///
/// `None` where there is no item, where there are more than ten, whose outcomes are too many to go
/// through, or where `delta` is no probability.
pub fn leaning_items(items: u32, epsilon: &BigRational, delta: &BigRational) -> Option<Witness> {
    let prior = [fraction(3, 5), fraction(2, 5)];
    // P(E = a | y) = P(y | E = a)·P(E = a)/P(y).
    let likelihood = vec![
        vec![fraction(13, 24), fraction(11, 24)],
        vec![fraction(7, 16), fraction(9, 16)],
    ];
    let count = usize::try_from(items)
        .ok()
        .filter(|n| (1..=10).contains(n))?;
    let world = Joint::independent(&prior, &vec![likelihood; count])?;
    let factors: Vec<_> = (0..2).map(|a| world.factor(0, a)).collect::<Option<_>>()?;
    // All items are alike, so that the first one's factor tells of all.
    let square = |p: &BigRational| (p - &prior[0]) * (p - &prior[0]);
    let variance = (square(&factors[0][0]) + square(&factors[1][0])) * fraction(1, 2);
    let needed = items_asked_for(prior.len(), &variance, epsilon, delta)?;
    let answer = |e: &[usize]| {
        let of_items: Vec<_> = e.iter().map(|&a| factors[a].clone()).collect();
        product(&of_items).unwrap_or_default()
    };
    let error = world.calibration_error(answer)?;
    // Whatever the bins, |mean confidence − accuracy| is no more than the error; here it is all of it.
    let gap: BigRational = world
        .outcomes()
        .filter_map(|e| {
            let (surest, right) = (answer(&e).into_iter().max()?, world.posterior(&e)?);
            Some((surest - right.first()?) * world.probability(&e))
        })
        .sum();
    let calibrated = world.factor_calibration_error(0, &factors)?;
    let shown = Enclosure::exact(error.clone());
    Some(Witness {
        claim: "T6",
        hypotheses: vec![
            hypothesis(
                "A1: items independent given the class",
                world.conditionally_independent(),
            ),
            hypothesis(
                "A3 and the theorem's own: each factor is 0-calibrated",
                !calibrated.is_positive(),
            ),
            hypothesis(
                "A6: every entry of a factor is at least 1/(2|Y|)",
                factors.iter().all(|f| bounded_support(f)),
            ),
            hypothesis("ε > 0", epsilon.is_positive()),
            hypothesis("the factors vary", variance.is_positive()),
            hypothesis("the error is the same with any bins", gap == error),
            hypothesis(
                format!("K = {items} is at least C²/ε² = {:.3}", needed.approx()),
                fraction(items.into(), 1) >= *needed.high(),
            ),
        ],
        steps: vec![
            format!(
                "The class has prior (3/5, 2/5); each of {items} items moves it to (13/20, 7/20) or to (11/20, \
                 9/20), with probability 1/2 each."
            ),
            format!("The factors are exact; each varies by σ² = {variance}."),
            format!("The product of {items} has ECE = {:.6}.", shown.approx()),
            format!(
                "With δ = {delta} the claim promises ECE ≤ {epsilon} from K ≥ {:.3} on.",
                needed.approx()
            ),
        ],
        quantity: shown,
        relation: Relation::AtMost,
        bound: Enclosure::exact(epsilon.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::super::witness::fraction as q;
    use super::*;

    #[test]
    fn constants_of_the_paper() {
        // The table's 24.28 needs σ = 7.85: √(2·7.8466²·ln 120).
        let c = sample_complexity_constant(7.8466 * 7.8466, 3, 0.05).unwrap();
        assert!((c - 24.28).abs() < 0.001, "{c}");
        // The largest variance in [0, 1] gives half of theorem 1's constant.
        let c = sample_complexity_constant(0.25, 3, 0.05).unwrap();
        assert!((c - 3.094_347_020_869_523 / 2.0).abs() < 1e-14);
    }

    #[test]
    fn two_items_and_no_variance_refute_the_claim() {
        let prior = [q(2, 3), q(1, 3)];
        let w = too_few_items(&prior, 2, &q(0, 1), &q(1, 10), &q(1, 20)).unwrap();
        assert_eq!(*w.quantity.low(), q(2, 15)); // 4/5 − 2/3
        assert!(w.refutes(), "{w}");
        // Negative control: one item is calibrated, and 2/15 is not above 1/7.
        assert!(
            !too_few_items(&prior, 1, &q(0, 1), &q(1, 10), &q(1, 20))
                .unwrap()
                .refutes()
        );
        assert!(
            !too_few_items(&prior, 2, &q(0, 1), &q(1, 7), &q(1, 20))
                .unwrap()
                .refutes()
        );
    }

    #[test]
    fn the_largest_variance_does_not_save_it() {
        let prior = [q(2, 3), q(1, 3)];
        // C²/ε² = ln(80)/2/0.09 = 24.3; at 25 items the ECE is 1/3 to seven digits.
        let w = too_few_items(&prior, 25, &q(1, 4), &q(3, 10), &q(1, 20)).unwrap();
        assert!(w.refutes(), "{w}");
        // Negative control: 24 items are fewer than the claim asks for.
        assert!(
            !too_few_items(&prior, 24, &q(1, 4), &q(3, 10), &q(1, 20))
                .unwrap()
                .refutes()
        );
    }

    #[test]
    fn three_items_that_vary_refute_the_claim() {
        // By enumeration in Python's fractions: K = 3 has ECE 0.16749913…, and 2·(1/400)·ln 80/0.01 = 2.191.
        let w = leaning_items(3, &q(1, 10), &q(1, 20)).unwrap();
        assert!(w.refutes(), "{w}");
        assert!((w.quantity.approx() - 0.167_499_134_359_696_07).abs() < 1e-15);
        // Negative controls: two items are fewer than the claim asks for, one is calibrated, and a
        // target above the error is met.
        for (items, target) in [(2, q(1, 10)), (1, q(1, 5)), (3, q(17, 100))] {
            let w = leaning_items(items, &target, &q(1, 20)).unwrap();
            assert!(!w.refutes(), "{w}");
        }
        for items in [0, 11] {
            assert!(leaning_items(items, &q(1, 10), &q(1, 20)).is_none());
        }
    }
}
