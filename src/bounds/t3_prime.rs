//! T3′, in place of lemma 7: the PAC-Bayes-kl bound of Seeger and Maurer.
//!
//! # Statement
//! Let losses lie in `[0, 1]`, let `P` be a distribution over models fixed before the `n` training
//! examples are seen, drawn independently. With probability at least `1 − δ` over the examples,
//! for *every* distribution `Q` over models at once,
//!
//! ```text
//! kl(L̂(Q) ‖ L(Q)) ≤ (KL(Q‖P) + ln(2√n/δ)) / n,
//! ```
//!
//! where `L̂(Q)` and `L(Q)` are the mean training and true loss of a model drawn from `Q`, and
//! `kl(q‖p) = q·ln(q/p) + (1−q)·ln((1−q)/(1−p))`.
//!
//! # Proof
//! 1. *One model, loss 0 or 1.* `n·L̂` is binomial with probability `p = L`, so
//!    `E[e^{n·kl(L̂‖p)}] = Σ_k C(n,k)p^k(1−p)^{n−k}·((k/n)/p)^k((1−k/n)/(1−p))^{n−k}
//!    = Σ_k C(n,k)(k/n)^k(1−k/n)^{n−k} =: ξ(n)`.
//! 2. *`ξ(n) ≤ 2√n`.* The terms `k = 0, n` are 1. For the others, Stirling's formula with its
//!    remainder between `0` and `1/(12n)` bounds the term by `e^{1/(12n)}·√(n/(2πk(n−k)))`. As
//!    `1/√(x(n−x))` decreases up to `n/2` and increases after, each term is below the integral over
//!    the unit step on its outer side, and these steps do not overlap:
//!    `Σ 1/√(k(n−k)) ≤ ∫₀ⁿ dx/√(x(n−x)) = π`. So `ξ(n) ≤ 2 + e^{1/(12n)}·√(πn/2)`, which is at
//!    most `2√n` for `n = 8` and, the difference `2√n − e^{1/96}√(πn/2) − 2` being increasing, for
//!    all larger `n`. For `n < 8` the sum itself is compared; a test does this in exact fractions.
//! 3. *Losses in `[0, 1]`.* `x ↦ e^{n·kl(x̄‖p)}` is convex in each coordinate of the sample, so
//!    replacing a loss `x` by a coin with probability `x` can only increase the expectation; 1
//!    applies to the coins, whose probability is again `p`.
//! 4. *Change of measure.* For any `f`, `E_Q[f] ≤ KL(Q‖P) + ln E_P[e^f]` (the difference is the
//!    divergence of `Q` from the density `e^f/E_P[e^f]` times `P`). With `f = n·kl(L̂(h)‖L(h))`
//!    and Markov's inequality on `E_P[e^f]`, whose mean over samples is at most `ξ(n)` by Fubini:
//!    with probability `1 − δ`, for all `Q`, `E_Q[n·kl(L̂(h)‖L(h))] ≤ KL(Q‖P) + ln(ξ(n)/δ)`.
//! 5. `kl` is convex in both arguments, so `kl(L̂(Q)‖L(Q)) ≤ E_Q[kl(L̂(h)‖L(h))]`. ∎
//!
//! Without a divergence to pay (`Q = P`, a model fixed beforehand) Chernoff's bound is better:
//! [`chernoff_upper`], `kl(X̄‖μ) ≤ ln(1/δ)/n`, for the mean of any independent values in `[0, 1]`.
//! Its proof is Markov's inequality for `e^{sΣX}` with `E[e^{sX}] ≤ 1 − μ + μe^s` (convexity) at
//! the best `s`.

use super::BoundError;
use super::domain::{at_least_one, entries, length, not_negative, open_unit, positive, unit};
use crate::math::Interval;

/// `kl(q‖p)` of two coins in nats, enclosed. `+∞` where `p` excludes what `q` allows.
///
/// # Errors
/// [`BoundError::Parameter`] for a value outside `[0, 1]`.
pub fn kl_coins(q: f64, p: f64) -> Result<Interval, BoundError> {
    unit("q", q)?;
    unit("p", p)?;
    if (p == 0.0 && q > 0.0) || (p == 1.0 && q < 1.0) {
        return Ok(Interval::between(f64::INFINITY, f64::INFINITY));
    }
    let (one, zero) = (Interval::point(1.0), Interval::point(0.0));
    let (q, p) = (Interval::point(q), Interval::point(p));
    let on = if q == zero { zero } else { q * (q / p).ln() };
    let rest = one - q;
    let off = if q == one {
        zero
    } else if q == zero {
        -((-p).ln_1p())
    } else {
        rest * (rest / (one - p)).ln()
    };
    // kl is never negative; where the two parts cancel, rounding does not know.
    Ok((on + off).max(zero))
}

