//! One answer as a line of JSON.

use std::io::Write;

use super::answer::Answer;
use crate::log::ClassNames;
use crate::uncertainty::{EntropyParts, VarianceParts};

/// Appends the line for `answer`.
///
/// Numbers are the shortest that read back as the same double. Control characters, the upper ones
/// included, are written as `\u....`, so that no name can disturb a terminal.
pub fn write(answer: &Answer<'_>, out: &mut Vec<u8>) {
    let entity = &answer.entity;
    out.extend_from_slice(b"{\"entity\":");
    string(&entity.name, out);
    out.extend_from_slice(b",\"method\":");
    string(answer.method.name(), out);
    out.extend_from_slice(b",\"distribution\":");
    numbers(answer.distribution.probabilities(), out);
    out.extend_from_slice(b",\"prediction\":");
    let class = answer.prediction;
    match &entity.classes {
        ClassNames::Named(_) => string(&entity.classes.name(class), out),
        ClassNames::Numbered(_) => out.extend_from_slice(class.to_string().as_bytes()),
    }
    out.extend_from_slice(b",\"confidence\":");
    number(answer.confidence, out);
    if let Some(method) = answer.calibration {
        out.extend_from_slice(b",\"calibration\":");
        string(method, out);
    }
    out.extend_from_slice(b",\"k_eff\":");
    optional(answer.k_eff, out);
    if let Some(uncertainty) = &answer.uncertainty {
        out.extend_from_slice(b",\"uncertainty\":{");
        parts(&uncertainty.variance, &uncertainty.entropy, out);
        if let Some(errors) = &uncertainty.standard_errors {
            out.extend_from_slice(b",\"standard_errors\":{");
            parts(&errors.variance, &errors.entropy, out);
            out.push(b'}');
        }
        let _ = write!(out, ",\"samples\":{}}}", uncertainty.samples);
    }
    if let Some(influence) = &answer.influence {
        out.extend_from_slice(b",\"evidence\":[");
        let items = entity.ids.iter().zip(&entity.factors).zip(&entity.weights);
        for (i, (((id, factor), &weight), influence)) in items.zip(influence).enumerate() {
            out.extend_from_slice(if i == 0 { b"{" } else { b",{" });
            if let Some(id) = id {
                out.extend_from_slice(b"\"id\":");
                string(id, out);
                out.push(b',');
            }
            out.extend_from_slice(b"\"factor\":");
            numbers(factor.probabilities(), out);
            out.extend_from_slice(b",\"weight\":");
            number(weight, out);
            out.extend_from_slice(b",\"influence\":");
            optional(*influence, out);
            out.push(b'}');
        }
        out.push(b']');
    }
    out.extend_from_slice(b"}\n");
}

/// Variances of the prediction and, in nats, the information that more evidence could give.
fn parts(variance: &VarianceParts, entropy: &EntropyParts, out: &mut Vec<u8>) {
    let named = [
        ("total", variance.total),
        ("epistemic", variance.epistemic),
        ("aleatoric", variance.aleatoric),
        ("mutual_information", entropy.mutual_information),
    ];
    for (i, (name, value)) in named.into_iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(out, "{comma}\"{name}\":");
        number(value, out);
    }
}

fn number(value: f64, out: &mut Vec<u8>) {
    // Rust's shortest form that reads back the same is JSON for every finite number; all are.
    let _ = write!(out, "{value:?}");
}

fn optional(value: Option<f64>, out: &mut Vec<u8>) {
    match value {
        Some(value) => number(value, out),
        None => out.extend_from_slice(b"null"),
    }
}

fn numbers(values: &[f64], out: &mut Vec<u8>) {
    out.push(b'[');
    for (i, &value) in values.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        number(value, out);
    }
    out.push(b']');
}

fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}
