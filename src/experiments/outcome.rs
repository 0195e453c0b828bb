//! What an experiment gives: tables, figures as data, a sentence, and statements held against the paper's.

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
    /// How much agrees with the paper, and what else was found, in a few words.
    pub sentence: String,
    /// Each number and finding of the paper that was held against ours.
    pub statements: Vec<Statement>,
}

impl Outcome {
    /// The statements that agree (or do not), in their order.
    pub fn statements_that(&self, agree: bool) -> impl Iterator<Item = &str> {
        let these = self.statements.iter().filter(move |s| s.agrees == agree);
        these.map(|s| s.words.as_str())
    }
}

/// Something that the paper says, held against our runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// What it says, with the paper's number and ours where it is about one.
    pub words: String,
    /// Whether our runs agree with it.
    pub agrees: bool,
}
