//! Many numbers at once, with the bits of [`Scaled`].
//!
//! What [`Scaled`] does with words of 128 bits and branches is done here with words of 64 bits and without, in
//! loops over a block of numbers: a compiler makes vectors of them.

use super::{Scaled, ZERO_EXPONENT};

/// How many numbers are worked on at once: few enough to stay in the first cache, many enough for any vector.
pub(in crate::spn) const BLOCK: usize = 64;

const HIGHEST: u64 = 1 << 63;
/// What the exponent of a double is above that of [`Scaled::from_f64`].
const BIAS: i64 = 1075 + 11;

/// Numbers side by side, mantissas and exponents apart.
#[derive(Clone, Copy, Debug)]
pub(in crate::spn) struct Block {
    mantissas: [u64; BLOCK],
    exponents: [i64; BLOCK],
}

impl Block {
    pub(in crate::spn) const ZERO: Block = Block {
        mantissas: [0; BLOCK],
        exponents: [ZERO_EXPONENT; BLOCK],
    };

    /// The numbers at the given places, at most [`BLOCK`].
    #[inline(always)]
    pub(in crate::spn) fn gather(&mut self, values: &[Scaled], places: &[u32]) {
        // Four at a time: with a check of bounds for each, no compiler does this by itself.
        let (fours, rest) = places.as_chunks::<4>();
        let mut begin = 0;
        for four in fours {
            let Some(mantissas) = self.mantissas[begin..].first_chunk_mut::<4>() else {
                return;
            };
            let Some(exponents) = self.exponents[begin..].first_chunk_mut::<4>() else {
                return;
            };
            for i in 0..4 {
                let value = values[four[i] as usize];
                (mantissas[i], exponents[i]) = (value.mantissa, value.exponent);
            }
            begin += 4;
        }
        for (i, &place) in rest.iter().enumerate() {
            let value = values[place as usize];
            self.mantissas[begin + i] = value.mantissa;
            self.exponents[begin + i] = value.exponent;
        }
    }

    #[inline(always)]
    pub(in crate::spn) fn scatter(&self, values: &mut [Scaled], places: &[u32]) {
        let numbers = self.mantissas.iter().zip(&self.exponents);
        for (&place, (&mantissa, &exponent)) in places.iter().zip(numbers) {
            values[place as usize] = Scaled { mantissa, exponent };
        }
    }

    /// The first `count` numbers times as many others: [`Scaled::times`].
    #[inline(always)]
    pub(in crate::spn) fn times(&mut self, other: &Self, count: usize) {
        let slots = self.mantissas[..count]
            .iter_mut()
            .zip(&mut self.exponents[..count]);
        let others = other.mantissas[..count]
            .iter()
            .zip(&other.exponents[..count]);
        for ((mantissa, exponent), (&m, &e)) in slots.zip(others) {
            let (high, low) = multiplied(*mantissa, m);
            // At most one bit is missing at the top.
            let number = rounded(high, low, *exponent + e, !high >> 63);
            (*mantissa, *exponent) = (number.mantissa, number.exponent);
        }
    }
}

/// [`Scaled::sum_of_products`] of weights and numbers, for each place of a block: in two rounds over all terms.
/// Domain: positive normal weights.
#[derive(Clone, Copy, Debug)]
pub(in crate::spn) struct Sums {
    /// The largest exponents of a term.
    tops: [i64; BLOCK],
    high: [u64; BLOCK],
    low: [u64; BLOCK],
}

impl Sums {
    pub(in crate::spn) const EMPTY: Sums = Sums {
        tops: [i64::MIN; BLOCK],
        high: [0; BLOCK],
        low: [0; BLOCK],
    };

    /// The first round: the exponents of one term, and which term is largest.
    #[inline(always)]
    pub(in crate::spn) fn look_at(&mut self, weights: &[f64], term: &mut Block) {
        let tops = self.tops[..weights.len()].iter_mut();
        let exponents = term.exponents[..weights.len()].iter_mut();
        for ((top, exponent), weight) in tops.zip(exponents).zip(weights) {
            *exponent += (weight.to_bits() >> 52) as i64 - BIAS;
            *top = (*top).max(*exponent);
        }
    }

    /// The second round: a term is cut at the common place and added. `headroom` is as in
    /// [`Scaled::sum_of_products`].
    #[inline(always)]
    pub(in crate::spn) fn add(&mut self, weights: &[f64], term: &Block, headroom: u32) {
        let count = weights.len();
        let sums = self.high[..count].iter_mut().zip(&mut self.low[..count]);
        let terms = term.mantissas[..count].iter().zip(&term.exponents[..count]);
        let terms = terms.zip(&self.tops[..count]).zip(weights);
        for ((high, low), (((&mantissa, exponent), top), weight)) in sums.zip(terms) {
            let product = multiplied(weight.to_bits() << 11 | HIGHEST, mantissa);
            let cut = shifted(product, (top - exponent) as u64 + u64::from(headroom));
            *low = low.wrapping_add(cut.1);
            *high += cut.0 + u64::from(*low < cut.1);
        }
    }

