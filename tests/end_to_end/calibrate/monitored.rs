//! `lpf monitor`: alarms, states, pages; and the evidence beside an independent computation of it.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use lpf::audit::{Direction, Monitor, MonitorSettings};
use serde_json::Value;

use super::{lpf, refused, value};

/// A log of rows that are sure to 90 %; those of site `b` are right every other time, and only after
/// `from`.
fn log(rows: usize, from: usize) -> String {
    (0..rows)
        .map(|i| {
            let site = ["a", "b"][i % 2];
            let wrong = match site {
                "b" if i >= from => (i / 2) % 2 == 0,
                _ => i % 20 == 0 || i % 20 == 5,
            };
            // Ten per cent of each site: 0 is even, 5 is odd.
            let label = if wrong { "no" } else { "yes" };
            format!("{{\"label\":\"{label}\",\"probs\":[0.9,0.1],\"site\":\"{site}\"}}\n")
        })
        .collect()
}

const ARGS: [&str; 3] = ["monitor", "--classes", "yes,no"];

#[test]
fn the_evidence_equals_its_formula_with_a_hundred_digits() {
    let recorded: Value =
        serde_json::from_str(include_str!("../../fixtures/peers/monitor.json")).unwrap();
    let rows: Value =
        serde_json::from_str(include_str!("../../fixtures/peers/metrics.json")).unwrap();
    let numbers = |v: &Value| -> Vec<f64> {
        let list = v.as_array().unwrap();
        list.iter().map(|x| x.as_f64().unwrap()).collect()
    };
    for (margin, path) in recorded.as_object().unwrap() {
        let settings = MonitorSettings {
            alpha: 0.05,
            margin: margin.parse().unwrap(),
            by_class: false,
            by: None,
            calibration: None,
        };
        let classes = ["0", "1", "2"].map(String::from).to_vec();
        let mut monitor = Monitor::new(settings, classes).unwrap();
        let labels = numbers(&rows["labels"]);
        let mut compared = 0;
        for (i, (p, y)) in rows["probs"]
            .as_array()
            .unwrap()
            .iter()
            .zip(labels)
            .enumerate()
        {
            let p = numbers(p);
            let named = (0..3).fold(0, |best, k| if p[k] > p[best] { k } else { best });
            monitor
                .add(p[named], named, named as f64 == y, None)
                .unwrap();
            if i % 20 == 0 {
                let watch = monitor.watches().next().unwrap();
                let theirs = numbers(&path[i / 20]);
                for (direction, theirs) in Direction::BOTH.into_iter().zip(theirs) {
                    let ours = watch.evidence(direction).log_capital();
                    // 720 rows, each off by a few units in the last place of at most 32.
                    assert!(
                        (ours - theirs).abs() < 1e-11,
                        "{margin} {i}: {ours} {theirs}"
                    );
                    // What rounding may have added is taken off.
                    assert!(watch.evidence(direction).certain_log_capital() <= theirs);
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, 72);
    }
}

#[test]
fn an_alarm_is_printed_and_ends_the_run_with_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("log.jsonl"), log(1200, 400)).unwrap();
    let out = lpf(
        &[
            &ARGS[..],
            &["log.jsonl", "--by", "site", "--html", "page.html"],
        ]
        .concat(),
        folder,
    );
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.starts_with("ALARM after "), "{text}");
    assert!(
        text.contains("group b are over-confident by more than 0.02")
            || text.contains("all predictions are over-confident"),
        "{text}"
    );
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(
        page.contains("<svg") && page.contains("alarm at row"),
        "{page}"
    );
    // To the end: site b, never site a.
    let out = lpf(
        &[&ARGS[..], &["log.jsonl", "--by", "site", "--keep-going"]].concat(),
        folder,
    );
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains(": group b are over-confident"), "{text}");
    assert!(!text.contains(": group a are"), "{text}");
    // Without the bad site there is none.
    fs::write(folder.join("fine.jsonl"), log(1200, 5000)).unwrap();
    let out = lpf(
        &[&ARGS[..], &["fine.jsonl", "--by", "site", "--by-class"]].concat(),
        folder,
    );
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(0), "{text}");
    assert!(text.starts_with("No alarm after 1200 rows."), "{text}");
}

