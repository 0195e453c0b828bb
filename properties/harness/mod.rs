//! What all properties share: the decision, its tails, the draws, the record.
//!
//! A property is a function from the seed to an [`Outcome`]: a [`Check`] of the claim, and the
//! same check of negative controls, which are deliberately wrong variants of it. It passes where the
//! claim is not rejected and every control is; a property without a control does not compile.

mod check;
mod draws;
mod record;
pub mod tails;

pub use check::{Check, LEVEL, Moments};
pub use draws::{Draws, Verdict, ensure};
pub use record::{Row, Run, Seed};

/// A claim and how it is tested.
pub struct Property {
    /// File and property, such as `l2.hoeffding`.
    pub name: &'static str,
    /// The claims of the paper, or the corrected ones, that this is evidence for or against.
    pub claims: &'static [&'static str],
    /// What is tested, in one sentence.
    pub statement: &'static str,
    /// Runs it.
    pub run: fn(Draws) -> Outcome,
}

/// What became of a property.
pub struct Outcome {
    /// The claim.
    pub check: Check,
    /// Negative controls by name; all must be rejected.
    pub controls: Vec<(&'static str, Check)>,
    /// A number worth reading beside the row; may be empty.
    pub note: String,
}

impl Outcome {
    /// A claim with its first negative control.
    pub fn new(check: Check, name: &'static str, control: Check) -> Outcome {
        Outcome {
            check,
            controls: vec![(name, control)],
            note: String::new(),
        }
    }

    /// With another negative control.
    pub fn and(mut self, name: &'static str, control: Check) -> Outcome {
        self.controls.push((name, control));
        self
    }

    /// With a remark.
    pub fn noting(mut self, note: String) -> Outcome {
        self.note = note;
        self
    }
}
