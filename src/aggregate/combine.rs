//! All evidence of one entity at once.

use rayon::prelude::*;

use super::{Accumulator, Method};
use crate::simplex::{Distribution, PoolError, log_pool, prior_corrected};
use crate::spn::{BuildError, QueryError};

/// Up to so many items are aggregated one after the other; more are aggregated in groups, and
/// these in groups of groups, on all threads. Either way the bits are the same.
pub const FLAT_LIMIT: usize = 100;

/// Why there is no aggregate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum AggregateError {
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The prior-corrected product needs a prior.
    #[error("the prior-corrected product needs a prior")]
    PriorMissing,
    /// The learned aggregation works on posteriors, not on factors.
    #[error("the learned aggregation needs a model and posteriors")]
    ModelMissing,
    /// Accumulators of two different methods were to be merged.
    #[error("an aggregate of method {0} and one of {1} do not merge")]
    Unlike(Method, Method),
    /// A method that is not a product has no such network.
    #[error("method {0} is no product, so it has no network")]
    NotAProduct(Method),
    /// The likelihoods of an item differ by more than the range of normal doubles, so that no
    /// network can hold them; the direct path can.
    #[error("the likelihoods of item {index} differ too much for a network; use the direct path")]
    Underflow { index: usize },
    #[error(transparent)]
    Build(BuildError),
    #[error(transparent)]
    Query(QueryError),
}

/// The aggregate of all factors, and what it would be without each of them.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaveOneOut {
    /// The aggregate of all factors.
    pub all: Distribution,
    /// Per item, the L1 distance from `all` to the aggregate of the other items; `None` where no
    /// aggregate is left. Range: `[0, 2]` up to rounding.
    pub influence: Vec<Option<f64>>,
}

/// Combines the factors of one entity. Only [`Method::PriorCorrected`] looks at the prior.
///
/// Domain: one weight a factor, finite and `≥ 0`. Range: a distribution, the same bits for every
/// order of the items and every number of threads.
///
/// # Errors
/// Shapes and weights outside the domain (the first in order), a missing prior, no factors (except
/// with a prior), [`PoolError::Contradiction`] naming the factors, and
/// [`AggregateError::ModelMissing`] for [`Method::Learned`].
pub fn aggregate(
    method: Method,
    factors: &[Distribution],
    weights: &[f64],
    prior: Option<&Distribution>,
) -> Result<Distribution, AggregateError> {
    let all = accumulate(method, factors, weights, prior)?;
    finish(&all, factors, weights, prior)
}

/// [`aggregate`], and how far the answer moves when each item is left out.
///
/// Takes `O(K·classes)`: an item is taken out of the exact sums, not the others added again, and
/// the result is to the bit what adding the others again would give.
///
/// # Errors
/// Those of [`aggregate`].
pub fn leave_one_out(
    method: Method,
    factors: &[Distribution],
    weights: &[f64],
    prior: Option<&Distribution>,
) -> Result<LeaveOneOut, AggregateError> {
    let accumulated = accumulate(method, factors, weights, prior)?;
    let all = finish(&accumulated, factors, weights, prior)?;
    let mut influence = vec![None; factors.len()];
    let work = |((factors, weights), distances): ((&[_], &[_]), &mut [_])| {
        accumulated.distances_without(&all, factors, weights, distances)
    };
    if factors.len() <= FLAT_LIMIT {
        work(((factors, weights), &mut influence))?;
    } else {
        let groups = factors
            .par_chunks(FLAT_LIMIT)
            .zip(weights.par_chunks(FLAT_LIMIT));
        let groups = groups.zip(influence.par_chunks_mut(FLAT_LIMIT));
        groups.try_for_each(work)?;
    }
    Ok(LeaveOneOut { all, influence })
}

fn accumulate(
    method: Method,
    factors: &[Distribution],
    weights: &[f64],
    prior: Option<&Distribution>,
) -> Result<Accumulator, AggregateError> {
    let classes = match (method, prior) {
        (Method::PriorCorrected, Some(prior)) => prior.classes(),
        _ => factors.first().map_or(0, Distribution::classes),
    };
    let empty = Accumulator::new(method, classes, prior)?;
    if factors.len() <= FLAT_LIMIT || factors.len() != weights.len() {
        return Ok(sequential(empty, factors, weights)?);
    }
    let grouped = factors
        .par_chunks(FLAT_LIMIT)
        .zip(weights.par_chunks(FLAT_LIMIT))
        .try_fold(
            || empty.clone(),
            |group, (factors, weights)| sequential(group, factors, weights).map_err(Into::into),
        )
        .try_reduce(
            || empty.clone(),
            |mut group, other| {
                group.merge(&other)?;
                Ok(group)
            },
        );
    match grouped {
        // A group knows neither the item's position nor whether another group failed earlier.
        Err(_) => Ok(sequential(empty, factors, weights)?),
        whole => whole,
    }
}

