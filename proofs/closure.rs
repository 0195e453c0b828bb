//! Lemma 3: weighted sums and products of distributions.
//!
//! The identities are proved of the generic code over wrapping integers, on small whole numbers.
//! They transfer to all rationals: both sides are polynomials with integer coefficients, and on the
//! numbers in question both stay below 2¹⁵ in absolute value, so that equality modulo 2¹⁶ is
//! equality. A polynomial of degree at most d in each of its variables that vanishes wherever these
//! take the values 0, 1, …, d is zero, coefficient by coefficient. Each harness states its degree
//! and its largest value. What rounding adds is bounded by tests of the pools.

use std::num::Wrapping;

use super::engine::{Cases, below, check};
use super::normalization::AWKWARD;
use crate::simplex::{
    Distribution, PoolError, linear_combination, linear_pool, log_pool, power_product,
};

type W16 = Wrapping<u16>;
const ONE: W16 = Wrapping(1);

/// Any whole number below `n`.
pub(super) fn small(n: u8) -> W16 {
    Wrapping(below(n).into())
}

/// If two rows and their two weights each add up to one, the weighted sum adds up to one.
///
/// Degree 1 in each of five variables; on 0..8 no value exceeds 8·16·2·3.
///
/// Claims: L3
/// Domain: 2 rows of 3 classes and 2 weights, from whole numbers in 0..8; so for all rationals
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn weighted_sum_of_2_normalized_rows_of_3_adds_up_to_one() {
    check(Cases::All(8u64.pow(5)), || {
        let (w, a, b, c, d) = (small(8), small(8), small(8), small(8), small(8));
        let rows = [[a, b, ONE - a - b], [c, d, ONE - c - d]];
        let mut out = [Wrapping(0); 3];
        linear_combination(&[w, ONE - w], &rows, &mut out);
        cover!(a != c && w > ONE, "different rows");
        assert!(out[0] + out[1] + out[2] == ONE);
    });
}

/// Each entry of a weighted sum is `Σ wᵢ·rowᵢ(y)`, written out.
///
/// Degree 1 in each of six variables; on 0..8 no value exceeds 2·49.
///
/// Claims: L3
/// Domain: 2 rows of 2 classes and 2 weights, whole numbers in 0..8; so for all rationals
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn weighted_sum_is_the_formula_class_by_class() {
    check(Cases::All(8u64.pow(6)), || {
        let (v, w) = (small(8), small(8));
        let rows = [[small(8), small(8)], [small(8), small(8)]];
        let mut out = [Wrapping(0); 2];
        linear_combination(&[v, w], &rows, &mut out);
        cover!(out[0] != out[1], "different classes");
        assert!(out[0] == v * rows[0][0] + w * rows[1][0]);
        assert!(out[1] == v * rows[0][1] + w * rows[1][1]);
    });
}

/// A product with exponents 2 and 1 is `row₀(y)²·row₁(y)`; with exponents 0 it is one.
///
/// Degree at most 2 in each of four variables; on 0..8 no value exceeds 7³.
///
/// Claims: L3
/// Domain: 2 rows of 2 classes, whole numbers in 0..8; so for all rationals
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn power_product_is_the_formula_class_by_class() {
    check(Cases::All(8u64.pow(4)), || {
        let rows = [[small(8), small(8)], [small(8), small(8)]];
        let [[a, b], [c, d]] = rows;
        let mut out = [Wrapping(0); 2];
        power_product(&[2, 1], &rows, &mut out);
        cover!(out[0] != out[1], "different classes");
        assert!(out[0] == a * a * c && out[1] == b * b * d);
        power_product(&[0, 0], &rows, &mut out);
        assert!(out[0] == ONE && out[1] == ONE);
    });
}

/// A weighted sum of two values lies between the smaller and the larger of them, times the sum of
/// the weights.
///
/// Claims: L3
/// Domain: 2 values and 2 weights, whole numbers in 0..9
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn weighted_sum_lies_between_its_smallest_and_largest_value() {
    check(Cases::All(9 * 9 * 9 * 9), || {
        let (v, w, a, b) = (small(9), small(9), small(9), small(9));
        let mut out = [Wrapping(0u16)];
        linear_combination(&[v, w], &[[a], [b]], &mut out);
        // Nothing wraps: 2·8·8 < 2¹⁶.
        assert!(out[0] >= (v + w) * a.min(b) && out[0] <= (v + w) * a.max(b));
        cover!(a < b && v.0 > 0 && w.0 > 0, "strictly between");
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
