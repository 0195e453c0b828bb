//! `normalize`: for any bits, the quotients by the sum, or the error that the input deserves.

use super::engine::{Any, Cases, any, below, check};
use super::told::{self, Told};
use crate::math::{Field, canonical_sum};
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

fn outcome_of_any_bits<S: Field + Copy + Any, const N: usize>() {
    let input: [S; N] = any();
    let mut values = input;
    let outcome = normalize(&mut values);
    let no_mass = input.iter().all(|x| x.is_zero());
    match deserved(&input) {
        Some(error) => assert!(outcome.as_ref().is_err_and(|e| same(e, &error))),
        None if no_mass => assert!(outcome == Err(SimplexError::NoMass)),
        None => assert!(outcome.is_ok()),
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

/// `normalize` of any bits succeeds exactly if every entry is finite and not negative and one is
/// positive, and otherwise names the first entry at fault; it never panics.
///
/// Claims: L3
/// Domain: any bits of 3 f64; without the divisions at the end
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(
    kani,
    kani::stub(
        crate::simplex::normalize::divide_by_sum,
        super::contracts::leave_undivided
    )
)]
#[cfg_attr(not(kani), test)]
fn normalize_of_any_3_doubles_succeeds_or_names_the_right_error() {
    check(Cases::Random(200_000), outcome_of_any_bits::<f64, 3>);
}

/// A refused input is left as it was, bit for bit.
///
/// Claims: L3
/// Domain: any bits of 2 f64
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(
    kani,
    kani::stub(
        crate::simplex::normalize::divide_by_sum,
        super::contracts::leave_undivided
    )
)]
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

/// `normalize` is its definition in any arithmetic: each entry, as it came, over the sum of all,
/// both scaled by the guard against overflow where it speaks.
///
/// Claims: L3
/// Domain: 3 whole numbers in 0..=255, not all zero, in a field that keeps quotients as pairs
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn normalize_is_every_entry_over_the_sum_of_all() {
    check(Cases::Random(200_000), || {
        let v = [byte(), byte(), byte()];
        let total = v[0] + v[1] + v[2];
        assume!(total > 0);
        let mut told = v.map(Told::whole);
        assert!(normalize(&mut told).is_ok());
        let guarded = v[0].max(v[1]).max(v[2]) >= told::GUARDED;
        let scale = if guarded { 2 } else { 1 };
        for i in 0..3 {
            assert!(told[i].over == scale * v[i] && told[i].under == scale * total);
        }
        cover!(guarded && v[0] < v[1] && v[1] < v[2], "large");
        cover!(!guarded && v[0] == 0 && v[1] > 0, "a zero");
    });
}

/// Any number in 0..=255, often zero.
pub(super) fn byte() -> i32 {
    if any() { 0 } else { i32::from(any::<u8>()) }
}

/// `normalize` is its definition: each entry is the quotient of that entry by the canonical sum,
/// rounded once, to the bit; all lie in [0, 1]. (What the canonical sum of two is, is proved in
/// `sums`.)
///
/// Claims: L3
/// Domain: any 2 f32 in [0, 2⁹⁵), not both zero; from there on they are scaled first
/// Enumerated only: divisions of any singles to be told equal; the harness above tells the steps
#[cfg_attr(not(kani), test)]
fn normalize_of_2_singles_is_the_quotient_by_the_sum() {
    check(Cases::Random(200_000), || {
        let [a, b]: [f32; 2] = any();
        assume!(a >= 0.0 && b >= 0.0 && (a > 0.0 || b > 0.0));
        assume!(a < GUARDED && b < GUARDED);
        let sum = canonical_sum(&[a, b]);
        let mut values = [a, b];
        assert!(normalize(&mut values).is_ok());
        // Quotients equal to zero are +0.
        assert!(values[0] == a / sum && values[1] == b / sum);
        assert!(values[0].is_sign_positive() && values[0] <= 1.0);
        cover!(values[0] > 0.0 && values[0] < values[1], "different");
        cover!(
            a > 0.0 && values[0] == 0.0,
            "a quotient that rounds to zero"
        );
    });
}

/// From here on `normalize` scales singles by 2⁻⁴⁰ before it adds them: 2⁹⁵.
const GUARDED: f32 = f32::from_bits((95 + 127) << 23);

