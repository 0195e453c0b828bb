//! The guarantees, checked on somebody's own log of predictions.
//!
//! | file | what it holds |
//! |---|---|
//! | `row` | from a prediction to a row that can be checked, or to the reason why not |
//! | `scan` | [`scan()`]: a file of any length, in constant memory, on all threads |
//! | `tally`, `evidence_tally`, `item_tally` | [`Tally`]: counts and exact sums, which add up over shards |
//! | `grid`, `histogram`, `kept`, `sample` | what a tally is made of: confidences on a fine grid, quantiles, the worst rows, a bounded sample |
//! | `state` | a tally in a file |
//! | `rounding` | how far an answer may be from its aggregate, and a weight from its confidence, for rounding alone |
//! | `intervals`, `null`, `smooth` | intervals, verdicts and power; the ECE of a calibrated model; the smooth error's interval |
//! | `checks` | [`audit()`]: from a tally to checks with verdicts |
//! | `gate_file` | [`Gate`]: limits for an audit, as TOML |
//! | `outcome` | [`Audit`]: what an audit gives, as pure data |
//!
//! A row is forgotten as soon as it has been counted. Everything kept is an integer, an exact sum or
//! a choice that depends on the rows alone, so that any threads, any shards and any order give the
//! same report, byte for byte.

mod checks;
mod evidence_tally;
mod gate_file;
mod grid;
mod histogram;
mod intervals;
mod item_tally;
mod kept;
mod null;
mod outcome;
mod rounding;
mod row;
mod sample;
mod scan;
mod smooth;
mod state;
mod tally;

pub use checks::{
    CHECKS, CONFIDENCE, CheckKind, CheckSettings, Demand, ThresholdError, audit,
    default_thresholds, set_threshold,
};
pub use gate_file::{Gate, GateError, GateLimit, MAX_GATE_BYTES, Undecided};
pub use outcome::{
    Audit, Check, Curves, FIRST_REJECTIONS, InfluencePoint, Input, Interval, ModelUsed, Offender,
    Power, ReasonCount, Rejected, Rejection, ReliabilityPoint, RiskPoint, SCHEMA_VERSION, Settings,
    Side, Summary, Threshold, Tool, Verdict,
};
#[cfg(feature = "parquet")]
pub use scan::scan_parquet;
pub use scan::{ScanError, ScanModel, ScanSettings, scan};
pub use state::{MAX_STATE_BYTES, StateError, read_state, write_state};
pub use tally::{MergeError, Tally};
