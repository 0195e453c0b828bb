//! Watching predictions as their outcomes arrive, with an error rate that holds at any time.
//!
//! For all predictions together, and on request for those of each named class and of each group, there
//! is [`Evidence`] that the named class is right less often than said, beyond a margin, and that it is
//! right more often. An alarm is raised when evidence reaches `1/α` of its share of `α`: with
//! probability at least `1 − α` none is ever raised on predictions that keep within the margin, however
//! long they are watched and whenever one looks.
//!
//! Shares of `α`: all predictions, classes and groups, as far as they are watched, have equal parts; the
//! two directions halve it; `n` classes have an `n`-th each, and the `j`-th group to appear has a share
//! of `1/j(j + 1)`, which adds up to one over any number of them.

use std::io::Read;

use serde::{Deserialize, Serialize};

use super::monitor_evidence::Evidence;
use super::monitor_numbers;
use crate::math::ln;

/// More groups than this are refused: a field with so many values names rows, not groups.
pub const MAX_GROUPS: usize = 1000;
/// A larger state is refused before it is read to the end.
pub const MAX_MONITOR_BYTES: u64 = 64 << 20;
/// More rows than any stream brings; one more can be counted.
const MOST_ROWS: u64 = 1 << 44;
/// Points kept for a plot.
const POINTS: usize = 256;

const FORMAT: &str = "lpf-monitor";
const VERSION: u32 = 1;

/// What is watched, and how closely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MonitorSettings {
    /// The probability of any alarm on predictions that keep within the margin.
    pub alpha: f64,
    /// How far the hit rate may be from the stated confidence.
    pub margin: f64,
    /// Whether each class is watched by itself.
    pub by_class: bool,
    /// The field by which groups are told apart, where they are watched.
    pub by: Option<String>,
    /// SHA-256 of the calibration map that answers go through.
    pub calibration: Option<String>,
}

/// Which way the confidence is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Right less often than said.
    OverConfident,
    /// Right more often than said.
    UnderConfident,
}

impl Direction {
    /// Both.
    pub const BOTH: [Direction; 2] = [Direction::OverConfident, Direction::UnderConfident];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Direction::OverConfident => "over-confident",
            Direction::UnderConfident => "under-confident",
        }
    }
}

/// Which predictions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// All of them.
    All,
    /// Those that name this class.
    Class(String),
    /// Those of this group.
    Group(String),
}

/// Evidence about some of the predictions, both ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// Which predictions.
    pub part: Part,
    /// How many there were.
    pub rows: u64,
    /// How many of them were right.
    pub right: u64,
    /// The sum of their confidences, in the order of arrival; for people, nothing rests on it.
    pub confidence: f64,
    over: Evidence,
    under: Evidence,
    /// At which row each direction raised its alarm.
    alarms: [Option<u64>; 2],
    path: Path,
}

/// Where the evidence went, at every `stride`-th of its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Path {
    stride: u64,
    rows: Vec<u64>,
    #[serde(with = "monitor_numbers")]
    over: Vec<f64>,
    #[serde(with = "monitor_numbers")]
    under: Vec<f64>,
}

impl Path {
    fn add(&mut self, count: u64, row: u64, over: f64, under: f64) {
        if !count.is_multiple_of(self.stride) {
            return;
        }
        self.rows.push(row);
        self.over.push(over);
        self.under.push(under);
        if self.rows.len() > POINTS {
            self.stride = self.stride.saturating_mul(2);
            // The second, fourth, …: those whose number the new stride divides.
            let thin =
                |list: &mut Vec<f64>| *list = list.iter().copied().skip(1).step_by(2).collect();
            thin(&mut self.over);
            thin(&mut self.under);
            self.rows = self.rows.iter().copied().skip(1).step_by(2).collect();
        }
    }

    fn is_sound(&self) -> bool {
        let n = self.rows.len();
        self.stride > 0 && n <= POINTS && self.over.len() == n && self.under.len() == n
    }
}

impl Watch {
    fn new(part: Part) -> Self {
        Watch {
            part,
            rows: 0,
            right: 0,
            confidence: 0.0,
            over: Evidence::default(),
            under: Evidence::default(),
            alarms: [None; 2],
            path: Path {
                stride: 1,
                rows: Vec::new(),
                over: Vec::new(),
                under: Vec::new(),
            },
        }
    }

