//! Why a query has no answer.

use std::fmt;

use super::evidence::EvidenceError;

/// Why a query has no answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum QueryError {
    /// The evidence does not fit the network.
    Evidence(EvidenceError),
    /// The network gives the evidence the probability zero.
    Impossible {
        /// Variables whose evidence cannot hold together, ascending.
        variables: Vec<usize>,
        /// Whether the list is irreducible: without the evidence about any one of them, the rest
        /// of the list is possible.
        irreducible: bool,
    },
    /// A number that was to be a uniform draw is not in `[0, 1)`.
    NotUniform {
        /// The number.
        value: f64,
    },
}

impl From<EvidenceError> for QueryError {
    fn from(error: EvidenceError) -> Self {
        QueryError::Evidence(error)
    }
}

/// How many variables of a conflict a message lists.
const LISTED: usize = 12;

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryError::Evidence(error) => error.fmt(f),
            QueryError::Impossible { variables, .. } => {
                let (noun, verb) = if variables.len() == 1 {
                    ("variable", "is impossible")
                } else {
                    ("variables", "cannot hold together")
                };
                write!(f, "the evidence about {noun} ")?;
                for (i, variable) in variables.iter().take(LISTED).enumerate() {
                    write!(f, "{}{variable}", if i == 0 { "" } else { ", " })?;
                }
                if variables.len() > LISTED {
                    write!(f, " and {} more", variables.len() - LISTED)?;
                }
                write!(
                    f,
                    " {verb}: the network gives it probability zero; remove or soften it"
                )
            }
            QueryError::NotUniform { value } => write!(
                f,
                "the source of uniform numbers gave {value}; they must be in [0, 1)"
            ),
        }
    }
}

impl std::error::Error for QueryError {}
