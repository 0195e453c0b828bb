//! `Compiled`, which answers network queries, against the definition: the value of an assignment is
//! read off the formula, and every answer is a sum over assignments, or a quotient of two.
//!
//! The networks have fewer nodes than a block: they are computed node by node, as the rests of all networks are,
//! and no vectors are reached.
//!
//! All numbers are small and whole. Under Kani the arithmetic of [`Scaled`] is replaced by that of
//! whole numbers, which it is on these (see `scaled` and `contracts`), and a quotient by the pair of
//! its parts; under `cargo test` nothing is replaced and quotients are compared to the bit.
//!
//! [`Scaled`]: crate::spn::scaled::Scaled

use super::engine::{Cases, below, check};
use super::spn_validity::Shape;
use crate::spn::{Builder, Compiled, Evidence, Network, NodeId, NodeKind, Workspace};

const DOUBLES: [f64; 3] = [0.0, 1.0, 2.0];

/// Any two whole numbers in 0..3, not both zero: the values of a leaf, or the weights of a sum.
fn pair() -> [usize; 2] {
    const PAIRS: [[usize; 2]; 8] = [
        [0, 1],
        [0, 2],
        [1, 0],
        [1, 1],
        [1, 2],
        [2, 0],
        [2, 1],
        [2, 2],
    ];
    PAIRS[usize::from(below(8))]
}

fn doubles(whole: [usize; 2]) -> [f64; 2] {
    [DOUBLES[whole[0]], DOUBLES[whole[1]]]
}

/// A network over two binary variables with the value of each assignment, by its formula. Of one
/// over a single variable the second has, as it were, one state.
struct Known {
    network: Network,
    value: [[usize; 2]; 2],
}

const LEAF_0: NodeKind = NodeKind::Leaf { variable: 0 };
const LEAF_1: NodeKind = NodeKind::Leaf { variable: 1 };

/// `v·f + w·g` for two leaves over one variable.
fn sum_of_leaves() -> Known {
    let (f, g, [v, w]) = (pair(), pair(), pair());
    let network = Network {
        cardinalities: vec![2],
        kinds: vec![LEAF_0, LEAF_0, NodeKind::Sum],
        offsets: vec![0, 0, 0, 2],
        children: vec![0, 1],
        weights: vec![DOUBLES[v], DOUBLES[w]],
        entry_offsets: vec![0, 2, 4, 4],
        entries: vec![DOUBLES[f[0]], DOUBLES[f[1]], DOUBLES[g[0]], DOUBLES[g[1]]],
    };
    let at = |x: usize| v * f[x] + w * g[x];
    Known {
        network,
        value: [[at(0), 0], [at(1), 0]],
    }
}

/// `f·g` for two leaves over two variables.
fn product_of_leaves() -> Known {
    let (f, g) = (pair(), pair());
    let network = Network {
        cardinalities: vec![2, 2],
        kinds: vec![LEAF_0, LEAF_1, NodeKind::Product],
        offsets: vec![0, 0, 0, 2],
        children: vec![0, 1],
        weights: vec![1.0, 1.0],
        entry_offsets: vec![0, 2, 4, 4],
        entries: vec![DOUBLES[f[0]], DOUBLES[f[1]], DOUBLES[g[0]], DOUBLES[g[1]]],
    };
    let at = |x: usize, y: usize| f[x] * g[y];
    Known {
        network,
        value: [[at(0, 0), at(0, 1)], [at(1, 0), at(1, 1)]],
    }
}

/// `v·f·g + w·h·k`, the shape of an LPF-SPN with two components.
fn mixture() -> Known {
    let (f, g, h, k, [v, w]) = (pair(), pair(), pair(), pair(), pair());
    let network = Network {
        cardinalities: vec![2, 2],
        kinds: vec![
            LEAF_0,
            LEAF_1,
            NodeKind::Product,
            LEAF_0,
            LEAF_1,
            NodeKind::Product,
            NodeKind::Sum,
        ],
        offsets: vec![0, 0, 0, 2, 2, 2, 4, 6],
        children: vec![0, 1, 3, 4, 2, 5],
        weights: vec![1.0, 1.0, 1.0, 1.0, DOUBLES[v], DOUBLES[w]],
        entry_offsets: vec![0, 2, 4, 4, 6, 8, 8, 8],
        entries: vec![
            DOUBLES[f[0]],
            DOUBLES[f[1]],
            DOUBLES[g[0]],
            DOUBLES[g[1]],
            DOUBLES[h[0]],
            DOUBLES[h[1]],
            DOUBLES[k[0]],
            DOUBLES[k[1]],
        ],
    };
    let at = |x: usize, y: usize| v * f[x] * g[y] + w * h[x] * k[y];
    Known {
        network,
        value: [[at(0, 0), at(0, 1)], [at(1, 0), at(1, 1)]],
    }
}

