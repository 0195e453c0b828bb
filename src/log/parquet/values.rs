//! From the bytes of pages to values, one after the other.
//!
//! Decoders of the `parquet` crate assert that their input is sound; these end with an error where it
//! is not. Only what is needed for columns of one value a row: levels of one bit, plain values,
//! dictionaries, and plain values whose bytes are split into streams.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::errors::ParquetError;

use super::super::table::Lists;

/// What a column consists of.
pub(super) trait Value: Clone {
    /// The value at `at`, which moves behind it.
    fn plain(page: &Bytes, at: &mut usize) -> Option<Self>;

    /// The value at `index`, its bytes taken from streams of `count` bytes.
    fn split(page: &Bytes, count: usize, index: usize) -> Option<Self>;

    /// The width of a value in bytes; none where it varies.
    const WIDTH: Option<usize>;

    /// The value of a number in runs.
    fn in_runs(_: u32) -> Option<Self> {
        None
    }
}

macro_rules! fixed {
    ($type:ty) => {
        impl Value for $type {
            const WIDTH: Option<usize> = Some(size_of::<$type>());

            fn plain(page: &Bytes, at: &mut usize) -> Option<Self> {
                let (bytes, _) = page.get(*at..)?.split_first_chunk()?;
                *at += bytes.len();
                Some(<$type>::from_le_bytes(*bytes))
            }

            fn split(page: &Bytes, count: usize, index: usize) -> Option<Self> {
                let mut bytes = [0; size_of::<$type>()];
                for (stream, byte) in bytes.iter_mut().enumerate() {
                    *byte = *page.get(stream * count + index)?;
                }
                Some(<$type>::from_le_bytes(bytes))
            }
        }
    };
}

fixed!(f64);
fixed!(f32);
fixed!(i32);
fixed!(i64);
fixed!(u16);

/// A truth value: plain, one bit.
impl Value for bool {
    const WIDTH: Option<usize> = None;

    fn plain(page: &Bytes, at: &mut usize) -> Option<Self> {
        let bit = page.get(*at / 8)? >> (*at % 8) & 1;
        *at += 1;
        Some(bit == 1)
    }

    fn split(_: &Bytes, _: usize, _: usize) -> Option<Self> {
        None
    }

    fn in_runs(number: u32) -> Option<Self> {
        Some(number == 1)
    }
}

/// A text: its length, then its bytes.
impl Value for Bytes {
    const WIDTH: Option<usize> = None;

    fn plain(page: &Bytes, at: &mut usize) -> Option<Self> {
        let length = u32::from_le_bytes(i32::plain(page, at)?.to_le_bytes());
        let end = at.checked_add(usize::try_from(length).ok()?)?;
        let found = (end <= page.len()).then(|| page.slice(*at..end))?;
        *at = end;
        Some(found)
    }

    fn split(_: &Bytes, _: usize, _: usize) -> Option<Self> {
        None
    }
}

/// Whole numbers in runs: one number many times, or numbers packed bit by bit.
#[derive(Debug)]
struct Runs {
    bytes: Bytes,
    at: usize,
    /// Bits of a number.
    width: u32,
    repeated: u64,
    number: u32,
    packed: u64,
    /// The next packed number starts at this bit, counted from `at`.
    bit: usize,
}

impl Runs {
    fn new(bytes: Bytes, width: u32) -> Self {
        Runs {
            bytes,
            at: 0,
            width,
            repeated: 0,
            number: 0,
            packed: 0,
            bit: 0,
        }
    }

    /// The next number; none at the end of the bytes.
    fn next(&mut self) -> Option<u32> {
        loop {
            if self.repeated > 0 {
                self.repeated -= 1;
                return Some(self.number);
            }
            if self.packed > 0 {
                return self.next_packed();
            }
            self.next_run()?;
        }
    }

