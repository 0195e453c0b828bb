//! Sums that do not depend on the order of their terms.
//!
//! The bound on unwinding is that of comparing two accumulators byte by byte: 68 chunks of 8.

use super::engine::{Cases, any, below, check};
use super::normalization::AWKWARD;
use crate::math::{ExactSum, canonical_sum};

/// Adding any two values to an exact sum never panics.
///
/// Claims: L3
/// Domain: any bits of 2 f64, except +∞ with −∞, whose sum is meant to be NaN
#[cfg_attr(kani, kani::proof, kani::unwind(550), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn exact_sum_takes_any_two_values() {
    check(Cases::Random(200_000), || {
        let [x, y]: [f64; 2] = any();
        // Kani counts a NaN made of infinities as a fault; here it is the documented answer.
        assume!(x.is_finite() || y.is_finite() || x == y);
        let mut sum = ExactSum::new();
        sum.add(x);
        sum.add(y);
        cover!(x == f64::NEG_INFINITY, "infinite");
        cover!(x > 0.0 && x < f64::MIN_POSITIVE, "subnormal");
        cover!(x == f64::MAX && y == f64::MAX, "overflow");
    });
}

/// The exact sum of one value is that value, bit for bit (zeros become +0).
///
/// Claims: L3
/// Domain: any finite f64
/// Slow: shifts of 128 bits by symbolic amounts
#[cfg_attr(
    all(kani, kani_slow),
    kani::proof,
    kani::unwind(550),
    kani::solver(cadical)
)]
#[cfg_attr(not(kani), test)]
fn exact_sum_of_one_value_is_that_value() {
    check(Cases::Random(200_000), || {
        let x: f64 = any();
        assume!(x.is_finite());
        let mut sum = ExactSum::new();
        sum.add(x);
        cover!(x < 0.0 && x > -f64::MIN_POSITIVE, "negative subnormal");
        cover!(x == f64::MAX, "the largest");
        assert!(sum.to_f64().to_bits() == (x + 0.0).to_bits());
    });
}

/// The exact sum of a value and its opposite is zero, as a number and rounded.
///
/// Claims: L3
/// Domain: any finite f64
#[cfg_attr(kani, kani::proof, kani::unwind(550), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn exact_sum_of_a_value_and_its_opposite_is_zero() {
    check(Cases::Random(200_000), || {
        let x: f64 = any();
        assume!(x.is_finite());
        let mut sum = ExactSum::new();
        sum.add(x);
        sum.add(-x);
        cover!(x == f64::MAX, "the largest");
        cover!(x < 0.0, "negative");
        assert!(sum == ExactSum::new());
    });
}

/// Exact sums of three values are the same in any order, and when merged from parts.
///
/// Claims: L3, T1
/// Domain: any 3 whole numbers in −32..=31
#[cfg_attr(kani, kani::proof, kani::unwind(550), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn exact_sum_of_three_is_order_free() {
    check(Cases::All(1 << 18), || {
        let [a, b, c] = [below(64), below(64), below(64)].map(|k| f64::from(k) - 32.0);
        cover!(a < 0.0 && b > 0.0 && c < 0.0, "both signs");
        let forwards = sum_of(&[a, b, c]);
        let backwards = sum_of(&[c, b, a]);
        assert!(forwards == backwards);
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

/// A canonical sum of non-negative values is at least the largest of them, the same for both
/// orders, and never NaN: what makes every quotient of `normalize` at most one.
///
/// Claims: L3
/// Domain: any 2 f32 in [0, +∞]
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn canonical_sum_of_two_is_at_least_the_largest_and_order_free() {
    check(Cases::Random(200_000), || {
        let [a, b]: [f32; 2] = any();
        assume!(a >= 0.0 && b >= 0.0);
        let sum = canonical_sum(&[a, b]);
        cover!(a > b, "first larger");
        cover!(a < b, "second larger");
        assert!(sum >= a && sum >= b);
        assert!(canonical_sum(&[b, a]) == sum);
    });
}

/// A canonical sum of three singles is at least the largest of them.
///
/// Claims: L3
/// Domain: any 3 f32 in [0, +∞]
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn canonical_sum_of_three_is_at_least_the_largest() {
    check(Cases::Random(200_000), || {
        let x: [f32; 3] = any();
        assume!(x[0] >= 0.0 && x[1] >= 0.0 && x[2] >= 0.0);
        let sum = canonical_sum(&x);
        cover!(x[0] > x[1] && x[1] > x[2], "descending");
        assert!(sum >= x[0] && sum >= x[1] && sum >= x[2]);
    });
}

/// A canonical sum of three has the same bits for every order.
///
/// Claims: L3
/// Domain: any 3 finite f32 in [0, +∞)
/// Slow: equality of two rounded sums
#[cfg_attr(
    all(kani, kani_slow),
    kani::proof,
    kani::unwind(6),
    kani::solver(cadical)
)]
#[cfg_attr(not(kani), test)]
fn canonical_sum_of_three_is_order_free() {
    check(Cases::Random(200_000), || {
        let [a, b, c]: [f32; 3] = any();
        assume!(a >= 0.0 && b >= 0.0 && c >= 0.0);
        assume!(a.is_finite() && b.is_finite() && c.is_finite());
        let sum = canonical_sum(&[a, b, c]);
        cover!(
            (a + b) + c != a + (b + c),
            "a plain sum depends on the order"
        );
        assert!(canonical_sum(&[b, c, a]) == sum && canonical_sum(&[c, b, a]) == sum);
    });
}
