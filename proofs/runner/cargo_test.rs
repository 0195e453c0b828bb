//! The harnesses under `cargo test`, and what its output says of each.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What became of one harness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tested {
    /// Whether it passed.
    pub passed: bool,
    /// `all` or `random`, and how many cases.
    pub cases: Option<(String, u64)>,
    /// How many cases the assumptions left.
    pub kept: Option<u64>,
    /// Covers reached, and how many there are.
    pub covers: Option<(u64, u64)>,
    /// The case that failed, or that refutes.
    pub witness: Option<String>,
}

/// Outcome for each test name.
pub type Outcomes = BTreeMap<String, Tested>;

/// Runs the harnesses of the package in `package` and says which failed.
///
/// # Errors
/// As [`outcomes`].
pub fn run(package: &Path, target: Option<&Path>) -> Result<Outcomes, String> {
    let outcomes = outcomes(package, target)?;
    for (name, tested) in outcomes.iter().filter(|(_, t)| !t.passed) {
        let witness = tested.witness.as_deref().unwrap_or("no witness");
        println!("FAILED under cargo test: {name}: {witness}");
    }
    Ok(outcomes)
}

/// Runs the harnesses of the package in `package`, compiled as this runner is; with `target`, in that
/// target directory, and as fast to compile as can be.
///
/// # Errors
/// The tests do not compile, or cargo cannot be run.
pub fn outcomes(package: &Path, target: Option<&Path>) -> Result<Outcomes, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(package)
        .args(["test", "--lib"])
        .env("RUST_BACKTRACE", "0");
    if target.is_none() && !cfg!(debug_assertions) {
        command.arg("--release");
    }
    command.args(["proofs::", "--", "--show-output"]);
    if let Some(target) = target {
        // A copy that is compiled once for each fault needs no line numbers.
        command
            .env("CARGO_TARGET_DIR", target)
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
    }
    let output = command
        .output()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !text.contains("test result:") {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the harnesses do not compile or run:\n{error}"));
    }
    Ok(parse(&text))
}

/// Reads the output of `cargo test -- --show-output`.
pub fn parse(text: &str) -> Outcomes {
    let mut outcomes = Outcomes::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        if let Some((name, outcome)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.rsplit_once(" ... "))
        {
            let name = name.trim_end_matches(" - should panic").to_owned();
            outcomes.entry(name).or_default().passed = outcome == "ok";
        } else if let Some(name) = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            current = Some(name.to_owned());
        } else if let Some(tested) = current.as_ref().and_then(|name| outcomes.get_mut(name)) {
            if let Some(cases) = line.strip_prefix("cases: ") {
                read_cases(cases, tested);
            } else if let Some(witness) = line.strip_prefix("witness: ") {
                tested.witness = Some(witness.to_owned());
            }
        }
    }
    outcomes
}

/// `all 65536, kept 65535, covers 1 of 2`.
fn read_cases(line: &str, tested: &mut Tested) {
    for part in line.split(", ") {
        let words: Vec<&str> = part.split(' ').collect();
        let number = |i: usize| words.get(i).and_then(|w| w.parse::<u64>().ok());
        match (words[0], number(1)) {
            (how @ ("all" | "random"), Some(n)) => tested.cases = Some((how.to_owned(), n)),
            ("kept", n) => tested.kept = n,
            ("covers", Some(n)) => tested.covers = number(3).map(|of| (n, of)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_failed_and_refuting_tests_are_told_apart() {
        let outcomes = parse(include_str!("../../tests/fixtures/kani/cargo_test.txt"));
        assert_eq!(outcomes.len(), 3);
        let passed = &outcomes["proofs::kish::between"];
        assert!(passed.passed);
        assert_eq!(passed.cases, Some(("all".into(), 65536)));
        assert_eq!((passed.kept, passed.covers), (Some(65535), Some((2, 2))));
        let refuting = &outcomes["proofs::kish::below_two"];
        assert!(refuting.passed && refuting.cases.is_none());
        assert!(refuting.witness.as_ref().unwrap().starts_with("case 1046"));
        let failed = &outcomes["proofs::spn_validity::children"];
        assert!(!failed.passed);
        assert!(failed.witness.as_ref().unwrap().starts_with("case 9"));
    }
}
