//! Calibration maps as files: JSON, numbered, and checked when read.
//!
//! ```json
//! {"format":"lpf-calibration","version":2,"classes":3,"names":["low","medium","high"],
//!  "rows":450,"split":0.5,"seed":0,"sources":["9f86…"],
//!  "map":{"least":8.9e-16,"shape":{"temperature":1.7}}}
//! ```
//!
//! `sources` are the SHA-256 digests of the files whose rows it was fitted on, so that an audit can
//! tell rows that a map has seen from rows that judge it.

use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::calibration::{Calibrated, CalibrationMap, MapError, MapShape};
use crate::log::{LimitError, Limits, check_encoding, check_names};
use crate::simplex::Distribution;

const FORMAT: &str = "lpf-calibration";
const VERSION: u32 = 2;

/// No map is fitted on more files than this.
const MAX_SOURCES: usize = 1000;

/// A fitted map, for which classes, and what it was fitted on.
///
/// ```
/// use lpf::{Answerer, CalibrationFile, CalibrationMap, Distribution, Method};
/// use lpf::calibration::MapMethod;
///
/// // Sure to 90 %, right in one half.
/// let predictions = vec![Distribution::new(vec![0.9, 0.1])?; 4];
/// let map = CalibrationMap::fit(MapMethod::Isotonic, &predictions, &[0, 1, 0, 1])?;
/// let file = CalibrationFile::new(map, 2, None, 4, (0.5, 0));
/// assert_eq!(CalibrationFile::from_bytes(file.to_json().as_bytes())?, file);
/// let answerer = Answerer::builder(Method::Spn).calibration(file).build()?;
/// let answer = answerer.answer(r#"{"entity": "C5", "evidence": [{"factor": [0.9, 0.1]}]}"#)?;
/// assert_eq!(answer.confidence, 0.5);
/// # Ok::<(), lpf::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CalibrationFile {
    format: String,
    version: u32,
    /// How many classes.
    pub classes: usize,
    /// Their names, where they have some.
    pub names: Option<Vec<String>>,
    /// Rows it was fitted on.
    pub rows: u64,
    /// The share of rows it was meant to be fitted on; the others judged it.
    pub split: f64,
    /// Which rows these are, with the hash of their names.
    pub seed: u64,
    /// SHA-256 of the files that these rows are from, in hexadecimal digits.
    pub sources: Vec<String>,
    /// The map.
    pub map: CalibrationMap,
}

/// What must be right before the rest can be understood.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

impl CalibrationFile {
    /// A map for `classes` classes, fitted on `rows` rows: those whose hash with `seed` is below
    /// `split`.
    pub fn new(
        map: CalibrationMap,
        classes: usize,
        names: Option<Vec<String>>,
        rows: u64,
        (split, seed): (f64, u64),
    ) -> Self {
        CalibrationFile {
            format: FORMAT.to_string(),
            version: VERSION,
            classes,
            names,
            rows,
            split,
            seed,
            sources: Vec::new(),
            map,
        }
    }

    /// The same, fitted on rows of files with these digests.
    #[must_use]
    pub fn with_sources(self, sources: Vec<String>) -> Self {
        CalibrationFile { sources, ..self }
    }

    /// Whether rows of a file with this digest were used to fit it.
    #[must_use]
    pub fn was_fitted_on(&self, sha256: &str) -> bool {
        self.sources.iter().any(|source| source == sha256)
    }

