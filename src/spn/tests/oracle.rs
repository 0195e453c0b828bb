//! Brute force in exact rationals: the definition of a network, applied to every assignment.

use num_rational::BigRational;
use num_traits::{One, Zero};

use crate::math::rational;
use crate::spn::{BuildError, Builder, Evidence, Known, Network, NodeId, NodeKind, Weight};

impl Network {
    /// The same network over other numbers.
    pub(super) fn convert<T: Weight>(
        &self,
        f: impl Fn(&f64) -> T,
    ) -> Result<Network<T>, BuildError> {
        let mut builder = Builder::new(&self.cardinalities)?;
        let mut root = NodeId(0);
        for (node, kind) in self.kinds.iter().enumerate() {
            let children = self.graph().children_of(node);
            root = match *kind {
                NodeKind::Leaf { variable } => {
                    let values: Vec<T> = self.leaf_values(node).iter().map(&f).collect();
                    builder.leaf(variable as usize, &values)?
                }
                NodeKind::Sum => {
                    let weights = &self.weights[self.offsets[node] as usize..];
                    let children: Vec<(NodeId, T)> = children
                        .iter()
                        .zip(weights)
                        .map(|(&child, weight)| (NodeId(child), f(weight)))
                        .collect();
                    builder.sum(&children)?
                }
                NodeKind::Product => {
                    let children: Vec<NodeId> = children.iter().map(|&c| NodeId(c)).collect();
                    builder.product(&children)?
                }
            };
        }
        builder.build(root)
    }
}

pub(super) fn exact(network: &Network) -> Network<BigRational> {
    network.convert(|&x| rational(x).unwrap()).unwrap()
}

/// The same evidence in rationals.
pub(super) fn exact_evidence(evidence: &Evidence, network: &Network) -> Evidence<BigRational> {
    let mut result = Evidence::none(network);
    for variable in 0..network.variables() {
        match evidence.about(variable) {
            Known::Nothing => {}
            Known::State(state) => {
                result.observe(variable, state).unwrap();
            }
            Known::Likelihood(likelihoods) => {
                let exact: Vec<_> = likelihoods.iter().map(|&x| rational(x).unwrap()).collect();
                result.weigh(variable, &exact).unwrap();
            }
        }
    }
    result
}

/// All assignments, the last variable running fastest.
pub(super) fn assignments(cardinalities: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &states in cardinalities {
        all = all
            .iter()
            .flat_map(|a| {
                (0..states).map(move |x| {
                    let mut a = a.clone();
                    a.push(x);
                    a
                })
            })
            .collect();
    }
    all
}

/// The value of `node` at a full assignment, by recursion from the top.
fn value_at(network: &Network<BigRational>, node: usize, assignment: &[usize]) -> BigRational {
    let children = network.graph().children_of(node);
    match network.graph().kinds[node] {
        NodeKind::Leaf { variable } => {
            network.leaf_values(node)[assignment[variable as usize]].clone()
        }
        NodeKind::Sum => {
            let begin = network.graph().offsets[node] as usize;
            let mut total = BigRational::zero();
            for (i, &child) in children.iter().enumerate() {
                let weight = &network.weights()[begin + i];
                total += weight * value_at(network, child as usize, assignment);
            }
            total
        }
        NodeKind::Product => children.iter().fold(BigRational::one(), |p, &child| {
            p * value_at(network, child as usize, assignment)
        }),
    }
}

/// Every assignment with its value times its likelihoods.
pub(super) fn table(
    network: &Network<BigRational>,
    evidence: &Evidence<BigRational>,
) -> Vec<(Vec<usize>, BigRational)> {
    assignments(network.cardinalities())
        .into_iter()
        .map(|a| {
            let mut value = value_at(network, network.nodes() - 1, &a);
            for (variable, &x) in a.iter().enumerate() {
                match evidence.about(variable) {
                    Known::Nothing => {}
                    Known::State(state) if state == x => {}
                    Known::State(_) => value = BigRational::zero(),
                    Known::Likelihood(likelihoods) => value *= &likelihoods[x],
                }
            }
            (a, value)
        })
        .collect()
}

pub(super) fn total(table: &[(Vec<usize>, BigRational)]) -> BigRational {
    table.iter().map(|(_, value)| value).sum()
}
