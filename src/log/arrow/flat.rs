//! FlatBuffers, as far as the messages of Arrow need them: every access is checked, nothing is believed.

/// A table within some bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    pub bytes: &'a [u8],
    at: usize,
}

/// A vector within some bytes: where its elements begin, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vector<'a> {
    bytes: &'a [u8],
    pub start: usize,
    pub length: usize,
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// The place that the number at `at` points to.
fn pointed(bytes: &[u8], at: usize) -> Option<usize> {
    let step = u32::from_le_bytes(array(bytes, at)?);
    at.checked_add(usize::try_from(step).ok()?)
}

impl<'a> Table<'a> {
    /// The table that a message begins with.
    pub(super) fn root(bytes: &'a [u8]) -> Option<Self> {
        let at = pointed(bytes, 0)?;
        Some(Table { bytes, at })
    }

    /// Where a field is; none where it is not given.
    pub(super) fn place(&self, field: usize) -> Option<usize> {
        let back = i32::from_le_bytes(array(self.bytes, self.at)?);
        let start = i64::try_from(self.at).ok()?.checked_sub(back.into())?;
        let start = usize::try_from(start).ok()?;
        let size = usize::from(u16::from_le_bytes(array(self.bytes, start)?));
        let entry = 4 + 2 * field;
        if entry + 2 > size {
            return None;
        }
        match u16::from_le_bytes(array(self.bytes, start.checked_add(entry)?)?) {
            0 => None,
            step => self.at.checked_add(step.into()),
        }
    }

    pub(super) fn byte(&self, field: usize) -> Option<u8> {
        self.bytes.get(self.place(field)?).copied()
    }

    pub(super) fn i16(&self, field: usize) -> Option<i16> {
        Some(i16::from_le_bytes(array(self.bytes, self.place(field)?)?))
    }

    pub(super) fn i32(&self, field: usize) -> Option<i32> {
        Some(i32::from_le_bytes(array(self.bytes, self.place(field)?)?))
    }

    pub(super) fn i64(&self, field: usize) -> Option<i64> {
        Some(i64::from_le_bytes(array(self.bytes, self.place(field)?)?))
    }

    pub(super) fn table(&self, field: usize) -> Option<Table<'a>> {
        let at = pointed(self.bytes, self.place(field)?)?;
        Some(Table {
            bytes: self.bytes,
            at,
        })
    }

    pub(super) fn vector(&self, field: usize) -> Option<Vector<'a>> {
        let at = pointed(self.bytes, self.place(field)?)?;
        let length = u32::from_le_bytes(array(self.bytes, at)?);
        Some(Vector {
            bytes: self.bytes,
            start: at.checked_add(4)?,
            length: usize::try_from(length).ok()?,
        })
    }

    pub(super) fn text(&self, field: usize) -> Option<&'a str> {
        let vector = self.vector(field)?;
        let end = vector.start.checked_add(vector.length)?;
        std::str::from_utf8(self.bytes.get(vector.start..end)?).ok()
    }
}

impl<'a> Vector<'a> {
    /// The table that an element points to.
    pub(super) fn table(&self, index: usize) -> Option<Table<'a>> {
        if index >= self.length {
            return None;
        }
        let place = self.start.checked_add(index.checked_mul(4)?)?;
        let at = pointed(self.bytes, place)?;
        Some(Table {
            bytes: self.bytes,
            at,
        })
    }

    /// A number of eight bytes, counted in such numbers.
    pub(super) fn number(&self, index: usize) -> Option<i64> {
        let at = self.start.checked_add(index.checked_mul(8)?)?;
        Some(i64::from_le_bytes(array(self.bytes, at)?))
    }
}
