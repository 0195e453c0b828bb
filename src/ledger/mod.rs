//! The paper's numbers as typed data, its claims, and their computed verdicts.
//!
//! | part | what it holds |
//! |---|---|
//! | [`paper`] | every printed number with its place and precision |
//! | [`recompute`] | the printed numbers that follow from others, recomputed |
//! | [`claims`] | every claim with the check that computes its verdict |

pub mod claims;
mod expr;
mod fit;
pub mod paper;
pub mod recompute;
mod records;
mod verdict;

pub use expr::{Expr, LedgerError, Reading, decimal, enclose, meet, shown};
pub use records::{Records, Row, Run};
pub use verdict::{Engine, Finding, Verdict, VerdictKind};
