//! Stage 3: confidence weights `w = f_conf(Σ)`, decreasing in the posterior's uncertainty.
//!
//! With `s` the mean standard deviation of the coordinates (the square roots of the diagonal of
//! `Σ`, so a full covariance is treated like a diagonal one) and `v = tr Σ / d`:
//!
//! | name | `f_conf` | range for `s` in `(0, ∞)` |
//! |---|---|---|
//! | `reference` | `1/(1+s) · sigmoid(−2s)` | `(0, 1/2)` |
//! | `reciprocal` | `1/(1+s)` | `(0, 1)` |
//! | `exponential` | `exp(−s)` | `(0, 1)` |
//! | `precision` | `1/(1+v)` | `(0, 1)` |
//!
//! In floating point both ends can be reached by rounding: the upper one for tiny `s`, zero for
//! huge `s`. No input gives NaN: `s` is positive and finite, and where `v` overflows the weight is
//! zero.

use super::posterior::GaussianPosterior;
use crate::math::exp;

/// The steepness `α` of the reference implementation's sigmoid.
const REFERENCE_ALPHA: f64 = 2.0;

/// A confidence function; see the module for the formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Confidence {
    /// `1/(1+s) · sigmoid(−2s)`: what the author's implementation computes. Never above one half.
    Reference,
    /// `1/(1+s)`.
    Reciprocal,
    /// `exp(−s)`.
    Exponential,
    /// `1/(1+v)` with the mean variance `v`.
    Precision,
}

impl Confidence {
    /// All four functions.
    pub const ALL: [Confidence; 4] = [
        Confidence::Reference,
        Confidence::Reciprocal,
        Confidence::Exponential,
        Confidence::Precision,
    ];

    /// The name, as in the table of the module.
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Reference => "reference",
            Confidence::Reciprocal => "reciprocal",
            Confidence::Exponential => "exponential",
            Confidence::Precision => "precision",
        }
    }

    /// The function with this name; `None` where there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }

    /// The weight of an item with this posterior. Range: `[0, 1]`, never NaN.
    #[must_use]
    pub fn weight(self, posterior: &GaussianPosterior) -> f64 {
        self.of_uncertainty(self.uncertainty(posterior))
    }

    /// What the weight is a function of: `s`, or `v` for [`Confidence::Precision`].
    pub fn uncertainty(self, posterior: &GaussianPosterior) -> f64 {
        match self {
            Confidence::Precision => posterior.mean_variance(),
            _ => posterior.mean_sigma(),
        }
    }

    /// The function itself, of `s` (or, for [`Confidence::Precision`], of `v`).
    ///
    /// Domain: `[0, +∞]`. Range: `[0, 1]`; not increasing.
    #[must_use]
    pub fn of_uncertainty(self, s: f64) -> f64 {
        match self {
            Confidence::Reference => sigmoid_of_minus(REFERENCE_ALPHA * s) / (1.0 + s),
            Confidence::Reciprocal | Confidence::Precision => 1.0 / (1.0 + s),
            Confidence::Exponential => exp(-s),
        }
    }
}

/// `sigmoid(−x) = 1/(1 + e^x)` for `x ≥ 0`: zero where the exponential overflows.
///
/// Each step rounds monotonically, so the whole does not increase; `e^{−x}/(1 + e^{−x})` would,
/// between neighbouring doubles.
fn sigmoid_of_minus(x: f64) -> f64 {
    1.0 / (1.0 + exp(x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn weights_fall_with_uncertainty_and_stay_in_range(
            bits in any::<[u64; 2]>(),
            near in 0.0f64..30.0,
            step in 0.0f64..1.0,
        ) {
            let any = bits.map(|b| f64::from_bits(b & !(1 << 63)));
            for c in Confidence::ALL {
                for pair in [any, [near, near + step], [near, near.next_up()]] {
                    let [a, b] = pair;
                    prop_assume!(!a.is_nan() && !b.is_nan());
                    let (a, b) = if a <= b { (a, b) } else { (b, a) };
                    let (wa, wb) = (c.of_uncertainty(a), c.of_uncertainty(b));
                    prop_assert!(wa >= wb, "{c:?} {a} {b} {wa} {wb}");
                    let top = if c == Confidence::Reference { 0.5 } else { 1.0 };
                    prop_assert!((0.0..=top).contains(&wa) && (0.0..=top).contains(&wb));
                }
            }
        }
    }

    #[test]
    fn strictly_decreasing_where_doubles_can_tell() {
        for c in Confidence::ALL {
            for i in 1..2000 {
                let s = f64::from(i) / 100.0;
                assert!(c.of_uncertainty(s) > c.of_uncertainty(s + 0.01), "{c:?}");
            }
        }
    }

    #[test]
    fn reference_formula_word_for_word() {
        for i in 0..2000 {
            let s = f64::from(i) / 100.0;
            // 1/(1 + e^{2s}) is the same sigmoid written the other way; std's exponential is an
            // independent one. Some ten roundings on both sides together.
            let literal = 1.0 / (1.0 + s) * (1.0 / (1.0 + (2.0 * s).exp()));
            let got = Confidence::Reference.of_uncertainty(s);
            // exp(−2s) and exp(2s) are each within an ulp.
            assert!((got - literal).abs() <= 8.0 * f64::EPSILON * literal, "{s}");
        }
        assert_eq!(Confidence::Reference.of_uncertainty(0.0), 0.5);
    }

    #[test]
    fn full_covariance_counts_by_its_diagonal_and_huge_spreads_give_zero() {
        let sigma = vec![2.0, 3.0];
        let diagonal = GaussianPosterior::diagonal(vec![0.0; 2], sigma).unwrap();
        let matrix = DMatrix::from_row_slice(2, 2, &[4.0, 1.0, 1.0, 9.0]);
        let full = GaussianPosterior::full(vec![0.0; 2], matrix).unwrap();
        for c in Confidence::ALL {
            assert_eq!(c.weight(&diagonal), c.weight(&full));
            assert_eq!(Confidence::from_name(c.name()), Some(c));
        }
        assert_eq!(Confidence::Reciprocal.weight(&full), 1.0 / 3.5);
        assert_eq!(Confidence::Precision.weight(&full), 1.0 / 7.5);
        assert_eq!(Confidence::from_name("other"), None);
        let huge = GaussianPosterior::diagonal(vec![0.0; 3], vec![f64::MAX; 3]).unwrap();
        for c in Confidence::ALL {
            let w = c.weight(&huge);
            assert!((0.0..1e-300).contains(&w), "{c:?} {w}");
        }
    }
}
