//! Epistemic and aleatoric uncertainty (theorem 7).
//!
//! Latents are drawn from the mixture that an entity's evidence leaves, `Σ α_i N(μ_i, Σ_i)`, and
//! decoded; what the decoded rows disagree about is *epistemic* (it goes away with knowledge of
//! `z`), what each of them leaves open is *aleatoric*.
//!
//! | module | what it holds |
//! |---|---|
//! | `mixture` | [`GaussianMixture`], sampled as it is and not as one Gaussian |
//! | `variance` | total = epistemic + aleatoric as variances, over any numbers |
//! | `entropy` | the same split of entropies: mutual information is the epistemic part |
//! | `estimate` | both from decoded rows, with Monte Carlo standard errors |

mod entropy;
mod estimate;
mod mixture;
mod variance;

pub use entropy::EntropyParts;
pub use estimate::{StandardErrors, Uncertainty, UncertaintyError, mixture_uncertainty};
pub use mixture::{GaussianMixture, MIXTURE_PURPOSE, MixtureError};
pub use variance::{ShapeError, VarianceParts, decomposition_scaled, variance_decomposition};
