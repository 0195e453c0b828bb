//! Records of the ordinary kind, read in place.
//!
//! Nearly every record is flat but for its evidence, with texts that are written as they are and plain numbers.
//! What is in the least unusual, wrong or beyond a limit is none here and takes the way of [`super::parse`],
//! which knows what to say of it: what is read here is what would be read there, as the tests hold.

use std::borrow::Cow;

use super::{Evidence, Label, Record};
use crate::log::limits::{LimitError, Limits};
use crate::log::plain::{Json, once};

/// The record that a line plainly is.
pub(super) fn plain<'a>(line: &'a [u8], limits: &Limits) -> Option<Record<'a>> {
    let text = std::str::from_utf8(line).ok()?;
    let mut reader = Reader {
        json: Json::new(text.strip_prefix('\u{feff}').unwrap_or(text)),
        limits,
        values: 0,
    };
    let (mut entity, mut label, mut evidence) = (None, None, None);
    reader.object(|reader, key| match key {
        "entity" => {
            let name = match reader.json.next()? {
                b'"' => reader.json.text()?,
                _ => reader.json.whole()?,
            };
            once(&mut entity, reader.name(name)?)
        }
        "label" => {
            let found = match reader.json.next()? {
                b'"' => {
                    let name = reader.json.text()?;
                    Some(Label::Name(reader.name(name)?))
                }
                b't' => reader.json.word("true").map(|()| Some(Label::Number(1)))?,
                b'f' => reader.json.word("false").map(|()| Some(Label::Number(0)))?,
                b'n' => reader.json.word("null").map(|()| None)?,
                _ => Some(Label::Number(reader.json.whole()?.parse().ok()?)),
            };
            once(&mut label, found)
        }
        "classes" => None,
        "evidence" => {
            let items = reader.items()?;
            once(&mut evidence, items)
        }
        _ => reader.skip(),
    })?;
    if reader.json.next().is_some() {
        return None;
    }
    Some(Record {
        entity: entity?,
        label: label.flatten(),
        classes: None,
        evidence: evidence?,
    })
}

struct Reader<'a, 'l> {
    json: Json<'a>,
    limits: &'l Limits,
    /// Elements of all lists.
    values: u64,
}

