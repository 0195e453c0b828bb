//! `lpf calibrate`, and `lpf infer --calibration` with what it makes, as processes; and the
//! calibration metrics beside those of other programs.

mod applied;
mod audited;
mod bounded;
mod chosen;
mod monitored;
mod peers;
mod sets;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn lpf(args: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lpf"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn ok(args: &[&str], folder: &Path) -> String {
    let out = lpf(args, folder);
    assert_eq!(String::from_utf8_lossy(&out.stderr), "", "{args:?}");
    assert_eq!(out.status.code(), Some(0), "{args:?}");
    String::from_utf8(out.stdout).unwrap()
}

fn refused(args: &[&str], folder: &Path) -> String {
    let out = lpf(args, folder);
    assert_eq!(out.status.code(), Some(2), "{args:?}");
    assert_eq!(String::from_utf8_lossy(&out.stdout), "", "{args:?}");
    String::from_utf8(out.stderr).unwrap()
}

/// A line with one factor, which `lpf infer` answers unchanged.
fn line(name: &str, factor: &[f64], label: usize) -> String {
    format!(
        "{{\"entity\":\"{name}\",\"label\":{label},\"evidence\":[{{\"factor\":{factor:?}}}]}}\n"
    )
}

/// Rows that are sure to 90 % and right 60 % of the time; every fifth sure to 60 %, right 50 %.
fn overconfident(rows: usize) -> String {
    (0..rows)
        .map(|i| {
            let (p, rights) = if i % 5 == 0 { (0.6, 5) } else { (0.9, 6) };
            // A stride that visits all residues, so that rights spread over both parts.
            let label = usize::from((i / 5 * 7 + i) % 10 >= rights);
            line(&format!("e{i}"), &[p, 1.0 - p], label)
        })
        .collect()
}

/// Every kind of map, for two classes.
const EVERY: [&str; 7] = [
    "temperature",
    "platt",
    "beta",
    "vector",
    "dirichlet",
    "histogram",
    "isotonic",
];

/// The map that was written, without the digests of the files that it is from.
fn without_sources(folder: &Path) -> Value {
    let mut file = value(&fs::read_to_string(folder.join("cal.json")).unwrap());
    assert_eq!(file["sources"].as_array().unwrap().len(), 1);
    file["sources"].take();
    file
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_method_repairs_overconfidence_on_rows_it_has_not_seen() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data.jsonl"), overconfident(2000)).unwrap();
    for method in EVERY {
        let run = ok(
            &[
                "calibrate",
                "data.jsonl",
                "--method",
                method,
                "--output",
                "cal.json",
                "--format",
                "json",
            ],
            folder.path(),
        );
        let report = value(&run);
        assert_eq!(report["method"], method);
        let rows = report["fitted_on"].as_u64().unwrap() + report["judged_on"].as_u64().unwrap();
        assert_eq!(rows, 2000);
        let of = |when: &str, what: &str| report[when][what]["value"].as_f64().unwrap();
        // Before: 4/5 of the rows are off by 0.3, 1/5 by 0.1, up to the chance of the split.
        assert!((of("before", "ece") - 0.26).abs() < 0.05, "{method}");
        assert!(of("after", "ece") < 0.12, "{method}: {run}");
        assert!(of("after", "smooth_ece") < of("before", "smooth_ece"));
        for what in ["brier", "log_loss"] {
            assert!(of("after", what) < of("before", what), "{method} {what}");
        }
        // The others may name another class where the model was right half of the time.
        if ["temperature", "histogram", "isotonic"].contains(&method) {
            assert_eq!(of("after", "accuracy"), of("before", "accuracy"));
        }
        for what in ["accuracy", "ece", "brier", "log_loss"] {
            let ends = &report["after"][what]["interval"];
            // The log loss has no upper end.
            let high = ends[1].as_f64().unwrap_or(f64::INFINITY);
            assert_eq!(high.is_infinite(), what == "log_loss");
            let low = ends[0].as_f64().unwrap();
            let v = of("after", what);
            assert!(low <= v && v <= high, "{method} {what}");
        }
        // The map, as `lpf infer` applies it.
        let answers = ok(
            &["infer", "data.jsonl", "--calibration", "cal.json"],
            folder.path(),
        );
        let first = value(answers.lines().nth(1).unwrap());
        assert_eq!(first["calibration"], method);
        assert_eq!(first["prediction"], 0);
        let confidence = first["confidence"].as_f64().unwrap();
        assert!((confidence - 0.6).abs() < 0.06, "{method}: {confidence}");
        if method == "histogram" {
            let bins = report["bins"].as_array().unwrap();
            assert_eq!(bins.len(), 15);
            let bin = &bins[13];
            assert_eq!(bin["answer"].as_f64().unwrap(), confidence);
            // The rates that made the data lie in what the map promises.
            assert!(bin["low"].as_f64().unwrap() <= 0.6 && 0.6 <= bin["high"].as_f64().unwrap());
        }
        // For people: the same numbers, rounded.
        let text = ok(
            &[
                "calibrate",
                "data.jsonl",
                "--method",
                method,
                "--output",
                "again.json",
            ],
            folder.path(),
        );
        assert!(
            text.contains(&format!("{:.4}", of("after", "ece"))),
            "{text}"
        );
        let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
        assert_eq!(read("cal.json"), read("again.json"));
    }
}