    /// Reads a file within limits.
    ///
    /// # Errors
    /// [`CalibrationFileError`].
    pub fn read(path: &Path, limits: &Limits) -> Result<Self, CalibrationFileError> {
        let file = std::fs::File::open(path).map_err(CalibrationFileError::Io)?;
        let mut bytes = Vec::new();
        file.take(limits.map_bytes.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(CalibrationFileError::Io)?;
        limits.map_bytes(bytes.len() as u64)?;
        CalibrationFile::from_bytes(&bytes)
    }

    /// Reads the content of a file.
    ///
    /// # Errors
    /// [`CalibrationFileError`], for any bytes that [`to_json`](CalibrationFile::to_json) does not
    /// write.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CalibrationFileError> {
        let malformed = |e: serde_json::Error| CalibrationFileError::Format(e.to_string());
        check_encoding(bytes).map_err(|e| CalibrationFileError::Format(e.to_string()))?;
        let head: Head = serde_json::from_slice(bytes).map_err(malformed)?;
        if head.format != FORMAT {
            let found = head.format.chars().take(40).collect();
            return Err(CalibrationFileError::Kind { found });
        }
        if head.version != VERSION {
            return Err(CalibrationFileError::Version {
                found: head.version,
            });
        }
        let file: CalibrationFile = serde_json::from_slice(bytes).map_err(malformed)?;
        let wrong = |what: &str| Err(CalibrationFileError::Format(what.to_string()));
        if file.classes < 2 {
            return wrong("there are fewer than two classes");
        }
        if !(file.split > 0.0 && file.split <= 1.0) {
            return wrong("the share of rows that it was fitted on is not between 0 and 1");
        }
        let digest =
            |text: &String| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if file.sources.len() > MAX_SOURCES || !file.sources.iter().all(digest) {
            return wrong("its sources are not SHA-256 digests");
        }
        match file.map.shape() {
            MapShape::LogLinear(map) if map.classes() != file.classes => {
                return wrong("its map is for another number of classes");
            }
            MapShape::Conformal(sets)
                if sets.settings().by_class && sets.thresholds().len() != file.classes =>
            {
                return wrong("there are not as many thresholds as classes");
            }
            _ => {}
        }
        if let Some(names) = &file.names {
            if let Err(what) = check_names(names) {
                return wrong(what);
            }
            if names.len() != file.classes {
                return wrong("there are not as many names as classes");
            }
        }
        Ok(file)
    }

