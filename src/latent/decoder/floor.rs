//! A decoder that excludes no class: assumption A6 by construction.

use crate::math::Field;

/// `p(y) ← f + (1 − n·f)·p(y)`: a mixture of `p` and the uniform distribution over `n` classes,
/// the latter with share `n·f`.
///
/// Domain: `0 ≤ f ≤ 1/n` and a distribution `p`. Over the reals the result is a distribution with
/// every entry in `[f, 1 − (n−1)·f]`; both ends are reached, at `p(y) = 0` and `p(y) = 1`. In
/// floating point every entry is at least `f` without any tolerance, as a non-negative number is
/// added to `f`, and the sum is within `(n + 1)` units in the last place of one.
pub fn mix_with_uniform<S: Field>(probabilities: &mut [S], floor: &S) {
    let share = S::one() - S::from_count(probabilities.len()) * floor.clone();
    for p in probabilities {
        *p = floor.clone() + share.clone() * p.clone();
    }
}

/// The floor is NaN, negative or above `1/n`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "a floor of {floor} under {classes} classes is impossible; it lies between 0 and 1/{classes}"
)]
pub struct FloorError {
    /// The floor asked for.
    pub floor: f64,
    /// The number of classes.
    pub classes: usize,
}

/// A lower bound on every class probability, known to be possible for its number of classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportFloor(f64);

impl SupportFloor {
    /// Checks `0 ≤ floor ≤ 1/classes`.
    ///
    /// # Errors
    /// [`FloorError`] otherwise.
    pub fn new(floor: f64, classes: usize) -> Result<Self, FloorError> {
        // fl(1/n)·n rounds to one or less, so the largest floor is accepted as it is written.
        if floor >= 0.0 && floor * classes as f64 <= 1.0 {
            Ok(SupportFloor(floor))
        } else {
            Err(FloorError { floor, classes })
        }
    }

    /// The bound.
    pub fn get(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rational;
    use num_rational::BigRational;
    use num_traits::One;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_are_at_least_the_floor_and_the_sum_stays_one(
            weights in prop::collection::vec(0u32..1000, 1..9),
            share in 0u32..=1000,
        ) {
            let n = weights.len();
            let total: u32 = weights.iter().sum();
            prop_assume!(total > 0);
            let ratio = |a: u32, b: u32| BigRational::new(a.into(), b.into());
            // Exact arithmetic: the statement as it stands.
            let floor = ratio(share, 1000 * n as u32);
            let mut exact: Vec<BigRational> = weights.iter().map(|&w| ratio(w, total)).collect();
            let before = exact.clone();
            mix_with_uniform(&mut exact, &floor);
            prop_assert_eq!(exact.iter().sum::<BigRational>(), BigRational::one());
            let top = BigRational::one() - &floor * BigRational::from_count(n - 1);
            for (p, q) in before.iter().zip(&exact) {
                prop_assert!(*q >= floor && *q <= top);
                prop_assert_eq!(*q == floor, p.approx() == 0.0 || share == 1000);
            }
            // Doubles: the floor exactly, the sum within n + 1 ulps.
            let floor = Field::approx(&floor);
            prop_assume!(SupportFloor::new(floor, n).is_ok());
            let mut p: Vec<f64> = before.iter().map(Field::approx).collect();
            mix_with_uniform(&mut p, &floor);
            prop_assert!(p.iter().all(|&p| p >= floor));
            let sum: BigRational = p.iter().map(|&p| rational(p).unwrap()).sum();
            let off = Field::approx(&(sum - BigRational::one())).abs();
            prop_assert!(off <= (n + 1) as f64 * f64::EPSILON);
        }
    }

    #[test]
    fn only_possible_floors_are_accepted() {
        for n in 1..2000 {
            assert!(SupportFloor::new(1.0 / n as f64, n).is_ok(), "{n}");
        }
        for bad in [-1e-300, f64::NAN, 0.34, f64::INFINITY] {
            assert!(SupportFloor::new(bad, 3).is_err(), "{bad}");
        }
        assert_eq!(SupportFloor::new(0.25, 4).map(SupportFloor::get), Ok(0.25));
    }
}
