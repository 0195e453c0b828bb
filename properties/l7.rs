//! Lemma 7, and with it theorem 3, is false as stated: a class of dimension `d` that memorizes `d`
//! points has training loss 0, true loss 1/2, and a "bound" far below that.

use std::collections::HashMap;

use lpf::bounds::generalization_gap;

use crate::harness::{Check, Draws, LEVEL, Outcome, Property};

pub const PROPERTIES: &[Property] = &[Property {
    name: "l7.memorizer",
    claims: &["L7", "T3"],
    statement: "the stated bound fails for the class that memorizes, in at least 99 % of the trials",
    run: memorizer,
}];

const N: usize = 1335;
const DELTA: f64 = 0.05;
const TRIALS: u64 = 200;

/// The bound of the lemma.
fn stated_bound(train_loss: f64, dimension: usize) -> f64 {
    train_loss + generalization_gap(train_loss, N as u64, dimension as u64, DELTA).unwrap()
}

/// Whether the stated bound covers the true loss, for a class that remembers up to `capacity`
/// points and says 0 elsewhere. Labels are fair coins and inputs 64 random bits, so that whatever
/// is learned, the loss on a fresh point is 1/2.
fn bound_holds(draws: &Draws, trial: u64, capacity: usize) -> bool {
    let mut s = draws.stream("points", trial);
    let train: Vec<(u64, bool)> = (0..N).map(|_| (s.next_u64(), s.uniform() < 0.5)).collect();
    let memory: HashMap<u64, bool> = train.iter().take(capacity).copied().collect();
    let predict = |x: u64| memory.get(&x).copied().unwrap_or(false);
    let wrong = train.iter().filter(|(x, y)| predict(*x) != *y).count();
    0.5 <= stated_bound(wrong as f64 / N as f64, capacity.max(1))
}

fn memorizer(draws: Draws) -> Outcome {
    let holds = |capacity: usize| {
        (0..TRIALS)
            .filter(|&t| bound_holds(&draws, t, capacity))
            .count() as u64
    };
    // With nothing remembered the class has one member, and the bound does hold.
    Outcome::new(
        Check::rate(TRIALS, holds(N), 0.01, LEVEL),
        "a class that remembers nothing",
        Check::rate(TRIALS, holds(0), 0.01, LEVEL),
    )
    .noting(format!("bound {:.4}, true loss 0.5", stated_bound(0.0, N)))
}
