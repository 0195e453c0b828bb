//! Columns of numbers, packed bit by bit.
//!
//! A file is a sequence of columns, each with a head of 17 bytes: bits of an entry `b` (one byte),
//! offset and step (doubles, little endian). Then `⌈n·b/8⌉` bytes hold `n` entries, from the lowest
//! bit of the first byte on; entry `q` means `offset + step·q`.

/// What is wrong with a packed file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum PackedError {
    /// The file ends within a column.
    #[error("the packed data end within column {column}")]
    Short { column: usize },
    /// Something follows the last column.
    #[error("{bytes} bytes follow the last column of the packed data")]
    Long { bytes: usize },
    /// Entries of no bits, or of more than 32.
    #[error("entries of column {column} of the packed data have {bits} bits")]
    Bits { column: usize, bits: u8 },
    /// A class that there is not.
    #[error("entity {entity} of the packed data has no class")]
    Class { entity: usize },
}

/// `count` columns of `rows` numbers each.
pub(super) fn columns(
    mut bytes: &[u8],
    rows: usize,
    count: usize,
) -> Result<Vec<Vec<f64>>, PackedError> {
    let mut columns = Vec::with_capacity(count);
    for column in 0..count {
        let short = PackedError::Short { column };
        let (head, rest) = bytes.split_first_chunk::<17>().ok_or(short.clone())?;
        let [bits, numbers @ ..] = *head;
        if !(1..=32).contains(&bits) {
            return Err(PackedError::Bits { column, bits });
        }
        let number = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&numbers[at..at + 8]);
            f64::from_le_bytes(eight)
        };
        let (offset, step) = (number(0), number(8));
        let size = (rows * usize::from(bits)).div_ceil(8);
        let (packed, rest) = rest.split_at_checked(size).ok_or(short)?;
        columns.push(entries(packed, bits, rows, offset, step));
        bytes = rest;
    }
    match bytes.len() {
        0 => Ok(columns),
        bytes => Err(PackedError::Long { bytes }),
    }
}

fn entries(packed: &[u8], bits: u8, rows: usize, offset: f64, step: f64) -> Vec<f64> {
    let mut entries = Vec::with_capacity(rows);
    // Bits that have been read but not used, the oldest lowest.
    let (mut held, mut count) = (0u64, 0);
    for &byte in packed {
        held |= u64::from(byte) << count;
        count += 8;
        while count >= bits && entries.len() < rows {
            let entry = held & ((1 << bits) - 1);
            entries.push(offset + step * entry as f64);
            held >>= bits;
            count -= bits;
        }
    }
    entries
}
