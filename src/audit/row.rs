//! From a line to a prediction that can be checked, or to the reason why not.

use std::borrow::Cow;

use super::item_tally::LoggedItem;
use super::kept::Reason;
use crate::log::{
    ColumnError, Columns, Evidence, Fault, Label, LoggedUncertainty, Place, Prediction, RecordError,
};
use crate::model::LatentModel;
use crate::simplex::{Distribution, SimplexError, validate};

/// More classes than this are refused: the top confidence is then at least about 1/1000, which
/// the grid needs, and the memory of one audit stays small.
pub const MAX_CLASSES: usize = 1000;

/// The classes of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    /// Their names; the positions, as numbers, where they have none.
    pub names: Vec<String>,
    /// Whether they have names.
    pub named: bool,
}

impl Classes {
    /// Classes with names.
    pub fn named<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Classes {
            names: names.into_iter().map(Into::into).collect(),
            named: true,
        }
    }

    /// Classes that are numbered.
    pub fn numbered(count: usize) -> Self {
        Classes {
            names: (0..count).map(|i| i.to_string()).collect(),
            named: false,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The position of a class.
    fn position(&self, label: &Label<'_>) -> Option<usize> {
        match label {
            Label::Number(number) => usize::try_from(*number).ok().filter(|i| *i < self.len()),
            Label::Name(name) if self.named => self.names.iter().position(|n| n == name),
            Label::Name(_) => None,
        }
    }
}

/// How lines are to be read.
#[derive(Clone, Debug)]
pub enum Layout {
    /// One JSON object a line, the answer in the field of this name.
    Json {
        /// Name of the field.
        answer: String,
    },
    /// Comma-separated columns.
    Csv(Columns),
}

impl Layout {
    /// What messages call the answer.
    pub fn answer_field(&self) -> &str {
        match self {
            Layout::Json { answer } => answer,
            Layout::Csv(_) => COLUMNS,
        }
    }
}

/// What messages call the answer of a table.
pub const COLUMNS: &str = "probabilities";

/// What a line says.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Name of the entity, or nothing.
    pub id: Cow<'a, str>,
    /// The answer as it was logged; none where there are only factors.
    pub answer: Option<Vec<f64>>,
    /// Position of the true class.
    pub label: Result<usize, Refusal>,
    /// The factors behind it and their weights, where all items have them.
    pub evidence: Option<(Vec<Distribution>, Vec<f64>)>,
    /// What else was logged of each item.
    pub items: Vec<LoggedItem>,
    /// Sampled distributions, row by row.
    pub samples: Option<Vec<f64>>,
    /// What was logged about their spread.
    pub uncertainty: Option<LoggedUncertainty>,
}

/// Why a line cannot be used.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// In which sense.
    pub reason: Reason,
    /// Where in the line.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// For numbers that are not a distribution: their sum, and the entity's name.
    pub invalid: Option<(f64, String)>,
}

impl Refusal {
    fn new(reason: Reason, field: impl Into<String>, message: impl Into<String>) -> Self {
        Refusal {
            reason,
            field: field.into(),
            message: message.into(),
            invalid: None,
        }
    }
}

/// Reads a line as the layout says.
pub fn parse<'a>(line: &'a [u8], layout: &Layout) -> Result<Prediction<'a>, Refusal> {
    match layout {
        Layout::Json { answer } => {
            Prediction::parse(line, answer).map_err(|error| refusal_of(&error, answer))
        }
        Layout::Csv(columns) => columns.prediction(line).map_err(Refusal::from),
    }
}

impl From<ColumnError> for Refusal {
    fn from(error: ColumnError) -> Self {
        let reason = if error.unreadable {
            Reason::Unreadable
        } else {
            Reason::Shape
        };
        Refusal::new(reason, error.column, error.what)
    }
}

/// The classes that a line shows, where it shows any; those of the model where it has evidence that
/// the model answers.
pub fn classes_of(prediction: &Prediction<'_>, latent: Option<&LatentModel>) -> Option<Classes> {
    if let Some(names) = &prediction.classes {
        return Some(Classes::named(names.iter().map(|n| n.as_ref())));
    }
    let answer = prediction.answer.as_ref().map(Vec::len);
    let factor = || {
        let items = prediction.evidence.as_ref()?;
        items
            .iter()
            .find_map(|item| Some(item.factor.as_ref()?.len()))
    };
    let answered = || {
        prediction.evidence.as_ref()?;
        Some(latent?.class_count())
    };
    let count = answer.or_else(factor).or_else(answered);
    count.map(Classes::numbered)
}

