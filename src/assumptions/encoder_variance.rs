//! A2: the covariances of the encoder's posteriors are bounded, `E‖Σᵢ‖_F ≤ σ_max < ∞`.
//!
//! Any finite sample has a finite mean, so "bounded" can only be held against a stated limit. Two
//! things are: the mean, with a standard error over entities, and the share of entities with an
//! item above the limit.

use serde::{Deserialize, Serialize};

use super::items::check_offsets;
use super::{AssumptionError, Share};
use crate::bounds::{GroupSums, positive};
use crate::math::{DoubleDouble, ExactSum};

/// The 97.5th percentile of the standard normal distribution: two-sided 95 in a hundred.
/// (mpmath 1.3.0: `sqrt(2)*erfinv(0.95)`.)
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// The norms `‖Σᵢ‖_F` of an encoder on some items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncoderVariance {
    /// Number of items.
    pub items: usize,
    /// Number of entities.
    pub entities: usize,
    /// The mean norm over items.
    pub mean: f64,
    /// Its standard error, `√(n/(n−1)·Σ_e (S_e − K_e·mean)²)/N` over `n` entities with `K_e` items
    /// of total norm `S_e`, `N` items in all; `None` for fewer than two entities.
    pub standard_error: Option<f64>,
    /// The largest norm.
    pub most: f64,
    /// The limit `σ_max`.
    pub limit: f64,
    /// Entities with an item above the limit.
    pub above: Share,
}

impl EncoderVariance {
    /// The mean plus and minus 1.96 standard errors: covers the expected norm in 95 of 100 samples
    /// when there are many entities.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let reach = NORMAL_95 * self.standard_error?;
        Some((self.mean - reach, self.mean + reach))
    }

    /// Whether the mean is above the limit by more than its interval allows.
    pub fn contradicted(&self) -> bool {
        self.interval().is_some_and(|(low, _)| low > self.limit)
    }

    /// The finding as a sentence.
    pub fn sentence(&self) -> String {
        let EncoderVariance {
            items,
            mean,
            most,
            limit,
            above,
            ..
        } = self;
        let side = match self.interval() {
            Some((low, _)) if low > *limit => "is above",
            Some((_, high)) if high <= *limit => "is below",
            _ => "cannot be told from",
        };
        format!(
            "The mean norm of {items} covariances is {mean:.3} (largest {most:.3}), which {side} \
             the limit {limit}; {above} have an item above it."
        )
    }
}

/// Exact sums from which the mean norm and its standard error follow: entities may come in any order
/// and in any shards.
///
/// With `K_e` items of total norm `S_e` in entity `e`: `Σ K_e`, `Σ S_e`, `Σ S_e²`, `Σ S_e·K_e` and
/// `Σ K_e²` suffice, as `Σ (S_e − K_e·m)² = Σ S_e² − 2m·Σ S_e·K_e + m²·Σ K_e²`. Products enter with
/// both of their halves, so the difference is lost to rounding only where the spread is below
/// `2⁻⁵⁰` of the mean. Norms whose squares exceed the largest double leave no standard error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NormSums {
    entities: u64,
    items: u64,
    total: ExactSum,
    squares: ExactSum,
    cross: ExactSum,
    counts: ExactSum,
}

/// Adds `a·b` exactly; an infinity where it overflows.
fn add_product(sum: &mut ExactSum, a: f64, b: f64) {
    let product = DoubleDouble::product(a, b);
    sum.add(product.high);
    if product.low.is_finite() {
        sum.add(product.low);
    }
}

impl NormSums {
    /// Adds an entity with these norms, which must not be negative. One without items changes
    /// nothing but the number of entities.
    pub fn add(&mut self, norms: impl IntoIterator<Item = f64>) {
        let (mut own, mut count) = (ExactSum::new(), 0u64);
        for norm in norms {
            own.add(norm);
            count += 1;
        }
        let (sum, k) = (own.to_f64(), count as f64);
        self.entities += 1;
        self.items += count;
        self.total.merge(&own);
        add_product(&mut self.squares, sum, sum);
        add_product(&mut self.cross, sum, k);
        add_product(&mut self.counts, k, k);
    }

    /// Adds everything that `other` holds; `None` where a count overflows.
    pub fn merge(&mut self, other: &NormSums) -> Option<()> {
        self.entities = self.entities.checked_add(other.entities)?;
        self.items = self.items.checked_add(other.items)?;
        for (a, b) in [
            (&mut self.total, &other.total),
            (&mut self.squares, &other.squares),
            (&mut self.cross, &other.cross),
            (&mut self.counts, &other.counts),
        ] {
            a.merge(b);
        }
        Some(())
    }

    /// Number of entities.
    pub fn entities(&self) -> u64 {
        self.entities
    }

