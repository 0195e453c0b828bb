//! The sources that a harness reaches, read off the program that Kani made of it, and their
//! digests: what Kani said of a harness holds as long as they are the same.
//!
//! Kani compiles a harness with the functions it can call and nothing else, and the program
//! names the file of each. Files that it names without calling them only make the list longer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::root;

/// For each harness the sources it reaches: files of the package, and crates as `name version`.
pub type Reach = BTreeMap<String, BTreeSet<String>>;

/// What each of the harnesses reaches, from the programs in Kani's target directory.
///
/// # Errors
/// A program is missing or cannot be read.
pub fn of(target: &Path, harnesses: &[String]) -> Result<Reach, String> {
    let mut programs = BTreeMap::new();
    collect_programs(target, &mut programs)?;
    let own = own_sources()?;
    harnesses
        .iter()
        .map(|name| {
            let path = programs
                .get(name)
                .ok_or_else(|| format!("Kani left no program of {name}"))?;
            let program =
                fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
            Ok((name.clone(), named_in(&program, &own)))
        })
        .collect()
}

/// The newest program of each harness, from the metadata files below `directory`.
fn collect_programs(
    directory: &Path,
    programs: &mut BTreeMap<String, PathBuf>,
) -> Result<(), String> {
    let cannot = |e: std::io::Error| format!("cannot read {}: {e}", directory.display());
    for entry in fs::read_dir(directory).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.is_dir() {
            collect_programs(&path, programs)?;
            continue;
        }
        let is_metadata = path.to_string_lossy().ends_with(".kani-metadata.json");
        if !is_metadata {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(cannot)?;
        let value: Value = serde_json::from_str(&text)
            .map_err(|e| format!("{} is not JSON: {e}", path.display()))?;
        for harness in value["proof_harnesses"].as_array().into_iter().flatten() {
            let name = harness["pretty_name"].as_str();
            let Some((name, program)) = name.zip(harness["goto_file"].as_str()) else {
                continue;
            };
            let written = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
            let program = PathBuf::from(program);
            let slot = programs.entry(name.to_owned()).or_insert(program.clone());
            if written(&program) > written(slot) {
                *slot = program;
            }
        }
    }
    Ok(())
}

/// The digests of all sources that a program can be made of: what must not change while Kani runs.
///
/// # Errors
/// A directory cannot be read.
pub fn snapshot() -> Result<BTreeMap<String, Option<String>>, String> {
    let own = own_sources()?;
    let with_digest = |name: String| {
        let digest = digest(&name);
        (name, digest)
    };
    Ok(own.into_iter().map(with_digest).collect())
}

/// The package's own sources that a program can be made of.
fn own_sources() -> Result<BTreeSet<String>, String> {
    let mut own = BTreeSet::new();
    for directory in ["src", "proofs"] {
        collect_sources(&root().join(directory), &mut own)?;
    }
    Ok(own)
}

