//! What became of a claim.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

/// How a claim was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Exact rational arithmetic or rigorous enclosures over a finite domain, all of it.
    Exact,
    /// Kani, over all inputs of a harness's domain.
    Kani,
}

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
    Proved, "●", "decided for every member of a stated domain";
    Supported, "◐", "a statistical test with a stated error rate found nothing against it";
    Reproduced, "=", "recomputed, equal within the printed rounding";
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
    /// Decided by an engine for every member of a domain.
    Proved {
        /// What decided it.
        engine: Engine,
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
            Verdict::Proved { engine, domain } => {
                let engine = match engine {
                    Engine::Exact => "exact arithmetic",
                    Engine::Kani => "Kani",
                };
                write!(f, "by {engine}: {domain}")
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
            Verdict::Refuted { witness } => f.write_str(witness),
            Verdict::Vacuous { says, anyway } => write!(f, "says: {says}; known anyway: {anyway}"),
            Verdict::NotReproducible { reason } => f.write_str(reason),
        }
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
    pub fn proved(domain: impl Into<String>, evidence: Vec<String>) -> Self {
        let engine = Engine::Exact;
        let domain = domain.into();
        Finding::new(Verdict::Proved { engine, domain }, evidence)
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
        Finding::new(Verdict::Refuted { witness }, steps)
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
