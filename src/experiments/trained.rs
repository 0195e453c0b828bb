//! A model, and entities that it was not trained on to judge it by.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::{ExperimentError, Settings};
use crate::aggregate::Method;
use crate::answer::Answerer;
use crate::calibration::Evaluation;
use crate::latent::{GaussianPosterior, MlpDecoder};
use crate::learn::TrainSettings;
use crate::log::Entity;
use crate::model::{Corpus, FitSettings, Model, Split, fit};
use crate::simplex::Distribution;
use crate::synthetic::{
    AuthorData, AuthorEntity, Domain, EMBEDDING, Generator, Part, SyntheticEntity, author_model,
};

/// Samples behind a factor: the paper's M = 16.
pub const SAMPLES: usize = 16;

/// Bins of the calibration error, as in the paper.
pub const BINS: usize = 10;

/// Hidden units of the learned aggregator, as in the paper.
pub const HIDDEN: usize = 16;

/// What tables compare: the methods as they ship, and a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// An [`Answerer`] with this method and the weights that it gives to items, as `lpf infer` runs
    /// it.
    Method(Method),
    /// The exact Bayes posterior of the generator, where it is known.
    Exact,
}

impl Contender {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Method(method) => method.name(),
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
    /// infer` makes of the record of the entity.
    pub evidence: Entity<'static>,
    /// The exact Bayes posterior, given all items, where it is known.
    pub exact: Option<Distribution>,
}

impl TestEntity {
    /// The encoder's posterior of each item.
    pub fn posteriors(&self) -> impl Iterator<Item = &GaussianPosterior> {
        self.evidence.posteriors.iter().flatten()
    }

