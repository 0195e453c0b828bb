//! What the proofs put in place of functions that no solver can follow.
//!
//! A solver's own model of `exp` is a band that may miss the true value, so no proof goes through
//! it. The stand-ins below keep the contracts of the functions they replace and nothing else that
//! a proof could lean on; each asserts what the caller must keep. That `exp` keeps its contract is
//! checked in `elementary` and, for all singles, by
//! `cargo run --example prove -- exhaustive`.

use crate::math::{BandedSum, DoubleDouble, ExactSum, Field, Real};
use crate::simplex::SimplexError;
use crate::spn::scaled::Scaled;
use crate::spn::{Compiled, Evidence, QueryError, Workspace};

/// `x ≤ 0 ⇒ 0 ≤ exp x ≤ 1`, `exp 0 = 1`, `exp −∞ = 0`; the same argument gives the same result.
/// A positive or NaN argument is a fault of the caller, which must have subtracted the maximum.
///
/// In between, sign, exponent and fraction of the argument are moved about, so that every
/// number below one is the result for some argument.
pub fn exp_of_non_positive(x: f64) -> f64 {
    assert!(x <= 0.0);
    if x == 0.0 {
        1.0
    } else if x == f64::NEG_INFINITY {
        0.0
    } else {
        let bits = x.to_bits();
        let exponent = 1022u64.saturating_sub(bits >> 52 & 1023);
        f64::from_bits(exponent << 52 | bits & ((1 << 52) - 1))
    }
}

/// In place of the logarithm of the probabilities that a proof uses: whole numbers, zero for one and
/// different ones for different probabilities. Zero is a fault of the caller, which must leave it out.
pub fn whole_logarithm(p: f64) -> f64 {
    assert!(p > 0.0 && p <= 1.0);
    if p == 1.0 {
        0.0
    } else if p == 0.875 {
        -1.0
    } else if p == 0.5 {
        -5.0
    } else {
        assert!(p == 0.25);
        -11.0
    }
}

/// In place of `softmax`, where a proof is about the scores that it is given.
pub fn leave_scores<S: Real>(_: &mut [S]) -> Result<(), SimplexError> {
    Ok(())
}

/// In place of the check of a distribution, where a proof is about one of its entries, or has scores
/// in its place.
pub fn accept_anything<S: Field>(_: &[S], _: &S) -> Result<(), SimplexError> {
    Ok(())
}

/// In place of the divisions at the end of `normalize` and `softmax`, where a proof is about what
/// stands before them.
pub fn leave_undivided<S: Field>(_: &mut [S]) {}

/// The slow path of a banded sum, for terms outside the band; a proof within the band shows that
/// only zeros come here.
pub fn nothing_outside_the_band(_: &mut BandedSum, x: f64) {
    assert!(x == 0.0);
}

/// In place of an exact sum of small whole numbers: the same, in the units of one. At most four at a
/// time.
pub fn add_whole(sum: &mut BandedSum, terms: &[f64]) {
    assert!(terms.len() <= 4);
    for i in 0..4 {
        if i < terms.len() {
            assert!(terms[i] >= -127.0 && terms[i] <= 127.0);
            sum.band += i128::from(terms[i] as i8);
        }
    }
}

/// What such sums merge to.
pub fn merge_whole(sum: &mut BandedSum, other: &BandedSum) {
    sum.band += other.band;
}

/// The value of such a sum.
pub fn whole_sum(sum: &BandedSum) -> f64 {
    assert!(sum.band >= -127 && sum.band <= 127);
    f64::from(sum.band as i8)
}

/// In place of an exact sum, where a proof is about what is refused before there is any.
pub fn add_nothing(_: &mut ExactSum, _: f64) {}

/// In place of scaling a number by a power of two, where a proof is about what is refused before it.
pub fn leave_unscaled(x: f64, _: i32) -> f64 {
    x
}

/// In place of a product of doubles, where a proof is about what is refused before it.
pub fn no_product(_: f64, _: f64) -> DoubleDouble {
    DoubleDouble {
        high: 1.0,
        low: 0.0,
    }
}

/// In place of the leading bits of an exact sum, where a proof is not about them.
pub fn one(_: &ExactSum) -> DoubleDouble {
    DoubleDouble {
        high: 1.0,
        low: 0.0,
    }
}

/// In place of an exact sum of small whole numbers and halves, which plain additions give exactly.
/// The field for terms that are not finite holds it.
pub fn add_plainly(sum: &mut ExactSum, x: f64) {
    sum.special += x;
}

/// The two leading doubles of such a sum.
pub fn of_plain_sum(sum: &ExactSum) -> DoubleDouble {
    DoubleDouble {
        high: sum.special,
        low: 0.0,
    }
}

/// The way out where 128 bits do not decide a rounding; a proof of exact products shows that it is
/// not taken.
pub fn no_exact_product(_: &[Scaled]) -> Scaled {
    panic!("128 bits decide")
}

/// The number that a stand-in below made of a whole one, or [`Scaled::ONE`].
fn number(x: Scaled) -> u64 {
    if x == Scaled::ONE { 1 } else { x.mantissa }
}

fn of_number(mantissa: u64) -> Scaled {
    Scaled {
        mantissa,
        exponent: 0,
    }
}

/// In place of taking a double apart: the whole numbers 0, 1, 2 themselves.
pub fn whole(x: f64) -> Scaled {
    assert!(x == 0.0 || x == 1.0 || x == 2.0);
    of_number(if x == 0.0 {
        0
    } else if x == 1.0 {
        1
    } else {
        2
    })
}

/// Whole numbers multiply as `Scaled` does, exactly.
pub fn times(a: Scaled, b: Scaled) -> Scaled {
    of_number(number(a) * number(b))
}

/// Whole numbers are multiplied and added as by `Scaled`, exactly.
pub fn sum_of_products(n: usize, term: impl Fn(usize) -> (Scaled, Scaled)) -> Scaled {
    let mut sum = 0;
    for i in 0..n {
        let (a, b) = term(i);
        sum += number(a) * number(b);
    }
    of_number(sum)
}

/// A quotient of whole numbers, told by its two parts. All pairs are different numbers.
pub fn as_pair(n: u64, d: u64) -> f64 {
    assert!(n < 1 << 16 && d > 0 && d < 1 << 16);
    f64::from_bits(n << 16 | d)
}

/// The quotient as a double: its two parts.
pub fn ratio(n: Scaled, d: Scaled) -> f64 {
    as_pair(number(n), number(d))
}

/// The quotient, as two parts in one number; zero where either is.
pub fn over(n: Scaled, d: Scaled) -> Scaled {
    if n.is_zero() || d.is_zero() {
        return Scaled::ZERO;
    }
    of_number(as_pair(number(n), number(d)).to_bits())
}

/// The logarithm of what [`over`] gave: the two parts.
pub fn ln_of_pair(x: Scaled) -> f64 {
    if x.is_zero() {
        return f64::NEG_INFINITY;
    }
    f64::from_bits(x.mantissa)
}

/// In place of explaining a contradiction, where a proof shows that there is none.
pub fn no_conflict(_: &Compiled, _: &Evidence, _: &mut Workspace) -> QueryError {
    panic!("the evidence is possible")
}
