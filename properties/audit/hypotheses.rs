//! p-values: small ones are rare where the hypothesis holds, and frequent where it does not.

use lpf::audit::Log;
use rayon::prelude::*;

use super::rates::at_most;
use super::worlds::{self, World, audit, over_confident};
use super::{logs, sizes};
use crate::harness::{Check, Draws, LEVEL, Outcome};

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

pub fn p_values(draws: Draws) -> Outcome {
    let mut parts = Vec::new();
    let calibrated = &over_confident("calibrated", 0.0);
    let alike = &worlds::world("all alike", &[(0.8, 0.8)]);
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

/// At 500 rows each, accuracy falls by ten points. The usual test of two rates, which supposes normal
/// numbers, at the level that Holm's method leaves the smallest of five p-values.
pub fn drift_power(draws: Draws) -> Outcome {
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
        // The answer plays no part in the test; a row without one could not be scored.
        text += &format!(
            "{{\"entity\":\"e{entity}\",\"label\":{label},\"probs\":[0.5,0.5],\"evidence\":[{items}]}}\n"
        );
    }
    let report = audit(&text, &[]);
    report.check("dependence").unwrap().value.unwrap_or(1.0)
}

pub fn sources(draws: Draws) -> Outcome {
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
