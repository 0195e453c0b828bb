//! Steps of the proofs in appendix B that rest on earlier ones, each decided by itself.

use num_rational::BigRational;
use num_traits::{Signed, Zero};

use super::exact::{BITS, Tally, binomial, distributions, fraction, l1};
use super::t7::class_variance;
use super::{Check, Context, Outcome, of_witness};
use crate::bounds::{Predictor, conflicting_pair, tuple};
use crate::ledger::verdict::Finding;
use crate::math::Enclosure;
use crate::simplex::power_product;
use crate::uncertainty::variance_decomposition;

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("T1.step2", weighted_product),
    ("T3.step1", |_| Ok(stability_gap(3))),
    ("T4.step1", residual),
    ("T4.step2", |_| Ok(added(2))),
    ("T5.step3", |_| Ok(product_stability(1))),
    ("T7.step3", |_| Ok(sampled_parts())),
];

/// Exponents beyond those of lemma 3, on the library's own kernel.
fn weighted_product(_: &Context<'_>) -> Outcome {
    let mut tally = Tally::default();
    let all = distributions(3, 4, 1);
    for (f, g) in all.iter().flat_map(|f| all.iter().map(move |g| (f, g))) {
        for exponents in [[0, 3], [1, 2], [3, 1]] {
            let mut product = vec![BigRational::zero(); 3];
            power_product(&exponents, &[f, g], &mut product);
            let total: BigRational = product.iter().sum();
            let valid = total.is_positive() && product.iter().all(|p| !p.is_negative());
            tally.case(valid, || format!("{} and {}", tuple(f), tuple(g)));
        }
    }
    Ok(tally.finding("pairs of positive distributions with denominator 4, exponents 0 to 3"))
}

/// Examples z = ±1, equally likely, the loss `L·|w − z·B|` with `B = 2L/λ`, λ = 1: convex and
/// L-Lipschitz. With `z̄` the mean of the examples the regularized mean loss is least at `w = L·z̄`; the
/// training loss is then `L·B − L²z̄²`, the true one `L·B`, and the gap `L²z̄²`.
fn stability_gap(lipschitz: u64) -> Finding {
    let examples = 4u64;
    let gap = |lipschitz: u64, positive: u64| {
        let mean = (fraction(2 * positive, 1) - fraction(examples, 1)) / fraction(examples, 1);
        fraction(lipschitz * lipschitz, 1) * &mean * &mean
    };
    let claimed = |lipschitz: u64| fraction(2 * lipschitz, examples);
    let chances = binomial(examples, &fraction(1, 2));
    let mean_gap = |lipschitz: u64| -> BigRational {
        let outcomes = chances.iter().zip(0..);
        outcomes.map(|(chance, k)| chance * gap(lipschitz, k)).sum()
    };
    let mean = mean_gap(lipschitz);
    let world = |lipschitz: u64| {
        format!(
            "fair signs z, loss {lipschitz}·|w − {}·z| of a learned function that is a constant w, convex and \
             Lipschitz with L = {lipschitz}; λ = 1, N = {examples}; the minimizer is {lipschitz} times the mean sign m, the gap {} times m²",
            2 * lipschitz,
            lipschitz * lipschitz
        )
    };
    let average = {
        let steps = vec![
            world(lipschitz),
            format!(
                "E[m²] = 1/{examples}: the mean gap is {mean}, the claim 2L/(λN) = {}",
                claimed(lipschitz)
            ),
            "what follows has another factor L: a function that moves by d moves a loss by L·d"
                .to_owned(),
            format!(
                "with L = 1 and on average it holds: a mean gap of {} where {} is claimed; the step says neither",
                mean_gap(1),
                claimed(1)
            ),
        ];
        match mean > claimed(lipschitz) {
            true => Finding::refuted(
                format!(
                    "L = {lipschitz}: a mean gap of {mean} where {} is claimed",
                    claimed(lipschitz)
                ),
                steps,
            ),
            false => Finding::checked(format!("L = {lipschitz}"), steps),
        }
    };
    let (all, chance) = (gap(1, examples), fraction(2, 1 << examples));
    let steps = vec![
        world(1),
        format!(
            "with probability {chance} all signs agree: the gap is {all}, the claim {}",
            claimed(1)
        ),
    ];
    let certain = match all > claimed(1) {
        true => Finding::refuted(
            format!(
                "L = 1: with probability {chance} a gap of {all} where {} is claimed",
                claimed(1)
            ),
            steps,
        ),
        false => Finding::checked("L = 1", steps),
    };
    Finding::by_reading(vec![
        ("on average over training sets", average),
        ("for the training set at hand", certain),
    ])
}

