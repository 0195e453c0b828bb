//! `lpf audit --calibration`: what is audited is what the map answers.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{line, lpf, ok, refused, value};

const METHODS: [&str; 3] = ["temperature", "histogram", "isotonic"];
/// Rows of three classes with confidences spread over (0.6, 0.98), right less often than said, but
/// often enough that the most probable class stays so through every map that is fitted to them.
fn log(rows: usize) -> String {
    (0..rows)
        .map(|i| {
            let p = 0.605 + 0.37 * ((i * 37 % 101) as f64 / 101.0);
            let rest = 1.0 - p;
            // About 0.85 of the confidence, by the residues of a stride.
            let right = (i * 61 % 97) as f64 / 97.0 < 0.85 * p + 0.05;
            let label = if right { i % 3 } else { (i + 1) % 3 };
            let mut factor = [0.375 * rest; 3];
            factor[i % 3] = p;
            factor[(i + 1) % 3] = 0.625 * rest;
            line(&format!("e{i}"), &factor, label)
        })
        .collect()
}

fn fit(method: &str, folder: &Path) -> Value {
    let args = ["calibrate", "log.jsonl", "--method", method];
    ok(&[&args[..], &["--output", "cal.json"]].concat(), folder);
    value(&fs::read_to_string(folder.join("cal.json")).unwrap())
}

fn audit(args: &[&str], folder: &Path) -> Value {
    // The logs hold evidence; a state knows how it was read.
    let evidence: &[&str] = match args {
        ["--merge", ..] => &[],
        _ => &["--answer-from-evidence"],
    };
    let args = [&["audit"], args, evidence, &["--format", "json"]].concat();
    let out = lpf(&args, folder);
    // The map is audited on the file that it is from, among others, and that is said.
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(
        said.is_empty() || said.contains("the calibration map was fitted on"),
        "{said}"
    );
    value(&String::from_utf8(out.stdout).unwrap())
}

fn check<'a>(report: &'a Value, id: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["id"] == id);
    found.unwrap_or_else(|| panic!("no check {id}"))
}

/// Answers and labels of a log, with its answers as `infer` gives them through the map.
fn inferred(folder: &Path) -> Vec<(Vec<f64>, u64)> {
    let answers = ok(&["infer", "log.jsonl", "--calibration", "cal.json"], folder);
    let log = fs::read_to_string(folder.join("log.jsonl")).unwrap();
    let rows = answers.lines().zip(log.lines()).map(|(answer, row)| {
        let (answer, row) = (value(answer), value(row));
        assert_eq!(answer["entity"], row["entity"]);
        let p: Vec<f64> = serde_json::from_value(answer["distribution"].clone()).unwrap();
        let named = answer["prediction"].as_u64().unwrap() as usize;
        assert!(p.iter().all(|q| *q <= p[named]), "{answer}");
        (p, row["label"].as_u64().unwrap())
    });
    rows.collect()
}

#[test]
fn an_audit_through_a_map_is_the_audit_of_what_the_map_answers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("log.jsonl"), log(600)).unwrap();
    let plain = audit(&["log.jsonl"], folder);
    assert_eq!(plain["settings"]["calibration"], Value::Null);
    for method in METHODS {
        fit(method, folder);
        let through = audit(&["log.jsonl", "--calibration", "cal.json"], folder);
        let mapped: String = inferred(folder)
            .iter()
            .map(|(p, label)| format!("{{\"probs\":{p:?},\"label\":{label}}}\n"))
            .collect();
        fs::write(folder.join("mapped.jsonl"), mapped).unwrap();
        let by_infer = audit(&["mapped.jsonl"], folder);
        // All that answers and labels alone can tell.
        let checks = by_infer["checks"].as_array().unwrap().iter();
        let run: Vec<&Value> = checks
            .filter(|c| c["verdict"]["kind"] != "not_run")
            .collect();
        assert!(run.len() > 15, "{}", run.len());
        for one in run {
            let id = one["id"].as_str().unwrap();
            assert_eq!(check(&through, id), one, "{method}");
        }
        assert_eq!(
            through["curves"]["reliability"],
            by_infer["curves"]["reliability"]
        );
        assert_eq!(
            through["curves"]["risk_coverage"],
            by_infer["curves"]["risk_coverage"]
        );
        // The map changes something, or the above would say nothing.
        assert_ne!(check(&through, "ece"), check(&plain, "ece"), "{method}");
        let bytes = fs::read(folder.join("cal.json")).unwrap();
        let digest: String = Sha256::digest(&bytes)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(through["settings"]["calibration"], digest.as_str());
        for format in ["text", "markdown", "html"] {
            let args = [
                "audit",
                "log.jsonl",
                "--answer-from-evidence",
                "--calibration",
                "cal.json",
                "--format",
                format,
            ];
            let shown = String::from_utf8(lpf(&args, folder).stdout).unwrap();
            assert!(shown.contains(&digest), "{format}");
        }
    }
}