#[test]
fn a_state_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = log(900, 300);
    let lines: Vec<&str> = text.lines().collect();
    let monitor = |rows: &[&str], more: &[&str]| {
        fs::write(folder.join("part.jsonl"), rows.join("\n")).unwrap();
        let args = ["part.jsonl", "--by", "site", "--keep-going"];
        let out = lpf(&[&ARGS[..], &args, more].concat(), folder);
        assert_eq!(String::from_utf8_lossy(&out.stderr), "");
        let shown = String::from_utf8(out.stdout).unwrap();
        // All but the alarms, which each run prints as they come.
        let report: Vec<&str> = shown.lines().filter(|l| !l.starts_with("ALARM")).collect();
        (out.status.code(), report.join("\n"))
    };
    let whole = monitor(&lines, &[]);
    assert_eq!(whole.0, Some(1));
    for part in lines.chunks(250) {
        monitor(part, &["--state", "watch.json"]);
    }
    // Nothing new: no rows is an error, and the state stays.
    fs::write(folder.join("none.jsonl"), "").unwrap();
    let none = ["none.jsonl", "--by", "site", "--state", "watch.json"];
    assert!(refused(&[&ARGS[..], &none].concat(), folder).contains("there is no row"));
    let state = value(&fs::read_to_string(folder.join("watch.json")).unwrap());
    assert_eq!(state["rows"], 900);
    let mut first = lines[..899].to_vec();
    fs::remove_file(folder.join("watch.json")).unwrap();
    monitor(&first, &["--state", "watch.json"]);
    first = lines[899..].to_vec();
    assert_eq!(monitor(&first, &["--state", "watch.json"]), whole);
    // Once alarmed, a run without --keep-going ends at once.
    let out = lpf(
        &[
            &ARGS[..],
            &["part.jsonl", "--by", "site", "--state", "watch.json"],
        ]
        .concat(),
        folder,
    );
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(
        value(&fs::read_to_string(folder.join("watch.json")).unwrap())["rows"],
        900
    );
    // Other settings do not go on.
    let said = refused(
        &[&ARGS[..], &["part.jsonl", "--state", "watch.json"]].concat(),
        folder,
    );
    assert!(
        said.contains("watch.json: was saved with another by (site)"),
        "{said}"
    );
    fs::write(folder.join("watch.json"), "{}").unwrap();
    let said = refused(
        &[&ARGS[..], &["part.jsonl", "--state", "watch.json"]].concat(),
        folder,
    );
    assert!(said.contains("not the state of a monitor"), "{said}");
}

#[test]
fn a_stream_is_watched_as_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_lpf"))
        .args(ARGS)
        .args(["-", "--state", "watch.json"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Its end never comes; the alarm does.
    let mut stdin = child.stdin.take().unwrap();
    let row = "{\"label\":\"no\",\"probs\":[0.9,0.1]}\n";
    while child.try_wait().unwrap().is_none() {
        if stdin
            .write_all(row.as_bytes())
            .and_then(|()| stdin.flush())
            .is_err()
        {
            break;
        }
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let state = fs::read_to_string(folder.path().join("watch.json")).unwrap();
    assert!(value(&state)["rows"].as_u64().unwrap() < 20);
}

#[test]
fn rows_and_settings_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let monitor = |text: &str, more: &[&str]| {
        fs::write(folder.join("log.jsonl"), text).unwrap();
        refused(&[&ARGS[..], &["log.jsonl"], more].concat(), folder)
    };
    let row = "{\"label\":\"no\",\"probs\":[0.9,0.1]}\n";
    assert!(
        monitor(&(row.to_string() + "{\"probs\":[0.9,0.1]}\n"), &[])
            .contains("log.jsonl:2: label: missing")
    );
    assert!(monitor(row, &["--by", "site"]).contains("log.jsonl:1: site: missing"));
    assert!(monitor("", &[]).contains("there is no row"));
    assert!(monitor(row, &["--alpha", "2"]).contains("--alpha: 2 is not between 0 and 1"));
    assert!(monitor(row, &["--margin=-1"]).contains("--margin: -1 is not between 0 and 1"));
}
