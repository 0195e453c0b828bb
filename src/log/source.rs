//! Bytes on their way to rows: their digest, what they are compressed with, and what they look like.

use std::io::{self, Cursor, Read};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::digest::hexadecimal;
use super::limits::Limits;

/// A reader of whatever comes.
pub(super) type Bytes<'r> = Box<dyn Read + Send + 'r>;

/// The number and the digest of the bytes that were read.
#[derive(Clone, Debug, Default)]
pub(super) struct Digested(Arc<Mutex<(Sha256, u64)>>);

impl Digested {
    pub(super) fn add(&self, bytes: &[u8]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0.update(bytes);
        state.1 += bytes.len() as u64;
    }

    /// How many bytes were read.
    pub(super) fn bytes(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// SHA-256 of all that was read, in hexadecimal digits.
    pub(super) fn sha256(&self) -> String {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hexadecimal(&state.0.clone().finalize())
    }
}

/// Passes bytes on, and keeps their number and digest.
pub(super) struct Digesting<R> {
    inner: R,
    digested: Digested,
}

impl<R> Digesting<R> {
    pub(super) fn new(inner: R, digested: &Digested) -> Self {
        let digested = digested.clone();
        Digesting { inner, digested }
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.digested.add(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// The first bytes, at least `least` of them where there are as many, and a reader of all.
pub(super) fn peeked<'r>(mut reader: Bytes<'r>, least: usize) -> io::Result<(Vec<u8>, Bytes<'r>)> {
    let mut first = Vec::new();
    (&mut reader).take(least as u64).read_to_end(&mut first)?;
    let rest: Bytes<'r> = Box::new(Cursor::new(first.clone()).chain(reader));
    Ok((first, rest))
}

/// The first byte that is no white space, and a reader from the mark of the byte order or that white space
/// on. At most `most` bytes are looked at.
pub(super) fn first_mark<'r>(
    mut reader: Bytes<'r>,
    most: u64,
) -> io::Result<(Option<u8>, Bytes<'r>)> {
    let mut before = Vec::new();
    let mut found = None;
    let mut byte = [0];
    while (before.len() as u64) < most {
        match reader.read(&mut byte) {
            // As the readers of the standard library do.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
            Ok(0) => break,
            Ok(_) => {}
        }
        before.push(byte[0]);
        let marked = b"\xef\xbb\xbf".starts_with(&before);
        if !marked && !byte[0].is_ascii_whitespace() {
            found = Some(byte[0]);
            break;
        }
    }
    Ok((found, Box::new(Cursor::new(before).chain(reader))))
}

/// Refuses what is no text in UTF-8 by its first bytes, where these tell what it is instead.
pub(crate) fn check_encoding(first: &[u8]) -> io::Result<()> {
    const PACKED: &str = "unpack it first, or pack it with gzip or zstd";
    const ARRAY: &str = "save rows instead, for instance as CSV or Parquet";
    let (what, cure) = match first {
        // A mark of the byte order, or a zero beside a character, with which no line of UTF-8 begins.
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 0, 0xfe, 0xff, ..] => WIDE,
        [0, 0, 0, byte, ..] | [0, byte, ..] | [byte, 0, ..] if *byte != 0 => WIDE,
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => ("compressed with bzip2", PACKED),
        [0xfd, b'7', b'z', b'X', ..] => ("compressed with xz", PACKED),
        [b'P', b'K', 3, 4, ..] => ("a ZIP archive, or a spreadsheet in one", "export it as CSV"),
        [0x93, b'N', b'U', b'M', ..] => ("an array of NumPy", ARRAY),
        [0x89, b'H', b'D', b'F', ..] => ("HDF5", ARRAY),
        _ => return Ok(()),
    };
    let said = format!("it is {what}; {cure}");
    Err(io::Error::new(io::ErrorKind::InvalidData, said))
}

/// What text of two or four bytes a character is called, and what to do.
const WIDE: (&str, &str) = (
    "text in UTF-16 or UTF-32, as PowerShell's > and some exports write it",
    "save it as UTF-8, for instance with iconv -f UTF-16 -t UTF-8",
);

/// What a log is compressed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// By the first bytes of a file.
    pub(super) fn of(first: &[u8]) -> Option<Self> {
        match first {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }

    /// The content, read as it is unpacked and up to a limit. The window of zstd takes 128 MiB at most.
    #[cfg(feature = "parquet")]
    pub(super) fn unpacked<'r>(
        self,
        reader: Bytes<'r>,
        limits: &Limits,
    ) -> io::Result<Option<Bytes<'r>>> {
        let reader = io::BufReader::new(reader);
        let inner: Bytes<'r> = match self {
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(reader)),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(reader)?;
                decoder.window_log_max(27)?;
                Box::new(decoder)
            }
        };
        Ok(Some(Box::new(Unpacked {
            inner,
            bytes: 0,
            limits: *limits,
        })))
    }

    /// Nothing is unpacked in this build.
    #[cfg(not(feature = "parquet"))]
    pub(super) fn unpacked<'r>(self, _: Bytes<'r>, _: &Limits) -> io::Result<Option<Bytes<'r>>> {
        Ok(None)
    }
}

