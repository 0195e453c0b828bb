//! Evaluation over any scalar, in one pass from the leaves to the root.

use super::builder::Weight;
use super::evidence::{Evidence, EvidenceError, Known};
use super::network::Network;
use super::validity::{Graph, NodeKind};
use crate::math::Scalar;

/// The value of a leaf: its values added up, each times the likelihood of its state.
pub fn leaf_value<S: Scalar>(values: &[S], known: Known<'_, S>) -> S {
    match known {
        Known::Nothing => S::sum(values.iter().cloned()),
        Known::State(state) => values.get(state).cloned().unwrap_or_else(S::zero),
        Known::Likelihood(likelihoods) => S::sum(
            values
                .iter()
                .zip(likelihoods)
                .map(|(value, likelihood)| value.clone() * likelihood.clone()),
        ),
    }
}

/// Fills in the values of all sums and products; those of the leaves are in `values` already.
///
/// Domain: one weight per edge, one value per node, children before parents (what
/// [`check`](super::check) establishes). Sums do not depend on the order of the children.
pub fn upward<S: Scalar>(graph: Graph<'_>, weights: &[S], values: &mut [S]) {
    for node in 0..values.len() {
        let children = graph.children_of(node);
        let value = match graph.kinds.get(node) {
            Some(NodeKind::Sum) => {
                let begin = graph.offsets[node] as usize;
                S::sum(
                    children
                        .iter()
                        .zip(weights.iter().skip(begin))
                        .map(|(&child, weight)| weight.clone() * values[child as usize].clone()),
                )
            }
            Some(NodeKind::Product) => children
                .iter()
                .fold(S::one(), |p, &child| p * values[child as usize].clone()),
            _ => continue,
        };
        values[node] = value;
    }
}

impl<S: Weight> Network<S> {
    /// `S(e) = Σ_x S(x)·Π_v λ_v(x_v)`: the value of the root under the evidence, in the arithmetic
    /// of `S`. Exact for rationals; the identity behind every other query.
    ///
    /// In floats every sum is rounded once, and every product node multiplies in the order of its
    /// children's numbers; a product of many small values underflows. [`super::Compiled`] is the
    /// evaluation for doubles that does not.
    ///
    /// # Errors
    /// [`EvidenceError::OtherNetwork`].
    pub fn evaluate(&self, evidence: &Evidence<S>) -> Result<S, EvidenceError> {
        let mut values = Vec::new();
        self.evaluate_into(evidence, &mut values)?;
        // A network has at least one node.
        Ok(values.pop().unwrap_or_else(S::zero))
    }

    /// As [`Network::evaluate`], leaving the value of every node in `values`, the root's last.
    ///
    /// # Errors
    /// [`EvidenceError::OtherNetwork`].
    pub fn evaluate_into(
        &self,
        evidence: &Evidence<S>,
        values: &mut Vec<S>,
    ) -> Result<(), EvidenceError> {
        evidence.check_for(self)?;
        values.clear();
        values.extend(
            self.kinds
                .iter()
                .enumerate()
                .map(|(node, kind)| match kind {
                    NodeKind::Leaf { variable } => {
                        leaf_value(self.leaf_values(node), evidence.about(*variable as usize))
                    }
                    _ => S::zero(),
                }),
        );
        upward(self.graph(), &self.weights, values);
        Ok(())
    }
}
