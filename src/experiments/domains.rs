//! All domains, all ways of stage 4, beside the exact Bayes posterior.

use std::fmt;
use std::ops::ControlFlow;

use rayon::prelude::*;

use super::{Cell, Outcome, Table};
use crate::aggregate::{AggregateError, Method, aggregate};
use crate::calibration::{CalibrationError, Evaluation};
use crate::data::{
    Corpus, DOMAINS, Domain, EMBEDDING, FitError, FitSettings, Generator, Model, Split, fit,
};
use crate::latent::random::Stream;
use crate::latent::{
    Confidence, DecoderWorkspace, FACTOR_PURPOSE, FactorError, FactorWorkspace, monte_carlo_factor,
};
use crate::learn::{AggregatorError, TrainSettings, VaeError};
use crate::simplex::{Distribution, SimplexError};

/// Sizes of the experiment.
#[derive(Clone, Debug)]
pub struct DomainsSettings {
    /// Entities to train on, split by [`Split`].
    pub entities: u64,
    /// Further entities to judge by; fresh ones cost nothing.
    pub test: u64,
    /// At most this many epochs.
    pub epochs: usize,
    /// Samples behind a factor.
    pub samples: usize,
    /// Seed of data and training.
    pub seed: u64,
}

impl Default for DomainsSettings {
    /// 900 entities, split 630/135/135, as behind the reference data; the paper's M = 16.
    fn default() -> Self {
        DomainsSettings {
            entities: 900,
            test: 2000,
            epochs: 50,
            samples: 16,
            seed: 1,
        }
    }
}

/// Bins of the calibration error.
const BINS: usize = 10;

/// Why the experiment could not be run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DomainsError {
    /// Training failed.
    Fit(FitError),
    /// An item could not be encoded.
    Encode(VaeError),
    /// A factor could not be computed.
    Factor(FactorError),
    /// Factors could not be combined.
    Aggregate(AggregateError),
    /// The learned aggregation failed.
    Learned(AggregatorError),
    /// A posterior is no distribution.
    Posterior(SimplexError),
    /// Predictions could not be judged.
    Calibration(CalibrationError),
}

