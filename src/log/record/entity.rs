//! From what a record says to factors that can be aggregated.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Fault, Label, Place, Record, RecordError};
use crate::latent::GaussianPosterior;
use crate::log::brief::brief_name;
use crate::simplex::Distribution;

/// How far the sum of a factor may be from one: factors are often stored in single precision,
/// where each of a few entries is off by up to 2⁻²⁵ ≈ 3·10⁻⁸, or printed with six digits or more.
pub const DEFAULT_TOLERANCE: f64 = 1e-6;

/// What the reader already knows about every record of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Expectations {
    /// Class names that come before a record's own.
    pub classes: Option<Arc<[String]>>,
    /// How far the sum of a factor may be from one; the factor is then divided by its sum.
    pub tolerance: f64,
}

impl Default for Expectations {
    /// No class names, [`DEFAULT_TOLERANCE`].
    fn default() -> Self {
        Expectations {
            classes: None,
            tolerance: DEFAULT_TOLERANCE,
        }
    }
}

/// The classes of one entity.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassNames {
    /// By name.
    Named(Arc<[String]>),
    /// Numbered from 0.
    Numbered(usize),
}

impl ClassNames {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            ClassNames::Named(names) => names.len(),
            ClassNames::Numbered(n) => *n,
        }
    }

    /// Whether there are none (an entity without evidence, whose classes nothing names).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of a class; its number where classes have no names.
    pub fn name(&self, class: usize) -> Cow<'_, str> {
        match self {
            ClassNames::Named(names) => names.get(class).map(|name| Cow::Borrowed(&**name)),
            ClassNames::Numbered(_) => None,
        }
        .unwrap_or_else(|| Cow::Owned(class.to_string()))
    }
}

/// What a model adds to an item that has an embedding or a posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct Completed {
    /// The posterior, as given or encoded from the embedding.
    pub posterior: GaussianPosterior,
    /// The factor drawn from it, where the item has none.
    pub factor: Option<Distribution>,
    /// The confidence of the posterior: the item's weight, unless it has one.
    pub weight: f64,
}

/// An entity whose factors are distributions over the same classes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entity<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its classes.
    pub classes: ClassNames,
    /// Position of its true class, where a label is given and can be told.
    pub label: Option<usize>,
    /// Names of its items, where they have one.
    pub ids: Vec<Option<Cow<'a, str>>>,
    /// One distribution an item.
    pub factors: Vec<Distribution>,
    /// One weight an item, finite and not negative.
    pub weights: Vec<f64>,
    /// With a model, the posterior of each item that has one; empty without.
    pub posteriors: Vec<Option<GaussianPosterior>>,
}

impl<'a> Entity<'a> {
    /// Checks a record whose items all have factors, and takes it over.
    ///
    /// A label is checked against the class names where there are any; a class number always.
    ///
    /// # Errors
    /// The first thing that is wrong, in the order classes, evidence item by item, label.
    pub fn new(record: Record<'a>, expect: &Expectations) -> Result<Self, RecordError> {
        Entity::completed(record, Vec::new(), expect)
    }

    /// The same for a record whose items a model has completed: one entry an item, or none at all.
    /// Factors of the model are distributions already and are taken as they are.
    ///
    /// # Errors
    /// As [`Entity::new`].
    pub fn completed(
        record: Record<'a>,
        completed: Vec<Option<Completed>>,
        expect: &Expectations,
    ) -> Result<Self, RecordError> {
        let (names, set_by) = match (&expect.classes, record.classes) {
            (Some(names), _) => (Some(Arc::clone(names)), "the list of classes"),
            (None, Some(names)) => {
                check_names(&names).map_err(|what| RecordError {
                    place: Place::field("classes"),
                    fault: Fault::ClassNames(what),
                })?;
                let names = names.into_iter().map(Cow::into_owned).collect();
                (Some(names), "the classes field")
            }
            (None, None) => (None, "the first factor"),
        };
        let mut expected: Option<usize> = names.as_ref().map(|names| names.len());
        let count = record.evidence.len();
        let mut entity = Entity {
            name: record.entity,
            classes: ClassNames::Numbered(0),
            label: None,
            ids: Vec::with_capacity(count),
            factors: Vec::with_capacity(count),
            weights: Vec::with_capacity(count),
            posteriors: Vec::with_capacity(completed.len()),
        };
        let has_model = !completed.is_empty();
        let mut completed = completed.into_iter();
        for (index, item) in record.evidence.into_iter().enumerate() {
            let place = Place::item_field(index, "factor");
            let fail = |fault| RecordError { place, fault };
            let (posterior, drawn, confidence) = match completed.next().flatten() {
                Some(made) => (Some(made.posterior), made.factor, made.weight),
                None => (None, None, 1.0),
            };
            let found = match (&item.factor, &drawn) {
                (Some(values), _) => values.len(),
                (None, Some(factor)) => factor.classes(),
                (None, None) => return Err(fail(Fault::NoFactor)),
            };
            if *expected.get_or_insert(found) != found {
                return Err(fail(Fault::ClassCount {
                    expected: expected.unwrap_or(found),
                    found,
                    set_by,
                }));
            }
            let factor = match (item.factor, drawn) {
                (None, Some(factor)) => Ok(factor),
                (values, _) => {
                    let values = values.unwrap_or_default();
                    Distribution::from_rounded(values, &expect.tolerance)
                }
            };
            entity.factors.push(factor.map_err(|error| RecordError {
                place: error.index().map_or(place, |element| place.at(element)),
                fault: Fault::Simplex(error),
            })?);
            let weight = item.weight.unwrap_or(confidence);
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err(RecordError {
                    place: Place::item_field(index, "weight"),
                    fault: Fault::Weight(weight),
                });
            }
            entity.weights.push(weight);
            entity.ids.push(item.id);
            if has_model {
                entity.posteriors.push(posterior);
            }
        }
        entity.classes = match names {
            Some(names) => ClassNames::Named(names),
            None => ClassNames::Numbered(expected.unwrap_or(0)),
        };
        if let Some(label) = record.label {
            entity.label = position(&label, &entity.classes).map_err(|()| RecordError {
                place: Place::field("label"),
                fault: Fault::UnknownClass {
                    label: label.to_string(),
                    classes: listed(&entity.classes),
                },
            })?;
        }
        Ok(entity)
    }
}

