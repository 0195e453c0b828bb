//! Stage 4 beside its arithmetic limit, leave-one-out, and reading records.
//!
//! The limit is the same logarithms and products, added up in plain doubles: neither order-free
//! nor mergeable to the bit, and the least that any product of factors has to do.

use std::hint::black_box;
use std::time::Instant;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lpf::aggregate::{Accumulator, Method, aggregate, leave_one_out};
use lpf::log::{Entity, Expectations, Record};
use lpf::math::ln;
use lpf::simplex::{Distribution, softmax};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CLASSES: usize = 3;
/// Runs of which the fastest is taken.
const REPEATS: usize = 100;

fn evidence(k: usize) -> (Vec<Distribution>, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut unit = || (rng.next_u64() >> 11) as f64 * 2f64.powi(-53) + 1e-9;
    (0..k)
        .map(|_| {
            let p = (0..CLASSES).map(|_| unit()).collect();
            (Distribution::from_weights(p).unwrap(), unit())
        })
        .unzip()
}

fn limit(factors: &[Distribution], weights: &[f64]) -> Vec<f64> {
    let mut scores = vec![0.0; CLASSES];
    for (factor, w) in factors.iter().zip(weights) {
        for (score, &p) in scores.iter_mut().zip(factor.probabilities()) {
            *score += w * ln(p);
        }
    }
    softmax(&mut scores).unwrap();
    scores
}

fn one_thread(factors: &[Distribution], weights: &[f64]) -> Option<Distribution> {
    let mut all = Accumulator::new(Method::Spn, CLASSES, None).unwrap();
    all.add_all(factors, weights).unwrap();
    all.distribution().unwrap()
}

fn product(c: &mut Criterion) {
    let mut group = c.benchmark_group("product");
    for k in [10, 1000, 100_000] {
        let (factors, weights) = evidence(k);
        group.throughput(Throughput::Elements(k as u64));
        group.bench_function(BenchmarkId::new("limit: plain sums", k), |b| {
            b.iter(|| limit(black_box(&factors), black_box(&weights)));
        });
        group.bench_function(BenchmarkId::new("exact, one thread", k), |b| {
            b.iter(|| one_thread(black_box(&factors), &weights));
        });
        group.bench_function(BenchmarkId::new("exact, groups on all threads", k), |b| {
            b.iter(|| aggregate(Method::Spn, black_box(&factors), &weights, None).unwrap());
        });
        group.bench_function(BenchmarkId::new("leave one out", k), |b| {
            b.iter(|| leave_one_out(Method::Spn, black_box(&factors), &weights, None).unwrap());
        });
    }
    group.finish();
}

fn records(c: &mut Criterion) {
    let text = include_str!("../tests/fixtures/reference/predictions.jsonl");
    let lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
    let mut group = c.benchmark_group("records");
    group.throughput(Throughput::Bytes(text.len() as u64));
    // What any reader of these lines has to do: find out that they are JSON.
    group.bench_function("limit: skipping", |b| {
        b.iter(|| {
            for line in black_box(&lines) {
                let _: serde::de::IgnoredAny = serde_json::from_slice(line).unwrap();
            }
        });
    });
    group.bench_function("into a tree of values", |b| {
        b.iter(|| {
            for line in black_box(&lines) {
                black_box(serde_json::from_slice::<serde_json::Value>(line).unwrap());
            }
        });
    });
    group.bench_function("into checked factors", |b| {
        let expect = Expectations::default();
        b.iter(|| {
            for line in black_box(&lines) {
                let record = Record::parse(line).unwrap();
                black_box(Entity::new(record, &expect).unwrap());
            }
        });
    });
    group.finish();
}

/// The fastest of many runs: interruptions only ever add time, so it is the one that a busy
/// machine distorts least.
fn fastest<T>(mut run: impl FnMut() -> T) -> f64 {
    let once = |_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed().as_secs_f64()
    };
    (0..REPEATS).map(once).fold(f64::INFINITY, f64::min)
}

/// Prints how many times the limit a product takes.
fn ratios(_: &mut Criterion) {
    for k in [5, 10, 1000, 100_000] {
        let (factors, weights) = evidence(k);
        let limit = fastest(|| limit(black_box(&factors), &weights));
        let exact = fastest(|| one_thread(black_box(&factors), &weights));
        let left_out = fastest(|| leave_one_out(Method::Spn, black_box(&factors), &weights, None));
        println!(
            "K = {k}: limit {:.2} µs, exact product {:.2} µs ({:.2} times the limit), \
             leave one out {:.2} µs ({:.2} times the product)",
            1e6 * limit,
            1e6 * exact,
            exact / limit,
            1e6 * left_out,
            left_out / exact
        );
    }
}

criterion_group!(benches, ratios, product, records);
criterion_main!(benches);
