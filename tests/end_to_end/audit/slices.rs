//! Slices by group, time and source of evidence: where it hurts is seen, and shards agree.

use serde_json::Value;

use super::Place;

/// Uniform numbers: a linear congruential generator is random enough here.
fn uniform(seed: u32) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24)
    }
}

/// Group A is under-confident by four points, and B over-confident, unless `mixed`: then groups are
/// dealt out at random.
fn groups(rows: u32, mixed: bool) -> String {
    let mut next = uniform(3);
    (0..rows)
        .map(|i| {
            let a = i % 2 == 0;
            let p = 0.6 + 0.3 * next();
            let rate = if a { p + 0.04 } else { p - 0.04 };
            let label = u8::from(next() >= rate);
            let shown = if mixed { next() < 0.5 } else { a };
            let site = if shown { "A" } else { "B" };
            let (month, day) = (1 + i / 7 % 3, 1 + i % 28);
            format!(
                "{{\"id\":{i},\"label\":{label},\"probs\":[{p:?},{:?}],\"site\":\"{site}\",\"at\":\"2026-{month:02}-{day:02}T10:00:00Z\"}}\n",
                1.0 - p
            )
        })
        .collect()
}

/// Four classifiers as items, with gaps of −0.241, +0.161, −0.022 and 0. The second is sure of half of
/// its answers (0.995), a quarter of which are wrong, and overrules the others there.
fn classifiers(rows: u32) -> String {
    let mut next = uniform(7);
    let mut out = String::new();
    for i in 0..rows {
        let label = (next() * 3.0) as usize;
        let sure = next() < 0.5;
        let second = if sure { (0.995, 0.75) } else { (0.5, 0.423) };
        let items = [(0.6, 0.841), second, (0.8, 0.822), (0.8, 0.8)];
        let mut product = [1.0; 3];
        let mut evidence = Vec::new();
        for (k, (confidence, accuracy)) in items.into_iter().enumerate() {
            let named = if next() < accuracy {
                label
            } else {
                (label + 1 + usize::from(next() < 0.5)) % 3
            };
            let mut factor = [(1.0 - confidence) / 2.0; 3];
            factor[named] = confidence;
            for (p, f) in product.iter_mut().zip(factor) {
                *p *= f;
            }
            evidence.push(format!("{{\"id\":\"s{}\",\"factor\":{factor:?}}}", k + 1));
        }
        let sum: f64 = product.iter().sum();
        let p = product.map(|p| p / sum);
        out += &format!(
            "{{\"entity\":\"c{i}\",\"label\":{label},\"probs\":{p:?},\"site\":\"{}\",\"evidence\":[{}]}}\n",
            i % 2,
            evidence.join(",")
        );
    }
    out
}

fn slice<'a>(report: &'a Value, by: &str, value: &str) -> &'a Value {
    let slices = report["slices"].as_array().unwrap();
    let found = slices
        .iter()
        .find(|slice| slice["by"][0] == by && slice["values"][0] == value);
    found.unwrap_or_else(|| panic!("no slice {by} = {value}"))
}

fn check<'a>(of: &'a Value, id: &str) -> &'a Value {
    let checks = of["checks"].as_array().unwrap();
    checks.iter().find(|check| check["id"] == id).unwrap()
}

#[test]
fn groups_that_cancel_pass_as_a_whole_and_fail_each() {
    let place = Place::new();
    place.write("log.jsonl", groups(24_000, false));
    place.write("mixed.jsonl", groups(24_000, true));
    let (whole, code) = place.json(&["log.jsonl"]);
    assert_eq!((code, &whole["summary"]["fail"]), (0, &0.into()));
    let (report, code) = place.json(&["log.jsonl", "--by", "site"]);
    assert_eq!((code, &report["summary"]["failed_slices"]), (1, &2.into()));
    assert_eq!(report["summary"]["fail"], 0);
    for (site, sign) in [("A", -1.0), ("B", 1.0)] {
        let gap = check(slice(&report, "site", site), "gap");
        assert_eq!(gap["verdict"]["kind"], "fail");
        // The gap of the population is 0.04 by construction.
        let (low, high) = (&gap["interval"]["low"], &gap["interval"]["high"]);
        let (low, high) = (low.as_f64().unwrap(), high.as_f64().unwrap());
        assert!(low <= 0.04 * sign && 0.04 * sign <= high, "{low} {high}");
        assert!(gap["interval"]["confidence"].as_f64().unwrap() > 0.99);
    }
    // Negative control: with groups dealt out at random none fails.
    let (mixed, code) = place.json(&["mixed.jsonl", "--by", "site"]);
    assert_eq!((code, &mixed["summary"]["failed_slices"]), (0, &0.into()));
    // The whole has half of the error, and each slice its share of the other half: two limits that
    // estimate, two slices.
    let confidence = |of: &Value| check(of, "ece")["interval"]["confidence"].as_f64().unwrap();
    assert!((confidence(&whole) - (1.0 - 0.05 / 2.0)).abs() < 1e-12);
    assert!((confidence(&report) - (1.0 - 0.05 / 4.0)).abs() < 1e-12);
    let of_slice = confidence(slice(&report, "site", "A"));
    assert!((of_slice - (1.0 - 0.05 / 8.0)).abs() < 1e-12, "{of_slice}");
}

