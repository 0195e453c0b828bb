//! Building a network, children first.

use std::num::Wrapping;

use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

use super::error::BuildError;
use super::network::Network;
use super::validity::{Defect, NodeKind, Scope, ScopeSpace, check, words};
use crate::math::Scalar;

/// Nodes, edges and leaf values are counted in 32 bits. 2³⁰ of each also keeps every sum within
/// the error bound of [`super::Compiled`].
const LIMIT: usize = 1 << 30;

/// Words of scratch space that the check of all scopes may use: 1 GiB.
const SCOPE_WORDS: usize = 1 << 27;

/// A number that can be the weight of a sum or the value of a leaf.
pub trait Weight: Scalar {
    /// Whether the number is finite and not negative. Always true of wrapping integers, which
    /// have no sign: they serve to prove identities.
    fn is_weight(&self) -> bool;
    /// The nearest double, for messages.
    fn shown(&self) -> f64;
}

macro_rules! weight {
    ($($t:ty, |$x:ident| $ok:expr, $shown:expr;)*) => {$(
        impl Weight for $t {
            fn is_weight(&self) -> bool {
                let $x = self;
                $ok
            }
            fn shown(&self) -> f64 {
                let $x = self;
                $shown
            }
        }
    )*};
}
weight! {
    f64, |x| *x >= 0.0 && x.is_finite(), *x;
    f32, |x| *x >= 0.0 && x.is_finite(), f64::from(*x);
    BigRational, |x| !x.is_negative(), x.to_f64().unwrap_or(f64::NAN);
    Wrapping<u8>, |_x| true, f64::from(_x.0);
    Wrapping<u16>, |_x| true, f64::from(_x.0);
    Wrapping<u32>, |_x| true, f64::from(_x.0);
    Wrapping<u64>, |_x| true, _x.0 as f64;
}

/// A node of the network under construction: its number, counted from 0 in the order of adding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    /// The number, counted from 0 in the order of adding.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Builds a [`Network`], children before parents.
///
/// A child is named by the [`NodeId`] that this builder returned for it, so a cycle cannot be
/// expressed; an id of another builder that is not one of this is refused.
///
/// Weights and leaf values need not add up to one: any finite, non-negative numbers with at least
/// one above zero. The network then stands for the distribution `S(x)/Z`, where `Z` is its value
/// without evidence; see [`Network`].
///
/// ```
/// use lpf::spn::{Builder, Evidence};
/// let mut builder = Builder::new(&[2, 2])?;
/// let sunny = [builder.leaf(0, &[0.9, 0.1])?, builder.leaf(1, &[0.8, 0.2])?];
/// let rainy = [builder.leaf(0, &[0.2, 0.8])?, builder.leaf(1, &[0.3, 0.7])?];
/// let (sunny, rainy) = (builder.product(&sunny)?, builder.product(&rainy)?);
/// let root = builder.sum(&[(sunny, 0.5), (rainy, 0.5)])?;
/// let network = builder.build(root)?;
/// let mut evidence = Evidence::none(&network);
/// evidence.observe(0, 0)?;
/// assert_eq!(network.evaluate(&evidence)?, 0.55);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder<S = f64> {
    /// Not yet valid: neither connected nor checked for its scopes.
    draft: Network<S>,
}

impl<S: Weight> Builder<S> {
    /// A builder for networks over variables `0..n`, where variable `v` has the states
    /// `0..cardinalities[v]`.
    ///
    /// # Errors
    /// [`BuildError::NoStates`], [`BuildError::TooLarge`].
    pub fn new(cardinalities: &[usize]) -> Result<Self, BuildError> {
        within(cardinalities.len(), "variables")?;
        let mut states = 0usize;
        for (variable, &cardinality) in cardinalities.iter().enumerate() {
            if cardinality == 0 {
                return Err(BuildError::NoStates { variable });
            }
            states = states.saturating_add(cardinality);
        }
        within(states, "states of all variables")?;
        Ok(Builder {
            draft: Network {
                cardinalities: cardinalities.to_vec(),
                kinds: Vec::new(),
                offsets: vec![0],
                children: Vec::new(),
                weights: Vec::new(),
                entry_offsets: vec![0],
                entries: Vec::new(),
            },
        })
    }

