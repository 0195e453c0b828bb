//! Predictions in columns: one of labels, one of probabilities a class, perhaps one of names.
//!
//! In comma-separated values a header line names the columns, then each line is a prediction. A
//! field may be quoted as RFC 4180 has it (`"a ""b"", c"`), but no field may hold a line break:
//! lines are shared out among threads before anything is known about them.

use std::borrow::Cow;

use super::brief::brief_name;
use super::limits::{LimitError, Limits};
use super::record::{Label, Prediction, check_names};
use super::row::{Reason, RowError};

/// Prefixes by which columns of probabilities are recognized; what follows is the class.
pub(super) const PREFIXES: [&str; 2] = ["prob_", "p_"];

/// Which columns hold what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    names: Vec<String>,
    pub(super) label: usize,
    pub(super) id: Option<usize>,
    /// One for each class.
    pub(super) probabilities: Vec<usize>,
    classes: Vec<String>,
}

/// The names of the columns, where they are not the usual ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnNames {
    /// The column of the true class; by default `label`.
    pub label: Option<String>,
    /// The column that names the entity; by default `entity` or `id`, where there is one.
    pub id: Option<String>,
    /// The columns of the probabilities; by default those that start with `prob_` or `p_`.
    pub probabilities: Option<Vec<String>>,
}

