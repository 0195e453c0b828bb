//! T5′, in place of theorem 5: what corrupted items can do to a product, and what they cannot.
//!
//! # Statement
//! Let `P(y) ∝ ∏ Φᵢ(y)^{wᵢ}` with `wᵢ ≥ 0`, and let the items of a set `S` be replaced by `Φ̃ᵢ`
//! with the same support. Put `Δ(y) = Σ_{i∈S} wᵢ ln(Φ̃ᵢ(y)/Φᵢ(y))` and `R = max Δ − min Δ`. Then
//!
//! 1. `‖P̃ − P‖₁ ≤ 2·tanh(R/4)`,
//! 2. `R ≤ Σ_{i∈S} wᵢ·d_H(Φᵢ, Φ̃ᵢ)`, with Hilbert's distance
//!    `d_H(Φ, Φ̃) = max_y ln(Φ̃/Φ) − min_y ln(Φ̃/Φ)`,
//! 3. if every entry of `Φ` *and* of `Φ̃` is at least `p > 0` and `‖Φ − Φ̃‖₁ ≤ δ`, then
//!    `d_H(Φ, Φ̃) ≤ 2·ln(1 + δ/(2p))`,
//! 4. if only the entries of `Φ` are known to be at least `p`, and `δ < 2p`, then
//!    `d_H(Φ, Φ̃) ≤ ln(1 + δ/(2p)) − ln(1 − δ/(2p))`; for `δ ≥ 2p` nothing finite holds.
//!
//! # Proof
//! 1. `P̃ = P·e^Δ/Z`. Let `A = {y : P̃(y) > P(y)}`, so `‖P̃−P‖₁ = 2(P̃(A) − P(A))`. The odds of
//!    `A` grow by `[Σ_A P e^Δ/Σ_A P]·[Σ_{Aᶜ} P/Σ_{Aᶜ} P e^Δ] ≤ e^{max Δ}/e^{min Δ} = e^R`. With
//!    the logistic function `s(t) = 1/(1+e^{−t})` and `P(A) = s(t)`: `P̃(A) − P(A) ≤ s(t+R) − s(t)`.
//!    The derivative `s'` is even and decreases away from zero, so the difference is largest where
//!    the step is centred, `t = −R/2`: `s(R/2) − s(−R/2) = tanh(R/4)`. (If `A` is empty or
//!    everything, `P̃ = P`.)
//! 2. `max` of a sum is at most the sum of the `max`, `min` at least the sum of the `min`.
//! 3. The positive part of `Φ̃ − Φ` sums to at most `δ/2`, and so does the negative part. Hence
//!    `Φ̃(y)/Φ(y) = 1 + (Φ̃−Φ)/Φ ≤ 1 + δ/(2p)` because `Φ(y) ≥ p`, and
//!    `Φ(y)/Φ̃(y) = 1 + (Φ−Φ̃)/Φ̃ ≤ 1 + δ/(2p)` because `Φ̃(y) ≥ p`.
//! 4. As 3, but `Φ̃(y)/Φ(y) ≥ 1 − (δ/2)/p`. ∎
//!
//! # Sharpness
//! 1 is attained for two classes with `P = (s(−R/2), s(R/2))` and `Δ = (R, 0)`.
//! 3 is attained for three or more classes whenever `n·p + δ/2 ≤ 1`, by moving
//! `δ/2` from one class to another: `Φ = (p, p+δ/2, …)`, `Φ̃ = (p+δ/2, p, …)`.
//! Shifts add up: `n` equal items move the log-odds by `n` times as much as one,
//! where theorem 5 has them grow with the square root.

use super::BoundError;
use super::domain::{entries, length, not_negative, open_unit};
use crate::math::Interval;
use crate::simplex::{Distribution, hilbert_distance};

