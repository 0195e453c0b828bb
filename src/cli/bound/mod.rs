//! `lpf bound`: what the theorems that hold say for given numbers.

mod args;

use std::process::ExitCode;

use serde_json::json;

pub(super) use args::Args;
use args::{Confidence, Format, Which};

use super::{Failure, output::Output};
use crate::bounds::{
    BinRange, BoundError, bayes_error_bound, betting_interval, binned_ranges, certified_delta,
    certified_items, chernoff_information, clopper_pearson_upper, dependence_calibration_error,
    empirical_bernstein_error, excess_loss_calibration_error, fano_floor,
    gaussian_total_correlation, hilbert_from_l1, monte_carlo_error, pac_bayes_kl, pipeline_l1,
    pipeline_samples, posterior_calibration_error, posterior_l1, robust_l1, sufficient_items,
    uniform_mass_radius,
};
use crate::math::Interval;
use crate::simplex::Distribution;

/// A number and what it means.
struct Line {
    claim: &'static str,
    shown: String,
    value: serde_json::Value,
    sentence: String,
}

/// Digits after the point; whoever needs more asks for JSON.
const DIGITS: usize = 6;

/// An upper bound, rounded up.
fn at_most(claim: &'static str, value: f64, sentence: impl Into<String>) -> Line {
    let scale = 10f64.powi(DIGITS as i32);
    // Off by one step in the last digit at most, and never down.
    let mut rounded = (value * scale).ceil() / scale;
    if rounded < value {
        rounded += 1.0 / scale;
    }
    number(claim, value, rounded, sentence.into())
}

/// A lower bound, rounded down.
fn at_least(claim: &'static str, value: f64, sentence: impl Into<String>) -> Line {
    let scale = 10f64.powi(DIGITS as i32);
    let mut rounded = (value * scale).floor() / scale;
    if rounded > value {
        rounded -= 1.0 / scale;
    }
    number(claim, value, rounded, sentence.into())
}

fn number(claim: &'static str, value: f64, rounded: f64, sentence: String) -> Line {
    Line {
        claim,
        shown: match value.is_finite() {
            true => format!("{rounded:.DIGITS$}"),
            false => "∞".to_owned(),
        },
        value: json!(value.is_finite().then_some(value)),
        sentence,
    }
}

