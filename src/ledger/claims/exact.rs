//! Tools for claims that are decided exactly over finite domains, all of whose cases are enumerated.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed};

use crate::ledger::verdict::Finding;
use crate::math::{Enclosure, rational};

/// Precision of exponentials and logarithms; comparisons differ in the first digits.
pub(super) const BITS: u32 = 48;

pub(super) fn fraction(n: u64, d: u64) -> BigRational {
    BigRational::new(n.into(), d.into())
}

/// All ways to write `total` as a sum of `parts` whole numbers of at least `least`.
pub(super) fn compositions(total: u64, parts: usize, least: u64) -> Vec<Vec<u64>> {
    if parts == 1 {
        let whole = (total >= least).then(|| vec![total]);
        return whole.into_iter().collect();
    }
    let mut all = Vec::new();
    for first in least..=total {
        for rest in compositions(total - first, parts - 1, least) {
            all.push([vec![first], rest].concat());
        }
    }
    all
}

/// All distributions over `classes` classes with a denominator, every entry at least `least` of it.
pub(super) fn distributions(classes: usize, denominator: u64, least: u64) -> Vec<Vec<BigRational>> {
    let fractions = |parts: Vec<u64>| {
        parts
            .into_iter()
            .map(|n| fraction(n, denominator))
            .collect()
    };
    let all = compositions(denominator, classes, least);
    all.into_iter().map(fractions).collect()
}

/// `values` divided by their sum, which must not be zero.
pub(super) fn normalized(values: Vec<BigRational>) -> Vec<BigRational> {
    let total: BigRational = values.iter().sum();
    values.into_iter().map(|v| v / &total).collect()
}

/// `‖a − b‖₁`.
pub(super) fn l1(a: &[BigRational], b: &[BigRational]) -> BigRational {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum()
}

pub(super) fn power(x: &BigRational, n: u64) -> BigRational {
    // Numerator and denominator have no common factor, and neither have their powers.
    let raised = |part: &BigInt| num_traits::pow(part.clone(), n as usize);
    BigRational::new_raw(raised(x.numer()), raised(x.denom()))
}

/// `P(X = k)` for a binomial `X` and `k` from 0 to `n`.
pub(super) fn binomial(n: u64, p: &BigRational) -> Vec<BigRational> {
    let misses = BigRational::one() - p;
    let mut ways = BigInt::one();
    let mut points = Vec::new();
    for k in 0..=n {
        let chance = power(p, k) * power(&misses, n - k);
        points.push(BigRational::from_integer(ways.clone()) * chance);
        ways = ways * (n - k) / (k + 1);
    }
    points
}

/// The rates k/8 between 0 and 1, each with its binomial distribution for `n` trials.
pub(super) fn eighths(n: u64) -> Vec<(BigRational, Vec<BigRational>)> {
    let rates = (1..8).map(|k| fraction(k, 8));
    rates.map(|p| (p.clone(), binomial(n, &p))).collect()
}

/// The probability of the outcomes `k` that `fails` holds of.
pub(super) fn failure(points: &[BigRational], fails: impl Fn(u64) -> bool) -> BigRational {
    let outcomes = points.iter().zip(0..);
    outcomes
        .filter(|(_, k)| fails(*k))
        .map(|(point, _)| point)
        .sum()
}

/// `P(|X/n − p| > ε)` for a binomial `X`.
pub(super) fn binomial_tail(n: u64, p: &BigRational, epsilon: &BigRational) -> BigRational {
    failure(&binomial(n, p), |k| (fraction(k, n) - p).abs() > *epsilon)
}

/// Doubles as fractions; `None` where one has no value or is none.
pub(super) fn fractions<E>(
    values: impl Iterator<Item = Result<f64, E>>,
) -> Option<Vec<BigRational>> {
    values.map(|value| rational(value.ok()?)).collect()
}

/// Whether every case passed, and how many there were.
#[derive(Default)]
pub(super) struct Tally {
    cases: usize,
    failed: Vec<String>,
}

impl Tally {
    pub(super) fn case(&mut self, holds: bool, name: impl Fn() -> String) {
        self.cases += 1;
        if !holds {
            self.failed.push(name());
        }
    }

    pub(super) fn finding(self, domain: &str) -> Finding {
        match self.failed.first() {
            None => Finding::checked(format!("{domain}, all {} cases", self.cases), Vec::new()),
            Some(first) => Finding::refuted(first.clone(), self.failed),
        }
    }
}

/// `2·exp(−x)` from below.
pub(super) fn twice_exp(x: BigRational) -> BigRational {
    fraction(2, 1) * Enclosure::exact(-x).exp(BITS).low()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_with_a_failure_is_not_a_proof() {
        let mut tally = Tally::default();
        tally.case(true, || "a".into());
        tally.case(false, || "b".into());
        let finding = tally.finding("two cases");
        assert_eq!(finding.verdict.kind().name(), "Refuted");
    }

    #[test]
    fn tails_are_those_of_the_binomial() {
        // P(|X/4 − 1/2| > 1/4) = P(X = 0) + P(X = 4) = 2/16.
        assert_eq!(
            binomial_tail(4, &fraction(1, 2), &fraction(1, 4)),
            fraction(1, 8)
        );
        assert_eq!(compositions(4, 3, 0).len(), 15);
        assert_eq!(compositions(6, 3, 1).len(), 10);
    }

    #[test]
    fn a_hoeffding_exponent_twice_too_large_is_caught() {
        // Negative control for the comparison: exp(−4nε²) is not a bound at n = 1, p = 1/2.
        let epsilon = fraction(3, 8);
        let tail = binomial_tail(1, &fraction(1, 2), &epsilon);
        let wrong = Enclosure::exact(-(fraction(8, 1) * &epsilon * &epsilon)).exp(BITS);
        assert!(tail > fraction(2, 1) * wrong.high());
    }
}
