//! Smooth calibration error (Błasiok and Nakkiran 2023), which needs no bins.
//!
//! Let `ρ` be the measure that puts `(yᵢ − fᵢ)/n` at the confidence `fᵢ`, and `ρ_σ` its convolution
//! with the Gaussian of standard deviation `σ`, reflected at 0 and at 1. `smECE_σ = ∫₀¹ |ρ_σ(t)| dt`
//! falls as `σ` grows, and the smooth calibration error is the `σ` at which `smECE_σ = σ`.
//!
//! Reflection at both ends makes the convolution a heat flow with insulated ends, in which each
//! cosine decays on its own: `ρ_σ(t) = a₀ + 2·Σ_k a_k·e^{−(kπσ)²/2}·cos(kπt)` with
//! `a_k = Σᵢ (yᵢ − fᵢ)/n·cos(kπfᵢ)`. So the coefficients are computed once, and every `σ` after
//! that is cheap. [`MODES`] of them are enough for `σ ≥` [`SMALLEST`], where the next one is damped
//! below 10⁻¹³.

use rayon::prelude::*;
use std::f64::consts::PI;

use super::grid::{Cell, Grid};
use crate::math::exp;

/// Coefficients.
const MODES: usize = 2048;
/// The smallest bandwidth: `(MODES·π·σ)²/2 = 30` there.
pub const SMALLEST: f64 = 0.0012039;
/// Coefficients computed together, by the recurrence of cosines.
const BLOCK: usize = 64;
/// Points of the integral, by the rule of midpoints.
const POINTS: usize = 2048;

/// The residuals of a log, ready to be smoothed.
#[derive(Clone, Debug)]
pub struct Smooth {
    coefficients: Vec<f64>,
    count: u64,
}

impl Smooth {
    /// From the grid; each cell's residual stands at its mean confidence.
    pub fn of(grid: &Grid) -> Self {
        let cells: Vec<Cell> = grid.cells().collect();
        let count = grid.count();
        let n = count.max(1) as f64;
        let blocks = (0..MODES / BLOCK).into_par_iter();
        let coefficients = blocks.flat_map_iter(|block| {
            let first = (block * BLOCK) as f64;
            let mut sums = [0.0; BLOCK];
            for cell in &cells {
                let x = PI * cell.mean();
                let residual = (cell.correct as f64 - cell.confidence) / n;
                let twice = 2.0 * libm::cos(x);
                let (mut before, mut now) = (libm::cos((first - 1.0) * x), libm::cos(first * x));
                for sum in &mut sums {
                    *sum += residual * now;
                    (before, now) = (now, twice * now - before);
                }
            }
            sums
        });
        Smooth {
            coefficients: coefficients.collect(),
            count,
        }
    }

    /// `smECE_σ` for `σ ≥` [`SMALLEST`].
    pub fn at(&self, sigma: f64) -> f64 {
        let damped: Vec<f64> = self
            .coefficients
            .iter()
            .enumerate()
            .map(|(k, a)| {
                let rate = k as f64 * PI * sigma;
                let twice = if k == 0 { 1.0 } else { 2.0 };
                (twice * a, rate * rate / 2.0)
            })
            // e^{−40} is below the rounding of the other terms.
            .take_while(|(_, rate)| *rate < 40.0)
            .map(|(a, rate)| a * exp(-rate))
            .collect();
        let sums: f64 = (0..POINTS)
            .map(|j| {
                let x = PI * (j as f64 + 0.5) / POINTS as f64;
                // Clenshaw's recurrence for Σ d_k cos(kx).
                let twice = 2.0 * libm::cos(x);
                let (mut b1, mut b2) = (0.0, 0.0);
                for d in damped.iter().skip(1).rev() {
                    (b1, b2) = (d + twice * b1 - b2, b1);
                }
                let constant = damped.first().copied().unwrap_or(0.0);
                (constant + 0.5 * twice * b1 - b2).abs()
            })
            .sum();
        sums / POINTS as f64
    }

