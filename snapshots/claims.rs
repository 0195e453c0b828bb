//! Every claim's verdict, and which printed number it takes to turn one.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::LazyLock;
use std::time::Instant;

use lpf::ledger::Records;
use lpf::ledger::VerdictKind;
use lpf::ledger::claims::{Judged, counts, judge_all};
use lpf::ledger::paper::Paper;
use lpf::ledger::recompute;
use rayon::prelude::*;

use crate::{pinned, pinned_text};

/// Every verdict on the published paper, computed once.
static JUDGED: LazyLock<Vec<Judged>> =
    LazyLock::new(|| judge_all(&Paper::published(), &Records::none()));

#[test]
fn every_verdict_is_as_pinned() {
    let judged = &*JUDGED;
    let mut table = String::new();
    for (kind, count) in counts(judged) {
        writeln!(table, "{kind:16} {count}").unwrap();
    }
    writeln!(table, "{:16} {}\n", "all", judged.len()).unwrap();
    let mut details = String::new();
    for entry in judged {
        let (claim, finding) = (&entry.claim, &entry.finding);
        let premises = entry.refuted_premises.iter().map(ToString::to_string);
        let premises: Vec<String> = premises.collect();
        let mark = if premises.is_empty() {
            String::new()
        } else {
            format!(" [its proof uses {}, refuted]", premises.join(", "))
        };
        writeln!(table, "{:20} {}{mark}", claim.id, finding.verdict.kind()).unwrap();
        writeln!(
            details,
            "{} ({}) {}{mark}\n  {}\n  {}",
            claim.id,
            claim.place,
            finding.verdict.kind(),
            claim.statement,
            finding.verdict
        )
        .unwrap();
        for line in &finding.evidence {
            writeln!(details, "    {line}").unwrap();
        }
    }
    pinned_text("src/ledger/verdicts.txt", &table);
    pinned("claims", "evidence", &details);
}

/// A misprint: ten units of the last digit up or down.
const MISPRINTS: [i64; 2] = [10, -10];

/// What a misprint does to the verdicts.
#[derive(Clone, Copy, PartialEq)]
enum Effect {
    Kind,
    Value,
    Nothing,
}

#[test]
fn a_misprint_of_any_number_turns_a_verdict() {
    let paper = Paper::published();
    let records = Records::none();
    let recomputations = recompute::all();
    let mut judged = JUDGED.clone();
    // Quick checks first: most misprints turn one of them, and the slow ones need not run.
    judged.sort_by_cached_key(|entry| {
        let start = Instant::now();
        entry.claim.judge(&paper, &records, &recomputations);
        start.elapsed()
    });
    let numbers: Vec<_> = paper.numbers().collect();
    let effects: Vec<Effect> = numbers
        .par_iter()
        .map(|&(id, printed)| {
            let concerned: Vec<_> = judged
                .iter()
                .filter(|entry| entry.finding.cells.contains(id))
                .collect();
            let mut effect = Effect::Nothing;
            for shift in MISPRINTS {
                let altered = paper.with(id, printed.shifted(shift)).unwrap();
                for entry in &concerned {
                    let after = entry.claim.judge(&altered, &records, &recomputations);
                    let before = &entry.finding.verdict;
                    if after.verdict.kind() != before.kind() {
                        return Effect::Kind;
                    }
                    if after.verdict != *before {
                        effect = Effect::Value;
                    }
                }
            }
            effect
        })
        .collect();
    let with = |effect: Effect| -> Vec<&str> {
        let pairs = numbers.iter().zip(&effects);
        pairs
            .filter(|(_, e)| **e == effect)
            .map(|((id, _), _)| *id)
            .collect()
    };
    let (kind, value, none) = (
        with(Effect::Kind).len(),
        with(Effect::Value),
        with(Effect::Nothing),
    );
    assert!(none.is_empty(), "no verdict notices a misprint of {none:?}");
    let mut text = format!("a misprint turns the kind of a verdict: {kind}\n\n");
    writeln!(
        text,
        "it changes the values that a verdict states: {}",
        value.len()
    )
    .unwrap();
    for id in &value {
        writeln!(text, "  {id}").unwrap();
    }
    pinned("claims", "misprints", &text);
}

#[test]
fn ids_are_unique_and_every_recomputation_has_its_claim() {
    let judged = &*JUDGED;
    let ids: BTreeSet<&str> = judged.iter().map(|entry| entry.claim.id.as_str()).collect();
    assert_eq!(ids.len(), judged.len());
    for entry in recompute::all() {
        assert!(ids.contains(entry.claim.as_str()), "{}", entry.claim);
    }
    // A check without a value would show as this reason; the published paper has none.
    for entry in judged {
        assert!(
            !entry.finding.verdict.to_string().contains("has no value"),
            "{}: {}",
            entry.claim.id,
            entry.finding.verdict
        );
    }
    assert!(counts(judged)[&VerdictKind::Refuted] > 0);
}
