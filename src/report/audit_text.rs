//! An audit as text for a terminal.

use std::fmt::Write;

use super::escape_terminal;
use crate::audit::{Audit, Check, Input, Side, Threshold, Verdict};

/// How many of the worst rows are shown; the JSON report has all that are kept.
const SHOWN_OFFENDERS: usize = 5;

/// The audit as plain text: what was read, what could not be used, then one block a check.
pub fn audit_text(audit: &Audit) -> String {
    let mut out = String::new();
    inputs(&mut out, "Audit of", &audit.inputs);
    if !audit.baseline.is_empty() {
        inputs(&mut out, "Compared with", &audit.baseline);
    }
    rejected(&mut out, audit);
    out.push('\n');
    for check in &audit.checks {
        block(&mut out, check);
    }
    let summary = &audit.summary;
    let _ = writeln!(
        out,
        "\n{}: {} passed, {} failed, {} undecided, {} not run, {} without a threshold.",
        if summary.passed { "PASSED" } else { "FAILED" },
        summary.pass,
        summary.fail,
        summary.undecided,
        summary.not_run,
        summary.information
    );
    let _ = writeln!(
        out,
        "The intervals of all checks with a threshold hold together with probability {}.",
        audit.settings.confidence
    );
    out
}

fn inputs(out: &mut String, title: &str, inputs: &[Input]) {
    for input in inputs {
        let _ = writeln!(
            out,
            "{title} {}: {} rows, {} scored\n  sha256 {}",
            escape_terminal(&input.name),
            input.rows,
            input.usable,
            escape_terminal(&input.sha256)
        );
    }
}

fn rejected(out: &mut String, audit: &Audit) {
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
    let word = match &check.verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "FAIL",
        Verdict::Undecided { .. } => "undecided",
        Verdict::NotRun { .. } => "not run",
        Verdict::Information => "-",
    };
    let mut line = format!("{word:<10} {}", check.title);
    if let Some(value) = check.value {
        let _ = write!(line, ": {}", number(value));
    }
    if let Some(interval) = &check.interval {
        let _ = write!(
            line,
            " [{}, {}]",
            number(interval.low),
            number(interval.high)
        );
    }
    if let Some(threshold) = &check.threshold {
        let _ = write!(line, ", {}", limit(threshold));
    }
    let _ = writeln!(out, "{}  ({})", line, check.id);
    let _ = writeln!(out, "{:11}{}", "", escape_terminal(&check.sentence));
    match &check.verdict {
        Verdict::Undecided { needed_n: Some(n) } => {
            let _ = writeln!(
                out,
                "{:11}About {n} rows would decide; there are {}.",
                "", check.n
            );
        }
        Verdict::Undecided { needed_n: None } => {
            let _ = writeln!(
                out,
                "{:11}No number of rows would decide at this value.",
                ""
            );
        }
        _ => {}
    }
    if let Some(power) = &check.power {
        let _ = writeln!(
            out,
            "{:11}A model over-confident by {} points fails here with probability {:.2}.",
            "",
            number(100.0 * power.effect),
            power.probability
        );
    }
    for row in check.worst.iter().take(SHOWN_OFFENDERS) {
        let _ = writeln!(
            out,
            "{:11}{}:{} {} {}",
            "",
            escape_terminal(&row.file),
            row.line,
            escape_terminal(&row.id),
            number(row.value)
        );
    }
}

fn limit(threshold: &Threshold) -> String {
    let value = number(threshold.value);
    match threshold.side {
        Side::AtMost => format!("at most {value}"),
        Side::AtLeast => format!("at least {value}"),
        Side::Within => format!("within ±{value}"),
    }
}

/// Four digits after the point, fewer where they are zeros; more for small numbers.
fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-3 {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.4}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}
