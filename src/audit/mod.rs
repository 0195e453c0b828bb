//! The guarantees, checked on somebody's own log of predictions.
//!
//! | file | what it holds |
//! |---|---|
//! | `builder` | [`Audit`]: what is audited, how, and against which limits |
//! | `scan` | a log of any length into a tally, in constant memory, on all threads |
//! | `tally`, `class_tally`, `evidence_tally`, `item_tally`, `set_tally` | [`Tally`]: counts and exact sums, which add up over shards |
//! | `grid`, `histogram`, `listed`, `sample`, `clusters` | what a tally is made of: confidences on a fine grid, quantiles, the rows that are listed, a bounded sample, sums by entity |
//! | `by`, `time`, `slices`, `sources`, `slicing` | slices of a log by fields, periods and sources of evidence: what they are, what is kept of them, and how rows get there |
//! | `state` | a tally in a file |
//! | `rounding` | how far an answer may be from its aggregate, and a weight from its confidence, for rounding alone |
//! | `intervals`, `calibration_error`, `smooth` | intervals and verdicts, and how many rows would decide; the intervals of the calibration errors |
//! | `null`, `permutation` | the ECE of a calibrated model; tests of "no drift" |
//! | `checks` | from a tally to checks with verdicts |
//! | `monitor`, `monitor_evidence` | [`Monitor`]: predictions watched as outcomes arrive, with an error rate that holds at any time |
//! | `gate_file` | [`Gate`]: limits for an audit, as TOML |
//! | `outcome` | [`AuditReport`]: the result of an audit, as pure data |
//!
//! A row is forgotten as soon as it has been counted. Everything kept is an integer, an exact sum or
//! a choice that depends on the rows alone, so that any threads, any shards and any order give the
//! same report, byte for byte.

mod builder;
mod by;
mod calibration_error;
mod checks;
mod class_tally;
mod clusters;
mod evidence_tally;
mod gate_file;
// Within the crate, for the proof that cells merge.
pub(crate) mod grid;
mod histogram;
mod intervals;
mod item_tally;
mod listed;
mod monitor;
mod monitor_evidence;
mod monitor_numbers;
mod null;
mod outcome;
mod permutation;
mod rounding;
mod sample;
mod scan;
mod set_tally;
mod slices;
mod slicing;
mod smooth;
mod sources;
mod state;
mod tally;
mod time;

pub use builder::{Audit, DEFAULT_BINS, Log};
pub use checks::{
    CHECKS, CONFIDENCE, CheckKind, ThresholdError, default_thresholds, set_threshold,
};
pub use clusters::Repeats;
pub use gate_file::{Gate, GateColumns, GateError, GateLimit, MAX_GATE_BYTES, Undecided};
pub use monitor::{
    Alarm, Direction, MAX_GROUPS, MAX_MONITOR_BYTES, Monitor, MonitorError, MonitorSettings, Part,
    Watch,
};
pub use monitor_evidence::Evidence as MonitorEvidence;
pub use outcome::{
    AuditReport, Check, CheckInterval, CheckVerdict, ClassCurve, Curves, FIRST_REJECTIONS,
    InfluencePoint, Input, ModelUsed, Offender, Power, ReasonCount, Rejected, Rejection,
    ReliabilityPoint, ReportSettings, RiskPoint, SCHEMA_VERSION, Side, SliceReport, SourceEffect,
    SourceReport, Summary, Threshold, Tool, WithoutSource,
};
#[cfg(feature = "cli")]
pub(crate) use scan::MAX_CLASSES;
pub use set_tally::SetTally;
pub use state::{StateError, read_state, write_state};
pub use tally::{MergeError, Tally};
