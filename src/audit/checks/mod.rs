//! From a tally to checks with verdicts.
//!
//! The checks with a threshold share one budget of error: with `m` of them that estimate something,
//! each interval fails with probability at most `δ/m`, so that all hold together with probability
//! `1 − δ` and a model that keeps every limit is failed by any check with probability at most `δ`.
//! A check without a threshold shows an interval of level `1 − δ` of its own.

mod assumptions;
mod calibration;
mod class_gaps;
mod drift;
mod evidence;
mod registry;
mod scores;
mod sets;

use std::collections::{BTreeMap, BTreeSet};

use self::class_gaps::ClassGaps;
use super::intervals::decide;
use super::outcome::{
    AuditReport, Check, CheckInterval, CheckVerdict, Curves, Offender, Power, ReasonCount,
    Rejected, ReportSettings, SCHEMA_VERSION, Summary, Threshold, Tool,
};
use super::tally::Tally;

pub use registry::{CHECKS, CheckKind, ThresholdError, default_thresholds, set_threshold};

/// All intervals of the gated checks hold together with this probability.
pub const CONFIDENCE: f64 = 0.95;
#[derive(Clone, Debug)]
pub(super) struct CheckSettings {
    /// The limit of each gated check.
    pub thresholds: BTreeMap<&'static str, Threshold>,
    /// Seed of the simulations.
    pub seed: u64,
    /// Prior of the classes; by default how often each was true.
    pub prior: Option<Vec<f64>>,
    /// What makes the audit fail.
    pub demand: Demand,
}

/// What makes an audit fail beside a check that fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Demand {
    /// Nothing: too few rows are not evidence against a model.
    #[default]
    NoFailure,
    /// A check that is undecided, and one of these checks if it cannot be run.
    Certainty {
        /// Checks with a limit that was asked for, not one that holds by default.
        asked: BTreeSet<&'static str>,
    },
}

impl Demand {
    /// Whether a check with this verdict makes the audit fail.
    fn stops(&self, id: &str, verdict: &CheckVerdict) -> bool {
        match (verdict, self) {
            (CheckVerdict::Fail, _) => true,
            (CheckVerdict::Undecided { .. }, Demand::Certainty { .. }) => true,
            (CheckVerdict::NotRun { .. }, Demand::Certainty { asked }) => asked.contains(id),
            _ => false,
        }
    }
}

impl Default for CheckSettings {
    fn default() -> Self {
        CheckSettings {
            thresholds: default_thresholds(),
            seed: 0,
            prior: None,
            demand: Demand::NoFailure,
        }
    }
}

/// What the checks have in common.
struct Gate<'a> {
    settings: &'a CheckSettings,
    /// How many checks share the budget of error.
    shares: usize,
}

impl<'a> Gate<'a> {
    fn new(settings: &'a CheckSettings, with_baseline: bool) -> Self {
        let estimating = |id: &&&'static str| {
            let kind = registry::kind(id);
            kind.is_some_and(|k| k.estimates && (with_baseline || !k.needs_baseline))
        };
        let shares = settings.thresholds.keys().filter(estimating).count();
        Gate {
            settings,
            shares: shares.max(1),
        }
    }

    fn threshold(&self, id: &str) -> Option<Threshold> {
        self.settings.thresholds.get(id).copied()
    }

    /// The probability with which the interval of a check may be wrong.
    fn delta(&self, id: &str) -> f64 {
        let delta = 1.0 - CONFIDENCE;
        match self.threshold(id) {
            Some(_) => delta / self.shares as f64,
            None => delta,
        }
    }

    /// A check that estimates something.
    fn estimate(
        &self,
        id: &'static str,
        value: f64,
        range: Option<(f64, f64)>,
        method: &'static str,
        n: u64,
        sentence: String,
    ) -> Check {
        let threshold = self.threshold(id);
        let verdict = match (threshold, range) {
            (None, _) => CheckVerdict::Information,
            (Some(threshold), Some((low, high))) => decide(value, low, high, n, threshold),
            (Some(_), None) => CheckVerdict::Undecided { needed_n: None },
        };
        let interval = range.map(|(low, high)| CheckInterval {
            low,
            high,
            confidence: 1.0 - self.delta(id),
            method,
        });
        self.check(id, Some(value), interval, n, verdict, sentence)
    }

    /// A check whose value is a p-value. A limit on it is shared out like the error of the intervals.
    fn p_value(&self, id: &'static str, p: f64, n: u64, sentence: String) -> Check {
        let verdict = match self.threshold(id) {
            None => CheckVerdict::Information,
            Some(limit) if p * self.shares as f64 <= limit.value => CheckVerdict::Fail,
            Some(_) => CheckVerdict::Pass,
        };
        self.check(id, Some(p), None, n, verdict, sentence)
    }

    /// A check in which every row was looked at and nothing is estimated.
    fn census(
        &self,
        id: &'static str,
        value: f64,
        n: u64,
        sentence: String,
        worst: Vec<Offender>,
    ) -> Check {
        let verdict = match self.threshold(id) {
            None => CheckVerdict::Information,
            Some(threshold) => decide(value, value, value, n, threshold),
        };
        Check {
            worst,
            ..self.check(id, Some(value), None, n, verdict, sentence)
        }
    }

    /// A check that the input cannot answer.
    fn not_run(&self, id: &'static str, reason: impl Into<String>) -> Check {
        let reason = reason.into();
        let sentence = format!("Not checked: {reason}.");
        self.check(id, None, None, 0, CheckVerdict::NotRun { reason }, sentence)
    }

    fn check(
        &self,
        id: &'static str,
        value: Option<f64>,
        interval: Option<CheckInterval>,
        n: u64,
        verdict: CheckVerdict,
        sentence: String,
    ) -> Check {
        Check {
            id,
            title: registry::kind(id).map_or(id, |kind| kind.title),
            value,
            interval,
            n,
            threshold: self.threshold(id),
            stops: self.settings.demand.stops(id, &verdict),
            verdict,
            power: None,
            sentence,
            worst: Vec::new(),
        }
    }
}

