#![doc = include_str!("../README.md")]
//!
//! # The rooms
//!
//! Most programs need only the names at the root; everything else stays reachable in its module.
//! The modules stand in the order in which data passes through them; each depends only on those
//! above it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`math`] | scalar traits, `exp`/`ln`, exact order-free sums, log-sum-exp |
//! | [`simplex`] | distributions that are valid by construction, pools, entropies, distances |
//! | [`spn`] | general sum-product networks |
//! | [`latent`] | stages 1 to 3: posteriors, decoders, Monte Carlo factors, confidence weights |
//! | [`aggregate`] | stage 4: LPF-SPN, baselines, prior-corrected and hierarchical products |
//! | [`learn`] | small networks, gradients, training |
//! | [`calibration`] | ECE, reliability, proper scores |
//! | [`uncertainty`] | epistemic and aleatoric parts |
//! | [`bounds`] | the paper's bounds and their corrected forms, one file each |
//! | [`assumptions`] | the paper's assumptions, measured on data |
//! | [`log`] | what is read: records, predictions, CSV, Parquet |
//! | [`files`] | files that appear complete or not at all |
//! | [`model`] | model files, calibration maps, training |
//! | [`synthetic`] | domains whose exact posterior is known, the data of the paper's author, real evidence |
//! | `error` | [`Error`] over the errors of all rooms above |
//! | [`answer`] | [`Answerer`]: the four stages behind one object |
//! | [`audit`] | the guarantees, checked on a user's own records |
//! | [`exhibit`] | tables and figures as data |
//! | [`experiments`] | the paper's experiments |
//! | [`ledger`] | the paper's numbers, its claims and their verdicts |
//! | [`report`] | reports in several formats |
//! | [`cli`] | the command line |

pub mod aggregate;
pub mod answer;
pub mod assumptions;
pub mod audit;
pub mod bounds;
pub mod calibration;
#[cfg(feature = "cli")]
pub mod cli;
mod error;
pub mod exhibit;
pub mod experiments;
pub mod files;
pub mod latent;
pub mod learn;
pub mod ledger;
pub mod log;
pub mod math;
pub mod model;
pub mod report;
pub mod simplex;
pub mod spn;
pub mod synthetic;
pub mod uncertainty;

pub use aggregate::Method;
pub use answer::{Answer, Answerer, AnswererBuilder};
pub use audit::{Audit, AuditReport};
pub use calibration::{CalibrationMap, MapMethod};
pub use error::{Error, ErrorKind, Result};
pub use log::Record;
pub use model::{CalibrationFile, Model};
pub use simplex::Distribution;
pub use spn::{Builder as SpnBuilder, Compiled as Spn, Evidence as SpnEvidence};
pub use uncertainty::Uncertainty;

#[cfg(any(test, kani))]
#[path = "../proofs/mod.rs"]
mod proofs;
