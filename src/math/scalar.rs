//! The scalar traits that let one piece of code run over several kinds of numbers.
//!
//! | trait | adds | `Wrapping<uN>` | `BigRational` | `f32`, `f64` |
//! |---|---|---|---|---|
//! | [`Scalar`] | `0 1 + ×`, order-free sum | yes | yes | yes |
//! | [`Ring`] | `−` | yes | yes | yes |
//! | [`Field`] | `÷ <`, conversion | | yes | yes |
//! | [`Real`] | `exp ln` | | | yes |
//!
//! An identity that holds for the generic code over wrapping integers (where a solver can prove it)
//! or over rationals (where a test can compute it exactly) is an identity of the very code that
//! runs in floating point; what rounding adds is bounded separately.

use std::fmt::Debug;
use std::num::Wrapping;
use std::ops::{Add, Div, Mul, Sub};

use num_rational::BigRational;
use num_traits::{FromPrimitive, One, ToPrimitive, Zero};

use super::{ExactSum, elementary};

/// A commutative semiring with a sum that does not depend on the order of its terms.
pub trait Scalar:
    Clone + Debug + PartialEq + Zero + One + Add<Output = Self> + Mul<Output = Self>
{
    /// The sum of all terms, the same for every order of them.
    ///
    /// Exact types add up plainly. Floats are accumulated exactly and rounded once, to nearest.
    fn sum<I: IntoIterator<Item = Self>>(terms: I) -> Self;
}

/// A [`Scalar`] with subtraction.
pub trait Ring: Scalar + Sub<Output = Self> {}

/// An ordered [`Ring`] with division: exact rationals and floats.
pub trait Field: Ring + Div<Output = Self> + PartialOrd {
    /// The number `n`, rounded to nearest where the type cannot hold it.
    fn from_count(n: usize) -> Self;

    /// The nearest double; used in messages and reports, never in a decision.
    fn approx(&self) -> f64;

    /// Whether the value is NaN. Exact types never are.
    fn is_nan(&self) -> bool;

    /// Whether the value is neither NaN nor infinite. Exact types always are.
    fn is_finite(&self) -> bool;

    /// How far a sum of `n` class probabilities may be from one: `n` units in the last place of
    /// one for floats, zero for exact types. See [`crate::simplex::Distribution`].
    fn unit_tolerance(n: usize) -> Self;

    /// A power of two to scale by before adding up values as large as `largest`, or `None` where
    /// a sum of any number of them cannot overflow.
    fn overflow_guard(largest: &Self) -> Option<Self>;
}

/// A floating-point [`Field`] with exponential and logarithm.
pub trait Real: Field + Copy {
    /// `e^x`; see [`elementary::exp`] for the contract.
    fn exp(self) -> Self;
    /// Natural logarithm; see [`elementary::ln`].
    fn ln(self) -> Self;
    /// Minus infinity, the logarithm of zero.
    fn neg_infinity() -> Self;
}

macro_rules! wrapping_scalar {
    ($($t:ty),*) => {$(
        impl Scalar for Wrapping<$t> {
            fn sum<I: IntoIterator<Item = Self>>(terms: I) -> Self {
                terms.into_iter().fold(Wrapping(0), |a, b| a + b)
            }
        }
        impl Ring for Wrapping<$t> {}
    )*};
}
wrapping_scalar!(u8, u16, u32, u64);

impl Scalar for BigRational {
    fn sum<I: IntoIterator<Item = Self>>(terms: I) -> Self {
        terms
            .into_iter()
            .fold(<BigRational as Zero>::zero(), |a, b| a + b)
    }
}
impl Ring for BigRational {}
impl Field for BigRational {
    fn from_count(n: usize) -> Self {
        BigRational::from_integer(n.into())
    }
    fn approx(&self) -> f64 {
        // `to_f64` of a ratio of big integers always has a value; NaN would show in a message.
        self.to_f64().unwrap_or(f64::NAN)
    }
    fn is_nan(&self) -> bool {
        false
    }
    fn is_finite(&self) -> bool {
        true
    }
    fn unit_tolerance(_: usize) -> Self {
        <BigRational as Zero>::zero()
    }
    fn overflow_guard(_: &Self) -> Option<Self> {
        None
    }
}

