//! The gate on simulated models: it seldom fails a calibrated one, and fails an over-confident one
//! as often as it says.

use super::*;
use crate::audit::checks::{CheckSettings, ClassGaps, set_threshold};
use crate::audit::tally::{Tally, TallySettings, Waiting};
use crate::bounds::{binomial_cdf, binomial_upper_tail};
use crate::latent::random::Stream;

/// A right gate is rejected with at most this probability, if the seed were drawn anew.
const FALSE_ALARM: f64 = 1e-9;

mod coverage;

/// A log of predictions over two classes: the probability of the first, and the true class.
fn tally(rows: impl Iterator<Item = (f64, usize)>) -> Tally {
    let settings = TallySettings {
        classes: vec!["a".into(), "b".into()],
        named: true,
        bins: 15,
        tolerance: 1e-6,
        digits: false,
        from_evidence: false,
        method: "none".into(),
        prior: None,
        confidence: "none".to_string(),
        model: None,
        calibration: None,
        by: Vec::new(),
        segments: false,
        reading: String::new(),
    };
    let mut tally = Tally::new(settings).unwrap();
    let mut waiting = Waiting::default();
    for (c, label) in rows {
        let p = [c, 1.0 - c];
        tally.score(None, &p, 0, label, &mut waiting).unwrap();
    }
    tally.settle(&mut waiting);
    tally
}

/// `rows` predictions, over-confident by `excess`.
fn log(seed: u64, log: u64, rows: u64, excess: f64) -> Tally {
    let mut stream = Stream::new(seed, 0, log, 0);
    tally((0..rows).map(|_| {
        let c = 0.58 + 0.4 * stream.uniform();
        let right = stream.uniform() < c - excess;
        (c, usize::from(!right))
    }))
}

fn settings(limits: &[(&str, f64)]) -> CheckSettings {
    let mut settings = CheckSettings::default();
    settings.thresholds.clear();
    for (id, value) in limits {
        set_threshold(&mut settings.thresholds, id, Some(*value)).unwrap();
    }
    settings
}

/// How many of `logs` logs fail a gated check, and the mean power announced by the gap's check.
fn failures(seed: u64, logs: u64, rows: u64, excess: f64, limits: &[(&str, f64)]) -> (u64, f64) {
    let settings = settings(limits);
    let gate = Gate::new(&settings, false, 0);
    let (mut failed, mut announced) = (0, 0.0);
    for i in 0..logs {
        let tally = log(seed, i, rows, excess);
        let rows = Rows::new(&tally, &settings);
        let gap = gap(&gate, &tally.scored(), &rows);
        announced += gap.power.map_or(0.0, |p| p.probability) / logs as f64;
        let mut verdicts = vec![gap.verdict];
        if gate.threshold("ece").is_some() {
            verdicts.push(ece(&gate, &tally.scored(), &rows).verdict);
        }
        if gate.threshold("calibration_p").is_some() {
            verdicts.push(p_value(&gate, &tally.scored(), &rows).verdict);
        }
        failed += u64::from(verdicts.contains(&crate::audit::CheckVerdict::Fail));
    }
    (failed, announced)
}

/// Limits of zero are the hardest: a calibrated model keeps them, but only just.
#[test]
fn calibrated_models_fail_the_gate_at_most_one_time_in_twenty() {
    let hardest = [("ece", 0.0), ("gap", 0.0), ("calibration_p", 0.05)];
    let (failed, _) = failures(11, 100, 100, 0.0, &hardest);
    let tail = binomial_upper_tail(failed, 100, 0.05).unwrap().high();
    assert!(tail > FALSE_ALARM, "{failed} of 100");
    // Negative control: a model that is over-confident by ten points is not let through.
    let (failed, _) = failures(12, 100, 800, 0.1, &hardest[..2]);
    let tail = binomial_upper_tail(failed, 100, 0.05).unwrap().high();
    assert!(tail < FALSE_ALARM, "{failed} of 100");
}

#[test]
fn models_over_confident_by_five_points_fail_with_the_announced_power() {
    const LOGS: u64 = 300;
    let limits = [("gap", 0.02)];
    let agrees = |failed: u64, power: f64| {
        let low = binomial_cdf(failed, LOGS, power).unwrap().high();
        let high = binomial_upper_tail(failed, LOGS, power).unwrap().high();
        low.min(high) > FALSE_ALARM / 2.0
    };
    let (failed, announced) = failures(13, LOGS, 2400, 0.05, &limits);
    assert!((0.3..0.9).contains(&announced), "{announced}");
    assert!(
        agrees(failed, announced),
        "{failed} of {LOGS}, announced {announced}"
    );
    // Negative control: the power against a limit of zero is another one, and is told apart.
    let tally = log(13, 0, 2400, 0.05);
    let easier = calibration_error::power(&tally.grid, 0.0, EFFECT, 0.025).unwrap();
    assert!(!agrees(failed, easier.probability));
}

/// The rows that an undecided check asks for do decide it.
#[test]
fn the_announced_number_of_rows_decides() {
    let settings = settings(&[("gap", 0.02)]);
    let gate = Gate::new(&settings, false, 0);
    let verdict = |rows: u64| {
        let tally = log(14, 0, rows, 0.08);
        gap(&gate, &tally.scored(), &Rows::new(&tally, &settings)).verdict
    };
    let crate::audit::CheckVerdict::Undecided { needed_n: Some(n) } = verdict(300) else {
        panic!("{:?}", verdict(300));
    };
    assert!((300..100_000).contains(&n), "{n}");
    // The estimate itself varies: four times as many leave no doubt.
    assert_eq!(verdict(4 * n), crate::audit::CheckVerdict::Fail);
}