    /// The smooth calibration error; at most [`SMALLEST`] where it is below what can be resolved.
    pub fn error(&self) -> f64 {
        self.crossing(0.0)
    }

    /// The `σ` at which `smECE_σ + shift = σ`, between [`SMALLEST`] and one.
    fn crossing(&self, shift: f64) -> f64 {
        let (mut low, mut high) = (SMALLEST, 1.0);
        if self.at(low) + shift <= low {
            return (self.at(low) + shift).max(0.0);
        }
        // 30 halvings: 10⁻⁹.
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            if self.at(middle) + shift > middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// An interval of level `1 − δ` for the error if outcomes were drawn again, whatever the model.
    ///
    /// For `σ ≥ s`, `|smECE_σ − its true value| ≤ ∫|ρ_s − its mean|`, as smoothing further only
    /// shrinks it. Its mean is at most `√(∫ Var) ≤ √(κ/(4n))` with `κ = max_f ∫ K_s(t, f)² dt ≤
    /// 1/(s√π)` (reflection at most doubles the `1/(2s√π)` of the line), and one outcome changes
    /// it by at most `1/n`, so that it exceeds its mean by `√(ln(1/δ)/(2n))` with probability at
    /// most `δ` (McDiarmid). With `s = n^{−1/3}/2` both are small. The true error lies between
    /// the crossings of the curves shifted by this radius; below `s` nothing is known.
    pub fn range(&self, delta: f64) -> (f64, f64) {
        let n = self.count.max(1) as f64;
        let s = (0.5 / libm::cbrt(n)).max(SMALLEST);
        let log = -crate::math::ln(delta);
        let radius = libm::sqrt(1.0 / (4.0 * n * s * libm::sqrt(PI))) + libm::sqrt(log / (2.0 * n));
        let low = self.crossing(-radius);
        let high = self.crossing(radius).max(s);
        (if low > s { low } else { 0.0 }, high.min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition as it stands: kernels and their mirror images, summed point by point.
    fn literal(pairs: &[(f64, bool)], sigma: f64) -> f64 {
        const STEPS: usize = 4000;
        let kernel = |t: f64| (-t * t / (2.0 * sigma * sigma)).exp() / (sigma * (2.0 * PI).sqrt());
        let density = |t: f64| {
            let one = |&(f, y): &(f64, bool)| {
                let images =
                    (-4..=4).flat_map(|k| [2.0 * f64::from(k) + f, 2.0 * f64::from(k) - f]);
                (f64::from(u8::from(y)) - f) * images.map(|m| kernel(t - m)).sum::<f64>()
            };
            pairs.iter().map(one).sum::<f64>() / pairs.len() as f64
        };
        let at = |j: usize| density((j as f64 + 0.5) / STEPS as f64).abs();
        (0..STEPS).map(at).sum::<f64>() / STEPS as f64
    }

    #[test]
    fn cosines_give_the_reflected_convolution() {
        let pairs: Vec<(f64, bool)> = (0..40)
            .map(|i| (0.3 + 0.7 * f64::from(i) / 39.0, i % 3 != 0))
            .collect();
        let mut grid = Grid::default();
        for &(f, y) in &pairs {
            grid.add(f, y);
        }
        let smooth = Smooth::of(&grid);
        for sigma in [0.01, 0.05, 0.3] {
            // The kinks of |ρ| cost the rule of midpoints about (h/σ)²: 2e-3 of the value at worst.
            let want = literal(&pairs, sigma);
            assert!(
                (smooth.at(sigma) - want).abs() < 2e-3 * want,
                "{sigma}: {want}"
            );
        }
        let error = smooth.error();
        assert!((smooth.at(error) - error).abs() < 1e-6);
        let (low, high) = smooth.range(0.05);
        assert!(low <= error && error <= high);
    }

    #[test]
    fn a_calibrated_certainty_has_no_error() {
        let mut grid = Grid::default();
        grid.add(1.0, true);
        assert_eq!(Smooth::of(&grid).error(), 0.0);
    }
}
