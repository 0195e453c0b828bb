//! A1 where items differ in kind: given the class, do the views of one entity vary together?
//!
//! The test of the assumptions' room deals all items of a class anew and so also supposes that items
//! are alike; views are not. Here each view is dealt anew by itself. *Hypothesis*: given the class,
//! the views are independent, whatever the distribution of each. *Statistic*, in whole numbers: with
//! `q` a factor in multiples of 2⁻²⁰ and `S` the sum of a view's `q` over the `n` entities of the
//! class,
//!
//! ```text
//!     T = |n·Σ_entities Σ_{i<j} ⟨q_i, q_j⟩ − Σ_{i<j} ⟨S_i, S_j⟩|,
//! ```
//!
//! which is how far the inner products of different views are from their mean over all deals. Data
//! and `B` deals are exchangeable, so `p = (1 + #{T_b ≥ T})/(1 + B)` is at most `α` with probability at
//! most `α`, for any number of entities; classes are joined by Bonferroni's inequality.
//!
//! The **total correlation** of the views given the class (the price of dependence, E1) is estimated
//! from below: by that of the classes that the views vote for, and of these by the best tree of pairs
//! (Chow and Liu 1968). Voting loses information and a tree leaves dependence out, so both can only
//! make it smaller. Pairs are counted, and the bias of counting is taken off after Miller (1955).

use rayon::prelude::*;

use super::study::Study;
use crate::latent::random::{Stream, text_key};
use crate::math::{ExactSum, ln};

const DEAL: u64 = text_key("experiment real: deal views to entities");

/// Factors are whole multiples of `1/UNIT`.
const UNIT: f64 = (1u64 << 20) as f64;

/// `B`, how often views are dealt anew.
pub(super) const DEALS: u64 = 1999;

/// What is found about A1.
pub(super) struct Dependence {
    /// Mean correlation of two views of one entity, given the class; NaN where nothing varies.
    pub(super) correlation: f64,
    /// The smallest p-value of a class, times the number of classes that were tested; `None` where
    /// no class has two entities.
    pub(super) p: Option<f64>,
    /// A lower estimate of the total correlation given the class, in nats.
    pub(super) total: f64,
}

/// The factors of one class's entities, in whole numbers.
struct Views {
    entities: usize,
    classes: usize,
    /// View by view, entity by entity, class by class.
    factors: Vec<Vec<i64>>,
    /// Sum of all squares, the same for every deal.
    squares: i128,
    /// `Σ_{i<j} ⟨S_i, S_j⟩`, likewise.
    across: i128,
}

impl Views {
    fn new(entities: usize, classes: usize, factors: Vec<Vec<i64>>) -> Self {
        let square = |&q: &i64| i128::from(q) * i128::from(q);
        let squares = factors.iter().flatten().map(square).sum();
        let sums: Vec<Vec<i64>> = factors.iter().map(|view| totals(view, classes)).collect();
        let mut across = 0;
        for c in 0..classes {
            let all: i64 = sums.iter().map(|sum| sum[c]).sum();
            across += square(&all) - sums.iter().map(|sum| square(&sum[c])).sum::<i128>();
        }
        Views {
            entities,
            classes,
            factors,
            squares,
            across: across / 2,
        }
    }

    /// Each view as it came.
    fn undealt(&self) -> Vec<Vec<usize>> {
        vec![(0..self.entities).collect(); self.factors.len()]
    }

    /// `n·Σ_entities Σ_{i<j} ⟨q_i, q_j⟩ − Σ_{i<j} ⟨S_i, S_j⟩`, where view `i` of entity `e` comes from
    /// entity `deal[i][e]`. Entries are below 2²⁰ and there are fewer than 2¹² entities and 2⁴ views,
    /// so that squares fit into 64 bits and everything is far below 2¹²⁷.
    fn excess(&self, deal: &[Vec<usize>]) -> i128 {
        let mut squares = 0;
        for e in 0..self.entities {
            for c in 0..self.classes {
                let views = self.factors.iter().zip(deal);
                let sum: i64 = views.map(|(q, from)| q[from[e] * self.classes + c]).sum();
                squares += i128::from(sum * sum);
            }
        }
        // Over pairs: half of the square of the sum less the sum of the squares.
        self.entities as i128 * ((squares - self.squares) / 2) - self.across
    }

