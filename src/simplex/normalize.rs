//! From non-negative numbers or logits to probabilities.

use crate::math::lanes::{LANES, Lanes, exp_lanes};
use crate::math::{Field, Real, SORTED, canonical_sum};

/// Why some numbers are not, or cannot become, a distribution.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum SimplexError {
    /// There are no classes.
    #[error("there are no classes")]
    Empty,
    /// An entry is NaN.
    #[error("entry {index} is not a number")]
    NotANumber { index: usize },
    /// An entry is infinite where a finite one is needed.
    #[error("entry {index} is {value}")]
    Infinite { index: usize, value: f64 },
    /// An entry is below zero.
    #[error("entry {index} is {value}, below zero")]
    Negative { index: usize, value: f64 },
    /// The entries do not add up to one.
    #[error("the entries add up to {sum}, not to 1 (allowed difference {tolerance:e})")]
    SumOff { sum: f64, tolerance: f64 },
    /// Every entry is zero (every logit `−∞`): nothing to normalize.
    #[error("every entry is zero")]
    NoMass,
}

impl SimplexError {
    /// The entry to blame, where it is one.
    pub fn index(&self) -> Option<usize> {
        match self {
            SimplexError::NotANumber { index }
            | SimplexError::Infinite { index, .. }
            | SimplexError::Negative { index, .. } => Some(*index),
            SimplexError::Empty | SimplexError::SumOff { .. } | SimplexError::NoMass => None,
        }
    }
}

/// Refuses entries that are NaN, infinite or negative; the first one is named.
///
/// | entry | outcome |
/// |---|---|
/// | NaN | [`SimplexError::NotANumber`] |
/// | `−∞`, negative | [`SimplexError::Negative`] |
/// | `+∞` | [`SimplexError::Infinite`] |
/// | `±0`, positive | accepted |
pub(super) fn check_entries<S: Field>(values: &[S]) -> Result<(), SimplexError> {
    for (index, value) in values.iter().enumerate() {
        if value.is_nan() {
            return Err(SimplexError::NotANumber { index });
        }
        let approx = value.approx();
        if *value < S::zero() {
            return Err(SimplexError::Negative {
                index,
                value: approx,
            });
        }
        if !value.is_finite() {
            return Err(SimplexError::Infinite {
                index,
                value: approx,
            });
        }
    }
    Ok(())
}

fn largest<S: Field>(values: &[S]) -> Option<&S> {
    let mut iter = values.iter();
    let first = iter.next()?;
    Some(iter.fold(first, |a, b| if b > a { b } else { a }))
}

/// Scales non-negative numbers so that they add up to one: `vᵢ / Σ v`.
///
/// Domain: any bits. Range: every entry in `[0, 1]`, at least one positive; the exact sum of the
/// entries is within `n·2⁻⁵³` of one (`n·2⁻²⁴` for `f32`; exactly one for rationals). Permuting
/// the entries permutes the result. An entry is the exact quotient within `n` ulps; the ulp of one that
/// is below the smallest normal number, 2⁻¹⁰²², is 2⁻¹⁰⁷⁴, which may be a large part of it.
///
/// # Errors
/// [`SimplexError::Empty`], the errors of NaN, negative and infinite entries, and
/// [`SimplexError::NoMass`] where all are zero. On an error `values` is unchanged.
pub fn normalize<S: Field>(values: &mut [S]) -> Result<(), SimplexError> {
    check_entries(values)?;
    let largest = largest(values).ok_or(SimplexError::Empty)?;
    if largest.is_zero() {
        return Err(SimplexError::NoMass);
    }
    if let Some(scale) = S::overflow_guard(largest) {
        for value in values.iter_mut() {
            *value = value.clone() * scale.clone();
        }
    }
    divide_by_sum(values);
    Ok(())
}

/// `vᵢ / Σ v` for entries that are known to be non-negative with a positive, finite sum.
///
/// The sum is rounded monotonically from non-negative terms, so it is at least the largest of
/// them, and no quotient exceeds one.
fn divide_by_sum<S: Field>(values: &mut [S]) {
    let total = canonical_sum(values);
    for value in values.iter_mut() {
        // Adding zero turns −0 into +0 and changes nothing else.
        *value = value.clone() / total.clone() + S::zero();
    }
}

