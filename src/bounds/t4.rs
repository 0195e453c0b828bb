//! Lemma 5 and theorem 4 of the paper, and a world in which they fail.
//!
//! # Claims
//! L5: whatever the aggregation, `ECE ≥ c·noise` for some `c > 0`, where noise is the mean
//! Kullback–Leibler divergence between the factors of one entity. T4: for any predictor,
//! `ECE ≥ c₁·H̄(Y|E)/H(Y) + c₂·noise`.
//!
//! Neither holds for any positive constants. Calibration asks that confidence and accuracy agree,
//! not that either be high. Let the class be a fair coin and two items each report it rightly with
//! probability 3/4, independently. The factors disagree in three cases of eight, and much remains
//! unknown, yet two predictors have `ECE = 0` exactly: the constant `(1/2, 1/2)`, and the product of
//! the factors itself, which here is the posterior because the prior is even. What holds is T4′:
//! see [`log_loss`](super::log_loss()) and [`fano_floor`](super::fano_floor).

use num_rational::BigRational;
use num_traits::{One, Zero};

use super::joint::{Joint, bounded_support, product};
use super::witness::{BITS, Relation, Witness, fraction, hypothesis, short, tuple};
use crate::math::Enclosure;

/// Which predictor is set against the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Predictor {
    /// Always the prior, whatever the evidence.
    Prior,
    /// The normalized product of the exact factors: LPF-SPN with weights 1.
    Product,
}

/// Two items, each right with probability `reliability` given a class of prior `(p, 1 − p)`, set
/// against L5 and T4 with constants `c₁` and `c₂`: `ECE ≥ c₁·H̄/H + c₂·noise`.
///
/// L5 is the case `c₁ = 0`, the first step of T4's proof the case `c₂ = 0`. `None` where a parameter is not a probability, or something never
/// occurs.
pub fn conflicting_pair(
    predictor: Predictor,
    prior: &BigRational,
    reliability: &BigRational,
    [c1, c2]: [&BigRational; 2],
) -> Option<Witness> {
    let one = fraction(1, 1);
    let classes = [prior.clone(), &one - prior];
    let (right, wrong) = (reliability.clone(), &one - reliability);
    let item = vec![vec![right.clone(), wrong.clone()], vec![wrong, right]];
    let world = Joint::independent(&classes, &[item.clone(), item])?;
    let factors: Vec<Vec<BigRational>> =
        (0..2).map(|a| world.factor(0, a)).collect::<Option<_>>()?;
    let calibrated = (0..2).all(|i| {
        world
            .factor_calibration_error(i, &factors)
            .is_some_and(|e| e.is_zero())
    });
    let predict = |e: &[usize]| match predictor {
        Predictor::Prior => classes.to_vec(),
        Predictor::Product => {
            let pair: Vec<_> = e.iter().filter_map(|&a| factors.get(a).cloned()).collect();
            product(&pair).unwrap_or_default()
        }
    };
    let error = world.calibration_error(predict)?;
    let (mut noise, mut residual) = (Enclosure::integer(0), Enclosure::integer(0));
    for e in world.outcomes() {
        let weight = Enclosure::exact(world.probability(&e));
        let [a, b] = [factors.get(e[0])?, factors.get(e[1])?];
        // The mean over the ordered pairs i ≠ j of one entity.
        let pair = &divergence(a, b)? + &divergence(b, a)?;
        noise = &noise + &(&weight * &(&pair * &Enclosure::exact(fraction(1, 2))));
        residual = &residual + &(&weight * &entropy(&world.posterior(&e)?)?);
    }
    let ratio = residual.divide(&entropy(&classes)?)?;
    let bound =
        &(&Enclosure::exact(c1.clone()) * &ratio) + &(&Enclosure::exact(c2.clone()) * &noise);
    let zero = Enclosure::integer(0);
    // One of them may be left out, by a zero.
    let none = fraction(0, 1);
    let positive_constants = *c1 >= none && *c2 >= none && c1 + c2 > none;
    Some(Witness {
        claim: if c1.is_zero() { "L5" } else { "T4" },
        hypotheses: vec![
            hypothesis(
                "A1: items independent given the class",
                world.conditionally_independent(),
            ),
            hypothesis("A3: each factor is calibrated without error", calibrated),
            hypothesis(
                "A6: every entry of a factor is at least 1/(2|Y|)",
                factors.iter().all(|f| bounded_support(f)),
            ),
            hypothesis("the constants are positive", positive_constants),
            hypothesis("the evidence conflicts: noise > 0", noise.exceeds(&zero)),
            hypothesis(
                "something remains unknown: H(Y|E) > 0",
                residual.exceeds(&zero),
            ),
        ],
        steps: vec![
            format!(
                "The class has prior {}; two items, each right with probability {reliability}, independently.",
                tuple(&classes)
            ),
            format!(
                "An item's factor is {} or {}, exactly right.",
                tuple(&factors[0]),
                tuple(&factors[1])
            ),
            format!(
                "noise = {:.6} nats, H(Y|E)/H(Y) = {:.6}.",
                noise.approx(),
                ratio.approx()
            ),
            match predictor {
                Predictor::Prior => format!(
                    "Predict {} always: ECE = {}.",
                    tuple(&classes),
                    short(&error)
                ),
                Predictor::Product => format!(
                    "Predict the product of the two factors: ECE = {}.",
                    short(&error)
                ),
            },
            format!(
                "The claim wants at least {c1}·{:.6} + {c2}·{:.6} = {:.6}; any positive constants give a positive number.",
                ratio.approx(),
                noise.approx(),
                bound.approx()
            ),
        ],
        quantity: Enclosure::exact(error),
        relation: Relation::AtLeast,
        bound,
    })
}

