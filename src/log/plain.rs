//! Rows of the ordinary kind, read without making anything that is thrown away again.
//!
//! Nearly every row of nearly every log is a label that is a class and numbers that are plainly a
//! distribution. Such a row is read in place, numbers behind those of the row before it. Whatever is in
//! the least unusual is none here and takes the way of [`LogBatch::row`], which knows everything about
//! rows: what is read here is what would be read there, as a test holds, so that nothing depends on which
//! way a row has taken.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

use super::columns::Columns;
use super::layout::Shape;
use super::limits::Limits;
use super::lines::Batch;
use super::memory::RowBatch;
use super::number::number;
use super::reader::{LogBatch, Rows};
use super::record::{JsonLayout, Label};
use super::row::{RowRules, plainly_valid};
#[cfg(feature = "parquet")]
use super::table::TableBatch;

pub(super) use self::known::Key;
use self::known::Known;
use self::template::{Marks, Slot, Template};

mod known;
mod template;

/// A row of the ordinary kind, but for its numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlainRow<'a> {
    /// Name of the entity; empty where it has none.
    pub entity: Cow<'a, str>,
    /// Position of the true class.
    pub label: usize,
    /// Whether only the probability of the positive class was logged.
    pub single: bool,
}

/// Reads the rows of a batch that are of the ordinary kind.
#[derive(Debug)]
pub(crate) struct PlainRows<'a> {
    form: Form<'a>,
    limits: &'a Limits,
    known: Known<'a>,
    tolerance: f64,
}

#[derive(Debug)]
enum Form<'a> {
    Csv {
        lines: Text<'a>,
        separator: u8,
        roles: Vec<Role>,
        /// Whether there is only the probability of the positive class.
        single: bool,
    },
    Json {
        lines: Text<'a>,
        layout: &'a JsonLayout,
        template: Template,
        marks: Marks,
    },
    #[cfg(feature = "parquet")]
    Table(&'a TableBatch),
    Memory(&'a RowBatch),
}

/// Lines that are text, all of them looked at once.
#[derive(Debug)]
struct Text<'a> {
    lines: &'a Batch,
    text: &'a str,
    /// Where the text begins among the bytes of the batch.
    start: usize,
}

impl<'a> Text<'a> {
    /// These lines; none where their bytes are no text.
    fn of(lines: &'a Batch, rows: Range<usize>) -> Option<Self> {
        let (first, last) = (
            lines.place(rows.start)?,
            lines.place(rows.end.checked_sub(1)?)?,
        );
        let text = lines.bytes(first.start..last.end);
        Some(Text {
            lines,
            text: std::str::from_utf8(text).ok()?,
            start: first.start,
        })
    }

    /// Where a line stands in the text.
    #[inline]
    fn place(&self, index: usize) -> Option<Range<usize>> {
        let place = self.lines.place(index)?;
        Some(place.start.checked_sub(self.start)?..place.end.checked_sub(self.start)?)
    }
}

/// What a column of separated values holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Label,
    Entity,
    /// The probability of this class; of the positive one, where there is only that.
    Class(usize),
    Other,
}

/// What stands in a line, before it is known whether its numbers make sense.
#[derive(Debug, Default)]
struct Found<'a> {
    /// Position of the true class.
    class: Option<usize>,
    entity: Option<Cow<'a, str>>,
    /// Whether the numbers are one, that of the positive class.
    single: bool,
}

/// What each column holds; none where one holds two things, or nothing holds the true class.
fn roles(columns: &Columns) -> Option<Vec<Role>> {
    let mut roles = vec![Role::Other; columns.width()];
    let mut give = |at: usize, role: Role| {
        let slot = roles.get_mut(at).filter(|slot| **slot == Role::Other)?;
        *slot = role;
        Some(())
    };
    for (class, &at) in columns.answer_columns().iter().enumerate() {
        give(at, Role::Class(class))?;
    }
    give(columns.label_column()?, Role::Label)?;
    if let Some(at) = columns.id_column() {
        give(at, Role::Entity)?;
    }
    Some(roles)
}

