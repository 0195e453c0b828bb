//! `normalize`: for any bits, a distribution or the error that the input deserves.

use super::engine::{Any, Cases, any, below, check};
use crate::math::Field;
use crate::simplex::{SimplexError, normalize};

/// The first entry that `normalize` must refuse, and how.
pub(super) fn deserved<S: Field>(input: &[S]) -> Option<SimplexError> {
    for (index, x) in input.iter().enumerate() {
        if x.is_nan() {
            return Some(SimplexError::NotANumber { index });
        }
        if *x < S::zero() {
            let value = x.approx();
            return Some(SimplexError::Negative { index, value });
        }
        if !x.is_finite() {
            let value = x.approx();
            return Some(SimplexError::Infinite { index, value });
        }
    }
    None
}

/// Whether two errors are the same one with the same culprit.
pub(super) fn same(a: &SimplexError, b: &SimplexError) -> bool {
    use SimplexError::{Empty, Infinite, Negative, NoMass, NotANumber};
    match (a, b) {
        (Empty, Empty) | (NoMass, NoMass) => true,
        (NotANumber { index: a }, NotANumber { index: b }) => a == b,
        (Infinite { index: a, value: x }, Infinite { index: b, value: y })
        | (Negative { index: a, value: x }, Negative { index: b, value: y }) => a == b && x == y,
        _ => false,
    }
}

fn any_bits<S: Field + Copy + Any, const N: usize>() {
    let input: [S; N] = any();
    let mut values = input;
    let outcome = normalize(&mut values);
    let no_mass = input.iter().all(|x| x.is_zero());
    match deserved(&input) {
        Some(error) => assert!(outcome.as_ref().is_err_and(|e| same(e, &error))),
        None if no_mass => assert!(outcome == Err(SimplexError::NoMass)),
        None => {
            assert!(outcome.is_ok());
            let mut positive = false;
            for &p in &values {
                // Also false for NaN.
                assert!(p >= S::zero() && p <= S::one());
                positive |= p > S::zero();
            }
            assert!(positive);
        }
    }
    cover!(outcome.is_ok(), "normalized");
    cover!(matches!(outcome, Err(SimplexError::NoMass)), "no mass");
    cover!(
        matches!(outcome, Err(SimplexError::NotANumber { index: 1 })),
        "NaN in the second place"
    );
    cover!(
        matches!(outcome, Err(SimplexError::Infinite { index: 0, .. })),
        "infinite"
    );
}

/// `normalize` of any bits gives entries in [0, 1], one of them positive and none NaN, or the
/// error that names the first entry at fault; it never panics.
///
/// Claims: L3
/// Domain: any bits of 2 f32
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn normalize_of_any_2_singles_is_a_distribution_or_the_right_error() {
    check(Cases::Random(200_000), any_bits::<f32, 2>);
}

/// As for two singles.
///
/// Claims: L3
/// Domain: any bits of 3 f32
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn normalize_of_any_3_singles_is_a_distribution_or_the_right_error() {
    check(Cases::Random(200_000), any_bits::<f32, 3>);
}

/// As for two singles.
///
/// Claims: L3
/// Domain: any bits of 4 f32
#[cfg_attr(kani, kani::proof, kani::unwind(7), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn normalize_of_any_4_singles_is_a_distribution_or_the_right_error() {
    check(Cases::Random(200_000), any_bits::<f32, 4>);
}

/// As for two singles.
///
/// Claims: L3
/// Domain: any bits of 2 f64
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(bitwuzla))]
#[cfg_attr(not(kani), test)]
fn normalize_of_any_2_doubles_is_a_distribution_or_the_right_error() {
    check(Cases::Random(200_000), any_bits::<f64, 2>);
}

/// As for two singles.
///
/// Claims: L3
/// Domain: any bits of 3 f64
/// Slow: three divisions of doubles
#[cfg_attr(
    all(kani, kani_slow),
    kani::proof,
    kani::unwind(6),
    kani::solver(bitwuzla)
)]
#[cfg_attr(not(kani), test)]
fn normalize_of_any_3_doubles_is_a_distribution_or_the_right_error() {
    check(Cases::Random(200_000), any_bits::<f64, 3>);
}

