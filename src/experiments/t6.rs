//! Theorem 6: how the calibration error changes with the number of items.
//!
//! Entities have twenty items; a row uses the first `K` of them. Beside it stands what a table shows
//! where entities have no more than five items, as the equal rows of the paper's table suggest: rows
//! above five repeat the fifth.

use rayon::prelude::*;

use super::{
    Agreement, BINS, Contender, Experiment, ExperimentError, Lab, Line, Origin, Outcome, Progress,
    Quantity, Run, Summary, TestEntity, Trained, compared, mean,
};
use crate::aggregate::Method;
use crate::bounds::sample_complexity_constant;
use crate::exhibit::{Axis, Figure, Panel, Role, Series, Shape};
use crate::synthetic::AuthorData;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "T6",
    title: "Calibration error against the number of items",
    claims: &["T6"],
    run,
};

/// Rows of the paper's table.
const COUNTS: [usize; 8] = [1, 2, 3, 5, 7, 10, 15, 20];
/// What the paper's data have at most.
const FEW: usize = 5;
/// Runs with fresh entities where they can be drawn.
const TRIALS: usize = 5;
/// Entities of a run: as many as the paper tests theorem 1 with; for theorem 6 it gives no number.
const ENTITIES: u64 = 300;
/// The paper's `δ`.
const DELTA: f64 = 0.05;

/// What is compared, in the order of the columns; all use the first `K` items.
const CONTENDERS: [Contender; 5] = [
    Contender::Method(Method::Spn),
    Contender::Method(Method::Learned),
    Contender::Method(Method::Uniform),
    Contender::Method(Method::PriorCorrected),
    Contender::Exact,
];
/// The column of LPF-SPN, which the paper's table is about.
const SPN: usize = 0;
/// The column of the uniform average.
const UNIFORM: usize = 2;

/// What one run gave: the calibration error of each contender at each count.
struct Measured {
    /// With up to twenty items.
    many: Vec<Vec<f64>>,
    /// With at most five.
    few: Vec<Vec<f64>>,
    /// `√(2σ² ln(2|Y|/δ))`, with the largest variance over classes of a single factor's entry.
    constant: f64,
    entities: [usize; 2],
}

impl Measured {
    fn new(run: &Run<'_>, contenders: &[Contender]) -> Result<Self, ExperimentError> {
        let (few, many) = (run.test(ENTITIES)?, run.many(ENTITIES)?);
        let classes = run.trained.classes() as u64;
        Ok(Measured {
            constant: sample_complexity_constant(largest_variance(&few), classes, DELTA)?,
            entities: [few.len(), many.len()],
            few: errors(run.trained, &few, contenders)?,
            many: errors(run.trained, &many, contenders)?,
        })
    }
}

/// Count by count, the calibration error of each contender with the first items of the entities, as
/// many as there are.
pub(super) fn errors(
    trained: &Trained,
    entities: &[TestEntity],
    contenders: &[Contender],
) -> Result<Vec<Vec<f64>>, ExperimentError> {
    let most = entities.iter().map(|e| e.evidence.factors.len()).max();
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(COUNTS.len());
    for (at, count) in COUNTS.into_iter().enumerate() {
        // The same items give the same answers.
        let nothing_new = at > 0 && Some(COUNTS[at - 1]) >= most;
        if let Some(last) = rows.last().filter(|_| nothing_new) {
            rows.push(last.clone());
            continue;
        }
        let first = entities.par_iter().map(|e| e.first(count, trained));
        let first = first.collect::<Result<Vec<TestEntity>, ExperimentError>>()?;
        let row = contenders
            .iter()
            .map(|&c| Ok(trained.evaluate(c, &first)?.ece()?));
        rows.push(row.collect::<Result<_, ExperimentError>>()?);
    }
    Ok(rows)
}

/// `max_y Var Φ(y)` over the first items.
fn largest_variance(entities: &[TestEntity]) -> f64 {
    let first: Vec<&[f64]> = entities
        .iter()
        .filter_map(|e| Some(e.evidence.factors.first()?.probabilities()))
        .collect();
    let classes = first.first().map_or(0, |p| p.len());
    let variance = |class: usize| {
        let spread = Summary::of(first.iter().map(|p| p[class]))
            .deviation
            .unwrap_or(0.0);
        spread * spread
    };
    (0..classes).map(variance).fold(0.0, f64::max)
}

