//! The six assumptions, measured on the trained model and beside the paper's figures.

mod tables;

use tables::{independence_table, quantities};

use super::{
    Agreement, BINS, Experiment, ExperimentError, Lab, Origin, Outcome, Progress, Quantity, Run,
    TestEntity, Trained, compared,
};
use crate::assumptions::{
    EncoderVariance, EvidenceCount, Independence, IndependenceTest, IndividualCalibration, Items,
    Marginalization, Support, encoder_variance, evidence_count, independence,
    individual_calibration, marginalization, support, support_floor,
};
use crate::exhibit::{Axis, Figure, Panel, Role, Series};
use crate::latent::random::{Stream, text_key};
use crate::latent::{Decoder, DecoderWorkspace, MlpDecoder};
use crate::simplex::Distribution;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "assumptions",
    title: "The six assumptions, measured",
    claims: &["A1", "A2", "A3", "A4", "A5", "A6"],
    run,
};

const CODES_PURPOSE: u64 = text_key("experiment assumptions: random latent codes");
const COPIES_PURPOSE: u64 = text_key("experiment assumptions: items that repeat another");

/// Test entities of a run, or as many as there are.
const ENTITIES: u64 = 500;
/// Runs with fresh entities where they can be drawn.
const TRIALS: usize = 2;
/// Failure probability of every interval and test.
const LEVEL: f64 = 0.05;
/// The control of A1: one item in ten repeats the first of its entity.
const COPIED: f64 = 0.1;
struct Measured {
    independence: Independence,
    copies: Independence,
    variance: EncoderVariance,
    norms: Vec<f64>,
    calibration: IndividualCalibration,
    marginalization: Marginalization,
    count: EvidenceCount,
    factors: Support,
    confidences: Vec<f64>,
    codes: Support,
}

/// One column of results.
struct Column {
    runs: Vec<Measured>,
    entities: usize,
}

impl Column {
    fn new(lab: &Lab, origin: Origin, progress: &dyn Progress) -> Result<Self, ExperimentError> {
        let runs: Vec<Run<'_>> = lab.runs(origin, TRIALS)?;
        progress.step("models trained");
        let mut measured = Vec::new();
        let mut count = 0;
        for run in runs {
            let entities = run.test(ENTITIES)?;
            count = entities.len();
            measured.push(measure(lab, run.trained, &entities)?);
            progress.step("assumptions");
        }
        Ok(Column {
            runs: measured,
            entities: count,
        })
    }
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(2 + 2 * lab.trials(TRIALS, 1)? as u64);
    let author = Column::new(lab, Origin::Author, progress)?;
    let known = Column::new(lab, Origin::Known, progress)?;
    let mut agreement = Agreement::default();
    claims(lab, &author, Origin::Author, &mut agreement)?;
    claims(lab, &known, Origin::Known, &mut agreement)?;
    let permutations = author
        .runs
        .first()
        .map_or(0, |m| m.independence.test.permutations);
    let settings = lab.described(&[
        ("test entities of the author's data", &author.entities),
        (
            "fresh test entities a run of the known domain",
            &known.entities,
        ),
        ("level", &LEVEL),
        ("permutations", &permutations),
        ("bins", &BINS),
    ]);
    let mut outcome = EXPERIMENT.outcome(settings, agreement.sentence());
    outcome.statements = agreement.statements();
    outcome.tables.push(compared(
        &lab.paper,
        "assumptions.summary",
        &format!("The assumptions, each test and interval at level {LEVEL}"),
        [&quantities(&author.runs), &quantities(&known.runs)],
    )?);
    outcome
        .tables
        .extend(author.runs.first().map(independence_table));
    outcome.figures.extend(match author.runs.first() {
        Some(first) => Some(figure(lab, first)?),
        None => None,
    });
    Ok(outcome)
}

