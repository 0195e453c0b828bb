//! Every reader from the command line, with inputs of the fuzz corpora changed in places.
//!
//! Seeded: the same inputs in every run. `LPF_HOSTILE` sets their number, for hours on request. How many were
//! read and what they took is left in `target/lpf/hostile.md`. A new format is a folder of the corpora and a
//! line here.

use std::path::{Path, PathBuf};

use super::{LOG, MOST_MEMORY, Place, RECORD, model};

/// A map for two classes.
pub(super) const MAP: &str = r#"{"format":"lpf-calibration","version":2,"classes":2,"names":null,"rows":9,"split":0.5,"seed":0,"sources":[],"map":{"least":0.001,"shape":{"temperature":1.5}}}"#;

/// A log as the states of monitors in the corpus are of: two classes with names, and sites.
const SITES: &str = "{\"label\":\"a\",\"probs\":{\"a\":0.75,\"b\":0.25},\"site\":\"north\"}\n";

/// Where the table of this test is left.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/lpf/hostile.md");

/// SplitMix64, whose next number depends on nothing but the last.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fuzz/corpus")
        .join(target);
    let files = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// One to three changes: a byte, a piece taken out or repeated often, an end, a number made large, a digit.
fn changed(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = dice.below(bytes.len());
        let length = 1 + dice.below(16.min(bytes.len() - at));
        match dice.below(10) {
            0 => bytes[at] = dice.below(256) as u8,
            1 => drop(bytes.drain(at..at + length)),
            2 => bytes.truncate(at),
            3 => {
                let piece = bytes[at..at + length].repeat(1 + dice.below(5000));
                drop(bytes.splice(at..at, piece));
            }
            4 => drop(bytes.splice(at..at, *b"999999999999")),
            5 => bytes[at..at + length].fill(0xff),
            // Another number where there was one: text that is still read.
            _ => {
                let digit = bytes[at..].iter().position(u8::is_ascii_digit);
                if let Some(digit) = digit {
                    bytes[at + digit] = b'0' + dice.below(10) as u8;
                }
            }
        }
    }
}

fn is_packing(end: &str) -> bool {
    matches!(end, "gz" | "zst")
}

/// Compressed as the end of a name says.
#[cfg(feature = "parquet")]
fn packed(bytes: &[u8], end: &str) -> Vec<u8> {
    use std::io::Write;
    match end {
        "gz" => {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(bytes).unwrap();
            gzip.finish().unwrap()
        }
        "zst" => zstd::bulk::compress(bytes, 1).unwrap(),
        _ => bytes.to_vec(),
    }
}

#[cfg(not(feature = "parquet"))]
fn packed(bytes: &[u8], _: &str) -> Vec<u8> {
    bytes.to_vec()
}

