//! On the predictions of the reference implementation, as they are and with their known defect.

use serde_json::json;

use super::{Place, REFERENCE, check, lines, rows, verdict};

const CLASSES: [&str; 4] = ["--answer", "spn", "--classes", "low,medium,high"];

/// The product as the reference computes it, for `k` factors (0.8, 0.15, 0.05) of weight one: in
/// single precision, without the maximum subtracted, divided by the sum and 1e-10.
fn underflowing_product(k: u32) -> [f32; 3] {
    let factor = [0.8f32, 0.15, 0.05];
    let scores = factor.map(|p| (1f32 / 3.0).ln() + (0..k).map(|_| p.ln()).sum::<f32>());
    let powers = scores.map(f32::exp);
    let total: f32 = powers.iter().sum::<f32>() + 1e-10;
    powers.map(|p| p / total)
}

#[test]
fn products_pass_within_single_precision() {
    let place = Place::new();
    place.write("p.jsonl", REFERENCE);
    let (audit, code) = place.json(&[&["p.jsonl"][..], &CLASSES].concat());
    assert_eq!(audit["inputs"][0]["rows"], 60);
    assert_eq!(audit["inputs"][0]["usable"], 60);
    assert_eq!(audit["rejected"]["count"], 0);
    assert_eq!(verdict(&audit, "validity"), "pass");
    assert_eq!(verdict(&audit, "consistency"), "pass");
    let said = check(&audit, "consistency")["sentence"].as_str().unwrap();
    assert!(
        said.starts_with("60 of 60 answers are the weighted product"),
        "{said}"
    );
    assert!(said.contains("0 of them within that of float64"), "{said}");
    // All 60 are right with a mean confidence of 0.82: under-confident, and so it is said.
    assert_eq!((verdict(&audit, "gap"), code), ("fail", 1));
    let relaxed = [
        "p.jsonl",
        "--threshold",
        "gap=off",
        "--threshold",
        "ece=off",
    ];
    let (_, code) = place.json(&[&relaxed[..], &CLASSES].concat());
    assert_eq!(code, 0);
    // The same, embedded.
    let (embedded, _) = place.json(&["--demo"]);
    let without_next = |mut audit: serde_json::Value| {
        for check in audit["checks"].as_array_mut().unwrap() {
            check["next"] = serde_json::Value::Null;
        }
        audit["checks"].take()
    };
    assert_eq!(without_next(embedded), without_next(audit.clone()));
    // Means are not products, and products not means.
    let mean = [
        "p.jsonl",
        "--classes",
        "low,medium,high",
        "--answer",
        "uniform",
    ];
    let (audit, _) = place.json(&mean);
    assert_eq!(verdict(&audit, "consistency"), "fail");
    let (audit, _) = place.json(&[&mean[..], &["--method", "uniform"]].concat());
    assert_eq!(verdict(&audit, "consistency"), "pass");
}

#[test]
fn the_failure_of_a_hundred_factors_is_named_row_by_row() {
    let place = Place::new();
    let broken = underflowing_product(100);
    let sum: f32 = broken.iter().sum();
    assert!((sum - 0.404).abs() < 0.001, "{sum}");
    let mut rows = rows();
    for i in [3, 17, 41] {
        rows[i]["spn"] = json!(broken);
    }
    place.write("p.jsonl", lines(&rows));
    let (audit, code) = place.json(&[&["p.jsonl"][..], &CLASSES].concat());
    assert_eq!((verdict(&audit, "validity"), code), ("fail", 1));
    let worst = check(&audit, "validity")["worst"].as_array().unwrap();
    let named: Vec<(u64, &str)> = worst
        .iter()
        .map(|row| (row["line"].as_u64().unwrap(), row["id"].as_str().unwrap()))
        .collect();
    let want: Vec<(u64, &str)> = [3, 17, 41]
        .map(|i| (i as u64 + 1, rows[i]["entity"].as_str().unwrap()))
        .to_vec();
    assert_eq!(named, want);
    for row in worst {
        assert!((row["value"].as_f64().unwrap() + 1.0 - f64::from(sum)).abs() < 1e-6);
    }
    assert_eq!(audit["rejected"]["count"], 3);
    assert_eq!(
        audit["rejected"]["reasons"][0]["reason"],
        "not a probability distribution"
    );
    assert_eq!(audit["inputs"][0]["usable"], 57);
    // All rows broken: nothing can be scored, and the verdict is still a verdict.
    for row in &mut rows {
        row["spn"] = json!(broken);
    }
    place.write("p.jsonl", lines(&rows));
    let (audit, code) = place.json(&[&["p.jsonl"][..], &CLASSES].concat());
    assert_eq!((verdict(&audit, "validity"), code), ("fail", 1));
    assert_eq!(check(&audit, "validity")["value"], 1.0);
    assert_eq!(
        check(&audit, "validity")["worst"].as_array().unwrap().len(),
        20
    );
    assert_eq!(verdict(&audit, "ece"), "not_run");
}

