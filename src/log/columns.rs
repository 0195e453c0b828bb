//! Predictions in columns: one of labels, one of probabilities a class or one of all of them, perhaps one
//! of names.
//!
//! In values separated by commas, semicolons, tabs or bars a header line names the columns, then each line is a prediction. A
//! field may be quoted as RFC 4180 has it (`"a ""b"", c"`), but no field may hold a line break:
//! lines are shared out among threads before anything is known about them. A single column may also hold a
//! list or a dictionary as Python writes it.

use std::borrow::Cow;

use memchr::memchr;

use super::brief::brief_name;
use super::fields::{Fields, Found, listed_names};
use super::format::Reading;
use super::limits::{LimitError, Limits};
use super::record::{Given, Label, Prediction, check_names};
use super::row::{Reason, RowError};

/// Which columns hold what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    names: Vec<String>,
    pub(super) label: Option<usize>,
    pub(super) id: Option<usize>,
    /// One for each class, or a single one.
    pub(super) probabilities: Vec<usize>,
    /// The classes that the columns name; none for a single column.
    classes: Option<Vec<String>>,
    /// What stands between the fields of a line.
    separator: u8,
}

/// Usual names of columns that hold what was predicted and not how probable it is.
const PREDICTED: [&str; 5] = ["y_pred", "y_hat", "pred", "predicted", "prediction"];

