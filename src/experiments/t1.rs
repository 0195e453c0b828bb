//! T1: calibration of single items and of every method of aggregating them.

use super::{
    Agreement, BINS, Contender, Experiment, ExperimentError, Lab, Origin, Outcome, Progress,
    Quantity, Run, Summary, TestEntity, compared, mean, percentile,
};
use crate::aggregate::Method;
use crate::bounds::{calibration_bound, calibration_constant, effective_count};
use crate::calibration::{CalibrationError, Reliability, ReliabilityBin};
use crate::exhibit::{Axis, Cell, Figure, Panel, Role, Series, Shape, Table};
use crate::latent::random::{Stream, text_key};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "T1",
    title: "Calibration of single items and of their aggregate",
    claims: &["T1", "T1'"],
    run,
};

/// Test entities of one run, as in the paper (`sec:exp-thm1/entities`), or as many as there are.
const ENTITIES: u64 = 300;

/// Runs with fresh entities where they can be drawn.
const TRIALS: usize = 5;

/// Failure probability of the claimed bound, as in the paper.
const DELTA: f64 = 0.05;

/// How often outcomes are drawn anew for the predictions of a run, to see which calibration error
/// perfectly calibrated predictions have.
const REDRAWS: u64 = 50;
const REDRAW: u64 = text_key("T1: outcomes of calibrated predictions");

