//! Predictions in the columns of Arrow IPC: a stream, or a file (Feather), which is a stream with a
//! description behind it that need not be read.
//!
//! Written by hand because the `arrow-ipc` crate makes room for whatever a message announces, compressed
//! buffers among them. Here a message is read as far as it comes and up to [`Limits`], and every place in it
//! is checked.
//!
//! | file | what it holds |
//! |---|---|
//! | `flat` | FlatBuffers, the form of descriptions |
//! | `schema` | types of columns |
//! | `batch` | from buffers to columns |

mod batch;
mod flat;
mod schema;

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read};

use bytes::Bytes;

use self::batch::{BatchError, Buffers, Decoded};
use self::flat::Table;
use self::schema::{Field, Kind, SchemaError};
use super::columns::Columns;
use super::fields::Fields;
use super::limits::Limits;
use super::parquet::TableError;
use super::table::{Answers, BATCH_VALUES, Cell, Names, SEVERAL_LABELS, TableBatch};

/// Types of messages.
const SCHEMA: u8 = 1;
const DICTIONARY: u8 = 2;
const RECORDS: u8 = 3;

/// Memory that a message takes beside its bytes: two handles with their counters.
const WAITING: usize = 256;

/// What a column is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Label,
    Id,
    Other,
    Answer,
}

/// Reads predictions batch by batch.
pub(super) struct ArrowReader<R> {
    reader: io::Chain<io::Cursor<Vec<u8>>, R>,
    fields: Vec<Field>,
    /// What each column is read for, if for anything.
    roles: Vec<Vec<Role>>,
    columns: Columns,
    dictionaries: BTreeMap<i64, Dictionary>,
    /// Batches that came before the dictionaries that they use.
    waiting: VecDeque<Message>,
    /// Bytes of all that ever waited.
    waited: u64,
    open: Option<Open>,
    messages: u64,
    rows: u64,
    limits: Limits,
}

/// The values of a dictionary, of one message or more.
#[derive(Default)]
struct Dictionary {
    cells: Vec<Cell>,
    /// What they keep in memory: each of them a message, as texts are parts of it.
    held: u64,
}

/// A batch of the file, which may be as large as the limits allow, on its way out in smaller ones.
struct Open {
    decoded: Vec<Vec<Decoded>>,
    rows: usize,
    given: usize,
    half: bool,
}

/// One message: its description and its body.
struct Message {
    description: Bytes,
    body: Bytes,
}

fn not_arrow(what: &str) -> TableError {
    TableError::NotArrow(what.to_string())
}

impl From<SchemaError> for TableError {
    fn from(error: SchemaError) -> Self {
        match error {
            SchemaError::Limit(limit) => TableError::Limit(limit),
            SchemaError::Damaged => not_arrow("its description cannot be read"),
            SchemaError::BigEndian => not_arrow("its numbers are stored with the high byte first"),
        }
    }
}

/// As many bytes as are there, up to `length`.
fn some(reader: &mut impl Read, length: u64) -> Result<Vec<u8>, TableError> {
    let mut bytes = Vec::new();
    let read = reader.take(length).read_to_end(&mut bytes);
    read.map_err(TableError::Read)?;
    Ok(bytes)
}

fn exact(reader: &mut impl Read, length: u64) -> Result<Vec<u8>, TableError> {
    let bytes = some(reader, length)?;
    match bytes.len() as u64 == length {
        true => Ok(bytes),
        false => Err(not_arrow("it is cut off")),
    }
}

/// The next message; none at the end.
fn message(reader: &mut impl Read, limits: &Limits) -> Result<Option<Message>, TableError> {
    let mut start = some(reader, 4)?;
    if start == [0xff; 4] {
        start = some(reader, 4)?;
    }
    if start.is_empty() {
        return Ok(None);
    }
    let Ok(length) = start.try_into().map(u32::from_le_bytes) else {
        return Err(not_arrow("it is cut off"));
    };
    if length == 0 {
        return Ok(None);
    }
    limits.footer_bytes(length.into())?;
    let description = Bytes::from(exact(reader, length.into())?);
    let root = Table::root(&description).ok_or_else(|| not_arrow("a message cannot be read"))?;
    let body = u64::try_from(root.i64(3).unwrap_or(0));
    let body = body.map_err(|_| not_arrow("a message of fewer than no bytes"))?;
    limits.group_bytes(body)?;
    let body = Bytes::from(exact(reader, body)?);
    Ok(Some(Message { description, body }))
}

