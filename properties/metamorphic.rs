//! What must not change, or must change in a known way, when the input is changed.

use lpf::aggregate::{Accumulator, FLAT_LIMIT, Method, aggregate};
use lpf::simplex::{Distribution, LogPool, log_pool, softmax, temper};
use proptest::prelude::*;

use crate::generate::{Evidence, evidence};
use crate::harness::{Draws, Outcome, Property, Verdict, ensure};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "metamorphic.duplicate",
        claims: &["L3"],
        statement: "an item twice is the item with twice its weight, to the bit",
        run: duplicate,
    },
    Property {
        name: "metamorphic.weight_zero",
        claims: &["L3"],
        statement: "an item of weight zero is an absent item, to the bit",
        run: weight_zero,
    },
    Property {
        name: "metamorphic.uniform_factor",
        claims: &["L3"],
        statement: "a uniform factor has no effect beyond the stated rounding",
        run: uniform_factor,
    },
    Property {
        name: "metamorphic.order",
        claims: &["L3"],
        statement: "the order of evidence changes no bit; groups of groups are the flat result",
        run: order,
    },
    Property {
        name: "metamorphic.relabel",
        claims: &["L3"],
        statement: "relabelling the classes permutes the answer, to the bit",
        run: relabel,
    },
    Property {
        name: "metamorphic.tempering",
        claims: &["L3"],
        statement: "tempering twice is tempering by the product; scaling all weights tempers the pool",
        run: tempering,
    },
    Property {
        name: "metamorphic.logit_shift",
        claims: &["L3"],
        statement: "adding a constant to all logits changes nothing; scaling them tempers",
        run: logit_shift,
    },
];

fn pool(method: Method, factors: &[Distribution], weights: &[f64]) -> Result<Distribution, String> {
    aggregate(method, factors, weights, None).map_err(|e| e.to_string())
}

fn same(a: &Distribution, b: &Distribution) -> Verdict {
    let bits = |d: &Distribution| {
        d.probabilities()
            .iter()
            .map(|p| p.to_bits())
            .collect::<Vec<_>>()
    };
    ensure(bits(a) == bits(b), || format!("{a:?} and {b:?}"))
}

/// Equal up to a relative error of each entry.
fn close(a: &[f64], b: &[f64], tolerance: f64) -> Verdict {
    let near = a.iter().zip(b).all(|(a, b)| {
        // Subnormal entries have an absolute error of half a unit instead.
        (a - b).abs() <= tolerance * a.max(*b) + f64::MIN_POSITIVE * f64::EPSILON
    });
    ensure(near, || format!("{a:?} and {b:?}, tolerance {tolerance:e}"))
}

/// The stated error of the product.
fn stated_error(e: &Evidence) -> f64 {
    let mut all = LogPool::new(e.factors[0].classes());
    for (f, &w) in e.factors.iter().zip(&e.weights) {
        all.add(f, w).unwrap();
    }
    all.relative_error()
}

fn duplicate(draws: Draws) -> Outcome {
    let strategy = evidence(20);
    let claim = |e: Evidence, method: Method| {
        let mut twice = e.clone();
        twice.factors.push(e.factors[0].clone());
        twice.weights.push(e.weights[0]);
        let mut heavier = e;
        heavier.weights[0] *= 2.0;
        same(
            &pool(method, &twice.factors, &twice.weights)?,
            &pool(method, &heavier.factors, &heavier.weights)?,
        )
    };
    Outcome::new(
        draws.for_all("items", 500, &strategy, |e| claim(e, Method::Spn)),
        "the uniform average, which has no weights",
        draws.control("items", 500, &strategy, |e| claim(e, Method::Uniform)),
    )
}

fn weight_zero(draws: Draws) -> Outcome {
    let strategy = (evidence(20), any::<prop::sample::Index>());
    let claim = |e: Evidence, at: usize, method: Method| {
        let mut with = e.clone();
        with.factors
            .insert(at, e.factors[e.factors.len() - 1 - at].clone());
        with.weights.insert(at, 0.0);
        same(
            &pool(method, &with.factors, &with.weights)?,
            &pool(method, &e.factors, &e.weights)?,
        )
    };
    let at = |e: &Evidence, i: prop::sample::Index| i.index(e.factors.len());
    Outcome::new(
        draws.for_all("items", 500, &strategy, |(e, i)| {
            let at = at(&e, i);
            claim(e, at, Method::Spn)
        }),
        "the uniform average, which has no weights",
        draws.control("items", 500, &strategy, |(e, i)| {
            let at = at(&e, i);
            claim(e, at, Method::Uniform)
        }),
    )
}