/// `a/√K + b`, fitted to the rows.
fn fit(ece: impl IntoIterator<Item = f64>) -> Line {
    let rows = COUNTS.iter().zip(ece);
    let points: Vec<(f64, f64)> = rows
        .map(|(&k, e)| (1.0 / libm::sqrt(k as f64), e))
        .collect();
    Line::fit(&points)
}

/// One column of results.
struct Column {
    contenders: Vec<Contender>,
    runs: Vec<Measured>,
}

/// Whether entities have up to twenty items, or at most five.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Items {
    Few,
    Many,
}

impl Items {
    fn name(self) -> String {
        match self {
            Items::Few => format!("at most {FEW} items"),
            Items::Many => "up to 20 items".to_owned(),
        }
    }
}

impl Column {
    fn new(lab: &Lab, origin: Origin, progress: &dyn Progress) -> Result<Self, ExperimentError> {
        let contenders = CONTENDERS.into_iter();
        let contenders = contenders.filter(|&c| origin == Origin::Known || c != Contender::Exact);
        let contenders: Vec<Contender> = contenders.collect();
        let runs = lab.runs(origin, TRIALS)?;
        progress.step("models trained");
        let mut measured = Vec::with_capacity(runs.len());
        for run in &runs {
            measured.push(Measured::new(run, &contenders)?);
            progress.step("test set judged");
        }
        Ok(Column {
            contenders,
            runs: measured,
        })
    }

    /// The rows of a contender, each over all runs.
    fn rows(&self, items: Items, contender: usize) -> Vec<Summary> {
        let rows = (0..COUNTS.len()).map(|row| {
            let all = self.runs.iter().map(|m| match items {
                Items::Few => m.few[row][contender],
                Items::Many => m.many[row][contender],
            });
            Summary::of(all)
        });
        rows.collect()
    }

    fn fit(&self, items: Items, contender: usize) -> Line {
        fit(self.rows(items, contender).iter().map(|row| row.mean))
    }

    fn claimed(&self, row: usize) -> f64 {
        mean(self.runs.iter().map(|m| m.constant)) / libm::sqrt(COUNTS[row] as f64)
    }

    /// Rows of the paper's table: the product, and the claimed bound.
    fn product(&self, items: Items) -> Vec<Quantity> {
        let mut all = Vec::new();
        for (row, ours) in self.rows(items, SPN).into_iter().enumerate() {
            let count = COUNTS[row];
            let what = format!("ECE at K = {count}");
            all.push(Quantity::printed(what, ours, 3, id(count, "ece")));
        }
        all
    }

    fn others(&self) -> Vec<Quantity> {
        let mut all = Vec::new();
        for (number, contender) in self.contenders.iter().enumerate().skip(1) {
            let rows = self.rows(Items::Many, number);
            for (&count, ours) in COUNTS.iter().zip(rows) {
                let what = format!("{} at K = {count}", contender.name());
                all.push(Quantity::new(what, ours, 3));
            }
        }
        for (row, count) in COUNTS.into_iter().enumerate() {
            let claimed = Summary::exact(self.claimed(row));
            let what = format!("C/√K at K = {count}");
            all.push(Quantity::printed(what, claimed, 2, id(count, "bound")));
        }
        all
    }

    fn fits(&self) -> Vec<Quantity> {
        let mut all = Vec::new();
        for items in [Items::Few, Items::Many] {
            let line = self.fit(items, SPN);
            let ids = ["fit/slope", "fit/floor", "R2"];
            let numbers = [line.slope, line.intercept, line.r_squared];
            for ((name, x), id) in ["a", "b", "R²"].iter().zip(numbers).zip(ids) {
                let what = format!("{name}, {}", items.name());
                let id = format!("sec:exp-thm6/{id}");
                all.push(Quantity::printed(what, Summary::exact(x), 3, id));
            }
        }
        all
    }