/// The entropy's part of theorem 4 alone.
fn residual(_: &Context<'_>) -> Outcome {
    let (small, zero) = (fraction(1, 1000), fraction(0, 1));
    let (half, reliability) = (fraction(1, 2), fraction(3, 4));
    of_witness(
        conflicting_pair(Predictor::Product, &half, &reliability, [&small, &zero]),
        "LPF's own product is the posterior and perfectly calibrated, whatever entropy is left",
    )
}

/// Two lower bounds `a` and `b` of one number, added with constants `1/parts`.
fn added(parts: u64) -> Finding {
    let mut tally = Tally::default();
    for (a, b) in (0..=8).flat_map(|a| (0..=8).map(move |b| (a, b))) {
        let larger = fraction(a.max(b), 8);
        let sum = (fraction(a, 8) + fraction(b, 8)) / fraction(parts, 1);
        tally.case(larger >= sum, || format!("bounds {a}/8 and {b}/8"));
    }
    let smaller = tally.finding("two bounds k/8, each with half of its constant");
    let same = Finding::refuted(
        "bounds 1/8 and 1/8: an error of 1/8 meets both, and not their sum 1/4",
        vec!["of two lower bounds the larger holds, or any average of them".to_owned()],
    );
    Finding::by_reading(vec![
        (
            "the sum's constants may be smaller than those of its parts",
            smaller,
        ),
        ("the sum has the constants of its parts", same),
    ])
}

/// A factor, and its entries to the powers of the weights 1/2 and 1.
type Raised = (Vec<BigRational>, [Vec<Option<Enclosure>>; 2]);

/// Two of three factors replaced, entries at least `1/(2|Y|)`, weights 1/2 or 1 for one of them; the
/// constant `C′ = |Y|` divided by `divisor`.
///
/// `x^w` has a slope of at most `2|Y|` where `x ≥ 1/(2|Y|)` and `w ≤ 1`, an entry moves by at most `δ/2`,
/// and the other factors are at most one.
fn product_stability(divisor: u64) -> Finding {
    let mut tally = Tally::default();
    for (classes, denominator, least) in [(2usize, 8, 2), (3, 6, 1)] {
        let all = distributions(classes, denominator, least);
        // Beside each factor its entries to the power of the weights 1/2 and 1.
        let raised = |factor: &Vec<BigRational>| {
            [true, false].map(|root| factor.iter().map(|x| weighted(x, root)).collect())
        };
        let all: Vec<Raised> = all
            .into_iter()
            .map(|factor| {
                let powers = raised(&factor);
                (factor, powers)
            })
            .collect();
        let pairs = || all.iter().flat_map(|a| all.iter().map(move |b| (a, b)));
        let (kept, _) = &all[all.len() / 2];
        let constant = fraction(classes as u64, divisor) * fraction(2, 1);
        for ((first, first_new), (second, second_new)) in
            pairs().flat_map(|p| pairs().map(move |q| (p, q)))
        {
            let [(a, powers), (a_new, powers_new), (b, _), (b_new, _)] =
                [first, first_new, second, second_new];
            let delta = l1(a, a_new).max(l1(b, b_new));
            let allowed = Enclosure::exact(&constant * &delta);
            for (power, power_new) in powers.iter().zip(powers_new) {
                let product = |x: &[Option<Enclosure>], z: &[BigRational], y: usize| {
                    let rest = Enclosure::exact(&kept[y] * &z[y]);
                    Some(&rest * x[y].as_ref()?)
                };
                let holds = (0..classes).all(|y| {
                    let pair = product(power, b, y).zip(product(power_new, b_new, y));
                    pair.is_some_and(|(old, new)| {
                        !(&old - &new).exceeds(&allowed) && !(&new - &old).exceeds(&allowed)
                    })
                });
                tally.case(holds, || {
                    format!(
                        "{} and {} by {} and {}",
                        tuple(a),
                        tuple(b),
                        tuple(a_new),
                        tuple(b_new)
                    )
                });
            }
        }
    }
    tally.finding(
        "two of three factors replaced, two classes with denominator 8 and three with 6, entries at least \
         1/(2|Y|), weights 1/2 and 1, C′ = |Y|",
    )
}

