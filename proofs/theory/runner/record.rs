//! What is kept of a run: `target/lpf/theory.json`, and, of the last full run, the committed
//! `proofs/theory/record.json`.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::coq::{Built, Coq};
use crate::sources::{Sources, digest};

/// Raised when a field changes its meaning.
const SCHEMA: u32 = 1;

/// Everything about one run that passed, or did not.
pub struct Run<'a> {
    /// The sources.
    pub sources: &'a Sources,
    /// The engine.
    pub coq: &'a Coq,
    /// What was compiled.
    pub built: &'a Built,
    /// Entries of the negative proofs.
    pub negative: Vec<Value>,
    /// Entries of the models.
    pub models: Vec<Value>,
    /// The axioms that the independent checker lists, and its seconds.
    pub checker: Value,
    /// What failed.
    pub problems: Vec<String>,
    /// Wall-clock seconds of the whole stage.
    pub seconds: f64,
}

impl Run<'_> {
    /// The record.
    pub fn json(&self) -> Value {
        let theorems: Vec<Value> = self.sources.theorems().map(|(source, theorem)| {
            let answer = self.built.answers.get(&theorem.name);
            json!({
                "name": theorem.name,
                "claims": theorem.claims,
                "says": theorem.says,
                "caveats": theorem.caveats,
                "words": theorem.words,
                "file": format!("proofs/theory/{}", source.file),
                "line": theorem.line,
                "source": theorem.source,
                "statement": answer.map(|a| a.statement.clone()),
                "axioms": answer.map(|a| a.axioms.clone()),
                "digest": digest(&source.text),
                "digest_of_all": self.sources.closure_digest(&source.module),
                "needs": self.sources.closure(&source.module).into_iter().filter(|m| *m != source.module).collect::<Vec<_>>(),
                "seconds": self.built.seconds.get(&source.module).map(|s| round(*s)),
            })
        }).collect();
        let sum = |entries: &[Value], field: &str| {
            entries
                .iter()
                .filter_map(|e| e[field].as_u64())
                .sum::<u64>()
        };
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |t| t.as_secs());
        let lines: usize = self
            .sources
            .files
            .values()
            .map(|s| s.text.lines().count())
            .sum();
        json!({
            "schema": SCHEMA,
            "engine": format!("Coq {}", self.coq.version),
            "versions": self.coq.versions,
            "date": date(unix),
            "unix_time": unix,
            "rerun": true,
            "all_hold": self.problems.is_empty(),
            "problems": self.problems,
            "totals": {
                "theorems": theorems.len(),
                "proves": count(&theorems, "proves"),
                "refutes": count(&theorems, "refutes"),
                "sharpens": count(&theorems, "sharpens"),
                "files": self.sources.files.len(),
                "lines": lines,
                "negative_proofs": self.negative.len(),
                "model_cases": sum(&self.models, "cases"),
                "seconds": round(self.seconds),
            },
            "theorems": theorems,
            "caveats": self.sources.caveats,
            "negative_proofs": self.negative,
            "models": self.models,
            "coqchk": self.checker,
            "sources": digests(self.sources),
        })
    }
}

fn count(theorems: &[Value], says: &str) -> usize {
    theorems.iter().filter(|t| t["says"] == says).count()
}

fn round(seconds: f64) -> f64 {
    (seconds * 10.0).round() / 10.0
}

/// The digest of every file that the record is about.
pub fn digests(sources: &Sources) -> Value {
    let theorems = sources
        .files
        .values()
        .map(|s| (s.file.clone(), digest(&s.text)));
    let negative = sources
        .negative
        .iter()
        .map(|(file, text)| (file.clone(), digest(text)));
    let pinned = [("assumptions.txt".to_owned(), digest(&sources.pinned))];
    Value::Object(
        theorems
            .chain(negative)
            .chain(pinned)
            .map(|(f, d)| (f, d.into()))
            .collect(),
    )
}

