//! Rows of one entity: who they are, and sums over them, in constant memory.
//!
//! Rows of one entity may depend on each other in any way; entities are taken as independent. So sums
//! are kept not of rows but of whole entities, in [`BUCKETS`] buckets by the hash of the entity's name.
//! Entities that share a bucket make one larger cluster, which is as independent of the others: whatever
//! holds for clusters holds for buckets, with a little loss and no error. Adding up is all that merging
//! does, and any number of entities fits.
//!
//! Whether entities repeat at all is told by the [`MOST`] names with the smallest hashes, with the
//! number of rows of each: all names where there are no more, and else an exact account of a random part
//! of them (an entity that is kept at the end has been kept since its first row).

use std::collections::HashMap;

use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

use super::sample::line_hash;
use crate::bounds::GroupSums;
use crate::calibration::RowScores;
use crate::math::ExactSum;
use crate::math::lanes::{LANES, Lanes};

/// How many buckets there are.
const BUCKETS: usize = 1 << 15;
/// How many buckets a slice has.
const SLICE_BUCKETS: usize = 1 << 11;
/// How many names are told apart.
pub(super) const MOST: usize = 1 << 17;
/// Sums are kept in units of 2⁻³²: each row is rounded to one, so that sums are the same in any order.
const UNITS: f64 = (1u64 << 32) as f64;
/// One such unit: rounding moves no mean by more.
pub(super) const UNIT: f64 = 1.0 / UNITS;

/// What is summed over the rows of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Whether the prediction is right.
    Right,
    /// Confidence minus rightness.
    Gap,
    /// The size of that.
    Size,
    /// The Brier score.
    Brier,
    /// The clipped log loss.
    Loss,
    /// The clipped log loss less the entropy of the prediction.
    Excess,
    /// The confidence.
    Confidence,
}

const QUANTITIES: usize = 7;

/// One row's share of the sums, by quantity; what is beyond them is zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowValues(Lanes);

impl RowValues {
    /// What leaving out a source of evidence changes: rightness, and the clipped log loss.
    pub(super) fn of_change(right: f64, loss: f64) -> Self {
        let mut values = [0.0; LANES];
        values[Quantity::Right as usize] = right;
        values[Quantity::Loss as usize] = loss;
        RowValues(values)
    }

    pub(super) fn new(confidence: f64, right: bool, scores: RowScores) -> Self {
        let right = f64::from(u8::from(right));
        let gap = confidence - right;
        RowValues([
            right,
            gap,
            gap.abs(),
            scores.brier,
            scores.clipped,
            scores.clipped_excess,
            confidence,
            0.0,
        ])
    }
}

/// How many units a value is: the nearest number, of two the one further from zero.
fn units(x: f64) -> i128 {
    libm::round(x * UNITS) as i128
}

/// Few enough rows to be near when they are added.
const GROUP: usize = 64;

/// Sums over up to 1024 rows without a name, by quantity: of their values in units, and of the squares of these
/// in three parts.
#[derive(Debug, Default)]
struct Singles {
    rows: u64,
    sums: [i64; LANES],
    squares: [[u64; LANES]; 3],
}

/// Adds rows to sums; those with a value that is too large are handed to `left`. Each operation is one on all
/// quantities of a row.
struct AddSingles<'a, F> {
    rows: &'a [RowValues],
    to: &'a mut Singles,
    left: F,
}

impl<F: FnMut(RowValues)> WithSimd for AddSingles<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        /// Adding and subtracting this rounds to a whole number, of two to the even one; the sum has the number in
        /// its last bits.
        const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;
        /// Of values below this the sums of 1024 fit.
        const MOST: f64 = (1u64 << 40) as f64;
        const HALF: u64 = (1 << 20) - 1;
        let Singles {
            rows,
            sums,
            squares: [low, middle, high],
        } = self.to;
        for row in self.rows {
            let scaled: Lanes = row.0.map(|x| x * UNITS);
            let mut few = true;
            for x in &scaled {
                few &= x.abs() < MOST;
            }
            if !few {
                (self.left)(*row);
                continue;
            }
            *rows += 1;
            for lane in 0..LANES {
                let x = scaled[lane];
                let even = (x + ROUNDER) - ROUNDER;
                let off = x - even;
                let up = if off == 0.5 && x > 0.0 { 1.0 } else { 0.0 };
                let down = if off == -0.5 && x < 0.0 { 1.0 } else { 0.0 };
                let nearest =
                    (even + up - down + ROUNDER).to_bits() as i64 - ROUNDER.to_bits() as i64;
                sums[lane] += nearest;
                let size = nearest.unsigned_abs();
                let (a, b) = (size >> 20 & HALF, size & HALF);
                low[lane] += b * b;
                middle[lane] += a * b;
                high[lane] += a * a;
            }
        }
    }
}

