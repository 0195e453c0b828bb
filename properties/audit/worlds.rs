//! Worlds with known truths, and logs drawn from them.
//!
//! A world has finitely many kinds of predictions, each with its share of the population, its confidence
//! and the probability that it is right, so that every truth is a finite sum, written down from its
//! definition.

use std::fmt::Write;

use lpf::audit::{Audit, CHECKS, Log};
use lpf::calibration::bin_index;
use lpf::latent::random::Stream;
use lpf::{AuditReport, audit::Check};

/// The bins of an audit.
const BINS: usize = 15;

/// A kind of prediction: its share of the population, its confidence, and how often it is right.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub share: f64,
    pub confidence: f64,
    pub right: f64,
}

/// A population of predictions.
#[derive(Clone, Debug)]
pub struct World {
    pub name: &'static str,
    pub classes: usize,
    pub kinds: Vec<Kind>,
    /// Entities have from 1 to this many rows, all alike; 1 for independent rows.
    pub rows: u64,
    /// Whether every entity has the largest number of rows.
    pub all_alike: bool,
}

/// Kinds of equal shares.
fn even(kinds: &[(f64, f64)]) -> Vec<Kind> {
    let share = 1.0 / kinds.len() as f64;
    let kind = |&(confidence, right): &(f64, f64)| Kind {
        share,
        confidence,
        right,
    };
    kinds.iter().map(kind).collect()
}

/// A world of independent rows over two classes.
pub fn world(name: &'static str, kinds: &[(f64, f64)]) -> World {
    World {
        name,
        classes: 2,
        kinds: even(kinds),
        rows: 1,
        all_alike: true,
    }
}

const CONFIDENCES: [f64; 5] = [0.55, 0.65, 0.75, 0.85, 0.95];

/// Predictions over two classes that are right less often than they say, by `excess`.
pub fn over_confident(name: &'static str, excess: f64) -> World {
    world(name, &CONFIDENCES.map(|c| (c, c - excess)))
}

/// All worlds of rows with outcomes.
pub fn worlds() -> Vec<World> {
    let calibrated = over_confident("calibrated", 0.0);
    let clustered = |name, rows, all_alike| World {
        name,
        rows,
        all_alike,
        ..calibrated.clone()
    };
    vec![
        calibrated.clone(),
        over_confident("over-confident", 0.1),
        over_confident("under-confident", -0.04),
        world("all alike", &[(0.8, 0.8)]),
        // Always right, and nearly sure or rather unsure of it.
        world("two confidences", &[(0.99, 1.0), (0.6, 1.0)]),
        // Gaps of both signs, which cancel in the mean.
        world("opposite gaps", &[(0.6, 0.75), (0.9, 0.75)]),
        // An edge of a bin between them, and both in one cell of the grid that an audit keeps.
        world(
            "gaps on both sides of an edge",
            &[(0.6 - 2e-6, 0.9), (0.6 + 2e-6, 0.3)],
        ),
        // One error in a hundred, each at a confidence that all but excludes it.
        world("sure and wrong", &[(1.0 - 1e-9, 0.99)]),
        World {
            classes: 1000,
            ..world("thousand classes", &[(0.3, 0.3), (0.6, 0.6)])
        },
        clustered("twenty rows an entity", 20, true),
        clustered("1 to 10 rows an entity", 10, false),
        clustered("1 to 300 rows an entity", 300, false),
    ]
}

impl World {
    fn mean(&self, f: impl Fn(&Kind) -> f64) -> f64 {
        self.kinds.iter().map(|kind| kind.share * f(kind)).sum()
    }

    /// The probability of each class but the named one.
    fn rest(&self, kind: &Kind) -> f64 {
        (1.0 - kind.confidence) / (self.classes as f64 - 1.0)
    }

    fn log_loss(&self, smallest: f64) -> f64 {
        let loss = |p: f64| -p.max(smallest).ln();
        self.mean(|k| k.right * loss(k.confidence) + (1.0 - k.right) * loss(self.rest(k)))
    }

