//! Outward-rounded interval arithmetic over doubles, so that a bound is never rounded below its
//! true value.
//!
//! Every operation returns an interval that contains all exact results for operands inside the
//! given intervals. How far each endpoint is moved outward:
//!
//! | operation | error of the double result | moved by |
//! |---|---|---|
//! | `+ −` | half an ulp, known exactly by two-sum | 0 or 1 step |
//! | `× ÷ √` | half an ulp (IEEE 754) | 1 step; 0 where an operand is an exact zero |
//! | `exp ln exp_m1 ln_1p` | below 1 ulp (`libm`) | 2 steps; 0 at the exact points 0 and 1 |
//!
//! Two steps, not one, because an ulp just above a power of two is twice the step below it. The
//! 1-ulp figure is `libm`'s; the tests confront it with [`Enclosure`](super::Enclosure), which
//! trusts nothing.
//!
//! No operation panics. The part of an operand outside a function's domain is ignored; where
//! nothing is left, or nothing can be said, the result is the whole line.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{exp, ln};

/// The reals from `low` to `high`, both included; an endpoint may be infinite, none is NaN.
///
/// ```
/// use lpf::math::Interval;
/// let tenth = Interval::point(1.0) / Interval::point(10.0);
/// let sum = tenth + tenth + tenth;
/// assert!(sum.low() <= 0.3 && 0.3 <= sum.high() && sum.high() - sum.low() < 2e-16);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    /// The whole line: nothing is known.
    pub const ENTIRE: Interval = Interval {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };

    /// The one number `x`; the whole line where `x` is NaN.
    pub fn point(x: f64) -> Self {
        Self::between(x, x)
    }

    /// The count `n`, exact up to 2⁵³ and enclosed beyond.
    pub fn count(n: u64) -> Self {
        let x = n as f64;
        if n <= 1 << 53 {
            Self::point(x)
        } else {
            Self::between(x.next_down(), x.next_up())
        }
    }

    /// From `low` to `high`; the whole line where either is NaN or they are the wrong way round.
    pub fn between(low: f64, high: f64) -> Self {
        if low <= high {
            Interval { low, high }
        } else {
            Self::ENTIRE
        }
    }

    /// The lower endpoint: not above the true value.
    pub fn low(self) -> f64 {
        self.low
    }

    /// The upper endpoint: not below the true value.
    pub fn high(self) -> f64 {
        self.high
    }

    /// The square root, of the part that is not negative.
    pub fn sqrt(self) -> Self {
        self.increasing(0.0, f64::INFINITY, |x| {
            let r = x.sqrt();
            if x == 0.0 {
                (0.0, 0.0)
            } else {
                (r.next_down(), r.next_up())
            }
        })
    }

    /// `e^x`.
    pub fn exp(self) -> Self {
        self.increasing(f64::NEG_INFINITY, f64::INFINITY, |x| {
            if x == 0.0 {
                return (1.0, 1.0);
            }
            let (low, high) = two_steps(exp(x));
            (low.max(0.0), high)
        })
    }

    /// The natural logarithm, of the part that is not negative.
    pub fn ln(self) -> Self {
        self.increasing(0.0, f64::INFINITY, |x| {
            if x == 1.0 {
                return (0.0, 0.0);
            }
            two_steps(ln(x))
        })
    }

    /// `e^x − 1`, accurate near zero.
    pub fn exp_m1(self) -> Self {
        self.increasing(f64::NEG_INFINITY, f64::INFINITY, |x| {
            if x == 0.0 {
                return (0.0, 0.0);
            }
            let (low, high) = two_steps(libm::expm1(x));
            (low.max(-1.0), high)
        })
    }

    /// `ln(1 + x)`, accurate near zero, of the part not below −1.
    pub fn ln_1p(self) -> Self {
        self.increasing(-1.0, f64::INFINITY, |x| {
            if x == 0.0 {
                return (0.0, 0.0);
            }
            two_steps(libm::log1p(x))
        })
    }

    /// `tanh x = 1 − 2/(e^{2x} + 1)`, from `t = e^{2x} − 1` as `t/(t + 2)`.
    pub fn tanh(self) -> Self {
        let two = Interval::point(2.0);
        self.increasing(f64::NEG_INFINITY, f64::INFINITY, |x| {
            // e^{40} > 2⁵⁷: beyond, one minus the value is below half a step of one.
            if x.abs() > 20.0 {
                let near = 1f64.next_down();
                return if x > 0.0 { (near, 1.0) } else { (-1.0, -near) };
            }
            let t = Interval::point(2.0 * x).exp_m1();
            let low = Interval::point(t.low) / (Interval::point(t.low) + two);
            let high = Interval::point(t.high) / (Interval::point(t.high) + two);
            (low.low.max(-1.0), high.high.min(1.0))
        })
    }

    /// The larger of the two, endpoint by endpoint.
    pub fn max(self, other: Self) -> Self {
        Interval {
            low: self.low.max(other.low),
            high: self.high.max(other.high),
        }
    }

    /// The smaller of the two, endpoint by endpoint.
    pub fn min(self, other: Self) -> Self {
        Interval {
            low: self.low.min(other.low),
            high: self.high.min(other.high),
        }
    }

    /// Applies an increasing function, given by the enclosure of its value at a point.
    fn increasing(self, from: f64, to: f64, f: impl Fn(f64) -> (f64, f64)) -> Self {
        let (a, b) = (self.low.max(from), self.high.min(to));
        if a > b {
            return Self::ENTIRE;
        }
        let (low, _) = f(a);
        let (_, high) = f(b);
        Self::between(low, high)
    }
}

