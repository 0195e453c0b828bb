//! An interval for the smooth calibration error, whatever the model.

use std::f64::consts::PI;

use super::grid::Grid;
use crate::calibration::{CalibrationError, SmoothCell, smooth_ece_at};
use crate::math::ln;

/// Halvings of `[0, 1]` in the search for a bandwidth: down to 1/1024, which is the smallest one.
const HALVINGS: u32 = 10;

/// The cells of a grid as the smooth error takes them; each stands at its mean confidence.
pub(super) fn smooth_cells(grid: &Grid) -> Vec<SmoothCell> {
    let cell = |c: super::grid::GridCell| SmoothCell {
        confidence: c.mean().min(1.0),
        residual: c.confidence - c.correct as f64,
        count: c.count,
    };
    grid.cells().map(cell).collect()
}

/// An interval of level `1 − δ` for the smooth calibration error if outcomes were drawn again.
///
/// With `ρ_σ` the smoothed residuals, `|smECE_σ − its true value| ≤ ∫|ρ_s − its mean|` for all
/// `σ ≥ s`, as smoothing further only shrinks it. The mean of that integral is at most
/// `√(∫ Var) ≤ √(κ/(4n))` with `κ = max_f ∫ K_s(t, f)² dt ≤ 1/(s√π)` (reflection at most doubles
/// the `1/(2s√π)` of the line), and one outcome changes it by at most `1/n`, so that it exceeds its
/// mean by `√(ln(1/δ)/(2n))` with probability at most `δ` (McDiarmid). With `s = n^{−1/3}/2` both are
/// small. The true error lies between the bandwidths at which the curve, moved down and up by this
/// radius, crosses the diagonal; below `s` nothing is known. Where rows come in clusters of `k`, one cluster
/// changes it by at most `k` times as much, and `n` is the effective number `(Σk)²/Σk²`.
///
/// # Errors
/// Those of [`smooth_ece_at`], for cells that are not those of a grid.
pub(super) fn smooth_range(
    cells: &[SmoothCell],
    effective: f64,
    delta: f64,
) -> Result<(f64, f64), CalibrationError> {
    let n = effective.max(1.0);
    let s = 0.5 / libm::cbrt(n);
    let log = -ln(delta);
    let radius = libm::sqrt(1.0 / (4.0 * n * s * libm::sqrt(PI))) + libm::sqrt(log / (2.0 * n));
    let (below, above) = rayon::join(|| crossing(cells, -radius), || crossing(cells, radius));
    let ((low, _), (_, high)) = (below?, above?);
    Ok((if low > s { low } else { 0.0 }, high.max(s).min(1.0)))
}

/// Neighbouring multiples of 1/1024 between which `smECE_σ + shift` falls below `σ`.
fn crossing(cells: &[SmoothCell], shift: f64) -> Result<(f64, f64), CalibrationError> {
    let (mut narrow, mut wide) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (narrow + wide);
        let error = smooth_ece_at(cells, middle)?;
        if error + shift > middle {
            narrow = middle;
        } else {
            wide = middle;
        }
    }
    Ok((narrow, wide))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::smooth_ece;

    #[test]
    fn the_interval_holds_the_error_and_shrinks() {
        let mut widths = Vec::new();
        for copies in [1, 100, 10_000] {
            let mut grid = Grid::default();
            for _ in 0..copies {
                for i in 0..10 {
                    grid.add(0.8, i < 6);
                }
            }
            let cells = smooth_cells(&grid);
            let value = smooth_ece(&cells).unwrap().value;
            let (low, high) = smooth_range(&cells, 10.0 * f64::from(copies), 0.05).unwrap();
            assert!(low <= value && value <= high, "{low} {value} {high}");
            widths.push(high - low);
        }
        // The curve falls, so each crossing moves by less than the radius, for n = 10⁵ 0.0153, and
        // is known to 1/1024.
        assert!(widths[0] > widths[1] && widths[1] > widths[2] && widths[2] < 0.033);
    }
}
