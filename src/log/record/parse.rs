//! From a line of JSON to a [`Record`].
//!
//! Written by hand on serde's visitors for three reasons: an error must name the field it is in,
//! a field given twice must be refused, and nothing is copied that can be borrowed from the line.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::plain::plain;
use super::{Evidence, Fault, Label, Place, Record, RecordError};
use crate::log::brief::brief;
use crate::log::limits::{LimitError, Limits};

impl<'a> Record<'a> {
    /// Reads one line. A byte-order mark at its start and white space around it are accepted.
    ///
    /// Total over all bytes: brackets nested deeper than serde_json's limit of 128 are an error
    /// where the fields need them, and skipped without recursion in fields that are ignored.
    ///
    /// # Errors
    /// The first thing that is wrong, and the field that the reader was in.
    pub fn parse(line: &'a [u8]) -> Result<Self, RecordError> {
        Record::parse_within(line, &Limits::default())
    }

    /// The same within other limits: sizes beyond them are errors, found before memory is made.
    ///
    /// # Errors
    /// As [`Record::parse`].
    pub fn parse_within(line: &'a [u8], limits: &Limits) -> Result<Self, RecordError> {
        match plain(line, limits) {
            Some(record) => Ok(record),
            None => parse_any(line, limits),
        }
    }
}

/// Reads a line of any kind.
pub(super) fn parse_any<'a>(line: &'a [u8], limits: &Limits) -> Result<Record<'a>, RecordError> {
    let trace = Trace::new(limits);
    read_line(line, &trace, RecordSeed { trace: &trace })
}

/// Where the seeds are, so that an error can be placed, whether a required field is missing, and how
/// much was read.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) place: Cell<Place>,
    missing: Cell<bool>,
    limits: Limits,
    /// Elements of all lists.
    values: Cell<u64>,
}

impl Trace {
    pub(super) fn new(limits: &Limits) -> Self {
        Trace {
            place: Cell::default(),
            missing: Cell::default(),
            limits: *limits,
            values: Cell::default(),
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// One more element of a list.
    fn count(&self) -> Result<(), LimitError> {
        let values = self.values.get() + 1;
        self.values.set(values);
        self.limits.values(values)
    }

    /// A name, where it is not too long.
    pub(super) fn name<'a, E: Error>(&self, name: Cow<'a, str>) -> Result<Cow<'a, str>, E> {
        let within = self.limits.name_bytes(name.len() as u64);
        within.map_err(E::custom)?;
        Ok(name)
    }

    pub(super) fn label<'a, E: Error>(
        &self,
        label: Option<Label<'a>>,
    ) -> Result<Option<Label<'a>>, E> {
        Ok(match label {
            Some(Label::Name(name)) => Some(Label::Name(self.name(name)?)),
            other => other,
        })
    }

    /// The names of classes.
    pub(super) fn names<'de, A: MapAccess<'de>>(
        &self,
        map: &mut A,
    ) -> Result<Vec<Cow<'de, str>>, A::Error> {
        let names = map.next_value_seed(List::of(Text, self, Limits::classes))?;
        names.into_iter().map(|name| self.name(name)).collect()
    }
}

/// Reads one line by a seed that leaves its trace in `trace`.
pub(super) fn read_line<'a, S: DeserializeSeed<'a>>(
    line: &'a [u8],
    trace: &Trace,
    seed: S,
) -> Result<S::Value, RecordError> {
    let text = std::str::from_utf8(line).map_err(|error| RecordError {
        place: Place::LINE,
        fault: Fault::NotUtf8 {
            byte: error.valid_up_to() + 1,
        },
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut json = serde_json::Deserializer::from_str(text);
    let record = seed.deserialize(&mut json).and_then(|record| {
        trace.place.set(Place::LINE);
        json.end().map(|()| record)
    });
    record.map_err(|error| RecordError {
        place: trace.place.get(),
        fault: if trace.missing.get() {
            Fault::Missing
        } else {
            fault(&error, text)
        },
    })
}

fn fault(error: &serde_json::Error, text: &str) -> Fault {
    let column = error.column();
    // The library ends its messages with a position, which is given in our own way.
    let message = error.to_string();
    let what = message
        .rsplit_once(" at line ")
        .map_or(&*message, |(what, _)| what);
    let what = brief(what).into_owned();
    if error.classify() == Category::Data {
        return Fault::Shape(what);
    }
    let (before, after) = text
        .as_bytes()
        .split_at(column.saturating_sub(1).min(text.len()));
    if is_no_number(before, after) {
        return Fault::NotJsonNumber { column };
    }
    if is_beyond_range(before, after) {
        return Fault::Shape(format!(
            "a number beyond the range of doubles (column {column})"
        ));
    }
    Fault::Syntax { column, what }
}

/// Whether the reader stopped before a `NaN` or an `Infinity` in the place of a value.
fn is_no_number(before: &[u8], after: &[u8]) -> bool {
    let in_place = matches!(
        before.trim_ascii_end().last(),
        Some(b'[' | b',' | b':' | b'-')
    );
    in_place && (after.starts_with(b"NaN") || after.starts_with(b"Infinity"))
}

/// Whether the reader stopped at the end of a number that no finite double is near.
fn is_beyond_range(before: &[u8], after: &[u8]) -> bool {
    let part = |b: &u8| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let start = before.iter().rposition(|b| !part(b)).map_or(0, |i| i + 1);
    let end = before.len() + after.iter().position(|b| !part(b)).unwrap_or(after.len());
    let number = [&before[start..], &after[..end - before.len()]].concat();
    let number = String::from_utf8_lossy(&number).parse::<f64>();
    number.is_ok_and(f64::is_infinite)
}

/// Makes a seed of a visitor: it asks for what it can visit.
macro_rules! seed {
    ($name:ident<'_> -> $value:ty, $method:ident) => {
        impl<'de> DeserializeSeed<'de> for $name<'_> {
            type Value = $value;
            fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
                d.$method(self)
            }
        }
    };
}

