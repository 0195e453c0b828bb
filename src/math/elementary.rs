//! The transcendental functions that the core rests on, in one place.
//!
//! All of them come from `libm`, which is compiled Rust: the same bits on every machine. Proofs
//! replace `exp` by its contract (see `proofs/`), which is why nothing else in the core calls
//! `libm` for an exponential or a logarithm.

/// `e^x` in double precision.
///
/// Domain: every bit pattern. Range: `[0, +∞]`; NaN gives NaN.
///
/// Contract, which the proofs rely on and the exhaustive tests check: for `x ≤ 0` the result is
/// finite and lies in `[0, 1]`; `exp(0) = exp(-0) = 1`; `exp(-∞) = 0`. Error below 1 ulp.
#[inline]
#[must_use]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Natural logarithm in double precision.
///
/// Domain: `[0, +∞]`; NaN and negative values give NaN. Range: `[-∞, +∞]`, with `ln(0) = -∞`,
/// `ln(1) = 0`. Error below 1 ulp, subnormal arguments included.
#[inline]
#[must_use]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// `e^x` in single precision, with the contract of [`exp`].
#[inline]
#[must_use]
pub fn exp32(x: f32) -> f32 {
    libm::expf(x)
}

/// Natural logarithm in single precision, with the contract of [`ln`].
#[inline]
#[must_use]
pub fn ln32(x: f32) -> f32 {
    libm::logf(x)
}
