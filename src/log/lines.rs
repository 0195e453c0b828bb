//! A file of records, some lines at a time.

use std::io::{self, Read};
use std::ops::Range;

use memchr::memchr_iter;

use super::limits::{LimitError, Limits};
use super::source::check_encoding;

/// A batch is complete when it holds this many bytes: enough work to share among threads, little
/// enough to keep memory small.
const BATCH_BYTES: usize = 1 << 20;
/// So many bytes are asked for at a time: few enough to be looked at while they are near.
const READ_BYTES: usize = 1 << 17;

/// Some lines of a file, in order, with their numbers.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    lines: Vec<(u64, Range<usize>)>,
}

impl Batch {
    /// The lines, each with its number in the file, counted from 1. None is blank.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = (u64, &[u8])> {
        let bytes = &self.bytes;
        let text = move |range: &Range<usize>| bytes.get(range.clone()).unwrap_or_default();
        self.lines.iter().map(move |(n, range)| (*n, text(range)))
    }

    /// The line at `index` in this batch, with its number.
    pub(super) fn get(&self, index: usize) -> Option<(u64, &[u8])> {
        let (number, range) = self.lines.get(index)?;
        Some((*number, self.bytes.get(range.clone())?))
    }

    /// Where the line at `index` stands among [`Batch::bytes`].
    pub(super) fn place(&self, index: usize) -> Option<Range<usize>> {
        Some(self.lines.get(index)?.1.clone())
    }

    /// Bytes of lines, and what stands between them.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    pub(super) fn drop_first(&mut self) {
        self.lines.drain(..self.lines.len().min(1));
    }
}

/// Why there are no further lines.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinesError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// A line is longer than [`Limits::line_bytes`].
    #[error("{limit}")]
    TooLong {
        /// Its number, counted from 1.
        line: u64,
        /// The limit.
        limit: LimitError,
    },
}

/// Reads lines batch by batch, in constant memory.
///
/// Lines end with a line feed, with or without a carriage return before it; the last may end
/// without. Lines of white space only are skipped but counted. A batch also ends where
/// nothing more has arrived yet, so that a slow producer's lines are not held back.
#[derive(Debug)]
pub struct LineReader<R> {
    reader: R,
    /// What has been read of the line after the last batch.
    rest: Vec<u8>,
    line: u64,
    failed: Option<LinesError>,
    limits: Limits,
}

impl<R: Read> LineReader<R> {
    /// Starts with line 1, within the default limits.
    pub fn new(reader: R) -> Self {
        LineReader::within(reader, Limits::default())
    }

    /// Starts with line 1. A line that is longer than the limit is refused when as many bytes are in
    /// memory, and at most [`READ_BYTES`] more.
    pub fn within(reader: R, limits: Limits) -> Self {
        LineReader {
            reader,
            rest: Vec::new(),
            line: 0,
            failed: None,
            limits,
        }
    }

