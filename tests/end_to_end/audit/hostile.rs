//! Rows that cannot be used, hostile texts.

use std::io::Write;
use std::process::Stdio;

use super::{Place, check, verdict};

const GOOD: &str = "{\"probs\":[0.75,0.25],\"label\":0}\n";
/// An answer whose outcome is not one of the classes.
const UNKNOWN: &str = "{\"probs\":[0.75,0.25],\"label\":7}\n";

#[test]
fn every_row_that_cannot_be_used_is_counted_and_the_first_are_listed() {
    let place = Place::new();
    let bad = [
        ("x", "cannot be read"),
        (
            "{\"probs\":[0.5,0.5],\"label\":2}",
            "a label that is not one of the classes",
        ),
        (
            "{\"probs\":[0.5,0.5],\"label\":\"a\"}",
            "a label that is not one of the classes",
        ),
        ("{\"probs\":[0.5,0.5]}", "no label"),
        (
            "{\"probs\":[0.5,0.25,0.25],\"label\":0}",
            "other classes than the rest of the log",
        ),
        ("{\"label\":0}", "no answer"),
        (
            "{\"probs\":[NaN,0.5],\"label\":0}",
            "not a probability distribution",
        ),
        (
            "{\"probs\":[null,0.5],\"label\":0}",
            "not a probability distribution",
        ),
        (
            "{\"probs\":[1.5,-0.5],\"label\":0}",
            "not a probability distribution",
        ),
        (
            "{\"probs\":\"x\",\"label\":0}",
            "something else where probabilities belong",
        ),
        ("{\"probs\":[0.5,0.5],\"label\":[]}", "not a prediction"),
        (
            "{\"factors\":[[1,0],[0,1]],\"label\":0}",
            "factors that exclude every class",
        ),
        (
            "{\"factors\":[[1,0]],\"weights\":[-1],\"label\":0}",
            "a weight that is negative or not finite",
        ),
        (
            "{\"factors\":[[0.5,0.6]],\"label\":0}",
            "not a probability distribution",
        ),
    ];
    let mut text = GOOD.to_string();
    for (line, _) in &bad {
        text += line;
        text += "\n";
    }
    text += &"?\n".repeat(20);
    place.write("p.jsonl", &text);
    let (audit, code) = place.json(&["p.jsonl", "--answer-from-evidence"]);
    assert_eq!(audit["inputs"][0]["rows"], 35);
    assert_eq!(audit["inputs"][0]["usable"], 1);
    assert_eq!(audit["rejected"]["count"], 34);
    let first = audit["rejected"]["first"].as_array().unwrap();
    assert!(
        first
            .iter()
            .map(|row| row["line"].as_u64().unwrap())
            .eq(2..22)
    );
    let reasons = audit["rejected"]["reasons"].as_array().unwrap();
    let count = |reason: &str| {
        let found = reasons.iter().find(|r| r["reason"] == reason);
        found.map_or(0, |r| r["count"].as_u64().unwrap())
    };
    for (_, reason) in &bad {
        let mut want = bad.iter().filter(|(_, r)| r == reason).count() as u64;
        want += if *reason == "cannot be read" { 20 } else { 0 };
        assert_eq!(count(reason), want, "{reason}");
    }
    // Five answers and a factor are none of the distributions they should be.
    assert_eq!((verdict(&audit, "validity"), code), ("fail", 1));
    assert_eq!(
        check(&audit, "validity")["worst"].as_array().unwrap().len(),
        5
    );
    place.ends(&["p.jsonl", "--strict"], "error: p.jsonl:2: line: ");
    for (name, text) in [
        ("empty.jsonl", ""),
        ("none.jsonl", "?\n\n?\n"),
        ("h.csv", "label,p_a,p_b\n"),
    ] {
        place.write(name, text);
        place.refuses(&[name], "no");
    }
    place.refuses(&["missing.jsonl"], "cannot be read");
}

