//! Real evidence from the outside: `lpf generate digits` and `phishing`, and their logs in `lpf audit`.

use serde_json::Value;

use crate::train::{lines, lpf, ok, refused};

#[test]
fn records_name_their_views_and_can_be_trained_on() {
    let folder = tempfile::tempdir().unwrap();
    let pages = lines(&ok(&["generate", "phishing"], folder.path()));
    assert_eq!(pages.len(), 1250);
    assert_eq!(pages[0]["evidence"].as_array().unwrap().len(), 9);
    assert_eq!(pages[0]["evidence"][2]["id"], "https");
    let digits = [
        "generate",
        "digits",
        "--entities",
        "30",
        "--output",
        "d.jsonl",
    ];
    assert_eq!(ok(&digits, folder.path()), "");
    let text = std::fs::read_to_string(folder.path().join("d.jsonl")).unwrap();
    let digits = lines(&text);
    assert_eq!(digits.len(), 30);
    assert_eq!(digits[0]["evidence"].as_array().unwrap().len(), 6);
    assert_eq!(
        digits[0]["evidence"][0]["embedding"]
            .as_array()
            .unwrap()
            .len(),
        649
    );
    let train = [
        "train",
        "--data",
        "d.jsonl",
        "--output",
        "m.safetensors",
        "--epochs",
        "1",
    ];
    ok(&train, folder.path());
    let infer = [
        "infer",
        "d.jsonl",
        "--model",
        "m.safetensors",
        "--method",
        "learned",
    ];
    assert_eq!(lines(&ok(&infer, folder.path())).len(), 30);
}

#[test]
fn a_log_is_one_that_the_audit_judges() {
    let folder = tempfile::tempdir().unwrap();
    let log = |more: &[&str]| {
        let args = ["generate", "phishing", "--log", "--epochs", "1"];
        ok(&[&args, more].concat(), folder.path())
    };
    let shipped = log(&[]);
    assert_eq!(shipped, log(&["--seed", "1"]), "the same bytes again");
    let ones = log(&["--unweighted"]);
    assert_ne!(shipped, ones);
    for (name, text) in [("shipped.jsonl", &shipped), ("ones.jsonl", &ones)] {
        assert_eq!(text.lines().count(), 625);
        std::fs::write(folder.path().join(name), text).unwrap();
        let out = lpf(&["audit", name, "--format", "json"], folder.path());
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(report["rejected"]["count"], 0);
        let checks = report["checks"].as_array().unwrap();
        let check = |id: &str| checks.iter().find(|c| c["id"] == id).unwrap();
        assert_eq!(check("consistency")["value"], 0.0);
        assert_eq!(check("consistency")["n"], 625);
        assert_eq!(check("evidence_count")["value"], 9.0);
    }
}

#[test]
fn what_makes_no_sense_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (args, want) in [
        (
            &["generate", "digits", "--truth", "--output", "x"][..],
            "is not known",
        ),
        (
            &["generate", "fever", "--log", "--output", "x"],
            "digits, phishing",
        ),
        (&["generate", "poetry", "--output", "x"], "digits, phishing"),
        (
            &["generate", "digits", "--unweighted", "--output", "x"],
            "--log",
        ),
        (
            &[
                "generate",
                "digits",
                "--log",
                "--entities",
                "5",
                "--output",
                "x",
            ],
            "--entities",
        ),
    ] {
        let message = refused(args, folder.path());
        assert!(message.contains(want), "{args:?}: {message}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_experiment_names_whose_data_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let small = ["--entities", "40", "--epochs", "1"];
    let text = ok(
        &[&["experiment", "real"][..], &small].concat(),
        folder.path(),
    );
    for want in [
        "10.24432/C5HC70",
        "10.24432/C5B301",
        "CC BY 4.0",
        "random forest",
    ] {
        assert!(text.contains(want), "{want}\n{text}");
    }
}
