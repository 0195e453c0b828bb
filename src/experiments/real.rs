//! Real evidence: numerals in six views, web pages by nine indicators.
//!
//! | file | what it holds |
//! |---|---|
//! | `study` | [`Study`]: a model trained on a real set, and the entities that it is judged by |
//! | `compared` | the methods beside each other, judged by the audit |
//! | `dependence` | A1 where items differ in kind, and the total correlation |
//! | `measured` | the six assumptions |
//! | `predicted` | what each theorem predicts, and what happens |
//!
//! One model learns all views of a set: an item's numbers stand in the places of its view. Everything
//! goes through the pipeline that ships: records, [`Answerer`](crate::Answerer), calibration maps,
//! [`Audit`](crate::Audit).

mod compared;
mod dependence;
mod measured;
mod predicted;
mod study;

use rayon::prelude::*;

use compared::{CORRECTED, Compared, SPN, SPN_ONES, SURE, Scored};
use measured::Measured;
use predicted::Predicted;
use study::{Study, Weights};

use super::{BINS, Experiment, ExperimentError, Lab, Outcome, Progress, SAMPLES, Settings, mean};
use crate::aggregate::Method;
use crate::calibration::Evaluation;
use crate::exhibit::{Axis, Cell, Figure, Panel, Role, Series, Table};
use crate::synthetic::{REAL, RealSet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "real",
    title: "Real evidence: numerals in six views, web pages by nine indicators",
    claims: &[
        "A1", "A2", "A3", "A4", "A5", "A6", "T1", "T1'", "T1''", "T2", "T3", "T3'", "T4", "T4'",
        "T5", "T5'", "T6", "T7", "E1",
    ],
    run,
};

/// How the log of a real set is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// Seed, size and length of training, as of the experiment.
    pub settings: Settings,
    /// Whether every item counts one, instead of what its posterior gives it.
    pub unweighted: bool,
}

/// The log of the experiment: a line for each entity to be judged by, with the answer of LPF-SPN and
/// the factors behind it, as `lpf audit` reads it.
///
/// # Errors
/// An [`ExperimentError`] that names the stage.
pub fn real_log(set: &'static RealSet, how: &LogSettings) -> Result<Vec<u8>, ExperimentError> {
    let weights = match how.unweighted {
        true => Weights::Ones,
        false => Weights::Shipped,
    };
    Study::new(set, &how.settings)?.log(weights)
}

/// What is found out about one set.
struct Found {
    study: Study,
    compared: Compared,
    measured: Measured,
    predicted: Predicted,
    /// For each number of items, the methods of [`CURVES`].
    curves: Vec<Vec<Point>>,
}

/// What is followed from one item to all.
const CURVES: [(&str, Method, Weights); 3] = [
    (SPN, Method::Spn, Weights::Shipped),
    (SPN_ONES, Method::Spn, Weights::Ones),
    (CORRECTED, Method::PriorCorrected, Weights::Shipped),
];

/// A method with so many items.
struct Point {
    accuracy: f64,
    confidence: f64,
    ece: f64,
}

fn find(
    set: &'static RealSet,
    lab: &Lab,
    progress: &dyn Progress,
) -> Result<Found, ExperimentError> {
    let study = Study::new(set, &lab.settings)?;
    progress.step("model trained");
    let compared = Compared::new(&study)?;
    progress.step("methods compared");
    let measured = Measured::new(lab, &study)?;
    progress.step("assumptions measured");
    let labels = study.labels();
    let mut curves = Vec::new();
    for count in 1..=study.items() {
        let first = study.first(count);
        let point = |&(_, method, weights): &(&str, Method, Weights)| {
            let answers = study.answers(method, weights, &first)?;
            let judged = Evaluation::of(&answers, &labels, BINS)?;
            Ok(Point {
                accuracy: judged.accuracy()?,
                confidence: mean(answers.iter().map(|answer| *answer.confidence())),
                ece: judged.ece()?,
            })
        };
        let points: Result<Vec<Point>, ExperimentError> = CURVES.iter().map(point).collect();
        curves.push(points?);
    }
    let predicted = Predicted::new(lab, &study, &compared, &measured)?;
    progress.step("theorems asked");
    Ok(Found {
        study,
        compared,
        measured,
        predicted,
        curves,
    })
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(4 * REAL.len() as u64);
    let found: Result<Vec<Found>, ExperimentError> = REAL
        .par_iter()
        .map(|set| find(set, lab, progress))
        .collect();
    Ok(outcome(lab, found?))
}

fn outcome(lab: &Lab, found: Vec<Found>) -> Outcome {
    let sentences = found.iter().map(sentence).collect::<Vec<_>>();
    let mut settings = vec![
        ("seed".to_owned(), lab.settings.seed.to_string()),
        ("epochs at most".to_owned(), lab.settings.epochs.to_string()),
        ("samples of a factor".to_owned(), SAMPLES.to_string()),
    ];
    for set in REAL {
        settings.push((set.name.to_owned(), set.attribution.to_owned()));
    }
    let mut outcome = EXPERIMENT.outcome(settings, sentences.join(" "));
    outcome.tables.push(data_table(&found));
    for f in &found {
        outcome.tables.push(f.compared.table(&f.study));
    }
    outcome.tables.push(curve_table(&found));
    let sets = found.iter().map(|f| (f.study.set().name, &f.measured));
    outcome
        .tables
        .push(measured::table(&sets.collect::<Vec<_>>()));
    outcome.figures.push(figure(&found));
    let predicted = found.into_iter().map(|f| (f.study.set().name, f.predicted));
    outcome.tables.push(predicted::table(predicted.collect()));
    outcome
}

