//! Which sums have at most one child that is not zero, whatever the assignment.

use super::network::Network;
use super::validity::NodeKind;

/// Words of scratch space for the supports of all sums and products: 256 MiB.
const SUPPORT_WORDS: usize = 1 << 25;

/// For every node, whether it is a sum that is certainly *selective* (deterministic): at every
/// assignment at most one of its terms is above zero.
///
/// The test is sufficient, not necessary (to decide the matter is hard in general): there is a
/// variable of which no state is possible in two children of positive weight. A sum with one such
/// child passes. Where the supports would need more than 256 MiB, only those sums do.
pub(super) fn selective_sums(network: &Network<f64>) -> Vec<bool> {
    let graph = network.graph();
    let mut offsets = vec![0usize];
    for &states in network.cardinalities() {
        offsets.push(offsets[offsets.len() - 1] + states);
    }
    let words = offsets[network.variables()].div_ceil(64);
    let mut rows = Vec::with_capacity(network.nodes());
    let mut inner = 0usize;
    for kind in graph.kinds {
        rows.push(inner);
        inner += usize::from(!matches!(kind, NodeKind::Leaf { .. }));
    }
    let positive = |node: usize| {
        let begin = graph.offsets[node] as usize;
        let children = graph.children_of(node).iter().enumerate();
        children
            .filter(move |&(i, _)| network.weights[begin + i] > 0.0)
            .map(|(_, &child)| child as usize)
    };
    let mut selective: Vec<bool> = (0..network.nodes())
        .map(|node| graph.kinds[node] == NodeKind::Sum && positive(node).count() == 1)
        .collect();
    if inner.saturating_mul(words) > SUPPORT_WORDS {
        return selective;
    }
    // Bit `offsets[v] + x` of a row: state `x` of variable `v` is possible below the node.
    let mut supports = vec![0u64; inner * words];
    let mut twice = vec![0u64; words];
    for node in 0..network.nodes() {
        if let NodeKind::Leaf { .. } = graph.kinds[node] {
            continue;
        }
        twice.fill(0);
        let (below, above) = supports.split_at_mut(rows[node] * words);
        let own = &mut above[..words];
        for child in positive(node) {
            if let NodeKind::Leaf { variable } = graph.kinds[child] {
                let start = offsets[variable as usize];
                for (x, &value) in network.leaf_values(child).iter().enumerate() {
                    if value > 0.0 {
                        let (word, bit) = ((start + x) / 64, 1 << ((start + x) % 64));
                        twice[word] |= own[word] & bit;
                        own[word] |= bit;
                    }
                }
            } else {
                let support = &below[rows[child] * words..];
                for word in 0..words {
                    twice[word] |= own[word] & support[word];
                    own[word] |= support[word];
                }
            }
        }
        if graph.kinds[node] == NodeKind::Sum && !selective[node] {
            let has = |bits: &[u64], v: usize| {
                (offsets[v]..offsets[v + 1]).any(|b| bits[b / 64] >> (b % 64) & 1 == 1)
            };
            selective[node] = (0..network.variables()).any(|v| has(own, v) && !has(&twice, v));
        }
    }
    selective
}
