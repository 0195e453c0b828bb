//! An exact accumulator for doubles: any order of the terms gives the same bits.
//!
//! Every finite double is an integer multiple of 2⁻¹⁰⁷⁴ below 2¹⁰²⁴, so a fixed-point number of
//! some 2100 bits holds any sum of them exactly. The number is kept as signed 64-bit chunks of
//! weight 2³²: a term touches three of them, and carries are passed on only once in 2³⁰ additions.
//!
//! | input | effect |
//! |---|---|
//! | finite, zero included | added exactly |
//! | `+∞` or `−∞` | the sum is that infinity; both together: NaN |
//! | NaN | the sum is NaN |

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bits of weight in one chunk.
const CHUNK_BITS: u32 = 32;
/// 2⁻¹⁰⁷⁴ to 2¹⁰²⁴ is 2098 bits; two further chunks hold the carries of 2⁶³ additions.
const CHUNKS: usize = 68;
/// Each addition changes a chunk by less than 2³², so 2³⁰ of them cannot overflow 63 bits.
const ADDS_BETWEEN_CARRIES: u32 = 1 << 30;
/// The exponent of the lowest bit.
const LOWEST: i32 = -1074;

/// The exact sum of any number of doubles, in constant space.
///
/// Merging two accumulators gives exactly the sum of all their terms, so that shards, threads and
/// groups of evidence agree to the bit with one pass over everything.
///
/// ```
/// use lpf::math::ExactSum;
/// let terms = [1e300, 1.0, -1e300, 1e-300];
/// let sum: ExactSum = terms.into_iter().collect();
/// let reversed: ExactSum = terms.into_iter().rev().collect();
/// assert_eq!(sum, reversed);
/// assert_eq!(sum.to_f64(), 1.0); // from left to right, doubles give 1e-300
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct ExactSum {
    chunks: [i64; CHUNKS],
    adds: u32,
    /// Plain sum of the non-finite terms: `0`, `±∞` or NaN.
    pub(crate) special: f64,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self::new()
    }
}

impl ExactSum {
    /// The empty sum, zero.
    pub const fn new() -> Self {
        ExactSum {
            chunks: [0; CHUNKS],
            adds: 0,
            special: 0.0,
        }
    }

