//! An audit as one self-contained HTML page, with its plots.

use std::fmt::Write;

use super::audit::{
    checks_table, digits, entities, finding, limit, place, promise, provenance, reasons_table,
    summary, verdict,
};
use super::audit_reading::{read_as, what_was_read};
use super::component::{self, Choice, Entry, Facts, Tone, badge, filter, more};
use super::page::with_sections;
use super::table::table_with;
use super::{escape_html, escape_terminal, table_html};
use crate::audit::{AuditReport, Check, CheckVerdict};
use crate::exhibit::{Axis, Figure, Panel, Role, Series};

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
    // Verdicts in their colour.
    let verdicts: Vec<&CheckVerdict> = audit.checks.iter().map(|check| &check.verdict).collect();
    out.push_str(&table_with(&checks_table(audit), |cell| {
        let shown = cell.shown();
        match verdicts.iter().find(|v| verdict(v) == shown) {
            Some(v) => badge(tone(v).0, &shown),
            None => escape_html(&shown),
        }
    }));
    for words in entities(audit).into_iter().chain([promise(audit)]) {
        let _ = writeln!(out, "<p>{}</p>", safe(&words));
    }
    for figure in figures(audit) {
        out.push_str(&component::figure(&figure, safe));
    }
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
                safe(&row.message)
            );
        }
        out.push_str("</ul>\n");
    }
    out.push_str("<h2 id=\"claims\">Every check</h2>\n");
    let kinds = ["fail", "undecided", "pass", "information", "not-run"];
    let kinds = kinds.map(|kind| (kind.to_owned(), kind.replace('-', " ")));
    let choices: [Choice<'_>; 1] = [("verdict", "Verdict", kinds.into())];
    out.push_str(&filter("the checks", &choices));
    out.extend(audit.checks.iter().map(entry));
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
        ("summary", "Summary"),
        ("claims", "Every check"),
        ("settings", "Inputs and settings"),
    ];
    with_sections("Audit of a log of predictions", &sections, &out)
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

fn figures(audit: &AuditReport) -> Vec<Figure> {
    let curves = &audit.curves;
    let mut panels = Vec::new();
    if !curves.reliability.is_empty() {
        let of = |y: fn(&crate::audit::ReliabilityPoint) -> f64| {
            curves.reliability.iter().map(move |p| (p.confidence, y(p)))
        };
        let diagonal = vec![(0.0, 0.0), (1.0, 1.0)];
        panels.push(Panel::new(
            "Reliability",
            Axis::linear("mean confidence of a bin"),
            Axis::linear("share that was right"),
            vec![
                Series::dashed("perfect calibration", Role::Guide, diagonal),
                Series::dashed("true share at least", Role::Proven, of(|p| p.accuracy_low)),
                Series::dashed("true share at most", Role::Proven, of(|p| p.accuracy_high)),
                Series::line("this log", Role::Ours, of(|p| p.accuracy)),
            ],
        ));
    }
    if !curves.risk_coverage.is_empty() {
        let points = curves.risk_coverage.iter();
        let points = points.map(|p| (p.coverage, p.risk));
        panels.push(Panel::new(
            "Risk and coverage",
            Axis::linear("share kept, the most confident first"),
            Axis::linear("error rate among them"),
            vec![Series::line("this log", Role::Ours, points)],
        ));
    }
    if !curves.influence.is_empty() {
        let of = |y: fn(&crate::audit::InfluencePoint) -> f64| {
            curves.influence.iter().map(move |p| (p.items as f64, y(p)))
        };
        panels.push(Panel::new(
            "Influence of single items",
            Axis::linear("items left out, the worst for each entity"),
            Axis::linear("share of entities; L1 distance"),
            vec![
                Series::line("prediction changes", Role::Ours, of(|p| p.changed)),
                Series::line("mean bound on L1", Role::OursToo, of(|p| p.mean_shift)),
            ],
        ));
    }
    if panels.is_empty() {
        return Vec::new();
    }
    vec![Figure::new(
        "audit",
        "How often predictions of each confidence are right, the error rate among the most \
                  confident ones, and what leaving out items can do, as far as the log tells.",
        panels,
    )]
}
