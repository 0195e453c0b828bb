//! Do intervals hold the truth as often as they say? Outcomes are drawn from known probabilities, and
//! what each check estimates is computed from these, word for word.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::*;
use crate::audit::checks::scores;
use crate::calibration::SmoothCell;
use crate::calibration::bin_index;

/// Simulated logs. An interval that misses one time in five instead of one in twenty is found with
/// probability 0.98: P(Bin(300, 1/5) ≥ 46) = 0.983, and 46 are too many at the level below.
const LOGS: u64 = 300;
const ROWS: usize = 250;
const BINS: usize = 15;

/// A prediction: its confidence, and the true probability that it is right.
type Coin = (f64, f64);

/// Confidences that are too large at one end and too small at the other.
fn coins() -> Vec<Coin> {
    let mut stream = Stream::new(21, 1, 0, 0);
    let coin = |_| {
        let c = 0.55 + 0.43 * stream.uniform();
        (c, c + 0.3 * (0.7 - c))
    };
    (0..ROWS).map(coin).collect()
}

/// Sums of `f` over groups, each with its share of the rows and its mean confidence and rate.
fn over(groups: impl Iterator<Item = Vec<Coin>>, f: impl Fn(f64, f64) -> f64) -> f64 {
    let term = |group: Vec<Coin>| {
        let n = group.len() as f64;
        let (c, q) = group
            .iter()
            .fold((0.0, 0.0), |(a, b), (c, q)| (a + c, b + q));
        n / ROWS as f64 * f(c / n, q / n)
    };
    groups.filter(|group| !group.is_empty()).map(term).sum()
}

/// Rows of one key together, by rising key.
fn grouped(coins: &[Coin], key: impl Fn(f64) -> usize) -> impl Iterator<Item = Vec<Coin>> {
    let mut groups: BTreeMap<usize, Vec<Coin>> = BTreeMap::new();
    for &(c, q) in coins {
        groups.entry(key(c)).or_default().push((c, q));
    }
    groups.into_values()
}

fn equal_width(coins: &[Coin]) -> impl Iterator<Item = Vec<Coin>> {
    grouped(coins, |c| bin_index(c, BINS).unwrap())
}

/// What each check estimates, from the true probabilities.
fn truths(coins: &[Coin]) -> Vec<(&'static str, f64)> {
    let n = coins.len() as f64;
    let mean = |f: &dyn Fn(f64, f64) -> f64| coins.iter().map(|&(c, q)| f(c, q)).sum::<f64>() / n;
    let entropy = |p: f64| -(p * p.ln() + (1.0 - p) * (1.0 - p).ln());
    let other: Vec<Coin> = coins.iter().map(|&(c, q)| (1.0 - c, 1.0 - q)).collect();
    let both =
        |f: &dyn Fn(f64, f64) -> f64| over(equal_width(coins), f) + over(equal_width(&other), f);
    let mut sorted = coins.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let masses = tally(coins.iter().map(|&(c, _)| (c, 0)))
        .grid
        .equal_mass(BINS);
    let mut rest = sorted.as_slice();
    let equal_mass = masses.iter().map(|cell| {
        let (group, others) = rest.split_at(cell.count as usize);
        rest = others;
        group.to_vec()
    });
    let smooth: Vec<SmoothCell> = coins
        .iter()
        .map(|&(c, q)| SmoothCell {
            confidence: c,
            residual: c - q,
            count: 1,
        })
        .collect();
    // The most confident first, those of one cell of the grid together.
    let cell = |c: f64| (c * 65536.0).ceil() as usize;
    let mut cells: Vec<Vec<Coin>> = grouped(coins, cell).collect();
    cells.reverse();
    let (mut kept, mut wrong, mut area, mut at_coverage) = (0.0, 0.0, 0.0, None);
    for group in &cells {
        kept += group.len() as f64;
        wrong += group.iter().map(|(_, q)| 1.0 - q).sum::<f64>();
        area += group.len() as f64 / n * wrong / kept;
        if at_coverage.is_none() && kept >= 0.8 * n {
            at_coverage = Some(wrong / kept);
        }
    }
    let loss = mean(&|c, q| -(q * c.ln() + (1.0 - q) * (1.0 - c).ln()));
    let square = |x: f64| x * x;
    vec![
        ("ece", over(equal_width(coins), |c, q| (c - q).abs())),
        ("classwise_ece", both(&|c, q| (c - q).abs()) / 2.0),
        ("adaptive_ece", over(equal_mass, |c, q| (c - q).abs())),
        (
            "debiased_error",
            over(equal_width(coins), |c, q| square(c - q)).sqrt(),
        ),
        ("smooth_ece", smooth_ece(&smooth).unwrap().value),
        ("gap", mean(&|c, q| c - q)),
        ("accuracy", mean(&|_, q| q)),
        ("log_loss", loss),
        // No probability is below 0.0001.
        ("log_loss_clipped", loss),
        ("log_loss_excess", loss - mean(&|c, _| entropy(c))),
        (
            "log_loss_floor",
            over(equal_width(coins), |_, q| entropy(q)),
        ),
        (
            "brier",
            mean(&|c, q| 2.0 * (q * square(1.0 - c) + (1.0 - q) * square(c))),
        ),
        ("brier_calibration", both(&|c, q| square(c - q))),
        ("brier_refinement", both(&|_, q| q * (1.0 - q))),
        ("aurc", area),
        ("risk_at_coverage", at_coverage.unwrap()),
    ]
}

