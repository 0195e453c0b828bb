//! A log of any length into a tally, in constant memory, on all threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::by::By;
use super::listed::Source;
use super::outcome::{Input, ModelUsed};
use super::slicing::{Sliced, Slicing};
use super::tally::{Rules, Tally, TallySettings, Waiting};
use crate::answer::Answerer;
use crate::calibration::CalibrationError;
use crate::error::{Error, ErrorKind, Result};
use crate::latent::Confidence;
use crate::log::{
    ClassNames, LogBatch, LogReader, Reading, Reason, Tolerance, check_names, sha256,
};
use crate::model::LatentModel;

/// More classes than this are refused: the top confidence is then at least about 1/1000, which
/// the grid needs, and the memory of one audit stays small.
pub(crate) const MAX_CLASSES: usize = 1000;

/// How the rows of all logs are read and judged.
#[derive(Clone, Debug)]
pub(super) struct ScanSettings {
    /// Names of the classes, where they are given.
    pub classes: Option<Vec<String>>,
    /// Number of equal-width bins.
    pub bins: usize,
    /// How far the sum of a distribution may be from one.
    pub tolerance: Tolerance,
    /// Whether rows without an answer get the one that follows from their evidence.
    pub from_evidence: bool,
    /// What answers evidence.
    pub answerer: Answerer,
    /// Whether the answer follows from the factors.
    pub compare: bool,
    /// How weights follow from posteriors, if they do.
    pub confidence: Option<Confidence>,
    /// What there are slices by.
    pub by: Vec<By>,
    /// Whether there are slices by pairs of fields too.
    pub segments: bool,
    /// The options of a command line that say how the log is read.
    pub reading: String,
}

impl ScanSettings {
    /// An empty tally over these classes.
    fn tally(&self, classes: &ClassNames) -> Result<Tally> {
        let answerer = &self.answerer;
        let prior = answerer.prior().filter(|_| self.compare);
        let method = self.compare.then(|| answerer.method().name());
        let model = answerer.latent().zip(answerer.model_digest());
        let calibration = answerer.calibration();
        let settings = TallySettings {
            classes: (0..classes.len())
                .map(|i| classes.name(i).into_owned())
                .collect(),
            named: matches!(classes, ClassNames::Named(_)),
            bins: self.bins,
            tolerance: self.tolerance.least(),
            digits: self.tolerance == Tolerance::Digits,
            from_evidence: self.from_evidence,
            method: method.unwrap_or("none").to_string(),
            prior: prior.map(|prior| prior.probabilities().to_vec()),
            model: model.map(|(latent, digest)| ModelUsed {
                sha256: digest.to_string(),
                samples: latent.samples() as u64,
                seed: latent.seed(),
            }),
            confidence: self.confidence.map_or("none", Confidence::name).to_string(),
            calibration: calibration.map(|map| sha256(map.to_json().as_bytes())),
            by: self.by.iter().map(ToString::to_string).collect(),
            segments: self.segments,
            reading: self.reading.clone(),
        };
        Ok(Tally::new(settings)?)
    }

    /// That the answerer can answer for these classes.
    fn check(&self, classes: &ClassNames) -> Result<()> {
        let fail = |what: String| Err(Error::new(ErrorKind::Audit, what));
        let n = classes.len();
        if n > MAX_CLASSES {
            return fail(format!("{n} classes; at most {MAX_CLASSES} can be audited"));
        }
        if let ClassNames::Named(names) = classes {
            check_names(names).map_err(|what| Error::new(ErrorKind::Audit, what))?;
        }
        if n == 0 {
            return fail("there are no classes".to_string());
        }
        if let Some(known) = self.answerer.latent().map(LatentModel::class_count)
            && known != n
        {
            return fail(format!(
                "the model is for {known} classes, but the log has {n}"
            ));
        }
        let prior = self.answerer.prior().filter(|_| self.compare);
        if let Some(known) = prior.map(|prior| prior.classes())
            && known != n
        {
            let what = format!("{known} numbers, but there are {n} classes");
            return Err(Error::setting("prior", what));
        }
        if let Some(map) = self.answerer.calibration() {
            let others = match (classes, &map.names) {
                (ClassNames::Named(own), Some(names)) => own.iter().ne(names),
                _ => false,
            };
            if map.classes != n || others {
                return fail("the calibration map is for other classes than the log".to_string());
            }
        }
        Ok(())
    }

