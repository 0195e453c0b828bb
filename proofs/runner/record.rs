//! What is kept of a run: `target/lpf/proofs.json`, which the ledger reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::cargo_test::{Outcomes, Tested};
use crate::committed::Committed;
use crate::harnesses::{Engine, Harness};
use crate::kani::{Checked, Run, Verdict};
use crate::reach::digest;
use crate::root;

/// Raised when a field changes its meaning.
const SCHEMA: u32 = 2;
/// Why Kani is not asked about a harness that only `cargo test` runs.
const NOT_FOR_KANI: &str = "not for Kani";
/// Why Kani is not asked about a slow harness.
const SLOW: &str = "slow";

/// One harness with its outcomes.
struct Entry {
    harness: Harness,
    tested: Option<Tested>,
    checked: Checked,
}

/// Everything about one run.
pub struct Record {
    entries: Vec<Entry>,
    /// Harnesses that Kani or cargo reports and our sources do not have.
    unknown: Vec<String>,
    versions: BTreeMap<String, String>,
    kani: String,
}

impl Record {
    /// Puts the outcomes side by side.
    pub fn new(
        listed: &[Harness],
        tested: &Outcomes,
        run: &Run,
        committed: &Committed,
        slow: bool,
    ) -> Self {
        let verdict_of = |harness: &Harness| {
            let skipped = |why: &str| Checked::only(Verdict::Skipped(why.to_owned()));
            let quoted = || committed.quote(&harness.name, digest);
            match (harness.engine, run) {
                (Engine::TestOnly, _) => skipped(NOT_FOR_KANI),
                (_, Run::NotRun(reason)) => quoted().unwrap_or_else(|| skipped(reason)),
                (Engine::KaniSlow, _) if !slow => skipped(SLOW),
                (_, Run::Done { verdicts, .. }) => verdicts
                    .get(&harness.name)
                    .cloned()
                    .unwrap_or_else(|| Checked::only(Verdict::Missing)),
            }
        };
        let entries: Vec<Entry> = listed
            .iter()
            .map(|harness| Entry {
                harness: harness.clone(),
                tested: tested.get(&harness.name).cloned(),
                checked: verdict_of(harness),
            })
            .collect();
        let is_listed = |name: &&String| listed.iter().any(|h| h.name == **name);
        let (mut unknown, mut versions, mut kani) = (Vec::new(), BTreeMap::new(), String::new());
        match run {
            Run::NotRun(reason) => kani = format!("not run: {reason}"),
            Run::Done {
                verdicts,
                versions: found,
                ..
            } => {
                kani.push_str("run");
                versions.clone_from(found);
                unknown.extend(verdicts.keys().filter(|n| !is_listed(n)).cloned());
            }
        }
        let own = |name: &&String| name.starts_with("proofs::engine");
        unknown.extend(tested.keys().filter(|n| !is_listed(n) && !own(n)).cloned());
        versions.extend(output("rustc", &["--version"]).map(|v| ("rustc".to_owned(), v)));
        Record {
            entries,
            unknown,
            versions,
            kani,
        }
    }

    /// Whether every harness passed under cargo test and none failed under Kani.
    pub fn all_hold(&self) -> bool {
        self.problems().is_empty()
    }

    /// Whether a harness that Kani should have settled was not run.
    pub fn kani_incomplete(&self) -> bool {
        let asked = |e: &&Entry| e.harness.engine == Engine::Kani;
        let mut asked = self.entries.iter().filter(asked);
        asked.any(|e| not_run(&e.checked.verdict))
    }

