//! An audit for machines that show results: JUnit and SARIF 2.1.0.

use serde_json::{Value, json};

use super::audit::{finding, place};
use super::{JunitCase, escape_json, escape_terminal, is_unseen, junit};
use crate::audit::{AuditReport, Check, CheckVerdict};

pub(super) fn audit_junit(audit: &AuditReport) -> String {
    let case = |name: String| JunitCase {
        name,
        seconds: None,
        failure: None,
        skipped: None,
    };
    let mut cases: Vec<JunitCase> = audit
        .checks
        .iter()
        .map(|check| {
            let mut out = case(format!("{}: {}", check.id, check.title));
            let what = escape_terminal(&finding(check));
            match check.verdict {
                _ if check.stops => {
                    let rows: Vec<String> = check.worst.iter().map(place).collect();
                    out.failure = Some(if rows.is_empty() {
                        what
                    } else {
                        format!("{what} Worst rows: {}", rows.join(", "))
                    });
                }
                CheckVerdict::Undecided { .. } => out.skipped = Some(format!("undecided: {what}")),
                CheckVerdict::NotRun { .. } => out.skipped = Some(what),
                CheckVerdict::Pass | CheckVerdict::Fail | CheckVerdict::Information => {}
            }
            out
        })
        .collect();
    if audit.rejected.count > 0 {
        let mut rejected = case("rows that could not be used".to_owned());
        rejected.skipped = Some(format!("{} rows", audit.rejected.count));
        cases.push(rejected);
    }
    junit(audit.tool.name, &cases)
}

/// The rule under which rows that could not be used are listed.
const REJECTED: &str = "rejected_row";

pub(super) fn audit_sarif(audit: &AuditReport) -> String {
    let mut rules: Vec<Value> = audit
        .checks
        .iter()
        .map(|check| json!({"id": check.id, "shortDescription": {"text": sarif_text(check.title)}}))
        .collect();
    let rejected_at = rules.len();
    rules.push(json!({
        "id": REJECTED,
        "shortDescription": {"text": "A row that could not be used"},
    }));
    let first = audit.inputs.first().map(|input| input.name.as_str());
    let mut results: Vec<Value> = audit
        .checks
        .iter()
        .enumerate()
        .map(|(index, check)| sarif_check(check, index, first))
        .collect();
    results.extend(audit.rejected.first.iter().map(|row| {
        json!({
            "ruleId": REJECTED,
            "ruleIndex": rejected_at,
            "kind": "fail",
            "level": "warning",
            "message": {"text": sarif_text(&format!("{}: {}", row.field, row.message))},
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

fn sarif_check(check: &Check, index: usize, first: Option<&str>) -> Value {
    // A level other than "none" is for failures only.
    let (kind, level) = match check.verdict {
        _ if check.stops => ("fail", "error"),
        CheckVerdict::Fail => ("fail", "error"),
        CheckVerdict::Pass => ("pass", "none"),
        CheckVerdict::Undecided { .. } => ("open", "none"),
        CheckVerdict::NotRun { .. } => ("notApplicable", "none"),
        CheckVerdict::Information => ("informational", "none"),
    };
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
        "ruleIndex": index,
        "kind": kind,
        "level": level,
        "message": {"text": sarif_text(&finding(check))},
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
