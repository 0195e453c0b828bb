//! Limits for a mean of bounded numbers by betting, which adapt to how much the numbers vary.
//!
//! Beside T2′ (empirical Bernstein): shorter, valid from one number on, for numbers that are not alike,
//! and for weighted groups of numbers that depend on each other within the group.
//!
//! # Statement
//! Let `X_1 … X_n` be independent, `X_i` in `[0, k_i]`, and `m = Σ E X_i / Σ k_i` (all `k_i = 1`: the mean
//! of the expectations). For `0 < θ < 1`, with `κ` the largest `k_i`, let
//!
//! ```text
//!     W_θ(q) = Π_i (1 + θ·(X_i − q·k_i)/(q·κ)),        W(q) = mean of W_θ(q) over some fixed θ.
//! ```
//!
//! Then `P(W(m) ≥ 1/δ) ≤ δ`, so that `m ≥ sup{q : W(q) ≥ 1/δ}` but for probability `δ`.
//!
//! # Proof
//! Every factor is at least `1 − θ > 0`. By independence `E W_θ(m) = Π (1 + θ(E X_i − m·k_i)/(mκ))`, and
//! the geometric mean is at most the arithmetic one: `≤ (1 + θ·Σ(E X_i − m·k_i)/(nmκ))ⁿ = 1`. So
//! `E W(m) ≤ 1`, and Markov's inequality gives the first claim. Each factor, `1 − θk_i/κ + θX_i/(qκ)`,
//! does not increase with `q`, so `W(q) ≥ 1/δ` for some `q > m` implies `W(m) ≥ 1/δ`. ∎
//!
//! Nothing in this depends on the order of the numbers. The upper limit is that of `k_i − X_i`, mirrored.
//!
//! # What is computed
//! *Points*: the product itself, number by number. Where numbers are known only as a group with mean
//! `x̄` in an interval of length `s`, the logarithm of their factors is at least that of `x̄` less
//! `s²/8·max |f″|` a number, `f(x) = ln(1 − θ + θx/q)`, as their variance is at most `s²/4`.
//!
//! *Sums*: a lower bound from `Σ d_i` and `Σ d_i²`, `d_i = X_i − q·k_i`. For `x ≥ −1` and `0 ≤ θ < 1`,
//! `ln(1 + θx) ≥ θx − φ(θ)x²` with `φ(θ) = −ln(1 − θ) − θ` (Fan, Grama and Liu 2015): the difference of
//! the sides, divided by `x²`, is `φ(θ) − (θx − ln(1 + θx))/x²`, and `(u − ln(1 + u))/u²` falls in `u`, so it is
//! smallest at `x = −1`, where it is zero. Hence `ln W_θ(q) ≥ θ·Σd/(qκ) − φ(θ)·Σd²/(qκ)²`. No upper limit
//! of the `X_i` is used: the lower limit of their mean holds for all numbers that are not negative.
//!
//! Limits are where a lower bound of `ln W`, less its rounding error, reaches `ln(1/δ)`: never beyond
//! the exact ones.

use crate::math::{ExactSum, exp, ln};

/// The most bets: with fewer the smallest is too large for the number of rows, with more the mean over
/// them is thinned out for nothing.
const MOST_BETS: u32 = 24;

/// The bets `θ`: nearly everything, and halves from 1/2 on down to about `1/√n`, below which no bet is
/// the best for any spread.
fn bets(n: f64) -> impl Iterator<Item = f64> {
    let halvings = libm::ceil(0.5 * libm::log2(n.max(1.0))) as u32;
    let smaller = (1..=halvings.clamp(1, MOST_BETS)).map(|i| libm::exp2(-f64::from(i)));
    std::iter::once(63.0 / 64.0).chain(smaller)
}

/// The logarithm of the mean of `e^x` over some `x`.
fn log_mean_exp(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    let sum: f64 = logs.iter().map(|x| exp(x - largest)).sum();
    largest + ln(sum / logs.len() as f64)
}

