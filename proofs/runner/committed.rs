//! The committed record of Kani's last full run, `proofs/record.json`: what Kani said of each
//! harness, with the digest of every source the harness reaches. Where Kani does not run it is
//! quoted, for the harnesses whose sources are still the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::kani::{Checked, Verdict, Verdicts};
use crate::reach::{Reach, digest};
use crate::root;

/// The record of a full run in which everything was proved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Committed {
    /// The day of the run, `YYYY-MM-DD`.
    pub date: String,
    /// Names and versions of the tools that ran.
    pub versions: BTreeMap<String, String>,
    /// The digest of each source that any harness reaches.
    pub sources: BTreeMap<String, String>,
    /// What was said of each harness.
    pub harnesses: BTreeMap<String, Proof>,
}

/// One harness that Kani proved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// Seconds that it took.
    pub seconds: Option<f64>,
    /// Covers satisfied, and how many there are.
    pub covers: Option<(u64, u64)>,
    /// The sources that it reaches.
    pub reaches: BTreeSet<String>,
}

fn path() -> PathBuf {
    root().join("proofs/record.json")
}

impl Committed {
    /// The record of a run.
    ///
    /// # Errors
    /// A harness was not proved, or a source that it reaches is not there.
    pub fn new(
        date: String,
        versions: &BTreeMap<String, String>,
        verdicts: &Verdicts,
        reach: &Reach,
    ) -> Result<Self, String> {
        let mut record = Committed {
            date,
            versions: versions.clone(),
            ..Committed::default()
        };
        for (name, checked) in verdicts {
            if checked.verdict != Verdict::Proved {
                return Err(format!("{name} is not proved: nothing is recorded"));
            }
            let reaches = reach.get(name).cloned().unwrap_or_default();
            for source in &reaches {
                let digest = digest(source).ok_or_else(|| format!("there is no {source}"))?;
                record.sources.insert(source.clone(), digest);
            }
            let proof = Proof {
                seconds: checked.seconds,
                covers: checked.covers,
                reaches,
            };
            record.harnesses.insert(name.clone(), proof);
        }
        Ok(record)
    }

    /// The record in the repository; empty where there is none.
    ///
    /// # Errors
    /// It is there and not understood.
    pub fn read() -> Result<Self, String> {
        match fs::read_to_string(path()) {
            Err(_) => Ok(Committed::default()),
            Ok(text) => serde_json::from_str(&text).map_err(|e| format!("proofs/record.json: {e}")),
        }
    }

    /// Writes it into the repository.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|e| e.to_string())?;
        crate::record::replace(&path(), &format!("{text}\n"))
    }

    /// What the record is worth for a harness: Kani's word, or stale and why. `now` gives the
    /// present digest of a source. `None` where the harness is not in it.
    pub fn quote(&self, name: &str, now: impl Fn(&str) -> Option<String>) -> Option<Checked> {
        let proof = self.harnesses.get(name)?;
        let changed = |source: &&String| now(source).as_ref() != self.sources.get(*source);
        let verdict = match proof.reaches.iter().find(changed) {
            // A proof of nothing fits everything.
            None if proof.reaches.is_empty() => Verdict::Stale("it names no source".into()),
            None => Verdict::Quoted(self.date.clone()),
            Some(source) => Verdict::Stale(format!("{source} changed after {}", self.date)),
        };
        Some(Checked {
            verdict,
            seconds: proof.seconds,
            covers: proof.covers,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harnesses::{self, Engine};

    fn one() -> (Verdicts, Reach) {
        let proved = Checked {
            verdict: Verdict::Proved,
            seconds: Some(2.5),
            covers: Some((2, 2)),
        };
        let sources = ["proofs/kish.rs", "src/bounds/kish.rs"].map(str::to_owned);
        (
            [("proofs::kish::a".to_owned(), proved)].into(),
            [("proofs::kish::a".to_owned(), sources.into())].into(),
        )
    }

    #[test]
    fn it_is_quoted_only_while_every_source_is_the_same() {
        let (verdicts, reach) = one();
        let record = Committed::new("2026-01-02".into(), &BTreeMap::new(), &verdicts, &reach);
        let record = record.unwrap();
        let quote = |now: fn(&str) -> Option<String>| {
            let quoted = record.quote("proofs::kish::a", now);
            quoted.unwrap().verdict
        };
        assert_eq!(quote(digest), Verdict::Quoted("2026-01-02".into()));
        let other = |source: &str| match source {
            "src/bounds/kish.rs" => Some("0".repeat(64)),
            _ => digest(source),
        };
        let stale = "src/bounds/kish.rs changed after 2026-01-02";
        assert_eq!(quote(other), Verdict::Stale(stale.into()));
        assert!(matches!(quote(|_| None), Verdict::Stale(_)));
        assert!(record.quote("proofs::kish::b", digest).is_none());
        // One that reaches nothing proves nothing.
        let empty = Committed::new(
            "2026-01-02".into(),
            &BTreeMap::new(),
            &verdicts,
            &Reach::new(),
        );
        let quoted = empty.unwrap().quote("proofs::kish::a", digest).unwrap();
        assert!(matches!(quoted.verdict, Verdict::Stale(_)));
    }

    #[test]
    fn only_a_run_that_proved_everything_is_recorded() {
        let (mut verdicts, reach) = one();
        let failed = Checked {
            verdict: Verdict::Failed("x".into()),
            seconds: None,
            covers: None,
        };
        verdicts.insert("proofs::kish::b".into(), failed);
        let refused = Committed::new("2026-01-02".into(), &BTreeMap::new(), &verdicts, &reach);
        assert!(
            refused
                .unwrap_err()
                .contains("proofs::kish::b is not proved")
        );
    }

    /// Whether it is complete and up to date is said by `make prove`; that it speaks of harnesses
    /// of ours, and of nothing that was not proved, is checked here.
    #[test]
    fn the_committed_record_is_one_of_our_harnesses() {
        let record = Committed::read().unwrap();
        let listed = harnesses::read(&root().join("proofs")).unwrap();
        for (name, proof) in &record.harnesses {
            let meant = |h: &&harnesses::Harness| h.name == *name && h.engine == Engine::Kani;
            assert!(listed.iter().any(|h| meant(&h)), "{name} is not for Kani");
            assert!(!proof.reaches.is_empty(), "{name} reaches nothing");
            assert!(proof.covers.is_none_or(|(n, of)| n == of), "{name}");
        }
        if !record.harnesses.is_empty() {
            assert!(record.versions.contains_key("kani") && record.versions.contains_key("cbmc"));
        }
    }
}