impl fmt::Display for DomainsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DomainsError::Fit(error) => error.fmt(f),
            DomainsError::Encode(error) => error.fmt(f),
            DomainsError::Factor(error) => error.fmt(f),
            DomainsError::Aggregate(error) => error.fmt(f),
            DomainsError::Learned(error) => error.fmt(f),
            DomainsError::Posterior(error) => error.fmt(f),
            DomainsError::Calibration(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DomainsError {}

/// The ways that are compared, in the order of the table's columns.
pub const WAYS: [&str; 5] = ["spn", "learned", "uniform", "prior-corrected", "exact"];

/// Accuracy and calibration of each way in one domain.
#[derive(Clone, Debug)]
pub struct DomainResult {
    /// The domain.
    pub domain: &'static Domain,
    /// One evaluation for each of [`WAYS`].
    pub evaluations: Vec<Evaluation>,
}

/// Trains a model for a domain and judges all ways on the same fresh entities.
///
/// Factors are Monte Carlo means with the reference's confidence as weight; the prior-corrected
/// product takes weight one, for which it is the posterior if the factors are.
///
/// # Errors
/// [`DomainsError`].
pub fn run_domain(
    domain: &'static Domain,
    settings: &DomainsSettings,
) -> Result<DomainResult, DomainsError> {
    let generator = Generator::new(domain);
    let seed = settings.seed;
    let corpus = Corpus::synthetic(&generator, seed, 0, settings.entities);
    let split = Split::new(corpus.labels.len(), seed);
    let fit_settings = FitSettings {
        vae: TrainSettings {
            epochs: settings.epochs,
            seed,
            ..TrainSettings::default()
        },
        aggregator: Some(16),
        temperature: false,
    };
    let model = fit(
        &corpus,
        &split,
        &fit_settings,
        |_| ControlFlow::Continue(()),
    )
    .map_err(DomainsError::Fit)?;
    let test = Corpus::synthetic(&generator, seed, settings.entities, settings.test);
    let classes = domain.classes.len();
    let mut evaluations = Vec::new();
    for _ in WAYS {
        evaluations.push(Evaluation::new(classes, BINS).map_err(DomainsError::Calibration)?);
    }
    for entity in 0..test.labels.len() {
        let embeddings = test.entity(entity);
        let answers = answers(&model, &generator, embeddings, entity as u64, settings)?;
        for (evaluation, answer) in evaluations.iter_mut().zip(&answers) {
            let label = test.labels[entity];
            evaluation
                .add(answer, label)
                .map_err(DomainsError::Calibration)?;
        }
    }
    Ok(DomainResult {
        domain,
        evaluations,
    })
}

/// What each of [`WAYS`] says about one entity.
fn answers(
    model: &Model,
    generator: &Generator,
    embeddings: &[f32],
    entity: u64,
    settings: &DomainsSettings,
) -> Result<Vec<Distribution>, DomainsError> {
    let decoder = model.vae.decoder().map_err(DomainsError::Encode)?;
    let posteriors = model
        .vae
        .posteriors(embeddings)
        .map_err(DomainsError::Encode)?;
    let mut workspace = FactorWorkspace::default();
    let (mut factors, mut weights) = (Vec::new(), Vec::new());
    for (item, posterior) in posteriors.iter().enumerate() {
        let mut stream = Stream::new(settings.seed, FACTOR_PURPOSE, entity, item as u64);
        let samples = settings.samples;
        let factor = monte_carlo_factor(posterior, &decoder, samples, &mut stream, &mut workspace)
            .map_err(DomainsError::Factor)?;
        factors.push(factor.distribution);
        weights.push(Confidence::Reference.weight(posterior));
    }
    let combine = |method, weights: &[f64]| {
        aggregate(method, &factors, weights, model.prior.as_ref()).map_err(DomainsError::Aggregate)
    };
    let learned = match &model.aggregator {
        Some(aggregator) => {
            let answer =
                aggregator.predict(&decoder, &posteriors, &mut DecoderWorkspace::default());
            answer.map_err(DomainsError::Learned)?.distribution
        }
        None => combine(Method::Uniform, &weights)?,
    };
    let ones = vec![1.0; factors.len()];
    Ok(vec![
        combine(Method::Spn, &weights)?,
        learned,
        combine(Method::Uniform, &weights)?,
        combine(Method::PriorCorrected, &ones)?,
        generator
            .posterior(embeddings)
            .map_err(DomainsError::Posterior)?,
    ])
}

/// All eight domains, in parallel; `done` is called as each is finished.
///
/// # Errors
/// The first [`DomainsError`].
pub fn run_domains(
    settings: &DomainsSettings,
    done: impl Fn(&DomainResult) + Sync,
) -> Result<Outcome, DomainsError> {
    let results: Result<Vec<DomainResult>, DomainsError> = DOMAINS
        .par_iter()
        .map(|domain| run_domain(domain, settings).inspect(&done))
        .collect();
    outcome(&results?, settings)
}

fn outcome(results: &[DomainResult], settings: &DomainsSettings) -> Result<Outcome, DomainsError> {
    let mut columns = vec!["domain".to_owned()];
    for measure in ["accuracy", "ECE"] {
        columns.extend(WAYS.iter().map(|way| format!("{measure} {way}")));
    }
    let mut rows = Vec::new();
    let (mut best, mut gaps) = (0, 0);
    for result in results {
        let measures = |f: fn(&Evaluation) -> Result<f64, CalibrationError>| {
            let values: Result<Vec<f64>, _> = result.evaluations.iter().map(f).collect();
            values.map_err(DomainsError::Calibration)
        };
        let accuracy = measures(Evaluation::accuracy)?;
        let ece = measures(Evaluation::ece)?;
        let mut row = vec![Cell::text(result.domain.name)];
        row.extend(accuracy.iter().chain(&ece).map(|&v| Cell::number(v, 3)));
        rows.push(row);
        let exact = WAYS.len() - 1;
        best += usize::from(accuracy[..exact].iter().all(|&a| a <= accuracy[exact]));
        gaps += usize::from(ece[0] > ece[exact]);
    }
    let n = results.len();
    let table = Table {
        id: "domains".into(),
        title: format!(
            "Test accuracy and expected calibration error ({BINS} bins) on {} fresh entities, \
             trained on {}",
            settings.test, settings.entities
        ),
        columns,
        rows,
    };
    Ok(Outcome {
        id: "domains".into(),
        title: "Eight synthetic domains against the exact Bayes posterior".into(),
        settings: vec![
            ("entities".into(), settings.entities.to_string()),
            ("test entities".into(), settings.test.to_string()),
            ("epochs".into(), settings.epochs.to_string()),
            ("samples".into(), settings.samples.to_string()),
            ("seed".into(), settings.seed.to_string()),
        ],
        tables: vec![table],
        figures: Vec::new(),
        sentence: format!(
            "No way is more accurate than the exact posterior in {best} of {n} domains; the \
             product (spn) is calibrated worse than it in {gaps} of {n}."
        ),
    })
}

// A row of the synthetic data is an embedding of the size that the models are made for.
const _: () = assert!(EMBEDDING == 384);
