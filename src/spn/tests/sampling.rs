//! Sampling: the frequencies are the probabilities.

use rand::RngExt;

use super::oracle::{exact, exact_evidence, table, total};
use super::random::{Numbers, evidence, generator, network};
use crate::math::Field;
use crate::spn::{Builder, Compiled, Evidence, QueryError, Workspace};

const DRAWS: usize = 20_000;
const NETWORKS: usize = 12;

/// Hoeffding: a frequency is off by more than ε with probability at most 2·exp(−2nε²). With at
/// most 81 assignments a network and 12 networks, 2·972·exp(−2nε²) ≤ 10⁻⁹.
fn tolerance() -> f64 {
    (crate::math::ln(2.0 * 81.0 * NETWORKS as f64 / 1e-9) / (2.0 * DRAWS as f64)).sqrt()
}

/// The largest difference between frequency and probability, over all assignments.
fn worst(distort: impl Fn(f64) -> f64) -> f64 {
    let mut rng = generator(50);
    let mut workspace = Workspace::new();
    let mut worst = 0.0f64;
    let mut done = 0;
    while done < NETWORKS {
        let network = network(&mut rng, 4, Numbers::Eighths);
        let evidence = evidence(&mut rng, &network, Numbers::Eighths);
        let table = table(&exact(&network), &exact_evidence(&evidence, &network));
        let total = total(&table);
        let compiled = Compiled::new(network);
        let Ok(mut sampler) = compiled.sampler(&evidence, &mut workspace) else {
            continue;
        };
        done += 1;
        let mut counts = vec![0usize; table.len()];
        let mut assignment = Vec::new();
        for _ in 0..DRAWS {
            sampler
                .draw(|| distort(rng.random::<f64>()), &mut assignment)
                .unwrap();
            // The table counts with the last variable running fastest.
            let index = assignment
                .iter()
                .zip(compiled.network().cardinalities())
                .fold(0, |index, (&x, &states)| index * states + x);
            counts[index] += 1;
        }
        for ((_, value), count) in table.iter().zip(counts) {
            let p = (value / &total).approx();
            if p == 0.0 {
                assert_eq!(count, 0, "an impossible assignment was drawn");
            }
            worst = worst.max((count as f64 / DRAWS as f64 - p).abs());
        }
    }
    worst
}

#[test]
fn frequencies_are_the_probabilities() {
    let (off, allowed) = (worst(|u| u), tolerance());
    assert!(off <= allowed, "{off} > {allowed}");
    // Negative control: draws whose distribution function is √u instead of u.
    assert!(worst(|u| u * u) > allowed);
}

#[test]
fn what_is_not_uniform_is_refused() {
    let mut builder = Builder::new(&[2]).unwrap();
    let leaf = builder.leaf(0, &[1.0, 1.0]).unwrap();
    let compiled = Compiled::new(builder.build(leaf).unwrap());
    let evidence = Evidence::none(compiled.network());
    let mut workspace = Workspace::new();
    let mut sampler = compiled.sampler(&evidence, &mut workspace).unwrap();
    let mut out = Vec::new();
    for bad in [1.0, -0.1, f64::INFINITY, f64::NAN] {
        assert!(matches!(
            sampler.draw(|| bad, &mut out),
            Err(QueryError::NotUniform { .. })
        ));
    }
    for (u, want) in [
        (0.0, 0),
        (0.5f64.next_down(), 0),
        (0.5, 1),
        (1f64.next_down(), 1),
    ] {
        sampler.draw(|| u, &mut out).unwrap();
        assert_eq!(out, [want]);
    }
}
