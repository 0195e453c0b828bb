//! `lpf infer` from end to end, as a process.

mod copies;
mod errors;
mod files;
mod order;
mod reference;
mod streams;

use std::io::Write;
use std::process::{Command, Stdio};

/// How a run ended.
#[derive(Debug, PartialEq)]
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

fn lpf() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lpf"));
    command.env_remove("NO_COLOR");
    command
}

/// `lpf infer - ARGS` with `input` on standard input.
fn infer(args: &[&str], input: &[u8]) -> Run {
    let mut child = lpf()
        .args(["infer", "-"])
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A run that stops early closes its end: not being able to write is then no fault.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The answers of a run that must succeed.
fn answers(args: &[&str], input: &[u8]) -> Vec<serde_json::Value> {
    let run = infer(args, input);
    assert_eq!((run.code, &*run.err), (Some(0), ""));
    let parse = |line| serde_json::from_str(line).unwrap();
    run.out.lines().map(parse).collect()
}

/// A list of numbers.
fn numbers(value: &serde_json::Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

const REFERENCE: &str = include_str!("../../fixtures/reference/predictions.jsonl");

fn reference() -> Vec<serde_json::Value> {
    let parse = |line| serde_json::from_str(line).unwrap();
    REFERENCE.lines().map(parse).collect()
}

/// A record with one item.
fn one(item: &str) -> String {
    format!(r#"{{"entity":"a","evidence":[{item}]}}"#)
}
