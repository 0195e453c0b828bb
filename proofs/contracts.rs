//! What the proofs know of `exp`: its contract, in place of the function.
//!
//! A solver's own model of `exp` is a band that may miss the true value, so no proof goes through
//! it. Each contract also asserts what the caller must keep. That `exp` keeps its contract is
//! checked in `elementary` and, for all singles, by `cargo run --example prove -- exhaustive`.

use super::engine::any;

/// `x ≤ 0 ⇒ 0 ≤ exp x ≤ 1`, `exp 0 = 1`, `exp −∞ = 0`. A positive or NaN argument is a fault of
/// the caller, which must have subtracted the maximum.
pub fn exp_of_non_positive(x: f64) -> f64 {
    assert!(x <= 0.0);
    let y: f64 = any();
    kani::assume(y >= 0.0 && y <= 1.0);
    if x == 0.0 {
        1.0
    } else if x == f64::NEG_INFINITY {
        0.0
    } else {
        y
    }
}

/// As [`exp_of_non_positive`].
pub fn exp32_of_non_positive(x: f32) -> f32 {
    assert!(x <= 0.0);
    let y: f32 = any();
    kani::assume(y >= 0.0 && y <= 1.0);
    if x == 0.0 {
        1.0
    } else if x == f32::NEG_INFINITY {
        0.0
    } else {
        y
    }
}

/// `x ≥ 0 ⇒ exp x ≥ 1`, +∞ included.
pub fn exp_of_non_negative(x: f64) -> f64 {
    assert!(x >= 0.0);
    let y: f64 = any();
    kani::assume(y >= 1.0);
    y
}
