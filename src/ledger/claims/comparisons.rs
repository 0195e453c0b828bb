//! Comparisons across experiments and with other methods.

use std::collections::BTreeSet;

use num_rational::BigRational;

use super::{Check, Context, Outcome};
use crate::ledger::paper::{DependencyGraph, Node, Suffix};
use crate::ledger::verdict::Finding;

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("X.language-model", language_model),
    ("X.same-domain", same_domain),
    ("X.language-model-ece", language_model_ece),
    ("X.two-eces", |cx| {
        cx.two("sec:advantages/lpf/ece", "sec:exp-thm1/ece")
    }),
    ("X.two-accuracies", |cx| {
        cx.two(
            "sec:limitations-ack/lpf/accuracy",
            "tab:empirical-comparison/accuracy/spn",
        )
    }),
    ("X.lists", lists),
    ("X.scope", scope),
    ("X.baselines", baselines),
    ("X.consistent", consistent),
    ("X.improvement", improvement),
    ("X.ranges", ranges),
];

fn integer(n: usize) -> BigRational {
    BigRational::from_integer(n.into())
}

impl Context<'_> {
    /// Two numbers for what bears one name: equal, or of data that are not told apart in print.
    fn two(&self, one: &str, other: &str) -> Outcome {
        let (first, second) = (self.number(one)?, self.number(other)?);
        Ok(
            match self.agree(&format!("[{one}]"), &format!("[{other}]"))? {
                true => Finding::reproduced(format!("{first} and {second}"), Vec::new()),
                false => Finding::not_reproducible(
                    format!(
                        "{first}, cited from the companion work, and {second}: the companion's domain and system are \
                         not printed"
                    ),
                    Vec::new(),
                ),
            },
        )
    }
}

fn language_model(cx: &Context<'_>) -> Outcome {
    let model = "sec:empirical-overview/qwen/accuracy";
    let against = |lpf: &str| -> Outcome {
        Ok(Finding::decided(
            !cx.exceeds(&format!("[{model}]"), &format!("[{lpf}]"))?,
            "LPF-SPN is the more accurate",
            format!("{} against {}", cx.number(lpf)?, cx.number(model)?),
            Vec::new(),
        ))
    };
    Ok(Finding::by_reading(vec![
        (
            "its mean over eight domains against the one number printed for the model",
            against("sec:empirical-overview/lpf/accuracy")?,
        ),
        (
            "where BERT's number of the same list stands beside LPF-SPN's, in section 8.1",
            against("sec:limitations-ack/lpf/accuracy")?,
        ),
    ]))
}

fn same_domain(cx: &Context<'_>) -> Outcome {
    let at = |place: &str, who: &str| cx.number(&format!("sec:{place}/{who}/accuracy"));
    let [overview, limits] = ["empirical-overview", "limitations-ack"];
    let (bert, bert_again) = (at(overview, "bert")?, at(limits, "bert")?);
    let (lpf, lpf_again) = (at(overview, "lpf")?, at(limits, "lpf")?);
    let both = format!("{lpf} beside BERT's {bert}, and {lpf_again} beside its {bert_again}");
    Ok(
        match (bert.value() == bert_again.value()) == (lpf.value() == lpf_again.value()) {
            true => Finding::reproduced(both, Vec::new()),
            false => Finding::not_reproducible(
                format!("{both}: over which domains each was measured is not printed"),
                Vec::new(),
            ),
        },
    )
}

/// Bins that are right are at most `1 − 1/|Y|` off (confidence is at least `1/|Y|`), bins that are
/// wrong at most 1: the error is at most `accuracy·(1 − 1/|Y|) + (1 − accuracy)`.
fn language_model_ece(cx: &Context<'_>) -> Outcome {
    let ece = "[sec:empirical-overview/qwen/ece]";
    let printed = format!("error {}", cx.number("sec:empirical-overview/qwen/ece")?);
    let own = Finding::decided(
        !cx.exceeds(ece, "1")?,
        printed.clone(),
        "any error up to 1 is possible",
        Vec::new(),
    );
    let most = "1 - [sec:empirical-overview/qwen/accuracy]/[sec:thm1/classes]";
    let largest = Finding::decided(
        !cx.exceeds(ece, most)?,
        printed,
        format!("at most {}", cx.show(most, 3)?),
        vec![
            "accuracy·(1 − 1/|Y|) + (1 − accuracy) = 1 − accuracy/|Y|".to_owned(),
            cx.line(most, 4)?,
        ],
    );
    Ok(Finding::by_reading(vec![
        ("confidence is what the model says of itself", own),
        (
            "confidence is the largest of three class probabilities, as for the others",
            largest,
        ),
    ]))
}

