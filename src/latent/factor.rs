//! Stage 2: the soft factor of an item of evidence, by Monte Carlo.

use pulp::{Arch, Simd, WithSimd};

use super::decoder::{DecodeError, Decoder, DecoderWorkspace};
use super::posterior::GaussianPosterior;
use super::random::{Stream, text_key};
use crate::math::BandedSum;
use crate::math::lanes::LANES;
use crate::simplex::{Distribution, SimplexError};

/// The purpose in the names of streams that factors are drawn with.
pub const FACTOR_PURPOSE: u64 = text_key("monte carlo factor");

/// Rows decoded at a time: the samples of a query of five items by sixteen, and small enough that latents
/// and activations of the reference's network (64 and 128 wide) stay in a second-level cache.
const BATCH: usize = 80;

/// Samples of several items that there is room for at a time.
const TOGETHER: usize = 64 * BATCH;

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

impl FactorError {
    /// Of an error in the samples of several items, so many of each: which item it is in, with the row within
    /// that item.
    fn of_item(self, samples: usize) -> (usize, Self) {
        match self {
            FactorError::Decode(error) => {
                let row = error.row().unwrap_or(0);
                let (item, row) = (row / samples, row % samples);
                (item, FactorError::Decode(error.in_row(row)))
            }
            other => (0, other),
        }
    }
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

/// [`monte_carlo_factor`] of several items, the same to the bit and faster, as their samples are decoded
/// together; `stream` makes the stream of an item.
///
/// # Errors
/// The first item of which there is no factor, and why.
pub fn monte_carlo_factors<D: Decoder + ?Sized>(
    posteriors: &[&GaussianPosterior],
    decoder: &D,
    samples: usize,
    stream: impl Fn(usize) -> Stream,
    workspace: &mut FactorWorkspace,
) -> Result<Vec<Factor>, (usize, FactorError)> {
    let (dimension, classes) = (decoder.dimension(), decoder.classes());
    let mut factors = Vec::with_capacity(posteriors.len());
    // Not all at once: room for the samples of a few items is enough.
    let group = (TOGETHER / samples.max(1)).max(1);
    while factors.len() < posteriors.len() {
        let first = factors.len();
        let rest = posteriors[first..].iter().take(group);
        let fitting = rest.take_while(|p| p.dimension() == dimension).count();
        // An item of another dimension comes alone, for its error.
        let items = fitting.max(1);
        let too_many = (first, FactorError::TooManySamples { samples });
        let total = samples.checked_mul(items).ok_or(too_many)?;
        let mut drawn = 0;
        let mut now: Option<(usize, Stream)> = None;
        let draw = |mut rows: &mut [f64]| {
            while !rows.is_empty() {
                let item = first + drawn / samples;
                let (posterior, left) = (posteriors[item], samples - drawn % samples);
                let length = rows.len().min(left * posterior.dimension());
                let (some, rest) = rows.split_at_mut(length);
                let begun = now.take().filter(|(of, _)| *of == item);
                let (_, stream) = now.insert(begun.unwrap_or_else(|| (item, stream(item))));
                posterior.sample(stream, some);
                drawn += some.len() / posterior.dimension();
                rows = rest;
            }
        };
        decode_samples(
            posteriors[first].dimension(),
            decoder,
            total,
            draw,
            workspace,
        )
        .map_err(|error| {
            let (item, error) = error.of_item(samples);
            (first + item, error)
        })?;
        let rows = workspace.probabilities.chunks_exact(samples * classes);
        for (item, rows) in rows.enumerate() {
            let factor = factor_of_rows(rows, classes);
            factors.push(factor.map_err(|error| (first + item, error))?);
        }
    }
    Ok(factors)
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
    for (batch, rows) in probabilities.chunks_mut(BATCH * classes).enumerate() {
        latents.resize(rows.len() / classes * dimension, 0.0);
        draw(latents);
        decoder.decode(latents, rows, inner).map_err(|error| {
            let row = batch * BATCH + error.row().unwrap_or(0);
            FactorError::Decode(error.in_row(row))
        })?;
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
    let (mut sums, mut squares) = (Vec::with_capacity(classes), Vec::with_capacity(classes));
    Arch::new().dispatch(Moments {
        probabilities,
        classes,
        sums: &mut sums,
        squares: &mut squares,
    });
    let standard_errors = (samples > 1).then(|| {
        let errors = squares.iter().map(|&sum| standard_error(sum, samples));
        errors.collect()
    });
    let distribution = Distribution::from_weights(sums).map_err(FactorError::Mean)?;
    Ok(Factor {
        distribution,
        standard_errors,
        samples,
    })
}

/// `√(Σ (x − x̄)² / (M − 1) / M)` from the sum of squares, for `M ≥ 2`.
fn standard_error(squares: f64, samples: usize) -> f64 {
    libm::sqrt(squares / (samples - 1) as f64 / samples as f64)
}

/// For each class the sum of its column and of the squares of what its entries differ from their mean by: each
/// exact, rounded once.
struct Moments<'a> {
    probabilities: &'a [f64],
    classes: usize,
    sums: &'a mut Vec<f64>,
    squares: &'a mut Vec<f64>,
}

impl WithSimd for Moments<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let samples = self.probabilities.len() / self.classes;
        for class in 0..self.classes {
            let sum = self.total(class, |p| p);
            let mean = sum / samples as f64;
            self.sums.push(sum);
            let squares = self.total(class, |p| (p - mean) * (p - mean));
            self.squares.push(squares);
        }
    }
}

