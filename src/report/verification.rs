//! The report of a verification, in each of its four forms; `html` is the page.

mod html;

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::json;

use super::{
    JunitCase, claim_markdown, claims_table, counts_table, escape_markdown, junit,
    outcome_markdown, table_markdown, theorems_table,
};
use crate::experiments::Outcome;
use crate::ledger::claims::{Judged, counts};
use crate::ledger::paper::CITATION;
use crate::ledger::{Change, Evidence};

const TITLE: &str = "Latent Posterior Factors: what is claimed, and what holds";

/// What became of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EngineState {
    /// It ran, and all held.
    Held,
    /// It did not run here; a committed record of its last run is quoted.
    Quoted,
    /// It ran, and something failed.
    Failed,
    /// It did not run, and nothing counts on it.
    NotRun,
}

impl EngineState {
    /// The state in words.
    pub fn words(self) -> &'static str {
        match self {
            EngineState::Held => "ran, all held",
            EngineState::Quoted => "not run here, its record is quoted",
            EngineState::Failed => "FAILED",
            EngineState::NotRun => "NOT RUN",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            EngineState::Held => "✓",
            EngineState::Quoted => "◦",
            EngineState::Failed => "✗",
            EngineState::NotRun => "–",
        }
    }
}

/// An engine of the evidence, and what it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Engine {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub state: EngineState,
    /// The same with numbers, in a line.
    pub said: String,
    /// The command that runs it.
    pub command: &'static str,
}

/// Everything that the report of a verification says.
#[derive(Clone, Debug)]
pub struct Verification {
    /// Every claim with its verdict.
    pub judged: Vec<Judged>,
    /// What evidence there is.
    pub evidence: Vec<Evidence>,
    /// Where verdicts differ from the pinned ones.
    pub changes: Vec<Change>,
    /// Our own runs of the paper's experiments.
    pub experiments: Vec<Outcome>,
    /// The engines, those that ran and those that did not.
    pub engines: Vec<Engine>,
    /// When the report was made: day and time.
    pub when: String,
    /// Of which commit, in words.
    pub commit: String,
    /// What stands before a file of the repository in a link, such as `../../`; none where the
    /// page should not link there.
    pub sources: Option<String>,
    /// Versions, seeds and digests.
    pub about: Vec<(&'static str, String)>,
}

impl Verification {
    /// The files of the report: name and content.
    pub fn documents(&self) -> [(&'static str, String); 4] {
        [
            ("index.html", html::html(self)),
            ("report.json", self.machine()),
            ("report.md", self.markdown()),
            ("junit.xml", self.junit()),
        ]
    }

    /// What was not run, each with how to run it.
    pub fn not_run(&self) -> impl Iterator<Item = String> {
        let not_run = |engine: &&Engine| engine.state == EngineState::NotRun;
        let idle = self.engines.iter().filter(not_run);
        idle.map(|engine| format!("{}: `{}`", engine.name, engine.command))
    }

    fn markdown(&self) -> String {
        let mut out = format!("# {TITLE}\n\n{}\n\n", html::lead(&self.judged));
        for change in &self.changes {
            let _ = writeln!(
                out,
                "**Verdict changed**: {}\n",
                escape_markdown(&change.text())
            );
        }
        let (title, author, year) = (CITATION.title, CITATION.author, CITATION.year);
        let mut fact = |name: &str, text: &str| {
            let _ = writeln!(out, "- {name}: {}", escape_markdown(text));
        };
        fact(
            "audited",
            &format!("{title}, {author}, {year} ({})", CITATION.archive),
        );
        fact("reported", &format!("{}, {}", self.when, self.commit));
        for engine in &self.engines {
            let line = format!("{}; {}", engine.state.words(), engine.said);
            fact(&engine.name, &line);
        }
        for (name, line) in &self.about {
            fact(name, line);
        }
        for table in [theorems_table(&self.judged), counts_table(&self.judged)] {
            let _ = write!(out, "\n{}", table_markdown(&table));
        }
        let chosen: Vec<&Judged> = self.judged.iter().collect();
        let claims = table_markdown(&claims_table(&chosen));
        let _ = write!(out, "\n{claims}\n");
        for entry in &self.judged {
            out.push_str(&claim_markdown(entry));
        }
        for outcome in &self.experiments {
            out.push_str(&outcome_markdown(outcome));
        }
        out
    }

    fn machine(&self) -> String {
        let claims: Vec<_> = self.judged.iter().map(Judged::to_json).collect();
        let counts: serde_json::Map<_, _> = counts(&self.judged)
            .into_iter()
            .map(|(kind, count)| (kind.name().to_owned(), json!(count)))
            .collect();
        let named = |pairs: &[(&str, String)]| -> serde_json::Map<_, _> {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), json!(value)))
                .collect()
        };
        let value = json!({
            "schema": "lpf-report/4",
            "paper": CITATION,
            "when": self.when,
            "commit": self.commit,
            "counts": counts,
            "changed": self.changes.iter().map(Change::text).collect::<Vec<_>>(),
            "engines": self.engines,
            "not_run": self.not_run().collect::<Vec<_>>(),
            "about": named(&self.about),
            "claims": claims,
            "experiments": self.experiments,
        });
        format!("{value:#}\n")
    }

    fn junit(&self) -> String {
        let mut cases: Vec<JunitCase> = self
            .judged
            .iter()
            .map(|entry| {
                let id = &entry.claim.id;
                JunitCase {
                    name: format!("{id} {}", entry.finding.verdict.kind()),
                    seconds: None,
                    failure: self
                        .changes
                        .iter()
                        .find(|change| change.id == *id)
                        .map(Change::text),
                    skipped: None,
                }
            })
            .collect();
        let gone = self.changes.iter().filter(|change| change.now.is_none());
        cases.extend(gone.map(|change| JunitCase {
            name: change.id.clone(),
            seconds: None,
            failure: Some(change.text()),
            skipped: None,
        }));
        cases.extend(self.not_run().map(|line| JunitCase {
            name: line,
            seconds: None,
            failure: None,
            skipped: Some("not run".to_owned()),
        }));
        junit("lpf verify", &cases)
    }
}
