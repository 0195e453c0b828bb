//! Rational enclosures of real numbers: inequalities with `√`, `ln` and `exp` decided rigorously.
//!
//! An [`Enclosure`] is a pair of rationals with the real number between them. Nothing here is a
//! floating-point operation, so a comparison that an enclosure decides is decided by whole-number
//! arithmetic alone; a reader can redo it with any calculator that has fractions.

use std::ops::{Add, Mul, Sub};

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// A real number known to lie from `low` to `high`, both included.
///
/// ```
/// use lpf::math::Enclosure;
/// let three = Enclosure::integer(3);
/// let (root, log) = (three.sqrt(64).unwrap(), three.ln(64).unwrap());
/// assert!(root.exceeds(&log)); // √3 > ln 3, decided in whole numbers
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enclosure {
    low: BigRational,
    high: BigRational,
}

impl Enclosure {
    /// The rational `x` itself.
    pub fn exact(x: BigRational) -> Self {
        Enclosure {
            low: x.clone(),
            high: x,
        }
    }

    /// The whole number `n` itself.
    pub fn integer(n: u64) -> Self {
        Self::exact(BigRational::from_integer(n.into()))
    }

    /// Any number from one of the two to the other, both included, in either order.
    pub fn between(one: BigRational, other: BigRational) -> Self {
        let (low, high) = if one <= other {
            (one, other)
        } else {
            (other, one)
        };
        Enclosure { low, high }
    }

    /// The lower end.
    pub fn low(&self) -> &BigRational {
        &self.low
    }

    /// The upper end.
    pub fn high(&self) -> &BigRational {
        &self.high
    }

    /// Whether the number is certainly above `other`.
    pub fn exceeds(&self, other: &Self) -> bool {
        self.low > other.high
    }

    /// The nearest double to the middle; for messages, never for a decision.
    pub fn approx(&self) -> f64 {
        let two = BigRational::from_integer(2.into());
        ((&self.low + &self.high) / two)
            .to_f64()
            .unwrap_or(f64::NAN)
    }

    /// The square root, enclosed to `2^-bits`; `None` where the number may be negative.
    pub fn sqrt(&self, bits: u32) -> Option<Self> {
        if self.low.is_negative() {
            return None;
        }
        let root = |x: &BigRational| ((x.numer() << (2 * bits)) / x.denom()).sqrt();
        let (low, high) = (root(&self.low), root(&self.high));
        // Where the root is a dyadic itself it is known exactly.
        let exact = dyadic(&high * &high, 2 * bits) == self.high;
        Some(Enclosure {
            low: dyadic(low, bits),
            high: dyadic(if exact { high } else { high + 1 }, bits),
        })
    }

    /// The natural logarithm, enclosed to about `2^-bits`; `None` where the number may be zero or
    /// negative.
    pub fn ln(&self, bits: u32) -> Option<Self> {
        if !self.low.is_positive() {
            return None;
        }
        Some(Enclosure {
            low: ln_point(&self.low, bits).low,
            high: ln_point(&self.high, bits).high,
        })
    }

    /// `e^x`, enclosed to about `2^-bits` relative to the larger of 1 and `e^x`. The work grows
    /// with `|x|`; meant for arguments up to some thousands.
    pub fn exp(&self, bits: u32) -> Self {
        Enclosure {
            low: exp_point(&self.low, bits).low,
            high: exp_point(&self.high, bits).high,
        }
    }

    /// The quotient; `None` where the divisor may be zero.
    pub fn divide(&self, by: &Self) -> Option<Self> {
        if !by.low.is_positive() && !by.high.is_negative() {
            return None;
        }
        let inverse = Enclosure {
            low: by.high.recip(),
            high: by.low.recip(),
        };
        Some(self * &inverse)
    }
}

/// `numerator / 2^bits`.
fn dyadic(numerator: BigInt, bits: u32) -> BigRational {
    BigRational::new(numerator, BigInt::one() << bits)
}

/// A non-negative real between two multiples of `2^-p`, the inner form of the series below: whole
/// numbers need no common denominators.
#[derive(Clone)]
struct Fixed {
    low: BigInt,
    high: BigInt,
    p: u32,
}

impl Fixed {
    /// The tightest enclosure of a non-negative rational.
    fn enclosing(x: &BigRational, p: u32) -> Self {
        let scaled = x.numer() << p;
        let low = &scaled / x.denom();
        let exact = &low * x.denom() == scaled;
        let high = if exact { low.clone() } else { &low + 1 };
        Fixed { low, high, p }
    }

    fn times(&self, other: &Self) -> Self {
        Fixed {
            low: (&self.low * &other.low) >> self.p,
            high: ((&self.high * &other.high) >> self.p) + 1,
            p: self.p,
        }
    }

    fn over(&self, n: u64) -> Self {
        Fixed {
            low: &self.low / n,
            high: &self.high / n + 1,
            p: self.p,
        }
    }

    fn accumulate(&mut self, term: &Self) {
        self.low += &term.low;
        self.high += &term.high;
    }

