//! Learning: small networks, their gradients, and the two models trained with them.
//!
//! | file | what it holds |
//! |---|---|
//! | `number` | [`Number`]: what networks compute with, `f32` in earnest and `f64` for checks |
//! | `softplus` | softplus of many numbers at once |
//! | `mlp` | `Mlp`: dense layers with ReLU and dropout between them, forward and backward |
//! | `loss` | cross-entropy of scores, Kullback–Leibler divergence from the standard normal |
//! | `adam` | Adam with L2; its [`AdamSettings`] |
//! | `vae` | [`Vae`]: encoder and decoder, their loss |
//! | `vae_training` | [`train_vae`]: early stopping, best weights kept |
//! | `temperature` | [`fit_temperature`] on held-out data |
//! | `aggregator` | [`Aggregator`]: LPF-Learned, attention over the items of an entity |
//! | `aggregator_training` | [`train_aggregator`] |
//! | `effective_dimension` | [`effective_dimension()`], the `d_eff` of theorem 3 |
//!
//! Parameters of a model are one flat slice, gradients another of the same length. Training is one
//! fixed sequence of operations, and random draws come from streams named by seed, purpose and
//! step: the same seed gives the same weights to the bit, whatever the machine or its threads.

mod adam;
mod aggregator;
mod aggregator_training;
mod effective_dimension;
mod loss;
mod mlp;
mod number;
mod softplus;
mod temperature;
mod vae;
mod vae_training;

use adam::Adam;
pub use adam::AdamSettings;
pub use aggregator::{
    Aggregator, AggregatorError, AggregatorShape, Consistency, Learned, MAX_ITEMS, log_variance,
};
pub use aggregator_training::{Entities, aggregator_settings, train_aggregator};
pub use effective_dimension::{DimensionError, effective_dimension};
use loss::{cross_entropy, standard_normal_kl};
pub(crate) use mlp::Mlp;
use mlp::{Dropout, Tape};
pub use number::Number;
pub use temperature::fit_temperature;
use vae::Loss;
pub use vae::{Vae, VaeError, VaeShape};
pub use vae_training::{Epoch, Labelled, TrainError, TrainSettings, Training, train_vae};

#[cfg(test)]
mod tests;