fn measure(
    lab: &Lab,
    trained: &Trained,
    entities: &[TestEntity],
) -> Result<Measured, ExperimentError> {
    let factors = entities.iter().flat_map(|e| e.evidence.factors.clone());
    let factors: Vec<Distribution> = factors.collect();
    let labels: Vec<usize> = entities.iter().map(|e| e.label).collect();
    let mut offsets = vec![0];
    for entity in entities {
        offsets.push(offsets[offsets.len() - 1] + entity.evidence.factors.len());
    }
    let weights = entities.iter().flat_map(|e| e.evidence.weights.clone());
    let weights: Vec<f64> = weights.collect();
    let posteriors = entities.iter().flat_map(TestEntity::posteriors);
    let norms: Vec<f64> = posteriors.map(|p| p.frobenius_norm()).collect();
    let items = Items::new(&factors, &offsets)?;
    let test = IndependenceTest {
        level: LEVEL,
        seed: lab.settings.seed,
        ..IndependenceTest::default()
    };
    let repeating = copies(entities, lab.settings.seed);
    let limit = |id: &str| lab.paper.number(&format!("{AT}/{id}"));
    let most = limit("A5/K_max")?.value as usize;
    let codes = decoded_codes(
        &trained.decoder,
        limit("A6/codes")?.value as usize,
        lab.settings.seed,
    )?;
    let code_offsets: Vec<usize> = (0..=codes.len()).collect();
    let floor = support_floor(items.classes());
    Ok(Measured {
        independence: independence(&items, &labels, &test)?,
        copies: independence(&Items::new(&repeating, &offsets)?, &labels, &test)?,
        variance: encoder_variance(&norms, &offsets, limit("A2/sigma_max")?.value, LEVEL)?,
        norms,
        calibration: individual_calibration(&items, &labels, BINS, LEVEL)?,
        marginalization: marginalization(&items, &weights)?,
        count: evidence_count(&offsets, most, LEVEL)?,
        factors: support(&items, floor, LEVEL)?,
        confidences: factors.iter().map(|f| *f.confidence()).collect(),
        codes: support(&Items::new(&codes, &code_offsets)?, floor, LEVEL)?,
    })
}

/// Where the paper prints the figures.
const AT: &str = "sec:assumption-validation";

/// The same evidence, except that now and then an item repeats the first of its entity.
fn copies(entities: &[TestEntity], seed: u64) -> Vec<Distribution> {
    let mut factors = Vec::new();
    for (index, entity) in entities.iter().enumerate() {
        let own = &entity.evidence.factors;
        for (item, factor) in own.iter().enumerate() {
            let mut lot = Stream::new(seed, COPIES_PURPOSE, index as u64, item as u64);
            let repeats = lot.uniform() < COPIED;
            factors.push(if repeats { &own[0] } else { factor }.clone());
        }
    }
    factors
}

/// What the decoder says at latent codes drawn from the standard normal distribution, the prior
/// that the encoder is trained towards.
///
/// # Errors
/// [`ExperimentError::Decode`], [`ExperimentError::Simplex`].
pub fn decoded_codes(
    decoder: &MlpDecoder,
    count: usize,
    seed: u64,
) -> Result<Vec<Distribution>, ExperimentError> {
    let mut codes = vec![0.0; count * decoder.dimension()];
    for (i, code) in codes.chunks_exact_mut(decoder.dimension()).enumerate() {
        Stream::new(seed, CODES_PURPOSE, i as u64, 0).fill_standard_normal(code);
    }
    let mut rows = vec![0.0; count * decoder.classes()];
    decoder.decode(&codes, &mut rows, &mut DecoderWorkspace::default())?;
    let rows = rows.chunks_exact(decoder.classes());
    let rows: Result<Vec<Distribution>, _> = rows
        .map(|row| Distribution::from_weights(row.to_vec()))
        .collect();
    Ok(rows?)
}

