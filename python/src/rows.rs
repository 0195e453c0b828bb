//! NumPy columns as the rows of a log, read where they lie.

use std::sync::Arc;

use half::f16;
use lpf::log::{Columns, Fields, Label, Limits, ROWS_A_BATCH, RowBatch, RowSource};
use numpy::ndarray::ArrayView1;
use numpy::{PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::Raised;

/// The code of a label or group that is missing.
const MISSING: i64 = i64::MIN;
/// Rows that are copied column by column before the next: their answers stay in the cache.
const BLOCK: usize = 256;

/// Codes and what they stand for.
type Coded = (Py<PyAny>, Vec<String>);

/// Predictions with their outcomes, column by column.
#[pyclass(frozen, module = "lpf._lpf")]
pub(crate) struct Rows {
    name: String,
    /// One column of probabilities a class: float64, float32 or float16, with any stride.
    columns: Vec<Py<PyUntypedArray>>,
    /// True classes as int64; without names, their positions.
    labels: Option<(Py<PyAny>, Option<Vec<String>>)>,
    classes: Option<Vec<String>>,
    entities: Option<Vec<Option<Arc<str>>>>,
    fields: Vec<(String, Coded)>,
}

#[pymethods]
impl Rows {
    #[new]
    #[pyo3(signature = (name, columns, labels, classes, entities, fields))]
    fn new(
        name: String,
        columns: Vec<Py<PyUntypedArray>>,
        labels: Option<(Py<PyAny>, Option<Vec<String>>)>,
        classes: Option<Vec<String>>,
        entities: Option<Vec<Option<String>>>,
        fields: Vec<(String, Coded)>,
    ) -> Self {
        let entities = entities.map(|names| {
            let names = names.into_iter();
            names.map(|name| name.map(Arc::from)).collect()
        });
        Rows {
            name,
            columns,
            labels,
            classes,
            entities,
            fields,
        }
    }

    /// How many classes there are.
    #[getter]
    fn classes(&self) -> usize {
        self.columns.len()
    }
}

/// A column that is kept as it is while it is read.
enum Held<'py> {
    Double(PyReadonlyArray1<'py, f64>),
    Single(PyReadonlyArray1<'py, f32>),
    Half(PyReadonlyArray1<'py, f16>),
}

/// Everything of [`Rows`] that Python owns, kept as it is while it is read.
pub(crate) struct HeldRows<'py> {
    rows: &'py Rows,
    columns: Vec<Held<'py>>,
    labels: Option<PyReadonlyArray1<'py, i64>>,
    fields: Vec<PyReadonlyArray1<'py, i64>>,
    length: usize,
}

impl Rows {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn class_names(&self) -> Option<&[String]> {
        self.classes.as_deref()
    }

    /// The columns, which nobody writes to through NumPy while they are held.
    pub(crate) fn hold<'py>(&'py self, py: Python<'py>) -> PyResult<HeldRows<'py>> {
        let column = |column: &Py<PyUntypedArray>| -> PyResult<Held<'py>> {
            let any = column.bind(py).as_any();
            read_in_place(column.bind(py))?;
            if let Ok(array) = any.extract() {
                return Ok(Held::Double(array));
            }
            if let Ok(array) = any.extract() {
                return Ok(Held::Single(array));
            }
            let half = any.extract().map(Held::Half);
            half.map_err(|_| PyTypeError::new_err("a column is not of floating-point numbers"))
        };
        let columns = self.columns.iter().map(column);
        let columns = columns.collect::<PyResult<Vec<_>>>()?;
        let codes = |array: &Py<PyAny>| -> PyResult<PyReadonlyArray1<'py, i64>> {
            let array = array.bind(py);
            read_in_place(array.cast()?)?;
            array.extract()
        };
        let labels = self.labels.as_ref().map(|(array, _)| codes(array));
        let fields = self.fields.iter().map(|(_, (array, _))| codes(array));
        let held = HeldRows {
            rows: self,
            length: columns.first().map_or(0, Held::len),
            labels: labels.transpose()?,
            fields: fields.collect::<PyResult<_>>()?,
            columns,
        };
        let lengths = held.columns.iter().map(Held::len);
        let lengths = lengths.chain(held.labels.iter().map(|l| l.as_array().len()));
        let lengths = lengths.chain(held.fields.iter().map(|f| f.as_array().len()));
        let mut lengths = lengths.chain(self.entities.iter().map(Vec::len));
        match lengths.find(|n| *n != held.length) {
            Some(other) => Err(PyValueError::new_err(format!(
                "columns of {} and of {other} rows",
                held.length
            ))),
            None => Ok(held),
        }
    }
}

/// That numbers lie where a reference may point.
fn read_in_place(array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    let size = array.dtype().itemsize().max(1) as isize;
    let whole = array.strides().iter().all(|stride| stride % size == 0);
    match array.is_aligned() && whole {
        true => Ok(()),
        false => Err(PyTypeError::new_err("a column is not aligned in memory")),
    }
}

impl Held<'_> {
    fn len(&self) -> usize {
        match self {
            Held::Double(array) => array.as_array().len(),
            Held::Single(array) => array.as_array().len(),
            Held::Half(array) => array.as_array().len(),
        }
    }
}

