//! The six assumptions, and what the sixth implies for the paper's own numbers.

use super::{Check, Claim, Context, Own};
use crate::ledger::expr::{Expr, LedgerError, cell, int, ln};
use crate::ledger::verdict::Finding;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "A1",
        place: "Sections 2, 6.8, 8.2",
        statement: "Items are independent given the label; the measured correlation 0.12 is within tolerance.",
        hypotheses: "",
        check: Check::Own(independence),
        advice: "Name the tolerance, and test dependence within classes with a permutation test.",
    },
    Claim {
        id: "A2",
        place: "Sections 2, 6.8",
        statement: "Covariance norms are bounded: mean 0.87, largest 2.34, limit 2.5.",
        hypotheses: "",
        check: Check::Own(variance),
        advice: "None for the numbers; see T7.sigma for what they say about the latent dimension.",
    },
    Claim {
        id: "A3",
        place: "Sections 2, 6.8",
        statement: "The decoder is calibrated; its individual error is 0.140.",
        hypotheses: "calibrated: an error that rounds to zero at the printed precision",
        check: Check::Own(decoder),
        advice: "An error of 0.140 is no approximate equality; calibrate the decoder after training.",
    },
    Claim {
        id: "A4",
        place: "Sections 2, 6.8",
        statement: "The network is complete and decomposable, as lemma 3 shows.",
        hypotheses: "",
        check: Check::Own(validity),
        advice: "Lemma 3 is about distributions, not about structure; use the structural checker of `spn`.",
    },
    Claim {
        id: "A5",
        place: "Sections 2, 6.8",
        statement: "At most 5 items were used in the main experiments.",
        hypotheses: "compared with the counts that theorems 1, 4 and 5 are printed with",
        check: Check::Own(finite),
        advice: "State one maximum; three experiments are computed with ten items.",
    },
    Claim {
        id: "A5.sources",
        place: "Section 6.8",
        statement: "At most 5 items represent practice, where there are 3 to 10 sources.",
        hypotheses: "represents: covers the range",
        check: Check::Own(sources),
        advice: "Test with ten items.",
    },
    Claim {
        id: "A6",
        place: "Sections 2, 6.8",
        statement: "Every class has probability at least 0.01, which exceeds 1/(2|Y|) = 1/6.",
        hypotheses: "",
        check: Check::Own(floor),
        advice: "0.01 is below 1/6: the assumption fails on the authors' own measurement.",
    },
    Claim {
        id: "A6.measured",
        place: "Section 6.8",
        statement: "The floor of 0.01 was found on 1,000 random latent codes.",
        hypotheses: "",
        check: Check::Own(measured),
        advice: "A minimum over random codes bounds nothing; the softmax has no floor unless one is built in.",
    },
    Claim {
        id: "A6.required",
        place: "Section 6.8",
        statement: "For three classes the required floor is 1/6, about 0.167.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "A6.entropy",
        place: "Sections 2, 6.4",
        statement: "The mean factor entropy of 0.158 bits is possible under assumption 6.",
        hypotheses: "a factor averages decoder outputs, so its entries are at least 1/(2|Y|) too",
        check: Check::Own(entropy),
        advice: "A factor with entries of at least 1/6 has at least 1.25 bits; the assumption is false of this model.",
    },
    Claim {
        id: "A6.loss",
        place: "Sections 2, 6.3",
        statement: "The training loss of 0.0379 is possible under assumption 6.",
        hypotheses: "negative log-likelihood of a decoder whose largest output is 1 − (|Y|−1)/(2|Y|)",
        check: Check::Own(loss),
        advice: "A decoder capped at 2/3 has a loss of at least 0.405.",
    },
    Claim {
        id: "A6.aleatoric",
        place: "Sections 2, 6.7",
        statement: "The aleatoric variances of 0.0196 to 0.0460 are possible under assumption 6.",
        hypotheses: "Σ p(1 − p) is least at the corner (2/3, 1/6, 1/6)",
        check: Check::Own(aleatoric),
        advice: "At least 0.5 is needed.",
    },
    Claim {
        id: "A6.confidence",
        place: "Sections 2, 6.1, 6.3",
        statement: "LPF-Learned's accuracy 95.4 % and calibration error 0.058 are possible together under assumption 6.",
        hypotheses: "its confidence is a decoder output, at most 2/3; ECE ≥ |accuracy − mean confidence|",
        check: Check::Own(confidence),
        advice: "With confidence capped at 2/3 the error is at least 0.287.",
    },
    Claim {
        id: "A.summary",
        place: "Section 6.8",
        statement: "All six assumptions are validated by measurement.",
        hypotheses: "",
        check: Check::Own(summary),
        advice: "Withdraw the sentence.",
    },
    Claim {
        id: "A.repeats",
        place: "Sections 2, 5, 6.8, 8",
        statement: "The numbers of the assumptions are the same wherever they are printed.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
];

