//! Sum-product networks over categorical variables.
//!
//! | file | what it holds |
//! |---|---|
//! | `validity` | [`check`]: completeness and decomposability, on plain slices |
//! | `builder`, `error` | [`Builder`], children before parents; [`BuildError`] says what is wrong and where |
//! | `network` | [`Network`], valid by construction, and its serialized form |
//! | `evidence` | [`Evidence`]: hard and soft |
//! | `evaluate` | evaluation in one pass over any scalar |

mod builder;
mod error;
mod evaluate;
mod evidence;
mod network;
mod validity;

pub use builder::{Builder, NodeId, Weight};
pub use error::BuildError;
pub use evaluate::{leaf_value, upward};
pub use evidence::{Evidence, EvidenceError, Known};
pub use network::Network;
pub use validity::{Defect, Graph, Kind, Scope, ScopeSpace, check, words};

#[cfg(test)]
mod tests;
