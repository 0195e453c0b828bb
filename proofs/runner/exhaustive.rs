//! Every single-precision number through the unary kernels: no sampling, no solver.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use lpf::calibration::{bin_edge, bin_index};
use lpf::latent::Confidence;
use lpf::math::{exp, exp32, ln, ln32};

/// Bit patterns handed to a thread at a time.
const BLOCK: u64 = 1 << 20;
/// All of them.
const SINGLES: u64 = 1 << 32;
/// Bin counts that are checked: the ends, the usual ones, and some that are no power of two.
const BIN_COUNTS: [usize; 7] = [1, 2, 10, 15, 64, 1000, 1024];

struct Kernel {
    name: &'static str,
    statement: &'static str,
    holds: fn(f32) -> bool,
}

const KERNELS: [Kernel; 4] = [
    Kernel {
        name: "exp",
        statement: "in [0, 1] for x ≤ 0, at least 1 for x ≥ 0, 1 at zeros, 0 at −∞, within 1 ulp",
        holds: exp_holds,
    },
    Kernel {
        name: "ln",
        statement: "−∞ at zeros, 0 at one, NaN below zero, within 1 ulp",
        holds: ln_holds,
    },
    Kernel {
        name: "bin index",
        statement: "one bin, between its edges, for 7 bin counts; none outside [0, 1]",
        holds: bin_holds,
    },
    Kernel {
        name: "confidence weights",
        statement: "in [0, 1] and not larger at the next single, all four functions",
        holds: weights_hold,
    },
];

/// Whether `got` is less than one unit in its last place off; `exact` has 29 further bits.
fn within_one_ulp(got: f32, exact: f64) -> bool {
    if got.is_infinite() {
        // Beyond the largest single by less than its last place is still within one.
        return exact.abs() > f64::from(f32::MAX);
    }
    let ulp = f64::from(got.abs().next_up()) - f64::from(got.abs());
    (f64::from(got) - exact).abs() < ulp
}

fn exp_holds(x: f32) -> bool {
    let y = exp32(x);
    if x.is_nan() {
        return y.is_nan();
    }
    let contract = (x > 0.0 || (0.0..=1.0).contains(&y))
        && (x < 0.0 || y >= 1.0)
        && (x != f32::NEG_INFINITY || y == 0.0);
    contract && within_one_ulp(y, exp(x.into()))
}

fn ln_holds(x: f32) -> bool {
    let y = ln32(x);
    if x.is_nan() || x < 0.0 {
        return y.is_nan();
    }
    if x == 0.0 {
        return y == f32::NEG_INFINITY;
    }
    if x == f32::INFINITY {
        return y == f32::INFINITY;
    }
    if x == 1.0 {
        return y == 0.0;
    }
    within_one_ulp(y, ln(x.into()))
}

fn bin_holds(x: f32) -> bool {
    let c = f64::from(x);
    BIN_COUNTS.iter().all(|&bins| match bin_index(c, bins) {
        None => !(0.0..=1.0).contains(&c),
        Some(i) => {
            let lower = bin_edge(i, bins).is_some_and(|edge| edge < c || i == 0 && c == 0.0);
            let upper = bin_edge(i + 1, bins).is_some_and(|edge| c <= edge);
            (0.0..=1.0).contains(&c) && lower && upper
        }
    })
}

fn weights_hold(x: f32) -> bool {
    let s = f64::from(x);
    if s.is_nan() || s < 0.0 {
        // Outside the domain: a posterior's spread is not negative.
        return true;
    }
    Confidence::ALL.iter().all(|confidence| {
        let w = confidence.of_uncertainty(s);
        let next = confidence.of_uncertainty(x.next_up().into());
        (0.0..=1.0).contains(&w) && next <= w
    })
}

/// Runs all kernels on all singles.
///
/// # Errors
/// None; the type is that of the other commands.
pub fn run() -> Result<bool, String> {
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get());
    let mut all = true;
    for kernel in &KERNELS {
        let start = Instant::now();
        let (count, failures, first) = sweep(kernel, threads);
        let seconds = start.elapsed().as_secs_f64();
        let outcome = if failures == 0 && count == SINGLES {
            "holds".to_owned()
        } else {
            all = false;
            let x = f32::from_bits(first.unwrap_or(0));
            format!(
                "FAILED for {failures}, first {x:e} (bits {:#010x})",
                x.to_bits()
            )
        };
        println!(
            "{}: {} — {count} of {SINGLES} singles, {outcome}, {seconds:.0} s",
            kernel.name, kernel.statement
        );
    }
    Ok(all)
}

/// How many singles were checked, how many failed, and the smallest bits that did.
fn sweep(kernel: &Kernel, threads: usize) -> (u64, u64, Option<u32>) {
    let bar = ProgressBar::new(SINGLES);
    if let Ok(style) = ProgressStyle::with_template("{msg:20} {wide_bar} {percent}% {eta}") {
        bar.set_style(style);
    }
    bar.set_message(kernel.name);
    let next = AtomicU64::new(0);
    let total = Mutex::new((0u64, 0u64, None::<u32>));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let begin = next.fetch_add(BLOCK, Ordering::Relaxed);
                    if begin >= SINGLES {
                        break;
                    }
                    let (mut failures, mut first) = (0, None);
                    for bits in begin..begin + BLOCK {
                        if !(kernel.holds)(f32::from_bits(bits as u32)) {
                            failures += 1;
                            first = first.or(Some(bits as u32));
                        }
                    }
                    if let Ok(mut total) = total.lock() {
                        total.0 += BLOCK;
                        total.1 += failures;
                        total.2 = [total.2, first].into_iter().flatten().min();
                    }
                    bar.inc(BLOCK);
                }
            });
        }
    });
    bar.finish_and_clear();
    total.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every 4099th single (a prime, so that all exponents and signs come up).
    #[test]
    fn kernels_hold_on_a_sample_of_all_singles() {
        for kernel in &KERNELS {
            for bits in (0..=u32::MAX).step_by(4099) {
                let x = f32::from_bits(bits);
                assert!((kernel.holds)(x), "{} at {x:e}", kernel.name);
            }
        }
    }

    #[test]
    fn a_result_one_ulp_off_is_noticed() {
        assert!(within_one_ulp(1.0, 1.0));
        assert!(!within_one_ulp(1.0f32.next_up(), 1.0));
        assert!(!within_one_ulp(f32::INFINITY, 1.0));
        assert!(!within_one_ulp(f32::from_bits(1), 0.0));
    }
}
