//! Sum-product networks over categorical variables.
//!
//! | file | what it holds |
//! |---|---|
//! | `validity` | [`check`]: completeness and decomposability, on plain slices |
//! | `builder`, `error` | [`Builder`], children before parents; [`BuildError`] says what is wrong and where |
//! | `network` | [`Network`], valid by construction |
//! | `evidence` | [`Evidence`]: hard and soft |
//! | `evaluate` | evaluation in one pass over any scalar |
//! | `scaled` | numbers that neither underflow nor depend on the order of operations; many at once in `block` |
//! | `compiled` | [`Compiled`]: evaluation of doubles in one flat pass, conditionals |
//! | `pass` | the pass from the leaves to the root, level by level, in blocks of nodes |
//! | `marginals` | all marginals in one pass up and one down |
//! | `explanation`, `selective` | the most probable explanation, with its guarantee |
//! | `sample` | ancestral sampling |
//! | `query`, `conflict` | [`QueryError`]: which pieces of evidence contradict each other |

mod builder;
mod compiled;
mod conflict;
mod error;
mod evaluate;
mod evidence;
mod explanation;
mod marginals;
mod network;
mod pass;
mod query;
mod sample;
// Within the crate, for the proofs of its arithmetic.
pub(crate) mod scaled;
mod selective;
pub(crate) mod validity;

pub use builder::{Builder, NodeId, Weight};
pub use compiled::{Compiled, Workspace};
pub use error::BuildError;
pub use evaluate::{leaf_value, upward};
pub use evidence::{Evidence, EvidenceError, Known};
pub use explanation::Explanation;
pub use marginals::Marginals;
pub use network::Network;
pub use query::QueryError;
pub use sample::Sampler;
pub use validity::{Defect, Graph, NodeKind, Scope, ScopeSpace, check, words};

#[cfg(test)]
mod tests;