fn refusal_of(error: &RecordError, answer: &str) -> Refusal {
    let field = match error.place.field {
        Some("probs") => {
            let shown = error.place.to_string();
            shown.replacen("probs", answer, 1)
        }
        _ => error.place.to_string(),
    };
    let reason = match error.fault {
        Fault::NotUtf8 { .. } | Fault::Syntax { .. } | Fault::NotJsonNumber { .. } => {
            Reason::Unreadable
        }
        _ => Reason::Shape,
    };
    let mut refusal = Refusal::new(reason, field, error.fault.to_string());
    // Python writes NaN into JSON. It is no number of JSON, but it is known what it means.
    let not_a_number = matches!(error.fault, Fault::NotJsonNumber { .. });
    if not_a_number && error.place.field == Some("probs") {
        refusal.reason = Reason::NotADistribution;
        refusal.invalid = Some((f64::NAN, String::new()));
    }
    refusal
}

/// Checks what a line says against the classes of the log; with a model, items that have no factor
/// get theirs.
pub fn check<'a>(
    mut prediction: Prediction<'a>,
    classes: &Classes,
    tolerance: f64,
    answer_field: &str,
    latent: Option<&LatentModel>,
) -> Result<Row<'a>, Refusal> {
    let n = classes.len();
    let entity = prediction.entity.as_deref();
    let id = prediction.entity.clone().unwrap_or_default();
    if let Some(names) = &prediction.classes
        && !names.iter().map(|n| n.as_ref()).eq(classes.names.iter())
    {
        let message = format!("not {}, the classes of the log", classes.names.join(", "));
        return Err(Refusal::new(Reason::OtherClasses, "classes", message));
    }
    let invalid = |field: String, error: &SimplexError, values: &[f64]| Refusal {
        invalid: Some((values.iter().sum(), id.to_string())),
        ..Refusal::new(Reason::NotADistribution, field, error.to_string())
    };
    let counted = |field: &str, found: usize| {
        if found == n {
            return Ok(());
        }
        let message = format!("{found} numbers, but there are {n} classes");
        Err(Refusal::new(Reason::OtherClasses, field, message))
    };
    let mut answer = prediction.answer;
    if let Some(values) = &mut answer {
        counted(answer_field, values.len())?;
        if !plainly_valid(values, tolerance) {
            validate(values, &tolerance).map_err(|e| {
                let place = e.index().map_or(String::new(), |i| format!("[{i}]"));
                invalid(format!("{answer_field}{place}"), &e, values)
            })?;
            // An entry above one by less than the tolerance: rounded on its way here.
            if values.iter().any(|&p| p > 1.0) {
                let copy = std::mem::take(values);
                *values = Distribution::from_weights(copy)
                    .map(Distribution::into_vec)
                    .map_err(|e| invalid(answer_field.to_string(), &e, &[]))?;
            }
        }
    }
    let items = match &mut prediction.evidence {
        Some(items) => logged_items(items, prediction.classes.as_deref(), entity, latent)?,
        None => Vec::new(),
    };
    let evidence = match &prediction.evidence {
        Some(items) if !items.is_empty() && items.iter().all(|i| i.factor.is_some()) => {
            Some(factors(items, tolerance, &counted, &invalid)?)
        }
        _ => None,
    };
    if answer.is_none() && evidence.is_none() {
        let message = format!("there is neither {answer_field} nor evidence with factors");
        return Err(Refusal::new(Reason::NoAnswer, answer_field, message));
    }
    let mut samples = None;
    if let Some(rows) = &prediction.samples {
        let mut flat = Vec::with_capacity(rows.len() * n);
        for (i, row) in rows.iter().enumerate() {
            counted("samples", row.len())?;
            let row = Distribution::from_rounded(row.clone(), &tolerance)
                .map_err(|e| invalid(format!("samples[{i}]"), &e, row))?;
            flat.extend_from_slice(row.probabilities());
        }
        samples = Some(flat).filter(|flat| !flat.is_empty());
    }
    let label = match &prediction.label {
        None => Err(Refusal::new(Reason::NoLabel, "label", "there is no label")),
        Some(label) => classes.position(label).ok_or_else(|| {
            let message = if classes.named || matches!(label, Label::Number(_)) {
                let listed: Vec<&str> = classes.names.iter().take(12).map(|n| &**n).collect();
                format!("{label} is none of the classes {}", listed.join(", "))
            } else {
                format!("{label} is a name, but the classes have none; give --classes")
            };
            Refusal::new(Reason::UnknownLabel, "label", message)
        }),
    };
    Ok(Row {
        id,
        answer,
        label,
        evidence,
        items,
        samples,
        uncertainty: prediction.uncertainty,
    })
}

