//! Claims as entries of a page.

use std::fmt::Write;

use super::steps::{Step, reported, steps};
use super::{command, group, in_place_of, pieces, reason, refuted_premises, words};
use crate::ledger::claims::Judged;
use crate::ledger::{Evidence, EvidenceKind, Theory, Verdict, VerdictKind};
use crate::report::component::{Entry, Facts, Tone, badge, more};
use crate::report::escape_html;
use crate::report::glossary::{linked, marked};

/// The colour of a verdict.
pub(crate) fn tone(kind: VerdictKind) -> Tone {
    match kind {
        VerdictKind::Proved
        | VerdictKind::Checked
        | VerdictKind::Supported
        | VerdictKind::Reproduced => Tone::Good,
        VerdictKind::DependsOnReading | VerdictKind::Vacuous => Tone::Mixed,
        VerdictKind::Inconsistent | VerdictKind::Refuted => Tone::Bad,
        VerdictKind::NotReproducible => Tone::Open,
    }
}

/// The engines behind a claim: a word to filter by, and the name. An experiment counts where it was
/// run.
pub(crate) fn engines(entry: &Judged, around: &Around<'_>) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    let mut add = |engine| {
        if !found.contains(&engine) {
            found.push(engine);
        }
    };
    for piece in pieces(around.evidence, &entry.claim.id) {
        match piece.kind {
            EvidenceKind::Theorem => add(("coq", "Coq")),
            EvidenceKind::Bound => add(("exact", "exact arithmetic")),
            EvidenceKind::Harness => add(("harness", "proof harness")),
            EvidenceKind::Property => add(("property", "statistical property")),
            EvidenceKind::Experiment if around.ran(piece).is_some() => {
                add(("experiment", "experiment"));
            }
            _ => {}
        }
    }
    let computed = !matches!(
        entry.finding.verdict,
        Verdict::Proved { .. } | Verdict::NotReproducible { .. }
    );
    if computed {
        add(("exact", "exact arithmetic"));
    }
    found
}

/// What a claim's entry needs to know besides the claim.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around<'a> {
    pub(crate) judged: &'a [Judged],
    pub(crate) evidence: &'a [Evidence],
    /// What stands before a file of the repository in a link; none where it is not known.
    pub(crate) sources: Option<&'a str>,
    /// The experiments that were run, by id.
    pub(crate) experiments: &'a [&'a str],
}

impl Around<'_> {
    /// The experiment of a piece of evidence, where it was run.
    fn ran(&self, piece: &Evidence) -> Option<&str> {
        let file = |id: &&&str| piece.file.ends_with(&format!("/{}.rs", id.to_lowercase()));
        self.experiments.iter().find(file).copied()
    }

    /// A file of the repository, linked where that is possible.
    fn place(&self, file: &str, line: Option<u64>) -> String {
        let shown = match line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        };
        let shown = format!("<code>{}</code>", escape_html(&shown));
        let Some(base) = self.sources else {
            return shown;
        };
        let anchor = line.map_or(String::new(), |line| format!("#L{line}"));
        let address = escape_html(&format!("{base}{file}{anchor}"));
        format!("<a href=\"{address}\">{shown}</a>")
    }
}

