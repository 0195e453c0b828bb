//! What every format of an audit shares: numbers, verdicts and limits in words.

use serde_json::json;

use super::audit_ci::{audit_junit, audit_sarif};
use super::audit_html::audit_html;
use super::audit_markdown::audit_markdown;
use super::audit_text::{TextStyle, audit_text};
use super::{escape_terminal, harmless_json};
use crate::audit::{
    AuditReport, Check, CheckVerdict, Offender, Side, SliceReport, SourceEffect, Threshold,
};
use crate::exhibit::{Cell, Table};

impl AuditReport {
    /// Plain text: failures first, then what is undecided, then passes; what only informs is counted.
    #[must_use]
    pub fn to_text(&self) -> String {
        audit_text(self, TextStyle::default())
    }

    /// The same in another style.
    #[must_use]
    pub fn to_text_as(&self, style: TextStyle) -> String {
        audit_text(self, style)
    }

    /// JSON as `docs/audit.schema.json` describes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Structs, lists and maps with text keys: all of it can be JSON.
        let json = serde_json::to_string_pretty(self);
        let json = json.unwrap_or_else(|error| json!({"error": error.to_string()}).to_string());
        harmless_json(&json) + "\n"
    }

    /// GitHub-flavoured Markdown, for the summary of a CI run. Strings of the log stand in code
    /// spans, where no link, mention or markup is read.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        audit_markdown(self)
    }

    /// JUnit: a case for each check that has a limit, of the log and of each slice. What could not be
    /// decided or run, and rows that could not be used, are skipped cases with their reason; values of
    /// other checks are properties.
    #[must_use]
    pub fn to_junit(&self) -> String {
        audit_junit(self)
    }

    /// SARIF 2.1.0: a rule with a help text for each check, a result for each that fails, with its worst
    /// rows as locations, and a warning for each listed row that could not be used.
    #[must_use]
    pub fn to_sarif(&self) -> String {
        audit_sarif(self)
    }

    /// One self-contained HTML page with plots.
    #[must_use]
    pub fn to_html(&self) -> String {
        audit_html(self)
    }
}

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
pub(super) fn verdict(verdict: &CheckVerdict) -> &'static str {
    match verdict {
        CheckVerdict::Pass => "✓ pass",
        CheckVerdict::Fail => "✗ fail",
        CheckVerdict::Undecided { .. } => "? undecided",
        CheckVerdict::NotRun { .. } => "– not run",
        CheckVerdict::Information => "i information",
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

/// The sentence of a check, why it was not decided, and whether that makes the audit fail.
pub(super) fn finding(check: &Check) -> String {
    let undecided = match (&check.verdict, &check.interval) {
        (CheckVerdict::Undecided { needed_n: Some(n) }, _) => {
            format!(" Too few rows to decide; {n} should be enough, which at most 1 log in 5 says in error.")
        }
        (CheckVerdict::Undecided { .. }, Some(interval)) if interval.high.is_infinite() => {
            " No number of rows would pass it.".to_owned()
        }
        (CheckVerdict::Undecided { .. }, Some(_)) => {
            " The value is so near to the limit that this log does not tell how many rows would decide."
                .to_owned()
        }
        _ => String::new(),
    };
    let stops = match check.verdict {
        CheckVerdict::Fail => "",
        _ if check.stops => " The audit fails, as undecided checks are not allowed.",
        _ => "",
    };
    format!("{}{undecided}{stops}", check.sentence)
}

/// A step in words, and the command that does it where there is one.
pub(super) fn step(next: &str) -> (String, Option<String>) {
    match next.split_once('\n') {
        Some((words, command)) => (escape_terminal(words), Some(escape_terminal(command))),
        None => (escape_terminal(next), None),
    }
}

/// The step when nothing may follow it on a line of its own.
pub(super) fn step_in_line(next: &str) -> String {
    match step(next) {
        (words, Some(command)) => format!("{words} {command}"),
        (words, None) => words,
    }
}

/// `file:line`, with the name of the row where it has one.
pub(super) fn place(row: &Offender) -> String {
    let id = if row.id.is_empty() {
        String::new()
    } else {
        format!(" ({})", row.id)
    };
    escape_terminal(&format!("{}:{}{id}", row.file, row.line))
}

/// What was done to answers before they were judged: each in words, and the SHA-256 of the file.
pub(super) fn provenance(audit: &AuditReport) -> Vec<(String, &str)> {
    let map = audit.settings.calibration.as_deref();
    let map = map.map(|sha| ("Answers passed through a calibration map".to_owned(), sha));
    let model = audit.settings.model.as_ref().map(|model| {
        let (samples, seed) = (model.samples, model.seed);
        let words = format!(
            "Items without factors completed by a model, {samples} samples per item, seed {seed}"
        );
        (words, model.sha256.as_str())
    });
    map.into_iter().chain(model).collect()
}

/// What a confidence interval is, and what all of them promise together.
pub(super) fn promise(audit: &AuditReport) -> String {
    let percent = digits(100.0 * audit.settings.confidence);
    format!(
        "Intervals are confidence intervals: of logs drawn alike, at least {percent} in 100 have intervals that \
         hold the true values of all checks with a limit at once. Whether those of this log do cannot be \
         known."
    )
}

/// Whose rows these are, where entities repeat or may repeat.
pub(super) fn entities(audit: &AuditReport) -> Option<String> {
    let e = &audit.entities;
    if e.most_rows <= 1 && e.exact {
        return None;
    }
    let (named, count, most) = (e.named_rows, e.entities, e.most_rows);
    let whose = match (e.exact, most) {
        (true, _) => format!("{named} rows name {count} entities, one of them in {most} rows"),
        (false, 1) => format!(
            "{named} rows name about {count} entities, too many to be sure that none repeats"
        ),
        (false, _) => {
            format!("{named} rows name about {count} entities, one of them in at least {most} rows")
        }
    };
    let taken = match audit.settings.independent_rows {
        true => "rows were said to be independent all the same (--independent-rows)",
        false => {
            "rows of one entity count as one cluster (--independent-rows for independent rows)"
        }
    };
    Some(format!("{whose}: {taken}."))
}

/// How it ended, in a few words: a failure, no failure with what is undecided, or passed.
pub(super) fn outcome(audit: &AuditReport) -> String {
    let s = &audit.summary;
    match s.undecided {
        _ if s.fail > 0 => "Failed".to_owned(),
        _ if s.failed_slices > 0 => format!("Failed in {} of {} slices", s.failed_slices, s.slices),
        _ if !s.passed => "Failed, as undecided checks are not allowed".to_owned(),
        0 => "Passed".to_owned(),
        n => format!("No failure, {n} undecided"),
    }
}

/// One line on all checks.
pub(super) fn summary(audit: &AuditReport) -> String {
    let s = &audit.summary;
    let outcome = outcome(audit);
    let usable: u64 = audit.inputs.iter().map(|i| i.usable).sum();
    let rows: u64 = audit.inputs.iter().map(|i| i.rows).sum();
    let slices = match (s.slices, s.fail) {
        (0, _) => String::new(),
        (_, 0) if s.failed_slices > 0 => String::new(),
        (n, _) => format!("; {} of {n} slices fail", s.failed_slices),
    };
    format!(
        "{outcome}: {} pass, {} fail, {} undecided, {} not run, {} for information{slices}; {usable} \
         of {rows} rows used.",
        s.pass, s.fail, s.undecided, s.not_run, s.information
    )
}

/// The checks in the order in which people want them: failures, undecided, passes, information, not run.
pub(super) fn ordered(checks: &[Check]) -> Vec<&Check> {
    let rank = |check: &&Check| match check.verdict {
        CheckVerdict::Fail => 0,
        _ if check.stops => 1,
        CheckVerdict::Undecided { .. } => 2,
        CheckVerdict::Pass => 3,
        CheckVerdict::Information => 4,
        CheckVerdict::NotRun { .. } => 5,
    };
    let mut ordered: Vec<&Check> = checks.iter().collect();
    ordered.sort_by_key(rank);
    ordered
}

/// The value of a check with its interval.
pub(super) fn value(check: &Check) -> String {
    let mut out = check.value.map_or("—".to_owned(), digits);
    if let Some(i) = &check.interval {
        out += &format!(" [{}, {}]", digits(i.low), digits(i.high));
    }
    out
}

/// The verdict on a slice: the worst of its checks with a limit.
pub(super) fn slice_verdict(slice: &SliceReport) -> CheckVerdict {
    let worst = ordered(&slice.checks)
        .first()
        .map(|check| check.verdict.clone());
    worst
        .filter(|_| !slice.too_small)
        .unwrap_or(CheckVerdict::NotRun {
            reason: "too few rows".to_owned(),
        })
}

/// The checks of a slice that a line of a table has room for.
pub(super) const SLICE_COLUMNS: [(&str, &str); 5] = [
    ("ece", "calibration error"),
    ("gap", "confidence − accuracy"),
    ("accuracy", "accuracy"),
    ("log_loss_clipped", "log loss, clipped"),
    ("brier", "Brier"),
];

/// How the step begins where a source of evidence hurts.
pub(super) const LEAVE_OUT: &str = "Leave out source ";

/// What to do where slices fail.
pub(super) const SLICES_NEXT: &str = "One map cannot repair slices that err in opposite ways: select the \
    rows of each slice that fails, and fit a map to them with lpf calibrate.";

/// The fields that there are slices by, each with its slices.
pub(super) fn slices_by(audit: &AuditReport) -> Vec<(String, Vec<&SliceReport>)> {
    let mut out: Vec<(String, Vec<&SliceReport>)> = Vec::new();
    for slice in &audit.slices {
        let by = slice.by.join(" and ");
        match out.last_mut() {
            Some((last, slices)) if *last == by => slices.push(slice),
            _ => out.push((by, vec![slice])),
        }
    }
    out
}

/// What the intervals of slices promise.
pub(super) fn slices_promise(audit: &AuditReport) -> String {
    let n = audit.summary.slices;
    let small = audit.slices.len() - n;
    let left_out = match small {
        0 => String::new(),
        small => format!(" {small} with fewer than 30 rows are too small to be judged."),
    };
    format!(
        "Intervals hold together over the log and all {n} slices: half of the error is the log's, and the \
         other half is shared out evenly over slices and limits.{left_out}"
    )
}

/// The slices by one field as a table, the field being the `place`th.
pub(super) fn slices_table(place: usize, by: &str, slices: &[&SliceReport]) -> Table {
    let id = format!("slices-{place}");
    let mut table = Table::new(&id, format!("By {by}, the worst first"));
    for slice in slices {
        let mut row = vec![
            (
                "verdict",
                Cell::text(match slice.too_small {
                    true => "– too small",
                    false => verdict(&slice_verdict(slice)),
                }),
            ),
            (
                "slice",
                Cell::text(escape_terminal(&slice.values.join(", "))),
            ),
            ("n", Cell::count(slice.n as usize)),
        ];
        for (id, name) in SLICE_COLUMNS {
            let shown = slice.check(id).map_or(String::new(), value);
            row.push((name, Cell::text(shown)));
        }
        table.row(row);
    }
    table
}

/// The sources of evidence as a table.
pub(super) fn sources_table(audit: &AuditReport) -> Table {
    let mut table = Table::new(
        "sources",
        "Sources of evidence, the one that hurts most first".to_owned(),
    );
    for source in &audit.sources {
        let of = |id: &str| Cell::text(source.check(id).map_or(String::new(), value));
        let change = |x: Option<(f64, f64, f64)>| {
            Cell::text(x.map_or(String::new(), |(x, low, high)| {
                format!("{} [{}, {}]", digits(x), digits(low), digits(high))
            }))
        };
        let without = source.without.as_ref();
        table.row([
            ("source", Cell::text(escape_terminal(&source.id))),
            ("effect", Cell::text(effect(source.effect))),
            ("items", Cell::count(source.items as usize)),
            ("weight", Cell::text(digits(source.weight))),
            ("share", Cell::text(digits(source.share))),
            ("confidence − accuracy", of("gap")),
            ("accuracy", of("accuracy")),
            (
                "accuracy gained without it",
                change(without.map(|w| {
                    (
                        w.accuracy,
                        w.accuracy_interval.low,
                        w.accuracy_interval.high,
                    )
                })),
            ),
            (
                "log loss saved without it",
                change(without.map(|w| {
                    (
                        w.log_loss,
                        w.log_loss_interval.low,
                        w.log_loss_interval.high,
                    )
                })),
            ),
        ]);
    }
    table
}

fn effect(effect: SourceEffect) -> &'static str {
    match effect {
        SourceEffect::Hurts => "✗ hurts",
        SourceEffect::Mixed => "? mixed",
        SourceEffect::Unclear => "? unclear",
        SourceEffect::Helps => "✓ helps",
    }
}

