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
use super::record::{ClassNames, JsonLayout, Label, position};
use super::row::{RowRules, plainly_valid};
#[cfg(feature = "parquet")]
use super::table::TableBatch;

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
    classes: &'a ClassNames,
    tolerance: f64,
}

#[derive(Debug)]
enum Form<'a> {
    Csv {
        lines: Text<'a>,
        separator: u8,
        roles: Vec<Role>,
    },
    Json {
        lines: Text<'a>,
        layout: &'a JsonLayout,
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

    fn line(&self, index: usize) -> Option<&'a str> {
        let place = self.lines.place(index)?;
        self.text
            .get(place.start.checked_sub(self.start)?..place.end - self.start)
    }
}

/// What a column of separated values holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Label,
    Entity,
    /// The probability of this class.
    Class(usize),
    /// That of the positive class.
    Positive,
    Other,
}

/// What stands in a line, before it is known whether it makes sense.
#[derive(Debug, Default)]
struct Found<'a> {
    label: Option<Label<'a>>,
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
    let single = columns.classes().is_none();
    for (class, &at) in columns.answer_columns().iter().enumerate() {
        give(
            at,
            if single {
                Role::Positive
            } else {
                Role::Class(class)
            },
        )?;
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
            },
            (Rows::Lines(lines), Shape::Json(layout)) => Form::Json {
                lines: Text::of(lines, rows)?,
                layout,
            },
            (Rows::Lines(_), _) => return None,
            #[cfg(feature = "parquet")]
            (Rows::Table(table), _) => Form::Table(table),
            (Rows::Memory(rows), _) => Form::Memory(rows),
        };
        Some(PlainRows {
            form,
            limits: self.limits(),
            classes: rules.classes,
            tolerance: rules.tolerance.least(),
        })
    }
}

