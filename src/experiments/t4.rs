//! T4: what the evidence tells, how much of it conflicts, and what follows for calibration.

use super::{
    BINS, Contender, Experiment, ExperimentError, Findings, Lab, Line, Outcome, Progress, Summary,
    TestEntity, Trained, mean,
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

/// Test entities of one trial, as in the paper (`sec:exp-thm4/entities`).
const ENTITIES: u64 = 100;

/// Trials, each with fresh entities; the paper has one.
const TRIALS: usize = 20;

const PRODUCT: Contender = Contender::Method(Method::Spn);
fn bits(nats: f64) -> f64 {
    nats / std::f64::consts::LN_2
}

/// `D(P‖Q)` in bits; both have as many classes as the domain.
fn conflict(p: &Distribution, q: &Distribution) -> f64 {
    bits(kl_divergence(p, q).unwrap_or(f64::NAN))
}

/// Mean conflict over all ordered pairs of different items of one entity; NaN for one item.
fn conflict_within(entity: &TestEntity) -> f64 {
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

/// What one trial gives; entropies, conflicts and losses in bits.
struct Measured {
    label_entropy: f64,
    factor_entropy: f64,
    posterior_entropy: f64,
    within: f64,
    between: f64,
    pairs: usize,
    ece: f64,
    prior_ece: f64,
    loss_product: f64,
    loss_learned: f64,
    loss_exact: f64,
    /// For each entity its conflict and how far its confidence was off.
    scatter: Vec<(f64, f64)>,
}

fn measure(trained: &Trained, entities: &[TestEntity]) -> Result<Measured, ExperimentError> {
    let mut counts = vec![0.0; trained.domain().classes.len()];
    for entity in entities {
        counts[entity.label] += 1.0;
    }
    let between = conflicts_between(entities);
    let product = trained.evaluate(PRODUCT, entities)?;
    let prior = Distribution::from_weights(trained.domain().prior())?;
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
        posterior_entropy: mean(entities.iter().map(|e| entropy_bits(&e.exact))),
        within: mean(scatter.iter().map(|p| p.0)),
        pairs: between.len(),
        between: mean(between),
        ece: product.ece()?,
        prior_ece: prior_only.ece()?,
        loss_product: bits(product.log_loss()?),
        loss_learned: loss(Contender::Method(Method::Learned))?,
        loss_exact: loss(Contender::Exact)?,
        scatter,
    })
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    let trials = lab.trials(TRIALS, 1)?;
    progress.expect(trials as u64 + 1);
    let trained = lab.compliance()?;
    progress.step("model trained");
    let mut measured = Vec::new();
    for trial in 0..trials as u64 {
        let entities = trained.test(trial * ENTITIES, ENTITIES)?;
        measured.push(measure(trained, &entities)?);
        progress.step("test set judged");
    }
    Results::new(lab, trained, &measured)?.outcome(lab, &measured)
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

/// All trials, summarized.
struct Results {
    /// Rows of the table: what, and ours.
    rows: Vec<(&'static str, Summary)>,
    trend: Line,
}

impl Results {
    fn new(lab: &Lab, trained: &Trained, trials: &[Measured]) -> Result<Self, ExperimentError> {
        let all = |f: &dyn Fn(&Measured) -> f64| Summary::of(trials.iter().map(f));
        let number = |id: &str| -> Result<f64, ExperimentError> { Ok(lab.paper.number(id)?.value) };
        // The paper takes the larger of the entropy and a multiple of the noise, where its theorem
        // has a sum, and adds a term for sampling.
        let share = number("sec:exp-thm4/max/c2")?;
        let sampling = number("sec:exp-thm4/mc/c")? / libm::sqrt(number("sec:exp-thm4/mc/count")?);
        let lower = |m: &Measured| m.factor_entropy.max(share * m.between);
        let prior = Distribution::from_weights(trained.domain().prior())?;
        let lines: Vec<Line> = trials.iter().map(|m| Line::fit(&m.scatter)).collect();
        let line = |f: fn(&Line) -> f64| Summary::of(lines.iter().map(f));
        let slope = line(|l| l.slope);
        let intercept = line(|l| l.intercept);
        let trend = Line {
            slope: slope.mean,
            intercept: intercept.mean,
            r_squared: line(|l| l.r_squared).mean,
        };
        let rows = vec![
            ("H(Y) of the test labels", all(&|m| m.label_entropy)),
            ("H(Y) of the prior", Summary::exact(entropy_bits(&prior))),
            ("mean entropy of a factor, H̄", all(&|m| m.factor_entropy)),
            (
                "H(Y|E) by the exact posterior",
                all(&|m| m.posterior_entropy),
            ),
            (
                "I(E;Y) by the exact posterior",
                all(&|m| m.label_entropy - m.posterior_entropy),
            ),
            ("H̄/H(Y)", all(&|m| m.factor_entropy / m.label_entropy)),
            (
                "reduction 1 − H̄/H(Y)",
                all(&|m| 1.0 - m.factor_entropy / m.label_entropy),
            ),
            ("conflict within an entity", all(&|m| m.within)),
            ("conflict between entities", all(&|m| m.between)),
            (
                "pairs of entities",
                Summary::exact(trials.first().map_or(0, |m| m.pairs) as f64),
            ),
            ("claimed lower bound, as the paper computes it", all(&lower)),
            (
                "'achievable' bound, as the paper computes it",
                all(&|m| lower(m) + sampling),
            ),
            ("ECE of the product", all(&|m| m.ece)),
            ("ECE of the prior as only answer", all(&|m| m.prior_ece)),
            ("log loss of the product", all(&|m| m.loss_product)),
            ("log loss of learned aggregation", all(&|m| m.loss_learned)),
            ("log loss of the exact posterior", all(&|m| m.loss_exact)),
            ("slope of error over conflict", slope),
            ("error without conflict", intercept),
        ];
        Ok(Results { rows, trend })
    }

    fn row(&self, what: &str) -> Summary {
        let found = self.rows.iter().find(|row| row.0 == what);
        found.map_or(Summary::exact(f64::NAN), |row| row.1)
    }

    fn outcome(&self, lab: &Lab, trials: &[Measured]) -> Result<Outcome, ExperimentError> {
        let mut findings = Findings::default();
        let mut rows = Vec::new();
        for (what, ours) in &self.rows {
            let digits = if *what == "pairs of entities" { 0 } else { 4 };
            let id = printed(what);
            if let Some(id) = id {
                findings.number(what, ours, &lab.paper.number(id)?);
            }
            rows.push((*what, ours.cell(digits), id));
        }
        let lower = self
            .row("claimed lower bound, as the paper computes it")
            .mean;
        let ece = self.row("ECE of the product").mean;
        let constant = self.row("ECE of the prior as only answer").mean;
        findings.claim(
            lower <= ece,
            "the product's ECE is above the claimed lower bound",
        );
        findings.claim(
            lower <= constant,
            format!(
                "no predictor's is below it: answering with the prior has {constant:.3}, the bound \
                 is {lower:.3}"
            ),
        );
        let count = trials.len();
        let settings = lab.described(&[("trials", &count), ("test entities a trial", &ENTITIES)]);
        let mut outcome = EXPERIMENT.outcome(settings, findings.sentence());
        outcome.tables.push(lab.paper.quantities(
            "T4.information",
            "Entropies, conflicts (mean KL divergence of two factors) and losses in bits; \
             calibration errors as shares. ± is the standard deviation of one trial.",
            rows,
        )?);
        outcome.figures.push(self.figure(lab, trials)?);
        Ok(outcome)
    }

    /// A panel of named quantities: ours with spreads, the paper's where it prints them.
    fn bars(
        &self,
        lab: &Lab,
        title: &str,
        unit: &str,
        names: &[(&str, &str)],
    ) -> Result<Panel, ExperimentError> {
        let (mut ours, mut paper) = (Vec::new(), Vec::new());
        for (i, (_, what)) in names.iter().enumerate() {
            let at = i as f64 + 1.0;
            ours.push((at, self.row(what)));
            if let Some(id) = printed(what) {
                paper.push((at, lab.paper.number(id)?.value));
            }
        }
        let mut series = vec![Summary::series("ours", Role::Ours, Shape::Bars, ours)];
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

    fn figure(&self, lab: &Lab, trials: &[Measured]) -> Result<Figure, ExperimentError> {
        let scatter = trials.first().map_or(Vec::new(), |m| m.scatter.clone());
        let end = scatter.iter().map(|p| p.0).fold(0.0, f64::max);
        let line = |line: &Line| vec![(0.0, line.at(0.0)), (end, line.at(end))];
        let theirs = Line {
            slope: lab.paper.number("fig:information/trend/slope")?.value,
            intercept: lab.paper.number("fig:information/trend/intercept")?.value,
            r_squared: f64::NAN,
        };
        let panels = vec![
            self.bars(
                lab,
                "What the evidence tells",
                "bits",
                &[
                    ("H(Y)", "H(Y) of the test labels"),
                    ("I(E;Y) exact", "I(E;Y) by the exact posterior"),
                    ("H(Y|E) exact", "H(Y|E) by the exact posterior"),
                    ("H̄ factors", "mean entropy of a factor, H̄"),
                    ("conflict within", "conflict within an entity"),
                    ("conflict between", "conflict between entities"),
                ],
            )?,
            self.bars(
                lab,
                "Calibration error and claimed bounds",
                "share of predictions",
                &[
                    (
                        "claimed floor",
                        "claimed lower bound, as the paper computes it",
                    ),
                    (
                        "claimed achievable",
                        "'achievable' bound, as the paper computes it",
                    ),
                    ("ECE product", "ECE of the product"),
                    ("ECE prior only", "ECE of the prior as only answer"),
                ],
            )?,
            Panel::new(
                "Error against conflict, entity by entity",
                Axis::linear("mean conflict of an entity's items (bits)"),
                Axis::linear("|confidence − came true|"),
                vec![
                    Series::points("an entity of the first trial", Role::Ours, scatter),
                    Series::dashed("trend, ours", Role::OursToo, line(&self.trend)),
                    Series::dashed("trend, paper", Role::Paper, line(&theirs)),
                ],
            ),
            self.bars(
                lab,
                "Log loss and its floor H(Y|E)",
                "bits",
                &[
                    ("H(Y|E) exact", "H(Y|E) by the exact posterior"),
                    ("loss exact", "log loss of the exact posterior"),
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
                      least H(Y|E). Bars are standard deviations of one trial.",
            panels,
        ))
    }
}
