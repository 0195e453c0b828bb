//! The paper's assumptions, as far as a log can tell. A4, which is about the structure of a network,
//! is decided before any log is written.

use std::collections::HashMap;

use super::evidence::NO_EVIDENCE;
use super::{Gate, Rows};
use crate::assumptions::{
    AssumptionError, IndependenceTest, Items, independence_by_source, individual_calibration,
    support, support_floor,
};
use crate::audit::intervals::{BETTING_BY_ENTITY, Estimate, OpenEnds, error_of};
use crate::audit::outcome::Check;
use crate::audit::sample::SampleRow;
use crate::audit::tally::Tally;
use crate::bounds::Seen;
use crate::simplex::Distribution;

/// How the interval of the items' calibration error is found.
const MCDIARMID: &str = "McDiarmid, by entity";

pub(super) fn checks(
    gate: &Gate<'_>,
    tally: &Tally,
    rows: &Rows<'_>,
    sample: &[&SampleRow],
    checks: &mut Vec<Check>,
) {
    let sampled = Sampled::new(sample);
    checks.push(dependence(gate, &sampled));
    checks.push(encoder_variance(gate, tally, rows));
    checks.push(item_calibration(gate, &sampled, tally.settings.bins));
    checks.push(evidence_count(gate, tally));
    checks.push(excluded_classes(gate, &sampled));
}

/// The factors of the sample, entity by entity.
struct Sampled {
    factors: Vec<Distribution>,
    offsets: Vec<usize>,
    labels: Vec<usize>,
    /// Which source each factor is from; see [`sources`].
    sources: Vec<usize>,
}

/// The source of each item, by number. An id that items of two entities or more have names a source, with
/// its place where an entity has several of them; items without such an id are known by their place.
fn sources(sample: &[&SampleRow]) -> Vec<usize> {
    let mut rows_of: HashMap<u64, (usize, usize)> = HashMap::new();
    for (i, row) in sample.iter().enumerate() {
        for id in row.ids.iter().flatten() {
            let (rows, last) = rows_of.entry(*id).or_insert((0, usize::MAX));
            *rows += usize::from(*last != i);
            *last = i;
        }
    }
    let mut numbers: HashMap<(Option<u64>, usize), usize> = HashMap::new();
    let mut out = Vec::new();
    for row in sample {
        let mut seen: HashMap<u64, usize> = HashMap::new();
        for (place, id) in row.ids.iter().enumerate() {
            let known = id.filter(|id| rows_of.get(id).is_some_and(|(rows, _)| *rows > 1));
            let source = match known {
                Some(id) => {
                    let times = seen.entry(id).or_insert(0);
                    *times += 1;
                    (Some(id), *times)
                }
                None => (None, place),
            };
            let next = numbers.len();
            out.push(*numbers.entry(source).or_insert(next));
        }
    }
    out
}

impl Sampled {
    fn new(sample: &[&SampleRow]) -> Self {
        let mut sampled = Sampled {
            factors: Vec::new(),
            offsets: vec![0],
            labels: Vec::new(),
            sources: sources(sample),
        };
        for row in sample {
            sampled.factors.extend(row.factors.iter().cloned());
            sampled.offsets.push(sampled.factors.len());
            sampled.labels.push(row.label);
        }
        sampled
    }

