//! What a map or prediction sets are worth on rows that they were not fitted on.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::Serialize;

use super::rows::Labelled;
use crate::audit::{Audit, CHECKS, Check, Log, Tally};
use crate::bounds::{binned_ranges, clopper_pearson};
use crate::calibration::{
    Bounded, Calibrated, CalibrationMap, Candidate, ConformalSets, HistogramMap, MapShape, bin_edge,
};
use crate::cli::Failure;
use crate::error::{Error, ErrorKind};
use crate::exhibit::{Cell, Table};
use crate::model::CalibrationFile;
use crate::report::table_text;

/// Intervals hold with probability 1 − δ each.
const DELTA: f64 = 0.05;

/// A map and how it does.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    method: &'static str,
    map: &'a CalibrationMap,
    fitted_on: u64,
    judged_on: u64,
    /// Of these, rows that share their entity with others, where there are any; at least so many where
    /// there are more than [`MOST_NAMES`] entities.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeated: Option<u64>,
    /// What the fit cost for its memory, where not all rows could be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounded: Option<Bounded>,
    /// What `auto` tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<Vec<Candidate>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Scores>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Scores>,
    /// T1″, for histogram maps.
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Vec<BinPromise>>,
    /// For prediction sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    sets: Option<JudgedSets>,
    #[serde(skip)]
    names: Option<Vec<String>>,
}

/// The scores of some predictions, as an audit of them finds them.
#[derive(Clone, Copy, Debug, Serialize)]
struct Scores {
    accuracy: Estimate,
    ece: Estimate,
    smooth_ece: Estimate,
    brier: Estimate,
    log_loss: Estimate,
    /// Rows whose true class got probability zero, each of which makes the log loss infinite.
    impossible: u64,
}

/// A score and its 95 % interval, where there is one.
#[derive(Clone, Copy, Debug, Serialize)]
struct Estimate {
    value: f64,
    interval: Option<(f64, f64)>,
}

impl Scores {
    fn of(tally: Tally, impossible: u64) -> Result<Self, Error> {
        let mut audit = Audit::of(Log::tally("rows", tally)).compare(false);
        // Without limits each interval has a level of its own.
        for kind in CHECKS.iter().filter(|kind| kind.default.is_some()) {
            audit = audit.no_limit(kind.id);
        }
        let report = audit.run()?;
        let estimate = |id: &str| {
            let check = report.check(id);
            let interval = check.and_then(|check| check.interval);
            Estimate {
                value: check
                    .and_then(|check: &Check| check.value)
                    .unwrap_or(f64::NAN),
                interval: interval.map(|interval| (interval.low, interval.high)),
            }
        };
        Ok(Scores {
            accuracy: estimate("accuracy"),
            ece: estimate("ece"),
            smooth_ece: estimate("smooth_ece"),
            brier: estimate("brier"),
            log_loss: estimate("log_loss"),
            impossible,
        })
    }
}

/// Rows that are scored some at a time.
#[derive(Default)]
struct Scoring {
    tally: Option<Tally>,
    impossible: u64,
}

impl Scoring {
    fn add(&mut self, rows: &[(Calibrated, usize)]) -> Result<(), Error> {
        let zero = |(p, label): &&(Calibrated, usize)| {
            let of_class = p.distribution.probabilities().get(*label);
            of_class.is_none_or(|&p| p == 0.0)
        };
        self.impossible += rows.iter().filter(zero).count() as u64;
        let part = Audit::of(Log::calibrated("rows", rows))
            .compare(false)
            .tally()?;
        let Some(whole) = &mut self.tally else {
            self.tally = Some(part);
            return Ok(());
        };
        // One input, whose parts these are.
        let (mut part, mut added) = (part, 0);
        for input in part.inputs.drain(..) {
            added += input.rows;
        }
        whole.merge(&part)?;
        for input in &mut whole.inputs {
            input.rows += added;
            input.usable += added;
        }
        Ok(())
    }

    fn scores(self) -> Result<Option<Scores>, Error> {
        let tally = self.tally.map(|tally| Scores::of(tally, self.impossible));
        tally.transpose()
    }
}

impl Estimate {
    /// With four digits.
    fn shown(&self) -> String {
        match self.interval {
            Some((low, f64::INFINITY)) => format!("{:.4} [{low:.4}, ∞)", self.value),
            Some((low, high)) => format!("{:.4} [{low:.4}, {high:.4}]", self.value),
            None if self.value.is_infinite() => "infinite".to_string(),
            None => format!("{:.4}", self.value),
        }
    }
}

