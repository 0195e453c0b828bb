//! The worked examples of spreading an audit: each gives the bytes of one run over everything.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{log, lpf};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples");
const PARTS: [&str; 4] = [
    "part-0.jsonl",
    "part-1.jsonl",
    "part-2.jsonl",
    "part-3.jsonl",
];

/// A log in four parts, one of them with a row that cannot be used.
fn parts(folder: &Path) {
    let whole = log(800, 8);
    let lines: Vec<&str> = whole.lines().collect();
    for (name, rows) in PARTS.iter().zip(lines.chunks(200)) {
        let mut text = rows.join("\n") + "\n";
        if *name == "part-2.jsonl" {
            text += "{\"label\":0}\n";
        }
        fs::write(folder.join(name), text).unwrap();
    }
}

/// What an example prints must be what one run prints, with the same code.
fn same_as_one_run(example: &mut Command) {
    let folder = tempfile::tempdir().unwrap();
    parts(folder.path());
    let one = lpf(&[&["audit"], &PARTS[..]].concat(), folder.path());
    assert!(matches!(one.code, Some(0 | 1)), "{one:?}");
    let spread = example
        .args(PARTS)
        .env("LPF", env!("CARGO_BIN_EXE_lpf"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&spread.stderr);
    assert_eq!(String::from_utf8_lossy(&spread.stdout), one.out, "{errors}");
    assert_eq!(spread.status.code(), one.code, "{errors}");
}

#[test]
fn parallel_processes_give_the_bytes_of_one_run() {
    same_as_one_run(Command::new("sh").arg(format!("{EXAMPLES}/audit_shards.sh")));
}

/// Runs where pyspark is installed for `PYSPARK_PYTHON`, or else for `python3`.
#[test]
fn spark_tasks_give_the_bytes_of_one_run() {
    let python = std::env::var("PYSPARK_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let probe = Command::new(&python)
        .args(["-c", "import pyspark"])
        .output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        eprintln!("NOT RUN: pyspark is not installed for {python}");
        return;
    }
    same_as_one_run(
        Command::new(&python)
            .arg(format!("{EXAMPLES}/audit_spark.py"))
            .env("PYSPARK_PYTHON", &python),
    );
}
