//! Slices, prediction sets, drift, and what is read off a sample of rows: intervals hold here too.

use std::fmt::Write;

use lpf::audit::{CheckVerdict, Log};
use lpf::{Audit, AuditReport};
use rayon::prelude::*;

use super::rates::at_most;
use super::worlds::{World, audit, misses, over_confident, world};
use super::{logs, thorough};
use crate::harness::{Check, Draws, LEVEL, Outcome};

/// Lengths of logs of this file.
fn lengths(few: &[u64], many: &[u64]) -> Vec<u64> {
    if thorough() { many } else { few }.to_vec()
}

/// Rows of a world, each of one of the sites, the first sites being the larger ones.
fn by_site(text: &str, sites: u64, stream: &mut lpf::latent::random::Stream) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let largest = stream.below(sites);
        let site = stream.below(1 + largest);
        let _ = writeln!(out, "{{\"site\":\"s{site}\",{}", &line[1..]);
    }
    out
}

/// Whether any interval of a check with a limit, of the log or of a slice, misses the truth, or any such
/// verdict is wrong; and whether an interval of accuracy, which has no limit, misses in any slice.
fn wrong_slices(report: &AuditReport, world: &World, shrunk: f64) -> [bool; 3] {
    let whole = report.checks().iter();
    let parts = report.slices.iter().flat_map(|slice| &slice.checks);
    let (mut limited, mut verdict, mut open) = (false, false, false);
    for (check, of_slice) in whole.map(|c| (c, false)).chain(parts.map(|c| (c, true))) {
        let Some(truth) = world.truth(check.id) else {
            continue;
        };
        let mut check = check.clone();
        if let (Some(value), Some(interval)) = (check.value, &mut check.interval) {
            interval.low = value - shrunk * (value - interval.low);
            interval.high = value + shrunk * (interval.high - value);
        }
        let missed = misses(&check, truth) == Some(true);
        match check.threshold {
            // Limits are at the truths, and so are kept.
            Some(_) => {
                limited |= missed;
                verdict |= check.verdict == CheckVerdict::Fail;
            }
            None => open |= missed && of_slice && check.id == "accuracy",
        }
    }
    [limited, verdict, open]
}

pub fn slices(draws: Draws) -> Outcome {
    const SITES: u64 = 12;
    let many = logs(40, 600);
    let clustered = World {
        rows: 6,
        all_alike: false,
        ..over_confident("slices, 1 to 6 rows an entity", 0.0)
    };
    let count = |world: &World, rows: u64, shrunk: f64| -> [u64; 3] {
        let found: Vec<[bool; 3]> = (0..many)
            .into_par_iter()
            .map(|log| {
                let mut stream = draws.stream(&format!("slices {} {rows}", world.name), log);
                let text = world.log(rows, &mut stream);
                let text = by_site(&text, SITES, &mut stream);
                let limit = |id| world.truth(id).unwrap().abs() + 1e-12;
                let report = Audit::of(Log::stream("log", text.as_bytes()))
                    .compare(false)
                    .by(["site"])
                    .limit("ece", limit("ece"))
                    .limit("gap", limit("gap"))
                    .run()
                    .unwrap();
                wrong_slices(&report, world, shrunk)
            })
            .collect();
        [0, 1, 2].map(|i| found.iter().filter(|wrong| wrong[i]).count() as u64)
    };
    let mut parts = Vec::new();
    let worlds = [
        over_confident("slices, calibrated", 0.0),
        over_confident("slices, over-confident", 0.1),
        world("slices, two confidences", &[(0.99, 1.0), (0.6, 1.0)]),
        clustered,
    ];
    for world in &worlds {
        for rows in lengths(&[400], &[60, 400, 3000]) {
            let [limited, verdict, open] = count(world, rows, 1.0);
            for (what, seen) in [
                (
                    "a slice's or the log's interval with a limit misses",
                    limited,
                ),
                ("a slice or the log fails a limit that it keeps", verdict),
                ("a slice's accuracy misses", open),
            ] {
                parts.push(at_most(world.name, rows, what, many, seen, 0.05));
            }
        }
    }
    let [_, _, short] = count(&worlds[0], 400, 0.4);
    let control = Check::rate(many, short, 0.05, LEVEL);
    Outcome::new(
        Check::all(parts),
        "intervals of two fifths of the length",
        control,
    )
}

