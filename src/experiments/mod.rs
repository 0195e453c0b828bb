//! The paper's experiments, run on the embedded synthetic data.

mod domains;
mod outcome;

pub use domains::{DomainResult, DomainsError, DomainsSettings, WAYS, run_domain, run_domains};
pub use outcome::{Axis, Cell, Figure, Outcome, Panel, Role, Scale, Series, Shape, Table};
