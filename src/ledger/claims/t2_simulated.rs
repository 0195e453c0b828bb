//! What theorem 2 says about the method itself, tested on this library's own code.
//!
//! One latent dimension, a standard normal posterior and `p(1∣z) = Φ(z)`, the normal distribution
//! function: decoded probabilities are then uniform on `[0, 1]`, so the exact factor is `(½, ½)`
//! and the mean square error of `M` samples is `1/(12·M)`, by hand. The draws have a fixed seed, so
//! the verdict is the same in every run; the error rates hold over the choice of that seed.

use std::sync::OnceLock;

use super::{Check, Outcome};
use crate::bounds::{clopper_pearson_lower, empirical_bernstein_radius, monte_carlo_error};
use crate::latent::decoder::ProbitDecoder;
use crate::latent::random::{Stream, text_key};
use crate::latent::{FactorWorkspace, GaussianPosterior, monte_carlo_factor};
use crate::ledger::verdict::Finding;
use crate::math::ExactSum;

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("T2.method", |_| simulated(false)),
    ("T2.covers", |_| simulated(true)),
];

/// The sample sizes of Table 2.
const SAMPLE_SIZES: [u32; 5] = [4, 8, 16, 32, 64];

/// Factors drawn for each sample size.
const TRIALS: u64 = 20_000;
/// The chance, over all sample sizes, that a true claim is rejected.
const FALSE_ALARM: f64 = 1e-9;
const DELTA: f64 = 0.05;
const PURPOSE: u64 = text_key("ledger: errors of Monte Carlo factors");

/// Errors of the factor's second entry, for each sample size in turn.
fn errors() -> Option<Vec<Vec<f64>>> {
    let posterior = GaussianPosterior::diagonal(vec![0.0], vec![1.0]).ok()?;
    let decoder = ProbitDecoder::new(vec![1.0], 0.0)?;
    let mut workspace = FactorWorkspace::default();
    let mut all = Vec::new();
    for m in SAMPLE_SIZES {
        let mut errors = Vec::new();
        for trial in 0..TRIALS {
            let mut stream = Stream::new(1, PURPOSE, u64::from(m), trial);
            let factor = monte_carlo_factor(
                &posterior,
                &decoder,
                m as usize,
                &mut stream,
                &mut workspace,
            );
            errors.push(factor.ok()?.distribution.probabilities()[1] - 0.5);
        }
        all.push(errors);
    }
    Some(all)
}

/// Whether one sample size speaks against the claim, and a line about it.
type Decision = (bool, String);

/// Whether the mean of the squares is `1/(12M)`, by the empirical Bernstein bound.
fn rate(m: u32, errors: &[f64]) -> Option<Decision> {
    // A square is at most 1/4; the bound is one for values up to one.
    let squares = || errors.iter().map(|e| 4.0 * e * e);
    let n = errors.len() as f64;
    let mean = squares().collect::<ExactSum>().to_f64() / n;
    let spread: ExactSum = squares().map(|x| (x - mean) * (x - mean)).collect();
    let variance = spread.to_f64() / (n - 1.0);
    let level = FALSE_ALARM / SAMPLE_SIZES.len() as f64;
    let radius = empirical_bernstein_radius(errors.len() as u64, variance, level).ok()?;
    let exact = 1.0 / (12.0 * f64::from(m));
    let line = format!(
        "M = {m}: mean square error {:.6}, by hand 1/(12·{m}) = {exact:.6}, tolerated difference {:.6}",
        mean / 4.0,
        radius / 4.0
    );
    Some(((mean - 4.0 * exact).abs() > radius, line))
}

/// Whether more than `δ` of the errors exceed the bound, by the exact binomial tail.
fn coverage(m: u32, errors: &[f64]) -> Option<Decision> {
    let bound = monte_carlo_error(u64::from(m), 2, DELTA).ok()?;
    let beyond = errors.iter().filter(|e| e.abs() > bound).count() as u64;
    let n = errors.len() as u64;
    let level = FALSE_ALARM / SAMPLE_SIZES.len() as f64;
    let lower = clopper_pearson_lower(beyond, n, level).ok()?;
    let line = format!("M = {m}: {beyond} of {n} errors exceed the bound {bound:.4} (|Y| = 2)");
    Some((lower > DELTA, line))
}

fn decide(errors: &[Vec<f64>], covers: bool) -> Option<Finding> {
    let one = if covers { coverage } else { rate };
    let mut evidence = Vec::new();
    let mut against = Vec::new();
    for (&m, errors) in SAMPLE_SIZES.iter().zip(errors) {
        let (rejected, line) = one(m, errors)?;
        if rejected {
            against.push(line.clone());
        }
        evidence.push(line);
    }
    Some(match against.first() {
        None => Finding::supported(
            if covers {
                "exact binomial test of the share beyond the bound"
            } else {
                "empirical Bernstein test of the mean square error"
            },
            FALSE_ALARM,
            errors.iter().map(|e| e.len() as u64).sum(),
            evidence,
        ),
        Some(line) => {
            let claimed = if covers {
                "at most 5 % beyond the bound"
            } else {
                "mean square error 1/(12·M)"
            };
            Finding::inconsistent(claimed, line.clone(), evidence)
        }
    })
}

fn simulated(covers: bool) -> Outcome {
    // Nothing here depends on the paper's numbers, so one simulation serves every judgement.
    static ERRORS: OnceLock<Option<Vec<Vec<f64>>>> = OnceLock::new();
    let found = ERRORS.get_or_init(errors).as_ref();
    Ok(found
        .and_then(|errors| decide(errors, covers))
        .unwrap_or_else(|| {
            Finding::not_reproducible("the simulation could not be run", Vec::new())
        }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::VerdictKind;

    fn kind(errors: &[Vec<f64>], covers: bool) -> VerdictKind {
        decide(errors, covers).unwrap().verdict.kind()
    }

    #[test]
    fn our_factors_support_both_claims_and_wrong_ones_do_not() {
        let right = errors().unwrap();
        assert_eq!(kind(&right, false), VerdictKind::Supported);
        assert_eq!(kind(&right, true), VerdictKind::Supported);

        // One sample fewer than said: off by M/(M − 1).
        let fewer: Vec<Vec<f64>> = SAMPLE_SIZES
            .iter()
            .zip(&right)
            .map(|(&m, errors)| {
                let stretch = (f64::from(m) / f64::from(m - 1)).sqrt();
                errors.iter().map(|e| e * stretch).collect()
            })
            .collect();
        assert_eq!(kind(&fewer, false), VerdictKind::Inconsistent);
        // All samples the same one: the error of M = 4 at every size, far beyond the bound at 64.
        let stuck = vec![right[0].clone(); SAMPLE_SIZES.len()];
        assert_eq!(kind(&stuck, false), VerdictKind::Inconsistent);
        assert_eq!(kind(&stuck, true), VerdictKind::Inconsistent);
    }
}
