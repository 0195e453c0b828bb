//! An audit for machines that show results: JUnit and SARIF 2.1.0.

use serde_json::{Value, json};

use super::audit::{finding, limit, ordered, place, step_in_line, value};
use super::junit::junit_with;
use super::{JunitCase, escape_json, escape_terminal, is_unseen, with_options};
use crate::audit::{AuditReport, Check, CheckVerdict, SliceReport};

pub(super) fn audit_junit(audit: &AuditReport) -> String {
    let judged = |check: &&Check| check.threshold.is_some();
    let mut cases: Vec<JunitCase> = ordered(&audit.checks)
        .into_iter()
        .filter(judged)
        .map(|check| case(format!("{}: {}", check.id, check.title), check))
        .collect();
    for slice in &audit.slices {
        let name = slice_name(slice);
        let checks = ordered(&slice.checks).into_iter().filter(judged);
        cases.extend(checks.map(|check| case(format!("{}, {name}", check.id), check)));
    }
    if audit.rejected.count > 0 {
        cases.push(JunitCase {
            name: "rows that could not be used".to_owned(),
            seconds: None,
            failure: None,
            skipped: Some(format!("{} rows", audit.rejected.count)),
        });
    }
    let open = audit
        .checks
        .iter()
        .filter(|check| check.threshold.is_none());
    let known = open.filter(|check| check.value.is_some());
    let mut properties: Vec<(String, String)> = known
        .map(|check| (check.id.to_owned(), value(check)))
        .collect();
    for source in &audit.sources {
        let name = escape_terminal(&format!("source {}", source.id));
        properties.push((name, escape_terminal(&source.sentence)));
    }
    junit_with(audit.tool.name, &properties, &cases)
}

/// A check as a case.
fn case(name: String, check: &Check) -> JunitCase {
    let what = escape_terminal(&with_next(check));
    let (mut failure, mut skipped) = (None, None);
    match check.verdict {
        _ if check.stops => {
            let rows: Vec<String> = check.worst.iter().map(place).collect();
            failure = Some(match rows.is_empty() {
                true => what,
                false => format!("{what} Worst rows: {}", rows.join(", ")),
            });
        }
        CheckVerdict::Undecided { .. } => skipped = Some(format!("undecided: {what}")),
        CheckVerdict::NotRun { .. } => skipped = Some(what),
        CheckVerdict::Pass | CheckVerdict::Fail | CheckVerdict::Information => {}
    }
    JunitCase {
        name,
        seconds: None,
        failure,
        skipped,
    }
}

/// The finding, and what to do about it.
fn with_next(check: &Check) -> String {
    match &check.next {
        Some(next) => format!("{} {}", finding(check), step_in_line(next)),
        None => finding(check),
    }
}

/// `site = A`.
fn slice_name(slice: &SliceReport) -> String {
    let pairs = slice.by.iter().zip(&slice.values);
    let pairs: Vec<String> = pairs.map(|(by, value)| format!("{by} = {value}")).collect();
    escape_terminal(&pairs.join(", "))
}

/// The rule under which rows that could not be used are listed.
const REJECTED: &str = "rejected_row";

pub(super) fn audit_sarif(audit: &AuditReport) -> String {
    let judged = audit
        .checks
        .iter()
        .filter(|check| check.threshold.is_some());
    let judged: Vec<&Check> = judged.collect();
    let mut rules: Vec<Value> = judged.iter().map(|check| rule(check)).collect();
    let rejected_at = rules.len();
    rules.push(json!({
        "id": REJECTED,
        "shortDescription": {"text": "A row that could not be used"},
        "help": {"text": "The row is left out of every check. Repair it, or the program that wrote it; \
                          lpf audit --strict makes such rows an error."},
    }));
    let first = audit.inputs.first().map(|input| input.name.as_str());
    // A slice is judged by the limits of the log, so that each of its checks has its rule.
    let place_of = |id: &str| judged.iter().position(|check| check.id == id);
    let failed = |check: &&Check| check.stops;
    let whole = judged.iter().copied().filter(failed);
    let mut results: Vec<Value> = whole
        .map(|check| sarif_check(check, place_of(check.id), first, &with_next(check)))
        .collect();
    for slice in &audit.slices {
        for check in slice.checks.iter().filter(failed) {
            let what = format!("{}: {}", slice_name(slice), finding(check));
            results.push(sarif_check(check, place_of(check.id), first, &what));
        }
    }
    results.extend(audit.rejected.first.iter().map(|row| {
        json!({
            "ruleId": REJECTED,
            "ruleIndex": rejected_at,
            "kind": "fail",
            "level": "warning",
            "message": {"text": sarif_text(&format!("{}: {}", row.field, with_options(&row.message)))},
            "locations": [location(&row.file, Some(row.line))],
        })
    }));
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": audit.tool.name,
                "version": audit.tool.version,
                "rules": rules,
            }},
            "results": results,
        }],
    });
    harmless_json(&log.to_string()) + "\n"
}

/// A check as a rule: what it is about, and how to read a failure.
fn rule(check: &Check) -> Value {
    let about = match check.interval {
        Some(_) => format!("The interval is for {}.", check.estimand),
        None => format!("It is about {}.", check.estimand),
    };
    let help = format!(
        "{} (limit {}). {about} The check fails where all of the interval, or the value where every row was \
         looked at, is beyond the limit. Another limit: --threshold {}=VALUE, or off.",
        check.title,
        limit(check.threshold),
        check.id
    );
    json!({
        "id": check.id,
        "shortDescription": {"text": sarif_text(check.title)},
        "help": {"text": sarif_text(&help)},
    })
}

fn sarif_check(check: &Check, index: Option<usize>, first: Option<&str>, what: &str) -> Value {
    let mut locations: Vec<Value> = check
        .worst
        .iter()
        .map(|row| location(&row.file, Some(row.line)))
        .collect();
    if let (true, Some(name)) = (locations.is_empty(), first) {
        locations.push(location(name, None));
    }
    json!({
        "ruleId": check.id,
        "ruleIndex": index.map_or(-1, |index| index as i64),
        "kind": "fail",
        "level": "error",
        "message": {"text": sarif_text(what)},
        "locations": locations,
    })
}

fn location(file: &str, line: Option<u64>) -> Value {
    let mut physical = json!({"artifactLocation": {"uri": uri(file)}});
    if let (Some(line), Value::Object(fields)) = (line, &mut physical) {
        fields.insert("region".into(), json!({"startLine": line.max(1)}));
    }
    json!({"physicalLocation": physical})
}

/// A path as a URI reference: every byte that is not plainly harmless as `%XX`.
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

/// Plain text of a SARIF message, where brackets would be links.
fn sarif_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape_terminal(text).chars() {
        if matches!(c, '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The same JSON with every character that HTML, a terminal or the direction of text could be
/// disturbed by written as `\u....`. Such characters occur in strings only, where that is the same.
pub fn harmless_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let unseen = !c.is_ascii() && is_unseen(c);
        if matches!(c, '<' | '>' | '&' | '\u{7f}') || unseen {
            escape_json(c, &mut out);
        } else {
            out.push(c);
        }
    }
    out
}
