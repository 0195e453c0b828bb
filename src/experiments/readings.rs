//! Which reading of the paper gives its numbers: all that were tried, and how many.
//!
//! The paper does not say which items, weights, bins or entities are behind a calibration error.
//! Each reading here changes one or more of these; none changes how a model is trained. With so many
//! tries some come near by chance, so that every one is shown and their number stated.

use rayon::prelude::*;

use super::{
    Contender, Experiment, ExperimentError, Lab, Outcome, Printed, Progress, Run, Summary,
    TestEntity, Trained, Variant,
};
use crate::aggregate::Method;
use crate::calibration::{CalibrationError, Evaluation};
use crate::exhibit::{Cell, Table};
use crate::simplex::Distribution;
use crate::synthetic::{AuthorData, Part};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "readings",
    title: "Which reading gives the paper's numbers",
    claims: &["T1", "T3", "T6"],
    run,
};

/// Entities of the author's large set to judge by: as many as the paper tests theorem 1 with.
const LARGE: usize = 300;

/// What is judged, and the paper's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Product,
    Items,
    Learned,
    Uniform,
    Loss,
}

impl Target {
    const ALL: [Target; 5] = [
        Target::Product,
        Target::Items,
        Target::Learned,
        Target::Uniform,
        Target::Loss,
    ];

    fn name(self) -> &'static str {
        match self {
            Target::Product => "ECE of the product",
            Target::Items => "ECE of single items",
            Target::Learned => "ECE of learned aggregation",
            Target::Uniform => "ECE of the plain mean",
            Target::Loss => "test loss of learned aggregation",
        }
    }

    fn printed(self, lab: &Lab) -> Result<Printed, ExperimentError> {
        lab.paper.number(match self {
            Target::Product => "sec:exp-thm1/ece",
            Target::Items => "sec:exp-thm1/epsilon",
            Target::Learned => "sec:exp-thm1/learned-ece",
            Target::Uniform => "sec:exp-thm6/uniform-ece",
            Target::Loss => "tab:thm3/N=4200/test",
        })
    }

    /// How it can be measured.
    fn measures(self) -> &'static [(&'static str, Measure)] {
        match self {
            Target::Loss => &[
                ("log loss in nats", |a, l| of(a, l, 10)?.log_loss()),
                ("log loss in bits", |a, l| {
                    Ok(of(a, l, 10)?.log_loss()? / std::f64::consts::LN_2)
                }),
                ("Brier score", |a, l| of(a, l, 10)?.brier()),
                (
                    "share of errors",
                    |a, l| Ok(1.0 - of(a, l, 10)?.accuracy()?),
                ),
            ],
            _ => &[
                ("5 bins", |a, l| of(a, l, 5)?.ece()),
                ("10 bins", |a, l| of(a, l, 10)?.ece()),
                ("15 bins", |a, l| of(a, l, 15)?.ece()),
                ("20 bins", |a, l| of(a, l, 20)?.ece()),
                ("10 bins, class by class", |a, l| {
                    of(a, l, 10)?.classwise_ece()
                }),
            ],
        }
    }
}

type Measure = fn(&[Distribution], &[usize]) -> Result<f64, CalibrationError>;

fn of(
    answers: &[Distribution],
    labels: &[usize],
    bins: usize,
) -> Result<Evaluation, CalibrationError> {
    Evaluation::of(answers, labels, bins)
}

/// How items are weighted in the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weights {
    /// The reference's confidences.
    Confidence,
    /// The same, divided by their sum.
    Normalized,
    /// All one.
    Ones,
}

impl Weights {
    fn name(self) -> &'static str {
        match self {
            Weights::Confidence => "confidence",
            Weights::Normalized => "confidence, sum one",
            Weights::Ones => "one",
        }
    }

    fn apply(self, entity: &mut TestEntity) {
        let weights = &mut entity.evidence.weights;
        match self {
            Weights::Confidence => {}
            Weights::Normalized => {
                let sum: f64 = weights.iter().sum();
                weights.iter_mut().for_each(|w| *w /= sum);
            }
            Weights::Ones => weights.fill(1.0),
        }
    }
}

