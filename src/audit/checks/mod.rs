//! From a tally to checks with verdicts.
//!
//! The checks with a threshold share one budget of error: with `m` of them that estimate something,
//! each interval fails with probability at most `δ/m`, so that all hold together with probability
//! `1 − δ` and a model that keeps every limit is failed by any check with probability at most `δ`.
//! A check without a threshold shows an interval of level `1 − δ` of its own.
//!
//! With `S` slices (those large enough to be judged) the budget is halved: `δ/2` for the log as a whole,
//! shared as above, and `δ/2` for the slices, each check of each slice `δ/(2·m·S)`. So all checks with a
//! limit, of the log and of all slices, still hold together with probability `1 − δ`. Of a check without a
//! limit, the intervals of all slices hold together: `δ/S` each. `m` and `S` are known from the settings and
//! the numbers of rows alone, so that shards and one run agree.
//!
//! Rows of one entity are one cluster, unless the user says that rows are independent. A check whose
//! interval holds for independent rows only has none then.

mod assumptions;
mod calibration;
mod class_gaps;
mod classes;
mod drift;
mod evidence;
mod next;
mod registry;
mod scores;
mod sets;
mod slices;
mod sources;

use std::collections::{BTreeMap, BTreeSet};

use self::class_gaps::ClassGaps;
use super::clusters::{Clusters, Quantity, Repeats};
use super::intervals::{Estimate, decide, verdict};
use super::outcome::{
    AuditReport, Check, CheckInterval, CheckVerdict, Curves, Offender, Power, ReasonCount,
    Rejected, ReportSettings, SCHEMA_VERSION, Summary, Threshold, Tool,
};
use super::slices::Slice;
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
    /// Whether rows are independent though entities repeat.
    pub independent_rows: bool,
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
            independent_rows: false,
        }
    }
}

/// How the rows of a log depend on each other.
struct Rows<'a> {
    /// Sums by entity, where rows of one entity count as one cluster.
    clusters: Option<&'a Clusters>,
    /// What is known of repeated entities.
    repeats: Repeats,
    /// Kish's effective number of independent rows, `(Σ k)²/Σ k²` over clusters of `k` rows.
    effective: f64,
}

fn effective(clusters: &Clusters) -> f64 {
    let sums = clusters.sums(Quantity::Right);
    sums.count * sums.count / sums.count_squares.max(1.0)
}

impl<'a> Rows<'a> {
    fn new(tally: &'a Tally, settings: &CheckSettings) -> Self {
        let repeats = tally.clusters.repeats();
        let clustered = repeats.possible() && !settings.independent_rows;
        let effective = match clustered {
            true => effective(&tally.clusters),
            false => tally.usable() as f64,
        };
        Rows {
            clusters: clustered.then_some(&tally.clusters),
            repeats,
            effective,
        }
    }

    /// Of a slice, with its own sums by entity. Whether entities repeat is known from the log.
    fn of_slice(&self, slice: &'a Slice, clustered: bool) -> Rows<'a> {
        let effective = match clustered {
            true => effective(&slice.clusters),
            false => slice.rows() as f64,
        };
        Rows {
            clusters: clustered.then_some(&slice.clusters),
            repeats: self.repeats,
            effective,
        }
    }

    fn clustered(&self) -> bool {
        self.clusters.is_some()
    }
}

/// Why a check has no interval.
const NOT_BY_ENTITY: &str = "There is no interval, as rows of one entity may depend on each other in any \
                             way.";

/// The power from which on the absence of evidence against a model passes a check of a p-value.
const ENOUGH_POWER: f64 = 0.8;

/// What the checks have in common.
struct Gate<'a> {
    settings: &'a CheckSettings,
    /// Among how many parts the budget of error of checks with a limit is divided.
    shares: f64,
    /// The same for each check without.
    open_shares: f64,
}

