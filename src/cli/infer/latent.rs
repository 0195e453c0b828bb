//! Evidence that needs a model: embeddings and posteriors.

use std::path::Path;

use super::super::Failure;
use crate::data::{Evidence, Fault, Model, Place, Record, RecordError, read_aggregator};
use crate::latent::random::{Item, Stream, evidence_keys, text_key};
use crate::latent::{
    Confidence, DecoderWorkspace, FACTOR_PURPOSE, FactorWorkspace, GaussianPosterior, MlpDecoder,
    monte_carlo_factor,
};
use crate::learn::{Aggregator, Learned};
use crate::simplex::{Distribution, l1_distance};
use crate::uncertainty::{GaussianMixture, MIXTURE_PURPOSE, Uncertainty, mixture_uncertainty};

/// A model, ready to answer.
#[derive(Debug)]
pub struct Latent {
    model: Model,
    decoder: MlpDecoder,
    samples: usize,
    seed: u64,
}

/// More items than this are not left out one by one: each time all pairs are compared again.
const MOST_EXPLAINED: usize = 256;

/// Per item, how far the answer moves without it; none where nothing is left.
pub type Influence = Vec<Option<f64>>;

/// The posterior of each item, where it has one.
pub type Posteriors = Vec<Option<GaussianPosterior>>;

fn fail(place: Place, what: impl Into<String>) -> RecordError {
    let fault = Fault::Shape(what.into());
    RecordError { place, fault }
}

impl Latent {
    /// Reads the model and, if it comes in a file of its own, the aggregator.
    pub fn read(
        path: &Path,
        aggregator: Option<&Path>,
        samples: usize,
        seed: u64,
    ) -> Result<Self, Failure> {
        let failed =
            |path: &Path, error: String| Failure::Usage(format!("{}: {error}", path.display()));
        let mut model = Model::read(path).map_err(|e| failed(path, e.to_string()))?;
        if let Some(path) = aggregator {
            let read = read_aggregator(path).map_err(|e| failed(path, e.to_string()))?;
            let (found, expected) = (read.shape().latent, model.vae.shape().latent);
            if found != expected {
                let what = format!(
                    "the aggregator works in {found} latent dimensions, the model in {expected}"
                );
                return Err(failed(path, what));
            }
            model.aggregator = Some(read);
        }
        let decoder = model
            .vae
            .decoder()
            .map_err(|e| failed(path, e.to_string()))?;
        Ok(Latent {
            model,
            decoder,
            samples,
            seed,
        })
    }

    /// Names of the classes, where the model has them.
    pub fn classes(&self) -> Option<&[String]> {
        self.model.classes.as_deref()
    }

    /// Frequencies of the classes in training, where the model has them.
    pub fn prior(&self) -> Option<&Distribution> {
        self.model.prior.as_ref()
    }

    /// The learned aggregator, where there is one.
    pub fn aggregator(&self) -> Option<&Aggregator> {
        self.model.aggregator.as_ref()
    }

