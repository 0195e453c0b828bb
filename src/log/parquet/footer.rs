//! The description of a file, read with bounds of our own and written anew for the `parquet` crate.
//!
//! The crate walks the schema by recursion, makes room for what is announced, and reads a field by its
//! number, whatever type it says it has. A check beside it could be shown another description than the
//! crate reads; so the crate gets what was read here and nothing else: names, types, places, counts.

use super::TableError;
use super::thrift::{
    BYTE, FALSE, I32, I64, LIST, MAX_DEPTH, STRUCT, Stop, TEXT, TRUE, Thrift, ThriftWriter,
};
use crate::log::limits::{LimitError, Limits};

/// The description that `bytes` give, written so that it can be read in little memory and on a small
/// stack. What no prediction needs is left out: statistics, indices, key values.
///
/// # Errors
/// [`TableError::Limit`], or [`TableError::NotParquet`] where it makes no sense.
pub(super) fn bounded(bytes: &[u8], limits: &Limits) -> Result<Vec<u8>, TableError> {
    let mut footer = Footer {
        thrift: Thrift {
            bytes,
            at: 0,
            most: bytes.len() as u64,
        },
        limits,
        columns: 0,
        out: ThriftWriter::default(),
    };
    match footer.file() {
        Ok(()) => Ok(footer.out.0),
        Err(End::Limit(error)) => Err(TableError::Limit(error)),
        Err(End::Unreadable) => Err(TableError::NotParquet(
            "its description cannot be read".to_string(),
        )),
    }
}

/// Why the walk ends early.
enum End {
    Limit(LimitError),
    Unreadable,
}

impl From<LimitError> for End {
    fn from(error: LimitError) -> Self {
        End::Limit(error)
    }
}

impl From<Stop> for End {
    fn from(_: Stop) -> Self {
        End::Unreadable
    }
}

struct Footer<'a> {
    thrift: Thrift<'a>,
    limits: &'a Limits,
    /// Columns so far, each counted as deep as it lies.
    columns: u64,
    out: ThriftWriter,
}

/// An element of the schema; what is not said is none. The numbers are those of the format's own
/// definition (parquet.thrift), here and below.
#[derive(Default)]
struct Element<'a> {
    /// Type, length, repetition, children, old logical type, scale, precision: fields 1, 2, 3, 5 to 8.
    numbers: [Option<i64>; 9],
    name: Option<&'a [u8]>,
    logical: Option<Logical>,
}

/// What a column means beyond its type.
enum Logical {
    /// A text, one of some texts, or a number in half precision: fields 1, 4 and 15 of the union.
    Plain(u8),
    /// A whole number: how many bits, and whether it has a sign.
    Integer(Option<u8>, Option<u8>),
    /// Something else, which is no part of a prediction.
    Other,
}

/// A number of the union of logical types that no version of the format has.
const NO_LOGICAL: u8 = 60;

impl<'a> Footer<'a> {
    fn count(&mut self, more: u64) -> Result<(), LimitError> {
        self.columns = self.columns.saturating_add(more);
        self.limits.columns(self.columns)
    }

    fn file(&mut self) -> Result<(), End> {
        let (mut id, mut seen) = (0, [false; 2]);
        while let Some(kind) = self.thrift.field(&mut id)? {
            match id {
                1 => {
                    let version = self.thrift.whole(kind, I32)?;
                    self.out.whole(1, I32, Some(version));
                }
                2 => self.once(&mut seen[0], kind, Footer::schema)?,
                3 => {
                    let rows = self.thrift.whole(kind, I64)?;
                    self.out.whole(3, I64, Some(rows));
                }
                4 => self.once(&mut seen[1], kind, Footer::groups)?,
                _ => self.thrift.skip(kind, MAX_DEPTH)?,
            }
        }
        self.out.stop();
        Ok(())
    }

    /// A list of structs, which there is once.
    fn once(
        &mut self,
        seen: &mut bool,
        kind: u8,
        read: impl FnOnce(&mut Self, u64) -> Result<(), End>,
    ) -> Result<(), End> {
        if std::mem::replace(seen, true) {
            return Err(End::Unreadable);
        }
        let count = self.list(kind)?;
        read(self, count)
    }

