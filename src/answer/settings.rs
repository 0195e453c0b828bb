//! The settings of an [`Answerer`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Answerer;
use crate::aggregate::Method;
use crate::error::{Error, Result, setters};
use crate::log::{DEFAULT_TOLERANCE, Expectations, Limits, check_names, sha256};
use crate::model::{CalibrationFile, LatentModel, Model, read_aggregator};
use crate::simplex::Distribution;

/// Samples drawn for an item, unless set: as many as the reference implementation draws.
pub const DEFAULT_SAMPLES: usize = 16;

/// Something that is in a file, or in memory already.
#[derive(Clone, Debug)]
pub enum Source<T> {
    /// The path of a file to be read.
    File(PathBuf),
    /// The thing itself.
    Memory(Box<T>),
}

impl<T> From<PathBuf> for Source<T> {
    fn from(path: PathBuf) -> Self {
        Source::File(path)
    }
}

impl<T> From<&Path> for Source<T> {
    fn from(path: &Path) -> Self {
        Source::File(path.to_path_buf())
    }
}

impl<T> From<&str> for Source<T> {
    fn from(path: &str) -> Self {
        Source::File(path.into())
    }
}

impl From<Model> for Source<Model> {
    fn from(model: Model) -> Self {
        Source::Memory(Box::new(model))
    }
}

impl From<CalibrationFile> for Source<CalibrationFile> {
    fn from(map: CalibrationFile) -> Self {
        Source::Memory(Box::new(map))
    }
}

/// The settings of an [`Answerer`]; see [`Answerer::builder`].
///
/// ```
/// use lpf::{Answerer, ErrorKind, Method};
///
/// let settings = Answerer::builder(Method::PriorCorrected).seed(7);
/// let error = settings.clone().build().unwrap_err();
/// assert_eq!((error.kind(), error.field()), (ErrorKind::Setting, Some("prior")));
/// let answerer = settings.prior([0.2, 0.8]).build()?;
/// // Without evidence the prior is the answer.
/// let answer = answerer.answer(r#"{"entity": "C5", "evidence": []}"#)?;
/// assert_eq!(answer.prediction.index(), 1);
/// # Ok::<(), lpf::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "settings do nothing before `build`"]
pub struct AnswererBuilder {
    method: Method,
    classes: Option<Vec<String>>,
    prior: Option<Vec<f64>>,
    model: Option<Source<Model>>,
    aggregator: Option<PathBuf>,
    samples: usize,
    seed: u64,
    tolerance: f64,
    calibration: Option<Source<CalibrationFile>>,
    influence: bool,
    limits: Limits,
}

impl AnswererBuilder {
    pub(super) fn new(method: Method) -> Self {
        AnswererBuilder {
            method,
            classes: None,
            prior: None,
            model: None,
            aggregator: None,
            samples: DEFAULT_SAMPLES,
            seed: 0,
            tolerance: DEFAULT_TOLERANCE,
            calibration: None,
            influence: false,
            limits: Limits::default(),
        }
    }

    /// Names of the classes, in the order of the factors; they come before a record's own. Unless
    /// set, those of the model or else of each record.
    pub fn classes<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.classes = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// The prior of the classes, for [`Method::PriorCorrected`]. Unless set, that of the model.
    pub fn prior(mut self, probabilities: impl Into<Vec<f64>>) -> Self {
        self.prior = Some(probabilities.into());
        self
    }

