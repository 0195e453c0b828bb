//! Assumption A4: one pass from the leaves to the root is the sum over all states.
//!
//! By induction over the nodes it is enough to prove the step at a leaf, at a product of children
//! over different variables, and at a sum of children over the same ones. The steps are polynomial
//! identities of the generic code, of degree 1 in each variable, proved over wrapping integers on
//! small whole numbers; see `closure` for why they transfer. Whole networks are checked on every
//! valid graph of up to 5 nodes.

use std::num::Wrapping;

use super::closure::small;
use super::engine::{Cases, check};
use super::spn_validity::Shape;
use crate::spn::{Graph, Known, NodeKind, leaf_value, upward};

type W16 = Wrapping<u16>;
type W64 = Wrapping<u64>;
const ZERO: W16 = Wrapping(0);
const ONE: W16 = Wrapping(1);

const LEAF_0: NodeKind = NodeKind::Leaf { variable: 0 };
const LEAF_1: NodeKind = NodeKind::Leaf { variable: 1 };

/// A leaf without evidence is the sum of its values over all states, and evidence of one state is
/// the likelihood that is one there and zero elsewhere.
///
/// Claims: A4
/// Domain: a leaf with 2 states, values and likelihoods in 0..16; so for all rationals
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn leaf_step_is_the_sum_over_its_states() {
    check(Cases::All(1 << 16), || {
        let values = [small(16), small(16)];
        let likelihoods = [small(16), small(16)];
        let at = |state| leaf_value(&values, Known::State(state));
        assert!(leaf_value(&values, Known::Nothing) == at(0) + at(1));
        assert!(at(0) == leaf_value(&values, Known::Likelihood(&[ONE, ZERO])));
        let weighted = leaf_value(&values, Known::Likelihood(&likelihoods));
        assert!(weighted == at(0) * likelihoods[0] + at(1) * likelihoods[1]);
        // A state that does not exist is impossible.
        assert!(at(2) == ZERO);
        cover!(at(0) != at(1) && weighted.0 > 0, "different states");
    });
}

/// The value of the last node, given the values of the leaves and one weight an edge.
fn root<const N: usize>(graph: Graph<'_>, weights: &[W16], leaves: [W16; N], nodes: usize) -> W16 {
    let mut values = [ZERO; 8];
    values[..N].copy_from_slice(&leaves);
    upward(graph, weights, &mut values[..nodes]);
    values[nodes - 1]
}

/// A product of children over different variables, summed over all states of both, is the product
/// of the children summed over their own.
///
/// Claims: A4, L3
/// Domain: 2 leaves with 2 states each, values in 0..16; so for all rationals
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn product_step_commutes_with_summing_out() {
    check(Cases::All(1 << 16), || {
        let graph = Graph {
            kinds: &[LEAF_0, LEAF_1, NodeKind::Product],
            offsets: &[0, 0, 0, 2],
            children: &[0, 1],
        };
        let (f, g) = ([small(16), small(16)], [small(16), small(16)]);
        let at = |x: usize, y: usize| root(graph, &[ONE; 2], [f[x], g[y]], 3);
        let states = at(0, 0) + at(0, 1) + at(1, 0) + at(1, 1);
        let summed = [f[0] + f[1], g[0] + g[1]];
        assert!(root(graph, &[ONE; 2], summed, 3) == states);
        assert!(at(0, 1) == f[0] * g[1]);
        cover!(at(0, 0) != at(0, 1), "different states");
    });
}

/// A weighted sum of children over the same variable, summed over its states, is the weighted sum
/// of the children summed over them.
///
/// Claims: A4, L3
/// Domain: 2 leaves with 2 states, 2 weights, numbers in 0..8; so for all rationals
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn sum_step_commutes_with_summing_out() {
    check(Cases::All(8u64.pow(6)), || {
        let graph = Graph {
            kinds: &[LEAF_0, LEAF_0, NodeKind::Sum],
            offsets: &[0, 0, 0, 2],
            children: &[0, 1],
        };
        let (v, w) = (small(8), small(8));
        let (a, b, c, d) = (small(8), small(8), small(8), small(8));
        let at = |leaves: [W16; 2]| root(graph, &[v, w], leaves, 3);
        assert!(at([a + b, c + d]) == at([a, c]) + at([b, d]));
        assert!(at([a, c]) == v * a + w * c);
        cover!(v != w && a != c, "different children");
    });
}

