//! A model trained on a real set, and the entities that it is judged by.

use std::io::Write;
use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::aggregate::Method;
use crate::answer::Answerer;
use crate::calibration::{Calibrated, CalibrationMap, MapMethod};
use crate::experiments::{ExperimentError, HIDDEN, SAMPLES, Settings};
use crate::learn::TrainSettings;
use crate::log::{ClassNames, Entity};
use crate::model::{CalibrationFile, FitSettings, Model, Split, fit};
use crate::simplex::Distribution;
use crate::synthetic::{RealData, RealSet};

/// A set, a model of it, and evidence that the model has not seen.
pub(super) struct Study {
    pub(super) data: RealData,
    pub(super) model: Model,
    /// Answers by LPF-SPN; [`Study::answers`] sets other methods.
    pub(super) answerer: Answerer,
    /// Of the entities to learn from. Its test part fits calibration maps.
    pub(super) split: Split,
    /// The entities to be judged by, with their labels.
    pub(super) judged: Vec<Entity<'static>>,
}

/// What the items of an entity count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weights {
    /// What the encoder's posteriors give them.
    Shipped,
    /// One each: the plain product, if the method is one.
    Ones,
}

impl Study {
    /// Trains on the entities to learn from, at most so many as the settings say; judges at most
    /// twice so many.
    pub(super) fn new(set: &'static RealSet, settings: &Settings) -> Result<Self, ExperimentError> {
        let data = set.read()?;
        let most = usize::try_from(settings.entities).unwrap_or(usize::MAX);
        let corpus = data.corpus(most);
        let split = Split::new(corpus.labels.len(), settings.seed);
        let fit_settings = FitSettings {
            vae: TrainSettings {
                epochs: settings.epochs,
                seed: settings.seed,
                ..TrainSettings::default()
            },
            aggregator: Some(HIDDEN),
            temperature: false,
        };
        let model = fit(
            &corpus,
            &split,
            &fit_settings,
            |_| ControlFlow::Continue(()),
        )?;
        let answerer = Answerer::builder(Method::Spn)
            .model(model.clone())
            .samples(SAMPLES)
            .seed(settings.seed)
            .build()?;
        let judging = data.judging().take(most.saturating_mul(2));
        let judged = entities(&data, &answerer, &judging.collect::<Vec<_>>())?;
        Ok(Study {
            data,
            model,
            answerer,
            split,
            judged,
        })
    }

    pub(super) fn set(&self) -> &'static RealSet {
        self.data.set
    }

    pub(super) fn classes(&self) -> u64 {
        self.set().classes.len() as u64
    }

    /// Items of each entity.
    pub(super) fn items(&self) -> usize {
        self.set().views.len()
    }

    pub(super) fn labels(&self) -> Vec<usize> {
        labels(&self.judged)
    }

    /// Entities of the learning part, by their position in it.
    pub(super) fn learned(
        &self,
        entities_of: &[usize],
    ) -> Result<Vec<Entity<'static>>, ExperimentError> {
        entities(&self.data, &self.answerer, entities_of)
    }

    /// What a method says about entities, through the pipeline that ships.
    pub(super) fn answers(
        &self,
        method: Method,
        weights: Weights,
        entities: &[Entity<'static>],
    ) -> Result<Vec<Distribution>, ExperimentError> {
        let answerer = self.answerer.with_method(method)?;
        let confidence = weights == Weights::Shipped && method.weighs_by_confidence();
        let answers = entities.par_iter().map(|entity| {
            if confidence {
                return Ok(answerer.combine(entity)?);
            }
            let mut entity = entity.clone();
            entity.weights.fill(1.0);
            Ok(answerer.combine(&entity)?)
        });
        answers.collect()
    }

    /// A calibration map of a method's answers, fitted on entities that trained nothing; `None`
    /// where these allow none, because all of them are right or there are none.
    pub(super) fn map(
        &self,
        method: Method,
        weights: Weights,
        how: MapMethod,
    ) -> Result<Option<CalibrationFile>, ExperimentError> {
        let held_out = self.learned(self.split.test())?;
        let answers = self.answers(method, weights, &held_out)?;
        let map = CalibrationMap::fit(how, &answers, &labels(&held_out));
        let names = self.set().classes.iter().map(|&c| c.to_owned()).collect();
        let rows = held_out.len() as u64;
        let share = held_out.len() as f64 / self.data.learning().len() as f64;
        Ok(map.ok().map(|map| {
            CalibrationFile::new(map, self.set().classes.len(), Some(names), rows, (share, 0))
        }))
    }

    /// The judged entities with their first `count` items only.
    pub(super) fn first(&self, count: usize) -> Vec<Entity<'static>> {
        let mut judged = self.judged.clone();
        for entity in &mut judged {
            entity.ids.truncate(count);
            entity.factors.truncate(count);
            entity.weights.truncate(count);
            entity.posteriors.truncate(count);
        }
        judged
    }

    /// The answers to the judged entities as a log: one line each, with the evidence behind it.
    pub(super) fn log(&self, weights: Weights) -> Result<Vec<u8>, ExperimentError> {
        let answers = self.answers(Method::Spn, weights, &self.judged)?;
        let mut lines = Vec::new();
        for (entity, answer) in self.judged.iter().zip(&answers) {
            let ClassNames::Named(names) = &entity.classes else {
                continue;
            };
            let label = &names[entity.label.unwrap_or(0)];
            // Writing to memory cannot fail; names need no escapes.
            let _ = write!(
                lines,
                "{{\"entity\":\"{}\",\"label\":\"{label}\",\"classes\":{names:?},\"probs\":{:?},\"evidence\":[",
                entity.name,
                answer.probabilities()
            );
            for (i, factor) in entity.factors.iter().enumerate() {
                let comma = if i == 0 { "" } else { "," };
                let id = entity.ids[i].as_deref().unwrap_or_default();
                let weight = match weights {
                    Weights::Shipped => entity.weights[i],
                    Weights::Ones => 1.0,
                };
                let factor = factor.probabilities();
                let _ = write!(
                    lines,
                    "{comma}{{\"id\":\"{id}\",\"factor\":{factor:?},\"weight\":{weight:?}}}"
                );
            }
            lines.extend(b"]}\n");
        }
        Ok(lines)
    }
}

