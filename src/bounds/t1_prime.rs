//! T1′, in place of theorem 1: the product that divides out the repeated prior is the posterior.
//!
//! # Statement
//! Let the items be independent given the class (A1), `π(y) > 0` the prior and
//! `P(y | e₁ … e_K)` the posterior. Then
//!
//! 1. `P(y | e₁ … e_K) ∝ π(y)^{1−K}·∏ P(y | eᵢ)`: with exact factors and weights 1 the
//!    prior-corrected product *is* the posterior, hence calibrated without error;
//! 2. if factors `Φᵢ` satisfy `|ln Φᵢ(y) − ln P(y | eᵢ)| ≤ η` for all `i` and `y`, and the prior that is
//!    divided out has logarithms off by at most `ζ`, the L1 distance of the prior-corrected product of
//!    the `Φᵢ` to the posterior is at most `2·tanh((Kη + (K−1)ζ)/2)`;
//! 3. its calibration error, per class or of the winning class, is then at most
//!    `tanh((Kη + (K−1)ζ)/2)`.
//!
//! `η` and `ζ` are what is known or assumed of factors and prior; data cannot measure `η`, since nobody
//! sees `P(y | eᵢ)`. For the part of it that sampling adds, [E4](super::pipeline_l1) has a number; where
//! nothing is known, T1″ needs no such knowledge.
//!
//! # Proof
//! 1. By Bayes' rule and A1, `P(y | e₁ … e_K) ∝ π(y)·∏ P(eᵢ | y)`, and
//!    `P(eᵢ | y) = P(y | eᵢ)·P(eᵢ)/π(y)`, where `P(eᵢ)` does not depend on `y`. A predictor equal
//!    to the conditional probability is calibrated: among the entities with `P(y | E) = c` the
//!    fraction of class `y` is `E[P(y | E) | P(y | E) = c] = c`.
//! 2. The log-score of each class is off by at most `s = Kη + (K−1)ζ`, so the range of the log-score
//!    errors is at most `2s`; part 1 of [T5′](super::robust_l1) gives `2·tanh(2s/4)`.
//! 3. One entry differs by at most half the L1 distance, `t = tanh(s/2)`. Among the entities with
//!    `P̂(ŷ | E) = c` the fraction right is `E[P(ŷ | E) | …]`, which is within `t` of `c`; the
//!    expected calibration error is a mean of such differences. ∎
//!
//! # Sharpness
//! Two classes, uniform prior, `P(· | eᵢ) = (1, e^η)/(1+e^η)` and `Φᵢ` its mirror image: each
//! log-error is exactly `η`, the posterior has odds `e^{−Kη}`, the estimate `e^{Kη}`; L1 is
//! `2·tanh(Kη/2)`. [`sharp_log_errors`] has it in fractions for `η = ln 2`.

use num_rational::BigRational;
use num_traits::{One, pow};

use super::BoundError;
use super::domain::{at_least_one, not_negative};
use crate::math::Interval;
use crate::simplex::{Distribution, SimplexError};

fn half_range(items: u64, eta: f64, zeta: f64) -> Result<Interval, BoundError> {
    let k = at_least_one("K", items)?;
    let (eta, zeta) = (not_negative("eta", eta)?, not_negative("zeta", zeta)?);
    let off = k * eta + (k - Interval::point(1.0)) * zeta;
    Ok((off / Interval::point(2.0)).tanh())
}

/// T1′ part 2: `2·tanh((Kη + (K−1)ζ)/2)`, the largest L1 distance to the posterior, rounded up.
///
/// `eta` bounds the error of the factors' logarithms, `zeta` that of the prior's, which is zero for a
/// prior that is known. Domain: `items = K ≥ 1`, `eta ≥ 0`, `zeta ≥ 0`. Range: `[0, 2]`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn posterior_l1(items: u64, eta: f64, zeta: f64) -> Result<f64, BoundError> {
    Ok((Interval::point(2.0) * half_range(items, eta, zeta)?)
        .high()
        .min(2.0))
}

