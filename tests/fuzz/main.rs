//! Fuzz targets: no bytes make a reader panic, and what it accepts can be used.
//!
//! Each target first replays its committed corpus (`tests/fuzz/corpus/TARGET`), then inputs that
//! bolero draws: files of the corpus, changed in places, cut, repeated and spliced. Under
//! `cargo test` that lasts five seconds a target, about a minute for all, or `LPF_FUZZ_SECONDS` each;
//! the same targets run under libFuzzer, guided by coverage, with `make fuzz` (`fuzz/`). An input that fails
//! is printed, and belongs into the corpus once it is mended.

// A binary exports nothing: `pub` means "outside this file" here.
#![allow(unreachable_pub)]

use std::path::Path;
use std::time::Duration;

use bolero::{TypeGenerator, check};

/// One way to change bytes.
#[derive(Clone, Debug, TypeGenerator)]
enum Change {
    /// Another byte.
    Byte { at: u16, byte: u8 },
    /// A word of the formats.
    Word { at: u16, word: u8 },
    /// The next name or number becomes another one.
    Token { at: u16, token: u8 },
    /// Nothing from here on.
    Cut { at: u16 },
    /// A piece again.
    Repeat { from: u16, length: u8, times: u8 },
    /// From here on another file of the corpus.
    Splice { at: u16, file: u8 },
    /// A piece taken out.
    Remove { from: u16, length: u8 },
}

/// Words that mean something to one reader or another.
const WORDS: [&str; 42] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\n",
    "\r\n",
    "null",
    "true",
    "NaN",
    "-0",
    "1e999",
    "1e-320",
    "0.5",
    "18446744073709551616",
    "-1",
    "\"entity\":",
    "\"evidence\":",
    "\"factor\":",
    "\"label\":",
    "\"probs\":",
    "\"classes\":",
    "\"weight\":",
    "\"samples\":",
    "\u{feff}",
    "\u{0}",
    "\\ud800",
    "\u{202e}",
    "<script>",
    "=cmd()",
    "\u{1b}[2J",
    "'",
    ";",
    "\t",
    "[audit]",
    "ece = ",
    "[[[[[[[[[[[[[[[[",
    "\\u001b[2J",
    // Long, of characters of two bytes.
    "ééééééééééééééééééééééééééééééééééééééééééééééééé",
];

/// Numbers at which something begins or ends, and values of other kinds.
const TOKENS: [&str; 20] = [
    "null",
    "true",
    "\"x\"",
    "I32",
    "0",
    "1",
    "2",
    "-1",
    "-0.0",
    "0.5",
    "1.0000001",
    "1e999",
    "1e-320",
    "1e15",
    "65536",
    "4294967296",
    "9007199254740993",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
];

/// A place in the bytes. Half of the places are behind a quote or the end of a line, so that a name
/// is as likely to be met in a long file as in a short one.
fn place(bytes: &[u8], at: u16) -> usize {
    const MARKED: u16 = 1 << 15;
    let marks = bytes.iter().enumerate();
    let mut marks = marks.filter(|(_, b)| matches!(b, b'"' | b'\n'));
    if at & MARKED != 0 {
        let count = marks.clone().count();
        let mark = marks.nth(usize::from(at - MARKED) % count.max(1));
        return mark.map_or(0, |(i, _)| i + 1);
    }
    usize::from(at) % (bytes.len() + 1)
}

fn changed(corpus: &[Vec<u8>], start: u8, changes: &[Change]) -> Vec<u8> {
    /// Readers are bounded in other ways; this only keeps a run short.
    const LONGEST: usize = 1 << 20;
    let pick = |i: u8| corpus.get(usize::from(i) % corpus.len().max(1));
    let mut bytes = pick(start).cloned().unwrap_or_default();
    for change in changes {
        let place = |at: u16| place(&bytes, at);
        match change {
            Change::Byte { at, byte } => {
                let at = place(*at);
                match bytes.get_mut(at) {
                    Some(old) => *old = *byte,
                    None => bytes.push(*byte),
                }
            }
            Change::Word { at, word } => {
                let (at, word) = (place(*at), WORDS[usize::from(*word) % WORDS.len()]);
                bytes.splice(at..at, word.bytes());
            }
            Change::Token { at, token } => {
                let part = |b: &u8| b.is_ascii_alphanumeric() || b"._+-".contains(b);
                let from = place(*at);
                let found = bytes[from..].iter().position(part);
                let from = found.map_or(bytes.len(), |skip| from + skip);
                let length = bytes[from..].iter().take_while(|b| part(b)).count();
                let token = TOKENS[usize::from(*token) % TOKENS.len()];
                bytes.splice(from..from + length, token.bytes());
            }
            Change::Cut { at } => bytes.truncate(place(*at)),
            Change::Repeat {
                from,
                length,
                times,
            } => {
                let from = place(*from);
                let to = (from + usize::from(*length)).min(bytes.len());
                let piece = bytes[from..to].repeat(usize::from(*times));
                bytes.splice(from..from, piece);
            }
            Change::Splice { at, file } => {
                let at = place(*at);
                bytes.truncate(at);
                let other = pick(*file).map(Vec::as_slice).unwrap_or_default();
                bytes.extend_from_slice(other.get(at.min(other.len())..).unwrap_or_default());
            }
            Change::Remove { from, length } => {
                let from = place(*from);
                let to = (from + usize::from(*length)).min(bytes.len());
                bytes.drain(from..to);
            }
        }
        bytes.truncate(LONGEST);
    }
    bytes
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fuzz/corpus")
        .join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files.iter().map(|f| std::fs::read(f).unwrap()).collect()
}

