//! T2″, beside theorem 2: the betting interval.

use lpf::bounds::betting_interval;
use lpf::latent::random::Stream;
use rayon::prelude::*;

use crate::harness::{Check, Draws, LEVEL, Outcome, Property};

pub const PROPERTIES: &[Property] = &[Property {
    name: "t2_double_prime.covers",
    claims: &["T2''"],
    statement: "the betting interval misses the mean in at most δ of the trials",
    run: covers,
}];

const SAMPLES: [usize; 2] = [16, 64];
const DELTAS: [f64; 2] = [0.2, 0.05];
const TRIALS: u64 = 2000;

/// A variable in [0, 1]: its name, its mean, and how it is drawn from a uniform one.
type Variable = (&'static str, f64, fn(f64) -> f64);

const VARIABLES: [Variable; 4] = [
    ("a coin", 0.5, |u| f64::from(u8::from(u < 0.5))),
    ("a rare one", 1.0 / 64.0, |u| {
        f64::from(u8::from(u < 1.0 / 64.0))
    }),
    ("uniform", 0.5, |u| u),
    ("a square", 1.0 / 3.0, |u| u * u),
];

/// Trials in which the interval, its width times `share`, misses the mean.
fn missed(
    draws: &Draws,
    variable: Variable,
    samples: usize,
    delta: f64,
    share: f64,
    level: f64,
) -> Check {
    let (name, mean, value) = variable;
    let misses = |trial: &u64| {
        let mut stream: Stream = draws.stream(&format!("{name} {samples}"), *trial);
        let drawn: Vec<f64> = (0..samples).map(|_| value(stream.uniform())).collect();
        let (low, high) = betting_interval(&drawn, 1, delta).unwrap();
        let (middle, half) = ((low + high) / 2.0, share * (high - low) / 2.0);
        mean < middle - half || mean > middle + half
    };
    let violations = (0..TRIALS).into_par_iter().filter(misses).count() as u64;
    Check::rate(TRIALS, violations, delta, level)
}

fn covers(draws: Draws) -> Outcome {
    let level = LEVEL / (VARIABLES.len() * SAMPLES.len() * DELTAS.len()) as f64;
    let mut parts = Vec::new();
    for variable in VARIABLES {
        for samples in SAMPLES {
            for delta in DELTAS {
                let name = format!("{}, M = {samples}, δ = {delta}", variable.0);
                parts.push(missed(&draws, variable, samples, delta, 1.0, level).named(name));
            }
        }
    }
    let narrow = missed(&draws, VARIABLES[0], 64, 0.05, 0.5, LEVEL);
    Outcome::new(Check::all(parts), "half as wide", narrow)
}
