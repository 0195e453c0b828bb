//! Records, synthetic domains and model files.
//!
//! | file | what it holds |
//! |---|---|
//! | `record` | [`Record`]: one entity a line, and what can be wrong with it |
//! | `record_parse` | from a line of JSON to a record, naming the field of an error |
//! | `record_entity` | [`Entity`]: a record whose factors are distributions |
//! | `record_lines` | [`LineReader`]: files of any length in constant memory |

mod record;
mod record_entity;
mod record_lines;
mod record_parse;

pub use record::{Evidence, Fault, Label, Place, Record, RecordError};
pub use record_entity::{ClassNames, DEFAULT_TOLERANCE, Entity, Expectations, check_names};
pub use record_lines::{Batch, LineReader, LinesError, MAX_LINE_BYTES};
