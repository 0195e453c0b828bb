//! A file of records, some lines at a time.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;

use super::limits::{LimitError, Limits};

/// A batch is complete when it holds this many bytes: enough work to share among threads, little
/// enough to keep memory small.
const BATCH_BYTES: usize = 1 << 20;

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
    reader: BufReader<R>,
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
    /// memory, never more.
    pub fn within(reader: R, limits: Limits) -> Self {
        LineReader {
            reader: BufReader::with_capacity(1 << 16, reader),
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
        batch.bytes.clear();
        batch.lines.clear();
        while self.failed.is_none() && batch.bytes.len() < BATCH_BYTES {
            match self.read_line(batch) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => self.failed = Some(error),
            }
            if self.reader.buffer().is_empty() && !batch.lines.is_empty() {
                break;
            }
        }
        match self.failed.take() {
            Some(error) if batch.lines.is_empty() => Err(error),
            failed => {
                self.failed = failed;
                Ok(!batch.lines.is_empty())
            }
        }
    }

    fn read_line(&mut self, batch: &mut Batch) -> Result<bool, LinesError> {
        let start = batch.bytes.len();
        // One byte more, so that a line of exactly the permitted length is told from a longer one.
        let most = self.limits.line_bytes.saturating_add(1);
        let mut limited = self.reader.by_ref().take(most);
        let read = limited
            .read_until(b'\n', &mut batch.bytes)
            .map_err(LinesError::Read)?;
        if read == 0 {
            return Ok(false);
        }
        self.line += 1;
        let mut end = batch.bytes.len();
        if batch.bytes.ends_with(b"\n") {
            end -= 1;
        } else if let Err(limit) = self.limits.line_bytes(read as u64) {
            batch.bytes.truncate(start);
            let line = self.line;
            return Err(LinesError::TooLong { line, limit });
        }
        let blank = batch
            .bytes
            .get(start..end)
            .unwrap_or_default()
            .trim_ascii()
            .is_empty();
        match blank {
            false => batch.lines.push((self.line, start..end)),
            // A batch that is full of nothing would look like the end.
            true => batch.bytes.truncate(start),
        }
        Ok(true)
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
    fn any_number_of_blank_lines_is_not_the_end() {
        let text = [&b"first\n"[..], &b" \n".repeat(BATCH_BYTES), b"last\n"].concat();
        let lines = BATCH_BYTES as u64;
        assert_eq!(
            all(&text),
            [(1, b"first".to_vec()), (lines + 2, b"last".to_vec())]
        );
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
