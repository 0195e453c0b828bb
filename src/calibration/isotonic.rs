//! Isotonic regression of "was it right?" on confidence, in integers.
//!
//! Among all functions that never fall, the one with the least squared error on the given pairs
//! (Ayer et al. 1955), found by pooling adjacent violators: neighbouring groups of confidences
//! whose hit rates fall are united until none do. Rates are compared as fractions of integers, so
//! the result is exact, and equal confidences are one group from the start, so the order of the
//! pairs does not matter.

use serde::{Deserialize, Serialize};

use super::MapError;
use super::histogram::smoothed;

/// Blocks that a map may have: those of about 16 million pairs in the worst case, since `k` blocks
/// need `k` different rates, and there are few fractions with small denominators.
pub const MAX_BLOCKS: usize = 1 << 16;

/// A stretch of confidences that share one hit rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Smallest confidence seen in it.
    pub from: f64,
    /// Largest confidence seen in it.
    pub to: f64,
    /// How many of its predictions were right.
    pub hits: u64,
    /// How many predictions it holds.
    pub points: u64,
}

impl Block {
    fn rate(&self) -> f64 {
        self.hits as f64 / self.points as f64
    }

    /// Whether this rate is below `next`'s, exactly.
    fn rises_to(&self, next: &Block) -> bool {
        u128::from(self.hits) * u128::from(next.points)
            < u128::from(next.hits) * u128::from(self.points)
    }
}

/// A function of confidence that never falls: constant on each block, straight in between, and
/// constant beyond the first and the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Block>", into = "Vec<Block>")]
pub struct IsotonicMap {
    blocks: Vec<Block>,
    /// All points, of all blocks.
    points: u64,
}

impl TryFrom<Vec<Block>> for IsotonicMap {
    type Error = MapError;

    /// Takes blocks as they are, if they can come from [`IsotonicMap::fit`].
    fn try_from(blocks: Vec<Block>) -> Result<Self, MapError> {
        if blocks.is_empty() || blocks.len() > MAX_BLOCKS {
            return Err(MapError::Blocks {
                blocks: blocks.len(),
            });
        }
        let mut points = 0u64;
        for (index, block) in blocks.iter().enumerate() {
            let after = index.checked_sub(1).and_then(|i| blocks.get(i));
            let in_order = after.is_none_or(|b| b.to < block.from && b.rises_to(block));
            let sound = 0.0 <= block.from && block.from <= block.to && block.to <= 1.0;
            if !(sound && in_order && block.points > 0 && block.hits <= block.points) {
                return Err(MapError::Block { index });
            }
            let sum = points.checked_add(block.points);
            points = sum.ok_or(MapError::Block { index })?;
        }
        Ok(IsotonicMap { blocks, points })
    }
}

impl From<IsotonicMap> for Vec<Block> {
    fn from(map: IsotonicMap) -> Self {
        map.blocks
    }
}

impl IsotonicMap {
    /// The best function that never falls for pairs of a confidence in `[0, 1]` and whether it was
    /// right.
    ///
    /// # Errors
    /// [`MapError::Empty`], [`MapError::Confidence`], [`MapError::Blocks`].
    pub fn fit(pairs: &[(f64, bool)]) -> Result<Self, MapError> {
        if let Some(index) = pairs.iter().position(|(c, _)| !(0.0..=1.0).contains(c)) {
            let value = pairs.get(index).map_or(f64::NAN, |pair| pair.0);
            return Err(MapError::Confidence { value });
        }
        if pairs.is_empty() {
            return Err(MapError::Empty);
        }
        let mut sorted = pairs.to_vec();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let groups = sorted.chunk_by(|a, b| a.0 == b.0).map(|group| {
            let confidence = group.first().map_or(f64::NAN, |pair| pair.0);
            let hits = group.iter().filter(|(_, right)| *right).count();
            (confidence, confidence, hits as u64, group.len() as u64)
        });
        IsotonicMap::pooled(groups)
    }

    /// The best function that never falls and is constant on groups of neighbouring confidences: the
    /// smallest and the largest of each, its hits and its points.
    pub(super) fn pooled(
        groups: impl IntoIterator<Item = (f64, f64, u64, u64)>,
    ) -> Result<Self, MapError> {
        let mut blocks: Vec<Block> = Vec::new();
        for (from, to, hits, points) in groups {
            let mut block = Block {
                from,
                to,
                hits,
                points,
            };
            while let Some(before) = blocks.pop_if(|before| !before.rises_to(&block)) {
                block.from = before.from;
                block.hits += before.hits;
                block.points += before.points;
            }
            blocks.push(block);
        }
        IsotonicMap::try_from(blocks)
    }

