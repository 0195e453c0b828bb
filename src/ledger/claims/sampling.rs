//! Theorem 2 and its experiment.

use super::{Check, Claim, Context};
use crate::ledger::expr::{Expr, LedgerError, call, cell, ln, meet};
use crate::ledger::fit;
use crate::ledger::recompute::{SAMPLE_SIZES, least_of, most_of};
use crate::ledger::verdict::Finding;
use crate::math::Enclosure;
use num_rational::BigRational;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "T2.bounds",
        place: "Section 6.2, Table 2",
        statement: "The bounds for M = 4 to 64 are 0.774, 0.547, 0.387, 0.274, 0.193.",
        hypotheses: "|Y| = 3, δ = 0.05",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "T2.within",
        place: "Section 6.2",
        statement: "All 95th percentiles lie within the bounds.",
        hypotheses: "",
        check: Check::Own(within),
        advice: "None.",
    },
    Claim {
        id: "T2.rate",
        place: "Sections 3.2, 6.2, Figure 3",
        statement: "The mean error falls like 1/√M, a slope of −1/2 on logarithmic axes.",
        hypotheses: "",
        check: Check::Own(|cx| rate(cx, "mean", "mean error")),
        advice: "Report the fitted slope; a shallower one points to a floor in the reference value or to posteriors with different spreads.",
    },
    Claim {
        id: "T2.rate-p95",
        place: "Section 6.2, Figure 3",
        statement: "The 95th percentile falls like 1/√M.",
        hypotheses: "",
        check: Check::Own(|cx| rate(cx, "p95", "95th percentile")),
        advice: "Report the fitted slope.",
    },
    Claim {
        id: "T2.below",
        place: "Section 6.2",
        statement: "Mean errors are 3 to 10 times below the bounds.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "Print the real ratios; the stated ones are those of the 95th percentile.",
    },
    Claim {
        id: "T2.below-p95",
        place: "Section 6.2",
        statement: "Errors are 3 to 10 times below the bounds, read of the 95th percentile.",
        hypotheses: "",
        check: Check::Own(below_p95),
        advice: "This is what the sentence on mean errors should say.",
    },
    Claim {
        id: "T2.production",
        place: "Sections 6.2, 9",
        statement: "With M = 16 the mean error is below 0.02.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "T2.tail",
        place: "Section 9",
        statement: "M = 16 keeps the error below 2 %, read of the error and not of its mean.",
        hypotheses: "",
        check: Check::Own(tail),
        advice: "Say that 2 % is a mean; one error in twenty exceeds the 95th percentile.",
    },
    Claim {
        id: "T2.R2",
        place: "Section 6.9, Table 8",
        statement: "The 1/√M fit of theorem 2's errors has R² = 0.849.",
        hypotheses: "least squares of the mean error on 1/√M, with a constant",
        check: Check::Numbers,
        advice: "0.849 is theorem 6's R²; correct the row.",
    },
    Claim {
        id: "T2.R2-source",
        place: "Section 6.9, Table 8",
        statement: "The R² in theorem 2's row is theorem 6's.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "A slip between rows; correct it.",
    },
    Claim {
        id: "T2.falls",
        place: "Sections 3.2, 6.2",
        statement: "Mean, deviation and percentile of the error fall with every doubling of M.",
        hypotheses: "",
        check: Check::Own(falls),
        advice: "None.",
    },
    Claim {
        id: "T2.measured",
        place: "Section 6.2, Table 2",
        statement: "The errors were measured in 50 trials on 20 posteriors.",
        hypotheses: "",
        check: Check::Own(measured),
        advice: "Publish encoder and posteriors; `experiments` runs the same design on its own.",
    },
    Claim {
        id: "T2.sizes",
        place: "Abstract, Section 6.2",
        statement: "The rate is verified across five sample sizes.",
        hypotheses: "",
        check: Check::Own(sizes),
        advice: "None.",
    },
    Claim {
        id: "T2.repeats",
        place: "Sections 3.2, 6.2, Table 10",
        statement: "The numbers of theorem 2 are the same wherever they are printed.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "T2.settings",
        place: "Section 6.2, Tables 1 and 2, Figure 3",
        statement: "Text, table and figure use the same sample sizes.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
];