/// Why a record does not belong to the sources, one line each; empty where it does.
pub fn stale(record: &Value, sources: &Sources) -> Vec<String> {
    let mut problems = Vec::new();
    if record["schema"] != SCHEMA {
        problems.push("it has another form than this program writes".to_owned());
        return problems;
    }
    if record["all_hold"] != true || record["rerun"] != true {
        problems.push("it is not of a full run that passed".to_owned());
    }
    let now = digests(sources);
    let (Some(now), Some(then)) = (now.as_object(), record["sources"].as_object()) else {
        problems.push("it names no sources".to_owned());
        return problems;
    };
    for (file, digest) in now {
        match then.get(file) {
            None => problems.push(format!("{file} is not in it")),
            Some(old) if old != digest => problems.push(format!("{file} has changed since")),
            Some(_) => {}
        }
    }
    problems.extend(
        then.keys()
            .filter(|f| !now.contains_key(*f))
            .map(|f| format!("{f} is gone")),
    );
    let empty = Vec::new();
    let listed = record["theorems"].as_array().unwrap_or(&empty);
    for (source, theorem) in sources.theorems() {
        let same = |t: &&Value| {
            t["name"] == theorem.name
                && t["claims"] == json!(theorem.claims)
                && t["says"] == theorem.says
                && t["caveats"] == json!(theorem.caveats)
                && t["words"] == theorem.words
                && t["digest_of_all"] == sources.closure_digest(&source.module)
        };
        if !listed.iter().any(|t| same(&t)) {
            problems.push(format!(
                "{}: {} is not in it as it stands",
                source.file, theorem.name
            ));
        }
    }
    if record["caveats"] != json!(sources.caveats) {
        problems.push("caveats have changed since".to_owned());
    }
    problems
}

/// Reads a record.
///
/// # Errors
/// There is none, or it is not one.
pub fn read(path: &Path) -> Result<Value, String> {
    let text =
        fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{} is not a record: {e}", path.display()))
}

/// Writes a record whole.
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, record: &Value) -> Result<(), String> {
    let cannot = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(cannot)?;
    }
    let temporary = path.with_extension("json.new");
    fs::write(&temporary, format!("{record:#}\n")).map_err(cannot)?;
    fs::rename(&temporary, path).map_err(cannot)
}

/// `YYYY-MM-DD` of seconds since 1970.
fn date(unix: u64) -> String {
    // Days are counted from 1 March of year 0, so that a leap day is the last of its year.
    let day = unix / 86_400 + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    format!("{:04}-{month:02}-{of_month:02}", era * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder;

    #[test]
    fn dates() {
        for (unix, want) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (1_767_225_599, "2025-12-31"),
            (1_767_225_600, "2026-01-01"),
        ] {
            assert_eq!(date(unix), want);
        }
    }

    /// Stands in for a full run of the sources as they are.
    fn record_of(sources: &Sources) -> Value {
        let theorems: Vec<Value> = sources
            .theorems()
            .map(|(source, t)| {
                json!({
                    "name": t.name, "claims": t.claims, "says": t.says, "caveats": t.caveats,
                    "words": t.words, "digest_of_all": sources.closure_digest(&source.module),
                })
            })
            .collect();
        json!({
            "schema": SCHEMA, "all_hold": true, "rerun": true, "theorems": theorems,
            "caveats": sources.caveats, "sources": digests(sources),
        })
    }

    #[test]
    fn a_record_goes_stale_with_any_source() {
        let sources = Sources::read(&folder()).unwrap();
        assert!(sources.theorems().count() > 0);
        let record = record_of(&sources);
        assert_eq!(stale(&record, &sources), [""; 0]);

        let mut changed = Sources::read(&folder()).unwrap();
        changed.files.values_mut().next().unwrap().text.push(' ');
        assert!(
            stale(&record, &changed)
                .iter()
                .any(|p| p.contains("has changed since"))
        );
        let mut changed = Sources::read(&folder()).unwrap();
        changed.pinned.push_str("more");
        assert_eq!(
            stale(&record, &changed),
            ["assumptions.txt has changed since"]
        );

        let mut shorter = record.clone();
        shorter["theorems"].as_array_mut().unwrap().pop();
        assert!(stale(&shorter, &sources)[0].contains("is not in it as it stands"));
        let mut failed = record.clone();
        failed["all_hold"] = false.into();
        assert_eq!(
            stale(&failed, &sources),
            ["it is not of a full run that passed"]
        );
        assert!(!stale(&json!({}), &sources).is_empty());
    }

    /// The gate itself: the committed record is the one of these sources.
    #[test]
    fn the_committed_record_belongs_to_the_sources() {
        let sources = Sources::read(&folder()).unwrap();
        assert_eq!(sources.problems(), [""; 0]);
        let record = read(&folder().join("record.json"))
            .unwrap_or_else(|e| panic!("{e}\nwrite it with: cargo run --example theory -- record"));
        let problems = stale(&record, &sources);
        assert!(
            problems.is_empty(),
            "proofs/theory/record.json does not belong to the sources:\n{}\n\
             write it anew with: cargo run --example theory -- record",
            problems.join("\n")
        );
    }
}
