//! Randomness: one independent stream for each thing that needs draws.
//!
//! A stream is named by four numbers, `(seed, purpose, entity, evidence)`. They are the 256-bit key
//! of a ChaCha generator, unchanged and side by side ([`key`]), so two different names can never
//! share a stream, and no stream knows what the others have drawn. Results therefore do not depend
//! on threads, on the order of evidence, or on how many draws another entity took.
//!
//! Texts and numeric content become 64-bit names by [`text_key`] and [`content_key`]; those are
//! hashes, and two different texts collide with probability 2⁻⁶⁴ (about `n²·2⁻⁶⁵` among `n`
//! texts). A collision gives two items the same draws: each is still distributed as it should be,
//! only the independence of these two is lost.
//!
//! ChaCha with 8 rounds: simulation needs streams that no test can tell from random ones, not
//! secrecy against an attacker. The best published attacks reach 7 rounds and are far beyond any
//! simulation; more rounds would only take longer.

mod chacha;
mod keys;
mod normal;

pub use keys::{DuplicateId, Item, content_key, evidence_keys, key, text_key};

use std::convert::Infallible;

use chacha::{ChaCha8, WORDS};
use rand::TryRng;

/// 2⁻⁵³, the distance between neighbouring values of [`Stream::uniform`].
const UNIFORM_STEP: f64 = f64::EPSILON / 2.0;

/// 64-bit numbers that the generator makes at a time.
const BATCH: usize = WORDS / 2;

/// A stream of random numbers; see the module for its name.
///
/// It is a generator of the rand crate too, so anything that draws by rand's traits can use it.
///
/// ```
/// use lpf::latent::random::{Stream, text_key};
/// let name = || Stream::new(1, text_key("dice"), 7, 0);
/// let rolls: Vec<u64> = std::iter::repeat_with({
///     let mut stream = name();
///     move || 1 + stream.below(6)
/// })
/// .take(5)
/// .collect();
/// assert!(rolls.iter().all(|roll| (1..=6).contains(roll)));
/// assert_eq!(name().next_u64(), name().next_u64()); // the same name, the same draws
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Stream {
    generator: ChaCha8,
    numbers: [u64; BATCH],
    used: usize,
}

impl Stream {
    /// The stream with this name, at its beginning.
    pub fn new(seed: u64, purpose: u64, entity: u64, evidence: u64) -> Self {
        Stream {
            generator: ChaCha8::new(&key(seed, purpose, entity, evidence)),
            numbers: [0; BATCH],
            used: BATCH,
        }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let bits = self.batch()[0];
        self.skip(1);
        bits
    }

    /// The next numbers, at least one, without taking them.
    #[inline]
    fn batch(&mut self) -> &[u64] {
        if self.used >= BATCH {
            let mut words = [0; WORDS];
            self.generator.generate(&mut words);
            for (number, words) in self.numbers.iter_mut().zip(words.as_chunks().0) {
                *number = join(words);
            }
            self.used = 0;
        }
        &self.numbers[self.used..]
    }

    /// Takes `count` numbers, no more than [`Stream::batch`] has shown.
    #[inline]
    fn skip(&mut self, count: usize) {
        self.used += count;
    }

    /// A number in `[0, 1)`: each multiple of 2⁻⁵³ with the same probability.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        unit(self.next_u64())
    }

    /// A number in `0..n`, each with exactly the same probability; 0 for `n = 0`.
    ///
    /// The upper half of the product of `n` and 64 random bits, where the few bit patterns that
    /// would make some results more frequent than others are drawn again (Lemire 2019).
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        // 2⁶⁴ mod n: how many patterns are too many.
        let excess = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            if product as u64 >= excess {
                return (product >> 64) as u64;
            }
        }
    }

    /// A draw from the standard normal distribution; see [`Stream::fill_standard_normal`].
    pub fn standard_normal(&mut self) -> f64 {
        let mut one = [0.0];
        self.fill_standard_normal(&mut one);
        one[0]
    }

    /// Fills `out` with independent draws from the standard normal distribution.
    ///
    /// Marsaglia and Tsang's ziggurat: exact rejection, tail included, so the only deviation from
    /// the normal distribution is that of 53-bit uniform numbers and of doubles. Filling a slice
    /// in several pieces gives the same draws as filling it at once.
    pub fn fill_standard_normal(&mut self, out: &mut [f64]) {
        normal::fill(self, out);
    }
}

/// Streams feed everything that draws by rand's traits, [`rand::Rng`] among them.
impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next_u64() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// A number in `[0, 1)` from 64 bits.
#[inline]
fn unit(bits: u64) -> f64 {
    (bits >> 11) as i64 as f64 * UNIFORM_STEP
}

