//! K copies of one factor: the case where a product in the probability domain comes to nothing.

use super::{answers, numbers};
use lpf::math::rational;
use lpf::simplex::{Distribution, LogPool, SimplexError, validate};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, pow};

const U: f64 = f64::EPSILON / 2.0;

fn copies(k: usize) -> String {
    let items = vec![r#"{"factor":[0.8,0.15,0.05]}"#; k].join(",");
    format!("{{\"entity\":\"copies\",\"evidence\":[{items}]}}\n")
}

/// (16ᵏ, 3ᵏ, 1) / (16ᵏ + 3ᵏ + 1): the answer for 0.8, 0.15, 0.05 as decimals.
fn rational_answer(k: usize) -> Vec<BigRational> {
    let powers = [16, 3, 1].map(|x| pow(BigInt::from(x), k));
    let total: BigInt = powers.iter().sum();
    powers.map(|p| BigRational::new(p, total.clone())).to_vec()
}

#[test]
fn any_number_of_copies_gives_the_rational_answer() {
    for k in [1, 10, 100, 500, 1_000_000] {
        let answer = &answers(&[], copies(k).as_bytes())[0];
        let got = numbers(&answer["distribution"]);
        assert_eq!(answer["k_eff"].as_f64(), Some(k as f64));

        let exact: Vec<BigRational> = got.iter().map(|&p| rational(p).unwrap()).collect();
        let sum: BigRational = exact.iter().sum();
        let ulps = rational(3.0 * f64::EPSILON).unwrap();
        assert!((sum - BigRational::one()).abs() <= ulps, "K = {k}");

        if k > 500 {
            // (3/16)^K is far below the smallest double, which 10⁻³²⁴ is not.
            assert_eq!(got, [1.0, 0.0, 0.0]);
            continue;
        }
        // The bound of the pool for its own (rounded) factors, and the rounding of the decimals:
        // each entry one unit for the decimal and n + 1 for the division by the sum; a power
        // multiplies that by K, a quotient by the total doubles it.
        let factor = Distribution::from_weights(vec![0.8, 0.15, 0.05]).unwrap();
        let mut pool = LogPool::new(3);
        for _ in 0..k {
            pool.add(&factor, 1.0).unwrap();
        }
        let bound = pool.relative_error() + 2.0 * (1.0 + 4.0) * U * k as f64;
        // In units in the last place: 36 for each copy, and 6.
        assert!(bound <= (36.0 * k as f64 + 6.0) * f64::EPSILON, "{bound:e}");
        for (got, want) in exact.iter().zip(rational_answer(k)) {
            let off = (got - &want).abs();
            // Below the normal range the unit is the smallest subnormal.
            let slack = want * rational(bound).unwrap() + rational(f64::from_bits(1)).unwrap();
            assert!(off <= slack, "K = {k}");
        }
    }
}

/// The reference's algorithm, literally: float32, no maximum subtracted, 1e-10 three times.
fn reference_algorithm(k: usize) -> Vec<f32> {
    let mut scores = [(1.0f32 / 3.0).ln(); 3];
    for _ in 0..k {
        let mut p = [0.8f32, 0.15, 0.05];
        let total: f32 = p.iter().sum::<f32>() + 1e-10;
        p = p.map(|x| x / total);
        p = p.map(|x| x.powf(1.0));
        let total: f32 = p.iter().sum::<f32>() + 1e-10;
        p = p.map(|x| x / total);
        for y in 0..3 {
            scores[y] += (p[y] + 1e-10).ln();
        }
    }
    let e = scores.map(f32::exp);
    let total: f32 = e.iter().sum::<f32>() + 1e-10;
    e.map(|x| x / total).to_vec()
}

/// Negative control: what the reference returns is found out by the very check that our answers
/// pass.
#[test]
fn the_reference_algorithm_is_refused() {
    for (k, total) in [(1, 1.0), (10, 1.0), (100, 0.404), (500, 0.0)] {
        let p: Vec<f64> = reference_algorithm(k).into_iter().map(f64::from).collect();
        let sum: f64 = p.iter().sum();
        assert!((sum - total).abs() < 5e-4, "K = {k}: {sum}");
        // Twelve units of float32 would be generous for three classes.
        let found = validate(&p, &(12.0 * f64::from(f32::EPSILON)));
        if k < 100 {
            assert_eq!(found, Ok(()));
        } else {
            assert!(matches!(found, Err(SimplexError::SumOff { .. })));
        }
    }
}
