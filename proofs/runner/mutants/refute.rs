//! Faults under Kani: each must be refuted by the harness that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{read, write};
use crate::caught::{Caught, Refuted};
use crate::committed::Committed;
use crate::faults::{FAULTS, Fault};
use crate::kani::{self, Checked, Kani, Verdict};
use crate::{output_directory, reach, table};

/// Runs each fault that names a harness, or with `stale` those alone of which the committed record
/// does not speak, or no longer. What is refuted is written to the record after each build, so that
/// an interrupted run can be gone on with.
///
/// # Errors
/// Kani is not there, a fault cannot be applied, or a source changed since the copy was made.
pub fn run(
    copy: PathBuf,
    sources: &BTreeMap<String, Option<String>>,
    stale: bool,
) -> Result<bool, String> {
    let version = kani::version()?;
    let today = crate::record::output("date", &["-u", "+%F"]).ok_or("what day is it?")?;
    let now = |source: &str| match sources.get(source) {
        Some(digest) => digest.clone(),
        None => reach::digest(source),
    };
    let mut record = Caught::default();
    if stale {
        record = Caught::read()?;
        record.keep_fitting(FAULTS, now);
    }
    let named: Vec<&Fault> = FAULTS.iter().filter(|f| f.harness.is_some()).collect();
    let asked: Vec<&Fault> = named
        .iter()
        .copied()
        .filter(|f| !record.fits(f, now))
        .collect();
    let proofs = Committed::read()?;
    let batches = batches(&asked, |harness| {
        proofs.harnesses.get(harness).map(|proof| &proof.reaches)
    });
    println!(
        "{} faults in {} builds under {version}",
        asked.len(),
        batches.len()
    );
    let kani = Kani {
        package: copy,
        target: output_directory().join("mutants-kani"),
        slow: false,
    };
    for batch in &batches {
        let mut versions = BTreeMap::from([("kani".to_owned(), version.clone())]);
        for (fault, checked, reaches) in run_batch(&kani, batch, &mut versions)? {
            println!("{}", line(fault, &checked));
            let Some(said) = refutation(&checked.verdict) else {
                continue;
            };
            for source in &reaches {
                let digest = now(source).ok_or_else(|| format!("there is no {source}"))?;
                record.sources.insert(source.clone(), digest);
            }
            let refuted = Refuted {
                date: today.clone(),
                harness: fault.harness.unwrap_or_default().to_owned(),
                said,
                seconds: checked.seconds,
                change: fault.change(),
                reaches,
            };
            record.faults.insert(fault.name.to_owned(), refuted);
        }
        if !record.versions.is_empty() && record.versions != versions {
            return Err("the record is of other tools: run all faults again".into());
        }
        record.versions = versions;
        record.write()?;
    }
    table::update()?;
    let caught = named.iter().filter(|f| record.fits(f, now)).count();
    println!(
        "{caught} of {} faults refuted by Kani; record: proofs/faults.json",
        named.len()
    );
    Ok(caught == named.len())
}

/// Faults that can be in the library at the same time: none lies in a file that the harness of
/// another reaches, by the committed record, and no two name one harness. Most of the time goes into
/// compiling.
fn batches<'a, 'r>(
    faults: &[&'a Fault],
    reach: impl Fn(&str) -> Option<&'r BTreeSet<String>>,
) -> Vec<Vec<&'a Fault>> {
    let apart = |a: &Fault, b: &Fault| match reach(&full_name(a)) {
        Some(reached) => !reached.contains(b.file),
        None => false,
    };
    let mut batches: Vec<Vec<&Fault>> = Vec::new();
    for &fault in faults {
        let fits = |batch: &&mut Vec<&Fault>| {
            let mut others = batch.iter();
            others.all(|other| apart(fault, other) && apart(other, fault))
        };
        match batches.iter_mut().find(fits) {
            Some(batch) => batch.push(fault),
            None => batches.push(vec![fault]),
        }
    }
    batches
}

/// The full path of the harness that must refute a fault under Kani.
fn full_name(fault: &Fault) -> String {
    format!("proofs::{}", fault.harness.unwrap_or_default())
}

/// A fault, what Kani says of its harness, and what the harness reaches.
type Said<'a> = (&'a Fault, Checked, BTreeSet<String>);

