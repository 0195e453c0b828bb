//! The headers of a column's pages, read before any page is.
//!
//! A decoder believes its headers: it makes room for what they announce. Here they are read with
//! bounds of our own, so that a file that announces more than it holds is refused first.
use std::io::{self, Read, Seek};

use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::errors::ParquetError;

use super::super::codec::Codec;
use super::shared::Shared;
use super::thrift::{I32, MAX_DEPTH, STRUCT, Stop, Thrift};

/// A header is mostly numbers; texts in it are the least and largest value of the page.
const MAX_HEADER_BYTES: usize = 1 << 20;
/// What a decoded value of a dictionary takes beyond its bytes.
const ENTRY_BYTES: u64 = 64;

/// Pages of one column in one group of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    /// Where they start.
    pub start: u64,
    /// How many bytes they take in the file.
    pub length: u64,
    /// The fewest bytes of a value in a dictionary.
    pub smallest_value: u64,
    /// Whether values are truth values, which may be in runs.
    pub truths: bool,
    /// Whether values are texts, which are parts of their page and keep it in memory.
    pub texts: bool,
}

/// What reading some pages one after the other holds at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// The most bytes, beyond the pages of texts that lie wholly within some rows.
    pub bytes: u64,
    /// Of texts: the pages that lie wholly within some rows are no larger than this for each of the rows.
    pub text_a_row: u64,
}

/// Why pages cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum PageError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(io::Error),
    /// A header that cannot be true.
    #[error("damaged: {0}")]
    Damaged(&'static str),
    /// An encoding that is not supported.
    #[error("encoding {0} is not supported; write plain or dictionary encoding, the usual default")]
    Encoding(&'static str),
}

/// What reading these pages one after the other holds at once.
pub(super) fn held<R: Read + Seek>(file: &Shared<R>, chunk: Chunk) -> Result<Held, PageError> {
    let end = chunk.start.checked_add(chunk.length);
    let end = end.filter(|end| *end <= file.length());
    let end = end.ok_or(PageError::Damaged(
        "its pages lie beyond the end of the file",
    ))?;
    let (mut at, mut page, mut dictionary) = (chunk.start, 0, None);
    let (mut before, mut text_a_row) = (0, 0);
    while at < end {
        let (header, taken) = read_header(file, at, end)?;
        let sizes = [header.compressed, header.uncompressed].map(u64::try_from);
        let [Ok(compressed), Ok(uncompressed)] = sizes else {
            return Err(PageError::Damaged("a page has no size, or one below zero"));
        };
        at += taken;
        if compressed > end - at {
            return Err(PageError::Damaged("a page is longer than its column"));
        }
        at += compressed;
        match header.kind {
            DATA | DATA_V2 => {
                check_encoding(header.encoding, dictionary.is_some(), chunk.truths)?;
                page = page.max(compressed + uncompressed);
                if chunk.texts {
                    // The first of some rows may lie in the middle of a page that is still held.
                    before = before.max(uncompressed);
                    let values = u64::try_from(header.values).unwrap_or(0);
                    text_a_row = text_a_row.max(uncompressed.div_ceil(values.max(1)));
                }
            }
            DICTIONARY => {
                if dictionary.is_some() {
                    return Err(PageError::Damaged("there are two dictionaries"));
                }
                if !matches!(header.encoding, PLAIN | PLAIN_DICTIONARY) {
                    return Err(PageError::Damaged("the dictionary is not plain"));
                }
                let entries = u64::try_from(header.values).ok();
                let entries = entries.filter(|n| *n <= uncompressed / chunk.smallest_value);
                let entries =
                    entries.ok_or(PageError::Damaged("the dictionary cannot hold its entries"))?;
                dictionary = Some(compressed + uncompressed + ENTRY_BYTES * entries);
            }
            INDEX => {}
            _ => return Err(PageError::Damaged("a page is of no known kind")),
        }
    }
    Ok(Held {
        bytes: page + before + dictionary.unwrap_or(0),
        text_a_row,
    })
}

// Numbers of the format's own definition (parquet.thrift).
const DATA: i64 = 0;
const INDEX: i64 = 1;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;
const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const RLE: i64 = 3;
const RLE_DICTIONARY: i64 = 8;
const BYTE_STREAM_SPLIT: i64 = 9;

/// The delta encodings announce sizes inside of the page, where they cannot be checked beforehand.
fn check_encoding(encoding: i64, has_dictionary: bool, truths: bool) -> Result<(), PageError> {
    match encoding {
        RLE if truths => Ok(()),
        PLAIN | BYTE_STREAM_SPLIT => Ok(()),
        PLAIN_DICTIONARY | RLE_DICTIONARY if has_dictionary => Ok(()),
        PLAIN_DICTIONARY | RLE_DICTIONARY => Err(PageError::Damaged("there is no dictionary")),
        3 => Err(PageError::Encoding("RLE")),
        4 => Err(PageError::Encoding("BIT_PACKED")),
        5 => Err(PageError::Encoding("DELTA_BINARY_PACKED")),
        6 => Err(PageError::Encoding("DELTA_LENGTH_BYTE_ARRAY")),
        7 => Err(PageError::Encoding("DELTA_BYTE_ARRAY")),
        _ => Err(PageError::Damaged("a page has no known encoding")),
    }
}

/// What is wanted of a header; −1 where it is not said.
#[derive(Debug, PartialEq)]
struct Header {
    kind: i64,
    compressed: i64,
    uncompressed: i64,
    encoding: i64,
    values: i64,
    /// Of a data page of the first version: how levels are encoded.
    levels: i64,
    /// Of the second version: the bytes of both levels, and whether the rest is compressed.
    definition: i64,
    repetition: i64,
    plain: bool,
}

/// The pages of a column, one after the other, each no larger than its header says.
pub(super) struct Pages<R> {
    pub file: Shared<R>,
    pub at: u64,
    pub end: u64,
    pub codec: Codec,
}

impl<R: Read + Seek> Iterator for Pages<R> {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.end {
            let page = self.page();
            if page.is_err() {
                self.at = self.end;
            }
            match page.transpose() {
                Some(page) => return Some(page),
                None => continue,
            }
        }
        None
    }
}