/// T1′ part 3: `tanh((Kη + (K−1)ζ)/2)`, the largest calibration error, rounded up. Replaces claim T1.
///
/// Domain: as for [`posterior_l1`]. Range: `[0, 1]`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn posterior_calibration_error(items: u64, eta: f64, zeta: f64) -> Result<f64, BoundError> {
    Ok(half_range(items, eta, zeta)?.high().min(1.0))
}

/// T1′ part 1 in exact fractions: `π^{1−K}·∏ Φᵢ`, normalized.
///
/// # Errors
/// [`SimplexError::NoMass`] where every class is excluded, or the prior excludes one that has to be
/// divided by; [`SimplexError::Empty`] where a factor has another number of classes.
pub fn prior_corrected_exact(
    prior: &Distribution<BigRational>,
    factors: &[Distribution<BigRational>],
) -> Result<Distribution<BigRational>, SimplexError> {
    if factors.iter().any(|f| f.classes() != prior.classes()) {
        return Err(SimplexError::Empty);
    }
    let zero = BigRational::from_integer(0.into());
    if prior.probabilities().contains(&zero) {
        return Err(SimplexError::NoMass);
    }
    let weights = prior.probabilities().iter().enumerate().map(|(y, pi)| {
        factors.iter().fold(pi.clone(), |product, factor| {
            product * &factor.probabilities()[y] / pi
        })
    });
    Distribution::from_weights(weights.collect())
}

