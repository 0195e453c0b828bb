//! From a record to its answer.

use std::borrow::Cow;
use std::sync::Arc;

use super::latent::{MOST_EXPLAINED, learned, learned_influence, posteriors, uncertainty};
use super::{Answer, AnswererBuilder, Class, Item};
use crate::aggregate::{AggregateError, LeaveOneOut, Method, aggregate, leave_one_out};
use crate::bounds::effective_count;
use crate::calibration::Calibrated;
use crate::error::{Error, Result};
use crate::log::{
    ClassNames, Completed, Entity, Evidence, Expectations, Fault, Limits, Place, Record,
    RecordError,
};
use crate::model::{CalibrationFile, LatentModel};
use crate::simplex::{Contradiction, Distribution, PoolError};

/// Answers questions: combines the evidence about an entity into one [`Answer`].
///
/// Everything is checked when it is [built](Answerer::builder); what can go wrong later is in the
/// records. The same record gives the same bits, whatever the order of its evidence, the number of
/// threads and the other records. Cloning is cheap.
///
/// ```
/// use lpf::{Answerer, Method};
///
/// let answerer = Answerer::builder(Method::Spn)
///     .classes(["low", "medium", "high"])
///     .build()?;
/// let line = r#"{"entity": "C5", "evidence": [
///     {"factor": [0.1, 0.8, 0.1], "weight": 0.4}, {"factor": [0.2, 0.5, 0.3]}]}"#;
/// let answer = answerer.answer(line)?;
/// assert_eq!(answer.prediction.name(), Some("medium"));
/// // 0.8^0.4 · 0.5 over the sum of 0.1^0.4 · 0.2, 0.8^0.4 · 0.5 and 0.1^0.4 · 0.3.
/// assert!((answer.confidence - 0.6967).abs() < 1e-4);
/// # Ok::<(), lpf::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Answerer {
    pub(super) method: Method,
    pub(super) expect: Expectations,
    /// As set; the model may have one too.
    pub(super) given_prior: Option<Distribution>,
    pub(super) latent: Option<Arc<LatentModel>>,
    /// SHA-256 of the model's file.
    pub(super) digest: Option<String>,
    pub(super) calibration: Option<Arc<CalibrationFile>>,
    pub(super) influence: bool,
    pub(super) limits: Limits,
}

impl Answerer {
    /// Settings, to be completed and built.
    pub fn builder(method: Method) -> AnswererBuilder {
        AnswererBuilder::new(method)
    }

    /// The same with another method; a prior that was set is kept for the method that uses it.
    ///
    /// # Errors
    /// Of kind [`Setting`](crate::ErrorKind::Setting) where the method needs what is missing.
    pub fn with_method(&self, method: Method) -> Result<Self> {
        let other = Answerer {
            method,
            ..self.clone()
        };
        other.checked()
    }

