//! Sums and counts over rows with logged evidence.

use serde::{Deserialize, Serialize};

use super::clusters::entity_hash;
use super::histogram::Histogram;
use super::listed::{Source, Worst};
use super::rounding::{DOUBLE, Precision, SINGLE};
use super::sample::{Sample, SampleRow, line_hash};
use crate::aggregate::Method;
use crate::answer::Answerer;
use crate::bounds::{effective_count, robust_l1};
use crate::log::{Entity, LoggedUncertainty};
use crate::math::{ExactSum, ln};
use crate::simplex::Distribution;
use crate::uncertainty::variance_decomposition;

/// The effect of leaving out up to this many items is computed.
pub(super) const REMOVED: usize = 8;

/// Counts and sums over rows with evidence. Merging adds them up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceTally {
    /// Rows with factors.
    pub rows: u64,
    /// Rows without an answer, whose answer was computed.
    pub computed: u64,
    /// Rows whose answer was compared with the aggregate of its factors.
    pub compared: u64,
    /// Of these, equal within the rounding of double precision.
    pub within_double: u64,
    /// Of these, equal within the rounding of single precision (those of double included).
    pub within_single: u64,
    /// Rows that are off, by their largest difference to the aggregate.
    pub inconsistent: Worst,
    /// The largest difference.
    pub largest_difference: Largest,
    /// Effective numbers of items.
    pub k_eff: Histogram,
    /// Rows in which no weight is above zero.
    pub weightless: u64,
    /// Log-odds of the first over the second class of the product.
    pub margins: Histogram,
    /// Rows, by how many items must be left out to change their answer: 1, 2, … at `[0]`, `[1]`, …
    pub changed_by: [u64; REMOVED],
    /// Sum over the rows of a bound on the change when 1, 2, … items are left out.
    pub shifts: [ExactSum; REMOVED],
    /// Whole rows, for the checks that need them.
    pub sample: Sample,
    /// Rows with a logged decomposition.
    pub decomposed: u64,
    /// Rows whose parts do not add up, or do not fit the samples; the worst of them.
    pub undecomposed: Worst,
    /// Number of such rows.
    pub undecomposed_rows: u64,
    /// Rows with samples.
    pub sampled: u64,
    /// Of these, rows whose answer is the mean of their samples.
    pub averaged: u64,
}

/// The largest of some numbers, zero at first. Stored by its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Largest(u64);

impl Largest {
    /// Considers a number that is not negative.
    pub fn add(&mut self, x: f64) {
        if x.is_nan() || x > self.get() {
            self.0 = x.to_bits();
        }
    }

    /// The number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}
#[derive(Debug)]
pub(super) struct WithEvidence<'a> {
    /// Where it stands.
    pub at: Source<'a>,
    /// The line itself.
    pub line: &'a [u8],
    /// Position of the true class.
    pub label: usize,
    /// Its factors and weights.
    pub entity: Entity<'a>,
}

impl EvidenceTally {
    /// Adds a row with factors, and `own`, the answer that follows from them; returns the logged
    /// answer, or else `own`.
    pub(super) fn add(
        &mut self,
        row: WithEvidence<'_>,
        answer: Option<Vec<f64>>,
        own: Option<Distribution>,
        answerer: &Answerer,
    ) -> Option<Vec<f64>> {
        let Entity {
            factors, weights, ..
        } = &row.entity;
        self.rows += 1;
        match (&answer, &own) {
            (Some(answer), Some(own)) => {
                self.compare(&row, answer, own.probabilities(), answerer);
            }
            (None, Some(_)) => self.computed += 1,
            _ => {}
        }
        match effective_count(weights) {
            Ok(k_eff) => self.k_eff.add(k_eff),
            Err(_) => self.weightless += 1,
        }
        if let (Method::Spn, Some(own)) = (answerer.method(), &own) {
            self.margins.add(margin(own));
            if let Some(items) = items_to_change(factors, weights, own.argmax())
                && let Some(count) = self.changed_by.get_mut(items - 1)
            {
                *count += 1;
            }
            self.add_shifts(factors, weights);
        }
        let answer = answer.or_else(|| own.map(Distribution::into_vec));
        let numbers = factors.len() * factors.first().map_or(0, Distribution::classes);
        let hash = line_hash(row.line);
        if let Some(answer) = &answer {
            self.sample.add(hash, row.at, numbers, || SampleRow {
                entity: entity_hash(&row.entity.name),
                label: row.label,
                answer: answer.clone(),
                ids: row
                    .entity
                    .ids
                    .iter()
                    .map(|id| entity_hash(id.as_deref()?))
                    .collect(),
                factors: row.entity.factors,
                weights: row.entity.weights,
            });
        }
        answer
    }

