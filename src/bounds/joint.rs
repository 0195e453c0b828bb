//! Finite joint distributions of a class and its evidence, in exact fractions: the worlds in which
//! counterexamples live, and the checks of a theorem's assumptions in them.

use std::collections::BTreeMap;

use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// `P(Y, E₁ … E_K)` as a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joint {
    classes: usize,
    alphabets: Vec<usize>,
    /// Row-major: class first, then one symbol per item.
    table: Vec<BigRational>,
}

impl Joint {
    /// Items drawn independently given the class: `likelihoods[i][y][a] = P(Eᵢ = a | y)`.
    ///
    /// `None` where the shapes do not fit, or prior or a likelihood is not a distribution.
    pub fn independent(
        prior: &[BigRational],
        likelihoods: &[Vec<Vec<BigRational>>],
    ) -> Option<Self> {
        let alphabets = likelihoods
            .iter()
            .map(|item| item.first().map(Vec::len))
            .collect::<Option<Vec<usize>>>()?;
        let shapes = likelihoods.iter().zip(&alphabets).all(|(item, &size)| {
            item.len() == prior.len() && item.iter().all(|l| l.len() == size && is_distribution(l))
        });
        if !shapes || !is_distribution(prior) {
            return None;
        }
        let mut table = Vec::new();
        for (y, p) in prior.iter().enumerate() {
            for symbols in tuples(&alphabets) {
                let items = symbols.iter().zip(likelihoods);
                table.push(items.fold(p.clone(), |product, (&a, item)| product * &item[y][a]));
            }
        }
        Self::from_table(prior.len(), alphabets, table)
    }

    /// A table as it is; `None` unless it has the right size and is a distribution.
    pub fn from_table(
        classes: usize,
        alphabets: Vec<usize>,
        table: Vec<BigRational>,
    ) -> Option<Self> {
        let size = alphabets.iter().product::<usize>().checked_mul(classes)?;
        (size == table.len() && is_distribution(&table)).then_some(Joint {
            classes,
            alphabets,
            table,
        })
    }

    /// Evidence that takes one value only, so that it says nothing about the class.
    pub fn constant_evidence(prior: &[BigRational], items: usize) -> Option<Self> {
        let certain = vec![vec![BigRational::one()]; prior.len()];
        Self::independent(prior, &vec![certain; items])
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        self.alphabets.len()
    }

    /// `P(Y)`.
    pub fn prior(&self) -> Vec<BigRational> {
        (0..self.classes)
            .map(|y| self.outcomes().map(|e| self.at(y, &e).clone()).sum())
            .collect()
    }

    /// All values the evidence can take together.
    pub fn outcomes(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        tuples(&self.alphabets)
    }

    fn at(&self, class: usize, symbols: &[usize]) -> &BigRational {
        let index = symbols
            .iter()
            .zip(&self.alphabets)
            .fold(class, |index, (&a, &size)| index * size + a);
        &self.table[index]
    }

    /// `P(E = e)`.
    pub fn probability(&self, symbols: &[usize]) -> BigRational {
        (0..self.classes).map(|y| self.at(y, symbols)).sum()
    }

    /// `P(Y | E = e)`, or `None` where `e` never occurs.
    pub fn posterior(&self, symbols: &[usize]) -> Option<Vec<BigRational>> {
        let total = self.probability(symbols);
        (!total.is_zero()).then(|| {
            let row = (0..self.classes).map(|y| self.at(y, symbols) / &total);
            row.collect()
        })
    }

    /// `P(Y = y, E_item = symbol)` for every class.
    fn joint_with_item(&self, item: usize, symbol: usize) -> Vec<BigRational> {
        (0..self.classes)
            .map(|y| {
                let with = self.outcomes().filter(|e| e[item] == symbol);
                with.map(|e| self.at(y, &e).clone()).sum()
            })
            .collect()
    }

