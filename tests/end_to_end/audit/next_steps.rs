//! Each command that a report suggests is one that works as it stands there.

use std::process::Command;

use serde_json::{Value, json};

use super::{Place, check};

/// The commands of a report, each once.
fn commands(audit: &Value) -> Vec<String> {
    let checks = audit["checks"].as_array().unwrap().iter();
    let next = checks.filter_map(|check| check["next"].as_str()?.split_once('\n'));
    let mut commands: Vec<String> = next.map(|(_, command)| command.to_string()).collect();
    commands.sort();
    commands.dedup();
    commands
}

impl Place {
    /// Runs a command as a shell does.
    fn pasted(&self, command: &str) -> (Option<i32>, String) {
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_lpf"));
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", program.parent().unwrap().display());
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("PATH", path);
        let output = shell.current_dir(self.path("")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    }
}

/// An over-confident log: sure to 90 %, right 60 times in 100.
fn scores(rows: usize) -> String {
    let row = |i: usize| {
        let class = if i * 7 % 10 < 6 { "ill" } else { "well" };
        format!("{class},0.9,{}\n", ["north", "south"][i % 2])
    };
    format!(
        "what,the risk,site\n{}",
        (0..rows).map(row).collect::<String>()
    )
}

#[test]
fn every_command_that_is_suggested_works_when_it_is_pasted() {
    let place = Place::new();
    let named = "it's a log.csv";
    let columns = [
        "--label",
        "what",
        "--probs",
        "the risk",
        "--positive",
        "ill",
    ];
    place.write(named, scores(400));
    place.write("second.csv", scores(380));
    // Answers that are those of another method, and a source that is to blame.
    let row = |i: usize| {
        let factors = [[0.9, 0.1], [0.4, 0.6]];
        let items = factors.map(|f| json!({"id": format!("s{}", f[0]), "factor": f}));
        json!({"label": i % 2, "probs": [0.65, 0.35], "evidence": items}).to_string() + "\n"
    };
    place.write("evidence.jsonl", (0..300).map(row).collect::<String>());
    let sets = "lpf calibrate second.csv --label what --probs 'the risk' --positive ill --method conformal \
                --coverage 0.5 --output narrow.json";
    assert_eq!(place.pasted(sets).0, Some(0));
    let cases: [(&[&str], bool, &[&str]); 6] = [
        (
            &[named],
            true,
            &[
                "lpf calibrate 'it'\\''s a log.csv' --label what --probs 'the risk' --positive ill --method auto \
               --output cal.json",
            ],
        ),
        (
            &[named, "second.csv"],
            true,
            &[
                "lpf calibrate 'it'\\''s a log.csv' --judge second.csv --label what --probs 'the risk' --positive \
               ill --method auto --output cal.json",
            ],
        ),
        (
            &[
                named,
                "second.csv",
                "--threshold",
                "accuracy=0.99",
                "--threshold",
                "ece=off",
                "--threshold",
                "gap=off",
            ],
            true,
            &[
                "lpf audit 'it'\\''s a log.csv' second.csv --label what --probs 'the risk' --positive ill --by site",
            ],
        ),
        (
            &[
                named,
                "--calibration",
                "narrow.json",
                "--threshold",
                "coverage=0.99",
            ],
            true,
            &["--method auto", "--method conformal --output sets.json"],
        ),
        (
            &["evidence.jsonl", "--threshold", "accuracy=0.99"],
            false,
            &[
                "--by evidence.id",
                "lpf audit evidence.jsonl --method uniform",
                "lpf calibrate evidence.jsonl",
            ],
        ),
        (
            &[
                "evidence.jsonl",
                "--answer-from-evidence",
                "--input-format",
                "jsonl",
                "--method",
                "uniform",
                "--threshold",
                "accuracy=0.99",
            ],
            false,
            &[
                "lpf audit evidence.jsonl --input-format jsonl --answer-from-evidence --method uniform --by evidence.id",
                "--answer-from-evidence --aggregation uniform --method auto",
            ],
        ),
    ];
    for (args, table, want) in cases {
        let args = match table {
            true => [args, &columns].concat(),
            false => args.to_vec(),
        };
        let (audit, code) = place.json(&args);
        let found = commands(&audit);
        assert_eq!((found.len(), code), (want.len(), 1), "{args:?}: {found:?}");
        for (command, want) in found.iter().zip(want) {
            assert!(command.contains(want), "{command}\nnot\n{want}");
        }
        for command in found {
            let (code, said) = place.pasted(&command);
            let fine = if command.starts_with("lpf audit") {
                1
            } else {
                0
            };
            assert_eq!(code, Some(fine), "{command}: {said}");
        }
    }
    // What is no file cannot be named, and a log without further fields has none to look at.
    let bare = "label,prob_a,prob_b\n".to_string() + &"b,0.9,0.1\n".repeat(200);
    place.write("bare.csv", &bare);
    let limits = ["--threshold", "accuracy=0.9"];
    let (audit, _) = place.json(&[&["bare.csv"], &limits[..]].concat());
    let next = check(&audit, "accuracy")["next"].as_str().unwrap();
    assert!(next.contains("no further field"), "{next}");
    let output = place.pasted("lpf audit - --format json < bare.csv > piped.json");
    assert_eq!(output.0, Some(1), "{}", output.1);
    let audit = std::fs::read(place.path("piped.json")).unwrap();
    let audit: Value = serde_json::from_slice(&audit).unwrap();
    assert_eq!(
        commands(&audit),
        ["lpf calibrate LOG --method auto --output cal.json"]
    );
}
