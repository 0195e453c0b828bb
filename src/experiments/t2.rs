//! T2: how the error of a Monte Carlo factor falls with the number of samples.

use rayon::prelude::*;

use super::{
    Agreement, Experiment, ExperimentError, Lab, Line, Origin, Outcome, Progress, Quantity, Run,
    Settings, Summary, Trained, compared, mean, percentile,
};
use crate::bounds::monte_carlo_error;
use crate::exhibit::{Axis, Figure, Panel, Role, Series};
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
/// of many samples, drawn in parts with streams of their own; its standard error is stated. With
/// n of them, the error of a factor of M samples comes out larger by a share of M/2n: 0.0008 at
/// M = 64 and n = 40,000.
const TRUTH_PART: u64 = 10_000;

/// Runs with fresh posteriors where they can be drawn.
const RUNS: usize = 2;

const TRUTH: u64 = text_key("T2: truth");
const TRIAL: u64 = text_key("T2: trial");

/// A factor that is nearly exact.
struct Truth {
    probabilities: Vec<f64>,
    /// The largest standard error of an entry.
    standard_error: f64,
}

/// From exact sums, per class, of decoded probabilities and of their squares.
fn truth(
    trained: &Trained,
    posterior: &GaussianPosterior,
    settings: &Settings,
    number: u64,
) -> Result<Truth, ExperimentError> {
    let classes = trained.classes();
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

fn error(
    trained: &Trained,
    posterior: &GaussianPosterior,
    truth: &Truth,
    samples: usize,
    stream: &mut Stream,
    workspace: &mut FactorWorkspace,
) -> Result<Off, ExperimentError> {
    let factor = monte_carlo_factor(posterior, &trained.decoder, samples, stream, workspace)?;
    let entries = factor.distribution.probabilities().iter();
    let off = entries.zip(&truth.probabilities).map(|(a, b)| a - b);
    Ok(off.fold(Off::default(), |all, off| Off {
        largest: all.largest.max(off.abs()),
        squared: all.squared + off * off,
    }))
}

/// How far one factor is off.
#[derive(Clone, Copy, Debug, Default)]
struct Off {
    /// `max_y |Φ̂(y) − Φ(y)|`, of which theorem 2 speaks.
    largest: f64,
    /// `Σ_y (Φ̂(y) − Φ(y))²`, whose expectation is exactly proportional to 1/M.
    squared: f64,
}

/// What one run gave for one number of samples: the largest errors of all posteriors in all trials, and
/// the root of the mean squared one.
struct Errors {
    errors: Vec<f64>,
    root_mean_square: f64,
    bound: f64,
}

impl Errors {
    fn mean(&self) -> f64 {
        mean(self.errors.iter().copied())
    }

    fn deviation(&self) -> f64 {
        Summary::of(&self.errors).deviation.unwrap_or(f64::NAN)
    }

    fn top(&self) -> f64 {
        percentile(&self.errors, 95)
    }

    fn above(&self) -> f64 {
        self.errors.iter().filter(|&&e| e > self.bound).count() as f64
    }
}

/// What one run gave.
struct Measured {
    by_samples: Vec<Errors>,
    uncertain: f64,
}

impl Measured {
    fn new(lab: &Lab, run: &Run<'_>, trials: usize) -> Result<Self, ExperimentError> {
        let (trained, seed) = (run.trained, lab.settings.seed);
        let entities = run.test(POSTERIORS)?;
        let posteriors: Vec<&GaussianPosterior> = entities
            .iter()
            .filter_map(|e| e.posteriors().next())
            .collect();
        let truths = posteriors.iter().enumerate();
        let truths = truths.map(|(number, posterior)| {
            let number = run.trial * POSTERIORS + number as u64;
            truth(trained, posterior, &lab.settings, number)
        });
        let truths = truths.collect::<Result<Vec<Truth>, ExperimentError>>()?;
        let classes = trained.classes() as u64;
        let by_samples = SAMPLES.iter().map(|&samples| {
            let errors = (0..trials * posteriors.len()).into_par_iter();
            let errors = errors.map_init(FactorWorkspace::default, |workspace, at| {
                let (trial, number) = (at / posteriors.len(), at % posteriors.len());
                // Trials of different sizes share no draws.
                let evidence = (trial * SAMPLES[SAMPLES.len() - 1] + samples) as u64;
                let entity = run.trial * POSTERIORS + number as u64;
                let mut stream = Stream::new(seed, TRIAL, entity, evidence);
                let (posterior, truth) = (posteriors[number], &truths[number]);
                error(trained, posterior, truth, samples, &mut stream, workspace)
            });
            let off = errors.collect::<Result<Vec<Off>, ExperimentError>>()?;
            Ok(Errors {
                errors: off.iter().map(|off| off.largest).collect(),
                root_mean_square: libm::sqrt(mean(off.iter().map(|off| off.squared))),
                bound: monte_carlo_error(samples as u64, classes, DELTA)?,
            })
        });
        Ok(Measured {
            by_samples: by_samples.collect::<Result<_, ExperimentError>>()?,
            uncertain: truths.iter().map(|t| t.standard_error).fold(0.0, f64::max),
        })
    }

    /// The line of ln(error) over ln M.
    fn line(&self, error: fn(&Errors) -> f64) -> Line {
        let errors = SAMPLES.iter().zip(&self.by_samples);
        let points = errors.map(|(&samples, e)| (ln(samples as f64), ln(error(e))));
        Line::fit(&points.collect::<Vec<_>>())
    }
}

/// Ids of the paper's table.
fn printed(samples: usize, column: &str) -> String {
    format!("tab:thm2/M={samples}/{column}")
}

/// The slope of the paper's own root mean squares, from its means and standard deviations.
fn paper_slope(lab: &Lab) -> Result<Line, ExperimentError> {
    let means = lab.paper.points(&SAMPLES, |m| printed(m, "mean"))?;
    let deviations = lab.paper.points(&SAMPLES, |m| printed(m, "sd"))?;
    let points = means.iter().zip(&deviations).map(|(mean, deviation)| {
        let square = mean.1 * mean.1 + deviation.1 * deviation.1;
        (ln(mean.0), 0.5 * ln(square))
    });
    Ok(Line::fit(&points.collect::<Vec<_>>()))
}

/// One column of results.
struct Column(Vec<Measured>);

impl Column {
    fn new(lab: &Lab, origin: Origin, progress: &dyn Progress) -> Result<Self, ExperimentError> {
        let trials = lab.trials(TRIALS, 2)?;
        let mut all = Vec::new();
        for run in lab.runs(origin, RUNS)? {
            all.push(Measured::new(lab, &run, trials)?);
            progress.step("posteriors sampled");
        }
        Ok(Column(all))
    }

    fn over(&self, at: usize, f: fn(&Errors) -> f64) -> Summary {
        Summary::of(self.0.iter().map(|m| f(&m.by_samples[at])))
    }

    fn slope(&self, error: fn(&Errors) -> f64) -> Summary {
        Summary::of(self.0.iter().map(|m| m.line(error).slope))
    }

    /// The numbers that are compared with the paper's, then the others.
    fn quantities(&self) -> [Vec<Quantity>; 2] {
        let (mut compared, mut others) = (Vec::new(), Vec::new());
        for (at, &samples) in SAMPLES.iter().enumerate() {
            let named = |what: &str| format!("{what} at M = {samples}");
            let as_printed = |what: &str, ours, column: &str| {
                Quantity::printed(named(what), ours, 5, printed(samples, column))
            };
            let bound = self.over(at, |e| e.bound).mean;
            compared.push(as_printed(
                "mean error",
                self.over(at, Errors::mean),
                "mean",
            ));
            compared.push(as_printed("bound", Summary::exact(bound), "bound"));
            others.push(as_printed(
                "standard deviation",
                self.over(at, Errors::deviation),
                "sd",
            ));
            others.push(as_printed(
                "95th percentile",
                self.over(at, Errors::top),
                "p95",
            ));
            let above = self.over(at, Errors::above);
            others.push(Quantity::new(named("errors above the bound"), above, 1));
        }
        [compared, others]
    }

    fn claims(&self, origin: Origin, agreement: &mut Agreement) {
        // Sampling fixes the root mean square; means of skewed errors may fall more slowly.
        let slope = self.slope(|e| e.root_mean_square);
        let half = 2.0 * slope.standard_error().unwrap_or(0.0);
        let (low, high) = (slope.mean - half, slope.mean + half);
        let within = low <= -0.5 && -0.5 <= high;
        let words = format!(
            "the root mean square error falls as 1/√M: our slope is in [{low:.3}, {high:.3}]"
        );
        agreement.claim(origin, within, words);
        let mut all = self.0.iter().flat_map(|m| &m.by_samples);
        let below = all.all(|e| e.top() <= e.bound);
        agreement.claim(origin, below, "every 95th percentile is below the bound");
    }
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(2 * lab.trials(RUNS, 2)? as u64);
    let author = Column::new(lab, Origin::Author, progress)?;
    let known = Column::new(lab, Origin::Known, progress)?;
    let mut agreement = Agreement::default();
    let ([errors, spreads], [known_errors, known_spreads]) =
        (author.quantities(), known.quantities());
    agreement.numbers(lab, [&errors, &known_errors])?;
    author.claims(Origin::Author, &mut agreement);
    known.claims(Origin::Known, &mut agreement);
    let all = author.0.iter().chain(&known.0);
    let uncertain = all.map(|m| m.uncertain).fold(0.0, f64::max);
    let truth = format!(
        "mean of {} samples, standard error at most {uncertain:.6}",
        lab.settings.truth
    );
    let settings = lab.described(&[
        ("trials", &lab.trials(TRIALS, 2)?),
        ("posteriors", &POSTERIORS),
        ("truth", &truth),
    ]);
    let theirs = paper_slope(lab)?;
    let sentence = format!(
        "{} The paper's own root mean squares have the slope {:.3}.",
        agreement.sentence(),
        theirs.slope
    );
    let slopes = |column: &Column| {
        vec![
            Quantity::new(
                "slope of ln(root mean square error) over ln M",
                column.slope(|e| e.root_mean_square),
                4,
            ),
            Quantity::new(
                "slope of ln(mean error) over ln M",
                column.slope(Errors::mean),
                4,
            ),
            Quantity::over("R² of the second line", &column.0, 4, |m| {
                m.line(Errors::mean).r_squared
            }),
        ]
    };
    let mut outcome = EXPERIMENT.outcome(settings, sentence);
    outcome.statements = agreement.statements();
    let table = |id: &str, title: &str, columns| compared(&lab.paper, id, title, columns);
    outcome.tables = vec![
        table(
            "T2.error",
            &format!(
                "Error of a factor, the largest over the classes; bound √(ln(2|Y|/δ)/(2M)) at δ = \
                 {DELTA}"
            ),
            [&errors, &known_errors],
        )?,
        table(
            "T2.spread",
            "How the errors of single factors spread",
            [&spreads, &known_spreads],
        )?,
        table(
            "T2.slope",
            &format!(
                "The rate: theory has a slope of −1/2, the paper's root mean squares one of {:.4} with R² = {:.4}",
                theirs.slope, theirs.r_squared
            ),
            [&slopes(&author), &slopes(&known)],
        )?,
    ];
    outcome.figures.push(figure(lab, &author, &known)?);
    Ok(outcome)
}

fn figure(lab: &Lab, author: &Column, known: &Column) -> Result<Figure, ExperimentError> {
    let ours = |column: &Column, f: fn(&Errors) -> f64| -> Vec<(f64, f64)> {
        let points = SAMPLES.iter().enumerate();
        let points = points.map(|(at, &samples)| (samples as f64, column.over(at, f).mean));
        points.collect()
    };
    let paper = |column: &str| lab.paper.points(&SAMPLES, |m| printed(m, column));
    let means = ours(author, Errors::mean);
    let normalized = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        let scale = |&(samples, e): &(f64, f64)| (samples, e * libm::sqrt(samples));
        points.iter().map(scale).collect()
    };
    let tops = ours(author, Errors::top);
    // A line of slope −1/2 between our two curves, so that neither hides it.
    let middle = SAMPLES.len() / 2;
    let height = libm::sqrt(means[middle].1 * tops[middle].1);
    let guide = means
        .iter()
        .map(|p| (p.0, height * libm::sqrt(means[middle].0 / p.0)));
    let marks = SAMPLES.map(|samples| samples as f64);
    let others = ours(known, Errors::mean);
    let left = Panel::new(
        "Error of a factor",
        Axis::log("samples M").marked(&marks),
        Axis::log("error (probability)"),
        vec![
            Series::dashed("slope −1/2", Role::Guide, guide),
            Series::line("mean, author's data", Role::Ours, means.clone()),
            Series::line("95th percentile, author's data", Role::OursToo, tops),
            Series::line("mean, known posterior", Role::OursAlso, others.clone()),
            Series::points("mean, paper", Role::Paper, paper("mean")?),
            Series::points("95th, paper", Role::PaperToo, paper("p95")?),
            Series::dashed("bound", Role::Claimed, ours(author, |e| e.bound)),
        ],
    );
    let right = Panel::new(
        format!(
            "Mean error · √M (our slope {:.3})",
            author.slope(Errors::mean).mean
        ),
        Axis::log("samples M").marked(&marks),
        Axis::linear("mean error · √M (probability)"),
        vec![
            Series::line("author's data", Role::Ours, normalized(&means)),
            Series::line("known posterior", Role::OursAlso, normalized(&others)),
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
