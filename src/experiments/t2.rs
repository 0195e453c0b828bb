//! T2: how the error of a Monte Carlo factor falls with the number of samples.

use rayon::prelude::*;

use super::{
    Experiment, ExperimentError, Findings, Lab, Line, Outcome, Progress, Settings, Summary,
    Trained, mean, percentile,
};
use crate::bounds::monte_carlo_error;
use crate::exhibit::{Axis, Cell, Figure, Panel, Role, Series, Table};
use crate::latent::random::{Stream, text_key};
use crate::latent::{FactorWorkspace, GaussianPosterior, monte_carlo_factor};
use crate::math::{ExactSum, ln};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "T2",
    title: "Error of a Monte Carlo factor",
    claims: &["T2"],
    run,
};

/// Numbers of samples, as in the paper (`sec:exp-thm2/M`).
const SAMPLES: [usize; 5] = [4, 8, 16, 32, 64];

/// Posteriors and trials, as in the paper (`sec:exp-thm2`).
const POSTERIORS: u64 = 20;
const TRIALS: usize = 50;

/// Failure probability of the bound, as in the paper.
const DELTA: f64 = 0.05;

/// The integral over 64 latent dimensions is out of reach of quadrature. So the truth is the mean
/// of 10⁶ samples, drawn in parts with streams of their own; its standard error is at most
/// 0.5/√10⁶ = 0.0005, and is stated.
const TRUTH_PART: u64 = 50_000;

const TRUTH: u64 = text_key("T2: truth");
const TRIAL: u64 = text_key("T2: trial");

/// A factor that is nearly exact.
struct Truth {
    probabilities: Vec<f64>,
    /// The largest standard error of an entry.
    standard_error: f64,
}

/// Exact sums, per class, of decoded probabilities and of their squares.
fn truth(
    trained: &Trained,
    posterior: &GaussianPosterior,
    settings: &Settings,
    number: u64,
) -> Result<Truth, ExperimentError> {
    let classes = trained.domain().classes.len();
    let empty = || vec![(ExactSum::new(), ExactSum::new()); classes];
    let merge = |mut a: Vec<(ExactSum, ExactSum)>, b: Vec<(ExactSum, ExactSum)>| {
        for (a, b) in a.iter_mut().zip(&b) {
            a.0.merge(&b.0);
            a.1.merge(&b.1);
        }
        a
    };
    let sums = (0..settings.truth.div_ceil(TRUTH_PART))
        .into_par_iter()
        .map(|part| {
            let samples = (settings.truth - part * TRUTH_PART).min(TRUTH_PART) as usize;
            let mut stream = Stream::new(settings.seed, TRUTH, number, part);
            let mut workspace = FactorWorkspace::default();
            let decoder = &trained.decoder;
            monte_carlo_factor(posterior, decoder, samples, &mut stream, &mut workspace)?;
            let mut sums = empty();
            for row in workspace.probabilities().chunks_exact(classes) {
                for (sum, &p) in sums.iter_mut().zip(row) {
                    sum.0.add(p);
                    sum.1.add(p * p);
                }
            }
            Ok(sums)
        })
        .try_reduce(empty, |a, b| Ok::<_, ExperimentError>(merge(a, b)))?;
    let n = settings.truth as f64;
    let probabilities: Vec<f64> = sums.iter().map(|s| s.0.to_f64() / n).collect();
    let errors = sums.iter().zip(&probabilities).map(|(sum, p)| {
        // Rounding can take a variance of zero below it.
        let variance = (sum.1.to_f64() / n - p * p).max(0.0);
        libm::sqrt(variance / n)
    });
    let standard_error = errors.fold(0.0, f64::max);
    Ok(Truth {
        probabilities,
        standard_error,
    })
}

/// What all trials gave for one number of samples.
struct Measured {
    /// Errors `max_y |Φ̂(y) − Φ(y)|`, posterior after posterior within a trial.
    errors: Vec<f64>,
    bound: f64,
}

impl Measured {
    fn trial(&self, trial: usize) -> f64 {
        let posteriors = POSTERIORS as usize;
        let errors = self.errors.iter().skip(trial * posteriors);
        mean(errors.take(posteriors).copied())
    }
}