    /// A trained model, for evidence that is given as embeddings or posteriors: the path of a file,
    /// or a [`Model`].
    pub fn model(mut self, model: impl Into<Source<Model>>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The file of a learned aggregator that takes the place of the model's own.
    pub fn aggregator(mut self, path: impl Into<PathBuf>) -> Self {
        self.aggregator = Some(path.into());
        self
    }

    /// A map that every answer goes through: the path of a file, or a [`CalibrationFile`].
    pub fn calibration(mut self, map: impl Into<Source<CalibrationFile>>) -> Self {
        self.calibration = Some(map.into());
        self
    }

    setters! {
        /// Samples drawn for an item that has no factor, at least one [default: 16].
        samples: usize;
        /// Seed of all that is drawn [default: 0].
        seed: u64;
        /// How far the probabilities of a factor or a prior may be from adding up to one, in `[0, 1)`
        /// [default: 10⁻⁶]; within it they are divided by their sum.
        tolerance: f64;
        /// Whether answers list their items with their influence [default: no].
        influence: bool;
        /// How much is taken in of records and files.
        limits: Limits;
    }

    /// Reads the files and checks that the settings go together.
    ///
    /// # Errors
    /// Of kind [`Setting`](crate::ErrorKind::Setting), with the setting as the field; for files, of
    /// kind `Io`, `Model` or `Calibration`, with the file.
    pub fn build(self) -> Result<Answerer> {
        if !(0.0..1.0).contains(&self.tolerance) {
            let what = format!("{} is not in [0, 1)", self.tolerance);
            return Err(Error::setting("tolerance", what));
        }
        if self.samples == 0 {
            return Err(Error::setting("samples", "at least one is needed"));
        }
        let within = self.limits.samples(self.samples as u64);
        within.map_err(|error| Error::setting("samples", error.to_string()))?;
        if let Some(names) = &self.classes {
            check_names(names).map_err(|what| Error::setting("classes", what))?;
        }
        let (latent, digest) = match self.model {
            Some(source) => {
                let (model, digest) = read_model(source, self.aggregator.as_deref(), &self.limits)?;
                let latent = LatentModel::new(model, self.samples, self.seed)?;
                (Some(Arc::new(latent)), Some(digest))
            }
            None if self.aggregator.is_some() => {
                return Err(Error::setting(
                    "aggregator",
                    "has no meaning without a model",
                ));
            }
            None => (None, None),
        };
        let prior = match self.prior {
            Some(values) => Some(
                Distribution::from_rounded(values, &self.tolerance)
                    .map_err(|error| Error::setting("prior", error.to_string()))?,
            ),
            None => None,
        };
        if prior.is_some() && self.method != Method::PriorCorrected {
            let what = format!("has no meaning for method {}", self.method);
            return Err(Error::setting("prior", what));
        }
        if let (Some(names), Some(prior)) = (&self.classes, &prior)
            && names.len() != prior.classes()
        {
            let (n, p) = (names.len(), prior.classes());
            let what = format!("{n} names, but the prior has {p} classes");
            return Err(Error::setting("classes", what));
        }
        let calibration = match self.calibration {
            Some(Source::File(path)) => {
                let read = CalibrationFile::read(&path, &self.limits);
                Some(Arc::new(read.map_err(|e| Error::from(e).in_file(path))?))
            }
            Some(Source::Memory(map)) => Some(Arc::from(map)),
            None => None,
        };
        let of_model = || latent.as_ref()?.model().classes.clone();
        let answerer = Answerer {
            method: self.method,
            expect: Expectations {
                classes: self.classes.or_else(of_model).map(Into::into),
                tolerance: self.tolerance,
            },
            given_prior: prior,
            latent,
            digest,
            calibration,
            influence: self.influence,
            limits: self.limits,
        };
        answerer.checked()
    }
}

/// The model, with another aggregator where one is named, and the SHA-256 of its file.
fn read_model(
    source: Source<Model>,
    aggregator: Option<&Path>,
    limits: &Limits,
) -> Result<(Model, String)> {
    let (mut model, digest) = match source {
        Source::File(path) => {
            let read = Model::read_with_digest(&path, limits);
            read.map_err(|e| Error::from(e).in_file(path))?
        }
        Source::Memory(model) => {
            let digest = sha256(&model.to_bytes()?);
            (*model, digest)
        }
    };
    if let Some(path) = aggregator {
        let read = read_aggregator(path, limits).map_err(|e| Error::from(e).in_file(path))?;
        let (found, expected) = (read.shape().latent, model.vae.shape().latent);
        if found != expected {
            let what = format!(
                "the aggregator works in {found} latent dimensions, the model in {expected}"
            );
            return Err(Error::setting("aggregator", what));
        }
        model.aggregator = Some(read);
    }
    Ok((model, digest))
}
