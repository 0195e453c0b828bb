//! How the rows of a log are understood, once it is known which of their fields hold what.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::columns::{Columns, ColumnsError};
use super::fields::{Fields, Found, listed_names};
use super::format::Reading;
use super::lines::Batch;
use super::record::{JsonLayout, Label, OF_COLUMNS, OWN_FIELDS, Prediction, canonical};
use super::row::{Reason, RowError};

/// So many rows are looked at for fields with usual names.
const LOOKED_AT: u64 = 1000;
/// So many names of fields are kept for messages.
const MOST_NAMES: usize = 1000;

/// How the rows of a batch are understood.
#[derive(Debug)]
pub(super) struct Layout {
    pub shape: Shape,
    /// With a positive class: what the others are called together, and it.
    pair: Option<[String; 2]>,
}

/// Where things are in a row.
#[derive(Debug)]
pub(super) enum Shape {
    Json(JsonLayout),
    Csv(Columns),
    #[cfg(feature = "parquet")]
    Table(Columns),
    Memory {
        classes: Option<Vec<String>>,
    },
}

impl Layout {
    pub(super) fn new(shape: Shape, fields: &Fields) -> Self {
        let pair = fields.positive.clone();
        Layout {
            shape,
            pair: pair.map(|positive| [format!("not {positive}"), positive]),
        }
    }

    #[cfg(feature = "parquet")]
    pub(super) fn of_table(columns: &Columns, fields: &Fields) -> Self {
        Layout::new(Shape::Table(columns.clone()), fields)
    }

    /// Whether rows are what they say, without [`Layout::against_the_rest`].
    pub(super) fn is_direct(&self) -> bool {
        self.pair.is_none()
    }

    fn columns(&self) -> Option<&Columns> {
        match &self.shape {
            Shape::Json(_) | Shape::Memory { .. } => None,
            Shape::Csv(columns) => Some(columns),
            #[cfg(feature = "parquet")]
            Shape::Table(columns) => Some(columns),
        }
    }

    /// The classes that fields or columns name.
    pub(super) fn classes(&self) -> Option<&[String]> {
        match &self.shape {
            Shape::Json(layout) => layout.classes.as_deref(),
            Shape::Memory { classes } => classes.as_deref(),
            _ => self.columns()?.classes(),
        }
    }

    /// What messages call the answer.
    pub(super) fn answer_field(&self) -> &str {
        match (&self.shape, self.columns()) {
            (
                Shape::Json(JsonLayout {
                    answer,
                    classes: None,
                    ..
                }),
                _,
            ) => answer.first().map_or("probs", |name| name),
            (_, Some(columns)) if columns.classes().is_none() => {
                columns.answer_names().next().unwrap_or_default()
            }
            _ => "probabilities",
        }
    }

    /// What messages call the true class.
    pub(super) fn label_field(&self) -> &str {
        match (&self.shape, self.columns()) {
            (Shape::Json(layout), _) => &layout.label,
            (_, Some(columns)) => columns.label.map_or("label", |label| columns.name(label)),
            _ => "label",
        }
    }

    /// What is read as what.
    pub(super) fn reading(&self) -> Reading {
        let kept = |names: &mut dyn Iterator<Item = &str>| -> (Vec<String>, u64) {
            let all: Vec<&str> = names.collect();
            let first = all.iter().take(Reading::MOST);
            (first.map(ToString::to_string).collect(), all.len() as u64)
        };
        let (label, id, (probabilities, columns)) = match (&self.shape, self.columns()) {
            (Shape::Json(layout), _) => (
                Some(layout.label.clone()),
                layout.id.clone(),
                kept(&mut layout.answer.iter().map(|name| &**name)),
            ),
            (_, Some(columns)) => (
                columns.label.map(|label| columns.name(label).to_string()),
                columns.id.map(|id| columns.name(id).to_string()),
                kept(&mut columns.answer_names()),
            ),
            _ => Default::default(),
        };
        let others = match self.columns() {
            Some(columns) => columns.others().map(str::to_string).collect(),
            None => Vec::new(),
        };
        Reading {
            others,
            label,
            id,
            probabilities,
            columns,
            positive: self.pair.as_ref().map(|[_, positive]| positive.clone()),
            ..Reading::default()
        }
    }

