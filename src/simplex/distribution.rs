//! A distribution over classes that cannot be invalid.

use serde::{Deserialize, Serialize, Serializer};

use super::normalize::{SimplexError, check_entries, normalize};
use crate::math::{Field, canonical_sum};

/// Checks that `values` are a distribution: every entry finite and not negative, and the canonical
/// sum within `tolerance` of one (so that no entry exceeds one by more than that).
///
/// # Errors
/// The first violated condition, with the entry that violates it.
pub fn validate<S: Field>(values: &[S], tolerance: &S) -> Result<(), SimplexError> {
    if values.is_empty() {
        return Err(SimplexError::Empty);
    }
    check_entries(values)?;
    let sum = canonical_sum(values);
    let above = sum > S::one() + tolerance.clone();
    let below = sum.clone() + tolerance.clone() < S::one();
    if above || below {
        return Err(SimplexError::SumOff {
            sum: sum.approx(),
            tolerance: tolerance.approx(),
        });
    }
    Ok(())
}

/// A probability distribution over classes `0..n`, `n ≥ 1`.
///
/// Invariant, which every constructor establishes and nothing can break: each entry is finite and
/// not negative, none is NaN, and the canonical sum is within `n` units in the last place of one
/// (`n·2⁻⁵²` for `f64`; exactly one for rationals).
///
/// An entry of zero is legal and means "impossible".
///
/// ```
/// use lpf::simplex::{Distribution, entropy_bits};
/// let p = Distribution::from_weights(vec![6.0, 1.0, 1.0])?;
/// assert_eq!(p.probabilities(), [0.75, 0.125, 0.125]);
/// assert_eq!((p.argmax(), entropy_bits(&p)), (0, 1.061278124459133));
/// let error = Distribution::new(vec![0.7, 0.7]).unwrap_err();
/// assert!(error.to_string().starts_with("the entries add up to 1.4"));
/// # Ok::<(), lpf::simplex::SimplexError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Vec<S>", bound = "S: Field + Deserialize<'de>")]
pub struct Distribution<S = f64> {
    probabilities: Vec<S>,
}

impl<S: Field> TryFrom<Vec<S>> for Distribution<S> {
    type Error = SimplexError;
    fn try_from(values: Vec<S>) -> Result<Self, SimplexError> {
        Distribution::new(values)
    }
}

impl<S: Serialize> Serialize for Distribution<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        self.probabilities.serialize(serializer)
    }
}

impl<S: Field> Distribution<S> {
    /// Takes probabilities as they are.
    ///
    /// # Errors
    /// Names the first condition of the invariant that `values` violate.
    pub fn new(values: Vec<S>) -> Result<Self, SimplexError> {
        validate(&values, &S::unit_tolerance(values.len()))?;
        Ok(Distribution {
            probabilities: values,
        })
    }

    /// Takes probabilities that were rounded on their way here (printed, or stored as `f32`):
    /// their sum may be off by `tolerance`, and they are divided by it.
    ///
    /// # Errors
    /// As [`Distribution::new`], with `tolerance` for the sum; [`SimplexError::NoMass`] only where
    /// `tolerance` is one or more.
    pub fn from_rounded(mut values: Vec<S>, tolerance: &S) -> Result<Self, SimplexError> {
        validate(&values, tolerance)?;
        normalize(&mut values)?;
        Ok(Distribution {
            probabilities: values,
        })
    }

    /// Divides non-negative numbers by their sum.
    ///
    /// # Errors
    /// Those of [`normalize`].
    pub fn from_weights(mut values: Vec<S>) -> Result<Self, SimplexError> {
        normalize(&mut values)?;
        Ok(Distribution {
            probabilities: values,
        })
    }

    /// The uniform distribution over `n` classes.
    ///
    /// # Errors
    /// [`SimplexError::Empty`] for `n = 0`.
    pub fn uniform(n: usize) -> Result<Self, SimplexError> {
        Self::from_weights(vec![S::one(); n])
    }

    /// The probabilities, in class order.
    pub fn probabilities(&self) -> &[S] {
        &self.probabilities
    }

    /// How many classes there are; never zero.
    pub fn classes(&self) -> usize {
        self.probabilities.len()
    }

    /// The most probable class; the first of them on a tie.
    pub fn argmax(&self) -> usize {
        let p = &self.probabilities;
        (1..p.len()).fold(0, |best, i| if p[i] > p[best] { i } else { best })
    }

    /// The largest probability.
    pub fn confidence(&self) -> &S {
        &self.probabilities[self.argmax()]
    }

    /// The probabilities themselves.
    pub fn into_vec(self) -> Vec<S> {
        self.probabilities
    }
}

impl<S> AsRef<[S]> for Distribution<S> {
    fn as_ref(&self) -> &[S] {
        &self.probabilities
    }
}

/// For results that are distributions by construction of their caller in this module.
pub(super) fn trusted<S: Field>(probabilities: Vec<S>) -> Distribution<S> {
    debug_assert!(validate(&probabilities, &S::unit_tolerance(probabilities.len())).is_ok());
    Distribution { probabilities }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_normalize_returns_is_accepted_as_it_is(
            values in prop::collection::vec(0.0f64..1e300, 1..60)
        ) {
            prop_assume!(values.iter().any(|&v| v > 0.0));
            let d = Distribution::from_weights(values).unwrap();
            prop_assert_eq!(Distribution::new(d.clone().into_vec()), Ok(d));
        }
    }

    #[test]
    fn refuses_what_is_not_a_distribution_and_says_why() {
        let new = |v: &[f64]| Distribution::new(v.to_vec()).unwrap_err();
        assert_eq!(new(&[]), SimplexError::Empty);
        assert!(matches!(
            new(&[0.5, f64::NAN]),
            SimplexError::NotANumber { index: 1 }
        ));
        assert!(matches!(
            new(&[1.5, -0.5]),
            SimplexError::Negative { index: 1, .. }
        ));
        assert!(matches!(
            new(&[f64::INFINITY]),
            SimplexError::Infinite { index: 0, .. }
        ));
        assert!(matches!(new(&[0.5, 0.4]), SimplexError::SumOff { .. }));
        assert!(matches!(
            new(&[0.5, 0.5 + 1e-15]),
            SimplexError::SumOff { .. }
        ));
        let third = BigRational::new(1.into(), 3.into());
        assert!(Distribution::new(vec![third.clone(); 3]).is_ok());
        assert!(Distribution::new(vec![third; 2]).is_err());
    }

    #[test]
    fn ties_go_to_the_first_class() {
        let d = Distribution::new(vec![0.2, 0.4, 0.4]).unwrap();
        assert_eq!((d.argmax(), *d.confidence()), (1, 0.4));
        let largest = |p: [f64; 3]| Distribution::new(p.to_vec()).unwrap().argmax();
        assert_eq!(largest([0.5, 0.25, 0.25]), 0);
        assert_eq!(largest([0.375, 0.25, 0.375]), 0);
        assert_eq!(largest([0.25, 0.25, 0.5]), 2);
    }

    #[test]
    fn serde_round_trip_is_exact_and_refuses_invalid_input() {
        let d = Distribution::from_weights(vec![1.0, 2.0, 4e-320]).unwrap();
        let text = serde_json::to_string(&d).unwrap();
        assert_eq!(serde_json::from_str::<Distribution>(&text).unwrap(), d);
        assert!(serde_json::from_str::<Distribution>("[0.7, 0.7]").is_err());
    }
}
