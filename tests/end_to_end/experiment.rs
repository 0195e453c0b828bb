//! `lpf experiment` end to end, at sizes that take no time.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn experiment(args: &[&str], threads: &str, folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lpf"))
        .arg("experiment")
        .args(args)
        .args(["--entities", "40", "--epochs", "1", "--trials", "2"])
        .env("RAYON_NUM_THREADS", threads)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn succeeds(args: &[&str], threads: &str, folder: &Path) -> String {
    let out = experiment(args, threads, folder);
    let errors = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{args:?}: {errors}");
    assert_eq!(errors, "", "silent in pipes");
    String::from_utf8(out.stdout).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap()
}

#[test]
fn a_name_without_extension_is_a_folder_with_a_file_and_figures_for_each_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let said = succeeds(
        &["t4", "--format", "json", "--output", "results"],
        "2",
        folder.path(),
    );
    assert!(said.starts_with("digest of the results: "), "{said}");
    let results = folder.path().join("results");
    assert_eq!(names(&results), ["T4.json", "T4.svg"]);
    let json: Value =
        serde_json::from_str(&fs::read_to_string(results.join("T4.json")).unwrap()).unwrap();
    assert_eq!(json["experiments"][0]["id"], "T4");
    assert_eq!(
        last_line(&said),
        format!(
            "digest of the results: {}",
            json["digest"].as_str().unwrap()
        )
    );
    let svg = fs::read_to_string(results.join("T4.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    // An existing folder is used again, whatever its name.
    let again = succeeds(&["T4", "--output", "results"], "1", folder.path());
    assert_eq!(last_line(&again), last_line(&said), "one thread and two");
    assert_eq!(names(&results), ["T4.json", "T4.svg", "T4.txt"]);
}

#[test]
fn a_name_with_extension_is_one_file_and_none_is_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let text = succeeds(&["T1"], "2", folder.path());
    assert!(text.contains("statements of the paper"), "{text}");
    let said = succeeds(
        &["T1", "--format", "html", "--output", "report.html"],
        "2",
        folder.path(),
    );
    assert_eq!(said, "");
    assert_eq!(names(folder.path()), ["report.html"]);
    let html = fs::read_to_string(folder.path().join("report.html")).unwrap();
    let digest = last_line(&text).rsplit(' ').next().unwrap();
    assert!(html.contains("<svg") && html.contains(digest));
    let other = succeeds(&["T1", "--seed", "2"], "2", folder.path());
    assert_ne!(last_line(&other), last_line(&text), "control: another seed");
    let markdown = succeeds(&["T1", "--format", "markdown"], "2", folder.path());
    assert!(markdown.starts_with("## T1: ") && markdown.contains(digest));
}

#[test]
fn what_cannot_be_run_or_written_is_said_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |args: &[&str]| {
        let out = experiment(args, "2", folder.path());
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        String::from_utf8(out.stderr).unwrap()
    };
    assert!(fails(&["T9"]).contains("possible values"));
    assert!(fails(&["T1", "--output", "missing/report.html"]).contains("missing/report.html"));
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(fails(&["T1", "--output", "file/inside"]).contains("cannot be written"));
    assert_eq!(names(folder.path()), ["file"]);
}