/// Any evidence about one binary variable, as the likelihood that it is by definition: none, one of
/// the states, or two likelihoods.
fn tell(evidence: &mut Evidence, variable: usize) -> [usize; 2] {
    let (told, likelihood) = match below(4) {
        0 => (true, [1, 1]),
        1 => (evidence.observe(variable, 0).is_ok(), [1, 0]),
        2 => (evidence.observe(variable, 1).is_ok(), [0, 1]),
        _ => {
            let likelihood = pair();
            let told = evidence.weigh(variable, &doubles(likelihood));
            (told.is_ok(), likelihood)
        }
    };
    assert!(told);
    likelihood
}

/// A quotient of whole numbers as the queries give it: rounded once; under Kani the two parts.
fn quotient(n: usize, d: usize) -> f64 {
    #[cfg(kani)]
    return super::contracts::as_pair(n as u64, d as u64);
    #[cfg(not(kani))]
    return n as f64 / d as f64;
}

/// Whether this is a quotient of whole numbers. An observed variable is in its state without a division.
fn is_quotient(found: f64, n: usize, d: usize) -> bool {
    let told = if n == d { 1.0 } else { 0.0 };
    found == quotient(n, d) || cfg!(kani) && (n == 0 || n == d) && found == told
}

/// Whether this is the logarithm of a quotient of whole numbers, −∞ for zero; under Kani the two
/// parts of the quotient.
fn is_log_of_quotient(found: f64, n: usize, d: usize) -> bool {
    if n == 0 {
        return found == f64::NEG_INFINITY;
    }
    if cfg!(kani) {
        return found == quotient(n, d);
    }
    // The double nearest to the quotient is off by half an ulp, its logarithm by as much
    // absolutely; the logarithms themselves by 2 and 1 units in the last place.
    let want = crate::math::ln(n as f64 / d as f64);
    (found - want).abs() <= f64::EPSILON * (1.0 + 3.0 * want.abs())
}

/// The marginals of a network with any evidence are the sums over assignments.
fn marginals_are_sums(known: Known) {
    let variables = known.network.variables();
    let compiled = Compiled::new(known.network);
    let mut evidence = Evidence::none(compiled.network());
    let first = tell(&mut evidence, 0);
    let second = if variables == 2 {
        tell(&mut evidence, 1)
    } else {
        [1, 0]
    };
    let at = |x: usize, y: usize| known.value[x][y] * first[x] * second[y];
    let joint = [[at(0, 0), at(0, 1)], [at(1, 0), at(1, 1)]];
    let rows = [joint[0][0] + joint[0][1], joint[1][0] + joint[1][1]];
    let total = rows[0] + rows[1];
    assume!(total > 0);
    let mut workspace = Workspace::new();
    let Ok(marginals) = compiled.marginals(&evidence, &mut workspace) else {
        panic!("possible evidence is answered");
    };
    let found = marginals.probabilities(0);
    assert!(is_quotient(found[0], rows[0], total) && is_quotient(found[1], rows[1], total));
    if variables == 2 {
        let found = marginals.probabilities(1);
        for y in 0..2 {
            assert!(is_quotient(found[y], joint[0][y] + joint[1][y], total));
        }
    }
    cover!(rows[0] > rows[1] && rows[1] > 0, "two possible states");
    cover!(first[1] == 0 && rows[0] == total, "an observed state");
}

/// The marginals of a sum of two leaves are the sums of its values over the assignments, divided by
/// the sum over all.
///
/// Claims: A4, L3
/// Domain: every sum of 2 leaves over a binary variable, numbers in 0..3, any evidence; `Scaled` by contract
/// Slow: vectors throughout; Kani proves it in some minutes
#[cfg_attr(
    all(kani, kani_slow),
    kani::proof,
    kani::unwind(5),
    kani::solver(cadical)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::from_f64, super::contracts::whole)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::times, super::contracts::times)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(
        crate::spn::scaled::Scaled::sum_of_products,
        super::contracts::sum_of_products
    )
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::ratio, super::contracts::ratio)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::conflict::explain, super::contracts::no_conflict)
)]
#[cfg_attr(not(kani), test)]
fn marginals_of_a_sum_are_sums_over_assignments() {
    check(Cases::All(8 * 8 * 8 * 11), || {
        marginals_are_sums(sum_of_leaves())
    });
}

