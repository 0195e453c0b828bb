//! Networks that are wide enough to be computed in blocks.

use rand::{Rng, RngExt};

use super::random::{Numbers, evidence, generator};
use crate::spn::{Builder, Compiled, Evidence, Known, Network, NodeId, NodeKind, Workspace};

/// Blocks of nodes over more and more variables: of the last two, one after the other is multiplied and mixed.
fn layered(rng: &mut impl Rng, numbers: Numbers) -> Network {
    let (variables, width) = (rng.random_range(2..6usize), rng.random_range(1..150usize));
    let mut builder = Builder::new(&vec![2; variables]).unwrap();
    let leaves = |builder: &mut Builder, rng: &mut _, variable: usize| -> Vec<NodeId> {
        let leaf = |_| builder.leaf(variable, &numbers.weights(rng, 2)).unwrap();
        (0..width).map(leaf).collect()
    };
    let mut block = leaves(&mut builder, rng, 0);
    for variable in 1..variables {
        let others = leaves(&mut builder, rng, variable);
        let pairs = block.iter().zip(&others);
        let products: Vec<NodeId> = pairs
            .map(|(&a, &b)| builder.product(&[a, b]).unwrap())
            .collect();
        block = (0..width)
            .map(|i| {
                let fan = rng.random_range(1..12);
                let weights = numbers.weights(rng, fan).into_iter().enumerate();
                // The first child is the product beside it, so that every product has a parent.
                let terms = weights.map(|(k, w)| (products[(i + k * 11) % width], w));
                builder.sum(&terms.collect::<Vec<_>>()).unwrap()
            })
            .collect();
    }
    let top: Vec<(NodeId, f64)> = block.iter().map(|&node| (node, 1.0)).collect();
    let root = builder.sum(&top).unwrap();
    builder.build(root).unwrap()
}

const NUMBERS: [Numbers; 3] = [Numbers::Eighths, Numbers::Full, Numbers::Extreme];

#[test]
fn blocks_have_the_bits_of_one_node_at_a_time() {
    let mut workspace = Workspace::new();
    for seed in 0..60 {
        let mut rng = generator(seed);
        let numbers = NUMBERS[seed as usize % 3];
        let compiled = Compiled::new(layered(&mut rng, numbers));
        let evidence = evidence(&mut rng, compiled.network(), numbers);
        compiled.upward(&evidence, &mut workspace);
        let kinds = compiled.network().graph().kinds;
        for (node, kind) in kinds.iter().enumerate() {
            if !matches!(kind, NodeKind::Leaf { .. }) {
                let one = compiled.node_value(node, &workspace.values);
                assert_eq!(workspace.values[node], one, "seed {seed}, node {node}");
            }
        }
    }
}

/// What is observed is passed over on the way down; a likelihood of one state alone is not.
#[test]
fn an_observed_state_is_a_likelihood_of_that_state_alone() {
    let (mut workspace, mut other) = (Workspace::new(), Workspace::new());
    let mut possible = 0;
    for seed in 0..60 {
        let mut rng = generator(seed);
        let numbers = NUMBERS[seed as usize % 3];
        let compiled = Compiled::new(layered(&mut rng, numbers));
        let network = compiled.network();
        let seen = evidence(&mut rng, network, numbers);
        let mut weighed = Evidence::none(network);
        for variable in 0..network.variables() {
            match seen.about(variable) {
                Known::Nothing => continue,
                Known::Likelihood(likelihoods) => weighed.weigh(variable, likelihoods),
                Known::State(state) => {
                    let alone = [0, 1].map(|x| f64::from(u8::from(x == state)));
                    weighed.weigh(variable, &alone)
                }
            }
            .unwrap();
        }
        let Ok(marginals) = compiled.marginals(&seen, &mut workspace) else {
            assert!(compiled.marginals(&weighed, &mut other).is_err());
            continue;
        };
        possible += 1;
        let other = compiled.marginals(&weighed, &mut other).unwrap();
        for variable in 0..network.variables() {
            let probabilities = marginals.probabilities(variable);
            assert_eq!(probabilities, other.probabilities(variable), "seed {seed}");
            for state in 0..2 {
                let [a, b] = [&marginals, &other].map(|m| m.log_probability(variable, state));
                assert_eq!(a.to_bits(), b.to_bits(), "seed {seed}");
            }
        }
    }
    assert!(possible >= 40, "{possible}");
}
