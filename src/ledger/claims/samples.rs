//! Theorem 6 and its experiment.

use super::{Check, Claim, Context};
use crate::ledger::expr::{Expr, LedgerError, cell, int, ln, sqrt};
use crate::ledger::paper::{Printed, Value};
use crate::ledger::recompute::ITEM_COUNTS;
use crate::ledger::verdict::Finding;
use num_rational::BigRational;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "T6.bounds",
        place: "Section 6.6, Table 6",
        statement: "The bounds are C/√K + ε₀ with C = 24.28 and ε₀ = 0.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "The arithmetic is right; ε₀ = 0 contradicts the fit's 0.120 and theorem 1's 0.140.",
    },
    Claim {
        id: "T6.sigma",
        place: "Sections 3.6, 6.6, Table 6",
        statement: "C = √(2σ² ln(2|Y|/δ)) is 24.28 for σ² the variance of factor predictions.",
        hypotheses: "a prediction lies in [0, 1], so its standard deviation is at most 1/2",
        check: Check::Own(sigma),
        advice: "Say where 24.28 is from; at σ = 1/2 the constant is 1.55.",
    },
    Claim {
        id: "T6.vacuous",
        place: "Section 6.6, Table 6, Figure 7",
        statement: "All measured errors lie far below the bounds.",
        hypotheses: "",
        check: Check::Own(vacuous),
        advice: "Every bound in the table exceeds one.",
    },
    Claim {
        id: "T6.needed",
        place: "Sections 3.6, 6.6",
        statement: "C²/ε² items guarantee the error that the plateau reaches.",
        hypotheses: "C = 24.28, ε the plateau's error; at most 20 items were used",
        check: Check::Own(needed),
        advice: "The guarantee is out of reach by three orders of magnitude; T6′ gives usable counts.",
    },
    Claim {
        id: "T6.fit",
        place: "Sections 3.6, 6.6, Figure 7",
        statement: "Least squares of the error on 1/√K gives 0.245, 0.120 and R² = 0.849.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "T6.residuals",
        place: "Sections 3.6, 6.6, Table 8",
        statement: "The fitted curve describes the errors within their spread.",
        hypotheses: "spread: two printed standard deviations of each row",
        check: Check::Own(residuals),
        advice: "The curve misses most rows; the data fall to K = 5 and are flat from there.",
    },
    Claim {
        id: "T6.plateau",
        place: "Sections 3.6, 6.6, 8.1, 9",
        statement: "The error is constant from K ≈ 7 on.",
        hypotheses: "",
        check: Check::Own(plateau),
        advice: "None; see T6.identical for why.",
    },
    Claim {
        id: "T6.identical",
        place: "Section 6.6, Table 6",
        statement: "The rows from K = 7 to 20 are measurements with that many items.",
        hypotheses: "means and deviations over 20 trials differ in some digit when the items do",
        check: Check::Own(identical),
        advice: "Four rows agree in every digit of mean and deviation: the entities have no more than 7 items.",
    },
    Claim {
        id: "T6.decay",
        place: "Abstract, Sections 3.6, 9",
        statement: "The error falls with every further item.",
        hypotheses: "",
        check: Check::Own(decay),
        advice: "It rises from K = 5 to 7, within one deviation; say that it stops falling at 5.",
    },
    Claim {
        id: "T6.single",
        place: "Sections 6.1, 6.6",
        statement: "With one item the aggregate is that item, so its error is the individual one.",
        hypotheses: "",
        check: Check::Own(single),
        advice: "The weight w < 1 flattens a single factor to Φ^w: LPF-SPN is under-confident by construction.",
    },
    Claim {
        id: "T6.curve",
        place: "Section 6.6, Figure 7",
        statement: "Figure and table show the same method.",
        hypotheses: "",
        check: Check::Own(curve),
        advice: "The caption names LPF-Learned, the table LPF-SPN; the fit is that of the table.",
    },
    Claim {
        id: "T6.compared",
        place: "Section 6.6, Figure 7",
        statement: "The figure compares with the uniform baseline at K = 1, 2, 3 and 5.",
        hypotheses: "",
        check: Check::Own(compared),
        advice: "By the same caption the baseline exists from K = 5 on only.",
    },
    Claim {
        id: "T6.baseline",
        place: "Sections 3.6, 6.6, Tables 9 and 10",
        statement: "At K = 5 the uniform baseline is better calibrated than LPF-SPN.",
        hypotheses: "",
        check: Check::Own(baseline),
        advice: "None; it contradicts the abstract's consistent improvements.",
    },
    Claim {
        id: "T6.measured",
        place: "Section 6.6, Tables 1 and 6",
        statement: "The errors were measured in 20 trials for each K on 100 entities.",
        hypotheses: "",
        check: Check::Own(measured),
        advice: "Publish the model; `experiments` runs the same design on its own.",
    },
    Claim {
        id: "T6.repeats",
        place: "Abstract, Sections 3.6, 6.6, 8.1, 9, Tables 8 to 10",
        statement: "The numbers of theorem 6 are the same wherever they are printed.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "T6.settings",
        place: "Sections 3.6, 5, 6.6, 6.8, Tables 6, 9 and 10",
        statement: "The settings of theorem 6 are the same wherever they are printed.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
];

