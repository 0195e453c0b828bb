//! From what a row of a log says to a row whose numbers can be used, or to the reason why not.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::brief::brief;
use super::record::{
    ClassNames, Completed, Entity, Evidence, Fault, LoggedUncertainty, Place, Prediction,
    RecordError, listed, position,
};
use crate::latent::GaussianPosterior;
use crate::simplex::{Distribution, SimplexError, validate};

/// The classes that a row shows: by its names, or else by the length of its answer or of a factor.
/// `model` is the number of classes of a model that answers evidence without factors.
pub(super) fn classes_of(prediction: &Prediction<'_>, model: Option<usize>) -> Option<ClassNames> {
    if let Some(names) = &prediction.classes {
        let names = names.iter().map(|name| name.to_string());
        return Some(ClassNames::Named(names.collect()));
    }
    let items = prediction.evidence.as_ref();
    let factor = || items?.iter().find_map(|i| Some(i.factor.as_ref()?.len()));
    let answer = prediction.answer.as_ref().map(Vec::len);
    let count = answer.or_else(factor).or_else(|| items.and(model));
    count.map(ClassNames::Numbered)
}

/// Why a row cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Not JSON, or not the columns of the header.
    Unreadable,
    /// JSON, but not a prediction.
    Shape,
    /// Neither an answer nor factors.
    NoAnswer,
    /// The answer or a factor is not a distribution.
    NotADistribution,
    /// Another number of classes, or other names.
    OtherClasses,
    /// A weight that is negative or not finite.
    Weight,
    /// A posterior that is not Gaussian, or evidence that the model cannot take.
    Posterior,
    /// The factors exclude every class.
    Contradiction,
    /// No label.
    NoLabel,
    /// A label that is not one of the classes.
    UnknownLabel,
}

impl Reason {
    /// The reason in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Reason::Unreadable => "cannot be read",
            Reason::Shape => "not a prediction",
            Reason::NoAnswer => "neither an answer nor factors",
            Reason::NotADistribution => "not a probability distribution",
            Reason::OtherClasses => "other classes than the rest of the log",
            Reason::Weight => "a weight that is negative or not finite",
            Reason::Posterior => "a posterior or embedding that cannot be used",
            Reason::Contradiction => "factors that exclude every class",
            Reason::NoLabel => "no label",
            Reason::UnknownLabel => "a label that is not one of the classes",
        }
    }
}

/// Why a row cannot be used, and where in it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{field}: {message}")]
#[non_exhaustive]
pub struct RowError {
    /// The kind of error.
    pub reason: Reason,
    /// Where in the row: `evidence[2].factor[1]`, or a column.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// For numbers that are not a distribution: their sum, and the entity's name.
    pub invalid: Option<(f64, String)>,
}

impl RowError {
    /// An error without further numbers.
    pub fn new(reason: Reason, field: impl Into<String>, message: impl Into<String>) -> Self {
        RowError {
            reason,
            field: brief(&field.into()).into_owned(),
            message: brief(&message.into()).into_owned(),
            invalid: None,
        }
    }

    /// There is neither an answer nor evidence that one could be computed from.
    pub fn no_answer(answer_field: &str) -> Self {
        let what = format!("there is neither {answer_field} nor evidence with factors");
        RowError::new(Reason::NoAnswer, answer_field, what)
    }

    /// Numbers that are not a distribution.
    pub fn not_a_distribution(field: &str, error: &SimplexError) -> Self {
        RowError::new(Reason::NotADistribution, field, error.to_string())
    }

    /// An error of parsing a line whose answer is in the field `answer`.
    pub(super) fn of_record(error: &RecordError, answer: &str) -> Self {
        let in_answer = error.place.field == Some("probs");
        let place = error.place.to_string();
        let field = match in_answer {
            true => place.replacen("probs", answer, 1),
            false => place,
        };
        let reason = match error.fault {
            // Python writes NaN into JSON: not JSON, but its meaning is known.
            Fault::NotJsonNumber { .. } if in_answer => Reason::NotADistribution,
            Fault::NotUtf8 { .. } | Fault::Syntax { .. } | Fault::NotJsonNumber { .. } => {
                Reason::Unreadable
            }
            _ => Reason::Shape,
        };
        let mut row = RowError::new(reason, field, error.fault.to_string());
        if reason == Reason::NotADistribution {
            row.invalid = Some((f64::NAN, String::new()));
        }
        row
    }
}