fn collect_sources(directory: &Path, own: &mut BTreeSet<String>) -> Result<(), String> {
    let cannot = |e: std::io::Error| format!("cannot read {}: {e}", directory.display());
    for entry in fs::read_dir(directory).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.is_dir() {
            collect_sources(&path, own)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            let relative = path.strip_prefix(root()).unwrap_or(&path);
            own.insert(relative.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

/// The sources whose names stand in a program.
fn named_in(program: &[u8], own: &BTreeSet<String>) -> BTreeSet<String> {
    let in_a_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./+-".contains(byte);
    let mut named = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for end in ends_of_names(program) {
        let begin = program[..end]
            .iter()
            .rposition(|byte| !in_a_path(byte))
            .map_or(0, |i| i + 1);
        let path = &program[begin..end];
        if !seen.insert(path) {
            continue;
        }
        let path = String::from_utf8_lossy(path);
        if let Some((_, rest)) = path.split_once("/registry/src/") {
            named.extend(rest.split('/').nth(1).and_then(as_crate));
        } else if !path.contains("/rustlib/") {
            // A byte before the name can look like a part of it.
            named.extend(
                own.iter()
                    .filter(|own| path.ends_with(own.as_str()))
                    .cloned(),
            );
        }
    }
    named
}

/// The ends of everything that ends in `.rs`.
fn ends_of_names(program: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let ends = program.windows(3).enumerate();
    ends.filter(|(_, w)| *w == b".rs").map(|(i, _)| i + 3)
}

/// `libm-0.2.15` as `libm 0.2.15`.
fn as_crate(folder: &str) -> Option<String> {
    let (name, version) = folder.rsplit_once('-')?;
    version
        .starts_with(|c: char| c.is_ascii_digit())
        .then(|| format!("{name} {version}"))
}

/// The digest of a source as it is now: of a file without its tests, or the checksum of a crate in
/// `Cargo.lock`. `None` where there is no such source.
pub fn digest(source: &str) -> Option<String> {
    if let Some((name, version)) = source.split_once(' ') {
        let lock = fs::read_to_string(root().join("Cargo.lock")).ok()?;
        let package = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        let rest = lock.split_once(&package)?.1;
        let checksum = rest
            .split("[[package]]")
            .next()?
            .split_once("checksum = \"")?;
        return Some(checksum.1.split('"').next()?.to_owned());
    }
    let text = fs::read_to_string(root().join(source)).ok()?;
    if source == "src/lib.rs" {
        return Some(digest_of(&attributes(&text)));
    }
    Some(digest_of(&text))
}

/// The attributes of a file. Every program names the library's root, which holds modules and no code:
/// what can change a harness there is what a module is made of.
fn attributes(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| line.starts_with("#[") || line.starts_with("#!["));
    lines.collect::<Vec<_>>().join("\n")
}

/// The first of the sources whose digest is not the recorded one.
pub fn first_changed<'a>(
    reaches: &'a BTreeSet<String>,
    recorded: &BTreeMap<String, String>,
    now: impl Fn(&str) -> Option<String>,
) -> Option<&'a String> {
    let changed = |source: &&String| now(source).as_ref() != recorded.get(*source);
    reaches.iter().find(changed)
}

/// The digest of a text without its tests.
pub fn digest_of(text: &str) -> String {
    let tests = text.find("\n#[cfg(test)]\nmod tests");
    let digest = Sha256::digest(&text[..tests.unwrap_or(text.len())]);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_off_a_program() {
        let own: BTreeSet<String> = ["src/math/scalar.rs", "src/math/dense.rs", "proofs/kish.rs"]
            .map(str::to_owned)
            .into();
        let program = b"\x00\x7fGBF7src/math/scalar.rs\x00/home/me/.cargo/registry/src/\
            index.crates.io-1949cf8c6b5b557f/libm-0.2.15/src/math/exp.rs\x00src/../proofs/kish.rs\
            \x00/x/lib/rustlib/src/rust/library/core/src/math/dense.rs\x00";
        let named: Vec<String> = named_in(program, &own).into_iter().collect();
        assert_eq!(
            named,
            ["libm 0.2.15", "proofs/kish.rs", "src/math/scalar.rs"]
        );
    }

    #[test]
    fn a_change_shows_in_the_digest_unless_it_is_one_of_tests() {
        let text = "fn one() -> u8 {\n    1\n}\n\n#[cfg(test)]\nmod tests {}\n";
        let other_tests = text.replace("{}", "{ }");
        assert_eq!(digest_of(text), digest_of(&other_tests));
        assert_ne!(digest_of(text), digest_of(&text.replace("1\n", "2\n")));
        let library = "//! Rooms.\n#[path = \"a.rs\"]\nmod a;\nmod b;\n";
        assert_eq!(
            attributes(library),
            attributes(&library.replace("mod b;\n", ""))
        );
        assert_ne!(
            attributes(library),
            attributes(&library.replace("a.rs", "c.rs"))
        );
        assert!(digest("src/math/scalar.rs").is_some_and(|d| d.len() == 64));
        assert!(digest("src/no_such_file.rs").is_none());
        assert!(digest("libm 0.0.0").is_none());
    }
}