/// Why the columns of a table cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum ColumnsError {
    /// The header is not UTF-8.
    #[error("the header is not UTF-8 text")]
    NotUtf8,
    /// A quoted field of the header does not end.
    #[error("a quoted field of the header does not end")]
    OpenQuote,
    /// A column that is needed has the name of another.
    #[error("two columns are called {0}")]
    Repeated(String),
    /// A column is missing.
    #[error("there is no column {name}; the columns are {columns}")]
    Missing { name: String, columns: String },
    /// No column holds probabilities.
    #[error("no column starts with prob_ or p_; name the columns of the probabilities")]
    NoProbabilities,
    /// Class names that cannot tell classes apart.
    #[error("the classes of the columns: {0}")]
    Classes(&'static str),
    /// Too many columns, or names that are too long.
    #[error("the columns: {0}")]
    Limit(#[from] LimitError),
}

fn unreadable(what: impl Into<String>) -> RowError {
    RowError::new(Reason::Unreadable, "line", what)
}

impl Columns {
    /// Finds the columns in the header line of comma-separated values.
    ///
    /// # Errors
    /// [`ColumnsError`].
    pub fn of_header(
        header: &[u8],
        wanted: &ColumnNames,
        limits: &Limits,
    ) -> Result<Self, ColumnsError> {
        let text = std::str::from_utf8(header).map_err(|_| ColumnsError::NotUtf8)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // There are no more fields than commas and one.
        limits.columns(1 + text.bytes().filter(|b| *b == b',').count() as u64)?;
        let names = fields(text).ok_or(ColumnsError::OpenQuote)?;
        let names = names.into_iter().map(|n| n.trim().to_string()).collect();
        Columns::of_names(names, wanted, limits)
    }

    /// Finds the columns among all that there are.
    ///
    /// # Errors
    /// [`ColumnsError`].
    pub fn of_names(
        names: Vec<String>,
        wanted: &ColumnNames,
        limits: &Limits,
    ) -> Result<Self, ColumnsError> {
        let longest = names.iter().map(String::len).max().unwrap_or(0);
        limits.name_bytes(longest as u64)?;
        // Columns that are not read may be called anything: pandas leaves that of its index without
        // a name.
        let found = |name: &str| {
            let mut all = names.iter().enumerate().filter(|(_, n)| *n == name);
            match (all.next(), all.next()) {
                (_, Some(_)) => Err(ColumnsError::Repeated(brief_name(name).into_owned())),
                (first, None) => Ok(first.map(|(i, _)| i)),
            }
        };
        let need = |name: &str| {
            found(name)?.ok_or_else(|| {
                let shown = names.iter().take(20).map(|n| brief_name(n));
                let shown: Vec<Cow<'_, str>> = shown.collect();
                ColumnsError::Missing {
                    name: brief_name(name).into_owned(),
                    columns: shown.join(", "),
                }
            })
        };
        let label = need(wanted.label.as_deref().unwrap_or("label"))?;
        let id = match &wanted.id {
            Some(name) => Some(need(name)?),
            None => match found("entity")? {
                Some(entity) => Some(entity),
                None => found("id")?,
            },
        };
        let (probabilities, classes): (Vec<usize>, Vec<String>) = match &wanted.probabilities {
            Some(columns) => {
                let at = columns.iter().map(|c| need(c));
                (at.collect::<Result<_, _>>()?, columns.clone())
            }
            None => {
                let of = |prefix: &str| -> (Vec<usize>, Vec<String>) {
                    let named = names.iter().enumerate();
                    named
                        .filter_map(|(i, n)| Some((i, n.strip_prefix(prefix)?.to_string())))
                        .unzip()
                };
                let best = PREFIXES.map(of);
                let best = best.into_iter().find(|(at, _)| !at.is_empty());
                best.ok_or(ColumnsError::NoProbabilities)?
            }
        };
        limits.classes(classes.len() as u64)?;
        check_names(&classes).map_err(ColumnsError::Classes)?;
        Ok(Columns {
            names,
            label,
            id,
            probabilities,
            classes,
        })
    }

    /// The classes that the columns of probabilities name.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The position of the column of true classes.
    pub fn label_column(&self) -> usize {
        self.label
    }

    /// The position of the column that names entities, where there is one.
    pub fn id_column(&self) -> Option<usize> {
        self.id
    }

    /// The positions of the columns of probabilities, one for each class.
    pub fn probability_columns(&self) -> &[usize] {
        &self.probabilities
    }

    /// The field of a line in the column of this name; none where there is no such column, or the field
    /// is empty.
    pub(super) fn field(&self, line: &[u8], name: &str) -> Option<String> {
        let column = self.names.iter().position(|own| own == name)?;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let fields = fields(std::str::from_utf8(line).ok()?)?;
        let field = fields.get(column)?.trim();
        (!field.is_empty()).then(|| field.to_string())
    }

    pub(super) fn name(&self, column: usize) -> &str {
        self.names.get(column).map_or("", |name| name)
    }

    /// Reads one line of comma-separated values. An empty field of a number is NaN.
    ///
    /// # Errors
    /// The first thing that is wrong, and its column.
    pub fn prediction<'a>(&self, line: &'a [u8]) -> Result<Prediction<'a>, RowError> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = std::str::from_utf8(line).map_err(|error| {
            let byte = error.valid_up_to() + 1;
            unreadable(format!("not UTF-8 text: byte {byte} does not fit"))
        })?;
        // Nearly every line has no quotes and few columns, and needs no room beside itself.
        let mut few = [""; FEW];
        match cut(text, &mut few) {
            Some(count) => {
                let field = |i: usize| few.get(i).copied().unwrap_or_default();
                self.assembled(count, field, |i| Cow::Borrowed(field(i)))
            }
            None => {
                let fields = fields(text)
                    .ok_or_else(|| unreadable("a quoted field does not end on its line"))?;
                let field = |i: usize| fields.get(i).map_or("", |f| &**f);
                let owned = |i: usize| fields.get(i).cloned().unwrap_or_default();
                self.assembled(fields.len(), field, owned)
            }
        }
    }

    /// A prediction from the fields of its line: one to look at, and one to keep.
    fn assembled<'a, 'f>(
        &self,
        count: usize,
        field: impl Fn(usize) -> &'f str,
        kept: impl Fn(usize) -> Cow<'a, str>,
    ) -> Result<Prediction<'a>, RowError> {
        if count != self.names.len() {
            let expected = self.names.len();
            let what = format!("{count} fields, but the header has {expected}");
            return Err(unreadable(what));
        }
        let mut answer = Vec::with_capacity(self.probabilities.len());
        for &column in &self.probabilities {
            let field = field(column).trim();
            // An empty field is how many programs write NaN.
            let value = match field {
                "" => f64::NAN,
                field => field.parse().map_err(|_| {
                    let what = format!("{:?} is not a number", brief_name(field));
                    RowError::new(Reason::Shape, self.name(column), what)
                })?,
            };
            answer.push(value);
        }
        let entity = self.id.map(&kept);
        let label = match kept(self.label) {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_string()),
        };
        Ok(Prediction {
            entity,
            label: (!label.is_empty()).then_some(Label::Name(label)),
            answer: Some(answer),
            ..Prediction::default()
        })
    }
}

/// Lines with more columns than this take the way of those with quotes.
const FEW: usize = 32;

/// Cuts a line without quotes at its commas and returns how many fields there are; none where there
/// is a quote, or more fields than fit.
fn cut<'a>(text: &'a str, fields: &mut [&'a str; FEW]) -> Option<usize> {
    let (mut count, mut start) = (0, 0);
    let ends = text
        .bytes()
        .enumerate()
        .filter(|(_, b)| matches!(b, b',' | b'"'));
    for (end, byte) in ends.chain([(text.len(), b',')]) {
        if byte == b'"' {
            return None;
        }
        *fields.get_mut(count)? = text.get(start..end)?;
        (count, start) = (count + 1, end + 1);
    }
    Some(count)
}