    /// The population's value of what a check estimates; none for a check that is conditional on the
    /// log's own confidences, or about evidence.
    pub fn truth(&self, check: &str) -> Option<f64> {
        let others = self.classes as f64 - 1.0;
        let square = |x: f64| x * x;
        let entropy = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        let binned = |gap: &dyn Fn(&Kind) -> (f64, f64)| {
            let mut gaps = [0.0; BINS];
            for kind in &self.kinds {
                let (at, gap) = gap(kind);
                gaps[bin_index(at, BINS).unwrap()] += kind.share * gap;
            }
            gaps.iter().map(|gap| gap.abs()).sum::<f64>()
        };
        Some(match check {
            "ece" => binned(&|k| (k.confidence, k.confidence - k.right)),
            "gap" => self.mean(|k| k.confidence - k.right),
            "accuracy" => self.mean(|k| k.right),
            "brier" => self.mean(|k| {
                let rest = self.rest(k);
                let right = square(1.0 - k.confidence) + others * square(rest);
                let wrong =
                    square(k.confidence) + square(1.0 - rest) + (others - 1.0) * square(rest);
                k.right * right + (1.0 - k.right) * wrong
            }),
            "log_loss" => self.log_loss(0.0),
            "log_loss_clipped" => self.log_loss(1e-4),
            "log_loss_excess" => {
                let own = |k: &Kind| entropy(k.confidence) + others * entropy(self.rest(k));
                self.log_loss(0.0) - self.mean(own)
            }
            // The first class is named in half of the rows, as each class is.
            "classwise_ece" if self.classes == 2 => {
                let mut gaps = [0.0; BINS];
                for k in &self.kinds {
                    let gap = k.share * (k.confidence - k.right) / 2.0;
                    gaps[bin_index(k.confidence, BINS).unwrap()] += gap;
                    gaps[bin_index(1.0 - k.confidence, BINS).unwrap()] -= gap;
                }
                gaps.iter().map(|gap| gap.abs()).sum()
            }
            _ => return None,
        })
    }

    /// A log of `rows` rows, or of the entities that it takes to have as many.
    pub fn log(&self, rows: u64, stream: &mut Stream) -> String {
        let mut out = String::new();
        let (mut written, mut entity) = (0, 0);
        while written < rows {
            let mut u = stream.uniform();
            let mut chosen = self.kinds[0];
            for kind in &self.kinds {
                chosen = *kind;
                if u < kind.share {
                    break;
                }
                u -= kind.share;
            }
            let named = stream.below(self.classes as u64) as usize;
            let label = if stream.uniform() < chosen.right {
                named
            } else {
                let other = stream.below(self.classes as u64 - 1) as usize;
                other + usize::from(other >= named)
            };
            let rest = self.rest(&chosen);
            let probabilities: Vec<String> = (0..self.classes)
                .map(|class| {
                    if class == named {
                        chosen.confidence
                    } else {
                        rest
                    }
                })
                .map(|p| format!("{p:e}"))
                .collect();
            let probabilities = probabilities.join(",");
            let times = if self.all_alike {
                self.rows
            } else {
                1 + stream.below(self.rows)
            };
            for _ in 0..times {
                let _ = writeln!(
                    out,
                    "{{\"entity\":\"e{entity}\",\"label\":{label},\"probs\":[{probabilities}]}}"
                );
                written += 1;
            }
            entity += 1;
        }
        out
    }
}

/// An audit of a log with these limits and no others.
pub fn audit(log: &str, limits: &[(&str, f64)]) -> AuditReport {
    let mut audit = Audit::of(Log::stream("log", log.as_bytes())).compare(false);
    for kind in CHECKS.iter().filter(|kind| kind.default.is_some()) {
        audit = audit.no_limit(kind.id);
    }
    for &(check, limit) in limits {
        audit = audit.limit(check, limit);
    }
    audit.run().unwrap()
}

/// Whether an interval does not hold the truth; none where there is no interval.
pub fn misses(check: &Check, truth: f64) -> Option<bool> {
    let interval = check.interval?;
    // Truths are sums of a few products of doubles.
    let slack = 1e-12 * (1.0 + truth.abs());
    Some(truth < interval.low - slack || truth > interval.high + slack)
}
