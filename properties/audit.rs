//! The audit on worlds with known truths: false verdicts are no more frequent than promised, and power
//! is what it is said to be.
//!
//! A run of all properties draws few logs, up to 200 rows each. `make simulate` draws many, up to 5,000
//! rows each, and writes all rates to `target/lpf/simulation.md`; `SIMULATE=0.1` asks for a tenth of them.

mod decisions;
mod hypotheses;
mod parts;
mod rates;
mod worlds;

use std::collections::BTreeMap;

use lpf::audit::CheckVerdict;
use rayon::prelude::*;

use crate::harness::{Check, Draws, LEVEL, Outcome, Property};
use decisions::{power, rows_that_decide};
use hypotheses::{drift_power, p_values, sources};
use rates::at_most;
pub use rates::write_table;
use worlds::{World, audit, misses, over_confident};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "audit.coverage",
        claims: &[],
        statement: "every interval misses what it estimates in at most 5 of 100 logs, whatever their length",
        run: coverage,
    },
    Property {
        name: "audit.gate",
        claims: &[],
        statement: "limits that a model keeps, if only just, fail in at most 5 of 100 logs; others pass as seldom",
        run: gate,
    },
    Property {
        name: "audit.p_values",
        claims: &[],
        statement: "p-values of calibration and of no drift are at most 0.05 in at most 5 of 100 logs",
        run: p_values,
    },
    Property {
        name: "audit.drift_power",
        claims: &[],
        statement: "drift is found about as often as by a two-sample test that supposes normal numbers",
        run: drift_power,
    },
    Property {
        name: "audit.sources",
        claims: &["A1"],
        statement: "sources that merely differ are no evidence against A1; sources that copy are",
        run: sources,
    },
    Property {
        name: "audit.slices",
        claims: &[],
        statement: "intervals of checks with a limit hold together over the log and all slices, others over all slices",
        run: parts::slices,
    },
    Property {
        name: "audit.sets",
        claims: &["E2"],
        statement: "the coverage of prediction sets is missed, or judged wrongly, in at most 5 of 100 logs",
        run: parts::sets,
    },
    Property {
        name: "audit.sampled",
        claims: &[],
        statement: "what is read off a sample of rows holds for rows that are alike too",
        run: parts::sampled,
    },
    Property {
        name: "audit.drift",
        claims: &[],
        statement: "all intervals of drift hold together, from one row against one on",
        run: parts::drift,
    },
    Property {
        name: "audit.rows_that_decide",
        claims: &[],
        statement: "of all logs, at most 20 in 100 announce a number of rows that does not decide",
        run: rows_that_decide,
    },
    Property {
        name: "audit.power",
        claims: &[],
        statement: "an over-confident model fails with the announced probability",
        run: power,
    },
];

/// Whether all worlds and lengths are to be simulated, as `make simulate` asks.
fn thorough() -> bool {
    std::env::var_os("LPF_SIMULATE").is_some()
}

/// So many logs, or the part of them that is asked for.
fn part_of(logs: u64) -> u64 {
    let asked = std::env::var("LPF_SIMULATE").unwrap_or_default();
    let part: f64 = asked
        .parse()
        .expect("LPF_SIMULATE is a part of the logs: 1 for all, 0.1 for a tenth");
    (part * logs as f64).ceil() as u64
}

/// How many rows logs have, and how many logs are drawn for each.
fn sizes(classes: usize) -> Vec<(u64, u64)> {
    let all = match (thorough(), classes > 100) {
        (false, false) => return vec![(5, 100), (200, 100)],
        (false, true) => return vec![(5, 10)],
        (true, false) => [(1, 1000), (5, 1000), (30, 1000), (200, 1000), (5000, 400)],
        (true, true) => [(1, 200), (5, 200), (30, 100), (200, 50), (5000, 10)],
    };
    all.map(|(rows, logs)| (rows, part_of(logs))).to_vec()
}

/// The worlds of this run: all, or those in which most went wrong once.
fn worlds() -> Vec<World> {
    const FEW: [&str; 7] = [
        "calibrated",
        "two confidences",
        "opposite gaps",
        "gaps on both sides of an edge",
        "sure and wrong",
        "thousand classes",
        "twenty rows an entity",
    ];
    let chosen = |world: &World| thorough() || FEW.contains(&world.name);
    worlds::worlds().into_iter().filter(chosen).collect()
}

/// So many of something: few in a run of all properties.
fn logs(few: u64, many: u64) -> u64 {
    if thorough() { part_of(many) } else { few }
}