/// A log of prediction sets over three classes that hold the true one with this probability.
fn sets_log(rows: u64, coverage: f64, stream: &mut lpf::latent::random::Stream) -> String {
    let mut out = String::new();
    for _ in 0..rows {
        let label = stream.below(3);
        let other = (label + 1 + stream.below(2)) % 3;
        let covered = stream.uniform() < coverage;
        let set = match (covered, stream.below(3)) {
            (true, 0) => format!("\"{label}\",\"{other}\""),
            (true, _) => format!("\"{label}\""),
            (false, 0) => String::new(),
            (false, _) => format!("\"{other}\""),
        };
        let _ = writeln!(
            out,
            "{{\"label\":{label},\"probs\":[0.4,0.3,0.3],\"set\":[{set}]}}"
        );
    }
    out
}

pub fn sets(draws: Draws) -> Outcome {
    const COVERAGE: f64 = 0.9;
    let run = |rows: u64, log: u64, limit: f64| {
        let mut stream = draws.stream(&format!("sets {rows} {limit}"), log);
        let text = sets_log(rows, COVERAGE, &mut stream);
        let report = audit(&text, &[("coverage", limit)]);
        report.check("coverage").unwrap().clone()
    };
    let mut parts = Vec::new();
    for rows in lengths(&[5, 200], &[1, 5, 30, 200, 5000]) {
        let many = if rows > 1000 {
            logs(0, 200)
        } else {
            logs(100, 1000)
        };
        let count = |limit: f64, wrong: CheckVerdict| {
            let found = (0..many).into_par_iter().map(|log| {
                let check = run(rows, log, limit);
                [misses(&check, COVERAGE).unwrap(), check.verdict == wrong]
            });
            let found: Vec<[bool; 2]> = found.collect();
            [0, 1].map(|i| found.iter().filter(|x| x[i]).count() as u64)
        };
        let [missed, failed] = count(COVERAGE, CheckVerdict::Fail);
        let [_, passed] = count(COVERAGE + 0.001, CheckVerdict::Pass);
        for (what, seen) in [
            ("coverage misses", missed),
            ("kept limits on coverage fail", failed),
            ("missed limits on coverage pass", passed),
        ] {
            parts.push(at_most("sets of 90 %", rows, what, many, seen, 0.05));
        }
    }
    let failed = (0..40).into_par_iter().filter(|&log| {
        let check = run(400, log, 0.99);
        check.verdict == CheckVerdict::Fail
    });
    let control = Check::rate(40, failed.count() as u64, 0.05, LEVEL);
    Outcome::new(Check::all(parts), "a limit of 99 %", control)
}

/// Kinds of rows with two items each: the factors' first entries, their share, and how often class 0 is
/// true.
const EVIDENCE: [([f64; 2], f64, f64); 3] = [
    ([0.9, 0.9], 0.4, 0.9),
    ([0.999_999, 0.5], 0.3, 0.95),
    ([0.6, 0.6], 0.3, 0.2),
];

/// The share of rows with an entry below 1/4, the floor of A6 for two classes: the first two kinds.
const EXCLUDING: f64 = 0.4 + 0.3;

/// Rows without names, of few kinds and many times as many as a sample has.
fn evidence_log(rows: u64, kinds: u64, stream: &mut lpf::latent::random::Stream) -> String {
    let mut out = String::new();
    for _ in 0..rows {
        let u = stream.uniform();
        let (p, _, rate) = match u {
            u if u < EVIDENCE[0].1 => EVIDENCE[0],
            u if u < EVIDENCE[0].1 + EVIDENCE[1].1 => EVIDENCE[1],
            _ => EVIDENCE[2],
        };
        let label = u64::from(stream.uniform() >= rate);
        // Kinds of logs differ in their lines, and so in the hashes of these.
        let note = format!("\"kind\":{kinds}");
        let [a, b] = p;
        let _ = writeln!(
            out,
            "{{{note},\"label\":{label},\"probs\":[0.5,0.5],\"evidence\":\
             [{{\"factor\":[{a},{}]}},{{\"factor\":[{b},{}]}}]}}",
            1.0 - a,
            1.0 - b
        );
    }
    out
}

/// The calibration error of single items, over both classes and over both items, bin by bin.
fn truth_of_items() -> f64 {
    let mut gaps = [0.0; 15];
    for (p, share, rate) in EVIDENCE {
        for p in p {
            // The named class is the first, also where both are alike.
            let bin = lpf::calibration::bin_index(p, 15).unwrap();
            gaps[bin] += share / 2.0 * (p - rate);
        }
    }
    gaps.iter().map(|gap| gap.abs()).sum()
}

