//! The paper's experiments, run on the embedded synthetic data.
//!
//! | file | what it holds |
//! |---|---|
//! | `lab` | [`Experiment`], [`Settings`], [`Lab`]: models trained once for all experiments |
//! | `trained` | [`Trained`]: a domain's model, and fresh entities to judge it by |
//! | `published` | [`Published`]: the paper's numbers; [`Findings`]: what agrees with them |
//! | `statistics` | means, spreads, percentiles, straight lines |
//! | `outcome` | [`Outcome`]: tables, figures as data, a sentence |
//! | `domains` | all eight domains against the exact Bayes posterior |

mod domains;
mod error;
mod lab;
mod outcome;
mod published;
mod statistics;
mod trained;

pub use error::ExperimentError;
pub use lab::{Experiment, Lab, Progress, Settings};
pub use outcome::{Axis, Cell, Figure, Outcome, Panel, Role, Scale, Series, Shape, Table};
pub use published::{Findings, Printed, Published};
pub use statistics::{Line, Summary, mean, percentile};
pub use trained::{BINS, HIDDEN, SAMPLES, TestEntity, Trained, Way};

/// All experiments, in the order in which they are run and shown.
pub const EXPERIMENTS: &[Experiment] = &[domains::EXPERIMENT];
