//! E5, beyond the paper: calibration error from excess log loss.

use lpf::bounds::{excess_loss_calibration_error, log_loss};
use lpf::simplex::Distribution;
use proptest::prelude::*;

use crate::harness::{Draws, Outcome, Property, ensure};

pub const PROPERTIES: &[Property] = &[Property {
    name: "e5.excess_loss",
    claims: &["E5"],
    statement: "the gap between confidence and accuracy is at most the root of half the excess log loss",
    run: excess_loss,
}];

/// What rounding may add to either side.
const ROUNDING: f64 = 1e-9;

fn distribution(weights: &[f64]) -> Distribution {
    Distribution::from_weights(weights.to_vec()).unwrap()
}

/// Equally likely values of the evidence, each with a posterior and a prediction. Its own gap for every
/// value bounds the calibration error with any bins.
fn excess_loss(draws: Draws) -> Outcome {
    let weights = || prop::collection::vec(0.01f64..1.0, 3);
    let strategy = prop::collection::vec((weights(), weights()), 1..6);
    let claim = |rows: &[(Vec<f64>, Vec<f64>)], share: f64| {
        let chances = vec![1.0 / rows.len() as f64; rows.len()];
        let truths: Vec<_> = rows.iter().map(|row| distribution(&row.0)).collect();
        let predictions: Vec<_> = rows.iter().map(|row| distribution(&row.1)).collect();
        let parts = log_loss(&chances, &truths, &predictions).map_err(|e| e.to_string())?;
        let gaps = truths.iter().zip(&predictions).map(|(truth, prediction)| {
            let winner = prediction.argmax();
            (truth.probabilities()[winner] - prediction.probabilities()[winner]).abs()
        });
        let error = gaps.sum::<f64>() / rows.len() as f64;
        let loss = parts.loss.max(parts.entropy);
        let bound =
            excess_loss_calibration_error(loss, parts.entropy).map_err(|e| e.to_string())?;
        ensure(error <= share * bound + ROUNDING, || {
            format!("error {error}, bound {bound}")
        })
    };
    Outcome::new(
        draws.for_all("worlds", 300, &strategy, |rows| claim(&rows, 1.0)),
        "half of the bound",
        draws.control("worlds", 300, &strategy, |rows| claim(&rows, 0.5)),
    )
}