/// Numbers in `[0, 1]` that are known as a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// At most their mean.
    pub value: f64,
    /// How many there are; need not be whole, where a log is imagined.
    pub count: f64,
    /// They lie in an interval of this length.
    pub spread: f64,
}

/// A certain lower bound of `ln W_θ(q)` for these points, each counted `times` over.
pub fn log_product(points: &[Point], theta: f64, q: f64, times: f64) -> f64 {
    // Each factor is off by a few roundings, and so is its logarithm.
    const ROUNDING: f64 = f64::EPSILON * 8.0;
    let slope = theta / q;
    let (mut sum, mut size) = (0.0, 0.0);
    for point in points {
        let factor = 1.0 - theta + slope * point.value;
        let lowest = 1.0 - theta + slope * (point.value - point.spread).max(0.0);
        let bend = slope * point.spread / lowest;
        let log = ln(factor) - bend * bend / 8.0;
        sum += point.count * log;
        size += point.count * (1.0 + log.abs());
    }
    times * (sum - ROUNDING * size)
}

/// Sums over groups of numbers in `[0, 1]`, group `i` with `k_i` numbers that add up to `X_i`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupSums {
    /// How many groups there are.
    pub groups: f64,
    /// `Σ k_i`.
    pub count: f64,
    /// The largest `k_i`.
    pub largest: f64,
    /// `Σ k_i²`.
    pub count_squares: f64,
    /// `Σ X_i`.
    pub sum: f64,
    /// `Σ X_i²`.
    pub squares: f64,
    /// `Σ X_i·k_i`.
    pub cross: f64,
}

impl GroupSums {
    /// Of single numbers.
    pub fn of_singles(count: u64, sum: f64, squares: f64) -> Self {
        let count = count as f64;
        GroupSums {
            groups: count,
            count,
            largest: 1.0,
            count_squares: count,
            sum,
            squares,
            cross: sum,
        }
    }

    /// The sums of `(x − low)/(high − low)`: numbers in `[low, high]` brought to `[0, 1]`.
    #[must_use]
    pub fn rescaled(self, low: f64, high: f64) -> Self {
        let width = high - low;
        let GroupSums {
            count,
            count_squares,
            sum,
            squares,
            cross,
            ..
        } = self;
        GroupSums {
            sum: (sum - low * count) / width,
            cross: (cross - low * count_squares) / width,
            squares: (squares - 2.0 * low * cross + low * low * count_squares) / (width * width),
            ..self
        }
    }

    /// `Σ X_i / Σ k_i`.
    pub fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// An estimate of the standard error of the mean: the root of `Σ (X_i − k_i·mean)²`, over the count.
    pub fn standard_error(&self) -> f64 {
        let mean = self.mean();
        let squares = self.squares - 2.0 * mean * self.cross + mean * mean * self.count_squares;
        libm::sqrt(squares.max(0.0)) / self.count
    }

    /// The sums of `times` as many groups of the same kind.
    fn repeated(self, times: f64) -> Self {
        GroupSums {
            groups: self.groups * times,
            count: self.count * times,
            largest: self.largest,
            count_squares: self.count_squares * times,
            sum: self.sum * times,
            squares: self.squares * times,
            cross: self.cross * times,
        }
    }

    /// A certain lower bound of `ln W_θ(q)`.
    fn log_product(&self, theta: f64, q: f64) -> f64 {
        // Differences of sums that are each off by a few roundings.
        const ROUNDING: f64 = f64::EPSILON * 16.0;
        let unit = q * self.largest;
        let first = (self.sum - q * self.count) / unit;
        let first_size = (self.sum + q * self.count) / unit;
        let (a, b) = (2.0 * q * self.cross, q * q * self.count_squares);
        let second = (self.squares - a + b) / (unit * unit);
        let second_size = (self.squares + a + b) / (unit * unit);
        let phi = -libm::log1p(-theta) - theta;
        theta * first - phi * second - ROUNDING * (theta * first_size + phi * second_size)
    }
}

