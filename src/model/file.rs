//! Models as files: safetensors, with the settings in the header's metadata.
//!
//! Tensors have the names and the layout (`weight` `[out, in]`, `bias` `[out]`) of the reference
//! implementation, so that its files are read too; sizes are taken from the tensors. What tensors
//! cannot say stands as one JSON text under the metadata key `lpf`: names and prior of the classes,
//! temperature, kind of consistency, how the model was trained. One key, because a header lists
//! its keys in no particular order, and the same model must give the same bytes.

mod tensors;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use self::tensors::{Chain, Layer, TensorFile, Tensors, split_last};
use crate::files::write_file;
use crate::learn::{Aggregator, Consistency, Vae, VaeShape};
use crate::log::{LimitError, Limits, check_names, sha256};
use crate::simplex::Distribution;

/// The smallest standard deviation of reference models, which do not store it.
const REFERENCE_SIGMA_FLOOR: f64 = 1e-6;

/// Why a file is not a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum ModelError {
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It, or its header, is larger than a limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// It is not in the safetensors format, or cut off.
    #[error("not a complete safetensors file: {0}")]
    Format(String),
    /// A tensor is missing.
    #[error("there is no tensor {tensor}")]
    Missing { tensor: String },
    /// A tensor does not have the shape that the others ask for.
    #[error("tensor {tensor} has shape {found:?}, expected {expected}")]
    Shape {
        tensor: String,
        found: Vec<usize>,
        expected: String,
    },
    /// A tensor does not hold 32-bit floats.
    #[error("tensor {tensor} holds {found}; only F32 is read")]
    Type { tensor: String, found: String },
    /// A number is NaN, infinite or otherwise impossible.
    #[error("{0}")]
    Value(String),
    /// The settings in the metadata are not understood.
    #[error("the settings in the file's metadata: {0}")]
    Settings(String),
}

/// What a model file holds: encoder, decoder and perhaps a learned aggregator.
///
/// ```
/// use std::ops::ControlFlow;
/// use lpf::model::{FitSettings, Split, fit};
/// use lpf::synthetic::{DOMAINS, Generator};
/// use lpf::{Answerer, Method, Model};
///
/// let corpus = Generator::new(&DOMAINS[0]).corpus(1, 0, 20);
/// let split = Split::new(corpus.labels.len(), 1);
/// let mut settings = FitSettings::default();
/// settings.vae.epochs = 1;
/// let model = fit(&corpus, &split, &settings, |_| ControlFlow::Continue(()))?;
/// // The same model gives the same bytes, and these the same model.
/// assert_eq!(Model::from_bytes(&model.to_bytes()?)?, model);
/// let answerer = Answerer::builder(Method::Spn).model(model).build()?;
/// # Ok::<(), lpf::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Encoder and decoder.
    pub vae: Vae,
    /// The learned aggregator, where one was trained.
    pub aggregator: Option<Aggregator>,
    /// Names of the classes; `None` in files of the reference.
    pub classes: Option<Vec<String>>,
    /// Frequencies of the classes in training.
    pub prior: Option<Distribution>,
    /// How it was trained, in words and numbers that no computation depends on.
    pub provenance: Option<serde_json::Value>,
}

/// What tensors cannot say.
#[derive(Serialize, Deserialize)]
struct Settings {
    format: u32,
    sigma_floor: f64,
    temperature: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    consistency: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    classes: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prior: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provenance: Option<serde_json::Value>,
}

/// The version of [`Settings`] that is written and understood.
const FORMAT: u32 = 1;
const SETTINGS_KEY: &str = "lpf";
const SYMMETRIC: &str = "symmetric";
const DIRECTED: &str = "directed";