    /// The tally of rows in memory: probabilities, the predicted and the true class.
    pub(super) fn rows(&self, name: &str, rows: &[(&[f64], usize, usize)]) -> Result<Tally> {
        let given = self.classes.as_deref().or_else(|| self.answerer.classes());
        let classes = match given {
            Some(names) => ClassNames::Named(names.into()),
            None => ClassNames::Numbered(rows.first().map_or(0, |(p, ..)| p.len())),
        };
        self.check(&classes)?;
        if !self.by.is_empty() {
            let what = "predictions in memory have no fields; give a log that has";
            return Err(Error::setting("by", what));
        }
        let mut tally = self.tally(&classes)?;
        let mut waiting = Waiting::default();
        let mut bytes = Vec::new();
        for (i, (p, named, label)) in rows.iter().enumerate() {
            let scored = match p.len() == classes.len() {
                true => tally.score(None, p, *named, *label, &mut waiting),
                false => Err(CalibrationError::Classes {
                    index: i,
                    expected: classes.len(),
                    found: p.len(),
                }),
            };
            scored.map_err(|error| Error::from(error).in_line(i as u64 + 1))?;
            if (i + 1) % ROWS_AT_A_TIME == 0 {
                tally.settle(&mut waiting);
            }
            bytes.extend(p.iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend((*label as u64).to_le_bytes());
        }
        tally.settle(&mut waiting);
        let n = rows.len() as u64;
        tally.checked = n;
        tally.inputs.push(Input {
            name: name.to_string(),
            stream: true,
            sha256: sha256(&bytes),
            rows: n,
            usable: n,
            computed: 0,
            rounded: 0,
            single: 0,
            reading: Reading::in_memory(),
            fitted_on: None,
        });
        Ok(tally)
    }

    fn rules<'a>(&'a self, classes: &'a ClassNames, batch: &'a LogBatch) -> Rules<'a> {
        Rules {
            row: batch.rules(classes, self.tolerance, self.from_evidence),
            answerer: &self.answerer,
            compare: self.compare,
            confidence: self.confidence,
        }
    }
}

/// Reads a log into a tally, one thread reading ahead while all work on what has been read.
///
/// `progress` is told how many bytes were read. The tally does not depend on the number of threads.
///
/// # Errors
/// Where the log cannot be read, or has no classes or others than the model, the prior or the
/// calibration map. Rows that cannot be used are counted.
pub(super) fn scan(
    name: &str,
    stream: bool,
    mut reader: LogReader<'_>,
    settings: &ScanSettings,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Tally> {
    let mut work = Work {
        name,
        stream,
        settings,
        slots: None,
        before: settings.tally(&ClassNames::Numbered(0))?,
        slicing: None,
        rows: 0,
    };
    if !reader.has_columns()
        && let Some(names) = work.names()
    {
        work.open(ClassNames::Named(names.into()))?;
    }
    let (mut batch, mut next) = (LogBatch::default(), LogBatch::default());
    let mut told = 0;
    let mut more = reader.fill(&mut batch)?;
    while more {
        let (filled, done) = rayon::join(|| reader.fill(&mut next), || work.batch(&batch));
        done?;
        more = filled?;
        let read = reader.position();
        if read > told {
            progress(read - told);
            told = read;
        }
        std::mem::swap(&mut batch, &mut next);
    }
    work.finish(&reader)
}

/// One log on its way into a tally.
struct Work<'a> {
    name: &'a str,
    stream: bool,
    settings: &'a ScanSettings,
    /// One tally a thread, once the classes are known.
    slots: Option<(ClassNames, Vec<Tally>)>,
    /// Rows before any that shows the classes: unusable whatever the classes are.
    before: Tally,
    /// Slices of all threads together, where they are asked for.
    slicing: Option<Slicing>,
    rows: u64,
}

