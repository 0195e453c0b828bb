//! Sums that do not depend on the order of their terms.
//!
//! Exact sums are equal where their accumulators are, before any rounding. Under Kani each of their
//! terms has one exponent and any sign and fraction, so that a solver knows where in the accumulator
//! it goes; comparing two takes 544 steps, one a byte.

use super::engine::{Cases, any, below, check};
use super::normalization::{AWKWARD, byte};
use super::told::Told;
use crate::math::{BandedSum, ExactSum, canonical_sum};

/// Any double with this exponent field: any sign, any fraction.
fn with_exponent(field: u64) -> f64 {
    let bits: u64 = any();
    f64::from_bits(bits & (1 << 63 | ((1 << 52) - 1)) | field << 52)
}

/// The exact sum of one value is that value, bit for bit.
///
/// Claims: L3
/// Domain: any sign and fraction, exponents of 1, of the smallest normal and of the largest number
/// Enumerated only: rounding from 2176 bits, which Coq's model of the sum computes
#[cfg_attr(not(kani), test)]
fn exact_sum_of_one_value_is_that_value() {
    check(Cases::Random(100_000), || {
        let x = match below(3) {
            0 => with_exponent(1023),
            1 => with_exponent(1),
            _ => with_exponent(2046),
        };
        let mut sum = ExactSum::new();
        sum.add(x);
        cover!(x < 0.0 && x > -1e-300, "small and negative");
        cover!(x > 1e300, "large");
        assert!(sum.to_f64().to_bits() == x.to_bits());
    });
}

/// The exact sum of a value, a much smaller one and the opposite of the first is the second: nothing
/// is lost in between, whatever the order.
///
/// Claims: L3, T1
/// Domain: any sign and fraction; exponents of 2¹⁰⁰ and of 2⁻¹⁰⁰, 200 binary places apart
/// Slow: accumulators of 68 chunks; Kani has not settled it so far
#[cfg_attr(
    all(kani, kani_slow),
    kani::proof,
    kani::unwind(560),
    kani::solver(cadical)
)]
#[cfg_attr(not(kani), test)]
fn exact_sum_loses_nothing() {
    check(Cases::Random(100_000), || {
        let (large, small) = (with_exponent(1123), with_exponent(923));
        let sum = sum_of(&[large, small, -large]);
        cover!(large < 0.0 && small > 0.0, "different signs");
        assert!(sum == sum_of(&[-large, large, small]));
        // The second, and no other number of its size.
        let other = if any() { small } else { with_exponent(923) };
        cover!(small != other, "another one");
        assert!((sum == sum_of(&[other])) == (small == other));
        // The rounding is for tests, and for Coq's model of the sum.
        assert!(cfg!(kani) || sum.to_f64().to_bits() == small.to_bits());
    });
}

/// Two exact sums merge to the sum of the terms of both.
///
/// Claims: L3, T1
/// Domain: any sign and fraction, exponents of 1 and of 4
/// Slow: accumulators of 68 chunks; Kani has not settled it so far
#[cfg_attr(
    all(kani, kani_slow),
    kani::proof,
    kani::unwind(560),
    kani::solver(cadical)
)]
#[cfg_attr(not(kani), test)]
fn exact_sums_merge_to_the_sum_of_all_terms() {
    check(Cases::Random(100_000), || {
        let (x, y) = (with_exponent(1023), with_exponent(1025));
        let mut merged = sum_of(&[x]);
        merged.merge(&sum_of(&[y]));
        cover!(x < 0.0 && y > 0.0, "different signs");
        assert!(merged == sum_of(&[y, x]));
        // What the hardware rounds, once.
        assert!(cfg!(kani) || merged.to_f64() == x + y);
    });
}

/// A banded sum of two values is the sum as the hardware rounds it, once; merging two is the same.
///
/// Claims: L3, T1
/// Domain: any sign and fraction, exponents of 1 and of 2⁻²⁰
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(
    kani,
    kani::stub(
        crate::math::banded_sum::BandedSum::add_outside,
        super::contracts::nothing_outside_the_band
    )
)]
#[cfg_attr(not(kani), test)]
fn banded_sum_of_two_is_rounded_once() {
    check(Cases::Random(100_000), || {
        let (x, y) = (with_exponent(1023), with_exponent(1003));
        let mut both = BandedSum::new();
        both.add_all(&[x, y]);
        let (mut first, mut second) = (BandedSum::new(), BandedSum::new());
        first.add(y);
        second.add(x);
        first.merge(&second);
        cover!(x < 0.0 && y > 0.0, "different signs");
        assert!(both.to_f64() == x + y);
        assert!(first.to_f64() == x + y);
    });
}