impl<'a> Gate<'a> {
    /// The gate of the log as a whole, of which there are also so many `slices`.
    fn new(settings: &'a CheckSettings, with_baseline: bool, slices: usize) -> Self {
        let estimating = |id: &&&'static str| {
            let kind = registry::kind(id);
            kind.is_some_and(|k| k.estimates && (with_baseline || !k.needs_baseline))
        };
        let shares = settings.thresholds.keys().filter(estimating).count();
        let halves = if slices > 0 { 2.0 } else { 1.0 };
        Gate {
            settings,
            shares: halves * shares.max(1) as f64,
            open_shares: 1.0,
        }
    }

    /// The gate of each of so many slices.
    fn of_slices(settings: &'a CheckSettings, slices: usize) -> Self {
        let whole = Gate::new(settings, false, slices);
        Gate {
            settings,
            shares: whole.shares * slices as f64,
            open_shares: slices as f64,
        }
    }

    fn threshold(&self, id: &str) -> Option<Threshold> {
        self.settings.thresholds.get(id).copied()
    }

    /// The probability with which the interval of a check may be wrong.
    fn delta(&self, id: &str) -> f64 {
        let delta = 1.0 - CONFIDENCE;
        match self.threshold(id) {
            Some(_) => delta / self.shares,
            None => delta / self.open_shares,
        }
    }

    /// A check that estimates something. An interval is widened to hold its value, which only makes it
    /// hold the truth more often.
    fn estimate(&self, id: &'static str, estimate: Estimate<'_>, sentence: String) -> Check {
        let value = estimate.value;
        let low = estimate.ends.low(1.0).min(value);
        let high = estimate.ends.high(1.0).max(value);
        let verdict = match self.threshold(id) {
            None => CheckVerdict::Information,
            Some(threshold) => decide(&estimate, low, high, threshold),
        };
        let interval = CheckInterval {
            low,
            high,
            confidence: 1.0 - self.delta(id),
            method: estimate.method,
        };
        let n = estimate.n;
        self.check(id, Some(value), Some(interval), n, verdict, sentence)
    }

    /// A check whose value has no interval, for a reason that is a sentence.
    fn bare(&self, id: &'static str, value: f64, n: u64, sentence: &str, reason: &str) -> Check {
        let verdict = match self.threshold(id) {
            None => CheckVerdict::Information,
            Some(_) => CheckVerdict::Undecided { needed_n: None },
        };
        let sentence = format!("{sentence} {reason}");
        self.check(id, Some(value), None, n, verdict, sentence)
    }

    /// A check whose interval holds for independent rows only.
    fn of_independent(
        &self,
        id: &'static str,
        rows: &Rows<'_>,
        estimate: Estimate<'_>,
        sentence: String,
    ) -> Check {
        match rows.clustered() {
            true => self.bare(id, estimate.value, estimate.n, &sentence, NOT_BY_ENTITY),
            false => self.estimate(id, estimate, sentence),
        }
    }

    /// The p-value at or below which a check fails: a limit is shared out like the error of the intervals.
    fn critical(&self, id: &str) -> Option<f64> {
        Some(self.threshold(id)?.value / self.shares)
    }

    /// A check whose value is a p-value. It passes only where its power is known to be enough: that
    /// nothing was found says nothing where nothing could have been.
    fn p_value(
        &self,
        id: &'static str,
        p: f64,
        n: u64,
        power: Option<Power>,
        sentence: String,
    ) -> Check {
        let verdict = match self.critical(id) {
            None => CheckVerdict::Information,
            Some(critical) if p <= critical => CheckVerdict::Fail,
            Some(_) if power.is_some_and(|power| power.probability >= ENOUGH_POWER) => {
                CheckVerdict::Pass
            }
            Some(_) => CheckVerdict::Undecided { needed_n: None },
        };
        self.check(id, Some(p), None, n, verdict, sentence)
            .with_power(power)
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
            Some(threshold) => verdict(value, value, threshold)
                .unwrap_or(CheckVerdict::Undecided { needed_n: None }),
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
            estimand: registry::kind(id).map_or("", |kind| kind.estimand),
            value,
            interval,
            n,
            threshold: self.threshold(id),
            stops: self.settings.demand.stops(id, &verdict),
            verdict,
            power: None,
            sentence,
            next: None,
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
    let judged = slices::judged(&tally.slices);
    let gate = Gate::new(settings, baseline.is_some(), judged);
    let rows = Rows::new(tally, settings);
    let scored = tally.scored();
    // Which of them is done first is seen nowhere.
    let (calibrated, told) = rayon::join(
        || calibration::checks(&gate, &scored, &rows),
        || {
            let (mut checks, mut curves) = (Vec::new(), Curves::default());
            let classes = ClassGaps::new(&tally.scores.classwise);
            scores::checks(&gate, &scored, &rows, &classes, &mut checks, &mut curves);
            classes::checks(&gate, tally, &rows, &classes, &mut checks, &mut curves);
            evidence::checks(&gate, tally, &rows, &mut checks, &mut curves);
            sets::checks(&gate, tally, &rows, &mut checks);
            (checks, curves)
        },
    );
    let mut checks = vec![validity(&gate, tally)];
    checks.extend(calibrated.0);
    checks.extend(told.0);
    let mut curves = Curves {
        reliability: calibrated.1,
        ..told.1
    };
    if let Some(baseline) = baseline {
        let before = Rows::new(baseline, settings);
        drift::checks(&gate, (tally, &rows), (baseline, &before), &mut checks);
    }
    let withheld = withheld(tally);
    if let Some(reason) = &withheld {
        withhold(&mut checks, reason);
        curves = Curves::default();
    }
    let (mut slices, sources) = match withheld {
        Some(_) => (Vec::new(), Vec::new()),
        None => (
            slices::slices(tally, settings, judged, &rows),
            sources::sources(tally, settings, &rows),
        ),
    };
    let baseline_rows = baseline.map(|b| Rows::new(b, settings));
    let clustered = rows.clustered() || baseline_rows.is_some_and(|rows| rows.clustered());
    for check in &mut checks {
        check.next = next::next(check, tally, &sources);
        let drift = registry::kind(check.id).is_some_and(|kind| kind.needs_baseline);
        if rows.clustered() || drift && clustered {
            check.estimand = registry::by_entity(check.id, check.estimand);
        }
    }
    let of_slices = slices.iter_mut().flat_map(|slice| &mut slice.checks);
    for check in of_slices.filter(|_| rows.clustered()) {
        check.estimand = registry::by_entity(check.id, check.estimand);
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
            withheld: withheld.clone(),
        },
        settings: ReportSettings {
            classes: tally.settings.classes.clone(),
            bins: tally.settings.bins,
            confidence: CONFIDENCE,
            seed: settings.seed,
            tolerance: tally.settings.tolerance,
            tolerance_follows_digits: tally.settings.digits,
            calibration: tally.settings.calibration.clone(),
            confidence_function: tally.settings.confidence.clone(),
            model: tally.settings.model.clone(),
            thresholds: settings.thresholds.clone(),
            undecided_fails: settings.demand != Demand::NoFailure,
            independent_rows: settings.independent_rows,
            by: tally.settings.by.clone(),
            segments: tally.settings.segments,
        },
        entities: rows.repeats,
        summary: Summary::of(&checks, &slices),
        checks,
        slices,
        sources,
        curves,
    }
}

