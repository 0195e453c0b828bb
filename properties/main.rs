//! Statistical and algebraic properties, one file for each theorem or lemma.
//!
//! Run by `cargo test --test properties [FILTER]` or `make properties`. The seed is fixed unless
//! `LPF_SEED` gives a number or says `random`. A run without filter prints a table with a row for
//! each property and writes it to `target/lpf/properties.json`.

// A binary exports nothing: `pub` means "outside this file" here.
#![allow(unreachable_pub)]

mod audit;
mod calibration;
mod e2;
mod e3;
mod e5;
mod generate;
mod harness;
mod harness_checks;
mod l1;
mod l2;
mod l3;
mod l4;
mod l5;
mod l6;
mod l7;
mod metamorphic;
mod networks;
mod quadrature;
mod t1;
mod t1_double_prime;
mod t2;
mod t2_double_prime;
mod t3;
mod t4;
mod t5;
mod t6;
mod t7;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use harness::{Draws, Property, Row, Run, Seed};
use lpf::ledger::claims;
use rayon::prelude::*;

/// What the whole suite may reject, over the seed, though all is true.
const SUITE_LEVEL: f64 = 1e-6;

fn all() -> Vec<&'static Property> {
    [
        harness_checks::PROPERTIES,
        l1::PROPERTIES,
        l2::PROPERTIES,
        l3::PROPERTIES,
        l4::PROPERTIES,
        l5::PROPERTIES,
        l6::PROPERTIES,
        l7::PROPERTIES,
        t1::PROPERTIES,
        t2::PROPERTIES,
        t2_double_prime::PROPERTIES,
        t3::PROPERTIES,
        t4::PROPERTIES,
        t5::PROPERTIES,
        t6::PROPERTIES,
        t7::PROPERTIES,
        t1_double_prime::PROPERTIES,
        e2::PROPERTIES,
        e3::PROPERTIES,
        e5::PROPERTIES,
        calibration::PROPERTIES,
        audit::PROPERTIES,
        metamorphic::PROPERTIES,
        networks::PROPERTIES,
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What the command line asks for: the part of libtest's that a caller may pass to every target.
struct Arguments {
    filters: Vec<String>,
    skip: Vec<String>,
    exact: bool,
    list: bool,
    quiet: bool,
    /// Only ignored tests are asked for, and there are none.
    ignored: bool,
}

fn arguments() -> Arguments {
    let mut parsed = Arguments {
        filters: Vec::new(),
        skip: Vec::new(),
        exact: false,
        list: false,
        quiet: false,
        ignored: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--list" => parsed.list = true,
            "--exact" => parsed.exact = true,
            "--quiet" | "-q" => parsed.quiet = true,
            "--ignored" => parsed.ignored = true,
            "--skip" => parsed.skip.extend(arguments.next()),
            "--test-threads" | "--format" | "--color" | "--logfile" | "-Z" => {
                arguments.next();
            }
            flag if flag.starts_with('-') => {}
            filter => parsed.filters.push(filter.to_string()),
        }
    }
    parsed
}

impl Arguments {
    fn wants(&self, name: &str) -> bool {
        let fits = |f: &String| {
            if self.exact {
                name == f
            } else {
                name.contains(f.as_str())
            }
        };
        !self.ignored
            && (self.filters.is_empty() || self.filters.iter().any(fits))
            && !self.skip.iter().any(fits)
    }
}

fn main() -> ExitCode {
    let arguments = arguments();
    let properties = all();
    let chosen: Vec<&Property> = properties
        .iter()
        .copied()
        .filter(|p| arguments.wants(p.name))
        .collect();
    if arguments.list {
        for property in &chosen {
            println!("{}: test", property.name);
        }
        return ExitCode::SUCCESS;
    }
    if let Some(what) = defect(&properties) {
        println!("test result: FAILED. the registry is wrong: {what}");
        return ExitCode::FAILURE;
    }
    let seed = match Seed::from_environment() {
        Ok(seed) => seed,
        Err(what) => {
            println!("{what}");
            return ExitCode::from(2);
        }
    };
    println!("\nrunning {} tests, seed {}", chosen.len(), seed.value);
    let start = Instant::now();
    let rows: Vec<Row> = chosen
        .par_iter()
        .with_max_len(1)
        .map(|property| run(property, seed.value, arguments.quiet))
        .collect();
    let run = Run::new(seed, rows, start.elapsed().as_secs_f64());
    let whole = chosen.len() == properties.len();
    if whole {
        println!("\n{}", lpf::report::table_text(&run.table()));
        match run.write() {
            Ok(path) => println!("record: {}", path.display()),
            Err(error) => {
                println!("test result: FAILED. the record could not be written: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    if let Err(error) = audit::write_table() {
        println!("test result: FAILED. the rates could not be written: {error}");
        return ExitCode::FAILURE;
    }
    let failed: Vec<&Row> = run.properties.iter().filter(|r| !r.passed).collect();
    for row in &failed {
        println!("failed: {}: {}", row.name, row.failure());
    }
    let sound = run.false_alarm <= SUITE_LEVEL;
    if !sound {
        println!(
            "the suite's false-alarm level {} is above {SUITE_LEVEL}",
            run.false_alarm
        );
    }
    if !failed.is_empty() {
        println!("repeat with LPF_SEED={}", seed.value);
    }
    let good = failed.is_empty() && sound;
    println!(
        "\ntest result: {}. {} passed; {} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        if good { "ok" } else { "FAILED" },
        chosen.len() - failed.len(),
        failed.len(),
        properties.len() - chosen.len(),
        run.seconds
    );
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn run(property: &Property, seed: u64, quiet: bool) -> Row {
    let start = Instant::now();
    let draws = Draws {
        seed,
        property: property.name,
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| (property.run)(draws)));
    let seconds = start.elapsed().as_secs_f64();
    let row = match outcome {
        Ok(outcome) => Row::new(property, outcome, seconds),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            Row::panicked(property, text.unwrap_or_default(), seconds)
        }
    };
    if !quiet || !row.passed {
        let word = if row.passed { "ok" } else { "FAILED" };
        println!("test {} ... {word}", property.name);
    }
    row
}

/// What is wrong with the list of properties itself.
fn defect(properties: &[&Property]) -> Option<String> {
    for (i, property) in properties.iter().enumerate() {
        if properties[..i].iter().any(|p| p.name == property.name) {
            return Some(format!("two properties are called {}", property.name));
        }
    }
    for property in properties {
        if let Some(id) = property.claims.iter().find(|id| !is_claim(id)) {
            return Some(format!("{} names {id}, which is no claim", property.name));
        }
    }
    // Every theorem and lemma, and what stands in its place; assumptions are about data, and some
    // further theorems stand on their proofs in Coq alone.
    let proofs_alone = ["L6'", "E1", "E4"];
    let missing: Vec<&str> = claims::all()
        .iter()
        .filter(|claim| claim.is_first_rank() && !claim.id.starts_with('A'))
        .map(|claim| claim.id.as_str())
        .filter(|id| !proofs_alone.contains(id))
        .filter(|id| !properties.iter().any(|p| p.claims.contains(id)))
        .collect();
    (!missing.is_empty()).then(|| format!("no property for {}", missing.join(", ")))
}

fn is_claim(id: &str) -> bool {
    claims::all().iter().any(|claim| claim.id == id)
}
