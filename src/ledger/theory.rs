//! What Coq checked: the committed record of the last full run, and whether it was repeated here.
//!
//! Nothing else makes a claim `Proved`, or refuted for every constant.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

const COMMITTED: &str = include_str!("../../proofs/theory/record.json");

/// Steps of the paper's proofs that a theorem decides beside the claims that its source names.
const ALSO: &[(&str, &str)] = &[("L3_product", "T1.step2")];

/// What a theorem says of its claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Says {
    /// The claim holds.
    Proves,
    /// It does not.
    Refutes,
    /// It cannot be improved.
    Sharpens,
}

impl Says {
    /// The verb.
    pub fn name(self) -> &'static str {
        match self {
            Says::Proves => "proves",
            Says::Refutes => "refutes",
            Says::Sharpens => "sharpens",
        }
    }
}

/// A theorem that Coq accepted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Theorem {
    /// Its name in Coq.
    pub name: String,
    /// The claims that it decides.
    pub claims: Vec<String>,
    /// Which way.
    pub says: Says,
    /// Names of what it takes for granted beyond the claim, or reads in a certain way.
    pub caveats: Vec<String>,
    /// What it says, in words.
    pub words: String,
    /// Its file, relative to the top of the repository.
    pub file: String,
    /// Its line, from 1.
    pub line: u64,
}

/// The record of a run of all theorems.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Theory {
    /// The proof assistant and its version.
    pub engine: String,
    /// The day of the run, `YYYY-MM-DD`.
    pub date: String,
    /// Whether Coq ran, so that the record is not a quotation of an older one.
    #[serde(default)]
    pub rerun: bool,
    /// Whether every gate was passed.
    #[serde(default)]
    pub all_hold: bool,
    /// The definition of each caveat.
    #[serde(default)]
    pub caveats: BTreeMap<String, String>,
    /// The digest of each source.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
    theorems: Vec<Theorem>,
}

impl Theory {
    /// The record in the repository.
    pub fn committed() -> &'static Theory {
        static RECORD: LazyLock<Theory> = LazyLock::new(|| Theory::parse(COMMITTED));
        &RECORD
    }

    /// A record that is not understood holds no theorem.
    pub(super) fn parse(text: &str) -> Theory {
        let mut theory: Theory = serde_json::from_str(text).unwrap_or_default();
        for theorem in &mut theory.theorems {
            let also = ALSO.iter().filter(|(name, _)| *name == theorem.name);
            theorem
                .claims
                .extend(also.map(|(_, claim)| (*claim).to_owned()));
        }
        theory
    }

    /// The theorems; none where the record is not that of a full run that passed.
    pub fn theorems(&self) -> &[Theorem] {
        match self.rerun && self.all_hold {
            true => &self.theorems,
            false => &[],
        }
    }

    /// The theorems about a claim.
    pub fn about<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Theorem> {
        let of = move |theorem: &&Theorem| theorem.claims.iter().any(|claim| claim == id);
        self.theorems().iter().filter(of)
    }

    /// The theorems that say one thing about a claim.
    pub(super) fn saying(&self, id: &str, says: Says) -> Vec<&Theorem> {
        let all = self.theorems().iter();
        all.filter(|theorem| theorem.says == says && theorem.claims.iter().any(|c| c == id))
            .collect()
    }

    /// Where the theorems were checked, given the outcome of a run in this checkout.
    pub fn standing(&self, here: Option<Recheck>) -> String {
        let (engine, date) = (&self.engine, &self.date);
        match here {
            Some(Recheck::Holds) => format!("machine-checked by {engine}, re-checked here"),
            Some(Recheck::Fails) => {
                format!("machine-checked by {engine}, record of {date}; the run here FAILED")
            }
            None => format!(
                "machine-checked by {engine}, record of {date}, sources unchanged; not re-run here"
            ),
        }
    }
}

/// What a run of Coq in this checkout found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recheck {
    /// Every gate passed, for the sources of the committed record.
    Holds,
    /// One did not, or the sources are others.
    Fails,
}

impl Recheck {
    /// Reads what `make theory` left; `None` where Coq did not run.
    pub(super) fn parse(text: &str) -> Option<Recheck> {
        let run: Theory = serde_json::from_str(text).ok()?;
        let holds = run.all_hold && run.sources == Theory::committed().sources;
        let outcome = if holds {
            Recheck::Holds
        } else {
            Recheck::Fails
        };
        run.rerun.then_some(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The committed record is one of a full run; where it is not, nothing is proved.
    #[test]
    fn the_committed_record_is_understood() {
        let theory = Theory::committed();
        assert!(
            theory.rerun && theory.all_hold && theory.theorems().len() > 90,
            "proofs/theory/record.json is not the record of a full run: write it with \
             `make theory-record`, which needs Coq"
        );
        for theorem in theory.theorems() {
            for caveat in &theorem.caveats {
                assert!(theory.caveats.contains_key(caveat), "{caveat}");
            }
        }
    }

    #[test]
    fn a_record_of_a_failed_run_or_a_quotation_proves_nothing() {
        let text = |rerun: bool, holds: bool| {
            format!(
                r#"{{"engine": "Coq 8.16.1", "date": "2026-01-01", "rerun": {rerun},
                "all_hold": {holds}, "theorems": [{{"name": "t", "claims": ["L1"],
                "says": "proves", "caveats": [], "words": "", "file": "", "line": 1}}]}}"#
            )
        };
        let proofs = |text: &str| Theory::parse(text).saying("L1", Says::Proves).len();
        assert_eq!(proofs(&text(true, true)), 1);
        assert_eq!(proofs(&text(false, true)) + proofs(&text(true, false)), 0);
        assert_eq!(proofs("{}") + proofs("no record"), 0);
        assert_eq!(Recheck::parse(&text(true, false)), Some(Recheck::Fails));
        assert_eq!(Recheck::parse(&text(false, true)), None);
    }
}
