//! Every example of the library runs, and says what its first lines promise.

use std::path::Path;
use std::process::Command;

/// The output of an example. Cargo has built it before the tests start, where it builds all targets.
fn output(name: &str) -> String {
    let run = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", name])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{name}: {errors}");
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn each_runs() {
    let said = [
        ("infer", "C5: medium with 0."),
        ("train", "; in truth "),
        ("audit", "passed: false; a page of "),
        // Histogram or isotonic: both answer 70 % for what was called 90 %.
        (
            "calibrate",
            "expected calibration error: 0.100 before, 0.000 after",
        ),
        ("spn", "P(sky | wet) = [0."),
    ];
    for (name, what) in said {
        let text = output(name);
        assert!(text.contains(what), "{name}:\n{text}");
    }
}

#[test]
fn each_is_listed_above_and_short() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.lines().count() <= 40, "{}", path.display());
        names.push(path.file_stem().unwrap().to_str().unwrap().to_string());
    }
    names.sort();
    assert_eq!(names, ["audit", "calibrate", "infer", "spn", "train"]);
}