/// Misses of the intervals of each check, over all logs of a world: (logs, misses).
fn missed(
    draws: Draws,
    world: &World,
    rows: u64,
    logs: u64,
    shrunk: f64,
) -> BTreeMap<String, (u64, u64)> {
    let parts: Vec<Vec<(String, bool)>> = (0..logs)
        .into_par_iter()
        .map(|log| {
            let mut stream = draws.stream(&format!("{} {rows}", world.name), log);
            let report = audit(&world.log(rows, &mut stream), &[]);
            let mut found = Vec::new();
            for check in report.checks() {
                let mut check = check.clone();
                if let (Some(value), Some(interval)) = (check.value, &mut check.interval) {
                    interval.low = value - shrunk * (value - interval.low);
                    interval.high = value + shrunk * (interval.high - value);
                }
                if let Some(truth) = world.truth(check.id)
                    && let Some(miss) = misses(&check, truth)
                {
                    found.push((check.id.to_string(), miss));
                }
            }
            found
        })
        .collect();
    let mut counts = BTreeMap::new();
    for (id, miss) in parts.into_iter().flatten() {
        let (all, missed) = counts.entry(id).or_insert((0, 0));
        *all += 1;
        *missed += u64::from(miss);
    }
    counts
}

fn coverage(draws: Draws) -> Outcome {
    let mut parts = Vec::new();
    for world in worlds() {
        for (rows, logs) in sizes(world.classes) {
            for (id, (seen, missed)) in missed(draws, &world, rows, logs, 1.0) {
                let what = format!("{id} misses");
                parts.push(at_most(world.name, rows, &what, seen, missed, 0.05));
            }
        }
    }
    // Intervals of a quarter of the length are too short.
    let short = missed(draws, &worlds()[0], 200, 200, 0.25);
    let control = short.into_iter().filter(|(id, _)| id == "accuracy");
    let control = control.map(|(_, (seen, missed))| Check::rate(seen, missed, 0.05, LEVEL));
    Outcome::new(
        Check::all(parts),
        "intervals of a quarter of the length",
        Check::all(control),
    )
}

/// How many logs of a world get a verdict that is wrong, with limits at the truths, or beyond them by `moved`
/// so that the model does not keep them.
fn gated(draws: Draws, world: &World, rows: u64, logs: u64, moved: f64) -> u64 {
    let checks = ["ece", "gap", "accuracy", "brier", "log_loss_clipped"];
    let limit = |id: &'static str| {
        let truth = world.truth(id)?;
        // A truth is a rounded sum.
        let limit = match id {
            "gap" => truth.abs() + 1e-12 - moved,
            "accuracy" => truth - 1e-12 + moved,
            _ => truth + 1e-12 - moved,
        };
        limit.is_finite().then_some((id, limit))
    };
    let limits: Vec<(&str, f64)> = checks.into_iter().filter_map(limit).collect();
    let wrong = |log: &u64| {
        let mut stream = draws.stream(&format!("gate {} {rows}", world.name), *log);
        let report = audit(&world.log(rows, &mut stream), &limits);
        let limited = report
            .checks()
            .iter()
            .filter(|check| check.threshold.is_some());
        let (mut failed, mut passed) = (false, false);
        for check in limited {
            failed |= check.verdict == CheckVerdict::Fail;
            passed |= check.verdict == CheckVerdict::Pass;
        }
        if moved > 0.0 { passed } else { failed }
    };
    (0..logs).into_par_iter().filter(wrong).count() as u64
}

fn gate(draws: Draws) -> Outcome {
    let mut parts = Vec::new();
    for world in worlds() {
        for (rows, logs) in sizes(world.classes) {
            let logs = logs.div_ceil(2);
            let failed = gated(draws, &world, rows, logs, 0.0);
            parts.push(at_most(
                world.name,
                rows,
                "kept limits fail",
                logs,
                failed,
                0.05,
            ));
            let passed = gated(draws, &world, rows, logs, 0.002);
            parts.push(at_most(
                world.name,
                rows,
                "missed limits pass",
                logs,
                passed,
                0.05,
            ));
        }
    }
    // Held to the limit of a calibrated model.
    let wrong = over_confident("control", 0.1);
    let limits = [("gap", 1e-12)];
    let failed = (0..40).into_par_iter().filter(|&log| {
        let mut stream = draws.stream("gate control", log);
        let report = audit(&wrong.log(1000, &mut stream), &limits);
        report.check("gap").unwrap().verdict == CheckVerdict::Fail
    });
    let control = Check::rate(40, failed.count() as u64, 0.05, LEVEL);
    Outcome::new(
        Check::all(parts),
        "a model that is over-confident by ten points",
        control,
    )
}
