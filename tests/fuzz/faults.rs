//! Readers that fail: every call refused in turn, every call interrupted, bytes that come one at a time.
//!
//! A call that fails is an error and never a shorter log; what comes in small pieces, or after a signal, is
//! what comes at once.

use std::cell::Cell;
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lpf::audit::{Monitor, MonitorSettings, read_state};
use lpf::log::{Fields, Format, Kind, Limits, LineReader, LogBatch, LogReader};

/// What a call does instead of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The call with this number fails, and all after it: a disk that has gone.
    Fails(u64),
    /// The call with this number is to be made again.
    Interrupted(u64),
}

/// Hands out at most so many bytes a call, and counts calls.
struct Faulty {
    inner: Cursor<Vec<u8>>,
    most: usize,
    fault: Fault,
    calls: Arc<AtomicU64>,
}

impl Faulty {
    fn of(bytes: &[u8], most: usize, fault: Fault) -> (Self, Arc<AtomicU64>) {
        let calls = Arc::new(AtomicU64::new(0));
        let inner = Cursor::new(bytes.to_vec());
        let faulty = Faulty {
            inner,
            most,
            fault,
            calls: calls.clone(),
        };
        (faulty, calls)
    }

    fn step(&self) -> io::Result<()> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            Fault::Fails(from) if call >= from => Err(io::Error::other("refused by the test")),
            Fault::Interrupted(at) if call == at => Err(ErrorKind::Interrupted.into()),
            _ => Ok(()),
        }
    }
}

impl Read for Faulty {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.step()?;
        let room = buffer.len().min(self.most);
        self.inner.read(&mut buffer[..room])
    }
}

impl Seek for Faulty {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // A seek is not interrupted: there is nothing to wait for.
        if let Fault::Fails(_) = self.fault {
            self.step()?;
        }
        self.inner.seek(to)
    }
}

/// All that a log says, row by row, or the error that ended it.
fn rows<'r>(opened: Result<LogReader<'r>, lpf::log::LogError>) -> Result<Vec<String>, String> {
    let mut reader = opened.map_err(|error| error.to_string())?;
    let mut batch = LogBatch::default();
    let mut rows = Vec::new();
    while reader.fill(&mut batch).map_err(|error| error.to_string())? {
        for at in 0..batch.len() {
            let row = batch.row(at);
            let said = row.prediction.map_err(|error| error.to_string());
            rows.push(format!("{} {said:?}", row.number));
        }
    }
    rows.push(reader.sha256());
    Ok(rows)
}

/// Every way to fail, for something that is read: `read` gives what it says, or an error.
fn tortured<T: PartialEq + std::fmt::Debug>(
    name: &str,
    bytes: &[u8],
    read: impl Fn(Faulty) -> Result<T, String>,
) -> u64 {
    let tried = Rc::new(Cell::new(0));
    let run = |most: usize, fault: Fault| {
        tried.set(tried.get() + 1);
        let (faulty, calls) = Faulty::of(bytes, most, fault);
        (read(faulty), calls.load(Ordering::Relaxed))
    };
    let (whole, _) = run(usize::MAX, Fault::None);
    let whole = whole.unwrap_or_else(|error| panic!("{name}: {error}"));
    for most in [1, 50] {
        let (pieces, calls) = run(most, Fault::None);
        assert_eq!(pieces.as_ref(), Ok(&whole), "{name} in pieces of {most}");
        // Some ten calls, spread over all of them, and the last.
        let step = calls.div_ceil(10).max(1);
        for call in (0..calls).step_by(step as usize).chain([calls - 1]) {
            let (failed, _) = run(most, Fault::Fails(call));
            let error = failed.expect_err(name);
            assert!(
                error.contains("refused by the test"),
                "{name} in pieces of {most}, call {call}: {error}"
            );
            let (again, _) = run(most, Fault::Interrupted(call));
            assert_eq!(again.as_ref(), Ok(&whole), "{name}, call {call} of {calls}");
        }
    }
    tried.get()
}

/// Rows of several kinds, with both ends of lines, longer than a small buffer.
fn csv() -> Vec<u8> {
    let mut text = "\u{feff}id;label;p_a;p_b\r\n".to_string();
    for i in 0..12 {
        let end = if i % 3 == 0 { "\r\n" } else { "\n" };
        text += &format!("é{i};\"a\";0.25;0.75{end}");
    }
    text.into_bytes()
}

fn json_lines() -> Vec<u8> {
    let row = "{\"entity\":\"é\",\"label\":1,\"probs\":[0.25,0.75]}\r\n\n";
    row.repeat(9).into_bytes()
}

fn json_array() -> Vec<u8> {
    let row = "{\"x\":\"],\\\"\",\n\"label\":1,\"probs\":[0.25,0.75]}";
    // What tells the format comes after some white space.
    format!("\n      [{}]\n", [row; 9].join(" ,\r\n")).into_bytes()
}

#[test]
fn a_log_whose_reader_fails_is_an_error_and_never_a_shorter_log() {
    let mut tried = 0;
    let mut text = |name: &str, bytes: &[u8], kind: Option<Kind>| {
        let format = Format {
            kind,
            ..Format::default()
        };
        tried += tortured(name, bytes, |faulty| rows(LogReader::new(faulty, &format)));
    };
    let logs = [
        ("csv", csv(), Kind::Csv),
        ("lines", json_lines(), Kind::JsonLines),
        ("array", json_array(), Kind::Json),
    ];
    for (name, bytes, kind) in &logs {
        text(name, bytes, Some(*kind));
        text(name, bytes, None);
    }
    #[cfg(feature = "parquet")]
    for (name, bytes, _) in &logs {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        text(&format!("{name}.gz"), &gzip.finish().unwrap(), None);
        let zstd = zstd::bulk::compress(bytes, 1).unwrap();
        text(&format!("{name}.zst"), &zstd, None);
    }
    #[cfg(feature = "parquet")]
    for bytes in super::corpus("arrow_log") {
        text("arrow", &bytes, Some(Kind::Arrow));
    }
    assert!(tried > 400, "{tried}");
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_whose_reader_fails_is_an_error_and_never_a_shorter_log() {
    for bytes in super::corpus("parquet_log") {
        tortured("parquet", &bytes, |faulty| {
            rows(LogReader::parquet(faulty, &Fields::default()))
        });
    }
}

#[test]
fn states_and_lines_whose_reader_fails_are_errors() {
    for bytes in super::corpus("state") {
        tortured("state", &bytes, |faulty| {
            let state = read_state(faulty, &Limits::default());
            state.map_err(|error| error.to_string())
        });
    }
    let settings = MonitorSettings {
        alpha: 0.05,
        margin: 0.02,
        by_class: true,
        by: Some("site".to_string()),
        calibration: None,
    };
    let classes = ["a".to_string(), "b".to_string()];
    for bytes in super::corpus("monitor") {
        tortured("monitor", &bytes, |faulty| {
            let monitor = Monitor::read(faulty, &settings, &classes);
            monitor.map(|m| m.to_json()).map_err(|e| e.to_string())
        });
    }
    tortured("lines", &json_lines(), |faulty| {
        let mut reader = LineReader::new(faulty);
        let mut batch = lpf::log::Batch::default();
        let mut lines = Vec::new();
        while reader.fill(&mut batch).map_err(|e| e.to_string())? {
            lines.extend(batch.lines().map(|(n, line)| (n, line.to_vec())));
        }
        Ok(lines)
    });
}