/// With normalized leaves and weights a mixture of two products is normalized: Z = 1.
///
/// Claims: A4, L3
/// Domain: a mixture of 2 products of 2 leaves with 2 states, numbers in 0..4; so for all rationals
#[cfg_attr(kani, kani::proof, kani::unwind(9), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn normalized_weights_and_leaves_give_z_of_one() {
    check(Cases::All(4u64.pow(5)), || {
        let leaf = |p: W16| leaf_value(&[p, ONE - p], Known::Nothing);
        let p = [small(4), small(4), small(4), small(4)];
        let w = small(4);
        cover!(p[0] != p[2] && w > ONE, "different components");
        // One weight an edge; those of products do not count.
        let weights = [ZERO, ZERO, ZERO, ZERO, w, ONE - w];
        assert!(root(MIXTURE, &weights, p.map(leaf), 7) == ONE);
    });
}

/// A mixture of two products, the shape of an LPF-SPN with two components.
const MIXTURE: Graph<'static> = Graph {
    kinds: &[
        LEAF_0,
        LEAF_1,
        LEAF_0,
        LEAF_1,
        NodeKind::Product,
        NodeKind::Product,
        NodeKind::Sum,
    ],
    offsets: &[0, 0, 0, 0, 0, 2, 4, 6],
    children: &[0, 1, 2, 3, 4, 5],
};

/// The mixture's value is `w·f₀·g₀ + v·f₁·g₁`, written out.
///
/// Claims: A4, L3
/// Domain: 4 leaf values and 2 weights in 0..4; so for all rationals
#[cfg_attr(kani, kani::proof, kani::unwind(9), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn mixture_of_products_is_the_formula() {
    check(Cases::All(4u64.pow(6)), || {
        let (a, b, c, d) = (small(4), small(4), small(4), small(4));
        let (v, w) = (small(4), small(4));
        cover!(v != w && a != c, "different components");
        let weights = [ZERO, ZERO, ZERO, ZERO, v, w];
        assert!(root(MIXTURE, &weights, [a, b, c, d], 7) == v * (a * b) + w * (c * d));
    });
}

/// On every valid graph one pass without evidence is the sum over all states of one pass with
/// that state, and with one variable known the sum over the states of the others.
///
/// Claims: A4, L3
/// Domain: every graph of 5 nodes over 3 binary variables; one fixed odd number a weight and a leaf value, modulo 2⁶⁴
/// Enumerated only: whole networks are out of a solver's reach
#[cfg_attr(not(kani), test)]
fn one_pass_is_the_sum_over_all_states_for_every_graph_of_5_nodes() {
    check(Cases::All(Shape::<5>::count()), || {
        let shape = Shape::<5>::any();
        assume!(shape.is_valid());
        let (mut offsets, mut children) = ([0; 6], [0; 10]);
        shape.rows(&mut offsets, &mut children);
        let graph = Graph {
            kinds: &shape.kinds,
            offsets: &offsets,
            children: &children[..offsets[5] as usize],
        };
        // Distinct odd multipliers, so that no two terms can be mistaken for each other.
        let number = |i: usize| Wrapping(0x9e37_79b9_7f4a_7c15) * Wrapping(2 * i as u64 + 1);
        let weights: [W64; 10] = std::array::from_fn(|i| number(i + 10));
        let evaluate = |known: [Option<usize>; 3]| {
            let mut values = [Wrapping(0u64); 5];
            for (i, value) in values.iter_mut().enumerate() {
                if let NodeKind::Leaf { variable } = shape.kinds[i] {
                    let entries = [number(20 + 2 * i), number(21 + 2 * i)];
                    *value = match known[variable as usize] {
                        Some(state) => leaf_value(&entries, Known::State(state)),
                        None => leaf_value(&entries, Known::Nothing),
                    };
                }
            }
            upward(graph, &weights, &mut values);
            values[4]
        };
        let scope = shape.scopes()[4];
        // Variables outside the root's scope have one state only, as it were.
        let states = |v: usize| if scope >> v & 1 == 1 { 2 } else { 1 };
        for first in [None, Some(0), Some(1)] {
            let mut total = Wrapping(0u64);
            for x in 0..if first.is_some() { 1 } else { states(0) } {
                for y in 0..states(1) {
                    for z in 0..states(2) {
                        total += evaluate([first.or(Some(x)), Some(y), Some(z)]);
                    }
                }
            }
            assert!(evaluate([first, None, None]) == total);
        }
        cover!(scope == 7, "all three variables");
        cover!(
            shape.kinds[4] == NodeKind::Sum && scope.count_ones() == 2,
            "a mixture"
        );
    });
}
