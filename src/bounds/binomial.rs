//! Certified binomial tails, and the limits of Clopper and Pearson that follow from them.
//!
//! Part of T3′ (the test-set bound) and of T1″ (calibration of bins).
//!
//! # Statement
//! Let `K` be binomial with `n` trials and unknown success probability `p`, and let
//! `U(k) = sup{q : P_q(K ≤ k) ≥ δ}`. Then `P(p ≤ U(K)) ≥ 1 − δ`, for every `p` and `n`.
//!
//! # Proof
//! `F_q(k) = P_q(K ≤ k)` decreases in `q` (for `k < n` its derivative is
//! `−n·C(n−1,k)·q^k(1−q)^{n−1−k}`), so `p > U(k)` implies `F_p(k) < δ`. Let `k*` be the largest
//! `k` with `F_p(k) < δ`, if there is one. Then `P(p > U(K)) ≤ P(F_p(K) < δ) = P(K ≤ k*) =
//! F_p(k*) < δ`. The lower limit follows by counting failures. ∎
//!
//! # Sharpness
//! For `p` just above `U(k)` the failure probability is `F_p(k)`, which tends to `δ`: no smaller
//! limit that depends on the count alone, in the same order, is valid.
//!
//! # Computation
//! A point probability is `√(n/(2πk(n−k)))·e^{r(n)−r(k)−r(n−k)−n·kl(k/n‖p)}` with the remainder
//! `r` of Stirling's formula, all in intervals; a tail is the sum of the point probabilities away
//! from the mean, cut where a geometric series bounds the rest. Everything is rounded outward.

use super::BoundError;
use super::domain::{open_unit, require, unit};
use crate::math::{Interval, ln};

/// `r(n) = ln n! − (n + ½)·ln n + n − ½·ln 2π`, for `n ≥ 1`.
///
/// The series `1/(12n) − 1/(360n³) + 1/(1260n⁵) − 1/(1680n⁷) + …` envelops it: each partial sum
/// errs on the side of the first term left out, and by less than that term. Below 16 the
/// factorial itself is a double.
fn stirling_remainder(n: u64) -> Interval {
    let x = Interval::count(n);
    let p = Interval::point;
    if n < 16 {
        let factorial = (1..=n).fold(1.0, |f, i| f * i as f64);
        let two_pi = p(2.0) * pi();
        let half = p(0.5);
        return p(factorial).ln() - (x + half) * x.ln() + x - half * two_pi.ln();
    }
    let square = x * x;
    let cube = square * x;
    let fifth = cube * square;
    let to_fifth =
        p(1.0) / (p(12.0) * x) - p(1.0) / (p(360.0) * cube) + p(1.0) / (p(1260.0) * fifth);
    let next = p(1.0) / (p(1680.0) * fifth * square);
    Interval::between((to_fifth - next).low(), to_fifth.high())
}

fn pi() -> Interval {
    let pi = std::f64::consts::PI;
    Interval::between(pi.next_down(), pi.next_up())
}

/// `P(K = k)` for `0 < p < 1`, `k ≤ n`.
fn point_probability(k: u64, n: u64, p: Interval) -> Interval {
    let (kk, nn) = (Interval::count(k), Interval::count(n));
    let rest = Interval::count(n - k);
    if k == 0 {
        return (nn * (-p).ln_1p()).exp();
    }
    if k == n {
        return (nn * p.ln()).exp();
    }
    let q = Interval::point(1.0) - p;
    // n·kl(k/n‖p)
    let divergence = kk * (kk / (nn * p)).ln() + rest * (rest / (nn * q)).ln();
    let remainder = stirling_remainder(n) - stirling_remainder(k) - stirling_remainder(n - k);
    let two = Interval::point(2.0);
    (nn / (two * pi() * kk * rest)).sqrt() * (remainder - divergence).exp()
}

