//! Has Coq check the theorems, and records what came out.
//!
//! | command | what it does |
//! |---|---|
//! | `theory` | checks what changed since the last run; `target/lpf/theory.json` |
//! | `theory record` | checks everything from nothing; `proofs/theory/record.json`, to be committed |
//! | `theory pin` | writes the axioms of every theorem to `proofs/theory/assumptions.txt` |
//! | `theory docs` | writes the tables of `docs/theory.md` |
//!
//! The gates: nothing is admitted; every theorem rests on the pinned axioms and these are among
//! the four standard ones; Coq's independent checker accepts every module; every theorem has a
//! negative proof, and each of these fails in its proof; every output of the Rust functions is
//! what their models give, to the bit, and deliberately wrong models disagree.
//!
//! The environment variable `THEORY` is `auto` (the default: without Coq, the committed record is
//! quoted if it belongs to the sources), `required` or `off`. Exit code 0: all holds; 1: something
//! failed; 2: usage, or the tools could not be run.

// A binary exports nothing: `pub` means "outside this file" here.
#![allow(unreachable_pub)]

mod coq;
mod docs;
#[path = "../../runner/markers.rs"]
mod markers;
mod models;
mod negative;
mod record;
mod sources;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};

use coq::{Built, Coq};
use sources::Sources;

/// The axioms of Coq's real numbers and of classical logic, as coqchk names them.
const STANDARD: [&str; 4] = [
    "Coq.Logic.Classical_Prop.classic",
    "Coq.Logic.FunctionalExtensionality.functional_extensionality_dep",
    "Coq.Reals.ClassicalDedekindReals.sig_forall_dec",
    "Coq.Reals.ClassicalDedekindReals.sig_not_dec",
];

/// The root of the package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where the sources are.
pub fn folder() -> PathBuf {
    root().join("proofs/theory")
}