    fn next_packed(&mut self) -> Option<u32> {
        let first = self.at + self.bit / 8;
        let shift = self.bit % 8;
        // At most 32 bits and 7 before them: five bytes.
        let taken = (shift + self.width as usize).div_ceil(8);
        let bytes = self.bytes.get(first..first + taken)?;
        let whole = bytes
            .iter()
            .rev()
            .fold(0u64, |all, b| all << 8 | u64::from(*b));
        let number = whole >> shift & ((1u64 << self.width) - 1);
        self.bit += self.width as usize;
        self.packed -= 1;
        if self.packed == 0 {
            self.at += self.bit.div_ceil(8);
            self.bit = 0;
        }
        u32::try_from(number).ok()
    }

    fn next_run(&mut self) -> Option<()> {
        let mut header = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            header |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                if header & 1 == 1 {
                    self.packed = (header >> 1) * 8;
                } else {
                    let taken = (self.width as usize).div_ceil(8);
                    let bytes = self.bytes.get(self.at..self.at + taken)?;
                    let number = bytes
                        .iter()
                        .rev()
                        .fold(0, |all, b| all << 8 | u32::from(*b));
                    self.at += taken;
                    self.repeated = header >> 1;
                    self.number = number;
                }
                return Some(());
            }
        }
        None
    }
}

/// Where the values of a page come from.
#[derive(Debug)]
enum Source {
    Plain {
        page: Bytes,
        at: usize,
    },
    Dictionary(Runs),
    Runs(Runs),
    Split {
        page: Bytes,
        count: usize,
        index: usize,
    },
}

/// A page being read.
#[derive(Debug)]
struct Open {
    left: u64,
    /// Whether a value belongs to the row of the one before it; none where it never does.
    repeated: Option<Runs>,
    /// Whether the value of a row is there; none where every one is.
    levels: Option<Runs>,
    source: Source,
}

/// The levels of a column: how deep its values lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Levels {
    /// The level at which a value is there.
    pub there: u32,
    /// In lists, the level from which on there is an element.
    pub element: Option<u32>,
}

impl Levels {
    /// The bits of a level.
    fn width(self) -> u32 {
        u32::BITS - self.there.leading_zeros()
    }
}

/// Pages, one after the other.
pub(super) type AllPages = Box<dyn Iterator<Item = Result<Page, ParquetError>> + Send>;

/// The values of a column, row by row.
pub(super) struct Values<V> {
    pages: AllPages,
    levels: Levels,
    dictionary: Vec<V>,
    open: Option<Open>,
    /// In lists, whether the next element is of another row, and its level.
    next: Option<(bool, u32)>,
}

/// The error of a page that does not hold what it should.
fn damaged(what: &str) -> ParquetError {
    ParquetError::General(what.to_string())
}

/// Where the bytes are whose length stands at `at`.
fn sized(page: &Bytes, mut at: usize) -> Result<std::ops::Range<usize>, ParquetError> {
    let length = i32::plain(page, &mut at).map(usize::try_from);
    let Some(Ok(length)) = length else {
        return Err(damaged("a page has no levels"));
    };
    let end = at.checked_add(length).filter(|end| *end <= page.len());
    Ok(at..end.ok_or_else(|| damaged("levels reach beyond their page"))?)
}

fn short() -> ParquetError {
    damaged("a page has fewer values than it says")
}

/// What `value` makes of the next value.
#[inline]
fn next_value<V: Value, U>(
    source: &mut Source,
    dictionary: &[V],
    value: impl Fn(&V) -> U,
) -> Result<U, ParquetError> {
    Ok(match source {
        Source::Plain { page, at } => value(&V::plain(page, at).ok_or_else(short)?),
        Source::Dictionary(runs) => {
            let index = runs.next().ok_or_else(short)?;
            let entry = dictionary.get(index as usize);
            value(entry.ok_or_else(|| damaged("a value is not in the dictionary"))?)
        }
        Source::Runs(runs) => {
            let number = runs.next().ok_or_else(short)?;
            value(&V::in_runs(number).ok_or_else(short)?)
        }
        Source::Split { page, count, index } => {
            let found = (*index < *count).then(|| V::split(page, *count, *index));
            *index += 1;
            value(&found.flatten().ok_or_else(short)?)
        }
    })
}

