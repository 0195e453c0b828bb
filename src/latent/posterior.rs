//! Stage 1: the Gaussian that an item of evidence leaves over the latent space.

use nalgebra::{Cholesky, DMatrix};
use pulp::{Arch, Simd, WithSimd};

use super::random::{Stream, content_key};
use crate::math::lanes::{LANES, Lanes};
use crate::math::{BandedSum, ExactSum, Field};

/// Why some numbers are not a Gaussian.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum PosteriorError {
    /// The latent space has no dimension.
    #[error("the latent space has no dimension")]
    Empty,
    /// Mean and spread do not have the same dimension.
    #[error("the mean has {mean} entries, the spread is for {rows} × {columns} dimensions")]
    Dimension {
        mean: usize,
        rows: usize,
        columns: usize,
    },
    /// An entry of the mean is NaN or infinite.
    #[error("entry {index} of the mean is {value}")]
    Mean { index: usize, value: f64 },
    /// A standard deviation is not a positive finite number.
    #[error("standard deviation {index} is {value}; it must be positive and finite")]
    Sigma { index: usize, value: f64 },
    /// An entry of the covariance is NaN or infinite.
    #[error("entry ({row}, {column}) of the covariance is {value}")]
    Covariance {
        row: usize,
        column: usize,
        value: f64,
    },
    /// The covariance differs from its transpose; the entry is one below the diagonal.
    #[error(
        "the covariance is not symmetric: entry ({row}, {column}) is {value}, entry ({column}, \
         {row}) is {mirrored}; average the two if they differ by rounding only"
    )]
    NotSymmetric {
        row: usize,
        column: usize,
        value: f64,
        mirrored: f64,
    },
    /// The covariance is not positive definite: `minor` is the size of the first leading minor
    /// that is not positive, `pivot` the quotient of this minor and the one before.
    #[error(
        "the covariance is not positive definite: its leading {minor} × {minor} minor has pivot \
         {pivot}"
    )]
    NotPositiveDefinite { minor: usize, pivot: f64 },
}

/// A Gaussian `N(μ, Σ)` over the latent space, valid by construction: finite mean, positive
/// definite covariance.
///
/// ```
/// use lpf::latent::{Confidence, GaussianPosterior, random::Stream};
/// let posterior = GaussianPosterior::diagonal(vec![0.0, 1.0], vec![0.5, 1.5])?;
/// assert_eq!(Confidence::Reciprocal.weight(&posterior), 0.5); // 1/(1 + mean of σ)
/// let mut draws = [0.0; 2 * 100];
/// posterior.sample(&mut Stream::new(1, 0, 0, 0), &mut draws);
/// # Ok::<(), lpf::latent::PosteriorError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianPosterior {
    mean: Vec<f64>,
    spread: Spread,
}

#[derive(Clone, Debug, PartialEq)]
enum Spread {
    /// Standard deviations; `Σ = diag(σ²)`.
    Diagonal(Vec<f64>),
    /// `Σ`, and its Cholesky factor: `Σ = L·Lᵀ`, `L` lower triangular, row-major and packed (row
    /// `i` has `i + 1` entries).
    Full {
        covariance: DMatrix<f64>,
        factor: Vec<f64>,
    },
}

impl GaussianPosterior {
    /// `N(μ, diag(σ²))` from means and standard deviations (not variances).
    ///
    /// # Errors
    /// [`PosteriorError`] names the first number that is wrong.
    pub fn diagonal(mean: Vec<f64>, sigma: Vec<f64>) -> Result<Self, PosteriorError> {
        check_mean(&mean, sigma.len(), sigma.len())?;
        for (index, &value) in sigma.iter().enumerate() {
            if !(value > 0.0 && value.is_finite()) {
                return Err(PosteriorError::Sigma { index, value });
            }
        }
        let spread = Spread::Diagonal(sigma);
        Ok(GaussianPosterior { mean, spread })
    }

