//! A decoder whose expectation under a Gaussian is known in closed form.

use super::{DecodeError, Decoder, DecoderWorkspace, rows_of};
use crate::latent::GaussianPosterior;
use crate::math::ExactSum;
use crate::simplex::{Distribution, SimplexError};

/// Two classes, `p(1∣z) = Φ(w·z + b)` with the normal distribution function `Φ`.
///
/// Monte Carlo factors of this decoder can be compared with the exact ones:
/// `E[Φ(w·z + b)] = Φ((w·μ + b) / √(1 + wᵀΣw))` for `z ~ N(μ, Σ)`.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbitDecoder {
    weights: Vec<f64>,
    bias: f64,
}

impl ProbitDecoder {
    /// `Φ(w·z + b)`; `None` if there is no weight or a number is not finite.
    pub fn new(weights: Vec<f64>, bias: f64) -> Option<Self> {
        let finite = bias.is_finite() && weights.iter().all(|w| w.is_finite());
        (finite && !weights.is_empty()).then_some(ProbitDecoder { weights, bias })
    }

    /// The factor that Monte Carlo approaches as `M → ∞`; `None` if the posterior has another
    /// dimension, or where `w·μ` overflows.
    pub fn exact_factor(&self, posterior: &GaussianPosterior) -> Option<Distribution> {
        let variance = posterior.variance_along(&self.weights)?;
        let spread = libm::sqrt(1.0 + variance);
        let score = self.score(posterior.mean()) / spread;
        Distribution::from_weights(two_classes(score).to_vec()).ok()
    }

    fn score(&self, z: &[f64]) -> f64 {
        let mut sum: ExactSum = self.weights.iter().zip(z).map(|(w, z)| w * z).collect();
        sum.add(self.bias);
        sum.to_f64()
    }
}

/// `(Φ(−x), Φ(x))`, each with its own relative precision.
fn two_classes(x: f64) -> [f64; 2] {
    let half = x * std::f64::consts::FRAC_1_SQRT_2;
    [0.5 * libm::erfc(half), 0.5 * libm::erfc(-half)]
}

impl Decoder for ProbitDecoder {
    fn dimension(&self) -> usize {
        self.weights.len()
    }

    fn classes(&self) -> usize {
        2
    }

    fn decode(
        &self,
        latents: &[f64],
        probabilities: &mut [f64],
        _: &mut DecoderWorkspace,
    ) -> Result<(), DecodeError> {
        rows_of(self, latents, probabilities)?;
        let rows = latents.chunks_exact(self.dimension());
        for (row, (z, p)) in rows.zip(probabilities.chunks_exact_mut(2)).enumerate() {
            let score = self.score(z);
            if score.is_nan() {
                let source = SimplexError::NotANumber { index: 1 };
                return Err(DecodeError::Scores { row, source });
            }
            p.copy_from_slice(&two_classes(score));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_factor_agrees_with_numerical_integration() {
        // Simpson's rule on [−12, 12] in steps of 1/64: the integrand is analytic in a strip, and
        // what is cut off is below 10⁻³².
        let decoder = ProbitDecoder::new(vec![1.5], 0.25).unwrap();
        let posterior = GaussianPosterior::diagonal(vec![-0.5], vec![0.8]).unwrap();
        let integral: f64 = (-768..=768)
            .map(|i| {
                let t = f64::from(i) / 64.0;
                let weight = match i {
                    -768 | 768 => 1.0,
                    _ if i % 2 == 0 => 2.0,
                    _ => 4.0,
                };
                let density = (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
                weight / (3.0 * 64.0) * density * two_classes(1.5 * (0.8 * t - 0.5) + 0.25)[1]
            })
            .sum();
        let exact = decoder.exact_factor(&posterior).unwrap();
        assert!((exact.probabilities()[1] - integral).abs() < 1e-12);
    }

    #[test]
    fn far_scores_keep_their_small_class_and_nonsense_is_refused() {
        let [low, high] = two_classes(30.0);
        assert!(low > 0.0 && low < 1e-190 && high == 1.0);
        assert_eq!(two_classes(f64::INFINITY), [0.0, 1.0]);
        let decoder = ProbitDecoder::new(vec![1.0, -1.0], 0.0).unwrap();
        let mut out = [0.0; 2];
        let mut decode = |z: &[f64]| decoder.decode(z, &mut out, &mut Default::default());
        assert!(matches!(
            decode(&[f64::INFINITY, f64::INFINITY]),
            Err(DecodeError::Scores { row: 0, .. })
        ));
        assert!(matches!(decode(&[1.0]), Err(DecodeError::Shape { .. })));
        assert!(ProbitDecoder::new(vec![], 0.0).is_none());
        assert!(ProbitDecoder::new(vec![f64::NAN], 0.0).is_none());
    }
}
