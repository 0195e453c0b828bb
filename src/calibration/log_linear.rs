//! Maps that are the softmax of a linear function of log-probabilities, fitted by Newton's method.
//!
//! | family | score of class `k` | classes | what keeps the fit finite |
//! |---|---|---|---|
//! | platt | `A·(ln p₁ − ln p₀) + B` for class 1, 0 for class 0 | 2 | Platt's targets (1999): `(n₁ + 1)/(n₁ + 2)` and `1/(n₀ + 2)` in place of 1 and 0 |
//! | beta | `a·ln p₁ − b·ln p₀ + c` for class 1, `a, b ≥ 0` (Kull et al. 2017) | 2 | the penalty |
//! | vector | `a_k·ln p_k + b_k` (Guo et al. 2017) | any | the penalty |
//! | dirichlet | `Σ_j W_kj·ln p_j + b_k` (Kull et al. 2019) | any, up to [`MAX_PARAMETERS`] | the penalty |
//!
//! The penalty is half the squared distance of the parameters from those of the map that changes
//! nothing, added to the sum of the log losses: a normal prior of variance one around doing
//! nothing. It makes the minimum unique and finite, also where the classes can be separated, and
//! loses to the data as rows come in.
//!
//! Rows are summed in an order of their own (sorted by content, in blocks of fixed size), so that
//! neither the order of the rows nor the number of threads changes a bit.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::MapError;
use crate::math::{exp, ln};
use crate::simplex::{Distribution, softmax};

/// More parameters are not fitted: each step works on a square matrix of them.
pub const MAX_PARAMETERS: usize = 600;

/// Rows whose sums are one task.
const BLOCK: usize = 2048;
/// Newton's method needs about ten steps; more than this means that there is no minimum.
const STEPS: usize = 200;

/// A family of maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// A line in the log-odds of two classes.
    Platt,
    /// A line in both log-probabilities of two classes.
    Beta,
    /// A line for each class in its own log-probability.
    Vector,
    /// A line for each class in all log-probabilities.
    Dirichlet,
}