/// T5′ part 1: `2·tanh(R/4)`, the largest L1 change for a log-score range `R`, rounded up.
///
/// Domain: `R ≥ 0`, infinity included. Range: `[0, 2]`.
///
/// # Errors
/// [`BoundError::Parameter`] for a negative or NaN range.
pub fn robust_l1(range: f64) -> Result<f64, BoundError> {
    if range == f64::INFINITY {
        return Ok(2.0);
    }
    let range = not_negative("R", range)?;
    let two = Interval::point(2.0);
    Ok((two * (range / Interval::point(4.0)).tanh())
        .high()
        .min(2.0))
}

/// T5′ part 3: `2·ln(1 + δ/(2p))`, the largest Hilbert distance of two factors that are at most
/// `δ` apart in L1 and both have all entries at least `p`; rounded up.
///
/// Domain: `δ ≥ 0`, `0 < p < 1`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn hilbert_from_l1(delta: f64, smallest: f64) -> Result<f64, BoundError> {
    let delta = not_negative("delta", delta)?;
    let two = Interval::point(2.0);
    let ratio = delta / (two * open_unit("p", smallest)?);
    Ok((two * ratio.ln_1p()).high())
}

/// T5′ part 4: the same where only the clean factor is known to be at least `p`; `+∞` for
/// `δ ≥ 2p`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn hilbert_from_l1_one_sided(delta: f64, smallest: f64) -> Result<f64, BoundError> {
    let delta = not_negative("delta", delta)?;
    let ratio = delta / (Interval::point(2.0) * open_unit("p", smallest)?);
    if ratio.high() >= 1.0 {
        return Ok(f64::INFINITY);
    }
    Ok((ratio.ln_1p() - (-ratio).ln_1p()).high())
}

/// T5′ parts 1 and 2 for given factors: an upper bound of `‖P̃ − P‖₁`, from the weighted sum of
/// Hilbert distances of the replaced items. `+∞` distances give the trivial bound 2.
///
/// Domain: as many weights and replacements as factors, weights finite and not negative. An item
/// that is not replaced is passed unchanged and adds nothing.
///
/// # Errors
/// [`BoundError::Lengths`], [`BoundError::Entry`].
pub fn robust_l1_of_factors(
    clean: &[Distribution],
    corrupt: &[Distribution],
    weights: &[f64],
) -> Result<f64, BoundError> {
    for (name, found) in [("replacements", corrupt.len()), ("weights", weights.len())] {
        length(name, clean.len(), found)?;
    }
    weights_are_valid(weights)?;
    let mut range = Interval::point(0.0);
    for ((p, q), &w) in clean.iter().zip(corrupt).zip(weights) {
        let Some(distance) = hilbert_distance(p, q) else {
            return Err(BoundError::Lengths {
                name: "classes",
                expected: p.classes(),
                found: q.classes(),
            });
        };
        if distance > 0.0 && w > 0.0 {
            range = range + Interval::point(w) * widened(p, q, distance);
        }
    }
    robust_l1(range.high())
}

/// The computed Hilbert distance with its rounding: four logarithms, each within an ulp of at most
/// 745 (the logarithm of the smallest double), three subtractions.
fn widened(p: &Distribution, q: &Distribution, distance: f64) -> Interval {
    let smallest = p
        .probabilities()
        .iter()
        .chain(q.probabilities())
        .filter(|&&x| x > 0.0)
        .fold(1.0, |a: f64, &b| a.min(b));
    let magnitude = -Interval::point(smallest).ln().low();
    let slack = Interval::point(8.0 * f64::EPSILON) * Interval::point(magnitude.max(1.0));
    Interval::between(distance, (Interval::point(distance) + slack).high())
}

fn weights_are_valid(weights: &[f64]) -> Result<(), BoundError> {
    entries("weight", weights, "finite and not negative", |w| {
        w >= 0.0 && w.is_finite()
    })
}

