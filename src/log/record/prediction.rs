//! A line of a log: an answer that was given, the outcome, and perhaps what was behind it.
//!
//! ```json
//! {"entity": "C5", "label": "medium", "probs": [0.1, 0.8, 0.1], "evidence": [{"factor": [0.1, 0.8, 0.1]}]}
//! ```
//!
//! | field | meaning | when absent |
//! |---|---|---|
//! | `probs`, or the name that is asked for | the answer: one number a class, in a list or by name, or that of the positive class alone; `null` is NaN | none |
//! | `label`, or the name that is asked for | the true class: its name, its position, or a truth value | none |
//! | `classes`, `evidence` | as in a [`Record`](super::Record) | none |
//! | `entity` or `id`, or the name that is asked for | a name, a string, a whole number or `null` | none |
//! | `factors`, with `weights` | the evidence, without names of items | none |
//! | `samples` | sampled distributions, a list of rows | none |
//! | `uncertainty` | their `total`, `epistemic` and `aleatoric` variance, as an object | none |
//!
//! Other fields are ignored; one of these given twice is an error.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::parse::{
    Items, LabelSeed, List, Name, Number, Text, Trace, each_field, once, one_of, read_line, seed,
    value_seed,
};
use super::{Evidence, Label, Place, RecordError};
use crate::log::limits::Limits;

/// What a line of a log says, before it is known whether it makes sense.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Prediction<'a> {
    /// Name of the entity, where it has one.
    pub entity: Option<Cow<'a, str>>,
    /// The true class, where it is known.
    pub label: Option<Label<'a>>,
    /// Names of the classes, where the line has them.
    pub classes: Option<Vec<Cow<'a, str>>>,
    /// The answer: numbers, NaN among them, as they were logged.
    pub answer: Option<Vec<f64>>,
    /// The classes of these numbers, where each was logged by name.
    pub keys: Option<Vec<Cow<'a, str>>>,
    /// Whether only the probability of the positive class was logged, the second of the answer.
    pub binary: bool,
    /// Whether the numbers were stored in half precision.
    pub half: bool,
    /// The evidence behind it, where it was logged.
    pub evidence: Option<Vec<Evidence<'a>>>,
    /// Sampled distributions, such as those whose mean is the answer.
    pub samples: Option<Vec<Vec<f64>>>,
    /// What was logged about the spread of these distributions.
    pub uncertainty: Option<LoggedUncertainty>,
}

/// An answer as it was logged.
#[derive(Clone, Debug, PartialEq)]
pub enum Given<'a> {
    /// One number a class.
    Each(Vec<f64>),
    /// The probability of the positive class.
    Single(f64),
    /// Numbers by the names of their classes.
    Keyed(Vec<Cow<'a, str>>, Vec<f64>),
}

/// The fields with names of their own that a check reads, whatever the others are called.
pub(in crate::log) const OWN_FIELDS: [&str; 9] = [
    "entity",
    "id",
    "classes",
    "evidence",
    "factors",
    "weights",
    "samples",
    "uncertainty",
    "set",
];

/// Which fields of a line hold what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonLayout {
    /// The field of the true class.
    pub label: String,
    /// The field of the entity's name, where it is neither `entity` nor `id`.
    pub id: Option<String>,
    /// The field of the answer, or its fields, one a class.
    pub answer: Vec<String>,
    /// The classes of these fields; none for a single one.
    pub classes: Option<Vec<String>>,
}

impl JsonLayout {
    /// The usual fields, and the answer in this one.
    pub fn with_answer(answer: impl Into<String>) -> Self {
        JsonLayout {
            label: "label".to_string(),
            answer: vec![answer.into()],
            ..JsonLayout::default()
        }
    }

    /// The position of a field among those of the answer.
    fn answer_at(&self, name: &str) -> Option<usize> {
        self.answer.iter().position(|own| own == name)
    }
}

/// The three variances of a logged decomposition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoggedUncertainty {
    /// Variance of the outcome.
    pub total: f64,
    /// The part that more evidence could remove.
    pub epistemic: f64,
    /// The part that it could not.
    pub aleatoric: f64,
}

