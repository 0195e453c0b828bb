//! T6′, in place of theorem 6: with conditionally independent evidence the error of the best decision
//! falls exponentially, at the Chernoff information.

use lpf::bounds::{
    bayes_error_bound, bayes_error_exact, bayes_error_floor, chernoff_information, sufficient_items,
};
use lpf::latent::random::Stream;
use lpf::simplex::{Distribution, kl_divergence, prior_corrected};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;
use proptest::prelude::*;
use rayon::prelude::*;

use crate::harness::{Check, Draws, LEVEL, Outcome, Property, ensure};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "t6.exact_error",
        claims: &["T6'", "T6"],
        statement: "the exact Bayes error lies between the floor and the Chernoff bound, for random models",
        run: exact_error,
    },
    Property {
        name: "t6.rate",
        claims: &["T6'"],
        statement: "the exact Bayes error of a symmetric pair falls by e^(−C) an item, up to 1/K",
        run: rate,
    },
    Property {
        name: "t6.decisions",
        claims: &["T6'"],
        statement: "decisions by the prior-corrected product err no more often than the bound says",
        run: decisions,
    },
];

/// A prior and the distribution of one item given each class, in whole numbers.
#[derive(Clone, Debug)]
struct Model {
    prior: Vec<u32>,
    likelihoods: Vec<Vec<u32>>,
}

impl Model {
    fn exact(weights: &[u32]) -> Distribution<BigRational> {
        let whole = |&w: &u32| BigRational::from_integer(BigInt::from(w));
        Distribution::from_weights(weights.iter().map(whole).collect()).unwrap()
    }

    fn doubles(weights: &[u32]) -> Distribution {
        Distribution::from_weights(weights.iter().map(|&w| f64::from(w)).collect()).unwrap()
    }

    fn error(&self, items: u32) -> f64 {
        let likelihoods: Vec<_> = self.likelihoods.iter().map(|l| Self::exact(l)).collect();
        let error = bayes_error_exact(&Self::exact(&self.prior), &likelihoods, items).unwrap();
        error.to_f64().unwrap_or(f64::NAN)
    }

    fn inputs(&self) -> (Distribution, Vec<Distribution>) {
        let likelihoods = self.likelihoods.iter().map(|l| Self::doubles(l));
        (Self::doubles(&self.prior), likelihoods.collect())
    }
}

fn models() -> impl Strategy<Value = Model> {
    (2usize..4, 2usize..4).prop_flat_map(|(classes, symbols)| {
        (
            prop::collection::vec(1u32..10, classes),
            prop::collection::vec(prop::collection::vec(1u32..10, symbols), classes),
        )
            .prop_map(|(prior, likelihoods)| Model { prior, likelihoods })
    })
}

fn exact_error(draws: Draws) -> Outcome {
    let strategy = (models(), 1u32..12);
    // Inputs were rounded: a relative 2⁻⁵² an item and as much for the prior.
    let slack = |items: u32| 1.0 + 8.0 * f64::from(items + 1) * f64::EPSILON;
    let claim = |m: &Model, items: u32, counted: u64| {
        let (prior, likelihoods) = m.inputs();
        let error = m.error(items);
        let bound = bayes_error_bound(&prior, &likelihoods, counted).map_err(|e| e.to_string())?;
        ensure(error <= bound * slack(items), || {
            format!("error {error}, bound {bound}")
        })?;
        if likelihoods.len() == 2 {
            let floor = bayes_error_floor(&prior, &likelihoods, u64::from(items));
            let floor = floor.map_err(|e| e.to_string())?;
            ensure(error * slack(items) >= floor, || {
                format!("error {error}, floor {floor}")
            })?;
        }
        Ok(())
    };
    Outcome::new(
        draws.for_all("models", 300, &strategy, |(m, k)| {
            claim(&m, k, u64::from(k))
        }),
        "every item counted four times",
        draws.control("models", 300, &strategy, |(m, k)| {
            claim(&m, k, 4 * u64::from(k))
        }),
    )
}

