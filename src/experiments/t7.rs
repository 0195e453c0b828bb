//! Theorem 7: how the variance of an answer splits into epistemic and aleatoric parts.
//!
//! Latents are drawn from the mixture of an entity's first `K` posteriors, weighted by the
//! reference's confidences, and decoded. The identity `total = epistemic + aleatoric` is checked
//! with each part from its own formula, in double and in single precision; in exact arithmetic it
//! holds for any numbers, so that its error measures rounding and nothing else.

use rayon::prelude::*;

use super::{
    Experiment, ExperimentError, Findings, Lab, Outcome, Progress, Summary, TestEntity, Trained,
};
use crate::answer::uncertainty_stream;
use crate::exhibit::{Axis, Cell, Figure, Panel, Role, Series, Table};
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

/// One row: one number of items.
struct Row {
    count: usize,
    parts: [Summary; 3],
    /// Mean Monte Carlo standard error of the total.
    noise: f64,
    /// Mean and largest relative error of the identity, in double and in single precision.
    off: [(f64, f64); 2],
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
    let off = [0, 1].map(|precision| {
        let of = |s: &Split| s.off[precision];
        (summary(&of).mean, splits.iter().map(of).fold(0.0, f64::max))
    });
    Ok(Row {
        count,
        parts: [0, 1, 2].map(|part| summary(&|s| s.parts[part])),
        noise: summary(&|s| s.errors[0]).mean,
        off,
    })
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(1 + COUNTS.len() as u64);
    let trained = lab.compliance()?;
    progress.step("model");
    let entities = trained.test(0, ENTITIES)?;
    let mut rows = Vec::new();
    for count in COUNTS {
        rows.push(row(trained, &entities, count)?);
        progress.step("items");
    }
    let settings = lab.described(&[
        ("test entities", &ENTITIES),
        ("samples of a query", &SAMPLES),
    ]);
    let mut outcome = EXPERIMENT.outcome(settings, findings(lab, &rows)?.sentence());
    outcome.tables.push(parts_table(lab, &rows)?);
    outcome.tables.push(identity_table(lab, &rows)?);
    outcome.figures.push(figure(lab, &rows)?);
    Ok(outcome)
}

fn id(count: usize, column: &str) -> String {
    format!("tab:thm7/K={count}/{column}")
}

fn parts_table(lab: &Lab, rows: &[Row]) -> Result<Table, ExperimentError> {
    let mut table = Table::new(
        "T7.variance",
        format!(
            "Variance of the answer and its parts, {SAMPLES} samples; ± standard deviation over \
             {ENTITIES} entities"
        ),
    );
    for row in rows {
        let mut cells = vec![("K".to_owned(), Cell::count(row.count))];
        for (part, ours) in PARTS.iter().zip(&row.parts) {
            let paper = lab.paper.cell(&id(row.count, part))?;
            cells.push((format!("{part} in the paper"), paper));
            cells.push((format!("{part} here"), ours.cell(4)));
        }
        let noise = "Monte Carlo error of the total".to_owned();
        cells.push((noise, Cell::number(row.noise, 4)));
        table.row(cells);
    }
    Ok(table)
}

fn identity_table(lab: &Lab, rows: &[Row]) -> Result<Table, ExperimentError> {
    let title = "Relative error of total = epistemic + aleatoric; in exact arithmetic it is zero";
    let mut table = Table::new("T7.identity", title);
    for row in rows {
        let printed = lab.paper.number(&id(row.count, "error"))?;
        let in_units = |unit: f64, x: f64| Cell::number(x / unit, 4);
        let [double, single] = row.off;
        table.row([
            ("K", Cell::count(row.count)),
            ("in the paper (%)", Cell::number(100.0 * printed.value, 3)),
            ("double, mean (10⁻¹² %)", in_units(1e-14, double.0)),
            ("double, largest (10⁻¹² %)", in_units(1e-14, double.1)),
            ("single, mean (10⁻³ %)", in_units(1e-5, single.0)),
            ("single, largest (10⁻³ %)", in_units(1e-5, single.1)),
        ]);
    }
    Ok(table)
}

fn findings(lab: &Lab, rows: &[Row]) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    for row in rows {
        for (part, ours) in PARTS.iter().zip(&row.parts) {
            let printed = lab.paper.number(&id(row.count, part))?;
            // The printed spread is over entities, so means over entities are compared by their
            // standard error.
            let ours = Summary {
                deviation: ours.standard_error(),
                ..*ours
            };
            findings.number(&format!("{part} at K = {}", row.count), &ours, &printed);
        }
    }
    let limit = lab.paper.number("sec:exp-thm7/decomposition-error")?.value;
    for (precision, name) in ["double", "single"].iter().enumerate() {
        let largest = rows.iter().map(|r| r.off[precision].1).fold(0.0, f64::max);
        findings.claim(
            largest < limit,
            format!(
                "the parts add up within {:.1e} % in {name} precision",
                100.0 * largest
            ),
        );
    }
    let means = |part: usize| rows.iter().map(move |r| r.parts[part].mean);
    let aleatoric: Vec<f64> = means(2).collect();
    let (least, most) = (
        aleatoric.iter().copied().fold(f64::INFINITY, f64::min),
        aleatoric.iter().copied().fold(0.0, f64::max),
    );
    let stable = lab.paper.number("sec:exp-thm7/aleatoric")?;
    findings.claim(
        stable.low <= least && most <= stable.high,
        format!("the aleatoric variance is {least:.3} to {most:.3} over K"),
    );
    let epistemic: Vec<f64> = means(1).collect();
    let rises = epistemic.windows(2).take(2).all(|w| w[0] < w[1]);
    let falls = epistemic.windows(2).skip(2).all(|w| w[0] > w[1]);
    findings.claim(
        rises && falls,
        format!(
            "the epistemic variance goes {} over K = 1, 2, 3, 5",
            epistemic
                .iter()
                .map(|e| format!("{e:.3}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    Ok(findings)
}

fn figure(lab: &Lab, rows: &[Row]) -> Result<Figure, ExperimentError> {
    let ours = |part: usize| -> Vec<(f64, f64)> {
        let point = |r: &Row| (r.count as f64, r.parts[part].mean);
        rows.iter().map(point).collect()
    };
    let errors = |part: usize| -> Vec<f64> {
        let error = |r: &Row| r.parts[part].standard_error().unwrap_or(0.0);
        rows.iter().map(error).collect()
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
    let compared = |title: &str, part: usize, role, points| {
        Panel::new(
            title.to_owned(),
            x(),
            y(),
            vec![
                Series::line("here", role, ours(part)).with_errors(errors(part)),
                Series::points("paper", Role::Paper, points),
            ],
        )
    };
    let panels = vec![
        Panel::new("Stacked parts, here", x(), y(), stack(ours(2), ours(0))),
        Panel::new(
            "Stacked parts, paper (another scale)",
            x(),
            y(),
            stack(printed(2)?, printed(0)?),
        ),
        compared("Epistemic", 1, Role::Ours, printed(1)?),
        compared("Aleatoric", 2, Role::OursAlso, printed(2)?),
    ];
    Ok(Figure::new(
        "T7",
        "Variance of the answer, split into epistemic and aleatoric parts, against the \
                  number of items; bars are standard errors over entities.",
        panels,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

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
