//! How the cost of each kernel grows, on one thread: sizes ten times as large as the last, the exponent of a
//! power law fitted to them, and a figure.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use crate::aggregate::{Accumulator, Method, leave_one_out};
use crate::calibration::Reliability;
use crate::exhibit::{Axis, Figure, Panel, Role, Series};
use crate::kernels::{Kernel, evaluate, evidence_over, learned, marginals, mixture, predictions};

/// One kernel at growing sizes.
struct Curve {
    name: &'static str,
    unit: &'static str,
    /// The largest power of ten, and that of a full run.
    to: (u32, u32),
    from: u32,
    make: fn(usize) -> Kernel,
}

const CURVES: &[Curve] = &[
    Curve {
        name: "product",
        unit: "items",
        to: (6, 6),
        from: 1,
        make: |items| product(items, 3),
    },
    Curve {
        name: "leave-one-out",
        unit: "items",
        to: (6, 6),
        from: 1,
        make: |items| {
            let (factors, weights) = evidence_over(items, 3);
            Box::new(move || {
                black_box(leave_one_out(Method::Spn, &factors, &weights, None).unwrap());
            })
        },
    },
    Curve {
        name: "product of 100 items",
        unit: "classes",
        to: (4, 4),
        from: 1,
        make: |classes| product(100, classes),
    },
    Curve {
        name: "network: evaluate",
        unit: "edges",
        to: (6, 7),
        from: 2,
        make: |edges| evaluate(mixture(edges / 3)),
    },
    Curve {
        name: "network: all marginals",
        unit: "edges",
        to: (6, 7),
        from: 2,
        make: |edges| marginals(mixture(edges / 3)),
    },
    Curve {
        name: "learned aggregation",
        unit: "items",
        to: (3, 4),
        from: 1,
        make: learned,
    },
    Curve {
        name: "calibration error",
        unit: "predictions",
        to: (7, 8),
        from: 3,
        make: |rows| {
            // A stream of blocks, the same again and again: no more of them in memory than a million.
            let (confidences, correct) = predictions(rows.min(1_000_000));
            Box::new(move || {
                let mut all = Reliability::new(15).unwrap();
                for _ in 0..rows.div_ceil(1_000_000) {
                    let block = Reliability::of(black_box(&confidences), &correct, 15);
                    all.merge(&block.unwrap()).unwrap();
                }
                black_box(all.ece().unwrap());
            })
        },
    },
];

fn product(items: usize, classes: usize) -> Kernel {
    let (factors, weights) = evidence_over(items, classes);
    Box::new(move || {
        let mut all = Accumulator::new(Method::Spn, classes, None).unwrap();
        all.add_all(black_box(&factors), &weights).unwrap();
        black_box(all.distribution().unwrap());
    })
}

/// The fastest of some runs, fewer where they take long.
fn seconds(mut kernel: Kernel) -> f64 {
    let begun = Instant::now();
    let mut fastest = f64::INFINITY;
    let mut runs = 0;
    while runs < 2 || runs < 1000 && begun.elapsed().as_secs_f64() < 0.2 {
        let start = Instant::now();
        kernel();
        fastest = fastest.min(start.elapsed().as_secs_f64());
        runs += 1;
    }
    fastest
}

/// The slope of a straight line through the logarithms of the larger half of the points, by least squares:
/// small sizes show what a call costs, not what it grows by.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let points = &points[points.len() / 2 - usize::from(points.len() < 5)..];
    let n = points.len() as f64;
    let logs = points.iter().map(|(x, y)| (libm::log(*x), libm::log(*y)));
    let (x, y) = logs
        .clone()
        .fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (above, below) = logs.fold((0.0, 0.0), |(a, b), (lx, ly)| {
        (a + (lx - x) * (ly - y), b + (lx - x) * (lx - x))
    });
    above / below
}

/// A Markdown table with the exponents, and the figure.
pub fn grow(full: bool) -> (String, Figure) {
    let mut table = String::from("| kernel | seconds by size | exponent |\n|---|---|---:|\n");
    let mut panels = Vec::new();
    for curve in CURVES {
        let last = if full { curve.to.1 } else { curve.to.0 };
        let points: Vec<(f64, f64)> = (curve.from..=last)
            .map(|power| {
                let size = 10usize.pow(power);
                (size as f64, seconds((curve.make)(size)))
            })
            .collect();
        let shown: Vec<String> = (curve.from..)
            .zip(&points)
            .map(|(power, (_, seconds))| format!("10^{power}: {seconds:.2e}"))
            .collect();
        let exponent = exponent(&points);
        let _ = writeln!(
            table,
            "| {}, {} | {} | {exponent:.2} |",
            curve.name,
            curve.unit,
            shown.join(", ")
        );
        let (x, y) = points[points.len() - 1];
        let linear = points.iter().map(|&(size, _)| (size, y * size / x));
        let series = vec![
            Series::dashed("in proportion to the size", Role::Guide, linear),
            Series::line("seconds", Role::Ours, points.iter().copied()),
        ];
        let title = format!("{}: exponent {exponent:.2}", curve.name);
        panels.push(Panel::new(
            title,
            Axis::log(curve.unit),
            Axis::log("seconds"),
            series,
        ));
    }
    let caption =
        "Seconds of each kernel on one thread by the size of its input, both logarithmic.";
    (table, Figure::new("growth", caption, panels))
}