fn output() -> PathBuf {
    root().join("target/lpf")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => check(false),
        ["record"] => check(true),
        ["pin"] => pin(),
        ["docs"] => Sources::read(&folder())
            .and_then(|s| docs::update(&s))
            .map(|()| true),
        _ => Err("usage: theory [record | pin | docs]".into()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("theory: {message}");
            ExitCode::from(2)
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Auto,
    Required,
    Off,
}

fn policy() -> Result<Policy, String> {
    match std::env::var("THEORY").as_deref() {
        Err(_) | Ok("" | "auto") => Ok(Policy::Auto),
        Ok("required") => Ok(Policy::Required),
        Ok("off") => Ok(Policy::Off),
        Ok(other) => Err(format!(
            "THEORY is {other:?}; it can be auto, required or off"
        )),
    }
}

fn check(anew: bool) -> Result<bool, String> {
    let start = Instant::now();
    let policy = if anew { Policy::Required } else { policy()? };
    let sources = Sources::read(&folder())?;
    let build = output().join("theory");
    let _lock = alone()?;
    if anew && build.exists() {
        fs::remove_dir_all(&build).map_err(|e| format!("cannot clean {}: {e}", build.display()))?;
    }
    let coq = match policy {
        Policy::Off => Err("switched off by THEORY=off".to_owned()),
        _ => Coq::find(&build),
    };
    let coq = match coq {
        Ok(coq) => coq,
        Err(reason) if policy == Policy::Required => {
            return Err(format!("{reason}; `make theory-setup` says what to do"));
        }
        Err(reason) => return quoted(&sources, &reason),
    };

    let mut problems = sources.problems();
    println!(
        "Coq {}: {} files, {} theorems",
        coq.version,
        sources.files.len(),
        sources.theorems().count()
    );
    let built = coq.build(&sources)?;
    println!(
        "{} files compiled anew, the others unchanged; {:.0} s so far",
        built.compiled,
        start.elapsed().as_secs_f64()
    );
    problems.extend(built.problems.iter().cloned());
    problems.extend(unpinned(&sources, &built));

    // The independent checker reads one module after the other; negative proofs and models
    // are run meanwhile.
    let complete = built.problems.is_empty();
    let (checked, others) = std::thread::scope(|scope| {
        let checked = complete.then(|| scope.spawn(|| coq.check(&sources)));
        let others = negative::run(&coq, &sources)
            .and_then(|negative| Ok((negative, models::run(&coq, &sources)?)));
        (checked.map(|thread| thread.join()), others)
    });
    let ((negative, wrong), (models, unlike)) = others?;
    println!("{} negative proofs fail in their proofs", negative.len());
    problems.extend(wrong);
    for model in &models {
        println!(
            "model of {}: {} outputs of the Rust code recomputed, all alike; a wrong model differs in {}",
            model["of"].as_str().unwrap_or("?"),
            model["cases"],
            model["wrong_differs"]
        );
    }
    problems.extend(unlike);

    let mut checker = Value::Null;
    if let Some(outcome) = checked {
        let outcome = outcome.map_err(|_| "coqchk could not be watched")??;
        if outcome.accepted {
            let axioms = coq::checked_axioms(&outcome.output)?;
            println!(
                "coqchk: every module checked again; axioms: {}",
                axioms.join(", ")
            );
            let others = axioms.iter().filter(|a| !STANDARD.contains(&a.as_str()));
            problems.extend(others.map(|a| format!("coqchk finds the axiom {a}")));
            checker = json!({ "axioms": axioms, "seconds": outcome.seconds.round() });
        } else {
            problems.push(format!(
                "coqchk refuses:\n{}{}",
                outcome.output, outcome.error
            ));
        }
    }

    let run = record::Run {
        sources: &sources,
        coq: &coq,
        built: &built,
        negative,
        models,
        checker,
        problems,
        seconds: start.elapsed().as_secs_f64(),
    };
    let json = run.json();
    record::write(&output().join("theory.json"), &json)?;
    print!("{}", table(&json));
    for problem in &run.problems {
        println!("FAILED {problem}");
    }
    let holds = run.problems.is_empty();
    if holds && anew {
        record::write(&folder().join("record.json"), &json)?;
        docs::update(&sources)?;
        println!("record: proofs/theory/record.json");
    } else if holds {
        println!("all hold; {:.0} s; target/lpf/theory.json", run.seconds);
        let committed = record::read(&folder().join("record.json"));
        let old = committed.map_or_else(|e| vec![e], |r| record::stale(&r, &sources));
        if let Some(first) = old.first() {
            println!(
                "the committed record does not belong to these sources ({first}): `make theory-record` writes it"
            );
        }
    }
    Ok(holds)
}

/// Without Coq: the committed record, if it belongs to the sources.
fn quoted(sources: &Sources, reason: &str) -> Result<bool, String> {
    println!("COQ NOT RUN: {reason}.");
    let mut problems = sources.problems();
    let mut record = record::read(&folder().join("record.json"))?;
    problems.extend(record::stale(&record, sources));
    if !problems.is_empty() {
        println!(
            "FAILED the record of {} does not belong to the sources:",
            record["date"].as_str().unwrap_or("?")
        );
        for problem in problems {
            println!("FAILED {problem}");
        }
        return Ok(false);
    }
    record["rerun"] = false.into();
    let said = format!(
        "machine-checked by {}, record of {}, sources unchanged; not re-run here",
        record["engine"].as_str().unwrap_or("Coq"),
        record["date"].as_str().unwrap_or("?"),
    );
    println!("{} theorems {said}", record["totals"]["theorems"]);
    record["said"] = said.into();
    record::write(&output().join("theory.json"), &record)?;
    Ok(true)
}

/// The axioms of every theorem, as they are pinned.
fn assumptions(sources: &Sources, built: &Built) -> BTreeMap<String, String> {
    let entry = |(source, theorem): (&sources::Source, &sources::Theorem)| {
        let answer = built.answers.get(&theorem.name)?;
        let axioms = if answer.axioms.is_empty() {
            "none".to_owned()
        } else {
            answer.axioms.join(" ")
        };
        Some((format!("{}.{}", source.module, theorem.name), axioms))
    };
    sources.theorems().filter_map(entry).collect()
}

/// What the axioms of the theorems and the pinned ones do not share.
fn unpinned(sources: &Sources, built: &Built) -> Vec<String> {
    let found = assumptions(sources, built);
    let mut problems = Vec::new();
    for (theorem, axioms) in &found {
        for axiom in axioms.split(' ').filter(|a| *a != "none") {
            let standard = |s: &&str| {
                s.strip_suffix(axiom)
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            };
            if !STANDARD.iter().any(standard) {
                problems.push(format!(
                    "{theorem} rests on {axiom}, which is not one of the four standard axioms"
                ));
            }
        }
    }
    problems.extend(differences(&found, &sources.pinned));
    problems
}

/// Compares the axioms found with the pinned text.
fn differences(found: &BTreeMap<String, String>, pinned: &str) -> Vec<String> {
    let lines = pinned.lines().filter(|l| !l.starts_with('#'));
    let pinned: BTreeMap<&str, &str> = lines.filter_map(|l| l.split_once(": ")).collect();
    let mut problems = Vec::new();
    for (theorem, axioms) in found {
        match pinned.get(theorem.as_str()) {
            None => problems.push(format!(
                "{theorem}: its axioms are not pinned (`theory pin`): {axioms}"
            )),
            Some(old) if old != axioms => {
                problems.push(format!(
                    "{theorem}: its axioms are {axioms}; pinned are {old}"
                ));
            }
            Some(_) => {}
        }
    }
    let gone = pinned.keys().filter(|t| !found.contains_key(**t));
    problems
        .extend(gone.map(|t| format!("{t}: pinned, but there is no such theorem (`theory pin`)")));
    problems
}

/// Waits until no other run compiles in the same folder; it is then free until the value is dropped.
fn alone() -> Result<fs::File, String> {
    let path = output().join("theory.lock");
    let cannot = |e: std::io::Error| format!("cannot lock {}: {e}", path.display());
    fs::create_dir_all(output()).map_err(cannot)?;
    let file = fs::File::create(&path).map_err(cannot)?;
    if file.try_lock().is_err() {
        println!("waiting for another run");
        file.lock().map_err(cannot)?;
    }
    Ok(file)
}

fn pin() -> Result<bool, String> {
    let _lock = alone()?;
    let sources = Sources::read(&folder())?;
    let built = Coq::find(&output().join("theory"))?.build(&sources)?;
    for problem in &built.problems {
        println!("FAILED {problem}");
    }
    if !built.problems.is_empty() {
        return Ok(false);
    }
    let mut text = String::from(
        "# What each theorem rests on, as `Print Assumptions` says. Written by `theory pin`.\n",
    );
    for (theorem, axioms) in assumptions(&sources, &built) {
        let _ = writeln!(text, "{theorem}: {axioms}");
    }
    let path = folder().join("assumptions.txt");
    fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    println!("theory: {} written", path.display());
    Ok(true)
}

/// The theorems with lines, seconds and axioms, for a person to read.
fn table(record: &Value) -> String {
    let mut text = format!(
        "\n{:<22} {:<9} {:<40} {:<28} {:>7} {:>6}\n",
        "claim", "", "theorem", "place", "seconds", "axioms"
    );
    let empty = Vec::new();
    for t in record["theorems"].as_array().unwrap_or(&empty) {
        let claims: Vec<&str> = t["claims"]
            .as_array()
            .unwrap_or(&empty)
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let file = t["file"]
            .as_str()
            .unwrap_or("")
            .trim_start_matches("proofs/theory/");
        let _ = writeln!(
            text,
            "{:<22} {:<9} {:<40} {:<28} {:>7.1} {:>6}",
            claims.join(","),
            t["says"].as_str().unwrap_or(""),
            t["name"].as_str().unwrap_or(""),
            format!("{file}:{}", t["line"]),
            t["seconds"].as_f64().unwrap_or(0.0),
            t["axioms"].as_array().map_or(0, Vec::len),
        );
    }
    let _ = writeln!(
        text,
        "{} theorems in {} files of {} lines; seconds are those of the file\n",
        record["totals"]["theorems"], record["totals"]["files"], record["totals"]["lines"]
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axioms_are_pinned_one_by_one() {
        let found = BTreeMap::from([
            ("T5.a".to_owned(), "classic".to_owned()),
            ("T5.b".to_owned(), "none".to_owned()),
        ]);
        let pinned = "# Comment.\nT5.a: classic\nT5.b: none\n";
        assert_eq!(differences(&found, pinned), [""; 0]);
        for (from, to, problem) in [
            ("T5.b: none\n", "", "T5.b: its axioms are not pinned"),
            ("T5.b: none", "T5.b: classic", "T5.b: its axioms are none"),
            ("T5.b", "T5.c", "T5.c: pinned, but there is no such theorem"),
        ] {
            let problems = differences(&found, &pinned.replace(from, to));
            assert!(problems.iter().any(|p| p.contains(problem)), "{problems:?}");
        }
    }

    /// The gates that need Coq, broken on purpose: an axiom, and a negative proof that compiles.
    #[test]
    fn coq_finds_an_axiom_and_a_negative_proof_that_compiles() {
        let (folder, build) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let Ok(coq) = Coq::find(build.path()) else {
            println!("Coq is not installed: not tested here");
            return;
        };
        let theorem = "(** claim: T1 | proves | caveats: none\n    Words. *)\n\
            Theorem sure : 1 = 2.\nProof.\n  destruct cheat.\nQed.\n";
        let text = format!("Axiom cheat : False.\n{theorem}");
        fs::write(folder.path().join("T1.v"), text).unwrap();
        fs::create_dir(folder.path().join("negative")).unwrap();
        for (name, statement) in [("sure_true", "1 = 1"), ("sure_false", "1 = 2")] {
            let text =
                format!("(* Why. *)\nTheorem x : {statement}.\nProof.\n  reflexivity.\nQed.\n");
            fs::write(folder.path().join(format!("negative/{name}.v")), text).unwrap();
        }
        let sources = Sources::read(folder.path()).unwrap();
        assert!(sources.problems().contains(&"T1.v:1: Axiom".to_owned()));
        let built = coq.build(&sources).unwrap();
        assert_eq!(built.answers["sure"].statement, "1%nat = 2%nat");
        let refused = unpinned(&sources, &built);
        assert!(
            refused
                .iter()
                .any(|p| p.starts_with("T1.sure rests on cheat")),
            "{refused:?}"
        );
        assert!(
            !coq::checked_axioms(&coq.check(&sources).unwrap().output)
                .unwrap()
                .is_empty()
        );
        let (fail, problems) = negative::run(&coq, &sources).unwrap();
        assert_eq!(fail[0]["file"], "negative/sure_false.v");
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("negative/sure_true.v: COMPILES"));
    }

    #[test]
    fn only_the_four_standard_axioms_are_allowed() {
        let sources = Sources::read(&folder()).unwrap();
        let (source, theorem) = sources.theorems().next().unwrap();
        let name = format!("{}.{}", source.module, theorem.name);
        for (axiom, allowed) in [
            ("ClassicalDedekindReals.sig_not_dec", true),
            (
                "FunctionalExtensionality.functional_extensionality_dep",
                true,
            ),
            ("classic", true),
            ("my_classic", false),
            ("T5.anything", false),
        ] {
            let mut built = Built::default();
            let answer = coq::Answer {
                statement: String::new(),
                axioms: vec![axiom.to_owned()],
            };
            built.answers.insert(theorem.name.clone(), answer);
            let refused = unpinned(&sources, &built);
            let refused = refused
                .iter()
                .any(|p| p.starts_with(&format!("{name} rests on {axiom}")));
            assert_eq!(refused, !allowed, "{axiom}");
        }
    }
}
