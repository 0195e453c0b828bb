//! A checker for the part of JSON Schema that `docs/audit.schema.json` (2020-12) and SARIF's schema
//! (draft 7) apply to our reports.
//!
//! A keyword, format or pattern that it does not know is an error where it applies, so that nothing
//! in a schema is passed over.

use serde_json::Value;

/// All that is wrong with `value`, each with its place; empty if it fits the schema.
pub fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "", &mut found);
    found
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("type {other} is not known to this checker"),
    }
}

/// The part before the first colon, where that is a scheme of a URI.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let tail = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let starts = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (starts && scheme.chars().all(tail)).then_some(scheme)
}

/// Whether a text is a URI reference as far as its characters tell (RFC 3986, appendix A): a colon
/// in the first segment must end a scheme, and `%` stand before two digits.
fn is_uri(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    let hexadecimal = |rest: &str| {
        let digits = rest.get(..2).unwrap_or_default();
        digits.len() == 2 && digits.chars().all(|c| c.is_ascii_hexdigit())
    };
    let first = text.split(['/', '?', '#']).next().unwrap_or_default();
    text.chars().all(allowed)
        && text.split('%').skip(1).all(hexadecimal)
        && text.matches('#').count() <= 1
        && (!first.contains(':') || scheme(text).is_some())
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Value::Object(keywords) = schema else {
        panic!("{at}: a schema is an object");
    };
    let mut fail = |what: String| found.push(format!("{at}: {what}"));
    let number = value.as_f64();
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let mut deeper: Vec<(&Value, &Value, String)> = Vec::new();
    for (keyword, rule) in keywords {
        let limit = rule.as_f64().unwrap_or(f64::NAN);
        match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "definitions" => {}
            "title" | "description" | "default" => {}
            "type" => {
                let names = if rule.is_array() {
                    list(rule)
                } else {
                    vec![rule.clone()]
                };
                if !names.iter().any(|n| is_type(n.as_str().unwrap(), value)) {
                    fail(format!("{value} is not of type {rule}"));
                }
            }
            "const" if value != rule => fail(format!("{value} is not {rule}")),
            "enum" if !list(rule).contains(value) => fail(format!("{value} is none of {rule}")),
            "const" | "enum" => {}
            "minimum" if number.is_some_and(|x| x < limit) => fail(format!("{value} < {rule}")),
            "maximum" if number.is_some_and(|x| x > limit) => fail(format!("{value} > {rule}")),
            "minimum" | "maximum" => {}
            "minItems" | "maxItems" => {
                let n = value.as_array().map_or(limit, |a| a.len() as f64);
                if (keyword == "minItems" && n < limit) || (keyword == "maxItems" && n > limit) {
                    fail(format!("{n} items"));
                }
            }
            "pattern" => {
                assert_eq!(
                    rule, "^[0-9a-f]{64}$",
                    "the only pattern known to this checker"
                );
                let text = value.as_str().unwrap_or_default();
                let digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
                if text.len() != 64 || !text.chars().all(digit) {
                    fail(format!("{value} does not match {rule}"));
                }
            }
            "format" => {
                let text = value.as_str().unwrap_or_default();
                let fits = match rule.as_str() {
                    Some("uri") => is_uri(text) && scheme(text).is_some(),
                    Some("uri-reference") => is_uri(text),
                    _ => panic!("format {rule} is not known to this checker"),
                };
                if value.is_string() && !fits {
                    fail(format!("{value} is not of format {rule}"));
                }
            }
            "uniqueItems" => {
                let items = list(value);
                let twice = |(i, item): (usize, &Value)| items[..i].contains(item);
                if rule == true && items.iter().enumerate().any(twice) {
                    fail("an item stands there twice".to_string());
                }
            }
            "required" => {
                for name in list(rule) {
                    let name = name.as_str().unwrap();
                    if value.as_object().is_some_and(|o| !o.contains_key(name)) {
                        fail(format!("{name} is missing"));
                    }
                }
            }
            "properties" | "additionalProperties" => {
                let known = &schema["properties"];
                for (name, inner) in value.as_object().into_iter().flatten() {
                    let place = format!("{at}/{name}");
                    match (known.get(name), keyword.as_str(), rule) {
                        (Some(rule), "properties", _) => deeper.push((rule, inner, place)),
                        (None, "additionalProperties", Value::Bool(false)) => {
                            fail(format!("{name} is not in the schema"));
                        }
                        (None, "additionalProperties", rule) => deeper.push((rule, inner, place)),
                        _ => {}
                    }
                }
            }
            "items" => {
                for (i, inner) in value.as_array().into_iter().flatten().enumerate() {
                    deeper.push((rule, inner, format!("{at}/{i}")));
                }
            }
            "$ref" => {
                let target = rule.as_str().and_then(|r| r.strip_prefix('#'));
                let target = target.and_then(|t| root.pointer(t));
                let target = target.unwrap_or_else(|| panic!("{rule} leads nowhere"));
                deeper.push((target, value, at.to_string()));
            }
            "oneOf" | "anyOf" => {
                let fits = |one: &&Value| {
                    let mut inner = Vec::new();
                    check(root, one, value, at, &mut inner);
                    inner.is_empty()
                };
                let n = rule.as_array().unwrap().iter().filter(fits).count();
                if n == 0 || n > 1 && keyword == "oneOf" {
                    fail(format!("{value} fits {n} of the alternatives in {keyword}"));
                }
            }
            other => panic!("keyword {other} is not known to this checker"),
        }
    }
    for (rule, value, place) in deeper {
        check(root, rule, value, &place, found);
    }
}

