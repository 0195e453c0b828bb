//! What each theorem, false or true, predicts on real evidence, and what happens.

use rayon::prelude::*;

use super::compared::{
    CORRECTED, Compared, Estimate, HISTOGRAM, LEARNED, PRIOR, SPN, SPN_ONES, Scored,
};
use super::measured::Measured;
use super::study::{Study, Weights, labels};
use crate::aggregate::Method;
use crate::bounds::{
    binned_ranges, calibration_bound, calibration_constant, clopper_pearson, clopper_pearson_upper,
    corruption_bound, effective_count, fano_entropy_bound, generalization_gap, monte_carlo_error,
    robust_l1_of_factors, sample_complexity_constant,
};
use crate::calibration::{Evaluation, MapMethod, MapShape};
use crate::exhibit::{Cell, Table};
use crate::experiments::{BINS, ExperimentError, Lab, SAMPLES, Summary, mean};
use crate::latent::random::{Stream, text_key};
use crate::latent::{FactorWorkspace, monte_carlo_factor};
use crate::simplex::{Distribution, entropy_bits, kl_divergence, l1_distance};

/// `δ` of every bound, as in the paper.
const DELTA: f64 = 0.05;

/// The paper's `C` of theorem 5.
const CORRUPTION: f64 = 2.0;

/// Entities behind T2, and the samples that stand for the truth: with 1,024 an entry is off by at
/// most 0.5/√1024 = 0.016 in standard deviation, a twentieth of the bound for 16.
const SAMPLED: usize = 6;
const TRUTH: usize = 1024;
const TRUTH_PURPOSE: u64 = text_key("experiment real: truth of T2");

/// Entities behind T7.
const SPLIT_UP: usize = 200;

/// Differences that are rounding: a few sums of at most ten numbers below one.
const ROUNDING: f64 = 1e-13;

/// What became of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    Broken,
    /// It allows everything that can happen.
    Empty,
    /// What it rests on does not hold here.
    Outside,
    /// These data cannot decide.
    Open,
}

impl Fate {
    fn name(self) -> &'static str {
        match self {
            Fate::Kept => "kept",
            Fate::Broken => "broken",
            Fate::Empty => "says nothing",
            Fate::Outside => "does not apply",
            Fate::Open => "cannot be told",
        }
    }

    fn kept(kept: bool) -> Self {
        if kept { Fate::Kept } else { Fate::Broken }
    }
}

/// One line of the table.
struct Prediction {
    claim: &'static str,
    says: String,
    predicted: Option<f64>,
    measured: Option<f64>,
    fate: Fate,
    /// What it rests on that does not hold here.
    without: String,
}

impl Prediction {
    /// That an error is at most `bound`: broken only where the whole interval is above it.
    fn at_most(claim: &'static str, says: &str, bound: f64, found: Estimate) -> Self {
        let fate = match bound {
            b if b >= 1.0 => Fate::Empty,
            b => Fate::kept(found.low <= b),
        };
        Prediction {
            claim,
            says: says.to_owned(),
            predicted: Some(bound),
            measured: Some(found.value),
            fate,
            without: String::new(),
        }
    }

    fn without(mut self, what: impl Into<String>) -> Self {
        self.without = what.into();
        self
    }

    fn cells(self, set: &str) -> [(&'static str, Cell); 7] {
        let number = |x: Option<f64>| x.map_or(Cell::Empty, |x| Cell::number(x, 4));
        [
            ("set", Cell::text(set)),
            ("claim", Cell::text(self.claim)),
            ("what it says here", Cell::text(self.says)),
            ("predicted", number(self.predicted)),
            ("measured", number(self.measured)),
            ("outcome", Cell::text(self.fate.name())),
            (
                "does not hold here",
                match self.without.is_empty() {
                    true => Cell::Empty,
                    false => Cell::text(self.without),
                },
            ),
        ]
    }
}

/// All predictions about one set.
pub(super) struct Predicted(Vec<Prediction>);

impl Predicted {
    pub(super) fn new(
        lab: &Lab,
        study: &Study,
        compared: &Compared,
        measured: &Measured,
    ) -> Result<Self, ExperimentError> {
        let mut all = calibration(study, compared, measured)?;
        all.push(factors(lab, study)?);
        all.extend(generalization(study, compared)?);
        all.extend(information(lab, study, compared)?);
        all.extend(corruption(study, measured)?);
        all.extend(counts(study, compared, measured)?);
        all.extend(uncertainty(study)?);
        Ok(Predicted(all))
    }