    /// Adds a leaf: the value `values[x]` for each state `x` of `variable`.
    ///
    /// # Errors
    /// [`BuildError::UnknownVariable`], [`BuildError::LeafLength`], [`BuildError::Weight`],
    /// [`BuildError::AllZero`], [`BuildError::TooLarge`].
    pub fn leaf(&mut self, variable: usize, values: &[S]) -> Result<NodeId, BuildError> {
        let node = self.draft.kinds.len();
        let states = self.states(variable)?;
        if values.len() != states {
            return Err(BuildError::LeafLength {
                node,
                variable,
                states,
                values: values.len(),
            });
        }
        self.check_weights(values)?;
        within(self.draft.entries.len() + states, "leaf values")?;
        self.draft.entries.extend_from_slice(values);
        self.push(NodeKind::Leaf {
            variable: variable as u32,
        })
    }

    /// Adds the leaf that is one where `variable` is in `state` and zero elsewhere.
    ///
    /// # Errors
    /// [`BuildError::UnknownVariable`], [`BuildError::UnknownState`], [`BuildError::TooLarge`].
    pub fn indicator(&mut self, variable: usize, state: usize) -> Result<NodeId, BuildError> {
        let states = self.states(variable)?;
        if state >= states {
            return Err(BuildError::UnknownState {
                node: self.draft.kinds.len(),
                variable,
                state,
                states,
            });
        }
        within(self.draft.entries.len() + states, "leaf values")?;
        self.draft
            .entries
            .extend((0..states).map(|x| if x == state { S::one() } else { S::zero() }));
        self.push(NodeKind::Leaf {
            variable: variable as u32,
        })
    }

    /// Adds the sum of the children, each times its weight. A child may be listed twice; the order
    /// of the list has no effect on any result.
    ///
    /// # Errors
    /// [`BuildError::NoChildren`], [`BuildError::UnknownChild`], [`BuildError::Weight`],
    /// [`BuildError::AllZero`], [`BuildError::TooLarge`].
    pub fn sum(&mut self, children: &[(NodeId, S)]) -> Result<NodeId, BuildError> {
        self.check_children(children.len(), children.iter().map(|(child, _)| child.0))?;
        // Messages count weights as the caller listed them, so they are checked before sorting.
        let weights: Vec<S> = children.iter().map(|(_, weight)| weight.clone()).collect();
        self.check_weights(&weights)?;
        let mut order: Vec<usize> = (0..children.len()).collect();
        order.sort_by_key(|&i| children[i].0);
        for i in order {
            self.draft.children.push(children[i].0.0);
            self.draft.weights.push(weights[i].clone());
        }
        self.push(NodeKind::Sum)
    }

    /// Adds the product of the children. The order of the list has no effect on any result.
    ///
    /// # Errors
    /// [`BuildError::NoChildren`], [`BuildError::UnknownChild`], [`BuildError::TooLarge`].
    pub fn product(&mut self, children: &[NodeId]) -> Result<NodeId, BuildError> {
        self.check_children(children.len(), children.iter().map(|child| child.0))?;
        let begin = self.draft.children.len();
        self.draft
            .children
            .extend(children.iter().map(|child| child.0));
        self.draft.children[begin..].sort_unstable();
        self.draft
            .weights
            .resize(self.draft.children.len(), S::one());
        self.push(NodeKind::Product)
    }

    /// The network with the given root.
    ///
    /// # Errors
    /// [`BuildError::UnknownRoot`]; [`BuildError::NotDecomposable`] and [`BuildError::NotComplete`]
    /// name the first node that is not valid, two of its children, their scopes and the variable;
    /// [`BuildError::Unreachable`]; [`BuildError::RootScope`]; [`BuildError::TooLarge`] where the
    /// scopes of all products need more than 1 GiB (products × variables / 8 bytes).
    pub fn build(self, root: NodeId) -> Result<Network<S>, BuildError> {
        let nodes = self.draft.kinds.len();
        if root.index() >= nodes {
            return Err(BuildError::UnknownRoot {
                root: root.index(),
                nodes,
            });
        }
        self.check_scopes(root)?;
        self.check_reachable(root)?;
        Ok(self.draft)
    }

    fn states(&self, variable: usize) -> Result<usize, BuildError> {
        self.draft
            .cardinalities
            .get(variable)
            .copied()
            .ok_or(BuildError::UnknownVariable {
                node: self.draft.kinds.len(),
                variable,
                variables: self.draft.cardinalities.len(),
            })
    }

