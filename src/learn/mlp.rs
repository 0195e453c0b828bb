//! Chains of dense layers.

use std::ops::Range;

use super::Number;
use crate::latent::random::Stream;
use crate::math::dense::{self, DenseError, LayerShape};

/// The architecture of a network: dense layers with ReLU (and, in training, dropout) after each but
/// the last. The parameters live in a slice of the caller.
///
/// They are laid out layer by layer: weights `[inputs][outputs]`, then bias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mlp {
    sizes: Vec<usize>,
}

/// One dense layer of an [`Mlp`], and where its parameters are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    /// Inputs.
    pub inputs: usize,
    /// Outputs.
    pub outputs: usize,
    /// Where the weights are, `[inputs][outputs]`.
    pub weights: Range<usize>,
    /// Where the bias is.
    pub bias: Range<usize>,
}

impl Mlp {
    /// A network with these sizes, from its inputs to its outputs; `sizes.len() − 1` layers.
    pub(crate) fn new(sizes: &[usize]) -> Self {
        Mlp {
            sizes: sizes.to_vec(),
        }
    }

    /// The sizes, from inputs to outputs.
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// How many inputs it takes.
    pub(super) fn inputs(&self) -> usize {
        self.sizes.first().copied().unwrap_or(0)
    }

    /// Its layers, first to last.
    pub(crate) fn layers(&self) -> impl DoubleEndedIterator<Item = Layer> + ExactSizeIterator + '_ {
        let mut ends = Vec::with_capacity(self.sizes.len());
        let mut start = 0;
        for pair in self.sizes.windows(2) {
            ends.push(start);
            start += (pair[0] + 1) * pair[1];
        }
        self.sizes.windows(2).zip(ends).map(|(pair, start)| {
            let (inputs, outputs) = (pair[0], pair[1]);
            let middle = start + inputs * outputs;
            Layer {
                inputs,
                outputs,
                weights: start..middle,
                bias: middle..middle + outputs,
            }
        })
    }

    /// How many parameters it has: weights and biases.
    pub(crate) fn parameter_count(&self) -> usize {
        self.sizes.windows(2).map(|p| (p[0] + 1) * p[1]).sum()
    }

    /// Room for up to `rows` rows.
    pub(super) fn tape<T: Number>(&self, rows: usize) -> Tape<T> {
        let buffers = || -> Vec<Vec<T>> {
            let outputs = self.sizes.iter().skip(1);
            outputs.map(|n| vec![T::zero(); rows * n]).collect()
        };
        let largest = self.layers().map(|l| l.weights.len()).max().unwrap_or(0);
        Tape {
            outputs: buffers(),
            gradients: buffers(),
            transposed: vec![T::zero(); largest],
            keep: Vec::new(),
        }
    }

    /// Computes the outputs of all layers for `rows` rows of inputs and keeps them on the tape.
    ///
    /// With `dropout` (in training only), each hidden value is set to zero with its rate and the
    /// others are scaled up, so that the expected value stays.
    ///
    /// # Errors
    /// [`DenseError`] when inputs, parameters or tape do not fit the network.
    pub(super) fn forward<T: Number>(
        &self,
        parameters: &[T],
        rows: usize,
        inputs: &[T],
        tape: &mut Tape<T>,
        mut dropout: Option<&mut Dropout>,
    ) -> Result<(), DenseError> {
        let Tape { outputs, keep, .. } = tape;
        let last = self.sizes.len().saturating_sub(2);
        for (index, layer) in self.layers().enumerate() {
            let (before, after) = outputs.split_at_mut(index);
            let x = match before.last() {
                Some(x) => &x[..(rows * layer.inputs).min(x.len())],
                None => inputs,
            };
            let y = window(after.first_mut(), rows * layer.outputs);
            let (w, b) = (
                part(parameters, &layer.weights),
                part(parameters, &layer.bias),
            );
            dense::forward(layer.shape(rows), x, w, b, y)?;
            if index < last {
                match dropout.as_deref_mut() {
                    None => relu(y),
                    Some(dropout) => dropout.relu(y, keep),
                }
            }
        }
        Ok(())
    }

    /// Adds the gradients of all parameters to `gradients`, from the gradient of the outputs that
    /// the caller has put on the tape; writes that of the inputs to `inputs_gradient` if asked for.
    ///
    /// `scale` is the factor that dropout applied in [`Mlp::forward`] (one without dropout).
    ///
    /// # Errors
    /// [`DenseError`] when something does not fit the network.
    #[expect(clippy::too_many_arguments)]
    pub(super) fn backward<T: Number>(
        &self,
        parameters: &[T],
        rows: usize,
        inputs: &[T],
        tape: &mut Tape<T>,
        scale: T,
        mut gradients: Option<&mut [T]>,
        mut inputs_gradient: Option<&mut [T]>,
    ) -> Result<(), DenseError> {
        let Tape {
            outputs,
            gradients: deltas,
            transposed,
            ..
        } = tape;
        for (index, layer) in self.layers().enumerate().rev() {
            let (before, after) = deltas.split_at_mut(index);
            let dy = window(after.first_mut(), rows * layer.outputs);
            let x = match index.checked_sub(1).and_then(|i| outputs.get(i)) {
                Some(x) => &x[..(rows * layer.inputs).min(x.len())],
                None => inputs,
            };
            if let Some(gradients) = gradients.as_deref_mut() {
                let both = gradients.get_mut(layer.weights.start..layer.bias.end);
                let (dw, db) = both
                    .unwrap_or(&mut [])
                    .split_at_mut_checked(layer.weights.len())
                    .unwrap_or((&mut [], &mut []));
                dense::backward_weights(layer.shape(rows), x, dy, dw, db)?;
            }
            let w = part(parameters, &layer.weights);
            let room = window(Some(transposed), layer.weights.len());
            match before.last_mut() {
                Some(dx) => {
                    let dx = window(Some(dx), rows * layer.inputs);
                    dense::backward_input(layer.shape(rows), dy, w, room, dx)?;
                    // A hidden value is positive exactly where its input was and it was kept.
                    for (d, &y) in dx.iter_mut().zip(x) {
                        let slope = if y > T::zero() { scale } else { T::zero() };
                        *d *= slope;
                    }
                }
                None => {
                    if let Some(dx) = inputs_gradient.as_deref_mut() {
                        dense::backward_input(layer.shape(rows), dy, w, room, dx)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Fills `parameters` with Xavier's uniform start (Glorot and Bengio 2010): weights uniform in
    /// `±√(6/(inputs + outputs))`, biases zero. The last layer counts as `heads` layers side by
    /// side, each with its share of the outputs.
    pub(super) fn initialize<T: Number>(
        &self,
        parameters: &mut [T],
        stream: &mut Stream,
        heads: usize,
    ) {
        let last = self.sizes.len().saturating_sub(2);
        for (index, layer) in self.layers().enumerate() {
            let heads = if index == last { heads.max(1) } else { 1 };
            let fan = (layer.inputs + layer.outputs / heads) as f64;
            let bound = libm::sqrt(6.0 / fan);
            for w in parameters.get_mut(layer.weights).unwrap_or(&mut []) {
                *w = T::from_f64((2.0 * stream.uniform() - 1.0) * bound);
            }
            parameters
                .get_mut(layer.bias)
                .unwrap_or(&mut [])
                .fill(T::zero());
        }
    }
}

impl Layer {
    fn shape(&self, rows: usize) -> LayerShape {
        LayerShape {
            rows,
            inputs: self.inputs,
            outputs: self.outputs,
        }
    }
}

fn part<'a, T>(parameters: &'a [T], range: &Range<usize>) -> &'a [T] {
    parameters.get(range.clone()).unwrap_or(&[])
}

/// The first `n` entries, or nothing where there are fewer; the kernel then names what is missing.
fn window<T>(buffer: Option<&mut Vec<T>>, n: usize) -> &mut [T] {
    buffer.and_then(|b| b.get_mut(..n)).unwrap_or(&mut [])
}

/// Negative values become zero; NaN stays NaN, so that nothing undefined passes for a result.
fn relu<T: Number>(values: &mut [T]) {
    for v in values {
        *v = if *v < T::zero() { T::zero() } else { *v };
    }
}

/// What a forward pass leaves behind for the backward pass; made once, used for every batch.
#[derive(Clone, Debug)]
pub(crate) struct Tape<T> {
    outputs: Vec<Vec<T>>,
    gradients: Vec<Vec<T>>,
    transposed: Vec<T>,
    keep: Vec<u16>,
}

impl<T> Tape<T> {
    /// The outputs of the last layer, row by row; rows after those of the last pass are stale.
    pub(super) fn outputs(&self) -> &[T] {
        self.outputs.last().map_or(&[], |o| o)
    }

    /// Where the caller puts the gradient of the outputs before a backward pass, with the outputs
    /// beside it.
    pub(super) fn output_gradients(&mut self) -> (&[T], &mut [T]) {
        let outputs = self.outputs.last().map_or(&[][..], |o| o);
        let gradients = self.gradients.last_mut().map_or(&mut [][..], |g| g);
        (outputs, gradients)
    }
}

/// Dropout: which hidden values of a training step are set to zero.
#[derive(Clone, Debug)]
pub(crate) struct Dropout {
    /// A value is dropped when 16 random bits are below this.
    below: u16,
    stream: Stream,
}

impl Dropout {
    /// Drops each value with probability `rate`, rounded to a multiple of 2⁻¹⁶ below one.
    pub(super) fn new(rate: f64, stream: Stream) -> Self {
        // A conversion from float to integer stays within the range of the integer.
        let below = libm::round(rate * 65536.0) as u16;
        Dropout { below, stream }
    }

    /// `1/(1 − rate)`, by which kept values are multiplied.
    pub(super) fn scale(&self) -> f64 {
        65536.0 / (65536.0 - f64::from(self.below))
    }

    /// ReLU and dropout in one pass.
    fn relu<T: Number>(&mut self, values: &mut [T], keep: &mut Vec<u16>) {
        // Grows in the first step only.
        keep.resize(values.len().next_multiple_of(4), 0);
        for four in keep.chunks_exact_mut(4) {
            let bits = self.stream.next_u64();
            for (i, k) in four.iter_mut().enumerate() {
                *k = (bits >> (16 * i)) as u16;
            }
        }
        let (below, scale) = (self.below, T::from_f64(self.scale()));
        for (v, &k) in values.iter_mut().zip(keep.iter()) {
            let dropped = *v < T::zero() || k < below;
            *v = if dropped { T::zero() } else { *v * scale };
        }
    }
}

#[cfg(test)]
mod tests;
