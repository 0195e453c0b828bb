//! `softmax`, the last step of the log pool, with the exponential replaced by its contract.
//!
//! The contract is all that the proofs know of `exp`, so they hold for any implementation that
//! keeps it (see `contracts`).

use super::engine::{Any, Cases, any, check};
use crate::math::Real;
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
        (None, Ok(())) => {
            assert!(!impossible);
            let mut largest = S::zero();
            for (x, &p) in input.iter().zip(&values) {
                assert!(p >= S::zero() && p <= S::one());
                assert!(*x != S::neg_infinity() || p.is_zero());
                if p > largest {
                    largest = p;
                }
            }
            assert!(largest >= S::one() / S::from_count(N));
        }
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

/// `softmax` of any logits gives entries in [0, 1], the largest at least 1/n, impossible classes
/// exactly 0, or the error that the first logit at fault deserves; the exponential's argument is
/// never positive, so nothing overflows and there is no 0/0.
///
/// Claims: L3
/// Domain: any bits of 2 f32, −∞ included; exp by contract
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(
    kani,
    kani::stub(
        crate::math::elementary::exp32,
        super::contracts::exp32_of_non_positive
    )
)]
#[cfg_attr(not(kani), test)]
fn softmax_of_any_2_singles_is_a_distribution_or_the_right_error() {
    check(Cases::Random(200_000), any_logits::<f32, 2>);
}

/// As for two singles.
///
/// Claims: L3
/// Domain: any bits of 2 f64, −∞ included; exp by contract
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(
    kani,
    kani::stub(crate::math::elementary::exp, super::contracts::exp_of_non_positive)
)]
#[cfg_attr(not(kani), test)]
fn softmax_of_any_2_doubles_is_a_distribution_or_the_right_error() {
    check(Cases::Random(200_000), any_logits::<f64, 2>);
}

/// As for two singles.
///
/// Claims: L3
/// Domain: any bits of 3 f64, −∞ included; exp by contract
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(bitwuzla))]
#[cfg_attr(
    kani,
    kani::stub(crate::math::elementary::exp, super::contracts::exp_of_non_positive)
)]
#[cfg_attr(not(kani), test)]
fn softmax_of_any_3_doubles_is_a_distribution_or_the_right_error() {
    check(Cases::Random(200_000), any_logits::<f64, 3>);
}

/// Adding the same whole number to all logits changes no bit of `softmax`.
///
/// Claims: L3
/// Domain: 3 logits in −8..=7 and shifts in −128..=127, all of them
/// Enumerated only: it needs the true exponential
#[cfg_attr(not(kani), test)]
fn softmax_is_unchanged_by_a_common_shift() {
    use super::engine::below;
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