    fn enclosure(self) -> Enclosure {
        Enclosure {
            low: dyadic(self.low, self.p),
            high: dyadic(self.high, self.p),
        }
    }
}

/// Further bits carried inside a series, so that the rounding of its terms (fewer than 2⁸ of them
/// for any precision in use) stays far below the precision asked for.
const GUARD: u32 = 16;

/// `ln x = k·ln 2 + ln m` with `x = m·2^k`, `1 ≤ m < 2`, for a positive `x`.
fn ln_point(x: &BigRational, bits: u32) -> Enclosure {
    let length = |n: &BigInt| i64::try_from(n.bits()).unwrap_or(i64::MAX);
    let mut k = length(x.numer()) - length(x.denom());
    let power = |k: i64| {
        let p = BigRational::from_integer(BigInt::one() << k.unsigned_abs());
        if k < 0 { p.recip() } else { p }
    };
    // The quotient of numbers of a and b bits lies between 2^(a−b−1) and 2^(a−b+1).
    if power(k) > *x {
        k -= 1;
    }
    let m = x / power(k);
    // Multiplying by k costs as many bits as k has.
    let p = bits + GUARD + (64 - k.unsigned_abs().leading_zeros());
    let two = BigRational::from_integer(2.into());
    let shift = Enclosure::exact(BigRational::from_integer(k.into()));
    &ln_mantissa(&m, p) + &(&shift * &ln_mantissa(&two, p))
}

/// `ln m = 2·artanh z = 2·Σ z^{2j+1}/(2j+1)` with `z = (m−1)/(m+1)`, for `1 ≤ m ≤ 2`.
///
/// Then `0 ≤ z ≤ 1/3`, all terms are non-negative, and what follows the term `t` is at most
/// `t·z²/(1−z²) ≤ t/8`.
fn ln_mantissa(m: &BigRational, p: u32) -> Enclosure {
    let one = BigRational::one();
    let z = Fixed::enclosing(&((m - &one) / (m + &one)), p);
    let square = z.times(&z);
    let (mut sum, mut power, mut odd) = (z.clone(), z, 1u64);
    loop {
        odd += 2;
        power = power.times(&square);
        let term = power.over(odd);
        sum.accumulate(&term);
        // A lower end of zero: the term is below two units and will not get smaller.
        if term.low.is_zero() {
            sum.high += &term.high;
            return &sum.enclosure() * &Enclosure::integer(2);
        }
    }
}

/// `e^x = (e^{x/2^s})^{2^s}` for `x ≥ 0`, `x/2^s ≤ 1/2`, the inner one by its Taylor series; the
/// reciprocal for `x < 0`.
///
/// What follows the term `t` of the series is at most `t·(1/2 + 1/4 + …) = t`.
fn exp_point(x: &BigRational, bits: u32) -> Enclosure {
    let size = x.abs().ceil().to_integer();
    let halvings = u32::try_from(size.bits()).unwrap_or(u32::MAX >> 4) + 1;
    // Each squaring doubles the relative error, and e^|x| has up to 1.5·|x| bits.
    let growth = size.to_u32().unwrap_or(u32::MAX >> 4);
    let p = bits + GUARD + halvings + 2 * growth;
    let scale = BigRational::from_integer(BigInt::one() << halvings);
    let r = Fixed::enclosing(&(x.abs() / scale), p);
    let mut term = Fixed::enclosing(&BigRational::one(), p);
    let (mut sum, mut j) = (term.clone(), 0u64);
    loop {
        j += 1;
        term = term.times(&r).over(j);
        sum.accumulate(&term);
        if term.low.is_zero() {
            sum.high += &term.high;
            break;
        }
    }
    for _ in 0..halvings {
        sum = sum.times(&sum);
    }
    let value = sum.enclosure();
    if x.is_negative() {
        Enclosure {
            low: value.high.recip(),
            high: value.low.recip(),
        }
    } else {
        value
    }
}

impl Add for &Enclosure {
    type Output = Enclosure;
    fn add(self, other: Self) -> Enclosure {
        Enclosure {
            low: &self.low + &other.low,
            high: &self.high + &other.high,
        }
    }
}

impl Sub for &Enclosure {
    type Output = Enclosure;
    fn sub(self, other: Self) -> Enclosure {
        Enclosure {
            low: &self.low - &other.high,
            high: &self.high - &other.low,
        }
    }
}

