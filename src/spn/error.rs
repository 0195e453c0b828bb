//! What can be wrong with a network, and where.

use std::fmt;

use super::validity::Defect;

/// Why a network was refused. Nodes are named by the number the builder gave them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// A variable has no states.
    NoStates {
        /// The variable.
        variable: usize,
    },
    /// A leaf is about a variable that does not exist.
    UnknownVariable {
        /// The leaf.
        node: usize,
        /// The variable.
        variable: usize,
        /// How many variables there are.
        variables: usize,
    },
    /// A leaf has more or fewer values than its variable has states.
    LeafLength {
        /// The leaf.
        node: usize,
        /// Its variable.
        variable: usize,
        /// How many states the variable has.
        states: usize,
        /// How many values were given.
        values: usize,
    },
    /// An indicator leaf is about a state that its variable does not have.
    UnknownState {
        /// The leaf.
        node: usize,
        /// Its variable.
        variable: usize,
        /// The state.
        state: usize,
        /// How many states the variable has.
        states: usize,
    },
    /// The weight of a sum or the value of a leaf is negative, infinite or not a number.
    Weight {
        /// The node.
        node: usize,
        /// Position of the weight in the node.
        index: usize,
        /// The weight.
        value: f64,
    },
    /// All weights of a sum, or all values of a leaf, are zero.
    AllZero {
        /// The node.
        node: usize,
    },
    /// A sum or a product has no children.
    NoChildren {
        /// The node.
        node: usize,
    },
    /// A child has not been added before its parent.
    UnknownChild {
        /// The parent.
        node: usize,
        /// The child.
        child: usize,
    },
    /// A sum in serialized form has more or fewer weights than children.
    WeightCount {
        /// The sum.
        node: usize,
        /// How many children it has.
        children: usize,
        /// How many weights it has.
        weights: usize,
    },
    /// Two children of a product share a variable.
    NotDecomposable {
        /// The product.
        node: usize,
        /// One child and its scope.
        first: (usize, Vec<usize>),
        /// The other child and its scope.
        second: (usize, Vec<usize>),
        /// A variable that is in both scopes.
        variable: usize,
    },
    /// Two children of a sum have different scopes.
    NotComplete {
        /// The sum.
        node: usize,
        /// One child and its scope.
        first: (usize, Vec<usize>),
        /// The other child and its scope.
        second: (usize, Vec<usize>),
        /// A variable that is in one scope only.
        variable: usize,
    },
    /// The root does not exist.
    UnknownRoot {
        /// The root.
        root: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A node has no part in the network.
    Unreachable {
        /// The node.
        node: usize,
        /// The root.
        root: usize,
    },
    /// Variables that are nowhere below the root.
    RootScope {
        /// The root.
        root: usize,
        /// The variables.
        missing: Vec<usize>,
    },
    /// The graph is malformed in a way that the builder rules out.
    Malformed {
        /// What is wrong.
        defect: Defect,
    },
    /// The network exceeds a stated limit.
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
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

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use BuildError::*;
        match self {
            NoStates { variable } => {
                write!(
                    f,
                    "variable {variable} has no states; it needs at least one"
                )
            }
            UnknownVariable {
                node,
                variable,
                variables,
            } => write!(
                f,
                "leaf {node}: there is no variable {variable}; the network has {variables}, \
                 counted from 0"
            ),
            LeafLength {
                node,
                variable,
                states,
                values,
            } => write!(
                f,
                "leaf {node}: {values} values for variable {variable}, which has {states} states; \
                 give one value a state"
            ),
            UnknownState {
                node,
                variable,
                state,
                states,
            } => write!(
                f,
                "leaf {node}: variable {variable} has no state {state}; it has {states}, counted \
                 from 0"
            ),
            Weight { node, index, value } => write!(
                f,
                "node {node}: weight {index} is {value}; weights are finite and not negative"
            ),
            AllZero { node } => write!(
                f,
                "node {node}: all weights are zero, so the node is zero for every assignment; \
                 leave it out or give it a positive weight"
            ),
            NoChildren { node } => write!(f, "node {node} has no children; it needs at least one"),
            UnknownChild { node, child } => write!(
                f,
                "node {node}: child {child} was not added before it; add children first"
            ),
            WeightCount {
                node,
                children,
                weights,
            } => write!(
                f,
                "sum {node} has {weights} weights for {children} children; give one weight a child"
            ),
            NotDecomposable {
                node,
                first,
                second,
                variable,
            } => write!(
                f,
                "product {node} is not decomposable: variable {variable} is below its child {} \
                 (scope {}) and below its child {} (scope {}); children of a product must not \
                 share a variable",
                first.0,
                Variables(&first.1),
                second.0,
                Variables(&second.1)
            ),
            NotComplete {
                node,
                first,
                second,
                variable,
            } => write!(
                f,
                "sum {node} is not complete: variable {variable} is below only one of its \
                 children {} (scope {}) and {} (scope {}); all children of a sum must have the \
                 same scope",
                first.0,
                Variables(&first.1),
                second.0,
                Variables(&second.1)
            ),
            UnknownRoot { root, nodes } => {
                write!(
                    f,
                    "there is no node {root} to be the root; {nodes} were added"
                )
            }
            Unreachable { node, root } => write!(
                f,
                "node {node} is not below the root {root}; connect it or leave it out"
            ),
            RootScope { root, missing } => write!(
                f,
                "variables {} are nowhere below the root {root}; every variable needs a leaf",
                Variables(missing)
            ),
            Malformed { defect } => write!(f, "the graph is malformed: {defect:?}"),
            TooLarge { what, limit } => write!(f, "too many {what}: the limit is {limit}"),
        }
    }
}

impl std::error::Error for BuildError {}
