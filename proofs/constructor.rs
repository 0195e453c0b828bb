//! `Distribution::new` and `validate`: what is accepted satisfies the invariant, what is refused
//! violates the condition that the error names.

use super::engine::{Cases, any, below, check};
use super::normalization::{deserved, same};
use crate::math::canonical_sum;
use crate::simplex::{Distribution, SimplexError, normalize, validate};

fn any_bits<const N: usize>() {
    let input: [f64; N] = any();
    let outcome = Distribution::new(input.to_vec());
    match (&outcome, deserved(&input)) {
        (Ok(accepted), None) => {
            assert!(accepted.classes() == N);
            for (p, x) in accepted.probabilities().iter().zip(&input) {
                assert!(p.to_bits() == x.to_bits());
            }
        }
        (Err(SimplexError::SumOff { sum, tolerance }), None) => {
            assert!(*tolerance == allowed(N));
            assert!(*sum > 1.0 + allowed(N) || *sum < 1.0 - allowed(N));
        }
        (Err(error), Some(expected)) => assert!(same(error, &expected)),
        _ => panic!("neither accepted nor refused for a reason"),
    }
    cover!(
        outcome.is_ok() && input[0] > 0.0 && input[1] > 0.0,
        "accepted"
    );
    cover!(
        matches!(outcome, Err(SimplexError::SumOff { .. })),
        "sum off"
    );
    cover!(
        matches!(outcome, Err(SimplexError::Negative { index: 1, .. })),
        "negative"
    );
    cover!(
        matches!(outcome, Err(SimplexError::NotANumber { index: 0 })),
        "NaN"
    );
}

/// The documented tolerance, n units in the last place of one.
fn allowed(n: usize) -> f64 {
    n as f64 * f64::EPSILON
}

fn accepted_sum<const N: usize>() {
    let input: [f64; N] = any();
    let outcome = validate(&input, &allowed(N));
    assume!(outcome.is_ok());
    let sum = canonical_sum(&input);
    cover!(sum > 1.0, "above one");
    cover!(sum < 1.0, "below one");
    assert!(1.0 - allowed(N) <= sum && sum <= 1.0 + allowed(N));
    for p in input {
        // The other entries are not negative, so none exceeds the sum.
        assert!(p >= 0.0 && p <= 1.0 + allowed(N));
    }
}

/// Whatever `Distribution::new` accepts has no entry that is NaN, infinite or negative, and the
/// bits that were given; whatever it refuses violates the condition that the error names, at the
/// first entry at fault, or has a sum more than n ulps off one.
///
/// Claims: L3
/// Domain: any bits of 2 f64
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn constructor_is_sound_for_any_2_doubles() {
    check(Cases::Random(200_000), any_bits::<2>);
}

/// As for two doubles.
///
/// Claims: L3
/// Domain: any bits of 3 f64
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn constructor_is_sound_for_any_3_doubles() {
    check(Cases::Random(200_000), any_bits::<3>);
}

/// As for two doubles.
///
/// Claims: L3
/// Domain: any bits of 4 f64
#[cfg_attr(kani, kani::proof, kani::unwind(7), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn constructor_is_sound_for_any_4_doubles() {
    check(Cases::Random(200_000), any_bits::<4>);
}

/// Whatever `Distribution::new` accepts has a canonical sum within n ulps of one, and no entry
/// above that.
///
/// Claims: L3
/// Domain: any bits of 2 f64
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn accepted_sums_of_2_doubles_are_within_the_tolerance() {
    check(Cases::Random(200_000), accepted_sum::<2>);
}

/// As for two doubles.
///
/// Claims: L3
/// Domain: any bits of 3 f64
/// Slow: equality of two rounded sums
#[cfg_attr(
    all(kani, kani_slow),
    kani::proof,
    kani::unwind(6),
    kani::solver(cadical)
)]
#[cfg_attr(not(kani), test)]
fn accepted_sums_of_3_doubles_are_within_the_tolerance() {
    check(Cases::Random(200_000), accepted_sum::<3>);
}

/// `Distribution::new` accepts a sum of one and its neighbours up to n ulps, and refuses the next.
///
/// Claims: L3
/// Domain: (1/2, 1/2 + k·2⁻⁵³) for k in −8..=7
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn constructor_refuses_the_first_sum_beyond_the_tolerance() {
    check(Cases::All(16), || {
        let k = i32::from(below(16)) - 8;
        let half_ulp = f64::EPSILON / 2.0;
        let input = [0.5, 0.5 + f64::from(k) * half_ulp];
        let outcome = validate(&input, &(2.0 * f64::EPSILON));
        cover!(outcome.is_ok() && k != 0, "accepted");
        cover!(outcome.is_err(), "refused");
        // Two ulps are four half ulps. Above one, sums are rounded to whole ulps, ties to even:
        // five half ulps become two ulps.
        assert!(outcome.is_ok() == (-4..=5).contains(&k));
    });
}

/// What `normalize` makes is accepted by `Distribution::new`.
///
/// Claims: L3
/// Domain: 3 f64 cast from 0..64
/// Enumerated only: three symbolic divisions and a rounded sum
#[cfg_attr(not(kani), test)]
fn normalized_entries_are_accepted_by_the_constructor() {
    check(Cases::All(64 * 64 * 64), || {
        let mut values = [below(64), below(64), below(64)].map(f64::from);
        let outcome = normalize(&mut values);
        assume!(outcome.is_ok());
        cover!(values[0] != values[1], "different entries");
        assert!(Distribution::new(values.to_vec()).is_ok());
    });
}
