//! Stage 1 and the decoder: a variational autoencoder whose decoder predicts the class.

mod shape;

pub use self::shape::{VaeError, VaeShape};
use super::effective_dimension::widen;
use super::{Dropout, Mlp, Number, Tape, cross_entropy, standard_normal_kl};
use crate::latent::decoder::{DenseLayer, MlpError};
use crate::latent::random::{Stream, text_key};
use crate::latent::{GaussianPosterior, MlpDecoder};
use crate::math::dense::{self, DenseError};

/// Encoder and decoder with their parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Vae<T = f32> {
    shape: VaeShape,
    encoder: Mlp,
    decoder: Mlp,
    /// Encoder, decoder, predicate embedding, one after the other.
    parameters: Vec<T>,
    /// Divides the decoder's scores; one unless fitted on held-out data.
    pub(super) temperature: f64,
}

/// Purpose of the stream that starting weights are drawn from.
const START: u64 = text_key("learn: start of encoder and decoder");

impl<T: Number> Vae<T> {
    /// Fresh parameters: Xavier's uniform start, each head of the encoder for itself.
    pub fn new(shape: VaeShape, seed: u64) -> Self {
        let mut parameters = vec![T::zero(); shape.parameter_count()];
        let mut vae = Vae::unchecked(shape, Vec::new());
        let (e, d) = (vae.encoder.parameter_count(), vae.decoder.parameter_count());
        let mut stream = Stream::new(seed, START, 0, 0);
        vae.encoder.initialize(&mut parameters[..e], &mut stream, 2);
        vae.decoder
            .initialize(&mut parameters[e..e + d], &mut stream, 1);
        // The embedding is a layer from the one predicate to its coordinates.
        let row = Mlp::new(&[1, vae.shape.predicate]);
        let mut embedding = vec![T::zero(); row.parameter_count()];
        row.initialize(&mut embedding, &mut stream, 1);
        for (p, start) in parameters[e + d..].iter_mut().zip(embedding) {
            *p = start;
        }
        vae.parameters = parameters;
        vae
    }

    /// A model from its parameters, in the order encoder, decoder, predicate embedding.
    ///
    /// # Errors
    /// [`VaeError`] when their number is wrong or one is not finite.
    pub fn from_parameters(shape: VaeShape, parameters: Vec<T>) -> Result<Self, VaeError> {
        let (found, expected) = (parameters.len(), shape.parameter_count());
        if found != expected {
            return Err(VaeError::ParameterCount { found, expected });
        }
        if let Some((index, p)) = parameters.iter().enumerate().find(|(_, p)| !p.is_finite()) {
            let value = p.to_f64() as f32;
            return Err(VaeError::Parameter { index, value });
        }
        Ok(Vae::unchecked(shape, parameters))
    }

    fn unchecked(shape: VaeShape, parameters: Vec<T>) -> Self {
        Vae {
            encoder: shape.encoder(),
            decoder: shape.decoder(),
            shape,
            parameters,
            temperature: 1.0,
        }
    }

    /// The sizes of the layers.
    pub fn shape(&self) -> &VaeShape {
        &self.shape
    }

    /// All parameters: encoder, decoder, predicate embedding.
    pub fn parameters(&self) -> &[T] {
        &self.parameters
    }

    pub(super) fn parameters_mut(&mut self) -> &mut [T] {
        &mut self.parameters
    }

    /// The parameters of encoder, decoder and predicate embedding.
    pub fn parts(&self) -> [&[T]; 3] {
        let (encoder, rest) = self.parameters.split_at(self.encoder.parameter_count());
        let (decoder, predicate) = rest.split_at(self.decoder.parameter_count());
        [encoder, decoder, predicate]
    }

    /// What the decoder's scores are divided by.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// The same model with another temperature, which must be positive and finite for
    /// [`Vae::decoder`] to succeed.
    pub fn with_temperature(self, temperature: f64) -> Self {
        Vae {
            temperature,
            ..self
        }
    }

