//! The lemmas and theorems themselves.
//!
//! A result that holds is decided by exact arithmetic over a finite domain that is enumerated
//! completely, which is evidence for the statement as implemented and not a proof for all inputs;
//! the general proofs are classical and are given in [`crate::bounds`]. A result that fails has a
//! counterexample whose hypotheses are checked by code.

mod exact;

use super::{Check, Claim, Context};
use crate::bounds::{
    Constant, Predictor, Witness, conflicting_pair, deciding_example, first_corruption_violation,
    first_violation, half_count, memorizing_learner, smallest_half_count, too_few_items,
    two_valleys,
};
use crate::ledger::expr::LedgerError;
use crate::ledger::verdict::Finding;
use num_rational::BigRational;
use num_traits::ToPrimitive;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "L1",
        place: "Appendix A.1",
        statement: "The Monte Carlo estimate of a factor is unbiased.",
        hypotheses: "samples drawn from q(z|e)",
        check: Check::Own(exact::unbiased),
        advice: "None.",
    },
    Claim {
        id: "L2",
        place: "Appendix A.2",
        statement: "Hoeffding's inequality for the mean of n independent variables in [a, b].",
        hypotheses: "independence, bounded range",
        check: Check::Own(exact::hoeffding),
        advice: "Cite Hoeffding (1963); the paper cites a work on model averaging, and writes the mean of one variable where the mean of means belongs.",
    },
    Claim {
        id: "L3",
        place: "Appendix A.3",
        statement: "Weighted sums and normalized products of distributions are distributions.",
        hypotheses: "weights not negative and summing to one; a product that is not zero everywhere",
        check: Check::Own(exact::closure),
        advice: "State that weights are not negative (L3.weights) and that the product must not vanish.",
    },
    Claim {
        id: "L3.weights",
        place: "Appendix A.3",
        statement: "A weighted sum of distributions with weights that sum to one is a distribution, as stated: no sign required.",
        hypotheses: "Σ wᵢ = 1",
        check: Check::Own(exact::negative_weight),
        advice: "Add wᵢ ≥ 0 to the statement; the proof uses it.",
    },
    Claim {
        id: "L4",
        place: "Appendix A.4",
        statement: "A weighted average of n variables in [−1, 1] deviates by more than ε with probability at most 2·exp(−n_eff·ε²/2).",
        hypotheses: "independence; weights not negative and summing to one",
        check: Check::Own(exact::weighted),
        advice: "None.",
    },
    Claim {
        id: "L5",
        place: "Appendix A.5",
        statement: "Any aggregation has a calibration error of at least a constant times the conflict of its factors.",
        hypotheses: "c > 0",
        check: Check::Own(conflict),
        advice: "Conflict bounds log loss, not calibration: use T4′.",
    },
    Claim {
        id: "L6",
        place: "Appendix A.6",
        statement: "Leaving one of N examples out moves the learned parameters by at most 2L/(λN).",
        hypotheses: "L2 regularization λ, Lipschitz loss; convexity is not required in the statement",
        check: Check::Own(valleys),
        advice: "Require a convex loss; for the aggregator, a neural network, use a held-out bound (T3′).",
    },
    Claim {
        id: "L7",
        place: "Appendix A.7",
        statement: "With probability 1 − δ the loss exceeds the training loss by at most √(2(L̂ + 1/N)(d·ln(eN/d) + ln(2/δ))/N).",
        hypotheses: "N independent examples, effective dimension d, regularized risk minimization",
        check: Check::Own(memorizing),
        advice: "A term of order d/N is missing: use T3′ (held-out or PAC-Bayes-kl).",
    },
    Claim {
        id: "T1",
        place: "Sections 3.1, B.1",
        statement: "The calibration error of the product is at most ε + C/√K_eff.",
        hypotheses: "A1 to A4, ε-calibrated factors; here A5 and A6 hold too",
        check: Check::Own(preservation),
        advice: "The product counts the prior K times: use the prior-corrected product (T1′) or calibrate afterwards (T1″).",
    },
    Claim {
        id: "T1.Keff",
        place: "Section 3.1",
        statement: "K_eff is at least ⌈K/2⌉.",
        hypotheses: "weights in (0, 1]",
        check: Check::Own(half),
        advice: "What holds is 1 ≤ K_eff ≤ K.",
    },
    Claim {
        id: "T2",
        place: "Sections 3.2, B.2",
        statement: "With probability 1 − δ no class's factor is off by more than √(ln(2|Y|/δ)/(2M)).",
        hypotheses: "M independent samples",
        check: Check::Own(exact::monte_carlo),
        advice: "Holds. T2′ (empirical Bernstein) is tighter where the variance is small.",
    },
    Claim {
        id: "T3",
        place: "Sections 3.3, B.3",
        statement: "The learned aggregator's loss exceeds its training loss by at most the formula of lemma 7.",
        hypotheses: "as lemma 7, at the printed N = 4200 and d_eff = 1335",
        check: Check::Own(generalization),
        advice: "Use T3′: a test-set bound, or PAC-Bayes-kl with a loss in [0, 1].",
    },
    Claim {
        id: "T4",
        place: "Sections 3.4, B.4",
        statement: "Any predictor's calibration error is at least c₁·H̄(Y|E)/H(Y) + c₂·noise.",
        hypotheses: "c₁, c₂ > 0",
        check: Check::Own(floor),
        advice: "The entropy bounds log loss: E[−ln P̂(Y|E)] ≥ H(Y|E) (T4′).",
    },
    Claim {
        id: "T5",
        place: "Sections 3.5, B.5",
        statement: "Replacing ⌊εK⌋ factors, each by at most δ in L1, moves the product by at most C·ε·δ·√K.",
        hypotheses: "A1, A4, A6; C = 2.0 as in the experiment",
        check: Check::Own(corruption),
        advice: "Adversarial shifts add up: use T5′, 2·tanh(R/4), which is linear in the number replaced and sharp.",
    },
    Claim {
        id: "T6",
        place: "Sections 3.6, B.6",
        statement: "K ≥ C²/ε² items give a calibration error of at most ε.",
        hypotheses: "as theorem 1; C from the formula with the largest variance in [0, 1]",
        check: Check::Own(enough_items),
        advice: "Rests on theorem 1, drops its ε_base, and uses K_eff ≤ K the wrong way round: use T6′.",
    },
    Claim {
        id: "T7",
        place: "Sections 3.7, B.7",
        statement: "Total variance is epistemic plus aleatoric variance, exactly.",
        hypotheses: "variances with 1/M over the same samples",
        check: Check::Own(exact::decomposition),
        advice: "Holds as an identity; it says nothing about how good either part is.",
    },
];

