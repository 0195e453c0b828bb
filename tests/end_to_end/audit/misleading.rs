//! The audit grades what was logged, says what it read, and refuses what it would have to guess.

use super::{Place, check, verdict};
use serde_json::{Value, json};

/// Rows with an answer under `field`, all wrong, and factors that are right.
fn garbage(field: &str) -> String {
    let row = |i: usize| {
        let right = [0.9, 0.1];
        let (label, factor) = match i % 10 {
            0 => (1, right),
            _ => (0, right),
        };
        json!({"label": label, field: [0.01, 0.99], "evidence": [{"factor": factor}]}).to_string()
    };
    (0..2000).map(|i| row(i) + "\n").collect()
}

#[test]
fn a_missing_answer_is_never_replaced_by_an_own_one() {
    let place = Place::new();
    place.write("log.jsonl", garbage("output"));
    let seen = "no row has a field `probs`, the answer; fields seen: evidence, label, output";
    place.refuses(&["log.jsonl"], seen);
    place.refuses(&["log.jsonl", "--strict", "--undecided", "fail"], seen);
    place.refuses(
        &["log.jsonl", "--probs", "outptu"],
        "no row has a field `outptu`",
    );
    place.refuses(&["log.jsonl", "--answer", "outptu"], "--probs names it");
    let (graded, code) = place.json(&["log.jsonl", "--probs", "output"]);
    assert_eq!((verdict(&graded, "gap"), code), ("fail", 1));
    // Only where it is asked for, and then it is said.
    let (own, code) = place.json(&["log.jsonl", "--answer-from-evidence"]);
    assert_ne!((verdict(&own, "gap"), code), ("fail", 1));
    assert_eq!(own["inputs"][0]["computed"], 2000);
    let text = place.run(&["log.jsonl", "--answer-from-evidence"]).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("Answers: none was logged; all computed here"),
        "{text}"
    );
    // A row without an answer among others is counted, not answered.
    let rows = garbage("probs") + "{\"label\":0,\"evidence\":[{\"factor\":[0.9,0.1]}]}\n";
    place.write("mixed.jsonl", rows);
    let (mixed, _) = place.json(&["mixed.jsonl"]);
    assert_eq!(mixed["inputs"][0]["usable"], 2000);
    assert_eq!(mixed["rejected"]["reasons"][0]["reason"], "no answer");
}

#[test]
fn the_answers_of_infer_are_read() {
    let place = Place::new();
    let row = json!({"entity": 7, "label": 1, "evidence": [{"factor": [0.25, 0.75]}]});
    place.write("cases.jsonl", row.to_string());
    let mut infer = std::process::Command::new(env!("CARGO_BIN_EXE_lpf"));
    infer.args(["infer", "cases.jsonl", "--output", "answers.jsonl"]);
    assert!(
        infer
            .current_dir(place.path(""))
            .status()
            .unwrap()
            .success()
    );
    let answer = std::fs::read_to_string(place.path("answers.jsonl")).unwrap();
    let mut answer: Value = serde_json::from_str(&answer).unwrap();
    answer["label"] = json!(1);
    place.write("log.jsonl", answer.to_string());
    let (audit, _) = place.json(&["log.jsonl"]);
    assert_eq!(
        audit["inputs"][0]["reading"]["probabilities"],
        json!(["distribution"])
    );
    assert_eq!(check(&audit, "accuracy")["n"], 1);
}

#[test]
fn no_file_is_an_error_and_the_demo_is_asked_for() {
    let place = Place::new();
    place.refuses(&[], "required");
    let (demo, _) = place.json(&["--demo"]);
    assert_eq!(demo["inputs"][0]["name"], "reference predictions");
    place.refuses(&["--demo", "log.csv"], "cannot be used with");
}

/// A log with one probability in a column of this name.
fn single(name: &str, label: impl Fn(bool) -> &'static str) -> String {
    let row = |i: usize| {
        let p = (i * 37 % 101) as f64 / 101.0;
        format!("{},{p}\n", label(i * 17 % 101 < (100.0 * p) as usize))
    };
    format!("y_true,{name}\n{}", (0..404).map(row).collect::<String>())
}

