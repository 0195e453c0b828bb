//! The paper as data: every number it prints, with the place where it stands.
//!
//! Which paper it is says [`CITATION`]. It is not part of this repository; every cell names its
//! section, table or figure ([`Place`]), so that it can be found there, and `outline.txt` lists what a
//! reader finds in which section.
//!
//! A cell's id is `place/name` for a number in running text and `place/row/column` for one in a
//! table; where a table prints `a ± b`, the second number's column ends in `.sd`. The cells are
//! held in a value, [`Paper`], which every check takes as an argument: a test can alter one number
//! and see which verdicts notice. They stand in `numbers.txt`, whose head explains its format.

mod graph;
#[cfg(test)]
mod outline;
mod printed;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use num_traits::ToPrimitive;

use super::text::{TextError, embedded};
use crate::experiments::{Printed as Comparable, Published};

pub use graph::{Account, Dependency, DependencyGraph, Disagreement, Node};
pub use printed::{Printed, Relation, Source, Suffix};

/// What a reader needs to find a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Citation {
    /// The title.
    pub title: &'static str,
    /// The author, with the name in the order of the catalogue.
    pub author: &'static str,
    /// The author's institution.
    pub institution: &'static str,
    /// The year of publication.
    pub year: u16,
    /// The number under which the archive has it.
    pub archive: &'static str,
    /// Where it is read.
    pub url: &'static str,
}

/// The paper whose claims the ledger judges.
pub const CITATION: Citation = Citation {
    title: "Theoretical Foundations of Latent Posterior Factors: Formal Guarantees for Multi-Evidence \
            Reasoning",
    author: "Aliyu Agboola Alege",
    institution: "Epalea",
    year: 2026,
    archive: "arXiv:2603.15674",
    url: "https://arxiv.org/abs/2603.15674",
};

impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Citation {
            title,
            author,
            year,
            archive,
            ..
        } = self;
        write!(f, "{author}: {title} ({year}), {archive}")
    }
}

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

impl Cell {
    /// Where a reader finds it: `tab:thm5/eps=0.2/ratio` is `Section 6.5, Table 5, ε = 0.2, ratio`.
    pub fn whereabouts(&self) -> String {
        let name = self.id.strip_prefix(self.place.label).unwrap_or(&self.id);
        let parts = name.split('/').filter(|part| !part.is_empty());
        parts.fold(self.place.name.to_owned(), |said, part| {
            let words: Vec<&str> = part.split('-').map(word).collect();
            let words = words.join(" ").replace("eps=", "ε=");
            format!(
                "{said}, {}",
                words.replace('=', " = ").replace(".sd", ", deviation")
            )
        })
    }
}

/// What a reader calls a word of an id.
fn word(of: &str) -> &str {
    match of {
        "ece" => "ECE",
        "epsilon" | "eps" => "ε",
        "delta" => "δ",
        "lambda" => "λ",
        "sigma" => "σ",
        "p95" => "95th percentile",
        other => other,
    }
}

/// The id was asked for and is not in the paper's data, or holds a word instead of a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchCell {
    /// The id that was asked for.
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paper {
    cells: Vec<Cell>,
    index: BTreeMap<String, usize>,
    /// `label/row` of each row, for each table's label.
    rows: BTreeMap<&'static str, Vec<String>>,
}

/// Where the numbers are, and their text.
const FILE: &str = "src/ledger/paper/numbers.txt";
const NUMBERS: &str = include_str!("numbers.txt");

impl Paper {
    /// The paper as it is printed.
    pub fn published() -> Paper {
        static PUBLISHED: LazyLock<Paper> = LazyLock::new(|| embedded(Paper::parse(NUMBERS)));
        PUBLISHED.clone()
    }

