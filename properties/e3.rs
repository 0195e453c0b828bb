//! E3: a monitor of calibrated predictions raises an alarm with at most the stated probability, ever.

use lpf::audit::{Monitor, MonitorSettings};
use lpf::latent::random::Stream;
use rayon::prelude::*;

use crate::harness::{Check, Draws, LEVEL, Outcome, Property};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "e3.false_alarms",
        claims: &["E3"],
        statement: "on predictions within the margin, looked at after every row, any alarm at all comes with probability at most α",
        run: false_alarms,
    },
    Property {
        name: "e3.power",
        claims: &[],
        statement: "predictions that are 10 points over-confident beyond the margin raise an alarm within 1000 rows in 9 of 10 logs",
        run: power,
    },
];

const ALPHA: f64 = 0.2;
const MARGIN: f64 = 0.03;
const LOGS: u64 = 500;
const ROWS: u64 = 600;

/// Whether a log raises an alarm. Confidences depend on what happened before, and hit rates are as bad as
/// the margin allows, times `beyond`: over-confident in the worst case of the theorem.
fn alarmed(s: &mut Stream, rows: u64, beyond: f64, by_parts: bool) -> bool {
    let settings = MonitorSettings {
        alpha: ALPHA,
        margin: MARGIN,
        by_class: by_parts,
        by: by_parts.then(|| "group".to_string()),
        calibration: None,
    };
    let classes = vec!["a".to_string(), "b".to_string()];
    let mut monitor = Monitor::new(settings, classes).unwrap();
    let mut lucky = 0i64;
    for _ in 0..rows {
        let base = match s.below(4) {
            0 => 0.99,
            1 => 0.6,
            _ => 0.5 + 0.5 * s.uniform(),
        };
        // Bolder after a run of luck: forecasts may be made from the past in any way.
        let confidence = if lucky > 2 { 0.5 + base / 2.0 } else { base };
        let right = s.uniform() < confidence - MARGIN * beyond;
        lucky = if right {
            lucky.max(0) + 1
        } else {
            lucky.min(0) - 1
        };
        let class = s.below(2) as usize;
        let group = s.below(3).to_string();
        let group = by_parts.then_some(group.as_str());
        if !monitor
            .add(confidence, class, right, group)
            .unwrap()
            .is_empty()
        {
            return true;
        }
    }
    false
}

fn alarms(draws: &Draws, part: &str, logs: u64, rows: u64, beyond: f64) -> u64 {
    let alarm = |&log: &u64| alarmed(&mut draws.stream(part, log), rows, beyond, log % 2 == 1);
    (0..logs).into_par_iter().filter(alarm).count() as u64
}

fn false_alarms(draws: Draws) -> Outcome {
    let kept = alarms(&draws, "within", LOGS, ROWS, 1.0);
    let broken = alarms(&draws, "beyond", LOGS, ROWS, 5.0);
    Outcome::new(
        Check::rate(LOGS, kept, ALPHA, LEVEL),
        "predictions five margins over-confident",
        Check::rate(LOGS, broken, ALPHA, LEVEL),
    )
    .noting(format!(
        "{kept} of {LOGS} logs within the margin raise an alarm, {ALPHA} of them may"
    ))
}

/// 13 points over-confident with a margin of 3.
fn power(draws: Draws) -> Outcome {
    let beyond = 0.13 / MARGIN;
    let logs = 200;
    let missed = |rows: u64| logs - alarms(&draws, "power", logs, rows, beyond);
    Outcome::new(
        Check::rate(logs, missed(1000), 0.1, LEVEL),
        "only 20 rows",
        Check::rate(logs, missed(20), 0.1, LEVEL),
    )
}