/// Mean of the confidences minus mean of the hits, summed over fifteen bins; the Brier score; the
/// log loss: the definitions, in plain sums.
fn scores_by_hand(rows: &[(Vec<f64>, u64)]) -> [f64; 3] {
    let mut bins = [(0.0, 0.0); 15];
    let (mut brier, mut loss) = (0.0, 0.0);
    for (p, label) in rows {
        let label = *label as usize;
        let named = (0..p.len()).fold(0, |best, i| if p[i] > p[best] { i } else { best });
        let bin = &mut bins[(p[named] * 15.0).ceil() as usize - 1];
        bin.0 += p[named];
        bin.1 += f64::from(u8::from(named == label));
        loss -= p[label].ln();
        for (i, q) in p.iter().enumerate() {
            brier += (q - f64::from(u8::from(i == label))).powi(2);
        }
    }
    let n = rows.len() as f64;
    let ece: f64 = bins.iter().map(|(c, hits)| (c - hits).abs()).sum();
    [ece / n, brier / n, loss / n]
}

#[test]
fn a_map_does_to_the_scores_what_its_definition_says() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = log(600);
    fs::write(folder.join("log.jsonl"), &text).unwrap();
    let rows: Vec<(Vec<f64>, u64)> = text
        .lines()
        .map(|row| {
            let row = value(row);
            let p = serde_json::from_value(row["evidence"][0]["factor"].clone()).unwrap();
            (p, row["label"].as_u64().unwrap())
        })
        .collect();
    for method in METHODS {
        let map = fit(method, folder)["map"].clone();
        let mapped: Vec<(Vec<f64>, u64)> = match method {
            "temperature" => {
                let t = map["shape"]["temperature"].as_f64().unwrap();
                assert!((t - 1.0).abs() > 0.01, "{t}");
                let power = |p: &[f64]| -> Vec<f64> {
                    let raised: Vec<f64> = p.iter().map(|q| q.powf(1.0 / t)).collect();
                    let sum: f64 = raised.iter().sum();
                    raised.iter().map(|q| q / sum).collect()
                };
                rows.iter().map(|(p, y)| (power(p), *y)).collect()
            }
            "histogram" => {
                let counts = map["shape"]["histogram"].as_array().unwrap();
                let bins = counts.len() as f64;
                let rate = |p: &[f64]| -> Vec<f64> {
                    let c = p.iter().copied().fold(0.0, f64::max);
                    let bin = &counts[(c * bins).ceil() as usize - 1];
                    let new = (bin[0].as_f64().unwrap() + 0.5) / (bin[1].as_f64().unwrap() + 1.0);
                    let other = |q: f64| {
                        if q == c {
                            new
                        } else {
                            q / (1.0 - c) * (1.0 - new)
                        }
                    };
                    p.iter().map(|&q| other(q)).collect()
                };
                rows.iter().map(|(p, y)| (rate(p), *y)).collect()
            }
            _ => inferred(folder),
        };
        let report = audit(&["log.jsonl", "--calibration", "cal.json"], folder);
        let want = scores_by_hand(&mapped);
        for (id, want) in ["ece", "brier", "log_loss"].into_iter().zip(want) {
            // No loss is infinite after a map.
            let got = check(&report, id)["value"].as_f64().unwrap();
            // Some 600 roundings of terms below 3, and those of powf.
            assert!((got - want).abs() < 1e-12, "{method} {id}: {got} {want}");
        }
    }
}

/// A bin in which nothing was right: its confidence becomes small, not zero, and no loss is infinite.
#[test]
fn a_rate_of_zero_or_one_is_not_answered_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text: String = (0..200)
        .map(|i| match i % 2 {
            0 => line(&format!("e{i}"), &[0.9, 0.1], 0),
            _ => line(&format!("e{i}"), &[0.55, 0.45], 1),
        })
        .collect();
    fs::write(folder.join("log.jsonl"), text).unwrap();
    for method in ["histogram", "isotonic"] {
        fit(method, folder);
        let args = ["log.jsonl", "--calibration", "cal.json"];
        let whole = audit(&args, folder);
        // Half of the rows are surely right, half surely wrong; 1/2(n + 1) is kept back, n at least 30.
        for id in ["gap", "ece"] {
            let found = check(&whole, id)["value"].as_f64().unwrap().abs();
            assert!(found < 0.5 / 31.0, "{method} {id}: {found}");
        }
        let loss = check(&whole, "log_loss")["value"].as_f64().unwrap();
        assert!(loss > 0.0 && loss < 0.5 / 30.0, "{method}: {loss}");
        assert_eq!(check(&whole, "aurc")["n"], 200, "{method}");
        assert_eq!(check(&whole, "risk_at_coverage")["n"], 200, "{method}");
        // A shard with such confidences is a shard like any other.
        let partial = lpf(
            &[
                &["audit", "--answer-from-evidence", "--partial", "a.state"],
                &args[..],
            ]
            .concat(),
            folder,
        );
        assert_eq!(partial.status.code(), Some(0));
        assert_eq!(audit(&["--merge", "a.state"], folder), whole);
    }
}

