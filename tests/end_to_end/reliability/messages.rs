//! What is said: short, with its place, and nothing in it that is not seen.

use super::hostile::MAP;
use super::{LOG, Place, RECORD};

/// A bell, an escape, a soft hyphen, an Arabic number sign, an override of direction, an interlinear
/// anchor, a musical format character, a tag.
const UNSEEN: &str = "\u{7}\u{1b}[2J\u{ad}\u{600}\u{202e}\u{fff9}\u{1d173}\u{e0041}";

fn assert_seen(what: &str, text: &str) {
    let unseen = text
        .chars()
        .find(|c| *c != '\n' && (c.is_control() || UNSEEN.contains(*c) && !c.is_ascii()));
    assert_eq!(unseen, None, "{what}: {text}");
}

#[test]
fn nothing_unseen_is_shown_by_any_command() {
    let place = Place::new();
    let name = format!("x{UNSEEN}");
    let json = serde_json::to_string(&name).unwrap();
    let record = format!(
        "{{\"entity\":{json},\"classes\":[{json},\"b\"],\"evidence\":[{{\"id\":{json},\"factor\":[0.75,0.25]}}]}}\n"
    );
    place.write("a.jsonl", &record);
    let log = format!(
        "{{\"id\":{json},\"label\":{json},\"classes\":[{json},\"b\"],\"probs\":[0.75,0.25]}}\n{{\"label\":{json},\"probs\":[2,0]}}\n"
    );
    place.write("log.jsonl", &log);
    // What is said to have been run, by a file that anybody may have written.
    let text = |prefix: &str| serde_json::json!(format!("{prefix}{name}"));
    let harness = serde_json::json!({"name": text("n"), "file": text("src/"), "claims": ["L2"],
        "cargo_test": {"outcome": text("passed")}, "kani": {"verdict": text("proved")}});
    let record = serde_json::json!({"commit": text("c"), "unix_time": 7, "all_hold": true, "harnesses": [harness]});
    place.write("proofs.json", record.to_string());
    let mut runs: Vec<Vec<&str>> = vec![
        vec!["claims", "L2", "--records", "."],
        vec!["claims", "L2", "--records", ".", "--format", "json"],
        vec!["infer", "a.jsonl", "--explain"],
        vec!["infer", "a.jsonl", "--explain", "--format", "text"],
        vec!["infer", &name],
        vec![&name],
        vec!["infer", "a.jsonl", "--method", &name],
        vec!["infer", "a.jsonl", "--max", &name],
        vec!["infer", "a.jsonl", "--classes", &name],
        vec!["infer", "a.jsonl", "--output", "/no/such/\u{1b}[2J"],
        vec!["audit", "log.jsonl", "--threshold", &name],
        vec!["audit", "log.jsonl", "--strict"],
        vec!["claims", "--verdict", &name],
        vec!["generate", &name],
        vec!["experiment", &name],
        vec!["train", "--domain", &name],
        vec![
            "train",
            "--entities",
            "20",
            "--epochs",
            "1",
            "--output",
            &name,
        ],
        vec![
            "calibrate",
            "log.jsonl",
            "--method",
            "isotonic",
            "--output",
            "m",
        ],
    ];
    for format in ["text", "json", "markdown", "junit", "sarif", "html"] {
        runs.push(vec!["audit", "log.jsonl", "--format", format]);
    }
    for args in runs {
        let ended = place.run(&args);
        let what = format!("{args:?}");
        assert!(matches!(ended.code, Some(0..=2)), "{what}");
        assert_seen(&what, &ended.err);
        assert_seen(&what, &String::from_utf8(ended.out).unwrap());
    }
    // What was escaped reads back as it was.
    let answer: serde_json::Value =
        serde_json::from_slice(&place.run(&["infer", "a.jsonl"]).out).unwrap();
    assert_eq!(
        (answer["entity"].as_str(), answer["prediction"].as_str()),
        (Some(&*name), Some(&*name))
    );
}

#[test]
fn long_inputs_give_short_messages() {
    let place = Place::new();
    let long = "\u{1b}".repeat(10 << 20);
    let csv = |header: &str| format!("{header}\n1,2\n");
    let inputs = [
        ("header.csv", csv(&format!("label,{long}"))),
        ("columns.csv", csv(&"x,".repeat(10 << 20))),
        ("field.csv", format!("label,p_a,p_b\n0,{long},1\n")),
        (
            "text.jsonl",
            format!(
                "{{\"entity\":\"a\",\"evidence\":\"{}\"}}",
                "x".repeat(10 << 20)
            ),
        ),
        (
            "class.jsonl",
            format!(
                "{{\"label\":\"{}\",\"probs\":[1,0],\"classes\":[\"a\",\"b\"]}}",
                "x".repeat(60_000)
            ),
        ),
    ];
    for (name, content) in inputs {
        place.write(name, content);
        let err = place.refused(&["audit", name, "--strict"]);
        assert!(err.contains(name), "{err}");
        let err = place.refused(&["calibrate", name, "--method", "isotonic", "--output", "m"]);
        assert!(err.contains(name), "{err}");
    }
    let argument = "\u{1b}".repeat(100_000);
    place.refused(&["audit", &argument]);
    place.refused(&["audit", "--format", &argument]);
}