/// A description without its length before it, as Polars writes it at the start of a file: it ends where
/// the mark of the next message stands, which nothing in a description looks like. Otherwise the bytes that
/// were given are handed back.
fn bare(
    start: Vec<u8>,
    reader: &mut impl Read,
    limits: &Limits,
) -> Result<(Option<Bytes>, Vec<u8>), TableError> {
    // No description is as short as that; it is the place of its first table.
    let marked = matches!(start.as_slice(), [length, 0, 0, 0, ..] if *length < 16);
    if !marked {
        return Ok((None, start));
    }
    let mut all = start;
    loop {
        let next = exact(reader, 8)?;
        if next.starts_with(&[0xff; 4]) {
            return Ok((Some(all.into()), next));
        }
        all.extend(next);
        limits.footer_bytes(all.len() as u64)?;
    }
}

impl<R: Read> ArrowReader<R> {
    /// Reads the description of the columns, and finds those that are wanted.
    ///
    /// # Errors
    /// [`TableError`].
    pub(super) fn within(
        mut reader: R,
        names: &Fields,
        limits: &Limits,
    ) -> Result<Self, TableError> {
        let mut start = exact(&mut reader, 8)?;
        if start.starts_with(b"ARROW1") {
            start = exact(&mut reader, 8)?;
        }
        let (description, before) = match bare(start, &mut reader, limits)? {
            (Some(description), before) => (description, before),
            (None, start) => {
                let mut all = io::Cursor::new(start).chain(&mut reader);
                let schema = message(&mut all, limits)?;
                let schema = schema.ok_or_else(|| not_arrow("it is empty"))?;
                (schema.description, Vec::new())
            }
        };
        let reader = io::Cursor::new(before).chain(reader);
        let root = Table::root(&description);
        let table = root.filter(|root| root.byte(1) == Some(SCHEMA));
        let table = table.and_then(|root| root.table(2));
        let table = table.ok_or_else(|| not_arrow("it does not begin with a description"))?;
        let fields = schema::fields(table, limits)?;
        let all = fields.iter().map(|field| field.name.clone()).collect();
        let mut columns = Columns::of_names(all, names, limits)?;
        let mut roles = vec![Vec::new(); fields.len()];
        let mut put = |column: usize, role: Role| {
            if let Some(roles) = roles.get_mut(column) {
                roles.push(role);
            }
        };
        if let Some(label) = columns.label {
            put(label, Role::Label);
        }
        if let Some(id) = columns.id {
            put(id, Role::Id);
        }
        for name in &names.others {
            put(columns.need(name)?, Role::Other);
        }
        for &column in &columns.probabilities {
            put(column, Role::Answer);
        }
        let single = columns.classes().is_none();
        for (field, roles) in fields.iter().zip(&roles) {
            for role in roles {
                suits(field, *role, single)?;
            }
        }
        let inner = columns.probabilities.first().and_then(|&at| fields.get(at));
        if let (true, Some(field)) = (single, inner)
            && field.kind == Kind::Struct
        {
            let classes = field.children.iter().map(|child| child.name.clone());
            columns.take_classes(classes.collect(), limits)?;
        }
        Ok(ArrowReader {
            reader,
            fields,
            roles,
            columns,
            dictionaries: BTreeMap::new(),
            waiting: VecDeque::new(),
            waited: 0,
            open: None,
            messages: 1,
            rows: 0,
            limits: *limits,
        })
    }

    /// Which columns hold what.
    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Replaces the content of `batch` by the next rows; `false` at the end.
    ///
    /// # Errors
    /// [`TableError`].
    pub(super) fn fill(&mut self, batch: &mut TableBatch) -> Result<bool, TableError> {
        batch.rows = 0;
        loop {
            if let Some(open) = &mut self.open {
                let to = open.next_end();
                if to > open.given {
                    self.put(to, batch);
                    return Ok(true);
                }
                self.open = None;
            }
            let Some(message) = self.next()? else {
                // What follows is part of the file, and of its digest.
                io::copy(&mut self.reader, &mut io::sink()).map_err(TableError::Read)?;
                return Ok(false);
            };
            self.messages += 1;
            let number = self.messages;
            let fail = |error: BatchError| match error {
                BatchError::Limit(limit) => TableError::Limit(limit),
                BatchError::Damaged(what) => not_arrow(&format!("message {number}: {what}")),
            };
            let root = Table::root(&message.description);
            let header = root.and_then(|root| Some((root.byte(1)?, root.table(2)?)));
            match header {
                Some((RECORDS, table)) => {
                    let buffers = Buffers::new(table, &message.body, &self.limits);
                    let opened = self.decoded(buffers.map_err(fail)?).map_err(fail)?;
                    self.open = Some(opened);
                }
                Some((DICTIONARY, table)) => {
                    self.dictionary(table, &message.body).map_err(fail)?;
                }
                // Another schema, a tensor: nothing that holds rows.
                Some(_) => {}
                None => return Err(not_arrow(&format!("message {number} cannot be read"))),
            }
        }
    }