/// How the sets are split, and how much of what is judged was seen before.
fn data_table(found: &[Found]) -> Table {
    let mut table = Table::new(
        "real.data",
        "The sets: entities to train on, to stop by, to fit calibration maps on, and to be judged by",
    );
    for f in found {
        let (set, data, split) = (f.study.set(), &f.study.data, &f.study.split);
        let numbers = |e: usize| data.numbers(e).map(f64::to_bits).collect::<Vec<u64>>();
        let learned = split.training().iter().map(|&e| numbers(e));
        let learned: std::collections::BTreeSet<Vec<u64>> = learned.collect();
        let judged = data.judging().take(f.study.judged.len());
        let repeated = judged.filter(|&e| learned.contains(&numbers(e))).count();
        table.row([
            ("set", Cell::text(set.name)),
            ("classes", Cell::count(set.classes.len())),
            ("items", Cell::count(set.views.len())),
            ("training", Cell::count(split.training().len())),
            ("validation", Cell::count(split.validation().len())),
            ("calibration", Cell::count(split.test().len())),
            ("judged", Cell::count(f.study.judged.len())),
            ("judged, equal to one trained on", Cell::count(repeated)),
        ]);
    }
    table
}

/// Accuracy, confidence and calibration error from one item to all.
fn curve_table(found: &[Found]) -> Table {
    let mut table = Table::new(
        "real.items",
        "With the first K views only, in the order of the views",
    );
    for f in found {
        for (k, row) in f.curves.iter().enumerate() {
            for ((name, ..), point) in CURVES.iter().zip(row) {
                table.row([
                    ("set", Cell::text(f.study.set().name)),
                    ("K", Cell::count(k + 1)),
                    ("method", Cell::text(*name)),
                    ("accuracy", Cell::number(point.accuracy, 4)),
                    ("mean confidence", Cell::number(point.confidence, 4)),
                    ("ECE", Cell::number(point.ece, 4)),
                ]);
            }
        }
    }
    table
}

fn sentence(f: &Found) -> String {
    let percent = |x: f64| 100.0 * x;
    let said = |name: &str| {
        f.compared.get(name).map_or(String::new(), |s| {
            format!(
                "is right in {:.1} % at a mean confidence of {:.1} % ({} of {} errors are surer than {SURE})",
                percent(s.accuracy.value),
                percent(s.confidence),
                s.sure_errors,
                s.errors
            )
        })
    };
    let best = f.compared.0.iter().filter(|s| s.log_loss.is_finite());
    let best = best.min_by(|a, b| a.log_loss.total_cmp(&b.log_loss));
    let best = best.map_or(String::new(), |s| {
        format!("{} has the smallest log loss, {:.3}", s.name, s.log_loss)
    });
    let independence = if f.measured.dependent() {
        "The views depend on each other given the class (A1 fails)"
    } else {
        "A dependence of the views given the class (A1) is not found"
    };
    format!(
        "{}: LPF-SPN as it ships {}; the product with weights 1 {}; prior-corrected it {}; {best}. \
         {independence}. Predictions of the theorems: {}.",
        f.study.set().name,
        said(SPN),
        said(SPN_ONES),
        said(CORRECTED),
        f.predicted.sentence()
    )
}

fn figure(found: &[Found]) -> Figure {
    let mut panels = Vec::new();
    for f in found {
        let name = f.study.set().name;
        let scored = &f.compared.0;
        let at = |value: fn(&Scored) -> f64| {
            let values = scored.iter().enumerate();
            values
                .map(|(i, s)| (i as f64 + 1.0, value(s)))
                .collect::<Vec<_>>()
        };
        let names: Vec<&str> = scored.iter().map(|s| s.name.as_str()).collect();
        panels.push(Panel::new(
            format!("{name}: how sure, how right"),
            Axis::named("method", &names),
            Axis::linear("share"),
            vec![
                Series::bars("mean confidence", Role::OursToo, at(|s| s.confidence)),
                Series::points("accuracy", Role::Ours, at(|s| s.accuracy.value)),
            ],
        ));
        let roles = [Role::Ours, Role::OursToo, Role::OursAlso];
        let curves = CURVES.iter().zip(roles).enumerate();
        let curves = curves.map(|(c, ((name, ..), role))| {
            let points = f.curves.iter().enumerate();
            let points = points.map(|(k, row)| (k as f64 + 1.0, row[c].ece));
            Series::line(name, role, points)
        });
        panels.push(Panel::new(
            format!("{name}: calibration error with the first K views"),
            Axis::linear("K"),
            Axis::linear("ECE"),
            curves.collect(),
        ));
    }
    Figure::new(
        "real",
        "Real evidence. For each set, the mean confidence of every method beside its accuracy, and the \
         calibration error of three products as views are added.",
        panels,
    )
}