/// The sum of the point probabilities from `k` on, away from the mean: downwards to 0 or upwards
/// to `n`, where consecutive ratios decrease.
fn outer_tail(k: u64, n: u64, p: Interval, upwards: bool) -> Interval {
    // A further term below 2⁻⁶⁰ of the sum no longer matters; a geometric series bounds the rest.
    const NEGLIGIBLE: f64 = 1.0 / (1u64 << 60) as f64;
    let one = Interval::point(1.0);
    let odds = if upwards {
        p / (one - p)
    } else {
        (one - p) / p
    };
    let first = point_probability(k, n, p);
    let (mut term, mut sum) = (one, one);
    let mut left = if upwards { n - k } else { k };
    'terms: while left > 0 {
        for ratio in ratios(left, n, odds) {
            if left == 0 {
                break;
            }
            left -= 1;
            term = term * ratio;
            if term.high() < NEGLIGIBLE && ratio.high() < 1.0 {
                let rest = term / (one - ratio);
                sum = sum + Interval::between(0.0, rest.high());
                break 'terms;
            }
            sum = sum + term;
        }
    }
    (first * sum).min(one).max(Interval::point(0.0))
}

/// So many ratios are computed at a time: they do not wait for each other, as the terms do.
const RATIOS: usize = 8;

/// What the terms with `left`, `left − 1`, … terms after them are multiplied by to give the next:
/// `left/(n − left + 1)·odds`. Those beyond the last mean nothing.
#[inline]
fn ratios(left: u64, n: u64, odds: Interval) -> [Interval; RATIOS] {
    // Far from where doubles end, of counts that are doubles.
    let ordinary = n < 1 << 52 && odds.low() > 1e-200 && odds.high() < 1e200;
    if !ordinary {
        return std::array::from_fn(|i| {
            let left = left.saturating_sub(i as u64).max(1);
            Interval::count(left) / Interval::count(n - left + 1) * odds
        });
    }
    // The same ends: each operation on positive numbers is rounded outward by one step.
    let up = |x: f64| f64::from_bits(x.to_bits() + 1);
    let down = |x: f64| f64::from_bits(x.to_bits() - 1);
    let (left, others) = (left as f64, (n - left + 1) as f64);
    std::array::from_fn(|i| {
        let ratio = (left - i as f64).max(1.0) / (others + i as f64);
        Interval::between(down(down(ratio) * odds.low()), up(up(ratio) * odds.high()))
    })
}

/// `P(K ≤ k)` for a binomial `K` with `n` trials of probability `p`, enclosed.
///
/// Domain: `0 ≤ p ≤ 1`. The relative width of the smaller tail is about `10⁻¹⁵·n` at most.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn binomial_cdf(k: u64, n: u64, p: f64) -> Result<Interval, BoundError> {
    let p = unit("p", p)?;
    let one = Interval::point(1.0);
    if k >= n || p.high() == 0.0 {
        return Ok(one);
    }
    if p.low() == 1.0 {
        return Ok(Interval::point(0.0));
    }
    if k as f64 <= n as f64 * p.low() {
        Ok(outer_tail(k, n, p, false))
    } else {
        Ok(one - outer_tail(k + 1, n, p, true))
    }
}

/// `P(K ≥ k)`, enclosed; see [`binomial_cdf`].
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn binomial_upper_tail(k: u64, n: u64, p: f64) -> Result<Interval, BoundError> {
    let p = unit("p", p)?;
    let one = Interval::point(1.0);
    if k == 0 || (p.low() == 1.0 && k <= n) {
        return Ok(one);
    }
    if k > n || p.high() == 0.0 {
        return Ok(Interval::point(0.0));
    }
    if k as f64 >= n as f64 * p.low() {
        Ok(outer_tail(k, n, p, true))
    } else {
        Ok(one - outer_tail(k - 1, n, p, false))
    }
}