impl Family {
    /// All families, simplest first.
    pub const ALL: [Family; 4] = [
        Family::Platt,
        Family::Beta,
        Family::Vector,
        Family::Dirichlet,
    ];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Family::Platt => "platt",
            Family::Beta => "beta",
            Family::Vector => "vector",
            Family::Dirichlet => "dirichlet",
        }
    }

    /// How many parameters it has over so many classes.
    pub fn parameters(self, classes: usize) -> usize {
        match self {
            Family::Platt => 2,
            Family::Beta => 3,
            Family::Vector => 2 * classes,
            Family::Dirichlet => classes.saturating_mul(classes.saturating_add(1)),
        }
    }

    /// That it is for so many classes.
    pub fn check(self, classes: usize) -> Result<(), MapError> {
        let family = self;
        if matches!(self, Family::Platt | Family::Beta) && classes != 2 {
            return Err(MapError::TwoClasses { family, classes });
        }
        let parameters = self.parameters(classes);
        if parameters > MAX_PARAMETERS {
            return Err(MapError::Parameters {
                family,
                classes,
                parameters,
            });
        }
        Ok(())
    }

    /// The parameters: the class whose score each is part of, what it is multiplied with, and its
    /// value in the map that changes nothing.
    fn layout(self, classes: usize) -> Vec<Parameter> {
        let parameter = |class, feature, identity| Parameter {
            class,
            feature,
            identity,
        };
        match self {
            Family::Platt => vec![
                parameter(1, Feature::LogOdds, 1.0),
                parameter(1, Feature::One, 0.0),
            ],
            Family::Beta => vec![
                parameter(1, Feature::Log(1), 1.0),
                parameter(1, Feature::MinusLog(0), 1.0),
                parameter(1, Feature::One, 0.0),
            ],
            Family::Vector => (0..classes)
                .map(|k| parameter(k, Feature::Log(k), 1.0))
                .chain((0..classes).map(|k| parameter(k, Feature::One, 0.0)))
                .collect(),
            Family::Dirichlet => (0..classes)
                .flat_map(|k| {
                    let own = move |j| f64::from(u8::from(j == k));
                    (0..classes).map(move |j| parameter(k, Feature::Log(j), own(j)))
                })
                .chain((0..classes).map(|k| parameter(k, Feature::One, 0.0)))
                .collect(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Parameter {
    class: usize,
    feature: Feature,
    identity: f64,
}

/// What a parameter is multiplied with.
#[derive(Clone, Copy, Debug)]
enum Feature {
    One,
    Log(usize),
    MinusLog(usize),
    LogOdds,
}

impl Feature {
    fn of(self, logs: &[f64]) -> f64 {
        let log = |class: usize| logs.get(class).copied().unwrap_or(f64::NAN);
        match self {
            Feature::One => 1.0,
            Feature::Log(class) => log(class),
            Feature::MinusLog(class) => -log(class),
            Feature::LogOdds => log(1) - log(0),
        }
    }
}

/// A fitted map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct LogLinear {
    family: Family,
    classes: usize,
    parameters: Vec<f64>,
}

/// As it stands in a file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    family: Family,
    classes: usize,
    parameters: Vec<f64>,
}

impl TryFrom<Parts> for LogLinear {
    type Error = MapError;
    fn try_from(parts: Parts) -> Result<Self, MapError> {
        let Parts {
            family,
            classes,
            parameters,
        } = parts;
        family.check(classes)?;
        let fits = classes >= 2
            && parameters.len() == family.parameters(classes)
            && parameters.iter().all(|x| x.is_finite());
        match fits {
            true => Ok(LogLinear {
                family,
                classes,
                parameters,
            }),
            false => Err(MapError::LogLinear { family }),
        }
    }
}

impl From<LogLinear> for Parts {
    fn from(map: LogLinear) -> Self {
        Parts {
            family: map.family,
            classes: map.classes,
            parameters: map.parameters,
        }
    }
}

impl LogLinear {
    /// The family.
    pub fn family(&self) -> Family {
        self.family
    }

    /// How many classes it is for.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The parameters, in the order of the table above: `A, B`; `a, b, c`; all `a` and then all `b`;
    /// `W` row by row and then all `b`.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// The map of least penalized log loss. `logs` holds the logarithms of a row of probabilities for
    /// each label.
    ///
    /// # Errors
    /// [`MapError`] where the family is for other classes, or there is no single minimum.
    pub(super) fn fit(family: Family, logs: &[f64], labels: &[usize]) -> Result<Self, MapError> {
        let classes = logs.len().checked_div(labels.len()).unwrap_or(0);
        family.check(classes)?;
        let problem = Problem::new(family, classes, logs, labels);
        let free = vec![true; problem.layout.len()];
        let found = match family {
            Family::Beta => problem.beta(),
            _ => problem.minimum(&free).map(|(_, parameters)| parameters),
        };
        let parameters = found.ok_or(MapError::NoMinimum { family })?;
        LogLinear::try_from(Parts {
            family,
            classes,
            parameters,
        })
    }

    /// The answer to a prediction without zeros.
    pub(super) fn apply(&self, prediction: &Distribution) -> Result<Distribution, MapError> {
        let logs: Vec<f64> = prediction.probabilities().iter().map(|&p| ln(p)).collect();
        let mut scores = vec![0.0; self.classes];
        for (parameter, value) in self
            .family
            .layout(self.classes)
            .iter()
            .zip(&self.parameters)
        {
            if let Some(score) = scores.get_mut(parameter.class) {
                *score += value * parameter.feature.of(&logs);
            }
        }
        softmax(&mut scores).map_err(MapError::Simplex)?;
        Distribution::new(scores).map_err(MapError::Simplex)
    }

    /// The slope of the penalized loss, divided by the number of rows, in the direction of each
    /// parameter: zero at the minimum, up to rounding.
    #[cfg(test)]
    fn gradient(&self, logs: &[f64], labels: &[usize]) -> Vec<f64> {
        let problem = Problem::new(self.family, self.classes, logs, labels);
        let at = problem.evaluate(&self.parameters);
        at.gradient
            .iter()
            .map(|g| g / labels.len() as f64)
            .collect()
    }
}

/// Rows, and what is asked of them.
struct Problem {
    layout: Vec<Parameter>,
    classes: usize,
    /// Weight of the penalty.
    penalty: f64,
    /// For each label, what the probabilities of the classes should be.
    targets: Vec<Vec<f64>>,
    /// Sorted by content.
    rows: Vec<(Vec<f64>, usize)>,
}

/// The penalized loss at a point, its slope and its curvature (row by row, the lower half).
struct Value {
    loss: f64,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
}

impl Problem {
    fn new(family: Family, classes: usize, logs: &[f64], labels: &[usize]) -> Self {
        let chunks = logs.chunks_exact(classes.max(1)).zip(labels);
        let mut rows: Vec<(Vec<f64>, usize)> =
            chunks.map(|(row, &label)| (row.to_vec(), label)).collect();
        let key = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        rows.sort_by_cached_key(|(row, label)| (key(row), *label));
        let targets = match family {
            Family::Platt => {
                let of = |class| labels.iter().filter(|&&y| y == class).count() as f64;
                let low = 1.0 / (of(0) + 2.0);
                let high = (of(1) + 1.0) / (of(1) + 2.0);
                vec![vec![1.0 - low, low], vec![1.0 - high, high]]
            }
            _ => (0..classes)
                .map(|y| (0..classes).map(|k| f64::from(u8::from(k == y))).collect())
                .collect(),
        };
        Problem {
            layout: family.layout(classes),
            classes,
            penalty: if family == Family::Platt { 0.0 } else { 1.0 },
            targets,
            rows,
        }
    }

    fn evaluate(&self, at: &[f64]) -> Value {
        let n = self.layout.len();
        let zero = || Value {
            loss: 0.0,
            gradient: vec![0.0; n],
            hessian: vec![0.0; n * (n + 1) / 2],
        };
        let parts: Vec<Value> = self
            .rows
            .par_chunks(BLOCK)
            .map(|rows| {
                let mut part = zero();
                let mut features = vec![0.0; n];
                let mut scores = vec![0.0; self.classes];
                for row in rows {
                    self.add_row(at, row, &mut features, &mut scores, &mut part);
                }
                part
            })
            .collect();
        let mut whole = parts.into_iter().fold(zero(), |mut sum, part| {
            sum.loss += part.loss;
            let add = |sum: &mut [f64], part: &[f64]| {
                sum.iter_mut().zip(part).for_each(|(a, b)| *a += b);
            };
            add(&mut sum.gradient, &part.gradient);
            add(&mut sum.hessian, &part.hessian);
            sum
        });
        for (i, (x, parameter)) in at.iter().zip(&self.layout).enumerate() {
            let off = x - parameter.identity;
            whole.loss += 0.5 * self.penalty * off * off;
            if let Some(slope) = whole.gradient.get_mut(i) {
                *slope += self.penalty * off;
            }
            if let Some(curvature) = whole.hessian.get_mut(i * (i + 3) / 2) {
                *curvature += self.penalty;
            }
        }
        whole
    }

    fn add_row(
        &self,
        at: &[f64],
        (logs, label): &(Vec<f64>, usize),
        features: &mut [f64],
        scores: &mut [f64],
        sum: &mut Value,
    ) {
        scores.fill(0.0);
        for ((parameter, feature), x) in self.layout.iter().zip(&mut *features).zip(at) {
            *feature = parameter.feature.of(logs);
            scores[parameter.class] += x * *feature;
        }
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let targets = &self.targets[*label];
        let mut total = 0.0;
        let mut wanted = 0.0;
        for (score, target) in scores.iter_mut().zip(targets) {
            wanted += target * (*score - largest);
            *score = exp(*score - largest);
            total += *score;
        }
        sum.loss += ln(total) - wanted;
        scores.iter_mut().for_each(|q| *q /= total);
        let mut place = 0;
        for (i, (a, &x)) in self.layout.iter().zip(&*features).enumerate() {
            let q = scores[a.class];
            sum.gradient[i] += (q - targets[a.class]) * x;
            for (b, &y) in self.layout[..=i].iter().zip(&*features) {
                let same = f64::from(u8::from(a.class == b.class));
                sum.hessian[place] += q * (same - scores[b.class]) * x * y;
                place += 1;
            }
        }
    }

    /// The least value with these parameters free and the others zero, and where it is taken.
    fn minimum(&self, free: &[bool]) -> Option<(f64, Vec<f64>)> {
        // Without a penalty the identity may be where the loss is flat, which zero never is.
        let from = |parameter: &Parameter| match self.penalty > 0.0 {
            true => parameter.identity,
            false => 0.0,
        };
        let start = self.layout.iter().zip(free);
        let mut at: Vec<f64> = start
            .map(|(parameter, free)| if *free { from(parameter) } else { 0.0 })
            .collect();
        let mut value = self.evaluate(&at);
        for _ in 0..STEPS {
            let step = newton_step(&value, free)?;
            let falls: f64 = step.iter().zip(&value.gradient).map(|(s, g)| s * g).sum();
            // Twice the distance in value to the minimum of the quadratic model: when it is below the
            // rounding of the loss, one more step brings the slope down to its own rounding.
            if falls.abs() <= 1e-16 * (1.0 + value.loss) {
                let last: Vec<f64> = at.iter().zip(&step).map(|(x, s)| x - s).collect();
                return last
                    .iter()
                    .all(|x| x.is_finite())
                    .then_some((value.loss, last));
            }
            let mut length = 1.0;
            loop {
                let next: Vec<f64> = at.iter().zip(&step).map(|(x, s)| x - length * s).collect();
                let there = self.evaluate(&next);
                let allowed = value.loss - 0.25 * length * falls + 1e-13 * (1.0 + value.loss);
                if there.loss <= allowed {
                    (at, value) = (next, there);
                    break;
                }
                length /= 2.0;
                if length < 1e-12 {
                    return None;
                }
            }
        }
        None
    }

    /// The least value with `a, b ≥ 0`: the loss is convex, so that the minimum is one of those with
    /// some of them fixed at zero.
    fn beta(&self) -> Option<Vec<f64>> {
        let ways = [[true, true], [true, false], [false, true], [false, false]];
        let found = ways.iter().filter_map(|&[a, b]| {
            let (loss, at) = self.minimum(&[a, b, true])?;
            at.iter().take(2).all(|&x| x >= 0.0).then_some((loss, at))
        });
        let best = found.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, at)| at)
    }
}