impl LogBatch {
    /// A reader of those of these rows that are of the ordinary kind; none where the rows cannot be.
    pub(crate) fn plain<'a>(
        &'a self,
        rows: Range<usize>,
        rules: RowRules<'a>,
    ) -> Option<PlainRows<'a>> {
        let layout = self.layout().filter(|layout| layout.is_direct())?;
        let n = rules.classes.len() as u64;
        let Limits {
            classes, values, ..
        } = *self.limits();
        if n == 0 || n > classes.min(values) {
            return None;
        }
        let form = match (self.rows(), &layout.shape) {
            (Rows::Lines(lines), Shape::Csv(columns)) => Form::Csv {
                lines: Text::of(lines, rows)?,
                separator: columns.separator(),
                roles: roles(columns)?,
                single: columns.classes().is_none(),
            },
            (Rows::Lines(lines), Shape::Json(layout)) => Form::Json {
                lines: Text::of(lines, rows)?,
                layout,
                template: Template::default(),
                marks: Marks::new(),
            },
            (Rows::Lines(_), _) => return None,
            #[cfg(feature = "parquet")]
            (Rows::Table(table), _) => Form::Table(table),
            (Rows::Memory(rows), _) => Form::Memory(rows),
        };
        Some(PlainRows {
            form,
            limits: self.limits(),
            known: Known::new(rules.classes),
            tolerance: rules.tolerance.least(),
        })
    }
}

impl<'a> PlainRows<'a> {
    /// The row at `index`, its numbers behind those that are there; none, and no further numbers, where
    /// it is not of the ordinary kind.
    #[inline]
    pub(crate) fn read(&mut self, index: usize, numbers: &mut Vec<f64>) -> Option<PlainRow<'a>> {
        let before = numbers.len();
        let row = self.found(index, numbers).and_then(|found| {
            if found.single {
                let p = numbers.pop().filter(|p| (0.0..=1.0).contains(p))?;
                numbers.extend([1.0 - p, p]);
            }
            let own = numbers.get(before..)?;
            let valid = own.len() == self.known.len() && plainly_valid(own, self.tolerance);
            Some(PlainRow {
                entity: found.entity.unwrap_or_default(),
                label: found.class.filter(|_| valid)?,
                single: found.single,
            })
        });
        if row.is_none() {
            numbers.truncate(before);
        }
        row
    }

    #[inline]
    fn found(&mut self, index: usize, numbers: &mut Vec<f64>) -> Option<Found<'a>> {
        let (limits, known) = (self.limits, &mut self.known);
        match &mut self.form {
            Form::Csv {
                lines,
                separator,
                roles,
                single,
            } => {
                let found = csv(lines, index, *separator, roles, known, numbers)?;
                Some(Found {
                    single: *single,
                    ..found
                })
            }
            Form::Json {
                lines,
                layout,
                template,
                marks,
            } => {
                let (text, place) = (lines.text, lines.place(index)?);
                let before = numbers.len();
                if let Some(found) = template.read(text, place.clone(), limits, known, numbers) {
                    return Some(found);
                }
                numbers.truncate(before);
                let line = text.get(place)?;
                marks.clear();
                let found = json(line, layout, limits, known, numbers, marks)?;
                template.learn(line, marks, found.single);
                Some(found)
            }
            #[cfg(feature = "parquet")]
            Form::Table(table) => {
                let (entity, single) = table.plain(index, numbers)?;
                Some(Found {
                    class: known.class(table.label_key(index), || table.label(index)),
                    entity,
                    single,
                })
            }
            Form::Memory(rows) => {
                let (label, entity) = rows.plain(index, numbers)?;
                let key = match &label {
                    Label::Number(number) => Key::whole(*number),
                    Label::Name(name) => Key::text(name.as_bytes()),
                };
                Some(Found {
                    class: known.class(key, || Some(label)),
                    entity: entity.map(Cow::Borrowed),
                    single: false,
                })
            }
        }
    }
}

