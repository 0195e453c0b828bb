use super::*;
use crate::log::{Fields, Format, Kind, LogReader, Tolerance};
use proptest::prelude::*;

/// Reads a log both ways: each row of the ordinary kind must be what [`LogBatch::row`] and its checks make
/// of it. Returns how many rows there were, and how many were of the ordinary kind.
fn both_ways(text: &[u8], format: &Format) -> (usize, usize) {
    let Ok(mut reader) = LogReader::new(text, format) else {
        return (0, 0);
    };
    let mut batch = LogBatch::default();
    let (mut all, mut plain) = (0, 0);
    while let Ok(true) = reader.fill(&mut batch) {
        let Ok(Some(classes)) = batch.classes(None, None) else {
            continue;
        };
        let rules = batch.rules(&classes, Tolerance::Digits, false);
        let Some(mut rows) = batch.plain(0..batch.len(), rules) else {
            continue;
        };
        for at in 0..batch.len() {
            all += 1;
            let mut numbers = vec![7.0];
            let Some(got) = rows.read(at, &mut numbers) else {
                assert_eq!(numbers, [7.0]);
                continue;
            };
            plain += 1;
            let row = batch.row(at);
            let set = crate::log::logged_set(row.line, &classes);
            assert!(matches!(set, Ok(None)), "{:?}", row.line);
            let checked = row.prediction.unwrap().check(rules, |row| row.posteriors());
            let want = checked.unwrap();
            assert_eq!(got.label, want.label.unwrap());
            assert_eq!(got.entity, want.id);
            assert_eq!(got.single, want.single);
            let bits = |p: &[f64]| p.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
            assert_eq!(bits(&numbers[1..]), bits(&want.answer.unwrap()));
            assert_eq!(want.tolerance, rules.tolerance.least());
            assert!(want.evidence.is_none() && want.items.is_empty() && want.samples.is_none());
            assert!(want.uncertainty.is_none());
        }
    }
    (all, plain)
}

fn of(kind: Kind, text: &str) -> (usize, usize) {
    let format = Format {
        kind: Some(kind),
        ..Format::default()
    };
    both_ways(text.as_bytes(), &format)
}

#[test]
fn ordinary_rows_are_read_in_place() {
    let csv = "id,note,label,p_a,p_b\n1,x,a,0.25,0.75\r\n,,b,1e-3,0.999\n2,y, a ,1,0\n";
    assert_eq!(of(Kind::Csv, csv), (3, 3));
    let binary = "y_prob;y_true\n0.25;1\n0.123456789012345678;0\n1;1.0\n0;0\n";
    assert_eq!(of(Kind::Csv, binary), (4, 4));
    let json = concat!(
        "{\"label\":1,\"probs\":[0.25,0.75]}\n",
        " { \"x\" : \"set\" , \"probs\" : [ 1e-3 , 0.999 ] , \"label\" : true, \"y\": -1.5e3,\"z\":null} \r\n",
        "{\"entity\":\"é\",\"id\":5,\"probs\":[0,1],\"label\":\"1\"}\n",
        "{\"id\":12,\"probs\":[0.5,0.5],\"label\":0,\"set\":1}\n",
    );
    assert_eq!(of(Kind::JsonLines, json), (4, 4));
    for (log, rows) in [(LINES[2], 5), (LINES[3], 3)] {
        assert_eq!(of(Kind::JsonLines, log), (rows, rows));
    }
    let each =
        "{\"label\":\"b\",\"p_a\":0.25,\"p_b\":0.75}\n{\"p_b\":1.0,\"p_a\":0.0,\"label\":\"a\"}\n";
    assert_eq!(of(Kind::JsonLines, each), (2, 2));
}

