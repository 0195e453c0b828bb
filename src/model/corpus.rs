//! Labelled entities to train on, and the training of a complete model.

use std::ops::{ControlFlow, Range};

use super::{Model, Split};
use crate::learn::{
    AggregatorShape, Entities, Epoch, Labelled, TrainError, TrainSettings, VaeError, VaeShape,
    aggregator_settings, fit_temperature, log_variance, train_aggregator, train_vae,
};
use crate::simplex::{Distribution, SimplexError};

/// Entities with embeddings of their items and their classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Numbers in an embedding.
    pub dimension: usize,
    /// Embeddings, item by item, entity by entity.
    pub embeddings: Vec<f32>,
    /// For each entity, its items as a range of rows.
    pub items: Vec<Range<usize>>,
    /// For each entity, its class.
    pub labels: Vec<usize>,
}

impl Corpus {
    /// Adds an entity; `embeddings` are whole rows of [`Corpus::dimension`] numbers.
    pub fn push(&mut self, embeddings: &[f32], label: usize) {
        let start = self.items.last().map_or(0, |r| r.end);
        let count = embeddings.len().checked_div(self.dimension).unwrap_or(0);
        self.embeddings.extend_from_slice(embeddings);
        self.items.push(start..start + count);
        self.labels.push(label);
    }

    /// The embeddings of an entity's items.
    pub fn entity(&self, index: usize) -> &[f32] {
        let items = self.items.get(index).cloned().unwrap_or_default();
        let range = items.start * self.dimension..items.end * self.dimension;
        self.embeddings.get(range).unwrap_or(&[])
    }

    /// All items of some entities, each with the class of its entity.
    fn items_of(&self, entities: &[usize]) -> (Vec<f32>, Vec<usize>) {
        let (mut inputs, mut labels) = (Vec::new(), Vec::new());
        for &e in entities {
            inputs.extend_from_slice(self.entity(e));
            labels.resize(labels.len() + self.items[e].len(), self.labels[e]);
        }
        (inputs, labels)
    }

    /// The share of each class among some entities, counting one more of each class: a class that
    /// happens to be absent is rare, not impossible.
    ///
    /// # Errors
    /// [`SimplexError`] where there are no classes.
    pub fn prior_of(&self, entities: &[usize]) -> Result<Distribution, SimplexError> {
        let mut counts = vec![1.0; self.classes.len()];
        for &e in entities {
            if let Some(count) = counts.get_mut(self.labels[e]) {
                *count += 1.0;
            }
        }
        Distribution::from_weights(counts)
    }
}

/// What is trained, and how.
#[derive(Clone, Debug, Default)]
pub struct FitSettings {
    /// Encoder and decoder.
    pub vae: TrainSettings,
    /// Hidden units of the aggregator; `None` trains none.
    pub aggregator: Option<usize>,
    /// Whether to fit a temperature on the validation part.
    pub temperature: bool,
}

/// Why no model was trained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "wrapped errors speak for themselves")]
pub enum FitError {
    #[error(transparent)]
    Train(TrainError),
    #[error(transparent)]
    Encode(VaeError),
    /// There are no classes.
    #[error("prior of the classes: {0}")]
    Prior(SimplexError),
}

/// What an observer of [`fit`] sees after each epoch.
#[derive(Debug)]
pub struct FitProgress<'a> {
    /// Which part is being trained.
    pub part: &'static str,
    /// The epoch.
    pub epoch: &'a Epoch<'a>,
}

/// Trains encoder and decoder on the items, then the aggregator on the entities.
///
/// `observe` may break off at any epoch; the result is then the best so far, without an aggregator
/// if the encoder was not finished.
///
/// # Errors
/// [`FitError`] says what is wrong with the data.
pub fn fit(
    corpus: &Corpus,
    split: &Split,
    settings: &FitSettings,
    mut observe: impl FnMut(&FitProgress<'_>) -> ControlFlow<()>,
) -> Result<Model, FitError> {
    let shape = VaeShape {
        embedding: corpus.dimension,
        classes: corpus.classes.len(),
        ..VaeShape::default()
    };
    let (inputs, labels) = corpus.items_of(split.training());
    let (held_inputs, held_labels) = corpus.items_of(split.validation());
    let training = Labelled {
        inputs: &inputs,
        labels: &labels,
    };
    let validation = Labelled {
        inputs: &held_inputs,
        labels: &held_labels,
    };
    let mut broken = false;
    let mut scores = Vec::new();
    let part = "encoder and decoder";
    let vae = train_vae(shape, training, validation, &settings.vae, |epoch| {
        if epoch.best {
            scores.clear();
            scores.extend_from_slice(epoch.scores);
        }
        let flow = observe(&FitProgress { part, epoch });
        broken = flow.is_break();
        flow
    })
    .map_err(FitError::Train)?
    .model;
    let temperature = settings
        .temperature
        .then(|| fit_temperature(&scores, &held_labels));
    let mut model = Model {
        vae: vae.with_temperature(temperature.flatten().unwrap_or(1.0)),
        aggregator: None,
        classes: Some(corpus.classes.clone()),
        prior: Some(corpus.prior_of(split.training()).map_err(FitError::Prior)?),
        provenance: None,
    };
    if let Some(hidden) = settings.aggregator.filter(|_| !broken) {
        let encode = |entities: &[usize]| -> Result<Entities, FitError> {
            let (inputs, _) = corpus.items_of(entities);
            let (means, sigma) = model.vae.encode(&inputs).map_err(FitError::Encode)?;
            let mut row = 0;
            let items = entities.iter().map(|&e| {
                row += corpus.items[e].len();
                row - corpus.items[e].len()..row
            });
            Ok(Entities {
                items: items.collect(),
                means,
                log_variances: sigma.iter().map(|&s| log_variance(f64::from(s))).collect(),
                labels: entities.iter().map(|&e| corpus.labels[e]).collect(),
            })
        };
        let shape = AggregatorShape {
            latent: model.vae.shape().latent,
            hidden,
            ..AggregatorShape::default()
        };
        let trained = train_aggregator(
            shape,
            &model.vae,
            &encode(split.training())?,
            &encode(split.validation())?,
            &TrainSettings {
                epochs: settings.vae.epochs,
                ..aggregator_settings(settings.vae.seed)
            },
            |epoch| {
                let part = "aggregator";
                observe(&FitProgress { part, epoch })
            },
        );
        model.aggregator = Some(trained.map_err(FitError::Train)?.model);
    }
    Ok(model)
}
