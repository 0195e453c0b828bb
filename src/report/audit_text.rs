//! An audit as text for a terminal.

use std::fmt::Write;

use super::audit::{
    digits, entities, finding, limit, place, promise, provenance, summary, verdict,
};
use super::audit_reading::{read_as, what_was_read};
use super::escape_terminal;
use crate::audit::{AuditReport, Check, CheckVerdict, Input};

/// How many of the worst rows are shown; the JSON report has all that are kept.
const SHOWN_OFFENDERS: usize = 5;
/// Lines below a check stand under its title.
const INDENT: &str = "               ";

pub(super) fn audit_text(audit: &AuditReport) -> String {
    let mut out = String::new();
    inputs(&mut out, "Audit of", &audit.inputs);
    if !audit.baseline.is_empty() {
        inputs(&mut out, "Compared with", &audit.baseline);
    }
    for words in what_was_read(audit) {
        let _ = writeln!(out, "{}", escape_terminal(&words));
    }
    for (words, sha256) in provenance(audit) {
        let _ = writeln!(out, "{words}\n  sha256 {}", escape_terminal(sha256));
    }
    rejected(&mut out, audit);
    if let Some(entities) = entities(audit) {
        let _ = writeln!(out, "\n{entities}");
    }
    out.push('\n');
    for check in &audit.checks {
        block(&mut out, check);
    }
    let _ = writeln!(out, "\n{}", summary(audit));
    let _ = writeln!(out, "{}", promise(audit));
    out
}

fn inputs(out: &mut String, title: &str, inputs: &[Input]) {
    for input in inputs {
        let _ = writeln!(
            out,
            "{title} {}: {} rows, {} scored\n  sha256 {}\n  {}",
            escape_terminal(&input.name),
            input.rows,
            input.usable,
            escape_terminal(&input.sha256),
            escape_terminal(&read_as(input))
        );
    }
}

fn rejected(out: &mut String, audit: &AuditReport) {
    let rejected = &audit.rejected;
    if rejected.count == 0 {
        return;
    }
    let _ = writeln!(out, "\n{} rows could not be used:", rejected.count);
    for reason in &rejected.reasons {
        let _ = writeln!(out, "  {:>9}  {}", reason.count, reason.reason);
    }
    for row in &rejected.first {
        let _ = writeln!(
            out,
            "  {}:{}: {}: {}",
            escape_terminal(&row.file),
            row.line,
            escape_terminal(&row.field),
            escape_terminal(&row.message)
        );
    }
    let more = rejected.count - rejected.first.len() as u64;
    if more > 0 {
        let _ = writeln!(out, "  and {more} more");
    }
}

fn block(out: &mut String, check: &Check) {
    let mut line = format!("{:<14} {}", verdict(&check.verdict), check.title);
    if let Some(value) = check.value {
        let _ = write!(line, ": {}", digits(value));
    }
    if let Some(interval) = &check.interval {
        let (low, high) = (digits(interval.low), digits(interval.high));
        let _ = write!(line, " [{low}, {high}]");
    }
    if check.threshold.is_some() {
        let _ = write!(line, ", limit {}", limit(check.threshold));
    }
    let rests_on = match check.verdict {
        CheckVerdict::NotRun { .. } => String::new(),
        _ => format!(", n = {}", check.n),
    };
    let _ = writeln!(out, "{line}  ({}{rests_on})", check.id);
    let _ = writeln!(out, "{INDENT}{}", escape_terminal(&finding(check)));
    if check.threshold.is_some() && check.interval.is_some() {
        let _ = writeln!(out, "{INDENT}The interval is for {}.", check.estimand);
    }
    if let Some(power) = &check.power {
        let _ = writeln!(
            out,
            "{INDENT}A model that is over-confident by {} points fails with probability {:.2}.",
            digits(100.0 * power.effect),
            power.probability
        );
    }
    for row in check.worst.iter().take(SHOWN_OFFENDERS) {
        let _ = writeln!(out, "{INDENT}{}: {}", place(row), digits(row.value));
    }
}
