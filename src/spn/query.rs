//! Why a query has no answer.

use super::evidence::EvidenceError;

/// Why a query has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "wrapped errors speak for themselves")]
pub enum QueryError {
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// The network gives the evidence the probability zero.
    #[error("{}", impossible(variables))]
    Impossible {
        /// Variables whose evidence cannot hold together, ascending.
        variables: Vec<usize>,
        /// Whether the list is irreducible: without the evidence about any one of them, the rest
        /// of the list is possible.
        irreducible: bool,
    },
}

/// How many variables of a conflict a message lists.
const LISTED: usize = 12;

fn impossible(variables: &[usize]) -> String {
    let listed: Vec<String> = variables
        .iter()
        .take(LISTED)
        .map(usize::to_string)
        .collect();
    let (noun, verb) = match variables {
        [_] => ("variable", "is impossible"),
        _ => ("variables", "cannot hold together"),
    };
    let more = match variables.len().saturating_sub(LISTED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!(
        "the evidence about {noun} {}{more} {verb}: the network gives it probability zero; remove \
         or soften it",
        listed.join(", ")
    )
}