    /// The sums, rounded.
    #[inline(always)]
    pub(in crate::spn) fn round(&self, sums: &mut Block, count: usize, headroom: u32) {
        let slots = sums.mantissas[..count]
            .iter_mut()
            .zip(&mut sums.exponents[..count]);
        let totals = self.high[..count].iter().zip(&self.low[..count]);
        for ((mantissa, exponent), ((&high, &low), top)) in
            slots.zip(totals.zip(&self.tops[..count]))
        {
            // The largest term alone reaches the higher word.
            let missing = u64::from(high.leading_zeros());
            let number = rounded(high, low, top + i64::from(headroom), missing);
            (*mantissa, *exponent) = (number.mantissa, number.exponent);
        }
    }
}

/// Two words times `2^exponent`, rounded to 64 bits, halves up; `missing` are the zeros in front. Zero where the
/// higher word is.
#[inline(always)]
fn rounded(high: u64, low: u64, exponent: i64, missing: u64) -> Scaled {
    let missing = missing & 63;
    // A shift by 64 in two steps, as none may be missing.
    let top = high << missing | (low >> 1) >> (63 - missing);
    let mantissa = top.wrapping_add((low << missing) >> 63);
    // What is rounded up to a power of two has overflowed.
    let carried = mantissa == 0;
    let number = if carried { HIGHEST } else { mantissa };
    let place = exponent + 64 - missing as i64 + i64::from(carried);
    let nothing = high == 0;
    Scaled {
        mantissa: if nothing { 0 } else { number },
        exponent: if nothing { ZERO_EXPONENT } else { place },
    }
}

/// The product in two words, from those of the halves.
#[inline(always)]
fn multiplied(a: u64, b: u64) -> (u64, u64) {
    const HALF: u64 = 0xffff_ffff;
    let (a1, a0) = (a >> 32, a & HALF);
    let (b1, b0) = (b >> 32, b & HALF);
    let lowest = a0 * b0;
    // Neither overflows: (2³² − 1)² + 2·(2³² − 1) = 2⁶⁴ − 1.
    let middle = a1 * b0 + (lowest >> 32);
    let other = a0 * b1 + (middle & HALF);
    let high = a1 * b1 + (middle >> 32) + (other >> 32);
    (high, other << 32 | lowest & HALF)
}

/// `(high, low) >> shift`, for any shift.
#[inline(always)]
fn shifted((high, low): (u64, u64), shift: u64) -> (u64, u64) {
    // By whole words first.
    let low = if shift < 64 { low } else { high };
    let low = if shift < 128 { low } else { 0 };
    let high = if shift < 64 { high } else { 0 };
    let shift = shift & 63;
    (high >> shift, low >> shift | (high << 1) << (63 - shift))
}

#[cfg(test)]
mod tests {
    use super::super::tests::any_scaled;
    use super::*;
    use proptest::prelude::*;
    use pulp::Arch;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Against [`Scaled`], in this processor's vectors and without them.
        #[test]
        fn products_and_sums_have_the_bits_of_one_at_a_time(
            numbers in prop::collection::vec(any_scaled(), 3 * BLOCK),
            weights in prop::collection::vec(f64::MIN_POSITIVE..1e3, 3 * BLOCK),
            near in any::<bool>(),
            count in 0..=BLOCK,
            terms in 1usize..4,
        ) {
            // Terms of one size reach other places than those far apart.
            let numbers: Vec<Scaled> = numbers
                .into_iter()
                .map(|x| if near && !x.is_zero() { Scaled { exponent: x.exponent % 4, ..x } } else { x })
                .collect();
            let places: Vec<u32> = (0..3 * BLOCK as u32).collect();
            let rows: Vec<&[u32]> = places.chunks(BLOCK).map(|row| &row[..count]).collect();
            let weights: Vec<&[f64]> = weights.chunks(BLOCK).map(|row| &row[..count]).collect();
            let compute = || {
                let mut blocks = [Block::ZERO; 3];
                for (block, row) in blocks.iter_mut().zip(&rows) {
                    block.gather(&numbers, row);
                }
                let mut products = blocks[0];
                products.times(&blocks[1], count);
                let (mut sums, mut block) = (Sums::EMPTY, Block::ZERO);
                let headroom = usize::BITS - terms.leading_zeros();
                for k in 0..terms {
                    sums.look_at(weights[k], &mut blocks[k]);
                }
                for k in 0..terms {
                    sums.add(weights[k], &blocks[k], headroom);
                }
                sums.round(&mut block, count, headroom);
                [products, block].map(|block| {
                    let mut to = vec![Scaled::ONE; BLOCK];
                    block.scatter(&mut to, rows[0]);
                    to
                })
            };
            let [products, sums] = compute();
            prop_assert_eq!(&[products.clone(), sums.clone()], &Arch::new().dispatch(compute));
            for i in 0..count {
                let number = |k: usize| numbers[k * BLOCK + i];
                prop_assert_eq!(products[i], number(0).times(number(1)));
                let want = Scaled::sum_of_products(terms, |k| {
                    (Scaled::from_f64(weights[k][i]), number(k))
                });
                prop_assert_eq!(sums[i], want);
            }
        }
    }
}
