//! Every format of real audits.

use std::fs;

use serde_json::Value;

use super::schema::violations;
use super::{log, lpf};

fn json(args: &[&str], folder: &std::path::Path) -> Value {
    let run = lpf(&[&["audit"], args, &["--format", "json"]].concat(), folder);
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn real_reports_fit_the_schema_and_broken_ones_do_not() {
    let schema = include_str!("../../../docs/audit.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("good.jsonl", &log(400, 9));
    write(
        "bad.jsonl",
        &(log(400, 6) + "nonsense\n{\"label\":5,\"probs\":[0.5,0.5]}\n"),
    );
    write("zero.csv", "label,prob_a,prob_b\na,0,1\nb,0.5,0.5\n");
    let reports = [
        json(&["--demo"], folder.path()),
        json(&["good.jsonl"], folder.path()),
        json(&["bad.jsonl", "--baseline", "good.jsonl"], folder.path()),
        json(&["zero.csv", "--threshold", "accuracy=0.5"], folder.path()),
    ];
    for report in &reports {
        assert_eq!(violations(&schema, report), Vec::<String>::new());
    }
    assert_eq!(reports[2]["rejected"]["count"], 2);
    // Every name of the report counts: without any one of them the schema refuses it.
    let whole = &reports[2];
    for path in [
        "",
        "/tool",
        "/settings",
        "/summary",
        "/rejected",
        "/curves",
        "/checks/0",
        "/checks/1/interval",
    ] {
        let names: Vec<String> = whole
            .pointer(path)
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        for name in names {
            let mut broken = whole.clone();
            broken
                .pointer_mut(path)
                .unwrap()
                .as_object_mut()
                .unwrap()
                .remove(&name);
            assert!(!violations(&schema, &broken).is_empty(), "{path}/{name}");
        }
    }
}

#[test]
fn every_format_tells_the_same_and_ends_with_the_same_code() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log.jsonl"), log(1000, 6)).unwrap();
    let report = json(&["log.jsonl"], folder.path());
    let failed: Vec<&str> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|c| c["verdict"]["kind"] == "fail")
        .map(|c| c["id"].as_str().unwrap())
        .collect();
    assert!(failed.contains(&"ece"), "{failed:?}");
    for format in ["text", "json", "markdown", "junit", "sarif", "html"] {
        let run = lpf(&["audit", "log.jsonl", "--format", format], folder.path());
        assert_eq!((run.code, &*run.err), (Some(1), ""), "{format}");
        let failures = match format {
            "junit" => run.out.matches("<failure ").count(),
            "sarif" => run.out.matches("\"error\"").count(),
            "markdown" => run.out.matches("### ✗ fail").count(),
            "html" => run.out.matches("data-verdict=\"fail\"").count(),
            _ => failed.len(),
        };
        assert_eq!(failures, failed.len(), "{format}");
        // Written to a file, the same bytes.
        let args = [
            "audit",
            "log.jsonl",
            "--format",
            format,
            "--output",
            "report",
        ];
        assert_eq!(lpf(&args, folder.path()).code, Some(1));
        let written = fs::read_to_string(folder.path().join("report")).unwrap();
        assert_eq!(written, run.out, "{format}");
    }
}

#[test]
fn the_page_needs_nothing_but_itself_and_has_its_plots() {
    let folder = tempfile::tempdir().unwrap();
    let page = lpf(&["audit", "--demo", "--format", "html"], folder.path()).out;
    for title in [
        "Reliability",
        "Risk and coverage",
        "Influence of single items",
    ] {
        assert!(page.contains(title), "{title}");
    }
    for outside in ["src=\"", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<script").count(), 1, "the one that filters");
    // The only addresses are those that name XML vocabularies, and the empty icon.
    for address in page.match_indices("://").map(|(i, _)| &page[i - 4..i + 22]) {
        assert!(
            address.starts_with("http://www.w3.org/2000/svg"),
            "{address}"
        );
    }
}
