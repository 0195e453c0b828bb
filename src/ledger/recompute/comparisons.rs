//! Assumptions, domains and comparisons: the numbers there that follow from a formula.

use super::{Recomputation, derived};
use crate::ledger::expr::{cell, int, max};

/// The seven domains whose accuracy section 6.9 prints; the eighth, compliance, is in section 8.1.
const DOMAINS: [&str; 7] = [
    "fever",
    "academic",
    "construction",
    "healthcare",
    "finance",
    "materials",
    "legal",
];

pub(super) fn add(list: &mut Vec<Recomputation>) {
    assumptions(list);
    domains(list);
    comparison(list);
}

fn assumptions(list: &mut Vec<Recomputation>) {
    let at = "sec:assumption-validation/A6";
    derived(
        list,
        "A6.required",
        format!("{at}/required"),
        cell(format!("{at}/required/numerator")) / cell(format!("{at}/required/denominator")),
    );
    derived(
        list,
        "A6.required",
        format!("{at}/required"),
        int(1) / (int(2) * cell(format!("{at}/classes"))),
    );
}

fn domains(list: &mut Vec<Recomputation>) {
    let sum = DOMAINS
        .iter()
        .map(|domain| cell(format!("sec:cross-domain/{domain}")))
        .fold(cell("sec:limitations-ack/lpf/accuracy"), |sum, x| sum + x);
    derived(
        list,
        "X.mean-accuracy",
        "sec:cross-domain/accuracy",
        sum / cell("sec:cross-domain/domains"),
    );
    derived(
        list,
        "X.improvement",
        "sec:cross-domain/improvement",
        cell("sec:cross-domain/accuracy")
            - max(
                cell("sec:empirical-overview/bert/accuracy"),
                cell("sec:empirical-overview/qwen/accuracy"),
            ),
    );
    derived(
        list,
        "X.bert-ece",
        "sec:advantages/bert/worse",
        cell("sec:advantages/bert/ece") / cell("sec:advantages/lpf/ece"),
    );
    // An expected calibration error as a fraction of one, in Table 10 and in section 7.2.
    derived(
        list,
        "X.two-eces",
        "sec:advantages/lpf/ece",
        cell("sec:exp-thm1/ece"),
    );
    derived(
        list,
        "X.two-accuracies",
        "tab:empirical-comparison/accuracy/spn",
        cell("sec:limitations-ack/lpf/accuracy"),
    );
}

fn comparison(list: &mut Vec<Recomputation>) {
    let table = "tab:empirical-comparison";
    derived(
        list,
        "X.accuracy-gain",
        format!("{table}/accuracy/note"),
        cell(format!("{table}/accuracy/learned")) - cell(format!("{table}/accuracy/baseline")),
    );
    for column in ["spn", "learned"] {
        derived(
            list,
            "X.robustness",
            format!("{table}/robustness/{column}"),
            cell("tab:thm5/eps=0.5/L1"),
        );
    }
    derived(
        list,
        "X.robustness",
        format!("{table}/robustness/note"),
        cell(format!("{table}/robustness/baseline")) / cell(format!("{table}/robustness/spn")),
    );
    derived(
        list,
        "X.passes",
        "sec:limitations-practical/passes",
        cell("sec:limitations-practical/K") * cell("sec:limitations-practical/M"),
    );
}
