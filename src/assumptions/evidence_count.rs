//! A5: no entity has more than `K_max` items.

use super::items::check_offsets;
use super::{AssumptionError, Share};

/// How many items entities have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvidenceCount {
    /// How many items there are in all.
    pub items: usize,
    /// The smallest number of items of an entity.
    pub least: usize,
    /// The largest number of items of an entity.
    pub most: usize,
    /// The mean number of items per entity.
    pub mean: f64,
    /// The limit `K_max`.
    pub limit: usize,
    /// Entities with more items than that.
    pub above: Share,
}

impl EvidenceCount {
    /// Whether an entity has more items than allowed; one is enough.
    pub fn contradicted(&self) -> bool {
        self.above.count > 0
    }

    /// The finding as a sentence.
    pub fn sentence(&self) -> String {
        let EvidenceCount {
            least,
            most,
            mean,
            limit,
            above,
            ..
        } = self;
        let verdict = if self.contradicted() {
            "A5 fails"
        } else {
            "A5 holds here"
        };
        format!(
            "Entities have {least} to {most} items, {mean:.2} on average; {above} have more than \
             {limit}: {verdict}."
        )
    }
}

/// Checks A5 on the items' offsets against `limit = K_max`; `level` is the failure probability of
/// the share's interval.
///
/// # Errors
/// [`AssumptionError::Offsets`]; [`AssumptionError::Parameter`] for no entities or a level outside
/// `(0, 1)`.
pub fn evidence_count(
    offsets: &[usize],
    limit: usize,
    level: f64,
) -> Result<EvidenceCount, AssumptionError> {
    let items = offsets.last().copied().unwrap_or(0);
    check_offsets(offsets, items)?;
    let counts = || offsets.windows(2).map(|w| w[1] - w[0]);
    let entities = counts().len();
    let above = counts().filter(|&k| k > limit).count();
    Ok(EvidenceCount {
        items,
        least: counts().min().unwrap_or(0),
        most: counts().max().unwrap_or(0),
        above: Share::new(above, entities, level)?,
        mean: items as f64 / entities as f64,
        limit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_offsets() {
        let found = evidence_count(&[0, 5, 5, 11, 14], 5, 0.05).unwrap();
        assert_eq!((found.least, found.most, found.mean), (0, 6, 3.5));
        assert_eq!((found.above.count, found.above.of), (1, 4));
        assert!(found.contradicted() && found.sentence().contains("A5 fails"));
        let within = evidence_count(&[0, 5, 5, 11, 14], 6, 0.05).unwrap();
        assert!(!within.contradicted() && within.sentence().contains("A5 holds"));
        assert!(evidence_count(&[0], 5, 0.05).is_err());
        assert!(evidence_count(&[], 5, 0.05).is_err());
        assert!(evidence_count(&[0, 2, 1], 5, 0.05).is_err());
        assert!(evidence_count(&[0, 2], 5, 1.5).is_err());
    }
}
