//! Inputs that are large, deep, wide or packed: every command that reads them, and the memory it takes.
//!
//! The table is left in `target/lpf/memory.md`, a row an input and a column a command.

use std::fs::File;
use std::path::Path;

use super::{MOST_MEMORY, Place};
use crate::reliability::hostile::MAP;

/// Where the table of this test is left.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/lpf/memory.md");

/// What every log goes into, and what every file of records does.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("audit", &["--format", "html"]),
    ("calibrate", &["--method", "auto", "--output", "out"]),
    ("apply", &["--calibration", "map"]),
    ("monitor", &["--html", "out"]),
    ("infer", &["--explain"]),
    ("train --data", &["--epochs", "1", "--output", "out"]),
];

fn repeated(head: &str, piece: &str, times: usize, tail: &str) -> Vec<u8> {
    [head, &piece.repeat(times), tail].concat().into_bytes()
}

/// Files by name; the name says what is in them.
fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    const MILLION: usize = 1_000_000;
    let row = "{\"label\":0,\"probs\":[0.75,0.25],\"entity\":\"a\",\"evidence\":[{\"factor\":[0.75,0.25]}]";
    let columns = |head: &str, cell: &str| {
        let names: String = (0..100_000).map(|i| format!(",{head}{i}")).collect();
        let line = format!("a,0.75,0.25{}\n", cell.repeat(100_000));
        format!("label,p_a,p_b{names}\n{}", line.repeat(8)).into_bytes()
    };
    let keys: String = (0..100_000).map(|i| format!(",\"k{i}\":{i}")).collect();
    let named = |i: usize| {
        let label = i % 2;
        format!(
            "{{\"entity\":\"e{i}\",\"label\":{label},\"probs\":[0.75,0.25],\"site\":\"s{i}\",\"evidence\":[{{\"factor\":[0.75,0.25]}}]}}\n"
        )
    };
    let rows: String = (0..60_000).map(named).collect();
    vec![
        (
            "digits-of-a-number.jsonl",
            repeated("{\"label\":0,\"probs\":[0.", "7", MILLION, ",0.25]}\n"),
        ),
        (
            "digits-of-a-power.csv",
            repeated("label,p_a,p_b\na,1e-", "9", MILLION, ",0.25\n"),
        ),
        (
            "digits-of-an-item.jsonl",
            repeated(
                "{\"entity\":\"a\",\"evidence\":[{\"factor\":[0.",
                "7",
                MILLION,
                ",0.25]}]}\n",
            ),
        ),
        ("open-lists.jsonl", repeated("", "[", MILLION, "\n")),
        (
            "open-objects.jsonl",
            repeated("", "{\"evidence\":[", MILLION / 10, "\n"),
        ),
        (
            "deep-field.jsonl",
            repeated(
                &format!("{row},\"x\":"),
                "[",
                MILLION,
                &("]".repeat(MILLION) + "}\n"),
            ),
        ),
        ("deep.json", repeated("", "[", MILLION, "")),
        ("elements.json", repeated("[null", ",[]", MILLION, "]")),
        ("blank-lines.jsonl", repeated("", "\n", 10 * MILLION, "")),
        ("spaces.jsonl", repeated("", " ", 10 * MILLION, "")),
        (
            "zeros.csv",
            repeated("label,p_a,p_b\n", "\0", 10 * MILLION, ""),
        ),
        (
            "open-quote.csv",
            repeated("label,p_a,p_b\n\"", "a", 10 * MILLION, ""),
        ),
        (
            "quotes.csv",
            repeated("label,p_a,p_b\n", "\"", 10 * MILLION, ""),
        ),
        (
            "separators.csv",
            repeated("label,p_a,p_b\n", &(",".repeat(999) + "\n"), 5000, ""),
        ),
        ("columns-of-classes.csv", columns("p_", ",1e-7")),
        ("other-columns.csv", columns("x", ",1e-7")),
        (
            "fields.jsonl",
            repeated("", &format!("{row}{keys}}}\n"), 8, ""),
        ),
        (
            "a-field-often.jsonl",
            repeated("{", "\"label\":0,", MILLION, "\"probs\":[0.75,0.25]}\n"),
        ),
        (
            "classes.jsonl",
            repeated("{\"label\":0,\"probs\":[0.5", ",0.00001", 50_000, "]}\n").repeat(8),
        ),
        ("names.jsonl", rows.into_bytes()),
        ("empty.jsonl", Vec::new()),
        ("empty.parquet", Vec::new()),
        ("empty.arrow", Vec::new()),
    ]
}

