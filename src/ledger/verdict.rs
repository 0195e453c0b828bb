//! What became of a claim.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::theory::{Theorem, Theory};

macro_rules! kinds {
    ($($kind:ident, $sign:literal, $meaning:literal;)*) => {
        /// The kinds of verdict, from good to bad.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub enum VerdictKind {
            $(#[doc = $meaning] $kind,)*
        }

        impl VerdictKind {
            /// All kinds, from good to bad.
            pub const ALL: &[VerdictKind] = &[$(VerdictKind::$kind),*];

            /// The name of the kind, as it is printed.
            pub fn name(self) -> &'static str {
                match self {
                    $(VerdictKind::$kind => stringify!($kind),)*
                }
            }

            /// A sign beside the name, so that a column can be skimmed without colour.
            pub fn sign(self) -> &'static str {
                match self {
                    $(VerdictKind::$kind => $sign,)*
                }
            }

            /// What the kind means, in one line.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(VerdictKind::$kind => $meaning,)*
                }
            }
        }
    };
}

kinds! {
    Proved, "●", "a machine-checked proof of the claim as stated, for everything it speaks of";
    Checked, "◍", "holds for every member of a finite domain, all enumerated; not a proof";
    Supported, "◐", "a statistical test with a stated error rate found nothing against it";
    Reproduced, "=", "recomputed, equal within the printed rounding";
    DependsOnReading, "◇", "the text allows readings with different verdicts; the kindest is taken";
    Vacuous, "○", "true, but it says nothing";
    Inconsistent, "≠", "recomputed, differs; both values are shown";
    Refuted, "✗", "a counterexample meets every hypothesis; it can be redone by hand";
    NotReproducible, "?", "what it would take to check it is not printed";
}

impl fmt::Display for VerdictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A computed verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum Verdict {
    /// Machine-checked, as the record of the theory says.
    Proved {
        /// The proof assistant and its version.
        engine: String,
        /// The names of the theorems.
        theorems: Vec<String>,
        /// The names of their caveats.
        caveats: BTreeSet<String>,
    },
    /// True of every member of a finite domain.
    Checked {
        /// The inputs for which it was decided, all of them.
        domain: String,
    },
    /// A statistical test did not reject it.
    Supported {
        /// The name of the test.
        test: String,
        /// The chance that the test rejects a true claim.
        false_alarm: f64,
        /// The number of trials.
        trials: u64,
    },
    /// Printed and recomputed agree.
    Reproduced {
        /// What agrees with what.
        what: String,
    },
    /// Printed and recomputed differ.
    Inconsistent {
        /// What is printed.
        printed: String,
        /// What follows from other printed numbers.
        recomputed: String,
    },
    /// A concrete counterexample; its steps are in the evidence.
    Refuted {
        /// The counterexample in one line.
        witness: String,
        /// Machine-checked theorems that refute it, for every constant that it leaves open.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        theorems: Vec<String>,
    },
    /// The text allows several readings, and their verdicts differ.
    DependsOnReading {
        /// The readings, the kindest first: it is the one taken.
        readings: Vec<Interpretation>,
    },
    /// True for a reason that has nothing to do with the claim.
    Vacuous {
        /// What the claim says.
        says: String,
        /// What is known anyway.
        anyway: String,
    },
    /// Not checkable from what is printed.
    NotReproducible {
        /// What is missing.
        reason: String,
    },
}

impl Verdict {
    /// The kind, without its details.
    pub fn kind(&self) -> VerdictKind {
        match self {
            Verdict::Proved { .. } => VerdictKind::Proved,
            Verdict::Checked { .. } => VerdictKind::Checked,
            Verdict::DependsOnReading { .. } => VerdictKind::DependsOnReading,
            Verdict::Supported { .. } => VerdictKind::Supported,
            Verdict::Reproduced { .. } => VerdictKind::Reproduced,
            Verdict::Inconsistent { .. } => VerdictKind::Inconsistent,
            Verdict::Refuted { .. } => VerdictKind::Refuted,
            Verdict::Vacuous { .. } => VerdictKind::Vacuous,
            Verdict::NotReproducible { .. } => VerdictKind::NotReproducible,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Proved {
                engine,
                theorems,
                caveats,
            } => {
                write!(f, "by {engine}: {}", theorems.join(", "))?;
                let caveats: Vec<&str> = caveats.iter().map(String::as_str).collect();
                match caveats.is_empty() {
                    true => Ok(()),
                    false => write!(f, "; caveats: {}", caveats.join(", ")),
                }
            }
            Verdict::Checked { domain } => f.write_str(domain),
            Verdict::DependsOnReading { readings } => {
                let [taken, others @ ..] = &readings[..] else {
                    return Ok(());
                };
                write!(f, "taken: {taken}")?;
                others
                    .iter()
                    .try_for_each(|other| write!(f, "; otherwise: {other}"))
            }
            Verdict::Supported {
                test,
                false_alarm,
                trials,
            } => write!(f, "{test}, {trials} trials, false alarm {false_alarm:e}"),
            Verdict::Reproduced { what } => f.write_str(what),
            Verdict::Inconsistent {
                printed,
                recomputed,
            } => write!(f, "printed: {printed}; recomputed: {recomputed}"),
            Verdict::Refuted { witness, theorems } => {
                f.write_str(witness)?;
                match theorems.is_empty() {
                    true => Ok(()),
                    false => write!(f, "; refuted in general by {}", theorems.join(", ")),
                }
            }
            Verdict::Vacuous { says, anyway } => write!(f, "says: {says}; known anyway: {anyway}"),
            Verdict::NotReproducible { reason } => f.write_str(reason),
        }
    }
}

