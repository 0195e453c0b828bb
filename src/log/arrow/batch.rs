//! The buffers of one message, and the columns that they are.

use bytes::Bytes;

use super::super::codec::Codec;
use super::super::limits::{LimitError, Limits};
use super::super::table::{Cell, Lists, half};
use super::flat::{Table, Vector};
use super::schema::{Field, Kind};

/// Why a message cannot be decoded.
#[derive(Debug)]
pub(super) enum BatchError {
    Limit(LimitError),
    Damaged(&'static str),
}

impl From<LimitError> for BatchError {
    fn from(error: LimitError) -> Self {
        BatchError::Limit(error)
    }
}

const SHORT: BatchError = BatchError::Damaged("a buffer is shorter than its column");

/// The columns of one message, read one after the other.
pub(super) struct Buffers<'a> {
    body: &'a Bytes,
    rows: usize,
    nodes: Option<Vector<'a>>,
    buffers: Option<Vector<'a>>,
    views: Option<Vector<'a>>,
    codec: Option<Codec>,
    limits: &'a Limits,
    node: usize,
    buffer: usize,
    view: usize,
    /// Bytes that were unpacked or decoded.
    held: u64,
}

/// A column.
pub(super) enum Decoded {
    Numbers(Vec<f64>),
    Cells(Vec<Cell>),
    Lists(Lists),
}

/// Which rows have a value.
struct Valid(Option<Bytes>);

impl Valid {
    fn at(&self, row: usize) -> bool {
        match &self.0 {
            None => true,
            Some(bits) => bits
                .get(row / 8)
                .is_some_and(|byte| byte >> (row % 8) & 1 == 1),
        }
    }
}