/// Unpacked bytes, up to a limit.
#[cfg(feature = "parquet")]
struct Unpacked<'r> {
    inner: Bytes<'r>,
    bytes: u64,
    limits: Limits,
}

#[cfg(feature = "parquet")]
impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes += read as u64;
        self.limits
            .unpacked_bytes(self.bytes)
            .map_err(io::Error::other)?;
        Ok(read)
    }
}

/// The elements of a JSON array, one a line: line breaks within an element become spaces.
pub(super) struct Elements<'r> {
    inner: Bytes<'r>,
    buffer: Box<[u8]>,
    at: usize,
    filled: usize,
    state: State,
    /// Brackets that are open, that of the array among them.
    depth: u64,
    text: bool,
    escaped: bool,
    /// The end of a line is to be written.
    line_ends: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    /// After the bracket or a comma; whether a comma stood before.
    Before(bool),
    Inside,
    After,
    End,
}

impl<'r> Elements<'r> {
    pub(super) fn new(inner: Bytes<'r>) -> Self {
        Elements {
            inner,
            buffer: vec![0; 1 << 16].into(),
            at: 0,
            filled: 0,
            state: State::Start,
            depth: 0,
            text: false,
            escaped: false,
            line_ends: false,
        }
    }

    /// What a byte of the array is in the lines; none where it is nothing.
    fn step(&mut self, byte: u8) -> io::Result<Option<u8>> {
        let wrong = |what: &str| {
            let what = format!("not a JSON array: {what}");
            Err(io::Error::new(io::ErrorKind::InvalidData, what))
        };
        let blank = byte.is_ascii_whitespace();
        match self.state {
            State::Start if byte == b'[' => {
                self.depth = 1;
                self.state = State::Before(false);
                Ok(None)
            }
            State::Start if blank || matches!(byte, 0xef | 0xbb | 0xbf) => Ok(None),
            State::Start => wrong("it does not begin with a bracket"),
            State::Before(_) if blank => Ok(None),
            State::Before(false) if byte == b']' => {
                self.state = State::End;
                Ok(None)
            }
            State::Before(_) if matches!(byte, b',' | b']' | b'}' | b':') => {
                wrong("an element is missing")
            }
            State::After if blank => Ok(None),
            State::After if byte == b',' => {
                self.state = State::Before(true);
                Ok(None)
            }
            State::After if byte == b']' => {
                self.state = State::End;
                Ok(None)
            }
            State::After => wrong("no comma between two elements"),
            State::End if blank => Ok(None),
            State::End => wrong("something follows its end"),
            State::Before(_) | State::Inside => {
                self.state = State::Inside;
                Ok(self.inside(byte))
            }
        }
    }

    fn inside(&mut self, byte: u8) -> Option<u8> {
        if self.text {
            match (self.escaped, byte) {
                (true, _) => self.escaped = false,
                (false, b'\\') => self.escaped = true,
                (false, b'"') => self.text = false,
                _ => {}
            }
            return Some(byte);
        }
        match byte {
            b'"' => self.text = true,
            b'{' | b'[' => self.depth += 1,
            // A number or a word that is an element by itself ends with what follows it.
            b',' | b']' if self.depth == 1 => {
                self.state = match byte {
                    b',' => State::Before(true),
                    _ => State::End,
                };
                return Some(b'\n');
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 1 {
                    self.state = State::After;
                }
            }
            b'\n' | b'\r' => return Some(b' '),
            _ => {}
        }
        Some(byte)
    }
}

