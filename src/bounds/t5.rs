//! Theorem 5 of the paper, and factors for which it fails.
//!
//! # Claim
//! If `⌊εK⌋` of `K` items are replaced, each by a factor within `δ` in L1, the product changes by at
//! most `C·ε·δ·√K` in L1.
//!
//! It does not hold, for any fixed `C`. Let every factor be `(1/2, 1/2)`, and let all `K` of them
//! (`ε = 1`) be shifted by `δ = 1/K` to `(1/2 + 1/(2K), 1/2 − 1/(2K))`. The log-odds of the product
//! are `2K·artanh(1/K) ≥ 2`, so the L1 change is at least `tanh 1 > 3/4` (because `e² > 7`), while
//! the claim allows `C·1·(1/K)·√K = C/√K`: less than `3/4` as soon as `K ≥ 16C²/9`. An adversary's
//! shifts add up; no averaging is at work. What holds is T5′: see [`robust_l1`](super::robust_l1).

use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive};

use super::BoundError;
use super::domain::{at_least_one, not_negative, unit};
use super::joint::{Joint, bounded_support, is_distribution, product};
use super::witness::{BITS, Relation, Witness, fraction, hypothesis, short, tuple};
use crate::math::Enclosure;

/// Claim T5's bound `C·ε·δ·√K`, rounded up. The claim is false; see the module's witnesses.
///
/// Domain: `C ≥ 0`, `0 ≤ ε ≤ 1`, `δ ≥ 0`, `items = K ≥ 1`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn corruption_bound(
    constant: f64,
    fraction: f64,
    delta: f64,
    items: u64,
) -> Result<f64, BoundError> {
    let product = not_negative("C", constant)? * unit("epsilon", fraction)?;
    let product = product * not_negative("delta", delta)?;
    Ok((product * at_least_one("K", items)?.sqrt()).high())
}

/// `‖a − b‖₁`.
fn l1(a: &[BigRational], b: &[BigRational]) -> BigRational {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum()
}

/// Given clean and replaced factors, set against theorem 5 with constant `C`.
///
/// `share` is the claim's ε, of which `⌊εK⌋` items must differ; its δ is the largest L1 change of
/// one. `None` where the lists do not fit, are empty, or the factors exclude every class.
pub fn corrupted_product(
    clean: &[Vec<BigRational>],
    replaced: &[Vec<BigRational>],
    share: &BigRational,
    constant: &BigRational,
) -> Option<Witness> {
    let shapes = clean.iter().zip(replaced).all(|(a, b)| a.len() == b.len());
    if clean.len() != replaced.len() || !shapes {
        return None;
    }
    let items = clean.len() as u64;
    let changed = clean.iter().zip(replaced).filter(|(a, b)| a != b).count() as u64;
    let delta = clean.iter().zip(replaced).map(|(a, b)| l1(a, b)).max()?;
    let promised = (share * fraction(items, 1)).floor();
    let (before, after) = (product(clean)?, product(replaced)?);
    let distance = l1(&before, &after);
    let root = Enclosure::integer(items).sqrt(BITS)?;
    let bound = &Enclosure::exact(constant * share * &delta) * &root;
    // The factors are decoder outputs; any evidence with them that is independent given the class
    // will do, and evidence with one value is the simplest.
    let world = Joint::constant_evidence(&before, clean.len())?;
    let everything = || clean.iter().chain(replaced);
    let describe = |f: &[Vec<BigRational>]| match f {
        [first, rest @ ..] if rest.len() > 3 && rest.iter().all(|x| x == first) => {
            format!("{} times {}", f.len(), tuple(first))
        }
        _ => f.iter().map(|x| tuple(x)).collect::<Vec<_>>().join(", "),
    };
    let changed_only: Vec<Vec<BigRational>> = clean
        .iter()
        .zip(replaced)
        .filter(|(a, b)| a != b)
        .map(|(_, b)| b.clone())
        .collect();
    Some(Witness {
        claim: "T5",
        hypotheses: vec![
            hypothesis(
                "A1: items independent given the class",
                world.conditionally_independent(),
            ),
            hypothesis(
                "A4: both products are distributions, without rounding",
                is_distribution(&before) && is_distribution(&after),
            ),
            hypothesis(
                "A6: every entry of every factor, clean or not, is at least 1/(2|Y|)",
                everything().all(|f| bounded_support(f)),
            ),
            hypothesis(
                "every factor is a distribution",
                everything().all(|f| is_distribution(f)),
            ),
            hypothesis(
                format!("⌊εK⌋ = {promised} items are replaced, with 0 ≤ ε ≤ 1"),
                changed > 0
                    && promised == fraction(changed, 1)
                    && !share.is_negative()
                    && *share <= BigRational::one(),
            ),
        ],
        steps: vec![
            format!("Clean factors, weights 1: {}.", describe(clean)),
            format!(
                "{changed} of {items} are replaced (ε = {share}), by {}.",
                describe(&changed_only)
            ),
            format!("Each replacement is within δ = {delta} in L1."),
            format!("The clean product is {}.", short_tuple(&before)),
            format!("The other is {}.", short_tuple(&after)),
            format!("Their L1 distance is {}.", short(&distance)),
            format!(
                "The claim allows {constant}·{share}·{delta}·√{items} = {:.6}.",
                bound.approx()
            ),
        ],
        quantity: Enclosure::exact(distance),
        relation: Relation::AtMost,
        bound,
    })
}

