//! The most probable explanation (MPE): the assignment of highest probability given evidence.
//!
//! To find it is NP-hard for general networks. Three quantities are cheap, one pass each:
//!
//! | pass | leaves | sums | gives |
//! |---|---|---|---|
//! | max-product | largest value | largest term | the best *single* way through the sums: at most the optimum |
//! | value | at the assignment | sum | what an assignment really has |
//! | bound | largest value | sum (largest term where the sum is selective) | at least the optimum |
//!
//! The last one holds because a maximum of sums is at most the sum of the maxima. In a selective
//! network every sum has one term only, so all three agree and max-product is exact; for the
//! others a best-first search over partial assignments closes the gap, as far as it is allowed to.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::compiled::{Compiled, Workspace};
use super::evidence::{Evidence, Known};
use super::query::QueryError;
use super::scaled::Scaled;
use super::selective::selective_sums;
use super::validity::NodeKind;

/// An assignment, and how far from the best it can be.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The state of each variable.
    pub assignment: Vec<usize>,
    /// `ln S(x)·Π λ(x)`: the logarithm of its value, evidence included, not divided by `Z`.
    pub log_value: f64,
    /// No assignment has a larger logarithm than this.
    pub log_bound: f64,
    /// Whether the assignment is a best one: the value meets the bound.
    pub exact: bool,
}

/// How sums are treated in a pass of maxima.
#[derive(Clone, Copy, PartialEq)]
enum Sums {
    /// The largest term: the best single way.
    Largest,
    /// The sum of the terms, or the largest where it is the only one: an upper bound.
    Bound,
}

/// A partial assignment to the first variables. Ordered by its bound; among equals the longer
/// one first, then the lexicographically smaller.
type Candidate = (Scaled, usize, Reverse<Vec<usize>>);

impl Compiled {
    /// The max-product explanation: two passes.
    ///
    /// Guarantee: `log_value` is the value of the assignment, and at least that of the best single
    /// way through the sums; `log_bound` is at least the optimum. Where every sum is selective (by
    /// the test of one separating variable, as for indicator leaves below each branch), the
    /// assignment is a best one and `exact` is set. All of this up to
    /// [`Compiled::relative_error`]. Ties go to the smaller node and the smaller state.
    ///
    /// # Errors
    /// [`QueryError::Evidence`], [`QueryError::Impossible`].
    pub fn max_product(
        &self,
        evidence: &Evidence,
        workspace: &mut Workspace,
    ) -> Result<Explanation, QueryError> {
        self.most_probable(evidence, 0, workspace)
    }

    /// The best assignment, by best-first search with at most `passes` evaluations of the bound.
    ///
    /// Guarantee: as [`Compiled::max_product`], and `exact` is set unless the passes ran out;
    /// `log_bound` is what the search has proved by then. `Π cardinalities · 2` passes always
    /// suffice. No assignment has a value that exceeds the one returned, where `exact`, by more
    /// than twice [`Compiled::relative_error`].
    ///
    /// # Errors
    /// [`QueryError::Evidence`], [`QueryError::Impossible`].
    pub fn most_probable(
        &self,
        evidence: &Evidence,
        mut passes: usize,
        workspace: &mut Workspace,
    ) -> Result<Explanation, QueryError> {
        self.possible(evidence, workspace)?;
        let cardinalities = self.network.cardinalities();
        self.maxima(evidence, Sums::Largest, workspace);
        let mut best = self.trace(evidence, workspace);
        let mut best_value = self.value_of(&best, evidence, workspace);
        let bound = self.maxima(evidence, Sums::Bound, workspace);
        let mut open: BinaryHeap<Candidate> = BinaryHeap::new();
        open.push((bound, 0, Reverse(Vec::new())));
        let mut restricted = evidence.clone();
        while let Some((bound, length, Reverse(prefix))) = open.pop() {
            if bound <= best_value {
                open.clear();
                break;
            }
            if length == cardinalities.len() {
                (best, best_value) = (prefix, bound);
                open.clear();
                break;
            }
            let states = cardinalities[length];
            if passes < states {
                open.push((bound, length, Reverse(prefix)));
                break;
            }
            passes -= states;
            restricted.clone_from(evidence);
            for (variable, &state) in prefix.iter().enumerate() {
                restricted.restrict(variable, state)?;
            }
            for state in 0..states {
                restricted.copy(length, evidence);
                restricted.restrict(length, state)?;
                let bound = self.maxima(&restricted, Sums::Bound, workspace);
                if bound > best_value {
                    let mut longer = prefix.clone();
                    longer.push(state);
                    open.push((bound, length + 1, Reverse(longer)));
                }
            }
        }
        let bound = open.peek().map_or(best_value, |top| top.0.max(best_value));
        Ok(Explanation {
            assignment: best,
            log_value: best_value.ln(),
            log_bound: bound.ln(),
            exact: bound == best_value,
        })
    }