fn uniform_factor(draws: Draws) -> Outcome {
    let strategy = evidence(20);
    let claim = |e: Evidence, method: Method| {
        let mut with = e.clone();
        with.factors
            .push(Distribution::uniform(e.factors[0].classes()).unwrap());
        with.weights.push(1.5);
        let a = pool(method, &e.factors, &e.weights)?;
        let b = pool(method, &with.factors, &with.weights)?;
        close(
            a.probabilities(),
            b.probabilities(),
            stated_error(&e) + stated_error(&with),
        )
    };
    Outcome::new(
        draws.for_all("items", 500, &strategy, |e| claim(e, Method::Spn)),
        "the uniform average, which it flattens",
        draws.control("items", 500, &strategy, |e| claim(e, Method::Uniform)),
    )
}

fn order(draws: Draws) -> Outcome {
    // Beyond the limit, groups of groups on several threads.
    let strategy = (evidence(2 * FLAT_LIMIT), any::<u64>());
    let shuffled = |e: &Evidence, seed: u64| {
        let mut order: Vec<usize> = (0..e.factors.len()).collect();
        let mut s = lpf::latent::random::Stream::new(seed, 0, 0, 0);
        for i in (1..order.len()).rev() {
            order.swap(i, s.below(i as u64 + 1) as usize);
        }
        Evidence {
            factors: order.iter().map(|&i| e.factors[i].clone()).collect(),
            weights: order.iter().map(|&i| e.weights[i]).collect(),
        }
    };
    let check = draws.for_all("items", 200, &strategy, |(e, seed)| {
        let other = shuffled(&e, seed);
        for method in [Method::Spn, Method::Uniform, Method::Vote, Method::Max] {
            let flat = pool(method, &e.factors, &e.weights)?;
            same(&flat, &pool(method, &other.factors, &other.weights)?)?;
            let classes = e.factors[0].classes();
            let new = || Accumulator::new(method, classes, None).map_err(|e| e.to_string());
            let mut groups = new()?;
            for chunk in 0..e.factors.len().div_ceil(7) {
                let mut group = new()?;
                for i in (chunk * 7..e.factors.len()).take(7) {
                    group
                        .add(&e.factors[i], e.weights[i])
                        .map_err(|e| e.to_string())?;
                }
                groups.merge(&group).map_err(|e| e.to_string())?;
            }
            let grouped = groups.distribution().map_err(|e| e.to_string())?;
            same(&flat, &grouped.ok_or("contradiction")?)?;
        }
        Ok(())
    });
    let naive = |e: &Evidence| {
        let score = |y: usize| -> f64 {
            let terms = e.factors.iter().zip(&e.weights);
            terms.map(|(f, w)| w * f.probabilities()[y].ln()).sum()
        };
        let mut scores: Vec<f64> = (0..e.factors[0].classes()).map(score).collect();
        softmax(&mut scores).map_err(|e| e.to_string())?;
        Ok::<_, String>(scores)
    };
    let control = draws.control("items", 200, &strategy, |(e, seed)| {
        let (a, b) = (naive(&e)?, naive(&shuffled(&e, seed))?);
        ensure(a == b, || "other bits".into())
    });
    Outcome::new(check, "log-scores added from left to right", control)
}

type Pool<'a> = dyn Fn(&[Distribution], &[f64]) -> Result<Distribution, String> + 'a;

fn relabel(draws: Draws) -> Outcome {
    let strategy = evidence(20);
    let rotate = |d: &Distribution| {
        let mut p = d.probabilities().to_vec();
        p.rotate_left(1);
        Distribution::new(p).unwrap()
    };
    let claim = |e: Evidence, pool: &Pool| {
        let turned: Vec<Distribution> = e.factors.iter().map(rotate).collect();
        same(
            &rotate(&pool(&e.factors, &e.weights)?),
            &pool(&turned, &e.weights)?,
        )
    };
    let spn = |f: &[Distribution], w: &[f64]| pool(Method::Spn, f, w);
    // Normalized by a sum from left to right.
    let careless = |f: &[Distribution], w: &[f64]| {
        let mut all = LogPool::new(f[0].classes());
        for (f, &w) in f.iter().zip(w) {
            all.add(f, w).map_err(|e| e.to_string())?;
        }
        let raw: Vec<f64> = all.scores().iter().map(|s| s.exp()).collect();
        let sum: f64 = raw.iter().sum();
        Distribution::new(raw.iter().map(|x| x / sum).collect()).map_err(|e| e.to_string())
    };
    Outcome::new(
        draws.for_all("items", 500, &strategy, |e| claim(e, &spn)),
        "normalized by a sum from left to right",
        draws.control("items", 500, &strategy, |e| claim(e, &careless)),
    )
}

