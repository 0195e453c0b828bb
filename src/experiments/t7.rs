//! Theorem 7: how the variance of an answer splits into epistemic and aleatoric parts.
//!
//! Latents are drawn from the mixture of an entity's first `K` posteriors, weighted by the
//! reference's confidences, and decoded. The identity `total = epistemic + aleatoric` is checked
//! with each part from its own formula, in double and in single precision; in exact arithmetic it
//! holds for any numbers, so that its error measures rounding and nothing else.

use rayon::prelude::*;

use super::{
    Agreement, Experiment, ExperimentError, Lab, Origin, Outcome, Progress, Quantity, Run, Summary,
    TestEntity, Trained, compared,
};
use crate::answer::uncertainty_stream;
use crate::exhibit::{Axis, Figure, Panel, Role, Series};
use crate::latent::{Decoder, FactorWorkspace};
use crate::uncertainty::{
    GaussianMixture, UncertaintyError, VarianceParts, mixture_uncertainty, variance_decomposition,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "T7",
    title: "Epistemic and aleatoric variance",
    claims: &["T7"],
    run,
};

/// Rows of the paper's table.
const COUNTS: [usize; 4] = [1, 2, 3, 5];
/// Test entities, as in the paper.
const ENTITIES: u64 = 50;
/// Samples of a query, as in the paper.
const SAMPLES: usize = 100;
/// Runs with fresh entities where they can be drawn.
const TRIALS: usize = 5;

/// The parts, in the order of the columns.
const PARTS: [&str; 3] = ["total", "epistemic", "aleatoric"];

fn parts<S: Copy>(parts: &VarianceParts<S>) -> [S; 3] {
    [parts.total, parts.epistemic, parts.aleatoric]
}

/// What one entity shows at one count.
struct Split {
    parts: [f64; 3],
    /// Monte Carlo standard errors of the parts.
    errors: [f64; 3],
    /// `|total − epistemic − aleatoric| / total` in double and in single precision.
    off: [f64; 2],
}

/// `|total − epistemic − aleatoric| / total`; zero where there is no difference.
fn relative_error([total, epistemic, aleatoric]: [f64; 3]) -> f64 {
    let off = (total - (epistemic + aleatoric)).abs();
    if off == 0.0 { 0.0 } else { off / total }
}

fn split(
    trained: &Trained,
    entity: &TestEntity,
    count: usize,
    workspace: &mut FactorWorkspace,
) -> Result<Split, ExperimentError> {
    let components = entity.posteriors().take(count).cloned().collect();
    let evidence = &entity.evidence;
    let mixture = GaussianMixture::new(&evidence.weights[..count], components)?;
    let mut stream = uncertainty_stream(trained.seed, &evidence.name);
    let decoder = &trained.decoder;
    let found = mixture_uncertainty(&mixture, decoder, SAMPLES, &mut stream, workspace)?;
    let single: Vec<f32> = workspace
        .probabilities()
        .iter()
        .map(|&p| p as f32)
        .collect();
    let single =
        variance_decomposition(&single, decoder.classes()).map_err(UncertaintyError::Shape)?;
    let errors = found.standard_errors.map(|e| parts(&e.variance));
    Ok(Split {
        parts: parts(&found.variance),
        errors: errors.unwrap_or([f64::NAN; 3]),
        off: [
            relative_error(parts(&found.variance)),
            relative_error(parts(&single).map(f64::from)),
        ],
    })
}

/// One number of items in one run: means over the entities.
struct Row {
    parts: [f64; 3],
    /// Standard deviations over the entities.
    spreads: [f64; 3],
    /// Mean Monte Carlo standard error of the total.
    noise: f64,
    /// Largest relative error of the identity, in double and in single precision.
    off: [f64; 2],
}

fn row(trained: &Trained, entities: &[TestEntity], count: usize) -> Result<Row, ExperimentError> {
    let splits: Result<Vec<Split>, ExperimentError> = entities
        .par_iter()
        .map_init(FactorWorkspace::default, |workspace, entity| {
            split(trained, entity, count, workspace)
        })
        .collect();
    let splits = splits?;
    let summary = |f: &dyn Fn(&Split) -> f64| Summary::of(splits.iter().map(f));
    let parts = [0, 1, 2].map(|part| summary(&|s| s.parts[part]));
    Ok(Row {
        parts: parts.map(|part| part.mean),
        spreads: parts.map(|part| part.deviation.unwrap_or(0.0)),
        noise: summary(&|s| s.errors[0]).mean,
        off: [0, 1].map(|p| splits.iter().map(|s| s.off[p]).fold(0.0, f64::max)),
    })
}

/// One column of results: for each number of items one row a run.
struct Column(Vec<Vec<Row>>);

impl Column {
    fn new(lab: &Lab, origin: Origin, progress: &dyn Progress) -> Result<Self, ExperimentError> {
        let runs: Vec<Run<'_>> = lab.runs(origin, TRIALS)?;
        progress.step("models trained");
        let mut rows: Vec<Vec<Row>> = COUNTS.iter().map(|_| Vec::new()).collect();
        for run in runs {
            let entities = run.test(ENTITIES)?;
            for (rows, count) in rows.iter_mut().zip(COUNTS) {
                rows.push(row(run.trained, &entities, count)?);
            }
            progress.step("entities");
        }
        Ok(Column(rows))
    }

