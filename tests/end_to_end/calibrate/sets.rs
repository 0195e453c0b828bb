//! Prediction sets: fitted, judged, written by `infer` and `apply`, checked by `audit`.

use std::fs;

use lpf::bounds::clopper_pearson;
use serde_json::Value;

use super::{line, lpf, ok, refused, value};

/// Rows of two items each over three classes, right more often than not.
fn evidence(rows: usize, from: usize) -> String {
    (from..from + rows)
        .map(|i| {
            let strong = 0.4 + 0.5 * ((i * 37 % 101) as f64 / 101.0);
            let label = if i * 61 % 97 < 70 { i % 3 } else { (i + 1) % 3 };
            let mut factor = [(1.0 - strong) / 2.0; 3];
            factor[i % 3] = strong;
            let weight = [0.5, 1.0, 2.0][i % 3];
            format!(
                "{{\"entity\":\"e{i}\",\"label\":{label},\"evidence\":[{{\"factor\":{factor:?},\"weight\":{weight}}},{{\"factor\":[0.5,0.25,0.25],\"weight\":0.25}}]}}\n"
            )
        })
        .collect()
}

fn check(report: &Value, id: &str) -> Value {
    let checks = report["checks"].as_array().unwrap();
    checks
        .iter()
        .find(|c| c["id"] == id)
        .cloned()
        .unwrap_or_default()
}

#[test]
fn sets_cover_what_was_asked_for_from_fit_to_audit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("fit.jsonl"), evidence(400, 0)).unwrap();
    fs::write(folder.join("new.jsonl"), evidence(300, 400)).unwrap();
    let mut sizes = Vec::new();
    for more in [
        &[][..],
        &["--by-class"],
        &["--score", "probability"],
        &["--robust-items", "1", "--robust-distance", "0.5"],
    ] {
        let args = [
            "calibrate",
            "fit.jsonl",
            "--judge",
            "new.jsonl",
            "--method",
            "conformal",
            "--coverage",
            "0.8",
            "--output",
            "sets.json",
        ];
        let report = value(&ok(
            &[&args[..], more, &["--format", "json"]].concat(),
            folder,
        ));
        let text = ok(&[&args[..], more].concat(), folder);
        assert!(text.contains("0.8 asked for"), "{text}");
        // The same sets by `infer`, counted by hand.
        let answers = ok(
            &["infer", "new.jsonl", "--calibration", "sets.json"],
            folder,
        );
        let (mut hits, mut total) = (0, 0);
        let truth = fs::read_to_string(folder.join("new.jsonl")).unwrap();
        for (answer, row) in answers.lines().zip(truth.lines()) {
            let (answer, row) = (value(answer), value(row));
            let set = answer["set"].as_array().unwrap();
            hits += u64::from(set.contains(&row["label"]));
            total += set.len();
            assert_eq!(answer["calibration"], "conformal");
        }
        assert_eq!(report["sets"]["all"]["hits"], hits, "{more:?}");
        assert_eq!(report["sets"]["mean_size"], total as f64 / 300.0);
        let (low, high) = clopper_pearson(hits, 300, 0.05).unwrap();
        assert_eq!(
            report["sets"]["all"]["interval"],
            serde_json::json!([low, high])
        );
        sizes.push(total);
        // The audit finds the same, through the map and from sets that were logged.
        let audit = |args: &[&str]| {
            let out = lpf(&[&["audit"], args, &["--format", "json"]].concat(), folder);
            value(&String::from_utf8(out.stdout).unwrap())
        };
        let through = audit(&[
            "new.jsonl",
            "--answer-from-evidence",
            "--calibration",
            "sets.json",
            "--threshold",
            "coverage=0.5",
        ]);
        let coverage = check(&through, "coverage");
        assert_eq!(coverage["value"], hits as f64 / 300.0);
        assert_eq!(coverage["verdict"]["kind"], "pass");
        assert_eq!(check(&through, "set_size")["value"], total as f64 / 300.0);
        let applied = [
            "apply",
            "new.jsonl",
            "--calibration",
            "sets.json",
            "--output",
            "logged.jsonl",
        ];
        ok(&applied, folder);
        let logged = audit(&["logged.jsonl", "--threshold", "coverage=0.5"]);
        assert_eq!(check(&logged, "coverage")["value"], coverage["value"]);
        // Shards add up; once is enough.
        if !more.is_empty() {
            continue;
        }
        let partial = |file: &str, state: &str| {
            lpf(
                &[
                    "audit",
                    file,
                    "--answer-from-evidence",
                    "--calibration",
                    "sets.json",
                    "--partial",
                    state,
                ],
                folder,
            );
        };
        partial("new.jsonl", "a.state");
        partial("fit.jsonl", "b.state");
        let merged = audit(&["--merge", "a.state", "b.state"]);
        let whole = audit(&[
            "new.jsonl",
            "fit.jsonl",
            "--answer-from-evidence",
            "--calibration",
            "sets.json",
        ]);
        assert_eq!(check(&merged, "coverage"), check(&whole, "coverage"));
        assert_eq!(check(&merged, "coverage")["n"], 700);
    }
    // Robust sets are larger than plain ones; classes that are as likely as not are rarely left out.
    assert!(sizes[3] > sizes[0], "{sizes:?}");
    // A limit on sets that no row has is said not to be checked.
    let out = lpf(
        &[
            "audit",
            "new.jsonl",
            "--answer-from-evidence",
            "--threshold",
            "coverage=0.5",
            "--format",
            "json",
        ],
        folder,
    );
    let report = value(&String::from_utf8(out.stdout).unwrap());
    assert_eq!(check(&report, "coverage")["verdict"]["kind"], "not_run");
}

