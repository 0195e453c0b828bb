//! Theorem 7: total variance = epistemic + aleatoric, as an identity of the generic code.
//!
//! Both sides are polynomials with integer coefficients, of degree 2 in each entry; see `closure`
//! for why an identity over wrapping integers on 0, 1, 2 is one over the rationals. No value there
//! exceeds 2¹¹ in absolute value. What rounding adds is bounded by the tests of the decomposition
//! itself.

use std::num::Wrapping;

use super::closure::small;
use super::engine::{Cases, below, check};
use crate::uncertainty::decomposition_scaled;

/// Total = epistemic + aleatoric for two samples of two classes.
///
/// Claims: T7
/// Domain: 2 samples of 2 classes, whole numbers in 0..8; so for all rationals
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn decomposition_of_2_samples_of_2_classes_is_an_identity() {
    check(Cases::All(8u64.pow(4)), || {
        let rows = [small(8), small(8), small(8), small(8)];
        let parts = decomposition_scaled(&rows, 2);
        cover!(rows[0] != rows[2], "different samples");
        assert!(parts.is_ok_and(|p| p.total == p.epistemic + p.aleatoric));
    });
}

/// Total = epistemic + aleatoric for two samples of three classes.
///
/// Claims: T7
/// Domain: 2 samples of 3 classes, whole numbers in 0..3; so for all rationals
#[cfg_attr(kani, kani::proof, kani::unwind(8), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn decomposition_of_2_samples_of_3_classes_is_an_identity() {
    check(Cases::All(3u64.pow(6)), || {
        let rows = [(); 6].map(|()| small(3));
        let parts = decomposition_scaled(&rows, 3);
        cover!(rows[0] != rows[3], "different samples");
        assert!(parts.is_ok_and(|p| p.total == p.epistemic + p.aleatoric));
    });
}

/// Total = epistemic + aleatoric for three samples of two classes.
///
/// Claims: T7
/// Domain: 3 samples of 2 classes, whole numbers in 0..3; so for all rationals
#[cfg_attr(kani, kani::proof, kani::unwind(8), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn decomposition_of_3_samples_of_2_classes_is_an_identity() {
    check(Cases::All(3u64.pow(6)), || {
        let rows = [(); 6].map(|()| small(3));
        let parts = decomposition_scaled(&rows, 2);
        cover!(rows[0] != rows[2], "different samples");
        assert!(parts.is_ok_and(|p| p.total == p.epistemic + p.aleatoric));
    });
}

/// The epistemic part is zero exactly if all samples are equal, and otherwise the sum of squared
/// differences of the two samples.
///
/// Claims: T7
/// Domain: 2 samples of 2 classes, entries in 0..16 without wrapping
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn epistemic_part_is_zero_exactly_for_equal_samples() {
    check(Cases::All(1 << 16), || {
        let p = [below(16), below(16), below(16), below(16)];
        // (2p − P)² = (p − p′)², once for each of the two samples; below 2·2·15², so u16 holds it.
        let square = |a: u8, b: u8| u16::from(a.abs_diff(b)) * u16::from(a.abs_diff(b));
        let want = 2 * (square(p[0], p[2]) + square(p[1], p[3]));
        let parts = decomposition_scaled(&p.map(|x| Wrapping(u16::from(x))), 2);
        cover!(want == 0, "equal");
        cover!(want > 0, "different");
        assert!(parts.is_ok_and(|parts| parts.epistemic.0 == want));
    });
}
