//! T4: what the evidence tells, how much of it conflicts, and what follows for calibration.

use super::{
    Agreement, BINS, Contender, Experiment, ExperimentError, Lab, Line, Origin, Outcome, Progress,
    Quantity, Summary, TestEntity, Trained, compared, mean,
};
use crate::aggregate::Method;
use crate::calibration::Evaluation;
use crate::exhibit::{Axis, Figure, Panel, Role, Series, Shape};
use crate::simplex::{Distribution, entropy_bits, kl_divergence};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "T4",
    title: "Information in the evidence, conflict, and calibration",
    claims: &["T4", "T4'"],
    run,
};

/// Test entities of one run, as in the paper (`sec:exp-thm4/entities`).
const ENTITIES: u64 = 100;

/// Runs with fresh entities where they can be drawn.
const TRIALS: usize = 5;

const PRODUCT: Contender = Contender::Method(Method::Spn);
fn bits(nats: f64) -> f64 {
    nats / std::f64::consts::LN_2
}

/// `D(P‖Q)` in bits; both have as many classes as the domain.
pub(super) fn conflict(p: &Distribution, q: &Distribution) -> f64 {
    bits(kl_divergence(p, q).unwrap_or(f64::NAN))
}

/// Mean conflict over all ordered pairs of different items of one entity; NaN for one item.
pub(super) fn conflict_within(entity: &TestEntity) -> f64 {
    let factors = &entity.evidence.factors;
    mean(factors.iter().enumerate().flat_map(|(i, p)| {
        let others = factors.iter().enumerate();
        let others = others.filter(move |(j, _)| *j != i);
        others.map(move |(_, q)| conflict(p, q))
    }))
}

/// Conflicts over all pairs of entities, each speaking by its first item: with 100 entities the
/// paper's 4,950 pairs.
fn conflicts_between(entities: &[TestEntity]) -> Vec<f64> {
    let first = entities.iter().filter_map(|e| e.evidence.factors.first());
    let first: Vec<&Distribution> = first.collect();
    let pairs = first.iter().enumerate().flat_map(|(i, p)| {
        let later = first.iter().skip(i + 1);
        later.map(|q| conflict(p, q))
    });
    pairs.collect()
}

/// What one run gives; entropies, conflicts and losses in bits.
struct Measured {
    label_entropy: f64,
    factor_entropy: f64,
    within: f64,
    between: f64,
    pairs: usize,
    ece: f64,
    prior_ece: f64,
    loss_product: f64,
    loss_learned: f64,
    /// Entropy and log loss of the exact posterior, where it is known.
    exact: Option<(f64, f64)>,
    /// For each entity its conflict and how far its confidence was off.
    scatter: Vec<(f64, f64)>,
}

fn measure(trained: &Trained, entities: &[TestEntity]) -> Result<Measured, ExperimentError> {
    let mut counts = vec![0.0; trained.classes()];
    for entity in entities {
        counts[entity.label] += 1.0;
    }
    let between = conflicts_between(entities);
    let product = trained.evaluate(PRODUCT, entities)?;
    let prior = trained.prior()?;
    let labels: Vec<usize> = entities.iter().map(|e| e.label).collect();
    let prior_only = Evaluation::of(&vec![prior; labels.len()], &labels, BINS)?;
    let mut scatter = Vec::new();
    for (entity, answer) in entities.iter().zip(trained.answers(PRODUCT, entities)?) {
        let came_true = f64::from(u8::from(answer.argmax() == entity.label));
        scatter.push((
            conflict_within(entity),
            (answer.confidence() - came_true).abs(),
        ));
    }
    let loss = |contender| -> Result<f64, ExperimentError> {
        Ok(bits(trained.evaluate(contender, entities)?.log_loss()?))
    };
    let factors = entities.iter().flat_map(|e| &e.evidence.factors);
    Ok(Measured {
        label_entropy: entropy_bits(&Distribution::from_weights(counts)?),
        factor_entropy: mean(factors.map(entropy_bits)),
        within: mean(scatter.iter().map(|p| p.0)),
        pairs: between.len(),
        between: mean(between),
        ece: product.ece()?,
        prior_ece: prior_only.ece()?,
        loss_product: bits(product.log_loss()?),
        loss_learned: loss(Contender::Method(Method::Learned))?,
        exact: match entities.iter().map(|e| e.exact.as_ref()).collect() {
            Some::<Vec<_>>(exact) => Some((
                mean(exact.into_iter().map(entropy_bits)),
                loss(Contender::Exact)?,
            )),
            None => None,
        },
        scatter,
    })
}