    /// What went wrong, one line each.
    fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> = Vec::new();
        for Entry {
            harness,
            tested,
            checked,
        } in &self.entries
        {
            let name = &harness.name;
            match tested {
                None => problems.push(format!("{name}: cargo test did not run it")),
                Some(t) if !t.passed => problems.push(format!("{name}: failed under cargo test")),
                Some(t) if t.cases.is_none() && !harness.refutation => {
                    problems.push(format!(
                        "{name}: cargo test does not say how many cases it ran"
                    ));
                }
                Some(_) => {}
            }
            match &checked.verdict {
                verdict if *verdict == Verdict::Proved || not_run(verdict) => {}
                other => problems.push(format!("{name}: {} under Kani", word(other))),
            }
        }
        for name in &self.unknown {
            problems.push(format!("{name}: no such harness in proofs/"));
        }
        problems
    }

    /// For a person to read.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        let tested = |how: &str| {
            let cases = self
                .entries
                .iter()
                .filter_map(|e| e.tested.as_ref()?.cases.as_ref());
            let counts: Vec<u64> = cases.filter(|c| c.0 == how).map(|c| c.1).collect();
            (counts.len(), counts.iter().sum::<u64>())
        };
        let (all, random) = (tested("all"), tested("random"));
        let refuting = self.entries.iter().filter(|e| e.harness.refutation).count();
        let _ = writeln!(
            text,
            "cargo test: {} harnesses on complete domains ({} cases), {} on random ones ({} cases), \
             {refuting} refuting",
            all.0, all.1, random.0, random.1
        );
        let count = |f: fn(&Verdict) -> bool| {
            self.entries
                .iter()
                .filter(|e| f(&e.checked.verdict))
                .count()
        };
        let quoted = count(|v| matches!(v, Verdict::Quoted(_)));
        let stale = count(|v| matches!(v, Verdict::Stale(_)));
        let _ = writeln!(
            text,
            "Kani: {}; {} proved, {} not proved, {} not asked",
            self.kani,
            count(|v| *v == Verdict::Proved),
            count(|v| *v != Verdict::Proved && !not_run(v)),
            count(|v| matches!(v, Verdict::Skipped(_))),
        );
        if quoted + stale > 0 {
            let _ = writeln!(
                text,
                "its committed record: {quoted} proved and their sources unchanged, {stale} stale"
            );
        }
        for problem in self.problems() {
            let _ = writeln!(text, "FAILED {problem}");
        }
        text
    }

    /// Writes the record; a reader sees the old one or the new one, never a half.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        replace(path, &format!("{:#}\n", self.json()))
    }

    fn json(&self) -> Value {
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let commit = output("git", &["rev-parse", "HEAD"]);
        json!({
            "schema": SCHEMA,
            "commit": commit,
            // Without git nobody knows.
            "modified": commit.as_ref().map(|_| output("git", &["status", "--porcelain"]).is_some()),
            "unix_time": time.map_or(0, |t| t.as_secs()),
            "versions": self.versions,
            "kani": self.kani,
            "all_hold": self.all_hold(),
            "harnesses": self.entries.iter().map(Entry::json).collect::<Vec<_>>(),
        })
    }
}

impl Entry {
    fn json(&self) -> Value {
        let h = &self.harness;
        let tested = self.tested.as_ref();
        let checked = &self.checked;
        json!({
            "name": h.name,
            "file": h.file,
            "line": h.line,
            "statement": h.statement,
            "claims": h.claims,
            "domain": h.domain,
            "refutation": h.refutation,
            "cargo_test": {
                "outcome": tested.map_or("not run", |t| if t.passed { "passed" } else { "failed" }),
                "cases": tested.and_then(|t| t.cases.as_ref()).map(|c| c.0.clone()),
                "count": tested.and_then(|t| t.cases.as_ref()).map(|c| c.1),
                "kept": tested.and_then(|t| t.kept),
                "witness": tested.and_then(|t| t.witness.clone()),
            },
            "kani": {
                "verdict": word(&checked.verdict),
                "detail": match &checked.verdict {
                    Verdict::Failed(what)
                    | Verdict::Error(what)
                    | Verdict::Skipped(what)
                    | Verdict::Stale(what) => Some(what.clone()),
                    Verdict::Quoted(date) => Some(format!("record of {date}, sources unchanged")),
                    _ => None,
                },
                "reason": h.reason,
                "seconds": checked.seconds,
                "covers": checked.covers.map(|(n, of)| [n, of]),
                "solver": h.solver,
                "unwind": h.unwind,
            },
        })
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Proved => "proved",
        Verdict::Failed(_) => "failed",
        Verdict::Uncovered => "unsatisfied cover",
        Verdict::Timeout => "timed out",
        Verdict::Broken => "broke off",
        Verdict::Error(_) => "error",
        Verdict::Missing => "missing",
        Verdict::Skipped(why) if why == NOT_FOR_KANI => NOT_FOR_KANI,
        Verdict::Skipped(why) if why == SLOW => "slow, not run",
        Verdict::Skipped(_) => "not run",
        Verdict::Quoted(_) => "proved, as recorded",
        Verdict::Stale(_) => "stale",
    }
}