#[test]
fn messages_name_the_file() {
    let place = Place::new();
    place.write("empty.csv", "label,p_a,p_b\n");
    place.write("one.jsonl", LOG.lines().next().unwrap());
    place.write("bad.jsonl", "{}\n");
    let numbers = vec!["0.0005"; 2000].join(",");
    place.write(
        "wide.jsonl",
        format!("{{\"label\":0,\"probs\":[{numbers}]}}\n"),
    );
    place.write("returns.csv", "label,p_a,p_b\ra,0.75,0.25\rb,0.5,0.5\r");
    place.write("packed.csv", b"BZh91AY&SY\xd3\x0b");
    place.write("three.csv", "label,p_a,p_b,p_c\na,0.5,0.25,0.25\n");
    place.write("map", MAP);
    for (args, file) in [
        (&["audit", "empty.csv"][..], "empty.csv"),
        (&["audit", "bad.jsonl"], "bad.jsonl"),
        (
            &[
                "calibrate",
                "empty.csv",
                "--method",
                "isotonic",
                "--output",
                "m",
            ],
            "empty.csv",
        ),
        (
            &[
                "calibrate",
                "one.jsonl",
                "--method",
                "isotonic",
                "--output",
                "m",
            ],
            "one.jsonl",
        ),
        (
            &[
                "calibrate",
                "wide.jsonl",
                "--method",
                "isotonic",
                "--output",
                "m",
            ],
            "wide.jsonl: 2000 classes",
        ),
        (
            &[
                "calibrate",
                "three.csv",
                "--method",
                "platt",
                "--output",
                "m",
            ],
            "three.csv",
        ),
        (
            &["apply", "three.csv", "--calibration", "map"],
            "three.csv: the calibration map map is",
        ),
        (&["infer", "empty.csv"], "empty.csv"),
        (
            &["train", "--data", "bad.jsonl", "--output", "m"],
            "bad.jsonl",
        ),
        (&["audit", "--merge", "bad.jsonl"], "bad.jsonl"),
        (
            &["audit", "returns.csv"],
            "returns.csv: lines end with a carriage return alone",
        ),
        (
            &["audit", "packed.csv"],
            "packed.csv: cannot be read: it is compressed with bzip2",
        ),
        (
            &["audit", "one.jsonl", "--config", "bad.jsonl"],
            "bad.jsonl",
        ),
    ] {
        let err = place.refused(args);
        assert!(err.contains(file), "{args:?}: {err}");
    }
    // Nothing is shown of what is then refused.
    let ended = place.run(&["apply", "three.csv", "--calibration", "map"]);
    assert_eq!(ended.out, b"");
}

#[test]
fn text_in_another_encoding_is_named_with_its_cure() {
    const CURE: &str = "iconv -f UTF-16 -t UTF-8";
    let log = "label,p_a,p_b\na,0.75,0.25\nb,0.5,0.5\n";
    let array = r#"[{"label":0,"probs":[0.75,0.25]}]"#;
    let record = RECORD.to_string() + "\n";
    let gate = "[audit.limits]\nece = 0.1\n";
    let texts: [(&str, &str, &[&str]); 8] = [
        ("log.csv", log, &["audit", "log.csv"]),
        ("log.json", array, &["audit", "log.json"]),
        ("log", LOG, &["audit", "log"]),
        (
            "log.jsonl",
            LOG,
            &[
                "calibrate",
                "log.jsonl",
                "--method",
                "platt",
                "--output",
                "m",
            ],
        ),
        ("a.jsonl", &record, &["infer", "a.jsonl"]),
        (
            "data.jsonl",
            &record,
            &["train", "--data", "data.jsonl", "--output", "m"],
        ),
        ("x.toml", gate, &["audit", "--demo", "--config", "x.toml"]),
        ("map", MAP, &["apply", "utf8.jsonl", "--calibration", "map"]),
    ];
    let place = Place::new();
    place.write("utf8.jsonl", LOG);
    let orders: [fn(u16) -> [u8; 2]; 2] = [u16::to_be_bytes, u16::to_le_bytes];
    for (name, text, args) in texts {
        place.write(name, text);
        let ended = place.run(args);
        assert!(!ended.err.contains(CURE), "{args:?}: {}", ended.err);
        for mark in ["", "\u{feff}"] {
            for order in orders {
                let wide = format!("{mark}{text}");
                place.write(
                    name,
                    wide.encode_utf16().flat_map(order).collect::<Vec<u8>>(),
                );
                let err = place.refused(args);
                assert!(err.contains(name) && err.contains(CURE), "{args:?}: {err}");
            }
        }
    }
}
