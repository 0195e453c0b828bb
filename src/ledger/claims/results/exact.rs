//! Results that hold, decided exactly over finite domains that are enumerated completely.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use crate::bounds::{compositions, effective_count_exact};
use crate::ledger::claims::Context;
use crate::ledger::expr::LedgerError;
use crate::ledger::verdict::Finding;
use crate::math::Enclosure;
use crate::simplex::{linear_combination, power_product};
use crate::uncertainty::variance_decomposition;

/// Precision of exponentials and logarithms below; comparisons differ in the first digits.
const BITS: u32 = 48;

fn fraction(n: u64, d: u64) -> BigRational {
    BigRational::new(n.into(), d.into())
}

/// All distributions over `classes` classes with a denominator.
fn distributions(classes: usize, denominator: u64) -> Vec<Vec<BigRational>> {
    compositions(denominator, classes, 0)
        .into_iter()
        .map(|parts| {
            parts
                .into_iter()
                .map(|n| fraction(n, denominator))
                .collect()
        })
        .collect()
}

fn binomial(n: u64, k: u64) -> BigRational {
    let mut value = BigInt::one();
    for i in 0..k {
        value = value * (n - i) / (i + 1);
    }
    BigRational::from_integer(value)
}

fn power(x: &BigRational, n: u64) -> BigRational {
    (0..n).fold(BigRational::one(), |product, _| product * x)
}

/// `P(|X/n − p| > ε)` for a binomial `X`.
fn binomial_tail(n: u64, p: &BigRational, epsilon: &Enclosure) -> BigRational {
    let q = BigRational::one() - p;
    (0..=n)
        .filter(|&k| (fraction(k, n) - p).abs() > *epsilon.low())
        .map(|k| binomial(n, k) * power(p, k) * power(&q, n - k))
        .sum()
}

/// Whether every case passed, and how many there were.
struct Tally {
    cases: usize,
    failed: Vec<String>,
}

impl Tally {
    fn new() -> Self {
        Tally {
            cases: 0,
            failed: Vec::new(),
        }
    }

    fn case(&mut self, holds: bool, name: impl Fn() -> String) {
        self.cases += 1;
        if !holds {
            self.failed.push(name());
        }
    }

    fn finding(self, domain: &str) -> Finding {
        match self.failed.first() {
            None => Finding::proved(format!("{domain}, all {} cases", self.cases), Vec::new()),
            Some(first) => Finding::refuted(first.clone(), self.failed),
        }
    }
}

/// L1: the expectation of the estimate over all sample tuples is the factor.
pub(super) fn unbiased(_: &Context<'_>) -> Result<Finding, LedgerError> {
    let mut tally = Tally::new();
    let outputs: Vec<BigRational> = [0, 1, 3, 4].map(|n| fraction(n, 4)).to_vec();
    for weights in distributions(2, 4) {
        for (a, b) in outputs
            .iter()
            .flat_map(|a| outputs.iter().map(move |b| (a, b)))
        {
            let truth = &weights[0] * a + &weights[1] * b;
            for m in 1..=4u64 {
                // k of the m samples fall on the first point.
                let mean: BigRational = (0..=m)
                    .map(|k| {
                        let chance =
                            binomial(m, k) * power(&weights[0], k) * power(&weights[1], m - k);
                        chance * (fraction(k, m) * a + fraction(m - k, m) * b)
                    })
                    .sum();
                tally.case(mean == truth, || format!("M = {m}, weights {weights:?}"));
            }
        }
    }
    Ok(tally.finding(
        "two-point posteriors with denominator 4, decoder outputs 0, 1/4, 3/4, 1, M = 1 to 4",
    ))
}