    /// How many predictions have this outcome.
    fn count(&self, fate: Fate) -> usize {
        self.0.iter().filter(|p| p.fate == fate).count()
    }

    /// "3 kept, 1 broken, …".
    pub(super) fn sentence(&self) -> String {
        let fates = [
            Fate::Kept,
            Fate::Broken,
            Fate::Empty,
            Fate::Outside,
            Fate::Open,
        ];
        let parts = fates.map(|fate| (self.count(fate), fate.name()));
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(n, name)| format!("{n} {name}")).collect();
        parts.join(", ")
    }
}

fn scored<'a>(compared: &'a Compared, name: &str) -> Result<&'a Scored, ExperimentError> {
    let missing = || ExperimentError::NotPrinted {
        id: name.to_owned(),
    };
    compared.get(name).ok_or_else(missing)
}

/// Which assumptions the data contradict, of those that a claim rests on.
fn failing(measured: &Measured, on: &[&str]) -> String {
    let fails = [
        ("A1", measured.dependent()),
        ("A3", measured.calibration.contradicted()),
        ("A6", measured.support.contradicted()),
    ];
    let found = fails.iter().filter(|(a, fails)| *fails && on.contains(a));
    let found: Vec<&str> = found.map(|(a, _)| *a).collect();
    found.join(", ")
}

/// A theorem about exact factors, which learned ones are not: it may be kept, but not broken.
fn of_exact_factors(
    claim: &'static str,
    says: &str,
    bound: f64,
    found: Estimate,
    failing: String,
) -> Prediction {
    let kept = found.low <= bound;
    let and = if failing.is_empty() { "" } else { ", " };
    Prediction {
        fate: if kept { Fate::Kept } else { Fate::Outside },
        ..Prediction::at_most(claim, says, bound, found)
    }
    .without(format!("{failing}{and}exact factors"))
}

/// T1, T1′, E1 and T1″.
fn calibration(
    study: &Study,
    compared: &Compared,
    measured: &Measured,
) -> Result<Vec<Prediction>, ExperimentError> {
    let constant = calibration_constant(study.classes(), DELTA)?;
    let epsilon = measured.calibration.ece;
    let mut counts = Vec::new();
    for entity in &study.judged {
        counts.push(effective_count(&entity.weights)?);
    }
    let k = study.items() as f64;
    let corrected = scored(compared, CORRECTED)?;
    let price = libm::sqrt(measured.dependence.total / 2.0);
    let mut all = vec![
        Prediction::at_most(
            "T1",
            "ECE of spn at most ε + C/√K_eff, ε that of single items",
            calibration_bound(epsilon, constant, mean(counts))?,
            scored(compared, SPN)?.ece,
        )
        .without(failing(measured, &["A1", "A6"])),
        Prediction::at_most(
            "T1",
            "the same with weights 1",
            calibration_bound(epsilon, constant, k)?,
            scored(compared, SPN_ONES)?.ece,
        )
        .without(failing(measured, &["A1", "A6"])),
        of_exact_factors(
            "T1'",
            "ECE of the prior-corrected product is 0",
            0.0,
            corrected.ece,
            failing(measured, &["A1"]),
        ),
        // The total correlation is estimated from below, so that this bound is too small if anything.
        of_exact_factors(
            "E1",
            "where items depend, that ECE is at most √(TC/2), which here is at least",
            price,
            corrected.ece,
            String::new(),
        ),
    ];
    let map = study.map(
        Method::Spn,
        Weights::Ones,
        MapMethod::Histogram { bins: BINS },
    )?;
    if let (Some(map), Some(after)) = (map, compared.get(HISTOGRAM))
        && let MapShape::Histogram(histogram) = map.map.shape()
    {
        let ranges = binned_ranges(histogram.counts(), DELTA)?;
        let known = ranges.iter().filter(|range| range.rate.is_some());
        let radius = known.map(|range| range.radius()).fold(0.0, f64::max);
        let says = format!(
            "ECE after a histogram map fitted on {} entities is at most the largest radius of a bin",
            map.rows
        );
        all.push(Prediction::at_most("T1''", &says, radius, after.ece));
    }
    Ok(all)
}

