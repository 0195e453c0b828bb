//! Printed numbers that follow from other printed numbers, recomputed.
//!
//! Each entry names a cell and the expression that should give it. The comparison is exact
//! interval logic: the values that the cell's digits leave open against all values that the
//! expression can take over the rounding of its own inputs. They *agree* where they have a number
//! in common; where they have none, no choice of unrounded numbers explains what is printed. The
//! entries stand in `relations.txt`, whose head explains its format.

use std::collections::{BTreeMap, BTreeSet};

use super::expr::{Expr, LedgerError, Reading, enclose, overlap, shown};
use super::paper::{Paper, Printed, Relation, Source};
use super::text::{TextError, embedded, lines};
use crate::math::Enclosure;

/// Whether a number is computed from others or printed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A formula gives it.
    Derived,
    /// The same quantity is printed elsewhere.
    Repeat,
}

/// A cell and what should give it.
#[derive(Clone, Debug)]
pub struct Recomputation {
    /// The claim that this belongs to.
    pub claim: String,
    /// The printed cell.
    pub cell: String,
    /// What it should be.
    pub expr: Expr,
    /// Computed or printed again.
    pub kind: Kind,
}

/// A recomputed cell beside the printed one.
#[derive(Clone, Debug, PartialEq)]
pub struct Recomputed {
    /// The cell.
    pub cell: String,
    /// What is printed there.
    pub printed: Printed,
    /// All values that the inputs' rounding leaves open.
    pub value: Enclosure,
    /// The expression with the printed digits.
    pub formula: String,
    /// Whether printed and recomputed have a value in common.
    pub agrees: bool,
}

impl Recomputed {
    /// The recomputed value with two digits more than the printed one has, in its unit.
    pub fn shown(&self) -> String {
        let (scaled, suffix) = match self.printed.suffix() {
            super::paper::Suffix::Percent => (&self.value * &Enclosure::integer(100), "%"),
            super::paper::Suffix::Times => (self.value.clone(), "×"),
            super::paper::Suffix::None => (self.value.clone(), ""),
        };
        let digits = self.printed.to_string();
        let places = digits.split_once('.').map_or(0, |(_, tail)| {
            tail.chars().filter(char::is_ascii_digit).count()
        });
        // A printed number has at most a handful of digits.
        let places = u32::try_from(places).unwrap_or(0) + 2;
        format!("{}{suffix}", shown(&scaled, places))
    }
}

impl Recomputation {
    /// Evaluates the expression and compares.
    ///
    /// # Errors
    /// [`LedgerError`] where a cell is missing or the expression undefined.
    pub fn compare(&self, paper: &Reading<'_>) -> Result<Recomputed, LedgerError> {
        let printed = paper.number(&self.cell)?;
        let value = self.expr.value(paper)?;
        let agrees = match (&self.expr, printed.relation()) {
            // Two upper bounds have always a value in common; printed again, they must be equal.
            (Expr::Cell(other), Relation::Below)
                if paper.number(other)?.relation() == Relation::Below =>
            {
                paper.number(other)?.value() == printed.value()
            }
            _ => overlap(&enclose(&printed), &value),
        };
        Ok(Recomputed {
            cell: self.cell.clone(),
            printed,
            formula: self.expr.written_out(paper.paper()),
            value,
            agrees,
        })
    }
}

const FILE: &str = "src/ledger/relations.txt";
const RELATIONS: &str = include_str!("relations.txt");

/// Every recomputation, in the order of `relations.txt`.
pub fn all() -> Vec<Recomputation> {
    embedded(parse(RELATIONS, &Paper::published()))
}

/// Reads the format that the head of `relations.txt` explains.
fn parse(text: &'static str, paper: &Paper) -> Result<Vec<Recomputation>, TextError> {
    let mut list = Vec::new();
    let mut claim = String::new();
    // The places of a `for`, and the relations below it, which are written out at its end.
    let mut places: Vec<String> = Vec::new();
    let mut below: Vec<Recomputation> = Vec::new();
    let mut write_out = |places: &mut Vec<String>, below: &mut Vec<Recomputation>| {
        for place in std::mem::take(places) {
            list.extend(below.iter().map(|entry| Recomputation {
                cell: entry.cell.replacen('@', &place, 1),
                expr: entry.expr.at(&place),
                ..entry.clone()
            }));
        }
        below.clear();
    };
    for (line, content) in lines(text) {
        let error = |message: String| TextError {
            file: FILE,
            line,
            message,
        };
        let Some(content) = content.strip_prefix("  ") else {
            write_out(&mut places, &mut below);
            claim = content;
            places.push(String::new());
            continue;
        };
        if content == "end" {
            write_out(&mut places, &mut below);
            places.push(String::new());
        } else if let Some(list) = content.strip_prefix("for ") {
            write_out(&mut places, &mut below);
            places = match list.strip_prefix("each row of ") {
                Some(table) => paper.rows(table).to_vec(),
                None => list.split(' ').map(str::to_owned).collect(),
            };
            if places.is_empty() {
                return Err(error(format!("`{list}` names no place")));
            }
        } else {
            let found = relations(&claim, content, paper).map_err(error)?;
            below.extend(found);
        }
    }
    write_out(&mut places, &mut below);
    Ok(list)
}

