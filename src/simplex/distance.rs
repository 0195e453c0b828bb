//! How uncertain a distribution is, and how far two of them are apart.
//!
//! Two distributions are compared class by class; they must have the same number of classes, and
//! where they do not, there is no distance (`None`). All sums are exact, so that relabelling the
//! classes changes no bit.

use super::Distribution;
use crate::math::{ExactSum, ln};

/// `H(P) = −Σ p ln p` in nats, with `0 ln 0 = 0`. Range: `[0, ln n]` up to rounding.
#[must_use]
pub fn entropy_nats(p: &Distribution) -> f64 {
    let terms = p.probabilities().iter().filter(|&&x| x > 0.0);
    // Each term is non-negative: ln x ≤ 0. A certain class gives −(1·0) = −0; +0 is meant.
    terms.map(|&x| -(x * ln(x))).collect::<ExactSum>().to_f64() + 0.0
}

/// `H(P)` in bits: [`entropy_nats`] divided by `ln 2`. Range: `[0, log2 n]` up to rounding.
#[must_use]
pub fn entropy_bits(p: &Distribution) -> f64 {
    entropy_nats(p) / std::f64::consts::LN_2
}

/// `D(P‖Q) = Σ p ln(p/q)` in nats. Range: `[0, +∞]`; `+∞` where `q = 0 < p`.
///
/// Computed as `Σ p ln(p/q) − p + q`, whose terms are each non-negative, so that rounding cannot
/// make the result negative; the added terms cancel because both add up to one.
#[must_use]
pub fn kl_divergence(p: &Distribution, q: &Distribution) -> Option<f64> {
    let pairs = pairs(p, q)?;
    Some(
        pairs
            .map(|(p, q)| kl_term(p, q))
            .collect::<ExactSum>()
            .to_f64(),
    )
}

/// `p ln(p/q) − p + q`.
///
/// | case | value |
/// |---|---|
/// | `p = 0` | `q` |
/// | `q = 0 < p` | `+∞` |
/// | `p` close to `q` | `q·(d²/2 − d³/6 + d⁴/12 − …)`, `d = (p−q)/q` |
/// | else | as it stands |
pub(crate) fn kl_term(p: f64, q: f64) -> f64 {
    if p == 0.0 {
        return q;
    }
    if q == 0.0 {
        return f64::INFINITY;
    }
    let d = (p - q) / q;
    if d.abs() < 1.0 / 128.0 {
        // Σ_{k≥2} (−d)^k / (k(k−1)): with |d| < 2⁻⁷ the term k = 10 is below 2⁻⁶¹ of the first.
        let tail = (2..10)
            .rev()
            .fold(0.0, |tail, k| 1.0 / f64::from(k * (k - 1)) - d * tail);
        return q * (d * d * tail);
    }
    p * (ln(p) - ln(q)) - (p - q)
}

/// `‖P − Q‖₁ = Σ |p − q|`. Range: `[0, 2]` up to rounding.
#[must_use]
pub fn l1_distance(p: &Distribution, q: &Distribution) -> Option<f64> {
    let pairs = pairs(p, q)?;
    Some(
        pairs
            .map(|(p, q)| (p - q).abs())
            .collect::<ExactSum>()
            .to_f64(),
    )
}

/// Hilbert's projective distance `max_y ln(p/q) − min_y ln(p/q)`, over the common support.
///
/// Range: `[0, +∞]`; `+∞` where one of the two excludes a class that the other allows. It does not
/// change when either side is rescaled, which is why it bounds what an item can do to a product.
#[must_use]
pub fn hilbert_distance(p: &Distribution, q: &Distribution) -> Option<f64> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (p, q) in pairs(p, q)? {
        if (p > 0.0) != (q > 0.0) {
            return Some(f64::INFINITY);
        }
        if p > 0.0 {
            let ratio = if p == q { 0.0 } else { ln(p) - ln(q) };
            low = if ratio < low { ratio } else { low };
            high = if ratio > high { ratio } else { high };
        }
    }
    // Both sum to one, so some class is allowed by each; where none is allowed by both, the
    // supports differ and the loop has returned.
    Some(high - low)
}

fn pairs<'a>(
    p: &'a Distribution,
    q: &'a Distribution,
) -> Option<impl Iterator<Item = (f64, f64)> + 'a> {
    (p.classes() == q.classes()).then(|| {
        let p = p.probabilities().iter().copied();
        p.zip(q.probabilities().iter().copied())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn d(p: &[f64]) -> Distribution {
        Distribution::from_weights(p.to_vec()).unwrap()
    }

    #[test]
    fn values_known_in_closed_form() {
        assert_eq!(entropy_bits(&d(&[1.0; 8])), 3.0);
        assert_eq!(entropy_nats(&d(&[1.0, 0.0])).to_bits(), 0);
        assert_eq!(l1_distance(&d(&[1.0, 0.0]), &d(&[0.0, 1.0])), Some(2.0));
        assert_eq!(
            kl_divergence(&d(&[1.0, 0.0]), &d(&[1.0, 1.0])),
            Some(std::f64::consts::LN_2)
        );
        assert_eq!(
            kl_divergence(&d(&[1.0, 1.0]), &d(&[1.0, 0.0])),
            Some(f64::INFINITY)
        );
        assert_eq!(
            hilbert_distance(&d(&[1.0, 1.0]), &d(&[1.0, 0.0])),
            Some(f64::INFINITY)
        );
        // (1/2, 1/2) against (3/4, 1/4): ln 3.
        let h = hilbert_distance(&d(&[1.0, 1.0]), &d(&[3.0, 1.0])).unwrap();
        assert!((h - 3f64.ln()).abs() <= 2.0 * f64::EPSILON);
        assert_eq!(hilbert_distance(&d(&[1.0]), &d(&[1.0, 1.0])), None);
    }

    #[test]
    fn kl_of_close_distributions_is_accurate() {
        // In closed form, D((1/2, 1/2) ‖ (1/2 + e, 1/2 − e)) = −ln(1 − 4e²)/2.
        let e = 2f64.powi(-20);
        let p = Distribution::new(vec![0.5, 0.5]).unwrap();
        let q = Distribution::new(vec![0.5 + e, 0.5 - e]).unwrap();
        let want = -libm::log1p(-4.0 * e * e) / 2.0;
        let got = kl_divergence(&p, &q).unwrap();
        assert!((got - want).abs() <= 4.0 * f64::EPSILON * want);
    }

    proptest! {
        #[test]
        fn distances_are_not_negative_and_vanish_on_equality(
            (a, b) in (1usize..9).prop_flat_map(|n| (
                prop::collection::vec(1e-12f64..1.0, n),
                prop::collection::vec(1e-12f64..1.0, n),
            ))
        ) {
            let (p, q) = (d(&a), d(&b));
            for f in [kl_divergence, l1_distance, hilbert_distance] {
                prop_assert!(f(&p, &q).unwrap() >= 0.0);
                prop_assert_eq!(f(&p, &p), Some(0.0));
            }
            // Pinsker: D ≥ L1²/2.
            let l1 = l1_distance(&p, &q).unwrap();
            let kl = kl_divergence(&p, &q).unwrap();
            prop_assert!(kl >= l1 * l1 / 2.0 * (1.0 - 1e-12) - 1e-15);
        }
    }
}
