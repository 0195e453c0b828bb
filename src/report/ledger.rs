//! The ledger as text, Markdown and HTML.

use std::fmt::Write;

use super::{escape_html, escape_markdown, escape_terminal};
use crate::exhibit::{Cell, Table};
use crate::ledger::Evidence;
use crate::ledger::claims::{Judged, all, counts, node};
use crate::ledger::paper::Node;

/// How many claims have each verdict, with what the verdict means.
pub fn counts_table(judged: &[Judged]) -> Table {
    let rows = counts(judged)
        .into_iter()
        .map(|(kind, count)| {
            vec![
                Cell::text(format!("{} {kind}", kind.sign())),
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
            let kind = entry.finding.verdict.kind();
            vec![
                Cell::text(entry.claim.id.as_str()),
                Cell::text(format!("{} {kind}", kind.sign())),
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
    let verdict = |entry: &Judged| {
        let kind = entry.finding.verdict.kind();
        format!("{} {kind}", kind.sign())
    };
    let instead = |id: &str| {
        let ids = replacements(id);
        let found = judged
            .iter()
            .filter(|entry| ids.contains(&entry.claim.id.as_str()));
        let lines: Vec<String> = found
            .map(|entry| format!("{} {}", entry.claim.id, verdict(entry)))
            .collect();
        lines.join(", ")
    };
    let rows = judged
        .iter()
        .filter(|entry| matches!(node(&entry.claim.id), Some(Node::Theorem(_))))
        .map(|entry| {
            vec![
                Cell::text(entry.claim.id.as_str()),
                Cell::text(entry.claim.statement.as_str()),
                Cell::text(verdict(entry)),
                Cell::text(instead(&entry.claim.id)),
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

/// The claims that hold in the place of this one: `T5'` for `T5`, and for `T5.bounds`.
fn replacements(id: &str) -> Vec<&'static str> {
    let root = id.split('.').next().unwrap_or(id);
    all()
        .iter()
        .map(|claim| claim.id.as_str())
        .filter(|other| other.len() > root.len() && other.trim_end_matches('\'') == root)
        .collect()
}

/// The lines "name: file" of where evidence for a claim is. A file with several pieces of evidence
/// of one kind stands once.
fn places(evidence: &[Evidence], id: &str) -> Vec<(String, String)> {
    let mut places: Vec<(String, String)> = Vec::new();
    let own = |piece: &&Evidence| piece.claims.iter().any(|claim| claim == id);
    for piece in evidence.iter().filter(own) {
        let place = match piece.line {
            Some(line) => (
                format!("{} {}", piece.kind.name(), piece.name),
                format!("{}:{line}", piece.file),
            ),
            None => (piece.kind.name().to_owned(), piece.file.clone()),
        };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// One claim in full, for a terminal.
pub fn claim_text(entry: &Judged, evidence: &[Evidence]) -> String {
    let (claim, finding) = (entry.claim, &entry.finding);
    let kind = finding.verdict.kind();
    let mut out = format!("{}  {} {kind}\n{}\n\n", claim.id, kind.sign(), claim.place);
    let mut item = |name: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "{name:12} {}", escape_terminal(text));
        }
    };
    item("claimed", &claim.statement);
    item("provided", &claim.hypotheses);
    item("found", &finding.verdict.to_string());
    item("premises", &refuted_premises(entry));
    item("defence", &claim.defence);
    item("what to do", &claim.advice);
    item("instead", &replacements(&claim.id).join(", "));
    if !finding.evidence.is_empty() {
        out.push_str("\nstep by step\n");
        for (i, line) in finding.evidence.iter().enumerate() {
            let _ = writeln!(out, "  {:2}. {}", i + 1, escape_terminal(line));
        }
    }
    let places = places(evidence, &claim.id);
    if !places.is_empty() {
        out.push_str("\nin this repository\n");
        for (name, file) in places {
            let _ = writeln!(out, "  {file}  ({name})");
        }
    }
    out
}

/// One claim in full, as Markdown.
pub fn claim_markdown(entry: &Judged) -> String {
    let (claim, finding) = (entry.claim, &entry.finding);
    let kind = finding.verdict.kind();
    let mut out = format!(
        "### {}: {} {kind}\n\n{}\n\n",
        claim.id,
        kind.sign(),
        escape_markdown(&claim.statement)
    );
    let mut item = |name: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "- **{name}**: {}", escape_markdown(text));
        }
    };
    item("where", &claim.place);
    item("provided", &claim.hypotheses);
    item("found", &finding.verdict.to_string());
    item("premises", &refuted_premises(entry));
    item("defence", &claim.defence);
    item("what to do", &claim.advice);
    item("instead", &replacements(&claim.id).join(", "));
    if !finding.evidence.is_empty() {
        out.push('\n');
        for (i, line) in finding.evidence.iter().enumerate() {
            let _ = writeln!(out, "{}. {}", i + 1, escape_markdown(line));
        }
    }
    out.push('\n');
    out
}

/// One claim in full, as an HTML article that `#ID` links to.
pub fn claim_html(entry: &Judged, evidence: &[Evidence]) -> String {
    let (claim, finding) = (entry.claim, &entry.finding);
    let kind = finding.verdict.kind();
    let mut out = format!(
        "<article id=\"{0}\"><h3>{0} <span class=\"verdict\">{1} {kind}</span></h3><p>{2}</p>\
         <dl class=\"settings\">",
        escape_html(&claim.id),
        kind.sign(),
        escape_html(&claim.statement)
    );
    let mut item = |name: &str, text: &str| {
        if !text.is_empty() {
            let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", escape_html(text));
        }
    };
    item("where", &claim.place);
    item("provided", &claim.hypotheses);
    item("found", &finding.verdict.to_string());
    item("defence", &claim.defence);
    item("what to do", &claim.advice);
    let link = |id: &str| format!("<a href=\"#{0}\">{0}</a>", escape_html(id));
    let mut premises = escape_html(&refuted_premises(entry));
    for node in entry.refuted_premises.iter().map(ToString::to_string) {
        premises = premises.replace(&node, &link(&node));
    }
    let instead: Vec<String> = replacements(&claim.id).into_iter().map(link).collect();
    for (name, html) in [("premises", premises), ("instead", instead.join(", "))] {
        if !html.is_empty() {
            let _ = write!(out, "<dt>{name}</dt><dd>{html}</dd>");
        }
    }
    for (name, file) in places(evidence, &claim.id) {
        let file = escape_html(&file);
        let _ = write!(out, "<dt>{name}</dt><dd><code>{file}</code></dd>");
    }
    out.push_str("</dl>");
    if !finding.evidence.is_empty() {
        out.push_str("<details open><summary>Step by step</summary><ol class=\"steps\">");
        for line in &finding.evidence {
            let _ = write!(out, "<li>{}</li>", escape_html(line));
        }
        out.push_str("</ol></details>");
    }
    out.push_str("</article>\n");
    out
}

/// The verdict table of the HTML report, each row linked to its article.
pub fn claims_html(judged: &[Judged]) -> String {
    let mut out = String::from(
        "<div class=\"scroll\"><table><caption>Every claim and its verdict</caption><thead><tr>\
         <th scope=\"col\">id</th><th scope=\"col\">verdict</th>\
         <th scope=\"col\">what is claimed</th></tr></thead><tbody>",
    );
    for entry in judged {
        let kind = entry.finding.verdict.kind();
        let _ = write!(
            out,
            "<tr><td><a href=\"#{0}\">{0}</a></td><td class=\"verdict\">{1} {kind}</td><td>{2}</td></tr>",
            escape_html(&entry.claim.id),
            kind.sign(),
            escape_html(&entry.claim.statement)
        );
    }
    out.push_str("</tbody></table></div>\n");
    out
}
