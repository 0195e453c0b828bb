//! A tally in a file, to be merged with those of other shards.
//!
//! The file is one JSON object with a name and a version. Nothing in it is believed: it is read up to
//! a limit, and refused where its parts do not fit each other.

use std::io::Read;

use serde::{Deserialize, Serialize};

use super::by::By;
use super::scan::MAX_CLASSES;
use super::tally::{BRIER_STEPS, Tally};
use crate::log::{LimitError, Limits, check_names};

/// What tells such a file from others.
const FORMAT: &str = "lpf audit state";
/// The version of the format; any change of meaning raises it.
const VERSION: u32 = 5;
/// More rows than any log has; sums of as many states as a command line takes stay below 2⁶⁴.
const MOST_ROWS: u64 = 1 << 44;

/// A tally with the name and version of its format.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File<T> {
    format: String,
    version: u32,
    tally: T,
}

/// Why a state cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Read(std::io::Error),
    /// It is larger than the limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// Not a state, or cut off.
    #[error("not a state of an audit: {0}")]
    Syntax(String),
    /// It is a state of another version.
    #[error("a state of version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// Its parts do not fit each other.
    #[error("a damaged state: {0}")]
    Content(&'static str),
}

/// The bytes of a state.
///
/// # Errors
/// None that a tally could cause; serde's signature has one.
pub fn write_state(tally: &Tally) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(&File {
        format: FORMAT.to_string(),
        version: VERSION,
        tally,
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads a state within limits and checks it.
///
/// # Errors
/// [`StateError`].
pub fn read_state(reader: impl Read, limits: &Limits) -> Result<Tally, StateError> {
    let mut bytes = Vec::new();
    let mut limited = reader.take(limits.state_bytes.saturating_add(1));
    limited.read_to_end(&mut bytes).map_err(StateError::Read)?;
    limits.state_bytes(bytes.len() as u64)?;
    let syntax = |error: serde_json::Error| StateError::Syntax(error.to_string());
    let head: File<serde::de::IgnoredAny> = serde_json::from_slice(&bytes).map_err(syntax)?;
    if head.format != FORMAT {
        return Err(StateError::Syntax("another kind of file".to_string()));
    }
    if head.version != VERSION {
        return Err(StateError::Version(head.version));
    }
    let file: File<Tally> = serde_json::from_slice(&bytes).map_err(syntax)?;
    check(&file.tally).map_err(StateError::Content)?;
    Ok(file.tally)
}

fn check(tally: &Tally) -> Result<(), &'static str> {
    let (settings, scores, evidence) = (&tally.settings, &tally.scores, &tally.evidence);
    let items = &tally.items;
    let classes = settings.classes.len();
    if classes > MAX_CLASSES {
        return Err("too many classes");
    }
    check_names(&settings.classes)?;
    let sizes = [
        scores.classwise.len(),
        scores.labels.len(),
        scores.predicted.len(),
    ];
    if sizes.iter().any(|size| *size != classes) {
        return Err("the number of classes");
    }
    let n = scores.top.count();
    let all = std::iter::once(&scores.top).chain(&scores.classwise);
    let mut all = all.map(|reliability| (reliability.bins().len(), reliability.count()));
    if all.any(|(bins, count)| bins != settings.bins || count != n) {
        return Err("the bins");
    }
    // Before any sum of them is formed.
    let unusable = tally.unusable.counts.values();
    let small = unusable
        .chain(&scores.labels)
        .chain(&scores.predicted)
        .chain(&evidence.changed_by)
        .chain(tally.inputs.iter().map(|input| &input.rows))
        .chain([
            &n,
            &tally.checked,
            &tally.invalid,
            &tally.rounded,
            &tally.single,
            &evidence.rows,
            &evidence.computed,
            &evidence.compared,
            &evidence.within_double,
            &evidence.within_single,
            &evidence.weightless,
            &evidence.decomposed,
            &evidence.undecomposed_rows,
            &evidence.sampled,
            &evidence.averaged,
            &evidence.sample.too_large,
            &scores.impossible,
            &items.items,
        ])
        .all(|count| *count <= MOST_ROWS);
    if !small {
        return Err("more rows than can be counted");
    }
    let rows: u64 = tally.inputs.iter().map(|input| input.rows).sum();
    let margins = evidence.margins.count();
    let briers = match tally.briers.len() == BRIER_STEPS {
        true => tally
            .briers
            .iter()
            .try_fold(0u64, |sum, n| sum.checked_add(*n)),
        false => None,
    };
    let fits = [
        (tally.grid.checked_count() == Some(n), "the grid"),
        (
            tally.by_class.fits(&scores.labels, &scores.predicted),
            "the classes",
        ),
        (tally.clusters.rows() == Some(n), "the entities"),
        (briers == Some(n), "the Brier scores"),
        (scores.labels.iter().sum::<u64>() == n, "the labels"),
        (
            scores.predicted.iter().sum::<u64>() == n,
            "the predicted classes",
        ),
        (scores.impossible <= n, "the log loss"),
        (n + tally.unusable.count() == rows, "the number of rows"),
        (
            tally.invalid <= tally.checked
                && tally.rounded <= tally.checked
                && tally.single <= tally.checked
                && tally.checked <= rows,
            "the checked rows",
        ),
        (
            evidence.rows <= rows && evidence.compared <= evidence.rows,
            "the evidence",
        ),
        (
            evidence.within_single <= evidence.compared,
            "the compared rows",
        ),
        (
            evidence.within_double <= evidence.within_single,
            "the compared rows",
        ),
        (margins <= evidence.rows, "the margins"),
        (
            evidence.changed_by.iter().sum::<u64>() <= margins,
            "the influences",
        ),
        (
            evidence.k_eff.count() + evidence.weightless == evidence.rows,
            "the weights",
        ),
        (
            evidence.undecomposed_rows <= evidence.decomposed,
            "the decompositions",
        ),
        (evidence.decomposed <= rows, "the decompositions"),
        (
            evidence.averaged <= evidence.sampled && evidence.sampled <= rows,
            "the samples",
        ),
        (evidence.sample.fits(classes), "the sample"),
        (items.fits(rows), "the items"),
        (
            tally.sets.is_sound(classes) && tally.sets.rows <= n,
            "the sets",
        ),
        (slices_fit(tally, n), "the slices"),
        ((0.0..1.0).contains(&settings.tolerance), "the tolerance"),
    ];
    match fits.into_iter().find(|(fits, _)| !fits) {
        Some((_, what)) => Err(what),
        None => Ok(()),
    }
}

fn slices_fit(tally: &Tally, rows: u64) -> bool {
    let settings = &tally.settings;
    let by: Result<Vec<By>, _> = settings.by.iter().map(|text| text.parse()).collect();
    let Ok(by) = by else {
        return false;
    };
    let fields = by.iter().filter(|by| **by != By::Evidence).count();
    let shape = (settings.classes.len(), settings.bins);
    let by_source = fields < by.len() || tally.slices.sources.is_empty();
    by_source && tally.slices.fits(fields, settings.segments, shape, rows)
}