#[test]
fn maps_that_are_none_or_for_other_classes_stop_an_audit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("log.jsonl"), log(300)).unwrap();
    for method in METHODS {
        let args = [
            "calibrate",
            "log.jsonl",
            "--classes",
            "a,b,c",
            "--method",
            method,
        ];
        ok(&[&args[..], &["--output", "cal.json"]].concat(), folder);
        let text = fs::read_to_string(folder.join("cal.json")).unwrap();
        let audit = |map: &str, more: &[&str]| {
            fs::write(folder.join("other.json"), map).unwrap();
            let args = [
                "audit",
                "log.jsonl",
                "--answer-from-evidence",
                "--calibration",
                "other.json",
            ];
            refused(&[&args, more].concat(), folder)
        };
        // Cut anywhere but at the end of the line, it is no map; the end of the line may be missing.
        for cut in [0, 1, text.len() / 3, text.len() / 2, text.len() - 2] {
            let said = audit(&text[..cut], &[]);
            assert!(
                said.starts_with("error: other.json: not a calibration map: "),
                "{said}"
            );
            assert!(said.contains("make one with lpf calibrate"), "{said}");
        }
        for garbled in [
            text.replacen('{', "[", 1),
            text.replacen("\"map\"", "\"mop\"", 1),
            text.replacen("\"classes\":3", "\"classes\":\"3\"", 1),
            text.replacen(method, "magic", 1),
            text.clone() + "{}",
        ] {
            assert_ne!(garbled, text);
            let said = audit(&garbled, &[]);
            assert!(
                said.starts_with("error: other.json: not a calibration map: "),
                "{said}"
            );
        }
        let said = audit(&text.replacen("\"version\":2", "\"version\":9", 1), &[]);
        assert!(said.contains("version 9"), "{said}");
        // The classes of the map in another order, or others.
        for classes in ["b,a,c", "a,b,x"] {
            let said = audit(&text, &["--classes", classes]);
            assert!(
                said.contains("the calibration map is for other classes than the log"),
                "{said}"
            );
        }
        let two = text.replacen("\"classes\":3", "\"classes\":2", 1);
        let said = audit(
            &two.replacen("[\"a\",\"b\",\"c\"]", "[\"a\",\"b\"]", 1),
            &[],
        );
        assert!(said.contains("for other classes"), "{said}");
    }
    let said = refused(
        &["audit", "log.jsonl", "--calibration", "none.json"],
        folder,
    );
    assert!(
        said.starts_with("error: none.json: cannot be read"),
        "{said}"
    );
}

#[test]
fn shards_audited_through_different_maps_are_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("log.jsonl"), log(300)).unwrap();
    let text = log(600);
    let rest: Vec<&str> = text.lines().skip(300).collect();
    fs::write(folder.join("rest.jsonl"), rest.join("\n")).unwrap();
    let partial = |file: &str, state: &str| {
        let args = [
            "audit",
            file,
            "--answer-from-evidence",
            "--calibration",
            "cal.json",
            "--partial",
            state,
        ];
        assert_eq!(lpf(&args, folder).status.code(), Some(0));
    };
    for method in METHODS {
        fit(method, folder);
        partial("log.jsonl", &format!("{method}.state"));
        partial("rest.jsonl", &format!("rest-{method}.state"));
    }
    ok(
        &[
            "audit",
            "rest.jsonl",
            "--answer-from-evidence",
            "--partial",
            "rest-none.state",
        ],
        folder,
    );
    for method in METHODS {
        for other in ["temperature", "histogram", "isotonic", "none"] {
            let (a, b) = (format!("{method}.state"), format!("rest-{other}.state"));
            let args = ["audit", "--merge", &a, &b, "--format", "json"];
            if method == other {
                let merged = value(&String::from_utf8(lpf(&args, folder).stdout).unwrap());
                assert_eq!(merged["inputs"].as_array().unwrap().len(), 2);
            } else {
                let said = refused(&args, folder);
                assert!(said.contains("they differ in --calibration"), "{said}");
            }
        }
    }
}
