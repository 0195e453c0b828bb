//! Models as files: safetensors, with the settings in the header's metadata.
//!
//! Tensors have the names and the layout (`weight` `[out, in]`, `bias` `[out]`) of the reference
//! implementation, so that its files are read too; sizes are taken from the tensors. What tensors
//! cannot say stands as one JSON text under the metadata key `lpf`: names and prior of the classes,
//! temperature, kind of consistency, how the model was trained. One key, because a header lists
//! its keys in no particular order, and the same model must give the same bytes.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::learn::{Aggregator, AggregatorShape, Consistency, Mlp, Vae, VaeShape};
use crate::math::dense;
use crate::simplex::Distribution;

/// Larger files are refused before they are read; the default model has 0.7 megabytes.
pub const MAX_MODEL_BYTES: u64 = 256 << 20;

/// The smallest standard deviation of reference models, which do not store it.
const REFERENCE_SIGMA_FLOOR: f64 = 1e-6;

/// Why a file is not a model.
#[derive(Debug)]
#[non_exhaustive]
pub enum ModelError {
    /// It cannot be read or written.
    Io(std::io::Error),
    /// It has more than [`MAX_MODEL_BYTES`] bytes.
    TooLarge,
    /// It is not in the safetensors format, or cut off.
    Format(String),
    /// A tensor is missing.
    Missing {
        /// Its name.
        tensor: String,
    },
    /// A tensor does not have the shape that the others ask for.
    Shape {
        /// Its name.
        tensor: String,
        /// Its shape.
        found: Vec<usize>,
        /// What it should be, in words.
        expected: String,
    },
    /// A tensor does not hold 32-bit floats.
    Type {
        /// Its name.
        tensor: String,
        /// What it holds.
        found: String,
    },
    /// A number is NaN, infinite or otherwise impossible.
    Value(String),
    /// The settings in the metadata are not understood.
    Settings(String),
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::Io(error) => error.fmt(f),
            ModelError::TooLarge => write!(
                f,
                "the file is larger than {} megabytes, which no model of this kind is",
                MAX_MODEL_BYTES >> 20
            ),
            ModelError::Format(why) => {
                write!(f, "not a complete safetensors file: {why}")
            }
            ModelError::Missing { tensor } => write!(f, "there is no tensor {tensor}"),
            ModelError::Shape {
                tensor,
                found,
                expected,
            } => write!(
                f,
                "tensor {tensor} has shape {found:?}, expected {expected}"
            ),
            ModelError::Type { tensor, found } => {
                write!(f, "tensor {tensor} holds {found}; only F32 is read")
            }
            ModelError::Value(why) => write!(f, "{why}"),
            ModelError::Settings(why) => {
                write!(f, "the settings in the file's metadata: {why}")
            }
        }
    }
}

impl std::error::Error for ModelError {}

impl From<std::io::Error> for ModelError {
    fn from(error: std::io::Error) -> Self {
        ModelError::Io(error)
    }
}