    /// That the method has what it needs.
    pub(super) fn checked(self) -> Result<Self> {
        if self.method == Method::PriorCorrected && self.prior().is_none() {
            let what = "missing; method prior-corrected needs a prior, or a model that has one";
            return Err(Error::setting("prior", what));
        }
        let model = self.latent().map(LatentModel::model);
        if self.method == Method::Learned && model.is_none_or(|model| model.aggregator.is_none()) {
            let what = match model {
                None => "missing; method learned needs a model with a learned aggregator",
                Some(_) => "has no learned aggregator, which method learned needs",
            };
            return Err(Error::setting("model", what));
        }
        // The theorem behind robust sets is about weighted products of factors.
        let product = matches!(self.method, Method::Spn | Method::PriorCorrected);
        let sets = self.calibration().and_then(|file| file.map.sets());
        if sets.is_some_and(|sets| sets.settings().robust.is_some()) && !product {
            let what = format!(
                "its sets withstand corrupted evidence with method spn or prior-corrected only, not {}",
                self.method
            );
            return Err(Error::setting("calibration", what));
        }
        Ok(self)
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// The names of the classes, where they are the same for all records.
    #[must_use]
    pub fn classes(&self) -> Option<&[String]> {
        self.expect.classes.as_deref()
    }

    /// The prior that the method uses: none unless it is [`Method::PriorCorrected`].
    #[must_use]
    pub fn prior(&self) -> Option<&Distribution> {
        let given = self.given_prior.as_ref();
        let known = || self.latent.as_ref()?.model().prior.as_ref();
        let used = self.method == Method::PriorCorrected;
        given.or_else(known).filter(|_| used)
    }

    /// The model, where there is one.
    #[must_use]
    pub fn latent(&self) -> Option<&LatentModel> {
        self.latent.as_deref()
    }

    /// SHA-256 of the model's file, where there is a model.
    #[must_use]
    pub fn model_digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// The calibration map, where there is one.
    #[must_use]
    pub fn calibration(&self) -> Option<&CalibrationFile> {
        self.calibration.as_deref()
    }

    /// What is expected of every record.
    #[must_use]
    pub fn expectations(&self) -> &Expectations {
        &self.expect
    }

    /// How much is taken in of records and files.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Stages 1 to 3: the factors and weights of a record, completed by the model.
    ///
    /// # Errors
    /// The first thing that is wrong with the record.
    pub fn entity<'a>(&self, record: Record<'a>) -> std::result::Result<Entity<'a>, RecordError> {
        let completed = match self.latent() {
            Some(model) => {
                let classes = record.classes.as_deref();
                self.completed(model, &record.entity, classes, &record.evidence)?
            }
            None => Vec::new(),
        };
        Entity::completed(record, completed, &self.expect)
    }

    /// What the model makes of the items, with the weights that the method gives them.
    pub(super) fn completed(
        &self,
        model: &LatentModel,
        entity: &str,
        classes: Option<&[Cow<'_, str>]>,
        evidence: &[Evidence<'_>],
    ) -> std::result::Result<Vec<Option<Completed>>, RecordError> {
        let mut completed = model.complete(entity, classes, evidence)?;
        if !self.method.weighs_by_confidence() {
            let items = completed.iter_mut().flatten();
            items.for_each(|item| item.weight = 1.0);
        }
        Ok(completed)
    }

    /// Stage 4: one distribution from the items of an entity, before calibration.
    ///
    /// # Errors
    /// No evidence, factors that contradict each other, items without the posterior that a learned
    /// aggregation needs.
    pub fn combine(&self, entity: &Entity<'_>) -> std::result::Result<Distribution, RecordError> {
        self.check_evidence(entity)?;
        if let (Method::Learned, Some(model)) = (self.method, self.latent()) {
            return Ok(learned(model, &posteriors(entity)?)?.distribution);
        }
        aggregate(self.method, &entity.factors, &entity.weights, self.prior())
            .map_err(|error| located(&error, entity))
    }

    /// Without evidence only a prior has something to say.
    fn check_evidence(&self, entity: &Entity<'_>) -> std::result::Result<(), RecordError> {
        if entity.factors.is_empty() && self.prior().is_none() {
            return Err(RecordError {
                place: Place::field("evidence"),
                fault: Fault::NoEvidence,
            });
        }
        if self.method == Method::Learned {
            self.check_pairs(entity.factors.len())?;
        }
        Ok(())
    }

    /// Items of a learned aggregation, whose pairs are compared, are few enough; told before the work.
    fn check_pairs(&self, items: usize) -> std::result::Result<(), RecordError> {
        let wrong = |what: String| Err(RecordError::shape(Place::field("evidence"), what));
        if let Err(error) = self.limits.learned_items(items as u64) {
            return wrong(error.to_string());
        }
        if self.influence && items > MOST_EXPLAINED {
            return wrong(format!(
                "{items} items; with learned aggregation, influence is given for at most \
                 {MOST_EXPLAINED}"
            ));
        }
        Ok(())
    }

    /// The answer to one record, as a line of JSON.
    ///
    /// # Errors
    /// Of kind [`Record`](crate::ErrorKind::Record): what is wrong, and in which field.
    pub fn answer(&self, record: impl AsRef<[u8]>) -> Result<Answer> {
        let record = Record::parse_within(record.as_ref(), &self.limits)?;
        Ok(self.answer_record(record)?)
    }

    /// The answer to one record that has been read.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn answer_record(&self, record: Record<'_>) -> std::result::Result<Answer, RecordError> {
        if self.method == Method::Learned {
            self.check_pairs(record.evidence.len())?;
        }
        let mut entity = self.entity(record)?;
        self.check_evidence(&entity)?;
        let posteriors = posteriors(&entity);
        let (distribution, influence) = match (self.method, self.latent()) {
            (Method::Learned, Some(model)) => {
                let posteriors = match &posteriors {
                    Ok(posteriors) => posteriors,
                    Err(missing) => return Err((*missing).into()),
                };
                let whole = learned(model, posteriors)?;
                let influence = match self.influence {
                    true => Some(learned_influence(model, posteriors, &whole)?),
                    false => None,
                };
                // What an item counts is what the aggregator says, not its confidence.
                entity.weights = whole.attention;
                (whole.distribution, influence)
            }
            _ if self.influence => {
                let (factors, weights) = (&entity.factors, &entity.weights);
                let LeaveOneOut { all, influence } =
                    leave_one_out(self.method, factors, weights, self.prior())
                        .map_err(|error| located(&error, &entity))?;
                (all, Some(influence))
            }
            _ => (self.combine(&entity)?, None),
        };
        let uncertainty = match (self.latent(), posteriors) {
            (Some(model), Ok(posteriors)) => {
                uncertainty(model, &entity.name, posteriors, &entity.weights)?
            }
            _ => None,
        };
        let (calibrated, set) = match self.calibration() {
            Some(map) => calibrate(map, &distribution, &entity)?,
            None => (Calibrated::unchanged(distribution), None),
        };
        let class = |index: usize| Class::new(index, entity.classes.clone());
        Ok(Answer {
            k_eff: effective_count(&entity.weights).ok(),
            method: self.method,
            distribution: calibrated.distribution,
            prediction: Class::new(calibrated.class, entity.classes.clone()),
            confidence: calibrated.confidence,
            set: set.map(|set| set.into_iter().map(class).collect()),
            calibration: self.calibration().map(|file| file.map.name()),
            uncertainty,
            label: entity.label,
            items: influence.map(|influence| items(&mut entity, influence)),
            entity: entity.name.into_owned(),
            classes: entity.classes,
        })
    }
}

