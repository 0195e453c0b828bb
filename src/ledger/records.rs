//! What the last proof and property runs reported, read from `target/lpf/`.
//!
//! Verdicts do not need them: where a record is absent the evidence says "not run". A record can
//! only add lines to the evidence; it never turns a verdict.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::claims::Claim;
use super::theory::Recheck;

/// One harness or property of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name of the harness or property.
    pub name: String,
    /// The source file, where the record names it.
    pub file: String,
    /// The claims it is evidence for or against.
    pub claims: Vec<String>,
    /// What became of it, in words.
    pub outcome: String,
    /// Whether Kani proved it, in this run or in the record that fits the sources.
    pub by_kani: bool,
    /// Whether Kani did not run, and this is what the record says.
    pub quoted: bool,
    /// Whether it is meant for Kani and Kani has not run it, or only with other sources.
    pub awaits_kani: bool,
}

/// One run of all harnesses or of all properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The commit it ran on, or `unknown`.
    pub commit: String,
    /// Whether files differed from that commit.
    pub modified: bool,
    /// When, in seconds since 1970.
    pub time: u64,
    /// Whether everything held.
    pub holds: bool,
    /// Its harnesses or properties.
    pub rows: Vec<Row>,
}

/// The records of the last runs, where there are any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// The last run of the proof harnesses.
    pub proofs: Option<Run>,
    /// The last run of the statistical properties.
    pub properties: Option<Run>,
    /// What Coq found in this checkout, where it ran.
    pub theory: Option<Recheck>,
}

impl Records {
    /// No run at all.
    pub fn none() -> Self {
        Records::default()
    }

    /// Reads `proofs.json`, `properties.json` and `theory.json` in a directory; a file that is missing or not
    /// understood counts as "not run".
    pub fn read(directory: &Path) -> Self {
        let json = |name: &str| -> Option<Value> {
            let bytes = read_record(&directory.join(name))?;
            serde_json::from_slice(&bytes).ok()
        };
        let theory = read_record(&directory.join("theory.json"));
        let theory = theory.and_then(|bytes| String::from_utf8(bytes).ok());
        Records {
            theory: theory.and_then(|text| Recheck::parse(&text)),
            proofs: json("proofs.json")
                .and_then(|value| run(&value, "unix_time", "all_hold", "harnesses", harness)),
            properties: json("properties.json")
                .and_then(|value| run(&value, "time", "passed", "properties", property)),
        }
    }

    /// The same with every text passed through a function: records come from outside, and what they say is shown.
    #[must_use]
    pub fn with_texts(mut self, of: impl Fn(&str) -> String) -> Self {
        for run in [&mut self.proofs, &mut self.properties]
            .into_iter()
            .flatten()
        {
            run.commit = of(&run.commit);
            for row in &mut run.rows {
                for text in [&mut row.name, &mut row.file, &mut row.outcome] {
                    *text = of(text);
                }
            }
        }
        self
    }

    /// What the runs say about a claim; that nothing was run is said of the first rank only.
    pub(super) fn lines(&self, claim: &Claim) -> Vec<String> {
        let of = |run: &Option<Run>, what: &str| match run {
            None if claim.is_first_rank() => vec![format!("{what}: not run")],
            None => Vec::new(),
            Some(run) => run
                .rows
                .iter()
                .filter(|row| row.claims.contains(&claim.id))
                .map(|row| format!("{what}: {} {}", row.name, row.outcome))
                .collect(),
        };
        let mut lines = of(&self.proofs, "proof harnesses");
        lines.extend(of(&self.properties, "properties"));
        lines
    }
}

/// The largest record that is read; those of all harnesses have less than a megabyte.
const MOST_BYTES: u64 = 16 << 20;