#[test]
fn neither_the_order_of_rows_nor_threads_change_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    let data = overconfident(300);
    let mut lines: Vec<&str> = data.lines().collect();
    fs::write(folder.path().join("a.jsonl"), &data).unwrap();
    lines.reverse();
    lines.rotate_left(77);
    fs::write(folder.path().join("b.jsonl"), lines.join("\n")).unwrap();
    for method in EVERY.into_iter().chain(["auto"]) {
        let run = |file: &str, threads: &str| {
            let report = ok(
                &[
                    "calibrate",
                    file,
                    "--method",
                    method,
                    "--output",
                    "cal.json",
                    "--threads",
                    threads,
                    "--seed",
                    "9",
                    "--split",
                    "0.4",
                ],
                folder.path(),
            );
            (report, without_sources(folder.path()))
        };
        assert_eq!(run("a.jsonl", "1"), run("b.jsonl", "3"), "{method}");
    }
    let fit = |seed: &str| {
        let args = [
            "calibrate",
            "a.jsonl",
            "--method",
            "histogram",
            "--output",
            "c.json",
            "--seed",
            seed,
        ];
        ok(&args, folder.path())
    };
    assert_ne!(fit("1"), fit("2"), "another seed, another split");
}

#[test]
fn a_logged_answer_comes_before_the_evidence_and_is_audited_after_the_map() {
    let folder = tempfile::tempdir().unwrap();
    let text = overconfident(1000);
    fs::write(folder.path().join("evidence.jsonl"), &text).unwrap();
    let logged = text
        .replace("\"evidence\":[{\"factor\":", "\"probs\":")
        .replace("]}]}", "]}");
    fs::write(folder.path().join("log.jsonl"), &logged).unwrap();
    let both = logged.replace("}\n", ",\"evidence\":[{\"factor\":[0.5,0.5]}]}\n");
    fs::write(folder.path().join("both.jsonl"), both).unwrap();
    let fit = |file: &str| {
        let args = [
            "calibrate",
            file,
            "--method",
            "isotonic",
            "--output",
            "cal.json",
        ];
        let report = ok(&args, folder.path());
        (report, without_sources(folder.path()))
    };
    // A product of one factor may differ from it in the last place, and so may the map; what is
    // reported with four digits does not.
    assert_eq!(fit("evidence.jsonl").0, fit("log.jsonl").0);
    assert_eq!(fit("both.jsonl"), fit("log.jsonl"));
    // The audit of the same log, as it is and through the map.
    let ece = |more: &[&str]| {
        let args = [&["audit", "log.jsonl", "--format", "json"], more].concat();
        let report = value(&String::from_utf8(lpf(&args, folder.path()).stdout).unwrap());
        let checks = report["checks"].as_array().unwrap().clone();
        checks.iter().find(|c| c["id"] == "ece").unwrap()["value"]
            .as_f64()
            .unwrap()
    };
    let (before, after) = (ece(&[]), ece(&["--calibration", "cal.json"]));
    assert!(before > 0.2 && after < before / 2.0, "{before} {after}");
    // A map for other classes, and shards audited through different maps, are refused.
    fs::write(
        folder.path().join("three.jsonl"),
        "{\"label\":0,\"probs\":[0.5,0.25,0.25]}\n",
    )
    .unwrap();
    let args = ["audit", "three.jsonl", "--calibration", "cal.json"];
    assert!(refused(&args, folder.path()).contains("for other classes"));
    ok(
        &["audit", "log.jsonl", "--partial", "a.state"],
        folder.path(),
    );
    let args = [
        "audit",
        "log.jsonl",
        "--calibration",
        "cal.json",
        "--partial",
        "b.state",
    ];
    let partial = lpf(&args, folder.path());
    assert_eq!(partial.status.code(), Some(0));
    // Half of these rows made the map.
    let said = String::from_utf8(partial.stderr).unwrap();
    assert!(
        said.starts_with("warning: log.jsonl: the calibration map was fitted on "),
        "{said}"
    );
    let merged = refused(&["audit", "--merge", "a.state", "b.state"], folder.path());
    assert!(merged.contains("--calibration"), "{merged}");
}