/// An answer that is a distribution, but not the product of its factors.
#[test]
fn answers_that_are_not_the_product_are_named() {
    let place = Place::new();
    let mut rows = rows();
    for item in rows[5]["evidence"].as_array_mut().unwrap() {
        item["weight"] = (item["weight"].as_f64().unwrap() * 1.001).into();
    }
    place.write("p.jsonl", lines(&rows));
    let (audit, _) = place.json(&[&["p.jsonl"][..], &CLASSES].concat());
    assert_eq!(verdict(&audit, "consistency"), "fail");
    let worst = check(&audit, "consistency")["worst"].as_array().unwrap();
    assert_eq!(worst.len(), 1);
    assert_eq!(
        (&worst[0]["line"], &worst[0]["id"]),
        (&json!(6), &rows[5]["entity"])
    );
}

#[test]
fn drift_is_seen_where_it_is_and_not_where_it_is_not() {
    let place = Place::new();
    // Confidence 0.8, right in 4 of 5 rows; later in 3 of 5.
    let log = |right: u32, label: &str| -> String {
        (0..4000)
            .map(|i| {
                let label = if i % 5 < right { label } else { "b" };
                format!("{{\"probs\":[0.8,0.2],\"label\":\"{label}\"}}\n")
            })
            .collect()
    };
    place.write("old.jsonl", log(4, "a"));
    place.write("same.jsonl", log(4, "a") + "\n");
    place.write("new.jsonl", log(3, "a"));
    let run = |file: &str| {
        place
            .json(&[file, "--baseline", "old.jsonl", "--classes", "a,b"])
            .0
    };
    let audit = run("new.jsonl");
    for id in ["drift_accuracy", "drift_brier", "drift_labels"] {
        assert_eq!(verdict(&audit, id), "fail", "{id}");
    }
    assert_eq!(check(&audit, "drift_confidence")["value"], 0.0);
    let value = check(&audit, "drift_accuracy")["value"].as_f64().unwrap();
    assert!((value + 0.2).abs() < 1e-12);
    assert_eq!(audit["baseline"][0]["name"], "old.jsonl");
    let audit = run("same.jsonl");
    for kind in audit["checks"].as_array().unwrap() {
        let id = kind["id"].as_str().unwrap();
        assert!(
            !id.starts_with("drift") || verdict(&audit, id) != "fail",
            "{id}"
        );
    }
}

/// Effective numbers and margins once more, row by row from the factors and weights: the quantiles that
/// are reported are theirs, rounded down to a cell, and lie in their intervals.
#[test]
fn quantiles_are_those_of_the_rows() {
    let place = Place::new();
    place.write("p.jsonl", REFERENCE);
    let (audit, _) = place.json(&[&["p.jsonl"][..], &CLASSES].concat());
    let numbers = |value: &serde_json::Value| -> Vec<f64> {
        let list = value.as_array().unwrap().iter();
        list.map(|x| x.as_f64().unwrap()).collect()
    };
    let (mut effective, mut margins) = (Vec::new(), Vec::new());
    for row in rows() {
        let (mut sum, mut squares, mut logs) = (0.0, 0.0, [0.0; 3]);
        for item in row["evidence"].as_array().unwrap() {
            let w = item["weight"].as_f64().unwrap();
            sum += w;
            squares += w * w;
            for (log, p) in logs.iter_mut().zip(numbers(&item["factor"])) {
                *log += w * p.ln();
            }
        }
        effective.push(sum * sum / squares);
        logs.sort_by(f64::total_cmp);
        margins.push(logs[2] - logs[1]);
    }
    for (id, mut all, rank) in [("k_eff", effective, 30), ("robustness_radius", margins, 3)] {
        all.sort_by(f64::total_cmp);
        let exact = all[rank - 1];
        let check = check(&audit, id);
        let value = check["value"].as_f64().unwrap();
        // Cells are a 64th wide; the sums above are rounded, ours are not.
        let ulps = 1e-12;
        assert!(
            value <= exact + ulps && exact < value + 1.0 / 64.0 + ulps,
            "{id}: {exact}"
        );
        let (low, high) = (&check["interval"]["low"], &check["interval"]["high"]);
        let (low, high) = (low.as_f64().unwrap(), high.as_f64().unwrap());
        assert!(
            low <= exact && exact <= high && high > value,
            "{id}: {low} {exact} {high}"
        );
    }
    // More items than most entities have are counted as well.
    let many = json!({"label": 0, "factors": vec![[0.75, 0.25]; 5000]});
    place.write("many.jsonl", format!("{many}\n"));
    let (audit, _) = place.json(&["many.jsonl", "--answer-from-evidence"]);
    let value = check(&audit, "k_eff")["value"].as_f64().unwrap();
    assert!((4922.0..=5000.0).contains(&value), "{value}");
}
