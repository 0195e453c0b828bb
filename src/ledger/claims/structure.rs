//! The structure of the argument: what rests on what, as the paper says it.

use std::collections::BTreeSet;

use num_traits::ToPrimitive;

use super::{Check, Context, Outcome};
use crate::ledger::paper::{Account, DependencyGraph, Node};
use crate::ledger::verdict::Finding;

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("S.accounts", |_| {
        accounts(&[Account::Text, Account::Figure, Account::Table])
    }),
    ("S.proofs", |_| {
        accounts(&[Account::Text, Account::Figure, Account::Proof])
    }),
    ("S.results", builds),
    ("S.all-rely", all_rely),
    ("S.no-assumption", no_assumption),
];

fn names<'a>(nodes: impl IntoIterator<Item = &'a Node>, between: &str) -> String {
    let names: Vec<String> = nodes.into_iter().map(Node::to_string).collect();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(between),
    }
}

fn accounts(accounts: &[Account]) -> Outcome {
    let found = DependencyGraph::published().disagreements(accounts);
    let evidence: Vec<String> = found
        .iter()
        .map(|d| {
            let sides: Vec<String> = d
                .sides
                .iter()
                .map(|(account, nodes)| format!("{account}: {}", names(nodes, " ")))
                .collect();
            format!("{}: {}", d.of, sides.join("; "))
        })
        .collect();
    Ok(Finding::decided(
        found.is_empty(),
        "the same assumptions everywhere",
        format!(
            "different ones for {}",
            names(found.iter().map(|d| &d.of), ", ")
        ),
        evidence,
    ))
}

fn builds(_: &Context<'_>) -> Outcome {
    let graph = DependencyGraph::published();
    let theorems = |account: Account, of: Node| -> BTreeSet<Node> {
        let premises = graph.premises(account, of).into_iter();
        premises
            .filter(|node| matches!(node, Node::Theorem(_)))
            .collect()
    };
    let mut evidence = Vec::new();
    // Of the two together, as the sentence has it.
    let mut used = [BTreeSet::new(), BTreeSet::new()];
    for of in [Node::Theorem(6), Node::Theorem(7)] {
        let [figure, proof] =
            [Account::Figure, Account::Proof].map(|account| theorems(account, of));
        used[0].extend(figure.iter().copied());
        used[1].extend(proof.iter().copied());
        evidence.push(format!(
            "{of}: figure {}; proof {}",
            names(&figure, " "),
            names(&proof, " ")
        ));
    }
    let recomputed = evidence.join(", ");
    Ok(Finding::decided(
        used[0] == used[1],
        names(&used[0], ", "),
        recomputed,
        evidence,
    ))
}

fn rests_on_an_assumption<'a>(premises: impl IntoIterator<Item = &'a Node>) -> bool {
    let mut premises = premises.into_iter();
    premises.any(|node| matches!(node, Node::Assumption(_)))
}

fn all_rely(cx: &Context<'_>) -> Outcome {
    let graph = DependencyGraph::published();
    let count = cx.count("sec:assumption-validation/assumptions")?;
    let unused = graph.unused_assumptions(count.to_u8().unwrap_or(0));
    let free: Vec<Node> = (1..=7)
        .map(Node::Theorem)
        .filter(|of| {
            let entries = graph.entries.iter().filter(|entry| entry.of == *of);
            !rests_on_an_assumption(entries.flat_map(|entry| &entry.on))
        })
        .collect();
    Ok(Finding::decided(
        unused.is_empty() && free.is_empty(),
        "every result relies on the assumptions",
        format!(
            "no assumption is named for {}; nothing rests on {}",
            names(&free, ", "),
            names(&unused, ", ")
        ),
        Vec::new(),
    ))
}

fn no_assumption(_: &Context<'_>) -> Outcome {
    let graph = DependencyGraph::published();
    let of_theorem_3 = || {
        graph
            .entries
            .iter()
            .filter(|entry| entry.of == Node::Theorem(3))
    };
    let evidence: Vec<String> = of_theorem_3()
        .map(|entry| format!("{}: {}", entry.account, names(&entry.on, " ")))
        .collect();
    Ok(Finding::decided(
        !rests_on_an_assumption(of_theorem_3().flat_map(|entry| &entry.on)),
        "no assumption",
        format!("{} accounts agree", evidence.len()),
        evidence,
    ))
}