#[test]
fn rows_of_one_entity_stay_on_one_side() {
    let folder = tempfile::tempdir().unwrap();
    let data: String = (0..50)
        .map(|i| line("same", &[0.75, 0.25], i % 2))
        .chain((0..50).map(|i| line(&format!("other {i}"), &[0.75, 0.25], i % 2)))
        .collect();
    fs::write(folder.path().join("data.jsonl"), data).unwrap();
    let args = [
        "calibrate",
        "data.jsonl",
        "--method",
        "isotonic",
        "--output",
        "c.json",
        "--format",
        "json",
    ];
    let report = value(&ok(&args, folder.path()));
    let fitted = report["fitted_on"].as_u64().unwrap();
    // Fifty together, and of the other fifty about half: P(outside 25 ± 15) < 1e-5, at a fixed seed.
    assert!(
        (60..=90).contains(&fitted) || (10..=40).contains(&fitted),
        "{fitted}"
    );
}

#[test]
fn the_reference_log_is_calibrated_end_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let reference = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/reference/predictions.jsonl"
    );
    let classes = "low,medium,high";
    let args = [
        "calibrate",
        reference,
        "--classes",
        classes,
        "--method",
        "isotonic",
        "--output",
        "cal.json",
    ];
    let text = ok(&args, folder.path());
    assert!(text.starts_with("isotonic map, fitted on "), "{text}");
    let map = value(&fs::read_to_string(folder.path().join("cal.json")).unwrap());
    assert_eq!(map["names"], serde_json::json!(["low", "medium", "high"]));
    // All of its rows are right, which no temperature ends at.
    let message = refused(
        &[
            "calibrate",
            reference,
            "--classes",
            classes,
            "--method",
            "temperature",
            "--output",
            "t",
        ],
        folder.path(),
    );
    assert!(
        message.contains("the predictions are all right"),
        "{message}"
    );
    // Another order of names is another map.
    let wrong = refused(
        &[
            "infer",
            reference,
            "--classes",
            "high,medium,low",
            "--calibration",
            "cal.json",
        ],
        folder.path(),
    );
    assert!(
        wrong.ends_with(":1: classes: not those of the calibration map, low, medium, high\n"),
        "{wrong}"
    );
}