fn sum_of(terms: &[f64]) -> ExactSum {
    let mut sum = ExactSum::new();
    for &x in terms {
        sum.add(x);
    }
    sum
}

/// Every order of three values, and every way to merge them from parts, gives the same bits.
///
/// Claims: L3, T1
/// Domain: 3 of 32 doubles whose plain sums are rounded and overflow, both signs
/// Enumerated only: rounding from 2176 bits
#[cfg_attr(not(kani), test)]
fn exact_sum_has_the_same_bits_for_every_order_and_grouping() {
    check(Cases::All(32 * 32 * 32), || {
        let draw = || {
            let i = below(32);
            let x = AWKWARD[usize::from(i % 16)];
            if i < 16 { x } else { -x }
        };
        let [a, b, c] = [draw(), draw(), draw()];
        let whole = sum_of(&[a, b, c]).to_f64();
        for order in [[a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
            assert!(sum_of(&order).to_f64().to_bits() == whole.to_bits());
        }
        let mut merged = sum_of(&[c]);
        merged.merge(&sum_of(&[a, b]));
        assert!(merged.to_f64().to_bits() == whole.to_bits());
        cover!(
            (a + b) + c != a + (b + c),
            "a plain sum depends on the order"
        );
    });
}

/// A canonical sum adds from the smallest to the largest, whatever the order its terms come in: so
/// it takes the same steps in any arithmetic, and has the same bits.
///
/// Claims: L3
/// Domain: 4 whole numbers in 0..=255, in a field whose sums remember their terms
#[cfg_attr(kani, kani::proof, kani::unwind(7), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn canonical_sums_add_from_the_smallest_to_the_largest() {
    check(Cases::Random(200_000), || {
        let v = [byte(), byte(), byte(), byte()];
        let sum = canonical_sum(&v.map(Told::whole));
        assert!(sum.over == v[0] + v[1] + v[2] + v[3]);
        // Each term is told, the next one higher up never larger; zeros are not told.
        let told = [sum.terms >> 24, sum.terms >> 16, sum.terms >> 8, sum.terms].map(|t| t & 255);
        for i in 1..4 {
            assert!(told[i - 1] <= told[i]);
        }
        for i in 0..4 {
            let count = |x: i32| told.iter().filter(|&&t| t == x as u32).count();
            assert!(count(v[i]) == v.iter().filter(|&&x| x == v[i]).count());
        }
        cover!(v[0] > v[1] && v[1] > v[2] && v[3] > v[0], "out of order");
        cover!(v[1] == v[2] && v[3] == 0, "equal ones and a zero");
    });
}

/// A canonical sum of two is their sum, rounded once; it is at least the larger and never NaN: what
/// makes every quotient of `normalize` at most one.
///
/// Claims: L3
/// Domain: any 2 f32 in [0, +∞]
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn canonical_sum_of_two_is_their_sum_and_at_least_the_larger() {
    check(Cases::Random(200_000), || {
        let [a, b]: [f32; 2] = any();
        assume!(a >= 0.0 && b >= 0.0);
        let sum = canonical_sum(&[a, b]);
        cover!(a > b, "first larger");
        cover!(a < b, "second larger");
        assert!(sum == a + b && sum >= a && sum >= b);
    });
}

/// A canonical sum of three adds the two smaller ones first, whatever the order they come in; it is
/// at least the largest.
///
/// Claims: L3
/// Domain: any 3 f32 in [0, +∞), in any order
/// Enumerated only: additions of any singles to be told equal; the harness above tells their order
#[cfg_attr(not(kani), test)]
fn canonical_sum_of_three_adds_the_smaller_ones_first() {
    check(Cases::Random(200_000), || {
        let [a, b, c]: [f32; 3] = any();
        assume!(a >= 0.0 && a <= b && b <= c && c < f32::INFINITY);
        let x = [
            [a, b, c],
            [a, c, b],
            [b, a, c],
            [b, c, a],
            [c, a, b],
            [c, b, a],
        ][usize::from(below(6))];
        let sum = canonical_sum(&x);
        cover!(
            (a + b) + c != a + (b + c),
            "a sum that depends on the order"
        );
        assert!(sum == (a + b) + c && sum >= c);
    });
}
