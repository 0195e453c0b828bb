//! The paper's numbers as an experiment needs them, and what agrees with them.
//!
//! Experiments do not know the paper: whoever runs them hands in its numbers, by id.

use std::collections::BTreeMap;

use super::{ExperimentError, Statement, Summary};
use crate::exhibit::Cell;

/// A number that the paper prints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// The printed value; a percentage as a fraction of one.
    pub value: f64,
    /// The smallest value that is printed so.
    pub low: f64,
    /// The largest value that is printed so.
    pub high: f64,
    /// Digits after the point.
    pub digits: u8,
}

/// All numbers that the paper prints, by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published(BTreeMap<String, Printed>);

impl Published {
    /// From pairs of id and number.
    pub fn new(numbers: impl IntoIterator<Item = (String, Printed)>) -> Self {
        Published(numbers.into_iter().collect())
    }

    /// The number with this id.
    ///
    /// # Errors
    /// [`ExperimentError::NotPrinted`].
    pub fn number(&self, id: &str) -> Result<Printed, ExperimentError> {
        let missing = || ExperimentError::NotPrinted { id: id.to_owned() };
        self.0.get(id).copied().ok_or_else(missing)
    }

    /// The number as a cell of a table, with the standard deviation that is printed with it.
    ///
    /// # Errors
    /// [`ExperimentError::NotPrinted`].
    pub fn cell(&self, id: &str) -> Result<Cell, ExperimentError> {
        let printed = self.number(id)?;
        Ok(match self.0.get(&format!("{id}.sd")) {
            Some(sd) => Cell::spread(printed.value, sd.value, printed.digits),
            None => Cell::number(printed.value, printed.digits),
        })
    }

    /// Printed values as points: at each abscissa the one with the id made of it.
    ///
    /// # Errors
    /// [`ExperimentError::NotPrinted`].
    pub fn points(
        &self,
        at: &[usize],
        id: impl Fn(usize) -> String,
    ) -> Result<Vec<(f64, f64)>, ExperimentError> {
        let point = |&x: &usize| Ok((x as f64, self.number(&id(x))?.value));
        at.iter().map(point).collect()
    }
}

/// How many standard errors of the difference between our mean and a number of the paper, which is
/// one run, that number may be away and still agree.
const ERRORS: f64 = 2.0;

/// What agrees with the paper and what does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings(Vec<Statement>);

impl Findings {
    /// Compares a number with the printed one: they agree where some value that is printed so lies
    /// within two standard errors of the difference from our mean. A computed number, without spread,
    /// must itself be printed so.
    pub fn number(&mut self, what: &str, ours: &Summary, printed: &Printed) {
        let reach = ERRORS * ours.error_of_difference().unwrap_or(0.0);
        let agrees = ours.mean - reach <= printed.high && printed.low <= ours.mean + reach;
        let d = usize::from(printed.digits);
        // Digits enough to see a spread that the paper's digits would hide.
        let digits = ours.deviation.map_or(0, |_| 3).max(printed.digits);
        let shown = ours.cell(digits).shown();
        let words = format!("{what}: {shown} here, {:.d$} there", printed.value);
        self.note(agrees, words);
    }

    /// Notes whether something that the paper says holds here too.
    pub fn claim(&mut self, holds: bool, what: impl Into<String>) {
        self.note(holds, what.into());
    }

    fn note(&mut self, agrees: bool, words: String) {
        self.0.push(Statement { words, agrees });
    }

    /// How many agree, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        let agree = self.0.iter().filter(|s| s.agrees).count();
        (agree, self.0.len())
    }

    /// Each of them, for the outcome of an experiment.
    pub fn statements(self) -> Vec<Statement> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(value: f64) -> Printed {
        Printed {
            value,
            low: value - 0.0005,
            high: value + 0.0005,
            digits: 3,
        }
    }

    #[test]
    fn agreement_is_two_standard_errors_and_the_rounding() {
        let ours = Summary {
            count: 5,
            mean: 0.5,
            deviation: Some(0.01),
        };
        // Two standard errors: 2·0.01·√1.2 = 0.0219, and 0.0005 for the rounding.
        let verdict = |ours: &Summary, value: f64| {
            let mut findings = Findings::default();
            findings.number("x", ours, &printed(value));
            findings.counts() == (1, 1)
        };
        for (value, agrees) in [(0.522, true), (0.478, true), (0.523, false), (0.477, false)] {
            assert_eq!(verdict(&ours, value), agrees, "{value}");
        }
        let exact = Summary::exact(0.77359);
        assert!(verdict(&exact, 0.774) && !verdict(&exact, 0.773));
    }

    #[test]
    fn statements_carry_both_numbers() {
        let mut findings = Findings::default();
        findings.claim(true, "a");
        findings.number("b", &Summary::exact(0.25), &printed(0.5));
        assert_eq!(findings.counts(), (1, 2));
        let words: Vec<String> = findings.statements().into_iter().map(|s| s.words).collect();
        assert_eq!(words, ["a", "b: 0.250 here, 0.500 there"]);
    }

    #[test]
    fn cells_carry_the_printed_deviation_and_missing_ids_are_named() {
        let published = Published::new([
            ("a".to_owned(), printed(0.125)),
            ("a.sd".to_owned(), printed(0.25)),
        ]);
        assert_eq!(published.cell("a").unwrap(), Cell::spread(0.125, 0.25, 3));
        let id = "b".to_owned();
        assert!(
            matches!(published.cell("b"), Err(ExperimentError::NotPrinted { id: named }) if named == id)
        );
    }
}
