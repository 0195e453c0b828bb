//! The six assumptions on real evidence.

use super::dependence::Dependence;
use super::study::Study;
use crate::assumptions::{
    EncoderVariance, EvidenceCount, IndividualCalibration, Items, Marginalization, Support,
    encoder_variance, evidence_count, individual_calibration, marginalization, support,
    support_floor,
};
use crate::exhibit::{Cell, Table};
use crate::experiments::{BINS, ExperimentError, Lab};
use crate::simplex::Distribution;

/// Failure probability of every interval and test.
pub(super) const LEVEL: f64 = 0.05;

pub(super) struct Measured {
    pub(super) dependence: Dependence,
    pub(super) variance: EncoderVariance,
    pub(super) calibration: IndividualCalibration,
    marginalization: Marginalization,
    count: EvidenceCount,
    pub(super) support: Support,
}

impl Measured {
    pub(super) fn new(lab: &Lab, study: &Study) -> Result<Self, ExperimentError> {
        let judged = &study.judged;
        let factors = judged.iter().flat_map(|e| e.factors.iter().cloned());
        let factors: Vec<Distribution> = factors.collect();
        let weights = judged.iter().flat_map(|e| e.weights.iter().copied());
        let weights: Vec<f64> = weights.collect();
        let posteriors = judged.iter().flat_map(|e| e.posteriors.iter().flatten());
        let norms: Vec<f64> = posteriors.map(|p| p.frobenius_norm()).collect();
        let offsets: Vec<usize> = (0..=judged.len()).map(|e| e * study.items()).collect();
        let items = Items::new(&factors, &offsets)?;
        let limit = |id: &str| lab.paper.number(&format!("sec:assumption-validation/{id}"));
        let most = limit("A5/K_max")?.value as usize;
        Ok(Measured {
            dependence: Dependence::of(study, lab.settings.seed),
            variance: encoder_variance(&norms, &offsets, limit("A2/sigma_max")?.value, LEVEL)?,
            calibration: individual_calibration(&items, &study.labels(), BINS, LEVEL)?,
            marginalization: marginalization(&items, &weights)?,
            count: evidence_count(&offsets, most, LEVEL)?,
            support: support(&items, support_floor(items.classes()), LEVEL)?,
        })
    }

    /// Whether the data contradict A1.
    pub(super) fn dependent(&self) -> bool {
        self.dependence.p.is_some_and(|p| p <= LEVEL)
    }

    fn rows(&self, set: &str) -> Vec<[(&'static str, Cell); 9]> {
        type Ends = Option<(f64, f64)>;
        let row = |assumption, what: &str, here: f64, ends: Ends, p: Option<f64>, n, fails| {
            let small = here != 0.0 && here.abs() < 1e-4;
            let number = |x: Option<f64>| match x.filter(|x| !x.is_nan()) {
                Some(x) => Cell::number(x, if small { 12 } else { 4 }),
                None => Cell::Empty,
            };
            [
                ("set", Cell::text(set)),
                ("assumption", Cell::text(assumption)),
                ("measured", Cell::text(what)),
                ("here", number(Some(here))),
                ("at least", number(ends.map(|e| e.0))),
                ("at most", number(ends.map(|e| e.1))),
                ("p", number(p)),
                ("n", Cell::count(n)),
                (
                    "verdict",
                    Cell::text(if fails { "fails" } else { "stands" }),
                ),
            ]
        };
        let (v, c, s) = (&self.variance, &self.calibration, &self.support);
        let (items, entities) = (c.items, c.entities);
        let rate = |share: &crate::assumptions::Share| share.count as f64 / share.of as f64;
        let ends = |share: &crate::assumptions::Share| Some((share.low, share.high));
        vec![
            row(
                "A1",
                "correlation of two views, given the class",
                self.dependence.correlation,
                None,
                self.dependence.p,
                entities,
                self.dependent(),
            ),
            row(
                "A1",
                "total correlation of the votes given the class, nats, lower estimate",
                self.dependence.total,
                None,
                None,
                entities,
                self.dependent(),
            ),
            row(
                "A2",
                &format!(
                    "mean norm of the covariances; the paper's limit is {}",
                    v.limit
                ),
                v.mean,
                v.interval(),
                None,
                items,
                v.contradicted(),
            ),
            row(
                "A3",
                "calibration error of single items",
                c.ece,
                Some((c.low, c.high)),
                None,
                items,
                c.contradicted(),
            ),
            row(
                "A4",
                "complete and decomposable networks",
                self.marginalization.networks as f64,
                None,
                None,
                entities,
                self.marginalization.contradicted(),
            ),
            row(
                "A5",
                &format!(
                    "most items of an entity; the paper has at most {}",
                    self.count.limit
                ),
                self.count.most as f64,
                None,
                None,
                entities,
                self.count.contradicted(),
            ),
            row(
                "A6",
                "smallest probability of a factor",
                s.smallest,
                None,
                None,
                items,
                s.contradicted(),
            ),
            row(
                "A6",
                "share of entities with a factor below 1/(2|Y|)",
                rate(&s.below),
                ends(&s.below),
                None,
                entities,
                s.contradicted(),
            ),
        ]
    }
}

pub(super) fn table(measured: &[(&str, &Measured)]) -> Table {
    let mut table = Table::new(
        "real.assumptions",
        format!("The assumptions on real evidence, each test and interval at level {LEVEL}"),
    );
    for (set, measured) in measured {
        for row in measured.rows(set) {
            table.row(row);
        }
    }
    table
}
