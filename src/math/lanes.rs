//! Logarithms and exponentials of many numbers at once, with the bits of one at a time.
//!
//! `libm` computes both by the formulas of FreeBSD's msun: a reduction of the argument in integers, a
//! polynomial, and branches for arguments that are special. Without the branches the formulas are the
//! same for every number, and a compiler makes vectors of them: here they stand without, each step in the
//! order of the original, with a mark on the numbers for which a branch would have been taken. Those are
//! left to [`ln`] and [`exp`]. The tests compare bits.

use super::{exp, ln};

/// How many numbers are worked on at once: the width of the widest vectors.
pub(crate) const LANES: usize = 8;

/// One number a lane.
pub(crate) type Lanes = [f64; LANES];

/// `2⁵²`: added to a whole number below it, that number stands in the lowest bits.
const TWO_52: f64 = 4_503_599_627_370_496.0;

const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// The natural logarithms of eight numbers: the bits of [`ln`].
#[inline(always)]
pub(crate) fn ln_lanes(x: &mut Lanes) {
    let given = *x;
    let mut special = false;
    for x in x.iter_mut() {
        special |= !(f64::MIN_POSITIVE..=f64::MAX).contains(x);
        *x = ln_normal(*x);
    }
    if special {
        for (x, given) in x.iter_mut().zip(given) {
            if !(f64::MIN_POSITIVE..=f64::MAX).contains(&given) {
                *x = ln(given);
            }
        }
    }
}

/// The logarithm of a positive normal number.
#[inline(always)]
fn ln_normal(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    const ROOT_HALF: u64 = 0x3fe6_a09e << 32;
    const ONE: u64 = 0x3ff0_0000 << 32;
    const LG1: f64 = f64::from_bits(0x3fe5_5555_5555_5593);
    const LG2: f64 = f64::from_bits(0x3fd9_9999_9997_fa04);
    const LG3: f64 = f64::from_bits(0x3fd2_4924_9422_9359);
    const LG4: f64 = f64::from_bits(0x3fcc_71c5_1d8e_78af);
    const LG5: f64 = f64::from_bits(0x3fc7_4664_96cb_03de);
    const LG6: f64 = f64::from_bits(0x3fc3_9a09_d078_c69f);
    const LG7: f64 = f64::from_bits(0x3fc2_f112_df3e_5244);
    // x = 2^k·(1 + f) with 1 + f between the roots of a half and of two.
    let shifted = x.to_bits().wrapping_add(ONE - ROOT_HALF);
    let k = f64::from_bits((shifted >> 52) | TWO_52.to_bits()) - (TWO_52 + 1023.0);
    let f = f64::from_bits((shifted & FRACTION).wrapping_add(ROOT_HALF)) - 1.0;
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let t1 = w * (LG2 + w * (LG4 + w * LG6));
    let t2 = z * (LG1 + w * (LG3 + w * (LG5 + w * LG7)));
    let r = t2 + t1;
    s * (half_square + r) + k * LN2_LOW - half_square + f + k * LN2_HIGH
}

/// The exponentials of eight numbers, none above zero if this is to be fast: the bits of [`exp`].
#[inline(always)]
pub(crate) fn exp_lanes(x: &mut Lanes) {
    let given = *x;
    let mut special = false;
    for x in x.iter_mut() {
        special |= !is_plain_exponent(*x);
        *x = exp_plain(*x);
    }
    if special {
        for (x, given) in x.iter_mut().zip(given) {
            if !is_plain_exponent(given) {
                *x = exp(given);
            }
        }
    }
}

/// Below this, well below −745.13, an exponential is zero.
const VANISHES: f64 = -746.0;

/// Down to −700 an exponential is a normal number.
#[inline(always)]
fn is_plain_exponent(x: f64) -> bool {
    (-700.0..=0.0).contains(&x) || x < VANISHES
}