    /// The stretches of equal rate, in order of confidence.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The hit rate to expect at a confidence; `None` for one outside `[0, 1]`.
    ///
    /// Of `n` points in all, rates below `½/(n + 1)` are answered as that, and rates above
    /// `(n + ½)/(n + 1)` as that: a block of rate 0 or 1 does not show that something cannot happen.
    /// Every rate that is neither lies between the two, so that the function still never falls.
    pub fn rate(&self, confidence: f64) -> Option<f64> {
        if !(0.0..=1.0).contains(&confidence) {
            return None;
        }
        // The first block that does not end below the confidence.
        let at = self.blocks.partition_point(|b| b.to < confidence);
        let before = at.checked_sub(1).and_then(|i| self.blocks.get(i));
        let rate = match (before, self.blocks.get(at)) {
            (Some(a), Some(b)) if confidence < b.from => {
                let share = (confidence - a.to) / (b.from - a.to);
                a.rate() + (b.rate() - a.rate()) * share
            }
            (_, Some(b)) => b.rate(),
            (Some(a), None) => a.rate(),
            (None, None) => return None,
        };
        Some(rate.clamp(smoothed(0, self.points), smoothed(self.points, self.points)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fit(pairs: &[(f64, u8)]) -> IsotonicMap {
        let pairs: Vec<_> = pairs.iter().map(|&(c, y)| (c, y == 1)).collect();
        IsotonicMap::fit(&pairs).unwrap()
    }

    #[test]
    fn by_hand() {
        // 0.2 → 1 of 1 and 0.4 → 0 of 1 fall: pooled, 1 of 2; 0.8 → 1 of 1 rises.
        let map = fit(&[(0.8, 1), (0.2, 1), (0.4, 0)]);
        let block = |from, to, hits, points| Block {
            from,
            to,
            hits,
            points,
        };
        assert_eq!(map.blocks(), [block(0.2, 0.4, 1, 2), block(0.8, 0.8, 1, 1)]);
        for (at, rate) in [
            (0.0, 0.5),
            (0.3, 0.5),
            (0.6, 0.75),
            (0.8, 0.875),
            (1.0, 0.875),
        ] {
            assert!((map.rate(at).unwrap() - rate).abs() <= f64::EPSILON, "{at}");
        }
        assert_eq!((map.rate(f64::NAN), map.rate(1.5)), (None, None));
    }

    #[test]
    fn one_confidence_is_one_block() {
        let map = fit(&[(0.9, 1), (0.9, 0), (0.9, 1)]);
        assert_eq!(map.blocks().len(), 1);
        assert_eq!(map.rate(0.1), Some(2.0 / 3.0));
        assert_eq!(IsotonicMap::fit(&[]), Err(MapError::Empty));
    }

    /// Max-min formula (Robertson, Wright and Dykstra 1988, theorem 1.4.4): the fitted value at i
    /// is the largest over a ≤ i of the smallest over b ≥ i of the mean of a..=b.
    fn max_min(groups: &[(u64, u64)], i: usize) -> f64 {
        let mean = |a: usize, b: usize| {
            let (h, n) = groups[a..=b]
                .iter()
                .fold((0, 0), |(h, n), g| (h + g.0, n + g.1));
            h as f64 / n as f64
        };
        let least = |a| (i..groups.len()).map(|b| mean(a, b)).fold(2.0, f64::min);
        (0..=i).map(least).fold(-1.0, f64::max)
    }

    proptest! {
        #[test]
        fn equals_the_max_min_formula_in_any_order(
            cells in prop::collection::vec((0u32..12, any::<bool>()), 1..60), turn in 0usize..60
        ) {
            let mut pairs: Vec<(f64, bool)> =
                cells.iter().map(|&(c, y)| (f64::from(c) / 11.0, y)).collect();
            let map = IsotonicMap::fit(&pairs).unwrap();
            let mut groups: Vec<(u64, u64)> = Vec::new();
            let mut at: Vec<f64> = Vec::new();
            for c in 0..12u32 {
                let here: Vec<_> = cells.iter().filter(|cell| cell.0 == c).collect();
                if !here.is_empty() {
                    groups.push((here.iter().filter(|cell| cell.1).count() as u64, here.len() as u64));
                    at.push(f64::from(c) / 11.0);
                }
            }
            for (i, &confidence) in at.iter().enumerate() {
                // Rates of 0 and 1 are kept off them by what all points could show.
                let n = cells.len() as f64;
                let rate = max_min(&groups, i).clamp(0.5 / (n + 1.0), (n + 0.5) / (n + 1.0));
                prop_assert_eq!(map.rate(confidence), Some(rate));
            }
            let turn = turn % pairs.len();
            pairs.rotate_left(turn);
            prop_assert_eq!(IsotonicMap::fit(&pairs).unwrap(), map.clone());
            prop_assert_eq!(IsotonicMap::try_from(Vec::from(map.clone())), Ok(map));
        }
    }

    #[test]
    fn blocks_that_no_fit_gives_are_refused() {
        let good = Block {
            from: 0.5,
            to: 0.6,
            hits: 1,
            points: 2,
        };
        let later = |from: f64, hits: u64| Block {
            from,
            to: 0.9,
            hits,
            points: 2,
        };
        assert!(IsotonicMap::try_from(vec![good, later(0.8, 2)]).is_ok());
        for bad in [
            vec![],
            vec![Block { points: 0, ..good }],
            vec![Block { hits: 3, ..good }],
            vec![Block { to: 0.4, ..good }],
            vec![Block { to: 1.5, ..good }],
            vec![Block {
                from: f64::NAN,
                ..good
            }],
            vec![good, later(0.6, 2)],
            vec![good, later(0.8, 1)],
            vec![good; MAX_BLOCKS + 1],
        ] {
            assert!(IsotonicMap::try_from(bad).is_err());
        }
    }
}
