//! A small network with ReLU layers and a softmax at its end, in single precision.

use pulp::Arch;

use super::rows_of;
use super::{DecodeError, Decoder, DecoderWorkspace};
use crate::math::ExactSum;
use crate::math::dense::{self, LayerShape};
use crate::simplex::softmax;

/// Why some numbers are not a decoder.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum MlpError {
    /// There is no layer.
    #[error("a decoder needs at least one layer")]
    NoLayers,
    /// A layer has no inputs or no outputs, or its weights or bias do not have their number.
    #[error(
        "a layer from {inputs} to {outputs} does not have {weights} weights and {biases} biases"
    )]
    LayerShape {
        inputs: usize,
        outputs: usize,
        weights: usize,
        biases: usize,
    },
    /// A weight is NaN or infinite.
    #[error("weight ({output}, {input}) is {value}")]
    Weight {
        output: usize,
        input: usize,
        value: f32,
    },
    /// A bias is NaN or infinite.
    #[error("bias {output} is {value}")]
    Bias { output: usize, value: f32 },
    /// A layer does not take what the one before gives.
    #[error("layer {layer} takes {inputs} inputs but is given {given}")]
    Chain {
        layer: usize,
        inputs: usize,
        given: usize,
    },
    /// The fixed inputs leave no room for a latent, or one of them is not finite.
    #[error("{length} fixed inputs do not fit a first layer of {inputs} inputs, or are not finite")]
    Context { length: usize, inputs: usize },
    /// The weights are so large that single precision overflows for every latent.
    #[error("output {output} of layer {layer} exceeds single precision whatever the latent")]
    Overflow { layer: usize, output: usize },
    /// The temperature is not a positive finite number.
    #[error("the temperature is {value}; it must be positive and finite")]
    Temperature { value: f64 },
}

/// An affine map `x ↦ W·x + b` in single precision.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseLayer {
    inputs: usize,
    outputs: usize,
    /// `[inputs][outputs]`, the layout of the kernel.
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl DenseLayer {
    /// From weights as they are usually stored: row-major `[outputs][inputs]`.
    ///
    /// # Errors
    /// [`MlpError`] names a number that is not finite, or the numbers that do not fit.
    pub fn new(
        inputs: usize,
        outputs: usize,
        weights: &[f32],
        bias: Vec<f32>,
    ) -> Result<Self, MlpError> {
        let fits = inputs.checked_mul(outputs) == Some(weights.len());
        if !fits || weights.is_empty() || bias.len() != outputs {
            return Err(MlpError::LayerShape {
                inputs,
                outputs,
                weights: weights.len(),
                biases: bias.len(),
            });
        }
        if let Some((i, &value)) = weights.iter().enumerate().find(|(_, w)| !w.is_finite()) {
            let (output, input) = (i / inputs, i % inputs);
            return Err(MlpError::Weight {
                output,
                input,
                value,
            });
        }
        if let Some((output, &value)) = bias.iter().enumerate().find(|(_, b)| !b.is_finite()) {
            return Err(MlpError::Bias { output, value });
        }
        let mut transposed = vec![0.0; weights.len()];
        dense::transpose(weights, inputs, &mut transposed, outputs);
        Ok(DenseLayer {
            inputs,
            outputs,
            weights: transposed,
            bias,
        })
    }

    /// The same map with its last inputs fixed: their part, added exactly and rounded once, goes
    /// into the bias.
    fn with_fixed_inputs(mut self, fixed: &[f32]) -> Result<Self, MlpError> {
        let (length, inputs) = (fixed.len(), self.inputs);
        let free = inputs.checked_sub(length).filter(|&free| free > 0);
        let finite = fixed.iter().all(|x| x.is_finite());
        let Some(free) = free.filter(|_| finite) else {
            return Err(MlpError::Context { length, inputs });
        };
        let fixed_weights = self.weights.split_off(free * self.outputs);
        for (output, bias) in self.bias.iter_mut().enumerate() {
            let column = fixed_weights.iter().skip(output).step_by(self.outputs);
            // A product of two singles is exact in double precision.
            let products = column
                .zip(fixed)
                .map(|(&w, &x)| f64::from(w) * f64::from(x));
            let mut sum: ExactSum = products.collect();
            sum.add(f64::from(*bias));
            *bias = sum.to_f32();
            if !bias.is_finite() {
                return Err(MlpError::Overflow { layer: 0, output });
            }
        }
        self.inputs = free;
        Ok(self)
    }
}

/// `p(y∣z) = softmax(network(z, context) / T)`.
///
/// Latents are rounded to single precision, all layers are computed in it, with ReLU after each but
/// the last; scores are then widened, divided by the temperature and exponentiated in double
/// precision. The context (for instance the embedding of the predicate that is asked for) is the
/// same for every latent, so its part of the first layer is computed once.
#[derive(Clone, Debug, PartialEq)]
pub struct MlpDecoder {
    layers: Vec<DenseLayer>,
    temperature: f64,
    /// Latents that round to at most this magnitude cannot make any layer overflow.
    limit: f32,
}

impl MlpDecoder {
    /// A decoder of the given layers, with temperature one. The first layer takes
    /// the latent followed by `context`.
    ///
    /// # Errors
    /// [`MlpError`] if the layers do not fit each other or the context, or would overflow for
    /// every latent.
    pub fn new(mut layers: Vec<DenseLayer>, context: &[f32]) -> Result<Self, MlpError> {
        if layers.is_empty() {
            return Err(MlpError::NoLayers);
        }
        let first = layers.remove(0).with_fixed_inputs(context)?;
        layers.insert(0, first);
        for layer in 1..layers.len() {
            let (given, inputs) = (layers[layer - 1].outputs, layers[layer].inputs);
            if given != inputs {
                return Err(MlpError::Chain {
                    layer,
                    inputs,
                    given,
                });
            }
        }
        Ok(MlpDecoder {
            limit: safe_magnitude(&layers)?,
            layers,
            temperature: 1.0,
        })
    }

