//! Calibration error over ten million predictions, against the time it takes to read them.

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lpf::calibration::Reliability;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const PREDICTIONS: usize = 10_000_000;
const BINS: usize = 15;
/// Repetitions for the printed ratio; the fastest counts, as interruptions only ever add time.
const REPEATS: usize = 15;

/// Confidences of a three-class model, `[1/3, 1]`, and outcomes that are right that often.
fn predictions() -> (Vec<f64>, Vec<bool>) {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut unit = || (rng.next_u64() >> 11) as f64 * 2f64.powi(-53);
    (0..PREDICTIONS)
        .map(|_| {
            let c = 1.0 - unit() * 2.0 / 3.0;
            (c, unit() < c)
        })
        .unzip()
}

/// Reads every byte of both arrays and does as little as possible with them.
fn read(confidences: &[f64], correct: &[bool]) -> u64 {
    let words = confidences.iter().fold(0u64, |a, c| a ^ c.to_bits());
    let flags = correct.iter().fold(0u8, |a, &t| a ^ u8::from(t));
    words ^ u64::from(flags)
}

fn read_in_parallel(confidences: &[f64], correct: &[bool]) -> u64 {
    confidences
        .par_chunks(1 << 16)
        .zip(correct.par_chunks(1 << 16))
        .map(|(c, t)| read(c, t))
        .reduce(|| 0, |a, b| a ^ b)
}

fn fastest(mut work: impl FnMut()) -> f64 {
    (0..REPEATS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

fn ece(criterion: &mut Criterion) {
    let (c, t) = predictions();
    let run = || Reliability::of(black_box(&c), black_box(&t), BINS).and_then(|r| r.ece());
    let limit = || read_in_parallel(black_box(&c), black_box(&t));
    let mut group = criterion.benchmark_group("calibration");
    group.sample_size(10);
    group.throughput(Throughput::Bytes((c.len() * 9) as u64));
    group.bench_function("ece_1e7", |b| b.iter(run));
    group.bench_function("read_1e7", |b| b.iter(limit));
    group.finish();
    for threads in [1, rayon::current_num_threads()] {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else {
            continue;
        };
        let (work, floor) = pool.install(|| {
            (
                fastest(|| {
                    black_box(run()).ok();
                }),
                fastest(|| {
                    black_box(limit());
                }),
            )
        });
        println!(
            "ECE of 10^7 predictions, {threads} thread(s): {:.2} ms; reading them: {:.2} ms ({:.1} GB/s); ratio {:.2}",
            work * 1e3,
            floor * 1e3,
            PREDICTIONS as f64 * 9e-9 / floor,
            work / floor
        );
    }
}

criterion_group!(benches, ece);
criterion_main!(benches);
