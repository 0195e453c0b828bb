//! The product of factors in the log domain, which answers LPF-SPN: what it adds, what it excludes,
//! and that taking a factor out or merging two pools is as if it had always been so.
//!
//! Classes do not meet before the scores are exponentiated, which is what `softmax` is about: under
//! Kani there is one of them, under `cargo test` two.

use super::engine::{Cases, below, check};
use crate::math::ln;
use crate::simplex::{Distribution, LogPool};

/// How many classes there are.
const CLASSES: usize = if cfg!(kani) { 1 } else { 2 };

/// A factor that excludes the first class or the second, or one of three others; under Kani the first
/// three of them, among which its one class is excluded or possible all the same.
fn factor() -> (f64, Option<Distribution>) {
    const FIRST: [f64; 5] = [0.0, 0.5, 0.25, 1.0, 0.875];
    let p = FIRST[usize::from(below(if cfg!(kani) { 3 } else { 5 }))];
    let values = if CLASSES == 1 {
        vec![p]
    } else {
        vec![p, 1.0 - p]
    };
    (p, Distribution::new(values).ok())
}

fn weight() -> f64 {
    const WEIGHTS: [f64; 3] = [0.0, 1.0, 2.0];
    WEIGHTS[usize::from(below(3))]
}

/// The term that a factor adds, or `None` where it excludes the class.
fn term(p: f64, w: f64) -> Option<f64> {
    if w == 0.0 {
        Some(0.0)
    } else {
        (p > 0.0).then(|| w * ln(p))
    }
}

/// The log-score of two terms, rounded once: what the hardware's addition does.
fn score(terms: [Option<f64>; 2]) -> f64 {
    match terms {
        [Some(a), Some(b)] => a + b,
        _ => f64::NEG_INFINITY,
    }
}

/// The log-score of each class is the sum of `w·ln Φ(y)`, rounded once, and −∞ where a factor with
/// a positive weight excludes the class; a weight of zero means absent.
///
/// Claims: L3, T1
/// Domain: 2 of 5 factors over 2 classes, 2 of which exclude one, weights 0, 1, 2; under Kani 3 of the factors and one of the classes, ln and exact sums by contract
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(
    kani,
    kani::stub(crate::math::elementary::ln, super::contracts::whole_logarithm)
)]
#[cfg_attr(
    kani,
    kani::stub(
        crate::simplex::distribution::validate,
        super::contracts::accept_anything
    )
)]
#[cfg_attr(
    kani,
    kani::stub(crate::math::BandedSum::add_all, super::contracts::add_whole)
)]
#[cfg_attr(
    kani,
    kani::stub(crate::math::BandedSum::to_f64, super::contracts::whole_sum)
)]
#[cfg_attr(
    kani,
    kani::stub(crate::math::BandedSum::merge, super::contracts::merge_whole)
)]
#[cfg_attr(not(kani), test)]
fn log_scores_are_sums_of_weighted_logarithms() {
    check(Cases::All(15 * 15), || {
        let ((p, first), v) = (factor(), weight());
        let ((q, second), w) = (factor(), weight());
        let (Some(first), Some(second)) = (first, second) else {
            panic!("these are distributions");
        };
        let mut pool = LogPool::new(CLASSES);
        assert!(pool.add(&first, v).is_ok() && pool.add(&second, w).is_ok());
        let scores = pool.scores();
        assert!(scores.len() == CLASSES && pool.count() == 2);
        assert!(scores[0] == score([term(p, v), term(q, w)]));
        assert!(CLASSES == 1 || scores[1] == score([term(1.0 - p, v), term(1.0 - q, w)]));
        cover!(scores[0] == f64::NEG_INFINITY, "an excluded class");
        cover!(
            scores[0] < 0.0 && scores[0] > f64::NEG_INFINITY,
            "a possible class"
        );
        cover!(p == 0.0 && v == 0.0, "an absent factor that would exclude");
    });
}

