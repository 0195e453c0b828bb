//! Lemma 3: weighted sums and normalized products of distributions are distributions.
//!
//! The identities are proved of the generic code over wrapping integers. Both sides are
//! polynomials with integer coefficients; a polynomial identity over the integers modulo 2⁸ in
//! which all degrees are below 8 and all coefficients below 2⁸ is one coefficient by coefficient,
//! so it holds over the rationals. What rounding adds is bounded by tests of the pools.

use std::num::Wrapping;

use super::engine::{Cases, any, below, check};
use super::normalization::AWKWARD;
use crate::simplex::{
    Distribution, PoolError, SimplexError, linear_combination, linear_pool, log_pool, normalize,
    power_product,
};

type W8 = Wrapping<u8>;
const ONE: W8 = Wrapping(1);

/// If two rows and their two weights each add up to one, the weighted sum adds up to one.
///
/// Claims: L3
/// Domain: 2 rows of 2 classes and 2 weights, entries modulo 2⁸ of values in 0..16
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn weighted_sum_of_2_normalized_rows_of_2_adds_up_to_one() {
    check(Cases::All(16 * 16 * 16), || {
        let [w, a, b] = [below(16), below(16), below(16)].map(Wrapping);
        let rows = [[a, ONE - a], [b, ONE - b]];
        let mut out = [Wrapping(0); 2];
        linear_combination(&[w, ONE - w], &rows, &mut out);
        cover!(a != b && w > ONE, "a proper mixture");
        assert!(out[0] + out[1] == ONE);
    });
}

/// The same for three classes and any bytes.
///
/// Claims: L3
/// Domain: 2 rows of 3 classes and 2 weights, any entries modulo 2⁸
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(bitwuzla))]
#[cfg_attr(not(kani), test)]
fn weighted_sum_of_2_normalized_rows_of_3_adds_up_to_one() {
    check(Cases::Random(500_000), || {
        let [w, a, b, c, d]: [u8; 5] = any();
        let [w, a, b, c, d] = [w, a, b, c, d].map(Wrapping);
        let rows = [[a, b, ONE - a - b], [c, d, ONE - c - d]];
        let mut out = [Wrapping(0); 3];
        linear_combination(&[w, ONE - w], &rows, &mut out);
        assert!(out[0] + out[1] + out[2] == ONE);
    });
}

/// Each entry of a weighted sum is `Σ wᵢ·rowᵢ(y)`, written out.
///
/// Claims: L3
/// Domain: 2 rows of 2 classes and 2 weights, any entries modulo 2⁸
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(bitwuzla))]
#[cfg_attr(not(kani), test)]
fn weighted_sum_is_the_formula_class_by_class() {
    check(Cases::Random(500_000), || {
        let [v, w, a, b, c, d]: [u8; 6] = any();
        let [v, w, a, b, c, d] = [v, w, a, b, c, d].map(Wrapping);
        let mut out: [W8; 2] = [Wrapping(0); 2];
        linear_combination(&[v, w], &[[a, b], [c, d]], &mut out);
        assert!(out[0] == v * a + w * c);
        assert!(out[1] == v * b + w * d);
    });
}

/// A product with exponents 2 and 1 is `row₀(y)²·row₁(y)`; with exponents 0 it is one.
///
/// Claims: L3
/// Domain: 2 rows of 2 classes, any entries modulo 2⁸
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(bitwuzla))]
#[cfg_attr(not(kani), test)]
fn power_product_is_the_formula_class_by_class() {
    check(Cases::Random(500_000), || {
        let [a, b, c, d]: [u8; 4] = any();
        let rows = [[a, b].map(Wrapping), [c, d].map(Wrapping)];
        let [a, b, c, d] = [a, b, c, d].map(Wrapping);
        let mut out = [Wrapping(0); 2];
        power_product(&[2, 1], &rows, &mut out);
        assert!(out[0] == a * a * c && out[1] == b * b * d);
        power_product(&[0, 0], &rows, &mut out);
        assert!(out[0] == ONE && out[1] == ONE);
    });
}

/// The normalized product of two rows is a distribution unless no class is possible under both,
/// and a class is possible exactly if it is possible under both.
///
/// Claims: L3
/// Domain: 2 rows of 2 classes, entries in 0..16 of one scale, products normalized as f32
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn normalized_product_is_a_distribution_or_has_no_mass() {
    check(Cases::All(1 << 16), || {
        let [a, b, c, d] = [below(16), below(16), below(16), below(16)];
        let rows = [
            [a, b].map(|x| Wrapping(u16::from(x))),
            [c, d].map(|x| Wrapping(u16::from(x))),
        ];
        let mut product = [Wrapping(0u16); 2];
        power_product(&[1, 1], &rows, &mut product);
        let mut p = [f32::from(product[0].0), f32::from(product[1].0)];
        let possible = [a > 0 && c > 0, b > 0 && d > 0];
        let outcome = normalize(&mut p);
        cover!(possible[0] && !possible[1], "one class possible");
        cover!(outcome == Err(SimplexError::NoMass), "contradiction");
        if !possible[0] && !possible[1] {
            assert!(outcome == Err(SimplexError::NoMass));
        } else {
            assert!(outcome.is_ok());
            for y in 0..2 {
                assert!(p[y] >= 0.0 && p[y] <= 1.0);
                assert!((p[y] > 0.0) == possible[y]);
            }
        }
    });
}

