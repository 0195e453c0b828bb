//! Smooth calibration error: no bins, no edges (Błasiok and Nakkiran 2023).
//!
//! With residuals `rᵢ = confidenceᵢ − [rightᵢ]` and a Gaussian kernel `K_σ` that is reflected at 0
//! and 1, so that its whole mass stays in between,
//!
//! ```text
//! smECE_σ = ∫₀¹ |Σᵢ rᵢ·K_σ(t, confidenceᵢ)| dt / n,
//! ```
//!
//! which does not grow with `σ`. The smooth calibration error is its value where `σ = smECE_σ`:
//! the bandwidth is as wide as the error it finds, so neither is chosen by hand.
//!
//! As in the authors' package `relplot`, residuals are shared between the two nearest points of a
//! grid of `σ/10` or finer, and `σ` is found by ten halvings of `[0, 1]`, down to 1/1000. Three
//! things are done more exactly: all reflections are summed, residuals at exactly 0 and 1 keep
//! their full weight (`relplot` halves it), and the integral is the trapezoidal rule on that grid.

use std::f64::consts::PI;

use super::CalibrationError;
use crate::math::exp;

/// Halvings in the search for the bandwidth, and the bandwidth below which it stops.
const HALVINGS: u32 = 10;
const SMALLEST_BANDWIDTH: f64 = 0.001;
/// Steps of the grid from 0 to 1, at least.
const LEAST_STEPS: usize = 1000;
/// Steps of the grid in one bandwidth, at least.
const STEPS_A_BANDWIDTH: f64 = 10.0;
/// `exp(−x²/2)` is zero in double precision beyond this.
const REACH: f64 = 38.7;

/// Predictions of (almost) the same confidence, as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothCell {
    /// Their confidence, or its mean.
    pub confidence: f64,
    /// The sum of confidence minus one for each that was right, minus zero for the others.
    pub residual: f64,
    /// How many there are.
    pub count: u64,
}

/// The smooth calibration error and the bandwidth it was found at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothEce {
    /// The error, in `[0, 1]`.
    pub value: f64,
    /// A multiple of 1/1024.
    pub bandwidth: f64,
}

/// The smooth calibration error of all cells together. Their order does not matter.
///
/// # Errors
/// [`CalibrationError::Empty`]; [`CalibrationError::Confidence`] for a confidence outside `[0, 1]`
/// and [`CalibrationError::Residual`] for a residual that its count does not allow.
pub fn smooth_ece(cells: &[SmoothCell]) -> Result<SmoothEce, CalibrationError> {
    let cells = sorted(cells)?;
    // The error never exceeds one, so that one is wide enough.
    let (mut wide, mut narrow) = (1.0, 0.0);
    for _ in 0..HALVINGS {
        let middle = (wide + narrow) / 2.0;
        if middle < SMALLEST_BANDWIDTH || middle < at_bandwidth(&cells, middle) {
            narrow = middle;
        } else {
            wide = middle;
        }
    }
    Ok(SmoothEce {
        value: at_bandwidth(&cells, wide),
        bandwidth: wide,
    })
}

/// `smECE_σ` at the given bandwidth `σ`.
///
/// # Errors
/// As [`smooth_ece`]; [`CalibrationError::Bandwidth`] for one outside `[1/1024, 1]`, below which the
/// grid would grow without bound.
pub fn smooth_ece_at(cells: &[SmoothCell], bandwidth: f64) -> Result<f64, CalibrationError> {
    let allowed = libm::scalbn(1.0, -(HALVINGS as i32))..=1.0;
    if !allowed.contains(&bandwidth) {
        return Err(CalibrationError::Bandwidth { value: bandwidth });
    }
    Ok(at_bandwidth(&sorted(cells)?, bandwidth))
}

fn sorted(cells: &[SmoothCell]) -> Result<Vec<SmoothCell>, CalibrationError> {
    for (index, cell) in cells.iter().enumerate() {
        if !(0.0..=1.0).contains(&cell.confidence) {
            return Err(CalibrationError::Confidence {
                index,
                value: cell.confidence,
            });
        }
        if cell.residual.is_nan() || cell.residual.abs() > cell.count as f64 {
            return Err(CalibrationError::Residual {
                index,
                value: cell.residual,
            });
        }
    }
    let mut cells: Vec<SmoothCell> = cells.iter().copied().filter(|c| c.count > 0).collect();
    if cells.is_empty() {
        return Err(CalibrationError::Empty);
    }
    cells.sort_unstable_by(|a, b| {
        (a.confidence.total_cmp(&b.confidence)).then(a.residual.total_cmp(&b.residual))
    });
    Ok(cells)
}

