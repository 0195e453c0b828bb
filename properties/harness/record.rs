//! The record of a run: the printed table, and `target/lpf/properties.json`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use lpf::exhibit::{Cell, Table};
use serde::Serialize;

use super::{Outcome, Property};

/// The seed where none is given, so that a run in CI can be repeated.
const FIXED_SEED: u64 = 1;

/// The seed of a run and where it is from.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Seed {
    pub value: u64,
    pub source: &'static str,
}

impl Seed {
    /// From `LPF_SEED`: a number, `random`, or absent.
    pub fn from_environment() -> Result<Seed, String> {
        match std::env::var("LPF_SEED") {
            Err(_) => Ok(Seed {
                value: FIXED_SEED,
                source: "fixed",
            }),
            Ok(text) if text == "random" => Ok(Seed {
                value: random_seed(),
                source: "random",
            }),
            Ok(text) => match text.parse() {
                Ok(value) => Ok(Seed {
                    value,
                    source: "given",
                }),
                Err(_) => Err(format!(
                    "LPF_SEED is {text:?}; give a number from 0 to {}, or `random`",
                    u64::MAX
                )),
            },
        }
    }
}

/// The standard library keys its hash maps from the system's randomness; an empty hash shows it.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

/// One line of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub name: &'static str,
    /// The source file: names begin with that of their module.
    pub file: String,
    pub claims: &'static [&'static str],
    pub statement: &'static str,
    pub passed: bool,
    pub trials: u64,
    pub violations: u64,
    pub false_alarm: f64,
    /// Upper limit of the violation rate; absent where the test is one of means.
    pub rate_limit: Option<f64>,
    pub detectable: Option<f64>,
    pub controls: Vec<Control>,
    pub note: String,
    pub detail: String,
    pub seconds: f64,
}

/// A negative control: a deliberately wrong variant that the test must reject.
#[derive(Clone, Debug, Serialize)]
pub struct Control {
    pub name: &'static str,
    pub rejected: bool,
    pub trials: u64,
    pub violations: u64,
    pub why: String,
}

fn file(property: &Property) -> String {
    let module = property.name.split('.').next().unwrap_or_default();
    format!("properties/{module}.rs")
}

impl Row {
    pub fn new(property: &Property, outcome: Outcome, seconds: f64) -> Row {
        let controls: Vec<Control> = outcome
            .controls
            .into_iter()
            .map(|(name, check)| Control {
                name,
                rejected: check.rejected,
                trials: check.trials,
                violations: check.violations,
                why: check.detail,
            })
            .collect();
        let caught = !controls.is_empty() && controls.iter().all(|c| c.rejected);
        let finite = |x: f64| x.is_finite().then_some(x);
        Row {
            name: property.name,
            file: file(property),
            claims: property.claims,
            statement: property.statement,
            passed: !outcome.check.rejected && caught,
            trials: outcome.check.trials,
            violations: outcome.check.violations,
            false_alarm: outcome.check.false_alarm,
            rate_limit: finite(outcome.check.rate_limit),
            detectable: finite(outcome.check.detectable),
            controls,
            note: outcome.note,
            detail: outcome.check.detail,
            seconds,
        }
    }

    /// For a property that panicked, which is a failure of the code under test or of the property.
    pub fn panicked(property: &Property, message: String, seconds: f64) -> Row {
        Row {
            name: property.name,
            file: file(property),
            claims: property.claims,
            statement: property.statement,
            passed: false,
            trials: 0,
            violations: 0,
            false_alarm: 0.0,
            rate_limit: None,
            detectable: None,
            controls: Vec::new(),
            note: String::new(),
            detail: format!("panicked: {message}"),
            seconds,
        }
    }

    /// Why the row failed, in one line.
    pub fn failure(&self) -> String {
        let missed: Vec<&str> = self
            .controls
            .iter()
            .filter(|c| !c.rejected)
            .map(|c| c.name)
            .collect();
        match (self.detail.is_empty(), missed.is_empty()) {
            (false, _) => self.detail.clone(),
            (true, false) => format!("negative control not rejected: {}", missed.join("; ")),
            (true, true) => "no negative control".to_string(),
        }
    }
}

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    pub commit: Option<String>,
    /// Whether files differed from the commit.
    pub modified: Option<bool>,
    /// Seconds since 1970.
    pub time: u64,
    pub seed: Seed,
    pub version: &'static str,
    pub optimized: bool,
    pub seconds: f64,
    /// The sum over all rows: at most this probable to reject anything true.
    pub false_alarm: f64,
    pub passed: bool,
    pub properties: Vec<Row>,
}

impl Run {
    pub fn new(seed: Seed, rows: Vec<Row>, seconds: f64) -> Run {
        Run {
            commit: git(&["rev-parse", "HEAD"]),
            modified: git(&["status", "--porcelain"]).map(|text| !text.is_empty()),
            time: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |t| t.as_secs()),
            seed,
            version: env!("CARGO_PKG_VERSION"),
            optimized: !cfg!(debug_assertions),
            seconds,
            false_alarm: rows.iter().map(|r| r.false_alarm).sum(),
            passed: rows.iter().all(|r| r.passed),
            properties: rows,
        }
    }

    /// The printed table.
    pub fn table(&self) -> Table {
        let number = |x: Option<f64>| match x {
            Some(x) => Cell::Text(if x == 0.0 {
                "0".into()
            } else {
                format!("{x:.1e}")
            }),
            None => Cell::Text("–".into()),
        };
        let yes = |b: bool| Cell::Text(if b { "yes" } else { "NO" }.into());
        Table {
            id: "properties".into(),
            title: format!(
                "Properties, seed {} ({}); whole suite rejects something true with probability ≤ {:.1e}",
                self.seed.value, self.seed.source, self.false_alarm
            ),
            columns: [
                "property",
                "claim",
                "n",
                "violations",
                "false alarm",
                "rate below",
                "detectable",
                "control rejected",
                "s",
                "note",
            ]
            .map(String::from)
            .to_vec(),
            rows: self
                .properties
                .iter()
                .map(|r| {
                    let caught = r.controls.iter().filter(|c| c.rejected).count();
                    let all = r.controls.len();
                    vec![
                        Cell::Text(r.name.into()),
                        Cell::text(r.claims.join(" ")),
                        Cell::Text(r.trials.to_string()),
                        Cell::Text(r.violations.to_string()),
                        number(Some(r.false_alarm)),
                        number(r.rate_limit),
                        number(r.detectable),
                        if all == 1 {
                            yes(caught == 1)
                        } else {
                            Cell::Text(format!(
                                "{} ({caught} of {all})",
                                if caught == all && all > 0 {
                                    "yes"
                                } else {
                                    "NO"
                                }
                            ))
                        },
                        Cell::Text(format!("{:.1}", r.seconds)),
                        Cell::Text(r.note.clone()),
                    ]
                })
                .collect(),
        }
    }

    /// Writes the record where the ledger looks for it. A reader sees the old file or the new one,
    /// never half of one.
    pub fn write(&self) -> std::io::Result<PathBuf> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/lpf");
        std::fs::create_dir_all(&directory)?;
        let path = directory.join("properties.json");
        let mut file = tempfile::NamedTempFile::new_in(&directory)?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.persist(&path).map_err(|e| e.error)?;
        Ok(path)
    }
}

/// What git says, or `None` where there is no git or no repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}
