//! Theorem 2: the Monte Carlo error of a factor, and the empirical Bernstein bound T2′ beside it.

use lpf::bounds::{empirical_bernstein_error, monte_carlo_error};
use lpf::latent::random::Stream;
use lpf::latent::{FactorWorkspace, monte_carlo_factor};
use rayon::prelude::*;

use crate::harness::{Check, Draws, LEVEL, Moments, Outcome, Property};
use crate::l1::{Known, STEEP, estimate, known};
use crate::quadrature::trapezoid;

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "t2.hoeffding",
        claims: &["T2"],
        statement: "the largest error over classes exceeds the bound in at most δ of the trials",
        run: hoeffding,
    },
    Property {
        name: "t2.empirical_bernstein",
        claims: &["T2'"],
        statement: "errors exceed the bound made from the sample's own variance in at most δ of the trials",
        run: bernstein,
    },
    Property {
        name: "t2.rate",
        claims: &["T2"],
        statement: "the mean squared error is variance/M at every M, so the RMS falls as M^(−1/2)",
        run: rate,
    },
    Property {
        name: "t2.standard_error",
        claims: &["T2"],
        statement: "the squared standard error that a factor reports is an unbiased variance of its mean",
        run: standard_error,
    },
];

const SAMPLES: [usize; 5] = [4, 8, 16, 32, 64];
const DELTAS: [f64; 3] = [0.2, 0.05, 0.01];
const TRIALS: u64 = 3000;
/// What the truths of `l1` may be off by: an excess below this is not counted.
const TRUTH: f64 = 1e-9;

fn excess(estimate: &[f64], truth: &[f64]) -> f64 {
    let off = estimate.iter().zip(truth).map(|(a, b)| (a - b).abs());
    off.fold(0.0, f64::max) - TRUTH
}

/// The largest error of each trial.
fn errors(
    draws: &Draws,
    known: &Known,
    samples: usize,
    estimator: impl Fn(&Known, usize, &mut Stream) -> Vec<f64> + Sync,
) -> Vec<f64> {
    (0..TRIALS)
        .into_par_iter()
        .map(|trial| {
            let part = format!("{} {samples}", known.name);
            let e = estimator(known, samples, &mut draws.stream(&part, trial));
            excess(&e, &known.factor)
        })
        .collect()
}

fn right(known: &Known, samples: usize, stream: &mut Stream) -> Vec<f64> {
    estimate(known, &known.posterior, samples, stream)
}

fn beyond(errors: &[f64], bound: f64, delta: f64, level: f64) -> Check {
    let violations = errors.iter().filter(|&&e| e > bound).count() as u64;
    Check::rate(errors.len() as u64, violations, delta, level)
}

fn hoeffding(draws: Draws) -> Outcome {
    let all = known();
    let level = LEVEL / (all.len() * SAMPLES.len() * DELTAS.len()) as f64;
    let mut parts = Vec::new();
    for known in &all {
        for samples in SAMPLES {
            let errors = errors(&draws, known, samples, right);
            for delta in DELTAS {
                let classes = known.factor.len() as u64;
                let bound = monte_carlo_error(samples as u64, classes, delta).unwrap();
                let name = format!("{}, M = {samples}, δ = {delta}", known.name);
                parts.push(beyond(&errors, bound, delta, level).named(name));
            }
        }
    }
    let steep = &all[1];
    let bound = monte_carlo_error(16, 2, 0.05).unwrap();
    let half = beyond(&errors(&draws, steep, 16, right), bound / 3.0, 0.05, LEVEL);
    let repeated = errors(&draws, steep, 16, |k, _, s| right(k, 1, s));
    Outcome::new(Check::all(parts), "a third of the bound", half)
        .and("one sample repeated", beyond(&repeated, bound, 0.05, LEVEL))
}

/// Errors and sample variances of each trial, class by class.
fn errors_and_variances(draws: &Draws, known: &Known, samples: usize) -> Vec<Vec<(f64, f64)>> {
    (0..TRIALS)
        .into_par_iter()
        .map(|trial| {
            let part = format!("{} {samples}", known.name);
            let mut stream = draws.stream(&part, trial);
            let mut workspace = FactorWorkspace::default();
            let decoder = known.decoder.as_ref();
            let factor = monte_carlo_factor(
                &known.posterior,
                decoder,
                samples,
                &mut stream,
                &mut workspace,
            )
            .unwrap();
            let spread = factor.standard_errors.unwrap();
            let estimates = factor.distribution.into_vec();
            let off = estimates
                .iter()
                .zip(&known.factor)
                .map(|(a, b)| (a - b).abs() - TRUTH);
            let variances = spread.iter().map(|e| e * e * samples as f64);
            off.zip(variances).collect()
        })
        .collect()
}

/// Trials in which some class is further off than `share` of the bound from its own variance.
fn beyond_own(
    trials: &[Vec<(f64, f64)>],
    samples: usize,
    delta: f64,
    share: f64,
    level: f64,
) -> Check {
    let violates = |classes: &&Vec<(f64, f64)>| {
        classes.iter().any(|&(off, variance)| {
            let n = classes.len() as u64;
            // A sample variance is at most 1/2 but for rounding.
            let bound = empirical_bernstein_error(samples as u64, n, variance.min(0.5), delta);
            off > share * bound.unwrap()
        })
    };
    let violations = trials.iter().filter(violates).count() as u64;
    Check::rate(trials.len() as u64, violations, delta, level)
}

