//! The list of harnesses, read off their sources: what stands above a harness is written nowhere
//! else.

use std::fs;
use std::path::Path;

/// What Kani is asked to do with a harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Proved in every run.
    Kani,
    /// Proved with `cfg(kani_slow)` only.
    KaniSlow,
    /// Enumerated or drawn by `cargo test` only.
    TestOnly,
}

/// One harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harness {
    /// Full path, for instance `proofs::kish::effective_count_of_2_lies_between_one_and_two`.
    pub name: String,
    /// File, relative to the root of the package.
    pub file: String,
    /// Line of the function.
    pub line: usize,
    /// What is stated.
    pub statement: String,
    /// The claims of the ledger that it serves.
    pub claims: Vec<String>,
    /// The values it quantifies over.
    pub domain: String,
    /// Why it is slow, or not for Kani.
    pub reason: Option<String>,
    /// What Kani is asked to do.
    pub engine: Engine,
    /// The solver it names.
    pub solver: Option<String>,
    /// The bound on unwinding that it names.
    pub unwind: Option<u32>,
    /// Whether it states that something fails: a refutation.
    pub refutation: bool,
}

/// All harnesses in the files of `directory`, in order of file and line.
///
/// # Errors
/// A file cannot be read, or something is missing above a harness; the message says what.
pub fn read(directory: &Path) -> Result<Vec<Harness>, String> {
    let cannot = |e: std::io::Error| format!("cannot read {}: {e}", directory.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    let mut all = Vec::new();
    for path in files {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        // The engine's own tests are no harnesses.
        if stem.starts_with("engine") || stem == "mod" {
            continue;
        }
        let text = fs::read_to_string(&path)
            .map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        all.extend(parse(&stem, &text)?);
    }
    Ok(all)
}

/// The harnesses of one file. Each is a function with `cfg_attr(not(kani), test)` above it.
pub fn parse(stem: &str, text: &str) -> Result<Vec<Harness>, String> {
    let mut all = Vec::new();
    let mut doc: Vec<&str> = Vec::new();
    let mut attributes = String::new();
    // Inside an attribute that goes over several lines.
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if open {
            attributes.push_str(trimmed);
            open = trimmed != ")]";
        } else if let Some(comment) = trimmed.strip_prefix("///") {
            doc.push(comment.trim());
        } else if trimmed.starts_with("#[") {
            attributes.push_str(trimmed);
            open = !trimmed.ends_with(']');
        } else {
            if attributes.contains("cfg_attr(not(kani), test") {
                let function = trimmed
                    .strip_prefix("fn ")
                    .and_then(|rest| rest.split_once('('))
                    .ok_or_else(|| format!("{stem}.rs:{}: no function here", index + 1))?;
                all.push(harness(stem, index + 1, function.0, &doc, &attributes)?);
            }
            doc.clear();
            attributes.clear();
        }
    }
    Ok(all)
}

fn harness(
    stem: &str,
    line: usize,
    function: &str,
    doc: &[&str],
    attributes: &str,
) -> Result<Harness, String> {
    let field = |name: &str| doc.iter().find_map(|line| line.strip_prefix(name));
    let needed = |name: &str| {
        field(name)
            .map(str::trim)
            .filter(|value| !value.is_empty())
            .ok_or_else(|| format!("proofs/{stem}.rs:{line}: {function} has no `{name}` line"))
    };
    let statement = doc
        .iter()
        .take_while(|line| !line.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(" ");
    if statement.is_empty() {
        return Err(format!(
            "proofs/{stem}.rs:{line}: {function} has no statement"
        ));
    }
    let (slow, test_only) = (field("Slow:"), field("Enumerated only:"));
    let engine = if !attributes.contains("kani::proof") {
        Engine::TestOnly
    } else if attributes.contains("all(kani, kani_slow)") {
        Engine::KaniSlow
    } else {
        Engine::Kani
    };
    let reason = match engine {
        Engine::Kani => None,
        Engine::KaniSlow => Some(slow.map_or_else(|| needed("Slow:"), Ok)?),
        Engine::TestOnly => Some(test_only.map_or_else(|| needed("Enumerated only:"), Ok)?),
    };
    let argument = |name: &str| {
        let rest = attributes.split_once(name)?.1;
        Some(rest.split_once(')')?.0.to_owned())
    };
    let solver = argument("kani::solver(");
    let unwind = argument("kani::unwind(").and_then(|n| n.parse().ok());
    if engine != Engine::TestOnly && (solver.is_none() || unwind.is_none()) {
        return Err(format!(
            "proofs/{stem}.rs:{line}: {function} must name its solver and its unwinding"
        ));
    }
    Ok(Harness {
        name: format!("proofs::{stem}::{function}"),
        file: format!("proofs/{stem}.rs"),
        line,
        statement,
        claims: needed("Claims:")?
            .split(',')
            .map(|claim| claim.trim().to_owned())
            // What guards the program and is about no claim.
            .filter(|claim| claim != "none")
            .collect(),
        domain: needed("Domain:")?.to_owned(),
        reason: reason.map(|r| r.trim().to_owned()),
        engine,
        solver,
        unwind,
        refutation: attributes.contains("should_panic"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"
/// Not a harness.
fn plain() {}

#[path = "../other.rs"]
mod other;

/// One holds,
/// always.
///
/// Claims: L3, T1
/// Domain: any bits
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(
    kani,
    kani::stub(crate::a, crate::b)
)]
#[cfg_attr(not(kani), test)]
fn one() {

/// Two fails.
///
/// Claims: T1
/// Domain: 3 weights
/// Enumerated only: because
#[cfg_attr(not(kani), test, should_panic(expected = "x"))]
fn two() {
"#;

    #[test]
    fn everything_above_a_harness_is_read() {
        let all = parse("kish", TWO).unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].name, "proofs::kish::one");
        assert_eq!(all[0].statement, "One holds, always.");
        assert_eq!(all[0].claims, ["L3", "T1"]);
        assert_eq!(all[0].domain, "any bits");
        assert_eq!(all[0].engine, Engine::Kani);
        assert_eq!(
            (all[0].solver.as_deref(), all[0].unwind),
            (Some("cadical"), Some(5))
        );
        assert!(!all[0].refutation);
        assert_eq!(all[1].engine, Engine::TestOnly);
        assert_eq!(all[1].reason.as_deref(), Some("because"));
        assert!(all[1].refutation);
    }

    #[test]
    fn what_is_missing_is_named() {
        for (cut, message) in [
            ("/// Claims: T1\n", "has no `Claims:` line"),
            ("/// Domain: any bits\n", "has no `Domain:` line"),
            (
                "/// Enumerated only: because\n",
                "has no `Enumerated only:` line",
            ),
            ("/// Two fails.\n", "has no statement"),
            (", kani::solver(cadical)", "must name its solver"),
        ] {
            assert_eq!(TWO.matches(cut).count(), 1);
            let error = parse("kish", &TWO.replace(cut, "")).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn our_own_harnesses_are_complete() {
        let all = read(&crate::root().join("proofs")).unwrap();
        assert!(all.len() >= 30, "{} harnesses", all.len());
        let mut names: Vec<&str> = all.iter().map(|h| h.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().any(|h| h.refutation));
    }
}
