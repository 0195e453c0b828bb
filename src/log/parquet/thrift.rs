//! Thrift's compact protocol, as far as descriptions and headers need it, with bounds of our own.
//!
//! A struct is a list of fields of a type and a number, each a variable-length integer, a text with its
//! length, a list, or another struct.

/// Why reading stops.
#[derive(Debug)]
pub(crate) enum Stop {
    /// There are not enough bytes.
    Short,
    /// No bytes to come could make sense of it.
    Wrong,
}

/// A reader of the compact protocol.
pub(crate) struct Thrift<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
    /// No text and no list is longer.
    pub most: u64,
}

/// Structs in structs that are skipped; three levels are needed.
pub(super) const MAX_DEPTH: usize = 8;

// Types of the protocol.
pub(super) const STOP: u8 = 0;
pub(super) const TRUE: u8 = 1;
pub(super) const FALSE: u8 = 2;
pub(super) const BYTE: u8 = 3;
/// A whole number of 32 bits.
pub(super) const I32: u8 = 5;
/// A whole number of 64 bits.
pub(super) const I64: u8 = 6;
pub(super) const TEXT: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

impl<'a> Thrift<'a> {
    /// The type of the next field; none at the end of the struct. Its number fits 16 bits, as other readers
    /// cut it to them and would take one field for another.
    pub(super) fn field(&mut self, id: &mut i64) -> Result<Option<u8>, Stop> {
        let byte = self.byte()?;
        let (step, kind) = (byte >> 4, byte & 0x0f);
        if kind == STOP {
            return Ok(None);
        }
        *id = match step {
            0 => self.integer()?,
            step => *id + i64::from(step),
        };
        match i16::try_from(*id) {
            Ok(_) => Ok(Some(kind)),
            Err(_) => Err(Stop::Wrong),
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, Stop> {
        let byte = *self.bytes.get(self.at).ok_or(Stop::Short)?;
        self.at += 1;
        Ok(byte)
    }

    fn forward(&mut self, count: u64) -> Result<(), Stop> {
        if count > self.most {
            return Err(Stop::Wrong);
        }
        let left = self.bytes.len() - self.at;
        match usize::try_from(count) {
            Ok(count) if count <= left => {
                self.at += count;
                Ok(())
            }
            _ => Err(Stop::Short),
        }
    }

    fn number(&mut self) -> Result<u64, Stop> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Stop::Wrong)
    }

    /// 0, −1, 1, −2, … are written as 0, 1, 2, 3, …
    pub(crate) fn integer(&mut self) -> Result<i64, Stop> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// A whole number of a field of this type, which must be [`I32`] or [`I64`] as the field's definition
    /// has it: other readers believe the definition, whatever type the field says it has.
    pub(super) fn whole(&mut self, kind: u8, wanted: u8) -> Result<i64, Stop> {
        let number = (kind == wanted)
            .then(|| self.integer())
            .ok_or(Stop::Wrong)??;
        match wanted {
            I32 => i32::try_from(number)
                .map(i64::from)
                .map_err(|_| Stop::Wrong),
            _ => Ok(number),
        }
    }

    /// The bytes of a text.
    pub(super) fn text(&mut self) -> Result<&'a [u8], Stop> {
        let length = self.number()?;
        let start = self.at;
        self.forward(length)?;
        self.bytes.get(start..self.at).ok_or(Stop::Short)
    }

    /// The type of the elements of a list, and how many there are.
    pub(super) fn list(&mut self) -> Result<(u8, u64), Stop> {
        let byte = self.byte()?;
        let count = match byte >> 4 {
            15 => self.number()?,
            count => u64::from(count),
        };
        Ok((byte & 0x0f, count))
    }

    pub(crate) fn skip(&mut self, kind: u8, depth: usize) -> Result<(), Stop> {
        let depth = depth.checked_sub(1).ok_or(Stop::Wrong)?;
        match kind {
            1 | 2 => Ok(()),
            3 => self.forward(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.forward(8),
            8 => {
                let length = self.number()?;
                self.forward(length)
            }
            LIST | 10 => {
                let (kind, count) = self.list()?;
                self.skip_all(&[kind], count, depth)
            }
            11 => {
                let count = self.number()?;
                if count == 0 {
                    return Ok(());
                }
                let byte = self.byte()?;
                self.skip_all(&[byte >> 4, byte & 0x0f], count, depth)
            }
            STRUCT => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, depth)?;
                }
                Ok(())
            }
            _ => Err(Stop::Wrong),
        }
    }

    /// Elements of a list or a map; a truth value among them takes a byte of its own.
    fn skip_all(&mut self, kinds: &[u8], count: u64, depth: usize) -> Result<(), Stop> {
        if count > self.most {
            return Err(Stop::Wrong);
        }
        for _ in 0..count {
            for &kind in kinds {
                self.skip(if kind <= 2 { 3 } else { kind }, depth)?;
            }
        }
        Ok(())
    }
}

/// Writes the compact protocol.
#[derive(Debug, Default)]
pub(super) struct ThriftWriter(pub Vec<u8>);

impl ThriftWriter {
    /// The start of a field: its type and number.
    pub(super) fn field(&mut self, id: u8, kind: u8) {
        // The long form, which needs no memory of the field before; no number here is beyond 63.
        self.0.extend([kind, id << 1]);
    }

    /// A whole number as a field.
    pub(super) fn whole(&mut self, id: u8, kind: u8, value: Option<i64>) {
        if let Some(value) = value {
            self.field(id, kind);
            self.number((value << 1 ^ value >> 63) as u64);
        }
    }

    pub(super) fn text(&mut self, id: u8, text: &[u8]) {
        self.field(id, TEXT);
        self.number(text.len() as u64);
        self.0.extend(text);
    }

    /// The start of a list of structs as a field.
    pub(super) fn list(&mut self, id: u8, count: u64) {
        self.field(id, LIST);
        self.0.push(0xf0 | STRUCT);
        self.number(count);
    }

    /// The end of a struct.
    pub(super) fn stop(&mut self) {
        self.0.push(STOP);
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}