#[cfg(feature = "parquet")]
fn packed() -> Vec<(&'static str, Vec<u8>)> {
    use std::io::Write;
    let gzip = |bytes: &[u8], times: usize| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap().repeat(times)
    };
    let zstd = |bytes: &[u8]| {
        // The widest window that is unpacked.
        let mut zstd = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
        zstd.window_log(27).unwrap();
        for _ in 0..9 {
            zstd.write_all(bytes).unwrap();
        }
        zstd.finish().unwrap()
    };
    let million = vec![b' '; 16 << 20];
    let row = b"{\"label\":0,\"probs\":[0.75,0.25],\"entity\":\"a\",\"evidence\":[]}\n";
    let rows = row.repeat(20_000);
    vec![
        // Four gibibytes of spaces in four megabytes, and a gzip file in a gzip file.
        ("line.jsonl.gz", gzip(&million, 256)),
        ("twice.jsonl.gz", gzip(&gzip(&rows, 4), 1)),
        ("window.jsonl.zst", zstd(&million)),
        ("rows.jsonl.zst", zstd(&rows)),
        ("nothing.csv.gz", gzip(b"", 100_000)),
    ]
}

#[cfg(not(feature = "parquet"))]
fn packed() -> Vec<(&'static str, Vec<u8>)> {
    Vec::new()
}

#[test]
fn large_inputs_take_little_memory_in_every_command() {
    let place = Place::new();
    place.write("map", MAP);
    for kind in ["jsonl", "json", "csv", "parquet", "arrow"] {
        // Four gibibytes that the disk does not hold.
        let file = File::create(place.path(&format!("hole.{kind}"))).unwrap();
        file.set_len(4 << 30).unwrap();
    }
    let mut names: Vec<String> = place.names();
    names.retain(|name| name.starts_with("hole"));
    for (name, bytes) in inputs().into_iter().chain(packed()) {
        place.write(name, bytes);
        names.push(name.to_string());
    }
    let heads: Vec<&str> = COMMANDS.iter().map(|(command, _)| *command).collect();
    let mut table = format!(
        "| MiB | {} |\n|---{}|\n",
        heads.join(" | "),
        "|---".repeat(6)
    );
    let (mut highest, mut runs, mut read) = (0, 0, 0);
    for name in &names {
        table += &format!("| {name} ");
        for (command, options) in COMMANDS {
            let is_records = !name.contains(".csv") && !name.contains(".parquet");
            if !is_records && matches!(command, "infer" | "train --data") {
                table += "| ";
                continue;
            }
            let mut args: Vec<&str> = command.split(' ').collect();
            args.push(name);
            args.extend(options);
            let ended = place.run(&args);
            let report = || format!("{args:?}: {:?} {}", ended.code, ended.err);
            assert!(matches!(ended.code, Some(0..=2)), "{}", report());
            assert!(ended.err.len() < 4096, "{}", report());
            assert_eq!(
                ended.code == Some(2),
                ended.err.contains("error: "),
                "{}",
                report()
            );
            // A message names what is read.
            let of_file = ended.code != Some(2) || ended.err.contains(name.as_str());
            assert!(of_file, "{}", report());
            assert!(ended.peak < MOST_MEMORY, "{} KiB: {}", ended.peak, report());
            let tail = |name: &String| name.ends_with(".tmp");
            assert!(!place.names().iter().any(tail), "{}", report());
            highest = highest.max(ended.peak);
            runs += 1;
            read += u32::from(ended.code != Some(2));
            table += &format!("| {} ", ended.peak >> 10);
        }
        table += "|\n";
    }
    // A record of runs, nearly as large as one that is read: the only other thing that comes from outside in bulk.
    let harness =
        r#"{"name":"x","claims":["L2"],"cargo_test":{"outcome":"p"},"kani":{"verdict":"v"}}"#;
    let harnesses = vec![harness; (15 << 20) / (harness.len() + 1)].join(",");
    let record = format!("{{\"unix_time\":1,\"all_hold\":true,\"harnesses\":[{harnesses}]}}");
    place.write("proofs.json", record);
    let ended = place.run(&["claims", "L2", "--records", "."]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.out.len() > 1 << 20, "the record was not read");
    assert!(ended.peak < MOST_MEMORY, "{} KiB", ended.peak);
    table += &format!(
        "\n`claims --records` with 15 MiB: {} MiB.\n",
        ended.peak >> 10
    );
    table += &format!(
        "\n{runs} runs, {read} to the end; at most {} MiB.\n",
        highest >> 10
    );
    // For a person to read; nothing depends on it.
    let _ = std::fs::create_dir_all(Path::new(TABLE).parent().unwrap());
    std::fs::write(TABLE, table).unwrap();
    // Inputs that are all refused would show little.
    assert!(read > runs / 10, "{read} of {runs} were read to their end");
}
