//! What the step from small whole numbers to all rationals needs (see `closure`): the values of the
//! code stay below 2¹⁵ on the numbers that a proof uses, so that nothing is lost modulo 2¹⁶, and the
//! degree in each variable is what the proof says. Both are checked here in 64 bits.

use std::num::Wrapping;

use super::engine::{Cases, below, check};
use crate::simplex::{linear_combination, power_product};
use crate::spn::{Graph, NodeKind, upward};
use crate::uncertainty::decomposition_scaled;

type W64 = Wrapping<u64>;
const ONE: W64 = Wrapping(1);

/// On any point of `{0, …, n − 1}^N`: no value is 2¹⁵ or more in absolute value, and along each
/// variable the difference of order `degree + 1` vanishes, as it does for a polynomial of at most
/// that degree.
fn is_small_and_of_degree<const N: usize, const M: usize>(
    n: u8,
    degree: usize,
    f: impl Fn([W64; N]) -> [W64; M],
) {
    let point: [W64; N] = std::array::from_fn(|_| Wrapping(below(n).into()));
    for value in f(point) {
        assert!((value.0 as i64).abs() < 1 << 15);
    }
    cover!(point[0] != point[N - 1], "different numbers");
    // (−1)ᵏ times the binomial coefficients of 2 or of 3.
    let signs: &[i64] = if degree == 1 {
        &[1, -2, 1]
    } else {
        &[1, -3, 3, -1]
    };
    assert!(signs.len() == degree + 2);
    for i in 0..N {
        let mut difference = [Wrapping(0); M];
        for (k, &sign) in signs.iter().enumerate() {
            let mut moved = point;
            moved[i] = Wrapping(k as u64);
            for (sum, value) in difference.iter_mut().zip(f(moved)) {
                *sum += Wrapping(sign as u64) * value;
            }
        }
        assert!(difference == [Wrapping(0); M]);
    }
}

/// Weighted sums of rows are of degree 1 and stay within 16 bits on the numbers of their proof.
///
/// Claims: L3
/// Domain: 2 rows of 2 classes and 2 weights, whole numbers in 0..8
/// Enumerated only: it is about the numbers that a proof uses
#[cfg_attr(not(kani), test)]
fn weighted_sums_are_small_and_of_degree_1() {
    check(Cases::All(8u64.pow(6)), || {
        is_small_and_of_degree(8, 1, |[v, w, a, b, c, d]| {
            let mut out = [Wrapping(0); 2];
            linear_combination(&[v, w], &[[a, b], [c, d]], &mut out);
            out
        });
    });
}

/// The total of a weighted sum of normalized rows is of degree 1 and stays within 16 bits on the
/// numbers of its proof.
///
/// Claims: L3
/// Domain: 2 rows of 3 classes and 2 weights that add up to one each, from whole numbers in 0..8
/// Enumerated only: it is about the numbers that a proof uses
#[cfg_attr(not(kani), test)]
fn totals_of_weighted_sums_are_small_and_of_degree_1() {
    check(Cases::All(8u64.pow(5)), || {
        is_small_and_of_degree(8, 1, |[w, a, b, c, d]| {
            let rows = [[a, b, ONE - a - b], [c, d, ONE - c - d]];
            let mut out = [Wrapping(0); 3];
            linear_combination(&[w, ONE - w], &rows, &mut out);
            out
        });
    });
}

/// Products of rows with exponents 2 and 1 are of degree 2 and stay within 16 bits on the numbers of
/// their proof.
///
/// Claims: L3
/// Domain: 2 rows of 2 classes, whole numbers in 0..8
/// Enumerated only: it is about the numbers that a proof uses
#[cfg_attr(not(kani), test)]
fn power_products_are_small_and_of_degree_2() {
    check(Cases::All(8u64.pow(4)), || {
        is_small_and_of_degree(8, 2, |[a, b, c, d]| {
            let mut out = [Wrapping(0); 2];
            power_product(&[2, 1], &[[a, b], [c, d]], &mut out);
            out
        });
    });
}

/// The parts of a decomposition are of degree 2 and stay within 16 bits on the numbers of their
/// proofs.
///
/// Claims: T7
/// Domain: 2 samples of 3 classes and 3 samples of 2 classes, whole numbers in 0..3
/// Enumerated only: it is about the numbers that a proof uses
#[cfg_attr(not(kani), test)]
fn parts_of_a_decomposition_are_small_and_of_degree_2() {
    check(Cases::All(3u64.pow(6)), || {
        is_small_and_of_degree(3, 2, |rows: [W64; 6]| {
            let of = |classes| decomposition_scaled(&rows, classes).unwrap();
            let (a, b) = (of(3), of(2));
            [
                a.total,
                a.epistemic,
                a.aleatoric,
                b.total,
                b.epistemic,
                b.aleatoric,
            ]
        });
    });
}

/// The value of a mixture of two products is of degree 1 and stays within 16 bits on the numbers of
/// its proof; sums and products alone are parts of it.
///
/// Claims: A4
/// Domain: 4 leaf values and 2 weights in 0..4
/// Enumerated only: it is about the numbers that a proof uses
#[cfg_attr(not(kani), test)]
fn values_of_a_mixture_are_small_and_of_degree_1() {
    const LEAF: NodeKind = NodeKind::Leaf { variable: 0 };
    let graph = Graph {
        kinds: &[
            LEAF,
            LEAF,
            LEAF,
            LEAF,
            NodeKind::Product,
            NodeKind::Product,
            NodeKind::Sum,
        ],
        offsets: &[0, 0, 0, 0, 0, 2, 4, 6],
        children: &[0, 1, 2, 3, 4, 5],
    };
    check(Cases::All(4u64.pow(6)), || {
        is_small_and_of_degree(4, 1, |[v, w, a, b, c, d]| {
            let mut values = [a, b, c, d, ONE, ONE, ONE];
            upward(graph, &[ONE, ONE, ONE, ONE, v, w], &mut values);
            [values[4], values[5], values[6]]
        });
    });
}
