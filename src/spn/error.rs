//! What can be wrong with a network, and where.

use std::fmt;

use super::validity::Defect;

/// Why a network was refused. Nodes are named by the number the builder gave them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum BuildError {
    /// A variable has no states.
    #[error("variable {variable} has no states; it needs at least one")]
    NoStates { variable: usize },
    /// A leaf is about a variable that does not exist.
    #[error(
        "leaf {node}: there is no variable {variable}; the network has {variables}, counted from \
         0"
    )]
    UnknownVariable {
        node: usize,
        variable: usize,
        variables: usize,
    },
    /// A leaf has more or fewer values than its variable has states.
    #[error(
        "leaf {node}: {values} values for variable {variable}, which has {states} states; give \
         one value per state"
    )]
    LeafLength {
        node: usize,
        variable: usize,
        states: usize,
        values: usize,
    },
    /// An indicator leaf is about a state that its variable does not have.
    #[error(
        "leaf {node}: variable {variable} has no state {state}; it has {states}, counted from 0"
    )]
    UnknownState {
        node: usize,
        variable: usize,
        state: usize,
        states: usize,
    },
    /// The weight of a sum or the value of a leaf is negative, infinite or not a number.
    #[error("node {node}: weight {index} is {value}; weights are finite and not negative")]
    Weight {
        node: usize,
        index: usize,
        value: f64,
    },
    /// All weights of a sum, or all values of a leaf, are zero.
    #[error(
        "node {node}: all weights are zero, so the node is zero for every assignment; leave it \
         out or give it a positive weight"
    )]
    AllZero { node: usize },
    /// A sum or a product has no children.
    #[error("node {node} has no children; it needs at least one")]
    NoChildren { node: usize },
    /// A child has not been added before its parent.
    #[error("node {node}: child {child} was not added before it; add children first")]
    UnknownChild { node: usize, child: usize },
    /// Two children of a product share a variable.
    #[error(
        "product {node} is not decomposable: variable {variable} is below its child {} (scope \
         {}) and below its child {} (scope {}); children of a product must not share a variable",
        first.0, Variables(&first.1), second.0, Variables(&second.1)
    )]
    NotDecomposable {
        node: usize,
        first: (usize, Vec<usize>),
        second: (usize, Vec<usize>),
        variable: usize,
    },
    /// Two children of a sum have different scopes.
    #[error(
        "sum {node} is not complete: variable {variable} is below only one of its children {} \
         (scope {}) and {} (scope {}); all children of a sum must have the same scope",
        first.0, Variables(&first.1), second.0, Variables(&second.1)
    )]
    NotComplete {
        node: usize,
        first: (usize, Vec<usize>),
        second: (usize, Vec<usize>),
        variable: usize,
    },
    /// The root does not exist.
    #[error("there is no node {root} to be the root; {nodes} were added")]
    UnknownRoot { root: usize, nodes: usize },
    /// A node is not below the root.
    #[error("node {node} is not below the root {root}; connect it or leave it out")]
    Unreachable { node: usize, root: usize },
    /// Variables that are nowhere below the root.
    #[error(
        "variables {} are nowhere below the root {root}; every variable needs a leaf",
        Variables(missing)
    )]
    RootScope { root: usize, missing: Vec<usize> },
    /// The graph is malformed in a way that the builder rules out.
    #[error("the graph is malformed: {defect}")]
    Malformed { defect: Defect },
    /// The network exceeds a stated limit.
    #[error("too many {what}: the limit is {limit}")]
    TooLarge { what: &'static str, limit: usize },
}

/// How many variables of a scope a message lists.
const LISTED: usize = 12;

/// A scope as a person reads it: `{0, 3, 4}`, shortened where it is long.
struct Variables<'a>(&'a [usize]);

impl fmt::Display for Variables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{")?;
        for (i, variable) in self.0.iter().take(LISTED).enumerate() {
            write!(f, "{}{variable}", if i == 0 { "" } else { ", " })?;
        }
        if self.0.len() > LISTED {
            write!(f, ", and {} more", self.0.len() - LISTED)?;
        }
        write!(f, "}}")
    }
}
