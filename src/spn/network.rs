//! A valid network, and its serialized form.

use serde::{Deserialize, Serialize, Serializer};

use super::builder::{Builder, NodeId, Weight};
use super::error::BuildError;
use super::validity::{Graph, Kind};

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
///
/// # Serialized form
/// `{"cardinalities": [2, 3], "nodes": [{"leaf": {"variable": 0, "values": [0.5, 0.5]}}, …,
/// {"product": {"children": [0, 1]}}, {"sum": {"children": [2, 3], "weights": [1.0, 2.0]}}]}`,
/// children before parents, the root last. What is read is checked like what is built.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Stored<S>", bound = "S: Weight + Deserialize<'de>")]
pub struct Network<S = f64> {
    pub(super) cardinalities: Vec<usize>,
    pub(super) kinds: Vec<Kind>,
    pub(super) offsets: Vec<u32>,
    pub(super) children: Vec<u32>,
    /// One an edge; one for the edges of products.
    pub(super) weights: Vec<S>,
    pub(super) entry_offsets: Vec<u32>,
    /// The values of all leaves.
    pub(super) entries: Vec<S>,
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

    /// One weight an edge, in the order of [`Graph::children`]; one for the edges of products.
    pub fn weights(&self) -> &[S] {
        &self.weights
    }

    /// The values of leaf `node`, one a state; empty where it is no leaf.
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

impl<S: Weight> Network<S> {
    /// The same network over other numbers.
    ///
    /// # Errors
    /// [`BuildError::Weight`] and [`BuildError::AllZero`], where a number does not survive the
    /// conversion.
    pub fn convert<T: Weight>(&self, f: impl Fn(&S) -> T) -> Result<Network<T>, BuildError> {
        let mut builder = Builder::new(&self.cardinalities)?;
        let mut root = NodeId(0);
        for (node, kind) in self.kinds.iter().enumerate() {
            let children = self.graph().children_of(node);
            root = match *kind {
                Kind::Leaf { variable } => {
                    let values: Vec<T> = self.leaf_values(node).iter().map(&f).collect();
                    builder.leaf(variable as usize, &values)?
                }
                Kind::Sum => {
                    let weights = &self.weights[self.offsets[node] as usize..];
                    let children: Vec<(NodeId, T)> = children
                        .iter()
                        .zip(weights)
                        .map(|(&child, weight)| (NodeId(child), f(weight)))
                        .collect();
                    builder.sum(&children)?
                }
                Kind::Product => {
                    let children: Vec<NodeId> = children.iter().map(|&c| NodeId(c)).collect();
                    builder.product(&children)?
                }
            };
        }
        builder.build(root)
    }
}

/// The serialized form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored<S> {
    cardinalities: Vec<usize>,
    nodes: Vec<StoredNode<S>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum StoredNode<S> {
    Leaf { variable: usize, values: Vec<S> },
    Sum { children: Vec<u32>, weights: Vec<S> },
    Product { children: Vec<u32> },
}

impl<S: Serialize + Clone> Serialize for Network<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let nodes = (0..self.nodes()).map(|node| {
            let children = self.graph().children_of(node).to_vec();
            match self.kinds[node] {
                Kind::Leaf { variable } => StoredNode::Leaf {
                    variable: variable as usize,
                    values: self.leaf_values(node).to_vec(),
                },
                Kind::Sum => {
                    let begin = self.offsets[node] as usize;
                    let weights = self.weights[begin..begin + children.len()].to_vec();
                    StoredNode::Sum { children, weights }
                }
                Kind::Product => StoredNode::Product { children },
            }
        });
        Stored {
            cardinalities: self.cardinalities.clone(),
            nodes: nodes.collect(),
        }
        .serialize(serializer)
    }
}

impl<S: Weight> TryFrom<Stored<S>> for Network<S> {
    type Error = BuildError;
    fn try_from(stored: Stored<S>) -> Result<Self, BuildError> {
        let mut builder = Builder::new(&stored.cardinalities)?;
        let mut root = NodeId(0);
        for (node, stored) in stored.nodes.into_iter().enumerate() {
            root = match stored {
                StoredNode::Leaf { variable, values } => builder.leaf(variable, &values)?,
                StoredNode::Sum { children, weights } => {
                    if children.len() != weights.len() {
                        return Err(BuildError::WeightCount {
                            node,
                            children: children.len(),
                            weights: weights.len(),
                        });
                    }
                    let children: Vec<_> = children.into_iter().map(NodeId).zip(weights).collect();
                    builder.sum(&children)?
                }
                StoredNode::Product { children } => {
                    let children: Vec<_> = children.into_iter().map(NodeId).collect();
                    builder.product(&children)?
                }
            };
        }
        builder.build(root)
    }
}
