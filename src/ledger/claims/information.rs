//! Theorem 4 and its experiment.

use super::{Check, Claim, Context};
use crate::ledger::expr::{LedgerError, cell, int, ln, meet};
use crate::ledger::verdict::Finding;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "T4.components",
        place: "Sections 3.4, 6.4, Table 4",
        statement: "Ratio 0.113 and reduction 88.7 % follow from the two entropies.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "T4.pairs",
        place: "Section 6.4",
        statement: "4,950 pairs are all pairs of the 100 entities.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "See T4.pairing: they should be pairs of one entity's items.",
    },
    Claim {
        id: "T4.pairing",
        place: "Sections 3.4, 6.4, A.5",
        statement: "The conflict averages over pairs of items of the same entity.",
        hypotheses: "K(K−1)/2 pairs an entity, for any one K from 1 to 20",
        check: Check::Own(pairing),
        advice: "Average within entities; between entities the divergence measures that labels differ.",
    },
    Claim {
        id: "T4.computation",
        place: "Section 6.4",
        statement: "Lower bound 0.158, sampling term 0.158, achievable bound 0.317 and gap 0.020 follow from the components.",
        hypotheses: "as computed there: max(H̄, noise/2), then 0.5/√10",
        check: Check::Numbers,
        advice: "The arithmetic is right; the formula is not the theorem's (T4.sum, T4.mc-count).",
    },
    Claim {
        id: "T4.sum",
        place: "Sections 3.4, 6.4",
        statement: "The lower bound that is computed is the theorem's, with c₂ = 0.5.",
        hypotheses: "c₁ = 1; the theorem adds c₁·H̄/H(Y) and c₂·noise",
        check: Check::Own(sum),
        advice: "The computation takes a maximum where the theorem has a sum, and H̄ where it has H̄/H.",
    },
    Claim {
        id: "T4.mc-count",
        place: "Section 6.4",
        statement: "The sampling term is one in the number of samples M = 16.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "Ten is the number of items; with M = 16 the term is 0.125.",
    },
    Claim {
        id: "T4.ratio-lower",
        place: "Abstract, Section 9, Table 9",
        statement: "The measured error is 1.12 times the information-theoretic lower bound.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "0.178/0.158 = 1.127 rounds to 1.13; 1.12 needs the least favourable rounding.",
    },
    Claim {
        id: "T4.ratio-achievable",
        place: "Sections 3.4, 6.4, Tables 8 and 9",
        statement: "The measured error is 1.12 times the achievable bound.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "To the achievable bound the ratio is 0.56; 1.12 is the ratio to the lower bound.",
    },
    Claim {
        id: "T4.between",
        place: "Section 6.4, Figure 5",
        statement: "The measured error lies between the lower and the achievable bound.",
        hypotheses: "",
        check: Check::Own(between),
        advice: "None.",
    },
    Claim {
        id: "T4.row",
        place: "Section 6.9, Table 8",
        statement: "The error is at least noise + H̄/H(Y).",
        hypotheses: "",
        check: Check::Own(row),
        advice: "The row contradicts its own experiment; the bound it states exceeds the measured error.",
    },
    Claim {
        id: "T4.figure",
        place: "Section 6.4, Figure 5",
        statement: "The mutual information is 1.399 bits and nothing of H(Y) is left.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "The text leaves 0.158 bits; figure and text use different estimates.",
    },
    Claim {
        id: "T4.figure-sum",
        place: "Section 6.4, Figure 5",
        statement: "Within the figure, H(Y) equals I(E;Y), so the residual is about zero.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None; see T4.figure.",
    },
    Claim {
        id: "T4.maximum",
        place: "Section 6.4, Table 4",
        statement: "H(Y) = 1.399 bits is the largest possible entropy.",
        hypotheses: "three classes",
        check: Check::Own(maximum),
        advice: "The maximum is log₂ 3; 1.399 bits is the entropy of the label frequencies.",
    },
    Claim {
        id: "T4.trend",
        place: "Section 6.4, Figure 5",
        statement: "Calibration error grows with conflict along 0.248x + 0.137.",
        hypotheses: "",
        check: Check::Own(trend),
        advice: "Print the points or the correlation.",
    },
    Claim {
        id: "T4.quality",
        place: "Section 6.4, Figure 5",
        statement: "Evidence quality has a mean of about 1.0.",
        hypotheses: "",
        check: Check::Own(quality),
        advice: "Define the quality; a confidence weight 1/(1 + σ) is below one for every σ > 0.",
    },
    Claim {
        id: "T4.repeats",
        place: "Sections 3.4, 6.4, 6.7, Tables 4 and 8, Figure 5",
        statement: "The numbers of theorem 4 are the same wherever they are printed.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "T4.settings",
        place: "Sections 3.4, 5, 6.4, 8.1",
        statement: "The settings of theorem 4 are the same wherever they are printed.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
];