/// The marginals of a product of two leaves are the sums of its values over the assignments,
/// divided by the sum over all.
///
/// Claims: A4, L3
/// Domain: every product of 2 leaves over 2 binary variables, numbers in 0..3, any evidence; `Scaled` by contract
/// Slow: vectors throughout; Kani has not settled it so far
#[cfg_attr(
    all(kani, kani_slow),
    kani::proof,
    kani::unwind(5),
    kani::solver(cadical)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::from_f64, super::contracts::whole)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::times, super::contracts::times)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(
        crate::spn::scaled::Scaled::sum_of_products,
        super::contracts::sum_of_products
    )
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::ratio, super::contracts::ratio)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::conflict::explain, super::contracts::no_conflict)
)]
#[cfg_attr(not(kani), test)]
fn marginals_of_a_product_are_sums_over_assignments() {
    check(Cases::All(8 * 8 * 11 * 11), || {
        marginals_are_sums(product_of_leaves())
    });
}

/// The marginals of a mixture of two products are the sums of its values over the assignments,
/// divided by the sum over all.
///
/// Claims: A4, L3
/// Domain: every mixture of 2 products of leaves over 2 binary variables, numbers in 0..3, any evidence; `Scaled` by contract
/// Slow: vectors throughout; Kani has not settled it so far
#[cfg_attr(
    all(kani, kani_slow),
    kani::proof,
    kani::unwind(8),
    kani::solver(cadical)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::from_f64, super::contracts::whole)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::times, super::contracts::times)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(
        crate::spn::scaled::Scaled::sum_of_products,
        super::contracts::sum_of_products
    )
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::ratio, super::contracts::ratio)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::conflict::explain, super::contracts::no_conflict)
)]
#[cfg_attr(not(kani), test)]
fn marginals_of_a_mixture_are_sums_over_assignments() {
    check(Cases::Random(200_000), || marginals_are_sums(mixture()));
}

/// `ln P(q | e)` of a mixture of two products is the logarithm of the quotient of two sums over
/// assignments: those that agree with the query, and all, each times its likelihood.
///
/// Claims: A4, L3
/// Domain: every mixture of 2 products of leaves over 2 binary variables, numbers in 0..3, any evidence, any query of 1 variable; `Scaled` by contract
/// Slow: vectors throughout; Kani has not settled it so far
#[cfg_attr(
    all(kani, kani_slow),
    kani::proof,
    kani::unwind(8),
    kani::solver(cadical)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::from_f64, super::contracts::whole)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::times, super::contracts::times)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(
        crate::spn::scaled::Scaled::sum_of_products,
        super::contracts::sum_of_products
    )
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::over, super::contracts::over)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::scaled::Scaled::ln, super::contracts::ln_of_pair)
)]
#[cfg_attr(
    all(kani, kani_slow),
    kani::stub(crate::spn::conflict::explain, super::contracts::no_conflict)
)]
#[cfg_attr(not(kani), test)]
fn conditionals_of_a_mixture_are_quotients_of_sums_over_assignments() {
    check(Cases::Random(200_000), || {
        let known = mixture();
        let compiled = Compiled::new(known.network);
        let mut evidence = Evidence::none(compiled.network());
        let (first, second) = (tell(&mut evidence, 0), tell(&mut evidence, 1));
        let (variable, state) = (usize::from(below(2)), usize::from(below(2)));
        let (mut asked, mut total) = (0, 0);
        for (x, first) in first.iter().enumerate() {
            for (y, second) in second.iter().enumerate() {
                let joint = known.value[x][y] * first * second;
                total += joint;
                let agrees = if variable == 0 { x } else { y } == state;
                asked += if agrees { joint } else { 0 };
            }
        }
        assume!(total > 0);
        let mut workspace = Workspace::new();
        let found = compiled.log_conditional(&[(variable, state)], &evidence, &mut workspace);
        let Ok(found) = found else {
            panic!("possible evidence is answered");
        };
        assert!(is_log_of_quotient(found, asked, total));
        cover!(variable == 1 && asked > 0 && asked < total, "in between");
        cover!(asked == 0, "an impossible query");
    });
}

