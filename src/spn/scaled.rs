//! Non-negative numbers with 64 significant bits and an exponent that cannot overflow.
//!
//! A product of 10⁶ small factors leaves the range of doubles; its logarithm does not, but costs
//! an exponential per edge and loses digits. A mantissa with its own exponent costs one integer
//! multiplication, is exact to 2⁻⁶⁴, and the logarithm is taken once, at the end.
//!
//! Every operation here is a function of the *set* of its operands: sums are added on a grid that
//! the largest exponent fixes, products are rounded correctly. No order of children, nodes or
//! variables can change a bit.

use num_bigint::BigUint;

pub(super) mod block;

/// `mantissa · 2^exponent`, with the highest bit of the mantissa set, or zero.
///
/// The order of the fields makes the derived order that of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Scaled {
    pub(crate) exponent: i64,
    pub(crate) mantissa: u64,
}

/// The exponent of zero: below that of any value of a network (2³⁰ nodes times 2¹² at most), and
/// far enough from the ends of `i64` that differences do not overflow.
const ZERO_EXPONENT: i64 = -(1 << 60);

/// `√2 · 2⁶³`, rounded down: the mantissas up to here are nearer to `2⁶³` than to `2⁶⁴` by ratio.
const SQRT_2: u64 = 0xb504_f333_f9de_6484;

/// `ln 2` in two parts (fdlibm's): the first has 21 trailing zero bits, so that its product with
/// any exponent below 2²¹ is exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

impl Scaled {
    pub(crate) const ZERO: Scaled = Scaled {
        exponent: ZERO_EXPONENT,
        mantissa: 0,
    };
    pub(crate) const ONE: Scaled = Scaled {
        exponent: -63,
        mantissa: 1 << 63,
    };

    /// A finite, non-negative double, exactly.
    #[inline]
    pub(crate) fn from_f64(x: f64) -> Self {
        let bits = x.to_bits() & !(1 << 63);
        if bits < 1 << 52 {
            return Self::from_subnormal(bits);
        }
        // The fraction moves to the top, below the hidden bit.
        Scaled {
            mantissa: bits << 11 | 1 << 63,
            exponent: (bits >> 52) as i64 - 1075 - 11,
        }
    }

    /// `fraction · 2⁻¹⁰⁷⁴`.
    #[inline]
    fn from_subnormal(fraction: u64) -> Self {
        if fraction == 0 {
            return Scaled::ZERO;
        }
        let shift = fraction.leading_zeros();
        Scaled {
            mantissa: fraction << shift,
            exponent: -1074 - i64::from(shift),
        }
    }

    #[inline]
    pub(crate) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// `wide · 2^exponent`, rounded to 64 bits, halves up.
    #[inline]
    fn round(wide: u128, exponent: i64) -> Self {
        if wide == 0 {
            return Scaled::ZERO;
        }
        let shift = wide.leading_zeros();
        Self::round_normal(wide << shift, exponent - i64::from(shift))
    }

    /// As [`Scaled::round`], for a number whose highest bit is set.
    #[inline]
    fn round_normal(wide: u128, exponent: i64) -> Self {
        let exponent = exponent + 64;
        let (mantissa, carried) = ((wide >> 64) as u64).overflowing_add((wide as u64) >> 63);
        if carried {
            Scaled {
                mantissa: 1 << 63,
                exponent: exponent + 1,
            }
        } else {
            Scaled { mantissa, exponent }
        }
    }

    /// The product, rounded once.
    #[inline]
    pub(crate) fn times(self, other: Self) -> Self {
        let product = u128::from(self.mantissa) * u128::from(other.mantissa);
        if product == 0 {
            return Scaled::ZERO;
        }
        let (wide, shift) = highest_bit_set(product);
        Self::round_normal(wide, self.exponent + other.exponent - shift)
    }

    /// `Σ aᵢ·bᵢ`, with a relative error below `2⁻⁶⁴ + n²·2⁻¹²⁴` for any number of terms.
    ///
    /// All terms are cut at one place, which the largest exponent and `n` decide, and what is left
    /// is added as integers: the order does not matter.
    #[inline]
    pub(crate) fn sum_of_products(n: usize, term: impl Fn(usize) -> (Scaled, Scaled)) -> Self {
        let mut largest = 2 * ZERO_EXPONENT;
        for i in 0..n {
            let (a, b) = term(i);
            largest = largest.max(a.exponent + b.exponent);
        }
        // Each product is below 2^128; n of them, shifted by this much, add up to less.
        let headroom = usize::BITS - n.leading_zeros();
        let mut total = 0u128;
        for i in 0..n {
            total += on_grid(term(i), largest, headroom);
        }
        Self::round(total, largest + i64::from(headroom))
    }

