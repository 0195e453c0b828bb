//! `lpf verify`: all claims judged, the experiments run, everything compared with what is pinned,
//! and reported.

mod checkout;
mod date;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use checkout::Checkout;

use super::claims::look;
use super::display::{escaped, style};
use super::output::{self, Output, say};
use super::{Failure, experiment};
use crate::experiments::{EXPERIMENTS, Outcome, Settings, digest};
use crate::files::NewFolder;
use crate::ledger::claims::{self, Judged, judge_each};
use crate::ledger::paper::Paper;
use crate::ledger::{PINNED, Recheck, Records, Run, Theory, changes, evidence, read_record};
use crate::log::sha256;
use crate::report::{self, Engine, EngineState, Verification};

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

    /// Where the page's links to files of the repository lead, such as
    /// https://example.org/lpf-verify/blob/main/ [default: the checkout that this runs in]
    #[arg(long, value_name = "ADDRESS")]
    sources: Option<String>,

    /// Seed of the experiments' data, training and trials
    #[arg(long, value_name = "S", default_value_t = Settings::default().seed)]
    seed: u64,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    // A folder that cannot be written is said before the work, not after.
    let folder = NewFolder::create(&args.output);
    let folder = folder.map_err(|error| Failure::write(&args.output.to_string_lossy(), error))?;
    let mut out = Output::create(None)?;
    let records = Records::read(&args.records).with_texts(escaped);
    let paper = Paper::published();
    let bar = indicatif::ProgressBar::new(claims::all().len() as u64);
    bar.set_style(style("{bar:24} {pos}/{len} claims {msg}"));
    let judged = judge_each(
        &paper,
        &records,
        |_| true,
        |claim| {
            bar.set_message(claim.id.clone());
            bar.inc(1);
        },
    );
    bar.finish_and_clear();
    let changes = changes(&judged);

    let look = look(std::io::stdout().is_terminal());
    let theorems = report::theorems_text(&judged, look);
    let counts = report::table_text(&report::counts_table(&judged));
    let more = "`lpf claims` lists them, `lpf claims T5` explains one.\n";
    out.write(format!("{theorems}\n{counts}\n{more}\n").as_bytes())?;

    let settings = Settings {
        seed: args.seed,
        ..Settings::default()
    };
    let experiments = if args.skip_experiments {
        Vec::new()
    } else {
        experiment::outcomes(settings, EXPERIMENTS.iter())?
    };
    let checkout = Checkout::here();
    let mut evidence = evidence(&records);
    if let Some(checkout) = &checkout {
        for piece in &mut evidence {
            checkout.locate(piece);
        }
    }
    let sources = args
        .sources
        .clone()
        .map(|address| match address.ends_with('/') {
            true => address,
            false => address + "/",
        });
    let verification = Verification {
        engines: engines(&records, &judged, &experiments, checkout.as_ref()),
        when: date::in_words(date::now()),
        commit: checkout.as_ref().map_or_else(
            || "not run in a checkout of this version, so that no commit is known".to_owned(),
            Checkout::words,
        ),
        sources: sources.or_else(|| checkout.as_ref()?.seen_from(&args.output)),
        about: provenance(&paper, &args.records, settings, &experiments),
        evidence,
        judged,
        changes,
        experiments,
    };
    let mut said = String::new();
    for outcome in &verification.experiments {
        said += &format!("{}: {}\n", outcome.id, outcome.sentence);
    }
    let ran = |engine: &&Engine| engine.state != EngineState::NotRun;
    for engine in verification.engines.iter().filter(ran) {
        let (name, state) = (&engine.name, engine.state.words());
        said += &format!("{name}: {state}; {}\n", escaped(&engine.said));
    }
    for line in verification.not_run() {
        said += &format!("NOT RUN  {}\n", escaped(&line));
    }
    for (name, text) in verification.documents() {
        output::write(Some(&args.output.join(name)), &text)?;
    }
    folder.keep();
    let page = args.output.join("index.html");
    said += &format!("report: {}\n", escaped(&page.to_string_lossy()));
    out.write(said.as_bytes())?;

    let failed = records.theory == Some(Recheck::Fails)
        || [&records.proofs, &records.properties]
            .into_iter()
            .flatten()
            .any(|run| !run.holds);
    for change in &verification.changes {
        say(&format!("VERDICT CHANGED  {}", escaped(&change.text())));
    }
    if !verification.changes.is_empty() {
        say(
            "Look at each. If they are right, pin them (LPF_PIN=1 cargo test --test snapshots) in a commit that says why.",
        );
    }
    Ok(if failed || !verification.changes.is_empty() {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// Every engine, and what it did.
fn engines(
    records: &Records,
    judged: &[Judged],
    experiments: &[Outcome],
    checkout: Option<&Checkout>,
) -> Vec<Engine> {
    let theory = Theory::committed();
    let coq = match records.theory {
        Some(Recheck::Holds) => EngineState::Held,
        Some(_) => EngineState::Failed,
        None => EngineState::Quoted,
    };
    let head = checkout.map(|checkout| checkout.commit.as_str());
    let kani = |run: &Run| run.rows.iter().filter(|row| row.by_kani).count();
    let proofs = records.proofs.as_ref();
    let proved = proofs.map_or(0, kani);
    let all = proofs.map_or(0, |run| run.rows.len());
    let awaits = |run: &Run| run.rows.iter().filter(|row| row.awaits_kani).count();
    let waiting = proofs.map_or(0, awaits);
    let engine = |name: &str, state, said, command| Engine {
        name: name.to_owned(),
        state,
        said,
        command,
    };
    vec![
        engine(
            "exact arithmetic",
            EngineState::Held,
            format!("{} claims judged by this run", judged.len()),
            "lpf verify",
        ),
        engine(
            &theory.engine,
            coq,
            format!(
                "{} theorems {}",
                theory.theorems().len(),
                theory.standing(records.theory)
            ),
            "make theory THEORY=required",
        ),
        engine(
            "Kani",
            kani_state(proofs),
            format!("{proved} of {all} harnesses proved by it; {waiting} more are meant for it"),
            "make kani-setup && make prove",
        ),
        engine(
            "proof harnesses as tests",
            state(proofs),
            about(proofs, head),
            "make prove",
        ),
        engine(
            "statistical properties",
            state(records.properties.as_ref()),
            about(records.properties.as_ref(), head),
            "make properties",
        ),
        engine(
            "experiments",
            match experiments.is_empty() {
                true => EngineState::NotRun,
                false => EngineState::Held,
            },
            format!("{} run", experiments.len()),
            "lpf verify",
        ),
    ]
}

/// Kani has run only where a harness was proved in this run; a record that is quoted is none of it.
fn kani_state(run: Option<&Run>) -> EngineState {
    let proved = |run: &Run, quoted: bool| {
        let mut rows = run.rows.iter();
        rows.any(|row| row.by_kani && row.quoted == quoted)
    };
    match run {
        Some(run) if proved(run, true) && run.holds => EngineState::Quoted,
        Some(run) if proved(run, true) || proved(run, false) => state(Some(run)),
        _ => EngineState::NotRun,
    }
}

fn state(run: Option<&Run>) -> EngineState {
    match run {
        None => EngineState::NotRun,
        Some(run) if run.holds => EngineState::Held,
        Some(_) => EngineState::Failed,
    }
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
        if let Some(bytes) = read_record(&records.join(file)) {
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
fn about(run: Option<&Run>, head: Option<&str>) -> String {
    let Some(run) = run else {
        return "nothing here counts on them".to_owned();
    };
    let commit = run.commit.get(..12).unwrap_or(&run.commit);
    let mut line = format!(
        "{} of them, {} ago, on commit {commit}",
        run.rows.len(),
        age(date::now().saturating_sub(run.time))
    );
    if head.is_some_and(|head| head != run.commit) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Row;
    use crate::ledger::claims::judged_without_records;

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
        let judged = judged_without_records();
        let verification = Verification {
            engines: engines(&records, &judged, &experiments, None),
            judged,
            evidence: evidence(&records),
            changes: Vec::new(),
            when: "today".into(),
            commit: "commit abc".into(),
            sources: None,
            about: provenance(&paper, Path::new(""), Settings::default(), &experiments),
            experiments,
        };
        // A record of Kani that is quoted is not a run of it.
        let row = |quoted| Row {
            name: "bins".into(),
            file: String::new(),
            claims: Vec::new(),
            outcome: String::new(),
            by_kani: true,
            quoted,
            awaits_kani: false,
        };
        let run = |quoted| Run {
            commit: String::new(),
            modified: false,
            time: 0,
            holds: true,
            rows: vec![row(quoted)],
        };
        assert_eq!(kani_state(Some(&run(true))), EngineState::Quoted);
        assert_eq!(kani_state(Some(&run(false))), EngineState::Held);
        assert_eq!(kani_state(None), EngineState::NotRun);
        let [(_, html), (_, json), (_, markdown), (_, junit)] = verification.documents();
        assert!(html.contains("href=\"#experiment-T2\""));
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
        // Kani, harnesses and properties were not run, and say so; the experiments were.
        assert_eq!(junit.matches("<skipped").count(), 3);
    }

    #[test]
    fn ages_are_in_words() {
        assert_eq!(age(1), "1 second");
        assert_eq!(age(600), "10 minutes");
        assert_eq!(age(90_000), "25 hours");
    }
}
