//! Theorem 1 of the paper, and the world in which it fails.
//!
//! # Claim
//! If each factor is ε-calibrated and the items are independent given the class, the product of
//! the factors has `ECE ≤ ε + C/√K_eff` with probability `1 − δ`, `C = √(2·ln(2|Y|/δ))`.
//!
//! It does not hold. Let the evidence say nothing: each item takes one value only. Then `Φᵢ` equal
//! to the prior is exactly right (`ε = 0`), and every assumption holds, but the product multiplies
//! the prior with itself: from `(3/5, 2/5)` it becomes `3^K : 2^K`, whose confidence tends to 1
//! while it is right three times in five. The bound tends to 0. In this world everything is the
//! same with probability 1, so no `δ` helps. What holds is T1′: see
//! [`posterior_calibration_error`](super::posterior_calibration_error), and T1″: see
//! [`uniform_mass_radius`](super::uniform_mass_radius).

use num_rational::BigRational;

use super::BoundError;
use super::domain::{at_least_one, not_negative, open_unit, require};
use super::joint::{Joint, bounded_support, is_distribution, product};
use super::witness::{BITS, Relation, Witness, fraction, hypothesis, short, tuple};
use crate::math::{Enclosure, Interval};

/// Claim T1's constant `C(δ, |Y|) = √(2·ln(2|Y|/δ))`, rounded up.
///
/// Domain: `classes ≥ 1`, `0 < δ < 1`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn calibration_constant(classes: u64, delta: f64) -> Result<f64, BoundError> {
    let two = Interval::point(2.0);
    let log = (two * at_least_one("|Y|", classes)? / open_unit("delta", delta)?).ln();
    Ok((two * log).sqrt().high())
}

/// Claim T1's bound `ε + C/√K_eff`, rounded up. The claim is false; see the module's witness.
///
/// Domain: `ε ≥ 0`, `C ≥ 0`, `K_eff ≥ 1`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn calibration_bound(epsilon: f64, constant: f64, count: f64) -> Result<f64, BoundError> {
    let epsilon = not_negative("epsilon", epsilon)?;
    let constant = not_negative("C", constant)?;
    let holds = count >= 1.0 && count.is_finite();
    require(holds, "K_eff", count, "finite and at least 1")?;
    Ok((epsilon + constant / Interval::point(count).sqrt()).high())
}

/// The constant `C` of theorem 1, as the paper uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Constant {
    /// A number, such as the paper's 2.0 or 2.42.
    Given(BigRational),
    /// `√(2·ln(2|Y|/δ))` for the number of classes of the case at hand.
    Formula {
        /// The failure probability δ.
        delta: BigRational,
    },
}

impl Constant {
    fn square(&self, classes: usize) -> Option<Enclosure> {
        match self {
            Constant::Given(c) => Some(Enclosure::exact(c * c)),
            Constant::Formula { delta } => {
                let argument = Enclosure::integer(2 * classes as u64)
                    .divide(&Enclosure::exact(delta.clone()))?;
                Some(&Enclosure::integer(2) * &argument.ln(BITS)?)
            }
        }
    }

    fn describe(&self, classes: usize) -> String {
        match self {
            Constant::Given(c) => format!("C = {c}"),
            Constant::Formula { delta } => format!("C = √(2·ln(2·{classes}/({delta})))"),
        }
    }
}

