//! A3: single items are calibrated. Their expected calibration error (ECE), with an interval.
//!
//! # Statement
//! Let `n` entities be drawn independently, entity `e` with `K_e` items, `N = Σ K_e`. For bin `b` of
//! `B` let `ĝ_b = (1/N) Σ (confidence − correct)` over the items in bin `b`, `ÊCE = Σ_b |ĝ_b|`, and let
//! `ECE = Σ_b |E ĝ_b|` be what it estimates, the counts `K_e` given. With Kish's effective count
//! `n_eff = (Σ K_e)²/Σ K_e²` (equal counts: `n`) and `r = √(2 ln(2/δ)/n_eff)`,
//!
//! ```text
//!     ÊCE − r − √(B/n_eff)  ≤  ECE  ≤  ÊCE + r       with probability at least 1 − δ,
//! ```
//!
//! whatever the distribution, and however strongly the items of one entity depend on each other.
//!
//! # Proof
//! 1. Another draw of entity `e` changes `Σ_b |ĝ_b|` by at most `2K_e/N`: the sum of the absolute
//!    contributions of its `K_e` items is at most `K_e/N` before and after. McDiarmid's inequality:
//!    `ÊCE` is within `r` of its expectation on either side but for probability
//!    `exp(−2r²/Σ_e (2K_e/N)²) = exp(−r²·n_eff/2) = δ/2`.
//! 2. `ECE ≤ E ÊCE` (Jensen), which gives the upper end.
//! 3. `E|ĝ_b| − |E ĝ_b| ≤ E|ĝ_b − E ĝ_b| ≤ √Var ĝ_b`, and by Cauchy and Schwarz
//!    `Σ_b √Var ĝ_b ≤ √(B·Σ_b Var ĝ_b)`. Entities are independent, so
//!    `Σ_b Var ĝ_b ≤ Σ_e E Σ_b (contribution of e to b)² ≤ Σ_e (K_e/N)² = 1/n_eff`. Hence
//!    `ECE ≥ E ÊCE − √(B/n_eff)`, which gives the lower end. ∎
//!
//! Counting items instead of entities would give an interval shorter by `√K` that is wrong where
//! items repeat each other.

use super::{AssumptionError, Items};
use crate::bounds::{BoundError, effective_count, open_unit};
use crate::calibration::Reliability;
use crate::math::Interval;

/// The calibration of single factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndividualCalibration {
    /// Number of items.
    pub items: usize,
    /// Number of entities.
    pub entities: usize,
    /// Kish's effective number of entities.
    pub effective: f64,
    /// Number of bins.
    pub bins: usize,
    /// `ÊCE` of the most probable class.
    pub ece: f64,
    /// `ECE` is at least this …
    pub low: f64,
    /// … and at most this, with probability at least `1 − level`.
    pub high: f64,
    /// Share of items whose most probable class is right.
    pub accuracy: f64,
    /// `δ`, the failure probability of the interval.
    pub level: f64,
}

impl IndividualCalibration {
    /// Whether the data exclude a calibration error of zero.
    pub fn contradicted(&self) -> bool {
        self.low > 0.0
    }

    /// The finding as a sentence.
    pub fn sentence(&self) -> String {
        let IndividualCalibration {
            items,
            entities,
            ece,
            low,
            high,
            ..
        } = self;
        let verdict = if self.contradicted() {
            "the decoder is not calibrated on single items: A3 fails"
        } else {
            "so few entities do not exclude that A3 holds"
        };
        format!(
            "The calibration error of {items} single items is {ece:.3}, between {low:.3} and \
             {high:.3} for any distribution of {entities} independent entities; {verdict}."
        )
    }
}

/// Checks A3 on factors and labels, with `bins` bins of equal width and failure probability `level`.
///
/// # Errors
/// [`AssumptionError::Lengths`], [`AssumptionError::Label`]; [`AssumptionError::Calibration`] for
/// the number of bins or a probability above one; [`AssumptionError::Parameter`] for a level
/// outside `(0, 1)`.
pub fn individual_calibration(
    items: &Items<'_>,
    labels: &[usize],
    bins: usize,
    level: f64,
) -> Result<IndividualCalibration, AssumptionError> {
    items.check_labels(labels)?;
    let mut reliability = Reliability::new(bins)?;
    for (entity, &label) in items.groups().zip(labels) {
        for factor in entity {
            reliability.add(*factor.confidence(), factor.argmax() == label)?;
        }
    }
    let counts: Vec<f64> = items.groups().map(|e| e.len() as f64).collect();
    let effective = effective_count(&counts).map_err(BoundError::from)?;
    let ece = reliability.ece()?;
    let (below, above) = reach(bins, effective, level)?;
    Ok(IndividualCalibration {
        items: items.factors().len(),
        entities: items.entities(),
        effective,
        bins,
        ece,
        low: (Interval::point(ece) - below).low().max(0.0),
        high: (Interval::point(ece) + above).high().min(1.0),
        accuracy: reliability.accuracy()?,
        level,
    })
}

