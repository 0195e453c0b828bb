//! Theorem 6: how the calibration error changes with the number of items.
//!
//! Each trial has its own fresh entities with twenty items; a row uses the first `K` of them.
//! Beside it stands what a table shows where entities have no more than five items, as the equal
//! rows of the paper's table suggest: rows above five repeat the fifth.

use rayon::prelude::*;

use super::{
    BINS, Contender, Experiment, ExperimentError, Findings, Lab, Line, Outcome, Progress, Summary,
    TestEntity, Trained,
};
use crate::aggregate::Method;
use crate::bounds::sample_complexity_constant;
use crate::exhibit::{Axis, Cell, Figure, Panel, Role, Series, Shape, Table};
use crate::math::ExactSum;
use crate::synthetic::{DOMAINS, Domain, Generator};

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
/// Trials, as in the paper.
const TRIALS: usize = 20;
/// Entities of a trial: as many as the paper tests theorem 1 with; for theorem 6 it gives no number.
const ENTITIES: u64 = 300;
/// The paper's `δ`.
const DELTA: f64 = 0.05;

/// The paper's domain with as many items as the last row asks for; the first are the same.
static MANY_ITEMS: Domain = Domain {
    items: COUNTS[COUNTS.len() - 1],
    ..DOMAINS[0]
};

/// What is compared, in the order of the columns; all use the first `K` items.
const CONTENDERS: [Contender; 5] = [
    Contender::Method(Method::Spn),
    Contender::Method(Method::Learned),
    Contender::Method(Method::Uniform),
    Contender::PriorCorrectedWeightsOne,
    Contender::Exact,
];
/// The column of LPF-SPN, which the paper's table is about.
const SPN: usize = 0;
/// The column of the uniform average.
const UNIFORM: usize = 2;

/// One trial: the calibration error of each contender at each count, and `σ²`, the largest variance over
/// classes of a single factor's entry.
struct Trial {
    ece: Vec<[f64; CONTENDERS.len()]>,
    variance: f64,
}

