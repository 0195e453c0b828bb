//! What becomes of a product without each of its factors, for eight factors at a time.
//!
//! The score of a class without a factor is `S − t`, with `S` the exact sum of all terms and `t` that of the
//! factor, rounded once. Here `S` is two doubles and the difference is worked out with all that its roundings
//! take away, so that either one last rounding gives the nearest double, or it is seen that it may not.
//! So with the distance to the answer of all factors. What stands between them, maximum, exponentials and
//! the sum from the smallest to the largest, takes the same steps as [`softmax`]. Factors for which not all
//! is certain, and pools that are not of the ordinary kind, are left to [`LogPool::distribution_without`]:
//! the bits are the same, as the tests hold.

use std::array::from_fn;

use pulp::{Arch, Simd, WithSimd};

use super::LogPool;
use crate::math::lanes::{LANES, Lanes, add_certainly, exp_lanes, ln_lanes, sum_of_three};
use crate::simplex::{Distribution, PoolError, l1_distance};

/// Up to so many classes are worked on in vectors; the sum over more is another one.
const MOST_CLASSES: usize = 8;

impl LogPool {
    /// Per factor, all of them added before with these weights, the L1 distance from `all`, the
    /// distribution of the pool, to that of the pool without the factor; `None` where that has no class
    /// left. To the bit what [`LogPool::distribution_without`] and [`l1_distance`] give.
    ///
    /// # Errors
    /// Those of [`LogPool::distribution_without`].
    pub(crate) fn distances_without(
        &self,
        all: &Distribution,
        factors: &[Distribution],
        weights: &[f64],
        distances: &mut [Option<f64>],
    ) -> Result<(), PoolError> {
        let plain = self.as_plain(all);
        let groups = factors.chunks(LANES).zip(weights.chunks(LANES));
        for ((factors, weights), distances) in groups.zip(distances.chunks_mut(LANES)) {
            let certain = match &plain {
                Some(plain) => Arch::new().dispatch(Distances {
                    plain,
                    factors,
                    weights,
                }),
                None => [None; LANES],
            };
            let items = factors.iter().zip(weights).zip(distances).zip(certain);
            for (((factor, &weight), distance), certain) in items {
                *distance = match certain {
                    Some(_) => certain,
                    None => {
                        let rest = self.distribution_without(factor, weight)?;
                        rest.and_then(|rest| l1_distance(all, &rest))
                    }
                };
            }
        }
        Ok(())
    }

    /// This pool, if it is of the ordinary kind.
    fn as_plain<'a>(&self, all: &'a Distribution) -> Option<Plain<'a>> {
        let classes = self.classes.len();
        if classes > MOST_CLASSES || classes != all.classes() || self.with_prior || self.count < 2 {
            return None;
        }
        let mut scores = [(0.0, 0.0); MOST_CLASSES];
        for (score, class) in scores.iter_mut().zip(&self.classes) {
            *score = class.sum.as_two().filter(|_| class.excluded_by == 0)?;
        }
        Some(Plain {
            scores,
            all: all.probabilities(),
        })
    }
}

/// A pool without a prior in which every class is possible and every sum is two doubles.
struct Plain<'a> {
    scores: [(f64, f64); MOST_CLASSES],
    all: &'a [f64],
}

/// Up to eight factors to be taken out, each by itself.
struct Distances<'a> {
    plain: &'a Plain<'a>,
    factors: &'a [Distribution],
    weights: &'a [f64],
}

impl WithSimd for Distances<'_> {
    type Output = [Option<f64>; LANES];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [Option<f64>; LANES] {
        let Distances {
            plain,
            factors,
            weights,
        } = self;
        // Known numbers of classes keep everything in registers.
        match plain.all.len() {
            2 => plain.distances::<2>(factors, weights),
            3 => plain.distances::<3>(factors, weights),
            4 => plain.distances::<4>(factors, weights),
            _ => plain.distances::<MOST_CLASSES>(factors, weights),
        }
    }
}

