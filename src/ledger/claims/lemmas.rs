//! Lemmas 1 to 7.
//!
//! A lemma that holds is decided by exact arithmetic over a finite domain that is enumerated
//! completely, which is evidence for the statement as implemented and not a proof for all inputs;
//! the general proofs are classical and are given in [`crate::bounds`]. One that fails has a
//! counterexample whose hypotheses are checked by code.

use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use super::exact::{
    Tally, binomial, binomial_tail, compositions, distributions, fraction, twice_exp,
};
use super::t4::conflict_costs_nothing;
use super::{Check, Context, Outcome, of_witness};
use crate::bounds::{
    Witness, deciding_example, descent_apart, diverting_example, effective_count_exact,
    memorizing_learner, smooth_descent_apart, two_valleys,
};
use crate::ledger::verdict::Finding;
use crate::simplex::{linear_combination, power_product};

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("L1", unbiased),
    ("L2", hoeffding),
    ("L3", closure),
    ("L4", weighted),
    ("L5", conflict),
    ("L6", valleys),
    ("L7", memorizing),
];

/// The expectation of the estimate over all sample tuples is the factor.
fn unbiased(_: &Context<'_>) -> Outcome {
    let mut tally = Tally::default();
    let outputs: Vec<BigRational> = [0, 1, 3, 4].map(|n| fraction(n, 4)).to_vec();
    let pairs = || {
        outputs
            .iter()
            .flat_map(|a| outputs.iter().map(move |b| (a, b)))
    };
    for weights in distributions(2, 4, 0) {
        for (a, b) in pairs() {
            let truth = &weights[0] * a + &weights[1] * b;
            for m in 1..=4u64 {
                // k of the m samples fall on the first point.
                let outcome = |k| fraction(k, m) * a + fraction(m - k, m) * b;
                let points = binomial(m, &weights[0]).into_iter().zip(0..);
                let mean: BigRational = points.map(|(chance, k)| chance * outcome(k)).sum();
                tally.case(mean == truth, || format!("M = {m}, weights {weights:?}"));
            }
        }
    }
    Ok(tally.finding(
        "two-point posteriors with denominator 4, decoder outputs 0, 1/4, 3/4, 1, M = 1 to 4",
    ))
}

/// For coins: exact tails against the exponential.
pub(super) fn hoeffding(_: &Context<'_>) -> Outcome {
    let mut tally = Tally::default();
    for n in 1..=10u64 {
        for p in (1..8).map(|k| fraction(k, 8)) {
            for epsilon in (1..8).map(|j| fraction(j, 8)) {
                let tail = binomial_tail(n, &p, &epsilon);
                let bound = twice_exp(fraction(2 * n, 1) * &epsilon * &epsilon);
                tally.case(tail <= bound, || format!("n = {n}, p = {p}, ε = {epsilon}"));
            }
        }
    }
    Ok(tally.finding("coins with bias k/8, n = 1 to 10, ε = j/8"))
}

/// On the library's own generic kernels.
fn closure(_: &Context<'_>) -> Outcome {
    let mut tally = Tally::default();
    let mut contradictions = 0;
    let all = distributions(3, 4, 0);
    let valid = |values: &[BigRational]| {
        values.iter().all(|v| !v.is_negative()) && values.iter().sum::<BigRational>().is_one()
    };
    for (f, g) in all.iter().flat_map(|f| all.iter().map(move |g| (f, g))) {
        for weight in (0..=4).map(|k| fraction(k, 4)) {
            let weights = [weight.clone(), BigRational::one() - &weight];
            let mut sum = vec![BigRational::zero(); 3];
            linear_combination(&weights, &[f, g], &mut sum);
            tally.case(valid(&sum), || format!("sum of {f:?} and {g:?}"));
        }
        for exponents in [[1, 1], [2, 1]] {
            let mut product = vec![BigRational::zero(); 3];
            power_product(&exponents, &[f, g], &mut product);
            let total: BigRational = product.iter().sum();
            if total.is_zero() {
                contradictions += 1;
                continue;
            }
            let normalized: Vec<BigRational> = product.iter().map(|v| v / &total).collect();
            tally.case(valid(&normalized), || format!("product of {f:?} and {g:?}"));
        }
    }
    let mut finding = tally.finding(
        "pairs of distributions over three classes with denominator 4, weights k/4, exponents 1 and 2",
    );
    finding.evidence.push(format!(
        "{contradictions} products vanish everywhere and have no normalization: Z > 0 is a hypothesis"
    ));
    Ok(finding)
}