fn short_tuple(values: &[BigRational]) -> String {
    let parts: Vec<String> = values.iter().map(short).collect();
    format!("({})", parts.join(", "))
}

/// `K` factors `(1/2, 1/2)`, of which `⌊εK⌋` are shifted to `(1/2 + δ/2, 1/2 − δ/2)`.
///
/// The L1 change is `tanh(⌊εK⌋·artanh δ)`. `None` where nothing is shifted.
pub fn equal_shifts(
    items: u32,
    share: &BigRational,
    delta: &BigRational,
    constant: &BigRational,
) -> Option<Witness> {
    let half = fraction(1, 2);
    let shifted = (share * BigRational::from_integer(items.into())).floor();
    let shifted = shifted.to_integer().to_usize()?.min(items as usize);
    let clean = vec![vec![half.clone(), half.clone()]; items as usize];
    let moved = vec![&half + delta * &half, &half - delta * &half];
    let mut replaced = clean.clone();
    for slot in replaced.iter_mut().take(shifted) {
        slot.clone_from(&moved);
    }
    corrupted_product(&clean, &replaced, share, constant)
}

/// The smallest number of items, up to `limit`, at which equal shifts refute theorem 5.
pub fn first_corruption_violation(
    share: &BigRational,
    delta: &BigRational,
    constant: &BigRational,
    limit: u32,
) -> Option<Witness> {
    (1..=limit)
        .filter_map(|k| equal_shifts(k, share, delta, constant))
        .find(Witness::refutes)
}

/// A refutation for any constant `C > 0`: all of `K` even factors shifted by `δ = 1/K`, with the
/// smallest `K > 16C²/9` (at least 2, so that A6 holds). The fractions have some `K·log₂K` bits.
pub fn witness_against_constant(constant: &BigRational) -> Option<Witness> {
    let needed = (fraction(16, 9) * constant * constant).floor().to_integer();
    let items = needed.to_u32()?.checked_add(1)?.max(2);
    equal_shifts(
        items,
        &BigRational::one(),
        &fraction(1, items.into()),
        constant,
    )
}

#[cfg(test)]
mod tests {
    use super::super::witness::fraction as q;
    use super::*;

    #[test]
    fn bounds_of_the_paper() {
        for (epsilon, printed) in [
            (0.05, 0.316),
            (0.1, 0.632),
            (0.2, 1.265),
            (0.3, 1.897),
            (0.5, 3.162),
        ] {
            let got = corruption_bound(2.0, epsilon, 1.0, 10).unwrap();
            assert!((got - printed).abs() <= 0.0005, "{epsilon}: {got}");
        }
        assert!(corruption_bound(2.0, 1.5, 1.0, 10).is_err());
        assert!(corruption_bound(2.0, 0.5, 1.0, 0).is_err());
    }