/// `exp(xᵢ) / Σ exp(xⱼ)`, with the maximum subtracted first.
///
/// Domain: any bits; `−∞` is an impossible class. Range: every entry in `[0, 1]`, the largest at
/// least `1/n`; the sum as for [`normalize`]. The largest exponent is exactly zero, so nothing
/// overflows and the divisor lies in `[1, n]`.
///
/// # Errors
/// [`SimplexError::Empty`], [`SimplexError::NotANumber`], [`SimplexError::Infinite`] for `+∞`,
/// and [`SimplexError::NoMass`] where all are `−∞`. On an error `logits` is unchanged.
pub fn softmax<S: Real>(logits: &mut [S]) -> Result<(), SimplexError> {
    for (index, x) in logits.iter().enumerate() {
        if x.is_nan() {
            return Err(SimplexError::NotANumber { index });
        }
        if !x.is_finite() && *x > S::zero() {
            return Err(SimplexError::Infinite {
                index,
                value: x.approx(),
            });
        }
    }
    let max = *largest(logits).ok_or(SimplexError::Empty)?;
    if max == S::neg_infinity() {
        return Err(SimplexError::NoMass);
    }
    for x in logits.iter_mut() {
        *x = (*x - max).exp();
    }
    divide_by_sum(logits);
    Ok(())
}

