//! `lpf verify`: all claims judged, compared with the pinned verdicts, and reported.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;
use serde_json::json;

use super::{Failure, output::Output};
use crate::ledger::claims::{Judged, judge_all};
use crate::ledger::paper::Paper;
use crate::ledger::{Records, Run};
use crate::report::{self, JunitCase, escape_html};

/// The verdicts that were reviewed last; the snapshot is their only copy.
const PINNED: &str = include_str!("../../snapshots/claims/verdicts.snap");

/// Judge every claim of the paper, compare with the pinned verdicts, and write the report.
///
/// Exit code 0: every verdict is the pinned one and the last proofs and properties held. 1: a
/// verdict differs, or a record of a run says that something failed. 2: nothing could be written.
#[derive(Debug, Parser)]
pub struct Args {
    /// Folder for index.html, report.json, report.md and junit.xml
    #[arg(long, value_name = "DIR", default_value = "target/lpf/report")]
    output: PathBuf,

    /// Where the last proofs and properties left their outcome
    #[arg(long, value_name = "DIR", default_value = super::RECORDS)]
    records: PathBuf,
}

/// What happened to a claim since the verdicts were pinned.
struct Change {
    id: String,
    pinned: Option<String>,
    now: Option<String>,
}

impl Change {
    fn text(&self) -> String {
        let word = |kind: &Option<String>| kind.clone().unwrap_or_else(|| "absent".to_owned());
        format!(
            "{}: pinned {}, now {}",
            self.id,
            word(&self.pinned),
            word(&self.now)
        )
    }
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let records = Records::read(&args.records);
    let judged = judge_all(&Paper::published(), &records);
    let changes = changes(&judged);
    let runs = [
        ("proofs", "make prove", &records.proofs),
        ("properties", "make properties", &records.properties),
    ]
    .map(|(name, how, run)| (name, about(name, how, run.as_ref())));

    let chosen: Vec<&Judged> = judged.iter().collect();
    println!("{}", report::table_text(&report::claims_table(&chosen)));
    println!("{}", report::table_text(&report::counts_table(&judged)));
    for (_, line) in &runs {
        println!("{line}");
    }
    write_report(&args.output, &judged, &changes, &runs)?;
    println!("report: {}", args.output.join("index.html").display());

    let failed = [&records.proofs, &records.properties]
        .into_iter()
        .flatten()
        .any(|run| !run.holds);
    for change in &changes {
        eprintln!("VERDICT CHANGED  {}", change.text());
    }
    if !changes.is_empty() {
        eprintln!(
            "Look at each; if they are right, pin them with `cargo insta review` in a commit that says why."
        );
    }
    Ok(if failed || !changes.is_empty() {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// The pinned table has one line `id  verdict [rests on …]` for each claim, after the counts.
fn pinned() -> Vec<(&'static str, &'static str)> {
    let body = PINNED.splitn(3, "---\n").last().unwrap_or_default();
    let (_, table) = body.split_once("\n\n").unwrap_or_default();
    table
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next()?))
        })
        .collect()
}

fn changes(judged: &[Judged]) -> Vec<Change> {
    let pinned = pinned();
    let old = |id: &str| pinned.iter().find(|(p, _)| *p == id).map(|(_, kind)| *kind);
    let mut changes: Vec<Change> = judged
        .iter()
        .map(|entry| Change {
            id: entry.claim.id.to_owned(),
            pinned: old(entry.claim.id).map(str::to_owned),
            now: Some(entry.finding.verdict.kind().name().to_owned()),
        })
        .filter(|change| change.pinned != change.now)
        .collect();
    let gone = pinned
        .iter()
        .filter(|(id, _)| !judged.iter().any(|entry| entry.claim.id == *id));
    changes.extend(gone.map(|(id, kind)| Change {
        id: (*id).to_owned(),
        pinned: Some((*kind).to_owned()),
        now: None,
    }));
    changes
}

/// One line about the last run of an engine: what came out, how old it is, of which commit.
fn about(name: &str, how: &str, run: Option<&Run>) -> String {
    let Some(run) = run else {
        return format!("{name}: NOT RUN; `{how}` runs them, and nothing here counts on them");
    };
    let outcome = if run.holds { "all held" } else { "FAILED" };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(run.time, |since| since.as_secs());
    let here = head();
    let commit = run.commit.get(..12).unwrap_or(&run.commit);
    let mut line = format!(
        "{name}: {outcome}, {} of them, {} ago, on commit {commit}",
        run.rows.len(),
        age(now.saturating_sub(run.time))
    );
    if here.is_some_and(|here| here != run.commit) {
        line.push_str(" (NOT the present commit)");
    }
    if run.modified {
        line.push_str(" with uncommitted changes");
    }
    line
}

fn age(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..=119 => (seconds, "second"),
        120..=7_199 => (seconds / 60, "minute"),
        7_200..=172_799 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

/// The commit that is checked out here, where git knows one.
fn head() -> Option<String> {
    let output = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

fn write_report(
    folder: &Path,
    judged: &[Judged],
    changes: &[Change],
    runs: &[(&str, String)],
) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::Write {
        to: folder.display().to_string(),
        error,
    })?;
    let files = [
        ("index.html", html(judged, changes, runs)),
        ("report.json", machine(judged, changes, runs)),
        ("report.md", markdown(judged, changes, runs)),
        ("junit.xml", junit(judged, changes)),
    ];
    for (name, text) in files {
        let mut output = Output::create(Some(&folder.join(name)))?;
        output.write(text.as_bytes())?;
        output.finish()?;
    }
    Ok(())
}

