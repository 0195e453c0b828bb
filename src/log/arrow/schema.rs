//! The types of the columns of an Arrow file, and how many buffers each of them takes.
//!
//! Numbers of fields and types are those of the format's own definition (Schema.fbs, Message.fbs).

use super::super::limits::{LimitError, Limits};
use super::flat::Table;

/// A column, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub name: String,
    pub kind: Kind,
    pub children: Vec<Field>,
    /// The dictionary that its values are in, and the type of the positions in it.
    pub dictionary: Option<(i64, Kind)>,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Whole {
        bytes: usize,
        signed: bool,
    },
    Half,
    Single,
    Double,
    Truth,
    /// Texts; whether their ends are of eight bytes.
    Text {
        large: bool,
    },
    /// Texts as views into any number of buffers.
    View,
    List {
        large: bool,
    },
    FixedList(usize),
    Struct,
    /// Nothing that is read: so many buffers beside those of its children.
    Other(usize),
}

impl Kind {
    pub(super) fn is_number(self) -> bool {
        matches!(
            self,
            Kind::Whole { .. } | Kind::Half | Kind::Single | Kind::Double
        )
    }

    pub(super) fn is_name(self) -> bool {
        self.is_number() || matches!(self, Kind::Truth | Kind::Text { .. } | Kind::View)
    }

    /// How many buffers it takes by itself; views take more, as each batch says.
    pub(super) fn buffers(self) -> usize {
        match self {
            Kind::Text { .. } => 3,
            Kind::FixedList(_) | Kind::Struct => 1,
            Kind::Other(count) => count,
            _ => 2,
        }
    }
}

/// Why a schema cannot be used.
pub(super) enum SchemaError {
    Limit(LimitError),
    Damaged,
    BigEndian,
}

impl From<LimitError> for SchemaError {
    fn from(error: LimitError) -> Self {
        SchemaError::Limit(error)
    }
}

/// What was read of a schema so far. All of its columns may have one long name, which stands there once.
#[derive(Default)]
struct Seen {
    columns: u64,
    name_bytes: u64,
}

/// The columns of a schema.
pub(super) fn fields(schema: Table<'_>, limits: &Limits) -> Result<Vec<Field>, SchemaError> {
    if schema.i16(0).unwrap_or(0) != 0 {
        return Err(SchemaError::BigEndian);
    }
    children(schema, 1, 1, &mut Seen::default(), limits)
}

fn children(
    table: Table<'_>,
    field: usize,
    depth: u64,
    seen: &mut Seen,
    limits: &Limits,
) -> Result<Vec<Field>, SchemaError> {
    limits.depth(depth)?;
    let Some(all) = table.vector(field) else {
        return Ok(Vec::new());
    };
    let mut out = Vec::new();
    for index in 0..all.length {
        seen.columns += 1;
        limits.columns(seen.columns)?;
        let table = all.table(index).ok_or(SchemaError::Damaged)?;
        let name = table.text(0).unwrap_or_default();
        limits.name_bytes(name.len() as u64)?;
        seen.name_bytes += name.len() as u64;
        limits.footer_bytes(seen.name_bytes)?;
        let dictionary = match table.table(4) {
            None => None,
            Some(encoding) => {
                let id = encoding.i64(0).unwrap_or(0);
                let index = encoding.table(1).map_or(
                    Some(Kind::Whole {
                        bytes: 4,
                        signed: true,
                    }),
                    whole,
                );
                Some((id, index.ok_or(SchemaError::Damaged)?))
            }
        };
        out.push(Field {
            name: name.to_string(),
            kind: kind(table).ok_or(SchemaError::Damaged)?,
            children: children(table, 5, depth + 1, seen, limits)?,
            dictionary,
        });
    }
    Ok(out)
}

fn whole(kind: Table<'_>) -> Option<Kind> {
    let bits = kind.i32(0)?;
    let bytes = match bits {
        8 | 16 | 32 | 64 => usize::try_from(bits / 8).ok()?,
        _ => return None,
    };
    let signed = kind.byte(1).unwrap_or(0) != 0;
    Some(Kind::Whole { bytes, signed })
}

fn kind(field: Table<'_>) -> Option<Kind> {
    let kind = field.table(3);
    Some(match field.byte(2)? {
        1 => Kind::Other(0),
        2 => whole(kind?)?,
        3 => match kind?.i16(0).unwrap_or(0) {
            0 => Kind::Half,
            1 => Kind::Single,
            _ => Kind::Double,
        },
        5 => Kind::Text { large: false },
        20 => Kind::Text { large: true },
        4 | 19 => Kind::Other(3),
        6 => Kind::Truth,
        12 | 17 => Kind::List { large: false },
        21 => Kind::List { large: true },
        13 => Kind::Struct,
        // Sparse or dense.
        14 => Kind::Other(match kind?.i16(0).unwrap_or(0) {
            0 => 1,
            _ => 2,
        }),
        16 => Kind::FixedList(usize::try_from(kind?.i32(0)?).ok()?),
        22 => Kind::Other(0),
        // A view of bytes that are no text has as many buffers, and is read as one that may not be UTF-8.
        23 | 24 => Kind::View,
        25 | 26 => Kind::Other(3),
        7..=11 | 15 | 18 => Kind::Other(2),
        _ => return None,
    })
}
