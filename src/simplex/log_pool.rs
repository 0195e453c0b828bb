//! Products of factors in the log domain, order-free to the bit.

mod without;

use super::Distribution;
use super::distribution::trusted;
use super::normalize::softmax;
use super::pool::{Contradiction, PoolError, check_shapes};
use crate::math::lanes::{LANES, ln_lanes};
use crate::math::{BandedSum, ln};
use pulp::{Arch, Simd, WithSimd};

/// The running log-scores `Σ wᵢ ln Φᵢ(y)` of a product of factors, kept exactly.
///
/// Adding is `O(classes)` and allocates nothing. Two pools merge into exactly the pool of all
/// their factors, so groups of groups give the same bits as one flat pass.
///
/// | `Φ(y)` | `w` | effect on class `y` |
/// |---|---|---|
/// | positive | any | `w·ln Φ(y)` is added |
/// | zero | zero | none: a weight of zero means absent, `0⁰ = 1` |
/// | zero | positive | the class becomes impossible |
///
/// Error of the result: each term carries at most `1.5` ulp (logarithm and product), the sums
/// are exact, so the log-score of class `y` is off by at most `3·2⁻⁵³·Σ wᵢ|ln Φᵢ(y)|` plus
/// half an ulp of itself; see [`LogPool::relative_error`].
///
/// ```
/// use lpf::simplex::{Distribution, LogPool};
/// let (a, b) = (Distribution::new(vec![0.75, 0.25])?, Distribution::new(vec![0.5, 0.5])?);
/// let mut pool = LogPool::new(2);
/// pool.add(&a, 1.0)?;
/// pool.add(&b, 0.5)?;
/// assert_eq!(pool.distribution()?, Some(a.clone())); // an undecided factor changes nothing
/// assert_eq!(pool.distribution_without(&a, 1.0)?, Some(b));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LogPool {
    classes: Vec<ClassScore>,
    count: usize,
    with_prior: bool,
}

#[derive(Clone, Debug)]
struct ClassScore {
    sum: BandedSum,
    /// `Σ wᵢ|ln Φᵢ(y)|`, which scales the rounding error. An estimate, not exact.
    magnitude: f64,
    /// `ln π(y)`, or zero without a prior. Not part of `sum`, so that merging counts it once.
    log_prior: f64,
    /// How many factors with a positive weight give the class probability zero.
    excluded_by: usize,
}

impl ClassScore {
    fn impossible(&self) -> bool {
        self.excluded_by > 0 || self.log_prior == f64::NEG_INFINITY
    }

    /// The log-score, rounded once.
    fn score(&self) -> f64 {
        if self.impossible() {
            f64::NEG_INFINITY
        } else if self.log_prior == 0.0 {
            self.sum.to_f64()
        } else {
            let mut sum = self.sum.clone();
            sum.add(self.log_prior);
            sum.to_f64()
        }
    }

    /// The log-score, where it is within the range of a double.
    fn in_range(&self) -> Result<f64, PoolError> {
        let score = self.score();
        if score.is_finite() || self.impossible() {
            Ok(score)
        } else {
            Err(PoolError::Overflow)
        }
    }

    /// Adds `sign · w · (ln p − ln π)` for class `y` of each factor that gives it a positive
    /// probability; the terms of the two signs cancel exactly. Counts the factors that exclude it.
    fn add_few(&mut self, sign: f64, y: usize, factors: &[Distribution], weights: &[f64]) {
        let mut terms = [0.0; FEW];
        let mut n = 0;
        for (factor, &weight) in factors.iter().zip(weights) {
            let p = factor.probabilities().get(y).copied().unwrap_or(0.0);
            if weight > 0.0 && p > 0.0 {
                terms[n] = sign * (weight * ln(p));
                n += 1;
                self.correct(sign, weight);
            } else if weight > 0.0 {
                self.excluded_by += 1;
            }
        }
        self.sum.add_all(&terms[..n]);
        self.magnitude = terms[..n].iter().fold(self.magnitude, |m, t| m + t.abs());
    }

