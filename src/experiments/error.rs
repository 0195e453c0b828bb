//! Why an experiment could not be run.

use std::fmt;
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

/// One variant for each kind of cause, with its message and its conversion.
macro_rules! causes {
    ($($(#[$doc:meta])* $name:ident($cause:ty),)*) => {
        /// Why an experiment could not be run.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum ExperimentError {
            $($(#[$doc])* $name($cause),)*
            /// The numbers of the paper that were given lack one that the experiment compares with.
            NotPrinted {
                /// Its id.
                id: String,
            },
            /// A number of trials from which nothing can be computed.
            Trials {
                /// How many were asked for.
                asked: usize,
                /// How many are needed.
                least: usize,
            },
        }

        impl fmt::Display for ExperimentError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(ExperimentError::$name(cause) => cause.fmt(f),)*
                    ExperimentError::NotPrinted { id } => {
                        write!(f, "the paper's numbers were given without `{id}`")
                    }
                    ExperimentError::Trials { asked, least } => write!(
                        f,
                        "{asked} trials were asked for; at least {least} are needed"
                    ),
                }
            }
        }

        $(impl From<$cause> for ExperimentError {
            fn from(cause: $cause) -> Self {
                ExperimentError::$name(cause)
            }
        })*
    };
}

causes! {
    /// There is no such domain.
    Domain(UnknownDomain),
    /// Training a whole model failed.
    Fit(FitError),
    /// Training a part failed.
    Train(TrainError),
    /// An item could not be encoded.
    Encode(VaeError),
    /// A latent could not be decoded.
    Decode(DecodeError),
    /// A factor could not be computed.
    Factor(FactorError),
    /// The model cannot answer.
    Answerer(Arc<Error>),
    /// The evidence about an entity has no answer.
    Record(RecordError),
    /// Factors could not be combined.
    Aggregate(AggregateError),
    /// The learned aggregation failed.
    Learned(AggregatorError),
    /// The effective dimension could not be computed.
    Dimension(DimensionError),
    /// Numbers are no distribution.
    Simplex(SimplexError),
    /// Predictions could not be judged.
    Calibration(CalibrationError),
    /// A bound was asked for outside its domain.
    Bound(BoundError),
    /// An effective number of items could not be computed.
    Kish(KishError),
    /// An assumption could not be checked.
    Assumption(AssumptionError),
    /// Posteriors could not be mixed.
    Mixture(MixtureError),
    /// An uncertainty could not be computed.
    Uncertainty(UncertaintyError),
}

impl std::error::Error for ExperimentError {}

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
