//! The guarantees, checked on somebody's own log of predictions.
//!
//! | file | what it holds |
//! |---|---|
//! | `outcome` | [`Audit`]: what an audit gives, as pure data |

mod outcome;

pub use outcome::{
    Audit, Check, Curves, FIRST_REJECTIONS, InfluencePoint, Input, Interval, Offender, Power,
    ReasonCount, Rejected, Rejection, ReliabilityPoint, RiskPoint, SCHEMA_VERSION, Settings, Side,
    Summary, Threshold, Tool, Verdict,
};