impl<R: Read + Seek> Pages<R> {
    /// The next page; none where it is an index.
    fn page(&mut self) -> Result<Option<Page>, ParquetError> {
        let general = |what: String| ParquetError::General(what);
        let (header, taken) = read_header(&self.file, self.at, self.end)
            .map_err(|error| general(error.to_string()))?;
        let small = |number: i64| {
            u32::try_from(number)
                .map_err(|_| general("a page has no size, or one below zero".into()))
        };
        let (compressed, uncompressed) = (small(header.compressed)?, small(header.uncompressed)?);
        self.at += taken;
        let bytes = self.file.exact(self.at, compressed as usize);
        let bytes = bytes.map_err(|error| ParquetError::External(Box::new(error)))?;
        self.at += u64::from(compressed);
        let values = || small(header.values);
        let unpacked = |bytes: &[u8], size: usize| {
            let unpacked = self.codec.unpacked(bytes, size);
            unpacked.map_err(|what| general(what.to_string()))
        };
        let encoding = match header.encoding {
            PLAIN => Encoding::PLAIN,
            PLAIN_DICTIONARY => Encoding::PLAIN_DICTIONARY,
            RLE => Encoding::RLE,
            RLE_DICTIONARY => Encoding::RLE_DICTIONARY,
            BYTE_STREAM_SPLIT => Encoding::BYTE_STREAM_SPLIT,
            _ => return Err(general("a page has no known encoding".into())),
        };
        Ok(match header.kind {
            DATA => Some(Page::DataPage {
                buf: unpacked(&bytes, uncompressed as usize)?.into(),
                num_values: values()?,
                encoding,
                def_level_encoding: match header.levels {
                    RLE => Encoding::RLE,
                    _ => Encoding::PLAIN,
                },
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            }),
            DICTIONARY => Some(Page::DictionaryPage {
                buf: unpacked(&bytes, uncompressed as usize)?.into(),
                num_values: values()?,
                encoding,
                is_sorted: false,
            }),
            DATA_V2 => {
                let (definition, repetition) =
                    (small(header.definition)?, small(header.repetition)?);
                let levels = definition as usize + repetition as usize;
                let size = (uncompressed as usize).checked_sub(levels);
                let (Some((before, after)), Some(size)) = (bytes.split_at_checked(levels), size)
                else {
                    return Err(general("levels reach beyond their page".into()));
                };
                let after = match header.plain {
                    true => after.to_vec(),
                    false => unpacked(after, size)?,
                };
                Some(Page::DataPageV2 {
                    buf: [before, &after].concat().into(),
                    num_values: values()?,
                    encoding,
                    num_nulls: 0,
                    num_rows: 0,
                    def_levels_byte_len: definition,
                    rep_levels_byte_len: repetition,
                    is_compressed: false,
                    statistics: None,
                })
            }
            _ => None,
        })
    }
}

