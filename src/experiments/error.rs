//! Why an experiment could not be run.

use std::sync::Arc;

use crate::aggregate::AggregateError;
use crate::assumptions::AssumptionError;
use crate::bounds::{BoundError, KishError};
use crate::calibration::CalibrationError;
use crate::error::{Error, ErrorKind};
use crate::latent::FactorError;
use crate::latent::decoder::DecodeError;
use crate::learn::{AggregatorError, DimensionError, TrainError, VaeError};
use crate::log::RecordError;
use crate::model::FitError;
use crate::simplex::SimplexError;
use crate::synthetic::UnknownDomain;
use crate::uncertainty::{MixtureError, UncertaintyError};

/// Why an experiment could not be run.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum ExperimentError {
    /// There is no such domain.
    #[error(transparent)]
    Domain(#[from] UnknownDomain),
    /// Training a whole model failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Training a part failed.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// An item could not be encoded.
    #[error(transparent)]
    Encode(#[from] VaeError),
    /// A latent could not be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A factor could not be computed.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// The model cannot answer.
    #[error(transparent)]
    Answerer(Arc<Error>),
    /// The evidence about an entity has no answer.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Factors could not be combined.
    #[error(transparent)]
    Aggregate(#[from] AggregateError),
    /// The learned aggregation failed.
    #[error(transparent)]
    Learned(#[from] AggregatorError),
    /// The effective dimension could not be computed.
    #[error(transparent)]
    Dimension(#[from] DimensionError),
    /// Numbers are no distribution.
    #[error(transparent)]
    Simplex(#[from] SimplexError),
    /// Predictions could not be judged.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// A bound was asked for outside its domain.
    #[error(transparent)]
    Bound(#[from] BoundError),
    /// An effective number of items could not be computed.
    #[error(transparent)]
    Kish(#[from] KishError),
    /// An assumption could not be checked.
    #[error(transparent)]
    Assumption(#[from] AssumptionError),
    /// Posteriors could not be mixed.
    #[error(transparent)]
    Mixture(#[from] MixtureError),
    /// An uncertainty could not be computed.
    #[error(transparent)]
    Uncertainty(#[from] UncertaintyError),
    /// The numbers of the paper that were given lack one that the experiment compares with.
    #[error("the paper's numbers were given without `{id}`")]
    NotPrinted { id: String },
    /// A number of trials from which nothing can be computed.
    #[error("{asked} trials were asked for; at least {least} are needed")]
    Trials { asked: usize, least: usize },
}

impl From<Error> for ExperimentError {
    fn from(error: Error) -> Self {
        ExperimentError::Answerer(Arc::new(error))
    }
}

impl From<ExperimentError> for Error {
    fn from(error: ExperimentError) -> Self {
        Error::new(ErrorKind::Experiment, error)
    }
}
