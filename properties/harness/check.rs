//! One decision about one claim, with what it could and could not have seen.

use super::tails::{critical_count, detectable_rate, rate_limit};

/// The probability with which a property rejects a true claim, over the choice of the seed.
pub const LEVEL: f64 = 1e-9;
/// The power at which the smallest detectable violation is stated.
pub const POWER: f64 = 0.999;

/// The outcome of a test of one claim.
#[derive(Clone, Debug)]
pub struct Check {
    /// Independent trials, or cases.
    pub trials: u64,
    /// How many of them violated the claim.
    pub violations: u64,
    /// At most this probable, over the seed, to reject the claim if it is true.
    pub false_alarm: f64,
    /// Upper limit of the true violation rate at confidence `1 − 10⁻⁹` (Clopper–Pearson).
    pub rate_limit: f64,
    /// The smallest violation rate (for means: the smallest shift) that is rejected with power
    /// 0.999.
    pub detectable: f64,
    /// Whether the claim is rejected.
    pub rejected: bool,
    /// What was rejected and why; empty where nothing was.
    pub detail: String,
}

impl Check {
    /// Independent trials that each violate the claim with probability at most `allowed` if it
    /// is true: rejected where the exact binomial tail is at most `level`.
    pub fn rate(trials: u64, violations: u64, allowed: f64, level: f64) -> Check {
        let critical = critical_count(trials, allowed, level);
        let rejected = violations >= critical;
        Check {
            trials,
            violations,
            false_alarm: level,
            rate_limit: rate_limit(trials, violations, LEVEL),
            detectable: detectable_rate(trials, critical, POWER),
            rejected,
            detail: if rejected {
                format!("{violations} of {trials} violate, {critical} are too many for {allowed}")
            } else {
                String::new()
            },
        }
    }

    /// Cases of a claim that allows no exception: one violation rejects it, and a true claim is
    /// never rejected.
    pub fn exact(trials: u64, violations: u64) -> Check {
        Check {
            false_alarm: 0.0,
            ..Check::rate(trials, violations, 0.0, 0.0)
        }
    }

    /// [`Check::exact`], counted over cases that say what is wrong with them.
    pub fn cases(outcomes: impl IntoIterator<Item = Result<(), String>>) -> Check {
        let (mut trials, mut violations, mut first) = (0, 0, None);
        for outcome in outcomes {
            trials += 1;
            if let Err(what) = outcome {
                violations += 1;
                first.get_or_insert(what);
            }
        }
        let mut check = Check::exact(trials, violations);
        if let Some(what) = first {
            check.detail = what;
        }
        check
    }

    /// Independent values in an interval of width `range`, whose mean is claimed to be
    /// `expected`: rejected where it is further off than the empirical Bernstein bound of Maurer
    /// and Pontil (2009) allows at `level`, both sides together.
    ///
    /// `violations` is then 0 or 1, and `detectable` a shift of the mean.
    pub fn mean(values: &Moments, expected: f64, range: f64, level: f64) -> Check {
        let radius = values.bernstein_radius(range, level / 2.0);
        let off = (values.mean - expected).abs();
        // Fewer than two values give no radius, and decide nothing in favour of the claim.
        let rejected = off.is_nan() || radius.is_nan() || off > radius;
        Check {
            trials: values.count,
            violations: u64::from(rejected),
            false_alarm: level,
            rate_limit: f64::NAN,
            detectable: radius + values.bernstein_radius(range, 1.0 - POWER),
            rejected,
            detail: if rejected {
                format!(
                    "mean {} is {off:e} off {expected}, more than {radius:e}",
                    values.mean
                )
            } else {
                String::new()
            },
        }
    }

    /// Several decisions about one claim: rejected where one of them is.
    pub fn all(parts: impl IntoIterator<Item = Check>) -> Check {
        let parts: Vec<Check> = parts.into_iter().collect();
        let largest = |f: fn(&Check) -> f64| parts.iter().map(f).fold(f64::NAN, f64::max);
        let rejected = parts.iter().find(|p| p.rejected);
        let trials = parts.iter().map(|p| p.trials).sum();
        let violations = parts.iter().map(|p| p.violations).sum();
        let false_alarm = parts.iter().map(|p| p.false_alarm).sum();
        // Cases without exceptions are one list of cases.
        if false_alarm == 0.0 && !parts.is_empty() {
            return Check {
                detail: rejected.map_or_else(String::new, |p| p.detail.clone()),
                ..Check::exact(trials, violations)
            };
        }
        Check {
            trials,
            violations,
            false_alarm,
            rate_limit: largest(|p| p.rate_limit),
            detectable: largest(|p| p.detectable),
            // No decision at all is no evidence.
            rejected: rejected.is_some() || parts.is_empty(),
            detail: rejected.map_or_else(String::new, |p| p.detail.clone()),
        }
    }

    /// Names the part of a larger claim that this is about.
    pub fn named(mut self, name: impl std::fmt::Display) -> Check {
        if self.rejected {
            self.detail = format!("{name}: {}", self.detail);
        }
        self
    }
}

/// Count, mean and sum of squared deviations, updated one value at a time (Welford).
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    pub count: u64,
    pub mean: f64,
    squares: f64,
}

impl Moments {
    pub fn add(&mut self, x: f64) {
        self.count += 1;
        let off = x - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (x - self.mean);
    }

    /// The unbiased sample variance.
    pub fn variance(&self) -> f64 {
        self.squares / (self.count as f64 - 1.0)
    }

    /// One side's deviation that is exceeded with probability at most `level`.
    fn bernstein_radius(&self, range: f64, level: f64) -> f64 {
        let n = self.count as f64;
        let log = (2.0 / level).ln();
        (2.0 * self.variance() * log / n).sqrt() + 7.0 * range * log / (3.0 * (n - 1.0))
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut moments = Moments::default();
        values.into_iter().for_each(|x| moments.add(x));
        moments
    }
}
