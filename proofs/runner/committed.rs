//! The committed record of Kani's last full run, `proofs/record.json`: what Kani said of each
//! harness, with the digest of every source the harness reaches. Where Kani does not run it is
//! quoted, for the harnesses whose sources are still the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::harnesses::{Engine, Harness};
use crate::kani::{Checked, Verdict, Verdicts};
use crate::reach::{Reach, digest, first_changed};
use crate::root;

/// The record of a full run in which everything was proved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Committed {
    /// Names and versions of the tools of the last run.
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
    /// The day of the run, `YYYY-MM-DD`.
    pub date: String,
    /// Seconds that it took.
    pub seconds: Option<f64>,
    /// Covers satisfied, and how many there are.
    pub covers: Option<(u64, u64)>,
    /// The sources that it reaches.
    pub reaches: BTreeSet<String>,
    /// The tools of an earlier run, where they were others than those of the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<BTreeMap<String, String>>,
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
                date: date.clone(),
                seconds: checked.seconds,
                covers: checked.covers,
                reaches,
                versions: None,
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

    /// Forgets what is stale, and harnesses that Kani is no longer asked about.
    pub fn keep_fitting(&mut self, listed: &[Harness]) {
        let asked = |name: &String| {
            let meant = |h: &Harness| h.name == *name && h.engine == Engine::Kani;
            listed.iter().any(meant)
        };
        let fits = |name: &String| {
            let quoted = self.quote(name, digest).map(|checked| checked.verdict);
            asked(name) && matches!(quoted, Some(Verdict::Quoted(_)))
        };
        let stale: Vec<String> = self
            .harnesses
            .keys()
            .filter(|n| !fits(n))
            .cloned()
            .collect();
        for name in stale {
            self.harnesses.remove(&name);
        }
        let reached = |source: &String| self.harnesses.values().any(|p| p.reaches.contains(source));
        let sources = self.sources.iter().filter(|(source, _)| reached(source));
        self.sources = sources.map(|(s, d)| (s.clone(), d.clone())).collect();
    }

    /// Takes over what a later run proved.
    pub fn add(&mut self, later: &Committed) {
        if self.versions != later.versions {
            let earlier = std::mem::replace(&mut self.versions, later.versions.clone());
            for proof in self.harnesses.values_mut() {
                proof.versions.get_or_insert_with(|| earlier.clone());
            }
        }
        self.sources.extend(later.sources.clone());
        self.harnesses.extend(later.harnesses.clone());
    }

    /// What the record is worth for a harness: Kani's word, or stale and why. `now` gives the
    /// present digest of a source. `None` where the harness is not in it.
    pub fn quote(&self, name: &str, now: impl Fn(&str) -> Option<String>) -> Option<Checked> {
        let proof = self.harnesses.get(name)?;
        let verdict = match first_changed(&proof.reaches, &self.sources, now) {
            // A proof of nothing fits everything.
            None if proof.reaches.is_empty() => Verdict::Stale("it names no source".into()),
            None => Verdict::Quoted(proof.date.clone()),
            Some(source) => Verdict::Stale(format!("{source} changed after {}", proof.date)),
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
    use crate::harnesses;

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
    fn a_run_of_stale_harnesses_keeps_what_fits() {
        let (verdicts, reach) = one();
        let record = |day: &str| Committed::new(day.into(), &BTreeMap::new(), &verdicts, &reach);
        let mut kept = record("2026-01-02").unwrap();
        let listed = |name: &str, engine| Harness {
            name: name.into(),
            engine,
            ..harnesses::read(&root().join("proofs")).unwrap()[0].clone()
        };
        kept.keep_fitting(&[listed("proofs::kish::a", Engine::Kani)]);
        assert_eq!(kept, record("2026-01-02").unwrap());
        kept.add(&record("2026-01-03").unwrap());
        assert_eq!(kept, record("2026-01-03").unwrap());
        // Tools of other versions: what an earlier run proved keeps the names of its own.
        let mut newer = record("2026-01-03").unwrap();
        newer.versions = [("cbmc".to_owned(), "7".to_owned())].into();
        newer.harnesses.clear();
        let mut mixed = kept.clone();
        mixed.add(&newer);
        assert_eq!(mixed.versions, newer.versions);
        let old = &mixed.harnesses["proofs::kish::a"].versions;
        assert_eq!(old.as_ref(), Some(&kept.versions));
        // A source that changed, and a harness that Kani is not asked about any more.
        let mut changed = kept.clone();
        let digest = changed.sources.get_mut("src/bounds/kish.rs").unwrap();
        *digest = "0".repeat(64);
        changed.keep_fitting(&[listed("proofs::kish::a", Engine::Kani)]);
        assert!(changed.harnesses.is_empty() && changed.sources.is_empty());
        kept.keep_fitting(&[listed("proofs::kish::a", Engine::TestOnly)]);
        assert!(kept.harnesses.is_empty());
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
            let meant = |h: &&Harness| h.name == *name && h.engine == Engine::Kani;
            assert!(listed.iter().any(|h| meant(&h)), "{name} is not for Kani");
            assert!(!proof.reaches.is_empty(), "{name} reaches nothing");
            assert!(
                proof.covers.is_some_and(|(n, of)| n == of && of > 0),
                "{name}"
            );
        }
        if !record.harnesses.is_empty() {
            assert!(record.versions.contains_key("kani") && record.versions.contains_key("cbmc"));
        }
    }
}
