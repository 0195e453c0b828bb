//! T4′, in place of theorem 4: the entropy bounds log loss, and by Fano the error, not the ECE.

use lpf::bounds::fano_entropy_bound;
use lpf::calibration::Evaluation;
use lpf::simplex::{Distribution, entropy_bits, entropy_nats, kl_divergence};
use proptest::prelude::*;

use crate::generate::distribution;
use crate::harness::{Draws, Outcome, Property, Verdict, ensure};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "t4.log_loss",
        claims: &["T4'", "T4"],
        statement: "log loss is conditional entropy plus mean divergence, so never below the entropy",
        run: log_loss,
    },
    Property {
        name: "t4.fano",
        claims: &["T4'"],
        statement: "H(Y∣E) ≤ h(error) + error·ln(n − 1) for every decision rule",
        run: fano,
    },
];

/// A finite population: how many entities have evidence `e` and label `y`, and what is predicted
/// for evidence `e`.
#[derive(Clone, Debug)]
struct Population {
    counts: Vec<Vec<u32>>,
    predictions: Vec<Distribution>,
}

fn populations() -> impl Strategy<Value = Population> {
    (2usize..5, 1usize..6).prop_flat_map(|(classes, outcomes)| {
        let row = prop::collection::vec(0u32..12, classes)
            .prop_filter("someone", |row| row.iter().any(|&c| c > 0));
        (
            prop::collection::vec(row, outcomes),
            prop::collection::vec(distribution(classes), outcomes),
        )
            .prop_map(|(counts, predictions)| Population {
                counts,
                predictions,
            })
    })
}

impl Population {
    fn classes(&self) -> usize {
        self.counts[0].len()
    }

    fn size(&self) -> f64 {
        f64::from(self.counts.iter().flatten().sum::<u32>())
    }

    /// `P(e)` with `P(y∣e)`.
    fn posteriors(&self) -> Vec<(f64, Distribution)> {
        self.counts
            .iter()
            .map(|row| {
                let n: u32 = row.iter().sum();
                let p = Distribution::from_weights(row.iter().map(|&c| f64::from(c)).collect());
                (f64::from(n) / self.size(), p.unwrap())
            })
            .collect()
    }

    fn conditional_entropy(&self, entropy: fn(&Distribution) -> f64) -> f64 {
        self.posteriors().iter().map(|(w, p)| w * entropy(p)).sum()
    }
}

type Divergence = fn(&Distribution, &Distribution) -> Option<f64>;

/// The identity, with each entity scored one by one.
fn identity(population: &Population, entropy: fn(&Distribution) -> f64, kl: Divergence) -> Verdict {
    let mut scores = Evaluation::new(population.classes(), 10).map_err(|e| e.to_string())?;
    for (row, prediction) in population.counts.iter().zip(&population.predictions) {
        for (label, &count) in row.iter().enumerate() {
            for _ in 0..count {
                scores.add(prediction, label).map_err(|e| e.to_string())?;
            }
        }
    }
    let loss = scores.log_loss().map_err(|e| e.to_string())?;
    let floor = population.conditional_entropy(entropy);
    let posteriors = population.posteriors();
    let pairs = posteriors.iter().zip(&population.predictions);
    let divergence: f64 = pairs
        .map(|((w, p), q)| w * kl(p, q).unwrap_or(f64::NAN))
        .sum();
    // Every term is a product of numbers with a few ulp; entries go down to 10⁻⁶⁰, and divergence
    // and entropy may cancel, so the scale is the largest term, ln 10⁶⁰ < 140.
    let tolerance = 140.0 * 16.0 * f64::EPSILON;
    ensure((loss - (floor + divergence)).abs() <= tolerance, || {
        format!("log loss {loss}, entropy {floor} + divergence {divergence}")
    })?;
    ensure(loss >= floor - tolerance, || {
        format!("log loss {loss} below entropy {floor}")
    })
}

fn log_loss(draws: Draws) -> Outcome {
    let strategy = populations();
    let reversed: Divergence = |p, q| kl_divergence(q, p);
    Outcome::new(
        draws.for_all("populations", 500, &strategy, |p| {
            identity(&p, entropy_nats, kl_divergence)
        }),
        "divergence the wrong way round",
        draws.control("populations", 500, &strategy, |p| {
            identity(&p, entropy_nats, reversed)
        }),
    )
    .and(
        "entropy in bits",
        draws.control("populations", 500, &strategy, |p| {
            identity(&p, entropy_bits, kl_divergence)
        }),
    )
}

fn fano(draws: Draws) -> Outcome {
    let strategy = (
        populations(),
        prop::collection::vec(any::<prop::sample::Index>(), 6),
    );
    let claim = |population: &Population, rule: &dyn Fn(usize) -> usize, classes: usize| {
        let right: u32 = population
            .counts
            .iter()
            .enumerate()
            .map(|(e, row)| row[rule(e)])
            .sum();
        let error = 1.0 - f64::from(right) / population.size();
        let entropy = population.conditional_entropy(entropy_nats);
        let bound = fano_entropy_bound(error, classes as u64).map_err(|e| e.to_string())?;
        // Sums of a few terms below ln 4.
        ensure(entropy <= bound + 32.0 * f64::EPSILON, || {
            format!("entropy {entropy}, error {error}, bound {bound}")
        })
    };
    let best = |p: &Population, e: usize| {
        let row = &p.counts[e];
        (0..row.len()).max_by_key(|&y| row[y]).unwrap_or(0)
    };
    let check = draws.for_all("rules", 1000, &strategy, |(p, rule)| {
        claim(&p, &|e| best(&p, e), p.classes())?;
        claim(&p, &|e| rule[e].index(p.classes()), p.classes())
    });
    // Without the room for which of the other classes it is.
    let control = draws.control("rules", 1000, &strategy, |(p, _)| {
        claim(&p, &|e| best(&p, e), 2)
    });
    Outcome::new(check, "without ln(n − 1)", control)
}
