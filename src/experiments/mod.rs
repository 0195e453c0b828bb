//! The paper's experiments, run on what the author's generator makes and, beside it, on synthetic
//! data whose exact posterior is known.
//!
//! | file | what it holds |
//! |---|---|
//! | `lab` | [`Experiment`], [`Settings`], [`Lab`]: models trained once for all experiments |
//! | `trained` | [`Trained`]: a model, and entities to judge it by |
//! | `columns` | [`Quantity`], [`compared`]: the paper's numbers and our two columns |
//! | `published` | [`Published`]: the paper's numbers; [`Findings`]: what agrees with them |
//! | `statistics` | means, spreads, percentiles, straight lines |
//! | `outcome` | [`Outcome`]: tables, figures as data, a sentence, [`Statement`]s |
//! | `digest` | one number for all results |
//! | `t1` | calibration of single items and of their aggregate |
//! | `t2` | error of a Monte Carlo factor |
//! | `t3` | generalization of learned aggregation |
//! | `t4` | information in the evidence, conflict, and calibration |
//! | `t5` | replaced items: L1 change, the paper's bound and T5′ |
//! | `t6` | calibration error against the number of items, with the fit |
//! | `t7` | epistemic and aleatoric variance |
//! | `assumptions` | A1 to A6 on the trained model |
//! | `domains` | all eight domains against the exact Bayes posterior |
//! | `real` | real evidence: methods, assumptions, and what each theorem predicts |
//! | `data` | what the author's data are, and the results without repeated and shared texts |
//! | `readings` | which reading gives the paper's numbers: all that were tried |

mod assumptions;
mod columns;
mod data;
mod digest;
mod domains;
mod error;
mod lab;
mod outcome;
mod published;
mod readings;
mod real;
mod statistics;
mod t1;
mod t2;
mod t3;
mod t4;
mod t5;
mod t6;
mod t7;
mod trained;

pub use assumptions::decoded_codes;
pub use columns::{Agreement, COLUMNS, Quantity, compared};
pub use data::{Counts, Pairs, contradicting, same_text, spoken_for};
pub use digest::digest;
pub use error::ExperimentError;
pub use lab::{Experiment, Lab, Origin, Progress, Run, Settings, Variant};
pub use outcome::{Outcome, Statement};
pub use published::{Findings, Printed, Published};
pub use real::{LogSettings, real_log};
pub use statistics::{Line, Summary, mean, percentile};
pub use trained::{BINS, Contender, Data, HIDDEN, SAMPLES, TestEntity, Trained};

/// All experiments, in the order in which they are run and shown.
pub const EXPERIMENTS: &[Experiment] = &[
    t1::EXPERIMENT,
    t2::EXPERIMENT,
    t3::EXPERIMENT,
    t4::EXPERIMENT,
    t5::EXPERIMENT,
    t6::EXPERIMENT,
    t7::EXPERIMENT,
    assumptions::EXPERIMENT,
    domains::EXPERIMENT,
    data::EXPERIMENT,
    readings::EXPERIMENT,
    real::EXPERIMENT,
];
