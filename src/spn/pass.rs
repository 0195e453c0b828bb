//! The pass from the leaves to the root, level by level.
//!
//! Nodes whose children are all below their level do not depend on each other. Those of one level, one kind and
//! one number of children are computed in blocks, in vectors; the others, and networks where there are few such
//! nodes, node by node. The bits are the same.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::compiled::Compiled;
use super::evidence::{Evidence, Known};
use super::network::Network;
use super::scaled::Scaled;
use super::scaled::block::{BLOCK, Block, Sums};
use super::validity::NodeKind;

/// Fewer nodes than this are not worth a block.
const FEW: usize = 8;
/// Sums of more children than this go through them one by one.
const MANY_CHILDREN: usize = 8;

/// How nodes are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Leaves,
    /// By what each is.
    Any,
    /// Products of two.
    Pairs,
    /// Sums of so many children, all weights positive normal numbers.
    Sums(usize),
}

/// Nodes that are computed alike.
#[derive(Debug)]
struct Group {
    step: Step,
    /// Which nodes of the order.
    nodes: Range<usize>,
    /// Where their edges start.
    edges: usize,
}

/// The order in which the nodes of a network are computed.
#[derive(Debug)]
pub(super) struct Levels {
    /// None where the order of the nodes will do.
    groups: Vec<Group>,
    order: Vec<u32>,
    /// The children and weights of groups that are computed in blocks: of each block the first ones, then the
    /// second, and so on.
    children: Vec<u32>,
    weights: Vec<f64>,
    /// The leaves, if they are a group.
    leaves: Vec<Leaf>,
}

#[derive(Debug)]
struct Leaf {
    node: u32,
    variable: u32,
    /// Where its values start.
    entry: u32,
}

impl Levels {
    pub(super) fn of(network: &Network<f64>) -> Self {
        let graph = network.graph();
        let mut keys = Vec::with_capacity(network.nodes());
        for node in 0..network.nodes() {
            let below = graph.children_of(node).iter();
            let level = below.map(|&child: &u32| {
                let (level, ..): (u32, Step, u32) = keys[child as usize];
                level + 1
            });
            keys.push((level.max().unwrap_or(0), step(network, node), node as u32));
        }
        keys.sort_unstable();
        let mut levels = Levels {
            groups: Vec::new(),
            order: keys.iter().map(|&(.., node)| node).collect(),
            children: Vec::new(),
            weights: Vec::new(),
            leaves: Vec::new(),
        };
        let alike = |a: &(u32, Step, u32), b: &(u32, Step, u32)| (a.0, a.1) == (b.0, b.1);
        let mut begin = 0;
        for group in keys.chunk_by(alike) {
            let nodes = begin..begin + group.len();
            begin = nodes.end;
            let step = if group.len() < FEW {
                Step::Any
            } else {
                group[0].1
            };
            levels.push(network, step, nodes);
        }
        if levels.groups.iter().all(|group| group.step == Step::Any) {
            levels.groups.clear();
            levels.order = Vec::new();
        }
        levels
    }

    fn push(&mut self, network: &Network<f64>, step: Step, nodes: Range<usize>) {
        if let (Some(last), Step::Any) = (self.groups.last_mut(), step)
            && last.step == Step::Any
        {
            last.nodes.end = nodes.end;
            return;
        }
        let graph = network.graph();
        if step == Step::Leaves {
            let leaves = self.order[nodes.clone()].iter();
            self.leaves
                .extend(leaves.filter_map(|&node| match graph.kinds[node as usize] {
                    NodeKind::Leaf { variable } => Some(Leaf {
                        node,
                        variable,
                        entry: network.entry_offsets[node as usize],
                    }),
                    _ => None,
                }));
        }
        self.groups.push(Group {
            step,
            nodes: nodes.clone(),
            edges: self.children.len(),
        });
        for block in self.order[nodes].chunks(BLOCK) {
            for k in 0..step.children() {
                let edges = block
                    .iter()
                    .map(|&node| graph.offsets[node as usize] as usize + k);
                self.children
                    .extend(edges.clone().map(|edge| graph.children[edge]));
                self.weights.extend(edges.map(|edge| network.weights[edge]));
            }
        }
    }
}

impl Step {
    /// How many children a node has whose step is not [`Step::Any`].
    #[inline(always)]
    fn children(self) -> usize {
        match self {
            Step::Leaves | Step::Any => 0,
            Step::Pairs => 2,
            Step::Sums(n) => n,
        }
    }
}

