//! Theorem 1 is false as stated; what holds is T1′, the prior-corrected product.

use lpf::bounds::{calibration_bound, effective_count, posterior_l1, prior_corrected_exact};
use lpf::simplex::{Distribution, LogPool, l1_distance, log_pool, prior_corrected};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};
use proptest::prelude::*;

use crate::generate::distribution;
use crate::harness::{Check, Draws, Outcome, Property, Verdict, ensure};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "t1.double_counting",
        claims: &["T1", "T6"],
        statement: "evidence that tells nothing, K times: the product's ECE exceeds C/√K from some K on",
        run: double_counting,
    },
    Property {
        name: "t1.posterior_exact",
        claims: &["T1'", "T1"],
        statement: "in exact rationals the prior-corrected product of item posteriors is the posterior",
        run: posterior_exact,
    },
    Property {
        name: "t1.posterior_doubles",
        claims: &["T1'"],
        statement: "in doubles the prior-corrected product is the posterior within its stated error",
        run: posterior_doubles,
    },
    Property {
        name: "t1.tanh_bound",
        claims: &["T1'"],
        statement: "factors within η in log give L1 ≤ 2·tanh(Kη/2) to the posterior",
        run: tanh_bound,
    },
    Property {
        name: "t1.effective_count",
        claims: &["T1"],
        statement: "1 ≤ K_eff ≤ K for any weights; the stated K_eff ≥ ⌈K/2⌉ does not hold",
        run: effective_counts,
    },
];

/// `C` of the paper, and the count from which on its bound fails (computed, not assumed).
const C: f64 = 2.0;

fn double_counting(_: Draws) -> Outcome {
    let prior = Distribution::new(vec![0.6, 0.4]).unwrap();
    let (three, two) = (BigInt::from(3), BigInt::from(2));
    // The true posterior is the prior (3/5, 2/5): the evidence is independent of the label. The
    // predicted confidence is the same for every entity, so ECE = |confidence − 3/5| exactly.
    let ece = |confidence: &BigRational| {
        (confidence - BigRational::new(3.into(), 5.into()))
            .abs()
            .to_f64()
            .unwrap_or(f64::NAN)
    };
    let product = |k: u32| {
        let (a, b) = (three.pow(k), two.pow(k));
        BigRational::new(a.clone(), a + b)
    };
    let exceeds = |k: u32, e: f64| e > calibration_bound(0.0, C, f64::from(k)).unwrap();
    let first = (1..500)
        .find(|&k| exceeds(k, ece(&product(k))))
        .unwrap_or(500);
    let claim = |k: u32, answer: &Distribution, exact: &BigRational| {
        let got = answer.probabilities()[0];
        let want = exact.to_f64().unwrap_or(f64::NAN);
        // Two logarithms near one half, K times: 2·(10·ln(5/2)·K + 5) units of 2⁻⁵³.
        let close = (got - want).abs() <= (20.0 * f64::from(k) + 10.0) * f64::EPSILON;
        ensure(close && exceeds(k, ece(exact)), || {
            format!(
                "K = {k}: confidence {got}, exactly {want}; ECE {}",
                ece(exact)
            )
        })
    };
    let range = || (first..500).step_by(7);
    let check = Check::cases(range().map(|k| {
        let copies = vec![prior.clone(); k as usize];
        let answer = log_pool(&copies, &vec![1.0; k as usize]).unwrap();
        claim(k, &answer, &product(k))
    }));
    let corrected = Check::cases(range().map(|k| {
        let copies = vec![prior.clone(); k as usize];
        let answer = prior_corrected(&prior, &copies, &vec![1.0; k as usize]).unwrap();
        claim(k, &answer, &BigRational::new(3.into(), 5.into()))
    }));
    let limit = ece(&product(499));
    Outcome::new(
        check,
        "the prior-corrected product, which stays calibrated",
        corrected,
    )
    .noting(format!(
        "C = {C}: bound fails from K = {first}; ECE tends to {limit:.3}"
    ))
}

/// A finite model with conditionally independent evidence, in whole numbers: prior weights, and
/// for each item that was observed the likelihood of each class in 1/64.
#[derive(Clone, Debug)]
struct Model {
    prior: Vec<u32>,
    likelihoods: Vec<Vec<u32>>,
}