fn trial(
    trained: &Trained,
    generator: &Generator,
    entities: &[TestEntity],
) -> Result<Trial, ExperimentError> {
    let mut ece = Vec::with_capacity(COUNTS.len());
    for count in COUNTS {
        let first = entities.par_iter().map(|e| e.first(count, generator));
        let first = first.collect::<Result<Vec<TestEntity>, ExperimentError>>()?;
        let mut row = [0.0; CONTENDERS.len()];
        for (ece, contender) in row.iter_mut().zip(CONTENDERS) {
            *ece = trained.evaluate(contender, &first)?.ece()?;
        }
        ece.push(row);
    }
    Ok(Trial {
        ece,
        variance: largest_variance(entities),
    })
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

/// `a/√K + b`, fitted to the means of the rows.
fn fit(ece: &[Summary]) -> Line {
    let rows = COUNTS.iter().zip(ece);
    let points: Vec<(f64, f64)> = rows
        .map(|(&k, e)| (1.0 / libm::sqrt(k as f64), e.mean))
        .collect();
    Line::fit(&points)
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    let trials = lab.trials(TRIALS, 2)?;
    progress.expect(1 + trials as u64);
    let trained = lab.compliance()?;
    progress.step("model");
    let generator = Generator::new(&MANY_ITEMS);
    let mut all = Vec::with_capacity(trials);
    for t in 0..trials as u64 {
        let entities = trained.test_of(&generator, t * ENTITIES, ENTITIES)?;
        all.push(trial(trained, &generator, &entities)?);
        progress.step("trial");
    }
    outcome(lab, &all)
}

/// What the rows show.
struct Curves {
    /// Contender by contender, count by count.
    many: Vec<Vec<Summary>>,
    /// LPF-SPN with at most five items.
    few: Vec<Summary>,
    /// `√(2σ² ln(2|Y|/δ))`.
    constant: f64,
}

impl Curves {
    fn new(trials: &[Trial]) -> Result<Self, ExperimentError> {
        let summary = |contender: usize, row: usize| {
            Summary::of(trials.iter().map(|t| t.ece[row][contender]))
        };
        let many = (0..CONTENDERS.len())
            .map(|c| (0..COUNTS.len()).map(|row| summary(c, row)).collect())
            .collect();
        let last = |k: usize| COUNTS.iter().rposition(|&c| c <= k.min(FEW)).unwrap_or(0);
        let variances: ExactSum = trials.iter().map(|t| t.variance).collect();
        let variance = variances.to_f64() / trials.len() as f64;
        let classes = DOMAINS[0].classes.len() as u64;
        Ok(Curves {
            many,
            few: COUNTS.iter().map(|&k| summary(SPN, last(k))).collect(),
            constant: sample_complexity_constant(variance, classes, DELTA)?,
        })
    }

    fn claimed(&self, row: usize) -> f64 {
        self.constant / libm::sqrt(COUNTS[row] as f64)
    }
}

fn id(count: usize, column: &str) -> String {
    format!("tab:thm6/K={count}/{column}")
}

fn outcome(lab: &Lab, trials: &[Trial]) -> Result<Outcome, ExperimentError> {
    let curves = Curves::new(trials)?;
    let settings = lab.described(&[
        ("test entities a trial", &ENTITIES),
        ("trials", &trials.len()),
        ("bins", &BINS),
    ]);
    let mut outcome = EXPERIMENT.outcome(settings, findings(lab, &curves)?.sentence());
    outcome.tables.push(rows_table(lab, &curves, trials.len())?);
    outcome.tables.push(fits_table(lab, &curves)?);
    outcome.figures.push(figure(lab, &curves)?);
    Ok(outcome)
}

fn rows_table(lab: &Lab, curves: &Curves, trials: usize) -> Result<Table, ExperimentError> {
    let mut table = Table::new(
        "T6.items",
        format!(
            "Expected calibration error ({BINS} bins) with the first K of 20 items; ± standard \
             deviation over {trials} trials of {ENTITIES} fresh entities"
        ),
    );
    let at_most_few = format!("spn, at most {FEW} items");
    for (row, &count) in COUNTS.iter().enumerate() {
        let paper = |column: &str| lab.paper.cell(&id(count, column));
        let mut cells = vec![
            ("K", Cell::count(count)),
            ("spn in the paper", paper("ece")?),
            (&at_most_few, curves.few[row].cell(3)),
        ];
        let all = CONTENDERS.iter().zip(&curves.many);
        cells.extend(all.map(|(c, ece)| (c.name(), ece[row].cell(3))));
        cells.push(("C/√K in the paper", paper("bound")?));
        cells.push(("C/√K here", Cell::number(curves.claimed(row), 2)));
        table.row(cells);
    }
    Ok(table)
}

/// The paper's printed rows, as means without spread.
fn printed(lab: &Lab) -> Result<Vec<Summary>, ExperimentError> {
    let points = lab.paper.points(&COUNTS, |count| id(count, "ece"))?;
    Ok(points.iter().map(|p| Summary::exact(p.1)).collect())
}

fn fits_table(lab: &Lab, curves: &Curves) -> Result<Table, ExperimentError> {
    let all = CONTENDERS.iter().zip(&curves.many);
    let mut fitted = vec![
        ("the paper's own fit".to_owned(), paper_fit(lab)?),
        (
            "the paper's rows, fitted here".to_owned(),
            fit(&printed(lab)?),
        ),
        (format!("spn, at most {FEW} items"), fit(&curves.few)),
    ];
    fitted.extend(all.map(|(c, ece)| (format!("{}, up to 20 items", c.name()), fit(ece))));
    let title = "ECE = a/√K + b, fitted to the eight rows by least squares";
    let mut table = Table::new("T6.fit", title);
    for (name, line) in fitted {
        table.row([
            ("rows", Cell::text(name)),
            ("a", Cell::number(line.slope, 3)),
            ("b", Cell::number(line.intercept, 3)),
            ("R²", Cell::number(line.r_squared, 3)),
        ]);
    }
    Ok(table)
}
fn paper_fit(lab: &Lab) -> Result<Line, ExperimentError> {
    Ok(Line {
        slope: lab.paper.number("sec:exp-thm6/fit/slope")?.value,
        intercept: lab.paper.number("sec:exp-thm6/fit/floor")?.value,
        r_squared: lab.paper.number("sec:exp-thm6/R2")?.value,
    })
}

fn findings(lab: &Lab, curves: &Curves) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    for (row, &count) in COUNTS.iter().enumerate() {
        let what = format!("ECE at K = {count}");
        let paper = lab.paper.number(&id(count, "ece"))?;
        findings.number(&what, &curves.few[row], &paper);
    }
    let uniform = lab.paper.number("sec:exp-thm6/uniform-ece")?;
    let at = COUNTS.iter().position(|&k| k == FEW).unwrap_or(0);
    let ours = &curves.many[UNIFORM][at];
    findings.number("ECE of the uniform average at K = 5", ours, &uniform);
    let share = lab.paper.number("sec:exp-thm6/R2")?;
    let means: Vec<f64> = curves.many[SPN].iter().map(|s| s.mean).collect();
    let falls = means.windows(2).all(|w| w[1] <= w[0]);
    let [first, last] = [means.first(), means.last()].map(|m| m.copied().unwrap_or(f64::NAN));
    findings.claim(
        falls,
        format!(
            "the error of the product {} with K ({first:.3} at 1, {last:.3} at 20 items)",
            if falls {
                "falls"
            } else {
                "does not always fall"
            }
        ),
    );
    let exact = fit(&curves.many[SPN]);
    findings.claim(
        exact.slope > 0.0 && exact.r_squared >= share.low,
        format!(
            "with 20 real items a/√K explains R² = {:.3} of it",
            exact.r_squared
        ),
    );
    let above = (0..COUNTS.len())
        .filter(|&row| means[row] > curves.claimed(row))
        .count();
    findings.claim(
        above == 0,
        format!(
            "the error of the product is below C/√K, with the variance of our factors, in {} of \
             {} rows",
            COUNTS.len() - above,
            COUNTS.len()
        ),
    );
    Ok(findings)
}

