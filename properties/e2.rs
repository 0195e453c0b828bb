//! E2: conformal sets hold the true class as often as asked for, also where evidence was corrupted.

use lpf::calibration::{ConformalSets, ConformalSettings, Robust, SetScore};
use lpf::latent::random::Stream;
use lpf::simplex::{Distribution, log_pool};
use rayon::prelude::*;

use crate::harness::{Check, Draws, LEVEL, Outcome, Property};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "e2.coverage",
        claims: &["E2"],
        statement: "split conformal sets miss the true class with probability at most α, for both scores, ties and few rows",
        run: coverage,
    },
    Property {
        name: "e2.robust",
        claims: &["E2"],
        statement: "robust sets miss the true class with probability at most α although m items were moved by d against it",
        run: robust,
    },
];

const TRIALS: u64 = 4000;
const ALPHA: f64 = 0.2;

/// A row: four items over three classes with weights, each leaning to the label in half of the cases, in
/// steps, so that scores tie.
fn row(s: &mut Stream) -> (Vec<Distribution>, Vec<f64>, usize) {
    let label = s.below(3) as usize;
    let mut factors = Vec::new();
    let mut weights = Vec::new();
    for _ in 0..4 {
        let towards = if s.below(2) == 0 {
            label
        } else {
            s.below(3) as usize
        };
        let strength = [1.0, 2.0, 4.0][s.below(3) as usize];
        let mut p = vec![1.0; 3];
        p[towards] += strength;
        factors.push(Distribution::from_weights(p).unwrap());
        weights.push([0.25, 0.5, 1.0][s.below(3) as usize]);
    }
    (factors, weights, label)
}

fn settings(score: SetScore, robust: Option<Robust>) -> ConformalSettings {
    ConformalSettings {
        coverage: 1.0 - ALPHA,
        score,
        by_class: false,
        robust,
    }
}

/// Sets from `n` rows of their own.
fn fitted(s: &mut Stream, n: usize, settings: ConformalSettings) -> ConformalSets {
    let rows: Vec<_> = (0..n).map(|_| row(s)).collect();
    let pooled = rows.iter().map(|(f, w, _)| log_pool(f, w).unwrap());
    let labels: Vec<usize> = rows.iter().map(|row| row.2).collect();
    ConformalSets::fit(settings, &pooled.collect::<Vec<_>>(), &labels).unwrap()
}

/// In how many trials, each with fitting rows of its own, the set of a new row misses its class.
fn misses(draws: &Draws, part: &str, missed: impl Fn(&mut Stream) -> bool + Sync) -> u64 {
    let one = |&trial: &u64| missed(&mut draws.stream(part, trial));
    (0..TRIALS).into_par_iter().filter(one).count() as u64
}

fn coverage(draws: Draws) -> Outcome {
    let level = LEVEL / 4.0;
    let cases = [SetScore::Lead, SetScore::Probability].map(|score| [9, 40].map(|n| (score, n)));
    let checks = cases.into_iter().flatten().map(|(score, n)| {
        let found = misses(&draws, &format!("{score:?} {n}"), |s| {
            let sets = fitted(s, n, settings(score, None));
            let (f, w, label) = row(s);
            !sets
                .set(&log_pool(&f, &w).unwrap(), None)
                .unwrap()
                .contains(&label)
        });
        Check::rate(TRIALS, found, ALPHA, level).named(format!("{score:?}, {n} rows"))
    });
    let check = Check::all(checks);
    // A threshold from rows that lean more to their labels than the new one does.
    let control = misses(&draws, "control", |s| {
        let sets = fitted(s, 40, settings(SetScore::Lead, None));
        let (f, w, label) = row(s);
        let other = (label + 1 + s.below(2) as usize) % 3;
        !sets
            .set(&log_pool(&f, &w).unwrap(), None)
            .unwrap()
            .contains(&other)
    });
    Outcome::new(
        check,
        "new rows with another label than their evidence was drawn for",
        Check::rate(TRIALS, control, ALPHA, level),
    )
}

/// The strongest move of an item by Hilbert distance `d` against a class: its odds against all others
/// fall by the factor `e^-d`.
fn against(factor: &Distribution, class: usize, d: f64) -> Distribution {
    let mut p = factor.probabilities().to_vec();
    p[class] *= (-d).exp();
    Distribution::from_weights(p).unwrap()
}

fn robust(draws: Draws) -> Outcome {
    let (items, distance) = (2, 0.7);
    let attack = |s: &mut Stream, settings: ConformalSettings| {
        let sets = fitted(s, 40, settings);
        let (mut f, w, label) = row(s);
        // The two items that weigh most.
        let mut order: Vec<usize> = (0..f.len()).collect();
        order.sort_by(|&a, &b| w[b].total_cmp(&w[a]));
        for &i in order.iter().take(items) {
            f[i] = against(&f[i], label, distance);
        }
        !sets
            .set(&log_pool(&f, &w).unwrap(), Some(&w))
            .unwrap()
            .contains(&label)
    };
    let withstands = settings(SetScore::Lead, Some(Robust { items, distance }));
    let found = misses(&draws, "attacked", |s| attack(s, withstands));
    let plain = misses(&draws, "plain", |s| {
        attack(s, settings(SetScore::Lead, None))
    });
    let half = settings(
        SetScore::Lead,
        Some(Robust {
            items: 1,
            distance: distance / 4.0,
        }),
    );
    let half = misses(&draws, "half", |s| attack(s, half));
    Outcome::new(
        Check::rate(TRIALS, found, ALPHA, LEVEL),
        "sets that are not robust",
        Check::rate(TRIALS, plain, ALPHA, LEVEL),
    )
    .and(
        "an eighth of the corruption allowed for",
        Check::rate(TRIALS, half, ALPHA, LEVEL),
    )
    .noting(format!(
        "{found} of {TRIALS} attacked rows are missed, {plain} by plain sets"
    ))
}