/// Two steps outward; see the table above.
fn two_steps(x: f64) -> (f64, f64) {
    (x.next_down().next_down(), x.next_up().next_up())
}

impl Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Interval {
            low: -self.high,
            high: -self.low,
        }
    }
}

impl Add for Interval {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (low, below) = two_sum(self.low, other.low);
        let (high, above) = two_sum(self.high, other.high);
        // The negation makes an error that is NaN (after an overflow) move the endpoint.
        let exact_or_above = below >= 0.0;
        let exact_or_below = above <= 0.0;
        Self::between(
            if exact_or_above { low } else { low.next_down() },
            if exact_or_below { high } else { high.next_up() },
        )
    }
}

/// Knuth's two-sum: the rounded sum and what it lacks, exactly.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let bb = s - a;
    (s, (a - (s - bb)) + (b - bb))
}

impl Sub for Interval {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Interval {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        // Of positive numbers the ends belong together: most products, at a quarter of the work.
        if self.low > 0.0 && other.low > 0.0 {
            let (low, high) = (self.low * other.low, self.high * other.high);
            return Self::between(low.next_down(), high.next_up());
        }
        let mut out = (f64::INFINITY, f64::NEG_INFINITY);
        for a in [self.low, self.high] {
            for b in [other.low, other.high] {
                // An infinite endpoint stands for arbitrarily large reals, so 0·∞ is 0.
                let (low, high) = if a == 0.0 || b == 0.0 {
                    (0.0, 0.0)
                } else {
                    let p = a * b;
                    (p.next_down(), p.next_up())
                };
                out = (out.0.min(low), out.1.max(high));
            }
        }
        Self::between(out.0, out.1)
    }
}

