//! From what a row of a log says to a row whose numbers can be used, or to the reason why not.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::brief::brief;
use super::record::{
    ClassNames, Completed, Entity, Evidence, Fault, JsonLayout, Label, LoggedUncertainty, Place,
    Prediction, RecordError, listed, position,
};
use super::tolerance::Tolerance;
use crate::latent::GaussianPosterior;
use crate::simplex::{Distribution, SimplexError, validate};

/// The classes that a row shows: by its names, or else by the length of its answer or of a factor; 0 and 1
/// where there is only the probability of the positive class.
/// `model` is the number of classes of a model that answers evidence without factors.
pub(super) fn classes_of(prediction: &Prediction<'_>, model: Option<usize>) -> Option<ClassNames> {
    if let Some(names) = prediction.classes.as_ref().or(prediction.keys.as_ref()) {
        let names = names.iter().map(|name| name.to_string());
        return Some(ClassNames::Named(names.collect()));
    }
    if prediction.binary {
        let names = ["0".to_string(), "1".to_string()];
        return Some(ClassNames::Named(names.as_slice().into()));
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
    /// No answer, or nothing that one could be computed from.
    NoAnswer,
    /// The answer or a factor is not a distribution.
    NotADistribution,
    /// Something else than numbers where the answer belongs.
    NotNumbers,
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
    /// Whether rows that are left out for this reason are left out for what stands in them: the others are
    /// then no fair sample of the log. An outcome that is not known yet is no such reason, nor is evidence
    /// that the answer was not computed from here.
    pub fn selects(self) -> bool {
        !matches!(self, Reason::NoLabel | Reason::Weight | Reason::Posterior)
    }

    /// The reason in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Reason::Unreadable => "cannot be read",
            Reason::Shape => "not a prediction",
            Reason::NoAnswer => "no answer",
            Reason::NotADistribution => "not a probability distribution",
            Reason::NotNumbers => "something else where probabilities belong",
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

    /// There is no answer, and perhaps no evidence that one could be computed from.
    pub fn no_answer(rules: RowRules<'_>) -> Self {
        let field = rules.answer_field;
        let what = match rules.from_evidence {
            true => format!("there is neither {field} nor evidence with factors"),
            false => "missing; the setting `probs` names the field of the answer, the setting \
                      `answer-from-evidence` has the evidence answered"
                .to_string(),
        };
        RowError::new(Reason::NoAnswer, field, what)
    }

    /// Numbers that are not a distribution.
    pub fn not_a_distribution(field: &str, error: &SimplexError) -> Self {
        RowError::new(Reason::NotADistribution, field, error.to_string())
    }

    /// An answer that is none, for this reason; it is no distribution in any case.
    pub(super) fn of_answer(
        reason: Reason,
        field: impl Into<String>,
        what: impl Into<String>,
    ) -> Self {
        RowError {
            invalid: Some((f64::NAN, String::new())),
            ..RowError::new(reason, field, what)
        }
    }

    /// An error of parsing a line with these fields.
    pub(super) fn of_record(error: &RecordError, layout: &JsonLayout) -> Self {
        let in_answer = error.place.field == Some("probs");
        let place = error.place.to_string();
        let field = match (error.place, &layout.classes) {
            (Place { item: Some(at), .. }, Some(_)) if in_answer => {
                layout.answer.get(at).cloned().unwrap_or(place)
            }
            _ if in_answer => {
                let answer = layout.answer.first().map_or("probs", |name| name);
                place.replacen("probs", answer, 1)
            }
            (
                Place {
                    field: Some("label"),
                    ..
                },
                _,
            ) => layout.label.clone(),
            _ => place,
        };
        let what = error.fault.to_string();
        match error.fault {
            // Python writes NaN into JSON: not JSON, but its meaning is known.
            Fault::NotJsonNumber { .. } if in_answer => {
                RowError::of_answer(Reason::NotADistribution, field, what)
            }
            Fault::NotUtf8 { .. } | Fault::Syntax { .. } | Fault::NotJsonNumber { .. } => {
                RowError::new(Reason::Unreadable, field, what)
            }
            _ if in_answer => RowError::of_answer(Reason::NotNumbers, field, what),
            _ => RowError::new(Reason::Shape, field, what),
        }
    }
}

/// What rows of one log are checked against.
#[derive(Clone, Copy, Debug)]
pub struct RowRules<'a> {
    /// The classes of the log.
    pub classes: &'a ClassNames,
    /// How far the sum of a distribution may be from one.
    pub tolerance: Tolerance,
    /// What messages call the answer.
    pub answer_field: &'a str,
    /// What messages call the true class.
    pub label_field: &'a str,
    /// Whether rows without an answer get the one that follows from their evidence.
    pub from_evidence: bool,
}