/// T2: how many factors are further off than the bound.
fn factors(lab: &Lab, study: &Study) -> Result<Prediction, ExperimentError> {
    let decoder = study.model.vae.decoder()?;
    let radius = monte_carlo_error(SAMPLES as u64, study.classes(), DELTA)?;
    let judged = study.judged.iter().take(SAMPLED).enumerate();
    let items: Vec<_> = judged
        .flat_map(|(e, entity)| {
            let posteriors = entity.posteriors.iter().flatten();
            let items = posteriors.zip(&entity.factors).enumerate();
            items.map(move |(i, (posterior, factor))| (e, i, posterior, factor))
        })
        .collect();
    let beyond: Result<Vec<bool>, ExperimentError> = items
        .par_iter()
        .map(|&(e, i, posterior, factor)| {
            let mut stream = Stream::new(lab.settings.seed, TRUTH_PURPOSE, e as u64, i as u64);
            let mut workspace = FactorWorkspace::default();
            let truth =
                monte_carlo_factor(posterior, &decoder, TRUTH, &mut stream, &mut workspace)?;
            let truth = truth.distribution.probabilities().iter();
            let mut off = truth
                .zip(factor.probabilities())
                .map(|(a, b)| (a - b).abs());
            Ok(off.any(|off| off > radius))
        })
        .collect();
    let beyond = beyond?.iter().filter(|b| **b).count();
    let (low, high) = clopper_pearson(beyond as u64, items.len() as u64, DELTA)?;
    let says = format!(
        "share of {} factors off by more than {radius:.3} is at most δ",
        items.len()
    );
    let value = beyond as f64 / items.len() as f64;
    let found = Estimate { value, low, high };
    Ok(Prediction::at_most("T2", &says, DELTA, found))
}

/// T3 and T3′.
fn generalization(study: &Study, compared: &Compared) -> Result<Vec<Prediction>, ExperimentError> {
    let training = study.learned(study.split.training())?;
    let answers = study.answers(Method::Learned, Weights::Shipped, &training)?;
    let before = Evaluation::of(&answers, &labels(&training), BINS)?.log_loss()?;
    let learned = scored(compared, LEARNED)?;
    let n = training.len() as u64;
    let bound = generalization_gap(before, n, n, DELTA)?;
    let gap = learned.log_loss - before;
    let held_out = study.learned(study.split.test())?;
    let answers = study.answers(Method::Learned, Weights::Shipped, &held_out)?;
    let pairs = answers.iter().zip(labels(&held_out));
    let wrong = pairs.filter(|(a, label)| a.argmax() != *label).count();
    let limit = clopper_pearson_upper(wrong as u64, held_out.len() as u64, DELTA)?;
    let errors = Estimate {
        value: 1.0 - learned.accuracy.value,
        low: 1.0 - learned.accuracy.high,
        high: 1.0 - learned.accuracy.low,
    };
    let says = format!(
        "error rate of learned at most Clopper and Pearson's limit from {} entities held out",
        held_out.len()
    );
    Ok(vec![
        Prediction {
            claim: "T3",
            says: format!(
                "log loss of learned exceeds that on its {n} training entities by at most lemma 7, at \
                 the largest dimension it takes, N"
            ),
            predicted: Some(bound),
            measured: Some(gap),
            fate: Fate::kept(gap <= bound),
            without: String::new(),
        },
        Prediction::at_most("T3'", &says, limit, errors),
    ])
}

/// Mean divergence of two factors of one entity, in bits.
fn conflict(factors: &[Distribution]) -> f64 {
    let pairs = factors.iter().enumerate().flat_map(|(i, p)| {
        let others = factors.iter().enumerate().filter(move |(j, _)| *j != i);
        others.map(move |(_, q)| kl_divergence(p, q).unwrap_or(f64::NAN))
    });
    mean(pairs) / std::f64::consts::LN_2
}

