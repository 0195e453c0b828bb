//! Runs the proof harnesses and records what came out.
//!
//! | command | what it does |
//! |---|---|
//! | `prove` | every harness under `cargo test`, then under Kani where it is set up |
//! | `prove record` | every harness under Kani; writes `proofs/record.json`, to be committed |
//! | `prove record stale` | the same for harnesses whose sources changed since; the others stay |
//! | `prove slow` | the same, with the slow Kani harnesses too |
//! | `prove exhaustive` | all 2³² singles through the unary kernels |
//! | `prove mutants` | deliberate faults in the library: each must be caught by a harness; with `KANI=required` under Kani, and written to `proofs/faults.json`, to be committed |
//! | `prove mutants stale` | under Kani, for faults whose change or sources are not those of that record |
//! | `prove table` | the table of `docs/kani.md`, from both records |
//!
//! The environment variable `KANI` is `auto` (the default), `required` or `off`. Exit code 0: all
//! holds; 1: something failed; 2: usage, or the tools could not be run.

// A binary exports nothing: `pub` means "outside this file" here.
#![allow(unreachable_pub)]

mod cargo_test;
mod caught;
mod committed;
mod exhaustive;
mod faults;
mod harnesses;
mod kani;
mod markers;
mod mutants;
mod reach;
mod record;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The root of the package, where all commands are run.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where records are written.
pub fn output_directory() -> PathBuf {
    root().join("target/lpf")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => prove(false),
        ["record"] => record_kani(true),
        ["record", "stale"] => record_kani(false),
        ["slow"] => prove(true),
        ["exhaustive"] => exhaustive::run(),
        ["mutants"] => policy().and_then(|policy| mutants::run(policy == Policy::Required, false)),
        ["mutants", "stale"] => mutants::run(true, true),
        ["table"] => table::update().map(|()| true),
        _ => Err(
            "usage: prove [record [stale] | slow | exhaustive | mutants [stale] | table]".into(),
        ),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("prove: {message}");
            ExitCode::from(2)
        }
    }
}

/// What to do about Kani.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Auto,
    Required,
    Off,
}

fn policy() -> Result<Policy, String> {
    match std::env::var("KANI").as_deref() {
        Err(_) | Ok("" | "auto") => Ok(Policy::Auto),
        Ok("required") => Ok(Policy::Required),
        Ok("off") => Ok(Policy::Off),
        Ok(other) => Err(format!(
            "KANI is {other:?}; it can be auto, required or off"
        )),
    }
}

fn prove(slow: bool) -> Result<bool, String> {
    let policy = policy()?;
    let listed = harnesses::read(&root().join("proofs"))?;

    println!("{} harnesses under cargo test", listed.len());
    let tested = cargo_test::run(root(), None)?;

    let run = if policy == Policy::Off {
        kani::Run::NotRun("switched off by KANI=off".into())
    } else {
        kani::run(&listed, slow, true)?
    };
    if let kani::Run::NotRun(reason) = &run {
        println!("KANI NOT RUN: {reason}. What follows of Kani is its committed record.");
    }

    let committed = committed::Committed::read()?;
    let record = record::Record::new(&listed, &tested, &run, &committed, slow);
    let path = output_directory().join("proofs.json");
    record.write(&path)?;
    print!("{}", record.summary());
    println!("{}", caught::Caught::read()?.summary());
    println!("record: {}", path.display());

    let kani_missing = policy == Policy::Required && record.kani_incomplete();
    if kani_missing {
        println!("FAILED: KANI=required, but Kani did not run every harness");
    }
    Ok(record.all_hold() && !kani_missing)
}

/// A run of Kani whose outcome is committed: of all harnesses, if everything is proved, or of those
/// of which the record does not speak, or no longer; it then speaks of those that are proved.
fn record_kani(all: bool) -> Result<bool, String> {
    let begun = std::time::Instant::now();
    let mut listed = harnesses::read(&root().join("proofs"))?;
    let mut record = committed::Committed::default();
    if !all {
        record = committed::Committed::read()?;
        record.keep_fitting(&listed);
        listed.retain(|harness| !record.harnesses.contains_key(&harness.name));
        if !listed.iter().any(|h| h.engine == harnesses::Engine::Kani) {
            println!("no harness is stale");
            return Ok(true);
        }
    }
    let before = reach::snapshot()?;
    let (verdicts, versions, reach) = match kani::run(&listed, false, all)? {
        kani::Run::NotRun(reason) => return Err(format!("there is nothing to record: {reason}")),
        kani::Run::Done {
            verdicts,
            versions,
            reach,
        } => (verdicts, versions, reach),
    };
    let today = record::output("date", &["-u", "+%F"]).ok_or("what day is it?")?;
    if reach::snapshot()? != before {
        return Err("a source changed while Kani ran: nothing is recorded".into());
    }
    let is_proved = |c: &kani::Checked| c.verdict == kani::Verdict::Proved;
    let (proved, not): (kani::Verdicts, kani::Verdicts) = verdicts
        .into_iter()
        .partition(|(_, checked)| is_proved(checked));
    for (name, checked) in &not {
        println!("NOT PROVED {name}: {:?}", checked.verdict);
    }
    if all && !not.is_empty() {
        return Ok(false);
    }
    record.add(&committed::Committed::new(
        today, &versions, &proved, &reach,
    )?);
    record.write()?;
    table::update()?;
    println!(
        "{} harnesses proved, {} of them in this run of {:.0} s; record: proofs/record.json",
        record.harnesses.len(),
        proved.len(),
        begun.elapsed().as_secs_f64()
    );
    Ok(not.is_empty())
}
