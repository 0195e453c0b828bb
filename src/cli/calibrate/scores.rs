//! How good predictions are, with how much certainty.

use serde::Serialize;

use crate::bounds::{
    BoundError, binned_ranges, clopper_pearson, empirical_bernstein_radius, sample_variance_up,
};
use crate::calibration::{Calibrated, CalibrationError, Reliability, SmoothCell, smooth_ece};
use crate::math::{ExactSum, ln};

/// Intervals hold with probability 1 − δ each.
pub const DELTA: f64 = 0.05;
/// Bins of the calibration error, as many as the paper has.
const BINS: usize = 15;
/// The 97.5th percentile of the standard normal distribution.
const NORMAL_975: f64 = 1.959_963_984_540_054;

/// A number and an interval around it, where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The number itself.
    pub value: f64,
    /// Between these two ends.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// For people, with four digits.
    pub fn shown(&self) -> String {
        match self.interval {
            Some((low, high)) => format!("{:.4} [{low:.4}, {high:.4}]", self.value),
            None if self.value.is_infinite() => "infinite".to_string(),
            None => format!("{:.4}", self.value),
        }
    }
}

/// All that is said about one set of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// Share of named classes that are right; Clopper–Pearson.
    pub accuracy: Estimate,
    /// Mean over bins of |mean confidence − share right|; the interval lets each bin's true share
    /// range over its own, all of which hold at once (T1″).
    pub ece: Estimate,
    /// Calibration error without bins.
    pub smooth_ece: Estimate,
    /// Mean squared distance to the truth; empirical Bernstein (T2′).
    pub brier: Estimate,
    /// Mean of −ln of the true class's probability; normal approximation, no guarantee.
    pub log_loss: Estimate,
    /// Rows whose true class got probability zero, each of which makes the log loss infinite.
    pub impossible: u64,
}

/// Why predictions cannot be scored.
#[derive(Debug)]
pub enum ScoreError {
    Calibration(CalibrationError),
    Bound(BoundError),
}

impl std::fmt::Display for ScoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ScoreError::Calibration(error) => error.fmt(f),
            ScoreError::Bound(error) => error.fmt(f),
        }
    }
}

impl From<CalibrationError> for ScoreError {
    fn from(error: CalibrationError) -> Self {
        ScoreError::Calibration(error)
    }
}

impl From<BoundError> for ScoreError {
    fn from(error: BoundError) -> Self {
        ScoreError::Bound(error)
    }
}

