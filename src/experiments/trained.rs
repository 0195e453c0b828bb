//! A model trained for a domain, and fresh entities to judge it by.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::{ExperimentError, Settings};
use crate::aggregate::{Method, aggregate};
use crate::calibration::Evaluation;
use crate::latent::random::Stream;
use crate::latent::{
    Confidence, DecoderWorkspace, FACTOR_PURPOSE, FactorWorkspace, GaussianPosterior, MlpDecoder,
    monte_carlo_factor,
};
use crate::learn::TrainSettings;
use crate::model::{FitSettings, Model, Split, fit};
use crate::simplex::Distribution;
use crate::synthetic::{Domain, Generator, SyntheticEntity};

/// Samples behind a factor: the paper's M = 16.
pub const SAMPLES: usize = 16;

/// Bins of the calibration error, as in the paper.
pub const BINS: usize = 10;

/// Hidden units of the learned aggregator, as in the paper.
pub const HIDDEN: usize = 16;

/// A way from the evidence about an entity to a distribution over its classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A formula on the Monte Carlo factors. The weights are the reference's confidences; for the
    /// prior-corrected product they are one, for which it is the posterior if the factors are.
    Formula(Method),
    /// The trained aggregator.
    Learned,
    /// The exact Bayes posterior of the generator.
    Exact,
}

impl Way {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Way::Formula(method) => method.name(),
            Way::Learned => "learned",
            Way::Exact => "exact",
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
    /// The encoder's posterior of each item.
    pub posteriors: Vec<GaussianPosterior>,
    /// The Monte Carlo factor of each item, of [`SAMPLES`] samples.
    pub factors: Vec<Distribution>,
    /// The reference's confidence in each item.
    pub weights: Vec<f64>,
    /// The exact Bayes posterior, given all items.
    pub exact: Distribution,
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
    /// Seed of data and training.
    pub seed: u64,
}

impl Trained {
    /// Trains on the first entities of the domain, split by [`Split`].
    ///
    /// # Errors
    /// [`ExperimentError::Fit`], [`ExperimentError::Encode`].
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
        let decoder = model.vae.decoder()?;
        Ok(Trained {
            generator,
            model,
            decoder,
            used: settings.entities,
            seed,
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
        (first..first + count)
            .into_par_iter()
            .map_init(FactorWorkspace::default, |workspace, index| {
                let entity = generator.entity(self.seed, self.used + index);
                self.judge(generator, entity, index, workspace)
            })
            .collect()
    }

    /// Stages 1 to 3 for one entity; `index` names the streams that its factors are drawn with.
    fn judge(
        &self,
        generator: &Generator,
        entity: SyntheticEntity,
        index: u64,
        workspace: &mut FactorWorkspace,
    ) -> Result<TestEntity, ExperimentError> {
        let posteriors = self.model.vae.posteriors(&entity.embeddings)?;
        let (mut factors, mut weights) = (Vec::new(), Vec::new());
        for (item, posterior) in posteriors.iter().enumerate() {
            let mut stream = Stream::new(self.seed, FACTOR_PURPOSE, index, item as u64);
            let factor =
                monte_carlo_factor(posterior, &self.decoder, SAMPLES, &mut stream, workspace)?;
            factors.push(factor.distribution);
            weights.push(Confidence::Reference.weight(posterior));
        }
        Ok(TestEntity {
            label: entity.label,
            exact: generator.posterior(&entity.embeddings)?,
            embeddings: entity.embeddings,
            posteriors,
            factors,
            weights,
        })
    }

    /// What a way says about an entity.
    ///
    /// # Errors
    /// [`ExperimentError::Aggregate`], [`ExperimentError::Learned`].
    pub fn answer(&self, way: Way, entity: &TestEntity) -> Result<Distribution, ExperimentError> {
        let combine = |method, weights: &[f64]| {
            aggregate(method, &entity.factors, weights, self.model.prior.as_ref())
        };
        match way {
            Way::Exact => Ok(entity.exact.clone()),
            Way::Formula(method @ Method::PriorCorrected) => {
                Ok(combine(method, &vec![1.0; entity.factors.len()])?)
            }
            Way::Formula(method) => Ok(combine(method, &entity.weights)?),
            Way::Learned => {
                let Some(aggregator) = &self.model.aggregator else {
                    return Ok(combine(Method::Uniform, &entity.weights)?);
                };
                let mut workspace = DecoderWorkspace::default();
                let answer =
                    aggregator.predict(&self.decoder, &entity.posteriors, &mut workspace)?;
                Ok(answer.distribution)
            }
        }
    }

    /// What a way says about each entity.
    ///
    /// # Errors
    /// As [`Trained::answer`].
    pub fn answers(
        &self,
        way: Way,
        entities: &[TestEntity],
    ) -> Result<Vec<Distribution>, ExperimentError> {
        let answers = entities.par_iter().map(|entity| self.answer(way, entity));
        answers.collect()
    }

    /// How right and how calibrated a way is on some entities.
    ///
    /// # Errors
    /// As [`Trained::answer`], and [`ExperimentError::Calibration`].
    pub fn evaluate(
        &self,
        way: Way,
        entities: &[TestEntity],
    ) -> Result<Evaluation, ExperimentError> {
        let answers = self.answers(way, entities)?;
        let labels: Vec<usize> = entities.iter().map(|entity| entity.label).collect();
        Ok(Evaluation::of(&answers, &labels, BINS)?)
    }
}
