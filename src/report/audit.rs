//! What every format of an audit shares: numbers, verdicts and limits in words.

use crate::audit::{Audit, Check, Offender, Side, Threshold, Verdict};
use crate::exhibit::{Cell, Table};

use super::escape_terminal;

/// A number with about four digits, whatever its size; `—` for what is not a number.
pub(super) fn digits(x: f64) -> String {
    if x.is_nan() {
        "—".to_owned()
    } else if x.is_infinite() {
        if x > 0.0 { "∞" } else { "−∞" }.to_owned()
    } else if x == 0.0 || (1e-3..1e5).contains(&x.abs()) {
        let text = format!("{x:.4}");
        let kept = text.trim_end_matches('0').trim_end_matches('.');
        if kept == "-0" { "0" } else { kept }.to_owned()
    } else {
        format!("{x:.3e}")
    }
}

/// The verdict as a word, behind a sign that can be told without colour.
pub(super) fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✓ pass",
        Verdict::Fail => "✗ fail",
        Verdict::Undecided { .. } => "? undecided",
        Verdict::NotRun { .. } => "– not run",
        Verdict::Information => "i information",
    }
}

/// The limit as people write it.
pub(super) fn limit(threshold: Option<Threshold>) -> String {
    let Some(Threshold { side, value }) = threshold else {
        return String::new();
    };
    let value = digits(value);
    match side {
        Side::AtMost => format!("≤ {value}"),
        Side::AtLeast => format!("≥ {value}"),
        Side::Within => format!("within ±{value}"),
    }
}

/// What follows from a check and what to do about it: its sentence, why it was not decided, and
/// whether that stops a pipeline.
pub(super) fn finding(check: &Check) -> String {
    let undecided = match check.verdict {
        Verdict::Undecided {
            needed_n: Some(needed),
        } => format!(" Too few rows to decide: about {needed} would."),
        Verdict::Undecided { needed_n: None } => {
            " No number of rows would decide while the value is the limit.".to_owned()
        }
        _ => String::new(),
    };
    let stops = match check.verdict {
        Verdict::Fail => "",
        _ if check.stops => " Certainty is asked for, so the audit fails.",
        _ => "",
    };
    format!("{}{undecided}{stops}", check.sentence)
}

/// `file:line`, with the name of the row where it has one.
pub(super) fn whereabouts(row: &Offender) -> String {
    let id = if row.id.is_empty() {
        String::new()
    } else {
        format!(" ({})", row.id)
    };
    escape_terminal(&format!("{}:{}{id}", row.file, row.line))
}

/// One line on all checks.
pub(super) fn summary(audit: &Audit) -> String {
    let s = &audit.summary;
    let outcome = if s.passed { "Passed" } else { "Failed" };
    let usable: u64 = audit.inputs.iter().map(|i| i.usable).sum();
    let rows: u64 = audit.inputs.iter().map(|i| i.rows).sum();
    let demand = if audit.settings.undecided_fails {
        " (certainty is asked for)"
    } else {
        ""
    };
    format!(
        "{outcome}: {} pass, {} fail, {} undecided, {} not run, {} for information{demand}; {usable} \
         of {rows} rows used.",
        s.pass, s.fail, s.undecided, s.not_run, s.information
    )
}

/// One row a check that was run.
pub(super) fn checks_table(audit: &Audit) -> Table {
    let run = |check: &&Check| !matches!(check.verdict, Verdict::NotRun { .. });
    let rows = audit.checks.iter().filter(run).map(|check| {
        let interval = check.interval.map_or(String::new(), |i| {
            format!("{} to {}", digits(i.low), digits(i.high))
        });
        vec![
            Cell::text(verdict(&check.verdict)),
            Cell::text(check.title),
            Cell::text(check.value.map_or(String::new(), digits)),
            Cell::text(interval),
            Cell::text(limit(check.threshold)),
            Cell::count(check.n as usize),
        ]
    });
    let percent = digits(100.0 * audit.settings.confidence);
    Table {
        id: "checks".into(),
        title: format!(
            "Checks; limits apply to intervals, and those of all checks with a limit hold together \
             with {percent} % confidence"
        ),
        columns: ["verdict", "check", "value", "interval", "limit", "n"]
            .map(str::to_owned)
            .into(),
        rows: rows.collect(),
    }
}

/// Why rows could not be used, and how many.
pub(super) fn reasons_table(audit: &Audit) -> Table {
    let rows = audit.rejected.reasons.iter();
    Table {
        id: "rejected".into(),
        title: format!("{} rows could not be used", audit.rejected.count),
        columns: ["reason", "rows"].map(str::to_owned).into(),
        rows: rows
            .map(|r| vec![Cell::text(r.reason), Cell::count(r.count as usize)])
            .collect(),
    }
}

#[cfg(test)]
mod tests;
