//! Our own runs of the experiments, pinned to the last bit.
//!
//! One snapshot a table, with every number as the shortest decimal that reads back as the same
//! double; one more an experiment with its settings, its sentence and the digest of everything,
//! figures included.

use std::fmt::Write;
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::LazyLock;

use lpf::exhibit::{Cell, Table};
use lpf::experiments::{EXPERIMENTS, Experiment, Lab, Outcome, Settings, digest};
use lpf::ledger::paper::Paper;

use crate::pinned;

fn lab(settings: Settings) -> Lab {
    Lab::new(settings, Paper::published().for_experiments())
}

fn run(experiment: &Experiment, lab: &Lab) -> Outcome {
    (experiment.run)(lab, &()).unwrap_or_else(|error| panic!("{}: {error}", experiment.id))
}

/// A cell to the last bit.
fn exact(cell: &Cell) -> String {
    match cell {
        Cell::Number { value, spread, .. } => match spread {
            Some(spread) => format!("{value:?} ± {spread:?}"),
            None => format!("{value:?}"),
        },
        other => other.shown(),
    }
}

/// A table with one line a cell: `row | column | value`.
fn text(table: &Table) -> String {
    let mut text = format!("# {}: {}\n", table.id, table.title);
    for (number, row) in table.rows.iter().enumerate() {
        let label = row.first().map_or(String::new(), exact);
        for (column, cell) in table.columns.iter().zip(row).skip(1) {
            writeln!(text, "{number} {label} | {column} | {}", exact(cell)).unwrap();
        }
    }
    text
}

/// Settings, sentence, statements, and the digest of everything.
fn summary(outcome: &Outcome) -> String {
    let mut text = format!("# {}: {}\n", outcome.id, outcome.title);
    for (name, value) in &outcome.settings {
        writeln!(text, "{name}: {value}").unwrap();
    }
    let digest = digest(std::slice::from_ref(outcome));
    writeln!(text, "\n{}\n", outcome.sentence).unwrap();
    for statement in &outcome.statements {
        let mark = if statement.agrees {
            "agrees"
        } else {
            "differs"
        };
        writeln!(text, "{mark}: {}", statement.words).unwrap();
    }
    writeln!(text, "\ndigest: {digest}").unwrap();
    text
}

/// A line of a pinned table, taken apart.
struct Line<'a> {
    row: &'a str,
    column: &'a str,
    value: &'a str,
}

impl<'a> Line<'a> {
    /// `None` for a heading.
    fn read(line: &'a str) -> Option<Self> {
        let mut parts = line.rsplitn(3, " | ");
        let value = parts.next()?;
        let column = parts.next()?;
        Some(Line {
            row: parts.next()?,
            column,
            value,
        })
    }

    fn number(&self) -> Option<(f64, Option<f64>)> {
        match self.value.split_once(" ± ") {
            Some((value, spread)) => Some((value.parse().ok()?, spread.parse().ok())),
            None => Some((self.value.parse().ok()?, None)),
        }
    }
}

/// What changed between two texts of one table, for a person to judge.
fn changes(table: &str, old: &str, new: &str) -> Vec<String> {
    let key = |line: &Line| (line.row.to_owned(), line.column.to_owned());
    let before: Vec<Line> = old.lines().filter_map(Line::read).collect();
    let after: Vec<Line> = new.lines().filter_map(Line::read).collect();
    let mut changes = Vec::new();
    for line in &after {
        let place = format!("{table}, row {}, column {}", line.row, line.column);
        match before.iter().find(|old| key(old) == key(line)) {
            None => changes.push(format!("{place}: new, {}", line.value)),
            Some(old) if old.value == line.value => {}
            Some(old) => {
                let mut words = format!("{place}: was {}, is {}", old.value, line.value);
                if let (Some((a, Some(spread))), Some((b, _))) = (old.number(), line.number()) {
                    write!(words, " ({:+.3e} times its ±)", (b - a) / spread).unwrap();
                }
                changes.push(words);
            }
        }
    }
    for line in &before {
        if !after.iter().any(|new| key(new) == key(line)) {
            let (row, column) = (line.row, line.column);
            changes.push(format!("{table}, row {row}, column {column}: gone"));
        }
    }
    changes
}

/// The pinned text of a snapshot, without insta's header; nothing where there is none.
fn pinned_text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots/experiments");
    let file = fs::read_to_string(path.join(format!("{name}.snap"))).unwrap_or_default();
    file.splitn(3, "---\n").nth(2).unwrap_or("").to_owned()
}

/// Compares an outcome with its snapshots, all of them, and returns the names of those that differ.
fn differing(outcome: &Outcome) -> Vec<String> {
    let mut names = Vec::new();
    let mut compare = |name: &str, text: &str| {
        // One difference must not hide the next: a reviewer wants to see all of them.
        if catch_unwind(|| pinned("experiments", name, text)).is_err() {
            names.push(name.to_owned());
        }
    };
    for table in &outcome.tables {
        let text = text(table);
        for change in changes(&table.id, &pinned_text(&table.id), &text) {
            eprintln!("{change}");
        }
        compare(&table.id, &text);
    }
    compare(&outcome.id, &summary(outcome));
    names
}

