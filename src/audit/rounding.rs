//! How far an answer may be from its aggregate when both were computed rightly, but in rounded
//! numbers.
//!
//! Let `u` be half a unit in the last place of one. A product computed in this precision, in any of
//! the usual ways (factors and weights rounded first; powers normalized item by item or not; a
//! uniform prior or none; logarithms added in any order; the maximum subtracted or not), has in the
//! logarithm of class `y`, to first order, with elementary functions within one unit in the last
//! place (`2u`):
//!
//! | step | error |
//! |---|---|
//! | `Φ` rounded, and divided by its sum | `3u·w` an item |
//! | `w` rounded | `u·w·abs(ln Φ)` an item |
//! | logarithm, product, power | `4u·m` and `4u` an item |
//! | `K + 1` terms added | `(K + 1)u·A(y)` |
//! | exponential | `2u` |
//!
//! where a term's size is `m ≤ w·abs(ln Φ(y)) + ln n` (a power that is normalized is divided by at
//! most `n`) and `A(y)` adds the terms and `ln n` for a prior. The last normalization adds the
//! largest of these over the classes and `n + 3` roundings.
//!
//! The product that is corrected for a prior `π` is made of `Φ/π`, and of `π` once: an item's term is of
//! size `m ≤ w·(abs(ln Φ(y)) + abs(ln π(y))) + ln n`, and off by `7u·w` instead of `3u·w`, as `π` is
//! rounded and divided as `Φ` is, and the quotient is rounded; `A(y)` adds `abs(ln π(y))` for the prior,
//! which is off by `3u` and its logarithm's `4u·abs(ln π(y))`. A correction by the power `1 − Σw` of the
//! prior is off by no more: the `K + 1` roundings of the sum are those of the table's fourth row.
//!
//! A learned aggregate is recomputed bit by bit; only the rounding of the stored answer is allowed.
//!
//! Numbers below the smallest normal one of the precision lose digits: an entry may also be off by
//! that number.
//!
//! # Weights
//! A weight is `f(s)` of the mean `s` of `d` standard deviations, or of variances. `σ` is rounded, and
//! it or a variance is made from the other by a root or a square (`3u`); `d` terms are added in any
//! order and divided (`d·u`): `s` is off by `(d + 3)u`, relatively, which moves `ln f` by at most
//! `c·(d + 3)u` with `c = abs(d ln f/d ln s)`:
//!
//! | function | `c` at most |
//! |---|---|
//! | `1/(1 + s)` | 1 |
//! | `e^{−s}` | `s` |
//! | `sigmoid(−2s)/(1 + s)` | `1 + 2s` |
//!
//! The function itself adds at most `10u`: an exponential, twice where the sigmoid is written
//! `e/(1 + e)` (`4u`), two sums, two quotients, a product (`5u`), and the weight stored (`u`). A sigmoid
//! made from a hyperbolic tangent loses more, and is not covered.

use crate::aggregate::Method;
use crate::latent::{Confidence, GaussianPosterior};
use crate::math::ln;
use crate::simplex::Distribution;

/// A precision: half a unit in the last place of one, and the smallest normal number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precision {
    unit: f64,
    smallest: f64,
}
pub(super) const SINGLE: Precision = Precision {
    unit: f32::EPSILON as f64 / 2.0,
    smallest: f32::MIN_POSITIVE as f64,
};
pub(super) const DOUBLE: Precision = Precision {
    unit: f64::EPSILON / 2.0,
    smallest: f64::MIN_POSITIVE,
};

impl Precision {
    /// Half a unit in the last place of one.
    pub(super) fn unit(self) -> f64 {
        self.unit
    }

