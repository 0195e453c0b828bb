//! Theorem 3 and its experiment.

use super::{Check, Claim, Context};
use crate::ledger::expr::{LedgerError, cell, int, ln, sqrt};
use crate::ledger::recompute::{TRAINING_SIZES, gap_bound};
use crate::ledger::verdict::Finding;
use num_bigint::BigInt;
use num_rational::BigRational;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "T3.bounds",
        place: "Section 6.3, Table 3",
        statement: "The bounds at N = 2002, 3003 and 4200 are 0.278, 0.253 and 0.228.",
        hypotheses: "d_eff = 1335, δ = 0.05; the second summand of the formula, which bounds the gap",
        check: Check::Numbers,
        advice: "The numbers follow from the formula; the formula itself is refuted (T3, L7).",
    },
    Claim {
        id: "T3.gaps",
        place: "Section 6.3, Table 3",
        statement: "The gaps are the differences of test and training loss.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "T3.margin",
        place: "Sections 3.3, 6.3, 9, Tables 8 and 10",
        statement: "The gap is 96.3 % below the bound.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "T3.active",
        place: "Section 3.3",
        statement: "47 % of the parameters are active: 1335 of about 2800.",
        hypotheses: "about 2800 read as 2750 to 2850",
        check: Check::Numbers,
        advice: "Exactly 2800 would give 47.7 %, which rounds to 48 %; print the parameter count.",
    },
    Claim {
        id: "T3.parameters",
        place: "Sections 3.3, 6.3",
        statement: "The aggregator with 16 hidden units has about 2800 parameters.",
        hypotheses: "the layers of the published reference implementation, latent dimension 64",
        check: Check::Numbers,
        advice: "State the architecture; the published one has 4451 at 16 hidden units.",
    },
    Claim {
        id: "T3.samples",
        place: "Sections 3.3, 6.3",
        statement: "The ratio of 4200 samples to 1335 effective dimensions is 3.1.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "T3.overparameterized",
        place: "Sections 3.3, 6.3",
        statement: "That ratio is one of over-parameterization.",
        hypotheses: "over-parameterized: more effective parameters than samples",
        check: Check::Own(overparameterized),
        advice: "Call it samples per dimension: the model is under-parameterized by this count.",
    },
    Claim {
        id: "T3.nonvacuous",
        place: "Abstract, Sections 3.3, 6.3, 9",
        statement: "The bound is informative at every training size.",
        hypotheses: "informative: training loss plus bound is below ln 3, the loss of a uniform guess",
        check: Check::Own(nonvacuous),
        advice: "True of the printed formula only; it is no bound (T3). Use T3′.",
    },
    Claim {
        id: "T3.needed",
        place: "Sections 8.2, B.3",
        statement: "1.5 effective dimensions are 2002 samples.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "1.5·1335 = 2002.5; say which way it was rounded.",
    },
    Claim {
        id: "T3.condition",
        place: "Sections 8.2, B.3",
        statement: "A non-vacuous bound needs N ≥ 1.5·d_eff.",
        hypotheses: "the training loss printed for N = 2002",
        check: Check::Own(condition),
        advice: "The formula gives a value below one for smaller N too; drop the condition or derive it.",
    },
    Claim {
        id: "T3.hidden",
        place: "Section 8.3",
        statement: "64 hidden units make the bound vacuous because d_eff becomes too large.",
        hypotheses: "N and training loss as printed; any d_eff",
        check: Check::Own(hidden),
        advice: "d·ln(eN/d) is largest at d = N: a formula that tightens when the model outgrows the data is not a generalization bound.",
    },
    Claim {
        id: "T3.few-shot",
        place: "Section 8.2",
        statement: "Below 100 samples there is no theoretical coverage.",
        hypotheses: "the formula at N = 100, d_eff = 1335",
        check: Check::Own(few_shot),
        advice: "Say that the formula is undefined there: the root's argument is negative.",
    },
    Claim {
        id: "T3.stability",
        place: "Sections 6.3, A.6, B.3",
        statement: "Stability at rate 2L/(λN) implies that the gap is small.",
        hypotheses: "λ = 10⁻⁴, N = 4200, Lipschitz constant L = 1",
        check: Check::Own(stability),
        advice: "With this λ the stability bound says nothing; use a held-out bound (T3′).",
    },
    Claim {
        id: "T3.shrinks",
        place: "Section 6.3, Figure 4",
        statement: "The gap behaves like the bound: it does not grow with N.",
        hypotheses: "standard errors from the deviations at N = 4200 and 5 trials; growth beyond 3 of them counts",
        check: Check::Own(shrinks),
        advice: "Say that the gap rose from N = 3003 to 4200 while the bound fell.",
    },
    Claim {
        id: "T3.accuracy",
        place: "Section 6.3, Table 10",
        statement: "The test accuracy of 95.4 % is a fraction of 900 test examples, averaged over 5 trials.",
        hypotheses: "",
        check: Check::Own(accuracy),
        advice: "None.",
    },
    Claim {
        id: "T3.repeats",
        place: "Abstract, Sections 3.3, 6.3, 9, B.3, Tables 8 and 10",
        statement: "The numbers of theorem 3 are the same wherever they are printed.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "T3.settings",
        place: "Abstract, Sections 3.3, 5, 6.3, 8.2, 9, B.3",
        statement: "The settings of theorem 3 are the same wherever they are printed.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
];

fn overparameterized(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let ratio = cell("sec:exp-thm3/ratio/N") / cell("sec:exp-thm3/ratio/d_eff");
    let one = cx.value(&int(1))?;
    Ok(Finding::decided(
        !cx.value(&ratio)?.exceeds(&one),
        "over-parameterization",
        format!(
            "{} samples for each effective parameter",
            cx.show(&ratio, 2)?
        ),
        vec![cx.line(&ratio, 3)?],
    ))
}

