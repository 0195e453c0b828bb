//! Domains, baselines and summaries.

use super::{Check, Claim, Context};
use crate::ledger::expr::{LedgerError, cell, int};
use crate::ledger::paper::{Suffix, Value};
use crate::ledger::verdict::Finding;
use num_rational::BigRational;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "X.mean-accuracy",
        place: "Section 6.9",
        statement: "The mean accuracy over eight domains is 99.3 %.",
        hypotheses: "compliance at 97.8 %, from section 8.1",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "X.improvement",
        place: "Section 6.9",
        statement: "The improvement over the best baseline is 2.4 points.",
        hypotheses: "the best of the baselines that section 1.3 prints",
        check: Check::Numbers,
        advice: "Qwen3-32B at 98.0 % is the best one printed, which leaves 1.3 points; 2.4 fits BERT.",
    },
    Claim {
        id: "X.language-model",
        place: "Sections 1.3, 8.1",
        statement: "LPF-SPN is more accurate than the large language model.",
        hypotheses: "compared on compliance, the domain for which BERT's 97.0 % is printed beside LPF-SPN's",
        check: Check::Own(language_model),
        advice: "Compare on the same domain: 97.8 % is below 98.0 %.",
    },
    Claim {
        id: "X.same-domain",
        place: "Sections 1.3, 8.1",
        statement: "LPF-SPN's 99.3 % and BERT's 97.0 % are measured on the same data.",
        hypotheses: "",
        check: Check::Own(same_domain),
        advice: "99.3 % averages eight domains; BERT's 97.0 % stands beside LPF-SPN's 97.8 % on one.",
    },
    Claim {
        id: "X.language-model-ece",
        place: "Section 1.3",
        statement: "The language model has 98.0 % accuracy and a calibration error of 79.7 %.",
        hypotheses: "confidence is the largest of three class probabilities, so at least 1/3",
        check: Check::Own(language_model_ece),
        advice: "Say what was taken as confidence; as the largest class probability this is impossible.",
    },
    Claim {
        id: "X.bert-ece",
        place: "Section 7.2",
        statement: "BERT's calibration error is 2.3 times LPF-SPN's.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "X.two-eces",
        place: "Sections 6.1, 7.2, 8.1",
        statement: "LPF-SPN's calibration error on compliance is 1.4 % and 0.185.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "Thirteen-fold apart; say which system and data each belongs to.",
    },
    Claim {
        id: "X.two-accuracies",
        place: "Sections 7.3, 8.1",
        statement: "LPF-SPN's accuracy on compliance is about 92 % and 97.8 %.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "Say which system and data each belongs to.",
    },
    Claim {
        id: "X.accuracy-gain",
        place: "Section 7.3, Table 10",
        statement: "LPF-Learned is 10.4 points more accurate than the baseline.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "A difference with a number known to the nearest point has no tenths.",
    },
    Claim {
        id: "X.robustness",
        place: "Section 7.3, Table 10",
        statement: "A shift of 12 % against about 50 % is four times more robust.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "The baseline's 50 % is not measured anywhere; an average moves by at most εδ (T5.baseline).",
    },
    Claim {
        id: "X.passes",
        place: "Section 8.3",
        statement: "100 items with 64 samples take 6,400 decoder calls.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "X.counts",
        place: "Abstract, Sections 1.3, 6.9, 7.1, 9",
        statement: "There are seven theorems and eight domains wherever they are counted.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
    Claim {
        id: "X.lists",
        place: "Sections 1.2, 1.3, 6.8",
        statement: "Four stages, eight domains, six assumptions and seven theorems are as many as are listed.",
        hypotheses: "",
        check: Check::Own(lists),
        advice: "None.",
    },
    Claim {
        id: "X.scope",
        place: "Abstract, Section 8.1",
        statement: "All theorems are validated on eight domains; the evaluation is a single-domain one.",
        hypotheses: "",
        check: Check::Own(scope),
        advice: "The two sentences exclude each other.",
    },
    Claim {
        id: "X.baselines",
        place: "Abstract, Section 8.1",
        statement: "The comparison is with uniform averaging only, and with ten baselines.",
        hypotheses: "",
        check: Check::Own(baselines),
        advice: "Say which comparison is this paper's.",
    },
    Claim {
        id: "X.consistent",
        place: "Abstract, Table 10",
        statement: "LPF improves consistently over the baselines.",
        hypotheses: "calibration error at K = 5 and test accuracy, Table 10, for LPF-SPN",
        check: Check::Own(consistent),
        advice: "The uniform baseline is five times better calibrated; qualify the sentence.",
    },
    Claim {
        id: "X.ranges",
        place: "everywhere",
        statement: "No printed number is negative, and no accuracy, error or share exceeds 100 %.",
        hypotheses: "",
        check: Check::Own(ranges),
        advice: "None.",
    },
    Claim {
        id: "X.repeats",
        place: "Abstract, Sections 1.3, 6.9, 7.2, 8",
        statement: "The comparison's numbers are the same wherever they are printed.",
        hypotheses: "",
        check: Check::Numbers,
        advice: "None.",
    },
];

fn language_model(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let (lpf, model) = (
        cx.value(&cell("sec:limitations-ack/lpf/accuracy"))?,
        cx.value(&cell("sec:empirical-overview/qwen/accuracy"))?,
    );
    Ok(Finding::decided(
        !model.exceeds(&lpf),
        "LPF-SPN is the more accurate",
        format!(
            "{} against {}",
            cx.print("sec:limitations-ack/lpf/accuracy")?,
            cx.print("sec:empirical-overview/qwen/accuracy")?
        ),
        Vec::new(),
    ))
}