/// The sizes of the pinned runs: the code of `lpf experiment all` with fewer entities, models and
/// epochs. Each snapshot says what it was run with.
const PINNED: Settings = Settings {
    seed: 1,
    trials: Some(2),
    entities: 100,
    epochs: 2,
    truth: 1000,
};

/// The experiment on real data trains models of its own, which need more to be worth a look.
const ON_REAL_DATA: Settings = Settings {
    entities: 200,
    epochs: 5,
    ..PINNED
};

/// All experiments at these sizes, on so many threads.
fn on(threads: usize) -> Vec<Outcome> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(|| {
        let shared = lab(PINNED);
        let run = |experiment: &Experiment| match experiment.id {
            "real" => run(experiment, &lab(ON_REAL_DATA)),
            _ => run(experiment, &shared),
        };
        EXPERIMENTS.iter().map(run).collect()
    })
}

/// The pinned runs, on two threads, run once for all tests.
static ON_TWO: LazyLock<Vec<Outcome>> = LazyLock::new(|| on(2));

#[test]
fn every_table_of_our_runs_is_as_pinned() {
    let differ: Vec<String> = ON_TWO.iter().flat_map(differing).collect();
    assert!(differ.is_empty(), "not as pinned: {}", differ.join(", "));
}

#[test]
fn a_change_of_a_millionth_in_any_number_turns_its_snapshot() {
    let mut numbers = 0;
    for outcome in ON_TWO.iter() {
        let pinned: Vec<String> = outcome.tables.iter().map(text).collect();
        for (t, table) in outcome.tables.iter().enumerate() {
            for (r, row) in table.rows.iter().enumerate() {
                for (c, cell) in row.iter().enumerate() {
                    for altered in alterations(cell) {
                        let mut copy = table.clone();
                        copy.rows[r][c] = altered;
                        let found = changes(&table.id, &pinned[t], &text(&copy));
                        // The first column names the row: then all of the row has another name.
                        let expected = if c == 0 { 2 * (row.len() - 1) } else { 1 };
                        assert_eq!(found.len(), expected, "{} {r} {c}", table.id);
                        if c > 0 {
                            let column = format!("column {}:", table.columns[c]);
                            assert!(found[0].contains(&column), "{}", found[0]);
                        }
                        numbers += 1;
                    }
                }
            }
        }
        // Figures are pinned by the digest.
        for (f, figure) in outcome.figures.iter().enumerate() {
            for (p, panel) in figure.panels.iter().enumerate() {
                for (s, series) in panel.series.iter().enumerate() {
                    for i in 0..series.points.len() {
                        let mut copy = outcome.clone();
                        let point = &mut copy.figures[f].panels[p].series[s].points[i];
                        if point.1.is_finite() {
                            point.1 = altered(point.1);
                            assert_ne!(summary(&copy), summary(outcome));
                            numbers += 1;
                        }
                    }
                }
            }
        }
    }
    // That something was altered at all: no experiment has fewer numbers than this.
    assert!(numbers >= 50 * EXPERIMENTS.len(), "{numbers}");
}

/// The number changed by a millionth; zero to a millionth.
fn altered(x: f64) -> f64 {
    if x == 0.0 { 1e-6 } else { x * (1.0 + 1e-6) }
}

/// The cell with its value changed, and with its spread changed.
fn alterations(cell: &Cell) -> Vec<Cell> {
    let Cell::Number {
        value,
        spread,
        digits,
    } = *cell
    else {
        return Vec::new();
    };
    let with = |value, spread| Cell::Number {
        value,
        spread,
        digits,
    };
    let mut all = Vec::new();
    if value.is_finite() {
        all.push(with(altered(value), spread));
    }
    if let Some(spread) = spread.filter(|s| s.is_finite()) {
        all.push(with(value, Some(altered(spread))));
    }
    all
}

#[test]
fn a_change_is_shown_with_its_place_and_size() {
    let cell = |value| vec![Cell::text("spn"), Cell::spread(value, 0.02, 3)];
    let table = |value| Table {
        id: "T1.calibration".into(),
        title: "t".into(),
        columns: vec!["judged".into(), "ECE".into()],
        rows: vec![cell(value)],
    };
    assert_eq!(
        changes("T1.calibration", &text(&table(0.5)), &text(&table(0.53))),
        [
            "T1.calibration, row 0 spn, column ECE: was 0.5 ± 0.02, is 0.53 ± 0.02 (+1.500e0 times its ±)"
        ]
    );
    assert_eq!(
        changes("x", &text(&table(0.5)), &text(&table(0.5))),
        [""; 0]
    );
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    let one = on(1);
    assert_eq!(one.len(), ON_TWO.len());
    for (a, b) in one.iter().zip(ON_TWO.iter()) {
        let [a_digest, b_digest] = [a, b].map(|o| digest(std::slice::from_ref(o)));
        assert_eq!(a_digest, b_digest, "{}", a.id);
    }
    // Control: another seed gives other bits.
    let other = lab(Settings { seed: 4, ..PINNED });
    assert_ne!(digest(&[run(&EXPERIMENTS[0], &other)]), digest(&one[..1]));
}
