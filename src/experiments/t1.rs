//! T1: calibration of single items and of every method of aggregating them.

use super::{
    BINS, Contender, Experiment, ExperimentError, Findings, Lab, Outcome, Progress, Summary,
    TestEntity, Trained, mean, percentile,
};
use crate::aggregate::Method;
use crate::bounds::{calibration_bound, calibration_constant, effective_count};
use crate::calibration::{Reliability, ReliabilityBin};
use crate::exhibit::{Axis, Cell, Figure, Panel, Role, Series, Shape, Table};
use crate::latent::random::{Stream, text_key};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "T1",
    title: "Calibration of single items and of their aggregate",
    claims: &["T1", "T1'"],
    run,
};

/// Test entities of one trial, as in the paper (`sec:exp-thm1/entities`).
const ENTITIES: u64 = 300;

/// Trials, each with fresh entities; the paper has one.
const TRIALS: usize = 20;

/// Failure probability of the claimed bound, as in the paper.
const DELTA: f64 = 0.05;

/// How often outcomes are drawn anew for the predictions of a trial, to see which calibration
/// error perfectly calibrated predictions have.
const REDRAWS: u64 = 50;
const REDRAW: u64 = text_key("T1: outcomes of calibrated predictions");

/// What is judged: the items one by one, then each contender, with the paper's ECE where it prints
/// one.
const ROWS: [(Option<Contender>, Option<&str>); 9] = [
    (None, Some("sec:exp-thm1/epsilon")),
    (by(Method::Spn), Some("sec:exp-thm1/ece")),
    (by(Method::Learned), Some("sec:exp-thm1/learned-ece")),
    (by(Method::Uniform), Some("sec:exp-thm6/uniform-ece")),
    (by(Method::Vote), None),
    (by(Method::Max), None),
    (by(Method::PriorCorrected), None),
    (Some(Contender::PriorCorrectedWeightsOne), None),
    (Some(Contender::Exact), None),
];
const ITEMS: usize = 0;
const SPN: usize = 1;
const LEARNED: usize = 2;
const UNIFORM: usize = 3;

const fn by(method: Method) -> Option<Contender> {
    Some(Contender::Method(method))
}

fn name(row: usize) -> &'static str {
    ROWS[row].0.map_or("single items", Contender::name)
}

/// One trial of one row.
struct Measured {
    reliability: Reliability,
    /// Calibration errors with outcomes drawn from the predictions themselves.
    calibrated: Vec<f64>,
}

/// Confidences and whether they came true.
type Predictions = (Vec<f64>, Vec<bool>);

fn predictions(
    trained: &Trained,
    contender: Option<Contender>,
    entities: &[TestEntity],
) -> Result<Predictions, ExperimentError> {
    let factors = |e: &TestEntity| e.evidence.factors.clone();
    let answers = match contender {
        Some(contender) => trained.answers(contender, entities)?,
        None => entities.iter().flat_map(factors).collect(),
    };
    let labels = entities.iter().flat_map(|e| {
        let items = e.evidence.factors.len();
        let times = if contender.is_some() { 1 } else { items };
        std::iter::repeat_n(e.label, times)
    });
    let pairs = answers.iter().zip(labels);
    Ok(pairs
        .map(|(answer, label)| (*answer.confidence(), answer.argmax() == label))
        .unzip())
}

fn measure(
    (confidences, correct): &Predictions,
    seed: u64,
    trial: u64,
) -> Result<Measured, ExperimentError> {
    let redrawn = (0..REDRAWS).map(|redraw| {
        let mut stream = Stream::new(seed, REDRAW, trial, redraw);
        let come_true: Vec<bool> = confidences.iter().map(|&c| stream.uniform() < c).collect();
        Ok(Reliability::of(confidences, &come_true, BINS)?.ece()?)
    });
    Ok(Measured {
        reliability: Reliability::of(confidences, correct, BINS)?,
        calibrated: redrawn.collect::<Result<_, ExperimentError>>()?,
    })
}

/// All trials of one row, summarized.
struct Judged {
    ece: Summary,
    accuracy: Summary,
    calibrated: Summary,
    calibrated_limit: f64,
    bins: Vec<ReliabilityBin>,
}

