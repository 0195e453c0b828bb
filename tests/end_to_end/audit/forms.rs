//! One log in every form that people have it in gives the same checks.

use super::Place;
use serde_json::{Value, json};

/// tests/fixtures/formats/make.py says what these are and what wrote them.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/formats");

/// The checks of a log, without the places of rows.
fn checks(place: &Place, args: &[&str]) -> Value {
    let (mut audit, _) = place.json(args);
    assert_eq!(audit["inputs"][0]["rows"], 60, "{args:?}");
    assert_eq!(
        audit["rejected"]["count"], 0,
        "{args:?}: {}",
        audit["rejected"]
    );
    audit["checks"].take()
}

#[cfg(feature = "parquet")]
#[test]
fn tables_of_every_form_hold_the_rows_of_the_csv_file() {
    let place = Place::new();
    for (start, count) in [("many", 14), ("binary", 8)] {
        let want = checks(&place, &[&format!("{FOLDER}/{start}.csv")]);
        let mut seen = 0;
        for entry in std::fs::read_dir(FOLDER).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.starts_with(start) && !name.ends_with(".csv") {
                seen += 1;
                assert_eq!(
                    checks(&place, &[&format!("{FOLDER}/{name}")]),
                    want,
                    "{name}"
                );
            }
        }
        assert_eq!(seen, count, "{start}");
    }
}

/// The rows of a CSV file.
fn rows(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap();
    let cut = |line: &str| line.split(',').map(str::to_string).collect();
    text.lines().skip(1).map(cut).collect()
}

fn number(text: &str) -> Value {
    json!(text.parse::<f64>().unwrap())
}

#[test]
fn texts_of_every_form_hold_the_rows_of_the_csv_file() {
    let place = Place::new();
    let want = checks(&place, &[&format!("{FOLDER}/many.csv")]);
    let rows = rows("many.csv");
    let each = |make: &dyn Fn(&[String]) -> Value| -> Vec<Value> {
        rows.iter().map(|row| make(row)).collect()
    };
    let lines = |rows: &[Value]| {
        rows.iter()
            .map(|row| format!("{row}\n"))
            .collect::<String>()
    };
    let list = |row: &[String]| json!([number(&row[1]), number(&row[2]), number(&row[3])]);
    let plain = each(&|row| json!({"y_true": number(&row[0]), "distribution": list(row)}));
    let flat = each(
        &|row| json!({"target": row[0], "prob_0": number(&row[1]), "prob_1": number(&row[2]), "prob_2": number(&row[3])}),
    );
    let keyed = each(&|row| {
        let numbers = json!({"2": number(&row[3]), "0": number(&row[1]), "1": number(&row[2])});
        json!({"y": number(&row[0]), "odd": numbers})
    });
    place.write("list.jsonl", lines(&plain));
    place.write("flat.ndjson", lines(&flat));
    place.write("list.json", json!(plain).to_string());
    place.write(
        "pretty.json",
        serde_json::to_string_pretty(&json!(flat)).unwrap(),
    );
    place.write("keyed.txt", lines(&keyed));
    for file in ["list.jsonl", "flat.ndjson", "list.json", "pretty.json"] {
        assert_eq!(checks(&place, &[file]), want, "{file}");
    }
    assert_eq!(
        checks(
            &place,
            &["keyed.txt", "--probs", "odd", "--classes", "0,1,2"]
        ),
        want
    );
    // Other separators, a decimal comma, lists in a column, other names.
    let csv = std::fs::read_to_string(format!("{FOLDER}/many.csv")).unwrap();
    place.write("tabs.tsv", csv.replace(',', "\t"));
    place.write("bars", csv.replace(',', "|"));
    let german = csv.replace(',', ";").replace('.', ",");
    place.write("german.csv", german.replace('\n', "\r\n"));
    let column =
        |row: &Vec<String>| format!("{},\"[{}, {}, {}]\"\n", row[0], row[1], row[2], row[3]);
    let column = rows.iter().map(column).collect::<String>();
    place.write("column.csv", format!("label,probs\n{column}"));
    // What pandas writes of lists of NumPy's numbers, and of dictionaries.
    let typed = |row: &Vec<String>| {
        let (a, b, c) = (&row[1], &row[2], &row[3]);
        format!(
            "{},\"[np.float64({a}), np.float64({b}), np.float64({c})]\"\n",
            row[0]
        )
    };
    let dictionary = |row: &Vec<String>| {
        let (a, b, c) = (&row[1], &row[2], &row[3]);
        format!("{},\"{{'0': {a}, '1': {b}, '2': {c}}}\"\n", row[0])
    };
    let typed = rows.iter().map(typed).collect::<String>();
    let dictionary = rows.iter().map(dictionary).collect::<String>();
    place.write("typed.csv", format!("label,probs\n{typed}"));
    place.write("dictionary.csv", format!("label,probs\n{dictionary}"));
    for file in [
        "tabs.tsv",
        "bars",
        "german.csv",
        "column.csv",
        "typed.csv",
        "dictionary.csv",
    ] {
        assert_eq!(checks(&place, &[file]), want, "{file}");
    }
    // Names of classes that nothing in the log names: the option that does.
    for (name, log, option) in [
        (
            "columns.csv",
            "label,0,1\nill,0.25,0.75\n",
            "--classes names them, in the order",
        ),
        (
            "lists.jsonl",
            "{\"label\":\"ill\",\"probs\":[0.25,0.75]}",
            "name them with --classes",
        ),
        (
            "one.csv",
            "label,y_prob\nill,0.75\n",
            "--positive names the class",
        ),
    ] {
        place.write(name, log);
        place.refuses(&[name], option);
    }
    // An array of NumPy that goes over several lines: most of its rows would be those that do not.
    let broken = "label,probs\n".to_string() + &"1,\"[0.25\n 0.75]\"\n".repeat(8) + "1,[0 1]\n";
    place.write("broken.csv", broken);
    let (audit, code) = place.json(&["broken.csv"]);
    let accuracy = &super::check(&audit, "accuracy")["value"];
    assert_eq!((accuracy, code), (&Value::Null, 1));
    let first = audit["rejected"]["first"][0]["message"].as_str().unwrap();
    assert!(first.contains("Parquet and JSON lines"), "{first}");
    place.write("odd.csv", csv.replacen("label,0,1,2", "what,x0,x1,x2", 1));
    for probs in ["x0,x1,x2", "x*", "x0..x2", "x0..2"] {
        let args = [
            "odd.csv",
            "--label",
            "what",
            "--probs",
            probs,
            "--classes",
            "0,1,2",
        ];
        assert_eq!(checks(&place, &args), want, "{probs}");
    }
    place.refuses(
        &["odd.csv", "--label", "what"],
        "the columns are what, x0, x1, x2",
    );
    place.refuses(&["odd.csv", "--probs", "y*"], "there is no column y*");
    place.refuses(&["odd.csv", "--probs", "x*"], "name it with --label");
}