fn fraction(n: i64, d: i64) -> BigRational {
    BigRational::new(n.into(), d.into())
}

/// A finding from a witness: refuted where it refutes.
fn of_witness(witness: Option<Witness>, summary: &str) -> Finding {
    match witness {
        Some(witness) if witness.refutes() => {
            let mut steps: Vec<String> = witness
                .hypotheses
                .iter()
                .map(|h| format!("holds: {}", h.statement))
                .collect();
            steps.extend(witness.steps.iter().cloned());
            let line = format!(
                "{summary}: {:.6} where {:.6} is claimed",
                witness.quantity.approx(),
                witness.bound.approx()
            );
            Finding::refuted(line, steps)
        }
        _ => Finding::not_reproducible(
            "neither a proof nor a counterexample in the searched range",
            Vec::new(),
        ),
    }
}

/// So many values that a memorizing learner meets next to none of them again.
const FRESH: u64 = 1_000_000;

/// How many items the search for a violation goes through.
const ITEMS: u32 = 200;

fn preservation(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let prior = [fraction(3, 5), fraction(2, 5)];
    let used = cx.paper.number("sec:thm1/bound/C")?;
    let given = first_violation(&prior, &Constant::Given(used.value()), ITEMS);
    let mut finding = of_witness(
        given,
        "prior (3/5, 2/5) and evidence that says nothing, so Φᵢ = prior",
    );
    let formula = Constant::Formula {
        delta: cx.paper.number("sec:thm1/delta")?.value(),
    };
    let printed = cx.paper.number("sec:thm1/C")?;
    let three = [fraction(1, 2), fraction(3, 10), fraction(1, 5)];
    for (name, prior, constant) in [
        (
            format!("C = {printed}"),
            &prior[..],
            &Constant::Given(printed.value()),
        ),
        ("C = √(2 ln(2|Y|/δ))".to_owned(), &prior[..], &formula),
        (
            "C = √(2 ln(2|Y|/δ)), three classes".to_owned(),
            &three[..],
            &formula,
        ),
    ] {
        if let Some(witness) = first_violation(prior, constant, ITEMS) {
            finding.evidence.push(format!(
                "with {name}: {:.6} > {:.6}; {}",
                witness.quantity.approx(),
                witness.bound.approx(),
                witness.steps.first().cloned().unwrap_or_default()
            ));
        }
    }
    Ok(finding)
}