fn pairing(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let pairs = cx.paper.number("sec:exp-thm4/pairs")?;
    let entities = cx.paper.number("sec:exp-thm4/entities")?.value();
    let count =
        |k: i64| &entities * num_rational::BigRational::from_integer((k * (k - 1) / 2).into());
    let fitting: Vec<i64> = (1..=20).filter(|&k| count(k) == pairs.value()).collect();
    let evidence = vec![
        format!("K = 5: {} pairs", count(5)),
        format!("K = 10: {} pairs", count(10)),
        format!("K = 11: {} pairs", count(11)),
    ];
    Ok(Finding::decided(
        !fitting.is_empty(),
        format!("{pairs} pairs"),
        match fitting.first() {
            Some(k) => format!("K = {k} gives as many"),
            None => "no number of items up to 20 gives as many pairs within entities".to_owned(),
        },
        evidence,
    ))
}

fn sum(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let theorem = cell("sec:exp-thm4/H(Y|E)") / cell("sec:exp-thm4/H(Y)")
        + cell("sec:exp-thm4/max/c2") * cell("sec:exp-thm4/noise");
    let printed = cx.value(&cell("sec:exp-thm4/lower"))?;
    let above = cx
        .value(&theorem)?
        .exceeds(&cx.value(&cell("sec:exp-thm4/ece"))?);
    Ok(Finding::decided(
        meet(&printed, &cx.value(&theorem)?),
        format!("lower bound {}", cx.print("sec:exp-thm4/lower")?),
        format!(
            "{}{}",
            cx.show(&theorem, 4)?,
            if above {
                ", above the measured error"
            } else {
                ""
            }
        ),
        vec![cx.line(&theorem, 4)?],
    ))
}

fn between(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let (lower, ece, upper) = (
        cx.value(&cell("sec:exp-thm4/lower"))?,
        cx.value(&cell("sec:exp-thm4/ece"))?,
        cx.value(&cell("sec:exp-thm4/achievable"))?,
    );
    Ok(Finding::decided(
        !lower.exceeds(&ece) && !ece.exceeds(&upper),
        "between the bounds",
        format!(
            "{} ≤ {} ≤ {}",
            cx.print("sec:exp-thm4/lower")?,
            cx.print("sec:exp-thm4/ece")?,
            cx.print("sec:exp-thm4/achievable")?
        ),
        Vec::new(),
    ))
}

fn row(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let bound =
        cell("sec:exp-thm4/noise") + cell("sec:exp-thm4/H(Y|E)") / cell("sec:exp-thm4/H(Y)");
    let ece = cell("tab:theory-vs-empirical/T4/ece");
    Ok(Finding::decided(
        !cx.value(&bound)?.exceeds(&cx.value(&ece)?),
        format!("error at least {}", cx.show(&bound, 3)?),
        format!("measured {}", cx.print("tab:theory-vs-empirical/T4/ece")?),
        vec![cx.line(&bound, 4)?],
    ))
}

fn maximum(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let most = ln(cell("sec:thm1/classes")) / ln(int(2));
    let printed = cx.value(&cell("tab:thm4/H(Y)/value"))?;
    Ok(Finding::decided(
        meet(&printed, &cx.value(&most)?),
        format!("{} bits", cx.print("tab:thm4/H(Y)/value")?),
        format!("{} bits", cx.show(&most, 3)?),
        vec![cx.line(&most, 4)?],
    ))
}

fn trend(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let at_mean = cell("fig:information/trend/slope") * cell("sec:exp-thm4/noise")
        + cell("fig:information/trend/intercept");
    let ece = cell("sec:exp-thm4/ece");
    let evidence = vec![format!("at the mean conflict: {}", cx.line(&at_mean, 4)?)];
    // A least-squares line passes through the means; the mean of |confidence − outcome| is not
    // below the expected calibration error (Jensen).
    Ok(if cx.value(&ece)?.exceeds(&cx.value(&at_mean)?) {
        Finding::inconsistent(
            "a trend through the means",
            format!(
                "{} at the mean conflict, below the error",
                cx.show(&at_mean, 3)?
            ),
            evidence,
        )
    } else {
        Finding::not_reproducible(
            format!(
                "the points are not printed; the line gives {} at the mean conflict",
                cx.show(&at_mean, 4)?
            ),
            evidence,
        )
    })
}

fn quality(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    Ok(Finding::not_reproducible(
        format!(
            "no formula for the quality is printed, only its mean {}",
            cx.print("fig:information/quality")?
        ),
        Vec::new(),
    ))
}
