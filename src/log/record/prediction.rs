//! A line of a log: an answer that was given, the outcome, and perhaps what was behind it.
//!
//! ```json
//! {"entity": "C5", "label": "medium", "probs": [0.1, 0.8, 0.1], "evidence": [{"factor": [0.1, 0.8, 0.1]}]}
//! ```
//!
//! | field | meaning | when absent |
//! |---|---|---|
//! | `probs`, or the name that is asked for | the answer, one number a class; `null` is NaN | none |
//! | `label`, `classes`, `evidence` | as in a [`Record`](super::Record) | none |
//! | `entity` or `id` | a name, a string, a whole number or `null` | none |
//! | `factors`, with `weights` | the evidence, without names of items | none |
//! | `samples` | sampled distributions, a list of rows | none |
//! | `uncertainty` | their `total`, `epistemic` and `aleatoric` variance, as an object | none |
//!
//! Other fields are ignored; one of these given twice is an error.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::parse::{
    Items, LabelSeed, List, Number, OptionalText, Trace, each_field, once, one_of, read_line, seed,
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
    /// The evidence behind it, where it was logged.
    pub evidence: Option<Vec<Evidence<'a>>>,
    /// Sampled distributions, such as those whose mean is the answer.
    pub samples: Option<Vec<Vec<f64>>>,
    /// What was logged about the spread of these distributions.
    pub uncertainty: Option<LoggedUncertainty>,
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
        Prediction::parse_within(line, answer, &Limits::default())
    }

    /// The same within other limits: sizes beyond them are errors, found before memory is made.
    ///
    /// # Errors
    /// As [`Prediction::parse`].
    pub fn parse_within(
        line: &'a [u8],
        answer: &str,
        limits: &Limits,
    ) -> Result<Self, RecordError> {
        let trace = Trace::new(limits);
        let seed = PredictionSeed {
            trace: &trace,
            answer,
        };
        read_line(line, &trace, seed)
    }
}

/// The object that a line is.
#[derive(Clone, Copy)]
struct PredictionSeed<'p> {
    trace: &'p Trace,
    answer: &'p str,
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
        let (trace, answer) = (self.trace, self.answer);
        let place = &trace.place;
        let numbers = List::of(Number, trace, Limits::classes);
        let rows = List::of(numbers, trace, Limits::items);
        let weights_list = List::of(Number, trace, Limits::items);
        let mut likely = List::of(AnyNumber, trace, Limits::classes);
        likely.expected = 4;
        let own = one_of([
            "entity",
            "label",
            "classes",
            "evidence",
            "factors",
            "weights",
            "samples",
            "uncertainty",
        ]);
        let known = |name: &str| match name {
            name if name == answer => Some("probs"),
            "id" => Some("entity"),
            name => own(name),
        };
        each_field(&mut map, known, |map, name| {
            place.set(Place::field(name));
            match name {
                "entity" => {
                    let name = map.next_value_seed(Name)?;
                    once(&mut entity, name.map(|name| trace.name(name)).transpose()?)?;
                }
                "label" => once(&mut label, trace.label(map.next_value_seed(LabelSeed)?)?)?,
                "classes" => once(&mut out.classes, trace.names(map)?)?,
                "evidence" => once(&mut out.evidence, map.next_value_seed(Items { trace })?)?,
                "factors" => once(&mut factors, map.next_value_seed(rows)?)?,
                "weights" => once(&mut weights, map.next_value_seed(weights_list)?)?,
                "samples" => once(&mut out.samples, map.next_value_seed(rows)?)?,
                "uncertainty" => once(&mut out.uncertainty, map.next_value_seed(Parts { place })?)?,
                _ => once(&mut out.answer, map.next_value_seed(likely)?)?,
            }
            place.set(Place::LINE);
            Ok(())
        })?;
        out.entity = entity.flatten();
        out.label = label.flatten();
        if let Some(factors) = factors {
            place.set(Place::field("factors"));
            let items = weighted(factors, weights).map_err(A::Error::custom)?;
            once(&mut out.evidence, items)?;
            place.set(Place::LINE);
        }
        Ok(out)
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