    /// [`ClassScore::add_few`] with the sign of a factor that is added, for up to so many groups of
    /// [`LANES`] factors, in operations that are vectors where the caller has them.
    #[inline(always)]
    fn add_block<const GROUPS: usize>(
        &mut self,
        y: usize,
        factors: &[Distribution],
        weights: &[f64],
    ) {
        // The power of a factor that has no term is zero, and so is what it adds: 0·ln 1.
        let mut terms = [[1.0; LANES]; GROUPS];
        let mut powers = [[0.0; LANES]; GROUPS];
        let slots = terms.as_flattened_mut().iter_mut();
        let slots = slots.zip(powers.as_flattened_mut());
        for ((factor, &weight), (term, power)) in factors.iter().zip(weights).zip(slots) {
            let p = factor.probabilities().get(y).copied().unwrap_or(0.0);
            if weight > 0.0 && p > 0.0 {
                (*term, *power) = (p, weight);
            } else {
                self.excluded_by += usize::from(weight > 0.0);
            }
        }
        if self.log_prior != 0.0 {
            for &power in powers.as_flattened().iter().filter(|power| **power > 0.0) {
                self.correct(1.0, power);
            }
        }
        let used = factors.len().div_ceil(LANES);
        for (terms, powers) in terms[..used].iter_mut().zip(&powers) {
            ln_lanes(terms);
            for (term, power) in terms.iter_mut().zip(powers) {
                *term *= power;
            }
        }
        self.sum.add_lanes(&terms[..used]);
        let terms = terms.as_flattened()[..factors.len()].iter();
        self.magnitude = terms.fold(self.magnitude, |m, t| m + t.abs());
    }

    /// Adds the prior's share of a factor, which has the sign opposite to its own.
    #[inline]
    fn correct(&mut self, sign: f64, weight: f64) {
        if self.log_prior != 0.0 && self.log_prior.is_finite() {
            let correction = weight * (-sign * self.log_prior);
            self.sum.add(correction);
            self.magnitude += correction.abs();
        }
    }
}

/// −ln of the smallest subnormal is below 745, so no term overflows.
const LARGEST_WEIGHT: f64 = f64::MAX / 746.0;

/// So many factors, or fewer, are not worth a vector.
const FEW: usize = 3;

/// Factors on their way into the scores of all classes.
struct AddBlocks<'a> {
    classes: &'a mut [ClassScore],
    factors: &'a [Distribution],
    weights: &'a [f64],
}

impl WithSimd for AddBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let blocks = self.factors.chunks(BLOCK).zip(self.weights.chunks(BLOCK));
        for (factors, weights) in blocks {
            for (y, class) in self.classes.iter_mut().enumerate() {
                if factors.len() <= LANES {
                    class.add_block::<1>(y, factors, weights);
                } else {
                    class.add_block::<{ BLOCK / LANES }>(y, factors, weights);
                }
            }
        }
    }
}

/// Logarithms are computed so many at a time, apart from the sums: each then overlaps the next.
const BLOCK: usize = 32;

impl LogPool {
    /// An empty product over `classes` classes: every log-score zero.
    pub fn new(classes: usize) -> Self {
        let empty = ClassScore {
            sum: BandedSum::new(),
            magnitude: 0.0,
            log_prior: 0.0,
            excluded_by: 0,
        };
        LogPool {
            classes: vec![empty; classes],
            count: 0,
            with_prior: false,
        }
    }

    /// The prior-corrected product with nothing added yet: `P = π`.
    pub fn with_prior(prior: &Distribution) -> Self {
        let mut pool = LogPool::new(prior.classes());
        pool.with_prior = true;
        for (class, &p) in pool.classes.iter_mut().zip(prior.probabilities()) {
            class.log_prior = ln(p);
            if p > 0.0 {
                class.magnitude = class.log_prior.abs();
            }
        }
        pool
    }

    /// How many factors have been added.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Multiplies by `Φ^w` (with a prior: by `(Φ/π)^w`).
    ///
    /// # Errors
    /// [`PoolError::ClassCount`] and [`PoolError::Weight`], with the number of factors added so
    /// far as the index; the pool is then unchanged.
    pub fn add(&mut self, factor: &Distribution, weight: f64) -> Result<(), PoolError> {
        self.add_all(std::slice::from_ref(factor), &[weight])
    }

    /// [`LogPool::add`] for several factors, faster than one by one.
    ///
    /// # Errors
    /// As there, for the first factor that does not fit, and [`PoolError::WeightCount`].
    pub fn add_all(&mut self, factors: &[Distribution], weights: &[f64]) -> Result<(), PoolError> {
        PoolError::check_counts(factors, weights)?;
        for (i, (factor, &weight)) in factors.iter().zip(weights).enumerate() {
            self.check(self.count + i, factor, weight)?;
        }
        if factors.len() <= FEW {
            for (y, class) in self.classes.iter_mut().enumerate() {
                class.add_few(1.0, y, factors, weights);
            }
        } else {
            // Wide vectors change nothing but the speed.
            Arch::new().dispatch(AddBlocks {
                classes: &mut self.classes,
                factors,
                weights,
            });
        }
        self.count += factors.len();
        Ok(())
    }

