//! Calibration error, reliability, proper scores, as mergeable accumulators.
//!
//! | file | what it holds |
//! |---|---|
//! | `bins` | [`bin_index`]: which bin a confidence lies in, decided in integers |
//! | `reliability` | [`Reliability`]: counts and exact sums per bin, ECE, MCE, diagram |
//! | `scores` | [`Evaluation`]: accuracy, Brier, log loss, top-label and classwise ECE |
//! | `map`, `isotonic` | [`CalibrationMap`]: temperature, histogram and isotonic maps, fitted and applied |
//! | `smooth` | [`smooth_ece()`]: calibration error without bins |
//!
//! Nothing here depends on the order of predictions: counts are integers and sums are exact, so
//! shards, threads and permutations agree to the last bit.

mod bins;
mod error;
mod isotonic;
mod map;
mod reliability;
mod scores;
mod smooth;

pub use bins::{MAX_BINS, bin_edge, bin_index};
pub use error::CalibrationError;
pub use isotonic::{Block, IsotonicMap, MAX_BLOCKS};
pub use map::{Calibrated, CalibrationMap, HistogramMap, MapError, MapMethod, Temperature};
pub use reliability::{BinMeans, BinTotals, Reliability, ReliabilityBin};
pub use scores::Evaluation;
pub(crate) use scores::{RowScores, SMALLEST};
pub use smooth::{SmoothCell, SmoothEce, smooth_ece, smooth_ece_at};
