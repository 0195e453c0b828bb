//! A valid network.

use super::validity::{Graph, NodeKind};

/// A valid sum-product network over categorical variables.
///
/// # Formula
/// A leaf over variable `v` has the value `f(x_v)`, a product that of all its children
/// multiplied, a sum `Σ w_c · child_c`. The root's value `S(x)` is a non-negative function of
/// all variables, and the network is the distribution `P(x) = S(x)/Z` with `Z = Σ_x S(x)`, which
/// one pass computes. Weights and leaf values need not be normalized; where they are, `Z = 1`.
///
/// # Invariant
/// Every constructor establishes and nothing can break: every sum is complete, every product
/// decomposable, children come before parents, the root is the last node, every node is below it
/// and every variable too, weights are finite and not negative, and no sum and no leaf is zero
/// throughout. Hence `Z > 0`.
#[derive(Clone, Debug, PartialEq)]
pub struct Network<S = f64> {
    pub(crate) cardinalities: Vec<usize>,
    pub(crate) kinds: Vec<NodeKind>,
    pub(crate) offsets: Vec<u32>,
    pub(crate) children: Vec<u32>,
    /// One per edge; one for the edges of products.
    pub(crate) weights: Vec<S>,
    pub(crate) entry_offsets: Vec<u32>,
    /// The values of all leaves.
    pub(crate) entries: Vec<S>,
}

impl<S> Network<S> {
    /// How many states each variable has.
    pub fn cardinalities(&self) -> &[usize] {
        &self.cardinalities
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.cardinalities.len()
    }

    /// How many nodes there are; the last is the root.
    pub fn nodes(&self) -> usize {
        self.kinds.len()
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.children.len()
    }

    /// The shape without the numbers.
    pub fn graph(&self) -> Graph<'_> {
        Graph {
            kinds: &self.kinds,
            offsets: &self.offsets,
            children: &self.children,
        }
    }

    /// One weight per edge, in the order of [`Graph::children`]; one for the edges of products.
    pub fn weights(&self) -> &[S] {
        &self.weights
    }

    /// The values of leaf `node`, one per state; empty where it is no leaf.
    pub fn leaf_values(&self, node: usize) -> &[S] {
        match (
            self.entry_offsets.get(node),
            self.entry_offsets.get(node.wrapping_add(1)),
        ) {
            (Some(&begin), Some(&end)) => &self.entries[begin as usize..end as usize],
            _ => &[],
        }
    }
}