/// `x`, or its square root.
fn weighted(x: &BigRational, root: bool) -> Option<Enclosure> {
    let x = Enclosure::exact(x.clone());
    if root { x.sqrt(BITS) } else { Some(x) }
}

/// The total variance is one minus the squares of the factor; its parts are no function of the factor.
fn sampled_parts() -> Finding {
    let mut tally = Tally::default();
    let all = distributions(3, 6, 0);
    for (truth, estimate) in all.iter().flat_map(|t| all.iter().map(move |e| (t, e))) {
        let off = truth.iter().zip(estimate).map(|(t, e)| (t - e).abs()).max();
        let moved = (class_variance(truth) - class_variance(estimate)).abs();
        let holds = off.is_some_and(|off| moved <= fraction(2, 1) * off);
        tally.case(holds, || {
            format!("{} and {}", tuple(truth), tuple(estimate))
        });
    }
    let total = tally.finding(
        "three classes, factors and estimates with denominator 6: the total variance is off by at most twice \
         theorem 2's error",
    );
    let half = fraction(1, 2);
    let drawn = [half.clone(), half.clone(), half.clone(), half.clone()];
    let middle = [half.clone(), half.clone()];
    let truth = &half * class_variance(&middle);
    let estimate = variance_decomposition(&drawn, 2).map(|parts| parts.aleatoric);
    let steps = vec![
        "z decodes to (1, 0), (1/2, 1/2) or (0, 1) with probability 1/4, 1/2, 1/4".to_owned(),
        format!("the factor is (1/2, 1/2), the aleatoric variance {truth}"),
        format!(
            "two draws that decode to (1/2, 1/2) estimate the factor without error, the aleatoric variance \
             as {}",
            estimate
                .as_ref()
                .map_or("nothing".to_owned(), BigRational::to_string)
        ),
    ];
    let parts = match estimate {
        Ok(estimate) if estimate != truth => Finding::refuted(
            format!(
                "no error of the factor, and an aleatoric variance off by {}",
                (estimate - &truth).abs()
            ),
            steps,
        ),
        _ => Finding::checked("these draws", steps),
    };
    Finding::by_reading(vec![
        ("the error of the total variance", total),
        ("the error of each part", parts),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::VerdictKind::{Checked, DependsOnReading, Refuted};

    #[test]
    fn each_step_goes_the_other_way_where_it_should() {
        let kind = |finding: Finding| finding.verdict.kind();
        // With L = 1 the average is as claimed, so that only the other reading fails.
        assert_eq!(
            [3, 1].map(|l| kind(stability_gap(l))),
            [Refuted, DependsOnReading]
        );
        // With whole constants both readings are the same, and fail.
        assert_eq!([2, 1].map(|n| kind(added(n))), [DependsOnReading, Refuted]);
        assert_eq!(
            [1, 16].map(|n| kind(product_stability(n))),
            [Checked, Refuted]
        );
        assert_eq!(kind(sampled_parts()), DependsOnReading);
    }
}
