//! Synthetic domains whose exact Bayes posterior is known, and the data of the paper's author.
//!
//! | file | what it holds |
//! |---|---|
//! | `domain` | the eight [`DOMAINS`] of synthetic evidence |
//! | `generator` | [`Generator`]: entities with their labels and exact posteriors |
//! | `author` | [`AuthorData`]: what the author's generator makes, and the author's weights |

mod author;
mod domain;
mod generator;

pub use author::{
    AUTHOR_CLASSES, AuthorData, AuthorEntity, AuthorItem, DamagedData, EMPTY_TEXT, Part,
    author_model,
};
pub use domain::{DOMAINS, Domain, UnknownDomain};
pub use generator::{EMBEDDING, Generator, SyntheticEntity};