    /// `N(μ, Σ)` from a covariance matrix, which must be exactly symmetric and positive definite.
    ///
    /// # Errors
    /// [`PosteriorError`] names the first number that is wrong, or the first leading minor that
    /// is not positive as far as double precision can tell.
    pub fn full(mean: Vec<f64>, covariance: DMatrix<f64>) -> Result<Self, PosteriorError> {
        check_mean(&mean, covariance.nrows(), covariance.ncols())?;
        check_covariance(&covariance)?;
        let factor = cholesky(&covariance)?;
        let spread = Spread::Full { covariance, factor };
        Ok(GaussianPosterior { mean, spread })
    }

    /// The dimension of the latent space, at least one.
    pub fn dimension(&self) -> usize {
        self.mean.len()
    }

    /// The mean `μ`.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The standard deviation of each coordinate, `√Σ_jj`. Range: positive and finite.
    pub fn sigmas(&self) -> impl ExactSizeIterator<Item = f64> + Clone + '_ {
        (0..self.dimension()).map(|j| match &self.spread {
            Spread::Diagonal(sigma) => sigma[j],
            Spread::Full { covariance, .. } => libm::sqrt(covariance[(j, j)]),
        })
    }

    /// The variance of each coordinate, `Σ_jj`; `+∞` where the square of `σ` overflows.
    pub fn variances(&self) -> impl ExactSizeIterator<Item = f64> + Clone + '_ {
        (0..self.dimension()).map(|j| match &self.spread {
            Spread::Diagonal(sigma) => sigma[j] * sigma[j],
            Spread::Full { covariance, .. } => covariance[(j, j)],
        })
    }

    /// The mean of the standard deviations, which confidence weights are made of. Finite: it is
    /// at most the largest of them.
    pub fn mean_sigma(&self) -> f64 {
        match &self.spread {
            Spread::Diagonal(sigma) => mean(sigma),
            Spread::Full { .. } => mean(&self.sigmas().collect::<Vec<_>>()),
        }
    }

    /// `tr Σ / d`, the mean variance; `+∞` where a variance is.
    pub fn mean_variance(&self) -> f64 {
        mean(&self.variances().collect::<Vec<_>>())
    }

    /// `‖Σ‖_F = √(Σ_ij Σ_ij²)`, the norm that assumption A2 bounds.
    ///
    /// Range: positive; `+∞` only where the norm itself exceeds the largest double. Relative
    /// error below `4·2⁻⁵³`, except where the norm is subnormal.
    pub fn frobenius_norm(&self) -> f64 {
        // Entries are scaled by a power of two so that the largest lies in [1, 2): squares then
        // neither overflow nor, where they matter, vanish.
        let scaled_norm = |entries: &mut dyn Iterator<Item = f64>, exponent: i32| {
            let squares = entries.map(|x| libm::scalbn(x, -exponent));
            libm::sqrt(squares.map(|x| x * x).collect::<ExactSum>().to_f64())
        };
        match &self.spread {
            Spread::Diagonal(sigma) => {
                let exponent = libm::ilogb(sigma.iter().copied().fold(0.0, f64::max));
                let scaled = sigma.iter().map(|&s| libm::scalbn(s, -exponent));
                let norm = scaled_norm(&mut scaled.map(|s| s * s), 0);
                libm::scalbn(libm::scalbn(norm, exponent), exponent)
            }
            Spread::Full { covariance, .. } => {
                let exponent = libm::ilogb(covariance.iter().fold(0.0, |m, x| m.max(x.abs())));
                let norm = scaled_norm(&mut covariance.iter().copied(), exponent);
                libm::scalbn(norm, exponent)
            }
        }
    }

    /// `wᵀΣw`, the variance of `w·z`; `None` if `direction` has another dimension. Range: at least
    /// zero, a sum of squares; `+∞` where it exceeds the largest double.
    pub fn variance_along(&self, direction: &[f64]) -> Option<f64> {
        if direction.len() != self.dimension() {
            return None;
        }
        let square = |x: f64| x * x;
        let squares: ExactSum = match &self.spread {
            Spread::Diagonal(sigma) => {
                let pairs = sigma.iter().zip(direction);
                pairs.map(|(s, w)| square(s * w)).collect()
            }
            // ‖Lᵀw‖²: column j of L against w.
            Spread::Full { factor, .. } => (0..direction.len())
                .map(|j| {
                    let column = (j..direction.len()).map(|i| factor[i * (i + 1) / 2 + j]);
                    let products = column.zip(&direction[j..]).map(|(l, w)| l * w);
                    square(products.fold(0.0, |sum, x| sum + x))
                })
                .collect(),
        };
        Some(squares.to_f64())
    }

    /// A 64-bit name of mean and covariance; see [`content_key`].
    pub fn content_key(&self) -> u64 {
        content_key(&[&self.mean, self.spread_numbers()])
    }

    /// The numbers that tell one spread from another: `d` standard deviations, or the covariance.
    /// (For `d = 1` both have one entry; a factor of one kind is compared with its own kind first.)
    fn spread_numbers(&self) -> &[f64] {
        match &self.spread {
            Spread::Diagonal(sigma) => sigma,
            Spread::Full { covariance, .. } => covariance.as_slice(),
        }
    }

    /// A total order by content, which puts any collection of posteriors into one canonical order.
    /// Only posteriors with equal bits compare equal.
    pub fn canonical_cmp(&self, other: &Self) -> std::cmp::Ordering {
        let kind = |p: &Self| matches!(p.spread, Spread::Full { .. });
        let numbers = |p: &Self| (p.mean.len(), p.spread_numbers().len());
        kind(self)
            .cmp(&kind(other))
            .then_with(|| numbers(self).cmp(&numbers(other)))
            .then_with(|| compare(&self.mean, &other.mean))
            .then_with(|| compare(self.spread_numbers(), other.spread_numbers()))
    }

    /// Turns standard normal draws into draws from this Gaussian, in place: each row `ε` of
    /// `dimension` numbers becomes `μ + Σ^{1/2} ε`, with `Σ^{1/2} = diag(σ)` or the Cholesky
    /// factor. Numbers after the last full row are left alone.
    pub fn transform(&self, rows: &mut [f64]) {
        match &self.spread {
            Spread::Diagonal(sigma) => {
                Arch::new().dispatch(|| scale_and_shift(sigma, &self.mean, rows));
            }
            Spread::Full { factor, .. } => {
                for row in rows.chunks_exact_mut(self.dimension()) {
                    multiply_lower(factor, &self.mean, row);
                }
            }
        }
    }

    /// Fills `rows` with draws from this Gaussian, row by row. Numbers after the last full row
    /// are left alone.
    pub fn sample(&self, stream: &mut Stream, rows: &mut [f64]) {
        let full = rows.len() - rows.len() % self.dimension();
        let rows = &mut rows[..full];
        stream.fill_standard_normal(rows);
        self.transform(rows);
    }
}

