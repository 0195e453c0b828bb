//! Single fields of a row as they stand in the log, and rows with another answer in its place.
//!
//! Only the answer is written anew; every other byte of a line stays as it was.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::columns::Columns;
use super::record::{ClassNames, JsonLayout, Label, Prediction, position};
use super::row::{Reason, RowError};

/// The position of the value of a top-level field of a JSON object, whatever stands around it. The
/// last one where it is given twice; none where the line is no object or has no such field.
fn json_value(line: &[u8], name: &str) -> Option<Range<usize>> {
    let mut found = None;
    let (mut depth, mut at) = (0usize, 0);
    // Where the value that is being read began, and whether it is the one that is looked for.
    let mut value: Option<(usize, bool)> = None;
    let mut key: Option<Range<usize>> = None;
    while let Some(&byte) = line.get(at) {
        let end_of_value = matches!((byte, depth), (b',' | b'}', 1));
        if let (true, Some((start, wanted))) = (end_of_value, value)
            && wanted
        {
            found = Some(start..trimmed_end(line, at));
        }
        match byte {
            b'"' => {
                let end = string_end(line, at)?;
                if depth == 1 && value.is_none() {
                    key = Some(at..end);
                }
                at = end;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b',' if depth == 1 => value = None,
            b':' if depth == 1 && value.is_none() => {
                let raw = line.get(key.take()?)?;
                let wanted = match plain_text(raw) {
                    Some(own) => own == name,
                    None => serde_json::from_slice::<String>(raw).ok()? == name,
                };
                value = Some((trimmed_start(line, at + 1), wanted));
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// What a string in quotes says, where it is written as it is.
fn plain_text(quoted: &[u8]) -> Option<&str> {
    let inner = quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let as_it_is = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    let plain = inner.iter().all(as_it_is);
    std::str::from_utf8(inner).ok().filter(|_| plain)
}

/// Just after the string that begins at `start`.
fn string_end(line: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match line.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

fn trimmed_end(line: &[u8], end: usize) -> usize {
    let before = line.get(..end).unwrap_or_default();
    before.trim_ascii_end().len()
}

fn trimmed_start(line: &[u8], start: usize) -> usize {
    let after = line.get(start..).unwrap_or_default();
    line.len() - after.trim_ascii_start().len()
}

/// The text of a field of a JSON line: a string, or a number or truth value as it is written.
pub(super) fn json_field<'a>(line: &'a [u8], name: &str) -> Result<Option<Cow<'a, str>>, RowError> {
    let Some(raw) = json_value(line, name).and_then(|range| line.get(range)) else {
        return Ok(None);
    };
    let wrong = || RowError::new(Reason::Shape, name, "neither a text nor a number");
    match raw.first() {
        Some(b'"') => {
            if let Some(text) = plain_text(raw) {
                return Ok(Some(Cow::Borrowed(text)));
            }
            let text: String = serde_json::from_slice(raw).map_err(|_| wrong())?;
            Ok(Some(Cow::Owned(text)))
        }
        Some(b'{' | b'[') | None => Err(wrong()),
        Some(_) if raw == b"null" => Ok(None),
        Some(_) => {
            let text = std::str::from_utf8(raw).map_err(|_| wrong())?;
            Ok(Some(Cow::Borrowed(text)))
        }
    }
}

/// Where a field `set` may be.
static NAME: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"set\""));

/// The prediction set that a JSON line holds: its field `set`, where that is a list. Names of classes, or
/// their positions.
///
/// # Errors
/// Where the list names something that is no class, or a class twice.
pub fn logged_set(line: &[u8], classes: &ClassNames) -> Result<Option<Vec<usize>>, RowError> {
    // Nearly no line has one; this look is much faster than the next.
    if NAME.find(line).is_none() {
        return Ok(None);
    }
    let found = json_value(line, "set").and_then(|range| line.get(range));
    let Some(raw) = found.filter(|raw| raw.first() == Some(&b'[')) else {
        return Ok(None);
    };
    let wrong = |what: String| RowError::new(Reason::Shape, "set", what);
    let entries: Vec<serde_json::Value> =
        serde_json::from_slice(raw).map_err(|error| wrong(error.to_string()))?;
    let mut set = Vec::with_capacity(entries.len().min(classes.len()));
    for entry in entries {
        let label = match &entry {
            serde_json::Value::String(name) => Some(Label::Name(name.as_str().into())),
            number => number.as_u64().map(Label::Number),
        };
        let class = label.and_then(|label| position(&label, classes).ok().flatten());
        let class = class.ok_or_else(|| wrong(format!("{entry} is not one of the classes")))?;
        if set.contains(&class) {
            return Err(wrong(format!("{entry} is given twice")));
        }
        set.push(class);
    }
    Ok(Some(set))
}

/// A JSON line with these fields set: in their place, or else at the end of the object.
pub(super) fn json_with(line: &[u8], fields: &[(&str, String)]) -> Option<Vec<u8>> {
    let mut out = line.to_vec();
    for (name, value) in fields {
        match json_value(&out, name) {
            Some(range) => {
                out.splice(range, value.bytes());
            }
            None => {
                let close = out.iter().rposition(|byte| *byte == b'}')?;
                let before = trimmed_end(&out, close);
                let comma = match before.checked_sub(1).and_then(|last| out.get(last)) {
                    Some(b'{') => "",
                    _ => ",",
                };
                let name = serde_json::to_string(name).ok()?;
                let field = format!("{comma}{name}:{value}");
                out.splice(before..before, field.bytes());
            }
        }
    }
    Some(out)
}

/// Numbers as a JSON list.
fn numbers(answer: &[f64]) -> String {
    let numbers: Vec<String> = answer.iter().map(|p| format!("{p:?}")).collect();
    format!("[{}]", numbers.join(","))
}

/// Numbers as a JSON object, by the names of their classes.
fn object(answer: &[f64], classes: &ClassNames) -> Option<String> {
    let pair = |(class, p): (usize, &f64)| {
        let name = serde_json::to_string(&*classes.name(class)).ok()?;
        Some(format!("{name}: {p:?}"))
    };
    let pairs: Option<Vec<String>> = answer.iter().enumerate().map(pair).collect();
    Some(format!("{{{}}}", pairs?.join(", ")))
}

/// The fields that give a row another answer, in the form that it has there.
pub(super) fn answer_text<'l>(
    row: &Prediction<'_>,
    layout: &'l JsonLayout,
    answer: &[f64],
    classes: &ClassNames,
) -> Option<Vec<(&'l str, String)>> {
    let first = layout.answer.first()?.as_str();
    if layout.classes.is_some() {
        let each = layout.answer.iter().zip(answer);
        return Some(
            each.map(|(name, p)| (name.as_str(), format!("{p:?}")))
                .collect(),
        );
    }
    let text = match (&row.keys, answer) {
        (Some(keys), _) => {
            let pairs = keys.iter().map(|key| {
                let class = position(&Label::Name(key.clone()), classes)
                    .ok()
                    .flatten()?;
                Some(format!(
                    "{}:{:?}",
                    serde_json::to_string(key).ok()?,
                    answer.get(class)?
                ))
            });
            format!("{{{}}}", pairs.collect::<Option<Vec<_>>>()?.join(","))
        }
        (None, [_, p]) if row.binary => format!("{p:?}"),
        _ => numbers(answer),
    };
    Some(vec![(first, text)])
}

/// The fields of a line of separated values as they are written, quotes and all.
fn raw_fields(line: &str, separator: u8) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            byte if byte == separator && !quoted => {
                out.push(line.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push(line.get(start..).unwrap_or_default());
    out
}

/// A text as a field of separated values.
pub(super) fn csv_field(text: &str, separator: u8) -> String {
    match text.contains([char::from(separator), '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}

/// A line of comma-separated values with another answer, and perhaps one more field at its end.
pub(super) fn csv_with(
    columns: &Columns,
    line: &[u8],
    answer: &[f64],
    classes: &ClassNames,
    more: Option<&str>,
) -> Option<Vec<u8>> {
    let (line, end) = match line.strip_suffix(b"\r") {
        Some(line) => (line, "\r"),
        None => (line, ""),
    };
    let separator = columns.separator();
    let mut fields: Vec<Cow<'_, str>> = raw_fields(std::str::from_utf8(line).ok()?, separator)
        .into_iter()
        .map(Cow::Borrowed)
        .collect();
    match (columns.classes(), columns.probabilities.as_slice()) {
        (None, &[column]) => {
            let field = fields.get_mut(column)?;
            let text = match (field.trim_start_matches([' ', '"']).chars().next(), answer) {
                (Some('['), _) => csv_field(&numbers(answer), separator),
                (Some('{'), _) => csv_field(&object(answer, classes)?, separator),
                (_, [_, p]) => format!("{p:?}"),
                _ => return None,
            };
            *field = Cow::Owned(text);
        }
        (_, own) => {
            for (&column, p) in own.iter().zip(answer) {
                *fields.get_mut(column)? = Cow::Owned(format!("{p:?}"));
            }
        }
    }
    fields.extend(more.map(|text| Cow::Owned(csv_field(text, separator))));
    let joined = fields.join(&*char::from(separator).to_string());
    Some((joined + end).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::Limits;
    use super::super::fields::Fields;
    use super::*;

    #[test]
    fn json_fields_are_found_whatever_stands_around_them() {
        let line = br#" { "a" : "x\"},", "b":{"a":[1,{"c":2}]}, "\u0063" : [0.5, 0.5] ,"d":-1e3,"e":null,"f":true} "#;
        let text = |name| json_field(line, name).unwrap().map(Cow::into_owned);
        assert_eq!(text("a").as_deref(), Some("x\"},"));
        assert_eq!(text("d").as_deref(), Some("-1e3"));
        assert_eq!(text("f").as_deref(), Some("true"));
        assert_eq!((text("e"), text("x")), (None, None));
        assert!(json_field(line, "b").is_err() && json_field(line, "c").is_err());
        let changed = json_with(line, &[("c", "[1.0]".into()), ("g", "2".into())]).unwrap();
        let want = String::from_utf8_lossy(line)
            .replace("[0.5, 0.5]", "[1.0]")
            .replace("true} ", "true,\"g\":2} ");
        assert_eq!(String::from_utf8(changed).unwrap(), want);
        assert_eq!(
            json_with(b"{ }", &[("g", "2".into())]).unwrap(),
            b"{\"g\":2 }"
        );
        // What is no JSON is no panic.
        for bad in [
            "",
            "{",
            "}",
            "\"",
            "{\"a",
            "{\"a\":\"\\",
            ":",
            "{:1}",
            "[1]",
        ] {
            assert_eq!(json_value(bad.as_bytes(), "a"), None, "{bad}");
        }
    }

    #[test]
    fn sets_are_read_by_name_or_position() {
        let named = ClassNames::Named(["a".to_string(), "b".to_string()].as_slice().into());
        let read = |line: &str| logged_set(line.as_bytes(), &named);
        assert_eq!(read(r#"{"set":["b","a"]}"#).unwrap(), Some(vec![1, 0]));
        assert_eq!(read(r#"{"set":[1]}"#).unwrap(), Some(vec![1]));
        assert_eq!(read(r#"{"set":[]}"#).unwrap(), Some(vec![]));
        // The name of a part of the data, and a field of something else.
        assert_eq!(read(r#"{"set":"test","x":{"set":["a"]}}"#).unwrap(), None);
        for bad in [
            r#"{"set":["x"]}"#,
            r#"{"set":[2]}"#,
            r#"{"set":["a","a"]}"#,
            r#"{"set":[0.5]}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_the_answer_of_a_csv_line_changes() {
        let header = b"id,label,p_a,note,p_b";
        let columns = Columns::of_header(header, &Fields::default(), &Limits::default()).unwrap();
        let line = b" 7,a,0.25,\"x, \"\"y\"\"\",0.75\r";
        let changed = csv_with(
            &columns,
            line,
            &[0.5, 1e-20],
            &ClassNames::Numbered(2),
            Some("a|b,c"),
        );
        let want = " 7,a,0.5,\"x, \"\"y\"\"\",1e-20,\"a|b,c\"\r";
        assert_eq!(String::from_utf8(changed.unwrap()).unwrap(), want);
        let row = columns.prediction(want.trim_end_matches(",\"a|b,c\"\r").as_bytes());
        assert_eq!(row.unwrap().answer, Some(vec![0.5, 1e-20]));
        // A single field keeps the form that it has.
        let header = b"label,probs";
        let columns = Columns::of_header(header, &Fields::default(), &Limits::default()).unwrap();
        let names = ClassNames::Named(["a".to_string(), "b\"".to_string()].as_slice().into());
        for (line, want) in [
            (
                "a,\"{'a': 0.25, 'b\"\"': 0.75}\"",
                "a,\"{\"\"a\"\": 0.5, \"\"b\\\"\"\"\": 0.25}\"",
            ),
            ("a,\"[0.25, 0.75]\"", "a,\"[0.5,0.25]\""),
            ("a,0.75", "a,0.25"),
        ] {
            let changed = csv_with(&columns, line.as_bytes(), &[0.5, 0.25], &names, None);
            assert_eq!(String::from_utf8(changed.unwrap()).unwrap(), want);
            let read = columns.prediction(want.as_bytes()).unwrap();
            assert_eq!(read.answer.unwrap()[1], 0.25, "{want}");
        }
    }
}
