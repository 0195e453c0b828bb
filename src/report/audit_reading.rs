//! What an audit read, and as what: the first lines of every report.

use crate::audit::{AuditReport, Input};

/// What one input was read as.
pub(super) fn read_as(input: &Input) -> String {
    let reading = &input.reading;
    let mut out = format!("read as {}", reading.format);
    if let Some(compression) = &reading.compression {
        out.push_str(&format!(", unpacked from {compression}"));
    }
    if let Some(label) = &reading.label {
        out.push_str(&format!("; true class: {label}"));
    }
    match (reading.probabilities.as_slice(), &reading.positive) {
        ([], _) => {}
        ([one], Some(positive)) => {
            out.push_str(&format!("; probability of {positive}: {one}"));
        }
        ([one], None) => out.push_str(&format!("; probabilities: {one}")),
        (names, _) => {
            let more = reading.columns.saturating_sub(names.len() as u64);
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            out.push_str(&format!("; probabilities: {}{more}", names.join(", ")));
        }
    }
    if let Some(id) = &reading.id {
        out.push_str(&format!("; entity: {id}"));
    }
    if !reading.others.is_empty() {
        out.push_str(&format!("; other fields: {}", reading.others.join(", ")));
    }
    out
}

/// What holds for all inputs: classes, where answers come from, how exact their sums are, and whether a map
/// was applied to rows that it was fitted on.
pub(super) fn what_was_read(audit: &AuditReport) -> Vec<String> {
    const SHOWN: usize = 12;
    let classes = &audit.settings.classes;
    let shown = classes.iter().take(SHOWN).cloned().collect::<Vec<_>>();
    let more = match classes.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let mut out = vec![format!("Classes: {}{more}", shown.join(", "))];
    let sum = |number: fn(&Input) -> u64| audit.inputs.iter().map(number).sum::<u64>();
    let (usable, computed) = (sum(|i| i.usable), sum(|i| i.computed));
    let single = sum(|i| i.single);
    if let ([_, positive], 1..) = (classes.as_slice(), single) {
        let rest = match audit
            .inputs
            .iter()
            .any(|input| input.reading.positive.is_some())
        {
            true => "; every other label counts as not that",
            false => "",
        };
        let rows = match single >= usable {
            true => "One probability a row".to_owned(),
            false => format!("One probability in {single} rows"),
        };
        out.push(format!(
            "{rows}, taken as that of the positive class {positive}{rest}"
        ));
    }
    out.push(match computed {
        0 => "Answers: as logged".to_owned(),
        n if n >= usable => {
            "Answers: none was logged; all computed here from their evidence".to_owned()
        }
        n => format!("Answers: {n} were not logged but computed here from their evidence"),
    });
    let rounded = sum(|i| i.rounded);
    if rounded > 0 {
        out.push(format!(
            "{rounded} rows add up to one only within the rounding of the digits that were written; \
             --tolerance sets another measure"
        ));
    }
    if audit.settings.calibration.is_some() {
        let on: Vec<&str> = audit
            .inputs
            .iter()
            .filter(|input| input.fitted_on == Some(true))
            .map(|input| input.name.as_str())
            .collect();
        out.push(match on.as_slice() {
            [] => "Calibration map: applied, and not fitted on any of these files".to_owned(),
            on => format!(
                "Calibration map: applied, and WARNING: fitted on rows of {}, on which it looks better than \
                 on new ones",
                on.join(", ")
            ),
        });
    }
    if let Some(reason) = &audit.rejected.withheld {
        out.push(format!("All checks but that of validity are {reason}"));
    }
    out
}