    /// Adds one term. Any bits are allowed.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let bits = x.to_bits();
        let exponent = (bits >> 52) as u32 & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        if exponent == 0x7ff {
            self.special += x;
            return;
        }
        // Subnormals have the scale of exponent one and no hidden bit.
        let (mantissa, position) = if exponent == 0 {
            (fraction, 0)
        } else {
            (fraction | 1 << 52, exponent - 1)
        };
        // 0 or −1: exclusive or and subtraction negate a part, or leave it.
        let sign = -((bits >> 63) as i64);
        let signed = |part: u64| (part as i64 ^ sign) - sign;
        let chunk = (position / CHUNK_BITS) as usize;
        let wide = u128::from(mantissa) << (position % CHUNK_BITS);
        self.chunks[chunk] += signed(u64::from(wide as u32));
        self.chunks[chunk + 1] += signed(u64::from((wide >> 32) as u32));
        self.chunks[chunk + 2] += signed((wide >> 64) as u64);
        self.adds += 1;
        if self.adds == ADDS_BETWEEN_CARRIES {
            self.carry();
        }
    }

    /// Adds several terms, faster than one by one: those of ordinary size, from 2⁻⁶⁰ up to 16, are
    /// multiples of 2⁻¹¹² below 2¹¹⁶ units, 1024 of which fit a register of 128 bits.
    pub fn add_all(&mut self, terms: &[f64]) {
        // Exponent fields of 2⁻⁶⁰ and of the first power of two beyond the band.
        const BAND: std::ops::Range<u64> = 963..1027;
        // Three pieces of 43 bits, each a double, hold 128.
        const PIECE: u32 = 43;
        for block in terms.chunks(1 << 10) {
            let mut units = 0i128;
            for &x in block {
                let bits = x.to_bits();
                let exponent = (bits >> 52) & 0x7ff;
                if !BAND.contains(&exponent) {
                    self.add(x);
                    continue;
                }
                let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
                let wide = i128::from(mantissa) << (exponent - BAND.start);
                let sign = i128::from((bits as i64) >> 63);
                units += (wide ^ sign) - sign;
            }
            let mut left = units.unsigned_abs();
            let mut unit = f64::from_bits((1023 - 112) << 52);
            while left > 0 {
                let piece = (left & ((1 << PIECE) - 1)) as f64 * unit;
                self.add(if units < 0 { -piece } else { piece });
                left >>= PIECE;
                unit *= (1u64 << PIECE) as f64;
            }
        }
    }

    /// Adds all terms of `other`.
    pub fn merge(&mut self, other: &ExactSum) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        for (a, b) in self.chunks.iter_mut().zip(&other.chunks) {
            *a += b;
        }
        self.adds += 1;
        self.special += other.special;
    }

    /// The sum, rounded once to the nearest double (ties to even).
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.round(f64::MANTISSA_DIGITS, 0)
    }

    /// The sum, rounded once to the nearest single (ties to even).
    #[must_use]
    pub fn to_f32(&self) -> f32 {
        // The lowest bit of a single is 2⁻¹⁴⁹. The rounded value is representable, or too large
        // for a single and then beyond the last rounding boundary: the cast is exact either way.
        self.round(f32::MANTISSA_DIGITS, (-149 - LOWEST) as u32) as f32
    }

    /// Passes carries upwards so that every chunk but the last is in `[0, 2³²)`.
    fn carry(&mut self) {
        pass_carries(&mut self.chunks);
        self.adds = 0;
    }

    /// Rounds to `digits` significant bits, none below bit `lowest_bit` of the accumulator.
    fn round(&self, digits: u32, lowest_bit: u32) -> f64 {
        if self.special != 0.0 || self.special.is_nan() {
            return self.special;
        }
        // Terms of like size touch a few chunks only; one more takes their carry.
        let mut chunks = self.chunks;
        let Some(first) = chunks.iter().position(|&c| c != 0) else {
            return 0.0;
        };
        let last = chunks.iter().rposition(|&c| c != 0).unwrap_or(first);
        let used = &mut chunks[first..CHUNKS.min(last + 2)];
        pass_carries(used);
        let negative = used.last().is_some_and(|&c| c < 0);
        if negative {
            for chunk in used.iter_mut() {
                *chunk = -*chunk;
            }
            pass_carries(used);
        }
        let Some(top) = used.iter().rposition(|&c| c != 0) else {
            return 0.0;
        };
        let top = first + top;
        // The leading 96 bits, and whether anything follows. With `top` < 2 the missing lower
        // chunks are zeros, which keeps one formula for all cases.
        let at = |i: usize| chunks.get(i).map_or(0, |&c| c as u128);
        let below = |k: usize| top.checked_sub(k).map_or(0, at);
        let leading = at(top) << 64 | below(1) << 32 | below(2);
        let below_leading = chunks.get(first..top.saturating_sub(2));
        let sticky = below_leading.is_some_and(|low| low.iter().any(|&c| c != 0));
        // Bit 0 of `leading` has weight 2^(LOWEST + base).
        let base = CHUNK_BITS as i32 * (top as i32 - 2);
        let length = (u128::BITS - leading.leading_zeros()) as i32;
        let drop = (length - digits as i32)
            .max(lowest_bit as i32 - base)
            .max(-base);
        let rounded = if drop <= 0 {
            leading << -drop
        } else if drop >= 128 {
            0
        } else {
            let quotient = leading >> drop;
            let rest = leading & ((1 << drop) - 1);
            let half = 1 << (drop - 1);
            let up = rest > half || rest == half && (sticky || quotient & 1 == 1);
            quotient + u128::from(up)
        };
        // `rounded` has at most `digits` bits (or is the next power of two): the cast is exact,
        // and so is the scaling, except beyond the largest double, where ∞ is the rounded value.
        let magnitude = libm::scalbn(rounded as f64, LOWEST + base + drop);
        if negative { -magnitude } else { magnitude }
    }
}

/// Passes carries upwards so that every chunk but the last is in `[0, 2³²)`.
fn pass_carries(chunks: &mut [i64]) {
    let Some((last, others)) = chunks.split_last_mut() else {
        return;
    };
    let mut carry = 0i64;
    for chunk in others {
        let value = *chunk + carry;
        carry = value >> CHUNK_BITS;
        *chunk = value & ((1 << CHUNK_BITS) - 1);
    }
    *last += carry;
}

