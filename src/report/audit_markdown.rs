//! An audit as Markdown, for the summary of a CI run.

use std::fmt::Write;

use super::audit::{
    LIMITED, UNLIMITED, checks_table, digits, entities, finding, ordered, place, promise,
    provenance, reasons_table, slices_by, slices_promise, slices_table, sources_table, step,
    summary, verdict,
};
use super::audit_reading::{read_as, what_was_read};
use super::{escape_markdown, escape_terminal, table_markdown, with_options};
use crate::audit::{AuditReport, CheckVerdict};

pub(super) fn audit_markdown(audit: &AuditReport) -> String {
    let mut out = format!(
        "## {} Audit\n\n{}\n\n{}\n{}\n",
        if audit.summary.passed { "✓" } else { "✗" },
        escape_markdown(&summary(audit)),
        opening(audit),
        table_markdown(&checks_table(audit, LIMITED))
    );
    let information = checks_table(audit, UNLIMITED);
    if !information.rows.is_empty() {
        let _ = writeln!(
            out,
            "<details><summary>{}</summary>\n\n{}\n</details>\n",
            information.title,
            table_markdown(&information)
        );
    }
    for words in entities(audit).into_iter().chain([promise(audit)]) {
        let _ = writeln!(out, "{}\n", escape_markdown(&words));
    }
    if !audit.sources.is_empty() {
        let _ = writeln!(out, "{}", table_markdown(&sources_table(audit)));
        for source in &audit.sources {
            let _ = writeln!(
                out,
                "- {}",
                escape_markdown(&escape_terminal(&source.sentence))
            );
        }
        out.push('\n');
    }
    for (place, (by, slices)) in slices_by(audit).into_iter().enumerate() {
        let table = slices_table(place, &escape_terminal(&by), &slices);
        let _ = writeln!(out, "{}", table_markdown(&table));
    }
    if !audit.slices.is_empty() {
        let _ = writeln!(out, "{}\n", escape_markdown(&slices_promise(audit)));
    }
    for check in ordered(&audit.checks) {
        if !check.stops && !matches!(check.verdict, CheckVerdict::Undecided { .. }) {
            continue;
        }
        let _ = writeln!(
            out,
            "### {}: {}\n\n{}\n",
            escape_markdown(verdict(&check.verdict)),
            escape_markdown(check.title),
            escape_markdown(&escape_terminal(&finding(check)))
        );
        if let Some(next) = &check.next {
            let (words, command) = step(next);
            let _ = writeln!(out, "What to do: {}\n", escape_markdown(&words));
            if let Some(command) = command {
                let _ = writeln!(out, "{}\n", code(&command));
            }
        }
        for row in &check.worst {
            let _ = writeln!(out, "- {}: {}", code(&place(row)), digits(row.value));
        }
        if !check.worst.is_empty() {
            out.push('\n');
        }
    }
    if audit.rejected.count > 0 {
        let _ = writeln!(out, "{}", table_markdown(&reasons_table(audit)));
        for row in &audit.rejected.first {
            let at = format!("{}:{}", row.file, row.line);
            let what = format!("{}: {}", row.field, with_options(&row.message));
            let _ = writeln!(out, "- {} {}", code(&at), code(&what));
        }
        out.push('\n');
    }
    let not_run: Vec<String> = audit
        .checks
        .iter()
        .filter_map(|check| match &check.verdict {
            CheckVerdict::NotRun { reason } => Some(format!(
                "- {}: {}",
                escape_markdown(check.title),
                escape_markdown(&escape_terminal(reason))
            )),
            _ => None,
        })
        .collect();
    if !not_run.is_empty() {
        let _ = writeln!(
            out,
            "<details><summary>Checks that were not run</summary>\n\n{}\n\n</details>\n",
            not_run.join("\n")
        );
    }
    for input in &audit.inputs {
        let _ = writeln!(
            out,
            "{} rows of {}, SHA-256 `{}`\n",
            input.rows,
            code(&input.name),
            escape_markdown(&input.sha256)
        );
    }
    for (words, sha256) in provenance(audit) {
        let _ = writeln!(out, "{words}, SHA-256 {}\n", code(sha256));
    }
    out
}

/// What was read, and as what.
fn opening(audit: &AuditReport) -> String {
    let mut out = String::new();
    for input in &audit.inputs {
        let _ = writeln!(out, "- {} {}", code(&input.name), code(&read_as(input)));
    }
    for words in what_was_read(audit) {
        let _ = writeln!(out, "- {}", escape_markdown(&escape_terminal(&words)));
    }
    out
}

/// The text as a code span: what could end the span, a table cell or a line, or be read as HTML by
/// a careless reader, is made visible instead (`\u{60}`).
fn code(text: &str) -> String {
    let mut out = String::from("`");
    for c in escape_terminal(text).chars() {
        match c {
            '`' | '|' | '<' | '>' | '&' => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    if out.len() == 1 {
        out.push(' ');
    }
    out.push('`');
    out
}
