//! Three columns of results: the paper's, ours on the author's data, ours where the exact posterior
//! is known.

use super::{ExperimentError, Findings, Lab, Origin, Printed, Published, Statement, Summary};
use crate::exhibit::{Cell, Table};

/// Something that was measured, and where the paper prints it.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// What it is; the same name in both of our columns.
    pub what: String,
    /// Over all runs.
    pub ours: Summary,
    /// Id of the paper's number.
    pub paper: Option<String>,
    /// Digits after the point.
    pub digits: u8,
}

impl Quantity {
    /// A quantity that the paper does not print.
    pub fn new(what: impl Into<String>, ours: Summary, digits: u8) -> Self {
        Quantity {
            what: what.into(),
            ours,
            paper: None,
            digits,
        }
    }

    /// A quantity that the paper prints.
    pub fn printed(
        what: impl Into<String>,
        ours: Summary,
        digits: u8,
        id: impl Into<String>,
    ) -> Self {
        Quantity {
            paper: Some(id.into()),
            ..Quantity::new(what, ours, digits)
        }
    }

    /// One value a run.
    pub fn over<R>(
        what: impl Into<String>,
        runs: &[R],
        digits: u8,
        value: impl Fn(&R) -> f64,
    ) -> Self {
        Quantity::new(what, Summary::of(runs.iter().map(value)), digits)
    }

    /// The same, with the id of the paper's number.
    #[must_use]
    pub fn as_in(mut self, id: impl Into<String>) -> Self {
        self.paper = Some(id.into());
        self
    }
}

/// What every three-column table says of its columns.
pub const COLUMNS: &str = "± is the standard deviation of one run. Difference: our mean on the \
                           author's data minus the paper's number, in standard errors of that \
                           difference, of which the paper's number is one run";

/// The table of quantities of both columns; what one of them lacks stays empty.
///
/// # Errors
/// [`ExperimentError::NotPrinted`].
pub fn compared(
    paper: &Published,
    id: impl Into<String>,
    title: &str,
    [author, known]: [&[Quantity]; 2],
) -> Result<Table, ExperimentError> {
    let mut table = Table::new(id, format!("{title}. {COLUMNS}."));
    let find = |of: &[Quantity], what: &str| of.iter().find(|q| q.what == what).cloned();
    let only_known = known.iter().filter(|q| find(author, &q.what).is_none());
    for quantity in author.iter().chain(only_known) {
        let ours = find(author, &quantity.what);
        let cell = |q: Option<&Quantity>| q.map_or(Cell::Empty, |q| q.ours.cell(q.digits));
        let (mut printed, mut difference) = (Cell::Empty, Cell::Empty);
        if let Some(id) = &quantity.paper {
            printed = paper.cell(id)?;
            let value = paper.number(id)?.value;
            let error = ours.as_ref().and_then(|q| q.ours.error_of_difference());
            if let (Some(q), Some(error)) = (&ours, error.filter(|&e| e > 0.0)) {
                difference = Cell::number((q.ours.mean - value) / error, 1);
            }
        }
        table.row([
            ("quantity", Cell::text(&quantity.what)),
            ("paper", printed),
            ("author's data", cell(ours.as_ref())),
            ("difference", difference),
            (
                "known posterior",
                cell(find(known, &quantity.what).as_ref()),
            ),
        ]);
    }
    Ok(table)
}

/// What agrees with the paper, in both columns.
#[derive(Debug, Default)]
pub struct Agreement {
    author: Findings,
    known: Findings,
}

impl Agreement {
    /// Compares every quantity that the paper prints.
    ///
    /// # Errors
    /// [`ExperimentError::NotPrinted`].
    pub fn numbers(
        &mut self,
        lab: &Lab,
        [author, known]: [&[Quantity]; 2],
    ) -> Result<(), ExperimentError> {
        for (findings, column) in [(&mut self.author, author), (&mut self.known, known)] {
            for quantity in column {
                if let Some(id) = &quantity.paper {
                    findings.number(&quantity.what, &quantity.ours, &lab.paper.number(id)?);
                }
            }
        }
        Ok(())
    }

    /// Compares one number with the printed one in a column.
    pub fn number(&mut self, origin: Origin, what: &str, ours: &Summary, printed: &Printed) {
        self.of(origin).number(what, ours, printed);
    }

    /// Notes whether something that the paper says holds in a column.
    pub fn claim(&mut self, origin: Origin, holds: bool, what: impl Into<String>) {
        self.of(origin).claim(holds, what);
    }

    fn of(&mut self, origin: Origin) -> &mut Findings {
        match origin {
            Origin::Author => &mut self.author,
            Origin::Known => &mut self.known,
        }
    }

    /// How much of it agrees in both columns.
    pub fn sentence(&self) -> String {
        let [(agree, all), (known, of)] = [self.author.counts(), self.known.counts()];
        format!(
            "{agree} of {all} statements of the paper agree with our runs on the author's data, {known} \
             of {of} with those on the domain with known posterior."
        )
    }

    /// The statements as they stand on the author's data.
    pub fn statements(self) -> Vec<Statement> {
        self.author.statements()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_in_standard_errors_of_one_run_against_a_mean() {
        let printed = Printed {
            value: 0.5,
            low: 0.495,
            high: 0.505,
            digits: 2,
        };
        let paper = Published::new([("x".to_owned(), printed)]);
        // Mean 0.8 and deviation 0.1 over 4 runs: 0.3/(0.1·√1.25) = 2.683.
        let ours = Summary {
            count: 4,
            mean: 0.8,
            deviation: Some(0.1),
        };
        let author = [Quantity::printed("a", ours, 2, "x")];
        let known = [
            Quantity::new("a", Summary::exact(0.25), 2),
            Quantity::new("b", Summary::exact(1.0), 2),
        ];
        let table = compared(&paper, "T", "t", [&author, &known]).unwrap();
        let shown: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|row| row.iter().map(Cell::shown).collect())
            .collect();
        assert_eq!(shown[0], ["a", "0.50", "0.80 ± 0.10", "2.7", "0.25"]);
        assert_eq!(shown[1], ["b", "—", "—", "—", "1.00"]);
    }
}