    /// The next message. In a file dictionaries may stand behind the batches that use them, as Polars writes
    /// them; such batches wait, as many as a group may be large.
    fn next(&mut self) -> Result<Option<Message>, TableError> {
        let complete = self.fields.iter().zip(&self.roles).all(|(field, roles)| {
            let known = |(id, _): &(i64, Kind)| self.dictionaries.contains_key(id);
            roles.is_empty() || field.dictionary.as_ref().is_none_or(known)
        });
        if complete && !self.waiting.is_empty() {
            return Ok(self.waiting.pop_front());
        }
        loop {
            let Some(message) = message(&mut self.reader, &self.limits)? else {
                return Ok(self.waiting.pop_front());
            };
            let root = Table::root(&message.description);
            if complete || root.and_then(|root| root.byte(1)) != Some(RECORDS) {
                return Ok(Some(message));
            }
            // What a message takes beside its bytes counts too, so that empty ones come to an end.
            let own = message.body.len() + message.description.len() + WAITING;
            self.waited = self.waited.saturating_add(own as u64);
            self.limits.group_bytes(self.waited)?;
            self.waiting.push_back(message);
        }
    }

    /// Takes in a dictionary, where it is one that is needed.
    fn dictionary(&mut self, table: Table<'_>, body: &Bytes) -> Result<(), BatchError> {
        let id = table.i64(0).unwrap_or(0);
        let wanted = self.fields.iter().zip(&self.roles).find(|(field, roles)| {
            !roles.is_empty() && field.dictionary.is_some_and(|(own, _)| own == id)
        });
        let Some((field, _)) = wanted else {
            return Ok(());
        };
        let data = table.table(1);
        let data = data.ok_or(BatchError::Damaged("a dictionary without values"))?;
        let mut buffers = Buffers::new(data, body, &self.limits)?;
        let plain = Field {
            dictionary: None,
            ..field.clone()
        };
        let cells = buffers.cells(&plain, None)?;
        let held = buffers.held() + body.len() as u64;
        let all = self.dictionaries.entry(id).or_default();
        if table.byte(2).unwrap_or(0) == 0 {
            *all = Dictionary::default();
        }
        all.cells.extend(cells);
        all.held += held;
        self.limits.values(all.cells.len() as u64)?;
        let held = self.dictionaries.values().map(|all| all.held).sum();
        Ok(self.limits.group_bytes(held)?)
    }

    /// The columns of a batch that are wanted.
    fn decoded(&self, mut buffers: Buffers<'_>) -> Result<Open, BatchError> {
        let rows = buffers.rows();
        let unlike = BatchError::Damaged("a column has not as many rows as its batch");
        let mut decoded = Vec::with_capacity(self.fields.len());
        let mut half = false;
        for (field, roles) in self.fields.iter().zip(&self.roles) {
            let answer = roles.contains(&Role::Answer);
            let found = match (roles.is_empty(), answer, field.kind) {
                (true, ..) => {
                    buffers.skip(field)?;
                    Vec::new()
                }
                (_, true, Kind::Struct) => match buffers.open_struct()? == rows {
                    true => buffers.parts(field)?,
                    false => return Err(unlike),
                },
                (_, true, Kind::List { .. } | Kind::FixedList(_)) => {
                    vec![Decoded::Lists(buffers.lists(field)?)]
                }
                (_, true, kind) => vec![Decoded::Numbers(buffers.numbers(kind)?)],
                _ => {
                    let id = field.dictionary.as_ref().map(|(id, _)| id);
                    let dictionary = id.and_then(|id| self.dictionaries.get(id));
                    let dictionary = dictionary.map(|all| all.cells.as_slice());
                    vec![Decoded::Cells(buffers.cells(field, dictionary)?)]
                }
            };
            let halves = field.kind == Kind::Half
                || field.children.iter().any(|child| child.kind == Kind::Half);
            half |= answer && halves;
            let length = |decoded: &Decoded| match decoded {
                Decoded::Numbers(numbers) => numbers.len(),
                Decoded::Cells(cells) => cells.len(),
                Decoded::Lists(lists) => lists.ends.len(),
            };
            if found.iter().any(|column| length(column) != rows) {
                return Err(unlike);
            }
            decoded.push(found);
        }
        // Rows that nothing is known of could be any number.
        if decoded.iter().all(Vec::is_empty) && rows > 0 {
            return Err(BatchError::Damaged("its rows have no columns"));
        }
        Ok(Open {
            decoded,
            rows,
            given: 0,
            half,
        })
    }

