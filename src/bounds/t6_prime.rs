//! T6′, in place of theorem 6: with conditionally independent evidence the error of the best
//! decision falls exponentially, at the rate of the Chernoff information.
//!
//! # Statement
//! Let `K` items be drawn independently given the class, item by item with the same distribution
//! `Pᵢ` over a finite alphabet for class `i`, and let `π` be the prior. For two distributions put
//! `ρ_s(P, Q) = Σ_a P(a)^{1−s}·Q(a)^s`, and let `C(P, Q) = −ln min_{0≤s≤1} ρ_s(P, Q)` be their
//! Chernoff information. The error of the best decision, `e_K`, satisfies
//!
//! 1. `e_K ≤ Σ_{i<j} min_s πᵢ^{1−s}·πⱼ^s·ρ_s(Pᵢ, Pⱼ)^K ≤ (n−1)·e^{−K·C}` for `n` classes, where
//!    `C = min_{i<j} C(Pᵢ, Pⱼ)`;
//! 2. for two classes, `e_K ≥ ½·(1 − √(1 − 4π₁π₂·ρ^{2K}))` with `ρ = ρ_{1/2}(P₁, P₂)`.
//!
//! # Proof
//! For a sequence `x` of items write `aᵢ(x) = πᵢ·∏ₖ Pᵢ(xₖ)`. The best decision takes the largest
//! `aᵢ`, so `e_K = Σ_x (Σᵢ aᵢ − maxᵢ aᵢ)`.
//!
//! 1. Order the `aᵢ` at `x` so that `a₁` is the largest: `Σ_{j≥2} aⱼ = Σ_{j≥2} min(a₁, aⱼ) ≤
//!    Σ_{i<j} min(aᵢ, aⱼ)`. For `0 ≤ s ≤ 1`, `min(u, v) ≤ u^{1−s}v^s`. Summed over all `x`, the
//!    product form splits: `Σ_x aᵢ^{1−s}aⱼ^s = πᵢ^{1−s}πⱼ^s·ρ_s(Pᵢ, Pⱼ)^K`. The second inequality:
//!    `πᵢ^{1−s}πⱼ^s ≤ (1−s)πᵢ + sπⱼ ≤ πᵢ + πⱼ`, and `Σ_{i<j} (πᵢ + πⱼ) = n − 1`.
//! 2. Let `m = Σ_x min(a₁, a₂) = e_K`, so `Σ_x max(a₁, a₂) = 1 − m`. By Cauchy and Schwarz
//!    `m(1−m) ≥ (Σ_x √(a₁a₂))² = π₁π₂ρ^{2K}`; solve for `m ≤ ½`. ∎
//!
//! The exponent `C` of part 1 cannot be improved (Cramér's theorem). Part 2 does not show that: it
//! falls like `ρ^{2K}`, and since `−ln ρ ≤ C` its exponent `−2·ln ρ` is at most `2C`, with equality
//! where `s = ½` is best. [`bayes_error_exact`] shows how close the bounds are at finite `K`,
//! without rounding.

use num_rational::BigRational;
use num_traits::{One, Zero};

use super::BoundError;
use super::domain::{at_least_two, length, open_unit};
use crate::math::Interval;
use crate::simplex::Distribution;

/// `ρ_s(P, Q) = Σ P^{1−s}Q^s` over the symbols both allow, enclosed.
fn affinity(p: &Distribution, q: &Distribution, s: f64) -> Interval {
    let s = Interval::point(s);
    let rest = Interval::point(1.0) - s;
    let pairs = p.probabilities().iter().zip(q.probabilities());
    pairs
        .filter(|&(&a, &b)| a > 0.0 && b > 0.0)
        .fold(Interval::point(0.0), |sum, (&a, &b)| {
            sum + (rest * Interval::point(a).ln() + s * Interval::point(b).ln()).exp()
        })
}