impl<V: Value> Values<V> {
    /// Starts with the first row.
    pub(super) fn new(pages: AllPages, levels: Levels) -> Self {
        Values {
            pages,
            levels,
            dictionary: Vec::new(),
            open: None,
            next: None,
        }
    }

    /// Appends what `value` makes of the next `rows` rows, or `missing` where there is no value; fewer
    /// at the end of the column.
    ///
    /// # Errors
    /// Where pages cannot be read or do not hold what they should.
    pub(super) fn read<U: Clone>(
        &mut self,
        rows: usize,
        out: &mut Vec<U>,
        missing: &U,
        value: impl Fn(&V) -> U,
    ) -> Result<(), ParquetError> {
        while out.len() < rows {
            self.read_run(rows - out.len(), out, &value)?;
            if out.len() == rows {
                break;
            }
            match self.level()? {
                None => return Ok(()),
                Some((_, level)) if level == self.levels.there => out.push(self.value(&value)?),
                Some(_) => out.push(missing.clone()),
            }
        }
        Ok(())
    }

    /// Appends what `value` makes of the next values of the open page, `most` at most, as long as it is known
    /// without a look at each that they are there.
    fn read_run<U>(
        &mut self,
        most: usize,
        out: &mut Vec<U>,
        value: impl Fn(&V) -> U,
    ) -> Result<(), ParquetError> {
        let Some(page) = self.open.as_mut().filter(|page| page.repeated.is_none()) else {
            return Ok(());
        };
        let mut count = page.left.min(most as u64);
        if let Some(levels) = &mut page.levels {
            let there = levels.number == self.levels.there;
            count = count.min(if there { levels.repeated } else { 0 });
            levels.repeated -= count;
        }
        page.left -= count;
        for _ in 0..count {
            out.push(next_value(&mut page.source, &self.dictionary, &value)?);
        }
        Ok(())
    }

    /// Appends the elements of the next `rows` rows of a column of lists, and where each list ends.
    /// No more than `most` elements are taken.
    ///
    /// # Errors
    /// As [`Values::read`].
    pub(super) fn read_lists(
        &mut self,
        rows: usize,
        most: usize,
        lists: &mut Lists,
        value: impl Fn(&V) -> f64,
    ) -> Result<(), ParquetError> {
        let element = self.levels.element.unwrap_or_default();
        loop {
            if self.next.is_none() {
                self.next = self.level()?;
            }
            let Some((repeated, level)) = self.next else {
                return Ok(());
            };
            if !repeated {
                if lists.ends.len() == rows {
                    return Ok(());
                }
                lists.ends.push(lists.values.len());
            }
            self.next = None;
            if level >= element {
                if lists.values.len() == most {
                    return Err(damaged("lists are longer than there may be classes"));
                }
                let number = match level == self.levels.there {
                    true => self.value(&value)?,
                    false => f64::NAN,
                };
                lists.values.push(number);
                let end = lists.ends.last_mut();
                *end.ok_or_else(|| damaged("a list begins in no row"))? = lists.values.len();
            }
        }
    }

    /// The levels of the next value; none at the end of the column.
    fn level(&mut self) -> Result<Option<(bool, u32)>, ParquetError> {
        let there = self.levels.there;
        loop {
            let page = match &mut self.open {
                Some(page) if page.left > 0 => page,
                _ => match self.next_page()? {
                    true => continue,
                    false => return Ok(None),
                },
            };
            let fewer = || damaged("a page has fewer levels than rows");
            let repeated = match &mut page.repeated {
                None => false,
                Some(levels) => levels.next().ok_or_else(fewer)? == 1,
            };
            let level = match &mut page.levels {
                None => there,
                Some(levels) => levels.next().ok_or_else(fewer)?,
            };
            page.left -= 1;
            return Ok(Some((repeated, level)));
        }
    }

    /// What `value` makes of the next value of the open page.
    fn value<U>(&mut self, value: impl Fn(&V) -> U) -> Result<U, ParquetError> {
        let page = self.open.as_mut().ok_or_else(short)?;
        next_value(&mut page.source, &self.dictionary, value)
    }