    fn compare(
        &mut self,
        row: &WithEvidence<'_>,
        answer: &[f64],
        own: &[f64],
        answerer: &Answerer,
    ) {
        self.compared += 1;
        let largest = answer.iter().zip(own).map(|(a, b)| (a - b).abs());
        let largest = largest.fold(0.0, f64::max);
        self.largest_difference.add(largest);
        let Entity {
            factors, weights, ..
        } = &row.entity;
        let within = |precision: Precision| {
            let (method, prior) = (answerer.method(), answerer.prior());
            let allowed = precision.allowed(method, prior, factors, weights, own);
            let mut pairs = answer.iter().zip(own).zip(&allowed);
            pairs.all(|((a, b), allowed)| (a - b).abs() <= *allowed)
        };
        let (double, single) = (within(DOUBLE), within(SINGLE));
        self.within_double += u64::from(double);
        self.within_single += u64::from(single);
        if !single {
            self.inconsistent.add(largest, row.at, &row.entity.name);
        }
    }

    fn add_shifts(&mut self, factors: &[Distribution], weights: &[f64]) {
        let mut ranges: Vec<f64> = factors
            .iter()
            .zip(weights)
            .map(|(factor, w)| if *w > 0.0 { w * log_range(factor) } else { 0.0 })
            .collect();
        ranges.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut total = 0.0;
        for (k, sum) in self.shifts.iter_mut().enumerate() {
            total += ranges.get(k).copied().unwrap_or(0.0);
            // A sum of numbers that are not negative is in the domain; beyond all doubles it is ∞.
            sum.add(robust_l1(total).unwrap_or(2.0));
        }
    }

    /// Adds the logged samples and variances of a row: the variances must add up, and fit the samples
    /// where there are any. Rows whose answer is the mean of the samples are counted.
    pub fn add_samples(
        &mut self,
        at: Source<'_>,
        id: &str,
        answer: &[f64],
        samples: Option<&[f64]>,
        uncertainty: Option<&LoggedUncertainty>,
    ) {
        let classes = answer.len();
        if let Some(samples) = samples {
            self.sampled += 1;
            self.averaged += u64::from(is_mean(answer, samples));
        }
        let Some(logged) = uncertainty else { return };
        self.decomposed += 1;
        let mut off = (logged.total - logged.epistemic - logged.aleatoric).abs();
        let mut size = logged.total.abs() + logged.epistemic.abs() + logged.aleatoric.abs();
        let mut roundings = 3.0;
        if let Some(parts) = samples.and_then(|rows| variance_decomposition(rows, classes).ok()) {
            for (a, b) in [
                (logged.total, parts.total),
                (logged.epistemic, parts.epistemic),
                (logged.aleatoric, parts.aleatoric),
            ] {
                off = off.max((a - b).abs());
            }
            // The parts are sums over M·n products of numbers that were themselves rounded.
            roundings += 4.0 * samples.map_or(0, <[f64]>::len) as f64;
            size = size.max(1.0);
        }
        let fits = off <= roundings * SINGLE.unit() * size;
        if !fits {
            self.undecomposed_rows += 1;
            self.undecomposed.add(off, at, id);
        }
    }