/// `Σ p·ln(p/q)`; `None` where it is infinite.
pub(super) fn divergence(p: &[BigRational], q: &[BigRational]) -> Option<Enclosure> {
    p.iter()
        .zip(q)
        .filter(|(p, _)| !p.is_zero())
        .try_fold(Enclosure::integer(0), |sum, (p, q)| {
            let (p, q) = (Enclosure::exact(p.clone()), Enclosure::exact(q.clone()));
            Some(&sum + &(&p * &p.divide(&q)?.ln(BITS)?))
        })
}

/// `−Σ p·ln p` in nats.
pub(super) fn entropy(p: &[BigRational]) -> Option<Enclosure> {
    // Neither what never nor what always happens adds anything.
    let terms = p.iter().filter(|p| !p.is_zero() && !p.is_one());
    terms
        .map(|p| Enclosure::exact(p.clone()))
        .try_fold(Enclosure::integer(0), |sum, p| {
            Some(&sum - &(&p * &p.ln(BITS)?))
        })
}

#[cfg(test)]
mod tests {
    use super::super::witness::fraction as q;
    use super::*;

    #[test]
    fn both_predictors_refute_both_claims_however_small_the_constants() {
        let tiny = q(1, 1_000_000_000);
        for predictor in [Predictor::Prior, Predictor::Product] {
            for c1 in [q(0, 1), tiny.clone(), q(1, 1)] {
                let w = conflicting_pair(predictor, &q(1, 2), &q(3, 4), [&c1, &tiny]).unwrap();
                assert!(w.refutes(), "{w}");
                assert_eq!(*w.quantity.high(), q(0, 1));
                assert_eq!(w.claim, if c1.is_zero() { "L5" } else { "T4" });
            }
        }
        // noise = P(they differ)·½·ln 3 = 3/8·0.5·ln 3 = 0.20598980… nats, by hand.
        let w =
            conflicting_pair(Predictor::Prior, &q(1, 2), &q(3, 4), [&q(0, 1), &q(1, 1)]).unwrap();
        assert!((w.bound.approx() - 0.375 * 0.5 * 3f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn cases_that_satisfy_the_claim_are_not_accepted() {
        let (c1, c2) = (q(1, 100), q(1, 100));
        // An uneven prior makes the product overconfident: ECE > 0, above such small constants.
        let w = conflicting_pair(Predictor::Product, &q(3, 5), &q(2, 3), [&c1, &c2]).unwrap();
        assert!(!w.refutes() && w.quantity.exceeds(&w.bound), "{w}");
        // Items that say nothing do not conflict: the hypothesis noise > 0 fails.
        let w = conflicting_pair(Predictor::Prior, &q(1, 2), &q(1, 2), [&c1, &c2]).unwrap();
        assert!(!w.refutes());
        // A6 fails for reliability 9/10.
        let w = conflicting_pair(Predictor::Prior, &q(1, 2), &q(9, 10), [&c1, &c2]).unwrap();
        assert!(!w.refutes());
        // Two constants of zero are no claim; one alone is.
        let zero = q(0, 1);
        for (c1, claims) in [(&zero, false), (&c1, true)] {
            let w = conflicting_pair(Predictor::Prior, &q(1, 2), &q(3, 4), [c1, &zero]).unwrap();
            assert_eq!(w.refutes(), claims, "{w}");
        }
        assert!(conflicting_pair(Predictor::Prior, &q(3, 2), &q(3, 4), [&c1, &c2]).is_none());
    }
}