impl Read for Elements<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        while let Some(place) = out.get_mut(written) {
            if std::mem::take(&mut self.line_ends) {
                *place = b'\n';
                written += 1;
                continue;
            }
            if self.at == self.filled {
                if written > 0 {
                    break;
                }
                self.filled = self.inner.read(&mut self.buffer)?;
                self.at = 0;
                if self.filled == 0 {
                    return match self.state {
                        State::End => Ok(written),
                        _ => Err(io::Error::new(
                            io::ErrorKind::UnexpectedEof,
                            "not a JSON array: it does not end",
                        )),
                    };
                }
            }
            let byte = self.buffer.get(self.at).copied().unwrap_or_default();
            self.at += 1;
            let was = self.state;
            if let Some(byte) = self.step(byte)? {
                *place = byte;
                written += 1;
                self.line_ends = self.state == State::After && was != State::After;
            }
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_named() {
        for (first, name) in [
            (&b"BZh91AY"[..], "bzip2"),
            (b"\xfd7zXZ\0", "xz"),
            (b"PK\x03\x04", "ZIP"),
            (b"\x93NUMPY", "NumPy"),
            (b"\x89HDF\r\n", "HDF5"),
        ] {
            let said = check_encoding(first).unwrap_err().to_string();
            assert!(said.contains(name), "{said}");
        }
        for text in ["BZh,p", "PK,label", "NUM"] {
            assert!(check_encoding(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn text_of_wide_characters_is_told_from_text_in_utf8() {
        let wide = |text: &str, of: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(of).collect()
        };
        for text in ["\u{feff}{}", "{}", "l", "\u{feff}\n"] {
            assert!(check_encoding(&wide(text, u16::to_le_bytes)).is_err());
            assert!(check_encoding(&wide(text, u16::to_be_bytes)).is_err());
        }
        for mark in [&b"\xff\xfe\0\0[\0\0\0"[..], b"\0\0\xfe\xff\0\0\0["] {
            assert!(check_encoding(mark).is_err());
        }
        assert!(check_encoding(b"[\0\0\0").is_err() && check_encoding(b"\0\0\0[").is_err());
        let narrow = [
            "",
            "{",
            "[1]",
            "\u{feff}{}",
            "\u{feff}",
            "é,p",
            "\0",
            "\0\0\0\0",
            "ab\0",
        ];
        for text in narrow {
            assert!(check_encoding(text.as_bytes()).is_ok(), "{text:?}");
        }
    }

    fn lines(text: &str) -> Result<Vec<String>, String> {
        let mut out = String::new();
        let reader: Bytes<'_> = Box::new(text.as_bytes());
        let read = Elements::new(reader).read_to_string(&mut out);
        read.map_err(|error| error.to_string())?;
        Ok(out.lines().map(str::to_string).collect())
    }

    #[test]
    fn elements_of_an_array_are_lines() {
        let text = "\u{feff} [\n {\"a\": [1,\n 2], \"b\": \"},]\\\"\"} ,{\"c\":{}},\n3 , null]\n ";
        let want = [
            "{\"a\": [1,  2], \"b\": \"},]\\\"\"}",
            "{\"c\":{}}",
            "3 ",
            "null",
        ];
        assert_eq!(lines(text).unwrap(), want);
        assert_eq!(lines("[]").unwrap(), [""; 0]);
        for (text, want) in [
            ("{}", "does not begin"),
            ("[", "does not end"),
            ("[{}", "does not end"),
            ("[{},]", "is missing"),
            ("[,{}]", "is missing"),
            ("[{} {}]", "no comma"),
            ("[{}] x", "follows its end"),
            ("", "does not end"),
        ] {
            let error = lines(text).unwrap_err();
            assert!(error.contains(want), "{text}: {error}");
        }
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn compressed_bytes_are_unpacked_within_a_limit() {
        use std::io::Write;
        let text = "row\n".repeat(10_000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        // Two members, as `cat a.gz b.gz` makes them.
        let gzip = gzip.finish().unwrap().repeat(2);
        let zstd = zstd::bulk::compress(text.as_bytes(), 1).unwrap().repeat(2);
        for (packed, name) in [(gzip, "gzip"), (zstd, "zstd")] {
            let kind = Compression::of(&packed).unwrap();
            assert_eq!(kind.name(), name);
            let read = |limits: &Limits| {
                let reader: Bytes<'_> = Box::new(&packed[..]);
                let mut out = String::new();
                let mut unpacked = kind.unpacked(reader, limits).unwrap().unwrap();
                unpacked.read_to_string(&mut out).map(|_| out)
            };
            assert_eq!(read(&Limits::default()).unwrap(), text.repeat(2));
            let few = Limits {
                unpacked_bytes: 79_999,
                ..Limits::default()
            };
            let error = read(&few).unwrap_err().to_string();
            assert!(error.contains("unpacked-bytes"), "{error}");
        }
    }
}