    /// Picks a term of `Σ aᵢ·bᵢ` with a probability proportional to it: `position` in `[0, 1)`,
    /// as a fraction of 2⁶⁴, is where to stop in the running sum. `None` where all are zero.
    pub(super) fn pick(
        n: usize,
        position: u64,
        term: impl Fn(usize) -> (Scaled, Scaled),
    ) -> Option<usize> {
        let products = (0..n).map(|i| {
            let (a, b) = term(i);
            a.exponent + b.exponent
        });
        let largest = products.max()?;
        let headroom = usize::BITS - n.leading_zeros();
        let total = (0..n).fold(0, |t, i| t + on_grid(term(i), largest, headroom));
        let stop = scale(total, position);
        let mut running = 0u128;
        (0..n).find(|&i| {
            running += on_grid(term(i), largest, headroom);
            running > stop
        })
    }

    /// The quotient as a double, rounded once, to nearest even; NaN for 0/0, infinite for x/0.
    pub(super) fn ratio(self, by: Self) -> f64 {
        if by.is_zero() {
            return if self.is_zero() {
                f64::NAN
            } else {
                f64::INFINITY
            };
        }
        // Shortcuts, for speed: a division of 128 bits is slow.
        if self.is_zero() {
            return 0.0;
        }
        if self == by {
            return 1.0;
        }
        let (quotient, rest, exponent) = self.divide(by);
        // One further bit says whether anything follows: enough to round 65 bits to 53.
        nearest_f64(quotient << 1 | u128::from(rest != 0), exponent - 1)
    }

    /// The quotient, rounded once; zero where either is.
    pub(super) fn over(self, by: Self) -> Self {
        if by.is_zero() || self.is_zero() {
            return Scaled::ZERO;
        }
        let (quotient, rest, exponent) = self.divide(by);
        // The quotient has 64 or 65 bits; the next one says whether the rest is a half or more.
        let next = u128::from(2 * rest >= u128::from(by.mantissa));
        Self::round(quotient << 1 | next, exponent - 1)
    }

    /// Quotient and rest of `mantissa·2⁶⁴ / by.mantissa`, and the quotient's exponent.
    fn divide(self, by: Self) -> (u128, u128, i64) {
        let divisor = u128::from(by.mantissa);
        let dividend = u128::from(self.mantissa) << 64;
        let quotient = dividend / divisor;
        let exponent = self.exponent - by.exponent - 64;
        (quotient, dividend - quotient * divisor, exponent)
    }

    /// The natural logarithm, within 2 units in the last place; `−∞` for zero.
    ///
    /// The value is split as `(1 + r)·2^k` with `1 + r` between `√½` and `√2`, so that `ln(1+r)`
    /// and `k·ln 2` never cancel: either `k = 0`, or the second is at least twice the first.
    pub(super) fn ln(self) -> f64 {
        if self.is_zero() {
            return f64::NEG_INFINITY;
        }
        const HALF: f64 = 1.0 / (1u64 << 63) as f64;
        let (r, k) = if self.mantissa <= SQRT_2 {
            (
                (self.mantissa - (1 << 63)) as f64 * HALF,
                self.exponent + 63,
            )
        } else {
            (
                -(self.mantissa.wrapping_neg() as f64) * (HALF / 2.0),
                self.exponent + 64,
            )
        };
        let k = k as f64;
        let rest = libm::log1p(r) + k * LN_2_LOW;
        k * LN_2_HIGH + rest
    }
}

/// One product, cut at the common place.
#[inline]
fn on_grid((a, b): (Scaled, Scaled), largest: i64, headroom: u32) -> u128 {
    let product = u128::from(a.mantissa) * u128::from(b.mantissa);
    let shift = (largest - a.exponent - b.exponent) as u64 + u64::from(headroom);
    if shift < 128 { product >> shift } else { 0 }
}

/// A product of two numbers with their highest bits set lacks at most one bit: it is added to itself or not,
/// which takes no shift across two words and no branch. Zero stays zero.
#[inline(always)]
fn highest_bit_set(product: u128) -> (u128, i64) {
    let lacking = !((product >> 64) as i64 >> 63) as u64;
    let again = product & (u128::from(lacking) << 64 | u128::from(lacking));
    (product + again, (lacking & 1) as i64)
}

/// `⌊a·b/2⁶⁴⌋`.
#[inline(always)]
fn scale(a: u128, b: u64) -> u128 {
    let low = u128::from(a as u64) * u128::from(b);
    let high = u128::from((a >> 64) as u64) * u128::from(b);
    high + (low >> 64)
}

/// `wide · 2^exponent` as the nearest double, ties to even.
fn nearest_f64(wide: u128, exponent: i64) -> f64 {
    if wide == 0 {
        return 0.0;
    }
    let length = 128 - i64::from(wide.leading_zeros());
    // Keep 53 bits, fewer where the lowest would lie below 2^-1074.
    let drop = (length - 53).max(-1074 - exponent);
    let kept = if drop <= 0 {
        wide << -drop.max(-75)
    } else if drop >= 128 {
        // Less than half of the smallest subnormal, or exactly half with the quotient even.
        0
    } else {
        let quotient = wide >> drop;
        let rest = wide & ((1 << drop) - 1);
        let half = 1 << (drop - 1);
        quotient + u128::from(rest > half || rest == half && quotient & 1 == 1)
    };
    let exponent = (exponent + drop).clamp(-3000, 3000) as i32;
    // `kept` has at most 54 bits, and the result is a double exactly (or beyond the largest).
    libm::scalbn(kept as f64, exponent)
}

