//! Of the reports, what draws figures.

#[allow(dead_code, unused_imports, reason = "only figures are drawn")]
#[path = "../../../src/report/chart/mod.rs"]
mod chart;
#[allow(dead_code, reason = "only figures are drawn")]
#[path = "../../../src/report/escape.rs"]
mod escape;

pub use chart::svg;
pub use escape::escape_html;
