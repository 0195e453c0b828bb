//! Tests of "both logs are from one population", valid for any number of rows.
//!
//! Given the rows of both logs together, each division into a first and a second log of their sizes is
//! equally likely under the hypothesis. So the number of right predictions in the first is
//! hypergeometric (Fisher's exact test), and the p-value `(1 + #{b : T_b ≥ T})/(1 + B)` of `B` random
//! divisions is at most `α` with probability at most `α`, whatever the statistic `T` and the distribution of
//! the rows.

use rayon::prelude::*;

use crate::latent::random::Stream;
use crate::math::{ExactSum, exp};

/// Random divisions.
const DIVISIONS: u64 = 999;

/// Sums that are equal in exact numbers may differ by rounding; they count as equal.
const EQUAL: f64 = 1.0 - 1e-9;

/// `ln` of the probability of `x` marked ones among `n` drawn of `total`, of which `marked` are marked.
fn log_probability(x: u64, n: u64, marked: u64, total: u64) -> f64 {
    let choose = |n: u64, k: u64| {
        let lgamma = |n: u64| libm::lgamma(n as f64 + 1.0);
        lgamma(n) - lgamma(k) - lgamma(n - k)
    };
    choose(marked, x) + choose(total - marked, n - x) - choose(total, n)
}

/// The support of a hypergeometric number, and its mode.
fn support(n: u64, marked: u64, total: u64) -> (u64, u64, u64) {
    let low = (n + marked).saturating_sub(total);
    let high = n.min(marked);
    let mode = (u128::from(n) + 1) * (u128::from(marked) + 1) / (u128::from(total) + 2);
    (low, (mode as u64).clamp(low, high), high)
}

/// `P(x + 1)/P(x)`.
fn ratio(x: u64, n: u64, marked: u64, total: u64) -> f64 {
    let up = (marked - x) as f64 * (n - x) as f64;
    let down = (x + 1) as f64 * ((total + x + 1) - n - marked) as f64;
    up / down
}

/// Fisher's exact test: the two-sided p-value of `a` right ones of `n` against `b` of `m`, the probability of
/// all divisions that are no more likely than this one.
pub(super) fn fisher(a: u64, n: u64, b: u64, m: u64) -> f64 {
    let (marked, total) = (a + b, n + m);
    let (low, mode, high) = support(n, marked, total);
    // Weights from the mode on, where they are one; far out they vanish.
    let mut weights = vec![(mode, 1.0)];
    let mut weight = 1.0;
    for x in mode..high {
        weight *= ratio(x, n, marked, total);
        weights.push((x + 1, weight));
        if weight < 1e-300 {
            break;
        }
    }
    weight = 1.0;
    for x in (low..mode).rev() {
        weight /= ratio(x, n, marked, total);
        weights.push((x, weight));
        if weight < 1e-300 {
            break;
        }
    }
    let observed = weights.iter().find(|(x, _)| *x == a).map_or(0.0, |w| w.1);
    let all: ExactSum = weights.iter().map(|w| w.1).collect();
    let rare = weights.iter().filter(|w| w.1 * EQUAL <= observed);
    let rare: ExactSum = rare.map(|w| w.1).collect();
    (rare.to_f64() / all.to_f64()).min(1.0)
}

/// A hypergeometric draw: from the mode outwards, the likelier side first.
fn draw(stream: &mut Stream, n: u64, marked: u64, total: u64) -> u64 {
    let (low, mode, high) = support(n, marked, total);
    if low == high {
        return low;
    }
    let mut left = stream.uniform();
    let at_mode = exp(log_probability(mode, n, marked, total));
    if left < at_mode {
        return mode;
    }
    left -= at_mode;
    let (mut up, mut down) = ((mode, at_mode), (mode, at_mode));
    loop {
        let mut moved = false;
        if up.0 < high {
            up = (up.0 + 1, up.1 * ratio(up.0, n, marked, total));
            if left < up.1 {
                return up.0;
            }
            left -= up.1;
            moved = up.1 > 0.0;
        }
        if down.0 > low {
            let x = down.0 - 1;
            down = (x, down.1 / ratio(x, n, marked, total));
            if left < down.1 {
                return x;
            }
            left -= down.1;
            moved |= down.1 > 0.0;
        }
        // What rounding left over of the whole probability.
        if !moved {
            return mode;
        }
    }
}

/// A statistic of a division: how many rows of each kind are in the first log.
pub(super) type Statistic<'a> = &'a (dyn Fn(&[u64]) -> f64 + Sync);

