//! What to do about a check that failed or is undecided: a step in words, and where there is one a command
//! behind a line break, as a shell takes it.

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
                "Fit the sets anew:\nlpf calibrate {} --method conformal --output sets.json",
                self.fitted()
            ),
            _ => self.worst(sources),
        }
    }

    /// Each file as an argument; none where one is no file.
    fn files(&self) -> Option<Vec<String>> {
        /// A command with more is not read.
        const MOST: usize = 8;
        let inputs = &self.tally.inputs;
        let all = inputs.len() <= MOST && !inputs.iter().any(|input| input.stream);
        all.then(|| inputs.iter().map(|input| quoted(&input.name)).collect())
    }

    /// The log as arguments of `lpf audit`, with the options that say how it is read.
    fn audited(&self) -> String {
        let settings = &self.tally.settings;
        let files = self.files().map(|files| files.join(" "));
        let tolerance = match settings.digits {
            true => String::new(),
            false => format!("--tolerance {}", settings.tolerance),
        };
        joined([
            &files.unwrap_or_else(|| "LOG".to_string()),
            &settings.reading,
            &tolerance,
            &self.answered("--method"),
        ])
    }

    /// The same for `lpf calibrate`, which takes one file to fit on and one to judge by.
    fn fitted(&self) -> String {
        let log = match self.files().as_deref() {
            Some([only]) => only.clone(),
            Some([first, second, ..]) => format!("{first} --judge {second}"),
            _ => "LOG".to_string(),
        };
        joined([
            &log,
            &self.tally.settings.reading,
            &self.answered("--aggregation"),
        ])
    }

    /// How evidence is answered, where that is asked for and not as usual.
    fn answered(&self, option: &str) -> String {
        let settings = &self.tally.settings;
        match settings.method() {
            Some(method) if settings.from_evidence && method != Method::Spn => {
                format!("{option} {}", method.name())
            }
            _ => String::new(),
        }
    }

    fn calibrate(&self) -> String {
        let again = match self.tally.settings.calibration {
            Some(_) => "The map does not fit these rows. Fit one anew",
            None => "Fit a calibration map",
        };
        format!(
            "{again}, then audit rows that it has not seen with --calibration cal.json:\nlpf calibrate {} \
             --method auto --output cal.json",
            self.fitted()
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
                "{count} of {total} sampled answers are those of --method {0}:\nlpf audit {1} --method {0}",
                method.name(),
                self.audited()
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
                "See which source is to blame:\nlpf audit {} --by {EVIDENCE}",
                self.audited()
            );
        }
        if !by.is_empty() {
            return "The worst slices are listed first; no calibration map repairs this."
                .to_string();
        }
        let fields: Vec<&String> = self.fields().collect();
        let Some((first, others)) = fields.split_first() else {
            return "No calibration map repairs this, and the log has no further field that shows where it is \
                    worst."
                .to_string();
        };
        let more = match others {
            [] => String::new(),
            others => {
                let names = others.iter().map(|name| name.as_str());
                format!(" (or {})", names.collect::<Vec<_>>().join(", "))
            }
        };
        format!(
            "See where it is worst, by {first}{more}:\nlpf audit {} --by {}",
            self.audited(),
            quoted(first)
        )
    }

    /// Fields that rows may be told apart by: not the numbers of rows that pandas writes beside them.
    fn fields(&self) -> impl Iterator<Item = &String> {
        const MOST: usize = 5;
        const NUMBERS: [&str; 3] = ["index", "Unnamed: 0", "__index_level_0__"];
        let first = self.tally.inputs.first();
        let others = first.into_iter().flat_map(|input| &input.reading.others);
        let telling = others.filter(|name| !NUMBERS.contains(&&***name) && !name.contains('\n'));
        telling.take(MOST)
    }
}

/// Words of a command, without those that are empty.
fn joined<const N: usize>(words: [&str; N]) -> String {
    let words = words.into_iter().filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@%+=,".contains(c);
    match !name.is_empty() && name.chars().all(plain) {
        true => name.to_string(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}
