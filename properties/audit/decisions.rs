//! How many rows would decide, and how likely a bad model fails: held to what is announced.

use lpf::audit::CheckVerdict;
use rayon::prelude::*;

use super::rates::at_most;
use super::worlds::{World, audit, over_confident, world};
use super::{logs, thorough};
use crate::harness::{Check, Draws, LEVEL, Outcome};

/// Of the logs of a world: how many announce a number of rows, and how many of these are not decided by a
/// log of that length.
fn announced(
    draws: Draws,
    world: &World,
    rows: u64,
    many: u64,
    (id, limit): (&str, f64),
) -> (u64, u64) {
    let outcomes: Vec<Option<bool>> = (0..many)
        .into_par_iter()
        .map(|log| {
            let mut stream = draws.stream(&format!("rows {} {id} {rows}", world.name), log);
            let report = audit(&world.log(rows, &mut stream), &[(id, limit)]);
            let CheckVerdict::Undecided { needed_n: Some(n) } = report.check(id)?.verdict else {
                return None;
            };
            // Longer logs than this take too long to simulate; they are not counted.
            if n > (if thorough() { 200_000 } else { 5_000 }) {
                return None;
            }
            let report = audit(&world.log(n, &mut stream), &[(id, limit)]);
            let verdict = &report.check(id)?.verdict;
            Some(matches!(verdict, CheckVerdict::Undecided { .. }))
        })
        .collect();
    let announced = outcomes.iter().flatten().count() as u64;
    (
        announced,
        outcomes.iter().flatten().filter(|u| **u).count() as u64,
    )
}

pub fn rows_that_decide(draws: Draws) -> Outcome {
    let mut parts = Vec::new();
    let mut notes = Vec::new();
    let over = over_confident("over-confident", 0.1);
    let slightly = over_confident("over-confident by 5 points", 0.05);
    let calibrated = over_confident("calibrated", 0.0);
    let alike = world("all alike", &[(0.8, 0.8)]);
    let sure = world("sure and wrong", &[(1.0 - 1e-9, 0.99)]);
    for (world, rows, id, limit) in [
        (&over, 60, "gap", 0.02),
        (&slightly, 300, "gap", 0.02),
        (&calibrated, 300, "gap", 0.05),
        (&over, 60, "ece", 0.05),
        (&calibrated, 300, "ece", 0.05),
        (&calibrated, 60, "accuracy", 0.6),
        (&over, 60, "brier", 0.6),
        // The truth is the limit itself, or near to it: nothing decides, or hardly anything.
        (&slightly, 60, "gap", 0.05),
        (&calibrated, 60, "accuracy", 0.75),
        (&slightly, 60, "ece", 0.05),
        (&slightly, 60, "gap", 0.04),
        // Rows that are all alike by chance: of one there is no spread at all.
        (&alike, 1, "gap", 0.02),
        (&alike, 5, "gap", 0.02),
        (&alike, 5, "accuracy", 0.7),
        (&sure, 200, "gap", 0.02),
        (&sure, 200, "log_loss_clipped", 0.2),
    ] {
        let many = logs(16, 200);
        let (told, undecided) = announced(draws, world, rows, many, (id, limit));
        let what = format!("rows for {id} ≤ {limit} did not decide");
        parts.push(at_most(world.name, rows, &what, many, undecided, 0.2));
        notes.push(format!("{id}: {} of {told}", told - undecided));
    }
    // As many rows as there were decide seldom.
    let undecided = (0..40).into_par_iter().filter(|&log| {
        let mut stream = draws.stream("rows control", log);
        let report = audit(&over.log(60, &mut stream), &[("gap", 0.02)]);
        let verdict = &report.check("gap").unwrap().verdict;
        matches!(verdict, CheckVerdict::Undecided { .. })
    });
    let control = Check::rate(40, undecided.count() as u64, 0.2, LEVEL);
    Outcome::new(Check::all(parts), "as few rows as there were", control)
        .noting(format!("decided: {}", notes.join(", ")))
}

pub fn power(draws: Draws) -> Outcome {
    let many = logs(60, 600);
    let world = over_confident("over-confident by 5 points", 0.05);
    let mut parts = Vec::new();
    let mut notes = Vec::new();
    let mut control = None;
    for rows in if thorough() {
        vec![3000, 1500]
    } else {
        vec![1500]
    } {
        let outcomes: Vec<(f64, bool)> = (0..many)
            .into_par_iter()
            .map(|log| {
                let mut stream = draws.stream(&format!("power {rows}"), log);
                let report = audit(&world.log(rows, &mut stream), &[("gap", 0.02)]);
                let check = report.check("gap").unwrap();
                (
                    check.power.unwrap().probability,
                    check.verdict == CheckVerdict::Fail,
                )
            })
            .collect();
        let announced = outcomes.iter().map(|o| o.0).sum::<f64>() / many as f64;
        let failed = outcomes.iter().filter(|o| o.1).count() as u64;
        notes.push(format!(
            "{rows} rows: announced {announced:.2}, {failed} of {many} failed"
        ));
        // Not more often than announced, and not less; the announced number is a normal approximation.
        let (high, low) = ((announced + 0.05).min(1.0), (1.05 - announced).min(1.0));
        let world = world.name;
        parts.push(at_most(
            world,
            rows,
            "fails (power + 0.05)",
            many,
            failed,
            high,
        ));
        parts.push(at_most(
            world,
            rows,
            "does not fail (1.05 − power)",
            many,
            many - failed,
            low,
        ));
        // Held against the power of a test of the gap against zero, it is not what was announced.
        control = Some(Check::rate(many, many - failed, 0.02, LEVEL));
        if rows == 1500 {
            parts.push(Check::exact(
                1,
                u64::from(!(0.05..0.95).contains(&announced)),
            ));
        }
    }
    Outcome::new(Check::all(parts), "a power of 98 %", control.unwrap()).noting(notes.join("; "))
}
