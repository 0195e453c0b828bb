//! Theorem 5: what replaced items do to the answer of LPF-SPN.
//!
//! `⌊εK⌋` items of an entity are replaced by items of other entities, each keeping the weight of
//! its place, as the theorem has it. *At random*: places and replacements by lot. *Adversarial*:
//! for each wrong class, the places and replacements that move the log-odds against the clean
//! answer furthest towards it; the class with the largest change counts. Replacements come from
//! entities that are not judged.

mod attack;

use attack::{Damage, Pool, adversarial, at_random, pooled};
use rayon::prelude::*;

use super::{
    Agreement, Experiment, ExperimentError, Lab, Origin, Outcome, Progress, Quantity, Summary,
    TestEntity, compared, mean,
};
use crate::bounds::corruption_bound;
use crate::exhibit::{Axis, Figure, Panel, Role, Series, Shape};
use crate::latent::random::{Stream, text_key};

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
/// Lots for each run: with five models on the author's data ten trials, as in the paper.
const LOTS_A_RUN: u64 = 2;
/// Runs with fresh entities where they can be drawn.
const TRIALS: usize = 5;
/// Entities to take replacements from.
const POOL: u64 = 100;
/// The paper's `C`: what all bounds that it prints are computed with, at `δ = 1` and `K = 10`.
const CONSTANT: f64 = 2.0;
/// The paper's `δ`.
const DELTA: f64 = 1.0;

/// Numbers of items: what the paper's data have, and what its bounds are computed with.
const COUNTS: [usize; 2] = [5, 10];

/// How items are weighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// One share of replaced items: means over entities, trial by trial, and what happened in all.
struct Row {
    hundredths: usize,
    label: &'static str,
    random: Vec<f64>,
    adversarial: Vec<f64>,
    proven: Vec<f64>,
    claimed: f64,
    largest: f64,
    /// Attacks that do more than the paper's bound allows at their own `δ`.
    above_claim: usize,
    above_proven: usize,
    attacks: usize,
}

impl Row {
    fn epsilon(&self) -> f64 {
        self.hundredths as f64 / 100.0
    }

    fn at(&self, what: &str) -> String {
        format!("{what} at ε = {}", self.label)
    }
}

/// What a trial attacks, and with what.
struct Trial<'a> {
    entities: &'a [TestEntity],
    pool: &'a Pool,
    /// Number of its lots.
    number: u64,
}

fn attack(
    entity: &TestEntity,
    setting: (usize, Weights),
    pool: &Pool,
    lots: Stream,
    count: usize,
) -> Result<[Damage; 2], ExperimentError> {
    let (items, weighting) = setting;
    let clean = &entity.evidence.factors[..items];
    let ones = vec![1.0; items];
    let weights = match weighting {
        Weights::Reference => &entity.evidence.weights[..items],
        Weights::Ones => &ones,
    };
    let before = pooled(clean, weights)?;
    Ok([
        at_random(clean, weights, &before, pool, lots, count)?,
        adversarial(clean, weights, &before, pool, count)?,
    ])
}