    fn part(&self, at: usize, part: usize) -> Summary {
        Summary::of(self.0[at].iter().map(|row| row.parts[part]))
    }

    fn means(&self, part: usize) -> Vec<f64> {
        (0..COUNTS.len())
            .map(|at| self.part(at, part).mean)
            .collect()
    }

    fn largest_error(&self, precision: usize) -> f64 {
        let all = self.0.iter().flatten();
        all.map(|row| row.off[precision]).fold(0.0, f64::max)
    }

    /// The parts, then what the paper does not print.
    fn quantities(&self) -> [Vec<Quantity>; 2] {
        let (mut parts, mut others) = (Vec::new(), Vec::new());
        for (at, &count) in COUNTS.iter().enumerate() {
            for (part, name) in PARTS.iter().enumerate() {
                let what = format!("{name} at K = {count}");
                parts.push(Quantity::printed(
                    what,
                    self.part(at, part),
                    4,
                    id(count, name),
                ));
            }
            let rows = &self.0[at];
            let named = |what: &str| format!("{what} at K = {count}");
            for (part, name) in PARTS.iter().enumerate() {
                let what = named(&format!("deviation of the {name} variance over entities"));
                others.push(Quantity::over(what, rows, 4, |row| row.spreads[part]));
            }
            let noise = named("Monte Carlo error of the total");
            others.push(Quantity::over(noise, rows, 4, |row| row.noise));
            for (precision, (name, unit)) in UNITS.iter().enumerate() {
                let what = named(&format!("error of the identity, {name}"));
                others.push(Quantity::over(what, rows, 4, |row| {
                    row.off[precision] / unit
                }));
            }
        }
        [parts, others]
    }

    fn claims(
        &self,
        lab: &Lab,
        origin: Origin,
        agreement: &mut Agreement,
    ) -> Result<(), ExperimentError> {
        let limit = lab.paper.number("sec:exp-thm7/decomposition-error")?.value;
        for (precision, name) in ["double", "single"].iter().enumerate() {
            let largest = self.largest_error(precision);
            let percent = 100.0 * largest;
            let words = format!("the parts add up within {percent:.1e} % in {name} precision");
            agreement.claim(origin, largest < limit, words);
        }
        let aleatoric = self.means(2);
        let (least, most) = (
            aleatoric.iter().copied().fold(f64::INFINITY, f64::min),
            aleatoric.iter().copied().fold(0.0, f64::max),
        );
        let stable = lab.paper.number("sec:exp-thm7/aleatoric")?;
        agreement.claim(
            origin,
            stable.low <= least && most <= stable.high,
            format!("the aleatoric variance is {least:.3} to {most:.3} over K"),
        );
        let epistemic = self.means(1);
        let rises = epistemic.windows(2).take(2).all(|w| w[0] < w[1]);
        let falls = epistemic.windows(2).skip(2).all(|w| w[0] > w[1]);
        let path: Vec<String> = epistemic.iter().map(|e| format!("{e:.3}")).collect();
        let path = path.join(", ");
        let words = format!("the epistemic variance goes {path} over K = 1, 2, 3, 5");
        agreement.claim(origin, rises && falls, words);
        Ok(())
    }
}

/// How errors of the identity are shown.
const UNITS: [(&str, f64); 2] = [
    ("largest, double (10⁻¹² %)", 1e-14),
    ("largest, single (10⁻³ %)", 1e-5),
];

fn id(count: usize, column: &str) -> String {
    format!("tab:thm7/K={count}/{column}")
}

/// The aleatoric variance for each number of items, with the weights of the author's implementation.
fn with_their_weights(lab: &Lab) -> Result<[f64; COUNTS.len()], ExperimentError> {
    let run = lab.reference_run()?;
    let entities = run.test(ENTITIES)?;
    let mut variances = [0.0; COUNTS.len()];
    for (variance, count) in variances.iter_mut().zip(COUNTS) {
        *variance = row(run.trained, &entities, count)?.parts[2];
    }
    Ok(variances)
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(2 + 2 * lab.trials(TRIALS, 1)? as u64);
    let author = Column::new(lab, Origin::Author, progress)?;
    let known = Column::new(lab, Origin::Known, progress)?;
    let ([parts, others], [known_parts, known_others]) = (author.quantities(), known.quantities());
    let mut agreement = Agreement::default();
    agreement.numbers(lab, [&parts, &known_parts])?;
    author.claims(lab, Origin::Author, &mut agreement)?;
    known.claims(lab, Origin::Known, &mut agreement)?;
    let settings = lab.described(&[
        ("test entities a run", &ENTITIES),
        ("samples of a query", &SAMPLES),
    ]);
    let theirs = with_their_weights(lab)?;
    let shown = theirs.map(|variance| format!("{variance:.3}")).join(", ");
    let sentence = format!(
        "{} Variances depend on how sure the decoder is: with a model that the author's own \
         implementation trained, the aleatoric one is {shown} over K = 1, 2, 3, 5.",
        agreement.sentence()
    );
    let mut outcome = EXPERIMENT.outcome(settings, sentence);
    outcome.statements = agreement.statements();
    let table = |id: &str, title: &str, columns| compared(&lab.paper, id, title, columns);
    outcome.tables = vec![
        table(
            "T7.variance",
            &format!(
                "Variance of the answer and its parts, {SAMPLES} samples, mean over {ENTITIES} \
                 entities; the paper's ± is over entities"
            ),
            [&parts, &known_parts],
        )?,
        table(
            "T7.identity",
            "How the variances spread over entities, and the relative error of total = epistemic + \
             aleatoric, which is zero in exact arithmetic",
            [&others, &known_others],
        )?,
    ];
    outcome.figures.push(figure(lab, &author, &known)?);
    Ok(outcome)
}

