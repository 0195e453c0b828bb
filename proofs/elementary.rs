//! The contract of `exp` that the proofs rest on, and the accuracy of `exp` and `ln`.
//!
//! No solver reaches through these functions, so they are checked against other oracles: a table
//! made in multiple precision (`tests/fixtures/mpmath/`), random bits, and all 2³² singles (by
//! `cargo run --example prove -- exhaustive`).

use super::engine::{Cases, any, check};
use crate::math::{exp, exp32, ln};

/// `exp(x)` is in [0, 1] for `x ≤ 0`, one for zeros, zero for −∞, and NaN only for NaN.
///
/// Claims: L3
/// Domain: any bits of 1 f64
/// Enumerated only: a solver's model of exp is not exp
#[cfg_attr(not(kani), test)]
fn exp_keeps_its_contract_on_doubles() {
    check(Cases::Random(1_000_000), || {
        let x: f64 = any();
        let y = exp(x);
        cover!(y > 0.0 && y < 1.0, "inside");
        cover!(y == 0.0 && x.is_finite(), "underflow");
        assert!(y.is_nan() == x.is_nan());
        assert!(x.is_nan() || (x <= 0.0) == (0.0..=1.0).contains(&y) || y == 1.0);
        assert!(x != 0.0 || y == 1.0);
        assert!(x != f64::NEG_INFINITY || y == 0.0);
    });
}

/// As for doubles.
///
/// Claims: L3
/// Domain: any bits of 1 f32 (all of them by `prove -- exhaustive`)
/// Enumerated only: a solver's model of exp is not exp
#[cfg_attr(not(kani), test)]
fn exp_keeps_its_contract_on_singles() {
    check(Cases::Random(1_000_000), || {
        let x: f32 = any();
        let y = exp32(x);
        cover!(y > 0.0 && y < 1.0, "inside");
        cover!(y == 0.0 && x.is_finite(), "underflow");
        assert!(y.is_nan() == x.is_nan());
        assert!(x.is_nan() || (x <= 0.0) == (0.0..=1.0).contains(&y) || y == 1.0);
        assert!(x != 0.0 || y == 1.0);
        assert!(x != f32::NEG_INFINITY || y == 0.0);
    });
}

/// `exp` and `ln` are within one unit in the last place of the exact value.
///
/// Claims: L3
/// Domain: 3676 doubles, random and at the edges, against mpmath at 200 bits
/// Enumerated only: a table
#[cfg_attr(not(kani), test)]
fn exp_and_ln_are_within_one_ulp_of_multiple_precision() {
    const TABLE: &str = include_str!("../tests/fixtures/mpmath/elementary.csv");
    let mut worst = [0.0f64; 2];
    let mut rows = 0;
    for line in TABLE.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let bits = |i: usize| u64::from_str_radix(fields[i], 16).unwrap();
        let x = f64::from_bits(bits(1));
        let residual: f64 = fields[3].parse().unwrap();
        let (got, which) = match fields[0] {
            "exp" => (exp(x), 0),
            "ln" => (ln(x), 1),
            other => panic!("unknown function {other}"),
        };
        // Bits of doubles of one sign are consecutive whole numbers, so that their difference is
        // one in units of the last place (of the smaller one, at a power of two).
        let steps = got.to_bits().wrapping_sub(bits(2)) as i64 as f64;
        let steps = if got < 0.0 { -steps } else { steps };
        worst[which] = worst[which].max((steps - residual).abs());
        rows += 1;
    }
    println!("cases: all {rows}, kept {rows}, covers 0 of 0");
    println!(
        "largest error in ulps: exp {:.4}, ln {:.4}",
        worst[0], worst[1]
    );
    assert_eq!(rows, 3676);
    assert!(worst[0] < 1.0 && worst[1] < 1.0, "{worst:?}");
}
