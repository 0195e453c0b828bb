//! T3: how well learned aggregation generalizes, and how large the claimed bound is.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::{
    BINS, Experiment, ExperimentError, Findings, HIDDEN, Lab, Outcome, Progress, Summary, Trained,
};
use crate::bounds::{clopper_pearson_upper, generalization_gap};
use crate::calibration::Evaluation;
use crate::exhibit::{Axis, Cell, Figure, Panel, Role, Series, Shape, Table};
use crate::latent::{DecoderWorkspace, GaussianPosterior};
use crate::learn::{
    Aggregator, AggregatorShape, Entities, TrainSettings, aggregator_settings, effective_dimension,
    log_variance, train_aggregator,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "T3",
    title: "Generalization of learned aggregation",
    claims: &["T3", "T3'"],
    run,
};

/// Sizes of the training set, as in the paper (`fig:generalization/N`).
const SIZES: [usize; 3] = [2002, 3003, 4200];

/// Entities to stop by and to judge by; 4200, 900 and 900 are the shares of the split.
const VALIDATION: usize = 900;
const TEST: usize = 900;

/// Trials, as in the paper (`sec:exp-thm3/trials`).
const TRIALS: usize = 5;

/// Failure probability of the bounds, as in the paper.
const DELTA: f64 = 0.05;

/// Training entities behind the effective dimension, whose work grows with the cube of their
/// number. `x/(x + λ)` is operator concave, so by Jensen's inequality the dimension at a part of
/// the entities is, in the mean, a lower estimate of that at all of them: with 300 in place of
/// 150 it comes out a third larger.
const DIMENSION_SAMPLE: usize = 150;

/// Entities with their posteriors, for training and for judging.
struct Sample {
    posteriors: Vec<Vec<GaussianPosterior>>,
    labels: Vec<usize>,
}

impl Sample {
    fn draw(trained: &Trained, first: u64, count: usize) -> Result<Self, ExperimentError> {
        let drawn: Result<Vec<_>, ExperimentError> = (first..first + count as u64)
            .into_par_iter()
            .map(|index| {
                let entity = trained.generator.entity(trained.seed, trained.used + index);
                let posteriors = trained.model.vae.posteriors(&entity.embeddings)?;
                Ok((posteriors, entity.label))
            })
            .collect();
        let (posteriors, labels) = drawn?.into_iter().unzip();
        Ok(Sample { posteriors, labels })
    }

    /// The first `count` entities, as training takes them.
    fn entities(&self, count: usize) -> Entities {
        let mut entities = Entities::default();
        for (posteriors, &label) in self.posteriors.iter().zip(&self.labels).take(count) {
            let start = entities.items.last().map_or(0, |items| items.end);
            entities.items.push(start..start + posteriors.len());
            entities.labels.push(label);
            for posterior in posteriors {
                let means = posterior.mean().iter().map(|&m| m as f32);
                entities.means.extend(means);
                let sigmas = posterior.sigmas().map(log_variance);
                entities.log_variances.extend(sigmas);
            }
        }
        entities
    }

    fn evaluate(
        &self,
        trained: &Trained,
        aggregator: &Aggregator,
        count: usize,
    ) -> Result<Evaluation, ExperimentError> {
        let mut workspace = DecoderWorkspace::default();
        let mut answers = Vec::new();
        for posteriors in self.posteriors.iter().take(count) {
            let answer = aggregator.predict(&trained.decoder, posteriors, &mut workspace)?;
            answers.push(answer.distribution);
        }
        Ok(Evaluation::of(
            &answers,
            &self.labels[..answers.len()],
            BINS,
        )?)
    }
}

/// What one trial gives for one size.
#[derive(Clone, Copy)]
struct Measured {
    train: f64,
    test: f64,
    accuracy: f64,
    dimension: f64,
    /// The claimed bound on the gap, with our effective dimension.
    bound: f64,
    /// What does hold: the test-set bound on the error rate.
    error_bound: f64,
}

fn measure(
    trained: &Trained,
    [training, validation, test]: [&Sample; 3],
    size: usize,
    settings: &TrainSettings,
) -> Result<Measured, ExperimentError> {
    let shape = AggregatorShape {
        latent: trained.model.vae.shape().latent,
        hidden: HIDDEN,
        ..AggregatorShape::default()
    };
    let vae = &trained.model.vae;
    let fitted = train_aggregator(
        shape,
        vae,
        &training.entities(size),
        &validation.entities(VALIDATION),
        settings,
        |_| ControlFlow::Continue(()),
    )?;
    let aggregator = &fitted.model;
    let train = training.evaluate(trained, aggregator, size)?.log_loss()?;
    let judged = test.evaluate(trained, aggregator, TEST)?;
    let accuracy = judged.accuracy()?;
    let sample = training.entities(size.min(DIMENSION_SAMPLE));
    let dimension = effective_dimension(aggregator, vae, &sample, settings.adam.l2)?;
    let correct = judged
        .top_label()
        .bins()
        .iter()
        .map(|bin| bin.correct)
        .sum::<u64>();
    Ok(Measured {
        train,
        test: judged.log_loss()?,
        accuracy,
        dimension,
        bound: claimed(train, size, dimension)?,
        error_bound: clopper_pearson_upper(judged.count() - correct, judged.count(), DELTA)?,
    })
}