    /// The exact factor of one item, `P(Y | E_item = symbol)`; `None` where it never occurs.
    pub fn factor(&self, item: usize, symbol: usize) -> Option<Vec<BigRational>> {
        let row = self.joint_with_item(item, symbol);
        let total: BigRational = row.iter().sum();
        (!total.is_zero()).then(|| row.into_iter().map(|p| p / &total).collect())
    }

    /// A1: `P(e₁ … e_K | y) = ∏ P(eᵢ | y)`, for every class that occurs and every outcome, checked
    /// on the table without rounding.
    pub fn conditionally_independent(&self) -> bool {
        let prior = self.prior();
        let items: Vec<Vec<Vec<BigRational>>> = self
            .alphabets
            .iter()
            .enumerate()
            .map(|(i, &size)| (0..size).map(|a| self.joint_with_item(i, a)).collect())
            .collect();
        (0..self.classes).filter(|&y| !prior[y].is_zero()).all(|y| {
            self.outcomes().all(|e| {
                let product = e.iter().enumerate().fold(prior[y].clone(), |p, (i, &a)| {
                    p * &items[i][a][y] / &prior[y]
                });
                *self.at(y, &e) == product
            })
        })
    }

    /// The largest `|P(Y = y | Φ(y) = c) − c|` over all classes `y` and values `c`, for the factor
    /// that depends on one item: the ε of "ε-calibrated". `None` where a factor is missing.
    pub fn factor_calibration_error(
        &self,
        item: usize,
        factors: &[Vec<BigRational>],
    ) -> Option<BigRational> {
        let mut worst = BigRational::zero();
        for y in 0..self.classes {
            let mut groups: BTreeMap<BigRational, (BigRational, BigRational)> = BTreeMap::new();
            for symbol in 0..*self.alphabets.get(item)? {
                let row = self.joint_with_item(item, symbol);
                let group = groups
                    .entry(factors.get(symbol)?.get(y)?.clone())
                    .or_default();
                group.0 += &row[y];
                group.1 += row.iter().sum::<BigRational>();
            }
            for (c, (hits, total)) in groups {
                if !total.is_zero() {
                    worst = worst.max((hits / total - c).abs());
                }
            }
        }
        Some(worst)
    }

    /// The expected calibration error of a predictor, `Σ_c P(conf = c)·|P(Y = ŷ | conf = c) − c|`,
    /// with confidence the largest entry, `ŷ` its first class, and one bin a value: no binning can
    /// make this larger. `None` where the predictor returns too few classes.
    pub fn calibration_error(
        &self,
        predictor: impl Fn(&[usize]) -> Vec<BigRational>,
    ) -> Option<BigRational> {
        let mut groups: BTreeMap<BigRational, (BigRational, BigRational)> = BTreeMap::new();
        for e in self.outcomes() {
            let prediction = predictor(&e);
            if prediction.len() != self.classes {
                return None;
            }
            let mut winner = 0;
            for (y, p) in prediction.iter().enumerate() {
                if *p > prediction[winner] {
                    winner = y;
                }
            }
            let group = groups.entry(prediction.get(winner)?.clone()).or_default();
            group.0 += self.at(winner, &e);
            group.1 += self.probability(&e);
        }
        // P(conf = c)·|hits/total − c| = |hits − c·total|.
        Some(
            groups
                .into_iter()
                .map(|(c, (hits, total))| (hits - c * total).abs())
                .sum(),
        )
    }
}

/// The normalized product of factors: LPF-SPN with all weights 1. `None` where nothing is possible.
pub(super) fn product(factors: &[Vec<BigRational>]) -> Option<Vec<BigRational>> {
    let classes = factors.first()?.len();
    let scores: Vec<BigRational> = (0..classes)
        .map(|y| {
            factors
                .iter()
                .map(|f| f.get(y).cloned())
                .product::<Option<BigRational>>()
        })
        .collect::<Option<_>>()?;
    let total: BigRational = scores.iter().sum();
    (!total.is_zero()).then(|| scores.into_iter().map(|s| s / &total).collect())
}

