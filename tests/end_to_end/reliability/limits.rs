//! Every size that comes from outside: too large is exit code 2 and the name of the limit.

use super::{LOG, Place, RECORD, model};

/// A line of evidence that is given as `item` so many times.
fn items(item: &str, count: usize) -> String {
    let list = vec![item; count].join(",");
    format!("{{\"entity\":\"a\",\"label\":0,\"evidence\":[{list}]}}\n")
}

#[test]
fn one_line_takes_little_memory_whatever_it_holds() {
    let place = Place::new();
    // Some megabytes each; lines of 64 MiB are in `infer::streams`.
    let lines = [
        ("items.jsonl", items("{}", 4_000_000), "the limit items"),
        (
            "values.jsonl",
            items(&format!("{{\"factor\":[{}0]}}", "0,".repeat(60_000)), 500),
            "the limit values",
        ),
        (
            "factor.jsonl",
            items(&format!("{{\"factor\":[{}0]}}", "0,".repeat(4_000_000)), 1),
            "the limit classes",
        ),
        (
            "rows.jsonl",
            items(&format!("{{\"cov\":[{}[]]}}", "[],".repeat(2_000_000)), 1),
            "the limit covariance",
        ),
        (
            "name.jsonl",
            format!("{{\"entity\":\"{}\",\"evidence\":[]}}", "x".repeat(4 << 20)),
            "the limit name-bytes",
        ),
        (
            "label.jsonl",
            format!(
                "{{\"entity\":\"a\",\"label\":\"{}\",\"evidence\":[{{\"factor\":[1,0]}}]}}",
                "x".repeat(4 << 20)
            ),
            "the limit name-bytes",
        ),
    ];
    for (name, line, limit) in lines {
        place.write(name, line);
        let err = place.refused(&["infer", name]);
        assert!(err.contains(limit) && err.contains(name), "{name}: {err}");
        let err = place.refused(&["audit", name]);
        assert!(err.contains(limit) && err.contains(name), "{name}: {err}");
    }
}

