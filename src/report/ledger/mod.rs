//! The ledger as text, Markdown and HTML.
//!
//! | file | what it holds |
//! |---|---|
//! | `groups` | which claims belong together, and why each theorem stands or falls |
//! | `steps` | the lines of a finding, sorted by what they are |
//! | `text` | claims for a terminal and as Markdown |
//! | `html` | claims as entries of a page |

mod groups;
mod html;
mod steps;
mod text;

pub use groups::{Group, group, grouped};
pub(super) use html::{Around, claim_html, engines, tone};
pub use text::{Look, claim_markdown, claim_text, claims_text, theorems_text};

use super::component::Tone;
use crate::exhibit::{Cell, Table};
use crate::ledger::claims::{Judged, all, counts, node};
use crate::ledger::paper::Node;
use crate::ledger::{Evidence, EvidenceKind, VerdictKind};

/// How many claims have each verdict, with what the verdict means.
pub fn counts_table(judged: &[Judged]) -> Table {
    let rows = counts(judged)
        .into_iter()
        .map(|(kind, count)| {
            vec![
                Cell::text(words(kind)),
                Cell::count(count),
                Cell::text(kind.meaning()),
            ]
        })
        .collect();
    Table {
        id: "verdicts".into(),
        title: format!("{} claims", judged.len()),
        columns: ["verdict", "claims", "meaning"].map(str::to_owned).into(),
        rows,
    }
}

/// One line a claim: id, verdict, statement.
pub fn claims_table(judged: &[&Judged]) -> Table {
    let rows = judged
        .iter()
        .map(|entry| {
            vec![
                Cell::text(entry.claim.id.as_str()),
                Cell::text(words(entry.kind())),
                Cell::text(entry.claim.statement.as_str()),
            ]
        })
        .collect();
    Table {
        id: "claims".into(),
        title: "Claims".into(),
        columns: ["id", "verdict", "what is claimed"]
            .map(str::to_owned)
            .into(),
        rows,
    }
}

/// The theorems: what each says, its verdict, and what holds in its place.
pub fn theorems_table(judged: &[Judged]) -> Table {
    let rows = theorems(judged)
        .map(|entry| {
            let instead: Vec<String> = in_place_of(entry, judged)
                .map(|other| format!("{} {}", other.claim.id, words(other.kind())))
                .collect();
            vec![
                Cell::text(entry.claim.id.as_str()),
                Cell::text(entry.claim.statement.as_str()),
                Cell::text(words(entry.kind())),
                Cell::text(instead.join(", ")),
            ]
        })
        .collect();
    Table {
        id: "theorems".into(),
        title: "Theorems".into(),
        columns: ["id", "what is claimed", "verdict", "in its place"]
            .map(str::to_owned)
            .into(),
        rows,
    }
}

/// The paper's seven theorems.
pub(super) fn theorems(judged: &[Judged]) -> impl Iterator<Item = &Judged> {
    let theorem = |entry: &&Judged| matches!(node(&entry.claim.id), Some(Node::Theorem(_)));
    judged.iter().filter(theorem)
}

/// The verdict with its sign.
pub(super) fn words(kind: VerdictKind) -> String {
    format!("{} {kind}", kind.sign())
}

/// Why a theorem stands or falls, where that was written for the verdict that it has.
pub(super) fn reason(entry: &Judged) -> Option<&'static str> {
    let fits =
        |(id, kind, _): &&(&str, VerdictKind, &str)| *id == entry.claim.id && *kind == entry.kind();
    groups::REASONS.iter().find(fits).map(|(_, _, why)| *why)
}

/// What holds in the place of a claim, or beside it, with its verdict.
pub(super) fn in_place_of<'a>(
    entry: &Judged,
    judged: &'a [Judged],
) -> impl Iterator<Item = &'a Judged> {
    let ids = replacements(entry);
    judged
        .iter()
        .filter(move |other| ids.contains(&other.claim.id.as_str()))
}

/// Refuted results that the paper's proof uses, in words; empty where it uses none.
fn refuted_premises(entry: &Judged) -> String {
    let names: Vec<String> = entry
        .refuted_premises
        .iter()
        .map(ToString::to_string)
        .collect();
    match &names[..] {
        [] => String::new(),
        [one] => format!("its proof uses {one}, which is refuted"),
        [first @ .., last] => {
            format!(
                "its proof uses {} and {last}, which are refuted",
                first.join(", ")
            )
        }
    }
}

/// The claims that hold in the place of this one: `T5'` for `T5`, and for what fails of it. A number
/// that is right needs no other.
fn replacements(entry: &Judged) -> Vec<&'static str> {
    let id = &*entry.claim.id;
    let root = id.split('.').next().unwrap_or(id);
    if root != id && tone(entry.kind()) == Tone::Good {
        return Vec::new();
    }
    all()
        .iter()
        .map(|claim| claim.id.as_str())
        .filter(|other| other.len() > root.len() && other.trim_end_matches('\'') == root)
        .collect()
}

/// The evidence for a claim.
fn pieces<'a>(evidence: &'a [Evidence], id: &'a str) -> impl Iterator<Item = &'a Evidence> {
    let own = move |piece: &&Evidence| piece.claims.iter().any(|claim| claim == id);
    evidence.iter().filter(own)
}

/// `file:line`, or the file where no line is known.
fn position(piece: &Evidence) -> String {
    match piece.line {
        Some(line) => format!("{}:{line}", piece.file),
        None => piece.file.clone(),
    }
}

/// The command that checks a piece of evidence again.
fn command(piece: &Evidence) -> String {
    let module = piece
        .file
        .trim_start_matches("src/")
        .trim_end_matches(".rs");
    let module = module.replace('/', "::");
    match piece.kind {
        EvidenceKind::Theorem => "make theory THEORY=required".to_owned(),
        EvidenceKind::Bound | EvidenceKind::Harness => format!("cargo test --lib {module}"),
        EvidenceKind::Experiment => {
            let name = module.rsplit("::").next().unwrap_or_default();
            let known = crate::experiments::EXPERIMENTS.iter();
            let mut ids = known.map(|experiment| experiment.id);
            let id = ids.find(|id| id.eq_ignore_ascii_case(name)).unwrap_or(name);
            format!("lpf experiment {id}")
        }
        EvidenceKind::Property => format!("cargo test --test properties -- {}", piece.name),
    }
}
