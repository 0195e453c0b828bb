//! Calibration: the error's range, its null distribution, and that it does not depend on order.

use lpf::calibration::{Reliability, bin_index};
use lpf::latent::random::Stream;
use lpf::simplex::{Distribution, log_pool, prior_corrected};
use proptest::prelude::*;
use rayon::prelude::*;

use crate::harness::{Check, Draws, LEVEL, Outcome, Property, Verdict, ensure};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "calibration.range",
        claims: &[],
        statement: "0 ≤ ECE ≤ MCE ≤ 1, whatever the predictions",
        run: range,
    },
    Property {
        name: "calibration.merge_and_order",
        claims: &[],
        statement: "shards merge to the whole and permutations change nothing, to the bit",
        run: merge_and_order,
    },
    Property {
        name: "calibration.null_distribution",
        claims: &["T1'"],
        statement: "the exact posterior's ECE lies within its null distribution (parametric bootstrap)",
        run: null_distribution,
    },
    Property {
        name: "calibration.limit",
        claims: &["T1'"],
        statement: "the exact posterior's ECE tends to zero: at most √(B/4n) + √(ln(1/α)/2n)",
        run: limit,
    },
];

const BINS: usize = 15;

fn pairs() -> impl Strategy<Value = Vec<(f64, bool)>> {
    let confidence = prop_oneof![
        0.0f64..=1.0,
        (0u32..=15).prop_map(|i| f64::from(i) / 15.0),
        (0..=1f64.to_bits()).prop_map(f64::from_bits),
    ];
    prop::collection::vec((confidence, any::<bool>()), 1..300)
}

fn reliability(pairs: &[(f64, bool)]) -> Result<Reliability, String> {
    let (c, t): (Vec<f64>, Vec<bool>) = pairs.iter().copied().unzip();
    Reliability::of(&c, &t, BINS).map_err(|e| e.to_string())
}

fn range(draws: Draws) -> Outcome {
    let strategy = pairs();
    let within = |ece: f64, mce: f64| -> Verdict {
        // ECE is a weighted mean of the gaps of which MCE is the largest; three roundings.
        ensure(
            0.0 <= ece && ece <= mce * (1.0 + 4.0 * f64::EPSILON) && mce <= 1.0,
            || format!("ECE {ece}, MCE {mce}"),
        )
    };
    let check = draws.for_all("pairs", 1000, &strategy, |p| {
        let r = reliability(&p)?;
        within(
            r.ece().map_err(|e| e.to_string())?,
            r.mce().map_err(|e| e.to_string())?,
        )
    });
    let control = draws.control("pairs", 1000, &strategy, |p| {
        // Gaps added up without their weights.
        let r = reliability(&p)?;
        let gaps: f64 = r
            .bins()
            .iter()
            .filter_map(|b| b.means)
            .map(|m| m.gap.abs())
            .sum();
        within(gaps, r.mce().map_err(|e| e.to_string())?)
    });
    Outcome::new(check, "gaps not weighted by their counts", control)
}

fn merge_and_order(draws: Draws) -> Outcome {
    let strategy = (pairs(), any::<prop::sample::Index>());
    let check = draws.for_all("pairs", 500, &strategy, |(p, cut)| {
        let whole = reliability(&p)?;
        let cut = cut.index(p.len());
        let mut merged = reliability(&p[cut..])?;
        merged
            .merge(&reliability(&p[..cut])?)
            .map_err(|e| e.to_string())?;
        let turned: Vec<_> = p.iter().rev().copied().collect();
        let turned = reliability(&turned)?;
        // Without any merging inside, which the others have in common.
        let mut single = Reliability::new(BINS).map_err(|e| e.to_string())?;
        for &(confidence, correct) in &p {
            let added = single.add(confidence, correct);
            added.map_err(|e| e.to_string())?;
        }
        let same = |r: &Reliability| {
            *r == single && r.ece().map(f64::to_bits) == single.ece().map(f64::to_bits)
        };
        ensure(same(&whole) && same(&merged) && same(&turned), || {
            "other bits".into()
        })
    });
    let plain = |p: &[(f64, bool)]| {
        let mut gaps = [0.0; BINS];
        for &(c, t) in p {
            gaps[bin_index(c, BINS).unwrap_or(0)] += c - f64::from(u8::from(t));
        }
        gaps.iter().map(|g: &f64| g.abs()).sum::<f64>() / p.len() as f64
    };
    let control = draws.control("pairs", 500, &strategy, |(p, _)| {
        let turned: Vec<_> = p.iter().rev().copied().collect();
        ensure(plain(&p).to_bits() == plain(&turned).to_bits(), || {
            "other bits".into()
        })
    });
    Outcome::new(check, "plain sums of doubles", control)
}

const TRIALS: u64 = 300;
const ENTITIES: usize = 300;
const REPLICATES: usize = 99;
const ITEMS: usize = 4;