/// What a model file holds.
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
        Model::from_bytes(&read_limited(path)?)
    }

    /// Writes the model: completely, or not at all. The bytes go to a file beside `path` first,
    /// which then takes its place, so that no reader ever sees half a model.
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn write(&self, path: &Path) -> Result<(), ModelError> {
        let bytes = self.to_bytes()?;
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = Path::new(&name);
        let written = File::create(part)
            .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
            .and_then(|()| std::fs::rename(part, path));
        if written.is_err() {
            // The error that matters is the one above.
            let _ = std::fs::remove_file(part);
        }
        Ok(written?)
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
        let file = TensorFile::new(bytes)?;
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

/// Reads an aggregator in a file of its own, as the reference implementation writes it.
///
/// # Errors
/// [`ModelError`] says what is wrong with it.
pub fn read_aggregator(path: &Path) -> Result<Aggregator, ModelError> {
    aggregator_from_bytes(&read_limited(path)?)
}

/// An aggregator from the bytes of a file of its own; directed consistency, as in the reference.
///
/// # Errors
/// [`ModelError`] says what is wrong with it.
pub fn aggregator_from_bytes(bytes: &[u8]) -> Result<Aggregator, ModelError> {
    let file = TensorFile::new(bytes)?;
    let first = file.layer("quality_net.0")?;
    file.aggregator("", first.inputs / 2, file.settings()?.as_ref())
}

fn read_limited(path: &Path) -> Result<Vec<u8>, ModelError> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_MODEL_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_MODEL_BYTES {
        return Err(ModelError::TooLarge);
    }
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
            if let Err(why) = super::check_names(names) {
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

/// A dense layer as in the file, but with weights `[inputs][outputs]`.
struct Layer {
    inputs: usize,
    outputs: usize,
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    /// One layer with the outputs of both; they must have the same sizes.
    fn side_by_side(a: Layer, b: Layer) -> Result<Layer, ModelError> {
        if (a.inputs, a.outputs) != (b.inputs, b.outputs) {
            return Err(ModelError::Shape {
                tensor: "encoder.fc_log_sigma.weight".into(),
                found: vec![b.outputs, b.inputs],
                expected: format!("[{}, {}] as fc_mu", a.outputs, a.inputs),
            });
        }
        let rows = a.weights.chunks(a.outputs).zip(b.weights.chunks(b.outputs));
        Ok(Layer {
            inputs: a.inputs,
            outputs: 2 * a.outputs,
            weights: rows.flat_map(|(a, b)| [a, b].concat()).collect(),
            bias: [a.bias, b.bias].concat(),
        })
    }
}

/// Layers that fit each other, as parameters of an [`Mlp`].
struct Chain {
    sizes: Vec<usize>,
    parameters: Vec<f32>,
}

impl Chain {
    fn new(name: &str, layers: Vec<Layer>) -> Result<Chain, ModelError> {
        let mut sizes: Vec<usize> = layers.first().map(|l| l.inputs).into_iter().collect();
        let mut parameters = Vec::new();
        for (index, layer) in layers.into_iter().enumerate() {
            if sizes.last() != Some(&layer.inputs) {
                return Err(ModelError::Shape {
                    tensor: format!("{name}, layer {index}"),
                    found: vec![layer.outputs, layer.inputs],
                    expected: format!(
                        "{:?} inputs, as many as the layer before has outputs",
                        sizes.last()
                    ),
                });
            }
            sizes.push(layer.outputs);
            parameters.extend(layer.weights);
            parameters.extend(layer.bias);
        }
        Ok(Chain { sizes, parameters })
    }
}

/// A parsed file.
struct TensorFile<'a> {
    tensors: SafeTensors<'a>,
    metadata: Option<HashMap<String, String>>,
}

impl<'a> TensorFile<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, ModelError> {
        let format = |error: safetensors::SafeTensorError| ModelError::Format(error.to_string());
        let tensors = SafeTensors::deserialize(bytes).map_err(format)?;
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(format)?;
        Ok(TensorFile {
            tensors,
            metadata: header.metadata().clone(),
        })
    }

    fn settings(&self) -> Result<Option<Settings>, ModelError> {
        let text = self.metadata.as_ref().and_then(|m| m.get(SETTINGS_KEY));
        let Some(text) = text else { return Ok(None) };
        let settings: Settings =
            serde_json::from_str(text).map_err(|e| ModelError::Settings(e.to_string()))?;
        if settings.format != FORMAT {
            return Err(ModelError::Settings(format!(
                "format {} is not understood, only {FORMAT}; use a newer version",
                settings.format
            )));
        }
        Ok(Some(settings))
    }

    fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// The numbers of a tensor with the given number of dimensions, and its shape.
    fn numbers(&self, name: &str, dimensions: usize) -> Result<(Vec<usize>, Vec<f32>), ModelError> {
        let missing = |_| ModelError::Missing {
            tensor: name.to_owned(),
        };
        let view = self.tensors.tensor(name).map_err(missing)?;
        if view.dtype() != Dtype::F32 {
            return Err(ModelError::Type {
                tensor: name.to_owned(),
                found: format!("{:?}", view.dtype()),
            });
        }
        let shape = view.shape().to_vec();
        if shape.len() != dimensions || shape.contains(&0) {
            return Err(ModelError::Shape {
                tensor: name.to_owned(),
                found: shape,
                expected: format!("{dimensions} dimensions, none of them zero"),
            });
        }
        let numbers = view.data().as_chunks::<4>().0;
        Ok((
            shape,
            numbers.iter().map(|&b| f32::from_le_bytes(b)).collect(),
        ))
    }

    fn layer(&self, name: &str) -> Result<Layer, ModelError> {
        let (shape, rows) = self.numbers(&format!("{name}.weight"), 2)?;
        let (outputs, inputs) = (shape[0], shape[1]);
        let (found, bias) = self.numbers(&format!("{name}.bias"), 1)?;
        if found != [outputs] {
            return Err(ModelError::Shape {
                tensor: format!("{name}.bias"),
                found,
                expected: format!("[{outputs}], the outputs of its weight"),
            });
        }
        let mut weights = vec![0.0; rows.len()];
        dense::transpose(&rows, inputs, &mut weights, outputs);
        Ok(Layer {
            inputs,
            outputs,
            weights,
            bias,
        })
    }

    /// `name.0`, `name.step`, `name.2·step`, … as many as there are. Between them the reference
    /// counts activations and dropout, which have no parameters.
    fn layers(&self, name: &str, step: usize) -> Result<Vec<Layer>, ModelError> {
        (0..)
            .map(|i| format!("{name}.{}", i * step))
            .take_while(|n| self.has(&format!("{n}.weight")))
            .map(|n| self.layer(&n))
            .collect()
    }

    /// The one head of the decoder, by the name of its predicate.
    fn only_head(&self) -> Result<String, ModelError> {
        const PREFIX: &str = "decoder.output_heads.";
        let mut names: Vec<&str> = self.tensors.names();
        names.retain(|n| n.starts_with(PREFIX) && n.ends_with(".weight"));
        match names[..] {
            [name] => Ok(name.trim_end_matches(".weight").to_owned()),
            [] => Err(ModelError::Missing {
                tensor: format!("{PREFIX}*.weight"),
            }),
            _ => Err(ModelError::Value(format!(
                "the decoder has {} heads; models for one predicate are read",
                names.len()
            ))),
        }
    }

    fn predicate(&self) -> Result<Vec<f32>, ModelError> {
        let name = "decoder.predicate_embedding.embedding.weight";
        if !self.has(name) {
            return Ok(Vec::new());
        }
        let (shape, numbers) = self.numbers(name, 2)?;
        if shape[0] != 1 {
            return Err(ModelError::Shape {
                tensor: name.to_owned(),
                found: shape,
                expected: "one row, the embedding of one predicate".into(),
            });
        }
        Ok(numbers)
    }

    fn aggregator(
        &self,
        prefix: &str,
        latent: usize,
        settings: Option<&Settings>,
    ) -> Result<Aggregator, ModelError> {
        let net = |name: &str, indices: &[usize]| -> Result<Chain, ModelError> {
            let layers: Result<Vec<Layer>, ModelError> = indices
                .iter()
                .map(|i| self.layer(&format!("{prefix}{name}.{i}")))
                .collect();
            Chain::new(name, layers?)
        };
        let quality = net("quality_net", ITEM_NET)?;
        let consistency = net("consistency_net", ITEM_NET)?;
        let weight = net("weight_net", WEIGHT_NET)?;
        let kind = settings.and_then(|s| s.consistency.as_deref());
        let shape = AggregatorShape {
            latent,
            hidden: quality.sizes[1],
            consistency: match kind {
                Some(SYMMETRIC) => Consistency::Symmetric,
                // The reference does not say, and is directed.
                Some(DIRECTED) | None => Consistency::Directed,
                Some(other) => {
                    return Err(ModelError::Settings(format!(
                        "consistency is {other:?}; it is {SYMMETRIC} or {DIRECTED}"
                    )));
                }
            },
        };
        for (name, chain, expected) in [
            ("quality_net", &quality, shape.item_net()),
            ("consistency_net", &consistency, shape.item_net()),
            ("weight_net", &weight, shape.weight_net()),
        ] {
            if chain.sizes != expected.sizes() {
                return Err(ModelError::Shape {
                    tensor: format!("{prefix}{name}"),
                    found: chain.sizes.clone(),
                    expected: format!("{:?}", expected.sizes()),
                });
            }
        }
        let parameters = [
            quality.parameters,
            consistency.parameters,
            weight.parameters,
        ]
        .concat();
        Aggregator::from_parameters(shape, parameters)
            .map_err(|error| ModelError::Value(error.to_string()))
    }
}