impl Moments<'_> {
    /// The sum of `term` over the column of a class.
    #[inline(always)]
    fn total(&self, class: usize, term: impl Fn(f64) -> f64) -> f64 {
        let mut sum = BandedSum::new();
        for rows in self.probabilities.chunks(LANES * LANES * self.classes) {
            let mut terms = [[0.0; LANES]; LANES];
            let slots = terms.as_flattened_mut().iter_mut();
            let mut used = 0usize;
            for (slot, row) in slots.zip(rows.chunks_exact(self.classes)) {
                *slot = term(row[class]);
                used += 1;
            }
            sum.add_lanes(&terms[..used.div_ceil(LANES)]);
        }
        sum.to_f64()
    }
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
    fn several_items_together_have_the_factors_of_each_alone() {
        let (posterior, decoder) = probit();
        let other = GaussianPosterior::diagonal(vec![-1.0, 0.5], vec![0.1, 2.0]).unwrap();
        let stream = |item| Stream::new(3, FACTOR_PURPOSE, 4, item as u64);
        let mut workspace = FactorWorkspace::default();
        // One sample, some, more than are decoded at a time, more than there is room for together.
        for samples in [1, 16, BATCH + 1, TOGETHER / 3] {
            let posteriors = [&posterior, &other, &posterior, &other, &other];
            let got = monte_carlo_factors(&posteriors, &decoder, samples, stream, &mut workspace);
            for (item, (got, posterior)) in got.unwrap().into_iter().zip(posteriors).enumerate() {
                let mut stream = stream(item);
                let want =
                    monte_carlo_factor(posterior, &decoder, samples, &mut stream, &mut workspace);
                assert_eq!(got, want.unwrap(), "{samples} {item}");
            }
        }
    }

    #[test]
    fn of_several_items_the_first_that_fails_is_named() {
        let (posterior, _) = probit();
        let decoder = ProbitDecoder::new(vec![2.0, 2.0], 0.0).unwrap();
        let flat = GaussianPosterior::diagonal(vec![0.0], vec![1.0]).unwrap();
        // A latent so large that its score is not a number.
        let huge = GaussianPosterior::diagonal(vec![f64::MAX, -f64::MAX], vec![1.0, 1.0]).unwrap();
        let stream = |item| Stream::new(3, FACTOR_PURPOSE, 4, item as u64);
        let mut workspace = FactorWorkspace::default();
        let mut run = |posteriors: &[&GaussianPosterior], samples| {
            monte_carlo_factors(posteriors, &decoder, samples, stream, &mut workspace)
        };
        let (item, error) = run(&[&posterior, &flat, &huge], 3).unwrap_err();
        assert!(matches!(
            (item, error),
            (1, FactorError::Dimension { posterior: 1, .. })
        ));
        let (item, error) = run(&[&posterior, &posterior, &huge], 50).unwrap_err();
        let row = match error {
            FactorError::Decode(error) => error.row(),
            _ => None,
        };
        assert_eq!(
            (item, row),
            (2, Some(0)),
            "the row is counted within the item"
        );
        assert_eq!(run(&[&posterior], 0), Err((0, FactorError::NoSamples)));
        assert_eq!(run(&[], 0), Ok(vec![]));
        let all = FactorError::TooManySamples {
            samples: usize::MAX,
        };
        assert_eq!(run(&[&posterior], usize::MAX), Err((0, all)));
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