#[cfg(feature = "parquet")]
#[test]
fn compressed_logs_and_streams_are_read() {
    use std::io::Write;
    let place = Place::new();
    let csv = std::fs::read(format!("{FOLDER}/binary.csv")).unwrap();
    let want = checks(&place, &[&format!("{FOLDER}/binary.csv")]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&csv).unwrap();
    place.write("log.csv.gz", gzip.finish().unwrap());
    place.write("log.zst", zstd::bulk::compress(&csv, 1).unwrap());
    for file in ["log.csv.gz", "log.zst"] {
        assert_eq!(checks(&place, &[file]), want, "{file}");
        let limited = [file, "--max", "unpacked-bytes=100"];
        place.refuses(&limited, "more than 100 bytes of a compressed log");
    }
    let cut = std::fs::read(place.path("log.csv.gz")).unwrap();
    place.write("cut.csv.gz", &cut[..cut.len() / 2]);
    place.refuses(&["cut.csv.gz"], "cannot be read");
    let stream = std::fs::File::open(format!("{FOLDER}/binary.arrows")).unwrap();
    let output = place
        .command(&["-", "--format", "json"])
        .stdin(stream)
        .output()
        .unwrap();
    let audit: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(audit["checks"], want);
}

/// No byte of an Arrow file does harm, wherever it is changed or cut.
#[cfg(feature = "parquet")]
#[test]
fn damaged_arrow_files_are_an_error_or_other_rows() {
    use lpf::log::{Format, Kind, LogBatch, LogReader};
    for name in ["many_list.feather", "many_large.arrows", "binary.arrows"] {
        let whole = std::fs::read(format!("{FOLDER}/{name}")).unwrap();
        let read = |bytes: &[u8]| -> Result<usize, lpf::log::LogError> {
            let mut reader = LogReader::new(bytes, &Format::of(Kind::Arrow))?;
            let mut batch = LogBatch::default();
            let mut rows = 0;
            while reader.fill(&mut batch)? {
                for row in 0..batch.len() {
                    rows += usize::from(batch.row(row).prediction.is_ok());
                }
            }
            Ok(rows)
        };
        assert_eq!(read(&whole).unwrap(), 60, "{name}");
        for at in (0..whole.len()).step_by(3) {
            let _ = read(&whole[..at]);
            let mut bytes = whole.clone();
            bytes[at] ^= 0x81;
            if let Err(error) = read(&bytes) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}
