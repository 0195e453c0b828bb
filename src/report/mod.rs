//! Reports: tables as text, Markdown and HTML; figures as SVG.
//!
//! | file | what it holds |
//! |---|---|
//! | `escape` | making any string safe in HTML, Markdown and on a terminal |
//! | `chart` | figures as SVG, legible without colour |

mod chart;
mod escape;

pub use chart::svg;
pub use escape::{escape_html, escape_markdown, escape_terminal};
