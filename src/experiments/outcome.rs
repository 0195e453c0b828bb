//! What an experiment gives: tables, figures as data, and a sentence.

use serde::Serialize;

use crate::exhibit::{Figure, Table};

/// All that one experiment gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Which experiment: `T1` … `T7`, `assumptions`, `domains`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Settings that the numbers depend on, by name.
    pub settings: Vec<(String, String)>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Figures.
    pub figures: Vec<Figure>,
    /// What agrees with the paper and what does not, in a sentence.
    pub sentence: String,
}
