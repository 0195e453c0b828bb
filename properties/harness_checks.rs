//! The harness itself: its tails, and that it decides at the level it states.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

use crate::harness::tails::{
    critical_count, detectable_rate, lower_tail, rate_limit, tail_error, upper_tail,
};
use crate::harness::{Check, Draws, LEVEL, Moments, Outcome, Property, Verdict, ensure};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "harness_checks.binomial_tails",
        claims: &[],
        statement: "binomial tails agree with exact rationals, multiple precision and statrs",
        run: binomial_tails,
    },
    Property {
        name: "harness_checks.clopper_pearson",
        claims: &["T3'"],
        statement: "the exact coverage of the upper limit is at least its level, for every n ≤ 60",
        run: clopper_pearson,
    },
    Property {
        name: "harness_checks.mean_test",
        claims: &[],
        statement: "the mean test rejects a right mean no more often than its level",
        run: mean_test,
    },
];

/// `P(X ≥ k)` to the nearest double, from a 60-digit sum of terms (mpmath 1.3.0).
const FAR_TAILS: [(u64, f64, u64, f64); 14] = [
    (20, 0.5, 20, 9.5367431640625e-7),
    (100, 0.05, 30, 8.556384800197288e-16),
    (1000, 0.05, 120, 2.6514781041942537e-18),
    (1000, 0.01, 60, 1.843827984012203e-27),
    (5000, 0.2, 1200, 2.673474878421048e-12),
    (20000, 0.01, 320, 2.548740494282986e-15),
    (20000, 0.05, 1400, 7.241910836888459e-35),
    (100000, 0.05, 5500, 4.66995013658056e-13),
    (1000000, 0.001, 1200, 4.5896386061007705e-10),
    (1000000, 0.2, 203000, 3.576231690942459e-14),
    (1000000, 0.5, 503000, 9.925748819615104e-10),
    (2000, 1e-09, 3, 1.3313320059960938e-18),
    (300, 0.9, 299, 6.433818450004505e-13),
    (50000, 0.0001, 60, 7.425298161903987e-43),
];

type Tail = fn(u64, f64, u64) -> f64;

fn close(n: u64, p: f64, k: u64, got: f64, want: f64) -> Verdict {
    ensure((got - want).abs() <= tail_error(n) * want, || {
        format!("P(X ≥ {k}), n = {n}, p = {p}: {got:e}, not {want:e}")
    })
}

/// Exact tails for a dyadic probability.
fn exact_tail(n: u64, p: &BigRational, k: u64) -> f64 {
    let mut term = BigRational::one();
    let mut tail = BigRational::zero();
    let odds = p / (BigRational::one() - p);
    for _ in 0..n {
        term *= BigRational::one() - p;
    }
    for i in 0..=n {
        if i >= k {
            tail += &term;
        }
        let ratio = BigRational::new(BigInt::from(n - i), BigInt::from(i + 1));
        term = term * ratio * &odds;
    }
    tail.to_f64().unwrap_or(f64::NAN)
}

fn tails_agree(tail: Tail) -> Check {
    let mut cases = Vec::new();
    for (n, p, k, want) in FAR_TAILS {
        cases.push(close(n, p, k, tail(n, p, k), want));
    }
    for n in [1u64, 2, 7, 40] {
        for sixteenths in [1u64, 5, 8, 15] {
            let p = sixteenths as f64 / 16.0;
            let exact = BigRational::new(sixteenths.into(), 16.into());
            for k in 0..=n + 1 {
                cases.push(close(n, p, k, tail(n, p, k), exact_tail(n, &exact, k)));
            }
        }
    }
    Check::cases(cases)
}

/// Where the continued fraction of `statrs` converges, the two agree.
fn agrees_with_statrs() -> Check {
    let mut cases = Vec::new();
    for n in [10u64, 100, 1000] {
        for p in [0.01, 0.2, 0.5, 0.9] {
            let statrs = Binomial::new(p, n).map(|b| move |k: u64| b.sf(k - 1));
            for k in (1..=n).step_by(1 + n as usize / 50) {
                let want = statrs.as_ref().map_or(f64::NAN, |sf| sf(k));
                // statrs computes its complement where that is shorter, with an absolute error.
                let slack = 1e-13;
                let got = upper_tail(n, p, k);
                cases.push(ensure((got - want).abs() <= slack + 1e-9 * want, || {
                    format!("P(X ≥ {k}), n = {n}, p = {p}: {got:e}, statrs {want:e}")
                }));
            }
        }
    }
    Check::cases(cases)
}