impl Scores {
    /// Scores predictions against their labels. The order does not matter.
    pub fn of(rows: &[(Calibrated, usize)]) -> Result<Self, ScoreError> {
        let mut reliability = Reliability::new(BINS)?;
        let mut cells = Vec::with_capacity(rows.len());
        let mut halves = Vec::with_capacity(rows.len());
        let mut losses = Vec::with_capacity(rows.len());
        let (mut right, mut impossible) = (0, 0);
        for (p, label) in rows {
            let hit = p.class == *label;
            right += u64::from(hit);
            reliability.add(p.confidence, hit)?;
            cells.push(SmoothCell {
                confidence: p.confidence,
                residual: p.confidence - f64::from(u8::from(hit)),
                count: 1,
            });
            let entries = p.distribution.probabilities().iter().enumerate();
            let squares = entries.map(|(class, &q)| {
                let off = q - f64::from(u8::from(class == *label));
                off * off
            });
            // At most 2 but for rounding, which may leave an excess of an ulp or two.
            halves.push((squares.sum::<f64>() / 2.0).min(1.0));
            match p.distribution.probabilities().get(*label) {
                Some(&q) if q > 0.0 => losses.push(-ln(q)),
                _ => impossible += 1,
            }
        }
        let n = rows.len() as u64;
        let (low, high) = clopper_pearson(right, n, DELTA)?;
        let half = mean(&halves);
        let brier_interval = if n > 1 {
            let r = empirical_bernstein_radius(n, sample_variance_up(&halves)?, DELTA)?;
            Some((2.0 * (half - r).max(0.0), 2.0 * (half + r).min(1.0)))
        } else {
            None
        };
        Ok(Scores {
            accuracy: Estimate {
                value: right as f64 / n as f64,
                interval: Some((low, high)),
            },
            ece: ece(&reliability)?,
            smooth_ece: Estimate {
                value: smooth_ece(&cells)?.value,
                interval: None,
            },
            brier: Estimate {
                value: 2.0 * half,
                interval: brier_interval,
            },
            log_loss: log_loss(&losses, impossible),
            impossible,
        })
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().copied().collect::<ExactSum>().to_f64() / values.len() as f64
}

fn ece(reliability: &Reliability) -> Result<Estimate, ScoreError> {
    let bins = reliability.bins();
    let counts: Vec<(u64, u64)> = bins.iter().map(|b| (b.correct, b.count)).collect();
    let ranges = binned_ranges(&counts, DELTA)?;
    let (mut low, mut high) = (ExactSum::new(), ExactSum::new());
    for (bin, range) in bins.iter().zip(ranges) {
        if let Some(means) = bin.means {
            let (c, n) = (means.confidence, bin.count as f64);
            low.add(n * (c - range.high).max(range.low - c).max(0.0));
            high.add(n * (c - range.low).max(range.high - c));
        }
    }
    let n = reliability.count() as f64;
    Ok(Estimate {
        value: reliability.ece()?,
        interval: Some((low.to_f64() / n, high.to_f64() / n)),
    })
}

fn log_loss(losses: &[f64], impossible: u64) -> Estimate {
    if impossible > 0 {
        return Estimate {
            value: f64::INFINITY,
            interval: None,
        };
    }
    let value = mean(losses);
    let squares: Vec<f64> = losses.iter().map(|l| (l - value) * (l - value)).collect();
    let n = losses.len() as f64;
    let interval = (losses.len() > 1).then(|| {
        let error = libm::sqrt(mean(&squares) * n / (n - 1.0) / n);
        (
            (value - NORMAL_975 * error).max(0.0),
            value + NORMAL_975 * error,
        )
    });
    Estimate { value, interval }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simplex::Distribution;

    fn row(p: &[f64], label: usize) -> (Calibrated, usize) {
        let distribution = Distribution::new(p.to_vec()).unwrap();
        let class = distribution.argmax();
        let confidence = *distribution.confidence();
        let calibrated = Calibrated {
            distribution,
            class,
            confidence,
        };
        (calibrated, label)
    }

    #[test]
    fn by_hand() {
        let rows = [
            row(&[0.75, 0.25], 0),
            row(&[0.75, 0.25], 0),
            row(&[0.75, 0.25], 0),
            row(&[0.25, 0.75], 0),
        ];
        let scores = Scores::of(&rows).unwrap();
        assert_eq!(scores.accuracy.value, 0.75);
        assert_eq!(scores.ece.value, 0.0);
        // Three times 2·(1/4)², once 2·(3/4)²: 3/8 + 9/8 over 4.
        assert_eq!(scores.brier.value, 0.375);
        let want = (3.0 * -ln(0.75) - ln(0.25)) / 4.0;
        assert!((scores.log_loss.value - want).abs() < 1e-15);
        for estimate in [scores.accuracy, scores.ece, scores.brier, scores.log_loss] {
            let (low, high) = estimate.interval.unwrap();
            assert!(
                low <= estimate.value && estimate.value <= high,
                "{scores:?}"
            );
        }
        // One bin at level 0.05/15: the largest distance of 0.75 within its own interval.
        let (low, high) = clopper_pearson(3, 4, DELTA / 15.0).unwrap();
        let (_, top) = scores.ece.interval.unwrap();
        assert!((top - (0.75 - low).max(high - 0.75)).abs() < 1e-12);
    }

    #[test]
    fn an_impossible_truth_is_counted_and_one_row_has_no_spread() {
        let scores = Scores::of(&[row(&[1.0, 0.0], 1)]).unwrap();
        assert_eq!(scores.impossible, 1);
        assert_eq!(scores.log_loss.shown(), "infinite");
        assert_eq!((scores.brier.value, scores.brier.interval), (2.0, None));
        assert!(Scores::of(&[]).is_err());
    }
}