/// The marginals of every valid network are the sums over assignments, divided by the sum over all,
/// and the value under the evidence has that sum's logarithm.
///
/// Claims: A4, L3
/// Domain: every network of 5 nodes over up to 3 binary variables, one fixed prime a weight and a leaf value; no evidence, and every state of each variable
/// Enumerated only: whole networks are out of a solver's reach
#[cfg_attr(not(kani), test)]
fn every_network_of_5_nodes_answers_by_the_definition() {
    const PRIMES: [usize; 20] = [
        2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71,
    ];
    check(Cases::All(Shape::<5>::count()), || {
        let shape = Shape::<5>::any();
        assume!(shape.is_valid());
        let scope = shape.scopes()[4];
        // Variables of the root's scope, counted from 0.
        let rank = |variable: u32| (scope & ((1 << variable) - 1)).count_ones() as usize;
        let variables = scope.count_ones() as usize;
        let leaf = |node: usize, state: usize| PRIMES[2 * node + state];
        let weight = |node: usize, child: usize| PRIMES[(4 * node + child) % PRIMES.len()];
        let children = |node: usize| (0..node).filter(move |j| shape.parents[node] >> j & 1 == 1);

        let build = || {
            let mut builder = Builder::new(&vec![2; variables]).ok()?;
            let mut nodes: Vec<NodeId> = Vec::new();
            for node in 0..5 {
                let id = match shape.kinds[node] {
                    NodeKind::Leaf { variable } => {
                        let values = [leaf(node, 0) as f64, leaf(node, 1) as f64];
                        builder.leaf(rank(variable), &values)
                    }
                    NodeKind::Product => {
                        builder.product(&children(node).map(|j| nodes[j]).collect::<Vec<_>>())
                    }
                    _ => {
                        let terms = children(node).map(|j| (nodes[j], weight(node, j) as f64));
                        builder.sum(&terms.collect::<Vec<_>>())
                    }
                };
                nodes.push(id.ok()?);
            }
            builder.build(nodes[4]).ok()
        };
        // None where a node is not below the root.
        let network = build();
        assume!(network.is_some());
        let compiled = Compiled::new(network.unwrap());

        // The value of an assignment, by the definition.
        let value = |states: usize| {
            let mut values = [0usize; 5];
            for node in 0..5 {
                values[node] = match shape.kinds[node] {
                    NodeKind::Leaf { variable } => leaf(node, states >> rank(variable) & 1),
                    NodeKind::Product => children(node).map(|j| values[j]).product(),
                    _ => children(node).map(|j| weight(node, j) * values[j]).sum(),
                };
            }
            values[4]
        };
        let mut workspace = Workspace::new();
        // What is seen of each variable: state 0, state 1, or nothing.
        for seen in 0..3usize.pow(variables as u32) {
            let seen = |v: usize| seen / 3usize.pow(v as u32) % 3;
            let mut evidence = Evidence::none(compiled.network());
            for v in (0..variables).filter(|&v| seen(v) < 2) {
                assert!(evidence.observe(v, seen(v)).is_ok());
            }
            let agrees =
                |states: &usize| (0..variables).all(|v| seen(v) == 2 || states >> v & 1 == seen(v));
            let agreeing = || (0..1usize << variables).filter(agrees);
            let total: usize = agreeing().map(value).sum();
            let log = compiled.log_value(&evidence, &mut workspace);
            assert!(log.is_ok_and(|log| is_log_of_quotient(log, total, 1)));
            let marginals = compiled.marginals(&evidence, &mut workspace).unwrap();
            for v in 0..variables {
                let share = |s: usize| agreeing().filter(|x| x >> v & 1 == s).map(value).sum();
                // Both below 2⁵³, so that the hardware's quotient is rounded once.
                let want = [quotient(share(0), total), quotient(share(1), total)];
                assert!(marginals.probabilities(v) == want);
            }
        }
        cover!(variables == 3, "all three variables");
        cover!(
            shape.kinds[4] == NodeKind::Product && children(4).count() == 3,
            "a product of three"
        );
        cover!(
            shape.kinds[4] == NodeKind::Sum && variables == 2,
            "a mixture"
        );
    });
}
