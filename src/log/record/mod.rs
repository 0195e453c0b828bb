//! One entity with its evidence, as a line of a `.jsonl` file.
//!
//! ```json
//! {"entity": "C5", "label": "medium", "evidence": [{"id": "e1", "factor": [0.1, 0.8, 0.1], "weight": 0.4}]}
//! ```
//!
//! | field | meaning | when absent |
//! |---|---|---|
//! | `entity` | name, a string or a whole number | an error |
//! | `evidence` | list of items | an error |
//! | `evidence[i].factor` | probabilities, one a class | computed by a model from one of the next rows |
//! | `evidence[i].embedding` | numbers, as many as the model's encoder takes | none |
//! | `evidence[i].mu`, with `sigma` or `cov` | a Gaussian over the latent space: mean, and standard deviations or covariance (a list of rows) | none |
//! | `evidence[i].weight` | finite, `≥ 0` | 1 |
//! | `evidence[i].id` | a string or `null` | none |
//! | `label` | the true class: its name, or its position as a whole number, a truth value, or `null` | none |
//! | `classes` | names of the classes, in the order of `factor` | classes are numbered from 0 |
//!
//! Other fields are ignored. A field of the table that is given twice is an error: no reading of
//! such a line is the right one.

mod entity;
mod parse;
mod plain;
mod posterior;
mod prediction;

use std::borrow::Cow;
use std::fmt;

pub use entity::{ClassNames, Completed, DEFAULT_TOLERANCE, Entity, Expectations, check_names};
pub(super) use entity::{canonical, listed, position};
pub(super) use parse::OF_COLUMNS;
pub(super) use prediction::OWN_FIELDS;
pub use prediction::{Given, JsonLayout, LoggedUncertainty, Prediction};

use super::brief::brief_name;
use crate::simplex::SimplexError;

/// What a line says, before it is known whether it makes sense.
///
/// ```
/// use lpf::{Answerer, Method, Record};
///
/// let line = br#"{"entity": "C5", "label": 1, "evidence": [{"factor": [0.25, 0.75]}]}"#;
/// let record = Record::parse(line)?;
/// assert_eq!(record.evidence[0].factor, Some(vec![0.25, 0.75]));
/// let answer = Answerer::builder(Method::Spn).build()?.answer_record(record)?;
/// assert_eq!(answer.label, Some(1));
/// # Ok::<(), lpf::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Record<'a> {
    /// Name of the entity.
    pub entity: Cow<'a, str>,
    /// The true class, where it is known.
    pub label: Option<Label<'a>>,
    /// Names of the classes, where the record has them.
    pub classes: Option<Vec<Cow<'a, str>>>,
    /// The evidence, in the order of the file.
    pub evidence: Vec<Evidence<'a>>,
}

/// One item of evidence.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Evidence<'a> {
    /// Name of the item, where it has one.
    pub id: Option<Cow<'a, str>>,
    /// Its weight, where it has one.
    pub weight: Option<f64>,
    /// Its probabilities, one a class, where it has them.
    pub factor: Option<Vec<f64>>,
    /// Its embedding, where it has one.
    pub embedding: Option<Vec<f64>>,
    /// The mean of its posterior, where it has one.
    pub mu: Option<Vec<f64>>,
    /// The standard deviations of its posterior.
    pub sigma: Option<Vec<f64>>,
    /// The covariance of its posterior, row by row.
    pub cov: Option<Vec<Vec<f64>>>,
}

/// The true class of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label<'a> {
    /// By name.
    Name(Cow<'a, str>),
    /// By position, from 0.
    Number(u64),
}

impl Label<'_> {
    /// The label that a number is: a position where it is whole and not negative, otherwise what it is
    /// called.
    pub(crate) fn of_number(number: f64) -> Self {
        // All whole numbers up to here are doubles.
        match (0.0..9_007_199_254_740_992.0).contains(&number) && number.fract() == 0.0 {
            true => Label::Number(number as u64),
            false => Label::Name(Cow::Owned(number.to_string())),
        }
    }
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Name(name) => write!(f, "{:?}", brief_name(name)),
            Label::Number(number) => number.fmt(f),
        }
    }
}

