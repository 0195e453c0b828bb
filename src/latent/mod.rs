//! Stages 1 to 3: Gaussian posteriors, decoders, Monte Carlo factors, confidence weights.
//!
//! | module | what it holds |
//! |---|---|
//! | [`random`] | one independent stream of draws for each name |
//! | `posterior` | [`GaussianPosterior`], stage 1 |
//! | [`decoder`] | `p(y∣z)`: the trait and two decoders |
//! | `factor` | the Monte Carlo factor and its standard error, stage 2 |
//! | `confidence` | [`Confidence`] weights, stage 3 |

mod confidence;
pub mod decoder;
mod factor;
mod posterior;
pub mod random;

pub use confidence::Confidence;
pub use decoder::{Decoder, DecoderWorkspace, MlpDecoder};
pub(crate) use factor::decode_samples;
pub use factor::{
    FACTOR_PURPOSE, Factor, FactorError, FactorWorkspace, factor_of_rows, monte_carlo_factor,
    monte_carlo_factors,
};
pub use posterior::{GaussianPosterior, PosteriorError};
