//! The paper's assumptions, as far as a log can tell. A4, which is about the structure of a network,
//! is decided before any log is written.

use super::Gate;
use super::evidence::NO_EVIDENCE;
use crate::assumptions::{
    AssumptionError, IndependenceTest, Items, independence, individual_calibration, support,
    support_floor,
};
use crate::audit::intervals::{CLOPPER_PEARSON, NORMAL, normal_range};
use crate::audit::outcome::Check;
use crate::audit::sample::Sample;
use crate::audit::tally::Tally;
use crate::simplex::Distribution;

/// How the interval of the items' calibration error is found.
const MCDIARMID: &str = "McDiarmid, by entity";

pub(super) fn checks(gate: &Gate<'_>, tally: &Tally, checks: &mut Vec<Check>) {
    let sampled = Sampled::new(&tally.evidence.sample);
    checks.push(dependence(gate, &sampled));
    checks.push(encoder_variance(gate, tally));
    checks.push(item_calibration(gate, &sampled, tally.settings.bins));
    checks.push(evidence_count(gate, tally));
    checks.push(excluded_classes(gate, &sampled));
}

/// The factors of the sample, entity by entity.
struct Sampled {
    factors: Vec<Distribution>,
    offsets: Vec<usize>,
    labels: Vec<usize>,
}

impl Sampled {
    fn new(sample: &Sample) -> Self {
        let mut sampled = Sampled {
            factors: Vec::new(),
            offsets: vec![0],
            labels: Vec::new(),
        };
        for row in sample.rows() {
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
    match sampled.ask(|items| independence(items, &sampled.labels, &test)) {
        Ok(found) => match found.smallest_p() {
            Some(p) => gate.p_value(id, p, sampled.entities(), found.sentence()),
            None => gate.not_run(id, found.sentence().trim_end_matches('.')),
        },
        Err(reason) => gate.not_run(id, reason),
    }
}

/// A2 on all rows: the mean norm of the covariances.
fn encoder_variance(gate: &Gate<'_>, tally: &Tally) -> Check {
    let id = "encoder_variance";
    let norms = &tally.items.norms;
    let Some(mean) = norms.mean() else {
        return gate.not_run(id, "no row has posteriors");
    };
    let range = norms.standard_error().map(|error| {
        let (low, high) = normal_range(mean, error * error, 1, gate.delta(id));
        (low.max(0.0), high)
    });
    let (items, entities) = (norms.items(), norms.entities());
    let largest = tally.items.largest_norm.get();
    let sentence = format!(
        "The mean norm of the {items} covariances of {entities} entities is {mean:.3}, the largest \
         {largest:.3}."
    );
    gate.estimate(id, mean, range, NORMAL, entities, sentence)
}

/// A3 on the sample: the calibration error of single factors.
fn item_calibration(gate: &Gate<'_>, sampled: &Sampled, bins: usize) -> Check {
    let id = "item_calibration";
    let asked =
        sampled.ask(|items| individual_calibration(items, &sampled.labels, bins, gate.delta(id)));
    match asked {
        Ok(found) => gate.estimate(
            id,
            found.ece,
            Some((found.low, found.high)),
            MCDIARMID,
            sampled.entities(),
            found.sentence(),
        ),
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
        Ok(found) => gate.estimate(
            id,
            found.below.count as f64 / found.below.of as f64,
            Some((found.below.low, found.below.high)),
            CLOPPER_PEARSON,
            sampled.entities(),
            found.sentence(),
        ),
        Err(reason) => gate.not_run(id, reason),
    }
}
