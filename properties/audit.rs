//! The audit on worlds with known truths: false verdicts are no more frequent than promised, and power
//! is what it is said to be.
//!
//! A run of all properties draws few logs, up to 200 rows each. `make simulate` draws many, up to 5,000
//! rows each, and writes all rates to `target/lpf/simulation.md`.

mod worlds;

use std::collections::BTreeMap;
use std::sync::Mutex;

use rayon::prelude::*;

use crate::harness::tails::upper_tail;
use crate::harness::{Check, Draws, LEVEL, Outcome, Property};
use lpf::audit::{CheckVerdict, Log};
use lpf::exhibit::{Cell, Table};
use worlds::{World, audit, misses, over_confident, worlds};

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

/// Whether all is to be simulated, as `make simulate` asks.
fn thorough() -> bool {
    std::env::var_os("LPF_SIMULATE").is_some()
}

/// How many rows logs have, and how many logs are drawn for each.
fn sizes(classes: usize) -> Vec<(u64, u64)> {
    match (thorough(), classes > 100) {
        (false, false) => vec![(1, 60), (5, 60), (30, 60), (200, 60)],
        (false, true) => vec![(1, 10), (5, 10)],
        (true, false) => vec![(1, 1000), (5, 1000), (30, 1000), (200, 1000), (5000, 400)],
        (true, true) => vec![(1, 200), (5, 200), (30, 100), (200, 50), (5000, 10)],
    }
}

/// So many of something: few in a run of all properties.
fn logs(few: u64, many: u64) -> u64 {
    if thorough() { many } else { few }
}

/// One rate of the table.
struct Rate {
    world: String,
    rows: u64,
    what: String,
    logs: u64,
    hits: u64,
    allowed: f64,
}

static RATES: Mutex<Vec<Rate>> = Mutex::new(Vec::new());