fn half(_: &Context<'_>) -> Result<Finding, LedgerError> {
    let mut finding = of_witness(smallest_half_count(4, 10), "smallest counterexample");
    let tenth = [fraction(1, 1), fraction(1, 10), fraction(1, 10)];
    if let Some(witness) = half_count(&tenth).filter(Witness::refutes) {
        finding.evidence.push(format!(
            "weights (1, 1/10, 1/10): K_eff = {:.4} < 2",
            witness.quantity.approx()
        ));
    }
    Ok(finding)
}

fn conflict(_: &Context<'_>) -> Result<Finding, LedgerError> {
    let zero = fraction(0, 1);
    let witness = conflicting_pair(
        Predictor::Prior,
        &fraction(1, 2),
        &fraction(3, 4),
        [&zero, &fraction(1, 1000)],
    );
    Ok(of_witness(
        witness,
        "the constant predictor is perfectly calibrated whatever the conflict",
    ))
}

fn floor(_: &Context<'_>) -> Result<Finding, LedgerError> {
    let small = fraction(1, 1000);
    let witness = conflicting_pair(
        Predictor::Prior,
        &fraction(1, 2),
        &fraction(3, 4),
        [&small, &small],
    );
    Ok(of_witness(
        witness,
        "the constant predictor is perfectly calibrated whatever entropy and conflict",
    ))
}

fn memorizing(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let delta = cx.paper.number("sec:thm1/delta")?.value();
    let d = whole(cx, "sec:exp-thm3/d_eff")?;
    let witness = memorizing_learner(d, d, &fraction(1, 1), FRESH, &delta);
    Ok(of_witness(witness, "a learner that memorizes, N = d"))
}

fn generalization(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let delta = cx.paper.number("sec:thm1/delta")?.value();
    let d = whole(cx, "sec:exp-thm3/d_eff")?;
    let n = whole(cx, "sec:exp-thm3/N")?;
    // A quarter of the inputs are fresh: some 1050 of 4200, which fit into 1335 memories.
    let witness = memorizing_learner(n, d, &fraction(1, 4), FRESH, &delta);
    Ok(of_witness(
        witness,
        "a learner that memorizes, at the printed N and d_eff",
    ))
}

fn corruption(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let constant = cx.paper.number("sec:thm1/bound/C")?.value();
    let share = cx.paper.number("sec:thm5/eps")?.value();
    let witness = first_corruption_violation(&share, &fraction(1, 10), &constant, ITEMS);
    Ok(of_witness(
        witness,
        "some of the equal factors (1/2, 1/2) shifted to (11/20, 9/20)",
    ))
}

fn enough_items(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let delta = cx.paper.number("sec:thm1/delta")?.value();
    // The largest variance of a variable in [0, 1], which asks for the most items.
    let (variance, target) = (fraction(1, 4), fraction(3, 10));
    let prior = [fraction(2, 3), fraction(1, 3)];
    let witness = (1..=ITEMS)
        .filter_map(|items| too_few_items(&prior, items, &variance, &target, &delta))
        .find(Witness::refutes);
    Ok(of_witness(
        witness,
        "items that say nothing, prior (2/3, 1/3), as many as the theorem asks for",
    ))
}

fn valleys(_: &Context<'_>) -> Result<Finding, LedgerError> {
    Ok(of_witness(
        two_valleys(&deciding_example(), &fraction(1, 2)),
        "three Lipschitz losses, one with two valleys, λ = 1/2: the minimum moves",
    ))
}

/// A printed count as a whole number; zero where it is none, which no witness accepts.
fn whole(cx: &Context<'_>, id: &str) -> Result<u64, LedgerError> {
    Ok(cx
        .paper
        .number(id)?
        .value()
        .to_integer()
        .to_u64()
        .unwrap_or(0))
}