/// Refuses class names that cannot tell classes apart.
pub fn check_names<N: AsRef<str>>(names: &[N]) -> Result<(), &'static str> {
    if names.is_empty() {
        return Err("there are no classes");
    }
    let mut sorted: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    sorted.sort_unstable();
    if sorted[0].is_empty() {
        return Err("a class name is empty");
    }
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("a class name is given twice");
    }
    Ok(())
}

/// The position of a label; `Ok(None)` for a name where classes have none.
///
/// A name is that of a class, or that of a class up to how whole numbers and truth values are written
/// (`1`, `1.0`, `True`). Otherwise a whole number is a position, unless classes are called by numbers.
pub(in crate::log) fn position(label: &Label, classes: &ClassNames) -> Result<Option<usize>, ()> {
    let numbered = |number: u64, count: usize| {
        let class = usize::try_from(number).map_err(|_| ())?;
        (class < count).then_some(Some(class)).ok_or(())
    };
    match (label, classes) {
        (Label::Number(number), ClassNames::Numbered(count)) => numbered(*number, *count),
        (Label::Name(name), ClassNames::Numbered(count)) => match canonical(name).parse() {
            Ok(number) => numbered(number, *count),
            Err(_) if name.parse::<f64>().is_ok() => Err(()),
            Err(_) => Ok(None),
        },
        (Label::Number(number), ClassNames::Named(names)) => alike(&number.to_string(), names),
        (Label::Name(name), ClassNames::Named(names)) => {
            match names.iter().position(|own| own == name) {
                Some(class) => Ok(Some(class)),
                None => alike(name, names),
            }
        }
    }
}

/// The class whose name is written otherwise, or the one in this place.
fn alike(label: &str, names: &[String]) -> Result<Option<usize>, ()> {
    let label = canonical(label);
    let mut same = (0..names.len()).filter(|&i| canonical(&names[i]) == label);
    match (same.next(), same.next()) {
        (Some(class), None) => return Ok(Some(class)),
        (Some(_), Some(_)) => return Err(()),
        (None, _) => {}
    }
    let class: usize = label.parse().map_err(|_| ())?;
    let named_by_numbers = names
        .iter()
        .any(|name| canonical(name).parse::<f64>().is_ok());
    (class < names.len() && !named_by_numbers)
        .then_some(Some(class))
        .ok_or(())
}

/// A name with whole numbers and truth values as numbers: `1` for `1.0`, `True` and `true`.
pub(in crate::log) fn canonical(name: &str) -> &str {
    if name.eq_ignore_ascii_case("true") {
        return "1";
    }
    if name.eq_ignore_ascii_case("false") {
        return "0";
    }
    match name.split_once('.') {
        Some((whole, zeros))
            if !whole.is_empty()
                && whole
                    .strip_prefix('-')
                    .unwrap_or(whole)
                    .bytes()
                    .all(|b| b.is_ascii_digit())
                && zeros.bytes().all(|b| b == b'0') =>
        {
            whole
        }
        _ => name,
    }
}

/// Classes for a message; the first few where there are many.
pub(in crate::log) fn listed(classes: &ClassNames) -> String {
    const SHOWN: usize = 12;
    let names: Vec<_> = (0..classes.len())
        .take(SHOWN)
        .map(|i| brief_name(&classes.name(i)).into_owned())
        .collect();
    let more = if classes.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", names.join(", "))
}