/// What a histogram map promises about one bin.
#[derive(Clone, Copy, Debug, Serialize)]
struct BinPromise {
    above: f64,
    up_to: f64,
    points: u64,
    /// What the map answers; none where there are no points.
    answer: Option<f64>,
    /// With all other bins, with probability 95 %, the true rate is between these.
    low: f64,
    high: f64,
}

/// How prediction sets do on rows that their thresholds do not come from.
#[derive(Clone, Debug, Serialize)]
struct JudgedSets {
    /// The coverage that was asked for.
    asked: f64,
    all: Covered,
    /// Of the rows of each class.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by_class: Vec<Covered>,
    mean_size: f64,
    /// How many sets hold so many classes.
    sizes: Vec<u64>,
}

/// How often sets hold the true class, with an exact 95 % interval.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Covered {
    rows: u64,
    hits: u64,
    interval: Option<(f64, f64)>,
}

impl Covered {
    fn count(&mut self, hit: bool) {
        self.rows += 1;
        self.hits += u64::from(hit);
    }

    fn settled(self) -> Self {
        Covered {
            interval: clopper_pearson(self.hits, self.rows, DELTA).ok(),
            ..self
        }
    }

    fn shown(&self) -> String {
        let rate = self.hits as f64 / self.rows as f64;
        match self.interval {
            Some((low, high)) => format!("{rate:.4} [{low:.4}, {high:.4}]"),
            None => "—".to_string(),
        }
    }
}

impl JudgedSets {
    fn new(sets: &ConformalSets, classes: usize) -> Self {
        let settings = sets.settings();
        let each = if settings.by_class { classes } else { 0 };
        JudgedSets {
            asked: settings.coverage,
            all: Covered::default(),
            by_class: vec![Covered::default(); each],
            mean_size: 0.0,
            sizes: vec![0; classes + 1],
        }
    }

    fn add(&mut self, sets: &ConformalSets, rows: &[Labelled]) -> Result<(), Error> {
        for row in rows {
            let set = sets.set(&row.prediction, row.weights.as_deref())?;
            let hit = set.contains(&row.label);
            self.all.count(hit);
            if let Some(of_class) = self.by_class.get_mut(row.label) {
                of_class.count(hit);
            }
            if let Some(count) = self.sizes.get_mut(set.len()) {
                *count += 1;
            }
        }
        Ok(())
    }

    fn settled(mut self) -> Self {
        let sizes = self.sizes.iter().enumerate();
        let total: u64 = sizes.map(|(size, count)| size as u64 * count).sum();
        self.mean_size = total as f64 / self.all.rows as f64;
        self.all = self.all.settled();
        self.by_class.iter_mut().for_each(|c| *c = c.settled());
        self
    }
}

/// Names of entities whose rows are counted: some tens of megabytes.
const MOST_NAMES: usize = 1 << 20;

/// Rows that a map was not fitted on, as they are read.
pub(super) struct Judging<'a> {
    file: &'a CalibrationFile,
    rows: u64,
    /// How many rows each name has, for the first names.
    named: HashMap<u64, u64>,
    before: Scoring,
    after: Scoring,
    sets: Option<JudgedSets>,
}

impl<'a> Judging<'a> {
    pub(super) fn new(file: &'a CalibrationFile) -> Self {
        let sets = file.map.sets();
        Judging {
            file,
            rows: 0,
            named: HashMap::new(),
            before: Scoring::default(),
            after: Scoring::default(),
            sets: sets.map(|sets| JudgedSets::new(sets, file.classes)),
        }
    }

    /// Judges by some rows.
    pub(super) fn add(&mut self, rows: Vec<Labelled>) -> Result<(), Error> {
        self.rows += rows.len() as u64;
        if rows.is_empty() {
            return Ok(());
        }
        for row in rows.iter().filter(|row| row.number.is_none()) {
            if let Some(rows) = self.named.get_mut(&row.key) {
                *rows += 1;
            } else if self.named.len() < MOST_NAMES {
                self.named.insert(row.key, 1);
            }
        }
        if let (Some(judged), Some(sets)) = (&mut self.sets, self.file.map.sets()) {
            return judged.add(sets, &rows);
        }
        let rows: Vec<(Calibrated, usize)> = rows
            .into_iter()
            .map(|row| (Calibrated::unchanged(row.prediction), row.label))
            .collect();
        let mapped = || -> Result<(), Error> {
            let mapped: Vec<(Calibrated, usize)> = rows
                .par_iter()
                .map(|(row, label)| Ok((self.file.apply(&row.distribution)?, *label)))
                .collect::<Result<_, Error>>()?;
            self.after.add(&mapped)
        };
        let (before, after) = rayon::join(|| self.before.add(&rows), mapped);
        before.and(after)
    }