/// What Kani says of the harness of each fault, with all faults of the batch in the library, and what
/// the harness reaches. The versions that the output names are added to the given ones.
fn run_batch<'a>(
    kani: &Kani,
    batch: &[&'a Fault],
    versions: &mut BTreeMap<String, String>,
) -> Result<Vec<Said<'a>>, String> {
    let harnesses: Vec<String> = batch.iter().map(|fault| full_name(fault)).collect();
    let mut originals = Vec::new();
    for fault in batch {
        let path = kani.package.join(fault.file);
        let original = read(&kani.package, fault)?;
        write(&path, &fault.apply(&original)?)?;
        originals.push((path, original));
    }
    let log = output_directory().join("mutants-kani.log");
    let output = kani.verify(&harnesses, kani::TIMEOUT, &log);
    for (path, original) in &originals {
        write(path, original)?;
    }
    let output = output?;
    kani::add_versions(versions, &output);
    let mut verdicts = kani::judge(&harnesses, &output);
    // What a fault makes a harness reach is not in the record.
    let mut reach = reach::of(&kani.target, &harnesses)?;
    let mut results = Vec::new();
    for &fault in batch {
        let name = full_name(fault);
        let reached = reach.remove(&name).unwrap_or_default();
        let checked = verdicts.remove(&name);
        let other = batch
            .iter()
            .find(|o| o.name != fault.name && reached.contains(o.file));
        if let Some(other) = other {
            return Err(format!(
                "{:?} makes its harness reach the file of {:?}; the record of reaches is not of \
                 this source",
                fault.name, other.name
            ));
        }
        results.extend(checked.map(|checked| (fault, checked, reached)));
    }
    Ok(results)
}

/// What refutes: a check that fails, or a harness that has become vacuous; running out of time is
/// neither.
fn refutation(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Failed(what) => Some(what.clone()),
        Verdict::Uncovered => Some("a cover is out of reach".to_owned()),
        _ => None,
    }
}

fn line(fault: &Fault, checked: &Checked) -> String {
    let said = match (refutation(&checked.verdict), &checked.verdict) {
        (Some(what), _) => format!("refuted: {what}"),
        (None, Verdict::Proved) => "SURVIVES".to_owned(),
        (None, other) => format!("NOT SETTLED: {other:?}"),
    };
    let harness = fault.harness.unwrap_or_default();
    let seconds = checked.seconds.unwrap_or_default();
    format!("{:40} {harness:72} {seconds:6.1} s  {said}", fault.name)
}

/// The rooms that harnesses for Kani are about, and those that these need.
const REACHED: [&str; 9] = [
    "bounds",
    "calibration",
    "latent",
    "learn",
    "log",
    "math",
    "simplex",
    "spn",
    "uncertainty",
];

/// Makes the library one of these rooms alone, and the grid of the audit: all else would be compiled
/// again for each run. A harness that needs more does not compile.
pub fn leave_out_lower_rooms(library: &Path) -> Result<(), String> {
    let mut text = super::read_text(library)?;
    let begin = text.find("pub mod ").ok_or("the library has no rooms")?;
    let end = text
        .find("#[cfg(any(test, kani))]")
        .ok_or("the library has no harnesses")?;
    let mut rooms: String = REACHED.map(|room| format!("pub mod {room};\n")).concat();
    rooms.push_str("pub mod audit {\n    pub mod grid;\n}\n\n");
    text.replace_range(begin..end, &rooms);
    write(library, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_share_a_run_only_where_neither_harness_reaches_the_other() {
        let fault = |name, file, harness| Fault {
            name,
            file,
            find: "a",
            replace: "b",
            harness: Some(harness),
        };
        let faults = [
            fault("one", "src/a.rs", "x"),
            fault("same file", "src/a.rs", "y"),
            fault("elsewhere", "src/b.rs", "z"),
            fault("not recorded", "src/c.rs", "w"),
        ];
        let reached = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect();
        let reach: BTreeMap<&str, BTreeSet<String>> = BTreeMap::from([
            ("proofs::x", reached(&["src/a.rs"])),
            ("proofs::y", reached(&["src/a.rs", "src/b.rs"])),
            ("proofs::z", reached(&["src/b.rs"])),
        ]);
        let faults: Vec<&Fault> = faults.iter().collect();
        let batches = batches(&faults, |harness| reach.get(harness));
        let names: Vec<Vec<&str>> = batches
            .iter()
            .map(|batch| batch.iter().map(|fault| fault.name).collect())
            .collect();
        assert_eq!(
            names,
            [
                vec!["one", "elsewhere"],
                vec!["same file"],
                vec!["not recorded"]
            ]
        );
    }

    #[test]
    fn only_a_refutation_counts_as_caught() {
        assert_eq!(
            refutation(&Verdict::Failed("x".into())).as_deref(),
            Some("x")
        );
        assert!(refutation(&Verdict::Uncovered).is_some());
        for verdict in [
            Verdict::Proved,
            Verdict::Timeout,
            Verdict::Broken,
            Verdict::Missing,
            Verdict::Error("x".into()),
        ] {
            assert!(refutation(&verdict).is_none());
        }
    }
}
