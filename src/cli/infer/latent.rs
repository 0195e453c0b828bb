//! Evidence that needs a model: embeddings and posteriors.

use std::path::Path;

use super::super::Failure;
use crate::latent::random::{Stream, text_key};
use crate::latent::{DecoderWorkspace, FactorWorkspace, GaussianPosterior};
use crate::learn::Learned;
use crate::log::{Place, RecordError};
use crate::model::{LatentModel, Model, Posteriors, read_aggregator};
use crate::simplex::l1_distance;
use crate::uncertainty::{GaussianMixture, MIXTURE_PURPOSE, Uncertainty, mixture_uncertainty};

/// More items than this are not left out one by one: each time all pairs are compared again.
const MOST_EXPLAINED: usize = 256;

/// Per item, how far the answer moves without it; none where nothing is left.
pub type Influence = Vec<Option<f64>>;

/// Reads the model and, if it comes in a file of its own, the aggregator; with the SHA-256 of the
/// model's file.
pub fn read(
    path: &Path,
    aggregator: Option<&Path>,
    samples: usize,
    seed: u64,
) -> Result<(LatentModel, String), Failure> {
    let failed =
        |path: &Path, error: String| Failure::Usage(format!("{}: {error}", path.display()));
    let read = Model::read_with_digest(path);
    let (mut model, digest) = read.map_err(|e| failed(path, e.to_string()))?;
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
    let latent = LatentModel::new(model, samples, seed);
    Ok((latent.map_err(|e| failed(path, e.to_string()))?, digest))
}

/// All posteriors, or the first item that has none.
fn all(posteriors: &Posteriors) -> Result<Vec<GaussianPosterior>, usize> {
    let each = posteriors.iter().enumerate();
    each.map(|(i, p)| p.clone().ok_or(i)).collect()
}

/// The learned aggregation, and how far it moves without each item if asked for.
pub fn learned(
    latent: &LatentModel,
    posteriors: &Posteriors,
    explain: bool,
) -> Result<(Learned, Option<Influence>), RecordError> {
    let evidence = Place::field("evidence");
    let Some(aggregator) = &latent.model().aggregator else {
        return Err(RecordError::shape(
            evidence,
            "the model has no learned aggregator",
        ));
    };
    let posteriors = all(posteriors).map_err(|item| {
        let what = "missing; the learned aggregation needs the embedding or posterior of \
                    every item, a factor is not enough";
        RecordError::shape(Place::item_field(item, "embedding"), what)
    })?;
    let mut workspace = DecoderWorkspace::default();
    let mut predict = |items: &[GaussianPosterior]| {
        aggregator
            .predict(latent.decoder(), items, &mut workspace)
            .map_err(|error| RecordError::shape(evidence, error.to_string()))
    };
    let whole = predict(&posteriors)?;
    if !explain {
        return Ok((whole, None));
    }
    if posteriors.len() > MOST_EXPLAINED {
        let what = format!(
            "{} items; --explain with --method learned takes at most {MOST_EXPLAINED}",
            posteriors.len()
        );
        return Err(RecordError::shape(evidence, what));
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
        influence.push(l1_distance(&whole.distribution, &without));
    }
    Ok((whole, Some(influence)))
}

/// The uncertainty of the mixture of all posteriors with these weights; `None` where an item
/// has no posterior or all weights are zero.
pub fn uncertainty(
    latent: &LatentModel,
    entity: &str,
    posteriors: &Posteriors,
    weights: &[f64],
) -> Result<Option<Uncertainty>, RecordError> {
    let Ok(posteriors) = all(posteriors) else {
        return Ok(None);
    };
    if weights.iter().all(|&w| w == 0.0) {
        return Ok(None);
    }
    let samples = latent.samples().saturating_mul(posteriors.len());
    let evidence = Place::field("evidence");
    let mixture = GaussianMixture::new(weights, posteriors)
        .map_err(|error| RecordError::shape(evidence, error.to_string()))?;
    let mut stream = Stream::new(latent.seed(), MIXTURE_PURPOSE, text_key(entity), 0);
    let mut workspace = FactorWorkspace::default();
    mixture_uncertainty(
        &mixture,
        latent.decoder(),
        samples,
        &mut stream,
        &mut workspace,
    )
    .map(Some)
    .map_err(|error| RecordError::shape(evidence, error.to_string()))
}
