//! Hit rates in bins of equal width.

use serde::{Deserialize, Serialize};

use super::MapError;
use super::bins::{MAX_BINS, bin_index};

/// Hits and points in bins of equal width; see [`bin_index`] for the side of an edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub struct HistogramMap {
    counts: Vec<(u64, u64)>,
    /// All points, of all bins.
    points: u64,
}

impl TryFrom<Vec<(u64, u64)>> for HistogramMap {
    type Error = MapError;
    fn try_from(counts: Vec<(u64, u64)>) -> Result<Self, MapError> {
        if counts.is_empty() || counts.len() > MAX_BINS {
            return Err(MapError::Bins { bins: counts.len() });
        }
        let mut points = 0u64;
        for (index, &(hits, of)) in counts.iter().enumerate() {
            points = match points.checked_add(of) {
                Some(sum) if hits <= of => sum,
                _ => return Err(MapError::Block { index }),
            };
        }
        Ok(HistogramMap { counts, points })
    }
}

impl From<HistogramMap> for Vec<(u64, u64)> {
    fn from(map: HistogramMap) -> Self {
        map.counts
    }
}

impl HistogramMap {
    pub(super) fn fit(pairs: &[(f64, bool)], bins: usize) -> Result<Self, MapError> {
        let mut counts = HistogramMap::empty(bins)?;
        for &(value, right) in pairs {
            HistogramMap::count(&mut counts, value, right)?;
        }
        HistogramMap::try_from(counts)
    }

    /// Bins without points.
    pub(super) fn empty(bins: usize) -> Result<Vec<(u64, u64)>, MapError> {
        Ok(HistogramMap::try_from(vec![(0, 0); bins])?.counts)
    }

    /// Counts a confidence, and whether it was right.
    pub(super) fn count(
        counts: &mut [(u64, u64)],
        value: f64,
        right: bool,
    ) -> Result<(), MapError> {
        let bin = bin_index(value, counts.len()).and_then(|bin| counts.get_mut(bin));
        let (hits, points) = bin.ok_or(MapError::Confidence { value })?;
        *hits += u64::from(right);
        *points += 1;
        Ok(())
    }

    /// `(hits, points)` of each bin, as `bounds::binned_ranges` takes them.
    pub fn counts(&self) -> &[(u64, u64)] {
        &self.counts
    }

    /// What the map answers in a bin: `(hits + ½)/(points + 1)` (Krichevsky and Trofimov 1981),
    /// which is never 0 or 1, as no number of rows shows that something cannot happen. `None` where
    /// the bin has no points: nothing is known about it.
    pub fn answer(&self, bin: usize) -> Option<f64> {
        let &(hits, points) = self.counts.get(bin)?;
        (points > 0).then(|| smoothed(hits, points))
    }

    /// The answer of the bin of a confidence. Where the bin has no points it is the confidence
    /// itself, which the guarantee does not cover, kept off 0 and 1 by what all rows together could
    /// show.
    pub(super) fn rate(&self, confidence: f64) -> Option<f64> {
        let bin = bin_index(confidence, self.counts.len())?;
        let kept =
            || confidence.clamp(smoothed(0, self.points), smoothed(self.points, self.points));
        Some(self.answer(bin).unwrap_or_else(kept))
    }
}

/// `(hits + ½)/(points + 1)`: below one for every count that a file can hold.
pub(super) fn smoothed(hits: u64, points: u64) -> f64 {
    // Beyond 2^50 points the quotient of doubles could round to one.
    let most = 1.0 - libm::scalbn(1.0, -52);
    ((hits as f64 + 0.5) / (points as f64 + 1.0)).min(most)
}
