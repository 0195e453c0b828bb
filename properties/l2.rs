//! Lemma 2: Hoeffding's inequality.

use lpf::bounds::hoeffding_tail;
use lpf::latent::random::Stream;

use crate::harness::tails::{lower_tail, tail_error, upper_tail};
use crate::harness::{Check, Draws, LEVEL, Outcome, Property, ensure};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "l2.bernoulli_exact",
        claims: &["L2"],
        statement: "exact tails of Bernoulli means stay below the bound, at every point where they jump",
        run: bernoulli_exact,
    },
    Property {
        name: "l2.simulation",
        claims: &["L2"],
        statement: "means of independent bounded variables leave ±ε no more often than the bound says",
        run: simulation,
    },
];

/// `P(|X̄ − p| ≥ ε)` against the bound, for every `ε` that a mean of `n` can have.
fn jumps(bound: impl Fn(u64, f64) -> f64) -> (Check, f64) {
    let mut largest: f64 = 0.0;
    let mut cases = Vec::new();
    for n in [1u64, 2, 3, 5, 10, 30, 100, 300] {
        for twentieths in 1..20u64 {
            let p = twentieths as f64 / 20.0;
            for k in 0..=n {
                // Compared in integers: |20k − n·twentieths| is 20n·ε.
                let off = (20 * k).abs_diff(n * twentieths);
                if off == 0 {
                    continue;
                }
                // The tail starts at k on its own side and at its mirror image on the other.
                let above = (n * twentieths + off).div_ceil(20);
                let below = (n * twentieths).checked_sub(off).map(|x| x / 20);
                let tail = upper_tail(n, p, above) + below.map_or(0.0, |k| lower_tail(n, p, k));
                let limit = bound(n, off as f64 / (20 * n) as f64);
                largest = largest.max(tail / limit);
                cases.push(ensure(tail <= limit * (1.0 + tail_error(n)), || {
                    format!("n = {n}, p = {p}, k = {k}: probability {tail}, bound {limit}")
                }));
            }
        }
    }
    (Check::cases(cases), largest)
}

fn bernoulli_exact(_: Draws) -> Outcome {
    let (check, largest) = jumps(|n, e| hoeffding_tail(n, e, 1.0).unwrap());
    // exp(−4nε²) for exp(−2nε²): the tail of n fair coins is larger.
    let (control, _) = jumps(|n, e| hoeffding_tail(2 * n, e, 1.0).unwrap());
    let (one_sided, _) = jumps(|n, e| hoeffding_tail(n, e, 1.0).unwrap() / 2.0);
    Outcome::new(check, "exponent twice too large", control)
        .and("one side's constant for both", one_sided)
        .noting(format!("largest ratio to the bound {largest:.3}"))
}

const TRIALS: u64 = 20_000;
const N: usize = 25;

/// A draw of each kind, its mean, and the interval's width.
type Kind = (&'static str, fn(&mut Stream) -> f64, f64, f64);

const KINDS: [Kind; 4] = [
    ("coin", |s| f64::from(u8::from(s.uniform() < 0.5)), 0.5, 1.0),
    ("uniform on [−3, 5]", |s| 8.0 * s.uniform() - 3.0, 1.0, 8.0),
    ("square of uniform", |s| s.uniform().powi(2), 1.0 / 3.0, 1.0),
    (
        "rare",
        |s| f64::from(u8::from(s.uniform() < 0.02)),
        0.02,
        1.0,
    ),
];

/// How often the mean of `n` draws leaves `±ε`, where the bound is `delta`.
fn leaves(draws: &Draws, kind: &Kind, delta: f64, scale: f64, dependent: bool) -> u64 {
    let (name, draw, mean, width) = *kind;
    // Solved for ε, then the bound at ε is what is tested.
    let epsilon = scale * width * ((2.0 / delta).ln() / (2.0 * N as f64)).sqrt();
    (0..TRIALS)
        .filter(|&trial| {
            let mut s = draws.stream(name, trial);
            let average = if dependent {
                draw(&mut s)
            } else {
                (0..N).map(|_| draw(&mut s)).sum::<f64>() / N as f64
            };
            (average - mean).abs() > epsilon
        })
        .count() as u64
}

fn simulation(draws: Draws) -> Outcome {
    let deltas = [0.2, 0.05, 0.01];
    let level = LEVEL / (KINDS.len() * deltas.len()) as f64;
    let parts = KINDS
        .iter()
        .flat_map(|kind| deltas.map(|delta| (kind, delta)));
    let check = Check::all(parts.map(|(kind, delta)| {
        Check::rate(
            TRIALS,
            leaves(&draws, kind, delta, 1.0, false),
            delta,
            level,
        )
        .named(format!("{}, bound {delta}", kind.0))
    }));
    let coin = &KINDS[0];
    let half = Check::rate(TRIALS, leaves(&draws, coin, 0.05, 0.5, false), 0.05, LEVEL);
    let same = Check::rate(TRIALS, leaves(&draws, coin, 0.05, 1.0, true), 0.05, LEVEL);
    Outcome::new(check, "ε half as large", half).and("one draw repeated", same)
}
