//! The sizes of a model, and what can be wrong with one.

use crate::latent::PosteriorError;
use crate::latent::decoder::MlpError;
use crate::learn::Mlp;

/// The sizes of encoder and decoder.
///
/// ```text
/// embedding → encoder_hidden… (ReLU) → μ (latent), s (latent);   σ = softplus(s) + sigma_floor
/// z (latent) ⊕ predicate embedding → decoder_hidden… (ReLU) → scores (classes)
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct VaeShape {
    /// Dimension of the embeddings of evidence.
    pub embedding: usize,
    /// Hidden layers of the encoder.
    pub encoder_hidden: Vec<usize>,
    /// Dimension of the latent space.
    pub latent: usize,
    /// Dimension of the learned embedding of the predicate that is asked for.
    pub predicate: usize,
    /// Hidden layers of the decoder.
    pub decoder_hidden: Vec<usize>,
    /// Number of classes.
    pub classes: usize,
    /// The smallest standard deviation.
    pub sigma_floor: f64,
}

impl Default for VaeShape {
    /// The sizes of the reference implementation, with three classes.
    fn default() -> Self {
        VaeShape {
            embedding: 384,
            encoder_hidden: vec![256, 128],
            latent: 64,
            predicate: 32,
            decoder_hidden: vec![128, 64],
            classes: 3,
            sigma_floor: 1e-6,
        }
    }
}

impl VaeShape {
    /// The encoder; both heads are one last layer, `μ` first.
    pub(crate) fn encoder(&self) -> Mlp {
        let mut sizes = vec![self.embedding];
        sizes.extend(&self.encoder_hidden);
        sizes.push(2 * self.latent);
        Mlp::new(&sizes)
    }

    /// The decoder, from latent and predicate embedding to scores.
    pub(crate) fn decoder(&self) -> Mlp {
        let mut sizes = vec![self.latent + self.predicate];
        sizes.extend(&self.decoder_hidden);
        sizes.push(self.classes);
        Mlp::new(&sizes)
    }

    /// How many parameters there are: encoder, decoder, predicate embedding.
    pub fn parameter_count(&self) -> usize {
        self.encoder().parameter_count() + self.decoder().parameter_count() + self.predicate
    }
}

/// Why a model could not be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum VaeError {
    /// The number of parameters is not that of the shape.
    #[error("the model has {found} parameters instead of {expected}")]
    ParameterCount { found: usize, expected: usize },
    /// A parameter is NaN or infinite.
    #[error("parameter {index} is {value}")]
    Parameter { index: usize, value: f32 },
    /// An embedding does not have the dimension of the model.
    #[error("an embedding has {found} numbers; the model was trained on {expected}")]
    Dimension { found: usize, expected: usize },
    /// A number of an embedding is NaN or infinite.
    #[error("number {coordinate} in the embedding of item {item} (both counted from 0) is {value}")]
    Embedding {
        item: usize,
        coordinate: usize,
        value: f32,
    },
    /// An item's encoding is not a Gaussian: its embedding is so large that single precision
    /// overflows.
    #[error("the embedding of item {item} (counted from 0) cannot be encoded: {source}")]
    Posterior { item: usize, source: PosteriorError },
    /// The decoder is not usable.
    #[error("decoder: {0}")]
    Decoder(MlpError),
}
