//! What is said about an entity.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::aggregate::Method;
use crate::log::ClassNames;
use crate::simplex::Distribution;
use crate::uncertainty::{EntropyParts, Uncertainty, VarianceParts};

/// What is known about one entity in the end.
///
/// Its JSON form is a line of `lpf infer`.
///
/// ```
/// use lpf::{Answerer, Method};
///
/// let answerer = Answerer::builder(Method::Uniform).influence(true).build()?;
/// let answer = answerer.answer(
///     r#"{"entity": "C5", "evidence": [{"id": "x", "factor": [1, 0]}, {"factor": [0.5, 0.5]}]}"#,
/// )?;
/// assert_eq!(answer.distribution.probabilities(), [0.75, 0.25]);
/// assert_eq!((answer.prediction.index(), answer.confidence), (0, 0.75));
/// assert_eq!(answer.k_eff, Some(2.0));
/// // Without the first item the answer is (1/2, 1/2): |3/4 − 1/2| + |1/4 − 1/2|.
/// assert_eq!(answer.items.unwrap()[0].influence, Some(0.5));
/// # Ok::<(), lpf::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The name of the entity.
    pub entity: String,
    /// The method that combined the evidence.
    #[serde(serialize_with = "name_of")]
    pub method: Method,
    /// The probability of each class, after the calibration map where there is one.
    pub distribution: Distribution,
    /// The class that is predicted.
    pub prediction: Class,
    /// The probability that the prediction is right.
    pub confidence: f64,
    /// The prediction set, where the calibration map gives one: the classes that it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<Vec<Class>>,
    /// The method of the calibration map, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<&'static str>,
    /// Kish's effective number of items, `(Σ w)²/Σ w²`; none where all weights are zero.
    pub k_eff: Option<f64>,
    /// With a model, if every item has a posterior: how the uncertainty splits.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "split_of")]
    pub uncertainty: Option<Uncertainty>,
    /// The items with their influence, if asked for.
    #[serde(rename = "evidence", skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<Item>>,
    /// The classes that the distribution is over.
    #[serde(skip)]
    pub classes: ClassNames,
    /// Position of the true class, where the record has a label.
    #[serde(skip)]
    pub label: Option<usize>,
}

/// One item of evidence and what it does to the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Item {
    /// The name of the item, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its factor.
    pub factor: Distribution,
    /// Its weight; the attention that it gets where the aggregation is learned.
    pub weight: f64,
    /// How far the answer moves without it: the L1 distance, in `[0, 2]` up to rounding; none
    /// where nothing is left without it.
    pub influence: Option<f64>,
}

/// A class: its position, and its name where classes have names. Displayed, and serialized, as its
/// name or else its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    index: usize,
    classes: ClassNames,
}

impl Class {
    pub(super) fn new(index: usize, classes: ClassNames) -> Self {
        Class { index, classes }
    }

    /// The position of the class in a distribution, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The name of the class, where classes have names.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.classes {
            ClassNames::Named(names) => names.get(self.index).map(String::as_str),
            ClassNames::Numbered(_) => None,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => self.index.fmt(f),
        }
    }
}

impl Serialize for Class {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.name() {
            Some(name) => serializer.serialize_str(name),
            None => self.index.serialize(serializer),
        }
    }
}

fn name_of<S: Serializer>(method: &Method, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(method.name())
}

/// Variances of the prediction and, in nats, the information that more evidence could give.
#[derive(Serialize)]
struct Split {
    total: f64,
    epistemic: f64,
    aleatoric: f64,
    mutual_information: f64,
}

impl Split {
    fn of(variance: &VarianceParts, entropy: &EntropyParts) -> Self {
        Split {
            total: variance.total,
            epistemic: variance.epistemic,
            aleatoric: variance.aleatoric,
            mutual_information: entropy.mutual_information,
        }
    }
}

fn split_of<S: Serializer>(
    uncertainty: &Option<Uncertainty>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let Some(found) = uncertainty else {
        return serializer.serialize_none();
    };
    let errors = found.standard_errors.as_ref();
    let errors = errors.map(|errors| Split::of(&errors.variance, &errors.entropy));
    let parts = Split::of(&found.variance, &found.entropy);
    let fields = 5 + usize::from(errors.is_some());
    let mut out = serializer.serialize_struct("Uncertainty", fields)?;
    out.serialize_field("total", &parts.total)?;
    out.serialize_field("epistemic", &parts.epistemic)?;
    out.serialize_field("aleatoric", &parts.aleatoric)?;
    out.serialize_field("mutual_information", &parts.mutual_information)?;
    if let Some(errors) = &errors {
        out.serialize_field("standard_errors", errors)?;
    }
    out.serialize_field("samples", &found.samples)?;
    out.end()
}
