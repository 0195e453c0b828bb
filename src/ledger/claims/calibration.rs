//! Theorem 1 and its experiment.

use super::{Check, Claim, Context};
use crate::ledger::expr::{LedgerError, cell, int, sqrt};
use crate::ledger::verdict::Finding;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "T1.constant",
        place: "Sections 3.1, B.1",
        statement: "The concentration constant C(0.05, 3) = √(2 ln(2|Y|/δ)) is about 2.42.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "Use √(2 ln 120); every bound computed with 2.42 or 2.0 is too small.",
    },
    Claim {
        id: "T1.observed",
        place: "Sections 3.1, B.1",
        statement: "The constant observed in the experiment is about 2.0.",
        hypotheses: "observed: the smallest C for which the bound holds for the measured errors",
        check: Check::Own(observed),
        advice: "Say how 2.0 was obtained; it does not follow from the printed errors.",
    },
    Claim {
        id: "T1.bound",
        place: "Sections 3.1, 6.1",
        statement: "The bound is 0.140 + 2.0/√5 = 1.034.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "The arithmetic is right; see T1.vacuous for what it is worth.",
    },
    Claim {
        id: "T1.vacuous",
        place: "Sections 3.1, 6.1, Table 8",
        statement: "The measured calibration error is verified to lie below the bound.",
        hypotheses: "",
        check: Check::Own(vacuous),
        advice: "A bound of one or more on a quantity that is at most one verifies nothing.",
    },
    Claim {
        id: "T1.margin",
        place: "Sections 3.1, 6.1, Table 8",
        statement: "The measured error is 82 % below the bound, a slack of 0.849.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "Right as arithmetic; the margin is that of a vacuous bound.",
    },
    Claim {
        id: "T1.half",
        place: "Section 6.1",
        statement: "The effective count used in the bound is half the average item count.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "Five is ⌈10/2⌉, the refuted lower bound, not a measured K_eff.",
    },
    Claim {
        id: "T1.figure",
        place: "Section 6.1, Figure 2",
        statement: "The figure's Hoeffding bound is 0.772.",
        hypotheses: "computed as ε + 2.0/√K with K the average item count",
        check: Check::Numbers,
        advice: "None; it is the theorem's formula with K = 10.",
    },
    Claim {
        id: "T1.figure-text",
        place: "Section 6.1, Figure 2",
        statement: "Figure and text state the same bound.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "Use one effective count: the text takes 5, the figure 10.",
    },
    Claim {
        id: "T1.bernstein",
        place: "Section 6.1, Figure 2",
        statement: "A Bernstein bound for the same data is 0.459.",
        hypotheses: "",
        check: Check::Own(bernstein),
        advice: "Print the variance and the formula that give it.",
    },
    Claim {
        id: "T1.preserves",
        place: "Sections 3.1, 6.1",
        statement: "Aggregation preserves the calibration of individual evidence.",
        hypotheses: "preserves: the aggregated error is not above the individual one",
        check: Check::Own(preserves),
        advice: "Say that aggregation made calibration worse here; a prior-corrected product (T1′) does not.",
    },
    Claim {
        id: "T1.items",
        place: "Sections 2, 6.1, 6.8",
        statement: "The experiment has 10 items an entity on average, and at most 5 in the main experiments.",
        hypotheses: "",
        check: Check::Own(items),
        advice: "An average above the maximum cannot be; say how many items there were.",
    },
    Claim {
        id: "T1.entities",
        place: "Section 6.1, Table 1",
        statement: "The experiment of theorem 1 runs on 300 entities (text) and on N = 700 (table).",
        hypotheses: "",
        check: Check::Own(entities),
        advice: "Say which count is the evaluation set.",
    },
    Claim {
        id: "T1.conservative",
        place: "Section 8.1",
        statement: "An error of 1.4 % lies 82 % below the bound 1.034.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "The margin belongs to 0.185; for 1.4 % it is 98.6 %.",
    },
    Claim {
        id: "T1.repeats",
        place: "Sections 3.1, 6.1, 6.7, 6.8, 7, 8, 9, B.1",
        statement: "The numbers of theorem 1 are the same wherever they are printed.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
];