fn tempering(draws: Draws) -> Outcome {
    // Entries from 1/100 on, so that no power underflows.
    let strategy = (2usize..6, 1usize..5).prop_flat_map(|(classes, items)| {
        let factor = prop::collection::vec(0.05f64..1.0, classes)
            .prop_map(|w| Distribution::from_weights(w).unwrap());
        let weights = prop::collection::vec(0.01f64..2.0, items);
        (
            prop::collection::vec(factor, items),
            weights,
            0.1f64..3.0,
            0.1f64..3.0,
        )
    });
    let text = |e: lpf::simplex::PoolError| e.to_string();
    // The stated error of one factor raised to a power.
    let power_error = |p: &Distribution, t: f64| {
        stated_error(&Evidence {
            factors: vec![p.clone()],
            weights: vec![t],
        })
    };
    let claim = |f: &[Distribution], w: &[f64], s: f64, t: f64, both: f64| {
        let p = log_pool(f, w).map_err(text)?;
        let once = temper(&p, both).map_err(text)?;
        let inner = temper(&p, s).map_err(text)?;
        let twice = temper(&inner, t).map_err(text)?;
        // An error of an entry is multiplied by the power, and again by two where the sum is
        // divided by; a tenth more for the rounding of s·t.
        let tolerance =
            1.1 * (power_error(&p, both) + power_error(&inner, t) + 2.0 * t * power_error(&p, s));
        close(once.probabilities(), twice.probabilities(), tolerance)?;
        let plain = Evidence {
            factors: f.to_vec(),
            weights: w.to_vec(),
        };
        let scaled = Evidence {
            factors: f.to_vec(),
            weights: w.iter().map(|w| w * s).collect(),
        };
        let heavier = log_pool(&scaled.factors, &scaled.weights).map_err(text)?;
        let tolerance =
            1.1 * (stated_error(&scaled) + power_error(&p, s) + 2.0 * s * stated_error(&plain));
        close(heavier.probabilities(), inner.probabilities(), tolerance)
    };
    Outcome::new(
        draws.for_all("items", 500, &strategy, |(f, w, s, t)| {
            claim(&f, &w, s, t, s * t)
        }),
        "the sum of the powers",
        draws.control("items", 500, &strategy, |(f, w, s, t)| {
            claim(&f, &w, s, t, s + t)
        }),
    )
}

fn logit_shift(draws: Draws) -> Outcome {
    let strategy = (
        prop::collection::vec(-30.0f64..30.0, 2..6),
        -100.0f64..100.0,
        0.1f64..4.0,
    );
    let soft = |logits: Vec<f64>| {
        let mut out = logits;
        softmax(&mut out).map_err(|e| e.to_string())?;
        Ok::<_, String>(out)
    };
    let check = draws.for_all("logits", 1000, &strategy, |(x, c, t)| {
        let plain = soft(x.clone())?;
        // x + c is rounded: up to half a unit of 128 in each logit, twice for the difference.
        let shifted = soft(x.iter().map(|x| x + c).collect())?;
        close(&plain, &shifted, 4.0 * 128.0 * f64::EPSILON)?;
        let scaled = soft(x.iter().map(|x| x * t).collect())?;
        let p = Distribution::from_weights(plain).map_err(|e| e.to_string())?;
        let tempered = temper(&p, t).map_err(|e| e.to_string())?;
        // Products up to 240 in size, each rounded on either side.
        close(
            &scaled,
            tempered.probabilities(),
            16.0 * 256.0 * f64::EPSILON,
        )
    });
    let control = draws.control("logits", 1000, &strategy, |(x, c, _)| {
        let careless = |x: &[f64]| {
            let raw: Vec<f32> = x.iter().map(|&x| (x as f32).exp()).collect();
            let sum: f32 = raw.iter().sum();
            raw.iter().map(|x| f64::from(x / sum)).collect::<Vec<_>>()
        };
        let moved: Vec<f64> = x.iter().map(|x| x + c).collect();
        close(&careless(&x), &careless(&moved), 1e-5)
    });
    Outcome::new(
        check,
        "float32 softmax without the maximum subtracted",
        control,
    )
}