/// What is judged: the items one by one, then each contender, with the paper's ECE where it prints
/// one.
const ROWS: [(Option<Contender>, Option<&str>); 8] = [
    (None, Some("sec:exp-thm1/epsilon")),
    (by(Method::Spn), Some("sec:exp-thm1/ece")),
    (by(Method::Learned), Some("sec:exp-thm1/learned-ece")),
    (by(Method::Uniform), Some("sec:exp-thm6/uniform-ece")),
    (by(Method::Vote), None),
    (by(Method::Max), None),
    (by(Method::PriorCorrected), None),
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

/// One run of one row.
struct Measured {
    reliability: Reliability,
    /// Calibration errors with outcomes drawn from the predictions themselves.
    calibrated: Vec<f64>,
}

/// Confidences and whether they came true.
type Predictions = (Vec<f64>, Vec<bool>);

fn predictions(
    run: &Run<'_>,
    contender: Option<Contender>,
    entities: &[TestEntity],
) -> Result<Predictions, ExperimentError> {
    let factors = |e: &TestEntity| e.evidence.factors.clone();
    let answers = match contender {
        Some(contender) => run.trained.answers(contender, entities)?,
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

/// All runs of one row, summarized.
struct Judged {
    row: usize,
    ece: Summary,
    accuracy: Summary,
    calibrated_limit: f64,
    bins: Vec<ReliabilityBin>,
}

fn judge(row: usize, runs: &[Measured]) -> Result<Judged, ExperimentError> {
    let each = |f: fn(&Reliability) -> Result<f64, CalibrationError>| {
        let values: Result<Vec<f64>, _> = runs.iter().map(|t| f(&t.reliability)).collect();
        values.map(|values| Summary::of(&values))
    };
    let calibrated: Vec<f64> = runs.iter().flat_map(|t| t.calibrated.clone()).collect();
    let mut pooled = Reliability::new(BINS)?;
    for run in runs {
        pooled.merge(&run.reliability)?;
    }
    Ok(Judged {
        row,
        ece: each(Reliability::ece)?,
        accuracy: each(Reliability::accuracy)?,
        calibrated_limit: percentile(&calibrated, 95),
        bins: pooled.bins(),
    })
}

/// One column of results.
struct Column {
    judged: Vec<Judged>,
    effective: Summary,
    entities: usize,
    items: usize,
    constant: f64,
    bound: f64,
}

impl Column {
    fn new(lab: &Lab, origin: Origin, progress: &dyn Progress) -> Result<Self, ExperimentError> {
        let runs = lab.runs(origin, TRIALS)?;
        progress.step("models trained");
        let mut measured: Vec<(usize, Vec<Measured>)> = Vec::new();
        let mut counts = Vec::new();
        let (mut count, mut items) = (0, 0);
        for run in &runs {
            let entities = run.test(ENTITIES)?;
            count = entities.len();
            items = entities.first().map_or(0, |e| e.evidence.factors.len());
            let rows = ROWS.iter().enumerate();
            let rows = rows.filter(|(_, (contender, _))| {
                origin == Origin::Known || *contender != Some(Contender::Exact)
            });
            for (at, (row, (contender, _))) in rows.enumerate() {
                let found = predictions(run, *contender, &entities)?;
                let found = measure(&found, lab.settings.seed, run.trial)?;
                match measured.get_mut(at) {
                    Some(all) => all.1.push(found),
                    None => measured.push((row, vec![found])),
                }
            }
            let effective = entities
                .iter()
                .map(|e| effective_count(&e.evidence.weights));
            counts.push(mean(effective.collect::<Result<Vec<f64>, _>>()?));
            progress.step("test set judged");
        }
        let judged = measured.iter().map(|(row, runs)| judge(*row, runs));
        let judged = judged.collect::<Result<Vec<Judged>, ExperimentError>>()?;
        let classes = runs.first().map_or(0, |run| run.trained.classes());
        let constant = calibration_constant(classes as u64, DELTA)?;
        let effective = Summary::of(&counts);
        Ok(Column {
            bound: calibration_bound(judged[ITEMS].ece.mean, constant, effective.mean)?,
            judged,
            effective,
            entities: count,
            items,
            constant,
        })
    }

    fn errors(&self) -> Vec<Quantity> {
        let rows = self.judged.iter().map(|j| {
            let quantity = Quantity::new(format!("ECE of {}", name(j.row)), j.ece, 4);
            match ROWS[j.row].1 {
                Some(id) => quantity.as_in(id),
                None => quantity,
            }
        });
        rows.collect()
    }

    fn others(&self) -> [Vec<Quantity>; 3] {
        let accuracy = |j: &Judged| Quantity::new(name(j.row), j.accuracy, 4);
        let limit = |j: &Judged| Quantity::new(name(j.row), Summary::exact(j.calibrated_limit), 4);
        let exact = |what: &str, x: f64, digits, id: &str| {
            let id = format!("sec:exp-thm1/{id}");
            Quantity::printed(what, Summary::exact(x), digits, id)
        };
        let (items, spn) = (&self.judged[ITEMS].ece, &self.judged[SPN].ece);
        let bound = vec![
            Quantity::printed(
                "ECE of single items, ε",
                *items,
                4,
                "sec:exp-thm1/bound/epsilon",
            ),
            exact("items of an entity, K", self.items as f64, 0, "K_avg"),
            Quantity::printed(
                "effective items, K_eff",
                self.effective,
                4,
                "sec:exp-thm1/bound/K_eff",
            ),
            exact("C", self.constant, 4, "bound/C"),
            exact("claimed bound ε + C/√K_eff", self.bound, 4, "bound"),
            exact(
                "bound minus ECE of the product",
                self.bound - spn.mean,
                4,
                "slack",
            ),
        ];
        [
            self.judged.iter().map(accuracy).collect(),
            self.judged.iter().map(limit).collect(),
            bound,
        ]
    }

    fn claims(&self, origin: Origin, agreement: &mut Agreement) {
        let ece = |row: usize| self.judged[row].ece.mean;
        let mut claim = |holds, what: String| agreement.claim(origin, holds, what);
        let better = "learned aggregation is calibrated better than the product";
        claim(ece(LEARNED) < ece(SPN), better.to_owned());
        let mean = "the plain mean is calibrated better than learned aggregation";
        claim(ece(UNIFORM) < ece(LEARNED), mean.to_owned());
        claim(
            ece(SPN) <= self.bound,
            format!(
                "the product's ECE is below ε + C/√K_eff = {:.3}",
                self.bound
            ),
        );
    }
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(2 + 2 * lab.trials(TRIALS, 1)? as u64);
    let author = Column::new(lab, Origin::Author, progress)?;
    let known = Column::new(lab, Origin::Known, progress)?;
    let mut agreement = Agreement::default();
    let errors = [&author.errors()[..], &known.errors()];
    agreement.numbers(lab, errors)?;
    author.claims(Origin::Author, &mut agreement);
    known.claims(Origin::Known, &mut agreement);
    let settings = lab.described(&[
        ("test entities of the author's data", &author.entities),
        (
            "fresh test entities a run of the known domain",
            &known.entities,
        ),
        ("bins", &BINS),
    ]);
    let calibrated = |j: &&Judged| j.ece.mean <= j.calibrated_limit;
    let reference = lab.reference_run()?;
    let entities = reference.test(ENTITIES)?;
    let with_their_weights = |row: usize| -> Result<f64, ExperimentError> {
        let (confidences, correct) = predictions(&reference, ROWS[row].0, &entities)?;
        Ok(Reliability::of(&confidences, &correct, BINS)?.ece()?)
    };
    let sentence = format!(
        "{} A bound of {:.3} on a quantity that is at most 1 {}. The mean ECE of {} of {} rows on the \
         author's data is one that perfectly calibrated predictions have in at least 5 % of test \
         sets. With a model that the author's own implementation trained, single items have an ECE of \
         {:.3}, the product one of {:.3} and the plain mean one of {:.3}; `readings` tries what else \
         may be behind the paper's numbers.",
        agreement.sentence(),
        author.bound,
        if author.bound >= 1.0 {
            "says nothing"
        } else {
            "says something"
        },
        author.judged.iter().filter(calibrated).count(),
        author.judged.len(),
        with_their_weights(ITEMS)?,
        with_their_weights(SPN)?,
        with_their_weights(UNIFORM)?,
    );
    let mut outcome = EXPERIMENT.outcome(settings, sentence);
    outcome.statements = agreement.statements();
    let table = |id: &str, title: &str, columns| compared(&lab.paper, id, title, columns);
    let ([a, b, c], [x, y, z]) = (author.others(), known.others());
    outcome.tables = vec![
        table("T1.calibration", "Expected calibration error", errors)?,
        table("T1.accuracy", "Accuracy", [&a, &x])?,
        table(
            "T1.calibrated",
            "A finite test set gives calibrated predictions an ECE above zero: 95 % of test sets, \
             with outcomes drawn from the predictions themselves, are below this",
            [&b, &y],
        )?,
        table(
            "T1.bound",
            &format!(
                "The claimed bound, with C = √(2 ln(2|Y|/δ)) at δ = {DELTA}; the paper takes 2.0 for C"
            ),
            [&c, &z],
        )?,
        bins_table(&author.judged),
    ];
    outcome.figures.push(figure(lab, &author, &known)?);
    Ok(outcome)
}

/// The rows whose reliability is tabled and drawn.
const DRAWN: [usize; 3] = [ITEMS, SPN, LEARNED];

fn bins_table(judged: &[Judged]) -> Table {
    let title = "Reliability of the most probable class on the author's data, all models together";
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

fn figure(lab: &Lab, author: &Column, known: &Column) -> Result<Figure, ExperimentError> {
    let at = |row: usize| row as f64 + 1.0;
    // Marks of one row stand side by side.
    const ASIDE: f64 = 0.2;
    let rows = |column: &Column, shift: f64| -> Vec<(f64, Summary)> {
        let rows = column.judged.iter();
        rows.map(|j| (at(j.row) + shift, j.ece)).collect()
    };
    let null = author.judged.iter();
    let null = null.map(|j| (at(j.row) + 2.0 * ASIDE, j.calibrated_limit));
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
    let points = |name, role, rows| Summary::series(name, role, Shape::Points, rows);
    let mut panels = vec![Panel::new(
        "Calibration error",
        Axis::named("what is judged", &names),
        Axis::linear("ECE (share of predictions)"),
        vec![
            points("author's data", Role::Ours, rows(author, 0.0)),
            points("known posterior", Role::OursToo, rows(known, ASIDE)),
            Series::points("paper", Role::Paper, printed),
            Series::points("95 % of calibrated test sets are below", Role::Proven, null),
        ],
    )];
    for row in DRAWN {
        let means = author.judged[row].bins.iter().filter_map(|bin| bin.means);
        let points = means.map(|m| (m.confidence, m.accuracy));
        panels.push(Panel::new(
            format!("Reliability: {}", name(row)),
            Axis::linear("mean confidence of a bin").marked(&UNIT),
            Axis::linear("share that came true").marked(&UNIT),
            vec![
                Series::dashed("calibrated", Role::Guide, vec![(0.0, 0.0), (1.0, 1.0)]),
                Series::line("author's data", Role::Ours, points),
            ],
        ));
    }
    Ok(Figure::new(
        "T1",
        "Calibration error of single items and of every method of aggregating them, on the \
                  author's data and where the exact posterior is known, with the paper's where it \
                  prints one, and reliability diagrams of the items, the product and learned \
                  aggregation. Bars are standard deviations of one run.",
        panels,
    ))
}

/// Marks of an axis of probabilities.
const UNIT: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