/// The claimed bound for an effective dimension, which its formula takes whole and at least one.
fn claimed(loss: f64, size: usize, dimension: f64) -> Result<f64, ExperimentError> {
    let whole = libm::ceil(dimension).max(1.0) as u64;
    Ok(generalization_gap(loss, size as u64, whole, DELTA)?)
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    let trials = lab.trials(TRIALS, 1)?;
    progress.expect(1 + (trials * SIZES.len()) as u64);
    let trained = lab.compliance()?;
    progress.step("model trained");
    let results: Result<Vec<Vec<Measured>>, ExperimentError> = (0..trials as u64)
        .into_par_iter()
        .map(|trial| run_trial(lab, trained, trial, progress))
        .collect();
    outcome(lab, trained, &results?)
}

/// One measurement for each of [`SIZES`]. Each trial has entities of its own, and a seed of its own
/// for its training.
fn run_trial(
    lab: &Lab,
    trained: &Trained,
    trial: u64,
    progress: &dyn Progress,
) -> Result<Vec<Measured>, ExperimentError> {
    let largest = SIZES[SIZES.len() - 1];
    let first = trial * (largest + VALIDATION + TEST) as u64;
    let training = Sample::draw(trained, first, largest)?;
    let validation = Sample::draw(trained, first + largest as u64, VALIDATION)?;
    let test = Sample::draw(trained, first + (largest + VALIDATION) as u64, TEST)?;
    let settings = TrainSettings {
        epochs: lab.settings.epochs,
        ..aggregator_settings(lab.settings.seed.wrapping_add(trial))
    };
    let parts = [&training, &validation, &test];
    let sizes = SIZES.par_iter().map(|&size| {
        let result = measure(trained, parts, size, &settings);
        progress.step("aggregator trained");
        result
    });
    sizes.collect()
}

/// One size over all trials.
struct Judged {
    size: usize,
    train: Summary,
    test: Summary,
    gap: Summary,
    accuracy: Summary,
    dimension: Summary,
    bound: Summary,
    error_bound: Summary,
    /// The claimed bound at our mean training loss with the paper's effective dimension.
    bound_paper_dimension: f64,
}

fn judge(lab: &Lab, size: usize, trials: &[Measured]) -> Result<Judged, ExperimentError> {
    let all = |f: fn(&Measured) -> f64| Summary::of(trials.iter().map(f));
    let train = all(|m| m.train);
    let dimension = lab.paper.number("sec:exp-thm3/d_eff")?.value;
    Ok(Judged {
        size,
        train,
        test: all(|m| m.test),
        gap: all(|m| m.test - m.train),
        accuracy: all(|m| m.accuracy),
        dimension: all(|m| m.dimension),
        bound: all(|m| m.bound),
        error_bound: all(|m| m.error_bound),
        bound_paper_dimension: claimed(train.mean, size, dimension)?,
    })
}

fn outcome(
    lab: &Lab,
    trained: &Trained,
    trials: &[Vec<Measured>],
) -> Result<Outcome, ExperimentError> {
    let mut judged = Vec::new();
    for (i, &size) in SIZES.iter().enumerate() {
        let of_size: Vec<Measured> = trials.iter().map(|trial| trial[i]).collect();
        judged.push(judge(lab, size, &of_size)?);
    }
    let shape = AggregatorShape {
        latent: trained.model.vae.shape().latent,
        hidden: HIDDEN,
        ..AggregatorShape::default()
    };
    let parameters = shape.parameter_count();
    let own = format!("{VALIDATION} and {TEST}");
    let settings = lab.described(&[
        ("trials", &trials.len()),
        ("validation and test entities", &own),
        ("hidden units", &HIDDEN),
        ("L2", &aggregator_settings(lab.settings.seed).adam.l2),
        ("entities behind d_eff", &DIMENSION_SAMPLE),
    ]);
    let mut outcome = EXPERIMENT.outcome(settings, sentence(lab, &judged, parameters)?);
    outcome.tables = vec![
        losses_table(lab, &judged)?,
        model_table(lab, &judged, parameters)?,
    ];
    outcome.figures.push(figure(lab, &judged)?);
    Ok(outcome)
}

fn printed(size: usize, column: &str) -> String {
    format!("tab:thm3/N={size}/{column}")
}