    /// [`LogPool::distribution`] of the pool without a factor that was added before with the same
    /// weight: leave-one-out in `O(classes)`, to the bit what adding only the others gives.
    ///
    /// # Errors
    /// Those of [`LogPool::add`] and [`LogPool::distribution`], and [`PoolError::NoFactors`] where
    /// the factor cannot have been added.
    pub fn distribution_without(
        &self,
        factor: &Distribution,
        weight: f64,
    ) -> Result<Option<Distribution>, PoolError> {
        self.check(self.count, factor, weight)?;
        let count = self.count.checked_sub(1).ok_or(PoolError::NoFactors)?;
        let phi = factor.probabilities();
        let mut scores = Vec::with_capacity(phi.len());
        for (y, (class, &p)) in self.classes.iter().zip(phi).enumerate() {
            let mut class = class.clone();
            if p > 0.0 {
                class.add_few(-1.0, y, std::slice::from_ref(factor), &[weight]);
            } else if weight > 0.0 {
                class.excluded_by = class
                    .excluded_by
                    .checked_sub(1)
                    .ok_or(PoolError::NoFactors)?;
            }
            scores.push(class.in_range()?);
        }
        self.normalized(scores, count)
    }

    fn check(&self, index: usize, factor: &Distribution, weight: f64) -> Result<(), PoolError> {
        PoolError::check_classes(index, self.classes.len(), factor.classes())?;
        if !(0.0..=LARGEST_WEIGHT).contains(&weight) {
            return Err(PoolError::Weight {
                index,
                value: weight,
            });
        }
        Ok(())
    }

    /// Multiplies by all factors that `other` holds: the result is the pool of both. A prior, which
    /// both must then have, counts once.
    ///
    /// # Errors
    /// [`PoolError::ClassCount`] where the pools are over different classes, and
    /// [`PoolError::PriorDiffers`]; the pool is then unchanged.
    pub fn merge(&mut self, other: &LogPool) -> Result<(), PoolError> {
        PoolError::check_classes(self.count, self.classes.len(), other.classes.len())?;
        let differs = |(a, b): (&ClassScore, &ClassScore)| a.log_prior != b.log_prior;
        if self.with_prior != other.with_prior
            || self.classes.iter().zip(&other.classes).any(differs)
        {
            return Err(PoolError::PriorDiffers);
        }
        for (a, b) in self.classes.iter_mut().zip(&other.classes) {
            a.sum.merge(&b.sum);
            a.magnitude += b.magnitude;
            a.excluded_by += b.excluded_by;
        }
        self.count += other.count;
        Ok(())
    }

    /// The log-scores, each rounded once; `−∞` for impossible classes.
    #[must_use]
    pub fn scores(&self) -> Vec<f64> {
        self.classes.iter().map(ClassScore::score).collect()
    }

    /// The normalized product, or `None` where no class is possible.
    ///
    /// # Errors
    /// [`PoolError::NoFactors`] for an empty pool without a prior, [`PoolError::Overflow`].
    pub fn distribution(&self) -> Result<Option<Distribution>, PoolError> {
        let scores: Result<Vec<f64>, _> = self.classes.iter().map(ClassScore::in_range).collect();
        self.normalized(scores?, self.count)
    }

    fn normalized(
        &self,
        mut scores: Vec<f64>,
        count: usize,
    ) -> Result<Option<Distribution>, PoolError> {
        if scores.is_empty() || (count == 0 && !self.with_prior) {
            return Err(PoolError::NoFactors);
        }
        match softmax(&mut scores) {
            Ok(()) => Ok(Some(trusted(scores))),
            // Not one class is possible; nothing else is left that could be wrong.
            Err(_) => Ok(None),
        }
    }

    /// An upper bound on the relative error of every normal entry of the distribution, as long
    /// as it is below one.
    ///
    /// With `A = max_y Σ wᵢ|ln Φᵢ(y)|`, a log-score is off by at most `3u·A` (terms) `+ u·A`
    /// (rounding of the score), `u = 2⁻⁵³`; the difference to the maximum doubles that and adds
    /// `u` of itself, at most `2u·A`; the exponential, the sum and the quotient add `(n + 3)u`. A
    /// factor of two covers the second-order terms wherever the bound is below one.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        let largest = self
            .classes
            .iter()
            .filter(|class| !class.impossible())
            .map(|class| class.magnitude)
            .fold(0.0, f64::max);
        let first_order = 10.0 * largest + self.classes.len() as f64 + 3.0;
        2.0 * first_order * (f64::EPSILON / 2.0)
    }
}