/// Why the columns of a table cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum ColumnsError {
    /// All rows are in the header, as lines end in another way.
    #[error(
        "lines end with a carriage return alone, which is not read as an end; save it with line feeds, for \
         instance with tr '\\r' '\\n'"
    )]
    CarriageReturns,
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
    /// No column holds labels.
    #[error(
        "no column of true classes, such as label, y_true or target; the columns are {columns}; name it \
         with the setting `label`"
    )]
    NoLabel { columns: String },
    /// No column holds probabilities.
    #[error(
        "no columns of probabilities, such as y_prob, prob_CLASS or 0, 1, 2; the columns are {columns}; \
         name them with the setting `probs` (names, patterns such as 'p*', ranges such as 0..9){hint}"
    )]
    NoProbabilities { columns: String, hint: &'static str },
    /// One column that may be the probability of anything.
    #[error(
        "{column} is the only column of probabilities; if it is the probability of {class} against all \
         else, say so with the setting `positive` = {class}"
    )]
    Alone { column: String, class: String },
    /// Class names that cannot tell classes apart.
    #[error("the classes of the columns: {0}")]
    Classes(&'static str),
    /// Too many columns, or names that are too long.
    #[error("the columns: {0}")]
    Limit(#[from] LimitError),
}

/// Lines are shared out before they are cut into fields.
const OPEN_QUOTE: &str = "a quoted field does not end on its line; a row is one line of separated values, and \
                          Parquet and JSON lines hold texts of several";

fn unreadable(what: impl Into<String>) -> RowError {
    RowError::new(Reason::Unreadable, "line", what)
}

impl Columns {
    /// Finds the columns in the header line of separated values: commas, semicolons, tabs or bars, of
    /// which there are the most.
    ///
    /// # Errors
    /// [`ColumnsError`].
    pub fn of_header(
        header: &[u8],
        wanted: &Fields,
        limits: &Limits,
    ) -> Result<Self, ColumnsError> {
        let text = std::str::from_utf8(header).map_err(|_| ColumnsError::NotUtf8)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim_ascii_end().contains('\r') && !text.contains('"') {
            return Err(ColumnsError::CarriageReturns);
        }
        let separator = separator(text);
        // There are no more fields than separators and one.
        limits.columns(1 + text.bytes().filter(|b| *b == separator).count() as u64)?;
        let names = fields(text, separator).ok_or(ColumnsError::OpenQuote)?;
        let names = names.into_iter().map(|n| n.trim().to_string()).collect();
        let columns = Columns::of_names(names, wanted, limits)?;
        Ok(Columns {
            separator,
            ..columns
        })
    }

    /// Finds the columns among all that there are.
    ///
    /// # Errors
    /// [`ColumnsError`].
    pub fn of_names(
        names: Vec<String>,
        wanted: &Fields,
        limits: &Limits,
    ) -> Result<Self, ColumnsError> {
        let longest = names.iter().map(String::len).max().unwrap_or(0);
        limits.name_bytes(longest as u64)?;
        let answer = wanted.answer_among(&names)?;
        let answer = answer.ok_or_else(|| ColumnsError::NoProbabilities {
            columns: listed_names(&names),
            hint: match names.iter().any(|name| PREDICTED.contains(&name.as_str())) {
                true => "; predictions without probabilities, and regression, are not audited",
                false => "",
            },
        })?;
        let label = wanted.label_among(&names)?;
        if label.is_none() && !wanted.unlabelled {
            let columns = listed_names(&names);
            return Err(ColumnsError::NoLabel { columns });
        }
        let id = wanted.id_among(&names)?;
        let (probabilities, classes) = match answer {
            Found::One(at) => (vec![at], None),
            Found::Each { columns, classes } => {
                limits.classes(classes.len() as u64)?;
                check_names(&classes).map_err(ColumnsError::Classes)?;
                (columns, Some(classes))
            }
        };
        Ok(Columns {
            names,
            label,
            id,
            probabilities,
            classes,
            separator: b',',
        })
    }

    /// The classes that the columns of probabilities name; none where all are in a single column.
    pub fn classes(&self) -> Option<&[String]> {
        self.classes.as_deref()
    }

    /// The position of the column of true classes, where there is one.
    pub fn label_column(&self) -> Option<usize> {
        self.label
    }

    /// The position of the column that names entities, where there is one.
    pub fn id_column(&self) -> Option<usize> {
        self.id
    }

    /// The positions of the columns of probabilities: one for each class, or the only one.
    pub fn answer_columns(&self) -> &[usize] {
        &self.probabilities
    }

    /// Gives the classes of a single column that holds a number for each.
    ///
    /// # Errors
    /// Where their names cannot tell them apart.
    #[cfg(feature = "parquet")]
    pub(super) fn take_classes(
        &mut self,
        classes: Vec<String>,
        limits: &Limits,
    ) -> Result<(), ColumnsError> {
        limits.classes(classes.len() as u64)?;
        check_names(&classes).map_err(ColumnsError::Classes)?;
        self.classes = Some(classes);
        Ok(())
    }

    /// The position of a column that is asked for by name.
    ///
    /// # Errors
    /// Where there is none, or two.
    #[cfg(feature = "parquet")]
    pub(super) fn need(&self, name: &str) -> Result<usize, ColumnsError> {
        super::fields::need(&self.names, name)
    }

    /// The names of columns that hold neither classes nor probabilities nor the entity, at most
    /// [`Reading::MOST`].
    pub(super) fn others(&self) -> impl Iterator<Item = &str> {
        let own = |at: usize| {
            Some(at) == self.label || Some(at) == self.id || self.probabilities.contains(&at)
        };
        let others = self.names.iter().enumerate();
        let others = others.filter(move |(at, name)| !name.is_empty() && !own(*at));
        others.take(Reading::MOST).map(|(_, name)| &**name)
    }

    /// How many columns there are.
    pub(super) fn width(&self) -> usize {
        self.names.len()
    }

    /// What stands between the fields of a line.
    pub fn separator(&self) -> u8 {
        self.separator
    }

    /// The names of the columns of probabilities.
    pub(super) fn answer_names(&self) -> impl Iterator<Item = &str> {
        self.probabilities.iter().map(|&column| self.name(column))
    }

    /// The field of a line in the column of this name; none where there is no such column, or the field
    /// is empty.
    pub(super) fn field<'a>(&self, line: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
        let column = self.names.iter().position(|own| own == name)?;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if memchr(b'"', line).is_some() {
            let fields = fields(std::str::from_utf8(line).ok()?, self.separator)?;
            let field = fields.get(column)?.trim();
            return (!field.is_empty()).then(|| Cow::Owned(field.to_string()));
        }
        let mut rest = line;
        for _ in 0..column {
            rest = rest.get(memchr(self.separator, rest)? + 1..)?;
        }
        let end = memchr(self.separator, rest).unwrap_or(rest.len());
        let field = std::str::from_utf8(rest.get(..end)?).ok()?.trim();
        (!field.is_empty()).then_some(Cow::Borrowed(field))
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
        match cut(text, self.separator, &mut few) {
            Some(count) => {
                let field = |i: usize| few.get(i).copied().unwrap_or_default();
                self.assembled(count, field, |i| Cow::Borrowed(field(i)))
            }
            None => {
                let fields = fields(text, self.separator).ok_or_else(|| unreadable(OPEN_QUOTE))?;
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
        let answer = match self.classes {
            Some(_) => {
                let mut answer = Vec::with_capacity(self.probabilities.len());
                for &column in &self.probabilities {
                    answer.push(self.number(column, field(column).trim())?);
                }
                Given::Each(answer)
            }
            None => {
                let column = self.probabilities.first().copied().unwrap_or_default();
                self.single(column, field(column).trim())?
            }
        };
        let entity = self.id.map(&kept);
        let label = self.label.map(|label| match kept(label) {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_string()),
        });
        Ok(Prediction {
            entity,
            label: label.filter(|text| !text.is_empty()).map(Label::Name),
            ..Prediction::default()
        }
        .answering(answer))
    }

    /// The number of a field. An empty one is how many programs write NaN; where semicolons separate
    /// fields, a comma may stand before the decimals.
    fn number(&self, column: usize, field: &str) -> Result<f64, RowError> {
        let parsed = match untyped(field) {
            "" => Some(f64::NAN),
            field => match (field.parse(), self.separator) {
                (Ok(value), _) => Some(value),
                (Err(_), b';') => field.replacen(',', ".", 1).parse().ok(),
                (Err(_), _) => None,
            },
        };
        parsed.ok_or_else(|| {
            let what = format!("{:?} is not a number", brief_name(field));
            RowError::of_answer(Reason::NotNumbers, self.name(column), what)
        })
    }

    /// What a single field holds: a number, a list of them in brackets, or one for each class by its name.
    fn single(&self, column: usize, field: &str) -> Result<Given<'static>, RowError> {
        let object = field.strip_prefix('{').and_then(|f| f.strip_suffix('}'));
        if let Some(object) = object {
            return self.keyed(column, object);
        }
        let list = field.strip_prefix('[').and_then(|f| f.strip_suffix(']'));
        let Some(list) = list else {
            return Ok(Given::Single(self.number(column, field)?));
        };
        let apart = |c: char| c == ',' || c.is_whitespace();
        let numbers = list.split(apart).filter(|number| !number.is_empty());
        let numbers = numbers.map(|number| self.number(column, number));
        Ok(Given::Each(numbers.collect::<Result<_, _>>()?))
    }

    /// What stands between the braces of an object, as Python and JSON write it.
    fn keyed(&self, column: usize, object: &str) -> Result<Given<'static>, RowError> {
        let wrong = || {
            let what = format!(
                "{:?} is no object with a number a class",
                brief_name(object)
            );
            RowError::of_answer(Reason::NotNumbers, self.name(column), what)
        };
        let (mut keys, mut numbers) = (Vec::new(), Vec::new());
        let mut rest = object.trim();
        while !rest.is_empty() {
            let (key, after) = key(rest).ok_or_else(wrong)?;
            let after = after.trim_start().strip_prefix(':').ok_or_else(wrong)?;
            let (number, next) = after.split_once(',').unwrap_or((after, ""));
            // A name takes much more room in memory than in the line.
            let within = Limits::default().classes(keys.len() as u64 + 1);
            within.map_err(|limit| {
                RowError::of_answer(Reason::NotNumbers, self.name(column), limit.to_string())
            })?;
            keys.push(Cow::Owned(key));
            numbers.push(self.number(column, number.trim())?);
            rest = next.trim_start();
        }
        Ok(Given::Keyed(keys, numbers))
    }
}