/// T4 and T4′.
fn information(
    lab: &Lab,
    study: &Study,
    compared: &Compared,
) -> Result<Vec<Prediction>, ExperimentError> {
    let factors = study.judged.iter().flat_map(|e| &e.factors);
    let entropy = mean(factors.map(entropy_bits));
    let noise = mean(study.judged.iter().map(|e| conflict(&e.factors)));
    let floor = entropy.max(lab.paper.number("sec:exp-thm4/max/c2")?.value * noise);
    let prior = scored(compared, PRIOR)?;
    let least = compared.0.iter().map(|s| s.log_loss);
    let least = least
        .filter(|loss| !loss.is_nan())
        .fold(f64::INFINITY, f64::min);
    let best = compared.0.iter().map(|s| s.accuracy);
    let best = best.max_by(|a, b| a.value.total_cmp(&b.value));
    let error = best.map_or(f64::NAN, |best| 1.0 - best.low);
    let chance = 1.0 - 1.0 / study.classes() as f64;
    Ok(vec![
        Prediction {
            claim: "T4",
            says:
                "no predictor has an ECE below the floor as the paper computes it; answering with \
                   the prior has"
                    .to_owned(),
            predicted: Some(floor),
            measured: Some(prior.ece.value),
            fate: Fate::kept(prior.ece.high >= floor),
            without: String::new(),
        },
        Prediction {
            claim: "T4'",
            says: "H(Y|E) in nats is at most Fano's limit at the smallest error rate (predicted), \
                   and at most the smallest log loss (measured)"
                .to_owned(),
            predicted: Some(fano_entropy_bound(error.min(chance), study.classes())?),
            measured: Some(least),
            fate: Fate::Open,
            without: "H(Y|E) itself is not known".to_owned(),
        },
    ])
}

/// What one replaced item does: changes beyond the claimed and beyond the proven bound.
#[derive(Clone, Copy, Default)]
struct Damage {
    attacks: usize,
    above_claimed: usize,
    above_proven: usize,
}

/// T5 and T5′: each item in turn is replaced by the same view of the next entity of another class.
fn corruption(study: &Study, measured: &Measured) -> Result<Vec<Prediction>, ExperimentError> {
    let labels = study.labels();
    let answerer = &study.answerer;
    let attack = |weights: Weights| -> Result<Damage, ExperimentError> {
        let each = study.judged.par_iter().enumerate().map(|(e, entity)| {
            let later = (e + 1..labels.len()).chain(0..e);
            let Some(other) = later.into_iter().find(|&o| labels[o] != labels[e]) else {
                return Ok(Damage::default());
            };
            let mut clean = entity.clone();
            if weights == Weights::Ones {
                clean.weights.fill(1.0);
            }
            let before = answerer.combine(&clean)?;
            let mut damage = Damage::default();
            for item in 0..clean.factors.len() {
                let mut corrupt = clean.clone();
                corrupt.factors[item] = study.judged[other].factors[item].clone();
                let after = answerer.combine(&corrupt)?;
                // Both are over the classes of the set.
                let distance = |a, b| l1_distance(a, b).unwrap_or(f64::NAN);
                let change = distance(&before, &after);
                let delta = distance(&clean.factors[item], &corrupt.factors[item]);
                let k = clean.factors.len() as u64;
                let claimed = corruption_bound(CORRUPTION, 1.0 / k as f64, delta, k)?;
                let proven =
                    robust_l1_of_factors(&clean.factors, &corrupt.factors, &clean.weights)?;
                damage.attacks += 1;
                damage.above_claimed += usize::from(change > claimed + ROUNDING);
                damage.above_proven += usize::from(change > proven + ROUNDING);
            }
            Ok(damage)
        });
        let each: Result<Vec<Damage>, ExperimentError> = each.collect();
        Ok(each?.into_iter().fold(Damage::default(), |a, b| Damage {
            attacks: a.attacks + b.attacks,
            above_claimed: a.above_claimed + b.above_claimed,
            above_proven: a.above_proven + b.above_proven,
        }))
    };
    let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
    let mut all = Vec::new();
    for (name, weights) in [("spn", Weights::Shipped), ("weights 1", Weights::Ones)] {
        let damage = attack(weights)?;
        let says = |bound: &str| {
            format!(
                "share of {} replaced items that move the answer ({name}) by more than {bound} is 0",
                damage.attacks
            )
        };
        for (claim, bound, above) in [
            ("T5", "C·ε·δ·√K", damage.above_claimed),
            ("T5'", "2·tanh(R/4)", damage.above_proven),
        ] {
            let line = Prediction {
                claim,
                says: says(bound),
                predicted: Some(0.0),
                measured: Some(share(above, damage.attacks)),
                fate: Fate::kept(above == 0),
                without: String::new(),
            };
            all.push(match claim {
                "T5" => line.without(failing(measured, &["A6"])),
                _ => line,
            });
        }
    }
    Ok(all)
}

