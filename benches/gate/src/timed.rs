//! Kernels beside the least that they could cost, timed in turns on one thread.
//!
//! A limit does the part of the work that no program can avoid: the same logarithms added up in plain
//! doubles, as many multiplications and additions in registers, the same pass over a network in doubles
//! that underflow, reading the input once.

use std::hint::black_box;
use std::time::Instant;

use pulp::{Arch, Simd, WithSimd};

use crate::aggregate::{Accumulator, Method, leave_one_out};
use crate::calibration::Reliability;
use crate::kernels::{
    CLASSES, Kernel, decoder, evaluate, evidence, grid, learned, lines, marginals,
    marginals_of_nothing, mixture, predictions, query, records,
};
use crate::math::ln;
use crate::simplex::softmax;
use crate::spn::{Network, NodeKind};

/// Two kernels in one run.
pub struct Pair {
    pub work: (&'static str, Kernel),
    pub limit: (&'static str, Kernel),
}

/// Makers of all pairs, each of which says whether its sizes are to be those of the printed table.
pub const PAIRS: &[fn(bool) -> Pair] = &[
    |_| product(5),
    |_| product(1000),
    |full| product(if full { 100_000 } else { 5000 }),
    |_| without_each(5),
    |_| without_each(1000),
    |full| without_each(if full { 100_000 } else { 5000 }),
    |_| Pair {
        work: ("query K=5 M=16 d=64", query()),
        limit: ("its multiplications and additions", arithmetic()),
    },
    |_| Pair {
        work: ("learned query K=5 d=64", learned(5)),
        limit: ("query K=5 M=16 d=64", query()),
    },
    |full| plainly("grid: evaluate", grid(if full { 1024 } else { 64 })),
    |full| {
        plainly(
            "mixture: evaluate",
            mixture(if full { 33_333 } else { 2000 }),
        )
    },
    |full| both("grid: all marginals", grid(if full { 1024 } else { 64 })),
    |full| {
        both(
            "mixture: all marginals",
            mixture(if full { 33_333 } else { 2000 }),
        )
    },
    |full| {
        nothing_seen(
            "grid: all marginals, nothing seen",
            grid(if full { 1024 } else { 64 }),
        )
    },
    |full| {
        let items = if full { 33_333 } else { 2000 };
        nothing_seen("mixture: all marginals, nothing seen", mixture(items))
    },
    |full| errors(if full { 10_000_000 } else { 500_000 }),
    |_| Pair {
        work: ("records with factors into checked factors", records(1000)),
        limit: ("skipping over the JSON", skipping(1000)),
    },
];

/// The fastest of runs taken in turns: interruptions only ever add time.
pub fn time(pair: &mut Pair, seconds: f64) -> (f64, f64) {
    let begun = Instant::now();
    let mut fastest = (f64::INFINITY, f64::INFINITY);
    let mut runs = 0;
    while runs < 3 || begun.elapsed().as_secs_f64() < seconds {
        for (kernel, best) in [
            (&mut pair.work.1, &mut fastest.0),
            (&mut pair.limit.1, &mut fastest.1),
        ] {
            let start = Instant::now();
            kernel();
            *best = start.elapsed().as_secs_f64().min(*best);
        }
        runs += 1;
    }
    fastest
}

fn product(items: usize) -> Pair {
    let name = match items {
        5 => "product K=5",
        1000 => "product K=1000",
        _ => "product of many",
    };
    let (factors, weights) = evidence(items);
    let mut scores = vec![0.0; CLASSES];
    Pair {
        work: (name, one_thread(items)),
        limit: (
            "the same logarithms in plain sums",
            Box::new(move || {
                scores.fill(0.0);
                for (factor, w) in black_box(&factors).iter().zip(&weights) {
                    for (score, &p) in scores.iter_mut().zip(factor.probabilities()) {
                        *score += w * ln(p);
                    }
                }
                softmax(&mut scores).unwrap();
                black_box(&scores);
            }),
        ),
    }
}

fn one_thread(items: usize) -> Kernel {
    let (factors, weights) = evidence(items);
    Box::new(move || {
        let mut all = Accumulator::new(Method::Spn, CLASSES, None).unwrap();
        all.add_all(black_box(&factors), &weights).unwrap();
        black_box(all.distribution().unwrap());
    })
}

fn without_each(items: usize) -> Pair {
    let name = match items {
        5 => "leave-one-out K=5",
        1000 => "leave-one-out K=1000",
        _ => "leave-one-out of many",
    };
    let (factors, weights) = evidence(items);
    Pair {
        work: (
            name,
            Box::new(move || {
                black_box(leave_one_out(Method::Spn, black_box(&factors), &weights, None).unwrap());
            }),
        ),
        limit: ("the product", one_thread(items)),
    }
}

/// Multiplications and additions in registers: six independent chains of each, which is more than the
/// latency of either, and few enough for sixteen registers.
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

fn arithmetic() -> Kernel {
    let multiply_adds = 5 * 16 * decoder().multiply_adds();
    Box::new(move || {
        black_box(Arch::new().dispatch(Arithmetic { multiply_adds }));
    })
}

fn plainly(name: &'static str, network: Network) -> Pair {
    let mut values = Vec::new();
    let evidence = crate::kernels::seen(&network);
    network.evaluate_into(&evidence, &mut values).unwrap();
    let leaves = values.clone();
    let plain = network.clone();
    Pair {
        work: (name, evaluate(network)),
        limit: (
            "in doubles that underflow",
            Box::new(move || {
                let (graph, weights) = (plain.graph(), plain.weights());
                for node in 0..values.len() {
                    let edges = graph.offsets[node] as usize..graph.offsets[node + 1] as usize;
                    let children = &graph.children[edges.clone()];
                    values[node] = match graph.kinds[node] {
                        NodeKind::Leaf { .. } => black_box(&leaves)[node],
                        NodeKind::Sum => {
                            let terms = children.iter().zip(&weights[edges]);
                            terms.map(|(&c, w)| w * values[c as usize]).sum()
                        }
                        NodeKind::Product => children.iter().map(|&c| values[c as usize]).product(),
                    };
                }
                black_box(&values);
            }),
        ),
    }
}

fn both(name: &'static str, network: Network) -> Pair {
    Pair {
        work: (name, marginals(network.clone())),
        limit: ("evaluate", evaluate(network)),
    }
}

fn nothing_seen(name: &'static str, network: Network) -> Pair {
    Pair {
        work: (name, marginals_of_nothing(network.clone())),
        limit: ("evaluate", evaluate(network)),
    }
}

fn errors(rows: usize) -> Pair {
    let (confidences, correct) = predictions(rows);
    let (read, flags) = (confidences.clone(), correct.clone());
    Pair {
        work: (
            "calibration error",
            Box::new(move || {
                let bins = Reliability::of(black_box(&confidences), black_box(&correct), 15);
                black_box(bins.and_then(|bins| bins.ece()).unwrap());
            }),
        ),
        limit: (
            "reading the predictions",
            Box::new(move || {
                let words = black_box(&read).iter().fold(0u64, |a, c| a ^ c.to_bits());
                let flags = black_box(&flags).iter().fold(0u8, |a, &t| a ^ u8::from(t));
                black_box(words ^ u64::from(flags));
            }),
        ),
    }
}

fn skipping(count: usize) -> Kernel {
    let lines = lines(count);
    Box::new(move || {
        for line in black_box(&lines) {
            let _: serde::de::IgnoredAny = serde_json::from_str(line).unwrap();
        }
    })
}
