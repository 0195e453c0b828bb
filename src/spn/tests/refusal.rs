//! Invalid networks are refused, and the explanation is right.

use std::collections::BTreeSet;

use rand::RngExt;

use super::random::generator;
use crate::spn::{BuildError, Builder, Defect, Graph, NodeKind, Scope, ScopeSpace, check, words};

/// The definition in sets: the scope of every node up to the first invalid one, and what is
/// wrong with that.
fn oracle(graph: Graph<'_>) -> Result<Vec<BTreeSet<u32>>, Defect> {
    let mut scopes: Vec<BTreeSet<u32>> = Vec::new();
    for (index, kind) in graph.kinds.iter().enumerate() {
        let node = index as u32;
        let children = graph.children_of(index);
        let scope_of = |child: &u32| &scopes[*child as usize];
        scopes.push(match kind {
            NodeKind::Leaf { variable } => BTreeSet::from([*variable]),
            NodeKind::Sum => {
                let first = children[0];
                for &second in children {
                    let differ = scope_of(&first)
                        .symmetric_difference(scope_of(&second))
                        .min();
                    if let Some(&variable) = differ {
                        return Err(Defect::NotComplete {
                            node,
                            first,
                            second,
                            variable,
                        });
                    }
                }
                scope_of(&first).clone()
            }
            NodeKind::Product => {
                for (i, second) in children.iter().enumerate() {
                    let before: BTreeSet<u32> =
                        children[..i].iter().flat_map(scope_of).copied().collect();
                    if let Some(&variable) = before.intersection(scope_of(second)).min() {
                        let first = children.iter().find(|c| scope_of(c).contains(&variable));
                        return Err(Defect::NotDecomposable {
                            node,
                            first: *first.unwrap(),
                            second: *second,
                            variable,
                        });
                    }
                }
                children.iter().flat_map(scope_of).copied().collect()
            }
        });
    }
    Ok(scopes)
}

fn run_check(graph: Graph<'_>, variables: usize) -> Result<(), Defect> {
    let products = graph
        .kinds
        .iter()
        .filter(|&&k| k == NodeKind::Product)
        .count();
    // Whatever the scratch space holds at first must not matter.
    let mut scopes = vec![Scope::Row(u32::MAX); graph.kinds.len()];
    let mut bits = vec![u64::MAX; products * words(variables)];
    let mut space = ScopeSpace {
        scopes: &mut scopes,
        bits: &mut bits,
    };
    check(graph, variables, &mut space)
}

#[test]
fn any_random_graph_is_accepted_or_refused_as_the_definition_says() {
    let mut rng = generator(3);
    let (mut accepted, mut incomplete, mut overlapping) = (0, 0, 0);
    for round in 0..20_000 {
        // Up to 3 variables, and now and then some beyond the first word of the bit masks.
        let stride = if round % 4 == 0 { 64 } else { 1 };
        let nodes = rng.random_range(1..7);
        let (mut kinds, mut offsets, mut children) = (Vec::new(), vec![0], Vec::new());
        for node in 0..nodes {
            let kind = rng.random_range(0..5);
            kinds.push(match kind {
                _ if node == 0 => NodeKind::Leaf { variable: 0 },
                0..3 => NodeKind::Leaf {
                    variable: stride * rng.random_range(0..3),
                },
                3 => NodeKind::Sum,
                _ => NodeKind::Product,
            });
            if !matches!(kinds[node as usize], NodeKind::Leaf { .. }) {
                for _ in 0..rng.random_range(1..4) {
                    children.push(rng.random_range(0..node));
                }
            }
            offsets.push(children.len() as u32);
        }
        let graph = Graph {
            kinds: &kinds,
            offsets: &offsets,
            children: &children,
        };
        let got = run_check(graph, 3 * stride as usize);
        assert_eq!(got, oracle(graph).map(|_| ()), "{graph:?}");
        match got {
            Ok(()) => accepted += 1,
            Err(Defect::NotComplete { .. }) => incomplete += 1,
            Err(_) => overlapping += 1,
        }
    }
    assert!(
        accepted.min(incomplete).min(overlapping) > 1000,
        "{accepted} {incomplete} {overlapping}"
    );
}