#[inline(always)]
fn exp_plain(x: f64) -> f64 {
    const P1: f64 = f64::from_bits(0x3fc5_5555_5555_553e);
    const P2: f64 = f64::from_bits(0xbf66_c16c_16be_bd93);
    const P3: f64 = f64::from_bits(0x3f11_566a_af25_de2c);
    const P4: f64 = f64::from_bits(0xbebb_bd41_c5d2_6bf1);
    const P5: f64 = f64::from_bits(0x3e66_3769_72be_a4d0);
    const INVERSE_LN2: f64 = f64::from_bits(0x3ff7_1547_652b_82fe);
    /// Adding and subtracting this rounds to a whole number.
    const ROUNDER: f64 = 1.5 * TWO_52;
    let size = (x.to_bits() >> 32) & 0x7fff_ffff;
    // x = k·ln 2 + r, with k cut towards zero; none above zero.
    let quotient = INVERSE_LN2 * x - 0.5;
    let nearest = (quotient + ROUNDER) - ROUNDER;
    let cut = if nearest < quotient {
        nearest + 1.0
    } else {
        nearest
    };
    let k = if size >= 0x3ff0_a2b2 { cut } else { -1.0 };
    let k = if size > 0x3fd6_2e42 { k } else { 0.0 };
    let high = x - k * LN2_HIGH;
    let low = k * LN2_LOW;
    let r = high - low;
    let square = r * r;
    let c = r - square * (P1 + square * (P2 + square * (P3 + square * (P4 + square * P5))));
    let y = 1.0 + (r * c / (2.0 - c) - low + high);
    let power = f64::from_bits((k + (TWO_52 + 1023.0)).to_bits() << 52);
    let y = if size > 0x3e30_0000 {
        y * power
    } else {
        1.0 + x
    };
    if x < VANISHES { 0.0 } else { y }
}

/// `a + b`, rounded, and what rounding has taken away, exactly (Knuth). Domain: no overflow.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let from_b = sum - a;
    let from_a = sum - from_b;
    (sum, (a - from_a) + (b - from_b))
}

/// `a + b + c` rounded once, and whether that is certain.
///
/// Two sums leave three doubles that add up to the same number; where the last is zero, the two others are
/// all there is, and their rounded sum is the nearest double.
#[inline(always)]
pub(crate) fn sum_of_three(a: f64, b: f64, c: f64) -> (f64, bool) {
    let (sum, lost) = two_sum(a, b);
    let (rest, nothing) = two_sum(lost, c);
    (sum + rest, nothing == 0.0)
}