    /// Replaces the content of `batch` by the next lines; `false` at the end of the file.
    ///
    /// # Errors
    /// Whatever prevents further reading, once all lines before it have been handed out.
    pub fn fill(&mut self, batch: &mut Batch) -> Result<bool, LinesError> {
        batch.lines.clear();
        batch.bytes.clear();
        batch.bytes.append(&mut self.rest);
        // Where the line begins that has not ended yet.
        let mut start = 0;
        while self.failed.is_none() {
            match self.read_more(batch, &mut start) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => self.failed = Some(error),
            }
            if batch.lines.is_empty() {
                // Blank lines are not kept.
                batch.bytes.drain(..start);
                start = 0;
            } else if batch.bytes.len() >= BATCH_BYTES || start == batch.bytes.len() {
                break;
            }
        }
        if self.failed.is_none() {
            self.rest
                .extend_from_slice(batch.bytes(start..batch.bytes.len()));
        }
        batch.bytes.truncate(start);
        match self.failed.take() {
            Some(error) if batch.lines.is_empty() => Err(error),
            failed => {
                self.failed = failed;
                Ok(!batch.lines.is_empty())
            }
        }
    }

    /// Reads once, and adds the lines that end in what was read; `false` at the end of the file.
    fn read_more(&mut self, batch: &mut Batch, start: &mut usize) -> Result<bool, LinesError> {
        let before = batch.bytes.len();
        batch.bytes.resize(before + READ_BYTES, 0);
        let room = batch.bytes.get_mut(before..).unwrap_or_default();
        let read = loop {
            match self.reader.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        batch
            .bytes
            .truncate(before + read.as_ref().map_or(0, |read| *read));
        if read.map_err(LinesError::Read)? == 0 {
            if before > *start {
                let Batch { bytes, lines } = batch;
                self.add(bytes, lines, *start..before)?;
                *start = before;
            }
            return Ok(false);
        }
        let Batch { bytes, lines } = batch;
        for length in memchr_iter(b'\n', bytes.get(before..).unwrap_or_default()) {
            let end = before + length;
            self.add(bytes, lines, *start..end)?;
            *start = end + 1;
        }
        let length = (batch.bytes.len() - *start) as u64;
        let line = self.line + 1;
        let within = self.limits.line_bytes(length);
        within.map_err(|limit| LinesError::TooLong { line, limit })?;
        Ok(true)
    }

    /// Adds a line, unless it is blank.
    fn add(
        &mut self,
        bytes: &[u8],
        lines: &mut Vec<(u64, Range<usize>)>,
        range: Range<usize>,
    ) -> Result<(), LinesError> {
        let text = bytes.get(range.clone()).unwrap_or_default();
        if self.line == 0 {
            check_encoding(text).map_err(LinesError::Read)?;
        }
        self.line += 1;
        let line = self.line;
        let within = self.limits.line_bytes(range.len() as u64);
        within.map_err(|limit| LinesError::TooLong { line, limit })?;
        if !text.trim_ascii_start().is_empty() {
            lines.push((line, range));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut reader = LineReader::new(text);
        let mut batch = Batch::default();
        let mut lines = Vec::new();
        while reader.fill(&mut batch).unwrap() {
            lines.extend(batch.lines().map(|(n, line)| (n, line.to_vec())));
        }
        lines
    }

    #[test]
    fn blank_lines_are_counted_and_skipped() {
        let want = vec![(2, b"a\r".to_vec()), (5, b" b".to_vec())];
        assert_eq!(all(b"\na\r\n \n\r\n b"), want);
        assert_eq!(all(b""), []);
        assert_eq!(all(b"\n\n"), []);
    }

    #[test]
    fn batches_are_cut_between_lines_and_stay_small() {
        let line = [b'x'; 1000];
        let text = [&line[..], b"\n"].concat().repeat(5000);
        let mut reader = LineReader::new(&text[..]);
        let mut batch = Batch::default();
        let (mut batches, mut lines) = (0, 0);
        while reader.fill(&mut batch).unwrap() {
            batches += 1;
            for (number, text) in batch.lines() {
                lines += 1;
                assert_eq!((number, text), (lines, &line[..]));
            }
            assert!(batch.bytes.capacity() <= 4 * BATCH_BYTES);
        }
        assert_eq!(lines, 5000);
        assert!(batches >= 5);
    }

    /// Endless input without a line end.
    struct Endless;
    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b'x');
            Ok(buffer.len())
        }
    }

    #[test]
    fn an_endless_line_is_given_up_after_the_lines_before_it() {
        let mut reader = LineReader::new(b"first\n".chain(Endless));
        let mut batch = Batch::default();
        assert!(reader.fill(&mut batch).unwrap());
        assert_eq!(batch.lines().next(), Some((1, &b"first"[..])));
        let error = reader.fill(&mut batch).unwrap_err();
        assert!(matches!(error, LinesError::TooLong { line: 2, .. }));
        // Growing by doubling, a buffer has at most twice the room it needs.
        let most = Limits::default().line_bytes as usize;
        assert!(batch.bytes.capacity() <= 2 * most + BATCH_BYTES);
    }
}