fn same_domain(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let id = |at: &str, who: &str| format!("{at}/{who}/accuracy");
    let (overview, limits) = ("sec:empirical-overview", "sec:limitations-ack");
    let same_bert = cx.paper.number(&id(overview, "bert"))?.value()
        == cx.paper.number(&id(limits, "bert"))?.value();
    let same_lpf = cx.paper.number(&id(overview, "lpf"))?.value()
        == cx.paper.number(&id(limits, "lpf"))?.value();
    Ok(Finding::decided(
        same_bert == same_lpf,
        format!(
            "{} beside BERT's {}",
            cx.print(&id(overview, "lpf"))?,
            cx.print(&id(overview, "bert"))?
        ),
        format!(
            "{} beside the same {}",
            cx.print(&id(limits, "lpf"))?,
            cx.print(&id(limits, "bert"))?
        ),
        Vec::new(),
    ))
}

/// Bins that are right are at most `1 − 1/|Y|` off (confidence is at least `1/|Y|`), bins that are
/// wrong at most 1: the error is at most `accuracy·(1 − 1/|Y|) + (1 − accuracy)`.
fn language_model_ece(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let accuracy = || cell("sec:empirical-overview/qwen/accuracy");
    let most = int(1) - accuracy() / cell("sec:thm1/classes");
    let above = cx
        .value(&cell("sec:empirical-overview/qwen/ece"))?
        .exceeds(&cx.value(&most)?);
    Ok(Finding::decided(
        !above,
        format!("error {}", cx.print("sec:empirical-overview/qwen/ece")?),
        format!("at most {}", cx.show(&most, 3)?),
        vec![
            "accuracy·(1 − 1/|Y|) + (1 − accuracy) = 1 − accuracy/|Y|".to_owned(),
            cx.line(&most, 4)?,
        ],
    ))
}

fn lists(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let paper = cx.paper.paper();
    let graph = crate::ledger::paper::DependencyGraph::published();
    let theorems: std::collections::BTreeSet<_> = graph
        .said
        .iter()
        .map(|said| said.of)
        .filter(|node| matches!(node, crate::ledger::paper::Node::Theorem(_)))
        .collect();
    let assumptions = super::all()
        .iter()
        .filter(|claim| {
            matches!(
                super::node(claim.id),
                Some(crate::ledger::paper::Node::Assumption(_))
            )
        })
        .count();
    let mut evidence = Vec::new();
    let mut holds = true;
    for (id, listed) in [
        (
            "sec:architecture/stages",
            paper.under("sec:architecture/stage/").count(),
        ),
        (
            "sec:empirical-overview/domains",
            paper.under("sec:empirical-overview/domain/").count(),
        ),
        ("sec:assumption-validation/assumptions", assumptions),
        ("abstract/theorems", theorems.len()),
    ] {
        let stated = cx.paper.number(id)?;
        holds &= stated.value() == BigRational::from_integer(listed.into());
        evidence.push(format!("{id}: {stated} stated, {listed} listed"));
    }
    Ok(Finding::decided(
        holds,
        "as many as stated",
        "counted",
        evidence,
    ))
}

fn words<'a>(cx: &'a Context<'_>, id: &str) -> &'a str {
    match cx.paper.paper().cell(id).map(|cell| &cell.value) {
        Some(Value::Text(words)) => words,
        _ => "nothing",
    }
}

fn scope(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let domains = cx.paper.number("abstract/evaluation-domains")?;
    let one = BigRational::from_integer(1.into());
    let said = words(cx, "sec:limitations-ack/scope");
    Ok(Finding::decided(
        (said == "single domain") == (domains.value() == one),
        format!("{domains} domains (abstract)"),
        format!("{said} (section 8.1)"),
        Vec::new(),
    ))
}

fn baselines(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let count = cx.paper.number("sec:limitations-ack/baselines")?;
    let one = BigRational::from_integer(1.into());
    let said = words(cx, "sec:limitations-ack/compared-with");
    Ok(Finding::decided(
        (said == "uniform averaging only") == (count.value() == one),
        format!("{count} baselines"),
        said,
        Vec::new(),
    ))
}

fn consistent(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let at = |row: &str, column: &str| format!("tab:empirical-comparison/{row}/{column}");
    let value = |id: String| cx.value(&cell(id));
    let worse_ece = value(at("ece", "spn"))?.exceeds(&value(at("ece", "baseline"))?);
    let worse_accuracy = value(at("accuracy", "baseline"))?.exceeds(&value(at("accuracy", "spn"))?);
    Ok(Finding::decided(
        !worse_ece && !worse_accuracy,
        "consistent improvements",
        format!(
            "calibration error {} against the baseline's {}",
            cx.print(&at("ece", "spn"))?,
            cx.print(&at("ece", "baseline"))?
        ),
        vec![format!(
            "accuracy {} against {}",
            cx.print(&at("accuracy", "spn"))?,
            cx.print(&at("accuracy", "baseline"))?
        )],
    ))
}

fn ranges(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let (zero, one) = (
        BigRational::from_integer(0.into()),
        BigRational::from_integer(1.into()),
    );
    let mut outside = Vec::new();
    let mut count = 0;
    for (id, _) in cx.paper.paper().numbers() {
        let printed = cx.paper.number(id)?;
        let value = printed.value();
        let share = printed.suffix() == Suffix::Percent;
        if value < zero || (share && value > one) {
            outside.push(format!("{id}: {printed}"));
        }
        count += 1;
    }
    Ok(Finding::decided(
        outside.is_empty(),
        format!("{count} numbers"),
        if outside.is_empty() {
            "all in range".to_owned()
        } else {
            outside.join(", ")
        },
        Vec::new(),
    ))
}