fn rate(_: Draws) -> Outcome {
    // Mirror images, so that the best exponent is one half by symmetry.
    let model = Model {
        prior: vec![1, 1],
        likelihoods: vec![vec![6, 3, 1], vec![1, 3, 6]],
    };
    let (_, likelihoods) = model.inputs();
    let information = chernoff_information(&likelihoods[0], &likelihoods[1]).unwrap();
    let divergence = kl_divergence(&likelihoods[0], &likelihoods[1]).unwrap();
    let errors: Vec<(u32, f64)> = [8, 16, 32, 64].map(|k| (k, model.error(k))).to_vec();
    // How much the error falls an item, between a number of items and twice as many.
    let falls: Vec<(u32, f64)> = errors
        .windows(2)
        .map(|w| (w[0].0, (w[0].1 / w[1].1).ln() / f64::from(w[0].0)))
        .collect();
    let claim = |rate: f64| {
        Check::cases(falls.iter().map(|&(k, fall)| {
            // Beyond e^(−KC) the error falls like 1/√K: ln √2 for a doubling, spread over K items.
            let range = rate..=rate + 1.0 / f64::from(k);
            ensure(range.contains(&fall), || {
                format!("K = {k}: {fall} an item, expected {rate}")
            })
        }))
    };
    let last = falls.last().map_or(f64::NAN, |f| f.1);
    Outcome::new(
        claim(information),
        "divergence for Chernoff information",
        claim(divergence),
    )
    .noting(format!(
        "C = {information:.4}, measured {last:.4} between K = 32 and 64"
    ))
}

const TRIALS: u64 = 20_000;

/// How often the prior-corrected product decides wrongly with so many items.
fn wrong(draws: &Draws, model: &Model, items: u64) -> u64 {
    let (prior, likelihoods) = model.inputs();
    let draw = |s: &mut Stream, weights: &[u32]| {
        let mut left = s.below(u64::from(weights.iter().sum::<u32>()));
        let hit = weights
            .iter()
            .position(|&w| match left.checked_sub(u64::from(w)) {
                Some(rest) => {
                    left = rest;
                    false
                }
                None => true,
            });
        hit.unwrap_or(0)
    };
    // What an item that shows symbol `a` says on its own.
    let item: Vec<Distribution> = (0..likelihoods[0].classes())
        .map(|a| {
            let weights = prior.probabilities().iter().zip(&likelihoods);
            let weights = weights.map(|(p, l)| p * l.probabilities()[a]).collect();
            Distribution::from_weights(weights).unwrap()
        })
        .collect();
    (0..TRIALS)
        .into_par_iter()
        .filter(|&trial| {
            let mut s = draws.stream(&format!("{items}"), trial);
            let label = draw(&mut s, &model.prior);
            let factors: Vec<Distribution> = (0..items)
                .map(|_| item[draw(&mut s, &model.likelihoods[label])].clone())
                .collect();
            let ones = vec![1.0; factors.len()];
            prior_corrected(&prior, &factors, &ones).unwrap().argmax() != label
        })
        .count() as u64
}

fn decisions(draws: Draws) -> Outcome {
    let model = Model {
        prior: vec![5, 3, 2],
        likelihoods: vec![vec![6, 3, 1], vec![2, 6, 2], vec![1, 2, 7]],
    };
    let (prior, likelihoods) = model.inputs();
    let errors = [0.3, 0.1, 0.02];
    let check = Check::all(errors.map(|error| {
        // So many items suffice for this error, says the bound.
        let items = sufficient_items(&prior, &likelihoods, error)
            .unwrap()
            .unwrap();
        Check::rate(TRIALS, wrong(&draws, &model, items), error, LEVEL / 3.0)
            .named(format!("{items} items for error {error}"))
    }));
    let few = sufficient_items(&prior, &likelihoods, 0.02)
        .unwrap()
        .unwrap()
        / 4;
    let control = Check::rate(TRIALS, wrong(&draws, &model, few), 0.02, LEVEL);
    Outcome::new(check, "a quarter of the items", control)
}