/// One claim as an entry that `#ID` opens.
pub(crate) fn claim_html(entry: &Judged, around: &Around<'_>) -> String {
    let claim = entry.claim;
    let group = group(&claim.id);
    let engines = engines(entry, around);
    let engines: Vec<&str> = engines.iter().map(|(word, _)| *word).collect();
    let mut body = facts(entry, around, group.id);
    let steps = steps(&entry.finding.evidence);
    if !steps.is_empty() {
        body.push_str("<h4>Step by step</h4>\n");
        body.push_str(&witness(&steps));
    }
    body.push_str(&theorems(entry, around));
    body.push_str(&evidence(entry, around));
    let again = format!("lpf claims \"{}\"", claim.id);
    let _ = write!(
        body,
        "<p class=\"up\"><a href=\"#{id}\">Link to this claim</a> · <a href=\"#theorems\">Back to the \
         theorems</a> · <a href=\"#claims\">Back to all claims</a> · Judge it again: \
         <code>{again}</code></p>",
        id = escape_html(&claim.id),
        again = escape_html(&again),
    );
    Entry {
        id: &claim.id,
        verdict: (tone(entry.kind()), &words(entry.kind())),
        name: &claim.id,
        what: &marked(&claim.statement, group.id),
        data: &[
            ("verdict", entry.kind().name()),
            ("group", group.id),
            ("engine", &engines.join(" ")),
        ],
        open: false,
        printed: claim.id == group.id,
        body: &body,
    }
    .html()
}

fn facts(entry: &Judged, around: &Around<'_>, theorem: &str) -> String {
    let claim = entry.claim;
    let mut facts = Facts::default();
    let words = |text: &str| linked(text, theorem, &claim.id);
    facts.text("In the paper", &claim.place);
    facts.html("Provided", &words(&claim.hypotheses));
    facts.html("Why", &words(reason(entry).unwrap_or_default()));
    match &entry.finding.verdict {
        Verdict::DependsOnReading { readings } => {
            let mut list = String::from("<ul class=\"plain\">");
            for (i, one) in readings.iter().enumerate() {
                let taken = if i == 0 { "Taken: " } else { "Otherwise: " };
                let kind = one.verdict.kind();
                let _ = write!(
                    list,
                    "<li>{} {taken}{}. {}</li>",
                    badge(tone(kind), super::words(kind)),
                    words(&one.reading),
                    words(&one.verdict.to_string())
                );
            }
            list.push_str("</ul>");
            facts.html("Readings", &list);
        }
        Verdict::Inconsistent {
            printed,
            recomputed,
        } => {
            facts.html("Printed", &words(printed));
            facts.html("Recomputed", &words(recomputed));
        }
        Verdict::Vacuous { says, anyway } => {
            facts.html("It says", &words(says));
            facts.html("Known anyway", &words(anyway));
        }
        Verdict::Refuted { witness, .. } => facts.html("Counterexample", &words(witness)),
        other => facts.html("Found", &words(&other.to_string())),
    }
    let link = |id: &str| format!("<a href=\"#{0}\">{0}</a>", escape_html(id));
    let mut premises = escape_html(&refuted_premises(entry));
    for node in entry.refuted_premises.iter().map(ToString::to_string) {
        premises = premises.replace(&node, &link(&node));
    }
    facts.html("Its premises", &premises);
    facts.html("Best defence", &words(&claim.defence));
    facts.html("What to do", &words(&claim.advice));
    let instead: Vec<String> = in_place_of(entry, around.judged)
        .map(|other| {
            let kind = other.kind();
            let badge = badge(tone(kind), super::words(kind));
            let says = marked(&other.claim.statement, theorem);
            format!("{} {badge} {says}", link(&other.claim.id))
        })
        .collect();
    let name = match entry.kind() {
        VerdictKind::Proved => "Also holds",
        _ => "What holds instead",
    };
    facts.html(name, &instead.join("<br/>"));
    facts.finish()
}