/// One reading, but for its measure.
#[derive(Clone, Debug, PartialEq)]
struct Reading {
    target: Target,
    data: &'static str,
    items: usize,
    weights: Weights,
    /// One value for each of the target's measures.
    values: Vec<f64>,
}

/// A set of entities, and with how many items it is tried.
struct Set {
    name: &'static str,
    entities: Vec<TestEntity>,
    counts: &'static [usize],
}

fn sets(run: &Run<'_>) -> Result<Vec<Set>, ExperimentError> {
    let large = AuthorData::large()?;
    let large = run
        .trained
        .author_entities(large.part(Part::Test).take(LARGE))?;
    Ok(vec![
        Set {
            name: "main, test part",
            entities: run.test(u64::MAX)?,
            counts: &[5, 1, 2, 3],
        },
        Set {
            name: "large, 300 of the test part",
            entities: large,
            counts: &[5],
        },
        Set {
            name: "entities with 20 items",
            entities: run.many(u64::MAX)?,
            counts: &[5, 10, 20],
        },
    ])
}

fn judge(
    trained: &Trained,
    target: Target,
    entities: &[TestEntity],
) -> Result<Vec<f64>, ExperimentError> {
    let labels = entities.iter().map(|e| e.label);
    let by = |method| trained.answers(Contender::Method(method), entities);
    let (answers, labels): (Vec<Distribution>, Vec<usize>) = match target {
        Target::Product => (by(Method::Spn)?, labels.collect()),
        Target::Learned | Target::Loss => (by(Method::Learned)?, labels.collect()),
        Target::Uniform => (by(Method::Uniform)?, labels.collect()),
        Target::Items => entities
            .iter()
            .flat_map(|e| e.evidence.factors.iter().map(|f| (f.clone(), e.label)))
            .unzip(),
    };
    let values = target.measures().iter();
    let values = values.map(|(_, measure)| measure(&answers, &labels));
    Ok(values.collect::<Result<_, _>>()?)
}

/// All readings of one model.
fn readings(trained: &Trained) -> Result<Vec<Reading>, ExperimentError> {
    let mut all = Vec::new();
    for set in sets(&Run { trained, trial: 0 })? {
        for &items in set.counts {
            let first = set.entities.par_iter().map(|e| e.first(items, trained));
            let first = first.collect::<Result<Vec<TestEntity>, ExperimentError>>()?;
            for target in Target::ALL {
                let weightings: &[Weights] = match target {
                    Target::Product => &[Weights::Confidence, Weights::Normalized, Weights::Ones],
                    _ => &[Weights::Confidence],
                };
                for &weights in weightings {
                    let mut weighted = first.clone();
                    weighted.iter_mut().for_each(|e| weights.apply(e));
                    all.push(Reading {
                        target,
                        data: set.name,
                        items,
                        weights,
                        values: judge(trained, target, &weighted)?,
                    });
                }
            }
        }
    }
    Ok(all)
}

/// A reading with its values over models.
struct Tried {
    reading: Reading,
    model: &'static str,
    values: Vec<Summary>,
}

/// One number of a reading beside the paper's.
struct Try<'a> {
    tried: &'a Tried,
    measure: &'static str,
    value: Summary,
}

impl Try<'_> {
    fn words(&self) -> String {
        let r = &self.tried.reading;
        let weights = match r.target {
            Target::Product => format!(", weights {}", r.weights.name()),
            _ => String::new(),
        };
        let Tried { model, .. } = self.tried;
        format!(
            "{model}, {}, K = {}{weights}, {}",
            r.data, r.items, self.measure
        )
    }
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    let models = lab.author(Variant::AsTheyAre)?;
    progress.expect(models.len() as u64 + 1);
    let mut ours: Vec<Vec<Reading>> = Vec::new();
    for trained in models {
        ours.push(readings(trained)?);
        progress.step("readings tried");
    }
    let theirs = readings(lab.reference()?)?;
    progress.step("readings tried");
    let mut tried = Vec::new();
    for (at, reading) in theirs.iter().enumerate() {
        let over = |measure: usize| Summary::of(ours.iter().map(|run| run[at].values[measure]));
        tried.push(Tried {
            values: (0..reading.values.len()).map(over).collect(),
            model: "our models",
            reading: reading.clone(),
        });
        tried.push(Tried {
            values: reading.values.iter().map(|&x| Summary::exact(x)).collect(),
            model: "reference's weights",
            reading: reading.clone(),
        });
    }
    let settings = lab.described(&[("entities of the large set", &LARGE)]);
    let (summary, sentence) = summarized(lab, &tried)?;
    let mut outcome = EXPERIMENT.outcome(settings, sentence);
    outcome.tables.push(summary);
    for target in Target::ALL {
        outcome.tables.push(whole(lab, target, &tried)?);
    }
    Ok(outcome)
}