impl<'a> Buffers<'a> {
    /// The buffers of a batch, described by `table`, in `body`.
    pub(super) fn new(
        table: Table<'a>,
        body: &'a Bytes,
        limits: &'a Limits,
    ) -> Result<Self, BatchError> {
        let codec = match table.table(3) {
            None => None,
            Some(compression) => Some(match compression.byte(0).unwrap_or(0) {
                0 => Codec::Lz4Frames,
                1 => Codec::Zstd,
                _ => return Err(BatchError::Damaged("an unknown compression")),
            }),
        };
        let rows = usize::try_from(table.i64(0).unwrap_or(0));
        Ok(Buffers {
            body,
            rows: rows.map_err(|_| BatchError::Damaged("fewer than no rows"))?,
            nodes: table.vector(1),
            buffers: table.vector(2),
            views: table.vector(4),
            codec,
            limits,
            node: 0,
            buffer: 0,
            view: 0,
            held: 0,
        })
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Leaves out a column.
    pub(super) fn skip(&mut self, field: &Field) -> Result<(), BatchError> {
        self.node += 1;
        if field.dictionary.is_some() {
            self.buffer += 2;
            return Ok(());
        }
        self.buffer += field.kind.buffers();
        if field.kind == Kind::View {
            self.buffer += self.view_buffers()?;
        }
        field.children.iter().try_for_each(|child| self.skip(child))
    }

    fn view_buffers(&mut self) -> Result<usize, BatchError> {
        let count = self.views.and_then(|views| views.number(self.view));
        self.view += 1;
        let count = count.and_then(|count| usize::try_from(count).ok());
        let most = self.buffers.map_or(0, |buffers| buffers.length);
        count
            .filter(|count| *count <= most)
            .ok_or(BatchError::Damaged(
                "the number of buffers of a column of views",
            ))
    }

    /// How many values the next column has.
    fn length(&mut self) -> Result<usize, BatchError> {
        let nodes = self.nodes.filter(|nodes| self.node < nodes.length);
        let length = nodes.and_then(|nodes| nodes.number(2 * self.node));
        self.node += 1;
        let length = length.and_then(|length| usize::try_from(length).ok());
        length.ok_or(BatchError::Damaged("there are fewer columns than it says"))
    }

    /// That so many bytes more are within the limit, before there is room for them.
    fn hold(&mut self, bytes: u64) -> Result<(), BatchError> {
        self.held = self.held.saturating_add(bytes);
        Ok(self.limits.group_bytes(self.held)?)
    }

    /// The same for a column of so many values: a bit may become a cell, and a list may take no bits at all.
    fn hold_values<V>(&mut self, length: usize) -> Result<(), BatchError> {
        self.hold((length as u64).saturating_mul(size_of::<V>() as u64))
    }

    /// How many bytes were unpacked or decoded so far.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// The next buffer, unpacked.
    fn next(&mut self) -> Result<Bytes, BatchError> {
        let buffers = self.buffers.filter(|all| self.buffer < all.length);
        let part = |k: usize| {
            let number = buffers?.number(2 * self.buffer + k)?;
            usize::try_from(number).ok()
        };
        let (start, length) = (part(0), part(1));
        self.buffer += 1;
        let (Some(start), Some(length)) = (start, length) else {
            return Err(BatchError::Damaged(
                "there are fewer buffers than columns need",
            ));
        };
        let end = start
            .checked_add(length)
            .filter(|end| *end <= self.body.len());
        let end = end.ok_or(BatchError::Damaged("a buffer lies beyond its message"))?;
        let bytes = self.body.slice(start..end);
        let Some(codec) = self.codec.filter(|_| !bytes.is_empty()) else {
            return Ok(bytes);
        };
        let Some((size, _)) = bytes.split_first_chunk() else {
            return Err(SHORT);
        };
        match i64::from_le_bytes(*size) {
            -1 => Ok(bytes.slice(8..)),
            size => {
                let wrong = BatchError::Damaged("a buffer has fewer than no bytes");
                let size = u64::try_from(size).map_err(|_| wrong)?;
                self.hold(size)?;
                let size = usize::try_from(size).map_err(|_| SHORT)?;
                let block = bytes.get(8..).unwrap_or_default();
                let unpacked = codec.unpacked(block, size).map_err(BatchError::Damaged)?;
                Ok(unpacked.into())
            }
        }
    }

    fn valid(&mut self, length: usize) -> Result<Valid, BatchError> {
        let bits = self.next()?;
        if bits.is_empty() {
            return Ok(Valid(None));
        }
        match bits.len() >= length.div_ceil(8) {
            true => Ok(Valid(Some(bits))),
            false => Err(SHORT),
        }
    }

    /// Enters a column of structs: how many there are.
    pub(super) fn open_struct(&mut self) -> Result<usize, BatchError> {
        let length = self.length()?;
        self.valid(length)?;
        Ok(length)
    }

    /// The next column as numbers, NaN where there is none.
    pub(super) fn numbers(&mut self, kind: Kind) -> Result<Vec<f64>, BatchError> {
        let length = self.length()?;
        let valid = self.valid(length)?;
        let data = self.next()?;
        self.hold_values::<f64>(length)?;
        let mut out = Vec::with_capacity(length.min(data.len()));
        for row in 0..length {
            let number = number(kind, &data, row).ok_or(SHORT)?;
            out.push(match valid.at(row) {
                true => number,
                false => f64::NAN,
            });
        }
        Ok(out)
    }

    /// The next column as lists of numbers.
    pub(super) fn lists(&mut self, field: &Field) -> Result<Lists, BatchError> {
        let [child] = field.children.as_slice() else {
            return Err(BatchError::Damaged("a list without a type"));
        };
        let length = self.length()?;
        let valid = self.valid(length)?;
        let ends = match field.kind {
            Kind::FixedList(_) => Bytes::new(),
            _ => self.next()?,
        };
        let numbers = match child.kind.is_number() && child.dictionary.is_none() {
            true => self.numbers(child.kind)?,
            false => return Err(BatchError::Damaged("lists of what are no numbers")),
        };
        let end = |row: usize| -> Option<usize> {
            match field.kind {
                Kind::FixedList(width) => row.checked_mul(width),
                Kind::List { large: true } => usize::try_from(whole(&ends, row, 8, true)?).ok(),
                _ => usize::try_from(whole(&ends, row, 4, true)?).ok(),
            }
        };
        self.hold_values::<f64>(numbers.len())?;
        self.hold_values::<usize>(length)?;
        let mut out = Lists::default();
        for row in 0..length {
            if valid.at(row) {
                let (start, end) = (end(row).ok_or(SHORT)?, end(row + 1).ok_or(SHORT)?);
                out.values.extend(numbers.get(start..end).ok_or(SHORT)?);
            }
            // Lists that lie over each other would need room that the message does not take.
            if out.values.len() > numbers.len() {
                return Err(BatchError::Damaged("lists lie over each other"));
            }
            out.ends.push(out.values.len());
        }
        Ok(out)
    }

    /// The next column as names.
    pub(super) fn cells(
        &mut self,
        field: &Field,
        dictionary: Option<&[Cell]>,
    ) -> Result<Vec<Cell>, BatchError> {
        let length = self.length()?;
        let valid = self.valid(length)?;
        let first = self.next()?;
        self.hold_values::<Cell>(length)?;
        let mut out = Vec::with_capacity(length.min(8 * first.len()));
        if let Some((_, index)) = &field.dictionary {
            let Kind::Whole { bytes, signed } = *index else {
                return Err(BatchError::Damaged("positions that are no numbers"));
            };
            for row in 0..length {
                if !valid.at(row) {
                    out.push(Cell::Empty);
                    continue;
                }
                let at = whole(&first, row, bytes, signed).ok_or(SHORT)?;
                let at = usize::try_from(at).ok();
                let cell = at.and_then(|at| dictionary.unwrap_or_default().get(at));
                let unknown = BatchError::Damaged("a value is not in the dictionary");
                out.push(cell.ok_or(unknown)?.clone());
            }
            return Ok(out);
        }
        let second = match field.kind {
            Kind::Text { .. } => self.next()?,
            _ => Bytes::new(),
        };
        let mut more = Vec::new();
        if field.kind == Kind::View {
            for _ in 0..self.view_buffers()? {
                more.push(self.next()?);
            }
        }
        for row in 0..length {
            if !valid.at(row) {
                out.push(Cell::Empty);
                continue;
            }
            let cell = match field.kind {
                Kind::Whole { bytes, signed } => whole(&first, row, bytes, signed).map(Cell::Whole),
                Kind::Half | Kind::Single | Kind::Double => {
                    number(field.kind, &first, row).map(Cell::Number)
                }
                Kind::Truth => first
                    .get(row / 8)
                    .map(|byte| Cell::Truth(byte >> (row % 8) & 1 == 1)),
                Kind::Text { large } => text(&first, &second, row, large),
                Kind::View => view(&first, &more, row),
                _ => None,
            };
            out.push(cell.ok_or(SHORT)?);
        }
        Ok(out)
    }
}

/// The whole number in a place.
fn whole(data: &[u8], row: usize, bytes: usize, signed: bool) -> Option<i128> {
    let start = row.checked_mul(bytes)?;
    let bytes = data.get(start..start.checked_add(bytes)?)?;
    let bits = bytes
        .iter()
        .rev()
        .fold(0i128, |all, b| all << 8 | i128::from(*b));
    let over = 1i128 << (8 * bytes.len());
    Some(match signed && bits >= over / 2 {
        true => bits - over,
        false => bits,
    })
}

fn number(kind: Kind, data: &[u8], row: usize) -> Option<f64> {
    fn at<const N: usize>(data: &[u8], row: usize) -> Option<[u8; N]> {
        let start = row.checked_mul(N)?;
        data.get(start..start.checked_add(N)?)?.try_into().ok()
    }
    match kind {
        Kind::Double => Some(f64::from_le_bytes(at(data, row)?)),
        Kind::Single => Some(f32::from_le_bytes(at(data, row)?).into()),
        Kind::Half => Some(half(u16::from_le_bytes(at(data, row)?))),
        Kind::Whole { bytes, signed } => Some(whole(data, row, bytes, signed)? as f64),
        _ => None,
    }
}

fn text(ends: &Bytes, data: &Bytes, row: usize, large: bool) -> Option<Cell> {
    let width = if large { 8 } else { 4 };
    let end = |row: usize| usize::try_from(whole(ends, row, width, true)?).ok();
    let (start, end) = (end(row)?, end(row + 1)?);
    (start <= end && end <= data.len()).then(|| Cell::Text(data.slice(start..end)))
}

/// A text of at most twelve bytes is in its view; otherwise the view says where it is.
fn view(views: &Bytes, data: &[Bytes], row: usize) -> Option<Cell> {
    let start = row.checked_mul(16)?;
    let number = |k: usize| {
        let number = whole(views.get(start..start.checked_add(16)?)?, k, 4, true)?;
        usize::try_from(number).ok()
    };
    let length = number(0)?;
    if length <= 12 {
        return Some(Cell::Text(views.slice(start + 4..start + 4 + length)));
    }
    let (buffer, from) = (data.get(number(2)?)?, number(3)?);
    let end = from.checked_add(length)?;
    (end <= buffer.len()).then(|| Cell::Text(buffer.slice(from..end)))
}