/// The p-values of some statistics of one division. Of each kind of row there are so many in the first
/// and in the second log.
pub(super) fn permuted<const N: usize>(
    kinds: &[(u64, u64)],
    statistics: [Statistic<'_>; N],
    seed: u64,
    purpose: u64,
) -> [f64; N] {
    let first: Vec<u64> = kinds.iter().map(|kind| kind.0).collect();
    let n: u64 = first.iter().sum();
    let total: u64 = kinds.iter().map(|kind| kind.0 + kind.1).sum();
    let observed = statistics.map(|statistic| statistic(&first));
    let reached = (0..DIVISIONS)
        .into_par_iter()
        .map_init(
            || vec![0u64; kinds.len()],
            |counts, division| {
                let mut stream = Stream::new(seed, purpose, division, 0);
                let (mut n, mut total) = (n, total);
                for (count, kind) in counts.iter_mut().zip(kinds) {
                    let rows = kind.0 + kind.1;
                    *count = draw(&mut stream, n, rows, total);
                    n -= *count;
                    total -= rows;
                }
                let mut reached = [0u64; N];
                for ((hit, statistic), observed) in reached.iter_mut().zip(statistics).zip(observed)
                {
                    *hit = u64::from(statistic(counts) >= EQUAL * observed);
                }
                reached
            },
        )
        .reduce(
            || [0; N],
            |mut a, b| {
                for (x, y) in a.iter_mut().zip(b) {
                    *x += y;
                }
                a
            },
        );
    reached.map(|hits| (1 + hits) as f64 / (1 + DIVISIONS) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::{binomial_cdf, binomial_upper_tail};

    #[test]
    fn fisher_is_that_of_scipy() {
        // scipy.stats.fisher_exact([[a, n − a], [b, m − b]]).pvalue of SciPy 1.17.1.
        for (a, n, b, m, want) in [
            (8, 10, 1, 6, 0.034_965_034_965_034_97),
            (1, 1, 0, 1, 1.0),
            (3, 5, 300, 500, 1.0),
            (0, 5, 400, 500, 0.000_359_873_664_313_077_34),
            (380, 500, 410, 500, 0.024_206_354_334_461_135),
        ] {
            let got = fisher(a, n, b, m);
            assert!((got / want - 1.0).abs() < 1e-7, "{a} {n} {b} {m}: {got}");
        }
    }

    #[test]
    fn draws_are_hypergeometric() {
        const DRAWS: u64 = 20_000;
        for (n, marked, total) in [(5, 7, 12), (40, 3, 50), (200, 500, 1000), (1, 1, 2)] {
            let mut stream = Stream::new(3, n, marked, total);
            let mut seen = vec![0u64; n as usize + 1];
            for _ in 0..DRAWS {
                seen[draw(&mut stream, n, marked, total) as usize] += 1;
            }
            let (low, _, high) = support(n, marked, total);
            let sum: f64 = (low..=high)
                .map(|x| log_probability(x, n, marked, total).exp())
                .sum();
            assert!((sum - 1.0).abs() < 1e-10);
            for (x, &count) in seen.iter().enumerate() {
                let x = x as u64;
                if x < low || x > high {
                    assert_eq!(count, 0);
                    continue;
                }
                let p = log_probability(x, n, marked, total).exp().min(1.0);
                let below = binomial_cdf(count, DRAWS, p).unwrap().high();
                let above = binomial_upper_tail(count, DRAWS, p).unwrap().high();
                assert!(
                    below > 1e-11 && above > 1e-11,
                    "{n} {marked} {total} {x}: {count}"
                );
            }
        }
    }

    /// With one statistic and two kinds the random divisions are those of Fisher's test.
    #[test]
    fn random_divisions_agree_with_all_divisions() {
        let kinds = [(8, 1), (2, 5)];
        // 9·10/16 = 5.625 right ones are expected among the first ten.
        let distance = |counts: &[u64]| (counts[0] as f64 - 5.625).abs();
        let [got] = permuted(&kinds, [&distance], 4, 5);
        // Three, eight and nine are as far from it as eight, or further.
        let exact: f64 = [3u64, 8, 9]
            .iter()
            .map(|&x| log_probability(x, 10, 9, 16).exp())
            .sum();
        // Six standard deviations.
        let tolerance = 6.0 * (exact / 999.0).sqrt();
        assert!((got - exact).abs() < tolerance, "{got} {exact}");
    }

    /// A statistic that every division gives was reached by every one.
    #[test]
    fn what_is_always_reached_is_no_surprise() {
        let always: Statistic<'_> = &|_| 2.0;
        // As many rows of the first kind as can be: 5 of the 7, C(7, 5)/C(14, 5) = 21/2002 of the divisions.
        let most: Statistic<'_> = &|counts| counts[0] as f64;
        let [always, rare] = permuted(&[(5, 2), (0, 7)], [always, most], 1, 2);
        assert_eq!(always, 1.0);
        let deviation = libm::sqrt(21.0 / 2002.0 / DIVISIONS as f64);
        assert!(
            (rare - 21.0 / 2002.0).abs() < 6.0 * deviation + 1.0 / DIVISIONS as f64,
            "{rare}"
        );
    }
}
