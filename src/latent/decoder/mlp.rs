//! A small network with ReLU layers and a softmax at its end, in single precision.

use pulp::{Arch, Simd, WithSimd};

use super::{DecodeError, Decoder, DecoderWorkspace, rows_of};
use crate::math::dense::{self, LayerShape};
use crate::math::lanes::LANES;
use crate::math::{ExactSum, SORTED};
use crate::simplex::{softmax, softmax_lanes};

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

    /// The scores of all rows: row by row, with vectors that run across the outputs of a layer; or, where there
    /// are many, class by class, with vectors that run across rows.
    fn scores<'w>(
        &self,
        side_by_side: bool,
        latents: &[f64],
        workspace: &'w mut DecoderWorkspace,
    ) -> Result<&'w [f32], DecodeError> {
        let rows = latents.len() / self.dimension();
        let widest = self.layers.iter().map(|layer| layer.outputs);
        let widest = widest.fold(self.dimension(), usize::max);
        let (mut front, mut back) = workspace.halves(rows * widest);
        let rounding = RoundWithin {
            latents,
            rounded: &mut front[..latents.len()],
            limit: self.limit,
            turned: side_by_side.then_some(self.dimension()),
        };
        if !Arch::new().dispatch(rounding) {
            return Err(self.beyond_limit(latents));
        }
        let forward = if side_by_side {
            dense::forward_columns
        } else {
            dense::forward
        };
        for (index, layer) in self.layers.iter().enumerate() {
            let shape = LayerShape {
                rows,
                inputs: layer.inputs,
                outputs: layer.outputs,
            };
            let x = &front[..rows * layer.inputs];
            let y = &mut back[..rows * layer.outputs];
            let fits = forward(shape, x, &layer.weights, &layer.bias, y);
            debug_assert!(
                fits.is_ok(),
                "layers were checked when the decoder was made"
            );
            if index + 1 < self.layers.len() {
                Arch::new().dispatch(Relu(y));
            }
            std::mem::swap(&mut front, &mut back);
        }
        Ok(&front[..rows * self.classes()])
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

/// From so many latents on, vectors run across them.
const MANY: usize = 8;

/// Rounds to single precision; whether all are within the limit afterwards.
///
/// Every number is looked at, with no way out of the loop, so that it runs on vectors.
struct RoundWithin<'a> {
    latents: &'a [f64],
    rounded: &'a mut [f32],
    limit: f32,
    /// The length of a row, where rows are to become columns.
    turned: Option<usize>,
}

impl WithSimd for RoundWithin<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let mut within = true;
        let Some(length) = self.turned else {
            for (r, &z) in self.rounded.iter_mut().zip(self.latents) {
                *r = z as f32;
                within &= r.abs() <= self.limit;
            }
            return within;
        };
        let rows = self.latents.len() / length;
        let mut tile = [[0.0; LANES]; LANES];
        for (block, some) in self.latents.chunks(LANES * length).enumerate() {
            for first in (0..length).step_by(LANES) {
                for (r, row) in some.chunks_exact(length).enumerate() {
                    for (line, &z) in tile.iter_mut().zip(&row[first..]) {
                        line[r] = z as f32;
                    }
                }
                let lines = self.rounded[first * rows..].chunks_exact_mut(rows);
                for (line, lanes) in lines.zip(&tile) {
                    let line = &mut line[block * LANES..];
                    if let Some(line) = line.first_chunk_mut() {
                        *line = *lanes;
                    } else {
                        let count = line.len();
                        line.copy_from_slice(&lanes[..count]);
                    }
                }
            }
        }
        for r in &*self.rounded {
            within &= r.abs() <= self.limit;
        }
        within
    }
}

struct Relu<'a>(&'a mut [f32]);

impl WithSimd for Relu<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for x in self.0 {
            *x = if *x > 0.0 { *x } else { 0.0 };
        }
    }
}

/// [`softmax`] of eight rows at a time, whose scores stand side by side; its output is how many rows from the
/// first on are done, which ends before scores that are not finite.
struct SoftmaxOfColumns<'a> {
    scores: &'a [f32],
    temperature: f64,
    out: &'a mut [f64],
    classes: usize,
}

impl WithSimd for SoftmaxOfColumns<'_> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        let classes = self.classes;
        let rows = self.scores.len() / classes;
        let mut lanes = [[0.0; LANES]; SORTED];
        let lanes = &mut lanes[..classes];
        let blocks = self.out.chunks_exact_mut(LANES * classes);
        for (block, out) in blocks.enumerate() {
            let mut finite = true;
            for (lanes, scores) in lanes.iter_mut().zip(self.scores.chunks_exact(rows)) {
                for (x, &score) in lanes.iter_mut().zip(&scores[block * LANES..][..LANES]) {
                    *x = f64::from(score) / self.temperature;
                    finite &= x.is_finite();
                }
            }
            if !finite {
                return block * LANES;
            }
            softmax_lanes(lanes);
            for (row, out) in out.chunks_exact_mut(classes).enumerate() {
                for (p, lanes) in out.iter_mut().zip(&*lanes) {
                    *p = lanes[row];
                }
            }
        }
        rows / LANES * LANES
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
        let (rows, classes) = (rows_of(self, latents, probabilities)?, self.classes());
        let side_by_side = rows >= MANY;
        let scores = self.scores(side_by_side, latents, workspace)?;
        let mut done = 0;
        if side_by_side && classes <= SORTED {
            done = Arch::new().dispatch(SoftmaxOfColumns {
                scores,
                temperature: self.temperature,
                out: probabilities,
                classes,
            });
        }
        let (of_row, of_class) = if side_by_side {
            (1, rows)
        } else {
            (classes, 1)
        };
        let out = probabilities.chunks_exact_mut(classes).enumerate();
        for (row, p) in out.skip(done) {
            let scores = scores[row * of_row..].iter().step_by(of_class);
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