    /// Adds everything that `other` holds; `None` where a count overflows.
    pub fn merge(&mut self, other: &EvidenceTally) -> Option<()> {
        for (a, b) in [
            (&mut self.rows, other.rows),
            (&mut self.computed, other.computed),
            (&mut self.compared, other.compared),
            (&mut self.within_double, other.within_double),
            (&mut self.within_single, other.within_single),
            (&mut self.weightless, other.weightless),
            (&mut self.decomposed, other.decomposed),
            (&mut self.undecomposed_rows, other.undecomposed_rows),
            (&mut self.sampled, other.sampled),
            (&mut self.averaged, other.averaged),
        ] {
            *a = a.checked_add(b)?;
        }
        for (a, b) in self.changed_by.iter_mut().zip(other.changed_by) {
            *a = a.checked_add(b)?;
        }
        for (a, b) in self.shifts.iter_mut().zip(&other.shifts) {
            a.merge(b);
        }
        self.inconsistent.merge(&other.inconsistent);
        self.undecomposed.merge(&other.undecomposed);
        self.largest_difference.add(other.largest_difference.get());
        self.k_eff.merge(&other.k_eff)?;
        self.margins.merge(&other.margins)?;
        self.sample.merge(&other.sample);
        Some(())
    }
}

/// Whether the answer is the mean of the samples, row by row, within the rounding of single
/// precision: `M` numbers in `[0, 1]`, each rounded, are added in any order (`M` roundings of a sum
/// of at most `M`), divided by `M`, and the answer was rounded and perhaps divided by its sum.
fn is_mean(answer: &[f64], samples: &[f64]) -> bool {
    let rows = samples.len() as f64 / answer.len() as f64;
    let allowed = (rows + answer.len() as f64 + 4.0) * SINGLE.unit();
    answer.iter().enumerate().all(|(class, p)| {
        let column = samples.iter().skip(class).step_by(answer.len());
        let mean = column.copied().collect::<ExactSum>().to_f64() / rows;
        (mean - p).abs() <= allowed
    })
}

/// `ln p₁ − ln p₂` of the two most probable classes; infinite where there is no second.
fn margin(p: &Distribution) -> f64 {
    let first = p.argmax();
    let others = p.probabilities().iter().enumerate();
    let second = others
        .filter(|(i, _)| *i != first)
        .fold(0.0, |best: f64, (_, &x)| best.max(x));
    if second > 0.0 {
        ln(*p.confidence()) - ln(second)
    } else {
        f64::INFINITY
    }
}

/// `max ln Φ − min ln Φ`: how much the item can move the log-odds of two classes.
fn log_range(factor: &Distribution) -> f64 {
    let p = factor.probabilities();
    let low = p.iter().copied().fold(1.0, f64::min);
    if low > 0.0 {
        ln(*factor.confidence()) - ln(low)
    } else {
        f64::INFINITY
    }
}

