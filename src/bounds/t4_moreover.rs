//! Theorem 4's upper bound, and a world in which it fails whatever its constants.
//!
//! # Claim
//! `ECE ≤ c₁·H̄(Y|E)/H(Y) + c₂·noise + O(1/√M) + O(1/√K)` for LPF's product.
//!
//! Let every item name the class, and let the decoder answer the prior all the same. It is calibrated
//! without error, nothing is left unknown by one item or by all of them, and no two factors differ. But
//! the product has the prior `K` times, so that its confidence in the likeliest class tends to one,
//! while that class is right as often as before. What holds is T1′.

use num_rational::BigRational;
use num_traits::{One, Zero};

use super::joint::{Joint, bounded_support, is_distribution, product};
use super::t4::{divergence, entropy};
use super::witness::{BITS, Relation, Witness, fraction, hypothesis, short, tuple};
use crate::math::Enclosure;

/// `items` items that name the class and factors that are the prior, set against theorem 4's upper
/// bound with all constants 1 and `M = K`.
///
/// `None` where `prior` is no distribution with positive entries over two or more classes, or there is
/// no item.
pub fn prior_answered(prior: &[BigRational], items: u32) -> Option<Witness> {
    let classes = prior.len();
    let (one, zero) = (BigRational::one(), BigRational::zero());
    let symbol = |y: usize, a: usize| if y == a { one.clone() } else { zero.clone() };
    let item: Vec<Vec<BigRational>> = (0..classes)
        .map(|y| (0..classes).map(|a| symbol(y, a)).collect())
        .collect();
    let determined = item.iter().flatten().all(|p| p.is_zero() || p.is_one());
    // All items have one value, so that one of them is all of the evidence.
    let world = Joint::independent(prior, &[item])?;
    let factors = vec![prior.to_vec(); classes];
    let calibrated = world.factor_calibration_error(0, &factors)?.is_zero();
    let prediction = product(&vec![prior.to_vec(); items as usize])?;
    let error = world.calibration_error(|_| prediction.clone())?;
    let mut residual = Enclosure::integer(0);
    for e in world.outcomes() {
        let Some(posterior) = world.posterior(&e) else {
            continue;
        };
        let weight = Enclosure::exact(world.probability(&e));
        residual = &residual + &(&weight * &entropy(&posterior)?);
    }
    let ratio = residual.divide(&entropy(prior)?)?;
    let noise = divergence(prior, prior)?;
    let root = Enclosure::integer(items.into()).sqrt(BITS)?;
    let term = Enclosure::integer(1).divide(&root)?;
    let bound = &(&ratio + &noise) + &(&term + &term);
    let top = prediction.iter().max()?;
    let share = prediction.iter().zip(prior).max()?.1;
    Some(Witness {
        claim: "T4.moreover",
        hypotheses: vec![
            hypothesis(
                "A1: the class determines each item, so items are independent given it",
                determined && world.conditionally_independent(),
            ),
            hypothesis("A3: each factor is calibrated without error", calibrated),
            hypothesis(
                "A4: the product is a distribution, without rounding",
                is_distribution(&prediction),
            ),
            hypothesis(
                "A6: every entry of a factor is at least 1/(2|Y|)",
                bounded_support(prior),
            ),
        ],
        steps: vec![
            format!(
                "The class has prior {}; each of {items} items names it, and the decoder answers the prior \
                 whatever it is given. (A2: any σ_max does; A5 with K_max = {items}.)",
                tuple(prior)
            ),
            format!(
                "An item leaves nothing unknown, nor do all of them: H(Y|E)/H(Y) = {:.6}; equal factors have \
                 no conflict: noise = {:.6}; a constant decoder has no Monte Carlo error.",
                ratio.approx(),
                noise.approx()
            ),
            format!(
                "The product's largest entry is {}; that class is right with probability {share}, so ECE = {}.",
                short(top),
                short(&error)
            ),
            format!(
                "With M = K and all constants 1 the claim allows 1/√{items} + 1/√{items} = {:.6}.",
                bound.approx()
            ),
            format!(
                "For other constants let K and M grow: what is claimed tends to 0, the error to {}.",
                fraction(1, 1) - share
            ),
        ],
        quantity: Enclosure::exact(error),
        relation: Relation::AtMost,
        bound,
    })
}

#[cfg(test)]
mod tests {
    use super::super::witness::fraction as q;
    use super::*;

    #[test]
    fn a_prior_counted_often_refutes_and_an_even_or_single_one_does_not() {
        let uneven = [q(3, 5), q(2, 5)];
        let w = prior_answered(&uneven, 36).unwrap();
        assert!(w.refutes(), "{w}");
        // The oracle: 3^36/(3^36 + 2^36) − 3/5 in doubles, and 2/√36.
        let top = 1.0 / (1.0 + (2.0f64 / 3.0).powi(36));
        assert!((w.quantity.approx() - (top - 0.6)).abs() < 1e-12);
        assert!((w.bound.approx() - 1.0 / 3.0).abs() < 1e-12);
        for (prior, items) in [
            (&uneven[..], 1),
            (&uneven[..], 25),
            (&[q(1, 2), q(1, 2)][..], 36),
            // Without A6 it is no counterexample, however large the error.
            (&[q(4, 5), q(1, 5)][..], 400),
        ] {
            let w = prior_answered(prior, items).unwrap();
            assert!(!w.refutes(), "{w}");
        }
        assert!(prior_answered(&[q(1, 2)], 3).is_none());
    }
}
