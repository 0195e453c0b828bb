//! Theorem 7: total variance is epistemic plus aleatoric.

use lpf::latent::random::Stream;
use lpf::latent::{Decoder, DecoderWorkspace, FactorWorkspace, GaussianPosterior};
use lpf::math::rational;
use lpf::simplex::Distribution;
use lpf::uncertainty::{
    GaussianMixture, VarianceParts, mixture_uncertainty, variance_decomposition,
};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use proptest::prelude::*;
use rayon::prelude::*;

use crate::harness::{Check, Draws, LEVEL, Moments, Outcome, Property, Verdict, ensure};
use crate::l1::linear_decoder;
use crate::quadrature::gauss_hermite;

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "t7.identity_exact",
        claims: &["T7"],
        statement: "in exact rationals the parts are as defined and add up, for 1–8 classes, 1–200 samples",
        run: identity_exact,
    },
    Property {
        name: "t7.identity_doubles",
        claims: &["T7"],
        statement: "in doubles each part is within 12·2⁻⁵³ of the exact one, the identity within 36·2⁻⁵³",
        run: identity_doubles,
    },
    Property {
        name: "t7.total_variance",
        claims: &["T7"],
        statement: "simulated labels vary as the decomposition of the mixture says",
        run: total_variance,
    },
];

/// Rows of whole numbers over the same classes; each row stands for itself divided by its sum.
#[derive(Clone, Debug)]
struct Rows {
    classes: usize,
    weights: Vec<Vec<u32>>,
}

/// One row repeated, or rows of which some put everything, or nearly everything, on one class. With
/// `shares`, every row adds up to that, which keeps denominators of exact sums small.
fn rows(shares: Option<u32>) -> impl Strategy<Value = Rows> {
    (1usize..=8, 1usize..=200).prop_flat_map(move |(classes, samples)| {
        let any_row = prop::collection::vec(1u32..1000, classes);
        let concentrated = |rest: u32, all: u32| {
            (0..classes).prop_map(move |y| {
                let others = rest * (classes as u32 - 1);
                let row = (0..classes).map(|i| if i == y { all - others } else { rest });
                row.collect::<Vec<u32>>()
            })
        };
        let all = shares.unwrap_or(1_000_000_000);
        let (one_hot, nearly) = (concentrated(0, all), concentrated(1, all));
        let any_row = any_row.prop_map(move |row| match shares {
            None => row,
            Some(all) => cut(&row, all),
        });
        let equal = any_row.clone().prop_map(move |row| vec![row; samples]);
        let mixed = prop::collection::vec(prop_oneof![any_row, one_hot, nearly], samples);
        prop_oneof![1 => equal, 4 => mixed].prop_map(move |weights| Rows { classes, weights })
    })
}

/// `all` split in proportion to `row`, rounded so that the parts add up.
fn cut(row: &[u32], all: u32) -> Vec<u32> {
    let sum: u64 = row.iter().map(|&x| u64::from(x)).sum();
    let (mut before, mut given) = (0, 0);
    row.iter()
        .map(|&x| {
            before += u64::from(x);
            let upto = before * u64::from(all) / sum;
            let part = upto - given;
            given = upto;
            part as u32
        })
        .collect()
}

impl Rows {
    /// Each row divided by its sum.
    fn exact(&self) -> Vec<BigRational> {
        self.weights
            .iter()
            .flat_map(|row| {
                let sum: u64 = row.iter().map(|&x| u64::from(x)).sum();
                row.iter()
                    .map(move |&x| BigRational::new(BigInt::from(x), BigInt::from(sum)))
            })
            .collect()
    }

    fn doubles(&self) -> Vec<f64> {
        self.weights
            .iter()
            .flat_map(|row| {
                let row = row.iter().map(|&x| f64::from(x)).collect();
                Distribution::from_weights(row).unwrap().into_vec()
            })
            .collect()
    }
}

