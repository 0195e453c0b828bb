//! A1: given the class, the items of one entity are independent of each other.
//!
//! # What is measured
//! Within a class, `cᵢ = Φᵢ − Φ̄` is item `i`'s factor less the mean factor of the class's items of the same
//! source. The correlation is Fisher's for groups, over all classes' probabilities together:
//!
//! ```text
//!     ρ = mean over pairs i ≠ j of one entity of ⟨cᵢ, cⱼ⟩  /  mean over items of ‖cᵢ‖².
//! ```
//!
//! Range `[−1, 1]`; 1 where every entity repeats one item, near 0 where items are independent.
//!
//! # The test
//! *Hypothesis*: given the class, all items are drawn independently, those of one source from one
//! distribution, which is A1 together with "no item's distribution depends on how many there are".
//! Sources may differ as they like: a sharp and a blunt one are no evidence against A1. Dealing the items
//! of each source anew to the places that they were taken from then changes nothing in distribution.
//! [`independence`] takes all items for items of one source. With `T = |Σ⟨cᵢ, cⱼ⟩ − its mean over all deals|` and `B` random
//! deals, `p = (1 + #{b : T_b ≥ T})/(1 + B)`.
//!
//! *The level is exact*: data and `B` deals are `1 + B` exchangeable values, so the rank of the
//! first is uniform up to ties, and ties count against rejection: `P(p ≤ α) ≤ α` for every `α`,
//! number of items and distribution. This needs equal deals to have equal `T` to the bit;
//! probabilities are therefore taken as multiples of 2⁻³² and all sums are whole numbers.
//!
//! *Several classes*: p-values are adjusted by Holm's method, so that the chance of one false alarm
//! or more is at most the level.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{AssumptionError, Items};
use crate::bounds::{at_least_one, open_unit};
use crate::latent::random::{Stream, text_key};
use crate::simplex::Distribution;

const DEAL: u64 = text_key("assumption A1: deal items to entities");

/// Probabilities are whole multiples of `1/UNIT`.
const UNIT: f64 = (1u64 << 32) as f64;

/// Two distributions differ by at most √2 in length, so `n` items add up to a squared length of at
/// most `2n²·UNIT²`: below 2¹²⁷ for `n = 2³⁰`.
const MAX_ITEMS: usize = 1 << 30;

/// How the permutation test is run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct IndependenceTest {
    /// `B`, how often items are dealt anew; the smallest p-value is `1/(1 + B)`.
    pub permutations: u64,
    /// The probability of a false alarm.
    pub level: f64,
    /// Seed of the deals.
    pub seed: u64,
}

impl Default for IndependenceTest {
    /// 1,999 deals: p-values in steps of 1/2000, so that three classes at level 0.05 are decided
    /// with room to spare.
    fn default() -> Self {
        IndependenceTest {
            permutations: 1_999,
            level: 0.05,
            seed: 1,
        }
    }
}

/// The test within one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassDependence {
    /// The class, by number.
    pub class: usize,
    /// Entities of this class.
    pub entities: usize,
    /// Items of these entities.
    pub items: usize,
    /// Pairs of items of one entity.
    pub pairs: u64,
    /// `ρ`, or `None` where there is no pair or the items do not differ.
    pub correlation: Option<f64>,
    /// The p-value; `None` where there is nothing to test: no correlation, or no second entity
    /// with items to deal to.
    pub p_value: Option<f64>,
    /// The p-value after Holm's correction for the tested classes.
    pub adjusted: Option<f64>,
}

/// The evidence for or against A1.
#[derive(Clone, Debug, PartialEq)]
pub struct Independence {
    /// Class by class, those without entities included.
    pub classes: Vec<ClassDependence>,
    /// `ρ` over all classes, each item less the mean of its own class.
    pub correlation: Option<f64>,
    /// `ρ` when classes are ignored: what items share because they speak of the same class.
    pub unconditional: Option<f64>,
    /// The settings of the test.
    pub test: IndependenceTest,
}

impl Independence {
    /// The smallest adjusted p-value; `None` where no class could be tested.
    pub fn smallest_p(&self) -> Option<f64> {
        let all = self.classes.iter().filter_map(|c| c.adjusted);
        all.min_by(f64::total_cmp)
    }

    /// Whether the data contradict A1 at the level of the test.
    pub fn contradicted(&self) -> bool {
        self.smallest_p().is_some_and(|p| p <= self.test.level)
    }

    /// The finding as a sentence.
    pub fn sentence(&self) -> String {
        let (Some(p), Some(rho)) = (self.smallest_p(), self.correlation) else {
            return "No class has two entities with differing items to compare, so the data say \
                    nothing about A1."
                .to_owned();
        };
        let tested = self.classes.iter().filter(|c| c.p_value.is_some()).count();
        let level = self.test.level;
        let verdict = if self.contradicted() {
            format!("at level {level} the items depend on each other: A1 fails")
        } else {
            format!("at level {level} the data do not contradict A1")
        };
        format!(
            "Given the class, items of one entity correlate by {rho:.3}; the smallest of {tested} \
             p-values is {p:.4} after Holm's correction, so {verdict}."
        )
    }
}

