//! Evaluation of doubles that cannot underflow, in one flat pass.

use std::sync::OnceLock;

use super::conflict;
use super::evidence::{Evidence, EvidenceError};
use super::network::Network;
use super::pass::{self, Levels};
use super::query::QueryError;
use super::scaled::{Scaled, WideProduct, product};
use super::validity::NodeKind;

/// A network of doubles prepared for queries: flat arrays in topological order, the value of each
/// node a 64-bit mantissa with an exponent of its own.
///
/// Nothing underflows or overflows, however many variables there are; the logarithm is taken once,
/// at the end. Results do not depend on the order in which children, nodes or variables were
/// added. Queries allocate nothing once their [`Workspace`] has grown to the network's size.
///
/// ```
/// use lpf::spn::Workspace;
/// use lpf::{Spn, SpnBuilder, SpnEvidence};
///
/// // Two coins that show the same side.
/// let mut builder = SpnBuilder::new(&[2, 2])?;
/// let mut sides = Vec::new();
/// for side in 0..2 {
///     let both = [builder.indicator(0, side)?, builder.indicator(1, side)?];
///     sides.push((builder.product(&both)?, 0.5));
/// }
/// let root = builder.sum(&sides)?;
/// let spn = Spn::new(builder.build(root)?);
/// let mut seen = SpnEvidence::none(spn.network());
/// seen.observe(0, 1)?;
/// let mut workspace = Workspace::new();
/// assert_eq!(spn.marginals(&seen, &mut workspace)?.probabilities(1), [0.0, 1.0]);
/// # Ok::<(), lpf::Error>(())
/// ```
#[derive(Debug)]
pub struct Compiled {
    pub(super) network: Network<f64>,
    /// One per node: the sum of a leaf's values.
    pub(super) totals: Vec<Scaled>,
    pub(super) levels: Levels,
    /// Where the states of a variable start in arrays over all states, and one more.
    pub(super) state_offsets: Vec<usize>,
    /// The edges into each node.
    pub(super) incoming: Rows,
    /// The leaves of each variable.
    pub(super) leaves: Rows,
    /// `Z`, the value without evidence.
    pub(super) normalizer: Scaled,
    /// Bounds on the number of roundings in any path of [`Compiled::log_value`] and of the
    /// marginals.
    roundings: u64,
    marginal_roundings: u64,
    /// Which sums are known to be selective; computed when first asked for.
    pub(super) selective: OnceLock<Vec<bool>>,
}

/// Lists of numbers in compressed rows.
#[derive(Debug)]
pub(super) struct Rows {
    offsets: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    /// Row `r` has, ascending, the positions at which `rows` yields `r`.
    fn positions(count: usize, rows: impl Iterator<Item = Option<u32>> + Clone) -> Self {
        let mut offsets = vec![0u32; count + 1];
        for row in rows.clone().flatten() {
            offsets[row as usize + 1] += 1;
        }
        for r in 0..count {
            offsets[r + 1] += offsets[r];
        }
        let mut next = offsets.clone();
        let mut items = vec![0u32; offsets[count] as usize];
        for (position, row) in rows.enumerate() {
            if let Some(row) = row {
                items[next[row as usize] as usize] = position as u32;
                next[row as usize] += 1;
            }
        }
        Rows { offsets, items }
    }

    pub(super) fn row(&self, r: usize) -> &[u32] {
        &self.items[self.offsets[r] as usize..self.offsets[r + 1] as usize]
    }
}

/// Space for queries, reused from one to the next. One workspace serves networks of any size.
#[derive(Debug, Default)]
pub struct Workspace {
    /// The value of every node.
    pub(super) values: Vec<Scaled>,
    /// Which nodes are above a variable that is not observed.
    pub(super) wanted: Vec<bool>,
    /// The derivative of the root by every node that is wanted.
    pub(super) derivatives: Vec<Scaled>,
    /// What every edge passes down.
    pub(super) flows: Vec<Scaled>,
    pub(super) prefixes: Vec<WideProduct>,
    /// One per state: the joint value of that state and the evidence; of an observed variable, whether it is
    /// that state.
    pub(super) joint: Vec<Scaled>,
    pub(super) probabilities: Vec<f64>,
    pub(super) stack: Vec<u32>,
}

