//! Lemma 1: the Monte Carlo factor is an unbiased estimate of `Φ(y) = E[p(y∣z)]`.

use lpf::latent::decoder::{DenseLayer, ProbitDecoder};
use lpf::latent::random::Stream;
use lpf::latent::{
    Decoder, FactorWorkspace, GaussianPosterior, MlpDecoder, factor_of_rows, monte_carlo_factor,
};
use lpf::synthetic::{Domain, EMBEDDING, Generator};
use rayon::prelude::*;

use crate::harness::{Check, Draws, LEVEL, Moments, Outcome, Property, ensure};
use crate::quadrature::{gauss_hermite, trapezoid};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "l1.unbiased",
        claims: &["L1"],
        statement: "the mean of Monte Carlo factors is the factor known by quadrature or in closed form",
        run: unbiased,
    },
    Property {
        name: "l1.truth",
        claims: &["L1"],
        statement: "two quadratures of the logistic-normal factor agree to 12 digits",
        run: truth,
    },
    Property {
        name: "l1.synthetic_mixtures",
        claims: &["L1"],
        statement: "over the synthetic mixtures, factors that are exact posteriors have the prior as their mean",
        run: synthetic_mixtures,
    },
];

const TRIALS: u64 = 20_000;
const SAMPLES: usize = 8;

/// A posterior, a decoder, and the exact factor.
pub struct Known {
    pub name: &'static str,
    pub posterior: GaussianPosterior,
    pub decoder: Box<dyn Decoder>,
    pub factor: Vec<f64>,
}

