//! Temperature scaling: one number that makes a decoder as sure as it is right.

use crate::math::{ExactSum, exp};

/// How far from one a temperature is searched: `2^±10`. A model whose scores are a thousandfold too
/// large or small is broken, not miscalibrated.
const OCTAVES: i32 = 10;

/// The temperature `T` that minimizes the mean of `−ln softmax(scores/T)_label` over held-out data
/// (Guo et al. 2017); to full double precision.
///
/// The loss is convex in `s = 1/T`, with the derivative `mean(Σ_c p_c·score_c − score_label)`,
/// whose only zero is found by bisection. `None` when it has none within `2^±10`: the held-out data
/// are all predicted right (the loss falls with `T` for ever), or no better than by chance.
///
/// `scores` holds a row of `labels.len()`-th part for each label; a score of `−∞` is a class of
/// probability zero at every temperature. The order of the rows does not matter: the derivative is
/// an exact sum over them.
#[must_use]
pub fn fit_temperature(scores: &[f64], labels: &[usize]) -> Option<f64> {
    let classes = scores.len().checked_div(labels.len()).filter(|&c| c > 0)?;
    let derivative = |s: f64| -> f64 {
        let rows = scores.chunks_exact(classes).zip(labels);
        rows.map(|(row, &label)| {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (mut total, mut mean) = (0.0, 0.0);
            for &score in row.iter().filter(|&&score| score != f64::NEG_INFINITY) {
                let p = exp(s * (score - largest));
                total += p;
                mean += p * (score - largest);
            }
            mean / total - row.get(label).map_or(f64::NAN, |l| l - largest)
        })
        .collect::<ExactSum>()
        .to_f64()
    };
    let (mut low, mut high) = (libm::scalbn(1.0, -OCTAVES), libm::scalbn(1.0, OCTAVES));
    if !(derivative(low) < 0.0 && derivative(high) > 0.0) {
        return None;
    }
    // Halving the exponent first would save little: a double has 53 bits and 20 octaves.
    loop {
        let middle = libm::sqrt(low * high);
        if !(middle > low && middle < high) {
            return Some(1.0 / low);
        }
        if derivative(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latent::random::Stream;

    /// Rows of three normal scores, with labels drawn from their softmax.
    fn drawn(rows: usize) -> (Vec<f64>, Vec<usize>) {
        let mut s = Stream::new(1, 0, 0, 0);
        let mut scores = Vec::new();
        let mut labels = Vec::new();
        for _ in 0..rows {
            let row: Vec<f64> = (0..3).map(|_| s.standard_normal()).collect();
            let mut p = row.clone();
            crate::simplex::softmax(&mut p).unwrap();
            let u = s.uniform();
            labels.push(if u < p[0] {
                0
            } else if u < p[0] + p[1] {
                1
            } else {
                2
            });
            scores.extend(row);
        }
        (scores, labels)
    }

    /// The right temperature is one, and scores that are made five times too large ask for five.
    #[test]
    fn exaggerated_scores_are_cooled_by_their_factor() {
        let (scores, labels) = drawn(4000);
        let one = fit_temperature(&scores, &labels).unwrap();
        // Fisher information of s per row is the variance of a score under p, about 0.6, so the
        // standard error is 1/√(4000·0.6) = 0.02; six of them.
        assert!((1.0 / one - 1.0).abs() < 0.13, "{one}");
        let five: Vec<f64> = scores.iter().map(|s| 5.0 * s).collect();
        let five = fit_temperature(&five, &labels).unwrap();
        assert!((five / one - 5.0).abs() < 1e-12, "{five} {one}");
    }

    /// By hand: scores (1, 0) and labels 0, 0, 0, 1: p = 3/4, so e^{1/T} = 3.
    #[test]
    fn two_classes_by_hand() {
        let scores = [1.0, 0.0].repeat(4);
        let t = fit_temperature(&scores, &[0, 0, 0, 1]).unwrap();
        assert!((t - 1.0 / 3f64.ln()).abs() < 1e-14);
    }

    #[test]
    fn impossible_classes_change_nothing() {
        let none = f64::NEG_INFINITY;
        let t = fit_temperature(&[1.0, none, 0.0].repeat(4), &[0, 0, 0, 2]).unwrap();
        assert!((t - 1.0 / 3f64.ln()).abs() < 1e-14);
    }

    #[test]
    fn the_order_of_rows_changes_no_bit() {
        let (mut scores, mut labels) = drawn(300);
        let first = fit_temperature(&scores, &labels).unwrap();
        let mut plain = Vec::new();
        for _ in 0..30 {
            scores.rotate_left(3 * 10);
            labels.rotate_left(10);
            let again = fit_temperature(&scores, &labels).unwrap();
            assert_eq!(again.to_bits(), first.to_bits());
            plain.push(scores.iter().sum::<f64>().to_bits());
        }
        // Negative control: added up one after the other, these rows are not order-free.
        assert!(plain.iter().any(|sum| *sum != plain[0]));
    }

    #[test]
    fn no_temperature_where_the_loss_has_no_minimum() {
        assert_eq!(fit_temperature(&[1.0, 0.0], &[0]), None);
        assert_eq!(fit_temperature(&[1.0, 0.0], &[1]), None);
        assert_eq!(fit_temperature(&[], &[]), None);
        assert_eq!(fit_temperature(&[1.0, 0.0], &[7]), None);
        assert_eq!(fit_temperature(&[f64::NAN, 0.0], &[0]), None);
    }
}