fn compare(a: &[f64], b: &[f64]) -> std::cmp::Ordering {
    let pairs = a.iter().zip(b);
    pairs
        .map(|(a, b)| a.total_cmp(b))
        .find(|o| o.is_ne())
        .unwrap_or(std::cmp::Ordering::Equal)
}

/// The mean of non-negative numbers, exact up to two roundings, without overflow on the way.
fn mean(values: &[f64]) -> f64 {
    let (sum, largest) = Arch::new().dispatch(SumAndLargest(values));
    let count = values.len() as f64;
    let guard = if largest.is_finite() {
        f64::overflow_guard(&largest)
    } else {
        None
    };
    match guard {
        None => sum / count,
        Some(scale) => {
            let scaled = values.iter().map(|x| x * scale);
            scaled.collect::<ExactSum>().to_f64() / count / scale
        }
    }
}

/// The exact sum of numbers, rounded once, and the largest of them and of zero.
struct SumAndLargest<'a>(&'a [f64]);

impl WithSimd for SumAndLargest<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (f64, f64) {
        let mut sum = BandedSum::new();
        let mut most: Lanes = [0.0; LANES];
        let (lanes, rest) = self.0.as_chunks::<LANES>();
        let mut last = [0.0; LANES];
        last[..rest.len()].copy_from_slice(rest);
        for terms in [lanes, &[last]] {
            for terms in terms {
                for (most, &x) in most.iter_mut().zip(terms) {
                    *most = if x > *most { x } else { *most };
                }
            }
            sum.add_lanes(terms);
        }
        (sum.to_f64(), most.into_iter().fold(0.0, f64::max))
    }
}