    /// What a checker says of the items, or why it cannot say anything.
    fn ask<T>(
        &self,
        checker: impl FnOnce(&Items<'_>) -> Result<T, AssumptionError>,
    ) -> Result<T, String> {
        if self.factors.is_empty() {
            return Err(NO_EVIDENCE.to_string());
        }
        Items::new(&self.factors, &self.offsets)
            .and_then(|items| checker(&items))
            .map_err(|error| error.to_string())
    }

    fn entities(&self) -> u64 {
        self.labels.len() as u64
    }
}

/// A1: do items of one entity agree more than their class explains?
fn dependence(gate: &Gate<'_>, sampled: &Sampled) -> Check {
    let id = "dependence";
    let test = IndependenceTest {
        seed: gate.settings.seed,
        ..IndependenceTest::default()
    };
    let asked = sampled
        .ask(|items| independence_by_source(items, &sampled.sources, &sampled.labels, &test));
    match asked {
        Ok(found) => match found.smallest_p() {
            // What dependence there might be instead is not known, and so is the power.
            Some(p) => {
                let mut sentence = found.sentence();
                if gate.critical(id).is_some_and(|critical| p > critical) {
                    sentence += " That does not show A1: how likely the test finds a dependence is \
                                 not known.";
                }
                gate.p_value(id, p, sampled.entities(), None, sentence)
            }
            None => gate.not_run(id, found.sentence().trim_end_matches('.')),
        },
        Err(reason) => gate.not_run(id, reason),
    }
}

/// A2 on all rows: the mean norm of the covariances. A norm may be of any size, so that no log bounds the
/// mean from above.
fn encoder_variance(gate: &Gate<'_>, tally: &Tally, rows: &Rows<'_>) -> Check {
    let id = "encoder_variance";
    let norms = &tally.items.norms;
    let Some(mean) = norms.mean() else {
        return gate.not_run(id, "no row has posteriors");
    };
    let (items, entities) = (norms.items(), norms.entities());
    let largest = tally.items.largest_norm.get();
    let sentence = format!(
        "The mean norm of the {items} covariances of {entities} entities is {mean:.3}, the largest \
         {largest:.3}. No log bounds the mean from above."
    );
    let sums = norms.group_sums(tally.items.most);
    let finite = sums.squares.is_finite() && sums.cross.is_finite() && mean.is_finite();
    let estimate = Estimate {
        value: mean,
        error: error_of(sums, largest),
        n: entities,
        ends: Box::new(OpenEnds {
            seen: Seen::Sums(sums),
            unit: 1.0,
            from: 0.0,
            slack: 0.0,
            delta: gate.delta(id),
        }),
        method: BETTING_BY_ENTITY,
    };
    match finite {
        true => gate.of_independent(id, rows, estimate, sentence),
        false => gate.bare(
            id,
            mean,
            entities,
            &sentence,
            "Some norms are too large for an interval.",
        ),
    }
}

/// A3 on the sample: the calibration error of single factors.
fn item_calibration(gate: &Gate<'_>, sampled: &Sampled, bins: usize) -> Check {
    let id = "item_calibration";
    let asked =
        sampled.ask(|items| individual_calibration(items, &sampled.labels, bins, gate.delta(id)));
    match asked {
        Ok(found) => {
            let (range, delta) = ((found.low, found.high), gate.delta(id));
            let n = sampled.entities();
            let estimate = Estimate::known(found.ece, range, (0.0, 1.0), n, delta, MCDIARMID);
            gate.estimate(id, estimate, found.sentence())
        }
        Err(reason) => gate.not_run(id, reason),
    }
}

/// A5 on all rows: every entity is to have few items, so the one with most decides.
fn evidence_count(gate: &Gate<'_>, tally: &Tally) -> Check {
    let id = "evidence_count";
    let items = &tally.items;
    if items.rows == 0 {
        return gate.not_run(id, "no row has items of evidence");
    }
    let mean = items.items as f64 / items.rows as f64;
    let sentence = format!(
        "The {} entities with evidence have up to {} items, {mean:.2} on average.",
        items.rows, items.most
    );
    gate.census(id, items.most as f64, items.rows, sentence, Vec::new())
}

/// A6 on the sample: entities with a factor that all but excludes a class.
fn excluded_classes(gate: &Gate<'_>, sampled: &Sampled) -> Check {
    let id = "support";
    let asked = sampled.ask(|items| support(items, support_floor(items.classes()), gate.delta(id)));
    match asked {
        Ok(found) => {
            let (hits, n) = (found.below.count as u64, found.below.of as u64);
            let estimate = Estimate::rate(hits, n, gate.delta(id));
            gate.estimate(id, estimate, found.sentence())
        }
        Err(reason) => gate.not_run(id, reason),
    }
}