fn observed(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let excess = || cell("sec:exp-thm1/ece") - cell("sec:exp-thm1/epsilon");
    let smallest = excess() * sqrt(cell("sec:exp-thm1/K_avg"));
    let evidence = vec![
        cx.line(&(excess() * sqrt(cell("sec:exp-thm1/bound/K_eff"))), 3)?,
        cx.line(&smallest, 3)?,
    ];
    let printed = cx.value(&cell("sec:thm1/C-observed"))?;
    let needed = cx.value(&smallest)?;
    Ok(Finding::decided(
        crate::ledger::expr::meet(&printed, &needed),
        format!("C = {}", cx.print("sec:thm1/C-observed")?),
        format!("C = {} is enough", cx.show(&smallest, 3)?),
        evidence,
    ))
}

fn vacuous(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let (bound, ece) = (cell("sec:exp-thm1/bound"), cell("sec:exp-thm1/ece"));
    let evidence = vec![
        format!("bound {}", cx.show(&bound, 4)?),
        "an expected calibration error is an average of |accuracy − confidence| ≤ 1".to_owned(),
    ];
    let (bound, ece) = (cx.value(&bound)?, cx.value(&ece)?);
    let one = cx.value(&int(1))?;
    Ok(if ece.exceeds(&bound) {
        Finding::inconsistent("error below bound", "error above bound", evidence)
    } else if one.exceeds(&bound) {
        Finding::reproduced("error below a bound that is below one", evidence)
    } else {
        Finding::vacuous(
            format!("ECE ≤ {}", cx.print("sec:exp-thm1/bound")?),
            "ECE ≤ 1",
            evidence,
        )
    })
}

fn bernstein(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let excess = cell("fig:calibration/bernstein") - cell("fig:calibration/epsilon");
    let evidence = vec![
        format!("beyond ε: {}", cx.line(&excess, 4)?),
        format!(
            "times √K: {}",
            cx.line(&(excess * sqrt(cell("sec:exp-thm1/K_avg"))), 3)?
        ),
    ];
    let (tight, loose) = (
        cx.value(&cell("fig:calibration/bernstein"))?,
        cx.value(&cell("fig:calibration/hoeffding"))?,
    );
    Ok(if tight.exceeds(&loose) {
        Finding::inconsistent(
            "Bernstein is the tighter bound",
            "it is the looser",
            evidence,
        )
    } else {
        Finding::not_reproducible(
            format!(
                "the variance behind {} is not printed",
                cx.print("fig:calibration/bernstein")?
            ),
            evidence,
        )
    })
}

fn preserves(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let ratio = cell("sec:exp-thm1/ece") / cell("sec:exp-thm1/epsilon");
    let above = cx
        .value(&cell("sec:exp-thm1/ece"))?
        .exceeds(&cx.value(&cell("sec:exp-thm1/epsilon"))?);
    Ok(Finding::decided(
        !above,
        "calibration is preserved",
        format!(
            "the aggregated error {} is {} times the individual {}",
            cx.print("sec:exp-thm1/ece")?,
            cx.show(&ratio, 2)?,
            cx.print("sec:exp-thm1/epsilon")?
        ),
        vec![cx.line(&ratio, 3)?],
    ))
}

fn items(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let (average, most) = (cell("sec:exp-thm1/K_avg"), cell("sec:assumptions/K_max"));
    let above = cx.value(&average)?.exceeds(&cx.value(&most)?);
    Ok(Finding::decided(
        !above,
        format!("average {}", cx.print("sec:exp-thm1/K_avg")?),
        format!("at most {}", cx.print("sec:assumptions/K_max")?),
        Vec::new(),
    ))
}

fn entities(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let (text, table) = (
        cx.paper.number("sec:exp-thm1/entities")?,
        cx.paper.number("tab:implementation/T1/N")?,
    );
    Ok(Finding::decided(
        text.value() == table.value(),
        format!("{text} entities in the text"),
        format!("N = {table} in Table 1"),
        Vec::new(),
    ))
}
