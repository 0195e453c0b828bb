//! What a bound's parameters may be, and the error that names the one that is not.

use super::KishError;
use crate::math::Interval;

/// Why a bound has no value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum BoundError {
    /// A parameter lies outside the domain of the bound.
    #[error("{name} is {value}; it must be {allowed}")]
    Parameter {
        name: &'static str,
        value: f64,
        allowed: &'static str,
    },
    /// An entry of a list lies outside the domain.
    #[error("{name} {index} is {value}; it must be {allowed}")]
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
    #[error("there are {found} {name}, not {expected}")]
    Lengths {
        name: &'static str,
        expected: usize,
        found: usize,
    },
    #[error(transparent)]
    Weights(#[from] KishError),
}

/// `value`, where the condition on it holds; else the error that names what is allowed.
pub(crate) fn require(
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
pub(crate) fn open_unit(name: &'static str, x: f64) -> Result<Interval, BoundError> {
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
pub(crate) fn positive(name: &'static str, x: f64) -> Result<Interval, BoundError> {
    require(x > 0.0 && x.is_finite(), name, x, "finite and above zero")
}
pub(crate) fn at_least_one(name: &'static str, n: u64) -> Result<Interval, BoundError> {
    require(n >= 1, name, n as f64, "at least 1")?;
    Ok(Interval::count(n))
}
pub(super) fn at_least_two(name: &'static str, n: u64) -> Result<Interval, BoundError> {
    require(n >= 2, name, n as f64, "at least 2")?;
    Ok(Interval::count(n))
}

/// As many as expected of what `name` says.
pub(super) fn length(name: &'static str, expected: usize, found: usize) -> Result<(), BoundError> {
    if found == expected {
        return Ok(());
    }
    Err(BoundError::Lengths {
        name,
        expected,
        found,
    })
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