pub(super) use seed;

/// The object that a line is.
#[derive(Clone, Copy)]
struct RecordSeed<'p> {
    trace: &'p Trace,
}

seed!(RecordSeed<'_> -> Record<'de>, deserialize_map);

impl<'de> Visitor<'de> for RecordSeed<'_> {
    type Value = Record<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object with an entity and its evidence")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record<'de>, A::Error> {
        let (mut entity, mut label, mut classes, mut evidence) = (None, None, None, None);
        let (trace, place) = (self.trace, &self.trace.place);
        let known = one_of(["entity", "label", "classes", "evidence"]);
        each_field(&mut map, known, |map, name| {
            place.set(Place::field(name));
            match name {
                "entity" => {
                    let name = map.next_value_seed(Name)?;
                    let name = name.ok_or_else(|| A::Error::custom("null; a name is needed"))?;
                    once(&mut entity, trace.name(name)?)?;
                }
                "label" => once(&mut label, trace.label(map.next_value_seed(LabelSeed)?)?)?,
                "classes" => once(&mut classes, trace.names(map)?)?,
                _ => once(&mut evidence, map.next_value_seed(Items { trace })?)?,
            }
            place.set(Place::LINE);
            Ok(())
        })?;
        let need = |name| {
            place.set(Place::field(name));
            self.trace.missing.set(true);
            A::Error::missing_field(name)
        };
        Ok(Record {
            entity: entity.ok_or_else(|| need("entity"))?,
            label: label.flatten(),
            classes,
            evidence: evidence.ok_or_else(|| need("evidence"))?,
        })
    }
}

pub(super) fn once<T, E: Error>(slot: &mut Option<T>, value: T) -> Result<(), E> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::custom("given twice")),
    }
}
pub(super) struct Items<'p> {
    pub(super) trace: &'p Trace,
}

seed!(Items<'_> -> Vec<Evidence<'de>>, deserialize_seq);

impl<'de> Visitor<'de> for Items<'_> {
    type Value = Vec<Evidence<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of evidence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items: Vec<Evidence> = Vec::new();
        let trace = self.trace;
        loop {
            let index = items.len();
            trace.place.set(Place::item(index));
            // Factors of one entity are equally long.
            let expected = items
                .last()
                .and_then(|item| item.factor.as_ref())
                .map_or(0, Vec::len);
            let next = seq.next_element_seed(Item {
                trace,
                index,
                expected,
            })?;
            let Some(item) = next else { return Ok(items) };
            trace.place.set(Place::field("evidence"));
            let within = trace.limits.items(index as u64 + 1);
            within.and_then(|()| trace.count()).map_err(Error::custom)?;
            items.push(item);
        }
    }
}
struct Item<'p> {
    trace: &'p Trace,
    index: usize,
    expected: usize,
}

seed!(Item<'_> -> Evidence<'de>, deserialize_map);

