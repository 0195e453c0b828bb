//! `--method auto`, `--judge`, and what is said about a map.

use std::fs;

use super::{line, lpf, ok, overconfident, refused, value};

#[test]
fn the_least_cross_validated_loss_decides_and_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("data.jsonl"), overconfident(1500)).unwrap();
    let args = [
        "calibrate",
        "data.jsonl",
        "--method",
        "auto",
        "--output",
        "cal.json",
    ];
    let report = value(&ok(&[&args[..], &["--format", "json"]].concat(), folder));
    let candidates = report["candidates"].as_array().unwrap();
    let loss = |c: &serde_json::Value| c["log_loss"].as_f64().unwrap_or(f64::INFINITY);
    let least = candidates.iter().map(loss).fold(f64::INFINITY, f64::min);
    let chosen: Vec<_> = candidates.iter().filter(|c| c["chosen"] == true).collect();
    assert_eq!(chosen.len(), 1);
    assert_eq!(loss(chosen[0]), least);
    assert_eq!(report["method"], chosen[0]["method"]);
    let names: Vec<_> = candidates
        .iter()
        .map(|c| c["method"].as_str().unwrap())
        .collect();
    let every = [
        "unchanged",
        "temperature",
        "platt",
        "beta",
        "vector",
        "dirichlet",
        "isotonic",
        "histogram",
    ];
    assert_eq!(names, every);
    // An overconfident model is better with a map than without.
    assert!(loss(&candidates[0]) > least + 0.1);
    let text = ok(&args, folder);
    assert!(
        text.contains("chosen") && text.contains(&format!("{least:.6}")),
        "{text}"
    );
}

#[test]
fn a_model_that_needs_no_map_gets_none() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Exactly calibrated, all alike, few: every map has a larger loss on what it was not fitted on.
    let rows: String = (0..80)
        .map(|i| line(&format!("e{i}"), &[0.75, 0.25], usize::from(i % 4 == 0)))
        .collect();
    fs::write(folder.join("data.jsonl"), rows).unwrap();
    let args = [
        "calibrate",
        "data.jsonl",
        "--method",
        "auto",
        "--output",
        "cal.json",
    ];
    let text = ok(&args, folder);
    if text.contains("the map changes nothing") {
        let file = value(&fs::read_to_string(folder.join("cal.json")).unwrap());
        assert_eq!(file["map"]["shape"]["temperature"], 1.0);
    } else {
        assert!(text.contains("The least loss decides"), "{text}");
    }
    assert!(
        text.contains("left out: ") || text.contains("platt"),
        "{text}"
    );
}

#[test]
fn another_file_judges() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = overconfident(600);
    let (fit, judge): (Vec<&str>, Vec<&str>) = text.lines().partition(|l| l.len() % 2 == 0);
    let csv = |rows: &[&str]| {
        let rows = rows.iter().map(|row| {
            let row = value(row);
            let p = &row["evidence"][0]["factor"];
            format!(
                "{},{},{}\n",
                ["a", "b"][row["label"].as_u64().unwrap() as usize],
                p[0],
                p[1]
            )
        });
        "label,p_a,p_b\n".to_string() + &rows.collect::<String>()
    };
    fs::write(folder.join("fit.csv"), csv(&fit)).unwrap();
    fs::write(folder.join("judge.csv"), csv(&judge)).unwrap();
    let args = [
        "calibrate",
        "fit.csv",
        "--judge",
        "judge.csv",
        "--method",
        "isotonic",
        "--output",
        "cal.json",
    ];
    let report = value(&ok(&[&args[..], &["--format", "json"]].concat(), folder));
    assert_eq!(report["fitted_on"], fit.len());
    assert_eq!(report["judged_on"], judge.len());
    // The map of all of its rows.
    let whole = value(&fs::read_to_string(folder.join("cal.json")).unwrap());
    assert_eq!(whole["split"], 1.0);
    let points: u64 = whole["map"]["shape"]["isotonic"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["points"].as_u64().unwrap())
        .sum();
    assert_eq!(points, fit.len() as u64);
    // Audits of the fitting file are warned of, audits of the other are not.
    let said = |file: &str| {
        let out = lpf(&["audit", file, "--calibration", "cal.json"], folder);
        String::from_utf8(out.stderr).unwrap()
    };
    assert!(said("fit.csv").contains("fit.csv: the calibration map was fitted on all of its rows"));
    assert_eq!(said("judge.csv"), "");
    let both = [&args[..], &["--split", "0.5"]].concat();
    assert!(refused(&both, folder).contains("cannot be used with"));
    fs::write(folder.join("judge.csv"), "label,p_a,p_c\na,0.5,0.5\n").unwrap();
    assert!(refused(&args, folder).contains("not the classes of the file"));
}

#[test]
fn a_score_that_gets_worse_is_remarked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("fit.jsonl"), overconfident(400)).unwrap();
    // The other file is calibrated as it is.
    let fine: String = (0..200)
        .map(|i| line(&format!("e{i}"), &[0.9, 0.1], usize::from(i % 10 == 0)))
        .collect();
    fs::write(folder.join("judge.jsonl"), fine).unwrap();
    let args = [
        "calibrate",
        "fit.jsonl",
        "--judge",
        "judge.jsonl",
        "--method",
        "temperature",
        "--output",
        "c",
    ];
    let text = ok(&args, folder);
    assert!(
        text.contains("Note: ECE, 15 bins is worse after the map"),
        "{text}"
    );
    assert!(
        text.contains("Note: log loss is worse after the map"),
        "{text}"
    );
    assert!(!text.contains("Note: accuracy"), "{text}");
}