impl HeldRows<'_> {
    /// The rows from the first on, to be read without the interpreter.
    pub(crate) fn source(&self) -> Source<'_> {
        let rows = self.rows;
        let columns = self.columns.iter().map(|column| match column {
            Held::Double(array) => Column::Double(array.as_array()),
            Held::Single(array) => Column::Single(array.as_array()),
            Held::Half(array) => Column::Half(array.as_array()),
        });
        let names = rows.labels.as_ref().and_then(|(_, names)| names.as_ref());
        // By name: a number would be taken for the name of a class where one is called so.
        let label = |name: &String| Label::Name(name.clone().into());
        let fields = rows.fields.iter().zip(&self.fields);
        Source {
            columns: columns.collect(),
            labels: self.labels.as_ref().map(|labels| labels.as_array()),
            label_names: names.map(|names| names.iter().map(label).collect()),
            classes: rows.classes.as_deref(),
            entities: rows.entities.as_deref(),
            fields: fields
                .map(|((name, (_, values)), codes)| Field {
                    name,
                    codes: codes.as_array(),
                    values: values.iter().map(|value| value.as_str().into()).collect(),
                })
                .collect(),
            length: self.length,
            at: 0,
        }
    }
}

#[derive(Clone)]
enum Column<'a> {
    Double(ArrayView1<'a, f64>),
    Single(ArrayView1<'a, f32>),
    Half(ArrayView1<'a, f16>),
}

#[derive(Clone)]
struct Field<'a> {
    name: &'a str,
    codes: ArrayView1<'a, i64>,
    values: Vec<Arc<str>>,
}

/// Rows on their way into a log; a clone begins where the original is.
#[derive(Clone)]
pub(crate) struct Source<'a> {
    columns: Vec<Column<'a>>,
    labels: Option<ArrayView1<'a, i64>>,
    label_names: Option<Vec<Label<'static>>>,
    classes: Option<&'a [String]>,
    entities: Option<&'a [Option<Arc<str>>]>,
    fields: Vec<Field<'a>>,
    length: usize,
    at: usize,
}

impl Source<'_> {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn class_count(&self) -> usize {
        self.columns.len()
    }

    fn label(&self, row: usize) -> Option<Label<'static>> {
        let code = *self.labels.as_ref()?.get(row)?;
        match (&self.label_names, u64::try_from(code)) {
            _ if code == MISSING => None,
            (Some(names), Ok(code)) => names.get(code as usize).cloned(),
            (None, Ok(code)) => Some(Label::Number(code)),
            (_, Err(_)) => Some(Label::Name(code.to_string().into())),
        }
    }
}

/// The numbers of some rows into their places.
fn copy<T: Copy + Into<f64>>(
    column: &ArrayView1<'_, T>,
    (first, last): (usize, usize),
    places: &mut [f64],
    (class, classes): (usize, usize),
) {
    let cells = (first..last).filter_map(|row| column.get(row));
    for (cell, row) in cells.zip(places.chunks_exact_mut(classes)) {
        if let Some(place) = row.get_mut(class) {
            *place = (*cell).into();
        }
    }
}

impl RowSource for Source<'_> {
    fn classes(&self) -> Option<&[String]> {
        self.classes
    }

    fn fill(&mut self, batch: &mut RowBatch) -> std::io::Result<()> {
        let (start, classes) = (self.at, self.columns.len());
        let end = (start + ROWS_A_BATCH).min(self.length);
        self.at = end;
        batch.half = self.columns.iter().any(|c| matches!(c, Column::Half(_)));
        batch.answers.resize((end - start) * classes, 0.0);
        let blocks = batch.answers.chunks_mut(BLOCK * classes.max(1));
        for (places, first) in blocks.zip((start..end).step_by(BLOCK)) {
            let some = (first, (first + BLOCK).min(end));
            for (class, column) in self.columns.iter().enumerate() {
                match column {
                    Column::Double(column) => copy(column, some, places, (class, classes)),
                    Column::Single(column) => copy(column, some, places, (class, classes)),
                    Column::Half(column) => copy(column, some, places, (class, classes)),
                }
            }
        }
        batch.labels.extend((start..end).map(|row| self.label(row)));
        if let Some(entities) = self.entities {
            let some = entities.get(start..end).unwrap_or_default();
            batch.entities.extend_from_slice(some);
        }
        for field in &self.fields {
            let values = (start..end).map(|row| {
                let code = usize::try_from(*field.codes.get(row)?).ok()?;
                field.values.get(code).cloned()
            });
            let column = batch.fields.entry(field.name.to_string());
            column.or_default().extend(values);
        }
        Ok(())
    }
}

/// Which of a table's columns holds what, found as the command finds them: the positions of the labels, of
/// the names of entities and of the probabilities, and the classes that these name.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a tuple for Python")]
pub(crate) fn columns(
    py: Python<'_>,
    names: Vec<String>,
    label: Option<String>,
    id: Option<String>,
    probabilities: Option<Vec<String>>,
    positive: Option<String>,
) -> PyResult<(
    Option<usize>,
    Option<usize>,
    Vec<usize>,
    Option<Vec<String>>,
)> {
    let wanted = Fields {
        label,
        id,
        probabilities,
        positive,
        ..Fields::default()
    };
    let found = Columns::of_names(names, &wanted, &Limits::default());
    let found = found.map_err(lpf::log::LogError::from).raised(py)?;
    Ok((
        found.label_column(),
        found.id_column(),
        found.answer_columns().to_vec(),
        found.classes().map(<[String]>::to_vec),
    ))
}