/// Adds a number to a running sum and to what its roundings have lost, and says whether nothing else was lost:
/// then the sum of the two, rounded, is the exact one, rounded once.
#[inline(always)]
pub(crate) fn add_certainly(sum: &mut f64, lost: &mut f64, x: f64) -> bool {
    let (total, part) = two_sum(*sum, x);
    let (parts, nothing) = two_sum(*lost, part);
    (*sum, *lost) = (total, parts);
    nothing == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::ExactSum;
    use num_rational::BigRational;
    use proptest::prelude::*;
    use pulp::Arch;

    /// Holds eight lanes, in this processor's vectors and without them, to one number at a time.
    fn same(lanes: fn(&mut Lanes), one: fn(f64) -> f64, x: Lanes) -> Result<(), String> {
        let (mut plain, mut wide) = (x, x);
        lanes(&mut plain);
        Arch::new().dispatch(|| lanes(&mut wide));
        for ((x, plain), wide) in x.into_iter().zip(plain).zip(wide) {
            let want = one(x);
            for got in [plain, wide] {
                if got.to_bits() != want.to_bits() && !(got.is_nan() && want.is_nan()) {
                    return Err(format!(
                        "of {x:e} ({:x}): {got:e}, not {want:e}",
                        x.to_bits()
                    ));
                }
            }
        }
        Ok(())
    }

    fn lanes(x: impl Strategy<Value = f64>) -> impl Strategy<Value = Lanes> {
        prop::collection::vec(x, LANES).prop_map(|x| x.try_into().unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn logarithms_have_the_bits_of_one_at_a_time(
            any in lanes(any::<u64>().prop_map(f64::from_bits)),
            probabilities in lanes(0.0f64..1.0),
            near_one in lanes((-64i64..64).prop_map(|step| {
                f64::from_bits(1f64.to_bits().wrapping_add_signed(step))
            })),
        ) {
            for x in [any, any.map(f64::abs), probabilities, near_one] {
                same(ln_lanes, ln, x).map_err(TestCaseError::fail)?;
            }
        }

        #[test]
        fn exponentials_have_the_bits_of_one_at_a_time(
            any in lanes(any::<u64>().prop_map(f64::from_bits)),
            usual in lanes(-40.0f64..0.0),
            down_to_zero in lanes(-760.0f64..0.0),
            small in lanes((-60i32..1).prop_map(|e| -libm::exp2(f64::from(e)))),
            at_a_half in lanes((0u32..1000).prop_map(|k| {
                // Where the reduction goes from one k to the next.
                -(f64::from(k) + 0.5) * std::f64::consts::LN_2
            })),
        ) {
            for x in [any, usual, down_to_zero, small, at_a_half] {
                same(exp_lanes, exp, x).map_err(TestCaseError::fail)?;
                let next = x.map(f64::next_up);
                same(exp_lanes, exp, next).map_err(TestCaseError::fail)?;
            }
        }

        #[test]
        fn a_sum_and_what_it_lost_are_the_exact_sum(a in -1e9f64..1e9, b in -1e-3f64..1e-3) {
            let exact = |x: f64| BigRational::from_float(x).unwrap();
            let (sum, lost) = two_sum(a, b);
            prop_assert_eq!(sum, a + b);
            prop_assert_eq!(exact(sum) + exact(lost), exact(a) + exact(b));
        }
    }

    fn any_magnitude() -> impl Strategy<Value = f64> {
        (-8i64..8, -70i32..70).prop_map(|(m, e)| m as f64 * libm::exp2(f64::from(e)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn what_is_certain_is_the_exact_sum_rounded_once(
            terms in prop::collection::vec(any_magnitude(), 3..7)
        ) {
            let exact = |terms: &[f64]| terms.iter().copied().collect::<ExactSum>().to_f64();
            let (three, certain) = sum_of_three(terms[0], terms[1], terms[2]);
            prop_assert!(!certain || three == exact(&terms[..3]));
            let (mut sum, mut lost, mut certain) = (0.0, 0.0, true);
            for &x in &terms {
                certain &= add_certainly(&mut sum, &mut lost, x);
            }
            prop_assert!(!certain || sum + lost == exact(&terms));
        }
    }

    /// Just above half a unit in the last place: two doubles do not see it.
    #[test]
    fn a_sum_that_two_doubles_do_not_hold_is_not_certain() {
        let (half, little) = (libm::exp2(-53.0), libm::exp2(-120.0));
        let exact: ExactSum = [1.0, half, little].into_iter().collect();
        let (three, certain) = sum_of_three(1.0, half, little);
        assert!(!certain && three != exact.to_f64());
        let (mut sum, mut lost) = (1.0, 0.0);
        assert!(add_certainly(&mut sum, &mut lost, half));
        assert!(!add_certainly(&mut sum, &mut lost, little));
        assert!(sum + lost != exact.to_f64());
        // And what they hold is certain.
        assert_eq!(sum_of_three(1.0, half, half), (1.0 + 2.0 * half, true));
        // So is nothing that is not finite.
        assert!(!sum_of_three(1.0, f64::INFINITY, 0.0).1);
    }

    #[test]
    fn edges_have_the_bits_of_one_at_a_time() {
        const INF: f64 = f64::INFINITY;
        let tiny = f64::from_bits(1);
        let edges = [
            [0.0, -0.0, INF, -INF, f64::NAN, tiny, -tiny, 1.0],
            [
                f64::MIN_POSITIVE,
                f64::MAX,
                f64::MIN,
                -1.0,
                2.0,
                0.5,
                1e-310,
                -1e-310,
            ],
            [
                -700.0,
                -700.0f64.next_down(),
                -746.0,
                -746.0f64.next_down(),
                -745.13,
                -745.14,
                -708.4,
                709.8,
            ],
        ];
        for x in edges {
            same(ln_lanes, ln, x).unwrap();
            same(exp_lanes, exp, x).unwrap();
        }
        // The branches of `exp`, and the exponents where mantissas of `ln` are cut.
        for high in [
            0x3fd6_2e42u64,
            0x3ff0_a2b2,
            0x3e30_0000,
            0x3fe6_a09e,
            0x4086_232b,
        ] {
            let near: Vec<f64> = (-4i64..4)
                .map(|step| f64::from_bits((high << 32).wrapping_add_signed(step << 31)))
                .collect();
            let near: Lanes = near.try_into().unwrap();
            same(ln_lanes, ln, near).unwrap();
            same(exp_lanes, exp, near.map(|x| -x)).unwrap();
        }
    }

    #[test]
    fn the_comparison_notices_a_unit_in_the_last_place() {
        let off = |x: &mut Lanes| {
            ln_lanes(x);
            x[3] = x[3].next_up();
        };
        assert!(same(off, ln, [0.3; LANES]).is_err());
    }
}