    fn check_weights(&self, weights: &[S]) -> Result<(), BuildError> {
        let node = self.draft.kinds.len();
        for (index, weight) in weights.iter().enumerate() {
            if !weight.is_weight() {
                let value = weight.shown();
                return Err(BuildError::Weight { node, index, value });
            }
        }
        if weights.iter().all(S::is_zero) {
            return Err(BuildError::AllZero { node });
        }
        Ok(())
    }

    fn check_children(
        &self,
        count: usize,
        children: impl Iterator<Item = u32>,
    ) -> Result<(), BuildError> {
        let node = self.draft.kinds.len();
        if count == 0 {
            return Err(BuildError::NoChildren { node });
        }
        for child in children {
            if child as usize >= node {
                let child = child as usize;
                return Err(BuildError::UnknownChild { node, child });
            }
        }
        within(self.draft.children.len() + count, "edges")
    }

    fn push(&mut self, kind: NodeKind) -> Result<NodeId, BuildError> {
        within(self.draft.kinds.len() + 1, "nodes")?;
        let id = NodeId(self.draft.kinds.len() as u32);
        self.draft.kinds.push(kind);
        self.draft.offsets.push(self.draft.children.len() as u32);
        self.draft
            .entry_offsets
            .push(self.draft.entries.len() as u32);
        Ok(id)
    }

    /// Completeness and decomposability of every node, and every variable below the root.
    fn check_scopes(&self, root: NodeId) -> Result<(), BuildError> {
        let variables = self.draft.cardinalities.len();
        let products = self
            .draft
            .kinds
            .iter()
            .filter(|&&k| k == NodeKind::Product)
            .count();
        let needed = products.saturating_mul(words(variables));
        if needed > SCOPE_WORDS {
            return Err(BuildError::TooLarge {
                what: "words in the scopes of all products",
                limit: SCOPE_WORDS,
            });
        }
        let mut scopes = vec![Scope::One(0); self.draft.kinds.len()];
        let mut bits = vec![0; needed];
        let mut space = ScopeSpace {
            scopes: &mut scopes,
            bits: &mut bits,
        };
        check(self.draft.graph(), variables, &mut space).map_err(|defect| self.explain(defect))?;
        let scope = self.scope(root.0);
        if scope.len() < variables {
            let missing = (0..variables)
                .filter(|v| scope.binary_search(v).is_err())
                .collect();
            let root = root.index();
            return Err(BuildError::RootScope { root, missing });
        }
        Ok(())
    }

    fn check_reachable(&self, root: NodeId) -> Result<(), BuildError> {
        let below = self.below(root.0);
        match below.iter().position(|&reached| !reached) {
            Some(node) => Err(BuildError::Unreachable {
                node,
                root: root.index(),
            }),
            None => Ok(()),
        }
    }

    /// Which nodes are `node` or below it.
    fn below(&self, node: u32) -> Vec<bool> {
        let mut below = vec![false; self.draft.kinds.len()];
        below[node as usize] = true;
        for parent in (0..=node as usize).rev() {
            if below[parent] {
                for &child in self.draft.graph().children_of(parent) {
                    below[child as usize] = true;
                }
            }
        }
        below
    }

    /// The variables below a node, ascending.
    fn scope(&self, node: u32) -> Vec<usize> {
        let mut has = vec![false; self.draft.cardinalities.len()];
        for (kind, below) in self.draft.kinds.iter().zip(self.below(node)) {
            if let (NodeKind::Leaf { variable }, true) = (kind, below) {
                has[*variable as usize] = true;
            }
        }
        (0..has.len()).filter(|&v| has[v]).collect()
    }

    /// A defect with the scopes that show it.
    fn explain(&self, defect: Defect) -> BuildError {
        let with_scope = |child: u32| (child as usize, self.scope(child));
        match defect {
            Defect::NotDecomposable {
                node,
                first,
                second,
                variable,
            } => BuildError::NotDecomposable {
                node: node as usize,
                first: with_scope(first),
                second: with_scope(second),
                variable: variable as usize,
            },
            Defect::NotComplete {
                node,
                first,
                second,
                variable,
            } => BuildError::NotComplete {
                node: node as usize,
                first: with_scope(first),
                second: with_scope(second),
                variable: variable as usize,
            },
            // Not reached: the other conditions were checked when the node was added.
            other => BuildError::Malformed { defect: other },
        }
    }
}

fn within(count: usize, what: &'static str) -> Result<(), BuildError> {
    if count > LIMIT {
        return Err(BuildError::TooLarge { what, limit: LIMIT });
    }
    Ok(())
}
