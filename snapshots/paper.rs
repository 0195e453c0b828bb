//! What the paper prints, cell by cell, beside what follows from its other numbers.

use std::collections::BTreeMap;
use std::fmt::Write;

use lpf::ledger::Reading;
use lpf::ledger::paper::{Paper, Value};
use lpf::ledger::recompute::{Kind, Recomputed, all, coverage};

use crate::pinned;

/// Which cells go into which snapshot: a name and the labels of the places.
const TABLES: [(&str, &[&str]); 14] = [
    ("table-01", &["tab:implementation"]),
    ("table-02", &["tab:thm2"]),
    ("table-03", &["tab:thm3"]),
    ("table-04", &["tab:thm4"]),
    ("table-05", &["tab:thm5"]),
    ("table-06", &["tab:thm6"]),
    ("table-07", &["tab:thm7"]),
    ("table-08", &["tab:theory-vs-empirical"]),
    ("table-09", &["tab:theoretical-comparison"]),
    ("table-10", &["tab:empirical-comparison"]),
    (
        "statements",
        &[
            "abstract",
            "sec:architecture",
            "sec:empirical-overview",
            "sec:assumptions",
            "sec:thm1",
            "sec:thm2",
            "sec:thm3",
            "sec:thm4",
            "sec:thm5",
            "sec:thm6",
            "sec:thm7",
        ],
    ),
    (
        "experiments",
        &[
            "sec:exp-thm1",
            "fig:calibration",
            "sec:exp-thm2",
            "fig:mc-error",
            "sec:exp-thm3",
            "fig:generalization",
            "sec:exp-thm4",
            "fig:information",
            "sec:exp-thm5",
            "fig:robustness",
            "sec:exp-thm6",
            "fig:sample-complexity",
            "sec:exp-thm7",
            "fig:uncertainty",
        ],
    ),
    (
        "assessment",
        &[
            "sec:assumption-validation",
            "sec:cross-domain",
            "sec:positioning",
            "sec:advantages",
        ],
    ),
    (
        "closing",
        &[
            "sec:limitations-ack",
            "sec:limitations-assumptions",
            "sec:limitations-practical",
            "sec:future",
            "sec:conclusion",
            "app:proof-thm1",
            "app:proof-thm3",
        ],
    ),
];

type ByCell = BTreeMap<String, Vec<(Kind, Recomputed)>>;

fn recomputed(paper: &Paper) -> ByCell {
    let reading = Reading::new(paper);
    let mut by_cell = ByCell::new();
    for entry in all() {
        let outcome = entry
            .compare(&reading)
            .expect("every expression has a value");
        by_cell
            .entry(entry.cell.clone())
            .or_default()
            .push((entry.kind, outcome));
    }
    by_cell
}

fn table(paper: &Paper, by_cell: &ByCell, labels: &[&str]) -> String {
    let mut text = String::new();
    for label in labels {
        let mut heading = "";
        for cell in paper.cells().iter().filter(|c| c.place.label == *label) {
            if cell.place.name != heading {
                heading = cell.place.name;
                writeln!(text, "# {heading} ({label})").unwrap();
            }
            let name = &cell.id[label.len() + 1..];
            match &cell.value {
                Value::Text(words) => writeln!(text, "{name} | \"{words}\"").unwrap(),
                Value::Number(printed) => writeln!(text, "{name} | {printed}").unwrap(),
            }
            for (kind, outcome) in by_cell.get(&cell.id).into_iter().flatten() {
                let sign = if outcome.agrees { "agrees" } else { "DIFFERS" };
                match kind {
                    Kind::Derived => writeln!(
                        text,
                        "    {sign}: {} = {}",
                        outcome.shown(),
                        outcome.formula
                    ),
                    Kind::Repeat => {
                        writeln!(text, "    {sign}: printed elsewhere {}", outcome.formula)
                    }
                }
                .unwrap();
            }
        }
    }
    text
}

#[test]
fn every_table_is_as_pinned() {
    let paper = Paper::published();
    let by_cell = recomputed(&paper);
    for (name, labels) in TABLES {
        pinned("paper", name, &table(&paper, &by_cell, labels));
    }
}

#[test]
fn every_cell_is_in_one_snapshot() {
    for cell in Paper::published().cells() {
        let holding = TABLES
            .iter()
            .filter(|(_, labels)| labels.contains(&cell.place.label))
            .count();
        assert_eq!(holding, 1, "{}", cell.id);
    }
}

#[test]
fn one_digit_of_one_cell_changes_its_snapshot() {
    let paper = Paper::published();
    let id = "tab:thm4/noise/value";
    let printed = paper.number(id).unwrap();
    let altered = paper.with(id, printed.shifted(1)).unwrap();
    let text = |paper: &Paper| table(paper, &recomputed(paper), &["tab:thm4"]);
    assert_ne!(text(&paper), text(&altered));
}

#[test]
fn coverage_is_as_pinned() {
    let c = coverage(&Paper::published()).unwrap();
    let mut text = format!(
        "numbers printed: {}\n  of these chosen or counted: {}\n\
         follow from others by a formula: {}, agree with every formula: {}\n\
         printed more than once: {}, agree everywhere: {}\n\
         neither: {}\n",
        c.numbers,
        c.settings,
        c.derived,
        c.derived_agreeing,
        c.repeated,
        c.repeated_agreeing,
        c.alone.len()
    );
    text.push_str("\nDiffer:\n");
    for id in &c.differing {
        writeln!(text, "  {id}").unwrap();
    }
    text.push_str("\nNeither derived nor repeated (measured or chosen, printed once):\n");
    for id in &c.alone {
        writeln!(text, "  {id}").unwrap();
    }
    pinned("paper", "coverage", &text);
}
