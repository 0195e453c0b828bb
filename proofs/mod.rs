//! Proof harnesses.
//!
//! A harness is one function that states a property of the library's own functions and quantifies
//! over inputs with [`engine::any`], `assume!` and `cover!`. The same function is
//!
//! * a proof: under Kani, `any` is a symbolic value and the property is decided for all of them,
//! * a test: under `cargo test`, finite domains are enumerated completely and their size is
//!   asserted; the rest is drawn at random with a fixed seed and number.
//!
//! Above each harness stand its statement, the claims it serves (`Claims:`) and the values it
//! quantifies over (`Domain:`). `cargo run --example prove` reads them from there; they are
//! written nowhere else. Harnesses that no solver settles in a minute name the reason (`Slow:` and
//! `cfg(kani_slow)`, or `Enumerated only:`).
//!
//! | file | what is proved |
//! |---|---|
//! | `elementary` | the contract of `exp`; `exp` and `ln` within 1 ulp of a multiple-precision oracle |
//! | `normalization` | `normalize` of any bits is a distribution or the error it deserves |
//! | `softmax` | the same for logits, with the exponential replaced by its contract |
//! | `constructor` | what `Distribution::new` accepts and refuses |
//! | `closure` | lemma 3: weighted sums and normalized products of distributions |
//! | `sums` | exact and canonical sums: order-free, total |
//! | `kish` | `1 ≤ K_eff ≤ K`, and the refutation of `K_eff ≥ ⌈K/2⌉` |

// Under Kani, harnesses that it is not to run are unused functions.
#![cfg_attr(kani, allow(dead_code))]

#[macro_use]
mod engine;

mod closure;
mod constructor;
#[cfg(not(kani))]
mod elementary;
mod kish;
mod normalization;
mod softmax;
mod sums;
