//! Stage 4: from weighted factors to one distribution.
//!
//! | file | what it holds |
//! |---|---|
//! | `method` | [`Method`]: LPF-SPN, the baselines, the prior-corrected product |
//! | `accumulator` | [`Accumulator`]: factors one by one, mergeable, and with one left out |
//! | `network` | the products as real sum-product networks, for comparison with the direct path |
//! | `combine` | [`aggregate()`] and [`leave_one_out`] over all evidence of an entity |
//!
//! Every method is symmetric in the evidence to the last bit, and groups of evidence that were
//! aggregated apart merge into exactly the flat result.

mod accumulator;
mod combine;
mod method;
mod network;

pub use accumulator::Accumulator;
pub use combine::{AggregateError, FLAT_LIMIT, LeaveOneOut, aggregate, leave_one_out};
pub use method::{Method, UnknownMethod};
pub use network::{AS_SEEN, CLASS, aggregate_by_network, naive_bayes, network};