/// `r + √(B/n_eff)` and `r`.
fn reach(bins: usize, effective: f64, level: f64) -> Result<(Interval, Interval), BoundError> {
    open_unit("level", level)?;
    let two = Interval::point(2.0);
    // Kish's count is rounded once, so the exact one lies between its neighbours.
    let effective = Interval::between(effective.next_down(), effective.next_up());
    let r = (two * (two / Interval::point(level)).ln() / effective).sqrt();
    let bias = (Interval::count(bins as u64) / effective).sqrt();
    Ok((r + bias, r))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latent::random::{Stream, text_key};
    use crate::simplex::Distribution;

    const PURPOSE: u64 = text_key("test: evidence for assumption A3");

    /// Entities whose items all say the same: confidence 0.8, right with probability `right`.
    fn repeated(
        seed: u64,
        entities: usize,
        items: usize,
        right: f64,
    ) -> (Vec<Distribution>, Vec<usize>, Vec<usize>) {
        let factor = Distribution::new(vec![0.8, 0.2]).unwrap();
        let labels = (0..entities).map(|e| {
            let u = Stream::new(seed, PURPOSE, e as u64, 0).uniform();
            usize::from(u >= right)
        });
        let offsets = (0..=entities).map(|e| e * items).collect();
        (vec![factor; entities * items], offsets, labels.collect())
    }

    #[test]
    fn ends_of_the_interval_are_the_formula() {
        // mpmath 1.3.0, n_eff = 300, B = 10, δ = 0.05: sqrt(2 ln 40/300), sqrt(10/300).
        let (below, above) = reach(10, 300.0, 0.05).unwrap();
        assert!(
            (above.high() - 0.156_820_055_139_937).abs() < 1e-14,
            "{}",
            above.high()
        );
        assert!((below.high() - above.high() - 0.182_574_185_835_055).abs() < 1e-14);
        let (factors, offsets, labels) = repeated(1, 300, 2, 0.8);
        let items = Items::new(&factors, &offsets).unwrap();
        let found = individual_calibration(&items, &labels, 10, 0.05).unwrap();
        assert_eq!(found.effective, 300.0);
        assert!((found.high - found.ece - above.high()).abs() < 1e-12);
    }

    #[test]
    fn the_interval_covers_where_one_that_counts_items_does_not() {
        // All eight items of an entity are right or wrong together: true accuracy 0.6 against a
        // confidence of 0.8, so ECE = 0.2.
        const RUNS: u64 = 200;
        let (mut missed, mut missed_by_items) = (0, 0);
        for seed in 0..RUNS {
            let (factors, offsets, labels) = repeated(seed, 60, 8, 0.6);
            let items = Items::new(&factors, &offsets).unwrap();
            let found = individual_calibration(&items, &labels, 10, 0.05).unwrap();
            missed += u32::from(!(found.low <= 0.2 && 0.2 <= found.high));
            // Negative control: the radius of 480 independent items.
            let (_, r) = reach(10, 480.0, 0.05).unwrap();
            missed_by_items += u32::from(found.ece + r.high() < 0.2);
        }
        // At most 5 in 100 are allowed; P(more than 27 of 200) < 1e-5 at a rate of 0.05.
        assert!(missed <= 27, "{missed}");
        assert!(missed_by_items > missed, "{missed_by_items} {missed}");
    }

    #[test]
    fn a_decoder_that_is_never_right_is_found_out() {
        let (factors, offsets, labels) = repeated(1, 300, 3, 0.0);
        let items = Items::new(&factors, &offsets).unwrap();
        let found = individual_calibration(&items, &labels, 10, 0.05).unwrap();
        assert!(found.contradicted() && found.sentence().contains("A3 fails"));
        assert!((found.ece - 0.8).abs() < 1e-15);
        let one = Items::new(&factors[..1], &[0, 1]).unwrap();
        let found = individual_calibration(&one, &[0], 10, 0.05).unwrap();
        assert_eq!((found.low, found.high), (0.0, 1.0));
        assert!(!found.contradicted());
        assert!(individual_calibration(&one, &[0], 0, 0.05).is_err());
        assert!(individual_calibration(&one, &[0], 10, 0.0).is_err());
        assert!(individual_calibration(&one, &[], 10, 0.05).is_err());
    }
}
