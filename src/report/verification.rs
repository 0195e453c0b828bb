//! The report of a verification, in each of its four forms.

use std::fmt::Write as _;

use serde_json::json;

use super::{
    JunitCase, claim_html, claim_markdown, claims_html, claims_table, counts_table, escape_html,
    escape_markdown, junit, outcome_html, outcome_markdown, page, table_html, table_markdown,
};
use crate::experiments::Outcome;
use crate::ledger::claims::{Judged, counts};
use crate::ledger::{Change, Evidence};

const TITLE: &str = "Latent Posterior Factors: what is claimed, and what holds";

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
    /// What came out of proofs and properties, each in a line.
    pub runs: Vec<(&'static str, String)>,
    /// What was not run, each with how to run it.
    pub not_run: Vec<String>,
    /// Versions, seeds and digests.
    pub about: Vec<(&'static str, String)>,
}

impl Verification {
    /// The files of the report: name and content.
    pub fn documents(&self) -> [(&'static str, String); 4] {
        [
            ("index.html", self.html()),
            ("report.json", self.machine()),
            ("report.md", self.markdown()),
            ("junit.xml", self.junit()),
        ]
    }

    fn html(&self) -> String {
        let mut body = String::from(
            "<p>Each verdict below was computed by this run; none is typed in. A refuted claim comes \
             with a counterexample that you can redo by hand. \
             <a href=\"#claims\">All claims</a> · <a href=\"#details\">Details</a> · \
             <a href=\"#experiments\">Experiments</a> · <a href=\"#run\">About this run</a></p>\n",
        );
        for change in &self.changes {
            let _ = writeln!(
                body,
                "<p class=\"loud\">Verdict changed: {}</p>",
                escape_html(&change.text())
            );
        }
        body.push_str(&table_html(&counts_table(&self.judged)));
        body.push_str("<h2 id=\"claims\">All claims</h2>\n");
        body.push_str(&claims_html(&self.judged));
        body.push_str("<h2 id=\"details\">Details</h2>\n");
        for entry in &self.judged {
            body.push_str(&claim_html(entry, &self.evidence));
            if let Some(outcome) = self.experiments.iter().find(|o| o.id == entry.claim.id) {
                let _ = writeln!(
                    body,
                    "<p>Our own run: <a href=\"#experiment-{0}\">experiment {0}</a>.</p>",
                    escape_html(&outcome.id)
                );
            }
        }
        body.push_str("<h2 id=\"experiments\">Experiments</h2>\n");
        if self.experiments.is_empty() {
            body.push_str("<p>Not run.</p>\n");
        } else {
            body.push_str(
                "<p>The paper's experiments, run again on synthetic data whose exact posterior is \
                 known: another model and other data, so that agreement is not expected in the \
                 digits. Nothing is tuned towards the paper's numbers. The last one is on real \
                 evidence.</p>\n",
            );
        }
        for outcome in &self.experiments {
            body.push_str(&outcome_html(outcome));
        }
        body.push_str("<h2 id=\"run\">About this run</h2>\n<dl class=\"settings\">");
        for (name, line) in self.facts() {
            let _ = write!(body, "<dt>{name}</dt><dd>{}</dd>", escape_html(&line));
        }
        body.push_str("</dl>\n");
        page(TITLE, &body)
    }

    /// Runs, what was not run, versions, seeds and digests, by name.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let not_run = self.not_run.iter().map(|line| ("not run", line.clone()));
        let runs = self.runs.iter().cloned();
        runs.chain(not_run)
            .chain(self.about.iter().cloned())
            .collect()
    }

    fn markdown(&self) -> String {
        let mut out = format!("# {TITLE}\n\n");
        for change in &self.changes {
            let _ = writeln!(
                out,
                "**Verdict changed**: {}\n",
                escape_markdown(&change.text())
            );
        }
        out.push_str(&table_markdown(&counts_table(&self.judged)));
        out.push('\n');
        for (name, line) in self.facts() {
            let _ = writeln!(out, "- {name}: {}", escape_markdown(&line));
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
            "schema": "lpf-report/3",
            "counts": counts,
            "changed": self.changes.iter().map(Change::text).collect::<Vec<_>>(),
            "runs": named(&self.runs),
            "not_run": self.not_run,
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
        cases.extend(self.not_run.iter().map(|line| JunitCase {
            name: line.clone(),
            seconds: None,
            failure: None,
            skipped: Some("not run".to_owned()),
        }));
        junit("lpf verify", &cases)
    }
}
