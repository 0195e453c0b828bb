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
//! | `contracts` | what the proofs know of `exp`, `ln` and other functions, in their place |
//! | `told` | a made-up field that tells how its numbers came about |
//! | `elementary` | the contract of `exp`; `exp` and `ln` within 1 ulp of a multiple-precision oracle |
//! | `normalization` | `normalize` is the quotient by the sum, or the error its input deserves |
//! | `softmax` | the same for logits, with the exponential replaced by its contract |
//! | `log_pool` | what a product of factors adds and excludes; merging, leaving out |
//! | `constructor` | what `Distribution::new` accepts and refuses |
//! | `closure` | lemma 3: weighted sums and products of distributions |
//! | `transfer` | degrees and sizes on which the step from small numbers to all rationals rests |
//! | `sums` | exact and canonical sums: order-free, total |
//! | `bins` | every confidence lies in one bin; what bins collect merges in any order |
//! | `spn_validity` | the checker accepts exactly the complete and decomposable graphs |
//! | `scaled` | the numbers that answer network queries add and multiply exactly |
//! | `network` | the network that answers: marginals and conditionals are sums over assignments |
//! | `spn_semantics` | one bottom-up pass is the sum over all states; Z = 1 |
//! | `decomposition` | theorem 7: total = epistemic + aleatoric |
//! | `latent` | confidence weights in [0, 1]; no two names share a random stream |
//! | `limits` | what is read is bounded: no length passes a limit |
//! | `headers` | no bytes in the headers of a Parquet file pass a limit or panic |
//! | `kish` | `1 ≤ K_eff ≤ K`, and the refutation of `K_eff ≥ ⌈K/2⌉` |

// Under Kani, harnesses that it is not to run are unused functions.
#![cfg_attr(kani, allow(dead_code))]

#[macro_use]
mod engine;

mod bins;
mod closure;
mod constructor;
#[cfg(kani)]
mod contracts;
mod decomposition;
#[cfg(not(kani))]
mod elementary;
#[cfg(any(kani, feature = "parquet"))]
mod headers;
mod kish;
mod latent;
mod limits;
mod log_pool;
mod network;
mod normalization;
mod scaled;
mod softmax;
mod spn_semantics;
mod spn_validity;
mod sums;
mod told;
mod transfer;