    /// `n` times the sum of the squared distances of each view's factors from their mean.
    fn spread(&self) -> i128 {
        let square = |&q: &i64| i128::from(q) * i128::from(q);
        let sums = self.factors.iter().map(|view| totals(view, self.classes));
        let means: i128 = sums.map(|sum| sum.iter().map(square).sum::<i128>()).sum();
        self.entities as i128 * self.squares - means
    }

    fn p_value(&self, seed: u64, class: u64) -> Option<f64> {
        if self.entities < 2 {
            return None;
        }
        let found = self.excess(&self.undealt()).abs();
        let deals = (0..DEALS).into_par_iter();
        let reached = deals.map_init(
            || self.undealt(),
            |dealt, deal| {
                let mut stream = Stream::new(seed, DEAL, class, deal);
                // The first view stays: only how the others meet it and each other matters.
                for view in dealt.iter_mut().skip(1) {
                    view.iter_mut().enumerate().for_each(|(e, from)| *from = e);
                    for last in (1..self.entities).rev() {
                        view.swap(last, stream.below(last as u64 + 1) as usize);
                    }
                }
                u64::from(self.excess(dealt).abs() >= found)
            },
        );
        Some((1 + reached.sum::<u64>()) as f64 / (1 + DEALS) as f64)
    }
}

fn totals(view: &[i64], classes: usize) -> Vec<i64> {
    let total = |c: usize| view.iter().skip(c).step_by(classes).sum();
    (0..classes).map(total).collect()
}

impl Dependence {
    pub(super) fn of(study: &Study, seed: u64) -> Self {
        let labels = study.labels();
        let classes = study.set().classes.len();
        let items = study.items();
        let of_class = |class: usize| -> Views {
            let own = || {
                study
                    .judged
                    .iter()
                    .zip(&labels)
                    .filter(move |x| *x.1 == class)
            };
            let whole = |p: &f64| libm::round(p * UNIT) as i64;
            let view = |item: usize| {
                let factors = own().flat_map(|(e, _)| e.factors[item].probabilities());
                factors.map(whole).collect()
            };
            let factors = (0..items).map(view).collect();
            Views::new(own().count(), classes, factors)
        };
        let views: Vec<Views> = (0..classes).map(of_class).collect();
        let tested: Vec<f64> = views
            .iter()
            .enumerate()
            .filter_map(|(class, views)| views.p_value(seed, class as u64))
            .collect();
        let smallest = tested.iter().copied().min_by(f64::total_cmp);
        let ratio = |f: &dyn Fn(&Views) -> i128| -> f64 {
            let terms = views.iter().filter(|v| v.entities > 0);
            // Each class's numbers are n times too large.
            let terms = terms.map(|v| f(v) as f64 / v.entities as f64);
            terms.collect::<ExactSum>().to_f64()
        };
        let pairs = (items * (items - 1) / 2) as f64;
        let together = ratio(&|v| v.excess(&v.undealt())) / pairs;
        let apart = ratio(&Views::spread) / items as f64;
        let votes: Vec<Vec<usize>> = (0..items)
            .map(|i| study.judged.iter().map(|e| e.factors[i].argmax()).collect())
            .collect();
        Dependence {
            correlation: together / apart,
            p: smallest.map(|p| (p * tested.len() as f64).min(1.0)),
            total: best_tree(&votes, &labels, classes),
        }
    }
}

/// The total correlation along the best tree of pairs, given the label.
fn best_tree(votes: &[Vec<usize>], labels: &[usize], classes: usize) -> f64 {
    // Prim's algorithm from the first view on.
    let mut inside = vec![0];
    let mut total = ExactSum::new();
    while inside.len() < votes.len() {
        let outside = (0..votes.len()).filter(|i| !inside.contains(i));
        let edges = outside.flat_map(|j| inside.iter().map(move |&i| (i, j)));
        let weighed = edges.map(|(i, j)| (information(&votes[i], &votes[j], labels, classes), j));
        let Some((gain, next)) = weighed.max_by(|a, b| a.0.total_cmp(&b.0)) else {
            break;
        };
        total.add(gain.max(0.0));
        inside.push(next);
    }
    total.to_f64()
}