#[test]
fn malformed_slices_are_refused_without_a_panic() {
    let leaf = NodeKind::Leaf { variable: 0 };
    type Case<'a> = (&'a [NodeKind], &'a [u32], &'a [u32], Defect);
    let cases: &[Case] = &[
        (&[], &[0], &[], Defect::Empty),
        (&[leaf], &[0], &[], Defect::Offsets { node: 0 }),
        (&[leaf], &[1, 1], &[0], Defect::Offsets { node: 0 }),
        (&[leaf], &[0, 0], &[0], Defect::Offsets { node: 0 }),
        (
            &[leaf, NodeKind::Sum, NodeKind::Sum],
            &[0, 0, 9, 1],
            &[0],
            Defect::Offsets { node: 1 },
        ),
        (
            &[leaf, NodeKind::Sum, leaf],
            &[0, 0, 1, 0],
            &[],
            Defect::Offsets { node: 1 },
        ),
        (&[leaf], &[0, 1], &[0], Defect::LeafWithChildren { node: 0 }),
        (
            &[NodeKind::Leaf { variable: 1 }],
            &[0, 0],
            &[],
            Defect::UnknownVariable {
                node: 0,
                variable: 1,
            },
        ),
        (
            &[NodeKind::Product],
            &[0, 0],
            &[],
            Defect::NoChildren { node: 0 },
        ),
        (
            &[NodeKind::Sum],
            &[0, 1],
            &[0],
            Defect::ChildNotBefore { node: 0, child: 0 },
        ),
        (
            &[leaf, NodeKind::Product],
            &[0, 0, 1],
            &[u32::MAX],
            Defect::ChildNotBefore {
                node: 1,
                child: u32::MAX,
            },
        ),
    ];
    for &(kinds, offsets, children, want) in cases {
        let graph = Graph {
            kinds,
            offsets,
            children,
        };
        assert_eq!(run_check(graph, 1), Err(want), "{graph:?}");
    }
    let graph = Graph {
        kinds: &[leaf, NodeKind::Product],
        offsets: &[0, 0, 1],
        children: &[0],
    };
    let mut space = ScopeSpace {
        scopes: &mut [Scope::One(0); 2],
        bits: &mut [],
    };
    assert_eq!(check(graph, 1, &mut space), Err(Defect::Space));
}

#[test]
fn the_builder_explains_what_is_wrong_and_where() {
    let mut builder = Builder::<f64>::new(&[2, 3, 2]).unwrap();
    let a = builder.leaf(0, &[0.5, 0.5]).unwrap();
    let b = builder.leaf(1, &[0.2, 0.3, 0.5]).unwrap();
    let c = builder.leaf(2, &[1.0, 0.0]).unwrap();
    let ab = builder.product(&[a, b]).unwrap();
    let bc = builder.product(&[b, c]).unwrap();

    let mut overlapping = builder.clone();
    let root = overlapping.product(&[ab, bc]).unwrap();
    let error = overlapping.build(root).unwrap_err();
    assert_eq!(
        error,
        BuildError::NotDecomposable {
            node: 5,
            first: (3, vec![0, 1]),
            second: (4, vec![1, 2]),
            variable: 1
        }
    );
    assert_eq!(
        error.to_string(),
        "product 5 is not decomposable: variable 1 is below its child 3 (scope {0, 1}) and below \
         its child 4 (scope {1, 2}); children of a product must not share a variable"
    );

    let mut incomplete = builder.clone();
    let root = incomplete.sum(&[(ab, 0.5), (bc, 0.5)]).unwrap();
    let error = incomplete.build(root).unwrap_err();
    assert!(matches!(
        error,
        BuildError::NotComplete {
            node: 5,
            first: (3, _),
            second: (4, _),
            variable: 0
        }
    ));
    assert!(error.to_string().contains("scope {1, 2}"), "{error}");

    let mut unreachable = builder.clone();
    let root = unreachable.product(&[ab, c]).unwrap();
    assert_eq!(
        unreachable.build(root).unwrap_err(),
        BuildError::Unreachable { node: 4, root: 5 }
    );

    assert_eq!(
        builder.clone().build(ab).unwrap_err(),
        BuildError::RootScope {
            root: 3,
            missing: vec![2]
        }
    );
    let twice = builder.product(&[a, a]).unwrap();
    assert!(matches!(
        builder.build(twice),
        Err(BuildError::NotDecomposable {
            first: (0, _),
            second: (0, _),
            variable: 0,
            ..
        })
    ));
}