    /// How many structs are in a list of them. Each takes a byte at least.
    fn list(&mut self, kind: u8) -> Result<u64, Stop> {
        match (kind, self.thrift.list()?) {
            (LIST, (STRUCT, count)) if count <= self.thrift.most => Ok(count),
            (LIST, (_, 0)) => Ok(0),
            _ => Err(Stop::Wrong),
        }
    }

    /// The elements of the schema, each followed by its children.
    fn schema(&mut self, count: u64) -> Result<(), End> {
        self.out.list(2, count);
        // Children that are still to come, one number for each level.
        let mut open: Vec<i64> = Vec::new();
        for _ in 0..count {
            while open.last() == Some(&0) {
                open.pop();
            }
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            let element = self.element()?;
            self.count(open.len() as u64 + 1)?;
            let children = element.numbers[5].unwrap_or(0);
            if u64::try_from(children).is_ok_and(|n| n > count) || children < 0 {
                return Err(End::Unreadable);
            }
            if children > 0 {
                open.push(children);
                self.limits.depth(open.len() as u64)?;
            }
            element.write(&mut self.out);
        }
        Ok(())
    }

    fn element(&mut self) -> Result<Element<'a>, Stop> {
        let (mut id, mut element) = (0, Element::default());
        while let Some(kind) = self.thrift.field(&mut id)? {
            match (id, kind) {
                (1..=3 | 5..=8, _) => {
                    let number = self.thrift.whole(kind, I32)?;
                    element.numbers[id as usize] = Some(number);
                }
                (4, TEXT) => element.name = Some(self.thrift.text()?),
                (10, STRUCT) => element.logical = self.logical()?,
                (4 | 10, _) => return Err(Stop::Wrong),
                _ => self.thrift.skip(kind, MAX_DEPTH)?,
            }
        }
        Ok(element)
    }

    /// A union: a struct with one field, of which the last one counts.
    fn logical(&mut self) -> Result<Option<Logical>, Stop> {
        let (mut id, mut logical) = (0, None);
        while let Some(kind) = self.thrift.field(&mut id)? {
            logical = Some(match (id, kind) {
                (10, STRUCT) => self.integer()?,
                (_, kind) => {
                    self.thrift.skip(kind, MAX_DEPTH)?;
                    match id {
                        1 | 4 | 15 => Logical::Plain(id as u8),
                        _ => Logical::Other,
                    }
                }
            });
        }
        Ok(logical)
    }

    fn integer(&mut self) -> Result<Logical, Stop> {
        let (mut id, mut bits, mut signed) = (0, None, None);
        while let Some(kind) = self.thrift.field(&mut id)? {
            match (id, kind) {
                (1, BYTE) => bits = Some(self.thrift.byte()?),
                (2, TRUE | FALSE) => signed = Some(kind),
                (1 | 2, _) => return Err(Stop::Wrong),
                _ => self.thrift.skip(kind, MAX_DEPTH)?,
            }
        }
        Ok(Logical::Integer(bits, signed))
    }

    fn groups(&mut self, count: u64) -> Result<(), End> {
        self.out.list(4, count);
        for _ in 0..count {
            self.count(1)?;
            let (mut id, mut seen) = (0, false);
            while let Some(kind) = self.thrift.field(&mut id)? {
                match id {
                    1 => self.once(&mut seen, kind, Footer::chunks)?,
                    2 | 3 => {
                        let number = self.thrift.whole(kind, I64)?;
                        self.out.whole(id as u8, I64, Some(number));
                    }
                    _ => self.thrift.skip(kind, MAX_DEPTH)?,
                }
            }
            self.out.stop();
        }
        Ok(())
    }

    /// The columns of a group: only where their pages lie and how they are compressed.
    fn chunks(&mut self, count: u64) -> Result<(), End> {
        self.count(count)?;
        self.out.list(1, count);
        for _ in 0..count {
            let mut id = 0;
            // Where the description of the column is repeated: nowhere.
            self.out.whole(2, I64, Some(0));
            while let Some(kind) = self.thrift.field(&mut id)? {
                match (id, kind) {
                    (3, STRUCT) => self.chunk()?,
                    (3, _) => return Err(End::Unreadable),
                    _ => self.thrift.skip(kind, MAX_DEPTH)?,
                }
            }
            self.out.stop();
        }
        Ok(())
    }

    fn chunk(&mut self) -> Result<(), Stop> {
        self.out.field(3, STRUCT);
        // Encodings are said again by every page: no numbers here.
        self.out.field(2, LIST);
        self.out.0.push(I32);
        let mut id = 0;
        while let Some(kind) = self.thrift.field(&mut id)? {
            let wanted = match id {
                1 | 4 => I32,
                5 | 6 | 7 | 9 | 11 => I64,
                _ => {
                    self.thrift.skip(kind, MAX_DEPTH)?;
                    continue;
                }
            };
            let number = self.thrift.whole(kind, wanted)?;
            self.out.whole(id as u8, wanted, Some(number));
        }
        self.out.stop();
        Ok(())
    }
}