#[test]
fn one_probability_is_binary_or_refused() {
    let place = Place::new();
    let truth = |yes| if yes { "True" } else { "False" };
    place.write(
        "numbers.csv",
        single("y_prob", |yes| if yes { "1" } else { "0" }),
    );
    place.write(
        "floats.csv",
        single("prob_1", |yes| if yes { "1.0" } else { "0.0" }),
    );
    place.write("truths.csv", single("p", truth));
    // What to do next names the file.
    let json = |args: &[&str]| {
        let mut audit = place.json(args).0;
        for check in audit["checks"].as_array_mut().unwrap() {
            check["next"] = Value::Null;
            // Some sentences name the class.
            let sentence = check["sentence"].as_str().unwrap();
            check["sentence"] = sentence.replace("class malignant", "class 1").into();
        }
        audit
    };
    let read = |file: &str| json(&[file]);
    let numbers = read("numbers.csv");
    assert_eq!(numbers["inputs"][0]["usable"], 404);
    assert_eq!(numbers["settings"]["classes"], json!(["0", "1"]));
    assert_eq!(read("floats.csv")["checks"], numbers["checks"]);
    assert_eq!(read("truths.csv")["checks"], numbers["checks"]);
    // The same as two columns.
    let both = std::fs::read_to_string(place.path("numbers.csv")).unwrap();
    let both = both.lines().skip(1).map(|line| {
        let (label, p) = line.split_once(',').unwrap();
        format!("{label},{},{p}\n", 1.0 - p.parse::<f64>().unwrap())
    });
    place.write(
        "both.csv",
        format!("target,0,1\n{}", both.collect::<String>()),
    );
    assert_eq!(read("both.csv")["checks"], numbers["checks"]);
    // A class of another name has to be named.
    let word = |yes| if yes { "malignant" } else { "benign" };
    place.write("words.csv", single("y_score", word));
    place.refuses(
        &["words.csv"],
        "--positive names the class that the probability is of",
    );
    let words = json(&["words.csv", "--positive", "malignant"]);
    assert_eq!(words["checks"], numbers["checks"]);
    assert_eq!(
        words["settings"]["classes"],
        json!(["not malignant", "malignant"])
    );
    place.write("alone.csv", single("p_malignant", word));
    place.refuses(&["alone.csv"], "say so with --positive malignant");
    let named = ["words.csv", "--classes", "benign,malignant"];
    assert_eq!(json(&named)["checks"], numbers["checks"]);
    // Numbers that are no probabilities, and what is no classification.
    place.write("scores.csv", "y,p\n1,1.5\n0,0.25\n");
    let (scores, _) = place.json(&["scores.csv"]);
    assert_eq!(
        scores["rejected"]["first"][0]["message"],
        "1.5 is not a probability"
    );
    place.write("regression.csv", "y,p\n1.25,0.5\n");
    place.refuses(&["regression.csv"], "(regression)");
    place.write("many.jsonl", "{\"label\":[0,1],\"probs\":[0.5,0.5]}");
    place.refuses(&["many.jsonl"], "several labels a row are not audited");
    place.refuses(
        &["numbers.csv", "--weight", "w"],
        "weights of rows are not supported",
    );
}

/// Twenty classes, rounded as `df.round(4)` does it.
fn rounded(decimals: usize) -> String {
    let mut out = (0..20).fold("label".to_string(), |all, i| format!("{all},prob_{i}"));
    for row in 0..300u64 {
        let weight = |i: u64| 1.0 + ((row * 31 + i * 97) % 53) as f64;
        let total: f64 = (0..20).map(weight).sum();
        let numbers = (0..20).map(|i| format!(",{:.decimals$}", weight(i) / total));
        out += &format!("\n{}{}", row % 20, numbers.collect::<String>());
    }
    out
}

#[test]
fn the_tolerance_of_sums_follows_the_digits_that_were_written() {
    let place = Place::new();
    place.write("four.csv", rounded(4));
    let (four, _) = place.json(&["four.csv"]);
    assert_eq!(four["inputs"][0]["usable"], 300);
    let count = four["inputs"][0]["rounded"].as_u64().unwrap();
    assert!(count > 100, "{count}");
    let text = String::from_utf8(place.run(&["four.csv"]).stdout).unwrap();
    assert!(text.contains(&format!(
        "{count} rows add up to one only within the rounding"
    )));
    // A fixed one is taken as it is, and what it leaves is no sample of the log.
    let (fixed, code) = place.json(&["four.csv", "--tolerance", "0.000001"]);
    assert_eq!(fixed["inputs"][0]["usable"].as_u64().unwrap(), 300 - count);
    assert_eq!((verdict(&fixed, "validity"), code), ("fail", 1));
    for id in ["accuracy", "ece", "brier", "gap"] {
        assert_eq!(check(&fixed, id)["value"], Value::Null, "{id}");
        assert_eq!(verdict(&fixed, id), "not_run");
    }
    let why = fixed["rejected"]["withheld"].as_str().unwrap();
    assert!(why.contains("no fair sample"), "{why}");
    assert_eq!(fixed["curves"]["reliability"], json!([]));
    let (wide, _) = place.json(&["four.csv", "--tolerance", "0.01"]);
    assert_eq!(wide["inputs"][0]["usable"], 300);
}