fn at_bandwidth(cells: &[SmoothCell], sigma: f64) -> f64 {
    let steps = LEAST_STEPS.max((STEPS_A_BANDWIDTH / sigma).round() as usize);
    let mut residuals = vec![0.0; steps + 1];
    for cell in cells {
        let at = cell.confidence * steps as f64;
        let below = (at as usize).min(steps - 1);
        let share = at - below as f64;
        if let Some([left, right]) = residuals.get_mut(below..below + 2) {
            *left += (1.0 - share) * cell.residual;
            *right += share * cell.residual;
        }
    }
    let smoothed = smooth(&residuals, sigma);
    let ends = [smoothed.first(), smoothed.last()].into_iter().flatten();
    let ends: f64 = ends.map(|x| x.abs()).sum();
    let all: f64 = smoothed.iter().map(|x| x.abs()).sum();
    let count: f64 = cells.iter().map(|c| c.count as f64).sum();
    (all - ends / 2.0) / count
}

/// Each value spread by the reflected kernel, times the step of the grid.
///
/// Reflection at both ends makes every function even and of period 2: a circle of `2·steps`
/// points, on which value `i` also stands at `−i`. `kernel[d]` is the Gaussian wrapped around that
/// circle, at distance `d`.
fn smooth(values: &[f64], sigma: f64) -> Vec<f64> {
    let steps = values.len() - 1;
    let step = 1.0 / steps as f64;
    let round = 2.0;
    let height = step / (libm::sqrt(2.0 * PI) * sigma);
    let bell = |x: f64| exp(-(x / sigma) * (x / sigma) / 2.0);
    let turns = (REACH * sigma / round) as i32 + 1;
    let reach = ((REACH * sigma / step) as usize + 1).min(steps);
    let kernel: Vec<f64> = (0..=reach)
        .map(|d| {
            let x = d as f64 * step;
            let all = (-turns..=turns).map(|turn| bell(x + round * f64::from(turn)));
            height * all.sum::<f64>()
        })
        .collect();
    let mut out = vec![0.0; steps + 1];
    for (i, &value) in values.iter().enumerate().filter(|(_, v)| **v != 0.0) {
        // Straight on both sides, then over 0, then over 1.
        let low = i.saturating_sub(reach);
        spread(&mut out, low, kernel[..=i - low].iter().rev(), value);
        spread(&mut out, i + 1, kernel[1..].iter(), value);
        spread(&mut out, 0, kernel.iter().skip(i), value);
        // From one step beyond half the circle on, the way over 1 is the shorter one.
        let from = (2 * steps - i).saturating_sub(reach).max(steps + 1 - i);
        if let Some(over) = kernel.get(steps - i..(2 * steps + 1 - i).saturating_sub(from)) {
            spread(&mut out, from, over.iter().rev(), value);
        }
    }
    out
}