    /// The same entity with its first `count` items only, or all where there are no more.
    ///
    /// # Errors
    /// [`ExperimentError::Simplex`] where the exact posterior is not a number.
    pub fn first(&self, count: usize, trained: &Trained) -> Result<Self, ExperimentError> {
        let all = &self.evidence;
        let count = count.min(all.factors.len());
        let embeddings = self.embeddings[..count * EMBEDDING].to_vec();
        Ok(TestEntity {
            label: self.label,
            exact: trained.exact(&embeddings)?,
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

/// Where entities come from.
#[derive(Clone, Debug)]
pub enum Data {
    /// A domain of our own, whose exact posterior is known.
    Known {
        /// Makes its entities.
        generator: Generator,
        /// Entities that were used up by training, validation and the split's test part.
        used: u64,
    },
    /// The author's.
    Author(AuthorData),
}

/// A model with the data it was trained on.
#[derive(Clone, Debug)]
pub struct Trained {
    /// Where its entities come from.
    pub data: Data,
    /// The model, with a learned aggregator.
    pub model: Model,
    /// Its decoder.
    pub decoder: MlpDecoder,
    /// Seed of training, and of all that is drawn.
    pub seed: u64,
    /// Answers with the model; the method is set for each contender.
    answerer: Answerer,
}

/// Trains encoder, decoder and aggregator with the reference's settings.
fn trained(
    corpus: &Corpus,
    split: &Split,
    settings: &Settings,
    seed: u64,
) -> Result<Model, ExperimentError> {
    let fit_settings = FitSettings {
        vae: TrainSettings {
            epochs: settings.epochs,
            seed,
            ..TrainSettings::default()
        },
        aggregator: Some(HIDDEN),
        temperature: false,
    };
    let model = fit(corpus, split, &fit_settings, |_| ControlFlow::Continue(()))?;
    Ok(model)
}

impl Trained {
    /// Trains on the first entities of the domain, split by [`Split`].
    ///
    /// # Errors
    /// [`ExperimentError::Fit`], [`ExperimentError::Answerer`].
    pub fn new(domain: &'static Domain, settings: &Settings) -> Result<Self, ExperimentError> {
        let generator = Generator::new(domain);
        let (seed, used) = (settings.seed, settings.entities);
        let corpus = generator.corpus(seed, 0, used);
        let split = Split::new(corpus.labels.len(), seed);
        let model = trained(&corpus, &split, settings, seed)?;
        Self::answering(Data::Known { generator, used }, model, seed)
    }

    /// Trains on the author's data, split as its generator splits them.
    ///
    /// # Errors
    /// [`ExperimentError::Fit`], [`ExperimentError::Answerer`].
    pub fn on_author(
        data: AuthorData,
        settings: &Settings,
        seed: u64,
    ) -> Result<Self, ExperimentError> {
        let (corpus, split) = data.corpus()?;
        let model = trained(&corpus, &split, settings, seed)?;
        Self::answering(Data::Author(data), model, seed)
    }

    /// The weights that the author's implementation trained, with the class frequencies of `data`.
    ///
    /// # Errors
    /// [`ExperimentError::Answerer`].
    pub fn with_author_weights(data: AuthorData, seed: u64) -> Result<Self, ExperimentError> {
        let mut model = author_model().map_err(crate::error::Error::from)?;
        let (corpus, split) = data.corpus()?;
        model.prior = Some(corpus.prior_of(split.training())?);
        Self::answering(Data::Author(data), model, seed)
    }

    fn answering(data: Data, model: Model, seed: u64) -> Result<Self, ExperimentError> {
        let answerer = Answerer::builder(Method::Spn)
            .model(model.clone())
            .samples(SAMPLES)
            .seed(seed)
            .build()?;
        Ok(Trained {
            data,
            decoder: model.vae.decoder()?,
            model,
            seed,
            answerer,
        })
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.model.vae.shape().classes
    }

    /// How frequent the classes are: by the generator's own numbers where they are known, otherwise
    /// counted in the training part.
    ///
    /// # Errors
    /// [`ExperimentError::Simplex`], which a valid model does not give.
    pub fn prior(&self) -> Result<Distribution, ExperimentError> {
        match (&self.data, &self.model.prior) {
            (Data::Author(_), Some(prior)) => Ok(prior.clone()),
            (Data::Author(_), None) => Ok(Distribution::uniform(self.classes())?),
            (Data::Known { generator, .. }, _) => {
                Ok(Distribution::from_weights(generator.domain().prior())?)
            }
        }
    }

    /// The exact posterior of rows of embeddings, where it is known.
    fn exact(&self, embeddings: &[f32]) -> Result<Option<Distribution>, ExperimentError> {
        Ok(match &self.data {
            Data::Known { generator, .. } => Some(generator.posterior(embeddings)?),
            Data::Author(_) => None,
        })
    }

    fn judged(&self, name: String, entity: SyntheticEntity) -> Result<TestEntity, ExperimentError> {
        Ok(TestEntity {
            label: entity.label,
            exact: self.exact(&entity.embeddings)?,
            evidence: self.answerer.entity(entity.record(name))?,
            embeddings: entity.embeddings,
        })
    }

    /// Entities `first..first + count` that training did not use. A domain has as many as are asked
    /// for; of the author's data these are the test part, which has an end.
    ///
    /// # Errors
    /// An [`ExperimentError`] that names the stage.
    pub fn test(&self, first: u64, count: u64) -> Result<Vec<TestEntity>, ExperimentError> {
        match &self.data {
            Data::Known { generator, .. } => self.test_of(generator, first, count),
            Data::Author(data) => {
                let part = data.part(Part::Test).skip(first as usize);
                self.author_entities(part.take(count as usize))
            }
        }
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
        let used = match &self.data {
            Data::Known { used, .. } => *used,
            Data::Author(_) => 0,
        };
        let entities = (first..first + count).into_par_iter().map(|index| {
            let entity = generator.entity(self.seed, used + index);
            self.judged(generator.entity_name(used + index), entity)
        });
        entities.collect()
    }

    /// Some entities of the author's.
    ///
    /// # Errors
    /// As [`Trained::test`].
    pub fn author_entities<'a>(
        &self,
        entities: impl Iterator<Item = &'a AuthorEntity>,
    ) -> Result<Vec<TestEntity>, ExperimentError> {
        let entities: Vec<&AuthorEntity> = entities.collect();
        let judged = entities
            .par_iter()
            .map(|entity| self.judged(entity.name.clone(), entity.evidence()?));
        judged.collect()
    }

    /// What a contender says about each entity.
    ///
    /// # Errors
    /// [`ExperimentError::Record`] where evidence cannot be combined, [`ExperimentError::Unknown`]
    /// for the exact posterior of data that have none.
    pub fn answers(
        &self,
        contender: Contender,
        entities: &[TestEntity],
    ) -> Result<Vec<Distribution>, ExperimentError> {
        let method = match contender {
            Contender::Exact => {
                let exact = entities.iter().map(|e| e.exact.clone());
                let exact: Option<Vec<Distribution>> = exact.collect();
                return exact.ok_or(ExperimentError::Unknown);
            }
            Contender::Method(method) => method,
        };
        let answerer = self.answerer.with_method(method)?;
        let answers = entities.par_iter().map(|entity| {
            if method.weighs_by_confidence() {
                return Ok(answerer.combine(&entity.evidence)?);
            }
            // Records of these data give no weights.
            let mut evidence = entity.evidence.clone();
            evidence.weights.fill(1.0);
            Ok(answerer.combine(&evidence)?)
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

    const SETTINGS: Settings = Settings {
        seed: 1,
        trials: None,
        entities: 40,
        epochs: 1,
        truth: 1000,
    };

    /// The experiments run what ships: records as they are written, answered by the trained model.
    fn answers_are_those_of_infer(trained: &Trained, entities: &[TestEntity]) {
        for method in Method::ALL {
            let answers = trained
                .answers(Contender::Method(method), entities)
                .unwrap();
            let builder = Answerer::builder(method).model(trained.model.clone());
            let shipped = builder
                .samples(SAMPLES)
                .seed(SETTINGS.seed)
                .build()
                .unwrap();
            for (entity, answer) in entities.iter().zip(answers) {
                let items: Vec<_> = entity.embeddings.chunks(EMBEDDING).enumerate().collect();
                let items: Vec<_> = items
                    .iter()
                    .map(|(i, row)| serde_json::json!({"id": format!("e{i}"), "embedding": row}))
                    .collect();
                let name = &entity.evidence.name;
                let line = serde_json::json!({"entity": name, "evidence": items}).to_string();
                assert_eq!(
                    shipped.answer(line).unwrap().distribution,
                    answer,
                    "{method}"
                );
            }
        }
    }

    #[test]
    fn answers_are_those_of_infer_to_generated_records() {
        let trained = Trained::new(&DOMAINS[0], &SETTINGS).unwrap();
        let entities = trained.test(3, 2).unwrap();
        assert_eq!(entities[0].evidence.name, "compliance-43");
        answers_are_those_of_infer(&trained, &entities);
        let generator = Generator::new(&DOMAINS[0]);
        let again = generator.entity(SETTINGS.seed, 43);
        assert_eq!(entities[0].embeddings, again.embeddings);
    }

    #[test]
    fn answers_are_those_of_infer_to_the_authors_entities() {
        let data = AuthorData::main().unwrap().first(60);
        let trained = Trained::on_author(data.clone(), &SETTINGS, SETTINGS.seed).unwrap();
        let entities = trained.test(0, 2).unwrap();
        answers_are_those_of_infer(&trained, &entities);
        // The names and the parts are the author's.
        let test: Vec<&AuthorEntity> = data.part(Part::Test).collect();
        assert_eq!(entities[1].evidence.name, test[1].name);
        assert_eq!(trained.test(0, 1000).unwrap().len(), test.len());
        assert!(matches!(
            trained.answers(Contender::Exact, &entities),
            Err(ExperimentError::Unknown)
        ));
        // What is trained is what `fit` gives for that corpus and split: nothing of its own.
        let (corpus, split) = data.corpus().unwrap();
        let shipped = super::trained(&corpus, &split, &SETTINGS, SETTINGS.seed).unwrap();
        assert_eq!(trained.model, shipped);
        let reference = Trained::with_author_weights(data, 1).unwrap();
        answers_are_those_of_infer(&reference, &reference.test(0, 2).unwrap());
    }
}