fn id(k: u32, column: &str) -> String {
    format!("tab:thm6/K={k}/{column}")
}

fn at(k: u32, column: &str) -> Expr {
    cell(id(k, column))
}

fn sigma(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let root = sqrt(int(2) * ln(int(2) * cell("sec:thm1/classes") / cell("sec:thm1/delta")));
    let needed = at(1, "bound") / root.clone();
    let half = BigRational::new(1.into(), 2.into());
    let above = cx.value(&needed)?.low() > &half;
    let at_half = root / int(2);
    Ok(Finding::decided(
        !above,
        format!("C = {}", cx.print(&id(1, "bound"))?),
        format!("needs σ = {}, but σ ≤ 0.5", cx.show(&needed, 2)?),
        vec![
            cx.line(&needed, 3)?,
            format!("largest C, at σ = 1/2: {}", cx.line(&at_half, 3)?),
        ],
    ))
}

fn vacuous(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let one = cx.value(&int(1))?;
    let mut evidence = Vec::new();
    let (mut empty, mut below) = (0, true);
    for k in ITEM_COUNTS {
        let bound = cx.value(&at(k, "bound"))?;
        empty += usize::from(!one.exceeds(&bound));
        below &= !cx.value(&at(k, "ece"))?.exceeds(&bound);
        evidence.push(format!(
            "K = {k}: {} ≤ {}",
            cx.print(&id(k, "ece"))?,
            cx.print(&id(k, "bound"))?
        ));
    }
    Ok(if !below {
        Finding::inconsistent("errors below bounds", "an error above its bound", evidence)
    } else if empty == ITEM_COUNTS.len() {
        Finding::vacuous("ECE ≤ 5.43 and more", "ECE ≤ 1", evidence)
    } else {
        Finding::reproduced(
            format!("{} bounds are below one", ITEM_COUNTS.len() - empty),
            evidence,
        )
    })
}

fn needed(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let ratio = || at(1, "bound") / at(20, "ece");
    let items = ratio() * ratio();
    let used = cell("tab:thm6/K=20/K");
    let out_of_reach = cx.value(&items)?.exceeds(&cx.value(&used)?);
    let evidence = vec![cx.line(&items, 0)?];
    Ok(if out_of_reach {
        Finding::vacuous(
            format!(
                "an error of {} is guaranteed from K = {} on",
                cx.print(&id(20, "ece"))?,
                cx.show(&items, 0)?
            ),
            format!("it was reached with {}", cx.print("tab:thm6/K=7/K")?),
            evidence,
        )
    } else {
        Finding::reproduced("the guarantee covers the counts used", evidence)
    })
}

fn residuals(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let mut evidence = Vec::new();
    let mut missed = 0;
    for k in ITEM_COUNTS {
        let fitted =
            cell("sec:exp-thm6/fit/slope") / sqrt(at(k, "K")) + cell("sec:exp-thm6/fit/floor");
        let off = at(k, "ece") - fitted.clone();
        let limit = cx.value(&(int(2) * at(k, "ece.sd")))?;
        let off = cx.value(&off)?;
        let negative = cx.value(&(int(0) - int(2) * at(k, "ece.sd")))?;
        let beyond = off.exceeds(&limit) || negative.exceeds(&off);
        missed += usize::from(beyond);
        evidence.push(format!(
            "K = {k}: {} ± {} measured, {} fitted{}",
            cx.print(&id(k, "ece"))?,
            cx.print(&id(k, "ece.sd"))?,
            cx.show(&fitted, 3)?,
            if beyond {
                ", beyond two deviations"
            } else {
                ""
            }
        ));
    }
    Ok(Finding::decided(
        missed == 0,
        "a strong fit",
        format!(
            "{missed} of {} rows lie beyond two deviations of the curve",
            ITEM_COUNTS.len()
        ),
        evidence,
    ))
}