/// T3′, the test-set bound: after `errors` mistakes on `n` held-out examples the true error rate
/// is at most the returned value, with probability at least `1 − δ` over the held-out sample.
///
/// The one-sided limit of Clopper and Pearson, rounded up by bisection on certified tails. It
/// replaces claims T3 and L7: it needs no assumption on the model, only that the examples were
/// drawn independently and not used in training.
///
/// Domain: `errors ≤ n`, `n ≥ 1`, `0 < δ < 1`. Range: `[errors/n, 1]`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn clopper_pearson_upper(errors: u64, n: u64, delta: f64) -> Result<f64, BoundError> {
    check(errors, n, delta)?;
    if errors == n {
        return Ok(1.0);
    }
    let rate = errors as f64 / n as f64;
    first_below(rate, 1.0, delta, |q| binomial_cdf(errors, n, q))
}

/// The lower limit: the true rate is at least the returned value with probability `1 − δ`.
/// Rounded down. Range: `[0, successes/n]`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn clopper_pearson_lower(successes: u64, n: u64, delta: f64) -> Result<f64, BoundError> {
    check(successes, n, delta)?;
    if successes == 0 {
        return Ok(0.0);
    }
    let rate = successes as f64 / n as f64;
    first_below(rate, 0.0, delta, |q| binomial_upper_tail(successes, n, q))
}

/// The probability next to those, on the way from `rate` to `end`, at which a tail is not yet
/// certainly below `δ`. The tail falls on that way, and is zero at its end.
///
/// While the ends are far apart the search goes where the chord of the tail's logarithm crosses that
/// of `δ`; of an end that stays for a second time, half of the height is taken, which makes the other
/// end come nearer (the Illinois variant of false position). In the last twelve bits, where a tail is
/// known no better than its neighbours, and wherever the chord does not help, the middle is taken.
fn first_below(
    rate: f64,
    end: f64,
    delta: f64,
    tail: impl Fn(f64) -> Result<Interval, BoundError>,
) -> Result<f64, BoundError> {
    const NEAR: f64 = f64::EPSILON * 4096.0;
    // Each end with the logarithm of its tail over δ; unknown, and so of no chord, where that is −∞.
    let height = |tail: f64| ln(tail / delta);
    let mut above = (rate, height(tail(rate)?.high()));
    let mut below = (end, f64::NAN);
    let (mut slow, mut fell) = (0, None);
    loop {
        let middle = above.0 + (below.0 - above.0) / 2.0;
        if middle == above.0 || middle == below.0 {
            return Ok(below.0);
        }
        let width = (below.0 - above.0).abs();
        let chord = above.0 + (below.0 - above.0) * (above.1 / (above.1 - below.1));
        let inside = (above.0.min(below.0)..above.0.max(below.0)).contains(&chord);
        let helps = width > NEAR * middle && slow < 3 && inside && chord != above.0;
        let at = if helps { chord } else { middle };
        let high = tail(at)?.high();
        let falls = high < delta;
        let (moved, stays) = if falls {
            (&mut below, &mut above)
        } else {
            (&mut above, &mut below)
        };
        *moved = (at, height(high));
        if fell == Some(falls) {
            stays.1 /= 2.0;
        }
        fell = Some(falls);
        let halved = (below.0 - above.0).abs() <= width / 2.0;
        slow = if halved { 0 } else { slow + 1 };
    }
}

/// The two-sided interval at failure probability `δ`: each side at `δ/2`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn clopper_pearson(successes: u64, n: u64, delta: f64) -> Result<(f64, f64), BoundError> {
    check(successes, n, delta)?;
    Ok((
        clopper_pearson_lower(successes, n, delta / 2.0)?,
        clopper_pearson_upper(successes, n, delta / 2.0)?,
    ))
}