#[test]
fn no_input_of_any_format_breaks_the_promises() {
    let most = std::env::var("LPF_HOSTILE")
        .ok()
        .and_then(|n| n.parse().ok());
    let inputs: usize = most.unwrap_or(8);
    let model = model().to_str().unwrap();
    let place = Place::new();
    place.write("a.jsonl", RECORD);
    place.write("log.jsonl", LOG);
    place.write("map", MAP);
    place.write("sites.jsonl", SITES);
    let commands: [(&str, &str, &[&str]); 32] = [
        ("record", "x.jsonl", &["infer", "x.jsonl", "--explain"]),
        (
            "record",
            "x.jsonl",
            &["infer", "x.jsonl", "--model", model, "--method", "learned"],
        ),
        (
            "record",
            "x.jsonl",
            &[
                "train", "--data", "x.jsonl", "--epochs", "1", "--output", "out",
            ],
        ),
        (
            "json_log",
            "x.jsonl",
            &["audit", "x.jsonl", "--format", "html"],
        ),
        (
            "json_log",
            "x.jsonl",
            &[
                "calibrate",
                "x.jsonl",
                "--method",
                "histogram",
                "--output",
                "out",
            ],
        ),
        ("csv_log", "x.csv", &["audit", "x.csv", "--format", "sarif"]),
        ("parquet_log", "x.parquet", &["audit", "x.parquet"]),
        (
            "packed_log",
            "x.log",
            &["apply", "x.log", "--calibration", "map"],
        ),
        (
            "records",
            "proofs.json",
            &["claims", "L2", "--records", "."],
        ),
        (
            "state",
            "x.state",
            &["audit", "--merge", "x.state", "--format", "json"],
        ),
        ("model", "x", &["infer", "a.jsonl", "--model", "x"]),
        (
            "calibration_map",
            "x",
            &["infer", "a.jsonl", "--calibration", "x"],
        ),
        (
            "gate",
            "x.toml",
            &["audit", "log.jsonl", "--config", "x.toml"],
        ),
        ("json_log", "x.jsonl", &["monitor", "x.jsonl"]),
        (
            "json_log",
            "x.jsonl",
            &["apply", "x.jsonl", "--calibration", "map"],
        ),
        (
            "csv_log",
            "x.csv",
            &["apply", "x.csv", "--calibration", "map"],
        ),
        ("csv_log", "x.csv", &["monitor", "x.csv"]),
        (
            "parquet_log",
            "x.parquet",
            &[
                "calibrate",
                "x.parquet",
                "--method",
                "isotonic",
                "--output",
                "out",
            ],
        ),
        (
            "calibration_map",
            "x",
            &["apply", "log.jsonl", "--calibration", "x"],
        ),
        ("json_array", "x.json", &["audit", "x.json", "--by", "site"]),
        (
            "json_array",
            "x.json",
            &["apply", "x.json", "--calibration", "map", "--output", "out"],
        ),
        ("arrow_log", "x.arrow", &["audit", "x.arrow"]),
        (
            "arrow_log",
            "x.arrow",
            &[
                "calibrate",
                "x.arrow",
                "--method",
                "platt",
                "--output",
                "out",
            ],
        ),
        ("arrow_log", "x.arrow", &["monitor", "x.arrow"]),
        (
            "parquet_log",
            "x.parquet",
            &[
                "apply",
                "x.parquet",
                "--calibration",
                "map",
                "--output",
                "out.parquet",
            ],
        ),
        (
            "json_log",
            "x.jsonl.gz",
            &["audit", "x.jsonl.gz", "--partial", "out"],
        ),
        (
            "csv_log",
            "x.csv.zst",
            &[
                "apply",
                "x.csv.zst",
                "--calibration",
                "map",
                "--output",
                "out.csv.gz",
            ],
        ),
        (
            "state",
            "x.state",
            &[
                "audit",
                "log.jsonl",
                "--baseline",
                "x.state",
                "--output",
                "out",
            ],
        ),
        (
            "state",
            "x.state",
            &["audit", "--merge", "x.state", "--partial", "out"],
        ),
        (
            "monitor",
            "x",
            &[
                "monitor",
                "sites.jsonl",
                "--state",
                "x",
                "--by",
                "site",
                "--by-class",
                "--html",
                "out",
            ],
        ),
        (
            "model",
            "x",
            &[
                "infer",
                "a.jsonl",
                "--model",
                model,
                "--aggregator",
                "x",
                "--method",
                "learned",
            ],
        ),
        (
            "gate",
            "x.toml",
            &[
                "calibrate",
                "log.jsonl",
                "--config",
                "x.toml",
                "--method",
                "isotonic",
                "--output",
                "out",
            ],
        ),
    ];
    let mut dice = Dice(1);
    let (mut tried, mut accepted) = (0, 0);
    let mut table = "| command | changed inputs of | tried | read to the end | most MiB |\n|---|---|---|---|---|\n".to_string();
    for (target, name, args) in commands {
        let packing = name.rsplit_once('.').map_or("", |(_, end)| end);
        let in_parquet =
            matches!(target, "parquet_log" | "arrow_log" | "packed_log") || is_packing(packing);
        if cfg!(not(feature = "parquet")) && in_parquet {
            continue;
        }
        let corpus = corpus(target);
        let (mut peak, before) = (0, accepted);
        for _ in 0..inputs {
            let mut bytes = std::fs::read(&corpus[dice.below(corpus.len())]).unwrap();
            if is_packing(packing) && dice.below(4) == 0 {
                bytes = packed(&bytes, packing);
                changed(&mut bytes, &mut dice);
            } else {
                changed(&mut bytes, &mut dice);
                bytes = packed(&bytes, packing);
            }
            place.write(name, &bytes);
            let ended = place.run(args);
            tried += 1;
            accepted += u32::from(ended.code != Some(2));
            peak = peak.max(ended.peak);
            let report = || {
                let kept = std::env::temp_dir().join(format!("lpf-hostile-{target}"));
                std::fs::write(&kept, &bytes).unwrap();
                format!(
                    "{args:?} on {}: {:?} {}",
                    kept.display(),
                    ended.code,
                    ended.err
                )
            };
            assert!(matches!(ended.code, Some(0..=2)), "{}", report());
            assert!(!ended.err.contains("panicked"), "{}", report());
            assert!(ended.peak < MOST_MEMORY, "{} KiB: {}", ended.peak, report());
            assert!(ended.err.len() < 4096, "{}", report());
            assert!(!ended.err.contains('\u{1b}'), "{}", report());
            let left: Vec<String> = place
                .names()
                .into_iter()
                .filter(|name| name.ends_with(".tmp"))
                .collect();
            assert!(left.is_empty(), "{left:?}: {}", report());
        }
        let (command, read) = (args[0], accepted - before);
        table += &format!(
            "| {command} | {target} | {inputs} | {read} | {} |\n",
            peak >> 10
        );
    }
    // For a person to read; nothing depends on it.
    let _ = std::fs::create_dir_all(Path::new(TABLE).parent().unwrap());
    std::fs::write(TABLE, table).unwrap();
    // Inputs that all fail at the first byte would show nothing.
    assert!(
        accepted > tried / 20,
        "{accepted} of {tried} were read to their end"
    );
}
