//! Models: their files, their training, and what they make of evidence.
//!
//! | file | what it holds |
//! |---|---|
//! | `file` | [`Model`]: trained models as safetensors |
//! | `latent` | [`LatentModel`]: factors and weights from embeddings and posteriors |
//! | `corpus` | [`Corpus`]: labelled entities, and [`fit()`]: from them to a complete model |
//! | `split` | [`Split`]: which entities are for training, validation and test |
//! | `calibration_file` | [`CalibrationFile`]: fitted calibration maps as JSON |

mod calibration_file;
mod corpus;
mod file;
mod latent;
mod split;

pub use calibration_file::{CalibrationFile, CalibrationFileError};
pub use corpus::{Corpus, FitError, FitProgress, FitSettings, fit};
pub use file::{Model, ModelError, aggregator_from_bytes, read_aggregator};
pub use latent::LatentModel;
pub use split::Split;
