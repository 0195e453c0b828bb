//! Calibration maps and prediction sets.

use lpf::calibration::{
    ConformalSets, ConformalSettings, Family, MapMethod, MapShape, SetScore, choose,
};
use lpf::latent::random::text_key;
use lpf::log::{LogBatch, LogReader, Tolerance};
use lpf::{
    Answerer, CalibrationFile, CalibrationMap, Distribution, Error, Method, audit::DEFAULT_BINS,
};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::errors::{Raised, exception, plain};
use crate::rows::{Rows, Source};
use crate::work::{Stop, run, run_apart};

/// A fitted map, with what it was fitted on; as in a file that `lpf calibrate` writes.
#[pyclass(frozen, module = "lpf._lpf")]
pub(crate) struct Map {
    file: CalibrationFile,
    /// What was tried, for the method `auto`: names, log losses, and why some were left out.
    tried: Vec<Tried>,
}

type Tried = (&'static str, Option<f64>, Option<String>);

/// Rows as predictions with their outcomes.
struct Labelled {
    predictions: Vec<Distribution>,
    labels: Vec<usize>,
    /// By which `auto` makes its folds.
    keys: Vec<u64>,
    sha256: String,
}

/// Every row, valid, as `lpf calibrate` takes it; the first that is not is an error.
fn labelled(
    name: &str,
    rows: &Source<'_>,
    tolerance: Option<f64>,
    with_labels: bool,
    stop: &Stop,
) -> lpf::Result<Labelled> {
    let answerer = Answerer::builder(Method::Spn).build()?;
    let tolerance = tolerance.map_or(Tolerance::Digits, Tolerance::Fixed);
    let mut reader = LogReader::rows(rows.clone());
    let mut out = Labelled {
        predictions: Vec::with_capacity(rows.len()),
        labels: Vec::with_capacity(rows.len()),
        keys: Vec::new(),
        sha256: String::new(),
    };
    let mut batch = LogBatch::default();
    let mut classes = None;
    while reader.fill(&mut batch)? {
        stop.look();
        if classes.is_none() {
            classes = batch.classes(None, None)?;
        }
        let Some(classes) = &classes else { break };
        let rules = batch.rules(classes, tolerance, false);
        for index in 0..batch.len() {
            let row = batch.row(index);
            let number = row.number;
            let taken = || {
                let prediction = row.prediction?;
                if with_labels {
                    let said = format!("{:?} {:?}", prediction.label, prediction.answer);
                    let key = prediction.entity.as_deref().map(text_key);
                    out.keys.push(key.unwrap_or_else(|| text_key(&said)));
                }
                let mut row = answerer.row(prediction, rules)?;
                if with_labels {
                    out.labels.push(row.label.clone()?);
                }
                answerer.answer_of(&mut row, rules)
            };
            let taken = taken().map_err(|error: lpf::log::RowError| {
                Error::from(error).in_line(number).in_file(name)
            })?;
            out.predictions.push(taken);
        }
    }
    out.sha256 = reader.sha256();
    Ok(out)
}

fn method(py: Python<'_>, name: &str, bins: usize) -> PyResult<MapMethod> {
    let family = Family::ALL.into_iter().find(|family| family.name() == name);
    Ok(match (name, family) {
        (_, Some(family)) => MapMethod::LogLinear(family),
        ("temperature", _) => MapMethod::Temperature,
        ("histogram", _) => MapMethod::Histogram { bins },
        ("isotonic", _) => MapMethod::Isotonic,
        (other, _) => {
            let what = format!(
                "method: {other:?} is none of auto, temperature, platt, beta, vector, dirichlet, \
                 isotonic, histogram"
            );
            return Err(plain(py, "SettingError", what));
        }
    })
}

#[pymethods]
impl Map {
    /// Fits a map of a kind, or of the best kind for `auto`.
    #[staticmethod]
    fn fit(
        py: Python<'_>,
        rows: &Rows,
        kind: &str,
        bins: Option<usize>,
        seed: u64,
        tolerance: Option<f64>,
    ) -> PyResult<Map> {
        let bins = bins.unwrap_or(DEFAULT_BINS);
        let kind = match kind {
            "auto" => None,
            name => Some(method(py, name, bins)?),
        };
        let fitted = fitted(py, rows, tolerance, move |read| {
            Ok(match kind {
                Some(method) => {
                    let map = CalibrationMap::fit(method, &read.predictions, &read.labels)?;
                    (map, Vec::new())
                }
                None => {
                    let histogram = MapMethod::Histogram { bins };
                    let keys = (seed, read.keys.as_slice());
                    choose(histogram, &read.predictions, &read.labels, keys)?
                }
            })
        })?;
        let (map, candidates, rows) = fitted;
        let tried = candidates
            .into_iter()
            .map(|c| (c.method, c.log_loss, c.left_out));
        Ok(Map {
            file: rows.file(map),
            tried: tried.collect(),
        })
    }

    /// Fits prediction sets.
    #[staticmethod]
    fn conformal(
        py: Python<'_>,
        rows: &Rows,
        coverage: f64,
        score: &str,
        by_class: bool,
        tolerance: Option<f64>,
    ) -> PyResult<Map> {
        let score = match score {
            "lead" => SetScore::Lead,
            "probability" => SetScore::Probability,
            other => {
                let what = format!("score: {other:?} is none of lead, probability");
                return Err(plain(py, "SettingError", what));
            }
        };
        let settings = ConformalSettings {
            coverage,
            score,
            by_class,
            robust: None,
        };
        let (map, _, rows) = fitted(py, rows, tolerance, move |read| {
            let sets = ConformalSets::fit(settings, &read.predictions, &read.labels)?;
            Ok((CalibrationMap::conformal(sets), ()))
        })?;
        Ok(Map {
            file: rows.file(map),
            tried: Vec::new(),
        })
    }

    /// The map of a file's content.
    #[staticmethod]
    fn of_json(py: Python<'_>, text: &str) -> PyResult<Map> {
        let file = CalibrationFile::from_bytes(text.as_bytes()).raised(py)?;
        let tried = Vec::new();
        Ok(Map { file, tried })
    }

    fn to_json(&self) -> String {
        self.file.to_json()
    }

    #[getter]
    fn method(&self) -> &'static str {
        self.file.map.name()
    }

    #[getter]
    fn classes(&self) -> usize {
        self.file.classes
    }

    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.file.names.clone()
    }

    #[getter]
    fn tried(&self) -> Vec<Tried> {
        self.tried.clone()
    }

    /// The largest score in a set: one, or one for each class; none where every class is in the set.
    #[getter]
    fn thresholds(&self) -> Vec<Option<f64>> {
        let sets = self.file.map.sets().map(ConformalSets::thresholds);
        sets.into_iter().flatten().map(|t| t.score).collect()
    }

    /// The numbers of the map, as its file has them.
    #[getter]
    fn temperature(&self) -> Option<f64> {
        match self.file.map.shape() {
            MapShape::Temperature(temperature) => Some((*temperature).into()),
            _ => None,
        }
    }

    /// The calibrated probabilities of all rows, and the classes that are named.
    #[allow(clippy::type_complexity, reason = "two arrays for Python")]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        rows: &Rows,
        tolerance: Option<f64>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>)> {
        let held = rows.hold(py)?;
        let source = held.source();
        let applied = run(py, None, |stop| -> lpf::Result<_> {
            let read = labelled(rows.name(), &source, tolerance, false, stop)?;
            let mut numbers = Vec::with_capacity(source.len() * source.class_count());
            let mut named = Vec::with_capacity(source.len());
            for prediction in &read.predictions {
                stop.look();
                let calibrated = self.file.apply(prediction)?;
                named.push(calibrated.class as i64);
                numbers.extend_from_slice(calibrated.distribution.probabilities());
            }
            Ok((numbers, named))
        })?;
        let (numbers, named) = applied.raised(py)?;
        let shape = (source.len(), source.class_count());
        let numbers = Array2::from_shape_vec(shape, numbers);
        let numbers = numbers.map_err(|error| plain(py, "CalibrationError", error))?;
        Ok((numbers.into_pyarray(py), named.into_pyarray(py)))
    }

    /// For all rows, whether each class is in the set.
    fn sets<'py>(
        &self,
        py: Python<'py>,
        rows: &Rows,
        tolerance: Option<f64>,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let held = rows.hold(py)?;
        let source = held.source();
        let shape = (source.len(), source.class_count());
        let made = run(py, None, |stop| -> lpf::Result<_> {
            let read = labelled(rows.name(), &source, tolerance, false, stop)?;
            let mut inside = Array2::from_elem(shape, false);
            for (row, prediction) in read.predictions.iter().enumerate() {
                stop.look();
                for class in self.file.set(prediction, None)?.unwrap_or_default() {
                    if let Some(place) = inside.get_mut((row, class)) {
                        *place = true;
                    }
                }
            }
            Ok(inside)
        })?;
        Ok(made.raised(py)?.into_pyarray(py))
    }
}

