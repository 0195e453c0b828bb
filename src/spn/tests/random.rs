//! Random valid networks: the scope of each node is chosen before the node.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::spn::{Builder, Evidence, Network, NodeId};

pub(super) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// How the numbers of a random network are drawn.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Numbers {
    /// Eighths between 0 and 7/8, a third of them zero: exact in every arithmetic, many
    /// impossible assignments and ties.
    Eighths,
    /// Doubles between 0 and 1 with all their bits: rounding shows.
    Full,
    /// Any double in (0, 1], over the whole range of exponents.
    Extreme,
}

impl Numbers {
    fn draw(self, rng: &mut impl Rng) -> f64 {
        match self {
            Numbers::Eighths => {
                if rng.random_range(0..3) == 0 {
                    0.0
                } else {
                    f64::from(rng.random_range(1..8u8)) / 8.0
                }
            }
            Numbers::Full => 1.0 - rng.random::<f64>(),
            Numbers::Extreme => f64::from_bits(rng.random_range(1..=1f64.to_bits())),
        }
    }

    /// Numbers of which at least one is not zero.
    pub(super) fn weights(self, rng: &mut impl Rng, n: usize) -> Vec<f64> {
        loop {
            let weights: Vec<f64> = (0..n).map(|_| self.draw(rng)).collect();
            if weights.iter().any(|&w| w > 0.0) {
                return weights;
            }
        }
    }
}

struct Growth<'a, R> {
    builder: Builder<f64>,
    rng: &'a mut R,
    numbers: Numbers,
    cardinalities: &'a [usize],
    /// Nodes built so far, by scope, so that some are shared.
    built: Vec<(Vec<usize>, NodeId)>,
}

impl<R: Rng> Growth<'_, R> {
    fn node(&mut self, scope: &[usize], depth: usize) -> NodeId {
        let reusable: Vec<NodeId> = self
            .built
            .iter()
            .filter(|(s, _)| s == scope)
            .map(|&(_, id)| id)
            .collect();
        if !reusable.is_empty() && depth > 0 && self.rng.random_range(0..3) == 0 {
            return reusable[self.rng.random_range(0..reusable.len())];
        }
        let sum = depth < 4 && self.rng.random_range(0..2) == 0;
        let id = if sum {
            let fan = self.rng.random_range(1..5);
            let weights = self.numbers.weights(self.rng, fan);
            let children: Vec<_> = weights
                .into_iter()
                .map(|w| (self.node(scope, depth + 1), w))
                .collect();
            self.builder.sum(&children).unwrap()
        } else if let [variable] = *scope {
            let states = self.cardinalities[variable];
            if self.rng.random_range(0..3) == 0 {
                let state = self.rng.random_range(0..states);
                self.builder.indicator(variable, state).unwrap()
            } else {
                let values = self.numbers.weights(self.rng, states);
                self.builder.leaf(variable, &values).unwrap()
            }
        } else {
            let mut parts: Vec<Vec<usize>> =
                vec![Vec::new(); self.rng.random_range(2..=scope.len())];
            for (i, &variable) in scope.iter().enumerate() {
                // The first variables make sure that no part is empty.
                let part = if i < parts.len() {
                    i
                } else {
                    self.rng.random_range(0..parts.len())
                };
                parts[part].push(variable);
            }
            let children: Vec<NodeId> = parts.iter().map(|p| self.node(p, depth + 1)).collect();
            self.builder.product(&children).unwrap()
        };
        self.built.push((scope.to_vec(), id));
        id
    }
}

/// A random valid network over up to `variables` variables of up to three states.
pub(super) fn network(rng: &mut impl Rng, variables: usize, numbers: Numbers) -> Network {
    let n = rng.random_range(1..=variables);
    let cardinalities: Vec<usize> = (0..n).map(|_| rng.random_range(1..4)).collect();
    let mut growth = Growth {
        builder: Builder::new(&cardinalities).unwrap(),
        rng,
        numbers,
        cardinalities: &cardinalities,
        built: Vec::new(),
    };
    let scope: Vec<usize> = (0..n).collect();
    let root = growth.node(&scope, 0);
    growth.builder.build(root).unwrap()
}

/// Random evidence: for each variable nothing, a state or likelihoods.
pub(super) fn evidence(rng: &mut impl Rng, network: &Network, numbers: Numbers) -> Evidence {
    let mut evidence = Evidence::none(network);
    for (variable, &states) in network.cardinalities().iter().enumerate() {
        match rng.random_range(0..4) {
            0 => {
                let state = rng.random_range(0..states);
                evidence.observe(variable, state).unwrap();
            }
            1 => {
                let likelihoods: Vec<f64> = (0..states).map(|_| numbers.draw(rng)).collect();
                evidence.weigh(variable, &likelihoods).unwrap();
            }
            _ => {}
        }
    }
    evidence
}