#[test]
fn texts_from_outside_cannot_disturb_a_terminal() {
    let place = Place::new();
    let evil = r#""\u001b[2J\u202e<b>""#;
    place.write(
        "p.jsonl",
        format!("{GOOD}{{\"id\":{evil},\"probs\":[2,2],\"label\":0}}\n{{\"probs\":[1,0],\"label\":{evil}}}\n"),
    );
    let output = place.run(&["p.jsonl"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\\u{1b}[2J\\u{202e}<b>"), "{text}");
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()) && !text.contains('\u{202e}'));
}

#[test]
fn wrong_arguments_are_named() {
    let place = Place::new();
    place.write("p.jsonl", GOOD);
    place.write("unknown.jsonl", UNKNOWN);
    for (args, what) in [
        (&["--bins", "0"][..], "--bins"),
        (&["--bins", "2000"], "--bins"),
        (&["--threshold", "ece"], "CHECK=VALUE"),
        (&["--threshold", "ece=x"], "not a number"),
        (&["--threshold", "x=1"], "there is no check x"),
        (&["--threshold", "ece=nan"], "finite"),
        (&["--tolerance", "0.5"], "--tolerance"),
        (&["--classes", "a,a"], "--classes"),
        (&["--prior", "1,0"], "--prior"),
        (&["--prior", "1,1,1"], "--prior: 3 numbers"),
        (&["--name", "x"], "--name"),
        (&["--baseline", "none.jsonl"], "none.jsonl"),
        (&["--baseline", "unknown.jsonl"], "no row can be used"),
        (&["--undecided", "no"], "--undecided"),
    ] {
        place.refuses(&[&["p.jsonl"], args].concat(), what);
    }
}

/// A log in which nothing can be scored passes nothing: a gate that let it through would let any model
/// through. Invalid rows are a finding, not a log that cannot be used.
#[test]
fn a_log_without_a_single_outcome_cannot_be_used() {
    let place = Place::new();
    place.write("unknown.jsonl", UNKNOWN.repeat(3));
    place.refuses(
        &["unknown.jsonl"],
        "no row can be used; the first is line 1: label",
    );
    place.write("invalid.jsonl", "{\"label\":0,\"probs\":[0.5,0.75]}\n");
    let (audit, code) = place.json(&["invalid.jsonl"]);
    assert_eq!((verdict(&audit, "validity"), code), ("fail", 1));
}

#[test]
fn a_stream_has_the_name_it_is_given() {
    let place = Place::new();
    let mut command = place.command(&["-", "--name", "shard 7", "--format", "json"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(GOOD.repeat(50).as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let audit: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(audit["inputs"][0]["name"], "shard 7");
    assert_eq!(audit["inputs"][0]["usable"], 50);
    // 50 right of 50 at confidence 0.75: the interval of accuracy starts above it.
    assert_eq!(verdict(&audit, "gap"), "fail");
}

/// Names that are markup in some format do not get into any report as such.
#[test]
fn every_format_tells_the_same_verdict_and_lets_no_markup_through() {
    let place = Place::new();
    let evil = r#""\u001b[2J<script>x</script>&]]>""#;
    let bad = format!("{{\"id\":{evil},\"probs\":[2,2],\"label\":0}}\n");
    place.write("p.jsonl", GOOD.repeat(20) + &bad);
    for format in ["text", "json", "markdown", "junit", "sarif", "html"] {
        let output = place.run(&["p.jsonl", "--format", format]);
        assert_eq!(output.status.code(), Some(1), "{format}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains('\u{1b}'), "{format}");
        assert!(format == "text" || !text.contains("<script>x"), "{format}");
        let named = ["validity", "Invalid probability rows"];
        assert!(named.iter().any(|name| text.contains(name)), "{format}");
    }
}

#[test]
fn limits_come_from_a_file_and_the_command_line_comes_first() {
    let place = Place::new();
    place.write("p.jsonl", GOOD.repeat(400));
    let gate = "[audit]\nbins = 10\nclasses = [\"a\", \"b\"]\n[audit.limits]\ngap = \"off\"\nece = 0.5\naccuracy = 0.9\n";
    place.write("lpf.toml", gate);
    // All right at confidence 0.75: a gap of 25 points, which only a limit can make a fault.
    let (audit, code) = place.json(&["p.jsonl", "--config", "lpf.toml"]);
    assert_eq!((verdict(&audit, "gap"), code), ("information", 0));
    assert_eq!(verdict(&audit, "ece"), "pass");
    assert_eq!(verdict(&audit, "accuracy"), "pass");
    assert_eq!(audit["settings"]["bins"], 10);
    assert_eq!(audit["settings"]["classes"], serde_json::json!(["a", "b"]));
    let (audit, code) = place.json(&["p.jsonl", "--config", "lpf.toml", "--threshold", "ece=0.1"]);
    assert_eq!((verdict(&audit, "ece"), code), ("fail", 1));
    place.write("lpf.toml", "[audit.limits]\nece = 0.1\nno_such = 1\n");
    place.refuses(
        &["p.jsonl", "--config", "lpf.toml"],
        "lpf.toml:3: there is no check no_such",
    );
    place.write("lpf.toml", "[audit]\nstrict = true\n");
    place.write("p.jsonl", GOOD.to_string() + "?\n");
    // The report is written all the same.
    place.ends(&["p.jsonl", "--config", "lpf.toml"], "error: p.jsonl:2");
}
