//! Stage 2: the soft factor of an item of evidence, by Monte Carlo.

use super::decoder::{DecodeError, Decoder, DecoderWorkspace};
use super::posterior::GaussianPosterior;
use super::random::{Stream, text_key};
use crate::math::{ExactSum, Scalar};
use crate::simplex::{Distribution, SimplexError};

/// The purpose in the names of streams that factors are drawn with.
pub const FACTOR_PURPOSE: u64 = text_key("monte carlo factor");

/// Rows decoded at a time: large enough to keep the kernel busy, small enough that latents and
/// activations of the reference's network (64 and 128 wide) stay in a second-level cache.
const BATCH: usize = 64;

/// Why there is no factor.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum FactorError {
    /// A mean of no samples was asked for.
    #[error("a factor needs at least one sample")]
    NoSamples,
    /// So many samples were asked for that their probabilities do not fit into memory.
    #[error("{samples} samples do not fit into memory")]
    TooManySamples { samples: usize },
    /// The posterior lives in another space than the decoder.
    #[error("the posterior has {posterior} dimensions, the decoder takes {decoder}")]
    Dimension { posterior: usize, decoder: usize },
    /// The probabilities are not whole rows of this many classes.
    #[error("{probabilities} probabilities are not whole rows of {classes} classes")]
    Ragged {
        probabilities: usize,
        classes: usize,
    },
    /// A sample could not be decoded.
    #[error("decoding a sample: {0}")]
    Decode(DecodeError),
    /// The decoded rows have no mean that is a distribution.
    #[error("mean of the samples: {0}")]
    Mean(SimplexError),
}

/// A soft factor `Φ(y) ≈ E[p(y∣z)]`, the mean of `M` decoded samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// `Φ`: per class, the exact sum over samples, divided by the sum over all classes (which is
    /// `M` but for the rounding of the rows).
    pub distribution: Distribution,
    /// Standard error of each entry, `√(s²/M)` with the sample variance
    /// `s² = Σ (p_m − p̄)² / (M − 1)`; `None` for `M = 1`, where the spread is unknown.
    pub standard_errors: Option<Vec<f64>>,
    /// The number of samples `M`.
    pub samples: usize,
}

/// Room for the samples of a factor; grows once and is used again, so that nothing is allocated
/// for a sample.
#[derive(Clone, Debug, Default)]
pub struct FactorWorkspace {
    decoder: DecoderWorkspace,
    latents: Vec<f64>,
    probabilities: Vec<f64>,
}

impl FactorWorkspace {
    /// The decoded rows of the last factor, one for each sample.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }
}

/// Draws `samples` latents from `posterior`, decodes them and averages: `(1/M) Σ p(y∣z_m)`.
///
/// The result depends on the arguments and the name of the stream only.
///
/// # Errors
/// [`FactorError`] where there are no samples, dimensions differ or decoding fails.
pub fn monte_carlo_factor<D: Decoder + ?Sized>(
    posterior: &GaussianPosterior,
    decoder: &D,
    samples: usize,
    stream: &mut Stream,
    workspace: &mut FactorWorkspace,
) -> Result<Factor, FactorError> {
    let draw = |rows: &mut [f64]| posterior.sample(stream, rows);
    decode_samples(posterior.dimension(), decoder, samples, draw, workspace)?;
    factor_of_rows(&workspace.probabilities, decoder.classes())
}