const AT: &str = "sec:assumption-validation";

fn of(name: &str) -> Expr {
    cell(format!("{AT}/{name}"))
}

/// `1/(2|Y|)`.
fn smallest() -> Expr {
    int(1) / (int(2) * cell("sec:thm1/classes"))
}

/// `1 − (|Y| − 1)/(2|Y|)`: what is left for one class when all others are at the floor.
fn largest() -> Expr {
    int(1) - (cell("sec:thm1/classes") - int(1)) * smallest()
}

fn independence(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let rho = cx.paper.number(&format!("{AT}/A1/correlation"))?;
    let zero = cx.value(&int(0))?;
    let evidence = vec![format!(
        "the correlation {rho} is not zero, so exact independence does not hold"
    )];
    Ok(if cx.value(&of("A1/correlation"))?.exceeds(&zero) {
        Finding::not_reproducible(
            format!(
                "a correlation of {rho} is a violation; no tolerance is printed to hold it against"
            ),
            evidence,
        )
    } else {
        Finding::reproduced("no correlation", Vec::new())
    })
}

fn variance(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let (mean, most, limit) = (
        cx.value(&of("A2/mean"))?,
        cx.value(&of("A2/max"))?,
        cx.value(&of("A2/sigma_max"))?,
    );
    Ok(Finding::decided(
        !mean.exceeds(&most) && !most.exceeds(&limit),
        "bounded",
        format!(
            "{} ≤ {} ≤ {}",
            cx.print(&format!("{AT}/A2/mean"))?,
            cx.print(&format!("{AT}/A2/max"))?,
            cx.print(&format!("{AT}/A2/sigma_max"))?
        ),
        Vec::new(),
    ))
}

fn decoder(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let epsilon = cx.paper.number(&format!("{AT}/A3/epsilon"))?;
    let zero = cx.value(&int(0))?;
    Ok(Finding::decided(
        !cx.value(&of("A3/epsilon"))?.exceeds(&zero),
        "calibrated",
        format!("individual error {epsilon}"),
        Vec::new(),
    ))
}

fn validity(_: &Context<'_>) -> Result<Finding, LedgerError> {
    Ok(Finding::not_reproducible(
        "the network's structure is not printed; lemma 3 speaks of outputs, not of scopes",
        vec![
            "`spn` decides completeness and decomposability of any network given to it".to_owned(),
        ],
    ))
}

fn finite(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let most = cx.paper.number("sec:assumptions/K_max")?;
    let mut above = Vec::new();
    for (id, theorem) in [
        ("sec:exp-thm1/K_avg", "T1"),
        ("sec:thm4/top-k", "T4"),
        ("sec:exp-thm5/K", "T5"),
    ] {
        let count = cx.paper.number(id)?;
        if count.value() > most.value() {
            above.push(format!("{theorem} with {count}"));
        }
    }
    Ok(Finding::decided(
        above.is_empty(),
        format!("at most {most}"),
        above.join(", "),
        Vec::new(),
    ))
}

fn sources(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let most = cx.paper.number(&format!("{AT}/A5/K_max"))?;
    let (low, high) = (
        cx.paper.number(&format!("{AT}/A5/sources-least"))?,
        cx.paper.number(&format!("{AT}/A5/sources-most"))?,
    );
    Ok(Finding::decided(
        most.value() >= high.value() && low.value() <= high.value(),
        format!("{low} to {high} sources"),
        format!("at most {most} items"),
        Vec::new(),
    ))
}