/// The first count from which on every row prints the same error.
fn plateau(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let last = cx.paper.number(&id(20, "ece"))?;
    let mut start = None;
    for k in ITEM_COUNTS.into_iter().rev() {
        if cx.paper.number(&id(k, "ece"))? != last {
            break;
        }
        start = Some(k);
    }
    let start = start.unwrap_or(20);
    let printed = cx.value(&cell("sec:exp-thm6/plateau"))?;
    let found = cx.value(&int(i64::from(start)))?;
    Ok(Finding::decided(
        crate::ledger::expr::meet(&printed, &found),
        format!("plateau at {}", cx.print("sec:exp-thm6/plateau")?),
        format!("{last} from K = {start} on"),
        Vec::new(),
    ))
}

fn identical(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let mut rows: Vec<(u32, Printed, Printed)> = Vec::new();
    for k in [7, 10, 15, 20] {
        rows.push((
            k,
            cx.paper.number(&id(k, "ece"))?,
            cx.paper.number(&id(k, "ece.sd"))?,
        ));
    }
    let same = rows
        .windows(2)
        .all(|pair| pair[0].1 == pair[1].1 && pair[0].2 == pair[1].2);
    let evidence = rows
        .iter()
        .map(|(k, mean, spread)| format!("K = {k}: {mean} ± {spread}"))
        .collect();
    Ok(Finding::decided(
        !same,
        format!("up to {} items", cx.print("tab:thm6/K=20/K")?),
        "four rows with the same mean and deviation",
        evidence,
    ))
}

fn decay(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let mut rise = None;
    for pair in ITEM_COUNTS.windows(2) {
        let (before, after) = (
            cx.paper.number(&id(pair[0], "ece"))?,
            cx.paper.number(&id(pair[1], "ece"))?,
        );
        if after.value() > before.value() && rise.is_none() {
            rise = Some(format!(
                "K = {} to {}: {before} to {after}",
                pair[0], pair[1]
            ));
        }
    }
    Ok(match rise {
        None => Finding::reproduced("the error never rises", Vec::new()),
        Some(step) => Finding::inconsistent("the error falls with K", step, Vec::new()),
    })
}

fn single(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let (one, individual) = (at(1, "ece"), cell("sec:exp-thm1/epsilon"));
    let ratio = one.clone() / individual.clone();
    Ok(Finding::decided(
        crate::ledger::expr::meet(&cx.value(&one)?, &cx.value(&individual)?),
        format!("individual error {}", cx.print("sec:exp-thm1/epsilon")?),
        format!(
            "{} with one item, {} times as large",
            cx.print(&id(1, "ece"))?,
            cx.show(&ratio, 1)?
        ),
        vec![cx.line(&ratio, 2)?],
    ))
}

fn curve(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let paper = cx.paper.paper();
    let named = match paper.cell("fig:sample-complexity/curve").map(|c| &c.value) {
        Some(Value::Text(words)) => *words,
        _ => "nothing",
    };
    let same_fit = crate::ledger::expr::meet(
        &cx.value(&cell("fig:sample-complexity/fit/slope"))?,
        &cx.value(&cell("sec:exp-thm6/fit/slope"))?,
    );
    Ok(Finding::decided(
        named == "LPF-SPN",
        format!("{named} in the caption"),
        "LPF-SPN in the table's header",
        vec![format!("the figure's fit is the table's: {same_fit}")],
    ))
}

fn compared(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let from = cx.paper.number("fig:sample-complexity/uniform-from")?;
    let mut missing = Vec::new();
    for index in 1..=4 {
        let k = cx
            .paper
            .number(&format!("fig:sample-complexity/compared/{index}"))?;
        if k.value() < from.value() {
            missing.push(k.to_string());
        }
    }
    Ok(Finding::decided(
        missing.is_empty(),
        format!("baseline from K = {from} on"),
        format!(
            "compared at K = {} too, where there is none",
            missing.join(", ")
        ),
        Vec::new(),
    ))
}

fn baseline(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let (uniform, spn) = (
        cx.value(&cell("sec:exp-thm6/uniform-ece"))?,
        cx.value(&at(5, "ece"))?,
    );
    Ok(Finding::decided(
        spn.exceeds(&uniform),
        format!("uniform {}", cx.print("sec:exp-thm6/uniform-ece")?),
        format!("LPF-SPN {}", cx.print(&id(5, "ece"))?),
        Vec::new(),
    ))
}

fn measured(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    Ok(Finding::not_reproducible(
        format!(
            "{} trials on {} entities of a model that is not published",
            cx.print("sec:exp-thm6/trials")?,
            cx.print("tab:implementation/T6/N")?
        ),
        Vec::new(),
    ))
}
