//! Tests of the whole module against brute force.

mod conflicts;
mod evaluation;
mod explanations;
mod inference;
mod layers;
mod oracle;
mod order;
mod random;
mod refusal;
mod sampling;
