//! Labelled predictions from a log, batch by batch.

use std::path::Path;

use rayon::prelude::*;

use super::super::Failure;
use super::super::input::is_stream;
use super::Args;
use crate::answer::Answerer;
use crate::error::Error;
use crate::latent::random::{Stream, text_key};
use crate::log::{ClassNames, LogBatch, LogReader, LogRow, RowError, RowRules, Tolerance};
use crate::model::LatentModel;
use crate::simplex::Distribution;

/// A prediction with its outcome.
#[derive(Clone, Debug)]
pub(super) struct Labelled {
    pub prediction: Distribution,
    pub label: usize,
    /// The hash of its entity's name, or of its number in the log where it has none.
    pub key: u64,
    /// Its number, where it has no name.
    pub number: Option<u64>,
    /// The weights of the evidence behind it, where they are needed.
    pub weights: Option<Vec<f64>>,
}

impl Labelled {
    /// Whether a map is fitted on it: of all rows a share `split`, by their keys.
    pub(super) fn fits(&self, seed: u64, split: f64) -> bool {
        const PURPOSE: u64 = text_key("calibration split");
        Stream::new(seed, PURPOSE, self.key, 0).uniform() < split
    }
}

/// What is known of a log once it has been read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Read {
    pub classes: usize,
    pub names: Option<Vec<String>>,
    pub sha256: String,
}

/// Hands all rows of a file to `take`, some at a time; `from_evidence` asks for the answers that follow from
/// the evidence, and its weights.
pub(super) fn read(
    args: &Args,
    answerer: &Answerer,
    path: &Path,
    from_evidence: bool,
    mut take: impl FnMut(Vec<Labelled>) -> Result<(), Failure>,
) -> Result<Read, Failure> {
    let failed = |error: Error| Failure::of(error, path);
    let format = args.input.format(&args.settings.read()?.0.columns)?;
    let reader = match is_stream(path) {
        true => LogReader::new_within(std::io::stdin(), &format, answerer.limits()),
        false => LogReader::open_within(path, &format, answerer.limits()),
    };
    let mut reader = reader.map_err(|error| failed(error.into()))?;
    let mut classes = None;
    let mut known: Option<ClassNames> = None;
    let mut batch = LogBatch::default();
    while reader
        .fill(&mut batch)
        .map_err(|error| failed(error.into()))?
    {
        if known.is_none() {
            let model = answerer.latent().map(LatentModel::class_count);
            let found = batch.classes(answerer.classes(), model);
            known = found.map_err(|error| failed(error.into()))?;
        }
        let nothing = ClassNames::Numbered(0);
        let rules = batch.rules(
            known.as_ref().unwrap_or(&nothing),
            Tolerance::Digits,
            from_evidence || args.input.answers_evidence(&format),
        );
        let rows: Vec<Result<Labelled, Failure>> = (0..batch.len())
            .into_par_iter()
            .map(|i| {
                let row = batch.row(i);
                let line = row.number;
                let read = labelled(answerer, rules, row, from_evidence);
                read.map_err(|error| Failure::line(path, line, error))
            })
            .collect();
        let rows: Vec<Labelled> = rows.into_iter().collect::<Result<_, _>>()?;
        if let (None, Some(row)) = (classes, rows.first()) {
            classes = Some(row.prediction.classes());
        }
        take(rows)?;
    }
    let Some(classes) = classes else {
        let path = path.to_path_buf();
        return Err(Failure::NoRecords { path });
    };
    let names = match known {
        Some(ClassNames::Named(names)) => Some(names.to_vec()),
        _ => None,
    };
    Ok(Read {
        classes,
        names,
        sha256: reader.sha256(),
    })
}

/// The logged answer of a row, or else the answer to its evidence.
fn labelled(
    answerer: &Answerer,
    rules: RowRules<'_>,
    LogRow {
        number, prediction, ..
    }: LogRow<'_>,
    from_evidence: bool,
) -> Result<Labelled, RowError> {
    let prediction = prediction?;
    let name = prediction.entity.as_deref().unwrap_or("");
    // A row without a name is known by its place. What it says would not do: of rows that say the same, their
    // label with it, all would be fitted on and none judged, or the other way round.
    let number = name.is_empty().then_some(number);
    let key = match number {
        Some(number) => text_key(&number.to_string()),
        None => text_key(name),
    };
    let mut row = answerer.row(prediction, rules)?;
    let label = row.label.clone()?;
    row.answer = row.answer.take().filter(|_| !from_evidence);
    let prediction = answerer.answer_of(&mut row, rules)?;
    let evidence = row.evidence.filter(|_| from_evidence);
    Ok(Labelled {
        prediction,
        label,
        key,
        number,
        weights: evidence.map(|entity| entity.weights),
    })
}