#[test]
fn what_sets_cannot_do_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("fit.jsonl"), evidence(100, 0)).unwrap();
    let logged: String = (0..50)
        .map(|i| {
            format!(
                "{{\"id\":{i},\"label\":{},\"probs\":[0.5,0.25,0.25]}}\n",
                i % 3
            )
        })
        .collect();
    fs::write(folder.join("log.jsonl"), logged).unwrap();
    let fit = |file: &str, more: &[&str]| {
        let args = [
            "calibrate",
            file,
            "--method",
            "conformal",
            "--output",
            "sets.json",
        ];
        refused(&[&args[..], more].concat(), folder)
    };
    let robust = ["--robust-items", "1", "--robust-distance", "0.5"];
    assert!(fit("fit.jsonl", &["--coverage", "1"]).contains("coverage 1 is not"));
    assert!(fit("fit.jsonl", &["--robust-items", "1"]).contains("--robust-distance"));
    assert!(
        fit(
            "fit.jsonl",
            &[&robust[..], &["--score", "probability"]].concat()
        )
        .contains("score `lead`")
    );
    assert!(
        fit(
            "fit.jsonl",
            &[&robust[..], &["--aggregation", "vote"]].concat()
        )
        .contains("spn and prior-corrected only")
    );
    // Without evidence there are no weights to say how far an item counts.
    assert!(fit("log.jsonl", &robust).contains("log.jsonl:1: probs: "));
    let args = [
        "calibrate",
        "fit.jsonl",
        "--method",
        "isotonic",
        "--by-class",
        "--output",
        "x",
    ];
    assert!(refused(&args, folder).contains("are for --method conformal"));
    ok(
        &[
            &[
                "calibrate",
                "fit.jsonl",
                "--method",
                "conformal",
                "--output",
                "sets.json",
            ],
            &robust[..],
        ]
        .concat(),
        folder,
    );
    let args = [
        "infer",
        "fit.jsonl",
        "--calibration",
        "sets.json",
        "--method",
        "uniform",
    ];
    assert!(refused(&args, folder).contains("--calibration: its sets withstand"));
    let args = ["apply", "log.jsonl", "--calibration", "sets.json"];
    assert!(refused(&args, folder).contains("needs the weights of the evidence"));
    // Few rows: every class is in every set, and that is said.
    fs::write(
        folder.join("few.jsonl"),
        (0..9)
            .map(|i| line(&format!("e{i}"), &[0.6, 0.4], i % 2))
            .collect::<String>(),
    )
    .unwrap();
    let text = ok(
        &[
            "calibrate",
            "few.jsonl",
            "--method",
            "conformal",
            "--coverage",
            "0.99",
            "--output",
            "s",
        ],
        folder,
    );
    assert!(
        text.contains("rows are too few for a coverage of 0.99"),
        "{text}"
    );
}

/// Rows that say the same, their label with it, are dealt to both parts: probabilities are written with one
/// digit, and rows have no names.
#[test]
fn rows_that_are_alike_are_fitted_on_and_judged() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut log = "y_true,y_prob\n".to_string();
    for i in 0..4000u64 {
        // Well spread: the upper bits of multiples of an odd number.
        let draw = |odd: u64| ((i + 1).wrapping_mul(odd) >> 32) % 1000;
        let tenths = 1 + draw(0x9e37_79b9_7f4a_7c15) % 9;
        let label = u64::from(draw(0xd1b5_4a32_d192_ed03) < 100 * tenths);
        log += &format!("{label},0.{tenths}\n");
    }
    fs::write(folder.join("log.csv"), log).unwrap();
    for seed in ["0", "1", "2"] {
        let args = [
            "calibrate",
            "log.csv",
            "--method",
            "conformal",
            "--seed",
            seed,
        ];
        let more = ["--output", "sets.json", "--format", "json"];
        let report = value(&ok(&[&args[..], &more].concat(), folder));
        // A half of 4000, within five deviations of 31.6.
        let fitted = report["fitted_on"].as_u64().unwrap();
        assert!((1842..=2158).contains(&fitted), "{fitted}");
        // 0.9 asked for on average over the fitting rows; of 2000 on each side a deviation is 0.01 at most.
        assert_eq!(report["repeated"], Value::Null);
        let hits = report["sets"]["all"]["hits"].as_f64().unwrap();
        assert!(hits / (4000 - fitted) as f64 > 0.85, "{hits} {fitted}");
    }
}

#[test]
fn rows_of_one_entity_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let log: String = (0..200)
        .map(|i| {
            line(
                &format!("e{}", i / 4),
                &[0.7, 0.3],
                usize::from(i % 10 >= 7),
            )
        })
        .collect();
    fs::write(folder.join("log.jsonl"), log).unwrap();
    let args = [
        "calibrate",
        "log.jsonl",
        "--method",
        "conformal",
        "--output",
        "sets.json",
    ];
    let text = ok(&args, folder);
    assert!(text.contains("share their entity with others"), "{text}");
    let report = value(&ok(&[&args[..], &["--format", "json"]].concat(), folder));
    assert_eq!(report["repeated"], report["judged_on"]);
}