impl PartialEq for ExactSum {
    /// Whether the two sums are equal as numbers, before any rounding.
    fn eq(&self, other: &Self) -> bool {
        let (mut a, mut b) = (self.clone(), other.clone());
        a.carry();
        b.carry();
        a.chunks == b.chunks && a.special.to_bits() == b.special.to_bits()
    }
}

/// How a sum is stored: the chunks that are not zero, after all carries, and what was not finite.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    chunks: Vec<(usize, i64)>,
    infinite: i8,
    not_a_number: bool,
}

impl Serialize for ExactSum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sum = self.clone();
        sum.carry();
        let chunks = sum.chunks.into_iter().enumerate();
        Stored {
            chunks: chunks.filter(|(_, chunk)| *chunk != 0).collect(),
            infinite: if self.special > 0.0 {
                1
            } else if self.special < 0.0 {
                -1
            } else {
                0
            },
            not_a_number: self.special.is_nan(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ExactSum {
    /// Refuses chunks that no sum has after its carries.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let mut sum = ExactSum::new();
        for (index, value) in stored.chunks {
            // The last chunk holds the sign and what 2⁶³ additions can carry that far.
            let limit = 1i64 << CHUNK_BITS;
            let allowed = match index {
                i if i < CHUNKS - 1 => 0..limit,
                _ => -limit..limit,
            };
            let chunk = sum
                .chunks
                .get_mut(index)
                .filter(|_| allowed.contains(&value));
            *chunk.ok_or_else(|| serde::de::Error::custom("not a sum of numbers"))? = value;
        }
        sum.special = match (stored.not_a_number, stored.infinite) {
            (true, _) => f64::NAN,
            (_, 0) => 0.0,
            (_, sign) if sign > 0 => f64::INFINITY,
            _ => f64::NEG_INFINITY,
        };
        Ok(sum)
    }
}

impl Extend<f64> for ExactSum {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, terms: I) {
        for term in terms {
            self.add(term);
        }
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = ExactSum::new();
        sum.extend(terms);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;
    use num_traits::{Signed, ToPrimitive};
    use proptest::prelude::*;

    fn oracle(terms: &[f64]) -> f64 {
        let exact: BigRational = terms
            .iter()
            .map(|&x| BigRational::from_float(x).unwrap())
            .sum();
        exact.to_f64().unwrap()
    }

    fn any_finite() -> impl Strategy<Value = f64> {
        any::<u64>()
            .prop_map(f64::from_bits)
            .prop_filter("finite", |x| x.is_finite())
    }

    proptest! {
        #[test]
        fn equals_the_exact_rational_sum_rounded_once(
            terms in prop::collection::vec(any_finite(), 0..40)
        ) {
            let sum: ExactSum = terms.iter().copied().collect();
            prop_assert_eq!(sum.to_f64(), oracle(&terms));
        }

        #[test]
        fn close_exponents_round_to_even_like_the_oracle(
            terms in prop::collection::vec((-(1i64 << 53)..(1 << 53), -4i32..60), 1..12)
        ) {
            let terms: Vec<f64> = terms.iter().map(|&(m, e)| m as f64 * 2f64.powi(e)).collect();
            let sum: ExactSum = terms.iter().copied().collect();
            prop_assert_eq!(sum.to_f64(), oracle(&terms));
        }

        #[test]
        fn singles_are_rounded_once(terms in prop::collection::vec(any::<f32>(), 0..8)) {
            prop_assume!(terms.iter().all(|x| x.is_finite()));
            let sum: ExactSum = terms.iter().map(|&x| f64::from(x)).collect();
            let exact: BigRational = terms.iter().map(|&x| BigRational::from_float(x).unwrap()).sum();
            // Not `exact.to_f32()`, which rounds to a double first.
            let got = sum.to_f32();
            prop_assume!(got.is_finite());
            let off = |x: f32| (BigRational::from_float(x).unwrap() - &exact).abs();
            for neighbour in [got.next_up(), got.next_down()].into_iter().filter(|x| x.is_finite()) {
                prop_assert!(off(got) < off(neighbour)
                    || off(got) == off(neighbour) && got.to_bits() & 1 == 0);
            }
        }

        #[test]
        fn merging_and_reversing_change_nothing(
            terms in prop::collection::vec(any::<u64>().prop_map(f64::from_bits), 0..40),
            cut in 0usize..40,
        ) {
            let whole: ExactSum = terms.iter().copied().collect();
            let cut = cut.min(terms.len());
            let mut merged: ExactSum = terms[cut..].iter().copied().collect();
            merged.merge(&terms[..cut].iter().copied().collect());
            let reversed: ExactSum = terms.iter().rev().copied().collect();
            for other in [merged, reversed] {
                prop_assert_eq!(other.to_f64().is_nan(), whole.to_f64().is_nan());
                if !whole.to_f64().is_nan() {
                    prop_assert_eq!(other.to_f64().to_bits(), whole.to_f64().to_bits());
                }
            }
        }
    }

    #[test]
    fn a_stored_sum_is_the_same_sum() {
        for terms in [
            &[][..],
            &[0.1, 1e300, -1e-300, 3.0],
            &[-0.1, f64::MIN, f64::MIN],
            &[f64::NEG_INFINITY],
            &[f64::NAN],
        ] {
            let sum: ExactSum = terms.iter().copied().collect();
            let text = serde_json::to_string(&sum).unwrap();
            let back: ExactSum = serde_json::from_str(&text).unwrap();
            assert!(back == sum || back.to_f64().is_nan() && sum.to_f64().is_nan());
        }
        for bad in [
            r#"[[68,1]]"#,
            r#"[[0,-1]]"#,
            r#"[[3,4294967296]]"#,
            r#"[[18446744073709551615,0]]"#,
        ] {
            let text = format!("{{\"chunks\":{bad},\"infinite\":0,\"not_a_number\":false}}");
            assert!(serde_json::from_str::<ExactSum>(&text).is_err(), "{bad}");
        }
    }

    #[test]
    fn edges() {
        let tiny = f64::from_bits(1);
        let cases: &[(&[f64], f64)] = &[
            (&[], 0.0),
            (&[-0.0], 0.0),
            (&[tiny, tiny], f64::from_bits(2)),
            (&[1.0, tiny, -1.0], tiny),
            (&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX),
            (&[f64::MAX, f64::MAX], f64::INFINITY),
            (&[-f64::MAX, -f64::MAX], f64::NEG_INFINITY),
            (&[1.0, f64::EPSILON / 2.0], 1.0),
            (&[1.0, f64::EPSILON / 2.0, tiny], 1.0 + f64::EPSILON),
            (&[f64::INFINITY, -1.0], f64::INFINITY),
        ];
        for (terms, expected) in cases {
            let sum: ExactSum = terms.iter().copied().collect();
            assert_eq!(sum.to_f64(), *expected, "{terms:?}");
        }
        let both: ExactSum = [f64::INFINITY, f64::NEG_INFINITY].into_iter().collect();
        assert!(both.to_f64().is_nan());
    }

    #[test]
    fn carries_do_not_depend_on_when_they_are_passed_on() {
        let mut early = ExactSum::new();
        let mut late = ExactSum::new();
        for i in 0..1000 {
            let x = f64::MAX / f64::from(i + 1) * if i % 3 == 0 { -1.0 } else { 1.0 };
            early.add(x);
            early.carry();
            late.add(x);
        }
        assert_eq!(early, late);
        assert_eq!(early.to_f64().to_bits(), late.to_f64().to_bits());
    }

    /// A little more than half of the least single is the least single, and half of it is none: rounded once.
    #[test]
    fn small_singles_are_rounded_once() {
        let half = libm::exp2(-150.0);
        let of = |terms: &[f64]| {
            terms
                .iter()
                .copied()
                .collect::<ExactSum>()
                .to_f32()
                .to_bits()
        };
        assert_eq!(of(&[half, half * libm::exp2(-40.0)]), 1);
        assert_eq!(of(&[half]), 0);
        assert_eq!(of(&[half, 2.0 * half, -half * libm::exp2(-40.0)]), 1);
        assert_eq!(of(&[half, 2.0 * half]), 2);
    }

    /// Numbers of the band and their opposites leave exactly what stands beside them.
    #[test]
    fn what_is_added_at_once_cancels_to_nothing() {
        let x: Vec<f64> = (1..=500).map(|i| f64::from(i) / 37.0).collect();
        let mut terms: Vec<f64> = x.iter().flat_map(|x| [*x, -x]).collect();
        let of = |terms: &[f64]| {
            let mut sum = ExactSum::new();
            sum.add_all(terms);
            sum.to_f64()
        };
        assert_eq!(of(&terms), 0.0);
        terms.push(-libm::exp2(-60.0));
        assert_eq!(of(&terms), -libm::exp2(-60.0));
    }
}
