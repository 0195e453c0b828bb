//! LPF-Learned: attention over the items of an entity, learned.
//!
//! ```text
//! quality_i      = logistic(quality net(μ_i, ln σ_i²))
//! consistency_ij = logistic(consistency net(|μ_i − μ_j|, |ln σ_i² − ln σ_j²|))
//! w_i            = softplus(weight net(quality_i, mean_{j≠i} consistency_ij))
//! α_i = w_i / Σ w,   z = Σ α_i μ_i,   P(y) = p(y∣z)
//! ```
//!
//! Every sum over items is exact and rounded once, and the pair `(i, j)` has bit for bit the
//! features of `(j, i)`: the order of the items cannot be seen in the result.

use super::{Mlp, Number};
use crate::latent::decoder::DecodeError;
use crate::latent::random::{Stream, text_key};
use crate::latent::{Decoder, DecoderWorkspace, GaussianPosterior};
use crate::math::ExactSum;
use crate::math::dense::DenseError;
use crate::simplex::{Distribution, SimplexError};

/// What the consistency net sees of two means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Consistency {
    /// `|μ_i − μ_j|`: two items agree equally in both directions.
    #[default]
    Symmetric,
    /// `μ_i − μ_j`, as in models of the reference implementation: `i` may agree with `j` more than
    /// `j` with `i`. The order of the items still does not matter.
    Directed,
}

/// The sizes of an aggregator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AggregatorShape {
    /// Dimension of the latent space.
    pub latent: usize,
    /// Width of the first hidden layer; the second has half of it.
    pub hidden: usize,
    /// What the consistency net sees.
    pub consistency: Consistency,
}

impl Default for AggregatorShape {
    /// 64 latent dimensions, 16 hidden units (paper, section on theorem 3).
    fn default() -> Self {
        AggregatorShape {
            latent: 64,
            hidden: 16,
            consistency: Consistency::Symmetric,
        }
    }
}

impl AggregatorShape {
    /// The net for one item; that for pairs has the same sizes.
    pub(crate) fn item_net(&self) -> Mlp {
        Mlp::new(&[2 * self.latent, self.hidden, self.hidden / 2, 1])
    }

    /// The net from quality and consistency to a weight.
    pub(crate) fn weight_net(&self) -> Mlp {
        Mlp::new(&[2, self.hidden / 2, 1])
    }

    /// How many parameters there are; 4451 for the default sizes.
    pub fn parameter_count(&self) -> usize {
        2 * self.item_net().parameter_count() + self.weight_net().parameter_count()
    }
}

/// More items than this are refused: the work grows with their square, and a million items would
/// take weeks. From no number of items on is there a way in linear time: what a pair adds to both its items
/// is a network of the absolute differences of their 128 numbers, whose rectifiers do not split into a part
/// of each.
pub const MAX_ITEMS: usize = 10_000;

/// Pairs whose consistency is computed at once: their features, 128 KiB, stay in a second-level cache.
const BLOCK: usize = 256;

/// Why a learned aggregation is impossible.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum AggregatorError {
    /// There is no evidence.
    #[error("there is no evidence to aggregate")]
    Empty,
    /// There are more than [`MAX_ITEMS`] items.
    #[error(
        "{items} items are more than the learned aggregation compares in pairs ({MAX_ITEMS}); \
         use the product (spn) for so many"
    )]
    TooMany { items: usize },
    /// An item's latent space has another dimension than the model's.
    #[error("item {item} lies in {found} dimensions, the aggregator was trained in {expected}")]
    Dimension {
        item: usize,
        found: usize,
        expected: usize,
    },
    /// Single precision overflows for this item, or all weights vanish in it.
    #[error("the learned weight of item {item} is {value}")]
    Weight { item: usize, value: f64 },
    /// The number of parameters is not that of the shape.
    #[error("the aggregator has {found} parameters instead of {expected}")]
    ParameterCount { found: usize, expected: usize },
    /// A parameter is NaN or infinite.
    #[error("parameter {index} of the aggregator is not finite")]
    Parameter { index: usize },
    #[error(transparent)]
    Decode(DecodeError),
    #[error(transparent)]
    Decoded(SimplexError),
}

/// A learned aggregator with its parameters: quality net, consistency net, weight net.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregator<T = f32> {
    pub(super) shape: AggregatorShape,
    pub(super) item_net: Mlp,
    pub(super) weight_net: Mlp,
    pub(super) parameters: Vec<T>,
}

/// What the learned aggregation says about an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// `α`: how much each item counts, in the order of the items; sums to one up to rounding.
    pub attention: Vec<f64>,
    /// `z = Σ α_i μ_i`.
    pub latent: Vec<f64>,
    /// `p(y∣z)`.
    pub distribution: Distribution,
}

const START: u64 = text_key("learn: start of aggregator");