/// A number without the type that NumPy shows it with in a list: `np.float64(0.5)`.
fn untyped(text: &str) -> &str {
    let inside = |text: &'_ str| -> Option<(usize, usize)> {
        let open = text.strip_prefix("np.")?.find('(')? + "np.(".len();
        text.ends_with(')').then(|| (open, text.len() - 1))
    };
    inside(text).map_or(text, |(from, to)| text.get(from..to).unwrap_or(text))
}

/// The first key of an object, and what follows it: a text in quotes of either kind, or what stands before
/// the colon.
fn key(text: &str) -> Option<(String, &str)> {
    let typed = text.strip_prefix("np.").and_then(|t| t.split_once('('));
    let text = typed.map_or(text, |(_, inside)| inside);
    let (key, rest) = match text.chars().next()? {
        quote @ ('\'' | '"') => unquoted(text.get(1..)?, quote)?,
        _ => {
            let end = text.find([':', ')'])?;
            (text.get(..end)?.trim().to_string(), text.get(end..)?)
        }
    };
    match typed {
        Some(_) => Some((key, rest.strip_prefix(')')?)),
        None => Some((key, rest)),
    }
}

/// A text up to its closing quote, and what follows; none where it does not end, or has an escape that
/// Python and JSON do not share.
fn unquoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    loop {
        match chars.next()? {
            (at, c) if c == quote => return Some((out, text.get(at + 1..)?)),
            (_, '\\') => match chars.next()? {
                (_, c @ ('\\' | '\'' | '"' | '/')) => out.push(c),
                (at, 'u') => {
                    let digits = text.get(at + 1..at + 5)?;
                    out.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                    chars.nth(3)?;
                }
                _ => return None,
            },
            (_, c) => out.push(c),
        }
    }
}

