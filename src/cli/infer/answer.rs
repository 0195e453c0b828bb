//! From one line to its answer.

use super::latent;
use crate::aggregate::{AggregateError, LeaveOneOut, Method, aggregate, leave_one_out};
use crate::bounds::effective_count;
use crate::calibration::Calibrated;
use crate::log::{ClassNames, Entity, Expectations, Fault, Place, Record, RecordError};
use crate::model::{CalibrationFile, LatentModel};
use crate::simplex::{Contradiction, Distribution, PoolError};
use crate::uncertainty::Uncertainty;

/// What is the same for all lines.
#[derive(Debug)]
pub struct Setup<'a> {
    pub method: Method,
    pub latent: Option<&'a LatentModel>,
    pub prior: Option<Distribution>,
    pub classes: Option<&'a [String]>,
    pub tolerance: f64,
    pub calibration: Option<&'a CalibrationFile>,
    pub explain: bool,
}

/// What is known about one entity in the end.
#[derive(Debug)]
pub struct Answer<'a> {
    pub entity: Entity<'a>,
    pub method: Method,
    pub distribution: Distribution,
    /// The class that is named, and how sure.
    pub prediction: usize,
    pub confidence: f64,
    /// The method of the calibration map, where there is one.
    pub calibration: Option<&'static str>,
    /// Kish's effective number of items; none where all weights are zero.
    pub k_eff: Option<f64>,
    /// Per item, if asked for: how far the answer moves without it.
    pub influence: Option<Vec<Option<f64>>>,
    /// With a model, if every item has a posterior.
    pub uncertainty: Option<Uncertainty>,
}

impl<'a> Answer<'a> {
    /// Reads and answers one line.
    pub fn of(line: &'a [u8], setup: &Setup<'a>) -> Result<Self, RecordError> {
        let expect = Expectations {
            classes: setup.classes,
            tolerance: setup.tolerance,
        };
        let mut record = Record::parse(line)?;
        let posteriors = match setup.latent {
            Some(model) => {
                let classes = record.classes.as_deref();
                model.complete(&record.entity, classes, &mut record.evidence)?
            }
            None => Vec::new(),
        };
        let mut entity = Entity::new(record, &expect)?;
        let Setup { method, prior, .. } = setup;
        if entity.factors.is_empty() && prior.is_none() {
            return Err(RecordError {
                place: Place::field("evidence"),
                fault: Fault::NoEvidence,
            });
        }
        let (distribution, influence) = match (method, setup.latent) {
            (Method::Learned, Some(model)) => {
                let (learned, influence) = latent::learned(model, &posteriors, setup.explain)?;
                // What an item counts is what the aggregator says, not its confidence.
                entity.weights = learned.attention;
                (learned.distribution, influence)
            }
            (Method::Learned, None) => {
                return Err(RecordError {
                    place: Place::LINE,
                    fault: Fault::Shape("the learned aggregation needs a model".into()),
                });
            }
            (method, _) => {
                let (factors, weights) = (&entity.factors, &entity.weights);
                let combined = if setup.explain {
                    leave_one_out(*method, factors, weights, prior.as_ref())
                        .map(|LeaveOneOut { all, influence }| (all, Some(influence)))
                } else {
                    aggregate(*method, factors, weights, prior.as_ref()).map(|all| (all, None))
                };
                combined.map_err(|error| located(&error, &entity))?
            }
        };
        let uncertainty = match setup.latent {
            Some(model) => latent::uncertainty(model, &entity.name, &posteriors, &entity.weights)?,
            None => None,
        };
        let calibrated = match setup.calibration {
            Some(file) => calibrate(file, &distribution, &entity)?,
            None => Calibrated {
                class: distribution.argmax(),
                confidence: *distribution.confidence(),
                distribution,
            },
        };
        Ok(Answer {
            k_eff: effective_count(&entity.weights).ok(),
            method: *method,
            distribution: calibrated.distribution,
            prediction: calibrated.class,
            confidence: calibrated.confidence,
            calibration: setup.calibration.map(|file| file.map.name()),
            influence,
            uncertainty,
            entity,
        })
    }
}

/// The answer after the map, if the map is for these classes.
fn calibrate(
    file: &CalibrationFile,
    answer: &Distribution,
    entity: &Entity<'_>,
) -> Result<Calibrated, RecordError> {
    let fail = |what: String| RecordError {
        place: Place::field("classes"),
        fault: Fault::Shape(what),
    };
    if let (ClassNames::Named(own), Some(names)) = (&entity.classes, &file.names)
        && own.iter().ne(names)
    {
        let names = names.join(", ");
        return Err(fail(format!("not those of the calibration map, {names}")));
    }
    file.apply(answer).map_err(|error| fail(error.to_string()))
}

/// The field that an error of the aggregation stems from.
fn located(error: &AggregateError, entity: &Entity<'_>) -> RecordError {
    match error {
        AggregateError::Pool(PoolError::Contradiction(c)) => contradiction(c, entity),
        AggregateError::Pool(PoolError::Weight { index, value }) => RecordError {
            place: Place::item_field(*index, "weight"),
            fault: Fault::Shape(format!("{value:?} is too large to raise a factor to")),
        },
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
        other => RecordError {
            place: Place::field("evidence"),
            fault: Fault::Shape(other.to_string()),
        },
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
    RecordError {
        place: Place::item_field(first, "factor"),
        fault: Fault::Shape(format!(
            "contradicts {}: no class is possible under all of them",
            against.join(" and ")
        )),
    }
}