/// L2, for coins: exact tails against the exponential.
pub(super) fn hoeffding(_: &Context<'_>) -> Result<Finding, LedgerError> {
    let mut tally = Tally::new();
    for n in 1..=10u64 {
        for p in (1..8).map(|k| fraction(k, 8)) {
            for epsilon in (1..8).map(|j| fraction(j, 8)) {
                let tail = binomial_tail(n, &p, &Enclosure::exact(epsilon.clone()));
                let exponent = -(fraction(2 * n, 1) * &epsilon * &epsilon);
                let bound = Enclosure::exact(exponent).exp(BITS);
                let twice = fraction(2, 1) * bound.low();
                tally.case(tail <= twice, || format!("n = {n}, p = {p}, ε = {epsilon}"));
            }
        }
    }
    Ok(tally.finding("coins with bias k/8, n = 1 to 10, ε = j/8"))
}

/// L3, on the library's own generic kernels.
pub(super) fn closure(_: &Context<'_>) -> Result<Finding, LedgerError> {
    let mut tally = Tally::new();
    let mut contradictions = 0;
    let all = distributions(3, 4);
    let valid = |values: &[BigRational]| {
        values.iter().all(|v| !v.is_negative()) && values.iter().sum::<BigRational>().is_one()
    };
    for (f, g) in all.iter().flat_map(|f| all.iter().map(move |g| (f, g))) {
        for weight in (0..=4).map(|k| fraction(k, 4)) {
            let weights = [weight.clone(), BigRational::one() - &weight];
            let mut sum = vec![BigRational::zero(); 3];
            linear_combination(&weights, &[f, g], &mut sum);
            tally.case(valid(&sum), || format!("sum of {f:?} and {g:?}"));
        }
        for exponents in [[1, 1], [2, 1]] {
            let mut product = vec![BigRational::zero(); 3];
            power_product(&exponents, &[f, g], &mut product);
            let total: BigRational = product.iter().sum();
            if total.is_zero() {
                contradictions += 1;
                continue;
            }
            let normalized: Vec<BigRational> = product.iter().map(|v| v / &total).collect();
            tally.case(valid(&normalized), || format!("product of {f:?} and {g:?}"));
        }
    }
    let mut finding = tally.finding(
        "pairs of distributions over three classes with denominator 4, weights k/4, exponents 1 and 2",
    );
    finding.evidence.push(format!(
        "{contradictions} products vanish everywhere and have no normalization: Z > 0 is a hypothesis"
    ));
    Ok(finding)
}

/// L3 as stated, with weights of any sign.
pub(super) fn negative_weight(_: &Context<'_>) -> Result<Finding, LedgerError> {
    let (one, two) = (BigRational::one(), fraction(2, 1));
    let weights = [two, -&one];
    let rows = [
        vec![one.clone(), BigRational::zero()],
        vec![BigRational::zero(), one.clone()],
    ];
    let mut sum = vec![BigRational::zero(); 2];
    linear_combination(&weights, &rows, &mut sum);
    let total: BigRational = weights.iter().sum();
    let steps = vec![
        format!("weights 2 and −1 sum to {total}"),
        format!("2·(1, 0) − 1·(0, 1) = ({}, {})", sum[0], sum[1]),
    ];
    Ok(if total.is_one() && sum.iter().any(Signed::is_negative) {
        Finding::refuted("weights 2 and −1: an entry of −1", steps)
    } else {
        Finding::reproduced("no negative entry", steps)
    })
}

/// L4, for signs: all 2ⁿ outcomes against the exponential.
pub(super) fn weighted(_: &Context<'_>) -> Result<Finding, LedgerError> {
    let mut tally = Tally::new();
    for n in 1..=5usize {
        for parts in compositions(6, n, 1) {
            let weights: Vec<BigRational> = parts.iter().map(|&w| fraction(w, 6)).collect();
            let Some(effective) = effective_count_exact(&weights) else {
                continue;
            };
            for epsilon in (1..6).map(|j| fraction(j, 6)) {
                let exceeding = (0..1u64 << n)
                    .filter(|signs| {
                        let sum: BigRational = weights
                            .iter()
                            .enumerate()
                            .map(|(i, w)| if signs >> i & 1 == 1 { w.clone() } else { -w })
                            .sum();
                        sum.abs() > epsilon
                    })
                    .count();
                let tail = fraction(exceeding as u64, 1 << n);
                let exponent = -(&effective * &epsilon * &epsilon) / fraction(2, 1);
                let twice = fraction(2, 1) * Enclosure::exact(exponent).exp(BITS).low();
                tally.case(tail <= twice, || {
                    format!("weights {parts:?}/6, ε = {epsilon}")
                });
            }
        }
    }
    Ok(tally.finding("fair signs, n = 1 to 5, weights with denominator 6, ε = j/6"))
}