/// The definition, word for word.
fn literal(rows: &[BigRational], classes: usize) -> VarianceParts<BigRational> {
    let m = BigRational::from_integer((rows.len() / classes).into());
    let one = BigRational::one();
    let mut parts = VarianceParts {
        total: BigRational::zero(),
        epistemic: BigRational::zero(),
        aleatoric: BigRational::zero(),
    };
    for y in 0..classes {
        let column: Vec<&BigRational> = rows.iter().skip(y).step_by(classes).collect();
        let mean = column.iter().copied().sum::<BigRational>() / &m;
        parts.total += &mean * (&one - &mean);
        for p in column {
            parts.epistemic += (p - &mean) * (p - &mean) / &m;
            parts.aleatoric += p * (&one - p) / &m;
        }
    }
    parts
}

fn identity_exact(draws: Draws) -> Outcome {
    let strategy = rows(Some(1 << 16));
    let claim = |r: &Rows, unbiased: bool| -> Verdict {
        let rows = r.exact();
        let mut got = variance_decomposition(&rows, r.classes).map_err(|e| e.to_string())?;
        if unbiased && r.weights.len() > 1 {
            let m = BigRational::from_integer(r.weights.len().into());
            got.epistemic = got.epistemic * &m / (&m - BigRational::one());
        }
        let sum = &got.epistemic + &got.aleatoric;
        ensure(got.total == sum && got == literal(&rows, r.classes), || {
            "the parts do not add up".into()
        })
    };
    Outcome::new(
        draws.for_all("rows", 50, &strategy, |r| claim(&r, false)),
        "epistemic variance with 1/(M − 1)",
        draws.control("rows", 20, &strategy, |r| claim(&r, true)),
    )
}

fn identity_doubles(draws: Draws) -> Outcome {
    let strategy = rows(None);
    let unit = f64::EPSILON / 2.0;
    let claim = |r: &Rows, control: fn(VarianceParts, usize) -> VarianceParts| -> Verdict {
        let rows = r.doubles();
        let parts = variance_decomposition(&rows, r.classes).map_err(|e| e.to_string())?;
        let got = control(parts, r.weights.len());
        let exact: Vec<BigRational> = rows.iter().filter_map(|&p| rational(p)).collect();
        let want = literal(&exact, r.classes);
        for (name, got, want) in [
            ("total", got.total, want.total),
            ("epistemic", got.epistemic, want.epistemic),
            ("aleatoric", got.aleatoric, want.aleatoric),
        ] {
            let off = rational(got).map(|g| (g - &want).abs().to_f64().unwrap_or(f64::NAN));
            ensure(off.is_some_and(|off| off <= 12.0 * unit), || {
                format!("{name} {got} is off by {off:?}")
            })?;
        }
        let off = (got.total - (got.epistemic + got.aleatoric)).abs();
        ensure(off <= 36.0 * unit, || {
            format!("the identity is off by {off:e}")
        })
    };
    let unbiased = |p: VarianceParts, m: usize| VarianceParts {
        epistemic: if m > 1 {
            p.epistemic * m as f64 / (m as f64 - 1.0)
        } else {
            p.epistemic
        },
        ..p
    };
    let deviation = |p: VarianceParts, _: usize| VarianceParts {
        epistemic: p.epistemic.sqrt(),
        ..p
    };
    Outcome::new(
        draws.for_all("rows", 30, &strategy, |r| claim(&r, |p, _| p)),
        "epistemic variance with 1/(M − 1)",
        draws.control("rows", 20, &strategy, |r| claim(&r, unbiased)),
    )
    .and(
        "σ for σ²",
        draws.control("rows", 20, &strategy, |r| claim(&r, deviation)),
    )
}

/// Two Gaussians far apart in one dimension, and a logistic decoder.
const ALPHA: [f64; 2] = [0.5, 0.5];
const MEANS: [f64; 2] = [3.0, -1.0];
const SIGMAS: [f64; 2] = [0.25, 2.0];
const SLOPE: f32 = 1.25;
const TRIALS: u64 = 40_000;
const SAMPLES: usize = 4;

fn mixture(sigmas: [f64; 2]) -> GaussianMixture {
    let component =
        |i: usize| GaussianPosterior::diagonal(vec![MEANS[i]], vec![sigmas[i]]).unwrap();
    GaussianMixture::new(&ALPHA, vec![component(0), component(1)]).unwrap()
}

