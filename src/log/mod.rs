//! What is read: records of evidence, logs of predictions, and the formats that they come in.
//!
//! | file | what it holds |
//! |---|---|
//! | `record` | [`Record`]: one entity with its evidence; [`Entity`]: the same with valid factors; [`Prediction`]: a row of a log, with the answer that was given |
//! | `limits` | [`Limits`]: how much of anything that comes from outside is taken in |
//! | `brief` | what messages show of a long text |
//! | `lines` | [`LineReader`]: files of any length in constant memory |
//! | `columns` | [`Columns`]: predictions as comma-separated values |
//! | `parquet` | the same columns in Parquet files |
//! | `memory` | [`RowSource`]: rows that are in memory already |
//! | `reader` | [`LogReader`]: the rows of a log in any [`Format`] |
//! | `rewrite` | single fields of a row, and rows with another answer |
//! | `row` | [`Row`]: a row whose numbers are valid, or [`RowError`] |
//! | `digest` | SHA-256 of content |

mod brief;
mod columns;
mod digest;
mod limits;
mod lines;
mod memory;
#[cfg(feature = "parquet")]
mod parquet;
mod reader;
mod record;
mod rewrite;
mod row;

pub use brief::{MOST_SHOWN, brief, shortened};
pub use columns::{ColumnNames, Columns, ColumnsError};
pub use digest::{hexadecimal, sha256};
pub use limits::{LimitError, LimitKind, Limits, UnknownLimit};
pub use lines::{Batch, LineReader, LinesError};
pub use memory::{ROWS_A_BATCH, RowBatch, RowSource};
#[cfg(feature = "parquet")]
pub use parquet::{TableBatch, TableError, TableReader};
pub use reader::{ClassesError, DEFAULT_ANSWER, Format, LogBatch, LogError, LogReader, LogRow};
pub use record::{
    ClassNames, Completed, DEFAULT_TOLERANCE, Entity, Evidence, Expectations, Fault, Label,
    LoggedUncertainty, Place, Prediction, Record, RecordError, check_names,
};
pub use rewrite::logged_set;
pub use row::{LoggedItem, Reason, Row, RowError, RowRules};
