//! Speed of the dense kernels, in floating-point operations a second.
//!
//! `cargo bench --bench learn` prints operations a second; a machine that starts two vector
//! instructions of 16 lanes a cycle at 2.8 GHz, with separate multiply and add, has a peak of
//! 2 · 16 · 2.8 = 89.6 Gelem/s in these numbers.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lpf::math::dense::{LayerShape, backward_input, backward_weights, forward};
use std::hint::black_box;

fn dense(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dense");
    for (rows, inputs, outputs) in [
        (64, 384, 256),
        (64, 256, 128),
        (64, 128, 64),
        (64, 96, 128),
        (80, 64, 3),
        (1, 384, 256),
    ] {
        let shape = LayerShape {
            rows,
            inputs,
            outputs,
        };
        let ramp =
            |n: usize| -> Vec<f32> { (0..n).map(|i| (i % 97) as f32 / 97.0 - 0.5).collect() };
        let (x, w, b) = (ramp(rows * inputs), ramp(inputs * outputs), ramp(outputs));
        let (mut y, mut dx) = (ramp(rows * outputs), ramp(rows * inputs));
        let (mut dw, mut db, mut room) = (w.clone(), b.clone(), w.clone());
        let name = format!("{rows}x{inputs}x{outputs}");
        group.throughput(Throughput::Elements((2 * rows * inputs * outputs) as u64));
        group.bench_function(format!("forward {name}"), |bench| {
            bench.iter(|| forward(shape, black_box(&x), &w, &b, &mut y));
        });
        group.bench_function(format!("backward_input {name}"), |bench| {
            bench.iter(|| backward_input(shape, black_box(&y), &w, &mut room, &mut dx));
        });
        // `dw` only grows linearly, far from overflow in the time a benchmark runs.
        group.bench_function(format!("backward_weights {name}"), |bench| {
            bench.iter(|| backward_weights(shape, black_box(&x), &y, &mut dw, &mut db));
        });
    }
    group.finish();
}

criterion_group!(benches, dense);
criterion_main!(benches);
