//! Why an experiment could not be run.

use std::sync::Arc;

use crate::aggregate::AggregateError;
use crate::assumptions::AssumptionError;
use crate::bounds::{BoundError, KishError};
use crate::calibration::{CalibrationError, MapError};
use crate::error::{Error, ErrorKind};
use crate::latent::FactorError;
use crate::latent::decoder::DecodeError;
use crate::learn::{AggregatorError, DimensionError, TrainError, VaeError};
use crate::log::RecordError;
use crate::model::FitError;
use crate::simplex::SimplexError;
use crate::synthetic::{DamagedData, PackedError, UnknownDomain};
use crate::uncertainty::{MixtureError, UncertaintyError};

/// Why an experiment could not be run.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum ExperimentError {
    /// There is no such domain.
    #[error(transparent)]
    Domain(#[from] UnknownDomain),
    /// The embedded real data are not what they should be.
    #[error(transparent)]
    Real(#[from] PackedError),
    /// The embedded data cannot be used.
    #[error(transparent)]
    Data(#[from] DamagedData),
    #[error(transparent)]
    Fit(#[from] FitError),
    #[error(transparent)]
    Train(#[from] TrainError),
    #[error(transparent)]
    Encode(#[from] VaeError),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// The model cannot answer.
    #[error(transparent)]
    Answerer(Arc<Error>),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Aggregate(#[from] AggregateError),
    #[error(transparent)]
    Learned(#[from] AggregatorError),
    #[error(transparent)]
    Dimension(#[from] DimensionError),
    #[error(transparent)]
    Simplex(#[from] SimplexError),
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    #[error(transparent)]
    Map(#[from] MapError),
    #[error(transparent)]
    Bound(#[from] BoundError),
    #[error(transparent)]
    Kish(#[from] KishError),
    #[error(transparent)]
    Assumption(#[from] AssumptionError),
    #[error(transparent)]
    Mixture(#[from] MixtureError),
    #[error(transparent)]
    Uncertainty(#[from] UncertaintyError),
    /// The exact posterior was asked of data that have none.
    #[error("the exact posterior of these data is not known")]
    Unknown,
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