#[test]
fn the_checker_finds_each_kind_of_fault() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "a": {"type": ["integer", "null"], "minimum": 0, "maximum": 9},
            "b": {"oneOf": [{"const": 1}, {"$ref": "#/$defs/word"}]},
            "c": {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 2},
            "e": {"anyOf": [{"minimum": 3}, {"maximum": 1}]},
            "f": {"type": "array", "uniqueItems": true},
            "g": {"format": "uri"},
            "h": {"format": "uri-reference"},
        },
        "required": ["a"],
        "additionalProperties": false,
        "$defs": {"word": {"enum": ["x", "y"]}},
    });
    let count = |text: &str| violations(&schema, &serde_json::from_str(text).unwrap()).len();
    for good in [
        r#"{"a":3,"b":"x","c":[1.5,2]}"#,
        r#"{"a":null,"b":1}"#,
        r#"{"a":1,"e":0,"f":[1,2],"g":"file:///a%20b"}"#,
        r#"{"a":1,"e":4,"f":[],"h":"a/b:c#d"}"#,
        r#"{"a":1,"h":""}"#,
    ] {
        assert_eq!(count(good), 0, "{good}");
    }
    for bad in [
        "[]",
        "{}",
        r#"{"a":1.5}"#,
        r#"{"a":-1}"#,
        r#"{"a":10}"#,
        r#"{"a":1,"b":"z"}"#,
        r#"{"a":1,"c":[]}"#,
        r#"{"a":1,"c":[1,2,3]}"#,
        r#"{"a":1,"c":["1"]}"#,
        r#"{"a":1,"d":1}"#,
        r#"{"a":1,"e":2}"#,
        r#"{"a":1,"f":[1,2,1]}"#,
        r#"{"a":1,"g":"a/b"}"#,
        r#"{"a":1,"h":"a b"}"#,
        r#"{"a":1,"h":"%2x"}"#,
        r#"{"a":1,"h":"a b:c"}"#,
        r#"{"a":1,"h":"1:c"}"#,
        r#"{"a":1,"h":"é"}"#,
    ] {
        assert_eq!(count(bad), 1, "{bad}");
    }
}