    /// Number of items.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The sums over entities, none of which has more than `most` items.
    pub(crate) fn group_sums(&self, most: u64) -> GroupSums {
        GroupSums {
            groups: self.entities as f64,
            count: self.items as f64,
            largest: most as f64,
            count_squares: self.counts.to_f64(),
            sum: self.total.to_f64(),
            squares: self.squares.to_f64(),
            cross: self.cross.to_f64(),
        }
    }

    /// The mean norm over items; `None` without items.
    pub fn mean(&self) -> Option<f64> {
        (self.items > 0).then(|| self.total.to_f64() / self.items as f64)
    }

    /// The standard error of the mean, as in [`EncoderVariance::standard_error`]; also `None` where
    /// it exceeds the largest double.
    pub fn standard_error(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.entities >= 2)?;
        let mut squares = self.squares.clone();
        let cross = DoubleDouble::of_sum(&self.cross);
        add_product(&mut squares, -2.0 * mean, cross.high);
        squares.add(-2.0 * mean * cross.low);
        let (counts, square) = (
            DoubleDouble::of_sum(&self.counts),
            DoubleDouble::product(mean, mean),
        );
        add_product(&mut squares, square.high, counts.high);
        squares.add(square.low * counts.high);
        squares.add(square.high * counts.low);
        let squares = squares.to_f64();
        if !squares.is_finite() {
            return None;
        }
        let n = self.entities as f64;
        // A sum of squares; below zero only by the rounding of the terms above.
        let variance = n / (n - 1.0) * squares.max(0.0);
        Some(libm::sqrt(variance) / self.items as f64)
    }
}