fn judge(trials: &[Measured]) -> Result<Judged, ExperimentError> {
    let each = |f: fn(&Reliability) -> Result<f64, crate::calibration::CalibrationError>| {
        let values: Result<Vec<f64>, _> = trials.iter().map(|t| f(&t.reliability)).collect();
        values.map(|values| Summary::of(&values))
    };
    let calibrated: Vec<f64> = trials.iter().flat_map(|t| t.calibrated.clone()).collect();
    let mut pooled = Reliability::new(BINS)?;
    for trial in trials {
        pooled.merge(&trial.reliability)?;
    }
    Ok(Judged {
        ece: each(Reliability::ece)?,
        accuracy: each(Reliability::accuracy)?,
        calibrated: Summary::of(&calibrated),
        calibrated_limit: percentile(&calibrated, 95),
        bins: pooled.bins(),
    })
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    let trials = lab.trials(TRIALS, 1)?;
    progress.expect(trials as u64 + 1);
    let trained = lab.compliance()?;
    progress.step("model trained");
    let mut measured: Vec<Vec<Measured>> = ROWS.iter().map(|_| Vec::new()).collect();
    let mut counts = Vec::new();
    for trial in 0..trials as u64 {
        let entities = trained.test(trial * ENTITIES, ENTITIES)?;
        for ((contender, _), row) in ROWS.iter().zip(&mut measured) {
            let found = predictions(trained, *contender, &entities)?;
            row.push(measure(&found, lab.settings.seed, trial)?);
        }
        let effective: Result<Vec<f64>, _> = entities
            .iter()
            .map(|e| effective_count(&e.evidence.weights))
            .collect();
        counts.push(mean(effective?));
        progress.step("test set judged");
    }
    let judged: Result<Vec<Judged>, ExperimentError> =
        measured.iter().map(|row| judge(row)).collect();
    outcome(lab, trained, &judged?, &Summary::of(&counts), trials)
}

fn outcome(
    lab: &Lab,
    trained: &Trained,
    judged: &[Judged],
    effective: &Summary,
    trials: usize,
) -> Result<Outcome, ExperimentError> {
    let classes = trained.domain().classes.len() as u64;
    let constant = calibration_constant(classes, DELTA)?;
    let bound = calibration_bound(judged[ITEMS].ece.mean, constant, effective.mean)?;
    let settings = lab.described(&[
        ("trials", &trials),
        ("test entities a trial", &ENTITIES),
        ("bins", &BINS),
    ]);
    let mut outcome = EXPERIMENT.outcome(settings, sentence(lab, judged, bound)?);
    outcome.tables = vec![
        calibration_table(lab, judged)?,
        bound_table(lab, trained, judged, effective, constant, bound)?,
        bins_table(judged),
    ];
    outcome.figures.push(figure(lab, judged)?);
    Ok(outcome)
}

fn sentence(lab: &Lab, judged: &[Judged], bound: f64) -> Result<String, ExperimentError> {
    let mut findings = Findings::default();
    for (row, (_, id)) in ROWS.iter().enumerate() {
        if let Some(id) = id {
            let what = format!("ECE of {}", name(row));
            findings.number(&what, &judged[row].ece, &lab.paper.number(id)?);
        }
    }
    let ece = |row: usize| judged[row].ece.mean;
    findings.claim(
        ece(LEARNED) < ece(SPN),
        "learned aggregation is calibrated better than the product",
    );
    findings.claim(
        ece(UNIFORM) < ece(LEARNED),
        "the plain mean is calibrated better than learned aggregation",
    );
    findings.claim(
        ece(SPN) <= bound,
        format!("the product's ECE is below ε + C/√K_eff = {bound:.3}"),
    );
    let fit = ROWS.len()
        - judged
            .iter()
            .filter(|j| j.ece.mean > j.calibrated_limit)
            .count();
    Ok(format!(
        "{} A bound of {bound:.3} on a quantity that is at most 1 {}. The mean ECE of {fit} of {} \
         rows is one that perfectly calibrated predictions have in at least 5 % of test sets.",
        findings.sentence(),
        if bound >= 1.0 {
            "says nothing"
        } else {
            "says something"
        },
        ROWS.len(),
    ))
}

fn calibration_table(lab: &Lab, judged: &[Judged]) -> Result<Table, ExperimentError> {
    let mut table = Table::new(
        "T1.calibration",
        "Expected calibration error and accuracy; ± is the standard deviation of one trial. A \
         finite test set gives calibrated predictions an ECE above zero: 'if calibrated' has \
         outcomes drawn from the predictions themselves.",
    );
    for (row, (_, id)) in ROWS.iter().enumerate() {
        let j = &judged[row];
        let paper = id.map_or(Ok(Cell::Empty), |id| lab.paper.cell(id))?;
        table.row([
            ("judged", Cell::text(name(row))),
            ("ECE", j.ece.cell(4)),
            ("ECE in the paper", paper),
            ("ECE if calibrated", j.calibrated.cell(4)),
            (
                "95th percentile of that",
                Cell::number(j.calibrated_limit, 4),
            ),
            ("accuracy", j.accuracy.cell(4)),
        ]);
    }
    Ok(table)
}

