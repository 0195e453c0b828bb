//! Both splits from decoded rows, and how far Monte Carlo leaves them uncertain.

use super::entropy::{EntropyParts, class_means, entropy_term};
use super::mixture::GaussianMixture;
use super::variance::{ShapeError, VarianceParts, row_count, variance_decomposition};
use crate::latent::random::Stream;
use crate::latent::{Decoder, FactorError, FactorWorkspace, decode_samples};
use crate::math::{Scalar, ln};
use crate::simplex::{SimplexError, kl_term, validate};

/// Why uncertainty could not be estimated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum UncertaintyError {
    #[error(transparent)]
    Shape(ShapeError),
    /// A row is not a distribution.
    #[error("row {row}: {source}")]
    Row { row: usize, source: SimplexError },
    #[error(transparent)]
    Samples(FactorError),
}

/// Standard errors of the parts, from `M ≥ 2` independent samples.
///
/// Each part is, to first order, a mean over samples of one number per sample: for the two that
/// are means (aleatoric, expected entropy) exactly, for the others by linearizing in `p̄`. The
/// standard error is `√(s²/M)` with the sample variance `s²` (`1/(M − 1)`) of
///
/// | part | number of sample `m` |
/// |---|---|
/// | total | `Σ_y (1 − 2p̄)·p` |
/// | epistemic | `Σ_y (p − p̄)²` |
/// | aleatoric | `Σ_y p·(1 − p)` |
/// | predictive entropy | `−Σ_y p·ln p̄` |
/// | expected entropy | `H(p)` |
/// | mutual information | `D(p‖p̄)` |
///
/// Terms of order `1/M` are left out: where the linear part vanishes (the total at a uniform `p̄`),
/// the standard error says zero and the true one is of order `1/M`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardErrors {
    /// Standard errors of the variances.
    pub variance: VarianceParts,
    /// Standard errors of the entropies.
    pub entropy: EntropyParts,
}

/// Epistemic and aleatoric uncertainty of one prediction, as variances and as entropies.
///
/// The epistemic parts use `1/M`, as theorem 7 does, and are low on average: the variance by the
/// factor `1 − 1/M`.
///
/// ```
/// use lpf::uncertainty::Uncertainty;
/// // Two samples that are sure and contradict each other: all variance is epistemic.
/// let found = Uncertainty::of_rows(&[1.0, 0.0, 0.0, 1.0], 2)?;
/// assert_eq!((found.variance.epistemic, found.variance.aleatoric), (0.5, 0.0));
/// # Ok::<(), lpf::uncertainty::UncertaintyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertainty {
    /// `p̄`, the mean of the rows.
    pub mean: Vec<f64>,
    /// Variances; see [`variance_decomposition`].
    pub variance: VarianceParts,
    /// Entropies in nats.
    pub entropy: EntropyParts,
    /// `None` for one sample, where the spread is unknown.
    pub standard_errors: Option<StandardErrors>,
    /// The number of samples `M`.
    pub samples: usize,
}

impl Uncertainty {
    /// From decoded rows, row-major with `classes` columns. Their order does not matter.
    ///
    /// # Errors
    /// [`UncertaintyError::Shape`], or [`UncertaintyError::Row`] for the first row that is not a
    /// distribution (its sum may be off by `n + 1` units in the last place, as decoders promise).
    pub fn of_rows(rows: &[f64], classes: usize) -> Result<Self, UncertaintyError> {
        let samples = row_count(rows.len(), classes).map_err(UncertaintyError::Shape)?;
        let tolerance = (classes + 1) as f64 * f64::EPSILON;
        for (row, values) in rows.chunks_exact(classes).enumerate() {
            validate(values, &tolerance).map_err(|source| UncertaintyError::Row { row, source })?;
        }
        let variance = variance_decomposition(rows, classes).map_err(UncertaintyError::Shape)?;
        let mean = class_means(rows, classes, samples);
        Ok(Uncertainty {
            variance,
            entropy: EntropyParts::of_rows(rows, &mean, samples),
            standard_errors: (samples > 1).then(|| standard_errors(rows, &mean, samples)),
            mean,
            samples,
        })
    }
}

fn standard_errors(rows: &[f64], mean: &[f64], samples: usize) -> StandardErrors {
    // The spread of Σ_y term(p, p̄) over the rows.
    let of = |term: fn(f64, f64) -> f64| {
        let number = |row: &[f64]| row.iter().zip(mean).map(|(&p, &q)| term(p, q)).sum::<f64>();
        let numbers = || rows.chunks_exact(mean.len()).map(number);
        let center = f64::sum(numbers()) / samples as f64;
        let squares = f64::sum(numbers().map(|x| (x - center) * (x - center)));
        libm::sqrt(squares / (samples - 1) as f64 / samples as f64)
    };
    StandardErrors {
        variance: VarianceParts {
            total: of(|p, q| (1.0 - 2.0 * q) * p),
            epistemic: of(|p, q| (p - q) * (p - q)),
            aleatoric: of(|p, _| p * (1.0 - p)),
        },
        entropy: EntropyParts {
            // A class that no row allows has q = 0 and contributes nothing.
            predictive: of(|p, q| if p > 0.0 { -(p * ln(q)) } else { 0.0 }),
            expected: of(|p, _| entropy_term(p)),
            mutual_information: of(kl_term),
        },
    }
}