/// Whether the entries are not negative and add up to exactly one.
pub(super) fn is_distribution(values: &[BigRational]) -> bool {
    values.iter().all(|p| !p.is_negative()) && values.iter().sum::<BigRational>().is_one()
}

/// A6: every entry at least `1/(2|Y|)`.
pub(super) fn bounded_support(factor: &[BigRational]) -> bool {
    let floor = super::witness::fraction(1, 2 * factor.len() as u64);
    factor.iter().all(|p| *p >= floor)
}

/// All tuples of one symbol per alphabet, the last one running fastest.
fn tuples(alphabets: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let count: usize = alphabets.iter().product();
    (0..count).map(move |mut index| {
        let mut tuple = vec![0; alphabets.len()];
        for (slot, &size) in tuple.iter_mut().zip(alphabets).rev() {
            *slot = index % size;
            index /= size;
        }
        tuple
    })
}

#[cfg(test)]
mod tests {
    use super::super::witness::fraction as q;
    use super::*;

    fn noisy_pair() -> Joint {
        let item = vec![vec![q(3, 4), q(1, 4)], vec![q(1, 4), q(3, 4)]];
        Joint::independent(&[q(1, 2), q(1, 2)], &[item.clone(), item]).unwrap()
    }

    #[test]
    fn conditional_independence_is_seen_and_its_absence_too() {
        assert!(noisy_pair().conditionally_independent());
        // The second item copies the first: marginals as before, A1 violated.
        let (a, b, o) = (q(3, 8), q(1, 8), q(0, 1));
        let table = vec![
            a.clone(),
            o.clone(),
            o.clone(),
            b.clone(),
            b,
            o.clone(),
            o,
            a,
        ];
        let copied = Joint::from_table(2, vec![2, 2], table).unwrap();
        assert_eq!(copied.factor(1, 0), noisy_pair().factor(1, 0));
        assert!(!copied.conditionally_independent());
    }

    #[test]
    fn factors_posteriors_and_calibration_by_hand() {
        let world = noisy_pair();
        assert_eq!(world.factor(0, 0), Some(vec![q(3, 4), q(1, 4)]));
        assert_eq!(world.posterior(&[0, 0]), Some(vec![q(9, 10), q(1, 10)]));
        assert_eq!(world.posterior(&[0, 1]), Some(vec![q(1, 2), q(1, 2)]));
        let exact: Vec<_> = (0..2).map(|a| world.factor(0, a).unwrap()).collect();
        assert_eq!(world.factor_calibration_error(0, &exact), Some(q(0, 1)));
        // Overconfident factors: (9/10, 1/10) where 3/4 is right is off by 3/20.
        let off = [vec![q(9, 10), q(1, 10)], vec![q(1, 10), q(9, 10)]];
        assert_eq!(world.factor_calibration_error(0, &off), Some(q(3, 20)));
        let posterior = |e: &[usize]| world.posterior(e).unwrap();
        assert_eq!(world.calibration_error(posterior), Some(q(0, 1)));
        // Always "class 0 for certain": half of them wrong.
        let sure = |_: &[usize]| vec![q(1, 1), q(0, 1)];
        assert_eq!(world.calibration_error(sure), Some(q(1, 2)));
        assert_eq!(world.calibration_error(|_| vec![]), None);
    }

    #[test]
    fn what_is_not_a_distribution_is_refused() {
        assert_eq!(Joint::from_table(2, vec![], vec![q(1, 2), q(1, 3)]), None);
        assert_eq!(Joint::from_table(2, vec![2], vec![q(1, 2), q(1, 2)]), None);
        assert_eq!(Joint::constant_evidence(&[q(1, 2)], 3), None);
        let item = vec![vec![q(1, 2), q(1, 4)]; 2];
        assert_eq!(Joint::independent(&[q(1, 2), q(1, 2)], &[item]), None);
    }
}
