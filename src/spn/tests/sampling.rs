//! Sampling: the frequencies are the probabilities.

use std::convert::Infallible;

use rand::{Rng, TryRng};

use super::oracle::{exact, exact_evidence, table, total};
use super::random::{Numbers, evidence, generator, network};
use crate::math::Field;
use crate::spn::{Builder, Compiled, Evidence, Workspace};

const DRAWS: usize = 20_000;
const NETWORKS: usize = 12;

/// Hoeffding: a frequency is off by more than ε with probability at most 2·exp(−2nε²). With at
/// most 81 assignments a network and 12 networks, 2·972·exp(−2nε²) ≤ 10⁻⁹.
fn tolerance() -> f64 {
    (crate::math::ln(2.0 * 81.0 * NETWORKS as f64 / 1e-9) / (2.0 * DRAWS as f64)).sqrt()
}

/// Another generator's numbers, changed.
struct Changed<R, F>(R, F);

impl<R: Rng, F: Fn(u64) -> u64> TryRng for Changed<R, F> {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|bits| (bits >> 32) as u32)
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.1(self.0.next_u64()))
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

/// The largest difference between frequency and probability, over all assignments.
fn worst(distort: impl Fn(u64) -> u64) -> f64 {
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
            sampler.draw(&mut Changed(&mut rng, &distort), &mut assignment);
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
    let square = |u: u64| ((u128::from(u) * u128::from(u)) >> 64) as u64;
    assert!(worst(square) > allowed);
}

#[test]
fn a_state_is_drawn_where_the_position_falls_into_its_share() {
    let mut builder = Builder::new(&[2]).unwrap();
    let leaf = builder.leaf(0, &[1.0, 1.0]).unwrap();
    let compiled = Compiled::new(builder.build(leaf).unwrap());
    let evidence = Evidence::none(compiled.network());
    let mut workspace = Workspace::new();
    let mut sampler = compiled.sampler(&evidence, &mut workspace).unwrap();
    let mut out = Vec::new();
    for (bits, want) in [(0, 0), ((1 << 63) - 1, 0), (1 << 63, 1), (u64::MAX, 1)] {
        sampler.draw(&mut Changed(generator(1), |_| bits), &mut out);
        assert_eq!(out, [want]);
    }
}