/// Fills the workspace with `samples` decoded rows; `draw` fills whole rows of latents.
pub(crate) fn decode_samples<D: Decoder + ?Sized>(
    dimension: usize,
    decoder: &D,
    samples: usize,
    mut draw: impl FnMut(&mut [f64]),
    workspace: &mut FactorWorkspace,
) -> Result<(), FactorError> {
    if samples == 0 {
        return Err(FactorError::NoSamples);
    }
    if dimension != decoder.dimension() {
        return Err(FactorError::Dimension {
            posterior: dimension,
            decoder: decoder.dimension(),
        });
    }
    let classes = decoder.classes();
    let too_many = FactorError::TooManySamples { samples };
    let FactorWorkspace {
        decoder: inner,
        latents,
        probabilities,
    } = workspace;
    let total = samples.checked_mul(classes).ok_or(too_many.clone())?;
    probabilities.clear();
    probabilities.try_reserve(total).map_err(|_| too_many)?;
    probabilities.resize(total, 0.0);
    for rows in probabilities.chunks_mut(BATCH * classes) {
        latents.resize(rows.len() / classes * dimension, 0.0);
        draw(latents);
        decoder
            .decode(latents, rows, inner)
            .map_err(FactorError::Decode)?;
    }
    Ok(())
}

/// The factor of rows that are already decoded, row-major with `classes` columns. The order of the
/// rows does not matter.
///
/// # Errors
/// [`FactorError::NoSamples`], [`FactorError::Ragged`]; [`FactorError::Mean`] where the rows are
/// not what a [`Decoder`] returns.
pub fn factor_of_rows(probabilities: &[f64], classes: usize) -> Result<Factor, FactorError> {
    if probabilities.is_empty() {
        return Err(FactorError::NoSamples);
    }
    if classes == 0 || !probabilities.len().is_multiple_of(classes) {
        return Err(FactorError::Ragged {
            probabilities: probabilities.len(),
            classes,
        });
    }
    let samples = probabilities.len() / classes;
    let column = |y: usize| probabilities.iter().skip(y).step_by(classes).copied();
    let sums: Vec<f64> = (0..classes).map(|y| f64::sum(column(y))).collect();
    let standard_errors = (samples > 1).then(|| {
        let error = |(y, sum): (usize, &f64)| {
            let mean = sum / samples as f64;
            let squares = column(y).map(|p| (p - mean) * (p - mean));
            standard_error(squares.collect(), samples)
        };
        sums.iter().enumerate().map(error).collect()
    });
    let distribution = Distribution::from_weights(sums).map_err(FactorError::Mean)?;
    Ok(Factor {
        distribution,
        standard_errors,
        samples,
    })
}