/// Checks A2 on the Frobenius norms of the items' covariances, grouped by entity, against
/// `limit = σ_max`; `level` is the failure probability of the share's interval.
///
/// # Errors
/// [`AssumptionError::NoItems`], [`AssumptionError::Offsets`], [`AssumptionError::Norm`];
/// [`AssumptionError::Parameter`] for a limit that is not finite and positive or a level outside
/// `(0, 1)`.
pub fn encoder_variance(
    norms: &[f64],
    offsets: &[usize],
    limit: f64,
    level: f64,
) -> Result<EncoderVariance, AssumptionError> {
    check_offsets(offsets, norms.len())?;
    if norms.is_empty() {
        return Err(AssumptionError::NoItems);
    }
    let valid = |x: f64| x >= 0.0 && x.is_finite();
    if let Some(item) = norms.iter().position(|&x| !valid(x)) {
        let value = norms[item];
        return Err(AssumptionError::Norm { item, value });
    }
    positive("sigma_max", limit)?;
    let entities = || offsets.windows(2).map(|w| &norms[w[0]..w[1]]);
    let most = norms.iter().copied().fold(0.0, f64::max);
    // Norms near the ends of the range of doubles: a power of two brings the largest near one, so
    // that neither sums nor squares overflow.
    let exponent = if most > 0.0 { libm::ilogb(most) } else { 0 };
    let scaled = |norm: &f64| libm::scalbn(*norm, -exponent);
    let mut sums = NormSums::default();
    for entity in entities() {
        sums.add(entity.iter().map(scaled));
    }
    let mean = sums.mean().ok_or(AssumptionError::NoItems)?;
    let standard_error = sums.standard_error();
    let count = offsets.len() - 1;
    let above = entities().filter(|e| e.iter().any(|&x| x > limit)).count();
    Ok(EncoderVariance {
        items: norms.len(),
        entities: count,
        mean: libm::scalbn(mean, exponent),
        standard_error: standard_error.map(|s| libm::scalbn(s, exponent)),
        most,
        limit,
        above: Share::new(above, count, level)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;
    use num_traits::ToPrimitive;
    use proptest::prelude::*;

    #[test]
    fn mean_and_clustered_error_by_hand() {
        // Entities (1, 3) and (2, 2, 7): mean 15/5 = 3; deviations 4 − 6 = −2 and 11 − 9 = 2;
        // √(2/1·(4 + 4))/5 = 4/5.
        let found = encoder_variance(&[1.0, 3.0, 2.0, 2.0, 7.0], &[0, 2, 5], 6.5, 0.05).unwrap();
        assert_eq!((found.mean, found.most), (3.0, 7.0));
        assert_eq!(found.standard_error, Some(0.8));
        assert_eq!((found.above.count, found.above.of), (1, 2));
        assert!(!found.contradicted());
        assert!(found.sentence().contains("is below"));
        let far = encoder_variance(&[1.0, 3.0, 2.0, 2.0, 7.0], &[0, 2, 5], 1.0, 0.05).unwrap();
        assert!(far.contradicted() && far.sentence().contains("is above"));
        let near = encoder_variance(&[1.0, 3.0, 2.0, 2.0, 7.0], &[0, 2, 5], 3.0, 0.05).unwrap();
        assert!(near.sentence().contains("cannot be told"));
        // Negative control: copies taken for entities of their own have too small an error.
        let copies = [1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0];
        let clustered = encoder_variance(&copies, &[0, 4, 8], 9.0, 0.05).unwrap();
        let single: Vec<usize> = (0..=8).collect();
        let apart = encoder_variance(&copies, &single, 9.0, 0.05).unwrap();
        // √(2·(16 + 16))/8 = 1 against √(8/7·8)/8 = 1/√7.
        assert_eq!(clustered.standard_error, Some(1.0));
        assert!((apart.standard_error.unwrap() - 1.0 / 7f64.sqrt()).abs() < 1e-15);
    }

    proptest! {
        /// The formula word for word in exact arithmetic, on sums that were merged from shards.
        #[test]
        fn sums_of_shards_give_the_exact_standard_error(
            entities in prop::collection::vec(prop::collection::vec(0.0f64..9.0, 0..6), 2..9),
            near in any::<bool>(),
        ) {
            // Half of the cases: norms that differ in their last digits only.
            let norm = |x: f64| if near { 5.0 + x * 1e-12 } else { x };
            let entities: Vec<Vec<f64>> =
                entities.iter().map(|e| e.iter().map(|x| norm(*x)).collect()).collect();
            let items: usize = entities.iter().map(Vec::len).sum();
            prop_assume!(items > 0);
            let mut parts = [NormSums::default(), NormSums::default()];
            for (i, entity) in entities.iter().enumerate() {
                parts[i % 2].add(entity.iter().copied());
            }
            let [mut sums, other] = parts;
            sums.merge(&other).unwrap();
            let exact = |x: f64| BigRational::from_float(x).unwrap();
            let mean = sums.mean().unwrap();
            let (mut squares, mut size) = (exact(0.0), 0.0);
            for entity in &entities {
                // An entity's total enters rounded to a double.
                let total = entity.iter().copied().collect::<ExactSum>().to_f64();
                let off = exact(total) - exact(entity.len() as f64) * exact(mean);
                squares += &off * &off;
                size += (total + entity.len() as f64 * mean).powi(2);
            }
            let n = entities.len() as f64;
            let want = (squares.to_f64().unwrap() * n / (n - 1.0)).sqrt() / items as f64;
            let got = sums.standard_error().unwrap();
            // Four roundings on either side; and terms that are known to 105 bits, where the root
            // of a difference is off by no more than the root of its error. (With squares that are
            // rounded to doubles it would be off by 2⁻²⁶ of the norms.)
            let lost = (2.0 * size).sqrt() * f64::EPSILON / items as f64;
            let slack = 4.0 * f64::EPSILON * want + lost;
            prop_assert!((got - want).abs() <= slack, "{got} {want}");
        }
    }

    #[test]
    fn norms_beyond_the_squares_of_doubles_leave_a_mean_without_an_error() {
        let mut sums = NormSums::default();
        sums.add([1e200, 1e200]);
        sums.add([3e200]);
        assert!((sums.mean().unwrap() / (5e200 / 3.0) - 1.0).abs() < 1e-15);
        assert_eq!(sums.standard_error(), None);
        sums.add([f64::INFINITY]);
        assert_eq!(
            (sums.mean(), sums.standard_error()),
            (Some(f64::INFINITY), None)
        );
        assert_eq!(NormSums::default().mean(), None);
        let text = serde_json::to_string(&sums).unwrap();
        assert_eq!(serde_json::from_str::<NormSums>(&text).unwrap(), sums);
    }

    #[test]
    fn edges_and_culprits() {
        let huge = encoder_variance(&[f64::MAX, f64::MAX / 2.0], &[0, 1, 2], 1.0, 0.05).unwrap();
        assert_eq!(huge.mean, f64::MAX * 0.75);
        assert_eq!(huge.standard_error, Some(f64::MAX * 0.25));
        let zero = encoder_variance(&[0.0], &[0, 1], 1.0, 0.05).unwrap();
        assert_eq!((zero.mean, zero.standard_error), (0.0, None));
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            let error = encoder_variance(&[1.0, bad], &[0, 2], 1.0, 0.05).unwrap_err();
            assert!(matches!(error, AssumptionError::Norm { item: 1, .. }));
            assert!(encoder_variance(&[1.0], &[0, 1], bad, 0.05).is_err());
        }
        assert!(encoder_variance(&[], &[0], 1.0, 0.05).is_err());
        assert!(encoder_variance(&[1.0], &[0, 1], 1.0, 0.0).is_err());
    }
}
