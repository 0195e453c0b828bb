//! A file of any length, in constant memory, on all threads.

use std::fmt;
use std::io::Read;
#[cfg(feature = "parquet")]
use std::io::Seek;
use std::sync::Arc;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::kept::Source;
use super::outcome::ModelUsed;
#[cfg(feature = "parquet")]
use super::row::COLUMNS;
use super::row::{self, Classes, Layout, MAX_CLASSES, Refusal};
use super::tally::{MergeError, Reading, Shape, StoredInput, Tally, Waiting};
use crate::calibration::CalibrationError;
use crate::latent::Confidence;
use crate::log::{
    Batch, ColumnNames, Columns, LineReader, LinesError, Prediction, check_names, hexadecimal,
    sha256,
};
#[cfg(feature = "parquet")]
use crate::log::{TableBatch, TableError, TableReader};
use crate::model::{CalibrationFile, LatentModel};

/// What is asked of every file.
#[derive(Clone, Debug)]
pub struct ScanSettings {
    /// Whether lines are comma-separated columns, and which; JSON otherwise. Parquet is neither, but
    /// takes the names from here.
    pub csv: Option<ColumnNames>,
    /// The field of the answer in JSON.
    pub answer: String,
    /// Names of the classes, where they are given.
    pub classes: Option<Vec<String>>,
    /// Number of equal-width bins.
    pub bins: usize,
    /// How far the sum of a distribution may be from one.
    pub tolerance: f64,
    /// How the answer is said to follow from the factors: `spn`, `uniform`, or `none`.
    pub method: String,
    /// How weights are said to follow from posteriors.
    pub confidence: Option<Confidence>,
    /// A map that answers are passed through before they are scored.
    pub calibration: Option<CalibrationFile>,
    /// A model that gives factors to items that were logged without.
    pub model: Option<ScanModel>,
}

/// A model, and the digest of its file.
#[derive(Clone, Debug)]
pub struct ScanModel {
    /// The model, with the number of samples and the seed that it draws with.
    pub latent: Arc<LatentModel>,
    /// SHA-256 of its file.
    pub sha256: String,
}

impl ScanModel {
    fn used(&self) -> ModelUsed {
        ModelUsed {
            sha256: self.sha256.clone(),
            samples: self.latent.samples() as u64,
            seed: self.latent.seed(),
        }
    }
}

impl ScanSettings {
    fn latent(&self) -> Option<&LatentModel> {
        self.model.as_ref().map(|model| &*model.latent)
    }
}

/// Why a file cannot be audited at all.
#[derive(Debug)]
#[non_exhaustive]
pub enum ScanError {
    /// It cannot be read further.
    Lines(LinesError),
    /// The header does not name the columns that are needed.
    Header(String),
    /// The Parquet file cannot be read.
    #[cfg(feature = "parquet")]
    Table(TableError),
    /// No line shows how many classes there are.
    NoPrediction,
    /// More classes than can be handled, or names that cannot tell them apart.
    Classes(String),
    /// The number of bins is out of range.
    Bins(CalibrationError),
    /// More rows than can be counted.
    Merge(MergeError),
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScanError::Lines(error) => error.fmt(f),
            #[cfg(feature = "parquet")]
            ScanError::Table(error) => error.fmt(f),
            ScanError::Header(what) | ScanError::Classes(what) => f.write_str(what),
            ScanError::NoPrediction => write!(
                f,
                "there is no prediction; one JSON object a line with a label and probabilities is \
                 needed, or a CSV file with a header"
            ),
            ScanError::Bins(error) => error.fmt(f),
            ScanError::Merge(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ScanError {}

/// Passes bytes on, and keeps their digest.
struct Digesting<'p, R> {
    inner: R,
    digest: Sha256,
    progress: &'p (dyn Fn(u64) + Sync),
}

impl<R: Read> Read for Digesting<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.digest.update(buffer.get(..read).unwrap_or_default());
        (self.progress)(read as u64);
        Ok(read)
    }
}