    /// Opens the next page of values; `false` where there is none.
    fn next_page(&mut self) -> Result<bool, ParquetError> {
        loop {
            let Some(page) = self.pages.next().transpose()? else {
                return Ok(false);
            };
            let lists = self.levels.element.is_some();
            let (buffer, rows, encoding, repeated, levels) = match page {
                Page::DictionaryPage {
                    buf, num_values, ..
                } => {
                    self.read_dictionary(&buf, num_values)?;
                    continue;
                }
                Page::DataPage {
                    buf,
                    num_values,
                    encoding,
                    def_level_encoding,
                    ..
                } => {
                    let (mut repeated, mut levels) = (0..0, 0..0);
                    if self.levels.there > 0 && def_level_encoding != Encoding::RLE {
                        return Err(damaged("levels are not in runs"));
                    }
                    if lists {
                        repeated = sized(&buf, 0)?;
                        levels.end = repeated.end;
                    }
                    if self.levels.there > 0 {
                        levels = sized(&buf, repeated.end)?;
                    }
                    (buf, num_values, encoding, repeated, levels)
                }
                Page::DataPageV2 {
                    buf,
                    num_values,
                    encoding,
                    def_levels_byte_len,
                    rep_levels_byte_len,
                    ..
                } => {
                    let lengths = [rep_levels_byte_len, def_levels_byte_len];
                    let [Ok(repeated), Ok(length)] = lengths.map(usize::try_from) else {
                        return Err(damaged("a page has no levels"));
                    };
                    let levels = repeated..repeated.saturating_add(length);
                    (buf, num_values, encoding, 0..repeated, levels)
                }
            };
            if levels.end > buffer.len()
                || levels.start > levels.end
                || repeated.end > levels.start.max(repeated.start)
            {
                return Err(damaged("levels reach beyond their page"));
            }
            let start = levels.end;
            let source = self.source(buffer.slice(start..), encoding)?;
            self.open = Some(Open {
                left: u64::from(rows),
                repeated: lists.then(|| Runs::new(buffer.slice(repeated), 1)),
                levels: (self.levels.there > 0)
                    .then(|| Runs::new(buffer.slice(levels), self.levels.width())),
                source,
            });
            return Ok(true);
        }
    }

    fn source(&self, page: Bytes, encoding: Encoding) -> Result<Source, ParquetError> {
        match encoding {
            Encoding::PLAIN => Ok(Source::Plain { page, at: 0 }),
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => match page.first() {
                // A page on which every value is missing may be empty.
                None => Ok(Source::Plain { page, at: 0 }),
                Some(&width) if width <= 32 => {
                    Ok(Source::Dictionary(Runs::new(page.slice(1..), width.into())))
                }
                Some(_) => Err(damaged("numbers of more than 32 bits")),
            },
            // Their length, then the runs.
            Encoding::RLE if V::in_runs(0).is_some() => {
                let runs = sized(&page, 0)?;
                Ok(Source::Runs(Runs::new(page.slice(runs), 1)))
            }
            Encoding::BYTE_STREAM_SPLIT => match V::WIDTH {
                Some(width) => Ok(Source::Split {
                    count: page.len() / width,
                    page,
                    index: 0,
                }),
                None => Err(damaged("texts cannot be split into streams")),
            },
            other => Err(damaged(&format!("encoded as {other}"))),
        }
    }