impl Plain<'_> {
    /// The distances for up to eight factors; none for those of which not all is certain.
    #[inline(always)]
    fn distances<const MOST: usize>(
        &self,
        factors: &[Distribution],
        weights: &[f64],
    ) -> [Option<f64>; LANES] {
        let classes = if MOST < MOST_CLASSES {
            MOST
        } else {
            self.all.len().min(MOST)
        };
        // Lanes without a factor take one out that says nothing; their distances are not asked for.
        let mut certain = [true; LANES];
        let mut powers = [0.0; LANES];
        let mut values = [[1.0; LANES]; MOST];
        for (lane, (factor, &weight)) in factors.iter().zip(weights).enumerate() {
            powers[lane] = weight;
            let p = factor.probabilities();
            certain[lane] = p.len() == classes && weight > 0.0 && weight <= super::LARGEST_WEIGHT;
            for (values, &p) in values.iter_mut().zip(p) {
                values[lane] = p;
            }
        }
        let values = &mut values[..classes];
        for (values, &(high, low)) in values.iter_mut().zip(&self.scores) {
            ln_lanes(values);
            for lane in 0..LANES {
                let term = powers[lane] * values[lane];
                let (score, sure) = sum_of_three(high, -term, low);
                values[lane] = score;
                // Not where a probability of zero has made a term infinite.
                certain[lane] &= sure;
            }
        }
        softmax_lanes::<MOST>(values);
        let mut sum = [0.0; LANES];
        let mut lost = [0.0; LANES];
        for (values, all) in values.iter().zip(self.all) {
            for lane in 0..LANES {
                let distance = (all - values[lane]).abs();
                certain[lane] &= add_certainly(&mut sum[lane], &mut lost[lane], distance);
            }
        }
        from_fn(|lane| certain[lane].then_some(sum[lane] + lost[lane]))
    }
}

