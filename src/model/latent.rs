//! A model that makes factors and weights out of embeddings and posteriors.

use std::borrow::Cow;

use super::Model;
use crate::latent::random::{Item, Stream, evidence_keys, text_key};
use crate::latent::{
    Confidence, Decoder, FACTOR_PURPOSE, FactorWorkspace, GaussianPosterior, MlpDecoder,
    monte_carlo_factors,
};
use crate::learn::VaeError;
use crate::log::{Completed, Evidence, Place, RecordError};

/// A model, the number of samples it draws for an item, and the seed of all that is drawn: what a
/// factor depends on beside its item and the name of its entity.
#[derive(Debug)]
pub struct LatentModel {
    model: Model,
    decoder: MlpDecoder,
    samples: usize,
    seed: u64,
}

impl LatentModel {
    /// The model, ready to draw `samples` latents for an item.
    ///
    /// # Errors
    /// [`VaeError::Decoder`] when the weights are too large for single precision.
    pub fn new(model: Model, samples: usize, seed: u64) -> Result<Self, VaeError> {
        let decoder = model.vae.decoder()?;
        Ok(LatentModel {
            model,
            decoder,
            samples,
            seed,
        })
    }

    /// The model itself.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Its decoder.
    pub fn decoder(&self) -> &MlpDecoder {
        &self.decoder
    }

    /// How many classes it tells apart.
    pub fn class_count(&self) -> usize {
        self.decoder.classes()
    }

    /// How many samples are drawn for an item.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// The seed of all that is drawn.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The posterior and the confidence of each item that has an embedding or a posterior, and the
    /// factor that is drawn from it where none is given.
    ///
    /// # Errors
    /// The first thing that is wrong: other classes than the model's, an embedding or a posterior
    /// of another dimension, an identifier that two items share, samples that cannot be decoded.
    pub fn complete(
        &self,
        entity: &str,
        classes: Option<&[Cow<'_, str>]>,
        evidence: &[Evidence<'_>],
    ) -> Result<Vec<Option<Completed>>, RecordError> {
        if let (Some(own), Some(ours)) = (classes, &self.model.classes)
            && own.iter().ne(ours)
        {
            let what = format!("not those of the model, which are {}", ours.join(", "));
            return Err(RecordError::shape(Place::field("classes"), what));
        }
        let posteriors = self.posteriors(evidence)?;
        let named: Vec<usize> = (0..evidence.len())
            .filter(|&i| posteriors[i].is_some())
            .collect();
        let names: Vec<Item<'_>> = evidence
            .iter()
            .zip(&posteriors)
            .filter_map(|(item, posterior)| {
                let posterior = posterior.as_ref()?;
                Some(match &item.id {
                    Some(id) => Item::Id(id),
                    None => Item::Content(posterior.content_key()),
                })
            })
            .collect();
        let keys = evidence_keys(&names).map_err(|twice| {
            let what = format!("{:?} is given to two items", twice.id);
            let item = named.get(twice.second).copied().unwrap_or(0);
            RecordError::shape(Place::item_field(item, "id"), what)
        })?;
        let entity = text_key(entity);
        // The items whose factors are drawn, with their keys.
        let drawn: Vec<(usize, u64)> = named.into_iter().zip(keys).collect();
        let drawn = drawn.into_iter();
        let drawn: Vec<_> = drawn
            .filter(|&(i, _)| evidence[i].factor.is_none())
            .collect();
        let of_drawn: Vec<&GaussianPosterior> = drawn
            .iter()
            .filter_map(|&(i, _)| posteriors[i].as_ref())
            .collect();
        let factors = monte_carlo_factors(
            &of_drawn,
            &self.decoder,
            self.samples,
            |item| Stream::new(self.seed, FACTOR_PURPOSE, entity, drawn[item].1),
            &mut FactorWorkspace::default(),
        );
        let factors = factors.map_err(|(item, error)| {
            RecordError::shape(Place::item(drawn[item].0), error.to_string())
        })?;
        let mut completed: Vec<Option<Completed>> = posteriors
            .into_iter()
            .map(|posterior| {
                let posterior = posterior?;
                Some(Completed {
                    weight: Confidence::Reference.weight(&posterior),
                    posterior,
                    factor: None,
                })
            })
            .collect();
        for ((item, _), factor) in drawn.into_iter().zip(factors) {
            if let Some(completed) = &mut completed[item] {
                completed.factor = Some(factor.distribution);
            }
        }
        Ok(completed)
    }

    /// The posterior of each item, as given or encoded from its embedding; none where it has
    /// neither.
    fn posteriors(
        &self,
        evidence: &[Evidence<'_>],
    ) -> Result<Vec<Option<GaussianPosterior>>, RecordError> {
        let shape = self.model.vae.shape();
        let mut posteriors = Vec::with_capacity(evidence.len());
        let mut embedded = Vec::new();
        let mut rows: Vec<f32> = Vec::new();
        for (index, item) in evidence.iter().enumerate() {
            let wrong = |name, what| RecordError::shape(Place::item_field(index, name), what);
            let given = item.posterior(index)?;
            if let Some(found) = given.as_ref().map(GaussianPosterior::dimension)
                && found != shape.latent
            {
                let what = format!("{found} numbers; the model has {}", shape.latent);
                return Err(wrong("mu", what));
            }
            if let (None, Some(embedding)) = (&given, &item.embedding) {
                let (found, expected) = (embedding.len(), shape.embedding);
                if found != expected {
                    let what = format!("{found} numbers; the model's encoder takes {expected}");
                    return Err(wrong("embedding", what));
                }
                rows.extend(embedding.iter().map(|&x| x as f32));
                embedded.push(index);
            }
            posteriors.push(given);
        }
        if embedded.is_empty() {
            return Ok(posteriors);
        }
        // All at once, which is faster; no row sees another.
        let encoded = self.model.vae.posteriors(&rows).map_err(|error| {
            let place = |row: usize| {
                let item = embedded.get(row).copied().unwrap_or(0);
                Place::item_field(item, "embedding")
            };
            match error {
                VaeError::Embedding {
                    item, coordinate, ..
                } => {
                    let what = "beyond the range of single precision";
                    RecordError::shape(place(item).at(coordinate), what)
                }
                VaeError::Posterior { item, source } => {
                    RecordError::shape(place(item), format!("cannot be encoded: {source}"))
                }
                other => RecordError::shape(Place::field("evidence"), other.to_string()),
            }
        })?;
        for (index, posterior) in embedded.into_iter().zip(encoded) {
            posteriors[index] = Some(posterior);
        }
        Ok(posteriors)
    }
}