/// Sums over the rows of a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Bucket {
    rows: u64,
    /// In units of 2⁻³².
    sums: [i128; QUANTITIES],
}

/// The names with the smallest hashes, and their rows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Names {
    rows: HashMap<u64, u64>,
    /// Names with larger hashes are not kept.
    largest: u64,
}

impl Default for Names {
    fn default() -> Self {
        Names {
            rows: HashMap::new(),
            largest: u64::MAX,
        }
    }
}

impl Names {
    fn add(&mut self, hash: u64, rows: u64) {
        if hash <= self.largest {
            let entry = self.rows.entry(hash).or_insert(0);
            *entry = entry.saturating_add(rows);
            // Cut seldom, as it goes through all of them.
            if self.rows.len() >= 2 * MOST {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        if self.rows.len() > MOST {
            let mut hashes: Vec<u64> = self.rows.keys().copied().collect();
            let (_, &mut last, _) = hashes.select_nth_unstable(MOST - 1);
            self.largest = last;
        }
        let largest = self.largest;
        self.rows.retain(|hash, _| *hash <= largest);
    }

    fn merge(&mut self, other: &Names) {
        self.largest = self.largest.min(other.largest);
        for (&hash, &rows) in &other.rows {
            self.add(hash, rows);
        }
        self.cut();
    }
}

/// What is known of the entities of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct Clusters {
    /// How many buckets there are to be: [`BUCKETS`], or [`SLICE_BUCKETS`] for a slice, whose names are
    /// those of the log and not told apart again.
    size: usize,
    names: Names,
    /// By hash; empty as long as no row has a name.
    buckets: Vec<Bucket>,
    /// Sums over rows without a name, each an entity of its own, and of their squares in units of 2⁻⁶⁴.
    nameless: Bucket,
    squares: [i128; QUANTITIES],
}

impl Default for Clusters {
    fn default() -> Self {
        Clusters {
            size: BUCKETS,
            names: Names::default(),
            buckets: Vec::new(),
            nameless: Bucket::default(),
            squares: [0; QUANTITIES],
        }
    }
}

/// How clusters are stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    size: usize,
    /// Hash and rows, by hash.
    names: Vec<(u64, u64)>,
    largest: u64,
    /// Position, rows and sums.
    buckets: Vec<(usize, Bucket)>,
    nameless: Bucket,
    squares: [i128; QUANTITIES],
}

impl From<Clusters> for Stored {
    fn from(clusters: Clusters) -> Self {
        let mut names: Vec<(u64, u64)> = clusters.names.rows.into_iter().collect();
        names.sort_unstable();
        let buckets = clusters.buckets.into_iter().enumerate();
        Stored {
            size: clusters.size,
            names,
            largest: clusters.names.largest,
            buckets: buckets.filter(|(_, bucket)| bucket.rows > 0).collect(),
            nameless: clusters.nameless,
            squares: clusters.squares,
        }
    }
}

/// A sum that no rows have: beyond what each adds at most.
fn too_large(bucket: &Bucket) -> bool {
    let most = i128::from(bucket.rows) << 37;
    bucket.rows > 1 << 44 || bucket.sums.iter().any(|sum| sum.abs() > most)
}

impl TryFrom<Stored> for Clusters {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        if ![BUCKETS, SLICE_BUCKETS].contains(&stored.size) {
            return Err("clusters of another size");
        }
        let mut clusters = Clusters {
            size: stored.size,
            nameless: stored.nameless,
            squares: stored.squares,
            ..Clusters::default()
        };
        if too_large(&clusters.nameless)
            || stored.squares.iter().any(|s| !(0..1 << 120).contains(s))
        {
            return Err("sums that no rows have");
        }
        if stored.names.len() > MOST || stored.names.iter().any(|(_, rows)| *rows == 0) {
            return Err("names that no rows have");
        }
        clusters.names.rows = stored.names.into_iter().collect();
        clusters.names.largest = stored.largest;
        if !stored.buckets.is_empty() {
            clusters.buckets = vec![Bucket::default(); stored.size];
        }
        for (i, bucket) in stored.buckets {
            let place = clusters
                .buckets
                .get_mut(i)
                .ok_or("a bucket beyond the last")?;
            if too_large(&bucket) || *place != Bucket::default() {
                return Err("sums that no rows have");
            }
            *place = bucket;
        }
        Ok(clusters)
    }
}