pub fn sampled(draws: Draws) -> Outcome {
    let many = logs(20, 200);
    let rows = 6000;
    let run = |log: u64| {
        let mut stream = draws.stream("sampled", log);
        audit(&evidence_log(rows, log, &mut stream), &[])
    };
    let found: Vec<[bool; 3]> = (0..many)
        .into_par_iter()
        .map(|log| {
            let report = run(log);
            let missed = |id: &str, truth: f64, shrunk: f64| {
                let mut check = report.check(id).unwrap().clone();
                let value = check.value.unwrap();
                if let Some(interval) = &mut check.interval {
                    interval.low = value - shrunk * (value - interval.low);
                    interval.high = value + shrunk * (interval.high - value);
                }
                misses(&check, truth).unwrap()
            };
            [
                missed("support", EXCLUDING, 1.0),
                missed("item_calibration", truth_of_items(), 1.0),
                missed("support", EXCLUDING, 0.1),
            ]
        })
        .collect();
    let count = |i: usize| found.iter().filter(|x| x[i]).count() as u64;
    let world = "rows of six kinds, without names";
    let parts = [("support misses", 0), ("item_calibration misses", 1)]
        .map(|(what, i)| at_most(world, rows, what, many, count(i), 0.05));
    let control = Check::rate(many, count(2), 0.05, LEVEL);
    Outcome::new(
        Check::all(parts),
        "intervals of a tenth of the length",
        control,
    )
}

/// The truths of drift from one world of two classes to another, whose classes are equally frequent.
fn drift_truth(id: &str, new: &World, old: &World) -> Option<f64> {
    let difference = |check: &str| Some(new.truth(check)? - old.truth(check)?);
    let share = |world: &World, up_to: f64| -> f64 {
        let below = world.kinds.iter().filter(|kind| kind.confidence <= up_to);
        below.map(|kind| kind.share).sum()
    };
    match id {
        "drift_accuracy" => difference("accuracy"),
        "drift_brier" => difference("brier"),
        "drift_confidence" => Some(difference("gap")? + difference("accuracy")?),
        "drift_labels" => Some(0.0),
        "drift_confidences" => {
            let all = new.kinds.iter().chain(&old.kinds);
            let distances =
                all.map(|k| (share(new, k.confidence) - share(old, k.confidence)).abs());
            Some(distances.fold(0.0, f64::max))
        }
        _ => None,
    }
}

pub fn drift(draws: Draws) -> Outcome {
    let calibrated = over_confident("calibrated", 0.0);
    let over = over_confident("over-confident", 0.1);
    let two = world("two confidences", &[(0.99, 1.0), (0.6, 1.0)]);
    let clustered = World {
        rows: 20,
        ..calibrated.clone()
    };
    let pairs = [
        ("no drift", &calibrated, &calibrated),
        ("accuracy falls", &over, &calibrated),
        ("other confidences", &two, &calibrated),
        ("no drift, 20 rows an entity", &clustered, &clustered),
    ];
    let mut parts = Vec::new();
    let sizes = match thorough() {
        false => vec![(1, 1), (5, 500)],
        true => vec![(1, 1), (5, 500), (30, 30), (200, 200), (5000, 5000)],
    };
    let run = |name: &str, new: &World, old: &World, (n, m): (u64, u64), log: u64| {
        let mut stream = draws.stream(&format!("{name} {n} {m}"), log);
        let (new, old) = (new.log(n, &mut stream), old.log(m, &mut stream));
        let audit = Audit::of(Log::stream("new", new.as_bytes())).compare(false);
        audit
            .baseline(Log::stream("old", old.as_bytes()))
            .run()
            .unwrap()
    };
    for (name, new, old) in pairs {
        for size in &sizes {
            let many = if size.0 > 1000 {
                logs(0, 100)
            } else {
                logs(40, 500)
            };
            // All that have a limit by default hold together.
            let wrong = (0..many).into_par_iter().filter(|&log| {
                let report = run(name, new, old, *size, log);
                let mut checks = report.checks().iter();
                checks.any(|check| {
                    drift_truth(check.id, new, old)
                        .is_some_and(|truth| misses(check, truth) == Some(true))
                })
            });
            let wrong = wrong.count() as u64;
            let world = format!("{name}, baseline of {} rows", size.1);
            let what = "any interval of drift misses";
            parts.push(at_most(&world, size.0, what, many, wrong, 0.05));
        }
    }
    // Held against no drift.
    let missed = (0..40).into_par_iter().filter(|&log| {
        let report = run("control", &over, &calibrated, (3000, 3000), log);
        misses(report.check("drift_accuracy").unwrap(), 0.0) == Some(true)
    });
    let control = Check::rate(40, missed.count() as u64, 0.05, LEVEL);
    Outcome::new(
        Check::all(parts),
        "accuracy that fell by ten points",
        control,
    )
}
