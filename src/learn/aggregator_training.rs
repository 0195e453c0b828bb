//! Training of the learned aggregator, with encoder and decoder held fixed.

use std::ops::{ControlFlow, Range};

use super::aggregator::{attention, mean_consistency, weighted_mean};
use super::vae::DecoderWork;
use super::vae_training::{check_labels, shuffle};
use super::{
    Adam, AdamSettings, Aggregator, AggregatorShape, Consistency, Dropout, Epoch, Number, Tape,
    TrainError, TrainSettings, Training, Vae, cross_entropy,
};
use crate::latent::random::{Stream, text_key};
use crate::math::ExactSum;
use crate::math::dense::DenseError;

/// Entities with the encoded posteriors of their items.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entities<T = f32> {
    /// Rows of `μ`, item by item, entity by entity.
    pub means: Vec<T>,
    /// Rows of `ln σ²`, likewise.
    pub log_variances: Vec<T>,
    /// For each entity, its items as a range of rows; none is empty.
    pub items: Vec<Range<usize>>,
    /// For each entity, its class.
    pub labels: Vec<usize>,
}

/// How the aggregator is trained: hidden size and L2 of the paper, the rest as for the encoder.
pub fn aggregator_settings(seed: u64) -> TrainSettings {
    TrainSettings {
        // Entities, each with several items.
        batch: 32,
        adam: AdamSettings {
            l2: 1e-4,
            ..AdamSettings::default()
        },
        beta: 0.0,
        seed,
        ..TrainSettings::default()
    }
}

const DROPOUT: u64 = text_key("learn: dropout of the aggregator");

