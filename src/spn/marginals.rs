//! Marginals of all variables in one pass up and one pass down.

use super::compiled::{Compiled, Workspace};
use super::evidence::{Evidence, Known};
use super::query::QueryError;
use super::scaled::{Scaled, WideProduct, product};
use super::validity::NodeKind;

/// The distribution of every variable given the evidence.
#[derive(Debug)]
pub struct Marginals<'a> {
    compiled: &'a Compiled,
    joint: &'a [Scaled],
    probabilities: &'a [f64],
}

impl Marginals<'_> {
    /// `P(X_v = x | e)` for every state `x` of `variable`; empty where there is no such variable.
    ///
    /// Each entry is rounded once to a double, so the entries are a valid
    /// [`Distribution`](crate::simplex::Distribution); one below 2⁻¹⁰⁷⁵ is zero, while
    /// [`Marginals::log_probability`] still tells it from an impossible one.
    pub fn probabilities(&self, variable: usize) -> &[f64] {
        match self.states(variable) {
            Some(range) => &self.probabilities[range],
            None => &[],
        }
    }

    /// `ln P(X_v = x | e)`; `−∞` where the state is impossible or does not exist.
    pub fn log_probability(&self, variable: usize, state: usize) -> f64 {
        let joint = self.states(variable).map(|range| &self.joint[range]);
        let Some(&value) = joint.and_then(|joint| joint.get(state)) else {
            return f64::NEG_INFINITY;
        };
        let total = total(joint.unwrap_or(&[]));
        value.over(total).ln()
    }

    fn states(&self, variable: usize) -> Option<std::ops::Range<usize>> {
        let offsets = &self.compiled.state_offsets;
        Some(*offsets.get(variable)?..*offsets.get(variable + 1)?)
    }
}

fn total(joint: &[Scaled]) -> Scaled {
    Scaled::sum_of_products(joint.len(), |i| (Scaled::ONE, joint[i]))
}