fn nonvacuous(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let trivial = ln(cell("sec:thm1/classes"));
    let mut evidence = vec![format!("uniform guess: {}", cx.line(&trivial, 3)?)];
    let mut holds = true;
    for n in TRAINING_SIZES {
        let sum = cell(format!("tab:thm3/N={n}/train")) + cell(format!("tab:thm3/N={n}/bound"));
        holds &= cx.value(&trivial)?.exceeds(&cx.value(&sum)?);
        evidence.push(format!("N = {n}: {}", cx.line(&sum, 3)?));
    }
    Ok(Finding::decided(
        holds,
        "informative at all sizes",
        "compared with the loss of a uniform guess",
        evidence,
    ))
}

fn condition(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    // One sample for each effective dimension, well below the factor that is said to be needed.
    let d = || cell("sec:exp-thm3/d_eff");
    let at_one = gap_bound(d(), cell("tab:thm3/N=2002/train"), d());
    let one = cx.value(&int(1))?;
    let evidence = vec![format!("N = d_eff: {}", cx.line(&at_one, 3)?)];
    let factor = cx.value(&cell("app:proof-thm3/factor"))?;
    Ok(
        if factor.exceeds(&one) && one.exceeds(&cx.value(&at_one)?) {
            Finding::refuted(
                format!(
                    "at N = d_eff, a factor of 1 and not {}, the formula gives {}",
                    cx.print("app:proof-thm3/factor")?,
                    cx.show(&at_one, 3)?
                ),
                evidence,
            )
        } else {
            Finding::reproduced("not below one at N = d_eff", evidence)
        },
    )
}

fn hidden(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    // d·ln(eN/d) has the derivative ln(N/d): it is largest at d = N, where it is N.
    let n = || cell("sec:exp-thm3/N");
    let worst = sqrt(
        int(2)
            * (cell("sec:exp-thm3/train") + int(1) / n())
            * (n() + ln(int(2) / cell("sec:thm1/delta")))
            / n(),
    );
    let one = cx.value(&int(1))?;
    let wide = cx
        .paper
        .number("sec:limitations-practical/hidden-vacuous")?;
    let best = cx.paper.number("sec:limitations-practical/hidden-best")?;
    let evidence = vec![
        "d·ln(eN/d) has the derivative ln(N/d), so it is at most N, at d = N".to_owned(),
        format!("largest over all d: {}", cx.line(&worst, 3)?),
    ];
    Ok(
        if wide.value() > best.value() && one.exceeds(&cx.value(&worst)?) {
            Finding::refuted(
                format!(
                    "for every d_eff, so for {wide} hidden units too, the formula is at most {}",
                    cx.show(&worst, 3)?
                ),
                evidence,
            )
        } else {
            Finding::reproduced("the formula exceeds one for some d_eff", evidence)
        },
    )
}

fn few_shot(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let (n, d) = (
        cell("sec:limitations-assumptions/few-shot"),
        cell("sec:exp-thm3/d_eff"),
    );
    let complexity = d.clone() * (int(1) + ln(n / d)) + ln(int(2) / cell("sec:thm1/delta"));
    let zero = cx.value(&int(0))?;
    Ok(Finding::decided(
        zero.exceeds(&cx.value(&complexity)?),
        "no coverage",
        format!(
            "the root's argument has the sign of {}",
            cx.show(&complexity, 0)?
        ),
        vec![cx.line(&complexity, 1)?],
    ))
}

fn stability(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let bound = int(2) / (cell("sec:exp-thm3/lambda") * cell("sec:exp-thm3/N"));
    let evidence = vec![cx.line(&bound, 2)?];
    let one = cx.value(&int(1))?;
    Ok(if one.exceeds(&cx.value(&bound)?) {
        Finding::reproduced(
            format!("gap at most {} for L = 1", cx.show(&bound, 2)?),
            evidence,
        )
    } else {
        Finding::vacuous(
            format!("gap ≤ {}·L", cx.show(&bound, 2)?),
            "a loss in [0, 1] has a gap of at most 1",
            evidence,
        )
    })
}

fn shrinks(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let growth = cell("tab:thm3/N=4200/gap") - cell("tab:thm3/N=3003/gap");
    let (test, train) = (
        || cell("sec:exp-thm3/test.sd"),
        || cell("sec:exp-thm3/train.sd"),
    );
    let error = sqrt((test() * test() + train() * train()) / cell("sec:exp-thm3/trials"));
    let limit = int(3) * error.clone();
    let grew = cx.value(&growth)?.exceeds(&cx.value(&limit)?);
    Ok(Finding::decided(
        !grew,
        "the gap does not grow",
        format!(
            "from N = 3003 to 4200 it grew by {}, with a standard error of {}",
            cx.show(&growth, 4)?,
            cx.show(&error, 5)?
        ),
        vec![cx.line(&growth, 4)?, cx.line(&error, 5)?],
    ))
}

fn accuracy(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let (low, high) = cx.paper.number("sec:exp-thm3/accuracy")?.interval();
    let answers = cx.paper.number("sec:exp-thm3/test-size")?.value()
        * cx.paper.number("sec:exp-thm3/trials")?.value();
    let (first, last): (BigInt, BigInt) = (
        (low * &answers).ceil().to_integer(),
        (high * &answers).floor().to_integer(),
    );
    let zero = BigRational::from_integer(0.into());
    let holds = first <= last && answers > zero;
    Ok(Finding::decided(
        holds,
        format!("accuracy {}", cx.print("sec:exp-thm3/accuracy")?),
        format!("{first} to {last} right answers of {answers} round to it"),
        Vec::new(),
    ))
}