fn models() -> impl Strategy<Value = Model> {
    (2usize..5, 1usize..7).prop_flat_map(|(classes, items)| {
        (
            prop::collection::vec(1u32..30, classes),
            prop::collection::vec(prop::collection::vec(1u32..=64, classes), items),
        )
            .prop_map(|(prior, likelihoods)| Model { prior, likelihoods })
    })
}

type Exact = Distribution<BigRational>;

/// The entrywise product of whole numbers and rows, normalized: Bayes' rule.
fn bayes(prior: &Exact, likelihoods: &[Vec<u32>]) -> Exact {
    let weights = prior.probabilities().iter().enumerate().map(|(y, p)| {
        likelihoods
            .iter()
            .fold(p.clone(), |w, l| w * BigRational::from_integer(l[y].into()))
    });
    Distribution::from_weights(weights.collect()).unwrap()
}

impl Model {
    fn prior(&self) -> Exact {
        let whole = |&w: &u32| BigRational::from_integer(w.into());
        Distribution::from_weights(self.prior.iter().map(whole).collect()).unwrap()
    }

    /// `P(y∣e_i)` for each item alone.
    fn items(&self) -> Vec<Exact> {
        let one = |l: &Vec<u32>| bayes(&self.prior(), std::slice::from_ref(l));
        self.likelihoods.iter().map(one).collect()
    }

    /// `P(y∣e_1 … e_K)`.
    fn posterior(&self) -> Exact {
        bayes(&self.prior(), &self.likelihoods)
    }
}

fn posterior_exact(draws: Draws) -> Outcome {
    let strategy = models();
    let claim = |m: &Model, prior: &Exact| -> Verdict {
        let got = prior_corrected_exact(prior, &m.items()).map_err(|e| e.to_string())?;
        ensure(got == m.posterior(), || "not the posterior".into())
    };
    Outcome::new(
        draws.for_all("models", 500, &strategy, |m| claim(&m, &m.prior())),
        "the plain product, which counts the prior K times",
        draws.control("models", 500, &strategy, |m| {
            let flat = Distribution::uniform(m.prior.len()).map_err(|e| e.to_string())?;
            claim(&m, &flat)
        }),
    )
}

/// The nearest doubles, as a distribution.
fn rounded(p: &Exact) -> Distribution {
    let values = p.probabilities().iter();
    Distribution::from_weights(values.map(|x| x.to_f64().unwrap_or(f64::NAN)).collect()).unwrap()
}

fn posterior_doubles(draws: Draws) -> Outcome {
    let strategy = models();
    let claim = |m: &Model, with_prior: bool| -> Verdict {
        let items: Vec<Distribution> = m.items().iter().map(rounded).collect();
        let prior = rounded(&m.prior());
        let ones = vec![1.0; items.len()];
        let mut pool = if with_prior {
            LogPool::with_prior(&prior)
        } else {
            LogPool::new(prior.classes())
        };
        for item in &items {
            pool.add(item, 1.0).map_err(|e| e.to_string())?;
        }
        let got = if with_prior {
            prior_corrected(&prior, &items, &ones)
        } else {
            log_pool(&items, &ones)
        };
        let got = got.map_err(|e| e.to_string())?;
        // The inputs carry (n + 2)·2⁻⁵³ each from rounding and normalizing; K items and K − 1
        // priors multiply; normalizing the product doubles it.
        let k = items.len() as f64;
        let inputs = 2.0 * 2.0 * k * (prior.classes() as f64 + 2.0) * f64::EPSILON / 2.0;
        let tolerance = pool.relative_error() + inputs;
        for (&g, w) in got
            .probabilities()
            .iter()
            .zip(m.posterior().probabilities())
        {
            let want = w.to_f64().unwrap_or(f64::NAN);
            ensure((g - want).abs() <= tolerance * want, || {
                format!("{g} for {want}, tolerance {tolerance:e}")
            })?;
        }
        Ok(())
    };
    Outcome::new(
        draws.for_all("doubles", 500, &strategy, |m| claim(&m, true)),
        "the plain product",
        draws.control("doubles", 500, &strategy, |m| claim(&m, false)),
    )
}