/// `H⁻¹g` over the free parameters, zero for the others; `None` where the curvature is not positive
/// in every direction.
fn newton_step(value: &Value, free: &[bool]) -> Option<Vec<f64>> {
    let index: Vec<usize> = (0..free.len()).filter(|&i| free[i]).collect();
    let n = index.len();
    let entry = |a: usize, b: usize| value.hessian[index[a] * (index[a] + 1) / 2 + index[b]];
    let at = |i: usize, j: usize| i * (i + 1) / 2 + j;
    let mut l = vec![0.0; n * (n + 1) / 2];
    for i in 0..n {
        for j in 0..=i {
            let product: f64 = (0..j).map(|k| l[at(i, k)] * l[at(j, k)]).sum();
            let rest = entry(i, j) - product;
            l[at(i, j)] = if i > j {
                rest / l[at(j, j)]
            } else if rest > 1e-14 * entry(i, i) {
                libm::sqrt(rest)
            } else {
                return None;
            };
        }
    }
    let mut x: Vec<f64> = index.iter().map(|&i| value.gradient[i]).collect();
    for i in 0..n {
        let known: f64 = (0..i).map(|k| l[at(i, k)] * x[k]).sum();
        x[i] = (x[i] - known) / l[at(i, i)];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| l[at(k, i)] * x[k]).sum();
        x[i] = (x[i] - known) / l[at(i, i)];
    }
    let mut step = vec![0.0; free.len()];
    for (&i, x) in index.iter().zip(x) {
        step[i] = x;
    }
    Some(step)
}

#[cfg(test)]
mod tests;