fn bound_table(
    lab: &Lab,
    trained: &Trained,
    judged: &[Judged],
    effective: &Summary,
    constant: f64,
    bound: f64,
) -> Result<Table, ExperimentError> {
    let slack = bound - judged[SPN].ece.mean;
    let number = |x: f64| Cell::number(x, 4);
    let rows = [
        (
            "ECE of single items, ε",
            judged[ITEMS].ece.cell(4),
            "bound/epsilon",
        ),
        (
            "items of an entity, K",
            Cell::count(trained.domain().items),
            "K_avg",
        ),
        ("effective items, K_eff", effective.cell(4), "bound/K_eff"),
        ("C", number(constant), "bound/C"),
        ("claimed bound ε + C/√K_eff", number(bound), "bound"),
        ("bound minus ECE of the product", number(slack), "slack"),
    ]
    .map(|(what, ours, id)| (what, ours, format!("sec:exp-thm1/{id}")));
    lab.paper.quantities(
        "T1.bound",
        format!(
            "The claimed bound, with C = √(2 ln(2|Y|/δ)) at δ = {DELTA}; the paper takes 2.0 for C"
        ),
        rows.iter()
            .map(|(what, ours, id)| (*what, ours.clone(), Some(id.as_str()))),
    )
}

/// The rows whose reliability is tabled and drawn.
const DRAWN: [usize; 3] = [ITEMS, SPN, LEARNED];

fn bins_table(judged: &[Judged]) -> Table {
    let title = "Reliability of the most probable class, all trials together";
    let mut table = Table::new("T1.bins", title);
    for bin in 0..BINS {
        let edges = judged[ITEMS].bins[bin];
        let mut cells = vec![
            ("confidence above".to_owned(), Cell::number(edges.lower, 1)),
            ("up to".to_owned(), Cell::number(edges.upper, 1)),
        ];
        for row in DRAWN {
            let found = judged[row].bins[bin];
            let mean = |x: Option<f64>| x.map_or(Cell::Empty, |x| Cell::number(x, 4));
            for (what, cell) in [
                ("predictions", Cell::count(found.count as usize)),
                ("confidence", mean(found.means.map(|m| m.confidence))),
                ("accuracy", mean(found.means.map(|m| m.accuracy))),
            ] {
                cells.push((format!("{what}, {}", name(row)), cell));
            }
        }
        table.row(cells);
    }
    table
}

fn figure(lab: &Lab, judged: &[Judged]) -> Result<Figure, ExperimentError> {
    let at = |row: usize| row as f64 + 1.0;
    // Marks of one row stand side by side.
    const ASIDE: f64 = 0.25;
    let rows = || judged.iter().enumerate();
    let ours = rows().map(|(row, j)| (at(row), j.ece));
    let null = rows().map(|(row, j)| (at(row) + ASIDE, j.calibrated_limit));
    let mut printed = Vec::new();
    for (row, (_, id)) in ROWS.iter().enumerate() {
        if let Some(id) = id {
            printed.push((at(row) - ASIDE, lab.paper.number(id)?.value));
        }
    }
    // A hyphen is a place to break a line.
    let names: Vec<String> = (0..ROWS.len())
        .map(|row| name(row).replace('-', "- "))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut panels = vec![Panel::new(
        "Calibration error",
        Axis::named("what is judged", &names),
        Axis::linear("ECE (share of predictions)"),
        vec![
            Summary::series("ours", Role::Ours, Shape::Points, ours),
            Series::points("paper", Role::Paper, printed),
            Series::points("95 % of calibrated test sets are below", Role::Proven, null),
        ],
    )];
    for row in DRAWN {
        let means = judged[row].bins.iter().filter_map(|bin| bin.means);
        let points = means.map(|m| (m.confidence, m.accuracy));
        panels.push(Panel::new(
            format!("Reliability: {}", name(row)),
            Axis::linear("mean confidence of a bin").marked(&UNIT),
            Axis::linear("share that came true").marked(&UNIT),
            vec![
                Series::dashed("calibrated", Role::Guide, vec![(0.0, 0.0), (1.0, 1.0)]),
                Series::line("ours", Role::Ours, points),
            ],
        ));
    }
    Ok(Figure::new(
        "T1",
        "Calibration error of single items and of every method of aggregating them, with the \
                  paper's where it prints one, and reliability diagrams of the items, the product \
                  and learned aggregation. Bars are standard deviations of one trial.",
        panels,
    ))
}

/// Marks of an axis of probabilities.
const UNIT: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