/// Positions of the layers with parameters in the nets of the reference.
const ITEM_NET: &[usize] = &[0, 3, 5];
const WEIGHT_NET: &[usize] = &[0, 2];

fn split_last(net: &Mlp) -> (Mlp, [usize; 2]) {
    let sizes = net.sizes();
    let n = sizes.len();
    (Mlp::new(&sizes[..n - 1]), [sizes[n - 2], sizes[n - 1]])
}

/// Tensors on their way to a file.
#[derive(Default)]
struct Tensors(Vec<(String, Vec<usize>, Vec<u8>)>);

impl Tensors {
    fn put(&mut self, name: &str, shape: Vec<usize>, values: Vec<f32>) {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.0.push((name.to_owned(), shape, bytes));
    }

    /// `parameters`: weights `[inputs][outputs]`, then bias.
    fn put_layer(&mut self, name: &str, inputs: usize, outputs: usize, parameters: &[f32]) {
        let (weights, bias) = parameters.split_at(inputs * outputs);
        let mut rows = vec![0.0; weights.len()];
        dense::transpose(weights, outputs, &mut rows, inputs);
        self.put(&format!("{name}.weight"), vec![outputs, inputs], rows);
        self.put(
            &format!("{name}.bias"),
            vec![outputs],
            bias[..outputs].to_vec(),
        );
    }

