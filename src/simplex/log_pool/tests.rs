use super::*;
use crate::math::{Field, rational};
use crate::simplex::{normalize, power_product};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive};
use proptest::prelude::*;

fn d(p: &[f64]) -> Distribution {
    Distribution::from_weights(p.to_vec()).unwrap()
}

/// The product in exact rationals, each entry as the nearest double.
fn exact_product(factors: &[Distribution], exponents: &[u32]) -> Vec<BigRational> {
    let rows: Vec<Vec<BigRational>> = factors
        .iter()
        .map(|f| {
            f.probabilities()
                .iter()
                .map(|&p| rational(p).unwrap())
                .collect()
        })
        .collect();
    let mut out = vec![BigRational::one(); factors[0].classes()];
    power_product(exponents, &rows, &mut out);
    normalize(&mut out).unwrap();
    out
}

fn assert_close(got: &Distribution, want: &[BigRational], relative: f64) {
    for (&g, w) in got.probabilities().iter().zip(want) {
        // Below the smallest normal number, the unit is the subnormal spacing.
        let slack = w * rational(relative).unwrap() + rational(f64::from_bits(1)).unwrap();
        let off = (rational(g).unwrap() - w).abs();
        assert!(off <= slack, "{g:e} against {:e}", w.to_f64().unwrap());
    }
}

#[test]
fn copies_of_one_factor_give_the_rational_answer() {
    let factor = d(&[0.8, 0.15, 0.05]);
    for k in [1u32, 10, 100, 200, 256, 423, 500] {
        let mut pool = LogPool::new(3);
        for _ in 0..k {
            pool.add(&factor, 1.0).unwrap();
        }
        let got = pool.distribution().unwrap().unwrap();
        let want = exact_product(std::slice::from_ref(&factor), &[k]);
        assert_close(&got, &want, pool.relative_error());
        // The stated bound is itself small: 2·(10·ln 20·K + 6)·2⁻⁵³, 61 ulp a factor.
        assert!(pool.relative_error() <= (61.0 * f64::from(k) + 12.0) * f64::EPSILON / 2.0);
        let sum: BigRational = got
            .probabilities()
            .iter()
            .map(|&p| rational(p).unwrap())
            .sum();
        let off = Field::approx(&(sum - BigRational::one()).abs());
        assert!(off <= 3.0 * f64::EPSILON);
    }
}

#[test]
fn a_million_copies_leave_one_class() {
    let factor = d(&[0.8, 0.15, 0.05]);
    let mut pool = LogPool::new(3);
    for _ in 0..1_000_000 {
        pool.add(&factor, 1.0).unwrap();
    }
    // (0.15/0.8)^10⁶ is below 10⁻⁷²⁶⁹⁹⁸: zero in any double.
    let got = pool.distribution().unwrap().unwrap();
    assert_eq!(got.probabilities(), [1.0, 0.0, 0.0]);
}

#[test]
fn contradictions_name_the_factors() {
    let certain = |y: usize| {
        let mut p = vec![0.0; 3];
        p[y] = 1.0;
        d(&p)
    };
    let open = d(&[1.0, 1.0, 1.0]);
    let contradiction = |factors: &[Distribution], weights: &[f64]| match log_pool(factors, weights)
    {
        Err(PoolError::Contradiction(c)) => c.factors,
        other => panic!("{other:?}"),
    };
    let two = [open.clone(), certain(0), open.clone(), certain(2)];
    assert_eq!(contradiction(&two, &[1.0; 4]), [1, 3]);
    // A weight of zero means absent.
    assert!(log_pool(&two, &[1.0, 0.0, 1.0, 1.0]).is_ok());
    // Pairwise compatible, jointly impossible.
    let three = [
        d(&[1.0, 1.0, 0.0]),
        d(&[0.0, 1.0, 1.0]),
        d(&[1.0, 0.0, 1.0]),
    ];
    assert_eq!(contradiction(&three, &[0.5; 3]), [0, 1, 2]);
    // The prior takes part.
    let prior = d(&[1.0, 0.0, 1.0]);
    match prior_corrected(&prior, &[certain(1)], &[1.0]) {
        Err(PoolError::Contradiction(c)) => {
            assert_eq!((c.factors, c.with_prior), (vec![0], true));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn weights_at_the_edges() {
    let p = d(&[0.5, 0.3, 0.2]);
    let uniform = Distribution::uniform(3).unwrap();
    assert_eq!(
        log_pool(std::slice::from_ref(&p), &[0.0]),
        Ok(uniform.clone())
    );
    assert_eq!(temper(&p, 0.0), Ok(uniform));
    for bad in [-1.0, f64::NAN, f64::INFINITY, f64::MAX] {
        assert!(matches!(
            temper(&p, bad),
            Err(PoolError::Weight { index: 0, .. })
        ));
    }
    assert_eq!(temper(&p, 1e300).unwrap().probabilities(), [1.0, 0.0, 0.0]);
    assert_eq!(log_pool(&[], &[]), Err(PoolError::NoFactors));
    assert_eq!(
        log_pool(&vec![p.clone(); 800], &[f64::MAX / 746.0; 800]),
        Err(PoolError::Overflow)
    );
}

#[test]
fn prior_corrected_without_evidence_is_the_prior() {
    let prior = d(&[0.5, 0.3, 0.2]);
    let got = prior_corrected(&prior, &[], &[]).unwrap();
    for (g, p) in got.probabilities().iter().zip(prior.probabilities()) {
        assert!((g - p).abs() <= 4.0 * f64::EPSILON * p);
    }
}

fn factors() -> impl Strategy<Value = (Vec<Distribution>, Vec<u32>)> {
    (1usize..6, 1usize..8).prop_flat_map(|(n, k)| {
        let factor = prop::collection::vec(1e-9f64..1.0, n).prop_map(|p| d(&p));
        (
            prop::collection::vec(factor, k),
            prop::collection::vec(0u32..9, k),
        )
    })
}

proptest! {
    #[test]
    fn whole_weights_agree_with_exact_rationals((factors, exponents) in factors()) {
        let weights: Vec<f64> = exponents.iter().map(|&e| f64::from(e)).collect();
        let mut pool = LogPool::new(factors[0].classes());
        for (f, &w) in factors.iter().zip(&weights) {
            pool.add(f, w).unwrap();
        }
        let want = exact_product(&factors, &exponents);
        assert_close(&pool.distribution().unwrap().unwrap(), &want, pool.relative_error());
    }

    #[test]
    fn order_and_grouping_change_no_bit((factors, exponents) in factors(), cut in 0usize..8) {
        let weights: Vec<f64> = exponents.iter().map(|&e| f64::from(e) * 0.37).collect();
        let flat = log_pool(&factors, &weights).unwrap();
        let reversed: Vec<_> = factors.iter().rev().cloned().collect();
        let reversed_weights: Vec<_> = weights.iter().rev().copied().collect();
        prop_assert_eq!(&log_pool(&reversed, &reversed_weights).unwrap(), &flat);
        let cut = cut.min(factors.len());
        let group = |range: std::ops::Range<usize>| {
            let mut pool = LogPool::new(flat.classes());
            for i in range {
                pool.add(&factors[i], weights[i]).unwrap();
            }
            pool
        };
        let mut grouped = group(cut..factors.len());
        grouped.merge(&group(0..cut)).unwrap();
        prop_assert_eq!(grouped.distribution().unwrap().unwrap(), flat);
    }
}
