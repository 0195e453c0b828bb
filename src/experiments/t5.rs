//! Theorem 5: what replaced items do to the answer of LPF-SPN.
//!
//! `⌊εK⌋` items of an entity are replaced by items of other entities, each keeping the weight of
//! its place, as the theorem has it. *At random*: places and replacements by lot. *Adversarial*:
//! for each wrong class, the places and replacements that move the log-odds against the clean
//! answer furthest towards it; the class with the largest change counts. A trial has its own
//! entities to take replacements from.

mod attack;

use attack::{Damage, Pool, adversarial, at_random, pooled};
use rayon::prelude::*;

use super::{
    Experiment, ExperimentError, Findings, Lab, Outcome, Progress, Summary, TestEntity, mean,
};
use crate::bounds::corruption_bound;
use crate::exhibit::{Axis, Cell, Figure, Panel, Role, Series, Shape, Table};
use crate::latent::random::{Stream, text_key};
use crate::synthetic::{DOMAINS, Domain, Generator};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "T5",
    title: "Robustness to replaced evidence",
    claims: &["T5", "T5'"],
    run,
};

const LOTS: u64 = text_key("experiment T5: places and replacements");

/// The shares of replaced items in hundredths, with the rows of the paper's table.
const LEVELS: [(usize, &str); 6] = [
    (0, "0.0"),
    (5, "0.05"),
    (10, "0.1"),
    (20, "0.2"),
    (30, "0.3"),
    (50, "0.5"),
];

/// Test entities, as in the paper.
const ENTITIES: u64 = 100;
/// Trials, as in the paper.
const TRIALS: usize = 10;
/// Entities of each trial to take replacements from.
const POOL: u64 = 100;
/// The paper's `C`: what all bounds that it prints are computed with, at `δ = 1` and `K = 10`.
const CONSTANT: f64 = 2.0;
/// The paper's `δ`.
const DELTA: f64 = 1.0;

/// Numbers of items: what the paper's data have, and what its bounds are computed with.
const COUNTS: [usize; 2] = [5, 10];

/// The paper's domain with enough items for both counts; the first five are the same.
static TEN_ITEMS: Domain = Domain {
    items: COUNTS[1],
    ..DOMAINS[0]
};

/// How items are weighted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weights {
    /// The reference's confidences, some 0.06 to 0.08.
    Reference,
    /// All one, as for a plain product of factors.
    Ones,
}

/// How many of `items` are replaced: `⌊εK⌋`, as theorem 5 says, in whole numbers.
fn replaced(hundredths: usize, items: usize) -> usize {
    hundredths * items / 100
}

/// One row: one share of replaced items.
struct Row {
    hundredths: usize,
    label: &'static str,
    replaced: usize,
    random: Summary,
    adversarial: Summary,
    largest: f64,
    claimed: f64,
    proven: f64,
    /// Attacks that do more than the paper's bound allows at their own `δ`.
    above_claim: usize,
    above_proven: usize,
    attacks: usize,
}

impl Row {
    fn epsilon(&self) -> f64 {
        self.hundredths as f64 / 100.0
    }
}

fn rows(
    entities: &[TestEntity],
    pools: &[Pool],
    items: usize,
    weighting: Weights,
    seed: u64,
) -> Result<Vec<Row>, ExperimentError> {
    let levels = LEVELS.iter().map(|&(hundredths, label)| {
        let epsilon = hundredths as f64 / 100.0;
        let count = replaced(hundredths, items);
        let mut damages: Vec<[Damage; 2]> = Vec::new();
        let mut means = [Vec::new(), Vec::new()];
        for (trial, pool) in pools.iter().enumerate() {
            let each: Result<Vec<[Damage; 2]>, ExperimentError> = entities
                .par_iter()
                .enumerate()
                .map(|(index, entity)| {
                    let clean = &entity.evidence.factors[..items];
                    let ones = vec![1.0; items];
                    let weights = match weighting {
                        Weights::Reference => &entity.evidence.weights[..items],
                        Weights::Ones => &ones,
                    };
                    let before = pooled(clean, weights)?;
                    let lot = (items as u64) << 32 | trial as u64;
                    let lots = Stream::new(seed, LOTS, index as u64, lot);
                    Ok([
                        at_random(clean, weights, &before, pool, lots, count)?,
                        adversarial(clean, weights, &before, pool, count)?,
                    ])
                })
                .collect();
            let each = each?;
            for (kind, means) in means.iter_mut().enumerate() {
                means.push(mean(each.iter().map(|d| d[kind].l1)));
            }
            damages.extend(each);
        }
        let all = || damages.iter().flatten();
        let mut above_claim = 0;
        for d in all() {
            let claimed = corruption_bound(CONSTANT, epsilon, d.delta, items as u64)?;
            above_claim += usize::from(d.l1 > claimed);
        }
        Ok(Row {
            hundredths,
            label,
            replaced: count,
            random: Summary::of(&means[0]),
            adversarial: Summary::of(&means[1]),
            largest: all().map(|d| d.l1).fold(0.0, f64::max),
            claimed: corruption_bound(CONSTANT, epsilon, DELTA, items as u64)?,
            proven: mean(damages.iter().map(|d| d[1].bound)),
            above_claim,
            above_proven: all().filter(|d| d.l1 > d.bound + ROUNDING).count(),
            attacks: all().count(),
        })
    });
    levels.collect()
}