/// The case of `items` uninformative items and a given prior, set against theorem 1.
///
/// `None` where `prior` is not a distribution, there is no item, or the constant has no value.
pub fn constant_evidence(
    prior: &[BigRational],
    items: u32,
    constant: &Constant,
) -> Option<Witness> {
    let world = Joint::constant_evidence(prior, items as usize)?;
    let factors: Vec<Vec<BigRational>> = (0..items as usize)
        .map(|i| world.factor(i, 0))
        .collect::<Option<_>>()?;
    let prediction = product(&factors)?;
    let calibrated = factors.iter().enumerate().all(|(i, factor)| {
        let error = world.factor_calibration_error(i, std::slice::from_ref(factor));
        error.is_some_and(|e| e == fraction(0, 1))
    });
    let error = world.calibration_error(|_| prediction.clone())?;
    let count = Enclosure::integer(items.into());
    let bound = constant.square(prior.len())?.divide(&count)?.sqrt(BITS)?;
    let top = prediction.iter().max()?;
    let share = &prediction.iter().zip(prior).max()?.1;
    Some(Witness {
        claim: "T1",
        hypotheses: vec![
            hypothesis(
                "A1: items independent given the class",
                world.conditionally_independent(),
            ),
            hypothesis(
                "A3 and the theorem's own: each factor is 0-calibrated",
                calibrated,
            ),
            hypothesis(
                "A4: the product is a distribution, without rounding",
                is_distribution(&prediction),
            ),
            hypothesis(
                "A6: every entry of a factor is at least 1/(2|Y|)",
                factors.iter().all(|f| bounded_support(f)),
            ),
        ],
        steps: vec![
            format!(
                "The class has prior {}; {items} items take one value each.",
                tuple(prior)
            ),
            "So P(y | item) is the prior, and each factor equal to it is exactly right: ε = 0. \
             (A2: an item with one value needs no encoder variance, so any σ_max does.)"
                .to_string(),
            format!(
                "With weights 1, K_eff = {items}, and the product is proportional to the prior's \
                 entries to the power {items}; its largest entry is {}.",
                short(top)
            ),
            format!(
                "That class is right with probability {share}, so ECE = {}.",
                short(&error)
            ),
            format!(
                "The claim allows {} / √{items} = {:.6} with {}.",
                "C",
                bound.approx(),
                constant.describe(prior.len())
            ),
        ],
        quantity: Enclosure::exact(error),
        relation: Relation::AtMost,
        bound,
    })
}

/// The smallest number of items, up to `limit`, at which the constant-evidence case refutes
/// theorem 1 for this prior.
pub fn first_violation(prior: &[BigRational], constant: &Constant, limit: u32) -> Option<Witness> {
    (1..=limit)
        .filter_map(|k| constant_evidence(prior, k, constant))
        .find(Witness::refutes)
}

#[cfg(test)]
mod tests {
    use super::super::witness::fraction as q;
    use super::*;

    fn given(n: u64, d: u64) -> Constant {
        Constant::Given(q(n, d))
    }

    fn formula() -> Constant {
        Constant::Formula { delta: q(1, 20) }
    }

    #[test]
    fn constants_and_bounds_of_the_paper() {
        // √(2 ln 120) = 3.094347020869523 (mpmath 1.4.1), where the paper prints 2.42.
        let c = calibration_constant(3, 0.05).unwrap();
        assert!((c - 3.094_347_020_869_523).abs() < 1e-14);
        assert!((calibration_bound(0.140, 2.0, 5.0).unwrap() - 1.034).abs() < 0.0005);
        assert!((calibration_bound(0.140, 2.0, 10.0).unwrap() - 0.772).abs() < 0.0005);
        assert!(calibration_bound(0.1, 2.0, 0.5).is_err());
        assert!(calibration_constant(3, 0.0).is_err());
    }

    #[test]
    fn first_violations_for_the_priors_three_fifths_and_one_half() {
        let two = [q(3, 5), q(2, 5)];
        let three = [q(1, 2), q(3, 10), q(1, 5)];
        let items = |w: Option<Witness>| w.unwrap().steps[0].clone();
        let cases = [
            (&two[..], given(2, 1), 26),
            (&two[..], given(242, 100), 37),
            (&two[..], formula(), 55),
            (&three[..], formula(), 39),
        ];
        for (prior, constant, k) in cases {
            let found = first_violation(prior, &constant, 60);
            assert!(items(found.clone()).contains(&format!("{k} items")));
            // The oracle: 3^K/(3^K + 2^K) − 3/5 in doubles, C from the formula.
            let w = found.unwrap();
            let p: Vec<f64> = prior
                .iter()
                .map(|x| Enclosure::exact(x.clone()).approx())
                .collect();
            let top = p[0].powi(k) / p.iter().map(|x| x.powi(k)).sum::<f64>() - p[0];
            assert!((w.quantity.approx() - top).abs() < 1e-12);
            // Negative control: one item fewer satisfies the claim and is not accepted.
            assert!(
                !constant_evidence(prior, k as u32 - 1, &constant)
                    .unwrap()
                    .refutes()
            );
        }
    }

    #[test]
    fn an_even_prior_satisfies_the_claim() {
        let even = [q(1, 2), q(1, 2)];
        assert!(first_violation(&even, &given(2, 1), 80).is_none());
        assert!(constant_evidence(&[q(1, 2)], 3, &given(2, 1)).is_none());
        // A6 fails for (4/5, 1/5), so that prior is not accepted however large the error.
        let steep = [q(4, 5), q(1, 5)];
        let w = constant_evidence(&steep, 400, &given(2, 1)).unwrap();
        assert!(w.quantity.exceeds(&w.bound) && !w.refutes());
    }
}