/// A running product with 128 significant bits, and a bound on what was cut off.
#[derive(Clone, Copy, Debug)]
pub(super) struct WideProduct {
    /// The highest bit is set, or the product is zero.
    high: u128,
    /// Of no meaning where the product is zero; it wraps around rather than overflow there.
    exponent: i64,
    /// Cuts so far, counted whether anything was lost or not: the true product is at least `high`, and exceeds it
    /// by less than `cuts · 4` units in the last place.
    cuts: u64,
}

impl WideProduct {
    pub(super) const ONE: WideProduct = WideProduct {
        high: 1 << 127,
        exponent: -127,
        cuts: 0,
    };

    /// One factor more.
    ///
    /// The cut loses less than one unit of a number that is at least 2¹²⁶: 2⁻¹²⁶ relative, hence
    /// less than 4 units of one below 2¹²⁸, now and after any later step.
    #[inline(always)]
    pub(super) fn times(self, factor: Scaled) -> Self {
        let (high, shift) = highest_bit_set(scale(self.high, factor.mantissa));
        WideProduct {
            high,
            exponent: self.exponent.wrapping_add(factor.exponent + 64 - shift),
            cuts: self.cuts + 1,
        }
    }

    /// The product of two running products.
    ///
    /// Three partial products are cut, each by less than one unit of a number of at least 2¹²⁶.
    #[inline]
    pub(super) fn join(self, other: Self) -> Self {
        let (a1, a0) = ((self.high >> 64) as u64, self.high as u64);
        let (b1, b0) = ((other.high >> 64) as u64, other.high as u64);
        let cross_ab = u128::from(a1) * u128::from(b0);
        let cross_ba = u128::from(a0) * u128::from(b1);
        let product = u128::from(a1) * u128::from(b1) + (cross_ab >> 64) + (cross_ba >> 64);
        let (high, shift) = highest_bit_set(product);
        WideProduct {
            high,
            exponent: self
                .exponent
                .wrapping_add(other.exponent)
                .wrapping_add(128 - shift),
            cuts: self.cuts + other.cuts + 3,
        }
    }

    /// The product rounded to 64 bits, halves up, or `None` where what was cut off could decide.
    #[inline]
    pub(super) fn rounded(self) -> Option<Scaled> {
        const HALF: u64 = 1 << 63;
        if self.high == 0 {
            return Some(Scaled::ZERO);
        }
        let low = self.high as u64;
        if low < HALF && self.cuts > 0 && HALF - low <= self.cuts.saturating_mul(4) {
            return None;
        }
        Some(Scaled::round_normal(self.high, self.exponent))
    }
}

/// The product of `factor(0)` to `factor(n − 1)`, rounded once: 64 bits, halves up.
///
/// 128 bits decide the rounding but for one case in some 2⁶⁰; there the exact product does.
/// Long products run in four chains, whose multiplications need not wait for each other; how they
/// are joined cannot change what is rounded correctly.
#[inline(always)]
pub(crate) fn product(n: usize, factor: impl Fn(usize) -> Scaled) -> Scaled {
    const CHAINS: usize = 4;
    let mut chains = [WideProduct::ONE; CHAINS];
    let whole = n - n % CHAINS;
    for i in (0..whole).step_by(CHAINS) {
        for (c, chain) in chains.iter_mut().enumerate() {
            *chain = chain.times(factor(i + c));
        }
    }
    let mut wide = chains[0];
    if whole > 0 {
        wide = wide.join(chains[1]).join(chains[2].join(chains[3]));
    }
    for i in whole..n {
        wide = wide.times(factor(i));
    }
    match wide.rounded() {
        Some(result) => result,
        None => exact_product(&(0..n).map(factor).collect::<Vec<_>>()),
    }
}

/// The exact product, rounded once: 64 bits, halves up.
#[cold]
pub(crate) fn exact_product(factors: &[Scaled]) -> Scaled {
    fn multiply(factors: &[Scaled]) -> BigUint {
        match factors {
            [] => BigUint::from(1u8),
            [factor] => BigUint::from(factor.mantissa),
            _ => {
                let (left, right) = factors.split_at(factors.len() / 2);
                multiply(left) * multiply(right)
            }
        }
    }
    if factors.iter().any(|f| f.is_zero()) {
        return Scaled::ZERO;
    }
    let product = multiply(factors);
    let exponent: i64 = factors.iter().map(|f| f.exponent).sum();
    // The leading 65 bits decide, because halves are rounded up whatever follows them.
    let shift = product.bits().saturating_sub(65);
    let leading = (product >> shift)
        .iter_u64_digits()
        .rev()
        .fold(0u128, |n, digit| n << 64 | u128::from(digit));
    Scaled::round(leading, exponent + shift as i64)
}

#[cfg(test)]
mod tests;
