//! The proof of the proofs: deliberate faults in the library, each of which a harness must catch.
//!
//! Each fault is applied alone to a copy of the package, and the harnesses are run there under
//! `cargo test`; with `KANI=required` the harness that the fault names is run under Kani instead,
//! which must refute it. A fault that no harness catches is a hole in the harnesses, and a harness
//! that catches none is not worth its time.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use crate::cargo_test::{self, Outcomes};
use crate::committed::Committed;
use crate::faults::{FAULTS, Fault};
use crate::kani::{self, Checked, Kani, Verdict};
use crate::reach;
use crate::{output_directory, root};

/// What is not part of the package.
const LEFT_OUT: [&str; 2] = ["target", ".git"];

/// Runs the harnesses with each fault.
///
/// # Errors
/// The package cannot be copied, a fault does not apply exactly once or does not compile, or the
/// harnesses fail without any fault.
pub fn run(under_kani: bool) -> Result<bool, String> {
    let copy = output_directory().join("mutants");
    if copy.exists() {
        fs::remove_dir_all(&copy).map_err(|e| format!("cannot remove {}: {e}", copy.display()))?;
    }
    copy_tree(root(), &copy)?;
    leave_out_unit_tests(&copy.join("src"))?;
    for fault in FAULTS {
        fault.apply(&read(&copy, fault)?)?;
    }
    if under_kani {
        leave_out_lower_rooms(&copy.join("src/lib.rs"))?;
        return run_under_kani(copy);
    }
    // Of its own: cargo takes the copy and the original for one package, and would hand the
    // faulty library to whoever builds next.
    let target = output_directory().join("mutants-target");
    println!("{} faults; first the harnesses without any", FAULTS.len());
    let sound = cargo_test::run(&copy, Some(&target))?;
    if let Some((name, _)) = sound.iter().find(|(_, tested)| !tested.passed) {
        return Err(format!("{name} fails without any fault"));
    }

    let bar = ProgressBar::new(FAULTS.len() as u64);
    let mut rows = Vec::new();
    for fault in FAULTS {
        let path = copy.join(fault.file);
        let original = read(&copy, fault)?;
        let cannot = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
        fs::write(&path, fault.apply(&original)?).map_err(cannot)?;
        let outcomes = cargo_test::outcomes(&copy, Some(&target))
            .map_err(|e| format!("with the fault {:?}: {e}", fault.name))?;
        fs::write(&path, original).map_err(cannot)?;
        let row = (fault, caught_by(&outcomes));
        bar.suspend(|| println!("{}", line(row.0, &row.1)));
        bar.inc(1);
        rows.push(row);
    }
    bar.finish_and_clear();
    let table = table(&rows, &sound);
    let path = output_directory().join("mutants.txt");
    fs::write(&path, &table).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    print!("{table}");
    println!("table: {}", path.display());
    Ok(rows.iter().all(|(_, caught)| !caught.is_empty()))
}

