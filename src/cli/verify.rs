//! `lpf verify`: all claims judged, the experiments run, everything compared with what is pinned,
//! and reported.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;

use super::{Failure, display::style, experiment, output::Output};
use crate::experiments::{EXPERIMENTS, Outcome, Settings, digest};
use crate::ledger::claims::{self, Judged, judge_each};
use crate::ledger::paper::Paper;
use crate::ledger::{PINNED, Recheck, Records, Run, changes, evidence};
use crate::log::sha256;
use crate::report::{self, Verification};

/// Judge every claim of the paper, compare with the pinned verdicts, run the experiments, and write
/// the report.
///
/// Exit code 0: every verdict is the pinned one and the last proofs and properties held. 1: a
/// verdict differs, or a record of a run says that something failed. 2: nothing could be written.
#[derive(Debug, Parser)]
pub(super) struct Args {
    /// Folder for index.html, report.json, report.md and junit.xml
    #[arg(long, value_name = "DIR", default_value = "target/lpf/report")]
    output: PathBuf,

    /// Where the last proofs and properties left their outcome
    #[arg(long, value_name = "DIR", default_value = super::RECORDS)]
    records: PathBuf,

    /// Judge the claims only; the report then says that the experiments were not run
    #[arg(long)]
    skip_experiments: bool,

    /// Seed of the experiments' data, training and trials
    #[arg(long, value_name = "S", default_value_t = Settings::default().seed)]
    seed: u64,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    // A folder that cannot be written is said before the work, not after.
    std::fs::create_dir_all(&args.output)
        .map_err(|error| Failure::write(&args.output.to_string_lossy(), error))?;
    let records = Records::read(&args.records);
    let paper = Paper::published();
    let bar = indicatif::ProgressBar::new(claims::all().len() as u64);
    bar.set_style(style("{bar:24} {pos}/{len} claims {msg}"));
    let judged = judge_each(&paper, &records, |claim| {
        bar.set_message(claim.id.clone());
        bar.inc(1);
    });
    bar.finish_and_clear();
    let changes = changes(&judged);

    let chosen: Vec<&Judged> = judged.iter().collect();
    println!("{}", report::table_text(&report::claims_table(&chosen)));
    println!("{}", report::table_text(&report::counts_table(&judged)));

    let settings = Settings {
        seed: args.seed,
        ..Settings::default()
    };
    let experiments = if args.skip_experiments {
        Vec::new()
    } else {
        experiment::outcomes(settings, EXPERIMENTS.iter())?
    };
    let verification = Verification {
        runs: [
            ("proofs", "make prove", &records.proofs),
            ("properties", "make properties", &records.properties),
        ]
        .map(|(name, how, run)| (name, about(name, how, run.as_ref())))
        .into(),
        not_run: not_run(&records, &experiments),
        about: provenance(&paper, &args.records, settings, &experiments),
        evidence: evidence(&records),
        judged,
        changes,
        experiments,
    };
    for outcome in &verification.experiments {
        println!("{}: {}", outcome.id, outcome.sentence);
    }
    for (_, line) in &verification.runs {
        println!("{line}");
    }
    for line in &verification.not_run {
        println!("NOT RUN  {line}");
    }
    for (name, text) in verification.documents() {
        let mut output = Output::create(Some(&args.output.join(name)))?;
        output.write(text.as_bytes())?;
        output.finish()?;
    }
    println!("report: {}", args.output.join("index.html").display());