/// What rows of one log are checked against.
#[derive(Clone, Copy, Debug)]
pub struct RowRules<'a> {
    /// The classes of the log.
    pub classes: &'a ClassNames,
    /// How far the sum of a distribution may be from one.
    pub tolerance: f64,
    /// What messages call the answer.
    pub answer_field: &'a str,
}

/// A row whose numbers are valid.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row<'a> {
    /// Name of the entity; empty where it has none.
    pub id: Cow<'a, str>,
    /// The answer as logged, its entries in `[0, 1]`; `None` where there are only factors.
    pub answer: Option<Vec<f64>>,
    /// Position of the true class.
    pub label: Result<usize, RowError>,
    /// The evidence behind the answer, where all items have factors; without posteriors.
    pub evidence: Option<Entity<'a>>,
    /// What else was logged of each item.
    pub items: Vec<LoggedItem>,
    /// Sampled distributions, row by row.
    pub samples: Option<Vec<f64>>,
    /// What was logged about their spread.
    pub uncertainty: Option<LoggedUncertainty>,
}

/// What was logged of one item beside its factor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoggedItem {
    /// Its posterior: logged, or computed by a model from its embedding.
    pub posterior: Option<GaussianPosterior>,
    /// Its weight, where one was logged.
    pub weight: Option<f64>,
}

impl<'a> Prediction<'a> {
    /// The posteriors that were logged with the items.
    ///
    /// # Errors
    /// The first that is not Gaussian.
    pub fn posteriors(&self) -> Result<Vec<Option<Completed>>, RecordError> {
        let items = self.evidence.iter().flatten().enumerate();
        let posterior = |(i, item): (usize, &Evidence<'_>)| {
            let logged = item.posterior(i)?;
            Ok(logged.map(|posterior| Completed {
                posterior,
                factor: None,
                weight: 1.0,
            }))
        };
        items.map(posterior).collect()
    }