    pub(super) fn report(
        self,
        candidates: Option<Vec<Candidate>>,
        bounded: Option<Bounded>,
    ) -> Result<Report<'a>, Error> {
        let bins = match self.file.map.shape() {
            MapShape::Histogram(map) => Some(promises(map)?),
            _ => None,
        };
        Ok(Report {
            method: self.file.map.name(),
            map: &self.file.map,
            fitted_on: self.file.rows,
            judged_on: self.rows,
            repeated: Some(self.named.values().filter(|rows| **rows > 1).sum())
                .filter(|rows| *rows > 0),
            bounded,
            candidates,
            before: self.before.scores()?,
            after: self.after.scores()?,
            bins,
            sets: self.sets.map(JudgedSets::settled),
            names: self.file.names.clone(),
        })
    }
}

impl Report<'_> {
    pub(super) fn json(&self) -> Result<String, Failure> {
        let json = serde_json::to_string(self);
        Ok(json.map_err(|error| Failure::Usage(error.to_string()))? + "\n")
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        if let Some(candidates) = &self.candidates {
            out += &comparison(candidates);
        }
        out += &format!("{} map, fitted on {} rows\n", self.method, self.fitted_on);
        if let Some(bounded) = &self.bounded {
            out += &format!("{bounded}\n");
        }
        match self.map.shape() {
            MapShape::Temperature(t) => {
                out += &format!("temperature {:.6}\n", f64::from(*t));
            }
            MapShape::Isotonic(map) => out += &format!("{} blocks\n", map.blocks().len()),
            MapShape::LogLinear(map) => {
                let shown = map.parameters().iter().take(12).map(|x| format!("{x:.4}"));
                let more = if map.parameters().len() > 12 {
                    ", …"
                } else {
                    ""
                };
                let shown: Vec<String> = shown.collect();
                out += &format!("parameters {}{more}\n", shown.join(", "));
            }
            MapShape::Conformal(sets) => out += &thresholds(sets, self.names.as_deref()),
            _ => {}
        }
        if self.map.least() > 1e-15 {
            out += &format!(
                "probabilities below {:.3e}, zero among them, are read as that\n",
                self.map.least()
            );
        }
        if let Some(sets) = &self.sets {
            out += &self.sets_text(sets);
        }
        if let (Some(before), Some(after)) = (&self.before, &self.after) {
            out += &self.scores_text(before, after);
        }
        if let Some(bins) = &self.bins {
            out += &bins_text(bins);
        }
        if let Some(rows) = self.repeated {
            out += &format!(
                "Note: {rows} of {} rows that the map was not fitted on share their entity with others, and may \
                 depend on each other. What holds for independent rows need not hold for them.\n",
                self.judged_on
            );
        }
        out
    }

    fn scores_text(&self, b: &Scores, a: &Scores) -> String {
        let title = format!(
            "On {} rows that the map was not fitted on, with 95 % intervals",
            self.judged_on
        );
        let mut scores = Table::new("scores", title);
        let rows = [
            ("accuracy", b.accuracy, a.accuracy),
            ("ECE, 15 bins", b.ece, a.ece),
            ("smooth ECE", b.smooth_ece, a.smooth_ece),
            ("Brier score", b.brier, a.brier),
            ("log loss", b.log_loss, a.log_loss),
        ];
        for (name, before, after) in rows {
            scores.row([
                ("score", Cell::text(name)),
                ("before", Cell::text(before.shown())),
                ("after", Cell::text(after.shown())),
            ]);
        }
        let mut out = format!("\n{}", table_text(&scores));
        out += "Intervals hold for independent rows, whatever the model. No number of rows bounds a log \
                loss from above.\n";
        for (name, before, after) in rows {
            let worse = match name {
                "accuracy" => after.value < before.value,
                _ => after.value > before.value,
            };
            if worse {
                let apart = before
                    .interval
                    .zip(after.interval)
                    .is_some_and(|(b, a)| b.1 < a.0 || a.1 < b.0);
                let chance = if apart {
                    "more than chance explains"
                } else {
                    "which may be chance: the intervals overlap"
                };
                out += &format!(
                    "Note: {name} is worse after the map ({:.4} before, {:.4} after), {chance}.\n",
                    before.value, after.value
                );
            }
        }
        if a.impossible > 0 {
            out += &format!(
                "\nThe map gives probability zero to the true class of {} of these rows.\n",
                a.impossible
            );
        }
        out
    }

    fn sets_text(&self, sets: &JudgedSets) -> String {
        let mut out = format!(
            "\nOn {} rows that the thresholds do not come from:\n  coverage {}, {} asked for\n  mean \
             size {:.3} classes\n",
            self.judged_on,
            sets.all.shown(),
            sets.asked,
            sets.mean_size
        );
        for (size, count) in sets
            .sizes
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            let classes = if size == 1 { "class" } else { "classes" };
            out += &format!("  {count} sets of {size} {classes}\n");
        }
        out += "The interval is exact, at 95 %, for independent rows. The coverage is guaranteed on average \
                over the choice of the fitting rows.\n";
        if !sets.by_class.is_empty() {
            let mut table = Table::new("coverage", "Coverage of the rows of each class");
            for (i, of_class) in sets.by_class.iter().enumerate() {
                table.row([
                    ("class", Cell::text(class_name(self.names.as_deref(), i))),
                    ("rows", Cell::count(of_class.rows as usize)),
                    ("coverage", Cell::text(of_class.shown())),
                ]);
            }
            out += &format!("\n{}", table_text(&table));
        }
        out
    }
}

