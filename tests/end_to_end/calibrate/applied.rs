//! `lpf apply`: the log that went in, with other probabilities.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{ok, overconfident, refused, value};

fn fit(folder: &Path) {
    fs::write(folder.join("data.jsonl"), overconfident(400)).unwrap();
    let args = [
        "calibrate",
        "data.jsonl",
        "--method",
        "temperature",
        "--classes",
        "a,b",
        "--output",
        "cal.json",
    ];
    ok(&args, folder);
}

#[test]
fn json_lines_come_out_as_they_went_in_but_for_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fit(folder);
    let log = "{ \"id\" : 7,\"probs\": [0.9,\t0.1] , \"note\":\"a \\\"probs\\\": [1]\",\"x\":{\"probs\":[0,1]}}\n\n\
               {\"evidence\":[{\"factor\":[0.9,0.1]}],\"entity\":\"e\",\"label\":\"a\"}\n";
    fs::write(folder.join("log.jsonl"), log).unwrap();
    let out = ok(
        &[
            "apply",
            "log.jsonl",
            "--calibration",
            "cal.json",
            "--classes",
            "a,b",
        ],
        folder,
    );
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 2);
    // What `infer` answers for the same evidence, through the same map.
    let inferred = {
        fs::write(
            folder.join("e.jsonl"),
            "{\"entity\":\"e\",\"evidence\":[{\"factor\":[0.9,0.1]}]}\n",
        )
        .unwrap();
        value(&ok(
            &[
                "infer",
                "e.jsonl",
                "--calibration",
                "cal.json",
                "--classes",
                "a,b",
            ],
            folder,
        ))
    };
    let p = value(lines[0])["probs"].clone();
    let (ours, want) = (
        p[0].as_f64().unwrap(),
        inferred["distribution"][0].as_f64().unwrap(),
    );
    assert!((ours - want).abs() < 1e-15 && ours < 0.8, "{ours} {want}");
    let shown = format!(
        "[{:?},{:?}]",
        p[0].as_f64().unwrap(),
        p[1].as_f64().unwrap()
    );
    assert_eq!(
        lines[0],
        log.lines().next().unwrap().replace("[0.9,\t0.1]", &shown)
    );
    assert!(lines[1].starts_with(
        "{\"evidence\":[{\"factor\":[0.9,0.1]}],\"entity\":\"e\",\"label\":\"a\",\"probs\":["
    ));
    // One thread or three, to a file or not.
    let args = [
        "apply",
        "log.jsonl",
        "--calibration",
        "cal.json",
        "--classes",
        "a,b",
        "--threads",
        "3",
        "--output",
        "out.jsonl",
    ];
    ok(&args, folder);
    assert_eq!(fs::read_to_string(folder.join("out.jsonl")).unwrap(), out);
}

#[test]
fn columns_come_out_as_they_went_in_and_audit_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fit(folder);
    let rows: String = (0..200)
        .map(|i| {
            format!(
                "\"row, {i}\",{},0.{},{},x\r\n",
                ["a", "b"][usize::from(i % 3 == 0)],
                90 - i % 20,
                format_args!("0.{}", 10 + i % 20)
            )
        })
        .collect();
    fs::write(
        folder.join("log.csv"),
        format!("id,label,p_a,p_b,other\r\n{rows}"),
    )
    .unwrap();
    ok(
        &[
            "apply",
            "log.csv",
            "--calibration",
            "cal.json",
            "--output",
            "out.csv",
        ],
        folder,
    );
    let out = fs::read_to_string(folder.join("out.csv")).unwrap();
    assert_eq!(out.lines().next(), Some("id,label,p_a,p_b,other"));
    assert_eq!(out.matches("\r\n").count(), 201);
    assert!(out.contains("\"row, 7\",a,0."));
    let audit = |args: &[&str]| {
        let out = super::lpf(&[&["audit"], args, &["--format", "json"]].concat(), folder);
        let report = value(&String::from_utf8(out.stdout).unwrap());
        report["checks"].as_array().unwrap().clone()
    };
    // A number that was written and read back is the same number.
    assert_eq!(
        audit(&["out.csv"]),
        audit(&["log.csv", "--calibration", "cal.json"])
    );
    assert_ne!(audit(&["out.csv"]), audit(&["log.csv"]));
    // Sets go into a column of their own.
    let args = [
        "calibrate",
        "data.jsonl",
        "--method",
        "conformal",
        "--classes",
        "a,b",
        "--output",
        "sets.json",
    ];
    ok(&args, folder);
    let out = ok(&["apply", "log.csv", "--calibration", "sets.json"], folder);
    assert!(out.starts_with("id,label,p_a,p_b,other,set\r\n"));
    assert!(
        out.lines().nth(1).unwrap().ends_with(",x,a|b")
            || out.lines().nth(1).unwrap().ends_with(",x,a")
    );
}

