//! Synthetic domains whose exact Bayes posterior is known.
//!
//! | file | what it holds |
//! |---|---|
//! | `domain` | the eight [`DOMAINS`] of synthetic evidence |
//! | `generator` | [`Generator`]: entities with their labels and exact posteriors |

mod domain;
mod generator;

pub use domain::{DOMAINS, Domain, UnknownDomain};
pub use generator::{EMBEDDING, Generator, SyntheticEntity};