/// The steps as a table: numbers stand under each other at the right.
fn witness(steps: &[Step<'_>]) -> String {
    let e = escape_html;
    let mut out = String::from("<table class=\"steps\"><tbody>");
    for (i, step) in steps.iter().enumerate() {
        let _ = write!(out, "<tr><td>{}</td>", i + 1);
        let _ = match step {
            Step::Meets(what) => write!(out, "<td colspan=\"2\">✓ holds: {}</td>", e(what)),
            Step::Reading(taken, what) => {
                let word = if *taken {
                    "Reading taken"
                } else {
                    "Other reading"
                };
                write!(out, "<td colspan=\"2\"><b>{word}: {}</b></td>", e(what))
            }
            // Beyond this length a name is a formula, which has no neighbours to be aligned with.
            Step::Pair(left, sign, right) if left.chars().count() > 44 => {
                let gap = if *sign == ':' { "" } else { " " };
                write!(
                    out,
                    "<td colspan=\"2\">{}{gap}{sign} <b>{}</b></td>",
                    e(left),
                    e(right)
                )
            }
            Step::Pair(left, sign, right) => {
                let gap = if *sign == ':' { "" } else { " " };
                write!(
                    out,
                    "<td class=\"l\">{}{gap}{sign}</td><td class=\"n\">{}</td>",
                    e(left),
                    e(right)
                )
            }
            Step::Printed {
                cell,
                printed,
                formula,
                value,
                agrees,
            } => {
                let sign = if *agrees { "✓ agrees" } else { "✗ differs" };
                write!(
                    out,
                    "<td class=\"l\">{}</td><td class=\"n\">printed {}, {sign}: {} = {}</td>",
                    e(cell),
                    e(printed),
                    e(formula),
                    e(value)
                )
            }
            Step::Words(words) => write!(out, "<td colspan=\"2\">{}</td>", e(words)),
        };
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table>\n");
    out
}

/// What Coq says of the claim, with the caveats.
fn theorems(entry: &Judged, around: &Around<'_>) -> String {
    let theory = Theory::committed();
    let mut out = String::new();
    let mut caveats: Vec<&str> = Vec::new();
    for theorem in theory.about(&entry.claim.id) {
        let place = around.place(&theorem.file, Some(theorem.line));
        let _ = write!(
            out,
            "<li><b class=\"mono\">{}</b> {}: {} {place}</li>",
            escape_html(&theorem.name),
            theorem.says.name(),
            escape_html(&theorem.words)
        );
        caveats.extend(theorem.caveats.iter().map(String::as_str));
    }
    if out.is_empty() {
        return out;
    }
    caveats.sort_unstable();
    caveats.dedup();
    for caveat in caveats {
        let meaning = theory.caveats.get(caveat).map_or("", String::as_str);
        let _ = write!(
            out,
            "<li class=\"quiet\">Caveat <b>{}</b>: {}</li>",
            escape_html(caveat),
            escape_html(meaning)
        );
    }
    format!(
        "<h4>Machine-checked by {}</h4><ul class=\"plain\">{out}</ul>\n",
        escape_html(&theory.engine)
    )
}

/// Where the evidence is, what the last runs said of it, and how to check it again.
fn evidence(entry: &Judged, around: &Around<'_>) -> String {
    let mut rows: Vec<String> = Vec::new();
    for piece in pieces(around.evidence, &entry.claim.id) {
        let mut name = format!("{} {}", piece.kind.name(), escape_html(&piece.name));
        if piece.kind == EvidenceKind::Experiment {
            name = match around.ran(piece) {
                Some(id) => format!("<a href=\"#experiment-{id}\">{name}</a>"),
                None => format!("{name} (not run)"),
            };
        }
        let row = format!(
            "<tr><td data-label=\"what\">{name}</td><td data-label=\"where\">{}</td>\
             <td data-label=\"check again\"><code>{}</code></td></tr>",
            around.place(&piece.file, piece.line),
            escape_html(&command(piece))
        );
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let said: String = reported(&entry.finding.evidence)
        .map(|line| format!("<li>{}</li>", escape_html(line)))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let table = format!(
        "<table class=\"stack\"><thead><tr><th scope=\"col\">evidence</th><th scope=\"col\">where</th>\
         <th scope=\"col\">check it again</th></tr></thead><tbody>{}</tbody></table>",
        rows.concat()
    );
    let said = match said.is_empty() {
        true => String::new(),
        false => format!("<ul class=\"plain quiet\">{said}</ul>"),
    };
    more(
        &format!("Evidence in this repository ({})", rows.len()),
        &(table + &said),
    )
}