#[test]
fn a_slice_has_the_values_that_its_rows_have_alone() {
    let place = Place::new();
    let log = groups(3000, false);
    place.write("log.jsonl", &log);
    let only: String = log
        .lines()
        .filter(|line| line.contains("\"B\"") && line.contains("2026-02"))
        .map(|line| format!("{line}\n"))
        .collect();
    place.write("only.jsonl", &only);
    let by = [
        "log.jsonl",
        "--by",
        "site",
        "--by",
        "month(at)",
        "--segments",
    ];
    let (report, _) = place.json(&by);
    let (alone, _) = place.json(&["only.jsonl"]);
    let slices = report["slices"].as_array().unwrap();
    assert_eq!(slices.len(), 2 + 3 + 6);
    let pair = slices
        .iter()
        .find(|slice| slice["values"] == serde_json::json!(["B", "2026-02"]))
        .unwrap();
    assert_eq!(pair["n"], only.lines().count());
    for id in [
        "ece",
        "classwise_ece",
        "gap",
        "accuracy",
        "log_loss",
        "log_loss_clipped",
        "brier",
        "brier_calibration",
    ] {
        assert_eq!(check(pair, id)["value"], check(&alone, id)["value"], "{id}");
    }
}

#[test]
fn the_source_that_hurts_is_named() {
    let place = Place::new();
    place.write("log.jsonl", classifiers(3000));
    // As a whole nothing names it.
    let (report, _) = place.json(&["log.jsonl", "--by", "evidence.id"]);
    let sources = report["sources"].as_array().unwrap();
    assert_eq!(sources.len(), 4);
    assert_eq!(
        (&sources[0]["id"], &sources[0]["effect"]),
        (&"s2".into(), &"hurts".into())
    );
    let sentence = sources[0]["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with("Source s2 hurts: without it, accuracy would be "),
        "{sentence}"
    );
    assert!(
        sentence.contains("points higher") && sentence.contains("nats lower"),
        "{sentence}"
    );
    assert!(sentence.contains("it is over-confident by 1"), "{sentence}");
    for (id, gap) in [("s1", -0.241), ("s2", 0.161), ("s3", -0.022), ("s4", 0.0)] {
        let source = sources.iter().find(|source| source["id"] == id).unwrap();
        let interval = &check(source, "gap")["interval"];
        let (low, high) = (
            interval["low"].as_f64().unwrap(),
            interval["high"].as_f64().unwrap(),
        );
        assert!(low <= gap && gap <= high, "{id}: {low} {high}");
        assert!(id == "s2" || source["effect"] != "hurts", "{id}");
        assert_eq!(source["items"], 3000);
        assert_eq!(source["share"], 0.25);
    }
    let text = place.run(&[
        "log.jsonl",
        "--by",
        "evidence.id",
        "--threshold",
        "accuracy=0.99",
    ]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("→ Leave out source s2, and answer again."),
        "{text}"
    );
}