fn claims(
    lab: &Lab,
    column: &Column,
    origin: Origin,
    agreement: &mut Agreement,
) -> Result<(), ExperimentError> {
    let paper = |id: &str| lab.paper.number(&format!("{AT}/{id}"));
    for (what, id, value) in [
        (
            "correlation given the class (A1)",
            "A1/correlation",
            (|m| m.independence.correlation.unwrap_or(f64::NAN)) as fn(&Measured) -> f64,
        ),
        ("mean norm (A2)", "A2/mean", |m| m.variance.mean),
        ("largest norm (A2)", "A2/max", |m| m.variance.most),
        (
            "calibration error of single items (A3)",
            "A3/epsilon",
            |m| m.calibration.ece,
        ),
    ] {
        let ours = Quantity::over(what, &column.runs, 4, value).ours;
        agreement.number(origin, what, &ours, &paper(id)?);
    }
    // An assumption stands where no run is against it; what the tests say is told of the first run
    // that decides so.
    type Judgement = fn(&Measured) -> (String, bool);
    let judgements: [(&str, Judgement); 6] = [
        ("A1", |m| {
            (m.independence.sentence(), m.independence.contradicted())
        }),
        ("A2", |m| (m.variance.sentence(), m.variance.contradicted())),
        ("A3", |m| {
            (m.calibration.sentence(), m.calibration.contradicted())
        }),
        ("A4", |m| {
            (
                m.marginalization.sentence(),
                m.marginalization.contradicted(),
            )
        }),
        ("A5", |m| (m.count.sentence(), m.count.contradicted())),
        ("A6", |m| (m.factors.sentence(), m.factors.contradicted())),
    ];
    for (name, judge) in judgements {
        let said: Vec<(String, bool)> = column.runs.iter().map(judge).collect();
        let against = said
            .iter()
            .filter(|(_, contradicted)| *contradicted)
            .count();
        let decides = said
            .iter()
            .find(|(_, contradicted)| *contradicted == (against > 0));
        let sentence = decides.map_or("", |(sentence, _)| sentence.as_str());
        let sentence = sentence.trim_end_matches('.');
        let (n, words) = (said.len(), format!("{name}: {sentence}"));
        let words = match against {
            0 => words,
            _ => format!("{words} (so in {against} of {n} runs)"),
        };
        agreement.claim(origin, against == 0, words);
    }
    let floor = paper("A6/floor")?;
    let smallest = column.runs.iter().map(|m| m.codes.smallest);
    let smallest = smallest.fold(f64::INFINITY, f64::min);
    let codes = column.runs.first().map_or(0, |m| m.codes.items);
    let words = format!(
        "the smallest probability at {codes} random codes is {smallest:.1e}, {:.2} there",
        floor.value
    );
    agreement.claim(origin, smallest >= floor.low, words);
    Ok(())
}

/// The share of values up to `x`, at each twentieth part.
fn cumulative(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let steps = 20;
    let at = |i: usize| {
        let rank = last * i / steps;
        let value = sorted.get(rank).copied().unwrap_or(f64::NAN);
        (value, (rank + 1) as f64 / sorted.len() as f64)
    };
    (0..=steps).map(at).collect()
}

fn figure(lab: &Lab, m: &Measured) -> Result<Figure, ExperimentError> {
    let paper = |id: &str| lab.paper.number(&format!("{AT}/{id}"));
    let upright = |name: &str, role, x: f64| Series::dashed(name, role, vec![(x, 0.0), (x, 1.0)]);
    let panels = vec![
        Panel::new(
            "A6: confidences of factors",
            Axis::linear("largest probability of a factor"),
            Axis::linear("share of factors up to it"),
            vec![
                Series::line("here", Role::Ours, cumulative(&m.confidences)),
                upright("cap under A6", Role::Claimed, m.factors.confidence_limit),
            ],
        ),
        Panel::new(
            "A2: norms of covariances",
            Axis::linear("Frobenius norm"),
            Axis::linear("share of items up to it"),
            vec![
                Series::line("here", Role::Ours, cumulative(&m.norms)),
                upright("mean in the paper", Role::Paper, paper("A2/mean")?.value),
                upright("limit of the paper", Role::Claimed, m.variance.limit),
            ],
        ),
    ];
    Ok(Figure::new(
        "assumptions",
        "Cumulative shares of the factors' confidences against the cap that A6 implies, \
                  and of the covariances' norms against the paper's mean and limit.",
        panels,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cumulative_shares_end_at_the_largest_value() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let points = cumulative(&values);
        assert_eq!(points.len(), 21);
        assert_eq!(points[0], (1.0, 0.01));
        assert_eq!(points[20], (100.0, 1.0));
        assert!(
            points
                .windows(2)
                .all(|w| w[0].0 <= w[1].0 && w[0].1 <= w[1].1)
        );
    }
}
