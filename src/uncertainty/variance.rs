//! The variance of a class indicator, split by the law of total variance (theorem 7).
//!
//! For rows `p_m`, `m = 1..M`, and class means `p̄(y) = (1/M) Σ_m p_m(y)`, summed over classes:
//!
//! | part | formula |
//! |---|---|
//! | total | `Σ_y p̄(y)·(1 − p̄(y))` |
//! | aleatoric | `(1/M) Σ_m Σ_y p_m(y)·(1 − p_m(y))` |
//! | epistemic | `Σ_y (1/M) Σ_m (p_m(y) − p̄(y))²` |
//!
//! `total = epistemic + aleatoric` is an identity of polynomials: per class, `p̄ − p̄²` is
//! `(p̄ − mean p²) + (mean p² − p̄²)`. It holds over every commutative ring and for any numbers,
//! rows that do not add up to one included; it says nothing about a model. That it is an identity is
//! also why it cannot serve as a check of a computation that derives one part from the others: here
//! each part has its own formula.

use crate::math::{Field, Ring};

/// Total, epistemic and aleatoric part of a variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarianceParts<S = f64> {
    /// Variance of the class indicators under the mean row.
    pub total: S,
    /// Variance of the rows around their mean, with `1/M`.
    pub epistemic: S,
    /// Mean variance of the class indicators within a row.
    pub aleatoric: S,
}

/// The numbers are not at least one whole row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{numbers} probabilities are not one or more whole rows of {classes} classes")]
pub struct ShapeError {
    /// How many numbers there are.
    pub numbers: usize,
    /// How many belong to a row.
    pub classes: usize,
}

/// The number of rows, at least one.
pub(super) fn row_count(numbers: usize, classes: usize) -> Result<usize, ShapeError> {
    if classes == 0 || numbers == 0 || !numbers.is_multiple_of(classes) {
        return Err(ShapeError { numbers, classes });
    }
    Ok(numbers / classes)
}

/// The three parts times `M³`, without a division:
/// `M·Σ_y P·(M − P)`, `Σ_y Σ_m (M·p − P)²` and `M²·Σ_y Σ_m p·(1 − p)` with `P = Σ_m p`.
///
/// Over wrapping integers and rationals `total = epistemic + aleatoric` exactly, whatever the
/// numbers. The factor is `M³` and not `M²` so that the epistemic part is a sum of squares: over
/// floats it cannot come out negative, and for nearly equal rows its error shrinks with it.
///
/// Every sum is order-free, so permuting rows or classes changes no bit.
///
/// # Errors
/// [`ShapeError`] unless there are one or more whole rows.
pub fn decomposition_scaled<S: Ring>(
    rows: &[S],
    classes: usize,
) -> Result<VarianceParts<S>, ShapeError> {
    let samples = row_count(rows.len(), classes)?;
    let count = S::sum((0..samples).map(|_| S::one()));
    let column = |y: usize| (0..samples).map(move |m| rows[m * classes + y].clone());
    let sums: Vec<S> = (0..classes).map(|y| S::sum(column(y))).collect();
    let total = S::sum(sums.iter().map(|p| p.clone() * (count.clone() - p.clone())));
    let epistemic = S::sum((0..rows.len()).map(|i| {
        let off = count.clone() * rows[i].clone() - sums[i % classes].clone();
        off.clone() * off
    }));
    let aleatoric = S::sum(rows.iter().map(|p| p.clone() * (S::one() - p.clone())));
    Ok(VarianceParts {
        total: count.clone() * total,
        epistemic,
        aleatoric: count.clone() * count * aleatoric,
    })
}