const TITLE: &str = "Latent Posterior Factors: what is claimed, and what holds";

fn versions() -> Vec<(&'static str, String)> {
    vec![
        ("lpf-verify", env!("CARGO_PKG_VERSION").to_owned()),
        ("commit", head().unwrap_or_else(|| "unknown".to_owned())),
        ("experiments", "not run".to_owned()),
    ]
}

fn html(judged: &[Judged], changes: &[Change], runs: &[(&str, String)]) -> String {
    let mut body = String::from(
        "<p>Each verdict below was computed by this run; none is typed in. A refuted claim comes with \
         a counterexample that you can redo by hand. \
         <a href=\"#claims\">All claims</a> · <a href=\"#details\">Details</a> · \
         <a href=\"#run\">About this run</a></p>\n",
    );
    for change in changes {
        let _ = writeln!(
            body,
            "<p class=\"loud\">Verdict changed: {}</p>",
            escape_html(&change.text())
        );
    }
    body.push_str(&report::table_html(&report::counts_table(judged)));
    body.push_str("<h2 id=\"claims\">All claims</h2>\n");
    body.push_str(&report::claims_html(judged));
    body.push_str("<h2 id=\"details\">Details</h2>\n");
    for entry in judged {
        body.push_str(&report::claim_html(entry));
    }
    body.push_str("<h2 id=\"run\">About this run</h2>\n<dl class=\"settings\">");
    for (name, line) in runs {
        let _ = write!(body, "<dt>{name}</dt><dd>{}</dd>", escape_html(line));
    }
    for (name, value) in versions() {
        let _ = write!(body, "<dt>{name}</dt><dd>{}</dd>", escape_html(&value));
    }
    body.push_str("</dl>\n");
    report::page(TITLE, &body)
}

fn markdown(judged: &[Judged], changes: &[Change], runs: &[(&str, String)]) -> String {
    let mut out = format!("# {TITLE}\n\n");
    for change in changes {
        let _ = writeln!(
            out,
            "**Verdict changed**: {}\n",
            report::escape_markdown(&change.text())
        );
    }
    out.push_str(&report::table_markdown(&report::counts_table(judged)));
    out.push('\n');
    for (_, line) in runs {
        let _ = writeln!(out, "- {}", report::escape_markdown(line));
    }
    for (name, value) in versions() {
        let _ = writeln!(out, "- {name}: {}", report::escape_markdown(&value));
    }
    let chosen: Vec<&Judged> = judged.iter().collect();
    let _ = write!(
        out,
        "\n{}\n",
        report::table_markdown(&report::claims_table(&chosen))
    );
    for entry in judged {
        out.push_str(&report::claim_markdown(entry));
    }
    out
}

fn machine(judged: &[Judged], changes: &[Change], runs: &[(&str, String)]) -> String {
    let claims: Vec<_> = judged.iter().map(Judged::to_json).collect();
    let counts: serde_json::Map<_, _> = crate::ledger::claims::counts(judged)
        .into_iter()
        .map(|(kind, count)| (kind.name().to_owned(), json!(count)))
        .collect();
    let named = |pairs: Vec<(&str, String)>| -> serde_json::Map<_, _> {
        pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect()
    };
    let value = json!({
        "schema": "lpf-report/1",
        "counts": counts,
        "changed": changes.iter().map(Change::text).collect::<Vec<_>>(),
        "runs": named(runs.to_vec()),
        "versions": named(versions()),
        "claims": claims,
    });
    format!("{value:#}\n")
}

fn junit(judged: &[Judged], changes: &[Change]) -> String {
    let mut cases: Vec<JunitCase> = judged
        .iter()
        .map(|entry| {
            let id = entry.claim.id;
            JunitCase {
                name: format!("{id} {}", entry.finding.verdict.kind()),
                seconds: None,
                failure: changes
                    .iter()
                    .find(|change| change.id == id)
                    .map(Change::text),
                skipped: None,
            }
        })
        .collect();
    cases.extend(
        changes
            .iter()
            .filter(|change| change.now.is_none())
            .map(|change| JunitCase {
                name: change.id.clone(),
                seconds: None,
                failure: Some(change.text()),
                skipped: None,
            }),
    );
    report::junit("lpf verify", &cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_is_pinned_and_a_changed_verdict_is_noticed() {
        let mut judged = judge_all(&Paper::published(), &Records::none());
        assert_eq!(pinned().len(), judged.len());
        assert!(changes(&judged).is_empty());
        let first = judged.remove(0);
        judged[0].finding = crate::ledger::Finding::not_reproducible("a fault", Vec::new());
        let noticed: Vec<String> = changes(&judged).iter().map(Change::text).collect();
        assert_eq!(noticed.len(), 2, "{noticed:?}");
        assert!(noticed[1].starts_with(first.claim.id) && noticed[1].ends_with("now absent"));
    }

    #[test]
    fn ages_are_in_words() {
        assert_eq!(age(1), "1 second");
        assert_eq!(age(600), "10 minutes");
        assert_eq!(age(90_000), "25 hours");
    }
}
