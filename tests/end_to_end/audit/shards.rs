//! Shards, threads and formats of input: the same bytes.

use serde_json::Value;

use super::{Place, REFERENCE, check};

/// Predictions with and without evidence, and rows that cannot be used.
fn log(seed: u32, rows: u32) -> String {
    let mut state = seed;
    let mut next = move || {
        // A linear congruential generator is random enough here.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    (0..rows)
        .map(|i| {
            let (a, b) = (next(), next() + 0.01);
            let p = [a / (a + b), b / (a + b)];
            let label = u8::from(next() > p[0]);
            match i % 50 {
                7 => "{\"probs\":[0.9,0.9],\"label\":0}\n".to_string(),
                13 => "not json\n\n".to_string(),
                21 => format!("{{\"probs\":{p:?}}}\n"),
                // Without an answer; with what cannot be read, less than one in ten.
                4..6 => format!("{{\"id\":{i},\"label\":{label},\"factors\":[{p:?}]}}\n"),
                0..10 => format!(
                    "{{\"id\":{i},\"label\":{label},\"probs\":{p:?},\"factors\":[{p:?},[0.5,0.5],[0.25,0.75]]}}\n"
                ),
                22..28 => format!(
                    "{{\"id\":{i},\"label\":{label},\"probs\":{p:?},\"evidence\":[{{\"mu\":[0],\"sigma\":[{b}],\"weight\":{}}},{{\"mu\":[1,{a}],\"cov\":[[2,{a}],[{a},2]]}}]}}\n",
                    1.0 / (1.0 + b)
                ),
                _ => format!("{{\"id\":{i},\"label\":{label},\"probs\":{p:?}}}\n"),
            }
        })
        .collect()
}

#[test]
fn merged_shards_give_the_bytes_of_one_run_in_every_order_and_for_any_threads() {
    let place = Place::new();
    let names = ["a", "b", "c"];
    for (name, rows) in names.into_iter().zip([700, 1, 300]) {
        place.write(&format!("{name}.jsonl"), log(rows, rows));
        let state = format!("{name}.state");
        let output = place.run(&["--partial", &state, &format!("{name}.jsonl")]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(output.stdout.is_empty());
    }
    for format in ["json", "text"] {
        let format = ["--all", "--format", format];
        let files = ["a.jsonl", "b.jsonl", "c.jsonl"];
        let whole = place.run(&[&files[..], &format, &["--threads", "1"]].concat());
        let said = String::from_utf8_lossy(&whole.stdout);
        // Rows 22 to 27 of every 50 have posteriors, and weights of another function.
        assert!(said.contains("In 0 of 120 rows the weights are"), "{said}");
        assert!(said.contains("The reciprocal function fits 120 rows."));
        assert!(said.contains("the 240 covariances of 120 entities"));
        let other = ["c.jsonl", "a.jsonl", "b.jsonl"];
        let again = place.run(&[&other[..], &format, &["--threads", "3"]].concat());
        assert_eq!(again.stdout, whole.stdout);
        for order in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]] {
            let states = order.map(|name| format!("{name}.state"));
            let states: Vec<&str> = states.iter().map(String::as_str).collect();
            let merged = place.run(&[&["--merge"], &states[..], &format].concat());
            assert_eq!(merged.stdout, whole.stdout, "{order:?}");
            assert_eq!(merged.status.code(), whole.status.code());
        }
        // Negative control: without one shard the report is another one.
        let fewer = place.run(&[&["--merge", "a.state", "c.state"], &format[..]].concat());
        assert_ne!(fewer.stdout, whole.stdout);
    }
    place.refuses(
        &["--merge", "a.state", "b.state", "a.state"],
        "no row may count twice",
    );
    place.refuses(&["a.jsonl", "a.jsonl"], "no row may count twice");
    place.run(&["--partial", "d.state", "--bins", "10", "c.jsonl"]);
    place.refuses(&["--merge", "a.state", "d.state"], "--bins");
    place.run(&[
        "--partial",
        "e.state",
        "--confidence",
        "reciprocal",
        "c.jsonl",
    ]);
    place.refuses(&["--merge", "a.state", "e.state"], "--confidence");
    place.write("three.jsonl", "{\"probs\":[0.5,0.25,0.25],\"label\":0}\n");
    place.refuses(&["a.jsonl", "three.jsonl"], "their classes");
}

