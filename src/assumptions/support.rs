//! A6: every class has probability at least `1/(2|Y|)`.
//!
//! # What it implies
//! With `n` classes and all entries at least `f`, the others take at least `(n−1)·f`, so no
//! probability exceeds `1 − (n−1)·f`; entropy is concave, so over such distributions it is least
//! at a corner `(1 − (n−1)·f, f, …, f)`. A factor is a mean of decoded rows, so what holds for the
//! decoder holds for factors: data beyond either limit refute A6 without a look at the decoder.
//! For three classes the limits are 2/3 and 1.2516 bits.

use super::{AssumptionError, Items, Share};
use crate::bounds::require;
use crate::math::ExactSum;
use crate::simplex::{Distribution, entropy_bits};

/// The floor of A6, `1/(2·classes)`.
pub fn support_floor(classes: usize) -> f64 {
    0.5 / classes as f64
}

/// The smallest probability, and what a floor implies against the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// Number of factors.
    pub items: usize,
    /// Number of classes.
    pub classes: usize,
    /// The floor that was tested.
    pub floor: f64,
    /// The smallest probability in the data.
    pub smallest: f64,
    /// The item that has it (the first on a tie).
    pub smallest_item: usize,
    /// How many factors have an entry below the floor.
    pub items_below: usize,
    /// Entities with such a factor.
    pub below: Share,
    /// The largest probability that the floor allows.
    pub confidence_limit: f64,
    /// The largest probability in the data.
    pub largest: f64,
    /// The smallest entropy that the floor allows, in bits.
    pub entropy_limit: f64,
    /// The mean entropy of the factors, in bits. Below the limit it refutes the floor by itself.
    pub mean_entropy: f64,
}

impl Support {
    /// Whether some probability is below the floor; one is enough.
    pub fn contradicted(&self) -> bool {
        self.smallest < self.floor
    }

    /// The finding as a sentence.
    pub fn sentence(&self) -> String {
        let Support {
            floor,
            smallest,
            below,
            confidence_limit,
            largest,
            entropy_limit,
            mean_entropy,
            ..
        } = self;
        let verdict = if self.contradicted() {
            "A6 fails"
        } else {
            "A6 holds here"
        };
        format!(
            "The smallest probability is {smallest:.1e} where {floor:.4} is assumed; {below} have a \
             factor below that: {verdict}. A6 would cap confidences at {confidence_limit:.3} (the \
             largest is {largest:.3}) and keep entropies above {entropy_limit:.3} bits (the mean is \
             {mean_entropy:.3})."
        )
    }
}

/// Checks A6 on factors or decoded rows; `floor` is usually [`support_floor`], `level` the failure
/// probability of the share's interval.
///
/// # Errors
/// [`AssumptionError::Parameter`] for a floor outside `[0, 1/classes]` or a level outside `(0, 1)`.
pub fn support(items: &Items<'_>, floor: f64, level: f64) -> Result<Support, AssumptionError> {
    let classes = items.classes();
    let holds = floor >= 0.0 && floor * classes as f64 <= 1.0;
    let allowed = "between 0 and one over the number of classes";
    require(holds, "floor", floor, allowed)?;
    let least = |f: &Distribution| f.probabilities().iter().copied().fold(1.0, f64::min);
    let factors = items.factors();
    let (mut smallest, mut smallest_item) = (f64::INFINITY, 0);
    for (item, factor) in factors.iter().enumerate() {
        if least(factor) < smallest {
            (smallest, smallest_item) = (least(factor), item);
        }
    }
    let falls_below = |f: &Distribution| least(f) < floor;
    let entities = items.groups().filter(|e| e.iter().any(falls_below)).count();
    let confidence_limit = 1.0 - (classes - 1) as f64 * floor;
    let mut corner = vec![floor; classes];
    corner[0] = confidence_limit;
    let corner = Distribution::from_weights(corner).map_err(|_| AssumptionError::NoItems)?;
    let entropies: ExactSum = factors.iter().map(entropy_bits).collect();
    Ok(Support {
        items: factors.len(),
        classes,
        floor,
        smallest,
        smallest_item,
        items_below: factors.iter().filter(|f| falls_below(f)).count(),
        below: Share::new(entities, items.entities(), level)?,
        confidence_limit,
        largest: factors.iter().map(|f| *f.confidence()).fold(0.0, f64::max),
        entropy_limit: entropy_bits(&corner),
        mean_entropy: entropies.to_f64() / factors.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn d(p: &[f64]) -> Distribution {
        Distribution::from_weights(p.to_vec()).unwrap()
    }

    proptest! {
        /// Factors mixed with the uniform distribution satisfy A6 and both of its implications.
        #[test]
        fn a_decoder_with_a_floor_stays_within_both_limits(
            rows in (2usize..6).prop_flat_map(|n| {
                prop::collection::vec(prop::collection::vec(0.0f64..1.0, n), 1..8)
            })
        ) {
            let factors: Vec<Distribution> = rows
                .iter()
                .filter(|r| r.iter().any(|&x| x > 0.0))
                // A sum that is off by one unit in the last place too much is no distribution.
                .filter_map(|r| {
                    let floor = support_floor(r.len());
                    let share = 1.0 - r.len() as f64 * floor;
                    let p = d(r).into_vec();
                    Distribution::new(p.iter().map(|p| floor + share * p).collect()).ok()
                })
                .collect();
            prop_assume!(!factors.is_empty());
            let offsets = [0, factors.len()];
            let items = Items::new(&factors, &offsets).unwrap();
            let found = support(&items, support_floor(items.classes()), 0.05).unwrap();
            prop_assert!(!found.contradicted());
            prop_assert_eq!((found.items_below, found.below.count), (0, 0));
            // A few roundings of numbers below one, and of entropies below three bits.
            prop_assert!(found.largest <= found.confidence_limit + 1e-15);
            prop_assert!(found.mean_entropy >= found.entropy_limit - 1e-14);
        }
    }

    #[test]
    fn limits_are_those_of_the_corner_and_violations_are_counted() {
        let factors = [
            d(&[2.0, 1.0, 1.0]),
            d(&[0.98, 0.01, 0.01]),
            d(&[4.0, 1.0, 1.0]),
        ];
        let items = Items::new(&factors, &[0, 1, 3]).unwrap();
        let found = support(&items, support_floor(3), 0.05).unwrap();
        assert_eq!((found.smallest_item, found.items_below), (1, 1));
        assert_eq!((found.below.count, found.below.of), (1, 2));
        // mpmath 1.3.0: 2/3·log2(3/2) + 1/3·log2(6) = 1.25162916738782…
        assert!((found.entropy_limit - 1.251_629_167_387_822_7).abs() < 1e-14);
        assert!((found.confidence_limit - 2.0 / 3.0).abs() < 1e-15);
        assert!(found.contradicted() && found.sentence().contains("A6 fails"));
        let corner = Items::new(&factors[2..], &[0, 1]).unwrap();
        assert!(!support(&corner, 0.16, 0.05).unwrap().contradicted());
        for bad in [-0.1, 0.34, f64::NAN] {
            assert!(support(&items, bad, 0.05).is_err());
        }
        // One class: the floor 1/2 leaves room, both limits are trivial.
        let sure = [d(&[1.0])];
        let found = support(&Items::new(&sure, &[0, 1]).unwrap(), support_floor(1), 0.05).unwrap();
        assert_eq!((found.confidence_limit, found.entropy_limit), (1.0, 0.0));
    }
}