/// Notes a rate that is to be at most `allowed`, and decides on it.
fn at_most(world: &str, rows: u64, what: &str, logs: u64, hits: u64, allowed: f64) -> Check {
    RATES.lock().unwrap().push(Rate {
        world: world.to_string(),
        rows,
        what: what.to_string(),
        logs,
        hits,
        allowed,
    });
    Check::rate(logs, hits, allowed, LEVEL).named(format!("{what}, {world}, {rows} rows"))
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
            let logs = logs / 2;
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
    // The verdicts of a model that is calibrated, held against the truths of one that is not.
    let worlds = worlds();
    let wrong = World {
        name: "control",
        kinds: worlds[1].kinds.clone(),
        ..worlds[0].clone()
    };
    let limits = [("gap", worlds[0].truth("gap").unwrap().abs() + 1e-12)];
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

/// Whether any of the tests of drift finds something at level 0.05, by the p-values that are printed.
fn finds_drift(report: &lpf::AuditReport) -> bool {
    let drift = report
        .checks()
        .iter()
        .filter(|check| check.id.starts_with("drift"));
    drift
        .filter_map(|check| p_of(&check.sentence))
        .any(|p| p <= 0.05)
}

fn p_of(sentence: &str) -> Option<f64> {
    let (_, after) = sentence.split_once("p-value ")?;
    after.split(' ').next()?.parse().ok()
}

/// An audit of a log of one world against a baseline of another.
fn compared(
    draws: Draws,
    part: &str,
    log: u64,
    new: (&World, u64),
    old: (&World, u64),
) -> lpf::AuditReport {
    let mut stream = draws.stream(part, log);
    let (new, old) = (new.0.log(new.1, &mut stream), old.0.log(old.1, &mut stream));
    let audit = lpf::Audit::of(Log::stream("new", new.as_bytes())).compare(false);
    audit
        .baseline(Log::stream("old", old.as_bytes()))
        .run()
        .unwrap()
}

fn p_values(draws: Draws) -> Outcome {
    let mut parts = Vec::new();
    let calibrated = &worlds()[0];
    let alike = &worlds()[3];
    for (rows, many) in sizes(2) {
        for world in [calibrated, alike] {
            let small = (0..many).into_par_iter().filter(|&log| {
                let mut stream = draws.stream(&format!("calibration {} {rows}", world.name), log);
                let report = audit(&world.log(rows, &mut stream), &[]);
                report.check("calibration_p").unwrap().value.unwrap() <= 0.05
            });
            let small = small.count() as u64;
            parts.push(at_most(
                world.name,
                rows,
                "calibration p ≤ 0.05",
                many,
                small,
                0.05,
            ));
        }
    }
    for (n, m) in [(1, 1), (5, 500), (200, 200)] {
        let many = logs(60, 600);
        let drifted = (0..many).into_par_iter().filter(|&log| {
            let part = format!("drift {n} {m}");
            finds_drift(&compared(
                draws,
                &part,
                log,
                (calibrated, n),
                (calibrated, m),
            ))
        });
        let world = format!("no drift, baseline of {m} rows");
        let drifted = drifted.count() as u64;
        parts.push(at_most(&world, n, "drift found", many, drifted, 0.05));
    }
    let over = over_confident("control", 0.2);
    let control = (0..40).into_par_iter().filter(|&log| {
        finds_drift(&compared(
            draws,
            "drift control",
            log,
            (&over, 400),
            (calibrated, 400),
        ))
    });
    let control = Check::rate(40, control.count() as u64, 0.05, LEVEL);
    Outcome::new(
        Check::all(parts),
        "a model whose accuracy fell by 20 points",
        control,
    )
}

/// At 500 rows each, accuracy falls by six points. The usual test of two rates, which supposes normal
/// numbers, at the level that Holm's method leaves the smallest of five p-values.
fn drift_power(draws: Draws) -> Outcome {
    const ROWS: u64 = 500;
    let many = logs(60, 600);
    let (good, bad) = (over_confident("good", 0.0), over_confident("bad", 0.1));
    let found: Vec<(bool, bool)> = (0..many)
        .into_par_iter()
        .map(|log| {
            let report = compared(draws, "power", log, (&bad, ROWS), (&good, ROWS));
            let change = report.check("drift_accuracy").unwrap();
            let ours = p_of(&change.sentence).unwrap() <= 0.05;
            let words = &change.sentence;
            let percent = |after: &str| -> f64 {
                let (_, rest) = words.split_once(after).unwrap();
                rest.split(' ').next().unwrap().parse::<f64>().unwrap() / 100.0
            };
            let (a, b) = (percent("Accuracy is "), percent("baseline "));
            let pooled = (a + b) / 2.0;
            let error = (pooled * (1.0 - pooled) * 2.0 / ROWS as f64).sqrt();
            // The normal quantile of 1 − 0.05/5/2.
            (ours, (a - b).abs() / error >= 2.575_829)
        })
        .collect();
    let count = |f: fn(&(bool, bool)) -> bool| found.iter().filter(|x| f(x)).count() as u64;
    let (ours, usual) = (count(|x| x.0), count(|x| x.1));
    let lost = count(|x| x.1 && !x.0);
    let check = at_most(
        "accuracy −10 points",
        ROWS,
        "drift missed that the usual test finds",
        many,
        lost,
        0.05,
    );
    let control = Check::rate(many, usual, 0.05, LEVEL);
    Outcome::new(
        check,
        "logs in which the usual test finds something",
        control,
    )
    .noting(format!(
        "found in {ours} of {many} logs, by the usual test in {usual}"
    ))
}

/// Two sources, of 95 and of 60 in 100 right; the second repeats the first with probability `copied`.
fn two_sources(draws: Draws, log: u64, rows: u64, copied: f64, named: bool) -> f64 {
    let mut stream = draws.stream(&format!("sources {rows} {copied}"), log);
    let mut text = String::new();
    for entity in 0..rows {
        let label = stream.below(2);
        let first = stream.uniform() < 0.95;
        let second = match stream.uniform() < copied {
            true => first,
            false => stream.uniform() < 0.6,
        };
        let mut items: Vec<String> = [(first, 0.95, "sharp"), (second, 0.6, "blunt")]
            .into_iter()
            .map(|(right, sure, id)| {
                let p = if right == (label == 0) {
                    sure
                } else {
                    1.0 - sure
                };
                let id = if named {
                    format!("\"id\":\"{id}\",")
                } else {
                    String::new()
                };
                format!("{{{id}\"factor\":[{p},{}]}}", 1.0 - p)
            })
            .collect();
        // Where items carry the name of their source, their order does not matter.
        if named && stream.uniform() < 0.5 {
            items.reverse();
        }
        let items = items.join(",");
        text += &format!("{{\"entity\":\"e{entity}\",\"label\":{label},\"evidence\":[{items}]}}\n");
    }
    let report = audit(&text, &[]);
    report.check("dependence").unwrap().value.unwrap_or(1.0)
}

fn sources(draws: Draws) -> Outcome {
    let mut parts = Vec::new();
    let many = logs(40, 400);
    for named in [false, true] {
        for rows in [5, 30, 200] {
            let p = |&log: &u64| two_sources(draws, log, rows, 0.0, named) <= 0.05;
            let small = (0..many).into_par_iter().filter(p).count() as u64;
            let world = format!(
                "unlike sources, {}",
                if named { "by name" } else { "by place" }
            );
            parts.push(at_most(&world, rows, "A1 rejected", many, small, 0.05));
        }
    }
    let found = (0..40)
        .into_par_iter()
        .filter(|&log| two_sources(draws, log, 200, 0.8, true) <= 0.05);
    let control = Check::rate(40, found.count() as u64, 0.05, LEVEL);
    Outcome::new(Check::all(parts), "a source that copies the other", control)
}

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
            if n > logs(20_000, 200_000) {
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

fn rows_that_decide(draws: Draws) -> Outcome {
    let mut parts = Vec::new();
    let mut notes = Vec::new();
    let over = over_confident("over-confident", 0.1);
    let slightly = over_confident("over-confident by 5 points", 0.05);
    let calibrated = over_confident("calibrated", 0.0);
    for (world, rows, id, limit) in [
        (&over, 60, "gap", 0.02),
        (&slightly, 300, "gap", 0.02),
        (&calibrated, 300, "gap", 0.05),
        (&over, 60, "ece", 0.05),
        (&calibrated, 300, "ece", 0.05),
        (&calibrated, 60, "accuracy", 0.6),
        (&over, 60, "brier", 0.6),
    ] {
        let many = logs(20, 200);
        let (told, undecided) = announced(draws, world, rows, many, (id, limit));
        let what = format!("rows for {id} ≤ {limit} did not decide");
        parts.push(at_most(world.name, rows, &what, many, undecided, 0.2));
        notes.push(format!("{id}: {} of {told}", told - undecided));
    }
    // An eighth of the rows that are announced decide seldom.
    let control = {
        let many = 40;
        let undecided = (0..many).into_par_iter().filter(|&log| {
            let mut stream = draws.stream("rows control", log);
            let limits = [("gap", 0.02)];
            let report = audit(&over.log(60, &mut stream), &limits);
            match report.check("gap").unwrap().verdict {
                CheckVerdict::Undecided { needed_n: Some(n) } => {
                    let report = audit(&over.log(n / 8, &mut stream), &limits);
                    matches!(
                        report.check("gap").unwrap().verdict,
                        CheckVerdict::Undecided { .. }
                    )
                }
                _ => true,
            }
        });
        Check::rate(many, undecided.count() as u64, 0.2, LEVEL)
    };
    Outcome::new(
        Check::all(parts),
        "an eighth of the announced rows",
        control,
    )
    .noting(format!("decided: {}", notes.join(", ")))
}

fn power(draws: Draws) -> Outcome {
    let many = logs(60, 600);
    let world = over_confident("over-confident by 5 points", 0.05);
    let mut parts = Vec::new();
    let mut notes = Vec::new();
    let mut control = None;
    for rows in [1500, 3000] {
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

/// Writes the table of all rates.
pub fn write_table() -> std::io::Result<()> {
    let mut rates = RATES.lock().unwrap();
    rates.sort_by(|a, b| (&a.what, &a.world, a.rows).cmp(&(&b.what, &b.world, b.rows)));
    let mut table = Table::new("rates", "Rates of the simulation".to_string());
    for rate in rates.iter() {
        let tail = upper_tail(rate.logs, rate.allowed, rate.hits);
        table.row([
            ("what", Cell::text(rate.what.clone())),
            ("world", Cell::text(rate.world.clone())),
            ("rows", Cell::count(rate.rows as usize)),
            ("logs", Cell::count(rate.logs as usize)),
            ("seen", Cell::count(rate.hits as usize)),
            (
                "promised",
                Cell::text(format!("≤ {} %", 100.0 * rate.allowed)),
            ),
            ("tail", Cell::text(format!("{tail:.2e}"))),
        ]);
    }
    std::fs::create_dir_all("target/lpf")?;
    std::fs::write(
        "target/lpf/simulation.md",
        lpf::report::table_markdown(&table),
    )
}
