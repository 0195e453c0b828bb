//! Every format, with harmless and with hostile strings: the same markup around both.

use super::*;
use crate::audit::{
    CheckInterval, ClassCurve, Curves, InfluencePoint, Input, ModelUsed, Power, ReasonCount,
    Rejected, Rejection, ReliabilityPoint, Repeats, ReportSettings, RiskPoint, SCHEMA_VERSION,
    SourceEffect, SourceReport, Summary, Tool, WithoutSource,
};
use std::collections::BTreeMap;

const HOSTILE: &str = "</code></p><script>alert(1)</script>&quot;\"' onload='x' \u{1b}[2J\r\n\n\
    # h\n| a | b |\n`x` ![i](https://x.example/p) [l](javascript:x) @everyone \u{202e}\u{0}\u{9b}31m \
    ]]> <!-- --> %s ${{ x }} ::error::x {{=1}}";

fn check(id: &'static str, verdict: CheckVerdict, text: &str) -> Check {
    let verdict_fails = verdict == CheckVerdict::Fail;
    Check {
        estimand: "the share of the population that the rows were drawn from",
        id,
        title: "A check",
        value: Some(0.125),
        interval: Some(CheckInterval {
            low: 0.1,
            high: f64::INFINITY,
            confidence: 0.95,
            method: "exact",
        }),
        n: 100,
        threshold: (verdict != CheckVerdict::Information).then_some(Threshold {
            side: Side::Within,
            value: 0.05,
        }),
        stops: verdict == CheckVerdict::Fail,
        verdict,
        power: Some(Power {
            effect: 0.05,
            probability: 0.8,
        }),
        sentence: format!("Found {text}."),
        next: (verdict_fails).then(|| format!("Do it:\nlpf audit {text}")),
        worst: vec![Offender {
            file: text.to_owned(),
            line: 3,
            id: text.to_owned(),
            value: 0.5,
        }],
    }
}

/// An audit with `text` wherever a log can put some.
/// What was read, under names that are this text.
fn hostile_reading(text: &str) -> crate::log::Reading {
    let mut reading = crate::log::Reading::in_memory();
    reading.label = Some(text.to_owned());
    reading.id = Some(text.to_owned());
    reading.probabilities = vec![text.to_owned(), text.to_owned()];
    reading.others = vec![text.to_owned()];
    reading
}