#[test]
fn limits_are_listed_and_set() {
    let place = Place::new();
    place.write("two.jsonl", items(r#"{"factor":[0.5,0.5]}"#, 2));
    let err = place.refused(&["infer", "two.jsonl", "--max", "items=1"]);
    assert_eq!(
        err,
        "error: two.jsonl:1: evidence: more than 1 items in one record, the limit items; --max items=N allows more\n"
    );
    assert_eq!(
        place.run(&["infer", "two.jsonl", "--max", "items=2"]).code,
        Some(0)
    );
    // More threads than a machine can run at once only take memory and time from each other.
    assert_eq!(
        place.refused(&["infer", "two.jsonl", "--threads", "1025"]),
        "error: --threads: more than 1024 threads, the limit threads; --max threads=N allows more\n"
    );
    let listed = String::from_utf8(place.run(&["limits", "--max", "items=7"]).out).unwrap();
    for kind in lpf::log::Limits::ALL {
        assert!(listed.contains(kind.name), "{}", kind.name);
    }
    let set = |line: &str| line.contains(" 7 ") && line.ends_with("items in one record");
    assert!(listed.lines().any(set), "{listed}");
    let err = place.refused(&["infer", "two.jsonl", "--max", "itmes=2"]);
    assert!(err.contains("no limit is called \"itmes\""), "{err}");
    let err = place.refused(&["infer", "two.jsonl", "--max", "items"]);
    assert!(err.contains("write LIMIT=N"), "{err}");
}

#[test]
fn settings_are_within_limits_before_anything_is_made() {
    let place = Place::new();
    place.write("a.jsonl", RECORD);
    for hidden in ["100000", "3000000000", "4294967295"] {
        let err = place.refused(&["train", "--hidden", hidden, "--output", "m"]);
        assert!(
            err.starts_with("error: --hidden: more than 4096 hidden units"),
            "{err}"
        );
    }
    let err = place.refused(&["train", "--entities", "99999999999", "--output", "m"]);
    assert!(err.contains("the limit entities"), "{err}");
    let path = model().to_str().unwrap();
    for command in ["infer", "audit"] {
        let args = [
            command,
            "a.jsonl",
            "--model",
            path,
            "--samples",
            "1000000000",
        ];
        let err = place.refused(&args);
        assert!(err.contains("--samples: more than 1048576"), "{err}");
    }
    assert_eq!(place.names(), ["a.jsonl"]);
}

#[test]
fn work_is_bounded_before_it_is_done() {
    let place = Place::new();
    let path = model().to_str().unwrap();
    let zeros = vec!["0"; 64].join(",");
    let many = items(&format!("{{\"embedding\":[{zeros}]}}"), 5000);
    place.write("many.jsonl", many);
    let learned = [
        "infer",
        "many.jsonl",
        "--model",
        path,
        "--method",
        "learned",
    ];
    let err = place.refused(&learned);
    assert!(err.contains("the limit learned-items"), "{err}");
    let few = items(&format!("{{\"embedding\":[{zeros}]}}"), 300);
    place.write("many.jsonl", few);
    let err = place.refused(&[&learned[..], &["--explain"]].concat());
    assert!(
        err.contains("300 items; with learned aggregation, influence"),
        "{err}"
    );
    let row = format!("[{}]", vec!["0"; 2000].join(","));
    let cov = format!(
        "{{\"factor\":[1,0],\"mu\":{row},\"cov\":[{}]}}",
        vec![&*row; 2000].join(",")
    );
    place.write("cov.jsonl", items(&cov, 1));
    let err = place.refused(&["infer", "cov.jsonl"]);
    assert!(err.contains("the limit covariance"), "{err}");
}

#[test]
fn headers_and_states_are_bounded_before_they_are_read() {
    let place = Place::new();
    place.write("a.jsonl", RECORD);
    place.write("log.jsonl", LOG);
    // The length of a header of 93 MB, and one that is there.
    let header = format!(
        "{{{}\"z\":{{}}}}",
        "\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,0]},".repeat(1_700_000)
    );
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    place.write("model", file);
    let err = place.refused(&["infer", "a.jsonl", "--model", "model"]);
    assert!(
        err.contains("model: more than 1048576 bytes in the header"),
        "{err}"
    );
    // A model that never ends.
    let err = place.refused(&["infer", "a.jsonl", "--model", "/dev/zero"]);
    assert!(err.contains("the limit model-bytes"), "{err}");
    let err = place.refused(&["infer", "a.jsonl", "--calibration", "/dev/zero"]);
    assert!(err.contains("the limit map-bytes"), "{err}");
    let err = place.refused(&["audit", "--merge", "/dev/zero"]);
    assert!(err.contains("the limit state-bytes"), "{err}");
    // A state as large as is read, of empty names.
    assert_eq!(
        place.run(&["audit", "log.jsonl", "--partial", "s"]).code,
        Some(0)
    );
    let state = String::from_utf8(place.read("s")).unwrap();
    let names = "\"\",".repeat((60 << 20) / 3);
    let long = state.replacen("\"classes\":[", &format!("\"classes\":[{names}"), 1);
    place.write("long.state", long);
    let err = place.refused(&["audit", "--merge", "long.state"]);
    assert!(err.contains("too many classes"), "{err}");
}

/// A gate of as many limits as its size allows is refused at the first that is none.
#[test]
fn a_gate_of_many_limits_takes_no_long_time() {
    let place = Place::new();
    place.write("log.jsonl", LOG);
    let lines: String = (0..90_000).map(|i| format!("k{i}=1\n")).collect();
    place.write("lpf.toml", format!("[audit.limits]\n{lines}"));
    let start = std::time::Instant::now();
    let err = place.refused(&["audit", "log.jsonl", "--config", "lpf.toml"]);
    assert!(err.starts_with("error: lpf.toml:2: "), "{err}");
    // Looking for the line of each from the beginning took minutes.
    assert!(
        start.elapsed() < super::PATIENCE / 2,
        "{:?}",
        start.elapsed()
    );
}

#[cfg(feature = "parquet")]
mod parquet {
    use super::Place;
    use ::parquet::basic::Compression;
    use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    use ::parquet::file::properties::WriterProperties;
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    /// A number as the protocol writes it: seven bits a byte.
    fn varint(mut number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    }

    /// The same with a sign: 0, −1, 1, −2, … are 0, 1, 2, 3, …
    fn zigzag(number: i64) -> Vec<u8> {
        varint((number << 1 ^ number >> 63) as u64)
    }

    /// A description by hand: a chain of so many structs, no rows. The schema is field `id` of the type
    /// `kind`, and an element says that it has `children`.
    fn nested(depth: usize, id: i64, kind: u8, children: i64) -> Vec<u8> {
        // Version 1, then a list of structs.
        let mut footer = vec![0x15, 2, kind];
        footer.extend(zigzag(id));
        footer.push(0xfc);
        footer.extend(varint(depth as u64 + 1));
        for _ in 0..depth {
            // Field 3, optional; field 4, the name "a"; field 5, the children.
            footer.extend([0x35, 2, 0x18, 1, b'a', 0x15]);
            footer.extend(zigzag(children));
            footer.push(0);
        }
        // A double.
        footer.extend([0x15, 10, 0x25, 2, 0x18, 1, b'a', 0]);
        // Field 3: no rows; field 4: no groups.
        footer.extend([0x06, 6, 0, 0x19, 0x0c, 0]);
        let mut file = b"PAR1".to_vec();
        file.extend(&footer);
        file.extend((footer.len() as u32).to_le_bytes());
        file.extend(b"PAR1");
        file
    }

    const LIST: u8 = 9;
    const COMMANDS: [&[&str]; 2] = [
        &["audit"],
        &["calibrate", "--method", "isotonic", "--output", "m"],
    ];

    #[test]
    fn a_deep_schema_is_refused() {
        let place = Place::new();
        place.write("deep.parquet", nested(3000, 2, LIST, 1));
        place.write("flat.parquet", nested(60, 2, LIST, 1));
        for args in COMMANDS {
            let err = place.refused(&[args, &["deep.parquet"]].concat());
            assert!(err.contains("more than 64 levels of nesting"), "{err}");
            let err = place.refused(&[args, &["flat.parquet"]].concat());
            assert!(err.contains("no columns of probabilities"), "{err}");
        }
    }

    /// Readers differ in what they believe: the type of a field or its number, all bits of a number or the
    /// last ones. A schema that is deep for one and flat for another is refused.
    #[test]
    fn a_schema_that_is_deep_in_disguise_is_refused() {
        let place = Place::new();
        let disguised = [
            // A set and a struct instead of a list; the number 2 after 16 bits are cut off.
            nested(3000, 2, 10, 1),
            nested(3000, 2, 12, 1),
            nested(3000, (1 << 16) + 2, LIST, 1),
            // One child after 32 bits are cut off, and so many that room is made for them.
            nested(3000, 2, LIST, 1 - (1 << 32)),
            nested(3000, 2, LIST, i32::MAX.into()),
        ];
        for (index, file) in disguised.into_iter().enumerate() {
            place.write("deep.parquet", file);
            for args in COMMANDS {
                let err = place.refused(&[args, &["deep.parquet"]].concat());
                assert!(err.contains("deep.parquet: "), "{index}: {err}");
                assert!(!err.contains("overflow"), "{index}: {err}");
            }
        }
    }

    /// One label of so many bytes, in a dictionary, for all rows.
    fn bomb(bytes: usize, rows: usize) -> Vec<u8> {
        let schema =
            "message m { required binary label (UTF8); required double p_a; required double p_b; }";
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_page_size_limit(64 << 20)
            .set_statistics_enabled(::parquet::file::properties::EnabledStatistics::None)
            .build();
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut file = Vec::new();
        let mut writer =
            SerializedFileWriter::new(&mut file, schema, Arc::new(properties)).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let label = ByteArray::from(vec![b'x'; bytes]);
        let mut column = group.next_column().unwrap().unwrap();
        let texts = column.typed::<ByteArrayType>();
        for _ in 0..rows / 100 {
            texts
                .write_batch(&vec![label.clone(); 100], None, None)
                .unwrap();
        }
        column.close().unwrap();
        for p in [0.25, 0.75] {
            let mut column = group.next_column().unwrap().unwrap();
            let numbers = column.typed::<DoubleType>();
            numbers.write_batch(&vec![p; rows], None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        file
    }

    #[test]
    fn a_value_of_a_dictionary_is_held_once() {
        let place = Place::new();
        for rows in [100, 200] {
            let file = bomb(2 << 20, rows);
            // Snappy takes three bytes for 64 that repeat.
            assert!(file.len() < 120_000, "{} bytes", file.len());
            place.write("bomb.parquet", file);
            let calibrate = [
                "calibrate",
                "bomb.parquet",
                "--method",
                "isotonic",
                "--output",
                "m",
            ];
            for args in [&["audit", "bomb.parquet"][..], &calibrate] {
                let err = place.refused(args);
                assert!(err.contains("the limit name-bytes"), "{err}");
            }
        }
    }

    /// Texts are parts of their pages: of pages of a long text each, few are in memory at once.
    #[test]
    fn pages_of_long_texts_are_not_held_together() {
        let place = Place::new();
        let schema =
            "message m { required binary label (UTF8); required double p_a; required double p_b; }";
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_data_page_row_count_limit(1)
            .set_write_batch_size(1)
            .set_statistics_enabled(::parquet::file::properties::EnabledStatistics::None)
            .build();
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut file = Vec::new();
        let mut writer =
            SerializedFileWriter::new(&mut file, schema, Arc::new(properties)).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let rows = 20;
        let text = vec![ByteArray::from(vec![b'x'; 24 << 20])];
        let mut column = group.next_column().unwrap().unwrap();
        for _ in 0..rows {
            let texts = column.typed::<ByteArrayType>();
            texts.write_batch(&text, None, None).unwrap();
        }
        column.close().unwrap();
        for p in [0.25, 0.75] {
            let mut column = group.next_column().unwrap().unwrap();
            let numbers = column.typed::<DoubleType>();
            numbers.write_batch(&vec![p; rows], None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        assert!(file.len() < 32 << 20, "{} bytes", file.len());
        place.write("pages.parquet", file);
        for args in COMMANDS {
            // Together they are 480 MiB.
            let err = place.refused(&[args, &["pages.parquet", "--memory", "300M"]].concat());
            assert!(err.contains("the limit name-bytes"), "{err}");
        }
    }

    /// Small files that announce much: tests/fixtures/hostile/make.py says what is in them.
    #[test]
    fn arrow_files_are_bounded_before_they_are_decoded() {
        let place = Place::new();
        for (name, limit) in [
            ("rows", "the limit group-bytes"),
            ("deltas", "the limit group-bytes"),
            ("names", "the limit footer-bytes"),
        ] {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hostile");
            let path = format!("{folder}/{name}.arrows");
            for args in COMMANDS {
                let err = place.refused(&[args, &[&*path]].concat());
                assert!(err.contains(limit) && err.contains(name), "{err}");
            }
        }
    }

    #[test]
    fn a_device_is_no_parquet_file() {
        let place = Place::new();
        for device in ["/dev/zero", "/dev/null"] {
            let err = place.refused(&["audit", device, "--input-format", "parquet"]);
            assert!(
                err.contains("too short") || err.contains("cannot be read"),
                "{err}"
            );
        }
    }
}
