//! Printed numbers that follow from other printed numbers, recomputed.
//!
//! Each entry names a cell and the expression that should give it. The comparison is exact
//! interval logic: the values that the cell's digits leave open against all values that the
//! expression can take over the rounding of its own inputs. They *agree* where they have a number
//! in common; where they have none, no choice of unrounded numbers explains what is printed.

mod comparisons;
mod repeats;
mod scaling;
mod theorems;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use scaling::{CORRUPTION, ITEM_COUNTS, VARIANCE_COUNTS};
pub(super) use theorems::{
    REFERENCE_LATENT, SAMPLE_SIZES, TRAINING_SIZES, gap_bound, least_of, most_of,
};

use super::expr::{Expr, LedgerError, Reading, enclose, meet, shown};
use super::paper::{Paper, Printed, Relation, Source};
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
    pub claim: &'static str,
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
            _ => meet(&enclose(&printed), &value),
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

/// Every recomputation, grouped by claim.
pub fn all() -> Vec<Recomputation> {
    let mut list = Vec::new();
    theorems::add(&mut list);
    scaling::add(&mut list);
    comparisons::add(&mut list);
    repeats::add(&mut list);
    list
}

fn derived(
    list: &mut Vec<Recomputation>,
    claim: &'static str,
    cell: impl Into<String>,
    expr: Expr,
) {
    list.push(Recomputation {
        claim,
        cell: cell.into(),
        expr,
        kind: Kind::Derived,
    });
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
    fn the_parameter_count_is_that_of_the_reference_aggregator() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/reference/aggregator.safetensors"
        );
        let bytes = std::fs::read(file).unwrap();
        let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let count: usize = tensors
            .tensors()
            .iter()
            .map(|(_, tensor)| tensor.shape().iter().product::<usize>())
            .sum();
        // The fixture's aggregator has 16 hidden units, as the paper's.
        let (_, quality) = tensors
            .tensors()
            .into_iter()
            .find(|(name, _)| name == "quality_net.0.bias")
            .unwrap();
        assert_eq!(quality.shape(), [16]);
        let expected = theorems::aggregator_parameters(theorems::REFERENCE_LATENT, 16);
        assert_eq!(count as u64, expected);
    }
}