    /// `μ` and `σ` of each item, row by row, from rows of embeddings; without dropout.
    ///
    /// # Errors
    /// [`VaeError::Dimension`] unless `embeddings` is whole rows.
    pub fn encode(&self, embeddings: &[T]) -> Result<(Vec<T>, Vec<T>), VaeError> {
        const ROWS: usize = 64;
        let (width, latent) = (self.shape.embedding, self.shape.latent);
        let mut tape = self.encoder.tape(ROWS);
        let (mut mean, mut sigma) = (Vec::new(), Vec::new());
        if width == 0 || !embeddings.len().is_multiple_of(width) {
            return Err(VaeError::Dimension {
                found: embeddings.len(),
                expected: width,
            });
        }
        let floor = T::from_f64(self.shape.sigma_floor);
        for rows in embeddings.chunks(ROWS * width) {
            let count = rows.len() / width;
            let [encoder, ..] = self.parts();
            let done = self.encoder.forward(encoder, count, rows, &mut tape, None);
            debug_assert!(done.is_ok(), "sizes come from the shape");
            for row in tape.outputs().chunks_exact(2 * latent).take(count) {
                let (m, s) = row.split_at(latent);
                mean.extend_from_slice(m);
                sigma.extend(s.iter().map(|s| s.softplus().0 + floor));
            }
        }
        Ok((mean, sigma))
    }

    /// Scores of the classes (before the temperature) for rows of latents.
    pub(super) fn scores(
        &self,
        latents: &[T],
        work: &mut DecoderWork<T>,
    ) -> Result<(), DenseError> {
        let latent = self.shape.latent;
        let rows = latents.len() / latent;
        let [_, parameters, predicate] = self.parts();
        let width = latent + self.shape.predicate;
        for (input, z) in work
            .inputs
            .chunks_exact_mut(width)
            .zip(latents.chunks(latent))
        {
            let (head, tail) = input.split_at_mut(latent);
            head.copy_from_slice(z);
            tail.copy_from_slice(predicate);
        }
        let inputs = work.inputs.get(..rows * width).unwrap_or(&[]);
        self.decoder
            .forward(parameters, rows, inputs, &mut work.tape, None)
    }