fn error(
    trained: &Trained,
    posterior: &GaussianPosterior,
    truth: &Truth,
    samples: usize,
    stream: &mut Stream,
    workspace: &mut FactorWorkspace,
) -> Result<f64, ExperimentError> {
    let factor = monte_carlo_factor(posterior, &trained.decoder, samples, stream, workspace)?;
    let entries = factor.distribution.probabilities().iter();
    let off = entries
        .zip(&truth.probabilities)
        .map(|(a, b)| (a - b).abs());
    Ok(off.fold(0.0, f64::max))
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    // The slope's interval comes from leaving out one trial at a time.
    let trials = lab.trials(TRIALS, 2)?;
    progress.expect(1 + POSTERIORS + SAMPLES.len() as u64);
    let trained = lab.compliance()?;
    progress.step("model trained");
    let seed = lab.settings.seed;
    let entities = trained.test(0, POSTERIORS)?;
    let posteriors: Vec<&GaussianPosterior> = entities
        .iter()
        .filter_map(|e| e.posteriors().next())
        .collect();
    let mut truths = Vec::new();
    for (number, posterior) in posteriors.iter().enumerate() {
        truths.push(truth(trained, posterior, &lab.settings, number as u64)?);
        progress.step("truth of a posterior");
    }
    let classes = trained.domain().classes.len() as u64;
    let mut measured = Vec::new();
    for samples in SAMPLES {
        let errors: Result<Vec<f64>, ExperimentError> = (0..trials * posteriors.len())
            .into_par_iter()
            .map_init(FactorWorkspace::default, |workspace, run| {
                let (trial, number) = (run / posteriors.len(), run % posteriors.len());
                // Trials of different sizes share no draws.
                let evidence = (trial * SAMPLES[SAMPLES.len() - 1] + samples) as u64;
                let mut stream = Stream::new(seed, TRIAL, number as u64, evidence);
                let (posterior, truth) = (posteriors[number], &truths[number]);
                error(trained, posterior, truth, samples, &mut stream, workspace)
            })
            .collect();
        measured.push(Measured {
            errors: errors?,
            bound: monte_carlo_error(samples as u64, classes, DELTA)?,
        });
        progress.step("sample size");
    }
    let slope = slope(&measured, trials);
    let uncertain = truths.iter().map(|t| t.standard_error).fold(0.0, f64::max);
    outcome(lab, &measured, &slope, uncertain, trials)
}

/// The slope of ln(mean error) over ln M, and half its interval: two standard errors by leaving
/// out one trial at a time (the jackknife).
struct Slope {
    line: Line,
    half: f64,
}

fn slope(measured: &[Measured], trials: usize) -> Slope {
    let by_trial: Vec<Vec<f64>> = measured
        .iter()
        .map(|m| (0..trials).map(|t| m.trial(t)).collect())
        .collect();
    let fit = |left_out: Option<usize>| {
        let points = SAMPLES.iter().zip(&by_trial).map(|(&samples, trials)| {
            let kept = trials.iter().enumerate();
            let kept = kept.filter(|(trial, _)| Some(*trial) != left_out);
            (ln(samples as f64), ln(mean(kept.map(|(_, &e)| e))))
        });
        Line::fit(&points.collect::<Vec<_>>())
    };
    let without = (0..trials).map(|t| fit(Some(t)).slope);
    let spread = Summary::of(without).deviation.unwrap_or(f64::NAN);
    // The jackknife's variance is (n − 1)/n·Σ (sᵢ − s̄)², that is (n − 1)²/n times the sample's.
    let n = trials as f64;
    Slope {
        line: fit(None),
        half: 2.0 * spread * (n - 1.0) / libm::sqrt(n),
    }
}

/// Ids of the paper's table.
fn printed(samples: usize, column: &str) -> String {
    format!("tab:thm2/M={samples}/{column}")
}

/// The slope of the paper's own means.
fn paper_slope(lab: &Lab) -> Result<Line, ExperimentError> {
    let mut points = lab.paper.points(&SAMPLES, |m| printed(m, "mean"))?;
    points.iter_mut().for_each(|p| *p = (ln(p.0), ln(p.1)));
    Ok(Line::fit(&points))
}