/// Where the paper prints a quantity of the table.
const PRINTED: [(&str, &str); 13] = [
    ("H(Y) of the test labels", "sec:exp-thm4/H(Y)"),
    ("mean entropy of a factor, H̄", "sec:exp-thm4/H(Y|E)"),
    ("H(Y|E) by the exact posterior", "fig:information/H(Y|E)"),
    ("I(E;Y) by the exact posterior", "fig:information/I(E;Y)"),
    ("H̄/H(Y)", "sec:exp-thm4/information-ratio"),
    ("reduction 1 − H̄/H(Y)", "tab:thm4/reduction/value"),
    ("conflict between entities", "sec:exp-thm4/noise"),
    ("pairs of entities", "sec:exp-thm4/pairs"),
    (
        "claimed lower bound, as the paper computes it",
        "sec:exp-thm4/lower",
    ),
    (
        "'achievable' bound, as the paper computes it",
        "sec:exp-thm4/achievable",
    ),
    ("ECE of the product", "sec:exp-thm4/ece"),
    (
        "slope of error over conflict",
        "fig:information/trend/slope",
    ),
    ("error without conflict", "fig:information/trend/intercept"),
];

fn printed(what: &str) -> Option<&'static str> {
    PRINTED.iter().find(|row| row.0 == what).map(|row| row.1)
}

/// One column of results.
struct Column {
    runs: Vec<Measured>,
    quantities: Vec<Quantity>,
    trend: Line,
}

impl Column {
    fn new(lab: &Lab, origin: Origin, progress: &dyn Progress) -> Result<Self, ExperimentError> {
        let runs = lab.runs(origin, TRIALS)?;
        progress.step("models trained");
        let mut measured = Vec::new();
        for run in &runs {
            measured.push(measure(run.trained, &run.test(ENTITIES)?)?);
            progress.step("test set judged");
        }
        let prior = match runs.first() {
            Some(run) => entropy_bits(&run.trained.prior()?),
            None => f64::NAN,
        };
        Column::of(lab, measured, prior)
    }

    fn of(lab: &Lab, runs: Vec<Measured>, prior: f64) -> Result<Self, ExperimentError> {
        let all = |f: &dyn Fn(&Measured) -> f64| Summary::of(runs.iter().map(f));
        let number = |id: &str| -> Result<f64, ExperimentError> { Ok(lab.paper.number(id)?.value) };
        // The paper takes the larger of the entropy and a multiple of the noise, where its theorem
        // has a sum, and adds a term for sampling.
        let share = number("sec:exp-thm4/max/c2")?;
        let sampling = number("sec:exp-thm4/mc/c")? / libm::sqrt(number("sec:exp-thm4/mc/count")?);
        let lower = |m: &Measured| m.factor_entropy.max(share * m.between);
        let lines: Vec<Line> = runs.iter().map(|m| Line::fit(&m.scatter)).collect();
        let line = |f: fn(&Line) -> f64| Summary::of(lines.iter().map(f));
        let trend = Line {
            slope: line(|l| l.slope).mean,
            intercept: line(|l| l.intercept).mean,
            r_squared: line(|l| l.r_squared).mean,
        };
        let pairs = runs.first().map_or(0, |m| m.pairs);
        let mut rows = vec![
            ("H(Y) of the test labels", all(&|m| m.label_entropy)),
            ("H(Y) of the prior", Summary::exact(prior)),
            ("mean entropy of a factor, H̄", all(&|m| m.factor_entropy)),
            ("H̄/H(Y)", all(&|m| m.factor_entropy / m.label_entropy)),
            (
                "reduction 1 − H̄/H(Y)",
                all(&|m| 1.0 - m.factor_entropy / m.label_entropy),
            ),
            ("conflict within an entity", all(&|m| m.within)),
            ("conflict between entities", all(&|m| m.between)),
            ("pairs of entities", Summary::exact(pairs as f64)),
            (LOWER, all(&lower)),
            (ACHIEVABLE, all(&|m| lower(m) + sampling)),
            (ECE, all(&|m| m.ece)),
            (PRIOR_ECE, all(&|m| m.prior_ece)),
            ("log loss of the product", all(&|m| m.loss_product)),
            ("log loss of learned aggregation", all(&|m| m.loss_learned)),
            ("slope of error over conflict", line(|l| l.slope)),
            ("error without conflict", line(|l| l.intercept)),
            ("R² of that line", line(|l| l.r_squared)),
        ];
        let exact: Option<Vec<(f64, f64)>> = runs.iter().map(|m| m.exact).collect();
        if let Some(exact) = exact {
            let told = runs.iter().zip(&exact).map(|(m, e)| m.label_entropy - e.0);
            rows.extend([
                (EXACT_ENTROPY, Summary::of(exact.iter().map(|e| e.0))),
                (EXACT_INFORMATION, Summary::of(told)),
                (EXACT_LOSS, Summary::of(exact.iter().map(|e| e.1))),
            ]);
        }
        let quantities = rows.into_iter().map(|(what, ours)| {
            let digits = if what == "pairs of entities" { 0 } else { 4 };
            let quantity = Quantity::new(what, ours, digits);
            match printed(what) {
                Some(id) => quantity.as_in(id),
                None => quantity,
            }
        });
        Ok(Column {
            quantities: quantities.collect(),
            runs,
            trend,
        })
    }