/// Draws `samples` latents from the mixture, decodes them and splits what they say.
///
/// # Errors
/// [`UncertaintyError::Samples`] where sampling or decoding fails.
pub fn mixture_uncertainty<D: Decoder + ?Sized>(
    mixture: &GaussianMixture,
    decoder: &D,
    samples: usize,
    stream: &mut Stream,
    workspace: &mut FactorWorkspace,
) -> Result<Uncertainty, UncertaintyError> {
    let draw = |rows: &mut [f64]| mixture.sample(stream, rows);
    decode_samples(mixture.dimension(), decoder, samples, draw, workspace)
        .map_err(UncertaintyError::Samples)?;
    Uncertainty::of_rows(workspace.probabilities(), decoder.classes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latent::GaussianPosterior;
    use crate::latent::decoder::ProbitDecoder;
    use crate::uncertainty::MIXTURE_PURPOSE;

    fn six(variance: &VarianceParts, entropy: &EntropyParts) -> [f64; 6] {
        [
            variance.total,
            variance.epistemic,
            variance.aleatoric,
            entropy.predictive,
            entropy.expected,
            entropy.mutual_information,
        ]
    }

    #[test]
    fn standard_errors_predict_the_spread_of_repeated_estimates() {
        // Three rows with probabilities .1, .7, .2; their mean is far from uniform, so that no linear
        // part vanishes.
        const REPEATS: usize = 3000;
        const M: usize = 200;
        let rows = [[0.1, 0.2, 0.7], [0.9, 0.05, 0.05], [0.5, 0.3, 0.2]];
        let mut estimates = Vec::new();
        let mut claimed = [0.0; 6];
        for repeat in 0..REPEATS {
            let mut stream = Stream::new(8, 0, 0, repeat as u64);
            let drawn: Vec<f64> = (0..M)
                .flat_map(|_| match stream.uniform() {
                    u if u < 0.1 => rows[0],
                    u if u < 0.8 => rows[1],
                    _ => rows[2],
                })
                .collect();
            let u = Uncertainty::of_rows(&drawn, 3).unwrap();
            estimates.push(six(&u.variance, &u.entropy));
            let errors = u.standard_errors.unwrap();
            for (c, e) in claimed
                .iter_mut()
                .zip(six(&errors.variance, &errors.entropy))
            {
                *c += e * e / REPEATS as f64;
            }
        }
        for (part, claimed) in claimed.iter().enumerate() {
            let values = || estimates.iter().map(|e| e[part]);
            let mean = values().sum::<f64>() / REPEATS as f64;
            let spread = values().map(|x| (x - mean) * (x - mean)).sum::<f64>() / REPEATS as f64;
            // A variance from 3000 near-normal numbers has a relative standard deviation of
            // √(2/3000) = 2.6 %; six of them, and 3 % for terms of order 1/M (M = 200).
            let ratio = claimed / spread;
            assert!((ratio - 1.0).abs() < 0.19, "part {part}: {ratio}");
        }
    }

    #[test]
    fn conflict_shows_as_epistemic_and_ambiguity_as_aleatoric() {
        let decoder = ProbitDecoder::new(vec![1.0], 0.0).unwrap();
        let run = |means: [f64; 2], order: [usize; 2]| {
            let components = order
                .map(|i| GaussianPosterior::diagonal(vec![means[i]], vec![0.1]).unwrap())
                .to_vec();
            let mixture = GaussianMixture::new(&[1.0, 1.0], components).unwrap();
            let mut stream = Stream::new(2, MIXTURE_PURPOSE, 0, 0);
            let mut workspace = FactorWorkspace::default();
            mixture_uncertainty(&mixture, &decoder, 500, &mut stream, &mut workspace).unwrap()
        };
        let conflict = run([-4.0, 4.0], [0, 1]);
        assert!(conflict.variance.epistemic > 0.45 && conflict.variance.aleatoric < 0.01);
        let ambiguity = run([0.0, 0.0], [0, 1]);
        assert!(ambiguity.variance.epistemic < 0.01 && ambiguity.variance.aleatoric > 0.45);
        // The order of evidence changes no bit.
        assert_eq!(run([-4.0, 4.0], [1, 0]), conflict);
    }

    #[test]
    fn refuses_rows_that_are_no_distributions_and_knows_one_sample() {
        let of = |rows: &[f64], n| Uncertainty::of_rows(rows, n);
        assert!(matches!(of(&[], 2), Err(UncertaintyError::Shape(_))));
        assert!(matches!(
            of(&[0.5, 0.5, 0.5, 0.6], 2),
            Err(UncertaintyError::Row { row: 1, .. })
        ));
        assert!(matches!(
            of(&[f64::NAN, 1.0], 2),
            Err(UncertaintyError::Row { row: 0, .. })
        ));
        let one = of(&[0.25, 0.75, 0.0], 3).unwrap();
        assert_eq!((one.standard_errors, one.samples), (None, 1));
        assert_eq!(one.entropy.mutual_information, 0.0);
        let impossible = of(&[0.25, 0.75, 0.0, 0.5, 0.5, 0.0], 3).unwrap();
        let errors = impossible.standard_errors.unwrap();
        assert!(
            six(&errors.variance, &errors.entropy)
                .iter()
                .all(|e| e.is_finite())
        );
    }
}
