//! The paper's numbers as typed data, its claims, and their computed verdicts.

pub mod paper;