/// A line of separated values without quotes.
#[inline]
fn csv<'a>(
    lines: &Text<'a>,
    index: usize,
    separator: u8,
    roles: &[Role],
    known: &mut Known<'_>,
    numbers: &mut Vec<f64>,
) -> Option<Found<'a>> {
    let (text, line) = (lines.text, lines.place(index)?);
    let bytes = text.as_bytes();
    let whole = bytes.get(line.clone())?;
    let end = line.end - usize::from(whole.ends_with(b"\r"));
    let mut found = Found::default();
    let first = numbers.len();
    let mut at = line.start;
    for (column, role) in roles.iter().enumerate() {
        if column > 0 {
            if at == end || bytes.get(at) != Some(&separator) {
                return None;
            }
            at += 1;
        }
        // What follows a line belongs to no number.
        if let Role::Class(class) = role
            && let Some((value, stop)) = number(text, at)
            && (stop == end || stop < end && bytes.get(stop) == Some(&separator))
        {
            put(numbers, first + class, value);
            at = stop;
            continue;
        }
        let stop = at + field_length(bytes.get(at..end)?, separator)?;
        let field = text.get(at..stop)?;
        match role {
            Role::Label => {
                let label = || Some(Label::Name(Cow::Borrowed(field.trim())));
                found.class = Some(known.class(Key::text(field.as_bytes()), label)?);
            }
            Role::Entity => found.entity = Some(Cow::Borrowed(field)),
            Role::Other => {}
            Role::Class(class) => put(numbers, first + class, field.trim().parse().ok()?),
        }
        at = stop;
    }
    (at == end).then_some(found)
}

/// How long the first field of a line without quotes is; none where there is a quote in it.
#[inline]
fn field_length(rest: &[u8], separator: u8) -> Option<usize> {
    // Most labels are short.
    for (at, byte) in rest.iter().take(8).enumerate() {
        if *byte == separator {
            return Some(at);
        }
        if *byte == b'"' {
            return None;
        }
    }
    match memchr2(separator, b'"', rest) {
        Some(end) if rest.get(end) == Some(&b'"') => None,
        found => Some(found.unwrap_or(rest.len())),
    }
}

/// Puts a number in its place, which may come before those of others.
#[inline]
fn put(numbers: &mut Vec<f64>, at: usize, value: f64) {
    if numbers.len() == at {
        return numbers.push(value);
    }
    if numbers.len() < at {
        numbers.resize(at + 1, f64::NAN);
    }
    if let Some(slot) = numbers.get_mut(at) {
        *slot = value;
    }
}

/// A position in a line of JSON.
pub(super) struct Json<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Json<'a> {
    /// The beginning of a line.
    pub(super) fn new(line: &'a str) -> Self {
        Json { line, at: 0 }
    }

    fn byte(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    /// The next byte that is no white space.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    /// Moves behind this byte and white space before it.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    /// Moves behind these bytes.
    #[inline]
    fn literal(&mut self, text: &[u8]) -> Option<()> {
        let rest = self.line.as_bytes().get(self.at..)?;
        let same = match text {
            // Between the numbers of a list.
            [one] => rest.first() == Some(one),
            _ => rest.starts_with(text),
        };
        same.then(|| self.at += text.len())
    }

    /// A name: a text, or a whole number.
    #[inline]
    fn name(&mut self, limits: &Limits) -> Option<Cow<'a, str>> {
        let name = match self.next()? {
            b'"' => self.text()?,
            _ => self.whole()?,
        };
        limits.name_bytes(name.len() as u64).ok()?;
        Some(Cow::Borrowed(name))
    }

    /// A text without anything that is written otherwise than it is.
    #[inline]
    pub(super) fn text(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let start = self.at;
        loop {
            match self.byte()? {
                b'"' => break,
                b'\\' | 0..0x20 => return None,
                _ => self.at += 1,
            }
        }
        let text = self.line.get(start..self.at)?;
        self.at += 1;
        Some(text)
    }

    #[inline]
    pub(super) fn number(&mut self) -> Option<f64> {
        self.next()?;
        self.digits()
    }

    /// A number that begins here and has no sign.
    #[inline]
    pub(super) fn digits(&mut self) -> Option<f64> {
        let (value, end) = number(self.line, self.at)?;
        self.at = end;
        Some(value)
    }

    /// A whole number that is not negative, as it is written, of no more digits than always fit.
    pub(super) fn whole(&mut self) -> Option<&'a str> {
        self.next()?;
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let digits = self.line.get(start..self.at)?;
        let zero = digits.len() > 1 && digits.starts_with('0');
        let ends = !matches!(self.byte(), Some(b'.' | b'e' | b'E'));
        (ends && !zero && (1..20).contains(&digits.len())).then_some(digits)
    }

    pub(super) fn word(&mut self, word: &str) -> Option<()> {
        let rest = self.line.get(self.at..)?;
        rest.starts_with(word).then(|| self.at += word.len())
    }

    /// Moves behind a value that is neither a list nor an object.
    pub(super) fn skip(&mut self) -> Option<()> {
        match self.next()? {
            b'"' => self.text().map(|_| ()),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            b'-' => {
                self.at += 1;
                // No white space after the sign.
                self.digits().map(|_| ())
            }
            _ => self.number().map(|_| ()),
        }
    }
}

