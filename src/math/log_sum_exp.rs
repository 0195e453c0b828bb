//! Logarithm of a sum of exponentials.

use super::{Real, canonical_sum};

/// `ln Σ exp(xᵢ)`, computed with the maximum subtracted.
///
/// Domain: any numbers; `−∞` stands for a vanishing term. Range: at least the maximum of the
/// terms, at most the maximum plus `ln n`. Empty or all `−∞`: `−∞`. With `+∞`: `+∞`. With NaN: NaN.
#[must_use]
pub fn log_sum_exp<S: Real>(terms: &[S]) -> S {
    let mut max = S::neg_infinity();
    for &x in terms {
        if x.is_nan() {
            return x;
        }
        if x > max {
            max = x;
        }
    }
    if !max.is_finite() {
        return max;
    }
    let scaled: Vec<S> = terms.iter().map(|&x| (x - max).exp()).collect();
    max + canonical_sum(&scaled).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges() {
        const INF: f64 = f64::INFINITY;
        assert_eq!(log_sum_exp::<f64>(&[]), -INF);
        assert_eq!(log_sum_exp(&[-INF, -INF]), -INF);
        assert_eq!(log_sum_exp(&[INF, 0.0]), INF);
        assert!(log_sum_exp(&[f64::NAN, 0.0]).is_nan());
        assert_eq!(log_sum_exp(&[-1e308, -INF]), -1e308);
        // ln 2 to the last bit (mpmath: 0.693147180559945309417232...).
        assert_eq!(log_sum_exp(&[0.0, 0.0]), std::f64::consts::LN_2);
        assert_eq!(
            log_sum_exp(&[1000.0, 1000.0]),
            1000.0 + std::f64::consts::LN_2
        );
    }
}