/// `sup{p ≥ q : kl(q‖p) ≤ budget}`, rounded up: bisection on certified values of `kl`.
///
/// Domain: `0 ≤ q ≤ 1`, `budget ≥ 0`. Range: `[q, 1]`. Where `q < 1` the result is the smallest
/// double that certainly exceeds the budget.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn kl_inverse_upper(q: f64, budget: f64) -> Result<f64, BoundError> {
    unit("q", q)?;
    not_negative("budget", budget)?;
    // Invariant: kl(q‖high) > budget for certain, or high = 1.
    let (mut low, mut high) = (q, 1.0);
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return Ok(high);
        }
        if kl_coins(q, middle)?.low() > budget {
            high = middle;
        } else {
            low = middle;
        }
    }
}

/// T3′: an upper bound of the true loss of a random model, `kl⁻¹(L̂, (KL + ln(2√n/δ))/n)`.
///
/// Replaces claims T3 and L7. Domain: `loss` in `[0, 1]` is the mean training loss under `Q`, itself
/// an upper bound if it was estimated (see [`chernoff_upper`]); `n ≥ 1`; `divergence = KL(Q‖P) ≥ 0`
/// in nats; `0 < δ < 1`. Range: `[loss, 1]`.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn pac_bayes_kl(loss: f64, n: u64, divergence: f64, delta: f64) -> Result<f64, BoundError> {
    let count = at_least_one("n", n)?;
    let divergence = not_negative("KL", divergence)?;
    let two = Interval::point(2.0);
    let log = (two * count.sqrt() / open_unit("delta", delta)?).ln();
    kl_inverse_upper(loss, ((divergence + log) / count).high())
}

/// Chernoff: with probability `1 − δ` the mean of independent values in `[0, 1]` is at most
/// `kl⁻¹(X̄, ln(1/δ)/n)`. For a Monte Carlo estimate of `L̂(Q)`, and for test losses that are not
/// counts.
///
/// # Errors
/// [`BoundError::Parameter`].
pub fn chernoff_upper(mean: f64, n: u64, delta: f64) -> Result<f64, BoundError> {
    let count = at_least_one("n", n)?;
    let log = -open_unit("delta", delta)?.ln();
    kl_inverse_upper(mean, (log / count).high())
}

