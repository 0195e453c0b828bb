//! `lpf.toml`: limits on the interval, from a file.

use std::fs;
use std::path::Path;

use super::{Run, log, lpf};

fn audit(folder: &Path, gate: &str, more: &[&str]) -> Run {
    fs::write(folder.join("gate.toml"), gate).unwrap();
    let mut args = vec!["audit", "log.jsonl", "--config", "gate.toml"];
    if !more.contains(&"--format") {
        args.extend(["--format", "json"]);
    }
    lpf(&[&args, more].concat(), folder)
}

#[test]
fn a_limit_applies_to_the_interval_not_to_the_value() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log.jsonl"), log(1000, 6)).unwrap();
    let check = |run: &Run, id: &str| -> serde_json::Value {
        let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|c| c["id"] == id).unwrap().clone()
    };
    // Only accuracy is limited: 0.6 of 1000.
    let off =
        "[audit.limits]\nece = \"off\"\ngap = \"off\"\nvalidity = \"off\"\nconsistency = \"off\"\n";
    let with = |limit: &str| audit(folder.path(), &format!("{off}accuracy = {limit}\n"), &[]);
    let run = with("0.9");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(check(&run, "accuracy")["verdict"]["kind"], "fail");
    assert_eq!(check(&run, "ece")["threshold"], serde_json::Value::Null);
    let run = with("0.3");
    assert_eq!(run.code, Some(0));
    assert_eq!(check(&run, "accuracy")["verdict"]["kind"], "pass");
    // Above the value: worse than the limit, but not for certain.
    let run = with("0.625");
    assert_eq!(run.code, Some(0));
    let accuracy = check(&run, "accuracy");
    assert!(accuracy["value"].as_f64().unwrap() < 0.625);
    assert_eq!(accuracy["verdict"]["kind"], "undecided");
    assert!(accuracy["verdict"]["needed_n"].as_u64().unwrap() > 1000);
    // As near to the limit as chance may bring it: no number is announced.
    let run = with("0.601");
    assert_eq!(run.code, Some(0));
    let needed = &check(&run, "accuracy")["verdict"]["needed_n"];
    assert_eq!(*needed, serde_json::Value::Null);
    // The command line comes last.
    let run = audit(
        folder.path(),
        &format!("{off}accuracy = 0.3\n"),
        &["--threshold", "accuracy=0.9"],
    );
    assert_eq!(run.code, Some(1));
}

/// Where certainty is asked for, what is undecided stops a pipeline, and so does a limit of the gate's
/// that nothing in the log can be held to; a limit that only holds by default does not.
#[test]
fn a_gate_may_ask_for_certainty() {
    let folder = tempfile::tempdir().unwrap();
    let rows = log(1000, 6);
    fs::write(folder.path().join("log.jsonl"), &rows).unwrap();
    assert!(
        !rows.contains("uncertainty"),
        "the log has none to be held to a limit"
    );
    let off = "ece = \"off\"\ngap = \"off\"\n";
    let run = |undecided: &str, limits: &str, more: &[&str]| {
        let gate = format!("[audit]\n{undecided}\n[audit.limits]\n{off}{limits}\n");
        audit(folder.path(), &gate, more)
    };
    let (fail, close) = ("undecided = \"fail\"", "accuracy = 0.625");
    for (undecided, limits, more, code) in [
        ("", close, &[][..], 0),
        ("undecided = \"allow\"", close, &[], 0),
        (fail, close, &[], 1),
        (fail, "accuracy = 0.3", &[], 0),
        (fail, close, &["--undecided", "allow"], 0),
        ("", close, &["--undecided", "fail"], 1),
        (fail, "", &[], 0),
        (fail, "decomposition = 0", &[], 1),
        (fail, "", &["--threshold", "decomposition=0"], 1),
        (
            fail,
            "decomposition = 0",
            &["--threshold", "decomposition=off"],
            0,
        ),
        ("", "decomposition = 0", &[], 0),
    ] {
        let run = run(undecided, limits, more);
        assert_eq!(
            run.code,
            Some(code),
            "{undecided} {limits} {more:?} {run:?}"
        );
        let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(report["summary"]["passed"], code == 0);
        assert_eq!(report["summary"]["fail"], 0);
        let checks = report["checks"].as_array().unwrap();
        let stops = checks.iter().filter(|c| c["stops"] == true).count();
        assert_eq!(stops, code as usize);
    }
    // Every format says that this is why.
    for (format, words) in [
        ("text", "Too few rows to decide"),
        (
            "text",
            "The audit fails, as undecided checks are not allowed.",
        ),
        (
            "markdown",
            "The audit fails, as undecided checks are not allowed.",
        ),
        (
            "html",
            "The audit fails, as undecided checks are not allowed.",
        ),
        ("junit", "<failure message=\"60"),
        ("sarif", "\"level\":\"error\""),
    ] {
        let run = run(fail, close, &["--format", format]);
        assert_eq!(run.code, Some(1));
        assert!(run.out.contains(words), "{format}: {}", run.out);
    }
}

