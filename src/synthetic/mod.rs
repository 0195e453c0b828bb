//! Data to try things on: domains whose exact Bayes posterior is known, the data of the paper's
//! author, and real evidence.
//!
//! | file | what it holds |
//! |---|---|
//! | `domain` | the eight [`DOMAINS`] of synthetic evidence |
//! | `generator` | [`Generator`]: entities with their labels and exact posteriors |
//! | `real` | [`REAL`]: two sets of real evidence, embedded |
//! | `author` | [`AuthorData`]: what the author's generator makes, and the author's weights |

mod author;
mod domain;
mod generator;
mod real;

pub use author::{
    AUTHOR_CLASSES, AuthorData, AuthorEntity, AuthorItem, DamagedData, EMPTY_TEXT, Part,
    author_model,
};
pub use domain::{DOMAINS, Domain, UnknownDomain};
pub use generator::{EMBEDDING, Generator, SyntheticEntity};
pub use real::{PackedError, REAL, RealData, RealSet, Recorded, View, ViewKind};