/// `KL(N(μ, diag σ²) ‖ N(μ₀, σ₀²·I)) = Σ ln(σ₀/σ) + (σ² + (μ−μ₀)²)/(2σ₀²) − ½`, rounded up.
///
/// Domain: equally many means, standard deviations and prior means; deviations above zero.
///
/// # Errors
/// [`BoundError::Lengths`], [`BoundError::Entry`], [`BoundError::Parameter`].
pub fn gaussian_divergence(
    mean: &[f64],
    deviation: &[f64],
    prior_mean: &[f64],
    prior_deviation: f64,
) -> Result<f64, BoundError> {
    for (name, found) in [
        ("deviations", deviation.len()),
        ("prior means", prior_mean.len()),
    ] {
        length(name, mean.len(), found)?;
    }
    let finite = |x: f64| x.is_finite();
    entries("mean", mean, "finite", finite)?;
    entries("prior mean", prior_mean, "finite", finite)?;
    entries("deviation", deviation, "finite and above zero", |x| {
        x > 0.0 && x.is_finite()
    })?;
    let scale = positive("prior deviation", prior_deviation)?;
    let half = Interval::point(0.5);
    let mut sum = Interval::point(0.0);
    for ((&m, &s), &m0) in mean.iter().zip(deviation).zip(prior_mean) {
        let ratio = Interval::point(s) / scale;
        let shift = (Interval::point(m) - Interval::point(m0)) / scale;
        // Each summand is not negative: x²/2 − ½ − ln x ≥ 0.
        let spread = half * ratio * ratio - half - ratio.ln();
        sum = sum + spread.max(Interval::point(0.0)) + half * (shift * shift);
    }
    Ok(sum.high().max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;
    use num_traits::{One, Zero, pow};
    use proptest::prelude::*;

    #[test]
    fn the_moment_is_at_most_two_root_n_for_every_small_n() {
        for n in 1..=40u64 {
            let whole = |x: u64| BigRational::from_integer(x.into());
            let mut choose = BigRational::one();
            let mut xi = BigRational::zero();
            for k in 0..=n {
                let (a, b) = (whole(k) / whole(n), whole(n - k) / whole(n));
                xi += &choose * pow(a, k as usize) * pow(b, (n - k) as usize);
                choose = choose * whole(n - k) / whole(k + 1);
            }
            assert!(&xi * &xi <= whole(4 * n), "n = {n}");
            // Negative control: a constant of 1 instead of 2 would not do for any n > 1.
            assert!(n == 1 || &xi * &xi > whole(n));
        }
    }

    #[test]
    fn inverse_agrees_with_mpmath() {
        // mpmath 1.4.1, findroot at 40 digits on kl(q‖p) = c.
        for (q, c, want) in [
            (0.0, 0.1, 0.095_162_581_964_040_4),
            (0.1, 0.02, 0.17038362756882847),
            (0.0379, 0.5, 0.4823943967101347),
            (0.5, 0.0001, 0.507_070_714_273_205_8),
            (0.9, 1.0, 0.999_998_241_085_857_2),
        ] {
            let got = kl_inverse_upper(q, c).unwrap();
            assert!(got >= want - 1e-15 && got <= want + 1e-13, "{q} {c}: {got}");
        }
    }

    proptest! {
        #[test]
        fn inverse_is_certified_and_tight(q in 0.0f64..1.0, c in 1e-6f64..5.0) {
            let p = kl_inverse_upper(q, c).unwrap();
            prop_assert!(p >= q && p <= 1.0);
            if p < 1.0 {
                prop_assert!(kl_coins(q, p).unwrap().low() > c);
                // Tight: a relative 1e-9 closer to q, the budget is no longer exceeded.
                let inner = p - 1e-9 * (p - q);
                prop_assert!(kl_coins(q, inner).unwrap().low() <= c);
            }
        }

        #[test]
        fn pinsker_is_weaker(q in 0.0f64..1.0, c in 0.0f64..2.0) {
            let p = kl_inverse_upper(q, c).unwrap();
            prop_assert!(p <= q + (c / 2.0).sqrt() + 1e-9);
        }
    }

    #[test]
    fn divergence_of_gaussians_in_closed_form() {
        assert_eq!(gaussian_divergence(&[], &[], &[], 1.0), Ok(0.0));
        // Eight operations on numbers up to one, each at most two steps of one outward.
        let slack = 16.0 * f64::EPSILON;
        let same = gaussian_divergence(&[0.5], &[2.0], &[0.5], 2.0).unwrap();
        assert!((0.0..slack).contains(&same));
        // μ = 3, σ = σ₀ = 2, μ₀ = 1: (3−1)²/(2·4) = 1/2.
        let got = gaussian_divergence(&[3.0], &[2.0], &[1.0], 2.0).unwrap();
        assert!((0.5..0.5 + slack).contains(&got));
        // σ = 1, σ₀ = 2: ln 2 + 1/8 − 1/2 = 0.318147180559945309… (mpmath 1.4.1).
        let got = gaussian_divergence(&[0.0], &[1.0], &[0.0], 2.0).unwrap();
        assert!((got - 0.318_147_180_559_945_3).abs() < slack);
        assert!(gaussian_divergence(&[0.0], &[0.0], &[0.0], 1.0).is_err());
        assert!(gaussian_divergence(&[0.0], &[], &[0.0], 1.0).is_err());
    }

    #[test]
    fn edges() {
        let tiny = kl_inverse_upper(0.0, 0.0).unwrap();
        assert!(tiny > 0.0 && tiny <= f64::from_bits(4));
        assert_eq!(kl_inverse_upper(1.0, 3.0), Ok(1.0));
        assert_eq!(kl_inverse_upper(0.2, 1e6), Ok(1.0));
        assert!(kl_inverse_upper(1.2, 1.0).is_err() && kl_inverse_upper(0.5, -1.0).is_err());
        assert_eq!(kl_coins(0.5, 0.0).unwrap().low(), f64::INFINITY);
        assert_eq!(kl_coins(0.0, 0.0).unwrap(), Interval::point(0.0));
        // Without training loss and divergence: 1 − (2√n/δ)^{−1/n}, mpmath 1.4.1.
        let got = pac_bayes_kl(0.0, 100, 0.0, 0.05).unwrap();
        assert!((got - 0.058_155_079_116_972_27).abs() < 1e-14, "{got}");
        assert!(pac_bayes_kl(0.1, 0, 0.0, 0.05).is_err());
        // 1 − δ^{1/n} for no loss at all.
        let got = chernoff_upper(0.0, 10, 0.05).unwrap();
        assert!((got - 0.258_865_550_893_053_5).abs() < 1e-14, "{got}");
    }
}
