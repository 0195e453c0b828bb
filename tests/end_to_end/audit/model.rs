//! Logs of posteriors and embeddings, audited with the model that answered them.

use std::process::Command;

use lpf::log::sha256;
use lpf::model::Model;
use safetensors::SafeTensors;
use serde_json::{Value, json};

use super::posteriors::{ITEMS, TENSORS, doubles, with_posteriors};
use super::{Place, check, lines, verdict};

const MODEL: &[u8] = include_bytes!("../../fixtures/reference/model.safetensors");
const AGGREGATOR: &[u8] = include_bytes!("../../fixtures/reference/aggregator.safetensors");
const CLASSES: [&str; 2] = ["--classes", "low,medium,high"];
/// As many entities as are audited: some of them suffice.
const ROWS: usize = 24;
/// Few samples leave the seed much to decide.
const DRAWN: [&str; 6] = ["--model", "m.safetensors", "--samples", "4", "--seed", "7"];
const ANSWER: [&str; 2] = ["--answer", "distribution"];

/// The reference's evidence without its factors: every second entity by posteriors alone; the
/// others with an embedding, posteriors, and a factor that stays.
fn evidence() -> Vec<Value> {
    let file = SafeTensors::deserialize(TENSORS).unwrap();
    let mut rows = with_posteriors();
    rows.truncate(ROWS);
    for (i, row) in rows.iter_mut().enumerate() {
        let id = row["entity"].as_str().unwrap().to_string();
        let embeddings = doubles(&file, &format!("{id}.embedding"));
        let embedding = |k: usize| &embeddings[k * 384..(k + 1) * 384];
        let items = (0..ITEMS).map(|k| {
            let item = &row["evidence"][k];
            let (id, mu, sigma) = (&item["id"], &item["mu"], &item["sigma"]);
            match (i % 2, k) {
                (1, 0) => json!({"id": id, "embedding": embedding(k), "weight": item["weight"]}),
                (1, 1) => json!({"id": id, "factor": item["factor"], "weight": item["weight"]}),
                (1, 2) => json!({"mu": mu, "sigma": sigma, "weight": 0.5}),
                _ => json!({"id": id, "mu": mu, "sigma": sigma}),
            }
        });
        let items: Vec<Value> = items.collect();
        *row = json!({"entity": id, "label": row["label"], "evidence": items});
    }
    rows
}