fn sequential(
    mut accumulator: Accumulator,
    factors: &[Distribution],
    weights: &[f64],
) -> Result<Accumulator, PoolError> {
    accumulator.add_all(factors, weights)?;
    Ok(accumulator)
}

fn finish(
    accumulated: &Accumulator,
    factors: &[Distribution],
    weights: &[f64],
    prior: Option<&Distribution>,
) -> Result<Distribution, AggregateError> {
    if let Some(found) = accumulated.distribution()? {
        return Ok(found);
    }
    // Only a product can have no possible class; the pools find out which factors are to blame.
    let explained = match (accumulated.method(), prior) {
        (Method::PriorCorrected, Some(prior)) => prior_corrected(prior, factors, weights),
        _ => log_pool(factors, weights),
    };
    Ok(explained?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simplex::{Contradiction, LogPool, l1_distance, linear_pool};
    use proptest::prelude::*;

    fn d(p: &[f64]) -> Distribution {
        Distribution::from_weights(p.to_vec()).unwrap()
    }

    /// Some zeros (but a common possible class 0), some ties, some weights of zero.
    fn evidence(items: std::ops::Range<usize>) -> impl Strategy<Value = Evidence> {
        (1usize..5, items).prop_flat_map(|(n, k)| {
            let entry = prop_oneof![1 => Just(0.0), 2 => Just(0.25), 9 => 1e-12f64..1.0];
            let factor =
                (1e-9f64..1.0, prop::collection::vec(entry, n - 1)).prop_map(|(a, mut p)| {
                    p.insert(0, a);
                    d(&p)
                });
            let weight = prop_oneof![1 => Just(0.0), 5 => 0.0f64..1.0];
            let prior = prop::collection::vec(1e-3f64..1.0, n).prop_map(|p| d(&p));
            (
                prop::collection::vec(factor, k),
                prop::collection::vec(weight, k),
                prior,
            )
        })
    }
    type Evidence = (Vec<Distribution>, Vec<f64>, Distribution);

    fn bits(p: &Distribution) -> Vec<u64> {
        p.probabilities().iter().map(|x| x.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn direct_formulas_give_the_same_bits((factors, weights, prior) in evidence(1..9)) {
            let ours = |m| aggregate(m, &factors, &weights, Some(&prior)).unwrap();
            prop_assert_eq!(ours(Method::Spn), log_pool(&factors, &weights).unwrap());
            let ones = vec![1.0; factors.len()];
            prop_assert_eq!(ours(Method::Uniform), linear_pool(&factors, &ones).unwrap());
            prop_assert_eq!(
                ours(Method::PriorCorrected),
                prior_corrected(&prior, &factors, &weights).unwrap()
            );
        }

        #[test]
        fn order_changes_no_bit((factors, weights, prior) in evidence(1..9), turn in 0usize..9) {
            for method in Method::OF_FACTORS {
                let flat = aggregate(method, &factors, &weights, Some(&prior)).unwrap();
                let (mut f, mut w) = (factors.clone(), weights.clone());
                let turn = turn % f.len();
                f.rotate_left(turn);
                w.rotate_left(turn);
                f.reverse();
                w.reverse();
                let turned = aggregate(method, &f, &w, Some(&prior)).unwrap();
                prop_assert_eq!(bits(&turned), bits(&flat));
            }
        }

        /// Groups of any size, groups of groups of them, and one flat pass.
        #[test]
        fn groups_of_groups_change_no_bit(
            (factors, weights, prior) in evidence(2..24), group in 1usize..6, groups in 1usize..4
        ) {
            for method in Method::OF_FACTORS {
                let n = factors[0].classes();
                let empty = Accumulator::new(method, n, Some(&prior)).unwrap();
                let flat = sequential(empty.clone(), &factors, &weights).unwrap();
                let small: Vec<Accumulator> = factors
                    .chunks(group)
                    .zip(weights.chunks(group))
                    .map(|(f, w)| sequential(empty.clone(), f, w).unwrap())
                    .collect();
                let merged = |parts: &[Accumulator]| {
                    let mut whole = empty.clone();
                    for part in parts.iter().rev() {
                        whole.merge(part).unwrap();
                    }
                    whole
                };
                let large: Vec<Accumulator> = small.chunks(groups).map(merged).collect();
                let got = merged(&large);
                prop_assert_eq!(got.count(), flat.count());
                prop_assert_eq!(
                    bits(&got.distribution().unwrap().unwrap()),
                    bits(&flat.distribution().unwrap().unwrap())
                );
            }
        }

        /// The oracle is the quadratic one: aggregate the others from nothing.
        #[test]
        fn influence_is_that_of_aggregating_the_others((factors, weights, prior) in evidence(1..9)) {
            for method in Method::OF_FACTORS {
                let got = leave_one_out(method, &factors, &weights, Some(&prior)).unwrap();
                for i in 0..factors.len() {
                    let (mut f, mut w) = (factors.clone(), weights.clone());
                    f.remove(i);
                    w.remove(i);
                    let want = aggregate(method, &f, &w, Some(&prior))
                        .ok()
                        .map(|rest| l1_distance(&got.all, &rest).unwrap().to_bits());
                    prop_assert_eq!(want.is_none(), f.is_empty() && method != Method::PriorCorrected);
                    prop_assert_eq!(got.influence[i].map(f64::to_bits), want, "{} {}", method, i);
                }
            }
        }
    }

    /// More than [`FLAT_LIMIT`] items, so that the parallel path is the one that runs.
    #[test]
    fn many_items_give_the_bits_of_one_flat_pass_on_any_number_of_threads() {
        let factors: Vec<Distribution> = (0..2503u32)
            .map(|i| {
                let x = f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
                d(&[0.1 + x, 1.0, 0.5 + x * x])
            })
            .collect();
        let weights: Vec<f64> = (0..factors.len()).map(|i| 0.1 + (i % 7) as f64).collect();
        let prior = d(&[0.2, 0.5, 0.3]);
        for method in Method::OF_FACTORS {
            let empty = Accumulator::new(method, 3, Some(&prior)).unwrap();
            let flat = sequential(empty, &factors, &weights).unwrap();
            let want = flat.distribution().unwrap().unwrap();
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                let got = pool
                    .install(|| leave_one_out(method, &factors, &weights, Some(&prior)))
                    .unwrap();
                assert_eq!(bits(&got.all), bits(&want), "{method} {threads}");
                for i in [0, 99, 100, 1234, 2502] {
                    let rest = flat.without(&factors[i], weights[i]).unwrap().unwrap();
                    assert_eq!(got.influence[i], l1_distance(&want, &rest));
                }
            }
        }
    }

    #[test]
    fn the_first_bad_item_is_named_by_its_position() {
        let mut factors = vec![d(&[0.5, 0.5]); 1000];
        let mut weights = vec![1.0; 1000];
        weights[900] = f64::NAN;
        weights[417] = -2.0;
        for method in [Method::Spn, Method::Max] {
            assert_eq!(
                aggregate(method, &factors, &weights, None),
                Err(AggregateError::Pool(PoolError::Weight {
                    index: 417,
                    value: -2.0
                }))
            );
        }
        factors[3] = d(&[1.0]);
        assert!(matches!(
            aggregate(Method::Vote, &factors, &weights, None),
            Err(AggregateError::Pool(PoolError::ClassCount { index: 3, .. }))
        ));
    }

    #[test]
    fn contradictions_name_the_items_and_nothing_else_contradicts() {
        let mut factors = vec![d(&[0.5, 0.5]); 300];
        let weights = vec![1.0; 300];
        factors[7] = d(&[1.0, 0.0]);
        factors[222] = d(&[0.0, 1.0]);
        let expected = Contradiction {
            factors: vec![7, 222],
            with_prior: false,
        };
        let prior = d(&[0.3, 0.7]);
        for method in Method::OF_FACTORS {
            let got = leave_one_out(method, &factors, &weights, Some(&prior));
            if matches!(method, Method::Spn | Method::PriorCorrected) {
                let pool = PoolError::Contradiction(expected.clone());
                assert_eq!(got, Err(AggregateError::Pool(pool)));
            } else {
                assert!(got.is_ok());
            }
        }
    }

    #[test]
    fn one_item_has_no_influence_to_speak_of_unless_there_is_a_prior() {
        let factors = [d(&[0.25, 0.75])];
        let prior = d(&[0.5, 0.5]);
        for method in Method::OF_FACTORS {
            let got = leave_one_out(method, &factors, &[1.0], Some(&prior)).unwrap();
            assert_eq!(got.influence[0].is_some(), method == Method::PriorCorrected);
            if let Some(influence) = got.influence[0] {
                // Without the item the product is the prior: |1/4−1/2| + |3/4−1/2| = 1/2, with
                // the relative error of both products.
                let mut pool = LogPool::with_prior(&prior);
                pool.add(&factors[0], 1.0).unwrap();
                assert!((influence - 0.5).abs() <= 2.0 * pool.relative_error());
                assert!(pool.relative_error() < 1e-14);
            }
        }
    }

    #[test]
    fn nothing_to_aggregate_is_an_error_except_with_a_prior() {
        let prior = d(&[0.25, 0.75]);
        for method in Method::OF_FACTORS {
            let got = aggregate(method, &[], &[], Some(&prior));
            if method == Method::PriorCorrected {
                // Log-scores ln 1/4, ln 3/4 and back: exact up to the rounding of ln and exp.
                let off = l1_distance(&got.unwrap(), &prior).unwrap();
                assert!(off <= 8.0 * f64::EPSILON);
            } else {
                assert_eq!(got, Err(AggregateError::Pool(PoolError::NoFactors)));
            }
        }
    }
}