/// The normalized weighted product `P(y) ∝ exp(Σ wᵢ ln Φᵢ(y))`: LPF-SPN's aggregation.
///
/// Domain: finite weights `≥ 0`; all zero gives the uniform distribution, as the formula says.
/// Range: a distribution. See [`LogPool`] for zeros and for the error bound.
///
/// # Errors
/// Shapes, weights outside the domain, and [`PoolError::Contradiction`] naming the factors.
pub fn log_pool(factors: &[Distribution], weights: &[f64]) -> Result<Distribution, PoolError> {
    let classes = check_shapes(factors, weights)?;
    pool_all(LogPool::new(classes), factors, weights, None)
}

/// The prior-corrected product `P(y) ∝ π(y) · Π (Φᵢ(y)/π(y))^{wᵢ}`.
///
/// With `wᵢ = 1`, exact factors `Φᵢ = P(·|eᵢ)` and conditionally independent evidence this *is*
/// the posterior `P(y|e₁…e_K)` (theorem T1′). No evidence gives the prior. A class that the prior
/// excludes stays impossible whatever the factors say.
///
/// # Errors
/// As [`log_pool`], except that no factors are needed.
pub fn prior_corrected(
    prior: &Distribution,
    factors: &[Distribution],
    weights: &[f64],
) -> Result<Distribution, PoolError> {
    if !factors.is_empty() || !weights.is_empty() {
        check_shapes(factors, weights)?;
    }
    pool_all(LogPool::with_prior(prior), factors, weights, Some(prior))
}

/// `P(y) ∝ Φ(y)^t`: sharper for `t > 1`, flatter for `t < 1`, uniform on all classes for `t = 0`.
///
/// # Errors
/// [`PoolError::Weight`] where `t` is not finite or negative.
pub fn temper(factor: &Distribution, t: f64) -> Result<Distribution, PoolError> {
    log_pool(std::slice::from_ref(factor), &[t])
}

fn pool_all(
    mut pool: LogPool,
    factors: &[Distribution],
    weights: &[f64],
    prior: Option<&Distribution>,
) -> Result<Distribution, PoolError> {
    pool.add_all(factors, weights)?;
    pool.distribution()?
        .ok_or_else(|| PoolError::Contradiction(explain(factors, weights, prior)))
}

/// Finds few factors that together exclude every class; only called when all of them do.
fn explain(
    factors: &[Distribution],
    weights: &[f64],
    prior: Option<&Distribution>,
) -> Contradiction {
    let active: Vec<usize> = (0..factors.len()).filter(|&i| weights[i] > 0.0).collect();
    let prior = prior.map(Distribution::probabilities);
    let classes = factors.first().map_or(0, Distribution::classes);
    let allows = |i: usize, y: usize| factors[i].probabilities()[y] > 0.0;
    let possible_a_priori = |y: usize| prior.is_none_or(|p| p[y] > 0.0);
    // For a pair, it is enough to look at one factor for each distinct support.
    let mut supports = std::collections::BTreeMap::new();
    for &i in &active {
        let support: Vec<bool> = (0..classes).map(|y| allows(i, y)).collect();
        supports.entry(support).or_insert(i);
    }
    let mut distinct: Vec<usize> = supports.into_values().collect();
    distinct.sort_unstable();
    for with_prior in [false, true] {
        let excluded = |y: usize| with_prior && !possible_a_priori(y);
        for (k, &i) in distinct.iter().enumerate() {
            if (0..classes).all(|y| excluded(y) || !allows(i, y)) {
                return Contradiction {
                    factors: vec![i],
                    with_prior,
                };
            }
            for &j in &distinct[..k] {
                if (0..classes).all(|y| excluded(y) || !allows(i, y) || !allows(j, y)) {
                    return Contradiction {
                        factors: vec![j, i],
                        with_prior,
                    };
                }
            }
        }
    }
    // No pair does it: for each class still possible, the first factor that excludes it.
    let mut chosen: Vec<usize> = Vec::new();
    for y in (0..classes).filter(|&y| possible_a_priori(y)) {
        if !chosen.iter().any(|&i| !allows(i, y)) {
            chosen.extend(distinct.iter().find(|&&i| !allows(i, y)));
        }
    }
    chosen.sort_unstable();
    Contradiction {
        factors: chosen,
        with_prior: prior.is_some_and(|p| p.contains(&0.0)),
    }
}

#[cfg(test)]
mod tests;