/// The items of one class.
struct Group {
    /// Rows `cᵢ` in units of `1/UNIT`, less a mean rounded to a whole unit.
    rows: Vec<i64>,
    /// How many items each entity has.
    sizes: Vec<usize>,
    /// The positions of the items of each source.
    sources: Vec<Vec<usize>>,
    classes: usize,
}

/// An entity's factors and the source of each.
type Sourced<'a> = (&'a [Distribution], &'a [usize]);

impl Group {
    fn new<'a>(entities: impl Iterator<Item = Sourced<'a>>, classes: usize) -> Self {
        let mut rows = Vec::new();
        let mut sizes = Vec::new();
        let mut positions: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut items = 0;
        for (entity, sources) in entities {
            sizes.push(entity.len());
            let entries = entity.iter().flat_map(Distribution::probabilities);
            rows.extend(entries.map(|p| libm::round(p * UNIT) as i64));
            for (i, source) in sources.iter().enumerate() {
                positions.entry(*source).or_default().push(items + i);
            }
            items += entity.len();
        }
        let sources: Vec<Vec<usize>> = positions.into_values().collect();
        // Any centre gives a valid test; the mean gives the correlation its meaning.
        for source in &sources {
            for class in 0..classes {
                let total: i128 = source
                    .iter()
                    .map(|i| i128::from(rows[i * classes + class]))
                    .sum();
                let mean = (total / source.len().max(1) as i128) as i64;
                for i in source {
                    rows[i * classes + class] -= mean;
                }
            }
        }
        Group {
            rows,
            sizes,
            sources,
            classes,
        }
    }

    fn items(&self) -> usize {
        self.rows.len() / self.classes
    }

    /// Ordered pairs of different items of one entity.
    fn ordered_pairs(&self) -> u64 {
        let pairs = |&k: &usize| k as u64 * (k as u64).saturating_sub(1);
        self.sizes.iter().map(pairs).sum()
    }

    /// `Σᵢ ‖cᵢ‖²`.
    fn squares(&self) -> i128 {
        let square = |&x: &i64| i128::from(x) * i128::from(x);
        self.rows.iter().map(square).sum()
    }

    /// `Σ_e ‖Σ_{i∈e} cᵢ‖²` when the items are dealt in this order. Less [`Group::squares`], it is
    /// the sum of `⟨cᵢ, cⱼ⟩` over ordered pairs.
    fn squared_sums(&self, mut deal: impl Iterator<Item = usize>, sums: &mut [i64]) -> i128 {
        let mut total = 0;
        for &size in &self.sizes {
            sums.fill(0);
            for item in deal.by_ref().take(size) {
                let row = &self.rows[item * self.classes..(item + 1) * self.classes];
                for (sum, x) in sums.iter_mut().zip(row) {
                    *sum += x;
                }
            }
            let square = |&x: &i64| i128::from(x) * i128::from(x);
            total += sums.iter().map(square).sum::<i128>();
        }
        total
    }

    fn observed(&self) -> i128 {
        let mut sums = vec![0; self.classes];
        self.squared_sums(0..self.items(), &mut sums)
    }

    /// The mean of [`Group::squared_sums`] over all deals: two places of one source get any pair of its
    /// items alike, places of different sources get items independently of each other.
    fn expected(&self) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let mut source_of = vec![0; self.items()];
        // The mean item of each source, and the mean product of two different items of it.
        let mut means = Vec::with_capacity(self.sources.len());
        for (number, source) in self.sources.iter().enumerate() {
            let n = source.len() as f64;
            let mut whole = vec![0i64; self.classes];
            let mut squares = 0i128;
            for &item in source {
                source_of[item] = number;
                let row = &self.rows[item * self.classes..(item + 1) * self.classes];
                for (sum, x) in whole.iter_mut().zip(row) {
                    *sum += x;
                    squares += i128::from(*x) * i128::from(*x);
                }
            }
            let square = |&x: &i64| i128::from(x) * i128::from(x);
            let pairs = (whole.iter().map(square).sum::<i128>() - squares) as f64;
            let pair = if source.len() > 1 {
                pairs / (n * (n - 1.0))
            } else {
                0.0
            };
            let mean: Vec<f64> = whole.iter().map(|&x| x as f64 / n).collect();
            means.push((mean, pair));
        }
        let mut total = self.squares() as f64;
        let mut first = 0;
        for &size in &self.sizes {
            // How many items of each source this entity has.
            let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
            for source in &source_of[first..first + size] {
                *counts.entry(*source).or_insert(0.0) += 1.0;
            }
            first += size;
            let mut sum = vec![0.0; self.classes];
            for (source, count) in counts {
                let (mean, pair) = &means[source];
                total += count * (count - 1.0) * pair - count * count * dot(mean, mean);
                for (s, x) in sum.iter_mut().zip(mean) {
                    *s += count * x;
                }
            }
            total += dot(&sum, &sum);
        }
        total
    }

    /// The p-value, or `None` where every deal gives the same.
    fn p_value(&self, stream_of: impl Fn(u64) -> Stream + Sync, permutations: u64) -> Option<f64> {
        let filled = self.sizes.iter().filter(|&&k| k > 0).count();
        let movable = self.sources.iter().any(|source| source.len() > 1);
        if filled < 2 || self.ordered_pairs() == 0 || self.squares() == 0 || !movable {
            return None;
        }
        let expected = self.expected();
        let distance = |sums: i128| (sums as f64 - expected).abs();
        let observed = distance(self.observed());
        let items = self.items();
        let scratch = || (Vec::with_capacity(items), vec![0; self.classes]);
        let reached = (0..permutations)
            .into_par_iter()
            .map_init(scratch, |(order, sums), b| {
                let mut stream = stream_of(b);
                order.clear();
                order.extend(0..items);
                for source in &self.sources {
                    for last in (1..source.len()).rev() {
                        let other = stream.below(last as u64 + 1) as usize;
                        order.swap(source[last], source[other]);
                    }
                }
                let dealt = self.squared_sums(order.iter().copied(), sums);
                u64::from(distance(dealt) >= observed)
            })
            .sum::<u64>();
        Some((1 + reached) as f64 / (1 + permutations) as f64)
    }
}

