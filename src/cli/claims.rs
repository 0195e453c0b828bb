//! `lpf claims`: what the paper claims, and what became of it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use serde_json::json;

use super::{Failure, display::escaped, output::Output};
use crate::ledger::claims::{self, Claim, Judged, judge_each};
use crate::ledger::paper::Paper;
use crate::ledger::{Evidence, Records, VerdictKind, evidence};
use crate::report::{self, Look};

/// List the paper's claims with their computed verdicts, or show one step by step.
#[derive(Debug, Parser)]
#[command(
    after_help = "Examples:\n  lpf claims --verdict refuted\n  lpf claims --search 'calibration error'\n  \
                        lpf claims T5\n  lpf claims --section 6.5 --format markdown"
)]
pub(super) struct Args {
    /// A claim, such as T5 or T1.constant: statement, hypotheses, verdict, witness step by step,
    /// what holds instead, and where the evidence is
    id: Option<String>,

    /// Only claims with this verdict
    #[arg(long, value_name = "VERDICT")]
    verdict: Option<String>,

    /// Only claims that stand in this section, table or figure, such as 6.5 or "Table 3"
    #[arg(long, value_name = "PLACE")]
    section: Option<String>,

    /// Only claims that hold all of these words, in whatever is said of them
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,

    /// Where to write: a file that appears complete or not at all [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Where the last proofs and properties left their outcome
    #[arg(long, value_name = "DIR", default_value = super::RECORDS)]
    records: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One JSON array, for programs
    Json,
    /// For a pull request or a wiki
    Markdown,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let kind = args.verdict.as_deref().map(parse_kind).transpose()?;
    let records = Records::read(&args.records).with_texts(escaped);
    let id = match &args.id {
        None => None,
        Some(id) => Some(
            claims::find(id)
                .ok_or_else(|| Failure::Usage(unknown(id)))?
                .id
                .as_str(),
        ),
    };
    // Before the work: a place that cannot be written is said at once.
    let mut output = Output::create(args.output.as_deref())?;
    // Only what is asked for: some verdicts take seconds.
    let wanted = |claim: &Claim| {
        let section = args.section.as_deref();
        id.is_none_or(|id| belongs(&claim.id, id))
            && section.is_none_or(|section| stands_in(&claim.place, section))
    };
    let judged = judge_each(&Paper::published(), &records, wanted, |_| ());
    let chosen: Vec<&Judged> = judged
        .iter()
        .filter(|entry| kind.is_none_or(|kind| entry.finding.verdict.kind() == kind))
        .filter(|entry| {
            let words = args.search.as_deref();
            words.is_none_or(|words| speaks_of(entry, words))
        })
        .collect();
    let look = look(output.is_terminal());
    let text = match args.format {
        Format::Json => {
            let all: Vec<_> = chosen.iter().map(|entry| entry.to_json()).collect();
            format!("{:#}\n", json!(all))
        }
        Format::Markdown if id.is_some() => chosen
            .iter()
            .map(|entry| report::claim_markdown(entry))
            .collect(),
        Format::Markdown => report::table_markdown(&report::claims_table(&chosen)),
        Format::Text => match id {
            Some(id) if !chosen.is_empty() => one(id, &chosen, &evidence(&records), look),
            _ => report::claims_text(&chosen, look),
        },
    };
    output.write(text.as_bytes())?;
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a claim is the one asked for, or belongs to it (`T5.bounds` to `T5`).
fn belongs(claim: &str, id: &str) -> bool {
    let rest = claim.strip_prefix(id);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether `part` names one of the places, whole: `6.1` is not in `Section 6.10`.
fn stands_in(place: &str, part: &str) -> bool {
    place.match_indices(part).any(|(at, _)| {
        let before = place[..at].chars().next_back();
        let after = place[at + part.len()..].chars().next();
        let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '.');
        !goes_on(before) && !goes_on(after)
    })
}

fn parse_kind(text: &str) -> Result<VerdictKind, Failure> {
    let kinds = VerdictKind::ALL.iter().copied();
    let mut named = kinds.clone();
    named
        .find(|kind| kind.name().eq_ignore_ascii_case(text))
        .ok_or_else(|| {
            let names: Vec<String> = kinds.map(|kind| kind.name().to_lowercase()).collect();
            let names = names.join(", ");
            Failure::Usage(format!(
                "no verdict is called {text:?}; verdicts are {names}"
            ))
        })
}

fn unknown(id: &str) -> String {
    let root = id.split('.').next().unwrap_or(id).to_uppercase();
    let near: Vec<&str> = claims::all()
        .iter()
        .map(|claim| claim.id.as_str())
        .filter(|claim| belongs(claim, &root))
        .collect();
    let hint = if near.is_empty() {
        "`lpf claims` lists all".to_owned()
    } else {
        format!("there are {}", near.join(", "))
    };
    format!("no claim is called {id:?}; {hint}")
}

/// Whether all words occur in what is said of a claim, in any case.
fn speaks_of(entry: &Judged, words: &str) -> bool {
    let said = report::claim_text(entry, &[], Look::default()).to_lowercase();
    let mut words = words.split_whitespace();
    words.all(|word| said.contains(&word.to_lowercase()))
}

/// The claim itself in full, then one line for each that belongs to it.
fn one(id: &str, chosen: &[&Judged], evidence: &[Evidence], look: Look) -> String {
    let (itself, others): (Vec<&Judged>, Vec<&Judged>) =
        chosen.iter().partition(|entry| entry.claim.id == id);
    let mut out: String = itself
        .iter()
        .map(|entry| report::claim_text(entry, evidence, look))
        .collect();
    if !others.is_empty() {
        out.push_str(&format!("\nOther claims that belong to {id}\n\n"));
        out.push_str(&report::claims_text(&others, look));
    }
    out
}

/// What a terminal can show; plain lines for anything else. `NO_COLOR` (see no-color.org) and a dumb
/// terminal have no colours.
pub(super) fn look(terminal: bool) -> Look {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let columns = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
    Look {
        columns: terminal.then_some(columns),
        colour: terminal && !dumb && !set("NO_COLOR"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_sections_match_whole() {
        assert!(belongs("T5.bounds", "T5") && belongs("T5", "T5") && !belongs("T5'", "T5"));
        assert!(!belongs("T5.bounds", "T5.b") && !belongs("T1", "T11"));
        assert!(stands_in("Sections 3.1, 6.1", "6.1"));
        assert!(!stands_in("Section 6.10", "6.1") && !stands_in("Section 16.1", "6.1"));
    }
}