    /// Checks a row. `complete` says what is known of its items beside what was logged, one entry an
    /// item: posteriors, and factors and weights for items without; [`Prediction::posteriors`] takes
    /// the posteriors that were logged.
    ///
    /// # Errors
    /// The first thing that is wrong, in the order classes, answer, evidence, samples. A missing or
    /// unknown label is not an error of the row: see [`Row::label`].
    pub fn check(
        mut self,
        rules: RowRules<'_>,
        complete: impl FnOnce(&Prediction<'a>) -> Result<Vec<Option<Completed>>, RecordError>,
    ) -> Result<Row<'a>, RowError> {
        let RowRules {
            classes,
            tolerance,
            answer_field,
        } = rules;
        let n = classes.len();
        let id = self.entity.clone().unwrap_or_default();
        if let Some(names) = &self.classes
            && !(names.len() == n && names.iter().enumerate().all(|(i, x)| *x == classes.name(i)))
        {
            let names: Vec<_> = (0..n).map(|i| classes.name(i)).collect();
            let message = format!("not {}, the classes of the log", names.join(", "));
            return Err(RowError::new(Reason::OtherClasses, "classes", message));
        }
        let invalid = |field: String, error: &SimplexError, values: &[f64]| RowError {
            invalid: Some((values.iter().sum(), id.to_string())),
            ..RowError::not_a_distribution(&field, error)
        };
        let counted = |field: &str, found: usize| {
            if found == n {
                return Ok(());
            }
            let message = format!("{found} numbers, but there are {n} classes");
            Err(RowError::new(Reason::OtherClasses, field, message))
        };
        let mut answer = self.answer.take();
        if let Some(values) = &mut answer {
            counted(answer_field, values.len())?;
            if !plainly_valid(values, tolerance) {
                validate(values, &tolerance).map_err(|e| {
                    let place = e.index().map_or(String::new(), |i| format!("[{i}]"));
                    invalid(format!("{answer_field}{place}"), &e, values)
                })?;
                // An entry above one by less than the tolerance: rounded on its way here.
                if values.iter().any(|&p| p > 1.0) {
                    let copy = std::mem::take(values);
                    *values = Distribution::from_weights(copy)
                        .map(Distribution::into_vec)
                        .map_err(|e| invalid(answer_field.to_string(), &e, &[]))?;
                }
            }
        }
        let completed = complete(&self).map_err(|error| {
            let reason = match error.place.field {
                Some("classes") => Reason::OtherClasses,
                _ => Reason::Posterior,
            };
            RowError::new(reason, error.place.to_string(), error.fault.to_string())
        })?;
        let logged = self.evidence.take().unwrap_or_default();
        let pairs = || logged.iter().zip(&completed);
        let items: Vec<LoggedItem> = pairs()
            .map(|(item, made)| LoggedItem {
                posterior: made.as_ref().map(|made| made.posterior.clone()),
                weight: item.weight,
            })
            .collect();
        let mut factors = pairs().map(|(item, made)| {
            item.factor.is_some() || made.as_ref().is_some_and(|made| made.factor.is_some())
        });
        let evidence = if !logged.is_empty() && factors.all(|has| has) {
            let (factors, weights) = factors_of(&logged, completed, tolerance, &counted, &invalid)?;
            Some(Entity {
                name: id.clone(),
                classes: classes.clone(),
                label: None,
                ids: logged.into_iter().map(|item| item.id).collect(),
                factors,
                weights,
                posteriors: Vec::new(),
            })
        } else {
            None
        };
        if answer.is_none() && evidence.is_none() {
            return Err(RowError::no_answer(answer_field));
        }
        let mut samples = None;
        if let Some(rows) = &self.samples {
            let mut flat = Vec::with_capacity(rows.len() * n);
            for (i, row) in rows.iter().enumerate() {
                counted("samples", row.len())?;
                let row = Distribution::from_rounded(row.clone(), &tolerance)
                    .map_err(|e| invalid(format!("samples[{i}]"), &e, row))?;
                flat.extend_from_slice(row.probabilities());
            }
            samples = Some(flat).filter(|flat| !flat.is_empty());
        }
        let label = match &self.label {
            None => Err(RowError::new(Reason::NoLabel, "label", "missing")),
            Some(label) => position(label, classes)
                .map_err(|()| {
                    let what = format!("{label} is not one of the classes {}", listed(classes));
                    RowError::new(Reason::UnknownLabel, "label", what)
                })
                .and_then(|class| {
                    let what = "is a name, but the classes have none; name the classes";
                    let unnamed =
                        || RowError::new(Reason::UnknownLabel, "label", format!("{label} {what}"));
                    class.ok_or_else(unnamed)
                }),
        };
        Ok(Row {
            answer,
            label,
            evidence,
            items,
            samples,
            uncertainty: self.uncertainty,
            id,
        })
    }
}

/// The common case without a sort: all in `[0, 1]`, and the sum closer to one than any order of
/// summation could make it differ from what [`validate`] finds.
fn plainly_valid(values: &[f64], tolerance: f64) -> bool {
    let sum: f64 = values.iter().sum();
    let rounding = values.len() as f64 * f64::EPSILON;
    values.iter().all(|p| (0.0..=1.0).contains(p)) && (sum - 1.0).abs() <= tolerance - rounding
}

/// The factors of all items, and their weights.
fn factors_of(
    items: &[Evidence<'_>],
    completed: Vec<Option<Completed>>,
    tolerance: f64,
    counted: &dyn Fn(&str, usize) -> Result<(), RowError>,
    invalid: &dyn Fn(String, &SimplexError, &[f64]) -> RowError,
) -> Result<(Vec<Distribution>, Vec<f64>), RowError> {
    let (mut factors, mut weights) = (Vec::new(), Vec::new());
    for (index, (item, made)) in items.iter().zip(completed).enumerate() {
        let (drawn, confidence) = made.map_or((None, 1.0), |made| (made.factor, made.weight));
        factors.push(match (&item.factor, drawn) {
            (None, Some(factor)) => factor,
            (values, _) => {
                let values = values.as_deref().unwrap_or_default();
                let place = Place::item_field(index, "factor").to_string();
                counted(&place, values.len())?;
                let factor = Distribution::from_rounded(values.to_vec(), &tolerance);
                factor.map_err(|error| invalid(place, &error, values))?
            }
        });
        let weight = item.weight.unwrap_or(confidence);
        if !(weight >= 0.0 && weight.is_finite()) {
            let place = Place::item_field(index, "weight").to_string();
            let message = format!("{weight:?}; a weight is finite and not negative");
            return Err(RowError::new(Reason::Weight, place, message));
        }
        weights.push(weight);
    }
    Ok((factors, weights))
}