#[test]
fn what_cannot_be_calibrated_is_refused_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| fs::write(folder.path().join("data.jsonl"), text).unwrap();
    let calibrate = |method: &str| {
        let args = [
            "calibrate",
            "data.jsonl",
            "--method",
            method,
            "--output",
            "cal.json",
        ];
        refused(&args, folder.path())
    };
    write("");
    assert!(calibrate("isotonic").contains("there is no row"));
    write(&line("a", &[0.5, 0.5], 0));
    assert!(calibrate("isotonic").contains("both parts need some"));
    write("{\"entity\":\"a\",\"evidence\":[{\"factor\":[1]}]}\n");
    assert!(calibrate("isotonic").contains("data.jsonl:1: label: missing"));
    let one: String = (0..20).map(|i| line(&format!("e{i}"), &[1.0], 0)).collect();
    write(&one);
    for method in EVERY {
        if ["platt", "beta"].contains(&method) {
            continue;
        }
        assert!(calibrate(method).contains("only one class"), "{method}");
    }
    let certain: String = (0..20)
        .map(|i| line(&format!("e{i}"), &[1.0, 0.0], i % 2))
        .collect();
    write(&certain);
    // A zero is no reason to stop; rows that are right by chance are.
    assert!(calibrate("temperature").contains("no minimum"));
    assert!(calibrate("platt").contains("no single minimum"));
    let uniform: String = (0..20)
        .map(|i| line(&format!("e{i}"), &[0.5, 0.5], i % 2))
        .collect();
    write(&uniform);
    assert!(calibrate("temperature").contains("no minimum"));
    write(&(line("a", &[0.5, 0.5], 0) + &line("b", &[0.5, 0.25, 0.25], 0)));
    let other = "data.jsonl:2: evidence[0].factor: 3 numbers, but there are 2 classes";
    assert!(calibrate("histogram").contains(other));
    assert!(!folder.path().join("cal.json").exists());
    // The same confidence everywhere, 0 and 1 among the probabilities: no problem for the others.
    write(&certain);
    for method in ["histogram", "isotonic"] {
        let args = [
            "calibrate",
            "data.jsonl",
            "--method",
            method,
            "--bins",
            "1024",
            "--output",
            "cal.json",
        ];
        ok(&args, folder.path());
    }
    for split in ["0", "1", "-1", "nan"] {
        let split = format!("--split={split}");
        let args = [
            "calibrate",
            "data.jsonl",
            "--method",
            "isotonic",
            "--output",
            "x.json",
            &split,
        ];
        assert!(refused(&args, folder.path()).contains("is not between 0 and 1"));
    }
}

#[test]
fn a_map_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data.jsonl"), line("a", &[0.5, 0.5], 0)).unwrap();
    let infer = |text: &str| {
        fs::write(folder.path().join("cal.json"), text).unwrap();
        refused(
            &["infer", "data.jsonl", "--calibration", "cal.json"],
            folder.path(),
        )
    };
    let good = r#"{"format":"lpf-calibration","version":2,"classes":3,"names":null,"rows":1,"split":0.5,"seed":0,"sources":[],"map":{"least":0.001,"shape":{"temperature":2.0}}}"#;
    assert!(infer(good).contains("the calibration map is for 3 classes, but there are 2"));
    assert!(infer(&good.replace("2.0", "0")).contains("temperature 0.0 is not"));
    assert!(infer(&good.replace("lpf-", "x\\u001b[31m")).contains("make one with lpf calibrate"));
    assert!(infer("").contains("not a calibration map"));
    let missing = refused(
        &["infer", "data.jsonl", "--calibration", "none"],
        folder.path(),
    );
    assert!(missing.contains("none: cannot be read"));
    assert!(!infer(&good.replace("lpf-", "x\\u001b[31m")).contains('\u{1b}'));
}
