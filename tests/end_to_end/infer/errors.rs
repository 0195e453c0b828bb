//! Every way to be refused: exit code 2, a message with its place, nothing written.

use super::{infer, lpf, one};

#[test]
fn every_wrong_line_is_refused_with_its_place() {
    let factor = |values: &str| one(&format!(r#"{{"factor":{values}}}"#));
    let cases: Vec<(String, &str)> = vec![
        // Not JSON.
        (
            "{".into(),
            ":1: line: not JSON: EOF while parsing an object (column 1)",
        ),
        (
            "nonsense".into(),
            ":1: line: not JSON: expected ident (column 2)",
        ),
        (
            factor("[0.5,NaN]"),
            ":1: evidence[0].factor[1]: not JSON: NaN and Infinity are not JSON numbers (column 42)",
        ),
        (
            factor("[-Infinity]"),
            ":1: evidence[0].factor[0]: not JSON: NaN and Infinity are not JSON numbers (column 39)",
        ),
        (
            factor("[0.5,0.5"),
            ":1: evidence[0].factor[2]: not JSON: expected `,` or `]` (column 45)",
        ),
        (
            factor("[1]") + " {}",
            ":1: line: not JSON: trailing characters (column 44)",
        ),
        (
            factor("[0.5,1e999]"),
            ":1: evidence[0].factor[1]: a number beyond the range of doubles (column 46)",
        ),
        (
            "\u{0}".into(),
            ":1: line: not JSON: expected value (column 1)",
        ),
        (
            factor(&"[".repeat(100_000)),
            ":1: evidence[0].factor[0]: invalid type: sequence, expected a number",
        ),
        // Not a record.
        (
            "[]".into(),
            ":1: line: invalid type: sequence, expected an object with an entity and its evidence",
        ),
        (
            "3".into(),
            ":1: line: invalid type: integer `3`, expected an object with an entity and its evidence",
        ),
        ("{}".into(), ":1: entity: missing"),
        (r#"{"entity":"a"}"#.into(), ":1: evidence: missing"),
        (
            r#"{"entity":[7],"evidence":[]}"#.into(),
            ":1: entity: invalid type: sequence, expected a name",
        ),
        (
            r#"{"entity":"a","entity":"b","evidence":[]}"#.into(),
            ":1: entity: given twice",
        ),
        (
            r#"{"entity":"a","evidence":{}}"#.into(),
            ":1: evidence: invalid type: map, expected a list of evidence",
        ),
        (
            one("1"),
            ":1: evidence[0]: invalid type: integer `1`, expected an object with a factor, an embedding or a posterior",
        ),
        (
            one(r#"{"factor":[1],"factor":[1]}"#),
            ":1: evidence[0].factor: given twice",
        ),
        (
            factor(r#"[0.5,"x"]"#),
            r#":1: evidence[0].factor[1]: invalid type: string "x", expected a number"#,
        ),
        (
            factor("[null]"),
            ":1: evidence[0].factor[0]: invalid type: null, expected a number",
        ),
        (
            one(r#"{"id":3,"factor":[1]}"#),
            ":1: evidence[0].id: invalid type: integer `3`, expected a string",
        ),
        // Not evidence.
        (
            r#"{"entity":"a","evidence":[]}"#.into(),
            ":1: evidence: there is no evidence; give at least one item",
        ),
        (
            one(r#"{"factor":[1,0]},{"weight":1}"#),
            ":1: evidence[1].factor: missing; evidence without a factor (an embedding or a posterior) needs a model",
        ),
        (
            one(r#"{"embedding":[1,2]}"#),
            ":1: evidence[0].factor: missing; evidence without a factor (an embedding or a posterior) needs a model",
        ),
        (factor("[]"), ":1: evidence[0].factor: there are no classes"),
        (
            factor("[1.5,-0.5]"),
            ":1: evidence[0].factor[1]: -0.5 is below zero; a probability is not",
        ),
        (
            factor("[0.5,0.4]"),
            ":1: evidence[0].factor: the entries add up to 0.9, not to 1 (allowed difference 1e-6)",
        ),
        (
            factor("[0.5,0.5000019073486328125]"),
            ":1: evidence[0].factor: the entries add up to 1.0000019073486328, not to 1 (allowed difference 1e-6)",
        ),
        (
            factor("[0,0]"),
            ":1: evidence[0].factor: the entries add up to 0, not to 1 (allowed difference 1e-6)",
        ),
        (
            one(r#"{"factor":[1,0]},{"factor":[1,0,0]}"#),
            ":1: evidence[1].factor: 3 classes, but the first factor has 2",
        ),
        (
            one(r#"{"factor":[1,0],"weight":-1}"#),
            ":1: evidence[0].weight: -1.0; a weight is finite and not negative",
        ),
        (
            one(r#"{"factor":[1,0],"weight":null}"#),
            ":1: evidence[0].weight: invalid type: null, expected a number",
        ),
        (
            one(r#"{"factor":[1,0],"weight":1e306}"#),
            ":1: evidence[0].weight: 1e306 is too large to raise a factor to",
        ),
        // Contradictions.
        (
            one(r#"{"factor":[0.5,0.5]},{"id":"x","factor":[1,0]},{"id":"y","factor":[0,1]}"#),
            r#":1: evidence[1].factor: contradicts evidence[2] ("y"): no class is possible under all of them"#,
        ),
        (
            one(r#"{"factor":[0,0.5,0.5]},{"factor":[0.5,0,0.5]},{"factor":[0.5,0.5,0]}"#),
            ":1: evidence[0].factor: contradicts evidence[1] and evidence[2]: no class is possible under all of them",
        ),
        // Classes and labels.
        (
            r#"{"entity":"a","classes":["p","q"],"label":"r","evidence":[{"factor":[1,0]}]}"#
                .into(),
            r#":1: label: "r" is not one of the classes p, q"#,
        ),
        (
            r#"{"entity":"a","label":2,"evidence":[{"factor":[1,0]}]}"#.into(),
            ":1: label: 2 is not one of the classes 0, 1",
        ),
        (
            r#"{"entity":"a","label":-1,"evidence":[{"factor":[1,0]}]}"#.into(),
            ":1: label: \"-1\" is not one of the classes 0, 1",
        ),
        (
            r#"{"entity":"a","classes":["p"],"evidence":[{"factor":[1,0]}]}"#.into(),
            ":1: evidence[0].factor: 2 classes, but the classes field has 1",
        ),
        (
            r#"{"entity":"a","classes":["p","p"],"evidence":[{"factor":[1,0]}]}"#.into(),
            ":1: classes: a class name is given twice",
        ),
        (
            r#"{"entity":"a","classes":["p",""],"evidence":[{"factor":[1,0]}]}"#.into(),
            ":1: classes: a class name is empty",
        ),
        (
            r#"{"entity":"a","classes":[],"evidence":[{"factor":[1,0]}]}"#.into(),
            ":1: classes: there are no classes",
        ),
        (
            r#"{"entity":"a","classes":["p",2],"evidence":[]}"#.into(),
            ":1: classes[1]: invalid type: integer `2`, expected a string",
        ),
        // The line is counted, blank ones included.
        (
            format!("{}\n\r\n  \n[]", factor("[1]")),
            ":4: line: invalid type: sequence, expected an object with an entity and its evidence",
        ),
        // Nothing that a terminal would obey.
        (
            one("{\"factor\":[\"\u{9b}\u{202e}\\u001b[2J\"]}"),
            r#":1: evidence[0].factor[0]: invalid type: string "\u{9b}\u{202e}\u{1b}[2J", expected a number"#,
        ),
        // Nothing at all.
        (String::new(), ": there is no row"),
        ("\n \n\r\n".into(), ": there is no row"),
    ];
    for (input, message) in &cases {
        let shown: String = input.chars().take(200).collect();
        let run = infer(&[], input.as_bytes());
        assert_eq!(
            run.err,
            format!("error: standard input{message}\n"),
            "{shown}"
        );
        assert_eq!(run.code, Some(2), "{shown}");
        // Only a line before the wrong one has an answer.
        assert_eq!(
            run.out.lines().count(),
            usize::from(message.starts_with(":4")),
            "{shown}"
        );
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let mut input = one(r#"{"id":"??","factor":[1]}"#).into_bytes();
    let at = input.iter().position(|&b| b == b'?').unwrap();
    input[at..at + 2].copy_from_slice(&[0xc3, 0x28]);
    let run = infer(&[], &input);
    let message = format!(
        "error: standard input:1: line: not UTF-8 text: byte {} does not fit\n",
        at + 1
    );
    assert_eq!(
        (run.code, run.err, run.out),
        (Some(2), message, String::new())
    );
}

#[test]
fn what_is_odd_but_right_is_accepted() {
    let bom = format!("\u{feff}{}\r\n", one(r#"{"factor":[1,0]}"#));
    let cases = [
        // A byte-order mark and a carriage return; a last line without its end; blank lines.
        bom.clone(),
        one(r#"{"factor":[1,0]}"#),
        format!("\n\n{}\n\n", one(r#"{"factor":[1,0]}"#)),
        // Unknown fields, nested as deep as they like, twice if they like.
        format!(
            r#"{{"x":{}{},"x":1,"entity":"a","evidence":[{{"factor":[1,0]}}]}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        ),
        // Null for what may be left out; escapes in names of fields.
        r#"{"\u0065ntity":"a","label":null,"evidence":[{"id":null,"factor":[1,0]}]}"#.into(),
        // Whole numbers, a negative zero, a sum that is off by float32 rounding.
        one(r#"{"factor":[1,-0.0],"weight":2}"#),
        one(r#"{"factor":[1.0000001,0]}"#),
    ];
    let want = "{\"entity\":\"a\",\"method\":\"spn\",\"distribution\":[1.0,0.0],\"prediction\":0,\"confidence\":1.0,\"k_eff\":1.0}\n";
    for input in cases {
        let shown: String = input.chars().take(200).collect();
        let run = infer(&[], input.as_bytes());
        assert_eq!(
            (run.code, &*run.err, &*run.out),
            (Some(0), "", want),
            "{shown}"
        );
    }
}

#[test]
fn names_cannot_disturb_a_terminal() {
    let input = "{\"entity\":\"\\u001b[2J\u{9b}\\\"\\\\\u{7f}ü\",\"evidence\":[{\"factor\":[1]}]}";
    let json = infer(&[], input.as_bytes()).out;
    assert!(
        json.starts_with(r#"{"entity":"\u001b[2J\u009b\"\\\u007fü","#),
        "{json}"
    );
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["entity"], "\u{1b}[2J\u{9b}\"\\\u{7f}ü");
    let text = infer(&["--format", "text"], input.as_bytes()).out;
    assert!(text.contains(r#"\u{1b}[2J\u{9b}"\\u~"#), "{text}");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn weights_of_zero_leave_the_uniform_distribution_and_no_count() {
    let run = infer(
        &[],
        one(r#"{"factor":[1,0],"weight":0},{"factor":[0,1],"weight":0}"#).as_bytes(),
    );
    assert!(
        run.out.contains(r#""distribution":[0.5,0.5]"#),
        "{}",
        run.out
    );
    assert!(run.out.contains(r#""k_eff":null"#));
}

#[test]
fn one_item_has_no_influence() {
    let run = infer(
        &["--explain"],
        one(r#"{"id":"x","factor":[0.75,0.25]}"#).as_bytes(),
    );
    let want = r#","evidence":[{"id":"x","factor":[0.75,0.25],"weight":1.0,"influence":null}]}"#;
    assert!(run.out.trim_end().ends_with(want), "{}", run.out);
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    let prior = |p| ["--method", "prior-corrected", "--prior", p];
    let input = one(r#"{"factor":[0.5,0.5]}"#);
    let cases: &[(&[&str], &str)] = &[
        (
            &["--method", "prior-corrected"],
            "error: --prior: missing; method prior-corrected needs a prior, or a model that has one\n",
        ),
        (
            &["--prior", "0.5,0.5"],
            "error: --prior: has no meaning for method spn\n",
        ),
        (
            &prior("0.5,0.4"),
            "error: --prior: the entries add up to 0.9, not to 1 (allowed difference 1e-6)\n",
        ),
        (
            &prior("1.5,-0.5"),
            "error: --prior: entry 1 is -0.5, below zero\n",
        ),
        (&prior("nan,1"), "error: --prior: entry 0 is not a number\n"),
        (
            &["--classes", "a,b,a"],
            "error: --classes: a class name is given twice\n",
        ),
        (
            &["--classes", "a,,b"],
            "error: --classes: a class name is empty\n",
        ),
        (
            &["--tolerance", "-1"],
            "error: --tolerance: -1 is not in [0, 1)\n",
        ),
        (
            &["--tolerance", "NaN"],
            "error: --tolerance: NaN is not in [0, 1)\n",
        ),
        (
            &["--classes", "a,b,c"],
            "error: standard input:1: evidence[0].factor: 2 classes, but the list of classes has 3\n",
        ),
        (
            &prior("0.2,0.3,0.5"),
            "error: standard input:1: evidence[0].factor: 2 classes, but the prior has 3\n",
        ),
        (
            &["--output", "/nonexistent/x"],
            "error: /nonexistent/x: cannot be written: No such file or directory (os error 2)\n",
        ),
    ];
    for (args, message) in cases {
        let run = infer(args, input.as_bytes());
        assert_eq!(
            (run.code, &*run.err, &*run.out),
            (Some(2), *message, ""),
            "{args:?}"
        );
    }
    let both = [&prior("0.5,0.5")[..], &["--classes", "a,b,c"]].concat();
    let run = infer(&both, input.as_bytes());
    assert_eq!(
        run.err,
        "error: --classes: 3 names, but the prior has 2 classes\n"
    );
    for args in [
        &["--method", "best"][..],
        &["--threads", "0"],
        &["--samples", "0"],
        &["--seed", "-1"],
    ] {
        let run = infer(args, input.as_bytes());
        assert_eq!((run.code, run.out.len()), (Some(2), 0), "{args:?}");
        assert!(run.err.starts_with("error: "), "{}", run.err);
    }
    let bare = lpf().output().unwrap();
    assert_eq!(bare.status.code(), Some(2));
    assert!(
        String::from_utf8(bare.stderr)
            .unwrap()
            .contains("Usage: lpf [OPTIONS] <COMMAND>")
    );
}

#[test]
fn contradiction_with_the_prior_names_it() {
    let args = ["--method", "prior-corrected", "--prior", "0,1"];
    let run = infer(&args, one(r#"{"factor":[1,0]}"#).as_bytes());
    let message = "error: standard input:1: evidence[0].factor: contradicts the prior: no class is possible under all of them\n";
    assert_eq!((run.code, &*run.err), (Some(2), message));
    // With a prior, no evidence has an answer: the prior.
    let run = infer(&args, br#"{"entity":"a","evidence":[]}"#);
    assert_eq!(run.code, Some(0));
    assert!(
        run.out
            .contains(r#""distribution":[0.0,1.0],"prediction":1"#),
        "{}",
        run.out
    );
}