#[test]
fn merged_shards_with_slices_give_the_bytes_of_one_run() {
    let place = Place::new();
    let log = classifiers(900);
    let lines: Vec<&str> = log.lines().collect();
    for (name, range) in [("a", 0..500), ("b", 500..501), ("c", 501..900)] {
        place.write(&format!("{name}.jsonl"), lines[range].join("\n"));
    }
    let by = [
        "--by",
        "site",
        "--by",
        "evidence.id",
        "--by",
        "label",
        "--segments",
    ];
    for (name, threads) in [("a", "1"), ("b", "2"), ("c", "3")] {
        let (state, file) = (format!("{name}.state"), format!("{name}.jsonl"));
        let args = ["--partial", &state, &file, "--threads", threads];
        let output = place.run(&[&args[..], &by].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let files = ["a.jsonl", "b.jsonl", "c.jsonl"];
    let format = ["--format", "json"];
    let whole = place.run(&[&files[..], &by, &format, &["--threads", "1"]].concat());
    assert!(whole.stdout.len() > 2000, "{whole:?}");
    let again = place.run(&[&files[..], &by, &format, &["--threads", "3"]].concat());
    assert_eq!(again.stdout, whole.stdout);
    for order in [["a", "b", "c"], ["c", "a", "b"]] {
        let states = order.map(|name| format!("{name}.state"));
        let states: Vec<&str> = states.iter().map(String::as_str).collect();
        let merged = place.run(&[&["--merge"], &states[..], &format].concat());
        assert_eq!(merged.stdout, whole.stdout, "{order:?}");
    }
    place.run(&["--partial", "d.state", "c.jsonl", "--by", "site"]);
    place.refuses(&["--merge", "a.state", "d.state"], "--by");
}

#[test]
fn slices_that_cannot_be_are_refused_by_name() {
    let place = Place::new();
    place.write("log.jsonl", groups(100, false));
    place.refuses(
        &["log.jsonl", "--by", "sight"],
        "sight: no row has this field",
    );
    place.refuses(
        &["log.jsonl", "--by", "month(site)"],
        "month(site): no row has a value",
    );
    place.refuses(&["log.jsonl", "--by", "decade(at)"], "but no decade");
    place.refuses(&["log.jsonl", "--by", "evidence.id"], "no row has evidence");
    place.refuses(&["log.jsonl", "--by", "site", "--segments"], "two fields");
    place.refuses(
        &["log.jsonl", "--by", "site", "--by", "site"],
        "given twice",
    );
    let many = ["log.jsonl", "--by", "id", "--max", "slices=50"];
    place.refuses(&many, "the limit slices; --max slices=N allows more");
    // Shards that are within the limit each, and not together.
    place.write(
        "more.jsonl",
        groups(200, false)
            .lines()
            .skip(100)
            .collect::<Vec<_>>()
            .join("\n"),
    );
    for name in ["log", "more"] {
        let (state, file) = (format!("{name}.state"), format!("{name}.jsonl"));
        place.run(&[
            "--partial",
            &state,
            &file,
            "--by",
            "id",
            "--max",
            "slices=150",
        ]);
    }
    let merge = ["--merge", "log.state", "more.state", "--max", "slices=150"];
    place.refuses(&merge, "the limit slices");
    place.write(
        "long.jsonl",
        format!(
            "{{\"label\":0,\"probs\":[1,0],\"x\":\"{}\"}}",
            "y".repeat(300)
        ),
    );
    place.refuses(&["long.jsonl", "--by", "x"], "a value of 300 bytes");
}

#[test]
fn small_slices_and_missing_values_are_said() {
    let place = Place::new();
    let csv: String = (0..100)
        .map(|i| {
            format!(
                "{},0.75,0.25,{}\n",
                i % 4 / 3,
                if i < 80 {
                    "x"
                } else if i < 90 {
                    "y"
                } else {
                    ""
                }
            )
        })
        .collect();
    place.write("log.csv", format!("label,prob_0,prob_1,kind\n{csv}"));
    place.write("lpf.toml", "[audit]\nby = [\"kind\"]\n");
    let (report, code) = place.json(&["log.csv", "--config", "lpf.toml"]);
    assert_eq!(code, 0);
    let sizes = |value: &str| {
        let slice = slice(&report, "kind", value);
        (
            slice["n"].as_u64().unwrap(),
            slice["too_small"].as_bool().unwrap(),
        )
    };
    assert_eq!(sizes("x"), (80, false));
    assert_eq!((sizes("y"), sizes("(missing)")), ((10, true), (10, true)));
    assert_eq!(report["summary"]["slices"], 1);
    let text = place.run(&["log.csv", "--config", "lpf.toml"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("2 with fewer than 30 rows are too small to be judged"),
        "{text}"
    );
}

/// Areas, F1, the confusion matrix, Brier score and log loss are those of scikit-learn, whose values
/// `tests/fixtures/sklearn/make.py` recorded. Areas may differ by what the report says they may.
#[test]
fn scores_are_those_of_scikit_learn() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/sklearn");
    let values = std::fs::read_to_string(format!("{folder}/values.json")).unwrap();
    let values: Value = serde_json::from_str(&values).unwrap();
    let place = Place::new();
    for name in ["two", "four"] {
        let (report, _) = place.json(&[&format!("{folder}/{name}.jsonl")]);
        let want = |id: &str| values[name][id].as_f64().unwrap();
        for id in ["auroc", "average_precision", "f1", "log_loss"] {
            let found = check(&report, id);
            let sentence = found["sentence"].as_str().unwrap();
            let stated = sentence.split("at most ").nth(1).map_or(0.0, |rest| {
                let number = rest.split(['.', ' ']).take(2).collect::<Vec<_>>().join(".");
                number.parse::<f64>().unwrap_or(0.0)
            });
            let off = (found["value"].as_f64().unwrap() - want(id)).abs();
            // scikit-learn adds up doubles in order: n roundings of numbers below n.
            assert!(
                off <= stated + 1e-12,
                "{name} {id}: off by {off}, {sentence}"
            );
        }
        assert_eq!(report["curves"]["confusion"], values[name]["confusion"]);
        if name == "two" {
            let brier = check(&report, "brier");
            assert!((brier["value"].as_f64().unwrap() / 2.0 - want("brier")).abs() < 1e-12);
            let shown = format!("and print {:.4}", want("brier"));
            assert!(brier["sentence"].as_str().unwrap().contains(&shown));
        }
    }
}
