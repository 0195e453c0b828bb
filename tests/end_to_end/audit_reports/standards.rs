//! Reports against the standards they follow: SARIF's own schema, the shape of JUnit files, and
//! pages that are well-formed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::hostile::STRINGS;
use super::markup::elements;
use super::schema::violations;
use super::{log, lpf};

/// Logs that lead to reports of every kind, with the arguments to audit them.
fn audits(folder: &Path) -> Vec<Vec<String>> {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let text = |s: &str| serde_json::to_string(s).unwrap();
    write("good.jsonl", &log(400, 9));
    write("bad.jsonl", &log(1000, 6));
    write(
        "many.jsonl",
        &(log(10, 9) + &"?\n{\"label\":0}\n".repeat(3000)),
    );
    // Hostile texts wherever a row can hold one, and as the names of classes and of the file.
    let rows: String = STRINGS
        .iter()
        .map(|s| {
            let s = text(s);
            format!(
                "{{\"entity\":{s},\"label\":0,\"probs\":[0.5,0.75]}}\n\
                 {{\"entity\":{s},\"label\":{s},\"probs\":[0.5,0.5]}}\n\
                 {{\"entity\":{s},\"label\":0,\"probs\":[0.5,0.5],\"samples\":[[0.5,{s}]]}}\n"
            )
        })
        .collect();
    write("rows.jsonl", &(log(10, 9) + &rows));
    let file = "a b#?%5B[x]:<&é\u{202e}'\u{1b}|\".jsonl";
    write(file, &log(20, 5));
    let classes: Vec<String> = STRINGS[..2].iter().map(|s| text(s)).collect();
    write(
        "classes.jsonl",
        &format!(
            "{{\"classes\":[{}],\"label\":0,\"probs\":[0.5,0.5]}}\n",
            classes.join(",")
        ),
    );
    let absolute = folder.join("bad.jsonl").to_string_lossy().into_owned();
    let mut out = vec![vec!["--demo".to_string()]];
    for name in [
        "good.jsonl",
        "bad.jsonl",
        "many.jsonl",
        "rows.jsonl",
        file,
        "classes.jsonl",
    ] {
        out.push(vec![name.to_string()]);
    }
    out.push(vec![absolute]);
    out.push(
        ["good.jsonl", "--baseline", "bad.jsonl"]
            .map(String::from)
            .to_vec(),
    );
    out.push(
        ["bad.jsonl", "--by", "label", "--by", "evidence.id"]
            .map(String::from)
            .to_vec(),
    );
    out
}

/// Each of [`audits`] in this format, with what was asked.
fn reports(format: &str) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: Vec<String>| {
        let mut all = vec!["audit", "--format", format];
        all.extend(args.iter().map(String::as_str));
        let run = lpf(&all, folder.path());
        assert!(matches!(run.code, Some(0 | 1)), "{args:?}: {run:?}");
        (format!("{args:?}"), run.out)
    };
    audits(folder.path()).into_iter().map(run).collect()
}

#[test]
fn sarif_fits_the_schema_of_the_standard() {
    let schema = include_str!("../../fixtures/sarif/sarif-schema-2.1.0.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let reports = reports("sarif");
    let mut kinds: Vec<String> = Vec::new();
    for (what, report) in &reports {
        let report: Value = serde_json::from_str(report).unwrap();
        assert_eq!(violations(&schema, &report), Vec::<String>::new(), "{what}");
        for result in report["runs"][0]["results"].as_array().unwrap() {
            kinds.push(format!("{} {}", result["kind"], result["ruleId"]));
        }
    }
    // Failures and rejected rows are among them, and nothing else.
    for kind in ["\"fail\" \"ece\"", "\"fail\" \"rejected_row\""] {
        assert!(kinds.iter().any(|k| k == kind), "{kind}");
    }
    assert!(kinds.iter().all(|kind| kind.starts_with("\"fail\"")));
    // The schema sees what a report must not be.
    let good: Value = serde_json::from_str(&reports[4].1).unwrap();
    let result = "/runs/0/results/0";
    let place = &format!("{result}/locations/0/physicalLocation");
    for (path, broken) in [
        ("/version", json!("2.0.0")),
        ("/runs", Value::Null),
        ("/$schema", json!("not a uri")),
        ("/runs/0/tool/driver/name", Value::Null),
        ("/runs/0/tool/driver/rules/0/id", json!(7)),
        (
            "/runs/0/tool/driver/rules/1",
            good["runs"][0]["tool"]["driver"]["rules"][0].clone(),
        ),
        (&format!("{result}/kind"), json!("maybe")),
        (&format!("{result}/level"), json!("fatal")),
        (&format!("{result}/ruleIndex"), json!(-2)),
        (&format!("{result}/message"), json!({})),
        (
            &format!("{result}/message"),
            json!({"text": "x", "more": "y"}),
        ),
        (&format!("{place}/artifactLocation/uri"), json!("a b")),
        (&format!("{place}/artifactLocation/uri"), json!("a%2")),
        (&format!("{place}/region"), json!({"startLine": 0})),
    ] {
        let mut report = good.clone();
        *report.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = broken;
        assert!(!violations(&schema, &report).is_empty(), "{path}");
    }
}

#[test]
fn junit_files_have_the_elements_attributes_and_counts_that_servers_read() {
    for (what, report) in reports("junit") {
        let found = elements(&report).unwrap_or_else(|error| panic!("{what}: {error}"));
        let parent = |i: usize| found[i].parent.map(|p| &*found[p].name);
        for (i, element) in found.iter().enumerate() {
            let (around, attributes): (_, &[&str]) = match &*element.name {
                "testsuites" => (None, &[]),
                "testsuite" => (
                    Some("testsuites"),
                    &["name", "tests", "failures", "skipped"],
                ),
                "properties" => (Some("testsuite"), &[]),
                "property" => (Some("properties"), &["name", "value"]),
                "testcase" => (Some("testsuite"), &["classname", "name"]),
                "failure" | "skipped" => (Some("testcase"), &["message"]),
                other => panic!("{what}: <{other}>"),
            };
            assert_eq!(parent(i), around, "{what}: {element:?}");
            let names = element.attributes.iter().map(|(name, _)| &**name);
            assert!(names.eq(attributes.iter().copied()), "{what}: {element:?}");
        }
        let count = |name: &str| found.iter().filter(|e| e.name == name).count().to_string();
        let suite = &found[1].attributes;
        for (i, name) in [(1, "testcase"), (2, "failure"), (3, "skipped")] {
            assert_eq!(suite[i].1, count(name), "{what}");
        }
    }
}

#[test]
fn pages_are_well_formed_and_their_anchors_are_unique() {
    for (what, report) in reports("html") {
        let found = elements(&report).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(report.starts_with("<!DOCTYPE html>") && found[0].name == "html");
        let all = found.iter().flat_map(|e| &e.attributes);
        let mut ids: Vec<&str> = all.filter(|(k, _)| k == "id").map(|(_, v)| &**v).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert!(count > 20 && ids.len() == count, "{what}: {ids:?}");
    }
}
