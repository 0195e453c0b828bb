//! A4: marginalization is exact inference in a complete and decomposable network.
//!
//! Both properties belong to the structure and are decided by walking it; that every factor is a
//! distribution says nothing about them.

use rayon::prelude::*;

use super::{AssumptionError, Items};
use crate::aggregate::{Method, aggregate, aggregate_by_network, network};
use crate::simplex::l1_distance;
use crate::spn::{Defect, Graph, NodeKind, Scope, ScopeSpace, check, words};

/// The first defect of a network over variables `0..variables`.
fn first_defect(graph: Graph<'_>, variables: usize) -> Option<Defect> {
    let kinds = graph.kinds.iter();
    let products = kinds.filter(|k| **k == NodeKind::Product).count();
    let mut scopes = vec![Scope::One(0); graph.kinds.len()];
    let mut bits = vec![0; words(variables) * products];
    let mut space = ScopeSpace {
        scopes: &mut scopes,
        bits: &mut bits,
    };
    check(graph, variables, &mut space).err()
}

/// The networks of all entities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marginalization {
    /// How many entities have items, and thus a network.
    pub networks: usize,
    /// Nodes of all networks together.
    pub nodes: usize,
    /// The first entity with a defect, and the defect.
    pub defect: Option<(usize, Defect)>,
    /// The largest L1 distance between inference in an entity's network and the product of its
    /// factors: rounding only, where A4 holds.
    pub difference: f64,
}

impl Marginalization {
    /// Whether some network is not valid.
    pub fn contradicted(&self) -> bool {
        self.defect.is_some()
    }

    /// The finding as a sentence.
    pub fn sentence(&self) -> String {
        let Marginalization {
            networks,
            nodes,
            defect,
            difference,
        } = self;
        match defect {
            Some((entity, defect)) => {
                format!("The network of entity {entity} is not valid, so A4 fails: {defect}.")
            }
            None => format!(
                "All {networks} networks ({nodes} nodes) are complete and decomposable, and inference \
                 in them is the product of the factors up to {difference:.1e} in L1: A4 holds."
            ),
        }
    }
}

/// Checks A4 on the networks that LPF-SPN stands for, one for each entity with items; `weights` has
/// one entry for each item.
///
/// # Errors
/// [`AssumptionError::Lengths`], [`AssumptionError::Aggregate`] for the first entity whose factors
/// cannot be combined.
pub fn marginalization(
    items: &Items<'_>,
    weights: &[f64],
) -> Result<Marginalization, AssumptionError> {
    if weights.len() != items.factors().len() {
        return Err(AssumptionError::Lengths {
            name: "weights",
            expected: items.factors().len(),
            found: weights.len(),
        });
    }
    let mut at = 0;
    let mut entities = Vec::with_capacity(items.entities());
    for (entity, factors) in items.groups().enumerate() {
        let weights = &weights[at..at + factors.len()];
        at += factors.len();
        if !factors.is_empty() {
            entities.push((entity, factors, weights));
        }
    }
    let each: Vec<Result<_, AssumptionError>> = entities
        .par_iter()
        .map(|&(entity, factors, weights)| {
            let named = |source| AssumptionError::Aggregate { entity, source };
            let built = network(factors, weights, None).map_err(named)?;
            let defect = first_defect(built.graph(), built.variables());
            let inferred =
                aggregate_by_network(Method::Spn, factors, weights, None).map_err(named)?;
            let direct = aggregate(Method::Spn, factors, weights, None).map_err(named)?;
            // Both are over the classes of the factors.
            let difference = l1_distance(&inferred, &direct).unwrap_or(f64::INFINITY);
            Ok((entity, built.nodes(), defect, difference))
        })
        .collect();
    let mut found = Marginalization {
        networks: each.len(),
        nodes: 0,
        defect: None,
        difference: 0.0,
    };
    for one in each {
        let (entity, nodes, defect, difference) = one?;
        found.nodes += nodes;
        found.difference = found.difference.max(difference);
        found.defect = found.defect.or(defect.map(|defect| (entity, defect)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::AggregateError;
    use crate::simplex::{Distribution, PoolError};

    fn d(p: &[f64]) -> Distribution {
        Distribution::from_weights(p.to_vec()).unwrap()
    }

    #[test]
    fn networks_of_entities_are_valid_and_counted() {
        let factors = [
            d(&[0.7, 0.2, 0.1]),
            d(&[0.3, 0.3, 0.4]),
            d(&[0.5, 0.4, 0.1]),
        ];
        let items = Items::new(&factors, &[0, 2, 2, 3]).unwrap();
        let found = marginalization(&items, &[0.3, 0.9, 1.0]).unwrap();
        // A root and per class a product, an indicator and a leaf an item: 1 + 3·(2 + K).
        assert_eq!((found.networks, found.nodes), (2, 13 + 10));
        assert!(!found.contradicted() && found.difference < 1e-14);
        assert!(found.sentence().contains("A4 holds"));
        assert!(marginalization(&items, &[1.0]).is_err());
        let contradicting = [d(&[1.0, 0.0]), d(&[0.0, 1.0])];
        let items = Items::new(&contradicting, &[0, 0, 2]).unwrap();
        let error = marginalization(&items, &[1.0, 1.0]).unwrap_err();
        let AssumptionError::Aggregate { entity: 1, source } = &error else {
            panic!("{error}");
        };
        assert!(matches!(
            source,
            AggregateError::Pool(PoolError::Contradiction(_))
        ));
    }

    #[test]
    fn broken_structures_are_named() {
        // Two leaves over variables 0 and 1. Their product is decomposable; their sum is not
        // complete, and the product of the first with itself not decomposable.
        let leaves = [
            NodeKind::Leaf { variable: 0 },
            NodeKind::Leaf { variable: 1 },
        ];
        let with = |top: NodeKind, children: &[u32]| {
            let kinds = [leaves[0], leaves[1], top];
            let graph = Graph {
                kinds: &kinds,
                offsets: &[0, 0, 0, 2],
                children,
            };
            first_defect(graph, 2)
        };
        assert_eq!(with(NodeKind::Product, &[0, 1]), None);
        assert!(matches!(
            with(NodeKind::Sum, &[0, 1]),
            Some(Defect::NotComplete { node: 2, .. })
        ));
        let defect = with(NodeKind::Product, &[0, 0]).unwrap();
        assert!(matches!(defect, Defect::NotDecomposable { node: 2, .. }));
        let found = Marginalization {
            networks: 4,
            nodes: 12,
            defect: Some((3, defect)),
            difference: 0.0,
        };
        assert!(found.contradicted());
        let want = "The network of entity 3 is not valid, so A4 fails: children 0 and 0 of product \
                    2 share variable 0.";
        assert_eq!(found.sentence(), want);
    }
}
