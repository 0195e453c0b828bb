//! Lemma 6: leaving one example out moves the minimum of a strongly convex objective by at most
//! `2L/(λN)`. Convexity is needed, so it says nothing about a neural network.

use lpf::bounds::stability_bound;
use nalgebra::{SMatrix, SVector};
use proptest::prelude::*;

use crate::harness::{Check, Draws, Outcome, Property, ensure};

pub const PROPERTIES: &[Property] = &[Property {
    name: "l6.stability",
    claims: &["L6"],
    statement: "regularized logistic regression moves by at most 2L/(λN) when an example is left out",
    run: stability,
}];

const DIMENSIONS: usize = 3;

type Vector = SVector<f64, DIMENSIONS>;

/// Features in the unit ball and a sign each.
#[derive(Clone, Debug)]
struct Problem {
    features: Vec<[f64; DIMENSIONS]>,
    signs: Vec<bool>,
    lambda: f64,
}

fn problems() -> impl Strategy<Value = Problem> {
    (2usize..20, -3.0f64..1.0).prop_flat_map(|(n, log_lambda)| {
        let point = prop::array::uniform3(-1.0f64..1.0).prop_map(|x| {
            let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
            x.map(|v| v / norm.max(1.0))
        });
        (
            prop::collection::vec(point, n),
            prop::collection::vec(any::<bool>(), n),
        )
            .prop_map(move |(features, signs)| Problem {
                features,
                signs,
                lambda: 10f64.powf(log_lambda),
            })
    })
}

/// The minimum of `mean ln(1 + exp(−s x·w)) + λ/2·|w|²` over all examples but one, by Newton's
/// method with halved steps, until the gradient is at most 10⁻¹³ (so that `w` is within
/// `10⁻¹³/λ`).
fn minimum(problem: &Problem, without: Option<usize>) -> Vector {
    let kept: Vec<(Vector, f64)> = (0..problem.features.len())
        .filter(|&i| Some(i) != without)
        .map(|i| {
            let sign = if problem.signs[i] { 1.0 } else { -1.0 };
            (Vector::from(problem.features[i]), sign)
        })
        .collect();
    let n = kept.len() as f64;
    let loss = |w: &Vector| {
        let sum: f64 = kept
            .iter()
            .map(|(x, s)| (-s * x.dot(w)).exp().ln_1p())
            .sum();
        sum / n + problem.lambda / 2.0 * w.norm_squared()
    };
    let mut w = Vector::zeros();
    for _ in 0..200 {
        let mut gradient = w * problem.lambda;
        let mut hessian = SMatrix::<f64, DIMENSIONS, DIMENSIONS>::identity() * problem.lambda;
        for (x, s) in &kept {
            let q = 1.0 / (1.0 + (s * x.dot(&w)).exp());
            gradient -= x * (s * q / n);
            hessian += x * x.transpose() * (q * (1.0 - q) / n);
        }
        if gradient.norm() <= 1e-13 {
            return w;
        }
        let step = hessian.cholesky().unwrap().solve(&gradient);
        let mut length = 1.0;
        while length > 1e-9 && loss(&(w - step * length)) > loss(&w) {
            length /= 2.0;
        }
        w -= step * length;
    }
    w
}

fn moves_at_most(problem: &Problem, share: f64) -> Result<(), String> {
    let n = problem.features.len();
    let whole = minimum(problem, None);
    // |ℓ'| ≤ |x| ≤ 1, so L = 1.
    let bound =
        share * stability_bound(1.0, problem.lambda, n as u64).map_err(|e| e.to_string())?;
    let slack = 1e-12 / problem.lambda;
    for i in 0..n {
        let moved = (minimum(problem, Some(i)) - whole).norm();
        ensure(moved <= bound + slack, || {
            format!("example {i} moves it by {moved}, bound {bound}")
        })?;
    }
    Ok(())
}

/// `ℓ(w) = s·tanh(w)/20 − tanh(w)²` is Lipschitz with `L < 1` and not convex: with 300 examples
/// whose signs nearly balance, one of them decides between two minima far apart.
fn two_minima() -> Check {
    let balance = |sum: f64, n: f64| {
        let value = |w: f64| {
            let t = w.tanh();
            0.05 * sum / n * t - t * t + 0.05 * w * w
        };
        let grid = (-4000..=4000).map(|i| f64::from(i) / 1000.0);
        grid.min_by(|a, b| value(*a).total_cmp(&value(*b)))
            .unwrap_or(0.0)
    };
    // 149 of sign +1, 150 of −1, one of +2; the last is left out. λ/2 = 1/20.
    let moved = (balance(1.0, 300.0) - balance(-1.0, 299.0)).abs();
    let bound = stability_bound(1.0, 0.1, 300).unwrap();
    Check::cases([ensure(moved <= bound, || {
        format!("without convexity it moves by {moved}, bound {bound:.3}")
    })])
}

fn stability(draws: Draws) -> Outcome {
    let strategy = problems();
    let check = draws.for_all("logistic", 80, &strategy, |p| moves_at_most(&p, 1.0));
    let small = draws.control("logistic", 80, &strategy, |p| moves_at_most(&p, 0.25));
    Outcome::new(check, "a quarter of the constant", small).and("loss not convex", two_minima())
}