/// The smallest number of items, some item being left, without which another class is the most
/// probable; none where no choice of items is enough. Exact up to rounding.
///
/// Class `b` overtakes the winner `a` when `Σ dᵢ < 0` over the items that are left,
/// `dᵢ = wᵢ·(ln Φᵢ(a) − ln Φᵢ(b))`, so the items to leave out are those with the largest `dᵢ`.
fn items_to_change(factors: &[Distribution], weights: &[f64], winner: usize) -> Option<usize> {
    let classes = factors.first()?.classes();
    let mut leads = Vec::with_capacity(factors.len());
    let others = (0..classes).filter(|&b| b != winner);
    others
        .filter_map(|b| {
            leads.clear();
            for (factor, &w) in factors.iter().zip(weights) {
                let p = factor.probabilities();
                let (first, second) = (p.get(winner)?, p.get(b)?);
                leads.push(if w > 0.0 {
                    w * (ln(*first) - ln(*second))
                } else {
                    0.0
                });
            }
            leads.sort_unstable_by(|x, y| y.total_cmp(x));
            let excluding = leads.iter().filter(|d| **d == f64::INFINITY).count();
            let mut rest: ExactSum = leads.iter().skip(excluding).copied().collect();
            for k in excluding..leads.len() {
                let left = rest.to_f64();
                // Ties go to the first class.
                if left < 0.0 || left == 0.0 && b < winner && k > 0 {
                    return Some(k).filter(|k| *k > 0);
                }
                let next = *leads.get(k)?;
                if next <= 0.0 {
                    return None;
                }
                rest.add(-next);
            }
            None
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::aggregate;
    use proptest::prelude::*;

    fn d(p: &[f64]) -> Distribution {
        Distribution::from_weights(p.to_vec()).unwrap()
    }

    /// All subsets, the product of what is left recomputed: the meaning of the number.
    fn by_trying_all(factors: &[Distribution], weights: &[f64], winner: usize) -> Option<usize> {
        let k = factors.len();
        (1u32..(1 << k) - 1)
            .filter(|set| {
                let left: Vec<usize> = (0..k).filter(|i| set >> i & 1 == 0).collect();
                let f: Vec<Distribution> = left.iter().map(|&i| factors[i].clone()).collect();
                let w: Vec<f64> = left.iter().map(|&i| weights[i]).collect();
                aggregate(Method::Spn, &f, &w, None).is_ok_and(|p| p.argmax() != winner)
            })
            .map(|set| set.count_ones() as usize)
            .min()
    }

    proptest! {
        #[test]
        fn the_items_to_leave_out_are_found_without_trying_all(
            rows in prop::collection::vec(prop::collection::vec(0.01f64..1.0, 3), 2..7),
            weights in prop::collection::vec(0.0f64..2.0, 7),
        ) {
            let factors: Vec<Distribution> = rows.iter().map(|r| d(r)).collect();
            let weights = &weights[..factors.len()];
            let winner = aggregate(Method::Spn, &factors, weights, None).unwrap().argmax();
            prop_assert_eq!(
                items_to_change(&factors, weights, winner),
                by_trying_all(&factors, weights, winner)
            );
        }
    }

    #[test]
    fn excluded_classes_and_single_items() {
        let sure = d(&[1.0, 0.0]);
        let doubt = d(&[0.4, 0.6]);
        assert_eq!(
            items_to_change(&[sure.clone(), doubt], &[1.0, 1.0], 0),
            Some(1)
        );
        assert_eq!(
            items_to_change(std::slice::from_ref(&sure), &[1.0], 0),
            None
        );
        assert_eq!(items_to_change(&[sure.clone(), sure], &[1.0, 1.0], 0), None);
        assert_eq!(margin(&d(&[1.0, 0.0])), f64::INFINITY);
        assert_eq!(margin(&d(&[1.0])), f64::INFINITY);
        assert_eq!(margin(&d(&[1.0, 1.0, 2.0])), std::f64::consts::LN_2);
    }

    #[test]
    fn a_decomposition_that_does_not_fit_its_samples_is_noticed() {
        let rows = [0.9, 0.1, 0.5, 0.5];
        let parts = variance_decomposition(&rows, 2).unwrap();
        let right = LoggedUncertainty {
            total: parts.total,
            epistemic: parts.epistemic,
            aleatoric: parts.aleatoric,
        };
        // Adds up, but is not what the samples say.
        let moved = LoggedUncertainty {
            epistemic: right.epistemic + 0.01,
            aleatoric: right.aleatoric - 0.01,
            ..right
        };
        let apart = LoggedUncertainty {
            total: right.total + 0.01,
            ..right
        };
        let at = Source { file: "f", line: 1 };
        for (logged, samples, want) in [
            (right, Some(&rows[..]), 0),
            (right, None, 0),
            (moved, Some(&rows[..]), 1),
            (moved, None, 0),
            (apart, Some(&rows[..]), 1),
            (apart, None, 1),
        ] {
            let mut tally = EvidenceTally::default();
            tally.add_samples(at, "x", &[0.7, 0.3], samples, Some(&logged));
            assert_eq!(tally.undecomposed_rows, want, "{logged:?}");
        }
        // In single precision, and off by a little more than that.
        let mut tally = EvidenceTally::default();
        let single = [f64::from(0.7f32), f64::from(0.3f32)];
        for answer in [[0.7, 0.3], single, [0.70001, 0.29999], [0.3, 0.7]] {
            tally.add_samples(at, "x", &answer, Some(&rows), None);
        }
        tally.add_samples(at, "x", &[0.5, 0.5], None, Some(&right));
        assert_eq!((tally.sampled, tally.averaged), (4, 2));
    }

    #[test]
    fn an_answer_that_is_not_the_best_is_overturned_by_no_choice() {
        assert_eq!(items_to_change(&[d(&[1.0, 3.0])], &[1.0], 0), None);
        assert_eq!(items_to_change(&[d(&[1.0, 3.0])], &[1.0], 1), None);
    }
}