impl Work<'_> {
    /// The names of the classes, where they are known before any row is read.
    fn names(&self) -> Option<&[String]> {
        let given = self.settings.classes.as_deref();
        given.or_else(|| self.settings.answerer.classes())
    }

    fn open(&mut self, classes: ClassNames) -> Result<()> {
        self.settings.check(&classes)?;
        let empty = self.settings.tally(&classes)?;
        let threads = rayon::current_num_threads().max(1);
        if !self.settings.by.is_empty() {
            self.slicing = Some(Slicing::new(self.settings, classes.len()));
        }
        self.slots = Some((classes, vec![empty; threads]));
        Ok(())
    }

    fn batch(&mut self, batch: &LogBatch) -> Result<()> {
        self.rows += batch.len() as u64;
        if self.slots.is_none() {
            let given = match batch.columns() {
                Some(_) => self.settings.classes.as_deref(),
                None => self.names(),
            };
            let model = self
                .settings
                .answerer
                .latent()
                .map(LatentModel::class_count);
            if let Some(classes) = batch.classes(given, model)? {
                self.open(classes)?;
            }
        }
        match &mut self.slots {
            Some((classes, slots)) => {
                let rules = self.settings.rules(classes, batch);
                let waiting = add_all(self.name, slots, batch, rules, self.slicing.as_ref());
                if let Some(slicing) = &mut self.slicing {
                    slicing.add(waiting)?;
                }
            }
            // Without classes no row is scored, so none waits.
            None => {
                let rules = self.settings.rules(&ClassNames::Numbered(0), batch);
                add_all(
                    self.name,
                    std::slice::from_mut(&mut self.before),
                    batch,
                    rules,
                    None,
                );
            }
        }
        Ok(())
    }

    fn finish(self, reader: &LogReader<'_>) -> Result<Tally> {
        let fail = |what: String| Err(Error::new(ErrorKind::Audit, what));
        let slots = self.slots.map(|(_, slots)| slots).unwrap_or_default();
        let mut slots = slots.into_iter();
        let found = slots.next();
        let known = found.is_some();
        let mut whole = found.unwrap_or_else(|| self.before.clone());
        for slot in slots {
            whole.merge_counts(&slot)?;
        }
        // Fields that no row has are no fault of the rows.
        let lacking = |reason| whole.unusable.counts.get(&reason) == Some(&self.rows);
        if self.rows > 0 && lacking(Reason::NoAnswer) {
            let evidence = match self.settings.from_evidence {
                true => "",
                false => ", the setting `answer-from-evidence` has the evidence answered",
            };
            return fail(format!("{}{evidence}", reader.no_answer()));
        }
        if self.rows > 0 && lacking(Reason::NoLabel) {
            return fail(reader.no_label());
        }
        if !known {
            let what = "there is no prediction: no row shows a true class and probabilities";
            return fail(match self.before.unusable.first.first() {
                Some(row) => format!(
                    "{what}; the first row is line {}: {}: {}",
                    row.line, row.field, row.message
                ),
                None => what.to_string(),
            });
        }
        whole.clusters.settle();
        if let Some(slicing) = self.slicing {
            whole.slices = slicing.finish();
        }
        whole.merge_rejected(&self.before)?;
        let sha256 = reader.sha256();
        let map = self.settings.answerer.calibration();
        whole.inputs.push(Input {
            name: self.name.to_string(),
            stream: self.stream,
            rows: self.rows,
            usable: whole.usable(),
            computed: whole.evidence.computed,
            rounded: whole.rounded,
            single: whole.single,
            reading: reader.reading(),
            fitted_on: map.map(|map| map.was_fitted_on(&sha256)),
            sha256,
        });
        Ok(whole)
    }
}

/// So many rows are taken at a time by whichever thread is free: one of them may be reading ahead.
const ROWS_AT_A_TIME: usize = 1 << 10;

/// Shares out the rows of a batch among the slots; returns what waits for slices.
fn add_all(
    file: &str,
    slots: &mut [Tally],
    batch: &LogBatch,
    rules: Rules<'_>,
    slicing: Option<&Slicing>,
) -> Vec<Sliced> {
    let rows = batch.len();
    let next = AtomicUsize::new(0);
    // What a map makes of an answer is not what is logged.
    let direct = rules.answerer.calibration().is_none();
    let work = |slot: &mut Tally| {
        let mut waiting = slicing.map_or_else(Waiting::default, Slicing::waiting);
        let mut values = slicing.map(Slicing::values);
        loop {
            let first = next.fetch_add(ROWS_AT_A_TIME, Ordering::Relaxed).min(rows);
            let taken = first..(first + ROWS_AT_A_TIME).min(rows);
            if taken.is_empty() {
                break;
            }
            let plain = batch.plain(taken.clone(), rules.row);
            let mut plain = plain.filter(|_| direct);
            for at in taken {
                let before = waiting.rows.len();
                let numbers = &mut waiting.probabilities;
                match plain.as_mut().and_then(|p| p.read(at, numbers)) {
                    Some(row) => slot.add_plain(&row, &mut waiting),
                    None => {
                        let row = batch.row(at);
                        let source = Source {
                            file,
                            line: row.number,
                        };
                        slot.add(source, row.line, row.prediction, rules, &mut waiting);
                    }
                }
                if let Some(values) = &mut values
                    && waiting.rows.len() > before
                {
                    values.add(batch, at);
                }
            }
            slot.settle(&mut waiting);
        }
        values.map(|values| values.with(waiting))
    };
    let sliced = slots.par_iter_mut().map(work);
    sliced.flatten_iter().collect()
}
