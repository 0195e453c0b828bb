//! The program and the library from the outside, in one test binary.
//!
//! | module | what it runs |
//! |---|---|
//! | `infer`, `calibrate`, `train`, `experiment`, `real`, `ledger`, `bound` | the commands, as processes |
//! | `audit`, `audit_reports` | `lpf audit`: what it computes, and what it writes |
//! | `reference_factors`, `reference_model` | the reference implementation's data |
//! | `browser` | the pages, opened in Chromium |
//! | `examples` | the programs in `examples` |
//! | `counts` | how `make bench-gate` compares counts of instructions |
//! | `reliability` | every command under attack: sizes, signals, faults, hostile inputs |
//! | `rooms` | the order of the modules of `src` |

// A binary exports nothing: `pub` means "outside this file" here.
#![allow(unreachable_pub)]

mod audit;
mod audit_reports;
mod bound;
mod browser;
mod calibrate;
#[path = "../../benches/gate/src/counts.rs"]
mod counts;
mod examples;
mod experiment;
mod infer;
mod ledger;
mod real;
mod reference_factors;
mod reference_model;
#[cfg(unix)]
mod reliability;
mod rooms;
mod train;