/// T6 and T6′.
fn counts(
    study: &Study,
    compared: &Compared,
    measured: &Measured,
) -> Result<Vec<Prediction>, ExperimentError> {
    let classes = study.set().classes.len();
    let spread = |class: usize| {
        let factors = study.judged.iter().flat_map(|e| &e.factors);
        let entries = factors.map(|f| f.probabilities()[class]);
        Summary::of(entries).deviation.map_or(0.0, |d| d * d)
    };
    let variance = (0..classes).map(spread).fold(0.0, f64::max);
    let constant = sample_complexity_constant(variance, study.classes(), DELTA)?;
    let k = study.items() as f64;
    let says = format!("ECE of spn with {k} items is at most C/√K");
    Ok(vec![
        Prediction::at_most(
            "T6",
            &says,
            constant / libm::sqrt(k),
            scored(compared, SPN)?.ece,
        )
        .without(failing(measured, &["A1", "A6"])),
        Prediction {
            claim: "T6'",
            says: "the best decision's error falls like e^(−K·C)".to_owned(),
            predicted: None,
            measured: None,
            fate: Fate::Outside,
            without: "items of one kind".to_owned(),
        },
    ])
}

/// T7: the identity, and whether the aleatoric part stays.
fn uncertainty(study: &Study) -> Result<Vec<Prediction>, ExperimentError> {
    let entities: Vec<usize> = study
        .data
        .judging()
        .take(SPLIT_UP.min(study.judged.len()))
        .collect();
    let parts = |items: usize| -> Result<Vec<(f64, f64)>, ExperimentError> {
        let each = entities.par_iter().map(|&e| {
            let mut record = study.data.record(e);
            record.evidence.truncate(items);
            let answer = study.answerer.answer_record(record)?;
            let parts = answer.uncertainty.map(|u| u.variance);
            Ok(parts.map_or((f64::NAN, f64::NAN), |v| {
                ((v.total - v.epistemic - v.aleatoric).abs(), v.aleatoric)
            }))
        });
        each.collect()
    };
    let (one, all) = (parts(1)?, parts(study.items())?);
    let off = all.iter().map(|p| p.0).fold(0.0, f64::max);
    let ratio = mean(all.iter().map(|p| p.1)) / mean(one.iter().map(|p| p.1));
    Ok(vec![
        Prediction {
            claim: "T7",
            says: "total variance less epistemic less aleatoric is 0, up to rounding".to_owned(),
            predicted: Some(0.0),
            measured: Some(off),
            fate: Fate::kept(off <= ROUNDING),
            without: String::new(),
        },
        Prediction {
            claim: "T7",
            says: format!(
                "aleatoric variance with {} items over that with the first alone is about 1 (kindly: \
                 within a factor of two)",
                study.items()
            ),
            predicted: Some(1.0),
            measured: Some(ratio),
            fate: Fate::kept((0.5..=2.0).contains(&ratio)),
            without: String::new(),
        },
    ])
}

pub(super) fn table(predicted: Vec<(&str, Predicted)>) -> Table {
    let mut table = Table::new(
        "real.theorems",
        format!(
            "What each theorem predicts here (δ = {DELTA}) and what happens. A bound is broken where the \
             whole 95 % interval of the measured value is beyond it, and says nothing where it is 1 or \
             more"
        ),
    );
    for (set, predicted) in predicted {
        for prediction in predicted.0 {
            table.row(prediction.cells(set));
        }
    }
    table
}