/// [`softmax`](crate::simplex::softmax) of finite numbers, in each lane for itself.
#[inline(always)]
fn softmax_lanes<const MOST: usize>(values: &mut [Lanes]) {
    let mut largest = [f64::NEG_INFINITY; LANES];
    for values in values.iter() {
        for (largest, &value) in largest.iter_mut().zip(values) {
            *largest = if value > *largest { value } else { *largest };
        }
    }
    let mut sorted = [[0.0; LANES]; MOST];
    for (values, sorted) in values.iter_mut().zip(&mut sorted) {
        for (value, largest) in values.iter_mut().zip(largest) {
            *value -= largest;
        }
        exp_lanes(values);
        *sorted = *values;
    }
    let sorted = &mut sorted[..values.len()];
    for last in (1..sorted.len()).rev() {
        for at in 0..last {
            let (lower, upper) = sorted.split_at_mut(at + 1);
            for (a, b) in lower[at].iter_mut().zip(&mut upper[0]) {
                (*a, *b) = if b < a { (*b, *a) } else { (*a, *b) };
            }
        }
    }
    let mut total = [0.0; LANES];
    for sorted in sorted {
        for (total, value) in total.iter_mut().zip(sorted) {
            *total += *value;
        }
    }
    for values in values {
        for (value, total) in values.iter_mut().zip(total) {
            *value = *value / total + 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::ExactSum;
    use proptest::prelude::*;

    /// Of any kind, with zeros, ties, and terms within and outside the band of the sums.
    fn evidence() -> impl Strategy<Value = (Vec<Distribution>, Vec<f64>)> {
        (1usize..11, 1usize..30, 0u32..4).prop_flat_map(|(classes, items, kind)| {
            let entry = match kind {
                0 => (1e-3f64..1.0).boxed(),
                1 => (1u32..9).prop_map(f64::from).boxed(),
                2 => (-300f64..0.0).prop_map(libm::exp10).boxed(),
                _ => prop_oneof![Just(0.0), 1e-9f64..1.0, Just(0.25)].boxed(),
            };
            let factor = prop::collection::vec(entry, classes)
                .prop_filter_map("no mass", |p| Distribution::from_weights(p).ok());
            let weight = match kind {
                0 => (0.0f64..1.0).boxed(),
                1 => Just(1.0).boxed(),
                _ => prop_oneof![Just(0.0), 1e-12f64..1e-6, 0.0f64..2.0, 1.0f64..1e6].boxed(),
            };
            (
                prop::collection::vec(factor, items),
                prop::collection::vec(weight, items),
            )
        })
    }

    fn one_by_one(
        pool: &LogPool,
        all: &Distribution,
        factors: &[Distribution],
        weights: &[f64],
    ) -> Vec<Option<u64>> {
        let items = factors.iter().zip(weights);
        let rests = items.map(|(factor, &weight)| pool.distribution_without(factor, weight));
        let distances = rests.map(|rest| rest.unwrap().and_then(|rest| l1_distance(all, &rest)));
        distances
            .map(|distance| distance.map(f64::to_bits))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn eight_at_a_time_have_the_bits_of_one_by_one((factors, weights) in evidence()) {
            let mut pool = LogPool::new(factors[0].classes());
            pool.add_all(&factors, &weights).unwrap();
            if let (Some(all), true) = (pool.distribution().unwrap(), factors.len() > 1) {
                let mut got = vec![None; factors.len()];
                pool.distances_without(&all, &factors, &weights, &mut got).unwrap();
                let got: Vec<Option<u64>> = got.iter().map(|d| d.map(f64::to_bits)).collect();
                prop_assert_eq!(got, one_by_one(&pool, &all, &factors, &weights));
            }
        }

        /// The oracle is every factor added by itself: no block, no vector.
        #[test]
        fn blocks_have_the_bits_of_one_by_one((factors, weights) in evidence()) {
            let classes = factors[0].classes();
            let (mut blocks, mut single) = (LogPool::new(classes), LogPool::new(classes));
            blocks.add_all(&factors, &weights).unwrap();
            for (factor, &weight) in factors.iter().zip(&weights) {
                single.add(factor, weight).unwrap();
            }
            let bits = |pool: &LogPool| -> Vec<u64> { pool.scores().iter().map(|s| s.to_bits()).collect() };
            prop_assert_eq!(bits(&blocks), bits(&single));
            prop_assert_eq!(blocks.relative_error().to_bits(), single.relative_error().to_bits());
        }
    }

    /// Nearly all of ordinary evidence is certain: what is left to the other way costs nothing.
    #[test]
    fn ordinary_evidence_is_certain_and_exact() {
        let entry = |i: usize, y: usize| 0.01 + ((i * 7 + y * 13) % 101) as f64;
        let factors: Vec<Distribution> = (0..1000)
            .map(|i| Distribution::from_weights((0..3).map(|y| entry(i, y)).collect()).unwrap())
            .collect();
        let weights: Vec<f64> = (0..1000).map(|i| 0.1 + (i % 17) as f64 / 17.0).collect();
        let mut pool = LogPool::new(3);
        pool.add_all(&factors, &weights).unwrap();
        let all = pool.distribution().unwrap().unwrap();
        let plain = pool.as_plain(&all).unwrap();
        let groups = factors.chunks(LANES).zip(weights.chunks(LANES));
        let certain: usize = groups
            .map(|(f, w)| {
                plain
                    .distances::<MOST_CLASSES>(f, w)
                    .iter()
                    .flatten()
                    .count()
            })
            .sum();
        assert!(certain >= 990, "{certain}");
        // What is certain is the exact sum rounded once: a sum from left to right is another number.
        let rest = pool
            .distribution_without(&factors[5], weights[5])
            .unwrap()
            .unwrap();
        let terms = all.probabilities().iter().zip(rest.probabilities());
        let exact: ExactSum = terms.map(|(a, b)| (a - b).abs()).collect();
        assert_eq!(
            plain.distances::<3>(&factors[..8], &weights[..8])[5],
            Some(exact.to_f64())
        );
    }
}
