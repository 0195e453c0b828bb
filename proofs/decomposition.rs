//! Theorem 7: total variance = epistemic + aleatoric, as an identity of the generic code.
//!
//! Both sides are polynomials with integer coefficients in the entries; see `closure` for why an
//! identity over wrapping integers is one over the rationals. What rounding adds is bounded by the
//! tests of the decomposition itself.

use std::num::Wrapping;

use super::engine::{Cases, any, below, check};
use crate::uncertainty::decomposition_scaled;

/// Total = epistemic + aleatoric for two samples of two classes.
///
/// Claims: T7
/// Domain: 2 samples of 2 classes, entries modulo 2⁸ of values in 0..16
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn decomposition_of_2_samples_of_2_classes_is_an_identity() {
    check(Cases::All(1 << 16), || {
        let rows = [below(16), below(16), below(16), below(16)].map(Wrapping);
        let parts = decomposition_scaled(&rows, 2);
        cover!(rows[0] != rows[2], "different samples");
        assert!(parts.is_ok_and(|p| p.total == p.epistemic + p.aleatoric));
    });
}

/// The same for three classes and any bytes.
///
/// Claims: T7
/// Domain: 2 samples of 3 classes, any entries modulo 2⁸
#[cfg_attr(kani, kani::proof, kani::unwind(8), kani::solver(bitwuzla))]
#[cfg_attr(not(kani), test)]
fn decomposition_of_2_samples_of_3_classes_is_an_identity() {
    check(Cases::Random(300_000), || {
        let rows: [u8; 6] = any();
        let parts = decomposition_scaled(&rows.map(Wrapping), 3);
        assert!(parts.is_ok_and(|p| p.total == p.epistemic + p.aleatoric));
    });
}

/// The same for three samples.
///
/// Claims: T7
/// Domain: 3 samples of 2 classes, any entries modulo 2⁸
#[cfg_attr(kani, kani::proof, kani::unwind(8), kani::solver(bitwuzla))]
#[cfg_attr(not(kani), test)]
fn decomposition_of_3_samples_of_2_classes_is_an_identity() {
    check(Cases::Random(300_000), || {
        let rows: [u8; 6] = any();
        let parts = decomposition_scaled(&rows.map(Wrapping), 2);
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