/// The largest share of rows that may be left out for what stands in them before the others are no
/// fair sample of the log any more.
const MOST_LEFT_OUT: f64 = 0.1;

/// Why nothing is said about the rows that could be used, if nothing is.
fn withheld(tally: &Tally) -> Option<String> {
    let reasons = tally.unusable.counts.iter();
    let selecting = reasons.filter(|(reason, _)| reason.selects());
    let (mut left_out, mut most) = (0, None);
    for (reason, &count) in selecting {
        left_out += count;
        if most.is_none_or(|(_, known)| count > known) {
            most = Some((reason, count));
        }
    }
    let rows = left_out + tally.usable();
    let (reason, _) = most?;
    if left_out as f64 <= MOST_LEFT_OUT * rows as f64 {
        return None;
    }
    Some(format!(
        "withheld, as {left_out} of {rows} rows were left out for what stands in them (most: {}), and \
         more than 1 in 10 leaves no fair sample of the log",
        reason.words()
    ))
}

/// Takes the values from all checks but that of validity. A check with a limit then fails the audit:
/// nothing was shown.
fn withhold(checks: &mut [Check], reason: &str) {
    for check in checks.iter_mut().filter(|check| check.id != "validity") {
        if matches!(check.verdict, CheckVerdict::NotRun { .. }) {
            continue;
        }
        check.value = None;
        check.interval = None;
        check.power = None;
        check.n = 0;
        check.worst.clear();
        check.sentence = format!("Not checked: {reason}.");
        check.stops = check.threshold.is_some();
        check.verdict = CheckVerdict::NotRun {
            reason: reason.to_string(),
        };
    }
}

fn validity(gate: &Gate<'_>, tally: &Tally) -> Check {
    let (checked, invalid) = (tally.checked, tally.invalid);
    if checked == 0 {
        return gate.not_run("validity", "no row has numbers to check");
    }
    let tolerance = tally.settings.tolerance;
    let rounded = match tally.rounded {
        0 => String::new(),
        n => format!(", or as near as the digits that were written allow ({n} rows)"),
    };
    let sentence = if invalid == 0 {
        format!(
            "All {checked} rows hold probability distributions: no entry is below zero or missing, \
             and every sum is within {tolerance} of one{rounded}."
        )
    } else {
        format!(
            "{invalid} of {checked} rows are not probability distributions (the worst are listed \
             with their sum minus one); they are left out of all other checks. --tolerance allows \
             sums further from one."
        )
    };
    let share = invalid as f64 / checked as f64;
    let worst = tally.worst_sums.offenders();
    gate.census("validity", share, checked, sentence, worst)
}