/// Numbers so large that their sum would overflow are scaled by a power of two first, which leaves
/// the quotients as they are: exactly one and one half come out where they should, and never NaN.
///
/// Claims: L3
/// Domain: f32 in [2⁹⁵, +∞), every exponent, with 16 fractions of 4 bits or that of all ones; beside zero and beside itself
/// Enumerated only: two divisions after a multiplication
#[cfg_attr(not(kani), test)]
fn normalize_of_huge_singles_does_not_overflow() {
    check(Cases::All(33 * 17 * 2), || {
        let exponent = 222 + u32::from(below(33));
        let fraction = match below(17) {
            16 => (1 << 23) - 1,
            bits => u32::from(bits) << 19,
        };
        let a = f32::from_bits(exponent << 23 | fraction);
        let twice: bool = any();
        let mut values = [a, if twice { a } else { 0.0 }];
        assert!(normalize(&mut values).is_ok());
        cover!(twice && a == f32::MAX, "the largest");
        cover!(!twice, "beside zero");
        assert!(values == if twice { [0.5, 0.5] } else { [1.0, 0.0] });
    });
}

/// Small odds as doubles with few significant bits.
fn odds<const N: usize>() -> [f64; N] {
    // A table, because converting a number bit by bit is much dearer to a solver.
    const ODDS: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let mut odds = [0.0; N];
    for slot in &mut odds {
        *slot = ODDS[usize::from(below(8))];
    }
    odds
}

/// `normalize` of small odds is the quotient by their sum to the bit, keeps their order, and adds
/// up to one within n·2⁻⁵³, exactly computed.
///
/// Claims: L3
/// Domain: 2 f64 in 0, 1, …, 7, not both zero
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn normalize_of_2_small_doubles_is_the_quotient_by_the_sum() {
    check(Cases::All(8 * 8), || {
        let [a, b] = odds::<2>();
        assume!(a > 0.0 || b > 0.0);
        let mut p = [a, b];
        assert!(normalize(&mut p).is_ok());
        assert!(p[0] == a / (a + b) && p[1] == b / (a + b));
        assert!((p[0] < p[1]) == (a < b));
        let off = exact_difference_of_one(p);
        assert!(off.abs() <= 2 * (1 << 7));
        cover!(a > 0.0 && b > 0.0 && a != b, "different");
        cover!(off != 0, "rounded");
    });
}

/// `normalize` of three small odds is the quotient by their sum to the bit, keeps their order, and
/// adds up to one within n·2⁻⁵³, exactly computed.
///
/// Claims: L3
/// Domain: 3 f64 cast from 0..64
/// Enumerated only: three symbolic divisions and an exact sum
#[cfg_attr(not(kani), test)]
fn normalize_of_3_small_doubles_is_the_quotient_by_the_sum() {
    check(Cases::All(64 * 64 * 64), || {
        let v = [below(64), below(64), below(64)].map(f64::from);
        assume!(v.iter().any(|&x| x > 0.0));
        let mut p = v;
        assert!(normalize(&mut p).is_ok());
        let total = v[0] + v[1] + v[2];
        for i in 0..3 {
            assert!(p[i] == v[i] / total);
            assert!((p[i] < p[(i + 1) % 3]) == (v[i] < v[(i + 1) % 3]));
        }
        let off = exact_difference_of_one(p);
        assert!(off.abs() <= 3 * (1 << 7));
        cover!(off != 0, "rounded");
    });
}

/// `Σp − 1` in units of 2⁻⁶⁰, for entries that are zero or above 2⁻⁸: those are multiples of
/// 2⁻⁶⁰, so that nothing is rounded.
fn exact_difference_of_one<const N: usize>(p: [f64; N]) -> i64 {
    let mut sum = -(1i64 << 60);
    for x in p {
        let bits = x.to_bits();
        let (fraction, exponent) = (bits & ((1 << 52) - 1), bits >> 52);
        if x != 0.0 {
            // (2⁵² + fraction)·2^(exponent − 1075), in units of 2⁻⁶⁰.
            sum += (((1 << 52) | fraction) as i64) << (exponent + 60 - 1075);
        }
    }
    sum
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