/// `ρ` over several groups, each centred by itself.
fn correlation(groups: &[Group]) -> Option<f64> {
    let pairs: u64 = groups.iter().map(Group::ordered_pairs).sum();
    let items: usize = groups.iter().map(Group::items).sum();
    let squares: i128 = groups.iter().map(Group::squares).sum();
    if pairs == 0 || squares == 0 {
        return None;
    }
    let sums: i128 = groups.iter().map(Group::observed).sum();
    Some((sums - squares) as f64 / pairs as f64 / (squares as f64 / items as f64))
}

/// Holm's adjustment: the `i`-th smallest of `m` p-values times `m − i + 1`, never smaller than the
/// one before, at most one.
pub(crate) fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut out = vec![1.0; p.len()];
    let mut largest: f64 = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        largest = largest.max((p[i] * (p.len() - rank) as f64).min(1.0));
        out[i] = largest;
    }
    out
}

/// Checks A1 on factors and labels; `labels` has one entry for each entity. All items are taken to be of
/// one source.
///
/// # Errors
/// As [`independence_by_source`].
pub fn independence(
    items: &Items<'_>,
    labels: &[usize],
    test: &IndependenceTest,
) -> Result<Independence, AssumptionError> {
    independence_by_source(items, &vec![0; items.factors().len()], labels, test)
}

/// Checks A1 on factors and labels; `labels` has one entry for each entity, and `sources` the number of a
/// source for each item.
///
/// # Errors
/// [`AssumptionError::Lengths`], [`AssumptionError::Label`], [`AssumptionError::TooManyItems`];
/// [`AssumptionError::Parameter`] for no permutations or a level outside `(0, 1)`.
pub fn independence_by_source(
    items: &Items<'_>,
    sources: &[usize],
    labels: &[usize],
    test: &IndependenceTest,
) -> Result<Independence, AssumptionError> {
    if sources.len() != items.factors().len() {
        return Err(AssumptionError::Lengths {
            name: "sources",
            expected: items.factors().len(),
            found: sources.len(),
        });
    }
    items.check_labels(labels)?;
    if items.factors().len() > MAX_ITEMS {
        return Err(AssumptionError::TooManyItems {
            items: items.factors().len(),
            limit: MAX_ITEMS,
        });
    }
    at_least_one("B", test.permutations)?;
    open_unit("level", test.level)?;
    let width = items.classes();
    let mut first = 0;
    let entities: Vec<Sourced<'_>> = items
        .groups()
        .map(|entity| {
            let own = &sources[first..first + entity.len()];
            first += entity.len();
            (entity, own)
        })
        .collect();
    let groups: Vec<Group> = (0..width)
        .map(|class| {
            let of_class = entities.iter().zip(labels).filter(|&(_, &l)| l == class);
            Group::new(of_class.map(|(entity, _)| *entity), width)
        })
        .collect();
    let mut classes = Vec::with_capacity(width);
    for (class, group) in groups.iter().enumerate() {
        let stream_of = |b| Stream::new(test.seed, DEAL, class as u64, b);
        classes.push(ClassDependence {
            class,
            entities: group.sizes.len(),
            items: group.items(),
            pairs: group.ordered_pairs() / 2,
            correlation: correlation(std::slice::from_ref(group)),
            p_value: group.p_value(stream_of, test.permutations),
            adjusted: None,
        });
    }
    let p: Vec<f64> = classes.iter().filter_map(|c| c.p_value).collect();
    let tested = classes.iter_mut().filter(|c| c.p_value.is_some());
    for (class, adjusted) in tested.zip(holm(&p)) {
        class.adjusted = Some(adjusted);
    }
    Ok(Independence {
        classes,
        correlation: correlation(&groups),
        unconditional: correlation(&[Group::new(entities.into_iter(), width)]),
        test: *test,
    })
}

#[cfg(test)]
mod tests;
