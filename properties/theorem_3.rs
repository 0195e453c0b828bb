//! T3′, in place of theorem 3: the test-set bound and PAC-Bayes-kl, by simulation.

use lpf::bounds::{clopper_pearson, pac_bayes_kl};
use rayon::prelude::*;

use crate::harness::{Check, Draws, LEVEL, Outcome, Property};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "theorem_3.test_set_bound",
        claims: &["T3'"],
        statement: "two-sided Clopper–Pearson limits miss the true rate in at most δ of the trials",
        run: test_set_bound,
    },
    Property {
        name: "theorem_3.pac_bayes_kl",
        claims: &["T3'", "T3"],
        statement: "a posterior chosen after seeing the data violates PAC-Bayes-kl in at most δ of the trials",
        run: pac_bayes,
    },
];

const DELTA: f64 = 0.05;
const TRIALS: u64 = 20_000;

/// How often the limits for the observed count miss `rate`, over simulated test sets.
fn misses(draws: &Draws, n: u64, rate: f64, limits: impl Fn(u64) -> (f64, f64)) -> u64 {
    let table: Vec<(f64, f64)> = (0..=n).map(limits).collect();
    (0..TRIALS)
        .filter(|&trial| {
            let mut s = draws.stream(&format!("{n} {rate}"), trial);
            let errors = (0..n).filter(|_| s.uniform() < rate).count();
            let (low, high) = table[errors];
            !(low..=high).contains(&rate)
        })
        .count() as u64
}

fn test_set_bound(draws: Draws) -> Outcome {
    let cases: Vec<(u64, f64)> = [10, 100]
        .into_iter()
        .flat_map(|n| [0.01, 0.1, 0.5].map(|p| (n, p)))
        .collect();
    let level = LEVEL / cases.len() as f64;
    let check = Check::all(cases.iter().map(|&(n, p)| {
        let count = misses(&draws, n, p, |v| clopper_pearson(v, n, DELTA).unwrap());
        Check::rate(TRIALS, count, DELTA, level).named(format!("n = {n}, rate {p}"))
    }));
    // 1.96 is the 97.5 % point of the normal distribution.
    let wald = misses(&draws, 100, 0.01, |v| {
        let p = v as f64 / 100.0;
        let half = 1.96 * (p * (1.0 - p) / 100.0).sqrt();
        (p - half, p + half)
    });
    Outcome::new(
        check,
        "normal approximation",
        Check::rate(TRIALS, wald, DELTA, LEVEL),
    )
}

const HYPOTHESES: usize = 1024;
const SAMPLE: u64 = 64;
const BAYES_TRIALS: u64 = 2000;

/// Labels are fair coins, so every hypothesis has true loss 1/2, and 1024 of them that guess
/// independently make a lucky one likely. The Gibbs posterior leans on the lucky ones by `lean`.
/// Returns how often the bound, with `share` of the divergence counted, is below 1/2.
fn violations(draws: &Draws, lean: f64, share: f64) -> u64 {
    (0..BAYES_TRIALS)
        .into_par_iter()
        .filter(|&trial| {
            let mut s = draws.stream("coins", trial);
            // Errors on 64 examples: as many as a random word has ones.
            let errors: Vec<f64> = (0..HYPOTHESES)
                .map(|_| f64::from(s.next_u64().count_ones()))
                .collect();
            let weights: Vec<f64> = errors.iter().map(|e| (-lean * e).exp()).collect();
            let sum: f64 = weights.iter().sum();
            let (mut loss, mut divergence) = (0.0, 0.0);
            for (w, e) in weights.iter().zip(&errors) {
                let q = w / sum;
                loss += q * e / SAMPLE as f64;
                if q > 0.0 {
                    divergence += q * (q * HYPOTHESES as f64).ln();
                }
            }
            let divergence = share * f64::max(divergence, 0.0);
            pac_bayes_kl(loss, SAMPLE, divergence, DELTA).unwrap() < 0.5
        })
        .count() as u64
}

fn pac_bayes(draws: Draws) -> Outcome {
    let leans = [0.0, 0.1, 0.5, 3.0];
    let level = LEVEL / leans.len() as f64;
    let check = Check::all(leans.map(|lean| {
        Check::rate(BAYES_TRIALS, violations(&draws, lean, 1.0), DELTA, level)
            .named(format!("posterior ∝ exp(−{lean}·errors)"))
    }));
    let twin = Check::rate(BAYES_TRIALS, violations(&draws, 3.0, 0.0), DELTA, LEVEL);
    Outcome::new(check, "divergence left out", twin)
}