fn rows(
    trials: &[Trial<'_>],
    setting: (usize, Weights),
    seed: u64,
) -> Result<Vec<Row>, ExperimentError> {
    let items = setting.0;
    let levels = LEVELS.iter().map(|&(hundredths, label)| {
        let epsilon = hundredths as f64 / 100.0;
        let count = replaced(hundredths, items);
        let mut row = Row {
            hundredths,
            label,
            random: Vec::new(),
            adversarial: Vec::new(),
            proven: Vec::new(),
            claimed: corruption_bound(CONSTANT, epsilon, DELTA, items as u64)?,
            largest: 0.0,
            above_claim: 0,
            above_proven: 0,
            attacks: 0,
        };
        for trial in trials {
            let lot = (items as u64) << 32 | trial.number;
            let each = trial.entities.par_iter().enumerate();
            let each = each.map(|(index, entity)| {
                let lots = Stream::new(seed, LOTS, index as u64, lot);
                attack(entity, setting, trial.pool, lots, count)
            });
            let each = each.collect::<Result<Vec<[Damage; 2]>, ExperimentError>>()?;
            row.random.push(mean(each.iter().map(|d| d[0].l1)));
            row.adversarial.push(mean(each.iter().map(|d| d[1].l1)));
            row.proven.push(mean(each.iter().map(|d| d[1].bound)));
            for d in each.iter().flatten() {
                let claimed = corruption_bound(CONSTANT, epsilon, d.delta, items as u64)?;
                row.above_claim += usize::from(d.l1 > claimed);
                row.above_proven += usize::from(d.l1 > d.bound + ROUNDING);
                row.attacks += 1;
                row.largest = row.largest.max(d.l1);
            }
        }
        Ok(row)
    });
    levels.collect()
}

/// Pools and their distance are rounded: below 1e-14 at total weights up to 10, entries down to
/// 1e-13 and three classes.
const ROUNDING: f64 = 1e-13;

/// One table and one panel of the figure, in one column of results.
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

    fn id(&self) -> String {
        let ones = self.weighting == Weights::Ones;
        format!("T5.K{}{}", self.items, if ones { ".ones" } else { "" })
    }

    fn quantities(&self) -> Vec<Quantity> {
        let mut all = Vec::new();
        for row in &self.rows {
            let of =
                |what: &str, values: &[f64]| Quantity::new(row.at(what), Summary::of(values), 3);
            let count =
                |what: &str, n: usize| Quantity::new(row.at(what), Summary::exact(n as f64), 0);
            let printed = format!("tab:thm5/eps={}", row.label);
            all.push(of("L1, at random,", &row.random).as_in(format!("{printed}/L1")));
            all.push(of("L1, adversarial,", &row.adversarial));
            let largest = Summary::exact(row.largest);
            all.push(Quantity::new(row.at("largest L1"), largest, 3));
            let claimed = Summary::exact(row.claimed);
            let bound = format!("{printed}/bound");
            all.push(Quantity::printed(
                row.at("C·ε·δ·√K with δ = 1"),
                claimed,
                3,
                bound,
            ));
            all.push(of("T5′, adversarial,", &row.proven));
            all.push(count("attacks", row.attacks));
            all.push(count(
                "attacks above C·ε·δ·√K with their own δ",
                row.above_claim,
            ));
            all.push(count("attacks above T5′", row.above_proven));
        }
        all
    }

    fn panel(&self, known: &Setting, lab: &Lab) -> Result<Panel, ExperimentError> {
        let bound = |name, role, f: fn(&Row) -> f64| {
            Series::dashed(name, role, self.rows.iter().map(|r| (r.epsilon(), f(r))))
        };
        let attack = |name, role, of: &Setting, f: fn(&Row) -> &[f64]| {
            let means = of.rows.iter().map(|r| (r.epsilon(), Summary::of(f(r))));
            Summary::series(name, role, Shape::Line, means)
        };
        let mut series = vec![
            bound("C·ε·δ·√K (claimed)", Role::Claimed, |r| r.claimed),
            bound("T5′, mean (proven)", Role::Proven, |r| {
                mean(r.proven.clone())
            }),
            attack("adversarial", Role::OursToo, self, |r| &r.adversarial),
            attack("at random", Role::Ours, self, |r| &r.random),
            attack("at random, known posterior", Role::OursAlso, known, |r| {
                &r.random
            }),
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

/// One column of results: all settings.
fn column(
    lab: &Lab,
    origin: Origin,
    progress: &dyn Progress,
) -> Result<Vec<Setting>, ExperimentError> {
    let mut drawn = Vec::new();
    let runs = lab.runs(origin, TRIALS)?;
    let reserved = runs.len() as u64 * ENTITIES;
    for run in runs {
        let few = run.test(ENTITIES)?;
        let many = run.many(ENTITIES)?;
        drawn.push((few, many, Pool::of(run.others(reserved, POOL)?)));
        progress.step("entities");
    }
    let mut settings = Vec::new();
    for weighting in [Weights::Reference, Weights::Ones] {
        for items in COUNTS {
            let trials = drawn
                .iter()
                .enumerate()
                .flat_map(|(run, (few, many, pool))| {
                    let entities = if items <= COUNTS[0] { few } else { many };
                    let lots = (0..LOTS_A_RUN).map(move |lot| run as u64 * LOTS_A_RUN + lot);
                    lots.map(move |number| Trial {
                        entities,
                        pool,
                        number,
                    })
                });
            let trials: Vec<Trial<'_>> = trials.collect();
            settings.push(Setting {
                items,
                weighting,
                rows: rows(&trials, (items, weighting), lab.settings.seed)?,
            });
            progress.step("replacements");
        }
    }
    Ok(settings)
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(8 + 2 * lab.trials(TRIALS, 1)? as u64);
    let author = column(lab, Origin::Author, progress)?;
    let known = column(lab, Origin::Known, progress)?;
    let mut agreement = Agreement::default();
    claims(lab, &author, Origin::Author, &mut agreement)?;
    claims(lab, &known, Origin::Known, &mut agreement)?;
    let described = lab.described(&[
        ("test entities", &ENTITIES),
        ("lots a run", &LOTS_A_RUN),
        ("entities to take replacements from", &POOL),
        ("C", &CONSTANT),
    ]);
    let all = || author.iter().chain(&known).flat_map(|s| &s.rows);
    let attacks: usize = all().map(|r| r.attacks).sum();
    let above: usize = all().map(|r| r.above_proven).sum();
    let sentence = format!(
        "{} T5′ is exceeded by {above} of {attacks} attacks.",
        agreement.sentence()
    );
    let mut outcome = EXPERIMENT.outcome(described, sentence);
    outcome.statements = agreement.statements();
    let mut panels = Vec::new();
    for (setting, known) in author.iter().zip(&known) {
        let title = format!(
            "L1 change of the answer when ⌊εK⌋ items are replaced, {}",
            setting.name()
        );
        let columns = [&setting.quantities()[..], &known.quantities()];
        outcome
            .tables
            .push(compared(&lab.paper, setting.id(), &title, columns)?);
        panels.push(setting.panel(known, lab)?);
    }
    outcome.figures.push(Figure::new(
        "T5",
        "L1 change of the answer on the author's data against the share of replaced items, \
                  with the paper's bound and T5′; bars are standard deviations over trials.",
        panels,
    ));
    Ok(outcome)
}

fn claims(
    lab: &Lab,
    settings: &[Setting],
    origin: Origin,
    agreement: &mut Agreement,
) -> Result<(), ExperimentError> {
    let [few, many] = [0, 1].map(|i| settings.get(i).map_or(&[][..], |s| &s.rows[..]));
    let number = |row: &Row, column: &str| {
        let id = format!("tab:thm5/eps={}/{column}", row.label);
        lab.paper.number(&id)
    };
    for row in few.iter().filter(|row| row.hundredths > 0) {
        let what = format!("L1 at ε = {}, K = 5", row.label);
        agreement.number(
            origin,
            &what,
            &Summary::of(&row.random),
            &number(row, "L1")?,
        );
    }
    let mut as_printed = true;
    for row in many {
        let bound = number(row, "bound")?;
        as_printed &= bound.low <= row.claimed && row.claimed <= bound.high;
        let printed = number(row, "L1")?;
        if printed.value == 0.0 && row.hundredths > 0 {
            let holds = mean(row.random.clone()) <= printed.high;
            let what = format!("nothing changes at ε = {} with K = 10", row.label);
            agreement.claim(origin, holds, what);
        }
    }
    let words = "all bounds are C·ε·δ·√K with C = 2, δ = 1, K = 10";
    agreement.claim(origin, as_printed, words);
    for setting in settings {
        let above: usize = setting.rows.iter().map(|r| r.above_claim).sum();
        let attacks: usize = setting.rows.iter().map(|r| r.attacks).sum();
        let name = setting.name();
        let what = if above == 0 {
            format!("no attack exceeds C·ε·δ·√K at {name}")
        } else {
            format!("C·ε·δ·√K is exceeded by {above} of {attacks} attacks at {name}")
        };
        agreement.claim(origin, above == 0, what);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::Method;
    use crate::experiments::{Contender, Trained};
    use crate::synthetic::AuthorData;

    /// What is attacked is the answer that ships.
    #[test]
    fn the_answer_before_an_attack_is_that_of_infer() {
        let trained = Trained::with_author_weights(AuthorData::main().unwrap(), 1).unwrap();
        let entities = trained.test(0, 5).unwrap();
        let shipped = trained.answers(Contender::Method(Method::Spn), &entities);
        for (entity, answer) in entities.iter().zip(shipped.unwrap()) {
            let evidence = &entity.evidence;
            assert_eq!(
                pooled(&evidence.factors, &evidence.weights).unwrap(),
                answer
            );
        }
    }

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