/// For signs: all 2ⁿ outcomes against the exponential.
fn weighted(_: &Context<'_>) -> Outcome {
    let mut tally = Tally::default();
    for n in 1..=5usize {
        for parts in compositions(6, n, 1) {
            let weights: Vec<BigRational> = parts.iter().map(|&w| fraction(w, 6)).collect();
            let Some(effective) = effective_count_exact(&weights) else {
                continue;
            };
            for epsilon in (1..6).map(|j| fraction(j, 6)) {
                let exceeding = (0..1u64 << n)
                    .filter(|signs| {
                        let sum: BigRational = weights
                            .iter()
                            .enumerate()
                            .map(|(i, w)| if signs >> i & 1 == 1 { w.clone() } else { -w })
                            .sum();
                        sum.abs() > epsilon
                    })
                    .count();
                let tail = fraction(exceeding as u64, 1 << n);
                let bound = twice_exp(&effective * &epsilon * &epsilon / fraction(2, 1));
                tally.case(tail <= bound, || {
                    format!("weights {parts:?}/6, ε = {epsilon}")
                });
            }
        }
    }
    Ok(tally.finding("fair signs, n = 1 to 5, weights with denominator 6, ε = j/6"))
}

fn conflict(_: &Context<'_>) -> Outcome {
    conflict_costs_nothing([&fraction(0, 1), &fraction(1, 1000)], "the conflict")
}

fn valleys(_: &Context<'_>) -> Outcome {
    let lambda = fraction(1, 2);
    let starts = [(1, 50), (1, 10), (3, 10), (3, 5), (1, 1), (7, 5)].map(|(n, d)| fraction(n, d));
    let many = 1000;
    let mut smooth = of_witness(
        smooth_descent_apart(many, &fraction(1, 4)),
        &format!("{many} smooth losses, gradient descent, either custom of writing the penalty"),
    )?;
    for fewer in [10, 100] {
        if let Some(witness) = smooth_descent_apart(fewer, &fraction(1, 4)).filter(Witness::refutes)
        {
            let (apart, claimed) = (witness.quantity.approx(), witness.bound.approx());
            let line = format!("with N = {fewer}: {apart:.4} where {claimed:.4} is claimed");
            smooth.evidence.push(line);
        }
    }
    let descent = of_witness(
        descent_apart(&diverting_example(), &lambda, &fraction(1, 10), &starts),
        &format!(
            "three Lipschitz losses, one with two valleys, λ = {lambda}: what gradient descent learns moves, \
             from each of {} starts",
            starts.len()
        ),
    )?;
    let minimum = of_witness(
        two_valleys(&deciding_example(), &lambda),
        &format!("three Lipschitz losses, one with two valleys, λ = {lambda}: the minimum moves"),
    )?;
    Ok(Finding::by_reading(vec![
        ("of what gradient descent learns", smooth),
        (
            "of what gradient descent learns, from several starts",
            descent,
        ),
        ("of the minimizer, as in the proof", minimum),
    ]))
}

/// So many values that a learner that memorizes meets next to none of them again.
pub(super) const UNSEEN_VALUES: u64 = 1_000_000;

fn memorizing(cx: &Context<'_>) -> Outcome {
    let delta = cx.number("sec:thm1/delta")?.value();
    let d = cx.count("sec:exp-thm3/d_eff")?;
    let witness = memorizing_learner(d, d, &fraction(1, 1), UNSEEN_VALUES, &delta);
    of_witness(witness, "a learner that memorizes, N = d")
}