fn sentence(lab: &Lab, judged: &[Judged], parameters: usize) -> Result<String, ExperimentError> {
    let mut findings = Findings::default();
    for j in judged {
        for (what, column, ours) in [
            ("training loss", "train", &j.train),
            ("test loss", "test", &j.test),
            ("gap", "gap", &j.gap),
            ("bound", "bound", &j.bound),
        ] {
            let number = lab.paper.number(&printed(j.size, column))?;
            findings.number(&format!("{what} at N = {}", j.size), ours, &number);
        }
    }
    if let Some(last) = judged.last() {
        for (what, id, ours) in [
            ("test accuracy", "sec:exp-thm3/accuracy", last.accuracy),
            (
                "lower estimate of the effective dimension",
                "sec:exp-thm3/d_eff",
                last.dimension,
            ),
            (
                "parameters",
                "sec:exp-thm3/parameters",
                Summary::exact(parameters as f64),
            ),
        ] {
            findings.number(what, &ours, &lab.paper.number(id)?);
        }
    }
    let below = judged.iter().all(|j| j.gap.mean <= j.bound.mean);
    findings.claim(below, "the gap is below the claimed bound at every size");
    Ok(findings.sentence())
}

fn losses_table(lab: &Lab, judged: &[Judged]) -> Result<Table, ExperimentError> {
    let mut table = Table::new(
        "T3.losses",
        format!(
            "Losses in nats, claimed bound on the gap with our d_eff, and what holds: the \
             Clopper–Pearson bound on the error rate at δ = {DELTA}. ± is the standard deviation \
             of one trial."
        ),
    );
    for j in judged {
        let paper = |column: &str| lab.paper.cell(&printed(j.size, column));
        let theirs = Cell::number(j.bound_paper_dimension, 4);
        table.row([
            ("N", Cell::count(j.size)),
            ("training loss", j.train.cell(4)),
            ("paper's", paper("train")?),
            ("test loss", j.test.cell(4)),
            ("paper's test loss", paper("test")?),
            ("gap", j.gap.cell(4)),
            ("paper's gap", paper("gap")?),
            ("claimed bound", j.bound.cell(4)),
            ("claimed bound with the paper's d_eff", theirs),
            ("paper's bound", paper("bound")?),
            ("test-set bound on the error rate", j.error_bound.cell(4)),
        ]);
    }
    Ok(table)
}

fn model_table(lab: &Lab, judged: &[Judged], parameters: usize) -> Result<Table, ExperimentError> {
    let count = Cell::count(parameters);
    let mut rows = vec![(
        "parameters".to_owned(),
        count,
        Some("sec:exp-thm3/parameters"),
    )];
    rows.extend(judged.iter().map(|j| {
        let what = format!("effective dimension at N = {}, lower estimate", j.size);
        (what, j.dimension.cell(2), Some("sec:exp-thm3/d_eff"))
    }));
    rows.extend(judged.last().map(|last| {
        let what = format!("test accuracy at N = {}", last.size);
        (what, last.accuracy.cell(4), Some("sec:exp-thm3/accuracy"))
    }));
    let title = "The aggregator; ± is the standard deviation of one trial";
    lab.paper.quantities("T3.model", title, rows)
}

fn figure(lab: &Lab, judged: &[Judged]) -> Result<Figure, ExperimentError> {
    let ours = |name: &str, role, f: fn(&Judged) -> Summary| {
        let means = judged.iter().map(|j| (j.size as f64, f(j)));
        Summary::series(name, role, Shape::Line, means)
    };
    let paper = |name: &str, role, column: &str| -> Result<Series, ExperimentError> {
        let points = lab.paper.points(&SIZES, |size| printed(size, column))?;
        Ok(Series::points(name, role, points))
    };
    let sizes = SIZES.map(|size| size as f64);
    let x = || Axis::linear("training entities N").marked(&sizes);
    let theirs = judged
        .iter()
        .map(|j| (j.size as f64, j.bound_paper_dimension));
    Ok(Figure::new(
        "T3",
        "Training and test loss against the size of the training set, and the gap between \
                  them beside the bound that the paper claims, with our effective dimension and \
                  with the paper's. Bars are standard deviations of one trial.",
        vec![
            Panel::new(
                "Learning curves",
                x(),
                Axis::linear("mean log loss (nats)"),
                vec![
                    ours("training, ours", Role::Ours, |j| j.train),
                    ours("test, ours", Role::OursToo, |j| j.test),
                    paper("training, paper", Role::Paper, "train")?,
                    paper("test, paper", Role::PaperToo, "test")?,
                ],
            ),
            Panel::new(
                "Gap and bounds",
                x(),
                Axis::log("nats"),
                vec![
                    ours("gap, ours", Role::Ours, |j| j.gap),
                    ours("claimed bound", Role::Claimed, |j| j.bound),
                    Series::dashed("claimed, paper's d_eff", Role::Claimed, theirs),
                    paper("gap, paper", Role::Paper, "gap")?,
                    paper("bound, paper", Role::PaperToo, "bound")?,
                ],
            ),
        ],
    ))
}