fn time() -> Duration {
    /// For each target, so that all of them take about a minute.
    const SECONDS: f64 = 5.0;
    let seconds = std::env::var("LPF_FUZZ_SECONDS").ok();
    Duration::from_secs_f64(seconds.and_then(|s| s.parse().ok()).unwrap_or(SECONDS))
}

/// A target: replays its corpus, then fuzzes. It is given the bytes, and whether to go to the end
/// with them where that takes long: for all of the corpus and an eighth of the rest, as the readers
/// are where most faults would be.
macro_rules! target {
    ($name:ident, $read:expr) => {
        #[test]
        fn $name() {
            let read = $read;
            let files = corpus(stringify!($name));
            for file in &files {
                read(file, true);
            }
            check!()
                .with_type::<(u8, u8, Vec<Change>)>()
                .with_test_time(time())
                .for_each(|(start, number, changes)| {
                    // One change in half of the cases, two in a quarter, and so on up to nine: of
                    // what was changed often, little gets past the first check of a reader.
                    let most = 1 + number.trailing_zeros() as usize;
                    let some = &changes[..changes.len().min(most)];
                    let bytes = changed(&files, *start, some);
                    let sum: usize = bytes.iter().map(|b| usize::from(*b)).sum();
                    read(&bytes, sum % 8 == 0);
                });
        }
    };
}

mod faults;
mod readers;

/// A target is a reader here, a corpus, and a program for libFuzzer, which is run for every corpus.
#[test]
fn every_target_runs_under_libfuzzer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = |folder: &str| {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().path();
        let stem =
            |path: std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_string();
        let mut names: Vec<String> = entries.map(|entry| stem(name(entry))).collect();
        names.sort();
        names
    };
    let behind = |text: &str, start: &str, end: char| {
        let ends = text.lines().filter_map(|line| line.strip_prefix(start));
        let mut names: Vec<String> = ends
            .map(|rest| rest.split(end).next().unwrap().into())
            .collect();
        names.sort();
        names
    };
    let targets = behind(include_str!("readers.rs"), "target!(", ',');
    assert!(targets.len() >= 15, "{targets:?}");
    assert_eq!(names("tests/fuzz/corpus"), targets);
    assert_eq!(names("fuzz/targets"), targets);
    let programs = std::fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
    let mut named = behind(&programs, "name = \"", '"');
    named.retain(|name| name != "lpf-fuzz");
    assert_eq!(named, targets);
}

#[test]
fn changes_reach_all_that_they_name() {
    let corpus = [b"abcdef".to_vec(), b"UVWXYZ".to_vec()];
    let of = |change: Change| changed(&corpus, 0, &[change]);
    assert_eq!(of(Change::Byte { at: 1, byte: b'x' }), b"axcdef");
    assert_eq!(of(Change::Byte { at: 6, byte: b'x' }), b"abcdefx");
    assert_eq!(of(Change::Word { at: 0, word: 1 }), b"}abcdef");
    assert_eq!(of(Change::Cut { at: 2 }), b"ab");
    let numbers = [b"[12.5,\"F32\"]".to_vec()];
    let token = |at, token| changed(&numbers, 0, &[Change::Token { at, token }]);
    assert_eq!(token(0, 4), b"[0,\"F32\"]");
    assert_eq!(token(5, 3), b"[12.5,\"I32\"]");
    assert_eq!(token(11, 27), b"[12.5,\"F32\"]-1");
    let marked = |at: u16| place(b"\"a\":1\n", at | 1 << 15);
    assert_eq!([0, 1, 2, 3].map(marked), [1, 3, 6, 1]);
    assert_eq!(place(b"abc", 1 << 15), 0);
    assert_eq!(
        of(Change::Repeat {
            from: 4,
            length: 9,
            times: 2
        }),
        b"abcdefefef"
    );
    assert_eq!(of(Change::Splice { at: 3, file: 1 }), b"abcXYZ");
    assert_eq!(of(Change::Remove { from: 1, length: 4 }), b"af");
    assert_eq!(changed(&[], 3, &[Change::Cut { at: 9 }]), b"");
}
