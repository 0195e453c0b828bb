//! Attacks on the evidence about one entity: replacements by lot, and the worst there are.

use crate::aggregate::{Method, aggregate};
use crate::bounds::robust_l1_of_factors;
use crate::experiments::{ExperimentError, TestEntity};
use crate::latent::random::Stream;
use crate::math::ln;
use crate::simplex::{Distribution, l1_distance};

/// LPF-SPN's answer.
pub(super) fn pooled(
    factors: &[Distribution],
    weights: &[f64],
) -> Result<Distribution, ExperimentError> {
    Ok(aggregate(Method::Spn, factors, weights, None)?)
}

/// What a trial takes replacements from.
pub(super) struct Pool {
    factors: Vec<Distribution>,
    /// For each pair of classes `(w, c)`, the factor with the largest `ln Φ(c) − ln Φ(w)`, and that.
    best: Vec<(usize, f64)>,
}

fn log_odds(factor: &Distribution, of: usize, against: usize) -> f64 {
    let p = factor.probabilities();
    ln(p[of]) - ln(p[against])
}

impl Pool {
    pub(super) fn of(entities: Vec<TestEntity>) -> Self {
        let factors = entities.into_iter().flat_map(|e| e.evidence.factors);
        Pool::new(factors.collect())
    }

    fn new(factors: Vec<Distribution>) -> Self {
        let classes = factors.first().map_or(0, Distribution::classes);
        let pairs = (0..classes).flat_map(|w| (0..classes).map(move |c| (w, c)));
        let best = pairs
            .map(|(w, c)| {
                let odds = factors.iter().map(|f| log_odds(f, c, w)).enumerate();
                let largest = odds.max_by(|a, b| a.1.total_cmp(&b.1));
                largest.unwrap_or((0, f64::NEG_INFINITY))
            })
            .collect();
        Pool { factors, best }
    }
}

/// What one attack on one entity did.
#[derive(Clone, Copy, Default)]
pub(super) struct Damage {
    /// `‖P̃ − P‖₁`.
    pub(super) l1: f64,
    /// T5′.
    pub(super) bound: f64,
    /// The largest `‖Φᵢ − Φ̃ᵢ‖₁`.
    pub(super) delta: f64,
}

fn damage(
    clean: &[Distribution],
    corrupt: &[Distribution],
    weights: &[f64],
    before: &Distribution,
) -> Result<Damage, ExperimentError> {
    let after = pooled(corrupt, weights)?;
    // All factors are over the same classes.
    let distance = |a, b| l1_distance(a, b).unwrap_or(f64::NAN);
    let each = clean.iter().zip(corrupt).map(|(a, b)| distance(a, b));
    Ok(Damage {
        l1: distance(before, &after),
        bound: robust_l1_of_factors(clean, corrupt, weights)?,
        delta: each.fold(0.0, f64::max),
    })
}

/// Places and replacements by lot; a higher level replaces the same and more.
pub(super) fn at_random(
    clean: &[Distribution],
    weights: &[f64],
    before: &Distribution,
    pool: &Pool,
    mut lots: Stream,
    count: usize,
) -> Result<Damage, ExperimentError> {
    let mut places: Vec<usize> = (0..clean.len()).collect();
    let mut corrupt = clean.to_vec();
    for i in 0..count.min(places.len()) {
        let other = i + lots.below((places.len() - i) as u64) as usize;
        places.swap(i, other);
        let replacement = lots.below(pool.factors.len() as u64) as usize;
        corrupt[places[i]].clone_from(&pool.factors[replacement]);
    }
    damage(clean, &corrupt, weights, before)
}

/// The worst places and replacements, for the wrong class that gives the largest change.
pub(super) fn adversarial(
    clean: &[Distribution],
    weights: &[f64],
    before: &Distribution,
    pool: &Pool,
    count: usize,
) -> Result<Damage, ExperimentError> {
    let winner = before.argmax();
    let mut worst = Damage::default();
    for target in (0..before.classes()).filter(|&c| c != winner) {
        let (replacement, most) = pool.best[winner * before.classes() + target];
        let gain = |i: usize| weights[i] * (most - log_odds(&clean[i], target, winner));
        let mut places: Vec<usize> = (0..clean.len()).collect();
        places.sort_by(|&a, &b| gain(b).total_cmp(&gain(a)));
        let mut corrupt = clean.to_vec();
        for &place in places.iter().take(count).filter(|&&i| gain(i) > 0.0) {
            corrupt[place].clone_from(&pool.factors[replacement]);
        }
        let done = damage(clean, &corrupt, weights, before)?;
        if done.l1 > worst.l1 {
            worst = done;
        }
    }
    Ok(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(p: &[f64]) -> Distribution {
        Distribution::from_weights(p.to_vec()).unwrap()
    }

    #[test]
    fn the_adversary_finds_the_worst_of_all_replacements() {
        // Every subset of two places, every pair from the pool, by brute force.
        let clean = [
            d(&[0.8, 0.1, 0.1]),
            d(&[0.5, 0.2, 0.3]),
            d(&[0.4, 0.35, 0.25]),
            d(&[0.7, 0.1, 0.2]),
        ];
        let weights = [0.2, 0.9, 0.7, 0.3];
        let pool = Pool::new(vec![
            d(&[0.1, 0.8, 0.1]),
            d(&[0.3, 0.3, 0.4]),
            d(&[0.05, 0.15, 0.8]),
        ]);
        let before = pooled(&clean, &weights).unwrap();
        let mut most: f64 = 0.0;
        for a in 0..4 {
            for b in 0..a {
                for x in &pool.factors {
                    for y in &pool.factors {
                        let mut corrupt = clean.to_vec();
                        corrupt[a] = x.clone();
                        corrupt[b] = y.clone();
                        most = most.max(damage(&clean, &corrupt, &weights, &before).unwrap().l1);
                    }
                }
            }
        }
        let found = adversarial(&clean, &weights, &before, &pool, 2).unwrap();
        assert_eq!(found.l1, most);
        assert!(found.l1 <= found.bound);
        let lots = Stream::new(1, 0, 0, 0);
        let random = at_random(&clean, &weights, &before, &pool, lots.clone(), 2).unwrap();
        assert!(random.l1 > 0.0 && random.l1 <= found.l1);
        let none = at_random(&clean, &weights, &before, &pool, lots, 0).unwrap();
        assert_eq!((none.l1, none.bound, none.delta), (0.0, 0.0, 0.0));
    }
}