    let failed = records.theory == Some(Recheck::Fails)
        || [&records.proofs, &records.properties]
            .into_iter()
            .flatten()
            .any(|run| !run.holds);
    for change in &verification.changes {
        eprintln!("VERDICT CHANGED  {}", change.text());
    }
    if !verification.changes.is_empty() {
        eprintln!(
            "Look at each. If they are right, pin them (LPF_PIN=1 cargo test --test snapshots) in a commit that says why."
        );
    }
    Ok(if failed || !verification.changes.is_empty() {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// What the report does not rest on because nobody ran it.
fn not_run(records: &Records, experiments: &[Outcome]) -> Vec<String> {
    let mut lines = Vec::new();
    match &records.proofs {
        None => lines.push("proof harnesses: `make prove`".to_owned()),
        Some(run) => {
            let waiting = run.rows.iter().filter(|row| row.awaits_kani).count();
            if waiting > 0 {
                lines.push(format!(
                    "Kani, for {waiting} harnesses: `make kani-setup`, then `make prove`"
                ));
            }
        }
    }
    if records.properties.is_none() {
        lines.push("statistical properties: `make properties`".to_owned());
    }
    if experiments.is_empty() {
        lines.push("experiments: `lpf verify` without --skip-experiments".to_owned());
    }
    lines
}

/// Versions, seeds, and digests of what went in and came out.
fn provenance(
    paper: &Paper,
    records: &Path,
    settings: Settings,
    experiments: &[Outcome],
) -> Vec<(&'static str, String)> {
    let numbers: String = paper
        .numbers()
        .map(|(id, printed)| format!("{id} {printed}\n"))
        .collect();
    let mut about = vec![
        ("lpf-verify", env!("CARGO_PKG_VERSION").to_owned()),
        ("commit", head().unwrap_or_else(|| "unknown".to_owned())),
        (
            "machine",
            format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
        ),
        ("paper's numbers, SHA-256", sha256(numbers.as_bytes())),
        ("pinned verdicts, SHA-256", sha256(PINNED.as_bytes())),
    ];
    for (name, file) in [
        ("record of proofs, SHA-256", "proofs.json"),
        ("record of properties, SHA-256", "properties.json"),
    ] {
        if let Ok(bytes) = std::fs::read(records.join(file)) {
            about.push((name, sha256(&bytes)));
        }
    }
    if !experiments.is_empty() {
        about.push(("experiments' seed", settings.seed.to_string()));
        about.push(("experiments' results, SHA-256", digest(experiments)));
    }
    about
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiments_are_shown_and_linked_from_their_theorem() {
        let figure = crate::exhibit::Figure {
            id: "T2.figure".into(),
            caption: "What it shows".into(),
            panels: Vec::new(),
        };
        let mut outcome = EXPERIMENTS[0].outcome(Vec::new(), "A <sentence>.".into());
        outcome.id = "T2".into();
        outcome.figures.push(figure);
        // Named like a claim, as some tables are.
        outcome.tables.push(crate::exhibit::Table {
            id: "T1.bound".into(),
            title: "A table".into(),
            columns: Vec::new(),
            rows: Vec::new(),
        });
        let experiments = vec![outcome];
        let records = Records::none();
        let paper = Paper::published();
        let verification = Verification {
            judged: judge_each(&paper, &records, |_| ()),
            evidence: evidence(&records),
            changes: Vec::new(),
            runs: Vec::new(),
            not_run: not_run(&records, &experiments),
            about: provenance(&paper, Path::new(""), Settings::default(), &experiments),
            experiments,
        };
        let [(_, html), (_, json), (_, markdown), (_, junit)] = verification.documents();
        assert_eq!(html.matches("href=\"#experiment-T2\"").count(), 1);
        assert_eq!(html.matches("id=\"experiment-T2\"").count(), 1);
        let ids: Vec<&str> = html
            .split(" id=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        let distinct: std::collections::BTreeSet<&&str> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "an anchor is there twice");
        assert!(html.contains("<svg") && html.contains("A &lt;sentence&gt;."));
        assert!(html.contains(&digest(&verification.experiments)));
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["experiments"][0]["id"], "T2");
        assert!(markdown.contains("sentence"));
        // Proofs and properties were not run, and say so; the experiments were.
        assert_eq!(junit.matches("<skipped").count(), 2);
    }

    #[test]
    fn ages_are_in_words() {
        assert_eq!(age(1), "1 second");
        assert_eq!(age(600), "10 minutes");
        assert_eq!(age(90_000), "25 hours");
    }
}
