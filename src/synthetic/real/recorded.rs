//! What other people's methods say about the entities to be judged by, as recorded.

use crate::simplex::{Distribution, SimplexError};

/// Recorded by `baselines.py`.
const BASELINES: &str = include_str!("baselines.txt");

/// The methods, and what they are called in tables.
const METHODS: [(&str, &str); 2] = [
    ("stacked", "stacked logistic regression"),
    ("forest", "random forest"),
];

/// A method of another program.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its name.
    pub name: &'static str,
    /// What it said about each entity to be judged by, in their order.
    pub answers: Vec<Distribution>,
}

/// What was recorded for a set. Probabilities have four digits, so they are divided by their sum.
///
/// # Errors
/// [`SimplexError`] for a row that is no distribution.
pub(super) fn recorded(set: &str) -> Result<Vec<Recorded>, SimplexError> {
    let rows = BASELINES.lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<Vec<&str>> = rows.map(|line| line.split(' ').collect()).collect();
    let method = |(id, name): (&str, &'static str)| {
        let own = rows.iter().filter(|row| row[..2] == [set, id]);
        let answer = |row: &Vec<&str>| {
            let numbers = row[2..].iter().map(|n| n.parse().unwrap_or(f64::NAN));
            Distribution::from_weights(numbers.collect::<Vec<f64>>())
        };
        let answers = own.map(answer).collect::<Result<_, _>>()?;
        Ok(Recorded { name, answers })
    };
    METHODS.into_iter().map(method).collect()
}
