//! The kind of map with the least cross-validated log loss.

use serde::Serialize;

use super::log_linear::Family;
use super::map::{CalibrationMap, MapMethod};
use super::map_error::MapError;
use crate::latent::random::{Stream, text_key};
use crate::math::{ExactSum, ln};
use crate::simplex::Distribution;

const FOLDS: u64 = 5;
/// A kind with more parameters than a tenth of the rows is not tried: it would be fitted to chance,
/// slowly.
const ROWS_A_PARAMETER: usize = 10;

/// A kind of map that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// Its name; `unchanged` for no map at all.
    pub method: &'static str,
    /// The mean log loss on rows that it was not fitted on; none where it was left out.
    pub log_loss: Option<f64>,
    /// Why it was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// Whether it is the one that was taken.
    pub chosen: bool,
}

/// The map of the kind that does best on rows it was not fitted on, fitted on all rows; and what was
/// tried, simplest first, which wins among equals. Rows of one key stay together: they are in one of five
/// folds by a draw that depends on the seed and the key alone.
///
/// # Errors
/// [`MapError`] where the best kind cannot be fitted to all rows.
pub fn choose(
    histogram: MapMethod,
    predictions: &[Distribution],
    labels: &[usize],
    folds: (u64, &[u64]),
) -> Result<(CalibrationMap, Vec<Candidate>), MapError> {
    let (best, candidates) = candidates(histogram, predictions, labels, folds);
    let map = match best {
        Some(method) => CalibrationMap::fit(method, predictions, labels)?,
        None => CalibrationMap::identity(),
    };
    Ok((map, candidates))
}

/// The kind that does best, none where no map does; and what was tried.
pub(super) fn candidates(
    histogram: MapMethod,
    predictions: &[Distribution],
    labels: &[usize],
    (seed, keys): (u64, &[u64]),
) -> (Option<MapMethod>, Vec<Candidate>) {
    const PURPOSE: u64 = text_key("calibration folds");
    let fold = |key: &u64| Stream::new(seed, PURPOSE, *key, 0).below(FOLDS);
    let folds: Vec<u64> = keys.iter().map(fold).collect();
    let classes = predictions.first().map_or(0, Distribution::classes);
    let families = Family::ALL.into_iter().map(MapMethod::LogLinear);
    let kinds = [MapMethod::Temperature]
        .into_iter()
        .chain(families)
        .chain([MapMethod::Isotonic, histogram]);
    let mut candidates = vec![Candidate {
        method: "unchanged",
        log_loss: Some(mean_loss(
            predictions.iter().zip(labels).map(|(p, &y)| loss(p, y)),
        )),
        left_out: None,
        chosen: false,
    }];
    let mut methods = vec![None];
    for method in kinds {
        if let MapMethod::LogLinear(family) = method
            && family.check(classes).is_err()
        {
            continue;
        }
        let tried = match method {
            MapMethod::LogLinear(family)
                if family.parameters(classes) * ROWS_A_PARAMETER > predictions.len() =>
            {
                let parameters = family.parameters(classes);
                Err(format!(
                    "{parameters} parameters are too many for {} rows",
                    predictions.len()
                ))
            }
            _ => held_out(method, predictions, labels, &folds).map_err(|e| e.to_string()),
        };
        let (log_loss, left_out) = match tried {
            Ok(loss) => (Some(loss), None),
            Err(reason) => (None, Some(reason)),
        };
        candidates.push(Candidate {
            method: method.name(),
            log_loss,
            left_out,
            chosen: false,
        });
        methods.push(Some(method));
    }
    let loss_of = |candidate: &Candidate| candidate.log_loss.unwrap_or(f64::INFINITY);
    let mut best = 0;
    for (i, candidate) in candidates.iter().enumerate() {
        if candidates.get(best).map(loss_of) > Some(loss_of(candidate)) {
            best = i;
        }
    }
    if let Some(candidate) = candidates.get_mut(best) {
        candidate.chosen = true;
    }
    (methods.get(best).copied().flatten(), candidates)
}

/// The mean log loss of each fold under the map that was fitted to the others.
fn held_out(
    method: MapMethod,
    predictions: &[Distribution],
    labels: &[usize],
    folds: &[u64],
) -> Result<f64, MapError> {
    let mut losses = Vec::with_capacity(labels.len());
    for fold in 0..FOLDS {
        let rows = || predictions.iter().zip(labels).zip(folds);
        let others = rows().filter(|(_, f)| **f != fold);
        let (p, y): (Vec<Distribution>, Vec<usize>) =
            others.map(|((p, &y), _)| (p.clone(), y)).unzip();
        let mut own = rows().filter(|(_, f)| **f == fold).peekable();
        if own.peek().is_none() {
            continue;
        }
        let map = CalibrationMap::fit(method, &p, &y)?;
        for ((p, &label), _) in own {
            losses.push(loss(&map.apply(p)?.distribution, label));
        }
    }
    Ok(mean_loss(losses.into_iter()))
}

fn loss(p: &Distribution, label: usize) -> f64 {
    p.probabilities().get(label).map_or(f64::NAN, |&p| -ln(p))
}

/// In any order the same; infinite where one of them is.
fn mean_loss(losses: impl Iterator<Item = f64>) -> f64 {
    let losses: Vec<f64> = losses.collect();
    if losses.iter().any(|loss| !loss.is_finite()) {
        return f64::INFINITY;
    }
    let n = losses.len() as f64;
    losses.into_iter().collect::<ExactSum>().to_f64() / n
}