    /// For each class, how far a rounded answer may be from the aggregate `own` of the factors.
    ///
    /// For a mean, a vote or a maximum: `K + n + 6` roundings of each entry (factors rounded and
    /// divided, `K` terms added, normalized).
    pub(super) fn allowed(
        self,
        method: Method,
        prior: Option<&Distribution>,
        factors: &[Distribution],
        weights: &[f64],
        own: &[f64],
    ) -> Vec<f64> {
        let (k, n) = (factors.len() as f64, own.len() as f64);
        let relative: Vec<f64> = match method {
            Method::Spn | Method::PriorCorrected => {
                let log_n = ln(n);
                let size_of = |p: &Distribution, y: usize| {
                    let p = p.probabilities().get(y).copied().unwrap_or(1.0);
                    if p > 0.0 { ln(p).abs() } else { 0.0 }
                };
                let logs: Vec<f64> = (0..own.len())
                    .map(|y| {
                        let (prior, mut each, mut sum, an_item) = match prior {
                            Some(prior) => {
                                let prior = size_of(prior, y);
                                (prior, 3.0 + 4.0 * prior, prior, 7.0)
                            }
                            None => (0.0, 0.0, log_n, 3.0),
                        };
                        for (factor, &w) in factors.iter().zip(weights) {
                            let log = w * (size_of(factor, y) + prior);
                            let size = log + log_n;
                            each += an_item * w + log + 4.0 * size + 4.0;
                            sum += size;
                        }
                        each + (k + 1.0) * sum + 2.0
                    })
                    .collect();
                let largest = logs.iter().copied().fold(0.0, f64::max);
                let relative = |log: &f64| libm::expm1(self.unit * (log + largest + n + 3.0));
                logs.iter().map(relative).collect()
            }
            Method::Learned => vec![self.unit; own.len()],
            Method::Uniform | Method::Vote | Method::Max => {
                vec![(k + n + 6.0) * self.unit; own.len()]
            }
        };
        let entries = relative.iter().zip(own);
        entries.map(|(r, p)| r * p + self.smallest).collect()
    }

