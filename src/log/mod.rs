//! What is read: records of evidence, logs of predictions, and the formats that they come in.
//!
//! | file | what it holds |
//! |---|---|
//! | `record` | [`Record`]: one entity with its evidence; [`Entity`]: the same with valid factors; [`Prediction`]: a row of a log, with the answer that was given |
//! | `limits` | [`Limits`]: how much of anything that comes from outside is taken in |
//! | `brief` | what messages show of a long text |
//! | `lines` | [`LineReader`]: files of any length in constant memory |
//! | `fields` | [`Fields`]: which fields and columns hold what, by option or by their usual names |
//! | `format` | [`Format`]: how rows are written; [`Reading`]: what was read as what |
//! | `source` | digests, compressed files, arrays of JSON objects |
//! | `columns` | [`Columns`]: predictions as separated values |
//! | `layout` | how rows are understood, once their fields are known |
//! | `table` | rows of a table, column by column |
//! | `parquet`, `arrow` | such tables in files |
//! | `codec` | compressed blocks of both |
//! | `memory` | [`RowSource`]: rows that are in memory already |
//! | `tolerance` | [`Tolerance`]: how far probabilities may be from adding up to one |
//! | `number` | decimal numbers, read in place |
//! | `plain` | rows of the ordinary kind, read in place |
//! | `reader` | [`LogReader`]: the rows of a log in any [`Format`] |
//! | `rewrite` | single fields of a row, and rows with another answer |
//! | `row` | [`Row`]: a row whose numbers are valid, or [`RowError`] |
//! | `digest` | SHA-256 of content |

#[cfg(feature = "parquet")]
mod arrow;
mod brief;
#[cfg(feature = "parquet")]
mod codec;
mod columns;
mod digest;
mod fields;
mod format;
mod layout;
#[cfg_attr(
    not(all(feature = "cli", feature = "parquet")),
    allow(
        dead_code,
        reason = "some limits are those of commands and of columns only"
    )
)]
mod limits;
mod lines;
mod memory;
mod number;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod plain;
mod reader;
mod record;
mod rewrite;
mod row;
mod source;
#[cfg(feature = "parquet")]
mod table;
mod tolerance;

pub use brief::{MOST_SHOWN, brief, shortened};
pub use columns::{Columns, ColumnsError};
pub use digest::{hexadecimal, sha256};
pub use fields::{Fields, LABELS};
pub use format::{Format, Kind, Reading};
pub use limits::{LimitError, LimitKind, Limits, UnknownLimit};
pub use lines::{Batch, LineReader, LinesError};
pub use memory::{ROWS_A_BATCH, RowBatch, RowSource};
#[cfg(feature = "parquet")]
pub use parquet::{TableError, TableReader, TableRewriter};
pub(crate) use plain::PlainRow;
pub use reader::{ClassesError, LogBatch, LogError, LogReader, LogRow};
pub use record::{
    ClassNames, Completed, DEFAULT_TOLERANCE, Entity, Evidence, Expectations, Fault, Given,
    JsonLayout, Label, LoggedUncertainty, Place, Prediction, Record, RecordError, check_names,
};
pub use rewrite::logged_set;
pub use row::{LoggedItem, Reason, Row, RowError, RowRules};
pub(crate) use source::check_encoding;
#[cfg(feature = "parquet")]
pub use table::TableBatch;
pub use tolerance::{MAX_TOLERANCE, Tolerance};

/// All that is kept for fuzzing.
#[cfg(test)]
fn fuzz_corpus() -> Vec<std::path::PathBuf> {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    let inside = |path: std::path::PathBuf| std::fs::read_dir(path).unwrap();
    let folders = inside(corpus).map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| inside(folder).map(|entry| entry.unwrap().path()));
    files.collect()
}