fn bernstein(draws: Draws) -> Outcome {
    let all = known();
    let samples = [16, 64];
    let level = LEVEL / (all.len() * samples.len() * DELTAS.len()) as f64;
    let mut parts = Vec::new();
    for known in &all {
        for samples in samples {
            let trials = errors_and_variances(&draws, known, samples);
            for delta in DELTAS {
                let name = format!("{}, M = {samples}, δ = {delta}", known.name);
                parts.push(beyond_own(&trials, samples, delta, 1.0, level).named(name));
            }
        }
    }
    let steep = errors_and_variances(&draws, &all[1], 64);
    let control = beyond_own(&steep, 64, 0.05, 0.2, LEVEL);
    Outcome::new(Check::all(parts), "a fifth of the bound", control)
}

const RATE_TRIALS: u64 = 20_000;
/// A factor of one half is off by at most one half.
const SQUARED_RANGE: f64 = 0.25;

/// The variance of one decoded sample of the steep case, whose mean is one half.
fn sample_variance() -> f64 {
    // The nearest pole is π/16 away, 180 steps: converged to the last digit.
    let slope = f64::from(STEEP);
    trapezoid(1 << 14, |x| {
        (1.0 / (1.0 + (-slope * x).exp()) - 0.5).powi(2)
    })
}

fn squared_errors(
    draws: &Draws,
    known: &Known,
    samples: usize,
    estimator: impl Fn(&Known, usize, &mut Stream) -> Vec<f64> + Sync,
) -> Moments {
    let squares: Vec<f64> = (0..RATE_TRIALS)
        .into_par_iter()
        .map(|trial| {
            let mut stream = draws.stream(&format!("rate {samples}"), trial);
            let e = estimator(known, samples, &mut stream);
            (e[1] - known.factor[1]).powi(2)
        })
        .collect();
    squares.into_iter().collect()
}

fn rate(draws: Draws) -> Outcome {
    let all = known();
    let steep = &all[1];
    let variance = sample_variance();
    let level = LEVEL / SAMPLES.len() as f64;
    let moments: Vec<Moments> = SAMPLES
        .iter()
        .map(|&m| squared_errors(&draws, steep, m, right))
        .collect();
    let check = Check::all(SAMPLES.iter().zip(&moments).map(|(&m, squares)| {
        Check::mean(squares, variance / m as f64, SQUARED_RANGE, level).named(format!("M = {m}"))
    }));
    // Only half of the samples are independent: the error is that of M/2.
    let pairs = squared_errors(&draws, steep, 16, |k, m, s| right(k, m / 2, s));
    let control = Check::mean(&pairs, variance / 16.0, SQUARED_RANGE, LEVEL);
    let (slope, half) = slope(&moments);
    Outcome::new(check, "every sample used twice", control).noting(format!(
        "log-log slope of the RMS error {slope:.4} ± {half:.4} (95 %)"
    ))
}

/// Least-squares slope of `ln RMS` against `ln M`, and half its 95 % interval: each mean square
/// has relative standard error `s/(mean·√n)`, and half of that enters `ln RMS`.
fn slope(moments: &[Moments]) -> (f64, f64) {
    let x: Vec<f64> = SAMPLES.iter().map(|&m| (m as f64).ln()).collect();
    let centre = x.iter().sum::<f64>() / x.len() as f64;
    let spread: f64 = x.iter().map(|x| (x - centre).powi(2)).sum();
    let (mut slope, mut variance) = (0.0, 0.0);
    for (x, m) in x.iter().zip(moments) {
        let weight = (x - centre) / spread;
        slope += weight * m.mean.ln() / 2.0;
        variance += weight.powi(2) * m.variance() / (4.0 * m.mean.powi(2) * m.count as f64);
    }
    (slope, 1.96 * variance.sqrt())
}

fn standard_error(draws: Draws) -> Outcome {
    let all = known();
    let steep = &all[1];
    let variance = sample_variance();
    let check = |samples: usize, scale: f64, level: f64| {
        let squares: Vec<f64> = (0..RATE_TRIALS)
            .into_par_iter()
            .map(|trial| {
                let mut stream = draws.stream(&format!("error {samples}"), trial);
                let mut workspace = FactorWorkspace::default();
                let decoder = steep.decoder.as_ref();
                let factor = monte_carlo_factor(
                    &steep.posterior,
                    decoder,
                    samples,
                    &mut stream,
                    &mut workspace,
                );
                let error = factor.unwrap().standard_errors.unwrap()[1];
                scale * error * error * samples as f64
            })
            .collect();
        // A sample variance of numbers in [0, 1] is at most 1/2.
        Check::mean(&squares.into_iter().collect(), variance, 0.5, level)
            .named(format!("M = {samples}"))
    };
    let parts = [2, 4, 16].map(|m| check(m, 1.0, LEVEL / 3.0));
    // 1/M for 1/(M − 1): seven eighths at M = 8.
    Outcome::new(
        Check::all(parts),
        "divided by M for M − 1",
        check(8, 7.0 / 8.0, LEVEL),
    )
}