impl Compiled {
    /// `P(X_v = x | e)` for every variable and state.
    ///
    /// # Formula
    /// The derivative of the root by a node is `d = Σ_parents d_p·w` over sums and
    /// `d_p·Π siblings` over products, one at the root. Then
    /// `S(x_v, e) = λ_v(x_v)·Σ_leaves d·f(x_v)`, divided by its sum over the states.
    /// The siblings are multiplied from both sides, never divided out, so zeros are exact. An observed variable is in
    /// its state whatever the network: nodes without others below them are passed over.
    ///
    /// # Errors
    /// [`QueryError::Evidence`], [`QueryError::Impossible`].
    pub fn marginals<'a>(
        &'a self,
        evidence: &Evidence,
        workspace: &'a mut Workspace,
    ) -> Result<Marginals<'a>, QueryError> {
        self.possible(evidence, workspace)?;
        self.mark_wanted(evidence, &mut workspace.wanted);
        self.downward(workspace);
        self.join_states(evidence, workspace);
        Ok(Marginals {
            compiled: self,
            joint: &workspace.joint,
            probabilities: &workspace.probabilities,
        })
    }

    /// Which nodes are above a leaf whose variable is not observed.
    fn mark_wanted(&self, evidence: &Evidence, wanted: &mut Vec<bool>) {
        let graph = self.network.graph();
        wanted.clear();
        for (node, kind) in graph.kinds.iter().enumerate() {
            let here = match *kind {
                NodeKind::Leaf { variable } => {
                    !matches!(evidence.about(variable as usize), Known::State(_))
                }
                _ => graph
                    .children_of(node)
                    .iter()
                    .any(|&child| wanted[child as usize]),
            };
            wanted.push(here);
        }
    }

    /// The derivatives of all wanted nodes, from the root to the leaves; needs their values.
    fn downward(&self, workspace: &mut Workspace) {
        let graph = self.network.graph();
        let Workspace {
            values,
            derivatives,
            flows,
            prefixes,
            wanted,
            ..
        } = workspace;
        let root = graph.kinds.len() - 1;
        derivatives.resize(root + 1, Scaled::ZERO);
        flows.resize(graph.children.len(), Scaled::ZERO);
        for node in (0..=root).rev() {
            if !wanted[node] {
                continue;
            }
            let derivative = match *self.incoming.row(node) {
                [] => Scaled::ONE,
                [edge] => flows[edge as usize],
                ref edges => Scaled::sum_of_products(edges.len(), |i| {
                    (Scaled::ONE, flows[edges[i] as usize])
                }),
            };
            derivatives[node] = derivative;
            let edges = graph.offsets[node] as usize..graph.offsets[node + 1] as usize;
            let children = &graph.children[edges.clone()];
            let down = &mut flows[edges.clone()];
            match graph.kinds[node] {
                NodeKind::Leaf { .. } => {}
                NodeKind::Sum => {
                    for (flow, &weight) in down.iter_mut().zip(&self.network.weights[edges]) {
                        *flow = derivative.times(Scaled::from_f64(weight));
                    }
                }
                NodeKind::Product => match *children {
                    [_] => down[0] = derivative,
                    [a, b] => {
                        down[0] = derivative.times(values[b as usize]);
                        down[1] = derivative.times(values[a as usize]);
                    }
                    _ => siblings(derivative, children, values, wanted, prefixes, down),
                },
            }
        }
    }

    /// The joint value of every state with the evidence, and its share among the states.
    fn join_states(&self, evidence: &Evidence, workspace: &mut Workspace) {
        let Workspace {
            derivatives,
            joint,
            probabilities,
            ..
        } = workspace;
        let variables = self.network.variables();
        joint.resize(self.state_offsets[variables], Scaled::ZERO);
        probabilities.resize(joint.len(), 0.0);
        let offsets = &self.network.entry_offsets;
        for variable in 0..variables {
            let states = self.state_offsets[variable]..self.state_offsets[variable + 1];
            let known = evidence.about(variable);
            if let Known::State(seen) = known {
                joint[states.clone()].fill(Scaled::ZERO);
                probabilities[states.clone()].fill(0.0);
                joint[states.start + seen] = Scaled::ONE;
                probabilities[states.start + seen] = 1.0;
                continue;
            }
            let leaves = self.leaves.row(variable);
            for (state, slot) in joint[states.clone()].iter_mut().enumerate() {
                *slot = Scaled::sum_of_products(leaves.len(), |i| {
                    let leaf = leaves[i] as usize;
                    let value = self.network.entries[offsets[leaf] as usize + state];
                    (derivatives[leaf], Scaled::from_f64(value))
                });
                if let Known::Likelihood(likelihoods) = known {
                    *slot = slot.times(Scaled::from_f64(likelihoods[state]));
                }
            }
            let joint = &joint[states.clone()];
            let total = total(joint);
            for (probability, value) in probabilities[states].iter_mut().zip(joint) {
                *probability = value.ratio(total);
            }
        }
    }
}

/// For every wanted child of a product, the derivative times the values of the other children.
fn siblings(
    derivative: Scaled,
    children: &[u32],
    values: &[Scaled],
    wanted: &[bool],
    prefixes: &mut Vec<WideProduct>,
    down: &mut [Scaled],
) {
    let is_wanted = |i: usize| wanted[children[i] as usize];
    // In place of the child itself.
    let others = |i: usize| {
        product(children.len(), |j| match j == i {
            true => derivative,
            false => values[children[j] as usize],
        })
    };
    if let Some(only) = (0..children.len()).find(|&i| is_wanted(i))
        && !(only + 1..children.len()).any(is_wanted)
    {
        down[only] = others(only);
        return;
    }
    prefixes.clear();
    let mut before = WideProduct::ONE;
    for &child in children {
        prefixes.push(before);
        before = before.times(values[child as usize]);
    }
    let mut after = WideProduct::ONE.times(derivative);
    for (i, &child) in children.iter().enumerate().rev() {
        if is_wanted(i) {
            let both = prefixes[i].join(after);
            down[i] = both.rounded().unwrap_or_else(|| others(i));
        }
        after = after.times(values[child as usize]);
    }
}