/// Each fault that names a harness must be refuted by it under Kani.
fn run_under_kani(copy: PathBuf) -> Result<bool, String> {
    let version = kani::version()?;
    let kani = Kani {
        package: copy,
        target: output_directory().join("mutants-kani"),
        slow: false,
    };
    let named: Vec<&Fault> = FAULTS.iter().filter(|f| f.harness.is_some()).collect();
    let record = Committed::read()?;
    let batches = batches(&named, |harness| {
        record.harnesses.get(harness).map(|proof| &proof.reaches)
    });
    println!(
        "{} faults in {} runs under {version}",
        named.len(),
        batches.len()
    );
    let mut text = String::new();
    let mut caught = 0;
    for batch in &batches {
        for (fault, checked) in run_batch(&kani, batch)? {
            let line = kani_line(fault, checked.as_ref());
            caught += usize::from(checked.is_some_and(|c| is_refuted(&c.verdict)));
            println!("{line}");
            text.push_str(&line);
            text.push('\n');
        }
    }
    let total = format!("{caught} of {} faults refuted by Kani\n", named.len());
    text.push_str(&total);
    let path = output_directory().join("mutants-kani.txt");
    fs::write(&path, &text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    print!("{total}");
    println!("table: {}", path.display());
    Ok(caught == named.len())
}

/// Faults that can be in the library at the same time: none lies in a file that the harness of
/// another reaches, by the committed record. Most of the time goes into compiling.
fn batches<'a, 'r>(
    faults: &[&'a Fault],
    reach: impl Fn(&str) -> Option<&'r BTreeSet<String>>,
) -> Vec<Vec<&'a Fault>> {
    let apart = |a: &Fault, b: &Fault| match reach(&a.full_name()) {
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

/// What Kani says of the harness of each fault, with all faults of the batch in the library.
fn run_batch<'a>(
    kani: &Kani,
    batch: &[&'a Fault],
) -> Result<Vec<(&'a Fault, Option<Checked>)>, String> {
    let harnesses: Vec<String> = batch.iter().map(|fault| fault.full_name()).collect();
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
    let mut verdicts = kani::parse(&output?);
    // What a fault makes a harness reach is not in the record.
    let reach = reach::of(&kani.target, &harnesses)?;
    for fault in batch {
        let reached = &reach[&fault.full_name()];
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
    }
    let of = |fault: &&'a Fault| (*fault, verdicts.remove(&fault.full_name()));
    Ok(batch.iter().map(of).collect())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// A refutation, or a harness that has become vacuous; running out of time is neither.
fn is_refuted(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Failed(_) | Verdict::Uncovered)
}

fn kani_line(fault: &Fault, checked: Option<&Checked>) -> String {
    let said = match checked.map(|c| &c.verdict) {
        Some(Verdict::Failed(what)) => format!("refuted: {what}"),
        Some(Verdict::Uncovered) => "refuted: a cover is out of reach".to_owned(),
        Some(Verdict::Proved) => "SURVIVES".to_owned(),
        other => format!("NOT SETTLED: {other:?}"),
    };
    let harness = fault.harness.unwrap_or_default();
    let seconds = checked.and_then(|c| c.seconds).unwrap_or_default();
    format!("{:40} {harness:72} {seconds:6.1} s  {said}", fault.name)
}

fn read(copy: &Path, fault: &Fault) -> Result<String, String> {
    read_text(&copy.join(fault.file))
}

fn read_text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

impl Fault {
    /// The full path of the harness that must refute it under Kani.
    fn full_name(&self) -> String {
        format!("proofs::{}", self.harness.unwrap_or_default())
    }

    /// The file's text with the fault in it.
    pub fn apply(&self, text: &str) -> Result<String, String> {
        match text.matches(self.find).count() {
            1 => Ok(text.replacen(self.find, self.replace, 1)),
            n => Err(format!(
                "the fault {:?} applies {n} times to {}, not once: {:?}",
                self.name, self.file, self.find
            )),
        }
    }
}

/// Short names of the harnesses that fail.
fn caught_by(outcomes: &Outcomes) -> Vec<String> {
    outcomes
        .iter()
        .filter(|(_, tested)| !tested.passed)
        .map(|(name, _)| name.trim_start_matches("proofs::").to_owned())
        .collect()
}

fn line(fault: &Fault, caught: &[String]) -> String {
    let who = match caught {
        [] => "SURVIVES".to_owned(),
        [one] => one.clone(),
        [one, rest @ ..] => format!("{one} and {} more", rest.len()),
    };
    format!("{:44} {:3}  {who}", fault.name, caught.len())
}

/// One row a fault, one column a harness that catches any.
fn table(rows: &[(&Fault, Vec<String>)], sound: &Outcomes) -> String {
    let mut columns: Vec<&String> = rows.iter().flat_map(|(_, caught)| caught).collect();
    columns.sort();
    columns.dedup();
    let mut text = String::from("\nfault × harness (x: caught)\n\n");
    for (i, name) in columns.iter().enumerate() {
        text.push_str(&format!("{:4}  {name}\n", i + 1));
    }
    text.push_str(&format!("\n{:44}", ""));
    for i in 0..columns.len() {
        text.push_str(&format!("{:3}", i + 1));
    }
    text.push('\n');
    for (fault, caught) in rows {
        text.push_str(&format!("{:44}", fault.name));
        for name in &columns {
            text.push_str(if caught.contains(name) { "  x" } else { "  ." });
        }
        text.push_str(if caught.is_empty() {
            "  SURVIVES\n"
        } else {
            "\n"
        });
    }
    let caught = rows.iter().filter(|(_, caught)| !caught.is_empty()).count();
    text.push_str(&format!(
        "\n{caught} of {} faults caught, by {} of {} tests\n",
        rows.len(),
        columns.len(),
        sound.len()
    ));
    text
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), String> {
    let cannot = |e: std::io::Error| format!("cannot copy {}: {e}", from.display());
    fs::create_dir_all(to).map_err(cannot)?;
    for entry in fs::read_dir(from).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let name = entry.file_name();
        let (source, copy) = (entry.path(), to.join(&name));
        if entry.file_type().map_err(cannot)?.is_dir() {
            if !LEFT_OUT.iter().any(|left_out| name == *left_out) {
                copy_tree(&source, &copy)?;
            }
        } else if name != ".git" {
            fs::copy(&source, &copy).map_err(cannot)?;
        }
    }
    Ok(())
}

/// Takes the unit tests out of the library in `directory`: only the harnesses are wanted, and the
/// rest would be compiled again for each fault.
fn leave_out_unit_tests(directory: &Path) -> Result<(), String> {
    let cannot = |e: std::io::Error| format!("cannot change {}: {e}", directory.display());
    for entry in fs::read_dir(directory).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.is_dir() {
            leave_out_unit_tests(&path)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).map_err(cannot)?;
            fs::write(&path, text.replace("#[cfg(test)]", "#[cfg(any())]")).map_err(cannot)?;
        }
    }
    Ok(())
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
fn leave_out_lower_rooms(library: &Path) -> Result<(), String> {
    let mut text = read_text(library)?;
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
    use std::collections::BTreeMap;

    use super::*;
    use crate::harnesses::{self, Engine};

    #[test]
    fn every_fault_applies_exactly_once_to_the_sources_as_they_are() {
        assert!(FAULTS.len() >= 25, "{} faults", FAULTS.len());
        for fault in FAULTS {
            let text = read(root(), fault).unwrap();
            let changed = fault.apply(&text).unwrap();
            assert_ne!(changed, text, "{}", fault.name);
        }
    }

    #[test]
    fn a_fault_that_does_not_apply_once_is_an_error() {
        let fault = Fault {
            name: "x",
            file: "src/lib.rs",
            find: "a",
            replace: "b",
            harness: None,
        };
        assert!(fault.apply("c").unwrap_err().contains("0 times"));
        assert!(fault.apply("aa").unwrap_err().contains("2 times"));
        assert_eq!(fault.apply("ac").unwrap(), "bc");
    }

    /// Every harness for Kani must be worth its time: some fault names it, or it is listed here with
    /// the reason.
    #[test]
    fn faults_name_harnesses_for_kani() {
        let listed = harnesses::read(&root().join("proofs")).unwrap();
        let for_kani = |h: &&harnesses::Harness| h.engine == Engine::Kani;
        let names: Vec<&str> = listed
            .iter()
            .filter(for_kani)
            .map(|h| h.name.trim_start_matches("proofs::"))
            .collect();
        let named: Vec<&str> = FAULTS.iter().filter_map(|f| f.harness).collect();
        assert!(named.len() >= 25, "{} faults for Kani", named.len());
        for name in &named {
            assert!(names.contains(name), "no harness for Kani: {name}");
        }
        for name in names {
            assert!(named.contains(&name), "no fault breaks {name}");
        }
    }

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
        assert!(is_refuted(&Verdict::Failed("x".into())) && is_refuted(&Verdict::Uncovered));
        for verdict in [
            Verdict::Proved,
            Verdict::Timeout,
            Verdict::Broken,
            Verdict::Missing,
            Verdict::Error("x".into()),
        ] {
            assert!(!is_refuted(&verdict));
        }
    }

    #[test]
    fn a_surviving_fault_is_shown() {
        let rows = [
            (&FAULTS[0], vec![]),
            (&FAULTS[1], vec!["kish::one".to_owned()]),
        ];
        let text = table(&rows, &Outcomes::new());
        assert!(text.contains("SURVIVES") && text.contains("1 of 2 faults caught"));
    }
}