impl<'a> Reader<'a, '_> {
    /// An object with at least one field, each read by `field`, behind whose name the reader stands.
    #[inline]
    fn object(&mut self, mut field: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.json.take(b'{')?;
        loop {
            self.json.next()?;
            let key = self.json.text()?;
            self.json.take(b':')?;
            field(self, key)?;
            if self.json.next()? != b',' {
                break;
            }
            self.json.take(b',')?;
        }
        self.json.take(b'}')
    }

    /// A list with at least one element, each read by `element`.
    #[inline]
    fn list(&mut self, mut element: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.json.take(b'[')?;
        loop {
            element(self)?;
            if self.json.next()? != b',' {
                break;
            }
            self.json.take(b',')?;
        }
        self.json.take(b']')
    }

    fn name(&self, name: &'a str) -> Option<Cow<'a, str>> {
        self.limits.name_bytes(name.len() as u64).ok()?;
        Some(Cow::Borrowed(name))
    }

    #[inline]
    fn number(&mut self) -> Option<f64> {
        if self.json.next()? == b'-' {
            self.json.take(b'-')?;
            // No white space after the sign.
            return Some(-self.json.digits()?);
        }
        self.json.number()
    }

    fn numbers(
        &mut self,
        likely: usize,
        most: fn(&Limits, u64) -> Result<(), LimitError>,
    ) -> Option<Vec<f64>> {
        let mut numbers = Vec::with_capacity(likely);
        self.list(|reader| {
            // Before there is more memory for it.
            most(reader.limits, numbers.len() as u64 + 1).ok()?;
            reader.count()?;
            numbers.push(reader.number()?);
            Some(())
        })?;
        Some(numbers)
    }

    /// One more element of a list.
    #[inline]
    fn count(&mut self) -> Option<()> {
        self.values += 1;
        self.limits.values(self.values).ok()
    }

    fn items(&mut self) -> Option<Vec<Evidence<'a>>> {
        let mut items: Vec<Evidence<'a>> = Vec::new();
        self.list(|reader| {
            let likely = items.last().and_then(|item| item.factor.as_ref());
            let item = reader.item(likely.map_or(0, Vec::len))?;
            reader.limits.items(items.len() as u64 + 1).ok()?;
            items.push(item);
            reader.count()
        })?;
        Some(items)
    }

    fn item(&mut self, likely: usize) -> Option<Evidence<'a>> {
        let mut item = Evidence::default();
        let mut id = None;
        self.object(|reader, key| match key {
            "id" => {
                let found = match reader.json.next()? {
                    b'"' => {
                        let name = reader.json.text()?;
                        Some(reader.name(name)?)
                    }
                    _ => reader.json.word("null").map(|()| None)?,
                };
                once(&mut id, found)
            }
            "weight" => once(&mut item.weight, reader.number()?),
            "factor" => once(&mut item.factor, reader.numbers(likely, Limits::classes)?),
            "embedding" => once(&mut item.embedding, reader.numbers(0, Limits::dimension)?),
            "mu" => once(&mut item.mu, reader.numbers(0, Limits::dimension)?),
            "sigma" => once(&mut item.sigma, reader.numbers(0, Limits::dimension)?),
            "cov" => None,
            _ => reader.skip(),
        })?;
        item.id = id.flatten();
        Some(item)
    }

    /// Moves behind a value that is no object, nor a list of lists.
    fn skip(&mut self) -> Option<()> {
        if self.json.next()? == b'[' {
            return self.list(|reader| reader.json.skip());
        }
        self.json.skip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::record::parse::parse_any;
    use proptest::prelude::*;

    const LINE: &str = r#" {"entity":"C5", "spn":[0.5,-1e-3,"x",null],"type":true,"label":1,"evidence":[{"id":"e1","factor":[0.25,7.5e-1],"weight":4e-1},{"factor":[1,0.0],"id":null,"kind":"news"},{"mu":[-0.5, -0],"sigma":[1,2.00]},{"embedding":[12345678901234567890,0.1234567890123456789]}]} "#;

    /// What is read in place is what is read in any way: as text, which tells −0 from 0.
    fn same(line: &[u8], limits: &Limits) -> Result<bool, TestCaseError> {
        let Some(record) = plain(line, limits) else {
            return Ok(false);
        };
        let any = parse_any(line, limits);
        prop_assert_eq!(
            format!("{:?}", Ok::<_, ()>(record)),
            format!("{:?}", any.map_err(|_| ()))
        );
        Ok(true)
    }

    #[test]
    fn ordinary_records_are_plain() {
        assert!(same(LINE.as_bytes(), &Limits::default()).unwrap());
        let reference = include_str!("../../../tests/fixtures/reference/predictions.jsonl");
        for line in reference.lines() {
            assert!(same(line.as_bytes(), &Limits::default()).unwrap(), "{line}");
        }
    }

    #[test]
    fn what_is_unusual_is_left_to_the_other_way() {
        for line in [
            "",
            "{}",
            r#"{"entity":"a"}"#,
            r#"{"entity":"a","evidence":[]}"#,
            r#"{"entity":"a","evidence":[{}]}"#,
            r#"{"entity":"a","evidence":[{"factor":[]}]}"#,
            r#"{"entity":"a","evidence":[{"factor":[1]}]}x"#,
            r#"{"entity":"a","evidence":[{"factor":[1,]}]}"#,
            r#"{"entity":"a","evidence":[{"factor":[1]},]}"#,
            r#"{"entity":"a","evidence":[{"factor":[- 1]}]}"#,
            r#"{"entity":"a","evidence":[{"factor":[--1]}]}"#,
            r#"{"entity":"a","evidence":[{"factor":[01]}]}"#,
            r#"{"entity":"a","evidence":[{"factor":[1e999]}]}"#,
            r#"{"entity":"a","evidence":[{"factor":[1],"factor":[1]}]}"#,
            r#"{"entity":"a","entity":"b","evidence":[{"factor":[1]}]}"#,
            r#"{"entity":"\u0061","evidence":[{"factor":[1]}]}"#,
            r#"{"entity":null,"evidence":[{"factor":[1]}]}"#,
            r#"{"entity":"a","x":{"y":1},"evidence":[{"factor":[1]}]}"#,
            r#"{"entity":"a","evidence":[{"factor":["1"]}]}"#,
        ] {
            assert_eq!(plain(line.as_bytes(), &Limits::default()), None, "{line}");
        }
    }

    #[test]
    fn limits_are_those_of_the_other_way() {
        let base = Limits::default();
        for limits in [
            Limits { classes: 1, ..base },
            Limits {
                dimension: 1,
                ..base
            },
            Limits { items: 3, ..base },
            Limits { values: 13, ..base },
            Limits {
                name_bytes: 1,
                ..base
            },
        ] {
            assert!(parse_any(LINE.as_bytes(), &limits).is_err());
            assert_eq!(plain(LINE.as_bytes(), &limits), None);
        }
        let enough = Limits {
            classes: 2,
            dimension: 2,
            items: 4,
            values: 14,
            name_bytes: 2,
            ..base
        };
        assert!(same(LINE.as_bytes(), &enough).unwrap());
    }

    #[test]
    fn the_corpus_is_read_alike() {
        for path in crate::log::fuzz_corpus() {
            for line in std::fs::read(&path).unwrap().split(|byte| *byte == b'\n') {
                same(line, &Limits::default()).unwrap();
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// Right lines with a few bytes changed are read alike or left to the other way.
        #[test]
        fn changed_lines_are_read_alike(
            changes in prop::collection::vec(
                (0..LINE.len(), prop_oneof![any::<u8>(), prop::sample::select(&b"0123456789-+.eE,:[]{}\" \tnul"[..])]),
                0..4,
            ),
            cut in 0..LINE.len() + 400,
        ) {
            let mut line = LINE.as_bytes().to_vec();
            for (at, byte) in changes {
                line[at] = byte;
            }
            line.truncate(cut);
            same(&line, &Limits::default())?;
        }

        #[test]
        fn numbers_are_read_alike(numbers in prop::collection::vec(
            prop_oneof![
                any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite()),
                -1.0f64..1.0,
                (-1000i32..1000).prop_map(f64::from),
            ],
            1..6,
        )) {
            for line in [
                format!(r#"{{"entity":7,"evidence":[{{"mu":{numbers:?},"weight":{}}}]}}"#, numbers[0]),
                format!(r#"{{"entity":7,"evidence":[{{"factor":[{:e}]}}]}}"#, numbers[0]),
            ] {
                prop_assert!(same(line.as_bytes(), &Limits::default())?, "{}", line);
            }
        }
    }
}
