//! Files that cannot be read, and outputs that are complete or untouched.

use std::fs::{self, File};
use std::process::Stdio;

use super::{infer, lpf, one};

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.jsonl");
    for (path, why) in [
        (missing.as_path(), "No such file or directory (os error 2)"),
        (folder.path(), "Is a directory (os error 21)"),
    ] {
        let output = lpf().arg("infer").arg(path).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            err,
            format!("error: {}: cannot be read: {why}\n", path.display())
        );
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    }
}

/// A run into `--output`; the file's content afterwards, and what else lies beside it.
#[test]
fn output_files_are_complete_or_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("answers.jsonl");
    let good = folder.path().join("good.jsonl");
    let bad = folder.path().join("bad.jsonl");
    let line = one(r#"{"factor":[1,0]}"#) + "\n";
    fs::write(&good, &line).unwrap();
    // Three megabytes of answers come before the wrong line.
    fs::write(&bad, line.repeat(60_000) + "{\n").unwrap();
    let run = |input: &std::path::Path| {
        let output = lpf()
            .arg("infer")
            .arg(input)
            .arg("--output")
            .arg(&out)
            .output()
            .unwrap();
        let names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert!(names.len() <= 3, "{names:?}");
        assert_eq!(output.stdout, b"");
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, err) = run(&bad);
    assert_eq!(code, Some(2));
    let message = format!(
        "error: {}:60001: line: not JSON: EOF while parsing an object (column 1)\n",
        bad.display()
    );
    assert_eq!(err, message);
    assert!(!out.exists());
    assert_eq!(run(&good), (Some(0), String::new()));
    let answer = fs::read_to_string(&out).unwrap();
    assert_eq!(answer, infer(&[], line.as_bytes()).out);
    assert_eq!(run(&bad).0, Some(2));
    assert_eq!(fs::read_to_string(&out).unwrap(), answer);
    // A folder is no place for an answer.
    let output = lpf()
        .arg("infer")
        .arg(&good)
        .arg("--output")
        .arg(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    // Links stay links.
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&out, &link).unwrap();
        fs::write(&out, "old").unwrap();
        let output = lpf()
            .arg("infer")
            .arg(&good)
            .arg("--output")
            .arg(&link)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&out).unwrap(), answer);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_a_device_is_no_file_to_replace() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good.jsonl");
    fs::write(&good, one(r#"{"factor":[1,0]}"#)).unwrap();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let output = lpf()
        .arg("infer")
        .arg(&good)
        .stdout(Stdio::from(full()))
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        err,
        "error: standard output: cannot be written: No space left on device (os error 28)\n"
    );
    assert_eq!(output.status.code(), Some(2));
    for (device, code) in [("/dev/full", 2), ("/dev/null", 0)] {
        let output = lpf()
            .arg("infer")
            .arg(&good)
            .args(["--output", device])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert!(!fs::metadata(device).unwrap().is_file());
    }
}
