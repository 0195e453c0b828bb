//! The guarantees, checked on somebody's own log of predictions.
//!
//! | file | what it holds |
//! |---|---|
//! | `outcome` | [`Audit`]: what an audit gives, as pure data |

mod checks;
mod columns;
mod evidence_tally;
mod grid;
mod histogram;
mod intervals;
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
    CHECKS, CONFIDENCE, CheckSettings, Kind, ThresholdError, audit, default_thresholds,
    set_threshold,
};
pub use columns::ColumnNames;
pub use outcome::{
    Audit, Check, Curves, FIRST_REJECTIONS, InfluencePoint, Input, Interval, Offender, Power,
    ReasonCount, Rejected, Rejection, ReliabilityPoint, RiskPoint, SCHEMA_VERSION, Settings, Side,
    Summary, Threshold, Tool, Verdict,
};
pub use scan::{ScanError, ScanSettings, scan};
pub use state::{MAX_STATE_BYTES, StateError, read_state, write_state};
pub use tally::{MergeError, Tally};