impl Workspace {
    /// An empty workspace; it grows with the first query.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Compiled {
    /// Prepares a network for queries: one pass over it, and its value without evidence.
    pub fn new(network: Network<f64>) -> Self {
        let graph = network.graph();
        let totals = (0..network.nodes())
            .map(|node| {
                let values = network.leaf_values(node);
                Scaled::sum_of_products(values.len(), |i| {
                    (Scaled::ONE, Scaled::from_f64(values[i]))
                })
            })
            .collect();
        let mut state_offsets = vec![0];
        for &states in network.cardinalities() {
            state_offsets.push(state_offsets[state_offsets.len() - 1] + states);
        }
        let incoming = Rows::positions(network.nodes(), graph.children.iter().map(|&c| Some(c)));
        let leaves = Rows::positions(
            network.variables(),
            graph.kinds.iter().map(|kind| match kind {
                NodeKind::Leaf { variable } => Some(*variable),
                _ => None,
            }),
        );
        let (roundings, marginal_roundings) = count_roundings(&network);
        let mut compiled = Compiled {
            totals,
            levels: Levels::of(&network),
            state_offsets,
            incoming,
            leaves,
            normalizer: Scaled::ZERO,
            roundings,
            marginal_roundings,
            selective: OnceLock::new(),
            network,
        };
        let mut workspace = Workspace::new();
        let nothing = Evidence::none(&compiled.network);
        compiled.normalizer = compiled.upward(&nothing, &mut workspace);
        compiled
    }

    /// The network itself.
    pub fn network(&self) -> &Network<f64> {
        &self.network
    }

    /// `ln S(e)`: the logarithm of the root's value under the evidence, not divided by `Z`;
    /// `−∞` where the evidence is impossible.
    ///
    /// Error: that of [`Compiled::relative_error`] in the value, and 2 units in the last place of
    /// the logarithm.
    ///
    /// # Errors
    /// [`EvidenceError::OtherNetwork`].
    pub fn log_value(
        &self,
        evidence: &Evidence,
        workspace: &mut Workspace,
    ) -> Result<f64, EvidenceError> {
        evidence.check_for(&self.network)?;
        Ok(self.upward(evidence, workspace).ln())
    }

    /// `ln P(e) = ln S(e)/Z`; `−∞` where the evidence is impossible.
    ///
    /// # Errors
    /// [`EvidenceError::OtherNetwork`].
    pub fn log_probability(
        &self,
        evidence: &Evidence,
        workspace: &mut Workspace,
    ) -> Result<f64, EvidenceError> {
        evidence.check_for(&self.network)?;
        let value = self.upward(evidence, workspace);
        Ok(value.over(self.normalizer).ln())
    }

    /// `ln P(q | e)`, where `query` lists variables with their states; `−∞` where the query is
    /// impossible given the evidence. A state that `given` weighs keeps its likelihood.
    ///
    /// # Errors
    /// [`QueryError::Evidence`]; [`QueryError::Impossible`] where `given` is.
    pub fn log_conditional(
        &self,
        query: &[(usize, usize)],
        given: &Evidence,
        workspace: &mut Workspace,
    ) -> Result<f64, QueryError> {
        let below = self.possible(given, workspace)?;
        let mut both = given.clone();
        for &(variable, state) in query {
            both.restrict(variable, state)?;
        }
        Ok(self.upward(&both, workspace).over(below).ln())
    }

