//! Queries on networks of 10⁵ edges, beside two limits measured in the same run: plain
//! linear-domain doubles, which underflow on such networks, and reading the edge arrays once.
//!
//! `grid`: a layered network as learned structures have, fan-in 2 and 4. `mixture`: the shape of
//! LPF-SPN, a sum of three classes over products of 33 000 leaves.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use lpf::spn::{Builder, Compiled, Evidence, Graph, Network, NodeId, NodeKind, Workspace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const EDGES: usize = 100_000;
/// Sums over the same scope in the grid, and the fan-in of each.
const WIDTH: usize = 16;
const TERMS: usize = 4;

/// Pairs of blocks of 16 nodes are multiplied node by node and mixed again, up to the root.
/// 1024 variables give 1023 merges of 16 products with 2 and 16 sums with 4 children: 98 208
/// edges, and one sum on top.
fn grid(rng: &mut ChaCha8Rng) -> Network {
    let variables = 1024;
    let mut builder = Builder::new(&vec![4; variables]).unwrap();
    let mut blocks: Vec<Vec<NodeId>> = (0..variables)
        .map(|v| {
            (0..WIDTH)
                .map(|_| {
                    let values: [f64; 4] = std::array::from_fn(|_| 0.01 + rng.random::<f64>());
                    builder.leaf(v, &values).unwrap()
                })
                .collect()
        })
        .collect();
    while blocks.len() > 1 {
        blocks = blocks
            .chunks(2)
            .map(|pair| {
                let products: Vec<NodeId> = (0..WIDTH)
                    .map(|i| builder.product(&[pair[0][i], pair[1][i]]).unwrap())
                    .collect();
                (0..WIDTH)
                    .map(|i| {
                        let terms: Vec<(NodeId, f64)> = (0..TERMS)
                            .map(|t| (products[(i + t * 3) % WIDTH], rng.random::<f64>()))
                            .collect();
                        builder.sum(&terms).unwrap()
                    })
                    .collect()
            })
            .collect();
    }
    let top: Vec<(NodeId, f64)> = blocks[0].iter().map(|&node| (node, 1.0)).collect();
    let root = builder.sum(&top).unwrap();
    builder.build(root).unwrap()
}

/// A sum over three classes of products over one leaf a piece of evidence.
fn mixture(rng: &mut ChaCha8Rng) -> Network {
    let items = EDGES / 3;
    let mut cardinalities = vec![2; items];
    cardinalities.push(3);
    let mut builder = Builder::new(&cardinalities).unwrap();
    let classes: Vec<(NodeId, f64)> = (0..3)
        .map(|class| {
            let mut children = vec![builder.indicator(items, class).unwrap()];
            for item in 0..items {
                let p = rng.random::<f64>();
                children.push(builder.leaf(item, &[p, 1.0 - p]).unwrap());
            }
            (builder.product(&children).unwrap(), 1.0)
        })
        .collect();
    let root = builder.sum(&classes).unwrap();
    builder.build(root).unwrap()
}

/// The limit: the same pass in plain doubles, each leaf one look-up. It underflows.
fn plain(graph: Graph<'_>, weights: &[f64], leaves: &[f64], values: &mut [f64]) -> f64 {
    for node in 0..values.len() {
        let edges = graph.offsets[node] as usize..graph.offsets[node + 1] as usize;
        let children = &graph.children[edges.clone()];
        values[node] = match graph.kinds[node] {
            NodeKind::Leaf { .. } => leaves[node],
            NodeKind::Sum => {
                let terms = children.iter().zip(&weights[edges]);
                terms.map(|(&c, w)| w * values[c as usize]).sum()
            }
            NodeKind::Product => children.iter().map(|&c| values[c as usize]).product(),
        };
    }
    values[values.len() - 1]
}

fn benches(c: &mut Criterion) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (name, network) in [("grid", grid(&mut rng)), ("mixture", mixture(&mut rng))] {
        let mut group = c.benchmark_group(format!("{name} of {} edges", network.edges()));
        let compiled = Compiled::new(network.clone());
        let mut workspace = Workspace::new();
        let mut evidence = Evidence::none(&network);
        // All but the last variable are seen: a value far outside the range of doubles.
        for variable in 0..network.variables() - 1 {
            let state = rng.random_range(0..2);
            evidence.observe(variable, state).unwrap();
        }
        group.bench_function("evaluate", |b| {
            b.iter(|| {
                compiled
                    .log_value(black_box(&evidence), &mut workspace)
                    .unwrap()
            })
        });
        group.bench_function("marginals of all variables", |b| {
            b.iter(|| {
                let marginals = compiled.marginals(black_box(&evidence), &mut workspace);
                marginals.unwrap().probabilities(0)[0]
            })
        });
        group.bench_function("max-product", |b| {
            b.iter(|| {
                compiled
                    .max_product(black_box(&evidence), &mut workspace)
                    .unwrap()
            })
        });
        let evidence = evidence.clone();
        let mut sampler = compiled.sampler(&evidence, &mut workspace).unwrap();
        let mut assignment = Vec::new();
        group.bench_function("sample", |b| {
            b.iter(|| sampler.draw(&mut rng, &mut assignment))
        });

        let mut values = Vec::new();
        network.evaluate_into(&evidence, &mut values).unwrap();
        let leaves = values.clone();
        group.bench_function("limit: plain doubles, underflowing", |b| {
            b.iter(|| {
                let leaves = black_box(&leaves);
                plain(network.graph(), network.weights(), leaves, &mut values)
            })
        });
        group.bench_function("limit: reading the edges", |b| {
            b.iter(|| {
                let children = network.graph().children.iter();
                let ids = children.fold(0u32, |x, &child| x ^ child);
                let weights = network.weights().iter();
                weights.fold(u64::from(ids), |x, w| x ^ w.to_bits())
            })
        });
        group.finish();
    }
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(std::time::Duration::from_millis(500))
        .measurement_time(std::time::Duration::from_secs(2))
}

criterion_group! { name = spn; config = quick(); targets = benches }
criterion_main!(spn);
