//! `lpf claims` and `lpf verify` from the outside, and the report in a real browser.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

fn lpf(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lpf"))
        .args(args)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn claims_lists_filters_and_explains() {
    let all = text(&lpf(&["claims"]).stdout);
    assert!(all.lines().count() > 80 && all.contains("T1.constant"));
    let refuted = text(&lpf(&["claims", "--verdict", "refuted"]).stdout);
    assert!(refuted.contains("✗ Refuted") && !refuted.contains("= Reproduced"));
    let one = text(&lpf(&["claims", "t5"]).stdout);
    for part in [
        "T5  ✗ Refuted",
        "step by step",
        "src/bounds/robustness.rs",
        "T5.bounds",
    ] {
        assert!(one.contains(part), "{part}\n{one}");
    }
    let json: serde_json::Value =
        serde_json::from_slice(&lpf(&["claims", "T2", "--format", "json"]).stdout).unwrap();
    assert_eq!(json[0]["id"], "T2");
    assert_eq!(json[0]["verdict"]["kind"], "Proved");
}

#[test]
fn unknown_claims_and_verdicts_are_usage_errors() {
    for (args, said) in [
        (["claims", "T9"].as_slice(), "no claim is called"),
        (["claims", "T5.nothing"].as_slice(), "T5.bounds"),
        (["claims", "--verdict", "perfect"].as_slice(), "not"),
    ] {
        let output = lpf(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            text(&output.stderr).contains(said),
            "{}",
            text(&output.stderr)
        );
    }
}

/// Every `#id` that is linked to, and every id that there is.
fn anchors(html: &str) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let after = |mark: &'static str| {
        html.split(mark)
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect::<BTreeSet<_>>()
    };
    (after("href=\"#"), after(" id=\""))
}

#[test]
fn verify_writes_a_report_whose_links_resolve() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report");
    let (out_text, records) = (out.to_str().unwrap(), folder.path().to_str().unwrap());
    let output = lpf(&[
        "verify",
        "--skip-experiments",
        "--output",
        out_text,
        "--records",
        records,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("proofs: NOT RUN"));
    let html = std::fs::read_to_string(out.join("index.html")).unwrap();
    let (links, ids) = anchors(&html);
    assert!(links.len() > 80);
    let broken: Vec<_> = links.difference(&ids).collect();
    assert!(broken.is_empty(), "{broken:?}");
    assert!(!html.contains("<script") && !html.contains("src=\"http"));
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(json["schema"], "lpf-report/2");
    assert_eq!(json["changed"], serde_json::json!([]));
    assert_eq!(
        json["not_run"].as_array().unwrap().len(),
        3,
        "{}",
        json["not_run"]
    );
    let digest = json["about"]["paper's numbers, SHA-256"].as_str().unwrap();
    assert!(digest.len() == 64 && html.contains(digest));
    assert!(out.join("report.md").is_file() && out.join("junit.xml").is_file());
    in_a_browser(&out.join("index.html"), folder.path());
}

/// Opens the page in headless Chromium where there is one; says so where there is not.
fn in_a_browser(page: &Path, folder: &Path) {
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    let Some(browser) = found else {
        eprintln!("NOT RUN: no Chromium on this machine, the report was not opened in a browser");
        return;
    };
    let picture = folder.join("report.png");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            "--window-size=1000,1400",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success());
    let log = text(&output.stderr);
    assert!(!log.contains("CONSOLE"), "console messages: {log}");
    assert!(std::fs::metadata(&picture).unwrap().len() > 10_000);
}

#[test]
fn a_failed_record_fails_the_gate() {
    let folder = tempfile::tempdir().unwrap();
    let record =
        r#"{"commit": "abc", "modified": false, "time": 7, "passed": false, "properties": []}"#;
    std::fs::write(folder.path().join("properties.json"), record).unwrap();
    let out = folder.path().join("report");
    let output = lpf(&[
        "verify",
        "--skip-experiments",
        "--output",
        out.to_str().unwrap(),
        "--records",
        folder.path().to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("properties: FAILED"));
}

#[test]
fn the_readme_shows_the_verdicts_of_this_version() {
    let judged = lpf::ledger::claims::judge_all(
        &lpf::ledger::paper::Paper::published(),
        &lpf::ledger::Records::none(),
    );
    let table = lpf::report::table_markdown(&lpf::report::counts_table(&judged));
    let (_, rows) = table.split_once("\n\n").unwrap();
    let readme = include_str!("../../README.md");
    assert!(readme.contains(rows), "README.md should show:\n{rows}");
    for n in 1..=7 {
        let id = format!("T{n}");
        let entry = judged.iter().find(|entry| entry.claim.id == id).unwrap();
        let kind = entry.finding.verdict.kind();
        let row = readme
            .lines()
            .find(|line| line.starts_with(&format!("| {id} |")));
        let shown = format!("| {} {kind} |", lpf::report::sign(kind));
        assert!(
            row.unwrap().contains(&shown),
            "README.md, row {id}: {shown}"
        );
    }
}

/// Every file of a bound says which properties test it, and these properties exist.
#[test]
fn bounds_name_their_properties() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |folder: &str| -> Vec<(String, String)> {
        std::fs::read_dir(root.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "rs"))
            .map(|path| {
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                (name, std::fs::read_to_string(path).unwrap())
            })
            .collect()
    };
    let properties: String = read("properties")
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    // Files that hold no bound: parameters, worlds, counterexamples in general.
    let none = ["mod", "domain", "joint", "witness"];
    for (file, text) in read("src/bounds") {
        if none.contains(&file.as_str()) {
            continue;
        }
        let evidence = text.split("//! # Evidence").nth(1).unwrap_or_default();
        let block: String = evidence
            .lines()
            .skip(1)
            .take_while(|line| line.starts_with("//!"))
            .collect();
        let named: Vec<&str> = block
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|word| word.contains('.') && !word.contains('/'))
            .collect();
        assert!(!named.is_empty(), "{file}: no property is named");
        for name in named {
            assert!(
                properties.contains(&format!("name: \"{name}\"")),
                "{file} names {name}, which is no property"
            );
        }
    }
}