/// Scores `rows·z + bias` in a single layer.
pub fn linear_decoder(rows: &[&[f32]], bias: &[f32]) -> MlpDecoder {
    let weights = rows.concat();
    let layer = DenseLayer::new(rows[0].len(), rows.len(), &weights, bias.to_vec()).unwrap();
    MlpDecoder::new(vec![layer], &[]).unwrap()
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// `E[logistic(a + sZ)]`.
fn logistic_normal(a: f64, s: f64) -> f64 {
    gauss_hermite(120)
        .iter()
        .map(|&(x, w)| w * logistic(a + s * x))
        .sum()
}

/// One latent dimension, two classes.
fn logistic_case(name: &'static str, mean: f64, sigma: f64, slope: f32, bias: f32) -> Known {
    let p = logistic_normal(
        f64::from(slope) * mean + f64::from(bias),
        f64::from(slope) * sigma,
    );
    Known {
        name,
        posterior: GaussianPosterior::diagonal(vec![mean], vec![sigma]).unwrap(),
        decoder: Box::new(linear_decoder(&[&[0.0], &[slope]], &[0.0, bias])),
        factor: vec![1.0 - p, p],
    }
}

/// The slope of [`steep`].
pub const STEEP: f32 = 16.0;

/// So steep that decoded probabilities are nearly 0 or 1, the largest variance there is. Gauss–
/// Hermite would need too many nodes, but the factor is one half by symmetry.
fn steep() -> Known {
    Known {
        name: "steep logistic-normal",
        posterior: GaussianPosterior::diagonal(vec![0.0], vec![1.0]).unwrap(),
        decoder: Box::new(linear_decoder(&[&[0.0], &[STEEP]], &[0.0, 0.0])),
        factor: vec![0.5, 0.5],
    }
}

/// Five latent dimensions, three classes: the two score differences are a Gaussian in the plane.
fn three_classes() -> Known {
    let rows: [[f32; 5]; 3] = [
        [0.5, -0.25, 0.0, 0.25, 0.125],
        [-0.5, 0.5, 0.25, 0.0, -0.25],
        [0.0, 0.0, -0.5, 0.5, 0.25],
    ];
    let bias = [0.25f32, -0.125, 0.0];
    let mean = [0.5, -1.0, 0.25, 0.0, 1.0];
    let sigma = [1.0, 0.5, 1.5, 0.75, 1.0];
    let difference = |a: usize| -> Vec<f64> {
        (0..5)
            .map(|j| f64::from(rows[a][j]) - f64::from(rows[2][j]))
            .collect()
    };
    let (d0, d1) = (difference(0), difference(1));
    let offset = |d: &[f64], a: usize| {
        d.iter().zip(mean).map(|(d, m)| d * m).sum::<f64>() + f64::from(bias[a] - bias[2])
    };
    let covariance =
        |a: &[f64], b: &[f64]| -> f64 { (0..5).map(|j| a[j] * b[j] * sigma[j] * sigma[j]).sum() };
    // Cholesky of the 2×2 covariance.
    let l00 = covariance(&d0, &d0).sqrt();
    let l10 = covariance(&d0, &d1) / l00;
    let l11 = (covariance(&d1, &d1) - l10 * l10).sqrt();
    let nodes = gauss_hermite(100);
    let mut factor = vec![0.0; 3];
    for &(x, v) in &nodes {
        for &(y, w) in &nodes {
            let a = (offset(&d0, 0) + l00 * x).exp();
            let b = (offset(&d1, 1) + l10 * x + l11 * y).exp();
            for (slot, e) in factor.iter_mut().zip([a, b, 1.0]) {
                *slot += v * w * e / (a + b + 1.0);
            }
        }
    }
    Known {
        name: "three classes in five dimensions",
        posterior: GaussianPosterior::diagonal(mean.to_vec(), sigma.to_vec()).unwrap(),
        decoder: Box::new(linear_decoder(&[&rows[0], &rows[1], &rows[2]], &bias)),
        factor,
    }
}

fn probit_case() -> Known {
    let posterior = GaussianPosterior::diagonal(vec![0.5, -1.0, 0.0], vec![1.0, 2.0, 0.5]).unwrap();
    let decoder = ProbitDecoder::new(vec![1.0, -0.5, 2.0], 0.25).unwrap();
    let factor = decoder.exact_factor(&posterior).unwrap().into_vec();
    Known {
        name: "probit in three dimensions",
        posterior,
        decoder: Box::new(decoder),
        factor,
    }
}

/// A hidden layer with ReLU, one latent dimension; the trapezoidal rule with kinks has an error
/// of about `h² ≈ 10⁻¹⁰`.
fn hidden_layer() -> Known {
    let weights = [1.0f32, -1.0, 0.5, 2.0];
    let bias = [0.0f32, 0.5, -0.25, -1.0];
    let out: [[f32; 4]; 3] = [
        [1.0, -1.0, 0.5, -0.5],
        [-0.5, 1.5, 0.0, 0.25],
        [0.0, 0.25, -1.0, 1.0],
    ];
    let first = DenseLayer::new(1, 4, &weights, bias.to_vec()).unwrap();
    let second = DenseLayer::new(4, 3, &out.concat(), vec![0.0, 0.125, -0.25]).unwrap();
    let decoder = MlpDecoder::new(vec![first, second], &[]).unwrap();
    let (mean, sigma) = (0.25, 1.5);
    let probabilities = |z: f64, y: usize| {
        let hidden: Vec<f64> = (0..4)
            .map(|j| (f64::from(weights[j]) * z + f64::from(bias[j])).max(0.0))
            .collect();
        let score = |k: usize| -> f64 {
            let sum: f64 = (0..4).map(|j| f64::from(out[k][j]) * hidden[j]).sum();
            (sum + [0.0, 0.125, -0.25][k]).exp()
        };
        score(y) / (score(0) + score(1) + score(2))
    };
    let factor = (0..3)
        .map(|y| trapezoid(1 << 17, |x| probabilities(mean + sigma * x, y)))
        .collect();
    Known {
        name: "hidden layer",
        posterior: GaussianPosterior::diagonal(vec![mean], vec![sigma]).unwrap(),
        decoder: Box::new(decoder),
        factor,
    }
}

/// Decoders whose factors are known.
pub fn known() -> Vec<Known> {
    vec![
        logistic_case("logistic-normal", 1.0, 1.5, 1.25, -0.5),
        steep(),
        three_classes(),
        probit_case(),
        hidden_layer(),
    ]
}

/// The factor of one trial.
pub fn estimate(
    known: &Known,
    posterior: &GaussianPosterior,
    samples: usize,
    stream: &mut Stream,
) -> Vec<f64> {
    let mut workspace = FactorWorkspace::default();
    monte_carlo_factor(
        posterior,
        known.decoder.as_ref(),
        samples,
        stream,
        &mut workspace,
    )
    .unwrap()
    .distribution
    .into_vec()
}

/// Means of an estimator over all trials, against the exact factor, class by class.
fn means(
    draws: &Draws,
    known: &Known,
    cases: usize,
    estimator: impl Fn(&Known, &mut Stream) -> Vec<f64> + Sync,
) -> Check {
    let estimates: Vec<Vec<f64>> = (0..TRIALS)
        .into_par_iter()
        .map(|trial| estimator(known, &mut draws.stream(known.name, trial)))
        .collect();
    let classes = known.factor.len();
    Check::all((0..classes).map(|y| {
        let values: Moments = estimates.iter().map(|e| e[y]).collect();
        let level = LEVEL / (cases * classes) as f64;
        Check::mean(&values, known.factor[y], 1.0, level)
            .named(format!("{}, class {y}", known.name))
    }))
}

fn unbiased(draws: Draws) -> Outcome {
    let all = known();
    let right = |k: &Known, s: &mut Stream| estimate(k, &k.posterior, SAMPLES, s);
    let check = Check::all(all.iter().map(|k| means(&draws, k, all.len(), right)));
    let first = &all[0];
    // Each control must be seen in a single case, the logistic-normal one.
    let biased = means(&draws, first, 1, |k, s| {
        let mut e = right(k, s);
        e[1] *= 1.03;
        e
    });
    let wrong_sigma = means(&draws, first, 1, |k, s| {
        let variances: Vec<f64> = k.posterior.variances().collect();
        let wrong = GaussianPosterior::diagonal(k.posterior.mean().to_vec(), variances).unwrap();
        estimate(k, &wrong, SAMPLES, s)
    });
    let at_mean = means(&draws, first, 1, |k, s| {
        let point = GaussianPosterior::diagonal(k.posterior.mean().to_vec(), vec![1e-9]).unwrap();
        estimate(k, &point, 1, s)
    });
    Outcome::new(check, "3 % too large", biased)
        .and("σ² where σ is meant", wrong_sigma)
        .and("decoding the mean", at_mean)
}

fn truth(_: Draws) -> Outcome {
    let grid: Vec<(f64, f64)> = [-2.0, 0.0, 0.75, 3.0]
        .into_iter()
        .flat_map(|a| [0.25, 1.0, 2.0].map(|s| (a, s)))
        .collect();
    let agree = |nodes: usize| {
        Check::cases(grid.iter().map(|&(a, s)| {
            let rule = gauss_hermite(nodes);
            let gauss: f64 = rule.iter().map(|&(x, w)| w * logistic(a + s * x)).sum();
            let plain = trapezoid(400, |x| logistic(a + s * x));
            ensure((gauss - plain).abs() <= 1e-12, || {
                format!("E[logistic({a} + {s} Z)]: {gauss} and {plain}")
            })
        }))
    };
    Outcome::new(agree(120), "eight nodes", agree(8))
}

const ENTITIES: u64 = 20_000;

/// The exact `P(y∣e)` of each item, entity by entity, with embeddings drawn from the Gaussian
/// mixtures of the domain.
fn item_posteriors(draws: &Draws, domain: &'static Domain) -> Vec<Vec<f64>> {
    let generator = Generator::new(domain);
    let seed = draws.stream(domain.name, 0).next_u64();
    (0..ENTITIES)
        .into_par_iter()
        .map(|index| {
            let entity = generator.entity(seed, index);
            let items = entity.embeddings.chunks(EMBEDDING);
            items
                .flat_map(|item| generator.posterior(item).unwrap().into_vec())
                .collect()
        })
        .collect()
}

/// One trial is one entity: the mean of its items' rows, each changed by `change`. Items share the
/// class, so the samples depend on each other, which lemma 1 allows; `E[P(y∣E)] = π(y)` for all.
fn mixture_means(
    entities: &[Vec<f64>],
    domain: &Domain,
    level: f64,
    change: impl Fn(&mut [f64], &[f64]),
) -> Check {
    let prior = domain.prior();
    let classes = prior.len();
    let mut values = vec![Moments::default(); classes];
    for rows in entities {
        let mut rows = rows.clone();
        rows.chunks_mut(classes).for_each(|row| change(row, &prior));
        let factor = factor_of_rows(&rows, classes).unwrap();
        for (moments, p) in values.iter_mut().zip(factor.distribution.probabilities()) {
            moments.add(*p);
        }
    }
    Check::all((0..classes).map(|y| {
        Check::mean(&values[y], prior[y], 1.0, level / classes as f64)
            .named(format!("{}, class {y}", domain.name))
    }))
}

/// Multiplies each entry by `by(y)` and normalizes.
fn tilt(row: &mut [f64], by: impl Fn(usize) -> f64) {
    row.iter_mut().enumerate().for_each(|(y, p)| *p *= by(y));
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|p| *p /= sum);
}

fn synthetic_mixtures(draws: Draws) -> Outcome {
    // The first domain, and the one with the most noise, contradiction and missing items.
    let cases = ["compliance", "construction"].map(|name| {
        let domain = Domain::named(name).unwrap();
        (domain, item_posteriors(&draws, domain))
    });
    let level = LEVEL / cases.len() as f64;
    let check = Check::all(
        cases
            .iter()
            .map(|(domain, entities)| mixture_means(entities, domain, level, |_, _| {})),
    );
    let (domain, entities) = &cases[0];
    let forgotten = mixture_means(entities, domain, LEVEL, |row, prior| {
        tilt(row, |y| 1.0 / prior[y]);
    });
    let twice = mixture_means(entities, domain, LEVEL, |row, prior| {
        tilt(row, |y| prior[y]);
    });
    let moved = mixture_means(entities, domain, LEVEL, |row, _| {
        row.iter_mut().for_each(|p| *p *= 0.95);
        row[0] += 0.05;
    });
    Outcome::new(check, "prior forgotten", forgotten)
        .and("prior counted twice", twice)
        .and("5 % of the mass moved to the first class", moved)
}
