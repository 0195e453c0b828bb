//! Adding nodes, children and variables in another order changes no bit of any result.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::random::{Numbers, evidence, generator, network};
use crate::spn::{Builder, Compiled, Evidence, Known, Network, NodeId, NodeKind, Workspace};

/// The same network with its nodes in another topological order, the children shuffled and
/// variable `v` renamed `names[v]`.
fn reordered(network: &Network, names: &[usize], rng: &mut impl rand::Rng) -> Network {
    let graph = network.graph();
    let mut cardinalities = vec![0; names.len()];
    for (v, &name) in names.iter().enumerate() {
        cardinalities[name] = network.cardinalities()[v];
    }
    let mut builder = Builder::new(&cardinalities).unwrap();
    let mut ids: Vec<Option<NodeId>> = vec![None; network.nodes()];
    while ids.iter().any(Option::is_none) {
        let ready: Vec<usize> = (0..network.nodes())
            .filter(|&n| ids[n].is_none())
            .filter(|&n| {
                graph
                    .children_of(n)
                    .iter()
                    .all(|&c| ids[c as usize].is_some())
            })
            .collect();
        let node = ready[rng.random_range(0..ready.len())];
        let begin = graph.offsets[node] as usize;
        let mut children: Vec<(NodeId, f64)> = graph
            .children_of(node)
            .iter()
            .enumerate()
            .map(|(i, &c)| (ids[c as usize].unwrap(), network.weights()[begin + i]))
            .collect();
        children.shuffle(rng);
        ids[node] = Some(match graph.kinds[node] {
            NodeKind::Leaf { variable } => builder
                .leaf(names[variable as usize], network.leaf_values(node))
                .unwrap(),
            NodeKind::Sum => builder.sum(&children).unwrap(),
            NodeKind::Product => {
                let children: Vec<NodeId> = children.iter().map(|c| c.0).collect();
                builder.product(&children).unwrap()
            }
        });
    }
    builder.build(ids[network.nodes() - 1].unwrap()).unwrap()
}

#[test]
fn no_order_of_nodes_children_or_variables_changes_a_bit() {
    let mut rng = generator(20);
    let (mut a, mut b) = (Workspace::new(), Workspace::new());
    let mut plain_differs = 0;
    for round in 0..1000 {
        let numbers = [Numbers::Full, Numbers::Extreme][round % 2];
        let network = network(&mut rng, 6, numbers);
        let evidence = evidence(&mut rng, &network, numbers);
        let mut names: Vec<usize> = (0..network.variables()).collect();
        names.shuffle(&mut rng);
        let other = reordered(&network, &names, &mut rng);
        let mut other_evidence = Evidence::none(&other);
        for (v, &name) in names.iter().enumerate() {
            match evidence.about(v) {
                Known::Nothing => {}
                Known::State(x) => drop(other_evidence.observe(name, x).unwrap()),
                Known::Likelihood(l) => drop(other_evidence.weigh(name, l).unwrap()),
            }
        }
        // Negative control: plain multiplication in the order of the children does differ.
        let plain = |n: &Network, e: &Evidence| n.evaluate(e).unwrap();
        plain_differs += usize::from(plain(&network, &evidence) != plain(&other, &other_evidence));

        let (first, second) = (Compiled::new(network), Compiled::new(other));
        let value = first.log_value(&evidence, &mut a).unwrap();
        let other_value = second.log_value(&other_evidence, &mut b).unwrap();
        assert_eq!(value.to_bits(), other_value.to_bits());
        let first = first.marginals(&evidence, &mut a);
        let second = second.marginals(&other_evidence, &mut b);
        let (Ok(first), Ok(second)) = (first, second) else {
            continue;
        };
        for (v, &name) in names.iter().enumerate() {
            assert_eq!(first.probabilities(v), second.probabilities(name));
            for x in 0..first.probabilities(v).len() {
                let logs = [first.log_probability(v, x), second.log_probability(name, x)];
                assert_eq!(logs[0].to_bits(), logs[1].to_bits());
            }
        }
    }
    assert!(
        plain_differs > 50,
        "the reordering is too weak to show anything"
    );
}