/// Adds `value` times each weight to the places from `first` on, as far as there are places.
fn spread<'k>(out: &mut [f64], first: usize, kernel: impl Iterator<Item = &'k f64>, value: f64) {
    let places = out.get_mut(first..).unwrap_or_default();
    for (place, weight) in places.iter_mut().zip(kernel) {
        *place += value * weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latent::random::Stream;

    fn cells(pairs: &[(f64, bool)]) -> Vec<SmoothCell> {
        pairs
            .iter()
            .map(|&(confidence, right)| SmoothCell {
                confidence,
                residual: confidence - f64::from(u8::from(right)),
                count: 1,
            })
            .collect()
    }

    /// No residual is lost, wherever it lies and however wide the kernel: the integral of a kernel
    /// is one. The trapezoidal rule on a periodic analytic function is exact far beyond rounding
    /// at ten steps a bandwidth; 1e-12 leaves room for the sums.
    #[test]
    fn the_kernel_keeps_all_mass() {
        for sigma in [1.0 / 1024.0, 0.01, 0.1, 0.3, 0.5, 1.0] {
            for confidence in [0.0, 1e-4, 0.25, 0.5, 0.9995, 1.0] {
                let one = [SmoothCell {
                    confidence,
                    residual: -1.0,
                    count: 1,
                }];
                let got = smooth_ece_at(&one, sigma).unwrap();
                assert!((got - 1.0).abs() < 1e-12, "{sigma} {confidence} {got}");
            }
        }
    }

    /// A literal transcription of the definition on a finer mesh.
    fn literal(pairs: &[(f64, bool)], sigma: f64) -> f64 {
        let mesh = 4_000;
        let kernel = |t: f64, x: f64| -> f64 {
            let bell = |d: f64| exp(-d * d / (2.0 * sigma * sigma));
            let images = (-4..=4).map(|k| 2.0 * f64::from(k));
            images
                .map(|k| bell(t - x + k) + bell(t + x + k))
                .sum::<f64>()
                / (libm::sqrt(2.0 * PI) * sigma)
        };
        let total: f64 = (0..mesh)
            .map(|m| {
                let t = (f64::from(m) + 0.5) / f64::from(mesh);
                let at = |&(c, y): &(f64, bool)| (c - f64::from(u8::from(y))) * kernel(t, c);
                pairs.iter().map(at).sum::<f64>().abs()
            })
            .sum();
        total / f64::from(mesh) / pairs.len() as f64
    }

    #[test]
    fn equals_the_definition_to_the_error_of_the_grid() {
        let pairs = [
            (0.0, true),
            (0.1, false),
            (0.35, true),
            (0.6, false),
            (0.61, true),
            (0.93, true),
            (1.0, false),
            (1.0, true),
        ];
        for sigma in [0.02, 0.1, 0.4] {
            let want = literal(&pairs, sigma);
            let got = smooth_ece_at(&cells(&pairs), sigma).unwrap();
            // Sharing a value between two points adds at most step²/4 to a variance of σ²: a
            // relative change of (1/20)² at ten steps a bandwidth, here of (0.001/0.04)².
            assert!((got / want - 1.0).abs() < 6.3e-4, "{sigma}: {got} {want}");
        }
    }

    #[test]
    fn does_not_grow_with_the_bandwidth_and_meets_it() {
        let mut s = Stream::new(3, 0, 0, 0);
        let pairs: Vec<(f64, bool)> = (0..2000)
            .map(|_| {
                let c = s.uniform();
                (c, s.uniform() < c * c)
            })
            .collect();
        let cells = cells(&pairs);
        let mut last = 1.0;
        for k in 1..=20 {
            let now = smooth_ece_at(&cells, 0.05 * f64::from(k)).unwrap();
            assert!(now <= last + 1e-12);
            last = now;
        }
        let found = smooth_ece(&cells).unwrap();
        assert!(found.value <= found.bandwidth);
        let below = found.bandwidth - 1.0 / 1024.0;
        assert!(smooth_ece_at(&cells, below).unwrap() > below);
        // E|c − c²| = 1/6, and the residual has one sign.
        assert!((found.value - 1.0 / 6.0).abs() < 0.04);
        let mut turned = cells.clone();
        turned.reverse();
        assert_eq!(smooth_ece(&turned), Ok(found));
    }

    #[test]
    fn culprits_and_the_smallest_cases() {
        assert_eq!(smooth_ece(&[]), Err(CalibrationError::Empty));
        let cell = |confidence, residual, count| SmoothCell {
            confidence,
            residual,
            count,
        };
        assert_eq!(
            smooth_ece(&[cell(0.5, 0.0, 0)]),
            Err(CalibrationError::Empty)
        );
        assert!(matches!(
            smooth_ece(&[cell(0.5, 0.5, 1), cell(f64::NAN, 0.0, 1)]),
            Err(CalibrationError::Confidence { index: 1, .. })
        ));
        for residual in [f64::NAN, 1.5, f64::INFINITY] {
            assert!(matches!(
                smooth_ece(&[cell(0.5, residual, 1)]),
                Err(CalibrationError::Residual { index: 0, .. })
            ));
        }
        for bandwidth in [0.0, -1.0, f64::NAN, 1e-4, 2.0] {
            assert!(matches!(
                smooth_ece_at(&[cell(0.5, 0.5, 1)], bandwidth),
                Err(CalibrationError::Bandwidth { .. })
            ));
        }
        // Perfect: zero at the smallest bandwidth above 1/1000. As wrong as can be: one.
        let perfect = smooth_ece(&[cell(1.0, 0.0, 5)]).unwrap();
        assert_eq!((perfect.value, perfect.bandwidth), (0.0, 2.0 / 1024.0));
        let worst = smooth_ece(&[cell(1.0, 7.0, 7)]).unwrap();
        assert!((worst.value - 1.0).abs() < 1e-12);
    }
}