impl<T: Number> Aggregator<T> {
    /// Fresh parameters, Xavier's uniform start.
    pub fn new(shape: AggregatorShape, seed: u64) -> Self {
        let mut new = Aggregator::unchecked(shape, Vec::new());
        let mut parameters = vec![T::zero(); shape.parameter_count()];
        let n = new.item_net.parameter_count();
        let mut stream = Stream::new(seed, START, 0, 0);
        let (quality, rest) = parameters.split_at_mut(n);
        let (consistency, weight) = rest.split_at_mut(n);
        new.item_net.initialize(quality, &mut stream, 1);
        new.item_net.initialize(consistency, &mut stream, 1);
        new.weight_net.initialize(weight, &mut stream, 1);
        new.parameters = parameters;
        new
    }

    /// An aggregator from its parameters: quality, consistency, weight net.
    ///
    /// # Errors
    /// [`AggregatorError`] when their number is wrong or one is not finite.
    pub fn from_parameters(
        shape: AggregatorShape,
        parameters: Vec<T>,
    ) -> Result<Self, AggregatorError> {
        let (found, expected) = (parameters.len(), shape.parameter_count());
        if found != expected {
            return Err(AggregatorError::ParameterCount { found, expected });
        }
        if let Some(index) = parameters.iter().position(|p| !p.is_finite()) {
            return Err(AggregatorError::Parameter { index });
        }
        Ok(Aggregator::unchecked(shape, parameters))
    }

    fn unchecked(shape: AggregatorShape, parameters: Vec<T>) -> Self {
        Aggregator {
            shape,
            item_net: shape.item_net(),
            weight_net: shape.weight_net(),
            parameters,
        }
    }

    /// The sizes of the nets.
    pub fn shape(&self) -> AggregatorShape {
        self.shape
    }

    /// All parameters: quality, consistency, weight net.
    pub fn parameters(&self) -> &[T] {
        &self.parameters
    }

    /// The parameters of the three nets.
    pub fn parts(&self) -> [&[T]; 3] {
        let (quality, rest) = self.parameters.split_at(self.item_net.parameter_count());
        let (consistency, weight) = rest.split_at(self.item_net.parameter_count());
        [quality, consistency, weight]
    }

    /// Writes what the consistency net sees of items `a` and `b`, each `(μ, ln σ²)`.
    pub(super) fn pair_features(&self, a: (&[T], &[T]), b: (&[T], &[T]), out: &mut [T]) {
        let (means, spreads) = out.split_at_mut(self.shape.latent);
        for ((out, &a), &b) in means.iter_mut().zip(a.0).zip(b.0) {
            *out = match self.shape.consistency {
                Consistency::Symmetric => (a - b).abs(),
                Consistency::Directed => a - b,
            };
        }
        for ((out, &a), &b) in spreads.iter_mut().zip(a.1).zip(b.1) {
            *out = (a - b).abs();
        }
    }

    /// Whether the pair `(i, j)` has to be computed: each once, or in both directions.
    pub(super) fn computes(&self, i: usize, j: usize) -> bool {
        match self.shape.consistency {
            Consistency::Symmetric => i < j,
            Consistency::Directed => i != j,
        }
    }

    /// `w` of each item, from flat rows of `μ` and `ln σ²`.
    ///
    /// Pairs are computed item by item and in blocks that stay in a cache: the room needed grows with the
    /// number of items only.
    fn weights(&self, means: &[T], log_variances: &[T]) -> Result<Vec<T>, DenseError> {
        let d = self.shape.latent;
        let [quality, consistency, weight] = self.parts();
        let rows = |i: usize| (&means[i * d..][..d], &log_variances[i * d..][..d]);
        let count = means.len() / d;
        let mut tape = self.item_net.tape(count.min(BLOCK));
        let mut features = vec![T::zero(); count.min(BLOCK) * 2 * d];
        let mut inputs = vec![T::zero(); 2 * count];
        for (block, pairs) in inputs.chunks_mut(2 * BLOCK).enumerate() {
            let items = pairs.len() / 2;
            let features = &mut features[..items * 2 * d];
            for (i, row) in features.chunks_exact_mut(2 * d).enumerate() {
                let (mean, spread) = rows(block * BLOCK + i);
                row[..d].copy_from_slice(mean);
                row[d..].copy_from_slice(spread);
            }
            self.item_net
                .forward(quality, items, features, &mut tape, None)?;
            for (pair, q) in pairs.chunks_exact_mut(2).zip(tape.outputs()) {
                pair[0] = q.logistic();
            }
        }
        let mut sums = vec![ExactSum::new(); count];
        for i in 0..count {
            let others: Vec<usize> = (0..count).filter(|&j| self.computes(i, j)).collect();
            for others in others.chunks(BLOCK) {
                for (row, &j) in features.chunks_exact_mut(2 * d).zip(others) {
                    self.pair_features(rows(i), rows(j), row);
                }
                let features = &features[..others.len() * 2 * d];
                self.item_net
                    .forward(consistency, others.len(), features, &mut tape, None)?;
                for (&j, c) in others.iter().zip(tape.outputs()) {
                    let c = c.logistic().to_f64();
                    sums[i].add(c);
                    if self.shape.consistency == Consistency::Symmetric {
                        sums[j].add(c);
                    }
                }
            }
        }
        for (pair, sum) in inputs.chunks_exact_mut(2).zip(&sums) {
            pair[1] = mean_consistency(sum, count);
        }
        let mut tape = self.weight_net.tape(count);
        self.weight_net
            .forward(weight, count, &inputs, &mut tape, None)?;
        Ok(tape.outputs().iter().map(|o| o.softplus().0).collect())
    }
}

