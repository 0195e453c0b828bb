//! Calibration error, reliability, proper scores, as mergeable accumulators.
//!
//! | file | what it holds |
//! |---|---|
//! | `bins` | [`bin_index`]: which bin a confidence lies in, decided in integers |
//! | `reliability` | [`Reliability`]: counts and exact sums per bin, ECE, MCE, diagram |
//! | `scores` | [`Evaluation`]: accuracy, Brier, log loss, top-label and classwise ECE |
//! | `map` | [`CalibrationMap`]: a map of any kind, fitted and applied |
//! | `histogram`, `isotonic`, `log_linear` | the kinds: hit rates in bins, hit rates that never fall, linear functions of log-probabilities |
//! | `choice` | [`choose`]: the kind of map with the least cross-validated log loss |
//! | `conformal` | [`ConformalSets`]: prediction sets with a guaranteed coverage |
//! | `fitting` | [`Fitting`]: any of these from any number of rows, in bounded memory |
//! | `cells` | counted numbers in bounded memory |
//! | `smooth` | [`smooth_ece()`]: calibration error without bins |
//!
//! Nothing here depends on the order of predictions: counts are integers and sums are exact, so
//! shards, threads and permutations agree to the last bit.

mod bins;
mod cells;
mod choice;
mod conformal;
mod error;
mod fitting;
mod histogram;
mod isotonic;
mod log_linear;
mod map;
mod map_error;
mod reliability;
mod scores;
mod smooth;

pub use bins::{MAX_BINS, bin_edge, bin_index};
pub use choice::{Candidate, choose};
pub use conformal::{ConformalSets, ConformalSettings, Robust, SetScore, Threshold};
pub use error::CalibrationError;
pub use fitting::{Bounded, FitRow, Fitted, Fitting, Wanted};
pub use histogram::HistogramMap;
pub use isotonic::{Block, IsotonicMap, MAX_BLOCKS};
pub use log_linear::{Family, LogLinear, MAX_PARAMETERS};
pub use map::{Calibrated, CalibrationMap, MapMethod, MapShape, Temperature};
pub use map_error::MapError;
pub use reliability::{BinMeans, BinTotals, Reliability, ReliabilityBin};
pub use scores::Evaluation;
pub(crate) use scores::{RowScores, SMALLEST, ScoredRow};
pub use smooth::{SmoothCell, SmoothEce, smooth_ece, smooth_ece_at};