fn infer(place: &Place, rows: &[Value], args: &[&str]) -> Vec<Value> {
    place.write("in.jsonl", lines(rows));
    let output = Command::new(env!("CARGO_BIN_EXE_lpf"))
        .args(["infer", "in.jsonl"])
        .args(args)
        .current_dir(&place.0)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

/// What `lpf infer --model` answers, joined with what it was asked and the labels.
fn answered(place: &Place) -> Vec<Value> {
    place.write("m.safetensors", MODEL);
    let mut rows = evidence();
    let answers = infer(place, &rows, &[&DRAWN[..], &CLASSES].concat());
    for (row, answer) in rows.iter_mut().zip(answers) {
        assert_eq!(row["entity"], answer["entity"]);
        row["distribution"] = answer["distribution"].clone();
        if let Some(parts) = answer.get("uncertainty").filter(|parts| !parts.is_null()) {
            row["uncertainty"] = parts.clone();
        }
    }
    rows
}

/// Answers of each method are that method's to the bit, and not those of the product.
#[test]
fn every_method_can_be_audited() {
    let place = Place::new();
    place.write("m.safetensors", MODEL);
    place.write("a.safetensors", AGGREGATOR);
    // Every second entity has a posterior for each of its items.
    let rows: Vec<Value> = evidence().into_iter().step_by(2).collect();
    for (method, more, said) in [
        (
            "prior-corrected",
            &["--prior", "0.2,0.5,0.3"][..],
            "prior-corrected product",
        ),
        (
            "learned",
            &["--aggregator", "a.safetensors"],
            "learned aggregate",
        ),
        ("uniform", &[], "mean of"),
        ("vote", &[], "vote of"),
        ("max", &[], "normalized maximum"),
    ] {
        let args = [&["--method", method], more, &DRAWN, &CLASSES].concat();
        let mut log = rows.clone();
        for (row, answer) in log.iter_mut().zip(infer(&place, &rows, &args)) {
            row["distribution"] = answer["distribution"].clone();
        }
        place.write("log.jsonl", lines(&log));
        let run = |args: &[&str]| place.json(&[&["log.jsonl"], &ANSWER[..], args].concat()).0;
        let own = run(&args);
        let check = check(&own, "consistency");
        assert_eq!(
            (&check["value"], &check["n"]),
            (&json!(0.0), &json!(ROWS / 2)),
            "{check}"
        );
        let sentence = check["sentence"].as_str().unwrap();
        assert!(sentence.contains(said), "{sentence}");
        assert!(
            sentence.ends_with("the largest difference is 0.00e0."),
            "{sentence}"
        );
        let product = run(&[&DRAWN[..], &CLASSES].concat());
        assert_eq!(verdict(&product, "consistency"), "fail", "{method}");
        let other = run(&[&["--method", "none"], &DRAWN[..], &CLASSES].concat());
        assert_eq!(verdict(&other, "consistency"), "not_run", "{method}");
    }
    place.refuses(&["log.jsonl", "--method", "prior-corrected"], "--prior");
    place.refuses(&["log.jsonl", "--method", "learned"], "--model");
    // The prior is part of what shards have in common.
    for (state, prior) in [("a.state", "0.2,0.5,0.3"), ("b.state", "0.3,0.5,0.2")] {
        let args = [
            "--method",
            "prior-corrected",
            "--prior",
            prior,
            "--partial",
            state,
        ];
        let output = place.run(&[&["log.jsonl"], &args[..], &ANSWER, &DRAWN, &CLASSES].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    place.refuses(&["--merge", "a.state", "b.state"], "--prior");
}

#[test]
fn answers_of_infer_are_consistent_and_others_are_named() {
    let place = Place::new();
    let mut rows = answered(&place);
    place.write("log.jsonl", lines(&rows));
    let common = [&["log.jsonl"], &CLASSES[..], &ANSWER].concat();
    let run = |more: &[&str]| place.json(&[&common[..], more].concat()).0;
    let audit = run(&DRAWN);
    assert_eq!(audit["inputs"][0]["usable"], ROWS);
    let said = check(&audit, "consistency")["sentence"].as_str().unwrap();
    assert_eq!(verdict(&audit, "consistency"), "pass");
    // Not within some rounding: the very same bits.
    assert!(
        said.contains("24 of 24 answers")
            && said.contains("24 of them within that of float64")
            && said.ends_with("the largest difference is 0.00e0."),
        "{said}"
    );
    // What needs factors runs on a log that has hardly any.
    for id in [
        "influence",
        "k_eff",
        "dependence",
        "support",
        "encoder_variance",
    ] {
        assert_eq!(verdict(&audit, id), "information", "{id}");
        assert_eq!(check(&audit, id)["n"], ROWS, "{id}");
    }
    assert_eq!(verdict(&audit, "decomposition"), "pass");
    assert_eq!(check(&audit, "decomposition")["n"], ROWS / 2);
    // Every second row has a weight of one half that is nobody's confidence, and one that is.
    let weights = check(&audit, "weights");
    assert_eq!(
        (&weights["n"], &weights["value"]),
        (&json!(ROWS / 2), &json!(1.0))
    );
    let used = json!({"sha256": sha256(MODEL), "samples": 4, "seed": 7});
    assert_eq!(audit["settings"]["model"], used);
    let text = place.run(&[&common[..], &DRAWN].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("completed by a model, 4 samples per item, seed 7"));
    // Without the model there is nothing to compare with, and no setting to name.
    let without = run(&[]);
    assert_eq!(verdict(&without, "consistency"), "not_run");
    assert_eq!(without["settings"]["model"], Value::Null);
    // Another seed, or other numbers of samples, draw other factors.
    for other in [
        ["--model", "m.safetensors", "--samples", "4", "--seed", "8"],
        ["--model", "m.safetensors", "--samples", "5", "--seed", "7"],
    ] {
        let audit = run(&other);
        assert_eq!(verdict(&audit, "consistency"), "fail", "{other:?}");
        assert_eq!(check(&audit, "consistency")["value"], 1.0, "{other:?}");
    }
    // A row whose answer is no longer that of its evidence.
    rows[4]["distribution"] = rows[5]["distribution"].clone();
    place.write("log.jsonl", lines(&rows));
    let audit = run(&DRAWN);
    assert_eq!(verdict(&audit, "consistency"), "fail");
    let worst = check(&audit, "consistency")["worst"].as_array().unwrap();
    assert_eq!(worst.len(), 1);
    assert_eq!(
        (&worst[0]["line"], &worst[0]["id"]),
        (&json!(5), &rows[4]["entity"])
    );
}

#[test]
fn a_log_without_answers_is_answered() {
    let place = Place::new();
    let rows = answered(&place);
    place.write("log.jsonl", lines(&rows));
    place.write("bare.jsonl", lines(&evidence()));
    let args = [&DRAWN[..], &CLASSES, &ANSWER].concat();
    let (logged, _) = place.json(&[&["log.jsonl"], &args[..]].concat());
    let (bare, _) = place.json(&[&["bare.jsonl", "--answer-from-evidence"], &args[..]].concat());
    assert_eq!(bare["inputs"][0]["usable"], ROWS);
    for id in ["accuracy", "ece", "brier", "influence", "item_calibration"] {
        assert_eq!(check(&bare, id), check(&logged, id), "{id}");
    }
    assert_eq!(verdict(&bare, "consistency"), "not_run");
    // A model that names its classes names those of the log.
    let mut model = Model::from_bytes(MODEL).unwrap();
    model.classes = Some(["low", "medium", "high"].map(String::from).to_vec());
    model.write(&place.path("named.safetensors")).unwrap();
    let named = [
        "bare.jsonl",
        "--answer-from-evidence",
        "--model",
        "named.safetensors",
        "--samples",
        "4",
        "--seed",
        "7",
    ];
    let (by_model, _) = place.json(&named);
    assert_eq!(by_model["checks"], bare["checks"]);
    assert_eq!(
        by_model["settings"]["classes"],
        json!(["low", "medium", "high"])
    );
    // Without names, classes are numbers, and the labels of this log are none of them.
    place.refuses(
        &[&["bare.jsonl", "--answer-from-evidence"], &DRAWN[..]].concat(),
        "no row can be used; the first is line 1: label: \"medium\" is a name",
    );
    place.refuses(
        &[
            &["bare.jsonl", "--answer-from-evidence", "--classes", "a,b"],
            &DRAWN[..],
        ]
        .concat(),
        "the model is for 3 classes, but the log has 2",
    );
}

#[test]
fn threads_and_shards_give_the_bytes_of_one_run() {
    let place = Place::new();
    let rows = answered(&place);
    place.write("a.jsonl", lines(&rows[..10]));
    place.write("b.jsonl", lines(&rows[10..]));
    let args = [&DRAWN[..], &CLASSES, &ANSWER].concat();
    let both = ["a.jsonl", "b.jsonl"];
    let whole = place.run(&[&both[..], &args, &["--threads", "1"]].concat());
    assert!(!whole.stdout.is_empty());
    let two = place.run(&[&both[..], &args, &["--threads", "2"]].concat());
    assert_eq!(two.stdout, whole.stdout);
    let partial = |state: &str, file: &str, args: &[&str]| {
        let output = place.run(&[&["--partial", state, file], args].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    };
    partial("a.state", "a.jsonl", &args);
    partial("b.state", "b.jsonl", &args);
    let merged = place.run(&["--merge", "b.state", "a.state", "--seed", "7"]);
    assert_eq!(merged.stdout, whole.stdout);
    // Shards of another model, number of samples or seed are not parts of the same log.
    let mut model = Model::from_bytes(MODEL).unwrap();
    model.provenance = Some(json!("other"));
    model.write(&place.path("other.safetensors")).unwrap();
    for (i, what) in [(1, "--model"), (3, "--samples"), (5, "--seed")] {
        let mut other = args.clone();
        other[i] = if i == 1 { "other.safetensors" } else { "9" };
        partial("c.state", "b.jsonl", &other);
        place.refuses(&["--merge", "a.state", "c.state"], what);
    }
    partial("c.state", "b.jsonl", &[&CLASSES[..], &ANSWER].concat());
    place.refuses(&["--merge", "a.state", "c.state"], "--model");
    place.refuses(
        &["--merge", "a.state", "--model", "m.safetensors"],
        "--model",
    );
}

#[test]
fn what_the_model_cannot_take_is_counted() {
    let place = Place::new();
    place.write("m.safetensors", MODEL);
    let row = &with_posteriors()[0];
    let item = &row["evidence"][0];
    let (mu, sigma) = (&item["mu"], &item["sigma"]);
    let posterior = json!({"id": "a", "mu": mu, "sigma": sigma});
    let good = json!({"entity": "x", "label": 1, "evidence": [posterior]});
    let with = |key: &str, value: Value| {
        let mut row = good.clone();
        row[key] = value;
        row
    };
    let mut nameless = good.clone();
    nameless.as_object_mut().unwrap().remove("entity");
    let mut large = vec![0.0; 384];
    large[3] = 1e300;
    let cases = [
        (
            with("evidence", json!([{"mu": [0, 1], "sigma": [1, 1]}])),
            "evidence[0].mu",
        ),
        (
            with("evidence", json!([{"embedding": [0, 1]}])),
            "evidence[0].embedding",
        ),
        (
            with("evidence", json!([{"embedding": large}])),
            "evidence[0].embedding[3]",
        ),
        (
            with("evidence", json!([posterior, posterior])),
            "evidence[1].id",
        ),
        (with("evidence", json!([])), "probs"),
        (with("evidence", json!([{}, posterior])), "probs"),
        (with("classes", json!(["a", "b", "c"])), "classes"),
        (nameless, "entity"),
    ];
    let mut text = format!("{good}\n");
    for (row, _) in &cases {
        text += &format!("{row}\n");
    }
    place.write("log.jsonl", &text);
    let (audit, _) = place.json(&[
        "log.jsonl",
        "--answer-from-evidence",
        "--model",
        "m.safetensors",
    ]);
    assert_eq!(audit["inputs"][0]["usable"], 1);
    assert_eq!(audit["rejected"]["count"], cases.len());
    let first = audit["rejected"]["first"].as_array().unwrap();
    for ((row, field), rejection) in cases.iter().zip(first) {
        assert_eq!(&rejection["field"], field, "{rejection}\n{row}");
    }
    // Factors alone need no name.
    let bare = json!({"label": 0, "factors": [[0.5, 0.25, 0.25]]});
    place.write("log.jsonl", format!("{good}\n{bare}\n"));
    let (audit, _) = place.json(&[
        "log.jsonl",
        "--answer-from-evidence",
        "--model",
        "m.safetensors",
    ]);
    assert_eq!(audit["inputs"][0]["usable"], 2);
    place.write("bad.safetensors", &MODEL[..1000]);
    place.refuses(
        &[
            "log.jsonl",
            "--answer-from-evidence",
            "--model",
            "bad.safetensors",
        ],
        "bad.safetensors",
    );
    place.refuses(
        &[
            "log.jsonl",
            "--answer-from-evidence",
            "--model",
            "none.safetensors",
        ],
        "none.safetensors",
    );
    place.refuses(
        &[
            "log.jsonl",
            "--answer-from-evidence",
            "--model",
            "m.safetensors",
            "--samples",
            "0",
        ],
        "--samples",
    );
}
