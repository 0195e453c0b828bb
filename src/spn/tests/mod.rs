//! Tests of the whole module against brute force.

mod evaluation;
mod oracle;
mod random;
mod refusal;
mod serial;