/// What a file says of the rows that a map was fitted on.
struct Fitted {
    classes: usize,
    names: Option<Vec<String>>,
    rows: u64,
    sha256: String,
}

impl Fitted {
    fn file(self, map: CalibrationMap) -> CalibrationFile {
        let file = CalibrationFile::new(map, self.classes, self.names, self.rows, (1.0, 0));
        file.with_sources(vec![self.sha256])
    }
}

/// Reads the rows, then fits apart from the caller, who may go before it ends.
fn fitted<T: Send + 'static>(
    py: Python<'_>,
    rows: &Rows,
    tolerance: Option<f64>,
    fit: impl FnOnce(&Labelled) -> lpf::Result<(CalibrationMap, T)> + Send + 'static,
) -> PyResult<(CalibrationMap, T, Fitted)> {
    let held = rows.hold(py)?;
    let source = held.source();
    let read = run(py, None, |stop| {
        labelled(rows.name(), &source, tolerance, true, stop)
    })?;
    let read = read.raised(py)?;
    if read.predictions.is_empty() {
        let what = format!("{}: there is no row", rows.name());
        return Err(plain(py, "CalibrationError", what));
    }
    let about = Fitted {
        classes: source.class_count(),
        names: rows.class_names().map(<[String]>::to_vec),
        rows: source.len() as u64,
        sha256: read.sha256.clone(),
    };
    let made = run_apart(py, None, move || fit(&read))?;
    let (map, more) = made.map_err(|error| exception(py, &error))?;
    Ok((map, more, about))
}