#[test]
fn what_cannot_be_applied_is_refused_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fit(folder);
    let apply = |file: &str, text: &str| {
        fs::write(folder.join(file), text).unwrap();
        refused(
            &[
                "apply",
                file,
                "--calibration",
                "cal.json",
                "--output",
                "out",
            ],
            folder,
        )
    };
    assert!(
        apply("log.csv", "label,p_a,p_c\na,0.5,0.5\n")
            .contains("for other classes than the log: a, b, where the log has a, c")
    );
    assert!(
        apply("log.csv", "label,p_a,p_b\na,0.5,0.5\na,0.5,0.7\n")
            .contains("log.csv:3: probabilities: ")
    );
    assert!(apply("log.csv", "label,p_a,p_b\n").contains("there is no row"));
    assert!(
        apply("log.jsonl", "{\"probs\":[0.5,0.5]}\n{\"label\":\"a\"}\n")
            .contains("log.jsonl:2: probs: ")
    );
    assert!(apply("log.parquet", "").contains("log.parquet: not a complete Parquet file"));
    assert!(!folder.join("out").exists());
    // The name of the output is no wish for another format.
    fs::write(folder.join("log.csv"), "label,p_a,p_b\na,0.5,0.5\n").unwrap();
    let args = ["apply", "log.csv", "--calibration", "cal.json", "--output"];
    for name in ["out.parquet", "out.jsonl", "out.json", "out.json.gz"] {
        let said = refused(&[&args[..], &[name]].concat(), folder);
        assert!(
            said.contains("what comes out is separated values"),
            "{said}"
        );
        assert!(!folder.join(name).exists());
    }
    ok(&[&args[..], &["out.tsv"]].concat(), folder);
    // On standard output not even a header comes before the first thing that is wrong.
    for text in [
        "label,p_a,p_c\na,0.5,0.5\n",
        "label,p_a,p_b\na,0.5,0.7\n",
        "label,p_a,p_b\n",
        "label,probs\na,[0.5 0.25 0.25]\n",
    ] {
        fs::write(folder.join("log.csv"), text).unwrap();
        refused(&["apply", "log.csv", "--calibration", "cal.json"], folder);
    }
}

/// The same log as CSV, as a JSON array, compressed, and as Parquet comes out in its own format, with the same
/// answers.
#[cfg(feature = "parquet")]
#[test]
fn every_format_comes_out_as_it_went_in() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let args = [
        "calibrate",
        &format!("{root}/parquet/usable.csv"),
        "--method",
        "temperature",
    ];
    ok(&[&args[..], &["--output", "cal.json"]].concat(), folder);
    let applied = |from: &str, to: &str| {
        let args = ["apply", from, "--calibration", "cal.json", "--output", to];
        ok(&args, folder);
        let audit = value(&ok(
            &[
                "audit",
                to,
                "--format",
                "json",
                "--threshold",
                "gap=off",
                "--threshold",
                "ece=off",
            ],
            folder,
        ));
        (
            audit["checks"].clone(),
            audit["inputs"][0]["reading"]["format"].clone(),
        )
    };
    let (want, _) = applied(&format!("{root}/parquet/usable.csv"), "out.csv");
    let (table, format) = applied(&format!("{root}/parquet/usable.parquet"), "out.parquet");
    assert_eq!(format, "Parquet");
    let without_places = |mut checks: Value| {
        for check in checks.as_array_mut().unwrap() {
            check["worst"] = Value::Null;
        }
        checks
    };
    assert_eq!(without_places(table), without_places(want));
    // A column that the map does not touch is the same to the byte.
    let args = [
        "calibrate",
        &format!("{root}/formats/many.csv"),
        "--method",
        "temperature",
    ];
    ok(&[&args[..], &["--output", "cal.json"]].concat(), folder);
    let (want, _) = applied(&format!("{root}/formats/many.csv"), "many.csv");
    for name in ["list", "list_fixed", "struct", "float_labels"] {
        let (found, _) = applied(
            &format!("{root}/formats/many_{name}.parquet"),
            "many.parquet",
        );
        assert_eq!(found, want, "{name}");
    }
    let text = fs::read_to_string(format!("{root}/formats/many.csv")).unwrap();
    let rows: Vec<Value> = text
        .lines()
        .skip(1)
        .map(|line| {
            let numbers: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
            serde_json::json!({"label": numbers[0], "0": numbers[1], "1": numbers[2], "2": numbers[3], "x": "y"})
        })
        .collect();
    fs::write(
        folder.join("log.json"),
        serde_json::to_string_pretty(&rows).unwrap(),
    )
    .unwrap();
    let (found, format) = applied("log.json", "out.json");
    assert_eq!((found, format), (want.clone(), "JSON array".into()));
    let out = value(&fs::read_to_string(folder.join("out.json")).unwrap());
    assert_eq!(
        (out.as_array().unwrap().len(), &out[7]["x"]),
        (60, &"y".into())
    );
    let packed = zstd::bulk::compress(text.as_bytes(), 1).unwrap();
    fs::write(folder.join("log.csv.zst"), packed).unwrap();
    let (found, _) = applied("log.csv.zst", "out.csv.zst");
    assert_eq!(found, want);
    assert!(
        fs::read(folder.join("out.csv.zst"))
            .unwrap()
            .starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
    );
    // The name of what is written decides, not that of what is read.
    let (found, _) = applied("log.csv.zst", "plain.csv");
    assert_eq!(found, want);
    let plain = fs::read(folder.join("plain.csv")).unwrap();
    assert!(plain.starts_with(text.lines().next().unwrap().as_bytes()));
    fs::write(folder.join("unpacked.csv"), &text).unwrap();
    let (found, _) = applied("unpacked.csv", "packed.csv.gz");
    assert_eq!(found, want);
    assert!(
        fs::read(folder.join("packed.csv.gz"))
            .unwrap()
            .starts_with(&[0x1f, 0x8b])
    );
}
