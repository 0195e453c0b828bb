//! A made-up field that tells how its numbers came about, for proofs about generic code.
//!
//! Equality of two roundings is out of a solver's reach, so `normalize`, `softmax` and
//! `canonical_sum` are also run on numbers that round nothing: whole ones, whose quotient is kept
//! as the pair of its parts and whose sums remember their terms one by one. The same steps, in the
//! same order, are taken for doubles, where each is the hardware's.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};

use num_traits::{One, Zero};

use crate::math::{Field, Real, Ring, Scalar};

/// From here on numbers are doubled before they are added, as those are that could overflow.
pub(super) const GUARDED: i32 = 200;

/// A whole number, perhaps over another; [`Told::IMPOSSIBLE`] is minus infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Told {
    /// What stands above the bar.
    pub over: i32,
    /// What stands below it; one in a whole number.
    pub under: i32,
    /// The numbers other than zero that were added to make this one, eight bits each, the first
    /// in the highest place that is used; of no meaning beyond 255 or after four.
    pub terms: u32,
}

impl Told {
    /// Minus infinity, the logarithm of zero.
    pub(super) const IMPOSSIBLE: Told = Told::whole(i32::MIN);

    /// A whole number that was not made of others.
    pub(super) const fn whole(n: i32) -> Told {
        Told {
            over: n,
            under: 1,
            terms: n as u32 & 255,
        }
    }
}

/// `exp` of the field: 2¹²⁺ˣ for x in −12..=0, and zero below; the caller must have subtracted the
/// largest.
pub(super) const fn exp(x: i32) -> i32 {
    assert!(x <= 0);
    if x < -12 { 0 } else { 1 << (12 + x) }
}

impl Zero for Told {
    fn zero() -> Self {
        Told::whole(0)
    }
    fn is_zero(&self) -> bool {
        self.over == 0
    }
}

impl One for Told {
    fn one() -> Self {
        Told::whole(1)
    }
}

impl Add for Told {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        // Zeros add nothing to what is told.
        if other.over == 0 {
            return self;
        }
        if self.over == 0 {
            return other;
        }
        assert!(self.under == 1 && other.under == 1);
        Told {
            over: self.over + other.over,
            under: 1,
            terms: self.terms << 8 | other.terms & 255,
        }
    }
}

impl Sub for Told {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        assert!(self.under == 1 && other.under == 1 && other.over != i32::MIN);
        if self.over == i32::MIN {
            return self;
        }
        Told::whole(self.over - other.over)
    }
}

impl Mul for Told {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        // Only scaling by two multiplies.
        assert!(self.under == 1 && other.over == 2 && other.under == 1);
        Told::whole(self.over * 2)
    }
}

impl Div for Told {
    type Output = Self;
    fn div(self, by: Self) -> Self {
        assert!(self.under == 1 && by.under == 1 && by.over > 0);
        Told {
            under: by.over,
            ..self
        }
    }
}

impl PartialOrd for Told {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        assert!(self.under == 1 && other.under == 1);
        self.over.partial_cmp(&other.over)
    }
}

impl Scalar for Told {
    fn sum<I: IntoIterator<Item = Self>>(terms: I) -> Self {
        terms.into_iter().fold(Told::zero(), |a, b| a + b)
    }
}

impl Ring for Told {}

impl Field for Told {
    fn from_count(n: usize) -> Self {
        Told::whole(n as i32)
    }
    fn approx(&self) -> f64 {
        0.0
    }
    fn is_nan(&self) -> bool {
        false
    }
    fn is_finite(&self) -> bool {
        self.over != i32::MIN
    }
    fn unit_tolerance(_: usize) -> Self {
        Told::one()
    }
    fn overflow_guard(largest: &Self) -> Option<Self> {
        (largest.over >= GUARDED).then_some(Told::whole(2))
    }
}

impl Real for Told {
    fn exp(self) -> Self {
        Told::whole(exp(self.over))
    }
    fn ln(self) -> Self {
        panic!("nothing here takes a logarithm")
    }
    fn neg_infinity() -> Self {
        Told::IMPOSSIBLE
    }
}
