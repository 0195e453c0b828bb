//! Data to try things on: domains whose exact Bayes posterior is known, and real evidence.
//!
//! | file | what it holds |
//! |---|---|
//! | `domain` | the eight [`DOMAINS`] of synthetic evidence |
//! | `generator` | [`Generator`]: entities with their labels and exact posteriors |
//! | `real` | [`REAL`]: two sets of real evidence, embedded |

mod domain;
mod generator;
mod real;

pub use domain::{DOMAINS, Domain, UnknownDomain};
pub use generator::{EMBEDDING, Generator, SyntheticEntity};
pub use real::{PackedError, REAL, RealData, RealSet, Recorded, View, ViewKind};