fn check_mean(mean: &[f64], rows: usize, columns: usize) -> Result<(), PosteriorError> {
    if mean.is_empty() {
        return Err(PosteriorError::Empty);
    }
    if rows != mean.len() || columns != mean.len() {
        let mean = mean.len();
        return Err(PosteriorError::Dimension {
            mean,
            rows,
            columns,
        });
    }
    match mean.iter().enumerate().find(|(_, x)| !x.is_finite()) {
        Some((index, &value)) => Err(PosteriorError::Mean { index, value }),
        None => Ok(()),
    }
}

/// That every entry is finite and equal to its mirror image.
fn check_covariance(covariance: &DMatrix<f64>) -> Result<(), PosteriorError> {
    for row in 0..covariance.nrows() {
        for column in 0..=row {
            let (value, mirrored) = (covariance[(row, column)], covariance[(column, row)]);
            for (row, column, value) in [(row, column, value), (column, row, mirrored)] {
                if !value.is_finite() {
                    return Err(PosteriorError::Covariance { row, column, value });
                }
            }
            if value != mirrored {
                return Err(PosteriorError::NotSymmetric {
                    row,
                    column,
                    value,
                    mirrored,
                });
            }
        }
    }
    Ok(())
}

/// `L` with `L·Lᵀ = Σ`, packed by rows.
///
/// Entry `(i, j)` of nalgebra's factor is `Σ_ij − L_i0·L_j0 − L_i1·L_j1 − …`, subtracted in this
/// order and divided by `L_jj`: column updates, never its matrix product, which picks its kernel
/// by the CPU. The bits are the same on every machine.
fn cholesky(covariance: &DMatrix<f64>) -> Result<Vec<f64>, PosteriorError> {
    let d = covariance.nrows();
    let leading = |n: usize| Cholesky::new(covariance.view((0, 0), (n, n)).clone_owned());
    if let Some(factor) = leading(d) {
        let l = factor.l_dirty();
        return Ok((0..d)
            .flat_map(|i| (0..=i).map(move |j| l[(i, j)]))
            .collect());
    }
    // A leading block fails where a smaller one does: bisection finds the first.
    let (mut good, mut bad) = (0, d);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if leading(middle).is_some() {
            good = middle;
        } else {
            bad = middle;
        }
    }
    let column = covariance.view((0, good), (good, 1));
    let row = leading(good).and_then(|f| f.l_dirty().solve_lower_triangular(&column));
    let squares = row.iter().flatten();
    let pivot = squares.fold(covariance[(good, good)], |rest, l| rest - l * l);
    Err(PosteriorError::NotPositiveDefinite { minor: bad, pivot })
}

/// `x ← μ + σ·x` for each row.
#[inline(always)]
fn scale_and_shift(sigma: &[f64], mean: &[f64], rows: &mut [f64]) {
    for row in rows.chunks_exact_mut(mean.len()) {
        for ((x, m), s) in row.iter_mut().zip(mean).zip(sigma) {
            *x = m + s * *x;
        }
    }
}

/// `x ← μ + L·x`, from the last row up, so that no entry is overwritten before its last use.
fn multiply_lower(factor: &[f64], mean: &[f64], x: &mut [f64]) {
    for i in (0..x.len()).rev() {
        let row = &factor[i * (i + 1) / 2..][..=i];
        let product = row.iter().zip(&*x).fold(0.0, |sum, (l, x)| sum + l * x);
        x[i] = mean[i] + product;
    }
}

#[cfg(test)]
mod tests;