/// Pools and their distance are rounded: below 1e-14 at total weights up to 10, entries down to
/// 1e-13 and three classes.
const ROUNDING: f64 = 1e-13;

/// One table and one panel of the figure.
struct Setting {
    items: usize,
    weighting: Weights,
    rows: Vec<Row>,
}

impl Setting {
    fn name(&self) -> String {
        let weights = match self.weighting {
            Weights::Reference => "reference weights",
            Weights::Ones => "weights one",
        };
        format!("K = {}, {weights}", self.items)
    }

    fn table(&self, lab: &Lab) -> Result<Table, ExperimentError> {
        let reference = self.weighting == Weights::Reference;
        let suffix = if reference { "" } else { ".ones" };
        let mut table = Table::new(
            format!("T5.K{}{suffix}", self.items),
            format!(
                "L1 change of the answer when ⌊εK⌋ items are replaced, {}; ± standard deviation \
                 over {} trials",
                self.name(),
                self.rows.first().map_or(0, |r| r.random.count)
            ),
        );
        for row in &self.rows {
            let printed = |name: &str| {
                let id = format!("tab:thm5/eps={}/{name}", row.label);
                let id = reference.then_some(id);
                id.map_or(Ok(Cell::Empty), |id| lab.paper.cell(&id))
            };
            table.row([
                ("ε", Cell::number(row.epsilon(), 2)),
                ("replaced", Cell::count(row.replaced)),
                ("L1 in the paper", printed("L1")?),
                ("L1 at random", row.random.cell(3)),
                ("L1 adversarial", row.adversarial.cell(3)),
                ("largest L1", Cell::number(row.largest, 3)),
                ("bound in the paper", printed("bound")?),
                ("C·ε·δ·√K at δ = 1", Cell::number(row.claimed, 3)),
                ("above C·ε·δ·√K, own δ", Cell::count(row.above_claim)),
                ("T5′, adversarial", Cell::number(row.proven, 3)),
                ("above T5′", Cell::count(row.above_proven)),
                ("attacks", Cell::count(row.attacks)),
            ]);
        }
        Ok(table)
    }

    fn panel(&self, lab: &Lab) -> Result<Panel, ExperimentError> {
        let bound = |name, role, f: fn(&Row) -> f64| {
            Series::dashed(name, role, self.rows.iter().map(|r| (r.epsilon(), f(r))))
        };
        let attack = |name, role, f: fn(&Row) -> Summary| {
            let means = self.rows.iter().map(|r| (r.epsilon(), f(r)));
            Summary::series(name, role, Shape::Line, means)
        };
        let mut series = vec![
            bound("C·ε·δ·√K (claimed)", Role::Claimed, |r| r.claimed),
            bound("T5′, mean (proven)", Role::Proven, |r| r.proven),
            attack("adversarial", Role::OursToo, |r| r.adversarial),
            attack("at random", Role::Ours, |r| r.random),
        ];
        if self.weighting == Weights::Reference {
            let mut printed = Vec::new();
            for row in &self.rows {
                let id = format!("tab:thm5/eps={}/L1", row.label);
                printed.push((row.epsilon(), lab.paper.number(&id)?.value));
            }
            series.push(Series::points("paper", Role::Paper, printed));
        }
        Ok(Panel::new(
            self.name(),
            Axis::linear("share of replaced items ε"),
            Axis::linear("L1 change of the answer (at most 2)"),
            series,
        ))
    }
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    let trials = lab.trials(TRIALS, 2)?;
    progress.expect(6);
    let trained = lab.compliance()?;
    progress.step("model");
    let entities = trained.test_of(&Generator::new(&TEN_ITEMS), 0, ENTITIES)?;
    let pools: Result<Vec<Pool>, ExperimentError> = (0..trials as u64)
        .map(|t| Ok(Pool::of(trained.test(ENTITIES + t * POOL, POOL)?)))
        .collect();
    let pools = pools?;
    progress.step("entities");
    let mut settings = Vec::new();
    for weighting in [Weights::Reference, Weights::Ones] {
        for items in COUNTS {
            settings.push(Setting {
                items,
                weighting,
                rows: rows(&entities, &pools, items, weighting, lab.settings.seed)?,
            });
            progress.step("replacements");
        }
    }
    outcome(lab, &settings, trials)
}