/// [`softmax`] of eight rows of finite logits at once, in operations that are vectors where the caller has
/// them: the same bits. `logits[c][r]` is class `c` of row `r`. Domain: from one to [`SORTED`] classes.
#[inline(always)]
pub(crate) fn softmax_lanes(logits: &mut [Lanes]) {
    debug_assert!((1..=SORTED).contains(&logits.len()));
    let mut most = [f64::NEG_INFINITY; LANES];
    for line in &*logits {
        for (most, &x) in most.iter_mut().zip(line) {
            *most = if x > *most { x } else { *most };
        }
    }
    let mut sorted = [[0.0; LANES]; SORTED];
    for (n, line) in logits.iter_mut().enumerate() {
        for (x, most) in line.iter_mut().zip(most) {
            *x -= most;
        }
        exp_lanes(line);
        // From the smallest up, as [`canonical_sum`] adds: each takes its place among those before.
        let mut inserted = *line;
        for slot in &mut sorted[..n] {
            for (slot, x) in slot.iter_mut().zip(&mut inserted) {
                (*slot, *x) = if *x < *slot { (*x, *slot) } else { (*slot, *x) };
            }
        }
        sorted[n] = inserted;
    }
    let mut total = [0.0; LANES];
    for line in &sorted[..logits.len()] {
        for (total, x) in total.iter_mut().zip(line) {
            *total += x;
        }
    }
    for line in logits {
        for (x, total) in line.iter_mut().zip(total) {
            *x /= total;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rational;
    use num_rational::BigRational;
    use num_traits::{One, Signed};
    use proptest::prelude::*;

    fn exact_sum_off(values: &[f64]) -> f64 {
        let sum: BigRational = values.iter().map(|&v| rational(v).unwrap()).sum();
        Field::approx(&(sum - BigRational::one()).abs())
    }

    proptest! {
        #[test]
        fn any_bits_give_a_distribution_or_the_error_they_deserve(
            bits in prop::collection::vec(any::<u64>(), 0..40)
        ) {
            let input: Vec<f64> = bits.iter().map(|&b| f64::from_bits(b)).collect();
            let mut values = input.clone();
            match normalize(&mut values) {
                Ok(()) => {
                    prop_assert!(values.iter().all(|v| (0.0..=1.0).contains(v)));
                    prop_assert!(values.iter().any(|&v| v > 0.0));
                    let bound = values.len() as f64 * 2f64.powi(-53);
                    prop_assert!(exact_sum_off(&values) <= bound);
                }
                Err(error) => {
                    prop_assert!(values.iter().zip(&bits).all(|(v, &b)| v.to_bits() == b));
                    let deserved = match error {
                        SimplexError::Empty => input.is_empty(),
                        SimplexError::NotANumber { index } => input[index].is_nan(),
                        SimplexError::Negative { index, .. } => input[index] < 0.0,
                        SimplexError::Infinite { index, .. } => input[index] == f64::INFINITY,
                        SimplexError::NoMass => input.iter().all(|&v| v == 0.0),
                        SimplexError::SumOff { .. } => false,
                    };
                    prop_assert!(deserved);
                }
            }
        }

        #[test]
        fn quotients_are_those_of_exact_arithmetic_within_n_ulps(
            values in prop::collection::vec(0.0f64..1.0, 1..30)
        ) {
            prop_assume!(values.iter().any(|&v| v > 0.0));
            let mut exact: Vec<BigRational> = values.iter().map(|&v| rational(v).unwrap()).collect();
            let mut floats = values;
            normalize(&mut exact).unwrap();
            normalize(&mut floats).unwrap();
            for (e, &f) in exact.iter().zip(&floats) {
                let off = (rational(f).unwrap() - e).abs();
                // (n−1)·u from the sum and u from the quotient, with second-order terms below 1 %.
                let bound = e * rational(floats.len() as f64 * 1.01 * 2f64.powi(-53)).unwrap();
                prop_assert!(off <= bound);
            }
        }

        #[test]
        fn softmax_of_any_bits(bits in prop::collection::vec(any::<u64>(), 0..20)) {
            let input: Vec<f64> = bits.iter().map(|&b| f64::from_bits(b)).collect();
            let mut values = input.clone();
            match softmax(&mut values) {
                Ok(()) => {
                    let largest = values.iter().copied().fold(0.0, f64::max);
                    prop_assert!(values.iter().all(|v| (0.0..=1.0).contains(v)));
                    prop_assert!(largest >= 1.0 / values.len() as f64);
                    prop_assert!(exact_sum_off(&values) <= values.len() as f64 * 2f64.powi(-53));
                }
                Err(SimplexError::Empty) => prop_assert!(input.is_empty()),
                Err(SimplexError::NotANumber { index }) => prop_assert!(input[index].is_nan()),
                Err(SimplexError::Infinite { index, .. }) => {
                    prop_assert_eq!(input[index], f64::INFINITY);
                }
                Err(SimplexError::NoMass) => {
                    prop_assert!(input.iter().all(|&v| v == f64::NEG_INFINITY));
                }
                Err(other) => prop_assert!(false, "{other:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn eight_rows_at_once_have_the_bits_of_each_alone(
            classes in 1usize..=SORTED,
            logits in prop::collection::vec(
                prop_oneof![8 => -50.0f64..50.0, 1 => -1e308f64..1e308, 1 => Just(0.0), 1 => Just(-0.0)],
                SORTED * LANES,
            ),
        ) {
            let mut lanes: Vec<Lanes> = logits.as_chunks().0[..classes].to_vec();
            let given = lanes.clone();
            pulp::Arch::new().dispatch(|| softmax_lanes(&mut lanes));
            for r in 0..LANES {
                let mut row: Vec<f64> = given.iter().map(|line| line[r]).collect();
                softmax(&mut row).unwrap();
                for (want, line) in row.iter().zip(&lanes) {
                    prop_assert_eq!(want.to_bits(), line[r].to_bits());
                }
            }
        }
    }

    #[test]
    fn edges() {
        let tiny = f64::from_bits(1);
        let cases: &[(&[f64], &[f64])] = &[
            (&[f64::MAX, f64::MAX, f64::MAX, f64::MAX], &[0.25; 4]),
            (&[tiny, tiny], &[0.5, 0.5]),
            (&[-0.0, tiny], &[0.0, 1.0]),
            (&[f64::MAX, tiny], &[1.0, 0.0]),
        ];
        for (input, want) in cases {
            let mut values = input.to_vec();
            normalize(&mut values).unwrap();
            assert_eq!(&values, want);
            assert!(values.iter().all(|v| v.is_sign_positive()));
        }
        assert_eq!(normalize(&mut [0.0f64, -0.0]), Err(SimplexError::NoMass));
        assert_eq!(normalize::<f64>(&mut []), Err(SimplexError::Empty));
        assert_eq!(
            normalize(&mut [0.5, f64::NEG_INFINITY]),
            Err(SimplexError::Negative {
                index: 1,
                value: f64::NEG_INFINITY
            })
        );
    }
}