    fn read_dictionary(&mut self, page: &Bytes, count: u32) -> Result<(), ParquetError> {
        self.dictionary.clear();
        let mut at = 0;
        for _ in 0..count {
            let entry = V::plain(page, &mut at);
            let short = || damaged("the dictionary has fewer entries than it says");
            self.dictionary.push(entry.ok_or_else(short)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(bytes: &[u8], width: u32) -> Vec<u32> {
        let mut runs = Runs::new(Bytes::copy_from_slice(bytes), width);
        std::iter::from_fn(|| runs.next()).collect()
    }

    #[test]
    fn runs_are_those_of_the_format() {
        // The format's own example: 0 to 7 in three bits, packed: header (1 << 1) | 1.
        let packed = [0x03, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(numbers(&packed, 3), [0, 1, 2, 3, 4, 5, 6, 7]);
        // Five times the number 300 in nine bits: header 5 << 1, two bytes.
        assert_eq!(numbers(&[10, 0x2c, 0x01], 9), [300; 5]);
        // No bits: the number is zero, and takes no byte.
        assert_eq!(numbers(&[6], 0), [0; 3]);
        assert_eq!(numbers(&[3], 0), [0; 8]);
        // One run after the other, an empty one between them.
        assert_eq!(
            numbers(&[4, 1, 0, 0, 0x03, 0x0f], 1),
            [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
        );
        // 32 bits at an odd place, and bytes that end in a run, a header or a number.
        assert_eq!(numbers(&[2, 1, 2, 3, 4], 32), [0x0403_0201]);
        assert!(numbers(&[2, 1], 32).is_empty());
        assert!(numbers(&[0x80], 1).is_empty());
        assert!(numbers(&[0xff; 9], 1).is_empty());
        assert_eq!(numbers(&[0x05, 0xff], 1), [1; 8]);
    }

    fn page(buf: Vec<u8>, num_values: u32, encoding: Encoding) -> Page {
        Page::DataPage {
            buf: buf.into(),
            num_values,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        }
    }

    fn read<V: Value>(pages: Vec<Page>, optional: bool) -> Result<Vec<Option<V>>, ParquetError> {
        let levels = Levels {
            there: optional.into(),
            element: None,
        };
        let pages = pages.into_iter().map(Ok);
        let mut values = Values::<V>::new(Box::new(pages), levels);
        let mut out = Vec::new();
        values.read(100, &mut out, &None, |v| Some(v.clone()))?;
        Ok(out)
    }

    fn doubles(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn pages_give_their_values_and_no_more() {
        let plain = page(doubles(&[1.0, 2.0]), 2, Encoding::PLAIN);
        let split: Vec<u8> = (0..8)
            .flat_map(|k| [3.0f64, 4.0].map(|x| x.to_le_bytes()[k]))
            .collect();
        let split = page(split, 2, Encoding::BYTE_STREAM_SPLIT);
        let all = read::<f64>(vec![plain.clone(), split], false).unwrap();
        assert_eq!(all, [1.0, 2.0, 3.0, 4.0].map(Some));
        // Levels 1, 0, 1: packed into one byte, after their length.
        let levels = [&[2, 0, 0, 0, 0x03, 0b101][..], &doubles(&[5.0, 6.0])].concat();
        let missing = page(levels, 3, Encoding::PLAIN);
        let found = read::<f64>(vec![missing], true).unwrap();
        assert_eq!(found, [Some(5.0), None, Some(6.0)]);
        let dictionary = Page::DictionaryPage {
            buf: b"\x01\0\0\0a\x02\0\0\0bc"[..].into(),
            num_values: 2,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let indices = page(vec![1, 0x03, 0b110], 4, Encoding::RLE_DICTIONARY);
        let texts = read::<Bytes>(vec![dictionary.clone(), indices], false).unwrap();
        let texts: Vec<Bytes> = texts.into_iter().flatten().collect();
        assert_eq!(texts, [&b"a"[..], b"bc", b"bc", b"a"]);
        for wrong in [
            vec![page(doubles(&[1.0]), 2, Encoding::PLAIN)],
            vec![page(vec![1, 2, 1], 1, Encoding::RLE_DICTIONARY)],
            vec![page(vec![33, 2, 1], 1, Encoding::RLE_DICTIONARY)],
            vec![page(vec![], 1, Encoding::RLE_DICTIONARY)],
            vec![page(vec![0; 8], 2, Encoding::BYTE_STREAM_SPLIT)],
            vec![page(vec![0; 8], 1, Encoding::DELTA_BINARY_PACKED)],
            vec![dictionary],
        ] {
            assert!(read::<f64>(wrong, false).is_err());
        }
        for bytes in [&[2, 0][..], &[9, 0, 0, 0, 2, 1], &[0xff; 8], &[0; 4]] {
            let wrong = page(bytes.to_vec(), 1, Encoding::PLAIN);
            assert!(read::<f64>(vec![wrong], true).is_err());
        }
    }
}