    fn row(&self, what: &str) -> Summary {
        let found = self.quantities.iter().find(|q| q.what == what);
        found.map_or(Summary::exact(f64::NAN), |q| q.ours)
    }

    fn claims(&self, origin: Origin, agreement: &mut Agreement) {
        let [lower, ece, constant] = [LOWER, ECE, PRIOR_ECE].map(|what| self.row(what).mean);
        let above = "the product's ECE is above the claimed lower bound";
        agreement.claim(origin, lower <= ece, above);
        agreement.claim(
            origin,
            lower <= constant,
            format!(
                "no predictor's is below it: answering with the prior has {constant:.3}, the bound \
                 is {lower:.3}"
            ),
        );
    }
}

const LOWER: &str = "claimed lower bound, as the paper computes it";
const ACHIEVABLE: &str = "'achievable' bound, as the paper computes it";
const ECE: &str = "ECE of the product";
const PRIOR_ECE: &str = "ECE of the prior as only answer";
const EXACT_ENTROPY: &str = "H(Y|E) by the exact posterior";
const EXACT_INFORMATION: &str = "I(E;Y) by the exact posterior";
const EXACT_LOSS: &str = "log loss of the exact posterior";

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(2 + 2 * lab.trials(TRIALS, 1)? as u64);
    let author = Column::new(lab, Origin::Author, progress)?;
    let known = Column::new(lab, Origin::Known, progress)?;
    let columns = [&author.quantities[..], &known.quantities];
    let mut agreement = Agreement::default();
    agreement.numbers(lab, columns)?;
    author.claims(Origin::Author, &mut agreement);
    known.claims(Origin::Known, &mut agreement);
    let settings = lab.described(&[("test entities a run", &ENTITIES)]);
    let [between, within] = ["conflict between entities", "conflict within an entity"]
        .map(|what| author.row(what).mean);
    let reference = lab.reference_run()?;
    let theirs = measure(reference.trained, &reference.test(ENTITIES)?)?;
    let sentence = format!(
        "{} The paper's conflict pairs entities ({between:.3} bits here), which differ because their \
         classes do; the items of one entity, of which its theorem speaks, differ by {within:.3} bits. \
         With a model that the author's own implementation trained, H̄ is {:.3} bits, the conflict between \
         entities {:.3} and the product's ECE {:.3}.",
        agreement.sentence(),
        theirs.factor_entropy,
        theirs.between,
        theirs.ece,
    );
    let mut outcome = EXPERIMENT.outcome(settings, sentence);
    outcome.statements = agreement.statements();
    outcome.tables.push(compared(
        &lab.paper,
        "T4.information",
        "Entropies, conflicts (mean KL divergence of two factors) and losses in bits; calibration \
         errors as shares",
        columns,
    )?);
    outcome.figures.push(figure(lab, &author, &known)?);
    Ok(outcome)
}

