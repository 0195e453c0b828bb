//! Rows of one entity are one cluster, unless they are said to be independent.

use super::{Place, check, verdict};

/// `entities` entities, each with `times` equal rows of confidence 0.8, right in four of five entities.
fn log(entities: u32, times: usize, named: bool) -> String {
    let row = |e: u32| {
        let label = u8::from(e.is_multiple_of(5));
        let name = if named {
            format!("\"entity\":\"e{e}\",")
        } else {
            String::new()
        };
        format!("{{{name}\"label\":{label},\"probs\":[0.8,0.2]}}\n").repeat(times)
    };
    (0..entities).map(row).collect()
}

#[test]
fn repeated_entities_are_noticed_said_and_counted_once() {
    let place = Place::new();
    place.write("once.jsonl", log(200, 1, true));
    place.write("often.jsonl", log(200, 20, true));
    place.write("nameless.jsonl", log(200, 20, false));
    let width = |args: &[&str], id: &str| {
        let (audit, _) = place.json(args);
        let interval = &check(&audit, id)["interval"];
        interval["high"].as_f64().unwrap() - interval["low"].as_f64().unwrap()
    };
    let said = |args: &[&str]| String::from_utf8(place.run(args).stdout).unwrap();
    let words = "4000 rows name 200 entities, one of them in 20 rows: rows of one entity count as one cluster";
    assert!(said(&["often.jsonl"]).contains(words));
    for format in ["markdown", "html"] {
        assert!(said(&["often.jsonl", "--format", format]).contains("4000 rows name 200 entities"));
    }
    assert!(!said(&["once.jsonl"]).contains("entities"));
    assert!(!said(&["nameless.jsonl"]).contains("entities"));
    let asserted = said(&["often.jsonl", "--independent-rows"]);
    assert!(asserted.contains("rows were said to be independent all the same"));
    for id in ["accuracy", "gap", "ece", "brier", "log_loss_clipped"] {
        // Twenty copies of a row tell no more than one; said to be independent, they are 4,000 rows.
        let often = width(&["often.jsonl"], id);
        let once = width(&["once.jsonl"], id);
        let independent = width(&["often.jsonl", "--independent-rows"], id);
        assert!(often >= once, "{id}: {often} {once}");
        assert!(independent < once / 3.0, "{id}: {independent} {once}");
        assert_eq!(independent, width(&["nameless.jsonl"], id), "{id}");
    }
    let (audit, _) = place.json(&["often.jsonl", "--threshold", "risk_at_coverage=0.3"]);
    assert_eq!(audit["entities"]["most_rows"], 20);
    assert_eq!(verdict(&audit, "calibration_p"), "not_run");
    // No interval, no verdict.
    assert_eq!(verdict(&audit, "risk_at_coverage"), "undecided");
    assert!(check(&audit, "risk_at_coverage")["interval"].is_null());
    let (audit, _) = place.json(&["often.jsonl", "--baseline", "often.jsonl"]);
    let sentence = check(&audit, "drift_accuracy")["sentence"]
        .as_str()
        .unwrap();
    assert!(sentence.contains("without a p-value"), "{sentence}");
}

/// An entity whose rows lie in several shards is one entity.
#[test]
fn entities_are_put_together_from_shards_and_threads() {
    let place = Place::new();
    let whole = log(300, 3, true);
    let rows: Vec<&str> = whole.lines().collect();
    for part in 0..3usize {
        let own = rows
            .iter()
            .skip(part)
            .step_by(3)
            .map(|row| format!("{row}\n"));
        let name = format!("{part}.jsonl");
        place.write(&name, own.collect::<String>());
        let state = format!("{part}.state");
        assert_eq!(
            place.run(&["--partial", &state, &name]).status.code(),
            Some(0)
        );
    }
    let files = ["0.jsonl", "1.jsonl", "2.jsonl"];
    let one = place.run(&[&files[..], &["--threads", "1"]].concat());
    let many = place.run(&[&files[..], &["--threads", "3"]].concat());
    let merged = place.run(&["--merge", "2.state", "0.state", "1.state"]);
    assert_eq!(one.stdout, many.stdout);
    assert_eq!(one.stdout, merged.stdout);
    let text = String::from_utf8(one.stdout).unwrap();
    assert!(
        text.contains("900 rows name 300 entities, one of them in 3 rows"),
        "{text}"
    );
    // One shard alone has each entity once.
    let alone = String::from_utf8(place.run(&["--merge", "1.state"]).stdout).unwrap();
    assert!(!alone.contains("entities, one of them"));
}

/// Evidence of two sources, of which one is sharp: no evidence against A1, in any order of the items.
#[test]
fn sources_that_merely_differ_do_not_contradict_a1() {
    let place = Place::new();
    let row = |e: u32| {
        let label = e % 2;
        // Right in 19 of 20 and in 3 of 5 cases, independently of each other: 20 and 5·20 entities a round.
        let (sharp, blunt) = (!(e / 2).is_multiple_of(20), e / 40 % 5 < 3);
        let factor = |right: bool, sure: f64| {
            let p = if right == (label == 0) {
                sure
            } else {
                1.0 - sure
            };
            format!("[{p},{}]", 1.0 - p)
        };
        let mut items = [
            format!("{{\"id\":\"sharp\",\"factor\":{}}}", factor(sharp, 0.95)),
            format!("{{\"id\":\"blunt\",\"factor\":{}}}", factor(blunt, 0.6)),
        ];
        if e.is_multiple_of(3) {
            items.reverse();
        }
        format!(
            "{{\"entity\":\"e{e}\",\"label\":{label},\"evidence\":[{}]}}\n",
            items.join(",")
        )
    };
    let text: String = (0..400).map(row).collect();
    place.write("named.jsonl", &text);
    // Without their names, in an order that tells nothing, the items of an entity do depend on each other.
    let nameless = text
        .replace("\"id\":\"sharp\",", "")
        .replace("\"id\":\"blunt\",", "");
    place.write("nameless.jsonl", nameless);
    let p = |file: &str| {
        check(
            &place.json(&[file, "--answer-from-evidence"]).0,
            "dependence",
        )["value"]
            .as_f64()
            .unwrap()
    };
    assert!(p("named.jsonl") > 0.05);
    assert!(p("nameless.jsonl") < 0.01);
    // A limit on the p-value is never passed: what the test would find is not known.
    let (audit, _) = place.json(&[
        "named.jsonl",
        "--answer-from-evidence",
        "--threshold",
        "dependence=0.05",
    ]);
    assert_eq!(verdict(&audit, "dependence"), "undecided");
}
