//! LPF-SPN as the sum-product network that it is named after.
//!
//! Variable 0 is the class. Variable `i + 1` says whether item `i` turned out as it did
//! (state [`AS_SEEN`]) or otherwise. The network is the naive Bayes one:
//!
//! ```text
//!                 Σ_y  π(y) · [class = y] · Π_i ℓ_i(y)[variable i + 1]
//! ```
//!
//! where leaf `ℓᵢ(y)` gives [`AS_SEEN`] the likelihood `λᵢ(y) ∝ Φᵢ(y)^{wᵢ}` (prior-corrected:
//! `∝ (Φᵢ(y)/π(y))^{wᵢ}`). Every product has disjoint scopes and the sum has children of one scope,
//! so the network is decomposable and complete, and the marginal of the class given that every
//! item is as seen is `∝ π(y) Π λᵢ(y)`: the pool. Assumption A4 thus holds by construction.

use super::{AggregateError, Method};
use crate::math::{Ring, exp, ln};
use crate::simplex::{Distribution, PoolError, log_pool, prior_corrected};
use crate::spn::{BuildError, Builder, Compiled, Evidence, Network, QueryError, Weight, Workspace};

/// The variable of the class.
pub const CLASS: usize = 0;
/// The state of an item's variable that was observed.
pub const AS_SEEN: usize = 0;

/// The network for a prior of the classes and, per item, a likelihood in `[0, 1]` for each class.
///
/// # Errors
/// Those of [`Builder`], among them numbers outside the domain.
pub fn naive_bayes<S: Weight + Ring, R: AsRef<[S]>>(
    prior: &[S],
    likelihoods: &[R],
) -> Result<Network<S>, BuildError> {
    let mut cardinalities = vec![2; likelihoods.len() + 1];
    cardinalities[CLASS] = prior.len();
    let mut builder = Builder::new(&cardinalities)?;
    let mut classes = Vec::with_capacity(prior.len());
    for (y, weight) in prior.iter().enumerate() {
        let mut scope = vec![builder.indicator(CLASS, y)?];
        for (i, row) in likelihoods.iter().enumerate() {
            // A row that is too short excludes the class; `Builder` cannot know about rows.
            let seen = row.as_ref().get(y).cloned().unwrap_or_else(S::zero);
            let otherwise = S::one() - seen.clone();
            scope.push(builder.leaf(i + 1, &[seen, otherwise])?);
        }
        classes.push((builder.product(&scope)?, weight.clone()));
    }
    let root = builder.sum(&classes)?;
    builder.build(root)
}

/// The network of [`Method::Spn`], or with a prior that of [`Method::PriorCorrected`].
///
/// Likelihoods are scaled so that the largest of an item is one. Domain: that of
/// [`log_pool`](crate::simplex::log_pool()), and per item likelihoods that differ by a factor of at
/// most 2¹⁰²²: unlike the direct path, a network has to hold them as doubles.
///
/// # Errors
/// Those of [`log_pool`](crate::simplex::log_pool()) for shapes and weights;
/// [`AggregateError::Underflow`] names an item beyond the domain.
pub fn network(
    factors: &[Distribution],
    weights: &[f64],
    prior: Option<&Distribution>,
) -> Result<Network, AggregateError> {
    let pooled = match prior {
        Some(prior) => prior_corrected(prior, factors, weights),
        None => log_pool(factors, weights),
    };
    // Shapes and weights are judged in one place. A contradiction is for the network to find.
    if let Err(error) = pooled
        && !matches!(error, PoolError::Contradiction(_))
    {
        return Err(error.into());
    }
    let classes = factors.first().or(prior).map_or(0, Distribution::classes);
    let uniform = Distribution::uniform(classes).map_err(|_| PoolError::NoFactors)?;
    let rows = factors.iter().zip(weights).enumerate();
    let rows: Result<Vec<Vec<f64>>, _> = rows
        .map(|(index, (factor, &weight))| {
            likelihoods(factor, weight, prior).ok_or(AggregateError::Underflow { index })
        })
        .collect();
    let prior = prior.unwrap_or(&uniform).probabilities();
    naive_bayes(prior, &rows?).map_err(AggregateError::Build)
}