/// The hash by which an entity is known; none without a name.
pub(super) fn entity_hash(name: &str) -> Option<u64> {
    (!name.is_empty()).then(|| line_hash(name.as_bytes()))
}

impl Clusters {
    /// The clusters of a slice.
    pub(super) fn of_slice() -> Self {
        Clusters {
            size: SLICE_BUCKETS,
            ..Clusters::default()
        }
    }

    /// Adds a row of the entity with this hash.
    pub(super) fn add(&mut self, entity: Option<u64>, values: RowValues) {
        let units = values.0.map(units);
        let bucket = match entity {
            None => {
                for (sum, x) in self.squares.iter_mut().zip(units) {
                    *sum += x * x;
                }
                &mut self.nameless
            }
            Some(hash) => {
                if self.size == BUCKETS {
                    self.names.add(hash, 1);
                }
                if self.buckets.is_empty() {
                    self.buckets = vec![Bucket::default(); self.size];
                }
                &mut self.buckets[hash as usize % self.size]
            }
        };
        bucket.rows += 1;
        for (sum, x) in bucket.sums.iter_mut().zip(units) {
            *sum += x;
        }
    }

    /// Adds up to 1024 rows.
    pub(super) fn add_all(
        &mut self,
        entities: &[Option<u64>],
        values: impl Iterator<Item = RowValues>,
    ) {
        let arch = Arch::new();
        let mut singles = Singles::default();
        let mut group = Vec::with_capacity(GROUP);
        let mut flush = |group: &mut Vec<RowValues>, clusters: &mut Clusters| {
            arch.dispatch(AddSingles {
                rows: group,
                to: &mut singles,
                left: |row| clusters.add(None, row),
            });
            group.clear();
        };
        for (entity, row) in entities.iter().zip(values) {
            if entity.is_some() {
                self.add(*entity, row);
                continue;
            }
            group.push(row);
            if group.len() == GROUP {
                flush(&mut group, self);
            }
        }
        flush(&mut group, self);
        self.nameless.rows += singles.rows;
        for (sum, own) in self.nameless.sums.iter_mut().zip(singles.sums) {
            *sum += i128::from(own);
        }
        let [low, middle, high] = singles.squares;
        for (quantity, sum) in self.squares.iter_mut().enumerate() {
            let part = |part: &[u64; LANES]| i128::from(part[quantity]);
            *sum += part(&low) + (part(&middle) << 21) + (part(&high) << 40);
        }
    }

    /// Forgets names that will not be kept, so that equal logs have equal clusters.
    pub(super) fn settle(&mut self) {
        self.names.cut();
    }

    /// Adds everything that `other` holds; `None` where a count overflows.
    pub(super) fn merge(&mut self, other: &Clusters) -> Option<()> {
        self.names.merge(&other.names);
        if self.buckets.is_empty() {
            self.buckets.clone_from(&other.buckets);
        } else {
            for (a, b) in self.buckets.iter_mut().zip(&other.buckets) {
                a.merge(b)?;
            }
        }
        self.nameless.merge(&other.nameless)?;
        for (a, b) in self.squares.iter_mut().zip(other.squares) {
            *a = a.checked_add(b)?;
        }
        Some(())
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> Option<u64> {
        let buckets = self.buckets.iter().map(|bucket| bucket.rows);
        buckets
            .chain([self.nameless.rows])
            .try_fold(0u64, u64::checked_add)
    }

    /// What is known of repeated entities.
    pub(super) fn repeats(&self) -> Repeats {
        let kept = self.names.rows.len() as u64;
        let exact = self.names.largest == u64::MAX;
        let named: u64 = self.buckets.iter().map(|bucket| bucket.rows).sum();
        // Hashes are spread evenly: so many lie up to the largest that is kept.
        let share = (self.names.largest as f64 + 1.0) / libm::exp2(64.0);
        Repeats {
            named_rows: named,
            entities: match exact {
                true => kept,
                false => (kept as f64 / share) as u64,
            },
            exact,
            most_rows: self.names.rows.values().copied().max().unwrap_or(0),
        }
    }

    /// The clusters that are not empty: each with its rows, and with its sum of a quantity.
    fn groups(&self, quantity: Quantity) -> impl Iterator<Item = (f64, f64)> + '_ {
        let filled = self.buckets.iter().filter(|bucket| bucket.rows > 0);
        filled.map(move |b| (b.rows as f64, b.sums[quantity as usize] as f64 / UNITS))
    }

