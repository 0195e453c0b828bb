//! Softplus of many numbers at once, with the bits of one at a time.
//!
//! The formulas are those of FreeBSD's msun in `libm`, `expf` and `log1pf`, for the arguments that softplus has for
//! them, without branches: a compiler makes vectors of them. Numbers for which `libm` would have branched off, which
//! are those far from zero and no numbers at all, are left to [`Number::softplus`].

use pulp::{Arch, Simd, WithSimd};

use super::Number;

/// [`Number::softplus`] of each number, and its slope.
pub(super) fn softplus_all(numbers: &[f32], values: &mut [f32], slopes: &mut [f32]) {
    Arch::new().dispatch(Softplus {
        numbers,
        values,
        slopes,
    });
}

struct Softplus<'a> {
    numbers: &'a [f32],
    values: &'a mut [f32],
    slopes: &'a mut [f32],
}

/// Up to here `e^{−|x|}` is a normal number.
const FAR: f32 = 80.0;

impl WithSimd for Softplus<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut near = true;
        let results = self.values.iter_mut().zip(self.slopes.iter_mut());
        for (&x, (value, slope)) in self.numbers.iter().zip(results) {
            near &= x.abs() <= FAR;
            (*value, *slope) = softplus(x);
        }
        if !near {
            let results = self.values.iter_mut().zip(self.slopes);
            for (&x, (value, slope)) in self.numbers.iter().zip(results) {
                (*value, *slope) = x.softplus();
            }
        }
    }
}

/// [`Number::softplus`] near zero.
#[inline(always)]
fn softplus(x: f32) -> (f32, f32) {
    let t = exp_of_non_positive(-x.abs());
    let log = ln_1p_of_share(t);
    let whole = 1.0 + t;
    let (above, numerator) = if x < 0.0 { (0.0, t) } else { (x, 1.0) };
    // Zero is not added: the logarithm is not negative.
    (above + log, numerator / whole)
}

/// `expf`, from −[`FAR`] to zero.
#[inline(always)]
fn exp_of_non_positive(x: f32) -> f32 {
    const LN2_HIGH: f32 = f32::from_bits(0x3f31_7200);
    const LN2_LOW: f32 = f32::from_bits(0x35bf_be8e);
    const INVERSE_LN2: f32 = f32::from_bits(0x3fb8_aa3b);
    const P1: f32 = 1.666_662_5e-1;
    const P2: f32 = -2.766_733_3e-3;
    let size = x.to_bits() & 0x7fff_ffff;
    // x = k·ln 2 + r, with k cut towards zero.
    let k = if size > 0x3f85_1592 {
        (INVERSE_LN2 * x - 0.5) as i32
    } else {
        -1
    };
    let k = if size > 0x3eb1_7218 { k } else { 0 };
    let high = x - k as f32 * LN2_HIGH;
    let low = k as f32 * LN2_LOW;
    let r = high - low;
    let square = r * r;
    let c = r - square * (P1 + square * P2);
    let y = 1.0 + (r * c / (2.0 - c) - low + high);
    let power = f32::from_bits(((k + 127) as u32) << 23);
    if size > 0x3900_0000 {
        y * power
    } else {
        1.0 + x
    }
}

/// `log1pf`, from zero to one.
#[inline(always)]
fn ln_1p_of_share(x: f32) -> f32 {
    const LN2_HIGH: f32 = f32::from_bits(0x3f31_7180);
    const LN2_LOW: f32 = f32::from_bits(0x3717_f7d1);
    const LG1: f32 = 0.666_666_6;
    const LG2: f32 = 0.400_009_72;
    const LG3: f32 = 0.284_987_87;
    const LG4: f32 = 0.242_790_79;
    /// The root of two, less one.
    const REDUCED_FROM: u32 = 0x3ed4_13d0;
    const ROOT_HALF: u32 = 0x3f35_04f3;
    let reduced = x.to_bits() >= REDUCED_FROM;
    // 1 + x = 2^k·(1 + f) with 1 + f between the roots of a half and of two; c is what rounding 1 + x has lost.
    let u = 1.0 + x;
    let shifted = u.to_bits().wrapping_add(0x3f80_0000 - ROOT_HALF);
    let k = if reduced { 1.0 } else { 0.0 };
    let f = f32::from_bits((shifted & 0x007f_ffff) + ROOT_HALF) - 1.0;
    let f = if reduced { f } else { x };
    let c = if reduced { (x - (u - 1.0)) / u } else { 0.0 };
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let t1 = w * (LG2 + w * LG4);
    let t2 = z * (LG1 + w * LG3);
    let r = t2 + t1;
    let half_square = 0.5 * f * f;
    let log = s * (half_square + r) + (k * LN2_LOW + c) - half_square + f + k * LN2_HIGH;
    if x.to_bits() < 0x3380_0000 { x } else { log }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(numbers: &[f32]) {
        let (mut values, mut slopes) = (vec![0.0; numbers.len()], vec![0.0; numbers.len()]);
        softplus_all(numbers, &mut values, &mut slopes);
        let plain = numbers.iter().map(|&x| match x.abs() <= FAR {
            true => softplus(x),
            false => x.softplus(),
        });
        for ((&x, (value, slope)), got) in numbers.iter().zip(plain).zip(values.iter().zip(&slopes))
        {
            let bits = |(a, b): (f32, f32)| (a.to_bits(), b.to_bits());
            assert_eq!(bits((value, slope)), bits(x.softplus()), "{x:e}, plainly");
            assert_eq!(bits((*got.0, *got.1)), bits(x.softplus()), "{x:e}");
        }
    }

    /// Every 331st single from zero to [`FAR`] and its negative, and those beside every power of two.
    #[test]
    fn the_bits_are_those_of_one_at_a_time() {
        let mut bits: Vec<u32> = (0..=FAR.to_bits()).step_by(331).collect();
        for special in [
            0x3f85_1592,
            0x3eb1_7218,
            0x3900_0000,
            0x3ed4_13d0,
            0x3380_0000,
        ] {
            bits.extend(special - 40..special + 40);
        }
        bits.extend((0..133u32).flat_map(|e| (e << 23).saturating_sub(9)..(e << 23) + 9));
        let numbers: Vec<f32> = bits.iter().map(|&b| f32::from_bits(b)).collect();
        same(&numbers);
        same(&numbers.iter().map(|x| -x).collect::<Vec<_>>());
        // Where e^{-x} is beside the branches of the logarithm.
        let near = |t: f32| (-200i32..200).map(move |step| -libm::logf(t) + step as f32 * 1e-7);
        same(
            &near(0.414_213)
                .chain(near(1.0 / 16_777_216.0))
                .collect::<Vec<_>>(),
        );
    }

    #[test]
    fn what_is_far_from_zero_or_no_number_is_left_to_one_at_a_time() {
        for x in [81.0, -81.0, 1e30, -1e30, f32::INFINITY, f32::NEG_INFINITY] {
            same(&[0.5, x, -0.25]);
        }
        let (mut values, mut slopes) = ([0.0; 2], [0.0; 2]);
        softplus_all(&[f32::NAN, 1.0], &mut values, &mut slopes);
        assert!(values[0].is_nan() && slopes[0].is_nan());
        assert_eq!((values[1], slopes[1]), 1f32.softplus());
    }
}