    /// Replaces the content of `batch` by the rows of the open one that are next, up to `to`.
    fn put(&mut self, to: usize, batch: &mut TableBatch) {
        let Some(open) = &mut self.open else {
            return;
        };
        let own = open.given..to;
        let names = |column: usize| -> Option<Names> {
            let Some([Decoded::Cells(cells)]) = open.decoded.get(column).map(Vec::as_slice) else {
                return None;
            };
            Some(Names {
                column: self.fields.get(column)?.name.clone(),
                cells: cells.get(own.clone())?.to_vec(),
            })
        };
        batch.label = self.columns.label.and_then(names);
        batch.id = self.columns.id.and_then(names);
        let others = (0..self.roles.len()).filter(|&at| self.roles[at].contains(&Role::Other));
        batch.others = others.filter_map(names).collect();
        let parts = self.columns.probabilities.iter();
        let parts = parts.flat_map(|&column| open.decoded.get(column).into_iter().flatten());
        let mut each = Vec::new();
        let mut lists = None;
        for part in parts {
            match part {
                Decoded::Numbers(numbers) => {
                    each.push(numbers.get(own.clone()).unwrap_or_default().to_vec());
                }
                Decoded::Lists(all) => lists = Some(all.rows(own.clone())),
                Decoded::Cells(_) => {}
            }
        }
        batch.answer = match (lists, self.columns.classes(), each.len()) {
            (Some(lists), ..) => Answers::Lists(lists),
            (_, None, 1) => Answers::One(each.pop().unwrap_or_default()),
            _ => Answers::Each(each),
        };
        batch.half = open.half;
        batch.rows = own.len();
        batch.first = self.rows + 1;
        batch.limits = self.limits;
        self.rows += own.len() as u64;
        open.given = to;
    }
}

impl Open {
    /// Where the next rows end: as many as are worth sharing out among threads.
    fn next_end(&self) -> usize {
        let parts = || self.decoded.iter().flatten();
        let most = (BATCH_VALUES / parts().count().max(1)).max(1);
        let end = self.rows.min(self.given.saturating_add(most));
        parts().fold(end, |end, part| match part {
            Decoded::Lists(lists) => lists.end_within(self.given..end, BATCH_VALUES),
            _ => end,
        })
    }
}

impl Buffers<'_> {
    /// The parts of a struct of numbers, which has been opened.
    fn parts(&mut self, field: &Field) -> Result<Vec<Decoded>, BatchError> {
        let parts = field.children.iter().map(|child| self.numbers(child.kind));
        let parts: Result<Vec<_>, _> = parts.collect();
        Ok(parts?.into_iter().map(Decoded::Numbers).collect())
    }
}

/// That a column can be read for what it is wanted for.
fn suits(field: &Field, role: Role, single: bool) -> Result<(), TableError> {
    let fail = |what: &str| {
        Err(TableError::Column {
            name: field.name.clone(),
            what: what.to_string(),
        })
    };
    let numbers = |field: &Field| field.kind.is_number() && field.dictionary.is_none();
    let inner = || field.children.iter().all(numbers);
    match (role, field.kind) {
        (Role::Answer, Kind::List { .. } | Kind::FixedList(_) | Kind::Struct)
            if single && inner() =>
        {
            Ok(())
        }
        (Role::Answer, _) if numbers(field) => Ok(()),
        (Role::Answer, _) => fail("it must hold numbers (double, float, half or whole)"),
        (Role::Label, Kind::List { .. } | Kind::FixedList(_)) => fail(SEVERAL_LABELS),
        (_, kind) if kind.is_name() => Ok(()),
        _ => fail("it must hold text, numbers or truth values"),
    }
}