    fn value_of(
        &self,
        assignment: &[usize],
        evidence: &Evidence,
        workspace: &mut Workspace,
    ) -> Scaled {
        let mut full = evidence.clone();
        for (variable, &state) in assignment.iter().enumerate() {
            // Cannot fail: every state is one of a leaf of this network.
            if full.restrict(variable, state).is_err() {
                return Scaled::ZERO;
            }
        }
        self.maxima(&full, Sums::Bound, workspace)
    }

    /// One pass of maxima; the evidence fits the network.
    fn maxima(&self, evidence: &Evidence, sums: Sums, workspace: &mut Workspace) -> Scaled {
        let selective = self.selective.get_or_init(|| selective_sums(&self.network));
        let graph = self.network.graph();
        workspace.values.resize(graph.kinds.len(), Scaled::ZERO);
        for (node, &kind) in graph.kinds.iter().enumerate() {
            let value = match kind {
                NodeKind::Leaf { variable } => self.best_state(node, variable as usize, evidence).1,
                NodeKind::Sum if sums == Sums::Largest || selective[node] => {
                    self.best_term(node, workspace).1
                }
                _ => self.node_value(node, &workspace.values),
            };
            workspace.values[node] = value;
        }
        workspace.values[graph.kinds.len() - 1]
    }

    /// The state of a leaf with the largest value, the first on a tie.
    fn best_state(&self, node: usize, variable: usize, evidence: &Evidence) -> (usize, Scaled) {
        let leaf = self.network.leaf_values(node);
        let scaled = leaf.iter().map(|&value| Scaled::from_f64(value));
        match evidence.about(variable) {
            Known::State(state) => (state, Scaled::from_f64(leaf[state])),
            Known::Nothing => first_largest(scaled),
            Known::Likelihood(likelihoods) => first_largest(
                scaled
                    .zip(likelihoods)
                    .map(|(value, &likelihood)| value.times(Scaled::from_f64(likelihood))),
            ),
        }
    }

    /// The child of a sum with the largest term, the first on a tie.
    fn best_term(&self, node: usize, workspace: &Workspace) -> (usize, Scaled) {
        let graph = self.network.graph();
        let weights = &self.network.weights[graph.offsets[node] as usize..];
        let children = graph.children_of(node);
        let terms = children.iter().zip(weights);
        let (i, term) = first_largest(
            terms.map(|(&child, &w)| workspace.values[child as usize].times(Scaled::from_f64(w))),
        );
        (children[i] as usize, term)
    }

    /// Follows the largest terms from the root down, after a pass of [`Sums::Largest`].
    fn trace(&self, evidence: &Evidence, workspace: &mut Workspace) -> Vec<usize> {
        let graph = self.network.graph();
        let mut assignment = vec![0; self.network.variables()];
        let mut stack = std::mem::take(&mut workspace.stack);
        stack.clear();
        stack.push(self.network.nodes() as u32 - 1);
        while let Some(node) = stack.pop() {
            let node = node as usize;
            match graph.kinds[node] {
                NodeKind::Product => stack.extend(graph.children_of(node)),
                NodeKind::Sum => stack.push(self.best_term(node, workspace).0 as u32),
                NodeKind::Leaf { variable } => {
                    let variable = variable as usize;
                    assignment[variable] = self.best_state(node, variable, evidence).0;
                }
            }
        }
        workspace.stack = stack;
        assignment
    }
}

/// The first of the largest numbers, with its position; zero at position 0 where there are none.
fn first_largest(numbers: impl Iterator<Item = Scaled>) -> (usize, Scaled) {
    let mut best = (0, Scaled::ZERO);
    for (i, number) in numbers.enumerate() {
        if number > best.1 {
            best = (i, number);
        }
    }
    best
}