impl<'de> Visitor<'de> for Item<'_> {
    type Value = Evidence<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object with a factor, an embedding or a posterior")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Evidence<'de>, A::Error> {
        const FIELDS: [&str; 7] = ["id", "weight", "factor", "embedding", "mu", "sigma", "cov"];
        let (mut id, mut weight, mut factor) = (None, None, None);
        let (mut embedding, mut mu, mut sigma, mut cov) = (None, None, None, None);
        let (trace, index) = (self.trace, self.index);
        let place = &trace.place;
        let numbers = List::of(Number, trace, Limits::dimension);
        let rows = List::of(numbers, trace, Limits::covariance);
        let mut likely = List::of(Number, trace, Limits::classes);
        likely.expected = self.expected;
        each_field(&mut map, one_of(FIELDS), |map, name| {
            place.set(Place::item_field(index, name));
            match name {
                "id" => {
                    let name = map.next_value_seed(OptionalText)?;
                    once(&mut id, name.map(|name| trace.name(name)).transpose()?)?;
                }
                "weight" => once(&mut weight, map.next_value_seed(Number)?)?,
                "embedding" => once(&mut embedding, map.next_value_seed(numbers)?)?,
                "mu" => once(&mut mu, map.next_value_seed(numbers)?)?,
                "sigma" => once(&mut sigma, map.next_value_seed(numbers)?)?,
                "cov" => once(&mut cov, map.next_value_seed(rows)?)?,
                _ => once(&mut factor, map.next_value_seed(likely)?)?,
            }
            place.set(Place::item(index));
            Ok(())
        })?;
        Ok(Evidence {
            id: id.flatten(),
            weight,
            factor,
            embedding,
            mu,
            sigma,
            cov,
        })
    }
}

/// A list whose elements are read by `element`.
#[derive(Clone, Copy)]
pub(super) struct List<'p, S> {
    trace: &'p Trace,
    element: S,
    /// The limit of its length.
    most: Most,
    /// How many elements are likely.
    pub(super) expected: usize,
}

/// A limit.
type Most = fn(&Limits, u64) -> Result<(), LimitError>;

impl<'p, S> List<'p, S> {
    pub(super) fn of(element: S, trace: &'p Trace, most: Most) -> Self {
        List {
            trace,
            element,
            most,
            expected: 0,
        }
    }
}

impl<'de, S: DeserializeSeed<'de> + Copy> DeserializeSeed<'de> for List<'_, S> {
    type Value = Vec<S::Value>;
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
        d.deserialize_seq(self)
    }
}

impl<'de, S: DeserializeSeed<'de> + Copy> Visitor<'de> for List<'_, S> {
    type Value = Vec<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let trace = self.trace;
        let list = trace.place.get();
        let mut values = Vec::with_capacity(self.expected);
        loop {
            trace.place.set(list.at(values.len()));
            let next = seq.next_element_seed(self.element)?;
            let Some(value) = next else {
                trace.place.set(list);
                return Ok(values);
            };
            let within = (self.most)(&trace.limits, values.len() as u64 + 1);
            if let Err(error) = within.and_then(|()| trace.count()) {
                trace.place.set(list);
                return Err(Error::custom(error));
            }
            values.push(value);
        }
    }
}

/// Reads the fields of an object that `known` gives a name, by `read`; others are ignored.
pub(super) fn each_field<'de, A: MapAccess<'de>>(
    map: &mut A,
    known: impl Fn(&str) -> Option<&'static str>,
    mut read: impl FnMut(&mut A, &'static str) -> Result<(), A::Error>,
) -> Result<(), A::Error> {
    while let Some(key) = map.next_key_seed(Key(&known))? {
        match key {
            Some(name) => read(map, name)?,
            None => {
                map.next_value::<IgnoredAny>()?;
            }
        }
    }
    Ok(())
}

/// Each of these names is its own; others are unknown.
pub(super) fn one_of<const N: usize>(
    names: [&'static str; N],
) -> impl Fn(&str) -> Option<&'static str> {
    move |name| names.into_iter().find(|known| *known == name)
}

/// A field's name as its function has it, or none.
struct Key<'k, K>(&'k K);

impl<'de, K: Fn(&str) -> Option<&'static str>> DeserializeSeed<'de> for Key<'_, K> {
    type Value = Option<&'static str>;
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
        d.deserialize_str(self)
    }
}

impl<K: Fn(&str) -> Option<&'static str>> Visitor<'_> for Key<'_, K> {
    type Value = Option<&'static str>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a field name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok((self.0)(name))
    }
}

/// What pandas writes unless it is asked for rows.
pub(in crate::log) const OF_COLUMNS: &str = "one object of whole columns is not read; write one object a row \
                                             (in pandas orient=\"records\")";

/// Stamps a seed that is its own visitor for one value.
macro_rules! value_seed {
    ($(#[$doc:meta])* $name:ident -> $value:ty, $method:ident, $expecting:literal, { $($visits:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name;

        impl<'de> DeserializeSeed<'de> for $name {
            type Value = $value;
            fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
                d.$method(self)
            }
        }

        impl<'de> Visitor<'de> for $name {
            type Value = $value;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str($expecting)
            }
            $($visits)*
        }
    };
}

pub(super) use value_seed;

value_seed!(
    /// A string, borrowed from the line unless it has escapes.
    Text -> Cow<'de, str>, deserialize_str, "a string", {
        fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
            Ok(Cow::Borrowed(text))
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Cow::Owned(text.to_string()))
        }
    }
);

