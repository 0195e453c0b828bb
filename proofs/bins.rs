//! Calibration bins: every confidence lies in exactly one, on the stated side of its edges, and
//! what the bins collect can be merged in any order.

use super::engine::{Cases, any, below, check};
use crate::audit::grid::Totals;
use crate::calibration::{BinTotals, MAX_BINS, Reliability, bin_edge, bin_index};

/// The edges `i/N` of `N` bins, and 1 as the last; constants, so that no solver has to divide.
const fn edges<const N: usize>() -> [f64; N] {
    let mut edges = [1.0; N];
    let mut i = 0;
    while i < N {
        edges[i] = i as f64 / (N - 1) as f64;
        i += 1;
    }
    edges
}
const EDGES_OF_10: [f64; 11] = edges();
const EDGES_OF_15: [f64; 16] = edges();

/// Any confidence and any bin count give one bin below the count, or none exactly if the
/// confidence is outside [0, 1] or the count outside 1..=1024; nothing panics.
///
/// Claims: T1, T4
/// Domain: any bits of 1 f64, any usize
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn any_confidence_lies_in_one_bin_below_the_count() {
    check(Cases::Random(500_000), || {
        let c: f64 = any();
        // Small numbers as well as any: random ones alone would all be too large.
        let bins: usize = if any() { usize::from(below(65)) } else { any() };
        let index = bin_index(c, bins);
        cover!(index == Some(63), "bin 63");
        cover!(
            index.is_none() && c == 0.5,
            "a number of bins that is refused"
        );
        let answerable = (0.0..=1.0).contains(&c) && (1..=MAX_BINS).contains(&bins);
        match index {
            Some(i) => assert!(i < bins && answerable),
            None => assert!(!answerable),
        }
    });
}

fn lies_between_its_edges<const N: usize>(edges: &[f64; N]) {
    // Any double; a random one alone would never be an edge.
    let c: f64 = if any() {
        any()
    } else {
        edges[usize::from(below(N as u8))]
    };
    assume!((0.0..=1.0).contains(&c));
    let i = bin_index(c, N - 1);
    cover!(c == edges[3], "on an edge");
    cover!(c > edges[3] && c < edges[4], "inside");
    cover!(c == 0.0, "zero");
    assert!(i.is_some_and(|i| {
        i + 1 < N && c <= edges[i + 1] && (edges[i] < c || i == 0 && c == 0.0)
    }));
}

/// A confidence lies above the lower and not above the upper edge of its bin; zero lies in the
/// first.
///
/// Claims: T1, T4
/// Domain: any f64 in [0, 1], 10 bins
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn a_confidence_lies_between_the_edges_of_its_bin_of_10() {
    check(Cases::Random(500_000), || {
        lies_between_its_edges(&EDGES_OF_10)
    });
}

/// As for ten bins.
///
/// Claims: T1, T4
/// Domain: any f64 in [0, 1], 15 bins
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn a_confidence_lies_between_the_edges_of_its_bin_of_15() {
    check(Cases::Random(500_000), || {
        lies_between_its_edges(&EDGES_OF_15)
    });
}

/// Each edge belongs to the bin below it and its successor to the bin above.
///
/// Claims: T1, T4
/// Domain: every edge but the first of 1 to 128 bins
/// Enumerated only: a symbolic division
#[cfg_attr(not(kani), test)]
fn every_edge_belongs_to_the_bin_below() {
    check(Cases::All(128 * 129 / 2), || {
        let bins = 1 + usize::from(below(128));
        let i = 1 + usize::from(below(bins as u8));
        let edge = bin_edge(i, bins).unwrap();
        cover!(i < bins, "an inner edge");
        assert!(bin_index(edge, bins) == Some(i - 1));
        let above = (i < bins).then_some(i);
        assert!(bin_index(edge.next_up(), bins) == above);
    });
}

/// A larger confidence never lies in a lower bin.
///
/// Claims: T1, T4
/// Domain: any 2 f64 in [0, 1], 15 bins
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn bins_grow_with_the_confidence() {
    check(Cases::Random(500_000), || {
        let [a, b]: [f64; 2] = any();
        assume!(a >= 0.0 && a <= b && b <= 1.0);
        cover!(a < b, "different");
        assert!(bin_index(a, 15) <= bin_index(b, 15));
    });
}