fn figure(lab: &Lab, author: &Column, known: &Column) -> Result<Figure, ExperimentError> {
    let at = |values: Vec<f64>| -> Vec<(f64, f64)> {
        COUNTS.iter().map(|&k| k as f64).zip(values).collect()
    };
    let ours = |part: usize| at(author.means(part));
    let errors = |part: usize| -> Vec<f64> {
        let all = (0..COUNTS.len()).map(|at| author.part(at, part));
        all.map(|s| s.deviation.unwrap_or(0.0)).collect()
    };
    let printed = |part: usize| lab.paper.points(&COUNTS, |k| id(k, PARTS[part]));
    let x = || Axis::linear("items K").marked(&COUNTS.map(|k| k as f64));
    let y = || Axis::linear("variance");
    let stack = |aleatoric, total| {
        vec![
            Series::area("aleatoric", Role::OursAlso, aleatoric),
            Series::area("epistemic, on top", Role::Ours, total),
        ]
    };
    let compared = |title: &str, part: usize, points| {
        Panel::new(
            title.to_owned(),
            x(),
            y(),
            vec![
                Series::line("author's data", Role::Ours, ours(part)).with_errors(errors(part)),
                Series::line("known posterior", Role::OursToo, at(known.means(part))),
                Series::points("paper", Role::Paper, points),
            ],
        )
    };
    let panels = vec![
        Panel::new(
            "Stacked parts, author's data",
            x(),
            y(),
            stack(ours(2), ours(0)),
        ),
        Panel::new(
            "Stacked parts, paper (another scale)",
            x(),
            y(),
            stack(printed(2)?, printed(0)?),
        ),
        compared("Epistemic", 1, printed(1)?),
        compared("Aleatoric", 2, printed(2)?),
    ];
    Ok(Figure::new(
        "T7",
        "Variance of the answer, split into epistemic and aleatoric parts, against the \
                  number of items; bars are standard deviations of one run.",
        panels,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::Method;
    use crate::answer::Answerer;
    use crate::synthetic::AuthorData;

    /// The parts are those that an answer states.
    #[test]
    fn variances_are_those_of_the_answers_that_ship() {
        let data = AuthorData::main().unwrap();
        let trained = Trained::with_author_weights(data, 1).unwrap();
        let entity = &trained.test(0, 1).unwrap()[0];
        let shipped = Answerer::builder(Method::Spn)
            .model(trained.model.clone())
            // An answer draws as many for each of its five items.
            .samples(SAMPLES / entity.evidence.factors.len())
            .seed(trained.seed)
            .build()
            .unwrap();
        let items = entity
            .embeddings
            .chunks(crate::synthetic::EMBEDDING)
            .enumerate();
        let items: Vec<_> = items
            .map(|(i, row)| serde_json::json!({"id": format!("e{i}"), "embedding": row}))
            .collect();
        let line = serde_json::json!({"entity": entity.evidence.name, "evidence": items});
        let answer = shipped.answer(line.to_string()).unwrap();
        let stated = answer.uncertainty.unwrap();
        let ours = split(&trained, entity, 5, &mut FactorWorkspace::default()).unwrap();
        assert_eq!(ours.parts, parts(&stated.variance));
    }

    #[test]
    fn the_identity_fails_where_a_part_is_wrong() {
        assert_eq!(relative_error([0.5, 0.25, 0.25]), 0.0);
        assert_eq!(relative_error([0.0; 3]), 0.0);
        assert_eq!(relative_error([0.5, 0.25, 0.125]), 0.25);
        // Negative control: with 1/(M − 1) in the epistemic part, as a sample variance has it, the
        // parts of two rows no longer add up.
        let rows = [0.9, 0.1, 0.3, 0.7];
        let right = variance_decomposition(&rows, 2).unwrap();
        assert!(relative_error(parts(&right)) <= 36.0 * f64::EPSILON / 2.0 / right.total);
        let wrong = [right.total, 2.0 * right.epistemic, right.aleatoric];
        assert!(relative_error(wrong) > 0.1);
    }
}
