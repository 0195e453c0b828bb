//! Losses of one row, with their gradients.

use super::Number;

/// `−ln softmax(scores)_label`, computed from the *scores* (logits), and its gradient
/// `softmax(scores) − onehot(label)`, which replaces the scores, times `scale`.
///
/// Scores are what goes in, not probabilities: a cross-entropy of `softmax(softmax(scores))` cannot
/// fall below `ln(1 + (n−1)/e)` for `n` classes, however sure the network is.
///
/// Domain: finite scores, `label < scores.len()` (otherwise the loss is `+∞` and the gradient that
/// of no label at all). The maximum is subtracted, so nothing overflows.
pub(crate) fn cross_entropy<T: Number>(scores: &mut [T], label: usize, scale: T) -> f64 {
    let largest = scores
        .iter()
        .fold(T::neg_infinity(), |m, &s| if s > m { s } else { m });
    let target = scores.get(label).map_or(f64::NEG_INFINITY, |s| s.to_f64());
    let mut total = T::zero();
    for s in scores.iter_mut() {
        *s = (*s - largest).exp();
        total += *s;
    }
    let loss = total.ln().to_f64() + (largest.to_f64() - target);
    for (class, s) in scores.iter_mut().enumerate() {
        let hit = if class == label { T::one() } else { T::zero() };
        *s = (*s / total - hit) * scale;
    }
    loss
}

/// `KL(N(μ, diag σ²) ‖ N(0, I)) = Σ_j ½(μ_j² + σ_j² − 1) − ln σ_j`.
///
/// Domain: positive `σ`. Computed in double precision; the logarithm is taken of products of up to
/// eight `σ` at a time, which stay within range for `σ` between 1e-38 and 1e38.
pub(crate) fn standard_normal_kl<T: Number>(mean: &[T], sigma: &[T]) -> f64 {
    let mut squares = 0.0;
    for (m, s) in mean.iter().zip(sigma) {
        let (m, s) = (m.to_f64(), s.to_f64());
        squares += m * m + s * s - 1.0;
    }
    let mut logs = 0.0;
    for group in sigma.chunks(8) {
        logs += crate::math::ln(group.iter().fold(1.0, |p, s| p * s.to_f64()));
    }
    0.5 * squares - logs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cross_entropy_is_minus_the_log_of_the_softmax() {
        // mpmath 1.3: scores (1, 2, 0.5), label 0.
        let mut scores = [1.0f64, 2.0, 0.5];
        let loss = cross_entropy(&mut scores, 0, 1.0);
        assert!((loss - 1.464_368_784_107_945).abs() < 1e-15 * 4.0, "{loss}");
        assert!((scores.iter().sum::<f64>()).abs() < 4.0 * f64::EPSILON);
        // Sure and right, sure and wrong, far beyond the range of exp.
        let mut scores = [1000.0f32, 0.0];
        assert_eq!(cross_entropy(&mut scores, 0, 1.0), 0.0);
        let mut scores = [1000.0f32, 0.0];
        assert_eq!(cross_entropy(&mut scores, 1, 1.0), 1000.0);
        assert_eq!(scores, [1.0, -1.0]);
    }

    /// Softmax twice, as when a network that already ends in a softmax is trained with this loss:
    /// the smallest loss, of a network that is right and completely sure, is ln(1 + 2/e).
    #[test]
    fn softmax_applied_twice_shows_as_a_floor_of_the_loss() {
        let floor = (1.0 + 2.0 / std::f64::consts::E).ln();
        for sureness in [2.0, 10.0, 100.0, 1000.0] {
            let once = cross_entropy(&mut [sureness, 0.0, 0.0], 0, 1.0);
            let mut probabilities = [sureness, 0.0, 0.0];
            crate::simplex::softmax(&mut probabilities).unwrap();
            let twice = cross_entropy(&mut probabilities, 0, 1.0);
            assert!(once < floor, "{once}");
            assert!(twice >= floor * (1.0 - f64::EPSILON), "{twice}");
        }
    }

    #[test]
    fn divergence_from_the_standard_normal() {
        assert_eq!(standard_normal_kl(&[0.0f64; 20], &[1.0; 20]), 0.0);
        // mpmath 1.3: ½(0.25 + 0.04 − 1) − ln 0.2 + ½(9 + 4 − 1) − ln 2.
        let kl = standard_normal_kl(&[0.5, -3.0], &[0.2, 2.0]);
        assert!((kl - 6.561_290_731_874_155).abs() < 1e-14, "{kl}");
        let tiny = standard_normal_kl(&[0.0f32; 9], &[1e-6f32; 9]);
        assert!((tiny - 9.0 * (6.0 * std::f64::consts::LN_10 - 0.5)).abs() < 1e-5);
    }
}