#[test]
fn rows_left_out_at_random_withhold_nothing() {
    let place = Place::new();
    let mut log = String::from("label,p_a,p_b\n");
    for i in 0..100 {
        let label = if i % 4 == 0 { "" } else { "a" };
        log += &format!("{label},0.75,0.25\n");
    }
    place.write("log.csv", &log);
    let (audit, _) = place.json(&["log.csv"]);
    assert_eq!(audit["rejected"]["withheld"], Value::Null);
    assert_eq!(check(&audit, "accuracy")["n"], 75);
    // Labels that are no classes are no accident.
    place.write("odd.csv", log.replace("\n,", "\nc,"));
    let (audit, code) = place.json(&["odd.csv"]);
    assert_eq!(
        (check(&audit, "accuracy")["value"].clone(), code),
        (Value::Null, 1)
    );
}

#[test]
fn what_is_no_number_is_left_out_for_what_was_predicted() {
    let place = Place::new();
    let row = |i: usize, wrong: usize| if i < wrong { "abc" } else { "0.75" };
    let csv = |wrong: usize| -> String {
        let rows = (0..100).map(|i| format!("1,{}\n", row(i, wrong)));
        format!("y_true,y_prob\n{}", rows.collect::<String>())
    };
    let json = |wrong: usize| -> String {
        let rows = (0..100).map(|i| row(i, wrong).replace("abc", "\"abc\""));
        rows.map(|p| format!("{{\"y_true\":1,\"y_prob\":{p}}}\n"))
            .collect()
    };
    let reason = "something else where probabilities belong";
    for (name, log) in [
        ("log.csv", &csv as &dyn Fn(usize) -> String),
        ("log.jsonl", &json),
    ] {
        place.write(name, log(20));
        let (many, code) = place.json(&[name]);
        assert_eq!(many["rejected"]["reasons"][0]["reason"], reason, "{name}");
        let accuracy = &check(&many, "accuracy")["value"];
        assert_eq!((accuracy, code), (&Value::Null, 1), "{name}");
        place.write(name, log(5));
        let (few, code) = place.json(&[name]);
        assert_eq!(check(&few, "accuracy")["n"], 95, "{name}");
        assert_eq!((verdict(&few, "validity"), code), ("fail", 1), "{name}");
        // Where nothing is a number, the wrong column was read.
        place.write(name, log(100));
        place.refuses(&[name], "\"abc\"");
    }
}

#[test]
fn every_report_opens_with_what_was_read() {
    let place = Place::new();
    place.write(
        "log.csv",
        single("y_prob", |yes| if yes { "1" } else { "0" }),
    );
    for format in ["text", "markdown", "html"] {
        let output = place.run(&["log.csv", "--format", format]).stdout;
        let text = String::from_utf8(output).unwrap();
        for words in [
            "read as CSV; true class: y_true; probabilities: y_prob",
            "Classes: 0, 1",
            "the positive class 1",
            "Answers: as logged",
        ] {
            let at = text
                .find(words)
                .unwrap_or_else(|| panic!("{format}: {words}"));
            let table = text.find("Mean confidence").unwrap();
            assert!(at < table, "{format}: {words}");
        }
    }
    let (json, _) = place.json(&["log.csv"]);
    let reading = &json["inputs"][0]["reading"];
    assert_eq!(reading["format"], "CSV");
    assert_eq!(
        (&reading["label"], &reading["columns"]),
        (&json!("y_true"), &json!(1))
    );
}

#[test]
fn with_strict_a_report_is_still_written() {
    let place = Place::new();
    let log = single("y_prob", |yes| if yes { "1" } else { "0" }) + ",0.5\n";
    place.write("log.csv", log);
    let output = place.run(&["log.csv", "--strict", "--output", "report.txt"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("error: log.csv:406: y_true: missing (1 such rows"),
        "{said}"
    );
    let report = std::fs::read_to_string(place.path("report.txt")).unwrap();
    assert!(report.contains("405 rows, 404 scored"), "{report}");
}

#[test]
fn settings_are_found_above_the_working_directory() {
    let place = Place::new();
    let word = |yes| if yes { "bad" } else { "good" };
    std::fs::create_dir(place.path("inner")).unwrap();
    place.write(
        "inner/log.csv",
        single("risk", word).replace("y_true", "what"),
    );
    place.refuses(
        &["inner/log.csv"],
        "the columns are what, risk; name them with --probs",
    );
    let settings = "[log]\nlabel = \"what\"\nprobs = [\"risk\"]\npositive = \"bad\"\n\
                    [audit.limits]\naccuracy = 0.99\n";
    place.write("lpf.toml", settings);
    let mut command = place.command(&["log.csv", "--format", "json"]);
    let output = command.current_dir(place.path("inner")).output().unwrap();
    let audit: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (verdict(&audit, "accuracy"), output.status.code()),
        ("fail", Some(1))
    );
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("settings: ") && said.contains("lpf.toml"),
        "{said}"
    );
    place.refuses(
        &["inner/log.csv", "--no-config"],
        "no columns of probabilities",
    );
}
