//! The page of a verification.

use std::fmt::Write;

use super::{EngineState, Verification};
use crate::ledger::VerdictKind;
use crate::ledger::claims::{Judged, counts};
use crate::ledger::paper::CITATION;
use crate::report::component::{Choice, Facts, Tone, badge, filter, more};
use crate::report::glossary::{glossary, marked};
use crate::report::ledger::{
    Around, claim_html, engines, group, grouped, in_place_of, reason, theorems, tone, words,
};
use crate::report::page::with_sections;
use crate::report::{escape_html, outcome_html};

const SECTIONS: [(&str, &str); 6] = [
    ("theorems", "Theorems"),
    ("claims", "All claims"),
    ("experiments", "Experiments"),
    ("verdicts", "Verdicts"),
    ("symbols", "Symbols"),
    ("run", "This run"),
];

/// The page, from the first screen down.
pub(super) fn html(report: &Verification) -> String {
    let mut body = String::new();
    head(report, &mut body);
    let ran: Vec<&str> = report.experiments.iter().map(|o| o.id.as_str()).collect();
    let around = Around {
        judged: &report.judged,
        evidence: &report.evidence,
        sources: report.sources.as_deref(),
        experiments: &ran,
    };
    body.push_str("<h2 id=\"theorems\">The seven theorems</h2>\n<div class=\"cards\">\n");
    for entry in theorems(&report.judged) {
        body.push_str(&card(&around, entry));
    }
    body.push_str("</div>\n");
    all_claims(&around, &mut body);
    experiments(report, &mut body);
    verdicts(report, &mut body);
    body.push_str("<h2 id=\"symbols\">Symbols</h2>\n");
    body.push_str(&glossary());
    run(report, &mut body);
    with_sections(super::TITLE, &SECTIONS, &body)
}

