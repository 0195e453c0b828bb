//! Outputs that cannot be finished: an error with a message, and nothing half-written.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::Place;

const FORMATS: [&str; 6] = ["text", "json", "markdown", "junit", "sarif", "html"];

/// A log whose report is longer than a kilobyte in every format.
fn place() -> Place {
    let place = Place::new();
    place.write(
        "p.jsonl",
        "{\"probs\":[0.75,0.25],\"label\":0}\n".repeat(100),
    );
    place
}

fn failed(output: &Output, what: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{what}: {said}");
    assert!(said.contains("cannot be written"), "{what}: {said}");
    assert!(!said.contains("panicked"), "{what}: {said}");
}

/// The names of everything in the folder.
fn names(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.path("")).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

#[test]
fn a_reader_that_has_gone_is_an_error_in_every_format() {
    let place = place();
    for format in FORMATS {
        // The pipe is closed before the first byte is written to it.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.command(&["p.jsonl", "--format", format]);
        failed(&command.stdout(writer).output().unwrap(), format);
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = place.command(&["p.jsonl", "--partial", "-"]);
    failed(&command.stdout(writer).output().unwrap(), "--partial -");
    assert_eq!(names(&place), ["p.jsonl"]);
}

#[test]
fn a_full_device_is_an_error_in_every_format() {
    if !Path::new("/dev/full").exists() {
        eprintln!("NOT RUN: there is no /dev/full");
        return;
    }
    let place = place();
    for format in FORMATS {
        let args = ["p.jsonl", "--format", format];
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let shown = place.command(&args).stdout(full).output().unwrap();
        failed(&shown, format);
        let written = place.run(&[&args[..], &["--output", "/dev/full"]].concat());
        failed(&written, format);
        assert!(written.stdout.is_empty());
    }
    failed(
        &place.run(&["p.jsonl", "--partial", "/dev/full"]),
        "--partial",
    );
    assert_eq!(names(&place), ["p.jsonl"]);
}

/// With a limit on the size of files a disk is full for this process: an old report stays as it
/// was, and no other file is left.
#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    let place = place();
    let runs = FORMATS
        .map(|format| ["--format", format, "--output"])
        .into_iter();
    for args in runs.map(|args| args.to_vec()).chain([vec!["--partial"]]) {
        for old in [Some("what was there before"), None] {
            match old {
                Some(text) => place.write("out", text),
                None => fs::remove_file(place.path("out")).unwrap(),
            }
            // The signal that would end the process is ignored, so that writing fails instead.
            let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" audit p.jsonl \"$@\" out";
            let output = Command::new("sh")
                .args(["-c", script, env!("CARGO_BIN_EXE_lpf")])
                .args(&args)
                .current_dir(place.path(""))
                .stdin(Stdio::null())
                .output()
                .unwrap();
            failed(&output, &format!("{args:?}"));
            assert_eq!(fs::read_to_string(place.path("out")).ok().as_deref(), old);
            let want = if old.is_some() {
                &["out", "p.jsonl"][..]
            } else {
                &["p.jsonl"]
            };
            assert_eq!(names(&place), want, "{args:?}");
        }
    }
}

#[test]
fn an_input_that_cannot_be_used_leaves_no_output() {
    let place = place();
    place.write("bad.jsonl", "?\n");
    place.refuses(&["bad.jsonl", "--output", "report.txt"], "no");
    place.refuses(&["bad.jsonl", "--partial", "bad.state"], "no");
    place.write("q.jsonl", "{\"probs\":[1,0],\"label\":0}\n?\n");
    place.refuses(
        &["q.jsonl", "--strict", "--partial", "q.state"],
        "q.jsonl:2",
    );
    assert_eq!(names(&place), ["bad.jsonl", "p.jsonl", "q.jsonl"]);
}