fn outcome(lab: &Lab, settings: &[Setting], trials: usize) -> Result<Outcome, ExperimentError> {
    let described = lab.described(&[
        ("test entities", &ENTITIES),
        ("trials", &trials),
        ("entities to take replacements from, a trial", &POOL),
        ("C", &CONSTANT),
    ]);
    let findings = findings(lab, settings)?;
    let all = || settings.iter().flat_map(|s| &s.rows);
    let attacks: usize = all().map(|r| r.attacks).sum();
    let above: usize = all().map(|r| r.above_proven).sum();
    let sentence = format!(
        "{} T5′ is exceeded by {above} of {attacks} attacks.",
        findings.sentence()
    );
    let mut outcome = EXPERIMENT.outcome(described, sentence);
    let mut panels = Vec::new();
    for setting in settings {
        outcome.tables.push(setting.table(lab)?);
        panels.push(setting.panel(lab)?);
    }
    outcome.figures.push(Figure::new(
        "T5",
        "L1 change of the answer against the share of replaced items, with the paper's \
                  bound and T5′; bars are standard deviations over trials.",
        panels,
    ));
    Ok(outcome)
}

fn findings(lab: &Lab, settings: &[Setting]) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let [few, many] = [0, 1].map(|i| settings.get(i).map_or(&[][..], |s| &s.rows[..]));
    for row in few {
        let id = format!("tab:thm5/eps={}", row.label);
        let printed = lab.paper.number(&format!("{id}/L1"))?;
        if row.hundredths > 0 {
            let what = format!("L1 at ε = {}, K = 5", row.label);
            findings.number(&what, &row.random, &printed);
        }
    }
    let mut as_printed = true;
    for row in many {
        let bound = lab
            .paper
            .number(&format!("tab:thm5/eps={}/bound", row.label))?;
        as_printed &= bound.low <= row.claimed && row.claimed <= bound.high;
        let printed = lab
            .paper
            .number(&format!("tab:thm5/eps={}/L1", row.label))?;
        if printed.value == 0.0 && row.hundredths > 0 {
            let holds = row.random.mean <= printed.high;
            let what = format!("nothing changes at ε = {} with K = 10", row.label);
            findings.claim(holds, what);
        }
    }
    findings.claim(
        as_printed,
        "all bounds are C·ε·δ·√K with C = 2, δ = 1, K = 10",
    );
    for setting in settings {
        let above: usize = setting.rows.iter().map(|r| r.above_claim).sum();
        let attacks: usize = setting.rows.iter().map(|r| r.attacks).sum();
        let what = if above == 0 {
            format!("no attack exceeds C·ε·δ·√K at {}", setting.name())
        } else {
            format!(
                "C·ε·δ·√K is exceeded by {above} of {attacks} attacks at {}",
                setting.name()
            )
        };
        findings.claim(above == 0, what);
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_replaced_as_the_theorem_says() {
        // ⌊εK⌋: the paper's zeros at 0.05 and 0.1 and its equal values at 0.2 and 0.3 need K = 5.
        let counts = |k| LEVELS.map(|(h, _)| replaced(h, k));
        assert_eq!(counts(5), [0, 0, 0, 1, 1, 2]);
        assert_eq!(counts(10), [0, 0, 1, 2, 3, 5]);
        for (hundredths, label) in LEVELS {
            assert_eq!(label.parse::<f64>().unwrap(), hundredths as f64 / 100.0);
        }
    }
}
