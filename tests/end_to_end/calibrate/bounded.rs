//! `lpf calibrate` keeps no more of a log than it may.

use std::fs;
use std::process::{Command, Stdio};

use super::{EVERY, ok, overconfident, refused, value, without_sources};

fn args<'a>(method: &'a str, max: &'a str) -> [&'a str; 8] {
    [
        "calibrate",
        "log.jsonl",
        "--method",
        method,
        "--output",
        "cal.json",
        "--max",
        max,
    ]
}

/// A file that is read a second time gives what it gives when its rows are kept.
#[test]
fn reading_twice_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("log.jsonl"), overconfident(700)).unwrap();
    for method in ["histogram", "isotonic", "conformal"] {
        let kept = ok(&args(method, "fit-numbers=100000"), folder);
        let map = without_sources(folder);
        // Ten numbers a row: there is room for ten of some 350.
        let again = ok(&args(method, "fit-numbers=100"), folder);
        assert_eq!(again, kept, "{method}");
        assert_eq!(without_sources(folder), map, "{method}");
    }
}

#[test]
fn a_sample_is_said_and_judged_by_all_other_rows() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let log = overconfident(2000);
    fs::write(folder.join("log.jsonl"), &log).unwrap();
    let whole = ok(&args("temperature", "fit-numbers=100000"), folder);
    assert!(!whole.contains("sample"), "{whole}");
    let backwards: Vec<&str> = log.lines().rev().collect();
    for method in EVERY.into_iter().chain(["auto"]) {
        let said = ok(&args(method, "fit-numbers=4000"), folder);
        let map = without_sources(folder);
        let sampled = !["histogram", "isotonic"].contains(&method);
        assert_eq!(said.contains(" on a sample of 400 of "), sampled, "{said}");
        let judged = |text: &str| {
            let line = text
                .lines()
                .find(|line| line.contains(" rows that the map"));
            line.map(str::to_string)
        };
        assert_eq!(judged(&said), judged(&whole));
        // Rows with names: their order changes nothing.
        fs::write(folder.join("log.jsonl"), backwards.join("\n")).unwrap();
        assert_eq!(ok(&args(method, "fit-numbers=4000"), folder), said);
        assert_eq!(without_sources(folder), map);
        fs::write(folder.join("log.jsonl"), &log).unwrap();
    }
    let json = [
        &args("platt", "fit-numbers=4000")[..],
        &["--format", "json"],
    ]
    .concat();
    let bounded = &value(&ok(&json, folder))["bounded"];
    assert_eq!(bounded["kind"], "sample");
    assert_eq!(bounded["rows"], 400);
}

/// What can be read only once has to be kept, and what cannot be kept is refused.
#[test]
fn standard_input_is_kept_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("log.jsonl"), overconfident(700)).unwrap();
    let from_input = |max: &str| {
        let mut args = args("histogram", max);
        args[1] = "-";
        let input = fs::File::open(folder.join("log.jsonl")).unwrap();
        Command::new(env!("CARGO_BIN_EXE_lpf"))
            .args(args)
            .current_dir(folder)
            .stdin(Stdio::from(input))
            .output()
            .unwrap()
    };
    let from_file = ok(&args("histogram", "fit-numbers=100000"), folder);
    let kept = from_input("fit-numbers=100000");
    assert_eq!(String::from_utf8(kept.stdout).unwrap(), from_file);
    let refused_input = from_input("fit-numbers=100");
    assert_eq!(refused_input.status.code(), Some(2));
    let said = String::from_utf8(refused_input.stderr).unwrap();
    assert!(said.contains("can be read only once"), "{said}");
    assert!(said.contains("--max fit-numbers=100"), "{said}");
    // Without any rows to judge by it is as it was.
    let none = [
        &args("histogram", "fit-numbers=100")[..],
        &["--split", "0.999999999"],
    ]
    .concat();
    assert!(refused(&none, folder).contains("and 0 to judge by"));
}