    fn claims(
        &self,
        lab: &Lab,
        origin: Origin,
        agreement: &mut Agreement,
    ) -> Result<(), ExperimentError> {
        let uniform = lab.paper.number("sec:exp-thm6/uniform-ece")?;
        let at = COUNTS.iter().position(|&k| k == FEW).unwrap_or(0);
        let ours = self.rows(Items::Few, UNIFORM)[at];
        let what = "ECE of the uniform average at K = 5";
        agreement.number(origin, what, &ours, &uniform);
        let share = lab.paper.number("sec:exp-thm6/R2")?;
        let means = self.rows(Items::Many, SPN);
        let means: Vec<f64> = means.iter().map(|s| s.mean).collect();
        let falls = means.windows(2).all(|w| w[1] <= w[0]);
        let [first, last] = [means.first(), means.last()].map(|m| m.copied().unwrap_or(f64::NAN));
        let verb = if falls {
            "falls"
        } else {
            "does not always fall"
        };
        agreement.claim(
            origin,
            falls,
            format!(
                "the error of the product {verb} with K ({first:.3} at 1, {last:.3} at 20 items)"
            ),
        );
        let line = self.fit(Items::Many, SPN);
        agreement.claim(
            origin,
            line.slope > 0.0 && line.r_squared >= share.low,
            format!(
                "with 20 items a/√K explains R² = {:.3} of it",
                line.r_squared
            ),
        );
        let rows = COUNTS.len();
        let below = (0..rows)
            .filter(|&row| means[row] <= self.claimed(row))
            .count();
        agreement.claim(
            origin,
            below == rows,
            format!(
                "the error of the product is below C/√K, with the variance of our factors, in \
                 {below} of {rows} rows"
            ),
        );
        Ok(())
    }
}

fn id(count: usize, column: &str) -> String {
    format!("tab:thm6/K={count}/{column}")
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(2 + 2 * lab.trials(TRIALS, 2)? as u64);
    let author = Column::new(lab, Origin::Author, progress)?;
    let known = Column::new(lab, Origin::Known, progress)?;
    let mut agreement = Agreement::default();
    let few = [&author.product(Items::Few)[..], &known.product(Items::Few)];
    agreement.numbers(lab, few)?;
    author.claims(lab, Origin::Author, &mut agreement)?;
    known.claims(lab, Origin::Known, &mut agreement)?;
    let [few_entities, many_entities] = author.runs.first().map_or([0, 0], |m| m.entities);
    let settings = lab.described(&[
        ("author's test entities with 5 items", &few_entities),
        ("author's entities with 20 items", &many_entities),
        ("fresh entities a run of the known domain", &ENTITIES),
        ("bins", &BINS),
    ]);
    let [at_five, at_twenty] = distinct_texts()?;
    let sentence = format!(
        "{} The author's entities with 20 items have {at_twenty:.1} different texts, and \
         {at_five:.1} among their first five: more items are mostly the same again, which is where \
         a plateau comes from.",
        agreement.sentence()
    );
    let mut outcome = EXPERIMENT.outcome(settings, sentence);
    outcome.statements = agreement.statements();
    let table = |id: &str, title: &str, columns| compared(&lab.paper, id, title, columns);
    outcome.tables = vec![
        table(
            "T6.few",
            &format!(
                "Expected calibration error of the product ({BINS} bins) with the first K items, of \
                 which entities have no more than {FEW}"
            ),
            few,
        )?,
        table(
            "T6.items",
            &format!(
                "Expected calibration error of the product ({BINS} bins) with the first K of 20 items"
            ),
            [&author.product(Items::Many), &known.product(Items::Many)],
        )?,
        table(
            "T6.methods",
            "Expected calibration error of other methods with the first K of 20 items, and the \
             claimed bound with the variance of our factors",
            [&author.others(), &known.others()],
        )?,
        table(
            "T6.fit",
            &format!(
                "ECE = a/√K + b, fitted to the eight rows by least squares; fitted to the paper's own \
                 rows R² is {:.3}",
                fit(printed(lab)?).r_squared
            ),
            [&author.fits(), &known.fits()],
        )?,
    ];
    outcome.figures.push(figure(lab, &author, &known)?);
    Ok(outcome)
}

/// How many different texts the author's entities with twenty items have among their first five, and
/// in all.
fn distinct_texts() -> Result<[f64; 2], ExperimentError> {
    let many = AuthorData::many()?;
    let distinct = |count: usize| mean(many.entities.iter().map(|e| e.distinct(count) as f64));
    Ok([FEW, COUNTS[COUNTS.len() - 1]].map(distinct))
}

/// The paper's printed rows.
fn printed(lab: &Lab) -> Result<Vec<f64>, ExperimentError> {
    let points = lab.paper.points(&COUNTS, |count| id(count, "ece"))?;
    Ok(points.iter().map(|p| p.1).collect())
}

