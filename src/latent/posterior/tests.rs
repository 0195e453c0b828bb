use super::*;
use crate::math::rational;
use num_rational::BigRational;
use num_traits::Signed;
use proptest::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

fn matrix(d: usize, rows: &[f64]) -> DMatrix<f64> {
    DMatrix::from_row_slice(d, d, rows)
}

#[test]
fn refuses_what_is_not_a_gaussian_and_says_where() {
    let diagonal =
        |m: &[f64], s: &[f64]| GaussianPosterior::diagonal(m.to_vec(), s.to_vec()).unwrap_err();
    assert_eq!(diagonal(&[], &[]), PosteriorError::Empty);
    assert!(matches!(
        diagonal(&[0.0, 1.0], &[1.0]),
        PosteriorError::Dimension {
            mean: 2,
            rows: 1,
            ..
        }
    ));
    assert!(matches!(
        diagonal(&[0.0, f64::NAN], &[1.0, 1.0]),
        PosteriorError::Mean { index: 1, .. }
    ));
    for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = diagonal(&[0.0, 0.0], &[1.0, bad]);
        assert!(
            matches!(error, PosteriorError::Sigma { index: 1, .. }),
            "{bad}"
        );
    }
    let full =
        |d, rows: &[f64]| GaussianPosterior::full(vec![0.0; d], matrix(d, rows)).unwrap_err();
    assert_eq!(
        full(2, &[1.0, 0.5, 0.25, 1.0]),
        PosteriorError::NotSymmetric {
            row: 1,
            column: 0,
            value: 0.25,
            mirrored: 0.5
        }
    );
    // [[1,1,1],[1,4,1],[1,1,0]] has leading minors 1, 3, −3, hence pivots 1, 3, −1.
    let error = full(3, &[1.0, 1.0, 1.0, 1.0, 4.0, 1.0, 1.0, 1.0, 0.0]);
    let (minor, pivot) = (3, -1.0);
    assert_eq!(error, PosteriorError::NotPositiveDefinite { minor, pivot });
    assert!(error.to_string().contains("not positive definite"));
    assert!(error.to_string().contains("3 × 3"));
    // Singular is not positive definite.
    let (minor, pivot) = (2, 0.0);
    assert_eq!(
        full(2, &[1.0; 4]),
        PosteriorError::NotPositiveDefinite { minor, pivot }
    );
    assert!(matches!(
        full(2, &[1.0, f64::NAN, f64::NAN, 1.0]),
        PosteriorError::Covariance {
            row: 1,
            column: 0,
            ..
        }
    ));
    let not_square = GaussianPosterior::full(vec![0.0; 2], DMatrix::zeros(2, 3));
    assert!(not_square.unwrap_err().to_string().contains("2 × 3"));
}

/// A positive definite matrix with integer entries: `A·Aᵀ + d·I` for integer `A`, exactly.
fn positive_definite() -> impl Strategy<Value = (usize, Vec<f64>)> {
    (1usize..8).prop_flat_map(|d| {
        prop::collection::vec(-9i32..10, d * d).prop_map(move |a| {
            let entry = |i: usize, j: usize| {
                let product: i32 = (0..d).map(|k| a[i * d + k] * a[j * d + k]).sum();
                f64::from(product + if i == j { d as i32 } else { 0 })
            };
            (d, (0..d * d).map(|ij| entry(ij / d, ij % d)).collect())
        })
    })
}