/// Checks with a limit.
pub(super) const LIMITED: (&str, &str) = (
    "checks",
    "Checks with a limit, which applies to the interval",
);
/// Checks without one.
pub(super) const UNLIMITED: (&str, &str) = ("information", "Checks without a limit");

/// One row a check of one kind that was run.
pub(super) fn checks_table(audit: &AuditReport, kind: (&str, &str)) -> Table {
    let limited = kind == LIMITED;
    let run = |check: &&Check| {
        let run = !matches!(check.verdict, CheckVerdict::NotRun { .. }) || check.stops;
        run && check.threshold.is_some() == limited
    };
    let mut table = Table::new(kind.0, kind.1.to_owned());
    for check in ordered(&audit.checks).into_iter().filter(run) {
        let interval = check.interval.map_or(String::new(), |i| {
            format!("{} to {}", digits(i.low), digits(i.high))
        });
        table.row([
            ("verdict", Cell::text(verdict(&check.verdict))),
            ("check", Cell::text(check.title)),
            (
                "value",
                Cell::text(check.value.map_or(String::new(), digits)),
            ),
            ("interval", Cell::text(interval)),
            ("limit", Cell::text(limit(check.threshold))),
            ("n", Cell::count(check.n as usize)),
        ]);
    }
    table
}

/// How many rows could not be used.
pub(super) fn unusable(count: u64) -> String {
    let rows = if count == 1 { "row" } else { "rows" };
    format!("{count} {rows} could not be used")
}

/// Why rows could not be used, and how many.
pub(super) fn reasons_table(audit: &AuditReport) -> Table {
    let title = unusable(audit.rejected.count);
    let mut table = Table::new("rejected", title);
    for r in &audit.rejected.reasons {
        table.row([
            ("reason", Cell::text(r.reason)),
            ("rows", Cell::count(r.count as usize)),
        ]);
    }
    table
}

#[cfg(test)]
mod tests;