/// All of these are for the other way, which says what is wrong with them, or makes something of them.
#[test]
fn unusual_rows_are_left_alone() {
    let first = "label,p_a,p_b,note\na,0.25,0.75,x\n";
    for row in [
        "a,0.25,0.75",
        "a,0.25,0.75,x,y",
        "\"a\",0.25,0.75,x",
        "a,0.25,0.75,\"x\"",
        "a,0.25,0.76,x",
        "a,-0.25,1.25,x",
        "a,,1,x",
        "a,nan,1,x",
        "c,0.25,0.75,x",
        ",0.25,0.75,x",
        "a,0.25,0x1,x",
    ] {
        assert_eq!(of(Kind::Csv, &format!("{first}{row}\n")), (2, 1), "{row}");
    }
    let first = "{\"label\":0,\"probs\":[0.25,0.75]}\n";
    for row in [
        "{\"label\":2,\"probs\":[0.25,0.75]}",
        "{\"label\":-1,\"probs\":[0.25,0.75]}",
        "{\"label\":null,\"probs\":[0.25,0.75]}",
        "{\"label\":0.0,\"probs\":[0.25,0.75]}",
        "{\"label\":00,\"probs\":[0.25,0.75]}",
        "{\"label\":0,\"probs\":[0.25,0.75],}",
        "{\"label\":0,\"probs\":[0.25,0.75,]}",
        "{\"label\":0,\"probs\":[0.25 0.75]}",
        "{\"label\":0,\"probs\":[.25,0.75]}",
        "{\"label\":0,\"probs\":[00.25,0.75]}",
        "{\"label\":0,\"probs\":[0.25,null]}",
        "{\"label\":0,\"probs\":[0.25,0.75]}x",
        "{\"label\":0,\"probs\":[0.25,0.75]",
        "{\"label\":0 \"probs\":[0.25,0.75]}",
        "{\"label\":0,\"label\":0,\"probs\":[0.25,0.75]}",
        "{\"label\":0,\"probs\":[0.25,0.75],\"probs\":[0.25,0.75]}",
        "{\"label\":0,\"probs\":[0.25,0.75],\"set\":[0]}",
        "{\"label\":0,\"probs\":[0.25,0.75],\"x\":{}}",
        "{\"label\":0,\"probs\":[0.25,0.75],\"x\":tru}",
        "{\"label\":0,\"probs\":[0.25,0.75],\"x\":01}",
        "{\"label\":0,\"probs\":[0.25,0.75],\"x\":- 1}",
        "{\"label\":0,\"probs\":[0.25,0.75],\"x\":\"a\\n\"}",
        "{\"label\":0,\"probs\":[0.25,0.75],\"x\":\"a\tb\"}",
        "{\"label\":0,\"probs\":[0.25,0.75],\"entity\":null}",
        "{\"label\":0,\"probs\":[0.25,0.75],\"factors\":[[0.5,0.5]]}",
        "{\"label\":0,\"probs\":[0.25,0.75],\"samples\":[]}",
        "\u{feff}{\"label\":0,\"probs\":[0.25,0.75]}",
        "{\"probs\":[0.25,0.75]}",
        "{\"label\":0}",
        "[]",
    ] {
        assert_eq!(
            of(Kind::JsonLines, &format!("{first}{row}\n")),
            (2, 1),
            "{row}"
        );
    }
    // A positive class makes other labels of what is written.
    let format = Format {
        fields: Fields {
            positive: Some("a".into()),
            ..Fields::default()
        },
        ..Format::default()
    };
    assert_eq!(both_ways(b"label,prob\na,0.5\nb,0.5\n", &format), (0, 0));
}

const LINES: [&str; 5] = [
    "label,p_a,p_b,id\na,0.25,0.75,r1\nb,1e-05,0.99999,r2\na,0.123456789,0.876543211,\n",
    "y_true;y_prob\n1;0.25\n0;1\n1;0.7500\n",
    // Lines that are written alike, and one that is not.
    "{\"label\":1,\"probs\":[0.25, 0.75],\"t\":\"a\",\"id\":3}\n{\"label\":0,\"probs\":[0.125, 8.75e-1],\"t\":-1.5,\"id\":\"x\"}\n{\"label\":1,\"probs\":[1, 0],\"t\":null,\"id\":4}\n{\"label\":1,\"probs\":[1,0],\"id\":4}\n{\"label\":1,\"probs\":[0.25, 0.75],\"t\":\"a\",\"id\":\"y\"}\n",
    "{\"p_b\":0.25,\"p_a\":0.75,\"label\":\"a\"}\n{\"p_b\":1.0,\"p_a\":0.0,\"label\":\"b\"}\n{\"p_b\":0.5,\"p_a\":0.5,\"label\":\"a\"}\n",
    "{\"label\":1,\"probs\":[0.25,0.75],\"id\":3}\n{\"x\":\"y\",\"probs\":[1e-05,0.99999],\"label\":\"0\"}\n",
];

/// All that is kept for fuzzing, whatever it was made for, as lines of each kind.
#[test]
fn the_corpus_is_read_alike() {
    let mut files = 0;
    for path in crate::log::fuzz_corpus() {
        let text = std::fs::read(&path).unwrap();
        files += 1;
        for kind in [Kind::Csv, Kind::JsonLines] {
            let format = Format {
                kind: Some(kind),
                ..Format::default()
            };
            both_ways(&text, &format);
        }
    }
    assert!(files > 30, "{files}");
}

proptest! {
    /// Right logs with a few bytes changed: whatever is read in place is what is read the other way.
    #[test]
    fn no_change_of_a_log_is_read_in_two_ways(
        which in 0..LINES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0usize..40), 0..4),
        any_byte in any::<u8>(),
    ) {
        let telling = b"0123456789.,;eE+-\"\\{}[]: \t\rabnulltruefa\n";
        let mut text = LINES[which].as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = telling.get(byte).copied().unwrap_or(any_byte);
        }
        for kind in [Kind::Csv, Kind::JsonLines] {
            let format = Format { kind: Some(kind), ..Format::default() };
            both_ways(&text, &format);
        }
    }
}
