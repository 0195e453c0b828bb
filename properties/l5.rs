//! Lemma 5 and theorem 4 as stated are false: a constant prediction of the prior is calibrated,
//! however much the evidence conflicts and however little it tells.

use lpf::bounds::hoeffding_radius;
use lpf::calibration::Evaluation;
use lpf::simplex::{Distribution, kl_divergence};

use crate::harness::{Check, Draws, LEVEL, Outcome, Property};

pub const PROPERTIES: &[Property] = &[Property {
    name: "l5.prior_is_calibrated",
    claims: &["L5", "T4"],
    statement: "predicting the prior has an ECE within sampling error of zero, whatever the conflict",
    run: prior_is_calibrated,
}];

const TRIALS: u64 = 400;
const ENTITIES: usize = 5000;
const BINS: usize = 10;

fn distribution(p: &[f64]) -> Distribution {
    Distribution::new(p.to_vec()).unwrap()
}

/// ECE of one constant prediction for labels drawn from the prior (3/5, 2/5).
fn constant_ece(draws: &Draws, trial: u64, prediction: &Distribution) -> f64 {
    let mut s = draws.stream("labels", trial);
    let mut evaluation = Evaluation::new(2, BINS).unwrap();
    for _ in 0..ENTITIES {
        // 3/5 exactly: three of five equally likely outcomes.
        let label = usize::from(s.below(5) >= 3);
        evaluation.add(prediction, label).unwrap();
    }
    evaluation.ece().unwrap()
}

fn prior_is_calibrated(draws: Draws) -> Outcome {
    // Two items of evidence in each other's face.
    let (one, other) = (distribution(&[0.99, 0.01]), distribution(&[0.01, 0.99]));
    let noise = kl_divergence(&one, &other).unwrap();
    const DELTA: f64 = 0.01;
    let radius = hoeffding_radius(ENTITIES as u64, DELTA, 1.0).unwrap();
    let beyond = |prediction: &Distribution| {
        let errors = (0..TRIALS).map(|t| constant_ece(&draws, t, prediction));
        let errors: Vec<f64> = errors.collect();
        let mean = errors.iter().sum::<f64>() / TRIALS as f64;
        let violations = errors.iter().filter(|&&e| e > radius).count() as u64;
        (Check::rate(TRIALS, violations, DELTA, LEVEL), mean)
    };
    let (check, mean) = beyond(&distribution(&[0.6, 0.4]));
    let (control, _) = beyond(&distribution(&[0.65, 0.35]));
    Outcome::new(check, "a constant 5 points off the prior", control).noting(format!(
        "mean ECE {mean:.4} at conflict {noise:.2}: c ≤ {:.4}",
        mean / noise
    ))
}
