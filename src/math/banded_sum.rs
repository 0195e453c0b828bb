//! An exact sum that is fast for terms of ordinary size.
//!
//! [`ExactSum`] spreads every term over three of its 68 chunks. Log-scores and probabilities
//! nearly always lie in the band `[2⁻³⁰, 2¹⁴)`, where every double is a multiple of 2⁻⁸² below
//! 2¹⁴: 96 bits. One 128-bit integer then holds the sum of 2³⁰ of them, exactly, and terms outside
//! the band go to an [`ExactSum`] beside it.

use super::ExactSum;
use super::lanes::{LANES, Lanes};

/// Exponent fields of 2⁻³⁰ and of the first power of two beyond the band, 2¹⁴.
const BAND: std::ops::Range<u32> = 993..1037;
/// The unit of the integer: the last place of 2⁻³⁰.
const UNIT: f64 = f64::from_bits((1023 - 82) << 52);
/// A term is below 2⁹⁶ units, so 2³⁰ of them stay below 2¹²⁶.
const ADDS_BETWEEN_SPILLS: u32 = 1 << 30;

/// Few enough for the counter, many enough for the loop.
const BLOCK: usize = 1 << 12;

/// The exact sum of any number of doubles: the same numbers as [`ExactSum`], in less time and, as
/// long as all terms lie in `[2⁻³⁰, 2¹⁴)` or are zero, in less space.
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct BandedSum {
    /// Sum of the terms in the band, in units of 2⁻⁸².
    pub(crate) band: i128,
    adds: u32,
    /// Sum of all other terms.
    rest: Option<Box<ExactSum>>,
}

impl BandedSum {
    /// The empty sum, zero.
    pub const fn new() -> Self {
        BandedSum {
            band: 0,
            adds: 0,
            rest: None,
        }
    }

    /// Adds one term. Any bits are allowed.
    pub fn add(&mut self, x: f64) {
        self.add_all(&[x]);
    }

    /// Adds several terms, faster than one by one: the integer stays in registers.
    pub fn add_all(&mut self, terms: &[f64]) {
        for block in terms.chunks(BLOCK) {
            self.count(block.len());
            let mut band = self.band;
            for &x in block {
                let bits = x.to_bits();
                let exponent = (bits >> 52) as u32 & 0x7ff;
                if !BAND.contains(&exponent) {
                    self.add_outside(x);
                    continue;
                }
                let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
                let units = i128::from(mantissa) << (exponent - BAND.start);
                // All ones for negative numbers: −m is the complement of m, plus one.
                let sign = i128::from((bits as i64) >> 63);
                band += (units ^ sign) - sign;
            }
            self.band = band;
        }
    }

    /// [`BandedSum::add_all`] in operations that are vectors where the caller has them.
    #[inline(always)]
    pub(crate) fn add_lanes(&mut self, terms: &[Lanes]) {
        for block in terms.chunks(BLOCK / LANES) {
            self.count(block.len() * LANES);
            let mut parts = [[0u64; LANES]; 3];
            let mut outside = 0;
            for terms in block {
                let (mut low, mut high, mut sign) = ([0; LANES], [0; LANES], [0; LANES]);
                for lane in 0..LANES {
                    let bits = terms[lane].to_bits();
                    // Wraps around below the band.
                    let shift = (bits >> 52 & 0x7ff).wrapping_sub(u64::from(BAND.start));
                    // All ones within it.
                    let inside =
                        u64::from(shift >= u64::from(BAND.end - BAND.start)).wrapping_sub(1);
                    outside |= !inside & bits << 1;
                    let mantissa = (bits & ((1 << 52) - 1) | 1 << 52) & inside;
                    let shift = shift & 63;
                    // The 97 bits of the term; a shift by 64 in two steps.
                    low[lane] = mantissa << shift;
                    high[lane] = (mantissa >> 1) >> (63 - shift);
                    sign[lane] = (bits as i64 >> 63) as u64;
                }
                // In pieces of 32 bits, each of which has room for the carries of a block. Two's
                // complement: all wraps around as signed numbers do.
                let mut add = |part: usize, lane: usize, piece: u64| {
                    let signed = (piece ^ sign[lane]).wrapping_sub(sign[lane]);
                    parts[part][lane] = parts[part][lane].wrapping_add(signed);
                };
                for lane in 0..LANES {
                    add(0, lane, low[lane] & 0xffff_ffff);
                    add(1, lane, low[lane] >> 32);
                    add(2, lane, high[lane]);
                }
            }
            let total =
                |part: [u64; LANES]| part.iter().fold(0, |sum: u64, x| sum.wrapping_add(*x));
            let [low, middle, high] = parts.map(|part| i128::from(total(part) as i64));
            self.band += low + (middle << 32) + (high << 64);
            if outside != 0 {
                for &x in block.as_flattened() {
                    if !BAND.contains(&((x.to_bits() >> 52) as u32 & 0x7ff)) {
                        self.add_outside(x);
                    }
                }
            }
        }
    }