    /// Gives a factor, and a weight by confidence, to each item that has an embedding or a
    /// posterior instead. A factor or weight that is given stays.
    pub fn complete(&self, record: &mut Record<'_>) -> Result<Posteriors, RecordError> {
        if let (Some(own), Some(ours)) = (&record.classes, &self.model.classes)
            && own.iter().ne(ours)
        {
            let what = format!("not those of the model, which are {}", ours.join(", "));
            return Err(fail(Place::field("classes"), what));
        }
        let mut posteriors = Vec::with_capacity(record.evidence.len());
        for (index, item) in record.evidence.iter().enumerate() {
            posteriors.push(self.posterior(index, item)?);
        }
        let named: Vec<(usize, &GaussianPosterior)> = posteriors
            .iter()
            .enumerate()
            .filter_map(|(i, p)| p.as_ref().map(|p| (i, p)))
            .collect();
        let names: Vec<Item<'_>> = named
            .iter()
            .map(|&(i, p)| match &record.evidence[i].id {
                Some(id) => Item::Id(id),
                None => Item::Content(p.content_key()),
            })
            .collect();
        let keys = evidence_keys(&names).map_err(|twice| {
            let what = format!("{:?} is given to two items", twice.id);
            let item = named.get(twice.second).map_or(0, |&(i, _)| i);
            fail(Place::item_field(item, "id"), what)
        })?;
        let entity = text_key(&record.entity);
        let mut workspace = FactorWorkspace::default();
        let mut computed = Vec::with_capacity(named.len());
        for (&(index, posterior), key) in named.iter().zip(keys) {
            let mut stream = Stream::new(self.seed, FACTOR_PURPOSE, entity, key);
            let factor = monte_carlo_factor(
                posterior,
                &self.decoder,
                self.samples,
                &mut stream,
                &mut workspace,
            );
            let factor = factor.map_err(|e| fail(Place::item(index), e.to_string()))?;
            computed.push((index, factor, Confidence::Reference.weight(posterior)));
        }
        for (index, factor, weight) in computed {
            let item = &mut record.evidence[index];
            if item.factor.is_none() {
                item.factor = Some(factor.distribution.into_vec());
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
                return Err(fail(place("mu"), what));
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
            return Err(fail(place("embedding"), what));
        }
        let posteriors = self.model.vae.posteriors(&narrow);
        let mut posteriors = posteriors.map_err(|e| fail(place("embedding"), e.to_string()))?;
        Ok(posteriors.pop())
    }

    /// All posteriors, or the first item that has none.
    fn all(posteriors: &Posteriors) -> Result<Vec<GaussianPosterior>, usize> {
        let each = posteriors.iter().enumerate();
        each.map(|(i, p)| p.clone().ok_or(i)).collect()
    }

    /// The learned aggregation, and how far it moves without each item if asked for.
    pub fn learned(
        &self,
        posteriors: &Posteriors,
        explain: bool,
    ) -> Result<(Learned, Option<Influence>), RecordError> {
        let evidence = Place::field("evidence");
        let Some(aggregator) = self.aggregator() else {
            return Err(fail(evidence, "the model has no learned aggregator"));
        };
        let posteriors = Self::all(posteriors).map_err(|item| {
            let what = "missing; the learned aggregation needs the embedding or posterior of \
                        every item, a factor is not enough";
            fail(Place::item_field(item, "embedding"), what)
        })?;
        let mut workspace = DecoderWorkspace::default();
        let mut predict = |items: &[GaussianPosterior]| {
            aggregator
                .predict(&self.decoder, items, &mut workspace)
                .map_err(|error| fail(evidence, error.to_string()))
        };
        let all = predict(&posteriors)?;
        if !explain {
            return Ok((all, None));
        }
        if posteriors.len() > MOST_EXPLAINED {
            let what = format!(
                "{} items; --explain with --method learned takes at most {MOST_EXPLAINED}",
                posteriors.len()
            );
            return Err(fail(evidence, what));
        }
        let mut influence = Vec::with_capacity(posteriors.len());
        for left_out in 0..posteriors.len() {
            if posteriors.len() == 1 {
                influence.push(None);
                continue;
            }
            let mut rest = posteriors.clone();
            rest.remove(left_out);
            let without = predict(&rest)?.distribution;
            influence.push(l1_distance(&all.distribution, &without));
        }
        Ok((all, Some(influence)))
    }

    /// The uncertainty of the mixture of all posteriors with these weights; `None` where an item
    /// has no posterior or all weights are zero.
    pub fn uncertainty(
        &self,
        entity: &str,
        posteriors: &Posteriors,
        weights: &[f64],
    ) -> Result<Option<Uncertainty>, RecordError> {
        let Ok(posteriors) = Self::all(posteriors) else {
            return Ok(None);
        };
        if weights.iter().all(|&w| w == 0.0) {
            return Ok(None);
        }
        let samples = self.samples.saturating_mul(posteriors.len());
        let evidence = Place::field("evidence");
        let mixture = GaussianMixture::new(weights, posteriors)
            .map_err(|error| fail(evidence, error.to_string()))?;
        let mut stream = Stream::new(self.seed, MIXTURE_PURPOSE, text_key(entity), 0);
        let mut workspace = FactorWorkspace::default();
        mixture_uncertainty(
            &mixture,
            &self.decoder,
            samples,
            &mut stream,
            &mut workspace,
        )
        .map(Some)
        .map_err(|error| fail(evidence, error.to_string()))
    }
}