/// What was seen of numbers in `[0, 1]`.
#[derive(Clone, Debug)]
pub enum Seen {
    /// The numbers.
    Points(Vec<Point>),
    /// Their sums, group by group.
    Sums(GroupSums),
}

impl Seen {
    /// The mean.
    pub fn mean(&self) -> f64 {
        match self {
            Seen::Points(points) => {
                let sum: ExactSum = points.iter().map(|p| p.count * p.value).collect();
                sum.to_f64() / self.groups()
            }
            Seen::Sums(sums) => sums.mean(),
        }
    }

    fn groups(&self) -> f64 {
        match self {
            Seen::Points(points) => points.iter().map(|p| p.count).sum(),
            Seen::Sums(sums) => sums.groups,
        }
    }

    /// A certain lower bound of `ln W(q)`, if all that was seen had been seen `times` over.
    pub fn log_wealth(&self, q: f64, times: f64) -> f64 {
        if q <= 0.0 {
            return f64::INFINITY;
        }
        match self {
            Seen::Points(points) => {
                mixed(self.groups() * times, |t| log_product(points, t, q, times))
            }
            Seen::Sums(sums) => {
                let sums = sums.repeated(times);
                mixed(sums.groups, |t| sums.log_product(t, q))
            }
        }
    }

    /// The mean of the expectations is at least this but for probability `δ`, if all that was seen had
    /// been seen `times` over.
    pub fn lower(&self, delta: f64, times: f64) -> f64 {
        lower_limit(self.mean(), delta, |q| self.log_wealth(q, times))
    }
}

/// `ln W(q)` for `n` numbers, from lower bounds of `ln W_θ(q)`.
pub fn mixed(n: f64, log_product: impl Fn(f64) -> f64) -> f64 {
    let logs: Vec<f64> = bets(n).map(log_product).collect();
    log_mean_exp(&logs)
}

/// A `q` in `[0, top]` at which a lower bound of `ln W` reaches `ln(1/δ)`, and no much larger one found; zero
/// where there is none. Any such `q` is a valid limit, as the exact wealth does not rise with `q`.
pub fn lower_limit(top: f64, delta: f64, wealth: impl Fn(f64) -> f64) -> f64 {
    /// Limits are found to about this part of themselves.
    const NEAR: f64 = 1e-7;
    let level = -ln(delta);
    if top.is_nan() || top <= 0.0 {
        return 0.0;
    }
    // Down from the top to the first that reaches the level: in growing steps, and from there on in steps of
    // a sixth. A lower bound of the wealth may fall again further down, so that no step may be long.
    let near = (0..6).map(|i| 1.0 - libm::exp2(f64::from(i)) / 512.0);
    let far = (1..120).map(|i| 0.9375 * libm::pow(0.85, f64::from(i)));
    let (mut above, mut above_log) = (top, f64::NAN);
    let mut found = None;
    for part in near.chain(far) {
        let q = top * part;
        let log = wealth(q);
        if log >= level {
            found = Some((q, log));
            break;
        }
        (above, above_log) = (q, log);
    }
    let Some((mut below, mut below_log)) = found else {
        return 0.0;
    };
    // False position with halved heights (Illinois), and halving where it does not help.
    let mut last = 0;
    for step in 0..60 {
        if above - below <= NEAR * above {
            break;
        }
        let (low, high) = (below_log - level, above_log - level);
        let chord = below + (above - below) * (low / (low - high));
        let inside = chord > below && chord < above && step % 4 != 3;
        let q = if inside {
            chord
        } else {
            below + (above - below) / 2.0
        };
        let log = wealth(q);
        if log >= level {
            (below, below_log) = (q, log);
            above_log = if last == 1 {
                level + high / 2.0
            } else {
                above_log
            };
            last = 1;
        } else {
            (above, above_log) = (q, log);
            below_log = if last == 2 {
                level + low / 2.0
            } else {
                below_log
            };
            last = 2;
        }
    }
    below
}

#[cfg(test)]
mod tests;