/// The items beside their factors, if each posterior is one; the model gives factors, and weights
/// where none are logged, to items that have only a posterior or an embedding.
fn logged_items(
    items: &mut [Evidence<'_>],
    classes: Option<&[Cow<'_, str>]>,
    entity: Option<&str>,
    latent: Option<&LatentModel>,
) -> Result<Vec<LoggedItem>, Refusal> {
    let refused = |error: RecordError| {
        let reason = match error.place.field {
            Some("classes") => Reason::OtherClasses,
            _ => Reason::Posterior,
        };
        Refusal::new(reason, error.place.to_string(), error.fault.to_string())
    };
    let weights: Vec<Option<f64>> = items.iter().map(|item| item.weight).collect();
    let incomplete = |item: &Evidence<'_>| {
        item.factor.is_none() && (item.mu.is_some() || item.embedding.is_some())
    };
    let posteriors = match (latent, entity) {
        (Some(latent), Some(entity)) => latent.complete(entity, classes, items).map(|made| {
            let pairs = items.iter_mut().zip(made);
            let posterior = pairs.map(|(item, made)| {
                let made = made?;
                if let Some(factor) = made.factor {
                    item.factor = Some(factor.into_vec());
                }
                item.weight.get_or_insert(made.weight);
                Some(made.posterior)
            });
            posterior.collect::<Vec<_>>()
        }),
        (Some(_), None) if items.iter().any(incomplete) => {
            let what = "missing; what a model draws for an item depends on the entity's name";
            Err(RecordError::shape(Place::field("entity"), what))
        }
        _ => {
            let each = items.iter().enumerate();
            each.map(|(index, item)| item.posterior(index)).collect()
        }
    };
    let pairs = posteriors.map_err(refused)?.into_iter().zip(weights);
    let logged = |(posterior, weight)| LoggedItem { posterior, weight };
    Ok(pairs.map(logged).collect())
}

/// The common case without a sort: all in `[0, 1]`, and the sum closer to one than any order of
/// summation could make it differ from what [`validate`] finds.
fn plainly_valid(values: &[f64], tolerance: f64) -> bool {
    let sum: f64 = values.iter().sum();
    let rounding = values.len() as f64 * f64::EPSILON;
    values.iter().all(|p| (0.0..=1.0).contains(p)) && (sum - 1.0).abs() <= tolerance - rounding
}

type Factors = (Vec<Distribution>, Vec<f64>);

fn factors(
    items: &[Evidence<'_>],
    tolerance: f64,
    counted: &dyn Fn(&str, usize) -> Result<(), Refusal>,
    invalid: &dyn Fn(String, &SimplexError, &[f64]) -> Refusal,
) -> Result<Factors, Refusal> {
    let mut factors = Vec::with_capacity(items.len());
    let mut weights = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let place = Place::item_field(index, "factor").to_string();
        let values = item.factor.as_deref().unwrap_or_default();
        counted(&place, values.len())?;
        let factor = Distribution::from_rounded(values.to_vec(), &tolerance);
        factors.push(factor.map_err(|error| invalid(place, &error, values))?);
        let weight = item.weight.unwrap_or(1.0);
        if !(weight >= 0.0 && weight.is_finite()) {
            let place = Place::item_field(index, "weight").to_string();
            let message = format!("{weight:?}; a weight is finite and not negative");
            return Err(Refusal::new(Reason::Weight, place, message));
        }
        weights.push(weight);
    }
    Ok((factors, weights))
}
