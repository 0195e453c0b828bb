//! Decisions from exact binomial tails. The tails are the certified ones of [`lpf::bounds`];
//! `harness_checks` compares them with multiple precision, exact rationals and `statrs`.

use lpf::bounds::{binomial_cdf, binomial_upper_tail, clopper_pearson_upper};

/// `P(X ≥ k)` for `X` binomial with `n` trials of probability `p`, never below the exact value.
pub fn upper_tail(n: u64, p: f64, k: u64) -> f64 {
    binomial_upper_tail(k, n, p).unwrap().high()
}

/// `P(X ≤ k)`, never below the exact value.
pub fn lower_tail(n: u64, p: f64, k: u64) -> f64 {
    binomial_cdf(k, n, p).unwrap().high()
}

/// How far above the exact value the tails may be, relatively: Stirling's series is cut before its term `1/(1680·n⁷)` from
/// `n = 16` on, which is 2.3e-12 there, for `n`, `k` and `n − k`; rounding adds 2e-15·n.
pub fn tail_error(n: u64) -> f64 {
    7e-12 + 2e-15 * n as f64
}

/// The smallest count that a binomial variable reaches with probability at most `level`.
pub fn critical_count(n: u64, p: f64, level: f64) -> u64 {
    let (mut low, mut high) = (0, n + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if upper_tail(n, p, middle) <= level {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The smallest violation rate that brings `critical` violations in `n` trials with probability
/// at least `power`, to six digits, from above.
pub fn detectable_rate(n: u64, critical: u64, power: f64) -> f64 {
    if critical > n {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-6 * high {
        let middle = (low + high) / 2.0;
        let found = binomial_upper_tail(critical, n, middle).unwrap().low();
        if found >= power {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Clopper and Pearson's upper limit at confidence `1 − level`.
pub fn rate_limit(n: u64, violations: u64, level: f64) -> f64 {
    clopper_pearson_upper(violations, n, level).unwrap()
}