/// Both the log and the earlier one in shards: the bytes of one run over the files.
#[test]
fn a_baseline_may_be_several_files_or_shards() {
    let place = Place::new();
    let names = ["a", "b", "x", "y"];
    for (name, rows) in names.into_iter().zip([400, 150, 300, 250]) {
        place.write(&format!("{name}.jsonl"), log(rows, rows));
        let output = place.run(&[
            "--partial",
            &format!("{name}.state"),
            &format!("{name}.jsonl"),
        ]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let run = |merge: &[&str], end: &str, now: [&str; 2], before: &[&str], format: &str| {
        let mut args: Vec<String> = merge.iter().map(|m| m.to_string()).collect();
        args.extend(now.map(|name| format!("{name}.{end}")));
        for name in before {
            args.extend(["--baseline".to_string(), format!("{name}.{end}")]);
        }
        args.extend(["--format".to_string(), format.to_string()]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = place.run(&args);
        assert!(output.stderr.is_empty(), "{args:?}: {output:?}");
        output.stdout
    };
    for format in ["json", "text", "html"] {
        let whole = run(&[], "jsonl", ["a", "b"], &["x", "y"], format);
        assert_eq!(run(&[], "jsonl", ["b", "a"], &["y", "x"], format), whole);
        for (now, before) in [(["a", "b"], ["x", "y"]), (["b", "a"], ["y", "x"])] {
            assert_eq!(run(&["--merge"], "state", now, &before, format), whole);
        }
        // Negative controls: without a part of the baseline, or with the roles exchanged.
        assert_ne!(
            run(&["--merge"], "state", ["a", "b"], &["x"], format),
            whole
        );
        assert_ne!(
            run(&["--merge"], "state", ["x", "y"], &["a", "b"], format),
            whole
        );
    }
    let report = run(&[], "jsonl", ["a", "b"], &["x", "y"], "json");
    let report: Value = serde_json::from_slice(&report).unwrap();
    let rows = |inputs: &Value| -> Vec<u64> {
        let inputs = inputs.as_array().unwrap().iter();
        inputs
            .map(|input| input["rows"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(rows(&report["inputs"]), [400, 150]);
    assert_eq!(rows(&report["baseline"]), [300, 250]);
    let merge = |files: &[&str], what: &str| place.refuses(&[&["--merge"], files].concat(), what);
    merge(
        &["a.state", "--baseline", "x.state", "--baseline", "x.state"],
        "x.jsonl is in both, and no row may count twice",
    );
    merge(
        &["a.state", "--baseline", "x.jsonl"],
        "x.jsonl: not a state",
    );
    place.run(&["--partial", "z.state", "--bins", "10", "y.jsonl"]);
    merge(
        &["a.state", "--baseline", "x.state", "--baseline", "z.state"],
        "they differ in --bins",
    );
    // Rows of the baseline that cannot be used are as fatal as others.
    place.write("good.jsonl", "{\"probs\":[0.5,0.5],\"label\":0}\n");
    place.refuses(
        &["good.jsonl", "--strict", "--baseline", "x.jsonl"],
        "x.jsonl:5: probs: missing",
    );
    place.refuses(
        &["-", "--baseline", "-"],
        "standard input can be read only once",
    );
}

/// The places of rows in a report, moved by `to`, and without the list of inputs.
fn moved(mut report: Value, to: impl Fn(&str, u64) -> (String, u64)) -> Value {
    report["inputs"].take();
    let mut lists = vec![report["rejected"]["first"].take()];
    for check in report["checks"].as_array_mut().unwrap() {
        lists.push(check["worst"].take());
    }
    for row in lists
        .iter_mut()
        .flat_map(|list| list.as_array_mut().unwrap())
    {
        let (file, line) = to(row["file"].as_str().unwrap(), row["line"].as_u64().unwrap());
        row["file"] = file.into();
        row["line"] = line.into();
    }
    serde_json::json!({"report": report, "rows": lists})
}

/// What docs/audit.md says of one file that is cut in pieces.
#[test]
fn pieces_of_a_file_differ_from_it_in_the_places_of_rows_alone() {
    let place = Place::new();
    let text = log(3, 900);
    place.write("whole.jsonl", &text);
    let (whole, _) = place.json(&["whole.jsonl"]);
    let whole = moved(whole, |file, line| (file.to_string(), line));
    let listed: Vec<usize> = whole["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| l.as_array().unwrap().len())
        .collect();
    assert!(listed[0] == 20 && listed[1] == 18, "{listed:?}");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let pieces: Vec<String> = lines.chunks(250).map(|piece| piece.concat()).collect();
    assert_eq!(pieces.len(), 4);
    for names in [["a", "b", "c", "d"], ["d", "a", "c", "b"]] {
        for (name, piece) in names.iter().zip(&pieces) {
            place.write(&format!("{name}.jsonl"), piece);
            place.run(&[
                &format!("{name}.jsonl"),
                "--partial",
                &format!("{name}.state"),
            ]);
        }
        let (merged, _) = place.json(&["--merge", "a.state", "b.state", "c.state", "d.state"]);
        let back = |file: &str, line: u64| {
            let piece = names
                .iter()
                .position(|name| file == format!("{name}.jsonl"));
            (
                "whole.jsonl".to_string(),
                line + 250 * piece.unwrap() as u64,
            )
        };
        let merged = moved(merged, back);
        assert_eq!(merged["report"], whole["report"]);
        // The first rows are the first by name of the file: the same ones where names are in order.
        assert_eq!(merged["rows"] == whole["rows"], names[0] == "a");
    }
}

/// The text with another value of the first field of this name. (A tree of JSON values would
/// round the long integers of a state.)
fn with(state: &str, key: &str, new: &str) -> String {
    let start = state.find(&format!("\"{key}\":")).unwrap() + key.len() + 3;
    let rest = &state[start..];
    let end = match rest.starts_with('[') {
        true => rest.find(']').unwrap() + 1,
        false => rest.find([',', '}']).unwrap(),
    };
    format!("{}{new}{}", &state[..start], &rest[end..])
}

/// How rows were read is in the shards: another wish is refused, never passed over.
#[test]
fn shards_are_not_merged_against_what_they_were_made_with() {
    let place = Place::new();
    place.write("a.jsonl", REFERENCE);
    let classes = ["--classes", "low,medium,high", "--answer", "spn"];
    let output = place.run(&[&["--partial", "a.state", "a.jsonl"][..], &classes].concat());
    assert_eq!(output.status.code(), Some(0));
    place.write("gate.toml", "[audit]\nbins = 10\n");
    for (args, what) in [
        (
            &["--bins", "10"][..],
            "--bins: the log was read with 15 bins, not 10",
        ),
        (&["--config", "gate.toml"], "15 bins, not 10"),
        (
            &["--classes", "a,b,c"],
            "the log was read with the classes low, medium, high",
        ),
        (&["--probs", "uniform"], "--probs"),
        (&["--method", "uniform"], "--method"),
        (&["--confidence", "none"], "--confidence"),
        (&["--samples", "4"], "--samples"),
        (&["--tolerance", "0.001"], "--tolerance"),
        (&["--input-format", "csv"], "--input-format"),
        (&["--positive", "a"], "--positive"),
    ] {
        place.refuses(&[&["--merge", "a.state"], args].concat(), what);
    }
    let agreed = [
        "--merge",
        "a.state",
        "--bins",
        "15",
        "--classes",
        "low,medium,high",
    ];
    let (_, code) = place.json(&agreed);
    assert_eq!(code, place.json(&["--merge", "a.state"]).1);
}

#[test]
fn damaged_states_are_refused() {
    let place = Place::new();
    place.write("a.jsonl", REFERENCE);
    let classes = ["--classes", "low,medium,high", "--answer", "spn"];
    let output = place.run(&[&["--partial", "a.state", "a.jsonl"][..], &classes].concat());
    assert_eq!(output.status.code(), Some(0));
    let state = std::fs::read_to_string(place.path("a.state")).unwrap();
    for cut in [0, 1, 100, state.len() / 2, state.len() - 3] {
        place.write("cut.state", &state[..cut]);
        place.refuses(&["--merge", "cut.state"], "not a state");
    }
    let changes = [
        ("version", "1", "version 1"),
        ("format", "\"x\"", "another kind"),
        ("checked", "61", "the checked rows"),
        (
            "checked",
            "18446744073709551615",
            "more rows than can be counted",
        ),
        (
            "impossible",
            "18446744073709551615",
            "more rows than can be counted",
        ),
        ("labels", "[60]", "the number of classes"),
        ("predicted", "[60,60,60]", "the predicted classes"),
        ("within_single", "61", "the compared rows"),
        ("most", "301", "the items"),
        ("weighed", "1", "the items"),
        ("items", "{\"rows\":18446744073709551615}", "not a state"),
        ("rows", "59", "the number of rows"),
        ("tolerance", "2", "the tolerance"),
    ];
    for (key, new, what) in changes {
        place.write("bad.state", with(&state, key, new));
        place.refuses(&["--merge", "bad.state"], what);
    }
    place.refuses(&["--merge", "a.jsonl"], "not a state");
    place.refuses(&["--merge"], "required");
}

#[test]
fn csv_and_json_say_the_same() {
    let place = Place::new();
    let (mut csv, mut json) = (String::from("id,label,p_x,p_y,more\n"), String::new());
    for i in 0..400u32 {
        let p = f64::from(i % 101) / 100.0;
        let label = if i * 7 % 100 < i % 101 { "x" } else { "y" };
        csv += &format!("\"e,{i}\",{label},{p},{},\"\"\"\"\r\n", 1.0 - p);
        json += &format!(
            "{{\"entity\":\"e,{i}\",\"label\":\"{label}\",\"probs\":[{p},{}]}}\n",
            1.0 - p
        );
    }
    place.write("p.csv", &csv);
    place.write("p.jsonl", &json);
    let (from_csv, _) = place.json(&["p.csv"]);
    let (from_json, _) = place.json(&["p.jsonl", "--classes", "x,y"]);
    assert_eq!(from_csv["inputs"][0]["usable"], 400);
    assert_eq!(from_csv["settings"], from_json["settings"]);
    let values = |audit: &Value| -> Vec<(Value, Value)> {
        let checks = audit["checks"].as_array().unwrap().iter();
        checks
            .map(|c| (c["value"].clone(), c["interval"].clone()))
            .collect()
    };
    assert_eq!(values(&from_csv), values(&from_json));
    assert_eq!(from_csv["curves"], from_json["curves"]);
    let renamed = csv.replacen("label,p_x,p_y", "truth,x,y", 1);
    place.write("named.txt", renamed);
    let args = [
        "named.txt",
        "--input-format",
        "csv",
        "--label-column",
        "truth",
    ];
    let (named, _) = place.json(&[&args[..], &["--prob-columns", "x,y"]].concat());
    assert_eq!(named["checks"], from_csv["checks"]);
    place.refuses(&args, "name them with --probs");
    place.refuses(
        &["named.txt", "--input-format", "csv"],
        "no columns of probabilities",
    );
    assert_eq!(check(&from_csv, "accuracy")["n"], 400);
}
