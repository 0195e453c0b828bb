//! An audit as one self-contained HTML page, with its plots.

use std::fmt::Write;

use super::audit::{
    LEAVE_OUT, LIMITED, SLICES_NEXT, UNLIMITED, checks_table, digits, entities, finding, limit,
    ordered, place, promise, provenance, reasons_table, slices_by, slices_promise, slices_table,
    sources_table, step, summary, verdict,
};
use super::audit_figures::{class_figures, confusion_table, figures, multiples};
use super::audit_reading::{read_as, what_was_read};
use super::component::{self, Choice, Entry, Facts, Tone, badge, filter, more};
use super::page::with_sections;
use super::table::table_with;
use super::{escape_html, escape_terminal, table_html, with_options};
use crate::audit::{AuditReport, Check, CheckVerdict, SourceEffect};

pub(super) fn audit_html(audit: &AuditReport) -> String {
    let mut out = format!("<p class=\"loud\">{}</p>\n", safe(&summary(audit)));
    out.push_str("<ul class=\"read\">");
    for input in &audit.inputs {
        let (name, read) = (safe(&input.name), safe(&read_as(input)));
        let _ = write!(out, "<li><code>{name}</code> {read}</li>");
    }
    for words in what_was_read(audit) {
        let _ = write!(out, "<li>{}</li>", safe(&words));
    }
    out.push_str("</ul>\n");
    out.push_str("<h2 id=\"summary\">Summary</h2>\n");
    out.push_str(&steps(audit));
    let limited = checks_table(audit, LIMITED);
    if !limited.rows.is_empty() {
        out.push_str(&judged(&limited));
    }
    let information = checks_table(audit, UNLIMITED);
    if !information.rows.is_empty() {
        out.push_str(&more(UNLIMITED.1, &judged(&information)));
    }
    for words in entities(audit).into_iter().chain([promise(audit)]) {
        let _ = writeln!(out, "<p>{}</p>", safe(&words));
    }
    for figure in figures(audit) {
        out.push_str(&component::figure(&figure, safe));
    }
    sources(&mut out, audit);
    slices(&mut out, audit);
    classes(&mut out, audit);
    if audit.rejected.count > 0 {
        out.push_str("<h2 id=\"rejected\">Rows that could not be used</h2>\n");
        out.push_str(&table_html(&reasons_table(audit)));
        out.push_str("<ul>");
        for row in &audit.rejected.first {
            let _ = write!(
                out,
                "<li><code>{}:{}</code> {}: {}</li>",
                safe(&row.file),
                row.line,
                safe(&row.field),
                safe(&with_options(&row.message))
            );
        }
        out.push_str("</ul>\n");
    }
    out.push_str("<h2 id=\"claims\">Every check</h2>\n");
    let kinds = ["fail", "undecided", "pass", "information", "not-run"];
    let kinds = kinds.map(|kind| (kind.to_owned(), kind.replace('-', " ")));
    let choices: [Choice<'_>; 1] = [("verdict", "Verdict", kinds.into())];
    out.push_str(&filter("the checks", &choices));
    out.extend(ordered(&audit.checks).into_iter().map(entry));
    out.push_str("<h2 id=\"settings\">Inputs and settings</h2>\n");
    let mut facts = Facts::default();
    let mut item = |name: &str, value: &str| facts.html(&escape_terminal(name), &safe(value));
    for (role, inputs) in [("input", &audit.inputs), ("baseline", &audit.baseline)] {
        for input in inputs {
            let (name, rows, usable) = (&input.name, input.rows, input.usable);
            let sha = &input.sha256;
            item(
                role,
                &format!("{name}: {rows} rows, {usable} used; SHA-256 {sha}"),
            );
        }
    }
    let settings = &audit.settings;
    for (words, sha256) in provenance(audit) {
        item("answers", &format!("{words}; SHA-256 {sha256}"));
    }
    item("classes", &settings.classes.join(", "));
    item("bins", &settings.bins.to_string());
    item("confidence", &digits(settings.confidence));
    item("seed", &settings.seed.to_string());
    item("tolerance of sums", &digits(settings.tolerance));
    item("confidence function", &settings.confidence_function);
    for (id, threshold) in &settings.thresholds {
        item(&format!("limit of {id}"), &limit(Some(*threshold)));
    }
    item(
        "made by",
        &format!("{} {}", audit.tool.name, audit.tool.version),
    );
    out.push_str(&facts.finish());
    let sections = [
        ("summary", "Summary", true),
        ("sources", "Sources", !audit.sources.is_empty()),
        ("slices", "Slices", !audit.slices.is_empty()),
        ("classes", "Classes", !audit.curves.classes.is_empty()),
        ("claims", "Every check", true),
        ("settings", "Inputs and settings", true),
    ];
    let sections: Vec<(&str, &str)> = sections
        .into_iter()
        .filter(|(.., there)| *there)
        .map(|(id, name, _)| (id, name))
        .collect();
    with_sections("Audit of a log of predictions", &sections, &out)
}

/// What to do next: failures, and what is undecided, with their steps. Checks with the same step share it.
fn steps(audit: &AuditReport) -> String {
    let open =
        |check: &&Check| check.stops || matches!(check.verdict, CheckVerdict::Undecided { .. });
    let mut groups: Vec<(Option<&str>, Vec<&Check>)> = Vec::new();
    for check in ordered(&audit.checks).into_iter().filter(open) {
        let next = check.next.as_deref();
        let same = groups
            .iter_mut()
            .find(|(other, _)| next.is_some() && *other == next);
        match same {
            Some((_, checks)) => checks.push(check),
            None => groups.push((next, vec![check])),
        }
    }
    let mut out = String::new();
    for (next, checks) in groups {
        out.push_str("<li><ul class=\"plain\">");
        for check in checks {
            let (id, title) = (safe(check.id), safe(check.title));
            let (tone, said) = (tone(&check.verdict).0, verdict(&check.verdict));
            let _ = write!(
                out,
                "<li>{} <a href=\"#{id}\">{title}</a>: {}</li>",
                badge(tone, said),
                safe(&finding(check))
            );
        }
        out.push_str("</ul>");
        out.push_str(&next.map_or(String::new(), step_html));
        out.push_str("</li>");
    }
    // Unless a check has that step already.
    let left_out = |check: &Check| {
        check
            .next
            .as_deref()
            .is_some_and(|n| n.starts_with(LEAVE_OUT))
    };
    if let Some(worst) = audit.sources.first()
        && worst.effect == SourceEffect::Hurts
        && !audit.checks.iter().any(left_out)
    {
        let _ = write!(
            out,
            "<li>{} <a href=\"#sources\">Source {}</a> → Leave it out, and answer again.</li>",
            badge(Tone::Bad, "✗ hurts"),
            safe(&worst.id)
        );
    }
    if audit.summary.failed_slices > 0 {
        let _ = write!(
            out,
            "<li>{} <a href=\"#slices\">{} of {} slices</a> → {SLICES_NEXT}</li>",
            badge(Tone::Bad, "✗ fail"),
            audit.summary.failed_slices,
            audit.summary.slices
        );
    }
    match out.is_empty() {
        true => out,
        false => {
            format!("<h3 id=\"next\">What to do next</h3>\n<ul class=\"plain steps\">{out}</ul>\n")
        }
    }
}

/// A step, its command on a line of its own.
fn step_html(next: &str) -> String {
    let (words, command) = step(next);
    let command = command.map(|command| {
        let command = escape_html(&command);
        format!("<code class=\"step\">{command}</code>")
    });
    format!(
        "<p>→ {}{}</p>",
        escape_html(&words),
        command.unwrap_or_default()
    )
}

/// A table whose verdicts have their colour.
fn judged(table: &crate::exhibit::Table) -> String {
    table_with(table, |cell| {
        let shown = cell.shown();
        let tone = match shown.split(' ').next() {
            Some("✓") => Tone::Good,
            Some("✗") => Tone::Bad,
            Some("?") => Tone::Mixed,
            Some("i") if shown == verdict(&CheckVerdict::Information) => Tone::Open,
            _ => return escape_html(&shown),
        };
        badge(tone, &shown)
    })
}

fn sources(out: &mut String, audit: &AuditReport) {
    if audit.sources.is_empty() {
        return;
    }
    out.push_str("<h2 id=\"sources\">Sources of evidence</h2>\n<ul>");
    for source in &audit.sources {
        let _ = write!(out, "<li>{}</li>", safe(&source.sentence));
    }
    out.push_str("</ul>\n");
    out.push_str(&judged(&sources_table(audit)));
    let panels = audit
        .sources
        .iter()
        .map(|s| (s.id.clone(), &s.reliability[..]));
    if let Some(figure) = multiples("sources", "Reliability of the items of each source", panels) {
        out.push_str(&component::figure(&figure, safe));
    }
}

fn slices(out: &mut String, audit: &AuditReport) {
    if audit.slices.is_empty() {
        return;
    }
    out.push_str("<h2 id=\"slices\">Slices</h2>\n");
    let _ = writeln!(out, "<p>{}</p>", safe(&slices_promise(audit)));
    if audit.summary.failed_slices > 0 {
        let _ = writeln!(out, "<p>{SLICES_NEXT}</p>");
    }
    for (place, (by, slices)) in slices_by(audit).into_iter().enumerate() {
        out.push_str(&judged(&slices_table(
            place,
            &escape_terminal(&by),
            &slices,
        )));
        let panels = slices.iter().filter(|slice| !slice.too_small);
        let panels = panels.map(|s| (s.values.join(", "), &s.reliability[..]));
        let by = escape_terminal(&by);
        let caption = format!("Reliability of the slices by {by}, the worst first");
        if let Some(figure) = multiples("slices", &caption, panels) {
            out.push_str(&component::figure(&figure, safe));
        }
    }
}

fn classes(out: &mut String, audit: &AuditReport) {
    if audit.curves.classes.is_empty() {
        return;
    }
    out.push_str("<h2 id=\"classes\">Classes</h2>\n");
    if let Some(table) = confusion_table(audit) {
        out.push_str(&table_html(&table));
    }
    for figure in class_figures(audit) {
        out.push_str(&component::figure(&figure, safe));
    }
}

/// For text and quoted attributes, with what cannot be seen made visible.
fn safe(text: &str) -> String {
    escape_html(&escape_terminal(text))
}

/// The colour of a verdict, and the word to filter by.
fn tone(verdict: &CheckVerdict) -> (Tone, &'static str) {
    match verdict {
        CheckVerdict::Pass => (Tone::Good, "pass"),
        CheckVerdict::Fail => (Tone::Bad, "fail"),
        CheckVerdict::Undecided { .. } => (Tone::Mixed, "undecided"),
        CheckVerdict::NotRun { .. } => (Tone::Open, "not-run"),
        CheckVerdict::Information => (Tone::Open, "information"),
    }
}

/// One check; open where it failed.
fn entry(check: &Check) -> String {
    let (tone, kind) = tone(&check.verdict);
    let mut facts = Facts::default();
    let mut item = |name: &str, value: String| facts.html(name, &safe(&value));
    if !matches!(check.verdict, CheckVerdict::NotRun { .. }) {
        item("value", check.value.map_or(String::new(), digits));
        let estimand = check.interval.map_or("", |_| check.estimand);
        item("the interval is for", estimand.to_owned());
        item(
            "interval",
            check.interval.map_or(String::new(), |i| {
                format!(
                    "{} to {} ({} %, {})",
                    digits(i.low),
                    digits(i.high),
                    digits(100.0 * i.confidence),
                    i.method
                )
            }),
        );
        item("limit", limit(check.threshold));
        item("rows", check.n.to_string());
        item(
            "power",
            check.power.map_or(String::new(), |p| {
                format!(
                    "a true value of {} fails with probability {}",
                    digits(p.effect),
                    digits(p.probability)
                )
            }),
        );
    }
    if let Some(next) = &check.next {
        facts.html("what to do", &step_html(next));
    }
    let mut body = facts.finish();
    if !check.worst.is_empty() {
        let rows = check.worst.iter().map(|row| {
            let (place, value) = (safe(&place(row)), digits(row.value));
            format!("<li><code>{place}</code>: {value}</li>")
        });
        body.push_str(&more(
            "Worst rows",
            &format!("<ul>{}</ul>", rows.collect::<String>()),
        ));
    }
    Entry {
        id: &escape_terminal(check.id),
        verdict: (tone, verdict(&check.verdict)),
        name: &escape_terminal(check.title),
        what: &safe(&finding(check)),
        data: &[("verdict", kind)],
        open: kind == "fail",
        printed: true,
        body: &body,
    }
    .html()
}
