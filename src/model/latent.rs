//! A model that makes factors and weights out of embeddings and posteriors.

use std::borrow::Cow;

use super::Model;
use crate::latent::random::{Item, Stream, evidence_keys, text_key};
use crate::latent::{
    Confidence, Decoder, FACTOR_PURPOSE, FactorWorkspace, GaussianPosterior, MlpDecoder,
    monte_carlo_factor,
};
use crate::learn::VaeError;
use crate::log::{Evidence, Place, RecordError};

/// A model, the number of samples it draws for an item, and the seed of all that is drawn: what a
/// factor depends on beside its item and the name of its entity.
#[derive(Debug)]
pub struct LatentModel {
    model: Model,
    decoder: MlpDecoder,
    samples: usize,
    seed: u64,
}

/// The posterior of each item, where it has one.
pub type Posteriors = Vec<Option<GaussianPosterior>>;

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

    /// Gives a factor, and a weight by confidence, to each item that has an embedding or a
    /// posterior instead. A factor or weight that is given stays.
    ///
    /// # Errors
    /// The first thing that is wrong: other classes than the model's, a posterior that is none or
    /// lives in another space, an identifier that two items share, samples that cannot be decoded.
    pub fn complete(
        &self,
        entity: &str,
        classes: Option<&[Cow<'_, str>]>,
        evidence: &mut [Evidence<'_>],
    ) -> Result<Posteriors, RecordError> {
        if let (Some(own), Some(ours)) = (classes, &self.model.classes)
            && own.iter().ne(ours)
        {
            let what = format!("not those of the model, which are {}", ours.join(", "));
            return Err(RecordError::shape(Place::field("classes"), what));
        }
        let mut posteriors = Vec::with_capacity(evidence.len());
        for (index, item) in evidence.iter().enumerate() {
            posteriors.push(self.posterior(index, item)?);
        }
        let named: Vec<(usize, &GaussianPosterior)> = posteriors
            .iter()
            .enumerate()
            .filter_map(|(i, p)| p.as_ref().map(|p| (i, p)))
            .collect();
        let names: Vec<Item<'_>> = named
            .iter()
            .map(|&(i, p)| match &evidence[i].id {
                Some(id) => Item::Id(id),
                None => Item::Content(p.content_key()),
            })
            .collect();
        let keys = evidence_keys(&names).map_err(|twice| {
            let what = format!("{:?} is given to two items", twice.id);
            let item = named.get(twice.second).map_or(0, |&(i, _)| i);
            RecordError::shape(Place::item_field(item, "id"), what)
        })?;
        let entity = text_key(entity);
        let mut workspace = FactorWorkspace::default();
        let mut computed = Vec::with_capacity(named.len());
        for (&(index, posterior), key) in named.iter().zip(keys) {
            let weight = Confidence::Reference.weight(posterior);
            if evidence[index].factor.is_some() {
                computed.push((index, None, weight));
                continue;
            }
            let mut stream = Stream::new(self.seed, FACTOR_PURPOSE, entity, key);
            let factor = monte_carlo_factor(
                posterior,
                &self.decoder,
                self.samples,
                &mut stream,
                &mut workspace,
            );
            let factor =
                factor.map_err(|e| RecordError::shape(Place::item(index), e.to_string()))?;
            computed.push((index, Some(factor.distribution.into_vec()), weight));
        }
        for (index, factor, weight) in computed {
            let item = &mut evidence[index];
            if factor.is_some() {
                item.factor = factor;
            }
            item.weight.get_or_insert(weight);
        }
        Ok(posteriors)
    }

    /// The posterior of an item, encoded from its embedding or as given; none where it has
    /// neither.
    fn posterior(
        &self,
        index: usize,
        item: &Evidence<'_>,
    ) -> Result<Option<GaussianPosterior>, RecordError> {
        let place = |name| Place::item_field(index, name);
        if let Some(given) = item.posterior(index)? {
            let (found, latent) = (given.dimension(), self.model.vae.shape().latent);
            if found != latent {
                let what = format!("{found} numbers; the model has {latent}");
                return Err(RecordError::shape(place("mu"), what));
            }
            return Ok(Some(given));
        }
        let Some(embedding) = &item.embedding else {
            return Ok(None);
        };
        let narrow: Vec<f32> = embedding.iter().map(|&x| x as f32).collect();
        let (found, expected) = (narrow.len(), self.model.vae.shape().embedding);
        if found != expected {
            let what = format!("{found} numbers; the model's encoder takes {expected}");
            return Err(RecordError::shape(place("embedding"), what));
        }
        let posteriors = self.model.vae.posteriors(&narrow);
        let mut posteriors =
            posteriors.map_err(|e| RecordError::shape(place("embedding"), e.to_string()))?;
        Ok(posteriors.pop())
    }
}
