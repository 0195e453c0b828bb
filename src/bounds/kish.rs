//! Kish's effective sample size, the `K_eff` of theorem 1 and the `n_eff` of lemma 4.
//!
//! Both ends of `1 ≤ K_eff ≤ K` are attained: one positive weight gives 1, equal weights give `K`.

use crate::math::{DoubleDouble, ExactSum, Field, Scalar};

/// Why there is no effective count.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum KishError {
    /// A weight is NaN, infinite or negative.
    #[error("weight {index} is {value}; weights are finite and not negative")]
    Weight { index: usize, value: f64 },
    /// No weight is above zero (an empty list included), so the quotient is 0/0.
    #[error("no weight is above zero, so K_eff is undefined")]
    AllZero,
}

/// The two sums of Kish's quotient: `(Σ wᵢ)²` and `Σ wᵢ²`.
///
/// Over the non-negative integers `Σ w² ≤ (Σ w)² ≤ K · Σ w²`, which is `1 ≤ K_eff ≤ K` without
/// the division.
pub fn kish_sums<S: Scalar>(weights: &[S]) -> (S, S) {
    let total = S::sum(weights.iter().cloned());
    let squares = S::sum(weights.iter().map(|w| w.clone() * w.clone()));
    (total.clone() * total, squares)
}

/// `K_eff = (Σ wᵢ)² / Σ wᵢ²` in exact arithmetic, or `None` where all weights are zero.
pub fn effective_count_exact<S: Field>(weights: &[S]) -> Option<S> {
    let (total, squares) = kish_sums(weights);
    (!squares.is_zero()).then(|| total / squares)
}

/// `K_eff = (Σ wᵢ)² / Σ wᵢ²`, rounded once from some 95 bits.
///
/// Domain: finite, non-negative weights, at least one positive. Range: `[1, K]`, where `K` is the
/// number of weights; exactly `K` for equal weights and exactly 1 where one weight is positive.
/// The order of the weights does not matter.
///
/// # Errors
/// [`KishError::Weight`] names the first weight outside the domain; [`KishError::AllZero`].
pub fn effective_count(weights: &[f64]) -> Result<f64, KishError> {
    let mut largest = 0.0;
    for (index, &value) in weights.iter().enumerate() {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(KishError::Weight { index, value });
        }
        if value > largest {
            largest = value;
        }
    }
    if largest == 0.0 {
        return Err(KishError::AllZero);
    }
    // K_eff does not change when all weights are scaled; bring the largest into [1, 2) so that
    // squares neither overflow nor, where they matter, underflow. A weight below 2⁻⁵⁰⁰ of the
    // largest changes no bit of the quotient.
    let exponent = -libm::ilogb(largest);
    let mut total = ExactSum::new();
    let mut squares = ExactSum::new();
    for &w in weights {
        let v = libm::scalbn(w, exponent);
        total.add(v);
        if v > 1e-150 {
            let square = DoubleDouble::product(v, v);
            squares.add(square.high);
            squares.add(square.low);
        }
    }
    Ok(DoubleDouble::of_sum(&total)
        .square()
        .divide(DoubleDouble::of_sum(&squares)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rational;
    use num_rational::BigRational;
    use num_traits::ToPrimitive;
    use proptest::prelude::*;

    #[test]
    fn edges_are_exact() {
        assert_eq!(effective_count(&[0.1; 3]), Ok(3.0));
        assert_eq!(effective_count(&[5e-324; 7]), Ok(7.0));
        assert_eq!(effective_count(&[f64::MAX; 10]), Ok(10.0));
        assert_eq!(effective_count(&[0.0, 0.3, 0.0]), Ok(1.0));
        assert_eq!(effective_count(&[0.0, 0.0]), Err(KishError::AllZero));
        assert_eq!(effective_count(&[]), Err(KishError::AllZero));
        assert_eq!(
            effective_count(&[1.0, -0.5]),
            Err(KishError::Weight {
                index: 1,
                value: -0.5
            })
        );
        assert!(matches!(
            effective_count(&[f64::NAN]),
            Err(KishError::Weight { index: 0, .. })
        ));
    }

    proptest! {
        #[test]
        fn equals_the_exact_rational_quotient(w in prop::collection::vec(0.0f64..1.0, 1..50)) {
            prop_assume!(w.iter().any(|&x| x > 0.0));
            let exact: Vec<BigRational> = w.iter().map(|&x| rational(x).unwrap()).collect();
            let want = effective_count_exact(&exact).unwrap().to_f64().unwrap();
            let got = effective_count(&w).unwrap();
            prop_assert_eq!(got, want);
            prop_assert!(1.0 <= got && got <= w.len() as f64);
        }
    }
}