fn class_name(names: Option<&[String]>, class: usize) -> String {
    let name = names.and_then(|names| names.get(class));
    name.cloned().unwrap_or_else(|| class.to_string())
}

/// What the sets are made of.
fn thresholds(sets: &ConformalSets, names: Option<&[String]>) -> String {
    let mut out = String::new();
    let by_class = sets.settings().by_class;
    for (i, threshold) in sets.thresholds().iter().enumerate() {
        let of = match by_class {
            true => format!(" of class {}", class_name(names, i)),
            false => String::new(),
        };
        out += &match threshold.score {
            Some(score) => format!(
                "scores up to {score:.6}{of}, from {} rows\n",
                threshold.points
            ),
            None => format!(
                "every score{of}: {} rows are too few for a coverage of {}\n",
                threshold.points,
                sets.settings().coverage
            ),
        };
    }
    if let Some(robust) = sets.settings().robust {
        out += &format!(
            "and further by {} times the {} largest weights of the evidence together: sets keep their \
             coverage although so many items were moved by up to that Hilbert distance, their weights \
             unchanged\n",
            robust.distance, robust.items
        );
    }
    out
}

/// What `auto` tried, and why it chose.
fn comparison(candidates: &[Candidate]) -> String {
    let mut table = Table::new(
        "candidates",
        "Log loss on rows that were not fitted on, by five folds",
    );
    for candidate in candidates {
        let loss = match (candidate.log_loss, &candidate.left_out) {
            (Some(loss), _) if loss.is_infinite() => Cell::text("infinite"),
            (Some(loss), _) => Cell::number(loss, 6),
            (None, reason) => Cell::text(format!(
                "left out: {}",
                reason.as_deref().unwrap_or("not fitted")
            )),
        };
        let chosen = if candidate.chosen { "chosen" } else { "" };
        table.row([
            ("method", Cell::text(candidate.method)),
            ("log loss", loss),
            ("", Cell::text(chosen)),
        ]);
    }
    let chosen = candidates.iter().find(|candidate| candidate.chosen);
    let why = match chosen.map(|candidate| candidate.method) {
        Some("unchanged") => {
            "No kind of map has a smaller loss than no map at all: the map changes nothing."
        }
        _ => "The least loss decides; among equals the simplest.",
    };
    format!("{}{why}\n\n", table_text(&table))
}

/// T1″ for every bin.
fn promises(map: &HistogramMap) -> Result<Vec<BinPromise>, Error> {
    let counts = map.counts();
    let ranges = binned_ranges(counts, DELTA)
        .map_err(|error| Error::new(ErrorKind::Calibration, error.to_string()))?;
    let edge = |i| bin_edge(i, counts.len()).unwrap_or(f64::NAN);
    let bins = counts.iter().zip(ranges).enumerate();
    Ok(bins
        .map(|(i, (&(_, points), range))| BinPromise {
            above: edge(i),
            up_to: edge(i + 1),
            points,
            answer: map.answer(i),
            low: range.low,
            high: range.high,
        })
        .collect())
}

fn bins_text(bins: &[BinPromise]) -> String {
    let seen = bins.iter().filter(|bin| bin.points > 0);
    let mut table = Table::new(
        "bins",
        "Answers of the map, and 95 % intervals of the true rates (joint over all bins, for any model)",
    );
    for bin in seen {
        let number = |x: f64| Cell::number(x, 4);
        table.row([
            ("above", number(bin.above)),
            ("up to", number(bin.up_to)),
            ("fitting rows", Cell::count(bin.points as usize)),
            ("answer", bin.answer.map_or(Cell::Empty, number)),
            ("low", number(bin.low)),
            ("high", number(bin.high)),
        ]);
    }
    let mut out = format!("\n{}", table_text(&table));
    let empty = bins.iter().filter(|bin| bin.points == 0).count();
    if empty > 0 {
        out += &format!(
            "{empty} bins without fitting rows keep the model's confidence, without any guarantee.\n"
        );
    }
    out
}
