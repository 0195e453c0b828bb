//! The proof of the proofs: deliberate faults in the library, each of which a harness must catch.
//!
//! Each fault is applied alone to a copy of the package, and the harnesses are run there under
//! `cargo test`; with `KANI=required` the harness that the fault names is run under Kani instead,
//! which must refute it. A fault that no harness catches is a hole in the harnesses, and a harness
//! that catches none is not worth its time.

mod refute;

use std::fs;
use std::path::Path;

use indicatif::ProgressBar;

use crate::cargo_test::{self, Outcomes};
use crate::faults::{FAULTS, Fault};
use crate::reach;
use crate::{output_directory, root};

/// What is not part of the package.
const LEFT_OUT: [&str; 2] = ["target", ".git"];

/// Runs the harnesses with each fault; with `under_kani` those that the faults name, and with `stale`
/// only for faults of which the committed record does not speak.
///
/// # Errors
/// The package cannot be copied, a fault does not apply exactly once or does not compile, or the
/// harnesses fail without any fault.
pub fn run(under_kani: bool, stale: bool) -> Result<bool, String> {
    let copy = output_directory().join("mutants");
    if copy.exists() {
        fs::remove_dir_all(&copy).map_err(|e| format!("cannot remove {}: {e}", copy.display()))?;
    }
    let sources = reach::snapshot()?;
    copy_tree(root(), &copy)?;
    if reach::snapshot()? != sources {
        return Err("a source changed while it was copied".into());
    }
    leave_out_unit_tests(&copy.join("src"))?;
    for fault in FAULTS {
        fault.apply(&read(&copy, fault)?)?;
    }
    if under_kani {
        refute::leave_out_lower_rooms(&copy.join("src/lib.rs"))?;
        return refute::run(copy, &sources, stale);
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

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

fn read(copy: &Path, fault: &Fault) -> Result<String, String> {
    read_text(&copy.join(fault.file))
}

fn read_text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

impl Fault {
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

#[cfg(test)]
mod tests {
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
    fn a_surviving_fault_is_shown() {
        let rows = [
            (&FAULTS[0], vec![]),
            (&FAULTS[1], vec!["kish::one".to_owned()]),
        ];
        let text = table(&rows, &Outcomes::new());
        assert!(text.contains("SURVIVES") && text.contains("1 of 2 faults caught"));
    }
}