fn of(m: u32, column: &str) -> Expr {
    cell(format!("tab:thm2/M={m}/{column}"))
}

fn within(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let mut evidence = Vec::new();
    let mut holds = true;
    for m in SAMPLE_SIZES {
        let (p95, bound) = (of(m, "p95"), of(m, "bound"));
        holds &= !cx.value(&p95)?.exceeds(&cx.value(&bound)?);
        evidence.push(format!(
            "M = {m}: {} ≤ {}",
            cx.print(&format!("tab:thm2/M={m}/p95"))?,
            cx.print(&format!("tab:thm2/M={m}/bound"))?
        ));
    }
    Ok(Finding::decided(
        holds,
        "percentiles within bounds",
        "compared row by row",
        evidence,
    ))
}

fn rate(cx: &Context<'_>, column: &str, what: &str) -> Result<Finding, LedgerError> {
    let xs = SAMPLE_SIZES.map(|m| ln(of(m, "M")));
    let ys = SAMPLE_SIZES.map(|m| ln(of(m, column)));
    let slope = call(
        "slope on logarithmic axes",
        fit::slope,
        xs.into_iter().chain(ys).collect(),
    );
    let value = cx.value(&slope)?;
    let half = Enclosure::exact(BigRational::new((-1).into(), 2.into()));
    Ok(Finding::decided(
        meet(&value, &half),
        "slope −1/2",
        format!("slope {} of the {what}", cx.show(&slope, 3)?),
        vec![cx.line(&slope, 3)?],
    ))
}

fn below_p95(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let ratios = SAMPLE_SIZES.map(|m| of(m, "bound") / of(m, "p95")).to_vec();
    let least = call("least of", least_of, ratios.clone());
    let most = call("most of", most_of, ratios);
    let (three, ten) = (
        cx.value(&cell("sec:exp-thm2/below/least"))?,
        cx.value(&cell("sec:exp-thm2/below/most"))?,
    );
    let inside = !three.exceeds(&cx.value(&least)?) && !cx.value(&most)?.exceeds(&ten);
    Ok(Finding::decided(
        inside,
        "3 to 10 times",
        format!(
            "least ratio {}, largest {}",
            cx.show(&least, 1)?,
            cx.show(&most, 1)?
        ),
        vec![cx.line(&least, 2)?, cx.line(&most, 2)?],
    ))
}

fn tail(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let limit = cx.paper.number("sec:conclusion/T2/error")?;
    let p95 = cx.paper.number("tab:thm2/M=16/p95")?;
    Ok(Finding::decided(
        p95.interval().0 < limit.value(),
        format!("error {limit}"),
        format!("95th percentile {p95}"),
        Vec::new(),
    ))
}

fn sizes(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let listed = cx.paper.paper().under("sec:exp-thm2/M/").count();
    let stated = cx.paper.number("abstract/sample-sizes")?;
    Ok(Finding::decided(
        stated.value() == BigRational::from_integer(listed.into()),
        format!("{stated} sizes"),
        format!("{listed} listed"),
        Vec::new(),
    ))
}

fn falls(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let mut rising = Vec::new();
    for column in ["mean", "sd", "p95"] {
        for pair in SAMPLE_SIZES.windows(2) {
            let (before, after) = (
                cx.value(&of(pair[0], column))?,
                cx.value(&of(pair[1], column))?,
            );
            if !before.exceeds(&after) {
                rising.push(format!("{column} from M = {} to {}", pair[0], pair[1]));
            }
        }
    }
    Ok(Finding::decided(
        rising.is_empty(),
        "falls with M",
        if rising.is_empty() {
            "in every column and row".to_owned()
        } else {
            rising.join(", ")
        },
        Vec::new(),
    ))
}

fn measured(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    Ok(Finding::not_reproducible(
        format!(
            "{} trials on {} posteriors of an encoder that is not published",
            cx.print("sec:exp-thm2/trials")?,
            cx.print("sec:exp-thm2/posteriors")?
        ),
        Vec::new(),
    ))
}