/// Stages 1 to 3 of some entities, as `lpf infer` makes them of the records of `lpf generate`.
fn entities(
    data: &RealData,
    answerer: &Answerer,
    which: &[usize],
) -> Result<Vec<Entity<'static>>, ExperimentError> {
    let made = which
        .par_iter()
        .map(|&e| Ok(answerer.entity(data.record(e))?));
    made.collect()
}

/// The classes of entities that have one; these all have.
pub(super) fn labels(entities: &[Entity<'_>]) -> Vec<usize> {
    entities.iter().filter_map(|entity| entity.label).collect()
}

/// An answer as it is, without a map.
pub(super) fn plain(distribution: Distribution) -> Calibrated {
    Calibrated {
        class: distribution.argmax(),
        confidence: *distribution.confidence(),
        distribution,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Audit, Log};
    use crate::synthetic::REAL;

    fn study() -> Study {
        let settings = Settings {
            entities: 40,
            epochs: 1,
            ..Settings::default()
        };
        Study::new(&REAL[1], &settings).unwrap()
    }

    /// The experiment runs what ships: records, answered by the trained model.
    #[test]
    fn answers_are_those_of_infer_to_the_records_of_the_set() {
        let study = study();
        assert_eq!(study.judged.len(), 80);
        for method in Method::ALL {
            let answers = study.answers(method, Weights::Shipped, &study.judged[..2]);
            let builder = Answerer::builder(method).model(study.model.clone());
            let shipped = builder.samples(SAMPLES).seed(1).build().unwrap();
            for (entity, answer) in study.data.judging().zip(answers.unwrap()) {
                let record = study.data.record(entity);
                let items = record.evidence.iter();
                let items: Vec<_> = items
                    .map(|e| serde_json::json!({"id": e.id, "embedding": e.embedding}))
                    .collect();
                let name = &record.entity;
                let line = serde_json::json!({"entity": name, "evidence": items}).to_string();
                let said = shipped.answer(line).unwrap().distribution;
                assert_eq!(said, answer, "{method}");
            }
        }
        let ones = study.answers(Method::Spn, Weights::Ones, &study.judged);
        let shipped = study.answers(Method::Spn, Weights::Shipped, &study.judged);
        assert_ne!(ones.unwrap(), shipped.unwrap());
    }

    /// The log is one that the audit takes: every row usable, every answer that of its factors. An
    /// altered answer is found, so the audit did look.
    #[test]
    fn the_log_is_consistent_for_the_audit_and_an_altered_one_is_not() {
        let study = study();
        for weights in [Weights::Shipped, Weights::Ones] {
            let log = String::from_utf8(study.log(weights).unwrap()).unwrap();
            assert_eq!(log.lines().count(), 80);
            let first = log.lines().next().unwrap();
            let probs = first.split_once("\"probs\":[").unwrap().1;
            let probs = probs.split_once(']').unwrap().0;
            let (a, b) = probs.split_once(", ").unwrap();
            let altered = log.replacen(probs, &format!("{b}, {a}"), 1);
            for (text, differing) in [(&log, 0.0), (&altered, 1.0 / 80.0)] {
                let report = Audit::of(Log::stream("log", text.as_bytes()))
                    .run()
                    .unwrap();
                assert_eq!(report.rejected.count, 0);
                let check = report.check("consistency").unwrap();
                assert_eq!((check.value, check.n), (Some(differing), 80));
            }
        }
    }

    /// Nothing that is judged was seen in training, nor in the fitting of maps.
    #[test]
    fn what_is_judged_trained_nothing() {
        let study = study();
        let used = [
            study.split.training(),
            study.split.validation(),
            study.split.test(),
        ]
        .concat();
        let names: Vec<String> = used.iter().map(|&e| study.data.entity_name(e)).collect();
        assert_eq!(names.len(), 40);
        for entity in &study.judged {
            assert!(!names.iter().any(|name| *name == entity.name));
        }
    }
}