/// A place in a record, shown as a path: `evidence[2].factor[1]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Field of the record; none for the line as a whole.
    pub field: Option<&'static str>,
    /// Position in the field's list.
    pub item: Option<usize>,
    /// Field of that item.
    pub item_field: Option<&'static str>,
    /// Position in that field's list.
    pub element: Option<usize>,
}

impl Place {
    /// The line as a whole.
    pub const LINE: Place = Place {
        field: None,
        item: None,
        item_field: None,
        element: None,
    };

    /// A field of the record.
    pub const fn field(name: &'static str) -> Place {
        Place {
            field: Some(name),
            ..Place::LINE
        }
    }

    /// An item of evidence.
    pub const fn item(index: usize) -> Place {
        Place {
            item: Some(index),
            ..Place::field("evidence")
        }
    }

    /// A field of an item of evidence.
    pub const fn item_field(index: usize, name: &'static str) -> Place {
        Place {
            item_field: Some(name),
            ..Place::item(index)
        }
    }

    /// The same place, one step further in.
    pub const fn at(self, index: usize) -> Place {
        match self.item_field {
            Some(_) => Place {
                element: Some(index),
                ..self
            },
            None => Place {
                item: Some(index),
                ..self
            },
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.field.unwrap_or("line"))?;
        if let Some(item) = self.item {
            write!(f, "[{item}]")?;
        }
        if let Some(name) = self.item_field {
            write!(f, ".{name}")?;
        }
        if let Some(element) = self.element {
            write!(f, "[{element}]")?;
        }
        Ok(())
    }
}

/// What is wrong with a record, and where in it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct RecordError {
    /// The field, as a path.
    pub place: Place,
    /// What is wrong with it.
    pub fault: Fault,
}

impl RecordError {
    /// Something of another kind than is needed in this place.
    pub(crate) fn shape(place: Place, what: impl Into<String>) -> Self {
        let fault = Fault::Shape(what.into());
        RecordError { place, fault }
    }
}

/// What can be wrong with a record.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum Fault {
    /// The line is not UTF-8.
    #[error("not UTF-8 text: byte {byte} does not fit")]
    NotUtf8 {
        /// The first byte that does not fit, counted from 1.
        byte: usize,
    },
    /// The line is not JSON.
    #[error("not JSON: {what} (column {column})")]
    Syntax {
        /// Where the reader stopped, in bytes counted from 1.
        column: usize,
        /// What it found.
        what: String,
    },
    /// `NaN` or `Infinity`, which some programs write although JSON has no such numbers.
    #[error("not JSON: NaN and Infinity are not JSON numbers (column {column})")]
    NotJsonNumber {
        /// Where it stands, in bytes counted from 1.
        column: usize,
    },
    /// JSON of another kind than is needed here, or a field that is given twice.
    #[error("{0}")]
    Shape(String),
    /// A required field is missing.
    #[error("missing")]
    Missing,
    /// An item has no factor.
    #[error("missing; evidence without a factor (an embedding or a posterior) needs a model")]
    NoFactor,
    /// There are no items.
    #[error("there is no evidence; give at least one item")]
    NoEvidence,
    /// Class names that are empty, repeated or none at all.
    #[error("{0}")]
    ClassNames(&'static str),
    /// Not a probability distribution.
    #[error("{}", simplex(.0))]
    Simplex(SimplexError),
    /// Another number of classes than elsewhere.
    #[error("{found} classes, but {set_by} has {expected}")]
    ClassCount {
        expected: usize,
        found: usize,
        set_by: &'static str,
    },
    /// A weight that is NaN, infinite or negative.
    #[error("{0:?}; a weight is finite and not negative")]
    Weight(f64),
    /// A label that is not one of the classes.
    #[error("{label} is not one of the classes {classes}")]
    UnknownClass { label: String, classes: String },
}

/// A negative entry is said without its position, which the place already names.
fn simplex(error: &SimplexError) -> String {
    match error {
        SimplexError::Negative { value, .. } => {
            format!("{value:?} is below zero; a probability is not")
        }
        error => error.to_string(),
    }
}