    /// Sums over clusters of a quantity.
    pub(super) fn sums(&self, quantity: Quantity) -> GroupSums {
        let single = self.nameless.rows as f64;
        let of_nameless = self.nameless.sums[quantity as usize] as f64 / UNITS;
        let squares = self.squares[quantity as usize] as f64 / UNITS / UNITS;
        let mut exact: [ExactSum; 5] = Default::default();
        let (mut groups, mut largest) = (single, f64::from(u8::from(single > 0.0)));
        for (rows, x) in self.groups(quantity) {
            groups += 1.0;
            largest = rows.max(largest);
            for (sum, term) in exact
                .iter_mut()
                .zip([rows, rows * rows, x, x * x, x * rows])
            {
                sum.add(term);
            }
        }
        let [count, count_squares, sum, group_squares, cross] = exact.map(|sum| sum.to_f64());
        GroupSums {
            groups,
            count: count + single,
            largest,
            count_squares: count_squares + single,
            sum: sum + of_nameless,
            squares: group_squares + squares,
            cross: cross + of_nameless,
        }
    }
}

impl Bucket {
    fn merge(&mut self, other: &Bucket) -> Option<()> {
        self.rows = self.rows.checked_add(other.rows)?;
        for (a, b) in self.sums.iter_mut().zip(other.sums) {
            *a = a.checked_add(b)?;
        }
        Some(())
    }
}

/// What is known of repeated entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Repeats {
    /// Rows that name their entity; each other row is taken for an entity of its own.
    pub named_rows: u64,
    /// How many entities are named, or about how many.
    pub entities: u64,
    /// Whether that number is exact, and `most_rows` is that of all entities.
    pub exact: bool,
    /// The largest number of rows of one entity among those that were told apart.
    pub most_rows: u64,
}