    /// A bound on the relative error of a value: each path from a leaf to the root is rounded at
    /// most so many times, each time by 2⁻⁶⁴.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        relative(self.roundings)
    }

    /// A bound on the relative error of a marginal probability before it is rounded to a double,
    /// numerator and denominator together.
    #[must_use]
    pub fn marginal_error(&self) -> f64 {
        relative(self.marginal_roundings)
    }

    /// The value under the evidence, or an error that names what contradicts what.
    pub(super) fn possible(
        &self,
        evidence: &Evidence,
        workspace: &mut Workspace,
    ) -> Result<Scaled, QueryError> {
        evidence.check_for(&self.network)?;
        let value = self.upward(evidence, workspace);
        if value.is_zero() {
            return Err(conflict::explain(self, evidence, workspace));
        }
        Ok(value)
    }

    /// The values of all nodes, from the leaves to the root. The evidence fits the network.
    pub(super) fn upward(&self, evidence: &Evidence, workspace: &mut Workspace) -> Scaled {
        let values = &mut workspace.values;
        values.resize(self.network.nodes(), Scaled::ZERO);
        pass::upward(self, evidence, values);
        values[values.len() - 1]
    }

    /// The value of a sum or a product, from those of its children.
    #[inline(always)]
    pub(super) fn node_value(&self, node: usize, values: &[Scaled]) -> Scaled {
        let graph = self.network.graph();
        let edges = graph.offsets[node] as usize..graph.offsets[node + 1] as usize;
        let children = &graph.children[edges.clone()];
        if graph.kinds[node] == NodeKind::Sum {
            let weights = &self.network.weights[edges];
            return Scaled::sum_of_products(children.len(), |i| {
                (Scaled::from_f64(weights[i]), values[children[i] as usize])
            });
        }
        match *children {
            [child] => values[child as usize],
            [a, b] => values[a as usize].times(values[b as usize]),
            _ => product(children.len(), |i| values[children[i] as usize]),
        }
    }
}

/// `(1 + 2⁻⁶⁴)^n − 1 ≤ n·2⁻⁶³` for `n ≤ 2⁶²`.
fn relative(roundings: u64) -> f64 {
    const TWO_TO_63: f64 = (1u64 << 63) as f64;
    roundings as f64 / TWO_TO_63
}

/// How often a value, and a marginal, is rounded by up to `2⁻⁶⁴`.
///
/// A sum of non-negative terms is off by the worst of its terms and two units of its own
/// (rounding, and cutting at most 2³⁰ terms: `n²·2⁻¹²⁴ ≤ 2⁻⁶⁴`); a product adds up what its
/// factors are off. A marginal divides a joint value by the sum of such values.
fn count_roundings(network: &Network<f64>) -> (u64, u64) {
    const SUM: u64 = 2;
    let graph = network.graph();
    let nodes = network.nodes();
    let mut up = vec![SUM; nodes];
    for node in 0..nodes {
        let below = graph.children_of(node).iter().map(|&c| up[c as usize]);
        match graph.kinds[node] {
            NodeKind::Leaf { .. } => {}
            NodeKind::Sum => up[node] = below.max().unwrap_or(0).saturating_add(SUM),
            NodeKind::Product => up[node] = below.fold(1, u64::saturating_add),
        }
    }
    let mut down = vec![0u64; nodes];
    let mut worst = 0;
    for node in (0..nodes).rev() {
        let children = graph.children_of(node);
        let here = down[node];
        for &child in children {
            let child = child as usize;
            let siblings = match graph.kinds[node] {
                NodeKind::Product => up[node] - up[child],
                _ => 1,
            };
            // One rounding on the edge is in `siblings`; the child adds up its edges.
            down[child] = down[child].max(here.saturating_add(siblings).saturating_add(SUM));
        }
        if children.is_empty() {
            worst = worst.max(here);
        }
    }
    // A joint value: a sum over leaves, and the likelihood.
    let joint = worst.saturating_add(SUM + 1);
    let quotient = joint.saturating_mul(2).saturating_add(SUM);
    (up[nodes - 1], quotient)
}