    #[test]
    fn equal_shifts_follow_the_hyperbolic_tangent_and_fail_from_six_to_ninety_nine() {
        let (half, tenth, two) = (q(1, 2), q(1, 10), q(2, 1));
        let w = equal_shifts(8, &half, &tenth, &two).unwrap();
        // tanh(4·artanh 0.1) = 0.38109612300726 (mpmath 1.4.1); the bound is 0.1·√8 = 0.2828.
        assert!((w.quantity.approx() - 0.381_096_123_007_26).abs() < 1e-13);
        assert!((w.bound.approx() - 0.282_842_712_474_619).abs() < 1e-13);
        assert!(w.refutes());
        let w = equal_shifts(16, &half, &tenth, &two).unwrap();
        assert!((w.quantity.approx() - 0.666).abs() < 0.0005 && w.refutes());
        let first = first_corruption_violation(&half, &tenth, &two, 50).unwrap();
        assert!(
            first.steps[0].starts_with("Clean factors, weights 1: 6 times"),
            "{first}"
        );
        // Negative controls: at 5 items it holds, and at 100 it holds again, because 0.1·√100 = 1.
        for k in [2, 4, 5, 100, 101] {
            assert!(
                !equal_shifts(k, &half, &tenth, &two).unwrap().refutes(),
                "{k}"
            );
        }
        assert!(equal_shifts(99, &half, &tenth, &two).unwrap().refutes());
    }

    #[test]
    fn equal_factors_are_counted_where_there_are_many() {
        let factor = vec![q(1, 4), q(3, 4)];
        let clean = |w: Option<Witness>| w.unwrap().steps[0].clone();
        let of = |factors: &[Vec<BigRational>]| {
            clean(corrupted_product(factors, factors, &q(0, 1), &q(1, 1)))
        };
        let listed = |n: usize| {
            format!(
                "Clean factors, weights 1: {}.",
                vec!["(1/4, 3/4)"; n].join(", ")
            )
        };
        assert_eq!(of(&vec![factor.clone(); 4]), listed(4));
        assert_eq!(
            of(&vec![factor.clone(); 5]),
            "Clean factors, weights 1: 5 times (1/4, 3/4)."
        );
        // 3⁵ = 243.
        let w = corrupted_product(
            &vec![factor.clone(); 5],
            &vec![factor.clone(); 5],
            &q(0, 1),
            &q(1, 1),
        );
        let said = w.unwrap().steps.join(" ");
        assert!(
            said.contains("The clean product is (1/244, 243/244)."),
            "{said}"
        );
        // One that differs is shown.
        let mut mixed = vec![factor; 5];
        mixed[4] = vec![q(3, 4), q(1, 4)];
        assert_eq!(
            of(&mixed),
            format!("{}, (3/4, 1/4).", listed(4).trim_end_matches('.'))
        );
    }

    #[test]
    fn no_constant_saves_it() {
        for c in [q(1, 100), q(1, 1), q(2, 1), q(5, 1), q(12, 1)] {
            let w = witness_against_constant(&c).unwrap();
            assert!(w.refutes(), "{w}");
        }
        // e² > 7, on which the general argument rests.
        let e2 = Enclosure::integer(2).exp(BITS);
        assert!(e2.exceeds(&Enclosure::integer(7)));
    }

    #[test]
    fn a_shift_beyond_the_bounded_support_is_not_accepted() {
        // δ = 4/5 leaves 1/10 < 1/4: A6 violated, whatever the numbers.
        let w = equal_shifts(9, &q(1, 1), &q(4, 5), &q(1, 100)).unwrap();
        assert!(w.quantity.exceeds(&w.bound) && !w.refutes());
        assert!(equal_shifts(3, &q(0, 1), &q(1, 10), &q(1, 1)).is_none_or(|w| !w.refutes()));
        assert!(corrupted_product(&[], &[], &q(1, 1), &q(1, 1)).is_none());
    }
}