/// The mean over the other items; one for an item without others (its weight is then the only one,
/// and becomes one whatever it is).
pub(super) fn mean_consistency<T: Number>(sum: &ExactSum, count: usize) -> T {
    if count < 2 {
        T::one()
    } else {
        T::from_f64(sum.to_f64() / (count - 1) as f64)
    }
}

/// `Σ α_i μ_i`, coordinate by coordinate, exact before one rounding.
pub(super) fn weighted_mean<T: Number>(attention: &[T], means: &[T], out: &mut [T]) {
    let d = out.len();
    for (j, out) in out.iter_mut().enumerate() {
        let column = means.iter().skip(j).step_by(d);
        let products = attention.iter().zip(column).map(|(&a, &m)| a * m);
        *out = T::from_f64(products.map(|p| p.to_f64()).collect::<ExactSum>().to_f64());
    }
}

/// `w / Σ w`; the sum is exact before one rounding.
pub(super) fn attention<T: Number>(weights: &mut [T]) -> T {
    let total: ExactSum = weights.iter().map(|w| w.to_f64()).collect();
    let total = T::from_f64(total.to_f64());
    for w in weights {
        *w = *w / total;
    }
    total
}

impl Aggregator<f32> {
    /// Attention, aggregated latent and prediction for the items of an entity.
    ///
    /// The result is the same to the bit for every order of the items (with the attention moved
    /// along). Means are rounded to single precision.
    ///
    /// # Errors
    /// [`AggregatorError`] names the item that cannot be aggregated.
    pub fn predict(
        &self,
        decoder: &impl Decoder,
        posteriors: &[GaussianPosterior],
        workspace: &mut DecoderWorkspace,
    ) -> Result<Learned, AggregatorError> {
        let (attention, latent) = self.aggregate(posteriors)?;
        let mut probabilities = vec![0.0; decoder.classes()];
        decoder
            .decode(&latent, &mut probabilities, workspace)
            .map_err(AggregatorError::Decode)?;
        let distribution =
            Distribution::from_weights(probabilities).map_err(AggregatorError::Decoded)?;
        Ok(Learned {
            attention,
            latent,
            distribution,
        })
    }

    /// `α` and `z = Σ α_i μ_i`.
    ///
    /// # Errors
    /// As [`Aggregator::predict`].
    pub fn aggregate(
        &self,
        posteriors: &[GaussianPosterior],
    ) -> Result<(Vec<f64>, Vec<f64>), AggregatorError> {
        let expected = self.shape.latent;
        if posteriors.is_empty() {
            return Err(AggregatorError::Empty);
        }
        if posteriors.len() > MAX_ITEMS {
            let items = posteriors.len();
            return Err(AggregatorError::TooMany { items });
        }
        let (mut means, mut spreads) = (Vec::new(), Vec::new());
        for (item, posterior) in posteriors.iter().enumerate() {
            let found = posterior.dimension();
            if found != expected {
                return Err(AggregatorError::Dimension {
                    item,
                    found,
                    expected,
                });
            }
            means.extend(posterior.mean().iter().map(|&m| m as f32));
            spreads.extend(posterior.sigmas().map(log_variance));
        }
        let mut weights = self.weights(&means, &spreads).unwrap_or_default();
        let bad = |w: &f32| !w.is_finite();
        if let Some((item, &value)) = weights.iter().enumerate().find(|(_, w)| bad(w)) {
            let value = value.into();
            return Err(AggregatorError::Weight { item, value });
        }
        if attention(&mut weights) == 0.0 {
            return Err(AggregatorError::Weight {
                item: 0,
                value: 0.0,
            });
        }
        let mut latent = vec![0.0f32; expected];
        weighted_mean(&weights, &means, &mut latent);
        let wide = |x: Vec<f32>| x.into_iter().map(f64::from).collect();
        Ok((wide(weights), wide(latent)))
    }
}

/// `ln σ²` in single precision; finite for every positive double.
pub fn log_variance(sigma: f64) -> f32 {
    (2.0 * crate::math::ln(sigma)) as f32
}

#[cfg(test)]
mod tests;