/// `I(A; B | label)` in nats, from counts, less the bias of counting: `(cells − rows − columns + 1)/2n`
/// in each class, over those that occur.
fn information(a: &[usize], b: &[usize], labels: &[usize], classes: usize) -> f64 {
    let mut sum = ExactSum::new();
    for class in 0..classes {
        let mut joint = vec![0u32; classes * classes];
        for ((&a, &b), _) in a.iter().zip(b).zip(labels).filter(|x| *x.1 == class) {
            joint[a * classes + b] += 1;
        }
        let rows: Vec<u32> = joint.chunks(classes).map(|row| row.iter().sum()).collect();
        let columns: Vec<u32> = (0..classes)
            .map(|c| joint.iter().skip(c).step_by(classes).sum())
            .collect();
        let n = f64::from(rows.iter().sum::<u32>());
        for (at, &count) in joint.iter().enumerate().filter(|x| *x.1 > 0) {
            let count = f64::from(count);
            let (row, column) = (rows[at / classes], columns[at % classes]);
            let ratio = count * n / (f64::from(row) * f64::from(column));
            sum.add(count * ln(ratio));
        }
        let occupied = |cells: &[u32]| cells.iter().filter(|&&c| c > 0).count() as f64;
        if n > 0.0 {
            let bias = occupied(&joint) - occupied(&rows) - occupied(&columns) + 1.0;
            sum.add(-bias / 2.0);
        }
    }
    sum.to_f64() / labels.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two views of four entities, by hand: q = 1, 2, 3, 4 and the same again. Σ q² = 30,
    /// S = 10: 4·30 − 100 = 20. Reversed: 1·4 + 2·3 + 3·2 + 4·1 = 20, 4·20 − 100 = −20.
    #[test]
    fn the_excess_of_inner_products_is_that_by_hand() {
        let excess = |second: [i64; 4]| {
            let views = Views::new(4, 1, vec![vec![1, 2, 3, 4], second.to_vec()]);
            views.excess(&views.undealt())
        };
        assert_eq!(excess([1, 2, 3, 4]), 20);
        assert_eq!(excess([4, 3, 2, 1]), -20);
        assert_eq!(excess([5, 5, 5, 5]), 0);
        let views = Views::new(4, 1, vec![vec![1, 2, 3, 4], vec![1, 2, 3, 4]]);
        assert_eq!(views.excess(&[vec![0, 1, 2, 3], vec![3, 2, 1, 0]]), -20);
        assert_eq!(views.spread(), 40);
        // Two classes of probability: inner products add up over them.
        let views = Views::new(2, 2, vec![vec![1, 0, 0, 1], vec![1, 0, 0, 1]]);
        assert_eq!(views.excess(&views.undealt()), 2 * 2 - 2);
    }

    /// A view that repeats another is found out, also where a third is independent; views of unlike
    /// kinds that know nothing of each other are not. Of 40 such tests at 5 %, more than 8 alarms
    /// have probability 0.00013 (binomial tail).
    #[test]
    fn repeated_views_are_found_and_unlike_ones_are_not() {
        let drawn = |stream: &mut Stream, scale: f64| -> Vec<i64> {
            let one = |_| (scale * stream.uniform() * UNIT) as i64;
            (0..30).map(one).collect()
        };
        let mut alarms = 0;
        for trial in 0..40 {
            let mut stream = Stream::new(7, 0, trial, 0);
            let (a, b) = (drawn(&mut stream, 1.0), drawn(&mut stream, 0.1));
            let apart = Views::new(30, 1, vec![a.clone(), b.clone()]);
            alarms += usize::from(apart.p_value(1, trial).unwrap() <= 0.05);
            let copied = Views::new(30, 1, vec![a.clone(), b, a]);
            assert_eq!(copied.p_value(1, trial), Some(1.0 / (1 + DEALS) as f64));
        }
        assert!(alarms <= 8, "{alarms}");
        assert_eq!(Views::new(1, 1, vec![vec![1], vec![2]]).p_value(1, 0), None);
    }

    /// One class, eight entities. Votes that are equal have I = H = ln 2, less (2 − 2 − 2 + 1)/16;
    /// votes in all four combinations twice have I = 0, less (4 − 2 − 2 + 1)/16.
    #[test]
    fn information_is_that_by_hand_and_the_tree_takes_each_repetition_once() {
        let a = vec![0, 0, 0, 0, 1, 1, 1, 1];
        let b = vec![0, 0, 1, 1, 0, 0, 1, 1];
        let labels = vec![0; 8];
        let same = information(&a, &a, &labels, 2);
        assert!((same - (2f64.ln() + 1.0 / 16.0)).abs() < 1e-15);
        let apart = information(&a, &b, &labels, 2);
        assert!((apart + 1.0 / 16.0).abs() < 1e-15);
        // Three copies and one stranger: two repetitions, and nothing for the stranger.
        let total = best_tree(&[a.clone(), b, a.clone(), a], &labels, 2);
        assert!((total - 2.0 * same).abs() < 1e-15);
    }
}
