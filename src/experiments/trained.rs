//! A model trained for a domain, and fresh entities to judge it by.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::{ExperimentError, Settings};
use crate::aggregate::Method;
use crate::answer::Answerer;
use crate::calibration::Evaluation;
use crate::latent::{GaussianPosterior, MlpDecoder};
use crate::learn::TrainSettings;
use crate::log::Entity;
use crate::model::{FitSettings, Model, Split, fit};
use crate::simplex::Distribution;
use crate::synthetic::{Domain, EMBEDDING, Generator};

/// Samples behind a factor: the paper's M = 16.
pub const SAMPLES: usize = 16;

/// Bins of the calibration error, as in the paper.
pub const BINS: usize = 10;

/// Hidden units of the learned aggregator, as in the paper.
pub const HIDDEN: usize = 16;

/// What tables compare: the methods as they ship, and two references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// An [`Answerer`] with this method and the weights that it gives to items, as `lpf infer` runs
    /// it.
    Method(Method),
    /// The prior-corrected product with all weights one, which is the posterior if the factors are
    /// (T1′).
    PriorCorrectedWeightsOne,
    /// The exact Bayes posterior of the generator.
    Exact,
}

impl Contender {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Method(method) => method.name(),
            Contender::PriorCorrectedWeightsOne => "prior-corrected, weights 1",
            Contender::Exact => "exact",
        }
    }
}

/// An entity that the model has not seen.
#[derive(Clone, Debug)]
pub struct TestEntity {
    /// Its class.
    pub label: usize,
    /// Embeddings of its items, row by row.
    pub embeddings: Vec<f32>,
    /// Posteriors, Monte Carlo factors of [`SAMPLES`] samples and weights of its items: what `lpf
    /// infer` makes of the record that `lpf generate` writes for the entity.
    pub evidence: Entity<'static>,
    /// The exact Bayes posterior, given all items.
    pub exact: Distribution,
}

impl TestEntity {
    /// The encoder's posterior of each item.
    pub fn posteriors(&self) -> impl Iterator<Item = &GaussianPosterior> {
        self.evidence.posteriors.iter().flatten()
    }

    /// The same entity with its first `count` items only.
    ///
    /// # Errors
    /// [`ExperimentError::Simplex`] where the exact posterior is not a number.
    pub fn first(&self, count: usize, generator: &Generator) -> Result<Self, ExperimentError> {
        let all = &self.evidence;
        let embeddings = self.embeddings[..count * EMBEDDING].to_vec();
        Ok(TestEntity {
            label: self.label,
            exact: generator.posterior(&embeddings)?,
            evidence: Entity {
                name: all.name.clone(),
                classes: all.classes.clone(),
                label: all.label,
                ids: all.ids[..count].to_vec(),
                factors: all.factors[..count].to_vec(),
                weights: all.weights[..count].to_vec(),
                posteriors: all.posteriors[..count].to_vec(),
            },
            embeddings,
        })
    }
}

/// A model trained for a domain.
#[derive(Clone, Debug)]
pub struct Trained {
    /// Makes the domain's entities.
    pub generator: Generator,
    /// The model, with a learned aggregator.
    pub model: Model,
    /// Its decoder.
    pub decoder: MlpDecoder,
    /// Entities that were used up by training, validation and the split's test part.
    pub used: u64,
    /// Seed of data and training, and of all that is drawn.
    pub seed: u64,
    /// Answers with the model; the method is set for each contender.
    answerer: Answerer,
}

