//! The paper as data: every number it prints, with the place where it stands.
//!
//! The paper is "Theoretical Foundations of Latent Posterior Factors: Formal Guarantees for
//! Multi-Evidence Reasoning" (A. A. Agboola, Epalea). It is not part of this repository; every
//! cell names its section, table or figure ([`Place`]), so that it can be found there.
//!
//! A cell's id is `place/name` for a number in running text and `place/row/column` for one in a
//! table; where a table prints `a ± b`, the second number's column ends in `.sd`. The cells are
//! held in a value, [`Paper`], which every check takes as an argument: a test can alter one number
//! and see which verdicts notice.

mod assessment;
mod body;
mod closing;
mod experiments;
mod graph;
mod printed;

use std::collections::BTreeMap;
use std::fmt;

use num_traits::ToPrimitive;

use crate::experiments::{Printed as Comparable, Published};

pub use graph::{DependencyGraph, Disagreement, Node, Said, Voice};
pub use printed::{Printed, Relation, Source, Suffix};

/// A section, table or figure of the paper, by the label it has in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The label in the paper's source, such as `tab:thm2`.
    pub label: &'static str,
    /// What a reader looks for, such as `Section 6.2, Table 2`.
    pub name: &'static str,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(Printed),
    /// A word or two, such as `Vacuous` or the name of a domain.
    Text(&'static str),
}

/// One cell of the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The stable id.
    pub id: String,
    /// Where it stands.
    pub place: Place,
    /// What stands there.
    pub value: Value,
}

/// A cell as written in the data files.
#[derive(Clone, Copy)]
enum Raw {
    One(Printed),
    PlusMinus(Printed, Printed),
    Text(&'static str),
}

/// A measured or computed number. Only called in constants, so a malformed literal does not
/// compile.
const fn r(literal: &str) -> Raw {
    Raw::One(read(literal, Source::Result))
}

/// A chosen or counted number, exact as printed.
const fn s(literal: &str) -> Raw {
    Raw::One(read(literal, Source::Setting))
}

/// `mean ± standard deviation`.
const fn pm(mean: &str, deviation: &str) -> Raw {
    Raw::PlusMinus(read(mean, Source::Result), read(deviation, Source::Result))
}

/// A word.
const fn t(text: &'static str) -> Raw {
    Raw::Text(text)
}

const fn read(literal: &str, source: Source) -> Printed {
    match Printed::parse(literal, source) {
        Some(printed) => printed,
        None => panic!("malformed literal"),
    }
}

/// Numbers in running text or a figure's caption.
struct Block {
    place: Place,
    cells: &'static [(&'static str, Raw)],
}

/// A printed table.
struct Grid {
    place: Place,
    columns: &'static [&'static str],
    rows: &'static [(&'static str, &'static [Raw])],
}

/// One data file: its running text and captions, then its tables.
struct Part {
    blocks: &'static [Block],
    grids: &'static [Grid],
}

const PARTS: [Part; 4] = [
    body::PART,
    experiments::PART,
    assessment::PART,
    closing::PART,
];

const fn place(label: &'static str, name: &'static str) -> Place {
    Place { label, name }
}

/// The id was asked for and is not in the paper's data, or holds a word instead of a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchCell {
    /// The id.
    pub id: String,
}

impl fmt::Display for NoSuchCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the paper's data has no number with the id `{}`; see `Paper::cells` for all ids",
            self.id
        )
    }
}

impl std::error::Error for NoSuchCell {}

/// All cells, in the order of the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paper {
    cells: Vec<Cell>,
    index: BTreeMap<String, usize>,
}

impl Paper {
    /// The paper as it is printed.
    pub fn published() -> Paper {
        let mut paper = Paper {
            cells: Vec::new(),
            index: BTreeMap::new(),
        };
        for part in PARTS {
            for block in part.blocks {
                paper.block(block);
            }
            for grid in part.grids {
                paper.grid(grid);
            }
        }
        paper
    }

    fn block(&mut self, block: &Block) {
        for (name, raw) in block.cells {
            self.push(format!("{}/{name}", block.place.label), block.place, *raw);
        }
    }

