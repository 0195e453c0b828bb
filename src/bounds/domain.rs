//! What a bound's parameters may be, and the error that names the one that is not.

use std::fmt;

use super::KishError;
use crate::math::Interval;

/// Why a bound has no value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BoundError {
    /// A parameter lies outside the domain of the bound.
    Parameter {
        /// Which parameter, by its name in the formula.
        name: &'static str,
        /// The value that was given.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// An entry of a list lies outside the domain.
    Entry {
        /// The name of the list's entries, such as `weight`.
        name: &'static str,
        /// The position of the entry in the list, from 0.
        index: usize,
        /// The value found.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Two lists that belong together differ in length.
    Lengths {
        /// What is listed.
        name: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The weights have no effective count.
    Weights(KishError),
}

impl fmt::Display for BoundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoundError::Parameter {
                name,
                value,
                allowed,
            } => write!(f, "{name} is {value}; it must be {allowed}"),
            BoundError::Entry {
                name,
                index,
                value,
                allowed,
            } => write!(f, "{name} {index} is {value}; it must be {allowed}"),
            BoundError::Lengths {
                name,
                expected,
                found,
            } => write!(f, "there are {found} {name}, not {expected}"),
            BoundError::Weights(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BoundError {}

impl From<KishError> for BoundError {
    fn from(error: KishError) -> Self {
        BoundError::Weights(error)
    }
}

fn require(
    holds: bool,
    name: &'static str,
    value: f64,
    allowed: &'static str,
) -> Result<Interval, BoundError> {
    if holds {
        Ok(Interval::point(value))
    } else {
        Err(BoundError::Parameter {
            name,
            value,
            allowed,
        })
    }
}

/// A failure probability or the like: `0 < x < 1`.
pub(super) fn open_unit(name: &'static str, x: f64) -> Result<Interval, BoundError> {
    require(x > 0.0 && x < 1.0, name, x, "strictly between 0 and 1")
}

/// A probability: `0 ≤ x ≤ 1`.
pub(super) fn unit(name: &'static str, x: f64) -> Result<Interval, BoundError> {
    require((0.0..=1.0).contains(&x), name, x, "between 0 and 1")
}

/// `0 ≤ x < ∞`.
pub(super) fn not_negative(name: &'static str, x: f64) -> Result<Interval, BoundError> {
    let holds = x >= 0.0 && x.is_finite();
    require(holds, name, x, "finite and not negative")
}

/// `0 < x < ∞`.
pub(super) fn positive(name: &'static str, x: f64) -> Result<Interval, BoundError> {
    require(x > 0.0 && x.is_finite(), name, x, "finite and above zero")
}

/// A count of at least one.
pub(super) fn at_least_one(name: &'static str, n: u64) -> Result<Interval, BoundError> {
    require(n >= 1, name, n as f64, "at least 1")?;
    Ok(Interval::count(n))
}

/// A count of at least two.
pub(super) fn at_least_two(name: &'static str, n: u64) -> Result<Interval, BoundError> {
    require(n >= 2, name, n as f64, "at least 2")?;
    Ok(Interval::count(n))
}

/// Entries that must all satisfy a condition.
pub(super) fn entries(
    name: &'static str,
    values: &[f64],
    allowed: &'static str,
    holds: impl Fn(f64) -> bool,
) -> Result<(), BoundError> {
    match values.iter().position(|&x| !holds(x)) {
        None => Ok(()),
        Some(index) => Err(BoundError::Entry {
            name,
            index,
            value: values[index],
            allowed,
        }),
    }
}