    /// The file's content.
    pub fn to_json(&self) -> String {
        // Plain structs of numbers and strings cannot fail to become JSON.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// The calibrated form of a prediction.
    ///
    /// # Errors
    /// [`MapError::Classes`] where the number of classes is another; else as
    /// [`CalibrationMap::apply`].
    pub fn apply(&self, prediction: &Distribution) -> Result<Calibrated, MapError> {
        self.check(prediction)?;
        self.map.apply(prediction)
    }

    /// The prediction set of an answer, where the map gives sets; `weights` are those of the evidence
    /// behind it.
    ///
    /// # Errors
    /// As [`ConformalSets::set`](crate::calibration::ConformalSets::set).
    pub fn set(
        &self,
        prediction: &Distribution,
        weights: Option<&[f64]>,
    ) -> Result<Option<Vec<usize>>, MapError> {
        self.check(prediction)?;
        let sets = self.map.sets();
        sets.map(|sets| sets.set(prediction, weights)).transpose()
    }

    fn check(&self, prediction: &Distribution) -> Result<(), MapError> {
        let (expected, found) = (self.classes, prediction.classes());
        match expected == found {
            true => Ok(()),
            false => Err(MapError::Classes { expected, found }),
        }
    }
}

/// Why a file is not a calibration map.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum CalibrationFileError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Io(std::io::Error),
    /// It is larger than the limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// It is JSON of another kind.
    #[error("its format is {found:?}, not {FORMAT:?}; make one with lpf calibrate")]
    Kind { found: String },
    /// It was written by another version.
    #[error(
        "version {found} of the format; this program reads {VERSION}: make one with lpf calibrate"
    )]
    Version { found: u32 },
    /// It is not JSON, or a field is missing, unknown or impossible.
    #[error("not a calibration map: {0}; make one with lpf calibrate")]
    Format(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Family, MapMethod};
    use proptest::prelude::*;

    fn file(method: MapMethod) -> CalibrationFile {
        let d = |p: f64| Distribution::new(vec![p, 1.0 - p]).unwrap();
        let predictions = [d(0.75), d(0.875), d(0.25), d(0.5625)];
        let map = CalibrationMap::fit(method, &predictions, &[0, 0, 0, 1]).unwrap();
        let names = vec!["no".to_string(), "<b>\u{1b}".to_string()];
        let file = CalibrationFile::new(map, 2, Some(names), 4, (0.5, 7));
        file.with_sources(vec!["0f".repeat(32)])
    }

    const METHODS: [MapMethod; 7] = [
        MapMethod::Temperature,
        MapMethod::Histogram { bins: 5 },
        MapMethod::Isotonic,
        MapMethod::LogLinear(Family::Platt),
        MapMethod::LogLinear(Family::Beta),
        MapMethod::LogLinear(Family::Vector),
        MapMethod::LogLinear(Family::Dirichlet),
    ];

    #[test]
    fn what_is_written_reads_back_the_same() {
        for method in METHODS {
            let written = file(method);
            let read = CalibrationFile::from_bytes(written.to_json().as_bytes()).unwrap();
            assert_eq!(read, written);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_by_its_kind() {
        let text = file(MapMethod::Temperature).to_json();
        let read = |text: String| CalibrationFile::from_bytes(text.as_bytes()).unwrap_err();
        let with = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            read(text.replace(from, to)).to_string()
        };
        assert!(with("lpf-calibration", "other").starts_with("its format is \"other\""));
        assert!(with("\"version\":2", "\"version\":1").starts_with("version 1 of the format"));
        assert!(with("\"classes\":2", "\"classes\":1").contains("fewer than two classes"));
        assert!(with("\"classes\":2", "\"classes\":3").contains("as many names"));
        assert!(with("\"no\"", "\"\"").contains("a class name is empty"));
        assert!(with("\"seed\"", "\"sead\"").contains("unknown field `sead`"));
        assert!(with(",\"seed\":7", "").contains("missing field `seed`"));
        assert!(with("\"0f0f", "\"xf0f").contains("its sources are not"));
        assert!(with("\"split\":0.5", "\"split\":-0.5").contains("the share of rows"));
        assert!(with("\"least\":", "\"least\":-").contains("the least probability"));
        let t = text.split("temperature\":").nth(1).unwrap();
        let t = t.split('}').next().unwrap();
        assert!(with(t, "-1.0").contains("temperature -1.0"));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &text).unwrap();
        let mut limits = Limits::default();
        assert!(CalibrationFile::read(file.path(), &limits).is_ok());
        limits.map_bytes = text.len() as u64 - 1;
        assert!(matches!(
            CalibrationFile::read(file.path(), &limits),
            Err(CalibrationFileError::Limit(_))
        ));
        let deep = "[".repeat(1 << 20);
        assert!(matches!(read(deep), CalibrationFileError::Format(_)));
    }

    #[test]
    fn another_number_of_classes_is_refused() {
        let three = Distribution::new(vec![0.5, 0.25, 0.25]).unwrap();
        assert_eq!(
            file(MapMethod::Isotonic).apply(&three),
            Err(MapError::Classes {
                expected: 2,
                found: 3
            })
        );
    }

    proptest! {
        #[test]
        fn any_change_of_a_file_gives_a_map_or_an_error(
            method in 0usize..7,
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            p in 0.0f64..=1.0,
        ) {
            let mut bytes = file(METHODS[method]).to_json().into_bytes();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Ok(read) = CalibrationFile::from_bytes(&bytes) {
                let prediction = Distribution::from_weights(vec![p, 1.0 - p]).unwrap();
                if let Ok(calibrated) = read.apply(&prediction) {
                    // Never exactly 0 or 1.
                    let p = calibrated.distribution.probabilities();
                    prop_assert!(p.iter().all(|&p| 0.0 < p && p < 1.0), "{p:?}");
                    prop_assert!(0.0 < calibrated.confidence && calibrated.confidence < 1.0);
                }
            }
        }
    }
}
