//! Which fields or columns of a log hold what: those that are asked for, or else the usual names.

use std::borrow::Cow;

use super::brief::brief_name;
use super::columns::ColumnsError;

/// The names of fields and columns, where they are not the usual ones; the same for every format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The true class; by default the first of [`LABELS`] that there is.
    pub label: Option<String>,
    /// The name of the entity; by default `entity` or `id`, where there is one.
    pub id: Option<String>,
    /// The probabilities: names, patterns with `*`, and ranges (`0..9`, `p_0..p_9`). One name for a field
    /// that holds a number (of the positive class), a list or an object, several for one a class. By
    /// default the usual names.
    pub probabilities: Option<Vec<String>>,
    /// The class that a single probability is of; every other label counts against it. By default 1.
    pub positive: Option<String>,
    /// Further columns to read from tables, as text: see [`LogBatch::field`](super::LogBatch::field).
    pub others: Vec<String>,
    /// Whether a table need not have labels.
    pub unlabelled: bool,
}

/// Names of the true class that are recognized, the most telling first.
pub const LABELS: [&str; 8] = [
    "label",
    "y_true",
    "target",
    "y",
    "true_label",
    "ground_truth",
    "actual",
    "outcome",
];

/// Names of fields that hold the probabilities of all classes.
const LISTS: [&str; 5] = [
    "probs",
    "distribution",
    "probabilities",
    "probas",
    "y_probs",
];

/// Names of fields that may hold the probability of one class.
const SINGLES: [&str; 8] = [
    "y_prob",
    "y_proba",
    "y_score",
    "proba",
    "prob",
    "p",
    "probability",
    "y_pred_proba",
];

/// Prefixes of columns of probabilities; what follows is the class.
const PREFIXES: [&str; 7] = [
    "prob_",
    "proba_",
    "probability_",
    "p_",
    "y_prob_",
    "y_proba_",
    "y_score_",
];

/// Prefixes of numbered columns: pandas and Polars name those of an array so.
const NUMBERED: [&str; 2] = ["", "column_"];

/// Where the probabilities are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// In one field: a number, a list or an object.
    One(usize),
    /// In one field a class.
    Each {
        columns: Vec<usize>,
        classes: Vec<String>,
    },
}

