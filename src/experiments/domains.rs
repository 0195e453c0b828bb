//! All domains, all ways of stage 4, beside the exact Bayes posterior.

use rayon::prelude::*;

use super::{BINS, Cell, Experiment, ExperimentError, Lab, Outcome, Progress, Table, Trained, Way};
use crate::aggregate::Method;
use crate::calibration::{CalibrationError, Evaluation};
use crate::data::{DOMAINS, EMBEDDING};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "domains",
    title: "Eight synthetic domains against the exact Bayes posterior",
    run,
};

/// Fresh entities in each domain; with 2000 the standard error of an accuracy is at most 0.011.
const TEST: u64 = 2000;

/// The ways that are compared, in the order of the table's columns.
const WAYS: [Way; 5] = [
    Way::Formula(Method::Spn),
    Way::Learned,
    Way::Formula(Method::Uniform),
    Way::Formula(Method::PriorCorrected),
    Way::Exact,
];

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(DOMAINS.len() as u64);
    let evaluations: Result<Vec<Vec<Evaluation>>, ExperimentError> = DOMAINS
        .par_iter()
        .map(|domain| {
            let evaluated = evaluate(lab.trained(domain.name)?);
            progress.step(domain.name);
            evaluated
        })
        .collect();
    outcome(lab, &evaluations?)
}

/// One evaluation for each of [`WAYS`].
fn evaluate(trained: &Trained) -> Result<Vec<Evaluation>, ExperimentError> {
    let test = trained.test(0, TEST)?;
    let ways = WAYS.iter().map(|&way| trained.evaluate(way, &test));
    ways.collect()
}

fn outcome(lab: &Lab, evaluations: &[Vec<Evaluation>]) -> Result<Outcome, ExperimentError> {
    let mut columns = vec!["domain".to_owned()];
    for measure in ["accuracy", "ECE"] {
        columns.extend(WAYS.iter().map(|way| format!("{measure} {}", way.name())));
    }
    let mut rows = Vec::new();
    let (mut best, mut gaps) = (0, 0);
    for (domain, evaluations) in DOMAINS.iter().zip(evaluations) {
        let measures = |f: fn(&Evaluation) -> Result<f64, CalibrationError>| {
            let values: Result<Vec<f64>, _> = evaluations.iter().map(f).collect();
            values
        };
        let accuracy = measures(Evaluation::accuracy)?;
        let ece = measures(Evaluation::ece)?;
        let mut row = vec![Cell::text(domain.name)];
        row.extend(accuracy.iter().chain(&ece).map(|&v| Cell::number(v, 3)));
        rows.push(row);
        let exact = WAYS.len() - 1;
        best += usize::from(accuracy[..exact].iter().all(|&a| a <= accuracy[exact]));
        gaps += usize::from(ece[0] > ece[exact]);
    }
    let n = evaluations.len();
    let mut settings = lab.described();
    settings.push(("test entities".to_owned(), TEST.to_string()));
    let sentence = format!(
        "No way is more accurate than the exact posterior in {best} of {n} domains; the product \
         (spn) is calibrated worse than it in {gaps} of {n}."
    );
    let mut outcome = EXPERIMENT.outcome(settings, sentence);
    outcome.tables.push(Table {
        id: "domains".into(),
        title: format!(
            "Test accuracy and expected calibration error ({BINS} bins) on {TEST} fresh entities, \
             trained on {}",
            lab.settings.entities
        ),
        columns,
        rows,
    });
    Ok(outcome)
}

// A row of the synthetic data is an embedding of the size that the models are made for.
const _: () = assert!(EMBEDDING == 384);