/// A weighted sum of values in [0, 1] with weights in [0, 1] is not negative and at most the sum
/// of the weights.
///
/// Claims: L3
/// Domain: 2 values and 2 weights in [0, 1] in units of 1/8, as whole numbers
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn weighted_sum_stays_between_zero_and_the_total_weight() {
    check(Cases::All(9 * 9 * 9 * 9), || {
        let [v, w, a, b] = [below(9), below(9), below(9), below(9)].map(|x| Wrapping(u16::from(x)));
        let mut out = [Wrapping(0u16)];
        linear_combination(&[v, w], &[[a], [b]], &mut out);
        // Units are 1/64; nothing wraps: 2·8·8 < 2¹⁶.
        assert!(out[0] <= (v + w) * Wrapping(8));
        assert!(out[0] >= (v + w) * a.min(b) && out[0] <= (v + w) * a.max(b));
        cover!(
            out[0] == (v + w) * Wrapping(8) && v + w > Wrapping(0),
            "all mass"
        );
    });
}

fn distribution(a: usize, b: usize, c: usize) -> Option<Distribution> {
    Distribution::from_weights(vec![AWKWARD[a], AWKWARD[b], AWKWARD[c]]).ok()
}

/// `linear_pool` and `log_pool` of two distributions are distributions, or the log pool names
/// both as contradicting each other, which they do exactly if no class is possible under both.
///
/// Claims: L3
/// Domain: 2 distributions of 3 classes from 8 weights, the ends of the range among them; weights (1, 1/2)
/// Enumerated only: logarithms and exact sums
#[cfg_attr(not(kani), test)]
fn pools_of_two_distributions_are_distributions_or_a_contradiction() {
    check(Cases::All(8u64.pow(6)), || {
        // Every second of the awkward values: 0, the smallest normal, 0.1, …, half the largest.
        let draw = || 2 * usize::from(below(8));
        let first = distribution(draw(), draw(), draw());
        let second = distribution(draw(), draw(), draw());
        assume!(first.is_some() && second.is_some());
        let factors = [first.unwrap(), second.unwrap()];
        let (p, q) = (factors[0].probabilities(), factors[1].probabilities());
        let weights = [1.0, 0.5];

        let linear = linear_pool(&factors, &weights);
        assert!(linear.is_ok_and(|d| Distribution::new(d.into_vec()).is_ok()));

        let common = (0..3).any(|y| p[y] > 0.0 && q[y] > 0.0);
        let product = log_pool(&factors, &weights);
        cover!(!common, "contradiction");
        cover!(common && product.is_ok(), "a proper product");
        match product {
            Ok(d) => {
                assert!(common);
                for y in 0..3 {
                    // What one factor excludes stays excluded, to the bit.
                    let excluded = p[y] == 0.0 || q[y] == 0.0;
                    assert!(!excluded || d.probabilities()[y].to_bits() == 0);
                }
                assert!(Distribution::new(d.into_vec()).is_ok());
            }
            Err(PoolError::Contradiction(c)) => {
                assert!(!common && c.factors == [0, 1] && !c.with_prior);
            }
            Err(_) => panic!("no other error is possible"),
        }
    });
}

/// `log_pool` with whole weights is the normalized power product of its factors.
///
/// Claims: L3
/// Domain: 2 distributions of 3 classes with odds in 1..=6, weights (2, 1)
/// Enumerated only: logarithms and exact sums
#[cfg_attr(not(kani), test)]
fn log_pool_is_the_normalized_power_product() {
    check(Cases::All(6u64.pow(6)), || {
        let draw = || [1 + below(6), 1 + below(6), 1 + below(6)];
        let odds = [draw(), draw()];
        let factors = odds.map(|row| {
            Distribution::from_weights(row.map(f64::from).to_vec()).expect("odds are positive")
        });
        let mut exact = [Wrapping(0u64); 3];
        power_product(
            &[2, 1],
            &odds.map(|row| row.map(|x| Wrapping(u64::from(x)))),
            &mut exact,
        );
        let total = f64::from((exact[0] + exact[1] + exact[2]).0 as u32);
        let pooled = log_pool(&factors, &[2.0, 1.0]);
        cover!(odds[0] != odds[1], "different factors");
        assert!(pooled.is_ok_and(|d| {
            // Σ w|ln Φ| is at most 3·ln 13 < 8, so that `relative_error` is below 172 half ulps;
            // the factors' own rounding adds 3 each, thrice.
            let close = |(p, want): (&f64, f64)| (p - want).abs() <= 200.0 * f64::EPSILON * want;
            let wants = exact.map(|x| f64::from(x.0 as u32) / total);
            d.probabilities().iter().zip(wants).all(close)
        }));
    });
}
