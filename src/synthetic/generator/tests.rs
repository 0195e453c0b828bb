use super::*;
use crate::simplex::prior_corrected;
use crate::synthetic::DOMAINS;
use statrs::distribution::{Binomial, DiscreteCDF};

/// Probability with which a right generator fails one statistical comparison below if the seed were
/// drawn anew.
const FALSE_ALARM: f64 = 1e-9;

#[test]
fn entities_are_the_same_every_time_and_differ_from_each_other() {
    let g = Generator::new(&DOMAINS[0]);
    let a = g.entity(1, 7);
    assert_eq!(a, Generator::new(&DOMAINS[0]).entity(1, 7));
    assert_ne!(a.embeddings, g.entity(1, 8).embeddings);
    assert_ne!(a.embeddings, g.entity(2, 7).embeddings);
    assert_eq!(a.embeddings.len(), 5 * EMBEDDING);
}

#[test]
fn directions_are_orthonormal() {
    let g = Generator::new(&DOMAINS[3]);
    let rows: Vec<&[f64]> = g.basis.chunks(EMBEDDING).collect();
    for (i, a) in rows.iter().enumerate() {
        for (j, b) in rows.iter().enumerate() {
            let dot: f64 = a.iter().zip(*b).map(|(a, b)| a * b).sum();
            let expected = f64::from(u8::from(i == j));
            // 384 products below one, rounded: at most 384 ulps of one half, in practice far less.
            assert!((dot - expected).abs() < 1e-14);
        }
    }
}

/// The density as it is defined: a mixture of Gaussians in the full space, with its covariance
/// `noise²` along the directions of meaning and `BACKGROUND²` across, evaluated by brute force.
#[test]
fn likelihood_is_that_of_the_mixture_in_the_full_space() {
    let g = Generator::new(&DOMAINS[1]);
    let d = g.domain;
    let n = d.classes.len();
    let entity = g.entity(3, 11);
    let mut seen = 0;
    for e in entity.embeddings.chunks(EMBEDDING) {
        if e.iter().all(|&x| x == 0.0) {
            continue;
        }
        seen += 1;
        let density = |y: usize| -> f64 {
            let mut terms = Vec::new();
            for a in 0..n {
                let p = if a == y {
                    1.0 - d.contradiction
                } else {
                    d.contradiction / (n - 1) as f64
                };
                for t in 0..VARIANTS {
                    let m = &g.centres[(a * VARIANTS + t) * MEANING..][..MEANING];
                    // x − mean in the full space, then its lengths along and across.
                    let mut x: Vec<f64> = e.iter().map(|&x| f64::from(x)).collect();
                    for (row, m) in g.basis.chunks(EMBEDDING).zip(m) {
                        x.iter_mut().zip(row).for_each(|(x, r)| *x -= m * r);
                    }
                    let all: f64 = x.iter().map(|x| x * x).sum();
                    let along: f64 = g
                        .basis
                        .chunks(EMBEDDING)
                        .map(|row| row.iter().zip(&x).map(|(r, x)| r * x).sum::<f64>())
                        .map(|u| u * u)
                        .sum();
                    let exponent = along / d.noise.powi(2) + (all - along) / BACKGROUND.powi(2);
                    terms.push(p.ln() - 0.5 * exponent);
                }
            }
            log_sum_exp(&terms)
        };
        let found = g.log_likelihoods(e);
        for y in 1..n {
            let (a, b) = (found[y] - found[0], density(y) - density(0));
            // The exponent of the background is near 200; its rounding, 368 terms of 2⁻⁵³ times
            // 2500, is what is left of it in the difference.
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
    assert!(seen > 0);
}

/// Bayes: the exact item posteriors, combined by the prior-corrected product with unit weights, are
/// the posterior of the whole set.
#[test]
fn prior_corrected_product_of_item_posteriors_is_the_posterior_of_the_set() {
    for domain in &DOMAINS {
        let g = Generator::new(domain);
        let prior = Distribution::new(domain.prior()).unwrap();
        for index in 0..20 {
            let e = g.entity(9, index).embeddings;
            let items: Vec<Distribution> = e
                .chunks(EMBEDDING)
                .map(|e| g.posterior(e).unwrap())
                .collect();
            let product = prior_corrected(&prior, &items, &vec![1.0; items.len()]).unwrap();
            let whole = g.posterior(&e).unwrap();
            for (a, b) in product.probabilities().iter().zip(whole.probabilities()) {
                // Logarithms up to 100 in magnitude, a dozen of them, rounded to 2⁻⁵³ each.
                assert!((a - b).abs() < 1e-12 * b.max(1e-12), "{a} {b}");
            }
        }
    }
}

/// The posterior is calibrated, because it is the posterior: among sets to which it gives the
/// class probabilities p, labels follow p. Checked by the expected number of right predictions,
/// a sum of independent indicators, against Hoeffding's bound.
#[test]
fn exact_posterior_is_as_right_as_it_says() {
    const N: usize = 2000;
    for domain in [&DOMAINS[0], &DOMAINS[6]] {
        let g = Generator::new(domain);
        let (mut said, mut right, mut overconfident) = (0.0, 0.0, 0.0);
        for index in 0..N {
            let entity = g.entity(5, index as u64);
            let p = g.posterior(&entity.embeddings).unwrap();
            said += p.confidence();
            right += f64::from(u8::from(p.argmax() == entity.label));
            // Control: the posterior of the first item, squared, is surer than it is right.
            let first = g.posterior(&entity.embeddings[..EMBEDDING]).unwrap();
            let squares: f64 = first.probabilities().iter().map(|p| p * p).sum();
            overconfident += first.confidence().powi(2) / squares
                - f64::from(u8::from(first.argmax() == entity.label));
        }
        // P(|Σ (indicator − p)| > t) ≤ 2 exp(−2t²/N).
        let limit = ((2.0 / FALSE_ALARM).ln() * N as f64 / 2.0).sqrt();
        assert!(
            (said - right).abs() < limit,
            "{}: {said} {right}",
            domain.name
        );
        assert!(overconfident > limit, "{}: {overconfident}", domain.name);
    }
}

#[test]
fn rates_are_those_of_the_domain() {
    const N: u64 = 600;
    for domain in &DOMAINS {
        let g = Generator::new(domain);
        let (mut first_class, mut missing) = (0, 0);
        for index in 0..N {
            let e = g.entity(13, index);
            first_class += u64::from(e.label == 0);
            let first = &e.embeddings[..EMBEDDING];
            missing += u64::from(first.iter().all(|&x| x == 0.0));
        }
        for (count, p) in [(first_class, domain.prior()[0]), (missing, domain.missing)] {
            let b = Binomial::new(p, N).unwrap();
            let tail = b.cdf(count).min(1.0 - b.cdf(count - 1));
            assert!(
                tail > FALSE_ALARM / 2.0,
                "{}: {count} of {N}, {p}",
                domain.name
            );
        }
    }
}

#[test]
fn no_content_changes_nothing_and_no_evidence_leaves_the_prior() {
    let g = Generator::new(&DOMAINS[0]);
    let prior = g.posterior(&[]).unwrap();
    for (p, q) in prior.probabilities().iter().zip(DOMAINS[0].prior()) {
        assert!((p - q).abs() < 4.0 * f64::EPSILON);
    }
    assert_eq!(g.posterior(&[0.0; EMBEDDING]).unwrap(), prior);
    let mut far = [1e38f32; EMBEDDING];
    assert!(g.posterior(&far).is_ok());
    far[3] = f32::NAN;
    assert!(g.posterior(&far).is_err());
}
