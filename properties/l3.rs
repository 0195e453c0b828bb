//! Lemma 3: weighted sums and normalized products of distributions are distributions.

use lpf::math::rational;
use lpf::simplex::{
    Distribution, linear_combination, linear_pool, log_pool, normalize, power_product,
};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use proptest::prelude::*;

use crate::generate::evidence;
use crate::harness::{Draws, Outcome, Property, Verdict, ensure};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "l3.exact",
        claims: &["L3"],
        statement: "in exact arithmetic, weighted sum and normalized product have sum one",
        run: exact,
    },
    Property {
        name: "l3.floating_point",
        claims: &["L3"],
        statement: "in doubles, up to 300 items: entries in [0, 1], exact sum within n·2⁻⁵² of one",
        run: floating_point,
    },
];

fn ratio(n: u32, d: u32) -> BigRational {
    BigRational::new(BigInt::from(n), BigInt::from(d))
}

/// Rows of whole numbers, each divided by its sum: exact distributions.
fn exact_rows(rows: &[Vec<u32>]) -> Vec<Vec<BigRational>> {
    rows.iter()
        .map(|row| {
            let sum: u32 = row.iter().sum();
            row.iter().map(|&x| ratio(x, sum)).collect()
        })
        .collect()
}

fn is_distribution(p: &[BigRational]) -> Verdict {
    let sum: BigRational = p.iter().sum();
    ensure(sum.is_one() && p.iter().all(|x| !x.is_negative()), || {
        format!("sum {}", sum.to_f64().unwrap_or(f64::NAN))
    })
}

fn exact(draws: Draws) -> Outcome {
    let rows = (1usize..6, 1usize..8).prop_flat_map(|(classes, items)| {
        (
            prop::collection::vec(prop::collection::vec(1u32..50, classes), items),
            prop::collection::vec(0u32..20, items)
                .prop_filter("some weight", |w| w.iter().any(|&w| w > 0)),
        )
    });
    let claim = |rows: &[Vec<u32>], weights: &[u32], divide: bool| {
        let rows = exact_rows(rows);
        let classes = rows[0].len();
        let total = weights.iter().sum();
        let shares: Vec<BigRational> = weights.iter().map(|&w| ratio(w, total)).collect();
        let mut out = vec![BigRational::zero(); classes];
        linear_combination(&shares, &rows, &mut out);
        is_distribution(&out)?;
        power_product(weights, &rows, &mut out);
        if divide {
            normalize(&mut out).map_err(|e| e.to_string())?;
        }
        is_distribution(&out)
    };
    Outcome::new(
        draws.for_all("rational", 400, &rows, |(r, w)| claim(&r, &w, true)),
        "product not divided by its sum",
        draws.control("rational", 400, &rows, |(r, w)| claim(&r, &w, false)),
    )
}

fn valid(p: &Distribution) -> Verdict {
    valid_entries(p.probabilities())
}

fn valid_entries(p: &[f64]) -> Verdict {
    ensure(p.iter().all(|x| (0.0..=1.0).contains(x)), || {
        format!("entries {p:?}")
    })?;
    let sum: BigRational = p.iter().filter_map(|&x| rational(x)).sum();
    let off = (sum - BigRational::one())
        .abs()
        .to_f64()
        .unwrap_or(f64::NAN);
    ensure(off <= p.len() as f64 * f64::EPSILON, || {
        format!("sum off by {off:e}")
    })
}

/// The product as a float32 implementation without the maximum subtracted computes it.
fn careless_product(factors: &[Distribution], weights: &[f64]) -> Vec<f64> {
    let classes = factors[0].classes();
    let score = |y: usize| -> f32 {
        let terms = factors.iter().zip(weights);
        terms
            .map(|(f, &w)| w as f32 * (f.probabilities()[y] as f32 + 1e-10).ln())
            .sum()
    };
    let raw: Vec<f32> = (0..classes).map(|y| score(y).exp()).collect();
    let sum: f32 = raw.iter().sum::<f32>() + 1e-10;
    raw.iter().map(|&x| f64::from(x / sum)).collect()
}

fn floating_point(draws: Draws) -> Outcome {
    let inputs = evidence(300);
    let check = draws.for_all("doubles", 300, &inputs, |e| {
        valid(&linear_pool(&e.factors, &e.weights).map_err(|e| e.to_string())?)?;
        valid(&log_pool(&e.factors, &e.weights).map_err(|e| e.to_string())?)
    });
    let careless = draws.control("doubles", 300, &inputs, |e| {
        valid_entries(&careless_product(&e.factors, &e.weights))
    });
    Outcome::new(
        check,
        "float32 product without the maximum subtracted, plus 1e-10",
        careless,
    )
}