impl Mul for &Enclosure {
    type Output = Enclosure;
    fn mul(self, other: Self) -> Enclosure {
        let (a, b) = (&self.low * &other.low, &self.low * &other.high);
        let (c, d) = (&self.high * &other.low, &self.high * &other.high);
        Enclosure {
            low: (&a).min(&b).min((&c).min(&d)).clone(),
            high: a.max(b).max(c.max(d)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn q(n: i64, d: i64) -> BigRational {
        BigRational::new(n.into(), d.into())
    }

    fn decimal(digits: &str, places: usize) -> BigRational {
        let scale = num_traits::pow(BigInt::from(10), places);
        BigRational::new(digits.parse().unwrap(), scale)
    }

    /// Values printed by mpmath 1.4.1 at 60 digits, cut to 40: each enclosure must meet the
    /// interval that the digits leave open, and be no wider than asked for.
    #[test]
    fn agrees_with_mpmath_to_forty_digits() {
        let cases = [
            (
                Enclosure::exact(q(80, 1)).ln(140),
                "43820266346738816122696878190588939118276",
            ),
            (
                Enclosure::exact(q(40, 1)).ln(140),
                "36888794541139363028524556976007173437521",
            ),
            (
                Enclosure::exact(q(3, 7)).ln(140),
                "-8472978603872036137101075065206540249895",
            ),
            (
                Enclosure::exact(q(2, 1)).sqrt(140),
                "14142135623730950488016887242096980785696",
            ),
            (
                Some(Enclosure::exact(q(-7, 2)).exp(140)),
                "301973834223185007397862923636198450716",
            ),
            (
                Some(Enclosure::exact(q(5, 1)).exp(140)),
                "1484131591025766034211155800405522796234876",
            ),
        ];
        for (got, digits) in cases {
            let got = got.unwrap();
            let (low, high) = (
                decimal(digits, 40) - decimal("1", 40),
                decimal(digits, 40) + decimal("1", 40),
            );
            assert!(
                got.low <= high && got.high >= low,
                "{digits}: {}",
                got.approx()
            );
            assert!(
                &got.high - &got.low < decimal("1", 38),
                "{digits} is too wide"
            );
        }
    }

    #[test]
    fn undefined_values_are_refused_and_exact_ones_exact() {
        assert_eq!(Enclosure::exact(q(-1, 9)).sqrt(20), None);
        assert_eq!(Enclosure::exact(q(0, 1)).ln(20), None);
        assert_eq!(
            Enclosure::exact(q(9, 4)).sqrt(20),
            Some(Enclosure::exact(q(3, 2)))
        );
        assert_eq!(Enclosure::exact(q(1, 1)).ln(20).unwrap().low, q(0, 1));
        let around_zero = &Enclosure::integer(1).sqrt(8).unwrap() - &Enclosure::exact(q(1, 1));
        assert_eq!(Enclosure::integer(1).divide(&around_zero), None);
    }

    #[test]
    fn coarse_enclosures_contain_fine_ones() {
        // With few bits the rounding of every single step shows; the fine value is the oracle.
        let inside = |fine: &Enclosure, coarse: &Enclosure| {
            coarse.low <= fine.low && fine.high <= coarse.high
        };
        for n in 1..40i64 {
            for d in [1, 3, 7, 64, 1000] {
                let x = Enclosure::exact(q(n, d));
                let (up, down) = (
                    Enclosure::exact(q(n, 10 * d)),
                    Enclosure::exact(q(-n, 10 * d)),
                );
                let fine = [x.ln(120).unwrap(), up.exp(120), down.exp(120)];
                for bits in [0, 3, 9] {
                    let root = x.sqrt(bits).unwrap();
                    assert!(&root.low * &root.low <= q(n, d));
                    assert!(&root.high * &root.high >= q(n, d));
                    let coarse = [x.ln(bits).unwrap(), up.exp(bits), down.exp(bits)];
                    for (fine, coarse) in fine.iter().zip(&coarse) {
                        assert!(inside(fine, coarse), "{n}/{d} at {bits} bits");
                    }
                }
            }
        }
    }

    #[test]
    fn a_close_comparison_needs_enough_bits() {
        // 7/5 < √2 < 17/12: decided at 12 bits, not at 2. An undecided comparison is not a claim.
        let two = Enclosure::exact(q(2, 1));
        let (low, high) = (Enclosure::exact(q(7, 5)), Enclosure::exact(q(17, 12)));
        let fine = two.sqrt(12).unwrap();
        assert!(fine.exceeds(&low) && high.exceeds(&fine));
        let coarse = two.sqrt(2).unwrap();
        assert!(!coarse.exceeds(&low) && !high.exceeds(&coarse));
    }

    proptest! {
        #[test]
        fn exp_and_ln_are_inverse(n in 1i64..100_000, d in 1i64..1000) {
            let x = q(n, d);
            let back = Enclosure::exact(x.clone()).ln(100).unwrap().exp(100);
            prop_assert!(back.low <= x && x <= back.high);
            prop_assert!(&back.high - &back.low <= &x / q(1i64 << 60, 1));
        }

        #[test]
        fn products_enclose(a in -50i64..50, b in 0i64..50, c in -50i64..50, d in 0i64..50, s in 0i64..=4, t in 0i64..=4) {
            let x = Enclosure { low: q(a, 1), high: q(a + b, 1) };
            let y = Enclosure { low: q(c, 1), high: q(c + d, 1) };
            let (p, r) = (q(4 * a + s * b, 4), q(4 * c + t * d, 4));
            let product = &x * &y;
            prop_assert!(product.low <= &p * &r && &p * &r <= product.high);
            let difference = &x - &y;
            prop_assert!(difference.low <= &p - &r && &p - &r <= difference.high);
        }
    }
}
