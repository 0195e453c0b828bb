//! `Distribution::new` and `validate`: what is accepted satisfies the invariant, what is refused
//! violates the condition that the error names.

use super::engine::{Cases, any, below, check};
use super::normalization::{deserved, same};
use crate::simplex::{Distribution, SimplexError, normalize, validate};

/// The documented tolerance, n units in the last place of one.
fn allowed(n: usize) -> f64 {
    n as f64 * f64::EPSILON
}

/// `Distribution::new` accepts exactly the entries that are finite, not negative and add up to one
/// within 2 ulps, and keeps their bits; it refuses the others for the reason that it names, at the
/// first entry at fault.
///
/// Claims: L3
/// Domain: any bits of 2 f64
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn constructor_accepts_exactly_the_distributions_of_2_doubles() {
    check(Cases::Random(200_000), || {
        let input: [f64; 2] = any();
        let outcome = Distribution::new(input.to_vec());
        let off = || (input[0] + input[1] - 1.0).abs();
        match (&outcome, deserved(&input)) {
            (Ok(accepted), None) => {
                assert!(off() <= allowed(2));
                let kept = accepted.probabilities();
                assert!(kept.len() == 2);
                assert!(kept[0].to_bits() == input[0].to_bits());
                assert!(kept[1].to_bits() == input[1].to_bits());
            }
            (Err(SimplexError::SumOff { tolerance, .. }), None) => {
                assert!(off() > allowed(2) && *tolerance == allowed(2));
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
    });
}

/// What `Distribution::new` accepts has no entry above the tolerance, and at least one positive.
///
/// Claims: L3
/// Domain: any bits of 3 f64
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn accepted_entries_of_3_doubles_are_probabilities() {
    check(Cases::Random(200_000), || {
        let input: [f64; 3] = any();
        assume!(validate(&input, &allowed(3)).is_ok());
        let mut positive = false;
        for p in input {
            // The other entries are not negative, so none exceeds the sum.
            assert!(p >= 0.0 && p <= 1.0 + allowed(3));
            positive |= p > 0.0;
        }
        assert!(positive);
        cover!(input[0] > 0.0 && input[1] > 0.0 && input[2] > 0.0, "three");
    });
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