/// Item posteriors and perturbed ones.
#[derive(Clone, Debug)]
struct Perturbed {
    prior: Distribution,
    items: Vec<Distribution>,
    off: Vec<Distribution>,
}

fn perturbed() -> impl Strategy<Value = Perturbed> {
    (2usize..4, 1usize..30, -3.0f64..0.5).prop_flat_map(|(classes, items, size)| {
        let size = 10f64.powf(size);
        // Signs at random, or all towards the first class, which is the worst there is.
        let shift = prop_oneof![
            prop::collection::vec(-1.0f64..1.0, classes),
            Just(
                (0..classes)
                    .map(|y| if y == 0 { 1.0 } else { -1.0 })
                    .collect()
            ),
        ];
        (
            distribution(classes),
            prop::collection::vec((distribution(classes), shift), items),
        )
            .prop_map(move |(prior, pairs)| {
                let (items, off) = pairs
                    .into_iter()
                    .map(|(p, shift): (Distribution, Vec<f64>)| {
                        let moved = p.probabilities().iter().zip(&shift);
                        let moved = moved.map(|(p, s)| p * (s * size).exp()).collect();
                        (p.clone(), Distribution::from_weights(moved).unwrap())
                    })
                    .unzip();
                Perturbed { prior, items, off }
            })
    })
}

/// The largest `|ln Φ − ln P|`, and the ratio of the L1 distance to the bound with this constant.
fn ratio(case: &Perturbed, constant: f64) -> Result<f64, String> {
    let ones = vec![1.0; case.items.len()];
    let combine =
        |f: &[Distribution]| prior_corrected(&case.prior, f, &ones).map_err(|e| e.to_string());
    let l1 = l1_distance(&combine(&case.items)?, &combine(&case.off)?).unwrap_or(f64::NAN);
    let eta = case
        .items
        .iter()
        .zip(&case.off)
        .flat_map(|(p, q)| p.probabilities().iter().zip(q.probabilities()))
        .map(|(p, q)| (p.ln() - q.ln()).abs())
        .fold(0.0, f64::max);
    // Each pool has a relative error of 2·(10·A + n + 3)·2⁻⁵³ with A ≤ (2K + 1)·ln 10⁶⁰, in L1 as well.
    let k = case.items.len() as u64;
    let slack = 2.0 * 2.0 * (10.0 * 140.0 * (2 * k + 1) as f64 + 8.0) * f64::EPSILON / 2.0;
    let bound = posterior_l1(k, constant * eta, 0.0).map_err(|e| e.to_string())?;
    Ok(l1 / (bound + slack))
}

fn tanh_bound(draws: Draws) -> Outcome {
    let strategy = perturbed();
    let largest = std::cell::Cell::new(0.0f64);
    let claim = |case: &Perturbed, constant: f64| {
        let r = ratio(case, constant)?;
        if constant == 1.0 {
            largest.set(largest.get().max(r));
        }
        ensure(r <= 1.0, || format!("L1 is {r} times the bound"))
    };
    let check = draws.for_all("perturbed", 1500, &strategy, |c| claim(&c, 1.0));
    let control = draws.control("perturbed", 1500, &strategy, |c| claim(&c, 0.25));
    Outcome::new(check, "tanh(Kη/8)", control)
        .noting(format!("largest ratio to the bound {:.3}", largest.get()))
}

fn effective_counts(draws: Draws) -> Outcome {
    let weight = prop_oneof![0.0f64..1.0, (-300.0f64..300.0).prop_map(|e| 10f64.powf(e))];
    let strategy = prop::collection::vec(weight, 1..60)
        .prop_filter("some weight", |w| w.iter().any(|&w| w > 0.0));
    let claim = |w: &[f64], least: f64| {
        let count = effective_count(w).map_err(|e| e.to_string())?;
        ensure((least..=w.len() as f64).contains(&count), || {
            format!("K_eff = {count}")
        })
    };
    Outcome::new(
        draws.for_all("weights", 1000, &strategy, |w| claim(&w, 1.0)),
        "at least half of K",
        draws.control("weights", 1000, &strategy, |w| {
            claim(&w, w.len().div_ceil(2) as f64)
        }),
    )
}