value_seed!(
    /// A string or `null`.
    OptionalText -> Option<Cow<'de, str>>, deserialize_any, "a string", {
        fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
            Ok(Some(Cow::Borrowed(text)))
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Some(Cow::Owned(text.to_string())))
        }
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
    }
);

value_seed!(
    /// A name: a whole number, or what [`OptionalText`] takes.
    Name -> Option<Cow<'de, str>>, deserialize_any, "a name", {
        fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
            OptionalText.visit_borrowed_str(text)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            OptionalText.visit_str(text)
        }
        fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
            Ok(Some(Cow::Owned(number.to_string())))
        }
        fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
            Ok(Some(Cow::Owned(number.to_string())))
        }
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
    }
);

value_seed!(
    /// A class by name or position, or `null`.
    LabelSeed -> Option<Label<'de>>, deserialize_any, "a class name or number", {
        fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
            Ok(Some(Label::Name(Cow::Borrowed(text))))
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Some(Label::Name(Cow::Owned(text.to_string()))))
        }
        fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
            Ok(Some(Label::Number(number)))
        }
        fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
            Ok(Some(Label::Name(Cow::Owned(number.to_string()))))
        }
        fn visit_bool<E: Error>(self, truth: bool) -> Result<Self::Value, E> {
            Ok(Some(Label::Number(truth.into())))
        }
        fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
            Ok(Some(Label::of_number(number)))
        }
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
        fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
            Err(A::Error::custom(
                "a list of classes: logs with several labels a row are not audited; audit each label by \
                 itself, as a log of its own",
            ))
        }
        fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
            Err(A::Error::custom(format!("an object: {OF_COLUMNS}")))
        }
    }
);

value_seed!(
    /// A number, whole or not, rounded to the nearest double.
    Number -> f64, deserialize_any, "a number", {
        fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
            Ok(number)
        }
        fn visit_u64<E: Error>(self, number: u64) -> Result<f64, E> {
            Ok(number as f64)
        }
        fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
            Ok(number as f64)
        }
        fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<f64, A::Error> {
            Err(A::Error::custom(format!("an object, where a number is expected: {OF_COLUMNS}")))
        }
    }
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Entity, Expectations};
    use proptest::prelude::*;

    const LINE: &str = r#"{"entity":"C5","x":[{}],"label":"b","classes":["a","b"],"evidence":[{"id":"e1","factor":[0.25,0.75],"weight":4e-1},{"factor":[1,0]}]}"#;

    #[test]
    fn a_line_is_read_as_it_is_written() {
        let record = Record::parse(LINE.as_bytes()).unwrap();
        let want = Record {
            entity: "C5".into(),
            label: Some(Label::Name("b".into())),
            classes: Some(vec!["a".into(), "b".into()]),
            evidence: vec![
                Evidence {
                    id: Some("e1".into()),
                    weight: Some(0.4),
                    factor: Some(vec![0.25, 0.75]),
                    ..Evidence::default()
                },
                Evidence {
                    factor: Some(vec![1.0, 0.0]),
                    ..Evidence::default()
                },
            ],
        };
        assert_eq!(record, want);
        // Nothing was copied that need not be.
        assert!(matches!(record.entity, Cow::Borrowed("C5")));
        assert!(matches!(record.evidence[0].id, Some(Cow::Borrowed("e1"))));
    }

    fn read(line: &[u8]) {
        let expect = Expectations::default();
        // Whatever comes out, it comes out without a panic, and an error can be shown.
        match Record::parse(line).and_then(|record| Entity::new(record, &expect)) {
            Ok(entity) => assert_eq!(entity.factors.len(), entity.weights.len()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_record_or_an_error(line in prop::collection::vec(any::<u8>(), 0..80)) {
            read(&line);
        }

        /// Right lines with a few bytes changed get much further in than random ones.
        #[test]
        fn any_change_of_a_line_gives_a_record_or_an_error(
            changes in prop::collection::vec((0..LINE.len(), any::<u8>()), 1..4),
            cut in 0..LINE.len() + 200,
        ) {
            let mut line = LINE.as_bytes().to_vec();
            for (at, byte) in changes {
                line[at] = byte;
            }
            line.truncate(cut);
            read(&line);
        }

        /// The oracle is serde_json's own tree of values.
        #[test]
        fn numbers_are_the_doubles_nearest_to_what_is_written(
            bits in prop::collection::vec(any::<u64>(), 1..5)
        ) {
            let values: Vec<f64> = bits.into_iter().map(f64::from_bits).filter(|x| x.is_finite()).collect();
            let line = serde_json::json!({"entity": "a", "evidence": [{"factor": values}]}).to_string();
            let record = Record::parse(line.as_bytes()).unwrap();
            prop_assert_eq!(record.evidence[0].factor.as_ref().unwrap(), &values);
        }
    }
}