/// One Gaussian with the mixture's mean and variance.
fn single_gaussian() -> GaussianMixture {
    let (mean, variance) = mixture(SIGMAS).moments();
    let sigma = variance.iter().map(|v| v.sqrt()).collect();
    let one = GaussianPosterior::diagonal(mean, sigma).unwrap();
    GaussianMixture::new(&[1.0], vec![one]).unwrap()
}

/// The parts for infinitely many samples, by quadrature; both classes together.
fn truth() -> VarianceParts {
    let nodes = gauss_hermite(120);
    let (mut mean, mut square) = (0.0, 0.0);
    for i in 0..2 {
        for &(x, w) in &nodes {
            let p = 1.0 / (1.0 + (-f64::from(SLOPE) * (MEANS[i] + SIGMAS[i] * x)).exp());
            mean += ALPHA[i] * w * p;
            square += ALPHA[i] * w * p * p;
        }
    }
    VarianceParts {
        total: 2.0 * mean * (1.0 - mean),
        epistemic: 2.0 * (square - mean * mean),
        aleatoric: 2.0 * (mean - square),
    }
}

/// The probability of class 1 at a fresh draw, and two labels drawn from it.
fn labels(mixture: &GaussianMixture, decoder: &dyn Decoder, s: &mut Stream) -> [bool; 2] {
    let mut z = [0.0];
    let mut p = [0.0; 2];
    mixture.sample(s, &mut z);
    decoder
        .decode(&z, &mut p, &mut DecoderWorkspace::default())
        .unwrap();
    [s.uniform() < p[1], s.uniform() < p[1]]
}

/// Labels of one latent differ as often as the aleatoric part says, labels of two latents as often
/// as the total; and the parts that the library estimates have these means, the epistemic one
/// `1 − 1/M` of it.
fn simulate(draws: &Draws, mixture: &GaussianMixture, epistemic_factor: f64) -> Check {
    let truth = truth();
    let decoder = linear_decoder(&[&[0.0], &[SLOPE]], &[0.0, 0.0]);
    let trials: Vec<[f64; 4]> = (0..TRIALS)
        .into_par_iter()
        .map(|trial| {
            let mut s = draws.stream("labels", trial);
            let [a, b] = labels(mixture, &decoder, &mut s);
            let [c, _] = labels(mixture, &decoder, &mut s);
            let mut workspace = FactorWorkspace::default();
            let parts = mixture_uncertainty(mixture, &decoder, SAMPLES, &mut s, &mut workspace);
            let parts = parts.unwrap().variance;
            let differ = |x: bool, y: bool| f64::from(u8::from(x != y));
            [
                differ(a, b),
                differ(a, c),
                parts.aleatoric,
                epistemic_factor * parts.epistemic,
            ]
        })
        .collect();
    let short = 1.0 - 1.0 / SAMPLES as f64;
    let expected = [
        ("labels of one latent", truth.aleatoric),
        ("labels of two latents", truth.total),
        ("estimated aleatoric part", truth.aleatoric),
        ("estimated epistemic part", truth.epistemic * short),
    ];
    Check::all(expected.iter().enumerate().map(|(i, &(name, want))| {
        let values: Moments = trials.iter().map(|t| t[i]).collect();
        Check::mean(&values, want, 1.0, LEVEL / 4.0).named(name)
    }))
}

fn total_variance(draws: Draws) -> Outcome {
    let squares = SIGMAS.map(|s| s * s);
    let unbiased = SAMPLES as f64 / (SAMPLES as f64 - 1.0);
    Outcome::new(
        simulate(&draws, &mixture(SIGMAS), 1.0),
        "epistemic variance with 1/(M − 1)",
        simulate(&draws, &mixture(SIGMAS), unbiased),
    )
    .and("σ² for σ", simulate(&draws, &mixture(squares), 1.0))
    .and(
        "one Gaussian for the mixture",
        simulate(&draws, &single_gaussian(), 1.0),
    )
}
