//! All domains, several methods of aggregation, beside the exact Bayes posterior.

use rayon::prelude::*;

use super::{
    BINS, Contender, Experiment, ExperimentError, Findings, Lab, Outcome, Progress, Summary,
    Trained, mean,
};
use crate::aggregate::Method;
use crate::calibration::{CalibrationError, Evaluation};
use crate::exhibit::{Cell, Table};
use crate::synthetic::{DOMAINS, EMBEDDING};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "domains",
    title: "Eight synthetic domains against the exact Bayes posterior",
    claims: &["X.mean-accuracy"],
    run,
};

/// Fresh entities of each domain in one trial, and trials.
const TEST: u64 = 500;
const TRIALS: usize = 2;

/// What is compared, in the order of the table's columns.
const CONTENDERS: [Contender; 5] = [
    Contender::Method(Method::Spn),
    Contender::Method(Method::Learned),
    Contender::Method(Method::Uniform),
    Contender::Method(Method::PriorCorrected),
    Contender::Exact,
];
const SPN: usize = 0;
const EXACT: usize = CONTENDERS.len() - 1;

/// Accuracy and calibration error of each of [`CONTENDERS`] in one domain.
struct Judged {
    accuracy: Vec<Summary>,
    ece: Vec<Summary>,
}

fn judge(trained: &Trained, trials: usize) -> Result<Judged, ExperimentError> {
    let mut evaluations: Vec<Vec<Evaluation>> = CONTENDERS.iter().map(|_| Vec::new()).collect();
    for trial in 0..trials as u64 {
        let test = trained.test(trial * TEST, TEST)?;
        for (&contender, all) in CONTENDERS.iter().zip(&mut evaluations) {
            all.push(trained.evaluate(contender, &test)?);
        }
    }
    let measure = |f: fn(&Evaluation) -> Result<f64, CalibrationError>| {
        let rows = evaluations.iter().map(|all| {
            let values: Result<Vec<f64>, _> = all.iter().map(f).collect();
            Ok(Summary::of(values?))
        });
        rows.collect::<Result<Vec<Summary>, ExperimentError>>()
    };
    Ok(Judged {
        accuracy: measure(Evaluation::accuracy)?,
        ece: measure(Evaluation::ece)?,
    })
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    let trials = lab.trials(TRIALS, 1)?;
    progress.expect(DOMAINS.len() as u64);
    let judged: Result<Vec<Judged>, ExperimentError> = DOMAINS
        .par_iter()
        .map(|domain| {
            let judged = judge(lab.trained(domain.name)?, trials);
            progress.step(domain.name);
            judged
        })
        .collect();
    outcome(lab, &judged?, trials)
}

fn outcome(lab: &Lab, judged: &[Judged], trials: usize) -> Result<Outcome, ExperimentError> {
    let settings = lab.described(&[("trials", &trials), ("test entities a trial", &TEST)]);
    let findings = findings(lab, judged)?;
    let mut outcome = EXPERIMENT.outcome(settings, sentence(&findings, judged));
    outcome.statements = findings.statements();
    outcome.tables = vec![
        table(lab, judged, "accuracy", "Test accuracy", |j| &j.accuracy)?,
        table(
            lab,
            judged,
            "ece",
            &format!("Expected calibration error ({BINS} bins)"),
            |j| &j.ece,
        )?,
    ];
    Ok(outcome)
}

/// Where the paper prints a domain's accuracy, or the mean over all domains. Compliance it gives
/// elsewhere, of another method.
fn printed(lab: &Lab, measure: &str, name: &str) -> Result<Cell, ExperimentError> {
    let id = match (measure, name) {
        ("accuracy", "compliance") => return Ok(Cell::Empty),
        (_, "mean") => format!("sec:cross-domain/{measure}"),
        ("accuracy", domain) => format!("sec:cross-domain/{domain}"),
        _ => return Ok(Cell::Empty),
    };
    lab.paper.cell(&id)
}

fn table(
    lab: &Lab,
    judged: &[Judged],
    measure: &str,
    title: &str,
    values: fn(&Judged) -> &Vec<Summary>,
) -> Result<Table, ExperimentError> {
    let mut table = Table::new(
        format!("domains.{measure}"),
        format!(
            "{title} on {TEST} fresh entities a trial, trained on {}; ± is the standard deviation \
             of one trial",
            lab.settings.entities
        ),
    );
    let mut add = |name: &str, cells: Vec<Cell>| -> Result<(), ExperimentError> {
        let names = CONTENDERS.iter().map(|contender| contender.name());
        let row = std::iter::once(("domain", Cell::text(name))).chain(names.zip(cells));
        table.row(row.chain([("paper, spn", printed(lab, measure, name)?)]));
        Ok(())
    };
    for (domain, j) in DOMAINS.iter().zip(judged) {
        add(domain.name, values(j).iter().map(|v| v.cell(3)).collect())?;
    }
    let over_domains = |column: usize| mean(judged.iter().map(|j| values(j)[column].mean));
    let means = (0..CONTENDERS.len()).map(|column| Cell::number(over_domains(column), 3));
    add("mean", means.collect())?;
    Ok(table)
}

fn findings(lab: &Lab, judged: &[Judged]) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    for (domain, j) in DOMAINS.iter().zip(judged) {
        if let Ok(number) = lab
            .paper
            .number(&format!("sec:cross-domain/{}", domain.name))
        {
            let what = format!("accuracy in {}", domain.name);
            findings.number(&what, &j.accuracy[SPN], &number);
        }
    }
    let over_domains = |f: fn(&Judged) -> &Vec<Summary>| {
        Summary::exact(mean(judged.iter().map(|j| f(j)[SPN].mean)))
    };
    for (what, id, ours) in [
        ("mean accuracy", "accuracy", over_domains(|j| &j.accuracy)),
        ("mean ECE", "ece", over_domains(|j| &j.ece)),
    ] {
        let number = lab.paper.number(&format!("sec:cross-domain/{id}"))?;
        findings.number(what, &ours, &number);
    }
    Ok(findings)
}

fn sentence(findings: &Findings, judged: &[Judged]) -> String {
    let (agree, all) = findings.counts();
    let n = judged.len();
    let count = |holds: fn(&Judged) -> bool| judged.iter().filter(|j| holds(j)).count();
    let best = count(|j| {
        let exact = j.accuracy[EXACT].mean;
        j.accuracy[..EXACT].iter().all(|a| a.mean <= exact)
    });
    let worse = count(|j| j.ece[SPN].mean > j.ece[EXACT].mean);
    format!(
        "{agree} of {all} numbers of the paper agree with our runs. No method is more accurate than the exact posterior in {best} of {n} domains; the \
         product (spn) is calibrated worse than it in {worse} of {n}.",
    )
}

// A row of the synthetic data is an embedding of the size that the models are made for.
const _: () = assert!(EMBEDDING == 384);
