//! Tensors as a file has them: read by name with their shapes checked, and written.

use std::collections::HashMap;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::{DIRECTED, FORMAT, ModelError, SETTINGS_KEY, SYMMETRIC, Settings};
use crate::learn::{Aggregator, AggregatorShape, Consistency, Mlp};
use crate::log::Limits;
use crate::math::dense;

/// A dense layer as in the file, but with weights `[inputs][outputs]`.
pub(super) struct Layer {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    /// One layer with the outputs of both; they must have the same sizes.
    pub(super) fn side_by_side(a: Layer, b: Layer) -> Result<Layer, ModelError> {
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
pub(super) struct Chain {
    pub(super) sizes: Vec<usize>,
    pub(super) parameters: Vec<f32>,
}

impl Chain {
    pub(super) fn new(name: &str, layers: Vec<Layer>) -> Result<Chain, ModelError> {
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
pub(super) struct TensorFile<'a> {
    tensors: SafeTensors<'a>,
    metadata: Option<HashMap<String, String>>,
}

impl<'a> TensorFile<'a> {
    pub(super) fn new(bytes: &'a [u8], limits: &Limits) -> Result<Self, ModelError> {
        limits.header_of(bytes)?;
        let format = |error: safetensors::SafeTensorError| ModelError::Format(error.to_string());
        let tensors = SafeTensors::deserialize(bytes).map_err(format)?;
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(format)?;
        Ok(TensorFile {
            tensors,
            metadata: header.metadata().clone(),
        })
    }

    pub(super) fn settings(&self) -> Result<Option<Settings>, ModelError> {
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

    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// The numbers of a tensor with the given number of dimensions, and its shape.
    pub(super) fn numbers(
        &self,
        name: &str,
        dimensions: usize,
    ) -> Result<(Vec<usize>, Vec<f32>), ModelError> {
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

    pub(super) fn layer(&self, name: &str) -> Result<Layer, ModelError> {
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
    pub(super) fn layers(&self, name: &str, step: usize) -> Result<Vec<Layer>, ModelError> {
        (0..)
            .map(|i| format!("{name}.{}", i * step))
            .take_while(|n| self.has(&format!("{n}.weight")))
            .map(|n| self.layer(&n))
            .collect()
    }

    /// The one head of the decoder, by the name of its predicate.
    pub(super) fn only_head(&self) -> Result<String, ModelError> {
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

    pub(super) fn predicate(&self) -> Result<Vec<f32>, ModelError> {
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

    pub(super) fn aggregator(
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

pub(super) fn split_last(net: &Mlp) -> (Mlp, [usize; 2]) {
    let sizes = net.sizes();
    let n = sizes.len();
    (Mlp::new(&sizes[..n - 1]), [sizes[n - 2], sizes[n - 1]])
}

/// Tensors on their way to a file.
#[derive(Default)]
pub(super) struct Tensors(Vec<(String, Vec<usize>, Vec<u8>)>);

impl Tensors {
    pub(super) fn put(&mut self, name: &str, shape: Vec<usize>, values: Vec<f32>) {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.0.push((name.to_owned(), shape, bytes));
    }

    /// `parameters`: weights `[inputs][outputs]`, then bias.
    pub(super) fn put_layer(
        &mut self,
        name: &str,
        inputs: usize,
        outputs: usize,
        parameters: &[f32],
    ) {
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

    pub(super) fn put_layers(&mut self, name: &str, net: &Mlp, parameters: &[f32], step: usize) {
        for (i, layer) in net.layers().enumerate() {
            let range = layer.weights.start..layer.bias.end;
            let name = format!("{name}.{}", i * step);
            self.put_layer(&name, layer.inputs, layer.outputs, &parameters[range]);
        }
    }

    /// The last layer of the encoder as its two heads.
    pub(super) fn put_heads(
        &mut self,
        &[inputs, outputs]: &[usize; 2],
        parameters: &[f32],
        latent: usize,
    ) {
        for (name, first) in [("encoder.fc_mu", 0), ("encoder.fc_log_sigma", latent)] {
            let rows = parameters.chunks_exact(outputs).take(inputs + 1);
            // The bias is one more row of the same width.
            let columns = rows.flat_map(|row| &row[first..first + latent]).copied();
            self.put_layer(name, inputs, latent, &columns.collect::<Vec<f32>>());
        }
    }

    pub(super) fn put_aggregator(&mut self, prefix: &str, aggregator: &Aggregator) {
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

    pub(super) fn serialize(&self, settings: String) -> Result<Vec<u8>, ModelError> {
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
