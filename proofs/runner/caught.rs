//! The committed record of deliberate faults, `proofs/faults.json`: for each what the harness that
//! it names said under Kani, with digests of the change and of every source the harness reached. It
//! is worth something for a fault as long as these are the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::faults::{FAULTS, Fault};
use crate::reach::{digest, digest_of, first_changed};
use crate::root;

/// The record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caught {
    /// Names and versions of the tools.
    pub versions: BTreeMap<String, String>,
    /// The digest of each source that any of the harnesses reached.
    pub sources: BTreeMap<String, String>,
    /// What was said of each fault that was refuted.
    pub faults: BTreeMap<String, Refuted>,
}

/// A fault that a harness refuted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refuted {
    /// The day of the run, `YYYY-MM-DD`.
    pub date: String,
    /// The harness, without `proofs::`.
    pub harness: String,
    /// What it said.
    pub said: String,
    /// Seconds that it took.
    pub seconds: Option<f64>,
    /// The digest of the change.
    pub change: String,
    /// The sources that the harness reaches with the fault.
    pub reaches: BTreeSet<String>,
}

fn path() -> PathBuf {
    root().join("proofs/faults.json")
}

impl Fault {
    /// The digest of the change.
    pub fn change(&self) -> String {
        digest_of(&[self.file, self.find, self.replace].join("\0"))
    }
}

impl Caught {
    /// The record in the repository; empty where there is none.
    ///
    /// # Errors
    /// It is there and not understood.
    pub fn read() -> Result<Self, String> {
        match fs::read_to_string(path()) {
            Err(_) => Ok(Caught::default()),
            Ok(text) => serde_json::from_str(&text).map_err(|e| format!("proofs/faults.json: {e}")),
        }
    }

    /// Writes it into the repository, without the sources that nothing in it reaches any more.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self) -> Result<(), String> {
        let faults = &self.faults;
        let reached = |source: &str| faults.values().any(|f| f.reaches.contains(source));
        self.sources.retain(|source, _| reached(source));
        let text = serde_json::to_string_pretty(self).map_err(|e| e.to_string())?;
        crate::record::replace(&path(), &format!("{text}\n"))
    }

    /// Whether it speaks of this fault, with the harness that the fault names now, the same change
    /// and the same sources. `now` gives the present digest of a source.
    pub fn fits(&self, fault: &Fault, now: impl Fn(&str) -> Option<String>) -> bool {
        self.faults.get(fault.name).is_some_and(|refuted| {
            Some(refuted.harness.as_str()) == fault.harness
                && refuted.change == fault.change()
                && refuted.reaches.contains(fault.file)
                && first_changed(&refuted.reaches, &self.sources, now).is_none()
        })
    }

    /// Forgets what is stale.
    pub fn keep_fitting(&mut self, faults: &[Fault], now: impl Fn(&str) -> Option<String>) {
        let fitting: BTreeSet<&str> = faults
            .iter()
            .filter(|fault| self.fits(fault, &now))
            .map(|fault| fault.name)
            .collect();
        self.faults
            .retain(|name, _| fitting.contains(name.as_str()));
    }

    /// What it says of all faults now, for a person to read.
    pub fn summary(&self) -> String {
        let named = FAULTS.iter().filter(|f| f.harness.is_some());
        let (fitting, other): (Vec<&Fault>, Vec<&Fault>) =
            named.partition(|fault| self.fits(fault, digest));
        format!(
            "deliberate faults under Kani, by the committed record: {} refuted and their sources \
             unchanged, {} stale or not recorded",
            fitting.len(),
            other.len()
        )
    }

    /// Short names of the faults that a harness, named without `proofs::`, refuted.
    pub fn by(&self, harness: &str) -> Vec<&str> {
        let its = self.faults.iter().filter(|(_, f)| f.harness == harness);
        its.map(|(name, _)| name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of one fault, as its run would have left it.
    fn record(fault: &Fault) -> Caught {
        let refuted = Refuted {
            harness: fault.harness.unwrap().to_owned(),
            change: fault.change(),
            reaches: [fault.file, "proofs/kish.rs"].map(str::to_owned).into(),
            ..Refuted::default()
        };
        let digests = refuted
            .reaches
            .iter()
            .map(|s| (s.clone(), digest(s).unwrap()));
        Caught {
            sources: digests.collect(),
            faults: [(fault.name.to_owned(), refuted)].into(),
            ..Caught::default()
        }
    }

    #[test]
    fn a_fault_counts_as_refuted_only_while_nothing_has_changed() {
        let named = FAULTS.iter().filter(|f| f.harness.is_some());
        let [fault, other] = named.take(2).collect::<Vec<_>>()[..] else {
            panic!("two faults name harnesses");
        };
        let record = record(fault);
        assert!(record.fits(fault, digest) && !record.fits(other, digest));
        // A source, the change, and the harness.
        assert!(!record.fits(fault, |s| (s != fault.file).then(|| digest(s))?));
        let changed = |change: fn(&mut Refuted)| {
            let mut record = record.clone();
            change(record.faults.get_mut(fault.name).unwrap());
            record.fits(fault, digest)
        };
        assert!(changed(|_| ()));
        assert!(!changed(|f| f.change = "0".repeat(64)));
        assert!(!changed(|f| f.harness.push('x')));
        assert!(!changed(|f| f.reaches.clear()));
        let mut kept = record.clone();
        kept.keep_fitting(FAULTS, digest);
        assert_eq!(kept, record);
        kept.keep_fitting(FAULTS, |_| None);
        assert!(kept.faults.is_empty());
    }

    #[test]
    fn the_committed_record_is_one_of_our_faults() {
        for (name, refuted) in Caught::read().unwrap().faults {
            let fault = FAULTS.iter().find(|f| f.name == name);
            assert!(fault.is_some(), "no such fault: {name}");
            assert!(
                !refuted.reaches.is_empty() && !refuted.said.is_empty(),
                "{name}"
            );
        }
    }
}