    fn add(&mut self, row: u64, confidence: f64, right: bool, margin: f64) {
        self.rows += 1;
        self.right += u64::from(right);
        self.confidence += confidence;
        let other = 1.0 - confidence;
        self.over.add(confidence, other, margin, right);
        self.under.add(other, confidence, margin, !right);
        let (over, under) = (self.over.log_capital(), self.under.log_capital());
        self.path.add(self.rows, row, over, under);
    }

    /// The evidence of one direction.
    pub fn evidence(&self, direction: Direction) -> &Evidence {
        match direction {
            Direction::OverConfident => &self.over,
            Direction::UnderConfident => &self.under,
        }
    }

    /// At which row of all an alarm of one direction was raised.
    pub fn alarm(&self, direction: Direction) -> Option<u64> {
        let [over, under] = self.alarms;
        match direction {
            Direction::OverConfident => over,
            Direction::UnderConfident => under,
        }
    }

    /// The natural logarithm of the evidence of one direction after some of the rows.
    pub fn path(&self, direction: Direction) -> impl Iterator<Item = (u64, f64)> + '_ {
        let logs = match direction {
            Direction::OverConfident => &self.path.over,
            Direction::UnderConfident => &self.path.under,
        };
        self.path.rows.iter().copied().zip(logs.iter().copied())
    }
}

/// Evidence has crossed its threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Alarm {
    /// After how many rows in all.
    pub row: u64,
    /// Of which predictions.
    pub part: Part,
    /// What they are.
    pub direction: Direction,
    /// The natural logarithm of the evidence.
    pub log_evidence: f64,
    /// That of the threshold.
    pub log_threshold: f64,
    /// How many of these predictions there were, and how many were right.
    pub of_part: (u64, u64),
    /// Their mean confidence.
    pub mean_confidence: f64,
}

/// Watches predictions as their outcomes arrive.
///
/// ```
/// use lpf::audit::{Monitor, MonitorSettings};
///
/// let settings = MonitorSettings { alpha: 0.05, margin: 0.02, by_class: false, by: None, calibration: None };
/// let mut monitor = Monitor::new(settings, vec!["low".into(), "high".into()])?;
/// // Sure to 90 %, right every other time.
/// let alarm = (0..).find_map(|i| monitor.add(0.9, 0, i % 2 == 0, None).unwrap().pop()).unwrap();
/// assert_eq!(alarm.direction.words(), "over-confident");
/// assert!(alarm.row < 20);
/// # Ok::<(), lpf::audit::MonitorError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    format: String,
    version: u32,
    settings: MonitorSettings,
    classes: Vec<String>,
    rows: u64,
    all: Watch,
    by_class: Vec<Watch>,
    /// In the order in which they appeared.
    by_group: Vec<Watch>,
}

/// What must be right before the rest can be understood.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

/// Why predictions cannot be watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum MonitorError {
    /// A setting that makes no sense.
    #[error("{name}: {value} is not between 0 and 1")]
    Setting { name: &'static str, value: f64 },
    /// A confidence outside `[0, 1]`, or a class that there is not.
    #[error("confidence {confidence} or class {class} is none of these predictions")]
    Row { confidence: f64, class: usize },
    /// The groups are too many.
    #[error(
        "the field {field} has more than {MAX_GROUPS} values; groups are told apart by a field with few"
    )]
    Groups { field: String },
    /// A state cannot be read.
    #[error("cannot be read: {0}")]
    Io(std::io::Error),
    /// A state is too large.
    #[error("larger than {} MiB, which no state of a monitor is", MAX_MONITOR_BYTES >> 20)]
    TooLarge,
    /// It is not a state.
    #[error("not the state of a monitor: {0}; remove it to begin anew")]
    Format(String),
    /// It is the state of another watch.
    #[error(
        "was saved with another {setting} ({was}); watch on with the same settings, or begin anew with \
         another file"
    )]
    Other { setting: &'static str, was: String },
}

