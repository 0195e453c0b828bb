//! The paper's six assumptions as functions on data.
//!
//! | assumption | file | what is measured | how sure |
//! |---|---|---|---|
//! | A1 items are independent given the class | `independence` | correlation of the items of one entity, within each class | permutation test, exact level, Holm over classes |
//! | A2 covariances are bounded | `encoder_variance` | Frobenius norms | standard error over entities; share of entities above a limit |
//! | A3 single items are calibrated | `individual_calibration` | expected calibration error of single factors | interval that holds for any distribution, clustered by entity |
//! | A4 marginalization is valid | `structure` | completeness and decomposability of each entity's network | decided, not estimated |
//! | A5 the number of items is bounded | `evidence_count` | counts | share of entities above the limit |
//! | A6 no class is nearly excluded | `support` | the smallest probability, and what A6 implies against the data | share of entities below the floor |
//!
//! An entity is the unit that was drawn independently; its items are not independent of each other
//! (they speak of the same class), so every interval counts entities, never items. Inputs are
//! plain slices, so that the same functions serve the experiments and a user's own records. Every
//! result has a `sentence` that says in plain words what was found, computed from its numbers.

mod encoder_variance;
mod evidence_count;
mod independence;
mod individual_calibration;
mod items;
mod share;
mod structure;
mod support;

pub use encoder_variance::{EncoderVariance, NormSums, encoder_variance};
pub use evidence_count::{EvidenceCount, evidence_count};
pub(crate) use independence::holm;
pub use independence::{
    ClassDependence, Independence, IndependenceTest, independence, independence_by_source,
};
pub use individual_calibration::{IndividualCalibration, individual_calibration};
pub use items::{AssumptionError, Items};
pub use share::Share;
pub use structure::{Marginalization, marginalization};
pub use support::{Support, support, support_floor};
