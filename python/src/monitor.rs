//! Predictions watched as outcomes arrive.

use std::sync::Mutex;

use lpf::audit::{Alarm, Direction, MonitorError, MonitorSettings, Part};
use lpf::calibration::Calibrated;
use lpf::log::{LogBatch, LogReader, RowError, Tolerance};
use lpf::report::{alarm_text, monitor_html, monitor_text};
use lpf::{Answerer, Error, Method};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{exception, plain};
use crate::rows::{Rows, Source};
use crate::work::{Stop, run};

/// Evidence that confidences and hit rates part.
#[pyclass(frozen, module = "lpf._lpf")]
pub(crate) struct Monitor(Mutex<lpf::audit::Monitor>);

/// Why rows were not watched.
enum Refused {
    Row(Error),
    Monitor(MonitorError),
    /// A monitor that another thread left half-changed.
    Spoiled,
}

fn settings(alpha: f64, margin: f64, by_class: bool, by: Option<String>) -> MonitorSettings {
    MonitorSettings {
        alpha,
        margin,
        by_class,
        by,
        calibration: None,
    }
}

fn raised(py: Python<'_>, error: MonitorError) -> PyErr {
    match error {
        MonitorError::Setting { .. } | MonitorError::Other { .. } => {
            plain(py, "SettingError", error)
        }
        other => plain(py, "RecordError", other),
    }
}

impl Monitor {
    fn look<T>(&self, py: Python<'_>, look: impl FnOnce(&lpf::audit::Monitor) -> T) -> PyResult<T> {
        let spoiled = |_| plain(py, "Error", "the monitor is of no further use");
        self.0.lock().map(|monitor| look(&monitor)).map_err(spoiled)
    }

    fn watch(
        &self,
        rows: &Rows,
        source: Source<'_>,
        by: Option<&str>,
        tolerance: Option<f64>,
        stop: &Stop,
    ) -> Result<Vec<Alarm>, Refused> {
        let answerer = Answerer::builder(Method::Spn).build();
        let answerer = answerer.map_err(Refused::Row)?;
        let tolerance = tolerance.map_or(Tolerance::Digits, Tolerance::Fixed);
        let mut monitor = self.0.lock().map_err(|_| Refused::Spoiled)?;
        let mut reader = LogReader::rows(source);
        let mut batch = LogBatch::default();
        let (mut alarms, mut classes) = (Vec::new(), None);
        let failed = |error: lpf::log::LogError| Refused::Row(error.into());
        while reader.fill(&mut batch).map_err(failed)? {
            if classes.is_none() {
                let found = batch.classes(None, None);
                classes = found.map_err(|error| Refused::Row(error.into()))?;
            }
            let Some(classes) = &classes else { break };
            let rules = batch.rules(classes, tolerance, false);
            for index in 0..batch.len() {
                stop.look();
                let row = batch.row(index);
                let at = |error: RowError| {
                    Refused::Row(Error::from(error).in_line(row.number).in_file(rows.name()))
                };
                let read = row.prediction.and_then(|prediction| {
                    let mut row = answerer.row(prediction, rules)?;
                    let label = row.label.clone()?;
                    Ok((
                        Calibrated::unchanged(answerer.answer_of(&mut row, rules)?),
                        label,
                    ))
                });
                let (answer, label) = read.map_err(at)?;
                let group = by.map(|name| batch.field(index, name)).transpose();
                let group = group.map_err(at)?.flatten();
                // A sum may have put it above one by rounding.
                let confidence = answer.confidence.min(1.0);
                let right = answer.class == label;
                let added = monitor.add(confidence, answer.class, right, group.as_deref());
                alarms.extend(added.map_err(Refused::Monitor)?);
            }
        }
        Ok(alarms)
    }
}

#[pymethods]
impl Monitor {
    #[new]
    fn new(
        py: Python<'_>,
        classes: Vec<String>,
        alpha: f64,
        margin: f64,
        by_class: bool,
        by: Option<String>,
    ) -> PyResult<Self> {
        let made = lpf::audit::Monitor::new(settings(alpha, margin, by_class, by), classes);
        Ok(Monitor(Mutex::new(made.map_err(|e| raised(py, e))?)))
    }