/// A small number in words.
fn counted(n: usize) -> String {
    const WORDS: [&str; 11] = [
        "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    WORDS
        .get(n)
        .map_or_else(|| n.to_string(), |&word| word.to_owned())
}

/// What became of the theorems, in a sentence.
pub(super) fn lead(judged: &[Judged]) -> String {
    let all = theorems(judged).count();
    let of = |kind: VerdictKind| theorems(judged).filter(|e| e.kind() == kind).count();
    let verb = |n: usize, one: &'static str, many: &'static str| if n == 1 { one } else { many };
    let mut parts = Vec::new();
    for (kind, one, many) in [
        (VerdictKind::Proved, "holds as stated", "hold as stated"),
        (
            VerdictKind::DependsOnReading,
            "holds in one reading only",
            "hold in one reading only",
        ),
        (
            VerdictKind::Refuted,
            "is refuted by a counterexample that you can redo by hand",
            "are refuted by counterexamples that you can redo by hand",
        ),
    ] {
        let n = of(kind);
        if n > 0 {
            parts.push(format!("{} {}", counted(n), verb(n, one, many)));
        }
    }
    let named: usize = [
        VerdictKind::Proved,
        VerdictKind::DependsOnReading,
        VerdictKind::Refuted,
    ]
    .map(of)
    .iter()
    .sum();
    if named < all {
        parts.push(format!("{} are open", counted(all - named)));
    }
    let last = parts.pop().unwrap_or_default();
    let list = match parts.is_empty() {
        true => last,
        false => format!("{}, and {last}", parts.join(", ")),
    };
    format!("Of the paper's {} theorems, {list}.", counted(all))
}

/// What was audited, when, by which engines, and the counts.
fn head(report: &Verification, body: &mut String) {
    let _ = writeln!(
        body,
        "<p class=\"lead\">{} Every verdict was computed by this run; none is typed in.</p>",
        escape_html(&lead(&report.judged))
    );
    for change in &report.changes {
        let _ = writeln!(
            body,
            "<p class=\"loud\">Verdict changed: {}</p>",
            escape_html(&change.text())
        );
    }
    let mut facts = Facts::default();
    facts.html(
        "Audited",
        &format!(
            "<cite>{}</cite>, {}, {} ({})",
            escape_html(CITATION.title),
            escape_html(CITATION.author),
            CITATION.year,
            escape_html(CITATION.archive)
        ),
    );
    let made = format!(
        "{} by lpf-verify {}, {}",
        report.when,
        env!("CARGO_PKG_VERSION"),
        report.commit
    );
    facts.text("Reported", &made);
    let mut list = String::from("<ul class=\"row\">");
    for engine in &report.engines {
        let words = format!("{} {}", engine.state.sign(), engine.name);
        let badge = badge(engine.state.tone(), words);
        let said = escape_html(engine.state.words());
        let _ = write!(list, "<li>{badge} <span class=\"quiet\">{said}</span></li>");
    }
    list.push_str("</ul>");
    facts.html("Engines", &list);
    let mut list = String::from("<ul class=\"row\">");
    for (kind, count) in counts(&report.judged) {
        let badge = badge(tone(kind), format!("{count} {}", words(kind)));
        let _ = write!(
            list,
            "<li><a href=\"#verdict-{kind}\" title=\"{}\">{badge}</a></li>",
            escape_html(kind.meaning())
        );
    }
    list.push_str("</ul>");
    facts.html(&format!("{} claims", report.judged.len()), &list);
    body.push_str(&facts.finish());
}

/// What comes before the first semicolon, as a sentence of its own.
fn first_clause(text: &str) -> String {
    match text.split_once("; ") {
        Some((first, _)) => format!("{first}."),
        None => text.to_owned(),
    }
}

/// A theorem at a glance.
fn card(around: &Around<'_>, entry: &Judged) -> String {
    let id = &entry.claim.id;
    let title = group(id).title;
    let (name, about) = title.split_once(": ").unwrap_or((title, ""));
    let kind = entry.kind();
    let mut out = format!(
        "<section class=\"card {tone}\"><h3>{name} {badge}</h3><p class=\"about\">{about}</p>\
         <p><b class=\"tag\">Claimed</b> {claimed}</p>",
        tone = tone(kind).name(),
        badge = badge(tone(kind), words(kind)),
        claimed = marked(&entry.claim.statement, id),
    );
    if let Some(why) = reason(entry) {
        let _ = write!(out, "<p><b class=\"tag\">Why</b> {}</p>", marked(why, id));
    }
    for other in in_place_of(entry, around.judged) {
        let _ = write!(
            out,
            "<p><b class=\"tag\">{}</b> <a href=\"#{2}\">{2}</a> {1} {3}</p>",
            if kind == VerdictKind::Proved {
                "Also holds"
            } else {
                "Holds instead"
            },
            badge(tone(other.kind()), words(other.kind())),
            escape_html(&other.claim.id),
            marked(&first_clause(&other.claim.statement), id),
        );
    }
    let names: Vec<&str> = engines(entry, around)
        .iter()
        .map(|(_, name)| *name)
        .collect();
    let what = match kind {
        VerdictKind::Refuted => "the counterexample, step by step",
        _ => "the evidence",
    };
    let _ = writeln!(
        out,
        "<p class=\"last\"><b class=\"tag\">By</b> {}. <a href=\"#{id}\">{id}: {what}</a></p></section>",
        names.join(", "),
    );
    out
}

fn all_claims(around: &Around<'_>, body: &mut String) {
    let chosen: Vec<&Judged> = around.judged.iter().collect();
    let groups = grouped(&chosen);
    let _ = writeln!(
        body,
        "<h2 id=\"claims\">All {} claims</h2>\n<p>Open a line for its place in the paper, the steps, \
         the best defence and the evidence. Symbols are explained where you point at them, and \
         <a href=\"#symbols\">in a list</a>.</p>",
        around.judged.len()
    );
    let named = |value: &str, words: &str| (value.to_owned(), words.to_owned());
    let choices: [Choice<'_>; 3] = [
        (
            "verdict",
            "Verdict",
            VerdictKind::ALL
                .iter()
                .map(|kind| named(kind.name(), &words(*kind)))
                .collect(),
        ),
        (
            "group",
            "Theorem",
            groups
                .iter()
                .map(|(group, _)| named(group.id, group.title))
                .collect(),
        ),
        (
            "engine",
            "Engine",
            [
                ("coq", "Coq"),
                ("exact", "exact arithmetic"),
                ("harness", "proof harness"),
                ("property", "statistical property"),
                ("experiment", "experiment"),
            ]
            .map(|(value, words)| named(value, words))
            .into(),
        ),
    ];
    body.push_str(&filter("the claims", &choices));
    for (group, claims) in groups {
        let _ = writeln!(
            body,
            "<section class=\"group\"><h3 id=\"group-{}\">{}</h3>",
            group.id,
            escape_html(group.title)
        );
        body.extend(claims.iter().map(|entry| claim_html(entry, around)));
        body.push_str("</section>\n");
    }
}

fn experiments(report: &Verification, body: &mut String) {
    body.push_str("<h2 id=\"experiments\">Experiments</h2>\n");
    if report.experiments.is_empty() {
        body.push_str(
            "<p>Not run: <code>lpf verify</code> without --skip-experiments runs them.</p>\n",
        );
        return;
    }
    body.push_str(
        "<p>The paper's experiments, run again: what the paper prints beside what this run found. \
         Nothing is tuned towards the paper's numbers.</p>\n",
    );
    body.extend(report.experiments.iter().map(outcome_html));
}

/// What each verdict means, and which claims have it.
fn verdicts(report: &Verification, body: &mut String) {
    body.push_str("<h2 id=\"verdicts\">What the verdicts mean</h2>\n<dl class=\"facts\">");
    for (kind, count) in counts(&report.judged) {
        let own = report.judged.iter().filter(|entry| entry.kind() == kind);
        let links: Vec<String> = own
            .map(|entry| format!("<a href=\"#{0}\">{0}</a>", escape_html(&entry.claim.id)))
            .collect();
        let list = match count {
            0 => String::new(),
            1 => more("the claim", &links.join(", ")),
            n => more(&format!("the {n} claims"), &links.join(", ")),
        };
        let _ = write!(
            body,
            "<dt id=\"verdict-{kind}\">{}</dt><dd>{}{list}</dd>",
            badge(tone(kind), words(kind)),
            escape_html(kind.meaning())
        );
    }
    body.push_str("</dl>\n");
}

fn run(report: &Verification, body: &mut String) {
    body.push_str("<h2 id=\"run\">About this run</h2>\n");
    let mut facts = Facts::default();
    for engine in &report.engines {
        let state = badge(engine.state.tone(), engine.state.words());
        let said = escape_html(&engine.said);
        let again = match engine.state {
            EngineState::Held => String::new(),
            _ => format!("; <code>{}</code>", escape_html(engine.command)),
        };
        facts.html(&engine.name, &format!("{state} {said}{again}"));
    }
    for (name, value) in &report.about {
        facts.text(name, value);
    }
    body.push_str(&facts.finish());
}

impl EngineState {
    fn tone(self) -> Tone {
        match self {
            EngineState::Held => Tone::Good,
            EngineState::Quoted => Tone::Mixed,
            EngineState::Failed => Tone::Bad,
            EngineState::NotRun => Tone::Open,
        }
    }
}
