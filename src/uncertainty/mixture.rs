//! The distribution over the latent space that an entity's evidence leaves: a mixture.

use crate::latent::GaussianPosterior;
use crate::latent::random::{Stream, text_key};
use crate::math::{ExactSum, Scalar};
use crate::simplex::{Distribution, SimplexError};

/// The purpose in the names of streams that mixtures are sampled with.
pub const MIXTURE_PURPOSE: u64 = text_key("posterior mixture");

/// Why there is no mixture.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum MixtureError {
    /// There are not as many weights as components.
    #[error("{components} components but {weights} weights")]
    WeightCount { components: usize, weights: usize },
    /// The weights are not non-negative numbers with a positive sum.
    #[error("weights of the mixture: {0}")]
    Weights(SimplexError),
    /// A component lives in another space than the first one.
    #[error("component {index} has {found} dimensions, not {expected}")]
    Dimension {
        index: usize,
        expected: usize,
        found: usize,
    },
}

/// `q(z∣E) = Σ α_i N(μ_i, Σ_i)` with weights `α` that add up to one.
///
/// Components are kept in an order that depends on their content only, so that the same set of
/// evidence gives the same draws however it was listed.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianMixture {
    components: Vec<GaussianPosterior>,
    /// `α`, in the order of `components`.
    weights: Vec<f64>,
    /// Exact partial sums of `α`, rounded once each; not decreasing, the last is one.
    cumulative: Vec<f64>,
}

impl GaussianMixture {
    /// Non-negative weights (they are divided by their sum) and as many components.
    ///
    /// # Errors
    /// [`MixtureError`] names the first thing that is wrong.
    pub fn new(weights: &[f64], components: Vec<GaussianPosterior>) -> Result<Self, MixtureError> {
        if weights.len() != components.len() {
            return Err(MixtureError::WeightCount {
                components: components.len(),
                weights: weights.len(),
            });
        }
        let alpha = Distribution::from_weights(weights.to_vec()).map_err(MixtureError::Weights)?;
        let dimensions = components.iter().map(GaussianPosterior::dimension);
        let expected = components.first().map_or(0, GaussianPosterior::dimension);
        if let Some((index, found)) = dimensions.enumerate().find(|&(_, d)| d != expected) {
            return Err(MixtureError::Dimension {
                index,
                expected,
                found,
            });
        }
        let mut pairs: Vec<(f64, GaussianPosterior)> =
            alpha.into_vec().into_iter().zip(components).collect();
        pairs.sort_by(|(a, p), (b, q)| p.canonical_cmp(q).then(a.total_cmp(b)));
        let (weights, components): (Vec<f64>, Vec<_>) = pairs.into_iter().unzip();
        let mut sum = ExactSum::new();
        let mut cumulative: Vec<f64> = weights
            .iter()
            .map(|&w| {
                sum.add(w);
                sum.to_f64()
            })
            .collect();
        // The weights add up to one but for rounding; dividing makes the last sum exactly one, so
        // that every uniform number below one finds its component.
        let total = sum.to_f64();
        cumulative.iter_mut().for_each(|c| *c /= total);
        Ok(GaussianMixture {
            components,
            weights,
            cumulative,
        })
    }

    /// The dimension of the latent space, at least one.
    pub fn dimension(&self) -> usize {
        self.components
            .first()
            .map_or(1, GaussianPosterior::dimension)
    }

    /// Components with their weights `α`, in canonical order.
    pub fn components(&self) -> impl ExactSizeIterator<Item = (f64, &GaussianPosterior)> {
        self.weights.iter().copied().zip(&self.components)
    }

    /// Fills `rows` with draws, row by row: a component by inverting the distribution function of
    /// `α` at a uniform number, then a draw from this Gaussian. Numbers after the last full row
    /// are left alone.
    ///
    /// A component's frequency is its `α` within `2⁻⁵²`; a component with `α = 0` is never drawn.
    pub fn sample(&self, stream: &mut Stream, rows: &mut [f64]) {
        for row in rows.chunks_exact_mut(self.dimension()) {
            let u = stream.uniform();
            let index = self.cumulative.partition_point(|&c| c <= u);
            if let Some(component) = self.components.get(index) {
                component.sample(stream, row);
            }
        }
    }

    /// Mean and variance of each coordinate:
    /// `μ̄ = Σ α_i μ_i` and `Σ α_i·(σ_i² + (μ_i − μ̄)²)`, with `σ²` and not `σ`.
    pub fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let weighted = |term: &dyn Fn(&GaussianPosterior) -> f64| {
            f64::sum(self.components().map(|(w, c)| w * term(c)))
        };
        let mean: Vec<f64> = (0..self.dimension())
            .map(|j| weighted(&|c| c.mean()[j]))
            .collect();
        let variance = |(j, m): (usize, &f64)| {
            weighted(&|c| {
                let off = c.mean()[j] - m;
                c.variances().nth(j).unwrap_or(0.0) + off * off
            })
        };
        let variances = mean.iter().enumerate().map(variance).collect();
        (mean, variances)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    const FALSE_ALARM: f64 = 1e-9;