impl<'a> Prediction<'a> {
    /// Reads one line, the answer from the field `answer`. Errors in it are placed in `probs`.
    ///
    /// # Errors
    /// The first thing that is wrong, and the field that the reader was in.
    pub fn parse(line: &'a [u8], answer: &str) -> Result<Self, RecordError> {
        let layout = JsonLayout::with_answer(answer);
        Prediction::parse_within(line, &layout, &Limits::default())
    }

    /// The same from any fields and within other limits: sizes beyond them are errors, found before memory
    /// is made.
    ///
    /// # Errors
    /// As [`Prediction::parse`].
    pub fn parse_within(
        line: &'a [u8],
        layout: &JsonLayout,
        limits: &Limits,
    ) -> Result<Self, RecordError> {
        let trace = Trace::new(limits);
        let seed = PredictionSeed {
            trace: &trace,
            layout,
        };
        read_line(line, &trace, seed)
    }

    /// The same row with this answer.
    #[must_use]
    pub fn answering(mut self, given: Given<'a>) -> Self {
        match given {
            Given::Each(numbers) => self.answer = Some(numbers),
            Given::Single(p) => {
                self.answer = Some(vec![1.0 - p, p]);
                self.binary = true;
            }
            Given::Keyed(keys, numbers) => {
                self.answer = Some(numbers);
                self.keys = Some(keys);
            }
        }
        self
    }
}

/// The object that a line is.
#[derive(Clone, Copy)]
struct PredictionSeed<'p> {
    trace: &'p Trace,
    layout: &'p JsonLayout,
}

seed!(PredictionSeed<'_> -> Prediction<'de>, deserialize_map);

impl<'de> Visitor<'de> for PredictionSeed<'_> {
    type Value = Prediction<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object with a prediction and its label")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut out = Prediction::default();
        let (mut entity, mut label, mut factors, mut weights) = (None, None, None, None);
        let (mut id, mut given) = (None, None);
        let (trace, layout) = (self.trace, self.layout);
        let place = &trace.place;
        let numbers = List::of(Number, trace, Limits::classes);
        let rows = List::of(numbers, trace, Limits::items);
        let weights_list = List::of(Number, trace, Limits::items);
        let several = layout.classes.is_some();
        let mut each = vec![None; if several { layout.answer.len() } else { 0 }];
        let at = Cell::new(0);
        let own = one_of([
            "classes",
            "evidence",
            "factors",
            "weights",
            "samples",
            "uncertainty",
        ]);
        let known = |name: &str| {
            if name == layout.label {
                return Some("label");
            }
            if let Some(found) = layout.answer_at(name) {
                at.set(found);
                return Some("probs");
            }
            match (name, layout.id.as_deref()) {
                (name, Some(id)) if name == id => Some("entity"),
                ("entity", None) => Some("entity"),
                ("id", None) => Some("id"),
                (name, _) => own(name),
            }
        };
        each_field(&mut map, known, |map, name| {
            place.set(Place::field(name));
            match name {
                "entity" | "id" => {
                    let slot = if name == "id" { &mut id } else { &mut entity };
                    let name = map.next_value_seed(Name)?;
                    once(slot, name.map(|name| trace.name(name)).transpose()?)?;
                }
                "label" => once(&mut label, trace.label(map.next_value_seed(LabelSeed)?)?)?,
                "classes" => once(&mut out.classes, trace.names(map)?)?,
                "evidence" => once(&mut out.evidence, map.next_value_seed(Items { trace })?)?,
                "factors" => once(&mut factors, map.next_value_seed(rows)?)?,
                "weights" => once(&mut weights, map.next_value_seed(weights_list)?)?,
                "samples" => once(&mut out.samples, map.next_value_seed(rows)?)?,
                "uncertainty" => once(&mut out.uncertainty, map.next_value_seed(Parts { place })?)?,
                _ if several => {
                    place.set(Place::field(name).at(at.get()));
                    let number = map.next_value_seed(AnyNumber)?;
                    if let Some(slot) = each.get_mut(at.get()) {
                        once(slot, number)?;
                    }
                }
                _ => once(&mut given, map.next_value_seed(AnswerSeed { trace })?)?,
            }
            place.set(Place::LINE);
            Ok(())
        })?;
        out.entity = entity.flatten().or(id.flatten());
        out.label = label.flatten();
        if let Some(factors) = factors {
            place.set(Place::field("factors"));
            let items = weighted(factors, weights).map_err(A::Error::custom)?;
            once(&mut out.evidence, items)?;
            place.set(Place::LINE);
        }
        if several && each.iter().any(Option::is_some) {
            let missing = each.iter().position(Option::is_none);
            let numbers = each.into_iter().flatten().collect();
            if let Some(missing) = missing {
                place.set(Place::field("probs").at(missing));
                return Err(A::Error::custom("missing"));
            }
            given = Some(Given::Each(numbers));
        }
        Ok(match given {
            Some(given) => out.answering(given),
            None => out,
        })
    }
}

