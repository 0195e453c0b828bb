//! Reports: tables as text, Markdown and HTML; figures as SVG.
//!
//! | file | what it holds |
//! |---|---|
//! | `escape` | making any string safe in HTML, Markdown and on a terminal |
//! | `audit`, `audit_*` | [`AuditReport`](crate::audit::AuditReport) as text, JSON, Markdown, JUnit, SARIF and HTML |
//! | `chart` | figures as SVG, legible without colour |
//! | `monitor` | predictions that are watched, as text and as a page |
//! | `page`, `junit` | the frames of an HTML page and of a JUnit file |
//! | `component` | the parts that every page is made of |
//! | `options` | settings that messages name, as options of the command |
//! | `glossary` | the paper's symbols, explained |
//! | `ledger` | claims and verdicts, and where their evidence is |
//! | `table` | tables and experiment outcomes as text, Markdown and HTML |
//! | `verification` | the report of `lpf verify`: a page, JSON, Markdown and JUnit |

mod audit;
mod audit_ci;
mod audit_figures;
mod audit_html;
mod audit_markdown;
mod audit_reading;
mod audit_text;
mod chart;
mod component;
mod escape;
mod glossary;
mod junit;
mod ledger;
mod monitor;
mod options;
mod page;
mod table;
mod verification;

pub use audit_ci::harmless_json;
pub use audit_text::TextStyle;
pub use chart::svg;
pub use escape::{escape_html, escape_json, escape_markdown, escape_terminal, is_unseen};
pub use junit::{JunitCase, junit};
pub use ledger::{
    Group, Look, claim_markdown, claim_text, claims_table, claims_text, counts_table, group,
    grouped, theorems_table, theorems_text,
};
pub use monitor::{alarm_text, monitor_html, monitor_text};
pub use options::with_options;
pub use page::page;
pub use table::{
    outcome_html, outcome_markdown, outcome_text, table_html, table_markdown, table_text,
};
pub use verification::{Engine, EngineState, Verification};
