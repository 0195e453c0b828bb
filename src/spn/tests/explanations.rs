//! Most probable explanations against brute force.

use num_rational::BigRational;
use num_traits::{Signed, Zero};

use super::oracle::{exact, exact_evidence, table, total};
use super::random::{Numbers, evidence, generator, network};
use crate::math::rational;
use crate::spn::{Builder, Compiled, Evidence, QueryError, Workspace};

#[test]
fn the_search_finds_a_best_assignment_and_max_product_stays_within_its_guarantee() {
    let mut workspace = Workspace::new();
    let (mut improved, mut closed_at_once) = (0, 0);
    // Rationals of a thousand bits are slow: fewer and smaller ones.
    for (numbers, networks, variables) in [(Numbers::Eighths, 1500, 4), (Numbers::Extreme, 60, 2)] {
        let mut rng = generator(30);
        for _ in 0..networks {
            let network = network(&mut rng, variables, numbers);
            let evidence = evidence(&mut rng, &network, numbers);
            let table = table(&exact(&network), &exact_evidence(&evidence, &network));
            let compiled = Compiled::new(network);
            let quick = compiled.max_product(&evidence, &mut workspace);
            if total(&table).is_zero() {
                assert!(matches!(quick, Err(QueryError::Impossible { .. })));
                continue;
            }
            let quick = quick.unwrap();
            let full = compiled
                .most_probable(&evidence, usize::MAX, &mut workspace)
                .unwrap();
            let value = |a: &[usize]| &table.iter().find(|(b, _)| a == b).unwrap().1;
            let best: &BigRational = table.iter().map(|(_, v)| v).max().unwrap();
            let slack = rational(2.0 * compiled.relative_error()).unwrap();
            assert!(full.exact);
            assert!((best - value(&full.assignment)).abs() <= best * &slack);
            assert_eq!(full.log_value, full.log_bound);
            // The quick answer: a true value, below its bound, which is above the optimum.
            assert!(!value(&quick.assignment).is_zero());
            assert!(quick.log_value <= full.log_value && full.log_value <= quick.log_bound);
            if quick.exact {
                closed_at_once += 1;
                assert!((best - value(&quick.assignment)).abs() <= best * &slack);
            }
            improved += usize::from(quick.log_value < full.log_value);
        }
    }
    assert!(improved > 20, "max-product was never beaten: {improved}");
    assert!(closed_at_once > 100, "{closed_at_once}");
}

/// Two components with separate peaks of 0.4, and two that agree on another state: 0.3 + 0.3.
#[test]
fn max_product_is_not_the_optimum_where_terms_overlap() {
    let mut builder = Builder::new(&[3]).unwrap();
    let terms = [[0.6, 0.0, 0.4], [0.0, 0.6, 0.4]];
    let terms = terms.map(|values| (builder.leaf(0, &values).unwrap(), 0.5));
    let root = builder.sum(&terms).unwrap();
    let compiled = Compiled::new(builder.build(root).unwrap());
    let evidence = Evidence::none(compiled.network());
    let mut workspace = Workspace::new();
    let quick = compiled.max_product(&evidence, &mut workspace).unwrap();
    assert_eq!((quick.assignment, quick.exact), (vec![0], false));
    let full = compiled
        .most_probable(&evidence, 3, &mut workspace)
        .unwrap();
    assert_eq!((full.assignment, full.exact), (vec![2], true));
    // Two passes are too few for the three states: nothing is proved beyond the first bound.
    let short = compiled
        .most_probable(&evidence, 2, &mut workspace)
        .unwrap();
    assert_eq!((short.assignment, short.exact), (vec![0], false));
    assert_eq!(short.log_bound, quick.log_bound);
}

/// A class variable separates the branches: selective, so that one pass is exact.
#[test]
fn a_selective_network_needs_no_search() {
    let mut builder = Builder::new(&[2, 3]).unwrap();
    let branches = [[0.1, 0.5, 0.4], [0.3, 0.3, 0.4]];
    let branches: Vec<_> = branches
        .iter()
        .enumerate()
        .map(|(class, values)| {
            let pair = [
                builder.indicator(0, class).unwrap(),
                builder.leaf(1, values).unwrap(),
            ];
            (builder.product(&pair).unwrap(), 0.5)
        })
        .collect();
    let root = builder.sum(&branches).unwrap();
    let compiled = Compiled::new(builder.build(root).unwrap());
    let evidence = Evidence::none(compiled.network());
    let found = compiled
        .max_product(&evidence, &mut Workspace::new())
        .unwrap();
    assert_eq!((found.assignment, found.exact), (vec![0, 1], true));
    assert_eq!(found.log_value, crate::math::ln(0.25));
}