impl<'a> PlainRows<'a> {
    /// The row at `index`, its numbers behind those that are there; none, and no further numbers, where
    /// it is not of the ordinary kind.
    #[inline]
    pub(crate) fn read(&self, index: usize, numbers: &mut Vec<f64>) -> Option<PlainRow<'a>> {
        let before = numbers.len();
        let row = self.found(index, numbers).and_then(|found| {
            if found.single {
                let p = numbers.pop().filter(|p| (0.0..=1.0).contains(p))?;
                numbers.extend([1.0 - p, p]);
            }
            let own = numbers.get(before..)?;
            let valid = own.len() == self.classes.len() && plainly_valid(own, self.tolerance);
            let label = position(&found.label.filter(|_| valid)?, self.classes);
            Some(PlainRow {
                entity: found.entity.unwrap_or_default(),
                label: label.ok().flatten()?,
                single: found.single,
            })
        });
        if row.is_none() {
            numbers.truncate(before);
        }
        row
    }

    #[inline]
    fn found(&self, index: usize, numbers: &mut Vec<f64>) -> Option<Found<'a>> {
        match &self.form {
            Form::Csv {
                lines,
                separator,
                roles,
            } => csv(lines.line(index)?, *separator, roles, numbers),
            Form::Json { lines, layout } => json(lines.line(index)?, layout, self.limits, numbers),
            #[cfg(feature = "parquet")]
            Form::Table(table) => {
                let (label, entity, single) = table.plain(index, numbers)?;
                Some(Found {
                    label: Some(label),
                    entity,
                    single,
                })
            }
            Form::Memory(rows) => {
                let (label, entity) = rows.plain(index, numbers)?;
                Some(Found {
                    label: Some(label),
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
    line: &'a str,
    separator: u8,
    roles: &[Role],
    numbers: &mut Vec<f64>,
) -> Option<Found<'a>> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let bytes = line.as_bytes();
    let mut found = Found::default();
    let first = numbers.len();
    let mut at = 0;
    for (column, role) in roles.iter().enumerate() {
        if column > 0 {
            if bytes.get(at) != Some(&separator) {
                return None;
            }
            at += 1;
        }
        if let Role::Class(_) | Role::Positive = role
            && let Some((value, end)) = number(line, at)
            && bytes.get(end).is_none_or(|byte| *byte == separator)
        {
            put(numbers, first, *role, value);
            at = end;
            continue;
        }
        let rest = bytes.get(at..)?;
        let end = match memchr2(separator, b'"', rest) {
            Some(end) if rest.get(end) == Some(&b'"') => return None,
            Some(end) => at + end,
            None => bytes.len(),
        };
        let field = line.get(at..end)?;
        match role {
            Role::Label => found.label = Some(Label::Name(Cow::Borrowed(field.trim()))),
            Role::Entity => found.entity = Some(Cow::Borrowed(field)),
            Role::Other => {}
            role => put(numbers, first, *role, field.trim().parse().ok()?),
        }
        at = end;
    }
    found.single = roles.contains(&Role::Positive);
    (at == bytes.len()).then_some(found)
}

/// Puts a number in the place of its class, which may come before those of others.
#[inline]
fn put(numbers: &mut Vec<f64>, first: usize, role: Role, value: f64) {
    let at = match role {
        Role::Class(class) => first + class,
        _ => first,
    };
    if numbers.len() <= at {
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

/// A line of JSON that is a flat object, but for the list of the answer.
fn json<'a>(
    line: &'a str,
    layout: &JsonLayout,
    limits: &Limits,
    numbers: &mut Vec<f64>,
) -> Option<Found<'a>> {
    let mut json = Json::new(line);
    let first = numbers.len();
    let several = layout.classes.is_some();
    let (mut found, mut id, mut answered) = (Found::default(), None, 0);
    if several {
        numbers.resize(first + layout.answer.len(), f64::NAN);
    }
    json.take(b'{')?;
    loop {
        let key = json.text()?;
        json.take(b':')?;
        if key == layout.label {
            let label = match json.next()? {
                b'"' => {
                    let name = json.text()?;
                    limits.name_bytes(name.len() as u64).ok()?;
                    Label::Name(Cow::Borrowed(name))
                }
                b't' => json.word("true").map(|()| Label::Number(1))?,
                b'f' => json.word("false").map(|()| Label::Number(0))?,
                _ => Label::Number(json.whole()?.parse().ok()?),
            };
            once(&mut found.label, label)?;
        } else if let Some(at) = layout.answer.iter().position(|own| own == key) {
            if several {
                let slot = first + at;
                let value = json.number()?;
                // NaN stands where there was none yet; what is read is a number.
                let slot = numbers.get_mut(slot).filter(|slot| slot.is_nan())?;
                *slot = value;
                answered += 1;
            } else if answered > 0 {
                return None;
            } else if json.next()? == b'[' {
                json.at += 1;
                loop {
                    numbers.push(json.number()?);
                    match json.next()? {
                        b',' => json.at += 1,
                        _ => break,
                    }
                }
                json.take(b']')?;
                answered = 1;
            } else {
                numbers.push(json.number()?);
                (found.single, answered) = (true, 1);
            }
        } else {
            let name = layout.id.as_deref();
            let slot = match key {
                key if name == Some(key) => Some(&mut found.entity),
                "entity" if name.is_none() => Some(&mut found.entity),
                "id" if name.is_none() => Some(&mut id),
                "classes" | "evidence" | "factors" | "weights" | "samples" | "uncertainty" => {
                    return None;
                }
                _ => None,
            };
            match slot {
                None => json.skip()?,
                Some(slot) => {
                    let name = match json.next()? {
                        b'"' => json.text()?,
                        _ => json.whole()?,
                    };
                    limits.name_bytes(name.len() as u64).ok()?;
                    once(slot, Cow::Borrowed(name))?;
                }
            }
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
    if json.next().is_some() || several && answered < layout.answer.len() {
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