impl Element<'_> {
    fn write(&self, out: &mut ThriftWriter) {
        let is_group = self.numbers[5].is_some_and(|children| children > 0);
        for (id, number) in self.numbers.iter().enumerate() {
            let meaning = matches!(id, 6..=8);
            // The new form of the meaning comes before the old one, as the format has it.
            if !(is_group && (meaning || id == 1) || meaning && self.logical.is_some()) {
                out.whole(id as u8, I32, *number);
            }
        }
        if let Some(name) = self.name {
            out.text(4, name);
        }
        match self.logical.as_ref().filter(|_| !is_group) {
            None => {}
            Some(logical) => {
                out.field(10, STRUCT);
                match logical {
                    Logical::Plain(id) => out.field(*id, STRUCT),
                    Logical::Other => out.field(NO_LOGICAL, STRUCT),
                    Logical::Integer(bits, signed) => {
                        out.field(10, STRUCT);
                        if let Some(bits) = bits {
                            out.field(1, BYTE);
                            out.0.push(*bits);
                        }
                        if let Some(signed) = signed {
                            out.field(2, *signed);
                        }
                    }
                }
                out.stop();
                out.stop();
            }
        }
        out.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::Kind;
    use super::*;

    /// A schema whose elements have these numbers of children, and nothing else.
    fn schema(children: &[u8]) -> Vec<u8> {
        // Field 2, a list of more than 14 structs, their number in two bytes.
        let count = children.len();
        let mut bytes = vec![0x29, 0xfc, (count & 0x7f) as u8 | 0x80, (count >> 7) as u8];
        for &n in children {
            // Field 5, a whole number: 0, 1, 2, … are written as 0, 2, 4, …
            bytes.extend([0x55, 2 * n, 0]);
        }
        bytes.push(0);
        bytes
    }

    fn found(bytes: &[u8], limits: &Limits) -> String {
        bounded(bytes, limits).map_or_else(|e| e.to_string(), |_| "fine".to_string())
    }

    #[test]
    fn depth_and_columns_are_counted_as_they_nest() {
        let limits = Limits::default();
        assert_eq!(found(&schema(&[2, 0, 0]), &limits), "fine");
        // A chain as deep as is allowed, and one deeper.
        let most = limits.depth as usize;
        assert_eq!(
            found(&schema(&[vec![1; most], vec![0]].concat()), &limits),
            "fine"
        );
        let deep = found(&schema(&vec![1; 3000]), &limits);
        assert!(deep.starts_with("more than 64 levels of nesting"), "{deep}");
        // Side by side is not deep: a root with 60 children of one child each.
        let flat: Vec<u8> = [vec![60], [1, 0].repeat(60)].concat();
        assert_eq!(found(&schema(&flat), &limits), "fine");
        let few = Limits {
            columns: 4,
            ..limits
        };
        // 1 + 2 + 2 = 5.
        assert!(found(&schema(&[2, 0, 0]), &few).starts_with("more than 4 columns"));
        assert_eq!(found(&schema(&[1, 0]), &few), "fine");
        // Field 4: two groups, the first with a list of three columns.
        let groups = [0x49, 0x2c, 0x19, 0x3c, 0, 0, 0, 0, 0, 0];
        assert_eq!(
            found(
                &groups,
                &Limits {
                    columns: 5,
                    ..limits
                }
            ),
            "fine"
        );
        assert!(found(&groups, &few).starts_with("more than 4"));
    }

    /// What is written for the crate is what was read, and nothing else.
    #[test]
    fn a_description_is_written_as_it_was_meant() {
        use parquet::file::metadata::ParquetMetaDataReader;
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/parquet");
        let mut files = 0;
        for entry in std::fs::read_dir(fixtures).unwrap() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_none_or(|extension| extension != "parquet")
            {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let (rest, end) = bytes.split_last_chunk::<8>().unwrap();
            let length = u32::from_le_bytes(end[..4].try_into().unwrap());
            let footer = &rest[rest.len() - length as usize..];
            let given = ParquetMetaDataReader::decode_metadata(footer).unwrap();
            let written = bounded(footer, &Limits::default()).unwrap();
            let written = ParquetMetaDataReader::decode_metadata(&written).unwrap();
            assert_eq!(
                given.file_metadata().num_rows(),
                written.file_metadata().num_rows()
            );
            let columns = |data: &parquet::file::metadata::ParquetMetaData| {
                let schema = data.file_metadata().schema_descr();
                let column = |leaf| {
                    let column = schema.column(leaf);
                    let levels = (column.max_def_level(), column.max_rep_level());
                    (
                        column.path().string(),
                        column.physical_type(),
                        levels,
                        Kind::of(&column),
                    )
                };
                (0..schema.num_columns()).map(column).collect::<Vec<_>>()
            };
            assert_eq!(columns(&given), columns(&written), "{}", path.display());
            assert_eq!(given.num_row_groups(), written.num_row_groups());
            for (a, b) in given.row_groups().iter().zip(written.row_groups()) {
                assert_eq!(a.num_rows(), b.num_rows());
                for (a, b) in a.columns().iter().zip(b.columns()) {
                    let of = |c: &parquet::file::metadata::ColumnChunkMetaData| {
                        let pages = (c.data_page_offset(), c.dictionary_page_offset());
                        (c.compression(), c.num_values(), c.compressed_size(), pages)
                    };
                    assert_eq!(of(a), of(b), "{}", path.display());
                }
            }
            files += 1;
        }
        assert!(files >= 5, "{files} files");
    }

    #[test]
    fn a_field_of_another_type_is_refused() {
        let limits = Limits::default();
        let fine = schema(&[vec![1], vec![0]].concat());
        assert_eq!(found(&fine, &limits), "fine");
        // A set, a struct, a text instead of the list; the number 2^16 + 2 instead of 2.
        let tail = &fine[1..];
        for start in [&[0x2a][..], &[0x2c], &[0x28], &[0x09, 0x84, 0x80, 0x08]] {
            let bytes = [start, tail].concat();
            // A field of an unknown number is skipped, a known one of another type refused.
            assert!(
                found(&bytes, &limits).contains("cannot be read"),
                "{start:?}"
            );
        }
        // Children as 64 bits, as a byte, below zero, more than there are elements.
        for element in [&[0x56, 2][..], &[0x53, 2], &[0x55, 1], &[0x55, 126]] {
            let bytes = [&[0x29, 0x1c], element, &[0, 0]].concat();
            assert!(
                found(&bytes, &limits).contains("cannot be read"),
                "{element:?}"
            );
        }
        // Two schemas.
        let twice = [&fine[..fine.len() - 1], &[0x09, 4], tail].concat();
        assert!(found(&twice, &limits).contains("cannot be read"));
    }

    #[test]
    fn what_makes_no_sense_ends() {
        let limits = Limits::default();
        // A list of 2^34 structs, of numbers, a field without its value, nothing at all.
        let endless = [0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x3f, 0];
        for bytes in [&endless[..], &[0x29, 0xf5, 0x80], &[0x29], &[]] {
            assert!(
                found(bytes, &limits).contains("cannot be read"),
                "{bytes:?}"
            );
        }
    }
}