    /// Makes sure that the integer has room for so many more terms, at most [`BLOCK`].
    #[inline(always)]
    fn count(&mut self, terms: usize) {
        let adds = terms as u32;
        if self.adds + adds >= ADDS_BETWEEN_SPILLS {
            self.spill();
        }
        self.adds += adds;
    }

    /// The sum as two doubles, of which the first is [`BandedSum::to_f64`], where two hold it exactly;
    /// none where they do not, or a term was outside the band.
    pub(crate) fn as_two(&self) -> Option<(f64, f64)> {
        if self.rest.is_some() {
            return None;
        }
        // Whole numbers below 2¹²⁷, or that itself, which saturates and then leaves no small rest.
        let high = self.band as f64;
        let rest = self.band.checked_sub(high as i128)?;
        let low = rest as f64;
        (low as i128 == rest).then_some((high * UNIT, low * UNIT))
    }

    #[cold]
    fn add_outside(&mut self, x: f64) {
        if x != 0.0 {
            self.rest.get_or_insert_default().add(x);
        }
    }

    /// Adds all terms of `other`.
    pub fn merge(&mut self, other: &BandedSum) {
        if self.adds + other.adds >= ADDS_BETWEEN_SPILLS {
            self.spill();
        }
        self.band += other.band;
        self.adds += other.adds;
        if let Some(rest) = &other.rest {
            self.rest.get_or_insert_default().merge(rest);
        }
    }

    /// The sum, rounded once to the nearest double (ties to even).
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        match &self.rest {
            // The conversion rounds to nearest, ties to even; scaling by a power of two is exact,
            // as the result is zero or a normal number.
            None => self.band as f64 * UNIT,
            Some(rest) => {
                let mut all = (**rest).clone();
                add_units(&mut all, self.band);
                all.to_f64()
            }
        }
    }

    /// Makes room in the integer.
    fn spill(&mut self) {
        add_units(self.rest.get_or_insert_default(), self.band);
        self.band = 0;
        self.adds = 0;
    }
}

