//! T1″, in place of theorem 1: binning held-out scores calibrates any model, with a bound.

use lpf::bounds::{binned_ranges, uniform_mass_radius};
use lpf::calibration::Reliability;
use rayon::prelude::*;

use crate::harness::{Check, Draws, LEVEL, Outcome, Property};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "t1_double_prime.fixed_bins",
        claims: &["T1''"],
        statement: "the ranges of all bins hold the true rates at once, but for δ of the trials",
        run: fixed_bins,
    },
    Property {
        name: "t1_double_prime.equal_mass",
        claims: &["T1''"],
        statement: "bins of equal mass are within the stated radius at once, but for δ of the trials",
        run: equal_mass,
    },
];

/// Clopper–Pearson limits take some time.
const FIXED_TRIALS: u64 = 300;
const TRIALS: u64 = 3000;
const POINTS: usize = 500;
const BINS: usize = 10;
const DELTA: f64 = 0.05;

/// Scores are uniform on `[0, 1]` and right with probability `score²`: badly over-confident.
fn held_out(draws: &Draws, trial: u64) -> Vec<(f64, bool)> {
    let mut s = draws.stream("points", trial);
    (0..POINTS)
        .map(|_| {
            let score = s.uniform();
            (score, s.uniform() < score * score)
        })
        .collect()
}

/// The true rate between two scores: the mean of `s²`.
fn true_rate(low: f64, high: f64) -> f64 {
    (high * high + high * low + low * low) / 3.0
}

fn trials(count: u64, violates: impl Fn(u64) -> bool + Sync) -> Check {
    let violations = (0..count).into_par_iter().filter(|&t| violates(t)).count() as u64;
    Check::rate(count, violations, DELTA, LEVEL)
}

fn fixed_bins(draws: Draws) -> Outcome {
    let misses = |trial: u64, delta: f64| {
        let (scores, right): (Vec<f64>, Vec<bool>) = held_out(&draws, trial).into_iter().unzip();
        let bins = Reliability::of(&scores, &right, BINS).unwrap().bins();
        let counts: Vec<(u64, u64)> = bins.iter().map(|b| (b.correct, b.count)).collect();
        let ranges = binned_ranges(&counts, delta).unwrap();
        let mut pairs = bins.iter().zip(ranges);
        pairs.any(|(b, range)| !(range.low..=range.high).contains(&true_rate(b.lower, b.upper)))
    };
    Outcome::new(
        trials(FIXED_TRIALS, |t| misses(t, DELTA)),
        "ranges made for δ = 0.99",
        trials(FIXED_TRIALS, |t| misses(t, 0.99)),
    )
}

fn equal_mass(draws: Draws) -> Outcome {
    let radius = uniform_mass_radius(POINTS as u64, BINS as u64, DELTA).unwrap();
    let misses = |trial: u64, radius: f64| {
        let mut points = held_out(&draws, trial);
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let share = POINTS / BINS;
        // Cut at every fiftieth score; the cut points themselves are left out.
        (0..BINS).any(|b| {
            let first = b * share;
            let end = if b + 1 == BINS {
                POINTS
            } else {
                (b + 1) * share - 1
            };
            let low = if b == 0 { 0.0 } else { points[first - 1].0 };
            let high = if b + 1 == BINS { 1.0 } else { points[end].0 };
            let inside = &points[first..end];
            let rate = inside.iter().filter(|p| p.1).count() as f64 / inside.len() as f64;
            (rate - true_rate(low, high)).abs() > radius
        })
    };
    Outcome::new(
        trials(TRIALS, |t| misses(t, radius)),
        "half the radius",
        trials(TRIALS, |t| misses(t, radius / 2.0)),
    )
    .noting(format!(
        "radius {radius:.3} for {POINTS} points in {BINS} bins"
    ))
}
