//! `softmax`, the last step of the log pool, with the exponential replaced by its contract.
//!
//! The contract is all that the proofs know of `exp`, so they hold for any implementation that
//! keeps it (see `contracts`).

use super::engine::{Any, Cases, any, below, check};
use super::told::{self, Told};
use crate::math::{Real, canonical_sum};
use crate::simplex::{SimplexError, softmax};

fn any_logits<S: Real + Any, const N: usize>() {
    let input: [S; N] = any();
    let mut values = input;
    let outcome = softmax(&mut values);
    let mut deserved = None;
    let mut impossible = true;
    for (index, x) in input.iter().enumerate() {
        impossible &= *x == S::neg_infinity();
        if deserved.is_none() && x.is_nan() {
            deserved = Some((index, true));
        }
        if deserved.is_none() && *x > S::zero() && !x.is_finite() {
            deserved = Some((index, false));
        }
    }
    match (deserved, &outcome) {
        (Some((at, true)), Err(SimplexError::NotANumber { index })) => assert!(at == *index),
        (Some((at, false)), Err(SimplexError::Infinite { index, .. })) => assert!(at == *index),
        (None, Err(SimplexError::NoMass)) => assert!(impossible),
        (None, Ok(())) => assert!(!impossible),
        _ => panic!("the outcome is not the one the logits deserve"),
    }
    cover!(
        outcome.is_ok() && input[0] == S::neg_infinity(),
        "an impossible class"
    );
    cover!(
        outcome.is_ok() && input[0] > input[1],
        "a larger first logit"
    );
    cover!(matches!(outcome, Err(SimplexError::NoMass)), "no mass");
    cover!(
        matches!(outcome, Err(SimplexError::Infinite { index: 1, .. })),
        "infinite"
    );
}

/// `softmax` of any logits succeeds exactly if none is NaN or +∞ and one is above −∞, and otherwise
/// names the first logit at fault; the exponential's argument is never positive, so that nothing
/// overflows and there is no 0/0.
///
/// Claims: L3
/// Domain: any bits of 3 f64, −∞ included; exp by contract, without the divisions at the end
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(
    kani,
    kani::stub(crate::math::elementary::exp, super::contracts::exp_of_non_positive)
)]
#[cfg_attr(
    kani,
    kani::stub(
        crate::simplex::normalize::divide_by_sum,
        super::contracts::leave_undivided
    )
)]
#[cfg_attr(not(kani), test)]
fn softmax_of_any_3_doubles_succeeds_or_names_the_right_error() {
    check(Cases::Random(200_000), any_logits::<f64, 3>);
}

/// `softmax` is its definition in any arithmetic that has an exponential: `exp(xᵢ − max)` over the
/// sum of these.
///
/// Claims: L3
/// Domain: 3 logits −∞ or in −8..=7, not all −∞, in a field that keeps quotients as pairs
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn softmax_is_the_exponential_of_the_difference_over_the_sum_of_all() {
    check(Cases::All(17 * 17 * 17), || {
        let logit = || match below(17) {
            16 => i32::MIN,
            n => i32::from(n) - 8,
        };
        let x = [logit(), logit(), logit()];
        let max = x[0].max(x[1]).max(x[2]);
        assume!(max > i32::MIN);
        let mut told = x.map(|x| {
            if x == i32::MIN {
                Told::IMPOSSIBLE
            } else {
                Told::whole(x)
            }
        });
        assert!(softmax(&mut told).is_ok());
        let e = x.map(|x| told::exp(x.saturating_sub(max)));
        let total = e[0] + e[1] + e[2];
        for i in 0..3 {
            assert!(told[i].over == e[i] && told[i].under == total);
        }
        cover!(x[0] < x[1] && e[0] > 0, "different");
        cover!(x[2] == i32::MIN, "an impossible class");
        cover!(e[2] == 0 && x[2] > i32::MIN, "one that is too small");
    });
}

/// Every entry is `exp(xᵢ − max)` over their sum: one over it for the largest, zero for an impossible
/// class.
///
/// Claims: L3
/// Domain: any 3 f64 without NaN and +∞, −∞ included
/// Enumerated only: differences of any three doubles, twice; the harness above tells the steps
#[cfg_attr(not(kani), test)]
fn softmax_exponentiates_the_difference_to_the_largest() {
    check(Cases::Random(200_000), || {
        let x: [f64; 3] = any();
        assume!(x[0] < f64::INFINITY && x[1] < f64::INFINITY && x[2] < f64::INFINITY);
        let max = x[0].max(x[1]).max(x[2]);
        assume!(max > f64::NEG_INFINITY);
        let mut values = x;
        assert!(softmax(&mut values).is_ok());
        let e = x.map(|x| crate::math::exp(x - max));
        cover!(
            e[0] < e[1] && x[2] == f64::NEG_INFINITY,
            "an impossible class"
        );
        let mut sorted = e;
        sorted.sort_by(f64::total_cmp);
        let divisor = sorted[0] + sorted[1] + sorted[2];
        for i in 0..3 {
            assert!(values[i] == e[i] / divisor);
            assert!(x[i] != max || e[i] == 1.0);
            assert!(x[i] != f64::NEG_INFINITY || values[i] == 0.0);
        }
    });
}

/// `softmax` is its definition, `exp(xᵢ − max)` divided by the canonical sum of these, to the bit.
///
/// Claims: L3
/// Domain: any 2 f32 without NaN and +∞, −∞ included
/// Enumerated only: divisions of any singles to be told equal; a harness above tells the steps
#[cfg_attr(not(kani), test)]
fn softmax_of_2_singles_is_the_quotient_by_the_sum() {
    check(Cases::Random(200_000), || {
        let x: [f32; 2] = any();
        assume!(x[0] < f32::INFINITY && x[1] < f32::INFINITY);
        let max = if x[0] > x[1] { x[0] } else { x[1] };
        assume!(max > f32::NEG_INFINITY);
        let mut p = x;
        assert!(softmax(&mut p).is_ok());
        let e = [Real::exp(x[0] - max), Real::exp(x[1] - max)];
        cover!(e[0] < e[1] && e[0] > 0.0, "different");
        cover!(x[1] == f32::NEG_INFINITY, "an impossible class");
        let sum = canonical_sum(&e);
        assert!(p[0] == e[0] / sum && p[1] == e[1] / sum);
        assert!(p[0] <= 1.0 && p[1] <= 1.0 && p[0].max(p[1]) >= 0.5);
    });
}

/// Adding the same whole number to all logits changes no bit of `softmax`.
///
/// Claims: L3
/// Domain: 3 logits in −8..=7 and shifts in −128..=127, all of them
/// Enumerated only: it needs the true exponential
#[cfg_attr(not(kani), test)]
fn softmax_is_unchanged_by_a_common_shift() {
    check(Cases::All(16 * 16 * 16 * 256), || {
        let logits = [below(16), below(16), below(16)].map(|x| f64::from(x) - 8.0);
        let shift = f64::from(any::<i8>());
        let mut plain = logits;
        let mut shifted = logits.map(|x| x + shift);
        assert!(softmax(&mut plain).is_ok() && softmax(&mut shifted).is_ok());
        cover!(shift != 0.0 && plain[0] != plain[1], "shifted");
        assert!(plain == shifted);
    });
}