fn binomial_tails(_: Draws) -> Outcome {
    let normal: Tail = |n, p, k| {
        let [n, k] = [n as f64, k as f64];
        let z = (k - 0.5 - n * p) / (n * p * (1.0 - p)).sqrt();
        Normal::standard().sf(z)
    };
    let strict: Tail = |n, p, k| upper_tail(n, p, k + 1);
    Outcome::new(
        Check::all([tails_agree(upper_tail), agrees_with_statrs()]),
        "normal approximation",
        tails_agree(normal),
    )
    .and("P(X > k) for P(X ≥ k)", tails_agree(strict))
}

/// The exact probability that `limit` of the observed count lies below the true rate.
fn missing_coverage(n: u64, q: f64, limit: impl Fn(u64) -> f64) -> f64 {
    // Limits grow with the count, so that the misses are the smallest counts.
    let misses = (0..=n).take_while(|&v| limit(v) < q).count() as u64;
    if misses == 0 {
        0.0
    } else {
        lower_tail(n, q, misses - 1)
    }
}

fn coverage(limit: fn(u64, u64, f64) -> f64) -> Check {
    const DELTA: f64 = 0.05;
    Check::cases((1..=60u64).flat_map(|n| {
        let limits: Vec<f64> = (0..=n).map(|v| limit(n, v, DELTA)).collect();
        (1..100u32)
            .map(|percent| {
                let q = f64::from(percent) / 100.0;
                let missed = missing_coverage(n, q, |v| limits[v as usize]);
                ensure(missed <= DELTA * (1.0 + tail_error(n)), || {
                    format!("n = {n}, rate {q}: missed with probability {missed}")
                })
            })
            .collect::<Vec<_>>()
    }))
}

fn clopper_pearson(_: Draws) -> Outcome {
    // 1.6449 is the 95 % point of the normal distribution.
    let wald = |n: u64, v: u64, _: f64| {
        let p = v as f64 / n as f64;
        p + 1.6449 * (p * (1.0 - p) / n as f64).sqrt()
    };
    // The detectable rate is the same statement read backwards.
    let consistent = Check::cases([(100u64, 0.05), (2000, 0.01), (20000, 0.2)].map(|(n, p)| {
        let critical = critical_count(n, p, LEVEL);
        let found = upper_tail(n, p, critical) <= LEVEL && upper_tail(n, p, critical - 1) > LEVEL;
        let rate = detectable_rate(n, critical, 0.999);
        let seen = upper_tail(n, rate, critical) >= 0.999
            && upper_tail(n, rate * (1.0 - 2e-6), critical) < 0.999;
        ensure(found && seen, || {
            format!("n = {n}, p = {p}: critical count {critical}")
        })
    }));
    Outcome::new(
        Check::all([coverage(rate_limit), consistent]),
        "normal approximation of the limit",
        coverage(wald),
    )
}

fn mean_test(draws: Draws) -> Outcome {
    // At a level that can be seen: a right mean is rejected in at most 1 % of the trials.
    const VISIBLE: f64 = 0.01;
    const TRIALS: u64 = 4000;
    const N: usize = 200;
    let rejections = |shift: f64| {
        (0..TRIALS)
            .filter(|&trial| {
                let mut s = draws.stream("mean", trial);
                let values: Moments = (0..N)
                    .map(|_| f64::from(u8::from(s.uniform() < 0.1)))
                    .collect();
                Check::mean(&values, 0.1 + shift, 1.0, VISIBLE).rejected
            })
            .count() as u64
    };
    Outcome::new(
        Check::rate(TRIALS, rejections(0.0), VISIBLE, LEVEL),
        "mean off by 0.15",
        Check::rate(TRIALS, rejections(0.15), VISIBLE, LEVEL),
    )
}