/// Total, epistemic and aleatoric variance: [`decomposition_scaled`] divided by `M³`.
///
/// Exact over rationals. In double precision, for rows that are distributions, each part is within
/// `12·2⁻⁵³` of the exact one (so the identity holds within `36·2⁻⁵³`), and none is negative.
/// Range for distributions over `n` classes: `[0, 1 − 1/n]`.
///
/// # Errors
/// [`ShapeError`] unless there are one or more whole rows.
pub fn variance_decomposition<S: Field>(
    rows: &[S],
    classes: usize,
) -> Result<VarianceParts<S>, ShapeError> {
    let scaled = decomposition_scaled(rows, classes)?;
    let count = S::from_count(rows.len() / classes);
    let cube = count.clone() * count.clone() * count;
    Ok(VarianceParts {
        total: scaled.total / cube.clone(),
        epistemic: scaled.epistemic / cube.clone(),
        aleatoric: scaled.aleatoric / cube,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rational;
    use num_rational::BigRational;
    use num_traits::{One, Signed, Zero};
    use proptest::prelude::*;
    use std::num::Wrapping;

    /// The table of the module, word for word, in exact arithmetic.
    fn literal(rows: &[BigRational], classes: usize) -> VarianceParts<BigRational> {
        let one = BigRational::one();
        let m = BigRational::from_integer((rows.len() / classes).into());
        let mut parts = VarianceParts {
            total: BigRational::zero(),
            epistemic: BigRational::zero(),
            aleatoric: BigRational::zero(),
        };
        for y in 0..classes {
            let column: Vec<&BigRational> = rows.iter().skip(y).step_by(classes).collect();
            let mean = column.iter().copied().sum::<BigRational>() / &m;
            parts.total += &mean * (&one - &mean);
            for &p in &column {
                parts.aleatoric += p * (&one - p) / &m;
                parts.epistemic += (p - &mean) * (p - &mean) / &m;
            }
        }
        parts
    }

    fn rows() -> impl Strategy<Value = (usize, Vec<f64>)> {
        (1usize..6, 1usize..12).prop_flat_map(|(classes, samples)| {
            let row = prop::collection::vec(prop_oneof![Just(0.0), 1e-9f64..1.0], classes)
                .prop_filter_map("mass", |w| {
                    crate::simplex::Distribution::from_weights(w).ok()
                });
            prop::collection::vec(row, samples).prop_map(move |rows| {
                let rows = rows.iter().flat_map(|r| r.probabilities().to_vec());
                (classes, rows.collect())
            })
        })
    }

    proptest! {
        #[test]
        fn identity_is_exact_over_rationals_and_equals_the_formulas(
            (classes, rows) in rows()
        ) {
            let exact: Vec<BigRational> = rows.iter().map(|&p| rational(p).unwrap()).collect();
            let got = variance_decomposition(&exact, classes).unwrap();
            prop_assert_eq!(&got, &literal(&exact, classes));
            prop_assert_eq!(&got.total, &(&got.epistemic + &got.aleatoric));
            // Doubles against the same numbers in exact arithmetic.
            let floats = variance_decomposition(&rows, classes).unwrap();
            let pairs = [
                (floats.total, got.total),
                (floats.epistemic, got.epistemic),
                (floats.aleatoric, got.aleatoric),
            ];
            for (float, exact) in pairs {
                prop_assert!(float >= 0.0);
                let off = (rational(float).unwrap() - exact).abs();
                prop_assert!(off <= rational(12.0 * 2f64.powi(-53)).unwrap());
            }
        }

        #[test]
        fn identity_is_exact_over_wrapping_integers(
            classes in 1usize..5,
            numbers in prop::collection::vec(any::<u8>(), 60),
        ) {
            let numbers: Vec<Wrapping<u8>> = numbers.into_iter().map(Wrapping).collect();
            let parts = decomposition_scaled(&numbers[..classes * 12], classes).unwrap();
            prop_assert_eq!(parts.total, parts.epistemic + parts.aleatoric);
        }
    }

    #[test]
    fn identity_is_exact_for_all_three_bit_numbers() {
        // Two and three rows of one and two classes, each number 0..8 in wrapping u8; with M = 3,
        // odd, the factor M³ is invertible and hides nothing.
        let mut checked = 0;
        for (classes, length) in [(1, 2), (1, 3), (2, 4)] {
            for code in 0..8usize.pow(length) {
                let digit = |i: u32| Wrapping((code >> (3 * i) & 7) as u8);
                let numbers: Vec<Wrapping<u8>> = (0..length).map(digit).collect();
                let parts = decomposition_scaled(&numbers, classes).unwrap();
                assert_eq!(parts.total, parts.epistemic + parts.aleatoric);
                checked += 1;
            }
        }
        assert_eq!(checked, 64 + 512 + 4096);
    }

    #[test]
    fn edges() {
        let parts = |rows: &[f64], n| variance_decomposition(rows, n).unwrap();
        // One row: all is aleatoric. Certain rows that disagree: all is epistemic.
        let one = parts(&[0.5, 0.5], 2);
        assert_eq!((one.total, one.epistemic, one.aleatoric), (0.5, 0.0, 0.5));
        let two = parts(&[1.0, 0.0, 0.0, 1.0], 2);
        assert_eq!((two.total, two.epistemic, two.aleatoric), (0.5, 0.5, 0.0));
        let same = parts(&[0.1, 0.2, 0.7].repeat(1000), 3);
        assert!(same.epistemic < 1e-30);
        // 1/2 ± 2⁻³⁰: mean p² − p̄² in doubles would leave nothing of the variance.
        let e = 2f64.powi(-30);
        let near = parts(&[0.5 + e, 0.5 - e, 0.5 - e, 0.5 + e], 2);
        assert_eq!(near.epistemic, 2.0 * e * e);
        for (numbers, classes) in [(0, 2), (3, 2), (2, 0)] {
            let error = decomposition_scaled(&vec![0.5; numbers], classes).unwrap_err();
            assert_eq!(error, ShapeError { numbers, classes });
        }
    }

    #[test]
    fn the_1_over_m_variance_is_low_by_one_part_in_m_on_average() {
        // All samples of size M from two equally likely rows (1/10, 9/10) and (6/10, 4/10):
        // the mean of the estimate is (1 − 1/M) times the true epistemic variance, exactly.
        let tenth = |n: i32| BigRational::new(n.into(), 10.into());
        let choices = [[tenth(1), tenth(9)], [tenth(6), tenth(4)]];
        let truth = variance_decomposition(&choices.concat(), 2)
            .unwrap()
            .epistemic;
        for m in 1..8usize {
            let mut mean = BigRational::zero();
            for code in 0..1usize << m {
                let rows: Vec<BigRational> = (0..m)
                    .flat_map(|i| choices[code >> i & 1].clone())
                    .collect();
                mean += variance_decomposition(&rows, 2).unwrap().epistemic;
            }
            mean /= BigRational::from_integer((1 << m).into());
            let factor = BigRational::new((m - 1).into(), m.into());
            assert_eq!(mean, &truth * factor);
        }
    }
}