fn figure(lab: &Lab, curves: &Curves) -> Result<Figure, ExperimentError> {
    let drawn = |name: &str, role, ece: &[Summary]| {
        let rows = COUNTS.iter().zip(ece).map(|(&k, e)| (k as f64, *e));
        Summary::series(name, role, Shape::Line, rows)
    };
    let curve = |name: &str, role, line: Line| {
        let at = |k: usize| (k as f64, line.at(1.0 / libm::sqrt(k as f64)));
        Series::dashed(name, role, (1..=20).map(at))
    };
    let paper = |column: &str| lab.paper.points(&COUNTS, |count| id(count, column));
    let spn = &curves.many[SPN];
    let ece = || Axis::linear("expected calibration error");
    let exact = COUNTS.iter().zip(&curves.many[4]);
    let exact = exact.map(|(&k, e)| (k as f64, e.mean));
    let claimed = (0..COUNTS.len()).map(|row| (COUNTS[row] as f64, curves.claimed(row)));
    let marked = COUNTS.map(|k| k as f64);
    let x = || Axis::linear("items K").marked(&marked);
    let log_x = || Axis::log("items K").marked(&marked);
    let panels = vec![
        Panel::new(
            "LPF-SPN, with a/√K + b",
            x(),
            ece(),
            vec![
                curve("fit of the paper", Role::Paper, paper_fit(lab)?),
                curve("our fit", Role::Guide, fit(spn)),
                drawn("up to 20 items", Role::Ours, spn),
                drawn("at most 5 items", Role::OursToo, &curves.few),
                Series::points("paper", Role::Paper, paper("ece")?),
            ],
        ),
        Panel::new(
            "Other methods, up to 20 items",
            x(),
            ece(),
            vec![
                drawn("LPF-SPN", Role::Ours, spn),
                drawn("learned", Role::OursToo, &curves.many[1]),
                drawn("uniform average", Role::OursAlso, &curves.many[UNIFORM]),
                Series::dashed("exact posterior", Role::Guide, exact),
            ],
        ),
        Panel::new(
            "Against the claimed bound (an error is at most 1)",
            log_x(),
            Axis::log("expected calibration error"),
            vec![
                Series::points("C/√K of the paper", Role::Claimed, paper("bound")?),
                Series::dashed("C/√K, our σ²", Role::Claimed, claimed),
                drawn("LPF-SPN", Role::Ours, spn),
                Series::points("paper", Role::Paper, paper("ece")?),
            ],
        ),
    ];
    Ok(Figure::new(
        "T6",
        "Expected calibration error against the number of items, with fits of a/√K + b \
                  and the paper's points; bars are standard deviations over trials.",
        panels,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::EMBEDDING;

    #[test]
    fn more_items_leave_the_first_ones_as_they_are() {
        let (few, many) = (Generator::new(&DOMAINS[0]), Generator::new(&MANY_ITEMS));
        for index in 0..3 {
            let (a, b) = (few.entity(1, index), many.entity(1, index));
            assert_eq!(a.label, b.label);
            assert_eq!(a.embeddings, b.embeddings[..a.embeddings.len()]);
            assert_eq!(b.embeddings.len(), 20 * EMBEDDING);
        }
    }

    #[test]
    fn rows_above_five_repeat_the_fifth_where_there_are_no_more_items() {
        let ece = |row: usize| [row as f64; CONTENDERS.len()];
        let trials = [0, 1].map(|_| Trial {
            ece: (0..COUNTS.len()).map(ece).collect(),
            variance: 0.25,
        });
        let curves = Curves::new(&trials).unwrap();
        let means: Vec<f64> = curves.few.iter().map(|s| s.mean).collect();
        assert_eq!(means, [0.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0, 3.0]);
        // √(2·σ²·ln 120) with σ² = 1/4, the largest that a probability can have: mpmath 1.3.0.
        assert!(
            (curves.constant - 1.547_173_510_434_76).abs() < 1e-14,
            "{}",
            curves.constant
        );
    }
}
