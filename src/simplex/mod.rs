//! Distributions over finitely many classes, and the ways to combine and compare them.
//!
//! | file | what it holds |
//! |---|---|
//! | `distribution` | [`Distribution`], valid by construction |
//! | `normalize` | [`normalize()`] and [`softmax`] on slices, total over all input bits |
//! | `pool` | linear pool, and the generic sum and product over any scalar |
//! | `log_pool` | log pool, prior-corrected product, tempering |
//! | `distance` | entropy, Kullback–Leibler, L1, Hilbert's projective distance |

mod distance;
mod distribution;
mod log_pool;
mod normalize;
mod pool;

pub(crate) use distance::kl_term;
pub use distance::{entropy_bits, entropy_nats, hilbert_distance, kl_divergence, l1_distance};
pub use distribution::{Distribution, validate};
pub use log_pool::{LogPool, log_pool, prior_corrected, temper};
pub(crate) use normalize::softmax_lanes;
pub use normalize::{SimplexError, normalize, softmax};
pub use pool::{Contradiction, PoolError, linear_combination, linear_pool, power_product};