    /// The gradient of the latents from the gradient of the scores on the tape of `work`.
    pub(super) fn latent_gradient<'a>(
        &self,
        rows: usize,
        work: &'a mut DecoderWork<T>,
    ) -> Result<&'a [T], DenseError> {
        let [_, parameters, _] = self.parts();
        let size = rows * self.decoder.inputs();
        let DecoderWork {
            inputs,
            gradient,
            tape,
        } = work;
        let (x, dx) = (
            inputs.get(..size).unwrap_or(&[]),
            gradient.get_mut(..size).unwrap_or(&mut []),
        );
        self.decoder
            .backward(parameters, rows, x, tape, T::one(), None, Some(dx))?;
        Ok(gradient.get(..size).unwrap_or(&[]))
    }

    /// Room for a training step of up to `rows` rows.
    pub(super) fn work(&self, rows: usize) -> VaeWork<T> {
        let zeros = |n: usize| vec![T::zero(); n];
        VaeWork {
            encoder: self.encoder.tape(rows),
            decoder: self.decoder_work(rows),
            sigma: zeros(rows * self.shape.latent),
            slope: zeros(rows * self.shape.latent),
            gradients: zeros(self.parameters.len()),
        }
    }

    pub(super) fn decoder_work(&self, rows: usize) -> DecoderWork<T> {
        let width = rows * self.decoder.inputs();
        DecoderWork {
            inputs: vec![T::zero(); width],
            gradient: vec![T::zero(); width],
            tape: self.decoder.tape(rows),
        }
    }

    /// Loss and gradient of one batch: mean over the rows of
    /// `cross-entropy(scores(z), label) + β·KL(N(μ, σ²) ‖ N(0, 1))` with `z = μ + σ·noise`.
    ///
    /// The gradient is left in `work.gradients`. Without dropout and noise this is the loss that
    /// validation reports.
    ///
    /// # Errors
    /// [`DenseError`] when the batch does not fit the model or the room.
    pub(super) fn loss(
        &self,
        batch: Batch<'_, T>,
        beta: f64,
        mut dropout: Option<&mut Dropout>,
        work: &mut VaeWork<T>,
    ) -> Result<Loss, DenseError> {
        let (latent, rows) = (self.shape.latent, batch.labels.len());
        let [encoder, decoder, predicate] = self.parts();
        let scale = T::from_f64(dropout.as_ref().map_or(1.0, |d| d.scale()));
        let VaeWork {
            encoder: encoder_tape,
            decoder:
                DecoderWork {
                    inputs,
                    gradient,
                    tape,
                },
            sigma,
            slope,
            gradients,
        } = work;
        self.encoder.forward(
            encoder,
            rows,
            batch.inputs,
            encoder_tape,
            dropout.as_deref_mut(),
        )?;

        // z = μ + σ·noise, and the predicate beside it.
        let width = latent + predicate.len();
        let floor = T::from_f64(self.shape.sigma_floor);
        let size = rows * width;
        let mut kl = 0.0;
        let heads = encoder_tape.outputs().chunks_exact(2 * latent).take(rows);
        let spreads = sigma
            .chunks_exact_mut(latent)
            .zip(slope.chunks_exact_mut(latent));
        let noise = batch.noise.chunks_exact(latent);
        let lines = inputs.chunks_exact_mut(width).zip(spreads).zip(noise);
        for (head, ((input, (sigma, slope)), noise)) in heads.zip(lines) {
            let (mean, s) = head.split_at(latent);
            let (z, tail) = input.split_at_mut(latent);
            T::softplus_all(s, sigma, slope);
            for j in 0..latent {
                sigma[j] += floor;
                z[j] = mean[j] + sigma[j] * T::from_f64(noise[j]);
            }
            tail.copy_from_slice(predicate);
            kl += standard_normal_kl(mean, sigma);
        }

        // Scores, their cross-entropy, and back to z.
        let inputs = inputs.get(..size).unwrap_or(&[]);
        let share = T::one() / T::from_count(rows);
        self.decoder.forward(decoder, rows, inputs, tape, dropout)?;
        let mut entropy = 0.0;
        let (scores, deltas) = tape.output_gradients();
        deltas.copy_from_slice(scores);
        for (row, &label) in deltas
            .chunks_exact_mut(self.shape.classes)
            .zip(batch.labels)
        {
            entropy += cross_entropy(row, label, share);
        }
        gradients.fill(T::zero());
        let (encoder_gradients, rest) = gradients.split_at_mut(encoder.len());
        let (decoder_gradients, predicate_gradients) = rest.split_at_mut(decoder.len());
        let gradient = gradient.get_mut(..size).unwrap_or(&mut []);
        self.decoder.backward(
            decoder,
            rows,
            inputs,
            tape,
            scale,
            Some(decoder_gradients),
            Some(gradient),
        )?;

        // Through z to μ and s, with the gradient of β·KL: β·μ and β·(σ − 1/σ).
        let pull = T::from_f64(beta) * share;
        let (heads, deltas) = encoder_tape.output_gradients();
        let heads = heads.chunks_exact(2 * latent);
        let deltas = deltas.chunks_exact_mut(2 * latent);
        let spreads = sigma.chunks_exact(latent).zip(slope.chunks_exact(latent));
        let lines = gradient.chunks_exact(width).zip(spreads);
        let noise = batch.noise.chunks_exact(latent);
        for (((delta, head), (dz, (sigma, slope))), noise) in
            deltas.zip(heads).zip(lines).zip(noise)
        {
            let (dz, tail) = dz.split_at(latent);
            for (sum, &d) in predicate_gradients.iter_mut().zip(tail) {
                *sum += d;
            }
            let (d_mean, d_s) = delta.split_at_mut(latent);
            for j in 0..latent {
                d_mean[j] = dz[j] + pull * head[j];
                let d_sigma =
                    dz[j] * T::from_f64(noise[j]) + pull * (sigma[j] - T::one() / sigma[j]);
                d_s[j] = d_sigma * slope[j];
            }
        }
        self.encoder.backward(
            encoder,
            rows,
            batch.inputs,
            encoder_tape,
            scale,
            Some(encoder_gradients),
            None,
        )?;
        let count = rows as f64;
        Ok(Loss {
            cross_entropy: entropy / count,
            divergence: kl / count,
        })
    }
}

