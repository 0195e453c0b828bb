//! The table of `docs/kani.md`: what the committed records say of each harness.

use std::fmt::Write as _;
use std::fs;

use crate::caught::Caught;
use crate::committed::Committed;
use crate::faults::FAULTS;
use crate::markers::fill;
use crate::root;

const PAGE: &str = "docs/kani.md";

/// Writes the table anew, and prints it.
///
/// # Errors
/// The page or a record cannot be read or written, or a marker is missing.
pub fn update() -> Result<(), String> {
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path).map_err(|e| format!("cannot read {PAGE}: {e}"))?;
    let table = table(&Committed::read()?, &Caught::read()?);
    print!("{table}");
    let filled = fill(&page, "harnesses", "prove-record", &table)?;
    fs::write(&path, filled).map_err(|e| format!("cannot write {PAGE}: {e}"))
}

/// One row a harness that Kani proved, with the faults that it refuted.
fn table(proved: &Committed, caught: &Caught) -> String {
    let mut text = String::from(
        "| harness | Kani | seconds | covers | faults refuted |\n|---|---|---:|---:|---|\n",
    );
    let mut total = 0.0;
    for (name, proof) in &proved.harnesses {
        let short = name.trim_start_matches("proofs::");
        let seconds = proof.seconds.unwrap_or_default();
        total += seconds;
        let (satisfied, covers) = proof.covers.unwrap_or_default();
        let faults = caught.by(short).join("; ");
        let _ = writeln!(
            text,
            "| `{short}` | proved {} | {seconds:.1} | {satisfied} of {covers} | {faults} |",
            proof.date
        );
    }
    let named = FAULTS.iter().filter(|f| f.harness.is_some()).count();
    let _ = writeln!(
        text,
        "\n{} harnesses proved, in {total:.0} seconds of Kani's own count; {} of {named} faults refuted. {}.",
        proved.harnesses.len(),
        caught.faults.len(),
        tools(proved)
    );
    text
}

/// The tools of the last run.
fn tools(proved: &Committed) -> String {
    let named = |name: &str| {
        proved
            .versions
            .get(name)
            .map_or("not named", |v| v.as_str())
    };
    format!(
        "Tools: {}, CBMC {}, CaDiCaL {}",
        named("kani"),
        named("cbmc"),
        named("cadical")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_committed_records() {
        let page = fs::read_to_string(root().join(PAGE)).unwrap();
        let table = table(&Committed::read().unwrap(), &Caught::read().unwrap());
        let filled = fill(&page, "harnesses", "prove-record", &table).unwrap();
        assert!(
            page == filled,
            "{PAGE} is not of the records: cargo run --example prove -- table"
        );
    }
}