fn not_run(verdict: &Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Skipped(_) | Verdict::Quoted(_) | Verdict::Stale(_)
    )
}

/// Writes a file; a reader sees the old one or the new one, never a half.
///
/// # Errors
/// It cannot be written.
pub fn replace(path: &Path, text: &str) -> Result<(), String> {
    let cannot = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(cannot)?;
    }
    let temporary = path.with_extension("json.new");
    fs::write(&temporary, text).map_err(cannot)?;
    fs::rename(&temporary, path).map_err(cannot)
}

/// What a command prints, if it succeeds and prints something.
pub fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo_test;
    use crate::harnesses;
    use crate::kani;

    const SOURCE: &str = r"
/// Between.
///
/// Claims: T1
/// Domain: all
#[cfg_attr(kani, kani::proof, kani::unwind(5), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn first() {
";
    const PASSED: &str = "test proofs::kish::first ... ok\n\
         ---- proofs::kish::first stdout ----\ncases: all 4, kept 4, covers 0 of 0\n";

    fn record(source: &str, tests: &str, output: Option<&str>) -> Record {
        let listed = harnesses::parse("kish", source).unwrap();
        let run = match output {
            None => Run::NotRun("not installed".into()),
            Some(text) => {
                let names: Vec<String> = listed.iter().map(|h| h.name.clone()).collect();
                Run::Done {
                    verdicts: kani::judge(&names, text),
                    versions: BTreeMap::new(),
                    reach: BTreeMap::new(),
                }
            }
        };
        let none = Committed::default();
        Record::new(&listed, &cargo_test::parse(tests), &run, &none, false)
    }

    const PROVED: &str = "Checking harness proofs::kish::first...\nVERIFICATION:- SUCCESSFUL\n";

    #[test]
    fn all_holds_only_if_every_harness_passed_and_none_failed() {
        assert!(record(SOURCE, PASSED, Some(PROVED)).all_hold());
        assert!(record(SOURCE, PASSED, None).all_hold());
        for (tests, output, problem) in [
            ("", PROVED, "cargo test did not run it"),
            (
                "test proofs::kish::first ... FAILED\n",
                PROVED,
                "failed under cargo test",
            ),
            (
                "test proofs::kish::first ... ok\n",
                PROVED,
                "how many cases",
            ),
            (PASSED, "", "missing under Kani"),
            (
                PASSED,
                "Checking harness proofs::kish::first...\nFailed Checks: x\nVERIFICATION:- FAILED\n",
                "failed under Kani",
            ),
            (
                PASSED,
                "Checking harness proofs::kish::first...\n\
                 ** 1 of 2 cover properties satisfied\nVERIFICATION:- SUCCESSFUL\n",
                "unsatisfied cover under Kani",
            ),
            (
                PASSED,
                "Checking harness proofs::kish::first...\nVERIFICATION:- SUCCESSFUL\n\
                 Checking harness proofs::kish::other...\nVERIFICATION:- SUCCESSFUL\n",
                "proofs::kish::other: no such harness",
            ),
        ] {
            let record = record(SOURCE, tests, Some(output));
            assert!(!record.all_hold());
            assert!(record.summary().contains(problem), "{}", record.summary());
        }
    }

    #[test]
    fn without_kani_nothing_is_proved_by_it() {
        let record = record(SOURCE, PASSED, None);
        assert!(record.kani_incomplete());
        let json = record.json();
        assert_eq!(json["kani"], "not run: not installed");
        assert_eq!(json["harnesses"][0]["kani"]["verdict"], "not run");
        assert_eq!(json["harnesses"][0]["cargo_test"]["count"], 4);
        assert_eq!(json["harnesses"][0]["claims"][0], "T1");
    }

    #[test]
    fn a_record_is_replaced_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/proofs.json");
        let record = record(SOURCE, PASSED, Some(PROVED));
        record.write(&path).unwrap();
        record.write(&path).unwrap();
        let value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(value["harnesses"][0]["kani"]["verdict"], "proved");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
