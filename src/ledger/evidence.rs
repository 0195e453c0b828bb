//! Which evidence speaks of which claim.
//!
//! Every piece of evidence carries its claim ids at its own place: a bound in [`crate::bounds`], an
//! experiment in [`crate::experiments`], a proof harness above its function, a property in its
//! description, a theorem above its statement. Theorems are known from the committed record;
//! bounds and experiments are part of the program; harnesses and properties are known
//! from the record of their last run. A test reads the sources and fails where an id is no claim's,
//! or where a claim of the first rank has no evidence.

use super::records::{Records, Run};
use super::theory::Theory;
use crate::bounds;
use crate::experiments::EXPERIMENTS;

/// The kinds of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EvidenceKind {
    /// A theorem that Coq checked.
    Theorem,
    /// A formula, its proof, or a counterexample.
    Bound,
    /// One of the paper's experiments, run on our own data.
    Experiment,
    /// A proof harness.
    Harness,
    /// A statistical or algebraic property.
    Property,
}

impl EvidenceKind {
    /// The kind in a word.
    pub fn name(self) -> &'static str {
        match self {
            EvidenceKind::Theorem => "theorem in Coq",
            EvidenceKind::Bound => "bound",
            EvidenceKind::Experiment => "experiment",
            EvidenceKind::Harness => "proof harness",
            EvidenceKind::Property => "property",
        }
    }
}

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What kind of evidence it is.
    pub kind: EvidenceKind,
    /// The name of the harness, property or experiment, or what the bound is about.
    pub name: String,
    /// Its file, relative to the top of the repository.
    pub file: String,
    /// Its line, from 1, where it is known.
    pub line: Option<u64>,
    /// The claims that it speaks of.
    pub claims: Vec<String>,
}

/// All evidence that is part of the program or in a record.
pub fn evidence(records: &Records) -> Vec<Evidence> {
    let owned = |claims: &[&str]| claims.iter().map(|id| (*id).to_owned()).collect();
    let bounds = bounds::ALL.iter().map(|bound| Evidence {
        kind: EvidenceKind::Bound,
        name: bound.title.to_owned(),
        file: bound.file.to_owned(),
        line: None,
        claims: owned(bound.claims),
    });
    let experiments = EXPERIMENTS.iter().map(|experiment| Evidence {
        kind: EvidenceKind::Experiment,
        name: experiment.title.to_owned(),
        file: format!("src/experiments/{}.rs", experiment.id.to_lowercase()),
        line: None,
        claims: owned(experiment.claims),
    });
    let recorded = |run: &Option<Run>, kind| {
        let rows = run.iter().flat_map(|run| run.rows.clone());
        let pieces = rows.map(|row| Evidence {
            kind,
            name: row.name,
            file: row.file,
            line: None,
            claims: row.claims,
        });
        pieces.collect::<Vec<_>>()
    };
    let theorems = Theory::committed().theorems().iter();
    let theorems = theorems.map(|theorem| Evidence {
        kind: EvidenceKind::Theorem,
        name: theorem.name.clone(),
        file: theorem.file.clone(),
        line: Some(theorem.line),
        claims: theorem.claims.clone(),
    });
    theorems
        .chain(bounds)
        .chain(experiments)
        .chain(recorded(&records.proofs, EvidenceKind::Harness))
        .chain(recorded(&records.properties, EvidenceKind::Property))
        .collect()
}