/// An answer in one field: a list, a number, or an object.
#[derive(Clone, Copy)]
struct AnswerSeed<'p> {
    trace: &'p Trace,
}

seed!(AnswerSeed<'_> -> Given<'de>, deserialize_any);

impl<'de> Visitor<'de> for AnswerSeed<'_> {
    type Value = Given<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of probabilities, one probability, or an object with one a class")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        let mut likely = List::of(AnyNumber, self.trace, Limits::classes);
        likely.expected = 4;
        likely.visit_seq(seq).map(Given::Each)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Given::Single(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Given::Single(number as f64))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Given::Single(number as f64))
    }

    /// How many programs write NaN.
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Given::Single(f64::NAN))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        /// So many names are compared with each other as they come.
        const FEW: usize = 16;
        let trace = self.trace;
        let place = trace.place.get();
        let (mut keys, mut numbers): (Vec<Cow<'de, str>>, _) = (Vec::new(), Vec::new());
        while let Some(key) = map.next_key_seed(Text)? {
            let within = trace.limits().classes(keys.len() as u64 + 1);
            within.map_err(Error::custom)?;
            if keys.len() < FEW && keys.contains(&key) {
                return Err(Error::custom("a class is given twice"));
            }
            trace.place.set(place.at(keys.len()));
            keys.push(trace.name(key)?);
            numbers.push(map.next_value_seed(AnyNumber)?);
        }
        trace.place.set(place);
        // Of many, looking at all before each would take the square of their number.
        if keys.len() > FEW {
            let mut sorted: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
            sorted.sort_unstable();
            if sorted.windows(2).any(|pair| pair.first() == pair.last()) {
                return Err(Error::custom("a class is given twice"));
            }
        }
        Ok(Given::Keyed(keys, numbers))
    }
}

/// Items from their factors and weights.
fn weighted<'a>(
    factors: Vec<Vec<f64>>,
    weights: Option<Vec<f64>>,
) -> Result<Vec<Evidence<'a>>, String> {
    if let Some(weights) = &weights
        && weights.len() != factors.len()
    {
        let (k, w) = (factors.len(), weights.len());
        return Err(format!("{k} factors, but {w} weights"));
    }
    let weight = |i: usize| weights.as_ref().and_then(|w| w.get(i).copied());
    let item = |(i, factor)| Evidence {
        weight: weight(i),
        factor: Some(factor),
        ..Evidence::default()
    };
    Ok(factors.into_iter().enumerate().map(item).collect())
}

value_seed!(
    /// A number, or `null`, which is how many programs write NaN.
    AnyNumber -> f64, deserialize_option, "a number", {
        fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<f64, D::Error> {
            Number.deserialize(d)
        }
        fn visit_none<E: Error>(self) -> Result<f64, E> {
            Ok(f64::NAN)
        }
    }
);

/// The object of a logged decomposition.
#[derive(Clone, Copy)]
struct Parts<'p> {
    place: &'p Cell<Place>,
}

