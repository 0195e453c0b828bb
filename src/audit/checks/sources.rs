//! How good is each source of evidence, and are answers better without it?
//!
//! Items of a source are judged as predictions, without limits: nobody promises that a single item is as
//! good as the answer. All intervals of one kind hold together over all `S` sources: `δ/S` for each check of
//! a source, and `δ/(2S)` for each of the two changes that leaving it out makes.

use rayon::prelude::*;

use super::slices::{SMALLEST, all};
use super::{CONFIDENCE, CheckSettings, Gate, Rows};
use crate::audit::clusters::Quantity;
use crate::audit::intervals::{BETTING, Estimate};
use crate::audit::outcome::{CheckInterval, SourceEffect, SourceReport, WithoutSource};
use crate::audit::slices::Value;
use crate::audit::sources::Source;
use crate::audit::tally::Tally;
use crate::calibration::SMALLEST as CLIPPED;
use crate::math::ln;

/// The sources, the one that hurts most first.
pub(super) fn sources(
    tally: &Tally,
    settings: &CheckSettings,
    rows: &Rows<'_>,
) -> Vec<SourceReport> {
    let all = &tally.slices.sources;
    let large = |(_, source): &&(Value, Source)| source.rows >= SMALLEST;
    let judged = all.iter().filter(large).count().max(1);
    let settings = CheckSettings {
        thresholds: Default::default(),
        ..settings.clone()
    };
    let gate = Gate::of_slices(&settings, judged);
    let mut out: Vec<SourceReport> = all
        .par_iter()
        .map(|(id, source)| report(&gate, id, source, rows, judged))
        .collect();
    let saved = |source: &SourceReport| source.without.map_or(0.0, |w| w.log_loss);
    out.sort_by(|a, b| {
        let effect = a.effect.cmp(&b.effect);
        effect.then(saved(b).total_cmp(&saved(a)))
    });
    out
}

fn report(
    gate: &Gate<'_>,
    id: &Value,
    source: &Source,
    rows: &Rows<'_>,
    judged: usize,
) -> SourceReport {
    let items = source.items.rows();
    let large = source.rows >= SMALLEST;
    let own = rows.of_slice(&source.items, rows.clustered() || source.doubled);
    let (checks, reliability) = match large {
        true => all(gate, &source.items, &own),
        false => Default::default(),
    };
    let without = match large && source.compared > 0 {
        true => Some(without(source, rows.clustered(), judged)),
        false => None,
    };
    let mut report = SourceReport {
        id: id.words().to_string(),
        items,
        rows: source.rows,
        weight: source.weight.to_f64() / items.max(1) as f64,
        share: source.share.to_f64() / source.rows.max(1) as f64,
        effect: without.as_ref().map_or(SourceEffect::Unclear, effect),
        without,
        sentence: String::new(),
        checks,
        reliability,
    };
    report.sentence = sentence(&report, source);
    report
}

/// What leaving out a source changes.
fn without(source: &Source, clustered: bool, judged: usize) -> WithoutSource {
    let delta = (1.0 - CONFIDENCE) / (2.0 * judged as f64);
    let most = -ln(CLIPPED);
    let change = match clustered {
        true => &source.change,
        false => &source.change_by_row,
    };
    let interval = |quantity: Quantity, range: f64| {
        let sums = change.sums(quantity);
        let value = sums.mean();
        let mut estimate = Estimate::of_clusters(value, sums, (-range, range), delta);
        if !clustered {
            estimate.method = BETTING;
        }
        let interval = CheckInterval {
            low: estimate.ends.low(1.0).min(value),
            high: estimate.ends.high(1.0).max(value),
            confidence: 1.0 - delta,
            method: estimate.method,
        };
        (value, interval)
    };
    let (accuracy, accuracy_interval) = interval(Quantity::Right, 1.0);
    let (log_loss, log_loss_interval) = interval(Quantity::Loss, most);
    WithoutSource {
        rows: source.compared,
        accuracy,
        accuracy_interval,
        log_loss,
        log_loss_interval,
    }
}

fn effect(without: &WithoutSource) -> SourceEffect {
    let ends = [without.accuracy_interval, without.log_loss_interval];
    let better = ends.iter().any(|interval| interval.low > 0.0);
    let worse = ends.iter().any(|interval| interval.high < 0.0);
    match (better, worse) {
        (true, false) => SourceEffect::Hurts,
        (true, true) => SourceEffect::Mixed,
        (false, false) => SourceEffect::Unclear,
        (false, true) => SourceEffect::Helps,
    }
}

fn sentence(report: &SourceReport, source: &Source) -> String {
    let id = &report.id;
    if source.rows < SMALLEST {
        return format!(
            "{} rows with source {id} are too few to judge it.",
            source.rows
        );
    }
    let gap = report
        .check("gap")
        .and_then(|check| Some((check.value?, check.interval?)));
    let confidence = match gap {
        Some((value, interval)) if interval.low > 0.0 => {
            format!("it is over-confident by {:.1} points", 100.0 * value)
        }
        Some((value, interval)) if interval.high < 0.0 => {
            format!("it is under-confident by {:.1} points", -100.0 * value)
        }
        _ => "neither over- nor under-confidence of it is shown".to_string(),
    };
    let Some(without) = &report.without else {
        return format!("Source {id}: {confidence}.");
    };
    let moved =
        |value: f64, interval: CheckInterval, scale: f64, digits: usize, words: [&str; 2]| {
            let (value, low, high) = (scale * value, scale * interval.low, scale * interval.high);
            let word = words[usize::from(value < 0.0)];
            let (size, low, high) = match value < 0.0 {
                true => (-value, -high, -low),
                false => (value, low, high),
            };
            format!("{size:.digits$} {word} [{low:.digits$}, {high:.digits$}]")
        };
    let accuracy = moved(
        without.accuracy,
        without.accuracy_interval,
        100.0,
        1,
        ["points higher", "points lower"],
    );
    let loss = moved(
        without.log_loss,
        without.log_loss_interval,
        1.0,
        4,
        ["nats lower", "nats higher"],
    );
    let verdict = match report.effect {
        SourceEffect::Hurts => "hurts",
        SourceEffect::Helps => "helps",
        SourceEffect::Mixed => "helps in one way and hurts in another",
        SourceEffect::Unclear => "is shown neither to help nor to hurt",
    };
    format!(
        "Source {id} {verdict}: without it, accuracy would be {accuracy} and the log loss {loss}; \
         {confidence}."
    )
}