fn paper_fit(lab: &Lab) -> Result<Line, ExperimentError> {
    Ok(Line {
        slope: lab.paper.number("sec:exp-thm6/fit/slope")?.value,
        intercept: lab.paper.number("sec:exp-thm6/fit/floor")?.value,
        r_squared: lab.paper.number("sec:exp-thm6/R2")?.value,
    })
}

fn figure(lab: &Lab, author: &Column, known: &Column) -> Result<Figure, ExperimentError> {
    let drawn = |name: &str, role, rows: Vec<Summary>| {
        let rows = COUNTS.iter().zip(rows).map(|(&k, e)| (k as f64, e));
        Summary::series(name, role, Shape::Line, rows)
    };
    let curve = |name: &str, role, line: Line| {
        let at = |k: usize| (k as f64, line.at(1.0 / libm::sqrt(k as f64)));
        Series::dashed(name, role, (1..=20).map(at))
    };
    let paper = |column: &str| lab.paper.points(&COUNTS, |count| id(count, column));
    let spn = || author.rows(Items::Many, SPN);
    let ece = || Axis::linear("expected calibration error");
    let claimed = (0..COUNTS.len()).map(|row| (COUNTS[row] as f64, author.claimed(row)));
    let marked = COUNTS.map(|k| k as f64);
    let x = || Axis::linear("items K").marked(&marked);
    let log_x = || Axis::log("items K").marked(&marked);
    let many = |contender| author.rows(Items::Many, contender);
    let panels = vec![
        Panel::new(
            "LPF-SPN, with a/√K + b",
            x(),
            ece(),
            vec![
                curve("fit of the paper", Role::Paper, paper_fit(lab)?),
                curve("our fit", Role::Guide, author.fit(Items::Many, SPN)),
                drawn("up to 20 items", Role::Ours, spn()),
                drawn(
                    "at most 5 items",
                    Role::OursToo,
                    author.rows(Items::Few, SPN),
                ),
                drawn(
                    "known posterior",
                    Role::OursAlso,
                    known.rows(Items::Many, SPN),
                ),
                Series::points("paper", Role::Paper, paper("ece")?),
            ],
        ),
        Panel::new(
            "Other methods, up to 20 items",
            x(),
            ece(),
            vec![
                drawn("LPF-SPN", Role::Ours, spn()),
                drawn("learned", Role::OursToo, many(1)),
                drawn("uniform average", Role::OursAlso, many(UNIFORM)),
            ],
        ),
        Panel::new(
            "Against the claimed bound (an error is at most 1)",
            log_x(),
            Axis::log("expected calibration error"),
            vec![
                Series::points("C/√K of the paper", Role::Claimed, paper("bound")?),
                Series::dashed("C/√K, our σ²", Role::Claimed, claimed),
                drawn("LPF-SPN", Role::Ours, spn()),
                Series::points("paper", Role::Paper, paper("ece")?),
            ],
        ),
    ];
    Ok(Figure::new(
        "T6",
        "Expected calibration error on the author's data against the number of items, with fits of \
                  a/√K + b and the paper's points; bars are standard deviations of one run.",
        panels,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::Settings;
    use crate::experiments::lab::MANY;
    use crate::synthetic::DOMAINS;

    const SETTINGS: Settings = Settings {
        seed: 1,
        trials: Some(1),
        entities: 40,
        epochs: 1,
        truth: 1000,
    };

    #[test]
    fn rows_above_five_repeat_the_fifth_where_there_are_no_more_items() {
        let trained = Trained::new(&DOMAINS[0], &SETTINGS).unwrap();
        let run = Run {
            trained: &trained,
            trial: 0,
        };
        let (few, many) = (run.test(8).unwrap(), run.many(8).unwrap());
        // More items leave the first ones as they are.
        for (a, b) in few.iter().zip(&many) {
            assert_eq!(a.evidence.factors, b.evidence.factors[..FEW]);
            assert_eq!((a.label, b.evidence.factors.len()), (b.label, MANY));
        }
        let (few, many) = (
            errors(&trained, &few, &CONTENDERS).unwrap(),
            errors(&trained, &many, &CONTENDERS).unwrap(),
        );
        assert_eq!(few[..4], many[..4]);
        assert!(few[4..].iter().all(|row| *row == few[3]));
        assert_ne!(many[7], many[3]);
    }
}