/// A row whose numbers are valid.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row<'a> {
    /// Name of the entity; empty where it has none.
    pub id: Cow<'a, str>,
    /// The answer as logged, its entries in `[0, 1]`; `None` where there are only factors.
    pub answer: Option<Vec<f64>>,
    /// How far the sum of the answer may be from one.
    pub tolerance: f64,
    /// Whether only the probability of the positive class was logged.
    pub single: bool,
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
            tolerance: allowed,
            answer_field,
            ..
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
        if let (Some(values), Some(keys)) = (&mut answer, &self.keys) {
            *values = in_order(values, keys, classes, answer_field)?;
        }
        let mut tolerance = allowed.least();
        if let Some(values) = &mut answer {
            counted(answer_field, values.len())?;
            if let (true, [_, p]) = (self.binary, values.as_slice())
                && !(0.0..=1.0).contains(p)
            {
                let what = format!("{p:?} is not a probability");
                let error = RowError::new(Reason::NotADistribution, answer_field, what);
                return Err(RowError {
                    invalid: Some((f64::NAN, id.to_string())),
                    ..error
                });
            }
            if !plainly_valid(values, tolerance) {
                tolerance = allowed.of(values, self.half);
            }
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
            let (factors, weights) = factors_of(&logged, completed, allowed, &counted, &invalid)?;
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
        if answer.is_none() && (evidence.is_none() || !rules.from_evidence) {
            return Err(RowError::no_answer(rules));
        }
        let mut samples = None;
        if let Some(rows) = &self.samples {
            let mut flat = Vec::with_capacity(rows.len() * n);
            for (i, row) in rows.iter().enumerate() {
                counted("samples", row.len())?;
                let row = Distribution::from_rounded(row.clone(), &allowed.of(row, false))
                    .map_err(|e| invalid(format!("samples[{i}]"), &e, row))?;
                flat.extend_from_slice(row.probabilities());
            }
            samples = Some(flat).filter(|flat| !flat.is_empty());
        }
        let label = label_of(self.label.as_ref(), classes, self.binary, rules.label_field);
        Ok(Row {
            single: self.binary && answer.is_some(),
            answer,
            tolerance,
            label,
            evidence,
            items,
            samples,
            uncertainty: self.uncertainty,
            id,
        })
    }
}

/// The position of the true class.
fn label_of(
    label: Option<&Label<'_>>,
    classes: &ClassNames,
    single: bool,
    field: &str,
) -> Result<usize, RowError> {
    let Some(label) = label else {
        return Err(RowError::new(Reason::NoLabel, field, "missing"));
    };
    let wrong = |what: String| RowError::new(Reason::UnknownLabel, field, what);
    match position(label, classes) {
        Ok(Some(class)) => Ok(class),
        Ok(None) => Err(wrong(format!(
            "{label} is a name, but the classes have none; name them with the setting `classes`"
        ))),
        Err(()) => {
            let number = match label {
                Label::Name(name) => name.parse::<f64>().ok(),
                Label::Number(_) => None,
            };
            let hint = match number {
                Some(x) if x.fract() != 0.0 => {
                    "; numbers that are no classes are not audited (regression)"
                }
                None if single && are_positions(classes) => {
                    "; the setting `positive` names the class that the probability is of"
                }
                None if matches!(label, Label::Name(_)) && are_positions(classes) => {
                    "; the setting `classes` names them, in the order of the probabilities"
                }
                _ => "",
            };
            let classes = listed(classes);
            Err(wrong(format!(
                "{label} is not one of the classes {classes}{hint}"
            )))
        }
    }
}

/// Whether classes are called by their positions.
fn are_positions(classes: &ClassNames) -> bool {
    (0..classes.len()).all(|i| *classes.name(i) == *i.to_string())
}

/// Where each of many names stands: looking for one after the other would take the square of their number.
fn places(classes: &ClassNames) -> Option<HashMap<&str, usize>> {
    /// Of so few, comparing is faster.
    const FEW: usize = 16;
    match classes {
        ClassNames::Named(names) if names.len() > FEW => {
            let names = names.iter().enumerate().rev();
            Some(names.map(|(i, name)| (name.as_str(), i)).collect())
        }
        _ => None,
    }
}

/// Numbers that were logged by the names of their classes, in the order of the classes.
fn in_order(
    values: &[f64],
    keys: &[Cow<'_, str>],
    classes: &ClassNames,
    field: &str,
) -> Result<Vec<f64>, RowError> {
    let wrong = |what: String| RowError::new(Reason::OtherClasses, field, what);
    let mut out = vec![None; classes.len()];
    let places = places(classes);
    for (key, value) in keys.iter().zip(values) {
        let known = places
            .as_ref()
            .and_then(|places| places.get(&**key).copied());
        let class = known.or_else(|| {
            let found = position(&Label::Name(Cow::Borrowed(key)), classes);
            found.ok().flatten()
        });
        match class.and_then(|class| out.get_mut(class)) {
            Some(slot) if slot.is_none() => *slot = Some(*value),
            _ => {
                let key = brief(key);
                let classes = listed(classes);
                return Err(wrong(format!(
                    "{key:?} is not one of the classes {classes}"
                )));
            }
        }
    }
    match out.iter().position(Option::is_none) {
        Some(class) => Err(wrong(format!("no probability of {}", classes.name(class)))),
        None => Ok(out.into_iter().flatten().collect()),
    }
}

/// The common case without a sort: all in `[0, 1]`, and the sum closer to one than any order of
/// summation could make it differ from what [`validate`] finds.
pub(super) fn plainly_valid(values: &[f64], tolerance: f64) -> bool {
    let sum: f64 = values.iter().sum();
    let rounding = values.len() as f64 * f64::EPSILON;
    values.iter().all(|p| (0.0..=1.0).contains(p)) && (sum - 1.0).abs() <= tolerance - rounding
}

/// The factors of all items, and their weights.
fn factors_of(
    items: &[Evidence<'_>],
    completed: Vec<Option<Completed>>,
    tolerance: Tolerance,
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
                let tolerance = tolerance.of(values, false);
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
