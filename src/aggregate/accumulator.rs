//! Factors, one by one, on their way to one distribution.

use super::{AggregateError, Method};
use crate::math::BandedSum;
use crate::simplex::{Distribution, LogPool, PoolError, l1_distance};

/// What has been aggregated so far, in space that does not grow with the number of factors.
///
/// Whatever the order of [`add`](Accumulator::add) and the grouping by
/// [`merge`](Accumulator::merge), the bits of the result are the same.
#[derive(Clone, Debug)]
pub struct Accumulator {
    method: Method,
    count: usize,
    classes: usize,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Log-scores, with or without a prior.
    Product(LogPool),
    /// Per class the exact sum of entries (uniform) or of votes.
    Sums(Vec<BandedSum>),
    /// Per class the largest and the second largest entry, so that the largest can be left out.
    TopTwo(Vec<[f64; 2]>),
}

impl Accumulator {
    /// Nothing yet, over `classes` classes. Only [`Method::PriorCorrected`] looks at the prior.
    ///
    /// # Errors
    /// [`AggregateError::PriorMissing`]; [`AggregateError::ModelMissing`] for [`Method::Learned`];
    /// [`PoolError::ClassCount`] where the prior has another number of classes.
    pub fn new(
        method: Method,
        classes: usize,
        prior: Option<&Distribution>,
    ) -> Result<Self, AggregateError> {
        let state = match method {
            Method::Spn => State::Product(LogPool::new(classes)),
            Method::Uniform | Method::Vote => State::Sums(vec![BandedSum::new(); classes]),
            Method::Max => State::TopTwo(vec![[0.0; 2]; classes]),
            Method::Learned => return Err(AggregateError::ModelMissing),
            Method::PriorCorrected => {
                let prior = prior.ok_or(AggregateError::PriorMissing)?;
                PoolError::check_classes(0, prior.classes(), classes)?;
                State::Product(LogPool::with_prior(prior))
            }
        };
        Ok(Accumulator {
            method,
            count: 0,
            classes,
            state,
        })
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// How many factors have been added.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes one more factor.
    ///
    /// # Errors
    /// [`PoolError::ClassCount`] and [`PoolError::Weight`], with the number of factors added so
    /// far as the index; nothing changes then.
    pub fn add(&mut self, factor: &Distribution, weight: f64) -> Result<(), PoolError> {
        self.add_all(std::slice::from_ref(factor), &[weight])
    }

    /// Takes several factors, faster than one by one.
    ///
    /// # Errors
    /// As [`Accumulator::add`], for the first factor that does not fit, and
    /// [`PoolError::WeightCount`].
    pub fn add_all(&mut self, factors: &[Distribution], weights: &[f64]) -> Result<(), PoolError> {
        // A pool of logarithms does its own checks.
        if !matches!(self.state, State::Product(_)) {
            PoolError::check_counts(factors, weights)?;
            for (i, (factor, &weight)) in factors.iter().zip(weights).enumerate() {
                self.check(self.count + i, factor, weight)?;
            }
        }
        match &mut self.state {
            State::Product(pool) => pool.add_all(factors, weights)?,
            State::Sums(sums) => {
                for factor in factors {
                    add_shares(self.method, sums, factor.probabilities(), 1.0);
                }
            }
            State::TopTwo(best) => {
                for factor in factors {
                    for (two, &p) in best.iter_mut().zip(factor.probabilities()) {
                        insert(two, p);
                    }
                }
            }
        }
        self.count += factors.len();
        Ok(())
    }

    /// Takes everything that `other` holds.
    ///
    /// # Errors
    /// [`AggregateError::Unlike`] where methods differ, [`PoolError::ClassCount`] where classes
    /// do, [`PoolError::PriorDiffers`]; nothing changes then.
    pub fn merge(&mut self, other: &Accumulator) -> Result<(), AggregateError> {
        PoolError::check_classes(self.count, self.classes, other.classes)?;
        if self.method != other.method {
            return Err(AggregateError::Unlike(self.method, other.method));
        }
        match (&mut self.state, &other.state) {
            (State::Product(a), State::Product(b)) => a.merge(b)?,
            (State::Sums(a), State::Sums(b)) => {
                for (a, b) in a.iter_mut().zip(b) {
                    a.merge(b);
                }
            }
            (State::TopTwo(a), State::TopTwo(b)) => {
                for (a, b) in a.iter_mut().zip(b) {
                    insert(a, b[0]);
                    insert(a, b[1]);
                }
            }
            // Equal methods have equal kinds of state.
            _ => return Err(AggregateError::Unlike(self.method, other.method)),
        }
        self.count += other.count;
        Ok(())
    }

    /// The aggregated distribution, or `None` where a product leaves no class possible.
    ///
    /// # Errors
    /// [`PoolError::NoFactors`] where there is nothing to aggregate (the prior-corrected product
    /// of nothing is the prior), [`PoolError::Overflow`].
    pub fn distribution(&self) -> Result<Option<Distribution>, PoolError> {
        match &self.state {
            State::Product(pool) => pool.distribution(),
            State::Sums(sums) => self.normalized(sums.iter().map(BandedSum::to_f64).collect()),
            State::TopTwo(best) => self.normalized(best.iter().map(|two| two[0]).collect()),
        }
    }

    /// The aggregated distribution with one of the factors, added before with this weight, left
    /// out: to the bit what the others alone give. `None` where nothing is left.
    ///
    /// A class that a product allows stays allowed with fewer factors, so an aggregate that exists
    /// has all of these.
    ///
    /// # Errors
    /// Those of [`Accumulator::add`] and [`Accumulator::distribution`].
    pub fn without(
        &self,
        factor: &Distribution,
        weight: f64,
    ) -> Result<Option<Distribution>, PoolError> {
        self.check(self.count, factor, weight)?;
        let phi = factor.probabilities();
        if self.count <= 1 && self.method != Method::PriorCorrected {
            return Ok(None);
        }
        match &self.state {
            State::Product(pool) => pool.distribution_without(factor, weight),
            State::Sums(sums) => {
                let mut rest = sums.clone();
                add_shares(self.method, &mut rest, phi, -1.0);
                self.normalized(rest.iter().map(BandedSum::to_f64).collect())
            }
            State::TopTwo(best) => {
                let rest = best.iter().zip(phi);
                let rest = rest.map(|(two, &p)| if p == two[0] { two[1] } else { two[0] });
                self.normalized(rest.collect())
            }
        }
    }

    /// Per factor, all of them added before with these weights, the L1 distance from `all`, the aggregate,
    /// to the aggregate of the others: to the bit that of [`Accumulator::without`].
    ///
    /// # Errors
    /// Those of [`Accumulator::without`].
    pub(super) fn distances_without(
        &self,
        all: &Distribution,
        factors: &[Distribution],
        weights: &[f64],
        distances: &mut [Option<f64>],
    ) -> Result<(), PoolError> {
        match &self.state {
            State::Product(pool) if self.count > 1 => {
                pool.distances_without(all, factors, weights, distances)
            }
            _ => {
                for ((factor, &weight), distance) in factors.iter().zip(weights).zip(distances) {
                    let rest = self.without(factor, weight)?;
                    *distance = rest.and_then(|rest| l1_distance(all, &rest));
                }
                Ok(())
            }
        }
    }

    fn normalized(&self, masses: Vec<f64>) -> Result<Option<Distribution>, PoolError> {
        // Every factor has mass, so only the empty aggregate has none.
        Distribution::from_weights(masses)
            .map(Some)
            .map_err(|_| PoolError::NoFactors)
    }

    fn check(&self, index: usize, factor: &Distribution, weight: f64) -> Result<(), PoolError> {
        PoolError::check_classes(index, self.classes, factor.classes())?;
        if !(weight >= 0.0 && weight.is_finite()) {
            return Err(PoolError::Weight {
                index,
                value: weight,
            });
        }
        Ok(())
    }
}

/// Adds (`sign = 1`) or takes out (`−1`) what one item contributes to the sums.
fn add_shares(method: Method, sums: &mut [BandedSum], phi: &[f64], sign: f64) {
    if method == Method::Uniform {
        for (sum, &p) in sums.iter_mut().zip(phi) {
            sum.add(sign * p);
        }
        return;
    }
    let top = phi.iter().fold(0.0, |a: f64, &b| if b > a { b } else { a });
    let tied = phi.iter().filter(|&&p| p == top).count();
    let share = sign / tied as f64;
    for (sum, _) in sums.iter_mut().zip(phi).filter(|(_, p)| **p == top) {
        sum.add(share);
    }
}

/// Keeps the two largest of `two` and `p`, equal values counted as often as they occur.
fn insert(two: &mut [f64; 2], p: f64) {
    if p > two[0] {
        *two = [p, two[0]];
    } else if p > two[1] {
        two[1] = p;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(p: &[f64]) -> Distribution {
        Distribution::from_weights(p.to_vec()).unwrap()
    }

    fn of(method: Method, factors: &[Distribution]) -> Accumulator {
        let mut all = Accumulator::new(method, factors[0].classes(), None).unwrap();
        for factor in factors {
            all.add(factor, 1.0).unwrap();
        }
        all
    }

    #[test]
    fn votes_are_shared_by_tied_classes() {
        let factors = [
            d(&[0.4, 0.4, 0.2]),
            d(&[1.0, 0.0, 0.0]),
            d(&[0.0, 0.0, 1.0]),
        ];
        let shares = of(Method::Vote, &factors).distribution().unwrap().unwrap();
        // By hand: 1/2 + 1, 1/2, 1 of three votes.
        assert_eq!(shares.probabilities(), [0.5, 0.5 / 3.0, 1.0 / 3.0]);
    }

    #[test]
    fn maxima_are_taken_class_by_class() {
        let factors = [d(&[0.5, 0.25, 0.25]), d(&[0.125, 0.75, 0.125])];
        let all = of(Method::Max, &factors);
        // Largest entries 1/2, 3/4, 1/4 out of 3/2.
        let want = [0.5 / 1.5, 0.75 / 1.5, 0.25 / 1.5];
        assert_eq!(all.distribution().unwrap().unwrap().probabilities(), want);
        let rest = all.without(&factors[1], 1.0).unwrap().unwrap();
        assert_eq!(rest, factors[0]);
        // Equal maxima: leaving one of them out leaves the other.
        let twice = of(Method::Max, &[factors[0].clone(), factors[0].clone()]);
        assert_eq!(
            twice.without(&factors[0], 1.0).unwrap().unwrap(),
            factors[0]
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_and_changes_nothing() {
        for method in [Method::Spn, Method::Uniform, Method::Vote, Method::Max] {
            let mut all = of(method, &[d(&[0.5, 0.5]), d(&[0.25, 0.75])]);
            let before = all.distribution();
            let short = d(&[1.0]);
            assert!(matches!(
                all.add(&short, 1.0),
                Err(PoolError::ClassCount {
                    index: 2,
                    expected: 2,
                    found: 1
                })
            ));
            for bad in [-1.0, f64::NAN, f64::INFINITY] {
                assert!(matches!(
                    all.add(&d(&[0.5, 0.5]), bad),
                    Err(PoolError::Weight { index: 2, .. })
                ));
            }
            assert_eq!((all.count(), all.distribution()), (2, before));
            let empty = Accumulator::new(method, 2, None).unwrap();
            assert_eq!(empty.distribution(), Err(PoolError::NoFactors));
            let other = if method == Method::Max {
                Method::Spn
            } else {
                Method::Max
            };
            let other = Accumulator::new(other, 2, None).unwrap();
            assert!(matches!(all.merge(&other), Err(AggregateError::Unlike(..))));
        }
        assert!(matches!(
            Accumulator::new(Method::PriorCorrected, 2, None),
            Err(AggregateError::PriorMissing)
        ));
        assert!(matches!(
            Accumulator::new(Method::Learned, 2, None),
            Err(AggregateError::ModelMissing)
        ));
    }
}
