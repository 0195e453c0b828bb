//! Stage 2, first half: from a point of the latent space to a distribution over classes.
//!
//! | decoder | `p(y∣z)` | used for |
//! |---|---|---|
//! | [`MlpDecoder`] | softmax of a small network | the models of the paper |
//! | [`ProbitDecoder`] | `Φ(w·z + b)` for two classes | checks: its exact factor is known |

mod mlp;
mod probit;

pub use mlp::{DenseLayer, MlpDecoder, MlpError};
pub use probit::ProbitDecoder;

use crate::simplex::SimplexError;

/// Why points of the latent space could not be decoded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum DecodeError {
    /// The slices are not the same number of rows.
    #[error(
        "{latents} latent numbers ({dimension} per row) do not match {probabilities} \
         probabilities ({classes} per row)"
    )]
    Shape {
        latents: usize,
        dimension: usize,
        probabilities: usize,
        classes: usize,
    },
    /// A latent coordinate is NaN, infinite, or beyond the range in which the decoder cannot
    /// overflow.
    #[error(
        "latent row {row}, coordinate {coordinate}, is {value}; the decoder takes finite numbers \
         up to {limit:e} in magnitude"
    )]
    Latent {
        row: usize,
        coordinate: usize,
        value: f64,
        limit: f64,
    },
    /// The scores of a row cannot be turned into probabilities (they overflow when divided by a
    /// very small temperature).
    #[error("scores of row {row}: {source}")]
    Scores { row: usize, source: SimplexError },
}

impl DecodeError {
    /// The row that is to blame, where it is one.
    pub(super) fn row(&self) -> Option<usize> {
        match self {
            DecodeError::Latent { row, .. } | DecodeError::Scores { row, .. } => Some(*row),
            DecodeError::Shape { .. } => None,
        }
    }

    /// The same error of another row.
    pub(super) fn in_row(mut self, to: usize) -> Self {
        if let DecodeError::Latent { row, .. } | DecodeError::Scores { row, .. } = &mut self {
            *row = to;
        }
        self
    }
}

/// Room for a decoder's intermediate results; grows once and is used again.
#[derive(Clone, Debug, Default)]
pub struct DecoderWorkspace {
    /// What goes into a layer and what comes out of it.
    layers: Vec<f32>,
}

impl DecoderWorkspace {
    /// Two halves of at least so many numbers each, which hold whatever was there before.
    fn halves(&mut self, numbers: usize) -> (&mut [f32], &mut [f32]) {
        if self.layers.len() < 2 * numbers {
            self.layers.resize(2 * numbers, 0.0);
        }
        self.layers.split_at_mut(numbers)
    }
}

/// A conditional distribution `p(y∣z)` over classes, given a point of the latent space.
///
/// A pure function of `z`: the same row gives the same bits in any batch, on any machine.
pub trait Decoder: Sync {
    /// Numbers in one latent row; at least one.
    fn dimension(&self) -> usize;

    /// Classes, the numbers in one row of probabilities; at least one.
    fn classes(&self) -> usize;

    /// Decodes a batch: row-major latents of [`Decoder::dimension`] columns become row-major
    /// probabilities of [`Decoder::classes`] columns, each row non-negative with a sum within
    /// `(n + 1)·2⁻⁵²` of one.
    ///
    /// # Errors
    /// [`DecodeError`]; `probabilities` is then unspecified.
    fn decode(
        &self,
        latents: &[f64],
        probabilities: &mut [f64],
        workspace: &mut DecoderWorkspace,
    ) -> Result<(), DecodeError>;
}

/// The number of rows, if both slices have the same.
fn rows_of<D: Decoder + ?Sized>(
    decoder: &D,
    latents: &[f64],
    probabilities: &[f64],
) -> Result<usize, DecodeError> {
    let (dimension, classes) = (decoder.dimension(), decoder.classes());
    let rows = latents.len() / dimension;
    if rows.checked_mul(dimension) == Some(latents.len())
        && rows.checked_mul(classes) == Some(probabilities.len())
    {
        return Ok(rows);
    }
    Err(DecodeError::Shape {
        latents: latents.len(),
        dimension,
        probabilities: probabilities.len(),
        classes,
    })
}
