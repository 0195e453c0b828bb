//! The generic evaluation against brute force.

use std::num::Wrapping;

use super::oracle::{exact, exact_evidence, table, total};
use super::random::{Numbers, evidence, generator, network};
use crate::spn::{Builder, Evidence};

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
