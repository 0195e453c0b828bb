//! Counterexamples that can be redone by hand: hypotheses, steps, and the two numbers compared.

use std::fmt;

use num_rational::BigRational;

use crate::math::Enclosure;

/// Which way a claim bounds its quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// The claim says: quantity ≤ bound.
    AtMost,
    /// The claim says: quantity ≥ bound.
    AtLeast,
}

/// One hypothesis of a claim, and whether the witness satisfies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hypothesis {
    /// What is required.
    pub statement: String,
    /// Whether a computation found it to hold.
    pub holds: bool,
}

/// A case for which a claim can be checked: what it requires, and what it says.
///
/// It is a counterexample exactly where [`Witness::refutes`] says so; building one proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Id of the claim, such as `T1`.
    pub claim: &'static str,
    /// Every hypothesis of the claim.
    pub hypotheses: Vec<Hypothesis>,
    /// What the claim bounds.
    pub quantity: Enclosure,
    /// In which direction.
    pub relation: Relation,
    /// The claimed bound.
    pub bound: Enclosure,
    /// The computation, line by line, for a reader with paper and pencil.
    pub steps: Vec<String>,
}

impl Witness {
    /// Whether every hypothesis holds and the claimed inequality certainly does not.
    pub fn refutes(&self) -> bool {
        self.hypotheses.iter().all(|h| h.holds)
            && match self.relation {
                Relation::AtMost => self.quantity.exceeds(&self.bound),
                Relation::AtLeast => self.bound.exceeds(&self.quantity),
            }
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for h in &self.hypotheses {
            let mark = if h.holds { "holds" } else { "VIOLATED" };
            writeln!(f, "  {mark}: {}", h.statement)?;
        }
        for (i, step) in self.steps.iter().enumerate() {
            writeln!(f, "  {}. {step}", i + 1)?;
        }
        let (sign, broken) = match self.relation {
            Relation::AtMost => ("≤", ">"),
            Relation::AtLeast => ("≥", "<"),
        };
        let (quantity, bound) = (self.quantity.approx(), self.bound.approx());
        if self.refutes() {
            write!(
                f,
                "  {quantity:.6} {broken} {bound:.6}: {} fails",
                self.claim
            )
        } else {
            write!(f, "  claimed: {quantity:.6} {sign} {bound:.6}; not refuted")
        }
    }
}

/// Precision of the enclosures in witnesses: the comparisons differ in the first digits, so this
/// is far more than needed, and still instant.
pub(super) const BITS: u32 = 96;

pub(super) fn hypothesis(statement: impl Into<String>, holds: bool) -> Hypothesis {
    Hypothesis {
        statement: statement.into(),
        holds,
    }
}

/// `(a, b, c)` in lowest terms.
pub(crate) fn tuple(values: &[BigRational]) -> String {
    let parts: Vec<String> = values.iter().map(ToString::to_string).collect();
    format!("({})", parts.join(", "))
}

/// A fraction for a reader: as it stands where it is short, else to six digits.
pub(super) fn short(x: &BigRational) -> String {
    // Longer fractions (3^26/(3^26 + 2^26) has 26 digits) say less than their first digits.
    const READABLE: usize = 24;
    let text = x.to_string();
    if text.len() <= READABLE {
        text
    } else {
        format!("{:.6}…", Enclosure::exact(x.clone()).approx())
    }
}

pub(super) fn fraction(numerator: u64, denominator: u64) -> BigRational {
    BigRational::new(numerator.into(), denominator.max(1).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(quantity: u64, bound: u64, holds: bool, relation: Relation) -> Witness {
        Witness {
            claim: "X",
            hypotheses: vec![hypothesis("h", holds)],
            quantity: Enclosure::integer(quantity),
            relation,
            bound: Enclosure::integer(bound),
            steps: vec!["s".into()],
        }
    }

    #[test]
    fn refutes_only_with_every_hypothesis_and_a_strict_violation() {
        assert!(case(2, 1, true, Relation::AtMost).refutes());
        assert!(!case(2, 1, false, Relation::AtMost).refutes());
        assert!(!case(1, 1, true, Relation::AtMost).refutes());
        assert!(case(0, 1, true, Relation::AtLeast).refutes());
        assert!(!case(1, 1, true, Relation::AtLeast).refutes());
        let text = case(2, 1, true, Relation::AtMost).to_string();
        assert_eq!(text, "  holds: h\n  1. s\n  2.000000 > 1.000000: X fails");
    }
}