fn check(count: u64, n: u64, delta: f64) -> Result<(), BoundError> {
    super::domain::at_least_one("n", n)?;
    open_unit("delta", delta)?;
    require(count <= n, "count", count as f64, "at most n")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rational;
    use num_rational::BigRational;
    use num_traits::{One, Zero, pow};

    /// Literal: Σ C(n,j) p^j (1−p)^{n−j} in exact fractions.
    fn exact_cdf(k: u64, n: u64, p: f64) -> BigRational {
        let p = rational(p).unwrap();
        let q = BigRational::one() - &p;
        let mut choose = BigRational::one();
        let mut sum = BigRational::zero();
        for j in 0..=k.min(n) {
            sum += &choose * pow(p.clone(), j as usize) * pow(q.clone(), (n - j) as usize);
            choose = choose * BigRational::from_integer((n - j).into())
                / BigRational::from_integer((j + 1).into());
        }
        sum
    }

    /// The ratios are those of interval arithmetic, end by end, for counts and odds of all sizes.
    #[test]
    fn ratios_are_those_of_intervals() {
        let counts = [
            1,
            2,
            7,
            8,
            9,
            1000,
            12_345_678,
            (1 << 52) - 1,
            1 << 52,
            1 << 60,
        ];
        for n in counts {
            for left in counts.into_iter().chain([n / 2, n / 3]) {
                for odds in [1e-250, 1e-150, 0.1, 1.0 / 3.0, 1.0, 7.0, 1e150, 1e250] {
                    let odds = Interval::between(odds, odds * 1.25);
                    let left = left.clamp(1, n);
                    for (i, ratio) in ratios(left, n, odds).into_iter().enumerate() {
                        let left = left.saturating_sub(i as u64);
                        if left > 0 {
                            let want = Interval::count(left) / Interval::count(n - left + 1) * odds;
                            assert_eq!(ratio, want, "{left} {n} {odds:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn tails_enclose_the_exact_sums() {
        for n in [1u64, 2, 5, 15, 16, 17, 40] {
            for p in [1e-3, 0.1, 0.25, 0.5, 0.77, 0.999] {
                for k in 0..=n {
                    let exact = exact_cdf(k, n, p);
                    let got = binomial_cdf(k, n, p).unwrap();
                    assert!(rational(got.low()).unwrap() <= exact, "{k} {n} {p}");
                    assert!(rational(got.high()).unwrap() >= exact, "{k} {n} {p}");
                    // Stirling's remainder at 16 is known to 1/(1680·16⁷) = 2·10⁻¹².
                    assert!(got.high() - got.low() <= 1e-11 * got.high(), "{k} {n} {p}");
                    let upper = BigRational::one() - exact;
                    let got = binomial_upper_tail(k + 1, n, p).unwrap();
                    assert!(rational(got.low()).unwrap() <= upper, "{k} {n} {p}");
                    assert!(rational(got.high()).unwrap() >= upper, "{k} {n} {p}");
                }
            }
        }
    }

    /// SciPy 1.17.1: `beta.ppf(1−δ, k+1, n−k)` and `beta.ppf(δ, k, n−k+1)`.
    #[test]
    fn limits_agree_with_scipy() {
        let cases: [(u64, u64, f64, f64, f64); 6] = [
            (0, 10, 0.05, 0.0, 0.2588655508930522),
            (3, 12, 0.05, 0.07187025554226983, 0.5273266035603434),
            (41, 900, 0.05, 0.03469193563418084, 0.05870513534588265),
            (
                1,
                1000000,
                0.01,
                1.0050335802996816e-08,
                6.638333353341804e-06,
            ),
            (500, 1000, 1e-06, 0.4247905072546365, 0.5752094927452731),
            (899, 900, 0.025, 0.9938249854429189, 0.9999718694979097),
        ];
        for (k, n, delta, lower, upper) in cases {
            let up = clopper_pearson_upper(k, n, delta).unwrap();
            let down = clopper_pearson_lower(k, n, delta).unwrap();
            assert!((up - upper).abs() <= 1e-11, "{k}/{n}: {up} {upper}");
            assert!((down - lower).abs() <= 1e-11, "{k}/{n}: {down} {lower}");
        }
    }

    /// What a limit is: there the tail is certainly below `δ`, one double nearer to the rate it is not.
    /// And it is found in fewer than three fifths of the tails that bisection alone takes.
    #[test]
    fn limits_are_where_the_tail_falls_below_delta() {
        use std::cell::Cell;
        let bisection = |k: u64, n: u64, delta: f64| {
            let (mut low, mut high) = (k as f64 / n as f64, 1.0);
            let mut tails = 0;
            loop {
                let middle = low + (high - low) / 2.0;
                if middle <= low || middle >= high {
                    return tails;
                }
                tails += 1;
                if binomial_cdf(k, n, middle).unwrap().high() < delta {
                    high = middle;
                } else {
                    low = middle;
                }
            }
        };
        let (mut ours, mut theirs) = (0, 0);
        for n in [1u64, 2, 3, 10, 100, 5000, 300_000] {
            for k in [0, 1, n / 100, n / 3, n / 2, n - n / 50 - 1, n - 1] {
                for delta in [1e-12, 0.001, 0.025, 0.3] {
                    let count = Cell::new(0);
                    let counted = |q: f64| {
                        count.set(count.get() + 1);
                        binomial_cdf(k, n, q)
                    };
                    let up = first_below(k as f64 / n as f64, 1.0, delta, counted).unwrap();
                    assert_eq!(clopper_pearson_upper(k, n, delta), Ok(up));
                    let tail = |q: f64| binomial_cdf(k, n, q).unwrap().high();
                    let exact = up == 1.0 || tail(up) < delta;
                    assert!(
                        exact && tail(up.next_down()) >= delta,
                        "{k} {n} {delta}: {up}"
                    );
                    let down = clopper_pearson_lower(n - k, n, delta).unwrap();
                    let tail = |q: f64| binomial_upper_tail(n - k, n, q).unwrap().high();
                    let exact = down == 0.0 || tail(down) < delta;
                    let next = tail(down.next_up());
                    assert!(
                        exact && (k == n || next >= delta),
                        "{k} {n} {delta}: {down}"
                    );
                    ours += count.get();
                    theirs += bisection(k, n, delta);
                }
            }
        }
        assert!(ours * 5 < theirs * 3, "{ours} {theirs}");
    }

    #[test]
    fn coverage_is_exact_where_it_can_be_enumerated() {
        // For every p on a grid, the exact probability that the upper limit fails is at most δ.
        let (n, delta) = (12u64, 0.05);
        let limits: Vec<f64> = (0..=n)
            .map(|k| clopper_pearson_upper(k, n, delta).unwrap())
            .collect();
        let delta_exact = rational(delta).unwrap();
        let mut worst = BigRational::zero();
        for i in 1..400 {
            let p = f64::from(i) / 400.0;
            let failing = limits.iter().filter(|&&u| p > u).count() as u64;
            let failure = if failing == 0 {
                BigRational::zero()
            } else {
                exact_cdf(failing - 1, n, p)
            };
            assert!(failure <= delta_exact, "p = {p}");
            worst = worst.max(failure);
        }
        // Sharp: somewhere the failure probability comes within a tenth of δ.
        assert!(worst > rational(0.045).unwrap());
        // Negative control: limits one count too low fail more often than δ.
        let p = limits[2] + 1e-9;
        assert!(exact_cdf(3, n, p) > delta_exact);
    }

    #[test]
    fn edges_and_culprits() {
        assert_eq!(clopper_pearson_upper(5, 5, 0.05), Ok(1.0));
        assert_eq!(clopper_pearson_lower(0, 5, 0.05), Ok(0.0));
        assert!(clopper_pearson_upper(6, 5, 0.05).is_err());
        assert!(clopper_pearson_upper(0, 0, 0.05).is_err());
        assert!(clopper_pearson_upper(1, 5, 0.0).is_err());
        assert!(binomial_cdf(1, 5, f64::NAN).is_err());
        assert_eq!(binomial_cdf(0, 5, 0.0).unwrap(), Interval::point(1.0));
        assert_eq!(binomial_cdf(4, 5, 1.0).unwrap(), Interval::point(0.0));
        assert_eq!(
            binomial_upper_tail(1, 5, 0.0).unwrap(),
            Interval::point(0.0)
        );
        // Ten million trials: no underflow, a tail far out stays positive and tiny.
        let far = binomial_cdf(4_000_000, 10_000_000, 0.5).unwrap();
        assert!(far.low() >= 0.0 && far.high() < 1e-300);
    }
}