/// T2, for a decoder that is certain of one of two classes: the worst spread there is.
pub(super) fn monte_carlo(cx: &Context<'_>) -> Result<Finding, LedgerError> {
    let classes = cx.paper.number("sec:thm1/classes")?.value();
    let mut tally = Tally::new();
    for m in 1..=16u64 {
        for delta in [fraction(1, 20), fraction(1, 4), fraction(1, 2)] {
            let ratio = Enclosure::exact(fraction(2, 1) * &classes / &delta);
            let radius = ratio
                .ln(BITS)
                .and_then(|log| log.divide(&Enclosure::integer(2 * m)))
                .and_then(|square| square.sqrt(BITS));
            let Some(radius) = radius else {
                return Ok(Finding::not_reproducible(
                    "the bound is undefined",
                    Vec::new(),
                ));
            };
            for p in (1..8).map(|k| fraction(k, 8)) {
                let tail = binomial_tail(m, &p, &radius);
                tally.case(tail <= delta, || format!("M = {m}, p = {p}, δ = {delta}"));
            }
        }
    }
    Ok(tally.finding(
        "decoders certain of one class, posterior mass k/8, M = 1 to 16, δ = 1/20, 1/4, 1/2",
    ))
}

/// T7, on the library's own generic kernel.
pub(super) fn decomposition(_: &Context<'_>) -> Result<Finding, LedgerError> {
    let mut tally = Tally::new();
    let all = distributions(3, 3);
    let mut check = |rows: &[&Vec<BigRational>]| {
        let flat: Vec<BigRational> = rows.iter().flat_map(|r| r.iter().cloned()).collect();
        let holds = variance_decomposition(&flat, 3)
            .is_ok_and(|parts| parts.total == parts.epistemic + parts.aleatoric);
        tally.case(holds, || format!("rows {rows:?}"));
    };
    for a in &all {
        for b in &all {
            check(&[a, b]);
            for c in &all {
                check(&[a, b, c]);
            }
        }
    }
    Ok(tally
        .finding("two and three samples of distributions over three classes with denominator 3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_with_a_failure_is_not_a_proof() {
        let mut tally = Tally::new();
        tally.case(true, || "a".into());
        tally.case(false, || "b".into());
        let finding = tally.finding("two cases");
        assert_eq!(finding.verdict.kind().name(), "Refuted");
    }

    #[test]
    fn tails_are_those_of_the_binomial() {
        // P(|X/4 − 1/2| > 1/4) = P(X = 0) + P(X = 4) = 2/16.
        let quarter = Enclosure::exact(fraction(1, 4));
        assert_eq!(binomial_tail(4, &fraction(1, 2), &quarter), fraction(1, 8));
        assert_eq!(compositions(4, 3, 0).len(), 15);
        assert_eq!(compositions(6, 3, 1).len(), 10);
    }

    #[test]
    fn a_hoeffding_exponent_twice_too_large_is_caught() {
        // Negative control for the comparison: exp(−4nε²) is not a bound at n = 1, p = 1/2.
        let epsilon = fraction(3, 8);
        let tail = binomial_tail(1, &fraction(1, 2), &Enclosure::exact(epsilon.clone()));
        let wrong = Enclosure::exact(-(fraction(8, 1) * &epsilon * &epsilon)).exp(BITS);
        assert!(tail > fraction(2, 1) * wrong.high());
    }
}
