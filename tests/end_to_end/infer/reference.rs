//! The answers of the reference implementation, 60 of 60.

use super::{REFERENCE, answers, numbers, reference};
use serde_json::Value;

/// Half a unit in the last place of one, single precision.
const U: f64 = 1.0 / (1 << 24) as f64;
/// What the reference adds to factors and to sums.
const FUDGE: f64 = 1e-10;

/// How far the reference's product may be from the exact one, relatively, for each class.
///
/// It works in float32: per item `p = Φ/(ΣΦ + 1e-10)`, `q = p^w/(Σp^w + 1e-10)`,
/// `ℓ = ln(q + 1e-10)`; then `S = ln(1/3) + Σ ℓ` from left to right, `e = exp S`, and
/// `e/(Σe + 1e-10)`. What multiplies all classes alike cancels in the last step, so the sums
/// inside an item and its two fudges there do not count. What is left for class `y`, to first order
/// in `u = 2⁻²⁴`, with elementary functions within one unit in the last place (`2u` relative):
///
/// | step | error of the logarithm |
/// |---|---|
/// | `Φ` to float32, division | `2u`, times `w` by the power |
/// | `w` to float32 | `u·w·abs(ln Φ)` |
/// | power, division | `2u + u` |
/// | `q + 1e-10` | `1e-10/q + u` |
/// | logarithm | `2u·abs(ℓ)` |
/// | sum of K + 1 terms of one sign | `K·u·abs(S)` |
/// | exponential | `2u` |
///
/// The normalization adds the largest of these over the classes, `1e-10/Σe`, and `3u`.
fn tolerance(factors: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let k = factors.len() as f64;
    let mut logs = [0.0; 3];
    let mut scores = [(1.0f64 / 3.0).ln(); 3];
    for (factor, w) in factors.iter().zip(weights) {
        let powers: Vec<f64> = factor.iter().map(|p| p.powf(*w)).collect();
        let total: f64 = powers.iter().sum();
        for y in 0..3 {
            let q = powers[y] / total;
            let log = (q.ln()).abs();
            logs[y] += U * (2.0 * w + w * factor[y].ln().abs() + 4.0 + 2.0 * log) + FUDGE / q;
            scores[y] += q.ln();
        }
    }
    for y in 0..3 {
        logs[y] += U * (k * scores[y].abs() + 2.0);
    }
    let z: f64 = scores.iter().map(|s| s.exp()).sum();
    let largest = logs.iter().copied().fold(0.0, f64::max);
    let relative = |log: &f64| (log + largest + FUDGE / z + 3.0 * U).exp_m1();
    logs.iter().map(relative).collect()
}

fn evidence(record: &Value) -> (Vec<Vec<f64>>, Vec<f64>) {
    let items = record["evidence"].as_array().unwrap();
    let factors = items.iter().map(|item| numbers(&item["factor"])).collect();
    let weights = items.iter().map(|item| item["weight"].as_f64().unwrap());
    (factors, weights.collect())
}

/// How many answers agree with the reference's `spn`.
fn agreeing(answers: &[Value]) -> usize {
    let pairs = answers.iter().zip(reference());
    let close = pairs.filter(|(answer, want)| {
        let (factors, weights) = evidence(want);
        let (got, spn) = (numbers(&answer["distribution"]), numbers(&want["spn"]));
        let bounds = tolerance(&factors, &weights);
        assert!(bounds.iter().all(|b| *b < 2e-5), "{bounds:?}");
        answer["entity"] == want["entity"]
            && (0..3).all(|y| (got[y] - spn[y]).abs() <= bounds[y] * got[y])
    });
    close.count()
}

#[test]
fn products_equal_the_reference_within_its_rounding() {
    let got = answers(&[], REFERENCE.as_bytes());
    assert_eq!((got.len(), agreeing(&got)), (60, 60));
}

/// The tolerance would notice a weight that is a thousandth off, or an item that is missing.
#[test]
fn slightly_other_products_do_not() {
    let mut heavier = reference();
    let mut shorter = reference();
    for (h, s) in heavier.iter_mut().zip(&mut shorter) {
        for item in h["evidence"].as_array_mut().unwrap() {
            item["weight"] = (item["weight"].as_f64().unwrap() * 1.001).into();
        }
        s["evidence"].as_array_mut().unwrap().pop();
    }
    for changed in [heavier, shorter] {
        let lines: String = changed.iter().map(|r| format!("{r}\n")).collect();
        assert_eq!(agreeing(&answers(&[], lines.as_bytes())), 0);
    }
}

/// The reference averages in double precision, without its fudge: what differs is that our factors
/// are divided by their sums. With `σ` the largest distance of these from one, each term and so
/// the mean is off by `σ`, and rounding adds one unit for each of the K terms on its side, and
/// `n + 3` on ours (division, sum, normalization).
#[test]
fn means_equal_the_reference() {
    let got = answers(&["--method", "uniform"], REFERENCE.as_bytes());
    assert_eq!(got.len(), 60);
    for (answer, want) in got.iter().zip(reference()) {
        let (factors, _) = evidence(&want);
        let off = |f: &Vec<f64>| (f.iter().sum::<f64>() - 1.0).abs();
        let sigma = factors.iter().map(off).fold(0.0, f64::max);
        assert!(sigma < 2e-12);
        let bound = sigma + (factors.len() + 6) as f64 * f64::EPSILON / 2.0;
        let (got, mean) = (numbers(&answer["distribution"]), numbers(&want["uniform"]));
        for y in 0..3 {
            assert!((got[y] - mean[y]).abs() <= bound * mean[y], "{answer}");
        }
    }
}

/// With names, predictions are names; labels of the fixture are checked on the way.
#[test]
fn predictions_are_the_classes_named() {
    let names = ["low", "medium", "high"];
    let numbered = answers(&[], REFERENCE.as_bytes());
    let named = answers(&["--classes", "low,medium,high"], REFERENCE.as_bytes());
    for (number, name) in numbered.iter().zip(&named) {
        let class = number["prediction"].as_u64().unwrap() as usize;
        assert_eq!(name["prediction"], names[class]);
        let p = numbers(&name["distribution"]);
        assert_eq!(name["confidence"].as_f64(), Some(p[class]));
        assert!(p.iter().all(|x| *x <= p[class]));
        assert_eq!(name["method"], "spn");
    }
}