fn floor(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let measured = cx.paper.number(&format!("{AT}/A6/floor"))?;
    let required = smallest();
    let short = cx.value(&required)?.exceeds(&cx.value(&of("A6/floor"))?);
    Ok(Finding::decided(
        !short,
        format!("{measured} > 1/6"),
        format!("{measured} < {}", cx.show(&required, 4)?),
        vec![cx.line(&required, 4)?],
    ))
}

fn entropy(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    // Entropy is concave, so over the simplex cut at the floor it is least at a corner.
    let log2 = |x: Expr| ln(x) / ln(int(2));
    let others = cell("sec:thm1/classes") - int(1);
    let least = int(0) - largest() * log2(largest()) - others * smallest() * log2(smallest());
    let measured = cell("sec:exp-thm4/H(Y|E)");
    let short = cx.value(&least)?.exceeds(&cx.value(&measured)?);
    Ok(Finding::decided(
        !short,
        format!("mean entropy {} bits", cx.print("sec:exp-thm4/H(Y|E)")?),
        format!("at least {} bits", cx.show(&least, 4)?),
        vec![format!(
            "entropy of (2/3, 1/6, 1/6): {}",
            cx.show(&least, 4)?
        )],
    ))
}

fn loss(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let least = int(0) - ln(largest());
    let short = cx
        .value(&least)?
        .exceeds(&cx.value(&cell("sec:exp-thm3/train"))?);
    Ok(Finding::decided(
        !short,
        format!("training loss {}", cx.print("sec:exp-thm3/train")?),
        format!("at least {}", cx.show(&least, 3)?),
        vec![cx.line(&least, 4)?],
    ))
}

fn aleatoric(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let others = cell("sec:thm1/classes") - int(1);
    let least = int(1) - largest() * largest() - others * smallest() * smallest();
    let mut short = false;
    let mut evidence = vec![cx.line(&least, 4)?];
    for k in crate::ledger::recompute::VARIANCE_COUNTS {
        let id = format!("tab:thm7/K={k}/aleatoric");
        short |= cx.value(&least)?.exceeds(&cx.value(&cell(id.clone()))?);
        evidence.push(format!("K = {k}: {}", cx.print(&id)?));
    }
    Ok(Finding::decided(
        !short,
        "aleatoric variances as printed",
        format!("at least {}", cx.show(&least, 3)?),
        evidence,
    ))
}

fn confidence(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let least = cell("sec:exp-thm3/accuracy") - largest();
    let short = cx
        .value(&least)?
        .exceeds(&cx.value(&cell("sec:exp-thm1/learned-ece"))?);
    Ok(Finding::decided(
        !short,
        format!("error {}", cx.print("sec:exp-thm1/learned-ece")?),
        format!("at least {}", cx.show(&least, 3)?),
        vec![cx.line(&least, 4)?],
    ))
}

fn summary(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let count = cx.paper.number(&format!("{AT}/assumptions"))?;
    let checks: [(&str, Own); 6] = [
        ("A1", independence),
        ("A2", variance),
        ("A3", decoder),
        ("A4", validity),
        ("A5", finite),
        ("A6", floor),
    ];
    let mut holding = 0;
    let mut evidence = Vec::new();
    for (name, check) in checks {
        let kind = check(cx)?.verdict.kind();
        holding += i64::from(kind == crate::ledger::verdict::VerdictKind::Reproduced);
        evidence.push(format!("{name}: {kind}"));
    }
    Ok(Finding::decided(
        count.value() == num_rational::BigRational::from_integer(holding.into()),
        format!("{count} validated"),
        format!("{holding} follow from the printed numbers"),
        evidence,
    ))
}

fn measured(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    Ok(Finding::not_reproducible(
        format!(
            "a minimum over {} codes of a decoder that is not published",
            cx.print(&format!("{AT}/A6/codes"))?
        ),
        Vec::new(),
    ))
}