/// The content of a record; none where there is none, or something that is no file, or far too large.
pub fn read_record(path: &Path) -> Option<Vec<u8>> {
    // A pipe would block, and a device never end.
    let found = std::fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > MOST_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn run(
    value: &Value,
    time: &str,
    holds: &str,
    list: &str,
    outcome: fn(&Value) -> Option<String>,
) -> Option<Run> {
    let rows = value
        .get(list)?
        .as_array()?
        .iter()
        .filter_map(|entry| {
            Some(Row {
                name: entry.get("name")?.as_str()?.to_owned(),
                file: entry
                    .get("file")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned(),
                claims: entry
                    .get("claims")?
                    .as_array()?
                    .iter()
                    .filter_map(|claim| claim.as_str().map(str::to_owned))
                    .collect(),
                outcome: outcome(entry)?,
                by_kani: kani(entry).is_some_and(|verdict| verdict.starts_with("proved")),
                quoted: kani(entry) == Some("proved, as recorded"),
                awaits_kani: kani(entry).is_some_and(|verdict| AWAITS_KANI.contains(&verdict)),
            })
        })
        .collect();
    let truth = |key: &str| value.get(key).and_then(Value::as_bool);
    Some(Run {
        commit: value
            .get("commit")
            .and_then(Value::as_str)
            .unwrap_or("unknown")
            .to_owned(),
        modified: truth("modified").unwrap_or(true),
        time: value.get(time).and_then(Value::as_u64).unwrap_or(0),
        holds: truth(holds).unwrap_or(false),
        rows,
    })
}

/// What stands in place of Kani's word where it is meant to speak and has not, or has spoken of
/// other sources than the present ones.
const AWAITS_KANI: [&str; 2] = ["not run", "stale"];

fn kani(entry: &Value) -> Option<&str> {
    entry.get("kani")?.get("verdict")?.as_str()
}

fn harness(entry: &Value) -> Option<String> {
    let tested = entry.get("cargo_test")?.get("outcome")?.as_str()?;
    let verdict = kani(entry)?;
    let detail = entry.get("kani")?.get("detail").and_then(Value::as_str);
    // Which record is quoted, or what changed after it.
    let detail = match (verdict, detail) {
        ("proved, as recorded" | "stale", Some(detail)) => format!(" ({detail})"),
        _ => String::new(),
    };
    Some(format!(
        "{tested} under cargo test, Kani: {verdict}{detail}"
    ))
}

fn property(entry: &Value) -> Option<String> {
    let passed = entry.get("passed")?.as_bool()?;
    let trials = entry.get("trials")?.as_u64()?;
    let word = if passed { "passed" } else { "FAILED" };
    Some(format!("{word}, {trials} trials"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(records: &Records, id: &str) -> Vec<String> {
        records.lines(crate::ledger::claims::find(id).unwrap())
    }

    #[test]
    fn a_missing_or_broken_record_counts_as_not_run() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Records::read(folder.path()), Records::none());
        std::fs::write(folder.path().join("properties.json"), "{\"properties\": 3}").unwrap();
        std::fs::write(folder.path().join("proofs.json"), "not json").unwrap();
        assert_eq!(Records::read(folder.path()), Records::none());
        assert_eq!(
            lines(&Records::none(), "L2"),
            ["proof harnesses: not run", "properties: not run"]
        );
        assert!(lines(&Records::none(), "T2.bounds").is_empty());
    }

    /// A pipe that nobody writes to would be waited for, and a device read without end.
    #[cfg(unix)]
    #[test]
    fn records_that_are_no_files_are_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("proofs.json");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let device = folder.path().join("properties.json");
        std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("theory.json")).unwrap();
        assert_eq!(Records::read(folder.path()), Records::none());
        assert_eq!(read_record(&device), None);
    }

    #[test]
    fn rows_are_found_by_claim() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        write(
            "properties.json",
            r#"{"commit": "abc", "modified": false, "time": 7, "passed": false, "properties": [
            {"name": "l2.tail", "claims": ["L2"], "passed": true, "trials": 400},
            {"name": "l4.tail", "claims": ["L4"], "passed": false, "trials": 9}]}"#,
        );
        write(
            "proofs.json",
            r#"{"commit": "abc", "unix_time": 8, "all_hold": true, "harnesses": [
            {"name": "kish", "claims": ["T1.Keff"],
             "cargo_test": {"outcome": "passed"}, "kani": {"verdict": "not run"}},
            {"name": "leaf", "claims": ["A4"], "cargo_test": {"outcome": "passed"},
             "kani": {"verdict": "stale", "detail": "src/a.rs changed after 2026-01-02"}},
            {"name": "grid", "claims": ["A5"], "cargo_test": {"outcome": "passed"},
             "kani": {"verdict": "not for Kani", "detail": "not for Kani"}},
            {"name": "bins", "claims": ["A6"], "cargo_test": {"outcome": "passed"},
             "kani": {"verdict": "proved, as recorded",
                      "detail": "record of 2026-01-02, sources unchanged"}}]}"#,
        );
        let records = Records::read(folder.path());
        assert_eq!(
            lines(&records, "L2"),
            ["properties: l2.tail passed, 400 trials"]
        );
        assert_eq!(
            lines(&records, "L4"),
            ["properties: l4.tail FAILED, 9 trials"]
        );
        assert_eq!(
            lines(&records, "T1.Keff"),
            ["proof harnesses: kish passed under cargo test, Kani: not run"]
        );
        // A record of other sources is not Kani's word; one of the present sources is.
        assert_eq!(
            lines(&records, "A4")[0],
            "proof harnesses: leaf passed under cargo test, Kani: stale (src/a.rs changed after \
             2026-01-02)"
        );
        assert_eq!(
            lines(&records, "A6")[0],
            "proof harnesses: bins passed under cargo test, Kani: proved, as recorded (record of \
             2026-01-02, sources unchanged)"
        );
        let rows = &records.proofs.as_ref().unwrap().rows;
        let awaits: Vec<bool> = rows.iter().map(|row| row.awaits_kani).collect();
        assert_eq!(awaits, [true, true, false, false]);
        let quoted: Vec<bool> = rows.iter().map(|row| row.quoted).collect();
        assert_eq!(quoted, [false, false, false, true]);
        let properties = records.properties.unwrap();
        assert_eq!((properties.time, properties.holds), (7, false));
        assert!(!properties.modified);
        // A proof record that does not say whether files differed is taken as modified.
        assert!(records.proofs.unwrap().modified);
    }
}