fn lists(cx: &Context<'_>) -> Outcome {
    let graph = DependencyGraph::published();
    let results: BTreeSet<Node> = graph.entries.iter().map(|entry| entry.of).collect();
    let theorems = results
        .iter()
        .filter(|node| matches!(node, Node::Theorem(_)));
    let assumptions = super::all()
        .iter()
        .filter(|claim| matches!(super::node(&claim.id), Some(Node::Assumption(_))));
    let under = |prefix: &str| cx.paper.paper().under(prefix).count();
    let mut evidence = Vec::new();
    let mut holds = true;
    for (id, listed) in [
        ("sec:architecture/stages", under("sec:architecture/stage/")),
        (
            "sec:empirical-overview/domains",
            under("sec:empirical-overview/domain/"),
        ),
        ("sec:assumption-validation/assumptions", assumptions.count()),
        ("abstract/theorems", theorems.count()),
    ] {
        let stated = cx.number(id)?;
        holds &= stated.value() == integer(listed);
        evidence.push(format!("{id}: {stated} stated, {listed} listed"));
    }
    Ok(Finding::decided(
        holds,
        "as many as stated",
        "counted",
        evidence,
    ))
}

fn scope(cx: &Context<'_>) -> Outcome {
    let domains = cx.number("abstract/evaluation-domains")?;
    let words = cx.words("sec:limitations-ack/scope");
    Ok(Finding::decided(
        (words == "single domain") == (domains.value() == integer(1)),
        format!("{domains} domains (abstract)"),
        format!("{words} (section 8.1)"),
        Vec::new(),
    ))
}

/// Whose the baselines are, in the abstract and in section 8.1.
fn baselines(cx: &Context<'_>) -> Outcome {
    let count = cx.number("sec:limitations-ack/baselines")?;
    let own = cx.words("sec:limitations-ack/compared-with");
    let [first, second] =
        ["abstract", "sec:limitations-ack"].map(|place| cx.words(&format!("{place}/whose")));
    Ok(Finding::decided(
        first == second && count.value() > integer(1),
        format!("{first} (abstract)"),
        format!("{count} baselines of the {second}, {own} here (section 8.1)"),
        Vec::new(),
    ))
}

/// Over the neural baseline, the uncertainty method and the language model that section 1.3 prints.
fn consistent(cx: &Context<'_>) -> Outcome {
    let at = |who: &str, what: &str| format!("sec:empirical-overview/{who}/{what}");
    let mut better = true;
    let mut evidence = Vec::new();
    for who in ["bert", "edl", "qwen"] {
        let [accuracy, ece] = ["accuracy", "ece"].map(|what| at(who, what));
        better &= cx.exceeds(
            &format!("[{}]", at("lpf", "accuracy")),
            &format!("[{accuracy}]"),
        )? && cx.exceeds(&format!("[{ece}]"), &format!("[{}]", at("lpf", "ece")))?;
        evidence.push(format!(
            "{who}: accuracy {}, calibration error {}",
            cx.number(&accuracy)?,
            cx.number(&ece)?
        ));
    }
    evidence.push(format!(
        "uniform averaging, which the sentence does not name, is better calibrated: {} against {}",
        cx.number("tab:empirical-comparison/ece/baseline")?,
        cx.number("tab:empirical-comparison/ece/spn")?
    ));
    Ok(Finding::decided(
        better,
        "improvements over those it names",
        format!(
            "accuracy {}, calibration error {}",
            cx.number(&at("lpf", "accuracy"))?,
            cx.number(&at("lpf", "ece"))?
        ),
        evidence,
    ))
}

fn improvement(cx: &Context<'_>) -> Outcome {
    let over = |who: &str| -> Outcome {
        let gain = format!("[sec:cross-domain/accuracy] - [sec:empirical-overview/{who}/accuracy]");
        Ok(Finding::decided(
            cx.agree("[sec:cross-domain/improvement]", &gain)?,
            cx.number("sec:cross-domain/improvement")?.to_string(),
            cx.show(&gain, 4)?,
            vec![cx.line(&gain, 4)?],
        ))
    };
    Ok(Finding::by_reading(vec![
        ("over the best neural baseline", over("bert")?),
        (
            "over the best of all that are printed, a language model",
            over("qwen")?,
        ),
    ]))
}

fn ranges(cx: &Context<'_>) -> Outcome {
    let mut outside = Vec::new();
    let mut count = 0;
    for (id, _) in cx.paper.paper().numbers() {
        let printed = cx.number(id)?;
        let value = printed.value();
        let share = printed.suffix() == Suffix::Percent;
        if value < integer(0) || (share && value > integer(1)) {
            outside.push(format!("{id}: {printed}"));
        }
        count += 1;
    }
    let found = match outside.is_empty() {
        true => "all in range".to_owned(),
        false => outside.join(", "),
    };
    Ok(Finding::decided(
        outside.is_empty(),
        format!("{count} numbers"),
        found,
        Vec::new(),
    ))
}