fn sample(text: &str) -> AuditReport {
    let checks = vec![
        check("a", CheckVerdict::Pass, text),
        check("b", CheckVerdict::Fail, text),
        check("c", CheckVerdict::Undecided { needed_n: Some(7) }, text),
        check("d", CheckVerdict::Undecided { needed_n: None }, text),
        check(
            "e",
            CheckVerdict::NotRun {
                reason: text.to_owned(),
            },
            text,
        ),
        check("f", CheckVerdict::Information, text),
    ];
    let threshold = Threshold {
        side: Side::AtMost,
        value: 0.05,
    };
    let point = ReliabilityPoint {
        lower: 0.5,
        upper: 0.6,
        count: 9,
        confidence: 0.55,
        accuracy: 0.5,
        accuracy_low: 0.2,
        accuracy_high: 0.8,
    };
    let slices = vec![
        SliceReport {
            by: vec![text.to_owned()],
            values: vec![text.to_owned()],
            n: 100,
            too_small: false,
            checks: vec![check("b", CheckVerdict::Fail, text)],
            reliability: vec![point],
        },
        SliceReport {
            by: vec![text.to_owned()],
            values: vec!["small".to_owned()],
            n: 3,
            too_small: true,
            checks: vec![],
            reliability: vec![],
        },
    ];
    let interval = CheckInterval {
        low: 0.1,
        high: 0.2,
        confidence: 0.99,
        method: "betting",
    };
    let source = SourceReport {
        id: text.to_owned(),
        items: 100,
        rows: 100,
        weight: 1.0,
        share: 0.5,
        without: Some(WithoutSource {
            rows: 100,
            accuracy: 0.15,
            accuracy_interval: interval,
            log_loss: 0.15,
            log_loss_interval: interval,
        }),
        effect: SourceEffect::Hurts,
        sentence: format!("Source {text} hurts."),
        checks: vec![check("gap", CheckVerdict::Information, text)],
        reliability: vec![point],
    };
    let class = ClassCurve {
        class: text.to_owned(),
        rows: 5,
        precision: 0.5,
        recall: 0.5,
        f1: 0.5,
        auroc: Some(0.75),
        average_precision: None,
        roc: vec![(0.0, 0.5), (1.0, 1.0)],
        precision_recall: vec![(0.5, 1.0), (1.0, 0.5)],
        reliability: vec![point],
    };
    AuditReport {
        schema_version: SCHEMA_VERSION,
        tool: Tool::THIS,
        inputs: vec![Input {
            stream: false,
            name: text.to_owned(),
            sha256: "00ff".into(),
            rows: 12,
            usable: 10,
            computed: 1,
            rounded: 1,
            single: 0,
            reading: hostile_reading(text),
            fitted_on: Some(true),
        }],
        baseline: vec![],
        rejected: Rejected {
            count: 2,
            reasons: vec![ReasonCount {
                reason: "no label",
                count: 2,
            }],
            first: vec![Rejection {
                file: text.to_owned(),
                line: 4,
                field: text.to_owned(),
                message: text.to_owned(),
            }],
            withheld: None,
        },
        entities: Repeats {
            named_rows: 10,
            entities: 10,
            exact: true,
            most_rows: 1,
        },
        settings: ReportSettings {
            independent_rows: false,
            classes: vec![text.to_owned(), "b".into()],
            bins: 15,
            confidence: 0.95,
            seed: 0,
            tolerance_follows_digits: true,
            calibration: Some(text.to_owned()),
            confidence_function: "reference".to_string(),
            model: Some(ModelUsed {
                sha256: text.to_owned(),
                samples: 16,
                seed: 0,
            }),
            tolerance: 1e-6,
            thresholds: BTreeMap::from([("ece", threshold)]),
            undecided_fails: false,
            by: vec![text.to_owned(), "evidence.id".into()],
            segments: false,
        },
        summary: Summary::of(&checks, &slices),
        checks,
        slices,
        sources: vec![source],
        curves: Curves {
            reliability: vec![point],
            risk_coverage: vec![RiskPoint {
                coverage: 1.0,
                confidence: 0.5,
                risk: 0.25,
            }],
            influence: vec![InfluencePoint {
                items: 1,
                changed: 0.5,
                mean_shift: 0.25,
            }],
            classes: vec![class.clone(), class],
            confusion: vec![vec![3, 2], vec![1, 4]],
        },
    }
}

/// The names of all tags, and of their attributes, in order.
fn tags(markup: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = markup;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let mut name = String::new();
        let mut quoted = false;
        let mut end = rest.len();
        for (i, c) in rest.char_indices() {
            match c {
                '"' => quoted = !quoted,
                '>' if !quoted => {
                    end = i;
                    break;
                }
                c if !quoted => name.push(c),
                _ => {}
            }
        }
        out.push(name);
        rest = &rest[end..];
    }
    out
}

