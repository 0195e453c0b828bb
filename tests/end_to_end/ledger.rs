//! `lpf claims` and `lpf verify` from the outside.

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
    let refuted = text(&lpf(&["claims", "T5", "--verdict", "refuted"]).stdout);
    assert!(refuted.contains("✗ Refuted") && !refuted.contains("= Reproduced"));
    let found = text(&lpf(&["claims", "--search", "MEMORIZES learner"]).stdout);
    assert!(
        found.contains("T3 ") && found.contains("L7 ") && !found.contains("T5 "),
        "{found}"
    );
    let none = lpf(&["claims", "T4", "--search", "xyzzy"]);
    assert_eq!(
        (text(&none.stdout).as_str(), none.status.code()),
        ("No claim fits.\n", Some(0))
    );
    // Grouped by theorem, and without colour where nobody looks.
    assert!(
        all.starts_with("Theorem 1: ") && all.contains("\nLemmas\n") && !all.contains('\u{1b}')
    );
    let one = text(&lpf(&["claims", "t5"]).stdout);
    for part in [
        "T5  ✗ Refuted",
        "step by step",
        "src/bounds/t5.rs",
        "why          Shifts",
        "cargo test --lib bounds::t5",
        "instead      T5'",
        "T5.bounds",
    ] {
        assert!(one.contains(part), "{part}\n{one}");
    }
    for typed in ["T5'", "t5′"] {
        let replacement = text(&lpf(&["claims", typed]).stdout);
        assert!(replacement.starts_with("T5'  ● Proved"), "{replacement}");
        assert!(
            replacement.contains("src/bounds/t5_prime.rs"),
            "{replacement}"
        );
    }
    assert!(text(&lpf(&["claims", "T1″"]).stdout).starts_with("T1''"));
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
    assert!(text(&output.stdout).contains("NOT RUN  proof harnesses as tests: `make prove`"));
    let html = std::fs::read_to_string(out.join("index.html")).unwrap();
    let (links, ids) = anchors(&html);
    assert!(links.len() > 80);
    let broken: Vec<_> = links.difference(&ids).collect();
    assert!(broken.is_empty(), "{broken:?}");
    assert!(html.matches("<script").count() == 1 && !html.contains("src=\"http"));
    for part in [
        "Aliyu Agboola Alege, 2026",
        "UTC by lpf-verify",
        "NOT RUN",
        "id=\"symbols\"",
    ] {
        assert!(html.contains(part), "{part}");
    }
    // Every claim is there without script: closed, not hidden.
    let claims = lpf::ledger::claims::all().len();
    assert_eq!(html.matches("<details class=\"entry").count(), claims);
    assert!(!html.contains("<details class=\"entry\" hidden"));
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(json["schema"], "lpf-report/4");
    assert_eq!(json["changed"], serde_json::json!([]));
    assert_eq!(
        json["not_run"].as_array().unwrap().len(),
        4,
        "{}",
        json["not_run"]
    );
    let digest = json["about"]["paper's numbers, SHA-256"].as_str().unwrap();
    assert!(digest.len() == 64 && html.contains(digest));
    assert!(out.join("report.md").is_file() && out.join("junit.xml").is_file());
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
    assert!(text(&output.stdout).contains("statistical properties: FAILED"));
}

/// The lines between `<!-- name -->` and `<!-- end name -->`; with `LPF_PIN=1` written anew.
#[test]
fn the_readme_shows_the_verdicts_of_this_version() {
    let judged = lpf::ledger::claims::judge_all(
        &lpf::ledger::paper::Paper::published(),
        &lpf::ledger::Records::none(),
    );
    let path = root().join("README.md");
    for (name, table) in [
        ("verdicts", lpf::report::counts_table(&judged)),
        ("theorems", lpf::report::theorems_table(&judged)),
    ] {
        let readme = std::fs::read_to_string(&path).unwrap();
        let markdown = lpf::report::table_markdown(&table);
        let (_, rows) = markdown.split_once("\n\n").unwrap();
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end {name} -->"));
        let (head, rest) = readme.split_once(&begin).expect("a marker");
        let (shown, tail) = rest.split_once(&end).expect("a marker");
        if std::env::var_os("LPF_PIN").is_some_and(|value| value == "1") {
            std::fs::write(&path, format!("{head}{begin}{rows}{end}{tail}")).unwrap();
        } else {
            assert_eq!(
                shown, rows,
                "LPF_PIN=1 writes the README's table {name} anew"
            );
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The ids that the sources of harnesses and properties carry, each with its file.
fn tags() -> Vec<(String, String)> {
    let mut tags = Vec::new();
    for folder in ["proofs", "properties"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|e| e != "rs") {
                continue;
            }
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                let line = line.trim();
                let list = match line.strip_prefix("/// Claims: ") {
                    Some(list) => list,
                    None => match line.strip_prefix("claims: &[") {
                        Some(list) => list.trim_end_matches(['[', ']', ',']),
                        None => continue,
                    },
                };
                let ids = list.split(',').map(|id| id.trim().trim_matches('"'));
                let named = ids.filter(|id| !id.is_empty() && *id != "none");
                tags.extend(named.map(|id| (id.to_owned(), path.display().to_string())));
            }
        }
    }
    for entry in std::fs::read_dir(root().join("proofs/theory")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "v") {
            continue;
        }
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let head = line.strip_prefix("(** claim: ");
            let ids = head.and_then(|head| head.split('|').next()).into_iter();
            let ids = ids.flat_map(|ids| ids.split(','));
            tags.extend(ids.map(|id| (id.trim().to_owned(), path.display().to_string())));
        }
    }
    tags
}

#[test]
fn evidence_names_claims_and_every_claim_of_the_first_rank_has_evidence() {
    let mut tags = tags();
    assert!(tags.len() > 100, "{} tags in the sources", tags.len());
    for piece in lpf::ledger::evidence(&lpf::ledger::Records::none()) {
        assert!(root().join(&piece.file).is_file(), "{}", piece.file);
        tags.extend(piece.claims.into_iter().map(|id| (id, piece.file.clone())));
    }
    let claims = lpf::ledger::claims::all();
    for (id, file) in &tags {
        assert!(
            claims.iter().any(|c| c.id == *id),
            "{file} names {id}, which is no claim"
        );
    }
    let first_rank: Vec<_> = claims
        .iter()
        .filter(|claim| claim.is_first_rank())
        .collect();
    assert_eq!(first_rank.len(), 7 + 7 + 6 + 8 + 1 + 5);
    for claim in first_rank {
        assert!(
            tags.iter().any(|(id, _)| *id == claim.id),
            "no evidence for {}",
            claim.id
        );
    }
}