/// The fields of a line; none where a quoted field does not end, or something follows its end.
fn fields(text: &str) -> Option<Vec<Cow<'_, str>>> {
    if !text.contains('"') {
        return Some(text.split(',').map(Cow::Borrowed).collect());
    }
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        let Some(quoted) = rest.strip_prefix('"') else {
            let (field, next) = match rest.split_once(',') {
                Some((field, next)) => (field, Some(next)),
                None => (rest, None),
            };
            out.push(Cow::Borrowed(field));
            match next {
                Some(next) => rest = next,
                None => return Some(out),
            }
            continue;
        };
        let mut field = String::new();
        let mut inside = quoted;
        rest = loop {
            let (part, after) = inside.split_once('"')?;
            field.push_str(part);
            match after.strip_prefix('"') {
                Some(next) => {
                    field.push('"');
                    inside = next;
                }
                None => break after,
            }
        };
        out.push(Cow::Owned(field));
        if rest.is_empty() {
            return Some(out);
        }
        rest = rest.strip_prefix(',')?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_cut_as_the_standard_has_it() {
        let cases: [(&str, Option<&[&str]>); 9] = [
            ("a,b", Some(&["a", "b"])),
            ("", Some(&[""])),
            (",", Some(&["", ""])),
            ("\"a,b\",c", Some(&["a,b", "c"])),
            ("\"a \"\"b\"\"\",\"\"", Some(&["a \"b\"", ""])),
            ("x\"y,z", Some(&["x\"y", "z"])),
            ("\"a\"b,c", None),
            ("\"a,b", None),
            ("\"a\",", Some(&["a", ""])),
        ];
        for (line, want) in cases {
            let got = fields(line);
            let got: Option<Vec<&str>> = got.as_ref().map(|f| f.iter().map(|x| &**x).collect());
            assert_eq!(got.as_deref(), want, "{line}");
            let mut few = [""; FEW];
            let quick = cut(line, &mut few);
            assert_eq!(quick.is_none(), line.contains('"'), "{line}");
            if let Some(count) = quick {
                assert_eq!(Some(&few[..count]), want, "{line}");
            }
        }
        // As many as fit, and one more.
        let many = ",".repeat(FEW);
        let mut few = [""; FEW];
        assert_eq!(cut(&many[1..], &mut few), Some(FEW));
        assert_eq!(cut(&many, &mut few), None);
        assert_eq!(fields(&many).unwrap().len(), FEW + 1);
    }

    #[test]
    fn columns_are_found_by_prefix_or_by_name() {
        let header = b"\xef\xbb\xbfid, label ,p_low,\"p_a,b\",other";
        let columns =
            Columns::of_header(header, &ColumnNames::default(), &Limits::default()).unwrap();
        assert_eq!(columns.classes(), ["low", "a,b"]);
        let row = columns.prediction(b"7,low,0.25,0.75,x\r").unwrap();
        assert_eq!(row.answer, Some(vec![0.25, 0.75]));
        assert_eq!(row.entity.as_deref(), Some("7"));
        assert_eq!(row.label, Some(Label::Name("low".into())));
        let empty = columns.prediction(b"7,,0.25,,x").unwrap();
        assert!(empty.label.is_none() && empty.answer.unwrap()[1].is_nan());
        for (line, field) in [(&b"7,low,1"[..], "line"), (b"7,low,x,0.75,", "p_low")] {
            assert_eq!(columns.prediction(line).unwrap_err().field, field);
        }
        let wanted = ColumnNames {
            label: Some("other".into()),
            probabilities: Some(vec!["p_low".into(), "id".into()]),
            ..ColumnNames::default()
        };
        let columns = Columns::of_header(header, &wanted, &Limits::default()).unwrap();
        assert_eq!(columns.classes(), ["p_low", "id"]);
        for bad in [
            "a,a",
            "a,b",
            "label,x",
            "label,\"p_a",
            "label,p_a,label",
            "label,p_a,p_a",
            "label,p_a,id,id",
        ] {
            assert!(
                Columns::of_header(bad.as_bytes(), &ColumnNames::default(), &Limits::default())
                    .is_err()
            );
        }
    }

    #[test]
    fn columns_that_are_not_read_may_have_any_name_or_none() {
        // The first column as pandas writes it, and two that share a name.
        let header = b",label,note,p_a,note,p_b";
        let columns =
            Columns::of_header(header, &ColumnNames::default(), &Limits::default()).unwrap();
        let row = columns.prediction(b"0,a,x,0.25,y,0.75").unwrap();
        assert_eq!((row.answer, row.entity), (Some(vec![0.25, 0.75]), None));
        assert_eq!(columns.classes(), ["a", "b"]);
        // More columns than are cut in place.
        let (names, values) = (",note".repeat(FEW), ",x".repeat(FEW));
        let header = format!("label{names},p_a,p_b");
        let columns = Columns::of_header(
            header.as_bytes(),
            &ColumnNames::default(),
            &Limits::default(),
        )
        .unwrap();
        let line = format!("b{values},0.25,0.75");
        let row = columns.prediction(line.as_bytes()).unwrap();
        assert_eq!(row.answer, Some(vec![0.25, 0.75]));
        assert_eq!(row.label, Some(Label::Name("b".into())));
    }
}
