//! Records, synthetic domains and model files.
//!
//! | file | what it holds |
//! |---|---|
//! | `record` | [`Record`]: one entity a line, and what can be wrong with it |
//! | `record_parse` | from a line of JSON to a record, naming the field of an error |
//! | `record_posterior` | the Gaussian that an item of evidence was logged with |
//! | `record_entity` | [`Entity`]: a record whose factors are distributions |
//! | `record_prediction` | [`Prediction`]: a line of a log, with the answer that was given |
//! | `record_lines` | [`LineReader`]: files of any length in constant memory |
//! | `columns` | [`Columns`]: predictions in columns, as comma-separated values |
//! | `parquet` | the same columns in Parquet files |
//! | `domain` | the eight [`DOMAINS`] of synthetic evidence |
//! | `synthetic` | [`Generator`]: entities whose Bayes posterior is known exactly |
//! | `corpus` | [`Corpus`]: labelled entities, and [`fit()`]: from them to a complete model |
//! | `digest` | SHA-256 of content |
//! | `calibration_file` | [`CalibrationFile`]: fitted calibration maps as JSON |
//! | `gate_file` | [`Gate`]: limits for an audit, as TOML |
//! | `model_file` | [`Model`]: trained models as safetensors |
//! | `latent_model` | [`LatentModel`]: factors and weights out of embeddings and posteriors |

mod calibration_file;
mod columns;
mod corpus;
mod digest;
mod domain;
mod gate_file;
mod latent_model;
mod model_file;
#[cfg(feature = "parquet")]
mod parquet;
mod record;
mod record_entity;
mod record_lines;
mod record_parse;
mod record_posterior;
mod record_prediction;
mod synthetic;

pub use calibration_file::{CalibrationFile, CalibrationFileError, MAX_CALIBRATION_BYTES};
pub use columns::{ColumnError, ColumnNames, Columns};
pub use corpus::{Corpus, FitError, FitProgress, FitSettings, fit};
pub use digest::{hexadecimal, sha256};
pub use domain::{DOMAINS, Domain, UnknownDomain};
pub use gate_file::{Gate, GateError, GateLimit, MAX_GATE_BYTES, Undecided};
pub use latent_model::{LatentModel, Posteriors};
pub use model_file::{MAX_MODEL_BYTES, Model, ModelError, aggregator_from_bytes, read_aggregator};
#[cfg(feature = "parquet")]
pub use parquet::{MAX_FOOTER_BYTES, MAX_HELD_BYTES, TableBatch, TableError, TableReader};
pub use record::{Evidence, Fault, Label, Place, Record, RecordError};
pub use record_entity::{ClassNames, DEFAULT_TOLERANCE, Entity, Expectations, check_names};
pub use record_lines::{Batch, LineReader, LinesError, MAX_LINE_BYTES};
pub use record_prediction::{LoggedUncertainty, Prediction};
pub use synthetic::{EMBEDDING, Generator, Split, SyntheticEntity};