/// `ln(π₁^{1−s}·π₂^s·ρ_s^K)`, enclosed.
fn log_term(prior: [f64; 2], p: &Distribution, q: &Distribution, k: u64, s: f64) -> Interval {
    let weight = Interval::point(s);
    let rest = Interval::point(1.0) - weight;
    let priors = rest * Interval::point(prior[0]).ln() + weight * Interval::point(prior[1]).ln();
    priors + Interval::count(k) * affinity(p, q, s).ln()
}

/// The best `s` for a pair: golden section on a function that is convex in `s` (a logarithm of a
/// sum of exponentials of linear functions). Where it stops does not matter for correctness: the
/// bound holds for every `s`.
fn best_exponent(value: impl Fn(f64) -> f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9; // (√5 − 1)/2
    // 0.618^60 < 10⁻¹²; near the minimum the value is flat to second order.
    const STEPS: usize = 60;
    let (mut low, mut high) = (0.0, 1.0);
    let mut inner = (1.0 - RATIO, RATIO);
    let mut values = (value(inner.0), value(inner.1));
    for _ in 0..STEPS {
        if values.0 <= values.1 {
            high = inner.1;
            inner = (high - RATIO * (high - low), inner.0);
            values = (value(inner.0), values.0);
        } else {
            low = inner.0;
            inner = (inner.1, low + RATIO * (high - low));
            values = (values.1, value(inner.1));
        }
    }
    low + (high - low) / 2.0
}

/// The Chernoff information `C(P, Q)` in nats, rounded down.
///
/// Domain: two distributions over the same symbols. Range: `[0, +∞]`; zero for equal
/// distributions, `+∞` where no symbol is possible under both.
///
/// # Errors
/// [`BoundError::Lengths`].
pub fn chernoff_information(p: &Distribution, q: &Distribution) -> Result<f64, BoundError> {
    same_alphabet(p, q)?;
    if disjoint(p, q) {
        return Ok(f64::INFINITY);
    }
    let s = best_exponent(|s| affinity(p, q, s).high());
    // Also at the middle, which is the best place for symmetric pairs, to the last bit.
    let information = [s, 0.5]
        .map(|s| (-affinity(p, q, s).ln()).low())
        .into_iter()
        .fold(0.0, f64::max);
    Ok(information)
}

fn disjoint(p: &Distribution, q: &Distribution) -> bool {
    let mut pairs = p.probabilities().iter().zip(q.probabilities());
    !pairs.any(|(&a, &b)| a > 0.0 && b > 0.0)
}

fn same_alphabet(p: &Distribution, q: &Distribution) -> Result<(), BoundError> {
    length("symbols", p.classes(), q.classes())
}

fn check(prior: &Distribution, likelihoods: &[Distribution]) -> Result<(), BoundError> {
    at_least_two("|Y|", prior.classes() as u64)?;
    length("likelihoods", prior.classes(), likelihoods.len())?;
    likelihoods
        .windows(2)
        .try_for_each(|pair| same_alphabet(&pair[0], &pair[1]))
}

/// T6′ part 1: an upper bound of the error of the best decision from `items` items, rounded up.
///
/// `likelihoods[i]` is the distribution of one item given class `i`. Range: `[0, 1]`, and never
/// above the error of the best constant decision.
///
/// # Errors
/// [`BoundError::Lengths`], [`BoundError::Parameter`] for fewer than two classes.
pub fn bayes_error_bound(
    prior: &Distribution,
    likelihoods: &[Distribution],
    items: u64,
) -> Result<f64, BoundError> {
    check(prior, likelihoods)?;
    let mut sum = Interval::point(0.0);
    for (i, p) in likelihoods.iter().enumerate() {
        for (j, q) in likelihoods.iter().enumerate().skip(i + 1) {
            let pair = [prior.probabilities()[i], prior.probabilities()[j]];
            if pair.contains(&0.0) || (items > 0 && disjoint(p, q)) {
                continue;
            }
            let s = best_exponent(|s| log_term(pair, p, q, items, s).high());
            let term = [s, 0.5].map(|s| log_term(pair, p, q, items, s).exp());
            let term = term[0].min(term[1]);
            // min(u, v) ≤ u and ≤ v: the ends s = 0 and s = 1 of the range.
            let ends = Interval::point(pair[0]).min(Interval::point(pair[1]));
            sum = sum + term.min(ends);
        }
    }
    // Deciding for the most probable class without looking at the items is never better.
    let blind = Interval::point(1.0) - Interval::point(*prior.confidence());
    let rounding = Interval::between(0.0, prior.classes() as f64 * f64::EPSILON);
    Ok(sum.high().min((blind + rounding).high()))
}