impl Div for Interval {
    type Output = Self;
    /// The quotient; the whole line where the divisor contains zero.
    #[inline]
    fn div(self, other: Self) -> Self {
        if other.low <= 0.0 && other.high >= 0.0 {
            return Self::ENTIRE;
        }
        // As for products.
        if self.low > 0.0 && other.low > 0.0 && other.high.is_finite() {
            let (low, high) = (self.low / other.high, self.high / other.low);
            return Self::between(low.next_down(), high.next_up());
        }
        let mut out = (f64::INFINITY, f64::NEG_INFINITY);
        for a in [self.low, self.high] {
            for b in [other.low, other.high] {
                let q = a / b;
                if q.is_nan() {
                    return Self::ENTIRE;
                }
                let (low, high) = if a == 0.0 {
                    (0.0, 0.0)
                } else {
                    (q.next_down(), q.next_up())
                };
                out = (out.0.min(low), out.1.max(high));
            }
        }
        Self::between(out.0, out.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Enclosure, rational};
    use num_rational::BigRational;
    use proptest::prelude::*;

    fn exact(x: f64) -> BigRational {
        rational(x).unwrap()
    }

    fn holds(i: Interval, x: &BigRational) -> bool {
        (i.low == f64::NEG_INFINITY || exact(i.low) <= *x)
            && (i.high == f64::INFINITY || exact(i.high) >= *x)
    }

    /// The interval holds the whole rational enclosure, so it holds the true value.
    fn holds_all(i: Interval, e: &Enclosure) -> bool {
        holds(i, e.low()) && holds(i, e.high())
    }

    proptest! {
        #[test]
        fn arithmetic_encloses_the_exact_result(a in -1e9f64..1e9, b in -1e9f64..1e9) {
            prop_assume!(b != 0.0);
            let (x, y) = (Interval::point(a), Interval::point(b));
            prop_assert!(holds(x + y, &(exact(a) + exact(b))));
            prop_assert!(holds(x - y, &(exact(a) - exact(b))));
            prop_assert!(holds(x * y, &(exact(a) * exact(b))));
            prop_assert!(holds(x / y, &(exact(a) / exact(b))));
        }

        #[test]
        fn arithmetic_of_wide_intervals_encloses_inner_points(
            ends in prop::array::uniform4(-100.0f64..100.0),
            s in 0.0f64..=1.0,
            t in 0.0f64..=1.0,
        ) {
            let x = Interval::between(ends[0].min(ends[1]), ends[0].max(ends[1]));
            let y = Interval::between(ends[2].min(ends[3]), ends[2].max(ends[3]));
            let inner = |i: Interval, s: f64| (i.low + s * (i.high - i.low)).clamp(i.low, i.high);
            let (a, b) = (inner(x, s), inner(y, t));
            prop_assert!(holds(x + y, &(exact(a) + exact(b))));
            prop_assert!(holds(x - y, &(exact(a) - exact(b))));
            prop_assert!(holds(x * y, &(exact(a) * exact(b))));
            if b != 0.0 {
                prop_assert!(holds(x / y, &(exact(a) / exact(b))));
            }
        }

        #[test]
        fn no_bits_make_it_panic_or_invert(bits in prop::array::uniform4(any::<u64>())) {
            let v = bits.map(f64::from_bits);
            let (x, y) = (Interval::between(v[0], v[1]), Interval::between(v[2], v[3]));
            for i in [x + y, x - y, x * y, x / y, x.sqrt(), x.exp(), x.ln(), x.exp_m1(),
                      x.ln_1p(), x.tanh(), x.max(y), x.min(y), -x] {
                prop_assert!(i.low <= i.high);
            }
        }

        #[test]
        fn the_short_way_of_positive_numbers_changes_no_bit(
            bits in prop::array::uniform4(any::<u64>()),
        ) {
            // The opposite goes the long way.
            let v = bits.map(|b| f64::from_bits(b >> 1));
            let (x, y) = (Interval::between(v[0], v[1]), Interval::between(v[2], v[3]));
            prop_assert_eq!(x * y, -(-x * y));
            prop_assert_eq!(x / y, -(-x / y));
        }

        #[test]
        fn exp_of_libm_is_within_the_two_steps(x in -30.0f64..30.0) {
            let e = Enclosure::exact(exact(x)).exp(160);
            prop_assert!(holds_all(Interval::point(x).exp(), &e));
            let m1 = &e - &Enclosure::integer(1);
            prop_assert!(holds_all(Interval::point(x).exp_m1(), &m1));
        }

        #[test]
        fn ln_of_libm_is_within_the_two_steps(x in 1e-12f64..1e12) {
            let e = Enclosure::exact(exact(x)).ln(160).unwrap();
            prop_assert!(holds_all(Interval::point(x).ln(), &e));
            let e = (&Enclosure::exact(exact(x)) + &Enclosure::integer(1)).ln(160).unwrap();
            prop_assert!(holds_all(Interval::point(x).ln_1p(), &e));
        }

        #[test]
        fn functions_near_their_zeros_are_within_the_two_steps(x in -1e-3f64..1e-3) {
            let one = Enclosure::integer(1);
            let e = &Enclosure::exact(exact(x)).exp(160) - &one;
            prop_assert!(holds_all(Interval::point(x).exp_m1(), &e));
            let e = (&Enclosure::exact(exact(x)) + &one).ln(160).unwrap();
            prop_assert!(holds_all(Interval::point(x).ln_1p(), &e));
        }

        #[test]
        fn tanh_and_sqrt_enclose(x in 1e-6f64..15.0) {
            let e = Enclosure::exact(exact(2.0 * x)).exp(160);
            let one = Enclosure::integer(1);
            let want = (&e - &one).divide(&(&e + &one)).unwrap();
            prop_assert!(holds_all(Interval::point(x).tanh(), &want));
            prop_assert!(holds_all(-Interval::point(-x).tanh(), &want));
            let root = Enclosure::exact(exact(x)).sqrt(160).unwrap();
            prop_assert!(holds_all(Interval::point(x).sqrt(), &root));
        }
    }

    #[test]
    fn edges() {
        let p = Interval::point;
        assert_eq!(p(f64::NAN), Interval::ENTIRE);
        assert_eq!(Interval::between(2.0, 1.0), Interval::ENTIRE);
        assert_eq!(p(0.5) + p(0.25), p(0.75));
        assert_eq!(p(0.0) * p(7.0), p(0.0));
        assert_eq!(p(1.0) / Interval::between(-1.0, 1.0), Interval::ENTIRE);
        assert_eq!((p(0.0).exp(), p(1.0).ln()), (p(1.0), p(0.0)));
        assert_eq!(p(-2.0).sqrt(), Interval::ENTIRE);
        assert_eq!(Interval::between(-2.0, 0.0).sqrt(), p(0.0));
        assert_eq!(p(0.0).ln().low, f64::NEG_INFINITY);
        assert_eq!((p(f64::MAX) + p(f64::MAX)).high, f64::INFINITY);
        assert_eq!((p(f64::MAX) + p(f64::MAX)).low, f64::MAX);
        assert!(Interval::count(u64::MAX).low < Interval::count(u64::MAX).high);
        assert!(p(1e6).tanh().low < 1.0 && p(1e6).tanh().high == 1.0);
    }

    #[test]
    fn rounding_to_nearest_alone_would_not_enclose() {
        // Negative control: 1/3 and 0.1 + 0.2 as plain doubles miss their exact values.
        assert!(!holds(
            Interval::point(1.0 / 3.0),
            &BigRational::new(1.into(), 3.into())
        ));
        let sum = exact(0.1) + exact(0.2);
        assert!(!holds(Interval::point(0.1 + 0.2), &sum));
        assert!(holds(Interval::point(0.1) + Interval::point(0.2), &sum));
    }

    #[test]
    fn counts_are_exact_where_doubles_are() {
        for n in [0, 3, (1 << 53) - 1, 1 << 53] {
            assert_eq!(Interval::count(n), Interval::point(n as f64));
        }
        let beyond = Interval::count((1 << 53) + 1);
        assert!(beyond.low() < beyond.high());
    }
}