/// Reads a file into a tally, one thread reading ahead while all work on what has been read.
///
/// `progress` is told how many bytes were read. The tally does not depend on the number of threads.
///
/// # Errors
/// [`ScanError`]; rows that cannot be used are no error but counted.
pub fn scan(
    name: &str,
    reader: impl Read + Send,
    settings: &ScanSettings,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Tally, ScanError> {
    let mut digesting = Digesting {
        inner: reader,
        digest: Sha256::new(),
        progress,
    };
    let mut reader = LineReader::new(&mut digesting);
    let mut work = Work::new(name, settings)?;
    let (mut batch, mut next) = (Batch::default(), Batch::default());
    let mut more = reader.fill(&mut batch).map_err(ScanError::Lines)?;
    while more {
        let (filled, done) = rayon::join(|| reader.fill(&mut next), || work.batch(&batch));
        done?;
        more = filled.map_err(ScanError::Lines)?;
        std::mem::swap(&mut batch, &mut next);
    }
    let sha256 = hexadecimal(&digesting.digest.finalize());
    work.finish(sha256)
}

fn digest(map: &CalibrationFile) -> String {
    sha256(map.to_json().as_bytes())
}

fn empty(classes: &Classes, settings: &ScanSettings) -> Result<Tally, ScanError> {
    let shape = Shape {
        classes: classes.names.clone(),
        named: classes.named,
        bins: settings.bins,
        tolerance: settings.tolerance,
        method: settings.method.clone(),
        model: settings.model.as_ref().map(ScanModel::used),
        confidence: settings
            .confidence
            .map_or("none", Confidence::name)
            .to_string(),
        calibration: settings.calibration.as_ref().map(digest),
    };
    Tally::new(shape).map_err(ScanError::Bins)
}

/// Reads a Parquet file into a tally; see [`scan()`].
///
/// # Errors
/// [`ScanError`].
#[cfg(feature = "parquet")]
pub fn scan_parquet(
    name: &str,
    mut file: impl Read + Seek + Send + 'static,
    settings: &ScanSettings,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Tally, ScanError> {
    let unread = |error| ScanError::Table(TableError::Read(error));
    let mut digesting = Digesting {
        inner: &mut file,
        digest: Sha256::new(),
        progress: &|_| {},
    };
    let length = std::io::copy(&mut digesting, &mut std::io::sink()).map_err(unread)?;
    let sha256 = hexadecimal(&digesting.digest.finalize());
    let names = settings.csv.clone().unwrap_or_default();
    let mut reader = TableReader::new(file, &names).map_err(ScanError::Table)?;
    let mut work = Work::new(name, settings)?;
    work.open_columns(reader.classes())?;
    // The bar shows bytes; rows are taken to be of one length.
    let bytes_a_row = length as f64 / reader.rows().max(1) as f64;
    let (mut batch, mut next) = (TableBatch::default(), TableBatch::default());
    let mut more = reader.fill(&mut batch).map_err(ScanError::Table)?;
    while more {
        let (filled, ()) = rayon::join(|| reader.fill(&mut next), || work.table(&batch));
        progress((batch.len() as f64 * bytes_a_row) as u64);
        more = filled.map_err(ScanError::Table)?;
        std::mem::swap(&mut batch, &mut next);
    }
    work.finish(sha256)
}

/// One file on its way into a tally.
struct Work<'a> {
    name: &'a str,
    settings: &'a ScanSettings,
    /// None before the header of a CSV file has been read.
    layout: Option<Layout>,
    /// One tally a thread, once the classes are known.
    slots: Option<(Classes, Vec<Tally>)>,
    /// Lines before any that shows the classes: unusable whatever the classes are.
    before: Tally,
    rows: u64,
}

impl<'a> Work<'a> {
    fn new(name: &'a str, settings: &'a ScanSettings) -> Result<Self, ScanError> {
        let mut work = Work {
            name,
            settings,
            layout: None,
            slots: None,
            before: empty(&Classes::numbered(0), settings)?,
            rows: 0,
        };
        if settings.csv.is_none() {
            work.layout = Some(Layout::Json {
                answer: settings.answer.clone(),
            });
            let model = settings.latent().and_then(|m| m.model().classes.as_ref());
            if let Some(names) = settings.classes.as_ref().or(model) {
                work.open(Classes::named(names))?;
            }
        }
        Ok(work)
    }

    fn open(&mut self, classes: Classes) -> Result<(), ScanError> {
        let n = classes.len();
        if n > MAX_CLASSES {
            let what = format!("{n} classes; at most {MAX_CLASSES} can be audited");
            return Err(ScanError::Classes(what));
        }
        check_names(&classes.names).map_err(|what| ScanError::Classes(what.to_string()))?;
        if let Some(latent) = self.settings.latent()
            && latent.class_count() != n
        {
            let known = latent.class_count();
            let what = format!("the model tells {known} classes apart, but the log has {n}");
            return Err(ScanError::Classes(what));
        }
        if let Some(map) = &self.settings.calibration {
            let others = map.names.as_ref().filter(|_| classes.named);
            if map.classes != n || others.is_some_and(|names| *names != classes.names) {
                let what = "the calibration map is for other classes than the log";
                return Err(ScanError::Classes(what.to_string()));
            }
        }
        let empty = empty(&classes, self.settings)?;
        let threads = rayon::current_num_threads().max(1);
        self.slots = Some((classes, vec![empty; threads]));
        Ok(())
    }

    fn header(&mut self, line: &[u8]) -> Result<(), ScanError> {
        let wanted = self.settings.csv.clone().unwrap_or_default();
        let columns = Columns::of_header(line, &wanted).map_err(ScanError::Header)?;
        self.open_columns(columns.classes())?;
        self.layout = Some(Layout::Csv(columns));
        Ok(())
    }

    /// The classes of a table are those that its columns name, unless others are given.
    fn open_columns(&mut self, found: &[String]) -> Result<(), ScanError> {
        let classes = match &self.settings.classes {
            Some(names) if names.len() != found.len() => {
                let (n, c) = (names.len(), found.len());
                let what = format!("--classes names {n} classes, but there are {c} columns");
                return Err(ScanError::Classes(what));
            }
            Some(names) => Classes::named(names),
            None => Classes::named(found),
        };
        self.open(classes)
    }

    fn batch(&mut self, batch: &Batch) -> Result<(), ScanError> {
        let mut lines: Vec<(u64, &[u8])> = batch.lines().collect();
        if self.layout.is_none() && !lines.is_empty() {
            let (_, header) = lines.remove(0);
            self.header(header)?;
        }
        self.rows += lines.len() as u64;
        let Some(layout) = &self.layout else {
            return Ok(());
        };
        if self.slots.is_none() {
            let mut found = lines.iter().filter_map(|(_, line)| {
                row::parse(line, layout)
                    .ok()
                    .and_then(|p| row::classes_of(&p, self.settings.latent()))
            });
            match found.next() {
                Some(classes) => self.open(classes)?,
                None => {
                    let reading = Reading {
                        answer_field: layout.answer_field(),
                        classes: &Classes::numbered(0),
                        calibration: None,
                        latent: None,
                    };
                    // Without classes no row is scored, so none waits.
                    let mut waiting = Waiting::new();
                    for (line, text) in lines {
                        let at = Source {
                            file: self.name,
                            line,
                        };
                        let said = row::parse(text, layout);
                        self.before.add(at, text, said, reading, &mut waiting);
                    }
                    return Ok(());
                }
            }
        }
        let (Some(layout), Some((classes, slots))) = (&self.layout, &mut self.slots) else {
            return Ok(());
        };
        let reading = Reading {
            answer_field: layout.answer_field(),
            classes,
            calibration: self.settings.calibration.as_ref(),
            latent: self.settings.latent(),
        };
        let row = |i: usize| {
            let (number, text) = lines.get(i).copied().unwrap_or_default();
            (number, text, row::parse(text, layout))
        };
        add_all(self.name, slots, lines.len(), reading, row);
        Ok(())
    }

    #[cfg(feature = "parquet")]
    fn table(&mut self, batch: &TableBatch) {
        self.rows += batch.len() as u64;
        let Some((classes, slots)) = &mut self.slots else {
            return;
        };
        let reading = Reading {
            answer_field: COLUMNS,
            classes,
            calibration: self.settings.calibration.as_ref(),
            latent: None,
        };
        let row = |i: usize| {
            let said = batch.prediction(i).map_err(Refusal::from);
            (batch.number(i), &[][..], said)
        };
        add_all(self.name, slots, batch.len(), reading, row);
    }

    fn finish(self, sha256: String) -> Result<Tally, ScanError> {
        let Some((_, slots)) = self.slots else {
            return Err(ScanError::NoPrediction);
        };
        let mut slots = slots.into_iter();
        let mut whole = slots.next().ok_or(ScanError::NoPrediction)?;
        for slot in slots.chain([self.before]) {
            whole.merge_counts(&slot).map_err(ScanError::Merge)?;
        }
        whole.inputs.push(StoredInput {
            name: self.name.to_string(),
            sha256,
            rows: self.rows,
            usable: whole.usable(),
        });
        Ok(whole)
    }
}

/// A row's number, its line where it has one, and what it says.
type Said<'a> = (u64, &'a [u8], Result<Prediction<'a>, Refusal>);

/// Shares out `rows` rows among the slots.
fn add_all<'a>(
    file: &str,
    slots: &mut [Tally],
    rows: usize,
    reading: Reading<'_>,
    row: impl Fn(usize) -> Said<'a> + Sync,
) {
    let share = rows.div_ceil(slots.len()).max(1);
    slots.par_iter_mut().enumerate().for_each(|(i, slot)| {
        let first = (i * share).min(rows);
        let mut waiting = Waiting::with_capacity(share);
        for at in first..(first + share).min(rows) {
            let (line, text, said) = row(at);
            slot.add(Source { file, line }, text, said, reading, &mut waiting);
        }
        slot.settle(&mut waiting);
    });
}