/// A refused input is left as it was, bit for bit.
///
/// Claims: L3
/// Domain: any bits of 2 f64
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn normalize_leaves_a_refused_input_unchanged() {
    check(Cases::Random(100_000), || {
        let bits: [u64; 2] = any();
        let mut values = [f64::from_bits(bits[0]), f64::from_bits(bits[1])];
        assume!(deserved(&values).is_some());
        let outcome = normalize(&mut values);
        cover!(outcome.is_err(), "refused");
        assert!(outcome.is_err());
        assert!(values[0].to_bits() == bits[0] && values[1].to_bits() == bits[1]);
    });
}

/// The exact sum of normalized entries is within n·2⁻²⁴ of one.
///
/// Claims: L3
/// Domain: 2 f32 cast from 0..=255
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(bitwuzla))]
#[cfg_attr(not(kani), test)]
fn normalized_singles_add_up_to_one_within_n_half_ulps() {
    check(Cases::All(1 << 16), || {
        let [a, b]: [u8; 2] = any();
        assume!(a > 0 || b > 0);
        cover!(a > 0 && b > 0, "both positive");
        let mut values = [f32::from(a), f32::from(b)];
        assert!(normalize(&mut values).is_ok());
        // Each quotient is a multiple of 2⁻³² below two: the sum of doubles is exact.
        let sum = f64::from(values[0]) + f64::from(values[1]);
        assert!((sum - 1.0).abs() <= f64::from(f32::EPSILON));
    });
}

/// The exact sum of three normalized doubles is within 3·2⁻⁵³ of one.
///
/// Claims: L3
/// Domain: 3 f64 cast from 0..64
/// Slow: three divisions of doubles and an exact sum
#[cfg_attr(
    all(kani, kani_slow),
    kani::proof,
    kani::unwind(6),
    kani::solver(bitwuzla)
)]
#[cfg_attr(not(kani), test)]
fn normalized_doubles_add_up_to_one_within_n_half_ulps() {
    check(Cases::All(64 * 64 * 64), || {
        let [a, b, c] = [below(64), below(64), below(64)];
        assume!(a > 0 || b > 0 || c > 0);
        cover!(a > 0 && b > 0 && c > 0, "all positive");
        let mut p = [f64::from(a), f64::from(b), f64::from(c)];
        assert!(normalize(&mut p).is_ok());
        let off = exact_difference_of_one(p);
        assert!(off.abs() <= 3 * (1 << 7));
    });
}

/// `Σp − 1` in units of 2⁻⁶⁰, for entries that are zero or above 2⁻⁸: those are multiples of
/// 2⁻⁶⁰, so that nothing is rounded.
fn exact_difference_of_one(p: [f64; 3]) -> i64 {
    const UNIT: f64 = (1u64 << 60) as f64;
    p.iter().map(|x| (x * UNIT) as i64).sum::<i64>() - (1 << 60)
}

/// Values whose sums are rounded, the ends of the range among them.
pub(super) const AWKWARD: [f64; 16] = [
    0.0,
    5e-324,
    f64::MIN_POSITIVE,
    1e-17,
    0.1,
    0.2,
    0.3,
    1.0 / 3.0,
    0.7,
    1.0,
    1.0 + f64::EPSILON,
    3.0,
    1e16,
    1e17,
    f64::MAX / 2.0,
    f64::MAX,
];

/// Swapping two entries swaps the result, bit for bit.
///
/// Claims: L3
/// Domain: 3 of 16 doubles whose sums are rounded, every swap of two
/// Enumerated only: equality of quotients is out of a solver's reach
#[cfg_attr(not(kani), test)]
fn normalize_commutes_with_swapping_entries() {
    check(Cases::All(16 * 16 * 16 * 3), || {
        let mut p = [below(16), below(16), below(16)].map(|i| AWKWARD[usize::from(i)]);
        let mut q = p;
        let (i, j) = [(0, 1), (0, 2), (1, 2)][usize::from(below(3))];
        q.swap(i, j);
        let outcomes = (normalize(&mut p), normalize(&mut q));
        q.swap(i, j);
        cover!(outcomes.0.is_ok() && p[i] != p[j], "different entries");
        assert!(outcomes.0 == outcomes.1);
        assert!(p == q);
    });
}
