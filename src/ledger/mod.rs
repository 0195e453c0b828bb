//! The paper's numbers as typed data, its claims, and their computed verdicts.
//!
//! | part | what it holds |
//! |---|---|
//! | [`paper`] | every printed number with its place and precision |
//! | [`recompute`] | the printed numbers that follow from others, recomputed |

mod expr;
mod fit;
pub mod paper;
pub mod recompute;

pub use expr::{Expr, LedgerError, Reading, decimal, enclose, meet, shown};