impl Monitor {
    /// Nothing seen yet.
    ///
    /// # Errors
    /// [`MonitorError::Setting`].
    pub fn new(settings: MonitorSettings, classes: Vec<String>) -> Result<Self, MonitorError> {
        settings.check()?;
        let watch = |name: &String| Watch::new(Part::Class(name.clone()));
        let by_class = match settings.by_class {
            true => classes.iter().map(watch).collect(),
            false => Vec::new(),
        };
        Ok(Monitor {
            format: FORMAT.to_string(),
            version: VERSION,
            settings,
            classes,
            rows: 0,
            all: Watch::new(Part::All),
            by_class,
            by_group: Vec::new(),
        })
    }

    /// What is watched.
    pub fn settings(&self) -> &MonitorSettings {
        &self.settings
    }

    /// How many rows were seen.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// All predictions, then the classes, then the groups.
    pub fn watches(&self) -> impl Iterator<Item = &Watch> {
        let parts = self.by_class.iter().chain(&self.by_group);
        std::iter::once(&self.all).chain(parts)
    }

    /// Adds the next prediction: the confidence in the class that it names, that class, and whether it
    /// was right. Returns the alarms that this raises; each part raises one for each direction, once.
    ///
    /// # Errors
    /// [`MonitorError::Row`], [`MonitorError::Groups`].
    pub fn add(
        &mut self,
        confidence: f64,
        class: usize,
        right: bool,
        group: Option<&str>,
    ) -> Result<Vec<Alarm>, MonitorError> {
        if !(0.0..=1.0).contains(&confidence) || class >= self.classes.len() {
            return Err(MonitorError::Row { confidence, class });
        }
        let base = self.settings.log_threshold();
        let margin = self.settings.margin;
        self.rows += 1;
        let mut alarms = Vec::new();
        let row = (self.rows, confidence, right, margin);
        watch(&mut self.all, row, base, &mut alarms);
        let share = base + ln(self.classes.len() as f64);
        if let Some(of_class) = self.by_class.get_mut(class) {
            watch(of_class, row, share, &mut alarms);
        }
        if let (Some(field), Some(group)) = (&self.settings.by, group) {
            let same = |watch: &Watch| matches!(&watch.part, Part::Group(name) if name == group);
            let place = match self.by_group.iter().position(same) {
                Some(place) => place,
                None if self.by_group.len() >= MAX_GROUPS => {
                    let field = field.clone();
                    return Err(MonitorError::Groups { field });
                }
                None => {
                    self.by_group
                        .push(Watch::new(Part::Group(group.to_string())));
                    self.by_group.len() - 1
                }
            };
            let j = place as f64 + 1.0;
            if let Some(of_group) = self.by_group.get_mut(place) {
                watch(of_group, row, base + ln(j * (j + 1.0)), &mut alarms);
            }
        }
        Ok(alarms)
    }

    /// The logarithm of the evidence that raises an alarm about a part.
    pub fn log_threshold(&self, part: &Part) -> f64 {
        let base = self.settings.log_threshold();
        match part {
            Part::All => base,
            Part::Class(_) => base + ln(self.classes.len() as f64),
            Part::Group(_) => {
                let place = self.by_group.iter().position(|watch| watch.part == *part);
                let j = place.unwrap_or(self.by_group.len()) as f64 + 1.0;
                base + ln(j * (j + 1.0))
            }
        }
    }

    /// Whether any alarm was raised.
    pub fn has_alarm(&self) -> bool {
        self.watches().any(|watch| watch.alarms != [None; 2])
    }

