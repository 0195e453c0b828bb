//! Bounds: the paper's and their corrected forms, one file for each theorem or lemma.

mod kish;

pub use kish::{KishError, effective_count, effective_count_exact, kish_sums};