    /// Reads the format that the head of `numbers.txt` explains.
    fn parse(text: &'static str) -> Result<Paper, TextError> {
        let mut paper = Paper::default();
        let mut place = None;
        let mut columns: Option<Vec<&str>> = None;
        for (index, line) in text.lines().enumerate() {
            let error = |message: String| TextError {
                file: FILE,
                line: index + 1,
                message,
            };
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(rest) = line.strip_prefix('[') {
                let (label, name) = rest
                    .split_once("] ")
                    .ok_or_else(|| error("a place is written `[label] name`".into()))?;
                place = Some(Place { label, name });
                columns = None;
                continue;
            }
            let place = place.ok_or_else(|| error("no place is named above".into()))?;
            let mut parts = line.split(" | ").map(str::trim);
            let name = parts.next().unwrap_or_default();
            let values: Vec<&str> = parts.collect();
            if values.is_empty() {
                let (name, value) = line
                    .split_once("  ")
                    .ok_or_else(|| error("two spaces separate a name and its value".into()))?;
                let id = format!("{}/{name}", place.label);
                paper.push(id, place, value.trim()).map_err(error)?;
            } else if name.is_empty() {
                columns = Some(values);
            } else {
                let columns = columns.as_ref().filter(|names| names.len() == values.len());
                let columns = columns.ok_or_else(|| {
                    error(format!(
                        "a row of {} values below another header",
                        values.len()
                    ))
                })?;
                let row = format!("{}/{name}", place.label);
                for (column, value) in columns.iter().zip(values) {
                    let id = format!("{row}/{column}");
                    paper.push(id, place, value).map_err(error)?;
                }
                paper.rows.entry(place.label).or_default().push(row);
            }
        }
        Ok(paper)
    }

    fn push(&mut self, id: String, place: Place, value: &'static str) -> Result<(), String> {
        if let Some(words) = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')) {
            return self.insert(id, place, Value::Text(words));
        }
        let number = |literal: &str| {
            let (source, digits) = match literal.strip_prefix('=') {
                Some(rest) => (Source::Setting, rest),
                None => (Source::Result, literal),
            };
            Printed::parse(digits, source)
                .map(Value::Number)
                .ok_or_else(|| format!("`{literal}` is neither a number nor a text in quotes"))
        };
        match value.split_once(" ± ") {
            None => self.insert(id, place, number(value)?),
            Some((mean, deviation)) => {
                let spread = format!("{id}.sd");
                self.insert(id, place, number(mean)?)?;
                self.insert(spread, place, number(deviation)?)
            }
        }
    }

    fn insert(&mut self, id: String, place: Place, value: Value) -> Result<(), String> {
        if self.index.insert(id.clone(), self.cells.len()).is_some() {
            return Err(format!("`{id}` is there twice"));
        }
        self.cells.push(Cell { id, place, value });
        Ok(())
    }

    /// The rows of a table, as `label/row`; none for a label that is no table's.
    pub fn rows(&self, label: &str) -> &[String] {
        self.rows.get(label).map_or(&[], Vec::as_slice)
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
    fn every_line_of_the_file_is_understood() {
        let paper = Paper::parse(NUMBERS).unwrap_or_else(|error| panic!("{error}"));
        for (at, cell) in paper.cells.iter().enumerate() {
            assert_eq!(paper.index[&cell.id], at);
            assert!(cell.id.starts_with(cell.place.label));
        }
        assert_eq!(paper.rows("tab:thm2").len(), 5);
        assert_eq!(paper.rows("tab:thm2")[1], "tab:thm2/M=8");
    }

    #[test]
    fn a_reader_is_told_places_and_not_ids() {
        let paper = Paper::published();
        for (id, said) in [
            ("sec:thm1/C", "Section 3.1, C"),
            (
                "tab:thm5/eps=0.2/ratio",
                "Section 6.5, Table 5, ε = 0.2, ratio",
            ),
            (
                "fig:calibration/learned-ece",
                "Section 6.1, Figure 2, caption, learned ECE",
            ),
            (
                "tab:thm2/M=16/mean.sd",
                "Section 6.2, Table 2, M = 16, mean, deviation",
            ),
        ] {
            assert_eq!(paper.cell(id).unwrap().whereabouts(), said);
        }
        for cell in &paper.cells {
            let said = cell.whereabouts();
            assert!(!said.contains([':', '/']), "{}: {said}", cell.id);
        }
    }

    #[test]
    fn an_error_names_its_line() {
        for (text, message) in [
            (
                "# head\n[a] A\nx  0.5.1\n",
                "3: `0.5.1` is neither a number",
            ),
            ("[a] A\nx  0.5\ny  1\nx  0.5\n", "4: `a/x` is there twice"),
            ("x  1\n", "1: no place is named above"),
            ("[a] A\nx 1\n", "2: two spaces separate"),
            ("[a]A\n", "1: a place is written"),
            ("[a] A\n  | x | y\nr | 1\n", "3: a row of 1 values"),
            ("[a] A\nx  yes\n", "2: `yes` is neither"),
        ] {
            let error = Paper::parse(text).unwrap_err().to_string();
            assert!(error.contains(&format!("{FILE}:{message}")), "{error}");
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
