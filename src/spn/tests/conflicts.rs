//! Impossible evidence: the variables named are a conflict, and none of them can be left out.

use num_traits::Zero;
use rand::RngExt;

use super::oracle::{exact, exact_evidence, table, total};
use super::random::{Numbers, evidence, generator, network};
use crate::spn::{Builder, Compiled, Evidence, Known, Network, QueryError, Workspace};

fn impossible(network: &Network, evidence: &Evidence) -> bool {
    total(&table(&exact(network), &exact_evidence(evidence, network))).is_zero()
}

#[test]
fn the_variables_named_are_an_irreducible_conflict() {
    let mut rng = generator(40);
    let mut workspace = Workspace::new();
    let mut sizes = [0; 5];
    for round in 0..2000 {
        let network = network(&mut rng, 4, Numbers::Eighths);
        let mut evidence = evidence(&mut rng, &network, Numbers::Eighths);
        if round % 2 == 0 {
            // Larger conflicts arise where every variable is observed.
            for (v, &states) in network.cardinalities().iter().enumerate() {
                evidence.observe(v, rng.random_range(0..states)).unwrap();
            }
        }
        let compiled = Compiled::new(network);
        let network = compiled.network();
        let Err(error) = compiled.marginals(&evidence, &mut workspace) else {
            continue;
        };
        let QueryError::Impossible {
            variables,
            irreducible,
        } = error
        else {
            panic!("{error}");
        };
        assert!(irreducible);
        sizes[variables.len()] += 1;
        let only = |keep: &[usize]| {
            let mut kept = Evidence::none(network);
            for &v in keep {
                kept.copy(v, &evidence);
            }
            kept
        };
        assert!(impossible(network, &only(&variables)));
        for left_out in &variables {
            let rest: Vec<usize> = variables
                .iter()
                .copied()
                .filter(|v| v != left_out)
                .collect();
            assert!(!impossible(network, &only(&rest)));
        }
        assert!(
            variables
                .iter()
                .all(|&v| evidence.about(v) != Known::Nothing)
        );
    }
    assert!(sizes[0] == 0 && sizes[1] > 50 && sizes[2] > 10, "{sizes:?}");
}

/// Each of `n` branches is ruled out by one variable only: the conflict is all of them.
fn one_guard_a_branch(n: usize) -> (Compiled, Evidence) {
    let mut builder = Builder::new(&vec![2; n]).unwrap();
    let open: Vec<_> = (0..n)
        .map(|v| builder.leaf(v, &[1.0, 1.0]).unwrap())
        .collect();
    let branches: Vec<_> = (0..n)
        .map(|guard| {
            let mut children = open.clone();
            children[guard] = builder.indicator(guard, 0).unwrap();
            (builder.product(&children).unwrap(), 1.0)
        })
        .collect();
    let root = builder.sum(&branches).unwrap();
    let compiled = Compiled::new(builder.build(root).unwrap());
    let mut evidence = Evidence::none(compiled.network());
    for v in 0..n {
        evidence.observe(v, 1).unwrap();
    }
    (compiled, evidence)
}

#[test]
fn large_conflicts_are_named_whole_or_said_not_to_be_reduced() {
    for (n, want) in [(3, true), (16, true), (40, false)] {
        let (compiled, evidence) = one_guard_a_branch(n);
        let error = compiled
            .sampler(&evidence, &mut Workspace::new())
            .map(|_| ())
            .unwrap_err();
        assert_eq!(
            error,
            QueryError::Impossible {
                variables: (0..n).collect(),
                irreducible: want
            }
        );
    }
    let (compiled, evidence) = one_guard_a_branch(2);
    let error = compiled
        .marginals(&evidence, &mut Workspace::new())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the evidence about variables 0, 1 cannot hold together: the network gives it \
         probability zero; remove or soften it"
    );
}
