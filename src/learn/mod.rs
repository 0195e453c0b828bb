//! Learning: small networks, their gradients, and the two models trained with them.
//!
//! | file | what it holds |
//! |---|---|
//! | `number` | [`Number`]: what networks compute with, `f32` in earnest and `f64` for checks |
//! | `mlp` | [`Mlp`]: dense layers with ReLU and dropout between them, forward and backward |
//! | `loss` | cross-entropy of scores, Kullback–Leibler divergence from the standard normal |
//! | `adam` | [`Adam`] with L2 |
//! | `vae` | [`Vae`]: encoder and decoder, their loss |
//! | `vae_training` | [`train_vae`]: early stopping, best weights kept |
//!
//! Parameters of a model are one flat slice, gradients another of the same length. Training is one
//! fixed sequence of operations, and random draws come from streams named by seed, purpose and
//! step: the same seed gives the same weights to the bit, whatever the machine or its threads.

mod adam;
mod loss;
mod mlp;
mod number;
mod vae;
mod vae_training;

pub use adam::{Adam, AdamSettings};
pub use loss::{cross_entropy, standard_normal_kl};
pub use mlp::{Dropout, Mlp, Tape};
pub use number::Number;
pub use vae::{Loss, Vae, VaeError, VaeShape};
pub use vae_training::{Epoch, Labelled, TrainError, TrainSettings, Training, train_vae};