/// Counts as small as 0 and as large as the type allows, so that sums overflow and do not.
fn any_totals() -> BinTotals {
    let mut totals = BinTotals::default();
    let count = u64::from(below(4));
    totals.count = if any() { u64::MAX - count } else { count };
    totals.correct = u64::from(below(4));
    totals
}

/// Totals of bins merge commutatively and associatively, overflow included.
///
/// Claims: T1, T4
/// Domain: 3 totals with counts in 0..4 or within 4 of the largest, 0..4 correct
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn bin_totals_merge_in_any_order() {
    check(Cases::All(32 * 32 * 32), || {
        let [a, b, c] = [any_totals(), any_totals(), any_totals()];
        assert!(a.merged(b) == b.merged(a));
        let left = a.merged(b).and_then(|ab| ab.merged(c));
        let right = b.merged(c).and_then(|bc| a.merged(bc));
        cover!(left.is_none(), "overflow");
        cover!(left.is_some_and(|t| t.count > 4), "no overflow");
        assert!(left == right);
        assert!(left.is_none_or(|t| t.correct == a.correct + b.correct + c.correct));
    });
}

/// A cell of the audit's grid as predictions leave it: no more correct than there are, and each
/// confidence one half or one.
fn any_cell() -> Totals {
    let few = u64::from(below(4));
    let count = if any() { u64::MAX - few } else { few };
    let correct = u64::from(below(4)).min(count);
    let ones = u64::from(below(4)).min(count);
    Totals {
        count,
        correct,
        // In units of 2⁻⁶².
        confidence: (u128::from(count) + u128::from(ones)) << 61,
    }
}

/// Cells of the audit's grid merge commutatively and associatively: nothing but the count can
/// overflow, which is told, and what a cell keeps to, the merged one does.
///
/// Claims: T1, T4
/// Domain: 3 cells with counts in 0..4 or within 4 of the largest, up to 3 correct, confidences of 1/2 and up to 3 of 1
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn cells_of_the_grid_merge_in_any_order() {
    check(Cases::All(128 * 128 * 128), || {
        let [a, b, c] = [any_cell(), any_cell(), any_cell()];
        let left = a.merged(b).and_then(|ab| ab.merged(c));
        let right = b.merged(c).and_then(|bc| a.merged(bc));
        assert!(a.merged(b) == b.merged(a) && left == right);
        let counts = u128::from(a.count) + u128::from(b.count) + u128::from(c.count);
        cover!(left.is_none(), "overflow");
        cover!(left.is_some_and(|t| t.correct > 0), "no overflow");
        match left {
            Some(t) => {
                assert!(u128::from(t.count) == counts);
                assert!(t.correct == a.correct + b.correct + c.correct && t.correct <= t.count);
                assert!(t.confidence == a.confidence + b.confidence + c.confidence);
            }
            None => assert!(counts > u128::from(u64::MAX)),
        }
    });
}

/// Reliability bins are the same however the predictions are ordered and split into shards.
///
/// Claims: T1, T4
/// Domain: 3 predictions of 12 confidences, correct or not
/// Enumerated only: vectors and exact sums
#[cfg_attr(not(kani), test)]
fn reliability_merges_in_any_order() {
    const CONFIDENCES: [f64; 12] = [
        0.0,
        5e-324,
        1e-300,
        1e-4,
        1.0 / 1024.0,
        0.1,
        0.2,
        0.3,
        1.0 / 3.0,
        0.7,
        1.0 - f64::EPSILON / 2.0,
        1.0,
    ];
    check(Cases::All(24 * 24 * 24), || {
        let draw = || (CONFIDENCES[usize::from(below(12))], any::<bool>());
        let items = [draw(), draw(), draw()];
        let collect = |items: &[(f64, bool)]| {
            let mut r = Reliability::new(10).unwrap();
            for &(confidence, correct) in items {
                r.add(confidence, correct).unwrap();
            }
            r
        };
        let whole = collect(&items);
        cover!(
            items[0].0 < items[1].0 && items[1].0 < items[2].0,
            "ascending"
        );
        let [a, b, c] = items;
        assert!(collect(&[c, a, b]) == whole);
        let mut merged = collect(&[c, a]);
        assert!(merged.merge(&collect(&[b])).is_ok());
        assert!(merged == whole);
        assert!(merged.ece().unwrap().to_bits() == whole.ece().unwrap().to_bits());
    });
}
