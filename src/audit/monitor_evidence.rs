//! Evidence against a stated probability that holds whenever one looks at it.
//!
//! If an event that was said to have probability `p` really has at least `p − τ` given all that
//! happened before, a bet on its not happening at the odds of `q = 1 − p + τ` gains nothing on
//! average: with a share `f` of the capital at stake, the capital becomes `1 − f` times what it was
//! where the event happens, and `1 + f·(1 − q)/q` times where it does not. The capital from such bets,
//! one after the other, reaches `1/α` at any time at all with probability at most `α` (Ville 1939;
//! theorem E3, `proofs/theory/E3.v`: `λ = f/q` there), however often one looks and whenever one stops.
//!
//! A share `f` is the best one where the event is rarer than stated by the factor `1 − f`. As that is
//! not known, the first capital is spread evenly over bets with the shares `2⁻¹, 2⁻², …, 2⁻¹²`. What
//! they own together is itself the capital of one bettor, whose share is the mean share of what they
//! own, so that the theorem is about it.

use serde::{Deserialize, Serialize};

use super::monitor_numbers;
use crate::math::{exp, ln};

/// How many shares are tried at once.
pub(super) const BETS: usize = 12;

/// The capital of bets that an event is rarer than stated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The logarithm of what each bet has made of a capital of one.
    #[serde(with = "monitor_numbers")]
    logs: Vec<f64>,
    /// How far rounding may have put each of them off.
    #[serde(with = "monitor_numbers")]
    errors: Vec<f64>,
}

impl Default for Evidence {
    fn default() -> Self {
        Evidence {
            logs: vec![0.0; BETS],
            errors: vec![0.0; BETS],
        }
    }
}

impl Evidence {
    /// Whether it can come from [`Evidence::add`].
    pub(super) fn is_sound(&self) -> bool {
        let numbers = |list: &[f64]| list.len() == BETS && list.iter().all(|x| !x.is_nan());
        numbers(&self.logs) && numbers(&self.errors) && self.errors.iter().all(|e| *e >= 0.0)
    }

    /// Bets against an event of stated probability `p`, with `1 − p` given as `other`, beyond a
    /// `margin`; then it `happened` or not.
    pub fn add(&mut self, p: f64, other: f64, margin: f64, happened: bool) {
        let (p, q) = (p - margin, other + margin);
        // Then no frequency of the event is too low, and there is nothing to bet on.
        if p <= 0.0 {
            return;
        }
        let mut share = 1.0;
        for (log, error) in self.logs.iter_mut().zip(&mut self.errors) {
            share *= 0.5;
            // Where q is zero, what was called impossible has happened: no capital is enough.
            let gain = match happened {
                true => libm::log1p(-share),
                false => libm::log1p(share * p / q),
            };
            *log += gain;
            // Four roundings in the gain, each of which moves it by less than itself, and one here.
            *error += libm::scalbn(4.0 * gain.abs() + log.abs(), -52);
        }
    }

    /// The logarithm of the capital, which began as one.
    pub fn log_capital(&self) -> f64 {
        mean_exp(self.logs.iter().copied())
    }

    /// The same less all that rounding may have added to it: what alarms are decided by.
    pub fn certain_log_capital(&self) -> f64 {
        let certain = |(log, error): (&f64, &f64)| match log.is_infinite() {
            true => *log,
            false => log - error,
        };
        let found = mean_exp(self.logs.iter().zip(&self.errors).map(certain));
        match found.is_infinite() {
            true => found,
            // The mean of twelve exponentials and its logarithm: fewer than 32 roundings of numbers below
            // one, and one of the result.
            false => found - libm::scalbn(32.0 + found.abs(), -52),
        }
    }
}

/// `ln` of the mean of `e^x`.
fn mean_exp(logs: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    let sum: f64 = logs.map(|log| exp(log - largest)).sum();
    largest + ln(sum / BETS as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: one bet each against 3/4 with a margin of 1/4: even odds.
    #[test]
    fn one_bet_by_hand() {
        let mean = |factor: fn(f64) -> f64| {
            let shares = (1..=BETS as i32).map(|i| 0.5f64.powi(i));
            shares.map(factor).sum::<f64>() / BETS as f64
        };
        for (happened, want) in [(true, mean(|f| 1.0 - f)), (false, mean(|f| 1.0 + f))] {
            let mut evidence = Evidence::default();
            assert_eq!(evidence.log_capital(), 0.0);
            evidence.add(0.75, 0.25, 0.25, happened);
            assert!((evidence.log_capital() - want.ln()).abs() < 1e-15);
            assert!(evidence.certain_log_capital() < evidence.log_capital());
        }
    }

    /// Over both outcomes the capital is worth what it was, whatever is bet: exactly fair at `p − τ`.
    #[test]
    fn bets_are_fair_at_the_edge_of_the_margin() {
        for (p, margin) in [
            (0.5, 0.0),
            (0.9, 0.05),
            (0.999, 0.002),
            (0.3, 0.29),
            (1.0, 0.25),
        ] {
            let capital = |happened| {
                let mut evidence = Evidence::default();
                evidence.add(0.6, 0.4, 0.01, false);
                let before = evidence.log_capital().exp();
                evidence.add(p, 1.0 - p, margin, happened);
                evidence.log_capital().exp() / before
            };
            let truth = p - margin;
            let mean = truth * capital(true) + (1.0 - truth) * capital(false);
            assert!((mean - 1.0).abs() < 1e-13, "{p} {margin}: {mean}");
        }
    }

    #[test]
    fn nothing_is_bet_where_nothing_can_be_wrong() {
        let mut evidence = Evidence::default();
        evidence.add(0.02, 0.98, 0.02, false);
        evidence.add(0.0, 1.0, 0.0, true);
        assert_eq!(evidence, Evidence::default());
    }

    #[test]
    fn the_impossible_is_all_the_evidence_there_is() {
        let mut evidence = Evidence::default();
        evidence.add(1.0, 0.0, 0.0, false);
        assert_eq!(evidence.certain_log_capital(), f64::INFINITY);
        // Of tiny probability, it is finite: 12·10³⁰⁰ shares of it at most.
        let mut evidence = Evidence::default();
        evidence.add(1.0, 1e-300, 0.0, false);
        let capital = evidence.certain_log_capital();
        assert!(capital > 680.0 && capital < 691.0, "{capital}");
        let text = serde_json::to_string(&evidence).unwrap();
        assert_eq!(serde_json::from_str::<Evidence>(&text).unwrap(), evidence);
    }
}