/// All checks of one log, drawn from the coins.
fn drawn(coins: &[Coin], log: u64) -> Vec<Check> {
    let mut stream = Stream::new(22, 2, log, 0);
    let outcome = |&(c, q): &Coin| (c, usize::from(stream.uniform() >= q));
    let tally = tally(coins.iter().map(outcome));
    let settings = settings(&[]);
    let gate = Gate::new(&settings, false, 0);
    let classes = ClassGaps::new(&tally.scores.classwise);
    let mut curves = crate::audit::Curves::default();
    let rows = Rows::new(&tally, &settings);
    let (mut checks, _) = checks(&gate, &tally.scored(), &rows);
    scores::checks(
        &gate,
        &tally.scored(),
        &rows,
        &classes,
        &mut checks,
        &mut curves,
    );
    checks
}

#[test]
fn intervals_hold_the_truth_in_nineteen_of_twenty_logs() {
    let coins = coins();
    let truths = truths(&coins);
    let logs: Vec<Vec<Check>> = (0..LOGS)
        .into_par_iter()
        .map(|log| drawn(&coins, log))
        .collect();
    // How often an interval, shrunk around its value, does not hold the truth.
    let misses = |id: &str, truth: f64, shrunk: f64| {
        let missed = |checks: &&Vec<Check>| {
            let check = checks.iter().find(|check| check.id == id).unwrap();
            let (value, interval) = (check.value.unwrap(), check.interval.unwrap());
            assert_eq!(interval.confidence, 0.95, "{id}");
            let low = value - shrunk * (value - interval.low);
            let high = value + shrunk * (interval.high - value);
            truth < low || truth > high
        };
        logs.iter().filter(missed).count() as u64
    };
    let too_many = |missed: u64| {
        binomial_upper_tail(missed, LOGS, 0.05).unwrap().high() < FALSE_ALARM / truths.len() as f64
    };
    assert!(too_many(46) && !too_many(45));
    for &(id, truth) in &truths {
        let missed = misses(id, truth, 1.0);
        assert!(!too_many(missed), "{id}: {missed} of {LOGS} miss {truth}");
    }
    // Negative control: of intervals that are not wider than they need to be, half is not enough.
    for &(id, truth) in &truths {
        if ["accuracy", "risk_at_coverage"].contains(&id) {
            let missed = misses(id, truth, 0.5);
            assert!(too_many(missed), "{id}: {missed} of {LOGS}");
        }
    }
    // Every check with an interval is among them.
    let with_interval = logs[0].iter().filter(|check| check.interval.is_some());
    assert!(
        with_interval
            .map(|check| check.id)
            .eq(truths.iter().map(|(id, _)| *id))
    );
}