/// As above for the calibration error, whose interval ends at zero: the same rows many times.
#[test]
fn the_announced_number_of_rows_decides_where_the_interval_ends_at_zero() {
    const ROWS: u64 = 60;
    let settings = settings(&[("ece", 0.05)]);
    let gate = Gate::new(&settings, false, 0);
    let few = log(16, 0, ROWS, 0.2);
    let check = |times: u64| {
        let mut tally = few.clone();
        for _ in 1..times {
            tally.merge_counts(&few).unwrap();
        }
        ece(&gate, &tally.scored(), &Rows::new(&tally, &settings))
    };
    let once = check(1);
    let crate::audit::CheckVerdict::Undecided { needed_n: Some(n) } = once.verdict else {
        panic!("{:?}", once.verdict);
    };
    let (value, interval) = (once.value.unwrap(), once.interval.unwrap());
    assert!(value > 0.05 && interval.low < 0.05);
    let enough = n.div_ceil(ROWS);
    assert_eq!(check(enough).verdict, crate::audit::CheckVerdict::Fail);
}

/// Three rows that are right pass no test of calibration; they could not have failed it.
#[test]
fn a_p_value_of_three_rows_passes_nothing() {
    let settings = settings(&[("calibration_p", 0.05)]);
    let gate = Gate::new(&settings, false, 0);
    let check = |tally: &Tally| p_value(&gate, &tally.scored(), &Rows::new(tally, &settings));
    let few = check(&tally([(0.9, 0), (0.8, 0), (0.95, 0)].into_iter()));
    let undecided = crate::audit::CheckVerdict::Undecided { needed_n: None };
    assert_eq!(few.verdict, undecided);
    assert!(few.power.unwrap().probability < 0.2);
    // With many rows the test is likely to find five points, and a calibrated model passes.
    let many = check(&log(17, 0, 8000, 0.0));
    assert_eq!(many.verdict, crate::audit::CheckVerdict::Pass);
    assert!(many.power.unwrap().probability > 0.9);
    let over = check(&log(17, 1, 8000, 0.05));
    assert_eq!(over.verdict, crate::audit::CheckVerdict::Fail);
}

/// Every formula once more, word for word, over the predictions themselves.
#[test]
fn values_are_those_of_the_formulas() {
    let mut stream = Stream::new(15, 0, 0, 0);
    let predictions: Vec<(f64, usize)> = (0..500u32)
        .map(|i| {
            // Tenths lie exactly on bin edges.
            let c = if i % 5 == 0 {
                0.5 + f64::from(i % 6) / 10.0
            } else {
                0.5 + 0.5 * stream.uniform()
            };
            (c, usize::from(stream.uniform() > c - 0.1))
        })
        .collect();
    let tally = tally(predictions.iter().copied());
    let right = |&(c, label): &(f64, usize)| (c, label == 0);
    let rows: Vec<(f64, bool)> = predictions.iter().map(right).collect();
    let settings = settings(&[]);
    let gate = Gate::new(&settings, false, 0);
    let n = rows.len() as f64;
    // Bins are closed on the right: (i/15, (i + 1)/15].
    let bin = |c: f64| (0..15).rfind(|&i| f64::from(i) / 15.0 < c).unwrap();
    let gap_sum = |members: &[(f64, bool)]| {
        let sum = members.iter().map(|&(c, y)| c - f64::from(u8::from(y)));
        sum.sum::<f64>().abs()
    };
    let binned: f64 = (0..15)
        .map(|b| {
            let members: Vec<(f64, bool)> =
                rows.iter().copied().filter(|(c, _)| bin(*c) == b).collect();
            gap_sum(&members)
        })
        .sum();
    let all = Rows::new(&tally, &settings);
    let ece = ece(&gate, &tally.scored(), &all);
    // Each of 500 terms is rounded once: 500 · 2⁻⁵³ in all.
    assert!((ece.value.unwrap() - binned / n).abs() < 1e-13);
    let gap = gap(&gate, &tally.scored(), &all);
    let mean: f64 = rows
        .iter()
        .map(|&(c, y)| c - f64::from(u8::from(y)))
        .sum::<f64>()
        / n;
    assert!((gap.value.unwrap() - mean).abs() < 1e-13);

    // Equal mass: a bin ends with the confidence at which its share is reached.
    let mut sorted = rows.clone();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut start, mut bins, mut total) = (0, 0, 0.0);
    for end in 1..=sorted.len() {
        // Equal confidences, and those that share a cell of the grid, stay together.
        let cell = |c: f64| (c * 65536.0).ceil();
        if end < sorted.len() && cell(sorted[end].0) == cell(sorted[end - 1].0) {
            continue;
        }
        if end * 15 >= sorted.len() * (bins + 1) || end == sorted.len() {
            total += gap_sum(&sorted[start..end]);
            start = end;
            bins += 1;
        }
    }
    let adaptive = adaptive(&gate, &tally.scored(), &all);
    assert!((adaptive.value.unwrap() - total / n).abs() < 1e-13);
    for check in [&ece, &gap, &adaptive] {
        let (value, range) = (check.value.unwrap(), check.interval.unwrap());
        assert!(range.low <= value && value <= range.high, "{check:?}");
    }
}