fn outcome(
    lab: &Lab,
    measured: &[Measured],
    slope: &Slope,
    uncertain: f64,
    trials: usize,
) -> Result<Outcome, ExperimentError> {
    let mut findings = Findings::default();
    let mut table = Table::new(
        "T2.error",
        format!(
            "Error of a factor, the largest over the classes; ± is the standard deviation of one \
             error. Bound: √(ln(2|Y|/δ)/(2M)) at δ = {DELTA}"
        ),
    );
    let mut all_below = true;
    for (&samples, m) in SAMPLES.iter().zip(measured) {
        let paper = |column: &str| lab.paper.cell(&printed(samples, column));
        let p95 = percentile(&m.errors, 95);
        let above = m.errors.iter().filter(|&&e| e > m.bound).count();
        all_below &= p95 <= m.bound;
        let one_trial = Summary::of((0..trials).map(|t| m.trial(t)));
        for (what, column, ours) in [
            ("mean error", "mean", one_trial),
            ("bound", "bound", Summary::exact(m.bound)),
        ] {
            let number = lab.paper.number(&printed(samples, column))?;
            findings.number(&format!("{what} at M = {samples}"), &ours, &number);
        }
        let error = one_trial.standard_error().unwrap_or(f64::NAN);
        table.row([
            ("samples M", Cell::count(samples)),
            ("mean error", Summary::of(&m.errors).cell(5)),
            ("paper's mean", paper("mean")?),
            ("standard error of our mean", Cell::number(error, 5)),
            ("95th percentile", Cell::number(p95, 5)),
            ("paper's 95th", paper("p95")?),
            ("bound", Cell::number(m.bound, 5)),
            ("paper's bound", paper("bound")?),
            ("errors above the bound", Cell::count(above)),
        ]);
    }
    let (low, high) = (slope.line.slope - slope.half, slope.line.slope + slope.half);
    findings.claim(
        low <= -0.5 && -0.5 <= high,
        format!("the error falls as 1/√M: our slope is in [{low:.3}, {high:.3}]"),
    );
    findings.claim(all_below, "every 95th percentile is below the bound");
    let theirs = paper_slope(lab)?;
    let truth = format!(
        "mean of {} samples, standard error at most {uncertain:.6}",
        lab.settings.truth
    );
    let settings = lab.described(&[
        ("trials", &trials),
        ("posteriors", &POSTERIORS),
        ("truth", &truth),
    ]);
    let sentence = format!(
        "{} The paper's own means have the slope {:.3}.",
        findings.sentence(),
        theirs.slope
    );
    let mut outcome = EXPERIMENT.outcome(settings, sentence);
    outcome.tables = vec![table, slope_table(slope, &theirs)];
    outcome.figures.push(figure(lab, measured, slope)?);
    Ok(outcome)
}

fn slope_table(ours: &Slope, theirs: &Line) -> Table {
    let title = "Slope of ln(mean error) over ln M; ± is half the interval, two standard errors";
    let mut table = Table::new("T2.slope", title);
    let number = |x: f64| Cell::number(x, 4);
    let own = Cell::spread(ours.line.slope, ours.half, 4);
    for (name, slope, r_squared) in [
        ("ours", own, number(ours.line.r_squared)),
        (
            "the paper's means",
            number(theirs.slope),
            number(theirs.r_squared),
        ),
        ("theory", number(-0.5), Cell::Empty),
    ] {
        table.row([("", Cell::text(name)), ("slope", slope), ("R²", r_squared)]);
    }
    table
}

fn figure(lab: &Lab, measured: &[Measured], slope: &Slope) -> Result<Figure, ExperimentError> {
    let ours = |f: &dyn Fn(&Measured) -> f64| -> Vec<(f64, f64)> {
        let pairs = SAMPLES.iter().zip(measured);
        pairs.map(|(&samples, m)| (samples as f64, f(m))).collect()
    };
    let paper = |column: &str| lab.paper.points(&SAMPLES, |m| printed(m, column));
    let means = ours(&|m| mean(m.errors.iter().copied()));
    let normalized = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        let scale = |&(samples, e): &(f64, f64)| (samples, e * libm::sqrt(samples));
        points.iter().map(scale).collect()
    };
    let tops = ours(&|m| percentile(&m.errors, 95));
    // A line of slope −1/2 between our two curves, so that neither hides it.
    let middle = SAMPLES.len() / 2;
    let height = libm::sqrt(means[middle].1 * tops[middle].1);
    let guide = means
        .iter()
        .map(|p| (p.0, height * libm::sqrt(means[middle].0 / p.0)));
    let marks = SAMPLES.map(|samples| samples as f64);
    let left = Panel::new(
        "Error of a factor",
        Axis::log("samples M").marked(&marks),
        Axis::log("error (probability)"),
        vec![
            Series::dashed("slope −1/2", Role::Guide, guide),
            Series::line("mean, ours", Role::Ours, means.clone()),
            Series::line("95th percentile, ours", Role::OursToo, tops),
            Series::points("mean, paper", Role::Paper, paper("mean")?),
            Series::points("95th, paper", Role::PaperToo, paper("p95")?),
            Series::dashed("bound", Role::Claimed, ours(&|m| m.bound)),
        ],
    );
    let right = Panel::new(
        format!("Mean error · √M (our slope {:.3})", slope.line.slope),
        Axis::log("samples M").marked(&marks),
        Axis::linear("mean error · √M (probability)"),
        vec![
            Series::line("ours", Role::Ours, normalized(&means)),
            Series::points("paper", Role::Paper, normalized(&paper("mean")?)),
        ],
    );
    Ok(Figure::new(
        "T2",
        "Error of a Monte Carlo factor against the number of samples, with the bound and \
                  the slope −1/2, and the same multiplied by √M: level where the error falls as \
                  1/√M. Crosses are the paper's.",
        vec![left, right],
    ))
}