/// A panel of named quantities: ours with spreads, the paper's where it prints them.
fn bars(
    lab: &Lab,
    columns: [&Column; 2],
    title: &str,
    unit: &str,
    names: &[(&str, &str)],
) -> Result<Panel, ExperimentError> {
    let (mut ours, mut paper) = ([Vec::new(), Vec::new()], Vec::new());
    for (i, (_, what)) in names.iter().enumerate() {
        let at = i as f64 + 1.0;
        for (ours, column) in ours.iter_mut().zip(columns) {
            let row = column.row(what);
            if !row.mean.is_nan() {
                ours.push((at, row));
            }
        }
        if let Some(id) = printed(what) {
            paper.push((at, lab.paper.number(id)?.value));
        }
    }
    let [author, known] = ours;
    let mut series = vec![
        Summary::series("author's data", Role::Ours, Shape::Bars, author),
        Summary::series("known posterior", Role::OursToo, Shape::Points, known),
    ];
    series.retain(|s| !s.points.is_empty());
    if !paper.is_empty() {
        series.push(Series::points("paper", Role::Paper, paper));
    }
    let names: Vec<&str> = names.iter().map(|n| n.0).collect();
    Ok(Panel::new(
        title,
        Axis::named("quantity", &names),
        Axis::linear(unit),
        series,
    ))
}

fn figure(lab: &Lab, author: &Column, known: &Column) -> Result<Figure, ExperimentError> {
    let scatter = author
        .runs
        .first()
        .map_or(Vec::new(), |m| m.scatter.clone());
    let end = scatter.iter().map(|p| p.0).fold(0.0, f64::max);
    let line = |line: &Line| vec![(0.0, line.at(0.0)), (end, line.at(end))];
    let theirs = Line {
        slope: lab.paper.number("fig:information/trend/slope")?.value,
        intercept: lab.paper.number("fig:information/trend/intercept")?.value,
        r_squared: f64::NAN,
    };
    let bars =
        |title: &str, unit: &str, names: &[_]| bars(lab, [author, known], title, unit, names);
    let panels = vec![
        bars(
            "What the evidence tells",
            "bits",
            &[
                ("H(Y)", "H(Y) of the test labels"),
                ("I(E;Y) exact", EXACT_INFORMATION),
                ("H(Y|E) exact", EXACT_ENTROPY),
                ("H̄ factors", "mean entropy of a factor, H̄"),
                ("conflict within", "conflict within an entity"),
                ("conflict between", "conflict between entities"),
            ],
        )?,
        bars(
            "Calibration error and claimed bounds",
            "share of predictions",
            &[
                ("claimed floor", LOWER),
                ("claimed achievable", ACHIEVABLE),
                ("ECE product", ECE),
                ("ECE prior only", PRIOR_ECE),
            ],
        )?,
        Panel::new(
            "Error against conflict, entity by entity",
            Axis::linear("mean conflict of an entity's items (bits)"),
            Axis::linear("|confidence − came true|"),
            vec![
                Series::points("an entity, first model", Role::Ours, scatter),
                Series::dashed("trend, ours", Role::OursToo, line(&author.trend)),
                Series::dashed("trend, paper", Role::Paper, line(&theirs)),
            ],
        ),
        bars(
            "Log loss and its floor H(Y|E)",
            "bits",
            &[
                ("H(Y|E) exact", EXACT_ENTROPY),
                ("loss exact", EXACT_LOSS),
                ("loss learned", "log loss of learned aggregation"),
                ("loss product", "log loss of the product"),
            ],
        )?,
    ];
    Ok(Figure::new(
        "T4",
        "What the evidence tells about the class, conflict both ways of pairing, \
                  calibration errors beside the claimed bounds, the scatter of error over \
                  conflict with both trends, and the floor that does hold: log loss is at \
                  least H(Y|E). Bars are standard deviations of one run.",
        panels,
    ))
}