/// One entity of a small model: prior (1/2, 3/10, 1/5), four items that each report the label
/// with probability 3/5 and either other class with 1/5. Returns confidence and whether right.
fn entity(s: &mut Stream, combine: Combine) -> (f64, bool) {
    let prior = Distribution::new(vec![0.5, 0.3, 0.2]).unwrap();
    let label = match s.below(10) {
        0..5 => 0,
        5..8 => 1,
        _ => 2,
    };
    let factors: Vec<Distribution> = (0..ITEMS)
        .map(|_| {
            let report = match s.below(5) {
                0..3 => label,
                3 => (label + 1) % 3,
                _ => (label + 2) % 3,
            };
            let weights = prior.probabilities().iter().enumerate();
            let weights = weights.map(|(y, p)| p * if y == report { 0.6 } else { 0.2 });
            Distribution::from_weights(weights.collect()).unwrap()
        })
        .collect();
    let answer = combine(&prior, &factors);
    (*answer.confidence(), answer.argmax() == label)
}

type Combine = fn(&Distribution, &[Distribution]) -> Distribution;

fn ece(confidences: &[f64], correct: &[bool]) -> f64 {
    let mut r = Reliability::new(BINS).unwrap();
    for (&c, &t) in confidences.iter().zip(correct) {
        r.add(c, t).unwrap();
    }
    r.ece().unwrap()
}

/// Bootstrap p-values of at most 1/100: if outcomes really have the stated confidences, the
/// observed ECE and its replicates are exchangeable, and this has probability at most 1/100.
fn small_p_values(draws: &Draws, combine: Combine) -> u64 {
    (0..TRIALS)
        .into_par_iter()
        .filter(|&trial| {
            let mut s = draws.stream("entities", trial);
            let (c, t): (Vec<f64>, Vec<bool>) =
                (0..ENTITIES).map(|_| entity(&mut s, combine)).unzip();
            let observed = ece(&c, &t);
            let mut s = draws.stream("replicates", trial);
            let at_least = (0..REPLICATES)
                .filter(|_| {
                    let replicate: Vec<bool> = c.iter().map(|&c| s.uniform() < c).collect();
                    ece(&c, &replicate) >= observed
                })
                .count();
            at_least == 0
        })
        .count() as u64
}

fn null_distribution(draws: Draws) -> Outcome {
    let allowed = 1.0 / (REPLICATES + 1) as f64;
    let exact: Combine = |prior, f| prior_corrected(prior, f, &[1.0; ITEMS]).unwrap();
    let plain: Combine = |_, f| log_pool(f, &[1.0; ITEMS]).unwrap();
    Outcome::new(
        Check::rate(TRIALS, small_p_values(&draws, exact), allowed, LEVEL),
        "the plain product, which counts the prior four times",
        Check::rate(TRIALS, small_p_values(&draws, plain), allowed, LEVEL),
    )
}

/// If outcomes have the stated confidences, `E|Σ_b (c − t)| ≤ √(n_b/4)` in each bin, so that the mean
/// ECE is at most `√(B/4n)` (Cauchy and Schwarz); one outcome changes the ECE by at most `1/n`, so
/// that it exceeds its mean by `t` with probability at most `exp(−2nt²)` (McDiarmid).
fn limit(draws: Draws) -> Outcome {
    let sizes = [1000usize, 10_000, 60_000];
    let level = LEVEL / sizes.len() as f64;
    let run = |combine: Combine| {
        let entities: Vec<(f64, bool)> = (0..sizes[2] as u64)
            .into_par_iter()
            .map(|i| entity(&mut draws.stream("limit", i), combine))
            .collect();
        let (c, t): (Vec<f64>, Vec<bool>) = entities.into_iter().unzip();
        let mut reached = 0.0;
        let check = Check::all(sizes.map(|n| {
            reached = ece(&c[..n], &t[..n]);
            let n = n as f64;
            let bound = (BINS as f64 / (4.0 * n)).sqrt() + (-level.ln() / (2.0 * n)).sqrt();
            Check {
                false_alarm: level,
                rate_limit: f64::NAN,
                // A mean ECE this large falls below the bound once in a thousand times.
                detectable: bound + (1000f64.ln() / (2.0 * n)).sqrt(),
                ..Check::cases([ensure(reached <= bound, || {
                    format!("n = {n}: ECE {reached}, bound {bound}")
                })])
            }
        }));
        (check, reached)
    };
    let exact: Combine = |prior, f| prior_corrected(prior, f, &[1.0; ITEMS]).unwrap();
    let plain: Combine = |_, f| log_pool(f, &[1.0; ITEMS]).unwrap();
    let ((check, reached), (control, off)) = (run(exact), run(plain));
    Outcome::new(
        check,
        "the plain product, which counts the prior four times",
        control,
    )
    .noting(format!(
        "ECE {reached:.4} at n = {}, plain product {off:.4}",
        sizes[2]
    ))
}