macro_rules! float_scalar {
    ($t:ident, $round:ident, $exp:ident, $ln:ident, $guard_at:expr, $guard_by:expr) => {
        impl Scalar for $t {
            fn sum<I: IntoIterator<Item = Self>>(terms: I) -> Self {
                let mut sum = ExactSum::new();
                for term in terms {
                    sum.add(term.into());
                }
                sum.$round()
            }
        }
        impl Ring for $t {}
        impl Field for $t {
            fn from_count(n: usize) -> Self {
                n as $t
            }
            fn approx(&self) -> f64 {
                (*self).into()
            }
            fn is_nan(&self) -> bool {
                $t::is_nan(*self)
            }
            fn is_finite(&self) -> bool {
                $t::is_finite(*self)
            }
            fn unit_tolerance(n: usize) -> Self {
                n as $t * $t::EPSILON
            }
            fn overflow_guard(largest: &Self) -> Option<Self> {
                const AT: $t = $guard_at;
                const BY: $t = $guard_by;
                (*largest >= AT).then_some(BY)
            }
        }
        impl Real for $t {
            fn exp(self) -> Self {
                elementary::$exp(self)
            }
            fn ln(self) -> Self {
                elementary::$ln(self)
            }
            fn neg_infinity() -> Self {
                $t::NEG_INFINITY
            }
        }
    };
}

/// `2^e` for a normal exponent, in constants.
const fn pow2(e: i32) -> f64 {
    f64::from_bits(((1023 + e) as u64) << 52)
}

// The guard: below 2^959 (2^95) the sum of 2^64 (2^32) terms stays below the largest finite
// value. Scaling by a power of two is exact except for values that become subnormal, and those
// are so small against the largest that their quotient rounds to zero either way.
float_scalar!(f64, to_f64, exp, ln, pow2(959), pow2(-128));
float_scalar!(f32, to_f32, exp32, ln32, pow2(95) as f32, pow2(-40) as f32);

/// How many terms [`canonical_sum`] sorts on the stack.
pub(crate) const SORTED: usize = 16;

/// The sum of the entries of one distribution, the same bits for every order of the classes.
///
/// Up to sixteen terms are added from the smallest to the largest; more are added exactly. The
/// relative error of a sum of `n` non-negative floats is at most `(n−1)·2⁻⁵³` (`2⁻²⁴` for `f32`).
/// This is cheaper than [`Scalar::sum`] for a few terms and, unlike it, within reach of a solver.
///
/// Domain: no NaN (with one, the order is unspecified but nothing panics).
#[must_use]
pub fn canonical_sum<S: Field>(terms: &[S]) -> S {
    let n = terms.len();
    if n > SORTED {
        return S::sum(terms.iter().cloned());
    }
    let mut order = [0usize; SORTED];
    for i in 0..n {
        let mut slot = i;
        while slot > 0 && terms[i] < terms[order[slot - 1]] {
            order[slot] = order[slot - 1];
            slot -= 1;
        }
        order[slot] = i;
    }
    let mut total = S::zero();
    for &i in &order[..n] {
        total = total + terms[i].clone();
    }
    total
}

/// The exact rational value of a finite double, or `None` for NaN and infinities.
///
/// This is the bridge from floating-point results to exact oracles.
#[must_use]
pub fn rational(x: f64) -> Option<BigRational> {
    BigRational::from_f64(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_sum_has_the_same_bits_for_every_order_of_three() {
        let x: [f64; 3] = [0.1, 0.2, 0.3];
        let orders = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        let sums: Vec<u64> = orders
            .iter()
            .map(|o| canonical_sum(&o.map(|i| x[i])).to_bits())
            .collect();
        assert!(sums.windows(2).all(|w| w[0] == w[1]));
        // Negative control: left to right, the orders differ.
        let plain: std::collections::BTreeSet<u64> = orders
            .iter()
            .map(|o| o.iter().fold(0.0, |a: f64, &i| a + x[i]).to_bits())
            .collect();
        assert!(plain.len() > 1);
    }

    #[test]
    fn long_canonical_sums_are_exact() {
        let x: Vec<f64> = (0..40).map(|i| 0.1 * f64::from(i)).collect();
        let exact = x.iter().map(|&v| rational(v).unwrap()).sum::<BigRational>();
        assert_eq!(canonical_sum(&x), exact.to_f64().unwrap());
    }

    #[test]
    fn guard_leaves_room_for_the_stated_number_of_terms() {
        assert!(pow2(959) * 2f64.powi(63) * 2.0 < f64::MAX);
        assert!((pow2(95) as f32) * 2f32.powi(32) < f32::MAX);
        assert_eq!(f64::overflow_guard(&1.0), None);
        assert_eq!(f64::overflow_guard(&f64::MAX), Some(2f64.powi(-128)));
        assert_eq!(f32::overflow_guard(&f32::MAX), Some(2f32.powi(-40)));
    }

    #[test]
    fn a_fraction_is_near_its_double() {
        let quarter = BigRational::new(1.into(), (-4).into());
        assert_eq!(quarter.approx(), -0.25);
    }
}