/// The sharpness witness for `η = ln 2`: a true conditional `P(· | eᵢ)`, the factor `Φᵢ`, and the L1
/// distance of the two products of `items` copies, `2(2^K − 1)/(2^K + 1)`.
pub fn sharp_log_errors(items: u32) -> ([BigRational; 2], [BigRational; 2], BigRational) {
    let third = BigRational::new(1.into(), 3.into());
    let rest = BigRational::one() - &third;
    let odds = pow(BigRational::from_integer(2.into()), items as usize);
    let one = BigRational::one();
    let l1 = BigRational::from_integer(2.into()) * (&odds - &one) / (&odds + &one);
    ([third.clone(), rest.clone()], [rest, third], l1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Enclosure, rational};
    use num_traits::{Signed, Zero};
    use proptest::prelude::*;

    fn dist(v: &[u32]) -> Distribution<BigRational> {
        Distribution::from_weights(
            v.iter()
                .map(|&x| BigRational::from_integer(x.into()))
                .collect(),
        )
        .unwrap()
    }

    proptest! {
        /// The oracle is the definition: the posterior from the joint distribution, and each
        /// factor from its own two-variable marginal.
        #[test]
        fn exact_factors_give_the_posterior_exactly(
            prior in prop::collection::vec(1u32..20, 2..5),
            seeds in prop::collection::vec(prop::collection::vec(1u32..20, 4), 1..5),
        ) {
            let prior = dist(&prior);
            let n = prior.classes();
            // Item i takes the value observed with probability seeds[i][y % 4]/20 given class y.
            let like: Vec<Vec<BigRational>> = seeds.iter().map(|s| (0..n)
                .map(|y| BigRational::new(s[y % 4].into(), 20.into())).collect()).collect();
            let joint: Vec<BigRational> = (0..n).map(|y| like.iter()
                .fold(prior.probabilities()[y].clone(), |p, l| p * &l[y])).collect();
            let posterior = Distribution::from_weights(joint).unwrap();
            let factors: Vec<_> = like.iter().map(|l| Distribution::from_weights(
                (0..n).map(|y| &prior.probabilities()[y] * &l[y]).collect()).unwrap()).collect();
            prop_assert_eq!(&prior_corrected_exact(&prior, &factors).unwrap(), &posterior);
            // Negative control: the plain product is not the posterior, unless the prior is even.
            let even = prior.probabilities().iter().all(|p| p == &prior.probabilities()[0]);
            if factors.len() > 1 && !even {
                let plain: Vec<BigRational> = (0..n).map(|y| factors.iter()
                    .fold(BigRational::one(), |p, f| p * &f.probabilities()[y])).collect();
                prop_assert_ne!(Distribution::from_weights(plain).unwrap(), posterior);
            }
        }

        #[test]
        fn the_l1_bound_holds_for_factors_off_by_powers_of_two(
            truth in prop::collection::vec(1u32..20, 2..5),
            signs in prop::collection::vec(any::<u8>(), 1..5),
        ) {
            // Unnormalized factors: entry y is off by 2^{±1}; the product is normalized at the end.
            let truth = dist(&truth);
            let n = truth.classes();
            let score = |off: bool| -> Vec<BigRational> { (0..n).map(|y| signs.iter().fold(
                BigRational::one(), |p, s| {
                    let t = &truth.probabilities()[y];
                    let two = BigRational::from_integer(2.into());
                    if !off { p * t } else if s >> y & 1 == 1 { p * t * two } else { p * t / two }
                })).collect() };
            let exact = Distribution::from_weights(score(false)).unwrap();
            let off = Distribution::from_weights(score(true)).unwrap();
            let l1: BigRational = exact.probabilities().iter().zip(off.probabilities())
                .map(|(a, b)| (a - b).abs()).sum();
            let eta = Enclosure::integer(2).ln(80).unwrap().approx().next_up();
            let bound = posterior_l1(signs.len() as u64, eta, 0.0).unwrap();
            prop_assert!(l1 <= rational(bound).unwrap());
        }
    }

    #[test]
    fn the_bound_is_attained() {
        for k in 1..10 {
            let (truth, factor, l1) = sharp_log_errors(k);
            let power = |p: &[BigRational; 2]| {
                let w: Vec<BigRational> = p.iter().map(|x| pow(x.clone(), k as usize)).collect();
                let sum: BigRational = w.iter().sum();
                w.into_iter().map(|x| x / &sum).collect::<Vec<_>>()
            };
            let (a, b) = (power(&truth), power(&factor));
            let distance: BigRational = a.iter().zip(&b).map(|(x, y)| (x - y).abs()).sum();
            assert_eq!(distance, l1);
            let eta = Enclosure::integer(2).ln(80).unwrap().approx();
            let bound = posterior_l1(k.into(), eta, 0.0).unwrap();
            assert!((Enclosure::exact(l1).approx() - bound).abs() <= 8.0 * f64::EPSILON);
        }
    }

    #[test]
    fn edges_and_culprits() {
        assert_eq!(posterior_l1(5, 0.0, 0.0), Ok(0.0));
        assert_eq!(posterior_calibration_error(1_000_000, 1.0, 0.0), Ok(1.0));
        // One item has no prior to divide out; five have four.
        assert_eq!(posterior_l1(1, 0.1, 9.0), posterior_l1(1, 0.1, 0.0));
        let both = posterior_l1(5, 0.0, 0.25).unwrap();
        assert!((both - 2.0 * libm::tanh(0.5)).abs() < 1e-15);
        assert!(posterior_l1(0, 0.1, 0.0).is_err() && posterior_l1(1, f64::NAN, 0.0).is_err());
        assert!(posterior_l1(2, 0.1, -1.0).is_err());
        let prior = dist(&[1, 1]);
        assert_eq!(prior_corrected_exact(&prior, &[]).unwrap(), prior);
        assert!(prior_corrected_exact(&prior, &[dist(&[1])]).is_err());
        let zero = Distribution::new(vec![BigRational::zero(), BigRational::one()]).unwrap();
        let other = Distribution::new(vec![BigRational::one(), BigRational::zero()]).unwrap();
        assert_eq!(
            prior_corrected_exact(&prior, &[zero, other]),
            Err(SimplexError::NoMass)
        );
    }
}
