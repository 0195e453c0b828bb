//! One LPF-SPN query from posteriors to the answer, beside the arithmetic that it cannot avoid.
//!
//! A query is K = 5 items, M = 16 samples each, d = 64, the reference's decoder (64 + 32 fixed
//! inputs, 128, 64, 3): draws, decoding, factors with standard errors, confidence weights, pool.
//! The limit is as many multiplications and additions of singles as its dense layers have, in
//! registers, with the same vector instructions (no fused multiply-add: it would change the bits).
//!
//! `cargo bench --bench query` prints both, each the fastest of many runs taken in turns, after
//! Criterion's estimates.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use lpf::latent::decoder::DenseLayer;
use lpf::latent::random::Stream;
use lpf::latent::{
    Confidence, Decoder, DecoderWorkspace, FACTOR_PURPOSE, FactorWorkspace, GaussianPosterior,
    MlpDecoder, monte_carlo_factors,
};
use lpf::simplex::{Distribution, log_pool};
use pulp::{Arch, Simd, WithSimd};

const ITEMS: usize = 5;
const SAMPLES: usize = 16;
const LATENT: usize = 64;
const CONTEXT: usize = 32;

struct Query {
    posteriors: Vec<GaussianPosterior>,
    decoder: MlpDecoder,
    workspace: FactorWorkspace,
}

impl Query {
    fn new() -> Self {
        let mut stream = Stream::new(0, 0, 0, 0);
        let mut draws = |n: usize, scale: f64| -> Vec<f64> {
            (0..n).map(|_| stream.standard_normal() * scale).collect()
        };
        let posteriors = (0..ITEMS).map(|_| {
            let sigma = draws(LATENT, 1.0).iter().map(|x| x.abs() + 0.1).collect();
            GaussianPosterior::diagonal(draws(LATENT, 1.0), sigma).unwrap()
        });
        let posteriors = posteriors.collect();
        let mut singles = |n: usize, scale: f64| -> Vec<f32> {
            draws(n, scale).iter().map(|&x| x as f32).collect()
        };
        let mut layer = |inputs: usize, outputs: usize| {
            let weights = singles(inputs * outputs, 1.0 / (inputs as f64).sqrt());
            DenseLayer::new(inputs, outputs, &weights, singles(outputs, 0.1)).unwrap()
        };
        let layers = vec![layer(LATENT + CONTEXT, 128), layer(128, 64), layer(64, 3)];
        Query {
            posteriors,
            decoder: MlpDecoder::new(layers, &[0.1; CONTEXT]).unwrap(),
            workspace: FactorWorkspace::default(),
        }
    }

    fn run(&mut self) -> Distribution {
        let Query {
            posteriors,
            decoder,
            workspace,
        } = self;
        let items: Vec<&GaussianPosterior> = posteriors.iter().collect();
        let stream = |item| Stream::new(1, FACTOR_PURPOSE, 2, item as u64);
        let drawn = monte_carlo_factors(&items, decoder, SAMPLES, stream, workspace).unwrap();
        let factors: Vec<Distribution> = drawn.into_iter().map(|f| f.distribution).collect();
        let weight = |posterior| Confidence::Reference.weight(posterior);
        let weights: Vec<f64> = posteriors.iter().map(weight).collect();
        log_pool(&factors, &weights).unwrap()
    }

    fn multiply_adds(&self) -> usize {
        ITEMS * SAMPLES * self.decoder.multiply_adds()
    }
}

/// Multiplications and additions in registers: six independent chains of each, which is more than
/// the latency of either, and few enough for sixteen registers.
struct Arithmetic {
    multiply_adds: usize,
}

impl WithSimd for Arithmetic {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        const CHAINS: usize = 6;
        // Just below one: the products stay normal numbers.
        let factor = simd.splat_f32s(black_box(0.999_99));
        let mut products = [simd.splat_f32s(black_box(1.0)); CHAINS];
        let mut sums = [simd.splat_f32s(black_box(0.0)); CHAINS];
        for _ in 0..self.multiply_adds / (CHAINS * S::F32_LANES) {
            for (product, sum) in products.iter_mut().zip(&mut sums) {
                *product = simd.mul_f32s(*product, factor);
                *sum = simd.add_f32s(*sum, *product);
            }
        }
        sums.iter().map(|&s| simd.reduce_sum_f32s(s)).sum()
    }
}

/// The parts of a query, each to be run on its own.
struct Parts {
    query: Query,
    latents: Vec<f64>,
    probabilities: Vec<f64>,
    decoder: DecoderWorkspace,
}

impl Parts {
    fn new() -> Self {
        let query = Query::new();
        let mut parts = Parts {
            latents: vec![0.0; ITEMS * SAMPLES * LATENT],
            probabilities: vec![0.0; ITEMS * SAMPLES * query.decoder.classes()],
            decoder: DecoderWorkspace::default(),
            query,
        };
        parts.sample();
        parts
    }

    fn sample(&mut self) {
        let rows = self.latents.chunks_exact_mut(SAMPLES * LATENT);
        for (item, (rows, posterior)) in rows.zip(&self.query.posteriors).enumerate() {
            let mut stream = Stream::new(1, FACTOR_PURPOSE, 2, item as u64);
            posterior.sample(&mut stream, rows);
        }
        black_box(&self.latents);
    }

    fn decode(&mut self) {
        let (latents, out) = (black_box(&self.latents), &mut self.probabilities);
        self.query
            .decoder
            .decode(latents, out, &mut self.decoder)
            .unwrap();
        black_box(out);
    }

    fn whole(&mut self) {
        black_box(self.query.run());
    }

    fn arithmetic(&mut self) {
        let multiply_adds = self.query.multiply_adds();
        black_box(Arch::new().dispatch(Arithmetic { multiply_adds }));
    }
}

type Part = (&'static str, fn(&mut Parts));
const PARTS: [Part; 4] = [
    ("whole query", Parts::whole),
    ("arithmetic limit", Parts::arithmetic),
    ("draws alone", Parts::sample),
    ("decoding alone", Parts::decode),
];

fn query(criterion: &mut Criterion) {
    let mut parts = Parts::new();
    let mut group = criterion.benchmark_group("query K=5 M=16 d=64");
    for (name, part) in PARTS {
        group.bench_function(name, |bench| bench.iter(|| part(&mut parts)));
    }
    group.finish();
    // Taken in turns, so that all meet the same machine; the fastest is the one least disturbed.
    let mut fastest = [Duration::MAX; PARTS.len()];
    for _ in 0..2000 {
        for (best, (_, part)) in fastest.iter_mut().zip(PARTS) {
            let start = Instant::now();
            part(&mut parts);
            *best = start.elapsed().min(*best);
        }
    }
    println!("fastest of 2000 runs:");
    for (time, (name, _)) in fastest.iter().zip(PARTS) {
        println!("  {name:<18}{:>8.1} µs", time.as_secs_f64() * 1e6);
    }
    let ratio = fastest[0].as_secs_f64() / fastest[1].as_secs_f64();
    let multiply_adds = parts.query.multiply_adds();
    println!("  whole query / arithmetic limit = {ratio:.2} ({multiply_adds} multiply-adds)");
}

criterion_group!(benches, query);
criterion_main!(benches);