/// The relations of one line.
fn relations(claim: &str, line: &str, paper: &Paper) -> Result<Vec<Recomputation>, String> {
    let entry = |cell: &str, expr: &Expr, kind: Kind| Recomputation {
        claim: claim.to_owned(),
        cell: cell.to_owned(),
        expr: expr.clone(),
        kind,
    };
    if let Some((first, again)) = line.split_once(" again at ") {
        let expr = match cells(first)?[..] {
            [one] => Expr::Cell(one.to_owned()),
            _ => return Err("one cell stands before `again at`".to_owned()),
        };
        let again = cells(again)?;
        return Ok(again
            .iter()
            .map(|id| entry(id, &expr, Kind::Repeat))
            .collect());
    }
    let (given, formula) = line
        .split_once(" = ")
        .ok_or("neither ` = ` nor ` again at ` is there")?;
    let expr = Expr::parse(formula, paper).map_err(|error| error.to_string())?;
    let given = cells(given)?;
    Ok(given
        .iter()
        .map(|id| entry(id, &expr, Kind::Derived))
        .collect())
}

/// The ids in `[id] [id] …`.
fn cells(text: &str) -> Result<Vec<&str>, String> {
    text.split_whitespace()
        .map(|word| {
            word.strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
                .ok_or_else(|| format!("`{word}` is not a cell in brackets"))
        })
        .collect()
}

/// How many cells there are, and what became of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Cells with a number.
    pub numbers: usize,
    /// Of these, chosen or counted ones.
    pub settings: usize,
    /// Cells with at least one formula.
    pub derived: usize,
    /// Of these, those that agree with every formula given for them.
    pub derived_agreeing: usize,
    /// Cells that only repeat, or are repeated by, another.
    pub repeated: usize,
    /// Of these, those that agree with all their repetitions.
    pub repeated_agreeing: usize,
    /// Cells that neither follow from others nor are printed again: measured once, or a setting
    /// stated once.
    pub alone: Vec<String>,
    /// Cells that differ from a formula or a repetition.
    pub differing: Vec<String>,
}

/// Counts what can be recomputed and what agrees.
///
/// # Errors
/// [`LedgerError`] from the first recomputation that has no value.
pub fn coverage(paper: &Paper) -> Result<Coverage, LedgerError> {
    let reading = Reading::new(paper);
    let mut outcome: BTreeMap<(Kind, String), bool> = BTreeMap::new();
    let mut sources = BTreeSet::new();
    for recomputation in all() {
        let agrees = recomputation.compare(&reading)?.agrees;
        let key = (recomputation.kind, recomputation.cell.clone());
        *outcome.entry(key).or_insert(true) &= agrees;
        if let (Kind::Repeat, Expr::Cell(source)) = (recomputation.kind, &recomputation.expr) {
            sources.insert(source.clone());
        }
    }
    let derived = |id: &str| outcome.get(&(Kind::Derived, id.to_owned())).copied();
    let repeated = |id: &str| {
        let own = outcome.get(&(Kind::Repeat, id.to_owned())).copied();
        own.or_else(|| sources.contains(id).then_some(true))
    };
    let mut coverage = Coverage {
        numbers: 0,
        settings: 0,
        derived: 0,
        derived_agreeing: 0,
        repeated: 0,
        repeated_agreeing: 0,
        alone: Vec::new(),
        differing: Vec::new(),
    };
    for (id, printed) in paper.numbers() {
        coverage.numbers += 1;
        coverage.settings += usize::from(printed.source() == Source::Setting);
        match (derived(id), repeated(id)) {
            (Some(agrees), _) => {
                coverage.derived += 1;
                coverage.derived_agreeing += usize::from(agrees);
            }
            (None, Some(agrees)) => {
                coverage.repeated += 1;
                coverage.repeated_agreeing += usize::from(agrees);
            }
            (None, None) => coverage.alone.push(id.to_owned()),
        }
        if derived(id) == Some(false) || repeated(id) == Some(false) {
            coverage.differing.push(id.to_owned());
        }
    }
    Ok(coverage)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(paper: &Paper) -> Vec<Recomputed> {
        let reading = Reading::new(paper);
        all()
            .iter()
            .map(|r| {
                r.compare(&reading)
                    .unwrap_or_else(|e| panic!("{}: {e}", r.cell))
            })
            .collect()
    }

    #[test]
    fn every_recomputation_has_a_value_and_no_pair_is_listed_twice() {
        let paper = Paper::published();
        let seen: BTreeSet<(String, String)> = all()
            .iter()
            .map(|r| (r.cell.clone(), format!("{:?}", r.expr)))
            .collect();
        assert_eq!(seen.len(), outcomes(&paper).len());
    }

    #[test]
    fn a_misprint_of_one_unit_in_a_bound_is_seen() {
        let paper = Paper::published();
        let id = "tab:thm2/M=16/bound";
        let altered = paper
            .with(id, paper.number(id).unwrap().shifted(1))
            .unwrap();
        let agreeing = |paper: &Paper| {
            outcomes(paper)
                .iter()
                .filter(|o| o.cell == id)
                .all(|o| o.agrees)
        };
        assert!(agreeing(&paper));
        assert!(!agreeing(&altered));
    }

    #[test]
    fn an_error_names_its_line() {
        let paper = Paper::published();
        for (text, message) in [
            ("T1\n  [a] + 1\n", "2: neither ` = `"),
            ("T1\n  [a] = 1 +\n", "2: `1 +`: no value"),
            ("T1\n  a = 1\n", "2: `a` is not a cell"),
            ("T1\n\n  [a] [b] again at [c]\n", "3: one cell stands"),
            (
                "T1\n  for each row of tab:none\n",
                "2: `each row of tab:none`",
            ),
        ] {
            let error = parse(text, &paper).unwrap_err().to_string();
            assert!(error.contains(&format!("{FILE}:{message}")), "{error}");
        }
        let twice = "T1\n  for a b\n  [@/x] = [@/y]\n  end\n  [c] = 1\n";
        let list = parse(twice, &paper).unwrap();
        let ids: Vec<&str> = list.iter().map(|entry| entry.cell.as_str()).collect();
        assert_eq!(ids, ["a/x", "b/x", "c"]);
    }
}