/// What most likely separates the names of a header: what stands there most often outside of quotes, a
/// comma where nothing does.
fn separator(header: &str) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0), (b'|', 0)];
    let mut quoted = false;
    for byte in header.bytes() {
        quoted ^= byte == b'"';
        if let (false, Some((_, count))) = (quoted, counts.iter_mut().find(|(b, _)| *b == byte)) {
            *count += 1;
        }
    }
    let mut best = counts[0];
    for other in counts {
        if other.1 > best.1 {
            best = other;
        }
    }
    best.0
}

/// Lines with more columns than this take the way of those with quotes.
const FEW: usize = 32;

/// Cuts a line without quotes at its separators and returns how many fields there are; none where there
/// is a quote, or more fields than fit.
fn cut<'a>(text: &'a str, separator: u8, fields: &mut [&'a str; FEW]) -> Option<usize> {
    let (mut count, mut start) = (0, 0);
    let ends = text
        .bytes()
        .enumerate()
        .filter(|(_, b)| *b == separator || *b == b'"');
    for (end, byte) in ends.chain([(text.len(), separator)]) {
        if byte == b'"' {
            return None;
        }
        *fields.get_mut(count)? = text.get(start..end)?;
        (count, start) = (count + 1, end + 1);
    }
    Some(count)
}

