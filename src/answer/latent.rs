//! What needs posteriors: learned aggregation and uncertainty.

use crate::latent::random::{Stream, text_key};
use crate::latent::{DecoderWorkspace, FactorWorkspace, GaussianPosterior};
use crate::learn::Learned;
use crate::log::{Entity, Place, RecordError};
use crate::model::LatentModel;
use crate::simplex::l1_distance;
use crate::uncertainty::{GaussianMixture, MIXTURE_PURPOSE, Uncertainty, mixture_uncertainty};

/// The learned aggregation compares all pairs of items again for each item that is left out; for
/// more items than this it gives no influence.
pub const MOST_EXPLAINED: usize = 256;

/// The posteriors of all items, or the first item that has none.
pub(super) fn posteriors(entity: &Entity<'_>) -> Result<Vec<GaussianPosterior>, MissingPosterior> {
    let of = |i: usize| entity.posteriors.get(i).cloned().flatten();
    let items = 0..entity.factors.len();
    items.map(|i| of(i).ok_or(MissingPosterior(i))).collect()
}

/// The position of an item without a posterior.
#[derive(Clone, Copy, Debug)]
pub(super) struct MissingPosterior(usize);

impl From<MissingPosterior> for RecordError {
    fn from(MissingPosterior(item): MissingPosterior) -> Self {
        let what = "missing; the learned aggregation needs the embedding or posterior of every \
                    item, a factor is not enough";
        RecordError::shape(Place::item_field(item, "embedding"), what)
    }
}

/// The learned aggregation of all items.
pub(super) fn learned(
    latent: &LatentModel,
    posteriors: &[GaussianPosterior],
) -> Result<Learned, RecordError> {
    let evidence = Place::field("evidence");
    let Some(aggregator) = &latent.model().aggregator else {
        return Err(RecordError::shape(
            evidence,
            "the model has no learned aggregator",
        ));
    };
    aggregator
        .predict(
            latent.decoder(),
            posteriors,
            &mut DecoderWorkspace::default(),
        )
        .map_err(|error| RecordError::shape(evidence, error.to_string()))
}

/// Per item, how far the learned answer moves without it; none for a single item.
pub(super) fn learned_influence(
    latent: &LatentModel,
    posteriors: &[GaussianPosterior],
    whole: &Learned,
) -> Result<Vec<Option<f64>>, RecordError> {
    let items = posteriors.len();
    if items == 1 {
        return Ok(vec![None]);
    }
    let without = |left_out: usize| {
        let mut rest = posteriors.to_vec();
        rest.remove(left_out);
        let rest = learned(latent, &rest)?.distribution;
        Ok(l1_distance(&whole.distribution, &rest))
    };
    (0..items).map(without).collect()
}

/// The stream that the samples behind the uncertainty of an entity are drawn from.
pub fn uncertainty_stream(seed: u64, entity: &str) -> Stream {
    Stream::new(seed, MIXTURE_PURPOSE, text_key(entity), 0)
}

/// The uncertainty of the mixture of all posteriors with these weights; none where all weights are
/// zero.
pub(super) fn uncertainty(
    latent: &LatentModel,
    entity: &str,
    posteriors: Vec<GaussianPosterior>,
    weights: &[f64],
) -> Result<Option<Uncertainty>, RecordError> {
    if weights.iter().all(|&w| w == 0.0) {
        return Ok(None);
    }
    let fail = |error: String| RecordError::shape(Place::field("evidence"), error);
    let samples = latent.samples().saturating_mul(posteriors.len());
    let mixture = GaussianMixture::new(weights, posteriors).map_err(|e| fail(e.to_string()))?;
    mixture_uncertainty(
        &mixture,
        latent.decoder(),
        samples,
        &mut uncertainty_stream(latent.seed(), entity),
        &mut FactorWorkspace::default(),
    )
    .map(Some)
    .map_err(|e| fail(e.to_string()))
}
