//! The methods beside each other: how right, how sure, how calibrated.

use rayon::prelude::*;

use super::study::{Study, Weights, plain};
use crate::aggregate::Method;
use crate::audit::{Audit, Check, Log};
use crate::calibration::{Calibrated, MapMethod};
use crate::exhibit::{Cell, Table};
use crate::experiments::{BINS, ExperimentError, mean};
use crate::simplex::Distribution;

/// An error of a prediction that is surer than this is a sure error.
pub(super) const SURE: f64 = 0.99;

/// A value with the interval that the audit gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Estimate {
    fn of(check: Option<&Check>) -> Self {
        let value = check.and_then(|check| check.value).unwrap_or(f64::NAN);
        let interval = check.and_then(|check| check.interval);
        Estimate {
            value,
            low: interval.map_or(f64::NAN, |i| i.low),
            high: interval.map_or(f64::NAN, |i| i.high),
        }
    }
}

/// How a method did.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scored {
    pub(super) name: String,
    pub(super) count: usize,
    pub(super) accuracy: Estimate,
    pub(super) confidence: f64,
    pub(super) errors: usize,
    pub(super) sure_errors: usize,
    pub(super) ece: Estimate,
    pub(super) log_loss: f64,
    pub(super) brier: f64,
}

impl Scored {
    /// Judged by the audit that ships; every interval holds with 95 % by itself.
    pub(super) fn new(
        name: impl Into<String>,
        answers: Vec<Calibrated>,
        labels: &[usize],
    ) -> Result<Self, ExperimentError> {
        let name = name.into();
        let rows: Vec<(Calibrated, usize)> =
            answers.into_iter().zip(labels.iter().copied()).collect();
        let report = Audit::of(Log::calibrated(name.as_str(), &rows))
            .bins(BINS)
            .no_limit("ece")
            .no_limit("gap")
            .run()?;
        let value = |id| Estimate::of(report.check(id)).value;
        let wrong = || rows.iter().filter(|(answer, label)| answer.class != *label);
        Ok(Scored {
            count: rows.len(),
            accuracy: Estimate::of(report.check("accuracy")),
            confidence: mean(rows.iter().map(|(answer, _)| answer.confidence)),
            errors: wrong().count(),
            sure_errors: wrong().filter(|(a, _)| a.confidence > SURE).count(),
            ece: Estimate::of(report.check("ece")),
            log_loss: value("log_loss"),
            brier: value("brier"),
            name,
        })
    }

    fn cells(&self) -> [(&'static str, Cell); 12] {
        let number = |x: f64| match x {
            x if x.is_nan() => Cell::Empty,
            f64::INFINITY => Cell::text("∞"),
            x => Cell::number(x, 4),
        };
        [
            ("method", Cell::text(&self.name)),
            ("accuracy", number(self.accuracy.value)),
            ("accuracy ≥", number(self.accuracy.low)),
            ("accuracy ≤", number(self.accuracy.high)),
            ("mean confidence", number(self.confidence)),
            ("errors", Cell::count(self.errors)),
            ("errors surer than 0.99", Cell::count(self.sure_errors)),
            ("ECE", number(self.ece.value)),
            ("ECE ≥", number(self.ece.low)),
            ("ECE ≤", number(self.ece.high)),
            ("log loss", number(self.log_loss)),
            ("Brier", number(self.brier)),
        ]
    }
}

/// The names of methods that are spoken of.
pub(super) const SPN: &str = "spn";
pub(super) const SPN_ONES: &str = "spn, weights 1";
pub(super) const CORRECTED: &str = "prior-corrected";
pub(super) const LEARNED: &str = "learned";
pub(super) const HISTOGRAM: &str = "spn, weights 1, histogram map";
pub(super) const TEMPERATURE: &str = "spn, weights 1, temperature";
pub(super) const PRIOR: &str = "the prior alone";

/// All methods of one set.
pub(super) struct Compared(pub(super) Vec<Scored>);

impl Compared {
    pub(super) fn new(study: &Study) -> Result<Self, ExperimentError> {
        let labels = study.labels();
        let mut answered: Vec<(String, Vec<Calibrated>)> = Vec::new();
        let mut add = |name: &str, answers: Vec<Distribution>| {
            answered.push((name.to_owned(), answers.into_iter().map(plain).collect()));
        };
        for (name, method, weights) in [
            (SPN, Method::Spn, Weights::Shipped),
            (SPN_ONES, Method::Spn, Weights::Ones),
            (CORRECTED, Method::PriorCorrected, Weights::Shipped),
            (LEARNED, Method::Learned, Weights::Shipped),
            ("uniform", Method::Uniform, Weights::Shipped),
            ("vote", Method::Vote, Weights::Shipped),
            ("max", Method::Max, Weights::Shipped),
        ] {
            add(name, study.answers(method, weights, &study.judged)?);
        }
        for (item, view) in study.set().views.iter().enumerate() {
            let factors = study.judged.iter().map(|e| e.factors[item].clone());
            add(&format!("{} alone", view.name), factors.collect());
        }
        if let Some(prior) = &study.model.prior {
            add(PRIOR, vec![prior.clone(); labels.len()]);
        }
        for recorded in study.set().recorded()? {
            let answers = recorded.answers.into_iter().take(labels.len());
            add(
                &format!("{} (scikit-learn)", recorded.name),
                answers.collect(),
            );
        }
        for (name, how) in [
            (TEMPERATURE, MapMethod::Temperature),
            (HISTOGRAM, MapMethod::Histogram { bins: BINS }),
        ] {
            if let Some(map) = study.map(Method::Spn, Weights::Ones, how)? {
                let product = study.answers(Method::Spn, Weights::Ones, &study.judged)?;
                let mapped: Result<Vec<Calibrated>, _> =
                    product.iter().map(|answer| map.apply(answer)).collect();
                answered.push((name.to_owned(), mapped?));
            }
        }
        let scored = answered.into_par_iter();
        let scored = scored.map(|(name, answers)| Scored::new(name, answers, &labels));
        Ok(Compared(scored.collect::<Result<_, _>>()?))
    }

    /// The method of this name.
    pub(super) fn get(&self, name: &str) -> Option<&Scored> {
        self.0.iter().find(|scored| scored.name == name)
    }

    pub(super) fn table(&self, study: &Study) -> Table {
        let set = study.set();
        let mut table = Table::new(
            format!("real.{}", set.name),
            format!(
                "{}: {}. {} entities that no model has seen; intervals at 95 % each, of Clopper and \
                 Pearson, for the ECE ({BINS} bins) as the audit has them",
                set.name,
                set.title,
                study.judged.len()
            ),
        );
        self.0.iter().for_each(|scored| table.row(scored.cells()));
        table
    }
}