/// One way to read a claim, and what becomes of it then.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interpretation {
    /// How the claim is read.
    pub reading: String,
    /// Its verdict.
    pub verdict: Verdict,
}

impl fmt::Display for Interpretation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.verdict.kind();
        write!(f, "{}: {kind}, {}", self.reading, self.verdict)
    }
}

/// A verdict with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The verdict.
    pub verdict: Verdict,
    /// Steps that a reader can redo, and what other engines reported.
    pub evidence: Vec<String>,
    /// The printed numbers that were looked at.
    pub cells: BTreeSet<String>,
}

impl Finding {
    fn new(verdict: Verdict, evidence: Vec<String>) -> Self {
        Finding {
            verdict,
            evidence,
            cells: BTreeSet::new(),
        }
    }

    /// Decided exactly over a finite domain.
    pub fn checked(domain: impl Into<String>, evidence: Vec<String>) -> Self {
        let domain = domain.into();
        Finding::new(Verdict::Checked { domain }, evidence)
    }

    /// Proved by theorems of the record.
    pub(super) fn proved(theory: &Theory, theorems: &[&Theorem], evidence: Vec<String>) -> Self {
        let engine = theory.engine.clone();
        let caveats = theorems.iter().flat_map(|t| t.caveats.iter().cloned());
        let caveats = caveats.collect();
        let theorems = theorems.iter().map(|t| t.name.clone()).collect();
        Finding::new(
            Verdict::Proved {
                engine,
                theorems,
                caveats,
            },
            evidence,
        )
    }

    /// The kindest of several readings decides; where all have the same kind of verdict, or all fail,
    /// that of the first is the verdict, and otherwise it depends on the reading.
    pub(super) fn by_reading(readings: Vec<(&str, Finding)>) -> Self {
        let mut evidence = Vec::new();
        let mut all: Vec<Interpretation> = Vec::new();
        let mut readings = readings;
        readings.sort_by_key(|(_, finding)| finding.verdict.kind());
        for (index, (reading, finding)) in readings.into_iter().enumerate() {
            let taken = if index == 0 { "taken" } else { "otherwise" };
            evidence.push(format!("{taken}: {reading}"));
            evidence.extend(finding.evidence);
            all.push(Interpretation {
                reading: reading.to_owned(),
                verdict: finding.verdict,
            });
        }
        let kind = |reading: &Interpretation| reading.verdict.kind();
        let fails = |reading: &Interpretation| {
            matches!(
                kind(reading),
                VerdictKind::Inconsistent | VerdictKind::Refuted
            )
        };
        match all.first() {
            None => Finding::not_reproducible("no reading", evidence),
            Some(first)
                if all.iter().all(|other| kind(other) == kind(first)) || all.iter().all(fails) =>
            {
                Finding::new(first.verdict.clone(), evidence)
            }
            Some(_) => Finding::new(Verdict::DependsOnReading { readings: all }, evidence),
        }
    }

    /// Not rejected by a statistical test.
    pub fn supported(
        test: impl Into<String>,
        false_alarm: f64,
        trials: u64,
        evidence: Vec<String>,
    ) -> Self {
        let test = test.into();
        Finding::new(
            Verdict::Supported {
                test,
                false_alarm,
                trials,
            },
            evidence,
        )
    }

    /// Printed and recomputed agree.
    pub fn reproduced(what: impl Into<String>, evidence: Vec<String>) -> Self {
        Finding::new(Verdict::Reproduced { what: what.into() }, evidence)
    }

    /// Printed and recomputed differ; both sides are given.
    pub fn inconsistent(
        printed: impl Into<String>,
        recomputed: impl Into<String>,
        evidence: Vec<String>,
    ) -> Self {
        let (printed, recomputed) = (printed.into(), recomputed.into());
        Finding::new(
            Verdict::Inconsistent {
                printed,
                recomputed,
            },
            evidence,
        )
    }

    /// A counterexample and its steps.
    pub fn refuted(witness: impl Into<String>, steps: Vec<String>) -> Self {
        let witness = witness.into();
        let theorems = Vec::new();
        Finding::new(Verdict::Refuted { witness, theorems }, steps)
    }

    /// True, but known without the claim.
    pub fn vacuous(
        says: impl Into<String>,
        anyway: impl Into<String>,
        evidence: Vec<String>,
    ) -> Self {
        let (says, anyway) = (says.into(), anyway.into());
        Finding::new(Verdict::Vacuous { says, anyway }, evidence)
    }

    /// Not checkable from what is printed.
    pub fn not_reproducible(reason: impl Into<String>, evidence: Vec<String>) -> Self {
        let reason = reason.into();
        Finding::new(Verdict::NotReproducible { reason }, evidence)
    }

    /// Agreement where `holds`, else disagreement.
    pub fn decided(
        holds: bool,
        printed: impl Into<String>,
        recomputed: impl Into<String>,
        evidence: Vec<String>,
    ) -> Self {
        if holds {
            let what = format!("{}; {}", printed.into(), recomputed.into());
            Finding::reproduced(what, evidence)
        } else {
            Finding::inconsistent(printed, recomputed, evidence)
        }
    }
}