/// `√(Σ (x − x̄)² / (M − 1) / M)` from the sum of squares, for `M ≥ 2`.
fn standard_error(squares: ExactSum, samples: usize) -> f64 {
    libm::sqrt(squares.to_f64() / (samples - 1) as f64 / samples as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latent::decoder::ProbitDecoder;

    /// As everywhere: what a right estimator fails with, if the seed were drawn anew.
    const FALSE_ALARM: f64 = 1e-9;

    fn probit() -> (GaussianPosterior, ProbitDecoder) {
        let posterior = GaussianPosterior::diagonal(vec![0.3, -0.2], vec![1.0, 0.5]).unwrap();
        (posterior, ProbitDecoder::new(vec![1.0, 2.0], 1.0).unwrap())
    }

    fn factor(samples: usize, evidence: u64) -> Result<Factor, FactorError> {
        let (posterior, decoder) = probit();
        let mut stream = Stream::new(1, FACTOR_PURPOSE, 0, evidence);
        let mut workspace = FactorWorkspace::default();
        monte_carlo_factor(&posterior, &decoder, samples, &mut stream, &mut workspace)
    }

    #[test]
    fn approaches_the_exact_factor_and_knows_how_near_it_is() {
        let (posterior, decoder) = probit();
        let exact = decoder.exact_factor(&posterior).unwrap().probabilities()[1];
        const M: usize = 40_000;
        let f = factor(M, 0).unwrap();
        let off = f.distribution.probabilities()[1] - exact;
        // Hoeffding for a mean of M numbers in [0, 1].
        let limit = ((2.0 / FALSE_ALARM).ln() / (2.0 * M as f64)).sqrt();
        assert!(off.abs() <= limit, "{off} {limit}");
        // Negative control: decoding the mean instead of averaging decoded samples.
        let mut at_mean = [0.0; 2];
        let mut workspace = DecoderWorkspace::default();
        decoder
            .decode(posterior.mean(), &mut at_mean, &mut workspace)
            .unwrap();
        assert!((at_mean[1] - exact).abs() > limit);
        // The mean square error of 2000 factors of 16 samples is what their standard errors
        // claim. A mean of 2000 squares of near-normal numbers has a relative standard deviation of
        // √(2/2000) = 3.2 %, so 20 % is over six of them.
        let many: Vec<Factor> = (1..=2000).map(|e| factor(16, e).unwrap()).collect();
        let mean = |x: &dyn Fn(&Factor) -> f64| many.iter().map(x).sum::<f64>() / 2000.0;
        let actual = mean(&|f| (f.distribution.probabilities()[1] - exact).powi(2));
        let claimed = mean(&|f| f.standard_errors.as_ref().unwrap()[1].powi(2));
        assert!((claimed / actual - 1.0).abs() < 0.2, "{claimed} {actual}");
        // Negative control: the spread of one sample in place of that of their mean.
        assert!((16.0 * claimed / actual - 1.0).abs() > 0.2);
    }

    #[test]
    fn two_samples_have_the_spread_known_by_hand() {
        let f = factor_of_rows(&[0.25, 0.75, 0.75, 0.25], 2).unwrap();
        assert_eq!(f.distribution.probabilities(), [0.5, 0.5]);
        // s² = (1/16 + 1/16)/1 = 1/8, over M = 2: 1/16, root 1/4. With 1/M it would be 0.177.
        assert_eq!(f.standard_errors, Some(vec![0.25, 0.25]));
    }

    #[test]
    fn one_sample_has_no_standard_error_and_none_is_an_error() {
        let f = factor(1, 0).unwrap();
        assert_eq!((f.standard_errors, f.samples), (None, 1));
        assert_eq!(factor(0, 0), Err(FactorError::NoSamples));
        let all = factor(usize::MAX, 0);
        assert_eq!(
            all,
            Err(FactorError::TooManySamples {
                samples: usize::MAX
            })
        );
        assert!(matches!(
            factor_of_rows(&[0.5; 3], 2),
            Err(FactorError::Ragged { .. })
        ));
        assert!(matches!(
            factor_of_rows(&[0.5; 3], 0),
            Err(FactorError::Ragged { .. })
        ));
        assert!(matches!(
            factor_of_rows(&[-1.0, 2.0], 2),
            Err(FactorError::Mean(_))
        ));
        assert_eq!(factor_of_rows(&[], 2), Err(FactorError::NoSamples));
        let (posterior, _) = probit();
        let other = ProbitDecoder::new(vec![1.0], 0.0).unwrap();
        let mut stream = Stream::new(0, 0, 0, 0);
        let error = monte_carlo_factor(&posterior, &other, 1, &mut stream, &mut Default::default());
        assert!(matches!(
            error,
            Err(FactorError::Dimension {
                posterior: 2,
                decoder: 1
            })
        ));
    }

    #[test]
    fn batches_rows_and_used_workspaces_leave_no_trace() {
        let (posterior, decoder) = probit();
        let mut workspace = FactorWorkspace::default();
        let mut run = |m: usize| {
            let mut stream = Stream::new(9, FACTOR_PURPOSE, 1, 2);
            let f = monte_carlo_factor(&posterior, &decoder, m, &mut stream, &mut workspace);
            (f.unwrap(), workspace.probabilities().to_vec())
        };
        let (first, rows) = run(BATCH + 3);
        let (_, longer) = run(3 * BATCH);
        assert_eq!(longer[..rows.len()], rows);
        assert_eq!(run(BATCH + 3).0, first);
        let mut reversed: Vec<f64> = rows.chunks_exact(2).rev().flatten().copied().collect();
        assert_eq!(factor_of_rows(&reversed, 2), Ok(first.clone()));
        reversed[0] += 0.25;
        assert_ne!(factor_of_rows(&reversed, 2), Ok(first), "control");
    }
}