/// T6′: the smallest number of items for which [`bayes_error_bound`] is at most `error`. This many
/// items *suffice*, which is what theorem 6 wanted to say. `None` where no number does because two
/// possible classes have the same distribution of items.
///
/// # Errors
/// Those of [`bayes_error_bound`]; [`BoundError::Parameter`] for `error` outside `(0, 1)`.
pub fn sufficient_items(
    prior: &Distribution,
    likelihoods: &[Distribution],
    error: f64,
) -> Result<Option<u64>, BoundError> {
    open_unit("error", error)?;
    let enough = |k| Ok::<bool, BoundError>(bayes_error_bound(prior, likelihoods, k)? <= error);
    if enough(0)? {
        return Ok(Some(0));
    }
    // The bound decreases in k; beyond 2⁵⁰ items the affinities are one up to rounding.
    let mut high = 1u64;
    while !enough(high)? {
        if high >= 1 << 50 {
            return Ok(None);
        }
        high *= 2;
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(Some(high))
}

/// T6′ part 2: a lower bound of the error of the best decision between two classes, rounded down.
///
/// # Errors
/// [`BoundError::Lengths`], also for another number of classes than two.
pub fn bayes_error_floor(
    prior: &Distribution,
    likelihoods: &[Distribution],
    items: u64,
) -> Result<f64, BoundError> {
    check(prior, likelihoods)?;
    let ([a, b], [p, q]) = (prior.probabilities(), likelihoods) else {
        return Err(BoundError::Lengths {
            name: "classes",
            expected: 2,
            found: prior.classes(),
        });
    };
    let log = Interval::point(2.0) * Interval::count(items) * affinity(p, q, 0.5).ln();
    let product = Interval::point(*a) * Interval::point(*b) * log.exp();
    // ½(1 − √(1 − 4x)) = 2x/(1 + √(1 − 4x)), which does not cancel.
    let root = (Interval::point(1.0) - Interval::point(4.0) * product).sqrt();
    let floor = Interval::point(2.0) * product / (Interval::point(1.0) + root);
    Ok(floor.low().max(0.0))
}

/// The error of the best decision from `items` items, exactly, by counting how often each symbol
/// occurs: `1 − Σ_counts (multinomial) · maxᵢ πᵢ ∏ₐ Pᵢ(a)^{count(a)}`.
///
/// The number of counts is `C(items + symbols − 1, symbols − 1)`; meant for a few symbols.
///
/// # Errors
/// [`BoundError::Lengths`].
pub fn bayes_error_exact(
    prior: &Distribution<BigRational>,
    likelihoods: &[Distribution<BigRational>],
    items: u32,
) -> Result<BigRational, BoundError> {
    let symbols = likelihoods.first().map_or(0, Distribution::classes);
    length("likelihoods", prior.classes(), likelihoods.len())?;
    for likelihood in likelihoods {
        length("symbols", symbols, likelihood.classes())?;
    }
    let joint = prior.probabilities().to_vec();
    let right = count_out(&joint, likelihoods, 0, symbols, items, &BigRational::one());
    Ok(BigRational::one() - right)
}

/// Sums `ways · max joint` over all counts of the symbols from `symbol` on that add up to `left`.
fn count_out(
    joint: &[BigRational],
    likelihoods: &[Distribution<BigRational>],
    symbol: usize,
    symbols: usize,
    left: u32,
    ways: &BigRational,
) -> BigRational {
    let likelihood = |l: &Distribution<BigRational>| l.probabilities()[symbol].clone();
    if symbol + 1 == symbols {
        // All that is left goes to the last symbol, in one way.
        let all_left = |(j, l)| j * num_traits::pow(likelihood(l), left as usize);
        let best = joint.iter().zip(likelihoods).map(all_left).max();
        return best.unwrap_or_else(BigRational::zero) * ways;
    }
    let mut joint = joint.to_vec();
    let mut total = BigRational::zero();
    let mut ways = ways.clone();
    for count in 0..=left {
        total += count_out(
            &joint,
            likelihoods,
            symbol + 1,
            symbols,
            left - count,
            &ways,
        );
        // One more of this symbol: C(left, count+1) = C(left, count)·(left−count)/(count+1).
        ways *= BigRational::new((left - count).into(), (count + 1).into());
        for (j, l) in joint.iter_mut().zip(likelihoods) {
            *j = &*j * likelihood(l);
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rational;
    use num_traits::ToPrimitive;

    fn d(v: &[f64]) -> Distribution {
        Distribution::from_weights(v.to_vec()).unwrap()
    }

    fn q(n: i64, d: i64) -> BigRational {
        BigRational::new(n.into(), d.into())
    }

    fn exact(v: &[i64]) -> Distribution<BigRational> {
        let total: i64 = v.iter().sum();
        Distribution::new(v.iter().map(|&x| q(x, total)).collect()).unwrap()
    }

    #[test]
    fn information_in_closed_form() {
        // (p, 1−p) against (1−p, p): best at s = ½, C = −ln(2√(p(1−p))).
        let c = chernoff_information(&d(&[3.0, 1.0]), &d(&[1.0, 3.0])).unwrap();
        let want = -(3f64.sqrt() / 2.0).ln();
        assert!((c - want).abs() < 1e-15 && c <= want);
        // mpmath 1.4.1: minimum over s by findroot of the derivative at 30 digits.
        let c = chernoff_information(&d(&[8.0, 2.0]), &d(&[4.0, 6.0])).unwrap();
        assert!((c - 0.0921159450583168).abs() < 1e-14, "{c}");
        assert_eq!(
            chernoff_information(&d(&[1.0, 2.0]), &d(&[1.0, 2.0])),
            Ok(0.0)
        );
        let apart = chernoff_information(&d(&[1.0, 0.0]), &d(&[0.0, 1.0]));
        assert_eq!(apart, Ok(f64::INFINITY));
    }

    #[test]
    fn bound_and_floor_enclose_the_exact_error() {
        let cases: [(&[i64], &[&[i64]]); 4] = [
            (&[1, 1], &[&[3, 1], &[1, 3]]),
            (&[3, 2], &[&[8, 2], &[4, 6]]),
            (&[1, 2, 1], &[&[4, 2, 1], &[1, 4, 2], &[2, 1, 4]]),
            (&[9, 1], &[&[1, 1], &[1, 1]]),
        ];
        for (prior, rows) in cases {
            let floats = |v: &[i64]| d(&v.iter().map(|&x| x as f64).collect::<Vec<_>>());
            let likelihoods: Vec<Distribution> = rows.iter().map(|r| floats(r)).collect();
            let rational_rows: Vec<_> = rows.iter().map(|r| exact(r)).collect();
            for k in 0..12 {
                let truth = bayes_error_exact(&exact(prior), &rational_rows, k).unwrap();
                let bound = bayes_error_bound(&floats(prior), &likelihoods, k.into()).unwrap();
                // The doubles are not the fractions: off by a relative 2⁻⁵³ each, (k+1) factors.
                let slack = 1.0 + 1e-14;
                assert!(rational(bound * slack).unwrap() >= truth, "{prior:?} {k}");
                if prior.len() == 2 {
                    let floor = bayes_error_floor(&floats(prior), &likelihoods, k.into()).unwrap();
                    assert!(rational(floor / slack).unwrap() <= truth, "{prior:?} {k}");
                }
            }
        }
    }

    #[test]
    fn exact_error_by_hand() {
        // One item, uniform prior, (3/4, 1/4) against (1/4, 3/4): wrong with probability 1/4.
        let rows = [exact(&[3, 1]), exact(&[1, 3])];
        let even = exact(&[1, 1]);
        assert_eq!(bayes_error_exact(&even, &rows, 0), Ok(q(1, 2)));
        assert_eq!(bayes_error_exact(&even, &rows, 1), Ok(q(1, 4)));
        // A second item breaks no tie: still 1/4. Three: 1/64 + 3·3/64 = 10/64.
        assert_eq!(bayes_error_exact(&even, &rows, 2), Ok(q(1, 4)));
        assert_eq!(bayes_error_exact(&even, &rows, 3), Ok(q(5, 32)));
    }

    #[test]
    fn the_exact_error_falls_at_the_chernoff_rate() {
        let rows = [exact(&[3, 1]), exact(&[1, 3])];
        let even = exact(&[1, 1]);
        let error = |k| {
            bayes_error_exact(&even, &rows, k)
                .unwrap()
                .to_f64()
                .unwrap()
        };
        let c = chernoff_information(&d(&[3.0, 1.0]), &d(&[1.0, 3.0])).unwrap();
        // −ln(e_k)/k → C from above, up to the ln(k)/(2k) of a lattice sum.
        let rate = -(error(201).ln() - error(101).ln()) / 100.0;
        assert!((rate - c).abs() < 0.01, "{rate} {c}");
        // Negative control: it does not fall like 1/√K.
        assert!(error(201) < error(101) * (101f64 / 201.0).sqrt() * 1e-3);
    }

    #[test]
    fn sufficient_items_are_minimal_for_the_bound_and_really_suffice() {
        let prior = d(&[1.0, 1.0]);
        let rows = [d(&[3.0, 1.0]), d(&[1.0, 3.0])];
        let k = sufficient_items(&prior, &rows, 0.01).unwrap().unwrap();
        assert!(bayes_error_bound(&prior, &rows, k).unwrap() <= 0.01);
        assert!(bayes_error_bound(&prior, &rows, k - 1).unwrap() > 0.01);
        let truth = bayes_error_exact(&exact(&[1, 1]), &[exact(&[3, 1]), exact(&[1, 3])], k as u32);
        assert!(truth.unwrap() <= q(1, 100));
        let same = [d(&[1.0, 1.0]), d(&[1.0, 1.0])];
        assert_eq!(sufficient_items(&prior, &same, 0.01), Ok(None));
        assert_eq!(sufficient_items(&prior, &same, 0.6), Ok(Some(0)));
    }

    #[test]
    fn culprits() {
        assert!(bayes_error_bound(&d(&[1.0]), &[d(&[1.0])], 1).is_err());
        assert!(bayes_error_bound(&d(&[1.0, 1.0]), &[d(&[1.0])], 1).is_err());
        assert!(chernoff_information(&d(&[1.0]), &d(&[1.0, 1.0])).is_err());
        assert!(bayes_error_exact(&exact(&[1, 1]), &[exact(&[1])], 1).is_err());
    }

    /// Of (½, ½) and (1, 0) only the first symbol is allowed by both: ½ at s = 0, where what the other excludes
    /// would count with its whole weight, and 1 at s = 1.
    #[test]
    fn what_one_of_them_excludes_adds_nothing() {
        let (p, q) = (d(&[1.0, 1.0]), d(&[1.0, 0.0]));
        for (s, want) in [(0.0, 0.5), (0.5, 0.5f64.sqrt()), (1.0, 1.0)] {
            for (a, b, s) in [(&p, &q, s), (&q, &p, 1.0 - s)] {
                let found = affinity(a, b, s);
                assert!(found.low() <= want && want <= found.high(), "{s}");
                assert!(found.high() - found.low() < 1e-14, "{s}");
            }
        }
    }
}