    /// A row with the probability of the positive class, its label as that class or as the rest.
    ///
    /// # Errors
    /// Where the row holds the probabilities of several classes.
    pub(super) fn against_the_rest<'a>(
        &'a self,
        mut row: Prediction<'a>,
    ) -> Result<Prediction<'a>, RowError> {
        let Some([rest, positive]) = &self.pair else {
            return Ok(row);
        };
        if row.answer.is_some() && !row.binary {
            let what =
                "probabilities of several classes, but the setting `positive` is for that of one";
            return Err(RowError::new(Reason::Shape, self.answer_field(), what));
        }
        if let Some(label) = &row.label {
            let name = match label {
                Label::Name(name) => Cow::Borrowed(&**name),
                Label::Number(number) => Cow::Owned(number.to_string()),
            };
            let is_positive = canonical(&name) == canonical(positive);
            let name = if is_positive { positive } else { rest };
            row.label = Some(Label::Name(Cow::Borrowed(name)));
        }
        row.classes = Some(vec![Cow::Borrowed(rest), Cow::Borrowed(positive)]);
        Ok(row)
    }
}

/// What is found out of the fields of JSON objects: the first row that has a field with a usual name says
/// which it is in all rows.
#[derive(Debug)]
pub(super) struct Search {
    layout: JsonLayout,
    positive: Fields,
    label: bool,
    answer: bool,
    rows: u64,
    seen: Vec<String>,
}

impl Search {
    pub(super) fn new(fields: &Fields) -> Self {
        let mut layout = JsonLayout::with_answer("probs");
        let (mut label, mut answer) = (false, false);
        if let Some(name) = &fields.label {
            layout.label.clone_from(name);
            label = true;
        }
        layout.id.clone_from(&fields.id);
        // One name needs no row to be found in; it may even be in none of the first.
        if let Some([name]) = fields.probabilities.as_deref()
            && !name.contains('*')
            && !name.contains("..")
        {
            layout.answer = vec![name.clone()];
            answer = true;
        }
        Search {
            layout,
            positive: fields.clone(),
            label,
            answer,
            rows: 0,
            seen: Vec::new(),
        }
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::new(Shape::Json(self.layout.clone()), &self.positive)
    }

    /// The fields that hold nothing that a check reads, at most [`Reading::MOST`].
    pub(super) fn others(&self) -> Vec<String> {
        let layout = &self.layout;
        let own = |name: &String| {
            *name == layout.label
                || layout.id.as_ref() == Some(name)
                || layout.answer.contains(name)
                || OWN_FIELDS.contains(&&**name)
        };
        let others = self.seen.iter().filter(|name| !own(name));
        others.take(Reading::MOST).cloned().collect()
    }

    /// The names of fields, for messages, and what to do where they are those of pandas' orient="split".
    pub(super) fn seen(&self) -> String {
        let names = listed_names(&self.seen);
        match self.seen.iter().any(|x| x == "columns") && self.seen.iter().any(|x| x == "data") {
            true => format!("{names} ({OF_COLUMNS})"),
            false => names,
        }
    }

    /// Looks at the fields of rows until all is found; whether something was.
    ///
    /// # Errors
    /// Where the fields of the first row with an answer are not those that are asked for.
    pub(super) fn look(&mut self, lines: &Batch, fields: &Fields) -> Result<bool, ColumnsError> {
        let mut found = false;
        for (_, line) in lines.lines() {
            // The first row is looked at in any case: messages say what is there.
            if self.rows > 0 && self.label && self.answer || self.rows >= LOOKED_AT {
                break;
            }
            self.rows += 1;
            let Ok(Names(names)) = serde_json::from_slice(bare(line)) else {
                continue;
            };
            for name in &names {
                if self.seen.len() < MOST_NAMES && !self.seen.contains(name) {
                    self.seen.push(name.clone());
                }
            }
            if !self.label
                && let Ok(Some(at)) = fields.label_among(&names)
            {
                self.layout.label.clone_from(&names[at]);
                (self.label, found) = (true, true);
            }
            if !self.answer
                && let Some(answer) = fields.answer_among(&names)?
            {
                (self.layout.answer, self.layout.classes) = match answer {
                    Found::One(at) => (vec![names[at].clone()], None),
                    Found::Each { columns, classes } => {
                        super::record::check_names(&classes).map_err(ColumnsError::Classes)?;
                        let names = columns.iter().map(|&at| names[at].clone());
                        (names.collect(), Some(classes))
                    }
                };
                (self.answer, found) = (true, true);
            }
        }
        Ok(found)
    }
}

/// A line without the mark of a byte order and white space around it.
fn bare(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(line)
        .trim_ascii()
}

/// The names of the fields of an object.
struct Names(Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Names;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    map.next_value::<IgnoredAny>()?;
                    if names.len() < MOST_NAMES && !names.contains(&name) {
                        names.push(name);
                    }
                }
                Ok(Names(names))
            }
        }
        d.deserialize_map(Fields)
    }
}