    fn gaussian(mean: f64, sigma: f64) -> GaussianPosterior {
        GaussianPosterior::diagonal(vec![mean], vec![sigma]).unwrap()
    }

    fn draws(mixture: &GaussianMixture, n: usize) -> Vec<f64> {
        let mut z = vec![0.0; n];
        mixture.sample(&mut Stream::new(4, MIXTURE_PURPOSE, 0, 0), &mut z);
        z
    }

    #[test]
    fn draws_come_from_the_mixture_and_not_from_one_gaussian_like_it() {
        const N: usize = 400_000;
        let mixture =
            GaussianMixture::new(&[3.0, 1.0], vec![gaussian(-4.0, 0.5), gaussian(4.0, 2.0)])
                .unwrap();
        let z = draws(&mixture, N);
        let normal = |x: f64| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
        let mixed = |x: f64| 0.75 * normal((x + 4.0) / 0.5) + 0.25 * normal((x - 4.0) / 2.0);
        let (mean, variance) = mixture.moments();
        // By hand: −3 + 1 = −2; 0.75·(0.25 + 4) + 0.25·(4 + 36).
        assert_eq!((mean[0], variance[0]), (-2.0, 13.1875));
        let single = |x: f64| normal((x - mean[0]) / variance[0].sqrt());
        for edge in [-5.0, -4.0, -3.0, -1.0, 0.0, 2.0, 4.0, 7.0] {
            let count = z.iter().filter(|z| **z <= edge).count() as u64;
            let tail = |p: f64| {
                let b = Binomial::new(p, N as u64).unwrap();
                b.cdf(count).min(b.sf(count.saturating_sub(1)))
            };
            assert!(tail(mixed(edge)) > FALSE_ALARM / 2.0, "{edge}");
            // Negative control: a single Gaussian with the mixture's mean and variance.
            assert!(tail(single(edge)) < FALSE_ALARM / 2.0, "{edge}");
        }
        // Second moment within six standard errors, and the same with σ in place of σ² outside.
        let square = z.iter().map(|z| (z + 2.0) * (z + 2.0));
        let got = square.clone().sum::<f64>() / N as f64;
        let spread = square.map(|s| (s - got) * (s - got)).sum::<f64>().sqrt() / N as f64;
        assert!((got - variance[0]).abs() < 6.0 * spread);
        let with_sigma = 0.75 * (0.5 + 4.0) + 0.25 * (2.0 + 36.0);
        assert!((got - with_sigma).abs() > 6.0 * spread, "control");
    }

    #[test]
    fn the_order_of_evidence_changes_no_bit() {
        let parts = [
            (0.2, gaussian(1.0, 1.0)),
            (0.5, gaussian(-1.0, 1.0)),
            (0.1, gaussian(-1.0, 2.0)),
            (0.1, gaussian(1.0, 1.0)),
        ];
        let build = |order: [usize; 4]| {
            let weights = order.map(|i| parts[i].0);
            let components = order.map(|i| parts[i].1.clone()).to_vec();
            GaussianMixture::new(&weights, components).unwrap()
        };
        let want = build([0, 1, 2, 3]);
        for order in [[3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            assert_eq!(build(order), want);
            assert_eq!(draws(&build(order), 50), draws(&want, 50));
        }
    }

    #[test]
    fn components_without_weight_are_never_drawn() {
        let far = || gaussian(1e6, 1.0);
        let near = gaussian(0.0, 1.0);
        let below = gaussian(-1e6, 1.0);
        let components = vec![below, near, far(), far()];
        let mixture = GaussianMixture::new(&[0.0, 1e300, 0.0, 0.0], components).unwrap();
        assert!(draws(&mixture, 10_000).iter().all(|z| z.abs() < 100.0));
    }

    #[test]
    fn refuses_what_is_not_a_mixture() {
        let two = || vec![gaussian(0.0, 1.0), gaussian(1.0, 1.0)];
        let new = |w: &[f64], c| GaussianMixture::new(w, c).unwrap_err();
        assert!(matches!(
            new(&[1.0], two()),
            MixtureError::WeightCount { .. }
        ));
        assert_eq!(new(&[], vec![]), MixtureError::Weights(SimplexError::Empty));
        assert_eq!(
            new(&[0.0; 2], two()),
            MixtureError::Weights(SimplexError::NoMass)
        );
        assert!(matches!(
            new(&[1.0, -1.0], two()),
            MixtureError::Weights(SimplexError::Negative { index: 1, .. })
        ));
        let plane = GaussianPosterior::diagonal(vec![0.0; 2], vec![1.0; 2]).unwrap();
        let error = new(&[1.0, 1.0], vec![gaussian(0.0, 1.0), plane]);
        assert!(matches!(
            error,
            MixtureError::Dimension {
                index: 1,
                expected: 1,
                found: 2
            }
        ));
    }
}
