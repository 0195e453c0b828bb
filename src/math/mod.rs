//! Numbers: scalar traits, elementary functions, exact sums.
//!
//! Everything above stands on this module, so it keeps three promises: no function panics for any
//! input bits, no result depends on the order of the terms of a sum, and no result depends on the
//! machine (elementary functions come from the pure-Rust `libm` crate, never from the system).

mod banded_sum;
pub mod dense;
mod double_double;
mod elementary;
mod enclosure;
mod exact_sum;
mod interval;
pub(crate) mod lanes;
mod log_sum_exp;
mod scalar;

pub use banded_sum::BandedSum;
pub use double_double::DoubleDouble;
pub use elementary::{exp, exp32, ln, ln32};
pub use enclosure::Enclosure;
pub use exact_sum::ExactSum;
pub use interval::Interval;
pub use log_sum_exp::log_sum_exp;
pub(crate) use scalar::SORTED;
pub use scalar::{Field, Real, Ring, Scalar, canonical_sum, rational};