    /// A state that was saved, to watch on with the same settings.
    #[staticmethod]
    fn of_json(
        py: Python<'_>,
        text: &str,
        classes: Vec<String>,
        alpha: f64,
        margin: f64,
        by_class: bool,
        by: Option<String>,
    ) -> PyResult<Self> {
        let settings = settings(alpha, margin, by_class, by);
        let read = lpf::audit::Monitor::read(text.as_bytes(), &settings, &classes);
        Ok(Monitor(Mutex::new(read.map_err(|e| raised(py, e))?)))
    }

    /// Adds rows; the alarms that they raise. Rows before one that cannot be used stay added.
    fn update<'py>(
        &self,
        py: Python<'py>,
        rows: &Rows,
        by: Option<String>,
        tolerance: Option<f64>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let held = rows.hold(py)?;
        let source = held.source();
        let margin = self.look(py, |monitor| monitor.settings().margin)?;
        let alarms = run(py, Some(1), |stop| {
            self.watch(rows, source, by.as_deref(), tolerance, stop)
        })?;
        let alarms = alarms.map_err(|error| match error {
            Refused::Row(error) => exception(py, &error),
            Refused::Monitor(error) => raised(py, error),
            Refused::Spoiled => plain(py, "Error", "the monitor is of no further use"),
        })?;
        alarms.iter().map(|a| alarm(py, a, margin)).collect()
    }

    #[getter]
    fn rows(&self, py: Python<'_>) -> PyResult<u64> {
        self.look(py, lpf::audit::Monitor::rows)
    }

    #[getter]
    fn has_alarm(&self, py: Python<'_>) -> PyResult<bool> {
        self.look(py, lpf::audit::Monitor::has_alarm)
    }

    /// What is watched: part, rows, right ones, mean confidence, evidence and its threshold as logarithms,
    /// and at which row an alarm was raised, for both directions.
    fn watches<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.look(py, |monitor| {
            let each = monitor.watches().map(|watch| {
                let out = PyDict::new(py);
                let (kind, name) = part(&watch.part);
                out.set_item("part", kind)?;
                out.set_item("name", name)?;
                out.set_item("rows", watch.rows)?;
                out.set_item("right", watch.right)?;
                out.set_item("confidence", watch.confidence / (watch.rows.max(1)) as f64)?;
                out.set_item("log_threshold", monitor.log_threshold(&watch.part))?;
                for (direction, word) in Direction::BOTH.into_iter().zip(["over", "under"]) {
                    let evidence = watch.evidence(direction).log_capital();
                    out.set_item(format!("log_evidence_{word}"), evidence)?;
                    out.set_item(format!("alarm_{word}"), watch.alarm(direction))?;
                }
                Ok(out)
            });
            each.collect()
        })?
    }

    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, lpf::audit::Monitor::to_json)
    }

    fn to_html(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, monitor_html)
    }

    fn to_text(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, monitor_text)
    }
}

fn part(part: &Part) -> (&'static str, Option<&str>) {
    match part {
        Part::All => ("all", None),
        Part::Class(name) => ("class", Some(name)),
        Part::Group(name) => ("group", Some(name)),
    }
}

fn alarm<'py>(py: Python<'py>, alarm: &Alarm, margin: f64) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let (kind, name) = part(&alarm.part);
    out.set_item("row", alarm.row)?;
    out.set_item("part", kind)?;
    out.set_item("name", name)?;
    out.set_item("direction", alarm.direction.words())?;
    out.set_item("log_evidence", alarm.log_evidence)?;
    out.set_item("log_threshold", alarm.log_threshold)?;
    out.set_item("mean_confidence", alarm.mean_confidence)?;
    out.set_item("sentence", alarm_text(alarm, margin).trim_end())?;
    Ok(out)
}