impl Trained {
    /// Trains on the first entities of the domain, split by [`Split`].
    ///
    /// # Errors
    /// [`ExperimentError::Fit`], [`ExperimentError::Answerer`].
    pub fn new(domain: &'static Domain, settings: &Settings) -> Result<Self, ExperimentError> {
        let generator = Generator::new(domain);
        let seed = settings.seed;
        let corpus = generator.corpus(seed, 0, settings.entities);
        let split = Split::new(corpus.labels.len(), seed);
        let fit_settings = FitSettings {
            vae: TrainSettings {
                epochs: settings.epochs,
                seed,
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
            .seed(seed)
            .build()?;
        Ok(Trained {
            generator,
            decoder: model.vae.decoder()?,
            model,
            used: settings.entities,
            seed,
            answerer,
        })
    }

    /// The domain.
    pub fn domain(&self) -> &'static Domain {
        self.generator.domain()
    }

    /// Fresh entities `first..first + count`: entity 0 is the first that training did not use.
    ///
    /// # Errors
    /// An [`ExperimentError`] that names the stage.
    pub fn test(&self, first: u64, count: u64) -> Result<Vec<TestEntity>, ExperimentError> {
        self.test_of(&self.generator, first, count)
    }

    /// The same from another generator, such as that of the same domain with more items.
    ///
    /// # Errors
    /// As [`Trained::test`].
    pub fn test_of(
        &self,
        generator: &Generator,
        first: u64,
        count: u64,
    ) -> Result<Vec<TestEntity>, ExperimentError> {
        let entities = (first..first + count).into_par_iter().map(|index| {
            let index = self.used + index;
            let entity = generator.entity(self.seed, index);
            let record = entity.record(generator.entity_name(index));
            Ok(TestEntity {
                label: entity.label,
                exact: generator.posterior(&entity.embeddings)?,
                evidence: self.answerer.entity(record)?,
                embeddings: entity.embeddings,
            })
        });
        entities.collect()
    }

    /// What a contender says about each entity.
    ///
    /// # Errors
    /// [`ExperimentError::Record`] where evidence cannot be combined.
    pub fn answers(
        &self,
        contender: Contender,
        entities: &[TestEntity],
    ) -> Result<Vec<Distribution>, ExperimentError> {
        let method = match contender {
            Contender::Exact => return Ok(entities.iter().map(|e| e.exact.clone()).collect()),
            Contender::PriorCorrectedWeightsOne => Method::PriorCorrected,
            Contender::Method(method) => method,
        };
        let answerer = self.answerer.with_method(method)?;
        let answers = entities.par_iter().map(|entity| {
            if contender == Contender::PriorCorrectedWeightsOne {
                let mut evidence = entity.evidence.clone();
                evidence.weights.fill(1.0);
                return Ok(answerer.combine(&evidence)?);
            }
            Ok(answerer.combine(&entity.evidence)?)
        });
        answers.collect()
    }

    /// How right and how calibrated a contender is on some entities.
    ///
    /// # Errors
    /// As [`Trained::answers`], and [`ExperimentError::Calibration`].
    pub fn evaluate(
        &self,
        contender: Contender,
        entities: &[TestEntity],
    ) -> Result<Evaluation, ExperimentError> {
        let answers = self.answers(contender, entities)?;
        let labels: Vec<usize> = entities.iter().map(|entity| entity.label).collect();
        Ok(Evaluation::of(&answers, &labels, BINS)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::DOMAINS;

    /// The experiments run what ships: generated records, answered by the trained model.
    #[test]
    fn answers_are_those_of_infer_to_generated_records() {
        let settings = Settings {
            entities: 40,
            epochs: 1,
            ..Settings::default()
        };
        let trained = Trained::new(&DOMAINS[0], &settings).unwrap();
        let entities = trained.test(3, 2).unwrap();
        for method in Method::ALL {
            let answers = trained
                .answers(Contender::Method(method), &entities)
                .unwrap();
            let builder = Answerer::builder(method).model(trained.model.clone());
            let shipped = builder
                .samples(SAMPLES)
                .seed(settings.seed)
                .build()
                .unwrap();
            for (index, answer) in (43..).zip(answers) {
                let entity = trained.generator.entity(settings.seed, index);
                let items: Vec<_> = entity.embeddings.chunks(EMBEDDING).enumerate().collect();
                let items: Vec<_> = items
                    .iter()
                    .map(|(i, row)| serde_json::json!({"id": format!("e{i}"), "embedding": row}))
                    .collect();
                let name = format!("compliance-{index}");
                let line = serde_json::json!({"entity": name, "evidence": items}).to_string();
                assert_eq!(
                    shipped.answer(line).unwrap().distribution,
                    answer,
                    "{method}"
                );
            }
        }
        let ones = Contender::PriorCorrectedWeightsOne;
        let shipped = Contender::Method(Method::PriorCorrected);
        assert_ne!(
            trained.answers(ones, &entities).unwrap(),
            trained.answers(shipped, &entities).unwrap()
        );
    }
}