/// `Φ(y)^w` or `(Φ(y)/π(y))^w`, scaled to a maximum of one; `None` where a positive one is not a
/// normal number.
fn likelihoods(
    factor: &Distribution,
    weight: f64,
    prior: Option<&Distribution>,
) -> Option<Vec<f64>> {
    let phi = factor.probabilities();
    if weight == 0.0 {
        return Some(vec![1.0; phi.len()]);
    }
    let log = |(y, &p): (usize, &f64)| match prior.map(|prior| prior.probabilities()[y]) {
        // A class without prior mass is out whatever its likelihood; any finite one will do.
        Some(0.0) => f64::NEG_INFINITY,
        Some(pi) => ln(p) - ln(pi),
        None => ln(p),
    };
    let mut logs: Vec<f64> = phi.iter().enumerate().map(log).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for x in &mut logs {
        if *x == f64::NEG_INFINITY {
            *x = 0.0;
            continue;
        }
        *x = exp(weight * (*x - largest));
        if !x.is_normal() {
            return None;
        }
    }
    Some(logs)
}

/// [`aggregate`](super::aggregate()) for the two products, by inference in their [`network`].
///
/// # Errors
/// Those of [`network`], and [`PoolError::Contradiction`].
pub fn aggregate_by_network(
    method: Method,
    factors: &[Distribution],
    weights: &[f64],
    prior: Option<&Distribution>,
) -> Result<Distribution, AggregateError> {
    let prior = match method {
        Method::Spn => None,
        Method::PriorCorrected => Some(prior.ok_or(AggregateError::PriorMissing)?),
        other => return Err(AggregateError::NotAProduct(other)),
    };
    let compiled = Compiled::new(network(factors, weights, prior)?);
    let mut evidence = Evidence::none(compiled.network());
    for item in 0..factors.len() {
        evidence
            .observe(item + 1, AS_SEEN)
            .map_err(|error| AggregateError::Query(error.into()))?;
    }
    match compiled.marginals(&evidence, &mut Workspace::new()) {
        Ok(marginals) => Distribution::new(marginals.probabilities(CLASS).to_vec())
            .map_err(|_| AggregateError::Pool(PoolError::Overflow)),
        // The pools know how to name the items.
        Err(QueryError::Impossible { .. }) => super::aggregate(method, factors, weights, prior),
        Err(error) => Err(AggregateError::Query(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::aggregate;
    use crate::math::rational;
    use crate::simplex::{LogPool, normalize, power_product};
    use num_rational::BigRational;
    use num_traits::One;
    use proptest::prelude::*;

    fn d(p: &[f64]) -> Distribution {
        Distribution::from_weights(p.to_vec()).unwrap()
    }

    fn factors() -> impl Strategy<Value = (Vec<Distribution>, Vec<u32>, Distribution)> {
        (1usize..5, 1usize..7).prop_flat_map(|(n, k)| {
            // Class 0 stays possible; others are excluded now and then.
            let entry = prop_oneof![1 => Just(0.0), 9 => 1e-9f64..1.0];
            let factor =
                (1e-9f64..1.0, prop::collection::vec(entry, n - 1)).prop_map(|(a, mut p)| {
                    p.insert(0, a);
                    d(&p)
                });
            (
                prop::collection::vec(factor, k),
                prop::collection::vec(0u32..5, k),
                prop::collection::vec(0.01f64..1.0, n).prop_map(|p| d(&p)),
            )
        })
    }

    /// How far the class marginal of the network may be from the exact product, relatively.
    ///
    /// Per item and class: two logarithms (`2u` each of their size), with a prior two more, a
    /// difference and a product (`u` each of at most the sum of sizes): below
    /// `5u·w·(abs ln Φ + abs ln π + m)`, `m` the size of the item's largest; the exponential `2u`. The
    /// quotient doubles that; the network's own error and the rounding at the end come on top, and
    /// a factor of two covers second-order terms.
    fn network_error(factors: &[Distribution], weights: &[f64], prior: &Distribution) -> f64 {
        const U: f64 = f64::EPSILON / 2.0;
        let size = |p: f64| if p > 0.0 { p.ln().abs() } else { 0.0 };
        let mut exponent: f64 = 0.0;
        for (factor, w) in factors.iter().zip(weights) {
            let all = factor.probabilities().iter().chain(prior.probabilities());
            let largest = all.map(|&p| size(p)).fold(0.0, f64::max);
            // Each of |ln Φ|, |ln π| and the two in m is at most the largest.
            exponent += 5.0 * U * w * 4.0 * largest + 2.0 * U;
        }
        let nodes = Compiled::new(network(factors, weights, Some(prior)).unwrap()).marginal_error();
        2.0 * (2.0 * exponent + nodes + 2.0 * U)
    }

    proptest! {
        /// The fast path and the network, each within its own derived error of the exact product.
        #[test]
        fn direct_path_and_network_agree((factors, exponents, prior) in factors(), scale in 0.1f64..1.0) {
            let weights: Vec<f64> = exponents.iter().map(|&e| f64::from(e) * scale).collect();
            for method in [Method::Spn, Method::PriorCorrected] {
                let fast = aggregate(method, &factors, &weights, Some(&prior)).unwrap();
                let slow = aggregate_by_network(method, &factors, &weights, Some(&prior)).unwrap();
                let mut pool = LogPool::with_prior(&prior);
                pool.add_all(&factors, &weights).unwrap();
                let bound = pool.relative_error() + network_error(&factors, &weights, &prior);
                prop_assert!(bound < 1e-11, "{bound:e}");
                for (a, b) in fast.probabilities().iter().zip(slow.probabilities()) {
                    prop_assert!((a - b).abs() <= bound * b + f64::from_bits(1), "{a} {b} {bound:e}");
                    prop_assert_eq!(*a == 0.0, *b == 0.0);
                }
            }
        }

        /// Over the rationals, with whole weights, the network *is* the product: no tolerance.
        #[test]
        fn exact_network_is_the_exact_product((factors, exponents, _) in factors()) {
            let rows: Vec<Vec<BigRational>> = factors
                .iter()
                .map(|f| f.probabilities().iter().map(|&p| rational(p).unwrap()).collect())
                .collect();
            let n = factors[0].classes();
            let mut want = vec![BigRational::one(); n];
            power_product(&exponents, &rows, &mut want);
            normalize(&mut want).unwrap();

            let powers = rows.iter().zip(&exponents).map(|(row, &e)| {
                row.iter().map(|p| num_traits::pow(p.clone(), e as usize)).collect()
            });
            let powers: Vec<Vec<BigRational>> = powers.collect();
            let network = naive_bayes(&vec![BigRational::one(); n], &powers).unwrap();
            let joint = |y: usize| {
                let mut evidence = Evidence::none(&network);
                evidence.observe(CLASS, y).unwrap();
                for item in 0..factors.len() {
                    evidence.observe(item + 1, AS_SEEN).unwrap();
                }
                network.evaluate(&evidence).unwrap()
            };
            let mut got: Vec<BigRational> = (0..n).map(joint).collect();
            normalize(&mut got).unwrap();
            prop_assert_eq!(got, want);
        }
    }

    #[test]
    fn what_has_no_product_has_no_network_answer() {
        let sure = [d(&[1.0, 0.0]), d(&[0.5, 0.5]), d(&[0.0, 1.0])];
        let ones = [1.0; 3];
        assert_eq!(
            aggregate_by_network(Method::Spn, &sure, &ones, None),
            aggregate(Method::Spn, &sure, &ones, None)
        );
        assert!(aggregate(Method::Spn, &sure, &ones, None).is_err());
        let none = aggregate_by_network(Method::Spn, &[], &[], None);
        assert_eq!(none, Err(AggregateError::Pool(PoolError::NoFactors)));
        let bad = aggregate_by_network(Method::Spn, &sure[1..2], &[-1.0], None);
        assert!(matches!(
            bad,
            Err(AggregateError::Pool(PoolError::Weight { index: 0, .. }))
        ));
        let steep = aggregate_by_network(Method::Spn, &[d(&[1.0, 1e-300])], &[2.0], None);
        assert_eq!(steep, Err(AggregateError::Underflow { index: 0 }));
        let vote = aggregate_by_network(Method::Vote, &sure, &ones, None);
        assert_eq!(vote, Err(AggregateError::NotAProduct(Method::Vote)));
    }
}
