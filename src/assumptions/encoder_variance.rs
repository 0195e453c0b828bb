//! A2: the covariances of the encoder's posteriors are bounded, `E‖Σᵢ‖_F ≤ σ_max < ∞`.
//!
//! Any finite sample has a finite mean, so "bounded" can only be held against a stated limit. Two
//! things are: the mean, with a standard error over entities, and the share of entities with an
//! item above the limit.

use super::items::check_offsets;
use super::{AssumptionError, Share};
use crate::bounds::BoundError;
use crate::math::ExactSum;

/// The 97.5th percentile of the standard normal distribution: two-sided 95 in a hundred.
/// (mpmath 1.3.0: `sqrt(2)*erfinv(0.95)`.)
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// The norms `‖Σᵢ‖_F` of an encoder on some items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncoderVariance {
    /// How many items.
    pub items: usize,
    /// Of how many entities.
    pub entities: usize,
    /// The mean norm over items.
    pub mean: f64,
    /// Its standard error, `√(n/(n−1)·Σ_e (S_e − K_e·mean)²)/N` over `n` entities with `K_e` items
    /// of total norm `S_e`, `N` items in all; `None` for fewer than two entities.
    pub standard_error: Option<f64>,
    /// The largest norm.
    pub most: f64,
    /// `σ_max`.
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

    /// What was found, in words.
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
    if !(limit > 0.0 && limit.is_finite()) {
        return Err(AssumptionError::Parameter(BoundError::Parameter {
            name: "sigma_max",
            value: limit,
            allowed: "finite and above zero",
        }));
    }
    let entities = || offsets.windows(2).map(|w| &norms[w[0]..w[1]]);
    let most = norms.iter().copied().fold(0.0, f64::max);
    // Norms near the ends of the range of doubles: a power of two brings the largest near one, so
    // that neither sums nor squares overflow.
    let exponent = if most > 0.0 { libm::ilogb(most) } else { 0 };
    let total = |entity: &[f64]| {
        let scaled = entity.iter().map(|&x| libm::scalbn(x, -exponent));
        scaled.collect::<ExactSum>().to_f64()
    };
    let mean = total(norms) / norms.len() as f64;
    let count = offsets.len() - 1;
    let deviations = entities().map(|entity| {
        let off = total(entity) - entity.len() as f64 * mean;
        off * off
    });
    let squares = deviations.collect::<ExactSum>().to_f64();
    let standard_error = (count >= 2).then(|| {
        let correction = count as f64 / (count as f64 - 1.0);
        libm::sqrt(correction * squares) / norms.len() as f64
    });
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