/// The items of an entity with their influence.
fn items(entity: &mut Entity<'_>, influence: Vec<Option<f64>>) -> Vec<Item> {
    let ids = entity.ids.drain(..);
    let factors = entity.factors.drain(..);
    let parts = ids.zip(factors).zip(&entity.weights).zip(influence);
    parts
        .map(|(((id, factor), &weight), influence)| Item {
            id: id.map(|id| id.into_owned()),
            factor,
            weight,
            influence,
        })
        .collect()
}

/// The answer after the map, and its prediction set, if the map is for these classes.
fn calibrate(
    map: &CalibrationFile,
    answer: &Distribution,
    entity: &Entity<'_>,
) -> std::result::Result<(Calibrated, Option<Vec<usize>>), RecordError> {
    let fail = |what: String| RecordError::shape(Place::field("classes"), what);
    if let (ClassNames::Named(own), Some(names)) = (&entity.classes, &map.names)
        && own.iter().ne(names)
    {
        let names = names.join(", ");
        return Err(fail(format!("not those of the calibration map, {names}")));
    }
    let set = map.set(answer, Some(&entity.weights));
    let both = map.apply(answer).and_then(|applied| Ok((applied, set?)));
    both.map_err(|error| fail(error.to_string()))
}

/// The field that an error of the aggregation stems from.
fn located(error: &AggregateError, entity: &Entity<'_>) -> RecordError {
    match error {
        AggregateError::Pool(PoolError::Contradiction(c)) => contradiction(c, entity),
        AggregateError::Pool(PoolError::Weight { index, value }) => RecordError::shape(
            Place::item_field(*index, "weight"),
            format!("{value:?} is too large to raise a factor to"),
        ),
        AggregateError::Pool(PoolError::ClassCount {
            index,
            expected,
            found,
        }) => RecordError {
            place: Place::item_field(*index, "factor"),
            fault: Fault::ClassCount {
                expected: *expected,
                found: *found,
                set_by: "the prior",
            },
        },
        other => RecordError::shape(Place::field("evidence"), other.to_string()),
    }
}

fn contradiction(found: &Contradiction, entity: &Entity<'_>) -> RecordError {
    let name = |i: usize| match entity.ids.get(i) {
        Some(Some(id)) => format!("evidence[{i}] ({id:?})"),
        _ => format!("evidence[{i}]"),
    };
    let (first, others) = match found.factors.split_first() {
        Some((first, others)) => (*first, others),
        None => (0, &[][..]),
    };
    let mut against: Vec<String> = others.iter().map(|&i| name(i)).collect();
    if found.with_prior {
        against.push("the prior".to_string());
    }
    RecordError::shape(
        Place::item_field(first, "factor"),
        format!(
            "contradicts {}: no class is possible under all of them",
            against.join(" and ")
        ),
    )
}

#[cfg(test)]
mod tests;