fn step(network: &Network<f64>, node: usize) -> Step {
    let graph = network.graph();
    match (graph.kinds[node], graph.children_of(node).len()) {
        (NodeKind::Leaf { .. }, _) => Step::Leaves,
        (NodeKind::Product, 2) => Step::Pairs,
        (NodeKind::Sum, n @ 2..=MANY_CHILDREN) => {
            let weights = &network.weights[graph.offsets[node] as usize..][..n];
            let normal = weights.iter().all(|w| *w >= f64::MIN_POSITIVE);
            if normal { Step::Sums(n) } else { Step::Any }
        }
        _ => Step::Any,
    }
}

/// The values of all nodes. The evidence fits the network, and there is room for every value.
pub(super) fn upward(compiled: &Compiled, evidence: &Evidence, values: &mut [Scaled]) {
    let pass = Pass { compiled, evidence };
    if compiled.levels.groups.is_empty() {
        for node in 0..values.len() {
            pass.one(node, values);
        }
    } else {
        Arch::new().dispatch(All { pass, values });
    }
}

#[derive(Clone, Copy)]
struct Pass<'a> {
    compiled: &'a Compiled,
    evidence: &'a Evidence,
}

struct All<'a> {
    pass: Pass<'a>,
    values: &'a mut [Scaled],
}

impl WithSimd for All<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let All { pass, values } = self;
        let levels = &pass.compiled.levels;
        let mut terms = [Block::ZERO; MANY_CHILDREN];
        for group in &levels.groups {
            let nodes = &levels.order[group.nodes.clone()];
            // Without vectors words of 128 bits are faster than their halves.
            let step = if S::F64_LANES < 4 && group.step != Step::Leaves {
                Step::Any
            } else {
                group.step
            };
            let n = step.children();
            let edges = group.edges..group.edges + n * nodes.len();
            let children = levels.children[edges.clone()].chunks(n.max(1) * BLOCK);
            let weights = levels.weights[edges].chunks(n.max(1) * BLOCK);
            let blocks = nodes.chunks(BLOCK).zip(children.zip(weights));
            match step {
                Step::Leaves => {
                    for leaf in &levels.leaves {
                        values[leaf.node as usize] = pass.leaf(leaf);
                    }
                }
                Step::Any => {
                    for &node in nodes {
                        pass.one(node as usize, values);
                    }
                }
                Step::Pairs => {
                    for (nodes, (children, _)) in blocks {
                        let (first, second) = children.split_at(nodes.len());
                        let [a, b, ..] = &mut terms;
                        a.gather(values, first);
                        b.gather(values, second);
                        a.times(b, nodes.len());
                        a.scatter(values, nodes);
                    }
                }
                Step::Sums(n) => {
                    let headroom = usize::BITS - n.leading_zeros();
                    for (nodes, (children, weights)) in blocks {
                        let mut sums = Sums::EMPTY;
                        let rows = || weights.chunks_exact(nodes.len());
                        let children = children.chunks_exact(nodes.len());
                        for ((children, weights), term) in children.zip(rows()).zip(&mut terms) {
                            term.gather(values, children);
                            sums.look_at(weights, term);
                        }
                        for (weights, term) in rows().zip(&terms) {
                            sums.add(weights, term, headroom);
                        }
                        sums.round(&mut terms[0], nodes.len(), headroom);
                        terms[0].scatter(values, nodes);
                    }
                }
            }
        }
    }
}

impl Pass<'_> {
    /// One node, whatever it is.
    #[inline(always)]
    fn one(self, node: usize, values: &mut [Scaled]) {
        values[node] = match self.compiled.network.kinds[node] {
            NodeKind::Leaf { variable } => self.leaf(&Leaf {
                node: node as u32,
                variable,
                entry: self.compiled.network.entry_offsets[node],
            }),
            _ => self.compiled.node_value(node, values),
        };
    }

    #[inline(always)]
    fn leaf(self, leaf: &Leaf) -> Scaled {
        let network = &self.compiled.network;
        match self.evidence.about(leaf.variable as usize) {
            Known::Nothing => self.compiled.totals[leaf.node as usize],
            Known::State(state) => Scaled::from_f64(network.entries[leaf.entry as usize + state]),
            Known::Likelihood(likelihoods) => {
                let leaf = network.leaf_values(leaf.node as usize);
                Scaled::sum_of_products(leaf.len(), |i| {
                    (Scaled::from_f64(likelihoods[i]), Scaled::from_f64(leaf[i]))
                })
            }
        }
    }
}