#[test]
fn the_gate_beside_the_log_is_not_read_unless_named_and_other_settings_hold() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log.jsonl"), log(100, 9) + "nonsense\n").unwrap();
    let strict = audit(folder.path(), "[audit]\nstrict = true\n", &[]);
    assert_eq!(strict.code, Some(2), "{strict:?}");
    assert!(
        strict.err.starts_with("error: log.jsonl:101: "),
        "{}",
        strict.err
    );
    let lenient = audit(
        folder.path(),
        "[audit]\nbins = 7\nclasses = [\"no\", \"yes\"]\n",
        &[],
    );
    let report: serde_json::Value = serde_json::from_str(&lenient.out).unwrap();
    assert_eq!(report["settings"]["bins"], 7);
    assert_eq!(
        report["settings"]["classes"],
        serde_json::json!(["no", "yes"])
    );
}

#[test]
fn a_gate_that_is_none_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log.jsonl"), log(10, 9)).unwrap();
    for (gate, line, what) in [
        ("[audit]\n\nbinz = 3\n", 3, "unknown field `binz`"),
        (
            "[audit.limits]\nece = 0.1\nmagic = 0.1\n",
            3,
            "there is no check magic; the checks are validity, ece",
        ),
        (
            "[audit.limits]\n\n\nece = nan\n",
            4,
            "a limit is a finite number",
        ),
        (
            "[audit.limits]\nece = \"\\u001b[2J\"\n",
            2,
            "a limit is a number, or \"off\"",
        ),
        (
            "[audit]\nbins = 5000\n",
            2,
            "bins: 5000 is not between 1 and 1024",
        ),
    ] {
        let run = audit(folder.path(), gate, &[]);
        assert_eq!((run.code, &*run.out), (Some(2), ""), "{gate}");
        let place = format!("error: gate.toml:{line}: ");
        assert!(
            run.err.starts_with(&place) && run.err.contains(what),
            "{gate}: {}",
            run.err
        );
        assert!(!run.err.contains('\u{1b}'));
    }
    let run = lpf(
        &["audit", "log.jsonl", "--config", "none.toml"],
        folder.path(),
    );
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.starts_with("error: none.toml: cannot be read"),
        "{}",
        run.err
    );
}

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples");

/// A folder with the example's limits and a log that breaks them, and a shell that finds `lpf`.
fn example(script: &str) -> (tempfile::TempDir, std::process::Output) {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(
        format!("{EXAMPLES}/lpf.toml"),
        folder.path().join("lpf.toml"),
    )
    .unwrap();
    fs::write(folder.path().join("predictions.jsonl"), log(1000, 6)).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_lpf")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let output = std::process::Command::new("bash")
        .args(["-e", "-c", script])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("GITHUB_STEP_SUMMARY", folder.path().join("summary.md"))
        .output()
        .unwrap();
    (folder, output)
}

#[test]
fn the_step_for_github_actions_stops_a_bad_model_and_leaves_all_its_reports() {
    let workflow = fs::read_to_string(format!("{EXAMPLES}/github-actions.yml")).unwrap();
    let mut lines = workflow.lines();
    assert!(lines.any(|line| line.trim() == "- name: Audit"));
    assert_eq!(lines.next().unwrap().trim(), "run: |");
    let script: Vec<&str> = lines.take_while(|l| l.starts_with("          ")).collect();
    assert!(script.len() >= 5);
    let (folder, output) = example(&script.join("\n"));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("summary.md").starts_with("## ✗ Audit"));
    assert!(read("audit.html").contains("Reliability"));
    assert!(read("audit.sarif").contains("\"ruleId\":\"ece\""));
}

#[test]
fn the_hook_for_pre_commit_stops_a_bad_model() {
    let config = fs::read_to_string(format!("{EXAMPLES}/pre-commit-config.yaml")).unwrap();
    let entry = config
        .lines()
        .find_map(|l| l.trim().strip_prefix("entry: "));
    let (_folder, output) = example(&format!("{} predictions.jsonl", entry.unwrap()));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