    fn grid(&mut self, grid: &Grid) {
        for (row, cells) in grid.rows {
            for (column, raw) in grid.columns.iter().zip(cells.iter()) {
                self.push(
                    format!("{}/{row}/{column}", grid.place.label),
                    grid.place,
                    *raw,
                );
            }
        }
    }

    fn push(&mut self, id: String, place: Place, raw: Raw) {
        let (value, deviation) = match raw {
            Raw::One(printed) => (Value::Number(printed), None),
            Raw::PlusMinus(mean, deviation) => (Value::Number(mean), Some(deviation)),
            Raw::Text(text) => (Value::Text(text), None),
        };
        let spread = deviation.map(|printed| (format!("{id}.sd"), Value::Number(printed)));
        for (id, value) in std::iter::once((id, value)).chain(spread) {
            self.index.insert(id.clone(), self.cells.len());
            self.cells.push(Cell { id, place, value });
        }
    }

    /// All cells, in the order of the paper.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The cells that hold a number.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, Printed)> {
        self.cells.iter().filter_map(|cell| match cell.value {
            Value::Number(printed) => Some((cell.id.as_str(), printed)),
            Value::Text(_) => None,
        })
    }

    /// All numbers in the form that experiments compare theirs with; the ends of the rounding
    /// intervals are the nearest doubles.
    pub fn for_experiments(&self) -> Published {
        let double = |x: num_rational::BigRational| x.to_f64().unwrap_or(f64::NAN);
        Published::new(self.numbers().map(|(id, printed)| {
            let (low, high) = printed.interval();
            let number = Comparable {
                value: double(printed.value()),
                low: double(low),
                high: double(high),
                digits: printed.digits_after_point(),
            };
            (id.to_owned(), number)
        }))
    }

    /// The cell with an id.
    pub fn cell(&self, id: &str) -> Option<&Cell> {
        self.cells.get(*self.index.get(id)?)
    }

    /// The number in a cell.
    ///
    /// # Errors
    /// [`NoSuchCell`] where there is no such id, or the cell holds a word.
    pub fn number(&self, id: &str) -> Result<Printed, NoSuchCell> {
        match self.cell(id).map(|cell| &cell.value) {
            Some(Value::Number(printed)) => Ok(*printed),
            _ => Err(NoSuchCell { id: id.to_owned() }),
        }
    }

    /// The cells whose id begins with `prefix`, in the order of the paper.
    pub fn under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Cell> {
        self.cells
            .iter()
            .filter(move |cell| cell.id.starts_with(prefix))
    }

    /// The paper with another number in one cell.
    ///
    /// # Errors
    /// [`NoSuchCell`] where there is no such number.
    pub fn with(&self, id: &str, printed: Printed) -> Result<Paper, NoSuchCell> {
        self.number(id)?;
        let mut altered = self.clone();
        if let Some(&at) = self.index.get(id) {
            altered.cells[at].value = Value::Number(printed);
        }
        Ok(altered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_used_once() {
        let paper = Paper::published();
        assert_eq!(paper.index.len(), paper.cells.len());
        for (at, cell) in paper.cells.iter().enumerate() {
            assert_eq!(paper.index[&cell.id], at);
            assert!(cell.id.starts_with(cell.place.label));
        }
    }

    #[test]
    fn rows_are_as_long_as_their_header() {
        for grid in PARTS.iter().flat_map(|part| part.grids) {
            for (row, cells) in grid.rows {
                assert_eq!(
                    cells.len(),
                    grid.columns.len(),
                    "{}/{row}",
                    grid.place.label
                );
            }
        }
    }

    #[test]
    fn altering_one_cell_leaves_the_rest() {
        let paper = Paper::published();
        let id = "tab:thm2/M=16/mean";
        let altered = paper
            .with(id, paper.number(id).unwrap().shifted(1))
            .unwrap();
        assert_eq!(altered.number(id).unwrap().to_string(), "0.014");
        let differing = paper
            .cells
            .iter()
            .zip(&altered.cells)
            .filter(|(a, b)| a != b)
            .count();
        assert_eq!(differing, 1);
        assert!(
            paper
                .with("tab:thm2/M=17/mean", paper.number(id).unwrap())
                .is_err()
        );
        assert!(paper.number("tab:empirical-comparison/gap/note").is_err());
    }
}