fn disturbing(c: char) -> bool {
    c != '\n' && (c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{fffd}'))
}

#[test]
fn hostile_strings_add_no_markup_to_html_and_junit() {
    for format in [audit_html, audit_junit] {
        let (plain, hostile) = (format(&sample("plain")), format(&sample(HOSTILE)));
        assert!(tags(&plain).len() > 10);
        assert_eq!(tags(&plain), tags(&hostile));
        assert!(!hostile.contains(disturbing));
    }
}

#[test]
fn hostile_strings_add_no_markup_to_markdown() {
    let (plain, hostile) = (
        audit_markdown(&sample("plain")),
        audit_markdown(&sample(HOSTILE)),
    );
    assert_eq!(tags(&plain), tags(&hostile));
    assert_eq!(tags(&plain).len(), 8, "two details and summaries only");
    assert!(!hostile.contains(disturbing));
    // As many lines, and as many bars in each: nothing starts a heading, a list or a table.
    let shape = |text: &str| -> Vec<(usize, usize)> {
        let bars = |line: &str| line.matches('|').count() - line.matches("\\|").count();
        let ticks = |line: &str| line.matches('`').count() - line.matches("\\`").count();
        text.lines().map(|l| (bars(l), ticks(l))).collect()
    };
    assert_eq!(shape(&plain), shape(&hostile));
    // Outside code spans every bracket is escaped.
    for line in hostile.lines() {
        for (i, outside) in line.replace("\\`", "").split('`').enumerate() {
            assert!(
                i % 2 == 1 || !outside.replace("\\]", "").contains("]("),
                "{line}"
            );
        }
    }
}

#[test]
fn sarif_is_json_of_the_right_shape_whatever_the_strings() {
    for text in ["plain", HOSTILE, ""] {
        let sarif = audit_sarif(&sample(text));
        assert!(!sarif.contains(['<', '>', '&']) && !sarif.contains(disturbing));
        let log: serde_json::Value = serde_json::from_str(&sarif).unwrap();
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let results = run["results"].as_array().unwrap();
        assert_eq!((rules.len(), results.len()), (6, 3));
        let helps = |rule: &serde_json::Value| rule["help"]["text"].as_str().unwrap().len() > 40;
        assert!(rules.iter().all(helps));
        for result in results {
            // A bracket that is not escaped would start or end a link (SARIF 2.1.0, 3.11.6).
            let message = result["message"]["text"].as_str().unwrap();
            let plain = message
                .replace("\\\\", "")
                .replace("\\[", "")
                .replace("\\]", "");
            assert!(!plain.contains(['[', ']', '\\']), "{message}");
            let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
            assert_eq!(rule["id"], result["ruleId"]);
            // SARIF 2.1.0, 3.27.10: a level other than none is for failures.
            assert_eq!(result["level"] != "none", result["kind"] == "fail");
            for place in result["locations"].as_array().unwrap() {
                let uri = place["physicalLocation"]["artifactLocation"]["uri"].as_str();
                let harmless = |c: char| c.is_ascii_alphanumeric() || "%-._~/".contains(c);
                assert!(uri.unwrap().chars().all(harmless));
            }
        }
        let levels: Vec<_> = results
            .iter()
            .map(|r| r["level"].as_str().unwrap())
            .collect();
        let want = ["error", "error", "warning"];
        assert_eq!(levels, want);
    }
}

#[test]
fn junit_counts_failures_and_says_why_the_rest_was_skipped() {
    let text = audit_junit(&sample("plain"));
    assert!(
        text.contains("tests=\"7\" failures=\"2\" skipped=\"4\""),
        "{text}"
    );
    assert!(text.contains("Worst rows: plain:3 (plain)"));
    // What is not judged is a property, and no test that passes.
    assert!(
        text.contains("<property name=\"f\" value=\"0.125 [0.1, ∞]\"/>"),
        "{text}"
    );
    assert!(!text.contains("name=\"f: A check\""));
    assert!(text.contains("name=\"b, plain = plain\""), "{text}");
    assert!(
        text.contains("7 should be enough, which at most 1 log in 5 says in error"),
        "{text}"
    );
}

#[test]
fn numbers_are_short_and_true() {
    let cases = [
        (0.0, "0"),
        (-0.0, "0"),
        (0.05, "0.05"),
        (0.123456, "0.1235"),
        (1e-9, "1.000e-9"),
        (12345.678, "12345.678"),
        (f64::NAN, "—"),
        (f64::INFINITY, "∞"),
        (f64::NEG_INFINITY, "−∞"),
    ];
    for (x, want) in cases {
        assert_eq!(digits(x), want);
    }
}

#[test]
fn text_has_failures_first_folds_what_informs_and_is_no_wider_than_asked() {
    let report = sample("plain");
    let text = report.to_text();
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    assert!(place("✗ fail         A check") < place("? undecided    A check"));
    assert!(place("? undecided    A check") < place("✓ pass         A check"));
    assert!(!text.contains("i information") && !text.contains("– not run"));
    assert!(text.contains("1 checks for information and 1 that the log has no data for"));
    assert!(
        text.contains("→ Do it:\n                 lpf audit plain\n"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'));
    let style = TextStyle {
        all: true,
        colour: true,
        width: Some(60),
    };
    let wide = report.to_text_as(style);
    assert!(wide.contains("i information") && wide.contains("\u{1b}[1;31m✗ fail"));
    for line in wide.lines() {
        let mut plain = line.to_owned();
        for code in ["1;31", "32", "33", "2", "0"] {
            plain = plain.replace(&format!("\u{1b}[{code}m"), "");
        }
        // Digests and paths are not broken.
        let words = plain.split(' ').filter(|word| !word.is_empty()).count();
        assert!(plain.chars().count() <= 60 || words == 1, "{plain}");
    }
}