/// The class that a label is.
#[inline]
fn label(json: &mut Json<'_>, limits: &Limits, known: &mut Known<'_>) -> Option<usize> {
    match json.next()? {
        b'"' => {
            let name = json.text()?;
            known.class(Key::text(name.as_bytes()), || {
                limits.name_bytes(name.len() as u64).ok()?;
                Some(Label::Name(Cow::Borrowed(name)))
            })
        }
        b't' => {
            json.word("true")?;
            known.class(Key::whole(1), || Some(Label::Number(1)))
        }
        b'f' => {
            json.word("false")?;
            known.class(Key::whole(0), || Some(Label::Number(0)))
        }
        _ => {
            let digits = json.whole()?;
            let number = || Some(Label::Number(digits.parse().ok()?));
            known.class(Key::digits(digits.as_bytes()), number)
        }
    }
}

/// A line of JSON that is a flat object, but for the list of the answer; and where its values stand.
fn json<'a>(
    line: &'a str,
    layout: &JsonLayout,
    limits: &Limits,
    known: &mut Known<'_>,
    numbers: &mut Vec<f64>,
    marks: &mut Marks,
) -> Option<Found<'a>> {
    let mut json = Json::new(line);
    let first = numbers.len();
    let several = layout.classes.is_some();
    let (mut found, mut id, mut answered) = (Found::default(), None, 0);
    json.take(b'{')?;
    loop {
        let key = json.text()?;
        json.take(b':')?;
        json.next()?;
        let start = json.at;
        let slot = if key == layout.label {
            once(&mut found.class, label(&mut json, limits, known)?)?;
            Some(Slot::Label)
        } else if let Some(at) = layout.answer.iter().position(|own| own == key) {
            if several {
                put(numbers, first + at, json.number()?);
                answered += 1;
                Some(Slot::Number(at))
            } else if answered > 0 {
                return None;
            } else if json.next()? == b'[' {
                json.at += 1;
                loop {
                    json.next()?;
                    let start = json.at;
                    let number = Slot::Number(numbers.len() - first);
                    numbers.push(json.digits()?);
                    marks.push((start..json.at, number));
                    match json.next()? {
                        b',' => json.at += 1,
                        _ => break,
                    }
                }
                json.take(b']')?;
                answered = 1;
                None
            } else {
                numbers.push(json.number()?);
                (found.single, answered) = (true, 1);
                Some(Slot::Number(0))
            }
        } else {
            let name = layout.id.as_deref();
            Some(match key {
                key if name == Some(key) => {
                    once(&mut found.entity, json.name(limits)?)?;
                    Slot::Entity
                }
                "entity" if name.is_none() => {
                    once(&mut found.entity, json.name(limits)?)?;
                    Slot::Entity
                }
                "id" if name.is_none() => {
                    once(&mut id, json.name(limits)?)?;
                    Slot::Id
                }
                "classes" | "evidence" | "factors" | "weights" | "samples" | "uncertainty" => {
                    return None;
                }
                _ => {
                    json.skip()?;
                    Slot::Other
                }
            })
        };
        if let Some(slot) = slot {
            marks.push((start..json.at, slot));
        }
        match json.next()? {
            b',' => {
                json.at += 1;
                json.next()?;
            }
            _ => break,
        }
    }
    json.take(b'}')?;
    if json.next().is_some() || several && answered != layout.answer.len() {
        return None;
    }
    found.entity = found.entity.or(id);
    Some(found)
}

pub(super) fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

#[cfg(test)]
mod tests;
