//! Lemma 6 against smooth losses and gradient descent, for both customs of writing the penalty.
//!
//! `N − 2` examples have the loss `f`, a wave of period 4: `1 − w²/2` for `|w| ≤ 1` and `(w − 2)²/2`
//! for `1 ≤ w ≤ 3`. Its slope is continuous and never beyond ±1. One further example has `w/2`, the
//! last has `−w`. The start `w = 0` is the top of the wave: with all examples descent goes up the line,
//! without the last one down, into valleys whose distance does not depend on `N`, while `2L/(λN)` tends
//! to zero. So no constant in the place of 2 does.

use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use super::witness::{Relation, Witness, fraction, hypothesis};
use crate::math::Enclosure;

/// The derivative of the wave.
fn slope(w: &BigRational) -> BigRational {
    let (one, two, four) = (fraction(1, 1), fraction(2, 1), fraction(4, 1));
    let x = w - &four * ((w + &one) / &four).floor();
    if x <= one { -x } else { x - two }
}

/// Enough for a start 1/(2N) from balance to reach a valley for `N` up to some thousands: the way grows
/// by an eighth a step or more, and the rest of it shrinks by a third.
const STEPS: u32 = 96;

/// Where descent ends, for a penalty with the derivative `pull·w`, and the steepest slope it met.
fn descend(examples: u64, last: bool, pull: &BigRational) -> (BigRational, BigRational) {
    let (step, one) = (fraction(1, 2), BigRational::one());
    let waves = fraction(examples - 2, 1);
    let count = fraction(if last { examples } else { examples - 1 }, 1);
    let others = fraction(1, 2) - if last { one } else { BigRational::zero() };
    let (mut w, mut steepest) = (BigRational::zero(), BigRational::zero());
    for _ in 0..STEPS {
        let own = slope(&w);
        steepest = steepest.max(own.abs());
        let mean = (&waves * own + &others) / &count;
        w -= &step * (mean + pull * &w);
    }
    (w, steepest)
}

/// `examples` smooth losses, of which the last is left out, and gradient descent from the same start with
/// the penalty `(λ/2)w²` and with `λw²`, set against lemma 6 as the paper states it. What is compared is
/// the smaller of the two distances.
///
/// `None` for fewer than three examples or `λ ≤ 0`.
pub fn smooth_descent_apart(examples: u64, lambda: &BigRational) -> Option<Witness> {
    if examples < 3 || !lambda.is_positive() {
        return None;
    }
    let one = BigRational::one();
    let twice = lambda * fraction(2, 1);
    let bound = &twice.recip() * fraction(4, examples);
    let mut steps = vec![format!(
        "One parameter w, which is the learned function itself; N = {examples} examples: {} with a wave of \
         period 4, 1 − w²/2 for |w| ≤ 1 and (w − 2)²/2 from 1 to 3, one with w/2, the last with −w. \
         λ = {lambda}, {STEPS} steps of gradient descent of length 1/2 from w = 0, in fractions.",
        examples - 2
    )];
    let (mut smallest, mut gentle): (Option<BigRational>, bool) = (None, true);
    for (name, pull) in [("(λ/2)·w²", lambda), ("λ·w²", &twice)] {
        let [(with, a), (without, b)] = [true, false].map(|last| descend(examples, last, pull));
        let apart = (&with - &without).abs();
        gentle &= a <= one && b <= one;
        steps.push(format!(
            "Penalty {name}: it ends at {:.4} with all, at {:.4} without the last, {:.4} apart.",
            Enclosure::exact(with).approx(),
            Enclosure::exact(without).approx(),
            Enclosure::exact(apart.clone()).approx()
        ));
        smallest = Some(match smallest {
            Some(least) => least.min(apart),
            None => apart,
        });
    }
    steps.push(format!(
        "The claim allows 2·1/({lambda}·{examples}) = {bound}; the distance does not shrink as N grows."
    ));
    let converges = fraction(1, 2) * (&one + &twice) < one;
    Some(Witness {
        claim: "L6",
        hypotheses: vec![
            hypothesis("λ > 0 and N ≥ 3", true),
            hypothesis(
                "every loss is smooth and Lipschitz with constant L = 1",
                gentle,
            ),
            hypothesis(
                "the step is so small that descent converges: step·(1 + 2λ) < 1",
                converges,
            ),
        ],
        steps,
        quantity: Enclosure::exact(smallest?),
        relation: Relation::AtMost,
        bound: Enclosure::exact(bound),
    })
}

#[cfg(test)]
mod tests {
    use super::super::witness::fraction as q;
    use super::*;

    #[test]
    fn waves_refute_for_many_examples_and_not_for_three_or_a_strong_penalty() {
        let quarter = q(1, 4);
        for examples in [10, 100, 1000] {
            let w = smooth_descent_apart(examples, &quarter).unwrap();
            assert!(w.refutes(), "{w}");
            // Both ends solve (waves·(2 − |w|) + 1/2)/count = |w|/2, by hand.
            let end = |waves: f64, count: f64, pull: f64| {
                (2.0 * waves / count + pull / count) / (0.5 + waves / count)
            };
            let n = examples as f64;
            let apart = end(n - 2.0, n, 0.5) + end(n - 2.0, n - 1.0, 0.5);
            assert!((w.quantity.approx() - apart).abs() < 1e-6, "{w} {apart}");
        }
        assert!(!smooth_descent_apart(3, &quarter).unwrap().refutes());
        // A penalty that makes the whole convex leaves one valley only.
        let strong = smooth_descent_apart(10, &q(1, 1)).unwrap();
        assert!(!strong.quantity.exceeds(&strong.bound), "{strong}");
        assert!(smooth_descent_apart(2, &quarter).is_none());
    }

    #[test]
    fn the_slope_is_a_triangle_wave() {
        for (w, expected) in [(0, 0), (1, -1), (2, 0), (3, 1), (4, 0), (5, -1)] {
            assert_eq!(slope(&q(w, 1)), BigRational::from_integer(expected.into()));
            assert_eq!(
                slope(&-q(w, 1)),
                -BigRational::from_integer(expected.into())
            );
        }
        assert_eq!(slope(&q(1, 2)), -q(1, 2));
        assert_eq!(slope(&q(3, 2)), -q(1, 2));
    }
}