/// Two pools merged are the pool of both factors, score by score, in either order.
///
/// Claims: L3, T1
/// Domain: 2 of 5 factors over 2 classes, 2 of which exclude one, weights 0, 1, 2; under Kani 3 of the factors and one of the classes, ln and exact sums by contract
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(
    kani,
    kani::stub(crate::math::elementary::ln, super::contracts::whole_logarithm)
)]
#[cfg_attr(
    kani,
    kani::stub(
        crate::simplex::distribution::validate,
        super::contracts::accept_anything
    )
)]
#[cfg_attr(
    kani,
    kani::stub(crate::math::BandedSum::add_all, super::contracts::add_whole)
)]
#[cfg_attr(
    kani,
    kani::stub(crate::math::BandedSum::to_f64, super::contracts::whole_sum)
)]
#[cfg_attr(
    kani,
    kani::stub(crate::math::BandedSum::merge, super::contracts::merge_whole)
)]
#[cfg_attr(not(kani), test)]
fn merged_log_pools_are_the_pool_of_both() {
    check(Cases::All(15 * 15), || {
        let ((p, first), v) = (factor(), weight());
        let ((q, second), w) = (factor(), weight());
        let (Some(first), Some(second)) = (first, second) else {
            panic!("these are distributions");
        };
        let mut one = LogPool::new(CLASSES);
        let mut other = LogPool::new(CLASSES);
        assert!(one.add(&first, v).is_ok() && other.add(&second, w).is_ok());
        assert!(other.merge(&one).is_ok());
        let scores = other.scores();
        assert!(other.count() == 2);
        assert!(scores[0] == score([term(q, w), term(p, v)]));
        assert!(CLASSES == 1 || scores[1] == score([term(1.0 - q, w), term(1.0 - p, v)]));
        cover!(
            scores[0] < 0.0 && scores[0] > f64::NEG_INFINITY,
            "a possible class"
        );
        cover!(scores[0] == f64::NEG_INFINITY, "an excluded class");
    });
}

/// Leaving out a factor that was added gives, to the bit, what the other factor gives alone; a
/// class that only the left-out factor excluded is possible again.
///
/// Claims: L3, T1, T5
/// Domain: 2 of 5 factors over 2 classes, 2 of which exclude one, weights 0, 1, 2; under Kani 3 of the factors and one of the classes, ln and exact sums by contract
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(
    kani,
    kani::stub(crate::math::elementary::ln, super::contracts::whole_logarithm)
)]
#[cfg_attr(
    kani,
    kani::stub(
        crate::simplex::distribution::validate,
        super::contracts::accept_anything
    )
)]
#[cfg_attr(
    kani,
    kani::stub(crate::math::BandedSum::add_all, super::contracts::add_whole)
)]
#[cfg_attr(
    kani,
    kani::stub(crate::math::BandedSum::to_f64, super::contracts::whole_sum)
)]
#[cfg_attr(
    kani,
    kani::stub(crate::math::BandedSum::merge, super::contracts::merge_whole)
)]
#[cfg_attr(
    kani,
    kani::stub(crate::simplex::normalize::softmax, super::contracts::leave_scores)
)]
#[cfg_attr(not(kani), test)]
fn leaving_a_factor_out_is_never_having_added_it() {
    check(Cases::All(15 * 15), || {
        let ((p, first), v) = (factor(), weight());
        let ((q, second), w) = (factor(), weight());
        let (Some(first), Some(second)) = (first, second) else {
            panic!("these are distributions");
        };
        let mut both = LogPool::new(CLASSES);
        assert!(both.add(&first, v).is_ok() && both.add(&second, w).is_ok());
        let mut alone = LogPool::new(CLASSES);
        assert!(alone.add(&first, v).is_ok());
        let (Ok(without), Ok(alone)) =
            (both.distribution_without(&second, w), alone.distribution())
        else {
            panic!("a factor that was added can be left out");
        };
        cover!(q == 0.0 && w > 0.0 && p > 0.0 && v > 0.0, "possible again");
        match (without, alone) {
            (Some(a), Some(b)) => {
                let (a, b) = (a.probabilities(), b.probabilities());
                let same = |y: usize| a[y].to_bits() == b[y].to_bits();
                assert!(same(0) && (CLASSES == 1 || same(1)));
            }
            (a, b) => assert!(a.is_none() && b.is_none()),
        }
    });
}