#[test]
fn the_builder_refuses_numbers_and_names_that_make_no_sense() {
    assert_eq!(
        Builder::<f64>::new(&[2, 0]).unwrap_err(),
        BuildError::NoStates { variable: 1 }
    );
    assert!(matches!(
        Builder::<f64>::new(&[usize::MAX, 2]).unwrap_err(),
        BuildError::TooLarge { .. }
    ));
    let mut builder = Builder::new(&[2]).unwrap();
    let weight = |value: f64, index| BuildError::Weight {
        node: 0,
        index,
        value,
    };
    assert_eq!(builder.leaf(0, &[0.5, -0.5]).unwrap_err(), weight(-0.5, 1));
    assert_eq!(
        builder.leaf(0, &[f64::INFINITY, 0.5]).unwrap_err(),
        weight(f64::INFINITY, 0)
    );
    assert!(matches!(
        builder.leaf(0, &[0.1, f64::NAN]).unwrap_err(),
        BuildError::Weight { node: 0, index: 1, value } if value.is_nan()
    ));
    assert_eq!(
        builder.leaf(0, &[0.0, -0.0]).unwrap_err(),
        BuildError::AllZero { node: 0 }
    );
    assert!(matches!(
        builder.leaf(0, &[1.0]).unwrap_err(),
        BuildError::LeafLength {
            states: 2,
            values: 1,
            ..
        }
    ));
    assert!(matches!(
        builder.leaf(1, &[1.0]).unwrap_err(),
        BuildError::UnknownVariable { variable: 1, .. }
    ));
    assert!(matches!(
        builder.indicator(0, 2).unwrap_err(),
        BuildError::UnknownState { state: 2, .. }
    ));
    let leaf = builder.leaf(0, &[1.0, 2.0]).unwrap();
    assert_eq!(
        builder.sum(&[]).unwrap_err(),
        BuildError::NoChildren { node: 1 }
    );
    assert_eq!(
        builder.product(&[]).unwrap_err(),
        BuildError::NoChildren { node: 1 }
    );
    assert!(matches!(
        builder.sum(&[(leaf, 0.0)]).unwrap_err(),
        BuildError::AllZero { node: 1 }
    ));
    let mut other = builder.clone();
    let foreign = other.sum(&[(leaf, 1.0)]).unwrap();
    assert_eq!(
        builder.product(&[foreign]).unwrap_err(),
        BuildError::UnknownChild { node: 1, child: 1 }
    );
    assert!(matches!(
        builder.clone().build(foreign).unwrap_err(),
        BuildError::UnknownRoot { root: 1, nodes: 1 }
    ));
    // A refused node leaves no trace.
    assert_eq!(builder.build(leaf).unwrap().nodes(), 1);
}

/// What is bounded is the sum of the states of all leaves, not another number made of them.
#[test]
fn leaves_of_many_states_are_added_up() {
    let states = 33_000;
    let mut builder = Builder::<f64>::new(&[states]).unwrap();
    let first = builder.indicator(0, 0).unwrap();
    let second = builder.indicator(0, states - 1).unwrap();
    let third = builder.leaf(0, &vec![1.0; states]).unwrap();
    let fourth = builder.leaf(0, &vec![1.0; states]).unwrap();
    let children = [first, second, third, fourth].map(|child| (child, 1.0));
    assert!(builder.sum(&children).is_ok());
}