    /// The state, to be read by [`Monitor::read`].
    pub fn to_json(&self) -> String {
        // Plain structs of numbers and strings cannot fail to become JSON.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Reads a state that was saved, to watch on with the same settings.
    ///
    /// # Errors
    /// [`MonitorError`] where it is none, or that of another watch.
    pub fn read(
        reader: impl Read,
        settings: &MonitorSettings,
        classes: &[String],
    ) -> Result<Self, MonitorError> {
        let mut bytes = Vec::new();
        let read = reader.take(MAX_MONITOR_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(MonitorError::Io)?;
        if bytes.len() as u64 > MAX_MONITOR_BYTES {
            return Err(MonitorError::TooLarge);
        }
        let malformed = |error: serde_json::Error| MonitorError::Format(error.to_string());
        let wrong = |what: &str| Err(MonitorError::Format(what.to_string()));
        let head: Head = serde_json::from_slice(&bytes).map_err(malformed)?;
        if head.format != FORMAT || head.version != VERSION {
            return wrong("another format or version");
        }
        let state: Monitor = serde_json::from_slice(&bytes).map_err(malformed)?;
        state.settings.check()?;
        let sound = |watch: &Watch| {
            watch.over.is_sound()
                && watch.under.is_sound()
                && watch.path.is_sound()
                && watch.right <= watch.rows
                && watch.rows <= state.rows
        };
        let classes_fit = match state.settings.by_class {
            true => state.by_class.len() == state.classes.len(),
            false => state.by_class.is_empty(),
        };
        let fits = state.rows <= MOST_ROWS && state.by_group.len() <= MAX_GROUPS;
        if !fits || !state.watches().all(sound) || !classes_fit || !state.parts_fit() {
            return wrong("its numbers do not fit each other");
        }
        state.same(settings, classes)?;
        Ok(state)
    }

    /// Whether each watch is of what its place says, and no group is watched twice.
    fn parts_fit(&self) -> bool {
        let classes = self.by_class.iter().zip(&self.classes);
        let mut groups = std::collections::BTreeSet::new();
        self.all.part == Part::All
            && classes
                .into_iter()
                .all(|(watch, name)| matches!(&watch.part, Part::Class(own) if own == name))
            && self
                .by_group
                .iter()
                .all(|watch| matches!(&watch.part, Part::Group(name) if groups.insert(name)))
    }

    /// That a state was saved with the same settings and classes.
    fn same(&self, settings: &MonitorSettings, classes: &[String]) -> Result<(), MonitorError> {
        let (was, now) = (&self.settings, settings);
        let none = || "none".to_string();
        let checks = [
            (was.alpha == now.alpha, "alpha", was.alpha.to_string()),
            (was.margin == now.margin, "margin", was.margin.to_string()),
            (
                was.by_class == now.by_class,
                "by-class",
                was.by_class.to_string(),
            ),
            (was.by == now.by, "by", was.by.clone().unwrap_or_else(none)),
            (
                was.calibration == now.calibration,
                "calibration",
                was.calibration.clone().unwrap_or_else(none),
            ),
            (self.classes == classes, "classes", self.classes.join(", ")),
        ];
        for (equal, setting, was) in checks {
            if !equal {
                return Err(MonitorError::Other { setting, was });
            }
        }
        Ok(())
    }
}

impl MonitorSettings {
    /// The logarithm of one over the share of all predictions in each direction.
    fn log_threshold(&self) -> f64 {
        let families = 1 + u8::from(self.by_class) + u8::from(self.by.is_some());
        ln(2.0 * f64::from(families)) - ln(self.alpha)
    }

    fn check(&self) -> Result<(), MonitorError> {
        let inside = |name, value: f64, fits: bool| match fits {
            true => Ok(()),
            false => Err(MonitorError::Setting { name, value }),
        };
        inside("alpha", self.alpha, self.alpha > 0.0 && self.alpha < 1.0)?;
        inside(
            "margin",
            self.margin,
            self.margin >= 0.0 && self.margin < 1.0,
        )
    }
}

/// Adds a row (its number, confidence, whether right, the margin) and the alarms that it raises.
fn watch(
    watch: &mut Watch,
    (row, confidence, right, margin): (u64, f64, bool, f64),
    log_threshold: f64,
    alarms: &mut Vec<Alarm>,
) {
    watch.add(row, confidence, right, margin);
    for (place, direction) in Direction::BOTH.into_iter().enumerate() {
        let log_evidence = watch.evidence(direction).certain_log_capital();
        if log_evidence < log_threshold || watch.alarm(direction).is_some() {
            continue;
        }
        if let Some(alarm) = watch.alarms.get_mut(place) {
            *alarm = Some(row);
        }
        alarms.push(Alarm {
            row,
            part: watch.part.clone(),
            direction,
            log_evidence,
            log_threshold,
            of_part: (watch.rows, watch.right),
            mean_confidence: watch.confidence / watch.rows as f64,
        });
    }
}

#[cfg(test)]
mod tests;