/// A count; none where no number will do.
fn count(claim: &'static str, value: Option<u64>, sentence: impl Into<String>) -> Line {
    Line {
        claim,
        shown: value.map_or("none".to_owned(), |n| n.to_string()),
        value: json!(value),
        sentence: sentence.into(),
    }
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let lines = lines(&args.which)?;
    let text = match args.format {
        Format::Json => {
            let all = lines.iter().map(
                |line| json!({"claim": line.claim, "value": line.value, "sentence": line.sentence}),
            );
            format!("{:#}\n", serde_json::Value::Array(all.collect()))
        }
        Format::Text => lines
            .iter()
            .map(|line| format!("{}  {} ({})\n", line.shown, line.sentence, line.claim))
            .collect(),
    };
    let mut output = Output::create(None)?;
    output.write(text.as_bytes())?;
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn usage(error: BoundError) -> Failure {
    Failure::Usage(error.to_string())
}

fn lines(which: &Which) -> Result<Vec<Line>, Failure> {
    match which {
        Which::T6Prime {
            prior,
            item,
            error,
            items,
        } => decision(prior, item, *error, *items),
        _ => numeric(which).map_err(usage),
    }
}

fn numeric(which: &Which) -> Result<Vec<Line>, BoundError> {
    Ok(match which {
        &Which::T1Prime { items, eta, zeta } => vec![
            at_most(
                "T1'",
                posterior_l1(items, eta, zeta)?,
                format!(
                    "The prior-corrected product of {items} factors is at most this far from the posterior in L1"
                ),
            ),
            at_most(
                "T1'",
                posterior_calibration_error(items, eta, zeta)?,
                "Its calibration error is at most this",
            ),
        ],
        Which::T1Second {
            bin,
            rows,
            bins,
            confidence,
        } => match rows.zip(*bins) {
            Some((rows, bins)) => vec![at_most(
                "T1''",
                uniform_mass_radius(rows, bins, confidence.delta)?,
                format!(
                    "{} the rates of {bins} bins of equal size, cut at quantiles of {rows} held-out rows, are at most \
                     this far from the true ones, all at once; proved on paper, not machine-checked",
                    confidence.words()
                ),
            )],
            None => ranges(bin, confidence)?,
        },
        Which::T2 { samples: s } => vec![at_most(
            "T2",
            monte_carlo_error(s.samples, s.classes, s.confidence.delta)?,
            format!(
                "{} no class's factor is off by more than this",
                s.confidence.words()
            ),
        )],
        Which::T2Prime {
            samples: s,
            variance,
        } => vec![at_most(
            "T2'",
            empirical_bernstein_error(s.samples, s.classes, *variance, s.confidence.delta)?,
            format!(
                "{} a class whose samples have the variance {variance} is off by at most this",
                s.confidence.words()
            ),
        )],
        Which::T2Second {
            values,
            classes,
            confidence,
        } => {
            let (low, high) = betting_interval(values, *classes, confidence.delta)?;
            let words = confidence.words();
            vec![
                at_least("T2''", low, format!("{words} the mean is at least this")),
                at_most("T2''", high, "and at most this"),
            ]
        }
        Which::T3Prime {
            n,
            errors,
            loss,
            divergence,
            confidence,
        } => vec![generalization(
            *n,
            *errors,
            loss.zip(*divergence),
            confidence,
        )?],
        &Which::T4Prime { entropy, classes } => {
            let nats = Interval::point(entropy) * Interval::point(2.0).ln();
            let (low, most) = (nats.low(), Interval::count(classes).ln().low());
            // The largest entropy there is, typed with a few digits, is not above itself.
            let floor = fano_floor(
                if low > most && low - most < 1e-6 {
                    most
                } else {
                    low
                },
                classes,
            )?;
            vec![
                at_least(
                    "T4'",
                    floor,
                    format!("No decision among {classes} classes errs less often than this (Fano)"),
                ),
                at_least(
                    "T4'",
                    low,
                    "No predictor has a smaller expected log loss than this, in nats",
                ),
            ]
        }
        Which::T5Prime {
            weights,
            replaced,
            delta,
            floor,
            margin,
        } => robustness(weights, *replaced, *delta, *floor, *margin)?,
        Which::E1 {
            total_correlation,
            correlation,
            items,
        } => {
            let gaussian = correlation.zip(*items);
            let total = match (total_correlation, gaussian) {
                (Some(total), _) => *total,
                (None, Some((rho, items))) => gaussian_total_correlation(items, rho)?,
                (None, None) => 0.0,
            };
            let mut lines = vec![at_most(
                "E1",
                dependence_calibration_error(total)?,
                "The calibration error of the prior-corrected product of exact factors is at most this",
            )];
            if let Some((rho, items)) = gaussian {
                let sentence = format!(
                    "Total correlation in nats of {items} Gaussian items of which every two have the correlation {rho}"
                );
                lines.push(at_most("E1", total, sentence));
            }
            lines
        }
        Which::E4 {
            samples: s,
            weights,
            floor,
            target,
        } => {
            let delta = s.confidence.delta;
            let mut lines = vec![at_most(
                "E4",
                pipeline_l1(s.samples, s.classes, weights, *floor, delta)?,
                format!(
                    "{} sampling moves the prediction from {} items by at most this in L1, where 2 says nothing",
                    s.confidence.words(),
                    weights.len()
                ),
            )];
            if let Some(target) = *target {
                let samples = pipeline_samples(target, s.classes, weights, *floor, delta)?;
                let sentence =
                    format!("So many samples of each item suffice for an L1 distance of {target}");
                lines.push(count("E4", samples, sentence));
            }
            lines
        }
        &Which::E5 { loss, entropy } => vec![at_most(
            "E5",
            excess_loss_calibration_error(loss, entropy)?,
            "The calibration error of a predictor with this expected log loss is at most this",
        )],
        Which::T6Prime { .. } => Vec::new(),
    })
}

impl Confidence {
    fn words(&self) -> String {
        format!("With probability {}", 1.0 - self.delta)
    }
}

/// The true rate of each bin, and what the map that answers the bins' rates may be off by.
fn ranges(counts: &[(u64, u64)], confidence: &Confidence) -> Result<Vec<Line>, BoundError> {
    let ranges = binned_ranges(counts, confidence.delta)?;
    let mut lines = Vec::new();
    for (range, (hits, points)) in ranges.iter().zip(counts) {
        let bin = format!("the bin with {hits} hits of {points}");
        lines.push(at_least(
            "T1''",
            range.low,
            format!(
                "{} all at once: the true rate of {bin} is at least this",
                confidence.words()
            ),
        ));
        lines.push(at_most("T1''", range.high, "and at most this"));
    }
    let widest = ranges.iter().map(BinRange::radius).fold(0.0, f64::max);
    lines.push(at_most(
        "T1''",
        widest,
        "The calibration error of the map that answers each bin's rate is at most this",
    ));
    Ok(lines)
}

fn generalization(
    n: u64,
    errors: Option<u64>,
    training: Option<(f64, f64)>,
    confidence: &Confidence,
) -> Result<Line, BoundError> {
    let words = confidence.words();
    Ok(match (training, errors) {
        (Some((loss, divergence)), _) => at_most(
            "T3'",
            pac_bayes_kl(loss, n, divergence, confidence.delta)?,
            format!(
                "{words} the true loss of the random model is at most this: {loss} on {n} training examples (PAC-Bayes); \
                 machine-checked for finitely many models, losses of 0 or 1 and ξ(n), here with 2√n ≥ ξ(n), proved on \
                 paper"
            ),
        ),
        (None, errors) => {
            let errors = errors.unwrap_or(0);
            at_most(
                "T3'",
                clopper_pearson_upper(errors, n, confidence.delta)?,
                format!(
                    "{words} the true error rate is at most this: {errors} errors on {n} held-out examples (Clopper and \
                     Pearson)"
                ),
            )
        }
    })
}

fn robustness(
    weights: &[f64],
    replaced: usize,
    delta: f64,
    floor: f64,
    margin: Option<f64>,
) -> Result<Vec<Line>, BoundError> {
    if replaced > weights.len() {
        return Err(BoundError::Parameter {
            name: "replaced",
            value: replaced as f64,
            allowed: "at most the number of weights",
        });
    }
    let distance = hilbert_from_l1(delta, floor)?;
    let mut heaviest = weights.to_vec();
    heaviest.sort_unstable_by(|a, b| b.total_cmp(a));
    // Before the sum: an invalid weight is named by its place.
    certified_items(weights, distance, 0.0)?;
    let range = heaviest
        .iter()
        .take(replaced)
        .fold(Interval::point(0.0), |sum, &w| {
            sum + Interval::point(w) * Interval::point(distance)
        });
    let mut lines = vec![at_most(
        "T5'",
        robust_l1(range.high())?,
        format!(
            "Replacing any {replaced} of {} items, each by at most {delta} in L1, moves the product by at most this in L1",
            weights.len()
        ),
    )];
    if let Some(margin) = margin {
        let items = certified_items(weights, distance, margin)? as u64;
        lines.push(count(
            "T5'",
            Some(items),
            "So many items, whichever they are, may be replaced so without a change of the winning class",
        ));
        lines.push(at_least(
            "T5'",
            certified_delta(weights, replaced, floor, margin)?,
            format!("Each of {replaced} items may be moved by less than this in L1 without a change of the winning class"),
        ));
    }
    Ok(lines)
}

/// A distribution as it was typed, or which option has which fault.
fn distribution(option: &str, values: Vec<f64>) -> Result<Distribution, Failure> {
    Distribution::new(values).map_err(|error| Failure::Usage(format!("--{option}: {error}")))
}

fn decision(
    prior: &[f64],
    item: &[String],
    error: f64,
    items: Option<u64>,
) -> Result<Vec<Line>, Failure> {
    let prior = distribution("prior", prior.to_vec())?;
    let mut likelihoods = Vec::new();
    for text in item {
        let values = text.split(',').map(|part| {
            let value = part.trim().parse::<f64>();
            value.map_err(|_| Failure::Usage(format!("--item: {part:?} in {text:?} is no number")))
        });
        likelihoods.push(distribution("item", values.collect::<Result<_, _>>()?)?);
    }
    let enough = sufficient_items(&prior, &likelihoods, error).map_err(usage)?;
    let mut lines = vec![count(
        "T6'",
        enough,
        format!(
            "So many items suffice for the best decision to err with probability at most {error}"
        ),
    )];
    if let Some(items) = items {
        lines.push(at_most(
            "T6'",
            bayes_error_bound(&prior, &likelihoods, items).map_err(usage)?,
            format!("The best decision from {items} items errs at most this often"),
        ));
    }
    let mut least = f64::INFINITY;
    for (i, p) in likelihoods.iter().enumerate() {
        for q in &likelihoods[i + 1..] {
            least = least.min(chernoff_information(p, q).map_err(usage)?);
        }
    }
    lines.push(at_least(
        "T6'",
        least,
        "Each further item divides the bound by e to this power at least, in the long run (Chernoff information)",
    ));
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_digits_are_never_on_the_wrong_side() {
        for value in [
            0.0,
            1e-12,
            0.1,
            0.3,
            0.060_214_5,
            1.999_999_999,
            123.456_789_01,
        ] {
            let up: f64 = at_most("T5'", value, "").shown.parse().unwrap();
            let down: f64 = at_least("T5'", value, "").shown.parse().unwrap();
            assert!(down <= value && value <= up, "{value}: {down} {up}");
            assert!(up - down <= 2.1e-6, "{value}: {down} {up}");
        }
        assert_eq!(at_most("T5'", f64::INFINITY, "").shown, "∞");
    }
}