/// What all of them are called, for messages.
pub(super) fn listed_names<N: AsRef<str>>(names: &[N]) -> String {
    const SHOWN: usize = 20;
    if names.iter().all(|n| n.as_ref().is_empty()) {
        return "without names".into();
    }
    let shown = names.iter().take(SHOWN).map(|n| brief_name(n.as_ref()));
    let shown: Vec<Cow<'_, str>> = shown.collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The position of a name.
///
/// # Errors
/// Where two have it.
pub(super) fn found<N: AsRef<str>>(names: &[N], name: &str) -> Result<Option<usize>, ColumnsError> {
    let mut all = names.iter().enumerate().filter(|(_, n)| n.as_ref() == name);
    match (all.next(), all.next()) {
        (_, Some(_)) => Err(ColumnsError::Repeated(brief_name(name).into_owned())),
        (first, None) => Ok(first.map(|(i, _)| i)),
    }
}

/// The position of a name that is needed.
pub(super) fn need<N: AsRef<str>>(names: &[N], name: &str) -> Result<usize, ColumnsError> {
    found(names, name)?.ok_or_else(|| ColumnsError::Missing {
        name: brief_name(name).into_owned(),
        columns: listed_names(names),
    })
}

impl Fields {
    /// Where the label is.
    ///
    /// # Errors
    /// Where the name that is asked for is not there, or is there twice.
    pub(super) fn label_among<N: AsRef<str>>(
        &self,
        names: &[N],
    ) -> Result<Option<usize>, ColumnsError> {
        if let Some(name) = &self.label {
            return need(names, name).map(Some);
        }
        for name in LABELS {
            if let Some(at) = found(names, name)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Where the name of the entity is.
    ///
    /// # Errors
    /// As [`Fields::label_among`].
    pub(super) fn id_among<N: AsRef<str>>(
        &self,
        names: &[N],
    ) -> Result<Option<usize>, ColumnsError> {
        match &self.id {
            Some(name) => need(names, name).map(Some),
            None => match found(names, "entity")? {
                Some(entity) => Ok(Some(entity)),
                None => found(names, "id"),
            },
        }
    }

    /// Where the probabilities are; none where nothing has a usual name.
    ///
    /// # Errors
    /// Where a name that is asked for is not there, or is there twice, or a single column may be anything.
    pub(super) fn answer_among<N: AsRef<str>>(
        &self,
        names: &[N],
    ) -> Result<Option<Found>, ColumnsError> {
        if let Some(wanted) = &self.probabilities {
            return asked_for(names, wanted).map(Some);
        }
        for name in LISTS {
            if let Some(at) = found(names, name)? {
                return Ok(Some(Found::One(at)));
            }
        }
        let families = PREFIXES.map(|prefix| family(names, prefix));
        let numbered = NUMBERED.map(|prefix| {
            let (columns, classes) = family(names, prefix);
            in_order(columns, classes)
        });
        let several = families.iter().chain(&numbered);
        if let Some((columns, classes)) = several.into_iter().find(|(at, _)| at.len() > 1) {
            return Ok(Some(Found::Each {
                columns: columns.clone(),
                classes: classes.clone(),
            }));
        }
        for name in SINGLES {
            if let Some(at) = found(names, name)? {
                return Ok(Some(Found::One(at)));
            }
        }
        let alone = families
            .iter()
            .find_map(|(columns, classes)| Some((*columns.first()?, classes.first()?.as_str())));
        match alone {
            None => Ok(None),
            // Its name says that it is the probability of the class 1.
            Some((at, class)) if self.positive.is_some() || is_one(class) => {
                Ok(Some(Found::One(at)))
            }
            Some((at, class)) => {
                let column = names.get(at).map_or("", |name| name.as_ref());
                Err(ColumnsError::Alone {
                    column: brief_name(column).into_owned(),
                    class: brief_name(class).into_owned(),
                })
            }
        }
    }
}

/// Whether a class is the positive one by its name.
fn is_one(class: &str) -> bool {
    let known = ["1", "1.0", "true", "pos", "positive", "yes"];
    known.iter().any(|name| class.eq_ignore_ascii_case(name))
}

/// The columns with a prefix, and what follows it.
fn family<N: AsRef<str>>(names: &[N], prefix: &str) -> (Vec<usize>, Vec<String>) {
    let named = names.iter().enumerate();
    named
        .filter_map(|(i, n)| {
            let class = n.as_ref().strip_prefix(prefix)?;
            (!class.is_empty()).then(|| (i, class.to_string()))
        })
        .unzip()
}

/// Of columns whose classes are numbers, those from 0 on without a gap, in order of their numbers.
fn in_order(columns: Vec<usize>, classes: Vec<String>) -> (Vec<usize>, Vec<String>) {
    let number = |class: &String| {
        class
            .parse::<usize>()
            .ok()
            .filter(|n| n.to_string() == *class)
    };
    let mut numbered: Vec<(usize, usize)> = columns
        .into_iter()
        .zip(&classes)
        .filter_map(|(at, class)| Some((number(class)?, at)))
        .collect();
    numbered.sort_unstable();
    let whole = numbered.iter().enumerate().all(|(i, (n, _))| i == *n);
    match whole {
        true => numbered
            .into_iter()
            .map(|(n, at)| (at, n.to_string()))
            .unzip(),
        false => Default::default(),
    }
}

/// The columns that names, patterns and ranges stand for.
fn asked_for<N: AsRef<str>>(names: &[N], wanted: &[String]) -> Result<Found, ColumnsError> {
    let mut columns = Vec::new();
    let mut classes = Vec::new();
    for name in wanted {
        if let Some(at) = found(names, name)? {
            columns.push(at);
            classes.push(name.clone());
        } else if let Some((before, after)) = name.split_once('*') {
            let inner = |own: &str| -> Option<String> {
                let rest = own.strip_prefix(before)?.strip_suffix(after)?;
                (!rest.is_empty()).then(|| rest.to_string())
            };
            let all = names.iter().enumerate();
            let all = all.filter_map(|(i, own)| Some((i, inner(own.as_ref())?)));
            let many = columns.len();
            for (at, class) in all {
                columns.push(at);
                classes.push(class);
            }
            if columns.len() == many {
                need(names, name)?;
            }
        } else if let Some(range) = range(name) {
            for name in range {
                columns.push(need(names, &name)?);
                classes.push(name);
            }
        } else {
            need(names, name)?;
        }
    }
    if let [at] = columns.as_slice() {
        return Ok(Found::One(*at));
    }
    // A prefix that says that these are probabilities is not part of the classes' names.
    let prefix = PREFIXES.into_iter().find(|prefix| {
        let own = |class: &String| {
            class
                .strip_prefix(*prefix)
                .is_some_and(|rest| !rest.is_empty())
        };
        classes.iter().all(own)
    });
    if let Some(prefix) = prefix {
        classes = classes
            .iter()
            .map(|class| class.strip_prefix(prefix).unwrap_or(class).to_string())
            .collect();
    }
    Ok(Found::Each { columns, classes })
}

/// The names of a range: `p_0..p_9`, `p_0..9`, `0..9`.
fn range(text: &str) -> Option<impl Iterator<Item = String>> {
    let (first, last) = text.split_once("..")?;
    let digits =
        |text: &str| text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (prefix, from) = first.split_at_checked(first.len() - digits(first))?;
    let to = last.strip_prefix(prefix).unwrap_or(last);
    let (from, to): (u32, u32) = (from.parse().ok()?, to.parse().ok()?);
    // No table has more columns, whatever the range says.
    let most = from.saturating_add(1 << 17);
    let prefix = prefix.to_string();
    (from <= to && to <= most).then(|| (from..=to).map(move |n| format!("{prefix}{n}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(names: &[&str], fields: &Fields) -> Result<Vec<String>, String> {
        match fields.answer_among(names) {
            Ok(None) => Err("nothing".to_string()),
            Ok(Some(Found::One(at))) => Ok(vec![format!("one: {}", names[at])]),
            Ok(Some(Found::Each { columns, classes })) => Ok(columns
                .iter()
                .zip(classes)
                .map(|(at, class)| format!("{class}={}", names[*at]))
                .collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn the_usual_names_are_recognized() {
        let cases: [(&[&str], &[&str]); 11] = [
            (&["y_true", "y_prob"], &["one: y_prob"]),
            (&["p_value", "y_score", "y"], &["one: y_score"]),
            (&["id", "prob_b", "prob_a"], &["b=prob_b", "a=prob_a"]),
            (&["proba_0", "proba_1", "p"], &["0=proba_0", "1=proba_1"]),
            (&["", "10", "1", "0", "2", "x"], &["nothing"]),
            (&["", "1", "0", "2", "label"], &["0=0", "1=1", "2=2"]),
            (&["column_0", "column_1"], &["0=column_0", "1=column_1"]),
            (&["p_a", "p_b", "distribution"], &["one: distribution"]),
            (&["label", "prob_1"], &["one: prob_1"]),
            (&["label", "x", "0"], &["nothing"]),
            (&["label", "x"], &["nothing"]),
        ];
        for (names, want) in cases {
            let got = classes(names, &Fields::default()).unwrap_or_else(|error| vec![error]);
            assert_eq!(got, want, "{names:?}");
        }
        let alone = classes(&["label", "p_value"], &Fields::default()).unwrap_err();
        assert!(alone.contains("the setting `positive` = value"), "{alone}");
        let label = |names: &[&str]| Fields::default().label_among(names).unwrap();
        assert_eq!(label(&["y", "target", "label"]), Some(2));
        assert_eq!((label(&["y"]), label(&["yes"])), (Some(0), None));
    }

    #[test]
    fn names_patterns_and_ranges_can_be_asked_for() {
        let names = ["prob_a", "prob_b", "x0", "x1", "x2", "a..b", "c*"];
        let cases: [(&[&str], &[&str]); 8] = [
            (&["prob_b", "prob_a"], &["b=prob_b", "a=prob_a"]),
            (&["prob_*"], &["a=prob_a", "b=prob_b"]),
            (&["x0..x2"], &["x0=x0", "x1=x1", "x2=x2"]),
            (&["x1..2", "prob_a"], &["x1=x1", "x2=x2", "prob_a=prob_a"]),
            (&["x1"], &["one: x1"]),
            (&["a..b"], &["one: a..b"]),
            (&["c*"], &["one: c*"]),
            (&["x*"], &["0=x0", "1=x1", "2=x2"]),
        ];
        for (wanted, want) in cases {
            let fields = Fields {
                probabilities: Some(wanted.iter().map(ToString::to_string).collect()),
                ..Fields::default()
            };
            let got = classes(&names, &fields).unwrap_or_else(|error| vec![error]);
            assert_eq!(got, want, "{wanted:?}");
        }
        for wrong in ["y*", "x0..x9", "x2..x0", "zzz", "..", "0..99999999999"] {
            let fields = Fields {
                probabilities: Some(vec![wrong.to_string()]),
                ..Fields::default()
            };
            let error = classes(&names, &fields).unwrap_err();
            assert!(error.contains("prob_a, prob_b, x0"), "{error}");
        }
    }
}