/// The fields of a line; none where a quoted field does not end, or something follows its end.
fn fields(text: &str, separator: u8) -> Option<Vec<Cow<'_, str>>> {
    let separator = char::from(separator);
    if !text.contains('"') {
        return Some(text.split(separator).map(Cow::Borrowed).collect());
    }
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        let Some(quoted) = rest.strip_prefix('"') else {
            let (field, next) = match rest.split_once(separator) {
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
        rest = rest.strip_prefix(separator)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `str` of Python 3.11 with NumPy 2.4 and `json.dumps` write, and what is nothing of the kind.
    #[test]
    fn a_single_field_holds_what_python_writes() {
        let header = b"label;probs";
        let columns = Columns::of_header(header, &Fields::default(), &Limits::default()).unwrap();
        let read = |field: &str| columns.single(1, field);
        for list in [
            "[0.25, 0.75]",
            "[0.25 0.75]",
            "[np.float64(0.25), np.float32(0.75)]",
        ] {
            assert_eq!(read(list).unwrap(), Given::Each(vec![0.25, 0.75]), "{list}");
        }
        let keyed = |names: [&str; 2]| {
            let names = names.map(|name| Cow::Owned(name.to_string()));
            Given::Keyed(names.to_vec(), vec![0.25, 0.75])
        };
        for (object, names) in [
            ("{'a': 0.25, 'b': 0.75}", ["a", "b"]),
            (r#"{"a":0.25,"b":0.75}"#, ["a", "b"]),
            ("{0: 0.25, 1: 0.75}", ["0", "1"]),
            (
                "{np.int64(0): np.float64(0.25), np.int64(1): np.float64(0.75)}",
                ["0", "1"],
            ),
            ("{np.str_('a'): 0.25, np.str_('b'): 0.75}", ["a", "b"]),
            (
                r#"{'it\'s, "x": {': 0.25, "caf\u00e9": 0.75}"#,
                ["it's, \"x\": {", "café"],
            ),
            (r#"{"it's": 0.25, 'é\\': 0.75}"#, ["it's", "é\\"]),
        ] {
            assert_eq!(read(object).unwrap(), keyed(names), "{object}");
        }
        for wrong in [
            "{'a' 0.25}",
            "{'a: 0.25}",
            "{'a': }x",
            "{'a': x}",
            "{a}",
            "{'a\\n': 0.5}",
            "{'\\ud800': 0.5}",
            "np.float64(",
            "np.)",
            "abc",
        ] {
            let error = read(wrong).unwrap_err();
            assert_eq!(error.reason, Reason::NotNumbers, "{wrong}");
        }
    }

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
            let got = fields(line, b',');
            let got: Option<Vec<&str>> = got.as_ref().map(|f| f.iter().map(|x| &**x).collect());
            assert_eq!(got.as_deref(), want, "{line}");
            let mut few = [""; FEW];
            let quick = cut(line, b',', &mut few);
            assert_eq!(quick.is_none(), line.contains('"'), "{line}");
            if let Some(count) = quick {
                assert_eq!(Some(&few[..count]), want, "{line}");
            }
        }
        // As many as fit, and one more.
        let many = ",".repeat(FEW);
        let mut few = [""; FEW];
        assert_eq!(cut(&many[1..], b',', &mut few), Some(FEW));
        assert_eq!(cut(&many, b',', &mut few), None);
        assert_eq!(fields(&many, b',').unwrap().len(), FEW + 1);
    }

    #[test]
    fn columns_are_found_by_prefix_or_by_name() {
        let header = b"\xef\xbb\xbfid, label ,p_low,\"p_a,b\",other";
        let columns = Columns::of_header(header, &Fields::default(), &Limits::default()).unwrap();
        assert_eq!(columns.classes().unwrap(), ["low", "a,b"]);
        let row = columns.prediction(b"7,low,0.25,0.75,x\r").unwrap();
        assert_eq!(row.answer, Some(vec![0.25, 0.75]));
        assert_eq!(row.entity.as_deref(), Some("7"));
        assert_eq!(row.label, Some(Label::Name("low".into())));
        let empty = columns.prediction(b"7,,0.25,,x").unwrap();
        assert!(empty.label.is_none() && empty.answer.unwrap()[1].is_nan());
        for (line, field) in [(&b"7,low,1"[..], "line"), (b"7,low,x,0.75,", "p_low")] {
            assert_eq!(columns.prediction(line).unwrap_err().field, field);
        }
        let wanted = Fields {
            label: Some("other".into()),
            probabilities: Some(vec!["p_low".into(), "id".into()]),
            ..Fields::default()
        };
        let columns = Columns::of_header(header, &wanted, &Limits::default()).unwrap();
        assert_eq!(columns.classes().unwrap(), ["p_low", "id"]);
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
                Columns::of_header(bad.as_bytes(), &Fields::default(), &Limits::default()).is_err()
            );
        }
    }

    #[test]
    fn columns_that_are_not_read_may_have_any_name_or_none() {
        // The first column as pandas writes it, and two that share a name.
        let header = b",label,note,p_a,note,p_b";
        let columns = Columns::of_header(header, &Fields::default(), &Limits::default()).unwrap();
        let row = columns.prediction(b"0,a,x,0.25,y,0.75").unwrap();
        assert_eq!((row.answer, row.entity), (Some(vec![0.25, 0.75]), None));
        assert_eq!(columns.classes().unwrap(), ["a", "b"]);
        // More columns than are cut in place.
        let (names, values) = (",note".repeat(FEW), ",x".repeat(FEW));
        let header = format!("label{names},p_a,p_b");
        let columns =
            Columns::of_header(header.as_bytes(), &Fields::default(), &Limits::default()).unwrap();
        let line = format!("b{values},0.25,0.75");
        let row = columns.prediction(line.as_bytes()).unwrap();
        assert_eq!(row.answer, Some(vec![0.25, 0.75]));
        assert_eq!(row.label, Some(Label::Name("b".into())));
    }
}