/// Trains quality, consistency and weight nets on `−ln p(label∣z)`, with early stopping.
///
/// # Errors
/// [`TrainError`] when data and shape do not fit, or the loss is no longer finite.
pub fn train_aggregator<T: Number>(
    shape: AggregatorShape,
    vae: &Vae<T>,
    training: &Entities<T>,
    validation: &Entities<T>,
    settings: &TrainSettings,
    mut observe: impl FnMut(&Epoch<'_>) -> ControlFlow<()>,
) -> Result<Training<Aggregator<T>>, TrainError> {
    training.check("training", shape.latent, vae)?;
    validation.check("validation", shape.latent, vae)?;
    let mut aggregator = Aggregator::<T>::new(shape, settings.seed);
    let mut adam = Adam::new(settings.adam, aggregator.parameters.len());
    let batch = settings.batch.clamp(1, training.labels.len());
    let mut work = Work::new(&aggregator, vae, batch, training);
    let mut order: Vec<usize> = (0..training.labels.len()).collect();
    let everything: Vec<usize> = (0..validation.labels.len()).collect();
    let mut validation_work = Work::new(&aggregator, vae, everything.len(), validation);
    let mut scores = Vec::new();
    let mut outcome = Training::new(&aggregator);
    let mut step = 0;
    for epoch in 1..=settings.epochs {
        shuffle(&mut order, settings.seed, epoch);
        let mut sum = 0.0;
        for entities in order.chunks(batch) {
            let mut dropout = Dropout::new(
                settings.dropout,
                Stream::new(settings.seed, DROPOUT, step, 0),
            );
            let scale = T::from_f64(dropout.scale());
            aggregator.forward(vae, training, entities, Some(&mut dropout), &mut work)?;
            sum += work.loss(training, entities, vae.shape().classes);
            aggregator.backward(vae, training, entities, scale, &mut work)?;
            adam.step(&mut aggregator.parameters, &work.gradients);
            step += 1;
        }
        aggregator.forward(vae, validation, &everything, None, &mut validation_work)?;
        scores.clear();
        let outputs = validation_work.decoder.tape.outputs().iter();
        scores.extend(outputs.map(|s| s.to_f64()));
        let loss = validation_work.loss(validation, &everything, vae.shape().classes);
        let loss = loss / everything.len() as f64;
        let total = sum / order.len() as f64;
        let judged = (&scores[..], &validation.labels[..]);
        if outcome.end_epoch(&aggregator, settings, (total, loss), judged, &mut observe)? {
            break;
        }
    }
    Ok(outcome)
}

impl<T: Number> Entities<T> {
    pub(super) fn check(
        &self,
        part: &'static str,
        latent: usize,
        vae: &Vae<T>,
    ) -> Result<(), TrainError> {
        if self.labels.is_empty() || latent == 0 {
            return Err(TrainError::Empty { part });
        }
        check_labels(&self.labels, vae.shape().classes)?;
        let rows = self.means.len() / latent;
        let fits = self.means.len() == self.log_variances.len()
            && self.items.len() == self.labels.len()
            && self.items.iter().all(|r| r.start < r.end && r.end <= rows)
            && vae.shape().latent == latent;
        if !fits {
            return Err(TrainError::Sizes(DenseError {
                argument: part,
                length: self.means.len(),
                rows: self.items.iter().map(|r| r.end).max().unwrap_or(0),
                columns: vae.shape().latent,
            }));
        }
        let numbers = self.means.iter().chain(&self.log_variances);
        match numbers.enumerate().find(|(_, x)| !x.is_finite()) {
            Some((index, _)) => Err(TrainError::Input { index }),
            None => Ok(()),
        }
    }

    /// `(μ, ln σ²)` of an item.
    fn item(&self, row: usize, latent: usize) -> (&[T], &[T]) {
        let range = row * latent..(row + 1) * latent;
        (&self.means[range.clone()], &self.log_variances[range])
    }
}

/// Room for passes over a batch of entities.
pub(super) struct Work<T> {
    item_features: Vec<T>,
    pair_features: Vec<T>,
    weight_inputs: Vec<T>,
    weight_gradients: Vec<T>,
    quality: Tape<T>,
    consistency: Tape<T>,
    weight: Tape<T>,
    /// `α` of each item in the batch.
    attention: Vec<T>,
    /// `Σ w` of each entity in the batch.
    totals: Vec<T>,
    latents: Vec<T>,
    sums: Vec<ExactSum>,
    pub decoder: DecoderWork<T>,
    pub gradients: Vec<T>,
}

impl<T: Number> Work<T> {
    /// Room for batches of `batch` entities out of `data`.
    pub(super) fn new(
        model: &Aggregator<T>,
        vae: &Vae<T>,
        batch: usize,
        data: &Entities<T>,
    ) -> Self {
        let mut sizes: Vec<usize> = data.items.iter().map(|r| r.len()).collect();
        sizes.sort_unstable();
        let largest = sizes.iter().rev().take(batch);
        let items: usize = largest.clone().sum();
        let pairs: usize = largest.map(|n| n * n.saturating_sub(1)).sum();
        let d = model.shape.latent;
        let zeros = |n: usize| vec![T::zero(); n];
        Work {
            item_features: zeros(items * 2 * d),
            pair_features: zeros(pairs * 2 * d),
            weight_inputs: zeros(items * 2),
            weight_gradients: zeros(items * 2),
            quality: model.item_net.tape(items),
            consistency: model.item_net.tape(pairs),
            weight: model.weight_net.tape(items),
            attention: zeros(items),
            totals: zeros(batch),
            latents: zeros(batch * d),
            sums: Vec::with_capacity(items),
            decoder: vae.decoder_work(batch),
            gradients: zeros(model.parameters.len()),
        }
    }

    /// Cross-entropy summed over the entities; its gradient, divided by their number, goes to the
    /// decoder's tape.
    fn loss(&mut self, data: &Entities<T>, entities: &[usize], classes: usize) -> f64 {
        let share = T::one() / T::from_count(entities.len());
        let (scores, deltas) = self.decoder.tape.output_gradients();
        deltas.copy_from_slice(scores);
        let rows = deltas.chunks_exact_mut(classes).zip(entities);
        rows.map(|(row, &e)| cross_entropy(row, data.labels[e], share))
            .sum()
    }
}

impl<T: Number> Aggregator<T> {
    /// Scores of the given entities, on the decoder's tape.
    pub(super) fn forward(
        &self,
        vae: &Vae<T>,
        data: &Entities<T>,
        entities: &[usize],
        mut dropout: Option<&mut Dropout>,
        work: &mut Work<T>,
    ) -> Result<(), DenseError> {
        let d = self.shape.latent;
        let [quality, consistency, weight] = self.parts();
        let mut rows = work.item_features.chunks_exact_mut(2 * d);
        let mut pair_rows = work.pair_features.chunks_exact_mut(2 * d);
        let (mut items, mut pairs) = (0, 0);
        for &entity in entities {
            let range = data.items[entity].clone();
            // The range first: an iterator in second place is not asked once too often.
            for (i, row) in range.clone().zip(&mut rows) {
                let (mean, spread) = data.item(i, d);
                row[..d].copy_from_slice(mean);
                row[d..].copy_from_slice(spread);
                items += 1;
            }
            let both = range
                .clone()
                .flat_map(|i| range.clone().map(move |j| (i, j)));
            let wanted = both.filter(|&(i, j)| self.computes(i, j));
            for ((i, j), row) in wanted.zip(&mut pair_rows) {
                self.pair_features(data.item(i, d), data.item(j, d), row);
                pairs += 1;
            }
        }
        let features = &work.item_features[..items * 2 * d];
        let tape = &mut work.quality;
        self.item_net
            .forward(quality, items, features, tape, dropout.as_deref_mut())?;
        let features = &work.pair_features[..pairs * 2 * d];
        let tape = &mut work.consistency;
        self.item_net
            .forward(consistency, pairs, features, tape, dropout)?;

        work.sums.clear();
        work.sums.resize(items, ExactSum::new());
        let mut at = 0;
        self.each_pair(data, entities, |_, i, j| {
            let c = work.consistency.outputs()[at].logistic().to_f64();
            work.sums[i].add(c);
            if self.shape.consistency == Consistency::Symmetric {
                work.sums[j].add(c);
            }
            at += 1;
        });
        let mut row = 0;
        for &entity in entities {
            let count = data.items[entity].len();
            for i in row..row + count {
                work.weight_inputs[2 * i] = work.quality.outputs()[i].logistic();
                work.weight_inputs[2 * i + 1] = mean_consistency(&work.sums[i], count);
            }
            row += count;
        }
        let inputs = &work.weight_inputs[..2 * items];
        self.weight_net
            .forward(weight, items, inputs, &mut work.weight, None)?;

        let mut row = 0;
        for (slot, &entity) in entities.iter().enumerate() {
            let range = data.items[entity].clone();
            let alpha = &mut work.attention[row..row + range.len()];
            for (a, o) in alpha.iter_mut().zip(&work.weight.outputs()[row..]) {
                *a = o.softplus().0;
            }
            work.totals[slot] = attention(alpha);
            let means = &data.means[range.start * d..range.end * d];
            weighted_mean(alpha, means, &mut work.latents[slot * d..(slot + 1) * d]);
            row += range.len();
        }
        vae.scores(&work.latents[..entities.len() * d], &mut work.decoder)
    }

    /// Calls `visit(number of others, i, j)` for each computed pair, with `i` and `j` as rows of
    /// the batch.
    fn each_pair(
        &self,
        data: &Entities<T>,
        entities: &[usize],
        mut visit: impl FnMut(usize, usize, usize),
    ) {
        let mut first = 0;
        for &entity in entities {
            let n = data.items[entity].len();
            for i in 0..n {
                for j in (0..n).filter(|&j| self.computes(i, j)) {
                    visit(n - 1, first + i, first + j);
                }
            }
            first += n;
        }
    }

    /// The gradient of all parameters, from that of the scores on the decoder's tape.
    pub(super) fn backward(
        &self,
        vae: &Vae<T>,
        data: &Entities<T>,
        entities: &[usize],
        scale: T,
        work: &mut Work<T>,
    ) -> Result<(), DenseError> {
        let d = self.shape.latent;
        let [quality, consistency, weight] = self.parts();
        work.gradients.fill(T::zero());
        let (quality_gradients, rest) = work.gradients.split_at_mut(quality.len());
        let (consistency_gradients, weight_gradients) = rest.split_at_mut(consistency.len());
        let dz = vae.latent_gradient(entities.len(), &mut work.decoder)?;

        // z = Σ α_i μ_i and α_i = w_i/Σw: dw_i = (dα_i − Σ α_j·dα_j)/Σw with dα_i = dz·μ_i.
        let (outputs, deltas) = work.weight.output_gradients();
        let mut row = 0;
        for ((&entity, dz), &total) in entities
            .iter()
            .zip(dz.chunks_exact(d + vae.shape().predicate))
            .zip(&work.totals)
        {
            let range = data.items[entity].clone();
            let alpha = &work.attention[row..row + range.len()];
            let deltas = &mut deltas[row..row + range.len()];
            let mut centre = T::zero();
            for ((delta, i), &a) in deltas.iter_mut().zip(range.clone()).zip(alpha) {
                let (mean, _) = data.item(i, d);
                *delta = mean.iter().zip(dz).fold(T::zero(), |s, (&m, &g)| s + m * g);
                centre += a * *delta;
            }
            for (delta, o) in deltas.iter_mut().zip(&outputs[row..]) {
                *delta = (*delta - centre) / total * o.softplus().1;
            }
            row += range.len();
        }
        let items = row;
        let inputs = &work.weight_inputs[..2 * items];
        let input_gradients = &mut work.weight_gradients[..2 * items];
        self.weight_net.backward(
            weight,
            items,
            inputs,
            &mut work.weight,
            T::one(),
            Some(weight_gradients),
            Some(input_gradients),
        )?;

        // Through the logistic functions: q(1 − q).
        let slope = |o: T| {
            let q = o.logistic();
            q * (T::one() - q)
        };
        let (outputs, deltas) = work.quality.output_gradients();
        for ((delta, &o), pair) in deltas
            .iter_mut()
            .zip(outputs)
            .zip(work.weight_gradients[..2 * items].chunks_exact(2))
        {
            *delta = pair[0] * slope(o);
        }
        let features = &work.item_features[..items * 2 * d];
        let tape = &mut work.quality;
        self.item_net.backward(
            quality,
            items,
            features,
            tape,
            scale,
            Some(quality_gradients),
            None,
        )?;
        let (outputs, deltas) = work.consistency.output_gradients();
        let mut pairs = 0;
        self.each_pair(data, entities, |others, i, j| {
            let mut g = work.weight_gradients[2 * i + 1];
            if self.shape.consistency == Consistency::Symmetric {
                g += work.weight_gradients[2 * j + 1];
            }
            deltas[pairs] = g / T::from_count(others) * slope(outputs[pairs]);
            pairs += 1;
        });
        let features = &work.pair_features[..pairs * 2 * d];
        let tape = &mut work.consistency;
        self.item_net.backward(
            consistency,
            pairs,
            features,
            tape,
            scale,
            Some(consistency_gradients),
            None,
        )
    }
}

#[cfg(test)]
mod tests;
