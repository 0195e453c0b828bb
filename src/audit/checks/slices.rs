//! The checks of calibration and scores for every slice.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::class_gaps::ClassGaps;
use super::{CheckSettings, Gate, Rows, calibration, scores};
use crate::audit::by::EVIDENCE;
use crate::audit::outcome::{Check, Curves, ReliabilityPoint, SliceReport};
use crate::audit::slices::{Slice, Slices, Value};
use crate::audit::tally::Tally;

/// A slice with fewer rows is not judged: if all of 30 predictions are right, the accuracy may still be
/// 88 %, so that no limit of a few points could be decided, while each slice that is judged makes the
/// intervals of all others longer.
pub(super) const SMALLEST: u64 = 30;

/// How many slices by fields are large enough.
pub(super) fn judged(slices: &Slices) -> usize {
    let all = slices.parts.iter().flat_map(|part| &part.slices);
    all.filter(|(_, slice)| slice.rows() >= SMALLEST).count()
}

/// All slices: by field in the order in which they were given, the worst of each first.
pub(super) fn slices(
    tally: &Tally,
    settings: &CheckSettings,
    judged: usize,
    rows: &Rows<'_>,
) -> Vec<SliceReport> {
    let fields: Vec<&String> = tally
        .settings
        .by
        .iter()
        .filter(|by| *by != EVIDENCE)
        .collect();
    let gate = Gate::of_slices(settings, judged.max(1));
    let mut out = Vec::new();
    for part in &tally.slices.parts {
        let by: Vec<String> = part.fields.iter().map(|&i| fields[i].clone()).collect();
        let of = |(key, slice): &(Vec<Value>, Slice)| {
            let too_small = slice.rows() < SMALLEST;
            let own = rows.of_slice(slice, rows.clustered());
            let (checks, reliability) = match too_small {
                true => Default::default(),
                false => all(&gate, slice, &own),
            };
            SliceReport {
                by: by.clone(),
                values: key.iter().map(|value| value.words().to_string()).collect(),
                n: slice.rows(),
                too_small,
                checks,
                reliability,
            }
        };
        let mut slices: Vec<SliceReport> = part.slices.par_iter().map(of).collect();
        // Sorting keeps the order of values among equals.
        slices.sort_by(|a, b| {
            worse(a)
                .partial_cmp(&worse(b))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        out.extend(slices);
    }
    out
}

/// What slices are sorted by: those with most failures first, then those with the largest calibration
/// error that is certain, then those with the largest that was found.
fn worse(slice: &SliceReport) -> (bool, Reverse<usize>, f64, f64) {
    let failed = |check: &&Check| check.verdict == crate::audit::outcome::CheckVerdict::Fail;
    let failures = slice.checks.iter().filter(failed).count();
    let ece = slice.check("ece");
    let certain = ece.and_then(|check| check.interval).map_or(0.0, |i| i.low);
    let value = ece.and_then(|check| check.value).unwrap_or(0.0);
    (slice.too_small, Reverse(failures), -certain, -value)
}

/// All checks of calibration and scores.
pub(super) fn all(
    gate: &Gate<'_>,
    slice: &Slice,
    rows: &Rows<'_>,
) -> (Vec<Check>, Vec<ReliabilityPoint>) {
    let scored = slice.scored();
    let classes = ClassGaps::new(&slice.scores.classwise);
    let (mut checks, reliability) = calibration::checks(gate, &scored, rows);
    let curves = &mut Curves::default();
    scores::checks(gate, &scored, rows, &classes, &mut checks, curves);
    (checks, reliability)
}
