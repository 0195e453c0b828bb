//! Ancestral sampling.

use rand::Rng;

use super::compiled::{Compiled, Workspace};
use super::evidence::{Evidence, Known};
use super::query::QueryError;
use super::scaled::Scaled;
use super::validity::NodeKind;

/// Draws assignments from the distribution given some evidence.
#[derive(Debug)]
pub struct Sampler<'a> {
    compiled: &'a Compiled,
    evidence: &'a Evidence,
    workspace: &'a mut Workspace,
}

impl Compiled {
    /// Prepares to draw assignments given the evidence: one pass up for all of them.
    ///
    /// # Errors
    /// [`QueryError::Evidence`], [`QueryError::Impossible`].
    pub fn sampler<'a>(
        &'a self,
        evidence: &'a Evidence,
        workspace: &'a mut Workspace,
    ) -> Result<Sampler<'a>, QueryError> {
        self.possible(evidence, workspace)?;
        Ok(Sampler {
            compiled: self,
            evidence,
            workspace,
        })
    }
}

impl Sampler<'_> {
    /// Draws one assignment: from the root down, a sum passes on to one child in proportion to
    /// weight times value, a product to all, and a leaf picks a state in proportion to value
    /// times likelihood. An impossible state is never drawn.
    ///
    /// 64 bits are used for every sum and every leaf on the way, in an order that depends on
    /// nothing but the network and the draws before. `assignment` is cleared and filled with one
    /// state per variable.
    pub fn draw(&mut self, rng: &mut impl Rng, assignment: &mut Vec<usize>) {
        let network = self.compiled.network();
        let graph = network.graph();
        let Workspace { values, stack, .. } = &mut *self.workspace;
        assignment.clear();
        assignment.resize(network.variables(), 0);
        stack.clear();
        stack.push(network.nodes() as u32 - 1);
        while let Some(node) = stack.pop() {
            let node = node as usize;
            let children = graph.children_of(node);
            match graph.kinds[node] {
                NodeKind::Product => stack.extend(children),
                NodeKind::Sum => {
                    let weights = &network.weights[graph.offsets[node] as usize..];
                    let picked = Scaled::pick(children.len(), rng.next_u64(), |i| {
                        (Scaled::from_f64(weights[i]), values[children[i] as usize])
                    });
                    // Something can be picked: only nodes of positive value are visited.
                    stack.extend(picked.map(|i| children[i]));
                }
                NodeKind::Leaf { variable } => {
                    let variable = variable as usize;
                    let leaf = network.leaf_values(node);
                    let at = rng.next_u64();
                    let picked = match self.evidence.about(variable) {
                        Known::State(state) => Some(state),
                        Known::Nothing => Scaled::pick(leaf.len(), at, |x| {
                            (Scaled::ONE, Scaled::from_f64(leaf[x]))
                        }),
                        Known::Likelihood(likelihoods) => Scaled::pick(leaf.len(), at, |x| {
                            (Scaled::from_f64(likelihoods[x]), Scaled::from_f64(leaf[x]))
                        }),
                    };
                    assignment[variable] = picked.unwrap_or(0);
                }
            }
        }
    }
}
