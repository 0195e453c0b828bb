//! Factors combined, and records answered.

use lpf::aggregate::aggregate as combined;
use lpf::{Answerer, CalibrationFile, Distribution, Method};
use numpy::ndarray::{Array2, ArrayView2, Axis};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::path::PathBuf;

use crate::errors::{Raised, plain};
use crate::work::run;

/// The aggregate of each entity's factors: entities, items, classes in; entities, classes out.
#[pyfunction]
pub(crate) fn aggregate<'py>(
    py: Python<'py>,
    factors: PyReadonlyArray3<'py, f64>,
    weights: PyReadonlyArray2<'py, f64>,
    method: &str,
    prior: Option<Vec<f64>>,
    tolerance: f64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let method: Method = method
        .parse()
        .map_err(|error| plain(py, "SettingError", error))?;
    let prior = prior.map(|p| Distribution::from_rounded(p, &tolerance));
    let prior = prior.transpose().raised(py)?;
    let (factors, weights) = (factors.as_array(), weights.as_array());
    let (entities, _, classes) = factors.dim();
    let one = |entity: usize| -> lpf::Result<Vec<f64>> {
        let items: ArrayView2<'_, f64> = factors.index_axis(Axis(0), entity);
        let items = items.outer_iter().map(|item| item.to_vec());
        let items = items.map(|item| Distribution::from_rounded(item, &tolerance));
        let items = items.collect::<Result<Vec<_>, _>>()?;
        let weights = weights.index_axis(Axis(0), entity).to_vec();
        let answer = combined(method, &items, &weights, prior.as_ref())?;
        Ok(answer.into_vec())
    };
    let answers = run(py, None, |stop| {
        let each = (0..entities).into_par_iter().map(|entity| {
            stop.look();
            one(entity).map_err(|error| (entity, error))
        });
        each.collect::<Result<Vec<_>, _>>()
    })?;
    let answers = answers.map_err(|(entity, error)| match entities {
        1 => crate::errors::exception(py, &error),
        _ => crate::errors::exception(py, &error.in_file(format!("entity {entity}"))),
    })?;
    let flat: Vec<f64> = answers.into_iter().flatten().collect();
    let shaped = Array2::from_shape_vec((entities, classes), flat);
    let shaped = shaped.map_err(|error| plain(py, "AggregationError", error))?;
    Ok(shaped.into_pyarray(py))
}

/// The settings of an answerer, by the names of the options of `lpf infer`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    method: String,
    classes: Option<Vec<String>>,
    prior: Option<Vec<f64>>,
    model: Option<PathBuf>,
    aggregator: Option<PathBuf>,
    calibration: Option<String>,
    samples: usize,
    seed: u64,
    explain: bool,
    tolerance: Option<f64>,
    threads: Option<usize>,
}

/// The answers to records, JSON lines to JSON lines.
#[pyfunction]
pub(crate) fn infer(py: Python<'_>, records: &[u8], settings: Settings) -> PyResult<Vec<String>> {
    let method: Method = settings
        .method
        .parse()
        .map_err(|error| plain(py, "SettingError", error))?;
    let mut builder = Answerer::builder(method)
        .samples(settings.samples)
        .seed(settings.seed)
        .influence(settings.explain);
    if let Some(names) = settings.classes {
        builder = builder.classes(names);
    }
    if let Some(prior) = settings.prior {
        builder = builder.prior(prior);
    }
    if let Some(path) = settings.model {
        builder = builder.model(path);
    }
    if let Some(path) = settings.aggregator {
        builder = builder.aggregator(path);
    }
    if let Some(tolerance) = settings.tolerance {
        builder = builder.tolerance(tolerance);
    }
    if let Some(map) = &settings.calibration {
        builder = builder.calibration(CalibrationFile::from_bytes(map.as_bytes()).raised(py)?);
    }
    let answers = run(py, settings.threads, |stop| -> lpf::Result<Vec<String>> {
        let answerer = builder.build()?;
        let mut lines = Vec::new();
        for answer in answerer.answers(records) {
            stop.look();
            // Plain structs of numbers and strings cannot fail to become JSON.
            lines.push(serde_json::to_string(&answer?).unwrap_or_default());
        }
        Ok(lines)
    })?;
    answers.raised(py)
}
