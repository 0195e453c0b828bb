//! The generic evaluation against brute force.

use std::num::Wrapping;

use super::super::selective::selective_sums;
use super::oracle::{exact, exact_evidence, table, total};
use super::random::{Numbers, evidence, generator, network};
use crate::spn::{Builder, Compiled, Evidence};

/// Random networks a test; each has up to 81 assignments.
const NETWORKS: usize = 2000;

#[test]
fn evaluation_in_rationals_equals_the_sum_over_all_assignments() {
    let mut rng = generator(1);
    let (mut shared, mut impossible) = (0, 0);
    for _ in 0..NETWORKS {
        let network = network(&mut rng, 4, Numbers::Eighths);
        let evidence = evidence(&mut rng, &network, Numbers::Eighths);
        let (network_q, evidence_q) = (exact(&network), exact_evidence(&evidence, &network));
        let want = total(&table(&network_q, &evidence_q));
        assert_eq!(network_q.evaluate(&evidence_q).unwrap(), want);
        // A node with two parents makes it a graph and not a tree.
        shared += usize::from(network.edges() >= network.nodes());
        impossible += usize::from(want == exact_zero());
    }
    // The sample must contain what makes the claim hard.
    assert!(shared > NETWORKS / 20, "{shared} networks share nodes");
    assert!(impossible > NETWORKS / 20, "{impossible} impossible");
}

fn exact_zero() -> num_rational::BigRational {
    num_traits::Zero::zero()
}

#[test]
fn the_same_code_over_wrapping_integers_is_the_integer_value_modulo_their_size() {
    let mut rng = generator(2);
    for _ in 0..300 {
        let doubles = network(&mut rng, 3, Numbers::Eighths);
        let eighths = |x: &f64| (x * 8.0) as u64;
        let wide = doubles.convert(|x| Wrapping(eighths(x))).unwrap();
        let narrow = doubles.convert(|x| Wrapping(eighths(x) as u16)).unwrap();
        let wide = wide.evaluate(&Evidence::none(&wide)).unwrap();
        let narrow = narrow.evaluate(&Evidence::none(&narrow)).unwrap();
        assert_eq!(narrow.0, wide.0 as u16);
    }
}

#[test]
fn listing_children_in_another_order_changes_no_bit() {
    let build = |order: [usize; 3]| {
        let mut builder = Builder::<f64>::new(&[2, 2, 2]).unwrap();
        let sums = [(0, 0.1), (1, 0.2), (2, 0.3)].map(|(variable, p)| {
            let leaves = [0.7, p, 0.123].map(|q| builder.leaf(variable, &[q, 1.0 - q]).unwrap());
            let weights = [0.1, 0.2, 0.7];
            let terms = order.map(|i| (leaves[i], weights[i]));
            builder.sum(&terms).unwrap()
        });
        let root = builder.product(&order.map(|i| sums[i])).unwrap();
        builder.build(root).unwrap()
    };
    let first = build([0, 1, 2]);
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let other = build(order);
        let mut evidence = Evidence::none(&other);
        evidence
            .observe(0, 1)
            .unwrap()
            .weigh(2, &[0.3, 0.9])
            .unwrap();
        let (a, b) = (first.evaluate(&evidence), other.evaluate(&evidence));
        assert_eq!(a.unwrap().to_bits(), b.unwrap().to_bits());
    }
}

/// Counted by hand from the rule: a leaf 2, a sum the worst of its terms and 2, a product one and what its
/// factors have; on the way down an edge adds its siblings and 2.
#[test]
fn roundings_are_counted_along_every_path() {
    let mut builder = Builder::new(&[2, 2, 2]).unwrap();
    let terms = [[0.25, 0.75], [0.5, 0.5]];
    let terms = terms.map(|p| (builder.leaf(0, &p).unwrap(), 0.5));
    let sum = builder.sum(&terms).unwrap();
    let second = builder.leaf(1, &[0.25, 0.75]).unwrap();
    let third = builder.leaf(2, &[0.25, 0.75]).unwrap();
    let root = builder.product(&[sum, second, third]).unwrap();
    let compiled = Compiled::new(builder.build(root).unwrap());
    // The sum has 4, the product 1 + 4 + 2 + 2 = 9.
    let unit = 2.0f64.powi(-63);
    assert_eq!(compiled.relative_error(), 9.0 * unit);
    // To the sum 9 − 4 + 2 = 7, to its leaves 7 + 1 + 2 = 10, to the others 9 − 2 + 2 = 9; a joint value
    // 10 + 3, and a marginal twice that and 2.
    assert_eq!(compiled.marginal_error(), 28.0 * unit);
}

/// By the definition: whether two terms of a sum can be above zero at once, for every assignment.
#[test]
fn sums_are_selective_where_no_two_terms_meet() {
    let mut builder = Builder::new(&[3, 2]).unwrap();
    let state = |builder: &mut Builder<f64>, x: usize, p: f64| {
        let which = builder.indicator(0, x).unwrap();
        let other = builder.leaf(1, &[p, 1.0 - p]).unwrap();
        builder.product(&[which, other]).unwrap()
    };
    let terms = [(0, 0.25), (1, 0.5), (2, 0.125)];
    let terms = terms.map(|(x, p)| (state(&mut builder, x, p), 0.25));
    let apart = builder.sum(&terms).unwrap();
    let meeting = [terms[0], (state(&mut builder, 0, 0.75), 0.5)];
    let meeting = builder.sum(&meeting).unwrap();
    let one = builder.sum(&[(apart, 0.5), (terms[1].0, 0.0)]).unwrap();
    let root = builder.sum(&[(meeting, 0.5), (one, 0.5)]).unwrap();
    let network = builder.build(root).unwrap();
    let found = selective_sums(&network);
    // Ids are those of the builder, in order; whatever is no sum is not selective.
    let sums: Vec<usize> = (0..network.nodes()).filter(|&node| found[node]).collect();
    assert_eq!(sums.len(), 2, "{sums:?}");
    assert_eq!(found.len(), network.nodes());
    assert!(!found[network.nodes() - 1]);
}
