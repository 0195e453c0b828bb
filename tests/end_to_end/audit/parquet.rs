//! Parquet files of several programs give the report of the same rows as CSV, and no bytes do harm.

use std::io::Cursor;

use lpf::log::{Fields, TableBatch, TableError, TableReader};
use serde_json::{Value, json};

use super::{Place, check};

/// tests/fixtures/parquet/make.py says what these are and what wrote them.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/parquet");

fn fixture(name: &str) -> String {
    format!("{FIXTURES}/{name}")
}

/// A report without what must differ: the names and digests of files, and the header line that CSV
/// has before its rows.
fn rows_of(mut audit: Value, lines_before: u64) -> Value {
    audit["inputs"] = Value::Null;
    let stripped = |row: &mut Value| {
        row["file"] = Value::Null;
        row["line"] = json!(row["line"].as_u64().unwrap() - lines_before);
    };
    let rejected = audit["rejected"]["first"].as_array_mut().unwrap();
    assert_eq!(rejected.len(), 5);
    rejected.iter_mut().for_each(stripped);
    for check in audit["checks"].as_array_mut().unwrap() {
        let worst = check["worst"].as_array_mut();
        worst.into_iter().flatten().for_each(stripped);
    }
    audit
}

#[test]
fn every_program_writes_the_rows_of_the_csv_file() {
    let place = Place::new();
    let csv = |name: &str| rows_of(place.json(&[&fixture(name)]).0, 1);
    let log = csv("log.csv");
    assert_eq!(check(&log, "accuracy")["n"], 55);
    for name in [
        "pyarrow",
        "pyarrow_groups",
        "pyarrow_pages_v2",
        "pyarrow_split",
        "pyarrow_nested",
        "polars",
        "duckdb",
        "fastparquet",
        "spark",
    ] {
        let (found, _) = place.json(&[&fixture(&format!("{name}.parquet"))]);
        assert_eq!(found["inputs"][0]["rows"], 60, "{name}");
        assert_eq!(rows_of(found, 0), log, "{name}");
    }
    // Labels that are whole numbers, names above 2^63, probabilities of single precision.
    let (numbers, _) = place.json(&[&fixture("numbers.parquet")]);
    assert_eq!(rows_of(numbers, 0), csv("numbers.csv"));
}

#[test]
fn threads_and_shards_change_nothing() {
    let place = Place::new();
    let files = ["pyarrow_groups.parquet", "duckdb.parquet"].map(fixture);
    let [a, b] = files.each_ref().map(String::as_str);
    let one = place.run(&[a, b, "--threads", "1"]).stdout;
    assert!(!one.is_empty());
    assert_eq!(place.run(&[b, a, "--threads", "3"]).stdout, one);
    for (file, state) in [(a, "a.state"), (b, "b.state")] {
        let output = place.run(&[file, "--partial", state]);
        assert_eq!(output.status.code(), Some(0));
    }
    assert_eq!(place.run(&["--merge", "b.state", "a.state"]).stdout, one);
    // Parquet and CSV parts of one log, a baseline among them.
    let csv = fixture("log.csv");
    let (both, _) = place.json(&[a, &csv, "--baseline", b]);
    assert_eq!(check(&both, "accuracy")["n"], 110);
    assert_eq!(check(&both, "drift_accuracy")["value"], 0.0);
}

#[test]
fn what_cannot_be_read_is_said() {
    let place = Place::new();
    let log = fixture("pyarrow.parquet");
    let whole = std::fs::read(&log).unwrap();
    place.write("cut.parquet", &whole[..whole.len() / 2]);
    place.write("text.parquet", "label,p_a\nx,1\n");
    place.write("empty.parquet", "");
    place.write("renamed.data", &whole);
    // Of the codecs only LZO is not read, which next to nothing writes.
    let (gzip, _) = place.json(&[&fixture("gzip.parquet")]);
    assert_eq!(check(&gzip, "accuracy")["n"], 55);
    let delta = "column label: encoding DELTA_LENGTH_BYTE_ARRAY is not supported";
    place.refuses(&[&fixture("delta.parquet")], delta);
    place.refuses(&["cut.parquet"], "cut.parquet: not a complete Parquet file");
    place.refuses(&["text.parquet"], "does not end with PAR1");
    place.refuses(&["empty.parquet"], "it is too short");
    place.refuses(&["."], "cannot be read");
    place.refuses(&["-", "--input-format", "parquet"], "from a stream");
    place.refuses(&[&log, "--label-column", "x"], "there is no column x");
    let text = "column label: it must hold numbers";
    place.refuses(&[&log, "--prob-columns", "label,entity"], text);
    let (wrong, code) = place.json(&[&log, "--label", "prob_low"]);
    let first = wrong["rejected"]["first"][0]["message"].as_str().unwrap();
    assert!(first.contains("(regression)") && code == 1, "{first}");
    let nested = fixture("pyarrow_nested.parquet");
    let time = "column time: it must hold text, numbers or truth values";
    place.refuses(&[&nested, "--label-column", "time"], time);
    place.refuses(&[&nested, "--label", "factors"], "factors");
    place.refuses(&[&log, "--classes", "a,b"], "2 classes are given");
    let (by_option, _) = place.json(&["renamed.data", "--input-format", "parquet"]);
    assert_eq!(check(&by_option, "accuracy")["n"], 55);
}

#[test]
fn a_map_is_fitted_on_the_same_rows_as_from_csv() {
    let place = Place::new();
    let calibrate = |file: &str, map: &str| {
        let mut command = place.calibrate();
        command.args([&fixture(file), "--method", "temperature", "--output", map]);
        command.output().unwrap()
    };
    let maps = ["usable.csv", "usable.parquet"].map(|file| {
        let output = calibrate(file, "cal.json");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let map = std::fs::read(place.path("cal.json")).unwrap();
        let mut map: Value = serde_json::from_slice(&map).unwrap();
        // All but the digests of the files that were fitted on.
        let sources = map.as_object_mut().unwrap().remove("sources");
        assert_eq!(sources.unwrap().as_array().unwrap().len(), 1);
        (map, output.stdout)
    });
    assert_eq!(maps[0], maps[1]);
    let map = &maps[0].0;
    assert_eq!(map["names"], json!(["low", "medium", "high"]));
    // A row that cannot be used ends the fitting. The header is a line of the one file only.
    for (file, line) in [("log.csv", 5), ("pyarrow_groups.parquet", 4)] {
        let output = calibrate(file, "none.json");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("{file}:{line}: label: ")), "{said}");
        assert!(!place.path("none.json").exists());
    }
}

/// Reads all rows of what is perhaps no Parquet file: whether that was possible.
fn readable(bytes: Vec<u8>) -> bool {
    let read = || -> Result<(), TableError> {
        let mut reader = TableReader::new(Cursor::new(bytes), &Fields::default())?;
        let mut batch = TableBatch::default();
        while reader.fill(&mut batch)? {
            for row in 0..batch.len() {
                // A name that is not UTF-8 is a fault of its row.
                let _ = batch.prediction(row);
            }
        }
        Ok(())
    };
    match read() {
        Ok(()) => true,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

#[test]
fn no_changed_byte_and_no_cut_does_harm() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/corpus/parquet_log");
    for entry in std::fs::read_dir(folder).unwrap() {
        let whole = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(readable(whole.clone()));
        for length in 0..whole.len() {
            assert!(!readable(whole[..length].to_vec()), "{length}");
        }
        for at in 0..whole.len() {
            for change in [0x01, 0x02, 0x10, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                readable(bytes);
            }
        }
    }
}