    fn put_layers(&mut self, name: &str, net: &Mlp, parameters: &[f32], step: usize) {
        for (i, layer) in net.layers().enumerate() {
            let range = layer.weights.start..layer.bias.end;
            let name = format!("{name}.{}", i * step);
            self.put_layer(&name, layer.inputs, layer.outputs, &parameters[range]);
        }
    }

    /// The last layer of the encoder as its two heads.
    fn put_heads(&mut self, &[inputs, outputs]: &[usize; 2], parameters: &[f32], latent: usize) {
        for (name, first) in [("encoder.fc_mu", 0), ("encoder.fc_log_sigma", latent)] {
            let rows = parameters.chunks_exact(outputs).take(inputs + 1);
            // The bias is one more row of the same width.
            let columns = rows.flat_map(|row| &row[first..first + latent]).copied();
            self.put_layer(name, inputs, latent, &columns.collect::<Vec<f32>>());
        }
    }

    fn put_aggregator(&mut self, prefix: &str, aggregator: &Aggregator) {
        let shape = aggregator.shape();
        let nets = [
            ("quality_net", shape.item_net(), ITEM_NET),
            ("consistency_net", shape.item_net(), ITEM_NET),
            ("weight_net", shape.weight_net(), WEIGHT_NET),
        ];
        for ((name, net, indices), parameters) in nets.iter().zip(aggregator.parts()) {
            for (layer, index) in net.layers().zip(*indices) {
                let range = layer.weights.start..layer.bias.end;
                let name = format!("{prefix}{name}.{index}");
                self.put_layer(&name, layer.inputs, layer.outputs, &parameters[range]);
            }
        }
    }

    fn serialize(&self, settings: String) -> Result<Vec<u8>, ModelError> {
        let format = |error: safetensors::SafeTensorError| ModelError::Format(error.to_string());
        let mut views = Vec::new();
        for (name, shape, bytes) in &self.0 {
            let view = TensorView::new(Dtype::F32, shape.clone(), bytes).map_err(format)?;
            views.push((name.as_str(), view));
        }
        let metadata = HashMap::from([(SETTINGS_KEY.to_owned(), settings)]);
        safetensors::serialize(views, Some(metadata)).map_err(format)
    }
}

#[cfg(test)]
mod tests;