impl Check {
    fn with_power(self, power: Option<Power>) -> Self {
        Check { power, ..self }
    }
}

/// The verdicts on a tally.
pub(super) fn audit(
    tally: &Tally,
    baseline: Option<&Tally>,
    settings: &CheckSettings,
) -> AuditReport {
    let gate = Gate::new(settings, baseline.is_some());
    let mut checks = vec![validity(&gate, tally)];
    let mut curves = Curves::default();
    let classes = ClassGaps::new(&tally.scores.classwise);
    calibration::checks(&gate, tally, &classes, &mut checks, &mut curves);
    scores::checks(&gate, tally, &classes, &mut checks, &mut curves);
    evidence::checks(&gate, tally, &mut checks, &mut curves);
    sets::checks(&gate, tally, &mut checks);
    if let Some(baseline) = baseline {
        drift::checks(&gate, tally, baseline, &mut checks);
    }
    let reasons = tally.unusable.counts.iter();
    AuditReport {
        schema_version: SCHEMA_VERSION,
        tool: Tool::THIS,
        inputs: tally.inputs.clone(),
        baseline: baseline.map(|b| b.inputs.clone()).unwrap_or_default(),
        rejected: Rejected {
            count: tally.unusable.count(),
            reasons: reasons
                .map(|(reason, &count)| ReasonCount {
                    reason: reason.words(),
                    count,
                })
                .collect(),
            first: tally.unusable.first.clone(),
        },
        settings: ReportSettings {
            classes: tally.settings.classes.clone(),
            bins: tally.settings.bins,
            confidence: CONFIDENCE,
            seed: settings.seed,
            tolerance: tally.settings.tolerance,
            calibration: tally.settings.calibration.clone(),
            confidence_function: tally.settings.confidence.clone(),
            model: tally.settings.model.clone(),
            thresholds: settings.thresholds.clone(),
            undecided_fails: settings.demand != Demand::NoFailure,
        },
        summary: Summary::of(&checks),
        checks,
        curves,
    }
}

fn validity(gate: &Gate<'_>, tally: &Tally) -> Check {
    let (checked, invalid) = (tally.checked, tally.invalid);
    if checked == 0 {
        return gate.not_run("validity", "no row has numbers to check");
    }
    let tolerance = tally.settings.tolerance;
    let sentence = if invalid == 0 {
        format!(
            "All {checked} rows hold probability distributions: no entry is below zero or missing, \
             and every sum is within {tolerance} of one."
        )
    } else {
        format!(
            "{invalid} of {checked} rows are not probability distributions (the worst are listed \
             with their sum minus one); they are left out of all other checks."
        )
    };
    let share = invalid as f64 / checked as f64;
    let worst = tally.worst_sums.offenders();
    gate.census("validity", share, checked, sentence, worst)
}
