//! Lemma 4: weighted averages concentrate at the rate of their effective count.

use lpf::bounds::weighted_radius;

use crate::harness::{Check, Draws, LEVEL, Outcome, Property};

pub const PROPERTIES: &[Property] = &[Property {
    name: "l4.weighted",
    claims: &["L4"],
    statement: "weighted means leave ±ε no more often than 2·exp(−n_eff·ε²/2)",
    run: weighted,
}];

const TRIALS: u64 = 20_000;

/// Weights of several shapes, each adding up to one up to rounding.
fn shapes(draws: &Draws) -> Vec<(&'static str, Vec<f64>)> {
    let mut s = draws.stream("weights", 0);
    let shapes = [
        ("equal", vec![1.0; 30]),
        (
            "one large",
            (0..30).map(|i| if i == 0 { 1.0 } else { 0.02 }).collect(),
        ),
        ("geometric", (0..12).map(|i| 0.6f64.powi(i)).collect()),
        ("random", (0..40).map(|_| s.uniform().powi(3)).collect()),
    ];
    shapes
        .into_iter()
        .map(|(name, w): (_, Vec<f64>)| {
            let sum: f64 = w.iter().sum();
            (name, w.iter().map(|w| w / sum).collect())
        })
        .collect()
}

/// How often `|Σ wᵢXᵢ| > ε` for fair signs, which have the largest variance in `[−1, 1]`.
fn leaves(draws: &Draws, name: &str, weights: &[f64], epsilon: f64) -> u64 {
    (0..TRIALS)
        .filter(|&trial| {
            let mut s = draws.stream(name, trial);
            let bits = s.next_u64();
            let sign = |i: usize| if bits >> i & 1 == 1 { 1.0 } else { -1.0 };
            let sum: f64 = weights.iter().enumerate().map(|(i, w)| w * sign(i)).sum();
            sum.abs() > epsilon
        })
        .count() as u64
}

fn weighted(draws: Draws) -> Outcome {
    let shapes = shapes(&draws);
    let deltas = [0.2, 0.05, 0.01];
    let level = LEVEL / (shapes.len() * deltas.len()) as f64;
    let parts = shapes
        .iter()
        .flat_map(|shape| deltas.map(|delta| (shape, delta)));
    let check = Check::all(parts.map(|((name, weights), delta)| {
        let radius = weighted_radius(weights, delta).unwrap();
        Check::rate(TRIALS, leaves(&draws, name, weights, radius), delta, level)
            .named(format!("{name} weights, bound {delta}"))
    }));
    let control = |shape: usize, epsilon: f64| {
        let (name, weights) = &shapes[shape];
        Check::rate(TRIALS, leaves(&draws, name, weights, epsilon), 0.05, LEVEL)
    };
    // Thirty equal weights have the radius of n_eff = 30.
    let equal = weighted_radius(&shapes[0].1, 0.05).unwrap();
    Outcome::new(check, "n for n_eff", control(1, equal))
        .and("ε half as large", control(0, equal / 2.0))
}