proptest! {
    #[test]
    fn factor_times_its_transpose_is_the_covariance((d, rows) in positive_definite()) {
        let l = cholesky(&matrix(d, &rows)).unwrap();
        let at = |i: usize, j: usize| rational(l[i * (i + 1) / 2 + j]).unwrap();
        for i in 0..d {
            for j in 0..=i {
                let product: BigRational = (0..=j).map(|k| at(i, k) * at(j, k)).sum();
                let off = (product - rational(rows[i * d + j]).unwrap()).abs();
                // Higham, Accuracy and Stability, theorem 10.3: |Σ − L·Lᵀ| ≤ γ_{d+1}·|L||L|ᵀ, and
                // by Cauchy–Schwarz (|L||L|ᵀ)_ij ≤ √(Σ_ii Σ_jj), up to the same factor.
                let scale = (rows[i * d + i] * rows[j * d + j]).sqrt();
                let bound = (d + 1) as f64 * 1.01 * 2f64.powi(-53) * scale;
                prop_assert!(off <= rational(bound).unwrap());
            }
        }
    }

    /// The order of operations that [`cholesky`] promises, word for word; sizes on both sides of
    /// the one from which nalgebra's matrix product would pick a kernel by the CPU.
    #[test]
    fn every_operation_of_the_factor_is_in_the_promised_order(
        d in 1usize..24,
        a in prop::collection::vec(-1.0f64..1.0, 24 * 24),
    ) {
        let a = DMatrix::from_fn(d, d, |i, j| a[i * 24 + j]);
        let sigma = DMatrix::from_fn(d, d, |i, j| {
            let (i, j) = (i.max(j), i.min(j));
            (0..d).fold(if i == j { 0.5 } else { 0.0 }, |s, k| s + a[(i, k)] * a[(j, k)])
        });
        let mut want = DMatrix::<f64>::zeros(d, d);
        for i in 0..d {
            for j in 0..=i {
                let rest = (0..j).fold(sigma[(i, j)], |r, k| r - want[(i, k)] * want[(j, k)]);
                want[(i, j)] = if i == j { rest.sqrt() } else { rest / want[(j, j)] };
            }
        }
        let got = cholesky(&sigma).unwrap();
        for i in 0..d {
            for j in 0..=i {
                prop_assert_eq!(got[i * (i + 1) / 2 + j].to_bits(), want[(i, j)].to_bits());
            }
        }
    }

    #[test]
    fn the_first_leading_minor_that_is_not_positive_is_named(
        d in 1usize..6,
        entries in prop::collection::vec(-4i32..5, 36),
    ) {
        let symmetric = DMatrix::from_fn(d, d, |i, j| f64::from(entries[i.min(j) * 6 + i.max(j)]));
        // Determinants of leading minors in exact arithmetic decide (Sylvester).
        let minors: Vec<BigRational> =
            (1..=d).map(|n| determinant(&symmetric.view((0, 0), (n, n)).into_owned())).collect();
        let first = minors.iter().position(|m| !m.is_positive());
        match (cholesky(&symmetric), first) {
            (Ok(_), None) => {}
            // A pivot that is exactly zero may come out as a rounding error of either sign.
            (Ok(_) | Err(_), Some(n)) if minors[n] == rational(0.0).unwrap() => {}
            (Err(PosteriorError::NotPositiveDefinite { minor, .. }), Some(n)) => {
                prop_assert_eq!(minor, n + 1);
            }
            (got, want) => prop_assert!(false, "{got:?} {want:?}"),
        }
    }

    #[test]
    fn norm_is_that_of_exact_arithmetic((d, rows) in positive_definite()) {
        let posterior = GaussianPosterior::full(vec![0.0; d], matrix(d, &rows)).unwrap();
        let squares: f64 = rows.iter().map(|x| x * x).sum(); // integers: exact
        let want = squares.sqrt();
        prop_assert!((posterior.frobenius_norm() - want).abs() <= 2.0 * f64::EPSILON * want);
        let sigma: Vec<f64> = rows.iter().map(|x| x.abs() + 1.0).collect();
        let fourths: f64 = sigma.iter().map(|x| x * x * x * x).sum();
        let n = sigma.len();
        let posterior = GaussianPosterior::diagonal(vec![0.0; n], sigma).unwrap();
        let want = fourths.sqrt();
        prop_assert!((posterior.frobenius_norm() - want).abs() <= 2.0 * f64::EPSILON * want);
    }
}

/// Laplace expansion in exact arithmetic.
fn determinant(m: &DMatrix<f64>) -> BigRational {
    if m.nrows() == 0 {
        return rational(1.0).unwrap();
    }
    let terms = (0..m.ncols()).map(|j| {
        let minor = determinant(&m.clone().remove_row(0).remove_column(j));
        let sign = rational(if j % 2 == 0 { 1.0 } else { -1.0 }).unwrap();
        sign * rational(m[(0, j)]).unwrap() * minor
    });
    terms.sum()
}

