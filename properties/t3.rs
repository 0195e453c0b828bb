//! T3′, in place of theorem 3: the test-set bound and PAC-Bayes-kl, by simulation.

use lpf::bounds::{clopper_pearson, gaussian_divergence, pac_bayes_kl};
use rayon::prelude::*;

use crate::harness::{Check, Draws, LEVEL, Outcome, Property};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "t3.test_set_bound",
        claims: &["T3'"],
        statement: "two-sided Clopper–Pearson limits miss the true rate in at most δ of the trials",
        run: test_set_bound,
    },
    Property {
        name: "t3.pac_bayes_kl",
        claims: &["T3'", "T3"],
        statement: "a posterior chosen after seeing the data violates PAC-Bayes-kl in at most δ of the trials",
        run: pac_bayes,
    },
    Property {
        name: "t3.gaussian_posterior",
        claims: &["T3'", "T3"],
        statement: "a Gaussian around weights fitted to the data violates PAC-Bayes-kl in at most δ of the trials",
        run: gaussian_posterior,
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
    let control = Check::rate(BAYES_TRIALS, violations(&draws, 3.0, 0.0), DELTA, LEVEL);
    Outcome::new(check, "divergence left out", control)
}

/// Deviation of the prior over weights, fixed before any data is seen.
const PRIOR: f64 = 1.0;
const DIMENSION: usize = 24;

/// `P(Z ≤ x)` of a standard normal.
fn normal_below(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// A linear threshold `sign(w·x)` in 24 dimensions, labels that are fair coins: every `w`, and so
/// every posterior, has true loss 1/2. The posterior `N(ŵ, deviation²·I)` is centred on the sum of
/// the examples, each times its label, made `length` long; its loss on an example is
/// `P(y·w·x < 0) = Φ(−y·ŵ·x / (deviation·‖x‖))`. Counts bounds below 1/2.
fn coin_violations(draws: &Draws, length: f64, deviation: f64, share: f64) -> u64 {
    (0..BAYES_TRIALS)
        .into_par_iter()
        .filter(|&trial| {
            let mut s = draws.stream("linear thresholds", trial);
            let mut points = vec![[0.0; DIMENSION]; SAMPLE as usize];
            let mut fitted = [0.0; DIMENSION];
            for x in &mut points {
                s.fill_standard_normal(x);
                // `y·x` is distributed as `x`: the label is laid into the point.
                fitted.iter_mut().zip(&*x).for_each(|(w, x)| *w += x);
            }
            let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
            let scale = length / norm(&fitted);
            fitted.iter_mut().for_each(|w| *w *= scale);
            let loss = points.iter().map(|x| {
                let margin: f64 = fitted.iter().zip(x).map(|(w, x)| w * x).sum();
                normal_below(-margin / (deviation * norm(x)))
            });
            let loss = loss.sum::<f64>() / SAMPLE as f64;
            let spread = [deviation; DIMENSION];
            let divergence = gaussian_divergence(&fitted, &spread, &[0.0; DIMENSION], PRIOR);
            pac_bayes_kl(loss, SAMPLE, share * divergence.unwrap(), DELTA).unwrap() < 0.5
        })
        .count() as u64
}

/// `E[min(|U|, ½)]` for `U ~ N(m, s²)`: the integral of `P(|U| > t)` from 0 to ½, with
/// `∫ Φ = xΦ(x) + φ(x)`.
fn mean_capped_distance(m: f64, s: f64) -> f64 {
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let integral = |x: f64| x * normal_below(x) + density(x);
    let above = |t: f64| s * integral((t - m) / s);
    let below = |t: f64| s * integral((t + m) / s);
    1.0 - (above(0.5) - above(0.0)) - (below(0.5) - below(0.0))
}

/// A threshold `x > w` on the unit interval, labels `x > ½` flipped with probability `flip`: the
/// true loss of `w` is `flip + (1 − 2·flip)·min(|w − ½|, ½)`. The posterior is centred on the best
/// of 64 thresholds; its loss on an example is a normal tail. Counts bounds below the true loss.
fn threshold_violations(draws: &Draws, flip: f64, deviation: f64) -> u64 {
    (0..BAYES_TRIALS)
        .into_par_iter()
        .filter(|&trial| {
            let mut s = draws.stream("threshold", trial);
            let sample: Vec<(f64, bool)> = (0..SAMPLE)
                .map(|_| {
                    let x = s.uniform();
                    (x, (x > 0.5) != (s.uniform() < flip))
                })
                .collect();
            let errors = |w: f64| sample.iter().filter(|(x, y)| (*x > w) != *y).count();
            let best = sample.iter().map(|(x, _)| *x).min_by_key(|&w| errors(w));
            let centre = best.unwrap();
            let loss = sample.iter().map(|&(x, y)| {
                let says_one = normal_below((x - centre) / deviation);
                if y { 1.0 - says_one } else { says_one }
            });
            let loss = loss.sum::<f64>() / SAMPLE as f64;
            let divergence = gaussian_divergence(&[centre], &[deviation], &[0.0], PRIOR).unwrap();
            let truth = flip + (1.0 - 2.0 * flip) * mean_capped_distance(centre - 0.5, deviation);
            pac_bayes_kl(loss, SAMPLE, divergence, DELTA).unwrap() < truth
        })
        .count() as u64
}

fn gaussian_posterior(draws: Draws) -> Outcome {
    let coins = [(0.5, 1.0), (2.0, 1.0), (4.0, 0.5)];
    let thresholds = [(0.0, 0.05), (0.2, 0.01), (0.2, 0.2)];
    let level = LEVEL / (coins.len() + thresholds.len()) as f64;
    let rate = |count, name: String| Check::rate(BAYES_TRIALS, count, DELTA, level).named(name);
    let linear = coins.map(|(length, deviation)| {
        rate(
            coin_violations(&draws, length, deviation, 1.0),
            format!("coins, N(ŵ, {deviation}²) with ‖ŵ‖ = {length}"),
        )
    });
    let flat = thresholds.map(|(flip, deviation)| {
        rate(
            threshold_violations(&draws, flip, deviation),
            format!("threshold, flips {flip}, deviation {deviation}"),
        )
    });
    let check = Check::all(linear.into_iter().chain(flat));
    let without = coin_violations(&draws, 4.0, 0.5, 0.0);
    let little = coin_violations(&draws, 4.0, 0.5, 0.02);
    Outcome::new(
        check,
        "divergence left out",
        Check::rate(BAYES_TRIALS, without, DELTA, LEVEL),
    )
    .and(
        "a fiftieth of the divergence",
        Check::rate(BAYES_TRIALS, little, DELTA, LEVEL),
    )
}
