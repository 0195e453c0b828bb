//! The structure of the argument: what rests on what, as the paper says it.

use super::{Check, Claim, Context};
use crate::ledger::expr::LedgerError;
use crate::ledger::paper::{DependencyGraph, Node, Voice};
use crate::ledger::verdict::Finding;
use num_traits::ToPrimitive;
use std::collections::BTreeSet;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "S.accounts",
        place: "Sections 2, 3, 4, 5; Figure 1, Table 1",
        statement: "Text, figure and table name the same assumptions for each theorem.",
        hypotheses: "",
        check: Check::Own(|_| accounts(&[Voice::Text, Voice::Figure, Voice::Table])),
        advice: "Correct the table: it leaves A2 out for theorem 1 and A4 for theorem 5.",
    },
    Claim {
        id: "S.proofs",
        place: "Sections 3, 4; Appendix B; Figure 1",
        statement: "The proofs use the assumptions that figure and statements name.",
        hypotheses: "",
        check: Check::Own(|_| accounts(&[Voice::Text, Voice::Figure, Voice::Proof])),
        advice: "Drop the assumptions that no proof uses, or use them.",
    },
    Claim {
        id: "S.results",
        place: "Section 4, Figure 1; Appendix B",
        statement: "Theorems 6 and 7 build on theorems 1, 2 and 4.",
        hypotheses: "",
        check: Check::Own(builds),
        advice: "The proof of theorem 6 uses theorem 1 only, that of theorem 7 theorem 2 only.",
    },
    Claim {
        id: "S.all-rely",
        place: "Section 2",
        statement: "All theoretical results rely on the six assumptions.",
        hypotheses: "each theorem uses one, and each is used",
        check: Check::Own(all_rely),
        advice: "Theorem 3 uses none, and nothing uses A5.",
    },
    Claim {
        id: "S.no-assumption",
        place: "Sections 2, 4; Table 1",
        statement: "Theorem 3 uses none of the assumptions.",
        hypotheses: "",
        check: Check::Own(no_assumption),
        advice: "None; but its lemma 7 needs a bounded loss, which is an assumption too.",
    },
];

fn names(nodes: &BTreeSet<Node>) -> String {
    if nodes.is_empty() {
        return "none".to_owned();
    }
    let names: Vec<String> = nodes.iter().map(Node::to_string).collect();
    names.join(" ")
}

fn accounts(voices: &[Voice]) -> Result<Finding, LedgerError> {
    let found = DependencyGraph::published().disagreements(voices);
    let evidence: Vec<String> = found
        .iter()
        .map(|d| {
            let sides: Vec<String> = d
                .sides
                .iter()
                .map(|(voice, nodes)| format!("{voice}: {}", names(nodes)))
                .collect();
            format!("{}: {}", d.of, sides.join("; "))
        })
        .collect();
    let of: Vec<String> = found.iter().map(|d| d.of.to_string()).collect();
    Ok(Finding::decided(
        found.is_empty(),
        "the same assumptions everywhere",
        format!("different ones for {}", of.join(", ")),
        evidence,
    ))
}

fn builds(_: &Context<'_>) -> Result<Finding, LedgerError> {
    let graph = DependencyGraph::published();
    let theorems = |voice: Voice, of: Node| -> BTreeSet<Node> {
        graph
            .said
            .iter()
            .filter(|said| said.voice == voice && said.of == of)
            .flat_map(|said| said.on.iter().copied())
            .filter(|node| matches!(node, Node::Theorem(_)))
            .collect()
    };
    let mut evidence = Vec::new();
    let mut same = true;
    for of in [Node::Theorem(6), Node::Theorem(7)] {
        let (figure, proof) = (theorems(Voice::Figure, of), theorems(Voice::Proof, of));
        same &= figure == proof;
        evidence.push(format!(
            "{of}: figure {}; proof {}",
            names(&figure),
            names(&proof)
        ));
    }
    let recomputed = evidence.join(", ");
    Ok(Finding::decided(
        same,
        "T1, T2 and T4",
        recomputed,
        evidence,
    ))
}

fn all_rely(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let graph = DependencyGraph::published();
    let count = cx
        .paper
        .number("sec:assumption-validation/assumptions")?
        .value()
        .to_integer()
        .to_u8()
        .unwrap_or(0);
    let unused = graph.unused_assumptions(count);
    let free: Vec<String> = (1..=7)
        .map(Node::Theorem)
        .filter(|of| {
            !graph
                .said
                .iter()
                .filter(|said| said.of == *of)
                .flat_map(|said| &said.on)
                .any(|node| matches!(node, Node::Assumption(_)))
        })
        .map(|node| node.to_string())
        .collect();
    let unused: Vec<String> = unused.iter().map(Node::to_string).collect();
    Ok(Finding::decided(
        unused.is_empty() && free.is_empty(),
        "every result relies on the assumptions",
        format!(
            "no assumption is named for {}; nothing rests on {}",
            free.join(", "),
            unused.join(", ")
        ),
        Vec::new(),
    ))
}

fn no_assumption(_: &Context<'_>) -> Result<Finding, LedgerError> {
    let graph = DependencyGraph::published();
    let accounts: Vec<_> = graph
        .said
        .iter()
        .filter(|said| said.of == Node::Theorem(3))
        .collect();
    let evidence: Vec<String> = accounts
        .iter()
        .map(|said| {
            format!(
                "{}: {}",
                said.voice,
                names(&said.on.iter().copied().collect())
            )
        })
        .collect();
    let holds = accounts
        .iter()
        .flat_map(|said| &said.on)
        .all(|node| !matches!(node, Node::Assumption(_)));
    Ok(Finding::decided(
        holds,
        "no assumption",
        format!("{} accounts agree", accounts.len()),
        evidence,
    ))
}
