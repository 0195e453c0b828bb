//! Logs with posteriors: those of the reference implementation, and some that are none.

use std::collections::BTreeMap;

use safetensors::SafeTensors;
use serde_json::{Value, json};

use super::{Place, check, lines, rows, verdict};

const CLASSES: [&str; 4] = ["--answer", "spn", "--classes", "low,medium,high"];
pub const TENSORS: &[u8] = include_bytes!("../../fixtures/reference/tensors.safetensors");
/// Items of an entity, and dimensions of the latent space.
pub const ITEMS: usize = 5;
const LATENT: usize = 64;

/// The numbers of a tensor, as the doubles that they are.
pub fn doubles(file: &SafeTensors<'_>, name: &str) -> Vec<f64> {
    let data = file.tensor(name).unwrap();
    let chunks = data.data().as_chunks::<4>().0;
    let number = |b: &[u8; 4]| f64::from(f32::from_le_bytes(*b));
    chunks.iter().map(number).collect()
}

/// The reference's predictions with the posteriors behind their factors.
pub fn with_posteriors() -> Vec<Value> {
    let file = SafeTensors::deserialize(TENSORS).unwrap();
    let mut rows = rows();
    for row in &mut rows {
        let id = row["entity"].as_str().unwrap().to_string();
        let (mu, sigma) = (
            doubles(&file, &format!("{id}.mu")),
            doubles(&file, &format!("{id}.sigma")),
        );
        let items = row["evidence"].as_array_mut().unwrap();
        assert_eq!(items.len(), ITEMS);
        for (k, item) in items.iter_mut().enumerate() {
            let part = k * LATENT..(k + 1) * LATENT;
            item["mu"] = json!(mu[part.clone()]);
            item["sigma"] = json!(sigma[part]);
        }
    }
    rows
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

fn items(rows: &[Value]) -> impl Iterator<Item = &Value> {
    rows.iter()
        .flat_map(|row| row["evidence"].as_array().unwrap())
}

#[test]
fn the_weights_of_the_reference_are_the_confidence_of_its_posteriors() {
    let place = Place::new();
    let mut rows = with_posteriors();
    place.write("p.jsonl", lines(&rows));
    let run = |more: &[&str]| place.json(&[&["p.jsonl"], &CLASSES[..], more].concat()).0;
    let audit = run(&[]);
    let weights = check(&audit, "weights");
    assert_eq!(
        (&weights["value"], &weights["n"]),
        (&json!(0.0), &json!(60))
    );
    assert_eq!(verdict(&audit, "weights"), "information");
    let said = weights["sentence"].as_str().unwrap();
    assert!(
        said.starts_with("In 60 of 60 rows the weights are the reference confidence"),
        "{said}"
    );
    // Held against another function they are off, and it is said which one they are of.
    let other = run(&["--confidence", "exponential"]);
    assert_eq!(check(&other, "weights")["value"], 1.0);
    let said = check(&other, "weights")["sentence"].as_str().unwrap();
    assert!(
        said.starts_with("In 0 of 60 rows the weights are the exponential")
            && said.ends_with("The reference function fits 60 rows."),
        "{said}"
    );
    assert_eq!(other["settings"]["confidence_function"], "exponential");
    assert_eq!(
        verdict(&run(&["--confidence", "none"]), "weights"),
        "not_run"
    );
    // One weight of 300 a thousandth off.
    let weight = rows[7]["evidence"][2]["weight"].as_f64().unwrap();
    rows[7]["evidence"][2]["weight"] = json!(weight * 1.001);
    place.write("p.jsonl", lines(&rows));
    let audit = run(&["--threshold", "weights=0"]);
    assert_eq!(verdict(&audit, "weights"), "fail");
    let worst = check(&audit, "weights")["worst"].as_array().unwrap();
    assert_eq!(worst.len(), 1);
    assert_eq!(
        (&worst[0]["line"], &worst[0]["id"]),
        (&json!(8), &rows[7]["entity"])
    );
    let off = worst[0]["value"].as_f64().unwrap() / (weight * 0.001);
    assert!((off - 1.0).abs() < 0.01, "{off}");
    // Weights of no function at all.
    for row in &mut rows {
        for item in row["evidence"].as_array_mut().unwrap() {
            item["weight"] = json!(0.123);
        }
    }
    place.write("p.jsonl", lines(&rows));
    let said = check(&run(&[]), "weights")["sentence"].clone();
    let said = said.as_str().unwrap();
    assert!(said.ends_with("None of the other functions fits any row."));
}

/// Each figure again, from its definition.
#[test]
fn the_assumptions_of_the_reference_are_measured() {
    let place = Place::new();
    let rows = with_posteriors();
    place.write("p.jsonl", lines(&rows));
    let (audit, _) = place.json(&[&["p.jsonl"], &CLASSES[..]].concat());
    let value = |id: &str| check(&audit, id)["value"].as_f64().unwrap();
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
    // A2: ‖diag(σ²)‖_F = √Σσ⁴, averaged; items of one entity count together in its error.
    let norm = |item: &Value| {
        let fourth = numbers(&item["sigma"]).into_iter().map(|s| s.powi(4));
        fourth.sum::<f64>().sqrt()
    };
    let norms: Vec<f64> = items(&rows).map(norm).collect();
    let mean = norms.iter().sum::<f64>() / 300.0;
    assert!(near(value("encoder_variance"), mean));
    // No upper end, and a lower one against which the bets of bounds::betting, word for word, have won
    // twenty times the stake; entities of five items bet as one.
    let interval = &check(&audit, "encoder_variance")["interval"];
    assert_eq!(interval["high"], Value::Null);
    let low = interval["low"].as_f64().unwrap();
    assert!(low > 0.8 * mean && low < mean, "{low} {mean}");
    let wealth = |theta: f64| {
        let totals = norms.chunks(ITEMS).map(|e| e.iter().sum::<f64>());
        let factors = totals.map(|x| 1.0 + theta * (x - 5.0 * low) / (5.0 * low));
        factors.product::<f64>()
    };
    let bets = [63.0 / 64.0, 0.5, 0.25, 0.125];
    assert!(bets.map(wealth).iter().sum::<f64>() / 4.0 >= 20.0);
    assert_eq!(check(&audit, "encoder_variance")["n"], 60);
    // A3: 15 bins, open below.
    let classes = ["low", "medium", "high"];
    let mut bins: BTreeMap<usize, f64> = BTreeMap::new();
    for row in &rows {
        let label = classes.iter().position(|c| row["label"] == *c).unwrap();
        for item in row["evidence"].as_array().unwrap() {
            let p = numbers(&item["factor"]);
            let top = p.iter().copied().fold(0.0, f64::max);
            let gap = top - f64::from(u8::from(p[label] == top));
            *bins.entry((top * 15.0).ceil() as usize).or_default() += gap;
        }
    }
    let ece = bins.values().map(|gap| gap.abs()).sum::<f64>() / 300.0;
    // Factors are divided by their sums, which are off by 1e-12.
    assert!((value("item_calibration") - ece).abs() < 1e-11);
    // A5, and A6: below half of 1/3.
    assert_eq!(
        (
            value("evidence_count"),
            check(&audit, "evidence_count")["n"].as_u64()
        ),
        (5.0, Some(60))
    );
    let excludes = |row: &&Value| {
        let items = row["evidence"].as_array().unwrap();
        let mut factors = items.iter().map(|item| numbers(&item["factor"]));
        factors.any(|p| p.iter().any(|x| *x < 1.0 / 6.0))
    };
    let below = rows.iter().filter(excludes).count() as f64;
    assert!(near(value("support"), below / 60.0), "{below}");
    // None has a limit until one is set.
    for id in [
        "encoder_variance",
        "item_calibration",
        "evidence_count",
        "support",
    ] {
        assert_eq!(verdict(&audit, id), "information", "{id}");
    }
    let limits = ["encoder_variance=0.001", "evidence_count=4", "support=0.5"];
    let limits: Vec<&str> = limits.iter().flat_map(|l| ["--threshold", l]).collect();
    let (audit, code) = place.json(&[&["p.jsonl"], &CLASSES[..], &limits].concat());
    for id in ["encoder_variance", "evidence_count", "support"] {
        assert_eq!(verdict(&audit, id), "fail", "{id}");
    }
    assert_eq!(code, 1);
    let (audit, _) = place.json(
        &[
            &["p.jsonl"],
            &CLASSES[..],
            &["--threshold", "evidence_count=5"],
        ]
        .concat(),
    );
    assert_eq!(verdict(&audit, "evidence_count"), "pass");
}

/// Twenty items say 90 % and are right ten times, twenty say 60 % and always are: 40 points apart in
/// either bin, and not at all in the mean. Of two classes, 10 % is below half of a fair share.
#[test]
fn faults_of_items_that_cancel_are_found_and_floors_are_those_of_the_classes() {
    let place = Place::new();
    let row = |i: u32| match i {
        0..20 => format!("{{\"factors\":[[0.9,0.1]],\"label\":{}}}\n", i % 2),
        _ => "{\"factors\":[[0.6,0.4]],\"label\":0}\n".to_string(),
    };
    place.write("p.jsonl", (0..40).map(row).collect::<String>());
    let (audit, _) = place.json(&["p.jsonl", "--answer-from-evidence"]);
    let value = |id: &str| check(&audit, id)["value"].as_f64().unwrap();
    assert!((value("item_calibration") - 0.4).abs() < 1e-12);
    assert_eq!(value("support"), 0.5);
    assert_eq!(value("evidence_count"), 1.0);
}

#[test]
fn what_is_no_posterior_is_refused_by_name() {
    let place = Place::new();
    let good = "{\"probs\":[0.5,0.5],\"label\":0,\"evidence\":[{\"mu\":[0,1],\"sigma\":[1,2]}]}\n";
    let many = |n: usize, x: &str| vec![x; n].join(",");
    let huge = format!("\"mu\":[{0}],\"sigma\":[{0}]", many(65_536, "1"));
    let square = format!(
        "\"mu\":[{0}],\"cov\":[{1}]",
        many(300, "1"),
        many(300, &format!("[{}]", many(300, "1")))
    );
    let cases = [
        ("\"mu\":[0]", "evidence[1].mu", "given without sigma or cov"),
        ("\"sigma\":[1]", "evidence[1].sigma", "given without mu"),
        (
            "\"mu\":[0],\"sigma\":[1],\"cov\":[[1]]",
            "evidence[1].cov",
            "given beside sigma",
        ),
        (
            "\"mu\":[0],\"sigma\":[1],\"embedding\":[1]",
            "evidence[1].mu",
            "embedding",
        ),
        ("\"mu\":[],\"sigma\":[]", "evidence[1].mu", "no dimension"),
        (
            "\"mu\":[0,1],\"sigma\":[1]",
            "evidence[1].sigma",
            "the mean has 2",
        ),
        (
            "\"mu\":[0,1],\"sigma\":[1,-2]",
            "evidence[1].sigma[1]",
            "standard deviation 1 is -2",
        ),
        (
            "\"mu\":[0,1],\"sigma\":[0,1]",
            "evidence[1].sigma[0]",
            "standard deviation 0 is 0",
        ),
        (
            "\"mu\":[0],\"cov\":[[1,0],[0,1]]",
            "evidence[1].cov",
            "not 1 rows of 1",
        ),
        (
            "\"mu\":[0,0],\"cov\":[[1,0],[0]]",
            "evidence[1].cov",
            "not 2 rows of 2",
        ),
        (
            "\"mu\":[0,0],\"cov\":[[1,2],[2,1]]",
            "evidence[1].cov",
            "not positive definite",
        ),
        (
            "\"mu\":[0,0],\"cov\":[[1,0],[1,1]]",
            "evidence[1].cov[1]",
            "not symmetric",
        ),
        (&square, "evidence[1].cov", "leading 2 × 2 minor"),
    ];
    let row = |item: &str| {
        format!("{{\"probs\":[0.5,0.5],\"label\":0,\"evidence\":[{{}},{{{item}}}]}}\n")
    };
    let mut text = good.to_string();
    for (item, ..) in &cases {
        text += &row(item);
    }
    // NaN is no JSON; a number beyond all doubles is none either; 65,536 dimensions are many but
    // a Gaussian.
    text += &row("\"mu\":[0],\"sigma\":[NaN]");
    text += &row("\"mu\":[0],\"sigma\":[1e999]");
    text += &row(&huge);
    // Of more than one row in ten that cannot be read nothing would be said.
    text += &good.repeat(18);
    place.write("p.jsonl", &text);
    let (audit, _) = place.json(&["p.jsonl"]);
    let first = audit["rejected"]["first"].as_array().unwrap();
    for (i, (item, field, message)) in cases.iter().enumerate() {
        assert_eq!(
            (&first[i]["line"], &first[i]["field"]),
            (&json!(i + 2), &json!(field))
        );
        let said = first[i]["message"].as_str().unwrap();
        assert!(said.contains(message), "{item}: {said}");
    }
    for (rejection, field) in first[cases.len()..].iter().zip(["evidence[1].sigma[0]"; 2]) {
        assert_eq!(rejection["field"], field);
    }
    let reasons = audit["rejected"]["reasons"].as_array().unwrap();
    let count = |reason: &str| {
        let found = reasons.iter().find(|r| r["reason"] == reason);
        found.map_or(0, |r| r["count"].as_u64().unwrap() as usize)
    };
    assert_eq!(
        count("a posterior or embedding that cannot be used"),
        cases.len()
    );
    assert_eq!(audit["rejected"]["count"], cases.len() + 2);
    assert_eq!(audit["inputs"][0]["usable"], 20);
    let norms = &check(&audit, "encoder_variance")["sentence"];
    assert!(
        norms
            .as_str()
            .unwrap()
            .contains("20 covariances of 20 entities"),
        "{norms}"
    );
    place.ends(
        &["p.jsonl", "--strict"],
        "p.jsonl:2: evidence[1].mu: given without",
    );
}
