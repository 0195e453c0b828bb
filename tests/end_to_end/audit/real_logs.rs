//! Real predictions as pandas, Polars and pyarrow write them by default, audited without one option.

use super::{Place, check};
use serde_json::Value;

/// tests/fixtures/real/make.py says what these are and what wrote them.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/real");

/// The oracles are scikit-learn's accuracy and numpy's sums of squares and logarithms over the same numbers.
#[test]
fn every_log_is_audited_without_one_option() {
    let place = Place::new();
    let expected = std::fs::read(format!("{FOLDER}/expected.json")).unwrap();
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    let expected = expected.as_object().unwrap();
    assert_eq!(expected.len(), 45);
    for (name, want) in expected {
        let (audit, _) = place.json(&[&format!("{FOLDER}/{name}")]);
        let input = &audit["inputs"][0];
        assert_eq!(
            (&input["rows"], &input["usable"]),
            (&want["rows"], &want["rows"]),
            "{name}"
        );
        assert_eq!(check(&audit, "validity")["value"], 0.0, "{name}");
        assert_eq!(
            check(&audit, "accuracy")["value"],
            want["accuracy"],
            "{name}"
        );
        // pandas writes ten decimals into JSON: a Brier score of n numbers is off by 2n times as much, a
        // logarithm by as much over the probability, the least of which is above 10⁻³ in these logs. All
        // others write what is read as the same number; sums of some hundred terms differ in rounding.
        let close = |id: &str, key: &str, in_json: f64| {
            let tolerance = match name.ends_with("_pandas.json") {
                true => in_json,
                false => 1e-13,
            };
            match (check(&audit, id)["value"].as_f64(), want[key].as_f64()) {
                (Some(found), Some(want)) => {
                    let off = (found - want).abs();
                    assert!(off <= tolerance, "{name}: {id} {found}, not {want}");
                }
                (found, want) => assert_eq!(found, want, "{name}: {id}"),
            }
        };
        close("brier", "brier", 20.0 * 5e-11);
        close("log_loss", "log_loss", 5e-11 / 1e-3);
    }
}

/// One log, all programs: the same checks to the bit.
#[test]
fn programs_agree_on_a_log() {
    let place = Place::new();
    for log in [
        "digits_logistic",
        "cancer_forest",
        "wine_bayes",
        "wine_network",
    ] {
        let files = std::fs::read_dir(FOLDER).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let names: Vec<String> = names.filter(|name| name.starts_with(log)).collect();
        assert_eq!(names.len(), 3, "{log}");
        let checks = names.iter().map(|name| {
            let (mut audit, _) = place.json(&[&format!("{FOLDER}/{name}")]);
            audit["checks"].take()
        });
        let checks: Vec<Value> = checks.collect();
        assert!(checks.windows(2).all(|pair| pair[0] == pair[1]), "{log}");
    }
}