/// A 64-bit number from two words, the low one first.
#[inline]
fn join(words: &[u32; 2]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ChiSquared, ContinuousCDF};
    use std::collections::BTreeSet;

    /// Probability with which a right generator fails one of the statistical tests below, if the
    /// seed were drawn anew; with the fixed seed they always give the same answer.
    const FALSE_ALARM: f64 = 1e-9;

    fn stream(evidence: u64) -> Stream {
        Stream::new(1, 2, 3, evidence)
    }

    #[test]
    fn uniform_passes_kolmogorov_smirnov_and_stays_below_one() {
        const N: usize = 200_000;
        let mut s = stream(0);
        let mut u: Vec<f64> = (0..N).map(|_| s.uniform()).collect();
        assert!(u.iter().all(|u| (0.0..1.0).contains(u)));
        u.sort_by(f64::total_cmp);
        let distance = |u: &[f64]| {
            let gaps = u.iter().enumerate().map(|(i, &u)| {
                let (low, high) = (i as f64 / N as f64, (i + 1) as f64 / N as f64);
                (u - low).abs().max((high - u).abs())
            });
            gaps.fold(0.0, f64::max)
        };
        // Dvoretzky–Kiefer–Wolfowitz with Massart's constant: P(D > t) ≤ 2 exp(−2 n t²).
        let limit = ((2.0 / FALSE_ALARM).ln() / (2.0 * N as f64)).sqrt();
        assert!(distance(&u) <= limit);
        // Negative control: the square of a uniform number is off by up to 1/4.
        let squares: Vec<f64> = u.iter().map(|u| u * u).collect();
        assert!(distance(&squares) > limit);
    }

    #[test]
    fn below_is_uniform_where_a_plain_product_would_not_be() {
        // With n = 3·2⁶², 2⁶⁴ patterns over n results: the plain product gives every third result
        // twice as often as the others. Residues modulo 3 must be equally frequent.
        const DRAWS: usize = 30_000;
        let n = 3 << 62;
        let counts = |draw: &mut dyn FnMut() -> u64| {
            let mut counts = [0.0f64; 3];
            (0..DRAWS).for_each(|_| counts[(draw() % 3) as usize] += 1.0);
            let expected = DRAWS as f64 / 3.0;
            counts
                .iter()
                .map(|c| (c - expected) * (c - expected) / expected)
                .sum::<f64>()
        };
        let limit = ChiSquared::new(2.0).unwrap().inverse_cdf(1.0 - FALSE_ALARM);
        let mut s = stream(1);
        assert!(counts(&mut || s.below(n)) <= limit);
        let plain = |x: u64| ((u128::from(x) * u128::from(n)) >> 64) as u64;
        assert!(counts(&mut || plain(s.next_u64())) > limit, "control");
        assert_eq!(s.below(0), 0);
        assert_eq!(s.below(1), 0);
        let seen: BTreeSet<u64> = (0..200).map(|_| s.below(5)).collect();
        assert_eq!(seen, (0..5).collect());
    }

    #[test]
    fn streams_differ_in_every_part_of_their_name_and_repeat_themselves() {
        let names = [
            [0, 0, 0, 0],
            [1, 0, 0, 0],
            [0, 1, 0, 0],
            [0, 0, 1, 0],
            [0, 0, 0, 1],
            [0, 0, 0, 1 << 63],
        ];
        let first = |n: [u64; 4]| -> u64 { Stream::new(n[0], n[1], n[2], n[3]).next_u64() };
        let distinct: BTreeSet<u64> = names.iter().map(|&n| first(n)).collect();
        assert_eq!(distinct.len(), names.len());
        assert_eq!(first(names[3]), first(names[3]));
    }

    #[test]
    fn rand_draws_the_same_bits() {
        let (mut ours, mut theirs) = (stream(0), stream(0));
        for _ in 0..300 {
            assert_eq!(ours.next_u64(), rand::Rng::next_u64(&mut theirs));
        }
        assert_eq!(
            (ours.next_u64() >> 32) as u32,
            rand::Rng::next_u32(&mut theirs)
        );
        let mut bytes = [0; 11];
        rand::Rng::fill_bytes(&mut theirs, &mut bytes);
        let words = [ours.next_u64(), ours.next_u64()].map(u64::to_le_bytes);
        assert_eq!(bytes[..], words.as_flattened()[..11]);
        assert_eq!(ours.next_u64(), theirs.next_u64(), "no number is left over");
    }

    #[test]
    fn neighbouring_streams_are_uncorrelated() {
        // Given x, Σ xᵢyᵢ / ‖x‖ is standard normal exactly.
        const N: usize = 100_000;
        let (mut x, mut y) = (vec![0.0; N], vec![0.0; N]);
        stream(7).fill_standard_normal(&mut x);
        stream(8).fill_standard_normal(&mut y);
        let score = |x: &[f64], y: &[f64]| {
            let norm = x.iter().map(|a| a * a).sum::<f64>().sqrt();
            x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>() / norm
        };
        let tail = |score: f64| libm::erfc(score.abs() / std::f64::consts::SQRT_2);
        assert!(tail(score(&x, &y)) > FALSE_ALARM);
        // Negative control: a stream against itself mixed with 3 % of the other.
        let mixed: Vec<f64> = x.iter().zip(&y).map(|(a, b)| 0.03 * a + b).collect();
        assert!(tail(score(&x, &mixed)) < FALSE_ALARM);
    }
}