impl Vae<f32> {
    /// The same parameters in double precision.
    pub(super) fn widen(&self) -> Vae<f64> {
        Vae {
            temperature: self.temperature,
            ..Vae::unchecked(self.shape.clone(), widen(&self.parameters))
        }
    }

    /// Stage 1: the Gaussian of each item, from rows of embeddings.
    ///
    /// # Errors
    /// [`VaeError`] names the item whose embedding has the wrong size or is not finite.
    pub fn posteriors(&self, embeddings: &[f32]) -> Result<Vec<GaussianPosterior>, VaeError> {
        if let Some((i, &value)) = embeddings.iter().enumerate().find(|(_, x)| !x.is_finite()) {
            let width = self.shape.embedding.max(1);
            return Err(VaeError::Embedding {
                item: i / width,
                coordinate: i % width,
                value,
            });
        }
        let (mean, sigma) = self.encode(embeddings)?;
        let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        let rows = mean
            .chunks(self.shape.latent)
            .zip(sigma.chunks(self.shape.latent));
        rows.enumerate()
            .map(|(item, (mean, sigma))| {
                GaussianPosterior::diagonal(wide(mean), wide(sigma))
                    .map_err(|source| VaeError::Posterior { item, source })
            })
            .collect()
    }

    /// The decoder `p(y∣z)` with this model's parameters and temperature.
    ///
    /// # Errors
    /// [`VaeError::Decoder`] when the weights are too large for single precision.
    pub fn decoder(&self) -> Result<MlpDecoder, VaeError> {
        let [_, parameters, predicate] = self.parts();
        let layers: Result<Vec<DenseLayer>, MlpError> = self
            .decoder
            .layers()
            .map(|layer| {
                let weights = &parameters[layer.weights.clone()];
                let mut rows = vec![0.0; weights.len()];
                dense::transpose(weights, layer.outputs, &mut rows, layer.inputs);
                let bias = parameters[layer.bias.clone()].to_vec();
                DenseLayer::new(layer.inputs, layer.outputs, &rows, bias)
            })
            .collect();
        layers
            .and_then(|layers| MlpDecoder::new(layers, predicate))
            .and_then(|decoder| decoder.with_temperature(self.temperature))
            .map_err(VaeError::Decoder)
    }
}

/// One batch of a training step.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a, T> {
    /// Rows of embeddings.
    pub inputs: &'a [T],
    /// A class for each row.
    pub labels: &'a [usize],
    /// Standard normal draws, `latent` for each row; zeros decode the mean.
    pub noise: &'a [f64],
}

/// The two parts of the loss, each a mean over the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Loss {
    /// `−ln p(label)`.
    pub cross_entropy: f64,
    /// `KL(N(μ, σ²) ‖ N(0, 1))`.
    pub divergence: f64,
}

impl Loss {
    /// `cross-entropy + β·KL`.
    pub(super) fn total(self, beta: f64) -> f64 {
        self.cross_entropy + beta * self.divergence
    }
}

/// Room for passes through the decoder.
pub(super) struct DecoderWork<T> {
    inputs: Vec<T>,
    gradient: Vec<T>,
    pub tape: Tape<T>,
}

/// Room for a training step.
pub(super) struct VaeWork<T> {
    encoder: Tape<T>,
    pub decoder: DecoderWork<T>,
    sigma: Vec<T>,
    slope: Vec<T>,
    pub gradients: Vec<T>,
}

#[cfg(test)]
mod tests;
