//! What to do about a check that failed or is undecided: a command, or a step.

use crate::aggregate::{Method, aggregate};
use crate::audit::by::EVIDENCE;
use crate::audit::outcome::{Check, CheckVerdict, SourceEffect, SourceReport};
use crate::audit::rounding::SINGLE;
use crate::audit::tally::Tally;

/// Checks that a calibration map repairs.
const CALIBRATION: [&str; 10] = [
    "ece",
    "classwise_ece",
    "adaptive_ece",
    "debiased_error",
    "smooth_ece",
    "calibration_p",
    "gap",
    "log_loss_excess",
    "brier_calibration",
    "drift_confidence",
];

/// What to do next; none where nothing is wrong.
pub(super) fn next(check: &Check, tally: &Tally, sources: &[SourceReport]) -> Option<String> {
    match &check.verdict {
        CheckVerdict::Undecided { needed_n: Some(n) } => {
            let more = n.saturating_sub(check.n);
            Some(format!(
                "Gather {more} more rows like these, and audit again."
            ))
        }
        CheckVerdict::Fail => {
            let said = Said { tally };
            Some(said.of_failure(check.id, sources))
        }
        _ => None,
    }
}

/// The audit in the words of a command line.
struct Said<'a> {
    tally: &'a Tally,
}

impl Said<'_> {
    fn of_failure(&self, id: &str, sources: &[SourceReport]) -> String {
        match id {
            _ if CALIBRATION.contains(&id) => self.calibrate(),
            "validity" => {
                "Repair the listed rows. If their sums are off by rounding alone, allow for it: \
                           --tolerance 0.001."
                    .to_string()
            }
            "consistency" => self.method(),
            "weights" => "Compare with the function that the weights come from: --confidence, or \
                          --confidence none."
                .to_string(),
            "decomposition" => {
                "Compute the three variances from the same samples, as `lpf infer` does."
                    .to_string()
            }
            "coverage" | "set_size" => format!(
                "Fit the sets anew: lpf calibrate {} --method conformal --output sets.json",
                self.file()
            ),
            _ => self.worst(sources),
        }
    }

    /// The log as an argument, with the options that say how it is read.
    fn file(&self) -> String {
        let name = match &self.tally.inputs[..] {
            [only] => quoted(&only.name),
            _ => "LOG".to_string(),
        };
        match self.tally.settings.reading.is_empty() {
            true => name,
            false => format!("{name} {}", self.tally.settings.reading),
        }
    }

    fn calibrate(&self) -> String {
        let file = self.file();
        let again = match self.tally.settings.calibration {
            Some(_) => "The map does not fit these rows; fit one anew",
            None => "Fit a calibration map",
        };
        format!(
            "{again}: lpf calibrate {file} --method auto --output cal.json; then audit rows that it has \
             not seen with --calibration cal.json."
        )
    }

    /// Another method that gives the logged answers, by the sample of rows.
    fn method(&self) -> String {
        let sample = &self.tally.evidence.sample;
        let total = sample.rows().len();
        let fits = |method: Method| {
            let within = |row: &&crate::audit::sample::SampleRow| {
                let Ok(own) = aggregate(method, &row.factors, &row.weights, None) else {
                    return false;
                };
                let own = own.probabilities();
                let allowed = SINGLE.allowed(method, None, &row.factors, &row.weights, own);
                let mut pairs = row.answer.iter().zip(own).zip(allowed);
                pairs.all(|((a, b), allowed)| (a - b).abs() <= allowed)
            };
            sample.rows().filter(within).count()
        };
        let asked = self.tally.settings.method();
        let others = [Method::Spn, Method::Uniform, Method::Vote, Method::Max];
        let counts = others
            .into_iter()
            .filter(|m| Some(*m) != asked)
            .map(|m| (fits(m), m));
        match counts.max_by_key(|(count, _)| *count) {
            Some((count, method)) if 2 * count > total => format!(
                "{count} of {total} sampled answers are those of --method {0}: lpf audit {1} --method {0}",
                method.name(),
                self.file()
            ),
            _ => "None of the other methods gives these answers; if they come from another one, do not \
                  compare them: --method none."
                .to_string(),
        }
    }

    /// For what calibration cannot repair: where it is worst.
    fn worst(&self, sources: &[SourceReport]) -> String {
        let hurts = sources.iter().find(|s| s.effect == SourceEffect::Hurts);
        if let Some(source) = hurts {
            return format!("Leave out source {}, and answer again.", quoted(&source.id));
        }
        let by = &self.tally.settings.by;
        let has_ids = self
            .tally
            .evidence
            .sample
            .rows()
            .any(|row| row.ids.iter().any(Option::is_some));
        if has_ids && !by.iter().any(|by| by == EVIDENCE) {
            return format!(
                "See which source is to blame: lpf audit {} --by {EVIDENCE}",
                self.file()
            );
        }
        match by.is_empty() {
            true => format!(
                "See where it is worst: lpf audit {} --by FIELD",
                self.file()
            ),
            false => {
                "The worst slices are listed first; no calibration map repairs this.".to_string()
            }
        }
    }
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@%+=,".contains(c);
    match !name.is_empty() && name.chars().all(plain) {
        true => name.to_string(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}