seed!(Parts<'_> -> LoggedUncertainty, deserialize_map);

impl<'de> Visitor<'de> for Parts<'_> {
    type Value = LoggedUncertainty;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object with total, epistemic and aleatoric")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut total, mut epistemic, mut aleatoric) = (None, None, None);
        let known = one_of(["total", "epistemic", "aleatoric"]);
        each_field(&mut map, known, |map, name| {
            let slot = match name {
                "total" => &mut total,
                "epistemic" => &mut epistemic,
                _ => &mut aleatoric,
            };
            once(slot, map.next_value_seed(Number)?)
        })?;
        self.place.set(Place::field("uncertainty"));
        let need = |part: Option<f64>, name| {
            part.ok_or_else(|| A::Error::custom(format_args!("{name} is missing")))
        };
        Ok(LoggedUncertainty {
            total: need(total, "total")?,
            epistemic: need(epistemic, "epistemic")?,
            aleatoric: need(aleatoric, "aleatoric")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = r#"{"id":7,"x":[{}],"label":"b","classes":["a","b"],"spn":[0.25,null],"factors":[[1,0],[0.5,0.5]],"weights":[1,2],"samples":[[0.5,0.5]],"uncertainty":{"total":0.5,"epistemic":0,"aleatoric":0.5,"samples":1}}"#;

    #[test]
    fn a_line_is_read_as_it_is_written() {
        let got = Prediction::parse(LINE.as_bytes(), "spn").unwrap();
        assert_eq!(got.entity.as_deref(), Some("7"));
        assert_eq!(got.label, Some(Label::Name("b".into())));
        let answer = got.answer.unwrap();
        assert!(answer[0] == 0.25 && answer[1].is_nan());
        let evidence = got.evidence.unwrap();
        assert_eq!(evidence[1].factor, Some(vec![0.5, 0.5]));
        assert_eq!(evidence[1].weight, Some(2.0));
        assert_eq!(got.samples, Some(vec![vec![0.5, 0.5]]));
        let logged = got.uncertainty.unwrap();
        assert_eq!((logged.total, logged.aleatoric), (0.5, 0.5));
        // Under another name the answer is one of the fields that are ignored.
        let other = Prediction::parse(LINE.as_bytes(), "probs").unwrap();
        assert_eq!(other.answer, None);
    }

    #[test]
    fn errors_name_the_field() {
        let cases = [
            (r#"{"probs":[1,"a"]}"#, "probs[1]: "),
            (r#"{"probs":[1],"probs":[1]}"#, "probs: given twice"),
            (r#"{"factors":[[1]],"weights":[1,2]}"#, "factors: 1 factors"),
            (r#"{"factors":[[1]],"evidence":[]}"#, "factors: given twice"),
            (
                r#"{"uncertainty":{"total":1}}"#,
                "uncertainty: epistemic is missing",
            ),
            (r#"{"entity":[]}"#, "entity: "),
            (r#"{"probs":[NaN]}"#, "probs[0]: not JSON: NaN and"),
        ];
        for (line, want) in cases {
            let error = Prediction::parse(line.as_bytes(), "probs").unwrap_err();
            assert!(error.to_string().starts_with(want), "{line}: {error}");
        }
    }

    #[test]
    fn a_class_is_given_once_among_few_and_many() {
        for count in [2, 16, 17, 60] {
            let object = |last: usize| {
                let names = (0..count - 1).chain([last]);
                let fields: Vec<String> = names.map(|i| format!("\"{i}\":0")).collect();
                format!("{{\"probs\":{{{}}}}}", fields.join(","))
            };
            let parse = |line: &str| Prediction::parse(line.as_bytes(), "probs").map(|_| ());
            parse(&object(count)).unwrap();
            for twice in [0, count - 2] {
                let error = parse(&object(twice)).unwrap_err().to_string();
                assert!(error.contains("given twice"), "{count}: {error}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_change_of_a_line_gives_a_prediction_or_an_error(
            changes in prop::collection::vec((0..LINE.len(), any::<u8>()), 1..4),
            cut in 0..LINE.len() + 200,
        ) {
            let mut line = LINE.as_bytes().to_vec();
            for (at, byte) in changes {
                line[at] = byte;
            }
            line.truncate(cut);
            if let Err(error) = Prediction::parse(&line, "spn") {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}