    /// Divides the scores by `temperature`: above one flattens, below one sharpens.
    ///
    /// # Errors
    /// [`MlpError::Temperature`] unless it is positive and finite.
    pub fn with_temperature(mut self, temperature: f64) -> Result<Self, MlpError> {
        if !(temperature > 0.0 && temperature.is_finite()) {
            return Err(MlpError::Temperature { value: temperature });
        }
        self.temperature = temperature;
        Ok(self)
    }

    /// The error for latents of which one is not within the limit.
    fn beyond_limit(&self, latents: &[f64]) -> DecodeError {
        let beyond = |z: f64| z.is_nan() || (z as f32).abs() > self.limit;
        let index = latents.iter().position(|&z| beyond(z)).unwrap_or(0);
        DecodeError::Latent {
            row: index / self.dimension(),
            coordinate: index % self.dimension(),
            value: latents.get(index).copied().unwrap_or(f64::NAN),
            limit: f64::from(self.limit),
        }
    }

    /// Multiply-adds for one latent row, the measure of what a query costs.
    pub fn multiply_adds(&self) -> usize {
        self.layers.iter().map(|l| l.inputs * l.outputs).sum()
    }
}

/// The largest `r` such that no partial sum of any layer can exceed half of the largest single for
/// latents up to `r` in magnitude.
///
/// With `|x_i| ≤ a_i·r + c_i` for the inputs of a layer, each output and each partial sum of it is
/// at most `Σ|w_i|·(a_i·r + c_i) + |b|`, and ReLU only lowers it. Half of the range is left for
/// rounding, which adds less than `2·n·2⁻²⁴` relative to a layer of `n` inputs.
fn safe_magnitude(layers: &[DenseLayer]) -> Result<f32, MlpError> {
    let half = f64::from(f32::MAX) / 2.0;
    let mut limit = half;
    let mut bounds = vec![(1.0, 0.0); layers.first().map_or(0, |l| l.inputs)];
    for (layer, dense) in layers.iter().enumerate() {
        let mut next: Vec<(f64, f64)> = dense
            .bias
            .iter()
            .map(|&b| (0.0, f64::from(b).abs()))
            .collect();
        for (&(a, c), row) in bounds.iter().zip(dense.weights.chunks_exact(dense.outputs)) {
            for (bound, &w) in next.iter_mut().zip(row) {
                let w = f64::from(w).abs();
                *bound = (bound.0 + w * a, bound.1 + w * c);
            }
        }
        for (output, &(a, c)) in next.iter().enumerate() {
            if !(c <= half && a.is_finite()) {
                return Err(MlpError::Overflow { layer, output });
            }
            if a > 0.0 {
                limit = limit.min((half - c) / a);
            }
        }
        bounds = next;
    }
    // Rounding to single may go up by half a unit, which the other half of the range covers too.
    Ok(limit as f32)
}

/// Rounds to single precision; whether all are within the limit afterwards.
///
/// Every number is looked at, with no way out of the loop, so that it runs on vectors.
#[inline(always)]
fn round_within(latents: &[f64], rounded: &mut [f32], limit: f32) -> bool {
    let mut within = true;
    for (r, &z) in rounded.iter_mut().zip(latents) {
        *r = z as f32;
        within &= r.abs() <= limit;
    }
    within
}

#[inline(always)]
fn relu(values: &mut [f32]) {
    for x in values {
        *x = if *x > 0.0 { *x } else { 0.0 };
    }
}

impl Decoder for MlpDecoder {
    fn dimension(&self) -> usize {
        self.layers.first().map_or(1, |l| l.inputs)
    }

    fn classes(&self) -> usize {
        self.layers.last().map_or(1, |l| l.outputs)
    }

    fn decode(
        &self,
        latents: &[f64],
        probabilities: &mut [f64],
        workspace: &mut DecoderWorkspace,
    ) -> Result<(), DecodeError> {
        let rows = rows_of(self, latents, probabilities)?;
        let DecoderWorkspace { front, back } = workspace;
        front.resize(latents.len(), 0.0);
        if !Arch::new().dispatch(|| round_within(latents, front, self.limit)) {
            return Err(self.beyond_limit(latents));
        }
        for (index, layer) in self.layers.iter().enumerate() {
            let shape = LayerShape {
                rows,
                inputs: layer.inputs,
                outputs: layer.outputs,
            };
            back.resize(rows * layer.outputs, 0.0);
            let fits = dense::forward(shape, front, &layer.weights, &layer.bias, back);
            debug_assert!(
                fits.is_ok(),
                "layers were checked when the decoder was made"
            );
            if index + 1 < self.layers.len() {
                Arch::new().dispatch(|| relu(back));
            }
            std::mem::swap(front, back);
        }
        let classes = self.classes();
        let scores = front.chunks_exact(classes);
        let out = probabilities.chunks_exact_mut(classes);
        for (row, (scores, p)) in scores.zip(out).enumerate() {
            for (p, &score) in p.iter_mut().zip(scores) {
                *p = f64::from(score) / self.temperature;
            }
            softmax(p).map_err(|source| DecodeError::Scores { row, source })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