fn tries(target: Target, tried: &[Tried]) -> Vec<Try<'_>> {
    let of_target = tried.iter().filter(|t| t.reading.target == target);
    let all = of_target.flat_map(|tried| {
        let measures = target.measures().iter().zip(&tried.values);
        measures.map(move |(&(measure, _), &value)| Try {
            tried,
            measure,
            value,
        })
    });
    all.collect()
}

/// For each number of the paper how many readings were tried, how many would be printed so, and which
/// is nearest.
fn summarized(lab: &Lab, tried: &[Tried]) -> Result<(Table, String), ExperimentError> {
    let mut table = Table::new(
        "readings.nearest",
        "How near the readings come to the paper's numbers. As printed: the value, a mean over models \
         for ours, rounds to the paper's number",
    );
    let (mut count, mut hits, mut nearest_words) = (0, 0, Vec::new());
    for target in Target::ALL {
        let printed = target.printed(lab)?;
        let all = tries(target, tried);
        let as_printed = |t: &&Try<'_>| printed.low <= t.value.mean && t.value.mean <= printed.high;
        let within = all.iter().filter(as_printed).count();
        let off = |t: &Try<'_>| (t.value.mean - printed.value).abs();
        let nearest = all.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        let smallest = all
            .iter()
            .map(|t| t.value.mean)
            .fold(f64::INFINITY, f64::min);
        let largest = all.iter().map(|t| t.value.mean).fold(0.0, f64::max);
        table.row([
            ("number", Cell::text(target.name())),
            ("paper", Cell::number(printed.value, printed.digits)),
            ("readings tried", Cell::count(all.len())),
            ("as printed", Cell::count(within)),
            ("nearest", nearest.map_or(Cell::Empty, |t| t.value.cell(4))),
            (
                "nearest reading",
                Cell::text(nearest.map_or(String::new(), Try::words)),
            ),
            ("smallest", Cell::number(smallest, 4)),
            ("largest", Cell::number(largest, 4)),
        ]);
        count += all.len();
        hits += within;
        if let Some(t) = nearest {
            let (name, words) = (target.name(), t.words());
            let (value, there) = (t.value.mean, printed.value);
            let d = usize::from(printed.digits);
            nearest_words.push(format!("{name} {value:.4} for {there:.d$} ({words})"));
        }
    }
    let sentence = format!(
        "{count} readings were tried, all of them shown; {hits} would be printed as the paper's number. \
         Nearest: {}. A reading that fits one number and not the others is found by searching, not \
         the paper's.",
        nearest_words.join("; ")
    );
    Ok((table, sentence))
}

/// Every reading of a target.
fn whole(lab: &Lab, target: Target, tried: &[Tried]) -> Result<Table, ExperimentError> {
    let printed = target.printed(lab)?;
    let id = format!("readings.{target:?}").to_lowercase();
    let d = usize::from(printed.digits);
    let mut table = Table::new(
        id,
        format!(
            "{}, {:.d$} in the paper: every reading. ± is the standard deviation of one model",
            target.name(),
            printed.value
        ),
    );
    for t in tried.iter().filter(|t| t.reading.target == target) {
        let r = &t.reading;
        let mut cells = vec![
            ("model", Cell::text(t.model)),
            ("entities", Cell::text(r.data)),
            ("K", Cell::count(r.items)),
        ];
        if target == Target::Product {
            cells.push(("weights", Cell::text(r.weights.name())));
        }
        let measures = target.measures().iter().zip(&t.values);
        cells.extend(measures.map(|((name, _), value)| (*name, value.cell(4))));
        table.row(cells);
    }
    Ok(table)
}
