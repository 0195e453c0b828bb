//! `lpf audit` from end to end.

mod entities;
mod forms;
mod hostile;
mod misleading;
mod model;
mod next_steps;
mod outputs;
#[cfg(feature = "parquet")]
mod parquet;
mod posteriors;
#[cfg(feature = "parquet")]
mod real_logs;
mod reference;
mod shards;
mod slices;

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// The predictions of the reference implementation.
const REFERENCE: &str = include_str!("../../fixtures/reference/predictions.jsonl");

/// The rows of the reference.
fn rows() -> Vec<Value> {
    let lines = REFERENCE.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A log of these rows.
fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// A folder that goes away, and the commands that run in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lpf"));
        command.arg("audit").args(args).current_dir(&self.0);
        command
    }

    #[cfg(feature = "parquet")]
    fn calibrate(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lpf"));
        command.arg("calibrate").current_dir(&self.0);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// The report as JSON, and the exit code.
    fn json(&self, args: &[&str]) -> (Value, i32) {
        let args = [args, &["--format", "json"]].concat();
        let output = self.run(&args);
        let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            let said = String::from_utf8_lossy(&output.stderr);
            panic!("{args:?}: {error}\n{said}")
        });
        (value, output.status.code().unwrap())
    }

    /// That the command ends with code 2 and says something of `what`, but writes its report first.
    fn ends(&self, args: &[&str], what: &str) {
        let output = self.run(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(what), "{args:?}: {said}");
        assert!(!output.stdout.is_empty(), "{args:?}");
    }

    /// That the command ends with code 2 and says something of `what`, and not a word more.
    fn refuses(&self, args: &[&str], what: &str) {
        let output = self.run(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(what), "{args:?}: {said}");
        assert!(!said.contains("panicked"), "{args:?}: {said}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

/// The check with this id.
fn check<'a>(audit: &'a Value, id: &str) -> &'a Value {
    let checks = audit["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["id"] == id);
    found.unwrap_or_else(|| panic!("no check {id}"))
}

/// What the check with this id says.
fn verdict<'a>(audit: &'a Value, id: &str) -> &'a str {
    check(audit, id)["verdict"]["kind"].as_str().unwrap()
}
