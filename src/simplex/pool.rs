//! Combining several distributions over the same classes into one.
//!
//! | pool | formula | stage |
//! |---|---|---|
//! | [`linear_pool`] | `P(y) ∝ Σ wᵢ Φᵢ(y)` | uniform baseline; lemma 3, part 1 |
//! | [`log_pool`](super::log_pool()) | `P(y) ∝ exp(Σ wᵢ ln Φᵢ(y))` | LPF-SPN; lemma 3, part 2 |
//! | [`prior_corrected`](super::prior_corrected) | `P(y) ∝ π(y) · Π (Φᵢ(y)/π(y))^{wᵢ}` | theorem T1′ |
//! | [`temper`](super::temper) | `P(y) ∝ Φ(y)^t` | log pool of one |
//!
//! All are symmetric in the evidence to the last bit: per class, the terms are added exactly.

use super::distribution::trusted;
use super::{Distribution, normalize};
use crate::math::Scalar;

/// Factors that leave no class possible when they are multiplied.
///
/// Two factors with disjoint supports where such a pair exists; otherwise a smallest-first choice
/// of three or more that together exclude every class.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "factors {}{} contradict each other: no class is possible under all",
    .factors.iter().map(usize::to_string).collect::<Vec<_>>().join(" and "),
    if *.with_prior { " and the prior" } else { "" }
)]
pub struct Contradiction {
    /// Positions of the factors, ascending; at least one (a factor can only exclude every class
    /// together with a prior), usually two.
    pub factors: Vec<usize>,
    /// Whether the prior's zeros are needed too.
    pub with_prior: bool,
}

/// Why several distributions cannot be combined.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum PoolError {
    /// There is nothing to combine.
    #[error("there is no evidence to combine")]
    NoFactors,
    /// There are not as many weights as factors.
    #[error("{factors} factors but {weights} weights")]
    WeightCount { factors: usize, weights: usize },
    /// A factor has another number of classes than the first one.
    #[error("factor {index} has {found} classes, not {expected}")]
    ClassCount {
        index: usize,
        expected: usize,
        found: usize,
    },
    /// A weight is NaN, infinite, negative, or so large that `w·ln Φ` overflows.
    #[error("weight {index} is {value}; weights are finite and not negative")]
    Weight { index: usize, value: f64 },
    /// Every weight of a linear pool is zero.
    #[error("every weight is zero")]
    AllWeightsZero,
    /// Two pools that were to be merged have different priors.
    #[error("the two products have different priors")]
    PriorDiffers,
    /// The combined log-scores exceed the range of a double (total weight near 10³⁰⁶).
    #[error("the weights are too large to combine")]
    Overflow,
    /// Every class is excluded by some factor.
    #[error(transparent)]
    Contradiction(Contradiction),
}

impl PoolError {
    /// That there are as many weights as factors.
    pub(crate) fn check_counts(factors: &[Distribution], weights: &[f64]) -> Result<(), Self> {
        let (factors, weights) = (factors.len(), weights.len());
        match factors == weights {
            true => Ok(()),
            false => Err(PoolError::WeightCount { factors, weights }),
        }
    }

    /// That what stands at `index` has as many classes as expected.
    pub(crate) fn check_classes(index: usize, expected: usize, found: usize) -> Result<(), Self> {
        match found == expected {
            true => Ok(()),
            false => Err(PoolError::ClassCount {
                index,
                expected,
                found,
            }),
        }
    }
}

/// `out(y) = Σ wᵢ · rowᵢ(y)` over any scalar: the sum node of lemma 3.
///
/// Rows shorter than `out` count as zero beyond their end; callers check lengths.
pub fn linear_combination<S: Scalar, R: AsRef<[S]>>(weights: &[S], rows: &[R], out: &mut [S]) {
    for (y, slot) in out.iter_mut().enumerate() {
        *slot = S::sum(weights.iter().zip(rows).map(|(w, row)| {
            row.as_ref()
                .get(y)
                .map_or_else(S::zero, |p| w.clone() * p.clone())
        }));
    }
}

/// `out(y) = Π rowᵢ(y)^{eᵢ}` over any scalar: the product node of lemma 3, before normalization.
///
/// Exact over rationals and wrapping integers; the oracle for [`log_pool`](super::log_pool()) with whole weights.
pub fn power_product<S: Scalar, R: AsRef<[S]>>(exponents: &[u32], rows: &[R], out: &mut [S]) {
    for (y, slot) in out.iter_mut().enumerate() {
        *slot = exponents.iter().zip(rows).fold(S::one(), |p, (&e, row)| {
            row.as_ref()
                .get(y)
                .map_or_else(S::zero, |x| p * num_traits::pow(x.clone(), e as usize))
        });
    }
}