impl Repeats {
    /// Whether rows may share an entity.
    pub(super) fn possible(&self) -> bool {
        self.most_rows > 1 || !self.exact
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latent::random::Stream;

    fn values(x: f64) -> RowValues {
        let scores = RowScores {
            loss: None,
            entropy: 0.0,
            brier: 2.0 * x,
            clipped: 3.0 * x,
            clipped_excess: -x,
        };
        RowValues::new(x, x < 0.5, scores)
    }

    fn clusters(rows: &[(String, f64)]) -> Clusters {
        let mut clusters = Clusters::default();
        for (name, x) in rows {
            clusters.add(entity_hash(name), values(*x));
        }
        clusters.settle();
        clusters
    }

    fn rows(n: u64, entities: u64) -> Vec<(String, f64)> {
        let mut stream = Stream::new(1, 2, n, entities);
        let mut row = |i: u64| {
            let name = match stream.below(entities + 1) {
                0 => String::new(),
                e if i.is_multiple_of(2) => format!("entity {e}"),
                e => format!("{e}"),
            };
            // Multiples of the unit, so that nothing is rounded.
            (name, stream.below(1 << 20) as f64 / (1 << 20) as f64)
        };
        (0..n).map(&mut row).collect()
    }

    /// Rows that are added together, halves of units and numbers beyond what vectors hold among them.
    #[test]
    fn rows_added_together_are_those_added_one_by_one() {
        let mut stream = Stream::new(3, 1, 4, 1);
        let mut value = |i: u64| {
            let halves = stream.below(1 << 12) as f64 - 2048.0;
            match i % 7 {
                0 => halves / 2.0 * UNIT,
                1 => halves * 1e3,
                2 => 1e6,
                _ => stream.standard_normal(),
            }
        };
        let rows: Vec<RowValues> = (0..1000)
            .map(|i| {
                RowValues(std::array::from_fn(|lane| {
                    if lane < QUANTITIES { value(i) } else { 0.0 }
                }))
            })
            .collect();
        let entity = |i: usize| (i % 11 == 5).then_some(i as u64 * 12_345);
        let entities: Vec<Option<u64>> = (0..rows.len()).map(entity).collect();
        let (mut one_by_one, mut together) = (Clusters::default(), Clusters::default());
        for (entity, row) in entities.iter().zip(&rows) {
            one_by_one.add(*entity, *row);
        }
        together.add_all(&entities, rows.iter().copied());
        assert_eq!(one_by_one, together);
        assert!(one_by_one.squares.iter().all(|sum| *sum > 0));
    }

    #[test]
    fn sums_are_those_of_the_entities() {
        let rows = rows(400, 30);
        let clusters = clusters(&rows);
        let mut by_name: HashMap<String, (f64, f64)> = HashMap::new();
        for (i, (name, x)) in rows.iter().enumerate() {
            let name = match name.is_empty() {
                true => format!("row {i}"),
                false => name.clone(),
            };
            let entry = by_name.entry(name).or_default();
            entry.0 += 1.0;
            entry.1 += 2.0 * x;
        }
        let of = |f: &dyn Fn(f64, f64) -> f64| by_name.values().map(|&(k, x)| f(k, x)).sum::<f64>();
        let sums = clusters.sums(Quantity::Brier);
        // Sixty names in 32,768 buckets: these ones are all in buckets of their own.
        assert_eq!(sums.groups, by_name.len() as f64);
        assert_eq!(sums.count, 400.0);
        assert_eq!(sums.count_squares, of(&|k, _| k * k));
        for (got, want) in [
            (sums.sum, of(&|_, x| x)),
            (sums.squares, of(&|_, x| x * x)),
            (sums.cross, of(&|k, x| k * x)),
        ] {
            assert!((got - want).abs() < 1e-9, "{got} {want}");
        }
        let repeats = clusters.repeats();
        assert!(repeats.exact && repeats.possible());
        let nameless = rows.iter().filter(|(name, _)| name.is_empty()).count() as u64;
        assert_eq!(repeats.named_rows, 400 - nameless);
        assert_eq!(repeats.entities, by_name.len() as u64 - nameless);
        assert_eq!(
            repeats.most_rows as f64,
            by_name.values().map(|e| e.0).fold(0.0, f64::max)
        );
    }

    #[test]
    fn shards_in_any_order_are_the_whole() {
        // More names than are kept.
        let n = 3 * MOST as u64;
        let rows = rows(n, n);
        let whole = clusters(&rows);
        assert!(!whole.repeats().exact && whole.repeats().possible());
        // 1 − 1/e² of two sets of so many names have a row or more; known to 1/√MOST.
        let about = whole.repeats().entities as f64;
        let distinct: std::collections::HashSet<&str> = rows.iter().map(|r| r.0.as_str()).collect();
        assert!((about / distinct.len() as f64 - 1.0).abs() < 6.0 / (MOST as f64).sqrt());
        let parts: Vec<Clusters> = rows.chunks(rows.len() / 3).map(clusters).collect();
        for order in [[0, 1, 2], [2, 0, 1]] {
            let mut merged = Clusters::default();
            for i in order {
                merged.merge(&parts[i]).unwrap();
            }
            assert!(merged == whole);
        }
        let text = serde_json::to_string(&whole).unwrap();
        assert!(serde_json::from_str::<Clusters>(&text).unwrap() == whole);
        // All buckets, and all names: what a state takes at most.
        assert!(text.len() < 8 << 20, "{}", text.len());
    }

    #[test]
    fn what_no_rows_have_is_refused() {
        let text = serde_json::to_string(&clusters(&rows(30, 4))).unwrap();
        assert!(serde_json::from_str::<Clusters>(&text).is_ok());
        for (from, to) in [
            ("\"names\":[[", "\"names\":[[0,0],["),
            ("\"buckets\":[[", "\"buckets\":[[9"),
        ] {
            let bad = text.replacen(from, to, 1);
            assert_ne!(bad, text);
            assert!(serde_json::from_str::<Clusters>(&bad).is_err(), "{bad}");
        }
    }
}
