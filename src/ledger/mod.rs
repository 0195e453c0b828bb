//! The paper's numbers as typed data, its claims, and their computed verdicts.
//!
//! | part | what it holds |
//! |---|---|
//! | [`paper`] | every printed number with its place and precision |
//! | [`recompute`] | the printed numbers that follow from others, recomputed |
//! | [`claims`] | every claim with the check that computes its verdict |
//! | [`Theory`] | the theorems that Coq checked, which alone make a claim proved |

pub mod claims;
mod evidence;
mod expr;
mod fit;
mod formula;
pub mod paper;
mod pinned;
pub mod recompute;
mod records;
mod text;
mod theory;
mod verdict;

pub use evidence::{Evidence, EvidenceKind, evidence};
pub use expr::{Expr, LedgerError, Reading};
pub use pinned::{Change, PINNED, changes};
pub use records::{Records, Row, Run, read_record};
pub use text::TextError;
pub use theory::{Recheck, Says, Theorem, Theory};
pub use verdict::{Finding, Interpretation, Verdict, VerdictKind};