pub(super) fn check_shapes(factors: &[Distribution], weights: &[f64]) -> Result<usize, PoolError> {
    let first = factors.first().ok_or(PoolError::NoFactors)?;
    PoolError::check_counts(factors, weights)?;
    Ok(first.classes())
}

/// Weighted average `P(y) = Σ wᵢ Φᵢ(y) / Σ wᵢ`.
///
/// Domain: finite weights `≥ 0`, not all zero. Range: a distribution; each entry lies between the
/// smallest and the largest `Φᵢ(y)` up to `n + 1` units of relative rounding.
///
/// # Errors
/// Shapes, weights outside the domain, [`PoolError::AllWeightsZero`].
pub fn linear_pool(factors: &[Distribution], weights: &[f64]) -> Result<Distribution, PoolError> {
    let classes = check_shapes(factors, weights)?;
    let mut largest = 0.0;
    for (index, (factor, &value)) in factors.iter().zip(weights).enumerate() {
        PoolError::check_classes(index, classes, factor.classes())?;
        if !(value >= 0.0 && value.is_finite()) {
            return Err(PoolError::Weight { index, value });
        }
        if value > largest {
            largest = value;
        }
    }
    if largest == 0.0 {
        return Err(PoolError::AllWeightsZero);
    }
    // Scaling all weights by a power of two is exact and changes nothing but the range.
    let exponent = -libm::ilogb(largest);
    let scaled: Vec<f64> = weights.iter().map(|&w| libm::scalbn(w, exponent)).collect();
    let mut out = vec![0.0; classes];
    linear_combination(&scaled, factors, &mut out);
    match normalize(&mut out) {
        Ok(()) => Ok(trusted(out)),
        // Some weight is at least one and its factor has mass, so the total is positive.
        Err(_) => Err(PoolError::AllWeightsZero),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rational;
    use num_rational::BigRational;
    use num_traits::{Signed, Zero};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn linear_pool_is_the_exact_average_within_rounding(
            (rows, weights) in (1usize..6, 1usize..8).prop_flat_map(|(n, k)| (
                prop::collection::vec(prop::collection::vec(1e-9f64..1.0, n), k),
                prop::collection::vec(1e-6f64..1e6, k),
            ))
        ) {
            let factors: Vec<Distribution> =
                rows.into_iter().map(|r| Distribution::from_weights(r).unwrap()).collect();
            let got = linear_pool(&factors, &weights).unwrap();
            let w: Vec<BigRational> = weights.iter().map(|&w| rational(w).unwrap()).collect();
            let exact: Vec<Vec<BigRational>> = factors
                .iter()
                .map(|f| f.probabilities().iter().map(|&p| rational(p).unwrap()).collect())
                .collect();
            let mut want = vec![BigRational::zero(); got.classes()];
            linear_combination(&w, &exact, &mut want);
            normalize(&mut want).unwrap();
            for (&g, w) in got.probabilities().iter().zip(&want) {
                // One rounding a product, one a sum, n for the normalization.
                let bound = w * rational((got.classes() + 3) as f64 * 2f64.powi(-53)).unwrap();
                prop_assert!((rational(g).unwrap() - w).abs() <= bound);
            }
        }
    }

    #[test]
    fn linear_pool_edges() {
        let p = Distribution::new(vec![1.0, 0.0]).unwrap();
        let q = Distribution::new(vec![0.0, 1.0]).unwrap();
        let pair = [p, q];
        let half = linear_pool(&pair, &[f64::MAX, f64::MAX]).unwrap();
        assert_eq!(half.probabilities(), [0.5, 0.5]);
        let tiny = f64::from_bits(1);
        assert_eq!(linear_pool(&pair, &[tiny, tiny]).unwrap(), half);
        assert_eq!(
            linear_pool(&pair, &[0.0, 0.0]),
            Err(PoolError::AllWeightsZero)
        );
        assert_eq!(linear_pool(&[], &[]), Err(PoolError::NoFactors));
        assert!(matches!(
            linear_pool(&pair, &[1.0]),
            Err(PoolError::WeightCount { .. })
        ));
        assert!(matches!(
            linear_pool(&pair, &[1.0, -1.0]),
            Err(PoolError::Weight { index: 1, .. })
        ));
    }
}