impl Model {
    /// Reads a model file.
    ///
    /// # Errors
    /// [`ModelError`] says what is wrong with it.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        Ok(Model::read_with_digest(path, &Limits::default())?.0)
    }

    /// Reads a model file within limits, and gives the SHA-256 of its bytes as well.
    ///
    /// # Errors
    /// [`ModelError`] says what is wrong with it.
    pub fn read_with_digest(path: &Path, limits: &Limits) -> Result<(Self, String), ModelError> {
        let bytes = read_limited(path, limits)?;
        Ok((
            Model::from_tensors(&TensorFile::new(&bytes, limits)?)?,
            sha256(&bytes),
        ))
    }

    /// Writes the model: completely, or not at all (see [`NewFile`](crate::files::NewFile)).
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn write(&self, path: &Path) -> Result<(), ModelError> {
        Ok(write_file(path, &self.to_bytes()?)?)
    }

    /// The model as bytes of a file; the same model gives the same bytes.
    ///
    /// # Errors
    /// [`ModelError::Format`] if the serializer refuses, which it has no reason to.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        let mut tensors = Tensors::default();
        let shape = self.vae.shape();
        let [encoder, decoder, predicate] = self.vae.parts();
        let (trunk, head) = split_last(&shape.encoder());
        tensors.put_layers("encoder.encoder", &trunk, encoder, 3);
        tensors.put_heads(&head, &encoder[trunk.parameter_count()..], shape.latent);
        let (hidden, last) = split_last(&shape.decoder());
        tensors.put_layers("decoder.mlp", &hidden, decoder, 3);
        let output = &decoder[hidden.parameter_count()..];
        tensors.put_layer("decoder.output_heads.class", last[0], last[1], output);
        let row = vec![1, predicate.len()];
        tensors.put(
            "decoder.predicate_embedding.embedding.weight",
            row,
            predicate.to_vec(),
        );
        if let Some(aggregator) = &self.aggregator {
            tensors.put_aggregator("aggregator.", aggregator);
        }
        let consistency = self
            .aggregator
            .as_ref()
            .map(|a| match a.shape().consistency {
                Consistency::Symmetric => SYMMETRIC.to_owned(),
                Consistency::Directed => DIRECTED.to_owned(),
            });
        let settings = Settings {
            format: FORMAT,
            sigma_floor: shape.sigma_floor,
            temperature: self.vae.temperature(),
            consistency,
            classes: self.classes.clone(),
            prior: self.prior.as_ref().map(|p| p.probabilities().to_vec()),
            provenance: self.provenance.clone(),
        };
        let text = serde_json::to_string(&settings)
            .map_err(|error| ModelError::Settings(error.to_string()))?;
        tensors.serialize(text)
    }

    /// A model from the bytes of a file. No size in the file is believed before it is checked
    /// against the number of bytes there are.
    ///
    /// # Errors
    /// [`ModelError`] says what is wrong with it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        Model::from_tensors(&TensorFile::new(bytes, &Limits::default())?)
    }

    fn from_tensors(file: &TensorFile<'_>) -> Result<Self, ModelError> {
        let settings = file.settings()?;
        let mut encoder = file.layers("encoder.encoder", 3)?;
        let mean = file.layer("encoder.fc_mu")?;
        let sigma = file.layer("encoder.fc_log_sigma")?;
        let latent = mean.outputs;
        encoder.push(Layer::side_by_side(mean, sigma)?);
        let head = file.only_head()?;
        let mut decoder = file.layers("decoder.mlp", 3)?;
        decoder.push(file.layer(&head)?);
        let predicate = file.predicate()?;
        let encoder = Chain::new("encoder", encoder)?;
        let decoder = Chain::new("decoder", decoder)?;
        if decoder.sizes[0] != latent + predicate.len() {
            return Err(ModelError::Shape {
                tensor: "decoder".into(),
                found: decoder.sizes,
                expected: format!(
                    "a decoder from {latent} latent and {} predicate dimensions",
                    predicate.len()
                ),
            });
        }
        let classes = decoder.sizes.last().copied().unwrap_or(0);
        let inner = |sizes: &[usize]| sizes[1..sizes.len() - 1].to_vec();
        let shape = VaeShape {
            embedding: encoder.sizes[0],
            encoder_hidden: inner(&encoder.sizes),
            latent,
            predicate: predicate.len(),
            decoder_hidden: inner(&decoder.sizes),
            classes,
            sigma_floor: settings
                .as_ref()
                .map_or(REFERENCE_SIGMA_FLOOR, |s| s.sigma_floor),
        };
        let parameters = [encoder.parameters, decoder.parameters, predicate].concat();
        let vae = Vae::from_parameters(shape, parameters)
            .map_err(|error| ModelError::Value(error.to_string()))?;
        let aggregator = if file.has("aggregator.quality_net.0.weight") {
            Some(file.aggregator("aggregator.", latent, settings.as_ref())?)
        } else {
            None
        };
        match settings {
            None => Ok(Model {
                vae,
                aggregator,
                classes: None,
                prior: None,
                provenance: None,
            }),
            Some(settings) => settings.into_model(vae, aggregator, classes),
        }
    }
}

/// Reads an aggregator in a file of its own within limits, as the reference implementation writes it.
///
/// # Errors
/// [`ModelError`] says what is wrong with it.
pub fn read_aggregator(path: &Path, limits: &Limits) -> Result<Aggregator, ModelError> {
    let bytes = read_limited(path, limits)?;
    aggregator_from_tensors(&TensorFile::new(&bytes, limits)?)
}

/// An aggregator from the bytes of a file of its own; directed consistency, as in the reference.
///
/// # Errors
/// [`ModelError`] says what is wrong with it.
pub fn aggregator_from_bytes(bytes: &[u8]) -> Result<Aggregator, ModelError> {
    aggregator_from_tensors(&TensorFile::new(bytes, &Limits::default())?)
}

fn aggregator_from_tensors(file: &TensorFile<'_>) -> Result<Aggregator, ModelError> {
    let first = file.layer("quality_net.0")?;
    file.aggregator("", first.inputs / 2, file.settings()?.as_ref())
}

fn read_limited(path: &Path, limits: &Limits) -> Result<Vec<u8>, ModelError> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(limits.model_bytes.saturating_add(1))
        .read_to_end(&mut bytes)?;
    limits.model_bytes(bytes.len() as u64)?;
    Ok(bytes)
}

impl Settings {
    fn into_model(
        self,
        vae: Vae,
        aggregator: Option<Aggregator>,
        classes: usize,
    ) -> Result<Model, ModelError> {
        let wrong = |what: String| Err(ModelError::Settings(what));
        for (name, value) in [
            ("sigma_floor", self.sigma_floor),
            ("temperature", self.temperature),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return wrong(format!("{name} is {value}; it must be positive and finite"));
            }
        }
        if let Some(names) = &self.classes {
            if names.len() != classes {
                return wrong(format!("{} class names for {classes} classes", names.len()));
            }
            if let Err(why) = check_names(names) {
                return wrong(format!("classes: {why}"));
            }
        }
        let prior = match self.prior {
            None => None,
            Some(p) if p.len() != classes => {
                return wrong(format!("a prior of {} for {classes} classes", p.len()));
            }
            Some(p) => match Distribution::new(p) {
                Ok(prior) => Some(prior),
                Err(error) => return wrong(format!("prior: {error}")),
            },
        };
        Ok(Model {
            vae: vae.with_temperature(self.temperature),
            aggregator,
            classes: self.classes,
            prior,
            provenance: self.provenance,
        })
    }
}

#[cfg(test)]
mod tests;