#[test]
fn norms_and_means_at_the_ends_of_the_range() {
    let of = |sigma: &[f64]| {
        GaussianPosterior::diagonal(vec![0.0; sigma.len()], sigma.to_vec()).unwrap()
    };
    assert_eq!(of(&[1e150; 4]).frobenius_norm(), 2.0 * (1e150 * 1e150));
    assert_eq!(of(&[f64::MAX]).frobenius_norm(), f64::INFINITY);
    assert_eq!(of(&[1e-200]).frobenius_norm(), 0.0); // 10⁻⁴⁰⁰ is below the smallest double
    assert_eq!(of(&[f64::MAX; 7]).mean_sigma(), f64::MAX);
    assert_eq!(of(&[5e-324; 7]).mean_sigma(), 5e-324);
    assert_eq!(of(&[1.0, 2.0, 6.0]).mean_sigma(), 3.0);
    assert_eq!(of(&[1.0, 2.0]).mean_variance(), 2.5);
    assert_eq!(of(&[f64::MAX, 1.0]).mean_variance(), f64::INFINITY);
    let full = GaussianPosterior::full(vec![0.0; 2], matrix(2, &[4.0, 1.0, 1.0, 9.0])).unwrap();
    assert_eq!(full.sigmas().collect::<Vec<_>>(), [2.0, 3.0]);
    assert_eq!((full.mean_sigma(), full.mean_variance()), (2.5, 6.5));
}

#[test]
fn draws_have_the_mean_and_covariance_asked_for() {
    const N: usize = 50_000;
    const FALSE_ALARM: f64 = 1e-9;
    // L = [[2, 0], [1, 3]]: Σ = [[4, 2], [2, 10]].
    let covariance = matrix(2, &[4.0, 2.0, 2.0, 10.0]);
    let full = GaussianPosterior::full(vec![5.0, -1.0], covariance).unwrap();
    let mut z = vec![0.0; 2 * N + 1];
    full.sample(&mut Stream::new(3, 0, 0, 0), &mut z);
    assert_eq!(z[2 * N], 0.0, "half a row is left alone");
    // (z − μ)ᵀ Σ⁻¹ (z − μ) is chi-squared with two degrees; Σ⁻¹ = [[10, −2], [−2, 4]] / 36.
    let form = |inverse: [f64; 3]| -> f64 {
        let rows = z[..2 * N].chunks_exact(2).map(|z| (z[0] - 5.0, z[1] + 1.0));
        rows.map(|(a, b)| inverse[0] * a * a + 2.0 * inverse[1] * a * b + inverse[2] * b * b)
            .sum()
    };
    let chi = ChiSquared::new(2.0 * N as f64).unwrap();
    let tail = |x: f64| chi.cdf(x).min(chi.sf(x));
    let right = form([10.0 / 36.0, -2.0 / 36.0, 4.0 / 36.0]);
    assert!(tail(right) > FALSE_ALARM / 2.0);
    // A full row is whitened by either form, but only the cross term sees the correlation.
    let rho = 2.0 / 40f64.sqrt();
    let cross: f64 = z[..2 * N]
        .chunks_exact(2)
        .map(|z| (z[0] - 5.0) / 2.0 * (z[1] + 1.0) / 10f64.sqrt())
        .sum();
    // Var of a product of two standard normals with correlation ρ is 1 + ρ²; 6.1 standard
    // deviations leave about 10⁻⁹.
    let spread = 6.1 * ((1.0 + rho * rho) * N as f64).sqrt();
    assert!((cross - rho * N as f64).abs() < spread);
    assert!(
        cross.abs() > spread,
        "control: a sampler without correlation would be seen"
    );
}

#[test]
fn diagonal_and_full_covariance_give_the_same_draws() {
    let diagonal = GaussianPosterior::diagonal(vec![1.0, 2.0], vec![2.0, 0.5]).unwrap();
    let covariance = matrix(2, &[4.0, 0.0, 0.0, 0.25]);
    let full = GaussianPosterior::full(vec![1.0, 2.0], covariance).unwrap();
    let (mut a, mut b) = ([0.0; 20], [0.0; 20]);
    diagonal.sample(&mut Stream::new(3, 0, 0, 0), &mut a);
    full.sample(&mut Stream::new(3, 0, 0, 0), &mut b);
    assert_eq!(a, b);
    assert_ne!(diagonal.canonical_cmp(&full), std::cmp::Ordering::Equal);
}

#[test]
fn variance_along_a_direction_is_the_quadratic_form() {
    let covariance = matrix(2, &[4.0, 2.0, 2.0, 10.0]);
    let full = GaussianPosterior::full(vec![0.0; 2], covariance).unwrap();
    // 4·9 + 2·2·3·(−1) + 10·1, all factors exact.
    assert_eq!(full.variance_along(&[3.0, -1.0]), Some(34.0));
    let diagonal = GaussianPosterior::diagonal(vec![0.0; 2], vec![2.0, 3.0]).unwrap();
    assert_eq!(diagonal.variance_along(&[3.0, -1.0]), Some(45.0));
    assert_eq!(diagonal.variance_along(&[1.0]), None);
}