/// Adds `units · 2⁻⁸²`, in pieces that are doubles.
fn add_units(sum: &mut ExactSum, units: i128) {
    const PIECE: u32 = f64::MANTISSA_DIGITS;
    let mut left = units.unsigned_abs();
    let mut unit = if units < 0 { -UNIT } else { UNIT };
    while left > 0 {
        sum.add((left & ((1 << PIECE) - 1)) as f64 * unit);
        left >>= PIECE;
        unit *= (1u64 << PIECE) as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;
    use proptest::prelude::*;
    use pulp::Arch;

    fn both(terms: &[f64]) -> (f64, f64) {
        let exact: ExactSum = terms.iter().copied().collect();
        let mut banded = BandedSum::new();
        banded.add_all(terms);
        (banded.to_f64(), exact.to_f64())
    }

    /// In the band, at its edges, and anywhere.
    fn terms() -> impl Strategy<Value = Vec<f64>> {
        let edge = prop_oneof![Just(2f64.powi(-30)), Just(2f64.powi(14))];
        let edge = (edge, -1i64..=1, any::<bool>()).prop_map(|(x, step, negative)| {
            let x = f64::from_bits(x.to_bits().wrapping_add_signed(step));
            if negative { -x } else { x }
        });
        prop::collection::vec(
            prop_oneof![
                6 => -16384.0f64..16384.0,
                3 => -1e-6f64..1e-6,
                2 => edge,
                1 => any::<u64>().prop_map(f64::from_bits),
            ],
            0..40,
        )
    }

    proptest! {
        #[test]
        fn equals_the_exact_sum_to_the_bit(terms in terms()) {
            let (banded, exact) = both(&terms);
            prop_assert_eq!(banded.is_nan(), exact.is_nan());
            prop_assert!(exact.is_nan() || banded.to_bits() == exact.to_bits());
        }

        #[test]
        fn lanes_give_the_same_sum(terms in terms(), more in terms()) {
            let mut lanes: Vec<Lanes> = Vec::new();
            for chunk in terms.chunks(LANES) {
                let mut filled = [0.0; LANES];
                filled[..chunk.len()].copy_from_slice(chunk);
                lanes.push(filled);
            }
            let (mut sum, mut wide) = (BandedSum::new(), BandedSum::new());
            sum.add_all(&more);
            wide.add_all(&more);
            sum.add_all(&terms);
            Arch::new().dispatch(|| wide.add_lanes(&lanes));
            prop_assert_eq!(wide.band, sum.band);
            prop_assert_eq!(wide.rest, sum.rest);
        }

        #[test]
        fn two_doubles_are_the_whole_sum(terms in terms()) {
            let mut sum = BandedSum::new();
            sum.add_all(&terms);
            if let Some((high, low)) = sum.as_two() {
                prop_assert_eq!(high.to_bits(), sum.to_f64().to_bits());
                let exact = |x: f64| BigRational::from_float(x).unwrap();
                let want: BigRational = terms.iter().map(|&x| exact(x)).sum();
                prop_assert_eq!(exact(high) + exact(low), want);
            } else {
                // 96 bits and those of 40 terms are more than two doubles hold only now and then.
                prop_assert!(sum.rest.is_some() || sum.band.unsigned_abs() >> 106 != 0);
            }
        }

        #[test]
        fn merging_changes_nothing(terms in terms(), cut in 0usize..40, spilled in any::<bool>()) {
            let cut = cut.min(terms.len());
            let mut parts = [BandedSum::new(), BandedSum::new()];
            for (i, &x) in terms.iter().enumerate() {
                parts[usize::from(i < cut)].add(x);
            }
            let [mut a, mut b] = parts;
            if spilled {
                b.spill();
            }
            a.merge(&b);
            let (_, exact) = both(&terms);
            prop_assert!(exact.is_nan() && a.to_f64().is_nan() || a.to_f64().to_bits() == exact.to_bits());
        }
    }

    #[test]
    fn the_integer_has_room_for_the_stated_number_of_terms() {
        let largest = f64::from_bits(2f64.powi(14).to_bits() - 1);
        let mut sum = BandedSum::new();
        sum.add(largest);
        let room_for_one = sum.band;
        let room = i128::MAX / room_for_one;
        assert!(room >= 2 * i128::from(ADDS_BETWEEN_SPILLS), "{room}");
        // And a full one is emptied in time.
        sum.adds = ADDS_BETWEEN_SPILLS - 1;
        sum.add(largest);
        assert_eq!((sum.band, sum.adds), (room_for_one, 1));
        assert_eq!(sum.to_f64(), 2.0 * largest);
        let mut other = BandedSum::new();
        other.add(largest);
        other.adds = ADDS_BETWEEN_SPILLS - 1;
        sum.merge(&other);
        assert_eq!(sum.adds, other.adds);
        assert_eq!(sum.to_f64(), 3.0 * largest);
    }
}