    /// How far a rounded weight may be from `own`, the confidence of the posterior.
    pub(super) fn allowed_weight(
        self,
        function: Confidence,
        posterior: &GaussianPosterior,
        own: f64,
    ) -> f64 {
        let s = function.uncertainty(posterior);
        let condition = match function {
            Confidence::Reciprocal | Confidence::Precision => 1.0,
            Confidence::Exponential => s,
            Confidence::Reference => 1.0 + 2.0 * s,
        };
        let roundings = condition * (posterior.dimension() as f64 + 3.0) + 10.0;
        // A weight of zero stays zero however far s is off: there is nothing to multiply.
        let relative = if own > 0.0 {
            libm::expm1(self.unit * roundings) * own
        } else {
            0.0
        };
        relative + self.smallest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::aggregate;
    use proptest::prelude::*;

    /// The table at the top, added up by hand for a single factor (½, ½) of weight 1: 3 for the factor, ln 2 for
    /// the weight, 4·2 ln 2 and 4 for the logarithm, 2·3 ln 2 for the sum, 2 for the exponential; the largest
    /// of these again, and 2 + 3.
    #[test]
    fn the_allowance_is_that_of_the_table() {
        let half = Distribution::new(vec![0.5, 0.5]).unwrap();
        let own = [0.5, 0.5];
        let of = |method, factors: &[Distribution], weights: &[f64]| {
            DOUBLE.allowed(method, None, factors, weights, &own)[0]
        };
        let class = 9.0 + 15.0 * std::f64::consts::LN_2;
        let want = (2.0 * class + 5.0) * DOUBLE.unit * 0.5;
        let got = of(Method::Spn, std::slice::from_ref(&half), &[1.0]);
        // The exponential of so little is itself, to the square of it.
        assert!((got / want - 1.0).abs() < 1e-12, "{got} {want}");
        // K + n + 6 roundings of a mean.
        let got = of(Method::Uniform, &[half.clone(), half], &[1.0, 1.0]);
        assert!(
            (got / (10.0 * DOUBLE.unit * 0.5) - 1.0).abs() < 1e-12,
            "{got}"
        );
    }

    /// The product in single precision, the plain way: powers, multiplied, divided by their sum; with
    /// a prior, powers of `Φ/π`, and `π` at the end.
    fn plain_single(
        prior: Option<&Distribution>,
        factors: &[Distribution],
        weights: &[f64],
    ) -> Vec<f64> {
        let n = factors[0].classes();
        let prior: Vec<f32> = match prior {
            Some(prior) => prior.probabilities().iter().map(|&p| p as f32).collect(),
            None => vec![1.0; n],
        };
        let mut out = prior.clone();
        for (factor, &w) in factors.iter().zip(weights) {
            let pairs = factor.probabilities().iter().zip(&prior);
            let powers: Vec<f32> = pairs.map(|(&p, q)| (p as f32 / q).powf(w as f32)).collect();
            let total: f32 = powers.iter().sum();
            for (o, p) in out.iter_mut().zip(&powers) {
                *o *= p / total;
            }
        }
        let total: f32 = out.iter().sum();
        out.iter().map(|&o| f64::from(o / total)).collect()
    }

    /// The product by the steps of the table, each rounded by a whole `unit` towards a larger answer for the
    /// classes that are to `gain` and towards a smaller one for the others.
    fn against(
        unit: f64,
        prior: Option<&Distribution>,
        factors: &[Distribution],
        weights: &[f64],
        gain: &[bool],
    ) -> Vec<f64> {
        let off = |x: f64, up: bool| x + x.abs() * if up { unit } else { -unit };
        let twice = |x: f64, up: bool| off(off(x, up), up);
        let n = gain.len();
        let mut powers = Vec::new();
        for (y, &up) in gain.iter().enumerate() {
            // Rounded, and divided by a rounded sum that is rounded once more.
            let read = |p: &Distribution, up: bool| off(twice(p.probabilities()[y], up), up);
            let mut log = match prior {
                Some(prior) => twice(twice(ln(read(prior, up)), up), up),
                None => off(-ln(n as f64), up),
            };
            for (factor, &w) in factors.iter().zip(weights) {
                let ratio = match prior {
                    Some(prior) => off(read(factor, up) / read(prior, !up), up),
                    None => read(factor, up),
                };
                let exact = ln(ratio);
                let w = off(w, up == (exact >= 0.0));
                // A logarithm within a unit in the last place, and a product.
                let term = off(w * twice(exact, up), up);
                log = off(log + term, up);
            }
            powers.push(twice(libm::exp(log), up));
        }
        let total = |up: bool| powers.iter().fold(0.0, |sum, p| off(sum + p, up));
        let entries = powers.iter().zip(gain);
        entries.map(|(p, &up)| off(p / total(!up), up)).collect()
    }

    proptest! {
        /// What is allowed is enough even where all roundings go against the answer. With large weights and
        /// few items it is the items' own parts that are needed.
        #[test]
        fn what_is_allowed_is_enough_where_all_roundings_go_one_way(
            rows in prop::collection::vec(prop::collection::vec(0.2f64..1.0, 3), 1..5),
            weights in prop::collection::vec(0.1f64..30.0, 5),
            gain in prop::collection::vec(any::<bool>(), 3),
            prior in prop::option::of(prop::collection::vec(0.2f64..1.0, 3)),
        ) {
            // Forty binary digits: far from a double's, whose own roundings do not count beside.
            let unit = libm::exp2(-40.0);
            let precision = Precision { unit, smallest: 0.0 };
            let distribution = |r: Vec<f64>| Distribution::from_weights(r).unwrap();
            let factors: Vec<Distribution> = rows.into_iter().map(distribution).collect();
            let prior = prior.map(distribution);
            let prior = prior.as_ref();
            let method = prior.map_or(Method::Spn, |_| Method::PriorCorrected);
            let weights = &weights[..factors.len()];
            let own = aggregate(method, &factors, weights, prior).unwrap();
            let own = own.probabilities();
            let allowed = precision.allowed(method, prior, &factors, weights, own);
            let rounded = against(unit, prior, &factors, weights, &gain);
            for ((a, b), allowed) in rounded.iter().zip(own).zip(&allowed) {
                prop_assert!((a - b).abs() <= *allowed, "{a} {b} {allowed}");
            }
        }
    }

    proptest! {
        /// Equal within single precision, and not within double; a thousandth more weight on an
        /// item that matters is noticed.
        #[test]
        fn a_product_in_single_precision_is_told_from_a_wrong_one(
            rows in prop::collection::vec(prop::collection::vec(0.001f64..1.0, 3), 2..7),
            weights in prop::collection::vec(0.1f64..1.5, 7),
            prior in prop::option::of(prop::collection::vec(0.05f64..1.0, 3)),
        ) {
            let distribution = |r: Vec<f64>| Distribution::from_weights(r).unwrap();
            let factors: Vec<Distribution> = rows.into_iter().map(distribution).collect();
            let prior = prior.map(distribution);
            let prior = prior.as_ref();
            let method = prior.map_or(Method::Spn, |_| Method::PriorCorrected);
            let mut weights = weights[..factors.len()].to_vec();
            let single = plain_single(prior, &factors, &weights);
            let fits = |weights: &[f64], precision: Precision| {
                let own = aggregate(method, &factors, weights, prior).unwrap();
                let own = own.probabilities();
                let allowed = precision.allowed(method, prior, &factors, weights, own);
                let mut pairs = single.iter().zip(own).zip(&allowed);
                pairs.all(|((a, b), allowed)| (a - b).abs() <= *allowed)
            };
            prop_assert!(fits(&weights, SINGLE));
            let flat = [1.0; 3];
            let prior = prior.map_or(&flat[..], |prior| prior.probabilities());
            let range = factors[0].probabilities().iter().zip(prior).map(|(p, q)| (p / q).ln());
            let range = range.clone().fold(f64::MIN, f64::max) - range.fold(f64::MAX, f64::min);
            prop_assume!(range * weights[0] > 1.0);
            prop_assume!(single.iter().all(|p| *p > 0.01));
            weights[0] *= 1.001;
            prop_assert!(!fits(&weights, SINGLE));
        }
    }
}