/// The header at `at`, and how many bytes it takes.
fn read_header<R: Read + Seek>(
    file: &Shared<R>,
    at: u64,
    end: u64,
) -> Result<(Header, u64), PageError> {
    let most = usize::try_from(end - at).unwrap_or(usize::MAX);
    let most = most.min(MAX_HEADER_BYTES);
    let mut length = most.min(256);
    loop {
        let bytes = file.exact(at, length).map_err(PageError::Read)?;
        let mut thrift = Thrift {
            bytes: &bytes,
            at: 0,
            most: MAX_HEADER_BYTES as u64,
        };
        match thrift.header() {
            Ok(header) => return Ok((header, thrift.at as u64)),
            Err(Stop::Short) if length < most => length = (4 * length).min(most),
            Err(_) => return Err(PageError::Damaged("the header of a page cannot be read")),
        }
    }
}

impl Thrift<'_> {
    fn header(&mut self) -> Result<Header, Stop> {
        let mut header = Header {
            kind: -1,
            compressed: -1,
            uncompressed: -1,
            encoding: -1,
            values: -1,
            levels: -1,
            definition: 0,
            repetition: 0,
            plain: false,
        };
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            match (id, kind) {
                (1, kind) => header.kind = self.whole(kind, I32)?,
                (2, kind) => header.uncompressed = self.whole(kind, I32)?,
                (3, kind) => header.compressed = self.whole(kind, I32)?,
                (4, kind) => drop(self.whole(kind, I32)?),
                // Of a data page, a dictionary, a data page of the second version.
                (5, STRUCT) => self.inner(2, 4, &mut header)?,
                (7, STRUCT) => self.inner(2, 2, &mut header)?,
                (8, STRUCT) => self.inner(4, 6, &mut header)?,
                // The decompressor believes the number of a field, not its type.
                (6, STRUCT) => self.skip(STRUCT, MAX_DEPTH)?,
                (5..=8, _) => return Err(Stop::Wrong),
                (_, kind) => self.skip(kind, MAX_DEPTH)?,
            }
        }
        Ok(header)
    }

    /// A header within the header: so many numbers, of which the first is that of the values.
    fn inner(&mut self, encoding: i64, numbers: i64, header: &mut Header) -> Result<(), Stop> {
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            // A truth value is its own type: 1 is true, 2 is false.
            if (id, encoding, kind) == (7, 4, 2) {
                header.plain = true;
                continue;
            }
            if !(1..=numbers).contains(&id) {
                self.skip(kind, MAX_DEPTH)?;
                continue;
            }
            let number = self.whole(kind, I32)?;
            match (id, encoding) {
                (1, _) => header.values = number,
                (2, 2) | (4, 4) => header.encoding = number,
                (3, 2) => header.levels = number,
                (5, 4) => header.definition = number,
                (6, 4) => header.repetition = number,
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::thrift::STOP;
    use super::*;
    use std::io::Cursor;

    fn held_in(bytes: &[u8], smallest_value: u64) -> Result<u64, PageError> {
        Ok(chunk_held(bytes, smallest_value, false)?.bytes)
    }

    fn chunk_held(bytes: &[u8], smallest_value: u64, texts: bool) -> Result<Held, PageError> {
        let file = Shared::new(Cursor::new(bytes.to_vec())).unwrap();
        let chunk = Chunk {
            start: 0,
            length: bytes.len() as u64,
            smallest_value,
            truths: false,
            texts,
        };
        held(&file, chunk)
    }

    /// A number between −64 and 63 as one byte: 0, −1, 1, … are 0, 1, 2, …
    fn z(x: i8) -> u8 {
        (x << 1 ^ x >> 7) as u8
    }

    /// A page of `compressed` zeros, its header by hand: fields 1, 2, 3 (i32), then the struct
    /// `inner` with the values and the encoding.
    fn page(kind: i8, sizes: (i8, i8), inner: u8, values: i8, encoding: i8) -> Vec<u8> {
        let mut bytes = vec![0x15, z(kind), 0x15, z(sizes.0), 0x15, z(sizes.1)];
        // The number of the inner struct as a step from 3.
        bytes.push((inner - 3) << 4 | STRUCT);
        let step = if inner == 8 { 3 } else { 1 };
        bytes.extend([0x15, z(values), step << 4 | 5, z(encoding), STOP]);
        // A field that is not known: a text of three bytes.
        bytes.extend([0x08, 40, 3, b'a', b'b', b'c', STOP]);
        bytes.extend(vec![0; sizes.1.max(0) as usize]);
        bytes
    }

    #[test]
    fn the_largest_page_and_the_dictionary_count() {
        let dictionary = page(2, (40, 20), 7, 5, 0);
        let small = page(0, (10, 8), 5, 3, 8);
        let large = page(3, (30, 25), 8, 3, 0);
        let all = [dictionary, small.clone(), large].concat();
        // 30 + 25 of the largest page, 40 + 20 of the dictionary and 5 entries.
        assert_eq!(held_in(&all, 8).unwrap(), 55 + 60 + 5 * ENTRY_BYTES);
        // Of texts also a page before, and 30 bytes for three values.
        let texts = Held {
            bytes: 55 + 30 + 60 + 5 * ENTRY_BYTES,
            text_a_row: 10,
        };
        assert_eq!(chunk_held(&all, 8, true).unwrap(), texts);
        let wrong: [(&[u8], &str); 6] = [
            (&small, "there is no dictionary"),
            (&all[..all.len() - 1], "longer than its column"),
            (&page(2, (39, 20), 7, 5, 0), "cannot hold its entries"),
            (&page(0, (10, -1), 5, 1, 0), "no size"),
            (&page(5, (1, 1), 5, 1, 0), "no known kind"),
            (&[0x15, 0xff], "cannot be read"),
        ];
        for (bytes, want) in wrong {
            let error = held_in(bytes, 8).unwrap_err().to_string();
            assert!(error.contains(want), "{want}: {error}");
        }
        let delta = held_in(&page(0, (1, 1), 5, 1, 5), 8).unwrap_err();
        assert!(delta.to_string().contains("DELTA_BINARY_PACKED"));
        assert_eq!(held_in(&[], 8).unwrap(), 0);
    }

    /// The decompressor reads a field by its number and cuts what is too large for it.
    #[test]
    fn a_header_has_one_meaning() {
        let fine = page(0, (10, 8), 5, 3, 0);
        assert!(held_in(&fine, 8).is_ok());
        // The size of a page as a truth value, a byte, a number of 64 bits; a header as a text.
        for (at, byte) in [(2, 0x11), (2, 0x13), (2, 0x16), (6, 2 << 4 | 8)] {
            let mut bytes = fine.clone();
            bytes[at] = byte;
            let error = held_in(&bytes, 8).unwrap_err().to_string();
            assert!(error.contains("cannot be read"), "{at}: {error}");
        }
        // A size of 2^32 + 10; the field 2 with the number 2^16 + 2.
        let wide = [&fine[..3], &[0x94, 0x80, 0x80, 0x80, 0x20], &fine[4..]].concat();
        let far = [&fine[..2], &[0x05, 0x84, 0x80, 0x08], &fine[3..]].concat();
        for bytes in [wide, far] {
            let error = held_in(&bytes, 8).unwrap_err().to_string();
            assert!(error.contains("cannot be read"), "{error}");
        }
    }

    #[test]
    fn hostile_headers_end() {
        // A text of 2^60 bytes; structs in structs without end; a list that announces 2^40 truths.
        let text = [&[0x18][..], &[0xff; 8], &[0x0f]].concat();
        let deep = vec![0x1c; 100_000];
        let list = [&[0x19, 0xf1][..], &[0xff; 5], &[0x01]].concat();
        let endless = vec![0xff; 64];
        for bytes in [text, deep, list, endless] {
            assert!(matches!(held_in(&bytes, 1), Err(PageError::Damaged(_))));
        }
    }
}