/// How many items may be replaced, whichever they are, without a change of the winning class.
///
/// `margin` is the log-score lead of the winner over the runner-up, `Σ wᵢ ln Φᵢ(first) −
/// Σ wᵢ ln Φᵢ(second)`; `distance` bounds each item's Hilbert distance to its replacement. A
/// replaced item moves the log-odds of any two classes by at most `wᵢ·distance`, so the winner
/// stands as long as the largest `n` weights satisfy `distance·Σ wᵢ < margin`. Returns the largest
/// such `n`: one more item may suffice to change the winner.
///
/// Domain: `margin ≥ 0`, `distance ≥ 0`, weights finite and not negative.
///
/// # Errors
/// [`BoundError::Parameter`], [`BoundError::Entry`].
pub fn certified_items(weights: &[f64], distance: f64, margin: f64) -> Result<usize, BoundError> {
    let distance = not_negative("distance", distance)?;
    not_negative("margin", margin)?;
    weights_are_valid(weights)?;
    let mut sorted = weights.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut used = Interval::point(0.0);
    let mut items = 0;
    for w in sorted {
        used = used + Interval::point(w) * distance;
        if used.high() >= margin {
            break;
        }
        items += 1;
    }
    Ok(items)
}

/// The largest L1 change `δ` of each of `items` replaced items (the heaviest ones) that certainly
/// leaves the winning class as it is: `2p·(e^{margin/(2W)} − 1)`, rounded down.
///
/// `W` is the sum of the `items` largest weights, `p` the smallest entry that a factor, clean or
/// not, can have. Every `δ` strictly below the exact value is safe, and so is the returned one,
/// except that it may equal it. `+∞` where `W = 0`.
///
/// Domain: `margin ≥ 0`, `0 < p < 1`, weights finite and not negative.
///
/// # Errors
/// [`BoundError::Parameter`], [`BoundError::Entry`].
pub fn certified_delta(
    weights: &[f64],
    items: usize,
    smallest: f64,
    margin: f64,
) -> Result<f64, BoundError> {
    let smallest = open_unit("p", smallest)?;
    let margin = not_negative("margin", margin)?;
    weights_are_valid(weights)?;
    let mut sorted = weights.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let total = sorted
        .iter()
        .take(items)
        .fold(Interval::point(0.0), |sum, &w| sum + Interval::point(w));
    if total.high() == 0.0 {
        return Ok(f64::INFINITY);
    }
    let two = Interval::point(2.0);
    let growth = (margin / (two * total)).exp_m1();
    Ok((two * smallest * growth).low().max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Enclosure, rational};
    use crate::simplex::{l1_distance, log_pool};
    use num_rational::BigRational;
    use num_traits::{One, Signed};
    use proptest::prelude::*;

    fn q(n: i64, d: i64) -> BigRational {
        BigRational::new(n.into(), d.into())
    }

    fn l1(a: &[BigRational], b: &[BigRational]) -> BigRational {
        a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum()
    }

    /// A sharpness witness of part 1 in exact fractions: for odds `2^{−k}` to 1 and a shift of the
    /// log-odds by `R = 2k·ln 2`, the clean and the corrupted product. Their L1 distance is
    /// `2·(2^k − 1)/(2^k + 1)`, which is `2·tanh(R/4)`.
    fn sharp_pair(k: u32) -> (Vec<BigRational>, Vec<BigRational>) {
        let odds = BigRational::from_integer(num_traits::pow(2.into(), k as usize));
        let high = &odds / (&odds + BigRational::one());
        let low = BigRational::one() - &high;
        (vec![low.clone(), high.clone()], vec![high, low])
    }

    /// A sharpness witness of part 3: two factors over three classes, `δ` apart in L1, all entries at
    /// least `p`, with Hilbert distance exactly `2·ln(1 + δ/(2p))`. `None` unless `p > 0`, `δ > 0` and
    /// `3p + δ/2 ≤ 1`.
    fn sharp_shift(p: &BigRational, delta: &BigRational) -> Option<[Vec<BigRational>; 2]> {
        let zero = BigRational::from_integer(0.into());
        let moved = p + delta / BigRational::from_integer(2.into());
        let rest = BigRational::one() - p - &moved;
        (*p > zero && *delta > zero && rest >= *p).then(|| {
            [
                vec![p.clone(), moved.clone(), rest.clone()],
                vec![moved, p.clone(), rest],
            ]
        })
    }

    #[test]
    fn part_one_is_attained() {
        for k in 1..12 {
            let (clean, corrupt) = sharp_pair(k);
            let distance = l1(&clean, &corrupt);
            let range = Enclosure::integer(2).ln(120).unwrap().approx() * 2.0 * f64::from(k);
            let bound = robust_l1(range).unwrap();
            assert!((Enclosure::exact(distance).approx() - bound).abs() <= 8.0 * f64::EPSILON);
        }
    }

    #[test]
    fn part_three_is_attained_and_its_conditions_matter() {
        let [clean, corrupt] = sharp_shift(&q(1, 8), &q(1, 4)).unwrap();
        assert_eq!(l1(&clean, &corrupt), q(1, 4));
        // d_H = ln(2) − ln(1/2): the ratio of ratios is (1 + δ/(2p))² = 4.
        let ratios: Vec<BigRational> = clean.iter().zip(&corrupt).map(|(a, b)| b / a).collect();
        assert_eq!(ratios[0].clone() / &ratios[1], q(4, 1));
        let bound = hilbert_from_l1(0.25, 0.125).unwrap();
        let exact = Enclosure::integer(4).ln(100).unwrap();
        assert!(rational(bound).unwrap() >= *exact.high());
        // Three operations: at most five steps above.
        assert!(bound <= exact.approx() + 5.0 * f64::EPSILON);
        assert!(sharp_shift(&q(1, 3), &q(1, 3)).is_none());
        // Negative control: where only the clean factor is at least p, the formula is too small.
        // (1/4, 3/4) → (1/8, 7/8), δ = 1/4, p = 1/4: d_H = ln(7/3) > 2·ln(3/2) = ln(9/4).
        let distance = (q(7, 8) / q(3, 4)) / (q(1, 8) / q(1, 4));
        assert_eq!(distance, q(7, 3));
        assert!(distance > q(9, 4));
        assert!(hilbert_from_l1(0.25, 0.25).unwrap() < (7.0f64 / 3.0).ln());
        assert!(hilbert_from_l1_one_sided(0.25, 0.25).unwrap() > (7.0f64 / 3.0).ln());
        assert_eq!(hilbert_from_l1_one_sided(0.5, 0.25), Ok(f64::INFINITY));
    }

    fn factor(n: usize) -> impl Strategy<Value = Distribution> {
        prop::collection::vec(0.02f64..1.0, n).prop_map(|v| Distribution::from_weights(v).unwrap())
    }

    proptest! {
        #[test]
        fn no_corruption_of_random_factors_exceeds_the_bound(
            (clean, corrupt, weights) in (2usize..5, 1usize..6).prop_flat_map(|(n, k)| (
                prop::collection::vec(factor(n), k),
                prop::collection::vec(factor(n), k),
                prop::collection::vec(0.0f64..2.0, k),
            ))
        ) {
            let bound = robust_l1_of_factors(&clean, &corrupt, &weights).unwrap();
            let p = log_pool(&clean, &weights).unwrap();
            let r = log_pool(&corrupt, &weights).unwrap();
            // Pools and distance are rounded: some 1e-14 at total weights up to 10.
            prop_assert!(l1_distance(&p, &r).unwrap() <= bound + 1e-13);
        }

        #[test]
        fn part_three_holds_on_rational_pairs(
            (a, b) in (2usize..6).prop_flat_map(|n| (
                prop::collection::vec(1i64..40, n),
                prop::collection::vec(1i64..40, n),
            ))
        ) {
            let dist = |v: &[i64]| -> Vec<BigRational> {
                let total: i64 = v.iter().sum();
                v.iter().map(|&x| q(x, total)).collect()
            };
            let (a, b) = (dist(&a), dist(&b));
            let p = a.iter().chain(&b).min().unwrap().clone();
            let ratios: Vec<BigRational> = a.iter().zip(&b).map(|(x, y)| y / x).collect();
            let spread = ratios.iter().max().unwrap() / ratios.iter().min().unwrap();
            let step = BigRational::one() + l1(&a, &b) / (q(2, 1) * p);
            // e^{d_H} ≤ (1 + δ/(2p))², without a rounding anywhere.
            prop_assert!(spread <= &step * &step);
        }

        #[test]
        fn certified_items_never_change_the_winner(
            weights in prop::collection::vec(0.1f64..1.0, 1..8),
            lead in 0.01f64..0.2,
            distance in 0.01f64..1.0,
        ) {
            // Worst case by construction: every item favours class 0 by `lead`, and a replaced one
            // is shifted by `distance` in favour of class 1.
            let factors: Vec<f64> = weights.iter().map(|_| lead).collect();
            let margin: f64 = weights.iter().zip(&factors).map(|(w, l)| w * l).sum();
            let n = certified_items(&weights, distance, margin).unwrap();
            let mut sorted = weights.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let shift = |n: usize| sorted.iter().take(n).sum::<f64>() * distance;
            prop_assert!(shift(n) < margin);
            // One more item changes the winner, or all items are certified.
            prop_assert!(n == weights.len() || shift(n + 1) >= margin * (1.0 - 1e-14));
        }
    }

    #[test]
    fn certified_delta_is_the_edge() {
        // Four items of weight 1, log-odds ln 3 in all, p = 1/4, two replaced:
        // 2·(1/4)·(3^{1/4} − 1) = 0.158037006476356… (mpmath 1.4.1).
        let delta = certified_delta(&[1.0; 4], 2, 0.25, 3f64.ln()).unwrap();
        assert!((delta - 0.158_037_006_476_246_16).abs() < 1e-15, "{delta}");
        let shift = 2.0 * hilbert_from_l1(delta, 0.25).unwrap();
        assert!((shift - 3f64.ln()).abs() < 1e-14);
        assert_eq!(certified_delta(&[1.0], 0, 0.25, 1.0), Ok(f64::INFINITY));
        assert_eq!(certified_delta(&[1.0], 1, 0.25, 0.0), Ok(0.0));
    }

    #[test]
    fn edges_and_culprits() {
        assert_eq!(robust_l1(0.0), Ok(0.0));
        assert_eq!(robust_l1(f64::INFINITY), Ok(2.0));
        assert_eq!(robust_l1(1e300), Ok(2.0));
        assert!(robust_l1(f64::NAN).is_err() && robust_l1(-1.0).is_err());
        // Small ranges keep their relative accuracy: 2·tanh(x) = 2x to first order.
        assert!((robust_l1(4e-20).unwrap() - 2e-20).abs() <= 1e-34);
        assert!(rational(robust_l1(4.0).unwrap()).unwrap() > q(15231883119115, 10000000000000));
        let p = Distribution::new(vec![0.5, 0.5]).unwrap();
        let z = Distribution::new(vec![1.0, 0.0]).unwrap();
        let (p, z) = ([p], [z]);
        assert_eq!(robust_l1_of_factors(&p, &z, &[1.0]), Ok(2.0));
        assert!(matches!(
            robust_l1_of_factors(&p, &[], &[1.0]),
            Err(BoundError::Lengths { .. })
        ));
        assert!(matches!(
            robust_l1_of_factors(&p, &p, &[-1.0]),
            Err(BoundError::Entry { index: 0, .. })
        ));
        assert_eq!(certified_items(&[], 1.0, 1.0), Ok(0));
    }
}
